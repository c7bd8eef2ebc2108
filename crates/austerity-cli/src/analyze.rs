//! `austerity analyze`: from ε to the error of the test, of a step, and of the stationary distribution.

use austerity::rule::{Looks, SequentialSettings, Statistic};
use austerity::theory::{Accuracy, Bias, ErrorTable, Moves, Plan, RandomWalk, StepError};
use serde_json::{Value, json};

use crate::arguments::{AnalyzeOptions, Common, StatisticChoice};
use crate::output::{Failure, json as print_json, picture, say};
use crate::plot::{Axis, Curve, Figure, Panel, Scale};
use crate::table::table;

/// Everything that was computed.
struct Analysis {
    looks: usize,
    walk: RandomWalk,
    table: ErrorTable,
    step: Option<StepError>,
    bias: Option<(Bias, Option<f64>)>,
}

/// Runs the analysis.
pub(crate) fn run(common: &Common, options: &AnalyzeOptions) -> Result<(), Failure> {
    let analysis = Analysis::new(options)?;
    if let Some(path) = &options.plot {
        picture(path, &analysis.figure(options)?)?;
    }
    if common.json { print_json(&analysis.json(options)) } else { say(analysis.words(options)) }
}

impl Analysis {
    fn new(options: &AnalyzeOptions) -> Result<Self, Failure> {
        let looks = match options.batch {
            Some(first) if first > options.n => {
                return Err(Failure::Usage(format!(
                    "--batch is {first}; allowed: at most the {} rows of --n",
                    options.n
                )));
            }
            Some(first) => Looks::Growing { first, growth: options.growth },
            None => Looks::Custom { rows: options.looks.clone() },
        };
        let settings = SequentialSettings {
            looks,
            bound: options.bound.with_epsilon(options.epsilon).map_err(Failure::Usage)?,
            statistic: match options.statistic {
                StatisticChoice::Normal => Statistic::Normal,
                StatisticChoice::T => Statistic::Student,
            },
            law: options.law,
            block_rows: options.block_rows,
            ..SequentialSettings::paper(1, 0.0)
        };
        if let Some(bad) = options.mu_std.iter().find(|z| z.is_nan()) {
            return Err(Failure::Usage(format!("--mu-std has {bad}; allowed: numbers")));
        }
        let plan = Plan::of_settings(&settings, options.n)?;
        let looks = plan.looks();
        let walk = RandomWalk::new(plan, Accuracy::Exact);
        let table = ErrorTable::new(&walk, Accuracy::Exact);
        let step = match (options.mean, options.sd) {
            (Some(mean), Some(sd)) => {
                Some(table.step_of_moments(options.law, options.n, mean, sd, options.offset)?)
            }
            _ => None,
        };
        let bias = match options.energy {
            Some(energy_root) => {
                let moves = Moves { energy_root, kappa: options.kappa.unwrap_or(energy_root) };
                Some((table.bias(options.law, moves)?, table.compensation(moves)?))
            }
            None => None,
        };
        Ok(Self { looks, walk, table, step, bias })
    }

    fn json(&self, options: &AnalyzeOptions) -> Value {
        let mut value = match &self.step {
            Some(step) => json!({
                "acceptance": step.acceptance,
                "delta": step.delta,
                "mean_error": step.mean_error,
                "data_usage": step.data_usage,
            }),
            None => {
                let worst = self.walk.worst_case();
                let points: Vec<Value> = options
                    .mu_std
                    .iter()
                    .map(|&z| {
                        let outcome = self.walk.outcome(z);
                        json!({"mu_std": z, "error": outcome.error, "data_usage": outcome.data_usage})
                    })
                    .collect();
                json!({
                    "looks": self.looks,
                    "worst_case": {"error": worst.error, "data_usage": worst.data_usage},
                    "points": points,
                })
            }
        };
        if let Some((bias, lambda)) = &self.bias {
            value["bias"] = json!({
                "inverse_temperature": bias.inverse_temperature,
                "sd_inflation": bias.sd_inflation,
                "acceptance": bias.acceptance,
                "data_usage": bias.data_usage,
                "mean_delta": bias.mean_delta,
                "mean_defect": bias.mean_defect,
                "compensation": lambda,
            });
        }
        value
    }

