//! Rows as a user gives them: how many there may be, which lengths fit, and the order they are stored in.
//!
//! Whoever writes a model of a type of its own checks its input and shuffles its rows with these. Storage is shuffled once, so that a decision may read
//! blocks of neighbours as if they were drawn at random.

use crate::error::{Error, Result};

/// Refuses no rows and more rows than u32 can count.
pub fn check_rows(rows: usize) -> Result<()> {
    match rows {
        0 => Err(Error::EmptyData),
        _ if rows > u32::MAX as usize => Err(Error::TooManyRows { rows, limit: u32::MAX as usize }),
        _ => Ok(()),
    }
}

/// Refuses a state of the wrong length.
pub fn check_state(state: &[f64], expected: usize) -> Result<()> {
    check_length("state", expected, state.len())
}

/// Refuses another length than the expected one.
pub fn check_length(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Dimension { what: what.into(), expected, found }) }
}

/// A random number for every row, in turn: rows in the order of their numbers are in a uniformly random order. Unlike
/// [`storage_order`] this needs no list of all rows, so that data larger than memory can be shuffled in parts.
pub fn shuffle_keys(seed: u64) -> impl Iterator<Item = u64> {
    use rand::Rng as _;
    let mut rng = crate::rng::stream(seed, 1, crate::rng::Role::Shuffle);
    std::iter::repeat_with(move || rng.next_u64())
}

/// The permutation that `shuffle` gives for `rows` rows; the identity without one.
#[must_use]
pub fn storage_order(rows: usize, shuffle: Option<u64>) -> Vec<u32> {
    use rand::seq::SliceRandom as _;
    let mut order: Vec<u32> = (0..rows as u32).collect();
    if let Some(seed) = shuffle {
        order.shuffle(&mut crate::rng::stream(seed, 0, crate::rng::Role::Shuffle));
    }
    order
}
