//! Choices among a few names: one list per choice gives the type, its spelling, its help, and how files keep it.

use std::fmt;

/// A text that names no choice, and those that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The text.
    pub text: String,
    /// What it could have been.
    pub allowed: String,
}

impl Unread {
    pub(crate) fn new(text: &str, allowed: impl Into<String>) -> Self {
        Self { text: text.into(), allowed: allowed.into() }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.allowed)
    }
}

impl std::error::Error for Unread {}

/// One of a few names.
pub trait Choice: Copy + 'static {
    /// Every choice with its name and a sentence about it.
    fn all() -> &'static [(Self, &'static str, &'static str)];
}

/// Keeps a value in files as the text that people write.
macro_rules! as_text {
    ($($Name:ty),*) => { $(
        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(|error: $crate::request::Unread| {
                    serde::de::Error::custom(format!("`{}`: {error}", error.text))
                })
            }
        }
    )* };
}
pub(crate) use as_text;

macro_rules! choice {
    ($(#[$about:meta])* $Name:ident { $(#[doc = $help:literal] $Variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name { $(#[doc = $help] $Variant,)* }

        impl Choice for $Name {
            fn all() -> &'static [(Self, &'static str, &'static str)] {
                &[$((Self::$Variant, $text, $help)),*]
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$Variant => $text),* })
            }
        }

        impl std::str::FromStr for $Name {
            type Err = Unread;

            fn from_str(text: &str) -> Result<Self, Unread> {
                match text {
                    $($text => Ok(Self::$Variant),)*
                    _ => Err(Unread::new(text, concat!("known are" $(, " ", $text, ",")*).trim_end_matches(','))),
                }
            }
        }

        as_text!($Name);
    };
}

choice! {
    /// The accept/reject rule.
    RuleChoice {
        /// The cheapest rule within the tolerance, as a pilot run and the theory find it.
        Auto = "auto",
        /// Exact Metropolis–Hastings: every decision reads all rows.
        Exact = "exact",
        /// Sequential test on a growing sample of rows; settings left open are designed for the tolerance.
        Sequential = "sequential",
        /// Exact decisions from bounds on the surrogate's error; most read no row.
        Certified = "certified",
        /// No decisions: every candidate of sgld or sgfs is taken, and the draws are biased.
        None = "none",
    }
}

choice! {
    /// A named set of choices.
    Preset {
        /// Algorithm 1 of the paper exactly: single rows, constant steps and bounds, no guard, plain threshold.
        Paper = "paper",
    }
}

choice! {
    /// The reference distribution of the test statistic.
    StatisticChoice {
        /// Standard normal.
        Normal = "normal",
        /// Student t with n − 1 degrees of freedom.
        T = "t",
    }
}

choice! {
    /// Rows in which a column that is used has no value.
    MissingChoice {
        /// An error that names the first one.
        Refuse = "refuse",
        /// Left out; a remark counts them by column.
        Drop = "drop",
    }
}

choice! {
    /// The bounds that a design searches.
    BoundFamily {
        /// Constant bounds at level ε.
        Pocock = "pocock",
        /// Wang–Tsiatis bounds, O'Brien–Fleming among them.
        WangTsiatis = "wang-tsiatis",
    }
}
