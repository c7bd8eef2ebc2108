//! The plan of a new run in words: data, model, priors, proposal, rule with its reason, length, memory and disk.

use austerity::rule::RuleSettings;
use austerity::run::{Memory, UNBOUNDED};
use austerity_io::run::Layout;

use super::budget::BudgetPlan;
use super::decide;
use super::storage::bytes;
use super::wide::WideRecord;
use crate::report::count;
use crate::request::Dialect;
use crate::runs::{RunFile, about};

/// A run that is about to begin.
pub(super) struct Planned<'a> {
    pub(super) run: &'a RunFile,
    pub(super) names: &'a [String],
    pub(super) layout: &'a Layout,
    /// Whether the data are mapped from disk.
    pub(super) mapped: bool,
    /// How long the draws will take, where that is known.
    pub(super) takes: Option<String>,
}

/// What will be done and why, with the memory that the sampler needs.
pub(super) fn words(planned: &Planned<'_>, memory: &Memory, dialect: Dialect) -> String {
    let Planned { run, names, layout, mapped, ref takes } = *planned;
    let settings = &run.settings;
    let mut lines = vec![format!(
        "{}: {} rows, {} parameters; {}.",
        run.data.file.display(),
        count(run.data.rows as f64),
        names.len(),
        run.model.family.words()
    )];
    lines.extend(run.data.remarks.iter().map(|remark| format!("• {remark}")));
    lines.extend(about::coding(run));
    let fatal = run.model.hazards.iter().filter(|hazard| hazard.is_fatal());
    lines.extend(fatal.map(|hazard| format!("• {hazard}")));
    lines.extend(about::priors(&run.model.priors, run.model.family));
    lines.push(format!("Proposal: {}.", run.proposal));
    lines.push(format!("Accept/reject rule: {}.", decide::words(&settings.rule)));
    lines.push(format!("  Why: {}.", run.decision.reason));
    lines.extend(run.budget.as_ref().map(BudgetPlan::sentence));
    if let (RuleSettings::Sequential(_), Some(p)) = (&settings.rule, &run.decision.prediction) {
        lines.push(format!(
            "  Expected: mean error of the acceptance probability {:.4}, {:.0} % of the data per decision, posterior sds {}; \
             {:.2} % of the decisions are audited on all rows.",
            p.error,
            100.0 * p.data_share,
            p.sd_inflation.map_or("unknown".to_owned(), |ratio| format!("× {ratio:.3}")),
            100.0 * settings.audit
        ));
    }
    let draws = if settings.draws >= UNBOUNDED {
        "draws until the limit you set".to_owned()
    } else {
        format!("{} draws", count(settings.draws as f64))
    };
    lines.push(format!(
        "Length: {}, {} warm-up steps and {draws} each, seed {}.",
        if settings.chains == 1 { "1 chain".to_owned() } else { format!("{} chains", settings.chains) },
        count(settings.warmup as f64),
        settings.seed
    ));
    if let Some(takes) = takes {
        lines.push(format!("Time: {takes}, at the pace of the first steps."));
    }
    lines.extend(run.wide.as_ref().map(WideRecord::sentence));
    let mega = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    let traced = if settings.limits.target_ess.is_some() { memory.draws } else { 0 };
    let resident = memory.order + memory.scratch + traced + if mapped { 0 } else { memory.data };
    let data = if mapped {
        format!("{} of data mapped from disk through the system's cache", mega(memory.data as f64))
    } else {
        format!("{} of it data", mega(memory.data as f64))
    };
    let disk = if settings.draws >= UNBOUNDED {
        format!("at most {}", mega(bytes(layout, layout.draws) as f64))
    } else {
        format!("about {}", mega(layout.bytes(layout.draws) as f64))
    };
    if let Some(storage) = run.storage.as_ref().filter(|_| settings.record_every > 1) {
        lines.push(storage.sentence(settings.record_every, Some(settings.draws), dialect));
    }
    lines.push(format!("Memory: {} resident, {data}. Disk: {disk}.", mega(resident as f64)));
    lines.iter().map(|line| austerity_io::text::printable(line)).collect::<Vec<_>>().join("\n")
}
