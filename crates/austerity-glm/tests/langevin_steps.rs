//! Candidates and ratios against densities written out.

use nalgebra::{DMatrix, DVector};

use austerity::model::from_fn;
use austerity::proposal::{Proposal as _, Shape};
use austerity::rng::{Role, stream};
use austerity_glm::gradients::{At, BatchGradient as _, MiniBatch};
use austerity_glm::own::with_gradient;
use austerity_glm::proposal::Langevin;
use austerity_glm::{Glm, Logistic, Prior, ResponseKind, generate};
use austerity_models::Lasso;

fn logistic(rows: usize) -> Glm<Logistic> {
    let data = generate::logistic(rows, 2).seed(3).build().unwrap().data;
    let data = data.check(ResponseKind::Binary).unwrap();
    Glm::new(Logistic, &data, vec![Prior::normal(1.0); 3]).unwrap()
}

/// log N(x ; mean, covariance) without its constant.
fn log_normal(x: &[f64], mean: &DVector<f64>, covariance: &DMatrix<f64>) -> f64 {
    let r = DVector::from_column_slice(x) - mean;
    -0.5 * (r.transpose() * covariance.clone().try_inverse().unwrap() * r)[0]
}

/// The ratio of `proposal` is that of the densities N(θ + c·C g, C) with one mini-batch, however it was shaped.
fn check(mut proposal: Langevin<'_, Glm<Logistic>>, covariance: &[f64], drift: f64) {
    let model = proposal.model();
    let covariance = DMatrix::from_row_slice(3, 3, covariance);
    let mut rng = stream(8, 0, Role::Proposal);
    let (mut from, mut to) = (vec![0.1, 0.3, -0.2], vec![0.0; 3]);
    let mut sizes = 0.0f64;
    for _ in 0..20 {
        let ratio = proposal.propose(&from, &mut to, &mut rng).unwrap().log_ratio;
        let mean = |state: &[f64]| {
            let mut gradient = vec![0.0; 3];
            let mut workspace = Default::default();
            let batch = proposal.last_batch();
            model.stochastic_gradient(At { state, batch }, &mut workspace, &mut gradient).unwrap();
            DVector::from_column_slice(state) + &covariance * DVector::from_vec(gradient) * drift
        };
        let wanted = log_normal(&from, &mean(&to), &covariance) - log_normal(&to, &mean(&from), &covariance);
        assert!((ratio - wanted).abs() < 1e-8 * (1.0 + wanted.abs()), "{ratio} against {wanted}");
        sizes = sizes.max(wanted.abs());
        from.clone_from(&to);
    }
    assert!(sizes > 0.5, "the test saw no asymmetry");
}

#[test]
fn the_ratio_is_that_of_the_densities_under_one_mini_batch() {
    let model = logistic(500);
    let rows = 64;
    check(Langevin::new(&model, 0.02, rows).unwrap(), &[0.02, 0., 0., 0., 0.02, 0., 0., 0., 0.02], 0.5);
    let covariance = [0.03, 0.01, 0.0, 0.01, 0.02, -0.004, 0.0, -0.004, 0.01];
    check(Langevin::preconditioned(&model, &covariance, rows).unwrap(), &covariance, 0.5);
    let diagonal = Shape::Diagonal { sd: vec![0.1, 0.2, 0.1] };
    let covariance = [0.01, 0., 0., 0., 0.04, 0., 0., 0., 0.01];
    check(Langevin::shaped(&model, diagonal, 0.3, rows).unwrap(), &covariance, 0.3);
}

