//! Weighted sums over rows: Σ f·z and Σ w·z zᵀ with z = (1, dense columns, levels), which gradients and Hessians are made of.
//!
//! | part | how it is summed |
//! |---|---|
//! | dense × dense | in registers over panels of 4 blocks in f32, then in f64; of many columns by tiles (`tiles.rs`) |
//! | dense × level | a row of the table for every row of the data, in f64 |
//! | level × level of one factor | its diagonal is the constant × level, or summed apart where a factor has slopes; all else is 0 |
//! | level × level of two factors | one entry for every row and pair of factors, in f64 |
//!
//! Cost: N·D²/2 multiply-adds for D dense columns, and N·D for every factor, whatever the number of its levels. Memory: (D + 1) numbers
//! a level, and for several factors half a square of all levels.

use fearless_simd::{Simd, prelude::*};

use super::levels;
use crate::glm::blocks::{BLOCK, Layout, Line};
use crate::glm::kernel;
use crate::glm::tiles::{self, Tiles};
use crate::simd::Lanes;

/// Blocks whose products are summed in f32.
pub(in crate::glm) const PANEL: usize = 4;
/// Entries summed at a time.
const GROUP: usize = 4;

/// A number of every row of a panel, two vectors per block.
pub(in crate::glm) type PanelOf<S> = [Lanes<S>; 2 * PANEL];

/// The blocks of a panel, one after the other.
#[derive(Clone, Copy, Debug)]
pub(in crate::glm) struct PanelLines<'a> {
    pub(in crate::glm) layout: &'a Layout,
    pub(in crate::glm) lines: &'a [Line],
}

/// Adds Σ factor·z over a panel to `out`: the constant, then the order of the storage.
#[inline(always)]
pub(in crate::glm) fn add_sums<S: Simd>(
    simd: S,
    PanelLines { layout, lines }: PanelLines<'_>,
    factor: &PanelOf<S>,
    out: &mut [f64],
) {
    let stride = layout.lines();
    let mut total = Lanes::splat(simd, 0.0);
    for &value in factor {
        total += value;
    }
    out[0] += f64::from(total.reduce_sum());
    let (dense, table) = out[1..].split_at_mut(layout.columns);
    for (j, out) in dense.iter_mut().enumerate() {
        let mut sum = [Lanes::splat(simd, 0.0); 2];
        for (block, factor) in lines.chunks_exact(stride).zip(factor.chunks_exact(2)) {
            let x = kernel::column(simd, block, j);
            sum = [x[0].mul_add(factor[0], sum[0]), x[1].mul_add(factor[1], sum[1])];
        }
        *out += f64::from((sum[0] + sum[1]).reduce_sum());
    }
    if layout.factors > 0 {
        for (block, factor) in lines.chunks_exact(stride).zip(factor.chunks_exact(2)) {
            levels::scatter(layout, block, &kernel::array([factor[0], factor[1]]), table);
        }
    }
}

/// The constant and the dense columns of a block in f64.
#[derive(Clone, Debug)]
pub(crate) struct WideBlock(Vec<[f64; BLOCK]>);

impl WideBlock {
    /// Room for a block.
    pub(crate) fn new(layout: &Layout) -> Self {
        Self(vec![[1.0; BLOCK]; layout.columns + 1])
    }

    /// Takes in a block.
    pub(crate) fn fill(&mut self, lines: &[Line]) {
        for (column, pair) in self.0[1..].iter_mut().zip(lines.as_chunks::<2>().0) {
            let values = pair[0].0.iter().chain(&pair[1].0);
            column.iter_mut().zip(values).for_each(|(slot, &x)| *slot = f64::from(x));
        }
    }

    /// Adds Σ value·z to `out`: the constant, then the order of the storage. `lines` are those taken in.
    pub(crate) fn add_sums(&self, layout: &Layout, lines: &[Line], values: &[f64; BLOCK], out: &mut [f64]) {
        let (dense, table) = out.split_at_mut(self.0.len());
        dense.iter_mut().zip(&self.0).for_each(|(out, column)| *out += dot(column, values));
        levels::scatter(layout, lines, values, table);
    }
}

