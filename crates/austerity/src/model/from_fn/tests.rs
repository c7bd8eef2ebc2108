//! Caches, costs, panics, NaN and infinities of models made of closures.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn flat(_: &[f64]) -> f64 {
    0.0
}

#[test]
fn cached_totals_equal_uncached_ones_bit_for_bit() {
    let calls = AtomicUsize::new(0);
    let log_likelihood = |state: &[f64], row: usize| {
        calls.fetch_add(1, Ordering::Relaxed);
        -((row as f64).sin() - state[0]).powi(2) * state[1].exp() + state[1]
    };
    let rows = 1003;
    let model = from_fn(rows, 2, flat, log_likelihood).unwrap().shuffle(9);
    let mut scan = model.scratch(Access::Scan);
    assert_eq!(model.scratch_bytes(Access::Scan), 16 * rows);
    let mut state = vec![0.1, 0.2];
    for step in 0..12u32 {
        let to = vec![state[0] + 0.1 * f64::from(step).cos(), state[1] - 0.05];
        let mut blocks = model.scratch(Access::Blocks);
        let plain = model.compare(&state, &to, &mut blocks).total().unwrap();
        let before = calls.load(Ordering::Relaxed);
        let mut ratio = model.compare(&state, &to, &mut scan);
        if step % 5 == 3 {
            // A rule that samples first, audits, or decides without a total must not confuse the cache.
            ratio.reveal(200..300, &mut [0.0; 100]).unwrap();
        }
        let (cached, cost) = (ratio.total().unwrap(), ratio.row_cost().scanned);
        assert_eq!(cached.sum().to_bits(), plain.sum().to_bits());
        assert_eq!(cached.m4.to_bits(), plain.m4.to_bits());
        if step % 5 != 3 {
            // The first scan also fills the cache of the start, which counts as set-up.
            let fill = if step == 0 { rows } else { 0 };
            assert_eq!(calls.load(Ordering::Relaxed) - before, rows * cost as usize + fill);
            assert_eq!(cost, 1);
        }
        if step % 3 != 1 {
            model.accepted(&mut scan);
            state = to;
        }
    }
}

#[test]
fn an_accepted_but_unread_candidate_is_computed_later() {
    let model = from_fn(10, 1, flat, |s: &[f64], row| -s[0] * row as f64).unwrap();
    let mut scan = model.scratch(Access::Scan);
    let _ = model.compare(&vec![0.0], &vec![1.0], &mut scan);
    model.accepted(&mut scan);
    let sum = model.compare(&vec![1.0], &vec![3.0], &mut scan).total().unwrap().sum();
    assert_eq!(sum, -2.0 * 45.0);
    // A chain restarted elsewhere with the same memory is recognised.
    let sum = model.compare(&vec![7.0], &vec![3.0], &mut scan).total().unwrap().sum();
    assert_eq!(sum, 4.0 * 45.0);
}

#[test]
fn bad_numbers_name_the_users_row() {
    // Row 4 misbehaves at negative states.
    let at = |bad: f64| move |s: &[f64], row: usize| if row == 4 && s[0] < 0.0 { bad } else { -s[0] * s[0] };
    for access in [Access::Blocks, Access::Scan] {
        for (bad, forth, back) in [
            (f64::NAN, Some(Error::NotANumber { row: 4 }), Error::NotANumber { row: 4 }),
            (f64::NEG_INFINITY, None, Error::InfiniteRatio { row: 4 }),
        ] {
            let model = from_fn(7, 1, flat, at(bad)).unwrap();
            let mut scratch = model.scratch(access);
            let to_bad = model.compare(&vec![1.0], &vec![-1.0], &mut scratch).total();
            match forth {
                Some(error) => assert_eq!(to_bad.unwrap_err(), error),
                None => assert!(to_bad.unwrap().impossible()),
            }
            let mut scratch = model.scratch(access);
            let from_bad = model.compare(&vec![-1.0], &vec![1.0], &mut scratch).total();
            assert_eq!(from_bad.unwrap_err(), back);
        }
        let model = from_fn(7, 1, flat, at(f64::INFINITY)).unwrap();
        let mut scratch = model.scratch(access);
        let message = model.compare(&vec![1.0], &vec![-1.0], &mut scratch).total();
        let message = message.unwrap_err().to_string();
        assert!(message.contains("row 4") && message.contains("inf"), "{message}");
    }
}

#[test]
fn panics_become_errors_and_leave_the_cache_usable() {
    let log_prior = |s: &[f64]| {
        if s[0] > 5.0 { panic!("prior at {}", s[0]) } else { 0.0 }
    };
    let log_likelihood = |s: &[f64], row: usize| {
        assert!(row != 3 || s[0] < 2.0, "row three is delicate");
        -s[0] * row as f64
    };
    let model = from_fn(200, 1, log_prior, log_likelihood).unwrap();
    let mut scratch = model.scratch(Access::Scan);
    let bad = model.compare(&vec![0.0], &vec![2.5], &mut scratch).total();
    assert_eq!(
        bad.unwrap_err(),
        Error::Panicked {
            what: "log-likelihood".into(),
            row: Some(3),
            message: "row three is delicate".into()
        }
    );
    let good = model.compare(&vec![0.0], &vec![1.0], &mut scratch).total().unwrap();
    assert!((good.sum() + 19_900.0).abs() < 1e-9);

    assert_eq!(model.prior_error(), Error::PriorNotANumber);
    assert!(model.log_prior(&vec![6.0]).is_nan());
    let told = model.prior_error().to_string();
    assert!(told.contains("log prior") && told.contains("prior at 6"), "{told}");
}

#[test]
fn shape_and_names_are_checked() {
    let make = |rows, dimension| from_fn(rows, dimension, flat, |_: &[f64], _| 0.0);
    assert_eq!(make(0, 1).unwrap_err(), Error::EmptyData);
    assert!(make(1, 0).unwrap_err().to_string().contains("dimension"));
    let model = make(5, 2).unwrap();
    assert_eq!(Parameters::names(&model), ["parameter1", "parameter2"]);
    let message = model.names(["a"]).unwrap_err().to_string();
    assert!(message.contains("expected 2") && message.contains("found 1"));
    let model = make(5, 2).unwrap();
    let mut scratch = model.scratch(Access::Scan);
    let error = model.compare(&vec![0.0; 2], &vec![0.0], &mut scratch).total();
    assert!(error.unwrap_err().to_string().contains("state: expected 2"));
    let model = make(5, 2).unwrap().names(["a", "b"]).unwrap().keep_order();
    assert_eq!(model.original_row(3), 3);
    let mut order: Vec<usize> = (0..500).map(|p| make(500, 1).unwrap().original_row(p)).collect();
    assert_ne!(order[..10], (0..10).collect::<Vec<_>>());
    order.sort_unstable();
    assert_eq!(order, (0..500).collect::<Vec<_>>());
}
