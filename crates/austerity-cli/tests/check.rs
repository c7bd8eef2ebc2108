//! `check` and `generate` as a user meets them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Scratch, austerity, json, text};

#[test]
fn generate_writes_what_check_reads() {
    let folder = Scratch::new("generate");
    let generated = |family: &str, file: &str| {
        let size = ["--rows", "20000", "--features", "3", "--seed", "5"];
        json(&[&["generate", family, "--out", file, "--json"], &size[..]].concat())
    };
    for (family, extension, sound) in [
        ("logistic", "parquet", true),
        ("linear", "csv", true),
        ("poisson", "csv.gz", true),
        ("student", "csv", true),
    ] {
        let file = folder.path().join(format!("{family}.{extension}"));
        let file = file.to_str().unwrap();
        let made = generated(family, file);
        assert_eq!(made["coefficients"].as_object().unwrap().len(), 4);
        let seen = json(&["check", file, "--response", "y", "--family", family, "--json"]);
        assert_eq!(seen["rows"], 20_000);
        assert_eq!(seen["sound"], sound, "{family}: {seen}");
        let effect = seen["design_effect"].as_f64().unwrap();
        assert!((0.8..1.2).contains(&effect), "{family}: {effect}");
        assert!((1.0..4.0).contains(&seen["kappa"].as_f64().unwrap()), "{family}");
    }
    // Same seed, same bytes.
    let again = folder.at("again.parquet");
    generated("logistic", again.to_str().unwrap());
    assert_eq!(std::fs::read(folder.at("logistic.parquet")).unwrap(), std::fs::read(again).unwrap());
}

/// Rare columns: a surrogate without a stratum would be blind, the rows are named; Gaussian columns: nothing to tell.
#[test]
fn check_tells_leverage_and_blindness() {
    let folder = Scratch::new("blind");
    let file = |name: &str| folder.name(name);
    let (rare, plain, linear) = (file("rare.parquet"), file("plain.csv"), file("linear.csv"));
    let make = |arguments: &str, out: &str| {
        let mut words: Vec<&str> = arguments.split(' ').collect();
        words.extend(["--out", out]);
        assert!(austerity(&words).status.success());
    };
    make("generate logistic --rows 60000 --features 5 --rare 6 --correlated --seed 2", &rare);
    let seen = json(&["check", &rare, "--response", "y", "--json"]);
    let blindness = &seen["blindness"];
    assert_eq!(blindness["surrogate"]["without_stratum"]["blind"], true, "{seen}");
    assert!(blindness["surrogate"]["without_stratum"]["ratio"].as_f64().unwrap() > 10.0);
    let stratum = blindness["surrogate"]["stratum"]["rows"].as_u64().unwrap();
    assert!((50..2000).contains(&stratum), "{stratum}");
    assert_eq!(blindness["raw"]["sound"], false);
    assert_eq!(seen["sound"], false);
    assert_eq!(seen["leverage"]["largest_scores"].as_array().unwrap().len(), 10);
    let words = text(&austerity(&["check", &rare, "--response", "y"]).stdout);
    for word in [
        "without a stratum is blind",
        "Leverage is concentrated",
        "missed over believed",
        "Rows that weigh most",
    ] {
        assert!(words.contains(word), "{word} is missing in\n{words}");
    }
    make("generate poisson --rows 20000 --features 3 --seed 2", &plain);
    let seen = json(&["check", &plain, "--response", "y", "--family", "poisson", "--json"]);
    assert_eq!(seen["blindness"]["surrogate"]["without_stratum"]["blind"], false, "{seen}");
    assert_eq!(seen["blindness"]["raw"]["sound"], true);
    assert!(seen["blindness"]["raw"]["ratio"].as_f64().unwrap() < 0.3);
    assert!(seen["leverage"]["top_share"].as_f64().unwrap() < 0.1);
    make("generate linear --rows 5000 --features 2 --seed 2", &linear);
    let seen = json(&["check", &linear, "--response", "y", "--family", "linear", "--json"]);
    assert!(seen["leverage"].is_null() && seen["blindness"]["surrogate"].is_null());
    assert!(seen["blindness"]["verdict"].as_str().unwrap().contains("sufficient statistics"));
}

