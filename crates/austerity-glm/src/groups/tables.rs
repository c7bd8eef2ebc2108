//! Node tables: sums over the rows of a group at fixed nodes, so that an evaluation of a group costs the same whatever its rows are.
//!
//! ```text
//! a_jk = ĉ + û_j + √2 s_j z_k         fixed at the centre θ̂, in the *level* a = c + u of the group, not in u
//! Σ_{i∈j} ℓ_i(x_i'β + a_jk) ≈ T⁰ + T¹h + ½T²[h, h] + ⅙T³[h, h, h],   h = β − β̂,  Tᵐ_jk = Σ ℓ⁽ᵐ⁾ x^{⊗m}
//! log m_j(θ) ≈ logsumexp_k [ tables_jk(h) − log σ − (a_jk − c)²/2σ² + log(√2 s_j ω_k) + z_k² ]
//! ```
//!
//! The constant c (intercept and what shifts of columns leave) and σ are exact: only moves of slopes are expanded. Nodes that are fixed in u instead would lose a factor of fifty in the
//! error as the intercept moves. What is left is the fourth order of the rows and the error of nodes that do not follow σ; both are measured ([`Tabled::error`]) against re-adapted
//! integrals with more nodes before tables are used, and audits ask those, too ([`Likelihoods::exact_difference`]).
//!
//! For one effect per group, the intercept, of families without extra parameters, with few columns: a group takes K·(1 + p + p(p+1)/2 + p(p+1)(p+2)/6) numbers. Building them is one pass over the
//! rows with as many operations per row. An evaluation of all groups is a product of that matrix with a vector. Do not use for many small groups (rows are cheaper), nor far from the centre.

use rand_distr::{Distribution as _, StandardNormal};

use super::MOST_EFFECTS;
use super::hermite::Hermite;
use super::marginal::{Effect, Moments, Point, Workspace};
use super::model::{Memory, Multilevel};
use crate::own::Likelihoods;
use austerity::error::{Result, setting};
use austerity::parallel;
use austerity::population::Batch;
use austerity::rng::{Role, stream};

/// Numbers of a node at most: p ≤ 13 columns.
pub const MOST_NUMBERS: usize = 600;
/// Bytes of all tables at most.
pub const MOST_BYTES: usize = 1 << 30;
/// Pieces that the pass is cut into.
const PIECES: usize = 64;
/// States at which the error is measured.
const STATES: usize = 8;
/// More nodes that these are measured with.
const FINER: usize = 6;

/// A multilevel model by node tables.
#[derive(Debug)]
pub struct Tabled<'m> {
    model: &'m Multilevel,
    /// ŵ of the dense columns.
    centre: Vec<f64>,
    nodes: usize,
    /// Numbers of a node beside T⁰.
    numbers: usize,
    /// Group by group, node by node: level a, T⁰, log weight.
    levels: Vec<[f64; 3]>,
    /// Node by node, T¹ to T³, without what repeats.
    tables: Vec<f32>,
}

/// A state, ready for tables.
#[derive(Clone, Debug)]
pub struct Prepared {
    point: Point,
    /// Monomials of the move of the slopes.
    powers: Vec<f32>,
}

/// Monomials of the first to the third order of so many variables.
fn numbers(p: usize) -> usize {
    p + p * (p + 1) / 2 + p * (p + 1) * (p + 2) / 6
}

/// Writes the monomials x_a, x_a x_b, x_a x_b x_c with a ≤ b ≤ c.
fn monomials(x: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(x);
    for (a, &first) in x.iter().enumerate() {
        out.extend(x[a..].iter().map(|second| first * second));
    }
    for (a, &first) in x.iter().enumerate() {
        for (b, &second) in x.iter().enumerate().skip(a) {
            out.extend(x[b..].iter().map(|third| first * second * third));
        }
    }
}

/// What monomials of h are multiplied with: 1/m! times how often each comes up among ordered products.
fn multiples(p: usize) -> Vec<f64> {
    let mut made = vec![1.0; p];
    for a in 0..p {
        made.extend((a..p).map(|b| if a == b { 0.5 } else { 1.0 }));
    }
    for a in 0..p {
        for b in a..p {
            made.extend((b..p).map(|c| match (a == b, b == c) {
                (true, true) => 1.0 / 6.0,
                (true, false) | (false, true) => 0.5,
                (false, false) => 1.0,
            }));
        }
    }
    made
}

impl<'m> Tabled<'m> {
    /// Whether tables are for this model: one intercept per group, no extra parameters, few numeric columns, groups larger than tables.
    #[must_use]
    pub fn suits(model: &Multilevel) -> bool {
        let marginal = model.marginal();
        let data = model.data();
        let numbers = numbers(data.columns);
        let bytes = data.len().saturating_mul(4 * model.nodes() * (numbers + 6));
        let rows = data.rows() / data.len().max(1);
        marginal.effects == [Effect::Intercept]
            && data.intercept
            && data.factors == 0
            && marginal.kernel.extra() == 0
            && numbers <= MOST_NUMBERS
            && bytes <= MOST_BYTES
            // A number of a table takes a fiftieth of what a row does.
            && rows > model.nodes() * numbers / 50
    }

