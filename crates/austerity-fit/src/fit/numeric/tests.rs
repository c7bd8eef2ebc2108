//! Differences against derivatives, and searches that must give up.

use austerity::model::{find_mode, from_fn};
use austerity_glm::{Glm, Logistic, ResponseKind, generate};

use super::*;

#[test]
fn differences_find_the_mode_that_derivatives_find() {
    let made = generate::logistic(60_000, 4).correlated(true).seed(5).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, data.default_priors()).unwrap();
    let exact = find_mode(&model, &[0.0; 5]).unwrap();
    let found = mode(&model, &[0.0; 5], &Control::new()).unwrap();
    assert_eq!(found.hazard, None);
    let found = found.mode.unwrap();
    for i in 0..5 {
        let sd = exact.covariance[6 * i].sqrt();
        assert!((found.state[i] - exact.state[i]).abs() < 0.1 * sd, "{i}: {found:?} {exact:?}");
        assert!((found.covariance[6 * i].sqrt() / sd - 1.0).abs() < 0.05, "{i}");
    }
}

#[test]
fn a_slope_without_end_and_a_stop_are_no_mode() {
    let endless = from_fn(100, 1, |_: &[f64]| 0.0, |s: &[f64], _| s[0]).unwrap();
    let found = mode(&endless, &[0.0], &Control::new()).unwrap();
    assert!(found.mode.is_none());
    assert_eq!(
        found.hazard,
        Some(Hazard::DegenerateMode { parameters: vec!["parameter1".into()] }),
        "{found:?}"
    );
    let stopped = Control::new();
    stopped.stop();
    assert!(matches!(mode(&endless, &[0.0], &stopped), Err(Failure::Interrupted)));
}

fn hazard(model: &impl Sampled, start: &[f64]) -> Option<Hazard> {
    mode(model, start, &Control::new()).unwrap().hazard
}

fn normal(mean: f64, log_sd: f64, y: f64) -> f64 {
    -log_sd - 0.5 * ((y - mean) * (-log_sd).exp()).powi(2)
}

#[test]
fn flat_directions_are_named_and_strong_correlations_are_not() {
    let y = |i: usize| (i as f64 * 0.7).sin();
    let free = |prior: f64| {
        from_fn(
            2000,
            3,
            move |s: &[f64]| -0.5 * (prior * s[2]).powi(2),
            move |s: &[f64], i| normal(s[0], s[1], y(i)),
        )
        .unwrap()
        .names(["mean", "log_sd", "free"])
        .unwrap()
    };
    let found = hazard(&free(0.0), &[0.0; 3]);
    assert_eq!(found, Some(Hazard::FlatDirection { parameters: vec!["free".into()] }));
    // Power: a wide but proper prior on the same parameter.
    assert_eq!(hazard(&free(1e-2), &[0.0; 3]), None);
    let sum = |share: f64| {
        from_fn(
            2000,
            2,
            |_: &[f64]| 0.0,
            move |s: &[f64], i| {
                let x = 1.0 + share * (i as f64 * 0.3).cos();
                -0.5 * (y(i) - s[0] - s[1] * x).powi(2)
            },
        )
        .unwrap()
        .names(["a", "b"])
        .unwrap()
    };
    assert_eq!(
        hazard(&sum(0.0), &[0.3, 0.1]),
        Some(Hazard::FlatDirection { parameters: vec!["a".into(), "b".into()] })
    );
    assert_eq!(hazard(&sum(0.01), &[0.3, 0.1]), None);
    let known = untouched(&free(0.0), (&[0.0; 3], &[0.02, 0.02, 1.0]), &Control::new()).unwrap();
    assert_eq!(known, Some(Hazard::FlatDirection { parameters: vec!["free".into()] }));
}

