//! Which likelihood: the choices are those of the list of families, and linear regression.

use std::sync::LazyLock;

use austerity::model::generate::{self, Generate};
use austerity::model::{AnyFamily, ResponseKind};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

static ALL: LazyLock<Vec<FamilyChoice>> = LazyLock::new(|| {
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
        let names: Vec<&str> = ALL.iter().filter(|choice| choice.trials).map(|choice| choice.name).collect();
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

impl ValueEnum for FamilyChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = if self.trials {
            format!("{}; with --trials, counts out of them", capitalised(self.about))
        } else {
            capitalised(self.about)
        };
        Some(PossibleValue::new(self.name).help(help))
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl Serialize for FamilyChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for FamilyChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = ALL.iter().copied().find(|choice| choice.name == name);
        found.ok_or_else(|| D::Error::custom(format!("no family is called {name:?}")))
    }
}
