//! How much every row can leave of a second-order expansion: one pass after centre and covariance, in f32 over blocks.
//!
//! With C Cᵀ the covariance of the coefficients, lev = |Cᵀx| is the posterior sd of a row's linear predictor, and
//!
//! ```text
//! score = w · max |ℓ'''(η̂ + s)| over |s| ≤ 2·lev · lev³/6
//! ```
//!
//! and of an expansion of the third order w · max |ℓ''''| · lev⁴/24 · √(192/30), the last factor so that both mean the same spread: the squared difference of h³ at two
//! states has the expectation 30·lev⁶, that of h⁴ 192·lev⁸. As in [`crate::glm::influence`], which looks at points in f64 where this takes the largest in the range. Every row is scored, since
//! a sample cannot tell which rows it has missed.
//!
//! **Extra parameters** (log σ of Student noise) leave something too: at most w·t·s³/6 with s their posterior sd and t a bound of the third derivative, 1.92 for ν = 4. Without weights this is the same for every row, so no
//! row can hide: s = .94/√N, and all rows together leave 1.4/√N. With weights, rows of much weight whose columns are 0 (no intercept) have no leverage and yet know σ. So a weighted row scores at least that much. Mixed
//! derivatives are between the two, and left out. Cost: d²/2 multiply-adds and one third derivative a row.

use std::ops::Range;

use fearless_simd::{Simd, prelude::*};
use nalgebra::DMatrix;

use super::centre::Centre;
use super::limit::{Collected, Collector};
use super::passes::in_pieces;
use super::span::Span;
use super::spread::{Spread, factor};
use super::tensor::PANEL;

use crate::glm::blocks::BLOCK;
use crate::glm::kernel::{Rows, column};
use crate::glm::{Family, Glm, Kernel as _};
use crate::simd::{Lanes, dispatched};
use austerity::error::Result;

/// Derivatives are looked at within so many posterior sds.
const REACH: f32 = 2.0;
/// √(192/30).
const FOURTH: f64 = 2.529_822_128_134_703_5;

/// Writes the leverages of the rows of some blocks to `out`, which holds those rows only.
#[inline(always)]
fn leverages<S: Simd>(
    simd: S,
    view: &crate::glm::blocks::View<'_>,
    range: Range<usize>,
    spread: &Spread,
    out: &mut [f32],
) {
    for (place, index) in range.enumerate() {
        let [low, high] = spread.squares(simd, view.layout(), view.block(index)).map(SimdFloat::sqrt);
        low.store_slice(&mut out[place * BLOCK..][..16]);
        high.store_slice(&mut out[place * BLOCK + 16..][..16]);
    }
}

/// Writes the scores of the rows of some blocks; `eta` and `out` hold those rows only. Rows missing from the last block score 0.
#[inline(always)]
pub fn pass<S: Simd, F: Family>(
    simd: S,
    model: &Glm<F>,
    range: Range<usize>,
    spread: &Spread,
    extra: &[f64],
    eta: &[f32],
    out: &mut [f32],
) {
    let view = model.blocks().view();
    let layout = view.layout();
    let sixth = Lanes::splat(simd, 1.0 / 6.0);
    for (place, index) in range.enumerate() {
        let lines = view.block(index);
        let eta = &eta[place * BLOCK..][..BLOCK];
        let eta = [Lanes::from_slice(simd, &eta[..16]), Lanes::from_slice(simd, &eta[16..])];
        let side = |place: Option<usize>, missing: f32| match place {
            Some(place) => column(simd, lines, place),
            None => [Lanes::splat(simd, missing); 2],
        };
        let rows =
            Rows { eta, response: column(simd, lines, layout.response), trials: side(layout.trials, 0.0) };
        let squares = spread.squares(simd, layout, lines);
        let leverage = squares.map(SimdFloat::sqrt);
        let reach = leverage.map(|lev| lev * Lanes::splat(simd, spread.reach));
        let third = <F::Kernel>::largest_third(&model.family, simd, extra, &rows, reach);
        let weight = side(layout.weight, 1.0);
        let out = &mut out[place * BLOCK..][..BLOCK];
        for half in 0..2 {
            let along = third[half] * squares[half] * leverage[half] * sixth;
            let score = weight[half] * along.max(Lanes::splat(simd, spread.extra));
            score.store_slice(&mut out[16 * half..16 * (half + 1)]);
        }
        let count = view.rows_in(index);
        for score in out.iter_mut() {
            // An infinite or undefined score is as heavy as scores can be; its square must stay a number.
            *score = if score.is_nan() { LARGEST } else { score.min(LARGEST) };
        }
        out[count..].fill(0.0);
    }
}

