//! Gradient and Hessian of log m_j(θ), from the nodes of its quadrature.
//!
//! ```text
//! g = E_π[s],  H = E_π[∂²f] + Cov_π(s),   s = ∂f at a node: Σ ℓ'_i x_i, Σ ∂ℓ_i of the extra parameters, ∂ log N(u; 0, ΛΛ')
//! ```
//!
//! Fisher's and Louis' identities (Dempster, Laird & Rubin 1977; Louis 1982). They hold for the integral, which the quadrature follows up to its own error. Covariances are taken about the
//! scores of the heaviest node, so that nothing cancels where a group has many rows. Cost: a visit of the rows per node, and p²/2 operations per row. Where a standard deviation is
//! many orders below the others, the entries of Λ below the diagonal have derivatives that cancel: modes are not there.

use super::layout::GroupRows;
use super::marginal::{Marginal, Point, Workspace};
use crate::glm::family::MOST_EXTRA;

/// Nodes of less weight than this are left out of derivatives.
const NEGLIGIBLE: f64 = 1e-16;

/// What is added up over the nodes, in the units of the storage.
struct Sums {
    /// Coefficients inside, extra parameters, all numbers.
    inside: usize,
    more: usize,
    d: usize,
    with_hessian: bool,
    /// E s and E ss' about the scores of the heaviest node, the lower half.
    inner: Vec<f64>,
    outer: Vec<f64>,
    /// E ∂² of the parameters of Λ and of the extra parameters.
    expected: Vec<f64>,
    extra: [[f64; MOST_EXTRA]; MOST_EXTRA],
}

