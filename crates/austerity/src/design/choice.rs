//! Which rule to run: what [`average`] finds for the pairs of a pilot, or exact decisions where those cost less.
//!
//! A sequential test spends two evaluations on a row it reads, an exact decision with its cached state one on every row: a test
//! that would read half of the data has nothing to gain. [`predict`] says of any test what the theory expects on these
//! pairs: mean error of the acceptance probability, data use, and how much wider the posterior will look.
//! Do not choose from pairs of another proposal: error and cost depend on the length of its steps through κ.

use serde::{Deserialize, Serialize};

use crate::design::{Pairs, Search, Space, average, evaluate};
use crate::error::{Result, setting};
use crate::rule::{Law, RuleSettings, SequentialSettings, Statistic};
use crate::theory::adapted::lengths;
use crate::theory::{Accuracy, ErrorTable, Moves, TestPlan, TestWalk};

/// Share of the data at which a test of two evaluations per row costs as much as exact decisions.
pub const BREAK_EVEN: f64 = 0.5;
/// Growths of the looks that are tried.
const GROWTHS: [f64; 3] = [1.0, 1.5, 2.0];

/// What the theory expects of a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Mean |Δ| of the acceptance probability; under compensation the mean detailed-balance defect.
    pub error: f64,
    /// Mean share of the data per decision.
    pub data_share: f64,
    /// sd of a chain's draws over sd of the posterior, for a Gaussian posterior and a random walk with steps like the pairs'; `None`
    /// for proposals that are no walk, whose log ratios follow another law.
    pub sd_inflation: Option<f64>,
    /// Share of the candidates that is accepted, under the same conditions.
    #[serde(default)]
    pub acceptance: Option<f64>,
    /// Typical κ of the pairs.
    pub kappa: f64,
}

/// A rule and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What to run.
    pub rule: RuleSettings,
    /// What to expect; nothing to predict of exact decisions.
    pub prediction: Option<Prediction>,
    /// Why, in a sentence.
    pub reason: String,
}

/// The cheapest rule whose mean error over `pairs`, those of a random walk with such `steps`, is within `tolerance` under `law`.
pub fn choose(
    (pairs, steps): (&Pairs, Steps),
    law: Law,
    tolerance: f64,
    block_rows: usize,
) -> Result<Choice> {
    let search = search(pairs, law, tolerance, block_rows)?;
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let exact =
        |reason| Choice { rule: RuleSettings::Exact { law: law.uncompensated() }, prediction: None, reason };
    let Some(best) = search.best else {
        return Ok(exact(format!(
            "exact decisions: every test tried has a mean error of the acceptance probability above {tolerance} (the smallest: {:.4})",
            search.nearest.error
        )));
    };
    if best.data_usage >= BREAK_EVEN {
        return Ok(exact(format!(
            "exact decisions: the cheapest test with a mean error within {tolerance} would read {} of the data with two likelihood \
             evaluations per row; an exact decision needs one evaluation per row",
            percent(best.data_usage)
        )));
    }
    let settings = best.candidate.settings(Statistic::Student, law, block_rows);
    let prediction = predict(&settings, pairs, steps)?;
    Ok(Choice {
        reason: format!(
            "a sequential test, the cheapest with a mean error within {tolerance}: first look {}, growth {}, epsilon {:.4}; \
             it should read {} of the data per decision",
            best.candidate.first,
            best.candidate.growth,
            best.candidate.epsilon(),
            percent(prediction.data_share)
        ),
        rule: RuleSettings::Sequential(settings),
        prediction: Some(prediction),
    })
}

/// The search behind [`choose`].
pub fn search(pairs: &Pairs, law: Law, tolerance: f64, block_rows: usize) -> Result<Search> {
    let space = Space::constant(pairs.rows())?.with_growth(&GROWTHS).with_blocks(block_rows);
    average(&space, pairs, law, tolerance)
}

/// How the proposal of some pairs makes its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steps {
    /// A random walk whose steps stay as the pairs have them.
    Fixed,
    /// A random walk that adapts to this acceptance rate, under the test, before it draws.
    Adapting(f64),
    /// No random walk: log ratios follow another law, and the bias is not predicted.
    Other,
}

