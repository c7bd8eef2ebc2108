//! `fit --dry-run`: the plan that a run then keeps in its folder, without a folder and without draws.

use std::fs;

use serde_json::Value;

use crate::common::{Scratch, text};

/// The table `plan` of a run.
fn kept(scratch: &Scratch, run: &str) -> Value {
    let text = fs::read_to_string(scratch.at(run).join("run.toml")).unwrap();
    let file: toml::Table = toml::from_str(&text).unwrap();
    serde_json::to_value(&file["plan"]).unwrap()
}

#[test]
fn a_plan_is_what_the_run_then_does() {
    let scratch = Scratch::new("plan");
    for (family, rows) in [("logistic", 4000), ("linear", 500), ("student", 600)] {
        scratch.done(&format!("generate {family} --rows {rows} --features 2 --out {family}.csv"));
        let fit = format!("fit {family}.csv --response y --family {family} --chains 2 --seed 3");
        let before = fs::read_dir(scratch.path()).unwrap().count();
        let mut plan = scratch.json(&format!("{fit} --dry-run"));
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), before, "{family}: something was written");
        assert!(plan["expected"]["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{plan}");
        scratch.fit(&format!("{fit} --out {family}"));
        let mut run = kept(&scratch, family);
        // A clock has its say in these.
        for value in [&mut plan, &mut run] {
            value.as_object_mut().unwrap().remove("expected");
            if let Some(report) = value.pointer_mut("/surrogate/report") {
                report.as_object_mut().unwrap().remove("seconds");
            }
        }
        for part in ["data", "model", "decision", "proposal", "settings", "storage", "recipe", "surrogate"] {
            let (planned, done) = (without_nulls(&plan[part]), without_nulls(&run[part]));
            assert_eq!(planned, done, "{family}: {part}");
        }
    }
}

/// TOML has no null.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            kept.map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        Value::Array(values) => values.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

#[test]
fn a_plan_says_what_people_ask_and_refuses_what_a_run_refuses() {
    let scratch = Scratch::new("plan-words");
    scratch.done("generate logistic --rows 4000 --features 2 --out data.csv");
    let output = scratch.run("fit data.csv --response y --dry-run");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for word in [
        "data.csv: 4,000 rows, 3 parameters",
        "Priors:",
        "Proposal:",
        "Accept/reject rule:",
        "Surrogate: Taylor expansion of order",
        "Why:",
        "Length: 4 chains",
        "Memory:",
        "Disk:",
        "Expected per decision:",
        "Time: about",
        "Nothing was written and nothing was drawn.",
    ] {
        assert!(said.contains(word), "`{word}` is missing in {said}");
    }
    let exact = scratch.done("fit data.csv --response y --dry-run --rule exact");
    assert!(exact.contains("about 4,000 of the 4,000 rows"), "{exact}");
    assert!(exact.contains("Surrogate: none."), "{exact}");
    assert!(!scratch.at("data-run").exists());
    scratch.refused_with("fit data.csv --response z --dry-run", &["z"]);
    scratch.refused_with("fit data.csv --response y --dry-run --tolerance 2", &["--tolerance"]);
    scratch.refused_with("fit data.csv --response y --dry-run --resume --out data", &["--resume"]);
}
