//! Priors of single parameters: normal, Laplace, Student t or flat for coefficients; half-normal, half-Student, exponential,
//! gamma or log-normal for parameters that are positive.
//!
//! Log densities are up to the constant that the numbers of the prior fix, derivatives are exact; the
//! Laplace prior has no second derivative at its mean, where 0 is returned. Searches for a mode round that kink ([`Prior::smooth`]).
//!
//! A state holds the *logarithm* of a positive parameter σ. Its prior is stated for σ itself; as a function of s = log σ the
//! log density is log p(eˢ) + s, the change of variables included.
//!
//! As text, the same in options and files: `normal:SD`, `normal:MEAN,SD`, `laplace:SCALE`, `laplace:MEAN,SCALE`, `student:DF,SCALE`,
//! `student:DF,MEAN,SCALE`, `flat`; `half-normal:SCALE`, `half-student:DF,SCALE`, `exponential:RATE`, `gamma:SHAPE,RATE`, `log-normal:MEAN,SD`.
//!
//! How priors of several parameters make one is in [`super::priors`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use austerity::error::{Error, Result, setting};

/// The forms that a prior is written in.
const FORMS: &str = "normal:SD, laplace:SCALE, student:DF,SCALE (with a mean: normal:MEAN,SD, laplace:MEAN,SCALE, student:DF,MEAN,SCALE) or flat; \
     for a positive parameter half-normal:SCALE, half-student:DF,SCALE, exponential:RATE, gamma:SHAPE,RATE or log-normal:MEAN,SD";

/// The prior of one parameter, on the scale of the user's column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Prior {
    /// No information: log density 0 everywhere (improper).
    Flat,
    /// Normal.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
    /// Laplace (double exponential): density ∝ exp(−|θ − mean|/scale).
    Laplace {
        /// Mean.
        mean: f64,
        /// Scale.
        scale: f64,
    },
    /// Student t.
    Student {
        /// Degrees of freedom.
        freedom: f64,
        /// Centre: the mean where there is one.
        mean: f64,
        /// Scale.
        scale: f64,
    },
    /// Laplace with its kink rounded: density ∝ exp(−√((θ − mean)² + 4·scale²)/scale), of the curvature 1/(2·scale²) at the mean.
    RoundedLaplace {
        /// Mean.
        mean: f64,
        /// Scale.
        scale: f64,
    },
    /// The positive half of a normal distribution around 0, of a positive parameter.
    HalfNormal {
        /// Scale: the standard deviation of the whole.
        scale: f64,
    },
    /// The positive half of a Student t distribution around 0, of a positive parameter.
    HalfStudent {
        /// Degrees of freedom.
        freedom: f64,
        /// Scale.
        scale: f64,
    },
    /// Exponential, of a positive parameter.
    Exponential {
        /// Rate: one over the mean.
        rate: f64,
    },
    /// Gamma, of a positive parameter.
    Gamma {
        /// Shape.
        shape: f64,
        /// Rate: shape over mean.
        rate: f64,
    },
    /// Log-normal, of a positive parameter: its logarithm is normal.
    LogNormal {
        /// Mean of the logarithm.
        mean: f64,
        /// Standard deviation of the logarithm.
        sd: f64,
    },
}

impl Prior {
    /// Normal around 0.
    #[must_use]
    pub const fn normal(sd: f64) -> Self {
        Self::Normal { mean: 0.0, sd }
    }

    /// Laplace around 0.
    #[must_use]
    pub const fn laplace(scale: f64) -> Self {
        Self::Laplace { mean: 0.0, scale }
    }

    /// Student t around 0.
    #[must_use]
    pub const fn student(freedom: f64, scale: f64) -> Self {
        Self::Student { freedom, mean: 0.0, scale }
    }

    /// The same around another mean; flat priors and those of positive parameters have none to move.
    #[must_use]
    pub const fn around(self, mean: f64) -> Self {
        match self {
            Self::Normal { sd, .. } => Self::Normal { mean, sd },
            Self::Laplace { scale, .. } => Self::Laplace { mean, scale },
            Self::Student { freedom, scale, .. } => Self::Student { freedom, mean, scale },
            Self::RoundedLaplace { scale, .. } => Self::RoundedLaplace { mean, scale },
            other => other,
        }
    }

