//! The verdict as a list of checks: what was looked at, the figure found, its limit, and the outcome.
//!
//! | check | figure | limit |
//! |---|---|---|
//! | chains | largest R-hat | 1.01 |
//! | effective draws | smallest of bulk and tail ESS | 100 per chain |
//! | modes | share of the mass beside the main mode; of several that chains cross between, the Monte Carlo error of their shares | 0.1 %; that of 100 effective draws per chain |
//! | tails | depth of the draws in a tail that is the prior's, against 1 | that of the check |
//! | prior conflict | largest z of a default prior | 4 |
//! | decisions | predicted relative error of posterior standard deviations | 5 % |
//! | audits | decisions that all rows contradict | upper end of what the test claims |
//! | data | – | every row is a number that the family allows; of a store, all checksums fit |
//! | sample | standard error of a log ratio that the rows kept of data in parts leave | 0.03 |
//! | precision | audited totals that single precision misses | 0 |
//! | quadrature | of group effects: error of a difference of log-likelihoods that twice as many nodes see, and that of node tables | 0.01, and 0.03 |
//! | groups | levels that effects vary between | 5 |
//!
//! An outcome is passed, failed, or *not checked*: nothing that was not looked at counts as passed. Reasons for distrust are in the
//! [`Verdict`](austerity::run::Verdict); the list shows them beside what speaks for the draws.

use austerity::diagnostics::{ESS_PER_CHAIN, INFLATION_LIMIT, RHAT_LIMIT};
use austerity::rule::RuleSettings;
use austerity::run::Hazard;
use austerity_glm::check::CONFLICT;
use austerity_glm::check::tails::TailCheck;
use austerity_glm::groups::check::ALLOWED;
use serde::Serialize;

use super::Overview;
use super::tails::TailFinding;
use crate::fit::groups::{GroupsRecord, MOST_TABLE_ERROR};
use crate::fit::modes::{MATTERS, ModesRecord};
use crate::model::Family;
use crate::parts::ERROR_LIMIT;
use crate::table::table;

/// Groups below which little can be said of how they vary.
const FEWEST_GROUPS: usize = 5;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Checked {
    Chains,
    EffectiveDraws,
    Modes,
    Tails,
    PriorConflict,
    Decisions,
    Audits,
    Data,
    Sample,
    Precision,
    Quadrature,
    Groups,
}

impl Checked {
    fn words(self) -> &'static str {
        match self {
            Self::Chains => "chains",
            Self::EffectiveDraws => "effective draws",
            Self::Modes => "modes",
            Self::Tails => "tails",
            Self::PriorConflict => "prior conflict",
            Self::Decisions => "decisions",
            Self::Audits => "audits",
            Self::Data => "data",
            Self::Sample => "sample",
            Self::Precision => "precision",
            Self::Quadrature => "quadrature",
            Self::Groups => "groups",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Check {
    pub(crate) check: Checked,
    /// None where there is no number to it.
    pub(crate) figure: Option<f64>,
    pub(crate) limit: Option<f64>,
    /// None: not checked.
    pub(crate) passed: Option<bool>,
    pub(crate) words: String,
}

impl Check {
    /// A figure held against its limit.
    fn new(check: Checked, figures: [Option<f64>; 2], passed: Option<bool>, words: String) -> Self {
        let [figure, limit] = figures.map(|figure| figure.filter(|figure| figure.is_finite()));
        Self { check, figure, limit, passed, words }
    }

    fn without(check: Checked, passed: Option<bool>, words: &str) -> Self {
        Self::new(check, [None; 2], passed, words.into())
    }

    /// What came of it.
    pub(crate) fn outcome(&self) -> &'static str {
        match self.passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "not checked",
        }
    }

    /// Name, figure, limit, outcome and words, as a table shows them.
    pub(crate) fn cells(&self) -> [String; 5] {
        let number = |value: Option<f64>| value.map_or(String::new(), shown);
        [
            self.check.words().into(),
            number(self.figure),
            number(self.limit),
            self.outcome().into(),
            self.words.clone(),
        ]
    }
}

/// Four significant digits at most, without an exponent where that is short.
fn shown(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded != 0.0 && rounded.abs() < 1e-4 { format!("{rounded:e}") } else { rounded.to_string() }
}

