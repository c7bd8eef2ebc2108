//! Choices with numbers, written as `NAME` or `NAME:NUMBER,NUMBER`: read once, at the door, and typed from there on.

use std::fmt;
use std::str::FromStr;

use austerity::rule::bound::Base;
use austerity::rule::{Bound, Law, Shape, Time};
use austerity_glm::proposal::LangevinPlan;

use super::choice::as_text;
use super::{Keyword, Unread};
use crate::refusal::Refusal;

/// The numbers after the colon.
fn numbers<const K: usize>(whole: &str, text: &str, example: &str) -> Result<[f64; K], Unread> {
    let wrong = |why: String| Unread::new(whole, format!("{why}; write it as {example}"));
    let parsed: Vec<f64> = text
        .split(',')
        .map(|part| part.trim().parse().map_err(|_| wrong(format!("`{part}` is not a number"))))
        .collect::<Result<_, _>>()?;
    let count = parsed.len();
    parsed.try_into().map_err(|_| wrong(format!("{count} numbers where {K} belong")))
}

/// The stopping boundary of a sequential test.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BoundChoice {
    /// Constant bounds at level ε.
    #[default]
    Pocock,
    /// Bounds that fall with the square root of the share of the data, from ε.
    ObrienFleming,
    /// Bounds with a shape between the two.
    WangTsiatis {
        /// The critical value G0 at the last look.
        critical: f64,
        /// The exponent α of the share of the data.
        alpha: f64,
    },
}

impl BoundChoice {
    /// The bound, given ε where one is needed.
    pub(crate) fn with_epsilon(self, epsilon: Option<f64>) -> Result<Bound, Refusal> {
        let by_epsilon = |shape| {
            let why = "this bound needs it";
            let epsilon = epsilon.ok_or(Refusal::Missing { keyword: Keyword::Epsilon, why })?;
            Ok(Bound { base: Base::Epsilon(epsilon), shape, time: Time::Share })
        };
        match self {
            Self::Pocock => by_epsilon(Shape::Pocock),
            Self::ObrienFleming => by_epsilon(Shape::ObrienFleming),
            Self::WangTsiatis { critical, alpha } => Ok(Bound::wang_tsiatis(critical, alpha)),
        }
    }
}

impl fmt::Display for BoundChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pocock => f.write_str("pocock"),
            Self::ObrienFleming => f.write_str("obrien-fleming"),
            Self::WangTsiatis { critical, alpha } => write!(f, "wang-tsiatis:{critical},{alpha}"),
        }
    }
}

impl FromStr for BoundChoice {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        match text.split_once(':') {
            None if text == "pocock" => Ok(Self::Pocock),
            None if text == "obrien-fleming" => Ok(Self::ObrienFleming),
            Some(("wang-tsiatis", rest)) => {
                let [critical, alpha] = numbers(text, rest, "wang-tsiatis:2.3,0.75")?;
                Ok(Self::WangTsiatis { critical, alpha })
            }
            _ => Err(Unread::new(text, "known are pocock, obrien-fleming and wang-tsiatis:G0,ALPHA")),
        }
    }
}

/// The law of the acceptance threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LawChoice {
    /// This law.
    Given(Law),
    /// Compensated with the λ that the theory finds.
    Compensated,
}

impl LawChoice {
    /// The law, where all its numbers are given.
    pub fn given(self) -> Result<Law, Unread> {
        match self {
            Self::Given(law) => Ok(law),
            Self::Compensated => Err(Unread::new(
                "compensated",
                "λ is missing; write it as compensated:LAMBDA, such as compensated:1.4",
            )),
        }
    }
}

impl fmt::Display for LawChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(Law::Metropolis) => f.write_str("metropolis"),
            Self::Given(Law::Logistic) => f.write_str("logistic"),
            Self::Given(Law::Compensated { lambda }) => write!(f, "compensated:{lambda}"),
            Self::Compensated => f.write_str("compensated"),
        }
    }
}

