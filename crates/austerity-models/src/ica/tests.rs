//! Tests of the ICA model: its differences against f64, its totals, what it refuses.

use super::kernel::{difference, log_density};
use super::*;
use crate::Stiefel;
use crate::stiefel::{nearest_frame, uniform_frame};
use austerity::kernel::{Kernel as _, Metropolis};
use austerity::population::{BlockOrder, Population as _};
use austerity::proposal::Proposal as _;
use austerity::rng::{Role, Streams, stream};
use austerity::rule::{AnyRule, Bound, Exact, RuleSettings, SequentialSettings};
use rand::RngExt as _;
use rand_distr::StandardNormal;

/// Products of normals: heavy tails, variance 1.
fn columns(dimension: usize, rows: usize, scale: f64) -> Vec<Vec<f64>> {
    let mut rng = stream(1, 0, Role::Data);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    (0..dimension).map(|_| (0..rows).map(|_| scale * normal() * normal()).collect()).collect()
}

fn neighbours(dimension: usize, sd: f64) -> [Vec<f64>; 2] {
    let mut rng = stream(2, 0, Role::Start);
    let from = uniform_frame(dimension, dimension, &mut rng).unwrap();
    let mut to = Vec::new();
    Stiefel::isotropic(dimension, dimension, sd).unwrap().propose(&from, &mut to, &mut rng).unwrap();
    [from, to]
}

/// l of a row in f64, Σ_j |δ_j| and ‖x‖.
fn reference(model: &Ica, [from, to]: [&[f64]; 2], position: usize) -> [f64; 3] {
    let d = model.dimension;
    let x: Vec<f64> = (0..d)
        .map(|k| {
            let line = (position / 32 * d + k) * 2 + position % 32 / 16;
            f64::from(model.lines[line].0[position % 16])
        })
        .collect();
    let mut sums = [0.0; 2];
    for j in 0..d {
        let dot = |w: &[f64]| w[j * d..][..d].iter().zip(&x).map(|(w, x)| w * x).sum::<f64>();
        let change: f64 = (0..d).map(|k| (to[j * d + k] - from[j * d + k]) * x[k]).sum();
        let l = difference(dot(from), 0.5 * change);
        sums = [sums[0] + l, sums[1] + change.abs()];
    }
    [sums[0], sums[1], x.iter().map(|x| x * x).sum::<f64>().sqrt()]
}

#[test]
fn the_density_has_the_known_values() {
    assert!((log_density(0.0) + 1.386_294_361).abs() < 1e-9);
    assert!((log_density(2.0) + 2.253_856_1).abs() < 1e-6);
    assert_eq!(log_density(-2.0), log_density(2.0));
    assert_eq!(log_density(1e300), -1e300);
    // It integrates to 1: the logistic density.
    let sum: f64 = (-40_000..40_000).map(|i| log_density(1e-3 * (f64::from(i) + 0.5)).exp()).sum();
    assert!((1e-3 * sum - 1.0).abs() < 1e-9);
}

#[test]
fn the_difference_neither_cancels_nor_overflows() {
    for s in [-900.0, -30.0, -2.0, -1e-3, 0.0, 0.5, 3.0, 60.0, 800.0] {
        for z in [-400.0, -0.6, -0.4, 0.1, 0.5, 0.51, 7.0, 500.0] {
            let exact = log_density(s + 2.0 * z) - log_density(s);
            let scale = s.abs() + z.abs() + 1.0;
            assert!((difference(s, z) - exact).abs() < 1e-14 * scale, "{s} {z}");
        }
        // Far below the rounding of the densities: the derivative −tanh(s/2)·2z, and −z²/cosh²(s/2) on top of it.
        let z = 1e-9;
        let exact = -2.0 * z * (0.5 * s).tanh() - (z / (0.5 * s).cosh()).powi(2);
        assert!((difference(s, z) - exact).abs() <= 1e-12 * exact.abs(), "{s}");
    }
}

/// Every row against f64, relative to what the row moves by (Σ_j |δ_j|, the size of l where no two sources cancel), on every
/// instruction set, for short and long steps and samples of all sizes: the fast path and the slow one. Samples longer than ten
/// standard deviations lose in proportion: their dot products cancel in f32 where s is small.
#[test]
fn every_row_agrees_with_f64() {
    for (dimension, sd, scale) in [
        (4, 1e-3, 1.0),
        (4, 1e-6, 1.0),
        (4, 0.1, 1.0),
        (4, 1e-3, 300.0),
        (2, 1e-2, 1.0),
        (7, 0.3, 3.0),
        (1, 0.1, 1.0),
    ] {
        let model = Ica::unchecked(&columns(dimension, 1_000, scale), Some(3)).unwrap();
        let [from, to] = neighbours(dimension, sd);
        for level in simd::available() {
            let model = Ica { level, ..model.clone() };
            let mut scratch = model.scratch(Access::Blocks);
            let mut values = vec![0.0; 1_000];
            model.compare(&from, &to, &mut scratch).reveal(0..1_000, &mut values).unwrap();
            for (position, value) in values.iter().enumerate() {
                let [exact, size, length] = reference(&model, [&from, &to], position);
                let error = (value - exact).abs() / (size + f64::MIN_POSITIVE);
                assert!(
                    error < f64::max(1e-6, 1e-7 * length),
                    "{dimension} {sd} {scale} {level:?}: {value} against {exact} of {size}"
                );
            }
        }
    }
}

