//! "The algorithm gets stuck" (section 4): pseudo-marginal chains on the logistic regression, whose decisions rest on unbiased estimates of the
//! likelihood from batches.
//!
//! The Poisson and the Kennedy–Bhanot estimator with a rate above the range of the log-likelihood ratio, batches of 512 rows to half of the data,
//! estimates relative to the posterior mean; and the same kernel on what a second-order surrogate leaves. All chains start in the posterior and walk
//! as those of section 6.1. Seen are acceptance, the longest run of rejections, and the share of negative estimates.

use austerity::kernel::Kernel;
use austerity::model::Model;
use austerity::proposal::RandomWalk;
use austerity::rng::Streams;
use austerity_glm::Surrogate;
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity_models::pseudo_marginal::{
    Estimated, Estimator, PseudoMarginal, PseudoMarginalSettings, Rejections,
};
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};

use super::problem::Problem;
use super::truth::Truth;
use super::{Plan, STEP, claims};
use crate::claim::Estimate;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::outcome::{Section, Table};
use crate::parallel;

/// Batches of an estimate, about: above the range of the log-likelihood ratio, whose mean is half the number of coefficients.
const RATE: f64 = 100.0;
/// Blocks of 32 rows in a batch, as shares of all: and 16, the paper's m.
const SHARES: [f64; 2] = [0.125, 0.5];
const FIRST: usize = 16;
const CHAINS: u32 = 4;

/// Chains of one estimator with one batch size.
pub(super) struct Found {
    pub(super) name: String,
    pub(super) rows: f64,
    pub(super) chains: Vec<Rejections>,
}

pub(super) fn run(
    context: &Context,
    problem: &Problem,
    truth: &Truth,
    (plan, exact): (&Plan, f64),
) -> Result<(Section, Table)> {
    context.stage("pseudo-marginal chains", 0.97)?;
    let blocks = problem.rows().div_ceil(austerity::BLOCK_ROWS);
    let of_share = |share: f64| ((blocks as f64 * share) as usize).max(1);
    let sizes: Vec<usize> = std::iter::once(FIRST.min(blocks)).chain(SHARES.map(of_share)).collect();
    let estimators =
        [("Poisson", Estimator::poisson(RATE)?), ("Kennedy–Bhanot", Estimator::kennedy_bhanot(RATE)?)];
    let expansion =
        ExpansionSettings { walk: Some(STEP), threads: context.threads, ..ExpansionSettings::default() };
    let surrogate = Surrogate::new(GlmExpansion::new(&problem.model, &truth.mean, &expansion)?);
    let mut found = Vec::new();
    for (name, estimator) in estimators {
        for &size in &sizes {
            let settings =
                PseudoMarginalSettings { estimator, blocks: size, block_rows: austerity::BLOCK_ROWS };
            found.push(Found {
                name: name.into(),
                rows: (size * austerity::BLOCK_ROWS) as f64,
                chains: chains(context, &problem.model, truth, (name, settings, plan.stuck_steps))?,
            });
        }
        let surrogate_name = format!("{name}, surrogate");
        let settings =
            PseudoMarginalSettings { estimator, blocks: sizes[0], block_rows: austerity::BLOCK_ROWS };
        found.push(Found {
            name: surrogate_name.clone(),
            rows: (sizes[0] * austerity::BLOCK_ROWS) as f64,
            chains: chains(context, &surrogate, truth, (&surrogate_name, settings, plan.stuck_steps))?,
        });
    }
    let section = Section {
        title: "Exact decisions from unbiased estimates (section 4)".into(),
        figure: Some(("stuck".into(), figure(&found, exact))),
        caption: format!(
            "Pseudo-marginal chains of {} steps from the posterior, {CHAINS} of each kind, {RATE} batches an estimate. Dotted: the acceptance of exact \
             decisions. \"surrogate\": the same kernel on what a second-order expansion at the posterior's centre leaves, with batches of {} rows.",
            plan.stuck_steps,
            sizes[0] * austerity::BLOCK_ROWS
        ),
        checks: claims::stuck(&found, exact),
    };
    Ok((section, table(&found)))
}

