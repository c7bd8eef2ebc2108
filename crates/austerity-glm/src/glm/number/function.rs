//! Functions of one number, each with its first four derivatives and a bound of the fifth.
//!
//! That is all a [`Jet`](super::Jet) needs up to the fourth order, and all an [`Interval`] needs for bounds. A family may bring its own, as the negative
//! binomial does.
//!
//! | function | derivatives |
//! |---|---|
//! | log(1 + e^x) | p, w, wv, w(1 − 6w) with p = σ(x), q = 1 − p, w = pq, v = q − p |
//! | log Γ(x) | polygammas: recurrence up to 12, then the asymptotic series (Abramowitz & Stegun 6.4) |
//! | log Φ(x), x ≥ −5 | λ = φ/Φ and r = x + λ: λ, −λr, λ(r² − r'), … with λ' = −λr, r' = 1 − λr |
//! | log Φ(x), x < −5 | the same by continued fractions K_n = n/(a + K_{n+1}), a = −x: λ = a + K₁, r = K₁, K_n' = K_n(K_{n+1} − K_n), where nothing cancels |

use super::{Interval, ORDERS};

/// A function of one number.
pub trait Function {
    /// Its value.
    fn value(&self, x: f64) -> f64;

    /// Its value and derivatives up to `order`, at most 4; what is beyond is 0 or right.
    fn derivatives(&self, x: f64, order: usize) -> [f64; ORDERS];

    /// No |fifth derivative| in the interval is larger.
    fn largest_fifth(&self, x: Interval) -> f64;
}

/// e^x.
#[derive(Clone, Copy, Debug)]
pub struct Exp;

impl Function for Exp {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        x.exp()
    }

    #[inline(always)]
    fn derivatives(&self, x: f64, _order: usize) -> [f64; ORDERS] {
        [x.exp(); ORDERS]
    }

    fn largest_fifth(&self, x: Interval) -> f64 {
        x.high.exp() * (1.0 + 1e-12)
    }
}

/// log x.
#[derive(Clone, Copy, Debug)]
pub struct Ln;

/// Derivatives of log x from the first on.
#[inline(always)]
fn of_logarithm(value: f64, x: f64) -> [f64; ORDERS] {
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    [value, inverse, -square, 2.0 * square * inverse, -6.0 * square * square]
}

/// 24/x⁵ at the smallest x; ∞ where that is not positive.
fn fifth_of_logarithm(smallest: f64) -> f64 {
    if smallest > 0.0 { 24.0 * (1.0 + 1e-12) / smallest.powi(5) } else { f64::INFINITY }
}

impl Function for Ln {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        x.ln()
    }

    #[inline(always)]
    fn derivatives(&self, x: f64, _order: usize) -> [f64; ORDERS] {
        of_logarithm(x.ln(), x)
    }

    fn largest_fifth(&self, x: Interval) -> f64 {
        fifth_of_logarithm(x.low)
    }
}

/// log(1 + x).
#[derive(Clone, Copy, Debug)]
pub struct Ln1p;

impl Function for Ln1p {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        x.ln_1p()
    }

    #[inline(always)]
    fn derivatives(&self, x: f64, _order: usize) -> [f64; ORDERS] {
        of_logarithm(x.ln_1p(), 1.0 + x)
    }

    fn largest_fifth(&self, x: Interval) -> f64 {
        fifth_of_logarithm(1.0 + x.low)
    }
}

/// log(1 + e^x).
#[derive(Clone, Copy, Debug)]
pub struct Softplus;

/// p = σ(x), q = σ(−x), w = pq and v = q − p.
#[inline(always)]
pub(in crate::glm) fn logistic_parts(x: f64) -> [f64; 4] {
    let small = (-x.abs()).exp();
    let (low, high) = (small / (1.0 + small), 1.0 / (1.0 + small));
    let (p, q) = if x < 0.0 { (low, high) } else { (high, low) };
    [p, q, p * q, q - p]
}

/// The smallest |x| in an interval.
fn smallest_size(x: Interval) -> f64 {
    x.low.max(-x.high).max(0.0)
}

impl Function for Softplus {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        x.max(0.0) + (-x.abs()).exp().ln_1p()
    }

    #[inline(always)]
    fn derivatives(&self, x: f64, _order: usize) -> [f64; ORDERS] {
        let small = (-x.abs()).exp();
        let (low, high) = (small / (1.0 + small), 1.0 / (1.0 + small));
        let (p, q) = if x < 0.0 { (low, high) } else { (high, low) };
        let (w, v) = (p * q, q - p);
        [x.max(0.0) + small.ln_1p(), p, w, w * v, w * (1.0 - 6.0 * w)]
    }

    /// wv(1 − 12w): at most .1278, and at most w.
    fn largest_fifth(&self, x: Interval) -> f64 {
        (-smallest_size(x)).exp().min(0.128)
    }
}

/// log Γ(x) for x > 0.
#[derive(Clone, Copy, Debug)]
pub struct LnGamma;

/// B₂, B₄, ….
const BERNOULLI: [f64; 8] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
];

/// From here on the asymptotic series is exact to rounding.
const ASYMPTOTIC: f64 = 12.0;

