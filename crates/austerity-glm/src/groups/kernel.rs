//! Sums over the rows of a group: log-likelihoods and their derivatives in the linear predictor, in f64.
//!
//! Every family of the list has a kernel, made of its scalar definition ([`Scalar`]). Two have one of their own:
//!
//! | kernel | what it saves |
//! |---|---|
//! | [`Shifted`], logistic with 0/1 responses | effects that shift all rows of a group alike need one exponential per row, whatever the number of nodes: Σ log(1 + e^{b_i+a}) = log Π(1 + E_i e^a) |
//! | [`Normal`], linear | no family of the list has normal noise |
//!
//! Not for loops over single rows in random order: a call per group and node is assumed to cost nothing beside its rows.

use super::layout::GroupRows;
use crate::glm::family::{Family, MOST_EXTRA};

/// Linear predictors up to this size go without a check for overflow: a product of [`TOGETHER`] factors 1 + e^40 is below 1e280.
const LARGEST: f64 = 40.0;
/// Factors multiplied before a logarithm is taken.
const TOGETHER: usize = 16;
/// Products that are computed side by side.
const LANES: usize = 8;

/// What sums over rows leave for extra parameters.
#[derive(Clone, Debug, Default)]
pub struct ExtraSums {
    /// Σ of first derivatives.
    pub slope: [f64; MOST_EXTRA],
    /// Σ of second derivatives in two of them.
    pub second: [[f64; MOST_EXTRA]; MOST_EXTRA],
    /// Second derivatives of every row in η and each of them.
    pub cross: [Vec<f64>; MOST_EXTRA],
}

/// Rows of a group whose linear predictors are b_i plus the same number.
#[derive(Clone, Debug, Default)]
pub struct Shift {
    /// e^{b_i}.
    exponentials: Vec<f64>,
    /// Σ b_i of successes, and their number.
    successes: (f64, f64),
    /// The largest |b_i|.
    largest: f64,
}

/// Sums over the rows of a group.
pub trait Kernel: Send + Sync + std::fmt::Debug {
    /// Extra parameters.
    fn extra(&self) -> usize {
        0
    }

