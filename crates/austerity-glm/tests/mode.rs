//! Modes with a known answer, modes that do not exist, curved and kinked densities.

use austerity::model::{Access, Gradient};
use austerity::model::{Curvature, Model, find_mode};
use austerity::population::Numbers;
use austerity::rng::{Role, stream};
use austerity::{Error, Result};
use austerity_glm::{Data, Linear, Noise, Prior, ResponseKind};
use austerity_models::Lasso;
use nalgebra::{DMatrix, DVector};
use rand::RngExt as _;

fn regression(rows: usize, mean: f64) -> austerity_glm::CheckedData {
    let mut rng = stream(2, 0, Role::Data);
    let a: Vec<f64> = (0..rows).map(|_| mean + rng.random::<f64>()).collect();
    let b: Vec<f64> = a.iter().map(|a| a - mean + 5.0 * rng.random::<f64>()).collect();
    let y = (0..rows).map(|i| 2.0 + a[i] - 0.3 * b[i] + rng.random::<f64>()).collect();
    Data::new(["a", "b"], vec![a, b], y).check(ResponseKind::Real).unwrap()
}

/// With known noise and normal priors the mode is (X'X/σ² + Λ)⁻¹X'y/σ².
#[test]
fn linear_mode_is_the_ridge_solution() {
    let data = regression(400, 3.0);
    let sds = [5.0, 0.4, 0.7];
    let priors = sds.map(Prior::normal);
    let model = Linear::new(&data, priors, Noise::Known { sd: 0.5 }).unwrap();
    let mode = find_mode(&model, &[0.0; 3]).unwrap();
    let x = DMatrix::from_fn(400, 3, |i, j| if j == 0 { 1.0 } else { data.columns[j - 1][i] });
    let y = DVector::from_column_slice(&data.response);
    let prior = DMatrix::from_diagonal(&DVector::from_fn(3, |i, _| sds[i].powi(-2)));
    let inverse = (x.tr_mul(&x) / 0.25 + prior).try_inverse().unwrap();
    let solution = &inverse * x.tr_mul(&y) / 0.25;
    for i in 0..3 {
        assert!((mode.state[i] - solution[i]).abs() < 1e-9 * inverse[(i, i)].sqrt());
        for j in 0..3 {
            let size = (inverse[(i, i)] * inverse[(j, j)]).sqrt();
            assert!((mode.covariance[i * 3 + j] - inverse[(i, j)]).abs() < 1e-9 * size);
        }
    }
    assert!(mode.iterations <= 3);
}

/// Flat priors, unknown noise, a far start: least squares, and σ² = RSS/N.
#[test]
fn unknown_noise_and_a_far_start() {
    let data = regression(300, 1000.0);
    let noise = Noise::Unknown { prior: Prior::Flat };
    let model = Linear::summarized(&data, [Prior::Flat; 3], noise).unwrap();
    let mode = find_mode(&model, &[50.0, -3.0, 4.0, -2.0]).unwrap();
    let mut gradient = vec![0.0; 4];
    model.log_density_gradient(&mode.state, &mut gradient).unwrap();
    for (j, g) in gradient.iter().enumerate() {
        assert!((g * mode.covariance[j * 5].sqrt()).abs() < 1e-4, "{j}: {g}");
    }
    let residual = |i: usize| {
        data.response[i]
            - mode.state[0]
            - mode.state[1] * data.columns[0][i]
            - mode.state[2] * data.columns[1][i]
    };
    let rss: f64 = (0..300).map(|i| residual(i).powi(2)).sum();
    assert!((mode.state[3] - 0.5 * (rss / 300.0).ln()).abs() < 1e-6);
    assert!((mode.covariance[15] - 1.0 / 600.0).abs() < 1e-8);
}

#[test]
fn the_smooth_side_of_the_lasso() {
    let toy = Lasso::toy(1).unwrap();
    let mode = find_mode(&toy, &[0.05]).unwrap();
    assert!((mode.state[0] - toy.posterior().mode()).abs() < 1e-12);
    // From the other side of the kink it climbs over it, or says that it cannot.
    match find_mode(&toy, &[-0.05]) {
        Ok(mode) => assert!((mode.state[0] - toy.posterior().mode()).abs() < 1e-12),
        Err(error) => assert!(matches!(error, Error::NoMode { .. })),
    }
}

/// Logistic regression on one column in plain f64, for what a linear model cannot show.
struct Logistic(Vec<(f64, f64)>, Prior);

impl Model for Logistic {
    type State = Vec<f64>;
    type Scratch = ();
    type Ratio<'a> = Numbers;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn scratch(&self, _: Access) {}
    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        self.1.log_density(state[0])
    }
    fn compare<'a>(&'a self, _: &'a Vec<f64>, _: &'a Vec<f64>, _: &'a mut ()) -> Numbers {
        Numbers(vec![])
    }
}

impl Gradient for Logistic {
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        self.hessian(state, gradient, &mut [0.0])
    }
}

impl Curvature for Logistic {
    fn hessian(&self, state: &Vec<f64>, gradient: &mut [f64], hessian: &mut [f64]) -> Result<f64> {
        (gradient[0], hessian[0]) = self.1.derivatives(state[0]);
        let mut value = self.log_prior(state);
        for (x, sign) in &self.0 {
            let margin = sign * x * state[0];
            let miss = 1.0 / (1.0 + margin.exp());
            value -= (-margin).exp().ln_1p();
            gradient[0] += miss * sign * x;
            hessian[0] -= miss * (1.0 - miss) * x * x;
        }
        Ok(value)
    }
}

#[test]
fn separable_data_without_a_prior_have_no_mode() {
    let rows = vec![(1.0, 1.0), (2.0, 1.0), (-0.5, -1.0)];
    let error = find_mode(&Logistic(rows.clone(), Prior::Flat), &[0.0]).unwrap_err();
    assert!(matches!(error, Error::NoMode { .. } | Error::NotPositiveDefinite { .. }), "{error}");
    assert!(error.to_string().contains("prior"));
    // A proper prior, even one whose log density is not concave, gives one; so do overlapping data.
    let student = Prior::student(3.0, 1.0);
    let mode = find_mode(&Logistic(rows.clone(), student), &[8.0]).unwrap();
    assert!(mode.state[0] > 0.5 && mode.state[0] < 5.0 && mode.covariance[0] > 0.0);
    let mut overlap = rows;
    overlap.push((1.0, -1.0));
    assert!(find_mode(&Logistic(overlap, Prior::Flat), &[-30.0]).is_ok());
}

#[test]
fn undetermined_directions_and_bad_starts_are_told() {
    let mut rng = stream(3, 0, Role::Data);
    let a: Vec<f64> = (0..50).map(|_| rng.random::<f64>()).collect();
    let b = a.iter().map(|a| 2.0 * a + 1.0).collect();
    let y = a.clone();
    let data = Data::new(["a", "b"], vec![a, b], y).check(ResponseKind::Real).unwrap();
    let model = Linear::new(&data, data.default_priors(), Noise::Known { sd: 1.0 }).unwrap();
    assert!(find_mode(&model, &[0.0; 3]).is_ok());
    let error = find_mode(&model, &[0.0, f64::NAN, 0.0]).unwrap_err();
    assert!(matches!(error, Error::ImpossibleStart { .. }), "{error}");
}
