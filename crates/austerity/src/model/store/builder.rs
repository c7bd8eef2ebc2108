//! Fills the blocks of a store: whole columns at once, or pieces of rows as they come.
//!
//! Whole columns are *gathered*: block after block, the values that the order wants are fetched from the column, which
//! is small next to the blocks, and every block is written straight through; threads share out the blocks. Pieces of
//! rows are *scattered* to their places by the inverse of the order. Both write the same bits. Memory beyond the blocks:
//! 4 bytes per row for the order, dropped at [`StoreBuilder::finish`].

use std::sync::Arc;

use super::{Blueprint, Order, Store, StoredColumn};
use crate::error::Result;
use crate::model::data::summary::ColumnSummary;
use crate::model::data::{SidePlan, Sides, Transform, check_length};
use crate::model::glm::blocks::{BLOCK, Blocks, Layout, Line, ZERO};
use crate::model::{CheckedData, ResponseKind};

/// A store in the making.
///
/// ```
/// use austerity::model::data::summary::ColumnSummary;
/// use austerity::model::data::{SidePlan, Sides};
/// use austerity::model::store::{Blueprint, Order, StoreBuilder};
/// use austerity::model::ResponseKind;
///
/// let (age, bought) = ([30.0, 41.0, 57.0], [0.0, 1.0, 1.0]);
/// let sides = Sides { response: &bought, ..Sides::default() };
/// let plan = SidePlan::of(ResponseKind::Binary, &sides)?;
/// let mut blueprint = Blueprint::new(plan, 1, true, Order::Shuffled { seed: 7 })?;
/// blueprint.plan(0, "age", &ColumnSummary::of(&age))?;
/// let mut builder = StoreBuilder::new(blueprint);
/// builder.fill(0, 0, &age[..2])?; // rows 0 and 1, then row 2
/// builder.fill(0, 2, &age[2..])?;
/// builder.fill_sides(0, &sides)?;
/// assert_eq!(builder.finish()?.coefficient_names(), ["intercept", "age"]);
/// # Ok::<(), austerity::Error>(())
/// ```
#[derive(Debug)]
pub struct StoreBuilder {
    blueprint: Blueprint,
    layout: Layout,
    lines: Vec<Line>,
    /// Row of every position, when whole columns come.
    order: Option<Vec<u32>>,
    /// Position of every row, when pieces come.
    places: Option<Vec<u32>>,
    /// Rows filled of every column of a block.
    filled: Vec<usize>,
}

/// A whole column, or something that can stand for one.
pub trait Values: Sync {
    /// Rows.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The value of a row.
    fn value(&self, row: usize) -> f64;
}

impl Values for [f64] {
    fn len(&self) -> usize {
        <[f64]>::len(self)
    }
    #[inline(always)]
    fn value(&self, row: usize) -> f64 {
        self[row]
    }
}

impl StoreBuilder {
    /// Takes the memory of the blocks.
    #[must_use]
    pub fn new(blueprint: Blueprint) -> Self {
        let layout = blueprint.layout();
        let lines = vec![ZERO; blueprint.rows().div_ceil(BLOCK) * layout.lines()];
        Self { blueprint, layout, lines, order: None, places: None, filled: vec![0; layout.width] }
    }

    /// The plan.
    pub fn blueprint(&mut self) -> &mut Blueprint {
        &mut self.blueprint
    }

    /// Stores data that were checked before.
    pub(super) fn of_checked(data: &CheckedData, kind: ResponseKind) -> Result<Store> {
        let rows = data.rows();
        for (name, column) in data.names.iter().zip(&data.columns) {
            check_length(name, rows, column.len())?;
        }
        for (what, values) in [("trials", &data.trials), ("offset", &data.offset), ("weights", &data.weights)]
        {
            values.as_ref().map_or(Ok(()), |values| check_length(what, rows, values.len()))?;
        }
        let sides = data.sides();
        let plan = SidePlan::trusted(kind, &sides);
        let mut blueprint =
            Blueprint::new(plan, data.columns.len(), data.intercept, Order::new(data.shuffle))?;
        blueprint.adopt_warnings(&data.warnings);
        for (j, (name, column)) in data.names.iter().zip(&data.columns).enumerate() {
            let transform = Transform { shift: data.shift[j], scale: data.scale[j] };
            let sd = ColumnSummary::of(column).sd;
            blueprint.adopt(j, StoredColumn { name: name.clone(), transform, sd });
        }
        let mut builder = Self::new(blueprint);
        let columns: Vec<(usize, &[f64])> =
            data.columns.iter().enumerate().map(|(j, column)| (j, column.as_slice())).collect();
        builder.fill_columns(&columns, 1)?;
        builder.fill_sides(0, &sides)?;
        builder.finish()
    }

    /// Stores whole columns, given with their numbers.
    pub fn fill_columns<V: Values + ?Sized>(
        &mut self,
        columns: &[(usize, &V)],
        threads: usize,
    ) -> Result<()> {
        let rows = self.blueprint.rows();
        for &(column, values) in columns {
            check_length(&format!("column number {column}"), rows, values.len())?;
            self.filled[column] += rows;
        }
        if columns.is_empty() {
            return Ok(());
        }
        let order = match self.order.take() {
            Some(order) => order,
            None => self.blueprint.order().list(rows),
        };
        let (blueprint, stride) = (&self.blueprint, self.layout.lines());
        let share = rows.div_ceil(BLOCK).div_ceil(threads.max(1));
        let gather = |lines: &mut [Line], order: &[u32]| {
            for (block, rows) in lines.chunks_exact_mut(stride).zip(order.chunks(BLOCK)) {
                for &(column, values) in columns {
                    let transform = blueprint.transform(column);
                    let halves = &mut block[2 * column..][..2];
                    for (half, rows) in halves.iter_mut().zip(rows.chunks(BLOCK / 2)) {
                        for (out, &row) in half.0.iter_mut().zip(rows) {
                            *out = transform.stored(values.value(row as usize));
                        }
                    }
                }
            }
        };
        let parts = self.lines.chunks_mut(share * stride).zip(order.chunks(share * BLOCK));
        if threads > 1 {
            std::thread::scope(|scope| {
                for (lines, order) in parts {
                    scope.spawn(|| gather(lines, order));
                }
            });
        } else {
            parts.for_each(|(lines, order)| gather(lines, order));
        }
        self.order = Some(order);
        Ok(())
    }

