//! How wrong the test may be: E and π̄ against the distance from the threshold, Δ against the acceptance probability.
//!
//! From the plan of looks alone, by [`austerity::theory`]; Δ also needs κ and is drawn at the quartiles of the run's.

use austerity::diagnostics::quantiles;
use austerity::theory::{Accuracy, ErrorTable, TestWalk};
use austerity_plot::{Axis, Curve, Panel, Scale};

use super::words::percent;
use super::{PlannedTest, Report, figure};

/// Points of a curve.
const POINTS: u32 = 120;

pub(super) fn section(report: &Report) -> String {
    let Some(test) = &report.test else { return String::new() };
    let walk = TestWalk::new(test.plan.clone(), Accuracy::Fast);
    let table = ErrorTable::new(&walk, Accuracy::Fast);
    let worst = walk.worst_case();
    let far = far_away(&table);
    // Denser near 0, where E falls steeply.
    let drifts: Vec<f64> = (0..=POINTS).map(|i| far * (f64::from(i) / f64::from(POINTS)).powi(2)).collect();
    let outcomes = drifts.iter().map(|&drift| (drift, table.outcome(drift)));
    let (errors, usage): (Vec<_>, Vec<_>) = outcomes.map(|(z, o)| ((z, o.error), (z, o.data_usage))).unzip();
    let distance = "|μ − μ0|√(N−1)/σ";
    let error = Panel::new("", Axis::new(distance, Scale::Linear), Axis::new("E", Scale::Logarithmic))
        .small()
        .curves(vec![Curve { label: String::new(), points: errors }]);
    let read = Panel::new(
        "",
        Axis::new(distance, Scale::Linear),
        Axis::new("share of the data", Scale::Linear).with_limits(0.0, 1.0),
    )
    .small()
    .curves(vec![Curve { label: String::new(), points: usage }]);
    let delta = Panel::new(
        "",
        Axis::new("acceptance probability of the exact rule", Scale::Linear).with_limits(0.0, 1.0),
        Axis::new("Δ", Scale::Linear),
    )
    .small()
    .curves(deltas(&table, test))
    .reference(0.0);
    let figures = [
        figure(
            "Error of a decision",
            &error.inline(
                "Probability of a wrong decision against the distance of the mean from the threshold",
            ),
            "probability E",
        ),
        figure(
            "Data it reads",
            &read.inline("Expected share of the data against the distance of the mean from the threshold"),
            "expected share π̄",
        ),
        figure(
            "Error of the acceptance",
            &delta.inline("Error of the acceptance probability against the acceptance probability"),
            "Δ at the quartiles of κ",
        ),
    ]
    .concat();
    format!(
        "<section id=\"errors\">\n<h2>Error that the theory predicts</h2>\n<p class=\"reading\">The test has {} looks. In the worst case, the mean at the \
         threshold, it is wrong in {} of the cases and reads {} of the data. Errors on the two sides of the threshold cancel in part: \
         Δ is what is left of them in an acceptance probability.</p>\n<div class=\"charts\">\n{figures}</div>\n</section>\n",
        test.plan.looks(),
        percent(worst.error),
        percent(worst.data_usage)
    )
}

/// A distance at which hardly anything is left to go wrong or to be read.
fn far_away(table: &ErrorTable) -> f64 {
    let first = table.first_share();
    let mut far = 1.0;
    while far < 1e6 {
        let outcome = table.outcome(far);
        if outcome.error < 1e-4 && outcome.data_usage - first < 0.02 * (1.0 - first) {
            break;
        }
        far *= 1.25;
    }
    far
}

/// Δ at the quartiles of κ.
fn deltas(table: &ErrorTable, test: &PlannedTest) -> Vec<Curve> {
    let kappas: Vec<f64> = test.kappas.iter().copied().filter(|kappa| (1e-6..1e6).contains(kappa)).collect();
    let mut levels = if kappas.is_empty() { vec![1.0] } else { quantiles(&[&kappas], &[0.25, 0.5, 0.75]) };
    levels.dedup();
    levels
        .into_iter()
        .map(|kappa| {
            let steps = (1..=POINTS).filter_map(|i| {
                let ratio = (f64::from(i) / f64::from(POINTS)).ln();
                table.step(test.law, ratio, kappa).ok()
            });
            Curve {
                label: format!("κ = {kappa:.2}"),
                points: steps.map(|s| (s.acceptance, s.delta)).collect(),
            }
        })
        .collect()
}
