//! On which sides of which coefficients the posterior has the tail of its prior.
//!
//! A coefficient with a Student prior is free on a side where its likelihood stays bounded away from 0: for logistic regression where every row that has the column has the
//! response of that side, for counts where every such row counts 0, for any family where no row has the column. It is enough to look along the
//! coefficient's own axis from the mode: whether such a limit is 0 does not depend on the other coefficients.
//!
//! ```text
//! ℓ(8t) − ℓ(t) ≈ 0 at t = 10⁵ units from the prior's location, a unit the larger of prior scale and sd at the mode
//! ```
//!
//! Then the point beyond which ℓ changes by less than 0.01 is looked for on a grid of doubling distances from the mode. Likelihoods that fall like a power (Student noise) are not bounded away from 0, and leave the
//! posterior its moments. Directions that several coefficients share are not looked at: there the tails of their priors multiply, and are thinner than
//! each.
//!
//! Cost: nothing without Student priors, otherwise four totals a coefficient, 32 to a pass, and a pass for every free side.

use austerity::model::Mode;
use austerity_glm::proposal::{HeavyCoefficient, TailSteps};
use austerity_glm::{FreeTail, PowerTail, Priors};

use super::plan::TailRecord;
use crate::model::{Regression, Task};
use crate::output::Failure;

/// Units from the prior's location at which the likelihood must be flat, and how many times as far out still.
const FAR: f64 = 1e5;
const FARTHER: f64 = 8.0;
/// Largest change of a log-likelihood that counts as none.
const FLAT: f64 = 0.01;
/// Distances from the mode that are tried: 2^k units.
const GRID: std::ops::RangeInclusive<i32> = -4..=17;
/// Cauchy steps in sds at the mode.
const STRETCH: f64 = 1.5;
/// Totals in one pass.
const TOTALS_PER_PASS: usize = 32;

/// Finds the free sides.
pub(super) struct FindTails<'a> {
    pub(super) priors: &'a Priors,
    pub(super) mode: &'a Mode,
}

impl FindTails<'_> {
    /// Whether there is anything to be looked for.
    pub(super) fn is_needed(&self) -> bool {
        self.priors.iter().any(|prior| PowerTail::of(prior).is_some())
    }
}

/// A side to be looked at.
struct Side {
    parameter: usize,
    prior: PowerTail,
    up: bool,
    unit: f64,
}

impl Side {
    /// The value so many units from `from` on this side.
    fn at(&self, from: f64, units: f64) -> f64 {
        from + if self.up { self.unit * units } else { -self.unit * units }
    }

    /// Share of the posterior beyond `from`, the other coefficients at their mode: the likelihood as a step function on the grid, and as steep below the mode as above it.
    fn share(&self, mode: f64, (grid, changes): (&[f64], &[f64]), from: f64) -> f64 {
        let beyond = |value: f64| self.prior.log_beyond(value, self.up).exp();
        let tail = beyond(from);
        let (mut inside, mut edge) = (0.0, beyond(mode));
        for (&value, &change) in grid.iter().zip(changes) {
            if (value - from) * (grid[grid.len() - 1] - mode) > 0.0 || edge.is_nan() || edge <= 0.0 {
                break;
            }
            let next = beyond(value);
            inside += (edge - next) * change.exp().min(1.0);
            edge = next;
        }
        // Both sides of the mode, as if it were in the middle.
        let share = tail / (tail + 2.0 * inside);
        if share.is_finite() { share } else { 0.0 }
    }
}

impl Task for FindTails<'_> {
    type Output = Vec<TailRecord>;

    fn run<M: Regression>(self, model: &M) -> Result<Vec<TailRecord>, Failure> {
        let (names, state) = (model.names(), &self.mode.state);
        let with = |parameter: usize, value: f64| {
            let mut moved = state.clone();
            moved[parameter] = value;
            moved
        };
        let mut sides = Vec::new();
        for (parameter, prior) in self.priors.iter().enumerate() {
            let Some(prior) = PowerTail::of(prior) else { continue };
            let sd = self.mode.covariance[parameter * (state.len() + 1)].sqrt();
            let unit = if sd > prior.scale && sd.is_finite() { sd } else { prior.scale };
            sides.extend([true, false].map(|up| Side { parameter, prior, up, unit }));
        }
        let ends: Vec<[Vec<f64>; 2]> = sides
            .iter()
            .map(|side| {
                [1.0, FARTHER].map(|times| with(side.parameter, side.at(side.prior.location, times * FAR)))
            })
            .collect();
        let moves: Vec<(&Vec<f64>, &Vec<f64>)> =
            ends.iter().flat_map(|[far, farther]| [(state, far), (far, farther)]).collect();
        let totals = totals(model, &moves);
        let mut found = Vec::new();
        for ((side, [far, _]), change) in sides.iter().zip(&ends).zip(totals.chunks_exact(2)) {
            // A limit of e^{−∞} is one, but so far down that no draw will go there.
            if !(change[0] > -700.0 && change[1].abs() < FLAT) {
                continue;
            }
            let grid: Vec<f64> =
                GRID.map(|power| side.at(state[side.parameter], f64::from(power).exp2())).collect();
            let states: Vec<Vec<f64>> = grid.iter().map(|&value| with(side.parameter, value)).collect();
            let moves: Vec<(&Vec<f64>, &Vec<f64>)> = states.iter().map(|there| (far, there)).collect();
            let changes = self::totals(model, &moves);
            let last = changes.iter().rposition(|change| change.is_nan() || change.abs() >= FLAT);
            let Some(&from) = grid.get(last.map_or(0, |place| place + 1)) else { continue };
            let share = side.share(state[side.parameter], (&grid, &changes), from);
            found.push(TailRecord {
                parameter: names[side.parameter].clone(),
                tail: FreeTail {
                    prior: side.prior,
                    up: side.up,
                    from,
                    share,
                    brake: self.priors.brake(state, side.parameter),
                },
            });
        }
        Ok(found)
    }
}

/// Steps into the tails that were found; none where the priors have no such tail.
pub(super) fn steps(
    names: &[String],
    mode: &Mode,
    found: &[TailRecord],
) -> Result<Option<TailSteps>, Failure> {
    let d = mode.state.len();
    let heavy = |(parameter, name): (usize, &String)| {
        let prior = found.iter().find(|one| one.parameter == *name)?.tail.prior;
        let sd = mode.covariance.get(parameter * (d + 1))?.sqrt();
        let size = STRETCH * if sd > 0.0 && sd.is_finite() { sd } else { prior.scale };
        Some(HeavyCoefficient { parameter, prior, size })
    };
    let heavy: Vec<HeavyCoefficient> = names.iter().enumerate().filter_map(heavy).collect();
    Ok(if heavy.is_empty() { None } else { Some(TailSteps::new(heavy)?) })
}

/// Changes of the log-likelihood; NaN where it cannot be computed so far out.
fn totals<M: Regression>(model: &M, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Vec<f64> {
    let sum = |total: &austerity::population::Moments| {
        if total.impossible() { f64::NEG_INFINITY } else { total.sum() }
    };
    moves
        .chunks(TOTALS_PER_PASS)
        .flat_map(|some| match model.totals(some) {
            Ok(totals) => totals.iter().map(sum).collect(),
            Err(_) => some
                .iter()
                .map(|&one| model.totals(&[one]).map_or(f64::NAN, |totals| totals.iter().map(sum).sum()))
                .collect::<Vec<_>>(),
        })
        .collect()
}
