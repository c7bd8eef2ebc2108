//! What follows from a family's log density alone: derivatives, differences, residuals and bounds, row by row in f64.
//!
//! * Derivatives in η and the logarithms of the extra parameters are the coefficients of one jet.
//! * A difference of two densities loses the digits that they share. Where the move is small, it is ∫₀¹ f'(τ) dτ along the line between the states, by Gauss–Legendre
//!   quadrature with two nodes (relative error below 1e-13 up to `SMALL_MOVE`); elsewhere f(1) − f(0).
//! * A residual of the second order is ½∫₀¹ (1 − τ)² f'''(τ) dτ, of the third (1/6)∫₀¹ (1 − τ)³ f⁗(τ) dτ, along the line from the centre, by Gauss–Jacobi quadrature with three nodes
//!   up to `SMALL_DISPLACEMENT` (relative error about 1e-9); beyond, the definition.
//! * Bounds are jets of intervals. With T the tensor of derivatives of some order, |T[v, …, v]| ≤ ‖T‖·|v|^order with the Frobenius norm, which is Σ k!·α!·c_α² over
//!   the coefficients c_α of degree k.
//!
//! Cost: a family's log density in f64 takes tens of nanoseconds, a residual six to eight jets of it, a bound some microseconds. [`Derived`] is the kernel of
//! families without one.

use fearless_simd::Simd;
use fearless_simd::prelude::*;

use super::family::{
    Around, Curve, ExtraDerivatives, Family, Kernel, MOST_EXTRA, MOST_USED, THIRDS, VARIABLES,
};
use super::kernel::array;
use super::number::{Interval, Jet};
use super::{Derivatives, Displaced, Pair, Rows};
use crate::simd::Lanes;

/// Moves up to this, in units of the family, are integrated.
const SMALL_MOVE: f64 = 1e-3;
/// Displacements up to this, in units of the family, are integrated.
const SMALL_DISPLACEMENT: f64 = 0.1;

/// Nodes on [0, 1]; both weights are ½.
const LEGENDRE: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];
/// Nodes and weights on [0, 1] for the weight (1 − τ)².
const SECOND: [(f64, f64); 3] = [
    (0.072_994_024_073_149_73, 0.157_136_361_064_886_62),
    (0.347_003_766_038_351_9, 0.146_246_269_259_866_02),
    (0.705_002_209_888_498_4, 0.029_950_703_008_580_698),
];
/// The same for (1 − τ)³.
const THIRD: [(f64, f64); 3] = [
    (0.062_075_899_380_125_46, 0.128_921_043_160_521_6),
    (0.301_188_730_836_386_5, 0.104_599_897_556_806_7),
    (0.636_735_369_783_488, 0.016_479_059_282_671_72),
];

/// The kernel of a family without one.
#[derive(Clone, Copy, Debug)]
pub struct Derived;

/// A pair of extra parameters.
#[derive(Clone, Copy, Debug)]
pub struct Between {
    from: [f64; MOST_EXTRA],
    to: [f64; MOST_EXTRA],
    /// What a move of η is small against.
    unit: f64,
    /// Whether an extra parameter moves too far for the integral.
    far: bool,
}

/// The extra parameters at the centre, and two ways from there.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    centre: [f64; MOST_EXTRA],
    moved: [[f64; MOST_EXTRA]; 2],
    unit: f64,
    far: [bool; 2],
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observed {
    pub(super) response: f64,
    pub(super) trials: f64,
}

fn padded(extra: &[f64]) -> [f64; MOST_EXTRA] {
    std::array::from_fn(|k| extra.get(k).copied().unwrap_or(0.0))
}

fn largest(changes: &[f64]) -> f64 {
    changes.iter().fold(0.0, |size, change| size.max(change.abs()))
}

