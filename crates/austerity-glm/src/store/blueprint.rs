//! How every column is going to be stored, decided from one pass over it, with all checks of [`crate::Data`].
//!
//! A reader summarises the columns ([`ColumnSummary`]) and the side columns ([`SidePlan`]) in a first pass. The blueprint
//! then says what is stored of each value, refuses what carries no information, and in the second pass watches what
//! single precision loses. Nothing of size N is kept.

use super::{Description, Order, StoredColumn, layout_of, place_of_factor, slots_of};
use crate::data::scale::{Rounding, Transform};
use crate::data::summary::ColumnSummary;
use crate::data::{SidePlan, Sides, check_duplicates, check_names, check_not_empty, transform_of};
use crate::glm::blocks::Layout;
use crate::glm::predictor::levels;
use austerity::error::Result;
use austerity::model::{check_length, check_rows};

/// How levels are stored.
const LEVEL: Transform = Transform { shift: 0.0, scale: 1.0 };

/// The plan of a store.
#[derive(Clone, Debug)]
pub struct Blueprint {
    columns: Vec<Planned>,
    sides: SidePlan,
    intercept: bool,
    order: Order,
    /// Warnings known beforehand.
    told: Vec<String>,
}

/// How one column is stored, and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    column: StoredColumn,
    fingerprint: Option<u128>,
    rounding: Option<Rounding>,
}

impl Planned {
    /// Refuses values that are not finite and constant columns.
    pub(super) fn new(name: &str, summary: &ColumnSummary, rows: usize, intercept: bool) -> Result<Self> {
        check_length(&format!("column `{name}`"), rows, summary.rows)?;
        summary.check(name)?;
        let transform = transform_of(name, summary, intercept)?;
        Ok(Self {
            column: StoredColumn::new(name, transform, summary),
            fingerprint: Some(summary.fingerprint),
            rounding: Some(Rounding::of_column(summary, transform)),
        })
    }

    /// What is stored of a value.
    pub(super) fn transform(&self) -> Transform {
        self.column.transform
    }

    /// Looks at values while they are stored, for what rounding loses.
    pub(super) fn observe(&mut self, values: &[f64]) {
        if let Some(rounding) = &mut self.rounding {
            rounding.push(values);
        }
    }
}

impl Blueprint {
    /// A store of `columns` columns beside the side columns, whose plans follow.
    pub fn new(sides: SidePlan, columns: usize, intercept: bool, order: Order) -> Result<Self> {
        check_rows(sides.rows)?;
        check_not_empty(columns, intercept)?;
        let transform = Transform { shift: 0.0, scale: 1.0 };
        let unnamed = |j: usize| StoredColumn {
            name: format!("x{}", j + 1),
            transform,
            sd: 0.0,
            mean: None,
            half_range: None,
            factor: None,
            slope: false,
        };
        let columns =
            (0..columns).map(|j| Planned { column: unnamed(j), fingerprint: None, rounding: None }).collect();
        let told = sides.constant_warning().into_iter().collect();
        Ok(Self { columns, sides, intercept, order, told })
    }

    /// Of so many rows that are stored as those of a store that is described were, in the order given: a part of its data, or rows that came later.
    pub fn described(description: &Description, rows: usize) -> Result<Self> {
        check_rows(rows)?;
        let planned =
            |column: &StoredColumn| Planned { column: column.clone(), fingerprint: None, rounding: None };
        Ok(Self {
            columns: description.columns.iter().map(planned).collect(),
            sides: SidePlan::described(description, rows),
            intercept: description.intercept,
            order: Order::AsGiven,
            told: Vec::new(),
        })
    }

    /// Decides how column number `column` is stored; refuses values that are not finite and constant columns.
    pub fn plan(&mut self, column: usize, name: &str, summary: &ColumnSummary) -> Result<()> {
        let StoredColumn { transform, factor, slope, .. } = self.columns[column].column;
        let mut planned = Planned::new(name, summary, self.sides.rows, self.intercept)?;
        if factor.is_some() {
            planned.column = StoredColumn { transform, factor, slope, ..planned.column };
            planned.rounding = None;
        }
        self.columns[column] = planned;
        Ok(())
    }

    /// Makes the columns `levels`, which stand for the levels of one feature, a factor: rows store the place of their level instead of a
    /// number for each of them. To be said before the first row is stored.
    pub fn make_factor(&mut self, levels: std::ops::Range<usize>) {
        let next = self.columns.iter().filter_map(|planned| planned.column.factor).max();
        for planned in &mut self.columns[levels] {
            planned.column.factor = Some(next.map_or(0, |last| last + 1));
            planned.column.transform = LEVEL;
        }
    }

    /// Makes the columns `levels`, each a number of the row times the 0/1 column of a level, a factor with slopes: rows store the place of
    /// their level and number/scale. To be said before the first row is stored.
    pub fn make_slopes(&mut self, levels: std::ops::Range<usize>, scale: f64) {
        self.make_factor(levels.clone());
        for planned in &mut self.columns[levels] {
            planned.column.slope = true;
            planned.column.transform = Transform { shift: 0.0, scale };
        }
    }

    /// As [`Blueprint::plan`], of a plan made elsewhere.
    pub(super) fn set(&mut self, column: usize, planned: Planned) {
        self.columns[column] = planned;
    }

    /// Whether the first coefficient is an intercept.
    pub(super) fn intercept(&self) -> bool {
        self.intercept
    }

