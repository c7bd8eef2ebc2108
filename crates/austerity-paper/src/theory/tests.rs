//! A tiny run: every figure, table and check is there, numbers are finite, and a wrong formula would be seen.

use std::path::PathBuf;

use super::*;
use crate::{Size, Stage, Verdict};

const TINY: Scale = Scale {
    statistic_pairs: 2,
    resamples: 800,
    walks: 400,
    three_looks: 20_000,
    tests: 60,
    moves: 40,
    simulated_moves: 4,
    simulations: 60,
    theorem_steps: 60,
};

fn tiny(data: Vec<PathBuf>) -> Outcome {
    let observer = |_: &Stage| {};
    let folder = std::env::temp_dir();
    let context = Context::new(Size::Quick, 1, &folder, &observer).threads(2).data(data);
    simulate(&context, &TINY).unwrap()
}

#[test]
fn a_tiny_run_has_every_figure_table_and_check() {
    let outcome = tiny(Vec::new());
    assert!(outcome.about[0].contains("stands in"), "{:?}", outcome.about);
    let figures: Vec<&str> =
        outcome.sections.iter().filter_map(|section| Some(section.figure.as_ref()?.0.as_str())).collect();
    assert_eq!(figures, ["statistic", "walk", "three_looks", "sequential", "delta", "acceptance", "theorem"]);
    for (name, figure) in outcome.sections.iter().filter_map(|section| section.figure.as_ref()) {
        let svg = figure.svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.len() > 2000, "{name}");
    }
    let tables: Vec<(&str, usize)> =
        outcome.tables.iter().map(|table| (table.name.as_str(), table.rows.len())).collect();
    assert_eq!(
        tables,
        [
            ("statistic", 6),
            ("walk", 49),
            ("three_looks", 4),
            ("sequential", 30),
            ("step", 80),
            ("theorem", 4)
        ]
    );
    for table in outcome.tables.iter().filter(|table| table.name != "step") {
        let finite = |cell: &crate::outcome::Cell| matches!(cell, crate::outcome::Cell::Number(value) if value.is_finite());
        assert!(table.rows.iter().flatten().all(finite), "{}", table.name);
    }
    let names: Vec<&str> = outcome.checks().map(|check| check.name.as_str()).collect();
    for claim in CLAIMS {
        assert!(names.contains(&claim.name), "{} is missing in {names:?}", claim.name);
    }
    let mut unique: Vec<String> = outcome.checks().map(crate::Check::id).collect();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    // What does not depend on chance is as it is whatever the size: data use does not drop so fast as the paper says at ε = 0.01.
    for (claim, verdict) in [
        (claims::THREE_RECURSION, Verdict::Holds),
        (claims::THREE_WORST, Verdict::Holds),
        (claims::BOUND, Verdict::Holds),
        (claims::THEOREM, Verdict::Holds),
        (claims::DROP, Verdict::Differs),
    ] {
        let check = outcome.checks().find(|check| check.name == claim.name).unwrap();
        assert_eq!(check.verdict, verdict, "{check:?}");
    }
    // 800 resamples cannot tell a difference of 0.02.
    let fit = outcome.checks().find(|check| check.name == claims::FIT_NORMAL.name).unwrap();
    assert_ne!(fit.verdict, Verdict::Holds, "{fit:?}");
}

/// Statistics of the law N(shift, sd²) on an even grid, as if resampled.
fn statistics(shift: f64, sd: f64) -> Vec<Vec<statistic::Sample>> {
    use statrs::distribution::{ContinuousCDF as _, Normal};
    let law = Normal::new(shift, sd).unwrap();
    let values = || (0..50_000).map(|i| law.inverse_cdf((f64::from(i) + 0.5) / 50_000.0)).collect();
    (0..4).map(|_| vec![statistic::judge(values(), 5_000).unwrap()]).collect()
}