    /// Σ w_i log p(y_i|η_i).
    fn total(&self, extra: &[f64], rows: &GroupRows<'_>, eta: &[f64]) -> f64;

    /// w_i times the first and second derivative of every row in η.
    fn slopes(&self, extra: &[f64], rows: &GroupRows<'_>, eta: &[f64], out: (&mut [f64], &mut [f64]));

    /// The same, with derivatives in the extra parameters.
    fn curves(
        &self,
        extra: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        out: (&mut [f64], &mut [f64], &mut ExtraSums),
    ) {
        self.slopes(extra, rows, eta, (out.0, out.1));
    }

    /// w_i times the first, second and third derivative of every row in η.
    fn thirds(&self, extra: &[f64], rows: &GroupRows<'_>, eta: &[f64], out: [&mut [f64]; 3]);

    /// Prepares sums at b_i plus a shift; `false` where there is no short way.
    fn prepare(&self, _rows: &GroupRows<'_>, _b: &[f64], _shift: &mut Shift) -> bool {
        false
    }

    /// Σ log p(y_i|b_i + a), prepared.
    fn shifted_total(&self, _shift: &Shift, _a: f64) -> f64 {
        f64::NAN
    }

    /// Σ of first and of second derivatives at b_i + a, prepared.
    fn shifted_sums(&self, _shift: &Shift, _a: f64) -> [f64; 2] {
        [f64::NAN; 2]
    }

    /// Whether `a` is within what was prepared for.
    fn is_within(&self, shift: &Shift, a: f64) -> bool {
        shift.largest + a.abs() < LARGEST
    }
}

fn each<'a>(rows: &GroupRows<'a>, eta: &'a [f64]) -> impl Iterator<Item = (f64, f64, f64, f64)> + 'a {
    let GroupRows { response, trials, weight, .. } = *rows;
    let side = |side: Option<&'a [f32]>, i: usize| side.map_or(1.0, |side| f64::from(side[i]));
    eta.iter()
        .enumerate()
        .map(move |(i, &eta)| (eta, f64::from(response[i]), side(trials, i), side(weight, i)))
}

/// A family by its scalar definition.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<F>(pub F);

impl<F: Family> Kernel for Scalar<F> {
    fn extra(&self) -> usize {
        self.0.extra().len()
    }

    fn total(&self, extra: &[f64], rows: &GroupRows<'_>, eta: &[f64]) -> f64 {
        each(rows, eta).map(|(eta, y, trials, w)| w * self.0.log_likelihood(extra, eta, y, trials)).sum()
    }

    fn slopes(
        &self,
        extra: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        (first, second): (&mut [f64], &mut [f64]),
    ) {
        for (i, (eta, y, trials, w)) in each(rows, eta).enumerate() {
            let [slope, curve, _] = self.0.row_derivatives(extra, eta, y, trials);
            (first[i], second[i]) = (w * slope, w * curve);
        }
    }

    fn thirds(
        &self,
        extra: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        [first, second, third]: [&mut [f64]; 3],
    ) {
        for (i, (eta, y, trials, w)) in each(rows, eta).enumerate() {
            let [slope, curve, bend] = self.0.row_derivatives(extra, eta, y, trials);
            (first[i], second[i], third[i]) = (w * slope, w * curve, w * bend);
        }
    }

    fn curves(
        &self,
        extra: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        (first, second, sums): (&mut [f64], &mut [f64], &mut ExtraSums),
    ) {
        let more = self.extra();
        if more == 0 {
            return self.slopes(extra, rows, eta, (first, second));
        }
        sums.slope = [0.0; MOST_EXTRA];
        sums.second = [[0.0; MOST_EXTRA]; MOST_EXTRA];
        sums.cross[..more].iter_mut().for_each(|cross| cross.resize(eta.len(), 0.0));
        for (i, (eta, y, trials, w)) in each(rows, eta).enumerate() {
            let curve = self.0.row_curve(extra, eta, y, trials);
            (first[i], second[i]) = (w * curve.slope[0], w * curve.second[0][0]);
            for a in 0..more {
                sums.slope[a] += w * curve.slope[1 + a];
                sums.cross[a][i] = w * curve.second[0][1 + a];
                for b in 0..more {
                    sums.second[a][b] += w * curve.second[1 + a][1 + b];
                }
            }
        }
    }
}

/// Normal noise: log p = −s − ½ e^{−2s}(y − η)², with s the logarithm of its scale.
#[derive(Clone, Copy, Debug)]
pub struct Normal;

impl Kernel for Normal {
    fn extra(&self) -> usize {
        1
    }

    fn thirds(
        &self,
        extra: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        [first, second, third]: [&mut [f64]; 3],
    ) {
        self.slopes(extra, rows, eta, (first, second));
        third.fill(0.0);
    }

    fn total(&self, extra: &[f64], rows: &GroupRows<'_>, eta: &[f64]) -> f64 {
        let precision = (-2.0 * extra[0]).exp();
        each(rows, eta).map(|(eta, y, _, w)| -w * (extra[0] + 0.5 * precision * (y - eta).powi(2))).sum()
    }

    fn slopes(
        &self,
        extra: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        (first, second): (&mut [f64], &mut [f64]),
    ) {
        let precision = (-2.0 * extra[0]).exp();
        for (i, (eta, y, _, w)) in each(rows, eta).enumerate() {
            (first[i], second[i]) = (w * precision * (y - eta), -w * precision);
        }
    }

    fn curves(
        &self,
        extra: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        (first, second, sums): (&mut [f64], &mut [f64], &mut ExtraSums),
    ) {
        self.slopes(extra, rows, eta, (first, second));
        sums.cross[0].resize(eta.len(), 0.0);
        let (mut slope, mut curve) = (0.0, 0.0);
        for (i, (eta, y, _, w)) in each(rows, eta).enumerate() {
            let squared = first[i] * (y - eta);
            slope += squared - w;
            curve -= 2.0 * squared;
            sums.cross[0][i] = -2.0 * first[i];
        }
        (sums.slope[0], sums.second[0][0]) = (slope, curve);
    }
}

/// Logistic regression of responses −1 and 1, by products where a shift is all that varies.
#[derive(Clone, Copy, Debug)]
pub struct Shifted;

impl Kernel for Shifted {
    fn total(&self, _: &[f64], rows: &GroupRows<'_>, eta: &[f64]) -> f64 {
        let one = |(eta, y, _, w): (f64, f64, f64, f64)| {
            let away = -y * eta;
            -w * (away.max(0.0) + (-away.abs()).exp().ln_1p())
        };
        each(rows, eta).map(one).sum()
    }

    fn slopes(
        &self,
        _: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        (first, second): (&mut [f64], &mut [f64]),
    ) {
        for (i, (eta, y, _, w)) in each(rows, eta).enumerate() {
            let small = (-eta.abs()).exp();
            let (less, more) = (small / (1.0 + small), 1.0 / (1.0 + small));
            // p and 1 − p, each without cancellation.
            let (p, q) = if eta < 0.0 { (less, more) } else { (more, less) };
            first[i] = w * if y > 0.0 { q } else { -p };
            second[i] = -w * p * q;
        }
    }

    fn thirds(
        &self,
        extra: &[f64],
        rows: &GroupRows<'_>,
        eta: &[f64],
        [first, second, third]: [&mut [f64]; 3],
    ) {
        self.slopes(extra, rows, eta, (first, second));
        // −p(1 − p)(1 − 2p).
        let bend = |(eta, second): (&f64, &f64)| second * -(0.5 * eta).tanh();
        third.iter_mut().zip(eta.iter().zip(&*second).map(bend)).for_each(|(slot, bend)| *slot = bend);
    }

    fn prepare(&self, rows: &GroupRows<'_>, b: &[f64], shift: &mut Shift) -> bool {
        shift.largest = b.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
        if rows.weight.is_some() || shift.largest >= LARGEST {
            return false;
        }
        shift.exponentials.clear();
        shift.exponentials.extend(b.iter().map(|b| b.exp()));
        let (mut sum, mut count) = (0.0, 0.0);
        for (b, &y) in b.iter().zip(rows.response) {
            let success = f64::from(u8::from(y > 0.0));
            sum += success * b;
            count += success;
        }
        shift.successes = (sum, count);
        true
    }

    fn shifted_total(&self, shift: &Shift, a: f64) -> f64 {
        let e = a.exp();
        let (sum, count) = shift.successes;
        let mut logarithm = 0.0;
        let pieces = shift.exponentials.chunks(LANES * TOGETHER);
        for piece in pieces {
            let mut products = [1.0; LANES];
            let (lanes, rest) = piece.as_chunks::<LANES>();
            for lane in lanes {
                products.iter_mut().zip(lane).for_each(|(product, &x)| *product *= 1.0 + x * e);
            }
            let mut last = 1.0;
            rest.iter().for_each(|&x| last *= 1.0 + x * e);
            logarithm += if piece.len() < 2 * LANES {
                // Two products of 16 factors each hold what a small group has.
                let (left, right) = products.split_at(LANES / 2);
                let half = |values: &[f64]| values.iter().product::<f64>();
                half(left).ln() + half(right).ln() + f64::ln(last)
            } else {
                products.iter().map(|product| product.ln()).sum::<f64>() + f64::ln(last)
            };
        }
        sum + count * a - logarithm
    }

    fn shifted_sums(&self, shift: &Shift, a: f64) -> [f64; 2] {
        let e = a.exp();
        let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
        let (lanes, rest) = shift.exponentials.as_chunks::<LANES>();
        for lane in lanes {
            for k in 0..LANES {
                let q = 1.0 / (1.0 + lane[k] * e);
                let p = 1.0 - q;
                first[k] += p;
                second[k] += p * q;
            }
        }
        for &x in rest {
            let q = 1.0 / (1.0 + x * e);
            first[0] += 1.0 - q;
            second[0] += (1.0 - q) * q;
        }
        [shift.successes.1 - first.iter().sum::<f64>(), -second.iter().sum::<f64>()]
    }
}
