//! The list of all families: the only place that names them.
//!
//! [`AnyFamily`] is one of them, chosen at run time; work that is generic over families is a [`Visitor`]. Options, generated data, predictions, checks and the tables of
//! the documentation are made from this list. A family is a file here, a `mod` line and a row below.

pub mod beta;
pub mod binomial;
pub mod cloglog;
pub mod gamma;
pub mod logistic;
pub mod negative_binomial;
pub mod ordered;
pub mod poisson;
pub mod probit;
pub mod student;
pub mod student_nu;
pub mod survival;
pub mod zero_inflated;

use super::family::{Extra, Family, Setting};
use super::plain::Plain;
use crate::{NoiseTails, ResponseKind};
use austerity::error::{Error, Result, setting};
use std::{fmt, str};

/// Work that is generic over families.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// The work on one family.
    fn visit<F: Family>(self, family: F) -> Self::Output;
}

/// A family as loops see it.
macro_rules! in_loops {
    (kernel, $name:ident, $family:ident) => {
        $family
    };
    (plain, $name:ident, $family:ident) => {{
        // A static, so that what its rows need is compiled in this crate alone and not wherever a visitor is.
        static PLAIN: Plain = Plain::of(&$name::USUAL);
        let _: $name = $family;
        PLAIN
    }};
    (kept, $name:ident, $family:ident) => {
        Plain::of($family.kept())
    };
}

macro_rules! families {
    ($($how:ident $file:ident: $($name:ident),+;)*) => {
        /// Every family by its name.
        pub mod listed {
            $(pub use super::$file::{$($name),+};)*
        }
        use listed::*;

        /// A family, chosen at run time.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum AnyFamily {
            $($(
                #[doc = concat!("[`", stringify!($name), "`].")]
                $name($name),
            )+)*
        }

        impl AnyFamily {
            /// All families, with their usual settings.
            pub const ALL: &'static [Self] = &[$($(Self::$name($name::USUAL),)+)*];

            /// Does generic work on it; families without a kernel share one type.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $($(Self::$name(family) => visitor.visit(in_loops!($how, $name, family)),)+)*
                }
            }

            /// Does generic work on its definition: for tests, since all that is generic is compiled for every family.
            pub fn visit_definition<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $($(Self::$name(family) => visitor.visit(family),)+)*
                }
            }

            /// The same family with another number after its name.
            pub fn with_setting(self, number: f64) -> Result<Self> {
                match self {
                    $($(Self::$name(family) => with_setting(family, number).map(Self::$name),)+)*
                }
            }

            /// What it is.
            #[must_use]
            pub fn facts(self) -> Facts {
                match self {
                    $($(Self::$name(family) => Facts { extra: family.extra(), ..Facts::of::<$name>() },)+)*
                }
            }
        }

        $($(
            impl From<$name> for AnyFamily {
                fn from(family: $name) -> Self {
                    Self::$name(family)
                }
            }
        )+)*
    };
}

families! {
    kernel logistic: Logistic;
    kernel binomial: Binomial;
    kernel poisson: Poisson;
    plain negative_binomial: NegativeBinomial;
    plain probit: Probit, BinomialProbit;
    kernel student: Student;
    plain student_nu: StudentNu;
    plain cloglog: Cloglog, BinomialCloglog;
    plain gamma: Gamma;
    plain beta: Beta;
    plain survival: Exponential, Weibull, Lognormal;
    kept ordered: OrderedLogit, OrderedProbit;
    plain zero_inflated: ZeroInflatedPoisson;
}

fn with_setting<F: Family>(family: F, number: f64) -> Result<F> {
    if F::SETTING.is_none() {
        return Err(setting(F::NAME, number, "no number after its name"));
    }
    let family = family.with_setting(number);
    family.check()?;
    Ok(family)
}

/// What a family says of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Name.
    pub name: &'static str,
    /// The name of the option that chooses it: families of binary responses and of trials share one.
    pub choice: &'static str,
    /// In words.
    pub words: &'static str,
    /// What a coefficient changes.
    pub effect: &'static str,
    /// One line of documentation.
    pub about: &'static str,
    /// Which responses it explains.
    pub kind: ResponseKind,
    /// The parameters that follow the coefficients.
    pub extra: &'static [Extra],
    /// The number that may follow its name.
    pub setting: Option<Setting>,
    /// Whether the log density is concave in all parameters.
    pub log_concave: bool,
    /// Whether only response − η matters.
    pub location: bool,
    /// Whether the mean depends on the extra parameters, too.
    pub mean_by_extra: bool,
    /// Whether each extra parameter is larger than the one before.
    pub rising: bool,
    /// What default priors assume of the noise.
    pub tails: NoiseTails,
}

