//! Derivatives of a model that knows none, by finite differences: [`Differences`] turns [`Likelihoods`] into [`Derivatives`].
//!
//! A surrogate is a control variate: the sum of its terms over all rows and the terms of the rows that are read use the same numbers, so decisions are about the exact
//! posterior whatever the accuracy of those numbers. An error costs rows, never bias. At the centre, with widths w of a tenth of a standard deviation,
//!
//! ```text
//! g_i = [ℓ(θ + w e_i) − ℓ(θ − w e_i)] / 2w
//! H_ii = [ℓ(θ + w e_i) + ℓ(θ − w e_i) − 2ℓ(θ)] / w²
//! H_ij = [ℓ(θ + w e_i + w e_j) + ℓ(θ − w e_i − w e_j) − ℓ(θ ± w e_i) − ℓ(θ ± w e_j) + 2ℓ(θ)] / 2w²
//! ```
//!
//! of every row (Abramowitz & Stegun 25.3.23–27). Widths are a function of the state alone. The Hessian of all rows that leads to the mode and shapes proposals is that of
//! `SAMPLE` rows, scaled up.
//!
//! Cost: d² + d + 1 log-likelihoods per row, once, and N·d(d + 3)/2 numbers of eight bytes. Not for more than [`MOST_PARAMETERS`], and not where rows jump.

use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use super::{Derivatives, Likelihoods};
use austerity::error::{Error, Result, setting};
use austerity::population::Batch;

/// Rows that widths and Hessians of all rows come from.
const SAMPLE: usize = 30_000;
/// Rows that are evaluated at once.
const CHUNK: usize = 1 << 13;
/// Most parameters, and most bytes of the derivatives of all rows.
pub const MOST_PARAMETERS: usize = 30;
const MOST_BYTES: usize = 2 << 30;
/// Width of a difference in posterior standard deviations, all other parameters fixed.
const WIDTH: f64 = 0.1;
/// Width before anything is known, relative to the parameter.
const FIRST_WIDTH: f64 = 1e-4;

/// Derivatives of all rows at one state.
#[derive(Debug)]
struct Rows {
    centre: Vec<f64>,
    /// Of each row the gradient, then the lower triangle of the Hessian.
    each: Vec<f64>,
}

/// Likelihoods, and their derivatives by differences.
#[derive(Debug)]
pub struct Differences<L> {
    inner: L,
    /// At the centres that were announced, the latest last: every mode has one.
    rows: RwLock<Vec<Rows>>,
}

/// The states of a difference scheme, and how its values make derivatives.
struct Scheme {
    widths: Vec<f64>,
    states: Vec<Vec<f64>>,
    curved: bool,
}

impl Scheme {
    /// The centre, then one step ahead and behind along each parameter, then two along each pair, where curvature is wanted.
    fn new(centre: &[f64], widths: Vec<f64>, curved: bool) -> Self {
        let d = centre.len();
        let moved = |by: &[(usize, f64)]| {
            let mut state = centre.to_vec();
            by.iter().for_each(|&(i, sign)| state[i] += sign * widths[i]);
            state
        };
        let mut states = vec![centre.to_vec()];
        states.extend((0..d).flat_map(|i| [moved(&[(i, 1.0)]), moved(&[(i, -1.0)])]));
        for i in 0..if curved { d } else { 0 } {
            states
                .extend((0..i).flat_map(|j| [moved(&[(i, 1.0), (j, 1.0)]), moved(&[(i, -1.0), (j, -1.0)])]));
        }
        Self { widths, states, curved }
    }

