//! The list of all families: the only place that names them.
//!
//! [`AnyFamily`] is one of them, chosen at run time; work that is generic over families is a [`Visitor`]. Options, generated data, predictions, checks and the tables of
//! the documentation are made from this list.

use super::family::{Extra, Family};
use super::negative_binomial::NegativeBinomial;
use super::probit::{BinomialProbit, Probit};
use super::{Binomial, Logistic, Poisson, Student, StudentNu};
use crate::{NoiseTails, ResponseKind};

/// Work that is generic over families.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// The work on one family.
    fn visit<F: Family>(self, family: F) -> Self::Output;
}

macro_rules! families {
    ($($name:ident = $usual:expr,)*) => {
        /// A family, chosen at run time.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum AnyFamily {
            $(
                #[doc = concat!("[`", stringify!($name), "`].")]
                $name($name),
            )*
        }

        impl AnyFamily {
            /// All families, with their usual settings.
            pub const ALL: &'static [Self] = &[$(Self::$name($usual)),*];

            /// Does generic work on it.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$name(family) => visitor.visit(family),)*
                }
            }

            /// What it is.
            #[must_use]
            pub fn facts(self) -> Facts {
                match self {
                    $(Self::$name(_) => Facts::of::<$name>(),)*
                }
            }
        }

        $(
            impl From<$name> for AnyFamily {
                fn from(family: $name) -> Self {
                    Self::$name(family)
                }
            }
        )*
    };
}

families! {
    Logistic = Logistic,
    Binomial = Binomial,
    Poisson = Poisson,
    NegativeBinomial = NegativeBinomial,
    Probit = Probit,
    BinomialProbit = BinomialProbit,
    Student = Student { freedom: 4.0 },
    StudentNu = StudentNu,
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
    /// Whether the log density is concave in all parameters.
    pub log_concave: bool,
    /// What default priors assume of the noise.
    pub tails: NoiseTails,
}

impl Facts {
    fn of<F: Family>() -> Self {
        Self {
            name: F::NAME,
            choice: F::CHOICE,
            words: F::WORDS,
            effect: F::EFFECT,
            about: F::ABOUT,
            kind: F::KIND,
            extra: F::EXTRA,
            log_concave: F::LOG_CONCAVE,
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

    /// The family of this name, with its usual settings.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| family.facts().name == name)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the documentation is that of the list, in its order; linear regression comes last.
    #[test]
    fn the_documentation_lists_all_families() {
        let text = include_str!("../../../../docs/families.md");
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
            assert_eq!(AnyFamily::named(facts.name), Some(family));
            assert_eq!(AnyFamily::chosen(facts.choice, facts.kind), Some(family));
            assert!(facts.extra.len() <= super::super::MOST_EXTRA);
        }
        assert_eq!(AnyFamily::named("gaussian"), None);
        assert_eq!(
            AnyFamily::usual(ResponseKind::Binary).map(|family| family.facts().name),
            Some("logistic")
        );
    }
}
