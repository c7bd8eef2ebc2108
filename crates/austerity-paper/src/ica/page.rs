//! What the page of the experiment shows and which claims it checks.

use austerity::model::Model as _;
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};
use serde_json::json;

use super::stationary::RIDGE;
use super::{Arm, BATCH, Findings, claims};
use crate::context::Context;
use crate::curves::{Along, Point};
use crate::outcome::{Outcome, Section, Table};

pub(super) fn outcome(context: &Context, found: &Findings) -> Outcome {
    let Findings { problem, truth, step_sd, sizes, arms } = found;
    let about = vec![
        problem.words(),
        format!(
            "Truth: {} exact steps of a walk whose rotations have the widths of the posterior (acceptance {:.2}, effective sample size \
             {:.0}): mean Amari distance {:.6} ± {:.1e}, posterior sd {:.6}. The distance is normalised to 0 … 1.",
            truth.steps, truth.acceptance, truth.effective, truth.mean, truth.standard_error, truth.sd
        ),
        format!(
            "Chains: {} per epsilon, {} CPU seconds each, W' = W·exp(σA) with σ = {step_sd:.2e}. The paper gives neither σ nor the \
             acceptance here; σ is that at which half of the candidates are accepted, the share it reports for updates in section 6.3. Looks \
             of {BATCH} samples, rounded up to blocks of 32. Chains start from states of the long run, so burn-in plays no part.",
            sizes.chains, sizes.seconds
        ),
        "Exact decisions compute the difference of both states, sample by sample, and scan the data in storage order; times are CPU times of a chain's \
         own thread."
            .into(),
    ];
    Outcome {
        title: "Independent component analysis: risk in the mean Amari distance".into(),
        about,
        settings: json!({
            "size": context.size, "seed": context.seed, "sizes": sizes, "batch": BATCH, "step_sd": step_sd,
            "epsilons": super::EPSILONS, "recorded": problem.recorded,
        }),
        numbers: json!({
            "truth_mean": truth.mean, "truth_standard_error": truth.standard_error, "truth_sd": truth.sd,
            "truth_effective": truth.effective, "widths": truth.widths, "kurtosis": problem.kurtosis,
            "exact_ns_per_sample": exact_nanoseconds(found),
        }),
        sections: vec![risk(found), parts(found), speed(found), ridge(found)],
        tables: vec![curves_table(arms), speed_table(found)],
    }
}

fn exact_nanoseconds(found: &Findings) -> f64 {
    1e9 / found.arms[0].steps_per_second / found.problem.model.len() as f64
}

fn label(arm: &Arm) -> String {
    format!("ε {}", arm.epsilon)
}

fn curves(arms: &[Arm], along: Along, of: fn(&Point) -> f64) -> Vec<Curve> {
    let points = |arm: &Arm| arm.curve.iter().map(|point| (along.of(point), of(point))).collect();
    arms.iter().map(|arm| Curve { label: label(arm), points: points(arm) }).collect()
}

fn panel(title: &str, along: Along, (arms, of): (&[Arm], fn(&Point) -> f64)) -> Panel {
    let axis = |label: &str| Axis::new(label, Scale::Logarithmic);
    let x = match along {
        Along::Seconds => "CPU seconds",
        Along::Evaluations => "likelihood evaluations",
    };
    Panel::new(title, axis(x), axis("squared Amari distance")).curves(curves(arms, along, of))
}

fn risk(found: &Findings) -> Section {
    let arms = &found.arms;
    let floor = found.truth.standard_error.powi(2);
    let total: fn(&Point) -> f64 = |at| at.risk.total;
    let figure = Figure {
        title: "Risk in the mean Amari distance".into(),
        panels: vec![
            panel("against time", Along::Seconds, (arms, total)).reference(floor),
            panel("against likelihood evaluations", Along::Evaluations, (arms, total)).reference(floor),
        ],
    };
    Section {
        title: "Risk against time (figure 3 of the paper)".into(),
        figure: Some(("ica_risk".into(), figure)),
        caption: "Mean squared error of the running mean of the Amari distance over the chains of each ε. Dotted: the squared standard \
                  error of the truth, below which nothing can be told. The exact rule evaluates both states on every sample, as a textbook's \
                  loop does."
            .into(),
        checks: claims::risk(arms, found.problem.is_the_papers()),
    }
}

fn parts(found: &Findings) -> Section {
    let arms = &found.arms;
    let figure = Figure {
        title: "Bias² and variance".into(),
        panels: vec![
            panel("bias²", Along::Seconds, (arms, |at| at.risk.bias_squared)),
            panel("variance", Along::Seconds, (arms, |at| at.risk.variance)),
        ],
    };
    Section {
        title: "The two parts of the risk".into(),
        figure: Some(("ica_parts".into(), figure)),
        caption: "Risk = bias² + variance between chains. The estimate of bias² is unbiased and so may be below 0 where there is none: such points \
                  are not drawn."
            .into(),
        checks: claims::parts(found),
    }
}