    /// Whether it is a prior of a positive parameter, whose logarithm the state holds.
    #[must_use]
    pub const fn is_positive(&self) -> bool {
        matches!(
            self,
            Self::HalfNormal { .. }
                | Self::HalfStudent { .. }
                | Self::Exponential { .. }
                | Self::Gamma { .. }
                | Self::LogNormal { .. }
        )
    }

    /// The same prior of a positive parameter: a prior around 0 keeps its positive half. `None` where there is no such prior.
    #[must_use]
    pub fn positive(self) -> Option<Self> {
        match self {
            Self::Normal { mean: 0.0, sd } => Some(Self::HalfNormal { scale: sd }),
            Self::Student { freedom, mean: 0.0, scale } => Some(Self::HalfStudent { freedom, scale }),
            Self::Laplace { mean: 0.0, scale } => Some(Self::Exponential { rate: 1.0 / scale }),
            other if other.is_positive() => Some(other),
            _ => None,
        }
    }

    /// Whether the log density is concave, so that a concave log-likelihood times it has one mode.
    #[must_use]
    pub const fn is_log_concave(&self) -> bool {
        match self {
            // Of the logarithm of the parameter: s − ½(eˢ/scale)² and shape·s − rate·eˢ are concave.
            Self::Flat
            | Self::Normal { .. }
            | Self::Laplace { .. }
            | Self::RoundedLaplace { .. }
            | Self::HalfNormal { .. }
            | Self::Exponential { .. }
            | Self::Gamma { .. }
            | Self::LogNormal { .. } => true,
            Self::Student { .. } | Self::HalfStudent { .. } => false,
        }
    }

    /// Mean and standard deviation of the parameter, where there are any; the centre of a Student t without a mean.
    #[must_use]
    pub fn moments(&self) -> Option<(f64, f64)> {
        let half = std::f64::consts::FRAC_2_PI.sqrt();
        match *self {
            Self::Normal { mean, sd } => Some((mean, sd)),
            Self::Laplace { mean, scale } => Some((mean, scale * std::f64::consts::SQRT_2)),
            Self::RoundedLaplace { mean, scale } => Some((mean, 2.0 * scale)),
            Self::Student { freedom, mean, scale } if freedom > 2.0 => {
                Some((mean, scale * (freedom / (freedom - 2.0)).sqrt()))
            }
            Self::HalfNormal { scale } => Some((scale * half, scale * (1.0 - half * half).sqrt())),
            Self::Exponential { rate } => Some((1.0 / rate, 1.0 / rate)),
            Self::Gamma { shape, rate } => Some((shape / rate, shape.sqrt() / rate)),
            // The moments of other heavy tails say little, or do not exist.
            Self::Flat | Self::Student { .. } | Self::HalfStudent { .. } | Self::LogNormal { .. } => None,
        }
    }

    /// A draw of the coordinate that a state holds; `None` of a flat prior.
    pub fn draw(&self, rng: &mut impl rand::Rng) -> Option<f64> {
        use rand_distr::{Distribution as _, Exp1, StandardNormal, StudentT};
        let normal = |rng: &mut _| -> f64 { StandardNormal.sample(rng) };
        // The degrees of freedom are positive by `check`.
        let student = |freedom: f64, rng: &mut _| StudentT::new(freedom).map_or(0.0, |t| t.sample(rng));
        Some(match *self {
            Self::Flat => return None,
            Self::Normal { mean, sd } | Self::LogNormal { mean, sd } => mean + sd * normal(rng),
            Self::Laplace { mean, scale } | Self::RoundedLaplace { mean, scale } => {
                let size: f64 = Exp1.sample(rng);
                mean + scale * size * normal(rng).signum()
            }
            Self::Student { freedom, mean, scale } => mean + scale * student(freedom, rng),
            Self::HalfNormal { scale } => (scale * normal(rng).abs()).ln(),
            Self::HalfStudent { freedom, scale } => (scale * student(freedom, rng).abs()).ln(),
            Self::Exponential { rate } => {
                let size: f64 = Exp1.sample(rng);
                (size / rate).ln()
            }
            // log Γ(a) = log Γ(a + 1) + log(U)/a keeps tiny draws apart from 0.
            Self::Gamma { shape, rate } => {
                let more = rand_distr::Gamma::new(shape + 1.0, 1.0).map_or(1.0, |law| law.sample(rng));
                let size: f64 = Exp1.sample(rng);
                more.ln() - size / shape - rate.ln()
            }
        })
    }

