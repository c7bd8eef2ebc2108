//! The mode of a posterior and its curvature there, by Newton's method.
//!
//! θ ← θ + t·(−H)⁻¹g with t = 1, ½, ¼, … until the log density rises enough (Armijo's rule), and a growing ridge
//! on −H, in units of its diagonal, while it is not positive definite (Nocedal & Wright 2006, §3.4). The search ends
//! when the squared step g'(−H)⁻¹g, in posterior standard deviations, is below 1e-10 *and* shrinks faster than
//! by a constant factor: on separable data without a prior every step gains a factor e for ever.
//!
//! What it is for: starting points, Laplace approximations, proposal covariances. Cost: one pass with gradient
//! and Hessian per step, about 5 to 15 steps. Not for posteriors with several modes, nor for a mode on the kink of a
//! Laplace prior, where the derivative jumps and no step ends the search.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use crate::error::{Error, Result};
use crate::model::{Curvature, Model};

/// Newton steps before giving up.
const STEPS: usize = 100;

/// Halvings of one step before giving up: 2⁻⁴⁰ is below the rounding of any state worth the name.
const HALVINGS: usize = 40;

/// Squared length of a step, in posterior standard deviations, that is as good as none.
const CLOSE: f64 = 1e-10;

/// Below this squared length the log density, a sum of many rounded rows, can no longer tell a good step from a bad one;
/// the derivatives still can, so the whole Newton step is taken.
const NEAR: f64 = 1e-3;

/// Below this squared length a search has ended where steps no longer shrink and leave the log density as it is: derivatives are rounded too.
const STALLED: f64 = 0.05;

/// Changes of the log density, relative to its size, that the rounding of rows may hide.
const ROUNDED: f64 = f32::EPSILON as f64 / 2.0;

/// A local maximum of the posterior density.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// The state with the largest density nearby.
    pub state: Vec<f64>,
    /// Log posterior density there, up to the model's constant.
    pub log_density: f64,
    /// Inverse of the negative Hessian, d × d, row by row: the covariance of the Laplace approximation.
    pub covariance: Vec<f64>,
    /// Newton steps taken.
    pub iterations: usize,
}

/// Value and derivatives at a state.
struct Point {
    state: Vec<f64>,
    value: f64,
    gradient: DVector<f64>,
    negative_hessian: DMatrix<f64>,
}

impl Point {
    fn new<M>(model: &M, state: Vec<f64>) -> Result<Self>
    where
        M: Model<State = Vec<f64>> + Curvature,
    {
        let d = state.len();
        let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
        let value = model.hessian(&state, &mut gradient, &mut hessian)?;
        Ok(Self {
            state,
            value,
            gradient: DVector::from_vec(gradient),
            negative_hessian: -DMatrix::from_row_slice(d, d, &hessian),
        })
    }

    /// The point at `state` without its density, which is 0 here.
    fn slopes<M>(model: &M, state: Vec<f64>) -> Result<Self>
    where
        M: Model<State = Vec<f64>> + Curvature,
    {
        let d = state.len();
        let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
        model.derivatives(&state, &mut gradient, &mut hessian)?;
        let negative_hessian = -DMatrix::from_row_slice(d, d, &hessian);
        Ok(Self { state, value: 0.0, gradient: DVector::from_vec(gradient), negative_hessian })
    }

    /// Whether the curvature is that of a mode, and if so the Newton step and its squared length.
    fn whole_step(&self) -> Option<(DVector<f64>, f64)> {
        let unit = self.unit();
        let factor = self.is_finite().then(|| self.cholesky(&unit, 0.0)).flatten()?;
        let step = factor.solve(&self.gradient.component_mul(&unit)).component_mul(&unit);
        let gain = self.gradient.dot(&step);
        gain.is_finite().then_some((step, gain))
    }

    /// The point at `state`, or `None` where the density does not exist: a step too far is no fault of the model's.
    fn beyond<M>(model: &M, state: Vec<f64>) -> Result<Option<Self>>
    where
        M: Model<State = Vec<f64>> + Curvature,
    {
        match Self::new(model, state) {
            Ok(point) => Ok(Some(point).filter(Self::is_finite)),
            Err(Error::NotANumber { .. } | Error::PriorNotANumber) => Ok(None),
            Err(other) => Err(other),
        }
    }

