//! The gradient of a batch of residuals, for control-variate Langevin steps.
//!
//! With h = x·(θ − θ̂), and for an extra parameter s moved by Δ,
//!
//! ```text
//! ∇R_i = [ℓ'(η̂ + h) − ℓ'(η̂) − ℓ''(η̂)·h − ∂ℓ'/∂s·Δ]·x        (first order: without the last two terms; third: less ℓ'''(η̂)·h²/2)
//! ```
//!
//! is of the order of h², so that the gradient of the surrogate plus N/n times a batch of these has a noise N^{−1/2} times that of a plain mini-batch
//! (Baker, Fearnhead, Fox & Nemeth 2019). At a fixed batch it is a function of the state to the last bit, which is all that the correction of
//! [`Langevin`](crate::proposal::Langevin) asks for: exact with an exact rule.
//!
//! Derivatives are differences of f32 numbers, with an absolute error of about 6e-8·|ℓ'| a row; in posterior standard deviations that is
//! 6e-8·√(N/n), nothing to notice below N ≈ 10¹². Sums in f32 over four blocks, then in f64. Cost: d multiply-adds for h, d for the sums, and two sets of
//! derivatives a row; no allocation.

use fearless_simd::{Simd, prelude::*};

use super::GlmExpansion;
use super::span::bend;
use crate::glm::blocks::BLOCK;
use crate::glm::gradient::{Panel, Workspace, within};
use crate::glm::kernel::{self, Pair, Rows, array};
use crate::glm::{Derivatives, Family, Kernel as _, MOST_EXTRA, predictor};
use crate::gradients::At;
use crate::simd::Lanes;
use crate::surrogate::ResidualGradient;
use austerity::error::Result;
use austerity::population::Batch;

#[inline(always)]
fn zero<S: Simd>(simd: S) -> Lanes<S> {
    Lanes::splat(simd, 0.0)
}

/// ½D³ℓ[·, v, v] of 32 rows in η and the extra parameters, v = (h, change of the extra parameters).
#[inline(never)]
fn bends<S: Simd, F: Family>(
    simd: S,
    family: &F,
    base: &[f64],
    extra: &[f64],
    rows: &Rows<S>,
    h: Pair<S>,
) -> [Pair<S>; 1 + MOST_EXTRA] {
    let (eta, response, trials) = (array(rows.eta), array(rows.response), array(rows.trials));
    let h = array(h);
    let mut out = [[0.0f32; BLOCK]; 1 + MOST_EXTRA];
    let mut v = vec![0.0; 1 + base.len()];
    v[1..].iter_mut().zip(extra.iter().zip(base)).for_each(|(v, (to, from))| *v = to - from);
    for i in (0..BLOCK).filter(|&i| !eta[i].is_nan()) {
        v[0] = f64::from(h[i]);
        let (response, trials) = (f64::from(response[i]), f64::from(trials[i]));
        let thirds = family.row_third(base, f64::from(eta[i]), response, trials);
        let bent = bend(&thirds, family.uses(response), &v);
        out.iter_mut().zip(bent).for_each(|(out, value)| out[i] = value as f32);
    }
    out.map(|out| [Lanes::from_slice(simd, &out[..16]), Lanes::from_slice(simd, &out[16..])])
}

/// Derivatives of 32 rows at the centre and at the state, and what the orders take off.
struct Derived<S: Simd> {
    known: Derivatives<S>,
    there: Derivatives<S>,
    third: Pair<S>,
    bends: Option<[Pair<S>; 1 + MOST_EXTRA]>,
    /// Change of the extra parameters.
    change: [Lanes<S>; MOST_EXTRA],
    second_order: bool,
    /// How many extra parameters there are.
    extras: usize,
}

impl<S: Simd> Derived<S> {
    /// In η, of half of the rows, whose linear predictor moved by `h`.
    #[inline(always)]
    fn first(&self, simd: S, half: usize, h: Pair<S>) -> Lanes<S> {
        let Self { known, there, third, bends, .. } = self;
        let mut value = there.first[half] - known.first[half];
        if self.second_order {
            let half_of = Lanes::splat(simd, 0.5);
            value -= (third[half] * half_of).mul_add(h[half], known.second[half]) * h[half];
            if let Some(known) = &known.extra {
                for (cross, change) in known.cross.iter().zip(self.change).take(self.extras) {
                    value -= cross[half] * change;
                }
            }
        }
        if let Some(bends) = bends {
            value -= bends[0][half];
        }
        value
    }

