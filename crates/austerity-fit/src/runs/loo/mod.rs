//! `austerity loo RUN`: how well a run predicts rows that it has not seen, from a sample of its rows.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the command: which rows, when to stop |
//! | `approximate` | every row, from the mean and covariance of the draws |
//! | `exact` | single rows, from all draws |
//! | `words` | the answer as a table, as JSON and as a file |
//! | `compare` | `austerity compare`: differences between runs on the same rows |
//!
//! The expected log predictive density for new rows, elpd = Σ log p(y_i | y_-i), is a sum over a finite population. One pass over the data approximates every row (`approximate`), keeps the
//! rows of a random sample, and the rows that move the posterior most. Exact Pareto-smoothed importance sampling of these
//! rows corrects the sum (`estimate/difference`); the sample doubles until its error is below a share of the data's own (Magnusson, Andersen, Jonasson and Vehtari 2019, 2020).
//!
//! A row is what the data holds as one: with frequency weights a row and all its copies are left out together, and of aggregated binomial rows all trials of the row.
//!
//! Cost: one pass over the data with features × rank multiplications per row, then rows of the sample × draws × features. Memory: the draws, the rows of the largest sample (at most 64 MB), one
//! piece of the data. Don't use it for dependent rows (time series, groups): leaving out one row then says little about new ones.

mod approximate;
pub mod compare;
mod exact;
mod words;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use austerity::rng::{Role, stream};
use austerity::run::Control;
use austerity_io::coding::Piece;
use rand::seq::index::sample;

use super::rows::{Kept, Rows, RunRows};
use super::{Folder, RunFile, after, predict};
use crate::data::all_cores;
use crate::estimate::cavity::Approximation;
use crate::estimate::difference::{Pair, Rest, Sum, sum};
use crate::estimate::gaussian::Gaussian;
use crate::estimate::pareto::{LeftOut, UNRELIABLE};
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{Common, Keyword};
use approximate::Approximator;
use exact::Exact;
use predict::draws::Draws;

/// Rows that are computed exactly because they move the posterior most.
const CERTAIN: usize = 100;
/// Rows of the first sample.
const FIRST: usize = 500;
/// Rows of the largest sample.
const LARGEST: usize = 32_000;
/// Numbers of the largest sample.
const LARGEST_NUMBERS: usize = 8 << 20;
/// Data sets of at most so many rows are computed exactly: a sample would save nothing.
const SMALL: usize = 2_000;
/// Share of the data's standard error that the sample may add by default.
pub const TOLERANCE: f64 = 0.05;
/// Draws by default.
pub const DRAWS: usize = 4_000;

/// What `loo` is asked for.
#[derive(Clone, Debug)]
pub struct LooOptions {
    /// The run.
    pub run: PathBuf,
    /// Its rows, where they are elsewhere now.
    pub data: Option<PathBuf>,
    /// The file for the rows that were computed.
    pub out: Option<PathBuf>,
    /// How.
    pub settings: LooSettings,
}

/// How rows are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct LooSettings {
    /// The sampling error to reach, as a share of the data's standard error.
    pub tolerance: f64,
    /// Rows of the sample, in place of a tolerance.
    pub rows: Option<usize>,
    /// Whether every row is computed.
    pub exact: bool,
    /// Most draws.
    pub draws: usize,
    /// Of the sample.
    pub seed: u64,
    /// 0 stands for all cores; they change no bit.
    pub threads: usize,
}

impl Default for LooSettings {
    fn default() -> Self {
        Self { tolerance: TOLERANCE, rows: None, exact: false, draws: DRAWS, seed: 1, threads: 0 }
    }
}

impl LooSettings {
    fn check(&self) -> Result<(), Refusal> {
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Refusal::range(Keyword::Tolerance, self.tolerance, "a positive share, such as 0.05"));
        }
        match self.rows {
            Some(rows) if rows < 2 => Err(Refusal::range(Keyword::Rows, rows, "at least 2")),
            _ => Ok(()),
        }
    }
}

