//! Small data, weights, missing intercepts, impossible candidates, and refusals.

use super::*;

fn plain(rows: usize) -> CheckedData {
    let shape = Shape { rows, columns: 3, side: false, shuffle: Some(8) };
    data(shape, |rng, _| f64::from(rng.random::<bool>()))
}

fn total<F: Family>(model: &Glm<F>, from: &Vec<f64>, to: &Vec<f64>) -> Moments {
    let mut scratch = model.scratch(Access::Blocks);
    model.compare(from, to, &mut scratch).total().unwrap()
}

#[test]
fn every_number_of_rows() {
    for rows in [1, 2, 31, 32, 33, 63, 64, 65, 127] {
        let data = plain(rows);
        let model = Glm::new(Logistic, &data, vec![Prior::Flat; 4]).unwrap();
        let (from, to) = (state(&model, 1, 1.0), state(&model, 2, 1.0));
        let exact = Moments::of(&reference(&Logistic, &data, &from, &to));
        for access in [Access::Blocks, Access::Scan] {
            let mut scratch = model.scratch(access);
            let found = model.compare(&from, &to, &mut scratch).total().unwrap();
            assert_eq!((found.count, found.nonzeros), (exact.count, exact.nonzeros));
            assert!((found.mean - exact.mean).abs() < 1e-5);
            assert!((found.m2 - exact.m2).abs() < 1e-5 * (1.0 + exact.m2));
            assert!(model.scratch_bytes(access) > 0);
        }
        let mut gradient = vec![0.0; 4];
        assert!(model.log_density_gradient(&from, &mut gradient).unwrap() < 0.0);
    }
}

#[test]
fn weights_equal_repeated_rows() {
    let mut weighted = plain(200);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 4)).collect();
    let mut repeated = weighted.clone();
    let repeat = |values: &[f64]| -> Vec<f64> {
        let each = values.iter().zip(&weights);
        each.flat_map(|(&v, &w)| std::iter::repeat_n(v, w as usize)).collect()
    };
    repeated.columns = repeated.columns.iter().map(|c| repeat(c)).collect();
    repeated.response = repeat(&repeated.response);
    repeated.trials = None;
    weighted.weights = Some(weights);
    let priors = vec![Prior::normal(1.0); 4];
    let a = Glm::new(Logistic, &weighted, priors.clone()).unwrap();
    let b = Glm::new(Logistic, &repeated, priors).unwrap();
    let (from, to) = (state(&a, 1, 1.0), state(&a, 2, 1.0));
    let (x, y) = (total(&a, &from, &to).sum(), total(&b, &from, &to).sum());
    assert!((x - y).abs() < 1e-5 * (1.0 + y.abs()), "{x} {y}");
    let derivatives = |model: &Glm<Logistic>| {
        let (mut gradient, mut hessian) = (vec![0.0; 4], vec![0.0; 16]);
        let value = model.hessian(&from, &mut gradient, &mut hessian).unwrap();
        [vec![value], gradient, hessian].concat()
    };
    for (x, y) in derivatives(&a).iter().zip(derivatives(&b)) {
        assert!((x - y).abs() < 1e-4 * (1.0 + y.abs()), "{x} {y}");
    }
}

#[test]
fn without_an_intercept_the_shift_still_counts() {
    let mut without = plain(100);
    without.intercept = false;
    let with = Glm::new(Logistic, &plain(100), vec![Prior::Flat; 4]).unwrap();
    let without = Glm::new(Logistic, &without, vec![Prior::Flat; 3]).unwrap();
    assert_eq!(without.names(), ["x0", "x1", "x2"]);
    assert_eq!(with.names(), ["intercept", "x0", "x1", "x2"]);
    let (from, to) = (vec![0.0, 0.1, -0.2, 0.05], vec![0.0, 0.05, -0.1, 0.1]);
    let (short_from, short_to) = (from[1..].to_vec(), to[1..].to_vec());
    assert_eq!(total(&with, &from, &to), total(&without, &short_from, &short_to));
    let (mut long, mut short) = (vec![0.0; 4], vec![0.0; 3]);
    let a = with.log_density_gradient(&from, &mut long).unwrap();
    let b = without.log_density_gradient(&short_from, &mut short).unwrap();
    assert_eq!((a, &long[1..]), (b, &short[..]));
}