    /// Refuses scales that are not positive and finite, and means that are not finite.
    pub fn check(&self) -> Result<()> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(setting(name, value, "a positive finite number"))
            }
        };
        let finite = |value: f64| {
            if value.is_finite() { Ok(()) } else { Err(setting("prior mean", value, "a finite number")) }
        };
        match *self {
            Self::Flat => Ok(()),
            Self::Normal { mean, sd } | Self::LogNormal { mean, sd } => {
                finite(mean)?;
                positive("prior sd", sd)
            }
            Self::Laplace { mean, scale } | Self::RoundedLaplace { mean, scale } => {
                finite(mean)?;
                positive("prior scale", scale)
            }
            Self::Student { freedom, mean, scale } => {
                finite(mean)?;
                positive("prior degrees of freedom", freedom)?;
                positive("prior scale", scale)
            }
            Self::HalfNormal { scale } => positive("prior scale", scale),
            Self::HalfStudent { freedom, scale } => {
                positive("prior degrees of freedom", freedom)?;
                positive("prior scale", scale)
            }
            Self::Exponential { rate } => positive("prior rate", rate),
            Self::Gamma { shape, rate } => {
                positive("prior shape", shape)?;
                positive("prior rate", rate)
            }
        }
    }

    /// The same without a kink, for searches that need derivatives. A rounded Laplace prior pulls at large values as hard as the
    /// Laplace prior itself, and curves at its mean as if it were normal with the same variance.
    #[must_use]
    pub const fn smooth(self) -> Self {
        match self {
            Self::Laplace { mean, scale } => Self::RoundedLaplace { mean, scale },
            other => other,
        }
    }

    /// Log density at `value`, up to a constant: of the coordinate that a state holds.
    #[must_use]
    #[inline]
    pub fn log_density(&self, value: f64) -> f64 {
        match *self {
            Self::Flat => 0.0,
            Self::Normal { mean, sd } | Self::LogNormal { mean, sd } => {
                let z = (value - mean) / sd;
                -0.5 * z * z
            }
            Self::Laplace { mean, scale } => -(value - mean).abs() / scale,
            Self::RoundedLaplace { mean, scale } => -((value - mean) / scale).hypot(2.0),
            Self::Student { freedom, mean, scale } => {
                let z = (value - mean) / scale;
                -0.5 * (freedom + 1.0) * (z * z / freedom).ln_1p()
            }
            Self::HalfNormal { scale } => {
                let z = value.exp() / scale;
                value - 0.5 * z * z
            }
            Self::HalfStudent { freedom, scale } => {
                let z = value.exp() / scale;
                value - 0.5 * (freedom + 1.0) * (z * z / freedom).ln_1p()
            }
            Self::Exponential { rate } => value - rate * value.exp(),
            Self::Gamma { shape, rate } => shape * value - rate * value.exp(),
        }
    }

    /// First and second derivative of the log density at `value`.
    #[must_use]
    pub fn derivatives(&self, value: f64) -> (f64, f64) {
        match *self {
            Self::Flat => (0.0, 0.0),
            Self::Normal { mean, sd } | Self::LogNormal { mean, sd } => {
                (-(value - mean) / (sd * sd), -1.0 / (sd * sd))
            }
            Self::Laplace { mean, scale } => {
                let away = value - mean;
                let sign = if away == 0.0 { 0.0 } else { away.signum() };
                (-sign / scale, 0.0)
            }
            Self::RoundedLaplace { mean, scale } => {
                let z = (value - mean) / scale;
                let root = z.hypot(2.0);
                (-z / (root * scale), -4.0 / (root * root * root * scale * scale))
            }
            Self::Student { freedom, mean, scale } => {
                let (a, away) = (freedom * scale * scale, value - mean);
                let s = a + away * away;
                (-(freedom + 1.0) * away / s, -(freedom + 1.0) * (a - away * away) / (s * s))
            }
            Self::HalfNormal { scale } => {
                let z = value.exp() / scale;
                (1.0 - z * z, -2.0 * z * z)
            }
            Self::HalfStudent { freedom, scale } => {
                // With v = z²/ν: d/ds of ½(ν + 1) log(1 + v) is (ν + 1)·v/(1 + v). One over a large v does not overflow.
                let z = value.exp() / scale;
                let share = 1.0 / (1.0 + freedom / (z * z));
                (1.0 - (freedom + 1.0) * share, -2.0 * (freedom + 1.0) * share * (1.0 - share))
            }
            Self::Exponential { rate } => {
                let pull = rate * value.exp();
                (1.0 - pull, -pull)
            }
            Self::Gamma { shape, rate } => {
                let pull = rate * value.exp();
                (shape - pull, -pull)
            }
        }
    }
}

