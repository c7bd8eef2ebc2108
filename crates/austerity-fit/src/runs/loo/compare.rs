//! `austerity compare RUN…`: which run predicts new rows better, on the same rows.
//!
//! The difference of two elpd is the sum of the differences of their rows, and its errors are those of that sum: most of what makes a row hard to predict is shared. So every run is asked about the same random
//! rows, and about the rows that are influential in any of them. Weights are those of stacking (`estimate/stacking`): of the mixture of the runs that predicts best.
//!
//! Runs of other responses are refused: log densities of other data cannot be compared. Cost: one pass per run, a second one where another run has influential rows of its own.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use austerity::run::Control;
use serde_json::{Value, json};

use super::words::small;
use super::{LooSettings, Passed, State, predict};
use crate::estimate::cavity::Approximation;
use crate::estimate::difference::{Pair, Rest, Sum, paired, sum};
use crate::estimate::pareto::{LeftOut, UNRELIABLE};
use crate::estimate::stacking;
use crate::output::{Failure, json as print_json, picture, say};
use crate::report::count;
use crate::request::Common;
use crate::runs::picture::{Bar, forest};
use crate::runs::rows::{Kept, Rows, RunRows};
use crate::runs::{Folder, RunFile};
use crate::table::table;
use predict::draws::Draws;

/// Rows of the first sample: weights need more of them than sums, which have approximations.
const FIRST: usize = 4_000;

/// What `compare` is asked for.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The runs.
    pub runs: Vec<PathBuf>,
    /// Their rows, where they are elsewhere now.
    pub data: Option<PathBuf>,
    /// The file of the picture.
    pub plot: Option<PathBuf>,
    /// How rows are left out.
    pub settings: LooSettings,
}

/// A run among others.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What it is called.
    pub name: String,
    elpd: Sum,
    effective: Sum,
    /// Less the elpd of the best one.
    difference: Sum,
    weight: f64,
    unreliable: usize,
}

/// Runs, the best one first.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// From the best to the worst.
    pub models: Vec<Compared>,
    rows: usize,
    read: usize,
}

/// Compares and prints.
pub fn run(common: &Common, options: &CompareOptions, control: &Control) -> Result<(), Failure> {
    let named: Vec<(String, PathBuf)> =
        options.runs.iter().map(|run| (run.display().to_string(), run.clone())).collect();
    let rows = vec![Rows::at(options.data.as_deref()); named.len()];
    let made = answer(&named, &rows, &options.settings, control)?;
    if let Some(file) = &options.plot {
        picture(file, &made.picture())?;
    }
    if common.json { print_json(&made.json()) } else { say(made.words(options.plot.as_deref())) }
}

/// One run with its draws.
struct Model {
    name: String,
    file: RunFile,
    draws: Draws,
}

/// A run whose rows have been passed over.
struct Seen<'a> {
    state: State<'a>,
    passed: Passed,
    /// The rows that are influential in any run.
    certain: Vec<LeftOut>,
    sample: Vec<(usize, Approximation)>,
    rest: [Rest; 2],
    found: Vec<LeftOut>,
}

