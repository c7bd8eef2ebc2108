//! Columns in pieces of some thousand rows, for tables larger than memory.
//!
//! Every format hands over the same [`Chunk`]s in row order; nothing of the file's size is kept but the different texts of
//! text columns. A scan may be repeated: texts get the same codes again.

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Rows handed over at a time.
pub const CHUNK_ROWS: usize = 1 << 12;

/// Some rows of one column.
#[derive(Clone, Copy, Debug)]
pub enum Chunk<'a> {
    /// Finite numbers.
    Numbers(&'a [f64]),
    /// Text: row i holds `labels[codes[i]]`.
    Levels {
        /// One code per row.
        codes: &'a [u32],
        /// The different texts so far, in the order of their first row.
        labels: &'a [String],
        /// Whether the texts `true` and `false` stand for 1 and 0 when there are no others.
        truths: bool,
    },
    /// Numbers of levels, of computed columns alone: row i holds `numbers[i]` for the level `labels[codes[i]]`, and 0 for the others.
    Slopes {
        /// One code per row.
        codes: &'a [u32],
        /// The levels.
        labels: &'a [String],
        /// One number per row.
        numbers: &'a [f64],
    },
}

impl Chunk<'_> {
    /// Rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Levels { codes, .. } | Self::Slopes { codes, .. } => codes.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What becomes of rows in which a value is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// The first one is an error with its file, column and row.
    #[default]
    Refuse,
    /// They are left out and counted.
    Drop,
}

/// What a reader does with values that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// The first one is an error with its place.
    Refuse,
    /// A number is NaN, a text has the code [`MISSING`](super::levels::MISSING).
    Keep,
}

/// Takes the number of the first row (from 0) and the columns of a piece.
pub type Visit<'a> = dyn FnMut(usize, &[Chunk<'_>]) -> Result<()> + 'a;
