//! The toy's closed forms against quadrature, its differences and derivatives.

use super::posterior::{FAR, cut_moments, log_phi};
use super::*;

/// Mass, mean, sd and cumulative by Simpson's rule on each side of the kink.
fn quadrature(posterior: &LassoPosterior) -> (f64, f64, f64, f64) {
    let (low, high) = (posterior.quantile(0.0), posterior.quantile(1.0));
    let integrate = |f: &dyn Fn(f64) -> f64, a: f64, b: f64| {
        let n = 200_000;
        let h = (b - a) / f64::from(n);
        (0..=n)
            .map(|i| {
                let weight = if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
                weight * f(a + f64::from(i) * h)
            })
            .sum::<f64>()
            * h
            / 3.0
    };
    let both = |f: &dyn Fn(f64) -> f64| integrate(f, low, -1e-300) + integrate(f, 0.0, high);
    let mass = both(&|t| posterior.density(t));
    let mean = both(&|t| t * posterior.density(t));
    let square = both(&|t| (t - mean) * (t - mean) * posterior.density(t));
    let negative = integrate(&|t| posterior.density(t), low, -1e-300);
    (mass, mean, square.sqrt(), negative)
}

#[test]
fn the_closed_form_agrees_with_quadrature() {
    let toy = *Lasso::toy(3).unwrap().posterior();
    for posterior in [
        toy,
        LassoPosterior::new(4.0, 1.0, 0.5),
        LassoPosterior::new(4.0, -1.0, 3.0),
        LassoPosterior::new(100.0, 2.0, 80.0),
        LassoPosterior::new(1.0, -7.0, 2.0),
    ] {
        let (mass, mean, sd, negative) = quadrature(&posterior);
        let size = posterior.sd();
        assert!((mass - 1.0).abs() < 1e-9, "{mass}");
        assert!((mean - posterior.mean()).abs() < 1e-9 * size);
        assert!((sd / size - 1.0).abs() < 1e-9);
        assert!((negative - posterior.cumulative(-1e-300)).abs() < 1e-9);
        assert!((posterior.cumulative(0.0) - negative).abs() < 1e-9);
        for level in [0.001, 0.025, 0.5, 0.975] {
            let q = posterior.quantile(level);
            assert!((posterior.cumulative(q) - level).abs() < 1e-12);
        }
        let mode = posterior.mode();
        let top = posterior.density(mode);
        assert!(top >= posterior.density(mode + 0.01 * size) && top >= posterior.density(mode - 0.01 * size));
    }
}

#[test]
fn tails_of_the_normal_are_smooth_where_the_methods_meet() {
    for t in [-FAR - 1e-9, -FAR + 1e-9] {
        // log Φ(−5) and the moments of N(−5, 1) beyond 0, from 40-digit arithmetic.
        assert!((log_phi(t) + 15.064_998_393_988_727).abs() < 2e-8);
        let (first, second) = cut_moments(t);
        assert!((first - 0.186_503_967_125_842_1).abs() < 1e-9, "{first}");
        assert!((second - (1.0 - 5.0 * first)).abs() < 1e-8);
    }
}

/// Over data sets: mode .005 (sd between data sets .011), posterior sd .01, left gradient 9950.
#[test]
fn the_toy_is_the_papers_picture() {
    for seed in 0..5 {
        let toy = Lasso::toy(seed).unwrap();
        let posterior = toy.posterior();
        assert_eq!(toy.len(), 10_000);
        assert!(posterior.mode() > 0.0 && posterior.mode() < 0.06);
        assert!(posterior.sd() > 0.004 && posterior.sd() < 0.012);
        assert!((posterior.curvature / 1e4 - 1.0).abs() < 0.05);
        let mut gradient = [0.0];
        toy.log_density_gradient(&vec![-1e-9], &mut gradient).unwrap();
        assert!((gradient[0] - 9950.0).abs() < 600.0);
        assert_eq!(toy.rows, Lasso::toy(seed).unwrap().rows);
    }
}

#[test]
fn differences_and_derivatives_are_those_of_the_density() {
    let toy = Lasso::toy(1).unwrap();
    let (from, to) = (vec![-0.004], vec![0.013]);
    let sum = toy.compare(&from, &to, &mut ()).total().unwrap().sum();
    let log = |t: &Vec<f64>| toy.posterior().density(t[0]).ln();
    let ratio = sum + toy.log_prior(&to) - toy.log_prior(&from);
    assert!((ratio - (log(&to) - log(&from))).abs() < 1e-9);
    let mut gradient = [0.0];
    for theta in [-0.01, 0.02] {
        let at = |t: f64| toy.log_density_gradient(&vec![t], &mut [0.0]).unwrap();
        toy.log_density_gradient(&vec![theta], &mut gradient).unwrap();
        let slope = (at(theta + 1e-6) - at(theta - 1e-6)) / 2e-6;
        assert!((slope - gradient[0]).abs() < 1e-3);
    }
}

#[test]
fn bad_input_is_named() {
    let message =
        |x: &[f64], y: &[f64], precision, rate| Lasso::new(x, y, precision, rate).unwrap_err().to_string();
    let toy = Lasso::toy(0).unwrap();
    assert!(toy.compare(&vec![], &vec![1.0], &mut ()).total().is_err());
    assert!(toy.log_prior(&vec![]).is_nan());
    assert!(toy.log_density_gradient(&vec![0.0; 2], &mut [0.0; 2]).is_err());
    assert!(message(&[], &[], 1.0, 1.0).contains("empty"));
    assert!(message(&[1.0], &[], 1.0, 1.0).contains("y: expected 1"));
    assert!(message(&[1.0, f64::NAN], &[1.0, 2.0], 1.0, 1.0).contains("`x`, row 1"));
    assert!(message(&[0.0], &[1.0], 1.0, 1.0).contains("`x`"));
    assert!(message(&[1.0], &[1.0], -3.0, 1.0).contains("-3"));
    assert!(message(&[1.0], &[1.0], 1.0, 0.0).contains("prior rate"));
}

/// An error names the user's row, not the place in the shuffled storage.
#[test]
fn errors_name_the_users_row() {
    let x: Vec<f64> = (0..60).map(|i| if i == 37 { 1.0 } else { 0.0 }).collect();
    let y = vec![1.0; 60];
    let model = Lasso::new(&x, &y, 1.0, 1.0).unwrap();
    let (from, to) = (vec![1e200], vec![0.0]);
    let error = model.compare(&from, &to, &mut ()).total().unwrap_err();
    assert!(error.to_string().contains("row 37"), "{error}");
}
