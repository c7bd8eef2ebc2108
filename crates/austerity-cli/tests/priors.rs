//! Priors by name and by pattern: which parameter gets which, and what is refused.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::Scratch;

const FIT: &str = "fit data.csv --response y --family gamma --chains 2 --draws 200 --warmup 100 --seed 2";

/// The priors that a run keeps, by parameter.
fn kept(scratch: &Scratch, run: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(scratch.at(&format!("{run}/run.toml"))).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let records = table["plan"]["model"]["priors"].as_array().unwrap();
    let word = |record: &toml::Value, key: &str| record[key].as_str().unwrap().to_owned();
    records.iter().map(|record| (word(record, "parameter"), word(record, "prior"))).collect()
}

#[test]
fn patterns_and_names_choose_priors() {
    let scratch = Scratch::new("priors-patterns");
    scratch.done("generate gamma --rows 2000 --features 4 --seed 3 --out data.csv");
    scratch.fit(&format!(
        "{FIT} --prior normal:2 --prior x*=student:4,0.5,1 --prior x3=laplace:-1,2 --prior shape=gamma:2,0.5 --out run"
    ));
    let priors = kept(&scratch, "run");
    let of = |name: &str| priors.iter().find(|(known, _)| known == name).unwrap().1.clone();
    assert_eq!([of("x1"), of("x2"), of("x4")], ["student:4,0.5,1"; 3].map(String::from));
    assert_eq!([of("x3"), of("shape")], ["laplace:-1,2", "gamma:2,0.5"]);
    // Not the intercept, whose default stays.
    assert!(of("intercept").starts_with("normal:"), "{priors:?}");
    // One letter of two; the others have the prior of all columns.
    scratch.fit(&format!("{FIT} --prior normal:2 --prior ?1=normal:7,1 --out other"));
    let priors = kept(&scratch, "other");
    assert_eq!([&priors[1].1, &priors[2].1], ["normal:7,1", "normal:2"]);
}

#[test]
fn priors_that_fit_nothing_are_refused() {
    let scratch = Scratch::new("priors-refused");
    scratch.done("generate gamma --rows 500 --features 2 --seed 3 --out data.csv");
    for (options, words) in [
        ("--prior z*=normal:1", vec!["z*", "no coefficient"]),
        ("--prior x1=half-normal:1", vec!["half-normal:1", "x1", "positive"]),
        ("--prior x*=gamma:1,1", vec!["gamma:1,1", "x*", "positive"]),
        ("--prior shape=normal:1,2", vec!["normal:1,2", "positive"]),
        ("--prior shape=gamma:0,1", vec!["prior shape", "positive"]),
        ("--prior x*=normal:1 --prior *1=normal:2", vec!["x1", "x*", "*1", "different"]),
        ("--prior x1=normal:1 --prior x1=normal:2", vec!["x1", "two priors"]),
        ("--prior normal:1 --prior normal:2", vec!["every column", "two priors"]),
        ("--prior x1=gauss:1", vec!["gauss:1", "normal:SD"]),
    ] {
        let said = scratch.refused(&format!("{FIT} {options} --out run"));
        assert!(words.iter().all(|word| said.contains(word)), "{options}: {said}");
    }
    assert!(!scratch.at("run").exists());
}

/// The table is what a fit keeps, and draws have the moments of their priors; another prior fails the same test.
#[test]
fn priors_are_shown_and_drawn_from() {
    let scratch = Scratch::new("priors-table");
    scratch.done("generate gamma --rows 2000 --features 2 --seed 3 --out data.csv");
    let options = "--response y --family gamma --prior x1=normal:3,0.5 --prior shape=gamma:4,2";
    let made = scratch.json(&format!("priors data.csv {options} --draws 20000 --out prior.csv --seed 5"));
    let shown: Vec<(String, String)> = made["priors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["parameter"].as_str().unwrap().into(), one["prior"].as_str().unwrap().into()))
        .collect();
    scratch.fit(&format!("fit data.csv {options} --chains 2 --draws 200 --warmup 100 --seed 2 --out run"));
    assert_eq!(shown, kept(&scratch, "run"));
    let said = scratch.done(&format!("priors data.csv {options}"));
    assert!(
        said.contains("normal:3,0.5") && said.contains("asked for") && said.contains("at the column means"),
        "{said}"
    );
    let drawn = scratch.table("prior.csv");
    let moments = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt())
    };
    // 20,000 draws: five standard errors of a mean are sd/28.
    let ((slope, sd), (shape, spread)) = (moments(drawn.get("x1")), moments(drawn.get("shape")));
    assert!((slope - 3.0).abs() < 0.02 && (sd - 0.5).abs() < 0.02, "{slope} {sd}");
    assert!((shape - 2.0).abs() < 0.04 && (spread - 1.0).abs() < 0.06, "{shape} {spread}");
    assert!((slope - 2.5).abs() > 0.02, "{slope}");
    let response = drawn.get("(response)");
    assert!(response.len() == 20_000 && response.iter().all(|&y| y >= 0.0 || y.is_nan()));
    scratch.refused_with(
        "priors data.csv --response y --family gamma --prior flat --draws 5 --out no.csv",
        &["flat", "x1"],
    );
    scratch.refused_with("priors data.csv --response y --draws 5", &["--out"]);
    assert!(!scratch.at("no.csv").exists());
}

/// `fit --prior-only` draws from the priors: cut points rise, and their quantiles are those of the prior.
#[test]
fn a_fit_of_the_priors_alone_writes_their_draws() {
    let scratch = Scratch::new("priors-only");
    scratch.done("generate ordered-logit:5 --rows 2000 --features 2 --seed 3 --out data.csv");
    let fit = "fit data.csv --response y --family ordered-logit --prior normal:0.5 --prior-only";
    let said = scratch.done(fit);
    assert!(said.contains("cut4") && said.contains("normal:0.5"), "{said}");
    scratch.done(&format!("{fit} --draws 4000 --seed 2 --out prior.csv"));
    let made = scratch.table("prior.csv");
    let (first, second) = (made.get("cut2"), made.get("cut3"));
    assert_eq!(first.len(), 4000);
    assert!(first.iter().zip(second).all(|(a, b)| 0.0 < *a && a < b));
    let slope = made.get("x1");
    let sd = (slope.iter().map(|x| x * x).sum::<f64>() / 4000.0).sqrt();
    // sd of an sd: .5/√8000 = .0056; five of them.
    assert!((sd - 0.5).abs() < 0.028, "{sd}");
    assert!(made.get("(response)").iter().all(|y| (0.0..=4.0).contains(y) && y.fract() == 0.0));
    scratch.refused_with(&format!("{fit} --dry-run"), &["--dry-run", "--prior-only"]);
}
