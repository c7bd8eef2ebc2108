//! How the effects of a group vary: Λ with ΛΛ' = Σ, as free parameters, with its derivatives and priors.
//!
//! A state holds log Λ_aa for every effect and, where effects are correlated, the entries Λ_ab below the diagonal, row by row: (log Λ₁₁), (Λ₂₁, log Λ₂₂), … With
//! v = Λ⁻¹u, A_i = Λ⁻¹∂_iΛ and B = Λ⁻¹∂_i∂_jΛ, which is A_i where i = j is a logarithm and 0 elsewhere,
//!
//! ```text
//! ∂_i log N(u; 0, ΛΛ')   = −tr A_i + v'A_i v
//! ∂_i∂_j log N(u; 0, ΛΛ') = tr A_jA_i − tr B + v'(B − A_j'A_i − A_jA_i − A_iA_j)v
//! ```
//!
//! Priors are those of the standard deviations σ_a, the norm of row a of Λ, and an LKJ prior (Lewandowski, Kurowicka & Joe 2009) of their correlations: with L = diag(1/σ)Λ and
//! p_a the density of log σ_a, log π = Σ_a [p_a(log σ_a) − (a − 1) log σ_a + (q − a + 2η) log L_aa], change of variables included. Exact in q ≤ 3; derivatives of the prior are
//! differences, which cost q(q + 1) evaluations and no data.

use crate::Prior;
use austerity::error::Result;

/// Most parameters of Λ: three effects with correlations.
pub const MOST_SCALES: usize = 6;
/// Logarithms of scales beyond this are as far as f64 can tell: squares of inverses stay finite.
const FARTHEST: f64 = 150.0;
const Q: usize = super::MOST_EFFECTS;

/// A matrix of effects by effects.
pub type Square = [[f64; Q]; Q];

/// Which parameters Λ has, and their priors.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    effects: usize,
    correlated: bool,
    /// Of every standard deviation.
    priors: Vec<Prior>,
    /// η of the LKJ prior; 1 is uniform over correlation matrices.
    lkj: f64,
    /// (row, column) of every parameter.
    entries: Vec<(usize, usize)>,
}

/// Λ at some parameters, and what follows.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    /// Λ, lower triangular.
    pub lambda: Square,
    /// Λ⁻¹.
    pub inverse: Square,
    /// log |Λ|.
    pub log_determinant: f64,
}

impl Scales {
    /// One prior per standard deviation; correlations, where there are any, have an LKJ prior of this shape.
    pub fn new(priors: Vec<Prior>, correlated: bool, lkj: f64) -> Result<Self> {
        let effects = priors.len();
        if effects == 0 || effects > Q {
            return Err(austerity::error::setting("effects per group", effects, "from 1 to 3"));
        }
        for prior in &priors {
            prior.check()?;
            if !prior.is_positive() && *prior != Prior::Flat {
                return Err(austerity::error::setting(
                    "prior of a group's standard deviation",
                    prior,
                    "one of a positive parameter",
                ));
            }
        }
        let correlated = correlated && effects > 1;
        let below = |a: usize| if correlated { 0 } else { a };
        let entries = (0..effects).flat_map(|a| (below(a)..=a).map(move |b| (a, b))).collect();
        Ok(Self { effects, correlated, priors, lkj, entries })
    }