    fn is_finite(&self) -> bool {
        let derivatives = self.gradient.iter().chain(self.negative_hessian.iter());
        self.value.is_finite() && derivatives.copied().all(f64::is_finite)
    }

    /// Scale that gives −H a unit diagonal.
    fn unit(&self) -> DVector<f64> {
        let diagonal = self.negative_hessian.diagonal();
        diagonal.map(|a| if a != 0.0 { 1.0 / a.abs().sqrt() } else { 1.0 })
    }

    fn cholesky(&self, unit: &DVector<f64>, ridge: f64) -> Option<Cholesky<f64, Dyn>> {
        let d = self.state.len();
        let scaled = DMatrix::from_fn(d, d, |i, j| {
            self.negative_hessian[(i, j)] * unit[i] * unit[j] + if i == j { ridge } else { 0.0 }
        });
        // A ridge that only just cancels a negative eigenvalue would give a step without bound.
        let sound = |c: &Cholesky<f64, Dyn>| (0..d).all(|i| c.l_dirty()[(i, i)].powi(2) >= 1e-2 * ridge);
        scaled.cholesky().filter(sound)
    }

    /// The Newton direction, with as little ridge as makes it one of ascent.
    fn direction(&self) -> Option<DVector<f64>> {
        let unit = self.unit();
        let right = self.gradient.component_mul(&unit);
        let ridges = std::iter::once(0.0).chain((-8..8).map(|k| 10f64.powi(k)));
        let mut found = ridges.filter_map(|ridge| self.cholesky(&unit, ridge));
        let direction = found.next()?.solve(&right).component_mul(&unit);
        direction.iter().copied().all(f64::is_finite).then_some(direction)
    }

    fn covariance(&self) -> Option<Vec<f64>> {
        let unit = self.unit();
        let inverse = self.cholesky(&unit, 0.0)?.inverse();
        let d = self.state.len();
        let covariance: Vec<f64> =
            (0..d * d).map(|i| inverse[(i / d, i % d)] * unit[i / d] * unit[i % d]).collect();
        covariance.iter().copied().all(f64::is_finite).then_some(covariance)
    }
}

/// Gradient of the log posterior density at `state`, and the inverse of the negative Hessian, d × d row by row, where there is one.
pub fn laplace<M>(model: &M, state: &[f64]) -> Result<(Vec<f64>, Option<Vec<f64>>)>
where
    M: Model<State = Vec<f64>> + Curvature,
{
    let point = Point::new(model, state.to_vec())?;
    let covariance = if point.is_finite() { point.covariance() } else { None };
    Ok((point.gradient.as_slice().to_vec(), covariance))
}

/// The inverse of the negative Hessian at `state`, d × d row by row: at a mode that [`find_mode`] found, its covariance to the bit.
pub fn covariance_at<M>(model: &M, state: &[f64]) -> Result<Vec<f64>>
where
    M: Model<State = Vec<f64>> + Curvature,
{
    laplace(model, state)?.1.ok_or_else(not_definite)
}

/// Climbs from `start` to a mode of `model`.
///
/// Regressions have the derivatives that it needs; `austerity_glm::own::with_curvature` gives them to a model of one's own.
pub fn find_mode<M>(model: &M, start: &[f64]) -> Result<Mode>
where
    M: Model<State = Vec<f64>> + Curvature,
{
    let mut point = Point::new(model, start.to_vec())?;
    if !point.is_finite() {
        let zero = point.value == f64::NEG_INFINITY;
        return Err(Error::ImpossibleStart {
            density: if zero { "zero" } else { "not a number" }.into(),
            why: "the log density or a derivative of it is not finite there".into(),
        });
    }
    let (mut last, mut change) = (f64::INFINITY, f64::INFINITY);
    for iterations in 1..=STEPS {
        let Some(direction) = point.direction() else {
            return Err(no_mode(iterations - 1, change));
        };
        let gain = point.gradient.dot(&direction);
        let next = if gain <= NEAR {
            let moved = point.state.iter().zip(direction.iter());
            Point::beyond(model, moved.map(|(s, d)| s + d).collect())?
        } else {
            climb(model, &point, &direction, gain)?
        };
        let Some(next) = next else { return Err(no_mode(iterations, change)) };
        change = next.value - point.value;
        point = next;
        // Newton steps shrink quadratically until rounding takes over and they stop shrinking. On a slope without end
        // (separable data, flat prior) they shrink by a factor e: no mode.
        let shrinks = gain <= 0.5 * last;
        let stalled = gain <= STALLED && change.abs() <= ROUNDED * point.value.abs();
        if (gain <= CLOSE && gain <= 0.1 * last) || (!shrinks && (gain <= NEAR || stalled)) {
            return finish(point, iterations);
        }
        last = gain;
    }
    Err(no_mode(STEPS, change))
}

