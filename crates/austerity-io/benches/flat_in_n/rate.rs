//! How fast a chain makes effective samples.

use std::time::Duration;

use austerity::diagnostics::{ess_bulk, ess_tail};
use austerity::model::Model;
use austerity::proposal::Proposal;
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Chain, ChainCheckpoint, Settings};
use austerity_glm::glm::expansion::{ExpansionReport, ExpansionSettings};

/// Time that a rate is measured for.
pub(crate) const MEASURED: Duration = Duration::from_secs(3);

/// The rule of the defaults for residuals.
pub(crate) fn residual_rule(report: &ExpansionReport) -> RuleSettings {
    RuleSettings::Sequential(SequentialSettings::residuals_from(report.first_look))
}

/// The same with another tolerance.
pub(crate) fn residual_rule_until(report: &ExpansionReport, tolerance: f64) -> RuleSettings {
    let usual = SequentialSettings::residuals_from(report.first_look);
    RuleSettings::Sequential(SequentialSettings { stop_at: Some(tolerance), ..usual })
}

/// Expansions as `fit` makes them.
pub(crate) fn expansion_settings() -> ExpansionSettings {
    ExpansionSettings { raise: true, ..ExpansionSettings::default() }
}

/// CPU time of this thread: a busy machine does not count.
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What a chain did in a while.
pub(crate) struct Rate {
    pub(crate) steps_per_second: f64,
    /// The smallest bulk ESS of a parameter, and the smallest tail ESS.
    pub(crate) effective_per_second: f64,
    pub(crate) tails_per_second: f64,
    pub(crate) rows: f64,
    pub(crate) acceptance: f64,
}

/// Steps of one chain for a while, its states kept, and the smallest effective sample size of a parameter per second.
///
/// At most `most` steps, `seconds` of CPU time and at least 100 steps.
pub(crate) fn measure<M, P>(
    model: &M,
    proposal: P,
    rule: &RuleSettings,
    start: Vec<f64>,
    (most, seconds, number): (u64, Duration, u32),
) -> (Rate, Vec<Vec<f64>>)
where
    M: Model<State = Vec<f64>>,
    P: Proposal<Vec<f64>> + Clone,
{
    let settings = Settings { rule: rule.clone(), warmup: 0, draws: 1, chains: 1, ..Settings::default() };
    let rule = rule.build(model.len()).expect("a valid rule");
    let checkpoint = ChainCheckpoint::start(start, proposal);
    let mut chain = Chain::new(model, &settings, rule, (number, checkpoint)).expect("a chain");
    let d = chain.state().len();
    let mut draws: Vec<Vec<f64>> = vec![Vec::new(); d];
    let (begun, mut made) = (cpu_time(), 0u64);
    while made < most && (cpu_time() - begun < seconds || made < 100) {
        for _ in 0..100.min(most - made) {
            chain.step().expect("a step");
            for (draws, value) in draws.iter_mut().zip(chain.state()) {
                draws.push(*value);
            }
            made += 1;
        }
    }
    let seconds = (cpu_time() - begun).as_secs_f64();
    let smallest = |of: fn(&[&[f64]]) -> f64| draws.iter().map(|d| of(&[d])).fold(f64::INFINITY, f64::min);
    let counters = chain.sampling();
    let rate = Rate {
        steps_per_second: made as f64 / seconds,
        effective_per_second: smallest(ess_bulk) / seconds,
        tails_per_second: smallest(ess_tail) / seconds,
        rows: counters.rows as f64 / counters.steps as f64,
        acceptance: counters.acceptance(),
    };
    (rate, draws)
}