#[test]
fn impossible_candidates_and_numbers_that_are_none() {
    let mut data = plain(100);
    data.response = vec![3.0; 100];
    data.shuffle = Some(5);
    // Row 42 stands out: its first column alone is large.
    data.shift = vec![0.0; 3];
    data.scale = vec![1.0; 3];
    data.columns[0] = vec![0.0; 100];
    data.columns[0][42] = 1.0;
    for level in simd::available() {
        let model = Glm::new(Poisson, &data, vec![Prior::Flat; 4]).unwrap().with_level(level);
        let fine = vec![0.0; 4];
        let impossible = vec![0.0, 5000.0, 0.0, 0.0];
        assert!(total(&model, &fine, &impossible).impossible());
        let mut scratch = model.scratch(Access::Scan);
        let mut moments = Moments::EMPTY;
        let mut ratio = model.compare(&fine, &impossible, &mut scratch);
        ratio.summarize(&[0, 1, 2, 3], 32, &mut moments).unwrap();
        assert!(moments.impossible());
        let back = model.compare(&impossible, &fine, &mut scratch).total();
        assert_eq!(back, Err(Error::InfiniteRatio { row: 42 }));
        let none = vec![0.0, f64::NAN, 0.0, 0.0];
        let list: Vec<u32> = (0..100).rev().collect();
        let mut ratio = model.compare(&fine, &none, &mut scratch);
        // NaN times 0 is NaN: every row is hit, and the first one read is named.
        let first = model.original_row(99);
        let outcome = ratio.summarize(&list, 1, &mut moments);
        assert_eq!(outcome, Err(Error::NotANumber { row: first }));
        let mut out = [0.0];
        assert!(ratio.reveal(3..4, &mut out).is_err());
        assert!(model.log_density_gradient(&none, &mut [0.0; 4]).is_err());
        // A failed scan leaves no cache behind.
        assert!(model.compare(&none, &fine, &mut scratch).total().is_err());
        assert!(model.compare(&none, &fine, &mut scratch).total().is_err());
        let absurd = vec![0.0, 1e300, -1e300, 0.0];
        let logistic = Glm::new(Logistic, &plain(100), vec![Prior::Flat; 4]).unwrap();
        assert!(total(&logistic.with_level(level), &fine, &absurd).mean < -1e25);
    }
}

#[test]
fn moves_too_small_for_f32_moments_keep_their_shape() {
    let data = plain(320);
    let model = Glm::new(Logistic, &data, vec![Prior::Flat; 4]).unwrap();
    let from = state(&model, 1, 1.0);
    let to: Vec<f64> = from.iter().map(|b| b + 1e-13).collect();
    let exact = Moments::of(&reference(&Logistic, &data, &from, &to));
    let found = total(&model, &from, &to);
    assert!(found.m4 > 0.0);
    assert!((found.kurtosis() / exact.kurtosis() - 1.0).abs() < 1e-3);
    assert!((found.m2 / exact.m2 - 1.0).abs() < 1e-3);
    // No move at all: all zero.
    let still = total(&model, &from, &from);
    assert_eq!((still.nonzeros, still.m2, still.minimum, still.maximum), (0, 0.0, 0.0, 0.0));
}

#[test]
fn refusals_name_the_value() {
    let data = plain(10);
    let flat = |n: usize| vec![Prior::Flat; n];
    assert!(matches!(Glm::new(Logistic, &data, flat(3)), Err(Error::Dimension { .. })));
    assert!(Glm::new(Logistic, &data, vec![Prior::normal(-1.0); 4]).is_err());
    let mut wrong = data.clone();
    wrong.response[7] = 0.5;
    let found = Glm::new(Logistic, &wrong, flat(4)).err();
    assert!(matches!(found, Some(Error::OutOfRange { row: 7, .. })));
    assert!(Glm::new(Poisson, &wrong, flat(4)).is_err());
    wrong.response[7] = 20.0;
    assert!(Glm::new(Binomial, &wrong, flat(4)).is_err());
    wrong.trials = None;
    assert!(matches!(Glm::new(Binomial, &wrong, flat(4)), Err(Error::Dimension { .. })));
    assert!(Glm::new(Student { freedom: 0.0 }, &data, flat(5)).is_err());
    let student = Glm::new(Student { freedom: 3.0 }, &data, flat(5)).unwrap();
    assert_eq!(student.names().last().map(String::as_str), Some("sigma"));
    assert!(student.check_state(&vec![0.0; 4]).is_err());
    assert!(student.log_density_gradient(&vec![0.0; 4], &mut [0.0; 5]).is_err());
    assert_eq!(student.data_bytes(), 4 * 128);
    assert_eq!(student.parameters(), 5);
    let mut out = [0.0; 5];
    student.write(&vec![1.0; 5], &mut out);
    // A state holds log σ, a trace σ.
    assert_eq!(out, [1.0, 1.0, 1.0, 1.0, 1f64.exp()]);
}