    /// Adds `times` the gradient and the lower triangle of the Hessian of a function with these values to `out`.
    fn add(&self, value: impl Fn(usize) -> f64, times: f64, out: &mut [f64]) {
        let d = self.widths.len();
        let here = value(0);
        let pair = |i: usize| (value(1 + 2 * i), value(2 + 2 * i));
        let (gradient, triangle) = out.split_at_mut(d);
        for (i, slot) in gradient.iter_mut().enumerate() {
            let (ahead, behind) = pair(i);
            *slot += times * (ahead - behind) / (2.0 * self.widths[i]);
        }
        if !self.curved {
            return;
        }
        let (mut slots, mut next) = (triangle.iter_mut(), 1 + 2 * d);
        for i in 0..d {
            // Differences of what is alike first: the values themselves may be large.
            let bent = |i: usize| (pair(i).0 - here) + (pair(i).1 - here);
            for (j, slot) in (0..=i).zip(&mut slots) {
                let scale = self.widths[i] * self.widths[j];
                if i == j {
                    *slot += times * bent(i) / scale;
                } else {
                    let both = (value(next) - here) + (value(next + 1) - here);
                    next += 2;
                    *slot += times * (both - bent(i) - bent(j)) / (2.0 * scale);
                }
            }
        }
    }

    /// Numbers of a gradient and a triangle.
    fn size(&self) -> usize {
        let d = self.widths.len();
        if self.curved { d + d * (d + 1) / 2 } else { d }
    }
}

fn too_many(parameters: usize) -> Error {
    setting("parameters of a surrogate by differences", parameters, &format!("at most {MOST_PARAMETERS}"))
}

impl<L: Likelihoods> Differences<L> {
    /// Of these likelihoods.
    pub fn of(inner: L) -> Self {
        Self { inner, rows: RwLock::new(Vec::new()) }
    }

    /// What derivatives are taken of.
    pub fn likelihoods(&self) -> &L {
        &self.inner
    }

    /// Hands the derivatives of every row of a range over, in order.
    fn each_row(
        &self,
        scheme: &Scheme,
        rows: Range<usize>,
        mut take: impl FnMut(usize, &[f64]),
    ) -> Result<()> {
        let mut memory = L::Memory::default();
        let mut values = vec![vec![0.0; CHUNK]; scheme.states.len()];
        let mut made = vec![0.0; scheme.size()];
        for first in rows.clone().step_by(CHUNK) {
            let count = CHUNK.min(rows.end - first);
            for (state, values) in scheme.states.iter().zip(&mut values) {
                let values = &mut values[..count];
                self.evaluate(state, first..first + count, &mut memory, values)?;
            }
            (0..count).for_each(|i| {
                made.fill(0.0);
                scheme.add(|k| values[k][i], 1.0, &mut made);
                take(first + i, &made);
            });
        }
        Ok(())
    }

    fn evaluate(
        &self,
        state: &[f64],
        rows: Range<usize>,
        memory: &mut L::Memory,
        out: &mut [f64],
    ) -> Result<()> {
        // Blocks begin where a block begins.
        let blocks: Vec<u32> = rows.clone().map(|row| row as u32).collect();
        let (whole, block_rows) = (rows.start.is_multiple_of(CHUNK), CHUNK);
        let block = [(rows.start / CHUNK) as u32];
        let population = self.inner.rows();
        let batch = match whole && (rows.len() == CHUNK || rows.end == population) {
            true => Batch { blocks: &block, block_rows, population },
            false => Batch { blocks: &blocks, block_rows: 1, population },
        };
        self.inner.log_likelihoods(state, batch, memory, out)?;
        match out.iter().position(|value| value.is_nan()) {
            Some(place) => Err(Error::NotANumber { row: self.inner.original_row(rows.start + place) }),
            None => Ok(()),
        }
    }

