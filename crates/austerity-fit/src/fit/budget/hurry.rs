//! Whether the time is enough for the mode of all rows and a surrogate, and where it is not, the mode of some.
//!
//! A slice of rows tells what a pass costs, Newton's method on a small sample what one with derivatives costs. The mode and a surrogate take about three such passes on one
//! thread and three on all, besides a sample of 65,536 rows twice. Where that is more than half of what is left but the mode alone is not, chains begin there and decide about
//! rows; where both are, at the mode of as many rows as a sixth of the time allows, √(N/n) posterior sds from the mode. A budget below a few passes is refused.

use std::time::Instant;

use austerity::model::{Access, Mode, Model as _, find_mode};
use austerity::population::{Moments, Population as _};
use austerity_glm::Glm;
use austerity_glm::glm::Family;
use austerity_glm::glm::expansion::{sampled, sampled_mode};

use super::{Budget, Unit, least_budget};
use crate::fit::plan::Remark;
use crate::output::Failure;

/// Rows of the slice and of the first sample.
const SLICE: usize = 8_192;
const SAMPLE: usize = 4_096;
/// Rows of the sample that centres are looked for with.
const CENTRE: usize = 1 << 16;
/// Passes with derivatives on one thread, and on all.
const PASSES_ON_ONE: f64 = 3.0;
const PASSES_ON_ALL: f64 = 3.0;
/// Newton steps on samples.
const STEPS: f64 = 10.0;
/// Share of what is left that the set-up may take, and share for the mode of a sample in its place.
const MOST: f64 = 0.5;
const SAMPLED: f64 = 0.15;
/// Passes below which nothing can be done.
const FEWEST_PASSES: f64 = 30.0;

/// What there is no time for.
pub(in super::super) struct Hurried {
    /// A mode of some rows, where there is no time for that of all.
    pub(in super::super) mode: Option<Mode>,
    /// Its distance from the mode of all rows, in posterior sds.
    pub(in super::super) distance: f64,
    pub(in super::super) remark: Remark,
}

/// What to do without where the time is not enough for all.
pub(in super::super) fn hurry<F: Family>(
    model: &Glm<F>,
    budget: &Budget,
    threads: usize,
) -> Result<Option<Hurried>, Failure> {
    let rows = model.len();
    if budget.unit == Unit::Evaluations || rows <= 2 * SLICE {
        return Ok(None);
    }
    let pass = slice(model)? * rows as f64;
    if FEWEST_PASSES * pass > budget.left() {
        return Err(least_budget(
            budget,
            budget.all - budget.left() + FEWEST_PASSES * pass,
            &format!("the few passes over the {rows} rows that a handful of draws take"),
        ));
    }
    let sample = sampled(model, SAMPLE)?;
    let begun = Instant::now();
    let Ok(small) = find_mode(&sample, &vec![0.0; model.parameters()]) else { return Ok(None) };
    let row = begun.elapsed().as_secs_f64() / ((small.iterations + 1) * sample.len()) as f64;
    let near = STEPS * CENTRE.min(rows) as f64;
    let alone = row * (PASSES_ON_ONE * rows as f64 + near);
    let needed = alone + row * PASSES_ON_ALL / threads.max(1) as f64 * rows as f64 + pass;
    let left = budget.left();
    if needed <= MOST * left {
        return Ok(None);
    }
    let enough = needed / MOST + (budget.all - left);
    if alone <= MOST * left {
        let remark = Remark::Hurried { needed, enough, sample: None };
        return Ok(Some(Hurried { mode: None, distance: 0.0, remark }));
    }
    let size = ((SAMPLED * left / (row * STEPS)) as usize).min(rows / 3);
    let (mode, size) =
        if size > 2 * SAMPLE { (sampled_mode(model, &small.state, size)?, size) } else { (small, SAMPLE) };
    let remark = Remark::Hurried { needed, enough, sample: Some(size) };
    Ok(Some(Hurried { mode: Some(mode), distance: (rows as f64 / size as f64).sqrt(), remark }))
}

/// Seconds of a row, by a slice of them.
fn slice<F: Family>(model: &Glm<F>) -> Result<f64, Failure> {
    let state = vec![0.0; model.parameters()];
    let near: Vec<f64> = state.iter().map(|value| value + 1e-6).collect();
    let mut scratch = model.scratch(Access::Blocks);
    let block = austerity::BLOCK_ROWS;
    let blocks: Vec<u32> = (0..(SLICE / block) as u32).collect();
    let mut population = model.compare(&state, &near, &mut scratch);
    let mut seconds = f64::INFINITY;
    // The first time memory is cold and the clock speed low.
    for _ in 0..2 {
        let begun = Instant::now();
        population.summarize(&blocks, block, &mut Moments::EMPTY.clone())?;
        seconds = begun.elapsed().as_secs_f64();
    }
    Ok(seconds / SLICE as f64)
}
