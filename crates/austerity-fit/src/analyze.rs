//! `austerity analyze`: from ε to the error of the test, of a step, and of the stationary distribution.

use austerity::rule::{Law, Looks, SequentialSettings, Statistic};
use austerity::theory::stationary::{Scan, gibbs_bound, metropolis_bound};
use austerity::theory::{Accuracy, Bias, ErrorTable, Moves, Outcome, StepError, TestPlan, TestWalk};
use austerity_plot::{Axis, Curve, Figure, Panel, Scale};
use serde_json::{Value, json};

use crate::output::{Failure, json as print_json, picture, say};
use crate::refusal::Refusal;
use crate::request::{AnalyzeOptions, BoundChoice, Common, Keyword, StatisticChoice};
use crate::table::table;

/// Looks up to which every single one is computed.
const MANY_LOOKS: usize = 5000;

/// Everything that was computed about one test.
struct Analysis {
    looks: usize,
    walk: TestWalk,
    table: ErrorTable,
    step: Option<StepError>,
    bias: Option<(Bias, Option<f64>)>,
    distance: Option<Distance>,
}

/// Theorem 1: how far what is sampled can be from the posterior.
struct Distance {
    /// The largest |Δ|, of steps with this κ; the worst-case error where κ is not known.
    largest_delta: f64,
    kappa: Option<f64>,
    contraction: f64,
    bound: f64,
}

/// What was asked for, and the picture where one was.
fn analysis(options: &AnalyzeOptions) -> Result<Analysis, Failure> {
    check(options)?;
    let analysis = Analysis::new(options, options.epsilon)?;
    if let Some(path) = &options.plot {
        picture(path, &analysis.figure(options)?)?;
    }
    Ok(analysis)
}

/// The analysis as a value, which is that of `--json`.
pub fn answer(options: &AnalyzeOptions) -> Result<Value, Failure> {
    Ok(analysis(options)?.json(options))
}

/// Runs the analysis and prints it.
pub fn run(common: &Common, options: &AnalyzeOptions) -> Result<(), Failure> {
    let analysis = analysis(options)?;
    if common.json { print_json(&analysis.json(options)) } else { say(analysis.words(options)) }
}

/// Refuses values and combinations that would be ignored or mean nothing.
fn check(options: &AnalyzeOptions) -> Result<(), Failure> {
    if options.batch.is_some() && !options.looks.is_empty() {
        return Err(Refusal::Both(Keyword::Batch, Keyword::Looks).into());
    }
    let (mean, sd, compares) = (options.mean.is_some(), options.sd.is_some(), !options.compare.is_empty());
    let missing = [
        (options.batch.is_none() && options.looks.is_empty(), Keyword::Batch, "the first look needs rows"),
        (mean && !sd, Keyword::Sd, "a step is described by mean and sd"),
        (sd && !mean, Keyword::Mean, "a step is described by mean and sd"),
        (options.kappa.is_some() && options.energy.is_none(), Keyword::Energy, "kappa is about its steps"),
        (compares && options.plot.is_none(), Keyword::Plot, "levels are compared in it"),
        (compares && options.epsilon.is_none(), Keyword::Epsilon, "other levels are compared with it"),
    ];
    if let Some(&(_, keyword, why)) = missing.iter().find(|(missing, ..)| *missing) {
        return Err(Refusal::Missing { keyword, why }.into());
    }
    if let Some(bad) = options.mu_std.iter().find(|z| !z.is_finite()) {
        return Err(Refusal::range(Keyword::MuStd, bad, "finite numbers").into());
    }
    if matches!(options.bound, BoundChoice::WangTsiatis { .. }) && options.epsilon.is_some() {
        return Err(Refusal::EpsilonTwice.into());
    }
    if options.energy.is_some() && options.law == Law::Logistic {
        return Err(Refusal::EnergyLogistic.into());
    }
    Ok(())
}

/// The test that the options describe, at level `epsilon`.
fn settings(options: &AnalyzeOptions, epsilon: Option<f64>) -> Result<SequentialSettings, Failure> {
    let looks = match options.batch {
        Some(first) if first > options.n => {
            let allowed = format!("at most the {} rows", options.n);
            return Err(Refusal::range(Keyword::Batch, first, allowed).into());
        }
        Some(first) => Looks::Growing { first, growth: options.growth },
        None => Looks::Custom { rows: options.looks.clone() },
    };
    Ok(SequentialSettings {
        looks,
        bound: options.bound.with_epsilon(epsilon)?,
        statistic: match options.statistic {
            StatisticChoice::Normal => Statistic::Normal,
            StatisticChoice::T => Statistic::Student,
        },
        law: options.law,
        block_rows: options.block_rows,
        ..SequentialSettings::paper(1, 0.0)
    })
}

/// The moves of a chain, when their energy was given.
fn moves(options: &AnalyzeOptions) -> Option<Moves> {
    options.energy.map(|energy_root| Moves { energy_root, kappa: options.kappa.unwrap_or(energy_root) })
}

