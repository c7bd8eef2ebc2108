//! Chains against time: how far their empirical laws on random subsets of variables are from the truth.
//!
//! After every sweep the state's cell in each of M subsets is counted; the clock stands still meanwhile. The error is the
//! mean over the subsets of Σ|count/T − truth|, the paper's average L1 distance. The truth is a long exact run with the closed
//! form of the conditionals.

use crate::risk::{Risk, risk};
use austerity::rng::{Role, stream};
use austerity::rule::RuleSettings;
use austerity::run::{Chain, Counters};
use austerity_models::field::Field;
use austerity_models::{Gibbs, GibbsSettings};
use rand::RngExt as _;
use rand::seq::index::sample;

use super::plan::Plan;
use crate::claim::Estimate;
use crate::clock::thread_time;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::parallel;
use crate::trajectory::Grid;

/// Chains that make up the truth; their number is fixed so that the truth does not depend on the machine.
const TRUTH_CHAINS: u32 = 4;
/// Sweeps of a truth chain that are thrown away.
const BURN_IN: u64 = 2_000;

/// Random subsets of the variables.
pub(super) struct Subsets {
    variables: Vec<u32>,
    size: usize,
}

impl Subsets {
    pub(super) fn new(plan: &Plan, seed: u64) -> Self {
        let mut rng = stream(seed, 7, Role::Data);
        let variables = (0..plan.subsets)
            .flat_map(|_| sample(&mut rng, plan.variables, plan.subset_size).into_iter())
            .map(|variable| variable as u32)
            .collect();
        Self { variables, size: plan.subset_size }
    }

    fn cells(&self) -> usize {
        (self.variables.len() / self.size) << self.size
    }

    /// Counts the cell of `state` in each subset.
    fn count(&self, state: &[u8], counts: &mut [u32]) {
        let cells = 1 << self.size;
        for (subset, counts) in self.variables.chunks_exact(self.size).zip(counts.chunks_exact_mut(cells)) {
            let cell = subset
                .iter()
                .enumerate()
                .fold(0, |cell, (bit, &variable)| cell | usize::from(state[variable as usize]) << bit);
            counts[cell] += 1;
        }
    }

    /// The mean over subsets of the L1 distance between two laws.
    fn distance(&self, law: &[f64], truth: &[f64]) -> f64 {
        let sum: f64 = law.iter().zip(truth).map(|(p, q)| (p - q).abs()).sum();
        sum / (self.variables.len() / self.size) as f64
    }
}

fn shares(counts: &[u32], total: u64) -> Vec<f64> {
    counts.iter().map(|&count| f64::from(count) / total as f64).collect()
}

/// The law on every subset, and the L1 error that it may still have: that between two halves of the runs, halved.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Truth {
    pub(super) law: Vec<f64>,
    pub(super) noise: f64,
}

/// The truth of `field`, whose conditionals are known in closed form.
pub(super) fn truth(context: &Context, plan: &Plan, field: &Field, subsets: &Subsets) -> Result<Truth> {
    let sweeps = plan.truth_sweeps / u64::from(TRUTH_CHAINS);
    let settings = serde_json::json!({
        "variables": plan.variables, "sd": plan.sd, "subsets": plan.subsets, "size": plan.subset_size,
        "sweeps": sweeps, "seed": context.seed,
    });
    context.truth("gibbs", &settings, || {
        let numbers: Vec<u32> = (0..TRUTH_CHAINS).collect();
        let parts = parallel::each(context.threads, &numbers, |_, &number| {
            let mut chain = chain(field, &GibbsSettings::default().rule, context.seed, 500 + number)?;
            let sweep = field.len() as u64;
            chain.advance(BURN_IN.min(sweeps) * sweep)?;
            let mut counts = vec![0; subsets.cells()];
            for done in 0..sweeps {
                if done % 256 == 0 && context.stopped() {
                    return Err(Error::Interrupted);
                }
                chain.advance(sweep)?;
                subsets.count(chain.state(), &mut counts);
            }
            Ok(shares(&counts, sweeps))
        })?;
        let mean = |parts: &[Vec<f64>]| -> Vec<f64> {
            let cell = |cell: usize| parts.iter().map(|part| part[cell]).sum::<f64>() / parts.len() as f64;
            (0..subsets.cells()).map(cell).collect()
        };
        let (first, second) = parts.split_at(parts.len() / 2);
        let noise = 0.5 * subsets.distance(&mean(first), &mean(second));
        Ok(Truth { law: mean(&parts), noise })
    })
}

