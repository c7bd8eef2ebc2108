//! What options mean: settings of the chains, limits, priors, parameters to keep, the layout of the draws.

use std::collections::BTreeMap;

use austerity::run::{Limits, Settings, UNBOUNDED};
use austerity_glm::{DefaultPriors, Prior, Priors, Store};
use austerity_io::run::{Layout, StatisticField};
use austerity_io::table::nearest;

use super::plan::Plan;
use crate::model::Family;
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{Keyword, LengthOptions, Request, ShapeOptions};

/// More chains than any machine has use for; each holds a state and a shape of its own.
const MOST_CHAINS: u32 = 4096;

/// The layout of the draws of a run.
pub(super) fn layout(plan: &Plan, names: Vec<String>, keep: Option<Vec<usize>>) -> Layout {
    // Other posteriors have many parameters alike: one array holds them.
    let coefficients = if plan.part.is_some() { names.len() } else { plan.recipe.coefficient_names().len() };
    let mut layout = Layout::new(names, coefficients, &plan.settings);
    layout.keep = keep;
    // A plan may audit later on.
    if plan.settings.audit > 0.0 || plan.budget.is_some() {
        layout.statistics.extend(StatisticField::audits());
    }
    layout
}

/// Positions of the parameters to keep.
pub(super) fn kept(options: &ShapeOptions, names: &[String]) -> Result<Option<Vec<usize>>, Failure> {
    let Some(keep) = &options.keep else { return Ok(None) };
    if let Some((_, twice)) = keep.iter().enumerate().find(|(at, name)| keep[..*at].contains(name)) {
        return Err(Refusal::KeepTwice { keep: keep.clone(), name: twice.clone() }.into());
    }
    let place = |name: &String| {
        names.iter().position(|known| known == name).ok_or_else(|| {
            let near = nearest(names, name).map(Into::into);
            Refusal::KeepUnknown { name: name.clone(), near, known: names.to_vec() }.into()
        })
    };
    keep.iter().map(place).collect::<Result<_, _>>().map(Some)
}

/// What ends the run.
pub(super) fn limits(options: &LengthOptions) -> Result<Limits, Failure> {
    let evaluations = match options.evaluations {
        Some(x) if !(1.0..=1e18).contains(&x) => {
            return Err(Refusal::range(Keyword::Evaluations, x, "a number from 1 to 1e18").into());
        }
        x => x.map(|x| x as u64),
    };
    Ok(Limits {
        seconds: options.budget.map(|budget| budget.as_secs_f64()),
        evaluations,
        target_ess: options.target_ess,
    })
}

/// Draws per chain: as typed, without end when something else ends the run, else to be planned by a pilot.
fn draws(options: &LengthOptions) -> u64 {
    let limited = options.budget.is_some() || options.evaluations.is_some() || options.target_ess.is_some();
    match options.draws {
        Some(draws) => draws,
        None if limited => UNBOUNDED,
        None => 2000,
    }
}

/// The priors of a run.
#[derive(Clone)]
pub(crate) struct AskedPriors {
    /// One per parameter, those of the extra parameters last.
    pub(crate) priors: Priors,
    /// Which of them are defaults.
    pub(crate) default: Vec<bool>,
}

/// The priors that were asked for, and the defaults of all others.
pub(crate) fn priors(options: &ShapeOptions, store: &Store, family: Family) -> Result<AskedPriors, Failure> {
    let DefaultPriors { coefficients: mut priors, sigma } = store.default_priors_with(family.tails());
    let mut names = store.coefficient_names();
    for extra in family.extra() {
        priors = priors.and(extra.prior.unwrap_or(sigma));
        names.push(extra.name.into());
    }
    let coefficients = store.coefficients();
    let mut default = vec![true; names.len()];
    let intercept = usize::from(store.description().intercept);
    if let Some(prior) = options.prior {
        refuse_positive(Keyword::Prior, None, prior)?;
        // Without an intercept the first prior is that of a column.
        (intercept..coefficients).for_each(|place| priors.set(place, prior));
        default[intercept..coefficients].fill(false);
    }
    if let Some(prior) = options.prior_intercept {
        if intercept == 0 {
            return Err(Refusal::NoIntercept.into());
        }
        refuse_positive(Keyword::PriorIntercept, None, prior)?;
        priors.set(0, prior);
        default[0] = false;
    }
    for (place, prior) in matched(&options.priors, &names[intercept..coefficients])? {
        priors.set(intercept + place, prior);
        default[intercept + place] = false;
    }
    for (name, &prior) in options.priors.iter().filter(|(name, _)| !is_pattern(name, &names)) {
        let place = names.iter().position(|known| known == name).ok_or_else(|| {
            let near = nearest(&names, name).map(Into::into);
            Refusal::UnknownCoefficient { name: name.clone(), near, known: names.clone() }
        })?;
        let prior = if place < coefficients {
            refuse_positive(Keyword::Priors, Some(name), prior)?;
            prior
        } else {
            prior.positive().ok_or_else(|| Refusal::SigmaPrior { name: name.clone(), prior })?
        };
        priors.set(place, prior);
        default[place] = false;
    }
    Ok(AskedPriors { priors, default })
}