/// The log density along a line, as a jet at its point τ.
#[inline(always)]
fn along<F: Family, const N: usize>(
    family: &F,
    (eta, by): (f64, f64),
    extra: &[f64; MOST_EXTRA],
    moved: &[f64; MOST_EXTRA],
    tau: f64,
    Observed { response, trials }: Observed,
) -> [f64; N] {
    let place = |from: f64, by: f64| {
        let mut jet = Jet::<f64, 1, N>::known(from + tau * by);
        jet.coefficients[1] = by;
        jet
    };
    let uses = family.uses(response).places;
    let of = |k: usize| match uses.get(k) {
        Some(&at) if at < MOST_EXTRA => place(extra[at], moved[at]),
        _ => place(0.0, 0.0),
    };
    let extra: [Jet<f64, 1, N>; MOST_USED] = std::array::from_fn(of);
    let density = family.log_density(place(eta, by), &extra[..F::USED], response, trials);
    density.coefficients
}

/// The log density of one row, of whose extra parameters it takes those it depends on.
#[inline(always)]
pub(super) fn density<F: Family>(family: &F, extra: &[f64], eta: f64, row: Observed) -> f64 {
    let uses = family.uses(row.response).places;
    let used: [f64; MOST_USED] = std::array::from_fn(|k| extra.get(uses[k]).copied().unwrap_or(0.0));
    family.log_density(eta, &used[..F::USED], row.response, row.trials)
}

impl Between {
    pub(super) fn new(unit: f64, from: &[f64], to: &[f64]) -> Self {
        let (from, to) = (padded(from), padded(to));
        let changes: [f64; MOST_EXTRA] = std::array::from_fn(|k| to[k] - from[k]);
        Self { from, to, unit, far: largest(&changes) > SMALL_MOVE }
    }
}

impl Ways {
    pub(super) fn new(unit: f64, centre: &[f64], from: &[f64], to: &[f64]) -> Self {
        let centre = padded(centre);
        let moved = [from, to].map(|state| {
            let state = padded(state);
            std::array::from_fn(|k| state[k] - centre[k])
        });
        let far = moved.map(|moved: [f64; MOST_EXTRA]| largest(&moved) > SMALL_DISPLACEMENT);
        Self { centre, moved, unit, far }
    }
}

/// The difference of one row.
pub(super) fn difference<F: Family>(family: &F, step: &Between, eta: f64, delta: f64, row: Observed) -> f64 {
    if !step.far && delta.abs() <= SMALL_MOVE * step.unit {
        let moved = std::array::from_fn(|k| step.to[k] - step.from[k]);
        let slope = |tau: f64| along::<F, 2>(family, (eta, delta), &step.from, &moved, tau, row)[1];
        return 0.5 * (slope(LEGENDRE[0]) + slope(LEGENDRE[1]));
    }
    density(family, &step.to, eta + delta, row) - density(family, &step.from, eta, row)
}

/// What the expansion leaves of one row at η̂ + h and the state number `which`.
fn remainder<F: Family>(
    family: &F,
    ways: &Ways,
    (eta, h, which): (f64, f64, usize),
    row: Observed,
    third: bool,
) -> f64 {
    let (centre, moved) = (&ways.centre, &ways.moved[which]);
    if !ways.far[which] && h.abs() <= SMALL_DISPLACEMENT * ways.unit {
        // Coefficients are derivatives over factorials: ½·6 and (1/6)·24.
        let sum: f64 = if third {
            let fourth = |tau| along::<F, 5>(family, (eta, h), centre, moved, tau, row)[4];
            4.0 * THIRD.iter().map(|&(tau, weight)| weight * fourth(tau)).sum::<f64>()
        } else {
            let of = |tau| along::<F, 4>(family, (eta, h), centre, moved, tau, row)[3];
            3.0 * SECOND.iter().map(|&(tau, weight)| weight * of(tau)).sum::<f64>()
        };
        return sum;
    }
    let known = along::<F, 4>(family, (eta, h), centre, moved, 0.0, row);
    let there: [f64; MOST_EXTRA] = std::array::from_fn(|k| centre[k] + moved[k]);
    let value = density(family, &there, eta + h, row);
    value - known[0] - known[1] - known[2] - if third { known[3] } else { 0.0 }
}

/// What the expansion leaves of the move of one row from η̂ + h to η̂ + h'.
pub(super) fn residual<F: Family>(
    family: &F,
    ways: &Ways,
    (eta, [from, to]): (f64, [f64; 2]),
    row: Observed,
    third: bool,
) -> f64 {
    remainder(family, ways, (eta, to, 1), row, third) - remainder(family, ways, (eta, from, 0), row, third)
}

