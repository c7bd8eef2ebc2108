//! Unbiased estimates of e^D from independent unbiased estimates D̂₁, D̂₂, … of D.
//!
//! D is the log-likelihood ratio of all rows against a reference, D̂ that of a batch times the number of batches in the data. A plug-in e^D̂ is biased
//! upwards, by about e^{var(D̂)/2}. With c the `centre` (a guess of D) and r the `rate`:
//!
//! | series | estimate | batches |
//! |---|---|---|
//! | [`Series::Poisson`] | e^c · Π_{j ≤ J} (1 + (D̂_j − c)/r) | J ~ Poisson(r) |
//! | [`Series::KennedyBhanot`] | e^c · Σ_{k ≤ K} Π_{j ≤ k} (D̂_j − c)/(j·p_j) | K: the j-th is drawn after the one before with probability p_j = min(1, r/j) |
//!
//! The first is Wagner (1988) with the constants of Fearnhead, Papaspiliopoulos & Roberts (2008); its relative second moment is exp((s² + δ²)/r) with
//! s² = var(D̂) and δ = D − c, so that the number of rows read, not their grouping, decides. The second is Bhanot & Kennedy (1985) in the form of Lin, Liu &
//! Sloan (2000), a power series under Russian roulette; it needs r above |D̂ − c|, and a c below D̂: of an
//! alternating series nothing but noise is left. Logarithms are kept, so nothing overflows.
//!
//! Cost: r batches on average (Poisson), about r + √(πr/2) (Kennedy–Bhanot). A negative product is what it is: see the kernel on signs.

use rand::RngExt as _;
use rand_distr::Distribution as _;
use serde::{Deserialize, Serialize};

use austerity::error::{Result, setting};
use austerity::rng::Rng;

/// The largest rate: beyond, e^−r is no number.
const LARGEST_RATE: f64 = 1e6;

/// Which series is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Series {
    /// A product over a Poisson number of batches.
    Poisson,
    /// The power series of the exponential under Russian roulette.
    KennedyBhanot,
    /// e^D̂ of one batch: **biased**, for comparison only.
    PlugIn,
}

/// An estimator of e^D.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimator {
    /// The series.
    pub series: Series,
    /// r: how many batches, about.
    pub rate: f64,
    /// c: a guess of D, 0 where chains stay near the reference.
    pub centre: f64,
}

/// ± e^log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Log of the absolute value; −∞ of 0.
    pub log: f64,
    /// Whether it is below 0.
    pub negative: bool,
}

impl Estimate {
    const ONE: Self = Self { log: 0.0, negative: false };

    /// 1 or −1.
    #[must_use]
    pub fn sign(self) -> f64 {
        if self.negative { -1.0 } else { 1.0 }
    }

    /// The number itself, where it can be held.
    #[must_use]
    pub fn value(self) -> f64 {
        self.sign() * self.log.exp()
    }

    fn times(self, factor: f64) -> Self {
        Self { log: self.log + factor.abs().ln(), negative: self.negative != (factor < 0.0) }
    }

    fn plus(self, other: Self) -> Self {
        let (large, small) = if self.log >= other.log { (self, other) } else { (other, self) };
        if small.log == f64::NEG_INFINITY {
            return large;
        }
        let ratio = (small.log - large.log).exp();
        large.times(if large.negative == small.negative { 1.0 + ratio } else { 1.0 - ratio })
    }
}

impl Estimator {
    /// The Poisson estimator with `rate` batches on average.
    pub fn poisson(rate: f64) -> Result<Self> {
        Self { series: Series::Poisson, rate, centre: 0.0 }.checked()
    }

    /// The Kennedy–Bhanot estimator, whose first `rate` terms are always computed.
    pub fn kennedy_bhanot(rate: f64) -> Result<Self> {
        Self { series: Series::KennedyBhanot, rate, centre: 0.0 }.checked()
    }

    /// With another guess of D.
    pub fn centred(self, centre: f64) -> Result<Self> {
        Self { centre, ..self }.checked()
    }

    fn checked(self) -> Result<Self> {
        self.check().map(|()| self)
    }

    /// Refuses numbers that make no sense.
    pub(super) fn check(&self) -> Result<()> {
        if !(self.rate > 0.0 && self.rate <= LARGEST_RATE) {
            return Err(setting("rate of an estimator", self.rate, "above 0 and at most 1e6"));
        }
        if !self.centre.is_finite() {
            return Err(setting("centre of an estimator", self.centre, "a finite number"));
        }
        Ok(())
    }

    /// p_j: whether batch `j`, counted from 1, is drawn once the one before is.
    fn goes_on(&self, j: u64) -> f64 {
        (self.rate / j as f64).min(1.0)
    }

    /// How many batches this estimate takes.
    pub fn draw_batches(&self, rng: &mut Rng) -> u64 {
        match self.series {
            Series::PlugIn => 1,
            // `check` has seen to the rate.
            Series::Poisson => rand_distr::Poisson::new(self.rate).map_or(0, |law| law.sample(rng) as u64),
            Series::KennedyBhanot => {
                let mut batches = 0;
                while rng.random::<f64>() < self.goes_on(batches + 1) {
                    batches += 1;
                }
                batches
            }
        }
    }

    /// The estimate from totals of so many batches as [`Estimator::draw_batches`] said.
    #[must_use]
    pub fn of(&self, totals: &[f64]) -> Estimate {
        let one = Estimate::ONE;
        let Estimate { log, negative } = match self.series {
            Series::PlugIn => Estimate { log: totals.iter().sum::<f64>() - self.centre, negative: false },
            Series::Poisson => totals
                .iter()
                .fold(one, |product, total| product.times(1.0 + (total - self.centre) / self.rate)),
            Series::KennedyBhanot => {
                let (mut term, mut sum) = (one, one);
                for (j, total) in (1..).zip(totals) {
                    term = term.times((total - self.centre) / (j as f64 * self.goes_on(j)));
                    sum = sum.plus(term);
                }
                sum
            }
        };
        Estimate { log: log + self.centre, negative }
    }
}
