//! Speed of the logistic kernel, d = 50, one thread: `cargo bench -p austerity --bench kernel`.
//!
//! After criterion's own figures a table of ratios, measured interleaved in one run so that a busy machine moves
//! both sides: what the full kernel costs beyond its dot products, what the layout and the vectorised functions gain
//! over a plain loop over rows, how near a pass over memory comes to a plain read, and what random blocks cost.

#![allow(clippy::expect_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use austerity::model::glm::Blocks;
use austerity::model::{Access, CheckedData, Glm, Logistic, Model as _, Prior};
use austerity::population::{Moments, Population as _};
use austerity::simd::{self, Lanes};
use criterion::Criterion;
use fearless_simd::{Simd, dispatch, prelude::*};
use rand::{RngExt as _, SeedableRng as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;

const COLUMNS: usize = 50;
const IN_CACHE: usize = 12_256;
const FROM_MEMORY: usize = 2_000_000;

struct Case {
    model: Glm<Logistic>,
    from: Vec<f64>,
    small: Vec<f64>,
    large: Vec<f64>,
    /// The same rows, row by row, and responses as ±1.
    row_major: Vec<f32>,
    signs: Vec<f32>,
}

impl Case {
    fn new(rows: usize, keep_rows: bool) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut value =
            || f64::from(rng.random::<f32>() + rng.random::<f32>() + rng.random::<f32>() - 1.5) * 2.0;
        let columns: Vec<Vec<f64>> = (0..COLUMNS).map(|_| (0..rows).map(|_| value()).collect()).collect();
        let response: Vec<f64> = (0..rows).map(|_| f64::from(u8::from(value() > 0.0))).collect();
        let mut state = |size: f64| -> Vec<f64> { (0..=COLUMNS).map(|_| size * value()).collect() };
        let from = state(0.2);
        let step = |size: f64, state: &mut dyn FnMut(f64) -> Vec<f64>| -> Vec<f64> {
            from.iter().zip(state(size)).map(|(a, b)| a + b).collect()
        };
        let small = step(0.004, &mut state);
        let large = step(0.1, &mut state);
        let mut row_major = Vec::new();
        if keep_rows {
            for i in 0..rows {
                row_major.extend(columns.iter().map(|c| c[i] as f32));
            }
        }
        let data = CheckedData {
            names: (0..COLUMNS).map(|j| format!("x{j}")).collect(),
            columns,
            shift: vec![0.0; COLUMNS],
            scale: vec![1.0; COLUMNS],
            response,
            weights: None,
            trials: None,
            offset: None,
            intercept: true,
            shuffle: None,
            warnings: Vec::new(),
        };
        let signs = data.response.iter().map(|y| (2.0 * y - 1.0) as f32).collect();
        let model = Glm::new(Logistic, &data, vec![Prior::Flat; COLUMNS + 1]).expect("valid data");
        Self { model, from, small, large, row_major, signs }
    }

    fn total(&self, to: &Vec<f64>) -> f64 {
        let mut scratch = self.model.scratch(Access::Blocks);
        let total = self.model.compare(&self.from, to, &mut scratch).total();
        total.expect("finite numbers").mean
    }

    fn listed(&self, to: &Vec<f64>, list: &[u32]) -> f64 {
        let mut scratch = self.model.scratch(Access::Blocks);
        let mut moments = Moments::EMPTY;
        let mut ratio = self.model.compare(&self.from, to, &mut scratch);
        ratio.summarize(list, 32, &mut moments).expect("finite numbers");
        moments.mean
    }

    fn dots(&self) -> f32 {
        let coefficients: Vec<[f32; 2]> =
            (1..=COLUMNS).map(|j| [self.from[j] as f32, (self.large[j] - self.from[j]) as f32]).collect();
        dispatch!(simd::detected(), simd => dots(simd, self.model.blocks(), &coefficients))
    }

    fn read(&self) -> f32 {
        dispatch!(simd::detected(), simd => read(simd, self.model.blocks()))
    }

    /// What one would write first: rows one after the other, std functions.
    fn scalar(&self) -> f64 {
        let constant = [self.from[0] as f32, (self.large[0] - self.from[0]) as f32];
        let gamma: Vec<f32> = self.from[1..].iter().map(|&b| b as f32).collect();
        let step: Vec<f32> = (1..=COLUMNS).map(|j| (self.large[j] - self.from[j]) as f32).collect();
        let (mut sum, mut squares) = (0.0, 0.0);
        for (row, s) in self.row_major.chunks_exact(COLUMNS).zip(&self.signs) {
            let (mut eta, mut delta) = (constant[0], constant[1]);
            for ((x, g), d) in row.iter().zip(&gamma).zip(&step) {
                eta += x * g;
                delta += x * d;
            }
            let (eta, delta) = (s * eta, s * delta);
            let larger = eta.max(eta + delta);
            let argument = delta.abs().exp_m1() / (1.0 + larger.exp());
            let l = f64::from(argument.ln_1p().copysign(delta));
            sum += l;
            squares += l * l;
        }
        sum + squares
    }
}

