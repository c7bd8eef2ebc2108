//! All that can be said of a run: one summary per parameter, what it cost, whether to trust it, and what to do next.

use std::path::PathBuf;

use austerity::diagnostics::Summary;
use austerity::run::{Counters, Evidence, Hazard, Reason, Verdict, stuck};
use austerity_io::coding::TermNames;
use austerity_io::run::DrawsReader;
use austerity_io::text::printable;
use serde_json::{Value, json};

use super::crossing::CrossingFinding;
use super::inclusion;
use super::models::ModelsFinding;
use super::tails::{self, TailFinding};
use super::{checks, sentences};
use crate::fit::budget::BudgetPlan;
use crate::fit::groups::GroupEffects;
use crate::fit::healing::Healed;
use crate::fit::plan::words;
use crate::output::Failure;
use crate::parts::PartsRecord;
use crate::request::Dialect;
use crate::runs::{Folder, RunFile, Saved, Standing, about, scales, summaries};
use crate::table::table;

/// Why a run without decisions is not trusted.
const UNTESTED: &str = "Every candidate was taken without an accept/reject decision: the draws are biased, and nothing here measures by how much. --rule sequential or \
                        exact decides.";

/// What is known of a run.
pub struct Overview {
    /// The folder.
    pub(crate) path: PathBuf,
    pub(crate) run: RunFile,
    pub(crate) saved: Saved,
    /// Draws per chain.
    pub draws: usize,
    /// Draws that the chains made per stored draw.
    pub(crate) stored_every: u64,
    /// One summary per parameter.
    pub summary: Vec<Summary>,
    /// Those that the verdict rests on.
    pub(super) judged: Vec<Summary>,
    /// The models that a selection found.
    pub(crate) models: Option<ModelsFinding>,
    pub(crate) counters: Counters,
    /// Whether to trust it, and why not.
    pub verdict: Verdict,
    /// Coefficients of standardised columns, where the run has them.
    pub(crate) standardized: Vec<Summary>,
    /// Tails that are those of a prior.
    pub(crate) tails: Vec<TailFinding>,
    /// Modes that chains cross between.
    pub(crate) crossing: Option<CrossingFinding>,
    /// The language of its sentences.
    pub(super) dialect: Dialect,
    /// The effects of groups, where they were described.
    pub(crate) groups: Option<GroupEffects>,
    /// What its setting is given up for, when it is.
    pub(crate) healed: Option<Healed>,
}

impl Overview {
    /// Reads the run at `path`, for readers of this dialect.
    pub fn open(path: &std::path::Path, dialect: Dialect) -> Result<Self, Failure> {
        Self::read(&Folder::new(path), dialect)
    }

