//! `austerity design`: the test that costs least data for an error that is allowed.

use std::path::Path;

use austerity::design::{Design, Pairs, Search, Space, average, average_compensated, worst_case};
use austerity::rng::{Role, stream};
use austerity::rule::{Law, Shape};
use austerity_plot::{Axis, Curve, Figure, Panel, Scale};
use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde_json::{Value, json};

use crate::output::{Failure, json as print_json, picture, say};
use crate::refusal::Refusal;
use crate::request::{BoundFamily, Common, DesignOptions, Keyword, LawChoice};
use crate::table::table;

/// Decisions made up when there is no trial.
const MADE_UP: usize = 200;
/// Designs of the front shown in the table.
const SHOWN: usize = 12;
/// Beyond this λ and its inverse the user is told what it leans on.
const FAR: f64 = 2.0;

/// The search as a value, which is that of `--json`.
pub fn answer(common: &Common, options: &DesignOptions) -> Result<Value, Failure> {
    Ok(as_json(&search(common, options)?))
}

/// Runs the search and prints what it found.
pub fn run(common: &Common, options: &DesignOptions) -> Result<(), Failure> {
    let search = search(common, options)?;
    if search.best.is_none() {
        eprintln!(
            "austerity: no design that was searched has an error within {}; the nearest is given",
            options.tolerance
        );
    }
    if common.json { print_json(&as_json(&search)) } else { say(words(&search, options)) }
}

/// Searches, and draws the front where that was asked for.
fn search(common: &Common, options: &DesignOptions) -> Result<Search, Failure> {
    if options.worst_case && options.law != LawChoice::Given(Law::Metropolis) {
        return Err(Refusal::Both(Keyword::Law, Keyword::WorstCase).into());
    }
    if options.worst_case && options.trial.is_some() {
        return Err(Refusal::Both(Keyword::Trial, Keyword::WorstCase).into());
    }
    let space = match options.bound {
        BoundFamily::Pocock => Space::constant(options.n)?,
        BoundFamily::WangTsiatis => Space::wang_tsiatis(options.n)?,
    };
    let space = space.with_growth(&options.growth);
    let search = if options.worst_case {
        worst_case(&space, options.n, options.tolerance)?
    } else {
        let pairs = match &options.trial {
            Some(path) if path.is_dir() => read_pairs(&path.join("pairs.csv"), options.n)?,
            Some(path) => read_pairs(path, options.n)?,
            None => made_up(options, common.seed())?,
        };
        match options.law {
            LawChoice::Given(law) => average(&space, &pairs, law, options.tolerance)?,
            LawChoice::Compensated => average_compensated(&space, &pairs, options.tolerance)?,
        }
    };
    if let Some(path) = &options.plot {
        picture(path, &figure(&search, options))?;
    }
    Ok(search)
}

/// Decisions of a stationary chain on a Gaussian target: Λ ~ N(−D²/2, D²), κ = D.
fn made_up(options: &DesignOptions, seed: u64) -> Result<Pairs, Failure> {
    let energy = options.energy;
    if !(energy > 0.0 && energy.is_finite()) {
        return Err(Refusal::range(Keyword::Energy, energy, "a positive finite number").into());
    }
    let mut pairs = Pairs::new(options.n)?;
    let rows = options.n as f64;
    let mut rng = stream(seed, 0, Role::Data);
    for _ in 0..MADE_UP {
        let z: f64 = rng.sample(StandardNormal);
        let ratio = energy * z - 0.5 * energy * energy;
        pairs.push(ratio / rows, energy * (rows - 1.0).sqrt() / rows, 0.0)?;
    }
    Ok(pairs)
}

/// Pairs from a CSV file with the columns mean, sd and optionally offset.
fn read_pairs(path: &Path, rows: usize) -> Result<Pairs, Failure> {
    let bad = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header: Vec<&str> =
        lines.next().map(|(_, line)| line.split(',').map(str::trim).collect()).unwrap_or_default();
    let place = |name: &str| header.iter().position(|column| *column == name);
    let (Some(mean), Some(sd)) = (place("mean"), place("sd")) else {
        return Err(bad(format!(
            "the first line must name the columns mean and sd (and offset, if any); it is `{}`",
            header.join(",")
        )));
    };
    let offset = place("offset");
    let mut pairs = Pairs::new(rows)?;
    for (index, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let number = |column: usize| {
            let cell = cells.get(column).copied().unwrap_or("");
            let name = header.get(column).copied().unwrap_or("");
            cell.parse::<f64>()
                .map_err(|_| bad(format!("line {}, column {name}: `{cell}` is not a number", index + 1)))
        };
        let offset = offset.map_or(Ok(0.0), number)?;
        pairs
            .push(number(mean)?, number(sd)?, offset)
            .map_err(|error| bad(format!("line {}: {error}", index + 1)))?;
    }
    Ok(pairs)
}

