//! Optimal sequential tests (section 6.5): average, fixed-m and worst-case designs on moves of the ICA problem.
//!
//! 100 moves of an exact chain, with their complete moments, are the training set of the average designs; 100 others test all
//! designs. For each target error the search finds the cheapest test within it: over (m, ε) by the mean |Δ| on the training set, over ε
//! alone with m = 600, and over (m, ε) by the worst-case error E(0). Both panels of the paper's figure: the mean |Δ| and
//! the mean data use of each on the test set, against the target.

use austerity::design::{Design, Pairs, Space, average, evaluate, worst_case};
use austerity::rule::Law;
use austerity::theory::{Accuracy, ErrorTable, TestWalk};
use austerity_plot::{Axis, Curve, Figure, Panel, Scale};
use serde_json::json;

use crate::context::Context;
use crate::error::Result;
use crate::ica::problem::Problem;
use crate::ica::stationary::Stationary;
use crate::ica::{BATCH, Sizes, pairs};
use crate::outcome::{Check, Outcome, Section, Table};
use crate::parallel;

/// The kinds of design, in the order of the curves.
const KINDS: [&str; 3] = ["average", "fixed m", "worst case"];

/// Sizes of this experiment.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub sizes: Sizes,
    pub targets: Vec<f64>,
    pub pairs: usize,
}

/// A design on the test set.
#[derive(Clone, Copy, Debug)]
struct Tested {
    target: f64,
    kind: usize,
    design: Design,
    error: f64,
    data_usage: f64,
}

/// The experiment.
pub fn run(context: &Context) -> Result<Outcome> {
    let quick = vec![0.005, 0.02, 0.05, 0.1, 0.2];
    let full = vec![0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2];
    let targets = context.size.pick(quick, full.clone(), full);
    run_with(context, &Plan { sizes: Sizes::of(context), targets, pairs: 100 })
}

pub(crate) fn run_with(context: &Context, plan: &Plan) -> Result<Outcome> {
    context.stage("mixing and whitening", 0.0)?;
    let problem = Problem::new(context, plan.sizes.rows)?;
    let truth = Stationary::new(context, &problem, plan.sizes.truth_steps)?;
    context.stage("moves of an exact chain", 0.44)?;
    let training = pairs(context, &problem, &truth, plan.pairs, 0)?;
    let test = pairs(context, &problem, &truth, plan.pairs, 1)?;
    let jobs: Vec<(f64, usize)> =
        plan.targets.iter().flat_map(|&target| (0..KINDS.len()).map(move |kind| (target, kind))).collect();
    let found = parallel::each(context.threads, &jobs, |place, &(target, kind)| {
        context.stage("searching designs", 0.46 + 0.53 * place as f64 / jobs.len() as f64)?;
        search(target, kind, &training, &test)
    })?;
    let tested: Vec<Tested> = found.into_iter().flatten().collect();
    Ok(outcome(context, plan, &problem, &test, &tested))
}

/// The cheapest test of a kind within the target, on the test set; none where the space has none.
fn search(target: f64, kind: usize, training: &Pairs, test: &Pairs) -> Result<Option<Tested>> {
    let rows = training.rows();
    let space = Space::constant(rows)?;
    let (space, search) = match kind {
        0 => (space.clone(), average(&space, training, Law::Metropolis, target)?),
        1 => {
            let space = space.with_first(&[BATCH]);
            (space.clone(), average(&space, training, Law::Metropolis, target)?)
        }
        _ => (space.clone(), worst_case(&space, rows, target)?),
    };
    let Some(design) = search.best else { return Ok(None) };
    let walk = TestWalk::new(space.plan(&design.candidate, rows)?, Accuracy::Fast);
    let table = ErrorTable::new(&walk, Accuracy::Fast);
    let [error, data_usage] = evaluate(&table, test, Law::Metropolis)?;
    Ok(Some(Tested { target, kind, design, error, data_usage }))
}

