//! Tails of coefficients that the data leave open on one side: reached by sweeps with heavy-tailed candidates, not by Cauchy steps alone.

use austerity::diagnostics::mcse_mean;
use austerity::model::find_mode;
use austerity::proposal::{Proposal as _, RandomWalk};
use austerity::rng::{Role, stream};
use austerity_glm::check::tails;
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity_glm::proposal::Sweeps;
use austerity_glm::{
    CertainSteps as _, Data, FreeTail, Glm, Logistic, Poisson, PowerTail, Prior, ResponseKind,
};
use rand::RngExt as _;

const ROWS: usize = 4000;

/// A rare feature in 12 rows, all of them events (or none, on the other side), under a Student prior.
fn separated(freedom: f64, scale: f64) -> GlmExpansion<Logistic> {
    let mut rng = stream(4, 0, Role::Data);
    let rare: Vec<f64> = (0..ROWS).map(|i| f64::from(i % 333 == 5)).collect();
    let share = 1.0 / (1.0 + 1f64.exp());
    let y: Vec<f64> = rare.iter().map(|&rare| f64::from(rare > 0.0 || rng.random::<f64>() < share)).collect();
    let data = Data::new(["rare"], vec![rare], y).check(ResponseKind::Binary).unwrap();
    let priors = vec![Prior::normal(10.0), Prior::student(freedom, scale)];
    let model = Glm::new(Logistic, &data, priors.clone()).unwrap();
    let mode = find_mode(&model, &[0.0; 2]).unwrap();
    GlmExpansion::new(&model, &mode.state, &ExpansionSettings::default()).unwrap()
}

/// 97.5 % quantile of the rare coefficient given the intercept, by quadrature in asinh θ.
fn quantile(intercept: f64, prior: &Prior) -> f64 {
    let point = |i: i32| f64::from(i) * 5e-4;
    let grid = || (-8000..60_000).map(|i| (point(i).sinh(), point(i).cosh()));
    let log = |x: f64| -12.0 * (-(intercept + x)).exp().ln_1p() + prior.log_density(x);
    let total: f64 = grid().map(|(x, width)| log(x).exp() * width).sum();
    let mut sum = 0.0;
    for (x, width) in grid() {
        sum += log(x).exp() * width;
        if sum > 0.975 * total {
            return x;
        }
    }
    f64::INFINITY
}

/// Draws of the rare coefficient, the intercept held at the mode.
fn draws(expansion: &GlmExpansion<Logistic>, walking: bool, seed: u64, count: usize) -> Vec<Vec<f64>> {
    assert_eq!(expansion.certain_parameters(), [1], "{}", expansion.report().sentence());
    let sds: Vec<f64> = expansion.covariance().iter().step_by(3).map(|v| v.sqrt()).collect();
    (0..4)
        .map(|chain| {
            let still = RandomWalk::isotropic(2, 1e-9).unwrap();
            let mut sweeps = Sweeps::new(expansion, still, &sds, 3);
            if walking {
                sweeps = sweeps.walking();
            }
            let mut state = expansion.mode().to_vec();
            let mut rng = stream(seed, chain, Role::Proposal);
            (0..count)
                .map(|_| {
                    sweeps.refresh(&mut state, &mut rng).unwrap();
                    state[1]
                })
                .collect()
        })
        .collect()
}

