//! The posterior itself: its mode, its widths, the ridge of the two Gaussian sources, and a long exact run.
//!
//! The mode is found from the true unmixing matrix by turning pairs of sources one after the other: the log ratio of a turn by ±h
//! gives slope and curvature in the plane (i, j). The curvatures tell how wide the posterior is in each plane, and a walk whose
//! rotations have those widths mixes a hundred times faster than the paper's, whose steps are the same in every plane
//! and hence as short as the narrowest allows. The long exact run uses that walk; its states are starts for all other chains.

use austerity::diagnostics::ess_mean;
use austerity::kernel::{Kernel as _, Metropolis};
use austerity::model::{Access, Model as _};
use austerity::population::{BlockOrder, Population as _};
use austerity::rng::Streams;
use austerity::rule::Exact;
use austerity_models::Stiefel;
use austerity_models::ica::amari_distance;
use austerity_models::stiefel::nearest_frame;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::problem::{Problem, SOURCES};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::parallel;

/// Pairs of sources, in the order of a walk by rotations.
pub const PLANES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
/// The plane of the two Gaussian sources.
pub const RIDGE: usize = 5;
/// Turns of the Gaussian sources at which the ridge is measured: a quarter turn exchanges them.
const RIDGE_POINTS: usize = 64;
/// Rounds of turning all pairs.
const ROUNDS: usize = 6;
/// Share of a run that is not used.
const BURN_IN: f64 = 0.1;
/// D at which 2Φ(−D/2) = ½.
const HALF_ACCEPTED: f64 = 1.348_979_5;
/// States kept as starts.
const STARTS: usize = 64;

/// What is known about the posterior.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stationary {
    /// Width of the posterior in each of the [`PLANES`], from the curvature at the mode.
    pub widths: Vec<f64>,
    /// Log posterior density relative to its largest along a quarter turn of the two Gaussian sources: (angle, value).
    pub ridge: Vec<(f64, f64)>,
    /// Posterior mean of the Amari distance and its Monte Carlo standard error.
    pub mean: f64,
    /// Standard error of `mean`.
    pub standard_error: f64,
    /// Posterior standard deviation of the Amari distance.
    pub sd: f64,
    /// Effective sample size of the Amari distance, and steps that were used.
    pub effective: f64,
    /// Steps that were used.
    pub steps: usize,
    /// Acceptance of the run.
    pub acceptance: f64,
    /// States of the run, evenly spaced.
    pub starts: Vec<Vec<f64>>,
}

impl Stationary {
    /// The posterior of `problem`, from `steps` exact steps in all; from the cache where it has it.
    pub fn new(context: &Context, problem: &Problem, steps: usize) -> Result<Self> {
        let settings = json!({
            "rows": problem.model.len(), "data": problem.model.fingerprint().to_string(), "steps": steps, "seed": context.seed,
            "chains": context.threads,
        });
        let name = format!("ica-{}", problem.model.len());
        context.truth(&name, &settings, || compute(context, problem, steps))
    }

    /// σ of the paper's walk, the same in every plane, at which a Gaussian posterior of these widths accepts half of the candidates:
    /// moves of root energy D are accepted with probability 2Φ(−D/2), and D² = σ²·Σ 1/width².
    #[must_use]
    pub fn step_sd(&self) -> f64 {
        HALF_ACCEPTED / self.widths.iter().map(|width| 1.0 / (width * width)).sum::<f64>().sqrt()
    }
}

/// `frame` with rows i and j turned by `angle`.
fn turned(frame: &[f64], (i, j): (usize, usize), angle: f64) -> Vec<f64> {
    let (sin, cos) = angle.sin_cos();
    let mut out = frame.to_vec();
    for k in 0..SOURCES {
        let (a, b) = (frame[i * SOURCES + k], frame[j * SOURCES + k]);
        out[i * SOURCES + k] = cos * a + sin * b;
        out[j * SOURCES + k] = cos * b - sin * a;
    }
    out
}

