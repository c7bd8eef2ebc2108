//! Small languages of the options: bounds and laws, as `NAME` or `NAME:NUMBER,NUMBER`.

use austerity::rule::bound::Base;
use austerity::rule::{Bound, Law, Shape, Time};

/// `pocock`, `obrien-fleming`, `wang-tsiatis:G0,ALPHA`; the first two take their base from ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BoundChoice {
    Pocock,
    ObrienFleming,
    WangTsiatis { critical: f64, alpha: f64 },
}

impl BoundChoice {
    /// The bound, given ε where one is needed.
    pub(crate) fn with_epsilon(self, epsilon: Option<f64>) -> Result<Bound, String> {
        let by_epsilon = |shape| {
            let epsilon = epsilon.ok_or("--epsilon is needed with this bound")?;
            Ok(Bound { base: Base::Epsilon(epsilon), shape, time: Time::Share })
        };
        match self {
            Self::Pocock => by_epsilon(Shape::Pocock),
            Self::ObrienFleming => by_epsilon(Shape::ObrienFleming),
            Self::WangTsiatis { critical, alpha } => Ok(Bound::wang_tsiatis(critical, alpha)),
        }
    }
}

/// The numbers after the colon.
fn numbers<const K: usize>(text: &str, example: &str) -> Result<[f64; K], String> {
    let parsed: Vec<f64> = text
        .split(',')
        .map(|part| {
            part.trim().parse().map_err(|_| format!("`{part}` is not a number; write it as {example}"))
        })
        .collect::<Result<_, _>>()?;
    let count = parsed.len();
    parsed.try_into().map_err(|_| format!("{count} numbers where {K} belong; write it as {example}"))
}

/// Reads a number of bytes: a number, alone or with kB, MB, GB or TB (powers of 1000).
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        _ => return Err(format!("`{unit}` is no unit; write bytes as 500MB or 2GB")),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number * factor < 1e18 => Ok((number * factor) as usize),
        _ => Err(format!("`{text}` is no size; write it as 500MB or 2GB")),
    }
}

/// Reads a bound.
pub(crate) fn bound(text: &str) -> Result<BoundChoice, String> {
    match text.split_once(':') {
        None if text == "pocock" => Ok(BoundChoice::Pocock),
        None if text == "obrien-fleming" => Ok(BoundChoice::ObrienFleming),
        Some(("wang-tsiatis", rest)) => {
            let [critical, alpha] = numbers(rest, "wang-tsiatis:2.3,0.75")?;
            Ok(BoundChoice::WangTsiatis { critical, alpha })
        }
        _ => Err("known bounds: pocock, obrien-fleming, wang-tsiatis:G0,ALPHA".into()),
    }
}

/// Reads a law.
pub(crate) fn law(text: &str) -> Result<Law, String> {
    match text.split_once(':') {
        None if text == "metropolis" => Ok(Law::Metropolis),
        None if text == "logistic" => Ok(Law::Logistic),
        Some(("compensated", rest)) => {
            let [lambda] = numbers(rest, "compensated:1.4")?;
            Ok(Law::Compensated { lambda })
        }
        _ => Err("known laws: metropolis, logistic, compensated:LAMBDA".into()),
    }
}

/// The law of a design: given, or compensated with the λ of each candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DesignLaw {
    Given(Law),
    Compensated,
}

/// Reads the law of a design.
pub(crate) fn design_law(text: &str) -> Result<DesignLaw, String> {
    if text == "compensated" { Ok(DesignLaw::Compensated) } else { law(text).map(DesignLaw::Given) }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Whatever is typed is read or explained; what is read has the numbers that were typed.
        #[test]
        fn anything_may_be_typed(name in "(pocock|obrien-fleming|wang-tsiatis|metropolis|logistic|compensated|.{0,4})",
                                 rest in "(:[-+0-9.,eEinfaN ]{0,12}|.{0,6})") {
            let text = name + &rest;
            for why in [bound(&text).err(), law(&text).err(), design_law(&text).err()].into_iter().flatten() {
                proptest::prop_assert!(why.contains("known") || why.contains("write it as"), "{}", why);
            }
            if let Ok(BoundChoice::WangTsiatis { critical, alpha }) = bound(&text) {
                // NaN is a number to the parser and refused by the rule.
                let again = bound(&format!("wang-tsiatis:{critical},{alpha}"));
                proptest::prop_assert!(critical.is_nan() || alpha.is_nan() || again == bound(&text));
            }
            let _ = text.parse::<austerity_glm::Prior>();
        }
    }

    #[test]
    fn bounds_and_laws_are_read_or_explained() {
        assert_eq!(bound("wang-tsiatis:2, .75"), Ok(BoundChoice::WangTsiatis { critical: 2.0, alpha: 0.75 }));
        assert_eq!(law("compensated:1.4"), Ok(Law::Compensated { lambda: 1.4 }));
        assert_eq!(design_law("compensated"), Ok(DesignLaw::Compensated));
        assert_eq!(design_law("logistic"), Ok(DesignLaw::Given(Law::Logistic)));
        assert!(law("compensated").is_err() && design_law("compensated:").is_err());
        assert!(bound("wang-tsiatis:2").unwrap_err().contains("write it as"));
        assert_eq!(
            (bytes("500MB"), bytes("1.5 gb"), bytes("64")),
            (Ok(500_000_000), Ok(1_500_000_000), Ok(64))
        );
        assert!(bytes("2 pages").is_err() && bytes("-1").is_err() && bytes("").is_err());
        assert!(bound("bonferroni").unwrap_err().contains("pocock"));
        assert!(law("compensated:x").unwrap_err().contains("not a number"));
        assert!(BoundChoice::Pocock.with_epsilon(None).unwrap_err().contains("--epsilon"));
    }
}
