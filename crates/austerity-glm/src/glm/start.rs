//! Whether a state gives every row a probability.
//!
//! A chain compares states, so a state at which a row is impossible would only show when it is left. One pass of dot
//! products in f32 finds the blocks that are safe ([`Family::finite_within`]); the rows of the others are evaluated
//! in f64. Cost: half a pass of the hot loop.

use fearless_simd::Simd;

use super::blocks::BLOCK;
use super::families::logistic::within;
use super::{Family, Glm, kernel, precise, predictor};
use austerity::error::{Error, Result};

/// Refuses a state at which the log-likelihood of some row is −∞ or NaN.
pub(super) fn check<F: Family>(model: &Glm<F>, state: &[f64]) -> Result<()> {
    let (exact, extra, size) = (model.exact_predictor(state), model.extra(state), model.coding.slots());
    let rounded = |value: f64| value.clamp(-1e30, 1e30) as f32;
    let gamma: Vec<[f32; 2]> = exact[..size].iter().map(|&g| [0.0, rounded(g)]).collect();
    let limit = model.family.finite_within(extra);
    let unsafe_blocks = (F::compiled().beyond)(model, &gamma, rounded(exact[size]), limit);
    for block in unsafe_blocks {
        rows(model, block, &exact, extra)?;
    }
    Ok(())
}

/// The blocks with an |η| beyond `limit`.
#[inline(always)]
pub(super) fn beyond<S: Simd, F: Family>(
    simd: S,
    model: &Glm<F>,
    gamma: &[[f32; 2]],
    constant: f32,
    limit: f32,
) -> Vec<usize> {
    let blocks = &model.blocks().view();
    let mut found = Vec::new();
    for block in 0..blocks.count() {
        let lines = blocks.block(block);
        let mut eta = predictor::of_one(simd, blocks.layout(), lines, gamma, constant);
        if let Some(place) = blocks.layout().offset {
            let offset = kernel::column(simd, lines, place);
            eta = [eta[0] + offset[0], eta[1] + offset[1]];
        }
        if !within(simd, eta, limit) {
            found.push(block);
        }
    }
    found
}

/// Refuses the first impossible row of `block`.
fn rows<F: Family>(model: &Glm<F>, block: usize, gamma: &[f64], extra: &[f64]) -> Result<()> {
    let blocks = model.blocks().view();
    let (layout, lines) = (blocks.layout(), blocks.block(block));
    let etas = precise::predictor(layout, lines, gamma);
    for i in 0..blocks.rows_in(block) {
        let value = |place: usize| f64::from(lines[2 * place + i / 16].0[i % 16]);
        let side = |place: Option<usize>, missing: f64| place.map_or(missing, value);
        if side(layout.weight, 1.0) == 0.0 {
            continue;
        }
        let eta = etas[i] + side(layout.offset, 0.0);
        let trials = side(layout.trials, 0.0);
        let density = model.family.log_likelihood(extra, eta, value(layout.response), trials);
        if !density.is_finite() {
            let row = model.original(block * BLOCK + i);
            return Err(Error::ImpossibleStart {
                density: if density == f64::NEG_INFINITY { "zero" } else { "not a number" }.into(),
                why: format!("the log-likelihood of row {row} is {density}"),
            });
        }
    }
    Ok(())
}
