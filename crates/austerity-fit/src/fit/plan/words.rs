//! The plan of a new run in words: data, model, priors, proposal, rule with its reason, length, memory and disk.

use austerity::rule::bound::Base;
use austerity::rule::{Law, Looks, RuleSettings};
use austerity::run::UNBOUNDED;

use super::why::Leapfrog;
use super::{Expected, Origin, Plan, Proposing, Remark, Threshold, Why, Without};
use crate::fit::budget::{BudgetPlan, Unit, amount};
use crate::fit::gradients::GradientStep;
use crate::fit::groups::GroupsRecord;
use crate::fit::part::PartRecord;
use crate::fit::progress::duration;
use crate::fit::wide::WideRecord;
use crate::report::count;
use crate::request::Dialect;
use crate::runs::about;

/// Estimates of seconds below this are not worth a word.
const SHORT: f64 = 2.0;

/// How long the chains will take, where that is worth a word.
pub(crate) fn takes(plan: &Plan) -> Option<String> {
    let seconds = plan.expected?.seconds.filter(|seconds| *seconds >= SHORT)?;
    Some(format!("about {}", duration(seconds)))
}

impl Plan {
    /// What would be done and why, for people, with the rows that a decision should read and the time of the chains.
    #[must_use]
    pub fn words(&self, dialect: Dialect) -> String {
        let Some(Expected { rows, seconds, .. }) = self.expected else { return of(self, dialect) };
        let (all, what) = (count(self.population() as f64), self.unit());
        let rows = rows.map(|rows| match rows {
            0.0 => format!("Expected per decision: no {what} are read."),
            rows if rows < self.population() as f64 && self.surrogate.is_some() => {
                format!(
                    "Expected per decision: at most about {} of the {all} {what} are read.",
                    count(rows.ceil())
                )
            }
            rows => {
                format!("Expected per decision: about {} of the {all} {what} are read.", count(rows.ceil()))
            }
        });
        let time = match seconds {
            Some(seconds) if takes(self).is_none() => {
                Some(format!("Time: about {seconds:.1} s for the chains, at the pace of the first steps."))
            }
            Some(_) => None,
            None if self.wide.is_some() || self.part.is_some() => None,
            None => Some("Time: until the limit you set.".to_owned()),
        };
        let surrogate = match &self.surrogate {
            Some(record) => {
                format!("Surrogate: Taylor expansion of order {} at the mode.", record.report.order())
            }
            None => "Surrogate: none.".to_owned(),
        };
        let more = std::iter::once(surrogate).chain(rows).chain(time);
        let last = "Nothing was written and nothing was drawn.".to_owned();
        std::iter::once(of(self, dialect)).chain(more).chain([last]).collect::<Vec<_>>().join("\n")
    }
}