    /// A tenth of a standard deviation along each parameter, as the curvature of a sample tells it.
    fn widths(&self, state: &[f64]) -> Result<Vec<f64>> {
        let mut widths: Vec<f64> = state.iter().map(|x| FIRST_WIDTH * x.abs().max(1.0)).collect();
        let d = state.len();
        for _ in 0..2 {
            // A gradient's states are those of the diagonal.
            let diagonal = Scheme::new(state, widths.clone(), false);
            let mut bends = vec![0.0; d];
            let rows = self.inner.rows();
            let sample = rows.min(SAMPLE);
            let mut memory = L::Memory::default();
            let mut values = vec![vec![0.0; CHUNK]; diagonal.states.len()];
            for first in (0..sample).step_by(CHUNK) {
                let count = CHUNK.min(sample - first);
                for (state, values) in diagonal.states.iter().zip(&mut values) {
                    self.evaluate(state, first..first + count, &mut memory, &mut values[..count])?;
                }
                for (i, bend) in bends.iter_mut().enumerate() {
                    let of = |row: usize| {
                        (values[1 + 2 * i][row] - values[0][row]) + (values[2 + 2 * i][row] - values[0][row])
                    };
                    *bend += (0..count).map(of).sum::<f64>();
                }
            }
            let priors: Vec<f64> =
                diagonal.states.iter().map(|state| self.inner.log_prior(state)).collect::<Result<_>>()?;
            for (i, (width, bend)) in widths.iter_mut().zip(bends).enumerate() {
                let prior = (priors[1 + 2 * i] - priors[0]) + (priors[2 + 2 * i] - priors[0]);
                let curvature = -(bend * (rows as f64 / sample as f64) + prior) / (*width * *width);
                if curvature > 0.0 && curvature.is_finite() {
                    *width = WIDTH * curvature.powf(-0.5).max(1e-12);
                }
            }
        }
        Ok(widths)
    }

    fn add_prior(&self, scheme: &Scheme, out: &mut [f64]) -> Result<f64> {
        let values: Vec<f64> =
            scheme.states.iter().map(|state| self.inner.log_prior(state)).collect::<Result<_>>()?;
        scheme.add(|k| values[k], 1.0, out);
        Ok(values[0])
    }

    fn known<T>(&self, state: &[f64], take: impl FnOnce(&Rows) -> T) -> Option<T> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        rows.iter().find(|rows| rows.centre == state).map(take)
    }
}

impl<L: Likelihoods> Likelihoods for Differences<L> {
    type Memory = L::Memory;

    fn rows(&self) -> usize {
        self.inner.rows()
    }

    fn names(&self) -> Vec<String> {
        self.inner.names()
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        self.inner.log_prior(state)
    }

    fn log_likelihoods(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        memory: &mut L::Memory,
        out: &mut [f64],
    ) -> Result<()> {
        self.inner.log_likelihoods(state, batch, memory, out)
    }

    fn write(&self, state: &[f64], out: &mut [f64]) {
        self.inner.write(state, out);
    }

    fn original_row(&self, position: usize) -> usize {
        self.inner.original_row(position)
    }

    fn fingerprint(&self) -> u64 {
        self.inner.fingerprint()
    }

    fn data_bytes(&self) -> usize {
        self.inner.data_bytes()
    }
}

impl<L: Likelihoods> Derivatives for Differences<L> {
    fn prepare(&self, centre: &[f64]) -> Result<()> {
        let d = centre.len();
        let size = d * (d + 3) / 2;
        let bytes = self.inner.rows().saturating_mul(size * size_of::<f64>());
        if d > MOST_PARAMETERS {
            return Err(too_many(d));
        }
        if bytes > MOST_BYTES {
            let allowed = format!("at most {:.0} GB", MOST_BYTES as f64 / 1e9);
            return Err(setting(
                "derivatives of all rows",
                format!("{:.1} GB", bytes as f64 / 1e9),
                &allowed,
            ));
        }
        if self.known(centre, |_| ()).is_some() {
            return Ok(());
        }
        let room = MOST_BYTES / bytes.max(1);
        {
            // What earlier centres left goes before the new one comes.
            let mut known = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            let surplus = (known.len() + 1).saturating_sub(room).min(known.len());
            known.drain(..surplus);
        }
        let scheme = Scheme::new(centre, self.widths(centre)?, true);
        let mut each = Vec::with_capacity(self.inner.rows() * size);
        self.each_row(&scheme, 0..self.inner.rows(), |_, made| each.extend_from_slice(made))?;
        let rows = Rows { centre: centre.to_vec(), each };
        self.rows.write().unwrap_or_else(PoisonError::into_inner).push(rows);
        Ok(())
    }