/// Whether a name is one of several: it is no parameter's, and has a `*` or a `?`.
fn is_pattern(name: &str, names: &[String]) -> bool {
    name.contains(['*', '?']) && !names.iter().any(|known| known == name)
}

/// The priors of the columns that patterns match; two patterns must not give one column different priors.
fn matched(given: &BTreeMap<String, Prior>, columns: &[String]) -> Result<BTreeMap<usize, Prior>, Failure> {
    let mut found: BTreeMap<usize, (&str, Prior)> = BTreeMap::new();
    for (pattern, &prior) in given.iter().filter(|(name, _)| is_pattern(name, columns)) {
        refuse_positive(Keyword::Priors, Some(pattern), prior)?;
        let places = || columns.iter().enumerate().filter(|(_, name)| matches(pattern, name));
        if places().next().is_none() {
            let known = columns.to_vec();
            return Err(Refusal::UnknownCoefficient { name: pattern.clone(), near: None, known }.into());
        }
        for (place, name) in places() {
            // A prior of its own decides.
            if given.contains_key(name) {
                continue;
            }
            if let Some((other, before)) = found.insert(place, (pattern, prior))
                && before != prior
            {
                let patterns = [other.to_owned(), pattern.clone()];
                return Err(Refusal::TwoPatterns { name: name.clone(), patterns }.into());
            }
        }
    }
    Ok(found.into_iter().map(|(place, (_, prior))| (place, prior)).collect())
}

/// Whether a name is what a pattern says: `*` stands for any letters, `?` for one.
fn matches(pattern: &str, name: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return name.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    let mut letters = name.chars();
    match (first, letters.next()) {
        ('*', None) => matches(rest, name),
        ('*', Some(_)) => matches(rest, name) || matches(pattern, letters.as_str()),
        (_, None) => false,
        (first, Some(letter)) => (first == '?' || first == letter) && matches(rest, letters.as_str()),
    }
}

/// A coefficient may be negative.
fn refuse_positive(keyword: Keyword, coefficient: Option<&String>, prior: Prior) -> Result<(), Failure> {
    prior.check()?;
    if !prior.is_positive() {
        return Ok(());
    }
    Err(Refusal::PositivePrior { keyword, coefficient: coefficient.cloned(), prior }.into())
}

/// Settings that all runs share.
pub(super) fn settings(request: &Request) -> Result<Settings, Failure> {
    let shape = &request.shape;
    if let Some(draws) = request.length.draws.filter(|&draws| draws >= UNBOUNDED) {
        return Err(Refusal::range(Keyword::Draws, draws, format!("below {UNBOUNDED}")).into());
    }
    let settings = Settings {
        chains: shape.chains.unwrap_or(4),
        first_chain: shape.first_chain.unwrap_or(0),
        warmup: shape.warmup.unwrap_or(1000),
        draws: draws(&request.length),
        thin: shape.thin.unwrap_or(1),
        seed: request.seed_or_default(),
        threads: request.threads,
        limits: limits(&request.length)?,
        ..Settings::default()
    };
    settings.check()?;
    if settings.chains > MOST_CHAINS {
        return Err(Refusal::TooManyChains { chains: settings.chains, most: MOST_CHAINS }.into());
    }
    Ok(settings)
}
