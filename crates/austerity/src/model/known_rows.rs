//! Log-likelihoods of a user's own function: which numbers it may return, and those already known of a state.
//!
//! NaN and +∞ are errors with their row. −∞ is an impossible row: the candidate is rejected, but a chain cannot stand there. Shared by
//! [`from_fn`](crate::model::from_fn()), row by row, and `austerity_glm::own::from_batches`.

use crate::error::{Error, Result};

/// Log-likelihoods of the first rows of the storage at a state; rows beyond are not known yet.
#[derive(Clone, Debug, Default)]
pub struct KnownRows {
    state: Vec<f64>,
    /// In the order of the storage.
    pub values: Vec<f64>,
}

impl KnownRows {
    /// Nothing known, with memory for states of `dimension` numbers and for `rows` rows.
    pub fn with_capacity(dimension: usize, rows: usize) -> Self {
        Self { state: Vec::with_capacity(dimension), values: Vec::with_capacity(rows) }
    }

    /// Starts anew for `state`, keeping the memory.
    pub fn begin(&mut self, state: &[f64]) {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.values.clear();
    }

    /// Whether this is of `state`, to the last bit.
    pub fn belongs_to(&self, state: &[f64]) -> bool {
        let bits = |v: &f64| v.to_bits();
        self.state.iter().map(bits).eq(state.iter().map(bits))
    }
}

/// Refuses a log-likelihood that no row may have; `current` where the chain stands.
#[inline]
pub fn check_value(value: f64, current: bool, row: impl FnOnce() -> usize) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    if value.is_nan() {
        return Err(Error::NotANumber { row: row() });
    }
    if value == f64::INFINITY {
        return Err(Error::OutOfRange {
            what: "log-likelihood".into(),
            row: row(),
            value,
            allowed: "finite, or -infinity for a row that is impossible".into(),
        });
    }
    if current { Err(Error::InfiniteRatio { row: row() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_candidates_may_be_impossible() {
        assert!(check_value(-3.0, true, || 7).is_ok());
        assert!(check_value(f64::NEG_INFINITY, false, || 7).is_ok());
        assert_eq!(check_value(f64::NEG_INFINITY, true, || 7), Err(Error::InfiniteRatio { row: 7 }));
        assert_eq!(check_value(f64::NAN, false, || 7), Err(Error::NotANumber { row: 7 }));
        assert!(matches!(check_value(f64::INFINITY, false, || 7), Err(Error::OutOfRange { row: 7, .. })));
    }

    #[test]
    fn a_state_is_known_to_the_last_bit() {
        let mut known = KnownRows::with_capacity(2, 3);
        known.begin(&[1.0, 0.0]);
        known.values.push(2.0);
        assert!(
            known.belongs_to(&[1.0, 0.0]) && !known.belongs_to(&[1.0, -0.0]) && !known.belongs_to(&[1.0])
        );
        known.begin(&[1.0, -0.0]);
        assert!(known.values.is_empty());
    }
}
