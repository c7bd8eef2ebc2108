//! Exactness of single transitions: does a step leave the posterior invariant, without waiting for a chain to
//! converge?
//!
//! The rank test of Gandy & Scott (2020, "Unit testing for MCMC and other Monte Carlo methods", arXiv 2001.06465,
//! section 4.2). Draw θ from the prior and data given θ; then θ is a draw from the posterior. Put it at a random place M
//! of a path of L states and fill the path by a kernel that is reversible for the posterior, forwards after M and
//! backwards before it. The rank of f(θ_M, data) among the f of the whole path, ties broken at random, is uniform
//! on 0, …, L−1: exactly, for every f and every length. f: each coordinate, the log prior, the log-likelihood.
//!
//! p-values of Pearson's chi-square over the ranks, Bonferroni over f, combined by their sequential scheme
//! (Algorithm 3): at most five rounds, the later ones four times as long, only when the earlier were suspicious. The
//! false-alarm rate of one verdict is 1e-5 (as good as the chi-square approximation with at least 100 expected per
//! cell); the file gives 21 verdicts of "exact", so 2.1e-4 in all, and its seeds are fixed. The partners, each
//! biased on purpose, must be found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{self, Joint, normal};
use austerity::Result;
use austerity::kernel::{Kernel, Metropolis};
use austerity::model::Model;
use austerity::population::{Access, BlockOrder, Reveal};
use austerity::proposal::{AnyProposal, Mixture, Proposal, Proposed, RandomWalk, RobustAdaptive};
use austerity::rng::{Rng, Role, Streams, stream};
use austerity::rule::{Decision, Exact, Law, Rule, RuleSettings, SequentialSettings};
use austerity_glm::Prior;
use rand::RngExt as _;

/// Rows: not a multiple of the block.
const ROWS: usize = 150;
/// States of a path, and steps between them.
const PATH: usize = 10;
const STRIDE: usize = 4;
/// False-alarm rate of one verdict, rounds at most, paths of the first round, growth after it.
const ALARM: f64 = 1e-5;
const ROUNDS: i32 = 5;
const PATHS: u32 = 1000;
const GROWTH: u32 = 4;

/// A verdict and the p-value (Bonferroni over the test functions) of the last round.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    exact: bool,
    p: f64,
}

/// `count` states, each `STRIDE` steps from the one before, the first as far from `start`.
fn walk<M, P, R>(model: &M, proposal: &P, rule: &R, chain: u32, start: &[f64], count: usize) -> Vec<Vec<f64>>
where
    M: Model<State = Vec<f64>>,
    P: Proposal<Vec<f64>> + Clone,
    R: for<'r> Rule<dyn Reveal + 'r> + Clone,
{
    let mut state = start.to_vec();
    let order = BlockOrder::new(model.len(), 1, 77, chain).unwrap();
    let mut kernel = Metropolis::new(model, proposal.clone(), rule.clone(), order, &state).unwrap();
    let mut streams = Streams::new(77, chain);
    let step = |step| {
        streams.begin(step as u64);
        kernel.step(&mut state, &mut streams).unwrap();
        state.clone()
    };
    (0..count * STRIDE).map(step).skip(STRIDE - 1).step_by(STRIDE).collect()
}

/// Ranks of the true state in a path, one per test function.
fn ranks<M, P, R>(joint: &Joint<M>, proposal: &P, rule: &R, number: u32, rng: &mut Rng) -> Vec<usize>
where
    M: Model<State = Vec<f64>>,
    P: Proposal<Vec<f64>> + Clone,
    R: for<'r> Rule<dyn Reveal + 'r> + Clone,
{
    let Joint { state, model } = joint;
    let place = rng.random_range(0..PATH);
    let mut others = walk(model, proposal, rule, 2 * number, state, place);
    others.extend(walk(model, proposal, rule, 2 * number + 1, state, PATH - 1 - place));
    let functions = |state: &Vec<f64>| {
        let mut values = state.clone();
        values.extend([model.log_prior(state), common::log_likelihood(model, state)]);
        values
    };
    let truth = functions(state);
    let others: Vec<Vec<f64>> = others.iter().map(functions).collect();
    let rank = |f: usize| {
        let below = others.iter().filter(|values| values[f] < truth[f]).count();
        let equal = others.iter().filter(|values| values[f] == truth[f]).count();
        below + rng.random_range(0..=equal)
    };
    (0..truth.len()).map(rank).collect()
}