impl FromStr for LawChoice {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        match text.split_once(':') {
            None if text == "metropolis" => Ok(Self::Given(Law::Metropolis)),
            None if text == "logistic" => Ok(Self::Given(Law::Logistic)),
            None if text == "compensated" => Ok(Self::Compensated),
            Some(("compensated", rest)) => {
                let [lambda] = numbers(text, rest, "compensated:1.4")?;
                Ok(Self::Given(Law::Compensated { lambda }))
            }
            _ => Err(Unread::new(text, "known are metropolis, logistic, compensated and compensated:LAMBDA")),
        }
    }
}

/// The share of the decisions that are repeated on all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AuditChoice {
    /// As many as cost little beside the decisions themselves.
    #[default]
    Auto,
    /// This share, from 0 to 1.
    Rate(f64),
}

impl fmt::Display for AuditChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Rate(rate) if *rate == 0.0 => f.write_str("off"),
            Self::Rate(rate) => write!(f, "{rate}"),
        }
    }
}

impl FromStr for AuditChoice {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Rate(0.0)),
            _ => match text.parse() {
                Ok(rate) if (0.0..=1.0).contains(&rate) => Ok(Self::Rate(rate)),
                _ => Err(Unread::new(text, "allowed are auto, off and a share from 0 to 1")),
            },
        }
    }
}

/// The surrogate of the log-likelihood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SurrogateChoice {
    /// One where it makes decisions cheaper.
    #[default]
    Auto,
    /// None: decisions are about the rows themselves.
    None,
    /// A Taylor expansion of this order, 1 to 3, at the mode.
    Order(u8),
}

impl fmt::Display for SurrogateChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Order(order) => write!(f, "taylor{order}"),
        }
    }
}

impl FromStr for SurrogateChoice {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            "taylor1" => Ok(Self::Order(1)),
            "taylor2" => Ok(Self::Order(2)),
            "taylor3" => Ok(Self::Order(3)),
            _ => Err(Unread::new(text, "known are auto, none, taylor1, taylor2 and taylor3")),
        }
    }
}

/// The proposal distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ProposalChoice {
    /// The one that a pilot run finds better.
    #[default]
    Auto,
    /// A random walk that learns its shape in warm-up.
    Adaptive,
    /// Independent draws around the mode, and now and then a step of a walk.
    Laplace,
    /// A random walk with this standard deviation.
    RandomWalk(f64),
    /// Hamiltonian steps on the surrogate.
    SurrogateHmc,
    /// Langevin steps of this length, in posterior standard deviations, on the surrogate.
    Langevin(f64),
    /// Stochastic gradient Langevin dynamics whose noise has this standard deviation.
    Sgld(f64),
    /// Stochastic gradient Fisher scoring with steps of this size.
    Sgfs(f64),
}

impl ProposalChoice {
    const KNOWN: &str = "known are auto, laplace, surrogate-hmc, langevin:STEP (such as langevin:1), adaptive, random-walk:SD (such as \
                         random-walk:0.01), sgld:SD (such as sgld:0.01) and sgfs:STEP (such as sgfs:0.5)";

    /// Refuses widths and lengths that no step can have.
    pub(crate) fn check(self) -> Result<(), Refusal> {
        let refuse = |allowed: &str| Refusal::Value {
            keyword: Keyword::Proposal,
            value: self.to_string(),
            why: format!("allowed is {allowed}"),
        };
        match self {
            Self::Langevin(length) if !LangevinPlan::allows(length) => {
                Err(refuse(&format!("{}, such as langevin:1", LangevinPlan::ALLOWED)))
            }
            Self::RandomWalk(sd) if !(sd > 0.0 && sd.is_finite()) => {
                Err(refuse("a positive finite standard deviation, such as random-walk:0.01"))
            }
            Self::Sgld(sd) if !(sd > 0.0 && sd.is_finite()) => {
                Err(refuse("a positive finite standard deviation, such as sgld:0.01"))
            }
            Self::Sgfs(step) if !(step > 0.0 && step.is_finite()) => {
                Err(refuse("a positive finite size, such as sgfs:0.5"))
            }
            _ => Ok(()),
        }
    }