/// A chain from a random start.
fn chain<'f>(field: &'f Field, rule: &RuleSettings, seed: u64, chain: u32) -> Result<Chain<Gibbs<'f>>> {
    let mut rng = stream(seed, chain, Role::Start);
    let start = (0..field.len()).map(|_| rng.random_range(0..2)).collect();
    let settings = GibbsSettings { rule: rule.clone(), seed, chain, ..GibbsSettings::default() };
    Ok(Chain::start(Gibbs::new(field, &settings)?, start, (seed, chain)))
}

/// All chains of a kind at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) seconds: f64,
    /// Pairs of potentials that were read, averaged over the chains.
    pub(super) evaluations: f64,
    /// T: sweeps made, averaged over the chains.
    pub(super) sweeps: f64,
    /// Standard error of that.
    pub(super) sweeps_error: f64,
    /// Average L1 error, averaged over the chains, and the standard error of that.
    pub(super) error: f64,
    pub(super) standard_error: f64,
    /// Mean squared error of the cells' probabilities, its bias² and variance.
    pub(super) risk: Risk,
}

/// Chains of one kind.
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
    /// Share of the pairs read.
    pub(super) share: f64,
    /// The same of each chain.
    pub(super) each_share: Vec<f64>,
    /// Nanoseconds of one conditional, all included, and the relative standard error between chains.
    pub(super) nanoseconds: f64,
    pub(super) speed_error: f64,
}

impl Kind {
    /// L1 errors in the place of risks: what comparisons take.
    pub(super) fn curve(&self) -> Vec<crate::curves::Point> {
        let point = |point: &Point| crate::curves::Point {
            seconds: point.seconds,
            evaluations: point.evaluations,
            steps: point.sweeps,
            risk: Risk { total: point.error, standard_error: point.standard_error, ..point.risk },
        };
        self.points.iter().map(point).collect()
    }