    /// Tables at `state`, by one pass over the rows.
    pub fn new(model: &'m Multilevel, state: &[f64]) -> Result<Self> {
        if !Self::suits(model) {
            return Err(setting(
                "node tables",
                "this model",
                "one varying intercept and few numeric columns",
            ));
        }
        let marginal = model.marginal();
        let point = marginal.point(state);
        let numbers = numbers(model.data().columns);
        let rule = Hermite::new(model.nodes());
        let pieces = model.data().pieces(PIECES);
        let made = parallel::map(model.threads(), &pieces, |piece| {
            let mut work = Building::default();
            piece.clone().for_each(|group| work.add(model, &rule, &point, group));
            (work.levels, work.tables)
        });
        let (mut levels, mut tables) = (Vec::new(), Vec::new());
        for (own, table) in made {
            levels.extend(own);
            tables.extend(table);
        }
        let centre = point.weights[1..].to_vec();
        let nodes = model.nodes();
        Ok(Self { model, centre, nodes, numbers, levels, tables })
    }

    /// The largest error of a difference of log-likelihoods from the centre, at draws of a normal distribution with this covariance: against integrals whose nodes follow θ, and more of them.
    #[must_use]
    pub fn error(&self, state: &[f64], covariance: &[f64], seed: u64) -> f64 {
        let d = state.len();
        let Some(root) = nalgebra::DMatrix::from_row_slice(d, d, covariance).cholesky() else {
            return f64::INFINITY;
        };
        let mut rng = stream(seed, u32::MAX, Role::Start);
        let finer = Hermite::new(self.nodes + FINER);
        let off = |state: &[f64]| {
            let own: f64 = self.all(state).iter().sum();
            own - self.model.all(state, &finer).iter().sum::<f64>()
        };
        let origin = off(state);
        let errors = (0..STATES).map(|_| {
            let z = nalgebra::DVector::from_fn(d, |_, _| StandardNormal.sample(&mut rng));
            let moved: Vec<f64> =
                state.iter().zip((root.l() * z).iter()).map(|(s, by): (&f64, &f64)| s + by).collect();
            (off(&moved) - origin).abs()
        });
        errors.fold(0.0, f64::max)
    }

    /// The multilevel model behind the tables.
    #[must_use]
    pub fn model(&self) -> &'m Multilevel {
        self.model
    }

    fn all(&self, state: &[f64]) -> Vec<f64> {
        let Prepared { point, powers } = self.prepared(state);
        let mut scratch = Vec::new();
        (0..self.model.data().len()).map(|group| self.group(group, &point, &powers, &mut scratch)).collect()
    }

    /// A state in the units of the storage, and the monomials of its move.
    #[must_use]
    pub fn prepared(&self, state: &[f64]) -> Prepared {
        let point = self.model.marginal().point(state);
        let h: Vec<f64> = point.weights[1..].iter().zip(&self.centre).map(|(to, from)| to - from).collect();
        let mut powers = Vec::with_capacity(self.numbers);
        monomials(&h, &mut powers);
        let powers =
            powers.iter().zip(multiples(h.len())).map(|(power, often)| (power * often) as f32).collect();
        Prepared { point, powers }
    }

    /// What is known of the effect of a group given the parameters, from its nodes.
    #[must_use]
    pub fn moments(&self, group: usize, prepared: &Prepared, f: &mut Vec<f64>) -> Moments {
        let Prepared { point, powers } = prepared;
        let value = self.group(group, point, powers, f);
        let offset = value + 0.5 * (2.0 * std::f64::consts::PI).ln();
        let first = group * self.nodes;
        let pairs = || {
            f.iter()
                .zip(&self.levels[first..first + self.nodes])
                .map(|(f, [level, ..])| ((f - offset).exp(), level - point.weights[0]))
        };
        let mean: f64 = pairs().map(|(weight, u)| weight * u).sum();
        let central =
            |power: i32| -> f64 { pairs().map(|(weight, u)| weight * (u - mean).powi(power)).sum() };
        let mut found = Moments::default();
        (found.mean[0], found.variance[0], found.third[0]) = (mean, central(2), central(3));
        found
    }

    /// log m of a group.
    fn group(&self, group: usize, point: &Point, powers: &[f32], f: &mut Vec<f64>) -> f64 {
        let log_sigma = point.factor.log_determinant;
        let inverse = point.factor.inverse[0][0];
        f.clear();
        for k in group * self.nodes..(group + 1) * self.nodes {
            let table = &self.tables[k * self.numbers..(k + 1) * self.numbers];
            let [level, value, log_weight] = self.levels[k];
            let r = (level - point.weights[0]) * inverse;
            f.push(value + dot(table, powers) - log_sigma - 0.5 * r * r + log_weight);
        }
        let most = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + f.iter().map(|f| (f - most).exp()).sum::<f64>().ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
    }
}

