//! Coefficients on the scale of standardised columns, beside those on the original scale that the draws are stored on.
//!
//! A standardised column is (x − shift)/scale, so its coefficient is β·scale and the intercept β_0 + Σ β_j·shift_j, draw by draw;
//! columns of levels are not standardised. What `--keep` left out is left out here. Memory: two columns of the draws that summaries look at.

use austerity::diagnostics::Summary;
use austerity_io::coding::{Recipe, Term};
use austerity_io::run::{Column, DrawsReader};

use super::summaries;
use crate::output::Failure;

/// One summary per coefficient on the standardised scale.
pub(crate) fn standardized(recipe: &Recipe, reader: &DrawsReader) -> Result<Vec<Summary>, Failure> {
    let names = reader.names();
    let every = summaries::every(reader);
    let place = |name: &str| names.iter().position(|known| known == name);
    let column = |place: usize| -> Result<Column, Failure> {
        Ok(reader.sampled(place..place + 1, every)?.pop().unwrap_or_default())
    };
    let mut found = Vec::new();
    let mut intercept = place("intercept").filter(|_| recipe.intercept).map(column).transpose()?;
    for term in &recipe.terms {
        for name in term.names() {
            let Some(place) = place(&name) else {
                intercept = None;
                continue;
            };
            let mut column = column(place)?;
            if let Term::Number { shift, scale, .. } = term {
                if let Some(intercept) = &mut intercept {
                    intercept
                        .values
                        .iter_mut()
                        .zip(&column.values)
                        .for_each(|(sum, value)| *sum += value * shift);
                }
                column.values.iter_mut().for_each(|value| *value *= scale);
                (column.mean, column.sd) = (column.mean * scale, column.sd * scale.abs());
            }
            found.push(summaries::summary(&name, &column, every));
        }
    }
    if let Some(column) = intercept {
        // Its mean and sd over all draws are not known: those of the draws looked at serve.
        found.insert(0, summaries::summary("intercept", &column, 1));
    }
    Ok(found)
}
