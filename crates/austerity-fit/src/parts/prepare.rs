//! The passes before a fit: learn, sample, derivatives until the centre is near the mode, totals.
//!
//! The search begins at the mode of the sample, √(d·N/m) posterior sds from that of all rows. After a pass the posterior of the kept rows and the sums is known, whose mode is the next centre: rows of
//! rare columns are in the stratum, so that nothing is expanded far from where it holds. One step leads within a fraction of an sd. The centre need not be the mode: it may be half of √d sds
//! away ([`NEAR`]), since what is left of the gradient is kept. A linear model needs two passes: its sums say all there is.

use std::time::SystemTime;

use austerity::proposal::{Proposal as _, RandomWalk};
use austerity::rng::{Role, stream};
use austerity_glm::glm::expansion::sweep::Question;
use austerity_io::coding::ResponseCoding;
use austerity_io::load::part::{Design, Learning};
use austerity_io::table::{PartSpec, Source};
use nalgebra::{DMatrix, DVector};

use super::engine::{Engine, Threads};
use super::limits::Wanted;
use super::message::{OfRows, RowsAnswer, Sampling};
use super::passes::{Known, Passes};
pub(crate) use super::reduce::Prepared;
use super::reduce::{Snap, measured, on_glm, posterior, prepared, priors, sample_store};
use super::rows::Carried;
use super::state::{Arrival, PartState, PartSums, State};
use crate::data::{Loaded, all_cores, design, is_store, kind, opened};
use crate::fit::plan::PriorRecord;
use crate::fit::{Host, mode_of, priors_of};
use crate::model::Family;
use crate::output::Failure;
use crate::request::{MissingChoice, Request};

/// Rows of the stratum.
const HEAVY: usize = 1000;
/// Rows of the sample of a linear model, which only a summary looks at.
const LINEAR: usize = 20_000;
/// Distance of the centre from the mode, in √d posterior sds, that is near enough.
pub(super) const NEAR: f64 = 0.5;
/// Passes for derivatives at most.
const MOST_PASSES: usize = 12;
/// Draws at which the error of the sample is measured.
const DRAWS: u32 = 32;

/// Makes the passes where the rows do not fit in memory, or a sample or an engine was asked for; none where all rows are to be in memory.
pub(crate) fn prepare(
    request: &Request,
    (table, engine): (Option<&Source>, Option<&dyn Engine>),
    host: &mut dyn Host,
) -> Result<Option<Prepared>, Failure> {
    let data = &request.data;
    let whole = |what: &str| match data.sample_rows {
        Some(_) => Err(Failure::Usage(format!(
            "{}: a sample of rows is kept of files that are read in parts; this is {what}. Leave the number of rows to sample out",
            data.file.display()
        ))),
        None => Ok(None),
    };
    if request.part.is_some() {
        return whole("a posterior of its own");
    }
    if table.is_none() && is_store(data) {
        return whole("a store, which is mapped");
    }
    if data.missing == Some(MissingChoice::Drop) {
        return whole("a table whose rows with missing values are dropped");
    }
    let read;
    let source = match table {
        Some(table) => table,
        None => {
            read = opened(data)?;
            &read
        }
    };
    let Some(wanted) = Wanted::of(data, source, engine.is_some()) else { return Ok(None) };
    let Some(parts) = source.pieces(wanted.part_rows) else { return whole("a table in memory") };
    let threads = Threads(all_cores(request.threads));
    let way = Way { request, engine: engine.unwrap_or(&threads), wanted };
    way.all(source, &parts, host)
}

/// What a run kept, as it was when it began.
pub(crate) fn restored(state: State) -> Result<Prepared, Failure> {
    prepared(state)
}

struct Way<'a> {
    request: &'a Request,
    engine: &'a dyn Engine,
    wanted: Wanted,
}