/// A function of η, response and trials of 32 rows, in f64.
#[inline(always)]
pub(super) fn each_row<S: Simd>(simd: S, rows: &Rows<S>, of: impl Fn(f64, f64, f64) -> f64) -> Pair<S> {
    let (eta, response, trials) = (array(rows.eta), array(rows.response), array(rows.trials));
    let mut out = [0.0f32; 32];
    for (i, out) in out.iter_mut().enumerate() {
        *out = of(f64::from(eta[i]), f64::from(response[i]), f64::from(trials[i])) as f32;
    }
    pair(simd, &out)
}

#[inline(always)]
fn pair<S: Simd>(simd: S, values: &[f32; 32]) -> Pair<S> {
    [Lanes::from_slice(simd, &values[..16]), Lanes::from_slice(simd, &values[16..])]
}

impl<F: Family> Kernel<F> for Derived {
    /// Each row costs as much as the others: what is not wanted is not computed.
    const WHOLE_BLOCKS: bool = false;

    type Step = (F, Between);
    type Expanded = (F, Ways);

    fn step(family: &F, from: &[f64], to: &[f64]) -> (F, Between) {
        (*family, Between::new(family.unit(from), from, to))
    }

    /// Always in f64, row by row.
    #[inline(always)]
    fn differences<S: Simd>(_: S, _: &(F, Between), _: &Rows<S>, _: Pair<S>) -> Option<Pair<S>> {
        None
    }

    #[inline(never)]
    fn difference((family, step): &(F, Between), eta: f64, delta: f64, response: f64, trials: f64) -> f64 {
        family.row_difference(step, eta, delta, response, trials)
    }

    #[inline(always)]
    fn derivatives<S: Simd>(family: &F, simd: S, extra: &[f64], rows: &Rows<S>) -> Derivatives<S> {
        let (eta, response, trials) = (array(rows.eta), array(rows.response), array(rows.trials));
        let (eta, response, trials) = (eta.map(f64::from), response.map(f64::from), trials.map(f64::from));
        let mut slope = [[0.0f32; 32]; VARIABLES];
        let mut second = [[[0.0f32; 32]; VARIABLES]; VARIABLES];
        let count = 1 + family.extra().len();
        for i in 0..32 {
            let curve = family.row_curve(extra, eta[i], response[i], trials[i]);
            for (slot, value) in slope.iter_mut().zip(curve.slope).take(count) {
                slot[i] = value as f32;
            }
            for (slots, values) in second.iter_mut().zip(&curve.second).take(count) {
                slots.iter_mut().zip(values).take(count).for_each(|(slot, value)| slot[i] = *value as f32);
            }
        }
        let mut all =
            Derivatives { first: pair(simd, &slope[0]), second: pair(simd, &second[0][0]), extra: None };
        if count > 1 {
            let mut more = ExtraDerivatives::zero(simd);
            for a in 1..count {
                more.slope[a - 1] = pair(simd, &slope[a]);
                more.cross[a - 1] = pair(simd, &second[0][a]);
                for (slot, values) in more.curve[a - 1].iter_mut().zip(&second[a][1..count]) {
                    *slot = pair(simd, values);
                }
            }
            all.extra = Some(more);
        }
        all
    }

    #[inline(always)]
    fn largest_third<S: Simd>(family: &F, simd: S, extra: &[f64], rows: &Rows<S>, reach: Pair<S>) -> Pair<S> {
        let (eta, response, trials) = (array(rows.eta), array(rows.response), array(rows.trials));
        let reach = array(reach);
        let mut out = [0.0f32; 32];
        for (i, out) in out.iter_mut().enumerate() {
            let around = (f64::from(eta[i]), f64::from(reach[i]));
            *out =
                family.row_largest_third(extra, around, f64::from(response[i]), f64::from(trials[i])) as f32;
        }
        pair(simd, &out)
    }

    fn expanded(family: &F, centre: &[f64], from: &[f64], to: &[f64]) -> (F, Ways) {
        (*family, Ways::new(family.unit(centre), centre, from, to))
    }

