//! Sums over all rows that a Gaussian linear model needs: G, θ̂, the slope left at θ̂, and RSS(θ̂).
//!
//! The normal equations G·φ = X'Wy of centred and scaled columns are solved by Cholesky, refined once with the
//! slope that the first solution leaves (iterative refinement, Golub & Van Loan 2013, §3.5.3), or, when columns
//! repeat each other, by the eigenvectors of the well-determined directions. The slope that remains is kept, so
//! that no accuracy of the sums depends on that of the solution. Cost: N·d²/2 multiply-adds and two passes more; levels of a factor
//! cost what one column costs ([`crate::glm::predictor::products`]).

use nalgebra::{DMatrix, DVector};

use crate::glm::blocks::{BLOCK, Line};
use crate::glm::precise::predictor;
use crate::glm::predictor::products::{CrossProducts, WideBlock};
use crate::store::LinearSums;
use crate::{CheckedData, Store};
use austerity::dot::dot;

/// Rows summed before their sums join the total: keeps rounding at about (256 + N/256) units.
const CHUNK: usize = 256;

/// Takes a block: its lines, the same in f64, and the weights and targets of its rows.
type VisitBlock<'a> = dyn FnMut(&[Line], &WideBlock, [[f64; BLOCK]; 2]) + 'a;

/// Sums over all rows, in the coordinates φ = (constant, scaled coefficients…) of the centred columns.
#[derive(Clone, Debug)]
pub(super) struct Statistics {
    pub(super) rows: usize,
    /// W.
    pub(super) weight: f64,
    /// Mean of y − offset, taken out of the constant.
    pub(super) level: f64,
    /// G, row by row, dimension k = columns + 1 (the constant is there even without an intercept).
    pub(super) gram: Vec<f64>,
    /// φ̂.
    pub(super) centre: Vec<f64>,
    /// g.
    pub(super) slope: Vec<f64>,
    /// RSS(φ̂).
    pub(super) least: f64,
}

impl Statistics {
    /// Of columns in memory.
    pub(super) fn new(data: &CheckedData) -> Self {
        let (rows, k) = (data.rows(), data.columns.len() + 1);
        let target = |i: usize| data.response[i] - data.offset.as_ref().map_or(0.0, |o| o[i]);
        let level = (0..rows).map(target).sum::<f64>() / rows as f64;
        let level = level + (0..rows).map(|i| target(i) - level).sum::<f64>() / rows as f64;
        let weight = data.weights.as_ref().map_or(rows as f64, |w| w.iter().sum());
        Self::solve((rows, k), weight, level, |c, i| match c {
            0 => 1.0,
            _ if c == k => target(i) - level,
            _ if c == k + 1 => data.weights.as_ref().map_or(1.0, |w| w[i]),
            _ => (data.columns[c - 1][i] - data.shift[c - 1]) / data.scale[c - 1],
        })
    }

    /// Of stored rows.
    pub(super) fn of_store(store: &Store) -> Self {
        if store.blocks().layout().factors > 0 {
            return Self::of_factors(store);
        }
        let (blocks, description) = (store.blocks().view(), store.description());
        let (layout, k) = (blocks.layout(), description.columns.len() + 1);
        let stored = |column: usize, position: usize| {
            let i = position % BLOCK;
            f64::from(blocks.block(position / BLOCK)[2 * column + i / 16].0[i % 16])
        };
        let weight = |position: usize| layout.weight.map_or(1.0, |place| stored(place, position));
        let rows = store.rows();
        let total = if layout.weight.is_some() { (0..rows).map(weight).sum() } else { rows as f64 };
        Self::solve((rows, k), total, description.response_shift, |c, position| match c {
            0 => 1.0,
            _ if c == k => stored(layout.response, position),
            _ if c == k + 1 => weight(position),
            _ => stored(c - 1, position),
        })
    }

