//! log m_j(θ), the log-likelihood of a group with its effects integrated out, with gradient and Hessian.
//!
//! ```text
//! log m = logsumexp_k f_k,  f_k = Σ_i ℓ_i(b_i + z_i'u_k) + log N(u_k; 0, ΛΛ') + log(2^{q/2} |C| ω_k) + z_k²,  u_k = û + √2 C z_k,  π = softmax f
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
    pub(super) b: Vec<f64>,
    pub(super) eta: Vec<f64>,
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) crosses: [Vec<f64>; MOST_EXTRA],
    pub(super) sums: ExtraSums,
    shift: Shift,
    is_shift: bool,
    /// Nodes, and their weights π.
    pub(super) nodes: Vec<[f64; Q]>,
    pub(super) whitened: Vec<[f64; Q]>,
    pub(super) weights: Vec<f64>,
    pub(super) scores: Vec<f64>,
    pub(super) reference: Vec<f64>,
    pub(super) inner: Vec<f64>,
    pub(super) outer: Vec<f64>,
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
    pub(super) fn move_to(&self, rows: &GroupRows<'_>, u: &[f64; Q], b: &[f64], eta: &mut Vec<f64>) {
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
            if gain.is_nan() || gain <= CLOSE {
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
