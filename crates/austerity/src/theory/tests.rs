//! Values to hold the theory to: the reference tables, the literature, simulation, and its own laws.

mod bias;
mod laws;
mod literature;
mod reference;
mod simulation;
mod stationary;
mod wide;

use crate::rule::{Bound, Looks, SequentialSettings, Statistic};
use crate::theory::{Accuracy, ErrorTable, TestPlan, TestWalk};

/// Algorithm 1 with normal critical values.
fn settings(step: usize, epsilon: f64) -> SequentialSettings {
    SequentialSettings { statistic: Statistic::Normal, ..SequentialSettings::paper(step, epsilon) }
}

fn plan(rows: usize, step: usize, epsilon: f64) -> TestPlan {
    TestPlan::of_settings(&settings(step, epsilon), rows).unwrap()
}

fn walk(rows: usize, step: usize, epsilon: f64) -> TestWalk {
    TestWalk::new(plan(rows, step, epsilon), Accuracy::Exact)
}

fn table(rows: usize, step: usize, epsilon: f64) -> ErrorTable {
    ErrorTable::new(&walk(rows, step, epsilon), Accuracy::Exact)
}

fn general(rows: usize, looks: Looks, bound: Bound) -> TestPlan {
    TestPlan::of_settings(&SequentialSettings { looks, bound, ..settings(1, 0.1) }, rows).unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} against {expected} (tolerance {tolerance})");
}
