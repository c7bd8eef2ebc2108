//! What `fit` does when audits contradict the test of a run whose rule was left open: it begins again with the next safer setting.
//!
//! | care | surrogate | rule |
//! |---|---|---|
//! | [`Care::Planned`] | as the plan has it | the test of the plan |
//! | [`Care::Stricter`] | its certainty stratum is made for a third of the tolerance | first look × 4, tolerance τ/3 |
//! | [`Care::Certified`] | second order, with bounds | certified: exact decisions that read rows where bounds cannot decide |
//! | [`Care::Exact`] | none | exact decisions on all rows |
//!
//! A surrogate that does not stand for its model (a defect) is not mended by reading more rows: from there the next setting is exact. So it is for
//! families without bounds and for tests on the rows themselves. All draws are made again, since all of them came from the test that failed, and audits
//! count anew. So the outcome is a function of data, options and seed: it does not depend on when the contradiction was noticed. Audits are looked at
//! after a sixteenth, an eighth, a quarter and half of the draws, and at the end.
//!
//! `run.toml` records what was given up and why, before the first draw is removed; `--resume` goes on from there. A time budget must leave
//! two fifths of itself. What the user set is never changed: a run with a rule, test, tolerance or law of the user's own stays as it is, and is marked.

use std::time::{Duration, Instant};

use austerity::rule::RuleSettings;
use austerity::run::{Checkpoint, Contradiction, Tally, UNBOUNDED};
use serde::{Deserialize, Serialize};

use super::decide::Wanted;
use super::plan::{Plan, words};
use super::{Asked, Goal, Host, begin};
use crate::model::Family;
use crate::output::Failure;
use crate::request::{DataOptions, LengthOptions, Request, SurrogateChoice};
use crate::runs::{Folder, Fresh, Overview, RunFile, Saved};

/// Shares of the draws after which audits are looked at.
const REVIEWS: [u64; 4] = [16, 8, 4, 2];
/// Share of a time budget that must be left.
const LEFT: f64 = 0.4;

/// How careful a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Care {
    #[default]
    Planned,
    Stricter,
    Certified,
    Exact,
}

impl Care {
    /// Whether nothing was given up.
    pub(crate) fn is_planned(&self) -> bool {
        *self == Self::Planned
    }

    /// The next safer setting after this contradiction, for a run with or without a surrogate whose family has bounds or not.
    fn next(self, defect: bool, surrogate: bool, bounded: bool) -> Option<Self> {
        match self {
            Self::Planned if surrogate && !defect => Some(Self::Stricter),
            Self::Stricter if surrogate && bounded && !defect => Some(Self::Certified),
            Self::Planned | Self::Stricter | Self::Certified => Some(Self::Exact),
            Self::Exact => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Planned => "the test that was planned",
            Self::Stricter => "a larger certainty stratum and a test that reads more rows",
            Self::Certified => "certified decisions",
            Self::Exact => "exact decisions",
        }
    }
}

/// A setting that was given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Healed {
    /// The rule that was in force, in words.
    pub(crate) given_up: String,
    /// What spoke against it.
    pub(crate) why: String,
    /// What came instead.
    pub(crate) care: Care,
    /// Whether the run under that has yet to begin.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pending: bool,
}

impl Healed {
    /// The change in a sentence.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "Audits contradicted the first setting ({}): {} All draws were made again with {}.",
            self.given_up,
            self.why,
            self.care.words()
        )
    }
}

/// How careful a run is, and what was given up before.
#[derive(Clone, Debug, Default)]
pub(super) struct History(Vec<Healed>);

impl History {
    pub(super) fn of(run: &RunFile) -> Self {
        Self(run.healed.iter().map(|healed| Healed { pending: false, ..healed.clone() }).collect())
    }

    /// How careful to be.
    pub(super) fn care(&self) -> Care {
        self.0.last().map_or(Care::Planned, |last| last.care)
    }

    /// Whether nothing was given up.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As `run.toml` keeps it.
    pub(super) fn records(&self) -> Vec<Healed> {
        self.0.clone()
    }
}

/// What audits of all chains say against the draws.
fn contradiction(saved: &Checkpoint<Vec<f64>, impl Clone>) -> Option<(bool, String)> {
    let mut audits = Tally::default();
    saved.chains.iter().for_each(|chain| audits.add(&chain.sampling.audits));
    if let (Some(found), Some(sentence)) = (audits.contradiction(), audits.sentence()) {
        return Some((found == Contradiction::Defect, sentence));
    }
    let tightened = saved.chains.iter().filter(|chain| !chain.tightened.is_empty()).count();
    (tightened > 0 && tightened < saved.chains.len()).then(|| {
        let chains = saved.chains.len();
        (false, format!("in warm-up the audits of {tightened} of {chains} chains contradicted the test."))
    })
}

/// Whether chains that stand here need not go on: the setting will be given up.
pub(super) fn is_contradicted(checkpoint: &Checkpoint<Vec<f64>, impl Clone>) -> bool {
    contradiction(checkpoint).is_some()
}

/// The number of draws at which audits are looked at next, after so many of `all`.
pub(super) fn next_review(draws: u64, all: u64) -> u64 {
    if all >= UNBOUNDED {
        return all;
    }
    REVIEWS.iter().map(|share| all / share).find(|&review| review > draws).unwrap_or(all)
}

/// Whether the run may change its setting: nothing was said about the decision, and it is a regression's.
pub(super) fn is_open(request: &Request, plan: &Plan) -> bool {
    let wanted = Wanted::read(&request.shape).is_ok_and(|wanted| wanted.is_open());
    let family = matches!(plan.model.family, Family::Glm(_)) && plan.part.is_none();
    // A surrogate that was asked for stays.
    let surrogate = request.shape.surrogate.unwrap_or_default() == SurrogateChoice::Auto;
    let tested = matches!(plan.settings.rule, RuleSettings::Sequential(_));
    wanted && family && surrogate && tested
}