impl Analysis {
    fn new(options: &AnalyzeOptions, epsilon: Option<f64>) -> Result<Self, Failure> {
        let settings = settings(options, epsilon)?;
        let plan = TestPlan::of_settings(&settings, options.n)?;
        // All that are made, also those that cannot decide (a single row has no sd) and those after one that always does.
        let looks = settings.looks.schedule(options.n, options.block_rows)?.len();
        // Thousands of looks are merged where that changes no more than the fourth digit.
        let accuracy = if plan.looks() > MANY_LOOKS { Accuracy::Fast } else { Accuracy::Exact };
        let walk = TestWalk::new(plan, accuracy);
        let table = ErrorTable::new(&walk, accuracy);
        let step = match (options.mean, options.sd) {
            (Some(mean), Some(sd)) => {
                Some(table.step_of_moments(options.law, options.n, (mean, sd), options.offset)?)
            }
            _ => None,
        };
        let bias = match moves(options) {
            Some(moves) => Some((table.bias(options.law, moves)?, table.compensation(moves)?)),
            None => None,
        };
        let distance = options
            .bound_total_variation
            .map(|eta| Distance::of(options, (&walk, &table), eta))
            .transpose()?;
        Ok(Self { looks, walk, table, step, bias, distance })
    }

    fn json(&self, options: &AnalyzeOptions) -> Value {
        let worst = self.walk.worst_case();
        let worst = json!({"error": worst.error, "data_usage": worst.data_usage});
        let mut value = match &self.step {
            Some(step) => json!({
                "acceptance": step.acceptance,
                "delta": step.delta,
                "mean_error": step.mean_error,
                "data_usage": step.data_usage,
                "worst_case": worst,
            }),
            None => {
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
                    "worst_case": worst,
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
        if let Some(distance) = &self.distance {
            value["total_variation"] = json!({
                "largest_delta": distance.largest_delta,
                "kappa": distance.kappa,
                "contraction": distance.contraction,
                "bound": distance.bound,
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
                 {} in {:.2} % of the cases; it reads {:.1} % of the data.\n",
                step.acceptance,
                step.acceptance + step.delta,
                step.delta,
                if matches!(options.law, Law::Compensated { .. }) {
                    "It decides otherwise than all data would at the same compensated threshold"
                } else {
                    "It decides otherwise than all data would at the same threshold"
                },
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
            text += &self.advice(options, bias, *lambda);
        }
        text += &self.distance.as_ref().map_or(String::new(), |distance| distance.words(options));
        if let Some(path) = &options.plot {
            text += &format!("Curves: {}\n", path.display());
        }
        text.trim_end().into()
    }

    /// What λ would do, in words.
    fn advice(&self, options: &AnalyzeOptions, bias: &Bias, lambda: Option<f64>) -> String {
        let none =
            "No λ cancels that: the noise of the test is too large. Take larger batches or a smaller ε.\n";
        let (Some(lambda), Some(moves)) = (lambda, moves(options)) else { return none.into() };
        match self.table.bias(Law::Compensated { lambda }, moves) {
            Ok(after) if after.mean_defect < bias.mean_defect => format!(
                "Dividing log u by λ = {lambda:.3} brings the sds back (--law compensated:{lambda:.3}); the mean defect of detailed \
                 balance, what is left of the bias, is then {:.4} instead of {:.4}.\n",
                after.mean_defect, bias.mean_defect
            ),
            _ => none.into(),
        }
    }

    /// E and π̄ against |μ_std|, Δ against P for the κ of the step (or D, or 1), and with an energy the bias against ε.
    fn figure(&self, options: &AnalyzeOptions) -> Result<Figure, Failure> {
        let kappa = match (options.sd, options.kappa.or(options.energy)) {
            (Some(sd), _) => austerity::theory::kappa(sd, options.n)?,
            (None, Some(kappa)) => kappa,
            (None, None) => 1.0,
        };
        let others: Vec<Self> = options
            .compare
            .iter()
            .map(|&epsilon| Self::new(options, Some(epsilon)))
            .collect::<Result<_, _>>()?;
        let levels = options.epsilon.into_iter().chain(options.compare.iter().copied()).map(Some);
        let levels: Vec<Option<f64>> = if options.epsilon.is_some() { levels.collect() } else { vec![None] };
        let (mut errors, mut usage, mut deltas) = (Vec::new(), Vec::new(), Vec::new());
        for (analysis, level) in std::iter::once(self).chain(&others).zip(levels) {
            let label = level.map_or_else(|| "given bound".into(), |epsilon| format!("ε = {epsilon}"));
            let drifts = (0..=160).map(|i| 0.05 * f64::from(i));
            let outcomes: Vec<_> = drifts.map(|z| (z, analysis.walk.outcome(z))).collect();
            let points = |value: fn(&Outcome) -> f64| outcomes.iter().map(|(z, o)| (*z, value(o))).collect();
            errors.push(Curve { label: label.clone(), points: points(|o| o.error) });
            usage.push(Curve { label: label.clone(), points: points(|o| o.data_usage) });
            let mut delta = Curve { label, points: Vec::new() };
            for i in 1..=200 {
                let step = analysis.table.step(options.law, (f64::from(i) / 200.0).ln(), kappa)?;
                delta.points.push((step.acceptance, step.delta));
            }
            deltas.push(delta);
        }
        let distance = "|μ − μ0|√(N−1)/σ";
        let mut panels = vec![
            Panel::new(
                "error of the test",
                Axis::new(distance, Scale::Linear),
                Axis::new("E", Scale::Logarithmic),
            )
            .curves(errors),
            Panel::new(
                "data read",
                Axis::new(distance, Scale::Linear),
                Axis::new("share of the data", Scale::Linear).with_limits(0.0, 1.0),
            )
            .curves(usage),
            Panel::new(
                format!("error of one step, κ = {kappa:.2}"),
                Axis::new("acceptance probability of the exact rule", Scale::Linear).with_limits(0.0, 1.0),
                Axis::new("Δ", Scale::Linear),
            )
            .curves(deltas)
            .reference(0.0),
        ];
        if let (Some(moves), Some(_)) = (moves(options), options.epsilon) {
            panels.push(
                Panel::new(
                    format!("predicted bias of a chain, D = {}", moves.energy_root),
                    Axis::new("ε", Scale::Logarithmic),
                    Axis::new("posterior sd / true sd", Scale::Linear),
                )
                .curves(bias_curves(options, moves)?)
                .reference(1.0),
            );
        }
        Ok(Figure { title: format!("N = {}, {} looks", options.n, self.looks), panels })
    }
}

impl Distance {
    fn of(
        options: &AnalyzeOptions,
        (walk, table): (&TestWalk, &ErrorTable),
        eta: f64,
    ) -> Result<Self, Failure> {
        if !(0.0..1.0).contains(&eta) {
            let allowed = "a number from 0 to below 1";
            return Err(Refusal::range(Keyword::BoundTotalVariation, eta, allowed).into());
        }
        let kappa = match (options.sd, moves(options)) {
            (Some(sd), _) => Some(austerity::theory::kappa(sd, options.n)?),
            (None, moves) => moves.map(|moves| moves.kappa),
        };
        let largest_delta = match kappa {
            Some(kappa) => table.largest_delta(options.law, kappa)?.1.delta.abs(),
            None if matches!(options.law, Law::Compensated { .. }) => {
                let why =
                    "a compensated threshold errs by more than the test does: the spread of a step is needed";
                return Err(Refusal::Missing { keyword: Keyword::Sd, why }.into());
            }
            None => walk.worst_case().error,
        };
        let bound = match options.sites {
            None => metropolis_bound(largest_delta, eta)?,
            Some(sites) if options.law == Law::Logistic && sites > 0 => {
                gibbs_bound(largest_delta, eta, Scan::Systematic { sites })?
            }
            Some(sites) => {
                let allowed = "at least 1, with --law logistic: variables of a Gibbs sweep";
                return Err(Refusal::range(Keyword::Sites, sites, allowed).into());
            }
        };
        Ok(Self { largest_delta, kappa, contraction: eta, bound })
    }

    fn words(&self, options: &AnalyzeOptions) -> String {
        let Self { largest_delta, kappa, contraction, bound } = self;
        let (step, factor) = match options.sites {
            None => ("step", String::new()),
            Some(sites) => ("sweep", format!("{sites}·")),
        };
        let of = match kappa {
            Some(kappa) => format!("the largest |Δ| of a step with κ = {kappa:.3} is {largest_delta:.4}"),
            None => format!("|Δ| is at most E(0) = {largest_delta:.4}, whatever the step"),
        };
        let known = if *bound < 1.0 { "" } else { ", so the theorem says nothing" };
        format!(
            "Total variation distance from the posterior (Theorem 1): at most {factor}Δ_max/(1 − η) = {bound:.4}{known}; {of}, and exact chains bring \
             distributions closer by η = {contraction} per {step}.\n"
        )
    }
}

/// sd inflation against ε, under the plain threshold and under the λ that cancels it where one exists.
fn bias_curves(options: &AnalyzeOptions, moves: Moves) -> Result<Vec<Curve>, Failure> {
    let mut plain = Curve { label: "plain".into(), points: Vec::new() };
    let mut compensated = Curve { label: "compensated".into(), points: Vec::new() };
    for i in 0..=24 {
        let epsilon = 0.001 * 300f64.powf(f64::from(i) / 24.0);
        let plan = TestPlan::of_settings(&settings(options, Some(epsilon))?, options.n)?;
        let table = ErrorTable::new(&TestWalk::new(plan, Accuracy::Fast), Accuracy::Fast);
        plain.points.push((epsilon, table.bias(Law::Metropolis, moves)?.sd_inflation));
        if let Some(lambda) = table.compensation(moves)? {
            let bias = table.bias(Law::Compensated { lambda }, moves)?;
            compensated.points.push((epsilon, bias.sd_inflation));
        }
    }
    Ok(vec![plain, compensated])
}
