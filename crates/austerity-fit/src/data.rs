//! From a file or a store on disk to rows ready for sampling: what `fit`, `check` and `convert` do first.

use austerity_glm::{ResponseKind, Store};
use austerity_io::coding::formula::{Beside, Grouping, beside, check_rank};
use austerity_io::coding::{CodingOptions, Recipe, Term};
use austerity_io::load::{LoadOptions, load as load_table};
use austerity_io::store;
use austerity_io::table::{Missing, OpenOptions, Source, open_all};

use crate::output::Failure;
use crate::refusal::{About, Refusal};
use crate::request::{DataOptions, Keyword, MissingChoice};

/// Rows ready for sampling, with what was noticed on the way.
#[derive(Clone)]
pub struct Loaded {
    /// The rows.
    pub store: Store,
    /// How the columns became those of the store.
    pub recipe: Recipe,
    /// Notes and warnings.
    pub remarks: Vec<String>,
    /// Of every stored number: other data have another.
    pub checksum: String,
    /// The group terms of the formula.
    pub groups: Vec<Grouping>,
}

/// Reads and checks the data; `seed` shuffles the storage. A store on disk was shuffled when it was made.
pub(crate) fn load(
    options: &DataOptions,
    table: Option<&Source>,
    seed: u64,
    threads: usize,
) -> Result<Loaded, Failure> {
    read(options, table, (seed, threads), false)
}

/// The same with the group terms of a formula.
pub(crate) fn load_with_groups(
    options: &DataOptions,
    table: Option<&Source>,
    seed: u64,
    threads: usize,
) -> Result<Loaded, Failure> {
    read(options, table, (seed, threads), true)
}

fn read(
    options: &DataOptions,
    table: Option<&Source>,
    (seed, threads): (u64, usize),
    groups: bool,
) -> Result<Loaded, Failure> {
    if table.is_none() && is_store(options) {
        return mapped(options, all_cores(threads));
    }
    let kind = kind(options)?;
    let wanted = CodingOptions { groups, ..design(options)? };
    let how = LoadOptions { threads: (threads > 0).then_some(threads) };
    let loaded = match table {
        Some(table) => load_table(table, &wanted, kind, seed, &how)?,
        None => load_table(&opened(options)?, &wanted, kind, seed, &how)?,
    };
    let mut remarks = loaded.notes;
    remarks.extend(loaded.warnings);
    let checksum = store::checksum(&loaded.store, all_cores(threads));
    Ok(Loaded { store: loaded.store, recipe: loaded.recipe, remarks, checksum, groups: loaded.groups })
}

/// Whether the data are a store on disk, or what is left of one.
pub(crate) fn is_store(options: &DataOptions) -> bool {
    let file = &options.file;
    options.further.is_empty()
        && (store::is_store(file) || ["shard-1", "blocks.npy"].iter().any(|part| file.join(part).exists()))
}

/// The table: a file, a folder or a pattern, or several of these.
pub fn opened(options: &DataOptions) -> Result<Source, Failure> {
    let files: Vec<_> = std::iter::once(&options.file).chain(&options.further).cloned().collect();
    Ok(open_all(&files, &OpenOptions::default())?)
}

/// What becomes of rows with missing values.
fn missing(options: &DataOptions) -> Missing {
    match options.missing {
        Some(MissingChoice::Drop) => Missing::Drop,
        Some(MissingChoice::Refuse) | None => Missing::Refuse,
    }
}

/// Refuses options that say what a formula says.
fn check_formula(options: &DataOptions) -> Result<(), Refusal> {
    if options.formula.is_none() {
        return Ok(());
    }
    let given = [
        (Keyword::Response, options.response.is_some()),
        (Keyword::Features, options.features.is_some()),
        (Keyword::Categorical, !options.categorical.is_empty()),
        (Keyword::Reference, !options.reference.is_empty()),
        (Keyword::Weights, options.weights.is_some()),
        (Keyword::Trials, options.trials.is_some()),
        (Keyword::Event, options.event.is_some()),
        (Keyword::Offset, options.offset.is_some()),
        (Keyword::NoIntercept, options.no_intercept),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((keyword, _)) => Err(Refusal::FormulaSays(*keyword)),
        None => Ok(()),
    }
}

/// Which column is what.
pub fn design(options: &DataOptions) -> Result<CodingOptions, Failure> {
    if let Some(formula) = &options.formula {
        check_formula(options)?;
        return Ok(CodingOptions {
            success: options.success.clone(),
            standardize: options.standardize,
            missing: missing(options),
            ..CodingOptions::of_formula(formula)
        });
    }
    let Some(response) = &options.response else {
        let why = "name the column to be explained";
        return Err(Refusal::Missing { keyword: Keyword::Response, why }.into());
    };
    Ok(CodingOptions {
        features: options.features.clone(),
        categorical: options.categorical.clone(),
        weights: options.weights.clone(),
        trials: options.trials.clone().or_else(|| options.event.clone()),
        offset: options.offset.clone(),
        success: options.success.clone(),
        references: options.reference.iter().map(ToString::to_string).collect(),
        intercept: !options.no_intercept,
        standardize: options.standardize,
        missing: missing(options),
        ..CodingOptions::new(response)
    })
}