    /// Takes over what was decided and checked before.
    pub(super) fn adopt(&mut self, column: usize, stored: StoredColumn) {
        self.columns[column].column = stored;
    }

    /// As [`Blueprint::adopt`], of warnings.
    pub(super) fn adopt_warnings(&mut self, warnings: &[String]) {
        self.told = warnings.to_vec();
    }

    /// Leaves columns out, as if they had never been there. `gone` is in ascending order.
    pub fn remove(&mut self, gone: &[usize]) {
        let mut j = 0;
        self.columns.retain(|_| {
            j += 1;
            gone.binary_search(&(j - 1)).is_err()
        });
    }

    /// N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.sides.rows
    }

    /// The order of the rows.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// Where the columns of a block are.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let sides = [self.sides.trials, self.sides.offset, self.sides.weights];
        layout_of(self.columns.iter().map(|planned| &planned.column), sides)
    }

    /// Where the coefficient of every column stands in the order of the storage.
    pub(super) fn slots(&self) -> Vec<usize> {
        slots_of(self.columns.iter().map(|planned| &planned.column))
    }

    /// What rows store of the levels of a factor, given the columns of its codes: the place in a block, and the value of every code. `None`
    /// where the columns are stored one by one.
    #[must_use]
    pub fn factor(&self, columns: &[Option<usize>]) -> Option<(usize, Vec<f32>)> {
        let number = columns.iter().flatten().find_map(|&column| self.columns[column].column.factor)?;
        let (layout, slots) = (self.layout(), self.slots());
        let place = |column: &Option<usize>| column.map_or(0, |column| slots[column] - layout.columns);
        let values = columns.iter().map(|column| levels::stored(place(column) as u32)).collect();
        let stored = self.columns.iter().map(|planned| &planned.column);
        Some((layout.columns + place_of_factor(stored, number, &layout), values))
    }

    /// Of a factor with slopes, given the columns of its codes: the place in a block of the number of a row, and what it is divided by.
    #[must_use]
    pub fn slope(&self, columns: &[Option<usize>]) -> Option<(usize, f64)> {
        let column = columns.iter().flatten().next().map(|&column| &self.columns[column].column)?;
        let (true, Some(factor)) = (column.slope, column.factor) else { return None };
        let layout = self.layout();
        let stored = self.columns.iter().map(|planned| &planned.column);
        let place = place_of_factor(stored, factor, &layout);
        Some((layout.columns + layout.slopes + place, column.transform.scale))
    }

    /// The place in a block of a column that is stored as it is.
    #[must_use]
    pub fn place(&self, column: usize) -> usize {
        let before = &self.columns[..column];
        column - before.iter().filter(|planned| planned.column.factor.is_some()).count()
    }

    /// How a column is stored.
    #[must_use]
    #[inline(always)]
    pub fn transform(&self, column: usize) -> Transform {
        self.columns[column].column.transform
    }

    /// Looks at the next values of a column while they are stored, for what rounding loses.
    pub fn observe(&mut self, column: usize, values: &[f64]) {
        self.columns[column].observe(values);
    }

    /// As [`Blueprint::observe`], of the side columns.
    pub fn observe_sides(&mut self, sides: &Sides<'_>) {
        self.sides.observe(sides);
    }

    /// What is stored of the side columns: calls `put` with the place in a block, the row of `sides` and the stored value.
    #[inline(always)]
    pub fn each_side(&self, sides: &Sides<'_>, mut put: impl FnMut(usize, usize, f32)) {
        let layout = self.layout();
        for at in 0..sides.response.len() {
            put(layout.response, at, self.sides.stored_response(sides, at));
        }
        let plain = [(layout.trials, sides.trials, 0.0), (layout.weight, sides.weights, 0.0)];
        for (place, values, shift) in
            plain.into_iter().chain([(layout.offset, sides.offset, self.sides.offset_shift)])
        {
            if let (Some(place), Some(values)) = (place, values) {
                values.iter().enumerate().for_each(|(at, value)| put(place, at, (value - shift) as f32));
            }
        }
    }

    /// Refuses names and columns that repeat each other.
    pub fn check(&self) -> Result<()> {
        check_not_empty(self.columns.len(), self.intercept)?;
        check_names(self.columns.iter().map(|c| c.column.name.as_str()), self.intercept)?;
        let known = self.columns.iter().filter_map(|c| Some((c.column.name.as_str(), c.fingerprint?)));
        check_duplicates(known)
    }

    /// The description, when all values have been stored; its fingerprint is still 0.
    pub fn describe(self) -> Result<Description> {
        self.check()?;
        let mut warnings = self.told;
        for planned in &self.columns {
            let rounding = planned.rounding.as_ref();
            warnings.extend(rounding.and_then(|rounding| rounding.of_column_in_words(&planned.column.name)));
        }
        warnings
            .extend(self.sides.warnings().filter(|warning| !warnings.contains(warning)).collect::<Vec<_>>());
        Ok(Description {
            rows: self.sides.rows,
            columns: self.columns.into_iter().map(|planned| planned.column).collect(),
            intercept: self.intercept,
            kind: self.sides.kind,
            trials: self.sides.trials,
            offset: self.sides.offset,
            weights: self.sides.weights,
            response_shift: self.sides.response_shift,
            offset_shift: self.sides.offset_shift,
            order: self.order,
            warnings,
            fingerprint: 0,
        })
    }
}
