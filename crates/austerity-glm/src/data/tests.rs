//! Every refusal with its column, row and value; scales, warnings, defaults.

use super::*;
use crate::Prior;

fn good() -> Data {
    Data::new(["age", "income"], vec![vec![1.0, 2.0, 4.0], vec![5.0, 5.5, 5.0]], vec![0.0, 1.0, 1.0])
}

fn with_column(column: Vec<f64>) -> Data {
    let response = column.iter().enumerate().map(|(i, _)| (i % 2) as f64).collect();
    Data::new(["thing"], vec![column], response)
}

/// Every complaint names the column or role, the row and the value.
#[test]
fn bad_input_is_named() {
    use ResponseKind::*;
    let table: Vec<(Data, ResponseKind, &[&str])> = vec![
        (Data::new([""; 0], vec![], vec![]), Real, &["empty"]),
        (Data::new(["a"], vec![vec![1.0]], vec![]), Real, &["column `a`", "0", "1"]),
        (Data::new(["a", "b"], vec![vec![1.0, 2.0]], vec![0.0, 1.0]), Real, &["names", "1", "2"]),
        (good().weights(vec![1.0]), Binary, &["weights", "3", "1"]),
        (good().offset(vec![1.0; 4]), Binary, &["offset", "3", "4"]),
        (good().trials(vec![1.0; 2]), CountOfTrials, &["trials", "3", "2"]),
        (with_column(vec![1.0, f64::NAN, 2.0]), Binary, &["`thing`", "row 1", "NaN"]),
        (with_column(vec![1.0, 3.0, f64::INFINITY]), Binary, &["`thing`", "row 2", "inf"]),
        (with_column(vec![1e200, 3.0]), Binary, &["`thing`", "row 0", "1e145"]),
        (good().offset(vec![0.0, f64::NAN, 0.0]), Binary, &["`offset`", "row 1"]),
        (Data::new(["a"], vec![vec![1.0, 2.0]], vec![0.0, f64::NAN]), Real, &["`response`", "row 1", "NaN"]),
        (with_column(vec![7.5; 4]), Binary, &["`thing`", "7.5"]),
        (with_column(vec![0.0; 4]).intercept(false), Binary, &["`thing`", "is 0 "]),
        (
            Data::new(["a", "b", "c"], vec![vec![0.0, 2.0], vec![1.0, 2.0], vec![-0.0, 2.0]], vec![0.0, 1.0]),
            Real,
            &["`a`", "`c`", "identical"],
        ),
        (
            Data::new(["a"], vec![vec![1.0, 2.0, 3.0]], vec![0.0, 1.0, 2.0]),
            Binary,
            &["response", "row 2", "2", "0 or 1"],
        ),
        (
            Data::new(["a"], vec![vec![1.0, 2.0]], vec![0.0, -1.0]),
            Count,
            &["response", "row 1", "-1", "0, 1, 2"],
        ),
        (Data::new(["a"], vec![vec![1.0, 2.0]], vec![0.0, 1.5]), Count, &["row 1", "1.5"]),
        (good().trials(vec![1.0, 2.0, 0.0]), CountOfTrials, &["trials", "row 2", "0"]),
        (
            Data::new(["a"], vec![vec![1.0, 2.0]], vec![0.0, 3.0]).trials(vec![2.0, 2.0]),
            CountOfTrials,
            &["response", "row 1", "3", "2 trials"],
        ),
        (good(), CountOfTrials, &["trials", "3"]),
        (good().trials(vec![1.0; 3]), Binary, &["trials"]),
        (good().weights(vec![1.0, 0.0, 1.0]), Binary, &["weight", "row 1", "0", "positive"]),
        (good().weights(vec![1.0, 1.0, -2.0]), Binary, &["weight", "row 2", "-2"]),
        (good().weights(vec![f64::NAN, 1.0, 1.0]), Binary, &["row 0", "NaN"]),
        (Data::new([""; 0], vec![], vec![1.0, 2.0]).intercept(false), Real, &["columns", "intercept"]),
        (
            Data::new(["a", "a"], vec![vec![1.0, 2.0], vec![3.0, 1.0]], vec![1.0, 2.0]),
            Real,
            &["`a`", "differ"],
        ),
        (Data::new(["intercept"], vec![vec![1.0, 2.0]], vec![1.0, 2.0]), Real, &["`intercept`", "rename"]),
    ];
    for (data, kind, needles) in table {
        let message = data.check(kind).unwrap_err().to_string();
        for needle in needles {
            assert!(message.contains(needle), "{message:?} should name {needle:?}");
        }
    }
    let message = check_rows(u32::MAX as usize + 1).unwrap_err().to_string();
    assert!(message.contains("4294967296"), "{message}");
}

