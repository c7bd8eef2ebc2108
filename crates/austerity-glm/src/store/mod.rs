//! Rows ready for sampling: f32 blocks in shuffled order, and what they are, as plain data.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | [`Store`] and its [`Description`] |
//! | [`blueprint`] | how every column is going to be stored, decided from one pass over it; the checks |
//! | [`beyond`] | [`Beyond`]: what rows that are not stored add to the log-likelihood |
//! | [`builder`] | [`StoreBuilder`]: fills the blocks column by column or piece by piece |
//!
//! A store is what remains of the data when the user's columns are gone: 4 bytes per value. It comes from
//! [`CheckedData`], from a [`StoreBuilder`] that a reader of files fills, or from a memory map; all give the same bits for
//! the same rows and order. Models take it whole: [`crate::Glm::from_store`], [`crate::Linear::from_store`].
//! A clone shares the memory.

pub mod beyond;
pub mod blueprint;
pub mod builder;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::Transform;
use crate::data::summary::ColumnSummary;
use crate::default_priors::{ColumnFacts, ResponseFacts, ResponseRow, default_priors};
use crate::glm::blocks::{BLOCK, Blocks, Layout, Memory, ZERO};
use crate::glm::predictor::levels;
use crate::memory::filled;
use crate::{CheckedData, DefaultPriors, NoiseTails, Priors, ResponseKind};
use austerity::error::{Error, Result};
use austerity::model::{check_length, storage_order};

pub use beyond::{Beyond, LinearSums};
pub use blueprint::Blueprint;
pub use builder::{RowMoves, ShuffledColumn, Shuffler, StoreBuilder};

/// How a column is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredColumn {
    /// Its name.
    pub name: String,
    /// Stored value = (value − shift)/scale.
    #[serde(flatten)]
    pub transform: Transform,
    /// Standard deviation on the user's scale (divisor N): the default prior follows from it.
    pub sd: f64,
    /// Mean on the user's scale. Of stores made before it was kept the shift stands for it: rare columns have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Half the distance of the values of a column that has two, which then takes the place of `sd` there. Unknown of
    /// stores made before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_range: Option<f64>,
    /// The factor column that this 0/1 column is a level of, from 0: rows then store the place of their level instead of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<usize>,
    /// Whether that factor has slopes: this column is then a number of the row times the 0/1 column of the level.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slope: bool,
}

impl StoredColumn {
    fn new(name: &str, transform: Transform, summary: &ColumnSummary) -> Self {
        Self {
            name: name.into(),
            transform,
            sd: summary.sd,
            mean: Some(summary.mean),
            half_range: summary.half_range(),
            factor: None,
            slope: false,
        }
    }
}

/// In which order the rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// As they were given.
    AsGiven,
    /// Shuffled: see [`storage_order`].
    Shuffled {
        /// Seed of the shuffle.
        seed: u64,
    },
    /// As a list kept beside the store says.
    Listed {
        /// Seed that the list was made with.
        seed: u64,
    },
}

impl Order {
    /// The order of a seed, or as given.
    #[must_use]
    pub fn new(seed: Option<u64>) -> Self {
        seed.map_or(Self::AsGiven, |seed| Self::Shuffled { seed })
    }

    /// The permutation for `rows` rows; the identity where nothing else is known.
    #[must_use]
    pub fn list(self, rows: usize) -> Vec<u32> {
        let seed = if let Self::Shuffled { seed } = self { Some(seed) } else { None };
        storage_order(rows, seed)
    }
}

/// What the blocks of a [`Store`] hold, as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// N.
    pub rows: usize,
    /// The columns, in order.
    pub columns: Vec<StoredColumn>,
    /// Whether the first coefficient is an intercept.
    pub intercept: bool,
    /// Which responses are stored.
    pub kind: ResponseKind,
    /// Whether binomial trials are stored.
    pub trials: bool,
    /// Whether an offset is stored (that of real responses is taken off the response).
    pub offset: bool,
    /// Whether frequency weights are stored.
    pub weights: bool,
    /// Real responses are stored as y − offset less this; see [`crate::data::sides`].
    pub response_shift: f64,
    /// The offset is stored less this.
    pub offset_shift: f64,
    /// In which order the rows are.
    pub order: Order,
    /// Sentences about what looked odd but is no error.
    pub warnings: Vec<String>,
    /// Other rows would almost surely have another: of at most 4,096 blocks spread over the storage, and the names.
    pub fingerprint: u64,
}

impl Description {
    /// Where the columns of a block are.
    #[must_use]
    pub fn layout(&self) -> Layout {
        layout_of(self.columns.iter(), [self.trials, self.offset, self.weights])
    }