fn design_json(design: &Design) -> Value {
    json!({
        "batch": design.candidate.first,
        "epsilon": design.candidate.epsilon(),
        "growth": design.candidate.growth,
        "bound": design.candidate.bound,
        "looks": design.looks,
        "error": design.error,
        "data_usage": design.data_usage,
        "worst_error": design.worst_error,
        "lambda": lambda(design),
    })
}

fn as_json(search: &Search) -> Value {
    let mut value = design_json(search.best.as_ref().unwrap_or(&search.nearest));
    value["feasible"] = json!(search.best.is_some());
    value["tolerance"] = json!(search.tolerance);
    value["front"] = search.front.iter().map(design_json).collect();
    value
}

/// λ of a compensated law.
fn lambda(design: &Design) -> Option<f64> {
    match design.law {
        Law::Compensated { lambda } => Some(lambda),
        _ => None,
    }
}

/// The bound in a table.
fn bound_words(design: &Design) -> String {
    match design.candidate.bound.shape {
        Shape::WangTsiatis { alpha } => format!("G0 {:.3}, α {alpha}", critical(design)),
        _ => format!("ε {:.4}", design.candidate.epsilon()),
    }
}

/// The bound as it would be typed.
fn bound_options(design: &Design) -> String {
    match design.candidate.bound.shape {
        Shape::WangTsiatis { alpha } => format!("--bound wang-tsiatis:{:.4},{alpha}", critical(design)),
        _ => format!("--epsilon {:.6}", design.candidate.epsilon()),
    }
}

/// G₀.
fn critical(design: &Design) -> f64 {
    design.candidate.bound.base_critical()
}

fn words(search: &Search, options: &DesignOptions) -> String {
    let measure = if options.worst_case {
        "error: probability of a wrong decision when the mean is at the threshold"
    } else if lambda(search.best.as_ref().unwrap_or(&search.nearest)).is_some() {
        "error: mean detailed-balance defect over the decisions"
    } else {
        "error: mean |Δ| of the acceptance probability over the decisions"
    };
    let mut front =
        table(&["first look m", "ε", "growth", "looks", "error", "data read", "worst-case error"]);
    let step = search.front.len().div_ceil(SHOWN).max(1);
    for design in search.front.iter().rev().step_by(step).collect::<Vec<_>>().into_iter().rev() {
        front.add_row([
            design.candidate.first.to_string(),
            bound_words(design),
            format!("{}", design.candidate.growth),
            design.looks.to_string(),
            format!("{:.5}", design.error),
            format!("{:.1} %", 100.0 * design.data_usage),
            format!("{:.3}", design.worst_error),
        ]);
    }
    let source = match (&options.trial, options.worst_case) {
        (_, true) => "the worst case".to_string(),
        (Some(path), _) => format!("the completed decisions in {}", path.display()),
        (None, _) => {
            format!("decisions of a stationary chain with root step energy {} (no --trial)", options.energy)
        }
    };
    let design = search.best.as_ref().unwrap_or(&search.nearest);
    let mut text = format!(
        "Designed for {source}.\n{front}\n({measure})\n\n{}.\nThe same as options: --batch {} --growth {} {}",
        search.verdict(),
        design.candidate.first,
        design.candidate.growth,
        bound_options(design)
    );
    if let Some(lambda) = lambda(design) {
        text += &format!(" --law compensated:{lambda:.4}");
        if !(1.0 / FAR..=FAR).contains(&lambda) {
            text += "\nA λ so far from 1 leans on a Gaussian posterior and on κ as in these decisions; a smaller tolerance gives a tamer test.";
        }
    }
    if design.candidate.first < 100 {
        text += "\nA first look below 100 rows: the sd is then estimated too roughly for these numbers to be exact.";
    }
    if design.data_usage > 0.5 {
        text += "\nMore than half of the data per decision: at two evaluations per row exact decisions are cheaper.";
    }
    if let Some(path) = &options.plot {
        text += &format!("\nFront: {}", path.display());
    }
    text
}

fn figure(search: &Search, options: &DesignOptions) -> Figure {
    let points = search.front.iter().map(|design| (design.data_usage, design.error)).collect();
    Figure {
        title: format!("N = {}: what an error costs", options.n),
        panels: vec![
            Panel::new(
                "best designs",
                Axis::new("share of the data read", Scale::Linear).with_limits(0.0, 1.0),
                Axis::new("error", Scale::Logarithmic),
            )
            .curves(vec![Curve { label: "front".into(), points }])
            .reference(search.tolerance),
        ],
    }
}