fn chains<M: Model<State = Vec<f64>>>(
    context: &Context,
    model: &M,
    truth: &Truth,
    (name, settings, steps): (&str, PseudoMarginalSettings, u64),
) -> Result<Vec<Rejections>> {
    let numbers: Vec<u32> = (0..CHAINS).collect();
    parallel::each(context.threads, &numbers, |_, &number| {
        let kept = format!("stuck-{name}-{}-{number}", settings.blocks);
        let made = (format!("{:016x}", model.fingerprint()), format!("{settings:?}"), steps);
        context.chain(("logistic", &kept), &made, || chain(context, model, truth, (settings, steps, number)))
    })
}

fn chain<M: Model<State = Vec<f64>>>(
    context: &Context,
    model: &M,
    truth: &Truth,
    (settings, steps, number): (PseudoMarginalSettings, u64, u32),
) -> Result<Rejections> {
    let walk = RandomWalk::isotropic(truth.mean.len(), STEP)?;
    let mut kernel = PseudoMarginal::new(model, walk, (settings, truth.mean.clone()))?;
    let mut state = Estimated::start(truth.starts[number as usize % truth.starts.len()].clone());
    let mut streams = Streams::new(context.seed, 700 + number);
    for step in 0..steps {
        if context.stopped() {
            return Err(Error::Interrupted);
        }
        streams.begin(step);
        kernel.step(&mut state, &mut streams)?;
    }
    Ok(*kernel.rejections())
}

/// Acceptance, chain by chain.
pub(super) fn acceptance(found: &Found) -> Estimate {
    Estimate::mean(
        format!("{}, {} rows", found.name, found.rows),
        &found.chains.iter().map(Rejections::acceptance).collect::<Vec<_>>(),
    )
}

/// Longest run of rejections over the steps, chain by chain.
pub(super) fn longest(found: &Found) -> Estimate {
    let share = |moved: &Rejections| moved.longest as f64 / moved.steps as f64;
    Estimate::mean(
        format!("{}, {} rows", found.name, found.rows),
        &found.chains.iter().map(share).collect::<Vec<_>>(),
    )
}

fn figure(found: &[Found], exact: f64) -> Figure {
    let names = ["Poisson", "Kennedy–Bhanot", "Poisson, surrogate", "Kennedy–Bhanot, surrogate"];
    let curve = |name: &str, of: fn(&Found) -> Estimate| Curve {
        label: name.into(),
        points: found.iter().filter(|one| one.name == name).map(|one| (one.rows, of(one).value)).collect(),
    };
    let panel = |title: &str, of: fn(&Found) -> Estimate| {
        let x = Axis::new("rows of a batch", Scale::Logarithmic);
        let panel = Panel::new(title, x, Axis::new("", Scale::Linear).with_limits(-0.02, 1.0));
        let panel = panel.curves(names[..2].iter().map(|name| curve(name, of)).collect());
        names[2..].iter().enumerate().fold(panel, |panel, (series, name)| {
            let points = curve(name, of).points;
            let label = points
                .first()
                .map(|&at| Mark::Label { at: (at.0, at.1 - 0.06 * series as f64), text: (*name).into() });
            label.into_iter().fold(panel.mark(Mark::Points { series: series + 2, points }), Panel::mark)
        })
    };
    Figure {
        title: "Pseudo-marginal Metropolis–Hastings".into(),
        panels: vec![
            panel("share of the candidates accepted", acceptance).reference(exact),
            panel("longest run of rejections, share of the steps", longest),
        ],
    }
}

fn table(found: &[Found]) -> Table {
    let mut table = Table::new(
        "stuck",
        &["estimator", "batch_rows", "acceptance", "longest_rejection_share", "negative_share"],
    );
    for one in found {
        let negative = one.chains.iter().map(|moved| moved.negative as f64 / moved.steps as f64).sum::<f64>();
        let numbers =
            [one.rows, acceptance(one).value, longest(one).value, negative / one.chains.len() as f64];
        table.push(std::iter::once(one.name.as_str().into()).chain(numbers.map(Into::into)).collect());
    }
    table
}
