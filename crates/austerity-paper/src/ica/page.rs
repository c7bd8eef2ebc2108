//! What the page of the experiment shows and which claims it checks.

use austerity::model::Model as _;
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};
use serde_json::json;

use super::stationary::RIDGE;
use super::{Arm, BATCH, Findings};
use crate::context::Context;
use crate::curves::Point;
use crate::outcome::{Check, Outcome, Section, Table};

/// Nanoseconds per sample that an exact step may take.
const EXACT_STEP: f64 = 4.0;

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

/// Whether the paper's claims, which are about its own data, can be judged.
fn paper_data(found: &Findings) -> bool {
    found.problem.is_the_papers()
}

fn exact_nanoseconds(found: &Findings) -> f64 {
    1e9 / found.arms[0].steps_per_second / found.problem.model.len() as f64
}

fn label(arm: &Arm) -> String {
    format!("ε {}", arm.epsilon)
}

fn curves(arms: &[Arm], of: fn(&Point) -> f64) -> Vec<Curve> {
    let points = |arm: &Arm| arm.curve.iter().map(|point| (point.seconds, of(point))).collect();
    arms.iter().map(|arm| Curve { label: label(arm), points: points(arm) }).collect()
}

fn panel(title: &str, arms: &[Arm], of: fn(&Point) -> f64) -> Panel {
    let axis = |label: &str| Axis::new(label, Scale::Logarithmic);
    Panel::new(title, axis("CPU seconds"), axis("squared Amari distance")).curves(curves(arms, of))
}

fn last(arm: &Arm) -> Option<&Point> {
    arm.curve.last()
}

fn final_risks(arms: &[Arm]) -> String {
    let one = |arm: &Arm| {
        last(arm).map_or("–".into(), |at| format!("{:.2e} ± {:.0e}", at.risk.total, at.risk.standard_error))
    };
    arms.iter().map(|arm| format!("ε {}: {}", arm.epsilon, one(arm))).collect::<Vec<_>>().join("; ")
}

fn risk(found: &Findings) -> Section {
    let arms = &found.arms;
    let total = |arm: &Arm| last(arm).map_or(f64::INFINITY, |at| at.risk.total);
    let best = arms.iter().min_by(|a, b| total(a).total_cmp(&total(b)));
    let exact = &arms[0];
    let (best_epsilon, best_total) = best.map_or((f64::NAN, f64::NAN), |arm| (arm.epsilon, total(arm)));
    // Clear when the paper's winner and the best other are apart by more than their noise.
    let noise = |arm: &Arm| last(arm).map_or(f64::INFINITY, |at| at.risk.standard_error);
    let winner = arms.iter().find(|arm| arm.epsilon == 0.1).unwrap_or(exact);
    let others = arms.iter().filter(|arm| arm.epsilon != 0.1);
    let rival = others.min_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or(exact);
    let apart = (total(winner) - total(rival)).abs() > 2.0 * noise(winner).hypot(noise(rival));
    let floor = found.truth.standard_error.powi(2);
    let figure = Figure {
        title: "Risk in the mean Amari distance".into(),
        panels: vec![panel("risk", arms, |at| at.risk.total).reference(floor)],
    };
    let checks = vec![
        Check::new(
            "lowest risk at the end",
            "“The lowest risk at 6400 secs is obtained with ε = 0.1 and not the exact MH algorithm (ε = 0).”",
            "ε = 0.1 has the lowest risk at the end of the chains",
            format!("lowest at ε = {best_epsilon} ({best_total:.2e}). {}", final_risks(arms)),
            best_epsilon == 0.1,
        )
        .clear_if(paper_data(found) && apart)
        .remark(format!(
            "Chains of {} CPU seconds, {:.0} exact steps each; ± is the standard error over {} chains.",
            found.sizes.seconds,
            last(exact).map_or(f64::NAN, |at| at.steps),
            found.sizes.chains
        )),
        still_falling(found),
    ];
    Section {
        title: "Risk against time (figure 3 of the paper)".into(),
        figure: Some(("ica_risk".into(), figure)),
        caption: "Mean squared error of the running mean of the Amari distance over the chains of each ε. Dotted: the squared standard \
                  error of the truth, below which nothing can be told."
            .into(),
        checks,
    }
}