/// A row that was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its number, from 0.
    pub row: usize,
    /// Whether it was computed for its influence; else it stands for others, too.
    pub certain: bool,
    /// How many rows it stands for.
    pub stands_for: f64,
    /// Log density given all other rows.
    pub elpd: f64,
    /// Log predictive density, itself included.
    pub lpd: f64,
    /// Pareto k.
    pub shape: f64,
    /// Posterior variance of its log density.
    pub influence: f64,
    pub(super) approximate: Approximation,
}

/// How well a run predicts.
#[derive(Clone, Debug)]
pub struct Loo {
    /// The run.
    pub run: PathBuf,
    /// N.
    pub rows: usize,
    /// S.
    pub draws: usize,
    pub(super) elpd: Sum,
    pub(super) effective: Sum,
    /// The rows that were computed, the certain ones first.
    pub points: Vec<Point>,
    /// Whether the sample was as large as it may be, and its error is still larger than asked for.
    pub short: bool,
    /// Whether rows have weights, or several trials.
    pub(super) grouped: (bool, bool),
    /// Seconds.
    pub seconds: f64,
}

impl Loo {
    /// Rows of which the estimate is unreliable, among those computed.
    #[must_use]
    pub fn unreliable(&self) -> usize {
        self.points.iter().filter(|point| point.shape > UNRELIABLE).count()
    }

    /// The same of all rows, estimated.
    #[must_use]
    pub fn unreliable_in_all(&self) -> f64 {
        self.points.iter().filter(|point| point.shape > UNRELIABLE).map(|point| point.stands_for).sum()
    }
}

/// Estimates and prints.
pub fn run(common: &Common, options: &LooOptions, control: &Control) -> Result<(), Failure> {
    let loo = answer(&options.run, &Rows::at(options.data.as_deref()), &options.settings, control)?;
    if let Some(out) = &options.out {
        loo.write(out)?;
    }
    after::keep(&options.run, ("loo", "Leave-one-out cross-validation"), loo.words(None), None);
    loo.tell(common, options.out.as_deref())
}

/// Estimates for the run at `run`, with its rows from there.
pub fn answer(
    run: &Path,
    rows: &Rows<'_>,
    settings: &LooSettings,
    control: &Control,
) -> Result<Loo, Failure> {
    let begun = Instant::now();
    settings.check()?;
    let folder = Folder::new(run);
    let file = predict::answerable(&folder)?;
    let draws = Draws::read(&folder, &file, settings.draws, settings.seed)?;
    let state = State::new(&file, &draws, settings, control);
    let threads = all_cores(settings.threads);
    let source = RunRows::open(&file, rows, threads)?;
    let count = source.count();
    let mut loo = if settings.exact || count <= SMALL.max(settings.rows.unwrap_or(0)) {
        state.all(&source)?
    } else {
        state.sampled(&source)?
    };
    let given = source.in_file(&loo.points.iter().map(|point| point.row).collect::<Vec<_>>());
    for point in &mut loo.points {
        point.row = given.get(&point.row).copied().unwrap_or(point.row);
    }
    loo.run = run.into();
    loo.seconds = begun.elapsed().as_secs_f64();
    Ok(loo)
}

/// Log densities of a random sample of rows, as ArviZ has them in its group `log_likelihood`.
#[derive(Clone, Debug)]
pub struct LogLikelihood {
    /// The rows, from 0.
    pub rows: Vec<usize>,
    /// How many rows each stands for.
    pub stands_for: f64,
    /// Chains, one after the other, of the same length.
    pub chains: usize,
    /// Row after row one per draw.
    pub values: Vec<f64>,
}

/// Log densities of `settings.rows` rows (500 unless given) of the run at `run`.
pub fn log_likelihood(
    run: &Path,
    rows: &Rows<'_>,
    settings: &LooSettings,
    control: &Control,
) -> Result<LogLikelihood, Failure> {
    settings.check()?;
    let folder = Folder::new(run);
    let file = predict::answerable(&folder)?;
    let draws = Draws::read(&folder, &file, settings.draws, settings.seed)?;
    let state = State::new(&file, &draws, settings, control);
    let source = RunRows::open(&file, rows, all_cores(settings.threads))?;
    let count = source.count();
    let most = settings.rows.unwrap_or(FIRST).min(state.most(count));
    let mut chosen = sample(&mut stream(settings.seed, 0, Role::Data), count, most).into_vec();
    chosen.sort_unstable();
    let (mut kept, mut next) = (Kept::default(), 0);
    source.scan(&mut |piece| {
        while let Some(&row) = chosen.get(next).filter(|row| **row < piece.first + piece.rows) {
            kept.push(piece, row - piece.first);
            next += 1;
        }
        Ok(())
    })?;
    let values = state.exact().densities(&kept.piece());
    Ok(LogLikelihood { rows: chosen, stands_for: count as f64 / most as f64, chains: draws.chains(), values })
}

