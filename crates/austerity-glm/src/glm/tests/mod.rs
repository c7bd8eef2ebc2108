//! What every family must do, on every instruction set.

mod accuracy;
mod definition;
mod edges;
mod influence;

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::{Prior, ResponseKind};
use austerity::population::{Moments, Population as _, RowCost};
use austerity::rng::{Rng, Role, stream};

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// What a test varies.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    side: bool,
    shuffle: Option<u64>,
}

/// Rows with columns on odd scales and, with `side`, weights and an offset.
fn data(shape: Shape, response: impl Fn(&mut Rng, f64) -> f64) -> CheckedData {
    let mut rng = stream(77, 0, Role::Proposal);
    let rows = shape.rows;
    let shift: Vec<f64> = (0..shape.columns).map(|j| 3.0 * j as f64).collect();
    let scale: Vec<f64> = (0..shape.columns).map(|j| 0.5 + j as f64).collect();
    let columns = (0..shape.columns)
        .map(|j| (0..rows).map(|_| shift[j] + scale[j] * normal(&mut rng)).collect())
        .collect();
    let trials: Vec<f64> = (0..rows).map(|_| f64::from(rng.random_range(1..9u32))).collect();
    let response = trials.iter().map(|&t| response(&mut rng, t)).collect();
    let mut side = |f: &dyn Fn(&mut Rng) -> f64| shape.side.then(|| (0..rows).map(|_| f(&mut rng)).collect());
    CheckedData {
        names: (0..shape.columns).map(|j| format!("x{j}")).collect(),
        columns,
        shift,
        scale,
        response,
        weights: side(&|rng| f64::from(rng.random_range(0..4u32))),
        offset: side(&|rng| 0.3 * normal(rng)),
        trials: Some(trials),
        intercept: true,
        shuffle: shape.shuffle,
        kind: ResponseKind::Real,
        warnings: Vec::new(),
    }
}

fn build<F: Family>(
    family: F,
    shape: Shape,
    response: impl Fn(&mut Rng, f64) -> f64,
) -> (Glm<F>, CheckedData) {
    let data = data(shape, response);
    let mut priors = vec![Prior::normal(2.0); data.coefficients() + family.extra().len()];
    priors[0] = Prior::student(3.0, 2.0);
    (Glm::new(family, &data, priors).unwrap(), data)
}

const SHAPE: Shape = Shape { rows: 1000, columns: 5, side: true, shuffle: Some(4) };

/// A state whose linear predictor has a spread of about `size` in the units of the storage.
fn state<F: Family>(model: &Glm<F>, seed: u64, size: f64) -> Vec<f64> {
    let mut rng = stream(seed, 1, Role::Proposal);
    let columns = model.coding.len();
    let mut state: Vec<f64> = vec![0.0];
    for entry in &model.coding.entries {
        let beta = size * normal(&mut rng) / entry.scale / (columns as f64).sqrt();
        state[0] -= beta * entry.shift;
        state.push(beta);
    }
    state[0] += 0.3 * size * normal(&mut rng) - model.side_constant;
    state.extend(model.family.extra().iter().map(|_| 0.2 * size * normal(&mut rng)));
    state
}

fn moved(from: &[f64], to: &[f64], share: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(a, b)| a + share * (b - a)).collect()
}

/// Every difference in f64 from the user's own numbers, in storage order; nothing of it has seen f32.
fn reference<F: Family>(family: &F, data: &CheckedData, from: &[f64], to: &[f64]) -> Vec<f64> {
    let first = usize::from(data.intercept);
    let extra = first + data.columns.len();
    let step = <F::Kernel>::step(family, &from[extra..], &to[extra..]);
    let side = |values: &Option<Vec<f64>>, row: usize, missing| values.as_ref().map_or(missing, |v| v[row]);
    let one = |row: u32| {
        let row = row as usize;
        let mut eta = side(&data.offset, row, 0.0);
        let mut delta = 0.0;
        if data.intercept {
            eta += from[0];
            delta += to[0] - from[0];
        }
        for (j, column) in data.columns.iter().enumerate() {
            eta += from[first + j] * column[row];
            delta += (to[first + j] - from[first + j]) * column[row];
        }
        let trials = side(&data.trials, row, 0.0);
        let response = family.kind().stored(data.response[row]);
        side(&data.weights, row, 1.0) * <F::Kernel>::difference(&step, eta, delta, response, trials)
    };
    data.storage_order().into_iter().map(one).collect()
}

