//! New rows on an old fit, and rows that are forgotten.
//!
//! Sums at a fixed centre add, so that new rows cost one pass over the new rows alone: derivatives and scores at the old centre, and the rows that belong in the sample. How far the mode has
//! moved from the centre follows from the sums. Beyond √d posterior sds ([`DRIFT`]) one pass over **all** parts makes the sums anew at the new mode; with rows that come from the same
//! distribution that is about each time the data double. Forgetting a part takes its sums off, and its rows out of stratum and sample.
//!
//! Priors and the coding of columns stay those of the first fit, which depended on its data: compare an update with a fresh fit under the same priors. Rows that are in the fit already are refused by
//! the hashes of their parts, and so are other columns and new levels. Chains begin where those of the old run ended.
//!
//! Not for coefficients that move: a fit is about all its rows. A window of recent rows is new parts that come and old ones that are forgotten.

use std::path::{Path, PathBuf};

use austerity_io::table::{OpenOptions, open_all};

use super::engine::{Engine, Threads};
use super::message::{OfRows, Sampling};
use super::passes::{Passes, refuse_repeats};
use super::prepare::{arrival, at_centre, derivatives, parts, step, sums, work};
use super::reduce::{Prepared, prepared};
use super::rows::Tag;
use super::state::{Arrival, PartState, PartSums, STATE, State, read};
use crate::data::all_cores;
use crate::fit::{Host, run_prepared};
use crate::model::Family;
use crate::output::Failure;
use crate::request::Request;
use crate::runs::{Folder, Overview};

/// Distance of the mode from the centre, in √d posterior sds, beyond which sums are made anew.
const DRIFT: f64 = 1.0;
/// Rows of a part of new data.
const PART_ROWS: usize = 1 << 18;
/// Passes over all parts at most.
const MOST_PASSES: usize = 6;

/// What comes to an old run, and what goes.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// Files, folders and patterns of new rows.
    pub new: Vec<PathBuf>,
    /// Files whose rows are forgotten.
    pub forget: Vec<PathBuf>,
    /// Draws per chain; as in the old run where none are given.
    pub draws: Option<u64>,
}

/// Makes a new run in `request.out` of the run in `old` with other rows. `request` says the seed and the threads.
pub fn run(
    (old, arrivals): (&Path, &Arrivals),
    request: &Request,
    engine: Option<&dyn Engine>,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    let folder = Folder::new(old);
    let before = folder.read_run()?;
    if before.plan.data.parts.is_none() {
        return Err(Failure::Usage(format!(
            "{}: this run kept no sums that new rows could be added to: its data were in memory. Fit once with --sample-rows M (fewer than its rows), then update that run",
            old.display()
        )));
    }
    let (saved, _) = folder.standing(&before);
    let mut state = read(&folder.file(STATE))?;
    let threads = Threads(all_cores(request.threads));
    let engine = engine.unwrap_or(&threads);
    change(&mut state, arrivals, engine, host)?;
    let mut made: Prepared = prepared(state)?;
    // Old states are no starts where the mode has moved far from them: independent proposals would never leave.
    let recentred = made.state.arrivals.last().is_some_and(|last| last.recentred);
    let states = || saved.checkpoint.chains.iter().map(|chain| chain.state.clone()).collect();
    made.starts = (!recentred && !saved.checkpoint.chains.is_empty()).then(states);
    let mut asked = before.request;
    asked.out.clone_from(&request.out);
    asked.resume = false;
    asked.threads = request.threads;
    asked.seed = request.seed.or(asked.seed);
    asked.length.draws = arrivals.draws.or(asked.length.draws);
    run_prepared(&made, &asked, host)
}