/// What stays the same while rows go by.
struct State<'a> {
    file: &'a RunFile,
    draws: &'a Draws,
    gaussian: Gaussian,
    efficiency: f64,
    settings: &'a LooSettings,
    control: &'a Control,
    threads: usize,
}

/// What one pass over the rows gave.
struct Passed {
    /// Sums of elpd and of lpd − elpd over all rows.
    rest: [Rest; 2],
    /// The sample in its random order: the rows, then the certain ones from the most influential on.
    sample: Vec<(usize, Approximation)>,
    certain: Vec<(usize, Approximation)>,
    /// The rows of both.
    kept: Kept,
    digest: Digest,
}

impl<'a> State<'a> {
    fn new(file: &'a RunFile, draws: &'a Draws, settings: &'a LooSettings, control: &'a Control) -> Self {
        let states = draws.states();
        let (gaussian, efficiency) = (Gaussian::new(&states), draws.efficiency(&states));
        Self { file, draws, gaussian, efficiency, settings, control, threads: all_cores(settings.threads) }
    }

    fn exact(&self) -> Exact<'_> {
        Exact { family: self.file.plan.model.family, draws: self.draws, efficiency: self.efficiency }
    }

    fn stopped(&self) -> austerity_io::Result<()> {
        if !self.control.stopped() {
            return Ok(());
        }
        Err(austerity_io::Error::Io {
            action: "finish",
            file: self.file.plan.data.file.clone(),
            source: std::io::Error::other("interrupted"),
        })
    }

    /// Every row, exactly.
    fn all(&self, source: &RunRows<'_>) -> Result<Loo, Failure> {
        let (exact, mut digest) = (self.exact(), Digest::default());
        let approximator = self.approximator();
        let mut approximations = Vec::new();
        let (mut sums, mut points) = ([Rest::default(); 2], Vec::new());
        source.scan(&mut |piece| {
            self.stopped()?;
            digest.add(piece);
            approximator.piece(piece, self.threads, &mut approximations);
            for (at, made) in exact.rows(piece, 0..piece.rows, self.threads).into_iter().enumerate() {
                sums[0].add(made.elpd);
                sums[1].add(made.lpd - made.elpd);
                let row = piece.first + at;
                points.push(point(row, &made, approximations[at], (true, 1.0)));
            }
            // Only what would be shown or sampled is kept of many rows.
            if points.len() > 4 * LARGEST {
                most_influential(&mut points, LARGEST);
            }
            Ok(())
        })?;
        points.sort_by(|a, b| b.influence.total_cmp(&a.influence));
        let of = |rest: &Rest| Sum {
            total: rest.sum,
            sampling: 0.0,
            data: (rest.squares - rest.sum * rest.sum / rest.rows.max(1) as f64).max(0.0).sqrt(),
        };
        Ok(self.loo(source.count(), [of(&sums[0]), of(&sums[1])], points, &digest))
    }

    fn approximator(&self) -> Approximator<'_> {
        Approximator::new(self.file.plan.model.family, &self.gaussian, self.draws.intercept())
    }

    /// Rows of the largest sample.
    fn most(&self, count: usize) -> usize {
        let features = self.draws.coefficients() + 4;
        self.settings.rows.unwrap_or(LARGEST).min(LARGEST_NUMBERS / features).min(count)
    }

    /// One pass: approximations of all rows, and the rows of the largest sample.
    fn pass(&self, source: &RunRows<'_>, most: usize) -> Result<Passed, Failure> {
        let count = source.count();
        let order = sample(&mut stream(self.settings.seed, 0, Role::Data), count, most).into_vec();
        let places: HashMap<usize, usize> =
            order.iter().enumerate().map(|(place, &row)| (row, place)).collect();
        let mut sorted = order;
        sorted.sort_unstable();
        let (mut rest, mut kept, mut next) = ([Rest::default(); 2], Kept::default(), 0);
        let mut sample = vec![(0, Approximation::default()); sorted.len()];
        let mut leading = Leading::default();
        let (approximator, mut digest, mut found) = (self.approximator(), Digest::default(), Vec::new());
        source.scan(&mut |piece| {
            self.stopped()?;
            digest.add(piece);
            approximator.piece(piece, self.threads, &mut found);
            for (at, made) in found.iter().enumerate() {
                rest[0].add(made.elpd);
                rest[1].add(made.lpd - made.elpd);
                leading.offer(piece, at, *made);
            }
            while let Some(&row) = sorted.get(next).filter(|row| **row < piece.first + piece.rows) {
                let at = row - piece.first;
                sample[places[&row]] = (kept.rows.len(), found[at]);
                kept.push(piece, at);
                next += 1;
            }
            Ok(())
        })?;
        let (rows, influential) = leading.finish();
        let first = kept.rows.len();
        kept.extend(&rows);
        let certain =
            influential.into_iter().enumerate().map(|(place, made)| (first + place, made)).collect();
        Ok(Passed { rest, sample, certain, kept, digest })
    }

    /// A sample that grows until its error is small.
    fn sampled(&self, source: &RunRows<'_>) -> Result<Loo, Failure> {
        let passed = self.pass(source, self.most(source.count()))?;
        let (exact, piece) = (self.exact(), passed.kept.piece());
        let from = passed.kept.rows.len() - passed.certain.len();
        let certain = exact.rows(&piece, from..passed.kept.rows.len(), self.threads);
        let (sample, rest) = passed.without_certain();
        let mut found: Vec<LeftOut> = Vec::new();
        let mut size = self.settings.rows.unwrap_or(FIRST).min(sample.len());
        let (sums, short) = loop {
            self.extend(&piece, &sample[..size], &mut found)?;
            let of = |which: fn(&LeftOut) -> f64, approximate: fn(&Approximation) -> f64, rest: &Rest| {
                let pairs: Vec<Pair> = sample
                    .iter()
                    .zip(&found)
                    .map(|((_, made), exact)| Pair { approximate: approximate(made), exact: which(exact) })
                    .collect();
                sum(&certain.iter().map(which).collect::<Vec<f64>>(), rest, &pairs)
            };
            let sums = [
                of(|made| made.elpd, |made| made.elpd, &rest[0]),
                of(|made| made.lpd - made.elpd, |made| made.lpd - made.elpd, &rest[1]),
            ];
            let near = sums[0].sampling <= self.settings.tolerance * sums[0].data;
            if near || size == sample.len() {
                break (sums, !near && self.settings.rows.is_none());
            }
            size = (2 * size).min(sample.len());
        };
        let stands_for = rest[0].rows as f64 / found.len().max(1) as f64;
        let mut points: Vec<Point> = Vec::new();
        for ((slot, made), exact) in passed.certain.iter().zip(&certain) {
            points.push(point(passed.kept.rows[*slot], exact, *made, (true, 1.0)));
        }
        for ((slot, made), exact) in sample.iter().zip(&found) {
            points.push(point(passed.kept.rows[*slot], exact, *made, (false, stands_for)));
        }
        let mut loo = self.loo(source.count(), sums, points, &passed.digest);
        loo.short = short;
        Ok(loo)
    }

    /// Computes the rows of the sample that are not among those found yet.
    fn extend(
        &self,
        piece: &Piece<'_>,
        sample: &[(usize, Approximation)],
        found: &mut Vec<LeftOut>,
    ) -> Result<(), Failure> {
        for chunk in sample[found.len()..].chunks(self.threads.max(1) * 64) {
            self.stopped()?;
            let mut own = Kept::default();
            chunk.iter().for_each(|(slot, _)| own.push(piece, *slot));
            found.extend(self.exact().rows(&own.piece(), 0..chunk.len(), self.threads));
        }
        Ok(())
    }

    fn loo(&self, rows: usize, [elpd, effective]: [Sum; 2], points: Vec<Point>, digest: &Digest) -> Loo {
        Loo {
            run: PathBuf::new(),
            rows,
            draws: self.draws.count(),
            elpd,
            effective,
            points,
            short: false,
            grouped: (digest.weights, digest.trials),
            seconds: 0.0,
        }
    }
}

