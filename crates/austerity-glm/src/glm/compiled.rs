//! The hot loops of a family as plain functions, compiled where the family is.
//!
//! [`Glm`] is generic, so its methods are compiled again in every crate that uses them; the loops below are large
//! (three instruction sets each) and would be compiled again with them. A family instead holds one `static` [`Compiled`] of
//! itself: pointers to functions that exist once, in the crate that defines the family. A call through a pointer costs a
//! nanosecond per look, which the loops do not notice.

use std::ops::Range;

use super::blocks::View;
use super::derivative::{self, Derivatives, Sums};
use super::expansion::GlmExpansion;
use super::expansion::certain::{self, CertainRows, Displacement, Predictors, Slopes};
use super::expansion::gradient as residual_gradients;
use super::expansion::scores::{self, Scoring};
use super::gradient::{self, Workspace};
use super::kernel::{self, Move, eta};
use super::list::List;
use super::residual::{self, Task};
use super::start::{self, Beyond};
use super::{Family, Glm, Kernel as _, Step, precise};
use crate::glm::rows as single;
use crate::simd::{Level, dispatched, dispatched_narrow};
use austerity::error::Result;
use austerity::population::{Batch, Moments};

/// [`dispatched`], with registers of AVX-512 only where rows are computed many at a time: rows in double precision, one by one, gain nothing from them, and
/// every build would pay for a third copy of their loops.
macro_rules! on_level {
    ($family:ty, $level:expr, $simd:ident => $body:expr) => {
        if const { <<$family as Family>::Kernel>::WHOLE_BLOCKS } {
            dispatched!($level, $simd => $body)
        } else {
            dispatched_narrow!($level, $simd => $body)
        }
    };
}

