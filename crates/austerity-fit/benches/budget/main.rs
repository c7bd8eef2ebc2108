//! Risk against time, planned and not: `cargo xtask bench budget [--mnist|--covertype] [--quick]`.
//!
//! Two problems, where their files are at hand: the paper's logistic regression (MNIST, 7 against 9, 50 components) and Covertype (class 2 against the rest).
//! Every setting of a grid (rows or a surrogate; exact decisions, tests, tolerances) is looked at at every time, its set-up counted; only the [`FAVOURITES`] with the
//! least risk at the last of the [`EARLY`] times, or at the next where they had no draws before, run longer: variances fall alike for all, a bias does not fall. `fit --budget` runs anew for each time. Risk is the mean over parameters of (error of the mean)² + (error of the sd)², in posterior variances, against a long run
//! on the surrogate, and averaged over replicates. The settings of the grid keep sums in memory; `fit` stores its draws, and so pays more.
//!
//! Prints time × (best setting, planned, ratio), writes `target/budget.json` and `target/budget.svg`.

#![allow(clippy::expect_used, reason = "a bench may panic")]

mod fixed;
mod problem;

use std::time::{Duration, Instant};

use austerity_fit::Request;
use austerity_plot::{Axis, Curve, Figure, Panel, Scale};
use serde_json::{Value, json};

use fixed::{Estimate, Fixed, grid};
use problem::Problem;

/// Seconds.
const TIMES: [f64; 7] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0];
/// Of them, with `--quick`.
const QUICK: usize = 4;
/// What the risk may be, in units of that of the best setting.
const ALLOWED: f64 = 1.25;
/// How many of the times all settings see, and how many settings see the others.
const EARLY: usize = QUICK;
const FAVOURITES: usize = 3;
/// Replicates of the later times, and how many times as many the early ones have, where few draws make risks uncertain.
const REPLICATES: u64 = 2;
const MORE: u64 = 4;
/// Times as long as the longest run for the truth.
const TRUTH: f64 = 4.0;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let quick = has("--quick");
    let all = !(has("--mnist") || has("--covertype"));
    let times = &TIMES[..if quick { QUICK } else { TIMES.len() }];
    let replicates = if quick { 1 } else { REPLICATES };
    let mut outcomes = Vec::new();
    let mut panels = Vec::new();
    for (flag, name) in [("--mnist", "MNIST 7 against 9"), ("--covertype", "Covertype, class 2")] {
        if !(all || has(flag)) {
            continue;
        }
        match if flag == "--mnist" { problem::mnist() } else { problem::covertype() } {
            Some(problem) => {
                let (outcome, panel) = compare(name, &problem, times, replicates);
                outcomes.push(outcome);
                panels.extend(panel);
            }
            None => println!("\n{name}: its file is not at hand, skipped"),
        }
    }
    let target = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let figure = Figure { title: "Risk against time: planned and fixed settings".into(), panels };
    let written = std::fs::write(target.join("budget.svg"), figure.svg())
        .and_then(|()| std::fs::write(target.join("budget.json"), format!("{:#}\n", Value::Array(outcomes))));
    match written {
        Ok(()) => println!("\nplot and numbers: target/budget.svg, target/budget.json"),
        Err(error) => println!("\nplot and numbers could not be written: {error}"),
    }
}

/// All settings and the planner on one problem; no panel where there is no truth to compare with.
fn compare(name: &str, problem: &Problem, times: &[f64], replicates: u64) -> (Value, Option<Panel>) {
    println!("\n{name}: {} rows, {} parameters", problem.rows(), problem.names().len());
    let longest = times.last().copied().unwrap_or(1.0);
    let Some(truth) = fixed::truth(problem, TRUTH * longest) else {
        let why = format!(
            "no truth to compare with: {} s were too few for draws on the surrogate",
            TRUTH * longest
        );
        println!("  {why}");
        return (json!({"problem": name, "error": why}), None);
    };
    let settings = grid(problem.rows());
    let risks = of_settings((problem, &truth), &settings, times, replicates);
    println!("  {:>7}  {:>9}  {:<34}{:>9}  {:>6}", "seconds", "best", "of", "planned", "ratio");
    let (mut rows, mut planned_curve, mut best_curve) = (Vec::new(), Vec::new(), Vec::new());
    for (place, &time) in times.iter().enumerate() {
        let best =
            (0..settings.len()).min_by(|&a, &b| risks[a][place].total_cmp(&risks[b][place])).unwrap_or(0);
        let replicates = if place < EARLY { MORE * replicates } else { replicates };
        let runs: Vec<Result<(f64, Value), String>> =
            (0..replicates).map(|seed| planned(problem, time, seed, &truth)).collect();
        let failed = runs.iter().find_map(|run| run.as_ref().err());
        let risk = runs.iter().flatten().map(|(risk, _)| risk).sum::<f64>() / replicates as f64;
        let risk = if failed.is_some() { f64::INFINITY } else { risk };
        let least = risks[best][place];
        let ratio = risk / least;
        let verdict =
            if ratio <= ALLOWED || (risk.is_infinite() && least.is_infinite()) { "" } else { "  above" };
        println!(
            "  {time:>7}  {least:>9.2e}  {:<34}{risk:>9.2e}  {ratio:>6.2}{verdict}",
            settings[best].name
        );
        if let Some(why) = failed {
            println!("           {why}");
        }
        planned_curve.push((time, risk));
        best_curve.push((time, least));
        rows.push(json!({
            "seconds": time,
            "best": least,
            "setting": settings[best].name,
            "planned": if risk.is_finite() { json!(risk) } else { Value::Null },
            "ratio": if ratio.is_finite() { json!(ratio) } else { Value::Null },
            "plans": runs.into_iter().flatten().map(|(_, plan)| plan).collect::<Vec<_>>(),
        }));
    }
    let table: Vec<Value> = settings
        .iter()
        .zip(&risks)
        .map(|(setting, risks)| json!({"setting": setting.name, "risk": risks.iter().map(|risk| if risk.is_finite() { json!(risk) } else { Value::Null }).collect::<Vec<_>>()}))
        .collect();
    let finite =
        |points: &[(f64, f64)]| points.iter().copied().filter(|(_, risk)| risk.is_finite()).collect();
    let exact = risks[0].iter().zip(times).map(|(&risk, &time)| (time, risk)).collect::<Vec<_>>();
    let panel = Panel::new(
        name,
        Axis::new("seconds, set-up included", Scale::Logarithmic),
        Axis::new("risk, in posterior variances", Scale::Logarithmic),
    )
    .curves(vec![
        Curve { label: "planned".into(), points: finite(&planned_curve) },
        Curve { label: "best fixed setting".into(), points: finite(&best_curve) },
        Curve { label: "exact random walk".into(), points: finite(&exact) },
    ]);
    (json!({"problem": name, "times": rows, "settings": table}), Some(panel))
}