fn outcome(context: &Context, plan: &Plan, problem: &Problem, test: &Pairs, tested: &[Tested]) -> Outcome {
    let moves = test.as_slice();
    let kappa = (moves.iter().map(|pair| pair.kappa.powi(2)).sum::<f64>() / moves.len().max(1) as f64).sqrt();
    let about = vec![
        problem.words(),
        format!(
            "{} moves of an exact chain at stationarity for training and {} for testing, with the moments of all samples; root mean square \
             κ = {kappa:.2} on the test set. The grid is that of the library: 10 first looks from 500 to N/2, 20 levels ε, constant steps and \
             bounds, and the ε that meets the target exactly.",
            plan.pairs,
            moves.len()
        ),
    ];
    let [error, data] = figures(plan, tested);
    let judged = |checks: Vec<Check>| -> Vec<Check> {
        checks.into_iter().map(|check| check.clear_if(problem.is_the_papers())).collect()
    };
    let section = |title: &str, name: &str, figure, caption: &str, checks| Section {
        title: title.into(),
        figure: Some((name.into(), figure)),
        caption: caption.into(),
        checks,
    };
    Outcome {
        title: "Optimal design of sequential tests".into(),
        about,
        settings: json!({
            "size": context.size, "seed": context.seed, "rows": plan.sizes.rows, "pairs": plan.pairs, "targets": plan.targets,
            "fixed_batch": BATCH, "recorded": problem.recorded,
        }),
        numbers: json!({ "kappa": kappa, "designs": tested.len() }),
        sections: vec![
            section(
                "Test average error (figure 6a of the paper)",
                "design_error",
                error,
                "Mean |Δ| of the acceptance probability on the test set against the target that each design was made for.",
                judged(error_checks(tested)),
            ),
            section(
                "Average data usage (figure 6b of the paper)",
                "design_data",
                data,
                "Mean share of the data per decision on the test set against the target.",
                judged(data_checks(tested)),
            ),
        ],
        tables: vec![designs(tested)],
    }
}

/// Error and data use on the test set against the target.
fn figures(plan: &Plan, tested: &[Tested]) -> [Figure; 2] {
    let curve = |kind: usize, of: fn(&Tested) -> f64| Curve {
        label: KINDS[kind].into(),
        points: tested.iter().filter(|at| at.kind == kind).map(|at| (at.target, of(at))).collect(),
    };
    let panel = |title: &str, label: &str, of: fn(&Tested) -> f64| {
        Panel::new(title, Axis::new("target error", Scale::Logarithmic), Axis::new(label, Scale::Logarithmic))
            .curves((0..KINDS.len()).map(|kind| curve(kind, of)).collect())
    };
    let diagonal = Curve { label: "target".into(), points: plan.targets.iter().map(|&t| (t, t)).collect() };
    let error = Figure {
        title: "Test average error".into(),
        panels: vec![panel("test error", "mean |Δ|", |at| at.error).curves(vec![diagonal])],
    };
    let data = Figure {
        title: "Average data usage".into(),
        panels: vec![panel("data per decision", "share of the data", |at| at.data_usage)],
    };
    [error, data]
}

/// One row a design.
fn designs(tested: &[Tested]) -> Table {
    let mut table = Table::new(
        "designs",
        &[
            "design",
            "target",
            "test_error",
            "test_data_usage",
            "batch",
            "epsilon",
            "looks",
            "training_error",
            "worst_error",
        ],
    );
    for at in tested {
        let Design { candidate, looks, error, worst_error, .. } = at.design;
        let numbers = [
            at.target,
            at.error,
            at.data_usage,
            candidate.first as f64,
            candidate.epsilon(),
            looks as f64,
            error,
            worst_error,
        ];
        table.push(std::iter::once(KINDS[at.kind].into()).chain(numbers.map(Into::into)).collect());
    }
    table
}

/// The design of a kind for a target.
fn of(tested: &[Tested], kind: usize, target: f64) -> Option<&Tested> {
    tested.iter().find(|at| at.kind == kind && at.target == target)
}

