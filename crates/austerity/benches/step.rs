//! What a step costs besides the likelihood: streams, proposal, prior, order of blocks, rule, counters.
//!
//! A population whose numbers cost nothing (a constant block of moments) leaves the overhead alone. Required: at
//! most 1.5 µs at d = 20 with a dense random walk. Baseline in the same run: drawing d normals and multiplying them by the
//! factor, which no random walk can avoid.

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use austerity::Result;
use austerity::model::{Access, Model};
use austerity::population::{Moments, Population};
use austerity::proposal::{AnyProposal, Proposal, RandomWalk};
use austerity::rng::{Role, stream};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Audited, Chain, ChainCheckpoint, Settings};
use criterion::{Criterion, criterion_group, criterion_main};

const ROWS: usize = 1_000_000;

/// Normal priors on every coordinate and a likelihood that costs nothing.
struct Free {
    /// Standard deviations.
    priors: Vec<f64>,
}

struct Nothing;

impl Population for Nothing {
    fn len(&self) -> usize {
        ROWS
    }
    fn reveal(&mut self, _: Range<usize>, out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        Ok(())
    }
    fn summarize(&mut self, blocks: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        let rows = (blocks.len() * block_rows) as u64;
        // Far from any threshold with a small spread: the first look decides.
        let part = Moments {
            count: rows,
            mean: 1e-3,
            m2: 1e-8 * rows as f64,
            m3: 0.0,
            m4: 3e-16 * rows as f64,
            minimum: 5e-4,
            maximum: 2e-3,
            nonzeros: rows,
        };
        moments.merge(&part);
        Ok(())
    }
}

impl Model for Free {
    type State = Vec<f64>;
    type Scratch = ();
    type Ratio<'a> = Nothing;
    fn len(&self) -> usize {
        ROWS
    }
    fn scratch(&self, _: Access) {}
    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        self.priors.iter().zip(state).map(|(sd, value)| -0.5 * (value / sd) * (value / sd)).sum()
    }
    fn compare<'a>(&'a self, _: &'a Vec<f64>, _: &'a Vec<f64>, (): &'a mut ()) -> Nothing {
        Nothing
    }
}

fn walk(dimension: usize) -> RandomWalk {
    let covariance: Vec<f64> = (0..dimension * dimension)
        .map(|k| 0.5f64.powi((k / dimension).abs_diff(k % dimension) as i32))
        .collect();
    match RandomWalk::dense(dimension, &covariance) {
        Ok(walk) => walk,
        Err(error) => panic!("{error}"),
    }
}

fn chain(model: &Free, dimension: usize) -> Chain<Audited<'_, Free, AnyProposal>> {
    let rule = RuleSettings::Sequential(SequentialSettings::constant(500, 0.01));
    let built = match rule.build(ROWS) {
        Ok(built) => built,
        Err(error) => panic!("{error}"),
    };
    let settings = Settings { warmup: 0, rule, ..Settings::default() };
    let start = ChainCheckpoint::start(vec![0.0; dimension], walk(dimension).into());
    match Chain::new(model, &settings, built, (0, start)) {
        Ok(chain) => chain,
        Err(error) => panic!("{error}"),
    }
}

fn steps(criterion: &mut Criterion) {
    for dimension in [5, 20, 50] {
        let model = Free { priors: vec![1e3; dimension] };
        let mut chain = chain(&model, dimension);
        criterion.bench_function(&format!("step without likelihood, d = {dimension}"), |b| {
            b.iter(|| chain.step());
        });
        let (from, mut to) = (vec![0.0; dimension], vec![0.0; dimension]);
        let mut proposal = walk(dimension);
        let mut rng = stream(1, 0, Role::Proposal);
        criterion.bench_function(&format!("dense Gaussian step alone, d = {dimension}"), |b| {
            b.iter(|| proposal.propose(black_box(&from), &mut to, &mut rng));
        });
    }
    table();
}

/// Median nanoseconds of `body` over batches.
fn nanoseconds(mut body: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..50)
        .map(|_| {
            let start = Instant::now();
            (0..2000).for_each(|_| body());
            start.elapsed().as_secs_f64() * 1e9 / 2000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn table() {
    let model = Free { priors: vec![1e3; 20] };
    let mut chain = chain(&model, 20);
    let step = nanoseconds(|| {
        let _ = black_box(chain.step());
    });
    let (from, mut to) = (vec![0.0; 20], vec![0.0; 20]);
    let mut proposal = walk(20);
    let mut rng = stream(1, 0, Role::Proposal);
    let alone = nanoseconds(|| {
        let _ = black_box(proposal.propose(&from, &mut to, &mut rng));
    });
    let verdict = if step <= 1500.0 { "PASS" } else { "FAIL" };
    println!("\nper-step overhead outside the likelihood, d = 20 (median of 50 batches)");
    println!("  step without likelihood      {step:8.0} ns   required ≤ 1500 ns   {verdict}");
    println!("  dense Gaussian step alone    {alone:8.0} ns   ratio {:.2}", step / alone);
}

criterion_group!(benches, steps);
criterion_main!(benches);