    /// Reads a run's folder.
    pub(crate) fn read(folder: &Folder, dialect: Dialect) -> Result<Self, Failure> {
        let run = folder.read_run()?;
        let (saved, standing) = folder.standing(&run);
        let reader = folder.reader()?;
        let mut summary = summaries::of(&reader)?;
        let counters = saved.counters();
        let mut standardized = if run.plan.model.standardize {
            scales::standardized(&run.plan.recipe, &reader)?
        } else {
            Vec::new()
        };
        tails::without_moments(&mut summary, &run.plan.model.tails);
        tails::without_moments(&mut standardized, &run.plan.model.tails);
        let tails = TailFinding::all(&run.plan.model.tails, &reader)?;
        let crossing = match &run.plan.crossing {
            Some(record) => CrossingFinding::of(record, &reader, &saved.checkpoint.names)?,
            None => None,
        };
        let weighed = inclusion::judged(run.plan.part.as_ref(), &summary);
        let models = ModelsFinding::of(run.plan.part.as_ref(), &reader)?;
        let mut verdict = judged(&run, &saved, (&weighed, &counters), &reader);
        verdict.remarks.extend(inclusion::remark(run.plan.part.as_ref(), &summary).map(Reason::Told));
        if reader.draws() > 0 {
            verdict.short |= verdict.reasons.is_empty();
            verdict.reasons.extend(tails.iter().filter_map(TailFinding::reason));
            verdict.reasons.extend(crossing.as_ref().and_then(CrossingFinding::reason));
            let in_parts = run.plan.data.parts.as_ref();
            verdict.reasons.extend(in_parts.and_then(PartsRecord::reason).map(Reason::Told));
        }
        noted(&mut verdict, &run, &saved, (&counters, dialect));
        verdict
            .remarks
            .extend(crossing.as_ref().filter(|found| found.passed()).map(|found| found.sentence().into()));
        let stored_every = reader.stored_every();
        if let Some(storage) = run.plan.storage.as_ref().filter(|_| stored_every > 1) {
            let made = saved.drawn().into_iter().min().filter(|_| run.merged.is_empty());
            verdict.remarks.push(storage.sentence(stored_every, made, dialect).into());
        }
        verdict.remarks.extend(summaries::remark(&reader).map(Reason::Told));
        standing.told(&mut verdict);
        let path = folder.path().into();
        Ok(Self {
            path,
            draws: reader.draws(),
            stored_every,
            run,
            saved,
            summary,
            judged: weighed,
            models,
            counters,
            verdict,
            standardized,
            tails,
            crossing,
            dialect,
            groups: GroupEffects::read(folder),
            healed: None,
        })
    }

    /// What the last session failed of, if it did.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.saved.ended.as_deref().filter(|_| self.saved.failed)
    }

    /// Share of the data per decision, audits and preparation excluded.
    #[must_use]
    pub fn data_share(&self) -> f64 {
        let stratum = self.run.plan.surrogate.as_ref().map_or(0, |record| record.report.stratum());
        let population = self.run.plan.population();
        self.counters.data_share(population) + stratum as f64 / population as f64
    }

    /// Rows of the data.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.run.plan.data.rows
    }

    /// Chains of the run.
    #[must_use]
    pub fn chains(&self) -> u32 {
        self.run.plan.settings.chains
    }

    /// Seconds in which the chains ran, preparation excluded.
    #[must_use]
    pub fn chain_seconds(&self) -> f64 {
        self.saved.seconds
    }

    /// The contract of `summary --json`.
    #[must_use]
    pub fn json(&self) -> Value {
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let audits = &self.counters.audits;
        let audit = (audits.audited > 0).then(|| {
            let interval = audits.interval();
            json!({
                "audited": audits.audited,
                "disagreed": audits.disagreed,
                "disagreed_interval": [interval.lower, interval.upper],
                "predicted": audits.predicted,
                "deviation": number(audits.mean_square().sqrt()),
                "mean_square": number(audits.mean_square()),
                "delta": number(audits.mean_delta()),
                "absolute_delta": number(audits.absolute_delta / audits.audited as f64),
                "contradicted": audits.contradiction().is_some(),
                "tightened_chains": self.saved.tightened(),
            })
        });
        json!({
            "parameters": self.summary,
            "data_share": number(self.data_share()),
            "acceptance": number(self.counters.acceptance()),
            "temperature": self.temperature().map(|(value, error)| json!({"value": value, "standard_error": error})),
            "certified": self.has_certified().then_some(self.counters.certified),
            "seconds": number(self.saved.seconds),
            "preparation_seconds": number(self.saved.preparation),
            "evaluations": self.saved.evaluations(),
            "trusted": self.verdict.trusted(),
            "reasons": self.verdict.reasons,
            "checks": checks::of(self),
            "remarks": self.remarks(),
            "chains": self.run.plan.settings.chains,
            "draws": self.draws,
            "seed": self.run.plan.settings.seed,
            "stored_every": self.stored_every,
            "rows": self.run.plan.data.rows,
            "family": self.run.plan.model.family,
            "ended": self.saved.ended,
            "rule": if self.run.plan.is_untested() { json!("none") } else { json!(self.run.plan.settings.rule) },
            "proposal": words::proposal(&self.run.plan.proposal),
            "prediction": self.run.plan.decision.prediction,
            "budget": self.run.plan.budget.as_ref().map(BudgetPlan::json),
            "audit": audit,
            "standardized": self.standardized,
            "modes": self.crossing.as_ref().map(CrossingFinding::json),
            "selection": self.models.as_ref().map(ModelsFinding::json),
            "groups": self.groups.as_ref().map(GroupEffects::json),
            "tails": self.tails.iter().map(TailFinding::json).collect::<Vec<_>>(),
        })
    }

    /// What is worth knowing beside the verdict: of the data, the posterior and the draws.
    fn remarks(&self) -> Vec<String> {
        let mut all = self.run.plan.remarks();
        all.extend(self.verdict.remarks.iter().map(ToString::to_string));
        all
    }

    /// The tables: on the original scale of the columns and, where they were standardised, on that scale too.
    #[must_use]
    pub fn tables(&self) -> String {
        self.tables_by(&[])
    }

    /// The same with the coefficients below the names of these terms.
    pub(crate) fn tables_by(&self, terms: &[TermNames]) -> String {
        let mut original = numbers(&self.summary, terms);
        if let Some(models) = &self.models {
            original = format!("{original}\n\nMost probable models:\n{}", models.text());
        }
        if self.standardized.is_empty() {
            return original;
        }
        format!(
            "On the original scale of the columns:\n{original}\nOn the scale of standardised columns:\n{}",
            numbers(&self.standardized, terms)
        )
    }

    /// The terms of the model with the names of their coefficients, the intercept among them.
    pub fn terms(&self) -> Result<Vec<TermNames>, Failure> {
        Ok(self.run.plan.recipe.term_names()?)
    }

    /// What was checked, with its figures, and what was not.
    #[must_use]
    pub fn checks(&self) -> String {
        checks::text(&checks::of(self))
    }

    /// The model, the success class and the reference levels.
    #[must_use]
    pub fn about(&self) -> Vec<String> {
        about::lines(&self.run.plan)
    }
}