/// Whether a run that began then leaves time to begin again.
pub(super) fn has_time(plan: &Plan, begun: Instant) -> bool {
    plan.settings.limits.seconds.is_none_or(|all| begun.elapsed().as_secs_f64() < (1.0 - LEFT) * all)
}

/// What becomes of a run whose chains have ended: the setting to begin again with, if any.
pub(super) fn diagnose(run: &RunFile, saved: &Saved, begun: Instant) -> Option<Healed> {
    if saved.failed || !is_open(&run.request, &run.plan) || !has_time(&run.plan, begun) {
        return None;
    }
    let (defect, why) = contradiction(&saved.checkpoint)?;
    let care = History::of(run).care().next(
        defect,
        run.plan.surrogate.is_some(),
        run.plan.model.family.has_bounds(),
    )?;
    Some(Healed { given_up: words::rule(&run.plan.settings.rule), why, care, pending: true })
}

/// Records that the setting of a run is given up; its draws are worth nothing from here.
pub(super) fn give_up(folder: &Folder, healed: Healed) -> Result<(), Failure> {
    let mut run = folder.read_run()?;
    run.healed.push(healed);
    folder.write_run(&run)
}

/// Begins a run again whose setting was given up, with all that it began with.
pub(super) fn again(
    asked: &Asked<'_>,
    folder: &Folder,
    begun: Instant,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    let run = folder.read_run()?;
    if let Some(last) = run.healed.last() {
        host.warn(&last.sentence());
    }
    let limits = run.plan.settings.limits;
    let left = |seconds: f64| (seconds - begun.elapsed().as_secs_f64()).max(1e-3);
    let length = LengthOptions {
        draws: Some(run.plan.settings.draws).filter(|&draws| draws < UNBOUNDED),
        budget: limits.seconds.and_then(|seconds| Duration::try_from_secs_f64(left(seconds)).ok()),
        evaluations: limits.evaluations.map(|evaluations| evaluations as f64),
        target_ess: limits.target_ess,
        max_disk: run.plan.storage.map(|storage| storage.max_disk),
    };
    let request = Request {
        data: DataOptions {
            file: asked.request.data.file.clone(),
            further: asked.request.data.further.clone(),
            ..run.request.data.clone()
        },
        shape: run.shape(),
        length,
        seed: Some(run.plan.settings.seed),
        ..asked.request.clone()
    };
    let asked = Asked { request: &request, ..*asked };
    let goal = Goal::Run { folder, fresh: Fresh::replacing(folder)? };
    begin::run(&asked, goal, History::of(&run), host)?.ran()
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::run::{ChainCheckpoint, Settings, Tightened};

    fn checkpoint(change: impl Fn(usize, &mut ChainCheckpoint<Vec<f64>, ()>)) -> Checkpoint<Vec<f64>, ()> {
        let mut chains = vec![ChainCheckpoint::start(vec![0.0], ()); 4];
        chains.iter_mut().enumerate().for_each(|(i, chain)| change(i, chain));
        let names = vec!["a".into()];
        let settings = Settings::default();
        Checkpoint { version: String::new(), settings, rows: 100, fingerprint: 0, names, chains }
    }

    #[test]
    fn each_setting_has_a_safer_one_until_decisions_are_exact() {
        let ladder = |defect, surrogate, bounded| {
            let mut steps = vec![Care::Planned];
            while let Some(next) = steps[steps.len() - 1].next(defect, surrogate, bounded) {
                steps.push(next);
            }
            steps
        };
        assert_eq!(ladder(false, true, true), [Care::Planned, Care::Stricter, Care::Certified, Care::Exact]);
        assert_eq!(ladder(false, true, false), [Care::Planned, Care::Stricter, Care::Exact]);
        for (defect, surrogate) in [(true, true), (false, false)] {
            assert_eq!(ladder(defect, surrogate, true), [Care::Planned, Care::Exact]);
        }
    }

    #[test]
    fn contradicted_audits_of_all_chains_and_stricter_tests_of_some_are_seen() {
        assert!(!is_contradicted(&checkpoint(|_, _| {})));
        let few = |i: usize, chain: &mut ChainCheckpoint<Vec<f64>, ()>| {
            chain.sampling.audits.audited = 10;
            chain.sampling.audits.defects = u64::from(i == 2);
        };
        assert_eq!(contradiction(&checkpoint(few)).map(|(defect, _)| defect), Some(true));
        // No chain alone contradicts its test, all together do.
        let wealth = |_: usize, chain: &mut ChainCheckpoint<Vec<f64>, ()>| {
            (chain.sampling.audits.deviating, chain.sampling.audits.deviations) = (2, 40.0);
            chain.sampling.audits.wealth = [2.0; 3];
        };
        assert_eq!(contradiction(&checkpoint(wealth)).map(|(defect, _)| defect), Some(false));
        let stricter = |which: usize| {
            checkpoint(move |i, chain| {
                if i < which {
                    chain.tightened.push(Tightened { step: 7, why: String::new() });
                }
            })
        };
        assert!(is_contradicted(&stricter(1)) && !is_contradicted(&stricter(4)));
    }

    #[test]
    fn audits_are_looked_at_now_and_then() {
        let mut seen = vec![next_review(0, 1600)];
        while *seen.last().unwrap_or(&0) < 1600 {
            seen.push(next_review(seen[seen.len() - 1], 1600));
        }
        assert_eq!(seen, [100, 200, 400, 800, 1600]);
        assert_eq!(next_review(5, UNBOUNDED), UNBOUNDED);
        assert_eq!(next_review(0, 3), 1);
    }
}
