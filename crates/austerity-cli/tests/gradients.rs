//! `--proposal sgld:SD` and `sgfs:STEP`: right with exact decisions and with a test, marked as biased without; killed and resumed; bad input.
//!
//! Means are compared with those of the default fit: 4.5 joint Monte Carlo errors of 4 parameters are one false alarm in 30,000 runs. The partner is `--rule none`, whose draws must fail the
//! same comparison: steps of one and a half posterior sds without a decision are far off.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::Scratch;
use crate::parts::goes_on;

const DATA: &str = "generate logistic --rows 2000 --features 3 --seed 4 --out data.csv";
const FIT: &str = "fit data.csv --response y";

/// Mean, its Monte Carlo error and sd of every parameter.
fn found(said: &Value) -> BTreeMap<String, [f64; 3]> {
    let number = |value: &Value| value.as_f64().unwrap();
    let of = |p: &Value| {
        let numbers = ["mean", "mcse_mean", "sd"].map(|key| number(&p[key]));
        (p["name"].as_str().unwrap().to_owned(), numbers)
    };
    said["parameters"].as_array().unwrap().iter().map(of).collect()
}

/// The largest distance of two runs: of means in joint errors, of sds in shares of them.
fn apart(one: &Value, other: &Value) -> [f64; 2] {
    let (one, other) = (found(one), found(other));
    let mean = |name: &String| {
        let ([a, e, _], [b, f, _]) = (one[name], other[name]);
        (a - b).abs() / e.hypot(f)
    };
    let sd = |name: &String| (one[name][2] / other[name][2] - 1.0).abs();
    [one.keys().map(mean).fold(0.0, f64::max), one.keys().map(sd).fold(0.0, f64::max)]
}

fn json(scratch: &Scratch, line: &str) -> Value {
    let output = scratch.fit(&format!("{line} --json"));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Sds of 12,000 correlated draws are known to some 4 %; a quarter is many errors, and what is taken untested has sds half as large again.
#[test]
fn decisions_make_gradient_steps_right() {
    let scratch = Scratch::new("gradients");
    scratch.done(DATA);
    let truth = json(&scratch, &format!("{FIT} --draws 4000 --out truth"));
    for (number, how) in [
        "--proposal sgld:0.04 --draws 12000",
        "--proposal sgfs:0.4 --batch 1000 --rule exact --draws 12000",
        "--proposal sgfs:0.4 --rule sequential --epsilon 0.01 --batch 1000 --draws 12000",
    ]
    .into_iter()
    .enumerate()
    {
        let said = json(&scratch, &format!("{FIT} {how} --out right{number}"));
        let [means, sds] = apart(&said, &truth);
        assert!(means < 4.5 && sds < 0.25, "{how}: {means} {sds} {said}");
        assert!(said["acceptance"].as_f64().unwrap() > 0.05, "{how}: {said}");
    }
    let biased =
        json(&scratch, &format!("{FIT} --proposal sgld:0.1 --rule none --batch 100 --draws 6000 --out none"));
    let [_, sds] = apart(&biased, &truth);
    assert!(sds > 0.4, "a chain without decisions must not pass: {sds}");
    assert!(!biased["trusted"].as_bool().unwrap() && biased["rule"] == "none", "{biased}");
    assert!(biased["reasons"].to_string().contains("biased") && biased["acceptance"] == 1.0, "{biased}");
    let shown = scratch.done("summary none");
    assert!(shown.contains("The gradient of a step read") && !shown.contains("were exact"), "{shown}");
    assert!(scratch.at("none/report.html").exists());
}

#[test]
fn gradient_steps_go_on() {
    let scratch = Scratch::new("gradients-resume");
    scratch.done(DATA);
    for how in ["sgld:0.04 --rule none --warmup 50", "sgfs:0.4 --rule sequential --warmup 50"] {
        let line = format!("{FIT} --proposal {how} --chains 2");
        goes_on(&scratch, &line, 3000);
        ["whole", "half", "killed"].iter().for_each(|run| std::fs::remove_dir_all(scratch.at(run)).unwrap());
    }
    for (line, word) in [
        ("--proposal sgld:0", "sgld:0.01"),
        ("--proposal sgld", "sgld:SD"),
        ("--proposal sgfs:x", "sgfs"),
        ("--rule none", "sgld"),
        ("--rule none --proposal adaptive", "sgld"),
        ("--proposal sgld:0.04 --surrogate taylor2", "langevin"),
        ("--proposal sgld:0.04 --rule certified", "sequential"),
        ("--proposal sgld:0.04 --rule none --epsilon 0.1", "test"),
    ] {
        scratch.refused_with(&format!("{FIT} {line} --out none"), &[word]);
        assert!(!scratch.at("none").exists(), "{line} left a folder");
    }
    let plan = scratch.done(&format!("{FIT} --proposal sgfs:0.4 --rule none --dry-run"));
    assert!(plan.contains("Fisher scoring") && plan.contains("none, every candidate is taken"), "{plan}");
    // Other likelihoods than those of single rows in memory follow gradients, too.
    scratch.done("generate linear --rows 1000 --features 2 --out line.csv");
    let said = json(&scratch, "fit line.csv --response y --proposal sgfs:0.4 --draws 500 --out line");
    assert!(said["proposal"].as_str().unwrap().contains("Fisher scoring"), "{said}");
}
