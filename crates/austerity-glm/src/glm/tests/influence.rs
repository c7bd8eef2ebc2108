//! Derivatives of one row against differences of the order below, and leverages against the user's own numbers.

use super::*;

/// Each derivative against a central difference of the one below (the log-likelihood for the first): the error of the
/// difference is h²/6 times two orders up, below 1e-7 of the scale here.
fn rows_hold<F: Family>(family: &F, extra: &[f64], responses: &[f64], etas: &[f64]) {
    let step = 1e-4;
    for (&response, &eta) in responses.iter().flat_map(|y| etas.iter().map(move |eta| (y, eta))) {
        let at = |eta: f64| family.row_derivatives(extra, eta, response, 7.0);
        let value = |eta: f64| family.log_likelihood(extra, eta, response, 7.0);
        let [first, second, third] = at(eta);
        let (up, down) = (at(eta + step), at(eta - step));
        let slope = (value(eta + step) - value(eta - step)) / (2.0 * step);
        let seen = [slope, (up[0] - down[0]) / (2.0 * step), (up[1] - down[1]) / (2.0 * step)];
        let scale = 1.0 + first.abs() + second.abs() + third.abs();
        for (order, (found, expected)) in [first, second, third].into_iter().zip(seen).enumerate() {
            let gap = (found - expected).abs();
            assert!(
                gap < 1e-6 * scale,
                "{} order {}: {found} against {expected} at {eta}, y {response}",
                F::NAME,
                order + 1
            );
        }
    }
}

#[test]
fn derivatives_of_one_row() {
    let etas = [-30.0, -3.0, -0.7, 0.0, 0.4, 2.5, 6.0];
    rows_hold(&Logistic, &[], &[-1.0, 1.0], &etas);
    rows_hold(&Binomial, &[], &[0.0, 3.0, 7.0], &etas);
    rows_hold(&Poisson, &[], &[0.0, 4.0], &etas);
    for sigma in [0.5f64, 2.0] {
        rows_hold(&Student { freedom: 4.0 }, &[sigma.ln()], &[-1.0, 0.3, 80.0], &etas);
    }
    // Gross outliers of the Student family have next to no curvature left, and no NaN.
    let far = |y: f64| Student { freedom: 4.0 }.row_derivatives(&[0.0], 0.0, y, 1.0)[2].abs();
    assert!(far(200.0) < 1e-5 && far(1e160) == 0.0 && far(1e80) < 1e-200);
    assert!(Logistic.row_derivatives(&[], -800.0, 1.0, 1.0).iter().all(|d| d.is_finite()));
}

/// lev² = xᵀΣx from the user's columns in f64, the weights multiply slope and score.
fn influences_hold<F: Family>((model, data): &(Glm<F>, CheckedData)) {
    let at = state(model, 9, 0.5);
    let size = model.parameters();
    // A covariance with correlations: A Aᵀ + I.
    let a = |i: usize, k: usize| ((3 * i + 5 * k) as f64).sin() * 0.1;
    let covariance: Vec<f64> = (0..size * size)
        .map(|ij| {
            let (i, j) = (ij / size, ij % size);
            (0..size).map(|k| a(i, k) * a(j, k)).sum::<f64>() + if i == j { 0.01 } else { 0.0 }
        })
        .collect();
    let mut seen = Vec::new();
    model.influences(&at, &covariance, |row| seen.push(row)).unwrap();
    assert_eq!(seen.len(), model.len());
    let extra = &at[1 + data.columns.len()..];
    for (position, (influence, &row)) in seen.iter().zip(&data.storage_order()).enumerate() {
        let row = row as usize;
        let x: Vec<f64> = std::iter::once(1.0).chain(data.columns.iter().map(|c| c[row])).collect();
        let square: f64 = (0..x.len())
            .flat_map(|i| (0..x.len()).map(move |j| (i, j)))
            .map(|(i, j)| x[i] * x[j] * covariance[i * size + j])
            .sum();
        assert_eq!(influence.position, position);
        assert!((influence.leverage / square.sqrt() - 1.0).abs() < 1e-5, "{influence:?}");
        let weight = data.weights.as_ref().unwrap()[row];
        let offset = data.offset.as_ref().unwrap()[row];
        let eta = offset + x.iter().zip(&at).map(|(x, b)| x * b).sum::<f64>();
        let trials = data.trials.as_ref().unwrap()[row];
        let place = |t: f64| {
            let response = data.response[row];
            model.family.row_derivatives(extra, eta + t * square.sqrt(), response, trials)
        };
        // A grid far finer than the one used: suprema agree within what half a scale unit can hide.
        let fine: Vec<[f64; 3]> = (-300..=300).map(|k| place(f64::from(k) / 150.0)).collect();
        let largest = |order: usize| fine.iter().map(|d| d[order].abs()).fold(0.0, f64::max);
        let near = |found: f64, expected: f64| {
            found <= expected * (1.0 + 1e-3) + 1e-6 && found >= 0.8 * expected - 1e-6
        };
        assert!(near(influence.slope, weight * largest(0)), "{influence:?}");
        assert!(near(influence.score, weight * largest(2) * square.powf(1.5) / 6.0), "{influence:?}");
    }
    assert!(model.influences(&at[1..], &covariance, |_| ()).is_err());
    assert!(model.influences(&at, &covariance[1..], |_| ()).is_err());
    assert!(model.influences(&at, &vec![0.0; size * size], |_| ()).is_err());
}

#[test]
fn leverage_of_every_row() {
    influences_hold(&build(Logistic, SHAPE, |rng, _| f64::from(rng.random_range(0..2u32))));
    influences_hold(&build(Poisson, SHAPE, |rng, _| f64::from(rng.random_range(0..6u32))));
    influences_hold(&build(Student { freedom: 4.0 }, SHAPE, |rng, _| 3.0 * normal(rng)));
}