    /// In an extra parameter.
    #[inline(always)]
    fn extra(&self, simd: S, a: usize, half: usize, h: Pair<S>) -> Lanes<S> {
        let (Some(there), Some(known)) = (&self.there.extra, &self.known.extra) else { return zero(simd) };
        let mut own = there.slope[a][half] - known.slope[a][half];
        if self.second_order {
            let mut curve = known.curve[a][0][half] * self.change[0];
            let others = known.curve[a].iter().zip(self.change).take(self.extras).skip(1);
            for (second, change) in others {
                curve = second[half].mul_add(change, curve);
            }
            own -= known.cross[a][half].mul_add(h[half], curve);
        }
        if let Some(bends) = &self.bends {
            own -= bends[a + 1][half];
        }
        own
    }
}

/// Sums over the rows of `batch`, into the workspace; `extra` is that of the state.
#[inline(always)]
pub(in crate::glm) fn pass<S: Simd, F: Family>(
    simd: S,
    expansion: &GlmExpansion<F>,
    batch: Batch<'_>,
    extra: &[f64],
    workspace: &mut Workspace,
) {
    let Workspace { coefficients, constant, sums } = workspace;
    let (model, second_order) = (&expansion.model, expansion.order >= 2);
    let base = model.extra(&expansion.centre);
    let mut change = [zero(simd); MOST_EXTRA];
    for (slot, (to, from)) in change.iter_mut().zip(extra.iter().zip(base)) {
        *slot = Lanes::splat(simd, (to - from) as f32);
    }
    let view = expansion.blocks.view();
    let layout = view.layout();
    let zero = Lanes::splat(simd, 0.0);
    let (sums, extra_sum) = sums.split_at_mut(coefficients.len() + 1);
    let mut panel = Panel::new(simd, layout);
    let extras = model.family.extra().len();
    for range in batch.ranges().filter(|range| !range.is_empty()) {
        for index in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            let lines = view.block(index);
            let column = |place: Option<usize>, missing: f32| match place {
                Some(place) => kernel::column(simd, lines, place),
                None => [Lanes::splat(simd, missing); 2],
            };
            let h = predictor::of_one(simd, layout, lines, coefficients, *constant);
            let eta = &expansion.eta[index * BLOCK..][..BLOCK];
            let eta = [Lanes::from_slice(simd, &eta[..16]), Lanes::from_slice(simd, &eta[16..])];
            let weight = within(column(layout.weight, 1.0), &range, index);
            // Rows of the stratum, and those that are not wanted, must not bring ∞·0.
            let counted = |half: usize| eta[half].simd_eq(eta[half]) & !weight[half].simd_eq(zero);
            let counted = [counted(0), counted(1)];
            let weighted = |value: Lanes<S>, half: usize| counted[half].select(value * weight[half], zero);
            let (response, trials) = (column(Some(layout.response), 0.0), column(layout.trials, 1.0));
            let centre = Rows { eta, response, trials };
            let moved = Rows { eta: [eta[0] + h[0], eta[1] + h[1]], response, trials };
            let known = <F::Kernel>::derivatives(&model.family, simd, base, &centre);
            let there = <F::Kernel>::derivatives(&model.family, simd, extra, &moved);
            let third = if expansion.order == 3 && extras == 0 {
                <F::Kernel>::third(&model.family, simd, base, &centre)
            } else {
                [zero; 2]
            };
            let bends = if expansion.order == 3 && extras > 0 {
                Some(bends(simd, &model.family, base, extra, &centre, h))
            } else {
                None
            };
            let of = Derived { known, there, third, bends, change, second_order, extras };
            let mut first: Pair<S> = [zero; 2];
            for (half, first) in first.iter_mut().enumerate() {
                for (a, sum) in extra_sum.iter_mut().enumerate() {
                    *sum += f64::from(weighted(of.extra(simd, a, half, h), half).reduce_sum());
                }
                *first = weighted(of.first(simd, half, h), half);
            }
            panel.push(simd, lines, first, sums);
        }
    }
    panel.add_to(simd, sums);
}

impl<F: Family> ResidualGradient for GlmExpansion<F> {
    type Memory = Workspace;

    fn residual_gradient(&self, at: At<'_>, workspace: &mut Workspace, gradient: &mut [f64]) -> Result<()> {
        let At { state, batch } = at;
        let model = &self.model;
        let moved = |i: usize| state[i] - self.centre[i];
        workspace.begin(&self.coding, 0.0, moved, model.family.extra().len());
        (F::compiled().residual_gradient)(self, batch, model.extra(state), workspace);
        workspace.finish(&self.coding, model.coefficients(), gradient);
        Ok(())
    }
}