/// Whole steps before [`find_mode`] takes over.
const WHOLE_STEPS: usize = 6;

/// As [`find_mode`], from a start so near that whole Newton steps lead to the mode, such as the mode of a large sample of the rows.
///
/// The density is computed at the end alone, since nothing is compared: a pass over many rows costs half of what it does with the density. Steps shrink quadratically,
/// gain_{k+1} ≈ gain_k³/gain_{k−1}², which tells beforehand which pass is the last. Where they do not shrink, [`find_mode`] begins anew.
pub fn find_mode_near<M>(model: &M, start: &[f64]) -> Result<Mode>
where
    M: Model<State = Vec<f64>> + Curvature,
{
    let mut point = Point::slopes(model, start.to_vec())?;
    let mut last = f64::INFINITY;
    for iterations in 1..=WHOLE_STEPS {
        let Some((step, gain)) = point.whole_step() else { break };
        let ends = gain <= CLOSE || (gain <= NEAR && gain > 0.5 * last);
        if !(ends || gain <= 0.5 * last) {
            break;
        }
        // Without a step before, nothing is known of how they shrink.
        let next_gain = if last.is_finite() { gain.powi(3) / (last * last) } else { gain };
        let moved: Vec<f64> = point.state.iter().zip(step.iter()).map(|(s, d)| s + d).collect();
        if ends || next_gain <= CLOSE {
            match Point::beyond(model, moved)? {
                Some(end) if end.whole_step().is_some_and(|(_, gain)| gain <= NEAR) => {
                    return finish(end, iterations);
                }
                _ => break,
            }
        }
        point = Point::slopes(model, moved)?;
        last = gain;
    }
    find_mode(model, start)
}

/// The first of the steps 1, ½, ¼, … along `direction` that rises enough, if any does.
fn climb<M>(model: &M, point: &Point, direction: &DVector<f64>, gain: f64) -> Result<Option<Point>>
where
    M: Model<State = Vec<f64>> + Curvature,
{
    // A log density that sums many rows cannot be told apart below its own rounding.
    let rounding = 64.0 * f64::EPSILON * point.value.abs();
    let mut length = 1.0;
    for _ in 0..HALVINGS {
        let moved = point.state.iter().zip(direction.iter());
        let next = Point::beyond(model, moved.map(|(s, d)| s + length * d).collect())?;
        let rises = |next: &Point| next.value >= point.value + 1e-4 * length * gain - rounding;
        if let Some(next) = next.filter(rises) {
            return Ok(Some(next));
        }
        length *= 0.5;
    }
    Ok(None)
}

fn finish(point: Point, iterations: usize) -> Result<Mode> {
    let covariance = point.covariance().ok_or_else(not_definite)?;
    Ok(Mode { state: point.state, log_density: point.value, covariance, iterations })
}

fn not_definite() -> Error {
    Error::NotPositiveDefinite {
        what: "the negative Hessian at the mode".into(),
        remedy: "the data and the prior leave some direction free; give every coefficient a proper prior"
            .into(),
    }
}

fn no_mode(iterations: usize, change: f64) -> Error {
    Error::NoMode {
        iterations,
        change,
        remedy:
            "give every coefficient a proper prior without a kink (normal or Student t), or start elsewhere"
                .into(),
    }
}
