//! Rows sorted by group, groups in random order, each group's columns one after the other.
//!
//! A decision draws groups in blocks without replacement, so their *order* is shuffled once, by the seed of the rows; within a group rows keep the order of the store.
//! Of a group with n rows its dense columns follow each other, n numbers each, then the places of its levels: sums over rows run straight through memory.
//!
//! Memory: 4 bytes per row and column, as the store. Levels are places, not columns of 0 and 1.

use std::ops::Range;

use crate::ResponseKind;
use crate::glm::blocks::Layout;
use crate::glm::predictor::levels;
use crate::store::Store;
use austerity::error::{Error, Result, setting};
use austerity::model::storage_order;

/// Which group every row belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Membership {
    /// The group of every row, as the user counts rows.
    pub group: Vec<u32>,
    /// Names of the groups.
    pub levels: Vec<String>,
}

/// Rows sorted by group.
pub struct Grouped {
    /// Dense columns, x̃ = (x − shift)/scale.
    pub(super) columns: usize,
    /// Coefficients of levels, and level columns per row.
    pub(super) places: usize,
    pub(super) factors: usize,
    pub(super) shift: Vec<f64>,
    pub(super) scale: Vec<f64>,
    /// Where the coefficient of every column of the user stands among dense columns, then places.
    pub(super) slots: Vec<usize>,
    pub(super) intercept: bool,
    /// What is added to every linear predictor.
    pub(super) constant: f64,
    starts: Vec<usize>,
    dense: Vec<f32>,
    levels: Vec<u32>,
    response: Vec<f32>,
    trials: Option<Vec<f32>>,
    offset: Option<Vec<f32>>,
    weight: Option<Vec<f32>>,
    /// The level that every group is, and the first original row of it.
    names: Vec<u32>,
    fingerprint: u64,
}

impl std::fmt::Debug for Grouped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grouped")
            .field("groups", &self.len())
            .field("rows", &self.response.len())
            .finish_non_exhaustive()
    }
}

/// The rows of a group.
#[derive(Clone, Copy, Debug)]
pub struct GroupRows<'a> {
    /// Columns, one after the other.
    pub dense: &'a [f32],
    /// Places of levels, factor by factor; 0 has no coefficient.
    pub levels: &'a [u32],
    /// Stored responses.
    pub response: &'a [f32],
    /// Trials.
    pub trials: Option<&'a [f32]>,
    /// Known part of the linear predictor.
    pub offset: Option<&'a [f32]>,
    /// Frequency weights.
    pub weight: Option<&'a [f32]>,
}

impl Grouped {
    /// Sorts the rows of `store`; groups without rows are left out.
    pub fn new(store: &Store, membership: &Membership, seed: u64) -> Result<Self> {
        let description = store.description();
        let layout: Layout = description.layout();
        let rows = store.rows();
        if membership.group.len() != rows {
            return Err(Error::Dimension {
                what: "rows with a group".into(),
                expected: rows,
                found: membership.group.len(),
            });
        }
        if layout.slopes > 0 {
            return Err(setting(
                "columns",
                "levels with slopes",
                "numbers, and levels without slopes, beside group terms",
            ));
        }
        let mut counts = vec![0_usize; membership.levels.len()];
        membership.group.iter().for_each(|&group| counts[group as usize] += 1);
        let shuffled = storage_order(counts.len(), Some(seed ^ 0x9e37_79b9_7f4a_7c15));
        let names: Vec<u32> = shuffled.into_iter().filter(|&level| counts[level as usize] > 0).collect();
        let (mut starts, mut first) = (vec![0], vec![0; counts.len()]);
        for &level in &names {
            let start = starts[starts.len() - 1];
            first[level as usize] = start;
            starts.push(start + counts[level as usize]);
        }
        let side = |place: Option<usize>| place.map(|_| vec![0.0_f32; rows]);
        let dense_columns: Vec<_> =
            description.columns.iter().filter(|column| column.factor.is_none()).collect();
        let mut made = Self {
            columns: layout.columns,
            places: layout.levels,
            factors: layout.factors,
            shift: dense_columns.iter().map(|column| column.transform.shift).collect(),
            scale: dense_columns.iter().map(|column| column.transform.scale).collect(),
            slots: description.slots(),
            intercept: description.intercept,
            constant: description.side_constant(),
            dense: vec![0.0; rows * layout.columns],
            levels: vec![0; rows * layout.factors],
            response: vec![0.0; rows],
            trials: side(layout.trials),
            offset: side(layout.offset),
            weight: side(layout.weight),
            starts,
            names,
            fingerprint: description.fingerprint,
        };
        made.fill(store, membership, (&counts, first));
        made.fingerprint ^= made.words();
        Ok(made)
    }