/// Adds and takes off parts.
fn change(
    state: &mut State,
    arrivals: &Arrivals,
    engine: &dyn Engine,
    host: &mut dyn Host,
) -> Result<(), Failure> {
    let base = state.parts.len();
    let mut passes = Passes::new(engine, base);
    let mut log = Arrival { rows: 0, ..arrival(&[], 0, 0) };
    if arrivals.new.is_empty() && arrivals.forget.is_empty() {
        return Err(Failure::Usage("nothing to do: name new rows, or parts to forget".into()));
    }
    if !arrivals.forget.is_empty() {
        log.forgotten = forget(state, &arrivals.forget)?;
    }
    if !arrivals.new.is_empty() {
        let (files, parts, rows) = add(state, &arrivals.new, &mut passes, host)?;
        (log.files, log.parts, log.rows) = (files, parts, rows);
    }
    if state.family != Family::Linear {
        let mut next = step(state)?;
        log.drift = Some(next.length);
        let most = DRIFT * (state.centre.len() as f64).sqrt();
        let mut all = Passes::new(engine, 0);
        let mut known = state.known();
        for _ in 0..MOST_PASSES {
            if next.length <= most {
                break;
            }
            log.recentred = true;
            (state.centre, state.covariance) = (next.state, next.covariance);
            next = derivatives(state, (&mut all, &mut known), host)?;
        }
        passes.made += all.made;
        passes.read += all.read;
    }
    log.read = passes.read;
    state.engine = engine.name();
    state.measured = None;
    state.passes += passes.made;
    state.read += passes.read;
    state.arrivals.push(log);
    Ok(())
}

/// One pass over new rows; gives their files, parts and number.
fn add(
    state: &mut State,
    new: &[PathBuf],
    passes: &mut Passes<'_>,
    host: &mut dyn Host,
) -> Result<(Vec<String>, usize, u64), Failure> {
    let source = open_all(new, &OpenOptions::default())?;
    let pieces = source.pieces(PART_ROWS).unwrap_or_default();
    let linear = state.family == Family::Linear;
    // Rows of text files are not known before they are read: all keys are worth sending then.
    let coming = source.schema().rows.map_or(0, |rows| rows as u64);
    let sampling = Sampling::new(state.seed, state.most, if coming > 0 { state.rows + coming } else { 0 });
    let question = (!linear).then(|| at_centre(state));
    let work = OfRows { sample: Some(sampling), linear, ..work(state, question) };
    let mut known: Vec<super::passes::Known> = Vec::with_capacity(pieces.len());
    let mut next = state.next;
    for part in pieces {
        // Numbers must not repeat each other; gaps between them do no harm.
        let rows = part.rows.unwrap_or(1 << 32);
        known.push(super::passes::Known { part, first: next, rows, hashes: Default::default() });
        next += rows as u64;
    }
    let mut each: Vec<PartSums> = vec![PartSums::default(); known.len()];
    let answer = passes
        .rows(&mut known, &work, ("reading the new rows", host), &mut |at, answer| each[at] = sums(answer))?;
    let mut together = state.known();
    together.extend(known.iter().cloned());
    refuse_repeats(&together)?;
    let rows: u64 = known.iter().map(|part| part.rows as u64).sum();
    let came = arrival(&known, rows, 0);
    state.sums.combine(&sums(&answer), 1.0);
    let (heavy, most) = (state.heavy, state.most);
    state.heaviest = std::mem::take(&mut state.heaviest).merged(answer.heaviest, heavy, Tag::by_score);
    state.sample = std::mem::take(&mut state.sample).merged(answer.sample, most, Tag::by_key);
    state.parts.extend(parts(&known, each));
    state.rows += rows;
    state.next = next;
    Ok((came.files, came.parts, rows))
}

/// Takes parts off; gives the number of rows that are gone.
fn forget(state: &mut State, files: &[PathBuf]) -> Result<u64, Failure> {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let mut gone: Vec<PartState> = Vec::new();
    for file in files {
        let wanted = canonical(file);
        let before = gone.len();
        let (out, left): (Vec<_>, Vec<_>) = std::mem::take(&mut state.parts)
            .into_iter()
            .partition(|part| canonical(&part.part.path) == wanted);
        state.parts = left;
        gone.extend(out);
        if gone.len() == before {
            return Err(Failure::Usage(format!("{}: no part of the fit is this file", file.display())));
        }
    }
    if state.parts.is_empty() {
        return Err(Failure::Usage("every part would be forgotten: a fit needs rows".into()));
    }
    let inside =
        |tag: &Tag| gone.iter().any(|part| (part.first..part.first + part.rows as u64).contains(&tag.row));
    state.heaviest = state.heaviest.filtered(|tag| !inside(tag));
    state.sample = state.sample.filtered(|tag| !inside(tag));
    for part in &gone {
        state.sums.combine(&part.sums, -1.0);
    }
    let rows = gone.iter().map(|part| part.rows as u64).sum();
    state.rows -= rows;
    Ok(rows)
}
