//! Sums of second and third order over many rows, in coordinates where the posterior is round.
//!
//! With z = Cᵀx of a row, C Cᵀ the covariance, and u = C⁻¹(θ − θ̂), the linear predictor moves by z·u. What bounds a total are quadratic forms
//! uᵀ(Σ w z zᵀ)u, and what estimates it the cubic form Σ t (z·u)³ with its d(d+1)(d+2)/6 different coefficients. Sums run in f32 over panels of 8 blocks (16
//! terms per lane), then in f64. In these coordinates Σ_a |z_a u_a| ≤ |z||u|, so rounding costs a form a fraction of Σ|t||z|³|u|³ and not more, however
//! correlated the columns are.
//!
//! Cost: d²/2 multiply-adds a row for the coordinates, 3d²/2 for the quadratic forms, d³/6 for the cubic.

use fearless_simd::{Simd, prelude::*};

use super::dot;
use super::spread::{GROUP, Spread};
use crate::glm::blocks::{BLOCK, View};
use crate::glm::kernel::column;
use crate::glm::predictor::levels;
use crate::simd::{Lanes, Level, dispatched};

/// Blocks of a panel.
pub(super) const PANEL: usize = 8;
/// Vectors of a panel.
const VECTORS: usize = 2 * PANEL;
/// Rows of a panel.
pub(super) const ROWS: usize = BLOCK * PANEL;
/// Quadratic forms.
pub(super) const FORMS: usize = 3;

/// A number of every row of a panel.
pub(super) type Column = [[f32; 16]; VECTORS];

/// The rows of a few blocks.
#[derive(Debug)]
pub(super) struct Panel {
    /// z, direction by direction.
    coordinates: Vec<Column>,
    /// |z|² as computed.
    pub(super) squares: Column,
    /// Σ_j |x_j|·width_j.
    pub(super) sizes: Column,
    /// w of the quadratic forms.
    pub(super) weights: [Column; FORMS],
    /// t of the cubic form.
    pub(super) cubic: Column,
}

pub(super) const EMPTY: Column = [[0.0; 16]; VECTORS];

impl Panel {
    pub(super) fn new(spread: &Spread) -> Self {
        Self {
            coordinates: vec![EMPTY; spread.directions()],
            squares: EMPTY,
            sizes: EMPTY,
            weights: [EMPTY; FORMS],
            cubic: EMPTY,
        }
    }

    /// Takes in at most [`PANEL`] blocks; rows not there get no weight.
    pub(super) fn take(
        &mut self,
        level: Level,
        spread: &Spread,
        widths: &[f32],
        view: &View<'_>,
        blocks: &[u32],
    ) {
        self.weights = [EMPTY; FORMS];
        self.cubic = EMPTY;
        dispatched!(level, simd => project(simd, self, spread, widths, view, blocks));
    }

    /// out_a += Σ weight·z_a over the rows.
    pub(super) fn add_products(&self, weights: &Column, out: &mut [f64]) {
        for (out, z) in out.iter_mut().zip(&self.coordinates) {
            let pairs = weights.as_flattened().iter().zip(z.as_flattened());
            *out += pairs.map(|(&weight, &z)| f64::from(weight) * f64::from(z)).sum::<f64>();
        }
    }
}

#[inline(always)]
fn project<S: Simd>(
    simd: S,
    panel: &mut Panel,
    spread: &Spread,
    widths: &[f32],
    view: &View<'_>,
    blocks: &[u32],
) {
    let layout = view.layout();
    for (place, &block) in blocks.iter().enumerate() {
        let lines = view.block(block as usize);
        let mut squares = [Lanes::splat(simd, 0.0); 2];
        spread.project(simd, layout, lines, |first, low, high| {
            for c in 0..GROUP {
                squares = [low[c].mul_add(low[c], squares[0]), high[c].mul_add(high[c], squares[1])];
                let direction = &mut panel.coordinates[first + c];
                low[c].store_slice(&mut direction[2 * place]);
                high[c].store_slice(&mut direction[2 * place + 1]);
            }
        });
        let mut sizes = [Lanes::splat(simd, 0.0); 2];
        let (dense, table) = widths.split_at(widths.len().min(layout.columns));
        for (j, &width) in dense.iter().enumerate() {
            let (x, width) = (column(simd, lines, j), Lanes::splat(simd, width));
            sizes = [x[0].abs().mul_add(width, sizes[0]), x[1].abs().mul_add(width, sizes[1])];
        }
        if !table.is_empty() {
            let mut more = [0.0; BLOCK];
            levels::gather_sizes(layout, lines, table, &mut more);
            let more = levels::pair(simd, &more);
            sizes = [sizes[0] + more[0], sizes[1] + more[1]];
        }
        for half in 0..2 {
            squares[half].store_slice(&mut panel.squares[2 * place + half]);
            sizes[half].store_slice(&mut panel.sizes[2 * place + half]);
        }
    }
}

/// Sums over rows; lower triangles a ≥ b (≥ c) row by row.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    directions: usize,
    /// Empty when not wanted, as the cubic form.
    pub(super) forms: [Vec<f64>; FORMS],
    pub(super) cubic: Vec<f64>,
}

