//! How the coefficients of a state become those of the storage, and how derivatives go back.
//!
//! States are on the scale of the user's columns. The storage holds x̃ = (x − shift)/scale, so γ = β·scale and the constant is
//! β_0 + Σ β·shift; levels have shift 0 and scale 1. An [`Entry`] says where a coefficient stands in the state and where in the
//! order of the storage, so that columns and levels may come in any order. Linear both ways: cost d.

use crate::glm::blocks::{BLOCK, Blocks, Layout};
use crate::store::Description;

use super::levels;

/// A coefficient beside the intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Its place in a state.
    pub parameter: usize,
    /// Its place in the order of the storage: dense columns, then the table of levels.
    pub slot: usize,
    /// What the constant moves by when it moves by 1.
    pub shift: f64,
    /// What the coefficient of the storage moves by when it moves by 1.
    pub scale: f64,
}

/// The coefficients of a model, or of those that some rows need.
#[derive(Clone, Debug)]
pub struct Coding {
    pub(in crate::glm) intercept: bool,
    pub(in crate::glm) entries: Vec<Entry>,
    /// Dense columns, factor columns, and entries of the table of levels.
    dense: usize,
    factors: usize,
    slopes: usize,
    table: usize,
}

impl Coding {
    /// The coefficients of a store, in the order of its columns.
    #[must_use]
    pub fn new(description: &Description) -> Self {
        let (layout, first) = (description.layout(), usize::from(description.intercept));
        let slots = description.slots();
        let entries = description.columns.iter().zip(slots).enumerate().map(|(j, (column, slot))| Entry {
            parameter: first + j,
            slot,
            shift: column.transform.shift,
            scale: column.transform.scale,
        });
        Self {
            intercept: description.intercept,
            entries: entries.collect(),
            dense: layout.columns,
            factors: layout.factors,
            slopes: layout.slopes,
            table: layout.table(),
        }
    }

    /// Coefficients, without the intercept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Numbers in the order of the storage.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.dense + self.table
    }

    /// Entries of the table of levels.
    pub(in crate::glm) fn table(&self) -> usize {
        self.table
    }

    /// Factor columns.
    pub(in crate::glm) fn factors(&self) -> usize {
        self.factors
    }

    /// Factor columns with slopes.
    pub(in crate::glm) fn slopes(&self) -> usize {
        self.slopes
    }

    /// The coefficients for which `keep` holds, of storage that has those dense columns alone, and all factors.
    pub(in crate::glm) fn restricted(&self, keep: impl Fn(&Entry) -> bool, columns: &[u32]) -> Self {
        let entries = self.entries.iter().filter(|entry| keep(entry)).map(|entry| {
            let slot = match entry.slot.checked_sub(self.dense) {
                Some(place) => columns.len() + place,
                None => columns.partition_point(|&column| (column as usize) < entry.slot),
            };
            Entry { slot, ..*entry }
        });
        Self { entries: entries.collect(), dense: columns.len(), ..*self }
    }

    /// Calls `put` with the slot and the stored coefficient of every entry; returns the constant, which begins with `start`.
    #[inline(always)]
    pub(in crate::glm) fn place(
        &self,
        start: f64,
        coefficient: impl Fn(usize) -> f64,
        mut put: impl FnMut(usize, f64),
    ) -> f64 {
        let mut constant = start + if self.intercept { coefficient(0) } else { 0.0 };
        for entry in &self.entries {
            let beta = coefficient(entry.parameter);
            constant += beta * entry.shift;
            put(entry.slot, beta * entry.scale);
        }
        constant
    }

    /// Adds a gradient in the units of the storage (the constant, then the slots) to that of a state.
    pub(in crate::glm) fn add_gradient(&self, stored: &[f64], gradient: &mut [f64]) {
        if self.intercept {
            gradient[0] += stored[0];
        }
        for entry in &self.entries {
            gradient[entry.parameter] += entry.shift * stored[0] + entry.scale * stored[1 + entry.slot];
        }
    }

    /// What every coefficient, the intercept first, moves: the constant by .0, and the place .1 (after the constant) by .2.
    pub(in crate::glm) fn moves(&self) -> Vec<(f64, usize, f64)> {
        let intercept = self.intercept.then_some((1.0, 0, 0.0));
        let entries = self.entries.iter().map(|entry| (entry.shift, 1 + entry.slot, entry.scale));
        intercept.into_iter().chain(entries).collect()
    }

    /// Place in the table of the level of an entry, if it is one.
    #[inline(always)]
    pub(in crate::glm) fn level(&self, entry: &Entry) -> Option<usize> {
        entry.slot.checked_sub(self.dense)
    }

    /// Gives the value x of every coefficient of a stored row that is not zero for sure, on the scale of the user's columns, with the
    /// number of its entry.
    pub(in crate::glm) fn row(&self, blocks: &Blocks, position: usize, mut visit: impl FnMut(usize, f64)) {
        let (layout, lines, i) = (blocks.layout(), blocks.block(position / BLOCK), position % BLOCK);
        let places: Vec<(usize, f32)> = levels::values_of_row(layout, lines, i).collect();
        for (number, entry) in self.entries.iter().enumerate() {
            match self.level(entry) {
                None => {
                    let stored = f64::from(lines[2 * entry.slot + i / 16].0[i % 16]);
                    visit(number, entry.shift + entry.scale * stored);
                }
                Some(place) => {
                    if let Some((_, value)) = places.iter().find(|(own, _)| *own == place) {
                        visit(number, entry.shift + entry.scale * f64::from(*value));
                    }
                }
            }
        }
    }
}

/// Σ γ x of the 32 rows of a block, added in f64 to `out`; `coefficients` are in the order of the storage.
pub(in crate::glm) fn add_exact(
    layout: &Layout,
    lines: &[super::Line],
    coefficients: &[f64],
    out: &mut [f64; BLOCK],
) {
    let (dense, table) = coefficients.split_at(layout.columns);
    for (pair, &coefficient) in lines.as_chunks::<2>().0.iter().zip(dense) {
        if coefficient == 0.0 {
            continue;
        }
        let values = pair[0].0.iter().chain(&pair[1].0);
        out.iter_mut().zip(values).for_each(|(slot, &x)| *slot += coefficient * f64::from(x));
    }
    levels::gather(layout, lines, table, out);
}