/// Which responses the family explains; `None` lets the data tell.
pub fn kind(options: &DataOptions) -> Result<Option<ResponseKind>, Failure> {
    if let Some(event) = &options.event
        && (options.trials.is_some()
            || options.family.and_then(|f| f.kind(false)) != Some(ResponseKind::Time))
    {
        return Err(Refusal::EventFamily { event: event.clone() }.into());
    }
    if let Some(formula) = &options.formula {
        let beside = beside(&options.file, formula)?;
        let kind = options.family.map(|family| family.kind(beside == Beside::Trials));
        if beside == Beside::Event && kind != Some(Some(ResponseKind::Time)) {
            return Err(Refusal::FormulaEvent.into());
        }
        return Ok(kind.map(|kind| kind.ok_or(Refusal::FormulaTrials)).transpose()?);
    }
    match (options.family, &options.trials) {
        (None, None) => Ok(None),
        (None, Some(_)) => Ok(Some(ResponseKind::CountOfTrials)),
        (Some(family), trials) => {
            let refused = || Refusal::TrialsFamily { trials: trials.clone().unwrap_or_default() };
            Ok(Some(family.kind(trials.is_some()).ok_or_else(refused)?))
        }
    }
}

/// Whether two spellings name the same level: as texts, or as numbers.
fn same_level(named: &str, level: &str) -> bool {
    let number = |text: &str| match text.trim() {
        text if text.eq_ignore_ascii_case("true") => Some(1.0),
        text if text.eq_ignore_ascii_case("false") => Some(0.0),
        text => text.parse::<f64>().ok(),
    };
    named == level || number(named).is_some_and(|value| number(level) == Some(value))
}

/// Threads for work on all rows; 0 stands for all cores.
pub(crate) fn all_cores(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, Into::into),
        threads => threads,
    }
}

/// Refuses references that are not those of a store.
fn check_references(
    options: &DataOptions,
    recipe: &Recipe,
    differs: &dyn Fn(About, &str, &str) -> Failure,
) -> Result<(), Failure> {
    for word in options.reference.iter().map(ToString::to_string) {
        let stored = recipe.terms.iter().find_map(|term| match term {
            Term::Levels { column, reference: Some(level), .. } => {
                let named = word.strip_prefix(column.as_str())?.strip_prefix('=')?;
                Some((format!("{column}={level}"), same_level(named, level)))
            }
            _ => None,
        });
        match stored {
            Some((_, true)) => {}
            Some((stored, false)) => return Err(differs(Keyword::Reference.into(), &stored, &word)),
            None => return Err(differs(Keyword::Reference.into(), "not given for this column", &word)),
        }
    }
    Ok(())
}

/// Opens a store and compares every row with its checksum; options about columns must be those it was made with.
fn mapped(options: &DataOptions, threads: usize) -> Result<Loaded, Failure> {
    let opened = store::open(&options.file)?;
    let recipe = &opened.recipe;
    check_formula(options)?;
    let differs = |what: About, stored: &str, now: &str| {
        let (stored, now) = (stored.into(), now.into());
        Failure::from(Refusal::StoreDiffers { file: options.file.clone(), what, stored, now })
    };
    let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".into());
    if let Some(formula) = &options.formula {
        let stored = recipe.formula.as_ref().map_or("none", |formula| formula.text.as_str());
        if stored != formula {
            return Err(differs(Keyword::Formula.into(), stored, formula));
        }
    }
    let response = Some(recipe.response.clone());
    let roles = [
        (Keyword::Response, &options.response, &response),
        (Keyword::Weights, &options.weights, &recipe.weights),
        (Keyword::Trials, &options.trials, &recipe.trials),
        (Keyword::Event, &options.event, &recipe.trials),
        (Keyword::Offset, &options.offset, &recipe.offset),
    ];
    for (option, typed, stored) in roles {
        if typed.is_some() && typed != stored {
            return Err(differs(option.into(), &named(stored), &named(typed)));
        }
    }
    if let Some(features) = &options.features {
        let stored: Vec<&str> = recipe.terms.iter().map(Term::column).collect();
        if features.iter().map(String::as_str).collect::<Vec<_>>() != stored {
            return Err(differs(Keyword::Features.into(), &stored.join(","), &features.join(",")));
        }
    }
    if options.no_intercept && recipe.intercept {
        return Err(differs(Keyword::NoIntercept.into(), "not given", "given"));
    }
    if options.standardize && !recipe.is_standardized() {
        return Err(differs(Keyword::Standardize.into(), "not given", "given"));
    }
    let text: Vec<String> = recipe.text_columns();
    if let Some(name) = options.categorical.iter().find(|name| !text.contains(name)) {
        return Err(differs(Keyword::Categorical.into(), &text.join(","), name));
    }
    if let Some(success) = &options.success {
        let stored = recipe.coding.success();
        if !same_level(success, &stored) {
            return Err(differs(Keyword::Success.into(), &stored, success));
        }
    }
    check_references(options, recipe, &differs)?;
    if let Some(kind) = kind(options)?
        && kind != opened.store.description().kind
    {
        return Err(differs(
            About::Because("the kind of response", Keyword::Family),
            &opened.store.description().kind.to_string(),
            &kind.to_string(),
        ));
    }
    opened.verify(threads)?;
    let checksum = opened.checksum().to_owned();
    let warning = check_rank(&options.file, &opened.store, &opened.recipe)?;
    let mut remarks = opened.notes;
    remarks.extend(opened.warnings.into_iter().chain(warning));
    if let Some(shard) = opened.shard {
        remarks.push(format!(
            "this is shard {} of {} of a table of {} rows: the posterior is that of its own rows",
            shard.number, shard.of, shard.rows
        ));
    }
    Ok(Loaded { store: opened.store, recipe: opened.recipe, remarks, checksum, groups: Vec::new() })
}
