//! Coefficients on the scale of standardised columns, beside those on the original scale that the draws are stored on.
//!
//! A standardised column is (x − shift)/scale, so its coefficient is β·scale and the intercept β_0 + Σ β_j·shift_j, draw by draw;
//! columns of levels are not standardised. What `--keep` left out is left out here.

use austerity::diagnostics::Summary;
use austerity_io::design::{Recipe, Term};
use austerity_io::run::DrawsReader;

use crate::output::Failure;

/// One summary per coefficient on the standardised scale.
pub(super) fn standardized(recipe: &Recipe, reader: &DrawsReader) -> Result<Vec<Summary>, Failure> {
    let names = reader.names();
    let place = |name: &str| names.iter().position(|known| known == name);
    let mut found = Vec::new();
    let mut intercept = match place("intercept").filter(|_| recipe.intercept) {
        Some(place) => Some(reader.parameter(place)?),
        None => None,
    };
    for term in &recipe.terms {
        for name in term.names() {
            let Some(place) = place(&name) else {
                intercept = None;
                continue;
            };
            let mut chains = reader.parameter(place)?;
            if let Term::Number { shift, scale, .. } = term {
                for (chain, sums) in chains.iter().zip(intercept.iter_mut().flatten()) {
                    chain.iter().zip(sums).for_each(|(value, sum)| *sum += value * shift);
                }
                chains.iter_mut().flatten().for_each(|value| *value *= scale);
            }
            found.push(summary(&name, &chains));
        }
    }
    if let Some(chains) = intercept {
        found.insert(0, summary("intercept", &chains));
    }
    Ok(found)
}

fn summary(name: &str, chains: &[Vec<f64>]) -> Summary {
    Summary::new(name, &chains.iter().map(Vec::as_slice).collect::<Vec<_>>())
}
