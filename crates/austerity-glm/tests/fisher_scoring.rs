//! The step of Ahn, Korattikara & Welling, the information, and what is learnt.

use austerity::model::from_fn;
use austerity::population::Batch;
use austerity::proposal::{Proposal as _, Shape};
use austerity::rng::{Role, stream};
use austerity_glm::gradients::MiniBatch;
use austerity_glm::own::with_gradient;
use austerity_glm::proposal::{FisherScoring, empirical_information};
use austerity_glm::{Glm, Logistic, Prior, ResponseKind, generate};
use austerity_models::Lasso;

/// Drift and noise are those of θ' = θ + 2(γΛ + 4Λ/ε)⁻¹(g + η), η ~ N(0, 4Λ/ε), written out.
#[test]
fn the_step_is_that_of_the_paper() {
    let toy = Lasso::toy(1).unwrap();
    for (step, rows) in [(0.5, 512), (3.0, 512), (40.0, 10_000)] {
        let information = 9000.0;
        let scoring = FisherScoring::new(&toy, &[information], step, rows).unwrap();
        let gamma = 10_000.0 / rows as f64;
        let matrix = 2.0 / (gamma * information + 4.0 * information / step);
        let Shape::Dense { factor } = scoring.langevin().shape() else { panic!("not dense") };
        let wanted = matrix * (4.0 * information / step).sqrt();
        assert!((factor[0] / wanted - 1.0).abs() < 1e-12, "{factor:?} against {wanted}");
        let drift = scoring.langevin().drift() * factor[0] * factor[0];
        assert!((drift / matrix - 1.0).abs() < 1e-12, "{drift} against {matrix}");
    }
}

/// On a normal posterior the untested step leaves the variance as it is, for large steps too; γ of draws with replacement would
/// not. The gradient's noise is computed, not simulated: variance of θ' when θ has the posterior's.
#[test]
fn a_normal_posterior_is_left_as_it_is() {
    let (population, rows, information) = (10_000.0, 512.0, 9000.0);
    let variance_after = |gamma: f64, step: f64| {
        let h = 2.0 / (gamma + 4.0 / step);
        // Noise of (N/n)Σ over n of N rows drawn without replacement, each row's score of variance Λ/N.
        let gradient_noise =
            population * population / rows * (1.0 - rows / population) * information / population;
        (1.0 - h).powi(2) / information
            + h * h * gradient_noise / (information * information)
            + (2.0 * h - gamma * h * h) / information
    };
    for step in [0.1, 1.0, 30.0] {
        let without = variance_after(population / rows, step) * information;
        assert!((without - 1.0).abs() < 1e-12, "{without}");
    }
    assert!((variance_after(1.0 + population / rows, 30.0) * information - 1.0).abs() > 1e-3);
}

/// Against the sum over rows of the outer product of scores, written out for a model whose scores are known.
#[test]
fn the_information_is_the_covariance_of_the_scores() {
    let scores: Vec<[f64; 2]> =
        (0..40).map(|i| [f64::from(i).sin(), (1.7 * f64::from(i)).cos() + 0.3]).collect();
    let model = from_fn(40, 2, |_: &[f64]| 0.0, |_: &[f64], _| 0.0).unwrap();
    let row = |_: &[f64], row: usize, gradient: &mut [f64]| {
        gradient[0] += scores[row][0];
        gradient[1] += scores[row][1];
    };
    let model = with_gradient(model, 2, |_: &[f64], _: &mut [f64]| {}, row).unwrap();
    let all = Batch { blocks: &[0, 1, 2], block_rows: 16, population: 40 };
    let found = empirical_information(&model, &[0.0, 0.0], all).unwrap();
    let mean = |k: usize| scores.iter().map(|s| s[k]).sum::<f64>() / 40.0;
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let sum: f64 = scores.iter().map(|s| (s[i] - mean(i)) * (s[j] - mean(j))).sum();
        assert!((found[2 * i + j] - sum / 39.0 * 40.0).abs() < 1e-12);
    }
    assert!(
        empirical_information(&model, &[0.0; 2], Batch { blocks: &[5], block_rows: 1, population: 40 })
            .is_err()
    );
}

/// At the true coefficients the covariance of the scores is the negative Hessian, up to sampling.
#[test]
fn warm_up_learns_the_information_and_sampling_does_not() {
    let made = generate::logistic(20_000, 3).seed(3).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, vec![Prior::Flat; 4]).unwrap();
    let (mut gradient, mut hessian) = (vec![0.0; 4], vec![0.0; 16]);
    austerity::model::Curvature::hessian(&model, &made.coefficients, &mut gradient, &mut hessian).unwrap();
    let mut start = vec![0.0; 16];
    (0..4).for_each(|i| start[5 * i] = 1e5);
    let mut scoring = FisherScoring::new(&model, &start, 1.0, 512).unwrap();
    let fixed = scoring.langevin().shape().clone();
    let mut rng = stream(1, 0, Role::Proposal);
    let mut to = vec![];
    scoring.propose(&made.coefficients, &mut to, &mut rng).unwrap();
    scoring.learn(true, 1);
    assert_eq!(scoring.langevin().shape(), &fixed, "it was not told to learn");
    let mut scoring = scoring.learning();
    for step in 1..=200 {
        scoring.propose(&made.coefficients, &mut to, &mut rng).unwrap();
        scoring.learn(true, step);
    }
    assert_ne!(scoring.langevin().shape(), &fixed);
    for i in 0..4 {
        // The start still has 1/201 of the weight.
        let wanted = (200.0 * -hessian[5 * i] + start[5 * i]) / 201.0;
        assert!((scoring.information()[5 * i] / wanted - 1.0).abs() < 0.05, "{i}");
    }
    let learnt = scoring.langevin().shape().clone();
    scoring.propose(&made.coefficients, &mut to, &mut rng).unwrap();
    assert_eq!(scoring.langevin().shape(), &learnt);
}

#[test]
fn bad_settings_are_refused() {
    let toy = Lasso::toy(1).unwrap();
    for step in [0.0, -1.0, f64::NAN] {
        assert!(FisherScoring::new(&toy, &[1.0], step, 500).is_err());
    }
    let message = FisherScoring::new(&toy, &[-1.0], 1.0, 500).unwrap_err().to_string();
    assert!(message.contains("information") && message.contains("more rows"), "{message}");
    assert!(FisherScoring::new(&toy, &[1.0; 4], 1.0, 500).is_err());
    assert!(FisherScoring::new(&toy, &[1.0], 1.0, 0).is_err());
    let mut batch = MiniBatch::new(10_000, 500).unwrap();
    let batch = batch.draw(&mut stream(1, 0, Role::Proposal));
    let information = empirical_information(&toy, &[0.005], batch).unwrap()[0];
    assert!((information / 12_000.0 - 1.0).abs() < 0.3, "λ²·Var(xy)·N is about 12,000: {information}");
}
