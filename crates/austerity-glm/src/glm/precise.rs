//! Double precision where single precision is too coarse for the posterior, and how that is decided.
//!
//! Stored values are f32, and so are the sums η = x·γ and what families make of them. The rounding of η, up to 2⁻²⁴·|η| a row, changes a log ratio
//! by Σ w·ℓ''·ε·δ; with δ the move of a row's predictor, Cauchy's inequality gives
//!
//! ```text
//! error ≤ 2⁻²⁴ · √(Σ w·|ℓ''|·δ²) · √(Σ w·|ℓ''|·η²) ≈ 2⁻²⁴ · √d · √(Σ w·|ℓ''|·η²)
//! ```
//!
//! for a move of about a posterior standard deviation. Ten million ordinary rows stay below 10⁻³; counts of 10⁶, weights of 10⁶ and leverages of
//! 10⁵ do not: their posterior is narrower than f32 can place it. Such models (`is_needed`) take the loops of this file in exact totals, derivatives
//! and the certainty stratum: η, the likelihood and all sums in f64 from the stored f32 values, which stay as they are (their rounding differs from row to row
//! and averages out). Residuals of an expansion, which are small and need relative accuracy only, stay in f32.
//!
//! Cost: some five times the time of the f32 loops per row. Decisions on residuals do not notice; exact scans do.

use std::ops::Range;

use super::blocks::{BLOCK, Layout, Line, View};
use super::derivative::Sums;
use super::expansion::certain::{CertainRows, Displacement, Slopes};
use super::list::List;
use super::predictor::coding::add_exact;
use super::predictor::levels;
use super::predictor::products::WideBlock;
use super::{Family, Glm, Kernel as _, MOST_EXTRA, Step};
use crate::{ResponseKind, Store};
use austerity::error::{Error, Result};
use austerity::population::{Moments, merge_checked};

/// Largest bound of the rounding of a log ratio, per √d, that single precision is trusted with.
const LARGEST_ERROR: f64 = 5e-4;
/// Rows that are looked at; more are sampled evenly.
const LOOKED_AT: usize = 1 << 20;
/// Predictors of binary and binomial responses that carry information are about so large.
const USUAL_LOGIT: f64 = 1.0;

/// Whether single precision cannot place the posterior of these rows: 2⁻²⁴·√(Σ w|ℓ''|η²) beyond 5·10⁻⁴, by what the responses alone say of the mode.
pub(super) fn is_needed(store: &Store) -> bool {
    let description = store.description();
    let (blocks, layout) = (store.blocks(), description.layout());
    if description.rows == 0 {
        return false;
    }
    if description.kind == ResponseKind::Binary && !description.weights {
        return is_too_large(0.25 * description.rows as f64 * USUAL_LOGIT.powi(2));
    }
    let view = blocks.view();
    let stride = view.count().div_ceil(LOOKED_AT / BLOCK).max(1);
    let looked_at = || {
        (0..view.count()).step_by(stride).flat_map(|block| {
            let (lines, layout) = (view.block(block), view.layout());
            (0..view.rows_in(block)).map(move |i| {
                let side = |place: Option<usize>| place.map_or(1.0, |p| value(lines, p, i));
                (side(layout.weight), side(layout.trials), value(lines, layout.response, i))
            })
        })
    };
    let information: f64 = match description.kind {
        ResponseKind::Binary => 0.25 * USUAL_LOGIT.powi(2) * looked_at().map(|(w, ..)| w).sum::<f64>(),
        ResponseKind::CountOfTrials => {
            0.25 * USUAL_LOGIT.powi(2) * looked_at().map(|(w, trials, _)| w * trials).sum::<f64>()
        }
        // At the mode the mean, which is −ℓ'', is about the count, and η its logarithm.
        ResponseKind::Count => {
            looked_at().map(|(w, _, y)| w * y * y.max(std::f64::consts::E).ln().powi(2)).sum()
        }
        // η is about the response, and 1/σ² at least what its own scale gives.
        ResponseKind::Share | ResponseKind::Ordered => {
            0.25 * USUAL_LOGIT.powi(2) * looked_at().map(|(w, ..)| w).sum::<f64>()
        }
        // The same of the logarithms.
        ResponseKind::Real | ResponseKind::Positive | ResponseKind::Time => {
            let scale = scale(store, layout.response);
            looked_at().map(|(w, _, y)| w * (y / scale).powi(2)).sum()
        }
    };
    is_too_large(information * stride as f64)
}

