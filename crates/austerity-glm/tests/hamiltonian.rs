//! Hamiltonian paths under the sampler: exact for every differentiable model, right against known posteriors, the same
//! draws on any number of threads and after a resumption.
//!
//! Invariance without waiting for convergence (Geweke 2004): θ from the prior, data given θ, a few steps to θ'. Then
//! (θ', data) has the law of (θ, data), so f(θ', data) − f(θ, data) has mean zero for every f. Each f is a z-test within
//! 4.5 standard errors, false-alarm rate 7e-6; 41 of them and 12 distances below: 4e-4 in the file, seeds fixed. The
//! partners drop the kinetic energy, or halve it, and must be found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{self, Joint, design, normal, predictor};
use austerity::Result;
use austerity::diagnostics::{mcse_mean, mcse_sd};
use austerity::kernel::Metropolis;
use austerity::model::{Gradient, Parameters, find_mode};
use austerity::population::BlockOrder;
use austerity::proposal::{Hamiltonian, Path, Proposal, Proposed, RandomWalk};
use austerity::rng::{Rng, Role, stream};
use austerity::rule::{Exact, RuleSettings, SequentialSettings};
use austerity::run::{Checkpoint, Control, Ended, Run, Sampler, Settings, Silent};
use austerity_glm::{Data, Glm, Linear, Logistic, Noise, Prior, ResponseKind, generate};
use nalgebra::{DMatrix, DVector};

/// Standard errors within which an exact kernel must be.
const WITHIN: f64 = 4.5;
const ROWS: usize = 100;
const REPEATS: u32 = 1500;
const STEPS: u64 = 3;

/// Paths whose log ratio is multiplied by a factor: 1 is right.
#[derive(Clone)]
struct Scaled<P>(P, f64);

impl<P: Proposal<Vec<f64>>> Proposal<Vec<f64>> for Scaled<P> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let ratio = self.0.propose(from, to, rng)?.log_ratio;
        Ok(if ratio.is_finite() { self.1 * ratio } else { ratio }.into())
    }
}

/// The largest |z| over the coordinates, their squares and the log-likelihood; and the acceptance rate.
fn drift<M: Gradient<State = Vec<f64>>>(
    joint: impl Fn(&mut Rng) -> Joint<M>,
    shape: &RandomWalk,
    length: f64,
    factor: f64,
) -> (f64, f64) {
    let mut drift = common::Drift::default();
    for number in 0..REPEATS {
        let Joint { state, model } = joint(&mut stream(2004, number, Role::Data));
        let path = Path { length, steps: 2..=5, jitter: 0.2, target: None };
        let paths = Scaled(Hamiltonian::new(&model, shape, path).unwrap(), factor);
        let order = BlockOrder::new(model.len(), 32, 5, number).unwrap();
        let mut kernel = Metropolis::new(&model, paths, Exact::default(), order, &state).unwrap();
        drift.follow(&model, &state, &mut kernel, (number, STEPS));
    }
    drift.found()
}

fn exact<M: Gradient<State = Vec<f64>>>(
    what: &str,
    joint: impl Fn(&mut Rng) -> Joint<M>,
    sd: &[f64],
    length: f64,
) {
    let shape = RandomWalk::diagonal(sd.to_vec()).unwrap();
    let (z, acceptance) = drift(&joint, &shape, length, 1.0);
    println!("{what}: |z| {z:.2}, acceptance {acceptance:.3}");
    assert!((0.4..0.97).contains(&acceptance), "{what}: the decision hardly matters, accepted {acceptance}");
    assert!(z < WITHIN, "{what}: {z} standard errors");
}

const NORMAL: [Prior; 3] = [Prior::normal(1.0); 3];

fn logistic(rng: &mut Rng) -> Joint<Glm<Logistic>> {
    common::logistic(ROWS, &NORMAL, rng)
}

