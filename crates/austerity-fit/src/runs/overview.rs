//! All that can be said of a run: one summary per parameter, what it cost, whether to trust it, and what to do next.

use std::path::PathBuf;

use austerity::diagnostics::Summary;
use austerity::rule::{Law, RuleSettings};
use austerity::run::{Counters, Evidence, Hazard, Reason, UNBOUNDED, Verdict, stuck};
use austerity_glm::proposal::StoredProposal;
use austerity_io::text::printable;
use serde_json::{Value, json};

use super::tails::{self, TailFinding};
use super::{Folder, RunFile, Saved, Standing, about, checks, scales, summaries};
use crate::fit::budget::BudgetPlan;
use crate::fit::healing::Healed;
use crate::fit::progress::duration;
use crate::output::Failure;
use crate::report::count;
use crate::request::{Dialect, Keyword};
use crate::table::table;

/// What to do where more draws are no remedy.
const NOT_LONGER: &str =
    "Next: change what the sentences above name and begin a new run; more draws alone do not help.";

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
    pub(crate) counters: Counters,
    /// Whether to trust it, and why not.
    pub verdict: Verdict,
    /// Coefficients of standardised columns, where the run has them.
    pub(crate) standardized: Vec<Summary>,
    /// Tails that are those of a prior.
    pub(crate) tails: Vec<TailFinding>,
    /// The language of its sentences.
    dialect: Dialect,
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
        let mut standardized =
            if run.model.standardize { scales::standardized(&run.recipe, &reader)? } else { Vec::new() };
        tails::without_moments(&mut summary, &run.model.tails);
        tails::without_moments(&mut standardized, &run.model.tails);
        let tails = TailFinding::all(&run.model.tails, &reader)?;
        let mut verdict = Verdict::new(&Evidence {
            summary: &summary,
            counters: &counters,
            rows: run.data.rows,
            chains: reader.chains(),
            rule: &run.settings.rule,
            ended: None,
            tightened: saved.tightened(),
            predicted_inflation: match &run.budget {
                Some(plan) => Some(plan.inflation()),
                None => run.decision.prediction.and_then(|prediction| prediction.sd_inflation),
            },
            draws: reader.draws(),
            stuck: stuck(saved.checkpoint.chains.iter().map(|chain| &chain.sampling)),
            hazards: &run.model.hazards,
        });
        if reader.draws() > 0 {
            verdict.short |= verdict.reasons.is_empty();
            verdict.reasons.extend(tails.iter().filter_map(TailFinding::reason));
        }
        if saved.failed {
            let words = saved.ended.clone().unwrap_or_default();
            verdict
                .reasons
                .insert(0, format!("The last session {words}. Draws made before are kept.").into());
            verdict.short = false;
        }
        if let Some(record) = run.surrogate.as_ref().filter(|record| record.report.is_blind()) {
            verdict.reasons.push(format!("Decisions may be blind: {}.", record.report.sentence()).into());
        }
        // The loader has a remark about a response with one value.
        let told = |hazard: &&Hazard| {
            !matches!(hazard, Hazard::OneResponse { .. })
                && !verdict.reasons.contains(&Reason::Hazard((*hazard).clone()))
        };
        let hazards: Vec<String> = run.model.hazards.iter().filter(told).map(ToString::to_string).collect();
        verdict.remarks.extend(hazards.into_iter().chain(remarks(&run, &counters, dialect)));
        verdict.remarks.extend(tails::sentence(&run.model.tails));
        let stored_every = reader.stored_every();
        if let Some(storage) = run.storage.as_ref().filter(|_| stored_every > 1) {
            let made = saved.drawn().into_iter().min().filter(|_| run.merged.is_empty());
            verdict.remarks.push(storage.sentence(stored_every, made, dialect));
        }
        verdict.remarks.extend(summaries::remark(&reader));
        if let Standing::Before(why) = &standing {
            verdict.remarks.push(format!(
                "The newest checkpoint cannot be read ({why}). Costs and counts are those of the checkpoint before it."
            ));
        }
        if let Standing::Lost(why) = standing {
            verdict.reasons.clear();
            verdict.reasons.push(Reason::Told(format!(
                "The run's costs and decision counts are lost ({why}). Its draws are intact, but it cannot be resumed."
            )));
        }
        let path = folder.path().into();
        Ok(Self {
            path,
            draws: reader.draws(),
            stored_every,
            run,
            saved,
            summary,
            counters,
            verdict,
            standardized,
            tails,
            dialect,
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
        let stratum = self.run.surrogate.as_ref().map_or(0, |record| record.report.stratum);
        self.counters.data_share(self.run.data.rows) + stratum as f64 / self.run.data.rows as f64
    }

    /// Rows of the data.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.run.data.rows
    }

    /// Chains of the run.
    #[must_use]
    pub fn chains(&self) -> u32 {
        self.run.settings.chains
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
            "remarks": self.run.data.remarks.iter().chain(&self.verdict.remarks).collect::<Vec<_>>(),
            "chains": self.run.settings.chains,
            "draws": self.draws,
            "seed": self.run.settings.seed,
            "stored_every": self.stored_every,
            "rows": self.run.data.rows,
            "family": self.run.model.family,
            "ended": self.saved.ended,
            "rule": self.run.settings.rule,
            "proposal": self.run.proposal,
            "prediction": self.run.decision.prediction,
            "budget": self.run.budget.as_ref().map(BudgetPlan::json),
            "audit": audit,
            "standardized": self.standardized,
            "tails": self.tails.iter().map(TailFinding::json).collect::<Vec<_>>(),
        })
    }

    /// The tables: on the original scale of the columns and, where they were standardised, on that scale too.
    #[must_use]
    pub fn tables(&self) -> String {
        let original = numbers(&self.summary);
        if self.standardized.is_empty() {
            return original;
        }
        format!(
            "On the original scale of the columns:\n{original}\nOn the scale of standardised columns:\n{}",
            numbers(&self.standardized)
        )
    }

    /// What was checked, with its figures, and what was not.
    #[must_use]
    pub fn checks(&self) -> String {
        checks::text(&checks::of(self))
    }

    /// The model, the success class and the reference levels.
    #[must_use]
    pub fn about(&self) -> Vec<String> {
        about::lines(&self.run)
    }

    /// What a person would say about it, reasons for distrust first and what to do next last.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut said = self.findings();
        if self.dialect == Dialect::Python {
            // The program prints these with the plan, which nobody sees in Python.
            let noticed: Vec<String> =
                self.run.data.remarks.iter().filter(|remark| !said.contains(remark)).cloned().collect();
            said.extend(noticed);
        }
        said.extend(match self.dialect {
            Dialect::Shell => Some(self.next()),
            Dialect::Python => self.next_in_python(),
        });
        said.iter_mut().for_each(|text| *text = printable(text).into_owned());
        said
    }

    /// The same without what to do next.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.verdict.trusted() {
            let worst = self.summary.iter().map(|s| s.rhat).fold(f64::NAN, f64::max);
            let least = self.summary.iter().map(|s| s.ess_bulk.min(s.ess_tail)).fold(f64::NAN, f64::min);
            let chains = self.run.settings.chains;
            said.push(if chains > 1 {
                format!("Trusted: the {chains} chains agree (largest R-hat {worst:.3}); the smallest effective sample size is {least:.0}.")
            } else {
                format!("Trusted: the smallest effective sample size is {least:.0}. One chain alone cannot disagree with another.")
            });
        }
        said.extend(self.verdict.reasons.iter().map(ToString::to_string));
        said.push(self.cost());
        said.extend(self.theory());
        said.extend(self.realized().filter(|_| self.draws > 0));
        said.extend(self.run.budget.as_ref().filter(|_| self.draws > 0).map(BudgetPlan::outcome));
        said.extend(self.audits());
        said.extend(self.verdict.remarks.iter().cloned());
        said.iter_mut().for_each(|text| *text = printable(text).into_owned());
        said
    }

    fn cost(&self) -> String {
        let gradients = match self.saved.checkpoint.chains.first().map(|chain| &chain.learnt) {
            Some(StoredProposal::Langevin(plan)) => {
                format!(
                    " The gradients of a step read {} more rows twice, which are not counted here.",
                    plan.rows
                )
            }
            _ => String::new(),
        };
        let Counters { certified: [settled, ..], steps, .. } = self.counters;
        let settled = match &self.run.settings.rule {
            RuleSettings::Sequential(_) if settled > 0 => {
                let share = percent(settled as f64 / steps as f64);
                format!("; {share} of the decisions were certain without sampling a row")
            }
            _ => String::new(),
        };
        let (rows, share) = (count(self.run.data.rows as f64), self.data_share());
        let read = match share * self.run.data.rows as f64 {
            0.0 => "Accept/reject decisions read no rows".to_owned(),
            few if few < 100.0 => {
                format!("An accept/reject decision read {few:.1} of the {rows} rows on average")
            }
            _ => format!("An accept/reject decision read {} of the {rows} rows on average", percent(share)),
        };
        let evaluations = match self.saved.evaluations() {
            0 => String::new(),
            number => format!(", with {} likelihood evaluations in all", large(number as f64)),
        };
        format!(
            "{} draws per chain in {}{evaluations}. {} of the proposals were accepted. {read}{settled}.{gradients}",
            count(self.draws as f64),
            duration(self.saved.seconds),
            percent(self.counters.acceptance()),
        )
    }

    /// What the theory predicts for these settings.
    fn theory(&self) -> Option<String> {
        if self.draws == 0 {
            return None;
        }
        let test = match &self.run.settings.rule {
            RuleSettings::Sequential(test) => test,
            RuleSettings::Exact { .. } => {
                return Some(
                    "Accept/reject decisions were exact: Monte Carlo error is the only error of the draws."
                        .into(),
                );
            }
            RuleSettings::Certified { .. } => return Some(self.certified()),
            RuleSettings::Own(_) => return None,
        };
        let prediction = self.run.decision.prediction.as_ref()?;
        let what = if matches!(test.law, Law::Compensated { .. }) {
            "a mean detailed-balance defect"
        } else {
            "a mean error of the acceptance probability"
        };
        let Some(inflation) = prediction.sd_inflation else {
            return Some(format!(
                "The theory predicts {what} of {:.4} for this test. For this proposal it cannot predict the posterior standard deviations.",
                prediction.error
            ));
        };
        let spread = if !inflation.is_finite() {
            "the posterior would have no finite spread under this test".into()
        } else if (inflation - 1.0).abs() < 5e-4 {
            "posterior standard deviations should be right to within 0.1 %".into()
        } else {
            let word = if inflation > 1.0 { "wide" } else { "narrow" };
            format!(
                "posterior standard deviations should come out {:.1} % too {word}",
                100.0 * (inflation - 1.0).abs()
            )
        };
        Some(format!("The theory predicts {what} of {:.4} for this test: {spread}.", prediction.error))
    }

    /// Whether decisions were or could have been certified.
    fn has_certified(&self) -> bool {
        matches!(self.run.settings.rule, RuleSettings::Certified { .. })
            || self.counters.certified.iter().any(|&count| count > 0)
    }

    /// What certified decisions rested on.
    fn certified(&self) -> String {
        let Counters { certified: [second, third, some], steps, .. } = self.counters;
        let share = |count: u64| percent(count as f64 / steps as f64);
        format!(
            "Accept/reject decisions were exact: Monte Carlo error is the only error of the draws. Second-order bounds decided {} of them \
             and third-order bounds {} without reading a row; {} read some rows, the rest all of them.",
            share(second),
            share(third),
            share(some)
        )
    }

    /// What was predicted of a test against what came of it.
    fn realized(&self) -> Option<String> {
        let prediction = self.run.decision.prediction.as_ref().filter(|_| self.run.budget.is_none())?;
        let (inflation, acceptance) = (prediction.sd_inflation?, prediction.acceptance?);
        let temperature = self.temperature().map_or(String::new(), |(temperature, error)| {
            format!(
                "; temperature {:.3} and {temperature:.3} ± {error:.3} (from the signs of the audited log ratios)",
                inflation * inflation
            )
        });
        Some(format!(
            "Predicted and observed: acceptance rate {} and {}, rows per decision {} and {}{temperature}.",
            percent(acceptance),
            percent(self.counters.acceptance()),
            percent(prediction.data_share),
            percent(self.data_share())
        ))
    }

    /// Temperature of the draws by audits, and its standard error.
    fn temperature(&self) -> Option<(f64, f64)> {
        let (beta, error) = self.counters.audits.inverse_temperature()?;
        (beta > 4.0 * error).then(|| (1.0 / beta, error / (beta * beta)))
    }

    fn audits(&self) -> Option<String> {
        let audits = &self.counters.audits;
        if audits.audited == 0 {
            return None;
        }
        let interval = audits.interval();
        let (deviation, delta) = (audits.mean_square().sqrt(), audits.mean_delta());
        let deviation = if deviation.is_finite() {
            format!(
                " The sampled means differed from the means of all rows by {deviation:.2} of their stated standard errors (root mean square)."
            )
        } else {
            String::new()
        };
        Some(format!(
            "Audits repeated {} decisions on all rows: {} were wrong, and the theory expects {:.1} (compatible: {:.1} to {:.1}).{deviation} \
             The predicted mean error of their acceptance probabilities is {}.",
            audits.audited,
            audits.disagreed,
            audits.predicted,
            interval.lower,
            interval.upper,
            if delta.abs() < 5e-5 { "0.0000".to_owned() } else { format!("{delta:+.4}") }
        ))
    }

    /// What to do next, in Python.
    fn next_in_python(&self) -> Option<String> {
        if self.verdict.trusted() {
            let next = "Next: report() shows traces and marginals, export() writes the draws as a table, predict() applies them.";
            return Some(next.into());
        }
        if !self.verdict.short && !self.saved.failed && self.run.merged.is_empty() {
            return Some(NOT_LONGER.into());
        }
        let more = "Next: sample(model, draws=…, out=…, resume=True) goes on where a run in a folder of its own stopped.";
        (self.draws > 0).then(|| more.into())
    }

    /// What to do next, in a shell.
    fn next(&self) -> String {
        let run = self.path.display();
        if self.verdict.trusted() {
            return format!(
                "Next: `austerity report {run}` writes a page with the forest plot, traces and marginals; `austerity export {run}` \
                 writes the draws as a table; `austerity predict {run} NEW --out FILE` predicts new rows."
            );
        }
        if !self.run.merged.is_empty() {
            return "Next: resume the runs it was merged from (`austerity fit … --resume`) and merge them again.".into();
        }
        let resume = format!("austerity fit {} --out {run} --resume", self.run.data.file.display());
        if self.saved.failed {
            return format!("Next: remove the cause of the failure, then `{resume}` continues the run.");
        }
        if !self.verdict.short {
            return NOT_LONGER.into();
        }
        let asked = if self.run.settings.draws < UNBOUNDED { self.run.settings.draws } else { 0 };
        let made = self.draws as u64 * self.stored_every;
        let wanted = if made < asked { asked } else { (2 * made).max(2000) };
        format!("Next: `{resume} --draws {}` continues this run.", wanted.next_multiple_of(1000))
    }
}

