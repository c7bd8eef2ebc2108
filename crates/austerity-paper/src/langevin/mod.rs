//! Section 6.4: stochastic gradient Langevin dynamics without a test, and with one.
//!
//! An L1-regularised regression with one coefficient, whose posterior has its mode beside a kink. Where the noise throws an untested
//! chain over the kink, the gradient is so large that the next step goes far off to the other side; a test would not have let it over.
//! The law of x is not printed; only a mean square of 1/3 gives the printed picture, so x is uniform on (−1, 1). Rows of the
//! mini-batch of the gradient are not printed either and taken to be m = 500.
//!
//! | file | holds |
//! |---|---|
//! | `target` | posteriors that are known, and their histograms' truth |
//! | `chains` | the ways of sampling, watched step by step |
//! | `distance` | how far draws are from the truth, and the noise of that |
//! | `claims` | the paper's claims, with thresholds |
//! | `report` | figures, and what became of the claims |

mod chains;
mod claims;
mod distance;
mod report;
mod target;

use austerity::model::Gradient as _;
use austerity_glm::gradients::BatchGradient;
use serde_json::json;

use crate::context::Context;
use crate::error::Result;
use crate::outcome::{Outcome, Table};
use chains::{Length, Method, ROWS, Record, Step};
pub(crate) use claims::CLAIMS;
use distance::{Distance, measure};
use target::Target;

/// α: the variance of a step.
const VARIANCE: f64 = 5e-6;

/// The ways of sampling the toy.
const METHODS: &[Method] = &[
    Method { name: "SGLD, untested", short: "SGLD", step: Step::Langevin, epsilon: None },
    Method { name: "SGLD + test, ε = 0", short: "ε 0", step: Step::Langevin, epsilon: Some(0.0) },
    Method { name: "SGLD + test, ε = 0.1", short: "ε .1", step: Step::Langevin, epsilon: Some(0.1) },
    Method { name: "SGLD + test, ε = 0.5", short: "ε .5", step: Step::Langevin, epsilon: Some(0.5) },
    Method {
        name: "SGLD + test, fresh reverse, ε = 0.5",
        short: "fresh .5",
        step: Step::FreshReverse,
        epsilon: Some(0.5),
    },
    Method { name: "SGFS, untested", short: "SGFS", step: Step::Scoring, epsilon: None },
    Method { name: "SGFS + test, ε = 0.1", short: "SGFS .1", step: Step::Scoring, epsilon: Some(0.1) },
    Method { name: "SGFS + test, ε = 0.5", short: "SGFS .5", step: Step::Scoring, epsilon: Some(0.5) },
    Method { name: "random walk, exact", short: "walk", step: Step::Walk, epsilon: Some(0.0) },
];

/// Those that another model is sampled by as well.
const OF_LOGISTIC: [usize; 6] = [0, 1, 2, 3, 5, 7];

/// Those that other data sets are sampled by as well.
const OF_OTHER_DATA: [usize; 2] = [0, 3];

/// How long each part is.
#[derive(Clone, Copy, Debug)]
struct Plan {
    toy: Length,
    /// Of the other model and the other data sets.
    other: Length,
    /// N of the logistic regression.
    rows: usize,
    /// How many other data sets.
    data_sets: u64,
}

/// One way of sampling and what came of it.
struct Found {
    method: Method,
    record: Record,
    distance: Distance,
}

/// What the other data sets showed.
struct OtherData {
    mode: f64,
    found: Vec<Found>,
}

/// Runs the experiment.
pub fn run(context: &Context) -> Result<Outcome> {
    let length = |chains, steps| Length { chains, steps };
    let (extent, chains) = (context.extent(), context.size.pick(4, 8, 16));
    let toy = length(chains, extent.count(40_000, 200_000, 1_000_000));
    let other = length(chains, extent.count(25_000, 80_000, 400_000));
    planned(context, Plan { toy, other, rows: 10_000, data_sets: 4 })
}

