//! What the theory says of a pair whose differences are all known: its mean error, Δ and data use under a given rule.
//!
//! From the mean and the standard deviation of all N differences, R = Nμ + offset and κ = Nσ/√(N−1); then
//! [`ErrorTable::step`] for the looks and bounds of the rule. The absolute tolerance τ makes a look at t ≥ (κ/τ)² decide by the
//! sign alone, wrong with probability Φ(−|μ_std|√t): where that look lies depends on κ, so there is a table for every look
//! that a pair met so far has made the last. κ is rounded down by up to 2^{1/4} to find it, hence the stop may be put
//! a look too early and the error comes out somewhat too large, never too small.
//!
//! Approximate as the theory is: Gaussian means and known σ. Exact decisions have no error. Cost: milliseconds for a
//! table, microseconds for a pair.

use super::acceptance::{StepError, kappa};
use super::plan::TestPlan;
use super::table::ErrorTable;
use super::walk::{Accuracy, TestWalk};
use crate::error::Result;
use crate::rule::{Law, RuleSettings};

/// Steps of log₂ κ.
const STEP: f64 = 0.25;

/// Predicts pair by pair what a rule gets wrong.
#[derive(Clone, Debug)]
pub struct Predictor {
    law: Law,
    rows: usize,
    /// The looks; none for exact decisions.
    plan: Option<TestPlan>,
    tolerance: f64,
    /// The mean error that a rule of one's own claims.
    claimed: f64,
    /// Tables by the number of looks before the one that always decides.
    tables: Vec<(usize, ErrorTable)>,
}

impl Predictor {
    /// The predictor of `rule` for populations of `rows` rows.
    pub fn new(rule: &RuleSettings, rows: usize) -> Result<Self> {
        let (plan, tolerance) = match rule {
            RuleSettings::Sequential(settings) if rows > 1 => {
                (Some(TestPlan::of_settings(settings, rows)?), settings.stop_at.unwrap_or(0.0))
            }
            _ => (None, 0.0),
        };
        let claimed = if let RuleSettings::Own(own) = rule { own.claimed_error() } else { 0.0 };
        Ok(Self { law: rule.law(), rows, plan, tolerance, claimed, tables: Vec::new() })
    }

    /// What the rule makes of a pair with differences of this mean and sd (divisor N).
    ///
    /// Where they are not numbers (an impossible candidate, a closed form) or beyond the theory nothing is predicted: no error.
    pub fn pair(&mut self, mean: f64, sd: f64, offset: f64) -> StepError {
        let ratio = self.rows as f64 * mean + offset;
        let certain = StepError {
            acceptance: self.law.uncompensated().acceptance(ratio),
            delta: 0.0,
            mean_error: self.claimed,
            data_usage: 1.0,
        };
        let Some(plan) = &self.plan else { return certain };
        let Ok(kappa) = kappa(sd, self.rows) else { return certain };
        let rounded = (STEP * (kappa.log2() / STEP).floor()).exp2();
        let last = plan.stages().iter().position(|stage| rounded < self.tolerance * stage.time.sqrt());
        let key = last.unwrap_or(plan.stages().len());
        let place = match self.tables.iter().position(|(known, _)| *known == key) {
            Some(place) => place,
            None => {
                let Ok(plan) = plan.with_absolute_stop(rounded, self.tolerance) else { return certain };
                let walk = TestWalk::new(plan, Accuracy::Fast);
                self.tables.push((key, ErrorTable::new(&walk, Accuracy::Fast)));
                self.tables.len() - 1
            }
        };
        self.tables[place].1.step(self.law, ratio, kappa).unwrap_or(certain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Looks, SequentialSettings};

    fn settings(stop_at: Option<f64>) -> RuleSettings {
        let looks = Looks::Growing { first: 64, growth: 1.5 };
        RuleSettings::Sequential(SequentialSettings {
            looks,
            stop_at,
            ..SequentialSettings::constant(64, 0.01)
        })
    }

    #[test]
    fn without_a_tolerance_it_is_the_table() {
        let rows = 20_000;
        let RuleSettings::Sequential(test) = settings(None) else { unreachable!() };
        let plan = TestPlan::of_settings(&test, rows).unwrap();
        let table = ErrorTable::new(&TestWalk::new(plan, Accuracy::Fast), Accuracy::Fast);
        let mut predictor = Predictor::new(&settings(None), rows).unwrap();
        for (mean, sd) in [(-1e-4, 0.02), (3e-5, 0.01), (0.0, 1e-5)] {
            let wanted = table.step_of_moments(Law::Metropolis, rows, (mean, sd), 0.2).unwrap();
            assert_eq!(predictor.pair(mean, sd, 0.2), wanted);
        }
        assert_eq!(predictor.tables.len(), 1);
    }

    /// A decision at the first look by the sign alone: E_u[error] is twice ∫f·Φ(−x/s)dx = f·s·√(2/π) for a flat density f of the
    /// threshold, and here f = e^{R} within a few s of R = −0.5.
    #[test]
    fn a_tolerance_lets_the_noise_of_the_total_decide() {
        let rows = 1_000_000;
        let noise = 0.02; // standard error of the total after 64 rows
        let kappa = noise * (64.0 / (rows as f64 - 64.0)).sqrt();
        let sd = kappa * (rows as f64 - 1.0).sqrt() / rows as f64;
        let mut predictor = Predictor::new(&settings(Some(0.03)), rows).unwrap();
        let found = predictor.pair(-0.5 / rows as f64, sd, 0.0);
        let wanted = (-0.5f64).exp() * noise * (2.0 / std::f64::consts::PI).sqrt();
        // Looks of 64 rows still decide by their bound where they can: that is the sign too.
        assert!((found.mean_error / wanted - 1.0).abs() < 0.02, "{found:?} {wanted}");
        assert!(found.delta.abs() < found.mean_error);
        let strict = Predictor::new(&settings(None), rows).unwrap().pair(-0.5 / rows as f64, sd, 0.0);
        assert!(strict.mean_error < 0.5 * found.mean_error, "{strict:?}");
    }

    #[test]
    fn exact_decisions_and_odd_numbers_have_no_error() {
        let mut exact = Predictor::new(&RuleSettings::default(), 100).unwrap();
        assert_eq!(exact.pair(-0.01, 1.0, 0.0).mean_error, 0.0);
        let mut test = Predictor::new(&settings(Some(0.03)), 5000).unwrap();
        for (mean, sd) in [(f64::NEG_INFINITY, f64::NAN), (0.0, 0.0), (f64::NAN, 1.0), (0.0, 1e200)] {
            assert_eq!(test.pair(mean, sd, 0.0).mean_error, 0.0, "{mean} {sd}");
        }
        assert!(Predictor::new(&settings(None), 1).is_ok());
    }
}
