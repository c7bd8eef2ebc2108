//! `fit` with surrogates: what it chooses and says, that runs go on bit for bit, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Scratch, text};

/// Plain columns: draws from the normal approximation or Langevin steps, a share of the data that is hardly any, and the same posterior as exact decisions, within 5 Monte-Carlo
/// standard errors of each of 5 means: a false-alarm rate of 10 · 6e-7; the seed is fixed. A mean that is off by an eighth of its sd would be found.
#[test]
fn surrogates_read_hardly_any_rows_and_agree_with_exact() {
    let folder = Scratch::new("surrogate-default");
    folder.done("generate logistic --rows 50000 --features 4 --seed 3 --out data.csv");
    let fit = "fit data.csv --response y --chains 2";
    folder.done(&format!("{fit} --out exact --surrogate none --rule exact --draws 3000"));
    let exact = folder.json("summary exact");
    for (name, proposal, words) in [
        ("default", "--draws 3000", "draws from the normal approximation"),
        ("langevin", "--draws 12000 --proposal langevin:1", "Langevin steps of length 1 "),
    ] {
        let said = folder.done(&format!("{fit} --out {name} {proposal}"));
        assert!(said.contains("-order surrogate") && said.contains(words), "{said}");
        let sampled = folder.json(&format!("summary {name}"));
        assert!(sampled["proposal"].as_str().unwrap().contains(words), "{sampled}");
        assert!(sampled["data_share"].as_f64().unwrap() < 0.05, "{sampled}");
        assert_eq!(sampled["trusted"], true, "{}", sampled["reasons"]);
        let parameters = |run: &serde_json::Value| run["parameters"].as_array().unwrap().clone();
        for (own, other) in parameters(&sampled).iter().zip(&parameters(&exact)) {
            let number = |value: &serde_json::Value, field: &str| value[field].as_f64().unwrap();
            let error = number(own, "mcse_mean").hypot(number(other, "mcse_mean"));
            assert!((number(own, "mean") - number(other, "mean")).abs() < 5.0 * error, "{own} {other}");
            assert!(5.0 * error < number(other, "sd") / 8.0, "{own} {other}: no power");
        }
    }
    let page = std::fs::read_to_string(folder.at("langevin/report.html")).unwrap();
    assert!(page.contains("Langevin steps of length 1 "));
    let said = folder.done("summary langevin");
    assert!(said.contains("The gradients of a step read 64 more rows twice"), "{said}");
}

/// Rare features: a stratum, and steps with sweeps; a run that was interrupted is the uninterrupted one, on any number of threads; the stratum counts in the share.
#[test]
fn rare_features_get_a_stratum_and_runs_go_on_bit_for_bit() {
    let folder = Scratch::new("surrogate-rare");
    folder.done("generate logistic --rows 20000 --features 3 --rare 3 --seed 2 --out data.csv");
    for (proposal, words) in [("surrogate-hmc", "Hamiltonian"), ("langevin:0.9", "Langevin")] {
        let fit = format!(
            "fit data.csv --response y --prior student:3,1 --proposal {proposal} --warmup 100 --chains 2 --seed 5"
        );
        let said = text(&folder.fit(&format!("{fit} --out {words} --draws 600 --threads 1")).stdout);
        let stratum = "rows of largest influence";
        assert!(said.contains(stratum) && said.contains(words) && said.contains("sweeps"), "{said}");
        let parts = format!("{words}-parts");
        folder.fit(&format!("{fit} --out {parts} --draws 250 --threads 2"));
        folder.fit(&format!("{fit} --out {parts} --draws 600 --threads 3 --resume"));
        folder.draws(&parts).assert_equal(&folder.draws(words), "resumed");
        let share = folder.json(&format!("summary {words}"))["data_share"].as_f64().unwrap();
        assert!(share > 0.005 && share < 0.5, "{share}");
        folder.refused_with(
            &format!("{} --out {words} --draws 700 --resume", fit.replace(proposal, "langevin:0.8")),
            &["--proposal", proposal, "langevin:0.8"],
        );
    }
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
        "fit data.csv --response y --out a --surrogate taylor3 --rule certified",
        &["order of an expansion with a certificate"],
    );
    // Extra parameters are no obstacle.
    let student = "fit real.csv --response y --family student --chains 2 --draws 50 --warmup 50";
    folder.fit(&format!("{student} --out third --surrogate taylor3"));
    folder.fit(&format!("{student} --out sure --rule certified"));
    folder.refused_with(
        "fit real.csv --response y --family linear --out c --rule certified",
        &["--rule certified needs a surrogate"],
    );
    folder.refused_with(
        "fit data.csv --response y --out d --surrogate none --proposal surrogate-hmc",
        &["surrogate-hmc", "--surrogate none"],
    );
    let langevin = "--response y --out f --proposal langevin:1";
    folder.done("generate logistic --rows 500 --features 2 --out few.csv");
    for (line, words) in [
        (
            "data.csv --surrogate none",
            ["langevin:1 needs a surrogate", "--surrogate none", "--proposal laplace"],
        ),
        (
            "data.csv --preset paper",
            ["langevin:1 needs a surrogate", "--preset paper", "--surrogate taylor2"],
        ),
        ("few.csv", ["langevin:1 needs a surrogate", "500 rows", "--surrogate taylor2"]),
        ("real.csv --family linear", ["langevin:1 needs a surrogate", "linear", "--family"]),
    ] {
        folder.refused_with(&format!("fit {line} {langevin}"), &words);
    }
    // What was refused can be had by what the message says; a rule that was typed goes with it.
    folder.done(&format!("fit few.csv {langevin} --surrogate taylor2 --draws 100 --chains 1"));
    let said = folder.done(&format!(
        "fit data.csv {} --rule exact --draws 100 --chains 1",
        langevin.replace("--out f", "--out g")
    ));
    assert!(said.contains("exact decisions on all residuals") && said.contains("Langevin"), "{said}");
    folder.refused_with(
        "fit data.csv --response y --out e --surrogate taylor2 --law compensated",
        &["--law compensated", "needs no compensation"],
    );
}