#[test]
fn looks_and_totals_agree() {
    let rows = 32 * 37 + 5;
    for dimension in [3, 4, 6] {
        let model = Ica::unchecked(&columns(dimension, rows, 1.0), Some(3)).unwrap();
        let [from, to] = neighbours(dimension, 0.01);
        let mut blocks = model.scratch(Access::Blocks);
        let mut values = vec![0.0; rows];
        model.compare(&from, &to, &mut blocks).reveal(0..rows, &mut values).unwrap();
        let exact = austerity::population::Moments::of(&values);
        let fresh = model.compare(&from, &to, &mut blocks).total().unwrap();
        assert_eq!((fresh.count, fresh.minimum, fresh.maximum), (exact.count, exact.minimum, exact.maximum));
        assert!((fresh.mean - exact.mean).abs() < 1e-6 * exact.sd());
        assert!((fresh.sd() / exact.sd() - 1.0).abs() < 1e-5);
        // What was compared before leaves no trace.
        let mut scan = model.scratch(Access::Scan);
        let back = model.compare(&to, &from, &mut scan).total().unwrap();
        assert_eq!(model.compare(&from, &to, &mut scan).total().unwrap(), fresh);
        assert!((back.mean + fresh.mean).abs() < 1e-6 * exact.sd());
        // Blocks of other sizes than the storage's.
        for block_rows in [1, 7, 64] {
            let list: Vec<u32> = (0..rows.div_ceil(block_rows) as u32).rev().collect();
            let mut moments = austerity::population::Moments::EMPTY;
            model.compare(&from, &to, &mut blocks).summarize(&list, block_rows, &mut moments).unwrap();
            assert_eq!((moments.count, moments.minimum), (exact.count, exact.minimum));
            assert!((moments.mean - exact.mean).abs() < 1e-6 * exact.sd());
        }
        assert_eq!(model.compare(&from, &to, &mut scan).row_cost().scanned, 1);
    }
}

/// Beyond its reach a move would leave the short polynomials; one that is not finite has none, wherever the number stands.
#[test]
fn the_reach_of_a_move() {
    let rows = [[1.0, 1e-3], [0.0, 0.0], [0.0, 0.0], [1.0, -4e-3]];
    assert!((kernel::reach(2, &rows) - 0.999 / 32.0 / 4e-3).abs() < 1e-4);
    assert!((kernel::reach(2, &rows.map(|[w, _]| [w, 0.0])) - 0.999 * 18.0).abs() < 1e-4);
    for place in 0..4 {
        let mut rows = rows;
        rows[place][1] = f64::NAN;
        assert_eq!(kernel::reach(2, &rows), 0.0);
    }
}

/// A walk under a rule: the states it visited.
fn path(model: &Ica, rule: AnyRule, steps: u64) -> Vec<Vec<f64>> {
    let mut state = nearest_frame(4, 4, &neighbours(4, 0.1)[0]).unwrap();
    let order = BlockOrder::new(model.len(), 32, 7, 0).unwrap();
    let walk = Stiefel::isotropic(4, 4, 0.01).unwrap();
    let mut kernel = Metropolis::new(model, walk, rule, order, &state).unwrap();
    let mut streams = Streams::new(7, 0);
    (0..steps)
        .map(|step| {
            streams.begin(step);
            kernel.step(&mut state, &mut streams).unwrap();
            state.clone()
        })
        .collect()
}

#[test]
fn a_test_that_allows_no_error_is_the_exact_rule_to_the_bit() {
    let model = Ica::new(&columns(4, 20_000, 1.0), Some(3)).unwrap();
    let rule = |epsilon| {
        let settings =
            SequentialSettings { bound: Bound::pocock(epsilon), ..SequentialSettings::constant(600, 0.1) };
        RuleSettings::Sequential(settings).build(model.len()).unwrap()
    };
    let exact = path(&model, RuleSettings::default().build(model.len()).unwrap(), 300);
    assert_eq!(path(&model, rule(0.0), 300), exact);
    assert_ne!(path(&model, rule(0.2), 300), exact, "a test that allows errors makes some");
    let moved = exact.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((30..290).contains(&moved), "{moved} of 300 accepted");
}

