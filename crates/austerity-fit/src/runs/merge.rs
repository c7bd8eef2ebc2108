//! `austerity merge RUN… --out RUN`: runs of the same posterior with other chains become one run.
//!
//! Streams belong to (seed, chain, role), so chains drawn on several machines are those that one machine would have drawn. Two runs
//! fit together when their data, model, decision rule, warm-up, thinning, seed and kept parameters are equal: the first
//! difference is named. Chains are ordered by number and cut to the shortest; seconds and counts are summed over the runs, those of
//! steps beyond the cut included. A merged run is read like any other, but cannot go on: `--resume` says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use austerity::run::{ChainCheckpoint, Limits, Settings};
use austerity_glm::proposal::StoredProposal;
use austerity_io::run::{DrawsReader, checkpoint, write_file};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Folder, Fresh, Overview, RunFile, Saved, summary};
use crate::fit::plan::words;
use crate::output::{Failure, json as print_json, say};
use crate::request::{Common, Dialect};

/// A run to be merged.
struct Part {
    path: PathBuf,
    run: RunFile,
    saved: Saved,
    reader: DrawsReader,
}

impl Part {
    fn read(path: &Path) -> Result<Self, Failure> {
        let folder = Folder::new(path);
        let (run, saved, reader) = (folder.read_run()?, folder.saved()?, folder.reader()?);
        if reader.draws() == 0 {
            return Err(Failure::Usage(format!("{} holds no draws yet: leave it out", path.display())));
        }
        Ok(Self { path: path.into(), run, saved, reader })
    }
}

/// Merges runs and says what came of it.
pub fn run(common: &Common, runs: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let mut parts = runs.iter().map(|path| Part::read(path)).collect::<Result<Vec<_>, _>>()?;
    for part in &parts[1..] {
        compare(&parts[0], part)?;
    }
    overlap(&parts)?;
    parts.sort_by_key(|part| part.reader.chain_numbers().first().copied());
    let folder = Folder::new(out);
    let mut fresh = Fresh::create(&folder)?;
    let lengths: Vec<usize> = parts.iter().map(|part| part.reader.draws()).collect();
    let made = fresh.fill(|folder| write(folder, parts))?;
    let cut = lengths.iter().any(|&draws| draws != made.draws);
    if common.json {
        let mut value = made.json();
        if let Value::Object(fields) = &mut value {
            fields.insert("cut".into(), json!(cut));
        }
        return print_json(&value);
    }
    let shown: Vec<String> = lengths.iter().map(ToString::to_string).collect();
    say(format!(
        "{}: {} chains from {} runs, {} draws each{}.",
        folder.path().display(),
        made.run.plan.settings.chains,
        lengths.len(),
        made.draws,
        if cut { format!(" (cut to the shortest of {})", shown.join(", ")) } else { String::new() }
    ))?;
    summary::print(common, &made)
}

/// Refuses runs of another posterior or of other settings, naming the first difference.
fn compare(a: &Part, b: &Part) -> Result<(), Failure> {
    let differ = |what: &str, one: String, other: String| {
        if one == other {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "{} and {} cannot be merged: {what} is {one} there and {other} here; merge runs of the same data and settings that differ in \
             --first-chain only",
            a.path.display(),
            b.path.display()
        )))
    };
    let (one, other) = (&a.run, &b.run);
    differ("the family", text(&one.plan.model.family), text(&other.plan.model.family))?;
    differ("the number of rows", one.plan.data.rows.to_string(), other.plan.data.rows.to_string())?;
    differ("the seed", one.plan.settings.seed.to_string(), other.plan.settings.seed.to_string())?;
    let coefficients = |run: &RunFile| run.plan.recipe.coefficient_names().join(", ");
    differ("the list of coefficients", coefficients(one), coefficients(other))?;
    // Default priors follow from the data: where they differ and nothing else was typed, the data do.
    let typed = |run: &RunFile| {
        (run.request.shape.prior, run.request.shape.prior_intercept, run.request.shape.priors.clone())
    };
    if typed(one) != typed(other) {
        for (one, other) in one.plan.model.priors.iter().zip(&other.plan.model.priors) {
            differ(&format!("the prior of {}", one.parameter), one.prior.clone(), other.prior.clone())?;
        }
    }
    differ(
        "--standardize",
        one.plan.model.standardize.to_string(),
        other.plan.model.standardize.to_string(),
    )?;
    for (one, other) in one.plan.recipe.terms.iter().zip(&other.plan.recipe.terms) {
        differ(&format!("the coding of column {}", one.column()), text(one), text(other))?;
    }
    let roles = |run: &RunFile| austerity_io::coding::Recipe { terms: Vec::new(), ..run.plan.recipe.clone() };
    differ("the response or another role", text(&roles(one)), text(&roles(other)))?;
    differ(
        "the fingerprint of data and priors",
        one.plan.data.fingerprint.clone(),
        other.plan.data.fingerprint.clone(),
    )?;
    // Before the audits, which follow from it.
    differ("the rule", text(&one.plan.settings.rule), text(&other.plan.settings.rule))?;
    fields(&comparable(&one.plan.settings), &comparable(&other.plan.settings))
        .map_or(Ok(()), |(name, one, other)| differ(&name, one, other))?;
    let proposal = |run: &RunFile| words::proposal(&run.plan.proposal);
    differ("the proposal", proposal(one), proposal(other))?;
    let kept = |part: &Part| part.reader.names().join(", ");
    differ("the list of kept parameters", kept(a), kept(b))
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// What must be equal of the settings.
fn comparable(settings: &Settings) -> Value {
    let same = Settings {
        chains: 1,
        first_chain: 0,
        draws: 1,
        record_every: 1,
        threads: 0,
        limits: Limits::default(),
        ..settings.clone()
    };
    serde_json::to_value(same).unwrap_or_default()
}

