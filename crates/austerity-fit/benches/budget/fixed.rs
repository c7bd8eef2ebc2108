//! Settings that nothing changes: two chains on two threads, sums kept in memory and looked at at given times, set-up counted.

use std::time::Instant;

use austerity::model::{Model, find_mode};
use austerity::proposal::{AnyProposal, Laplace, Proposal, RandomWalk};
use austerity::rng::{Role, stream};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Chain, ChainCheckpoint, Settings};
use austerity_glm::Surrogate;
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion, sampled_mode};
use austerity_glm::proposal::{StoredProposal, Transition, TransitionPlan};

use crate::problem::Problem;

/// Chains, one per thread.
const CHAINS: u32 = 2;
/// Steps that are not counted.
const WARMUP: u64 = 20;
/// Rows of the sample that the mode is looked for on first.
const SAMPLE: usize = 1 << 16;

/// How candidates are made.
enum Kind {
    Walk(RuleSettings),
    /// Independent draws, decided exactly.
    Independent,
    /// With a term of the third order where that pays, or without; the tolerance of the test on residuals.
    Surrogate {
        raise: bool,
        tau: f64,
    },
}

/// A setting of the grid.
pub(crate) struct Fixed {
    pub(crate) name: String,
    kind: Kind,
}

/// All settings for so many rows; the first is the exact random walk.
pub(crate) fn grid(rows: usize) -> Vec<Fixed> {
    let new = |name: String, kind| Fixed { name, kind };
    let mut all = vec![
        new("walk, exact".into(), Kind::Walk(RuleSettings::default())),
        new("independent draws, exact".into(), Kind::Independent),
    ];
    for part in [100, 25, 10] {
        for epsilon in [0.2, 0.1, 0.05, 0.01] {
            let test = SequentialSettings::constant((rows / part).max(32), epsilon);
            let rule = RuleSettings::Sequential(test);
            all.push(new(format!("walk, m = N/{part}, eps {epsilon}"), Kind::Walk(rule)));
        }
    }
    for (order, raise, tolerances) in [
        ("second order", false, &[0.1, 0.03][..]),
        ("third where it pays", true, &[0.3, 0.1, 0.03, 0.01, 0.003][..]),
    ] {
        for &tau in tolerances {
            all.push(new(format!("{order}, tau {tau}"), Kind::Surrogate { raise, tau }));
        }
    }
    all
}

/// The truth, by a long run on the surrogate; nothing where that had no time for draws.
pub(crate) fn truth(problem: &Problem, seconds: f64) -> Option<Estimate> {
    let setting = Fixed { name: "truth".into(), kind: Kind::Surrogate { raise: true, tau: 0.01 } };
    setting.run(problem, &[seconds], 1_000).pop().flatten()
}

/// Means and sds of parameters.
pub(crate) struct Estimate {
    pub(crate) mean: Vec<f64>,
    pub(crate) sd: Vec<f64>,
}

impl Estimate {
    /// Mean squared error of means and sds, in posterior variances.
    pub(crate) fn risk(&self, truth: &Self) -> f64 {
        let each = self.mean.iter().zip(&self.sd).zip(truth.mean.iter().zip(&truth.sd));
        each.map(|((m, s), (mean, sd))| ((m - mean) / sd).powi(2) + ((s - sd) / sd).powi(2)).sum::<f64>()
            / truth.mean.len() as f64
    }
}

/// Running sums of a chain.
#[derive(Clone)]
struct Sums {
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn push(&mut self, state: &[f64]) {
        self.count += 1.0;
        for ((mean, squares), value) in self.mean.iter_mut().zip(&mut self.squares).zip(state) {
            let delta = value - *mean;
            *mean += delta / self.count;
            *squares += delta * (value - *mean);
        }
    }

    /// Both chains as one; `None` without draws.
    fn pooled(a: &Self, b: &Self) -> Option<Estimate> {
        let count = a.count + b.count;
        if a.count == 0.0 || b.count == 0.0 || count < 4.0 {
            return None;
        }
        let mut pooled = Estimate { mean: Vec::new(), sd: Vec::new() };
        for i in 0..a.mean.len() {
            let delta = b.mean[i] - a.mean[i];
            let squares = a.squares[i] + b.squares[i] + delta * delta * a.count * b.count / count;
            pooled.mean.push(a.mean[i] + delta * b.count / count);
            pooled.sd.push((squares / (count - 1.0)).sqrt());
        }
        Some(pooled)
    }
}

