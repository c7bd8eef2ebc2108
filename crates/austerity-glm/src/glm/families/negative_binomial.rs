//! Negative binomial regression: counts y with mean μ = e^η and variance μ + μ²/φ; log φ is sampled as the last parameter.
//!
//! With s = log φ and t = η − s the log-likelihood is
//!
//! ```text
//! yη + Σ_{k<y} log(1 + k/φ) − y·log(1 + e^t) − φ·log(1 + e^t)
//! ```
//!
//! where nothing cancels as φ → ∞ and the Poisson likelihood appears: φ·log(1 + e^t) = μ·G(t) with G(t) = e^{−t}·log(1 + e^t), a function whose derivatives
//! are ∫₀¹ of those of σ(−t − log v) dv. The sum over k is one of softplus(log k − s); beyond `MOST_TERMS` the rest is a difference of log Γ.
//!
//! No kernel: rows are computed in f64, some 0.2 µs a difference. Decisions by limits read none.

use rand_distr::{Distribution as _, Gamma};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

use crate::glm::derived::Derived;
use crate::glm::number::function::{Softplus, logistic_parts};
use crate::glm::number::{Function, Interval, Jet, Number, ORDERS};
use crate::glm::{Extra, Family, counts};
use crate::{Prior, ResponseKind};
use austerity::rng::Rng;

/// Terms of the sum over k that are added one by one.
const MOST_TERMS: u32 = 64;
/// Quantiles up to this are found by summing probabilities.
const SUMMED: f64 = 5000.0;

/// Counts with log link and a dispersion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NegativeBinomial;

/// Σ_{k<y} log(1 + k·e^{−s}) as a function of s.
#[derive(Clone, Copy, Debug)]
struct Rising {
    count: f64,
}

impl Rising {
    /// Terms that are added one by one.
    fn terms(&self) -> u32 {
        self.count.min(f64::from(MOST_TERMS)) as u32
    }

    /// The terms from `MOST_TERMS` on: log Γ(y + φ) − log Γ(m + φ) − (y − m)·s.
    fn rest<T: Number>(&self, s: T) -> T {
        let (phi, first) = (s.exp(), f64::from(MOST_TERMS));
        (phi + self.count).ln_gamma() - (phi + first).ln_gamma() - s * (self.count - first)
    }
}

/// Σ log(1 + k·shrink) over 0 < k < terms, eight factors to a logarithm.
fn product_logarithm(terms: u32, shrink: f64) -> f64 {
    let (mut sum, mut product) = (0.0, 1.0);
    for k in 1..terms {
        product *= 1.0 + f64::from(k) * shrink;
        if k % 8 == 0 {
            sum += product.ln();
            product = 1.0;
        }
    }
    sum + product.ln()
}

/// Σ log(1 + k·shrink) over 0 < k < terms. Products of eight terms have one logarithm; where k/φ is beyond 10³⁸ they might overflow.
fn logarithms(terms: u32, shrink: f64) -> f64 {
    if shrink < 1e30 {
        product_logarithm(terms, shrink)
    } else {
        (1..terms).map(|k| (f64::from(k) * shrink).ln_1p()).sum()
    }
}

impl Function for Rising {
    fn value(&self, s: f64) -> f64 {
        let sum = logarithms(self.terms(), (-s).exp());
        if self.count > f64::from(MOST_TERMS) { sum + self.rest(s) } else { sum }
    }

    fn derivatives(&self, s: f64, order: usize) -> [f64; ORDERS] {
        let mut all = [0.0; ORDERS];
        let shrink = (-s).exp();
        all[0] = logarithms(self.terms(), shrink);
        for k in 1..self.terms() {
            let odds = f64::from(k) * shrink;
            let q = 1.0 / (1.0 + odds);
            let p = odds * q;
            let w = p * q;
            all[1] -= p;
            all[2] += w;
            all[3] -= w * (q - p);
            all[4] += w * (1.0 - 6.0 * w);
        }
        if self.count > f64::from(MOST_TERMS) {
            let rest: [f64; ORDERS] = match order {
                0 => [self.rest(s), 0.0, 0.0, 0.0, 0.0],
                _ => self.rest(Jet::<f64, 1, ORDERS>::variable(s, 0, 1.0)).coefficients,
            };
            for (k, (sum, c)) in all.iter_mut().zip(rest).enumerate() {
                *sum += c * [1.0, 1.0, 2.0, 6.0, 24.0][k];
            }
        }
        all
    }

    /// Each term's is at most .128, k/φ and φ/k.
    fn largest_fifth(&self, s: Interval) -> f64 {
        let count = self.count;
        let (small, large) =
            ((-s.low).exp() * 0.5 * count * count, s.high.exp() * (1.0 + count.max(1.0).ln()));
        (0.128 * count).min(small).min(large)
    }
}

