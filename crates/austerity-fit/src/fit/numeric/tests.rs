//! Differences against derivatives, and searches that must give up.

use austerity::model::{Glm, Logistic, ResponseKind, find_mode, from_fn, generate};

use super::*;

#[test]
fn differences_find_the_mode_that_derivatives_find() {
    let made = generate::logistic(60_000, 4).correlated(true).seed(5).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, data.default_priors()).unwrap();
    let exact = find_mode(&model, &[0.0; 5]).unwrap();
    let found = mode(&model, &[0.0; 5], &Control::new()).unwrap().unwrap();
    for i in 0..5 {
        let sd = exact.covariance[6 * i].sqrt();
        assert!((found.state[i] - exact.state[i]).abs() < 0.1 * sd, "{i}: {found:?} {exact:?}");
        assert!((found.covariance[6 * i].sqrt() / sd - 1.0).abs() < 0.05, "{i}");
    }
}

#[test]
fn a_slope_without_end_and_a_stop_are_no_mode() {
    let endless = from_fn(100, 1, |_: &[f64]| 0.0, |s: &[f64], _| s[0]).unwrap();
    assert_eq!(mode(&endless, &[0.0], &Control::new()).unwrap(), None);
    let stopped = Control::new();
    stopped.stop();
    assert!(matches!(mode(&endless, &[0.0], &stopped), Err(Failure::Interrupted)));
}
