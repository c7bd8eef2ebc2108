//! Langevin proposals leave the posterior invariant when they are tested, and only then.
//!
//! Many independent chains start at exact draws from a posterior that is known; after some steps each is still a draw from it if the
//! kernel is exact, whatever its mixing. Pearson's test over 20 equal cells of the probability transform of where they end: false-alarm
//! rate 1e-5 per verdict of "exact" (14 verdicts, 1.4e-4 in all), exact up to the chi-square approximation with 200 expected per cell; seeds
//! are fixed. The partners, wrong on purpose, must be found out at the same level.
//!
//! Posteriors: the paper's toy at a tenth of its rows (closed form), a logistic regression under a sharp Laplace prior (quadrature), a
//! linear regression (normal).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common;
use austerity::Result;
use austerity::kernel::{Kernel, Metropolis, Uncorrected};
use austerity::model::{Gradient, find_mode};
use austerity::population::{Batch, BlockOrder};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::{Rng, Role, Streams, stream};
use austerity::rule::{AnyRule, RuleSettings, SequentialSettings};
use austerity::run::{Control, Sampler, Settings, Silent};
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity_glm::gradients::{At, BatchGradient, MiniBatch};
use austerity_glm::proposal::{FisherScoring, Langevin, LangevinPlan, empirical_information};
use austerity_glm::{Glm, Linear, Logistic, Noise, Prior, ResponseKind, Surrogate, generate};
use austerity_models::Lasso;
use nalgebra::{DMatrix, DVector};
use rand::RngExt as _;
use statrs::distribution::{ContinuousCDF as _, Normal};

const CHAINS: u32 = 6000;
const STEPS: u64 = 25;
const CELLS: usize = 20;
const ALARM: f64 = 1e-5;

/// A posterior of one coefficient whose distribution function is known.
struct Known<M> {
    model: M,
    cumulative: Box<dyn Fn(f64) -> f64>,
    quantile: Box<dyn Fn(f64) -> f64>,
    /// Exact draws.
    starts: Vec<f64>,
}

impl<M> Known<M> {
    fn new(model: M, cumulative: Box<dyn Fn(f64) -> f64>, quantile: Box<dyn Fn(f64) -> f64>) -> Self {
        let starts = (0..CHAINS).map(|chain| quantile(stream(31, chain, Role::Start).random())).collect();
        Self { model, cumulative, quantile, starts }
    }
}

/// The toy of the paper with 1,000 rows of ten times the precision: posterior sd .01, mode a little right of the kink.
fn toy() -> Known<Lasso> {
    for attempt in 0.. {
        let mut rng = stream(5, attempt, Role::Data);
        let x: Vec<f64> = (0..1000).map(|_| rng.random_range(-1.0..1.0)).collect();
        let y: Vec<f64> = x.iter().map(|x| 0.5 * x + common::normal(&mut rng) / 30f64.sqrt()).collect();
        let model = Lasso::new(&x, &y, 30.0, 4950.0).unwrap();
        let posterior = *model.posterior();
        if (0.002..0.008).contains(&posterior.mode()) {
            let cumulative = Box::new(move |x| posterior.cumulative(x));
            return Known::new(model, cumulative, Box::new(move |u| posterior.quantile(u)));
        }
    }
    unreachable!("the range of attempts has no end")
}

/// One coefficient of 400 binary responses; the prior pulls it to a kink at 0, about an sd away. By quadrature.
fn logistic() -> Known<Glm<Logistic>> {
    let data = generate::logistic(400, 1).seed(4).build().unwrap().data.intercept(false);
    let data = data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, vec![Prior::laplace(0.04)]).unwrap();
    let points: Vec<f64> = (0..=8000).map(|i| -1.0 + f64::from(i) / 4000.0).collect();
    let logs: Vec<f64> =
        points.iter().map(|&x| model.log_density_gradient(&vec![x], &mut [0.0]).unwrap()).collect();
    let top = logs.iter().copied().fold(f64::MIN, f64::max);
    let mut sums = vec![0.0];
    for pair in logs.windows(2) {
        sums.push(sums[sums.len() - 1] + 0.5 * ((pair[0] - top).exp() + (pair[1] - top).exp()));
    }
    let total = sums[sums.len() - 1];
    let table: Vec<(f64, f64)> = points.into_iter().zip(sums.into_iter().map(|s| s / total)).collect();
    let between = |value: f64, low: (f64, f64), high: (f64, f64)| {
        let share = (value - low.0) / (high.0 - low.0);
        low.1 + share.clamp(0.0, 1.0) * (high.1 - low.1)
    };
    let other = table.clone();
    let cumulative = Box::new(move |x: f64| {
        let i = table.partition_point(|entry| entry.0 <= x).clamp(1, table.len() - 1);
        between(x, table[i - 1], table[i])
    });
    let quantile = Box::new(move |u: f64| {
        let i = other.partition_point(|entry| entry.1 <= u).clamp(1, other.len() - 1);
        between(u, (other[i - 1].1, other[i - 1].0), (other[i].1, other[i].0))
    });
    Known::new(model, cumulative, quantile)
}

