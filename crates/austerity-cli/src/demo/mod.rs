//! `austerity demo`: the main job on built-in data, then what it replaces.
//!
//! Writes a table with known coefficients, fits it as `austerity fit` does, and then runs Metropolis–Hastings on the same posterior without a
//! surrogate: exact decisions with the proposals of the fit, exact decisions with a random walk, and the paper's sequential test with the same
//! random walk. One table compares rows read, effective samples per second and posterior standard deviations.

mod baseline;
mod fitted;
mod words;

use std::path::{Path, PathBuf};

use austerity_fit::Line;
use austerity_fit::output::{Failure, json, say};
use austerity_fit::request::Common;
use austerity_glm::generate;
use austerity_io::write::{Field, TableWriter};
use serde::Serialize;

use crate::arguments::DemoOptions;
use baseline::{Measured, Problem, baselines};
use fitted::Fitted;

/// All results.
#[derive(Serialize)]
struct Demo {
    rows: usize,
    parameters: usize,
    seed: u64,
    data: PathBuf,
    run: PathBuf,
    report: PathBuf,
    fit: Fitted,
    baselines: Vec<Measured>,
}

/// Runs the demo.
pub(crate) fn run(common: &Common, options: &DemoOptions) -> Result<(), Failure> {
    if !(options.seconds > 0.0 && options.seconds.is_finite()) {
        return Err(Failure::Usage(format!(
            "--seconds is {}; allowed: a positive finite number",
            options.seconds
        )));
    }
    let control = crate::interrupt::control();
    let folder = folder(options)?;
    let mut line = Line::new("demo");
    line.note("writing the data");
    let made =
        generate::logistic(options.rows, options.features).correlated(true).seed(common.seed()).build()?;
    let data = folder.join("data.parquet");
    write(&data, &made.data)?;
    line.clear();
    if !common.json {
        say(words::introduction(&data, options))?;
    }
    let fit = fitted::run(common, &data, &folder.join("run"), &control)?;
    if !common.json {
        say(words::answer(&fit, &made.coefficients))?;
    }
    line.note("preparing the baselines");
    let problem = Problem::new(made.data, common.seed())?;
    line.clear();
    let mut measured: Vec<Measured> = Vec::new();
    for baseline in baselines(&problem)? {
        if control.stopped() {
            break;
        }
        let mut line = Line::new(baseline.name);
        measured.extend(problem.measure(&baseline, (common, options.seconds), &control, &mut line)?);
    }
    let demo = Demo {
        rows: options.rows,
        parameters: options.features + 1,
        seed: common.seed(),
        report: folder.join("run/report.html"),
        run: folder.join("run"),
        data,
        fit,
        baselines: measured,
    };
    if common.json { json(&demo) } else { say(words::comparison(&demo, options.seconds, control.stopped())) }
}

/// A fresh folder: the one that was asked for, or one among the temporary files.
fn folder(options: &DemoOptions) -> Result<PathBuf, Failure> {
    let refuse = |path: &Path, error: std::io::Error| {
        Failure::Usage(format!("cannot make the folder {}: {error}; name another with --out", path.display()))
    };
    if let Some(out) = &options.out {
        // Never mixes with what is there.
        std::fs::create_dir(out).map_err(|error| refuse(out, error))?;
        return Ok(out.clone());
    }
    let place = |number: u32| std::env::temp_dir().join(format!("austerity-demo-{number}"));
    for number in 1.. {
        match std::fs::create_dir(place(number)) {
            Ok(()) => return Ok(place(number)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refuse(&place(number), error)),
        }
    }
    Err(Failure::Usage("no name for a folder is left; name one with --out".into()))
}

fn write(file: &Path, data: &austerity_glm::Data) -> Result<(), Failure> {
    let mut fields: Vec<Field> = data.column_names().iter().map(Field::single).collect();
    fields.push(Field::integer("y"));
    let mut columns: Vec<&[f64]> = data.columns().iter().map(Vec::as_slice).collect();
    columns.push(data.response());
    let mut writer = TableWriter::create(file, fields)?;
    writer.write(&columns)?;
    writer.finish()?;
    Ok(())
}
