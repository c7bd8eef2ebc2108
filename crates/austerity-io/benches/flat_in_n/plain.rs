//! A design without surprises: the posterior is nearly normal, so the proposal is nearly the posterior.

use austerity::proposal::Proposal;
use austerity::rng::{Role, seek, stream};
use austerity::rule::RuleSettings;
use austerity_glm::glm::expansion::GlmExpansion;
use austerity_glm::proposal::{CrankNicolson, TransitionPlan};
use austerity_glm::{Glm, Logistic, Prior, ResponseKind, Surrogate, generate};
use austerity_plot::{Axis, Curve, Figure, Panel, Scale};

use crate::rate::{MEASURED, Rate, cpu_time, expansion_settings, measure, residual_rule};

/// N, the rate of the surrogate, that of Laplace draws, and microseconds of an exact step.
type Row = (usize, Rate, f64, f64);

/// Features beside the intercept.
const FEATURES: usize = 19;

pub(crate) fn run(sizes: &[usize]) {
    println!("logistic, d = {}, one core; the smallest ESS of a parameter", FEATURES + 1);
    println!(
        "{:>10} {:>5} {:>8} {:>7} {:>8} {:>8} {:>9} {:>8} {:>10} {:>10} {:>9} {:>10}",
        "N",
        "order",
        "set-up",
        "passes",
        "rows",
        "accept",
        "us/step",
        "ESS/step",
        "ESS/s",
        "tails/s",
        "Laplace/s",
        "exact us"
    );
    let rates: Vec<Row> = sizes.iter().map(|&rows| measured(rows)).collect();
    report(&rates);
    plot(&rates);
}

/// Prints the line of so many rows.
fn measured(rows: usize) -> Row {
    let made = generate::logistic(rows, FEATURES).seed(1).build().expect("data");
    let data = made.data.check(ResponseKind::Binary).expect("checked data");
    let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); FEATURES + 1]).expect("a model");
    drop(data);
    let start = vec![0.0; FEATURES + 1];
    let mut best: Option<GlmExpansion<Logistic>> = None;
    for _ in 0..3 {
        let expansion = GlmExpansion::new(&model, &start, &expansion_settings()).expect("an expansion");
        if best.as_ref().is_none_or(|b| expansion.report().seconds < b.report().seconds) {
            best = Some(expansion);
        }
    }
    let surrogate = Surrogate::new(best.expect("three expansions"));
    let expansion = surrogate.expansion();
    let report = expansion.report().clone();
    let plan = TransitionPlan::pilot(expansion, (expansion.mode(), expansion.covariance()), None, 1)
        .expect("a plan");
    let transition = plan.build(expansion).expect("a transition");
    let (rate, _) =
        measure(&surrogate, transition, &residual_rule(&report), plan.mean.clone(), (u64::MAX, MEASURED, 0));
    // Drawing from the Laplace approximation, with the same generator.
    let mut draws = CrankNicolson::new(&plan.mean, &plan.covariance, 0.0).expect("draws");
    let mut rng = stream(1, 0, Role::Proposal);
    let (from, mut to) = (plan.mean.clone(), plan.mean.clone());
    let (begun, count) = (cpu_time(), 1_000_000u64);
    for step in 0..count {
        seek(&mut rng, step);
        draws.propose(&from, &mut to, &mut rng).expect("a draw");
        std::hint::black_box(&to);
    }
    let laplace = count as f64 / (cpu_time() - begun).as_secs_f64();
    let exact = {
        let draws = CrankNicolson::new(&plan.mean, &plan.covariance, plan.correlation).expect("draws");
        let (rate, _) =
            measure(&model, draws, &RuleSettings::default(), plan.mean.clone(), (100_000, MEASURED, 0));
        1e6 / rate.steps_per_second
    };
    println!(
        "{rows:>10} {:>5} {:>7.2}s {:>7} {:>8.1} {:>8.3} {:>9.3} {:>8.3} {:>10.0} {:>10.0} {:>9.0} {:>10.1}",
        report.order,
        report.seconds,
        report.passes,
        rate.rows,
        rate.acceptance,
        1e6 / rate.steps_per_second,
        rate.effective_per_second / rate.steps_per_second,
        rate.effective_per_second,
        rate.tails_per_second,
        laplace,
        exact,
    );
    (rows, rate, laplace, exact)
}

/// Prints what is required of all sizes together.
fn report(rates: &[Row]) {
    let each = |f: fn(&Rate) -> f64| rates.iter().map(|(_, rate, ..)| f(rate)).collect::<Vec<_>>();
    let speeds = each(|rate| rate.effective_per_second);
    let (most, least) =
        (speeds.iter().copied().fold(0.0, f64::max), speeds.iter().copied().fold(f64::INFINITY, f64::min));
    println!("flat within × {:.2} (required 1.6)", most / least);
    if let Some((rows, rate, _, exact)) = rates.last() {
        println!(
            "against exact with the same proposal at N = {rows}: {:.0} × per step (required 40,000 at 10⁷)",
            exact * rate.steps_per_second / 1e6
        );
    }
    let share = |of: fn(&Rate) -> f64| {
        rates.iter().map(|(_, rate, laplace, _)| of(rate) / laplace).fold(f64::INFINITY, f64::min)
    };
    println!(
        "share of the rate of Laplace draws, the smallest: {:.3} by bulk, {:.3} by tails (required 0.167)",
        share(|rate| rate.effective_per_second),
        share(|rate| rate.tails_per_second)
    );
}

/// Effective samples per second against N: surrogate, Laplace draws, exact.
fn plot(rates: &[Row]) {
    let line = |label: &str, value: &dyn Fn(&Row) -> f64| Curve {
        label: label.into(),
        points: rates.iter().map(|row| (row.0 as f64, value(row))).collect(),
    };
    let share = |rate: &Rate| rate.effective_per_second / rate.steps_per_second;
    let panel = Panel::new(
        "logistic regression, d = 20, one core",
        Axis::new("N", Scale::Logarithmic),
        Axis::new("effective samples per second", Scale::Logarithmic),
    )
    .curves(vec![
        line("surrogate", &|row| row.1.effective_per_second),
        line("draws from the Laplace approximation", &|row| row.2),
        line("exact, same proposal", &|row| 1e6 / row.3 * share(&row.1)),
    ]);
    let figure = Figure { title: "Cost per decision, flat in N".into(), panels: vec![panel] };
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/flat-in-n.svg");
    match std::fs::write(&path, figure.svg()) {
        Ok(()) => println!("plot: target/flat-in-n.svg"),
        Err(error) => println!("the plot could not be written: {error}"),
    }
}