fn is_too_large(information: f64) -> bool {
    f64::from(f32::EPSILON) / 2.0 * information.sqrt() > LARGEST_ERROR
}

/// A robust scale of real responses, from at most 4,096 rows: 1.48 times the median distance from the median.
fn scale(store: &Store, column: usize) -> f64 {
    let median = |values: &mut [f64]| {
        let middle = values.len() / 2;
        *values.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    let rows = store.rows().min(4096);
    let mut values: Vec<f64> = (0..rows).map(|row| f64::from(store.blocks().value(row, column))).collect();
    let centre = median(&mut values);
    values.iter_mut().for_each(|value| *value = (*value - centre).abs());
    let found = 1.4826 * median(&mut values);
    // More than half of the responses are the same: then their spread as a whole.
    if found > 0.0 { found } else { store.response_sd().max(f64::MIN_POSITIVE) }
}

/// A move in f64: γ and Δγ in the order of the storage, the constants last.
#[derive(Clone, Copy, Debug)]
pub struct ExactMove<'a> {
    /// γ.
    pub from: &'a [f64],
    /// Δγ.
    pub change: &'a [f64],
}

#[inline]
fn value(lines: &[Line], place: usize, i: usize) -> f64 {
    f64::from(lines[2 * place + i / 16].0[i % 16])
}

/// η of the 32 rows of a block, without offset; `gamma` is in the order of the storage, its constant last.
pub(crate) fn predictor(layout: &Layout, lines: &[Line], gamma: &[f64]) -> [f64; BLOCK] {
    let (&constant, coefficients) = gamma.split_last().unwrap_or((&0.0, &[]));
    let mut out = [constant; BLOCK];
    add_exact(layout, lines, coefficients, &mut out);
    out
}

/// The weighted differences of the 32 rows of a block.
pub(super) fn values_of<F: Family>(
    blocks: &View<'_>,
    step: &Step<F>,
    task: ExactMove<'_>,
    block: usize,
) -> [f64; BLOCK] {
    let (layout, lines) = (blocks.layout(), blocks.block(block));
    let (eta, delta) = (predictor(layout, lines, task.from), predictor(layout, lines, task.change));
    std::array::from_fn(|i| {
        let side = |place: Option<usize>, missing: f64| place.map_or(missing, |p| value(lines, p, i));
        let weight = side(layout.weight, 1.0);
        if weight == 0.0 {
            return 0.0;
        }
        let (eta, response) = (eta[i] + side(layout.offset, 0.0), value(lines, layout.response, i));
        weight * <F::Kernel>::difference(step, eta, delta[i], response, side(layout.trials, 1.0))
    })
}

/// Adds the differences of storage blocks `list` to `moments`. Errors name storage positions.
pub(super) fn summarize<F: Family>(
    blocks: &View<'_>,
    step: &Step<F>,
    task: ExactMove<'_>,
    list: List<'_>,
    moments: &mut Moments,
) -> Result<()> {
    for block in list {
        let values = values_of::<F>(blocks, step, task, block);
        merge_checked(&values[..blocks.rows_in(block)], block * BLOCK, moments)?;
    }
    Ok(())
}

/// Sums of the log-likelihood and its derivatives over some blocks, as [`super::derivative::pass`]; `predictor` is γ with its constant last.
pub(super) fn derivatives<F: Family>(
    model: &Glm<F>,
    range: Range<usize>,
    predictor: &[f64],
    extra: &[f64],
    kept: &mut [f32],
    sums: &mut Sums,
) -> Result<()> {
    let view = model.blocks().view();
    let layout = view.layout();
    let mut wide = WideBlock::new(layout);
    for (place, block) in range.enumerate() {
        let lines = view.block(block);
        let mut eta = self::predictor(layout, lines, predictor);
        wide.fill(lines);
        let (mut first, mut second) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut cross = [[0.0; BLOCK]; MOST_EXTRA];
        for i in 0..view.rows_in(block) {
            let side = |place: Option<usize>, missing: f64| place.map_or(missing, |p| value(lines, p, i));
            eta[i] += side(layout.offset, 0.0);
            let weight = side(layout.weight, 1.0);
            if weight == 0.0 {
                continue;
            }
            let (eta, response, trials) =
                (eta[i], value(lines, layout.response, i), side(layout.trials, 1.0));
            if sums.valued {
                let row = model.family.log_likelihood(extra, eta, response, trials);
                if row.is_nan() {
                    return Err(Error::NotANumber { row: model.original(block * BLOCK + i) });
                }
                sums.value += weight * row;
            }
            let curve = model.family.row_curve(extra, eta, response, trials);
            (first[i], second[i]) = (weight * curve.slope[0], weight * curve.second[0][0]);
            for (a, cross) in cross.iter_mut().enumerate().take(model.family.extra().len()) {
                cross[i] = weight * curve.second[0][a + 1];
                sums.slope[a] += weight * curve.slope[a + 1];
                for b in 0..model.family.extra().len() {
                    sums.curve[a][b] += weight * curve.second[a + 1][b + 1];
                }
            }
        }
        if let Some(kept) = kept.get_mut(place * BLOCK..(place + 1) * BLOCK) {
            kept.iter_mut().zip(&eta).for_each(|(slot, &eta)| *slot = eta as f32);
        }
        wide.add_sums(layout, lines, &first, &mut sums.gradient);
        for (sums, cross) in sums.cross.iter_mut().zip(&cross).take(model.family.extra().len()) {
            wide.add_sums(layout, lines, cross, sums);
        }
        if let Some(products) = &mut sums.hessian {
            products.add_wide(layout, lines, &wide, &second);
        }
    }
    Ok(())
}