/// One line per parameter; a term with several coefficients has a line before them.
fn numbers(summary: &[Summary], terms: &[TermNames]) -> String {
    let mut numbers =
        table(&["", "mean", "sd", "2.5 %", "50 %", "97.5 %", "MCSE", "ESS bulk", "ESS tail", "R-hat"]);
    let mut open: Option<&TermNames> = None;
    for s in summary {
        let several = |term: &&TermNames| term.coefficients.len() > 1 && term.coefficients.contains(&s.name);
        let term = terms.iter().find(several);
        if let Some(term) = term.filter(|term| open != Some(*term)) {
            numbers.add_row([format!(
                "{} ({} coefficients)",
                printable(&term.term),
                term.coefficients.len()
            )]);
        }
        open = term;
        let indent = if term.is_some() { "  " } else { "" };
        // Without a standard deviation the quantiles have a scale.
        let spread = if s.sd.is_finite() { s.sd } else { 0.25 * (s.q975 - s.q025) };
        let digits = decimals(s.mcse_mean, spread);
        let value = |v: f64| if v.is_finite() { format!("{v:.digits$}") } else { "–".into() };
        let whole = |v: f64| if v.is_finite() { format!("{v:.0}") } else { "–".into() };
        let rhat = if s.rhat.is_finite() { format!("{:.3}", s.rhat) } else { "–".into() };
        let mcse = if s.mcse_mean.is_finite() { format!("{:.1e}", s.mcse_mean) } else { "–".into() };
        numbers.add_row([
            format!("{indent}{}", printable(&s.name)),
            value(s.mean),
            value(s.sd),
            value(s.q025),
            value(s.q50),
            value(s.q975),
            mcse,
            whole(s.ess_bulk),
            whole(s.ess_tail),
            rhat,
        ]);
    }
    numbers.to_string()
}

