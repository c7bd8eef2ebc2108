//! Hamiltonian paths on all rows, decided about the whole density: exact for every differentiable model, the same draws on any number of threads and after a resumption, and a pilot that sees how
//! many steps they need.
//!
//! Invariance as in `hamiltonian.rs` (Geweke 2004): θ from the prior, data given θ, a few steps to θ'; f(θ', data) − f(θ, data) has mean zero for every f. Each f is a z-test within 4.5
//! standard errors, false-alarm rate 7e-6; 23 of them: 2e-4 in the file, seeds fixed. The partners drop the kinetic energy, halve it, or accept everything, and must be found out.

use crate::common::{self, Joint};
use austerity::Result;
use austerity::kernel::Metropolis;
use austerity::model::{Gradient, covariance_at, find_mode};
use austerity::population::BlockOrder;
use austerity::proposal::{Proposal, Proposed, RandomWalk};
use austerity::rng::{Rng, Role, stream};
use austerity::rule::Exact;
use austerity::run::{Checkpoint, Control, Run, Sampler, Settings, Silent};
use austerity_glm::proposal::{StoredProposal, WholePathPlan, WholePaths};
use austerity_glm::{Glm, Logistic, Prior, ResponseKind, Whole, generate};

/// Standard errors within which an exact kernel must be.
const WITHIN: f64 = 4.5;
const ROWS: usize = 100;
const REPEATS: u32 = 1500;
const STEPS: u64 = 3;

/// What is done to the ratio of a path: 1 is right; `None` accepts everything.
#[derive(Clone)]
struct Mistaken<P>(P, Option<f64>);

impl<P: Proposal<Vec<f64>>> Proposal<Vec<f64>> for Mistaken<P> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let proposed = self.0.propose(from, to, rng)?;
        let log_ratio = match self.1 {
            Some(factor) if proposed.log_ratio.is_finite() => factor * proposed.log_ratio,
            None if proposed.log_ratio.is_finite() => 1e6,
            _ => proposed.log_ratio,
        };
        Ok(Proposed { log_ratio, ..proposed })
    }
}

/// The largest |z| over the coordinates, their squares and the log-likelihood; and the acceptance rate.
fn drift<M: Gradient<State = Vec<f64>>>(
    joint: impl Fn(&mut Rng) -> Joint<M>,
    sd: &[f64],
    steps: u32,
    factor: Option<f64>,
) -> (f64, f64) {
    let shape = RandomWalk::diagonal(sd.to_vec()).unwrap();
    let plan = WholePathPlan::of(steps);
    let mut drift = common::Drift::default();
    for number in 0..REPEATS {
        let Joint { state, model } = joint(&mut stream(2004, number, Role::Data));
        let whole = Whole::new(&model, u64::from(steps));
        let paths = Mistaken(plan.build(&model, &shape).unwrap(), factor);
        let order = BlockOrder::new(model.len(), 32, 5, number).unwrap();
        let mut kernel = Metropolis::new(&whole, paths, Exact::default(), order, &state).unwrap();
        drift.follow(&model, &state, &mut kernel, (number, STEPS));
    }
    drift.found()
}

fn logistic(rng: &mut Rng) -> Joint<Glm<Logistic>> {
    common::logistic(ROWS, &[Prior::normal(1.0); 3], rng)
}

/// Shapes are half as wide or twice as wide as the posterior, so that decisions matter.
#[test]
fn paths_on_all_rows_leave_every_posterior_invariant() {
    let small = [0.5, 0.3, 0.3].map(Prior::normal);
    let poisson = |rng: &mut Rng| common::poisson(ROWS, &small, rng);
    let heavy = [Prior::student(3.0, 1.0), Prior::normal(1.0), Prior::normal(1.0), Prior::normal(0.5)];
    let student = |rng: &mut Rng| common::student(ROWS, 4.0, &heavy, rng);
    let found = [
        ("logistic", drift(logistic, &[0.35, 0.3, 0.25], 1, Some(1.0))),
        ("Poisson", drift(poisson, &[0.1, 0.08, 0.07], 2, Some(1.0))),
        ("Student", drift(student, &[0.12, 0.1, 0.09, 0.1], 2, Some(1.0))),
    ];
    for (what, (z, acceptance)) in found {
        println!("{what}: |z| {z:.2}, acceptance {acceptance:.3}");
        assert!((0.3..0.97).contains(&acceptance), "{what}: the decision hardly matters: {acceptance}");
        assert!(z < WITHIN, "{what}: {z} standard errors");
    }
}