/// The state `STEPS` steps after `start`.
fn walked(mut kernel: impl Kernel<State = Vec<f64>>, start: &[f64], chain: u32) -> Vec<f64> {
    let mut state = start.to_vec();
    let mut streams = Streams::new(31, chain);
    for step in 0..STEPS {
        streams.begin(step);
        kernel.step(&mut state, &mut streams).unwrap();
    }
    state
}

fn exact() -> AnyRule {
    RuleSettings::default().build(1000).unwrap()
}

/// p-value that chains under `proposal`, tested exactly or not at all, still have the posterior's law.
fn p_value<M, P>(known: &Known<M>, proposal: &P, tested: bool) -> f64
where
    M: BatchGradient,
    P: Proposal<Vec<f64>> + Clone,
{
    let mut counts = [0; CELLS];
    for chain in 0..CHAINS {
        let start = vec![known.starts[chain as usize]];
        let end = if tested {
            let order = BlockOrder::new(known.model.len(), 32, 31, chain).unwrap();
            let kernel = Metropolis::new(&known.model, proposal.clone(), exact(), order, &start).unwrap();
            walked(kernel, &start, chain)
        } else {
            walked(Uncorrected::new(proposal.clone(), &start), &start, chain)
        };
        let place = (known.cumulative)(end[0]) * CELLS as f64;
        counts[(place as usize).min(CELLS - 1)] += 1;
    }
    common::uniformity(&counts)
}

/// What a proposal may get wrong.
#[derive(Clone, Copy)]
enum Mistake {
    /// Nothing: the same mini-batch in both directions, of a size that the state has no say in.
    None,
    /// The density of the reverse is forgotten.
    Forgotten,
    /// The reverse uses the gradient at the state that is left.
    Stale,
    /// All rows right of here, a mini-batch left of it: the reverse is not drawn as the way there was.
    SizeByState(f64),
}

/// SGLD written out, with a mistake.
#[derive(Clone)]
struct Plain<'m, M> {
    model: &'m M,
    few: MiniBatch,
    all: MiniBatch,
    variance: f64,
    mistake: Mistake,
}

impl<'m, M: BatchGradient> Plain<'m, M> {
    fn new(model: &'m M, mistake: Mistake) -> Self {
        let batches = |rows| MiniBatch::new(model.len(), rows).unwrap();
        Self { model, few: batches(ROWS), all: batches(model.len()), variance: VARIANCE, mistake }
    }

    fn mean(&self, state: f64, batch: Batch<'_>) -> f64 {
        let mut gradient = [0.0];
        self.model
            .stochastic_gradient(At { state: &[state], batch }, &mut Default::default(), &mut gradient)
            .unwrap();
        state + 0.5 * self.variance * gradient[0]
    }
}

impl<M: BatchGradient> Proposal<Vec<f64>> for Plain<'_, M> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let from = from[0];
        let whole = matches!(self.mistake, Mistake::SizeByState(limit) if from > limit);
        let batches = if whole { &mut self.all } else { &mut self.few };
        batches.draw(rng);
        let batch = if whole { self.all.last() } else { self.few.last() };
        let mean = self.mean(from, batch);
        to[0] = mean + self.variance.sqrt() * common::normal(rng);
        let back = match self.mistake {
            Mistake::None | Mistake::SizeByState(_) => self.mean(to[0], batch),
            Mistake::Forgotten => return Ok(0.0.into()),
            Mistake::Stale => to[0] + (mean - from),
        };
        Ok((((to[0] - mean).powi(2) - (from - back).powi(2)) / (2.0 * self.variance)).into())
    }
}

fn passes(what: &str, p: f64) {
    println!("{what}: p = {p:.3e}");
    assert!(p > ALARM, "{what} is not exact: p = {p:e}");
}

fn fails(what: &str, p: f64) {
    println!("{what}: p = {p:.3e}");
    assert!(p < ALARM, "{what} was not found out: p = {p:e}");
}

/// α of the paper's toy, and rows of a mini-batch that make the error of the gradient about as large as the injected noise.
const VARIANCE: f64 = 5e-6;
const ROWS: usize = 64;

