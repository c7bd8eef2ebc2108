//! The rows that are kept, and what the others add: the posterior that chains run on.
//!
//! The K rows with the largest scores are kept for sure; of the N − K others a uniform sample of m, each standing for (N − K)/m of them. What the likelihood of all rows has up to the second
//! order at the centre is added ([`Beyond`]). Sampled residuals make an error of the total log ratio whose standard deviation over samples is
//!
//! ```text
//! s = √30 · √(Σ score²/(N − K)) · (N − K) · √(1/m − 1/(N − K))     sums over the rows outside the stratum
//! ```
//!
//! since the squared difference of h³ at two states has the expectation 30 lev⁶ ([`austerity_glm::check::blindness`]). It is a fixed smooth function of the state, which longer
//! chains do not average. Decisions by a limit and decisions by a sample are about the same posterior, that of the kept rows, so no state's sum needs to be clipped. Where all rows are
//! kept nothing is added.
//!
//! [`measured`] compares the log-likelihood of all rows with that of this posterior at draws of the normal approximation.

use austerity_glm::glm::Visitor;
use austerity_glm::glm::expansion::sweep::{Answer, Question, snapped};
use austerity_glm::store::Beyond;
use austerity_glm::{Glm, Priors, Store};
use austerity_io::store;

use super::rows::Tag;
use super::state::{PartsRecord, State};
use crate::data::{Loaded, all_cores};
use crate::fit::AskedPriors;
use crate::fit::plan::PriorRecord;
use crate::model::Family;
use crate::output::Failure;

/// E of the squared difference of h³ at two states, in units of lev⁶: 2·15.
const CUBES: f64 = 30.0;
/// Spreads rows over the storage: keys themselves are smallest in the sample.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Work on a model of any family in the list.
pub(super) trait OnGlm {
    type Output;
    fn on<F: austerity_glm::glm::Family>(self, model: &Glm<F>) -> Result<Self::Output, Failure>;
}

struct Build<W> {
    store: Store,
    priors: Priors,
    work: W,
}

impl<W: OnGlm> Visitor for Build<W> {
    type Output = Result<W::Output, Failure>;

    fn visit<F: austerity_glm::glm::Family>(self, family: F) -> Self::Output {
        self.work.on(&Glm::from_store(family, self.store, self.priors)?.with_threads(all_cores(0)))
    }
}

/// Builds the model of some rows and hands it over; a linear model has none.
pub(super) fn on_glm<W: OnGlm>(
    family: Family,
    store: &Store,
    priors: &Priors,
    work: W,
) -> Result<Option<W::Output>, Failure> {
    let Family::Glm(family) = family else { return Ok(None) };
    family.visit(Build { store: store.clone(), priors: priors.clone(), work }).map(Some)
}

/// The nearest state that passes are about exactly.
pub(super) struct Snap<'a>(pub(super) &'a [f64]);

impl OnGlm for Snap<'_> {
    type Output = Vec<f64>;

    fn on<F: austerity_glm::glm::Family>(self, model: &Glm<F>) -> Result<Vec<f64>, Failure> {
        Ok(snapped(model, self.0))
    }
}

/// A question to the kept rows.
struct Ask<'a>(&'a Question);

impl OnGlm for Ask<'_> {
    type Output = Answer;

    fn on<F: austerity_glm::glm::Family>(self, model: &Glm<F>) -> Result<Answer, Failure> {
        Ok(self.0.ask(model)?)
    }
}

/// The rows that are kept, in the order of the storage: the stratum with weight 1, the sample with that of the rows it stands for.
pub(super) struct Kept {
    /// With what the others add.
    pub(super) store: Store,
    stratum: usize,
    /// m.
    sampled: usize,
    all: bool,
}

fn kept(state: &State) -> Result<Kept, Failure> {
    let mut heavy: Vec<u64> = state.heaviest.tags.iter().map(|tag| tag.row).collect();
    heavy.sort_unstable();
    let sample = state.sample.filtered(|tag| heavy.binary_search(&tag.row).is_err());
    let (stratum, sampled) = (heavy.len(), sample.len());
    let others = state.rows.saturating_sub(stratum as u64);
    let all = sampled as u64 == others;
    let weight = if all || sampled == 0 { 1.0 } else { others as f64 / sampled as f64 };
    let mut rows: Vec<(&Tag, &[f32], f64)> =
        state.heaviest.iter().map(|(tag, row)| (tag, row, 1.0)).collect();
    rows.extend(sample.iter().map(|(tag, row)| (tag, row, weight)));
    // The stratum must not lie together: blocks are sampled.
    rows.sort_unstable_by_key(|(tag, _, _)| {
        ((tag.key ^ tag.row).wrapping_mul(SPREAD).rotate_left(32).wrapping_mul(SPREAD), tag.row)
    });
    let values: Vec<f32> = rows.iter().flat_map(|(_, values, _)| values.iter().copied()).collect();
    let weights: Vec<f64> = rows.iter().map(|(_, _, weight)| *weight).collect();
    let numbers = rows.iter().map(|(tag, _, _)| u32::try_from(tag.row).unwrap_or(u32::MAX)).collect();
    let store = Store::of_rows(&state.description, &values, &weights, numbers)?;
    Ok(Kept { store, stratum, sampled, all })
}

