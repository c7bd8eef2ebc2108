//! Tests of variable selection: prior, differences against f64, caches, refusals.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::{IndexChoice, Jump, JumpMove};
use austerity::population::{Moments, Population as _};
use austerity::proposal::Proposal as _;
use austerity::rng::{Rng, Role, stream};
use austerity_glm::Data;

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Rows with columns on odd scales and, with `side`, weights and an offset.
fn data(rows: usize, columns: usize, intercept: bool, side: bool) -> Data {
    let mut rng = stream(31, 0, Role::Data);
    let values: Vec<Vec<f64>> = (0..columns)
        .map(|j| (0..rows).map(|_| 2.0 * j as f64 + (0.5 + j as f64) * normal(&mut rng)).collect())
        .collect();
    let response = (0..rows).map(|_| f64::from(u8::from(rng.random::<f64>() < 0.4))).collect();
    let names: Vec<String> = (0..columns).map(|j| format!("x{j}")).collect();
    let mut data = Data::new(names, values, response).intercept(intercept);
    if side {
        data = data.offset((0..rows).map(|_| 0.3 * normal(&mut rng)).collect());
        data = data.weights((0..rows).map(|_| f64::from(rng.random_range(1..4u32))).collect());
    }
    data
}

fn build(data: &Data, prior: SelectionPrior) -> (VariableSelection, CheckedData) {
    let checked = data.clone().check(ResponseKind::Binary).unwrap();
    (VariableSelection::new(&checked, prior).unwrap(), checked)
}

/// A state of `size` features whose linear predictor has a spread of about `spread`.
fn state(model: &VariableSelection, size: usize, spread: f64, rng: &mut Rng) -> Selection {
    let mut features: Vec<u32> = (0..model.features() as u32).collect();
    rand::seq::SliceRandom::shuffle(&mut features[..], rng);
    let scale = |j: u32| (j as usize).checked_sub(model.first).map_or(1.0, |c| model.transform[c].1);
    let pairs = features[..size].iter().map(|&j| {
        let size = spread / (size as f64).sqrt() / scale(j);
        (j, size * (0.2 + normal(rng)))
    });
    Selection::new(pairs.collect::<Vec<_>>()).unwrap()
}

/// η of a row in f64, from the user's own numbers.
fn predictor(data: &CheckedData, state: &Selection, row: usize) -> f64 {
    let first = usize::from(data.intercept);
    let terms = state.iter().map(|(j, beta)| match j.checked_sub(first) {
        None => beta,
        Some(column) => beta * data.columns[column][row],
    });
    data.offset.as_ref().map_or(0.0, |offset| offset[row]) + terms.sum::<f64>()
}

/// Sum of the sizes of the terms of η, as given and as centred, times the weight.
fn magnitude(data: &CheckedData, state: &Selection, row: usize) -> f64 {
    let first = usize::from(data.intercept);
    let terms = state.iter().map(|(j, beta)| match j.checked_sub(first) {
        None => beta.abs(),
        Some(column) => beta.abs() * (data.columns[column][row].abs() + 2.0 * data.shift[column].abs()),
    });
    terms.sum::<f64>() * data.weights.as_ref().map_or(1.0, |weights| weights[row])
}

fn log_likelihood(data: &CheckedData, state: &Selection, row: usize) -> f64 {
    let eta = predictor(data, state, row) * (2.0 * data.response[row] - 1.0);
    let density = if eta > 0.0 { -(-eta).exp().ln_1p() } else { eta - eta.exp().ln_1p() };
    density * data.weights.as_ref().map_or(1.0, |weights| weights[row])
}

/// The prior without a closed form: models counted one by one, the scale ν integrated by the trapezoidal rule in log ν.
fn log_prior(rate: f64, features: usize, state: &Selection) -> f64 {
    let size = state.size() as i32;
    let ways: f64 = (0..size).map(|i| (features as f64 - f64::from(i)) / f64::from(i + 1)).product();
    let factorial: f64 = (1..=size).map(f64::from).product();
    let integral: f64 = (-4000..4000)
        .map(|i| (f64::from(i) * 0.01).exp())
        .map(|scale| {
            let densities = state.coefficients().iter().map(|b| (-b.abs() / scale).exp() / (2.0 * scale));
            0.01 * densities.product::<f64>()
        })
        .sum();
    (rate.powi(size) / (ways * factorial) * integral).ln()
}

