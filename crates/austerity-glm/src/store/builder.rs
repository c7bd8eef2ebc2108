//! Fills the blocks of a store: whole columns at once, or pieces of rows as they come.
//!
//! Whole columns are *gathered*: a [`Shuffler`], of which every thread may have one, puts a column into the order of the
//! storage, reading at random from a part of it that the second-level cache holds; the blocks then take several columns at a
//! time, 128 bytes of each. Pieces of rows are *scattered* to their places by the inverse of the order. Both write the same
//! bits. Memory beyond the blocks: 8 bytes per row for the order, dropped at [`StoreBuilder::finish`].

use std::sync::{Arc, Mutex, PoisonError};

use super::blueprint::{Blueprint, Planned};
use super::{Order, Store, StoredColumn};
use crate::data::summary::ColumnSummary;
use crate::data::{SidePlan, Sides, Transform};
use crate::glm::blocks::{BLOCK, Blocks, Layout, Line, ZERO};
use crate::memory::filled_on;
use crate::simd::{detected, dispatched};
use crate::{CheckedData, ResponseKind};
use austerity::error::Result;
use austerity::model::check_length;
use austerity::parallel;

/// A store in the making.
///
/// ```
/// use austerity_glm::data::summary::ColumnSummary;
/// use austerity_glm::data::{SidePlan, Sides};
/// use austerity_glm::store::{Blueprint, Order, StoreBuilder};
/// use austerity_glm::ResponseKind;
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
    threads: usize,
    /// How rows move, when whole columns come.
    moves: Option<Arc<RowMoves>>,
    /// Position of every row, when pieces come.
    places: Option<Vec<u32>>,
    /// Rows filled of every column of a block.
    filled: Vec<usize>,
    spare: Spare,
}

/// Puts whole columns into the order of the storage, on any thread.
#[derive(Clone, Debug)]
pub struct Shuffler {
    moves: Arc<RowMoves>,
    intercept: bool,
    spare: Spare,
}

/// Rows read at random in one pass: a megabyte of single precision.
const PASS_ROWS: usize = 1 << 18;
/// Rows of side columns prepared together.
const SIDE_ROWS: usize = 1 << 16;
/// Fewer blocks than this are not worth a second thread.
const WORTH_A_THREAD: usize = 1 << 12;

/// How rows move into the order of the storage: passes over neighbouring rows, each a list of (position, row) by position.
#[derive(Debug)]
pub struct RowMoves {
    order: Order,
    rows: usize,
    passes: Vec<Vec<(u32, u32)>>,
}

impl RowMoves {
    /// Of an order of so many rows, on threads. It depends on nothing else, so that it can be made while columns are read.
    #[must_use]
    pub fn new(order: Order, rows: usize, threads: usize) -> Self {
        let list = order.list(rows);
        let passes: Vec<usize> = (0..rows.div_ceil(PASS_ROWS)).collect();
        // Every thread looks at the whole list for the rows of its passes.
        let share = passes.len().div_ceil(threads.max(1)).max(1);
        let shares: Vec<&[usize]> = passes.chunks(share).collect();
        let made = parallel::map(threads, &shares, |share| {
            let mut passes = vec![Vec::with_capacity(PASS_ROWS.min(rows)); share.len()];
            for (position, &row) in list.iter().enumerate() {
                let pass = (row as usize / PASS_ROWS).wrapping_sub(share[0]);
                if let Some(pass) = passes.get_mut(pass) {
                    pass.push((position as u32, row));
                }
            }
            passes
        });
        Self { order, rows, passes: made.into_iter().flatten().collect() }
    }
}

/// Memory of columns that were stored, for those to come: fresh memory costs more than the values put there.
#[derive(Clone, Debug, Default)]
struct Spare(Arc<Mutex<Vec<Vec<f32>>>>);

impl Spare {
    /// `rows` numbers of any value.
    fn take(&self, rows: usize) -> Vec<f32> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.filter(|spare| spare.len() == rows).unwrap_or_else(|| vec![0.0; rows])
    }

    fn give(&self, column: Vec<f32>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(column);
    }
}

/// A whole column in the order of the storage.
#[derive(Debug)]
pub struct ShuffledColumn {
    planned: Planned,
    values: Vec<f32>,
}

