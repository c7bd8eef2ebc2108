//! `--success` and `--reference`: chosen levels, what is refused, and that resumed runs, stores and predictions keep them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;

use crate::common::Scratch;

const FIT: &str = "--family logistic --chains 2 --warmup 200 --rule exact --proposal laplace";
const CHOSEN: &str = "--success no --reference city=Ulm --reference year=2001";

/// 240 rows; `bought` depends on the city.
fn data(folder: &Scratch) -> String {
    let mut text = String::from("bought,age,city,year\n");
    for row in 0..240_u32 {
        let city = ["Bonn", "Bonn", "Jena", "Ulm"][(row % 4) as usize];
        let answer = if (row * 7 + row / 4) % 10 < if city == "Bonn" { 7 } else { 4 } { "yes" } else { "no" };
        writeln!(text, "{answer},{},{city},{}", 20 + row % 37, 2000 + row % 3).unwrap();
    }
    folder.file("data.csv", text)
}

#[test]
fn chosen_levels_are_kept_by_resumed_runs_stores_and_predictions() {
    let folder = Scratch::new("levels-chosen");
    let data = data(&folder);
    let common = format!("--response bought --categorical year {FIT}");
    folder.fit(&format!("fit {data} {common} {CHOSEN} --draws 400 --out a"));
    assert_eq!(
        folder.reader("a").names(),
        ["intercept", "age", "city=Bonn", "city=Jena", "year=2000", "year=2002"]
    );
    folder.fit(&format!("fit {data} {common} --draws 400 --out plain"));
    assert_eq!(folder.reader("plain").names()[2..4], ["city=Jena", "city=Ulm"]);

    // The effect of age, read with the other success, has the other sign.
    let mean = |run: &str, place: usize| {
        let values = folder.reader(run).parameter(place).unwrap().concat();
        values.iter().sum::<f64>() / values.len() as f64
    };
    assert!((mean("a", 1) + mean("plain", 1)).abs() < 0.02, "{} {}", mean("a", 1), mean("plain", 1));

    // Going on needs no word about levels, and refuses another one.
    folder.fit(&format!("fit {data} --resume --draws 500 --out a"));
    folder.refused_with(
        &format!("fit {data} --resume --draws 600 --success yes --out a"),
        &["--success was no", "is yes now"],
    );

    // Predictions are those of the success.
    folder.fit(&format!("predict a {data} --out a.csv"));
    folder.fit(&format!("predict plain {data} --out plain.csv"));
    let means = |file: &str| folder.table(file).get("mean").to_vec();
    for (a, b) in means("a.csv").iter().zip(&means("plain.csv")) {
        assert!((a + b - 1.0).abs() < 0.1, "{a} {b}");
    }

    // A store was made with its levels.
    folder.fit(&format!(
        "convert {data} --response bought --categorical year --family logistic {CHOSEN} --out s"
    ));
    folder.fit(&format!("fit s {FIT} {CHOSEN} --draws 100 --out b"));
    assert_eq!(folder.reader("b").names(), folder.reader("a").names());
    folder.refused_with(
        &format!("fit s {FIT} --draws 100 --success yes --out c"),
        &["--success was no", "yes"],
    );
    folder.refused_with(
        &format!("fit s {FIT} --draws 100 --reference city=Bonn --out c"),
        &["city=Ulm", "city=Bonn"],
    );
}

#[test]
fn levels_that_do_not_occur_are_refused_with_those_that_do() {
    let folder = Scratch::new("levels-refused");
    let data = data(&folder);
    for (words, said) in [
        ("--success maybe", vec!["`maybe` does not occur", "`yes`", "`no`"]),
        ("--reference city=Kiel", vec!["`Kiel` does not occur", "`Bonn`, `Jena`, `Ulm`"]),
        ("--reference town=Bonn", vec!["town"]),
        ("--reference Bonn", vec!["COLUMN=LEVEL"]),
        ("--reference year=2001", vec!["holds numbers", "as categorical"]),
    ] {
        folder.refused_with(&format!("fit {data} --response bought {FIT} {words} --out a"), &said);
    }
}
