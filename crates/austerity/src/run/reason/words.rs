//! The sentences of reasons and hazards.

use std::fmt;

use super::{Hazard, ModeFound, Reason};

/// Parameters that a sentence names.
const MOST_NAMED: usize = 5;

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FlatDirection { parameters } => {
                let (names, each) = (listed(parameters), if parameters.len() > 1 { "each of them" } else { "it" });
                let whole = if parameters.len() > 1 {
                    format!("only some combination of {names} matters")
                } else {
                    format!("{names} does not matter")
                };
                write!(
                    f,
                    "The posterior density is flat along a direction: to the likelihood and the prior {whole}. Give {each} a proper prior, or \
                     take it out of the model."
                )
            }
            Self::DegenerateMode { parameters } => write!(
                f,
                "The posterior density rises without bound as {} moves away: the joint mode is degenerate, as when a scale goes to 0 because \
                 some rows are fitted exactly. Give {} a prior that rules this out, such as one that keeps a scale above 0.",
                listed(parameters),
                if parameters.len() > 1 { "them" } else { "it" }
            ),
            Self::ExactFit => f.write_str(
                "The columns reproduce the response exactly, so sigma only measures rounding. Leave out the column that repeats the response, or \
                 give sigma a prior for the noise that you expect.",
            ),
            Self::SeveralModes { modes } => write!(
                f,
                "{}. Chains do not cross between them, so their draws do not have these shares. Use \
                 a prior that rules out all but one, or report each mode by itself.",
                several_modes(modes)
            ),
            Self::PriorConflict { parameter, prior, likelihood: (centre, sd), z, default } => {
                let remedy = if *default {
                    "Give it a prior of your own, in the units of your data"
                } else {
                    "Check the prior and the units of the columns"
                };
                write!(
                    f,
                    "The {}prior {prior} of {parameter} contradicts the data: the likelihood alone has {} ± {}, {z:.0} standard deviations away. \
                     {remedy}.",
                    if *default { "default " } else { "" },
                    significant(*centre),
                    significant(*sd)
                )
            }
            Self::OneResponse { value } => write!(
                f,
                "Every response is {value}: these rows cannot tell how the columns matter, so the priors alone determine the coefficients. Add \
                 rows with another response, or use tighter priors."
            ),
        }
    }
}

/// So many modes that matter, where they are and what they hold: a sentence without its end.
#[must_use]
pub fn several_modes(modes: &[ModeFound]) -> String {
    let place = |mode: &ModeFound| {
        let values: Vec<String> =
            mode.place.iter().map(|(name, value)| format!("{name} = {}", significant(*value))).collect();
        let share = 100.0 * mode.share;
        format!("{} holds {share:.*} % of the mass", values.join(", "), usize::from(share < 1.0))
    };
    let places: Vec<String> = modes.iter().map(place).collect();
    format!("The posterior has {} modes that matter: {}", modes.len(), places.join("; "))
}

/// Three significant digits.
fn significant(value: f64) -> String {
    format!("{value:.2e}").parse::<f64>().map_or_else(|_| value.to_string(), |value| value.to_string())
}

