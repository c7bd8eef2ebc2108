//! What the demo says.

use std::path::Path;

use austerity::diagnostics::Summary;
use austerity_fit::{grouped, table};

use super::Demo;
use super::baseline::Measured;
use super::fitted::Fitted;
use crate::arguments::DemoOptions;

/// Before anything runs.
pub(super) fn introduction(data: &Path, options: &DemoOptions) -> String {
    format!(
        "Logistic regression on {} generated rows with {} features.\n\n$ austerity fit {} --response y",
        count(options.rows as f64),
        options.features,
        data.display()
    )
}

/// The answer of the fit beside the truth, and its verdict.
pub(super) fn answer(fit: &Fitted, truth: &[f64]) -> String {
    let mut rows = table(&["", "true", "mean", "sd", "2.5 %", "97.5 %"]);
    for (parameter, truth) in fit.parameters.iter().zip(truth) {
        let numbers = [parameter.mean, parameter.sd, parameter.q025, parameter.q975];
        let cells = numbers.map(|value| format!("{value:.4}"));
        rows.add_row([[parameter.name.clone(), format!("{truth:.4}")].as_slice(), &cells].concat());
    }
    let verdict = if fit.trusted {
        format!(
            "Trusted: {} chains agree (largest R-hat {:.3}), at least {} effective samples.",
            fit.chains,
            fit.largest_rhat,
            count(fit.effective)
        )
    } else {
        format!("NOT trusted: {}", fit.reasons.join(" "))
    };
    format!("{rows}\n{verdict}\n{:.1} seconds from the file to this answer.\n", fit.seconds)
}

/// The table of all samplers, three sentences and where to look next.
pub(super) fn comparison(demo: &Demo, seconds: f64, stopped: bool) -> String {
    let Some(exact) = demo.baselines.first() else {
        return format!("Stopped early: no baseline was measured.\n{}", next(demo));
    };
    let mut rows =
        table(&["", "rows per decision", "effective samples/s", "sd against exact", "predicted sd"]);
    let fit = &demo.fit;
    let (ratio, error) = sd_ratio(&fit.parameters, &exact.summary);
    rows.add_row([
        "austerity fit".into(),
        count(fit.rows_per_decision),
        count(fit.effective / fit.chain_seconds),
        format!("{ratio:.2} ± {error:.2}"),
        "1.00".into(),
    ]);
    for measured in &demo.baselines {
        let (ratio, error) = sd_ratio(&measured.summary, &exact.summary);
        let reference = std::ptr::eq(measured, exact);
        rows.add_row([
            measured.name.into(),
            count(measured.rows_per_decision),
            count(measured.effective / measured.seconds),
            if reference { "1".into() } else { format!("{ratio:.2} ± {error:.2}") },
            format!("{:.2}", measured.predicted_sd),
        ]);
    }
    let mut said = sentences(demo, exact);
    if stopped {
        said.push("Stopped early: the numbers rest on what was drawn until then.".into());
    }
    let sentences: String = said.iter().map(|text| format!("• {text}\n")).collect();
    format!(
        "What it replaces: Metropolis–Hastings without a surrogate, {seconds} seconds each.\n{rows}\n\
         Effective samples: the smaller of bulk and tail, worst coefficient, per second of sampling.\n{sentences}{}",
        next(demo)
    )
}

fn next(demo: &Demo) -> String {
    format!("Report page: {}", demo.report.display())
}

fn sentences(demo: &Demo, exact: &Measured) -> Vec<String> {
    let fit = &demo.fit;
    let mut said = vec![format!(
        "The fit made {} times as many effective samples per second as exact decisions on the same proposals.",
        count(fit.effective / fit.chain_seconds / (exact.effective / exact.seconds))
    )];
    said.push(format!(
        "It expands the log-likelihood at the mode, so most accept/reject decisions read no rows ({} on average) instead of {}.",
        count(fit.rows_per_decision),
        count(demo.rows as f64)
    ));
    if let [_, walk, test, ..] = &demo.baselines[..] {
        let (ratio, error) = sd_ratio(&test.summary, &exact.summary);
        said.push(format!(
            "The paper's plain test reads {:.0} % of the rows of the exact walk, and its standard deviations come out {ratio:.2} ± {error:.2} \
             times the exact ones (predicted: {:.2}).",
            100.0 * test.rows_per_decision / walk.rows_per_decision,
            test.predicted_sd
        ));
    }
    said
}

/// Geometric mean over the parameters of sd/exact sd, and its standard error from the Monte Carlo errors of both runs. Errors of the
/// parameters are taken as independent, which they nearly are; those of the runs are.
fn sd_ratio(found: &[Summary], exact: &[Summary]) -> (f64, f64) {
    let count = exact.len() as f64;
    let pairs = || found.iter().zip(exact);
    let ratio = (pairs().map(|(a, b)| (a.sd / b.sd).ln()).sum::<f64>() / count).exp();
    let variance: f64 = pairs().map(|(a, b)| (a.mcse_sd / a.sd).powi(2) + (b.mcse_sd / b.sd).powi(2)).sum();
    (ratio, variance.sqrt() / count * ratio)
}

/// A number as people write it: 1,000,000; 412; 8.3; 0.02.
fn count(value: f64) -> String {
    match value {
        v if !v.is_finite() => "–".into(),
        v if v >= 100.0 => grouped(&format!("{v:.0}")),
        v if v >= 10.0 => format!("{v:.0}"),
        v if v >= 0.1 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        for (value, text) in [
            (1e6, "1,000,000"),
            (999.6, "1,000"),
            (412.3, "412"),
            (12.6, "13"),
            (8.34, "8.3"),
            (0.021, "0.02"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(count(value), text);
        }
    }

    #[test]
    fn the_ratio_of_sds_is_geometric_and_its_error_that_of_both_runs() {
        let summary = |sd: f64| {
            let values: Vec<f64> = (0..400).map(|i| sd * (f64::from(i * 37 % 400) / 400.0 - 0.5)).collect();
            Summary::new("x", &[&values[..200], &values[200..]])
        };
        let (ratio, error) = sd_ratio(&[summary(2.0), summary(8.0)], &[summary(1.0), summary(1.0)]);
        assert!((ratio - 4.0).abs() < 1e-9, "{ratio}");
        let one = summary(1.0);
        let expected = (4.0 * (one.mcse_sd / one.sd).powi(2)).sqrt() / 2.0 * 4.0;
        assert!((error - expected).abs() < 1e-9, "{error} {expected}");
    }
}