/// One line per parameter.
fn numbers(summary: &[Summary]) -> String {
    let mut numbers =
        table(&["", "mean", "sd", "2.5 %", "50 %", "97.5 %", "MCSE", "ESS bulk", "ESS tail", "R-hat"]);
    for s in summary {
        // Without a standard deviation the quantiles have a scale.
        let spread = if s.sd.is_finite() { s.sd } else { 0.25 * (s.q975 - s.q025) };
        let digits = decimals(s.mcse_mean, spread);
        let value = |v: f64| if v.is_finite() { format!("{v:.digits$}") } else { "–".into() };
        let whole = |v: f64| if v.is_finite() { format!("{v:.0}") } else { "–".into() };
        let rhat = if s.rhat.is_finite() { format!("{:.3}", s.rhat) } else { "–".into() };
        let mcse = if s.mcse_mean.is_finite() { format!("{:.1e}", s.mcse_mean) } else { "–".into() };
        numbers.add_row([
            printable(&s.name).into_owned(),
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

pub(crate) fn percent(share: f64) -> String {
    match 100.0 * share {
        p if !p.is_finite() => "–".into(),
        p if p < 1.0 => format!("{p:.2} %"),
        p if p < 10.0 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

pub(crate) fn large(value: f64) -> String {
    match value {
        v if v < 1e5 => format!("{v:.0}"),
        v if v < 1e9 => format!("{:.1} million", v / 1e6),
        v => format!("{:.2e}", v),
    }
}

/// What else a careful person would mention.
fn remarks(run: &RunFile, counters: &Counters, dialect: Dialect) -> Vec<String> {
    let mut said: Vec<String> = run.healed.iter().map(Healed::sentence).collect();
    if run.request.shape.keep.is_some() {
        said.push("R-hat and effective sample sizes cover the kept parameters only.".to_owned());
    }
    if let (RuleSettings::Sequential(_), Some(prediction)) = (&run.settings.rule, &run.decision.prediction) {
        if run.request.shape.epsilon.is_none()
            && run.request.shape.preset.is_none()
            && prediction.error > 1.05 * run.decision.tolerance
        {
            said.push(format!(
                "No test meets the tolerance {}: the one that ran has a predicted error of {:.4}.",
                run.decision.tolerance, prediction.error
            ));
        }
        if counters.audits.audited == 0 {
            said.push(format!(
                "No decision was audited on all rows, so the test is unchecked; pass {} to check it.",
                Keyword::Audit.with(0.01, dialect)
            ));
        }
    }
    said
}