/// Scores of all rows, filled up to whole blocks, and what a limit of the second order needs, where that is wanted and exists.
pub(super) fn of_all<F: Family>(
    model: &Glm<F>,
    centre: &Centre,
    third: bool,
    limited: bool,
    threads: usize,
) -> Result<(Vec<f32>, Option<Collected>)> {
    let spread = Spread::new(model, &centre.covariance, REACH)?;
    let d = model.parameters();
    let lower = factor(&DMatrix::from_fn(d, d, |i, k| centre.covariance[i * d + k]))?;
    let span = Span::new(model, &lower, &centre.state, f64::from(REACH));
    let collector = if limited { Collector::new(model, lower, span.clone(), third) } else { None };
    let count = model.blocks().count();
    let mut scores = vec![0.0; count * BLOCK];
    let (eta, extra) = (&centre.eta, model.extra(&centre.state));
    let parts = in_pieces(count, threads, &mut scores, |range, out| {
        let eta = &eta[range.start * BLOCK..range.end * BLOCK];
        let score = |range: Range<usize>, eta: &[f32], out: &mut [f32]| match third {
            true => by_fourth(model, range, (&spread, &span), FOURTH, eta, out),
            false => (F::compiled().scores)(model, range, &spread, extra, eta, out),
        };
        let Some(collector) = &collector else {
            score(range, eta, out);
            return Ok(None);
        };
        let (mut panel, mut totals) = (collector.panel(), collector.totals());
        // A few blocks at a time, which are in the cache when they are needed again.
        let pieces = eta.chunks(PANEL * BLOCK).zip(out.chunks_mut(PANEL * BLOCK)).enumerate();
        for (k, (eta, out)) in pieces {
            let first = range.start + k * PANEL;
            score(first..first + eta.len() / BLOCK, eta, out);
            collector.take(model, first, eta, &mut panel, &mut totals);
        }
        Ok(Some(totals))
    })?;
    let collected = collector.map(|collector| {
        let mut totals = collector.totals();
        parts.iter().flatten().for_each(|part| totals.add(part));
        Collected { collector, totals }
    });
    Ok((scores, collected))
}

/// Scores by the fourth derivative, times `factor`.
pub(super) fn by_fourth<F: Family>(
    model: &Glm<F>,
    range: Range<usize>,
    (spread, span): (&Spread, &Span),
    factor: f64,
    eta: &[f32],
    out: &mut [f32],
) {
    let view = model.blocks().view();
    let layout = view.layout();
    dispatched!(model.level, simd => leverages(simd, &view, range.clone(), spread, out));
    for (i, (score, &eta)) in out.iter_mut().zip(eta).enumerate() {
        let (block, lane) = (range.start + i / BLOCK, i % BLOCK);
        let side = |place: Option<usize>| {
            place.map_or(1.0, |p| f64::from(view.block(block)[2 * p + lane / 16].0[lane % 16]))
        };
        let leverage = f64::from(*score);
        let reach = f64::from(spread.reach) * leverage;
        *score = if lane < view.rows_in(block) {
            let (response, trials) = (side(Some(layout.response)), side(layout.trials));
            let place = (f64::from(eta), reach);
            let [_, largest] = model.family.row_bounds(&span.around(), place, response, trials, true);
            let size = if F::EXTRA.is_empty() { leverage } else { leverage.hypot(span.square.sqrt()) };
            let score = side(layout.weight) * largest * size.powi(4) / 24.0 * factor;
            // An undefined score is as heavy as scores can be.
            (score as f32).min(LARGEST)
        } else {
            0.0
        };
    }
}

/// Scores beyond this are all alike.
const LARGEST: f32 = 1e18;