/// The first field that differs, with both values.
fn fields(one: &Value, other: &Value) -> Option<(String, String, String)> {
    let (one, other) = (one.as_object()?, other.as_object()?);
    let differing = one.iter().find(|(name, value)| other.get(*name) != Some(value));
    differing.map(|(name, value)| {
        let found = other.get(name).unwrap_or(&Value::Null);
        (format!("`{name}`"), value.to_string(), found.to_string())
    })
}

/// Refuses chains that two runs have.
fn overlap(parts: &[Part]) -> Result<(), Failure> {
    for (i, a) in parts.iter().enumerate() {
        for b in &parts[i + 1..] {
            let known = a.reader.chain_numbers();
            let both: Vec<String> = b
                .reader
                .chain_numbers()
                .iter()
                .filter(|number| known.contains(number))
                .map(ToString::to_string)
                .collect();
            if !both.is_empty() {
                return Err(Failure::Usage(format!(
                    "{} and {} both hold chain {}: such draws would count twice; begin the second run with --first-chain {}",
                    a.path.display(),
                    b.path.display(),
                    both.join(", "),
                    known.last().map_or(0, |last| last + 1)
                )));
            }
        }
    }
    Ok(())
}

/// Writes the folder: draws, checkpoint, `run.toml`, summary.
fn write(folder: &Folder, parts: Vec<Part>) -> Result<Overview, Failure> {
    let created = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut merged = Vec::new();
    for part in &parts {
        let from = std::path::absolute(&part.path).unwrap_or_else(|_| part.path.clone());
        if part.run.merged.is_empty() {
            merged.push(from);
        } else {
            merged.extend(part.run.merged.iter().cloned());
        }
    }
    let pairs = parts.iter().map(|part| part.path.join("pairs.csv")).find(|file| file.exists());
    let (mut run, mut saved) = (parts[0].run.clone(), parts[0].saved.clone());
    let mut chains: BTreeMap<u64, ChainCheckpoint<Vec<f64>, StoredProposal>> = BTreeMap::new();
    (saved.seconds, saved.preparation) = (0.0, 0.0);
    for part in &parts {
        chains.extend(
            part.reader.chain_numbers().into_iter().zip(part.saved.checkpoint.chains.iter().cloned()),
        );
        saved.seconds += part.saved.seconds;
        saved.preparation += part.saved.preparation;
        if part.saved.failed && !saved.failed {
            (saved.failed, saved.ended) = (true, part.saved.ended.clone());
        }
    }
    let readers: Vec<DrawsReader> = parts.into_iter().map(|part| part.reader).collect();
    let draws = austerity_io::run::merge(&readers, folder.draws(), &created)?;
    let first = chains.keys().next().map_or(0, |&number| u32::try_from(number).unwrap_or(u32::MAX));
    let count = u32::try_from(chains.len()).unwrap_or(u32::MAX);
    run.plan.settings =
        Settings { chains: count, first_chain: first, draws: draws as u64, ..run.plan.settings };
    (run.request.shape.chains, run.request.shape.first_chain) = (Some(count), Some(first));
    (run.version, run.created, run.merged) = (env!("CARGO_PKG_VERSION").into(), created, merged);
    saved.checkpoint.chains = chains.into_values().collect();
    saved.checkpoint.settings = run.plan.settings.clone();
    checkpoint::write(folder.checkpoint(), &saved)?;
    if let Some(pairs) = pairs {
        let bytes = std::fs::read(&pairs)
            .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", pairs.display())))?;
        write_file(folder.file("pairs.csv"), &bytes)?;
        run.pairs = Some(austerity_io::seal::of(&bytes));
    }
    folder.write_run(&run)?;
    let overview = Overview::read(folder, Dialect::Shell)?;
    folder.write_summary(overview.json())?;
    Ok(overview)
}