    /// Where the coefficient of every column stands in the order of the storage: dense columns, then the table of levels.
    #[must_use]
    pub fn slots(&self) -> Vec<usize> {
        slots_of(self.columns.iter())
    }

    /// What the centred side columns leave to the constant of the linear predictor: the mean of the offset, and for
    /// real responses −(the mean of y − offset).
    #[must_use]
    pub fn side_constant(&self) -> f64 {
        self.offset_shift - self.response_shift
    }

    /// The words of the fingerprint that follow those of the blocks.
    #[must_use]
    pub fn fingerprint_words(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        format!("{names:?} {} {}", self.rows, self.kind)
    }
}

/// Where the columns of a block are, and which of trials, offset and weights.
fn layout_of<'a>(
    columns: impl Iterator<Item = &'a StoredColumn> + Clone,
    [trials, offset, weights]: [bool; 3],
) -> Layout {
    let factors = columns.clone().filter_map(|column| column.factor);
    let (levels, factors) = (factors.clone().count(), factors.map(|factor| factor + 1).max().unwrap_or(0));
    let all = columns.clone().count();
    let slopes = slopes_before(columns, factors);
    Layout::new(all - levels, trials, offset, weights).with_factors(factors, levels).with_slopes(slopes)
}

/// Factors with slopes among the first so many.
fn slopes_before<'a>(columns: impl Iterator<Item = &'a StoredColumn>, factors: usize) -> usize {
    let mut found: Vec<usize> = columns
        .filter(|column| column.slope)
        .filter_map(|column| column.factor.filter(|factor| *factor < factors))
        .collect();
    found.dedup();
    found.sort_unstable();
    found.dedup();
    found.len()
}

/// The place of a factor among the factor columns, where those with slopes come last.
fn place_of_factor<'a>(
    columns: impl Iterator<Item = &'a StoredColumn> + Clone,
    factor: usize,
    layout: &Layout,
) -> usize {
    let before = slopes_before(columns.clone(), factor);
    let has_slopes = columns.into_iter().any(|column| column.slope && column.factor == Some(factor));
    if has_slopes { layout.plain_factors() + before } else { factor - before }
}

/// Places in the order of the storage. Those of levels follow place 0 of their table, which has no coefficient.
fn slots_of<'a>(columns: impl Iterator<Item = &'a StoredColumn> + Clone) -> Vec<usize> {
    let dense = columns.clone().filter(|column| column.factor.is_none()).count();
    let (mut column, mut level) = (0, dense);
    let next = |stored: &StoredColumn| {
        let counter = if stored.factor.is_none() { &mut column } else { &mut level };
        *counter += 1;
        if stored.factor.is_none() { *counter - 1 } else { *counter }
    };
    columns.map(next).collect()
}

/// The original row of every storage position, where no seed tells it.
pub type RowList = Arc<dyn AsRef<[u32]> + Send + Sync>;

/// Rows ready for sampling.
#[derive(Clone)]
pub struct Store {
    description: Arc<Description>,
    /// Where the coefficient of every column stands in the order of the storage.
    slots: Arc<[usize]>,
    blocks: Blocks,
    list: Option<RowList>,
    mapped: bool,
    beyond: Option<Arc<Beyond>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { description, blocks, mapped, .. } = self;
        f.debug_struct("Store")
            .field("description", description)
            .field("blocks", blocks)
            .field("mapped", mapped)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Stores `data` for families that explain `kind`.
    pub fn new(data: &CheckedData, kind: ResponseKind) -> Result<Self> {
        StoreBuilder::of_checked(data, kind)
    }

    /// Rows stored elsewhere, such as in a memory map, with the original row of every position.
    pub fn mapped(description: Description, memory: Memory, list: RowList) -> Result<Self> {
        let blocks = Blocks::new(memory, description.layout(), description.rows)?;
        check_length("row numbers of the store", description.rows, (*list).as_ref().len())?;
        Ok(Self::made(description, blocks, Some(list), true))
    }

    fn made(description: Description, blocks: Blocks, list: Option<RowList>, mapped: bool) -> Self {
        let slots = description.slots().into();
        Self { description: Arc::new(description), slots, blocks, list, mapped, beyond: None }
    }

    /// The values of all columns at a storage position, levels as 0 and 1, on the user's scale: as given, up to single precision.
    #[must_use]
    pub fn row(&self, position: usize) -> Vec<f64> {
        let columns = &self.description.columns;
        let mut row = vec![0.0; columns.len()];
        self.read(position, &mut row);
        let given =
            |(value, column): (&f64, &StoredColumn)| column.transform.shift + column.transform.scale * value;
        row.iter().zip(columns).map(given).collect()
    }

