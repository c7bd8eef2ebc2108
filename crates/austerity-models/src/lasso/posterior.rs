//! The posterior of one coefficient under an L1 prior, in closed form.
//!
//! On either side of 0 it is a Gaussian of variance 1/A cut at 0. The shares, moments and tails of the two sides are
//! formed from log Φ and from Laplace's continued fraction (Abramowitz & Stegun 1964, 26.2.14), so that nothing
//! cancels a hundred standard deviations out, where the toy's lesser side has its Gaussian. Exact to rounding.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// exp(−½Aθ² + Bθ − λ₀|θ|), normalised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LassoPosterior {
    pub(super) curvature: f64,
    pub(super) slope: f64,
    rate: f64,
    positive: Side,
    negative: Side,
}

/// One half of the posterior, mirrored so that it lies on θ > 0: N(t·sd, sd²) cut at 0, sd = 1/√A.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Side {
    t: f64,
    /// Its share of the posterior.
    share: f64,
    /// First and second moment in units of sd and sd².
    first: f64,
    second: f64,
}

impl LassoPosterior {
    pub(super) fn new(curvature: f64, slope: f64, rate: f64) -> Self {
        let root = curvature.sqrt();
        let ts = [(slope - rate) / root, (-slope - rate) / root];
        let logs = ts.map(|t| log_phi(t) + 0.5 * t * t);
        let side = |i: usize| {
            let (first, second) = cut_moments(ts[i]);
            Side { t: ts[i], share: 1.0 / (1.0 + (logs[1 - i] - logs[i]).exp()), first, second }
        };
        Self { curvature, slope, rate, positive: side(0), negative: side(1) }
    }

    /// Where the density is largest.
    #[must_use]
    pub fn mode(&self) -> f64 {
        let size = (self.slope.abs() - self.rate).max(0.0) / self.curvature;
        size.copysign(self.slope)
    }

    /// The density at `theta`.
    #[must_use]
    pub fn density(&self, theta: f64) -> f64 {
        let root = self.curvature.sqrt();
        let side = if theta >= 0.0 { self.positive } else { self.negative };
        let u = theta.abs() * root - side.t;
        side.share * root / (2.0 * PI).sqrt() * (-0.5 * u * u - log_phi(side.t)).exp()
    }

    /// P(θ ≤ `theta`).
    #[must_use]
    pub fn cumulative(&self, theta: f64) -> f64 {
        if theta >= 0.0 {
            1.0 - self.positive.beyond(theta * self.curvature.sqrt())
        } else {
            self.negative.beyond(-theta * self.curvature.sqrt())
        }
    }

    /// The value below which a share `level` of the posterior lies (by bisection).
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        // Forty sds beyond either Gaussian's mean leave nothing out.
        let root = self.curvature.sqrt();
        let mut high = (self.positive.t.max(0.0) + 40.0) / root;
        let mut low = -(self.negative.t.max(0.0) + 40.0) / root;
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if self.cumulative(middle) < level {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Posterior mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let (p, n) = (self.positive, self.negative);
        (p.share * p.first - n.share * n.first) / self.curvature.sqrt()
    }

    /// Posterior standard deviation.
    #[must_use]
    pub fn sd(&self) -> f64 {
        let (p, n) = (self.positive, self.negative);
        let mean = p.share * p.first - n.share * n.first;
        let spread = p.share * p.second + n.share * n.second - mean * mean;
        (spread.max(0.0) / self.curvature).sqrt()
    }
}

impl Side {
    /// Posterior mass of this side beyond `u` ≥ 0, in units of sd from 0.
    fn beyond(&self, u: f64) -> f64 {
        self.share * (log_phi(self.t - u) - log_phi(self.t)).exp()
    }
}

/// From here on the continued fraction takes over from erfc.
pub(super) const FAR: f64 = 5.0;

/// c(a) = 1/(a + 2/(a + 3/(a + …))): Laplace's fraction for φ(a)/Φ(−a) = a + c(a), and its first denominator's
/// tail k = 2/(a + 3/(…)). Eighty terms give full precision at a ≥ [`FAR`].
fn fraction(a: f64) -> (f64, f64) {
    let mut k = 0.0;
    for term in (2..=80).rev() {
        k = f64::from(term) / (a + k);
    }
    (1.0 / (a + k), k)
}

/// log Φ(t).
pub(super) fn log_phi(t: f64) -> f64 {
    if t < -FAR {
        let (c, _) = fraction(-t);
        -0.5 * t * t - 0.5 * (2.0 * PI).ln() - (-t + c).ln()
    } else if t > 0.0 {
        (-0.5 * libm::erfc(t * FRAC_1_SQRT_2)).ln_1p()
    } else {
        (0.5 * libm::erfc(-t * FRAC_1_SQRT_2)).ln()
    }
}

/// First and second moment about 0 of N(t, 1) cut to the positive half line, without cancellation.
pub(super) fn cut_moments(t: f64) -> (f64, f64) {
    if t < -FAR {
        let (c, k) = fraction(-t);
        return (c, k * c);
    }
    let hazard = (-0.5 * t * t - 0.5 * (2.0 * PI).ln() - log_phi(t)).exp();
    (t + hazard, 1.0 + t * (t + hazard))
}
