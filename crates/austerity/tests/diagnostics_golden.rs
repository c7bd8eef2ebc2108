//! Diagnostics against ArviZ on the same draws.
//!
//! `golden/diagnostics.json` comes from `golden/make_diagnostics.py`, which names the versions.
//! Tolerance 1e-9 relative: what differs is the order of summation and the Fourier transform.

#![allow(clippy::unwrap_used)] // a malformed golden file should stop the test

use austerity::diagnostics as d;
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap(),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/diagnostics.json")).unwrap()
}

fn agrees(ours: f64, theirs: f64, scale: f64) -> bool {
    (ours.is_nan() && theirs.is_nan())
        || ours == theirs
        || (theirs.is_finite() && (ours - theirs).abs() <= TOLERANCE * theirs.abs().max(scale))
}

/// Runs `check(name of case, chains, expected)` on every case, with the draws as chains.
fn each_case(mut check: impl FnMut(&str, &[&[f64]], &Value)) {
    let golden = golden();
    let cases = golden["cases"].as_array().unwrap();
    assert!(cases.len() > 25);
    for case in cases {
        let draws: Vec<Vec<f64>> = case["draws"].as_array().unwrap().iter().map(numbers).collect();
        let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
        check(case["name"].as_str().unwrap(), &chains, &case["expected"]);
    }
}

fn compare(statistic: &str, function: impl Fn(&[&[f64]]) -> f64) {
    let mut wrong = Vec::new();
    each_case(|name, chains, expected| {
        let (ours, theirs) = (function(chains), number(&expected[statistic]));
        if !agrees(ours, theirs, 0.0) {
            wrong.push(format!("{name}: {ours} against {theirs}"));
        }
    });
    assert!(wrong.is_empty(), "{statistic}:\n{}", wrong.join("\n"));
}

fn compare_at_probabilities(statistic: &str, function: impl Fn(&[&[f64]], f64) -> f64) {
    let probabilities = numbers(&golden()["probabilities"]);
    let mut wrong = Vec::new();
    each_case(|name, chains, expected| {
        for (&probability, theirs) in probabilities.iter().zip(numbers(&expected[statistic])) {
            let ours = function(chains, probability);
            if !agrees(ours, theirs, 0.0) {
                wrong.push(format!("{name} at {probability}: {ours} against {theirs}"));
            }
        }
    });
    assert!(wrong.is_empty(), "{statistic}:\n{}", wrong.join("\n"));
}

#[test]
fn rhat_agrees() {
    compare("rhat", d::rhat);
    compare("rhat_bulk", d::rhat_bulk);
    compare("rhat_folded", d::rhat_folded);
    compare("split_rhat", d::split_rhat);
}

#[test]
fn effective_sample_size_agrees() {
    compare("ess_bulk", d::ess_bulk);
    compare("ess_tail", d::ess_tail);
    compare("ess_mean", d::ess_mean);
    compare("ess_sd", d::ess_sd);
    compare("ess_median", d::ess_median);
}

#[test]
fn effective_sample_size_of_quantiles_agrees() {
    compare_at_probabilities("ess_quantile", d::ess_quantile);
}

#[test]
fn standard_error_agrees() {
    compare("mcse_mean", d::mcse_mean);
    compare("mcse_sd", d::mcse_sd);
    compare("mcse_median", d::mcse_median);
    compare_at_probabilities("mcse_quantile", d::mcse_quantile);
}

#[test]
fn quantiles_agree() {
    compare_at_probabilities("quantile", d::quantile);
}

#[test]
fn highest_density_intervals_agree() {
    each_case(|name, chains, expected| {
        for (key, probability) in [("hdi_50", 0.5), ("hdi_94", 0.94)] {
            let ours = d::highest_density_interval(chains, probability);
            let theirs = numbers(&expected[key]);
            assert!(
                agrees(ours.lower, theirs[0], 0.0) && agrees(ours.upper, theirs[1], 0.0),
                "{name}, {key}: {ours:?} against {theirs:?}"
            );
        }
    });
}

#[test]
fn autocorrelation_agrees() {
    each_case(|name, chains, expected| {
        let theirs = numbers(&expected["autocorrelation"]);
        for (lag, (ours, theirs)) in d::autocorrelation(chains[0]).iter().zip(theirs).enumerate() {
            // Relative to ρ(0) = 1: lags near zero carry the rounding of the whole transform.
            assert!(agrees(*ours, theirs, 1.0), "{name}, lag {lag}: {ours} against {theirs}");
        }
    });
}

#[test]
fn summary_agrees() {
    compare("mean", |chains| d::Summary::new("x", chains).mean);
    compare("sd", |chains| d::Summary::new("x", chains).sd);
    compare("rhat", |chains| d::Summary::new("x", chains).rhat);
    compare("ess_bulk", |chains| d::Summary::new("x", chains).ess_bulk);
    compare("ess_tail", |chains| d::Summary::new("x", chains).ess_tail);
    compare("mcse_mean", |chains| d::Summary::new("x", chains).mcse_mean);
    compare("mcse_sd", |chains| d::Summary::new("x", chains).mcse_sd);
}

#[test]
fn comparison_can_fail() {
    // A relative error of 1e-8, a lost NaN and a wrong sign of infinity must all be noticed.
    assert!(!agrees(1.0 + 1e-8, 1.0, 0.0));
    assert!(!agrees(0.0, f64::NAN, 0.0) && !agrees(f64::NAN, 0.0, 0.0));
    assert!(!agrees(f64::NEG_INFINITY, f64::INFINITY, 0.0));
    let mut differ = 0;
    each_case(|_, chains, expected| {
        differ += usize::from(!agrees(d::split_rhat(chains), number(&expected["rhat"]), 0.0));
    });
    assert!(differ > 10, "plain and rank-normalised R-hat differ in only {differ} cases");
}