impl Passed {
    /// The sample without the certain rows, and the sums of the rows that are not certain.
    fn without_certain(&self) -> (Vec<(usize, Approximation)>, [Rest; 2]) {
        let rows = &self.kept.rows;
        let certain: std::collections::HashSet<usize> =
            self.certain.iter().map(|(slot, _)| rows[*slot]).collect();
        let sample =
            self.sample.iter().filter(|(slot, _)| !certain.contains(&rows[*slot])).copied().collect();
        let mut rest = self.rest;
        for (_, made) in &self.certain {
            rest[0].remove(made.elpd);
            rest[1].remove(made.lpd - made.elpd);
        }
        (sample, rest)
    }
}

fn point(
    row: usize,
    exact: &LeftOut,
    approximate: Approximation,
    (certain, stands_for): (bool, f64),
) -> Point {
    let LeftOut { elpd, lpd, shape } = *exact;
    Point { row, certain, stands_for, elpd, lpd, shape, influence: approximate.influence, approximate }
}

/// Keeps the points that move the posterior most, or are unreliable.
fn most_influential(points: &mut Vec<Point>, most: usize) {
    let rank = |point: &Point| if point.shape > UNRELIABLE { f64::INFINITY } else { point.influence };
    points.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    points.truncate(most);
}

/// The rows with the largest influence so far.
#[derive(Default)]
struct Leading {
    rows: Kept,
    made: Vec<Approximation>,
    /// Rows at most this influential are not among them.
    least: f64,
}

