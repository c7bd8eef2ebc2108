//! May the draws be used? What a careful person would ask, answered in sentences.
//!
//! | asked | not to be trusted when |
//! |---|---|
//! | do the chains agree | R-hat of a parameter exceeds 1.01 (Vehtari et al. 2021) |
//! | are there enough draws | an effective sample size (bulk or tail) is below 100 per chain |
//! | are the decisions sound | the guard held up more than 5 % of them (above 1 % it is worth a remark) |
//! | is the posterior the one asked for | the theory predicts standard deviations off by more than 5 % |
//! | is the test as precise as it says | audits contradict what was predicted ([`Tally`](crate::run::Tally)) |
//! | did it run | a chain failed, nothing was accepted, or the run never left its warm-up |
//!
//! Audits are judged by all chains together, after warm-up: an honest run is accused with probability at most 1 % however often it is judged.

use serde::{Deserialize, Serialize};

use crate::diagnostics::{ESS_PER_CHAIN, RHAT_LIMIT, Summary};
use crate::rule::RuleSettings;
use crate::run::{Counters, Ended};

/// Share of the decisions that the guard may hold up before it is worth a word, and before it is a reason.
const GUARD_REMARK: f64 = 0.01;
const GUARD_LIMIT: f64 = 0.05;
/// Relative error of posterior standard deviations that the theory may predict.
const INFLATION_LIMIT: f64 = 0.05;
/// Share of the data at which a test of two evaluations per row costs as much as exact decisions.
const SHARE_LIMIT: f64 = crate::design::choice::BREAK_EVEN;

/// What is known of a run.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// One summary per parameter.
    pub summary: &'a [Summary],
    /// Counts of all chains after warm-up.
    pub counters: &'a Counters,
    /// N.
    pub rows: usize,
    /// Number of chains.
    pub chains: usize,
    /// Who decided.
    pub rule: &'a RuleSettings,
    /// Why it ended.
    pub ended: Option<&'a Ended>,
    /// Chains whose test was made stricter in warm-up.
    pub tightened: usize,
    /// sd of the draws over sd of the posterior, as the theory predicts it.
    pub predicted_inflation: Option<f64>,
    /// Draws of every chain.
    pub draws: usize,
}

/// Whether the draws may be used, and what else to know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Why the draws must not be trusted; empty when they may.
    pub reasons: Vec<String>,
    /// What may be improved.
    pub remarks: Vec<String>,
    /// Whether more draws are all that is wanting.
    #[serde(default)]
    pub short: bool,
}

