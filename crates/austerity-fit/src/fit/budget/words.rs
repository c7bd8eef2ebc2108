//! The plan for people and for `summary.json`, and budgets that afford nothing.

use crate::risk::{Estimates, Offer, PredictedRisk};
use serde_json::{Value, json};

use super::{Budget, BudgetPlan, Candidate, FEWEST_WARMUP, Stretch, Unit};
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::Keyword;

impl BudgetPlan {
    /// What is planned, in a line.
    pub(crate) fn sentence(&self) -> String {
        let all = amount(self.unit, self.all);
        let PredictedRisk { bias, doubt, variance, start } = self.expected;
        let begin =
            if start > 1e-2 * self.expected.total() { format!(", start {start:.1e}") } else { String::new() };
        format!(
            "Budget: {all}, chosen from {} rules; expected at the end: bias {:.2} % of a posterior sd (± {:.2}), variance {variance:.1e}{begin}, risk {:.1e} (in posterior variances)",
            self.candidates.len(),
            100.0 * bias,
            100.0 * doubt,
            self.expected.total()
        )
    }

    /// What came of it, in a sentence.
    pub(crate) fn outcome(&self) -> String {
        let PredictedRisk { bias, doubt, variance, .. } = self.expected;
        let rules = match self
            .stretches
            .iter()
            .zip(self.stretches.iter().skip(1))
            .filter(|(a, b)| a.candidate != b.candidate)
            .count()
        {
            0 => "one rule".into(),
            1 => "the rule changed once".into(),
            changes => format!("the rule changed {changes} times"),
        };
        format!(
            "Of the budget of {} {} was spent before the summary, planned {} times ({rules}): predicted bias {:.2} % of a posterior sd (± {:.2}), variance {variance:.1e} and risk {:.1e} in posterior variances.",
            amount(self.unit, self.all),
            amount(self.unit, self.spent),
            self.stretches.len(),
            100.0 * bias,
            100.0 * doubt,
            self.expected.total()
        )
    }

    /// One line per stretch.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = |stretch: &Stretch| {
            let rule = super::super::plan::words::rule(&self.candidates[stretch.candidate].rule);
            format!("from draw {}, after {}: {rule}", stretch.from, amount(self.unit, stretch.spent))
        };
        self.stretches.iter().map(words).collect()
    }

    /// For `summary.json`.
    pub(crate) fn json(&self) -> Value {
        let PredictedRisk { bias, doubt, variance, start } = self.expected;
        let finite = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        json!({
            "unit": self.unit,
            "all": self.all,
            "spent": self.spent,
            "reserved": self.reserve,
            "predicted_bias": bias,
            "predicted_bias_error": doubt,
            "predicted_variance": finite(variance),
            "predicted_start": start,
            "predicted_risk": finite(self.expected.total()),
            "stretches": self.stretches.iter().map(|stretch| json!({
                "from": stretch.from,
                "spent": stretch.spent,
                "rule": self.candidates[stretch.candidate].rule,
            })).collect::<Vec<_>>(),
        })
    }
}

/// So much of a budget, in words.
pub(in super::super) fn amount(unit: Unit, amount: f64) -> String {
    match unit {
        Unit::Seconds if amount < 0.995 => format!("{:.0} ms", 1e3 * amount),
        Unit::Seconds => super::super::progress::duration(amount),
        Unit::Evaluations => format!("{} likelihood evaluations", crate::verdict::large(amount)),
    }
}

/// A budget that affords nothing.
pub(in super::super) fn too_small(
    budget: &Budget,
    candidates: &[Candidate],
    estimates: &Estimates,
    chains: u32,
) -> Failure {
    let steps = f64::from(chains) * (FEWEST_WARMUP + 1.0);
    let least = candidates.iter().map(|candidate| {
        let one = estimates.steps(&Offer { set_up: 0.0, ..candidate.setting }, 1.0);
        candidate.setting.set_up + steps / one.max(f64::MIN_POSITIVE)
    });
    let least = budget.all - budget.left() + least.fold(f64::INFINITY, f64::min);
    least_budget(budget, least, "a few steps of every chain")
}

/// The message that names the least budget.
pub(super) fn least_budget(budget: &Budget, least: f64, what: &str) -> Failure {
    let (keyword, least) = match budget.unit {
        Unit::Seconds => (Keyword::Budget, format!("{:.0}ms", (1100.0 * least).ceil())),
        Unit::Evaluations => (Keyword::Evaluations, format!("{:.0}", (1.1 * least).ceil())),
    };
    Refusal::BudgetTooSmall { budget: budget.words(budget.all), what: what.into(), keyword, least }.into()
}