/// Differences, block sizes and totals of a family against the f64 reference on every level.
///
/// The tolerance is 3e-6 of the largest difference: f32 dot products of η carry 1e-7·|η|, which moves l by that
/// share of its slope.
fn battery<F: Family>((model, data): &(Glm<F>, CheckedData)) {
    for (seed, size, share) in [(1, 1.0, 0.02), (2, 1.0, 1.0), (3, 4.0, 0.5), (4, 20.0, 1.0)] {
        let from = state(model, seed, size);
        let to = moved(&from, &state(model, seed + 50, size), share);
        let exact = reference(&model.family, data, &from, &to);
        let largest = exact.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let whole = Moments::of(&exact);
        for level in simd::available() {
            let model = model.clone().with_level(level);
            let mut scratch = model.scratch(Access::Blocks);
            let mut ratio = model.compare(&from, &to, &mut scratch);
            let mut found = vec![0.0; model.len()];
            ratio.reveal(0..model.len(), &mut found).unwrap();
            for (row, (a, b)) in found.iter().zip(&exact).enumerate() {
                let gap = (a - b).abs();
                assert!(
                    gap <= 3e-6 * (largest + b.abs()),
                    "{} row {row}: {a} against {b}, step {share}, size {size}, {level:?}",
                    model.family.name()
                );
            }
            let mut part = vec![0.0; 50];
            ratio.reveal(41..91, &mut part).unwrap();
            assert_eq!(part, found[41..91]);
            bits(&mut ratio, &found);
            for block_rows in [1, 7, 32, 64, 96, 1000] {
                let list: Vec<u32> = (0..model.len().div_ceil(block_rows) as u32).rev().collect();
                let mut moments = Moments::EMPTY;
                ratio.summarize(&list, block_rows, &mut moments).unwrap();
                assert_eq!(moments.count as usize, model.len());
                assert_eq!(moments.nonzeros, whole.nonzeros);
                let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= 5e-6 * scale.max(b.abs());
                let n = model.len() as f64;
                assert!(near(moments.mean, whole.mean, largest), "{moments:?} {whole:?}");
                assert!(near(moments.minimum, whole.minimum, largest));
                assert!(near(moments.maximum, whole.maximum, largest));
                assert!(near(moments.m2, whole.m2, n * largest.powi(2)));
                assert!(near(moments.m3, whole.m3, n * largest.powi(3)));
                assert!(near(moments.m4, whole.m4, n * largest.powi(4)));
            }
        }
    }
}

/// A row has one l, to the last bit, whatever the block it is asked for in: every block of 32 that a total adds up,
/// and every single row.
fn bits<F: Family>(ratio: &mut Ratio<'_, F>, found: &[f64]) {
    for (row, &l) in found.iter().enumerate() {
        let mut alone = Moments::EMPTY;
        ratio.summarize(&[row as u32], 1, &mut alone).unwrap();
        assert_eq!((alone.mean, alone.minimum), (l, l), "row {row}");
    }
    for (block, found) in found.chunks(32).enumerate() {
        let mut whole = Moments::EMPTY;
        ratio.summarize(&[block as u32], 32, &mut whole).unwrap();
        let expected = Moments::of(found);
        assert_eq!((whole.minimum, whole.maximum), (expected.minimum, expected.maximum), "block {block}");
    }
}

/// A move there and back on one level gives opposite numbers, with and without the cache the same total.
fn cache_is_invisible<F: Family>((model, _): &(Glm<F>, CheckedData)) {
    for level in simd::available() {
        let model = model.clone().with_level(level);
        let mut scan = model.scratch(Access::Scan);
        let mut plain = model.scratch(Access::Blocks);
        let mut current = state(&model, 9, 1.0);
        for step in 0..12u64 {
            let candidate = moved(&current, &state(&model, 100 + step, 1.0), 0.1);
            let mut ratio = model.compare(&current, &candidate, &mut scan);
            // One evaluation, whether or not η is refilled on the way.
            assert_eq!(ratio.row_cost(), RowCost { revealed: 2, scanned: 1 });
            let cached = ratio.total().unwrap();
            assert_eq!(ratio.row_cost().scanned, 1);
            assert_eq!(cached, ratio.total().unwrap());
            let fresh = model.compare(&current, &candidate, &mut plain);
            assert_eq!(fresh.row_cost().scanned, 2);
            let fresh = model.compare(&current, &candidate, &mut plain).total().unwrap();
            assert_eq!(cached, fresh);
            if step % 3 == 0 {
                model.accepted(&mut scan);
                current = candidate;
            }
        }
    }
}