    /// Writes the stored values of all columns at a storage position to `row`: 0 or 1 for levels, 0 or a number for slopes.
    pub(crate) fn read(&self, position: usize, row: &mut [f64]) {
        let (layout, i) = (self.blocks.layout(), position % BLOCK);
        let lines = self.blocks.block(position / BLOCK);
        let value = |place: usize| {
            let own = levels::values_of_row(layout, lines, i).find(|(own, _)| *own == place);
            own.map_or(0.0, |(_, number)| f64::from(number))
        };
        for (out, &slot) in row.iter_mut().zip(&*self.slots) {
            *out = match slot.checked_sub(layout.columns) {
                None => f64::from(lines[2 * slot + i / 16].0[i % 16]),
                Some(place) => value(place),
            };
        }
    }

    /// Some of the rows, in the order of `positions`, each standing for so many of its kind.
    pub(crate) fn subset(&self, positions: &[u32], weights: Option<&[f64]>) -> Self {
        let columns: Vec<u32> = (0..self.blocks.layout().columns as u32).collect();
        let mut blocks = self.blocks.gather(positions.iter().copied(), positions.len(), &columns);
        let mut description = Description { rows: positions.len(), ..(*self.description).clone() };
        if let Some(weights) = weights {
            blocks = blocks.weighted(weights);
            description.weights = true;
        }
        // Named after the rows of this store; whoever reports an error about one looks it up there.
        let list: Vec<u32> = positions.to_vec();
        Self { beyond: self.beyond.clone(), ..Self::made(description, blocks, Some(Arc::new(list)), false) }
    }

    /// Rows as another store of the same columns had them: `rows` holds the values of each in the order of a block's columns, `weights` one more factor of its weight.
    /// `numbers` says where they stood in the data.
    pub fn of_rows(
        description: &Description,
        rows: &[f32],
        weights: &[f64],
        numbers: Vec<u32>,
    ) -> Result<Self> {
        let (layout, count) = (description.layout(), weights.len());
        check_length("values of the rows", count * layout.width, rows.len())?;
        check_length("numbers of the rows", count, numbers.len())?;
        let mut lines = filled(count.div_ceil(BLOCK) * layout.lines(), ZERO);
        for (at, row) in rows.chunks_exact(layout.width.max(1)).enumerate() {
            let block = &mut lines[at / BLOCK * layout.lines()..][..layout.lines()];
            for (column, &value) in row.iter().enumerate() {
                block[2 * column + at % BLOCK / 16].0[at % 16] = value;
            }
        }
        let mut blocks = Blocks::new(Arc::new(lines), layout, count)?;
        let weighted = weights.iter().any(|&weight| weight != 1.0);
        if weighted {
            blocks = blocks.weighted(weights);
        }
        let mut description =
            Description { rows: count, weights: weighted || description.weights, ..description.clone() };
        let words = description.fingerprint_words();
        description.fingerprint =
            austerity::model::fingerprint(blocks.sample().chain(words.bytes().map(u32::from)));
        Ok(Self::made(description, blocks, Some(Arc::new(numbers)), false))
    }

    /// The same rows with what others add to the log-likelihood.
    #[must_use]
    pub fn with_beyond(self, beyond: Option<Beyond>) -> Self {
        Self { beyond: beyond.map(Arc::new), ..self }
    }

    /// What rows that are not stored add to the log-likelihood.
    #[must_use]
    pub fn beyond(&self) -> Option<&Beyond> {
        self.beyond.as_deref()
    }

    /// Appends the stored values of a row, in the order of a block's columns.
    pub fn append_row(&self, position: usize, values: &mut Vec<f32>) {
        let (lines, i) = (self.blocks.block(position / BLOCK), position % BLOCK);
        values.extend((0..self.blocks.layout().width).map(|column| lines[2 * column + i / 16].0[i % 16]));
    }

