//! Claims, fixed before anything is run: whose words they are, what is measured, and the band it must fall into.
//!
//! A [`Claim`] is a constant. Its [`Band`] is the threshold, written beside the claim on every page. What an experiment hands over is one
//! [`Estimate`] or several; [`Claim::judge`] compares their simultaneous 99 % intervals (Student's t, Bonferroni over the estimates) with
//! the band:
//!
//! | over | holds | differs | undecided |
//! |---|---|---|---|
//! | every estimate | all intervals inside | one interval outside | else |
//! | some estimate | one interval inside | all intervals outside | else |
//!
//! So a wrong "holds" and a wrong "differs" each have probability 1 % at most, and choosing the best of several is paid for. A number that is
//! computed rather than sampled has an interval of no width. Cost: none. Not for estimates whose error is itself unknown.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

/// Probability that one of the intervals of a claim misses its value.
pub const LEVEL: f64 = 0.01;

/// Whose words a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Printed in the paper.
    Paper,
    /// In the paper's source, but commented out: never printed.
    Commented,
    /// Follows from the paper's formulas; the paper does not say it in these words.
    Derived,
    /// Ours.
    Own,
}

impl Source {
    /// All of them, in the order of counts.
    pub const ALL: [Self; 4] = [Self::Paper, Self::Commented, Self::Derived, Self::Own];

    /// What a page calls it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Paper => "printed in the paper",
            Self::Commented => "commented out in the paper's source",
            Self::Derived => "derived from the paper",
            Self::Own => "ours",
        }
    }
}

/// Where estimates must be for a claim to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Band {
    /// Above a number.
    Above(f64),
    /// Below a number.
    Below(f64),
    /// Between two numbers.
    Within(f64, f64),
}

impl Band {
    fn limits(self) -> (f64, f64) {
        match self {
            Self::Above(low) => (low, f64::INFINITY),
            Self::Below(high) => (f64::NEG_INFINITY, high),
            Self::Within(low, high) => (low, high),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Above(low) => format!("above {low}"),
            Self::Below(high) => format!("below {high}"),
            Self::Within(low, high) => format!("between {low} and {high}"),
        }
    }
}

/// How many of the estimates must be in the band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// All.
    Every,
    /// At least one.
    Some,
}

/// A claim, its source and what decides about it.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// A short name, unique in its experiment.
    pub name: &'static str,
    /// Whose words it is.
    pub source: Source,
    /// Section, supplement or equation.
    pub place: &'static str,
    /// The paper's words with the condition they were said under; empty where there are none. A test compares it with the paper's source.
    pub quote: &'static str,
    /// What it says, or how the quote is read, in our words; may be empty.
    pub says: &'static str,
    /// What is measured.
    pub quantity: &'static str,
    /// Where it must be.
    pub band: Band,
    /// How many of the estimates must be there.
    pub over: Over,
    /// What makes it come out the other way.
    pub partner: &'static str,
}

impl Claim {
    /// The threshold in words.
    #[must_use]
    pub fn wanted(&self) -> String {
        let over = match self.over {
            Over::Every => "",
            Over::Some => " for one of them at least",
        };
        format!("{}: {}{over}", self.quantity, self.band.words())
    }

    /// The test in words.
    #[must_use]
    pub fn test(&self, estimates: &[Estimate]) -> String {
        if estimates.iter().all(|one| one.error == 0.0) {
            return "computed without sampling: no error".into();
        }
        let freedom = estimates.iter().map(|one| one.freedom).fold(f64::INFINITY, f64::min);
        let law = if freedom.is_finite() {
            format!("Student's t, {freedom:.0} degrees of freedom")
        } else {
            "normal".into()
        };
        let many = match estimates.len() {
            0 | 1 => String::new(),
            count => format!(", Bonferroni over {count}"),
        };
        format!("{:.0} % intervals ({law}{many}) against the band", 100.0 * (1.0 - LEVEL))
    }

    /// Whether it holds for these estimates.
    #[must_use]
    pub fn judge(&self, estimates: &[Estimate]) -> Verdict {
        let (low, high) = self.band.limits();
        let level = LEVEL / estimates.len().max(1) as f64;
        let places: Vec<Verdict> = estimates
            .iter()
            .map(|estimate| match estimate.interval(level) {
                (from, to) if from >= low && to <= high => Verdict::Holds,
                (from, to) if to < low || from > high => Verdict::Differs,
                _ => Verdict::Undecided,
            })
            .collect();
        let all = |verdict: Verdict| !places.is_empty() && places.iter().all(|place| *place == verdict);
        match self.over {
            Over::Every if places.contains(&Verdict::Differs) => Verdict::Differs,
            Over::Every if all(Verdict::Holds) => Verdict::Holds,
            Over::Some if places.contains(&Verdict::Holds) => Verdict::Holds,
            Over::Some if all(Verdict::Differs) => Verdict::Differs,
            _ => Verdict::Undecided,
        }
    }
}

