//! Densities, their derivatives, texts and draws of every prior.

use super::*;

/// One of every kind, some of them around another mean.
const ALL: [Prior; 12] = [
    Prior::Flat,
    Prior::normal(2.0),
    Prior::Normal { mean: -1.25, sd: 2.0 },
    Prior::laplace(0.7).around(0.1),
    Prior::laplace(0.7).smooth(),
    Prior::student(3.0, 1.5),
    Prior::Student { freedom: 3.0, mean: 4.0, scale: 1.5 },
    Prior::HalfNormal { scale: 3.0 },
    Prior::HalfStudent { freedom: 3.0, scale: 0.1 },
    Prior::Exponential { rate: 0.5 },
    Prior::Gamma { shape: 1.5, rate: 0.5 },
    Prior::LogNormal { mean: 0.25, sd: 2.0 },
];

#[test]
fn derivatives_are_those_of_the_log_density() {
    let h = 1e-5;
    for prior in ALL {
        for value in [-3.0, -0.2, 0.4, 2.0] {
            let f = |x| prior.log_density(x);
            let (first, second) = prior.derivatives(value);
            let scale = 1.0 + first.abs() + f(value).abs();
            assert!((first - (f(value + h) - f(value - h)) / (2.0 * h)).abs() < 1e-8 * scale, "{prior}");
            let numeric = (f(value + h) - 2.0 * f(value) + f(value - h)) / (h * h);
            assert!((second - numeric).abs() < 1e-4 * scale, "{prior} {value}: {second} {numeric}");
        }
    }
}

#[test]
fn text_there_and_back() {
    for prior in ALL {
        assert_eq!(prior.to_string().parse(), Ok(prior));
    }
    assert_eq!(" Student : 3 , 1 ".parse(), Ok(Prior::student(3.0, 1.0)));
    assert_eq!("normal:0,2".parse(), Ok(Prior::normal(2.0)));
    for bad in [
        "",
        "normal",
        "normal:",
        "normal:1,2,3",
        "normal:x",
        "gauss:1",
        "flat:1",
        "student:3",
        "normal:-1",
        "normal:inf,1",
        "half-normal:0",
        "exponential:1,2",
        "gamma:1",
        "gamma:0,1",
    ] {
        assert!(bad.parse::<Prior>().is_err(), "{bad}");
    }
    let message = "gauss:1".parse::<Prior>().unwrap_err().to_string();
    assert!(message.contains("gauss:1") && message.contains("normal:SD"), "{message}");
}

#[test]
fn rounding_a_kink_leaves_the_pull() {
    let scale = 0.01;
    let smooth = Prior::laplace(scale).smooth();
    assert!((smooth.derivatives(0.0).1 * 2.0 * scale * scale + 1.0).abs() < 1e-12);
    assert!((smooth.derivatives(1.0).0 * scale + 1.0).abs() < 1e-3);
    assert_eq!(Prior::normal(2.0).smooth(), Prior::normal(2.0));
}

#[test]
fn scales_must_be_positive() {
    for prior in [
        Prior::normal(0.0),
        Prior::Normal { mean: f64::NAN, sd: 1.0 },
        Prior::laplace(f64::NAN),
        Prior::student(-1.0, 1.0),
        Prior::student(1.0, f64::INFINITY),
        Prior::HalfStudent { freedom: 3.0, scale: 0.0 },
        Prior::Exponential { rate: -1.0 },
    ] {
        assert!(prior.check().is_err());
    }
    assert!(Prior::Flat.check().is_ok());
}

/// A prior of a positive parameter is stated for the parameter: ∫ exp(log density) d log σ over σ > 2 is the probability of σ > 2.
#[test]
fn positive_parameters_have_the_densities_that_are_stated() {
    let probability = |prior: Prior| {
        let sum = |from: f64, to: f64| {
            let steps = 20_000;
            let width = (to - from) / f64::from(steps);
            (0..steps).map(|k| prior.log_density(from + (f64::from(k) + 0.5) * width).exp()).sum::<f64>()
                * width
        };
        let above = sum(2f64.ln(), 12.0);
        above / (above + sum(-25.0, 2f64.ln()))
    };
    for (prior, truth) in [
        (Prior::HalfNormal { scale: 2.0 }, 0.317_310_5),
        (Prior::Exponential { rate: 0.5 }, (-1f64).exp()),
        // Of Student t with 3 degrees of freedom P(|t| > 2) = 0.13933.
        (Prior::HalfStudent { freedom: 3.0, scale: 1.0 }, 0.139_326),
    ] {
        assert!((probability(prior) - truth).abs() < 1e-5, "{prior}: {}", probability(prior));
    }
    assert_eq!(Prior::normal(2.0).positive(), Some(Prior::HalfNormal { scale: 2.0 }));
    assert_eq!(Prior::normal(2.0).around(1.0).positive(), None);
    assert_eq!(Prior::Flat.positive(), None);
}

/// Draws have the density that is stated: mean and variance of 40,000 draws within 5 standard errors (false alarms: 1 in 10⁶ each).
#[test]
fn draws_have_the_moments_of_the_prior() {
    let mut rng = austerity::rng::stream(7, 0, austerity::rng::Role::Start);
    for prior in ALL {
        let Some((mean, sd)) = prior.moments() else { continue };
        if prior == Prior::laplace(0.7).smooth() || matches!(prior, Prior::Student { .. }) {
            continue;
        }
        let number = 40_000;
        let values: Vec<f64> = (0..number)
            .filter_map(|_| prior.draw(&mut rng))
            .map(|value| if prior.is_positive() { value.exp() } else { value })
            .collect();
        let found = values.iter().sum::<f64>() / f64::from(number);
        let spread = (values.iter().map(|v| (v - found).powi(2)).sum::<f64>() / f64::from(number)).sqrt();
        assert!((found - mean).abs() < 5.0 * sd / f64::from(number).sqrt(), "{prior}: {found} {mean}");
        assert!((spread / sd - 1.0).abs() < 0.04, "{prior}: {spread} {sd}");
    }
    assert_eq!(Prior::Flat.draw(&mut rng), None);
}