/// A feature present in a handful of rows carries a difference alone: the check names the rows as they stand in the file.
#[test]
fn check_names_the_rows_that_carry_a_difference() {
    let folder = Scratch::new("check");
    let file = folder.at("data.csv");
    let mut table = String::from("x,rare,y\n");
    for i in 0..5000 {
        let x = (f64::from(i) * 0.618_034).fract() - 0.5;
        let rare = u8::from(i == 1233);
        table += &format!("{x},{rare},{}\n", u8::from((i * 7919 % 100) < 40));
    }
    std::fs::write(&file, table).unwrap();
    let file = file.to_str().unwrap();
    let seen = json(&["check", file, "--response", "y", "--json"]);
    assert_eq!(seen["sound"], false, "{seen}");
    assert_eq!(seen["offending_rows"][0]["row"], 1234, "{seen}");
    let words = austerity(&["check", file, "--response", "y"]);
    assert!(text(&words.stdout).contains("row 1234") && text(&words.stdout).contains("not normal enough"));
}

/// A store is checked like the file it was made of; options that contradict it are refused by name.
#[test]
fn check_takes_a_store() {
    use austerity_io::coding::CodingOptions;
    use austerity_io::store::{ConvertOptions, create};
    let folder = Scratch::new("store");
    let file = folder.at("data.parquet");
    let path = file.to_str().unwrap();
    json(&["generate", "logistic", "--rows", "3000", "--features", "2", "--out", path, "--json"]);
    let source = austerity_io::table::open(&file).unwrap();
    let out = folder.at("rows");
    create(&source, (&CodingOptions::new("y"), None), 3, &out, &ConvertOptions::default(), &mut |_| {})
        .unwrap();
    let out = out.to_str().unwrap();
    for arguments in
        [vec!["check", out, "--json"], vec!["check", out, "--response", "y", "--features", "x1,x2", "--json"]]
    {
        let seen = json(&arguments);
        assert_eq!(seen["rows"], 3000);
        assert!((1.0..4.0).contains(&seen["kappa"].as_f64().unwrap()));
    }
    for (arguments, word) in [
        (vec!["check", out, "--response", "x1"], "--response"),
        (vec!["check", out, "--features", "x1"], "--features"),
        (vec!["check", out, "--weights", "x1"], "--weights"),
        (vec!["check", out, "--no-intercept"], "--no-intercept"),
        (vec!["check", out, "--standardize"], "--standardize"),
        (vec!["check", out, "--family", "poisson"], "--family"),
        (vec!["check", path], "--response is missing"),
    ] {
        let output = austerity(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(word), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn check_and_generate_refuse_bad_input_with_file_column_row_and_remedy() {
    let folder = Scratch::new("refuse");
    let file = |name: &str, content: &str| {
        let path = folder.at(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_string()
    };
    let bad_cell = file("cell.csv", "x,y\n1,0\n2,1\nabc,0\n");
    let ragged = file("ragged.csv", "x,y\n1,0\n2,1,7\n");
    let constant = file("constant.csv", "x,z,y\n1,5,0\n2,5,1\n3,5,0\n");
    let empty = file("empty.csv", "");
    let good = file("good.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n");
    let nowhere = folder.name("nowhere.csv");
    for (arguments, words) in [
        (vec!["check", &bad_cell, "--response", "y"], vec!["cell.csv", "`x`", "abc"]),
        (vec!["check", &ragged, "--response", "y"], vec!["ragged.csv", "3"]),
        (vec!["check", &constant, "--response", "y", "--features", "x,z"], vec!["constant.csv", "`z`", "5"]),
        (vec!["check", &empty, "--response", "y"], vec!["empty.csv"]),
        (vec!["check", &nowhere, "--response", "y"], vec!["nowhere.csv"]),
        (vec!["check", &good, "--response", "yy"], vec!["good.csv", "`yy`", "did you mean `y`"]),
        (vec!["check", &good, "--response", "y", "--batch", "4"], vec!["batch", "4"]),
        (vec!["check", &good, "--response", "y", "--batch", "2", "--block-rows", "2"], vec!["block"]),
        (vec!["check", &good, "--response", "y", "--pairs", "0"], vec!["--pairs"]),
        (vec!["check", &good, "--response", "y", "--family", "poisson", "--trials", "x"], vec!["--trials"]),
        (vec!["generate", "logistic", "--rows", "0", "--features", "2", "--out", &nowhere], vec!["row"]),
        (
            vec!["generate", "logistic", "--rows", "9", "--features", "2", "--out", "data.xlsx"],
            vec!["data.xlsx", ".parquet"],
        ),
    ] {
        let output = austerity(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        for word in words {
            assert!(text(&output.stderr).contains(word), "{arguments:?}: {}", text(&output.stderr));
        }
    }
}