#[test]
fn paths_leave_every_differentiable_posterior_invariant() {
    exact("logistic", logistic, &[0.3, 0.3, 0.25], 0.9);
    let small = [0.5, 0.3, 0.3].map(Prior::normal);
    let poisson = |rng: &mut Rng| common::poisson(ROWS, &small, rng);
    exact("Poisson", poisson, &[0.1, 0.08, 0.07], 0.7);
    let heavy = [Prior::student(3.0, 1.0), NORMAL[0], NORMAL[1], Prior::normal(0.5)];
    let student = |rng: &mut Rng| common::student(ROWS, 4.0, &heavy, rng);
    exact("Student", student, &[0.12, 0.1, 0.09, 0.1], 0.8);
    let priors = [2.0, 1.0, 1.0, 0.5].map(Prior::normal);
    let linear = |rng: &mut Rng| common::linear(ROWS, &priors, rng);
    exact("linear", linear, &[0.12, 0.1, 0.09, 0.08], 0.8);
    exact("lasso", |rng: &mut Rng| common::lasso(ROWS, 4.0, rng), &[0.1], 1.3);
}

#[test]
fn a_wrong_kinetic_energy_is_found_out() {
    let shape = RandomWalk::diagonal(vec![0.3, 0.3, 0.25]).unwrap();
    for factor in [0.0, 0.5] {
        let (z, acceptance) = drift(logistic, &shape, 0.9, factor);
        println!("kinetic energy times {factor}: |z| {z:.2}, acceptance {acceptance:.3}");
        assert!(z > WITHIN, "times {factor} passes the test that the right one passes: {z}");
    }
}

fn run<'m, M>(
    model: &'m M,
    settings: &Settings,
    shape: &RandomWalk,
    start: &[f64],
) -> Run<Vec<f64>, Hamiltonian<&'m M>>
where
    M: Gradient<State = Vec<f64>> + Parameters,
{
    let paths = Hamiltonian::new(model, shape, Path::default()).unwrap();
    let sampler = Sampler::new(model, settings, &paths, &[start.to_vec()]).unwrap();
    sampler.run(&Control::new(), &mut Silent)
}

