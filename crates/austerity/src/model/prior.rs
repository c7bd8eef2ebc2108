//! Priors of single coefficients: normal, Laplace, Student t, or flat.
//!
//! Log densities are up to the constant that the parameters of the prior fix, derivatives are exact; the
//! Laplace prior has no second derivative at its location, where 0 is returned.
//!
//! Searches for a mode round that kink ([`Prior::smooth`]).
//!
//! As text, the same in options and files: `normal:SD`, `laplace:SCALE`, `student:DF,SCALE`, `flat`, `rounded-laplace:SCALE`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, setting};

/// The prior of one coefficient, on the scale of the user's column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Prior {
    /// No information: log density 0 everywhere (improper).
    Flat,
    /// Normal with mean 0.
    Normal {
        /// Standard deviation.
        sd: f64,
    },
    /// Laplace (double exponential) at 0: density ∝ exp(−|θ|/scale).
    Laplace {
        /// Scale.
        scale: f64,
    },
    /// Student t at 0.
    Student {
        /// Degrees of freedom.
        freedom: f64,
        /// Scale.
        scale: f64,
    },
    /// Laplace at 0 with its kink rounded: density ∝ exp(−√(θ² + 4·scale²)/scale), of the curvature 1/(2·scale²) at 0.
    RoundedLaplace {
        /// Scale.
        scale: f64,
    },
}

impl Prior {
    /// Refuses scales that are not positive and finite.
    pub fn check(&self) -> Result<()> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(setting(name, value, "a positive finite number"))
            }
        };
        match *self {
            Self::Flat => Ok(()),
            Self::Normal { sd } => positive("prior sd", sd),
            Self::Laplace { scale } | Self::RoundedLaplace { scale } => positive("prior scale", scale),
            Self::Student { freedom, scale } => {
                positive("prior degrees of freedom", freedom)?;
                positive("prior scale", scale)
            }
        }
    }

    /// The same without a kink, for searches that need derivatives. A rounded Laplace prior pulls at large values as hard as the
    /// Laplace prior itself, and curves at 0 as if it were normal with the same variance.
    #[must_use]
    pub fn smooth(self) -> Self {
        match self {
            Self::Laplace { scale } => Self::RoundedLaplace { scale },
            other => other,
        }
    }

    /// Log density at `value`, up to a constant.
    #[must_use]
    #[inline]
    pub fn log_density(&self, value: f64) -> f64 {
        match *self {
            Self::Flat => 0.0,
            Self::Normal { sd } => {
                let z = value / sd;
                -0.5 * z * z
            }
            Self::Laplace { scale } => -value.abs() / scale,
            Self::RoundedLaplace { scale } => -(value / scale).hypot(2.0),
            Self::Student { freedom, scale } => {
                let z = value / scale;
                -0.5 * (freedom + 1.0) * (z * z / freedom).ln_1p()
            }
        }
    }

    /// First and second derivative of the log density at `value`.
    #[must_use]
    pub fn derivatives(&self, value: f64) -> (f64, f64) {
        match *self {
            Self::Flat => (0.0, 0.0),
            Self::Normal { sd } => (-value / (sd * sd), -1.0 / (sd * sd)),
            Self::Laplace { scale } => {
                let sign = if value == 0.0 { 0.0 } else { value.signum() };
                (-sign / scale, 0.0)
            }
            Self::RoundedLaplace { scale } => {
                let z = value / scale;
                let root = z.hypot(2.0);
                (-z / (root * scale), -4.0 / (root * root * root * scale * scale))
            }
            Self::Student { freedom, scale } => {
                let a = freedom * scale * scale;
                let s = a + value * value;
                (-(freedom + 1.0) * value / s, -(freedom + 1.0) * (a - value * value) / (s * s))
            }
        }
    }
}

impl fmt::Display for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => f.write_str("flat"),
            Self::Normal { sd } => write!(f, "normal:{sd}"),
            Self::Laplace { scale } => write!(f, "laplace:{scale}"),
            Self::RoundedLaplace { scale } => write!(f, "rounded-laplace:{scale}"),
            Self::Student { freedom, scale } => write!(f, "student:{freedom},{scale}"),
        }
    }
}

impl FromStr for Prior {
    type Err = Error;

    /// Reads `normal:SD`, `laplace:SCALE`, `student:DF,SCALE` or `flat`, and checks the numbers.
    fn from_str(text: &str) -> Result<Self> {
        let refused =
            || setting("prior", format!("`{text}`"), "normal:SD, laplace:SCALE, student:DF,SCALE or flat");
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
            ("normal", &[sd]) => Self::Normal { sd },
            ("laplace", &[scale]) => Self::Laplace { scale },
            ("rounded-laplace", &[scale]) => Self::RoundedLaplace { scale },
            ("student", &[freedom, scale]) => Self::Student { freedom, scale },
            _ => return Err(refused()),
        };
        prior.check()?;
        Ok(prior)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_log_density() {
        let h = 1e-5;
        for prior in [
            Prior::Flat,
            Prior::Normal { sd: 2.0 },
            Prior::Laplace { scale: 0.7 },
            Prior::RoundedLaplace { scale: 0.7 },
            Prior::Student { freedom: 3.0, scale: 1.5 },
        ] {
            for value in [-3.0, -0.2, 0.4, 7.0] {
                let f = |x| prior.log_density(x);
                let (first, second) = prior.derivatives(value);
                assert!((first - (f(value + h) - f(value - h)) / (2.0 * h)).abs() < 1e-8);
                assert!((second - (f(value + h) - 2.0 * f(value) + f(value - h)) / (h * h)).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn text_there_and_back() {
        for prior in [
            Prior::Flat,
            Prior::Normal { sd: 2.5 },
            Prior::Laplace { scale: 1e-3 },
            Prior::RoundedLaplace { scale: 1e-3 },
            Prior::Student { freedom: 3.0, scale: 0.1 },
        ] {
            assert_eq!(prior.to_string().parse(), Ok(prior));
        }
        assert_eq!(" Student : 3 , 1 ".parse(), Ok(Prior::Student { freedom: 3.0, scale: 1.0 }));
        for bad in
            ["", "normal", "normal:", "normal:1,2", "normal:x", "gauss:1", "flat:1", "student:3", "normal:-1"]
        {
            assert!(bad.parse::<Prior>().is_err(), "{bad}");
        }
        let message = "gauss:1".parse::<Prior>().unwrap_err().to_string();
        assert!(message.contains("gauss:1") && message.contains("normal:SD"), "{message}");
    }

    #[test]
    fn rounding_a_kink_leaves_the_pull() {
        let scale = 0.01;
        let smooth = Prior::Laplace { scale }.smooth();
        assert!((smooth.derivatives(0.0).1 * 2.0 * scale * scale + 1.0).abs() < 1e-12);
        assert!((smooth.derivatives(1.0).0 * scale + 1.0).abs() < 1e-3);
        assert_eq!(Prior::Normal { sd: 2.0 }.smooth(), Prior::Normal { sd: 2.0 });
    }

    #[test]
    fn scales_must_be_positive() {
        for prior in [
            Prior::Normal { sd: 0.0 },
            Prior::Laplace { scale: f64::NAN },
            Prior::Student { freedom: -1.0, scale: 1.0 },
            Prior::Student { freedom: 1.0, scale: f64::INFINITY },
        ] {
            assert!(prior.check().is_err());
        }
        assert!(Prior::Flat.check().is_ok());
    }
}