/// Whether a claim was seen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As claimed.
    Holds,
    /// Not as claimed.
    Differs,
    /// The noise of this run is too large to tell, or the data of the paper are missing.
    Undecided,
}

/// A number that was measured or computed, with its error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// What it is about: ε = 0.1, say.
    pub label: String,
    /// The number.
    pub value: f64,
    /// Its standard error; 0 for a number that is computed. Of a ratio, that of its logarithm.
    pub error: f64,
    /// Degrees of freedom of the error.
    #[serde(skip)]
    pub freedom: f64,
    /// Whether it is a ratio, whose logarithm has the error.
    pub ratio: bool,
}

impl Estimate {
    /// A number with a standard error of so many degrees of freedom.
    pub fn new(label: impl Into<String>, value: f64, (error, freedom): (f64, f64)) -> Self {
        Self { label: label.into(), value, error, freedom, ratio: false }
    }

    /// A ratio; the error is that of its logarithm.
    pub fn ratio(label: impl Into<String>, value: f64, (error, freedom): (f64, f64)) -> Self {
        Self { ratio: true, ..Self::new(label, value, (error, freedom)) }
    }

    /// A number without error.
    pub fn exact(label: impl Into<String>, value: f64) -> Self {
        Self::new(label, value, (0.0, f64::INFINITY))
    }

    /// The mean of independent numbers.
    #[must_use]
    pub fn mean(label: impl Into<String>, values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let spread = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Self::new(label, mean, ((spread / count).sqrt(), count - 1.0))
    }

    /// A share of so many independent trials; the error allows for shares of 0 and 1 (Agresti and Coull).
    pub fn share(label: impl Into<String>, successes: f64, trials: f64) -> Self {
        let near = (successes + 2.0) / (trials + 4.0);
        Self::new(label, successes / trials, ((near * (1.0 - near) / (trials + 4.0)).sqrt(), f64::INFINITY))
    }

    /// The interval that misses the value with probability `level`; everything where the error is unknown.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        if !(self.value.is_finite() && self.error.is_finite()) || (self.ratio && self.value <= 0.0) {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        if self.error == 0.0 {
            return (self.value, self.value);
        }
        let place = 1.0 - 0.5 * level;
        let normal = Normal::standard().inverse_cdf(place);
        let quantile = if self.freedom.is_finite() {
            StudentsT::new(0.0, 1.0, self.freedom).map_or(f64::INFINITY, |law| law.inverse_cdf(place))
        } else {
            normal
        };
        let half = quantile * self.error;
        if self.ratio {
            return (self.value * (-half).exp(), self.value * half.exp());
        }
        (self.value - half, self.value + half)
    }

    /// "ε = 0.1: 1.23 ± 0.04".
    #[must_use]
    pub fn words(&self) -> String {
        let label = if self.label.is_empty() { String::new() } else { format!("{}: ", self.label) };
        if !self.value.is_finite() {
            return format!("{label}not measured");
        }
        let number = number(self.value);
        if !self.error.is_finite() {
            format!("{label}{number}, its error unknown")
        } else if self.error == 0.0 {
            format!("{label}{number}")
        } else if self.ratio {
            format!("{label}{number} (± {:.0} %)", 100.0 * self.error)
        } else {
            format!("{label}{number} ± {}", short(self.error))
        }
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if !(0.001..1e5).contains(&size) => format!("{value:.2e}"),
        size if size < 0.1 => format!("{value:.4}"),
        size if size < 10.0 => format!("{value:.3}"),
        _ => format!("{value:.1}"),
    }
}