    #[inline(always)]
    fn residuals<S: Simd>(_: S, _: &(F, Ways), _: &Rows<S>, _: Displaced<S>, _: bool) -> Option<Pair<S>> {
        None
    }

    #[inline(never)]
    fn residual(
        (family, ways): &(F, Ways),
        eta: f64,
        moved: [f64; 2],
        response: f64,
        trials: f64,
        third: bool,
    ) -> f64 {
        family.row_residual(ways, (eta, moved), (response, trials), third)
    }
}

/// First, second and third derivative in η.
pub(super) fn row_derivatives<F: Family>(
    family: &F,
    extra: &[f64],
    eta: f64,
    response: f64,
    trials: f64,
) -> [f64; 3] {
    let known = [0.0; MOST_EXTRA];
    let row = Observed { response, trials };
    let [_, a, b, c] = along::<F, 4>(family, (eta, 1.0), &padded(extra), &known, 0.0, row);
    [a, 2.0 * b, 6.0 * c]
}

/// Calls a function that is generic over variables and coefficients with those of the family's extra parameters, of order 2, 3 or 4.
macro_rules! by_variables {
    (2, $call:ident::<$family:ident>($($argument:expr),*)) => {
        by_variables!(@ $call, $family, ($($argument),*), 3, 6, 10, 15)
    };
    (3, $call:ident::<$family:ident>($($argument:expr),*)) => {
        by_variables!(@ $call, $family, ($($argument),*), 4, 10, 20, 35)
    };
    (4, $call:ident::<$family:ident>($($argument:expr),*)) => {
        by_variables!(@ $call, $family, ($($argument),*), 5, 15, 35, 70)
    };
    (@ $call:ident, $family:ident, ($($argument:expr),*), $one:literal, $two:literal, $three:literal, $four:literal) => {{
        const { assert!($family::USED <= MOST_USED, "a row depends on at most three extra parameters") };
        match $family::USED {
            0 => $call::<$family, 1, $one>($($argument),*),
            1 => $call::<$family, 2, $two>($($argument),*),
            2 => $call::<$family, 3, $three>($($argument),*),
            _ => $call::<$family, 4, $four>($($argument),*),
        }
    }};
}

/// All derivatives up to the order of N coefficients in M variables.
#[inline(always)]
fn jet<F: Family, const M: usize, const N: usize>(
    family: &F,
    extra: &[f64],
    eta: f64,
    Observed { response, trials }: Observed,
) -> Jet<f64, M, N> {
    let uses = family.uses(response).places;
    let extra: [Jet<f64, M, N>; MOST_USED] = std::array::from_fn(|k| match extra.get(uses[k]) {
        Some(&value) if k + 1 < M => Jet::variable(value, k + 1, 1.0),
        _ => Jet::known(0.0),
    });
    family.log_density(Jet::variable(eta, 0, 1.0), &extra[..F::USED], response, trials)
}

fn curve<F: Family, const M: usize, const N: usize>(
    family: &F,
    extra: &[f64],
    eta: f64,
    row: Observed,
) -> Curve {
    let jet = jet::<F, M, N>(family, extra, eta, row);
    let mut curve = Curve::default();
    let (first, second) = (Jet::<f64, M, N>::STARTS[1], Jet::<f64, M, N>::STARTS[2]);
    let uses = family.uses(row.response).places;
    // What is unused has derivatives of 0: they go nowhere.
    let place =
        |k: usize| if k == 0 { Some(0) } else { uses[k - 1].checked_add(1).filter(|&k| k < VARIABLES) };
    for (k, &slope) in jet.coefficients[first..second].iter().enumerate() {
        if let Some(place) = place(k) {
            curve.slope[place] = slope;
        }
    }
    for (powers, &c) in Jet::<f64, M, N>::POWERS[second..].iter().zip(&jet.coefficients[second..]) {
        let mut places = (0..M).flat_map(|k| std::iter::repeat_n(k, powers[k] as usize));
        if let (Some(a), Some(b)) = (places.next().and_then(place), places.next().and_then(place)) {
            let value = if a == b { 2.0 * c } else { c };
            curve.second[a][b] = value;
            curve.second[b][a] = value;
        }
    }
    curve
}

