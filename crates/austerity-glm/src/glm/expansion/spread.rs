//! The posterior sd of a row's linear predictor, and its coordinates where the posterior is round.
//!
//! With C Cᵀ the covariance of the coefficients, z = Cᵀx of a row has |z| = lev. `Spread::of` gives all coordinates of z, which sums of
//! higher order need: D·d multiply-adds and one row of C per factor. [`Spread::new`] gives lev alone. With levels that takes D²/2
//! multiply-adds, whatever their number: with L Lᵀ the covariance of the dense coefficients, v = constant + Σ_f τ\[level_f\] the rest of
//! the linear predictor, and a_v = L⁻¹ Cov(γ, v),
//!
//! ```text
//! lev² = |Lᵀx̃ + a_v|² + Var(v) − |a_v|²
//! ```
//!
//! where both parts come from tables by level: nothing cancels in single precision.

use fearless_simd::{Simd, prelude::*};
use nalgebra::{DMatrix, DVector};

use crate::glm::blocks::{BLOCK, Layout, Line};
use crate::glm::kernel::{Pair, column};
use crate::glm::predictor::{Coding, levels};
use crate::glm::{Family, Glm};
use crate::simd::Lanes;
use austerity::error::{Error, Result};

/// Directions whose sums are kept in registers together.
pub(super) const GROUP: usize = 4;

/// A factor of a covariance in the units of the storage, in groups of directions.
#[derive(Debug)]
pub struct Spread {
    groups: Vec<Group>,
    /// |Cᵀx| of the constant part of every row.
    constant: f32,
    /// What levels add to lev² beside the directions.
    rest: Option<Rest>,
    /// sds within which the derivatives are bounded.
    pub(super) reach: f32,
    /// What a row of weight 1 can leave along an extra parameter, where rows have weights.
    pub(super) extra: f32,
}

/// Some directions.
#[derive(Debug)]
struct Group {
    constants: [f32; GROUP],
    /// The first dense column that is not zero,
    begin: usize,
    /// and the entries from there on.
    columns: Vec<[f32; GROUP]>,
    /// Entries of the table of levels.
    table: Vec<[f32; GROUP]>,
}

/// What directions are made of.
struct Parts<'a> {
    /// Of the constant, by direction.
    constant: &'a dyn Fn(usize) -> f64,
    /// Of an entry of the coding, by direction.
    entry: &'a dyn Fn(usize, usize) -> f64,
    /// The row of a dense entry in the lower triangle.
    rank: &'a dyn Fn(usize) -> usize,
}

/// Var(v) − |a_v|², by level.
#[derive(Debug)]
struct Rest {
    constant: f64,
    /// With 1 in the place of the number of a slope.
    levels: Vec<f64>,
    /// What of it goes with the square of that number.
    squares: Vec<f64>,
    /// Of levels of different factors, lower triangle by rows of the table.
    pairs: Vec<f64>,
}

impl Spread {
    /// For leverages, of the covariance of all parameters of `model`, d × d row by row.
    pub fn new<F: Family>(model: &Glm<F>, covariance: &[f64], reach: f32) -> Result<Self> {
        let (size, count) = (model.parameters(), model.coefficients());
        let weighted = model.blocks().layout().weight.is_some() && count < size;
        let sd = if weighted { covariance[size * size - 1].max(0.0).sqrt() } else { 0.0 };
        let extra = (model.family.largest_extra_third() * sd.powi(3) / 6.0) as f32;
        let covariance = DMatrix::from_fn(count, count, |i, j| covariance[i * size + j]);
        let spread = if model.blocks().layout().factors == 0 {
            Self::of(&factor(&covariance)?, &model.coding, reach)
        } else {
            Self::of_leverages(&covariance, &model.coding, reach)?
        };
        Ok(Self { extra, ..spread })
    }

    /// Of the lower factor of the covariance of an intercept (if there is one) and of the entries of `coding`.
    pub(super) fn of(lower: &DMatrix<f64>, coding: &Coding, reach: f32) -> Self {
        let first = usize::from(coding.intercept);
        let constant = |k: usize| {
            let own = if first == 1 { lower[(0, k)] } else { 0.0 };
            let shifts = coding.entries.iter().enumerate();
            own + shifts.map(|(n, entry)| entry.shift * lower[(first + n, k)]).sum::<f64>()
        };
        let row = |n: usize, k: usize| coding.entries[n].scale * lower[(first + n, k)];
        let parts = Parts { constant: &constant, entry: &row, rank: &|n| first + n };
        Self::grouped(lower.nrows(), coding, &parts, reach)
    }