    /// Of stored rows with factor columns, whose products are sums by level.
    fn of_factors(store: &Store) -> Self {
        let (view, description) = (store.blocks().view(), store.description());
        let (layout, k) = (view.layout(), description.columns.len() + 1);
        // Places of (1, columns) in the order of the storage, after the constant.
        let places: Vec<usize> =
            [0].into_iter().chain(description.slots().iter().map(|slot| 1 + slot)).collect();
        let mut wide = WideBlock::new(layout);
        // Visits every block with the weights of its rows and y − offset − level.
        let mut each_block = |visit: &mut VisitBlock<'_>| {
            for block in 0..view.count() {
                let (lines, rows) = (view.block(block), view.rows_in(block));
                let value = |place: usize, i: usize| f64::from(lines[2 * place + i / 16].0[i % 16]);
                let weight = |i: usize| layout.weight.map_or(1.0, |place| value(place, i));
                let weights = std::array::from_fn(|i| if i < rows { weight(i) } else { 0.0 });
                wide.fill(lines);
                visit(lines, &wide, [weights, std::array::from_fn(|i| value(layout.response, i))]);
            }
        };
        let (mut products, mut weight) = (CrossProducts::new(layout), 0.0);
        let mut sums = vec![0.0; layout.coefficients() + 1];
        each_block(&mut |lines, wide, [weights, target]| {
            products.add_wide(layout, lines, wide, &weights);
            wide.add_sums(layout, lines, &std::array::from_fn(|i| weights[i] * target[i]), &mut sums);
            weight += weights.iter().sum::<f64>();
        });
        let gram: Vec<f64> = (0..k * k).map(|at| products.entry(places[at / k], places[at % k])).collect();
        let in_order = |sums: &[f64]| -> Vec<f64> { places.iter().map(|&place| sums[place]).collect() };
        let (mut centre, mut slope, mut least) = (vec![0.0; k], in_order(&sums), 0.0);
        let solve = pseudo_solver(&gram, k);
        for _ in 0..2 {
            centre.iter_mut().zip(solve(&slope)).for_each(|(c, step)| *c += step);
            // In the order of the storage, the constant last.
            let mut gamma = vec![0.0; layout.coefficients() + 1];
            places[1..].iter().zip(&centre[1..]).for_each(|(&place, &c)| gamma[place - 1] = c);
            gamma[layout.coefficients()] = centre[0];
            sums.fill(0.0);
            least = 0.0;
            each_block(&mut |lines, wide, [weights, target]| {
                let eta = predictor(layout, lines, &gamma);
                let residual: [f64; BLOCK] = std::array::from_fn(|i| target[i] - eta[i]);
                let pull = std::array::from_fn(|i| weights[i] * residual[i]);
                wide.add_sums(layout, lines, &pull, &mut sums);
                least += pull.iter().zip(&residual).map(|(pull, residual)| pull * residual).sum::<f64>();
            });
            slope = in_order(&sums);
        }
        Self { rows: store.rows(), weight, level: description.response_shift, gram, centre, slope, least }
    }

    /// Of sums over rows that are not all stored; responses are stored less `level`.
    pub(super) fn of_sums(sums: &LinearSums, level: f64) -> Self {
        let LinearSums { rows, weight, gram, moment, square } = sums;
        let k = moment.len();
        let (mut centre, mut slope) = (vec![0.0; k], moment.clone());
        let solve = pseudo_solver(gram, k);
        for _ in 0..2 {
            centre.iter_mut().zip(solve(&slope)).for_each(|(c, step)| *c += step);
            for (i, slot) in slope.iter_mut().enumerate() {
                *slot = moment[i] - dot(&gram[i * k..(i + 1) * k], &centre);
            }
        }
        // RSS = Σ w y² − φ̂'m − φ̂'slope: the response is centred, so that little cancels.
        let least = (square - dot(&centre, moment) - dot(&centre, &slope)).max(0.0);
        Self { rows: *rows as usize, weight: *weight, level, gram: gram.clone(), centre, slope, least }
    }

    /// `value(c, i)` of row i: 1 for c = 0, the scaled columns, y − offset − level for c = k, the weight for c = k + 1.
    fn solve(
        (rows, k): (usize, usize),
        weight: f64,
        level: f64,
        value: impl Fn(usize, usize) -> f64,
    ) -> Self {
        // Chunks of √w times (1, columns, target), column by column.
        let mut chunk = vec![0.0; CHUNK * (k + 1)];
        let mut each_chunk = |visit: &mut dyn FnMut(&[&[f64]])| {
            let mut roots = [0.0; CHUNK];
            for start in (0..rows).step_by(CHUNK) {
                let here = start..(start + CHUNK).min(rows);
                roots.iter_mut().zip(here.clone()).for_each(|(root, i)| *root = value(k + 1, i).sqrt());
                for (c, out) in chunk.chunks_exact_mut(CHUNK).enumerate() {
                    for ((out, root), i) in out.iter_mut().zip(&roots).zip(here.clone()) {
                        *out = value(c, i) * root;
                    }
                }
                let columns: Vec<&[f64]> = chunk.chunks_exact(CHUNK).map(|c| &c[..here.len()]).collect();
                visit(&columns);
            }
        };
        let mut gram = vec![0.0; k * k];
        let mut moment = vec![0.0; k];
        each_chunk(&mut |columns| {
            for a in 0..k {
                for b in 0..=a {
                    gram[a * k + b] += dot(columns[a], columns[b]);
                }
                moment[a] += dot(columns[a], columns[k]);
            }
        });
        for a in 0..k {
            for b in 0..a {
                gram[b * k + a] = gram[a * k + b];
            }
        }
        // The first solve leaves a slope of rounding size times the condition number; the second solves for that.
        let mut centre = vec![0.0; k];
        let (mut slope, mut least) = (moment, 0.0);
        let solve = pseudo_solver(&gram, k);
        for _ in 0..2 {
            let step = solve(&slope);
            centre.iter_mut().zip(&step).for_each(|(c, s)| *c += s);
            slope.fill(0.0);
            least = 0.0;
            let mut residual = [0.0; CHUNK];
            each_chunk(&mut |columns| {
                let residual = &mut residual[..columns[k].len()];
                residual.copy_from_slice(columns[k]);
                for (column, c) in columns.iter().zip(&centre) {
                    residual.iter_mut().zip(*column).for_each(|(r, x)| *r -= c * x);
                }
                for (s, column) in slope.iter_mut().zip(columns) {
                    *s += dot(column, residual);
                }
                least += dot(residual, residual);
            });
        }
        Self { rows, weight, level, gram, centre, slope, least }
    }

    /// The sums that [`Statistics::of_sums`] takes, of stored rows.
    pub(super) fn sums_of(store: &Store) -> LinearSums {
        let Self { rows, weight, gram, centre, slope, least, .. } = Self::of_store(store);
        let k = centre.len();
        let moment: Vec<f64> = (0..k).map(|i| slope[i] + dot(&gram[i * k..(i + 1) * k], &centre)).collect();
        let square = least + dot(&centre, &moment) + dot(&centre, &slope);
        LinearSums { rows: rows as u64, weight, gram, moment, square }
    }

    pub(super) fn gram_row(&self, i: usize) -> &[f64] {
        let k = self.centre.len();
        &self.gram[i * k..(i + 1) * k]
    }

    /// RSS at φ̂ + `away`.
    pub(super) fn residual(&self, away: &[f64]) -> f64 {
        let rise: f64 =
            (0..away.len()).map(|i| away[i] * (dot(self.gram_row(i), away) - 2.0 * self.slope[i])).sum();
        (self.least + rise).max(0.0)
    }
}