    fn fill(&mut self, store: &Store, membership: &Membership, (counts, mut next): (&[usize], Vec<usize>)) {
        let begins = next.clone();
        let order = store.original_rows();
        let (blocks, layout) = (store.blocks(), store.description().layout());
        for (position, &row) in order.iter().enumerate() {
            let level = membership.group[row as usize] as usize;
            let (start, n, at) = (begins[level], counts[level], next[level]);
            next[level] += 1;
            let place = at - start;
            let lines = blocks.block(position / 32);
            let i = position % 32;
            let value = |column: usize| lines[2 * column + i / 16].0[i % 16];
            for column in 0..layout.columns {
                self.dense[start * layout.columns + column * n + place] = value(column);
            }
            for (factor, (level, _)) in levels::values_of_row(&layout, lines, i).enumerate() {
                self.levels[start * layout.factors + factor * n + place] = level as u32;
            }
            self.response[at] = value(layout.response);
            for (side, column) in [
                (&mut self.trials, layout.trials),
                (&mut self.offset, layout.offset),
                (&mut self.weight, layout.weight),
            ] {
                if let (Some(side), Some(column)) = (side, column) {
                    side[at] = value(column);
                }
            }
        }
    }

    fn words(&self) -> u64 {
        let groups = self.names.iter().copied().chain(self.starts.iter().map(|&start| start as u32));
        austerity::model::fingerprint(groups)
    }

    /// J.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.response.len()
    }

    /// Rows of a group.
    #[must_use]
    pub fn size(&self, group: usize) -> usize {
        self.starts[group + 1] - self.starts[group]
    }

    /// The level that a group is.
    #[must_use]
    pub fn level(&self, group: usize) -> usize {
        self.names[group] as usize
    }

    /// Groups in pieces of about as many rows each: what threads share.
    #[must_use]
    pub fn pieces(&self, pieces: usize) -> Vec<Range<usize>> {
        let each = self.rows().div_ceil(pieces.max(1)).max(1);
        let (mut found, mut begin) = (Vec::new(), 0);
        for group in 0..self.len() {
            if self.starts[group + 1] - self.starts[begin] >= each || group + 1 == self.len() {
                found.push(begin..group + 1);
                begin = group + 1;
            }
        }
        found
    }

    /// The rows of a group.
    #[must_use]
    pub fn group(&self, group: usize) -> GroupRows<'_> {
        let rows = self.starts[group]..self.starts[group + 1];
        GroupRows {
            dense: &self.dense[rows.start * self.columns..rows.end * self.columns],
            levels: &self.levels[rows.start * self.factors..rows.end * self.factors],
            response: &self.response[rows.clone()],
            trials: self.trials.as_ref().map(|side| &side[rows.clone()]),
            offset: self.offset.as_ref().map(|side| &side[rows.clone()]),
            weight: self.weight.as_ref().map(|side| &side[rows]),
        }
    }

    /// A coefficient's column among those of the user: shift and scale of a dense column, and where it stands inside.
    pub(super) fn slot(&self, column: usize) -> (usize, Option<(f64, f64)>) {
        let slot = self.slots[column];
        if slot < self.columns { (slot, Some((self.shift[slot], self.scale[slot]))) } else { (slot, None) }
    }

    /// Coefficients, the intercept included.
    #[must_use]
    pub fn coefficients(&self) -> usize {
        self.slots.len() + usize::from(self.intercept)
    }

    /// See [`austerity::model::Model::fingerprint`].
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let sides = [&self.trials, &self.offset, &self.weight].into_iter().flatten().count();
        4 * (self.dense.len() + self.levels.len() + self.response.len() * (1 + sides)) + 12 * self.names.len()
    }

    /// Which responses are stored.
    #[must_use]
    pub fn kind(store: &Store) -> ResponseKind {
        store.description().kind
    }
}