/// What the theory expects of `settings` on decisions like `pairs`, whose steps are made like `steps`.
pub fn predict(settings: &SequentialSettings, pairs: &Pairs, steps: Steps) -> Result<Prediction> {
    let kappa = typical_kappa(pairs)?;
    let table = table(settings, pairs.rows(), kappa)?;
    let [error, data_share] = evaluate(&table, pairs, settings.law)?;
    let bias = match steps {
        Steps::Other => None,
        Steps::Fixed => Some(table.bias_of(settings.law, &moves(pairs))?),
        Steps::Adapting(target) => Some(table.adapted_bias(settings.law, &moves(pairs), target)?),
    };
    let (sd_inflation, acceptance) =
        (bias.as_ref().map(|bias| bias.sd_inflation), bias.as_ref().map(|bias| bias.acceptance));
    // A chain at its own temperature reads what its own moves need.
    let data_share = bias.as_ref().map_or(data_share, |bias| bias.data_usage);
    Ok(Prediction { error, data_share, sd_inflation, acceptance, kappa })
}

/// The λ that cancels the temperature of `settings` for a random walk with steps like the pairs', if there is one. By the information
/// equality D = κ there; κ, a mean of squares, is the better known of the two.
pub fn compensation(settings: &SequentialSettings, pairs: &Pairs, steps: Steps) -> Result<Option<f64>> {
    let table = table(settings, pairs.rows(), typical_kappa(pairs)?)?;
    match steps {
        Steps::Other => Ok(None),
        Steps::Fixed => table.compensation_of(&moves(pairs)),
        Steps::Adapting(target) => table.adapted_compensation(&moves(pairs), target),
    }
}

/// Moves that stand for those of the pairs.
fn moves(pairs: &Pairs) -> Vec<Moves> {
    lengths(&pairs.as_slice().iter().map(|pair| pair.kappa).collect::<Vec<_>>())
}

fn table(settings: &SequentialSettings, rows: usize, kappa: f64) -> Result<ErrorTable> {
    let mut plan = TestPlan::of_settings(settings, rows)?;
    if let Some(tolerance) = settings.stop_at {
        plan = plan.with_absolute_stop(kappa, tolerance)?;
    }
    Ok(ErrorTable::new(&TestWalk::new(plan, Accuracy::Fast), Accuracy::Fast))
}

/// Root mean square of κ.
fn typical_kappa(pairs: &Pairs) -> Result<f64> {
    let all = pairs.as_slice();
    if all.is_empty() {
        return Err(setting("pairs", 0, "at least one completed decision (about 100 are wanted)"));
    }
    Ok((all.iter().map(|pair| pair.kappa * pair.kappa).sum::<f64>() / all.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decisions of a stationary chain whose steps have root energy `energy`.
    fn pairs(rows: usize, energy: f64) -> Pairs {
        let mut pairs = Pairs::new(rows).unwrap();
        for i in 0..60 {
            // Normal quantiles by a rational wiggle are not needed: evenly spread ratios do.
            let ratio = energy * (f64::from(i) / 10.0 - 3.0) - 0.5 * energy * energy;
            let n = rows as f64;
            pairs.push(ratio / n, energy * (n - 1.0).sqrt() / n, 0.0).unwrap();
        }
        pairs
    }

    #[test]
    fn long_steps_are_decided_exactly_and_short_ones_by_a_test() {
        let long = choose((&pairs(100_000, 2.38), Steps::Fixed), Law::Metropolis, 0.01, 32).unwrap();
        assert_eq!(long.rule, RuleSettings::default());
        // A λ without its test would change the posterior.
        let law = Law::Compensated { lambda: 1.4 };
        assert_eq!(
            choose((&pairs(100_000, 2.38), Steps::Fixed), law, 1e-6, 32).unwrap().rule,
            RuleSettings::default()
        );
        assert!(long.reason.contains("exact decisions"), "{}", long.reason);
        let short = choose((&pairs(100_000, 0.2), Steps::Fixed), Law::Metropolis, 0.01, 32).unwrap();
        let prediction = short.prediction.unwrap();
        assert!(matches!(short.rule, RuleSettings::Sequential(_)));
        assert!(prediction.error <= 0.0101 && prediction.data_share < BREAK_EVEN, "{prediction:?}");
        assert!(prediction.sd_inflation.unwrap() > 1.0 && (prediction.kappa - 0.2).abs() < 1e-6);
    }

    #[test]
    fn a_compensated_test_is_predicted_to_have_the_right_temperature() {
        let pairs = pairs(100_000, 1.0);
        let mut settings = SequentialSettings::constant(4_000, 0.05);
        let plain = predict(&settings, &pairs, Steps::Fixed).unwrap();
        let lambda = compensation(&settings, &pairs, Steps::Fixed).unwrap().unwrap();
        settings.law = Law::Compensated { lambda };
        let compensated = predict(&settings, &pairs, Steps::Fixed).unwrap();
        assert!(plain.sd_inflation.unwrap() > 1.02 && (compensated.sd_inflation.unwrap() - 1.0).abs() < 1e-3);
        assert_eq!(predict(&settings, &pairs, Steps::Other).unwrap().sd_inflation, None);
    }
}
