//! Speed of the logistic kernel, d = 50, one thread: `cargo bench -p austerity --bench kernel`.
//!
//! After criterion's own figures a table of ratios, measured interleaved in one run so that a busy machine moves
//! both sides: what the full kernel costs beyond its dot products, what the layout and the vectorised functions gain
//! over a plain loop over rows, how near a pass over memory comes to a plain read, what random blocks cost, and what
//! an exact pass with a cache costs after a rejection and after an acceptance. "In cache" is the second-level cache
//! (0.8 MB); the third level is shown for information. The last line is about accuracy: the total of 10⁷ rows.

#![allow(clippy::expect_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use austerity::model::{Access, Model as _};
use austerity::population::{Moments, Population as _};
use austerity_glm::glm::{Blocks, Scratch};
use austerity_glm::simd::{self, Lanes};
use austerity_glm::{CheckedData, Glm, Logistic, Prior};
use criterion::Criterion;
use fearless_simd::{Simd, dispatch, prelude::*};
use rand::{RngExt as _, SeedableRng as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;

const COLUMNS: usize = 50;
const IN_CACHE: usize = 4_096;
const THIRD_LEVEL: usize = 12_256;
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
        let data = checked(columns, response);
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

    /// An exact pass with a cache: η is there after a rejection, to be refilled after an acceptance.
    fn scan(&self, from: &Vec<f64>, to: &Vec<f64>, scratch: &mut Scratch) -> f64 {
        self.model.compare(from, to, scratch).total().expect("finite numbers").mean
    }

    fn dots(&self) -> f32 {
        let coefficients: Vec<[f32; 2]> =
            (1..=COLUMNS).map(|j| [self.from[j] as f32, (self.large[j] - self.from[j]) as f32]).collect();
        dispatch!(simd::detected(), simd => dots(simd, self.model.blocks(), &coefficients))
    }

    fn read(&self) -> f32 {
        dispatch!(simd::detected(), simd => read(simd, self.model.blocks()))
    }

    /// Best ns per row of an exact pass with a cache after a rejection and after an acceptance (small steps).
    fn scans(&self, rounds: usize) -> Vec<f64> {
        let mut kept = self.model.scratch(Access::Scan);
        let mut refilled = self.model.scratch(Access::Scan);
        let states = [&self.from, &self.small];
        let mut place = 0;
        interleaved(
            rounds,
            self.model.len(),
            &mut [&mut || keep(black_box(self.scan(&self.from, &self.small, &mut kept))), &mut || {
                // Every pass starts from another state than the one before.
                place = (place + 1) % 2;
                keep(black_box(self.scan(states[place], states[1 - place], &mut refilled)));
            }],
        )
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
        let mut eta = [Lanes::splat(simd, 0.1); 2];
        let mut delta = eta;
        let (pairs, _) = blocks.block(block)[..2 * coefficients.len()].as_chunks::<2>();
        for j in 0..coefficients.len().min(pairs.len()) {
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

/// Best ns per row of each function over `rounds` rounds, all functions in turn within a round. In each turn a function
/// runs twice and the second run counts: the first brings the data back to the cache.
fn interleaved(rounds: usize, rows: usize, functions: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![Duration::MAX; functions.len()];
    for _ in 0..rounds {
        for (best, function) in best.iter_mut().zip(functions.iter_mut()) {
            function();
            let start = Instant::now();
            function();
            *best = start.elapsed().min(*best);
        }
    }
    best.iter().map(|time| time.as_secs_f64() * 1e9 / rows as f64).collect()
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
    let cached = measured(&case, 400);
    drop(case);
    let case = Case::new(THIRD_LEVEL, true);
    let third = measured(&case, 100);
    drop(case);

    let case = Case::new(FROM_MEMORY, false);
    let mut order: Vec<u32> = (0..case.model.blocks().count() as u32).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(2));
    let scans = case.scans(8);
    let memory = interleaved(
        15,
        FROM_MEMORY,
        &mut [
            &mut || keep(black_box(case.total(&case.large))),
            &mut || keep(black_box(case.listed(&case.large, &order))),
            &mut || keep(black_box(case.read())),
            &mut || keep(black_box(case.total(&case.small))),
            &mut || keep(black_box(case.listed(&case.small, &order))),
        ],
    );
    drop(case);

    println!("\nlogistic, d = {COLUMNS}, f32, one thread, {:?}", simd::detected());
    for (place, rows, times) in
        [("second-level cache", IN_CACHE, &cached), ("third-level cache", THIRD_LEVEL, &third)]
    {
        println!(
            "ns per row, {place} ({rows} rows): general {:.2}, small steps {:.2}, dots {:.2}, plain read {:.2}, row-major {:.2}; exact pass after a rejection {:.2}, after an acceptance {:.2}",
            times[0], times[1], times[2], times[3], times[4], times[5], times[6]
        );
    }
    println!(
        "ns per row, memory ({FROM_MEMORY} rows): sequential {:.2}, random blocks {:.2}, plain read {:.2}; small steps {:.2}, random {:.2}; exact pass after a rejection {:.2}, after an acceptance {:.2}",
        memory[0], memory[1], memory[2], memory[3], memory[4], scans[0], scans[1]
    );
    println!(
        "third-level cache, for information: general / dots {:.2}, small steps / dots {:.2}",
        third[0] / third[2],
        third[1] / third[2]
    );
    line("full kernel, general form / dots alone", cached[0] / cached[2], 2.0, true);
    line("full kernel, small steps / dots alone", cached[1] / cached[2], 1.7, true);
    line("row-major scalar loop / full kernel, general form", cached[4] / cached[0], 5.0, false);
    line("bandwidth of a sequential pass / plain read", memory[2] / memory[0], 0.75, false);
    line("random 32-row blocks / sequential pass", memory[1] / memory[0], 1.6, true);
    line("10⁷ rows: |total − f64 total of the f64 data| / 1e-5", total_error() / 1e-5, 1.0, true);
}

/// Best times per row in a cache: general, small steps, dots, plain read, row-major, and the two exact passes.
fn measured(case: &Case, rounds: usize) -> Vec<f64> {
    let mut times = interleaved(
        rounds,
        case.model.len(),
        &mut [
            &mut || keep(black_box(case.total(&case.large))),
            &mut || keep(black_box(case.total(&case.small))),
            &mut || keep(black_box(case.dots())),
            &mut || keep(black_box(case.read())),
            &mut || keep(black_box(case.scalar())),
        ],
    );
    times.extend(case.scans(rounds));
    times
}

/// Rows of the accuracy line, how many are made at a time, and its columns.
const ACCURACY_ROWS: usize = 10_000_000;
const CHUNK: usize = 500_000;
const ACCURACY_COLUMNS: usize = 10;

/// Error of the total log ratio of 10⁷ rows against f64, for a random-walk step of 2.38/√d posterior sd.
///
/// Chunks of rows are models of their own, whose totals are added: the kernel adds blocks in the same way.
fn total_error() -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let normal = |rng: &mut ChaCha8Rng| {
        let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let d = ACCURACY_COLUMNS as f64;
    let mut from: Vec<f64> = (0..=ACCURACY_COLUMNS).map(|_| normal(&mut rng) / d.sqrt()).collect();
    from[0] = -0.5;
    let spread = 2.38 / d.sqrt() * 2.3 / (ACCURACY_ROWS as f64).sqrt();
    let to: Vec<f64> = from.iter().map(|b| b + spread * normal(&mut rng)).collect();
    let (mut error, mut total) = (0.0, 0.0);
    for _ in 0..ACCURACY_ROWS / CHUNK {
        let mut eta = vec![from[0]; CHUNK];
        let mut delta = vec![to[0] - from[0]; CHUNK];
        let columns: Vec<Vec<f64>> = (1..=ACCURACY_COLUMNS)
            .map(|j| {
                // Sums of three uniforms in f64: near enough to normal, and quick.
                let value = |rng: &mut ChaCha8Rng| {
                    2.0 * (rng.random::<f64>() + rng.random::<f64>() + rng.random::<f64>() - 1.5)
                };
                let column: Vec<f64> = (0..CHUNK).map(|_| value(&mut rng)).collect();
                for (i, x) in column.iter().enumerate() {
                    eta[i] += from[j] * x;
                    delta[i] += (to[j] - from[j]) * x;
                }
                column
            })
            .collect();
        let response: Vec<f64> = (eta.iter())
            .map(|e| f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-e).exp()))))
            .collect();
        let exact: f64 = (response.iter().zip(&eta).zip(&delta))
            .map(|((y, eta), delta)| {
                let s = 2.0 * y - 1.0;
                let (eta, delta) = (s * eta, s * delta);
                (delta.abs().exp_m1() / (1.0 + eta.max(eta + delta).exp())).ln_1p().copysign(delta)
            })
            .sum();
        let data = checked(columns, response);
        let model = Glm::new(Logistic, &data, vec![Prior::Flat; ACCURACY_COLUMNS + 1]).expect("valid data");
        let mut scratch = model.scratch(Access::Blocks);
        let found = model.compare(&from, &to, &mut scratch).total().expect("finite numbers").sum();
        error += found - exact;
        total += exact;
    }
    println!(
        "total of {ACCURACY_ROWS} rows, d = {ACCURACY_COLUMNS}: {total:.6}, error {error:.2e} (bar 1e-5)"
    );
    error.abs()
}

fn checked(columns: Vec<Vec<f64>>, response: Vec<f64>) -> CheckedData {
    let count = columns.len();
    CheckedData {
        names: (0..count).map(|j| format!("x{j}")).collect(),
        columns,
        shift: vec![0.0; count],
        scale: vec![1.0; count],
        response,
        weights: None,
        trials: None,
        offset: None,
        intercept: true,
        shuffle: None,
        kind: austerity_glm::ResponseKind::Binary,
        warnings: Vec::new(),
    }
}