    /// Groups of `count` directions.
    fn grouped(count: usize, coding: &Coding, parts: &Parts<'_>, reach: f32) -> Self {
        let is_dense = |n: &usize| coding.level(&coding.entries[*n]).is_none();
        let dense: Vec<usize> = (0..coding.len()).filter(is_dense).collect();
        let mut constant_square = 0.0f32;
        let groups = (0..count).step_by(GROUP).map(|start| {
            let within = |c: usize| (start + c < count).then_some(start + c);
            let entry = |n: usize, c: usize| within(c).map_or(0.0, |k| (parts.entry)(n, k));
            let mut constants: [f64; GROUP] = std::array::from_fn(|c| within(c).map_or(0.0, parts.constant));
            constants.iter().for_each(|&c| constant_square += (c as f32) * (c as f32));
            let mut table = vec![[0.0f64; GROUP]; coding.table()];
            for (n, own) in coding.entries.iter().enumerate() {
                if let Some(place) = coding.level(own) {
                    table[place] = std::array::from_fn(|c| entry(n, c));
                }
            }
            if coding.factors() == 1 && coding.slopes() == 0 {
                // One level a row: what it and the constant cancel is gone before it is rounded.
                table.iter_mut().for_each(|own| own.iter_mut().zip(&constants).for_each(|(t, c)| *t += c));
                constants = [0.0; GROUP];
            }
            // The factor is lower triangular: directions from `start` on are moved by rows from `start` on.
            let begin = dense.partition_point(|&n| (parts.rank)(n) < start);
            let columns = dense[begin..].iter().map(|&n| std::array::from_fn(|c| entry(n, c) as f32));
            Group {
                constants: constants.map(|c| c as f32),
                begin,
                columns: columns.collect(),
                table: table.iter().map(|own| own.map(|t| t as f32)).collect(),
            }
        });
        let groups = groups.collect();
        Self { groups, constant: constant_square.sqrt(), rest: None, reach, extra: 0.0 }
    }

    /// For leverages of rows with levels.
    fn of_leverages(covariance: &DMatrix<f64>, coding: &Coding, reach: f32) -> Result<Self> {
        let first = usize::from(coding.intercept);
        let number = |n: usize| first + n;
        let (levels, dense): (Vec<usize>, Vec<usize>) =
            (0..coding.len()).partition(|&n| coding.level(&coding.entries[n]).is_some());
        let (scale, size) = (|n: usize| coding.entries[n].scale, covariance.nrows());
        // The constant as a combination of the coefficients.
        let mut shifts = DVector::zeros(size);
        coding.entries.iter().enumerate().for_each(|(n, entry)| shifts[number(n)] = entry.shift);
        shifts.rows_mut(0, first).fill(1.0);
        let of_constant = covariance * &shifts;
        let products = DMatrix::from_fn(dense.len(), dense.len(), |a, b| {
            scale(dense[a]) * scale(dense[b]) * covariance[(number(dense[a]), number(dense[b]))]
        });
        let lower = if dense.is_empty() { products } else { factor(&products)? };
        let solved = |vector: DVector<f64>| lower.solve_lower_triangular(&vector).ok_or_else(not_definite);
        let with = |of: &dyn Fn(usize) -> f64| {
            DVector::from_iterator(dense.len(), dense.iter().map(|&n| scale(n) * of(number(n))))
        };
        let constant = solved(with(&|i| of_constant[i]))?;
        let mut shares = vec![DVector::zeros(dense.len()); coding.table()];
        let mut rest = Rest {
            constant: shifts.dot(&of_constant) - constant.dot(&constant),
            levels: vec![0.0; coding.table()],
            squares: vec![0.0; coding.table()],
            pairs: vec![
                0.0;
                if coding.factors() > 1 { coding.table() * (coding.table() + 1) / 2 } else { 0 }
            ],
        };
        let place = |n: usize| coding.level(&coding.entries[n]).unwrap_or(0);
        for &n in &levels {
            let share = solved(with(&|i| scale(n) * covariance[(number(n), i)]))?;
            let own = scale(n) * scale(n) * covariance[(number(n), number(n))] - share.dot(&share);
            let mixed = scale(n) * of_constant[number(n)] - share.dot(&constant);
            rest.levels[place(n)] = own + 2.0 * mixed;
            rest.squares[place(n)] = own;
            shares[place(n)] = share;
        }
        for (k, &n) in levels.iter().enumerate().take(if rest.pairs.is_empty() { 0 } else { levels.len() }) {
            for &other in &levels[..k] {
                let (a, b) = (place(n).max(place(other)), place(n).min(place(other)));
                let both = scale(n) * scale(other) * covariance[(number(n), number(other))];
                rest.pairs[a * (a + 1) / 2 + b] = 2.0 * (both - shares[a].dot(&shares[b]));
            }
        }
        let mut rank = vec![0; coding.len()];
        dense.iter().enumerate().for_each(|(k, &n)| rank[n] = k);
        let row = |n: usize, k: usize| match coding.level(&coding.entries[n]) {
            Some(place) => shares[place][k],
            None => lower[(rank[n], k)],
        };
        let parts = Parts { constant: &|k| constant[k], entry: &row, rank: &|n| rank[n] };
        let spread = Self::grouped(dense.len(), coding, &parts, reach);
        Ok(Self { rest: Some(rest), ..spread })
    }