/// A solver of G·x = b: Cholesky, or the smallest solution over the well-determined directions.
fn pseudo_solver(gram: &[f64], k: usize) -> impl Fn(&[f64]) -> Vec<f64> + use<> {
    let unit: Vec<f64> = (0..k).map(|i| 1.0 / gram[i * k + i].sqrt().max(f64::MIN_POSITIVE)).collect();
    let scaled = DMatrix::from_fn(k, k, |i, j| gram[i * k + j] * unit[i] * unit[j]);
    // A pivot is 1 − R² of a column on those before it: below 1e-10 the normal equations have lost it.
    let cholesky = scaled.clone().cholesky().filter(|c| (0..k).all(|i| c.l_dirty()[(i, i)].powi(2) > 1e-10));
    let eigen = cholesky.is_none().then(|| scaled.symmetric_eigen());
    move |b| {
        let right = DVector::from_fn(k, |i, _| b[i] * unit[i]);
        let solution = match (&cholesky, &eigen) {
            (Some(cholesky), _) => cholesky.solve(&right),
            (None, Some(eigen)) => {
                let cut = 1e-10 * eigen.eigenvalues.max();
                let mut along = eigen.eigenvectors.tr_mul(&right);
                for (a, &value) in along.iter_mut().zip(eigen.eigenvalues.iter()) {
                    *a = if value > cut { *a / value } else { 0.0 };
                }
                &eigen.eigenvectors * along
            }
            (None, None) => right,
        };
        solution.iter().zip(&unit).map(|(s, u)| s * u).collect()
    }
}