/// G(t) = e^{−t}·log(1 + e^t).
#[derive(Clone, Copy, Debug)]
struct Saturation;

impl Function for Saturation {
    fn value(&self, t: f64) -> f64 {
        if t < 700.0 { Softplus.value(t) * (-t).exp() } else { 0.0 }
    }

    /// G' = q − G, G'' = −w − G', and so on; by the series Σ (−u)ⁿ nʲ/(n + 1) in u = e^t where those would cancel.
    fn derivatives(&self, t: f64, _order: usize) -> [f64; ORDERS] {
        let u = t.exp();
        if u < 0.05 {
            let mut all = [0.0; ORDERS];
            for n in (1..=14).rev() {
                let n = f64::from(n);
                let (mut term, sign) = (1.0 / (n + 1.0), if n % 2.0 == 0.0 { 1.0 } else { -1.0 });
                for sum in &mut all {
                    *sum = *sum * u + sign * term;
                    term *= n;
                }
            }
            all.iter_mut().for_each(|sum| *sum *= u);
            all[0] += 1.0;
            return all;
        }
        let [_, q, w, v] = logistic_parts(t);
        let value = self.value(t);
        let first = q - value;
        let second = -w - first;
        let third = -w * v - second;
        [value, first, second, third, -w * (1.0 - 6.0 * w) - third]
    }

    /// ∫₀¹ of the fifth derivative of σ(−t − log v), which is at most ¼ and uv.
    fn largest_fifth(&self, t: Interval) -> f64 {
        (0.5 * t.high.exp()).min(0.25)
    }
}

impl Family for NegativeBinomial {
    const USUAL: Self = Self;
    const NAME: &'static str = "negative-binomial";
    const WORDS: &'static str = "negative binomial regression, log link";
    const EFFECT: &'static str = "Change of the log rate";
    const ABOUT: &'static str = "counts with variance μ + μ²/φ, log link, φ sampled";
    const KIND: ResponseKind = ResponseKind::Count;
    const EXTRA: &'static [Extra] = &[Extra {
        name: "phi",
        about: "dispersion: the variance is μ + μ²/φ",
        typical: 2.0,
        prior: Some(Prior::LogNormal { mean: 1.0, sd: 2.0 }),
    }];
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, _trials: f64) -> T {
        let (s, t) = (extra[0], eta - extra[0]);
        let softplus = t.softplus();
        // The same number twice: μ·G takes longer, is tighter where numbers are intervals, and would be ∞·0 where μ is beyond f64.
        let spread =
            if T::WIDE && t.value() <= 0.0 { eta.exp() * t.apply(&Saturation) } else { s.exp() * softplus };
        let known = eta * response - softplus * response - spread;
        if response > 1.0 { known + s.apply(&Rising { count: response }) } else { known }
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        eta.exp()
    }

    fn constant(&self, response: f64, _trials: f64) -> f64 {
        -ln_gamma(response + 1.0)
    }

    /// By sums of probabilities where those are few, otherwise by the incomplete beta function.
    fn quantile(&self, (level, _): (f64, f64), eta: f64, extra: &[f64], _trials: f64) -> f64 {
        let (mean, phi) = (eta.exp(), extra[0].exp());
        if !(mean.is_finite() && phi > 0.0 && phi.is_finite()) {
            return mean;
        }
        let log_zero = -phi * (mean / phi).ln_1p();
        let sd = (mean + mean * mean / phi).sqrt();
        if mean + 10.0 * sd <= SUMMED && log_zero > -700.0 {
            let more = mean / (mean + phi);
            return counts::search(log_zero.exp(), |k| (k - 1.0 + phi) / k * more, level, SUMMED * SUMMED);
        }
        let reaches = |k: f64| beta_reg(phi, k + 1.0, phi / (phi + mean)) >= level;
        let (mut low, mut high) = (-1.0, (mean + sd).ceil());
        while !reaches(high) && high < 1e300 {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > 1.0 && high - low > 1e-15 * high {
            let middle = (0.5 * (low + high)).floor();
            if reaches(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// A Poisson count whose mean is gamma distributed. NaN where that is beyond the range of the sampler.
    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], _trials: f64) -> f64 {
        let phi = extra[0].exp();
        let mean = Gamma::new(phi, eta.exp() / phi).map_or(f64::NAN, |law| law.sample(rng));
        if mean == 0.0 {
            return 0.0;
        }
        rand_distr::Poisson::new(mean).map_or(f64::NAN, |law| law.sample(rng))
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        if extra[0].abs() <= 100.0 { super::logistic::ETA } else { -1.0 }
    }
}
