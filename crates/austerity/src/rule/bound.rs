//! How extreme the statistic must be: critical values per look.
//!
//! A look at n rows decides when |mean − μ0|/s > G_j. The family of Wang & Tsiatis (1987): G_j = G₀·x_j^{½−α},
//! where x_j is the share of the data π = n/N, or the information time t = π/(1−π) in which the statistic is
//! Brownian motion (Pocock 1977 is α = ½, constant bounds; O'Brien & Fleming 1979 is α = 1). The base is given
//! as G₀ or as ε with G₀ = Φ⁻¹(1−ε); ε is one-sided, a look has two-sided level 2ε. (The paper prints
//! G = Φ(1−ε) and calls Pocock α = 0.) With the Student statistic each G_j is replaced by the t quantile
//! (n−1 degrees) of the same tail probability. All of it is computed once, when the rule is built.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::error::{Result, setting};

/// The base level of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// ε in [0, ½]: the one-sided error allowed at a look; 0 never decides early, ½ always does.
    Epsilon(f64),
    /// G₀ ≥ 0 itself.
    Critical(f64),
}

/// How bounds change over the looks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Constant bounds.
    Pocock,
    /// Strict first, relaxed later: α = 1.
    ObrienFleming,
    /// Anything: α = ½ is Pocock, α = 1 O'Brien–Fleming.
    WangTsiatis {
        /// The exponent α.
        alpha: f64,
    },
}

/// The clock in which bounds change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Time {
    /// π = n/N.
    #[default]
    Share,
    /// t = π/(1−π): relaxes to 0 near full data for α > ½.
    Information,
}

/// Base × shape × clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The base level.
    pub base: Base,
    /// How it changes.
    pub shape: Shape,
    /// In which clock.
    #[serde(default)]
    pub time: Time,
}

/// The reference distribution of the statistic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Student t with n − 1 degrees of freedom.
    #[default]
    Student,
    /// Standard normal.
    Normal,
}

impl Bound {
    /// Constant bounds at level ε.
    #[must_use]
    pub fn pocock(epsilon: f64) -> Self {
        Self { base: Base::Epsilon(epsilon), shape: Shape::Pocock, time: Time::Share }
    }

    /// G₀·π^{½−α}.
    #[must_use]
    pub fn wang_tsiatis(critical: f64, alpha: f64) -> Self {
        Self { base: Base::Critical(critical), shape: Shape::WangTsiatis { alpha }, time: Time::Share }
    }

    /// Refuses ε outside [0, ½], negative G₀ and exponents that are not finite.
    pub fn check(&self) -> Result<()> {
        match self.base {
            Base::Epsilon(epsilon) if !(0.0..=0.5).contains(&epsilon) => {
                return Err(setting(
                    "epsilon",
                    epsilon,
                    "a number from 0 (exact) to 0.5 (first look decides)",
                ));
            }
            Base::Critical(critical) if critical.is_nan() || critical < 0.0 => {
                return Err(setting("critical value G0", critical, "0 or more"));
            }
            _ => {}
        }
        match self.shape {
            Shape::WangTsiatis { alpha } if !alpha.is_finite() => Err(setting(
                "alpha of the Wang–Tsiatis bound",
                alpha,
                "a finite number (0.5 is Pocock, 1 O'Brien–Fleming)",
            )),
            _ => Ok(()),
        }
    }

    /// G₀, whichever way the base is given.
    #[must_use]
    pub fn base_critical(&self) -> f64 {
        match self.base {
            Base::Epsilon(epsilon) => normal_upper(epsilon),
            Base::Critical(critical) => critical,
        }
    }

    /// The same shape with another G₀, the base given as before.
    #[must_use]
    pub fn with_base_critical(self, critical: f64) -> Self {
        let base = match self.base {
            Base::Epsilon(_) => Base::Epsilon(normal_tail(critical)),
            Base::Critical(_) => Base::Critical(critical),
        };
        Self { base, ..self }
    }

    /// The normal critical value at a look of `used` of `rows` rows.
    #[must_use]
    pub fn normal_critical(&self, used: usize, rows: usize) -> f64 {
        let base = self.base_critical();
        let exponent = match self.shape {
            Shape::Pocock => return base,
            Shape::ObrienFleming => -0.5,
            Shape::WangTsiatis { alpha } => 0.5 - alpha,
        };
        let share = used as f64 / rows as f64;
        let clock = match self.time {
            Time::Share => share,
            Time::Information => share / (1.0 - share),
        };
        // ε = ½ decides at the first look and ε = 0 never, whatever the clock says.
        if base == 0.0 || base == f64::INFINITY { base } else { base * clock.powf(exponent) }
    }

    /// The critical value for `statistic` at a look of `used` of `rows` rows.
    #[must_use]
    pub fn critical(&self, statistic: Statistic, used: usize, rows: usize) -> f64 {
        let normal = self.normal_critical(used, rows);
        if normal == 0.0 {
            return 0.0;
        }
        if used < 2 {
            return f64::INFINITY; // one row has no variance
        }
        match statistic {
            Statistic::Normal => normal,
            Statistic::Student => student_critical(normal, used - 1),
        }
    }
}