/// Names for a sentence: `a`, `a and b`, `a, b and 7 more`.
fn listed(names: &[String]) -> String {
    match names {
        [] => "a parameter".into(),
        [one] => one.clone(),
        names if names.len() > MOST_NAMED => {
            format!("{} and {} more", names[..MOST_NAMED].join(", "), names.len() - MOST_NAMED)
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { chain, error } => {
                write!(f, "Chain {chain} stopped: {error}. Draws made before are kept.")
            }
            Self::Unstored { error } => write!(f, "The run stopped: {error}."),
            Self::NoDraw => f.write_str(
                "The run ended during warm-up: there is no draw yet. Give it more time or resume it.",
            ),
            Self::Unmoved { stuck, chains, impossible } => {
                f.write_str(&unmoved(*stuck, *chains, *impossible))
            }
            Self::Dear { share } => write!(
                f,
                "A decision read {:.0} % of the data on average: at two evaluations per row exact decisions would be cheaper. \
                 Use the exact rule or smaller steps.",
                100.0 * share
            ),
            Self::Guarded { share } => write!(
                f,
                "The guard held up {:.1} % of the decisions: a few rows carry much of a difference there. \
                 Look for outliers, rare features or scales, use a larger first look or the exact rule.",
                100.0 * share
            ),
            Self::Inflated { inflation } => f.write_str(&inflated(*inflation)),
            Self::Audits { sentence } => f.write_str(sentence),
            Self::Tightened { tightened, chains } if tightened == chains => f.write_str(
                "Audits in warm-up contradicted the test of every chain, which then read more rows; the draws were made after that. \
                 A larger first look or the exact rule would have done so from the start.",
            ),
            Self::Tightened { tightened, chains } => write!(
                f,
                "Audits in warm-up contradicted the test of {tightened} of {chains} chains, which then read more rows; the others went on with \
                 it. Use a larger first look or the exact rule."
            ),
            Self::Hazard(hazard) => write!(f, "{hazard}"),
            Self::Apart { count, of, worst, first, longer } => write!(
                f,
                "Chains disagree about {count} of {of} parameters (largest R-hat {worst:.3}, first: {first}).{}",
                if *longer { " Run longer." } else { "" }
            ),
            Self::TooFew { longer } => write!(
                f,
                "There are too few draws to tell an effective sample size.{}",
                if *longer { " Run longer." } else { "" }
            ),
            Self::Small { least, longer } => write!(
                f,
                "The smallest effective sample size is {least:.0}: intervals are rough.{}",
                if *longer { " Run longer or improve the proposal." } else { "" }
            ),
            Self::Tail { parameter, from, up, figure, limit } => {
                f.write_str(&unreached(parameter, (*from, *up), (*figure, *limit)))
            }
            Self::RareCrossing { modes, every, error } => {
                let crossed = if every.is_finite() {
                    format!("once in {every:.0} draws")
                } else {
                    "in no chain".into()
                };
                write!(
                    f,
                    "The chains cross too rarely between modes: {crossed}. {}, with a Monte Carlo error of {:.1} % or more. Run longer, or use a prior that rules out all \
                     but one mode.",
                    several_modes(modes),
                    100.0 * error
                )
            }
            Self::Told(words) => f.write_str(words),
        }
    }
}

/// A tail that the draws do not have as its prior has it.
fn unreached(parameter: &str, (from, up): (f64, bool), (figure, limit): (f64, f64)) -> String {
    let side = if up { "above" } else { "below" };
    let what = match (figure.is_nan(), (figure - 1.0).abs() > limit) {
        (true, _) => "has hardly any draws.".to_owned(),
        (_, true) => format!(
            "is too {}: the mean depth of its draws is {figure:.2} where 1 ± {limit:.2} is right.",
            if figure < 1.0 { "thin" } else { "thick" }
        ),
        (_, false) => "has too few independent draws.".to_owned(),
    };
    format!(
        "The tail of {parameter} {side} {from:.3}, where the posterior is its prior, {what} \
         Quantiles of {parameter} on that side are off. Run longer, or use a prior with more degrees of freedom."
    )
}

/// Chains that accepted nothing.
fn unmoved(stuck: usize, chains: usize, impossible: bool) -> String {
    let who =
        if stuck == chains { "No chain has".into() } else { format!("{stuck} of {chains} chains have not") };
    let why = if impossible {
        "nearly every proposal has probability 0. Check where the log-likelihood or the log prior is -infinity, or start inside the \
         support"
    } else {
        "every proposal was rejected. Use smaller steps, or start nearer to the mode; for a model of your own give start and scale, \
         rough posterior standard deviations"
    };
    format!("{who} moved from the start: {why}.")
}

/// Standard deviations that the theory predicts to be wrong by this factor.
fn inflated(inflation: f64) -> String {
    let how = if inflation.is_finite() {
        let side = if inflation > 1.0 { "wide" } else { "narrow" };
        format!("{:.0} % too {side}", 100.0 * (inflation - 1.0).abs())
    } else {
        "without bound".into()
    };
    format!(
        "The theory predicts posterior standard deviations {how} under this test. Use a smaller epsilon, a larger first look, \
         a compensated threshold or the exact rule."
    )
}
