//! log m_j(θ), the log-likelihood of a group with its effects integrated out, with gradient and Hessian.
//!
//! ```text
//! log m = logsumexp_k f_k,  f_k = Σ_i ℓ_i(b_i + z_i'u_k) + log N(u_k; 0, ΛΛ') + log(2^{q/2} |C| ω_k) + z_k²,  u_k = û + √2 C z_k,  π = softmax f
//! g = E_π[s],  H = E_π[∂²f] + Cov_π(s)        (Fisher's and Louis' identities)
//! ```
//!
//! û is the mode of the integrand and CC' the inverse of its curvature there, both found in v = Λ⁻¹u, where nothing is singular as Λ becomes so: adaptive Gauss–Hermite quadrature (Liu & Pierce 1994; Pinheiro & Bates 1995), re-adapted at every θ.
//! Derivatives are those of the integral, which the sum follows up to its own error; [`check`](super::check) finds how many nodes make that negligible. Centred scores keep the
//! covariance from cancelling where a group has many rows.
//!
//! Cost: 2–5 visits of the rows for û, one per node; derivatives another per node and p²/2 operations per row. Louis (1982); Fisher's identity: Dempster, Laird & Rubin (1977).

use super::MOST_EFFECTS;
use super::hermite::Hermite;
use super::kernel::{ExtraSums, Kernel, Shift};
use super::layout::{GroupRows, Grouped};
use super::scales::{Factor, Scales};
use crate::glm::family::MOST_EXTRA;

const Q: usize = MOST_EFFECTS;
/// Newton steps to a mode at most.
const STEPS: usize = 100;
/// A squared step, in conditional standard deviations, that ends the search.
const CLOSE: f64 = 1e-16;
/// One beyond which a step must rise.
const SMALL: f64 = 1e-3;
/// Nodes of less weight than this are left out of derivatives.
const NEGLIGIBLE: f64 = 1e-16;

/// What an effect is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// 1.
    Intercept,
    /// A column, as the user counts those of the design without the intercept: dense, on the user's scale.
    Column(usize),
}

/// A state in the units of the storage.
#[derive(Clone, Debug)]
pub struct Point {
    /// Constant, dense columns, table of levels.
    pub weights: Vec<f64>,
    /// Logarithms of the extra parameters.
    pub extra: Vec<f64>,
    /// Λ.
    pub factor: Factor,
}

/// Buffers.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    b: Vec<f64>,
    eta: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    mean: Vec<f64>,
    crosses: [Vec<f64>; MOST_EXTRA],
    sums: ExtraSums,
    shift: Shift,
    is_shift: bool,
    /// Nodes, and their weights π.
    nodes: Vec<[f64; Q]>,
    whitened: Vec<[f64; Q]>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    reference: Vec<f64>,
    inner: Vec<f64>,
    outer: Vec<f64>,
}

/// What is known of the effects of a group given θ.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    /// Mean.
    pub mean: [f64; Q],
    /// Variance.
    pub variance: [f64; Q],
    /// Third central moment.
    pub third: [f64; Q],
}

/// Everything a marginal likelihood is made of.
#[derive(Clone, Copy, Debug)]
pub struct Marginal<'a> {
    /// The rows.
    pub data: &'a Grouped,
    /// The likelihood.
    pub kernel: &'a dyn Kernel,
    /// What varies.
    pub effects: &'a [Effect],
    /// How.
    pub scales: &'a Scales,
    /// Nodes of one dimension.
    pub rule: &'a Hermite,
}

/// A search for the mode, at some u.
struct Here {
    value: f64,
    gradient: [f64; Q],
    /// Negative Hessian, and its Cholesky factor.
    root: [[f64; Q]; Q],
}