#[test]
fn tested_langevin_steps_leave_the_toys_posterior_as_it_is() {
    let known = toy();
    let langevin = Langevin::new(&known.model, VARIANCE, ROWS).unwrap();
    passes("SGLD", p_value(&known, &langevin, true));
    passes("SGLD, fresh reverse", p_value(&known, &langevin.clone().fresh_reverse(), true));
    passes("whole gradient", p_value(&known, &Langevin::new(&known.model, VARIANCE, 1000).unwrap(), true));
    passes("written out", p_value(&known, &Plain::new(&known.model, Mistake::None), true));
}

#[test]
fn tested_fisher_scoring_leaves_the_toys_posterior_as_it_is() {
    let known = toy();
    let all = Batch { blocks: &[0], block_rows: 1000, population: 1000 };
    let information = empirical_information(&known.model, &[known.model.posterior().mode()], all).unwrap();
    let scoring = FisherScoring::new(&known.model, &information, 0.2, ROWS).unwrap();
    passes("Fisher scoring", p_value(&known, &scoring, true));
    passes("Fisher scoring, fresh reverse", p_value(&known, &scoring.fresh_reverse(), true));
}

/// The same posterior, its rows residuals of an expansion.
fn expanded(order: u8) -> Known<Surrogate<GlmExpansion<Logistic>>> {
    let Known { model, cumulative, quantile, .. } = logistic();
    let settings = ExpansionSettings { order, ..ExpansionSettings::default() };
    let expansion = GlmExpansion::new(&model, &[0.0], &settings).unwrap();
    Known::new(Surrogate::new(expansion), cumulative, quantile)
}

#[test]
fn control_variate_steps_leave_the_logistic_posterior_as_it_is() {
    for order in [1, 2] {
        let known = expanded(order);
        let covariance = known.model.expansion().covariance().to_vec();
        let langevin = Langevin::preconditioned(&known.model, &covariance, ROWS).unwrap();
        passes("control variates", p_value(&known, &langevin, true));
        passes("control variates, fresh reverse", p_value(&known, &langevin.fresh_reverse(), true));
        let plan =
            LangevinPlan::pilot(&known.model, known.model.expansion().mode(), &covariance, 1.2, 1).unwrap();
        passes("as planned", p_value(&known, &plan.build(&known.model).unwrap(), true));
        let forgetful = Plain { variance: covariance[0], ..Plain::new(&known.model, Mistake::Forgotten) };
        fails("control variates without the density of the reverse", p_value(&known, &forgetful, true));
    }
}

#[test]
fn untested_steps_are_found_out() {
    let known = toy();
    let langevin = Langevin::new(&known.model, VARIANCE, ROWS).unwrap();
    fails("uncorrected SGLD", p_value(&known, &langevin, false));
    let whole = Langevin::new(&known.model, VARIANCE, 1000).unwrap();
    fails("uncorrected whole gradient", p_value(&known, &whole, false));
    let scoring = FisherScoring::new(&known.model, &[1e4], 0.2, ROWS).unwrap();
    fails("uncorrected Fisher scoring", p_value(&known, &scoring, false));
}

#[test]
fn wrong_reverses_are_found_out() {
    let known = toy();
    let p_value = |mistake| p_value(&known, &Plain::new(&known.model, mistake), true);
    fails("reverse forgotten", p_value(Mistake::Forgotten));
    fails("reverse by the gradient left behind", p_value(Mistake::Stale));
    fails("size of the mini-batch by the state", p_value(Mistake::SizeByState((known.quantile)(0.5))));
}

#[test]
fn a_logistic_posterior_is_left_as_it_is_by_tested_steps_only() {
    let known = logistic();
    let langevin = Langevin::new(&known.model, 2e-3, 64).unwrap();
    passes("logistic", p_value(&known, &langevin, true));
    passes("logistic, fresh reverse", p_value(&known, &langevin.clone().fresh_reverse(), true));
    fails("logistic, uncorrected", p_value(&known, &langevin, false));
    let all = Batch { blocks: &[0], block_rows: 400, population: 400 };
    let information = empirical_information(&known.model, &[0.1], all).unwrap();
    let scoring = FisherScoring::new(&known.model, &information, 0.5, 64).unwrap();
    passes("logistic, Fisher scoring", p_value(&known, &scoring, true));
}