/// Σ a·b in eight lanes.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut lanes = [0.0_f32; 8];
    let ((left, rest), (right, others)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in left.iter().zip(right) {
        for k in 0..8 {
            lanes[k] += a[k] * b[k];
        }
    }
    let rest: f64 = rest.iter().zip(others).map(|(a, b)| f64::from(a * b)).sum();
    lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>() + rest
}

/// Buffers of the pass, and what it made.
#[derive(Default)]
struct Building {
    work: Workspace,
    levels: Vec<[f64; 3]>,
    tables: Vec<f32>,
    b: Vec<f64>,
    eta: Vec<f64>,
    slopes: [Vec<f64>; 3],
    row: Vec<f64>,
    powers: Vec<f64>,
    sums: Vec<f64>,
}

impl Building {
    fn add(&mut self, model: &Multilevel, rule: &Hermite, point: &Point, group: usize) {
        let marginal = model.marginal();
        let rows = model.data().group(group);
        let n = rows.response.len();
        let mut mode = [0.0; MOST_EFFECTS];
        marginal.evaluate(group, point, &mut mode, &mut self.work);
        let (centre, unit) = marginal.place(&self.work, rule);
        marginal.predict(point, &rows, &mut self.b);
        let p = model.data().columns;
        let each = numbers(p);
        let nodes = rule.nodes.len();
        self.sums.clear();
        self.sums.resize(nodes * each, 0.0);
        let mut derivatives = vec![0.0; 3 * n * nodes];
        for (k, (&z, &log_weight)) in rule.nodes.iter().zip(&rule.log_weights).enumerate() {
            let u = centre + std::f64::consts::SQRT_2 * unit * z;
            self.eta.clear();
            self.eta.extend(self.b.iter().map(|b| b + u));
            let value = marginal.kernel.total(&point.extra, &rows, &self.eta);
            self.levels.push([
                point.weights[0] + u,
                value,
                log_weight + (std::f64::consts::SQRT_2 * unit).ln(),
            ]);
            self.slopes.iter_mut().for_each(|slope| slope.resize(n, 0.0));
            let [first, second, third] = &mut self.slopes;
            marginal.kernel.thirds(&point.extra, &rows, &self.eta, [first, second, third]);
            for (order, slope) in self.slopes.iter().enumerate() {
                derivatives[(3 * k + order) * n..(3 * k + order + 1) * n].copy_from_slice(slope);
            }
        }
        let (second, third) = (p, p + p * (p + 1) / 2);
        for i in 0..n {
            self.row.clear();
            self.row.extend((0..p).map(|c| f64::from(rows.dense[c * n + i])));
            monomials(&self.row, &mut self.powers);
            for (k, sums) in self.sums.chunks_exact_mut(each.max(1)).enumerate().take(nodes) {
                let at = |order: usize| derivatives[(3 * k + order) * n + i];
                let orders = [(0..second, at(0)), (second..third, at(1)), (third..each, at(2))];
                for (range, value) in orders {
                    let powers = &self.powers[range.clone()];
                    sums[range].iter_mut().zip(powers).for_each(|(sum, power)| *sum += value * power);
                }
            }
        }
        self.tables.extend(self.sums.iter().map(|&sum| sum as f32));
    }
}

impl Likelihoods for Tabled<'_> {
    type Memory = (Memory, Vec<f64>);

    fn rows(&self) -> usize {
        self.model.rows()
    }

    fn names(&self) -> Vec<String> {
        self.model.names()
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        self.model.log_prior(state)
    }

    fn log_likelihoods(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        memory: &mut Self::Memory,
        out: &mut [f64],
    ) -> Result<()> {
        let Prepared { point, powers } = self.prepared(state);
        for (out, group) in out.iter_mut().zip(batch.ranges().flatten()) {
            *out = self.group(group, &point, &powers, &mut memory.1);
        }
        Ok(())
    }

    fn write(&self, state: &[f64], out: &mut [f64]) {
        self.model.write(state, out);
    }

    fn original_row(&self, position: usize) -> usize {
        self.model.original_row(position)
    }

    /// Of the model, and of the centre.
    fn fingerprint(&self) -> u64 {
        let own = self.model.fingerprint();
        let centre =
            self.centre.iter().flat_map(|value| [value.to_bits() as u32, (value.to_bits() >> 32) as u32]);
        austerity::model::fingerprint([own as u32, (own >> 32) as u32].into_iter().chain(centre))
    }

    fn data_bytes(&self) -> usize {
        self.model.data_bytes() + 4 * self.tables.len() + 24 * self.levels.len()
    }

    fn stands_for(&self) -> bool {
        true
    }

    fn exact_difference(&self, from: &[f64], to: &[f64]) -> Result<f64> {
        let rule = Hermite::new(self.nodes + FINER);
        let (before, after) = (self.model.all(from, &rule), self.model.all(to, &rule));
        let likelihood: f64 = after.iter().zip(&before).map(|(after, before)| after - before).sum();
        Ok(likelihood + self.log_prior(to)? - self.log_prior(from)?)
    }
}
