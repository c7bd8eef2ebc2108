//! `austerity reproduce`: the paper's experiments, and what became of its claims.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use austerity_paper::clock::process_time;
use austerity_paper::compare::compare;
use austerity_paper::extent::share_for;
use austerity_paper::write::Spent;
use austerity_paper::{Context, EXPERIMENTS, Error, Outcome, Size, Stage, Verdict, write};
use serde_json::json;

use crate::arguments::ReproduceOptions;
use crate::interrupt;
use austerity_fit::Line;
use austerity_fit::output::{Failure, json as print_json, say};
use austerity_fit::request::Common;

/// Runs one experiment or all, and tells every verdict.
pub(crate) fn run(common: &Common, options: &ReproduceOptions) -> Result<(), Failure> {
    let size = match (options.quick, options.paper || options.time.is_some()) {
        (true, _) => Size::Quick,
        (_, true) => Size::Paper,
        _ => Size::Usual,
    };
    let data = folders(options)?;
    let cache = options.cache.clone().unwrap_or_else(|| options.out.join("cache"));
    std::fs::create_dir_all(&options.out).map_err(|error| {
        Failure::Usage(format!("cannot make the folder {}: {error}", options.out.display()))
    })?;
    let chosen = EXPERIMENTS.iter().filter(|one| options.name == "all" || options.name == one.name);
    let time = options.time.map(|time| time.as_secs_f64());
    let share = time.map_or(1.0, |seconds| share_for(&chosen, seconds));
    let mut reports = Vec::new();
    for experiment in chosen {
        let (start, spent) = (Instant::now(), process_time());
        let line = Mutex::new(Line::new(experiment.name));
        let observer = |stage: &Stage| {
            if let Ok(mut line) = line.lock() {
                line.note(&describe(stage));
            }
        };
        let control = interrupt::control();
        let context = Context::new(size, common.seed(), &cache, &observer)
            .share(experiment.cost.share(share))
            .threads(common.threads)
            .data(data.clone())
            .stopped_by(control);
        let outcome = (experiment.run)(&context).map_err(Failure::other)?;
        let seconds = start.elapsed().as_secs_f64();
        let spent = Spent { seconds, cpu_seconds: (process_time() - spent).as_secs_f64() };
        write::write(&options.out, experiment.name, &outcome, &context, spent).map_err(Failure::other)?;
        // After each, so that a stop leaves an index of what is there.
        write::index(&options.out).map_err(Failure::other)?;
        if !options.keep {
            context.ended(experiment.name).map_err(Failure::other)?;
        }
        if let Ok(mut line) = line.lock() {
            line.clear();
        }
        if !common.json {
            say(verdicts(experiment.name, &outcome, spent))?;
        }
        reports.push(json!({
            "experiment": experiment.name,
            "page": options.out.join(experiment.name).join("index.html"),
            "seconds": seconds,
            "cpu_seconds": spent.cpu_seconds,
            "checks": outcome.checks().collect::<Vec<_>>(),
        }));
    }
    let index = options.out.join("index.html");
    if common.json {
        print_json(&json!({ "index": index, "experiments": reports }))?;
    } else {
        say(format!("{}: figures, claims and verdicts side by side.", index.display()))?;
    }
    options.compare.as_ref().map_or(Ok(()), |published| against((published, &options.out), common.json))
}

/// Compares what was found with a published run: contradictions are failures. Beside JSON nothing is printed.
fn against((published, new): (&Path, &Path), quiet: bool) -> Result<(), Failure> {
    let found = compare(published, new).map_err(Failure::other)?;
    for line in found.missing.iter().chain(&found.apart).filter(|_| !quiet) {
        say(line)?;
    }
    let counts = format!(
        "{} claims as published in {}, {} undecided in one of the runs, {} contradicted, {} numbers more than four standard errors apart",
        found.same,
        published.display(),
        found.undecided,
        found.contradictions.len(),
        found.apart.len()
    );
    if found.contradictions.is_empty() {
        return if quiet { Ok(()) } else { say(counts) };
    }
    let words = format!("{counts}\n{}", found.contradictions.join("\n"));
    Err(Failure::other(Error::Contradicted(words)))
}

/// Where to look for data: what was named, else beside the working directory.
fn folders(options: &ReproduceOptions) -> Result<Vec<PathBuf>, Failure> {
    match &options.data {
        Some(folder) if folder.is_dir() => Ok(vec![folder.clone()]),
        Some(folder) => Err(Failure::Usage(format!(
            "{} is no folder; --data (or AUSTERITY_DATA) names the one that holds the data sets, as `austerity data fetch` writes them",
            folder.display()
        ))),
        None => Ok(vec![PathBuf::from("data"), PathBuf::from("../shared/data")]),
    }
}

fn describe(stage: &Stage) -> String {
    let left = stage.remaining.map(|left| format!("  {left:.0} s left")).unwrap_or_default();
    format!("{:3.0} %  {}{left}", 100.0 * stage.done, stage.doing)
}

/// One line per claim.
fn verdicts(name: &str, outcome: &Outcome, spent: Spent) -> String {
    let mut lines = vec![format!(
        "{name}: {} ({:.0} s, {:.0} s of CPU time)",
        outcome.title, spent.seconds, spent.cpu_seconds
    )];
    lines.extend(outcome.checks().map(|check| {
        let word = match check.verdict {
            Verdict::Holds => "holds    ",
            Verdict::Differs => "DIFFERS  ",
            Verdict::Undecided => "undecided",
        };
        format!("  {word}  {}: {} (wanted: {})", check.id(), check.measured, check.wanted)
    }));
    lines.join("\n")
}
