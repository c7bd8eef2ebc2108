//! When a sample is too odd for a normal approximation: the guard of raw differences.
//!
//! A t statistic lies when a few rows carry the sum: with 0.1 % non-zeros the true error of a nominal .11 test
//! was .76, all on one side. While n < N the guard therefore allows no decision
//! * on zero variance, or on fewer than `minimum_rows` rows or `minimum_nonzeros` non-zero values,
//! * when n < 30·(1 + skewness²),
//! * when one row has more than `largest_share` of Σ(l − l̄)², or kurtosis/n exceeds `kurtosis_share`.
//!
//! It then waits for twice as many rows. The theory and the designs know nothing of it: a guard only takes decisions away
//! from early looks, so that with it more data are read than [`crate::theory`] predicts, never less. It sees the sample only: rows it has not met can still matter, so it
//! is no replacement for an a-priori bound on residuals of a control variate.

use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::population::Moments;

/// Thresholds of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// Fewest rows.
    pub minimum_rows: u64,
    /// Fewest non-zero values.
    pub minimum_nonzeros: u64,
    /// Largest share of one row in the sum of squares.
    pub largest_share: f64,
    /// Largest kurtosis/n.
    pub kurtosis_share: f64,
}

impl Default for Guard {
    fn default() -> Self {
        Self { minimum_rows: 100, minimum_nonzeros: 30, largest_share: 0.05, kurtosis_share: 0.05 }
    }
}

impl Guard {
    /// Refuses shares outside (0, 1].
    pub fn check(&self) -> Result<()> {
        for (name, share) in [("largest_share", self.largest_share), ("kurtosis_share", self.kurtosis_share)]
        {
            if !(share > 0.0 && share <= 1.0) {
                return Err(setting(&format!("guard {name}"), share, "a share above 0 and at most 1"));
            }
        }
        Ok(())
    }

    /// Whether a decision may rest on these rows.
    #[must_use]
    pub fn allows(&self, moments: &Moments) -> bool {
        let n = moments.count as f64;
        let skewness = moments.skewness();
        moments.minimum < moments.maximum
            && moments.m2 > 0.0
            && moments.count >= self.minimum_rows
            && moments.nonzeros >= self.minimum_nonzeros
            && n >= 30.0 * (1.0 + skewness * skewness)
            && moments.largest_share() <= self.largest_share
            && moments.kurtosis() <= self.kurtosis_share * n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each sample breaks one condition and no other: switching that one off lets it pass.
    #[test]
    fn each_condition_bites_alone() {
        let guard = Guard::default();
        let even: Vec<f64> = (0..200).map(|i| (f64::from(i) * 0.7).sin()).collect();
        assert!(guard.allows(&Moments::of(&even)));
        let bites = |values: &[f64], without: Guard| {
            let moments = Moments::of(values);
            assert!(!guard.allows(&moments), "{moments:?}");
            assert!(without.allows(&moments), "{moments:?}");
        };
        bites(&even[..99], Guard { minimum_rows: 99, ..guard });
        // 20 non-zeros of 200, in pairs of either sign: no skewness, shares of exactly 1/20.
        let sparse: Vec<f64> =
            (0..200).map(|i| if i < 20 { f64::from(1 - 2 * (i % 2)) } else { 0.0 }).collect();
        bites(&sparse, Guard { minimum_nonzeros: 20, ..guard });
        // Two rows of either sign with 6 % each.
        let mut two: Vec<f64> = (0..400).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let far = (0.06f64 / 0.88 * 398.0).sqrt();
        (two[0], two[1]) = (far, -far);
        bites(&two, Guard { largest_share: 0.07, ..guard });
        // kurtosis/n is the sum of squared shares, so at equal limits the share bites first; alone it needs its own.
        let strict = Guard { kurtosis_share: 0.01, ..guard };
        assert!(
            guard.allows(&Moments::of(&sparse_but_full()))
                && !strict.allows(&Moments::of(&sparse_but_full()))
        );
        // 19 of 100 rows are 2, the others 1: skewness 1.58, so 30·(1 + 2.5) rows are wanted.
        let skewed: Vec<f64> = (0..100).map(|i| if i < 19 { 2.0 } else { 1.0 }).collect();
        assert!(!guard.allows(&Moments::of(&skewed)));
        let more: Vec<f64> = (0..200).map(|i| if i < 38 { 2.0 } else { 1.0 }).collect();
        assert!(guard.allows(&Moments::of(&more)));
        // No spread at all.
        let any = Guard { minimum_rows: 0, minimum_nonzeros: 0, largest_share: 1.0, kurtosis_share: 1.0 };
        assert!(!any.allows(&Moments::of(&[1.0; 200])));
        // Binary values are fine: few distinct numbers, but no row dominates.
        let binary: Vec<f64> = (0..200).map(|i| f64::from(i % 2)).collect();
        assert!(guard.allows(&Moments::of(&binary)));
    }

    /// 30 rows of either sign carry nearly everything among 200 that are not zero.
    fn sparse_but_full() -> Vec<f64> {
        (0..200)
            .map(|i| if i < 30 { f64::from(1 - 2 * (i % 2)) } else { 0.01 * f64::from(1 - 2 * (i % 2)) })
            .collect()
    }
}
