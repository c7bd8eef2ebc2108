//! One parameter in one line: location, spread, quantiles and whether to trust them.
//!
//! Collects what the other files compute, sharing the sorts between them: about half the
//! cost of calling each function. Read `rhat` and `ess_bulk`, `ess_tail` first; the rest
//! means little while R-hat exceeds 1.01 or an effective size is below 100 per chain
//! (Vehtari, Gelman, Simpson, Carpenter & Bürkner, 2021, section 4).

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::chains::{borrow, check, halves, mean, pool, sorted, variance};
use super::interval::quantile_of_sorted;
use super::rank::chain_scores;
use super::{ess, mcse, rhat};

/// Posterior summary of one parameter over all chains.
///
/// Mean, sd and quantiles are NaN without draws (the sd: with fewer than two) or when a draw is not
/// finite; the diagnostics also with fewer than four draws per chain, and R-hat with a single chain.
/// In JSON, where numbers must be finite, an undefined or infinite value is `null` and reads as NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the parameter.
    pub name: String,
    /// Mean of the pooled draws.
    #[serde(with = "nullable")]
    pub mean: f64,
    /// Standard deviation of the pooled draws, with divisor S − 1.
    #[serde(with = "nullable")]
    pub sd: f64,
    /// 2.5 % quantile.
    #[serde(with = "nullable")]
    pub q025: f64,
    /// Median.
    #[serde(with = "nullable")]
    pub q50: f64,
    /// 97.5 % quantile.
    #[serde(with = "nullable")]
    pub q975: f64,
    /// Effective sample size for the bulk, [`super::ess_bulk`].
    #[serde(with = "nullable")]
    pub ess_bulk: f64,
    /// Effective sample size for the tails, [`super::ess_tail`].
    #[serde(with = "nullable")]
    pub ess_tail: f64,
    /// Rank-normalised split R-hat, [`super::rhat()`].
    #[serde(with = "nullable")]
    pub rhat: f64,
    /// Monte Carlo standard error of the mean, [`super::mcse_mean`].
    #[serde(with = "nullable")]
    pub mcse_mean: f64,
    /// Monte Carlo standard error of the standard deviation, [`super::mcse_sd`].
    #[serde(with = "nullable")]
    pub mcse_sd: f64,
}

impl Summary {
    /// Summarises the draws of one parameter, one slice per chain, cut to the shortest.
    ///
    /// ```
    /// use austerity::diagnostics::Summary;
    /// let first = [1.0, 3.0, 2.0, 4.0, 2.5, 3.5];
    /// let second = [2.0, 4.0, 1.0, 3.0, 3.5, 2.5];
    /// let summary = Summary::new("slope", &[&first, &second]);
    /// assert!((summary.mean - 16.0 / 6.0).abs() < 1e-12);
    /// assert!(summary.rhat < 1.3);
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>, chains: &[&[f64]]) -> Self {
        // Copies of the draws go as soon as they have served: six are held at most.
        let pooled = pool(chains);
        let (centre, spread) = (mean(&pooled), variance(&pooled).sqrt());
        drop(pooled);
        let (mcse_mean, mcse_sd) = (mcse::mcse_mean(chains), mcse::mcse_sd(chains));
        let ordered = sorted(chains);
        let finite = !ordered.is_empty();
        let defined = |value: f64| if finite { value } else { f64::NAN };
        let mut summary = Self {
            name: name.into(),
            mean: defined(centre),
            sd: defined(spread),
            q025: quantile_of_sorted(&ordered, 0.025),
            q50: quantile_of_sorted(&ordered, 0.5),
            q975: quantile_of_sorted(&ordered, 0.975),
            ess_bulk: f64::NAN,
            ess_tail: f64::NAN,
            rhat: f64::NAN,
            mcse_mean,
            mcse_sd,
        };
        if let Some(chains) = check(chains, 1) {
            summary.ess_tail = ess::tail(&chains, &ordered);
            drop(ordered);
            let split = halves(&chains);
            let scores = chain_scores(&split);
            let bulk = borrow(&scores);
            summary.ess_bulk = ess::of_sequences(&bulk);
            if chains.len() > 1 {
                let bulk = rhat::of_sequences(&bulk);
                drop(scores);
                summary.rhat = rhat::larger(bulk, rhat::folded(&split));
            }
        }
        summary
    }
}

/// Numbers that may be undefined: `None` on paper, NaN in memory.
pub mod nullable {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    /// For `#[serde(with = "…")]`.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde fixes the signature
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(serializer)
    }

    /// For `#[serde(with = "…")]`.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulate::autoregressive;
    use super::super::{ess_bulk, ess_tail, mcse_mean, mcse_sd, quantile, rhat};
    use super::*;

    #[test]
    fn summary_repeats_the_functions() {
        let chains = autoregressive(3, 333, 0.6, 51);
        let chains = borrow(&chains);
        let summary = Summary::new("x", &chains);
        assert_eq!(summary.ess_bulk, ess_bulk(&chains));
        assert_eq!(summary.ess_tail, ess_tail(&chains));
        assert_eq!(summary.rhat, rhat(&chains));
        assert_eq!(summary.mcse_mean, mcse_mean(&chains));
        assert_eq!(summary.mcse_sd, mcse_sd(&chains));
        assert_eq!(summary.q975, quantile(&chains, 0.975));
    }

    #[test]
    fn single_chain_and_short_chains_keep_what_is_defined() {
        let summary = Summary::new("x", &[&[1.0, 2.0, 3.0]]);
        assert_eq!((summary.mean, summary.sd, summary.q50), (2.0, 1.0, 2.0));
        assert!(summary.ess_bulk.is_nan() && summary.rhat.is_nan());
        assert!(Summary::new("x", &[]).mean.is_nan());
        assert!(Summary::new("x", &[&[1.0, f64::INFINITY]]).mean.is_nan());
    }

    #[test]
    fn json_round_trip_keeps_undefined_values() {
        let summary = Summary::new("x", &[&[1.0, 2.0, 3.0]]);
        let text = serde_json::to_string(&summary).unwrap();
        assert!(text.contains("\"rhat\":null"), "{text}");
        let back: Summary = serde_json::from_str(&text).unwrap();
        assert_eq!((back.mean, back.sd), (summary.mean, summary.sd));
        assert!(back.rhat.is_nan());
    }

    #[test]
    fn cost_does_not_explode() {
        // Fifty parameters take 0.7 s on one core; the limit only guards against a quadratic slip.
        let chains = autoregressive(4, 10_000, 0.9, 52);
        let chains = borrow(&chains);
        let start = std::time::Instant::now();
        for _ in 0..50 {
            assert!(Summary::new("x", &chains).ess_bulk > 0.0);
        }
        assert!(start.elapsed().as_secs_f64() < 10.0, "{:?}", start.elapsed());
    }
}
