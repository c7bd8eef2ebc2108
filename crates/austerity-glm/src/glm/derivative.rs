//! Gradient and Hessian of the log posterior density.
//!
//! In the units of the storage, with z_i = (1, x̃_i), the log-likelihood has gradient Σ ℓ'(η_i)·z_i and Hessian
//! Σ ℓ''(η_i)·z_i z_iᵀ ([`super::predictor::products`]); the linear map β ↦ (β_0 + Σ β_j·shift_j, β_j·scale_j) carries both to the user's columns.
//! Extra parameters add their own rows. Sums run in f32 over panels of 4 blocks (8 terms per lane), then in f64;
//! the log density itself is summed in f64, row by row, from the f32 linear predictor, since optimisers
//! compare its values.
//!
//! Cost: N·d multiply-adds for the linear predictor, as many for the gradient, N·d²/2 for the Hessian, and N
//! log-likelihoods in f64 (tens of nanoseconds each, unless only the gradient is wanted). Not for a step of a chain: it reads all the data.

use std::ops::Range;

use fearless_simd::{Simd, prelude::*};

use super::blocks::{BLOCK, Layout, Line};
use super::kernel::{self, Pair, Rows};
use super::predictor;
use super::predictor::products::{self, CrossProducts, PANEL, PanelLines, PanelOf};
use super::{Family, Glm, Kernel as _, MOST_EXTRA};
use crate::pass::Pass;
use crate::simd::{Lanes, Level, lanes_sum};
use austerity::error::{Error, Result};
use austerity::model::check_length;

/// The pass for the log-likelihood of all rows and its derivatives at a state, a sum over rows. It keeps η.
#[derive(Clone, Debug)]
pub struct Derivatives {
    pub(super) predictor: Predictor,
    pub(super) extra: Vec<f64>,
    pub(super) level: Level,
    valued: bool,
    curved: bool,
}

impl Derivatives {
    /// At `state`: the log density itself where it is `valued`, the Hessian where it is `curved`, the gradient in any case.
    pub(super) fn new<F: Family>(model: &Glm<F>, state: &[f64], valued: bool, curved: bool) -> Self {
        let extra = model.extra(state).to_vec();
        Self { predictor: stored(model, state), extra, level: model.level, valued, curved }
    }
}

impl<F: Family> Pass<Glm<F>> for Derivatives {
    type Partial = Sums;
    const NAME: &'static str = "derivatives";

    fn blocks(&self, model: &Glm<F>) -> usize {
        model.blocks().count()
    }

    fn empty(&self, model: &Glm<F>) -> Sums {
        Sums::new(model.blocks().layout(), self.valued, self.curved)
    }

    fn visit(&self, model: &Glm<F>, blocks: Range<usize>, eta: &mut [f32], sums: &mut Sums) -> Result<()> {
        (F::compiled().derivatives)(model, blocks, self, eta, sums)
    }

    fn merge(&self, earlier: &mut Sums, later: Sums) {
        earlier.add(&later);
    }
}

/// γ of a state.
#[derive(Clone, Debug)]
pub struct Predictor {
    /// 0 and γ in the order of the storage, as [`predictor::of_one`] takes them.
    coefficients: Vec<[f32; 2]>,
    constant: f32,
    /// γ in f64, its constant last.
    pub(super) exact: Vec<f64>,
}

/// Sums over all rows, in the units of the storage; place 0 is the constant, and the order of the storage follows.
#[derive(Debug)]
pub struct Sums {
    pub(super) value: f64,
    /// Whether the value is wanted at all: it costs more than the gradient.
    pub(super) valued: bool,
    pub(super) gradient: Vec<f64>,
    /// Σ ℓ''·z zᵀ, when wanted.
    pub(super) hessian: Option<CrossProducts>,
    /// Derivatives in η and each extra parameter.
    pub(super) cross: [Vec<f64>; MOST_EXTRA],
    /// First and second derivatives in the extra parameters.
    pub(super) slope: [f64; MOST_EXTRA],
    pub(super) curve: [[f64; MOST_EXTRA]; MOST_EXTRA],
}

impl Sums {
    pub(super) fn new(layout: &Layout, valued: bool, curved: bool) -> Self {
        let size = layout.coefficients() + 1;
        Self {
            value: 0.0,
            valued,
            gradient: vec![0.0; size],
            hessian: curved.then(|| CrossProducts::new(layout)),
            cross: std::array::from_fn(|_| vec![0.0; size]),
            slope: [0.0; MOST_EXTRA],
            curve: [[0.0; MOST_EXTRA]; MOST_EXTRA],
        }
    }

