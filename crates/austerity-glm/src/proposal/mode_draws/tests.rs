//! Jumps between modes leave the posterior as it is; without their density they do not.

use super::*;
use crate::WeighedMode;
use austerity::kernel::{Kernel as _, Metropolis};
use austerity::model::{Mode, from_fn};
use austerity::population::{BlockOrder, Moments};
use austerity::rng::Streams;
use austerity::rule::RuleSettings;

/// Three modes of unequal mass and width on a line: shares, centres, sds.
const MODES: [(f64, f64, f64); 3] = [(0.69, -3.0, 0.3), (0.30, 2.0, 1.0), (0.01, 9.0, 0.05)];

fn log_density(x: f64) -> f64 {
    let normal =
        |(share, centre, sd): (f64, f64, f64)| share / sd * (-0.5 * ((x - centre) / sd).powi(2)).exp();
    MODES.map(normal).iter().sum::<f64>().ln()
}

/// What a search knows of them: places and widths, and shares that are off.
fn known() -> (Regions, ModeDraws) {
    let weighed: Vec<WeighedMode> = MODES
        .iter()
        .zip([0.5, 0.4, 0.1])
        .map(|(&(_, centre, sd), share)| {
            let covariance = vec![1.3 * sd * sd];
            WeighedMode {
                mode: Mode { state: vec![centre], log_density: 0.0, covariance, iterations: 1 },
                share,
            }
        })
        .collect();
    let places: Vec<(&[f64], &[f64])> =
        weighed.iter().map(|found| (&found.mode.state[..], &found.mode.covariance[..])).collect();
    let draws = ModeDraws::new(&places, &[0.5, 0.4, 0.1]).unwrap();
    (Regions::new(&weighed).unwrap(), draws)
}

fn trial() -> (ModeDraws, ModeTrial) {
    let (regions, draws) = known();
    draws
        .tried(&regions, 2_000, 1, |states| Ok(states.iter().map(|state| log_density(state[0])).collect()))
        .unwrap()
}

/// Shares within 4 % of themselves (importance sampling of 2,000 draws per mode; fixed seed), and nearly independent draws.
#[test]
fn a_trial_finds_the_shares() {
    let (draws, trial) = trial();
    for (found, (share, ..)) in trial.shares.iter().zip(MODES) {
        assert!((found / share - 1.0).abs() < 0.08, "{trial:?}");
    }
    assert!(trial.rate > 0.7, "{trial:?}");
    assert!(draws.weights[2] > ALIKE / 3.0 && draws.weights[0] > 0.6, "{:?}", draws.weights);
}

/// A posterior that is nowhere near the draws is not crossed.
#[test]
fn modes_that_are_not_met_have_no_rate() {
    let (regions, draws) = known();
    let far = |states: &[Vec<f64>]| {
        Ok(states.iter().map(|state| -0.5 * ((state[0] - 30.0) / 0.01).powi(2)).collect())
    };
    let (_, trial) = draws.tried(&regions, 200, 1, far).unwrap();
    assert!(trial.rate < 0.05, "{trial:?}");
    let nowhere = |states: &[Vec<f64>]| Ok(vec![f64::NEG_INFINITY; states.len()]);
    let (_, trial) = known().1.tried(&regions, 20, 1, nowhere).unwrap();
    assert!(trial.rate == 0.0, "{trial:?}");
}

#[derive(Clone)]
struct Unweighed(ModeDraws);

impl Proposal<Vec<f64>> for Unweighed {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        self.0.propose(from, to, rng).map(|_| 0.0.into())
    }
}

/// Shares of the three modes in a chain of exact decisions, in Monte Carlo standard errors (25 batch means) from the truth.
fn distances(proposal: impl Proposal<Vec<f64>> + Clone) -> [f64; 3] {
    let model = from_fn(1, 1, |_: &[f64]| 0.0, |theta: &[f64], _| log_density(theta[0])).unwrap();
    let mut state = vec![-3.0];
    let order = BlockOrder::new(1, 1, 3, 0).unwrap();
    let mut kernel =
        Metropolis::new(&model, proposal, RuleSettings::default().build(1).unwrap(), order, &state).unwrap();
    let mut streams = Streams::new(3, 0);
    let mut figures: [Vec<f64>; 3] = Default::default();
    for stretch in 0..25 {
        let mut counts = [0.0; 3];
        for step in 0..4_000 {
            streams.begin(stretch * 4_000 + step);
            kernel.step(&mut state, &mut streams).unwrap();
            // The valleys hold 1e-4 of the mass and less.
            counts[if state[0] < -1.5 {
                0
            } else if state[0] < 7.0 {
                1
            } else {
                2
            }] += 1.0 / 4_000.0;
        }
        figures.iter_mut().zip(counts).for_each(|(figure, count)| figure.push(count));
    }
    let below = 0.30 * 0.000_233; // of the second mode below −1.5
    let truth = [0.69 + below, 0.30 - below, 0.01];
    let mut distances = [0.0; 3];
    for ((slot, figure), truth) in distances.iter_mut().zip(&figures).zip(truth) {
        let moments = Moments::of(figure);
        *slot = (moments.mean - truth) / (moments.sd() / 5.0);
    }
    distances
}

/// Within 5 standard errors (Student t with 24 degrees of freedom: 4e-5 a figure, three figures; fixed seed); without its density in the ratio a chain has the shares of the draws.
#[test]
fn shares_of_a_chain_are_those_of_the_posterior() {
    let (_, draws) = known();
    let found = distances(draws.clone());
    assert!(found.iter().all(|z| z.abs() < 5.0), "{found:?}");
    let biased = distances(Unweighed(draws));
    assert!(biased.iter().any(|z| z.abs() > 5.0), "{biased:?}");
}

#[test]
fn modes_without_shares_are_refused() {
    let one: [(&[f64], &[f64]); 1] = [(&[0.0], &[1.0])];
    assert!(ModeDraws::new(&[], &[]).is_err());
    assert!(ModeDraws::new(&one, &[0.5, 0.5]).is_err());
    assert!(ModeDraws::new(&one, &[0.0]).is_err());
    assert!(ModeDraws::new(&one, &[f64::NAN]).is_err());
    assert!(ModeDraws::new(&[(&[0.0], &[-1.0])], &[1.0]).is_err());
}