#[test]
fn wrong_decisions_about_them_are_found_out() {
    for factor in [Some(0.0), Some(0.5), None] {
        let (z, acceptance) = drift(logistic, &[0.35, 0.3, 0.25], 1, factor);
        println!("kinetic energy times {factor:?}: |z| {z:.2}, acceptance {acceptance:.3}");
        assert!(z > WITHIN, "{factor:?} passes the test that the right one passes: {z}");
    }
}

fn many(rows: usize, columns: usize) -> Glm<Logistic> {
    let data = generate::logistic(rows, columns).seed(3).build().unwrap().data;
    let data = data.check(ResponseKind::Binary).unwrap();
    let priors = data.default_priors();
    Glm::new(Logistic, &data, priors).unwrap()
}

fn run<'m>(
    whole: &Whole<'m, Glm<Logistic>>,
    settings: &Settings,
    paths: &WholePaths<'m, Glm<Logistic>>,
    start: &[f64],
) -> Run<Vec<f64>, WholePaths<'m, Glm<Logistic>>> {
    Sampler::new(whole, settings, paths, &[start.to_vec()]).unwrap().run(&Control::new(), &mut Silent)
}

/// A checkpoint keeps a few numbers; the covariance is made again, to the same bits.
#[test]
fn threads_and_resumptions_change_no_draw() {
    let model = many(1_500, 20);
    let mode = find_mode(&model, &[0.0; 21]).unwrap();
    assert_eq!(covariance_at(&model, &mode.state).unwrap(), mode.covariance);
    let shape = RandomWalk::dense(21, &mode.covariance).unwrap();
    let (plan, _) = WholePathPlan::pilot(&model, &mode.state, &shape, 2, 1).unwrap().unwrap();
    let (again, _) = WholePathPlan::pilot(&model, &mode.state, &shape, 1, 1).unwrap().unwrap();
    assert_eq!(plan, again);
    let paths = plan.build(&model, &shape).unwrap();
    let settings =
        |draws, threads| Settings { chains: 3, warmup: 10, draws, threads, seed: 11, ..Settings::default() };
    let whole = Whole::new(&model, u64::from(plan.steps));
    let all = run(&whole, &settings(60, 1), &paths, &mode.state);
    assert_eq!(run(&whole, &settings(60, 3), &paths, &mode.state).trace, all.trace);
    assert_eq!(all.counters().evaluations, 180 * 1_500 * u64::from(plan.steps));

    let first = run(&whole, &settings(25, 2), &paths, &mode.state);
    let plain = first.checkpoint.map(|paths| Ok(paths.stored())).unwrap();
    let text = serde_json::to_string(&plain).unwrap();
    assert!(text.len() < 20_000, "{} bytes", text.len());
    let plain: Checkpoint<Vec<f64>, StoredProposal> = serde_json::from_str(&text).unwrap();
    let checkpoint = plain.map(|stored| WholePaths::restored(&model, &shape, &stored)).unwrap();
    let rest = Sampler::resume(&whole, &settings(60, 2), checkpoint).unwrap();
    let mut trace = first.trace;
    trace.append(rest.run(&Control::new(), &mut Silent).trace);
    assert_eq!(trace, all.trace);
}

/// One gradient a draw is enough where the posterior is nearly normal, in 60 dimensions as in 10; a posterior of few events needs more steps.
#[test]
fn a_pilot_takes_as_many_steps_as_pay() {
    let steps = |model: &Glm<Logistic>| {
        let d = model.parameters();
        let mode = find_mode(model, &vec![0.0; d]).unwrap();
        let shape = RandomWalk::dense(d, &mode.covariance).unwrap();
        WholePathPlan::pilot(model, &mode.state, &shape, 2, 1).unwrap().unwrap().0
    };
    for columns in [10, 60] {
        let plan = steps(&many(5_000, columns));
        assert!(plan.steps == 1 && plan.acceptance > 0.8, "{plan:?}");
    }
    let hard = steps(&many(150, 40));
    assert!(hard.steps > 1, "{hard:?}");
    let error = StoredProposal::Whole(hard).plain().unwrap_err();
    assert!(error.to_string().contains("WholePaths::restored"), "{error}");
}