/// Compares runs by name, each with its rows from there.
pub fn answer(
    runs: &[(String, PathBuf)],
    rows: &[Rows<'_>],
    settings: &LooSettings,
    control: &Control,
) -> Result<Comparison, Failure> {
    settings.check()?;
    if runs.len() < 2 {
        return Err(Failure::Usage("give at least two runs to compare".into()));
    }
    let models = runs
        .iter()
        .map(|(name, path)| {
            let folder = Folder::new(path);
            let file = predict::answerable(&folder)?;
            let draws = Draws::read(&folder, &file, settings.draws, settings.seed)?;
            Ok(Model { name: name.clone(), file, draws })
        })
        .collect::<Result<Vec<Model>, Failure>>()?;
    let count = models[0].file.plan.data.rows;
    let states: Vec<State<'_>> =
        models.iter().map(|model| State::new(&model.file, &model.draws, settings, control)).collect();
    let sources = models
        .iter()
        .zip(rows)
        .zip(&states)
        .map(|((model, rows), state)| RunRows::open(&model.file, rows, state.threads))
        .collect::<Result<Vec<_>, _>>()?;
    for model in &models[1..] {
        same("rows", &models[0], model, |model| model.file.plan.data.rows.to_string())?;
        same("response", &models[0], model, |model| model.file.plan.recipe.response.clone())?;
    }
    let most = states.iter().map(|state| state.most(count)).min().unwrap_or(count);
    let mut passed = Vec::new();
    for (state, source) in states.iter().zip(&sources) {
        passed.push(state.pass(source, most)?);
    }
    for (made, model) in passed.iter().zip(&models).skip(1) {
        same_values((&models[0], &passed[0]), (model, made))?;
    }
    let influential: BTreeSet<usize> = passed
        .iter()
        .flat_map(|passed| passed.certain.iter().map(|(slot, _)| passed.kept.rows[*slot]))
        .collect();
    let mut seen = states
        .into_iter()
        .zip(passed)
        .zip(&sources)
        .map(|((state, passed), source)| Seen::new(state, passed, &influential, source))
        .collect::<Result<Vec<_>, _>>()?;
    let sums = grow(&mut seen, settings)?;
    Ok(conclude(&models, &seen, sums, (count, influential.len())))
}

fn same(what: &str, first: &Model, other: &Model, of: impl Fn(&Model) -> String) -> Result<(), Failure> {
    let (then, now) = (of(first), of(other));
    if then == now { Ok(()) } else { Err(differs(what, first, other, &format!("{now} instead of {then}"))) }
}

/// Refuses other responses, weights or trials.
fn same_values((first, then): (&Model, &Passed), (other, now): (&Model, &Passed)) -> Result<(), Failure> {
    let ([weights, trials], [other_weights, other_trials]) = (then.digest.beside, now.digest.beside);
    let compared = [
        ("values of the response", then.digest.value, now.digest.value),
        ("weights", weights, other_weights),
        ("trials or events", trials, other_trials),
    ];
    match compared.iter().find(|(_, then, now)| then != now) {
        Some((what, ..)) => Err(differs(what, first, other, "other ones, or in another order")),
        None => Ok(()),
    }
}

fn differs(what: &str, first: &Model, other: &Model, how: &str) -> Failure {
    Failure::Usage(format!(
        "{} and {} explain different data ({what}: {how}), so their predictive densities cannot be compared: fit both to the same rows of the same response, with the same weights and trials",
        first.name, other.name
    ))
}

impl<'a> Seen<'a> {
    fn new(
        state: State<'a>,
        passed: Passed,
        influential: &BTreeSet<usize>,
        source: &RunRows<'_>,
    ) -> Result<Self, Failure> {
        let kept = with_rows(&passed.kept, influential, source)?;
        let (piece, mut approximated) = (kept.piece(), Vec::new());
        state.approximator().piece(&piece, state.threads, &mut approximated);
        let certain = state.exact().rows(&piece, 0..kept.rows.len(), state.threads);
        let rows = &passed.kept.rows;
        let sample =
            passed.sample.iter().filter(|(slot, _)| !influential.contains(&rows[*slot])).copied().collect();
        let mut rest = passed.rest;
        for made in &approximated {
            rest[0].remove(made.elpd);
            rest[1].remove(made.lpd - made.elpd);
        }
        Ok(Self { state, passed, certain, sample, rest, found: Vec::new() })
    }

    fn sums(&self) -> [Sum; 2] {
        let of = |which: fn(&LeftOut) -> f64, approximate: fn(&Approximation) -> f64, rest: &Rest| {
            let pairs: Vec<Pair> = self
                .sample
                .iter()
                .zip(&self.found)
                .map(|((_, made), exact)| Pair { approximate: approximate(made), exact: which(exact) })
                .collect();
            sum(&self.certain.iter().map(which).collect::<Vec<f64>>(), rest, &pairs)
        };
        [
            of(|made| made.elpd, |made| made.elpd, &self.rest[0]),
            of(|made| made.lpd - made.elpd, |made| made.lpd - made.elpd, &self.rest[1]),
        ]
    }

    /// What this run has more than another.
    fn less(&self, other: &Self) -> Sum {
        let certain: Vec<f64> =
            self.certain.iter().zip(&other.certain).map(|(own, other)| own.elpd - other.elpd).collect();
        let pairs: Vec<Pair> = self
            .found
            .iter()
            .zip(&other.found)
            .zip(self.sample.iter().zip(&other.sample))
            .map(|((own, other), ((_, mine), (_, theirs)))| Pair {
                exact: own.elpd - other.elpd,
                approximate: mine.elpd - theirs.elpd,
            })
            .collect();
        paired(&certain, (self.rest[0].rows, self.rest[0].sum - other.rest[0].sum), &pairs)
    }
}

/// The influential rows of all runs, in order: those kept, and the others by a second pass.
fn with_rows(kept: &Kept, wanted: &BTreeSet<usize>, source: &RunRows<'_>) -> Result<Kept, Failure> {
    let places: HashMap<usize, usize> =
        kept.rows.iter().enumerate().map(|(slot, &row)| (row, slot)).collect();
    let missing: Vec<usize> = wanted.iter().filter(|row| !places.contains_key(row)).copied().collect();
    let mut further = Kept::default();
    if !missing.is_empty() {
        let mut next = missing.iter().peekable();
        source.scan(&mut |piece| {
            while let Some(row) = next.next_if(|row| **row < piece.first + piece.rows) {
                further.push(piece, row - piece.first);
            }
            Ok(())
        })?;
    }
    let (own, others) = (kept.piece(), further.piece());
    let (mut all, mut next) = (Kept::default(), 0);
    for row in wanted {
        match places.get(row) {
            Some(&slot) => all.push(&own, slot),
            None => {
                all.push(&others, next);
                next += 1;
            }
        }
    }
    Ok(all)
}

/// Doubles the sample until the differences are known; the sums of every run.
fn grow(seen: &mut [Seen<'_>], settings: &LooSettings) -> Result<Vec<[Sum; 2]>, Failure> {
    let most = seen[0].sample.len();
    let small = seen[0].state.file.plan.data.rows <= super::SMALL;
    let mut size = if small { most } else { settings.rows.unwrap_or(FIRST).min(most) };
    loop {
        for model in seen.iter_mut() {
            let piece = model.passed.kept.piece();
            model.state.extend(&piece, &model.sample[..size], &mut model.found)?;
        }
        let sums: Vec<[Sum; 2]> = seen.iter().map(Seen::sums).collect();
        let best = best(&sums);
        let near = |sum: Sum| sum.sampling <= settings.tolerance * sum.data;
        let all = (0..seen.len()).filter(|&k| k != best).all(|k| near(seen[k].less(&seen[best])));
        if size == most || all && near(sums[best][0]) {
            return Ok(sums);
        }
        size = (2 * size).min(most);
    }
}

fn best(sums: &[[Sum; 2]]) -> usize {
    (0..sums.len()).max_by(|&a, &b| sums[a][0].total.total_cmp(&sums[b][0].total)).unwrap_or(0)
}

fn conclude(
    models: &[Model],
    seen: &[Seen<'_>],
    sums: Vec<[Sum; 2]>,
    (rows, influential): (usize, usize),
) -> Comparison {
    let best = best(&sums);
    let each = seen[0].rest[0].rows as f64 / seen[0].found.len().max(1) as f64;
    let counts: Vec<f64> =
        seen[0].certain.iter().map(|_| 1.0).chain(seen[0].found.iter().map(|_| each)).collect();
    let densities: Vec<Vec<f64>> = seen
        .iter()
        .map(|seen| seen.certain.iter().chain(&seen.found).map(|made| made.elpd).collect())
        .collect();
    let weights = stacking::weights(&densities, &counts);
    let mut made: Vec<Compared> = models
        .iter()
        .zip(seen)
        .zip(sums)
        .zip(weights)
        .enumerate()
        .map(|(k, (((model, own), [elpd, effective]), weight))| Compared {
            name: model.name.clone(),
            elpd,
            effective,
            difference: if k == best {
                Sum { total: 0.0, sampling: 0.0, data: 0.0 }
            } else {
                own.less(&seen[best])
            },
            weight,
            unreliable: own.certain.iter().chain(&own.found).filter(|made| made.shape > UNRELIABLE).count(),
        })
        .collect();
    made.sort_by(|a, b| b.elpd.total.total_cmp(&a.elpd.total));
    Comparison { models: made, rows, read: influential + seen[0].found.len() }
}

impl Comparison {
    /// What `--json` prints.
    #[must_use]
    pub fn json(&self) -> Value {
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let models: Vec<Value> = self
            .models
            .iter()
            .enumerate()
            .map(|(rank, model)| {
                json!({
                    "name": model.name,
                    "rank": rank,
                    "elpd_loo": number(model.elpd.total),
                    "se": number(model.elpd.data),
                    "subsampling_se": number(model.elpd.sampling),
                    "p_loo": number(model.effective.total),
                    "elpd_diff": number(model.difference.total),
                    "diff_se": number(model.difference.data),
                    "diff_subsampling_se": number(model.difference.sampling),
                    "weight": number(model.weight),
                    "pareto_k_over_0_7": model.unreliable,
                })
            })
            .collect();
        json!({"models": models, "rows": self.rows, "rows_read": self.read, "sentences": self.sentences()})
    }

    /// What the numbers say.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let [best, second, ..] = self.models.as_slice() else { return Vec::new() };
        let total = second.difference.data.hypot(second.difference.sampling);
        let far = second.difference.total.abs() / total;
        let mut said = vec![if second.difference.total.abs() < 4.0 {
            format!(
                "{} and {} predict equally well: their elpd differs by less than 4.",
                best.name, second.name
            )
        } else if far < 2.0 {
            format!(
                "The data do not tell {} and {} apart: their elpd differs by {far:.1} standard errors.",
                best.name, second.name
            )
        } else {
            format!(
                "{} predicts new rows better than {}: its elpd is larger by {:.1} ± {total:.1} ({far:.1} standard errors).",
                best.name, second.name, -second.difference.total
            )
        }];
        for model in self.models.iter().filter(|model| model.unreliable > 0) {
            said.push(format!(
                "{}: Pareto k is above {UNRELIABLE} in {} of the rows computed; `austerity loo` lists them.",
                model.name, model.unreliable
            ));
        }
        said
    }

    /// As a table with sentences.
    #[must_use]
    pub fn words(&self, plot: Option<&Path>) -> String {
        let mut made = table(&["", "elpd_loo", "p_loo", "difference", "se", "se of the sample", "weight"]);
        for model in &self.models {
            let shown = |value: f64| format!("{value:.1}");
            made.add_row([
                model.name.clone(),
                shown(model.elpd.total),
                shown(model.effective.total),
                shown(model.difference.total),
                shown(model.difference.data),
                small(model.difference.sampling),
                format!("{:.2}", model.weight),
            ]);
        }
        let mut lines = vec![made.to_string()];
        lines.push(format!(
            "Differences are paired: exact PSIS-LOO of the same {} of {} rows under every run.",
            count(self.read as f64),
            count(self.rows as f64)
        ));
        lines.extend(self.sentences());
        lines.extend(plot.map(|plot| format!("Wrote {}.", plot.display())));
        lines.join("\n")
    }

    /// The differences with two standard errors.
    #[must_use]
    pub fn picture(&self) -> austerity_plot::Figure {
        let bars: Vec<Bar> = self
            .models
            .iter()
            .map(|model| {
                let error = 2.0 * model.difference.data.hypot(model.difference.sampling);
                let centre = model.difference.total;
                Bar { name: model.name.clone(), centre, ends: (centre - error, centre + error) }
            })
            .collect();
        forest(
            "Predictive density of new rows",
            "elpd less the best one's (± 2 standard errors)",
            &bars,
            Some(0.0),
        )
    }
}