impl Leading {
    fn offer(&mut self, piece: &Piece<'_>, at: usize, made: Approximation) {
        if made.influence > self.least {
            self.rows.push(piece, at);
            self.made.push(made);
            if self.made.len() >= 4 * CERTAIN {
                *self = std::mem::take(self).shortened();
            }
        }
    }

    fn shortened(self) -> Self {
        let mut order: Vec<usize> = (0..self.made.len()).collect();
        // The earlier row first among equals.
        order.sort_by(|&a, &b| self.made[b].influence.total_cmp(&self.made[a].influence));
        order.truncate(CERTAIN);
        let (piece, mut rows, mut made) = (self.rows.piece(), Kept::default(), Vec::new());
        for &at in &order {
            rows.push(&piece, at);
            if let Some(last) = rows.rows.last_mut() {
                *last = self.rows.rows[at];
            }
            made.push(self.made[at]);
        }
        let least = if made.len() == CERTAIN { made[CERTAIN - 1].influence } else { 0.0 };
        Self { rows, made, least }
    }

    fn finish(self) -> (Kept, Vec<Approximation>) {
        let Self { rows, made, .. } = self.shortened();
        (rows, made)
    }
}

/// Digests of the responses in their order, and of what stands beside them.
#[derive(Default)]
struct Digest {
    value: u64,
    /// Of the weights, and of the trials or events: 1 where there are none.
    beside: [u64; 2],
    weights: bool,
    trials: bool,
}

impl Digest {
    fn add(&mut self, piece: &Piece<'_>) {
        let mix = |digest: u64, value: f64| {
            (digest ^ value.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
        };
        self.value = piece.response.iter().flatten().fold(self.value, |digest, y| mix(digest, *y));
        for (digest, side) in self.beside.iter_mut().zip([&piece.weights, &piece.trials]) {
            let value = |row: usize| side.as_ref().map_or(1.0, |side| side[row]);
            *digest = (0..piece.rows).fold(*digest, |digest, row| mix(digest, value(row)));
        }
        self.weights |= piece.weights.is_some();
        self.trials |= piece.trials.as_ref().is_some_and(|trials| trials.iter().any(|trials| *trials > 1.0));
    }
}