    fn density(&self, state: &[f64], gradient: &mut [f64], hessian: Option<&mut [f64]>) -> Result<f64> {
        let (d, rows) = (state.len(), self.inner.rows());
        if d > MOST_PARAMETERS {
            return Err(too_many(d));
        }
        let widths = self.widths(state)?;
        let plain = Scheme::new(state, widths.clone(), false);
        gradient.fill(0.0);
        self.each_row(&plain, 0..rows, |_, made| {
            gradient.iter_mut().zip(made).for_each(|(sum, one)| *sum += one);
        })?;
        self.add_prior(&plain, gradient)?;
        if let Some(hessian) = hessian {
            let curved = Scheme::new(state, widths, true);
            let mut sums = vec![0.0; curved.size()];
            let sample = rows.min(SAMPLE);
            self.each_row(&curved, 0..sample, |_, made| {
                sums.iter_mut().zip(made).for_each(|(sum, one)| *sum += one);
            })?;
            let times = rows as f64 / sample as f64;
            sums.iter_mut().for_each(|sum| *sum *= times);
            self.add_prior(&curved, &mut sums)?;
            let mut entries = sums[d..].iter();
            for i in 0..d {
                for (j, &value) in (0..=i).zip(&mut entries) {
                    (hessian[i * d + j], hessian[j * d + i]) = (value, value);
                }
            }
        }
        let mut memory = L::Memory::default();
        let (mut values, mut total) = (vec![0.0; CHUNK], 0.0);
        for first in (0..rows).step_by(CHUNK) {
            let values = &mut values[..CHUNK.min(rows - first)];
            self.evaluate(state, first..first + values.len(), &mut memory, values)?;
            total += values.iter().sum::<f64>();
        }
        Ok(total + self.inner.log_prior(state)?)
    }

    fn add_prior_gradient(&self, state: &[f64], gradient: &mut [f64]) -> Result<()> {
        let scheme = Scheme::new(state, self.widths(state)?, false);
        self.add_prior(&scheme, gradient).map(drop)
    }

    fn add_gradient(&self, state: &[f64], batch: Batch<'_>, gradient: &mut [f64]) -> Result<()> {
        let d = state.len();
        let size = d * (d + 3) / 2;
        let known = self.known(state, |rows| {
            for position in batch.ranges().flatten() {
                let own = &rows.each[position * size..][..d];
                gradient.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
            }
        });
        if known.is_some() {
            return Ok(());
        }
        let scheme = Scheme::new(state, self.widths(state)?, false);
        for range in batch.ranges() {
            self.each_row(&scheme, range, |_, made| {
                gradient.iter_mut().zip(made).for_each(|(sum, one)| *sum += one);
            })?;
        }
        Ok(())
    }