/// Walks at ten shares: mean `drift` times the true one, noise of standard deviation `sd`, correlated as said or not.
fn walks(drift: f64, sd: f64, independent: bool) -> Vec<crate::Check> {
    use rand::RngExt as _;
    use rand_distr::StandardNormal;
    let shares: Vec<f64> = (1..=49).map(|j| 0.02 * f64::from(j)).collect();
    let roots: Vec<f64> = shares.iter().map(|share| (share / (1.0 - share)).sqrt()).collect();
    let mut rng = austerity::rng::stream(3, 0, austerity::rng::Role::Data);
    let mut walk = || -> Vec<f64> {
        let (mut brownian, mut time) = (0.0, 0.0f64);
        let mut look = |root: &f64| {
            let passed = root * root - time;
            time = root * root;
            let noise: f64 = rng.sample(StandardNormal);
            brownian += passed.sqrt() * noise;
            let z = if independent { noise } else { brownian / root };
            drift * walk::DISTANCE * root + sd * z
        };
        roots.iter().map(&mut look).collect()
    };
    let walks: Vec<Vec<f64>> = (0..8_000).map(|_| walk()).collect();
    walk::judge(&walks, &shares, &roots).1
}

fn level(scale: f64) -> step::Level {
    use austerity::theory::StepError;
    let steps = (0..100).map(|i| {
        let acceptance = f64::from(i) / 100.0;
        // Errors that cancel at ½ for a small scale; larger than the worst case for a large one.
        let delta = scale * 0.1 * (acceptance - 0.5).abs().max(0.01 * scale);
        StepError { acceptance, delta, mean_error: 0.08, data_usage: 0.5 }
    });
    let steps: Vec<StepError> = steps.collect();
    let simulated = (0..10).map(|i| {
        (10 * i, steps[10 * i].acceptance + if scale > 1.0 { 0.3 } else { steps[10 * i].delta }, 0.005)
    });
    let simulated: Vec<(usize, f64, f64)> = simulated.collect();
    // Three times the error towards ½ in the one, the same in the other.
    let more = if scale > 1.0 { 0.1 } else { 0.0 };
    let toward = |pair: usize| more * (0.5 - steps[pair].acceptance).signum();
    let blocks = simulated.iter().map(|&(pair, found, _)| found + toward(pair)).collect();
    step::Level { epsilon: 0.05, worst: 0.1, simulated, blocks, steps }
}

#[test]
fn planted_data_make_every_claim_come_out_both_ways() {
    use crate::claim::Estimate;
    let scale = Scale { resamples: 50_000, ..TINY };
    let mut checks = Vec::new();
    for (shift, sd) in [(0.0, 1.0), (0.1, 1.2)] {
        checks.extend(statistic::checks(&scale, &statistics(shift, sd), true));
    }
    for planted in
        [walks(1.0, 1.0, false), walks(0.5, 1.0, false), walks(1.0, 1.3, false), walks(1.0, 1.0, true)]
    {
        checks.extend(planted);
    }
    let off = |value: f64| vec![Estimate::new("", value, (0.0005, f64::INFINITY)); 4];
    checks.extend(three::judge(1e-12, off(0.0), 0.0));
    checks.extend(three::judge(1e-3, off(0.02), 0.05));
    checks.extend(sequential::judge(0.05, [off(0.0), off(0.0)], [0.2, 0.4], true));
    checks.extend(sequential::judge(0.05, [off(0.1), off(0.1)], [0.2, 0.8], true));
    for scale in [0.5, 20.0] {
        checks.extend(step::judge_errors(&level(scale), true));
        checks.extend(step::judge_probabilities(&level(scale), true));
    }
    let side = |bound: f64, distance: f64, variance: f64| theorem::Side {
        epsilon: 0.05,
        largest_delta: 0.01,
        contraction: 0.9,
        bound,
        distance,
        variance,
    };
    let runs = vec![(0..8).map(|i| 1.2 + 0.001 * f64::from(i)).collect()];
    checks.extend(theorem::judge(&[side(0.1, 0.02, 1.2)], &runs));
    checks.extend(theorem::judge(&[side(0.1, 0.2, 1.0)], &runs));
    checks.extend(theorem::judge(&[side(1.0, 0.001, 1.0)], &runs));
    crate::claim::tests::both_ways(CLAIMS, &checks);
}