    /// Stores `values` as the rows from `first` on of column number `column`.
    pub fn fill(&mut self, column: usize, first: usize, values: &[f64]) -> Result<()> {
        self.piece(first, values.len())?;
        self.blueprint.observe(column, values);
        let transform = self.blueprint.transform(column);
        let (lines, places) = (&mut self.lines, self.places.as_deref());
        for (at, &value) in values.iter().enumerate() {
            put(lines, &self.layout, place(places, first + at), column, transform.stored(value));
        }
        self.filled[column] += values.len();
        Ok(())
    }

    /// Stores 0/1 columns of levels: the row of code c is 1 in column `columns[c]`, when there is one, and 0 in the
    /// others of `columns`.
    pub fn fill_levels(&mut self, columns: &[Option<usize>], first: usize, codes: &[u32]) -> Result<()> {
        self.piece(first, codes.len())?;
        let stored = |column: usize, value: f64| self.blueprint.transform(column).stored(value);
        let ones: Vec<Option<(usize, f32)>> =
            columns.iter().map(|column| column.map(|column| (column, stored(column, 1.0)))).collect();
        // The memory is zero already, and so are the zeros of rare columns.
        let zeros: Vec<(usize, f32)> = columns
            .iter()
            .flatten()
            .map(|&column| (column, stored(column, 0.0)))
            .filter(|&(_, zero)| zero != 0.0)
            .collect();
        let (lines, places) = (&mut self.lines, self.places.as_deref());
        for (at, &code) in codes.iter().enumerate() {
            let position = place(places, first + at);
            for &(column, zero) in &zeros {
                put(lines, &self.layout, position, column, zero);
            }
            if let Some(&Some((column, one))) = ones.get(code as usize) {
                put(lines, &self.layout, position, column, one);
            }
        }
        columns.iter().flatten().for_each(|&column| self.filled[column] += codes.len());
        Ok(())
    }

    /// Stores the side columns of the rows from `first` on.
    pub fn fill_sides(&mut self, first: usize, sides: &Sides<'_>) -> Result<()> {
        self.piece(first, sides.response.len())?;
        self.blueprint.observe_sides(sides);
        let (lines, places, layout) = (&mut self.lines, self.places.as_deref(), &self.layout);
        let filled = &mut self.filled;
        self.blueprint.each_side(sides, |column, at, value| {
            put(lines, layout, place(places, first + at), column, value);
            filled[column] += 1;
        });
        Ok(())
    }

    /// Prepares for rows from `first` on.
    fn piece(&mut self, first: usize, rows: usize) -> Result<()> {
        let all = self.blueprint.rows();
        if first + rows > all {
            check_length("rows of the store", all, first + rows)?;
        }
        if self.places.is_none() && self.blueprint.order() != Order::AsGiven {
            let order = match self.order.take() {
                Some(order) => order,
                None => self.blueprint.order().list(all),
            };
            let mut places = vec![0; all];
            for (position, &row) in order.iter().enumerate() {
                places[row as usize] = position as u32;
            }
            self.places = Some(places);
        }
        Ok(())
    }

    /// Leaves columns out, as if they had never been there. `gone` is in ascending order.
    pub fn remove(&mut self, gone: &[usize]) {
        if gone.is_empty() {
            return;
        }
        let old = self.layout;
        self.blueprint.remove(gone);
        self.layout = self.blueprint.layout();
        let kept: Vec<usize> = (0..old.width).filter(|column| gone.binary_search(column).is_err()).collect();
        for block in 0..self.lines.len() / old.lines() {
            for (to, &from) in kept.iter().enumerate() {
                let (from, to) = (block * old.lines() + 2 * from, block * self.layout.lines() + 2 * to);
                self.lines.copy_within(from..from + 2, to);
            }
        }
        self.lines.truncate(self.lines.len() / old.lines() * self.layout.lines());
        self.lines.shrink_to_fit();
        self.filled = kept.iter().map(|&column| self.filled[column]).collect();
    }

    /// The store, when every column has all its rows. Refuses names and columns that repeat each other.
    pub fn finish(self) -> Result<Store> {
        let rows = self.blueprint.rows();
        for (column, &filled) in self.filled.iter().enumerate() {
            check_length(&format!("rows stored of column number {column}"), rows, filled)?;
        }
        let mut description = self.blueprint.describe()?;
        let blocks = Blocks::new(Arc::new(self.lines), self.layout, rows)?;
        let words = description.fingerprint_words();
        description.fingerprint =
            crate::model::fingerprint(blocks.sample().chain(words.bytes().map(u32::from)));
        Ok(Store { description: Arc::new(description), blocks, list: None, mapped: false })
    }
}

#[inline(always)]
fn place(places: Option<&[u32]>, row: usize) -> usize {
    places.map_or(row, |places| places[row] as usize)
}

#[inline(always)]
fn put(lines: &mut [Line], layout: &Layout, position: usize, column: usize, value: f32) {
    let i = position % BLOCK;
    lines[position / BLOCK * layout.lines() + 2 * column + i / 16].0[i % 16] = value;
}