/// First and second derivatives.
pub(super) fn row_curve<F: Family>(family: &F, extra: &[f64], eta: f64, response: f64, trials: f64) -> Curve {
    by_variables!(2, curve::<F>(family, extra, eta, Observed { response, trials }))
}

/// α! of a monomial.
fn factorials<const M: usize>(powers: &[u8; M]) -> f64 {
    powers.iter().map(|&power| [1.0, 1.0, 2.0, 6.0, 24.0][usize::from(power).min(4)]).product()
}

fn thirds<F: Family, const M: usize, const N: usize>(
    family: &F,
    extra: &[f64],
    eta: f64,
    row: Observed,
) -> [f64; THIRDS] {
    let jet = jet::<F, M, N>(family, extra, eta, row);
    let start = Jet::<f64, M, N>::STARTS[3];
    let mut all = [0.0; THIRDS];
    for (k, slot) in all.iter_mut().enumerate().take(N - start) {
        *slot = jet.coefficients[start + k] * factorials(&Jet::<f64, M, N>::POWERS[start + k]);
    }
    all
}

/// Third derivatives, in the order of the monomials.
pub(super) fn row_third<F: Family>(
    family: &F,
    extra: &[f64],
    eta: f64,
    response: f64,
    trials: f64,
) -> [f64; THIRDS] {
    by_variables!(3, thirds::<F>(family, extra, eta, Observed { response, trials }))
}

/// Norms of the tensors of the third and fourth order over a box, as far as N coefficients go.
fn norms<F: Family, const M: usize, const N: usize>(
    family: &F,
    around: &Around<'_>,
    (eta, reach): (f64, f64),
    Observed { response, trials }: Observed,
) -> [f64; 2] {
    let uses = family.uses(response).places;
    let extra: [Jet<Interval, M, N>; MOST_USED] = std::array::from_fn(|k| match around.extra.get(uses[k]) {
        Some(&value) if k + 1 < M => {
            let (reach, unit) = (around.reach[uses[k]], around.units[uses[k]]);
            Jet::variable(Interval::around(value, reach), k + 1, 1.0 / unit)
        }
        _ => Jet::known(Interval::around(0.0, 0.0)),
    });
    let eta = Jet::variable(Interval::around(eta, reach), 0, 1.0);
    let density = family.log_density(eta, &extra[..F::USED], response, trials);
    let starts = Jet::<Interval, M, N>::STARTS;
    let norm = |order: usize| -> f64 {
        let factor = [1.0, 1.0, 2.0, 6.0, 24.0][order];
        let places = starts[order]..starts[order + 1];
        let squares = places.map(|n| {
            let size = density.coefficients[n].largest();
            factor * factorials(&Jet::<Interval, M, N>::POWERS[n]) * size * size
        });
        (1.0 + 1e-12) * squares.sum::<f64>().sqrt()
    };
    [norm(3), if Jet::<Interval, M, N>::ORDER >= 4 { norm(4) } else { f64::INFINITY }]
}

/// Bounds of the third and, where asked for, the fourth derivative.
pub(super) fn row_bounds<F: Family>(
    family: &F,
    around: &Around<'_>,
    place: (f64, f64),
    response: f64,
    trials: f64,
    fourth: bool,
) -> [f64; 2] {
    let row = Observed { response, trials };
    if fourth {
        by_variables!(4, norms::<F>(family, around, place, row))
    } else {
        by_variables!(3, norms::<F>(family, around, place, row))
    }
}

/// The largest |third derivative in η|, the extra parameters fixed.
#[inline(never)]
pub(super) fn third_in_eta<F: Family>(
    family: &F,
    extra: &[f64],
    (eta, reach): (f64, f64),
    response: f64,
    trials: f64,
) -> f64 {
    let uses = family.uses(response).places;
    let known = |k: usize| Jet::known(Interval::around(extra.get(uses[k]).copied().unwrap_or(0.0), 0.0));
    let fixed: [Jet<Interval, 1, 4>; MOST_USED] = std::array::from_fn(known);
    let eta = Jet::variable(Interval::around(eta, reach), 0, 1.0);
    let density = family.log_density(eta, &fixed[..F::USED], response, trials);
    6.0 * density.coefficients[3].largest()
}