/// Three coefficients with a normal posterior: whitened, each coordinate of where the chains end is standard normal.
#[test]
fn a_normal_posterior_in_three_dimensions_is_left_as_it_is() {
    let data = generate::linear(600, 2).correlated(true).seed(4).build().unwrap().data;
    let data = data.check(ResponseKind::Real).unwrap();
    let model = Linear::new(&data, [Prior::normal(1.0); 3], Noise::Known { sd: 1.0 }).unwrap();
    let mode = find_mode(&model, &[0.0; 3]).unwrap();
    let lower = DMatrix::from_row_slice(3, 3, &mode.covariance).cholesky().unwrap().unpack();
    let centre = DVector::from_vec(mode.state.clone());
    let information: Vec<f64> =
        DMatrix::from_row_slice(3, 3, &mode.covariance).try_inverse().unwrap().iter().copied().collect();
    let p_value = |step: f64, tested: bool| {
        let scoring = FisherScoring::new(&model, &information, step, 96).unwrap();
        let mut counts = [[0; CELLS]; 3];
        for chain in 0..CHAINS {
            let mut rng = stream(33, chain, Role::Start);
            let start = &centre + &lower * DVector::from_fn(3, |_, _| common::normal(&mut rng));
            let start: Vec<f64> = start.iter().copied().collect();
            let end = if tested {
                let order = BlockOrder::new(600, 32, 33, chain).unwrap();
                walked(
                    Metropolis::new(&model, scoring.clone(), exact(), order, &start).unwrap(),
                    &start,
                    chain,
                )
            } else {
                walked(Uncorrected::new(scoring.clone(), &start), &start, chain)
            };
            let white = lower.solve_lower_triangular(&(DVector::from_vec(end) - &centre)).unwrap();
            for (counts, z) in counts.iter_mut().zip(&white) {
                let place = Normal::standard().cdf(*z) * CELLS as f64;
                counts[(place as usize).min(CELLS - 1)] += 1;
            }
        }
        3.0 * counts.iter().map(|counts| common::uniformity(counts)).fold(1.0, f64::min)
    };
    passes("linear, Fisher scoring", p_value(0.3, true));
    // Without a test it is right on a normal posterior only as far as its information is: half of it is not enough.
    let half: Vec<f64> = information.iter().map(|value| 0.5 * value).collect();
    let scoring = FisherScoring::new(&model, &half, 4.0, 96).unwrap();
    let mut spread = 0.0;
    for chain in 0..1000 {
        let end = walked(Uncorrected::new(scoring.clone(), &mode.state), &mode.state, chain);
        let white = lower.solve_lower_triangular(&(DVector::from_vec(end) - &centre)).unwrap();
        spread += white.norm_squared() / 3000.0;
    }
    assert!((spread - 1.0).abs() > 0.2, "mean square of a whitened coordinate {spread}");
}

/// A test that can never stop early decides as the exact rule does, bit for bit, and the mini-batches are not its rows.
#[test]
fn epsilon_zero_equals_exact_bit_for_bit() {
    let known = toy();
    let langevin = Langevin::new(&known.model, VARIANCE, ROWS).unwrap();
    let sequential = RuleSettings::Sequential(SequentialSettings::paper(100, 0.0)).build(1000).unwrap();
    let start = vec![0.004];
    let path = |rule: AnyRule| {
        let order = BlockOrder::new(1000, 32, 3, 0).unwrap();
        let mut kernel = Metropolis::new(&known.model, langevin.clone(), rule, order, &start).unwrap();
        let mut streams = Streams::new(3, 0);
        let mut state = start.clone();
        let mut accepted = 0;
        let path: Vec<u64> = (0..3000)
            .map(|step| {
                streams.begin(step);
                accepted += u32::from(kernel.step(&mut state, &mut streams).unwrap().accepted);
                state[0].to_bits()
            })
            .collect();
        assert!(accepted > 1000, "{accepted}");
        path
    };
    assert_eq!(path(exact()), path(sequential));
    let hasty = RuleSettings::Sequential(SequentialSettings::paper(100, 0.4)).build(1000).unwrap();
    assert_ne!(path(exact()), path(hasty));
}

/// The sampler takes it like any other proposal, on several threads, and stops and goes on bit for bit.
#[test]
fn a_sampler_runs_and_resumes_it() {
    let known = logistic();
    let langevin = Langevin::new(&known.model, 2e-3, 64).unwrap();
    let settings = Settings { warmup: 200, draws: 1500, chains: 2, threads: 2, ..Settings::default() };
    let start = [vec![0.05]];
    let run = |settings: &Settings| {
        Sampler::new(&known.model, settings, &langevin, &start).unwrap().run(&Control::new(), &mut Silent)
    };
    let whole = run(&settings);
    let half = run(&Settings { draws: 700, ..settings.clone() });
    let rest = Sampler::resume(&known.model, &settings, half.checkpoint).unwrap();
    let rest = rest.run(&Control::new(), &mut Silent);
    for (whole, rest) in whole.trace.chains.iter().zip(&rest.trace.chains) {
        assert_eq!(&whole.values[700..], &rest.values[..]);
    }
    let median = (known.quantile)(0.5);
    let summary = &whole.summary()[0];
    assert!((summary.mean - median).abs() < 0.05, "{summary:?} against a median of {median}");
}