    fn words(&self, options: &AnalyzeOptions) -> String {
        let worst = self.walk.worst_case();
        let mut text = format!(
            "{} looks at a population of {} rows.\nWorst case (the mean is at the threshold): wrong in {:.2} % of the cases, \
             reading {:.1} % of the data.\n",
            self.looks,
            options.n,
            100.0 * worst.error,
            100.0 * worst.data_usage
        );
        let mut curves = table(&["(μ − μ0)√(N−1)/σ", "error E", "data read"]);
        for &z in &options.mu_std {
            let outcome = self.walk.outcome(z);
            curves.add_row([
                format!("{z}"),
                format!("{:.6}", outcome.error),
                format!("{:.2} %", 100.0 * outcome.data_usage),
            ]);
        }
        text += &format!("{curves}\n");
        if let Some(step) = &self.step {
            text += &format!(
                "One step: the exact rule accepts with probability {:.4}, the test with {:.4} (Δ = {:+.4}).\n\
                 Its decision differs from the exact one in {:.2} % of the cases; it reads {:.1} % of the data.\n",
                step.acceptance,
                step.acceptance + step.delta,
                step.delta,
                100.0 * step.mean_error,
                100.0 * step.data_usage
            );
        }
        if let Some((bias, lambda)) = &self.bias {
            text += &format!(
                "A chain on a Gaussian target: samples the posterior to the power {:.3}, so that sds are {:.3} times the true ones;\n\
                 accepts {:.1} %, reads {:.1} % of the data per decision.\n",
                bias.inverse_temperature,
                bias.sd_inflation,
                100.0 * bias.acceptance,
                100.0 * bias.data_usage
            );
            text += &match lambda {
                Some(lambda) => format!("Dividing log u by λ = {lambda:.3} cancels that: --law compensated:{lambda:.3}.\n"),
                None => "No λ cancels that: the noise of the test is too large. Take larger batches or a smaller ε.\n".into(),
            };
        }
        if let Some(path) = &options.plot {
            text += &format!("Curves: {}\n", path.display());
        }
        text.trim_end().into()
    }

    /// E and π̄ against |μ_std|, and Δ against P for the κ of the step (or D, or 1).
    fn figure(&self, options: &AnalyzeOptions) -> Result<Figure, Failure> {
        let drifts: Vec<f64> = (0..=160).map(|i| 0.05 * f64::from(i)).collect();
        let curve = |label: &str, value: &dyn Fn(f64) -> f64| Curve {
            label: label.into(),
            points: drifts.iter().map(|&z| (z, value(z))).collect(),
        };
        let kappa = match (options.sd, options.kappa.or(options.energy)) {
            (Some(sd), _) => austerity::theory::kappa(sd, options.n)?,
            (None, Some(kappa)) => kappa,
            (None, None) => 1.0,
        };
        let mut delta = Curve { label: format!("Δ, κ = {kappa:.3}"), points: Vec::new() };
        let mut errors = Curve { label: "mean error".into(), points: Vec::new() };
        for i in 1..200 {
            let acceptance = f64::from(i) / 200.0;
            let step = self.table.step(options.law, acceptance.ln(), kappa)?;
            delta.points.push((step.acceptance, step.delta));
            errors.points.push((step.acceptance, step.mean_error));
        }
        let distance = "|μ − μ0|√(N−1)/σ";
        Ok(Figure {
            title: format!("N = {}, {} looks", options.n, self.looks),
            panels: vec![
                Panel {
                    title: "error of the test".into(),
                    x: Axis::new(distance, Scale::Linear),
                    y: Axis::new("E", Scale::Logarithmic),
                    curves: vec![curve("E", &|z| self.walk.outcome(z).error)],
                    reference: None,
                },
                Panel {
                    title: "data read".into(),
                    x: Axis::new(distance, Scale::Linear),
                    y: Axis::new("share of the data", Scale::Linear).with_limits(0.0, 1.0),
                    curves: vec![curve("π̄", &|z| self.walk.outcome(z).data_usage)],
                    reference: None,
                },
                Panel {
                    title: "error of one step".into(),
                    x: Axis::new("acceptance probability of the exact rule", Scale::Linear)
                        .with_limits(0.0, 1.0),
                    y: Axis::new("Δ", Scale::Linear),
                    curves: vec![delta, errors],
                    reference: Some(0.0),
                },
            ],
        })
    }
}