impl fmt::Display for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Flat => f.write_str("flat"),
            Self::Normal { mean: 0.0, sd } => write!(f, "normal:{sd}"),
            Self::Normal { mean, sd } => write!(f, "normal:{mean},{sd}"),
            Self::Laplace { mean: 0.0, scale } => write!(f, "laplace:{scale}"),
            Self::Laplace { mean, scale } => write!(f, "laplace:{mean},{scale}"),
            Self::RoundedLaplace { mean: 0.0, scale } => write!(f, "rounded-laplace:{scale}"),
            Self::RoundedLaplace { mean, scale } => write!(f, "rounded-laplace:{mean},{scale}"),
            Self::Student { freedom, mean: 0.0, scale } => write!(f, "student:{freedom},{scale}"),
            Self::Student { freedom, mean, scale } => write!(f, "student:{freedom},{mean},{scale}"),
            Self::HalfNormal { scale } => write!(f, "half-normal:{scale}"),
            Self::HalfStudent { freedom, scale } => write!(f, "half-student:{freedom},{scale}"),
            Self::Exponential { rate } => write!(f, "exponential:{rate}"),
            Self::Gamma { shape, rate } => write!(f, "gamma:{shape},{rate}"),
            Self::LogNormal { mean, sd } => write!(f, "log-normal:{mean},{sd}"),
        }
    }
}

impl FromStr for Prior {
    type Err = Error;

    /// Reads a prior as [`super::prior`] writes it, and checks the numbers.
    fn from_str(text: &str) -> Result<Self> {
        let refused = || setting("prior", format!("`{text}`"), FORMS);
        let (name, numbers) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let numbers: Vec<f64> = match numbers.trim() {
            "" => Vec::new(),
            numbers => numbers
                .split(',')
                .map(|number| number.trim().parse().map_err(|_| refused()))
                .collect::<Result<_>>()?,
        };
        let prior = match (name.trim().to_ascii_lowercase().as_str(), &numbers[..]) {
            ("flat", []) => Self::Flat,
            ("normal", &[sd]) => Self::normal(sd),
            ("normal", &[mean, sd]) => Self::Normal { mean, sd },
            ("laplace", &[scale]) => Self::laplace(scale),
            ("laplace", &[mean, scale]) => Self::Laplace { mean, scale },
            ("rounded-laplace", &[scale]) => Self::laplace(scale).smooth(),
            ("rounded-laplace", &[mean, scale]) => Self::RoundedLaplace { mean, scale },
            ("student", &[freedom, scale]) => Self::student(freedom, scale),
            ("student", &[freedom, mean, scale]) => Self::Student { freedom, mean, scale },
            ("half-normal", &[scale]) => Self::HalfNormal { scale },
            ("half-student", &[freedom, scale]) => Self::HalfStudent { freedom, scale },
            ("exponential", &[rate]) => Self::Exponential { rate },
            ("gamma", &[shape, rate]) => Self::Gamma { shape, rate },
            ("log-normal", &[mean, sd]) => Self::LogNormal { mean, sd },
            _ => return Err(refused()),
        };
        prior.check()?;
        Ok(prior)
    }
}

#[cfg(test)]
mod tests;