    /// What is stored, and how.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The rows.
    #[must_use]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.description.rows
    }

    /// Number of coefficients, the intercept included.
    #[must_use]
    pub fn coefficients(&self) -> usize {
        self.description.columns.len() + usize::from(self.description.intercept)
    }

    /// Names of the coefficients: `intercept` first, then the columns.
    #[must_use]
    pub fn coefficient_names(&self) -> Vec<String> {
        let intercept = self.description.intercept.then(|| "intercept".to_owned());
        intercept.into_iter().chain(self.description.columns.iter().map(|c| c.name.clone())).collect()
    }

    /// The priors of a user who named none, for normal noise where the response is real: see [`mod@crate::default_priors`].
    #[must_use]
    pub fn default_priors(&self) -> Priors {
        self.default_priors_with(NoiseTails::Normal).coefficients
    }

    /// The same for other noise, with the prior of σ.
    #[must_use]
    pub fn default_priors_with(&self, tails: NoiseTails) -> DefaultPriors {
        let Description { kind, response_shift, offset_shift, intercept, .. } = *self.description;
        let layout = self.description.layout();
        let value = |row: usize, column: usize| f64::from(self.blocks.value(row, column));
        let rows = (0..self.rows()).map(|row| {
            let stored = value(row, layout.response);
            ResponseRow {
                response: match kind {
                    ResponseKind::Real | ResponseKind::Positive | ResponseKind::Time => {
                        stored + response_shift
                    }
                    // Stored as log odds.
                    ResponseKind::Share => 1.0 / (1.0 + (-stored).exp()),
                    // Stored as −1 and 1.
                    ResponseKind::Binary => f64::from(u8::from(stored > 0.0)),
                    ResponseKind::Count | ResponseKind::CountOfTrials | ResponseKind::Ordered => stored,
                },
                offset: layout.offset.map_or(0.0, |column| value(row, column) + offset_shift),
                trials: layout.trials.map_or(1.0, |column| value(row, column)),
                weight: layout.weight.map_or(1.0, |column| value(row, column)),
            }
        });
        let response = ResponseFacts::of(kind, tails, intercept, rows);
        let columns = self.description.columns.iter().map(|column| ColumnFacts {
            mean: column.mean.unwrap_or(column.transform.shift),
            sd: column.sd,
            half_range: column.half_range,
        });
        default_priors(columns, intercept, response)
    }

    /// Means of the columns on the user's scale.
    #[must_use]
    pub fn column_means(&self) -> Vec<f64> {
        self.description.columns.iter().map(|column| column.mean.unwrap_or(column.transform.shift)).collect()
    }

    /// Whether every row is a failure or a count of 0 (then 0), or every row and trial a success (then 1): such rows leave coefficients
    /// without a bound on one side.
    ///
    /// Reads until two rows differ, in storage order: nearly always one block.
    #[must_use]
    pub fn only_response(&self) -> Option<f64> {
        let layout = self.description.layout();
        let (rows, blocks) = (self.rows(), &self.blocks);
        let first = blocks.value(0, layout.response);
        let trials = |row: usize| layout.trials.map_or(1.0, |column| blocks.value(row, column));
        let all = |same: &dyn Fn(usize, f32) -> bool| {
            (0..rows).all(|row| same(row, blocks.value(row, layout.response)))
        };
        match self.description.kind {
            ResponseKind::Real | ResponseKind::Positive | ResponseKind::Share | ResponseKind::Time => None,
            // Stored as −1 and 1.
            ResponseKind::Binary => {
                all(&|_, value| value == first).then_some(if first > 0.0 { 1.0 } else { 0.0 })
            }
            ResponseKind::Count => all(&|_, value| value == 0.0).then_some(0.0),
            ResponseKind::Ordered => all(&|_, value| value == first).then(|| first.into()),
            ResponseKind::CountOfTrials if first == 0.0 => all(&|_, value| value == 0.0).then_some(0.0),
            ResponseKind::CountOfTrials => all(&|row, value| value == trials(row)).then_some(1.0),
        }
    }

    /// Standard deviation of real responses less their offset, of at most 4,096 rows in storage order, which is random.
    #[must_use]
    pub fn response_sd(&self) -> f64 {
        let column = self.description.layout().response;
        let rows = self.rows().min(4096);
        let values: Vec<f64> = (0..rows).map(|row| f64::from(self.blocks.value(row, column))).collect();
        let mean = values.iter().sum::<f64>() / rows as f64;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / rows as f64).sqrt()
    }

    /// Bytes of the blocks, in memory or mapped.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.bytes()
    }

    /// Whether the blocks are mapped from a file, so that they need not fit in memory.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// Where a storage position stood in the user's data. Recomputes the shuffle where no list is kept: for messages.
    #[must_use]
    pub fn original_row(&self, position: usize) -> usize {
        let row = match &self.list {
            Some(list) => (**list).as_ref().get(position).copied(),
            None => self.description.order.list(self.rows()).get(position).copied(),
        };
        row.map_or(position, |row| row as usize)
    }

    /// Where every storage position stood in the user's data: 4 bytes per row.
    #[must_use]
    pub fn original_rows(&self) -> Vec<u32> {
        match &self.list {
            Some(list) => (**list).as_ref().to_vec(),
            None => self.description.order.list(self.rows()),
        }
    }

    /// Refuses a store for another kind of response.
    pub fn check_kind(&self, family: &str, kind: ResponseKind) -> Result<()> {
        let prepared = self.description.kind;
        if prepared == kind {
            return Ok(());
        }
        Err(Error::Setting {
            name: "family".into(),
            value: family.into(),
            allowed: format!(
                "one that explains {prepared}, which the data were prepared for; the {family} family explains {kind}"
            ),
        })
    }
}

#[cfg(test)]
mod tests;
