//! The number after the name of a family, in every command that knows families.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Scratch, text};

#[test]
fn degrees_of_freedom_can_be_set_and_stay_with_a_run() {
    let scratch = Scratch::new("families-number");
    scratch.done("generate student:7 --rows 5000 --features 2 --seed 3 --out data.csv");
    let fit = "fit data.csv --response y --family student:7 --chains 2 --warmup 100 --seed 2";
    let said = text(&scratch.fit(&format!("{fit} --draws 600 --out whole")).stdout);
    assert!(said.contains("7 degrees of freedom"), "{said}");
    scratch.fit(&format!("{fit} --draws 300 --out run"));
    scratch.fit(&format!("{fit} --draws 600 --out run --resume"));
    scratch.draws("run").assert_equal(&scratch.draws("whole"), fit);
    let kept = std::fs::read_to_string(scratch.at("run/run.toml")).unwrap();
    assert_eq!(kept.matches("family = \"student:7\"").count(), 2, "the request and the model: {kept}");
    assert_eq!(scratch.summary("run")["family"], "student:7");
    // Another number is another posterior: the partner, and a run that refuses to go on with it.
    scratch.fit(&format!("{} --draws 600 --out four", fit.replace("student:7", "student")));
    let sigma = |run: &str| {
        let summary = scratch.summary(run);
        let found =
            summary["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "sigma").unwrap();
        found["mean"].as_f64().unwrap()
    };
    let (seven, four) = (sigma("whole"), sigma("four"));
    assert!((seven - 1.0).abs() < 0.06, "{seven}");
    assert!(four < seven - 0.04, "{four} {seven}");
    let said =
        scratch.refused(&format!("{} --draws 700 --out run --resume", fit.replace("student:7", "student:4")));
    assert!(said.contains("--family") && said.contains("student:7") && said.contains("student"), "{said}");
    // The usual number is the name alone.
    scratch.fit(&format!("{} --draws 700 --out four --resume", fit.replace("student:7", "student:4")));
    scratch.done("predict run data.csv --out predicted.csv");
    assert!(matches!(
        scratch.run("check data.csv --response y --family student:7").status.code(),
        Some(0 | 1)
    ));
}

#[test]
fn numbers_that_no_family_has_are_refused_by_name() {
    let scratch = Scratch::new("families-refused");
    scratch.done("generate student --rows 500 --features 1 --out data.csv");
    for (family, words) in [
        ("student:0", ["degrees of freedom", "positive"]),
        ("student:-2", ["degrees of freedom", "positive"]),
        ("student:many", ["degrees of freedom", "student:4"]),
        ("poisson:2", ["poisson", "no number"]),
        ("linear:2", ["linear", "no number"]),
        ("gamma:2", ["known are", "student"]),
        ("studen", ["possible values", "student"]),
    ] {
        for line in [
            format!("fit data.csv --response y --family {family} --out run"),
            format!("generate {family} --rows 10 --features 1 --out other.csv"),
        ] {
            let said = scratch.refused(&line);
            assert!(words.iter().all(|word| said.contains(word)), "{family}: {said}");
        }
    }
    assert!(!scratch.at("run").exists());
}