    fn add_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()> {
        let d = state.len();
        let size = d * (d + 3) / 2;
        let known = self.known(state, |rows| {
            let mut own = rows.each[position * size + d..].iter();
            for i in 0..d {
                for (j, value) in (0..=i).zip(&mut own) {
                    hessian[i * d + j] += value;
                    if i != j {
                        hessian[j * d + i] += value;
                    }
                }
            }
        });
        known.ok_or_else(|| {
            setting("state of a row's Hessian", "not the centre", "the centre of the expansion")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::from_batches;
    use crate::row_expansion::RowExpansionSettings;
    use crate::{RowExpansion, Surrogate};
    use austerity::model::{Access, Model as _};
    use austerity::population::Population as _;

    /// Normal rows with unknown mean and log sd.
    struct Normals(Vec<f64>);

    impl Likelihoods for Normals {
        type Memory = ();

        fn rows(&self) -> usize {
            self.0.len()
        }

        fn names(&self) -> Vec<String> {
            ["mean", "log_sd"].map(Into::into).into()
        }

        fn log_prior(&self, state: &[f64]) -> Result<f64> {
            Ok(-0.5 * state.iter().map(|x| x * x).sum::<f64>() / 25.0)
        }

        fn log_likelihoods(
            &self,
            state: &[f64],
            batch: Batch<'_>,
            (): &mut (),
            out: &mut [f64],
        ) -> Result<()> {
            for (position, out) in batch.ranges().flatten().zip(out) {
                let z = (self.0[position] - state[0]) * (-state[1]).exp();
                *out = -0.5 * z * z - state[1];
            }
            Ok(())
        }
    }

    fn normals(rows: usize) -> Normals {
        // Quantiles of a logistic distribution: no chance.
        let golden = 0.618_033_988_749_894_9;
        let level = |i: usize| ((i as f64 + 0.5) * golden).fract();
        Normals((0..rows).map(|i| 1.5 + 0.4 * (level(i) / (1.0 - level(i))).ln()).collect())
    }

    #[test]
    fn differences_are_the_derivatives() {
        let by = Differences::of(normals(20_000));
        let state = [1.4, -0.4];
        by.prepare(&state).unwrap();
        for position in [0, 17, 19_999] {
            let z = (by.inner.0[position] - state[0]) * 0.4f64.exp();
            let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 4]);
            let batch = Batch { blocks: &[position as u32], block_rows: 1, population: 20_000 };
            by.add_gradient(&state, batch, &mut gradient).unwrap();
            by.add_hessian(&state, position, &mut hessian).unwrap();
            let right = [z * 0.4f64.exp(), z * z - 1.0];
            let second = [-(0.8f64.exp()), -2.0 * z * 0.4f64.exp(), -2.0 * z * z];
            for (found, right) in gradient.iter().zip(right) {
                assert!((found - right).abs() < 1e-5 * (1.0 + z * z), "{position}: {found} {right}");
            }
            for (found, right) in [hessian[0], hessian[1], hessian[3]].into_iter().zip(second) {
                assert!((found - right).abs() < 1e-4 * (1.0 + z * z), "{position}: {found} {right}");
            }
            assert_eq!(hessian[1].to_bits(), hessian[2].to_bits());
        }
        assert!(by.add_hessian(&[0.0, 0.0], 0, &mut [0.0; 4]).is_err());
    }

    /// What the surrogate knows and the residuals of all rows add up to the difference of the log posterior, to rounding; and without the residuals they do not (power).
    #[test]
    fn errors_of_differences_leave_no_bias() {
        let model = from_batches(Differences::of(normals(20_000))).unwrap();
        let mode = austerity::model::find_mode(&model, &[1.0, 0.0]).unwrap();
        model.likelihoods().prepare(&mode.state).unwrap();
        let settings = RowExpansionSettings { fixed: true, ..RowExpansionSettings::default() };
        let expansion = RowExpansion::new(&model, &mode.state, &settings).unwrap();
        let surrogate = Surrogate::new(expansion);
        let (from, to) = (mode.state.clone(), vec![mode.state[0] + 0.01, mode.state[1] - 0.008]);
        let total = |exact: bool| {
            let mut scratch = model.scratch(Access::Blocks);
            let mut other = surrogate.scratch(Access::Blocks);
            match exact {
                true => {
                    model.log_prior(&to) - model.log_prior(&from)
                        + model.compare(&from, &to, &mut scratch).total().unwrap().sum()
                }
                false => {
                    surrogate.log_prior(&to) - surrogate.log_prior(&from)
                        + surrogate.compare(&from, &to, &mut other).total().unwrap().sum()
                }
            }
        };
        assert!((total(true) - total(false)).abs() < 1e-7, "{} {}", total(true), total(false));
        let known = surrogate.log_prior(&to) - surrogate.log_prior(&from);
        assert!((known - total(true)).abs() > 1e-5);
    }

    #[test]
    fn a_row_that_is_no_number_is_named() {
        let mut data = normals(500);
        data.0[311] = f64::NAN;
        let error = Differences::of(data).prepare(&[1.0, 0.0]).unwrap_err();
        assert!(matches!(error, Error::NotANumber { row: 311 }), "{error}");
    }
}
