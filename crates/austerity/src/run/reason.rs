//! Why draws must not be trusted, and the remedy for each reason; their sentences are in `reason/words.rs`.
//!
//! | reason | remedy | do more draws help |
//! |---|---|---|
//! | [`Reason::NoDraw`], [`Reason::Apart`], [`Reason::TooFew`], [`Reason::Small`], [`Reason::Tail`], [`Reason::RareCrossing`] | run longer | yes, unless another reason stands beside it |
//! | [`Reason::Unmoved`] | another start, smaller steps | no |
//! | [`Reason::Hazard`]: a flat direction, a degenerate mode, an exact fit, one response | a prior, other columns, other rows | no |
//! | the others | another test, or the exact rule | no |
//!
//! A [`Hazard`] is a property of the posterior that is known before the first draw; whoever looked for the mode tells the [`Evidence`](crate::run::Evidence) about it.

mod words;

use serde::{Deserialize, Serialize};

pub use words::several_modes;

/// A mode and the share of the posterior it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeFound {
    /// Share of the posterior mass in the mode, from 0 to 1.
    pub share: f64,
    /// Values of the parameters that tell modes apart.
    pub place: Vec<(String, f64)>,
}

/// What is wrong with a posterior, however long the chains run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hazard {
    /// The density does not change along some direction, so the posterior is improper.
    FlatDirection {
        /// The parameters that change along it.
        parameters: Vec<String>,
    },
    /// The density rises without bound, as when a scale goes to 0.
    DegenerateMode {
        /// The parameters that run away.
        parameters: Vec<String>,
    },
    /// The columns reproduce a real response up to rounding.
    ExactFit,
    /// Several modes hold mass, and chains do not cross from one to another.
    SeveralModes {
        /// The modes that matter, the heaviest first.
        modes: Vec<ModeFound>,
    },
    /// The prior of a parameter contradicts the data.
    PriorConflict {
        /// Name of the parameter.
        parameter: String,
        /// The prior, spelled as an option takes it.
        prior: String,
        /// What the likelihood alone says: centre and standard deviation.
        likelihood: (f64, f64),
        /// Distance of prior and likelihood in standard deviations of both.
        z: f64,
        /// Whether the prior is a default that nobody asked for.
        default: bool,
    },
    /// Every row has the same response.
    OneResponse {
        /// The value that every row has.
        value: String,
    },
}

impl Hazard {
    /// Whether the draws must not be trusted even where the chains agree: the posterior is improper, or rounding decides.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Self::OneResponse { .. } | Self::PriorConflict { default: false, .. })
    }
}

/// Why the draws must not be trusted, or a remark on them: see [`Verdict`](crate::run::Verdict).
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// A chain met an error.
    Failed {
        /// Number of the chain.
        chain: u32,
        /// The error in words.
        error: String,
    },
    /// Draws could not be stored.
    Unstored {
        /// The error in words.
        error: String,
    },
    /// The run never left its warm-up.
    NoDraw,
    /// Chains that accepted nothing.
    Unmoved {
        /// Number of chains that accepted nothing.
        stuck: usize,
        /// Number of chains in all.
        chains: usize,
        /// Whether nearly every proposal was impossible.
        impossible: bool,
    },
    /// Decisions read so much of the data on average that exact ones would be cheaper.
    Dear {
        /// Share of the data, from 0 to 1.
        share: f64,
    },
    /// The guard held up this share of the decisions.
    Guarded {
        /// Share of the decisions, from 0 to 1.
        share: f64,
    },
    /// The theory predicts standard deviations off by this factor.
    Inflated {
        /// sd of the draws over sd of the posterior.
        inflation: f64,
    },
    /// Audits contradict the prediction.
    Audits {
        /// The contradiction in words.
        sentence: String,
    },
    /// Audits contradicted the tests of some chains in warm-up.
    Tightened {
        /// Number of chains whose test was made stricter.
        tightened: usize,
        /// Number of chains in all.
        chains: usize,
    },
    /// Something about the posterior itself.
    Hazard(Hazard),
    /// R-hat is too large.
    Apart {
        /// Number of parameters whose R-hat is too large.
        count: usize,
        /// Number of parameters in all.
        of: usize,
        /// The largest R-hat.
        worst: f64,
        /// Name of the first such parameter.
        first: String,
        /// Whether more draws are the remedy.
        longer: bool,
    },
    /// No effective sample size could be computed.
    TooFew {
        /// Whether more draws are the remedy.
        longer: bool,
    },
    /// An effective sample size is too small.
    Small {
        /// The smallest.
        least: f64,
        /// Whether more draws are the remedy.
        longer: bool,
    },
    /// The draws do not have the tail that the prior gives the posterior.
    Tail {
        /// Name of the parameter.
        parameter: String,
        /// The value where the tail begins.
        from: f64,
        /// Whether the tail is that of large values.
        up: bool,
        /// Mean depth of the draws there; 1 is right.
        figure: f64,
        /// The largest |figure − 1| that passes.
        limit: f64,
    },
    /// Chains that jump between several modes crossed too rarely.
    RareCrossing {
        /// The modes, with their shares of the draws.
        modes: Vec<ModeFound>,
        /// Draws of a chain per change of its mode; infinite where none changed.
        every: f64,
        /// The largest Monte Carlo error of a share.
        error: f64,
    },
    /// Anything else, in words.
    Told(String),
}

impl From<String> for Reason {
    fn from(words: String) -> Self {
        Self::Told(words)
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.to_string()
    }
}

/// Reasons are serialised as sentences, for people.
impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::Told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.into()).collect()
    }

    #[test]
    fn a_hazard_names_its_parameters_and_its_own_remedy() {
        let told = |hazard: Hazard, words: &[&str]| {
            let text = hazard.to_string();
            assert!(words.iter().all(|word| text.contains(word)) && !text.contains("longer"), "{text}");
        };
        told(
            Hazard::FlatDirection { parameters: names(&["a"]) },
            &["flat", "a does not matter", "proper prior"],
        );
        told(
            Hazard::FlatDirection { parameters: names(&["a", "b"]) },
            &["a and b", "each of them a proper prior"],
        );
        let many = names(&["a", "b", "c", "d", "e", "f", "g"]);
        told(Hazard::DegenerateMode { parameters: many }, &["a, b, c, d, e and 2 more", "degenerate"]);
        told(Hazard::ExactFit, &["sigma", "rounding", "column"]);
        told(Hazard::OneResponse { value: "0".into() }, &["Every response is 0", "priors"]);
    }

    #[test]
    fn a_hazard_survives_a_file() {
        let all = [
            Hazard::FlatDirection { parameters: names(&["a"]) },
            Hazard::ExactFit,
            Hazard::OneResponse { value: "0".into() },
        ];
        for hazard in all {
            let text = serde_json::to_string(&hazard).unwrap();
            assert_eq!(serde_json::from_str::<Hazard>(&text).unwrap(), hazard, "{text}");
        }
        let reason = Reason::TooFew { longer: true };
        assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{reason}\""));
    }
}
