//! From a file to rows ready for sampling: what `fit` and `check` do first.

use austerity::Error;
use austerity::model::{ResponseKind, Store};
use austerity_io::design::{Design, DesignOptions, Recipe};
use austerity_io::table::open;

use crate::arguments::{DataOptions, FamilyChoice};
use crate::output::Failure;

/// Data of a file, checked, with what was noticed on the way.
pub(crate) struct Loaded {
    pub(crate) store: Store,
    pub(crate) recipe: Recipe,
    pub(crate) remarks: Vec<String>,
}

/// Reads and checks the data; `seed` shuffles the storage.
pub(crate) fn load(options: &DataOptions, seed: u64) -> Result<Loaded, Failure> {
    let kind = match (options.family.unwrap_or(FamilyChoice::Logistic), &options.trials) {
        (FamilyChoice::Logistic, Some(_)) => ResponseKind::CountOfTrials,
        (FamilyChoice::Logistic, None) => ResponseKind::Binary,
        (_, Some(trials)) => {
            return Err(Failure::Usage(format!(
                "--trials {trials} belongs to --family logistic only; drop it"
            )));
        }
        (FamilyChoice::Poisson, None) => ResponseKind::Count,
        (FamilyChoice::Linear | FamilyChoice::Student, None) => ResponseKind::Real,
    };
    let source = open(&options.data)?;
    let wanted = DesignOptions {
        features: options.features.clone(),
        categorical: options.categorical.clone(),
        weights: options.weights.clone(),
        trials: options.trials.clone(),
        offset: options.offset.clone(),
        intercept: !options.no_intercept,
        standardize: options.standardize,
        ..DesignOptions::new(&options.response)
    };
    let design = Design::read(&source, &wanted, kind)?;
    let file = design.file.clone();
    let checked = design.data.shuffle(seed).check(kind);
    let data = checked
        .map_err(|error| Failure::Usage(format!("{}: {}", file.display(), counted_from_one(error))))?;
    let mut remarks = design.notes;
    remarks.extend(design.warnings);
    remarks.extend(data.warnings.iter().cloned());
    Ok(Loaded { store: Store::new(&data, kind)?, recipe: design.recipe, remarks })
}

/// The library counts rows from 0, people who look into a file from 1.
fn counted_from_one(mut error: Error) -> Error {
    if let Error::NotFinite { row, .. } | Error::OutOfRange { row, .. } = &mut error {
        *row += 1;
    }
    error
}
