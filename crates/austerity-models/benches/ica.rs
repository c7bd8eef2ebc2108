//! The exact ICA step: nanoseconds per sample on one core, with four sources.
//!
//! Required: at most 4 ns per sample from memory (1,950,000 samples, 31 MB). The last line is JSON in the format of `bench/steps`,
//! which runs the same step in NumPy and numba. Printed besides: what a scan costs from memory and from the cache.
//!
//! Time is CPU time of the thread (the clock on the wall where there is none): other work on the machine is not counted, though it
//! does slow the memory down. Medians over repetitions, and the least.

use std::hint::black_box;

use austerity::kernel::{Kernel, Metropolis};
use austerity::model::{Access, Model};
use austerity::population::{BlockOrder, Population};
use austerity::rng::{Role, Streams, stream};
use austerity::rule::Exact;
use austerity_models::Ica;
use austerity_models::Stiefel;
use austerity_models::stiefel::uniform_frame;
use rand::RngExt as _;
use rand_distr::StandardNormal;

const DIMENSION: usize = 4;
const REQUIRED: f64 = 4.0;

/// Seconds of CPU time of this thread.
#[cfg(unix)]
fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Seconds on the clock on the wall.
#[cfg(not(unix))]
fn thread_seconds() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0.0, |time| time.as_secs_f64())
}

/// Median and least nanoseconds per sample of `body`.
fn per_sample(rows: usize, repetitions: usize, mut body: impl FnMut()) -> [f64; 2] {
    let mut times: Vec<f64> = (0..repetitions)
        .map(|_| {
            let start = thread_seconds();
            body();
            (thread_seconds() - start) * 1e9 / rows as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    [times[times.len() / 2], times[0]]
}

/// White samples of a super-Gaussian law: products of normals have kurtosis 9.
fn model(rows: usize) -> Ica {
    let mut rng = stream(1, 0, Role::Data);
    let columns: Vec<Vec<f64>> = (0..DIMENSION)
        .map(|_| {
            (0..rows)
                .map(|_| rng.sample::<f64, _>(StandardNormal) * rng.sample::<f64, _>(StandardNormal))
                .collect()
        })
        .collect();
    match Ica::new(&columns, None) {
        Ok(model) => model,
        Err(error) => panic!("{error}"),
    }
}

fn rotation(seed: u64) -> Vec<f64> {
    match uniform_frame(DIMENSION, DIMENSION, &mut stream(seed, 0, Role::Start)) {
        Ok(frame) => frame,
        Err(error) => panic!("{error}"),
    }
}

/// A state and a neighbour of it.
fn neighbours() -> [Vec<f64>; 2] {
    use austerity::proposal::Proposal as _;
    let from = rotation(2);
    let mut to = from.clone();
    let mut rng = stream(3, 0, Role::Proposal);
    if let Err(error) = Stiefel::isotropic(DIMENSION, DIMENSION, 1e-3)
        .and_then(|mut walk| walk.propose(&from, &mut to, &mut rng))
    {
        panic!("{error}");
    }
    [from, to]
}

fn main() {
    for rows in [20_000, 1_950_000] {
        let model = model(rows);
        let repetitions = if rows > 1_000_000 { 41 } else { 1001 };
        let [from, to] = neighbours();
        let mut scratch = model.scratch(Access::Scan);
        let scan = per_sample(rows, repetitions, || {
            let _ = black_box(model.compare(&from, &to, &mut scratch).total());
        });
        println!(
            "{rows} samples of {DIMENSION} sources: {:.2} ns per sample and core (least {:.2})",
            scan[0], scan[1]
        );
    }
    let rows = 1_950_000;
    let model = model(rows);
    let steps = || -> austerity::Result<(f64, f64)> {
        let order = BlockOrder::new(rows, 32, 1, 0)?;
        let mut state = rotation(2);
        let walk = Stiefel::isotropic(DIMENSION, DIMENSION, 2e-4)?;
        let mut kernel = Metropolis::new(&model, walk, Exact::default(), order, &state)?;
        let mut streams = Streams::new(1, 0);
        let (mut step, mut accepted) = (0u64, 0u64);
        let [time, _] = per_sample(rows, 61, || {
            streams.begin(step);
            step += 1;
            accepted +=
                u64::from(kernel.step(&mut state, &mut streams).is_ok_and(|decision| decision.accepted));
        });
        Ok((time, accepted as f64 / step as f64))
    };
    match steps() {
        Ok((time, acceptance)) => {
            let verdict = if time <= REQUIRED { "PASS" } else { "FAIL" };
            println!(
                "exact Metropolis step, {:.0} % accepted: {time:.2} ns per sample, required ≤ {REQUIRED}: {verdict}",
                100.0 * acceptance
            );
            println!("{{\"step\":\"ica\",\"peer\":\"austerity\",\"ns_per_item\":{time:.3}}}");
        }
        Err(error) => panic!("{error}"),
    }
}