    /// Whether candidates follow the gradient of mini-batches of rows.
    pub(crate) fn follows_mini_batches(self) -> bool {
        matches!(self, Self::Sgld(_) | Self::Sgfs(_))
    }
}

impl fmt::Display for ProposalChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Adaptive => f.write_str("adaptive"),
            Self::Laplace => f.write_str("laplace"),
            Self::SurrogateHmc => f.write_str("surrogate-hmc"),
            Self::RandomWalk(sd) => write!(f, "random-walk:{sd}"),
            Self::Langevin(length) => write!(f, "langevin:{length}"),
            Self::Sgld(sd) => write!(f, "sgld:{sd}"),
            Self::Sgfs(step) => write!(f, "sgfs:{step}"),
        }
    }
}

impl FromStr for ProposalChoice {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        let made = match text.split_once(':') {
            None if text == "auto" => Self::Auto,
            None if text == "adaptive" => Self::Adaptive,
            None if text == "laplace" => Self::Laplace,
            None if text == "surrogate-hmc" => Self::SurrogateHmc,
            Some(("langevin", step)) => Self::Langevin(numbers::<1>(text, step, "langevin:1")?[0]),
            Some(("random-walk", sd)) => Self::RandomWalk(numbers::<1>(text, sd, "random-walk:0.01")?[0]),
            Some(("sgld", sd)) => Self::Sgld(numbers::<1>(text, sd, "sgld:0.01")?[0]),
            Some(("sgfs", step)) => Self::Sgfs(numbers::<1>(text, step, "sgfs:0.5")?[0]),
            _ => return Err(Unread::new(text, Self::KNOWN)),
        };
        match made.check() {
            Err(Refusal::Value { why, .. }) => Err(Unread::new(text, why)),
            _ => Ok(made),
        }
    }
}

/// The reference level of a categorical column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The column.
    pub column: String,
    /// Its level.
    pub level: String,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.column, self.level)
    }
}

impl FromStr for Reference {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        let (column, level) = text
            .split_once('=')
            .ok_or_else(|| Unread::new(text, "write it as COLUMN=LEVEL, such as city=Bonn"))?;
        Ok(Self { column: column.into(), level: level.into() })
    }
}

as_text!(BoundChoice, LawChoice, AuditChoice, SurrogateChoice, ProposalChoice, Reference);

/// Units of sizes, the larger first.
const SIZES: [(&str, u64); 13] = [
    ("tib", 1 << 40),
    ("gib", 1 << 30),
    ("mib", 1 << 20),
    ("kib", 1 << 10),
    ("tb", 1_000_000_000_000),
    ("gb", 1_000_000_000),
    ("mb", 1_000_000),
    ("kb", 1_000),
    ("t", 1_000_000_000_000),
    ("g", 1_000_000_000),
    ("m", 1_000_000),
    ("k", 1_000),
    ("b", 1),
];

/// Reads a size such as 500MB, 1.5 GiB or a number of bytes.
pub fn bytes(text: &str) -> Result<u64, Unread> {
    let lower = text.trim().to_ascii_lowercase();
    let found = SIZES.iter().find_map(|(unit, bytes)| Some((lower.strip_suffix(unit)?.trim_end(), *bytes)));
    let (number, unit) = found.unwrap_or((&lower, 1));
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number * unit as f64 <= 1e18 => Ok((number * unit as f64) as u64),
        _ => Err(Unread::new(text, "a size is a positive number and a unit, such as 500MB or 2GB")),
    }
}

/// A size in words: 1 GB, 500 MB.
pub(crate) fn size_words(bytes: u64) -> String {
    let decimal = SIZES[4..8].iter().find(|(_, unit)| bytes >= *unit);
    match decimal {
        Some((name, unit)) => {
            let number = format!("{:.2}", bytes as f64 / *unit as f64);
            format!(
                "{} {}",
                number.trim_end_matches('0').trim_end_matches('.'),
                name.to_uppercase().replace("KB", "kB")
            )
        }
        None => format!("{bytes} bytes"),
    }
}