/// The checks as a table for people.
pub(crate) fn text(checks: &[Check]) -> String {
    let mut shown = table(&["check", "figure", "limit", "outcome", ""]);
    if let Some(column) = shown.column_mut(4) {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    for check in checks {
        shown.add_row(check.cells());
    }
    shown.to_string()
}

/// Everything that was checked of a run, and what was not.
pub(crate) fn of(overview: &Overview) -> Vec<Check> {
    if overview.draws == 0 {
        return Vec::new();
    }
    let mut checks = vec![
        chains(overview),
        effective(overview),
        modes(overview),
        tails(overview),
        conflict(overview),
        decisions(overview),
        audits(overview),
        data(overview),
        precision(overview),
    ];
    checks.extend(sample(overview));
    checks.extend(overview.run.plan.groups.iter().flat_map(groups));
    checks
}

fn chains(overview: &Overview) -> Check {
    let chains = overview.run.plan.settings.chains;
    let worst = overview.judged.iter().map(|s| s.rhat).fold(f64::NAN, f64::max);
    if chains < 2 {
        return Check::without(Checked::Chains, None, "one chain alone cannot disagree with another");
    }
    let words = format!("largest R-hat of {chains} chains");
    Check::new(Checked::Chains, [Some(worst), Some(RHAT_LIMIT)], Some(worst <= RHAT_LIMIT), words)
}

fn effective(overview: &Overview) -> Check {
    let all = overview.judged.iter().flat_map(|s| [s.ess_bulk, s.ess_tail]);
    let least = all.fold(f64::INFINITY, |least, value| if value.is_nan() { value } else { least.min(value) });
    let limit = ESS_PER_CHAIN * f64::from(overview.run.plan.settings.chains);
    let words = "smallest of bulk and tail ESS".into();
    Check::new(Checked::EffectiveDraws, [Some(least), Some(limit)], Some(least >= limit), words)
}

fn modes(overview: &Overview) -> Check {
    if let Some(found) = &overview.crossing {
        let figures = [Some(found.error()), Some(found.limit())];
        return Check::new(Checked::Modes, figures, Some(found.passed()), found.words());
    }
    match &overview.run.plan.model.modes {
        None if overview.run.plan.part.is_some() => {
            Check::without(Checked::Modes, None, "chains began apart, but nobody looked for modes")
        }
        None => Check::without(Checked::Modes, None, "nobody looked for other modes"),
        Some(ModesRecord::Proved) => Check::without(Checked::Modes, Some(true), "one mode, by proof"),
        Some(ModesRecord::Searched { starts, found, beside }) => {
            let words = format!("{found} found from {starts} starts; share of the mass beside the main one");
            Check::new(Checked::Modes, [Some(*beside), Some(MATTERS)], Some(*beside <= MATTERS), words)
        }
    }
}

/// Of a multilevel fit.
fn groups(record: &GroupsRecord) -> [Check; 2] {
    let nodes = record.nodes;
    let quadrature = match &record.tables {
        Some(tables) if record.converged() => {
            let words =
                format!("error of differences of log-likelihoods from tables at {nodes} nodes per effect");
            let passed = tables.error <= MOST_TABLE_ERROR;
            Check::new(Checked::Quadrature, [Some(tables.error), Some(MOST_TABLE_ERROR)], Some(passed), words)
        }
        _ => {
            let words = format!(
                "error of differences of log-likelihoods with {nodes} nodes per effect, as twice as many see it"
            );
            Check::new(
                Checked::Quadrature,
                [Some(record.error), Some(ALLOWED)],
                Some(record.converged()),
                words,
            )
        }
    };
    let number = record.groups as f64;
    let words = if record.groups < FEWEST_GROUPS {
        "levels that effects vary between: so few say little of how they vary, and the prior says the rest"
    } else {
        "levels that effects vary between"
    };
    // Few groups are no error: the prior carries them.
    let passed = (record.groups >= FEWEST_GROUPS).then_some(true);
    [
        quadrature,
        Check::new(Checked::Groups, [Some(number), Some(FEWEST_GROUPS as f64)], passed, words.into()),
    ]
}

fn tails(overview: &Overview) -> Check {
    if overview.run.plan.groups.is_some() {
        return Check::without(Checked::Tails, None, "nobody looked at the tails of a multilevel posterior");
    }
    if overview.run.plan.model.family == Family::Own {
        return Check::without(
            Checked::Tails,
            None,
            "the prior of a model of one's own cannot be looked into",
        );
    }
    if overview.run.plan.part.is_some() {
        return Check::without(Checked::Tails, None, "tails are looked at in regressions only");
    }
    let worst = |a: &TailCheck, b: &TailCheck| (a.figure - 1.0).abs().total_cmp(&(b.figure - 1.0).abs());
    let checks: Vec<TailCheck> = overview.tails.iter().map(TailFinding::check).collect();
    let failed = checks.iter().filter(|check| check.passed == Some(false)).max_by(|a, b| worst(a, b));
    match failed.or_else(|| checks.iter().filter(|check| check.passed.is_some()).max_by(|a, b| worst(a, b))) {
        None if checks.is_empty() => {
            Check::without(Checked::Tails, Some(true), "no tail of the posterior is that of a Student prior")
        }
        None => Check::without(Checked::Tails, None, "too few draws in the tails of the priors"),
        Some(check) => {
            let words = format!(
                "depth of the draws in {} of the priors' tails, which should be 1: distance and its limit",
                checks.len()
            );
            Check::new(
                Checked::Tails,
                [Some((check.figure - 1.0).abs()), Some(check.limit)],
                check.passed,
                words,
            )
        }
    }
}

fn conflict(overview: &Overview) -> Check {
    let records = &overview.run.plan.model.priors;
    let failed = overview
        .run
        .plan
        .model
        .hazards
        .iter()
        .any(|hazard| matches!(hazard, Hazard::PriorConflict { default: true, .. }));
    match overview.run.plan.model.conflict {
        _ if overview.run.plan.part.is_some() => Check::without(
            Checked::PriorConflict,
            None,
            "priors are compared with the data in regressions only",
        ),
        _ if !records.iter().any(|record| record.default) => {
            Check::without(Checked::PriorConflict, Some(true), "no prior is a default")
        }
        None => {
            Check::without(Checked::PriorConflict, None, "nobody compared the default priors with the data")
        }
        Some(largest) => {
            let words = "largest distance of a default prior from the likelihood, in sds".into();
            Check::new(Checked::PriorConflict, [Some(largest), Some(CONFLICT)], Some(!failed), words)
        }
    }
}

fn decisions(overview: &Overview) -> Check {
    let run = &overview.run;
    if run.plan.is_untested() {
        return Check::without(Checked::Decisions, Some(false), "none: every candidate was taken");
    }
    if !matches!(run.plan.settings.rule, RuleSettings::Sequential(_)) {
        return Check::without(
            Checked::Decisions,
            Some(true),
            "exact: all rows, or a bound on them, decided",
        );
    }
    let inflation = match &run.plan.budget {
        Some(plan) => Some(plan.inflation()),
        None => run.plan.decision.prediction.and_then(|prediction| prediction.sd_inflation),
    };
    if let Some(inflation) = inflation {
        let error = (inflation - 1.0).abs();
        let words = "predicted relative error of posterior sds".into();
        return Check::new(
            Checked::Decisions,
            [Some(error), Some(INFLATION_LIMIT)],
            Some(error <= INFLATION_LIMIT),
            words,
        );
    }
    match &run.plan.surrogate {
        Some(record) => {
            let words = "log ratio that rows outside a sample could shift; the error the test assumes".into();
            let (missed, believed) = record.report.missed().unwrap_or((f64::INFINITY, 0.0));
            let passed = Some(!record.report.is_blind());
            Check::new(Checked::Decisions, [Some(missed), Some(believed)], passed, words)
        }
        None => Check::without(Checked::Decisions, None, "no prediction for this proposal"),
    }
}

fn audits(overview: &Overview) -> Check {
    let audits = &overview.counters.audits;
    if overview.run.plan.is_untested() {
        return Check::without(Checked::Audits, None, "there were no decisions to repeat");
    }
    if !matches!(overview.run.plan.settings.rule, RuleSettings::Sequential(_)) {
        return Check::without(Checked::Audits, Some(true), "decisions were exact");
    }
    if audits.audited == 0 {
        return Check::without(Checked::Audits, None, "no decision was repeated on all rows");
    }
    let words = format!("wrong decisions of {} that were repeated on all rows", audits.audited);
    Check::new(
        Checked::Audits,
        [Some(audits.disagreed as f64), Some(audits.interval().upper)],
        Some(audits.sentence().is_none()),
        words,
    )
}

fn data(overview: &Overview) -> Check {
    let words = if overview.run.plan.model.family == Family::Own {
        return Check::without(Checked::Data, None, "rows of a model of one's own are not looked into");
    } else if !overview.run.plan.model.family.is_regression() {
        "all numbers were checked as they were read; the file carries no checksum"
    } else if austerity_io::store::is_store(&overview.run.plan.data.file) {
        "all rows of the store fit their checksums"
    } else {
        "all rows were checked as they were read; a table carries no checksum"
    };
    Check::without(Checked::Data, Some(true), words)
}

/// Of data in parts alone.
fn sample(overview: &Overview) -> Option<Check> {
    let record = overview.run.plan.data.parts.as_ref()?;
    let figures = [Some(record.error), Some(ERROR_LIMIT)];
    Some(Check::new(Checked::Sample, figures, Some(record.passed()), record.words()))
}

fn precision(overview: &Overview) -> Check {
    let audits = &overview.counters.audits;
    if audits.audited == 0 {
        return Check::without(Checked::Precision, None, "no total was computed a second time");
    }
    let words = "audited totals that single precision misses".into();
    Check::new(Checked::Precision, [Some(audits.defects as f64), Some(0.0)], Some(audits.defects == 0), words)
}
