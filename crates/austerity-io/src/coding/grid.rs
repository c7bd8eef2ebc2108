//! Rows of a reference grid: which coefficient columns does a row with these values have? The recipe answers without the data.
//!
//! The way is that of predictions ([`NewRows`]), for a table of one row: a grid cannot differ from a prediction. Coefficients are on the original
//! scale of the columns. Cost: that of compiling the formula; for many rows make a table of them.

use std::collections::BTreeMap;

use austerity_glm::ResponseKind;

use super::{NewRows, Recipe};
use crate::error::Result;
use crate::table::{Column, Source, Table};

/// A value of a grid.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A level.
    Text(String),
}

/// What a row of a grid is multiplied with.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRow {
    /// The coefficients that take part, with their values, in order: all that are not 0.
    pub columns: Vec<(String, f64)>,
    /// The known part of the linear predictor.
    pub offset: f64,
}

impl Recipe {
    /// The row that has these values, given by the name of the table's column. Others than [`Recipe::inputs`] do not count; a value that is
    /// missing, and a level that was not there when the model was fitted, are errors.
    pub fn row(&self, values: &BTreeMap<String, Cell>) -> Result<GridRow> {
        let mut found = GridRow { columns: Vec::new(), offset: 0.0 };
        let names = self.coefficient_names();
        found.columns.extend(names.first().filter(|_| self.intercept).map(|name| (name.clone(), 1.0)));
        let inputs = self.inputs()?;
        if inputs.is_empty() {
            return Ok(found);
        }
        let given: Vec<(&str, Column)> = values
            .iter()
            .filter(|(name, _)| inputs.contains(name))
            .map(|(name, value)| {
                let column = match value {
                    Cell::Number(number) => Column::from(vec![*number]),
                    Cell::Text(text) => [text.as_str()].into_iter().collect(),
                };
                (name.as_str(), column)
            })
            .collect();
        let grid = Source::of_table(Table::new("the grid", given)?);
        let features = &names[usize::from(self.intercept)..];
        NewRows::new(&grid, self, ResponseKind::Real, false)?.scan(&mut |piece| {
            let values = piece.columns.iter().map(|column| column.first().copied().unwrap_or(0.0));
            let present = features.iter().cloned().zip(values).filter(|(_, value)| *value != 0.0);
            found.columns.extend(present);
            found.offset = piece.offset.as_ref().and_then(|offset| offset.first().copied()).unwrap_or(0.0);
            Ok(())
        })?;
        Ok(found)
    }
}
