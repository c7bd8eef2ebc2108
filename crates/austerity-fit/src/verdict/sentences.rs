//! What a person would say about a run: whether to trust it and why not, what it cost, what the theory expects, what audits found, what to do next.
//!
//! Everything is rendered from the values of an [`Overview`], alike for all front ends. Reasons for distrust have their own words (`austerity::run::reason`).

use austerity::rule::{Law, RuleSettings};
use austerity::run::{Counters, UNBOUNDED};
use austerity_glm::proposal::StoredProposal;
use austerity_io::text::printable;

use super::Overview;
use crate::fit::budget::BudgetPlan;
use crate::fit::healing::Healed;
use crate::fit::progress::duration;
use crate::report::count;
use crate::request::{Dialect, Keyword};
use crate::runs::RunFile;

/// What to do where more draws are no remedy.
const NOT_LONGER: &str =
    "Next: change what the sentences above name and begin a new run; more draws alone do not help.";

impl Overview {
    /// What a person would say about it, reasons for distrust first and what to do next last.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut said = self.findings();
        if self.dialect == Dialect::Python {
            // The program prints these with the plan, which nobody sees in Python.
            let noticed: Vec<String> =
                self.run.plan.remarks().into_iter().filter(|remark| !said.contains(remark)).collect();
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
            let chains = self.run.plan.settings.chains;
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
        said.extend(self.run.plan.budget.as_ref().filter(|_| self.draws > 0).map(BudgetPlan::outcome));
        said.extend(self.audits());
        said.extend(self.verdict.remarks.iter().map(ToString::to_string));
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
            _ => match &self.run.plan.gradients {
                Some(record) if record.tested => format!(
                    " The gradients of a step read {} more rows twice, which are not counted here.",
                    record.rows
                ),
                _ => String::new(),
            },
        };
        let Counters { certified: [settled, ..], steps, .. } = self.counters;
        let settled = match &self.run.plan.settings.rule {
            RuleSettings::Sequential(_) if settled > 0 => {
                let share = percent(settled as f64 / steps as f64);
                format!("; {share} of the decisions were certain without sampling a row")
            }
            _ => String::new(),
        };
        let population = self.run.plan.population() as f64;
        let (rows, share) = (count(population), self.data_share());
        let what = self.run.plan.unit();
        let read = match share * population {
            _ if self.run.plan.is_untested() => {
                format!("The gradient of a step read {} of the {rows} rows", percent(share))
            }
            0.0 => format!("Accept/reject decisions read no {what}"),
            few if few < 100.0 => {
                format!("An accept/reject decision read {few:.1} of the {rows} {what} on average")
            }
            _ => format!("An accept/reject decision read {} of the {rows} {what} on average", percent(share)),
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
        let test = match &self.run.plan.settings.rule {
            _ if self.run.plan.is_untested() => return None,
            RuleSettings::Sequential(test) => test,
            RuleSettings::Exact { .. } => {
                return Some(
                    "Accept/reject decisions were exact: Monte Carlo error is the only error of the draws."
                        .into(),
                );
            }
            RuleSettings::Certified { .. } => return Some(self.certified()),
            _ => return None,
        };
        let prediction = self.run.plan.decision.prediction.as_ref()?;
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
    pub(super) fn has_certified(&self) -> bool {
        matches!(self.run.plan.settings.rule, RuleSettings::Certified { .. })
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
        let prediction =
            self.run.plan.decision.prediction.as_ref().filter(|_| self.run.plan.budget.is_none())?;
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
    pub(super) fn temperature(&self) -> Option<(f64, f64)> {
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
            let predict = match self.run.plan.model.family.is_regression() {
                true => format!("; `austerity predict {run} NEW --out FILE` predicts new rows"),
                false => String::new(),
            };
            return format!(
                "Next: `austerity report {run}` writes a page with the forest plot, traces and marginals; `austerity export {run}` \
                 writes the draws as a table{predict}."
            );
        }
        if !self.run.merged.is_empty() {
            return "Next: resume the runs it was merged from (`austerity fit … --resume`) and merge them again.".into();
        }
        let command = self.run.plan.part.as_ref().map_or("fit", |part| part.command());
        let further = self.run.request.data.further.iter().map(|file| format!(" {}", file.display()));
        let files = self.run.plan.data.file.display().to_string() + &further.collect::<String>();
        let resume = format!("austerity {command} {files} --out {run} --resume");
        if self.saved.failed {
            return format!("Next: remove the cause of the failure, then `{resume}` continues the run.");
        }
        if !self.verdict.short {
            return NOT_LONGER.into();
        }
        let asked = if self.run.plan.settings.draws < UNBOUNDED { self.run.plan.settings.draws } else { 0 };
        let made = self.draws as u64 * self.stored_every;
        let wanted = if made < asked { asked } else { (2 * made).max(2000) };
        format!("Next: `{resume} --draws {}` continues this run.", wanted.next_multiple_of(1000))
    }
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
pub(super) fn remarks(run: &RunFile, counters: &Counters, dialect: Dialect) -> Vec<String> {
    let mut said: Vec<String> = run.healed.iter().map(Healed::sentence).collect();
    if run.request.shape.keep.is_some() {
        said.push("R-hat and effective sample sizes cover the kept parameters only.".to_owned());
    }
    if let (RuleSettings::Sequential(_), Some(prediction)) =
        (&run.plan.settings.rule, &run.plan.decision.prediction)
    {
        if run.request.shape.epsilon.is_none()
            && run.request.shape.preset.is_none()
            && prediction.error > 1.05 * run.plan.decision.tolerance
        {
            said.push(format!(
                "No test meets the tolerance {}: the one that ran has a predicted error of {:.4}.",
                run.plan.decision.tolerance, prediction.error
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