impl Facts {
    pub(super) const fn of<F: Family>() -> Self {
        Self {
            name: F::NAME,
            choice: F::CHOICE,
            words: F::WORDS,
            effect: F::EFFECT,
            about: F::ABOUT,
            kind: F::KIND,
            extra: F::EXTRA,
            setting: F::SETTING,
            log_concave: F::LOG_CONCAVE,
            location: F::LOCATION,
            mean_by_extra: F::MEAN_BY_EXTRA,
            rising: F::RISING,
            tails: F::TAILS,
        }
    }
}

impl AnyFamily {
    /// In words, with its settings.
    #[must_use]
    pub fn words(self) -> String {
        struct Words;
        impl Visitor for Words {
            type Output = String;
            fn visit<F: Family>(self, family: F) -> String {
                family.words()
            }
        }
        self.visit(Words)
    }

    /// The number that may follow its name.
    #[must_use]
    pub fn setting(self) -> Option<f64> {
        struct Number;
        impl Visitor for Number {
            type Output = Option<f64>;
            fn visit<F: Family>(self, family: F) -> Option<f64> {
                family.setting()
            }
        }
        self.visit(Number)
    }

    /// The number unless another is given.
    #[must_use]
    pub fn usual_setting(self) -> Option<f64> {
        let same = |family: &&Self| family.facts().name == self.facts().name;
        Self::ALL.iter().find(same).and_then(|family| family.setting())
    }

    /// The family that an option chooses for a kind of response.
    #[must_use]
    pub fn chosen(choice: &str, kind: ResponseKind) -> Option<Self> {
        let fits = |family: &Self| family.facts().choice == choice && family.facts().kind == kind;
        Self::ALL.iter().copied().find(fits)
    }

    /// The usual family of a kind of response: the first of the list.
    #[must_use]
    pub fn usual(kind: ResponseKind) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| family.facts().kind == kind)
    }
}

/// The name, and the number after it where that is not the usual one: `student` or `student:7`.
impl fmt::Display for AnyFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().name)?;
        match self.setting() {
            Some(number) if self.usual_setting() != Some(number) => write!(f, ":{number}"),
            _ => Ok(()),
        }
    }
}

impl str::FromStr for AnyFamily {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        let unknown = || setting("family", text, "a name of the list, with a number where it takes one");
        let family = Self::ALL.iter().copied().find(|family| family.facts().name == name);
        let family = family.ok_or_else(unknown)?;
        match number {
            None => Ok(family),
            Some(number) => family.with_setting(number.parse().map_err(|_| unknown())?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the documentation is that of the list, in its order; linear regression comes last.
    #[test]
    fn the_documentation_lists_all_families() {
        let text = include_str!("../../../../../docs/families.md");
        let mut rest = text;
        for facts in AnyFamily::ALL.iter().map(|family| family.facts()) {
            let extra: Vec<String> =
                facts.extra.iter().map(|extra| format!("`{}`: {}", extra.name, extra.about)).collect();
            let extra = if extra.is_empty() { "–".into() } else { extra.join(", ") };
            let row = format!("| {} | `{}` | {} | {extra} |\n", facts.name, facts.choice, facts.about);
            let place = rest.find(&row);
            assert!(place.is_some(), "docs/families.md lacks, or has not in this order: {row}");
            rest = &rest[place.unwrap_or(0) + row.len()..];
        }
        assert!(rest.starts_with("| linear |"), "{rest}");
    }

    #[test]
    fn names_and_choices_find_their_family() {
        for &family in AnyFamily::ALL {
            let facts = family.facts();
            assert_eq!(facts.name.parse::<AnyFamily>().unwrap(), family);
            assert_eq!(family.to_string(), facts.name);
            assert_eq!(family.setting().is_some(), facts.setting.is_some());
            assert_eq!(AnyFamily::chosen(facts.choice, facts.kind), Some(family));
            assert!(facts.extra.len() <= super::super::MOST_EXTRA);
        }
        assert!("gaussian".parse::<AnyFamily>().is_err());
        assert_eq!(
            AnyFamily::usual(ResponseKind::Binary).map(|family| family.facts().name),
            Some("logistic")
        );
    }

    #[test]
    fn a_number_after_the_name_is_kept_and_checked() {
        let seven: AnyFamily = "student:7".parse().unwrap();
        assert_eq!(seven, Student { freedom: 7.0 }.into());
        assert_eq!(seven.to_string(), "student:7");
        assert!(seven.words().contains("7 degrees of freedom"), "{}", seven.words());
        assert_eq!("student:4".parse::<AnyFamily>().unwrap().to_string(), "student");
        for wrong in
            ["student:0", "student:-1", "student:inf", "student:", "student:x", "poisson:2", "student-nu:3"]
        {
            assert!(wrong.parse::<AnyFamily>().is_err(), "{wrong}");
        }
    }
}