/// Gradient against differences of the log density (five points), Hessian against differences of
/// the gradient. The f32 gradient limits both to about 1e-5 of the sum of absolute terms.
fn derivatives_hold<F: Family>((model, _): &(Glm<F>, CheckedData)) {
    let size = model.parameters();
    for level in simd::available() {
        let model = model.clone().with_level(level);
        let at = state(&model, 21, 1.0);
        let (mut gradient, mut hessian) = (vec![0.0; size], vec![0.0; size * size]);
        let value = model.hessian(&at, &mut gradient, &mut hessian).unwrap();
        let mut alone = vec![0.0; size];
        assert_eq!(value, model.log_density_gradient(&at, &mut alone).unwrap());
        assert_eq!(gradient, alone);
        alone.fill(f64::NAN);
        model.gradient(&at, &mut alone).unwrap();
        assert_eq!(gradient, alone);
        let scale = |i: usize| {
            let entry = i.checked_sub(1).and_then(|j| model.coding.entries.get(j));
            entry.map_or(1.0, |entry| entry.shift.abs().max(entry.scale))
        };
        for i in 0..size {
            let h = 2e-2 / scale(i);
            let shifted = |k: f64| {
                let mut state = at.clone();
                state[i] += k * h;
                let mut gradient = vec![0.0; size];
                let value = model.log_density_gradient(&state, &mut gradient).unwrap();
                (value, gradient)
            };
            let sides = [shifted(-2.0), shifted(-1.0), shifted(1.0), shifted(2.0)];
            let weights = [1.0, -8.0, 8.0, -1.0].map(|w: f64| w / (12.0 * h));
            let slope: f64 = sides.iter().zip(weights).map(|(s, w)| w * s.0).sum();
            let rows = model.len() as f64;
            assert!(
                (slope - gradient[i]).abs() <= 3e-5 * rows * scale(i),
                "{} gradient {i}: {} against {slope}, {level:?}",
                model.family.name(),
                gradient[i]
            );
            for k in 0..size {
                let slope: f64 = sides.iter().zip(weights).map(|(s, w)| w * s.1[k]).sum();
                assert!(
                    (slope - hessian[i * size + k]).abs() <= 2e-4 * rows * scale(i) * scale(k),
                    "{} Hessian {i},{k}: {} against {slope}, {level:?}",
                    model.family.name(),
                    hessian[i * size + k]
                );
                assert!(
                    (hessian[i * size + k] - hessian[k * size + i]).abs()
                        <= 1e-9 * rows * scale(i) * scale(k)
                );
            }
        }
    }
}

macro_rules! families {
    ($test:ident, $body:ident) => {
        #[test]
        fn $test() {
            for side in [false, true] {
                let shape = Shape { side, ..SHAPE };
                $body(&build(Logistic, shape, |rng, _| f64::from(rng.random::<bool>())));
                $body(&build(Binomial, shape, |rng, t| (rng.random::<f64>() * (t + 1.0)).floor()));
                $body(&build(Poisson, shape, |rng, t| (rng.random::<f64>() * t).floor()));
                $body(&build(Student { freedom: 4.0 }, shape, |rng, t| 1e4 + t + normal(rng)));
            }
        }
    };
}

families!(differences_agree_with_f64_on_every_level_and_block_size, battery);
families!(a_cached_total_equals_a_fresh_one_to_the_last_bit, cache_is_invisible);
families!(derivatives_agree_with_finite_differences, derivatives_hold);

/// The scalar forms, on which the tests above rest, against plain differences of log-likelihoods where those hold
/// and against limits where they do not.
#[test]
fn scalar_forms() {
    for eta in [-8.0, -1.0, 0.0, 0.5, 6.0] {
        for delta in [-9.0, -0.7, 1e-3, 0.2, 3.0, 25.0] {
            let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-11 * (1.0 + b.abs()), "{a} against {b}");
            for y in [-1.0, 1.0] {
                let plain = Logistic.log_likelihood(&[], eta + delta, y, 0.0)
                    - Logistic.log_likelihood(&[], eta, y, 0.0);
                close(Logistic::difference(&(), eta, delta, y, 0.0), plain);
            }
            for y in [0.0, 2.0, 5.0] {
                let plain = |f: &dyn Fn(f64) -> f64| f(eta + delta) - f(eta);
                close(
                    Binomial::difference(&(), eta, delta, y, 5.0),
                    plain(&|e| Binomial.log_likelihood(&[], e, y, 5.0)),
                );
                let growth = (eta + delta).exp() * 1e-14;
                let found = Poisson::difference(&(), eta, delta, y, 0.0);
                let expected = plain(&|e| Poisson.log_likelihood(&[], e, y, 0.0));
                assert!((found - expected).abs() <= 1e-11 + growth);
                let student = Student { freedom: 3.0 };
                let step = Student::step(&student, &[0.4], &[0.1]);
                close(
                    Student::difference(&step, eta, delta, y, 0.0),
                    student.log_likelihood(&[0.1], eta + delta, y, 0.0)
                        - student.log_likelihood(&[0.4], eta, y, 0.0),
                );
            }
        }
    }
    // l → δ far below, → 0 far above, whatever the sizes.
    let logistic = |eta, delta| Logistic::difference(&(), eta, delta, 1.0, 0.0);
    assert_eq!(logistic(-1e4, 1.0), 1.0);
    assert_eq!(logistic(-1e4, 5e3), 5e3);
    assert_eq!(logistic(1e4, -3e4), -2e4);
    assert_eq!(logistic(1e4, 1e4), 0.0);
    assert_eq!(logistic(-1e4, 1e4), 1e4 - 2f64.ln());
    let small = logistic(40.0, 1e-3);
    assert!((small / ((-40f64).exp() * 1e-3) - 1.0).abs() < 1e-3);
    let poisson = |eta, delta| Poisson::difference(&(), eta, delta, 2.0, 0.0);
    assert_eq!(poisson(-1e4, 5e3), 1e4);
    assert_eq!(poisson(0.0, 1e4), f64::NEG_INFINITY);
    assert_eq!(poisson(1e4, -1.0), f64::INFINITY);
}