#[test]
fn the_prior_equals_its_definition() {
    let (model, _) = build(&data(40, 4, true, false), SelectionPrior::new(0.3).unwrap());
    let mut rng = stream(32, 0, Role::Data);
    let base = Selection::new([(0, 1.0)]).unwrap();
    let constant = model.log_prior(&base) - log_prior(0.3, 5, &base);
    for size in 1..=5 {
        let state = state(&model, size, 2.0, &mut rng);
        let expected = log_prior(0.3, 5, &state) + constant;
        assert!((model.log_prior(&state) - expected).abs() < 1e-9, "k = {size}");
        let paper = SelectionPrior::paper(0.3).unwrap();
        let difference = paper.log_density(&paper.sizes(5), &state) - model.log_prior(&state);
        assert!((difference - size as f64 * 2f64.ln()).abs() < 1e-12, "the paper drops 2^-k");
        let twice = SelectionPrior::new(0.6).unwrap();
        assert!(
            (twice.log_density(&twice.sizes(5), &state) - paper.log_density(&paper.sizes(5), &state)).abs()
                < 1e-12
        );
    }
}

/// Corrected formulas of the paper's supplement E: D = 51, λ = 1e-10, σ_birth = .1, u = .5, β_j = .05, ‖β‖: 1.2 ↔ 1.25.
#[test]
fn thresholds_of_the_paper() {
    let (paper, checked) = build(&data(80, 50, true, false), SelectionPrior::paper(1e-10).unwrap());
    let three = Selection::new([(0, 0.4), (1, -0.4), (2, 0.4)]).unwrap();
    let four = Selection::new([(0, 0.4), (1, -0.4), (2, 0.4), (3, 0.05)]).unwrap();
    assert!((three.norm() - 1.2).abs() < 1e-15 && (four.norm() - 1.25).abs() < 1e-15);
    let jump = Jump::new(51, 0.01, 0.1).unwrap();
    let forth = |model: &VariableSelection, jump: &Jump| {
        0.5f64.ln() - (model.log_prior(&four) - model.log_prior(&three) + jump.log_birth(3, 0.05))
    };
    let back = 0.5f64.ln() - (paper.log_prior(&three) - paper.log_prior(&four) - jump.log_birth(3, 0.05));
    let birth = forth(&paper, &jump);
    assert!((birth - 24.224_642).abs() < 5e-7, "{birth}");
    assert!((back + 25.610_936).abs() < 5e-7, "{back}");
    assert!((birth + back - 2.0 * 0.5f64.ln()).abs() < 1e-12);
    let misread = forth(&paper, &jump.clone().with_index(IndexChoice::LeftOut)) - birth;
    assert!((misread - 2.484_907).abs() < 5e-7, "{misread}");
    let halved = VariableSelection::new(&checked, SelectionPrior::new(1e-10).unwrap()).unwrap();
    assert!((forth(&halved, &jump) - birth - 2f64.ln()).abs() < 1e-12);
    // B(k+1, D−k)/B(k, D−k+1) = k/(D−k).
    let sizes = SelectionPrior::paper(1.0).unwrap().sizes(51);
    assert!(((sizes[4] - sizes[3]).exp() - 0.0625).abs() < 1e-12);
}

/// log [π(to)·q(from|to)] − log [π(from)·q(to|from)] by definition.
fn balance(data: &CheckedData, rate: f64, jump: (f64, f64), from: &Selection, to: &Selection) -> f64 {
    let features = data.coefficients();
    let posterior = |s: &Selection| {
        log_prior(rate, features, s) + (0..data.rows()).map(|i| log_likelihood(data, s, i)).sum::<f64>()
    };
    let density = |value: f64, sd: f64| {
        (-0.5 * (value / sd).powi(2)).exp() / (sd * (2.0 * std::f64::consts::PI).sqrt())
    };
    let way = |a: &Selection, b: &Selection| {
        let (k, d) = (a.size() as f64, features as f64);
        let types = 1.0 + f64::from(u8::from(k > 1.0)) + f64::from(u8::from(k < d));
        let moved = (0..features as u32).find(|&j| a.coefficient(j) != b.coefficient(j)).unwrap();
        let probability = match JumpMove::between(a, b) {
            JumpMove::Update => density(b.coefficient(moved) - a.coefficient(moved), jump.0) / k,
            JumpMove::Birth => density(b.coefficient(moved), jump.1) / (d - k),
            JumpMove::Death => 1.0 / k,
        };
        (probability / types).ln()
    };
    posterior(to) + way(to, from) - posterior(from) - way(from, to)
}