/// The change of the log-likelihood of the certainty stratum from the centre, and its slopes.
pub(super) fn certain<F: Family>(
    stratum: &CertainRows<F>,
    displacement: &Displacement<'_, F>,
    mut slopes: Option<&mut Slopes>,
) -> f64 {
    let model = stratum.model();
    let view = model.blocks().view();
    let layout = view.layout();
    let mut total = 0.0;
    for block in 0..view.count() {
        let (lines, used) = (view.block(block), stratum.columns_of(block));
        let mut delta = [displacement.exact_constant; BLOCK];
        let (dense, table) = displacement.exact.split_at(layout.columns);
        for &j in used {
            let (pair, coefficient) = (&lines[2 * j as usize..][..2], dense[j as usize]);
            let values = pair[0].0.iter().chain(&pair[1].0);
            delta.iter_mut().zip(values).for_each(|(slot, &x)| *slot += coefficient * f64::from(x));
        }
        levels::gather(layout, lines, table, &mut delta);
        let centre = &stratum.exact_eta()[block * BLOCK..][..BLOCK];
        let mut first = [0.0; BLOCK];
        for i in 0..view.rows_in(block) {
            let side = |place: Option<usize>, missing: f64| place.map_or(missing, |p| value(lines, p, i));
            let (weight, trials) = (side(layout.weight, 1.0), side(layout.trials, 1.0));
            if weight == 0.0 {
                continue;
            }
            let (eta, response) = (centre[i], value(lines, layout.response, i));
            total += weight * <F::Kernel>::difference(&displacement.step, eta, delta[i], response, trials);
            if let Some(slopes) = &mut slopes {
                let (moved, extra) = (eta + delta[i], displacement.extra);
                let curve = model.family.row_curve(extra, moved, response, trials);
                first[i] = weight * curve.slope[0];
                slopes.constant += first[i];
                for (sum, slope) in
                    slopes.extra.iter_mut().zip(&curve.slope[1..]).take(model.family.extra().len())
                {
                    *sum += weight * slope;
                }
            }
        }
        let Some(slopes) = &mut slopes else { continue };
        levels::scatter(layout, lines, &first, &mut slopes.levels);
        for &j in used {
            let pair = &lines[2 * j as usize..][..2];
            let sums = &mut slopes.columns[j as usize];
            for (half, line) in pair.iter().enumerate() {
                let products = line.0.iter().zip(&first[16 * half..]);
                sums.iter_mut().zip(products).for_each(|(slot, (&x, f))| *slot += (f64::from(x) * f) as f32);
            }
        }
    }
    total
}

/// η of the rows of `model` at `state`, filled up to whole blocks.
pub(super) fn predictors<F: Family>(model: &Glm<F>, state: &[f64]) -> Vec<f64> {
    let view = model.blocks().view();
    let gamma = model.exact_predictor(state);
    let mut all = Vec::with_capacity(view.count() * BLOCK);
    for block in 0..view.count() {
        let lines = view.block(block);
        let mut eta = predictor(view.layout(), lines, &gamma);
        if let Some(place) = view.layout().offset {
            eta.iter_mut().enumerate().for_each(|(i, eta)| *eta += value(lines, place, i));
        }
        all.extend(eta);
    }
    all
}
