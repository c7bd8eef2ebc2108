//! Sufficient statistics against rows, derivatives, hard columns, refusals.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::ratio::expm1_minus;
use super::*;
use crate::{Data, ResponseKind};
use austerity::error::Error;
use austerity::population::Population as _;
use austerity::rng::{Role, stream};

/// Three columns with means of `mean` and the last one rare; weights and an offset.
fn data(rows: usize, mean: f64, weighted: bool, intercept: bool) -> CheckedData {
    let mut rng = stream(1, 0, Role::Data);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let mut columns = vec![Vec::new(); 3];
    let (mut response, mut weights, mut offset) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..rows {
        let a = normal();
        columns[0].push(mean + a);
        columns[1].push(-3.0 * mean + 0.01 * (a + normal()));
        columns[2].push(if i % 23 == 4 { 2.0 } else { 0.0 });
        offset.push(0.1 * normal());
        weights.push(1.0 + (i % 3) as f64);
        response.push(10.0 * mean + 0.4 * a + 0.3 * columns[2][i] + 0.7 * normal());
    }
    let mut data = Data::new(["a", "b", "rare"], columns, response).offset(offset).intercept(intercept);
    if weighted {
        data = data.weights(weights);
    }
    data.check(ResponseKind::Real).unwrap()
}

fn unknown() -> Noise {
    Noise::Unknown { prior: Prior::normal(2.0) }
}

fn models(data: &CheckedData, noise: Noise) -> (Linear, Linear) {
    let priors = vec![Prior::Flat; data.coefficients()];
    let model = Linear::new(data, &priors, noise).unwrap();
    (model.clone(), model.by_rows().unwrap())
}

/// A state near the least-squares solution, `away` standard errors off in each scaled coordinate.
fn near(model: &Linear, away: f64) -> Vec<f64> {
    let s = &model.statistics;
    let mut state = vec![0.0; model.dimension()];
    let first = usize::from(model.intercept);
    for j in 0..model.shift.len() {
        state[first + j] = (s.centre[j + 1] + away / (s.rows as f64).sqrt()) / model.scale[j];
    }
    if model.intercept {
        let shifted: f64 = (0..model.shift.len()).map(|j| state[first + j] * model.shift[j]).sum();
        state[0] = s.centre[0] + s.level - shifted;
    }
    if let Noise::Unknown { .. } = model.noise {
        state[model.coefficients] = (0.5 * (s.least / s.weight).ln()) + 0.1 * away / (s.rows as f64).sqrt();
    }
    state
}

/// Sum by rows, and Σ|l_i|, the size against which rounding of that sum is measured.
fn by_rows(model: &Linear, from: &Vec<f64>, to: &Vec<f64>) -> (f64, f64) {
    let mut scratch = model.scratch(Access::Scan);
    let mut ratio = model.compare(from, to, &mut scratch);
    let mut l = vec![0.0; model.len()];
    ratio.reveal(0..model.len(), &mut l).unwrap();
    (l.iter().sum(), l.iter().map(|v| v.abs()).sum())
}

fn total(model: &Linear, from: &Vec<f64>, to: &Vec<f64>) -> f64 {
    let mut scratch = model.scratch(Access::Scan);
    model.compare(from, to, &mut scratch).total().unwrap().sum()
}

#[test]
fn statistics_agree_with_rows_on_hard_cases() {
    for (mean, weighted, intercept) in
        [(0.0, false, true), (1e3, true, true), (1e6, true, true), (1e6, false, false)]
    {
        let data = data(5000, mean, weighted, intercept);
        for noise in [Noise::Known { sd: 0.7 }, unknown()] {
            let (model, scanned) = models(&data, noise);
            let from = near(&model, 5.0);
            for size in [1e-10, 1e-6, 1e-3, 1.0] {
                for coordinate in 0..model.dimension() {
                    let mut to = from.clone();
                    to[coordinate] += size;
                    let sum = total(&model, &from, &to);
                    let (rows, gross) = by_rows(&model, &from, &to);
                    assert!(
                        (sum - rows).abs() <= 1e-9 * sum.abs() + 1e-13 * gross,
                        "mean {mean}, step {size} in {coordinate}: {sum} against {rows} (gross {gross})"
                    );
                    let scan = total(&scanned, &from, &to);
                    assert!((scan - rows).abs() <= 1e-12 * gross);
                }
            }
        }
    }
}