/// Decimals that a Monte Carlo error leaves, at most six more than the sd needs.
fn decimals(mcse: f64, sd: f64) -> usize {
    let scale = if mcse > 0.0 && mcse.is_finite() { mcse } else { sd / 100.0 };
    if scale > 0.0 && scale.is_finite() { (1.0 - scale.log10()).ceil().clamp(0.0, 8.0) as usize } else { 4 }
}

/// The verdict on the draws by themselves.
fn judged(
    run: &RunFile,
    saved: &Saved,
    (summary, counters): (&[Summary], &Counters),
    reader: &DrawsReader,
) -> Verdict {
    Verdict::new(&Evidence {
        summary,
        counters,
        rows: run.plan.population(),
        chains: reader.chains(),
        rule: &run.plan.settings.rule,
        ended: None,
        tightened: saved.tightened(),
        predicted_inflation: match &run.plan.budget {
            Some(plan) => Some(plan.inflation()),
            None => run.plan.decision.prediction.and_then(|prediction| prediction.sd_inflation),
        },
        draws: reader.draws(),
        stuck: stuck(saved.checkpoint.chains.iter().map(|chain| &chain.sampling)),
        hazards: &run.plan.model.hazards,
    })
}

/// Error of a difference of log-likelihoods by quadrature beyond which draws are not trusted.
const DISTRUSTED: f64 = 0.1;

/// Adds what the folder knows beside the draws: a session that failed, decisions that may be blind, hazards, remarks.
fn noted(verdict: &mut Verdict, run: &RunFile, saved: &Saved, (counters, dialect): (&Counters, Dialect)) {
    if saved.failed {
        let words = saved.ended.clone().unwrap_or_default();
        verdict.reasons.insert(0, format!("The last session {words}. Draws made before are kept.").into());
        verdict.short = false;
    }
    if run.plan.is_untested() {
        verdict.reasons.push(UNTESTED.to_owned().into());
        verdict.short = false;
    }
    if let Some(record) = run.plan.surrogate.as_ref().filter(|record| record.report.is_blind()) {
        verdict.reasons.push(format!("Decisions may be blind: {}.", record.report.sentence()).into());
    }
    if let Some(record) = run.plan.groups.as_ref().filter(|record| record.error > DISTRUSTED) {
        verdict.reasons.push(
            format!(
                "The integrals over the effects of {} have not converged: with {} nodes a difference of log-likelihoods is off by {:.2}. A narrower prior of their standard deviation helps.",
                record.name, record.nodes, record.error
            )
            .into(),
        );
    }
    // The loader has a remark about a response with one value.
    let told = |hazard: &&Hazard| {
        !matches!(hazard, Hazard::OneResponse { .. })
            && !verdict.reasons.contains(&Reason::Hazard((*hazard).clone()))
    };
    let hazards: Vec<Reason> =
        run.plan.model.hazards.iter().filter(told).cloned().map(Reason::Hazard).collect();
    let told =
        sentences::remarks(run, counters, dialect).into_iter().chain(tails::sentence(&run.plan.model.tails));
    verdict.remarks.extend(hazards.into_iter().chain(told.map(Reason::Told)));
}

impl Standing {
    /// Adds what is wrong with the newest checkpoint.
    fn told(self, verdict: &mut Verdict) {
        match self {
            Self::Newest => {}
            Self::Before(why) => verdict.remarks.push(Reason::Told(format!(
                "The newest checkpoint cannot be read ({why}). Costs and counts are those of the checkpoint before it."
            ))),
            Self::Lost(why) => {
                verdict.reasons.clear();
                verdict.reasons.push(Reason::Told(format!(
                    "The run's costs and decision counts are lost ({why}). Its draws are intact, but it cannot be resumed."
                )));
            }
        }
    }
}