fn error_checks(tested: &[Tested]) -> Vec<Check> {
    let ratios = |kind: usize| -> Vec<f64> {
        tested.iter().filter(|at| at.kind == kind).map(|at| at.error / at.target).collect()
    };
    let range = |values: &[f64]| {
        values.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &v| (low.min(v), high.max(v)))
    };
    let (near, far) = (range(&ratios(0)), range(&ratios(2)));
    vec![
        Check::new(
            "average design meets its target",
            "“The average design achieves a test error that is almost the same as the target error.”",
            "test error between 0.75 and 1.33 times the target, for every target",
            format!("{:.2} to {:.2} times the target", near.0, near.1),
            near.0 >= 0.75 && near.1 <= 1.33,
        ),
        Check::new(
            "worst-case design is conservative",
            "“The worst-case design gives a conservative parameter setting that achieves a much smaller error on the test set.”",
            "test error at most half of the target, for every target",
            format!("{:.2} to {:.2} times the target", far.0, far.1),
            far.1 <= 0.5,
        )
        .clear_if(far.0.is_finite()),
    ]
}

fn data_checks(tested: &[Tested]) -> Vec<Check> {
    let targets: Vec<f64> = tested.iter().filter(|at| at.kind == 0).map(|at| at.target).collect();
    let ratios = |kind: usize| -> Vec<(f64, f64)> {
        let pair = |&target: &f64| {
            let (average, other) = (of(tested, 0, target)?, of(tested, kind, target)?);
            Some((target, average.data_usage / other.data_usage))
        };
        targets.iter().filter_map(pair).collect()
    };
    let words = |ratios: &[(f64, f64)]| {
        let each = ratios.iter().map(|(target, ratio)| format!("{ratio:.2} at {target}"));
        each.collect::<Vec<_>>().join(", ")
    };
    let (fixed, worst) = (ratios(1), ratios(2));
    let at_large = fixed.last().map_or(f64::NAN, |at| at.1);
    vec![
        Check::new(
            "half the data when the error is large",
            "“When the error is large, the optimal design uses only half the data used by the heuristic and is therefore twice as fast.”",
            "data use of the average design at most 0.6 of that with m = 600, at the largest target",
            format!("average over m = 600: {}", words(&fixed)),
            at_large <= 0.6,
        )
        .clear_if(at_large.is_finite()),
        Check::new(
            "less data than the worst-case design",
            "“Therefore, it uses much less data than the worst-case design.”",
            "data use of the average design at most 0.8 of the worst-case design's, for every target of 0.01 and more",
            format!("average over worst case: {}", words(&worst)),
            !worst.is_empty() && worst.iter().all(|&(target, ratio)| target < 0.01 || ratio <= 0.8),
        ),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::context::{Size, Stage};

    /// A tiny run on a stand-in.
    pub(crate) fn tiny() -> Outcome {
        let cache = std::env::temp_dir().join(format!("austerity-design-{}", std::process::id()));
        let observer = |_: &Stage| {};
        let context = Context::new(Size::Quick, 3, &cache, &observer).threads(2);
        let sizes = Sizes { rows: 4_000, truth_steps: 1_000, chains: 1, seconds: 0.0 };
        let outcome = run_with(&context, &Plan { sizes, targets: vec![0.02, 0.1], pairs: 20 }).unwrap();
        std::fs::remove_dir_all(&cache).unwrap();
        outcome
    }

    /// Both panels, a table of finite numbers, and designs that keep to their order.
    #[test]
    fn a_tiny_run_is_complete() {
        let outcome = tiny();
        let figures: Vec<&str> =
            outcome.sections.iter().filter_map(|section| Some(section.figure.as_ref()?.0.as_str())).collect();
        assert_eq!(figures, ["design_error", "design_data"]);
        assert_eq!(outcome.checks().count(), 4);
        let rows = &outcome.tables[0].rows;
        assert!(rows.len() >= 4, "{rows:?}");
        for row in rows {
            assert!(
                row[1..].iter().all(|cell| matches!(cell, crate::outcome::Cell::Number(v) if v.is_finite()))
            );
        }
    }
}
