//! `fit` with surrogates: what it chooses and says, that runs go on bit for bit, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Scratch, text};

/// Plain columns: draws from the normal approximation, a share of the data that is hardly any, and the same posterior as exact decisions, within 5 Monte-Carlo standard errors
/// of each of 5 means.
#[test]
fn the_default_reads_hardly_any_rows_and_agrees_with_exact() {
    let folder = Scratch::new("surrogate-default");
    folder.done("generate logistic --rows 50000 --features 4 --seed 3 --out data.csv");
    let said = folder.done("fit data.csv --response y --out run --draws 3000 --chains 2");
    assert!(
        said.contains("second-order surrogate") && said.contains("draws from the normal approximation"),
        "{said}"
    );
    folder
        .done("fit data.csv --response y --out exact --surrogate none --rule exact --draws 3000 --chains 2");
    let (sampled, exact) = (folder.json("summary run"), folder.json("summary exact"));
    assert!(sampled["data_share"].as_f64().unwrap() < 0.05, "{sampled}");
    assert_eq!(sampled["trusted"], true, "{}", sampled["reasons"]);
    let parameters = |run: &serde_json::Value| run["parameters"].as_array().unwrap().clone();
    for (own, other) in parameters(&sampled).iter().zip(&parameters(&exact)) {
        let number = |value: &serde_json::Value, field: &str| value[field].as_f64().unwrap();
        let error = number(own, "mcse_mean").hypot(number(other, "mcse_mean"));
        assert!((number(own, "mean") - number(other, "mean")).abs() < 5.0 * error, "{own} {other}");
    }
}

/// Rare features: a stratum, Hamiltonian steps or draws with sweeps; a run that was interrupted is the uninterrupted one; the stratum counts in the share.
#[test]
fn rare_features_get_a_stratum_and_runs_go_on_bit_for_bit() {
    let folder = Scratch::new("surrogate-rare");
    folder.done("generate logistic --rows 20000 --features 3 --rare 3 --seed 2 --out data.csv");
    let fit = "fit data.csv --response y --prior student:3,1 --proposal surrogate-hmc --warmup 100 --chains 2 --seed 5";
    let said = text(&folder.fit(&format!("{fit} --out whole --draws 600")).stdout);
    assert!(
        said.contains("heaviest rows are read at every decision") && said.contains("Hamiltonian"),
        "{said}"
    );
    folder.fit(&format!("{fit} --out parts --draws 250"));
    folder.fit(&format!("{fit} --out parts --draws 600 --resume"));
    folder.draws("parts").assert_equal(&folder.draws("whole"), "resumed");
    let share = folder.json("summary whole")["data_share"].as_f64().unwrap();
    assert!(share > 0.005 && share < 0.5, "{share}");
}

/// Certified decisions are exact: the same draws as exact decisions about all residuals.
#[test]
fn certified_decisions_are_exact_ones() {
    let folder = Scratch::new("surrogate-certified");
    folder.done("generate poisson --rows 20000 --features 3 --seed 2 --out data.csv");
    let fit =
        "fit data.csv --response y --family poisson --warmup 50 --chains 1 --draws 400 --surrogate taylor2";
    folder.fit(&format!("{fit} --rule certified --out certified"));
    folder.fit(&format!("{fit} --rule exact --proposal auto --out exact"));
    // The draws are the same; what they cost is not.
    let (certified, exact) = (folder.reader("certified"), folder.reader("exact"));
    for parameter in 0..certified.names().len() {
        assert_eq!(certified.parameter(parameter).unwrap(), exact.parameter(parameter).unwrap());
    }
    let share = folder.json("summary certified")["data_share"].as_f64().unwrap();
    assert!(share < 0.5, "{share}");
}

#[test]
fn what_cannot_be_is_said() {
    let folder = Scratch::new("surrogate-refused");
    folder.done("generate student --rows 3000 --features 2 --out real.csv");
    folder.done("generate logistic --rows 3000 --features 2 --out data.csv");
    folder.refused_with("fit data.csv --response y --out a --surrogate taylor4", &["taylor4", "taylor3"]);
    folder.refused_with(
        "fit real.csv --response y --family student --out a --surrogate taylor3",
        &["student", "logistic, binomial and poisson"],
    );
    folder.refused_with(
        "fit data.csv --response y --out a --surrogate taylor3 --rule certified",
        &["order of an expansion with a certificate"],
    );
    folder.refused_with(
        "fit real.csv --response y --family student --out b --rule certified",
        &["logistic, binomial, poisson"],
    );
    folder.refused_with(
        "fit real.csv --response y --family linear --out c --rule certified",
        &["--rule certified needs a surrogate"],
    );
    folder.refused_with(
        "fit data.csv --response y --out d --surrogate none --proposal surrogate-hmc",
        &["surrogate-hmc", "--surrogate none"],
    );
    folder.refused_with(
        "fit data.csv --response y --out e --surrogate taylor2 --law compensated",
        &["--law compensated", "needs no compensation"],
    );
}