/// The difference of two naive log-likelihood sums, where it does not cancel.
#[test]
fn differences_are_those_of_the_log_likelihood() {
    let data = data(300, 2.0, true, true);
    let (model, _) = models(&data, unknown());
    let log_likelihood = |state: &[f64]| -> f64 {
        let sigma = state[4].exp();
        (0..300)
            .map(|i| {
                let mean = state[0] + (0..3).map(|j| state[1 + j] * data.columns[j][i]).sum::<f64>();
                let z = (data.response[i] - data.offset.as_ref().unwrap()[i] - mean) / sigma;
                data.weights.as_ref().unwrap()[i] * (-sigma.ln() - 0.5 * z * z)
            })
            .sum()
    };
    let from = vec![1.0, 0.2, -0.5, 0.1, 0.3];
    let to = vec![0.5, 0.6, 0.5, -0.3, -0.2];
    let expected = log_likelihood(&to) - log_likelihood(&from);
    assert!((total(&model, &from, &to) / expected - 1.0).abs() < 1e-11);
    assert!((by_rows(&model, &from, &to).0 / expected - 1.0).abs() < 1e-11);
    let mut gradient = vec![0.0; 5];
    let density = |s: &Vec<f64>, g: &mut [f64]| model.log_density_gradient(s, g).unwrap();
    let by_density = density(&to, &mut gradient) - density(&from, &mut gradient);
    let prior = model.log_prior(&to) - model.log_prior(&from);
    assert!(((by_density - prior) / expected - 1.0).abs() < 1e-11);
}

#[test]
fn derivatives_agree_with_finite_differences() {
    for intercept in [true, false] {
        let data = data(400, 1.0, true, intercept);
        let priors = data.default_priors();
        for noise in [Noise::Known { sd: 0.7 }, unknown()] {
            let model = Linear::new(&data, &priors, noise).unwrap();
            let d = model.dimension();
            let state: Vec<f64> = (0..d).map(|j| 0.3 - 0.2 * j as f64).collect();
            let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
            let value = model.hessian(&state, &mut gradient, &mut hessian).unwrap();
            for j in 0..d {
                let h = 1e-5;
                let at = |shift: f64| {
                    let mut moved = state.clone();
                    moved[j] += shift;
                    let mut g = vec![0.0; d];
                    (model.log_density_gradient(&moved, &mut g).unwrap(), g)
                };
                let (up, down) = (at(h), at(-h));
                let slope = (up.0 - down.0) / (2.0 * h);
                assert!((slope - gradient[j]).abs() < 1e-6 * (value.abs() + gradient[j].abs()));
                for i in 0..d {
                    let second = (up.1[i] - down.1[i]) / (2.0 * h);
                    let size = hessian[i * d + i].abs().max(hessian[j * d + j].abs());
                    assert!((second - hessian[i * d + j]).abs() < 1e-6 * size, "{i} {j}");
                }
            }
        }
    }
}

/// Columns that repeat each other's information: the sum is right all the same.
#[test]
fn rank_deficiency_does_no_harm() {
    let mut rng = stream(5, 0, Role::Data);
    let a: Vec<f64> = (0..200).map(|_| rng.random::<f64>()).collect();
    let b: Vec<f64> = a.iter().map(|v| 3.0 * v - 1.0).collect();
    let y: Vec<f64> = a.iter().map(|v| v + rng.random::<f64>()).collect();
    let data = Data::new(["a", "b"], vec![a, b], y).check(ResponseKind::Real).unwrap();
    let (model, _) = models(&data, unknown());
    assert!(model.statistics.centre.iter().all(|c| c.abs() < 10.0));
    let from = vec![0.1, 2.0, -0.5, -0.3];
    let to = vec![0.2, 1.0, 0.5, -0.2];
    let (rows, gross) = by_rows(&model, &from, &to);
    assert!((total(&model, &from, &to) - rows).abs() < 1e-12 * gross);
    // One row, one column: nothing is determined but the fit.
    let single =
        Data::new(["a"], vec![vec![2.0]], vec![3.0]).intercept(false).check(ResponseKind::Real).unwrap();
    let (model, _) = models(&single, Noise::Known { sd: 1.0 });
    assert!((total(&model, &vec![1.0], &vec![1.5]) - 0.5).abs() < 1e-12);
}