    /// Adds the sums over other rows.
    pub(super) fn add(&mut self, other: &Self) {
        self.value += other.value;
        if let (Some(mine), Some(theirs)) = (&mut self.hessian, &other.hessian) {
            mine.add(theirs);
        }
        let pairs = [(&mut self.gradient, &other.gradient)];
        let pairs = pairs.into_iter().chain(self.cross.iter_mut().zip(&other.cross));
        for (mine, theirs) in pairs {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
        self.slope.iter_mut().zip(&other.slope).for_each(|(a, b)| *a += b);
        let mine = self.curve.as_flattened_mut().iter_mut();
        mine.zip(other.curve.as_flattened()).for_each(|(a, b)| *a += b);
    }
}

/// Derivatives of a panel, two vectors per block.
struct Panel<S: Simd> {
    first: PanelOf<S>,
    second: PanelOf<S>,
    cross: [PanelOf<S>; MOST_EXTRA],
}

/// Log posterior density at `state` (the prior alone unless `valued`); derivatives in the user's coefficients go to
/// `gradient` and `hessian`.
pub(super) fn evaluate<F: Family>(
    model: &Glm<F>,
    state: &[f64],
    gradient: &mut [f64],
    mut hessian: Option<&mut [f64]>,
    valued: bool,
) -> Result<f64> {
    let parameters = model.parameters();
    check_length("state", parameters, state.len())?;
    check_length("gradient", parameters, gradient.len())?;
    if let Some(hessian) = &hessian {
        check_length("hessian", parameters * parameters, hessian.len())?;
    }
    let sums = model.driver.run(&Derivatives::new(model, state, valued, hessian.is_some()), model)?;
    to_user(model, &sums, gradient, hessian.as_deref_mut());
    add_prior(model, state, gradient, hessian);
    let prior = model.log_outside(state);
    if prior.is_nan() {
        return Err(Error::PriorNotANumber);
    }
    Ok(sums.value + prior)
}

/// Gradient and Hessian of the log-likelihood alone.
pub(super) fn of_likelihood<F: Family>(
    model: &Glm<F>,
    state: &[f64],
    gradient: &mut [f64],
    hessian: &mut [f64],
) -> Result<()> {
    let sums = model.driver.run(&Derivatives::new(model, state, false, true), model)?;
    to_user(model, &sums, gradient, Some(hessian));
    Ok(())
}

/// γ of a state, as the passes take it.
fn stored<F: Family>(model: &Glm<F>, state: &[f64]) -> Predictor {
    let exact = model.exact_predictor(state);
    let size = model.coding.slots();
    Predictor {
        coefficients: exact[..size].iter().map(|&gamma| [0.0, gamma as f32]).collect(),
        constant: exact[size] as f32,
        exact,
    }
}

/// Adds the derivatives of the prior.
fn add_prior<F: Family>(model: &Glm<F>, state: &[f64], gradient: &mut [f64], hessian: Option<&mut [f64]>) {
    model.add_outside_gradient(state, gradient);
    if let Some(hessian) = hessian {
        model.add_outside_hessian(state, hessian, |second| second);
    }
}

/// Carries the sums to the user's coefficients.
pub(super) fn to_user<F: Family>(
    model: &Glm<F>,
    sums: &Sums,
    gradient: &mut [f64],
    hessian: Option<&mut [f64]>,
) {
    let map = model.coding.moves();
    let carried = |vector: &[f64], (u, place, v): (f64, usize, f64)| u * vector[0] + v * vector[place];
    for (slot, &entry) in gradient.iter_mut().zip(&map) {
        *slot = carried(&sums.gradient, entry);
    }
    let extras = model.family.extra().len();
    gradient[map.len()..].copy_from_slice(&sums.slope[..extras]);
    let (Some(hessian), Some(products)) = (hessian, &sums.hessian) else { return };
    let size = model.parameters();
    let entry = |a: usize, b: usize| products.entry(a, b);
    for (i, &(u, p, v)) in map.iter().enumerate() {
        for (k, &(s, q, t)) in map.iter().enumerate() {
            hessian[i * size + k] =
                u * s * entry(0, 0) + u * t * entry(0, q) + v * s * entry(p, 0) + v * t * entry(p, q);
        }
        for k in 0..extras {
            let cross = carried(&sums.cross[k], (u, p, v));
            hessian[i * size + map.len() + k] = cross;
            hessian[(map.len() + k) * size + i] = cross;
        }
    }
    for a in 0..extras {
        for b in 0..extras {
            hessian[(map.len() + a) * size + map.len() + b] = sums.curve[a][b];
        }
    }
}

#[inline(always)]
pub(super) fn pass<S: Simd, F: Family>(
    simd: S,
    model: &Glm<F>,
    range: Range<usize>,
    Predictor { coefficients, constant, .. }: &Predictor,
    extra: &[f64],
    eta: &mut [f32],
    sums: &mut Sums,
) -> Result<()> {
    let blocks = &model.blocks().view();
    let layout = blocks.layout();
    let stride = layout.lines();
    let zero = [Lanes::splat(simd, 0.0); 2 * PANEL];
    let lines = &blocks.lines()[range.start * stride..range.end * stride];
    for (number, lines) in lines.chunks(PANEL * stride).enumerate() {
        let mut panel = Panel { first: zero, second: zero, cross: [zero; MOST_EXTRA] };
        for (k, block) in lines.chunks_exact(stride).enumerate() {
            let place = number * PANEL + k;
            let block = (range.start + place, block);
            let kept = eta.get_mut(place * BLOCK..(place + 1) * BLOCK);
            fill(simd, model, block, (coefficients, *constant), extra, kept, (k, &mut panel, sums))?;
        }
        let lines = PanelLines { layout, lines };
        products::add_sums(simd, lines, &panel.first, &mut sums.gradient);
        for (panel, sums) in panel.cross.iter().zip(&mut sums.cross).take(model.family.extra().len()) {
            products::add_sums(simd, lines, panel, sums);
        }
        if let Some(hessian) = &mut sums.hessian {
            hessian.add_panel(simd, lines, &panel.second);
        }
    }
    Ok(())
}

/// Derivatives of one block, into place `k` of the panel.
#[inline(always)]
fn fill<S: Simd, F: Family>(
    simd: S,
    model: &Glm<F>,
    (index, lines): (usize, &[Line]),
    (coefficients, constant): (&[[f32; 2]], f32),
    extra: &[f64],
    kept: Option<&mut [f32]>,
    (k, panel, sums): (usize, &mut Panel<S>, &mut Sums),
) -> Result<()> {
    let blocks = model.blocks().view();
    let layout = blocks.layout();
    let column = |place: Option<usize>, missing: f32| match place {
        Some(place) => kernel::column(simd, lines, place),
        None => [Lanes::splat(simd, missing); 2],
    };
    let eta = predictor::of_one(simd, layout, lines, coefficients, constant);
    let offset = column(layout.offset, 0.0);
    let rows = Rows {
        eta: [eta[0] + offset[0], eta[1] + offset[1]],
        response: column(Some(layout.response), 0.0),
        trials: column(layout.trials, 1.0),
    };
    if let Some(kept) = kept {
        rows.eta[0].store_slice(&mut kept[..16]);
        rows.eta[1].store_slice(&mut kept[16..]);
    }
    let count = blocks.rows_in(index);
    // Weights, 0 for the rows missing from the last block.
    let mut weight = column(layout.weight, 1.0);
    for i in count..BLOCK {
        weight[i / 16].as_mut_slice()[i % 16] = 0.0;
    }
    let value = |i: usize, pair: &Pair<S>| f64::from(pair[i / 16].as_slice()[i % 16]);
    for i in 0..if sums.valued { count } else { 0 } {
        let w = value(i, &weight);
        if w != 0.0 {
            let row = model.family.log_likelihood(
                extra,
                value(i, &rows.eta),
                value(i, &rows.response),
                value(i, &rows.trials),
            );
            if row.is_nan() {
                return Err(Error::NotANumber { row: model.original(index * BLOCK + i) });
            }
            sums.value += w * row;
        }
    }
    let all = <F::Kernel>::derivatives(&model.family, simd, extra, &rows);
    // A missing row must not bring ∞·0.
    let empty = [weight[0].simd_eq(Lanes::splat(simd, 0.0)), weight[1].simd_eq(Lanes::splat(simd, 0.0))];
    let weighted =
        |pair: Pair<S>, half: usize| empty[half].select(Lanes::splat(simd, 0.0), pair[half] * weight[half]);
    for half in 0..2 {
        panel.first[2 * k + half] = weighted(all.first, half);
        panel.second[2 * k + half] = weighted(all.second, half);
    }
    if let Some(extra) = all.extra {
        for half in 0..2 {
            for a in 0..model.family.extra().len() {
                panel.cross[a][2 * k + half] = weighted(extra.cross[a], half);
                sums.slope[a] += f64::from(lanes_sum(weighted(extra.slope[a], half)));
                for b in 0..model.family.extra().len() {
                    sums.curve[a][b] += f64::from(lanes_sum(weighted(extra.curve[a][b], half)));
                }
            }
        }
    }
    Ok(())
}
