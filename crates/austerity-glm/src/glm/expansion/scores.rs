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
use super::limit::{Collected, Collector, Totals};
use super::span::Span;
use super::spread::{Spread, factor};
use super::tensor::{PANEL, Panel};

use crate::glm::blocks::BLOCK;
use crate::glm::kernel::{Rows, column};
use crate::glm::{Family, Glm, Kernel as _};
use crate::memory::filled_on;
use crate::pass::Pass;
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

/// How rows are scored by the third derivative.
#[derive(Clone, Copy, Debug)]
pub struct Scoring<'a> {
    spread: &'a Spread,
    /// sds within which the derivative is bounded.
    reach: f32,
    extra: &'a [f64],
    /// lev² of the rows, where it is known.
    squares: Option<&'a [f32]>,
}

impl<'a> Scoring<'a> {
    pub(super) fn new(spread: &'a Spread, extra: &'a [f64]) -> Self {
        Self { spread, reach: spread.reach, extra, squares: None }
    }

    /// The same with what a panel of the same rows knows of them.
    pub(super) fn knowing(self, panel: &'a Panel) -> Self {
        // A panel knows the directions that are projected on, which may be few of many.
        let squares = self.spread.is_whole().then_some(panel.squares.as_flattened());
        Self { squares, ..self }
    }
}

/// Writes the scores of the rows of some blocks; `eta` and `out` hold those rows only. Rows missing from the last block score 0.
#[inline(always)]
pub fn pass<S: Simd, F: Family>(
    simd: S,
    model: &Glm<F>,
    range: Range<usize>,
    Scoring { spread, reach, extra, squares: known }: Scoring<'_>,
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
            Rows { eta, response: column(simd, lines, layout.response), trials: side(layout.trials, 1.0) };
        let squares = match known.map(|known| &known[place * BLOCK..][..BLOCK]) {
            Some(known) => [Lanes::from_slice(simd, &known[..16]), Lanes::from_slice(simd, &known[16..])],
            None => spread.squares(simd, layout, lines),
        };
        let leverage = squares.map(SimdFloat::sqrt);
        let reach = leverage.map(|lev| lev * Lanes::splat(simd, reach));
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

/// The pass that scores every row, and sums what a limit needs where that is wanted and exists. It keeps the scores.
pub(super) struct ScoreRows<'a> {
    spread: Spread,
    span: Span,
    extra: &'a [f64],
    /// η̂ of every row.
    eta: &'a [f32],
    /// By the fourth derivative, not by the third.
    third: bool,
    collector: Option<Collector>,
}

impl<'a> ScoreRows<'a> {
    fn new<F: Family>(model: &Glm<F>, centre: &'a Centre, third: bool, limited: bool) -> Result<Self> {
        let spread = Spread::new(model, &centre.covariance, REACH)?;
        let d = model.parameters();
        let lower = factor(&DMatrix::from_fn(d, d, |i, k| centre.covariance[i * d + k]))?;
        let span = Span::new(model, &lower, &centre.state, f64::from(REACH));
        let collector = if limited { Collector::new(model, lower, span.clone(), third) } else { None };
        let extra = model.extra(&centre.state);
        Ok(Self { spread, span, extra, eta: &centre.eta, third, collector })
    }

    /// Scores some rows, of which a panel may know the leverages.
    fn score<F: Family>(
        &self,
        model: &Glm<F>,
        blocks: Range<usize>,
        (eta, panel): (&[f32], Option<&Panel>),
        out: &mut [f32],
    ) {
        if self.third {
            by_fourth(model, blocks, (&self.spread, &self.span), FOURTH, eta, out);
            return;
        }
        let mut scoring = Scoring::new(&self.spread, self.extra);
        // The leverage that scores have in mind is that of the coefficients alone.
        if let Some(panel) = panel.filter(|_| model.family.extra().is_empty()) {
            scoring = scoring.knowing(panel);
        }
        (F::compiled().scores)(model, blocks, scoring, eta, out);
    }
}

impl<F: Family> Pass<Glm<F>> for ScoreRows<'_> {
    type Partial = Option<Totals>;
    const NAME: &'static str = "scores";

    fn blocks(&self, model: &Glm<F>) -> usize {
        model.blocks().count()
    }

    fn empty(&self, _model: &Glm<F>) -> Self::Partial {
        self.collector.as_ref().map(Collector::totals)
    }

    fn visit(
        &self,
        model: &Glm<F>,
        blocks: Range<usize>,
        scores: &mut [f32],
        totals: &mut Self::Partial,
    ) -> Result<()> {
        let eta = &self.eta[blocks.start * BLOCK..blocks.end * BLOCK];
        let (Some(collector), Some(totals)) = (&self.collector, totals) else {
            self.score(model, blocks, (eta, None), scores);
            return Ok(());
        };
        let mut panel = collector.panel();
        // A few blocks at a time, which are in the cache when they are needed again.
        let pieces = eta.chunks(PANEL * BLOCK).zip(scores.chunks_mut(PANEL * BLOCK)).enumerate();
        for (k, (eta, scores)) in pieces {
            let first = blocks.start + k * PANEL;
            collector.take(model, first, eta, &mut panel, totals);
            self.score(model, first..first + eta.len() / BLOCK, (eta, Some(&panel)), scores);
        }
        Ok(())
    }

    fn merge(&self, earlier: &mut Self::Partial, later: Self::Partial) {
        if let (Some(earlier), Some(later)) = (earlier, later) {
            earlier.add(&later);
        }
    }
}

/// Scores of all rows, filled up to whole blocks, and what a limit needs, where that is wanted and exists.
pub(super) fn of_all<F: Family>(
    model: &Glm<F>,
    centre: &Centre,
    third: bool,
    limited: bool,
) -> Result<(Vec<f32>, Option<Collected>)> {
    let pass = ScoreRows::new(model, centre, third, limited)?;
    let mut scores = filled_on(model.driver.threads(), model.blocks().count() * BLOCK, 0.0);
    let totals = model.driver.run_keeping(&pass, model, &mut scores)?;
    let collected = pass.collector.zip(totals);
    Ok((scores, collected.map(|(collector, totals)| Collected { collector, totals })))
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
            let size =
                if model.family.extra().is_empty() { leverage } else { leverage.hypot(span.square.sqrt()) };
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