/// Every move from every size, both ends among them, with intercept, offset and weights: what the kernel would accept by
/// equals the definition of detailed balance. The wrong index factor, a dropped density of the new coefficient and a dropped
/// 2^−k do not.
#[test]
fn every_move_is_in_detailed_balance() {
    let sds = (0.2, 0.7);
    let (model, checked) = build(&data(50, 3, true, true), SelectionPrior::new(0.3).unwrap());
    let paper = VariableSelection::new(&checked, SelectionPrior::paper(0.3).unwrap()).unwrap();
    let mut rng = stream(33, 0, Role::Data);
    let mut jump = Jump::new(4, sds.0, sds.1).unwrap();
    let mut seen = std::collections::HashMap::new();
    let mut scratch = model.scratch(Access::Blocks);
    for round in 0..400 {
        let from = state(&model, 1 + round % 4, 1.0, &mut rng);
        let mut to = from.clone();
        let log_proposal = jump.propose(&from, &mut to, &mut rng).unwrap().log_ratio;
        let expected = balance(&checked, 0.3, sds, &from, &to);
        let total = model.compare(&from, &to, &mut scratch).total().unwrap().sum();
        let ratio = |model: &VariableSelection, log_proposal: f64| {
            model.log_prior(&to) - model.log_prior(&from) + log_proposal + total
        };
        let kind = JumpMove::between(&from, &to);
        *seen.entry((kind, from.size())).or_insert(0) += 1;
        let error = |found: f64| (found - expected).abs();
        assert!(error(ratio(&model, log_proposal)) < 2e-5, "{kind:?} {from:?} → {to:?}: {expected}");
        if kind != JumpMove::Update {
            assert!(error(ratio(&paper, log_proposal)) > 0.6, "2^-k dropped");
            let (small, born) = if kind == JumpMove::Birth { (&from, &to) } else { (&to, &from) };
            let (sign, k) = (if kind == JumpMove::Birth { 1.0 } else { -1.0 }, small.size());
            let moved = (0..4).find(|&j| born.includes(j) && !small.includes(j)).unwrap();
            let misread = jump.clone().with_index(IndexChoice::LeftOut).log_birth(k, born.coefficient(moved));
            let wrong = error(ratio(&model, sign * misread));
            assert!(
                (wrong - ((4.0 - k as f64) / (k as f64 + 1.0)).ln().abs()).abs() < 1e-4,
                "index left out"
            );
            let z = born.coefficient(moved) / sds.1;
            let log_normal = -0.5 * z * z - (sds.1 * (2.0 * std::f64::consts::PI).sqrt()).ln();
            let wrong = error(ratio(&model, log_proposal + sign * log_normal));
            assert!((wrong - log_normal.abs()).abs() < 1e-4, "density of the new coefficient dropped");
        }
    }
    assert_eq!(seen.len(), 10, "4 updates, 3 births, 3 deaths: {seen:?}");
}

/// Differences against f64 on every instruction set: small and large steps, several features at once, partial blocks, weights.
#[test]
fn differences_agree_with_double_precision() {
    let (model, checked) = build(&data(1003, 6, true, true), SelectionPrior::new(1.0).unwrap());
    let order = checked.storage_order();
    let mut rng = stream(34, 0, Role::Data);
    for level in simd::available() {
        let model = VariableSelection { level, ..model.clone() };
        for (spread, share) in [(0.5, 0.02), (1.0, 1.0), (5.0, 1.0), (40.0, 1.0), (300.0, 1.0)] {
            let from = state(&model, 3, spread, &mut rng);
            let other = state(&model, 4, spread * share, &mut rng);
            let moved = from.iter().map(|(j, b)| (j as u32, b * (1.0 + 0.1 * share)));
            let moved = Selection::new(moved.collect::<Vec<_>>()).unwrap();
            for to in [&moved, &other] {
                let expected: Vec<f64> = order
                    .iter()
                    .map(|&i| {
                        log_likelihood(&checked, to, i as usize) - log_likelihood(&checked, &from, i as usize)
                    })
                    .collect();
                let mut scratch = model.scratch(Access::Blocks);
                let mut found = vec![0.0; 1003];
                let mut ratio = model.compare(&from, to, &mut scratch);
                ratio.reveal(0..1003, &mut found).unwrap();
                for ((i, found), expected) in found.iter().enumerate().zip(&expected) {
                    let row = order[i] as usize;
                    // f32 loses a share of the terms, not of their sum.
                    let allowed =
                        1e-6 * (1.0 + magnitude(&checked, &from, row) + magnitude(&checked, to, row));
                    assert!(
                        (found - expected).abs() < allowed,
                        "{level:?} {spread} row {row}: {found} {expected}"
                    );
                }
                let total = ratio.total().unwrap();
                let mean = found.iter().sum::<f64>() / 1003.0;
                assert!((total.mean - mean).abs() < 1e-6 * (1.0 + mean.abs()), "{} {mean}", total.mean);
                assert_eq!(total.count, 1003);
            }
        }
    }
}