/// Upper ε point of the standard normal; +∞ at 0, exactly 0 at ½.
#[must_use]
pub fn normal_upper(epsilon: f64) -> f64 {
    if epsilon == 0.0 { f64::INFINITY } else { -Normal::standard().inverse_cdf(epsilon) }
}

/// Φ(−z), accurate in the tail.
pub fn normal_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

/// The t quantile (`freedom` degrees) with the tail probability that `normal` has under the normal law.
fn student_critical(normal: f64, freedom: usize) -> f64 {
    let tail = normal_tail(normal);
    if tail == 0.0 {
        return f64::INFINITY;
    }
    let Ok(law) = StudentsT::new(0.0, 1.0, freedom as f64) else {
        return f64::INFINITY;
    };
    let nu = freedom as f64;
    let start = student_expansion(normal, nu);
    if normal * normal < nu / 50.0 && nu >= 200.0 {
        return start;
    }
    // The t tail is the heavier one, so the quantile lies above the normal one: bracket, then bisect.
    let (mut low, mut high) = (normal, start.max(1.0));
    while law.sf(high) > tail {
        low = high;
        high *= 2.0;
        if high > 1e300 {
            return f64::INFINITY;
        }
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        *(if law.sf(middle) > tail { &mut low } else { &mut high }) = middle;
    }
    0.5 * (low + high)
}

/// Cornish–Fisher expansion of the t quantile in 1/ν (Abramowitz & Stegun 26.7.5). Where z² < ν/50 its error is below 1e-9.
fn student_expansion(z: f64, nu: f64) -> f64 {
    let w = z * z;
    let terms = [
        z * (w + 1.0) / 4.0,
        z * ((5.0 * w + 16.0) * w + 3.0) / 96.0,
        z * (((3.0 * w + 19.0) * w + 17.0) * w - 15.0) / 384.0,
        z * ((((79.0 * w + 776.0) * w + 1482.0) * w - 1920.0) * w - 945.0) / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / nu) + z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_quantiles() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 6e-7, "{a} against {b}");
        close(normal_upper(0.05), 1.644854);
        close(normal_upper(0.01), 2.326348);
        let t = |epsilon, n| Bound::pocock(epsilon).critical(Statistic::Student, n, 100_000);
        close(t(0.05, 500), 1.647913);
        close(t(0.01, 500), 2.333844);
        close(t(0.05, 100), 1.660391);
        close(t(0.01, 100), 2.364606);
    }

    /// The expansion against the tail function itself, where it is used and where the tail can still be told.
    #[test]
    fn expansion_has_the_right_tail() {
        for (z, freedom) in [(1.6, 200), (2.0, 300), (2.3, 499), (3.0, 1000), (6.0, 5000), (2.3, 100_000)] {
            let law = StudentsT::new(0.0, 1.0, f64::from(freedom)).unwrap();
            let tail = law.sf(student_expansion(z, f64::from(freedom)));
            assert!((tail / normal_tail(z) - 1.0).abs() < 1e-8, "{z} {freedom}: {tail}");
        }
    }

    #[test]
    fn shapes_and_clocks() {
        let g = |alpha, used| Bound::wang_tsiatis(2.0, alpha).normal_critical(used, 100);
        assert!((g(0.5, 25) - 2.0).abs() < 1e-15);
        assert!((g(0.75, 25) - 2.828427).abs() < 1e-6);
        assert!((g(1.0, 25) - 4.0).abs() < 1e-12);
        let fleming = Bound { base: Base::Critical(2.0), shape: Shape::ObrienFleming, time: Time::Share };
        assert_eq!(fleming.normal_critical(25, 100), g(1.0, 25));
        let clock = Bound { time: Time::Information, ..fleming };
        assert!((clock.normal_critical(50, 100) - 2.0).abs() < 1e-12);
        assert!(clock.normal_critical(99, 100) < 0.21);
        // An early O'Brien–Fleming look is out of reach of any t quantile, not a NaN.
        assert!(fleming.critical(Statistic::Student, 2, 100_000_000) > 1e6);
    }

    #[test]
    fn limits_of_epsilon() {
        for used in [1, 2, 50] {
            assert_eq!(Bound::pocock(0.5).critical(Statistic::Student, used, 100), 0.0);
            assert_eq!(Bound::pocock(0.0).critical(Statistic::Student, used, 100), f64::INFINITY);
        }
        for epsilon in [-0.1, 0.51, f64::NAN] {
            let message = Bound::pocock(epsilon).check().unwrap_err().to_string();
            assert!(message.contains("epsilon"), "{message}");
        }
        assert!(Bound::wang_tsiatis(-1.0, 0.5).check().is_err());
        assert!(Bound::wang_tsiatis(1.0, f64::NAN).check().is_err());
    }
}