impl Function for LnGamma {
    fn value(&self, x: f64) -> f64 {
        libm::lgamma(x)
    }

    fn derivatives(&self, x: f64, order: usize) -> [f64; ORDERS] {
        let mut all = [libm::lgamma(x), 0.0, 0.0, 0.0, 0.0];
        let mut x = x;
        if order == 0 {
            return all;
        }
        while x < ASYMPTOTIC {
            let inverse = 1.0 / x;
            let square = inverse * inverse;
            all[1] -= inverse;
            all[2] += square;
            all[3] -= 2.0 * square * inverse;
            all[4] += 6.0 * square * square;
            x += 1.0;
            // ∞ and NaN end it.
            if x.is_nan() {
                break;
            }
        }
        let inverse = 1.0 / x;
        let square = inverse * inverse;
        let mut sums = [0.0; 4];
        // Horner's rule in 1/x².
        for (k, bernoulli) in BERNOULLI.iter().enumerate().rev() {
            let two = 2.0 * (k + 1) as f64;
            let factors = [1.0 / two, 1.0, two + 1.0, (two + 1.0) * (two + 2.0)];
            for (sum, factor) in sums.iter_mut().zip(factors) {
                *sum = (*sum + bernoulli * factor) * square;
            }
        }
        all[1] += x.ln() - 0.5 * inverse - sums[0];
        all[2] += inverse + 0.5 * square + sums[1] * inverse;
        all[3] -= square * (1.0 + inverse + sums[2]);
        all[4] += square * inverse * (2.0 + 3.0 * inverse + sums[3]);
        all
    }

    /// Σ 24/(x + k)⁵ ≤ 24/x⁵ + 6/x⁴.
    fn largest_fifth(&self, x: Interval) -> f64 {
        if x.low > 0.0 { (24.0 / x.low + 6.0) / x.low.powi(4) * (1.0 + 1e-12) } else { f64::INFINITY }
    }
}

/// log Φ(x).
#[derive(Clone, Copy, Debug)]
pub struct LnNormal;

/// ½ log 2π.
const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;
/// Continued fractions take over below this.
const FAR: f64 = -5.0;
/// Terms of the continued fractions: what is left at a = 5 is e^{−80}.
const TERMS: u32 = 36;

/// K₁ to K₄ at a = −x ≥ 5.
fn fractions(a: f64) -> [f64; 4] {
    let mut next = 0.0;
    let mut all = [0.0; 4];
    for n in (1..=TERMS).rev() {
        next = f64::from(n) / (a + next);
        if n <= 4 {
            all[n as usize - 1] = next;
        }
    }
    all
}

impl Function for LnNormal {
    fn value(&self, x: f64) -> f64 {
        if x < FAR {
            // Φ = φ/λ.
            let a = -x;
            return -0.5 * a * a - HALF_LOG_TWO_PI - (a + fractions(a)[0]).ln();
        }
        let tail = 0.5 * libm::erfc(x.abs() * std::f64::consts::FRAC_1_SQRT_2);
        if x < 0.0 { tail.ln() } else { (-tail).ln_1p() }
    }

    fn derivatives(&self, x: f64, order: usize) -> [f64; ORDERS] {
        if order == 0 {
            return [self.value(x), 0.0, 0.0, 0.0, 0.0];
        }
        if x < FAR {
            let a = -x;
            let [k1, k2, k3, k4] = fractions(a);
            let ratio = a + k1;
            let value = -0.5 * a * a - HALF_LOG_TWO_PI - ratio.ln();
            let front = ratio * k1 * k1 * k2;
            let third = front * (k3 - k2);
            let fourth =
                third * (2.0 * (k2 - k1) - k1 + (k3 - k2)) + front * (k3 * (k4 - k3) - k2 * (k3 - k2));
            return [value, ratio, -ratio * k1, third, fourth];
        }
        let tail = 0.5 * libm::erfc(x.abs() * std::f64::consts::FRAC_1_SQRT_2);
        let (value, chance) = if x < 0.0 { (tail.ln(), tail) } else { ((-tail).ln_1p(), 1.0 - tail) };
        let ratio = (-0.5 * x * x - HALF_LOG_TWO_PI).exp() / chance;
        // λ underflows where x is large and r overflows where x is ∞.
        if ratio == 0.0 {
            return [value, 0.0, 0.0, 0.0, 0.0];
        }
        let r = x + ratio;
        let slope = 1.0 - ratio * r;
        let bend = r * r - slope;
        let third = ratio * bend;
        let fourth = ratio * (2.0 * r * slope - third) - ratio * r * bend;
        [value, ratio, -ratio * r, third, fourth]
    }

    /// Envelopes of the fifth derivative, which is at most .2505 (at .9), .049 below 0.
    fn largest_fifth(&self, x: Interval) -> f64 {
        if x.low >= 0.0 {
            (1.7 * (-0.25 * x.low * x.low).exp()).min(0.26)
        } else if x.high <= 0.0 {
            (32.0 / (1.0 - x.high).powi(5)).min(0.06)
        } else {
            0.26
        }
    }
}
