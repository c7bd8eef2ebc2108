//! Generated data have the coefficients, correlations and rare features they promise.

use super::*;
use crate::data::summary::ColumnSummary;
use crate::{Linear, NegativeBinomial, Noise, Poisson, Prior, ResponseKind, Student};
use austerity::model::find_mode;

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let summary = ColumnSummary::of(values);
    (summary.mean, summary.sd)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let ((ma, sa), (mb, sb)) = (mean_and_sd(a), mean_and_sd(b));
    let products = a.iter().zip(b).map(|(x, y)| (x - ma) * (y - mb));
    products.sum::<f64>() / (a.len() as f64 * sa * sb)
}

/// N = 40,000: means, sds and correlations within 4.5 standard errors; about 40 comparisons, false-alarm
/// rate ≤ 40 · 7e-6 = 3e-4; the seeds are fixed.
#[test]
fn features_have_the_moments_they_should() {
    let n = 40_000;
    let error = 4.5 / (n as f64).sqrt();
    for correlated in [false, true] {
        let made = linear(n, 4).correlated(correlated).seed(5).build().unwrap();
        let columns = made.data.columns();
        for (j, column) in columns.iter().enumerate() {
            let (mean, sd) = mean_and_sd(column);
            assert!(mean.abs() < error && (sd - 1.0).abs() < error);
            for (k, other) in columns.iter().enumerate().skip(j + 1) {
                let expected = if correlated { 0.5f64.powi((k - j) as i32) } else { 0.0 };
                assert!((correlation(column, other) - expected).abs() < error);
            }
        }
    }
}

#[test]
fn rare_features_have_log_spaced_counts() {
    let made = logistic(20_000, 3).rare(15).seed(1).build().unwrap();
    let columns = &made.data.columns()[3..];
    let counts: Vec<f64> = columns.iter().map(|c| c.iter().sum()).collect();
    assert_eq!((counts[0], counts[7], counts[14]), (10.0, 45.0, 200.0));
    assert!(counts.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(counts.iter().sum::<f64>(), 995.0);
    assert_eq!(made.data.column_names()[3], "rare1");
    let checked = made.data.check(ResponseKind::Binary).unwrap();
    assert!(checked.shift[3..].iter().all(|&s| s == 0.0));
    let small = of(Poisson, 100, 1).rare(3).build().unwrap();
    assert_eq!(small.data.columns()[3].iter().sum::<f64>(), 10.0);
}

/// Each family's mean response against the mean of its rows' expectations, within 4.5 standard errors of
/// the difference (known per row): false-alarm rate ≤ 5 · 7e-6.
#[test]
fn responses_follow_the_true_coefficients() {
    let n = 20_000;
    for (settings, kind) in [
        (logistic(n, 6), ResponseKind::Binary),
        (linear(n, 6), ResponseKind::Real),
        (of(Poisson, n, 6), ResponseKind::Count),
        (of(Student { freedom: 4.0 }, n, 6), ResponseKind::Real),
        (of(NegativeBinomial, n, 6), ResponseKind::Count),
    ] {
        let made = settings.correlated(true).seed(3).build().unwrap();
        let checked = made.data.check(kind).unwrap();
        assert!(checked.warnings.is_empty());
        let (mut off, mut variance) = (0.0, 0.0);
        for i in 0..n {
            let columns = checked.columns.iter().zip(&made.coefficients[1..]);
            let predictor = made.coefficients[0] + columns.map(|(c, b)| c[i] * b).sum::<f64>();
            let (p, rate) = (1.0 / (1.0 + (-predictor).exp()), predictor.exp());
            let (mean, spread) = match (kind, settings.law) {
                (ResponseKind::Binary, _) => (p, p * (1.0 - p)),
                (ResponseKind::Real, Law::Normal) => (predictor, 1.0),
                (ResponseKind::Real, _) => (predictor, 4.0 / (4.0 - 2.0)),
                (_, law) if law == Law::Family(Poisson.into()) => (rate, rate),
                // Negative binomial with φ = 2.
                _ => (rate, rate + rate * rate / 2.0),
            };
            off += checked.response[i] - mean;
            variance += spread;
        }
        assert!(off.abs() < 4.5 * variance.sqrt(), "{settings:?}: {off} ± {}", variance.sqrt());
    }
}

/// Least squares finds the true coefficients again: 6 z-values below 4.5, false-alarm rate 4e-5.
#[test]
fn least_squares_recovers_the_coefficients() {
    let made = linear(5000, 5).seed(8).build().unwrap();
    let checked = made.data.check(ResponseKind::Real).unwrap();
    let model = Linear::summarized(&checked, [Prior::Flat; 6], Noise::Known { sd: 1.0 }).unwrap();
    let mode = find_mode(&model, &[0.0; 6]).unwrap();
    for (j, truth) in made.coefficients.iter().enumerate() {
        let z = (mode.state[j] - truth) / mode.covariance[j * 7].sqrt();
        assert!(z.abs() < 4.5, "{j}: {z}");
    }
}

#[test]
fn settings_and_seed_fix_everything() {
    let settings = of(Student { freedom: 4.0 }, 200, 3).rare(2).seed(4);
    assert_eq!(settings.build().unwrap(), settings.build().unwrap());
    assert_ne!(settings.build().unwrap(), settings.seed(5).build().unwrap());
    assert_eq!(linear(0, 3).build().unwrap_err(), Error::EmptyData);
    let message = linear(50, 1).rare(1).build().unwrap_err().to_string();
    assert!(message.contains("50") && message.contains("100"), "{message}");
    assert!(linear(5, 0).build().unwrap().data.check(ResponseKind::Real).is_ok());
}