/// Distances of mean and sd of a parameter from the answer, in Monte Carlo standard errors.
fn distances<S, P>(run: &Run<S, P>, parameter: usize, mean: f64, sd: f64) -> [f64; 2] {
    let draws = run.trace.parameter(parameter);
    let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
    let n = draws.iter().map(Vec::len).sum::<usize>() as f64;
    let found = draws.iter().flatten().sum::<f64>() / n;
    let spread = (draws.iter().flatten().map(|v| (v - found).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    [(found - mean) / mcse_mean(&chains), (spread - sd) / mcse_sd(&chains)]
}

const NOISE: f64 = 1.5;

/// A conjugate posterior: normal with precision X'X/σ² + I. Isotropic and dense shapes agree with it, and the dense
/// one reaches its target acceptance; a chain of the same length with the noise sd mistaken by 5 % would be seen.
#[test]
fn the_linear_model_has_its_conjugate_posterior() {
    let mut rng = stream(21, 0, Role::Data);
    let columns = design(2000, 2, &mut rng);
    let truth = [0.8, -0.3, 0.1];
    let response: Vec<f64> =
        (0..2000).map(|i| predictor(&truth, &columns, i) + NOISE * normal(&mut rng)).collect();
    let x = DMatrix::from_fn(2000, 3, |i, j| if j == 0 { 1.0 } else { columns[j - 1][i] });
    let y = DVector::from_column_slice(&response);
    let data = Data::new(["a", "b"], columns, response).check(ResponseKind::Real).unwrap();
    let model = Linear::new(&data, NORMAL, Noise::Known { sd: NOISE }).unwrap();
    let precision = x.transpose() * &x / (NOISE * NOISE) + DMatrix::identity(3, 3);
    let covariance = precision.try_inverse().unwrap();
    let mean = &covariance * x.transpose() * y / (NOISE * NOISE);
    let shapes = [
        RandomWalk::dense(3, covariance.as_slice()).unwrap(),
        RandomWalk::isotropic(3, covariance[(1, 1)].sqrt()).unwrap(),
    ];
    for shape in shapes {
        let settings = Settings { chains: 4, warmup: 500, draws: 10_000, seed: 42, ..Settings::default() };
        let run = run(&model, &settings, &shape, mean.as_slice());
        assert_eq!(run.ended, Ended::Draws);
        let acceptance = run.counters().acceptance();
        let each: Vec<f64> =
            (0..3).flat_map(|j| distances(&run, j, mean[j], covariance[(j, j)].sqrt())).collect();
        println!("acceptance {acceptance:.3}, distances {each:.2?}");
        assert!(each.iter().all(|d| d.abs() < WITHIN), "{each:?}");
        assert!((acceptance - 0.8).abs() < 0.1, "the target was 0.8: {acceptance}");
        let wrong = distances(&run, 1, mean[1], 1.05 * covariance[(1, 1)].sqrt())[1];
        assert!(wrong.abs() > WITHIN, "no power: {wrong}");
    }
}

/// A logistic posterior of one coefficient, by the trapezoid rule: exact HMC and the exact random walk both have it.
#[test]
fn the_logistic_model_has_the_posterior_of_quadrature() {
    let made = generate::logistic(600, 1).seed(9).build().unwrap();
    let data = made.data.intercept(false).check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, vec![Prior::normal(0.1)]).unwrap();
    let mode = find_mode(&model, &[0.0]).unwrap();
    let (centre, width) = (mode.state[0], mode.covariance[0].sqrt());
    let density = |b: f64| {
        let row = |(x, y): (&f64, &f64)| y * b * x - (b * x).max(0.0) - (-(b * x).abs()).exp().ln_1p();
        data.columns[0].iter().zip(&data.response).map(row).sum::<f64>() - 50.0 * b * b
    };
    let highest = density(centre);
    let grid: Vec<f64> = (-30..=30).map(|i| centre + width * f64::from(i) / 5.0).collect();
    let weights: Vec<f64> = grid.iter().map(|&b| (density(b) - highest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean = grid.iter().zip(&weights).map(|(b, w)| b * w).sum::<f64>() / total;
    let sd = (grid.iter().zip(&weights).map(|(b, w)| (b - mean).powi(2) * w).sum::<f64>() / total).sqrt();
    let shape = RandomWalk::dense(1, &mode.covariance).unwrap();
    let settings = Settings { chains: 4, warmup: 200, draws: 2_000, seed: 8, ..Settings::default() };
    let paths = run(&model, &settings, &shape, &mode.state);
    let walk = RandomWalk::for_posterior(1, &mode.covariance).unwrap();
    let walk =
        Sampler::new(&model, &settings, &walk, &[mode.state]).unwrap().run(&Control::new(), &mut Silent);
    let each = [distances(&paths, 0, mean, sd), distances(&walk, 0, mean, sd)];
    println!("paths {:.2?}, walk {:.2?}", each[0], each[1]);
    assert!(each.iter().flatten().all(|d| d.abs() < WITHIN), "{each:?}");
}

fn small() -> Glm<Logistic> {
    let data = generate::logistic(700, 3).seed(3).build().unwrap().data.check(ResponseKind::Binary).unwrap();
    Glm::new(Logistic, &data, vec![Prior::normal(1.0); 4]).unwrap()
}

#[test]
fn threads_resumptions_and_epsilon_zero_change_no_draw() {
    let model = small();
    let shape = RandomWalk::isotropic(4, 0.1).unwrap();
    let settings = |draws, threads, rule| Settings {
        chains: 3,
        warmup: 40,
        draws,
        threads,
        seed: 11,
        rule,
        ..Settings::default()
    };
    let exact = RuleSettings::default();
    let start = [0.0; 4];
    let whole = run(&model, &settings(60, 1, exact.clone()), &shape, &start);
    assert_eq!(run(&model, &settings(60, 3, exact.clone()), &shape, &start).trace, whole.trace);

    let first = run(&model, &settings(25, 2, exact.clone()), &shape, &start);
    let plain = first.checkpoint.map(|paths| Ok(paths.path().clone())).unwrap();
    let text = serde_json::to_string(&plain).unwrap();
    let plain: Checkpoint<Vec<f64>, Path> = serde_json::from_str(&text).unwrap();
    let checkpoint = plain.map(|path| Hamiltonian::new(&model, &shape, path)).unwrap();
    let rest = Sampler::resume(&model, &settings(60, 2, exact), checkpoint).unwrap();
    let rest = rest.run(&Control::new(), &mut Silent);
    let mut trace = first.trace;
    trace.append(rest.trace);
    assert_eq!(trace, whole.trace);

    let none = RuleSettings::Sequential(SequentialSettings::constant(64, 0.0));
    let sequential = run(&model, &settings(60, 2, none), &shape, &start);
    let values = |run: &Run<Vec<f64>, Hamiltonian<&Glm<Logistic>>>| {
        run.trace.chains.iter().flat_map(|chain| chain.values.clone()).collect::<Vec<_>>()
    };
    assert_eq!(values(&sequential), values(&whole));
}
