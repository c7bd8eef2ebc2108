//! Rows that travel by value: those of largest score, and the sample of smallest keys.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// Some rows of the data, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// Numbers of a row, in the order of a block's columns.
    pub(crate) width: usize,
    pub(crate) tags: Vec<Tag>,
    pub(crate) values: Vec<f32>,
}

/// Which row it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tag {
    /// A random number that is a function of the seed and the row.
    pub(crate) key: u64,
    /// Its number in all data.
    pub(crate) row: u64,
    /// What it can leave of an expansion, where that is known.
    pub(crate) score: f32,
}

impl Tag {
    /// Smaller keys first.
    pub(crate) fn by_key(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(self.row.cmp(&other.row))
    }

    /// Larger scores first.
    pub(crate) fn by_score(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.row.cmp(&other.row))
    }
}

impl Carried {
    pub(crate) fn len(&self) -> usize {
        self.tags.len()
    }

    /// The rows whose tags are wanted.
    pub(crate) fn filtered(&self, mut wanted: impl FnMut(&Tag) -> bool) -> Self {
        let mut kept = Self { width: self.width, ..Self::default() };
        for (tag, values) in self.iter().filter(|(tag, _)| wanted(tag)) {
            kept.tags.push(*tag);
            kept.values.extend_from_slice(values);
        }
        kept
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Tag, &[f32])> {
        self.tags.iter().zip(self.values.chunks_exact(self.width.max(1)))
    }

    /// The first `most` of the rows of both, in an order that has no ties between different rows.
    pub(crate) fn merged(self, other: Self, most: usize, order: impl Fn(&Tag, &Tag) -> Ordering) -> Self {
        if other.tags.is_empty() {
            return self;
        }
        if self.tags.is_empty() && other.len() <= most {
            return other;
        }
        let width = self.width.max(other.width);
        let mut places: Vec<(&Tag, &[f32])> = self.iter().chain(other.iter()).collect();
        places.sort_unstable_by(|a, b| order(a.0, b.0));
        places.truncate(most);
        let tags = places.iter().map(|(tag, _)| **tag).collect();
        let values = places.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        Self { width, tags, values }
    }
}