fn speed(found: &Findings) -> Section {
    let arms = &found.arms;
    let exact = arms[0].steps_per_second;
    let points: Vec<(f64, f64)> =
        arms[1..].iter().map(|arm| (arm.delta, arm.steps_per_second / exact)).collect();
    let figure = Figure {
        title: "A ratio bought by bias is no gain".into(),
        panels: vec![
            Panel::new(
                "steps per second against exact",
                Axis::new("mean |Δ| of the acceptance probability", Scale::Linear),
                Axis::new("ratio", Scale::Logarithmic),
            )
            .mark(Mark::Line { series: 0, points: points.clone() })
            .mark(Mark::Points { series: 0, points: points.clone() }),
        ],
    };
    let mut figure = figure;
    for (arm, at) in arms[1..].iter().zip(points) {
        figure.panels = figure
            .panels
            .into_iter()
            .map(|panel| panel.mark(Mark::Label { at, text: format!("ε = {}", arm.epsilon) }))
            .collect();
    }
    Section {
        title: "Steps per second and their price".into(),
        figure: Some(("ica_speed".into(), figure)),
        caption: "Steps per CPU second relative to the exact rule at ε = 0.01, 0.05, 0.1, 0.2, from left to right, against the mean error |Δ| of \
                  the acceptance probability by the theory of section 5 for moves of an exact chain."
            .into(),
        checks: claims::speed(arms, found.problem.model.len(), found.problem.is_the_papers()),
    }
}

fn ridge(found: &Findings) -> Section {
    let truth = &found.truth;
    let depth = truth.ridge.iter().map(|at| -at.1).fold(0.0, f64::max);
    let others = truth.widths[..RIDGE].iter().copied().fold(0.0, f64::max);
    let wide = truth.widths[RIDGE];
    let degrees = |angle: f64| angle.to_degrees();
    let figure = Figure {
        title: "Turning the two Gaussian sources".into(),
        panels: vec![
            Panel::new(
                "log posterior along the ridge",
                Axis::new("angle in degrees", Scale::Linear),
                Axis::new("below its largest", Scale::Linear),
            )
            .curves(vec![Curve {
                label: String::new(),
                points: truth.ridge.iter().map(|at| (degrees(at.0), at.1)).collect(),
            }]),
        ],
    };
    Section {
        title: "The ridge of the Gaussian sources".into(),
        figure: Some(("ica_ridge".into(), figure)),
        caption: format!(
            "Two Gaussian sources, rotated among themselves, are two Gaussian sources again: no amount of data tells which rotation is the \
             true one. What the curve shows is the chance of this sample, which grows like √N while everything else grows like N; a quarter \
             turn exchanges the two sources and brings it back to where it began. It is {depth:.1} deep, and the posterior is {wide:.1e} rad \
             wide along it against at most {others:.1e} rad across. The true rotation is not where this posterior is, so the mean Amari \
             distance ({:.3}) does not go to 0 as N grows; and a walk with the same σ in every plane crosses the ridge in steps that are {:.0} times \
             too short, which is why its chains differ so much from each other.",
            truth.mean,
            wide / others
        ),
        checks: claims::ridge(&truth.widths, found.problem.is_the_papers()),
    }
}

fn curves_table(arms: &[Arm]) -> Table {
    let mut table = Table::new(
        "risk",
        &["epsilon", "seconds", "evaluations", "steps", "risk", "bias_squared", "variance", "standard_error"],
    );
    for arm in arms {
        for at in &arm.curve {
            let numbers = [
                arm.epsilon,
                at.seconds,
                at.evaluations,
                at.steps,
                at.risk.total,
                at.risk.bias_squared,
                at.risk.variance,
                at.risk.standard_error,
            ];
            table.push(numbers.map(Into::into).into());
        }
    }
    table
}

fn speed_table(found: &Findings) -> Table {
    let columns = [
        "epsilon",
        "steps_per_second",
        "ratio_to_exact",
        "mean_abs_delta",
        "data_share",
        "predicted_data_share",
        "acceptance",
        "mean_amari",
        "sd_amari",
        "mean_bias_in_posterior_sds",
    ];
    let mut table = Table::new("speed", &columns);
    for arm in &found.arms {
        let numbers = [
            arm.epsilon,
            arm.steps_per_second,
            arm.steps_per_second / found.arms[0].steps_per_second,
            arm.delta,
            arm.data_share,
            arm.predicted_share,
            arm.acceptance,
            arm.mean,
            arm.sd,
            (arm.mean - found.truth.mean) / found.truth.sd,
        ];
        table.push(numbers.map(Into::into).into());
    }
    table
}