/// "still decreasing risk, except for the most biased algorithm with ε = 0.2".
fn still_falling(found: &Findings) -> Check {
    let ratio = |arm: &Arm| -> Option<f64> {
        let end = last(arm)?;
        let middle = arm.curve.iter().find(|at| at.seconds >= 0.25 * end.seconds)?;
        Some(end.risk.total / middle.risk.total)
    };
    let ratios: Vec<(f64, f64)> =
        found.arms.iter().map(|arm| (arm.epsilon, ratio(arm).unwrap_or(f64::NAN))).collect();
    let holds =
        ratios.iter().all(|&(epsilon, ratio)| if epsilon == 0.2 { ratio > 0.5 } else { ratio < 0.75 });
    let words = ratios.iter().map(|(epsilon, ratio)| format!("ε {epsilon}: {ratio:.2}")).collect::<Vec<_>>();
    Check::new(
        "risk still falling",
        "“Even after 6400 secs the variance dominates the bias, as evidenced by the still decreasing risk, except for the most biased \
         algorithm with ε = 0.2.”",
        "risk at the end below 0.75 of that at a quarter of the time (a quarter where variance rules), above 0.5 for ε = 0.2",
        words.join("; "),
        holds,
    )
    .clear_if(paper_data(found))
}

fn parts(found: &Findings) -> Section {
    let arms = &found.arms;
    let figure = Figure {
        title: "Bias² and variance".into(),
        panels: vec![
            panel("bias²", arms, |at| at.risk.bias_squared),
            panel("variance", arms, |at| at.risk.variance),
        ],
    };
    let dominated = |arm: &Arm| last(arm).map(|at| at.risk.bias_squared > at.risk.variance);
    let holds = arms[1..].iter().all(|arm| dominated(arm) == Some(arm.epsilon == 0.2));
    let words = arms[1..].iter().filter_map(|arm| {
        let at = last(arm)?;
        let bias = (arm.mean - found.truth.mean) / found.truth.sd;
        Some(format!(
            "ε {}: bias² {:.1e}, variance {:.1e} (mean off by {bias:.2} posterior sds, sd {:.2} times the posterior's)",
            arm.epsilon,
            at.risk.bias_squared,
            at.risk.variance,
            arm.sd / found.truth.sd
        ))
    });
    Section {
        title: "The two parts of the risk".into(),
        figure: Some(("ica_parts".into(), figure)),
        caption: "Risk = bias² + variance between chains. The estimate of bias² is unbiased and so may be below 0 where there is none: such points \
                  are not drawn."
            .into(),
        checks: vec![
            Check::new(
                "variance dominates",
                "“Even after 6400 secs the variance dominates the bias … except for the most biased algorithm with ε = 0.2.”",
                "bias² below the variance at the end for ε = 0.01, 0.05, 0.1, above it for 0.2",
                words.collect::<Vec<_>>().join("; "),
                holds,
            )
            .clear_if(paper_data(found))
            .remark(format!(
                "With N = {} and looks of {BATCH} a decision has up to {} looks, each of which may err.",
                found.problem.model.len(),
                found.problem.model.len().div_ceil(BATCH)
            )),
        ],
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
            .mark(Mark::Points { series: 0, points }),
        ],
    };
    let words = arms[1..].iter().map(|arm| {
        let ratio = arm.steps_per_second / exact;
        format!("ε {}: {ratio:.1} times, mean |Δ| {:.3}", arm.epsilon, arm.delta)
    });
    let small = |arm: &&Arm| arm.delta <= 0.01 && arm.steps_per_second > exact;
    let nanoseconds = exact_nanoseconds(found);
    Section {
        title: "Steps per second and their price".into(),
        figure: Some(("ica_speed".into(), figure)),
        caption: "Steps per CPU second relative to the exact rule at ε = 0.01, 0.05, 0.1, 0.2, from left to right, against the mean error |Δ| of \
                  the acceptance probability by the theory of section 5 for moves of an exact chain."
            .into(),
        checks: vec![
            Check::new(
                "faster at little bias",
                "Section 5: a tolerance on the mean |Δ| keeps the stationary distribution near the posterior; the gain must be had within it.",
                "some ε makes more steps than exact with a mean |Δ| of at most 0.01",
                words.collect::<Vec<_>>().join("; "),
                arms[1..].iter().any(|arm| small(&arm)),
            )
            .clear_if(paper_data(found))
            .remark("Fewer data per decision are a gain only as far as the decisions stay the same."),
            Check::new(
                "exact step",
                "The exact step should cost at most 4 ns per sample and core, so that ratios are not flattered by a slow baseline.",
                format!("at most {EXACT_STEP} ns"),
                format!("{nanoseconds:.2} ns per sample, {exact:.1} steps per second"),
                nanoseconds <= EXACT_STEP,
            )
            .remark("CPU time; other work on the machine shares its memory and raises it."),
        ],
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
        checks: vec![Check::new(
            "a ridge, by design",
            "Two Gaussian sources leave a rotation that the data do not determine.",
            "the posterior at least 10 times as wide in the plane of the two Gaussian sources as in any other",
            format!("{wide:.2e} rad against {others:.2e} rad: {:.0} times", wide / others),
            wide >= 10.0 * others,
        )
        .clear_if(paper_data(found))
        .remark("The number 10 is ours, for the paper's N: the ratio grows like N^¼.")],
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