    /// q.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.effects
    }

    /// Whether effects of a group are correlated.
    #[must_use]
    pub fn is_correlated(&self) -> bool {
        self.correlated
    }

    /// Parameters of Λ.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.entries.len()
    }

    /// Whether a parameter is a logarithm, of an entry on the diagonal.
    #[must_use]
    pub fn is_logarithm(&self, parameter: usize) -> bool {
        self.entries.get(parameter).is_some_and(|(a, b)| a == b)
    }

    /// Priors of the standard deviations.
    #[must_use]
    pub fn priors(&self) -> &[Prior] {
        &self.priors
    }

    /// Λ and what follows, given its parameters.
    #[must_use]
    pub fn factor(&self, state: &[f64]) -> Factor {
        let q = self.effects;
        let mut lambda = [[0.0; Q]; Q];
        let mut log_determinant = 0.0;
        for (&(a, b), &value) in self.entries.iter().zip(state) {
            if a == b {
                let logarithm = value.clamp(-FARTHEST, FARTHEST);
                lambda[a][b] = logarithm.exp();
                log_determinant += logarithm;
            } else {
                lambda[a][b] = value;
            }
        }
        let mut inverse = [[0.0; Q]; Q];
        for a in 0..q {
            inverse[a][a] = 1.0 / lambda[a][a];
            for b in 0..a {
                let sum: f64 = (b..a).map(|c| lambda[a][c] * inverse[c][b]).sum();
                inverse[a][b] = -sum / lambda[a][a];
            }
        }
        Factor { lambda, inverse, log_determinant }
    }

    /// Adds the first derivatives of log N(Λv; 0, ΛΛ') in the parameters, u = Λv fixed, to `first` and `weight` times the second to `second`, m × m.
    pub fn add_derivatives(
        &self,
        factor: &Factor,
        v: &[f64; Q],
        weight: f64,
        (first, second): (&mut [f64], &mut [f64]),
    ) {
        let (q, m) = (self.effects, self.entries.len());
        // A = c e_b' with c = Λ⁻¹e_a, times Λ_aa for a logarithm. So A v = c v_b, v'A v = (v'c) v_b, tr A = c_b.
        let column = |&(a, b): &(usize, usize)| {
            let unit = if a == b { factor.lambda[a][a] } else { 1.0 };
            let mut c = [0.0; Q];
            for (row, c) in c.iter_mut().enumerate().take(q) {
                *c = unit * factor.inverse[row][a];
            }
            (c, b)
        };
        let dot = |x: &[f64; Q], y: &[f64; Q]| -> f64 { (0..q).map(|a| x[a] * y[a]).sum() };
        for (i, entry) in self.entries.iter().enumerate() {
            let (c, b) = column(entry);
            let along = dot(v, &c);
            first[i] += along * v[b] - c[b];
            for (j, other) in self.entries.iter().enumerate() {
                let (d, e) = column(other);
                let same = if i == j && entry.0 == entry.1 { 1.0 } else { 0.0 };
                let trace = d[b] * c[e] - same * c[b];
                // v'A_j'A_i v, v'A_jA_i v and v'A_iA_j v.
                let squared = v[e] * v[b] * dot(&d, &c);
                let (forth, back) = (dot(v, &d) * c[e] * v[b], along * d[b] * v[e]);
                second[i * m + j] += weight * (trace + same * along * v[b] - squared - forth - back);
            }
        }
    }

    /// Log prior density of the parameters, change of variables included.
    #[must_use]
    pub fn log_prior(&self, state: &[f64]) -> f64 {
        let q = self.effects;
        let Factor { lambda, .. } = self.factor(state);
        (0..q)
            .map(|a| {
                let log_sd = self.log_sd(&lambda, state, a);
                let own = self.priors[a].log_density(log_sd);
                if !self.correlated {
                    return own;
                }
                let exponent = (q - a - 1) as f64 + 2.0 * self.lkj;
                let diagonal = if a == 0 { 0.0 } else { exponent * (lambda[a][a].ln() - log_sd) };
                own - a as f64 * log_sd + diagonal
            })
            .sum()
    }

    fn log_sd(&self, lambda: &Square, state: &[f64], a: usize) -> f64 {
        let place = self.entries.iter().position(|&entry| entry == (a, a)).unwrap_or(0);
        let below: f64 = (0..a).map(|b| (lambda[a][b] / lambda[a][a]).powi(2)).sum();
        state[place] + 0.5 * below.ln_1p()
    }

    /// Adds gradient and Hessian (m × m) of the log prior density.
    pub fn add_prior_derivatives(&self, state: &[f64], gradient: &mut [f64], hessian: Option<&mut [f64]>) {
        let m = self.entries.len();
        if !self.correlated {
            let found: Vec<(f64, f64)> =
                self.priors.iter().zip(state).map(|(prior, &s)| prior.derivatives(s)).collect();
            gradient.iter_mut().zip(&found).for_each(|(slot, (first, _))| *slot += first);
            if let Some(hessian) = hessian {
                found.iter().enumerate().for_each(|(i, (_, second))| hessian[i * m + i] += second);
            }
            return;
        }
        const STEP: f64 = 1e-4;
        let at = |moves: &[(usize, f64)]| {
            let mut moved = state.to_vec();
            moves.iter().for_each(|&(i, by)| moved[i] += by);
            self.log_prior(&moved)
        };
        let step = |i: usize| STEP * state[i].abs().max(1.0);
        for (i, slot) in gradient.iter_mut().enumerate().take(m) {
            *slot += (at(&[(i, step(i))]) - at(&[(i, -step(i))])) / (2.0 * step(i));
        }
        let Some(hessian) = hessian else { return };
        let here = at(&[]);
        for i in 0..m {
            for j in 0..m {
                let (a, b) = (step(i), step(j));
                hessian[i * m + j] += if i == j {
                    (at(&[(i, a)]) - 2.0 * here + at(&[(i, -a)])) / (a * a)
                } else {
                    (at(&[(i, a), (j, b)]) - at(&[(i, a), (j, -b)]) - at(&[(i, -a), (j, b)])
                        + at(&[(i, -a), (j, -b)]))
                        / (4.0 * a * b)
                };
            }
        }
    }

    /// Names of what is recorded: standard deviations, then correlations, of effects called `terms` in groups called `group`.
    #[must_use]
    pub fn names(&self, group: &str, terms: &[String]) -> Vec<String> {
        let mut names: Vec<String> = terms.iter().map(|term| format!("sd({group}:{term})")).collect();
        if self.correlated {
            let pairs = (0..self.effects).flat_map(|a| (0..a).map(move |b| (b, a)));
            names.extend(pairs.map(|(b, a)| format!("cor({group}:{},{})", terms[b], terms[a])));
        }
        names
    }

    /// Writes the standard deviations and correlations.
    pub fn write(&self, state: &[f64], out: &mut [f64]) {
        let q = self.effects;
        let Factor { lambda, .. } = self.factor(state);
        let row = |a: usize, b: usize| -> f64 { (0..q).map(|c| lambda[a][c] * lambda[b][c]).sum() };
        let sd: Vec<f64> = (0..q).map(|a| row(a, a).sqrt()).collect();
        out[..q].copy_from_slice(&sd);
        if self.correlated {
            let pairs = (0..q).flat_map(|a| (0..a).map(move |b| (b, a)));
            out[q..].iter_mut().zip(pairs).for_each(|(slot, (b, a))| *slot = row(a, b) / (sd[a] * sd[b]));
        }
    }

    /// Parameters of Λ from the recorded standard deviations and correlations.
    #[must_use]
    pub fn read(&self, recorded: &[f64]) -> Vec<f64> {
        let q = self.effects;
        let sd = &recorded[..q];
        let mut correlation = [[0.0; Q]; Q];
        let pairs = (0..q).flat_map(|a| (0..a).map(move |b| (b, a)));
        (0..q).for_each(|a| correlation[a][a] = 1.0);
        recorded[q..].iter().zip(pairs).for_each(|(&value, (b, a))| correlation[a][b] = value);
        let mut lower = [[0.0; Q]; Q];
        for a in 0..q {
            for b in 0..=a {
                let sum: f64 = (0..b).map(|c| lower[a][c] * lower[b][c]).sum();
                let left = correlation[a][b] - sum;
                lower[a][b] = if a == b { left.max(1e-12).sqrt() } else { left / lower[b][b] };
            }
        }
        let entry =
            |&(a, b): &(usize, usize)| if a == b { (sd[a] * lower[a][a]).ln() } else { sd[a] * lower[a][b] };
        self.entries.iter().map(entry).collect()
    }
}