fn borrow(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

/// Three priors, ten seeds each: the share of draws beyond the true 97.5 % quantile within 4.5 Monte Carlo errors of 2.5 % (false alarm 7e-6 each, 2e-4 in
/// all), the check of tails passes (5e-4 each side: one failure in thirty is let pass), and 97.5 % quantiles of single runs are within a factor of 1.7 (a scale of 4.5 errors).
/// Power: with Cauchy steps alone most runs of the same length miss one of these.
#[test]
fn heavy_candidates_reach_the_tail() {
    for (freedom, scale) in [(1.0, 2.5), (2.0, 0.5), (0.7, 1.0)] {
        let expansion = separated(freedom, scale);
        let prior = Prior::student(freedom, scale);
        let truth = quantile(expansion.mode()[0], &prior);
        let tail =
            FreeTail { prior: PowerTail::of(&prior).unwrap(), up: true, from: 9.0, share: 0.0, brake: None };
        let runs = |walking: bool| {
            (0..10u64)
                .map(|seed| {
                    let made = draws(&expansion, walking, seed, 1000);
                    let beyond: Vec<Vec<f64>> = made
                        .iter()
                        .map(|chain| chain.iter().map(|&x| f64::from(x > truth)).collect())
                        .collect();
                    let share = beyond.iter().flatten().sum::<f64>() / 4000.0;
                    let error = mcse_mean(&borrow(&beyond)).max((0.025f64 * 0.975 / 4000.0).sqrt());
                    let check = tails::compare(&borrow(&made), &tail);
                    (((share - 0.025) / error).abs() < 4.5, check.passed != Some(false))
                })
                .filter(|&(right, passed)| right && passed)
                .count()
        };
        let (heavy, walking) = (runs(false), runs(true));
        assert!(heavy >= 9, "{freedom} {scale}: {heavy} of 10, quantile {truth}");
        if freedom <= 1.0 {
            assert!(walking <= 5, "{freedom} {scale}: Cauchy steps alone: {walking} of 10");
        }
    }
}

/// A chain that went to 10⁸ and came back sees the same density there as one that never left.
#[test]
fn far_out_and_back_leaves_nothing_behind() {
    let expansion = separated(1.0, 2.5);
    let state = expansion.mode().to_vec();
    let (mut fresh, mut travelled) = (Default::default(), Default::default());
    expansion.begin_certain(&state, &mut fresh);
    expansion.begin_certain(&state, &mut travelled);
    let mut at = state.clone();
    for by in [1e8, -1e8, -40.0, 40.0] {
        at[1] += by;
        expansion.take_certain(&mut travelled, &at, 1, by);
    }
    for by in [-3.0, 0.5, 6.0] {
        let (one, other) = (
            expansion.certain_change(&fresh, &state, 1, by),
            expansion.certain_change(&travelled, &at, 1, by),
        );
        assert!((one - other).abs() < 1e-4, "{by}: {one} {other}");
    }
    assert!(expansion.certain_change(&fresh, &state, 1, 1e12).is_finite());
}

/// A Poisson coefficient of a level without a count is free below.
#[test]
fn counts_of_zero_leave_the_lower_tail_open() {
    let mut rng = stream(5, 0, Role::Data);
    let rare: Vec<f64> = (0..ROWS).map(|i| f64::from(i % 400 == 7)).collect();
    let y: Vec<f64> =
        rare.iter().map(|&rare| if rare > 0.0 { 0.0 } else { f64::from(rng.random_range(0..4)) }).collect();
    let data = Data::new(["rare"], vec![rare], y).check(ResponseKind::Count).unwrap();
    let priors = vec![Prior::normal(10.0), Prior::student(1.0, 1.0)];
    let model = Glm::new(Poisson, &data, priors).unwrap();
    let mode = find_mode(&model, &[0.0; 2]).unwrap();
    let expansion = GlmExpansion::new(&model, &mode.state, &ExpansionSettings::default()).unwrap();
    assert_eq!(expansion.certain_parameters(), [1]);
    let sds: Vec<f64> = expansion.covariance().iter().step_by(3).map(|v| v.sqrt()).collect();
    let still = RandomWalk::isotropic(2, 1e-9).unwrap();
    let mut sweeps = Sweeps::new(&expansion, still, &sds, 3);
    let mut state = expansion.mode().to_vec();
    let mut rng = stream(6, 0, Role::Proposal);
    let chain: Vec<f64> = (0..4000)
        .map(|_| {
            sweeps.refresh(&mut state, &mut rng).unwrap();
            state[1]
        })
        .collect();
    let prior = PowerTail { freedom: 1.0, location: 0.0, scale: 1.0 };
    let check =
        tails::compare(&[&chain], &FreeTail { prior, up: false, from: -8.0, share: 0.0, brake: None });
    assert_eq!(check.passed, Some(true), "{check:?}");
}
