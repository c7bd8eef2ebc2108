//! What a number becomes in a term: itself, shifted and scaled, powers, orthogonal polynomials, splines.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | [`Basis`]: everything that was learnt from the data, as plain data; the columns of one value |
//! | [`polynomial`] | orthogonal polynomials by their recurrence |
//! | [`spline`] | B-splines |
//! | [`natural`] | natural cubic regression splines |
//! | [`learn`] | passes over the data that find means, ranges, moments and knots; partial answers merge |
//! | [`quantile`] | exact order statistics by counting the bits of numbers |
//!
//! A basis is stored with a run and applied to new tables: the same value has the same columns, bit for bit, whatever else the table holds.
//! Outside the range of the data B-splines and polynomials go on as polynomials and natural splines as straight lines.

pub mod learn;
pub mod natural;
pub mod polynomial;
pub mod quantile;
pub mod spline;

use serde::{Deserialize, Serialize};

pub use learn::{Learner, Partial, Step, Trouble};
pub use natural::NaturalCubic;
pub use polynomial::Orthogonal;
pub use spline::BSplines;

/// What a number becomes in a term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Itself.
    Plain,
    /// (x − shift)/scale.
    Scaled {
        /// What is taken off.
        shift: f64,
        /// What it is divided by.
        scale: f64,
    },
    /// x, x², … up to a degree.
    Powers(usize),
    /// Orthogonal polynomials.
    Orthogonal(Orthogonal),
    /// B-splines.
    B(BSplines),
    /// Natural cubic regression splines.
    NaturalCubic(NaturalCubic),
}

impl Basis {
    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Plain | Self::Scaled { .. } => 1,
            Self::Powers(degree) => *degree,
            Self::Orthogonal(polynomials) => polynomials.degree(),
            Self::B(splines) => splines.width(),
            Self::NaturalCubic(splines) => splines.width(),
        }
    }

    /// The smallest and the largest value that have a place among the knots, of bases that say nothing beyond: B-splines.
    #[must_use]
    pub fn limits(&self) -> Option<(f64, f64)> {
        match self {
            Self::B(splines) => splines.limits(),
            Self::Plain
            | Self::Scaled { .. }
            | Self::Powers(_)
            | Self::Orthogonal(_)
            | Self::NaturalCubic(_) => None,
        }
    }

    /// Writes the columns of one value, [`Basis::width`] of them.
    pub fn write(&self, x: f64, out: &mut [f64]) {
        match self {
            Self::Plain => out[0] = x,
            Self::Scaled { shift, scale } => out[0] = (x - shift) / scale,
            Self::Powers(_) => {
                let mut power = 1.0;
                for slot in out {
                    power *= x;
                    *slot = power;
                }
            }
            Self::Orthogonal(polynomials) => polynomials.write(x, out),
            Self::B(splines) => splines.write(x, out),
            Self::NaturalCubic(splines) => splines.write(x, out),
        }
    }
}