/// The sources come back: heavy-tailed sources mixed and whitened, a chain from nowhere, and the Amari distance of where it ends.
#[test]
fn mixed_sources_are_separated() {
    let sources = columns(3, 20_000, 1.0);
    let mixing = [2.0, 0.3, -0.5, -0.4, 1.0, 0.2, 0.1, 0.7, -0.6];
    let mixed: Vec<Vec<f64>> = (0..3)
        .map(|i| (0..20_000).map(|row| (0..3).map(|k| mixing[3 * i + k] * sources[k][row]).sum()).collect())
        .collect();
    assert!(Ica::new(&mixed, Some(1)).unwrap_err().to_string().contains("not white"));
    let whitening = Whitening::of(&mixed).unwrap();
    let model = Ica::new(&whitening.apply(&mixed).unwrap(), Some(1)).unwrap();
    let mixing = whitening.mixing(&mixing).unwrap();
    let mut state = uniform_frame(3, 3, &mut stream(4, 0, Role::Start)).unwrap();
    assert!(amari_distance(3, &state, &mixing).unwrap() > 0.1, "a start is no solution");
    let order = BlockOrder::new(model.len(), 32, 7, 0).unwrap();
    let walk = Stiefel::isotropic(3, 3, 0.03).unwrap();
    let mut kernel = Metropolis::new(&model, walk, Exact::default(), order, &state).unwrap();
    let mut streams = Streams::new(7, 0);
    for step in 0..1_500 {
        streams.begin(step);
        kernel.step(&mut state, &mut streams).unwrap();
    }
    let distance = amari_distance(3, &state, &mixing).unwrap();
    assert!(distance < 0.03, "{distance}");
}

#[test]
fn whitened_columns_are_white() {
    let mut raw = columns(3, 4_000, 1.0);
    raw[1] = raw[0].iter().zip(&raw[1]).map(|(a, b)| 5.0 + 3.0 * a - 0.1 * b).collect();
    let whitening = Whitening::of(&raw).unwrap();
    let white = whitening.apply(&raw).unwrap();
    assert!(whitening::departure_from_white(&white) < 1e-10);
    let matrix = whitening.matrix();
    assert!((0..9).all(|k| (matrix[k] - matrix[k % 3 * 3 + k / 3]).abs() < 1e-12), "symmetric");
    assert!((whitening.mean()[1] - 5.0).abs() < 0.3);
    raw[2] = raw[0].iter().map(|x| 2.0 * x).collect();
    assert!(matches!(Whitening::of(&raw), Err(Error::NotPositiveDefinite { .. })));
    assert!(Whitening::of(&[]).is_err());
    raw[2][7] = f64::NAN;
    assert!(matches!(Whitening::of(&raw), Err(Error::NotFinite { row: 7, .. })));
}

#[test]
fn the_amari_distance_sees_neither_order_nor_scale() {
    let [w, near] = neighbours(4, 0.05);
    let transpose: Vec<f64> = (0..16).map(|k| w[k % 4 * 4 + k / 4]).collect();
    assert!(amari_distance(4, &w, &transpose).unwrap() < 1e-14);
    let distance = amari_distance(4, &near, &transpose).unwrap();
    assert!((0.01..0.2).contains(&distance), "{distance}");
    let shuffled: Vec<f64> =
        [2, 0, 3, 1].iter().flat_map(|&j| near[4 * j..4 * j + 4].iter().map(|w| -3.0 * w)).collect();
    assert!((amari_distance(4, &shuffled, &transpose).unwrap() - distance).abs() < 1e-14);
    assert_eq!(amari_distance(2, &[0.0; 4], &[1.0, 0.0, 0.0, 1.0]).unwrap(), 1.0);
    assert!(amari_distance(1, &[1.0], &[1.0]).is_err());
    assert!(amari_distance(2, &[1.0], &[1.0; 4]).is_err());
}

#[test]
fn bad_input_is_refused_and_named() {
    assert!(Ica::new(&[], None).is_err());
    assert!(matches!(Ica::new(&[vec![]], None), Err(Error::EmptyData)));
    let mut bad = columns(2, 100, 1.0);
    bad[1][42] = f64::INFINITY;
    assert!(matches!(Ica::new(&bad, Some(1)), Err(Error::NotFinite { row: 42, .. })));
    bad[1].pop();
    assert!(matches!(Ica::new(&bad, Some(1)), Err(Error::Dimension { .. })));
    let model = Ica::unchecked(&columns(2, 100, 1.0), Some(1)).unwrap();
    assert!(model.check_state(&vec![1.0, 0.0, 0.0, 1.0]).is_ok());
    assert!(model.check_state(&vec![1.0, 0.0, 0.1, 1.0]).unwrap_err().to_string().contains("nearest_frame"));
    assert!(model.check_state(&vec![1.0]).is_err());
    assert_eq!(model.log_prior(&vec![1.0, 0.0, 0.1, 1.0]), f64::NEG_INFINITY);
    let mut scratch = model.scratch(Access::Scan);
    let (good, broken) = (vec![1.0, 0.0, 0.0, 1.0], vec![1.0, f64::NAN, 0.0, 1.0]);
    let error = model.compare(&good, &broken, &mut scratch).total().unwrap_err();
    assert!(matches!(error, Error::NotANumber { .. }), "{error}");
    assert!(model.compare(&good, &vec![1.0], &mut scratch).total().is_err());
    let other = Ica::unchecked(&columns(2, 100, 1.1), Some(1)).unwrap();
    assert_ne!(model.fingerprint(), other.fingerprint());
}