fn short(error: f64) -> String {
    match error {
        size if !(0.0005..1e4).contains(&size) => format!("{error:.0e}"),
        size if size < 0.1 => format!("{error:.4}"),
        _ => format!("{error:.2}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::outcome::Check;

    pub(crate) const PLAIN: Claim = Claim {
        name: "n",
        source: Source::Own,
        place: "nowhere",
        quote: "",
        says: "a number is large",
        quantity: "a number",
        band: Band::Above(1.0),
        over: Over::Every,
        partner: "smaller numbers",
    };

    /// Fails unless the planted checks make every claim hold once and differ once.
    pub(crate) fn both_ways(claims: &[Claim], planted: &[Check]) {
        for claim in claims {
            for wanted in [Verdict::Holds, Verdict::Differs] {
                assert!(
                    planted.iter().any(|check| check.name == claim.name && check.verdict == wanted),
                    "no planted data make {:?} come out as {wanted:?}: {:?}",
                    claim.name,
                    planted
                        .iter()
                        .filter(|check| check.name == claim.name)
                        .map(|check| (&check.measured, check.verdict))
                        .collect::<Vec<_>>()
                );
            }
        }
        for check in planted {
            assert!(claims.iter().any(|claim| claim.name == check.name), "{:?} is not listed", check.name);
        }
    }

    #[test]
    fn verdicts_are_symmetric_and_noise_leaves_them_open() {
        let at = |value: f64| Estimate::new("", value, (0.1, 9.0));
        // The 99 % quantile of Student's t with 9 degrees of freedom is 3.2498.
        let one = |value| PLAIN.judge(&[at(value)]);
        assert_eq!(
            (one(1.33), one(1.32), one(0.68), one(0.67)),
            (Verdict::Holds, Verdict::Undecided, Verdict::Undecided, Verdict::Differs)
        );
        let some = Claim { over: Over::Some, ..PLAIN };
        let many = [0.5, 0.5, 0.5, 1.33].map(at);
        // The best of four must be farther out than a single one.
        assert_eq!(some.judge(&many), Verdict::Undecided);
        assert_eq!(some.judge(&[0.5, 0.5, 0.5, 1.45].map(at)), Verdict::Holds);
        assert_eq!(some.judge(&[0.5, 0.5, 0.5, 0.5].map(at)), Verdict::Differs);
        assert_eq!(PLAIN.judge(&many), Verdict::Differs);
        assert_eq!(PLAIN.judge(&[2.0, 1.1].map(at)), Verdict::Undecided);
        assert_eq!(PLAIN.judge(&[]), Verdict::Undecided);
        assert_eq!(PLAIN.judge(&[at(f64::NAN)]), Verdict::Undecided);
        let band = Claim { band: Band::Within(0.9, 1.1), ..PLAIN };
        let sharp = |value: f64| Estimate::new("", value, (0.01, f64::INFINITY));
        assert_eq!(band.judge(&[sharp(1.0)]), Verdict::Holds);
        assert_eq!(band.judge(&[sharp(1.11)]), Verdict::Undecided);
        assert_eq!(band.judge(&[sharp(1.2)]), Verdict::Differs);
        assert_eq!(band.judge(&[sharp(0.8)]), Verdict::Differs);
        // A wide interval around the middle says nothing.
        assert_eq!(band.judge(&[at(1.0)]), Verdict::Undecided);
        assert_eq!(band.judge(&[Estimate::exact("", 1.05)]), Verdict::Holds);
    }

    #[test]
    fn ratios_have_intervals_in_logarithms() {
        let ratio = Estimate::ratio("ε = 0.1", 2.0, (0.1, f64::INFINITY));
        let (low, high) = ratio.interval(0.01);
        assert!((low * high - 4.0).abs() < 1e-12 && (low - 2.0 * (-0.257_582_93f64).exp()).abs() < 1e-6);
        assert_eq!(ratio.words(), "ε = 0.1: 2.000 (± 10 %)");
        assert_eq!(Estimate::ratio("", 0.0, (0.1, 3.0)).interval(0.1).1, f64::INFINITY);
    }

    /// 2,000 sets of 5 normal numbers whose mean is the threshold: each wrong verdict has probability 0.5 %; 24 of them (0.5 % + 4.5 standard
    /// errors) happen once in a hundred thousand times. The partner lies two standard deviations off and is found almost always.
    #[test]
    fn the_false_alarm_rate_is_as_stated() {
        use rand::RngExt as _;
        let mut rng = austerity::rng::stream(5, 0, austerity::rng::Role::Data);
        let mut count = |mean: f64| {
            let mut seen = [0; 3];
            for _ in 0..2_000 {
                let values: Vec<f64> =
                    (0..5).map(|_| mean + rng.sample::<f64, _>(rand_distr::StandardNormal)).collect();
                seen[PLAIN.judge(&[Estimate::mean("", &values)]) as usize] += 1;
            }
            seen
        };
        let [holds, differs, open] = count(1.0);
        assert!(holds <= 24 && differs <= 24 && open > 1_900, "{holds} {differs} {open}");
        let [holds, differs, _] = count(6.0);
        assert!(holds > 1_700 && differs == 0, "{holds} {differs}");
    }
}
