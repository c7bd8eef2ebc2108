//! The law of a response given its linear predictor, for every family of a regression: what predictions, leave-one-out densities and effects have in common.

use std::f64::consts::PI;

use austerity_glm::glm::{Curve, Visitor};
use statrs::distribution::{ContinuousCDF as _, Normal as StandardNormal};

use crate::model::Family;

/// The law of a response given its linear predictor. `extra` holds logarithms; responses are as the user has them.
pub(super) trait Law: Sync {
    /// The expected response.
    fn mean(&self, eta: f64, extra: &[f64], trials: f64) -> f64;
    /// The standard noise at a probability level.
    fn noise(&self, level: f64, extra: &[f64]) -> f64;
    /// The quantile of a response, at a probability level and its standard noise.
    fn quantile(&self, level: (f64, f64), eta: f64, extra: &[f64], trials: f64) -> f64;
    /// What [`Law::log_density`] leaves out.
    fn constant(&self, y: f64, trials: f64) -> f64;
    /// The log density, up to the constant.
    fn log_density(&self, eta: f64, extra: &[f64], y: f64, trials: f64) -> f64;
    /// Its first and second derivatives in η and the extra parameters.
    fn curve(&self, eta: f64, extra: &[f64], y: f64, trials: f64) -> Curve;
}

/// Work on any law.
pub(super) trait Lawful: Sized {
    type Output;
    fn under(self, law: &impl Law) -> Self::Output;
}

/// Does the work under the law of a family.
pub(super) fn under<T: Lawful>(family: Family, task: T) -> T::Output {
    match family {
        Family::Glm(family) => family.visit(Task(task)),
        Family::Linear | Family::Own | Family::Components | Family::Field => task.under(&Normal),
    }
}

struct Task<T>(T);

impl<T: Lawful> Visitor for Task<T> {
    type Output = T::Output;

    fn visit<F: austerity_glm::glm::Family>(self, family: F) -> T::Output {
        self.0.under(&Listed(family))
    }
}

/// That of a family of the list.
struct Listed<F>(F);

impl<F: austerity_glm::glm::Family> Law for Listed<F> {
    #[inline]
    fn mean(&self, eta: f64, extra: &[f64], trials: f64) -> f64 {
        self.0.mean(eta, extra, trials)
    }

    fn noise(&self, level: f64, extra: &[f64]) -> f64 {
        self.0.noise(level, extra)
    }

    #[inline]
    fn quantile(&self, level: (f64, f64), eta: f64, extra: &[f64], trials: f64) -> f64 {
        self.0.quantile(level, eta, extra, trials)
    }

    fn constant(&self, y: f64, trials: f64) -> f64 {
        self.0.constant(y, trials)
    }

    #[inline]
    fn log_density(&self, eta: f64, extra: &[f64], y: f64, trials: f64) -> f64 {
        self.0.log_likelihood(extra, eta, self.0.kind().stored(y), trials)
    }

    #[inline]
    fn curve(&self, eta: f64, extra: &[f64], y: f64, trials: f64) -> Curve {
        self.0.row_curve(extra, eta, self.0.kind().stored(y), trials)
    }
}

/// Normal noise.
struct Normal;

impl Law for Normal {
    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        eta
    }

    fn noise(&self, level: f64, _extra: &[f64]) -> f64 {
        StandardNormal::standard().inverse_cdf(level)
    }

    fn quantile(&self, (_, noise): (f64, f64), eta: f64, extra: &[f64], _trials: f64) -> f64 {
        eta + extra[0].exp() * noise
    }

    fn constant(&self, _y: f64, _trials: f64) -> f64 {
        -0.5 * (2.0 * PI).ln()
    }

    fn log_density(&self, eta: f64, extra: &[f64], y: f64, _trials: f64) -> f64 {
        -0.5 * ((y - eta) * (-extra[0]).exp()).powi(2) - extra[0]
    }

    fn curve(&self, eta: f64, extra: &[f64], y: f64, _trials: f64) -> Curve {
        let (scale, mut curve) = ((-extra[0]).exp(), Curve::default());
        let distance = (y - eta) * scale;
        (curve.slope[0], curve.slope[1]) = (distance * scale, distance * distance - 1.0);
        curve.second[0][0] = -scale * scale;
        (curve.second[0][1], curve.second[1][0]) = (-2.0 * distance * scale, -2.0 * distance * scale);
        curve.second[1][1] = -2.0 * distance * distance;
        curve
    }
}