/// A total is the same to the bit with and without the cache, whatever was compared before; looks of rows, blocks and groups
/// see the same numbers.
#[test]
fn the_cache_changes_no_bit() {
    for rows in [20, 32, 64, 1003, 4000] {
        let (model, _) = build(&data(rows, 6, rows != 64, rows == 1003), SelectionPrior::new(1.0).unwrap());
        let mut rng = stream(35, 0, Role::Data);
        let mut jump = Jump::new(model.features(), 0.3, 0.5).unwrap();
        let mut from = state(&model, 3, 1.0, &mut rng);
        let mut to = from.clone();
        let (mut kept, mut fresh) = (model.scratch(Access::Scan), model.scratch(Access::Blocks));
        for step in 0..60 {
            jump.propose(&from, &mut to, &mut rng).unwrap();
            let cached = model.compare(&from, &to, &mut kept).total().unwrap();
            let mut ratio = model.compare(&from, &to, &mut fresh);
            let plain = ratio.total().unwrap();
            assert_eq!(cached, plain);
            for block_rows in [1, 7, 32, 96] {
                let blocks: Vec<u32> = (0..rows.div_ceil(block_rows) as u32).collect();
                let mut moments = Moments::EMPTY;
                ratio.summarize(&blocks, block_rows, &mut moments).unwrap();
                assert_eq!(moments.count, plain.count);
                assert!((moments.mean - plain.mean).abs() <= 1e-6 * plain.sd() + 1e-12);
            }
            if step % 3 == 0 {
                std::mem::swap(&mut from, &mut to);
            }
        }
    }
}

#[test]
fn parameters_show_inclusion_and_coefficients() {
    let (model, _) = build(&data(40, 2, true, false), SelectionPrior::new(1.0).unwrap());
    let names = model.names();
    assert_eq!(names, ["size", "intercept_included", "x0_included", "x1_included", "intercept", "x0", "x1"]);
    let mut out = [7.0; 7];
    model.write(&Selection::new([(2, -0.5), (0, 1.5)]).unwrap(), &mut out);
    assert_eq!(out, [2.0, 1.0, 0.0, 1.0, 1.5, 0.0, -0.5]);
}

#[test]
fn bad_input_is_refused() {
    assert!(SelectionPrior::new(0.0).is_err());
    assert!(SelectionPrior::paper(f64::INFINITY).is_err());
    assert!(SelectionPrior::new(1.0).unwrap().at_least(-1.0).is_err());
    assert!(Selection::new([]).is_err());
    assert!(Selection::new([(3, 0.1), (3, 0.2)]).unwrap_err().to_string().contains("feature 3"));
    assert!(Selection::new([(1, f64::NAN)]).unwrap_err().to_string().contains("feature 1"));
    let (model, mut checked) = build(&data(40, 2, true, false), SelectionPrior::new(1.0).unwrap());
    let (good, bad) = (Selection::new([(0, 0.1)]).unwrap(), Selection::new([(3, 0.1)]).unwrap());
    assert!(model.check_state(&good).is_ok());
    assert!(model.check_state(&bad).unwrap_err().to_string().contains("below 3"));
    let mut scratch = model.scratch(Access::Blocks);
    assert!(model.compare(&good, &bad, &mut scratch).total().is_err());
    assert!(model.compare(&bad, &good, &mut scratch).reveal(0..1, &mut [0.0]).is_err());
    let floored =
        VariableSelection::new(&checked, SelectionPrior::new(1.0).unwrap().at_least(0.2).unwrap()).unwrap();
    assert_eq!(floored.log_prior(&good), f64::NEG_INFINITY);
    checked.response[5] = 2.0;
    let error = VariableSelection::new(&checked, SelectionPrior::new(1.0).unwrap()).unwrap_err();
    assert!(error.to_string().contains("row 5"), "{error}");
}

#[test]
fn a_selection_survives_storage() {
    let selection = Selection::new([(7, 0.1), (2, -0.3)]).unwrap();
    let text = serde_json::to_string(&selection).unwrap();
    assert_eq!(text, "[[2,-0.3],[7,0.1]]");
    assert_eq!(serde_json::from_str::<Selection>(&text).unwrap(), selection);
    assert!(serde_json::from_str::<Selection>("[]").is_err());
}
