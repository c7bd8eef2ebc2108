//! Student t regression whose degrees of freedom ν are sampled too: log σ and log ν follow the coefficients.
//!
//! With s = log σ, n = log ν and z = (y − η)e^{−s} the log-likelihood is
//!
//! ```text
//! g(n) − s − (ν + 1)/2·log(1 + z²/ν),    g(n) = log Γ((ν + 1)/2) − log Γ(ν/2) − n/2
//! ```
//!
//! g is one function with derivatives of its own, since its terms cancel where ν is large: g → −½ log 2 − 1/(4ν) there.
//!
//! No kernel: rows are computed in f64. Use [`Student`](crate::glm::Student) where ν is known.

use std::f64::consts::{LN_2, PI};

use rand_distr::{Distribution as _, StudentT};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::glm::derived::Derived;
use crate::glm::number::{Function, Interval, Jet, Number, ORDERS};
use crate::glm::{Extra, Family};
use crate::{NoiseTails, Prior, ResponseKind};
use austerity::rng::Rng;

/// From this ν on g is its asymptotic series.
const LARGE: f64 = 1e4;

/// Real responses with Student t errors, their degrees of freedom sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StudentNu;

/// g.
#[derive(Clone, Copy, Debug)]
struct Normaliser;

fn normaliser<T: Number>(n: T) -> T {
    let nu = n.exp();
    if nu.value() > LARGE {
        // The next term is 1/(20ν⁵).
        let inverse = (-n).exp();
        return inverse * -0.25 + inverse.square() * inverse * (1.0 / 24.0) - 0.5 * LN_2;
    }
    ((nu + 1.0) * 0.5).ln_gamma() - (nu * 0.5).ln_gamma() - n * 0.5
}

impl Function for Normaliser {
    fn value(&self, n: f64) -> f64 {
        normaliser(n)
    }

    fn derivatives(&self, n: f64, _order: usize) -> [f64; ORDERS] {
        let mut all = normaliser(Jet::<f64, 1, ORDERS>::variable(n, 0, 1.0)).coefficients;
        all.iter_mut().zip([1.0, 1.0, 2.0, 6.0, 24.0]).for_each(|(value, factorial)| *value *= factorial);
        all
    }

    /// At most .09993, and at most 1/(4ν).
    fn largest_fifth(&self, n: Interval) -> f64 {
        (0.26 * (-n.low).exp()).min(0.1)
    }
}

impl Family for StudentNu {
    const USUAL: Self = Self;
    const NAME: &'static str = "student-nu";
    const WORDS: &'static str = "regression with Student-t noise, degrees of freedom sampled";
    const EFFECT: &'static str = "Change of the mean response";
    const ABOUT: &'static str = "real responses, Student-t noise, ν sampled";
    const KIND: ResponseKind = ResponseKind::Real;
    const EXTRA: &'static [Extra] = &[
        Extra::SIGMA,
        Extra {
            name: "nu",
            about: "degrees of freedom",
            typical: 4.0,
            prior: Some(Prior::LogNormal { mean: 2.0, sd: 1.0 }),
        },
    ];
    const TAILS: NoiseTails = NoiseTails::Heavy;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, _trials: f64) -> T {
        let (s, n) = (extra[0], extra[1]);
        let ratio = (-eta + response) * (-s).exp();
        let logarithm = (ratio.square() * (-n).exp()).ln_1p();
        n.apply(&Normaliser) - s - (n.exp() + 1.0) * logarithm * 0.5
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        eta
    }

    fn constant(&self, _response: f64, _trials: f64) -> f64 {
        -0.5 * PI.ln()
    }

    fn noise(&self, level: f64, extra: &[f64]) -> f64 {
        StudentsT::new(0.0, 1.0, extra[1].exp()).map_or(f64::NAN, |law| law.inverse_cdf(level))
    }

    fn quantile(&self, (_, noise): (f64, f64), eta: f64, extra: &[f64], _trials: f64) -> f64 {
        eta + extra[0].exp() * noise
    }

    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], _trials: f64) -> f64 {
        let noise = StudentT::new(extra[1].exp()).map_or(f64::NAN, |law| law.sample(rng));
        eta + extra[0].exp() * noise
    }

    fn unit(&self, extra: &[f64]) -> f64 {
        extra[0].exp()
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        if extra.iter().all(|log| log.abs() <= 30.0) { 1e15 } else { -1.0 }
    }
}
