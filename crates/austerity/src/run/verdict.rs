//! May the draws be used? What a careful person would ask, answered in sentences.
//!
//! | asked | not to be trusted when |
//! |---|---|
//! | do the chains agree | R-hat of a parameter exceeds 1.01 (Vehtari et al. 2021) |
//! | are there enough draws | an effective sample size (bulk or tail) is below 100 per chain |
//! | are the decisions sound | the guard held up more than 5 % of them (above 1 % it is worth a remark) |
//! | is the posterior the one asked for | the theory predicts standard deviations off by more than 5 % |
//! | is the test as precise as it says | audits contradict what was predicted ([`Tally`](crate::run::Tally)) |
//! | did it run | a chain failed or accepted nothing, or the run never left its warm-up |
//! | is there a posterior | its density is flat along a direction, or has no bound ([`Hazard`]) |
//!
//! "Run longer" is said only where more draws are all that is wanting; every other [`Reason`] has a remedy of its own.
//!
//! Audits are judged by all chains together, after warm-up: an honest run is accused with probability at most 1 % however often it is judged.

use serde::{Deserialize, Serialize};

use crate::diagnostics::{ESS_PER_CHAIN, INFLATION_LIMIT, RHAT_LIMIT, Summary};
use crate::rule::RuleSettings;
use crate::run::{Counters, Ended, Hazard, Reason};

/// Share of the decisions that the guard may hold up before it is worth a word, and before it is a reason.
const GUARD_REMARK: f64 = 0.01;
const GUARD_LIMIT: f64 = 0.05;
/// Share of the data at which a test of two evaluations per row costs as much as exact decisions.
const SHARE_LIMIT: f64 = crate::design::choice::BREAK_EVEN;
/// Share of the proposals that must be impossible for the support to be the reason why a chain stays where it is.
const IMPOSSIBLE: f64 = 0.9;
/// Steps without an acceptance after which a chain is stuck: at an acceptance of 5 % one in 28,000 healthy chains makes so many.
const STUCK_STEPS: u64 = 200;

/// What is known of a run.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// One summary per parameter.
    pub summary: &'a [Summary],
    /// Counts of all chains after warm-up.
    pub counters: &'a Counters,
    /// Number of rows, N.
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
    /// Chains that accepted nothing: see [`stuck`].
    pub stuck: usize,
    /// What is known of the posterior itself.
    pub hazards: &'a [Hazard],
}

impl Evidence<'_> {
    /// Whether no chain accepted anything in many steps.
    fn is_stuck(&self) -> bool {
        self.counters.accepted == 0 && self.counters.steps >= STUCK_STEPS
    }
}

/// How many of the chains with these counts accepted nothing in many steps.
pub fn stuck<'a>(chains: impl IntoIterator<Item = &'a Counters>) -> usize {
    chains.into_iter().filter(|counters| counters.accepted == 0 && counters.steps >= STUCK_STEPS).count()
}

