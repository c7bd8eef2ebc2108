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

use crate::claim::{Band, Claim, Estimate, Over, Source};
use crate::context::{Context, Size};
use crate::error::Result;
use crate::ica::problem::Problem;
use crate::ica::stationary::Stationary;
use crate::ica::{BATCH, Sizes, pairs};
use crate::outcome::{Check, Outcome, Section, Table};
use crate::parallel;

/// The kinds of design, in the order of the curves: the marks of the paper's figure, and the three parameters of supplement D.
const KINDS: [&str; 4] = ["average", "fixed m", "worst case", "Wang–Tsiatis"];

const MEETS: Claim = Claim {
    name: "average design meets its target",
    source: Source::Paper,
    place: "section 6.5, figure 6a",
    quote: "the average design achieves a test error that is almost the same as the target error",
    says: "",
    quantity: "test error over the target, at every target",
    band: Band::Within(0.75, 1.33),
    over: Over::Every,
    partner: "planted designs whose test error is half the target",
};
const CONSERVATIVE: Claim = Claim {
    name: "worst-case design is conservative",
    quote: "For the same target error on the training set, the worst-case design gives a conservative parameter setting that achieves a much smaller \
            error on the test set",
    says: "\"Much smaller\" is read as half at most.",
    quantity: "test error over the target, at every target",
    band: Band::Below(0.5),
    partner: "planted worst-case designs that meet their target",
    ..MEETS
};
const HALF: Claim = Claim {
    name: "half the data when the error is large",
    place: "section 6.5, figure 6b",
    quote: "when the error is large, the optimal design uses only half the data … used by the heuristic and is therefore twice as fast",
    says: "",
    quantity: "data use of the average design over that with m = 600, at the largest target",
    band: Band::Below(0.6),
    partner: "planted designs of equal data use",
    ..MEETS
};
const LESS: Claim = Claim {
    name: "less data than the worst-case design",
    place: "section 6.5, figure 6b",
    quote: "Therefore, it uses much less data than the worst-case design",
    says: "\"Much less\" is read as 0.8 at most, for targets of 0.01 and more.",
    quantity: "data use of the average design over that of the worst-case design",
    band: Band::Below(0.8),
    partner: "planted designs of equal data use",
    ..MEETS
};
const GENERAL: Claim = Claim {
    name: "three parameters are worth it",
    source: Source::Own,
    place: "after supplement D",
    quote: "",
    says: "The paper proposes a grid search over π_1, G_0 and α without running it. Some target must gain a twentieth of the data by it.",
    quantity: "data use of the Wang–Tsiatis design over that of the average design, at each target",
    band: Band::Below(0.95),
    over: Over::Some,
    partner: "planted designs of equal data use",
};

pub(crate) const CLAIMS: &[Claim] = &[MEETS, CONSERVATIVE, HALF, LESS, GENERAL];

/// Smallest share of the paper's steps with which all targets are designed for.
const FULL_SHARE: f64 = 0.05;

/// Sizes of this experiment.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub sizes: Sizes,
    pub targets: Vec<f64>,
    pub pairs: usize,
}

/// A design on the test set.
#[derive(Clone, Debug)]
struct Tested {
    target: f64,
    kind: usize,
    design: Design,
    error: f64,
    data_usage: f64,
    /// |Δ| and data use, move by move.
    errors: Vec<f64>,
    usages: Vec<f64>,
}

/// The experiment.
pub fn run(context: &Context) -> Result<Outcome> {
    let quick = vec![0.005, 0.02, 0.05, 0.1, 0.2];
    let full = vec![0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2];
    // Each target is a search of its own: few of them where little is asked for.
    let few = context.size == Size::Quick || context.extent().share < FULL_SHARE;
    let targets = if few { quick } else { full };
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
        2 => (space.clone(), worst_case(&space, rows, target)?),
        _ => {
            let space = Space::wang_tsiatis(rows)?;
            (space.clone(), average(&space, training, Law::Metropolis, target)?)
        }
    };
    let Some(design) = search.best else { return Ok(None) };
    let walk = TestWalk::new(space.plan(&design.candidate, rows)?, Accuracy::Fast);
    let table = ErrorTable::new(&walk, Accuracy::Fast);
    let [error, data_usage] = evaluate(&table, test, Law::Metropolis)?;
    let (mut errors, mut usages) = (Vec::new(), Vec::new());
    for pair in test.as_slice() {
        let step = table.step(Law::Metropolis, pair.ratio, pair.kappa)?;
        errors.push(step.delta.abs());
        usages.push(step.data_usage);
    }
    Ok(Some(Tested { target, kind, design, error, data_usage, errors, usages }))
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
        let missing = !problem.is_the_papers();
        checks.into_iter().map(|check| check.undecided_if(missing, "The paper's data are missing.")).collect()
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
        let Design { candidate, looks, error, worst_error, .. } = &at.design;
        let numbers = [
            at.target,
            at.error,
            at.data_usage,
            candidate.first as f64,
            candidate.epsilon(),
            *looks as f64,
            *error,
            *worst_error,
        ];
        table.push(std::iter::once(KINDS[at.kind].into()).chain(numbers.map(Into::into)).collect());
    }
    table
}

