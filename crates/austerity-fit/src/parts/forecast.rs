//! `austerity plan DATA`: what a fit of data in parts would read and take, from a probe of one part.
//!
//! ```text
//! T = passes × [max(bytes/(hosts·B), N·c/cores) + tasks·t]
//! ```
//!
//! c is timed: the seconds per row that one core takes to learn the columns and to code the rows of the first part. B is the speed at which a host reads, t what an engine takes per task. Nothing
//! is fitted and no folder is made. Not a promise: other work on the machine, and files that are not in the cache, count.

use std::time::Instant;

use austerity_io::load::part::{Learning, learn_part, store_part};
use serde_json::{Value, json};

use super::limits::Wanted;
use crate::data::{design, kind, opened};
use crate::model::Family;
use crate::output::{Failure, json as print_json, say};
use crate::report::count;
use crate::request::{Common, DataOptions};

/// Passes of a fit: columns, sample, derivatives twice, totals. Linear models need the first two.
const PASSES: f64 = 5.0;
const LINEAR_PASSES: f64 = 2.0;
/// Seconds that an engine takes per task, of a process pool.
const PER_TASK: f64 = 0.35e-3;

/// Where a fit would run.
#[derive(Clone, Copy, Debug)]
pub struct Machines {
    /// Rows, where more are meant than the files have.
    pub rows: Option<f64>,
    /// Hosts.
    pub hosts: f64,
    /// Cores of each host.
    pub cores: f64,
    /// Bytes that a host reads in a second.
    pub speed: f64,
}

/// Prints the forecast.
pub fn forecast(common: &Common, options: &DataOptions, machines: Machines) -> Result<(), Failure> {
    let found = of(options, machines)?;
    if common.json {
        return print_json(&found);
    }
    let number = |key: &str| found[key].as_f64().unwrap_or(f64::NAN);
    say(format!(
        "{}: {} rows in {} parts, {} GB.\n{} passes on {} host(s) of {} core(s): about {:.1} s, of which {:.1} s reading at {:.1} GB/s per host and {:.1} s computing at {:.0} ns a row and pass \
         (timed on one part).\nMemory of a worker: about {:.2} GB; of the driver for a sample of {} rows: {:.2} GB.",
        options.file.display(),
        count(number("rows")),
        count(number("parts")),
        round(number("bytes") / 1e9),
        number("passes"),
        count(machines.hosts),
        count(machines.cores),
        number("seconds"),
        number("reading_seconds"),
        machines.speed / 1e9,
        number("computing_seconds"),
        1e9 * number("seconds_per_row"),
        number("worker_bytes") / 1e9,
        count(number("sample_rows")),
        number("driver_bytes") / 1e9,
    ))
}

fn round(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn of(options: &DataOptions, machines: Machines) -> Result<Value, Failure> {
    let source = opened(options)?;
    let sampled =
        DataOptions { sample_rows: Some(options.sample_rows.unwrap_or(100_000)), ..options.clone() };
    let wanted = Wanted::of(&sampled, &source, true).unwrap_or(Wanted { most: 100_000, part_rows: 1 << 18 });
    let parts = source.pieces(wanted.part_rows).unwrap_or_default();
    let Some(first) = parts.first() else {
        return Err(Failure::Usage(format!(
            "{}: is no file that could be read in parts",
            options.file.display()
        )));
    };
    let mut learning = Learning::new(&source, &design(options)?, kind(options)?)?;
    let begun = Instant::now();
    let learnt = learn_part(first, 0, learning.wanted())?;
    let learn = begun.elapsed().as_secs_f64();
    let probed = learnt.rows() as f64;
    learning.add(&first.path, learnt)?;
    let design = learning.finish()?;
    let begun = Instant::now();
    store_part(first, &design.recipe, &design.description)?;
    let code = begun.elapsed().as_secs_f64();
    let width = design.description.layout().width as f64;
    let linear = Family::of(options.family, design.description.kind) == Family::Linear;
    let passes = if linear { LINEAR_PASSES } else { PASSES };
    let bytes = |path: &std::path::Path| path.metadata().map_or(0, |found| found.len());
    let mut paths: Vec<_> = parts.iter().map(|part| part.path.as_path()).collect();
    paths.dedup();
    let there: u64 = paths.into_iter().map(bytes).sum();
    // Text files do not say how many rows they have: all parts are taken to be like the first.
    let known: f64 = parts.iter().map(|part| part.rows.map_or(probed, |rows| rows as f64)).sum();
    let rows = machines.rows.unwrap_or(known);
    let (all, tasks) = (there as f64 * rows / known, (parts.len() as f64 * rows / known).ceil());
    let per_row = (learn + (passes - 1.0) * code) / passes / probed;
    let reading = passes * all / (machines.hosts * machines.speed);
    let computing = passes * rows * per_row / (machines.hosts * machines.cores);
    let sample = wanted.most as f64;
    Ok(json!({
        "rows": rows,
        "parts": tasks,
        "passes": passes,
        "bytes": all,
        "seconds_per_row": per_row,
        "reading_seconds": reading,
        "computing_seconds": computing,
        "seconds": reading.max(computing) + passes * tasks * PER_TASK,
        "worker_bytes": 8.0 * width * probed,
        "sample_rows": sample,
        "driver_bytes": 12.0 * width * sample,
    }))
}