/// What to do about η of the rows read.
#[derive(Debug)]
pub enum Cache<'a> {
    /// Compute it and forget it.
    Fresh,
    /// It is there, row by row.
    Known(&'a mut [f32]),
    /// Compute it and keep it.
    Kept(&'a mut [f32]),
}

type Summarize<F> = fn(Level, &View<'_>, &Move<'_, Step<F>>, List<'_>, Cache<'_>, &mut Moments) -> Result<()>;
type SummarizeRows<F> =
    fn(Level, &View<'_>, &Move<'_, Step<F>>, &mut dyn Iterator<Item = usize>, &mut Moments) -> Result<()>;
type Reveal<F> = fn(Level, &View<'_>, &Move<'_, Step<F>>, Range<usize>, &mut [f64]);
type SumDerivatives<F> = fn(&Glm<F>, Range<usize>, &Derivatives, &mut [f32], &mut Sums) -> Result<()>;
type Residuals<F> = fn(Level, &View<'_>, &Task<'_, F>, List<'_>, &mut Moments) -> Result<()>;
type ResidualRows<F> =
    fn(Level, &View<'_>, &Task<'_, F>, &mut dyn Iterator<Item = usize>, &mut Moments) -> Result<()>;
type ResidualReveal<F> = fn(Level, &View<'_>, &Task<'_, F>, Range<usize>, &mut [f64]);
type Scores<F> = fn(&Glm<F>, Range<usize>, Scoring<'_>, &[f32], &mut [f32]);
type CertainChange<F> = fn(&CertainRows<F>, &Predictors, usize, f32) -> f64;
type Certain<F> = fn(&CertainRows<F>, &Displacement<'_, F>, Option<&mut Slopes>) -> f64;
type BatchGradient<F> = fn(&Glm<F>, Batch<'_>, &[f64], &mut Workspace);
type ResidualGradient<F> = fn(&GlmExpansion<F>, Batch<'_>, &[f64], &mut Workspace);
type FindBeyond<F> = fn(&Glm<F>, Range<usize>, &Beyond, &mut Vec<usize>);

/// The loops of the family `F`.
#[derive(Debug)]
pub struct Compiled<F: Family> {
    pub(super) summarize: Summarize<F>,
    pub(super) summarize_rows: SummarizeRows<F>,
    pub(super) reveal: Reveal<F>,
    pub(super) derivatives: SumDerivatives<F>,
    pub(super) batch_gradient: BatchGradient<F>,
    pub(super) beyond: FindBeyond<F>,
    pub(super) residuals: Residuals<F>,
    pub(super) residual_rows: ResidualRows<F>,
    pub(super) residual_reveal: ResidualReveal<F>,
    pub(super) residual_gradient: ResidualGradient<F>,
    pub(super) scores: Scores<F>,
    pub(super) certain: Certain<F>,
    pub(super) certain_change: CertainChange<F>,
}

impl<F: Family> Compiled<F> {
    /// The loops of `F`; to be kept in a `static` beside it.
    #[must_use]
    pub const fn of() -> Self {
        Self {
            summarize: summarize::<F>,
            summarize_rows: summarize_rows::<F>,
            reveal: reveal::<F>,
            derivatives: derivatives::<F>,
            batch_gradient: batch_gradient::<F>,
            beyond: beyond::<F>,
            residuals: residuals::<F>,
            residual_rows: residual_rows::<F>,
            residual_reveal: residual_reveal::<F>,
            residual_gradient: residual_gradient::<F>,
            scores: scores::<F>,
            certain: certain::<F>,
            certain_change: certain_change::<F>,
        }
    }
}

/// Moments of the blocks of `list`.
fn summarize<F: Family>(
    level: Level,
    blocks: &View<'_>,
    task: &Move<'_, Step<F>>,
    list: List<'_>,
    cache: Cache<'_>,
    moments: &mut Moments,
) -> Result<()> {
    if let Some(exact) = task.exact {
        return precise::summarize::<F>(blocks, &task.step, exact, list, moments);
    }
    match cache {
        Cache::Fresh => fresh::<F>(level, blocks, task, list, moments),
        Cache::Known(eta) => moments_of::<F, { eta::CACHED }>(level, blocks, task, list, eta, moments),
        Cache::Kept(eta) => moments_of::<F, { eta::STORED }>(level, blocks, task, list, eta, moments),
    }
}

/// The loop without a cache.
fn fresh<F: Family>(
    level: Level,
    blocks: &View<'_>,
    task: &Move<'_, Step<F>>,
    list: List<'_>,
    moments: &mut Moments,
) -> Result<()> {
    on_level!(F, level, simd => kernel::summarize::<_, F, { eta::FRESH }>(simd, blocks, task, list, &mut [], moments))
}

/// The loops with a cache, each in a function of its own.
#[inline(never)]
fn moments_of<F: Family, const ETA: u8>(
    level: Level,
    blocks: &View<'_>,
    task: &Move<'_, Step<F>>,
    list: List<'_>,
    eta: &mut [f32],
    moments: &mut Moments,
) -> Result<()> {
    on_level!(F, level, simd => kernel::summarize::<_, F, ETA>(simd, blocks, task, list, eta, moments))
}

/// Moments of single rows.
fn summarize_rows<F: Family>(
    level: Level,
    blocks: &View<'_>,
    task: &Move<'_, Step<F>>,
    rows: &mut dyn Iterator<Item = usize>,
    moments: &mut Moments,
) -> Result<()> {
    if let Some(exact) = task.exact {
        let values = |block, _| precise::values_of::<F>(blocks, &task.step, exact, block);
        return single::summarize_rows(values, true, &mut *rows, moments);
    }
    on_level!(F, level, simd => {
        let values = |block, wanted| kernel::values_of::<_, F>(simd, blocks, task, block, wanted).0;
        single::summarize_rows(values, <F::Kernel>::WHOLE_BLOCKS, &mut *rows, moments)
    })
}

/// The differences of a range of rows.
fn reveal<F: Family>(
    level: Level,
    blocks: &View<'_>,
    task: &Move<'_, Step<F>>,
    rows: Range<usize>,
    out: &mut [f64],
) {
    if let Some(exact) = task.exact {
        return single::reveal(
            |block, _| precise::values_of::<F>(blocks, &task.step, exact, block),
            rows,
            out,
        );
    }
    on_level!(F, level, simd => {
        let values = |block, wanted| kernel::values_of::<_, F>(simd, blocks, task, block, wanted).0;
        single::reveal(values, rows.clone(), out);
    });
}

/// Sums of the log-likelihood and its derivatives over some blocks; η is kept where there is room for it.
fn derivatives<F: Family>(
    model: &Glm<F>,
    range: Range<usize>,
    Derivatives { predictor, extra, level, .. }: &Derivatives,
    eta: &mut [f32],
    sums: &mut Sums,
) -> Result<()> {
    if model.precise {
        return precise::derivatives(model, range, &predictor.exact, extra, eta, sums);
    }
    on_level!(F, *level, simd => derivative::pass(simd, model, range.clone(), predictor, extra, eta, sums))
}

/// Sums of the gradient over a batch.
fn batch_gradient<F: Family>(model: &Glm<F>, batch: Batch<'_>, extra: &[f64], workspace: &mut Workspace) {
    on_level!(F, model.level, simd => gradient::pass(simd, model, batch, extra, workspace));
}

/// The blocks with an |η| beyond a limit.
fn beyond<F: Family>(model: &Glm<F>, range: Range<usize>, pass: &Beyond, found: &mut Vec<usize>) {
    on_level!(F, pass.level, simd => start::beyond(simd, model, range.clone(), pass, found));
}

/// Scaled moments of the residuals of the blocks of `list`.
fn residuals<F: Family>(
    level: Level,
    blocks: &View<'_>,
    task: &Task<'_, F>,
    list: List<'_>,
    moments: &mut Moments,
) -> Result<()> {
    on_level!(F, level, simd => residual::summarize(simd, blocks, task, list, moments))
}

/// Scaled moments of the residuals of single rows.
fn residual_rows<F: Family>(
    level: Level,
    blocks: &View<'_>,
    task: &Task<'_, F>,
    rows: &mut dyn Iterator<Item = usize>,
    moments: &mut Moments,
) -> Result<()> {
    on_level!(F, level, simd => {
        let values = |block, wanted| residual::values_of(simd, blocks, task, block, wanted);
        single::summarize_rows(values, <F::Kernel>::WHOLE_BLOCKS, &mut *rows, moments)
    })
}

/// The scaled residuals of a range of rows.
fn residual_reveal<F: Family>(
    level: Level,
    blocks: &View<'_>,
    task: &Task<'_, F>,
    rows: Range<usize>,
    out: &mut [f64],
) {
    on_level!(F, level, simd => {
        let values = |block, wanted| residual::values_of(simd, blocks, task, block, wanted);
        single::reveal(values, rows.clone(), out);
    });
}

/// Sums of the gradients of a batch of residuals.
fn residual_gradient<F: Family>(
    expansion: &GlmExpansion<F>,
    batch: Batch<'_>,
    extra: &[f64],
    workspace: &mut Workspace,
) {
    on_level!(F, expansion.level(), simd => residual_gradients::pass(simd, expansion, batch, extra, workspace));
}

/// The third-order scores of the rows of some blocks.
fn scores<F: Family>(
    model: &Glm<F>,
    range: Range<usize>,
    scoring: Scoring<'_>,
    eta: &[f32],
    out: &mut [f32],
) {
    on_level!(F, model.level, simd => scores::pass(simd, model, range.clone(), scoring, eta, out));
}

/// The exact change of the log-likelihood of the certainty stratum when one coefficient moves.
fn certain_change<F: Family>(rows: &CertainRows<F>, at: &Predictors, column: usize, by: f32) -> f64 {
    on_level!(F, rows.level(), simd => certain::change(simd, rows, at, column, by))
}

/// The exact change of the log-likelihood of the certainty stratum, and its slopes.
fn certain<F: Family>(
    rows: &CertainRows<F>,
    displacement: &Displacement<'_, F>,
    slopes: Option<&mut Slopes>,
) -> f64 {
    if rows.model().precise {
        return precise::certain(rows, displacement, slopes);
    }
    on_level!(F, rows.level(), simd => certain::pass(simd, rows, displacement, slopes))
}