impl Marginal<'_> {
    /// Numbers in a state: coefficients, extra parameters, parameters of Λ.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.data.coefficients() + self.kernel.extra() + self.scales.parameters()
    }

    /// A state in the units of the storage.
    #[must_use]
    pub fn point(&self, state: &[f64]) -> Point {
        let (data, p) = (self.data, self.data.coefficients());
        let mut weights = vec![0.0; 1 + data.columns + if data.factors > 0 { 1 + data.places } else { 0 }];
        let first = usize::from(data.intercept);
        weights[0] = data.constant + if data.intercept { state[0] } else { 0.0 };
        for (column, &value) in state[first..p].iter().enumerate() {
            let (slot, change) = data.slot(column);
            let (shift, scale) = change.unwrap_or((0.0, 1.0));
            weights[1 + slot] = value * scale;
            weights[0] += value * shift;
        }
        let extra = p + self.kernel.extra();
        Point { weights, extra: state[p..extra].to_vec(), factor: self.scales.factor(&state[extra..]) }
    }

    /// b_i of all rows of a group.
    pub(super) fn predict(&self, point: &Point, rows: &GroupRows<'_>, b: &mut Vec<f64>) {
        let n = rows.response.len();
        b.clear();
        b.resize(n, point.weights[0]);
        for (column, &weight) in rows.dense.chunks_exact(n).zip(&point.weights[1..]) {
            b.iter_mut().zip(column).for_each(|(b, &x)| *b += weight * f64::from(x));
        }
        let table = point.weights.get(1 + self.data.columns..).unwrap_or_default();
        for places in rows.levels.chunks_exact(n) {
            b.iter_mut().zip(places).for_each(|(b, &place)| *b += table[place as usize]);
        }
        if let Some(offset) = rows.offset {
            b.iter_mut().zip(offset).for_each(|(b, &offset)| *b += f64::from(offset));
        }
    }

    /// What effect number `effect` is multiplied with, row by row.
    fn covariate<'r>(&self, rows: &GroupRows<'r>, effect: usize) -> Option<(&'r [f32], f64, f64)> {
        let Effect::Column(column) = self.effects[effect] else { return None };
        let (slot, change) = self.data.slot(column);
        let (shift, scale) = change?;
        let n = rows.response.len();
        Some((&rows.dense[slot * n..(slot + 1) * n], shift, scale))
    }

    /// η at u.
    fn move_to(&self, rows: &GroupRows<'_>, u: &[f64; Q], b: &[f64], eta: &mut Vec<f64>) {
        eta.clear();
        eta.extend_from_slice(b);
        for (effect, &u) in u.iter().enumerate().take(self.effects.len()) {
            match self.covariate(rows, effect) {
                None => eta.iter_mut().for_each(|eta| *eta += u),
                Some((column, shift, scale)) => {
                    eta.iter_mut()
                        .zip(column)
                        .for_each(|(eta, &x)| *eta += u * (shift + scale * f64::from(x)));
                }
            }
        }
    }

    /// Σ ℓ at u.
    fn total(&self, point: &Point, rows: &GroupRows<'_>, u: &[f64; Q], work: &mut Workspace) -> f64 {
        if work.is_shift && self.kernel.is_within(&work.shift, u[0]) {
            return self.kernel.shifted_total(&work.shift, u[0]);
        }
        let Workspace { b, eta, .. } = work;
        self.move_to(rows, u, b, eta);
        self.kernel.total(&point.extra, rows, eta)
    }

    /// log N(v; 0, I).
    fn log_normal(&self, v: &[f64; Q]) -> f64 {
        let q = self.effects.len();
        let squared: f64 = v[..q].iter().map(|v| v * v).sum();
        -0.5 * squared - 0.5 * q as f64 * (2.0 * std::f64::consts::PI).ln()
    }

    /// u = Λv.
    fn coloured(&self, point: &Point, v: &[f64; Q]) -> [f64; Q] {
        let q = self.effects.len();
        std::array::from_fn(
            |a| if a < q { (0..=a).map(|b| point.factor.lambda[a][b] * v[b]).sum() } else { 0.0 },
        )
    }

    /// Derivatives of the log integrand at u = Λv, in v; the value only where it is `wanted`.
    fn here(
        &self,
        point: &Point,
        rows: &GroupRows<'_>,
        (v, wanted): (&[f64; Q], bool),
        work: &mut Workspace,
    ) -> Here {
        let q = self.effects.len();
        let u = &self.coloured(point, v);
        let (mut slope, mut curve) = ([0.0; Q], [[0.0; Q]; Q]);
        let value = if wanted { self.total(point, rows, u, work) + self.log_normal(v) } else { 0.0 };
        if work.is_shift && self.kernel.is_within(&work.shift, u[0]) {
            let [first, second] = self.kernel.shifted_sums(&work.shift, u[0]);
            (slope[0], curve[0][0]) = (first, -second);
        } else {
            let Workspace { b, eta, first, second, .. } = work;
            self.move_to(rows, u, b, eta);
            first.resize(eta.len(), 0.0);
            second.resize(eta.len(), 0.0);
            self.kernel.slopes(&point.extra, rows, eta, (first, second));
            // Rows whose log-likelihood is not concave here add nothing.
            second.iter_mut().for_each(|second| *second = second.min(0.0));
            self.project(rows, (first, second), (&mut slope, &mut curve));
        }
        // Λ'g − v and Λ'CΛ + I.
        let lambda = &point.factor.lambda;
        let mut gradient = [0.0; Q];
        let mut whitened = [[0.0; Q]; Q];
        for a in 0..q {
            gradient[a] = (a..q).map(|c| lambda[c][a] * slope[c]).sum::<f64>() - v[a];
            for b in 0..=a {
                let row = |c: usize| -> f64 {
                    (b..q).map(|d| if d <= c { curve[c][d] } else { curve[d][c] } * lambda[d][b]).sum()
                };
                whitened[a][b] =
                    (a..q).map(|c| lambda[c][a] * row(c)).sum::<f64>() + f64::from(u8::from(a == b));
            }
        }
        Here { value, gradient, root: cholesky(q, &whitened) }
    }

    /// Σ z ℓ' and −Σ zz'ℓ'', the lower half.
    fn project(
        &self,
        rows: &GroupRows<'_>,
        (first, second): (&[f64], &[f64]),
        (slope, curve): (&mut [f64; Q], &mut [[f64; Q]; Q]),
    ) {
        if self.effects == [Effect::Intercept] {
            slope[0] = first.iter().sum();
            curve[0][0] = -second.iter().sum::<f64>();
            return;
        }
        let z = |row: usize, effect: usize| match self.covariate(rows, effect) {
            None => 1.0,
            Some((column, shift, scale)) => shift + scale * f64::from(column[row]),
        };
        for a in 0..self.effects.len() {
            for row in 0..first.len() {
                let own = z(row, a);
                slope[a] += own * first[row];
                (0..=a).for_each(|b| curve[a][b] -= own * z(row, b) * second[row]);
            }
        }
    }

    /// The mode of the integrand in v = Λ⁻¹u and the Cholesky factor of its negative Hessian there.
    fn mode(
        &self,
        point: &Point,
        rows: &GroupRows<'_>,
        start: [f64; Q],
        work: &mut Workspace,
    ) -> ([f64; Q], [[f64; Q]; Q]) {
        let q = self.effects.len();
        let mut v = start;
        let mut here = self.here(point, rows, (&v, false), work);
        let mut valued = false;
        for _ in 0..STEPS {
            let step = solve(q, &here.root, &here.gradient);
            let gain: f64 = (0..q).map(|a| step[a] * here.gradient[a]).sum();
            if !(gain > CLOSE) {
                break;
            }
            let careful = gain > SMALL;
            if careful && !valued {
                here.value = self.total(point, rows, &self.coloured(point, &v), work) + self.log_normal(&v);
            }
            let mut length = 1.0;
            loop {
                let mut next = v;
                (0..q).for_each(|a| next[a] += length * step[a]);
                let there = self.here(point, rows, (&next, careful), work);
                if !careful || there.value >= here.value || length < 1e-6 {
                    (v, here, valued) = (next, there, careful);
                    break;
                }
                length *= 0.5;
            }
            // Quadratic convergence: the next step would be below rounding.
            if gain < 1e-9 {
                break;
            }
        }
        (v, here.root)
    }

    /// log m of a group; its nodes and their weights stay in `work`, its mode in v = Λ⁻¹u in `start`.
    pub fn evaluate(&self, group: usize, point: &Point, start: &mut [f64; Q], work: &mut Workspace) -> f64 {
        let (q, rows) = (self.effects.len(), self.data.group(group));
        let mut b = std::mem::take(&mut work.b);
        self.predict(point, &rows, &mut b);
        work.is_shift =
            q == 1 && self.effects[0] == Effect::Intercept && self.kernel.prepare(&rows, &b, &mut work.shift);
        work.b = b;
        let (mode, root) = self.mode(point, &rows, *start, work);
        *start = mode;
        let log_unit: f64 =
            0.5 * q as f64 * std::f64::consts::LN_2 - (0..q).map(|a| root[a][a].ln()).sum::<f64>();
        let count = self.rule.nodes.len();
        let all = count.pow(q as u32);
        let (mut nodes, mut weights) = (std::mem::take(&mut work.nodes), std::mem::take(&mut work.weights));
        let mut whitened = std::mem::take(&mut work.whitened);
        whitened.clear();
        nodes.clear();
        weights.clear();
        for k in 0..all {
            let (mut z, mut log_weight, mut left) = ([0.0; Q], 0.0, k);
            for z in z.iter_mut().take(q) {
                *z = self.rule.nodes[left % count];
                log_weight += self.rule.log_weights[left % count];
                left /= count;
            }
            let moved = solve_upper(q, &root, &z);
            let mut v = mode;
            (0..q).for_each(|a| v[a] += std::f64::consts::SQRT_2 * moved[a]);
            let u = self.coloured(point, &v);
            weights.push(self.total(point, &rows, &u, work) + self.log_normal(&v) + log_unit + log_weight);
            whitened.push(v);
            nodes.push(u);
        }
        let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for weight in &mut weights {
            *weight = (*weight - most).exp();
            sum += *weight;
        }
        weights.iter_mut().for_each(|weight| *weight /= sum);
        (work.nodes, work.weights, work.whitened) = (nodes, weights, whitened);
        most + sum.ln()
    }

    /// û and s of the group evaluated last, of one effect: its nodes are û + √2 s z.
    pub(super) fn place(&self, work: &Workspace, rule: &Hermite) -> (f64, f64) {
        let last = rule.nodes.len() - 1;
        let (low, high) = (work.nodes[0][0], work.nodes[last][0]);
        let width = rule.nodes[last] - rule.nodes[0];
        (0.5 * (low + high), (high - low) / (std::f64::consts::SQRT_2 * width))
    }

    /// Moments of the effects of the group evaluated last.
    #[must_use]
    pub fn moments(&self, work: &Workspace) -> Moments {
        let mut found = Moments::default();
        let pairs = || work.nodes.iter().zip(&work.weights);
        for a in 0..self.effects.len() {
            let mean: f64 = pairs().map(|(u, w)| w * u[a]).sum();
            let central = |power: i32| -> f64 { pairs().map(|(u, w)| w * (u[a] - mean).powi(power)).sum() };
            (found.mean[a], found.variance[a], found.third[a]) = (mean, central(2), central(3));
        }
        found
    }

    /// Covariance of the effects of the group evaluated last.
    #[must_use]
    pub fn covariance(&self, work: &Workspace) -> [[f64; Q]; Q] {
        let q = self.effects.len();
        let pairs = || work.nodes.iter().zip(&work.weights);
        let mean: [f64; Q] = std::array::from_fn(|a| pairs().map(|(u, w)| w * u[a]).sum());
        let mut found = [[0.0; Q]; Q];
        for a in 0..q {
            for b in 0..q {
                found[a][b] = pairs().map(|(u, w)| w * (u[a] - mean[a]) * (u[b] - mean[b])).sum();
            }
        }
        found
    }

    /// Adds gradient and, where wanted, Hessian of log m of the group evaluated last, in the user's units.
    pub fn differentiate(
        &self,
        group: usize,
        point: &Point,
        work: &mut Workspace,
        out: (&mut [f64], Option<&mut [f64]>),
    ) {
        let rows = self.data.group(group);
        let n = rows.response.len();
        let (inside, more, m) = (point.weights.len(), self.kernel.extra(), self.scales.parameters());
        let d = inside + more + m;
        let (gradient, hessian) = out;
        let with_hessian = hessian.is_some();
        let mut inner = std::mem::take(&mut work.inner);
        let mut outer = std::mem::take(&mut work.outer);
        inner.clear();
        inner.resize(d, 0.0);
        outer.clear();
        outer.resize(if with_hessian { d * d } else { 0 }, 0.0);
        let mut expected = vec![0.0; m * m];
        let mut sums_second = [[0.0; MOST_EXTRA]; MOST_EXTRA];
        work.mean.clear();
        work.mean.resize(n, 0.0);
        work.crosses[..more].iter_mut().for_each(|cross| {
            cross.clear();
            cross.resize(n, 0.0);
        });
        // Covariances about the scores of the heaviest node, so that nothing cancels.
        let heaviest =
            (0..work.weights.len()).max_by(|&a, &b| work.weights[a].total_cmp(&work.weights[b])).unwrap_or(0);
        let order = std::iter::once(heaviest).chain((0..work.weights.len()).filter(|&k| k != heaviest));
        for (place, k) in order.enumerate() {
            let weight = work.weights[k];
            if weight < NEGLIGIBLE {
                continue;
            }
            let (u, v) = (work.nodes[k], work.whitened[k]);
            let Workspace { b, eta, first, second, mean, crosses, sums, scores, reference, .. } = work;
            self.move_to(&rows, &u, b, eta);
            first.resize(n, 0.0);
            second.resize(n, 0.0);
            first.truncate(n);
            second.truncate(n);
            self.kernel.curves(&point.extra, &rows, eta, (first, second, sums));
            scores.clear();
            scores.resize(d, 0.0);
            self.score(&rows, first, &mut scores[..inside]);
            scores[inside..inside + more].copy_from_slice(&sums.slope[..more]);
            self.scales.add_derivatives(
                &point.factor,
                &v,
                weight,
                (&mut scores[inside + more..], &mut expected),
            );
            if with_hessian {
                mean.iter_mut().zip(&*second).for_each(|(mean, second)| *mean += weight * second);
                for a in 0..more {
                    crosses[a]
                        .iter_mut()
                        .zip(&sums.cross[a])
                        .for_each(|(mean, cross)| *mean += weight * cross);
                    (0..more).for_each(|b| sums_second[a][b] += weight * sums.second[a][b]);
                }
            }
            if place == 0 {
                reference.clone_from(scores);
            }
            inner
                .iter_mut()
                .zip(scores.iter().zip(&*reference))
                .for_each(|(sum, (s, r))| *sum += weight * (s - r));
            if with_hessian && place > 0 {
                scores.iter_mut().zip(&*reference).for_each(|(s, r)| *s -= r);
                for (i, row) in outer.chunks_exact_mut(d).enumerate() {
                    let own = weight * scores[i];
                    if own != 0.0 {
                        row[..=i].iter_mut().zip(&*scores).for_each(|(slot, other)| *slot += own * other);
                    }
                }
            }
        }
        if let Some(hessian) = hessian {
            for i in 0..d {
                (0..=i).for_each(|j| outer[i * d + j] -= inner[i] * inner[j]);
            }
            self.add_expected(&rows, work, (inside, d), &mut outer);
            for a in 0..more {
                (0..=a).for_each(|b| outer[(inside + a) * d + inside + b] += sums_second[a][b]);
            }
            for a in 0..m {
                (0..=a)
                    .for_each(|b| outer[(inside + more + a) * d + inside + more + b] += expected[a * m + b]);
            }
            for i in 0..d {
                (0..i).for_each(|j| outer[j * d + i] = outer[i * d + j]);
            }
            self.to_user_hessian(inside, d, &outer, hessian);
        }
        inner.iter_mut().zip(&work.reference).for_each(|(sum, r)| *sum += r);
        self.to_user(inside, &inner, gradient);
        (work.inner, work.outer) = (inner, outer);
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

    fn to_user(&self, inside: usize, inner: &[f64], gradient: &mut [f64]) {
        let p = self.data.coefficients();
        for (slot, (place, shift, scale)) in gradient.iter_mut().zip(self.places()) {
            *slot += scale * inner[place] + shift * inner[0];
        }
        gradient[p..].iter_mut().zip(&inner[inside..]).for_each(|(slot, value)| *slot += value);
    }

    fn to_user_hessian(&self, inside: usize, d: usize, outer: &[f64], hessian: &mut [f64]) {
        let (p, user) = (self.data.coefficients(), self.dimension());
        let places: Vec<(usize, f64, f64)> =
            self.places().chain((inside..d).map(|place| (place, 0.0, 1.0))).collect();
        debug_assert_eq!(places.len(), user);
        debug_assert!(p <= user);
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

/// The Cholesky factor of a positive definite matrix whose lower half is given.
pub(super) fn cholesky(q: usize, matrix: &[[f64; Q]; Q]) -> [[f64; Q]; Q] {
    let mut root = [[0.0; Q]; Q];
    for a in 0..q {
        for b in 0..=a {
            let sum: f64 = (0..b).map(|c| root[a][c] * root[b][c]).sum();
            let left = matrix[a][b] - sum;
            root[a][b] = if a == b { left.max(f64::MIN_POSITIVE).sqrt() } else { left / root[b][b] };
        }
    }
    root
}

/// x of R'x = z.
fn solve_upper(q: usize, root: &[[f64; Q]; Q], z: &[f64; Q]) -> [f64; Q] {
    let mut x = [0.0; Q];
    for a in (0..q).rev() {
        let sum: f64 = (a + 1..q).map(|c| root[c][a] * x[c]).sum();
        x[a] = (z[a] - sum) / root[a][a];
    }
    x
}

/// x of RR'x = z.
fn solve(q: usize, root: &[[f64; Q]; Q], z: &[f64; Q]) -> [f64; Q] {
    let mut y = [0.0; Q];
    for a in 0..q {
        let sum: f64 = (0..a).map(|c| root[a][c] * y[c]).sum();
        y[a] = (z[a] - sum) / root[a][a];
    }
    solve_upper(q, root, &y)
}
