//! Which likelihood: the choices are those of the list of families, and linear regression.

use std::sync::LazyLock;

use std::{fmt, str};

use austerity_glm::generate::{self, Generate};
use austerity_glm::{AnyFamily, ResponseKind};

use super::choice::{Choice, Unread, as_text};

/// The likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FamilyChoice {
    name: &'static str,
    about: &'static str,
    /// Whether it has a form for counts out of trials.
    trials: bool,
    /// Which responses it explains where there are no trials.
    kind: ResponseKind,
    /// The number after its name, where it is not the usual one.
    setting: Option<f64>,
}

/// Normal noise, which has a model of its own.
const LINEAR: FamilyChoice = FamilyChoice {
    name: "linear",
    about: "real responses, normal noise",
    trials: false,
    kind: ResponseKind::Real,
    setting: None,
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
                setting: None,
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

    /// The family of the list that explains this kind of response; `None` for linear regression, which has a model of its own.
    #[must_use]
    pub fn family(self, kind: ResponseKind) -> Option<AnyFamily> {
        // Responses of another kind are refused by the model, in its words.
        let all = || AnyFamily::ALL.iter().copied();
        let usual = AnyFamily::chosen(self.name, kind)
            .or_else(|| all().find(|family| family.facts().choice == self.name))?;
        // Checked when it was read.
        Some(self.setting.and_then(|number| usual.with_setting(number).ok()).unwrap_or(usual))
    }

    /// The same family with a number after its name.
    fn with_setting(self, text: &str, number: &str) -> Result<Self, Unread> {
        let unread = |allowed: String| Unread::new(text, allowed);
        let family = self.family(self.kind);
        let Some((family, setting)) = family.and_then(|family| Some((family, family.facts().setting?)))
        else {
            return Err(unread(format!("{} takes no number", self.name)));
        };
        let number: f64 = number.trim().parse().map_err(|_| {
            let usual = family.usual_setting().unwrap_or_default();
            unread(format!("write the {} as a number, such as {}:{usual}", setting.about, self.name))
        })?;
        let chosen = family.with_setting(number).map_err(|error| unread(error.to_string()))?;
        // The usual number is the name alone, so that both are one request.
        Ok(Self { setting: chosen.setting().filter(|_| family.usual_setting() != Some(number)), ..self })
    }

    /// The number after its name, where it is not the usual one.
    pub(crate) fn setting(self) -> Option<f64> {
        self.setting
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

    /// The choices that explain times, as a list.
    pub(crate) fn of_times() -> String {
        let times = FAMILIES.iter().filter(|choice| choice.kind == ResponseKind::Time);
        let names: Vec<&str> = times.map(|choice| choice.name).collect();
        names.join(", ")
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
        match self.family(self.kind) {
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
        let number = choice.family(choice.kind).and_then(|family| {
            let (setting, usual) = (family.facts().setting?, family.usual_setting()?);
            Some(format!("; {}:{} sets the {} ({usual})", choice.name, setting.symbol, setting.about))
        });
        let number = number.unwrap_or_default();
        first.chain(letters).chain(trials.chars()).chain(number.chars()).chain(['.']).collect::<String>()
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
        f.write_str(self.name)?;
        self.setting.map_or(Ok(()), |number| write!(f, ":{number}"))
    }
}

impl str::FromStr for FamilyChoice {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        let names: Vec<&str> = FAMILIES.iter().map(|choice| choice.name).collect();
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        let family =
            Self::named(name).ok_or_else(|| Unread::new(text, format!("known are {}", names.join(", "))))?;
        number.map_or(Ok(family), |number| family.with_setting(text, number))
    }
}

as_text!(FamilyChoice);