#[test]
fn good_input_passes_with_its_choices() {
    let checked = good().check(ResponseKind::Binary).unwrap();
    assert_eq!((checked.rows(), checked.coefficients()), (3, 3));
    assert_eq!(checked.coefficient_names(), ["intercept", "age", "income"]);
    assert!(checked.warnings.is_empty() && checked.shuffle.is_some());
    assert!(Data::new([""; 0], vec![], vec![1.0]).check(ResponseKind::Count).is_ok());
    let own = Data::new(["one"], vec![vec![2.0; 3]], vec![1.0, 2.0, 3.0])
        .intercept(false)
        .keep_order()
        .check(ResponseKind::Real)
        .unwrap();
    assert_eq!((own.shift[0], own.scale[0]), (0.0, 2.0));
    assert_eq!(own.storage_order(), [0, 1, 2]);
    let mut order = good().shuffle(5).check(ResponseKind::Real).unwrap().storage_order();
    order.sort_unstable();
    assert_eq!(order, [0, 1, 2]);
    let trials = good().trials(vec![1.0, 1.0, 9.0]).check(ResponseKind::CountOfTrials);
    assert!(trials.is_ok());
    let all = Data::new(["a"], vec![vec![1.0, 2.0]], vec![1.0, 1.0]).check(ResponseKind::Binary);
    assert!(all.unwrap().warnings[0].contains("every row"));
}

#[test]
fn dense_columns_are_centred_and_rare_ones_only_scaled() {
    let n = 1000;
    let dense: Vec<f64> = (0..n).map(|i| 1e9 + (i % 7) as f64).collect();
    let mut rare = vec![0.0; n];
    rare[..100].fill(3.0);
    rare[100] = 0.0;
    let mut half = rare.clone();
    half[100] = 3.0;
    let response = vec![0.5; n];
    let data = Data::new(["dense", "rare", "half"], vec![dense.clone(), rare, half], response);
    let checked = data.check(ResponseKind::Real).unwrap();
    let expected = dense.iter().map(|v| v - 1e9).sum::<f64>() / n as f64;
    assert!((checked.shift[0] - 1e9 - expected).abs() < 2e-7);
    let variance = dense.iter().map(|v| (v - 1e9 - expected).powi(2)).sum::<f64>() / n as f64;
    assert!((checked.scale[0] - variance.sqrt()).abs() < 1e-7);
    assert_eq!((checked.shift[1], checked.scale[1]), (0.0, 3.0));
    assert!((checked.shift[2] - 0.303).abs() < 1e-14);
    let priors = checked.default_priors();
    // A constant response has no unit.
    assert_eq!(priors[0], Prior::normal(2.5).around(0.5));
    let Prior::Normal { sd, .. } = priors[2] else { panic!("{priors:?}") };
    assert_eq!(sd, 5.0 / 3.0);
}

/// How rare a level is says nothing about its effect.
#[test]
fn default_priors_of_two_values_follow_their_distance() {
    let n = 581_012;
    let column = |value: &dyn Fn(usize) -> f64| (0..n).map(value).collect::<Vec<f64>>();
    let rare = column(&|i| f64::from(u8::from(i % 200_000 == 7)));
    let signs = column(&|i| if i % 50 == 0 { 1.0 } else { -1.0 });
    let dates = column(&|i| if i % 1000 == 0 { 2024.0 } else { 1999.0 });
    let mut three = rare.clone();
    three[99] = 0.5;
    let response = vec![0.5; n];
    let names = ["rare", "signs", "dates", "three"];
    let data = Data::new(names, vec![rare, signs, dates, three.clone()], response);
    let checked = data.check(ResponseKind::Real).unwrap();
    let sd = |prior: &Prior| if let Prior::Normal { sd, .. } = prior { *sd } else { panic!("{prior:?}") };
    let found: Vec<f64> = checked.default_priors().iter().map(sd).collect();
    assert_eq!(found[..4], [2.5, 5.0, 2.5, 0.2]);
    // One row with a third value, and the standard deviation counts.
    assert_eq!(found[4], 2.5 / ColumnSummary::of(&three).sd);
    assert!(found[4] > 1000.0, "{found:?}");
    let constant = Data::new(["c"], vec![vec![3.0; 4]], vec![0.5; 4]).intercept(false);
    assert_eq!(constant.check(ResponseKind::Real).unwrap().default_priors(), [Prior::normal(1.25)].into());
}