impl Shuffler {
    /// Decides how the column is stored, with the refusals of [`Blueprint::plan`], and puts it in order.
    pub fn column(&self, name: &str, summary: &ColumnSummary, values: &[f64]) -> Result<ShuffledColumn> {
        check_length(&format!("column `{name}`"), self.moves.rows, values.len())?;
        let mut planned = Planned::new(name, summary, self.moves.rows, self.intercept)?;
        planned.observe(values);
        Ok(ShuffledColumn { values: self.shuffled(values, planned.transform()), planned })
    }

    fn shuffled(&self, values: &[f64], transform: Transform) -> Vec<f32> {
        // Rounded for one pass at a time, into memory that the cache holds.
        let mut stored = vec![0.0; PASS_ROWS.min(values.len())];
        let mut ordered = self.spare.take(values.len());
        for (values, pass) in values.chunks(PASS_ROWS).zip(&self.moves.passes) {
            dispatched!(detected(), _simd => {
                for (stored, &value) in stored.iter_mut().zip(values) {
                    *stored = transform.stored(value);
                }
            });
            scatter(pass, &stored, &mut ordered);
        }
        ordered
    }

    fn in_order(&self, stored: &[f32]) -> Vec<f32> {
        let mut ordered = self.spare.take(stored.len());
        for (stored, pass) in stored.chunks(PASS_ROWS).zip(&self.moves.passes) {
            scatter(pass, stored, &mut ordered);
        }
        ordered
    }
}

/// Writes the rows of one pass to their positions.
fn scatter(pass: &[(u32, u32)], stored: &[f32], ordered: &mut [f32]) {
    for &(position, row) in pass {
        ordered[position as usize] = stored[row as usize % PASS_ROWS];
    }
}

impl StoreBuilder {
    /// A store without rows; the memory of the blocks is taken with the first.
    #[must_use]
    pub fn new(blueprint: Blueprint) -> Self {
        let layout = blueprint.layout();
        Self {
            blueprint,
            layout,
            lines: Vec::new(),
            threads: 1,
            moves: None,
            places: None,
            filled: vec![0; layout.width],
            spare: Spare::default(),
        }
    }

