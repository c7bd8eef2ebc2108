//! What an average design learns from: the moments of *completed* decisions.
//!
//! A pair is the mean μ and the sd σ_l of all N log-likelihood differences between a state and its candidate,
//! with the exact offset: R = Nμ + offset and κ = Nσ_l/√(N−1) are all the theory needs.
//!
//! **Every decision of a pilot must be completed**, whatever the test would have done (about 100 full passes, or
//! audits, whose steps are chosen beforehand). Moments at which a sequential test *stopped* are selected to
//! be extreme, |R − T|/κ too large, and lead to designs that miss their tolerance; decisions that happened to
//! reach the last look are selected to be ties. Both are refused or to be kept out: see the test
//! `stopped_moments_are_too_optimistic`.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, setting};
use crate::population::Moments;
use crate::rule::Decision;
use crate::theory::Moves;

/// One completed decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// R = Nμ + log prior ratio + log proposal ratio.
    pub ratio: f64,
    /// κ = Nσ_l/√(N−1).
    pub kappa: f64,
}

/// Completed decisions about populations of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairs {
    rows: usize,
    pairs: Vec<Pair>,
}

impl Pairs {
    /// No pair yet, for populations of `rows` rows.
    pub fn new(rows: usize) -> Result<Self> {
        if rows < 2 {
            return Err(setting("rows (N)", rows, "at least 2"));
        }
        Ok(Self { rows, pairs: Vec::new() })
    }

    /// Adds the mean and the sd (divisor N) of all N differences, with the offset of the decision.
    pub fn push(&mut self, mean: f64, sd: f64, offset: f64) -> Result<()> {
        let kappa = crate::theory::kappa(sd, self.rows)?;
        let ratio = self.rows as f64 * mean + offset;
        if !ratio.is_finite() {
            return Err(setting("log ratio of a pair", ratio, "a finite number"));
        }
        self.pairs.push(Pair { ratio, kappa });
        Ok(())
    }

    /// Adds the moments of a complete pass; moments of fewer than N rows are refused.
    pub fn push_moments(&mut self, moments: &Moments, offset: f64) -> Result<()> {
        if moments.count as usize != self.rows {
            return Err(Error::Dimension {
                what: "rows behind the moments of a completed decision".into(),
                expected: self.rows,
                found: moments.count as usize,
            });
        }
        self.push(moments.mean, (moments.m2 / moments.count as f64).max(0.0).sqrt(), offset)
    }

    /// Adds a decision of the exact rule, whose offset was `offset`. (Its sd has the divisor N − 1.)
    pub fn push_decision(&mut self, decision: &Decision, offset: f64) -> Result<()> {
        if decision.used as usize != self.rows || decision.looks > 1 {
            return Err(setting(
                "decision",
                format!("{} rows after {} looks", decision.used, decision.looks),
                "one completed by the exact rule: those a test stopped, or did not, are selected",
            ));
        }
        let n = self.rows as f64;
        self.push(decision.mean, decision.sd * ((n - 1.0) / n).sqrt(), offset)
    }

    /// Moves like these decisions, for the theory of the bias: D is the sd of the log ratios (on a Gaussian target
    /// R ~ N(−D²/2, D²)), κ the root mean square of theirs.
    pub fn moves(&self) -> Result<Moves> {
        let count = self.pairs.len() as f64;
        if self.pairs.len() < 2 {
            return Err(setting(
                "pairs",
                self.pairs.len(),
                "at least two completed decisions, to tell their spread",
            ));
        }
        let mean = self.pairs.iter().map(|pair| pair.ratio).sum::<f64>() / count;
        let square = self.pairs.iter().map(|pair| (pair.ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let kappa = (self.pairs.iter().map(|pair| pair.kappa.powi(2)).sum::<f64>() / count).sqrt();
        Ok(Moves { energy_root: square.sqrt(), kappa })
    }

    /// Number of rows, N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The pairs.
    #[must_use]
    pub fn as_slice(&self) -> &[Pair] {
        &self.pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Stopped;

    #[test]
    fn only_completed_decisions() {
        let mut pairs = Pairs::new(4).unwrap();
        let all = Moments::of(&[1.0, 2.0, 3.0, 6.0]);
        pairs.push_moments(&all, -11.0).unwrap();
        let decision = Decision {
            used: 4,
            looks: 1,
            mean: all.mean,
            sd: all.sd(),
            stopped: Stopped::Exhausted,
            ..Decision::ruled_out()
        };
        pairs.push_decision(&decision, -11.0).unwrap();
        for pair in pairs.as_slice() {
            assert!((pair.ratio - 1.0).abs() < 1e-12);
            assert!((pair.kappa - 4.0 * 3.5f64.sqrt() / 3f64.sqrt()).abs() < 1e-12);
        }
        assert!(pairs.push_moments(&Moments::of(&[1.0, 2.0]), 0.0).is_err());
        assert!(pairs.push_decision(&Decision { used: 3, ..decision }, 0.0).is_err());
        assert!(pairs.push_decision(&Decision { looks: 2, ..decision }, 0.0).is_err());
        assert!(pairs.push(f64::NAN, 1.0, 0.0).is_err());
        assert!(pairs.push(0.0, -1.0, 0.0).is_err());
        assert!(Pairs::new(1).is_err());
    }
}
