//! A design without surprises: the posterior is nearly normal, so the proposal is nearly the posterior.

use std::time::Duration;

use austerity::diagnostics::ess_bulk;
use austerity::model::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity::model::{Glm, Logistic, Prior, ResponseKind, Surrogate, generate};
use austerity::proposal::{CrankNicolson, Proposal, TransitionPlan};
use austerity::rng::{Role, seek, stream};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Chain, ChainCheckpoint, Counters, Settings};

/// Features beside the intercept.
const FEATURES: usize = 19;
/// Time that a rate is measured for.
const MEASURED: Duration = Duration::from_secs(3);

/// The rule of the defaults for residuals.
pub(crate) fn residual_rule() -> RuleSettings {
    RuleSettings::Sequential(SequentialSettings::residuals())
}

/// CPU time of this thread: a busy machine does not count.
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What a chain did in a while.
pub(crate) struct Rate {
    pub(crate) steps_per_second: f64,
    pub(crate) effective_per_second: f64,
    pub(crate) rows: f64,
    pub(crate) acceptance: f64,
}

/// Steps of one chain for a while, its states kept, and the smallest effective sample size of a parameter per second.
pub(crate) fn measure<M, P>(
    model: &M,
    proposal: P,
    rule: RuleSettings,
    start: Vec<f64>,
    most: u64,
) -> (Rate, Vec<Vec<f64>>)
where
    M: austerity::model::Model<State = Vec<f64>>,
    P: Proposal<Vec<f64>>,
{
    let settings = Settings { rule: rule.clone(), warmup: 0, draws: 1, chains: 1, ..Settings::default() };
    let rule = rule.build(model.len()).expect("a valid rule");
    let checkpoint = ChainCheckpoint {
        state: start,
        proposal,
        step: 0,
        warmup: Counters::default(),
        sampling: Counters::default(),
    };
    let mut chain = Chain::new(model, &settings, rule, 0, checkpoint).expect("a chain");
    let d = chain.state().len();
    let mut draws: Vec<Vec<f64>> = vec![Vec::new(); d];
    let (begun, mut made) = (cpu_time(), 0u64);
    while made < most && (cpu_time() - begun < MEASURED || made < 100) {
        for _ in 0..100.min(most - made) {
            chain.step().expect("a step");
            for (draws, value) in draws.iter_mut().zip(chain.state()) {
                draws.push(*value);
            }
            made += 1;
        }
    }
    let seconds = (cpu_time() - begun).as_secs_f64();
    let smallest = draws.iter().map(|draws| ess_bulk(&[draws])).fold(f64::INFINITY, f64::min);
    let counters = chain.sampling();
    let rate = Rate {
        steps_per_second: made as f64 / seconds,
        effective_per_second: smallest / seconds,
        rows: counters.rows as f64 / counters.steps as f64,
        acceptance: counters.acceptance(),
    };
    (rate, draws)
}

pub(crate) fn run(sizes: &[usize]) {
    println!("logistic, d = {}, one core; the smallest ESS of a parameter", FEATURES + 1);
    println!(
        "{:>10} {:>8} {:>7} {:>8} {:>8} {:>9} {:>8} {:>10} {:>9} {:>10}",
        "N", "set-up", "passes", "rows", "accept", "us/step", "ESS/step", "ESS/s", "Laplace/s", "exact us"
    );
    let mut rates = Vec::new();
    for &rows in sizes {
        let made = generate::logistic(rows, FEATURES).seed(1).build().expect("data");
        let data = made.data.check(ResponseKind::Binary).expect("checked data");
        let model =
            Glm::new(Logistic, &data, vec![Prior::Normal { sd: 1.0 }; FEATURES + 1]).expect("a model");
        drop(data);
        let start = vec![0.0; FEATURES + 1];
        let mut best: Option<GlmExpansion<Logistic>> = None;
        for _ in 0..3 {
            let expansion =
                GlmExpansion::new(&model, &start, &ExpansionSettings::default()).expect("an expansion");
            if best.as_ref().is_none_or(|b| expansion.report().seconds < b.report().seconds) {
                best = Some(expansion);
            }
        }
        let surrogate = Surrogate::new(best.expect("three expansions"));
        let expansion = surrogate.expansion();
        let report = expansion.report().clone();
        let plan = TransitionPlan::pilot(expansion, expansion.mode(), expansion.covariance(), None, 1)
            .expect("a plan");
        let transition = plan.build(expansion).expect("a transition");
        let (rate, _) = measure(&surrogate, transition, residual_rule(), plan.mean.clone(), u64::MAX);
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
            let draws = CrankNicolson::new(&plan.mean, &plan.covariance, 0.0).expect("draws");
            let (rate, _) = measure(&model, draws, RuleSettings::default(), plan.mean.clone(), 100_000);
            1e6 / rate.steps_per_second
        };
        println!(
            "{rows:>10} {:>7.2}s {:>7} {:>8.1} {:>8.3} {:>9.3} {:>8.3} {:>10.0} {:>9.0} {:>10.1}",
            report.seconds,
            report.passes,
            rate.rows,
            rate.acceptance,
            1e6 / rate.steps_per_second,
            rate.effective_per_second / rate.steps_per_second,
            rate.effective_per_second,
            laplace,
            exact,
        );
        rates.push((rows, rate, laplace, exact));
    }
    let each = |f: fn(&Rate) -> f64| rates.iter().map(|(_, rate, ..)| f(rate)).collect::<Vec<_>>();
    let speeds = each(|rate| rate.effective_per_second);
    let (most, least) =
        (speeds.iter().copied().fold(0.0, f64::max), speeds.iter().copied().fold(f64::INFINITY, f64::min));
    println!("flat within × {:.2} (required 1.6)", most / least);
    if let Some((rows, rate, laplace, exact)) = rates.last() {
        println!(
            "against exact with the same proposal at N = {rows}: {:.0} × per step (required 40,000 at 10⁷)",
            exact * rate.steps_per_second / 1e6
        );
        println!(
            "share of the rate of Laplace draws: {:.2} (required 0.167)",
            rate.effective_per_second / laplace
        );
    }
}