impl Fixed {
    /// What is known at each of the times.
    pub(crate) fn run(&self, problem: &Problem, times: &[f64], seed: u64) -> Vec<Option<Estimate>> {
        let begun = Instant::now();
        let model = problem.model();
        let zero = vec![0.0; model.parameters()];
        let near = if problem.rows() > 2 * SAMPLE {
            sampled_mode(model, &zero, SAMPLE).expect("a mode").state
        } else {
            zero
        };
        let mode = find_mode(model, &near).expect("a mode");
        let wide: Vec<f64> = mode.covariance.iter().map(|value| 2.0 * value).collect();
        let starts = (0..CHAINS).map(|chain| {
            let mut start = mode.state.clone();
            let mut cloud = RandomWalk::dense(start.len(), &wide).expect("a covariance");
            cloud.propose(&mode.state, &mut start, &mut stream(seed, chain, Role::Start)).expect("a start");
            start
        });
        let starts: Vec<Vec<f64>> = starts.collect();
        let clock = (begun, times);
        match &self.kind {
            Kind::Walk(rule) => {
                let walk = RandomWalk::for_posterior(mode.state.len(), &mode.covariance).expect("a walk");
                chains(model, (&AnyProposal::from(walk), rule), (&starts, seed), clock)
            }
            Kind::Independent => {
                let draws = Laplace::new(&mode.state, &mode.covariance).expect("draws");
                chains(model, (&AnyProposal::from(draws), &RuleSettings::default()), (&starts, seed), clock)
            }
            &Kind::Surrogate { raise, tau } => {
                let how = ExpansionSettings { raise, ..ExpansionSettings::default() };
                let expansion = GlmExpansion::new(model, &mode.state, &how).expect("an expansion");
                let plan =
                    TransitionPlan::pilot(&expansion, (expansion.mode(), expansion.covariance()), None, seed);
                let surrogate = Surrogate::new(expansion);
                let stored = StoredProposal::Transition(plan.expect("a transition"));
                let proposal = Transition::restored(&surrogate, stored).expect("a transition");
                let usual = SequentialSettings::residuals_from(surrogate.expansion().report().first_look);
                let rule = RuleSettings::Sequential(SequentialSettings { stop_at: Some(tau), ..usual });
                chains(&surrogate, (&proposal, &rule), (&starts, seed), clock)
            }
        }
    }
}

/// Two chains, looked at at the times.
fn chains<M, P>(
    model: &M,
    (proposal, rule): (&P, &RuleSettings),
    (starts, seed): (&[Vec<f64>], u64),
    (begun, times): (Instant, &[f64]),
) -> Vec<Option<Estimate>>
where
    M: Model<State = Vec<f64>> + Sync,
    P: Proposal<Vec<f64>> + Clone + Send + Sync,
{
    let settings = Settings { rule: rule.clone(), warmup: 0, chains: CHAINS, seed, ..Settings::default() };
    let one = |number: u32| {
        let rule = rule.build(model.len()).expect("a rule");
        let start = starts[number as usize].clone();
        let d = start.len();
        let mut sums = Sums { count: 0.0, mean: vec![0.0; d], squares: vec![0.0; d] };
        let checkpoint = ChainCheckpoint::start(start, proposal.clone());
        let mut chain = Chain::new(model, &settings, rule, (number, checkpoint)).expect("a chain");
        let mut seen: Vec<Sums> = Vec::new();
        while seen.len() < times.len() {
            if begun.elapsed().as_secs_f64() >= times[seen.len()] {
                seen.push(sums.clone());
                continue;
            }
            chain.step().expect("a step");
            if chain.steps() > WARMUP {
                sums.push(chain.state());
            }
        }
        seen
    };
    let one = &one;
    let all: Vec<Vec<Sums>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..CHAINS).map(|number| scope.spawn(move || one(number))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a chain")).collect()
    });
    all[0].iter().zip(&all[1]).map(|(a, b)| Sums::pooled(a, b)).collect()
}
