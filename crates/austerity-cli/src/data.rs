//! From a file to rows ready for sampling: what `check` does first.

use austerity::model::{ResponseKind, Store};
use austerity_io::design::{DesignOptions, Recipe};
use austerity_io::load::{LoadOptions, load as load_table};
use austerity_io::table::open;

use crate::arguments::{DataOptions, FamilyChoice};
use crate::output::Failure;

/// Rows ready for sampling, with what was noticed on the way.
pub(crate) struct Loaded {
    pub(crate) store: Store,
    #[allow(dead_code, reason = "what a fit keeps beside its draws")]
    pub(crate) recipe: Recipe,
    pub(crate) remarks: Vec<String>,
}

/// Reads and checks the data; `seed` shuffles the storage.
pub(crate) fn load(options: &DataOptions, seed: u64) -> Result<Loaded, Failure> {
    let kind = kind(options)?;
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
    let loaded = load_table(&open(&options.data)?, &wanted, Some(kind), seed, &LoadOptions::default())?;
    let mut remarks = loaded.notes;
    remarks.extend(loaded.warnings);
    Ok(Loaded { store: loaded.store, recipe: loaded.recipe, remarks })
}

/// Which responses the family explains.
fn kind(options: &DataOptions) -> Result<ResponseKind, Failure> {
    Ok(match (options.family, &options.trials) {
        (FamilyChoice::Logistic, Some(_)) => ResponseKind::CountOfTrials,
        (FamilyChoice::Logistic, None) => ResponseKind::Binary,
        (_, Some(trials)) => {
            return Err(Failure::Usage(format!(
                "--trials {trials} belongs to --family logistic only; drop it"
            )));
        }
        (FamilyChoice::Poisson, None) => ResponseKind::Count,
        (FamilyChoice::Linear | FamilyChoice::Student, None) => ResponseKind::Real,
    })
}
