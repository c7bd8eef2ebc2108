//! Simulation-based calibration: over data sets drawn from the prior, is the true parameter spread evenly among the
//! draws of its posterior?
//!
//! Talts, Betancourt, Simpson, Vehtari & Gelman (2018, arXiv 1804.06788), Algorithm 2: θ from the prior, data given θ, a
//! chain run as a user would run it (cold start, adaptive warm-up), thinned until its draws are as good as
//! independent, and the rank of θ among 49 of them. Ranks of every coordinate and of the log-likelihood (Modrák
//! et al. 2023: coordinates alone miss much) go to 10 cells of 5 ranks and to Pearson's chi-square.
//!
//! Level 1e-4 for each test, Bonferroni over its test functions; eleven tests must pass, so the false-alarm rate of
//! the file is 1.1e-3, as good as the chi-square approximation with 32 expected per cell; the seed is fixed. The
//! partners run the same chains with hasty decisions, whose posterior is too wide, and must be found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{self, Joint};
use austerity::diagnostics::ess_bulk;
use austerity::model::{Access, Parameters};
use austerity::population::Population as _;
use austerity::proposal::{AnyProposal, RandomWalk, RobustAdaptive};
use austerity::rng::{Rng, Role, stream};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Control, Ended, Sampler, Settings, Silent};
use austerity_glm::AnyFamily;
use austerity_glm::Prior;
use austerity_glm::glm::{Family, Visitor};

const ROWS: usize = 100;
const DATA_SETS: u32 = 320;
/// Draws kept of each chain: ranks 0 to 49.
const KEPT: usize = 49;
const CELLS: usize = 10;
const LEVEL: f64 = 1e-4;
/// Steps of a chain, the first tenth of them warm-up.
const STEPS: u64 = 3000;

/// Evenly spaced draws of one chain, so far apart that their autocorrelation is negligible.
fn posterior_draws<M: Parameters<State = Vec<f64>>>(
    model: &M,
    rule: &RuleSettings,
    (seed, start): (u64, &[f64]),
) -> Vec<Vec<f64>> {
    let dimension = model.names().len();
    let walk = RandomWalk::isotropic(dimension, 0.2).unwrap();
    let proposal: AnyProposal = RobustAdaptive::new(&walk, 0.3).unwrap().into();
    let mut draws = STEPS;
    loop {
        let settings = Settings {
            chains: 1,
            warmup: STEPS / 10,
            draws,
            seed,
            threads: 1,
            rule: rule.clone(),
            ..Settings::default()
        };
        let run = Sampler::new(model, &settings, &proposal, &[start.to_vec()])
            .unwrap()
            .run(&Control::new(), &mut Silent);
        assert_eq!(run.ended, Ended::Draws);
        let parameters = (0..dimension).map(|j| run.trace.parameter(j));
        let ess = parameters.map(|chain| ess_bulk(&[&chain[0]])).fold(f64::INFINITY, f64::min);
        // Twice the inefficiency apart, neighbours correlate by a few percent.
        let apart = (2.0 * draws as f64 / ess).ceil() as usize;
        if apart * KEPT <= draws as usize {
            let draw = |i| run.trace.draw(0, (i + 1) * apart - 1).unwrap().to_vec();
            return (0..KEPT).map(draw).collect();
        }
        draws *= 2;
    }
}

/// p-value, Bonferroni over coordinates and log-likelihood. `to_state` undoes what the trace does to a state.
fn calibration<M: Parameters<State = Vec<f64>>>(
    joint: impl Fn(&mut Rng) -> Joint<M>,
    to_state: impl Fn(&mut [f64]),
    rule: &RuleSettings,
) -> f64 {
    let mut counts: Vec<[u64; CELLS]> = Vec::new();
    for number in 0..DATA_SETS {
        let Joint { state, model } = joint(&mut stream(1804, number, Role::Data));
        assert_eq!(model.len(), ROWS);
        // Relative to the true state, which every family allows; ranks do not depend on it.
        let functions = |at: &Vec<f64>| {
            let mut values = at.clone();
            let ratio = model.compare(&state, at, &mut model.scratch(Access::Blocks)).total();
            values.push(ratio.unwrap().sum());
            values
        };
        let truth = functions(&state);
        let mut below = vec![0; truth.len()];
        // Chains begin at 0; where that is impossible, as with cut points, at the truth.
        let zeros = vec![0.0; state.len()];
        let there = model.compare(&state, &zeros, &mut model.scratch(Access::Blocks)).total();
        let is_possible =
            there.is_ok_and(|total| total.sum().is_finite()) && model.log_prior(&zeros).is_finite();
        let start = if is_possible { &zeros } else { &state };
        for mut draw in posterior_draws(&model, rule, (50_000 + u64::from(number), start)) {
            to_state(&mut draw);
            let values = functions(&draw);
            for (f, below) in below.iter_mut().enumerate() {
                *below += usize::from(values[f] < truth[f]);
            }
        }
        counts.resize(below.len(), [0; CELLS]);
        for (count, rank) in counts.iter_mut().zip(below) {
            count[rank * CELLS / (KEPT + 1)] += 1;
        }
    }
    let smallest = counts.iter().map(|c| common::uniformity(c)).fold(1.0, f64::min);
    let p = (smallest * counts.len() as f64).min(1.0);
    println!("p = {p:e}");
    p
}