/// Whether the draws may be used, and what else to know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Why the draws must not be trusted; empty when they may.
    pub reasons: Vec<Reason>,
    /// What may be improved.
    pub remarks: Vec<Reason>,
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
                Some(Reason::Failed { chain: *chain, error: error.to_string() })
            }
            Some(Ended::Unstored { error }) => Some(Reason::Unstored { error: error.to_string() }),
            _ => None,
        };
        verdict.reasons.extend(failure);
        if evidence.counters.steps == 0 || evidence.draws == 0 {
            verdict.short = verdict.reasons.is_empty();
            verdict.reasons.push(Reason::NoDraw);
            return verdict;
        }
        let fatal = evidence.hazards.iter().filter(|hazard| hazard.is_fatal());
        verdict.reasons.extend(fatal.cloned().map(Reason::Hazard));
        verdict.decisions(evidence);
        verdict.audits(evidence);
        verdict.chains(evidence);
        verdict
    }

    fn decisions(&mut self, evidence: &Evidence<'_>) {
        let counters = evidence.counters;
        let stuck = if evidence.is_stuck() { evidence.chains } else { evidence.stuck };
        if stuck > 0 {
            let impossible = counters.impossible as f64 >= IMPOSSIBLE * counters.steps as f64;
            self.reasons.push(Reason::Unmoved { stuck, chains: evidence.chains, impossible });
        }
        let share = counters.data_share(evidence.rows);
        if matches!(evidence.rule, RuleSettings::Sequential(_)) && share > SHARE_LIMIT {
            self.remarks.push(Reason::Dear { share });
        }
        let guarded = counters.guarded as f64 / counters.steps as f64;
        if guarded > GUARD_REMARK {
            let list = if guarded > GUARD_LIMIT { &mut self.reasons } else { &mut self.remarks };
            list.push(Reason::Guarded { share: guarded });
        }
        if let Some(inflation) = evidence.predicted_inflation
            && (inflation.is_nan() || (inflation - 1.0).abs() > INFLATION_LIMIT)
        {
            self.reasons.push(Reason::Inflated { inflation });
        }
    }

    fn audits(&mut self, evidence: &Evidence<'_>) {
        let sentence = evidence.counters.audits.sentence();
        self.reasons.extend(sentence.map(|sentence| Reason::Audits { sentence }));
        let Evidence { tightened, chains, .. } = evidence;
        if *tightened > 0 {
            // All chains had the same test, and few audits each to find out: some alone speak against the others.
            let list = if tightened == chains { &mut self.remarks } else { &mut self.reasons };
            list.push(Reason::Tightened { tightened: *tightened, chains: *chains });
        }
    }

    fn chains(&mut self, evidence: &Evidence<'_>) {
        // Draws that are all alike have neither.
        let summary = if evidence.is_stuck() { &[][..] } else { evidence.summary };
        let apart: Vec<&str> = summary
            .iter()
            .filter(|s| s.rhat > RHAT_LIMIT || s.rhat.is_nan())
            .map(|s| s.name.as_str())
            .collect();
        let least = summary.iter().map(|s| s.ess_bulk.min(s.ess_tail)).fold(f64::INFINITY, f64::min);
        let few = summary.iter().any(|s| s.ess_bulk.is_nan() || s.ess_tail.is_nan());
        let small = least < ESS_PER_CHAIN * evidence.chains as f64;
        let disagree = !apart.is_empty() && evidence.chains > 1;
        if disagree || few || small {
            // Data that leave the chains without a hold are then the reason.
            let harmless = evidence.hazards.iter().filter(|hazard| !hazard.is_fatal());
            self.reasons.extend(harmless.cloned().map(Reason::Hazard));
        }
        let longer = self.reasons.is_empty();
        self.short = longer;
        if disagree {
            let worst = summary.iter().map(|s| s.rhat).fold(f64::NAN, f64::max);
            let (count, of, first) = (apart.len(), summary.len(), apart[0].to_owned());
            self.reasons.push(Reason::Apart { count, of, worst, first, longer });
        }
        if few {
            self.reasons.push(Reason::TooFew { longer });
        } else if small {
            self.reasons.push(Reason::Small { least, longer });
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

    /// The verdict on a good run that `change` has made worse.
    fn judged(
        change: impl Fn(&mut Vec<Summary>, &mut Counters),
        more: impl Fn(&mut Evidence<'_>),
    ) -> Verdict {
        let (mut summary, mut counters) = good();
        change(&mut summary, &mut counters);
        let rule = RuleSettings::Sequential(SequentialSettings::constant(32, 0.01));
        let mut evidence = Evidence {
            summary: &summary,
            counters: &counters,
            rows: 1000,
            chains: 4,
            rule: &rule,
            ended: None,
            tightened: 0,
            predicted_inflation: None,
            draws: 500,
            stuck: 0,
            hazards: &[],
        };
        more(&mut evidence);
        Verdict::new(&evidence)
    }

    fn verdict(change: impl Fn(&mut Vec<Summary>, &mut Counters)) -> Verdict {
        judged(change, |_| {})
    }

    /// A verdict on chains that disagree, with what is known of the posterior.
    fn apart(stuck: usize, hazards: &'static [Hazard], rhat: f64) -> Verdict {
        judged(
            |summary, _| summary[0].rhat = rhat,
            |evidence| (evidence.stuck, evidence.hazards) = (stuck, hazards),
        )
    }

    #[test]
    fn run_longer_is_said_only_where_it_helps() {
        let words = |verdict: &Verdict| verdict.reasons.iter().map(ToString::to_string).collect::<String>();
        let plain = apart(0, &[], 1.4);
        assert!(plain.short && words(&plain).contains("Run longer"), "{plain:?}");
        let stays = apart(1, &[], 1.4);
        assert!(
            words(&stays).contains("1 of 4 chains have not moved") && words(&stays).contains("start"),
            "{stays:?}"
        );
        static FLAT: [Hazard; 1] = [Hazard::FlatDirection { parameters: Vec::new() }];
        static DEGENERATE: [Hazard; 1] = [Hazard::DegenerateMode { parameters: Vec::new() }];
        static ONE: [Hazard; 1] = [Hazard::OneResponse { value: String::new() }];
        for verdict in [&stays, &apart(0, &FLAT, 1.4), &apart(0, &DEGENERATE, 1.4), &apart(0, &ONE, 1.4)] {
            assert!(
                !verdict.trusted() && !verdict.short && !words(verdict).contains("longer"),
                "{verdict:?}"
            );
            assert!(words(verdict).contains("Chains disagree"), "{verdict:?}");
        }
        // Chains that agree do not make an improper posterior proper; one response is the prior's business.
        assert!(!apart(0, &FLAT, 1.0).trusted() && apart(0, &ONE, 1.0).trusted());
        let counters = Counters { steps: 300, ..Counters::default() };
        assert_eq!(stuck([&counters, &Counters { accepted: 1, ..counters }, &Counters::default()]), 1);
    }

    #[test]
    fn a_chain_among_impossible_states_is_told_so() {
        let found = verdict(|_, c| (c.accepted, c.impossible) = (0, 2000));
        let [reason] = &found.reasons[..] else { panic!("{found:?}") };
        assert!(
            reason.to_string().contains("probability 0") && !reason.to_string().contains("longer"),
            "{reason}"
        );
    }

    #[test]
    fn each_reason_is_found_and_nothing_else() {
        let fine = verdict(|_, _| {});
        assert!(fine.trusted() && fine.remarks.is_empty(), "{fine:?}");
        assert!(verdict(|s, _| s[0].rhat = 1.02).short && !verdict(|_, c| c.guarded = 101).short);
        let reason = |change: &dyn Fn(&mut Vec<Summary>, &mut Counters), word: &str| {
            let found = verdict(change);
            assert!(
                found.reasons.len() == 1 && found.reasons[0].to_string().contains(word),
                "{word}: {found:?}"
            );
        };
        reason(&|s, _| s[0].rhat = 1.02, "Chains disagree");
        reason(&|s, _| s[0].ess_tail = 399.0, "399");
        reason(&|s, _| s[0].ess_bulk = f64::NAN, "too few draws");
        reason(&|_, c| c.guarded = 101, "guard");
        let held = verdict(|_, c| c.guarded = 21);
        assert!(held.trusted() && held.remarks[0].to_string().contains("guard"), "{held:?}");
        for (inflation, trusted) in [(1.04, true), (1.06, false), (0.9, false), (f64::INFINITY, false)] {
            assert_eq!(
                judged(|_, _| {}, |e| e.predicted_inflation = Some(inflation)).trusted(),
                trusted,
                "{inflation}"
            );
        }
        let some = judged(|_, _| {}, |e| e.tightened = 1);
        assert!(some.reasons.len() == 1 && some.reasons[0].to_string().contains("1 of 4 chains"), "{some:?}");
        let all = judged(|_, _| {}, |e| e.tightened = 4);
        assert!(all.trusted() && all.remarks[0].to_string().contains("every chain"), "{all:?}");
        reason(&|_, c| c.accepted = 0, "No chain has moved");
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
        assert!(dear.trusted() && dear.remarks[0].to_string().contains("cheaper"));
    }
}