/// A store of a uniform sample alone, for what is needed before there is a centre.
pub(super) fn sample_store(state: &State) -> Result<Store, Failure> {
    let weight = state.rows as f64 / state.sample.len().max(1) as f64;
    let numbers = state.sample.tags.iter().map(|tag| u32::try_from(tag.row).unwrap_or(u32::MAX)).collect();
    Ok(Store::of_rows(&state.description, &state.sample.values, &vec![weight; state.sample.len()], numbers)?)
}

/// What chains run on.
pub(crate) struct Prepared {
    pub(crate) loaded: Loaded,
    pub(crate) priors: AskedPriors,
    pub(crate) record: PartsRecord,
    /// Rows in all.
    pub(crate) rows: usize,
    /// Where chains start, where they go on from others.
    pub(crate) starts: Option<Vec<Vec<f64>>>,
    pub(crate) state: State,
}

/// The priors of a run in parts.
pub(super) fn priors(state: &State) -> Result<AskedPriors, Failure> {
    let column = |column: &austerity_glm::store::StoredColumn| column.mean.unwrap_or(column.transform.shift);
    let means: Vec<f64> = state.description.columns.iter().map(column).collect();
    let default = state.priors.iter().map(|record| record.default).collect();
    Ok(AskedPriors { priors: PriorRecord::read(&state.priors, &means)?, default })
}

/// The rows that are kept, with what the others add.
pub(super) fn posterior(state: &State, priors: &AskedPriors) -> Result<Kept, Failure> {
    let Kept { store, stratum, sampled, all } = kept(state)?;
    let question = Question { state: state.centre.clone(), ..Question::default() };
    let own = on_glm(state.family, &store, &priors.priors, Ask(&question))?;
    let beyond = match own {
        Some(_) if all => None,
        Some(own) => {
            let less = |all: &[f64], own: &[f64]| all.iter().zip(own).map(|(all, own)| all - own).collect();
            Some(Beyond {
                rows: state.rows,
                centre: state.centre.clone(),
                gradient: less(&state.sums.gradient, &own.gradient),
                hessian: less(&state.sums.hessian, &own.hessian),
                linear: None,
            })
        }
        None => Some(Beyond {
            rows: state.rows,
            centre: Vec::new(),
            gradient: Vec::new(),
            hessian: Vec::new(),
            linear: state.sums.linear.clone(),
        }),
    };
    Ok(Kept { store: store.with_beyond(beyond), stratum, sampled, all })
}

/// What chains run on, and what is said of it.
pub(crate) fn prepared(state: State) -> Result<Prepared, Failure> {
    let priors = priors(&state)?;
    let Kept { store, stratum, sampled, all } = posterior(&state, &priors)?;
    let record = PartsRecord {
        parts: state.parts.len(),
        passes: state.passes,
        read: state.read,
        engine: state.engine.clone(),
        kept: store.rows(),
        stratum,
        error: if all || state.family == Family::Linear { 0.0 } else { error(&state, stratum, sampled) },
        measured: state.measured,
        fingerprint: state.fingerprint(),
        arrivals: state.arrivals.clone(),
    };
    let checksum = store::checksum(&store, all_cores(0));
    let loaded = Loaded {
        store,
        recipe: state.recipe.clone(),
        remarks: state.remarks.clone(),
        checksum,
        groups: Vec::new(),
    };
    Ok(Prepared { loaded, priors, record, rows: state.rows as usize, starts: None, state })
}

/// s.
fn error(state: &State, stratum: usize, sampled: usize) -> f64 {
    let others = (state.rows - stratum as u64) as f64;
    let heavy: f64 = state.heaviest.tags.iter().map(|tag| f64::from(tag.score).powi(2)).sum();
    let squares = (state.sums.squares - heavy).max(0.0);
    let left = (1.0 / sampled.max(1) as f64 - 1.0 / others).max(0.0);
    (CUBES * squares / others).sqrt() * others * left.sqrt()
}

/// s as measured: `totals` are the changes of the log-likelihood of all rows from the centre to `moves`, draws of the normal approximation.
pub(super) fn measured(
    prepared: &Prepared,
    moves: &[Vec<f64>],
    totals: &[f64],
) -> Result<Option<f64>, Failure> {
    let (state, store) = (&prepared.state, &prepared.loaded.store);
    let Some(beyond) = store.beyond() else { return Ok(None) };
    let question = Question { state: state.centre.clone(), moves: moves.to_vec(), ..Question::default() };
    let Some(own) = on_glm(state.family, store, &prepared.priors.priors, Ask(&question))? else {
        return Ok(None);
    };
    let off: Vec<f64> = totals
        .iter()
        .zip(&own.totals)
        .zip(moves)
        .map(|((all, own), to)| all - own - beyond.value(to))
        .collect();
    let n = off.len() as f64;
    let mean = off.iter().sum::<f64>() / n;
    let variance = off.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    // Of the difference of two states.
    Ok(Some((2.0 * variance).sqrt()))
}
