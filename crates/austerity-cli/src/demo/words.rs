//! What the demo says.

use super::experiment::{Demo, Measured, Problem};
use crate::arguments::DemoOptions;
use austerity_fit::table;

/// Before anything runs.
pub(super) fn introduction(problem: &Problem, options: &DemoOptions) -> String {
    format!(
        "Logistic regression on {} generated rows with {} features and an intercept.\n\
         A Metropolis–Hastings step must decide whether the sum of {} log-likelihood differences exceeds a random\n\
         threshold. The exact rule reads every row. A sequential test reads rows until it is sure enough.\n\
         Every rule gets the same proposals, the same uniforms and {} seconds on this machine.",
        problem.rows, options.features, problem.rows, options.seconds
    )
}

fn number(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// The numbers.
pub(super) fn tables(demo: &Demo) -> String {
    let mut cost =
        table(&["at stationarity", "data read", "accepted", "steps/s", "ESS/s", "ESS/10⁶ evaluations"]);
    let mut bias = table(&[
        "against the exact run",
        "mean off (chance)",
        "sd ratio",
        "predicted",
        "cold start",
        "evaluations",
    ]);
    for result in &demo.results {
        cost.add_row([
            result.rule.clone(),
            format!("{:.1} %", 100.0 * result.data_share),
            format!("{:.0} %", 100.0 * result.acceptance),
            number(result.steps_per_second),
            number(result.ess_per_second),
            number(result.ess_per_million_evaluations),
        ]);
        let exact = result.sd_ratio_error == 0.0;
        bias.add_row([
            result.rule.clone(),
            if exact {
                "–".into()
            } else {
                format!("{:.2} ({:.2}) sd", result.mean_off, result.mean_off_by_chance)
            },
            if exact {
                "1".into()
            } else {
                format!("{:.2} ± {:.2}", result.sd_ratio, result.sd_ratio_error)
            },
            if exact { "1".into() } else { format!("{:.2}", result.sd_ratio_predicted) },
            result.cold_seconds.map_or("not there yet".into(), |s| format!("{s:.2} s")),
            result.cold_evaluations.map_or("–".into(), |e| format!("{:.1} million", e / 1e6)),
        ]);
    }
    format!(
        "{cost}\n\n{bias}\n\n\
         data read: mean share of the rows a decision rested on. ESS: effective sample size, the number of independent\n\
         draws that would be as good (the worst parameter). evaluations: likelihoods of single rows, one per row for\n\
         the exact rule, which keeps those of its current state, two for a test. sd ratio: posterior sd against that of\n\
         the exact run, ± its Monte Carlo error; 1.10 means intervals 10 % too wide. predicted: by the theory, before\n\
         any sampling. chance: what noise alone would show. cold start: from all coefficients 0 until near the mode."
    )
}

/// What it means.
pub(super) fn conclusions(demo: &Demo, interrupted: bool) -> String {
    let mut text = String::from("\nIn words\n");
    let Some((exact, tests)) = demo.results.split_first() else {
        return "Stopped before anything was measured.".into();
    };
    for test in tests {
        text += &format!("• {}\n", sentence(test, exact));
    }
    text += "• Larger ε or more looks: fewer rows, more bias. A plain test reads a constant share of the data whatever N is;\n  \
             it pays on the way to the posterior more than inside it.\n";
    if let Some(odd) = demo.results.iter().find(|result| result.guarded_share > 0.01) {
        text += &format!(
            "• The guard held up {:.1} % of the decisions of “{}”: single rows carried too much of a difference.\n",
            100.0 * odd.guarded_share,
            odd.rule
        );
    }
    if let Some(rough) = demo.results.iter().find(|result| result.largest_rhat > 1.01) {
        text += &format!(
            "• The chains of “{}” still differ (R-hat {:.3}): give it more --seconds before trusting the last digits.\n",
            rough.rule, rough.largest_rhat
        );
    }
    if interrupted {
        text += "• Stopped early: the numbers rest on what was drawn until then.\n";
    }
    text.trim_end().into()
}

fn sentence(test: &Measured, exact: &Measured) -> String {
    let speed = test.steps_per_second / exact.steps_per_second;
    let width = 100.0 * (test.sd_ratio - 1.0);
    let sure = (test.sd_ratio - 1.0).abs() > 2.0 * test.sd_ratio_error;
    let bias = if sure && width.abs() >= 0.5 {
        format!("its posterior is {:.0} % too {}", width.abs(), if width > 0.0 { "wide" } else { "narrow" })
    } else {
        "no bias can be seen in this time".into()
    };
    let cold = match (test.cold_evaluations, exact.cold_evaluations) {
        (Some(a), Some(b)) if b > a => {
            format!(";\n  from a cold start it arrives with {} times fewer evaluations", number(b / a))
        }
        (Some(_), None) => {
            ";\n  from a cold start it arrives, which the exact rule did not in this time".into()
        }
        _ => String::new(),
    };
    format!(
        "{}\n  reads {:.1} % of the rows and makes {} times as many steps per second; {bias}{cold}.",
        test.rule,
        100.0 * test.data_share,
        number(speed)
    )
}