#[test]
fn scales_that_go_to_zero_are_a_degenerate_mode() {
    for y in [2.5, 0.0] {
        let log = from_fn(500, 2, |_: &[f64]| 0.0, move |s: &[f64], _| normal(s[0], s[1], y)).unwrap();
        for start in [[0.0, 0.0], [y, 0.0]] {
            let found = hazard(&log, &start);
            let told = matches!(&found, Some(Hazard::DegenerateMode { parameters }) if parameters.contains(&"parameter2".into()));
            assert!(told, "{y} {start:?}: {found:?}");
        }
    }
    // On its own scale, with an edge at 0.
    let support = |s: &[f64]| if s[1] > 0.0 { 0.0 } else { f64::NEG_INFINITY };
    let edged = from_fn(500, 2, support, |s: &[f64], _| normal(s[0], s[1].ln(), 2.5)).unwrap();
    let found = hazard(&edged, &[2.5, 1.0]);
    assert!(
        matches!(&found, Some(Hazard::DegenerateMode { parameters }) if parameters == &["parameter2"]),
        "{found:?}"
    );
    // Power: with noise there is a mode, and far starts find none without being accused. (From 10⁶ on rounding of the sum of squares decides.)
    let noisy =
        from_fn(500, 2, |_: &[f64]| 0.0, |s: &[f64], i| normal(s[0], s[1], (i as f64 * 0.7).sin())).unwrap();
    for start in
        [[0.0, 0.0], [3.0, 2.0], [300.0, 0.0], [0.0, -3.0], [1e4, 0.0], [0.0, 12.0], [5.0, 12.0], [1e5, 0.0]]
    {
        assert_eq!(hazard(&noisy, &start), None, "{start:?}");
    }
}

/// Twelve parameters: the means of two components of a mixture, and ten of other columns. Both orders of the components are found, whichever comes first; with one mean there is one mode, and more than 40 parameters are
/// not looked at.
#[test]
fn modes_of_a_dozen_parameters_are_found() {
    let model = |mixed: bool, more: usize| {
        let row = move |s: &[f64], i: usize| {
            let (noise, side) = ((i as f64 * 0.7).sin(), if i % 10 < 3 { 2.0 } else { -2.0 });
            let first = if mixed {
                let part = |mean: f64, share: f64| share * (-0.5 * (side + noise - mean).powi(2)).exp();
                (part(s[0], 0.5) + part(s[1], 0.5)).ln()
            } else {
                -0.5 * (noise - s[0] - 0.2 * s[1] * side).powi(2)
            };
            let rest = s[2..].iter().enumerate();
            let far =
                |(j, x): (usize, &f64)| -0.5 * (x - (i as f64 * 0.3 + j as f64).cos() - j as f64).powi(2);
            first + rest.map(far).sum::<f64>()
        };
        from_fn(1_200, 2 + more, |s: &[f64]| -0.005 * s.iter().map(|x| x * x).sum::<f64>(), row).unwrap()
    };
    let found = |mixed: bool, start: [f64; 2]| {
        let model = model(mixed, 10);
        let mut at = vec![0.0; 12];
        at[..2].copy_from_slice(&start);
        let first = mode(&model, &at, &Control::new()).unwrap().mode.unwrap();
        other_modes(&model, &first, &at, &Control::new()).unwrap()
    };
    for start in [[-1.0, 1.0], [1.0, -1.0]] {
        let (modes, starts) = found(true, start);
        let places: Vec<&[f64]> = modes.iter().map(|mode| &mode.state[..2]).collect();
        assert!(modes.len() == 2 && starts > 0, "{start:?}: {places:?} from {starts} starts");
        let sides: Vec<bool> = modes.iter().map(|mode| mode.state[0] < mode.state[1]).collect();
        assert_ne!(sides[0], sides[1]);
        // Mirror images weigh the same.
        assert!(modes[1].log_density.abs() < 1e-3, "{}", modes[1].log_density);
    }
    let (modes, starts) = found(false, [0.5, 0.0]);
    assert!(modes.len() == 1 && starts > 5, "{} modes from {starts} starts", modes.len());
    let wide = model(false, 39);
    let at = Mode { state: vec![0.0; 41], log_density: 0.0, covariance: vec![0.0; 41 * 41], iterations: 1 };
    assert_eq!(other_modes(&wide, &at, &[0.0; 41], &Control::new()).unwrap().1, 0);
}