/// The design of a kind for a target.
fn of(tested: &[Tested], kind: usize, target: f64) -> Option<&Tested> {
    tested.iter().find(|at| at.kind == kind && at.target == target)
}

/// Mean of the logarithm of a ratio of two means over the same moves, its error move by move; moves of a chain are treated as independent.
fn paired(label: String, above: &[f64], below: &[f64]) -> Estimate {
    let n = above.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (a, b) = (mean(above), mean(below));
    let off: Vec<f64> = above.iter().zip(below).map(|(x, y)| x / a - y / b).collect();
    let error = (off.iter().map(|one| one * one).sum::<f64>() / (n - 1.0) / n).sqrt();
    Estimate::ratio(label, a / b, (error, n - 1.0))
}

fn error_checks(tested: &[Tested]) -> Vec<Check> {
    // The target was met on as many training moves, which are as noisy as those of the test.
    let ratio = |at: &Tested| {
        let one = paired(format!("target {}", at.target), &at.errors, &vec![at.target; at.errors.len()]);
        Estimate { error: one.error * 2f64.sqrt(), ..one }
    };
    let of = |kind: usize| tested.iter().filter(|at| at.kind == kind).map(ratio).collect::<Vec<_>>();
    vec![Check::of(&MEETS, of(0)), Check::of(&CONSERVATIVE, of(2))]
}

fn data_checks(tested: &[Tested]) -> Vec<Check> {
    let targets: Vec<f64> = tested.iter().filter(|at| at.kind == 0).map(|at| at.target).collect();
    let ratios = |above: usize, below: usize, chosen: &dyn Fn(f64) -> bool| -> Vec<Estimate> {
        let pair = |&target: &f64| {
            let (above, below) = (of(tested, above, target)?, of(tested, below, target)?);
            Some(paired(format!("target {target}"), &above.usages, &below.usages))
        };
        targets.iter().filter(|target| chosen(**target)).filter_map(pair).collect()
    };
    let largest = targets.iter().copied().fold(0.0, f64::max);
    vec![
        Check::of(&HALF, ratios(0, 1, &|target| target == largest)),
        Check::of(&LESS, ratios(0, 2, &|target| target >= 0.01)),
        Check::of(&GENERAL, ratios(3, 0, &|_| true)).remark(
            "α = ½ (Pocock) is among the shapes; the grid of first looks and critical values is the library's, so small differences either way are its \
             coarseness.",
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

    /// A design of a kind at a target, with |Δ| and data use of all moves.
    fn planted(kind: usize, target: f64, (error, usage): (f64, f64)) -> Tested {
        let mut space = Space::constant(4_000).unwrap();
        space = space.with_first(&[500]);
        let candidate = space.candidates()[0];
        let moves = |mean: f64| (0..100).map(|i| mean * (1.0 + 0.1 * f64::from(i % 3 - 1))).collect();
        let design = worst_case(&space, 4_000, 0.2).unwrap().best.unwrap();
        let design = Design { candidate, ..design };
        Tested { target, kind, design, error, data_usage: usage, errors: moves(error), usages: moves(usage) }
    }

    #[test]
    fn planted_designs_make_every_claim_come_out_both_ways() {
        let mut checks = Vec::new();
        for (average, fixed, worst, shaped) in [
            ((0.1, 0.2), (0.1, 0.5), (0.02, 0.6), (0.1, 0.15)),
            ((0.05, 0.5), (0.1, 0.5), (0.1, 0.5), (0.1, 0.5)),
        ] {
            let tested: Vec<Tested> = [average, fixed, worst, shaped]
                .into_iter()
                .enumerate()
                .map(|(kind, of)| planted(kind, 0.1, of))
                .collect();
            checks.extend(error_checks(&tested));
            checks.extend(data_checks(&tested));
        }
        crate::claim::tests::both_ways(CLAIMS, &checks);
    }

    /// Both panels, a table of finite numbers, and designs that keep to their order.
    #[test]
    fn a_tiny_run_is_complete() {
        let outcome = tiny();
        let figures: Vec<&str> =
            outcome.sections.iter().filter_map(|section| Some(section.figure.as_ref()?.0.as_str())).collect();
        assert_eq!(figures, ["design_error", "design_data"]);
        assert_eq!(outcome.checks().count(), 5);
        let rows = &outcome.tables[0].rows;
        assert!(rows.len() >= 4, "{rows:?}");
        for row in rows {
            assert!(
                row[1..].iter().all(|cell| matches!(cell, crate::outcome::Cell::Number(v) if v.is_finite()))
            );
        }
    }
}