/// Reads a duration such as 60s, 5m or 1h 30m.
pub fn duration(text: &str) -> Result<std::time::Duration, Unread> {
    humantime::parse_duration(text)
        .map_err(|error| Unread::new(text, format!("{error}; write it as 60s, 5m or 1h")))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Whatever is typed is read or explained; what is read is written as it is read.
        #[test]
        fn anything_may_be_typed(name in "(pocock|obrien-fleming|wang-tsiatis|metropolis|logistic|compensated|langevin|random-walk|.{0,4})",
                                 rest in "(:[-+0-9.,eEinfaN ]{0,12}|.{0,6})") {
            let text = name + &rest;
            let errors = [text.parse::<BoundChoice>().err(), text.parse::<LawChoice>().err(),
                          text.parse::<ProposalChoice>().err(), text.parse::<AuditChoice>().err()];
            for why in errors.into_iter().flatten().map(|error| error.to_string()) {
                let explained = ["known", "allowed", "write it as"].iter().any(|word| why.contains(word));
                proptest::prop_assert!(explained, "{}", why);
            }
            // NaN is a number to the parser and refused by the rule.
            if let Ok(bound @ BoundChoice::WangTsiatis { critical, alpha }) = text.parse::<BoundChoice>() {
                proptest::prop_assert!(critical.is_nan() || alpha.is_nan() || bound.to_string().parse() == Ok(bound));
            }
            if let Ok(proposal) = text.parse::<ProposalChoice>() {
                proptest::prop_assert_eq!(proposal.to_string().parse(), Ok(proposal));
            }
            let _ = text.parse::<austerity_glm::Prior>();
        }
    }

    #[test]
    fn bounds_and_laws_are_read_or_explained() {
        let why = |error: Unread| error.to_string();
        let bound = |text: &str| text.parse::<BoundChoice>().map_err(why);
        let law = |text: &str| text.parse::<LawChoice>().map_err(why);
        assert_eq!(bound("wang-tsiatis:2, .75"), Ok(BoundChoice::WangTsiatis { critical: 2.0, alpha: 0.75 }));
        assert_eq!(law("compensated:1.4"), Ok(LawChoice::Given(Law::Compensated { lambda: 1.4 })));
        assert_eq!(law("compensated"), Ok(LawChoice::Compensated));
        assert!(law("compensated:").is_err());
        assert!(bound("wang-tsiatis:2").unwrap_err().contains("write it as"));
        assert!(bound("bonferroni").unwrap_err().contains("pocock"));
        assert!(law("compensated:x").unwrap_err().contains("not a number"));
        assert!(matches!(
            BoundChoice::Pocock.with_epsilon(None),
            Err(Refusal::Missing { keyword: Keyword::Epsilon, .. })
        ));
        assert_eq!("off".parse(), Ok(AuditChoice::Rate(0.0)));
        assert!("langevin:2".parse::<ProposalChoice>().unwrap_err().to_string().contains("below 2"));
    }

    #[test]
    fn sizes_are_read_and_said() {
        let read = |text| bytes(text).ok();
        assert_eq!(read("500MB"), Some(500_000_000));
        assert_eq!(read("1.5 GiB"), Some(3 << 29));
        assert_eq!(read("4096"), Some(4096));
        assert_eq!(read("2kb"), Some(2000));
        assert_eq!(read("1.5 g"), Some(1_500_000_000));
        let wrong = ["", "MB", "-1GB", "0", "many", "1 XB", "1e30", "2 pages"];
        assert!(wrong.into_iter().all(|text| read(text).is_none()));
        assert_eq!(
            [1_000_000_000, 2_500_000, 4_000, 17].map(size_words),
            ["1 GB", "2.5 MB", "4 kB", "17 bytes"]
        );
    }
}
