//! What may be wrong with a posterior, by its density near the end of a search for the mode.
//!
//! | hazard | seen by |
//! |---|---|
//! | a flat direction | −H, scaled to a unit diagonal, has an eigenvalue of about 0, and f stays within 0.05 up to 1,000 units along its eigenvector |
//! | a degenerate mode | f rises along the last step, made longer again and again, by ever more; or towards an edge by as much at every halving of what is left; or the search climbs without end while the density becomes 10⁴ times as narrow; or the mode is narrower than its parameters can be told apart |
//!
//! A unit is the parameter's standard deviation given the others, or max(|θ|, 1) where it has no curvature. Curved ridges (only the product of
//! two parameters matters) are not found. Cost: some hundred sums of the sampled rows at most, and only where the search did not
//! end at an ordinary mode.

use austerity::model::Mode;
use austerity::run::{Control, Hazard};
use nalgebra::{DMatrix, DVector};

use super::{Density, End};
use crate::model::Sampled;
use crate::output::Failure;

/// Change of the log density, in nats, that counts as none.
const LEVEL: f64 = 0.05;
/// How far a flat direction must be flat.
const UNITS: [f64; 3] = [1.0, 30.0, 1000.0];
/// Eigenvalues that may be 0: the noise of differences is smaller, a correlation of 0.999 999 still proper.
const SINGULAR: f64 = 1e-6;
/// Rise, in nats, that is one; all of the rise that is beyond every mode; lengths and halvings looked at.
const RISE: f64 = 0.5;
const BEYOND: f64 = 100.0;
const TRIES: usize = 60;
/// Growth of the steps. Not 2: a ridge of ten times the curvature makes steps of a ninth of the way to an edge at 0, and eight of what is left
/// would end exactly there.
const GROWTH: f64 = 1.9;
/// Growth of a curvature that no search for an ordinary mode sees: a standard deviation falls to 10⁻⁴ of what it was.
const SPIKE: f64 = 1e8;
/// sd over |θ| below which rounding decides.
const ROUNDING: f64 = 1e-13;
/// A parameter takes part in a direction from this share of the largest entry on.
const PART: f64 = 0.1;

/// Looks around where a search ended.
pub(super) fn find<M: Sampled>(
    density: &mut Density<'_, M>,
    end: &End,
    start: &[f64],
    names: &[String],
) -> Result<Option<Hazard>, Failure> {
    let named = |entries: &dyn Fn(usize) -> bool| -> Vec<String> {
        (0..names.len()).filter(|&i| entries(i)).map(|i| names[i].clone()).collect()
    };
    // Rounding may make a flat direction look curved.
    let singular = end.ridged || scaled(end).symmetric_eigenvalues().min() < SINGULAR;
    if let Some(mode) = end.mode.as_ref().filter(|_| !singular) {
        let narrow = |i: usize| narrow(mode, i);
        if !(0..names.len()).any(narrow) {
            return Ok(None);
        }
        let far = |i: usize| (mode.state[i] - start[i]).abs() > 10.0 * start[i].abs().max(1.0);
        return Ok(Some(Hazard::DegenerateMode { parameters: named(&|i| narrow(i) || far(i)) }));
    }
    let flat = if is_level(end) { flat(density, end)? } else { Vec::new() };
    if flat.iter().any(|&part| part) {
        return Ok(Some(Hazard::FlatDirection { parameters: named(&|i| flat[i]) }));
    }
    if end.mode.is_none()
        && let Some(direction) = uphill(end)
        && (spikes(density, end, start)? || rises(density, &end.state, &direction)?)
    {
        let most = direction.amax();
        return Ok(Some(Hazard::DegenerateMode {
            parameters: named(&|i| direction[i].abs() >= PART * most),
        }));
    }
    Ok(None)
}

/// Parameters that change nothing within `scale` of `start`: for those who know their scales, without a search.
pub(in crate::fit) fn untouched<M: Sampled>(
    model: &M,
    (start, scale): (&[f64], &[f64]),
    control: &Control,
) -> Result<Option<Hazard>, Failure> {
    let mut density = Density::new(model, start, control, super::SAMPLE);
    let state = DVector::from_column_slice(start);
    let here = density.at(&state, true)?;
    let mut parameters = Vec::new();
    for (i, name) in model.names().into_iter().enumerate() {
        let mut level = true;
        for by in [scale[i], -scale[i]] {
            let mut there = state.clone();
            there[i] += by;
            level = level && (density.at(&there, true)? - here).abs() < 1e-6;
        }
        parameters.extend(level.then_some(name));
    }
    Ok((!parameters.is_empty()).then_some(Hazard::FlatDirection { parameters }))
}