fn logistic(rule: &RuleSettings) -> f64 {
    let priors = [Prior::normal(1.0), Prior::normal(1.0), Prior::laplace(0.7)];
    calibration(|rng: &mut Rng| common::logistic(ROWS, &priors, rng), |_| {}, rule)
}

/// The trace holds σ where the state has log σ.
fn linear(by_rows: bool, rule: &RuleSettings) -> f64 {
    let priors = [2.0, 1.0, 0.5].map(Prior::normal);
    let joint = |rng: &mut Rng| {
        let Joint { state, model } = common::linear(ROWS, &priors, rng);
        Joint { state, model: if by_rows { model.by_rows().unwrap() } else { model } }
    };
    calibration(joint, |draw| draw[2] = draw[2].ln(), rule)
}

/// A family without a kernel; the trace holds a positive parameter where the state has its logarithm.
struct Listed<'a> {
    priors: Vec<Prior>,
    rule: &'a RuleSettings,
}

impl Visitor for Listed<'_> {
    type Output = f64;

    fn visit<F: Family>(self, family: F) -> f64 {
        let extras = family.extra().len();
        let joint = |rng: &mut Rng| common::family(family, ROWS, &self.priors, rng);
        let to_state = |draw: &mut [f64]| {
            let coefficients = draw.len() - extras;
            draw[coefficients..].iter_mut().for_each(|value| *value = value.ln());
        };
        calibration(joint, to_state, self.rule)
    }
}

fn listed(name: &str, rule: &RuleSettings) -> f64 {
    let family: AnyFamily = name.parse().unwrap();
    let mut priors = vec![Prior::normal(0.7), Prior::normal(0.3)];
    match family.facts().extra.len() {
        0 => priors.push(Prior::laplace(0.4)),
        extras => priors.extend(vec![Prior::LogNormal { mean: 0.5, sd: 0.7 }; extras]),
    }
    family.visit(Listed { priors, rule })
}

/// Sixteen looks at ε = 0.3, no guard.
fn hasty() -> RuleSettings {
    RuleSettings::Sequential(SequentialSettings::paper(6, 0.3))
}

#[test]
fn the_logistic_model_is_calibrated() {
    assert!(logistic(&RuleSettings::default()) > LEVEL);
}

#[test]
fn the_linear_model_is_calibrated() {
    assert!(linear(false, &RuleSettings::default()) > LEVEL);
    assert!(linear(true, &RuleSettings::default()) > LEVEL);
}

#[test]
fn families_without_a_kernel_are_calibrated() {
    assert!(listed("probit", &RuleSettings::default()) > LEVEL);
    assert!(listed("negative-binomial", &RuleSettings::default()) > LEVEL);
}

#[test]
fn ordered_levels_are_calibrated() {
    assert!(listed("ordered-logit:4", &RuleSettings::default()) > LEVEL);
}

#[test]
fn hasty_decisions_of_ordered_regression_are_found_out() {
    assert!(listed("ordered-logit:4", &hasty()) < LEVEL);
}

/// Half of the times are censored.
#[test]
fn censored_times_are_calibrated() {
    assert!(listed("weibull", &RuleSettings::default()) > LEVEL);
}

const OTHERS: [&str; 7] =
    ["cloglog", "gamma", "beta", "exponential", "lognormal", "ordered-probit:4", "zero-inflated-poisson"];

#[test]
#[ignore = "second tier: minutes of single rows in double precision"]
fn the_other_families_without_a_kernel_are_calibrated() {
    for name in OTHERS {
        assert!(listed(name, &RuleSettings::default()) > LEVEL, "{name}");
    }
}

#[test]
#[ignore = "second tier: minutes of single rows in double precision"]
fn hasty_decisions_of_the_other_families_are_found_out() {
    for name in OTHERS.into_iter().chain(["weibull"]) {
        assert!(listed(name, &hasty()) < LEVEL, "{name}");
    }
}

#[test]
fn hasty_decisions_of_probit_regression_are_found_out() {
    assert!(listed("probit", &hasty()) < LEVEL);
}

#[test]
#[ignore = "second tier: a minute of single rows in double precision"]
fn hasty_decisions_of_negative_binomial_regression_are_found_out() {
    assert!(listed("negative-binomial", &hasty()) < LEVEL);
}

#[test]
fn hasty_decisions_of_the_logistic_model_are_found_out() {
    assert!(logistic(&hasty()) < LEVEL);
}

#[test]
fn hasty_decisions_of_the_linear_model_are_found_out() {
    assert!(linear(true, &hasty()) < LEVEL);
}