fn compute(context: &Context, problem: &Problem, steps: usize) -> Result<Stationary> {
    let model = &problem.model;
    let mut scratch = model.scratch(Access::Blocks);
    let mut ratio = |from: &Vec<f64>, to: &Vec<f64>| -> Result<f64> {
        if context.stopped() {
            return Err(Error::Interrupted);
        }
        Ok(model.compare(from, to, &mut scratch).total()?.sum())
    };
    // The mixing of white sources is orthonormal but for chance, so its transpose undoes it.
    let transpose: Vec<f64> = (0..16).map(|k| problem.mixing[k % SOURCES * SOURCES + k / SOURCES]).collect();
    let mut mode = nearest_frame(SOURCES, SOURCES, &transpose)?;
    let rows = model.len() as f64;
    let mut widths = vec![rows.sqrt().recip(); PLANES.len()];
    let mut ridge = Vec::new();
    for round in 0..ROUNDS {
        if round == ROUNDS / 2 {
            let angle = |point: usize| std::f64::consts::FRAC_PI_2 * point as f64 / RIDGE_POINTS as f64;
            ridge = (0..=RIDGE_POINTS)
                .map(|point| Ok((angle(point), ratio(&mode, &turned(&mode, PLANES[RIDGE], angle(point)))?)))
                .collect::<Result<Vec<_>>>()?;
            let best =
                ridge.iter().copied().fold((0.0, 0.0), |best, at| if at.1 > best.1 { at } else { best });
            ridge.iter_mut().for_each(|at| at.1 -= best.1);
            mode = turned(&mode, PLANES[RIDGE], best.0);
        }
        for (plane, width) in PLANES.into_iter().zip(&mut widths) {
            let h = *width;
            let (up, down) =
                (ratio(&mode, &turned(&mode, plane, h))?, ratio(&mode, &turned(&mode, plane, -h))?);
            let (slope, curvature) = ((up - down) / (2.0 * h), -(up + down) / (h * h));
            if curvature > 0.0 {
                mode = turned(&mode, plane, (slope / curvature).clamp(-20.0 * h, 20.0 * h));
            }
            // Where it is not curved, or very little, look further; a quarter turn is all there is.
            *width = if curvature > 1.0 / (16.0 * h * h) { curvature.sqrt().recip() } else { 4.0 * h };
            *width = width.clamp(1e-9, 0.4);
        }
        mode = nearest_frame(SOURCES, SOURCES, &mode)?;
    }
    let chains: Vec<u32> = (0..context.threads as u32).collect();
    let each = (steps / chains.len()).max(20);
    let runs = parallel::each(context.threads, &chains, |_, &chain| {
        run(context, problem, (&mode, &widths), (each, chain))
    })?;
    let skipped = (BURN_IN * each as f64) as usize;
    let kept: Vec<Vec<f64>> = runs.iter().map(|run| run.distances[skipped..].to_vec()).collect();
    let all: Vec<f64> = kept.iter().flatten().copied().collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let sd = (all.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (all.len() - 1) as f64).sqrt();
    let effective = ess_mean(&kept.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let per = STARTS.div_ceil(runs.len());
    let starts = runs.iter().flat_map(|run| {
        let states = &run.states[skipped..];
        (0..per).map(move |k| states[k * states.len() / per].clone())
    });
    Ok(Stationary {
        widths,
        ridge,
        mean,
        standard_error: sd / effective.sqrt(),
        sd,
        effective,
        steps: all.len(),
        acceptance: runs.iter().map(|run| run.accepted as f64).sum::<f64>() / (each * runs.len()) as f64,
        starts: starts.collect(),
    })
}

struct Run {
    distances: Vec<f64>,
    states: Vec<Vec<f64>>,
    accepted: u64,
}

/// One exact chain whose rotations have the widths of the posterior.
fn run(
    context: &Context,
    problem: &Problem,
    (start, widths): (&[f64], &[f64]),
    (steps, chain): (usize, u32),
) -> Result<Run> {
    let model = &problem.model;
    let scale = 2.38 / (PLANES.len() as f64).sqrt();
    let walk = Stiefel::rotations(SOURCES, widths.iter().map(|width| scale * width).collect())?;
    let order = BlockOrder::new(model.len(), austerity::BLOCK_ROWS, context.seed, chain)?;
    let mut state = start.to_vec();
    let mut kernel = Metropolis::new(model, walk, Exact::default(), order, &state)?;
    // Chains of the experiment are numbered from 0; these come far behind.
    let mut streams = Streams::new(context.seed, 1_000 + chain);
    let mut run =
        Run { distances: Vec::with_capacity(steps), states: Vec::with_capacity(steps), accepted: 0 };
    for step in 0..steps {
        if context.stopped() {
            return Err(Error::Interrupted);
        }
        if chain == 0 && step % 64 == 0 {
            context.stage("the posterior by a long exact run", 0.02 + 0.4 * step as f64 / steps as f64)?;
        }
        streams.begin(step as u64);
        run.accepted += u64::from(kernel.step(&mut state, &mut streams)?.accepted);
        run.distances.push(amari_distance(SOURCES, &state, &problem.mixing)?);
        run.states.push(state.clone());
    }
    Ok(run)
}
