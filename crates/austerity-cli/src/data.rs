//! From a file, or a store made of one, to rows ready for sampling: what `check` does first.

use austerity::model::{ResponseKind, Store};
use austerity_io::design::{DesignOptions, Recipe, Term};
use austerity_io::load::{LoadOptions, load as load_table};
use austerity_io::{store, table};

use crate::arguments::{DataOptions, FamilyChoice};
use crate::output::Failure;

/// Rows ready for sampling, with what was noticed on the way.
pub(crate) struct Loaded {
    pub(crate) store: Store,
    #[allow(dead_code, reason = "what a fit keeps beside its draws")]
    pub(crate) recipe: Recipe,
    pub(crate) remarks: Vec<String>,
}

/// Reads and checks the data; `seed` shuffles the rows of a file, those of a store have their order.
pub(crate) fn load(options: &DataOptions, seed: u64) -> Result<Loaded, Failure> {
    let kind = kind(options)?;
    if store::is_store(&options.data) {
        return load_store(options, kind);
    }
    let Some(response) = &options.response else {
        let file = options.data.display();
        return Err(Failure::Usage(format!(
            "--response is missing: which column of {file} is to be explained?"
        )));
    };
    let wanted = DesignOptions {
        features: options.features.clone(),
        categorical: options.categorical.clone(),
        weights: options.weights.clone(),
        trials: options.trials.clone(),
        offset: options.offset.clone(),
        intercept: !options.no_intercept,
        standardize: options.standardize,
        ..DesignOptions::new(response)
    };
    let source = table::open(&options.data)?;
    let loaded = load_table(&source, &wanted, Some(kind), seed, &LoadOptions::default())?;
    let mut remarks = loaded.notes;
    remarks.extend(loaded.warnings);
    Ok(Loaded { store: loaded.store, recipe: loaded.recipe, remarks })
}

/// A store was prepared once and for all: options about columns must be absent or say what it holds.
fn load_store(options: &DataOptions, kind: ResponseKind) -> Result<Loaded, Failure> {
    let opened = store::open(&options.data)?;
    let recipe = &opened.recipe;
    let features = || recipe.terms.iter().map(Term::column);
    let same = |given: &Option<String>, held: Option<&String>| given.is_none() || given.as_ref() == held;
    let levels = recipe.text_columns();
    let standardized =
        recipe.terms.iter().any(|term| matches!(term, Term::Number { scale, .. } if *scale != 1.0));
    let refused = [
        ("--response", !same(&options.response, Some(&recipe.response))),
        (
            "--features",
            options.features.as_ref().is_some_and(|given| !features().eq(given.iter().map(String::as_str))),
        ),
        ("--categorical", !options.categorical.iter().all(|name| levels.contains(name))),
        ("--weights", !same(&options.weights, recipe.weights.as_ref())),
        ("--trials", !same(&options.trials, recipe.trials.as_ref())),
        ("--offset", !same(&options.offset, recipe.offset.as_ref())),
        ("--no-intercept", options.no_intercept && recipe.intercept),
        ("--standardize", options.standardize && !standardized),
    ];
    let folder = options.data.display();
    if let Some((option, _)) = refused.into_iter().find(|(_, refused)| *refused) {
        return Err(Failure::Usage(format!(
            "{option} differs from how the store {folder} was made (response `{}`, features {}); drop the option, or convert the table again",
            recipe.response,
            features().collect::<Vec<_>>().join(",")
        )));
    }
    let held = opened.store.description().kind;
    // The store itself says whether trials are counted.
    let fits = held == kind || (held == ResponseKind::CountOfTrials && kind == ResponseKind::Binary);
    if !fits {
        return Err(Failure::Usage(format!(
            "the store {folder} was made for responses that are {held}, the family explains {kind}; choose another --family, or convert the table again"
        )));
    }
    let mut remarks = opened.notes;
    remarks.extend(opened.warnings);
    Ok(Loaded { store: opened.store, recipe: opened.recipe, remarks })
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
