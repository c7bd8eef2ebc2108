//! A fit without `--out`: a folder named after the data, never one that is there, and the next commands.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Scratch, text};

const SHORT: &str = "--draws 300 --warmup 100 --chains 2 --seed 4";

#[test]
fn a_run_without_a_name_is_named_after_its_data() {
    let scratch = Scratch::new("named");
    scratch.done("generate logistic --rows 3000 --features 2 --out flights.2024.csv");
    let said = scratch.done(&format!("fit flights.2024.csv --response y {SHORT}"));
    assert!(scratch.at("flights.2024-run/run.toml").exists(), "{said}");
    assert!(said.contains("flights.2024-run"), "the folder is printed: {said}");
    let first = std::fs::read(scratch.at("flights.2024-run/run.toml")).unwrap();
    // The second does not touch the first, and JSON tells where it is.
    let value = scratch.json(&format!("fit flights.2024.csv --response y {SHORT}"));
    assert_eq!(value["run"], "flights.2024-run-2");
    assert_eq!(std::fs::read(scratch.at("flights.2024-run/run.toml")).unwrap(), first);
    assert!(scratch.at("flights.2024-run-2/draws.zarr").exists());
    // Commands take the name as it was printed; `report` prints what it wrote.
    let report = scratch.done("report flights.2024-run");
    assert!(report.contains("flights.2024-run/report.html"), "{report}");
    assert!(scratch.done("summary flights.2024-run-2").contains("R-hat"));
}

#[test]
fn a_fit_that_fails_leaves_no_folder_of_its_own_naming() {
    let scratch = Scratch::new("named-not");
    let data = scratch.file("bad.csv", "x,y\n1,0\nfew,1\n3,0\n");
    scratch.refused(&format!("fit {data} --response z"));
    scratch.refused("fit missing.parquet --response y");
    let left: Vec<_> =
        std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["bad.csv"]);
}

#[test]
fn resume_without_a_name_says_which_run_to_name() {
    let scratch = Scratch::new("named-resume");
    scratch.done("generate logistic --rows 3000 --features 2 --out data.parquet");
    scratch.refused_with("fit data.parquet --response y --resume", &["--resume", "--out RUN"]);
    scratch.fit(&format!("fit data.parquet --response y {SHORT}"));
    scratch.refused_with("fit data.parquet --response y --resume", &["--out data-run"]);
    assert!(!scratch.at("data-run-2").exists());
    // The remedy works, and the printed next command does as well.
    let said = scratch.done("fit data.parquet --out data-run --resume --draws 400");
    assert!(said.contains("400 draws per chain"), "{said}");
}

#[test]
fn the_summary_names_success_class_and_reference_levels_and_rounds_priors() {
    let scratch = Scratch::new("named-classes");
    let city = ["Bonn", "Bonn", "Köln", "Aachen"];
    let mut table = String::from("age,city,bought\n");
    for row in 0..4000_usize {
        let age = 20.0 + (row * 37 % 501) as f64 / 10.0;
        let yes = (row * 7919 % 1000) as f64 / 1000.0 < age / 100.0;
        table += &format!("{age},{},{}\n", city[row * 31 % 4], if yes { "yes" } else { "no" });
    }
    let yes = table.matches(",yes\n").count();
    scratch.file("shop.csv", table);
    let output = scratch.run("fit shop.csv --response bought");
    let said = text(&output.stdout);
    let class = format!("Success: bought = yes ({},{:03} of 4,000 rows).", yes / 1000, yes % 1000);
    // Once in the plan and once above the table.
    assert_eq!(said.matches(&class).count(), 2, "`{class}` in {said}");
    assert_eq!(said.matches("Reference levels: city = Bonn.").count(), 2, "{said}");
    let summary = scratch.done("summary shop-run");
    assert!(summary.contains(&class) && summary.contains("Reference levels: city = Bonn."), "{summary}");
    // One rule in the table and one in that of the checks, below the header.
    assert_eq!(summary.lines().filter(|line| line.contains('─')).count(), 2, "{summary}");
    let prior = said.lines().find(|line| line.starts_with("Priors:")).unwrap();
    let digits = prior.split("age normal:").nth(1).unwrap().split([',', ' ']).next().unwrap();
    assert!(digits.trim_start_matches(['0', '.']).len() <= 3, "{prior}");
    let kept = std::fs::read_to_string(scratch.at("shop-run/run.toml")).unwrap();
    let exact = kept.split("parameter = \"age\"\nprior = \"normal:").nth(1).unwrap();
    assert!(exact.split('"').next().unwrap().len() > 6, "every digit is kept: {exact:.40}");
    let page = std::fs::read_to_string(scratch.at("shop-run/report.html")).unwrap();
    assert!(page.contains(&class) && page.contains("Reference levels: city = Bonn."));
    assert!(page.contains("per standard deviation of the column"), "age has a scale of its own");
}