#[test]
fn lost_information_is_told() {
    let n = 100_000;
    let warning = |column: Vec<f64>| {
        let data = Data::new(["c"], vec![column], vec![0.5; n]);
        data.check(ResponseKind::Real).unwrap().warnings
    };
    // Time stamps over some years, one per second and a half.
    let stamps = warning((0..n).map(|i| 1.6e9 + (i * 1000 + i % 3) as f64).collect());
    assert!(stamps[0].contains("`c`") && stamps[0].contains("values move"), "{stamps:?}");
    // Small whole numbers and ordinary measurements are fine.
    assert!(warning((0..n).map(|i| (i % 90) as f64).collect()).is_empty());
    assert!(warning((0..n).map(|i| (i as f64).sin() + 1e6).collect()).is_empty());
    // A rare column whose non-zeros are nearly alike cannot be centred.
    let rare = warning((0..n).map(|i| if i % 20 == 0 { 1e6 + (i as f64).sin() } else { 0.0 }).collect());
    assert!(rare[0].contains("standard deviation"), "{rare:?}");
}

#[test]
fn side_columns_that_single_precision_cannot_hold_are_told() {
    use ResponseKind::{Binary, Count, CountOfTrials, Real};
    let n = 1000usize;
    let data = |response: &dyn Fn(usize) -> f64| {
        let column = (0..n).map(|i| (i as f64).sin()).collect();
        Data::new(["c"], vec![column], (0..n).map(response).collect())
    };
    let values = |f: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..n).map(f).collect() };
    let odd = 2f64.powi(24) + 1.0;
    let told = |data: Data, kind: ResponseKind, needles: &[&str]| {
        let warnings = data.check(kind).unwrap().warnings;
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        for needle in needles {
            assert!(warnings[0].contains(needle), "{warnings:?} should name {needle:?}");
        }
    };
    let silent = |data: Data, kind: ResponseKind| {
        let warnings = data.check(kind).unwrap().warnings;
        assert!(warnings.is_empty(), "{warnings:?}");
    };
    let large = |i: usize| if i == 3 { odd } else { (i % 7) as f64 };
    told(data(&large), Count, &["largest count is 16777217", "1 of 1000", "offset lower by log k"]);
    silent(data(&|i| if i == 3 { odd - 1.0 } else { (i % 7) as f64 }), Count);
    let trials = values(&|_| odd + 1.0);
    told(data(&large).trials(trials.clone()), CountOfTrials, &["largest count is 16777217", "split"]);
    let few = |i: usize| (i % 7) as f64;
    silent(data(&few).trials(trials), CountOfTrials);
    told(data(&few).trials(values(&|_| odd)), CountOfTrials, &["number of trials is 16777217"]);
    let binary = |i: usize| (i % 2) as f64;
    told(
        data(&binary).weights(values(&|_| odd)),
        Binary,
        &["largest weight", "1000 of 1000", "share its weight"],
    );
    told(data(&binary).weights(values(&|i| if i == 5 { 1e-60 } else { 0.3 })), Binary, &["weight"]);
    silent(data(&binary).weights(values(&|i| 0.1 + i as f64)), Binary);
    told(
        data(&few).offset(values(&|i| 1e4 * (i as f64).sin())),
        Count,
        &["the offset", "standard deviation"],
    );
    silent(data(&few).offset(values(&|i| 1e6 + (i as f64).sin())), Count);
    // Only y − offset less its mean is stored.
    silent(data(&|i| 1e9 + (i as f64).sin()).offset(values(&|_| -1e9)), Real);
    told(data(&|i| (i * 1_000_003) as f64), Real, &["the response", "whole numbers"]);
    told(data(&|i| 1e60 * (i as f64).sin()), Real, &["the response", "rescale"]);
}