impl Way<'_> {
    fn all(
        &self,
        source: &Source,
        parts: &[PartSpec],
        host: &mut dyn Host,
    ) -> Result<Option<Prepared>, Failure> {
        let request = self.request;
        let mut passes = Passes::new(self.engine, 0);
        let mut learning = Learning::new(source, &design(&request.data)?, kind(&request.data)?)?;
        let mut known = passes.learn(parts, &mut learning, 0, host)?;
        let rows: u64 = known.iter().map(|part| part.rows as u64).sum();
        if self.wanted.most as u64 >= rows {
            return Ok(None);
        }
        let design = learning.finish()?;
        if matches!(design.recipe.coding, ResponseCoding::Levels { .. }) {
            return Err(Failure::Usage(
                "ordered levels are not read in parts: leave out the number of rows to sample, or convert the data to a store".into(),
            ));
        }
        let mut state = self.begun(design, rows);
        self.sample(&mut state, (&mut passes, &mut known), host)?;
        if state.family != Family::Linear {
            self.centre(&mut state, (&mut passes, &mut known), host)?;
        }
        state.arrivals.push(arrival(&known, rows, passes.read));
        (state.passes, state.read) = (passes.made, passes.read);
        let mut made = prepared(state)?;
        if let Some(found) = audit(&made, (&mut passes, &mut known), host)? {
            made.state.measured = Some(found);
            (made.state.passes, made.state.read) = (passes.made, passes.read);
            if let Some(last) = made.state.arrivals.last_mut() {
                last.read = passes.read;
            }
            made.record.measured = Some(found);
            (made.record.passes, made.record.read) = (passes.made, passes.read);
            made.record.arrivals.clone_from(&made.state.arrivals);
        }
        Ok(Some(made))
    }

    fn begun(&self, design: Design, rows: u64) -> State {
        let Design { recipe, description, mut notes, warnings } = design;
        notes.extend(warnings);
        let family = Family::of(self.request.data.family, description.kind);
        State {
            recipe,
            description,
            remarks: notes,
            family,
            priors: Vec::new(),
            seed: self.request.seed_or_default(),
            most: if family == Family::Linear { self.wanted.most.min(LINEAR) } else { self.wanted.most },
            heavy: HEAVY.min(self.wanted.most / 10),
            parts: Vec::new(),
            rows,
            next: rows,
            centre: Vec::new(),
            covariance: Vec::new(),
            sums: PartSums::default(),
            heaviest: Carried::default(),
            sample: Carried::default(),
            engine: self.engine.name(),
            measured: None,
            passes: 0,
            read: 0,
            arrivals: Vec::new(),
        }
    }

    /// The uniform sample, the priors and where the search for the centre begins; of a linear model all there is.
    fn sample(
        &self,
        state: &mut State,
        (passes, known): (&mut Passes<'_>, &mut Vec<Known>),
        host: &mut dyn Host,
    ) -> Result<(), Failure> {
        let sampling = Sampling::new(state.seed, state.most, state.rows);
        let linear = state.family == Family::Linear;
        let work = OfRows { sample: Some(sampling), linear, ..work(state, None) };
        let mut each: Vec<PartSums> = vec![PartSums::default(); known.len()];
        let answer =
            passes.rows(known, &work, ("sampling rows", host), &mut |at, answer| each[at] = sums(answer))?;
        state.sample = answer.sample;
        state.sums.linear = answer.linear;
        state.parts = parts(known, each);
        let store = sample_store(state)?;
        let asked = priors_of(&self.request.shape, &store, state.family)?;
        let mut names = store.coefficient_names();
        names.extend(state.family.extra().iter().map(|extra| extra.name.into()));
        state.priors = PriorRecord::list(&names, &asked);
        if !linear {
            let loaded = Loaded {
                store,
                recipe: state.recipe.clone(),
                remarks: Vec::new(),
                checksum: String::new(),
                groups: Vec::new(),
            };
            host.note("finding the mode of the sample");
            let (mode, covariance) = mode_of(&loaded, state.family, &asked, all_cores(self.request.threads))?;
            let snapped = on_glm(state.family, &loaded.store, &asked.priors, Snap(&mode))?;
            (state.centre, state.covariance) = (snapped.unwrap_or(mode), covariance);
        }
        Ok(())
    }

    /// Derivatives and scores at centres that come nearer to the mode.
    fn centre(
        &self,
        state: &mut State,
        (passes, known): (&mut Passes<'_>, &mut Vec<Known>),
        host: &mut dyn Host,
    ) -> Result<(), Failure> {
        let near = NEAR * (state.centre.len() as f64).sqrt();
        for _ in 0..MOST_PASSES {
            let step = derivatives(state, (passes, known), host)?;
            if step.length <= near {
                return Ok(());
            }
            // Rows are scored at the covariance that is known when the pass begins.
            (state.centre, state.covariance) = (step.state, step.covariance);
        }
        Err(Failure::Usage(format!(
            "the mode was not found in {MOST_PASSES} passes over the data: the sample of rows may hold none of a rare event. Keep more rows with --sample-rows, or give \
             tighter priors"
        )))
    }
}

/// What is asked about rows, with this question.
pub(super) fn work(state: &State, question: Option<Question>) -> OfRows {
    OfRows {
        recipe: state.recipe.clone(),
        description: state.description.clone(),
        family: state.family,
        question,
        sample: None,
        linear: false,
    }
}

/// The question about derivatives and scores at the centre.
pub(super) fn at_centre(state: &State) -> Question {
    Question {
        state: state.centre.clone(),
        covariance: Some(state.covariance.clone()),
        heaviest: state.heavy,
        moves: Vec::new(),
    }
}

/// Sums over all parts at the centre, and the way from there to the mode.
pub(super) fn derivatives(
    state: &mut State,
    (passes, known): (&mut Passes<'_>, &mut Vec<Known>),
    host: &mut dyn Host,
) -> Result<Step, Failure> {
    let work = work(state, Some(at_centre(state)));
    let mut each: Vec<PartSums> = vec![PartSums::default(); known.len()];
    let answer = passes
        .rows(known, &work, ("summing derivatives", host), &mut |at, answer| each[at] = sums(answer))?;
    state.sums = sums(&answer);
    state.heaviest = answer.heaviest;
    state.parts = parts(known, each);
    step(state)
}

/// The mode that the sums and the kept rows tell of.
pub(super) struct Step {
    pub(super) state: Vec<f64>,
    /// d × d, at the mode.
    pub(super) covariance: Vec<f64>,
    /// Distance from the centre in posterior sds.
    pub(super) length: f64,
}

/// The way from the centre to the mode of the kept rows and the sums.
pub(super) fn step(state: &State) -> Result<Step, Failure> {
    let priors = priors(state)?;
    let store = posterior(state, &priors)?.store;
    let loaded = Loaded {
        store,
        recipe: state.recipe.clone(),
        remarks: Vec::new(),
        checksum: String::new(),
        groups: Vec::new(),
    };
    let (mode, covariance) = mode_of(&loaded, state.family, &priors, all_cores(0))?;
    let there = on_glm(state.family, &loaded.store, &priors.priors, Snap(&mode))?.unwrap_or(mode);
    let d = there.len();
    let moved = DVector::from_iterator(d, there.iter().zip(&state.centre).map(|(to, from)| to - from));
    let factor = DMatrix::from_row_slice(d, d, &covariance).cholesky();
    let length = factor.map_or(f64::INFINITY, |factor| moved.dot(&factor.solve(&moved)).max(0.0).sqrt());
    Ok(Step { state: there, covariance, length })
}

pub(super) fn sums(answer: &RowsAnswer) -> PartSums {
    let sums = &answer.sums;
    PartSums {
        gradient: sums.gradient.clone(),
        hessian: sums.hessian.clone(),
        squares: sums.squares,
        linear: answer.linear.clone(),
    }
}

pub(super) fn parts(known: &[Known], each: Vec<PartSums>) -> Vec<PartState> {
    let part = |(known, sums): (&Known, PartSums)| PartState {
        part: known.part.clone(),
        first: known.first,
        rows: known.rows,
        hashes: known.hashes.clone(),
        sums,
    };
    known.iter().zip(each).map(part).collect()
}

/// What came, and what was read for it.
pub(super) fn arrival(known: &[Known], rows: u64, read: u64) -> Arrival {
    let name = |known: &Known| known.part.path.display().to_string();
    let mut files: Vec<String> = known.first().into_iter().chain(known.last()).map(name).collect();
    files.dedup();
    Arrival {
        at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        files,
        parts: known.len(),
        rows,
        forgotten: 0,
        read,
        drift: None,
        recentred: false,
    }
}

/// The error of the sample as measured at draws of the normal approximation: one pass. None for linear models, which are exact.
fn audit(
    made: &Prepared,
    (passes, known): (&mut Passes<'_>, &mut Vec<Known>),
    host: &mut dyn Host,
) -> Result<Option<f64>, Failure> {
    let state = &made.state;
    if state.family == Family::Linear || made.loaded.store.beyond().is_none() {
        return Ok(None);
    }
    let step = step(state)?;
    let mut cloud = RandomWalk::dense(step.state.len(), &step.covariance)?;
    let mut moves = Vec::new();
    for draw in 0..DRAWS {
        let mut to = step.state.clone();
        cloud.propose(&step.state, &mut to, &mut stream(state.seed, draw, Role::Audit))?;
        moves.push(to);
    }
    let question = Question { state: state.centre.clone(), moves: moves.clone(), ..Question::default() };
    let answer =
        passes.rows(known, &work(state, Some(question)), ("checking the sample", host), &mut |_, _| {})?;
    measured(made, &moves, &answer.sums.totals)
}