fn dot(a: &[f64; BLOCK], b: &[f64; BLOCK]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Σ w·z zᵀ, by its parts.
#[derive(Clone, Debug)]
pub struct CrossProducts {
    columns: usize,
    /// Of the constant and the dense columns, lower triangle by rows.
    dense: Vec<f64>,
    /// Of each level with the constant and the dense columns.
    levels: Vec<f64>,
    /// Of each level with itself, where a factor has slopes.
    squares: Vec<f64>,
    /// Of levels of different factors, lower triangle by rows of the table.
    pairs: Vec<f64>,
    tiles: Option<Tiles>,
}

impl CrossProducts {
    /// No row yet.
    pub(crate) fn new(layout: &Layout) -> Self {
        let (columns, table) = (layout.columns, layout.table());
        Self {
            columns,
            dense: vec![0.0; (columns + 1) * (columns + 2) / 2],
            levels: vec![0.0; table * (columns + 1)],
            squares: vec![0.0; if layout.slopes > 0 { table } else { 0 }],
            pairs: vec![0.0; if layout.factors > 1 { table * (table + 1) / 2 } else { 0 }],
            tiles: None,
        }
    }

    /// Adds the sums over other rows.
    pub(in crate::glm) fn add(&mut self, other: &Self) {
        let parts = [(&mut self.dense, &other.dense), (&mut self.levels, &other.levels)];
        let more = [(&mut self.pairs, &other.pairs), (&mut self.squares, &other.squares)];
        for (mine, theirs) in parts.into_iter().chain(more) {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
    }

    /// The sum of z_a·z_b; place 0 is the constant, and the order of the storage follows.
    #[must_use]
    pub fn entry(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (a.max(b), a.min(b));
        let level = |place: usize| place.checked_sub(self.columns + 1);
        let triangle = |a: usize, b: usize| a * (a + 1) / 2 + b;
        match (level(a), level(b)) {
            (None, _) => self.dense[triangle(a, b)],
            (Some(own), None) => self.levels[own * (self.columns + 1) + b],
            (Some(own), Some(other)) if own == other => {
                self.squares.get(own).copied().unwrap_or_else(|| self.levels[own * (self.columns + 1)])
            }
            (Some(own), Some(other)) => self.pairs.get(triangle(own, other)).copied().unwrap_or(0.0),
        }
    }

    /// Adds the rows of a panel with these weights.
    #[inline(always)]
    pub(in crate::glm) fn add_panel<S: Simd>(
        &mut self,
        simd: S,
        panel: PanelLines<'_>,
        weights: &PanelOf<S>,
    ) {
        let PanelLines { layout, lines } = panel;
        let stride = layout.lines();
        if self.columns >= tiles::MANY {
            let mut given = [0.0; PANEL * BLOCK];
            for (part, weights) in given.chunks_exact_mut(16).zip(weights) {
                weights.store_slice(part);
            }
            let given = &given[..lines.len() / stride * BLOCK];
            let tiles = self.tiles.get_or_insert_with(|| Tiles::new(self.columns, PANEL));
            tiles.add(simd, lines, stride, self.columns, given, &mut self.dense);
        } else {
            curvature(simd, panel, weights, &mut self.dense);
        }
        if layout.factors > 0 {
            for (block, weights) in lines.chunks_exact(stride).zip(weights.chunks_exact(2)) {
                self.add_levels(layout, block, &kernel::array([weights[0], weights[1]]));
            }
        }
    }

    /// Adds the rows of a block with these weights in f64; `wide` has taken it in.
    pub(crate) fn add_wide(
        &mut self,
        layout: &Layout,
        lines: &[Line],
        WideBlock(wide): &WideBlock,
        weights: &[f64; BLOCK],
    ) {
        let mut entries = self.dense.iter_mut();
        for (a, column) in wide.iter().enumerate() {
            let product: [f64; BLOCK] = std::array::from_fn(|i| column[i] * weights[i]);
            for (column, entry) in wide[..=a].iter().zip(&mut entries) {
                *entry += dot(column, &product);
            }
        }
        if layout.factors > 0 {
            self.add_levels(layout, lines, weights);
        }
    }

    /// Adds what levels take part in, of a block whose rows have these weights.
    fn add_levels<V: Copy + Into<f64>>(&mut self, layout: &Layout, lines: &[Line], weights: &[V; BLOCK]) {
        let width = self.columns + 1;
        for (i, &weight) in weights.iter().enumerate() {
            let weight: f64 = weight.into();
            if weight == 0.0 {
                continue;
            }
            let places = levels::values_of_row(layout, lines, i);
            for (factor, (place, number)) in places.clone().enumerate() {
                let number = f64::from(number);
                let weight = weight * number;
                let sums = &mut self.levels[place * width..][..width];
                sums[0] += weight;
                for (sum, pair) in sums[1..].iter_mut().zip(lines.as_chunks::<2>().0) {
                    *sum += weight * f64::from(pair[i / 16].0[i % 16]);
                }
                if let Some(square) = self.squares.get_mut(place) {
                    *square += weight * number;
                }
                for (other, by) in places.clone().take(if self.pairs.is_empty() { 0 } else { factor }) {
                    let (a, b) = (place.max(other), place.min(other));
                    self.pairs[a * (a + 1) / 2 + b] += weight * f64::from(by);
                }
            }
        }
    }
}

/// Σ second·z zᵀ over a panel, lower triangle by rows.
#[inline(always)]
fn curvature<S: Simd>(
    simd: S,
    PanelLines { layout, lines }: PanelLines<'_>,
    second: &PanelOf<S>,
    out: &mut [f64],
) {
    let (stride, columns) = (layout.lines(), layout.columns);
    // Plain indices in the inner loops, as in `dense::dots`.
    let (pairs, _) = lines.as_chunks::<2>();
    let width = stride / 2;
    let count = (pairs.len() / width).min(PANEL);
    let mut rest = out;
    for a in 0..=columns {
        let (row, after) = std::mem::take(&mut rest).split_at_mut(a + 1);
        rest = after;
        let mut product = *second;
        if a > 0 {
            for (block, product) in lines.chunks_exact(stride).zip(product.chunks_exact_mut(2)) {
                let x = kernel::column(simd, block, a - 1);
                product[0] *= x[0];
                product[1] *= x[1];
            }
        }
        let mut total = Lanes::splat(simd, 0.0);
        for &value in &product {
            total += value;
        }
        row[0] += f64::from(total.reduce_sum());
        for (group, entries) in row[1..].chunks_mut(GROUP).enumerate() {
            // A short last group repeats the last column; the repeats are not used.
            let place = |c: usize| (group * GROUP + c).min(columns - 1);
            let places: [usize; GROUP] = std::array::from_fn(place);
            let mut sum = [Lanes::splat(simd, 0.0); GROUP];
            for k in 0..count {
                let block = &pairs[k * width..(k + 1) * width];
                let (low, high) = (product[2 * k], product[2 * k + 1]);
                for c in 0..GROUP {
                    let x = &block[places[c]];
                    sum[c] = Lanes::load_array_ref(simd, &x[0].0).mul_add(low, sum[c]);
                    sum[c] = Lanes::load_array_ref(simd, &x[1].0).mul_add(high, sum[c]);
                }
            }
            for (entry, sum) in entries.iter_mut().zip(sum) {
                *entry += f64::from(sum.reduce_sum());
            }
        }
    }
}