impl Verdict {
    /// Whether nothing speaks against the draws.
    #[must_use]
    pub fn trusted(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Weighs the evidence.
    #[must_use]
    pub fn new(evidence: &Evidence<'_>) -> Self {
        let mut verdict = Self::default();
        let failure = match evidence.ended {
            Some(Ended::Failed { chain, error }) => {
                Some(format!("Chain {chain} stopped: {error}. Draws made before are kept."))
            }
            Some(Ended::Unstored { error }) => Some(format!("The run stopped: {error}.")),
            _ => None,
        };
        verdict.reasons.extend(failure);
        if evidence.counters.steps == 0 || evidence.draws == 0 {
            verdict.short = verdict.reasons.is_empty();
            verdict.reasons.push(
                "The run ended during warm-up: there is no draw yet. Give it more time or resume it.".into(),
            );
            return verdict;
        }
        verdict.decisions(evidence);
        verdict.audits(evidence);
        verdict.short = verdict.reasons.is_empty();
        verdict.chains(evidence);
        verdict
    }

    fn decisions(&mut self, evidence: &Evidence<'_>) {
        let counters = evidence.counters;
        if counters.accepted == 0 {
            self.reasons
                .push("No candidate was accepted: the chain has not moved. Use smaller steps.".into());
        }
        let share = counters.data_share(evidence.rows);
        if matches!(evidence.rule, RuleSettings::Sequential(_)) && share > SHARE_LIMIT {
            self.remarks.push(format!(
                "A decision read {:.0} % of the data on average: at two evaluations per row exact decisions would be cheaper. \
                 Use the exact rule or smaller steps.",
                100.0 * share
            ));
        }
        let guarded = counters.guarded as f64 / counters.steps as f64;
        if guarded > GUARD_REMARK {
            let list = if guarded > GUARD_LIMIT { &mut self.reasons } else { &mut self.remarks };
            list.push(format!(
                "The guard held up {:.1} % of the decisions: a few rows carry much of a difference there. \
                 Look for outliers, rare features or scales, use a larger first look or the exact rule.",
                100.0 * guarded
            ));
        }
        if let Some(inflation) = evidence.predicted_inflation
            && (inflation.is_nan() || (inflation - 1.0).abs() > INFLATION_LIMIT)
        {
            let how = if inflation.is_finite() {
                format!(
                    "{:.0} % too {}",
                    100.0 * (inflation - 1.0).abs(),
                    if inflation > 1.0 { "wide" } else { "narrow" }
                )
            } else {
                "without bound".into()
            };
            self.reasons.push(format!(
                "The theory predicts posterior standard deviations {how} under this test. Use a smaller epsilon, a larger first look, \
                 a compensated threshold or the exact rule."
            ));
        }
    }

    fn audits(&mut self, evidence: &Evidence<'_>) {
        self.reasons.extend(evidence.counters.audits.sentence());
        let Evidence { tightened, chains, .. } = evidence;
        if tightened == chains {
            self.remarks.push(
                "Audits in warm-up contradicted the test of every chain, which then read more rows; the draws were made after that. \
                 A larger first look or the exact rule would have done so from the start."
                    .into(),
            );
        } else if *tightened > 0 {
            // All chains had the same test, and few audits each to find out.
            self.reasons.push(format!(
                "Audits in warm-up contradicted the test of {tightened} of {chains} chains, which then read more rows; the others went on with \
                 it. Use a larger first look or the exact rule."
            ));
        }
    }

    fn chains(&mut self, evidence: &Evidence<'_>) {
        let summary = evidence.summary;
        let apart: Vec<&str> = summary
            .iter()
            .filter(|s| s.rhat > RHAT_LIMIT || s.rhat.is_nan())
            .map(|s| s.name.as_str())
            .collect();
        if !apart.is_empty() && evidence.chains > 1 {
            let worst = summary.iter().map(|s| s.rhat).fold(f64::NAN, f64::max);
            self.reasons.push(format!(
                "Chains disagree about {} of {} parameters (largest R-hat {worst:.3}, first: {}). Run longer.",
                apart.len(),
                summary.len(),
                apart[0]
            ));
        }
        if summary.iter().any(|s| s.ess_bulk.is_nan() || s.ess_tail.is_nan()) {
            self.reasons.push("There are too few draws to tell an effective sample size. Run longer.".into());
            return;
        }
        let least = summary.iter().map(|s| s.ess_bulk.min(s.ess_tail)).fold(f64::INFINITY, f64::min);
        if least < ESS_PER_CHAIN * evidence.chains as f64 {
            self.reasons.push(format!(
                "The smallest effective sample size is {least:.0}: intervals are rough. Run longer or improve the proposal."
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::SequentialSettings;
    use crate::run::Tally;

    fn good() -> (Vec<Summary>, Counters) {
        let value = |c: u32, i: u32| (f64::from(i * (31 + c)) * 0.618_034 + 0.1 * f64::from(c)).fract();
        let draws: Vec<Vec<f64>> = (0..4).map(|c| (0..500).map(|i| value(c, i)).collect()).collect();
        let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
        let counters = Counters { steps: 2000, accepted: 600, rows: 20_000, ..Counters::default() };
        (vec![Summary::new("a", &chains)], counters)
    }

    fn verdict(change: impl Fn(&mut Vec<Summary>, &mut Counters)) -> Verdict {
        biased(change, None)
    }

    fn biased(change: impl Fn(&mut Vec<Summary>, &mut Counters), inflation: Option<f64>) -> Verdict {
        after(change, inflation, 0)
    }

    fn after(
        change: impl Fn(&mut Vec<Summary>, &mut Counters),
        inflation: Option<f64>,
        tightened: usize,
    ) -> Verdict {
        let (mut summary, mut counters) = good();
        change(&mut summary, &mut counters);
        let rule = RuleSettings::Sequential(SequentialSettings::constant(32, 0.01));
        Verdict::new(&Evidence {
            summary: &summary,
            counters: &counters,
            rows: 1000,
            chains: 4,
            rule: &rule,
            ended: None,
            tightened,
            predicted_inflation: inflation,
            draws: 500,
        })
    }

    #[test]
    fn each_reason_is_found_and_nothing_else() {
        let fine = verdict(|_, _| {});
        assert!(fine.trusted() && fine.remarks.is_empty(), "{fine:?}");
        assert!(verdict(|s, _| s[0].rhat = 1.02).short && !verdict(|_, c| c.guarded = 101).short);
        let reason = |change: &dyn Fn(&mut Vec<Summary>, &mut Counters), word: &str| {
            let found = verdict(change);
            assert!(found.reasons.len() == 1 && found.reasons[0].contains(word), "{word}: {found:?}");
        };
        reason(&|s, _| s[0].rhat = 1.02, "Chains disagree");
        reason(&|s, _| s[0].ess_tail = 399.0, "399");
        reason(&|s, _| s[0].ess_bulk = f64::NAN, "too few draws");
        reason(&|_, c| c.guarded = 101, "guard");
        let held = verdict(|_, c| c.guarded = 21);
        assert!(held.trusted() && held.remarks[0].contains("guard"), "{held:?}");
        for (inflation, trusted) in [(1.04, true), (1.06, false), (0.9, false), (f64::INFINITY, false)] {
            assert_eq!(biased(|_, _| {}, Some(inflation)).trusted(), trusted, "{inflation}");
        }
        let some = after(|_, _| {}, None, 1);
        assert!(some.reasons.len() == 1 && some.reasons[0].contains("1 of 4 chains"), "{some:?}");
        let all = after(|_, _| {}, None, 4);
        assert!(all.trusted() && all.remarks[0].contains("every chain"), "{all:?}");
        reason(&|_, c| c.accepted = 0, "not moved");
        reason(&|_, c| c.steps = 0, "warm-up");
        let audits = |disagreed, predicted| Tally { audited: 100, disagreed, predicted, ..Tally::default() };
        reason(&|_, c| c.audits = audits(15, 1.5), "15 were wrong");
        reason(
            &|_, c| c.audits = Tally { deviating: 4, deviations: 100.0, wealth: [6.0; 3], ..audits(1, 1.5) },
            "5.0 times",
        );
        reason(&|_, c| c.audits.defects = 1, "surrogate");
        assert!(verdict(|_, c| c.audits = audits(5, 1.5)).trusted());
        let dear = verdict(|_, c| c.rows = 2000 * 600);
        assert!(dear.trusted() && dear.remarks[0].contains("cheaper"));
    }
}