    /// Degrees of freedom of errors between chains.
    pub(super) fn freedom(&self) -> f64 {
        self.each_share.len() as f64 - 1.0
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Snapshot {
    seconds: f64,
    evaluations: u64,
    sweeps: u64,
    law: Vec<f64>,
}

/// A chain's snapshots, its counters and its seconds.
type Followed = (Vec<Snapshot>, Counters, f64);

/// Runs the chains of every kind and compares them with the truth.
///
/// Kinds take turns, chain by chain, so that a machine whose speed changes on the way changes it for all of them.
pub(super) fn follow(
    context: &Context,
    plan: &Plan,
    kinds: &[(String, &Field, RuleSettings)],
    subsets: &Subsets,
    truth: &Truth,
) -> Result<Vec<Kind>> {
    let grid = Grid::geometric(plan.seconds / 200.0, plan.seconds, plan.checkpoints, 1).seconds;
    let mut chains: Vec<Vec<Followed>> = kinds.iter().map(|_| Vec::new()).collect();
    for first in (0..plan.chains).step_by(context.threads.max(1)) {
        context.stage(
            &format!("chains against time: {} of {} of every kind", first + 1, plan.chains),
            0.4 + 0.6 * f64::from(first) / f64::from(plan.chains),
        )?;
        let last = (first + context.threads.max(1) as u32).min(plan.chains);
        let round: Vec<(usize, u32)> =
            (0..kinds.len()).flat_map(|kind| (first..last).map(move |number| (kind, number))).collect();
        let made = parallel::each(context.threads, &round, |_, &(kind, number)| {
            let (name, field, rule) = &kinds[kind];
            let settings = (name, plan);
            context.chain(("gibbs", &format!("{kind}-{number}")), &settings, || {
                one(context, (field, rule, number), &grid, subsets)
            })
        })?;
        for ((kind, _), followed) in round.iter().zip(made) {
            chains[*kind].push(followed);
        }
    }
    let compared = kinds.iter().zip(chains);
    Ok(compared.map(|((name, ..), chains)| compare(plan, name, &chains, subsets, truth)).collect())
}

/// One chain, observed at the times of `grid`.
fn one(
    context: &Context,
    (field, rule, number): (&Field, &RuleSettings, u32),
    grid: &[f64],
    subsets: &Subsets,
) -> Result<Followed> {
    let mut chain = chain(field, rule, context.seed, number)?;
    let mut counts = vec![0; subsets.cells()];
    let mut snapshots: Vec<Snapshot> = Vec::with_capacity(grid.len());
    let (mut seconds, mut sweeps) = (0.0, 0);
    while snapshots.len() < grid.len() {
        if context.stopped() {
            return Err(Error::Interrupted);
        }
        let start = thread_time();
        chain.advance(field.len() as u64)?;
        seconds += (thread_time() - start).as_secs_f64();
        sweeps += 1;
        subsets.count(chain.state(), &mut counts);
        while grid.get(snapshots.len()).is_some_and(|&time| seconds >= time) {
            let evaluations = chain.sampling().evaluations;
            snapshots.push(Snapshot { seconds, evaluations, sweeps, law: shares(&counts, sweeps) });
        }
    }
    Ok((snapshots, *chain.sampling(), seconds))
}

/// The chains of one kind, put together.
fn compare(plan: &Plan, name: &str, chains: &[Followed], subsets: &Subsets, truth: &Truth) -> Kind {
    let count = chains.len() as f64;
    let points = (0..chains.first().map_or(0, |chain| chain.0.len()))
        .map(|place| {
            let here: Vec<&Snapshot> = chains.iter().map(|chain| &chain.0[place]).collect();
            let errors: Vec<f64> = here.iter().map(|shot| subsets.distance(&shot.law, &truth.law)).collect();
            let error = errors.iter().sum::<f64>() / count;
            let spread: f64 = errors.iter().map(|one| (one - error).powi(2)).sum::<f64>() / (count - 1.0);
            let sweeps = here.iter().map(|shot| shot.sweeps as f64).sum::<f64>() / count;
            let apart: f64 = here.iter().map(|shot| (shot.sweeps as f64 - sweeps).powi(2)).sum();
            let laws: Vec<&[f64]> = here.iter().map(|shot| &shot.law[..]).collect();
            Point {
                seconds: here.iter().map(|shot| shot.seconds).sum::<f64>() / count,
                evaluations: here.iter().map(|shot| shot.evaluations as f64).sum::<f64>() / count,
                sweeps,
                sweeps_error: (apart / (count - 1.0) / count).sqrt(),
                error,
                standard_error: (spread / count).sqrt(),
                risk: risk(&laws, &truth.law),
            }
        })
        .collect();
    let mut counters = Counters::default();
    chains.iter().for_each(|chain| counters.add(&chain.1));
    let seconds: f64 = chains.iter().map(|chain| chain.2).sum();
    let speeds: Vec<f64> = chains.iter().map(|chain| chain.1.steps as f64 / chain.2).collect();
    let speed = Estimate::mean("", &speeds);
    Kind {
        name: name.into(),
        points,
        share: counters.data_share(plan.factors()),
        each_share: chains.iter().map(|chain| chain.1.data_share(plan.factors())).collect(),
        speed_error: speed.error / speed.value,
        nanoseconds: seconds * 1e9 / counters.steps as f64,
    }
}