/// The sequential rank test of a kernel on draws of `joint`; prints what came of it.
fn test<M, P, R>(what: &str, joint: impl Fn(&mut Rng) -> Joint<M>, proposal: &P, rule: &R) -> Verdict
where
    M: Model<State = Vec<f64>>,
    P: Proposal<Vec<f64>> + Clone,
    R: for<'r> Rule<dyn Reveal + 'r> + Clone,
{
    let mut level = ALARM / f64::from(ROUNDS);
    let suspicious = level.powf(1.0 / f64::from(ROUNDS));
    let (mut number, mut paths, mut p) = (0, PATHS, 1.0);
    for _ in 0..ROUNDS {
        let mut counts: Vec<[u64; PATH]> = Vec::new();
        for _ in 0..paths {
            let mut rng = stream(2020, number, Role::Data);
            let joint = joint(&mut rng);
            let ranks = ranks(&joint, proposal, rule, number, &mut rng);
            counts.resize(ranks.len(), [0; PATH]);
            counts.iter_mut().zip(ranks).for_each(|(count, rank)| count[rank] += 1);
            number += 1;
        }
        let smallest = counts.iter().map(|c| common::uniformity(c)).fold(1.0, f64::min);
        p = (smallest * counts.len() as f64).min(1.0);
        if p <= level {
            println!("{what}: found out, p = {p:e}");
            return Verdict { exact: false, p };
        }
        if p > suspicious + level {
            break;
        }
        level /= suspicious;
        paths = PATHS * GROWTH;
    }
    println!("{what}: exact, p = {p:e}");
    Verdict { exact: true, p }
}

fn passes<M, P, R>(what: &str, joint: impl Fn(&mut Rng) -> Joint<M>, proposal: &P, rule: &R)
where
    M: Model<State = Vec<f64>>,
    P: Proposal<Vec<f64>> + Clone,
    R: for<'r> Rule<dyn Reveal + 'r> + Clone,
{
    let verdict = test(what, joint, proposal, rule);
    assert!(verdict.exact, "{what} is not exact: p = {:e}", verdict.p);
}

fn fails<M, P, R>(what: &str, joint: impl Fn(&mut Rng) -> Joint<M>, proposal: &P, rule: &R)
where
    M: Model<State = Vec<f64>>,
    P: Proposal<Vec<f64>> + Clone,
    R: for<'r> Rule<dyn Reveal + 'r> + Clone,
{
    let verdict = test(what, joint, proposal, rule);
    assert!(!verdict.exact, "{what} was not found out: p = {:e}", verdict.p);
}

const NORMAL: [Prior; 3] = [Prior::normal(1.0); 3];

fn logistic(rng: &mut Rng) -> Joint<impl Model<State = Vec<f64>> + use<>> {
    common::logistic(ROWS, &NORMAL, rng)
}

/// Coefficients with normal priors, log σ with the last of them.
fn linear(rng: &mut Rng) -> Joint<austerity_glm::Linear> {
    let sd = [2.0, 1.0, 1.0, 0.5];
    common::linear(ROWS, &sd.map(Prior::normal), rng)
}

fn isotropic(dimension: usize, sd: f64) -> AnyProposal {
    RandomWalk::isotropic(dimension, sd).unwrap().into()
}

fn dense() -> RandomWalk {
    RandomWalk::dense(3, &[0.08, 0.03, 0.0, 0.03, 0.05, 0.02, 0.0, 0.02, 0.06]).unwrap()
}

/// An adaptive walk after a warm-up on another target: what it learnt is fixed before any test data are drawn.
fn adapted() -> RobustAdaptive {
    let mut walk = RobustAdaptive::new(&RandomWalk::isotropic(3, 0.3).unwrap(), 0.3).unwrap();
    let mut rng = stream(6, 0, Role::Start);
    let (mut state, mut to) = (vec![0.0; 3], vec![0.0; 3]);
    let density = |x: &[f64]| -20.0 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[0] * x[1]);
    for step in 1..500 {
        walk.propose(&state, &mut to, &mut rng).unwrap();
        let accepted = rng.random::<f64>().ln() < density(&to) - density(&state);
        if accepted {
            std::mem::swap(&mut state, &mut to);
        }
        walk.learn(accepted, step);
    }
    walk
}

/// Every proposal, for three coordinates.
fn proposals() -> Vec<(&'static str, AnyProposal)> {
    let adaptive = adapted();
    let mixture = Mixture::new(vec![
        (0.6, dense().into()),
        (0.3, isotropic(3, 0.1)),
        (0.1, AnyProposal::from(adaptive.clone())),
    ]);
    vec![
        ("isotropic walk", isotropic(3, 0.25)),
        ("diagonal walk", RandomWalk::diagonal(vec![0.3, 0.2, 0.15]).unwrap().into()),
        ("dense walk", dense().into()),
        ("adaptive walk", adaptive.into()),
        ("mixture", mixture.unwrap().into()),
    ]
}

/// An autoregressive proposal θ' = ρθ + √(1−ρ²)·z, reversible for the standard normal: its log ratio is
/// (|θ'|² − |θ|²)/2. Told otherwise, the kernel is wrong.
#[derive(Clone)]
struct Autoregressive {
    rho: f64,
    /// What the log ratio is multiplied by: 1 is right.
    factor: f64,
}

impl Proposal<Vec<f64>> for Autoregressive {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let spread = (1.0 - self.rho * self.rho).sqrt();
        to.iter_mut().zip(from).for_each(|(to, from)| *to = self.rho * from + spread * normal(rng));
        let square = |state: &[f64]| state.iter().map(|v| v * v).sum::<f64>();
        Ok((self.factor * 0.5 * (square(to) - square(from))).into())
    }
}