    /// The same, filled on so many threads, with the moves of its rows where they are made already.
    #[must_use]
    pub fn on_threads(mut self, threads: usize, moves: Option<RowMoves>) -> Self {
        let fits =
            |moves: &RowMoves| moves.order == self.blueprint.order() && moves.rows == self.blueprint.rows();
        self.moves = moves.filter(fits).map(Arc::new);
        self.threads = threads.max(1);
        self
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
            let summary = ColumnSummary::of(column);
            blueprint.adopt(j, StoredColumn::new(name, transform, &summary));
        }
        let mut builder = Self::new(blueprint);
        let shuffler = builder.shuffler();
        for (j, column) in data.columns.iter().enumerate() {
            let values = shuffler.shuffled(column, builder.blueprint.transform(j));
            builder.put_columns(&[(j, values)]);
        }
        builder.fill_sides(0, &sides)?;
        builder.finish()
    }

    /// What puts whole columns into the order of this store.
    pub fn shuffler(&mut self) -> Shuffler {
        let (rows, order) = (self.blueprint.rows(), self.blueprint.order());
        let threads = self.threads;
        let moves = self.moves.get_or_insert_with(|| Arc::new(RowMoves::new(order, rows, threads)));
        let intercept = self.blueprint.intercept();
        Shuffler { moves: Arc::clone(moves), intercept, spare: self.spare.clone() }
    }

    /// Stores whole columns, each with its number. Several at once pass over the blocks once: neighbours fill memory that is next to
    /// each other.
    pub fn fill_columns(&mut self, columns: Vec<(usize, ShuffledColumn)>) -> Result<()> {
        let mut stored = Vec::with_capacity(columns.len());
        for (column, ShuffledColumn { planned, values }) in columns {
            check_length("rows of the store", self.blueprint.rows(), values.len())?;
            self.blueprint.set(column, planned);
            stored.push((self.blueprint.place(column), values));
        }
        self.put_columns(&stored);
        stored.into_iter().for_each(|(_, values)| self.spare.give(values));
        Ok(())
    }

    /// The memory of the blocks is there.
    fn prepare(&mut self) {
        if self.lines.is_empty() {
            let count = self.blueprint.rows().div_ceil(BLOCK) * self.layout.lines();
            self.lines = filled_on(self.threads, count, ZERO);
        }
    }

    /// Writes columns that are in the order of the storage to their places in the blocks, every thread to its own blocks.
    fn put_columns(&mut self, columns: &[(usize, Vec<f32>)]) {
        self.prepare();
        let stride = self.layout.lines();
        let blocks = self.lines.len() / stride;
        let share = if blocks < WORTH_A_THREAD { blocks } else { blocks.div_ceil(self.threads) }.max(1);
        let put = &|first: usize, lines: &mut [Line]| {
            for (block, lines) in lines.chunks_exact_mut(stride).enumerate() {
                let start = (first + block) * BLOCK;
                for (column, values) in columns {
                    let halves = &mut lines[2 * column..][..2];
                    let values = &values[start..values.len().min(start + BLOCK)];
                    for (half, values) in halves.iter_mut().zip(values.chunks(BLOCK / 2)) {
                        half.0[..values.len()].copy_from_slice(values);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            let mut shares = self.lines.chunks_mut(share * stride).enumerate();
            let own = shares.next();
            for (number, lines) in shares {
                scope.spawn(move || put(number * share, lines));
            }
            own.into_iter().for_each(|(_, lines)| put(0, lines));
        });
        columns.iter().for_each(|(column, values)| self.filled[*column] += values.len());
    }

    /// Stores `values` as the rows from `first` on of column number `column`.
    pub fn fill(&mut self, column: usize, first: usize, values: &[f64]) -> Result<()> {
        self.piece(first, values.len())?;
        self.blueprint.observe(column, values);
        let (transform, column) = (self.blueprint.transform(column), self.blueprint.place(column));
        let (lines, places) = (&mut self.lines, self.places.as_deref());
        for (at, &value) in values.iter().enumerate() {
            put(lines, &self.layout, place(places, first + at), column, transform.stored(value));
        }
        self.filled[column] += values.len();
        Ok(())
    }

    /// Stores 0/1 columns of levels: the row of code c is 1 in column `columns[c]`, when there is one, and 0 in the
    /// others of `columns`. Of a factor ([`Blueprint::make_factor`]) the place of the row's level is stored instead.
    pub fn fill_levels(&mut self, columns: &[Option<usize>], first: usize, codes: &[u32]) -> Result<()> {
        if let Some((column, values)) = self.blueprint.factor(columns) {
            return self.fill_factor(column, &values, (first, codes));
        }
        self.piece(first, codes.len())?;
        let stored = |column: usize, value: f64| self.blueprint.transform(column).stored(value);
        let place_of = |column: usize| self.blueprint.place(column);
        let ones: Vec<Option<(usize, f32)>> = columns
            .iter()
            .map(|column| column.map(|column| (place_of(column), stored(column, 1.0))))
            .collect();
        // The memory is zero already, and so are the zeros of rare columns.
        let zeros: Vec<(usize, f32)> = columns
            .iter()
            .flatten()
            .map(|&column| (place_of(column), stored(column, 0.0)))
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
        let places: Vec<usize> =
            columns.iter().flatten().map(|&column| self.blueprint.place(column)).collect();
        places.into_iter().for_each(|place| self.filled[place] += codes.len());
        Ok(())
    }

    /// Stores a factor with slopes ([`Blueprint::make_slopes`]): as [`StoreBuilder::fill_levels`], with the number of every row.
    pub fn fill_slopes(
        &mut self,
        columns: &[Option<usize>],
        first: usize,
        (codes, numbers): (&[u32], &[f64]),
    ) -> Result<()> {
        check_length("numbers of the slopes", codes.len(), numbers.len())?;
        let (Some((place, values)), Some((beside, scale))) =
            (self.blueprint.factor(columns), self.blueprint.slope(columns))
        else {
            return self.fill_levels(columns, first, codes);
        };
        self.fill_factor(place, &values, (first, codes))?;
        let stored: Vec<f32> = numbers.iter().map(|number| (number / scale) as f32).collect();
        if stored.len() == self.blueprint.rows() {
            let ordered = self.shuffler().in_order(&stored);
            self.put_columns(&[(beside, ordered)]);
            return Ok(());
        }
        self.piece(first, stored.len())?;
        let (lines, places) = (&mut self.lines, self.places.as_deref());
        for (at, &value) in stored.iter().enumerate() {
            put(lines, &self.layout, self::place(places, first + at), beside, value);
        }
        self.filled[beside] += stored.len();
        Ok(())
    }

    /// Stores a factor in its place of the blocks, given what is stored of every code.
    fn fill_factor(&mut self, column: usize, values: &[f32], (first, codes): (usize, &[u32])) -> Result<()> {
        let stored = |&code: &u32| values.get(code as usize).copied().unwrap_or(0.0);
        if codes.len() == self.blueprint.rows() {
            let stored: Vec<f32> = codes.iter().map(stored).collect();
            let ordered = self.shuffler().in_order(&stored);
            self.put_columns(&[(column, ordered)]);
            return Ok(());
        }
        self.piece(first, codes.len())?;
        let (lines, places) = (&mut self.lines, self.places.as_deref());
        for (at, code) in codes.iter().enumerate() {
            put(lines, &self.layout, place(places, first + at), column, stored(code));
        }
        self.filled[column] += codes.len();
        Ok(())
    }

    /// Stores the side columns of the rows from `first` on.
    pub fn fill_sides(&mut self, first: usize, sides: &Sides<'_>) -> Result<()> {
        self.blueprint.observe_sides(sides);
        if sides.response.len() == self.blueprint.rows() {
            self.fill_all_sides(sides);
            return Ok(());
        }
        self.piece(first, sides.response.len())?;
        let (lines, places, layout) = (&mut self.lines, self.places.as_deref(), &self.layout);
        let filled = &mut self.filled;
        self.blueprint.each_side(sides, |column, at, value| {
            put(lines, layout, place(places, first + at), column, value);
            filled[column] += 1;
        });
        Ok(())
    }

    /// Stores the side columns of all rows.
    fn fill_all_sides(&mut self, sides: &Sides<'_>) {
        let (rows, width, blueprint) = (self.blueprint.rows(), self.layout.width, &self.blueprint);
        let firsts: Vec<usize> = (0..rows).step_by(SIDE_ROWS).collect();
        let pieces = parallel::map(self.threads, &firsts, |&first| {
            let piece = sides.rows(first..rows.min(first + SIDE_ROWS));
            let mut stored: Vec<Vec<f32>> = vec![Vec::new(); width];
            blueprint.each_side(&piece, |place, _, value| stored[place].push(value));
            stored
        });
        let shuffler = self.shuffler();
        let places: Vec<usize> =
            (0..width).filter(|&place| pieces.iter().any(|p| !p[place].is_empty())).collect();
        let ordered = parallel::map(self.threads, &places, |&place| {
            let stored = pieces.iter().map(|piece| &piece[place][..]).collect::<Vec<_>>().concat();
            (place, shuffler.in_order(&stored))
        });
        self.put_columns(&ordered);
    }

    /// Prepares for rows from `first` on.
    fn piece(&mut self, first: usize, rows: usize) -> Result<()> {
        self.prepare();
        let all = self.blueprint.rows();
        if first + rows > all {
            check_length("rows of the store", all, first + rows)?;
        }
        if self.places.is_none() && self.blueprint.order() != Order::AsGiven {
            let mut places = vec![0; all];
            for (position, &row) in self.blueprint.order().list(all).iter().enumerate() {
                places[row as usize] = position as u32;
            }
            self.places = Some(places);
            self.moves = None;
        }
        Ok(())
    }

    /// Leaves columns out that are no levels of a factor, as if they had never been there. `gone` is in ascending order.
    pub fn remove(&mut self, gone: &[usize]) {
        if gone.is_empty() {
            return;
        }
        self.prepare();
        let old = self.layout;
        let places: Vec<usize> = gone.iter().map(|&column| self.blueprint.place(column)).collect();
        self.blueprint.remove(gone);
        self.layout = self.blueprint.layout();
        let kept: Vec<usize> =
            (0..old.width).filter(|column| places.binary_search(column).is_err()).collect();
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
            austerity::model::fingerprint(blocks.sample().chain(words.bytes().map(u32::from)));
        Ok(Store::made(description, blocks, None, false))
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
