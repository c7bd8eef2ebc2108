//! Whether a state gives every row a probability.
//!
//! A chain compares states, so a state at which a row is impossible would only show when it is left. One pass of dot
//! products in f32 finds the blocks that are safe ([`Family::finite_within`]); the rows of the others are evaluated
//! in f64. Cost: half a pass of the hot loop.

use std::ops::Range;

use fearless_simd::Simd;

use super::blocks::BLOCK;
use super::families::logistic::within;
use super::{Family, Glm, kernel, precise, predictor};
use crate::pass::Pass;
use crate::simd::Level;
use austerity::error::{Error, Result};

/// Refuses a state at which the log-likelihood of some row is −∞ or NaN.
pub(super) fn check<F: Family>(model: &Glm<F>, state: &[f64]) -> Result<()> {
    let (exact, extra, size) = (model.exact_predictor(state), model.extra(state), model.coding.slots());
    let rounded = |value: f64| value.clamp(-1e30, 1e30) as f32;
    let pass = Beyond {
        gamma: exact[..size].iter().map(|&g| [0.0, rounded(g)]).collect(),
        constant: rounded(exact[size]),
        limit: model.family.finite_within(extra),
        level: model.level,
    };
    for block in model.driver.run(&pass, model)? {
        rows(model, block, &exact, extra)?;
    }
    Ok(())
}

/// The pass for the blocks with an |η| beyond a limit, in their order.
#[derive(Debug)]
pub(super) struct Beyond {
    gamma: Vec<[f32; 2]>,
    constant: f32,
    limit: f32,
    pub(super) level: Level,
}

impl<F: Family> Pass<Glm<F>> for Beyond {
    type Partial = Vec<usize>;
    const NAME: &'static str = "starts";

    fn blocks(&self, model: &Glm<F>) -> usize {
        model.blocks().count()
    }

    fn empty(&self, _model: &Glm<F>) -> Vec<usize> {
        Vec::new()
    }

    fn visit(
        &self,
        model: &Glm<F>,
        blocks: Range<usize>,
        _kept: &mut [f32],
        found: &mut Vec<usize>,
    ) -> Result<()> {
        (F::compiled().beyond)(model, blocks, self, found);
        Ok(())
    }

    fn merge(&self, earlier: &mut Vec<usize>, later: Vec<usize>) {
        earlier.extend(later);
    }
}

/// Adds those of the blocks `range` with an |η| beyond the limit.
#[inline(always)]
pub(super) fn beyond<S: Simd, F: Family>(
    simd: S,
    model: &Glm<F>,
    range: Range<usize>,
    Beyond { gamma, constant, limit, .. }: &Beyond,
    found: &mut Vec<usize>,
) {
    let blocks = &model.blocks().view();
    for block in range {
        let lines = blocks.block(block);
        let mut eta = predictor::of_one(simd, blocks.layout(), lines, gamma, *constant);
        if let Some(place) = blocks.layout().offset {
            let offset = kernel::column(simd, lines, place);
            eta = [eta[0] + offset[0], eta[1] + offset[1]];
        }
        if !within(simd, eta, *limit) {
            found.push(block);
        }
    }
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
        let trials = side(layout.trials, 1.0);
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