/// Whether a parameter cannot be told from its neighbours in double precision.
fn narrow(mode: &Mode, i: usize) -> bool {
    let d = mode.state.len();
    mode.covariance[i * d + i].max(0.0).sqrt() < ROUNDING * mode.state[i].abs()
}

/// Units of the parameters, for a look around.
fn units(end: &End) -> Vec<f64> {
    let unit = |(i, x): (usize, &f64)| {
        let (curvature, natural) = (end.hessian[(i, i)].abs(), x.abs().max(1.0));
        if curvature * natural * natural > SINGULAR { curvature.powf(-0.5) } else { natural }
    };
    end.state.iter().enumerate().map(unit).collect()
}

/// −H in these units.
fn scaled(end: &End) -> DMatrix<f64> {
    let unit = units(end);
    DMatrix::from_fn(unit.len(), unit.len(), |i, j| -end.hessian[(i, j)] * unit[i] * unit[j])
}

/// Whether no parameter has a slope: far from a mode, what does not matter there may matter elsewhere.
fn is_level(end: &End) -> bool {
    end.mode.is_some()
        || end.gradient.iter().zip(units(end)).all(|(slope, unit)| (slope * unit).abs() < LEVEL)
}

/// Whether a search that did not end rose all the way into an ever narrower peak.
fn spikes<M: Sampled>(density: &mut Density<'_, M>, end: &End, start: &[f64]) -> Result<bool, Failure> {
    let Some(first) = &end.first else { return Ok(false) };
    let narrower = |i: usize| first[i] != 0.0 && (end.hessian[(i, i)] / first[i]).abs() > SPIKE;
    if !(0..start.len()).any(narrower) {
        return Ok(false);
    }
    let begin = density.at(&DVector::from_column_slice(start), true)?;
    Ok(density.at(&end.state, true)? - begin > BEYOND)
}

/// Which parameters change along flat directions.
fn flat<M: Sampled>(density: &mut Density<'_, M>, end: &End) -> Result<Vec<bool>, Failure> {
    let state = &end.state;
    let d = state.len();
    let mut parts = vec![false; d];
    let here = density.at(state, true)?;
    if !here.is_finite() {
        return Ok(parts);
    }
    let unit = units(end);
    let eigen = scaled(end).symmetric_eigen();
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if value.abs() > SINGULAR {
            continue;
        }
        let mut level = true;
        for length in UNITS.into_iter().flat_map(|length| [length, -length]) {
            let there = DVector::from_fn(d, |i, _| state[i] + length * vector[i] * unit[i]);
            level = level && (density.at(&there, true)? - here).abs() < LEVEL;
        }
        if level {
            let most = vector.amax();
            parts.iter_mut().zip(vector.iter()).for_each(|(part, entry)| *part |= entry.abs() >= PART * most);
        }
    }
    Ok(parts)
}

/// The way that the search went last, or the gradient's.
fn uphill(end: &End) -> Option<DVector<f64>> {
    let slope = end.gradient.norm();
    let along = || (slope > 0.0).then(|| &end.gradient * (end.state.amax().max(1.0) * 1e-2 / slope));
    end.step.clone().filter(|step| step.amax() > 0.0).or_else(along)
}

/// Whether the log density rises without bound along `direction`.
fn rises<M: Sampled>(
    density: &mut Density<'_, M>,
    state: &DVector<f64>,
    direction: &DVector<f64>,
) -> Result<bool, Failure> {
    let begin = density.at(state, true)?;
    if !begin.is_finite() {
        return Ok(false);
    }
    let (mut low, mut high, mut last) = (0.0, None, begin);
    let mut gains = Vec::new();
    for k in 0..TRIES {
        let length = GROWTH.powi(k as i32);
        let there = density.at(&(state + direction * length), true)?;
        if !there.is_finite() {
            high = Some(length);
            break;
        }
        if there < last + RISE {
            return Ok(false);
        }
        gains.push(there - last);
        (low, last) = (length, there);
    }
    let growing = gains.len() >= 3 && gains.windows(2).rev().take(2).all(|pair| pair[1] >= pair[0]);
    if growing && last - begin > BEYOND {
        return Ok(true);
    }
    // An edge: does what is left of the way still hold as much at every halving?
    let Some(mut high) = high else { return Ok(false) };
    let mut risen = 0;
    for _ in 0..TRIES {
        let middle = 0.5 * (low + high);
        let there = density.at(&(state + direction * middle), true)?;
        if !there.is_finite() {
            high = middle;
        } else if there < last + RISE {
            return Ok(false);
        } else {
            risen += 1;
            (low, last) = (middle, there);
            if risen >= 20 {
                return Ok(last - begin > 10.0);
            }
        }
    }
    Ok(false)
}
