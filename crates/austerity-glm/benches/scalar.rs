//! Logistic regression row by row: what a model of one's own costs in the sampler when its function is plain Rust.
//!
//! One f64 loop over d = 20 columns and one logarithm per row, of 20,000 rows that stay in the cache, under the exact rule with the
//! current state's log-likelihoods kept. `bench/python` compares the same function compiled by numba. The last line is JSON:
//! nanoseconds per row, the least of many steps.

use austerity::kernel::{Kernel, Metropolis};
use austerity::model::from_fn;
use austerity::population::BlockOrder;
use austerity::proposal::RandomWalk;
use austerity::rng::{Role, Streams, stream};
use austerity::rule::Exact;
use rand::RngExt as _;
use rand_distr::StandardNormal;

const ROWS: usize = 20_000;
const COLUMNS: usize = 20;

fn measured() -> austerity::Result<f64> {
    let mut rng = stream(1, 0, Role::Data);
    let mut normals =
        |count: usize| (0..count).map(|_| rng.sample::<f64, _>(StandardNormal)).collect::<Vec<_>>();
    let (x, y) = (normals(ROWS * COLUMNS), normals(ROWS));
    let model = from_fn(
        ROWS,
        COLUMNS,
        |state: &[f64]| -0.5 * state.iter().map(|b| b * b).sum::<f64>(),
        |state: &[f64], row| {
            let eta: f64 = state.iter().zip(&x[row * COLUMNS..]).map(|(b, x)| b * x).sum();
            let sign = if y[row] > 0.0 { 1.0 } else { -1.0 };
            -(-sign * eta).exp().ln_1p()
        },
    )?;
    let mut state = vec![0.0; COLUMNS];
    let order = BlockOrder::new(ROWS, 32, 1, 0)?;
    let walk = RandomWalk::isotropic(COLUMNS, 1e-3)?;
    let mut kernel = Metropolis::new(&model, walk, Exact::default(), order, &state)?;
    let mut streams = Streams::new(1, 0);
    let mut least = f64::INFINITY;
    for step in 0..400 {
        let start = std::time::Instant::now();
        streams.begin(step);
        kernel.step(&mut state, &mut streams)?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(1e9 * least / ROWS as f64)
}

fn main() {
    match measured() {
        Ok(time) => println!("{{\"step\":\"logistic\",\"peer\":\"rust\",\"ns_per_item\":{time:.3}}}"),
        Err(error) => panic!("{error}"),
    }
}