/// Levels with the same multiply-add give the same bits: a run does not depend on the width of the registers.
#[test]
#[cfg(target_arch = "x86_64")]
fn levels_of_one_kind_agree_to_the_last_bit() {
    let model = Glm::new(Logistic, &plain(1000), vec![Prior::Flat; 4]).unwrap();
    let (from, to) = (state(&model, 1, 1.0), state(&model, 2, 1.0));
    let (mut fused, mut plain) = (Vec::new(), Vec::new());
    for level in simd::available() {
        let list = if level.as_avx2().is_some() { &mut fused } else { &mut plain };
        list.push(total(&model.clone().with_level(level), &from, &to));
    }
    for list in [fused, plain] {
        assert!(list.windows(2).all(|pair| pair[0] == pair[1]), "{list:?}");
    }
}

#[test]
fn a_candidate_of_the_wrong_length_is_an_error_of_every_question() {
    let model = Glm::new(Logistic, &plain(100), vec![Prior::Flat; 4]).unwrap();
    let right = vec![0.0; 4];
    for access in [Access::Blocks, Access::Scan] {
        let mut scratch = model.scratch(access);
        for wrong in [vec![], vec![0.0; 3], vec![0.0; 5]] {
            for (from, to, what) in [(&right, &wrong, "candidate"), (&wrong, &right, "state")] {
                let expected = Error::Dimension { what: what.into(), expected: 4, found: wrong.len() };
                let mut ratio = model.compare(from, to, &mut scratch);
                assert_eq!(ratio.reveal(0..1, &mut [0.0]).as_ref(), Err(&expected));
                assert_eq!(ratio.summarize(&[0], 32, &mut Moments::EMPTY.clone()).as_ref(), Err(&expected));
                assert_eq!(ratio.summarize(&[0], 1, &mut Moments::EMPTY.clone()).as_ref(), Err(&expected));
                assert_eq!(ratio.total(), Err(expected));
            }
        }
        assert!(model.compare(&right, &right, &mut scratch).total().is_ok());
    }
}

#[test]
fn a_start_without_probability_is_refused_with_its_row() {
    let mut data = plain(100);
    data.response = vec![3.0; 100];
    data.shift = vec![0.0; 3];
    data.scale = vec![1.0; 3];
    data.columns[0] = vec![0.0; 100];
    data.columns[0][42] = 1.0;
    for level in simd::available() {
        let poisson = Glm::new(Poisson, &data, vec![Prior::Flat; 4]).unwrap().with_level(level);
        let outcome = |state: [f64; 4]| match poisson.check_state(&state.to_vec()) {
            Ok(()) => String::new(),
            Err(error @ Error::ImpossibleStart { .. }) => error.to_string(),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(outcome([0.0; 4]), "");
        assert_eq!(outcome([-800.0, 0.0, 0.0, 0.0]), "");
        assert_eq!(outcome([100.0, 0.0, 0.0, 0.0]), "");
        assert!(outcome([800.0, 0.0, 0.0, 0.0]).contains("zero"));
        let one = outcome([0.0, 800.0, 0.0, 0.0]);
        assert!(one.contains("row 42 is -inf"), "{one}");
        assert!(outcome([0.0, f64::NAN, 0.0, 0.0]).contains("not a number"));
        assert!(outcome([0.0, 1e300, 0.0, 0.0]).contains("row 42"));
        let student = Glm::new(Student { freedom: 4.0 }, &data, vec![Prior::Flat; 5]).unwrap();
        let student = student.with_level(level);
        assert!(student.check_state(&vec![1e20, 0.0, 0.0, 0.0, 0.0]).is_ok());
        assert!(student.check_state(&vec![0.0, 0.0, 0.0, 0.0, -800.0]).is_err());
        assert!(student.check_state(&vec![0.0, 0.0, 0.0, 0.0, f64::NAN]).is_err());
    }
    let logistic = Glm::new(Logistic, &plain(100), vec![Prior::Flat; 4]).unwrap();
    assert!(logistic.check_state(&vec![1e300, 0.0, 0.0, 0.0]).is_ok());
}