/// Two dot products per row, one f32 each, and nothing else.
#[inline(always)]
fn dots<S: Simd>(simd: S, blocks: &Blocks, coefficients: &[[f32; 2]]) -> f32 {
    let mut sum = Lanes::splat(simd, 0.0);
    for block in 0..blocks.count() {
        let next = blocks.block((block + 1) % blocks.count());
        let mut eta = [Lanes::splat(simd, 0.1); 2];
        let mut delta = eta;
        let (pairs, _) = blocks.block(block)[..2 * coefficients.len()].as_chunks::<2>();
        for j in 0..coefficients.len().min(pairs.len()) {
            simd::prefetch_at(next, 2 * j);
            simd::prefetch_at(next, 2 * j + 1);
            let [low, high] = [&pairs[j][0].0, &pairs[j][1].0].map(|x| Lanes::load_array_ref(simd, x));
            let [g, d] = coefficients[j].map(|c| Lanes::splat(simd, c));
            eta = [low.mul_add(g, eta[0]), high.mul_add(g, eta[1])];
            delta = [low.mul_add(d, delta[0]), high.mul_add(d, delta[1])];
        }
        sum += (eta[0] + delta[0]) + (eta[1] + delta[1]);
    }
    sum.reduce_sum()
}

#[inline(always)]
fn read<S: Simd>(simd: S, blocks: &Blocks) -> f32 {
    let mut sums = [Lanes::splat(simd, 0.0); 8];
    for lines in blocks.lines().chunks_exact(8) {
        for (sum, line) in sums.iter_mut().zip(lines) {
            *sum += Lanes::load_array_ref(simd, &line.0);
        }
    }
    sums.into_iter().map(SimdBase::reduce_sum).sum()
}

/// Ends a timed expression.
fn keep<T>(_: T) {}

/// Best time of each function over `rounds` rounds, all functions in turn within a round.
fn interleaved(rounds: usize, functions: &mut [&mut dyn FnMut()]) -> Vec<Duration> {
    let mut best = vec![Duration::MAX; functions.len()];
    for _ in 0..rounds {
        for (best, function) in best.iter_mut().zip(functions.iter_mut()) {
            let start = Instant::now();
            function();
            *best = start.elapsed().min(*best);
        }
    }
    best
}

fn line(what: &str, value: f64, bar: f64, at_most: bool) {
    let passed = if at_most { value <= bar } else { value >= bar };
    let sign = if at_most { "≤" } else { "≥" };
    let verdict = if passed { "PASS" } else { "FAIL" };
    println!("{what:<64} {value:>7.2}   {sign} {bar:<5} {verdict}");
}

fn main() {
    let mut criterion = Criterion::default()
        .configure_from_args()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    let case = Case::new(IN_CACHE, true);
    criterion.bench_function("in cache, general form", |b| {
        b.iter(|| black_box(case.total(&case.large)));
    });
    criterion.bench_function("in cache, small steps", |b| {
        b.iter(|| black_box(case.total(&case.small)));
    });
    criterion.bench_function("in cache, dots alone", |b| b.iter(|| black_box(case.dots())));
    criterion.bench_function("in cache, plain read", |b| b.iter(|| black_box(case.read())));
    criterion.bench_function("in cache, row-major scalar", |b| {
        b.iter(|| black_box(case.scalar()));
    });
    let cached = interleaved(
        200,
        &mut [
            &mut || keep(black_box(case.total(&case.large))),
            &mut || keep(black_box(case.total(&case.small))),
            &mut || keep(black_box(case.dots())),
            &mut || keep(black_box(case.read())),
            &mut || keep(black_box(case.scalar())),
        ],
    );
    drop(case);

    let case = Case::new(FROM_MEMORY, false);
    let mut order: Vec<u32> = (0..case.model.blocks().count() as u32).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(2));
    let memory = interleaved(
        15,
        &mut [
            &mut || keep(black_box(case.total(&case.large))),
            &mut || keep(black_box(case.listed(&case.large, &order))),
            &mut || keep(black_box(case.read())),
            &mut || keep(black_box(case.total(&case.small))),
            &mut || keep(black_box(case.listed(&case.small, &order))),
        ],
    );

    let per_row = |time: Duration, rows: usize| time.as_secs_f64() * 1e9 / rows as f64;
    let cached: Vec<f64> = cached.iter().map(|&t| per_row(t, IN_CACHE)).collect();
    let memory: Vec<f64> = memory.iter().map(|&t| per_row(t, FROM_MEMORY)).collect();
    println!("\nlogistic, d = {COLUMNS}, f32, one thread, {:?}", simd::detected());
    println!(
        "ns per row in cache ({IN_CACHE} rows): general {:.2}, small steps {:.2}, dots {:.2}, plain read {:.2}, row-major {:.2}",
        cached[0], cached[1], cached[2], cached[3], cached[4]
    );
    println!(
        "ns per row from memory ({FROM_MEMORY} rows): sequential {:.2}, random blocks {:.2}, plain read {:.2}; small steps {:.2}, random {:.2}",
        memory[0], memory[1], memory[2], memory[3], memory[4]
    );
    line("full kernel, general form / dots alone", cached[0] / cached[2], 2.0, true);
    line("full kernel, small steps / dots alone", cached[1] / cached[2], 1.7, true);
    line("row-major scalar loop / full kernel, general form", cached[4] / cached[0], 5.0, false);
    line("bandwidth of a sequential pass / plain read", memory[2] / memory[0], 0.75, false);
    line("random 32-row blocks / sequential pass", memory[1] / memory[0], 1.6, true);
}