    /// Directions, filled up to whole groups.
    pub(super) fn directions(&self) -> usize {
        GROUP * self.groups.len()
    }

    /// |Cᵀx| of the constant part of every row.
    pub(super) fn constant(&self) -> f32 {
        self.constant
    }

    /// lev² of 32 rows.
    #[inline(always)]
    pub(super) fn squares<S: Simd>(&self, simd: S, layout: &Layout, lines: &[Line]) -> Pair<S> {
        let mut total = [Lanes::splat(simd, 0.0); 2];
        self.project(simd, layout, lines, |_, low, high| {
            for c in 0..GROUP {
                total[0] = low[c].mul_add(low[c], total[0]);
                total[1] = high[c].mul_add(high[c], total[1]);
            }
        });
        if let Some(rest) = &self.rest {
            let more = levels::pair(simd, &rest.of_block(layout, lines));
            total = [total[0] + more[0], total[1] + more[1]];
        }
        total
    }

    /// Whether the projections are all there is to a leverage.
    pub(super) fn is_whole(&self) -> bool {
        self.rest.is_none()
    }

    /// Gives Cᵀx of 32 rows to `take`, a group of directions at a time, each beginning with the direction given.
    #[inline(always)]
    pub(super) fn project<S: Simd>(
        &self,
        simd: S,
        layout: &Layout,
        lines: &[Line],
        mut take: impl FnMut(usize, [Lanes<S>; GROUP], [Lanes<S>; GROUP]),
    ) {
        for (number, group) in self.groups.iter().enumerate() {
            let mut low = group.constants.map(|c| Lanes::splat(simd, c));
            let mut high = low;
            for (j, entries) in group.columns.iter().enumerate() {
                let x = column(simd, lines, group.begin + j);
                for c in 0..GROUP {
                    let entry = Lanes::splat(simd, entries[c]);
                    low[c] = x[0].mul_add(entry, low[c]);
                    high[c] = x[1].mul_add(entry, high[c]);
                }
            }
            if layout.factors > 0 {
                let more = group.of_levels(layout, lines);
                for c in 0..GROUP {
                    let [left, right] = levels::pair(simd, &more[c]);
                    (low[c], high[c]) = (low[c] + left, high[c] + right);
                }
            }
            take(GROUP * number, low, high);
        }
    }
}

impl Group {
    /// What levels add to the directions of 32 rows.
    #[inline(never)]
    fn of_levels(&self, layout: &Layout, lines: &[Line]) -> [[f32; BLOCK]; GROUP] {
        let mut sums = [[0.0; BLOCK]; GROUP];
        let rows = (0..BLOCK).flat_map(|i| {
            levels::values_of_row(layout, lines, i).map(move |(place, number)| (i, place, number))
        });
        for (i, place, number) in rows {
            let own = &self.table[place];
            sums.iter_mut().zip(own).for_each(|(sums, own)| sums[i] += own * number);
        }
        sums
    }
}

impl Rest {
    #[inline(never)]
    fn of_block(&self, layout: &Layout, lines: &[Line]) -> [f32; BLOCK] {
        std::array::from_fn(|i| {
            let places = levels::values_of_row(layout, lines, i);
            let mut sum = self.constant;
            for (factor, (place, number)) in places.clone().enumerate() {
                let number = f64::from(number);
                sum += if factor < layout.plain_factors() {
                    self.levels[place]
                } else {
                    let square = self.squares[place];
                    number * (self.levels[place] - square) + number * number * square
                };
                for (other, by) in places.clone().take(if self.pairs.is_empty() { 0 } else { factor }) {
                    let (a, b) = (place.max(other), place.min(other));
                    sum += self.pairs[a * (a + 1) / 2 + b] * number * f64::from(by);
                }
            }
            sum.max(0.0) as f32
        })
    }
}

/// The lower factor of a covariance at the centre.
pub(super) fn factor(covariance: &DMatrix<f64>) -> Result<DMatrix<f64>> {
    let lower = covariance.clone().cholesky().map(nalgebra::Cholesky::unpack);
    lower.filter(|lower| lower.iter().all(|v| v.is_finite())).ok_or_else(not_definite)
}

/// What there is to say of a covariance at the centre that has no factor, or one that cannot be inverted.
pub(super) fn not_definite() -> Error {
    Error::NotPositiveDefinite {
        what: "the covariance at the centre".into(),
        remedy: "give every coefficient a proper prior".into(),
    }
}