/// Mean risk of each setting at each time; infinite where a setting had no draws or was given up.
fn of_settings(
    (problem, truth): (&Problem, &Estimate),
    settings: &[Fixed],
    times: &[f64],
    replicates: u64,
) -> Vec<Vec<f64>> {
    let (early, late) = times.split_at(EARLY.min(times.len()));
    let of = |setting, times, replicates| of_setting((problem, truth), setting, times, replicates);
    let mut risks: Vec<Vec<f64>> =
        settings.iter().map(|setting| of(setting, early, MORE * replicates / 2)).collect();
    if late.is_empty() {
        return risks;
    }
    // Those without draws so far are tried once until the next time; variances fall with time.
    let (last, soon) = (early.len() - 1, &late[..1]);
    let promise: Vec<f64> = (0..settings.len())
        .map(|place| match risks[place][last] {
            risk if risk.is_finite() => risk * early[last] / soon[0],
            _ => of(&settings[place], soon, 1)[0],
        })
        .collect();
    let mut order: Vec<usize> = (0..settings.len()).collect();
    order.sort_by(|&a, &b| promise[a].total_cmp(&promise[b]));
    for (rank, &place) in order.iter().enumerate() {
        let later = if rank < FAVOURITES {
            of(&settings[place], late, replicates)
        } else {
            vec![f64::INFINITY; late.len()]
        };
        risks[place].extend(later);
    }
    risks
}

/// Mean risk of a setting at each time.
fn of_setting(
    (problem, truth): (&Problem, &Estimate),
    setting: &Fixed,
    times: &[f64],
    replicates: u64,
) -> Vec<f64> {
    let mut sums = vec![0.0; times.len()];
    for seed in 0..replicates {
        for (sum, estimate) in sums.iter_mut().zip(setting.run(problem, times, seed)) {
            *sum += estimate.map_or(f64::INFINITY, |estimate| estimate.risk(truth)) / replicates as f64;
        }
    }
    println!(
        "    {:<34}{}",
        setting.name,
        sums.iter().map(|risk| format!("{risk:>10.2e}")).collect::<Vec<_>>().join("")
    );
    sums
}

/// Risk of a planned run, and its plan.
fn planned(problem: &Problem, time: f64, seed: u64, truth: &Estimate) -> Result<(f64, Value), String> {
    let folder = std::env::temp_dir().join(format!("austerity-budget-{}-{seed}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut request = Request::logistic("rows", "y")
        .out(&folder)
        .budget(Duration::from_millis((1000.0 * time) as u64))
        .seed(seed + 100)
        // As many draws as can be summarised in time, not as many as people look at.
        .max_disk(16_000_000_000);
    (request.shape.prior, request.data.no_intercept) = (problem.prior, problem.prior.is_some());
    let begun = Instant::now();
    let fit = request.data(problem.table()).run();
    let elapsed = begun.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(&folder);
    let fit = fit.map_err(|failure| failure.to_string())?;
    let overview = fit.overview();
    let of =
        |value: fn(&austerity::diagnostics::Summary) -> f64| overview.summary.iter().map(value).collect();
    let estimate = Estimate { mean: of(|summary| summary.mean), sd: of(|summary| summary.sd) };
    let mut plan = overview.json()["budget"].take();
    plan["elapsed_with_reading_and_summary"] = json!(elapsed);
    Ok((estimate.risk(truth), plan))
}