impl Sums {
    pub(super) fn new(directions: usize, cubic: bool) -> Self {
        let (d, square) = (directions, directions * (directions + 1) / 2);
        Self {
            directions,
            forms: std::array::from_fn(|_| vec![0.0; square]),
            cubic: vec![0.0; if cubic { square * (d + 2) / 3 } else { 0 }],
        }
    }

    /// The first quadratic form alone.
    pub(super) fn second(directions: usize) -> Self {
        Self::quadratics(directions, 1)
    }

    /// The first quadratic forms alone.
    pub(super) fn quadratics(directions: usize, count: usize) -> Self {
        let mut sums = Self::new(directions, false);
        sums.forms[count..].iter_mut().for_each(Vec::clear);
        sums
    }

    /// The cubic form alone.
    pub(super) fn third(directions: usize) -> Self {
        Self { forms: Default::default(), ..Self::new(directions, true) }
    }

    /// Adds the sums over other rows.
    pub(super) fn add(&mut self, other: &Self) {
        self.add_times(other, 1.0);
    }

    /// Takes the sums over some of the rows out again.
    pub(super) fn subtract(&mut self, other: &Self) {
        self.add_times(other, -1.0);
    }

    fn add_times(&mut self, other: &Self, times: f64) {
        let forms = self.forms.iter_mut().zip(&other.forms);
        for (mine, theirs) in forms.chain([(&mut self.cubic, &other.cubic)]) {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += times * b);
        }
    }

    /// Adds the rows of a panel.
    pub(super) fn push(&mut self, level: Level, panel: &Panel) {
        dispatched!(level, simd => accumulate(simd, panel, self));
    }

    /// Σ over all orders of the indices instead of one: entries times the number of their orders.
    pub(super) fn complete(&mut self) {
        let mut at = [0; 2];
        for a in 0..self.directions {
            for b in 0..=a {
                let entries = self.forms.iter_mut().filter_map(|form| form.get_mut(at[0]));
                entries.for_each(|entry| *entry *= if a == b { 1.0 } else { 2.0 });
                at[0] += 1;
                for c in 0..if self.cubic.is_empty() { 0 } else { b + 1 } {
                    let equal = usize::from(a == b) + usize::from(b == c);
                    self.cubic[at[1]] *= [6.0, 3.0, 1.0][equal];
                    at[1] += 1;
                }
            }
        }
    }
}

#[inline(always)]
fn accumulate<S: Simd>(simd: S, panel: &Panel, sums: &mut Sums) {
    let mut square = 0;
    let mut rest = &mut sums.cubic[..];
    for a in 0..sums.directions {
        let first = &panel.coordinates[a];
        for (form, weights) in sums.forms.iter_mut().zip(&panel.weights) {
            if form.is_empty() {
                continue;
            }
            dots(simd, &product(simd, weights, first), &panel.coordinates, &mut form[square..=square + a]);
        }
        square += a + 1;
        if rest.is_empty() {
            continue;
        }
        let weighted = product(simd, &panel.cubic, first);
        for b in 0..=a {
            let (row, after) = std::mem::take(&mut rest).split_at_mut(b + 1);
            rest = after;
            dots(simd, &product(simd, &weighted, &panel.coordinates[b]), &panel.coordinates, row);
        }
    }
}

#[inline(always)]
fn product<S: Simd>(simd: S, a: &Column, b: &Column) -> Column {
    let mut product = EMPTY;
    for v in 0..VECTORS {
        let value = Lanes::load_array_ref(simd, &a[v]) * Lanes::load_array_ref(simd, &b[v]);
        value.store_slice(&mut product[v]);
    }
    product
}

/// out_c += Σ weights·z_c; the coordinates are filled up to whole groups.
#[inline(always)]
fn dots<S: Simd>(simd: S, weights: &Column, coordinates: &[Column], out: &mut [f64]) {
    for (group, out) in out.chunks_mut(GROUP).enumerate() {
        let z = &coordinates[GROUP * group..][..GROUP];
        let mut sum = [Lanes::splat(simd, 0.0); GROUP];
        for v in 0..VECTORS {
            let weight = Lanes::load_array_ref(simd, &weights[v]);
            for c in 0..GROUP {
                sum[c] = Lanes::load_array_ref(simd, &z[c][v]).mul_add(weight, sum[c]);
            }
        }
        out.iter_mut().zip(sum).for_each(|(out, sum)| *out += f64::from(sum.reduce_sum()));
    }
}

/// The value of a completed quadratic form.
pub(super) fn quadratic(form: &[f64], u: &[f64]) -> f64 {
    let (mut rest, mut value) = (form, 0.0);
    for (a, &last) in u.iter().enumerate() {
        let (row, after) = rest.split_at(a + 1);
        rest = after;
        value += last * dot(row, &u[..=a]);
    }
    value
}

/// The value of a completed cubic form.
pub(super) fn cubic(form: &[f64], u: &[f64]) -> f64 {
    let (mut rest, mut value) = (form, 0.0);
    for (a, &last) in u.iter().enumerate() {
        let mut inner = 0.0;
        for b in 0..=a {
            let (row, after) = rest.split_at(b + 1);
            rest = after;
            inner += u[b] * dot(row, &u[..=b]);
        }
        value += last * inner;
    }
    value
}