/// What will be done and why.
pub(crate) fn of(plan: &Plan, dialect: Dialect) -> String {
    let settings = &plan.settings;
    let mut lines = vec![format!(
        "{}: {} rows, {} parameters; {}.",
        plan.data.file.display(),
        count(plan.data.rows as f64),
        plan.model.parameters,
        plan.model.family.words()
    )];
    lines.extend(plan.data.parts.as_ref().map(|record| format!("• {}", record.sentence(plan.data.rows))));
    lines.extend(plan.remarks().iter().map(|remark| format!("• {remark}")));
    lines.extend(about::coding(plan));
    let fatal = plan.model.hazards.iter().filter(|hazard| hazard.is_fatal());
    lines.extend(fatal.map(|hazard| format!("• {hazard}")));
    lines.extend(plan.crossing.as_ref().map(|crossing| format!("• {}", crossing.sentence())));
    lines.extend(about::priors(&plan.model.priors, plan.model.family));
    lines.extend(plan.part.iter().flat_map(PartRecord::sentences));
    lines.extend(plan.groups.iter().flat_map(GroupsRecord::sentences));
    lines.push(format!("Proposal: {}.", proposal(&plan.proposal)));
    let decided =
        if plan.is_untested() { "none, every candidate is taken".into() } else { rule(&settings.rule) };
    lines.push(format!("Accept/reject rule: {decided}."));
    lines.push(format!("  Why: {}.", why(plan)));
    lines.extend(plan.budget.as_ref().map(BudgetPlan::sentence));
    if let (RuleSettings::Sequential(_), Some(p)) = (&settings.rule, &plan.decision.prediction) {
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
    if let Some(takes) = takes(plan) {
        lines.push(format!("Time: {takes}, at the pace of the first steps."));
    }
    lines.extend(plan.wide.as_ref().map(WideRecord::sentence));
    if let Some(storage) = plan.storage.as_ref().filter(|_| settings.record_every > 1) {
        lines.push(storage.sentence(settings.record_every, Some(settings.draws), dialect));
    }
    lines.extend(plan.expected.as_ref().map(|expected| size(plan, expected)));
    lines.iter().map(|line| austerity_io::text::printable(line)).collect::<Vec<_>>().join("\n")
}

/// Why this rule decides.
pub(crate) fn why(plan: &Plan) -> String {
    let report = || plan.surrogate.as_ref().map_or(String::new(), |record| record.report.sentence());
    match &plan.decision.reason {
        Why::Asked => "exact decisions, as asked for".into(),
        Why::Untested => "no decisions, as asked for: draws are biased".into(),
        Why::Usual => "exact decisions, the default here; --rule sequential tests".into(),
        Why::AskedOnResiduals => "exact decisions on all residuals, as asked for".into(),
        Why::SumsOfSquares => "exact decisions from sums of squares and products: no row is read".into(),
        Why::Contradicted => "exact decisions, since audits contradicted a test".into(),
        Why::FarFromNormal => "exact decisions: the posterior is far from normal".into(),
        Why::NoMoves => "exact decisions: the pilot met no move that a test could decide".into(),
        Why::IndependentDraws { acceptance, steps } => format!(
            "exact decisions: {:.0} % of the independent draws are accepted, so each is worth about {steps:.0} random-walk steps; a test saves \
             little on moves that long",
            100.0 * acceptance
        ),
        Why::Bounds { asked: true } => format!("exact decisions by bounds, as asked for; {}", report()),
        Why::Bounds { asked: false } => {
            format!("exact decisions by bounds, since audits contradicted a test; {}", report())
        }
        Why::Residuals => report(),
        Why::Test { origin, threshold } => format!("{}{}", origin_words(origin), threshold_words(*threshold)),
        Why::ExactByDesign { finding } => finding.clone(),
        Why::LeastRisk { ways } => {
            format!("of {ways} rules and lengths of steps the one with the least predicted risk")
        }
        Why::TooWide => too_wide(plan),
        Why::UnsafeResiduals => {
            "exact decisions on all rows, since residuals of a surrogate cannot be sampled safely".into()
        }
        Why::Jumps => "exact decisions: jumps between modes change every row".into(),
        Why::Told(words) => words.clone(),
    }
}

fn origin_words(origin: &Origin) -> String {
    match origin {
        Origin::Asked => "the test that was asked for".into(),
        Origin::Designed(finding) => format!("designed: {finding}"),
        Origin::Cheapest(finding) => finding.clone(),
    }
}

fn threshold_words(threshold: Threshold) -> String {
    match threshold {
        Threshold::AsGiven => String::new(),
        Threshold::Compensated(lambda) => format!(", its threshold compensated by λ = {lambda:.3}"),
        Threshold::NoLambda => {
            ", not compensated (no λ exists: the noise of its first look is too large)".into()
        }
    }
}

fn too_wide(plan: &Plan) -> String {
    let rows = count(plan.data.rows as f64);
    let Some([standard_error, share, spread]) = plan.wide.as_ref().and_then(|wide| wide.residuals) else {
        return "exact decisions on all rows".into();
    };
    format!(
        "exact decisions on all rows, since {} coefficients are too many for a test on residuals of {rows} rows: it would read {:.0} % of them, its log ratio would have a standard error of \
         {standard_error:.1} after 64 rows, and the residuals of independent draws differ by {spread:.1} (sd)",
        plan.model.parameters,
        100.0 * share
    )
}

/// An accept/reject rule.
pub(crate) fn rule(rule: &RuleSettings) -> String {
    match rule {
        RuleSettings::Exact { law: Law::Metropolis } => "exact Metropolis–Hastings".into(),
        RuleSettings::Exact { law } => format!("exact Metropolis–Hastings, threshold {}", law_words(*law)),
        RuleSettings::Certified { .. } => {
            "certified: exact; rows are read only where bounds cannot decide".into()
        }
        RuleSettings::Own(own) => format!("a rule of your own, {}", own.name()),
        RuleSettings::Sequential(test) => {
            let looks = match &test.looks {
                Looks::Growing { first, growth } if *growth == 1.0 => format!("looks every {first} rows"),
                Looks::Growing { first, growth } => format!("first look {first} rows, then × {growth}"),
                other => format!("looks {other:?}"),
            };
            let base = match test.bound.base {
                Base::Epsilon(epsilon) => format!("ε = {epsilon:.4}"),
                Base::Critical(critical) => format!("G0 = {critical:.3}"),
            };
            let guard = if test.guard.is_some() { "guard on" } else { "no guard" };
            let stop = test.stop_at.map_or(String::new(), |tau| {
                format!(", stops once the standard error of the log ratio is below τ = {tau}")
            });
            format!(
                "sequential test: {looks}, {base}, threshold {}, blocks of {} rows, {guard}{stop}",
                law_words(test.law),
                test.block_rows
            )
        }
    }
}

fn law_words(law: Law) -> String {
    match law {
        Law::Metropolis => "plain".into(),
        Law::Logistic => "logistic".into(),
        Law::Compensated { lambda } => format!("compensated by λ = {lambda:.3}"),
    }
}

/// Why there is no surrogate, where there is a reason beyond the options.
pub(crate) fn without(why: &Without) -> Option<String> {
    match why {
        Without::Unasked => None,
        Without::Failed(error) => Some(error.clone()),
        Without::Blind(report) => Some(report.sentence()),
        Without::Dear => {
            Some("its residuals are so large here that decisions about the rows themselves cost less".into())
        }
        Without::Skewed { parameter, off } => Some(format!(
            "two standard deviations from the mode of {parameter} its log density would be off by {off:.1}; the data are too few, or events too rare"
        )),
    }
}

/// How candidates are proposed.
pub(crate) fn proposal(proposing: &Proposing) -> String {
    match proposing {
        Proposing::AdaptingWalk { stretch } => format!(
            "random walk shaped by the curvature at the mode, {}adapting during warm-up",
            match stretch {
                1.0 => String::new(),
                stretch => format!("steps {stretch} times as long as they are best for exact decisions, "),
            }
        ),
        Proposing::Features { update_sd, birth_sd } => format!(
            "a step of one coefficient (sd {update_sd:.2e}), a birth or a death of a feature (sd of new coefficients {birth_sd:.2e})"
        ),
        Proposing::Rotations => "rotations of pairs of sources, as wide as the posterior".into(),
        Proposing::Conditionals => "each variable in turn from its conditional (Gibbs)".into(),
        Proposing::FixedWalk { sd } => format!("random walk with sd {sd} in every coefficient"),
        Proposing::AroundMode => {
            "independent draws around the mode, one in five a step of an adapting random walk".into()
        }
        Proposing::Normal { short, sweeps, spread, correlation } => format!(
            "draws from the normal approximation{}{}. Its log density differs from the surrogate's by {spread:.2} (sd over draws){}",
            if *short { ", one in five a short step, since the tails are heavier than normal" } else { "" },
            swept(*sweeps),
            if *correlation < 0.0 {
                format!(". Successive draws are antithetic (correlation −{:.2})", correlation.abs())
            } else {
                String::new()
            }
        ),
        Proposing::Hamiltonian { path, walks, sweeps, spread } => format!(
            "Hamiltonian Monte Carlo on the surrogate ({}{}){}. The posterior is not normal: log densities differ by {spread:.1} (sd over draws)",
            leapfrog(path),
            if *walks > 0.0 {
                format!("; one candidate in {:.0} is a random-walk step", 1.0 / walks)
            } else {
                String::new()
            },
            swept(*sweeps)
        ),
        Proposing::Langevin { step, acceptance, best, rows, sweeps } => format!(
            "Langevin steps of length {step} (in posterior sds; a normal posterior accepts {:.0} %, and {best:.2} mixes best) up the gradient of the surrogate and of mini-batches of {rows} \
             residuals{}",
            100.0 * acceptance,
            swept(*sweeps)
        ),
        Proposing::OnGradients { step, rows } => gradients(*step, *rows),
        Proposing::OnSample { rows, path, acceptance } => format!(
            "Hamiltonian Monte Carlo on a weighted sample of {rows} rows ({}), one step in ten that of a random walk. {:.0} % of its candidates are expected to be accepted",
            leapfrog(path),
            100.0 * acceptance
        ),
        Proposing::OnAllRows { gradients, acceptance } => format!(
            "Hamiltonian Monte Carlo on all rows: {} per draw, in steps that are exact for the normal approximation at the mode. A pilot accepted {:.0} %",
            match gradients {
                1 => "one gradient".to_owned(),
                several => format!("{several} gradients"),
            },
            100.0 * acceptance
        ),
        Proposing::AcrossModes { share, modes, within } => format!(
            "{:.0} % draws from a mixture over the {modes} modes, otherwise {}",
            100.0 * share,
            match within {
                Some(steps) => format!("local steps: {}", proposal(steps)),
                None => "steps of random walks with the shape of each mode".to_owned(),
            }
        ),
        Proposing::WithTails { others } => {
            format!(
                "{}; every third candidate moves one coefficient into the tail of its prior",
                proposal(others)
            )
        }
        Proposing::WithSpikes { others } => format!(
            "{}; every third candidate draws one coefficient anew, from its narrow prior or around the maximum of the likelihood",
            proposal(others)
        ),
        Proposing::Told(words) => words.clone(),
    }
}

fn gradients(step: GradientStep, rows: usize) -> String {
    let mini_batches = format!("gradients of mini-batches of {rows} rows");
    match step {
        GradientStep::Langevin(sd) => {
            format!(
                "stochastic gradient Langevin dynamics: noise of sd {sd} in every coefficient, {mini_batches}"
            )
        }
        GradientStep::FisherScoring(step) => format!(
            "stochastic gradient Fisher scoring of size {step}, shaped by the covariance at the mode, {mini_batches}"
        ),
    }
}

fn leapfrog(path: &Leapfrog) -> String {
    let Leapfrog { steps: [fewest, most], length } = path;
    format!("{fewest} to {most} leapfrog steps of {length:.2}")
}

/// Sweeps of the coefficients of rare features, to follow what they follow.
fn swept(sweeps: u32) -> String {
    match sweeps {
        0 => String::new(),
        n => format!(", each followed by {n} sweeps of exact updates of the coefficients of rare features"),
    }
}

/// What was noticed.
pub(crate) fn remark(remark: &Remark) -> String {
    match remark {
        Remark::Separable => {
            "the data are separable: every row is on its side at the mode, so the prior decides how large the coefficients are".into()
        }
        Remark::Alike { first, second } => format!(
            "the data hardly say how to tell sources {first} and {second} apart: both may be Gaussian, or have lighter tails than that"
        ),
        Remark::Weak { parameters, more } => format!(
            "the data say little about {}{}: the prior decides there",
            parameters.join(", "),
            if *more > 0 { format!(" and {more} more") } else { String::new() }
        ),
        Remark::NoMode => "no mode was found from the start: chains begin there and learn their steps in warm-up; a better start, or the rough width of the posterior as \
                           `scale`, saves time"
            .into(),
        Remark::LabelsSwitch { first, second } => format!(
            "labels switch: another mode of this posterior is the first with {first} and {second} exchanged, as of a mixture, whose components have no order; \
             give them one, such as a block of rising parameters (Ordered)"
        ),
        Remark::NoCrossing { rate } => format!(
            "jumps between the modes would be accepted too rarely ({:.2} % of the rate of independent draws): chains stay in the mode that they start in",
            100.0 * rate
        ),
        Remark::Hurried { needed, enough, sample } => {
            let would = format!("a budget of {enough:.1} s or more would do");
            let needed = amount(Unit::Seconds, *needed);
            match sample {
                None => format!(
                    "the budget is too small for a surrogate (with the mode about {needed}): decisions are about rows; {would}"
                ),
                Some(rows) => format!(
                    "the budget is too small for the mode of all rows and a surrogate (about {needed}): chains start at the mode of {rows} rows and decide about rows; {would}"
                ),
            }
        }
        Remark::Told(words) => words.clone(),
    }
}

/// Memory and disk.
fn size(plan: &Plan, expected: &Expected) -> String {
    let mega = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let Expected { resident, data, disk, .. } = *expected;
    let data = if plan.data.mapped {
        format!("{} of data mapped from disk through the system's cache", mega(data))
    } else {
        format!("{} of it data", mega(data))
    };
    let most = if plan.settings.draws >= UNBOUNDED { "at most" } else { "about" };
    format!("Memory: {} resident, {data}. Disk: {most} {}.", mega(resident), mega(disk))
}