impl Marginal<'_> {
    /// Adds gradient and, where wanted, Hessian of log m of the group evaluated last, in the user's units.
    pub fn differentiate(
        &self,
        group: usize,
        point: &Point,
        work: &mut Workspace,
        (gradient, hessian): (&mut [f64], Option<&mut [f64]>),
    ) {
        let rows = self.data.group(group);
        let (inside, more, m) = (point.weights.len(), self.kernel.extra(), self.scales.parameters());
        let d = inside + more + m;
        let with_hessian = hessian.is_some();
        let (mut inner, mut outer) = (std::mem::take(&mut work.inner), std::mem::take(&mut work.outer));
        inner.clear();
        inner.resize(d, 0.0);
        outer.clear();
        outer.resize(if with_hessian { d * d } else { 0 }, 0.0);
        let (expected, extra) = (vec![0.0; m * m], [[0.0; MOST_EXTRA]; MOST_EXTRA]);
        let mut sums = Sums { inside, more, d, with_hessian, inner, outer, expected, extra };
        for cross in std::iter::once(&mut work.mean).chain(&mut work.crosses[..more]) {
            cross.clear();
            cross.resize(rows.response.len(), 0.0);
        }
        let heaviest =
            (0..work.weights.len()).max_by(|&a, &b| work.weights[a].total_cmp(&work.weights[b])).unwrap_or(0);
        self.add_node(&rows, point, (heaviest, true), (&mut *work, &mut sums));
        for k in (0..work.weights.len()).filter(|&k| k != heaviest) {
            if work.weights[k] >= NEGLIGIBLE {
                self.add_node(&rows, point, (k, false), (&mut *work, &mut sums));
            }
        }
        if let Some(hessian) = hessian {
            self.finish(&rows, work, &mut sums);
            self.add_hessian_in_user_scale((inside, d), &sums.outer, hessian);
        }
        sums.inner.iter_mut().zip(&work.reference).for_each(|(sum, r)| *sum += r);
        self.add_in_user_scale(inside, &sums.inner, gradient);
        (work.inner, work.outer) = (sums.inner, sums.outer);
    }

    /// Adds what a node has; the first one is what scores are taken about.
    fn add_node(
        &self,
        rows: &GroupRows<'_>,
        point: &Point,
        (k, is_first): (usize, bool),
        (work, sums): (&mut Workspace, &mut Sums),
    ) {
        let (weight, u, v) = (work.weights[k], work.nodes[k], work.whitened[k]);
        let Workspace { b, eta, first, second, mean, crosses, sums: own, scores, reference, .. } = work;
        let &mut Sums { inside, more, d, with_hessian, .. } = sums;
        self.move_to(rows, &u, b, eta);
        first.resize(eta.len(), 0.0);
        second.resize(eta.len(), 0.0);
        self.kernel.curves(&point.extra, rows, eta, (first, second, own));
        scores.clear();
        scores.resize(d, 0.0);
        self.score(rows, first, &mut scores[..inside]);
        scores[inside..inside + more].copy_from_slice(&own.slope[..more]);
        let of_scales = (&mut scores[inside + more..], &mut sums.expected[..]);
        self.scales.add_derivatives(&point.factor, &v, weight, of_scales);
        if is_first {
            reference.clone_from(scores);
        }
        scores.iter_mut().zip(&*reference).for_each(|(s, r)| *s -= r);
        sums.inner.iter_mut().zip(&*scores).for_each(|(sum, s)| *sum += weight * s);
        if !with_hessian {
            return;
        }
        mean.iter_mut().zip(&*second).for_each(|(mean, second)| *mean += weight * second);
        for a in 0..more {
            let pairs = crosses[a].iter_mut().zip(&own.cross[a]);
            pairs.for_each(|(mean, cross)| *mean += weight * cross);
            (0..more).for_each(|b| sums.extra[a][b] += weight * own.second[a][b]);
        }
        for (i, row) in sums.outer.chunks_exact_mut(d).enumerate() {
            let own = weight * scores[i];
            if own != 0.0 {
                row[..=i].iter_mut().zip(&*scores).for_each(|(slot, other)| *slot += own * other);
            }
        }
    }

    /// Makes the Hessian of the sums, in the units of the storage.
    fn finish(&self, rows: &GroupRows<'_>, work: &mut Workspace, sums: &mut Sums) {
        let Sums { inside, more, d, inner, outer, expected, extra, .. } = sums;
        let (inside, more, d) = (*inside, *more, *d);
        let m = d - inside - more;
        for i in 0..d {
            (0..=i).for_each(|j| outer[i * d + j] -= inner[i] * inner[j]);
        }
        self.add_expected(rows, work, (inside, d), outer);
        for a in 0..more {
            (0..=a).for_each(|b| outer[(inside + a) * d + inside + b] += extra[a][b]);
        }
        let first = inside + more;
        for a in 0..m {
            (0..=a).for_each(|b| outer[(first + a) * d + first + b] += expected[a * m + b]);
        }
        for i in 0..d {
            (0..i).for_each(|j| outer[j * d + i] = outer[i * d + j]);
        }
    }

    /// X'r in the units of the storage.
    fn score(&self, rows: &GroupRows<'_>, r: &[f64], out: &mut [f64]) {
        let n = r.len();
        out[0] = r.iter().sum();
        for (slot, column) in out[1..].iter_mut().zip(rows.dense.chunks_exact(n)) {
            *slot = column.iter().zip(r).map(|(&x, r)| f64::from(x) * r).sum();
        }
        let table = 1 + self.data.columns;
        for places in rows.levels.chunks_exact(n) {
            places
                .iter()
                .zip(r)
                .filter(|(place, _)| **place > 0)
                .for_each(|(&place, r)| out[table + place as usize] += r);
        }
    }

    /// Adds X'diag(E ℓ'')X and the crosses with extra parameters below the diagonal.
    fn add_expected(
        &self,
        rows: &GroupRows<'_>,
        work: &mut Workspace,
        (inside, d): (usize, usize),
        out: &mut [f64],
    ) {
        let Workspace { mean, crosses, first, scores, .. } = work;
        let n = mean.len();
        let table = 1 + self.data.columns;
        scores.clear();
        scores.resize(inside, 0.0);
        out[0] += mean.iter().sum::<f64>();
        for (c, column) in rows.dense.chunks_exact(n).enumerate() {
            first.iter_mut().zip(column.iter().zip(&*mean)).for_each(|(t, (&x, w))| *t = f64::from(x) * w);
            self.score(rows, first, scores);
            let row = 1 + c;
            (0..=row).for_each(|j| out[row * d + j] += scores[j]);
            (table..inside).for_each(|j| out[j * d + row] += scores[j]);
            scores.fill(0.0);
        }
        for (f, places) in rows.levels.chunks_exact(n).enumerate() {
            for (i, &place) in places.iter().enumerate().filter(|(_, place)| **place > 0) {
                let own = table + place as usize;
                out[own * d] += mean[i];
                for others in rows.levels.chunks_exact(n).take(f + 1) {
                    let other = table + others[i] as usize;
                    if others[i] > 0 {
                        out[own.max(other) * d + own.min(other)] += mean[i];
                    }
                }
            }
        }
        for (a, cross) in crosses.iter().enumerate().take(self.kernel.extra()) {
            self.score(rows, cross, scores);
            (0..inside).for_each(|j| out[(inside + a) * d + j] += scores[j]);
            scores.fill(0.0);
        }
    }

    /// Places of the user's coefficients inside, with shift and scale.
    fn places(&self) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        let first = usize::from(self.data.intercept);
        (0..self.data.coefficients()).map(move |c| match c.checked_sub(first) {
            None => (0, 0.0, 1.0),
            Some(column) => {
                let (slot, change) = self.data.slot(column);
                let (shift, scale) = change.unwrap_or((0.0, 1.0));
                (1 + slot, shift, scale)
            }
        })
    }

    fn add_in_user_scale(&self, inside: usize, inner: &[f64], gradient: &mut [f64]) {
        let p = self.data.coefficients();
        for (slot, (place, shift, scale)) in gradient.iter_mut().zip(self.places()) {
            *slot += scale * inner[place] + shift * inner[0];
        }
        gradient[p..].iter_mut().zip(&inner[inside..]).for_each(|(slot, value)| *slot += value);
    }

    fn add_hessian_in_user_scale(&self, (inside, d): (usize, usize), outer: &[f64], hessian: &mut [f64]) {
        let user = self.dimension();
        let places: Vec<(usize, f64, f64)> =
            self.places().chain((inside..d).map(|place| (place, 0.0, 1.0))).collect();
        for (i, &(a, shift, scale)) in places.iter().enumerate() {
            for (j, &(b, other_shift, other_scale)) in places.iter().enumerate() {
                hessian[i * user + j] += scale * other_scale * outer[a * d + b]
                    + scale * other_shift * outer[a * d]
                    + shift * other_scale * outer[b]
                    + shift * other_shift * outer[0];
            }
        }
    }
}
