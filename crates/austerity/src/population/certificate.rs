//! What can be said about a total for certain before its rows are read.
//!
//! Some populations know more than a sample tells: the residuals of an expansion have a bound, row by row, that no state nearby passes
//! (`austerity_glm::glm::expansion::bound`). A [`Certificate`] says that the total lies within `bound` of `estimate`; no probability is involved.
//! [`crate::rule::Certified`] asks for narrower and narrower ones until the sign of what it compares is beyond doubt.

/// |total − estimate| ≤ bound, where total is what [`crate::population::Population::total`] computes, its rounding included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// The total, as far as it is known.
    pub estimate: f64,
    /// How far from it the total can be. NaN: no idea.
    pub bound: f64,
    /// Rows read for this certificate and for none before.
    pub rows: u64,
}