/// Mean and variance of 20,000 candidates from one state with the whole gradient: N(θ + (α/2)∇, α) within 4.5 standard errors
/// (false-alarm rate 2·7e-6); the seed is fixed.
#[test]
fn candidates_have_the_law_of_the_paper() {
    let toy = Lasso::toy(1).unwrap();
    let variance = 5e-6;
    let mut proposal = Langevin::new(&toy, variance, 10_000).unwrap();
    let mut rng = stream(8, 1, Role::Proposal);
    let (from, mut to) = (vec![-0.004], vec![0.0]);
    let mut gradient = [0.0];
    austerity::model::Gradient::log_density_gradient(&toy, &from, &mut gradient).unwrap();
    let centre = from[0] + 0.5 * variance * gradient[0];
    let n = 20_000;
    let (mut first, mut second) = (0.0, 0.0);
    for _ in 0..n {
        proposal.draw(&from, &mut to, &mut rng).unwrap();
        let z = (to[0] - centre) / variance.sqrt();
        (first, second) = (first + z, second + z * z);
    }
    let n = f64::from(n);
    assert!((first / n).abs() < 4.5 / n.sqrt(), "{}", first / n);
    assert!((second / n - 1.0).abs() < 4.5 * (2.0 / n).sqrt(), "{}", second / n);
}

/// A kernel without a test sees the candidates that one with a test sees.
#[test]
fn draws_are_the_candidates_of_propose() {
    let model = logistic(500);
    let mut proposal = Langevin::new(&model, 0.02, 100).unwrap();
    assert_eq!(proposal.batch_rows(), 128);
    let from = vec![0.1, 0.2, 0.3];
    let (mut a, mut b) = (vec![], vec![]);
    proposal.propose(&from, &mut a, &mut stream(1, 0, Role::Proposal)).unwrap();
    proposal.clone().draw(&from, &mut b, &mut stream(1, 0, Role::Proposal)).unwrap();
    assert_eq!(a, b);
    proposal.propose(&from, &mut b, &mut stream(1, 1, Role::Proposal)).unwrap();
    assert_ne!(a, b);
}

#[test]
fn there_is_no_way_back_from_a_cliff_and_none_from_no_gradient() {
    // ∇ log p = 1/θ² per row is infinite at 0 and a square root's is not a number below.
    let model = from_fn(10, 1, |_: &[f64]| 0.0, |_: &[f64], _| 0.0).unwrap();
    let row = |state: &[f64], _, gradient: &mut [f64]| gradient[0] += state[0].sqrt();
    let model = with_gradient(model, 1, |_: &[f64], _: &mut [f64]| {}, row).unwrap();
    let mut proposal = Langevin::new(&model, 1.0, 10).unwrap();
    let mut rng = stream(2, 0, Role::Proposal);
    let (from, mut to) = (vec![1e-3], vec![0.0]);
    let mut seen = [false; 2];
    for _ in 0..50 {
        let ratio = proposal.propose(&from, &mut to, &mut rng).unwrap().log_ratio;
        assert_eq!(ratio == f64::NEG_INFINITY, to[0] < 0.0);
        seen[usize::from(to[0] < 0.0)] = true;
    }
    assert_eq!(seen, [true; 2]);
    let error = proposal.propose(&vec![-1.0], &mut to, &mut rng).unwrap_err();
    assert!(error.to_string().contains("parameter 0"), "{error}");
    assert_eq!(proposal.propose(&vec![1e308], &mut to, &mut rng).unwrap().log_ratio, f64::NEG_INFINITY);
}

#[test]
fn bad_settings_are_refused() {
    let model = logistic(100);
    for variance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Langevin::new(&model, variance, 10).is_err());
    }
    assert!(Langevin::new(&model, 1.0, 0).is_err());
    assert!(Langevin::new(&model, 1.0, 101).is_err());
    assert!(Langevin::preconditioned(&model, &[1.0; 4], 10).is_err());
    assert!(Langevin::new(&model, 1.0, 10).unwrap().batch(MiniBatch::new(99, 10).unwrap()).is_err());
    let mut proposal = Langevin::new(&model, 1.0, 10).unwrap();
    assert!(proposal.propose(&vec![0.0; 2], &mut vec![], &mut stream(2, 0, Role::Proposal)).is_err());
}
