//! A design as plain data: kept with a run, applied to new rows, undone for reports.

use austerity_glm::ResponseKind;
use serde::{Deserialize, Serialize};

use super::{FormulaRecipe, NewRows, ResponseCoding, Term, TermNames};
use crate::error::{Error, Result};
use crate::table::names::unknown;
use crate::table::{Column, Source, Table};

/// How columns of a file become a design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The response's column.
    pub response: String,
    /// What its values stand for.
    pub coding: ResponseCoding,
    /// The features, in order.
    pub terms: Vec<Term>,
    /// The column of frequency weights.
    pub weights: Option<String>,
    /// The column of trials; of times, of events.
    pub trials: Option<String>,
    /// The column of offsets.
    pub offset: Option<String>,
    /// Whether the first coefficient is an intercept.
    pub intercept: bool,
    /// The formula that makes the columns named above, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<FormulaRecipe>,
}

impl Recipe {
    /// Names of the coefficients: `intercept` first, then the columns of the design.
    #[must_use]
    pub fn coefficient_names(&self) -> Vec<String> {
        let intercept = self.intercept.then(|| "intercept".to_owned());
        intercept.into_iter().chain(self.terms.iter().flat_map(Term::names)).collect()
    }

    /// Whether a column was shifted or scaled.
    #[must_use]
    pub fn is_standardized(&self) -> bool {
        let changed =
            |term: &Term| matches!(term, Term::Number { shift, scale, .. } if *shift != 0.0 || *scale != 1.0);
        self.terms.iter().any(changed)
    }

    /// The terms with the names of their coefficients, the intercept included: those of the formula, else the features.
    pub fn term_names(&self) -> Result<Vec<TermNames>> {
        if let Some(formula) = &self.formula {
            return formula.terms();
        }
        let intercept = TermNames { term: "intercept".into(), coefficients: vec!["intercept".into()] };
        let features = self
            .terms
            .iter()
            .map(|term| TermNames { term: term.column().into(), coefficients: term.names() });
        Ok(self.intercept.then_some(intercept).into_iter().chain(features).collect())
    }

    /// A table with the columns that the recipe names: those that its formula makes, else the table itself.
    pub fn over(&self, source: &Source) -> Result<Source> {
        self.formula.as_ref().map_or_else(|| Ok(source.clone()), |formula| formula.over(source))
    }

    /// Columns that new rows must have: those of the features, and of the offset.
    pub fn inputs(&self) -> Result<Vec<String>> {
        self.formula.as_ref().map_or_else(|| Ok(self.feature_columns()), FormulaRecipe::inputs)
    }

    /// Columns of [`Recipe::over`] a file that are needed to predict: features and offset.
    #[must_use]
    pub fn feature_columns(&self) -> Vec<String> {
        self.terms.iter().map(|term| term.column().to_owned()).chain(self.offset.clone()).collect()
    }

    /// Feature columns that must be read as text, see [`crate::table::Source::read_with`].
    #[must_use]
    pub fn text_columns(&self) -> Vec<String> {
        let levels = self.terms.iter().filter(|term| matches!(term, Term::Levels { .. }));
        levels.map(|term| term.column().to_owned()).collect()
    }

    /// Turns coefficients of the design into coefficients on the original scale of the columns: those of
    /// standardised columns are divided by the scale, and what the shifts contributed moves into the intercept.
    /// A slice of another length is left as it is beyond the coefficients.
    pub fn to_original(&self, coefficients: &mut [f64]) {
        let (mut at, mut moved) = (usize::from(self.intercept), 0.0);
        for term in &self.terms {
            match term {
                Term::Number { shift, scale, .. } => {
                    if let Some(coefficient) = coefficients.get_mut(at) {
                        *coefficient /= scale;
                        moved += *coefficient * shift;
                    }
                    at += 1;
                }
                Term::Levels { levels, .. } => at += levels.len(),
                Term::Cells { names, .. } => at += names.len(),
            }
        }
        if self.intercept
            && let Some(intercept) = coefficients.first_mut()
        {
            *intercept -= moved;
        }
    }

    /// The columns of the design for new rows, without the intercept. A level that was not there when
    /// the recipe was made is an error with its row.
    pub fn features(&self, table: &Table) -> Result<Vec<Vec<f64>>> {
        if self.formula.is_some() {
            return self.features_in_pieces(&Source::of_table(table.clone()));
        }
        let mut columns = Vec::new();
        for term in &self.terms {
            let given = table
                .column(term.column())
                .ok_or_else(|| unknown(&table.file, &table.names, term.column()))?;
            columns.extend(term.apply(&table.file, given)?);
        }
        Ok(columns)
    }

    /// The columns of the design for new rows of a formula.
    fn features_in_pieces(&self, source: &Source) -> Result<Vec<Vec<f64>>> {
        let changes: Vec<(f64, f64)> = self
            .terms
            .iter()
            .flat_map(|term| match term {
                Term::Number { shift, scale, .. } => vec![(*shift, *scale)],
                other => vec![(0.0, 1.0); other.names().len()],
            })
            .collect();
        let mut columns = vec![Vec::new(); changes.len()];
        NewRows::new(source, self, ResponseKind::Real, false)?.scan(&mut |piece| {
            for ((column, values), (shift, scale)) in columns.iter_mut().zip(&piece.columns).zip(&changes) {
                column.extend(values.iter().map(|value| (value - shift) / scale));
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// The offset of new rows, when the design has one.
    pub fn offsets(&self, table: &Table) -> Result<Option<Vec<f64>>> {
        let Some(name) = &self.offset else { return Ok(None) };
        if self.formula.is_some() {
            let made = self.over(&Source::of_table(table.clone()))?.read(Some(std::slice::from_ref(name)))?;
            return Self { formula: None, ..self.clone() }.offsets(&made);
        }
        match table.column(name) {
            Some(Column::Numbers(values)) => Ok(Some(values.clone())),
            Some(Column::Levels { .. }) => Err(Error::Role {
                file: table.file.clone(),
                column: name.clone(),
                problem: "the offset holds text".into(),
                remedy: "give numbers".into(),
            }),
            None => Err(unknown(&table.file, &table.names, name)),
        }
    }
}