#[test]
fn degenerate_noise_is_a_rejection_or_an_error() {
    let data = data(50, 0.0, false, true);
    let (model, scanned) = models(&data, unknown());
    let ok = near(&model, 0.0);
    let mut tiny = ok.clone();
    tiny[4] = -800.0;
    let mut broken = ok.clone();
    broken[1] = f64::NAN;
    for m in [&model, &scanned] {
        let mut scratch = m.scratch(Access::Blocks);
        let short = m.compare(&ok, &vec![0.0; 3], &mut scratch).total().unwrap_err();
        assert!(short.to_string().contains("state: expected 5"), "{short}");
        assert!(m.log_prior(&vec![0.0]).is_nan());
        assert!(m.log_density_gradient(&vec![0.0], &mut [0.0; 5]).is_err());
        assert!(m.compare(&ok, &tiny, &mut scratch).total().unwrap().impossible());
        let mut sudden = ok.clone();
        sudden[4] -= 600.0;
        assert!(m.compare(&ok, &sudden, &mut scratch).total().unwrap().impossible());
        assert!(matches!(
            m.compare(&tiny, &ok, &mut scratch).total(),
            Err(Error::UndefinedTotal { .. } | Error::InfiniteRatio { .. })
        ));
        assert!(matches!(
            m.compare(&ok, &broken, &mut scratch).total(),
            Err(Error::UndefinedTotal { .. } | Error::NotANumber { .. })
        ));
        let still = m.compare(&ok, &ok, &mut scratch).total().unwrap();
        assert_eq!(still.sum(), 0.0);
    }
}

#[test]
fn rows_can_be_left_out_and_bad_settings_are_named() {
    let data = data(100, 0.0, true, true);
    let priors = data.default_priors();
    let lean = Linear::summarized(&data, &priors, Noise::default()).unwrap();
    let full = Linear::new(&data, &priors, Noise::default()).unwrap();
    let (from, to) = (near(&lean, 1.0), near(&lean, 2.0));
    assert_eq!(total(&lean, &from, &to), total(&full, &from, &to));
    let mut scratch = lean.scratch(Access::Blocks);
    let mut ratio = lean.compare(&from, &to, &mut scratch);
    assert_eq!(ratio.row_cost().scanned, 0);
    let message = ratio.reveal(0..1, &mut [0.0]).unwrap_err().to_string();
    assert!(message.contains("rows") && message.contains("Linear::new"), "{message}");
    assert!(lean.by_rows().is_err());

    assert_eq!(full.names(), ["intercept", "a", "b", "rare", "sigma"]);
    let mut written = vec![0.0; 5];
    full.write(&from, &mut written);
    assert_eq!((written[1], written[4]), (from[1], from[4].exp()));
    let mut order: Vec<usize> = (0..100).map(|p| full.original_row(p)).collect();
    assert_ne!(order, (0..100).collect::<Vec<_>>());
    order.sort_unstable();
    assert_eq!(order, (0..100).collect::<Vec<_>>());

    let bad = |priors: &[Prior], noise| Linear::new(&data, priors, noise).unwrap_err().to_string();
    assert!(bad(&priors[1..], unknown()).contains("expected 4"));
    assert!(bad(&priors, Noise::Known { sd: -1.0 }).contains("-1"));
    assert!(bad(&[Prior::normal(0.0); 4], unknown()).contains("prior sd"));
}

#[test]
fn expm1_minus_keeps_its_digits() {
    for x in [1e-9, -1e-5, 0.01, -0.09, 0.0999] {
        let series: f64 = (2..30).map(|k| f64::powi(x, k) / (1..=k).map(f64::from).product::<f64>()).sum();
        assert!((expm1_minus(x) / series - 1.0).abs() < 1e-15);
    }
    assert!((expm1_minus(1.0) - (std::f64::consts::E - 2.0)).abs() < 1e-15);
}