fn planned(context: &Context, plan: Plan) -> Result<Outcome> {
    context.stage("data of the toy", 0.0)?;
    let (seed, toy) = target::toy()?;
    let mut on_toy = Vec::new();
    for (number, method) in METHODS.iter().enumerate() {
        context.stage(method.name, 0.7 * number as f64 / METHODS.len() as f64)?;
        on_toy.push(sample(context, &toy, *method, VARIANCE, plan.toy)?);
    }
    context.stage("quadrature of the logistic posterior", 0.7)?;
    let logistic = target::logistic(plan.rows)?;
    // The same step in posterior standard deviations as on the toy, whose Gaussian has an sd of .01.
    let logistic_variance = VARIANCE * (logistic.sd / toy.sd).powi(2);
    let mut on_logistic = Vec::new();
    for (number, place) in OF_LOGISTIC.into_iter().enumerate() {
        context.stage("logistic regression", 0.72 + 0.2 * number as f64 / OF_LOGISTIC.len() as f64)?;
        on_logistic.push(sample(context, &logistic, METHODS[place], logistic_variance, plan.other)?);
    }
    let mut on_others = Vec::new();
    for number in 0..plan.data_sets {
        context.stage("other data sets", 0.92 + 0.08 * number as f64 / plan.data_sets as f64)?;
        let target = target::any_toy(seed + 1 + number)?;
        let found = OF_OTHER_DATA.map(|place| sample(context, &target, METHODS[place], VARIANCE, plan.other));
        on_others.push(OtherData { mode: target.mode, found: found.into_iter().collect::<Result<_>>()? });
    }
    let mut gradients = [[0.0], [0.0]];
    toy.model.log_density_gradient(&vec![-1e-12], &mut gradients[0])?;
    toy.model.log_density_gradient(&vec![1e-12], &mut gradients[1])?;
    let slopes = (gradients[0][0], gradients[1][0]);
    let mut sections = report::toy(&toy, slopes, &on_toy)?;
    sections.push(report::scoring(&toy, &on_toy));
    sections.push(report::distances(&toy, &on_toy));
    sections.push(report::logistic(&logistic, &on_logistic));
    sections.push(report::other_data(&on_others));
    Ok(Outcome {
        title: "Langevin dynamics with and without a test (section 6.4)".into(),
        about: vec![
            "Stochastic gradient Langevin dynamics (SGLD) on an L1-regularised regression with one coefficient, N = 10,000: \
             every candidate taken, or tested with the mini-batch of the forward step in the density of the reverse."
                .into(),
            format!(
                "The paper does not say how x is distributed: only a mean square of 1/3 gives its picture, so x is uniform on (−1, 1). The \
                 mini-batch of the gradient is taken to be as large as that of the test, {ROWS} rows. The data set is the first whose mode lies \
                 within .001 of where it is expected, .005."
            ),
            "The true posterior is known in closed form, that of the logistic regression by quadrature.".into(),
        ],
        settings: json!({
            "rows": 10_000, "precision": 3.0, "prior_rate": 4950.0, "slope": 0.5, "data_seed": seed,
            "step_variance": VARIANCE, "test_rows": ROWS, "gradient_rows": ROWS,
            "chains": plan.toy.chains, "steps": plan.toy.steps,
            "logistic": { "rows": plan.rows, "step_variance": logistic_variance, "chains": plan.other.chains, "steps": plan.other.steps },
        }),
        numbers: json!({
            "posterior_mode": toy.mode, "posterior_sd": toy.sd, "mass_left_of_kink": toy.cumulative(0.0),
            "gradient_left": slopes.0, "gradient_right": slopes.1,
        }),
        sections,
        tables: vec![table("toy", &toy, &on_toy), table("logistic", &logistic, &on_logistic)],
    })
}

fn sample<M: BatchGradient>(
    context: &Context,
    target: &Target<M>,
    method: Method,
    variance: f64,
    length: Length,
) -> Result<Found> {
    let record = chains::run(context, target, method, variance, length)?;
    let distance = measure(target, &record.draws);
    Ok(Found { method, record, distance })
}

/// Every way of sampling in a row.
fn table<M>(name: &str, target: &Target<M>, found: &[Found]) -> Table {
    let mut table = Table::new(
        name,
        &[
            "method",
            "total variation",
            "its standard error",
            "total variation of noise alone",
            "Kolmogorov distance",
            "its standard error",
            "Kolmogorov critical value",
            "effective sample size",
            "mean",
            "true sd",
            "sd",
            "acceptance",
            "rows per test",
            "looks per test",
            "gradient rows per step",
            "effective samples per million rows",
            "valley candidates rejected",
            "CPU seconds",
        ],
    );
    for found in found {
        let Found { method, record, distance } = found;
        let steps = record.counters.steps as f64;
        table.push(vec![
            method.name.into(),
            distance.total_variation.into(),
            distance.total_variation_error.into(),
            distance.floor.into(),
            distance.kolmogorov.into(),
            distance.kolmogorov_error.into(),
            distance.critical.into(),
            distance.ess.into(),
            distance.mean.into(),
            target.sd.into(),
            distance.sd.into(),
            record.counters.acceptance().into(),
            record.rows_per_test().into(),
            (record.counters.looks as f64 / steps).into(),
            method.gradient_rows(target.block_rows).into(),
            per_million(found, target.block_rows).into(),
            record.rejected_in_valley().into(),
            record.seconds.into(),
        ]);
    }
    table
}

/// Effective samples per million rows read by tests and gradients.
fn per_million(Found { method, record, distance }: &Found, block_rows: usize) -> f64 {
    let rows = record.rows_per_test() + method.gradient_rows(block_rows);
    1e6 * distance.ess / (record.counters.steps as f64 * rows)
}

#[cfg(test)]
mod tests;
