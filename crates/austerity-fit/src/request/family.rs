//! Which likelihood: the choices are those of the list of families, and linear regression.

use std::sync::LazyLock;

use std::{fmt, str};

use austerity_glm::generate::{self, Generate};
use austerity_glm::{AnyFamily, ResponseKind};

use super::choice::{Choice, Unread, as_text};

/// The likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyChoice {
    name: &'static str,
    about: &'static str,
    /// Whether it has a form for counts out of trials.
    trials: bool,
    /// Which responses it explains where there are no trials.
    kind: ResponseKind,
}

/// Normal noise, which has a model of its own.
const LINEAR: FamilyChoice = FamilyChoice {
    name: "linear",
    about: "real responses, normal noise",
    trials: false,
    kind: ResponseKind::Real,
};

static FAMILIES: LazyLock<Vec<FamilyChoice>> = LazyLock::new(|| {
    let mut all = vec![LINEAR];
    for facts in AnyFamily::ALL.iter().map(|family| family.facts()) {
        match all.iter_mut().find(|choice| choice.name == facts.choice) {
            Some(choice) => choice.trials |= facts.kind == ResponseKind::CountOfTrials,
            None => all.push(FamilyChoice {
                name: facts.choice,
                about: facts.about,
                trials: false,
                kind: facts.kind,
            }),
        }
    }
    // The usual one first.
    all.swap(0, 1);
    all
});

impl FamilyChoice {
    /// The choice of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        FAMILIES.iter().copied().find(|choice| choice.name == name)
    }

    /// As it is typed.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Which responses it explains; `None` where it knows no trials and there are some.
    #[must_use]
    pub fn kind(self, trials: bool) -> Option<ResponseKind> {
        match (trials, self.trials) {
            (true, true) => Some(ResponseKind::CountOfTrials),
            (true, false) => None,
            (false, _) => Some(self.kind),
        }
    }

    /// The choices that know trials, as a list.
    pub(crate) fn with_trials() -> String {
        let names: Vec<&str> =
            FAMILIES.iter().filter(|choice| choice.trials).map(|choice| choice.name).collect();
        names.join(" and ")
    }

    /// Data of this family with known coefficients.
    #[must_use]
    pub fn generate(self, rows: usize, features: usize) -> Generate {
        match AnyFamily::chosen(self.name, self.kind) {
            Some(family) => generate::of(family, rows, features),
            None => generate::linear(rows, features),
        }
    }
}

/// Each choice with its name and a sentence.
static CHOICES: LazyLock<Vec<(FamilyChoice, &str, &str)>> = LazyLock::new(|| {
    let about = |choice: &FamilyChoice| {
        let mut letters = choice.about.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let trials = if choice.trials { "; with a column of trials, counts out of them" } else { "" };
        first.chain(letters).chain(trials.chars()).chain(['.']).collect::<String>()
    };
    // Made once, for as long as the program runs.
    FAMILIES.iter().map(|choice| (*choice, choice.name, &*about(choice).leak())).collect()
});

impl Choice for FamilyChoice {
    fn all() -> &'static [(Self, &'static str, &'static str)] {
        &CHOICES
    }
}

impl fmt::Display for FamilyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl str::FromStr for FamilyChoice {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        let names: Vec<&str> = FAMILIES.iter().map(|choice| choice.name).collect();
        Self::named(text).ok_or_else(|| Unread::new(text, format!("known are {}", names.join(", "))))
    }
}

as_text!(FamilyChoice);