/// Exact but for one blunder.
#[derive(Clone, Copy)]
enum Blunder {
    /// Accepts what it should reject.
    WrongSign,
    /// Drops the prior and the proposal ratio.
    NoOffset,
    /// Draws a threshold of the wrong law: log u² instead of log u.
    SquaredUniform,
}

impl<'r> Rule<dyn Reveal + 'r> for Blunder {
    fn decide(&mut self, rows: &mut (dyn Reveal + 'r), offset: f64, rng: &mut Rng) -> Result<Decision> {
        let law = match self {
            Self::SquaredUniform => Law::Compensated { lambda: 0.5 },
            _ => Law::Metropolis,
        };
        let offset = if let Self::NoOffset = self { 0.0 } else { offset };
        let mut decision = Exact::new(law)?.decide(rows, offset, rng)?;
        if let Self::WrongSign = self {
            decision.accepted = -decision.mean > decision.threshold;
        }
        Ok(decision)
    }
    fn access(&self) -> Access {
        Access::Scan
    }
    fn first_look(&self) -> usize {
        usize::MAX
    }
}

/// Eighteen looks of eight single rows at ε, no guard.
fn hasty(epsilon: f64) -> impl for<'r> Rule<dyn Reveal + 'r> + Clone {
    let settings =
        SequentialSettings { guard: None, block_rows: 1, ..SequentialSettings::constant(8, epsilon) };
    RuleSettings::Sequential(settings).build(ROWS).unwrap()
}

#[test]
fn every_proposal_is_exact() {
    for (name, proposal) in proposals() {
        passes(name, logistic, &proposal, &Exact::default());
        passes(&format!("{name}, logistic law"), logistic, &proposal, &Exact::new(Law::Logistic).unwrap());
    }
    passes("autoregressive", logistic, &Autoregressive { rho: 0.95, factor: 1.0 }, &Exact::default());
}

#[test]
fn every_regression_is_exact() {
    let exact = Exact::default();
    let small = [0.5, 0.3, 0.3].map(Prior::normal);
    passes("Poisson", |rng: &mut Rng| common::poisson(ROWS, &small, rng), &isotropic(3, 0.1), &exact);
    let heavy = [Prior::student(3.0, 1.0), NORMAL[0], NORMAL[1], Prior::normal(0.5)];
    passes("Student", |rng: &mut Rng| common::student(ROWS, 4.0, &heavy, rng), &isotropic(4, 0.1), &exact);
    let sparse = [Prior::normal(1.0), Prior::laplace(0.5), Prior::laplace(0.5)];
    let laplace = |rng: &mut Rng| common::logistic(ROWS, &sparse, rng);
    passes("Laplace prior", laplace, &isotropic(3, 0.25), &exact);
    passes("Laplace prior, logistic law", laplace, &isotropic(3, 0.25), &Exact::new(Law::Logistic).unwrap());
}

#[test]
fn every_other_model_is_exact() {
    let exact = Exact::default();
    let walk = isotropic(4, 0.1);
    passes("linear", linear, &walk, &exact);
    passes("linear, logistic law", linear, &walk, &Exact::new(Law::Logistic).unwrap());
    let by_rows = |rng: &mut Rng| {
        let Joint { state, model } = linear(rng);
        Joint { state, model: model.by_rows().unwrap() }
    };
    passes("linear by rows", by_rows, &walk, &exact);
    passes("lasso", |rng: &mut Rng| common::lasso(ROWS, 4.0, rng), &isotropic(1, 0.1), &exact);
    passes("from_fn", |rng: &mut Rng| common::weibull(ROWS, rng), &isotropic(2, 0.12), &exact);
    // The sequential test whose bounds cannot be crossed is exact too.
    passes("epsilon 0", logistic, &isotropic(3, 0.25), &hasty(0.0));
}

/// Power: many hasty looks at ε = 0.3 are no Metropolis step, whatever the model.
#[test]
fn many_looks_at_a_large_epsilon_are_found_out() {
    fails("logistic, epsilon .3", logistic, &isotropic(3, 0.25), &hasty(0.3));
    fails("linear, epsilon .3", linear, &isotropic(4, 0.1), &hasty(0.3));
    fails(
        "from_fn, epsilon .3",
        |rng: &mut Rng| common::weibull(ROWS, rng),
        &isotropic(2, 0.12),
        &hasty(0.3),
    );
    fails(
        "lasso, epsilon .3",
        |rng: &mut Rng| common::lasso(ROWS, 4.0, rng),
        &isotropic(1, 0.1),
        &hasty(0.3),
    );
}

/// Power: a kernel with one mistake is found out.
#[test]
fn blunders_are_found_out() {
    let walk = isotropic(3, 0.25);
    fails("wrong sign", logistic, &walk, &Blunder::WrongSign);
    fails("squared uniform", logistic, &walk, &Blunder::SquaredUniform);
    let tight = |rng: &mut Rng| common::logistic(ROWS, &[Prior::normal(0.3); 3], rng);
    fails("no prior", tight, &walk, &Blunder::NoOffset);
    for factor in [0.0, -1.0] {
        let what = format!("proposal ratio times {factor}");
        fails(&what, logistic, &Autoregressive { rho: 0.95, factor }, &Exact::default());
    }
}
