//! `--formula`: the columns are those of formulaic, a fit is that of the same columns given directly, what was learnt is kept, and what
//! cannot be meant is refused.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;

use austerity_glm::ResponseKind;
use austerity_io::coding::NewRows;
use austerity_io::{store, table};
use serde_json::Value;

use crate::common::Scratch;

const FIT: &str = "--chains 2 --warmup 200 --draws 300 --rule exact --proposal laplace";

fn golden() -> Value {
    serde_json::from_str(include_str!("../../austerity-formula/tests/golden.json")).unwrap()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// The table of the golden formulas.
fn golden_table(golden: &Value) -> String {
    let columns = golden["table"].as_object().unwrap();
    const NAMES: [&str; 7] = ["y", "x", "z", "n", "a", "b", "c"];
    let mut text = NAMES.join(",") + "\n";
    for row in 0..columns["x"].as_array().unwrap().len() {
        let cells = NAMES.iter().map(|name| match &columns[*name][row] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

/// Through the whole program: a table is converted by a formula, and its rows are those of formulaic's matrix; so are those of new rows.
#[test]
fn stores_hold_the_matrix_of_formulaic() {
    let folder = Scratch::new("formulas-golden");
    let golden = golden();
    let file = folder.file("data.csv", golden_table(&golden));
    let formulas = golden["formulas"].as_array().unwrap();
    assert!(formulas.len() >= 60);
    let page = include_str!("../../../docs/reference/golden-formulas.md");
    for (number, entry) in formulas.iter().enumerate() {
        let text = entry["formula"].as_str().unwrap();
        assert!(page.contains(&format!("| `{text}` |")), "docs/reference/golden-formulas.md lacks {text}");
        let text = text.replace(' ', "");
        let out = format!("s{number}");
        folder.done(&format!("convert {file} --formula {text} --family linear --out {out}"));
        let opened = store::open(folder.at(&out)).unwrap();
        let names: Vec<String> =
            opened.store.coefficient_names().iter().map(|name| name.replace(' ', "")).collect();
        let columns: Vec<&str> =
            entry["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
        assert_eq!(names, columns, "{text}");
        let matrix: Vec<Vec<f64>> = entry["matrix"]
            .as_array()
            .unwrap()
            .iter()
            .map(|place| numbers(&golden["distinct"][place.as_u64().unwrap() as usize]))
            .collect();
        let features = &matrix[usize::from(opened.recipe.intercept)..];
        for position in 0..opened.store.rows() {
            let row = opened.store.original_row(position);
            for (found, column) in opened.store.row(position).iter().zip(features) {
                let wanted = column[row];
                assert!(
                    (found - wanted).abs() < 2e-6 * (1.0 + wanted.abs()),
                    "{text} {row}: {found} {wanted}"
                );
            }
        }
        let source = table::open(&file).unwrap();
        let rows = NewRows::new(&source, &opened.recipe, ResponseKind::Real, true).unwrap();
        rows.scan(&mut |piece| {
            assert_eq!(piece.columns.len(), features.len(), "{text}");
            for (found, wanted) in piece.columns.iter().zip(features) {
                for (found, wanted) in found.iter().zip(wanted) {
                    assert!((found - wanted).abs() < 1e-9 * (1.0 + wanted.abs()), "{text}: {found} {wanted}");
                }
            }
            Ok(())
        })
        .unwrap();
    }
}

/// 400 rows with numbers, a factor of three levels and one of twelve, counts of trials, an exposure; and the columns that the formulas of
/// the tests make, as numbers.
fn data(folder: &Scratch) -> String {
    let mut text = String::from("y,x,z,city,hour,k,n,xz,xjena,xulm,w\n");
    for row in 0..400_u32 {
        let (x, z) = (f64::from(row * 37 % 101) / 50.0 - 1.0, f64::from(row * 53 % 89) / 40.0);
        let city = ["Bonn", "Jena", "Ulm"][(row * 7 % 11 % 3) as usize];
        let noise = f64::from(row * 71 % 97) / 97.0 - 0.5;
        let (jena, ulm) = (f64::from(u8::from(city == "Jena")), f64::from(u8::from(city == "Ulm")));
        let y = 1.0 + 0.5 * x - 0.3 * z + 0.2 * x * z + 0.4 * jena - 0.6 * x * ulm + noise;
        let (n, hour) = (1 + row % 5, row % 13 % 12);
        let k = (row * 31 % 17) % (n + 1);
        writeln!(
            text,
            "{y},{x},{z},{city},{hour},{k},{n},{},{},{},{}",
            x * z,
            x * jena,
            x * ulm,
            1 + row % 3
        )
        .unwrap();
    }
    folder.file("data.csv", text)
}

fn draws(folder: &Scratch, run: &str) -> Vec<Vec<Vec<f64>>> {
    let reader = folder.reader(run);
    (0..reader.names().len()).map(|place| reader.parameter(place).unwrap()).collect()
}

#[test]
fn a_fit_is_that_of_the_same_columns_given_directly() {
    let folder = Scratch::new("formulas-direct");
    let data = data(&folder);
    for (number, (formula, direct, names)) in [
        ("y~x*z", "--response y --features x,z,xz", ["intercept", "x", "z", "x:z"]),
        (
            "y~x+x:city",
            "--response y --features x,xjena,xulm",
            ["intercept", "x", "x:city[Jena]", "x:city[Ulm]"],
        ),
        (
            "y~x+z+I(x*z)+weights(w)",
            "--response y --features x,z,xz --weights w",
            ["intercept", "x", "z", "I(x * z)"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        for standardize in ["", "--standardize"] {
            let (a, b) = (format!("a{number}{standardize}"), format!("b{number}{standardize}"));
            folder.fit(&format!("fit {data} --formula {formula} {standardize} {FIT} --out {a}"));
            folder.fit(&format!("fit {data} {direct} {standardize} {FIT} --out {b}"));
            assert_eq!(folder.reader(&a).names()[..4], names);
            assert_eq!(draws(&folder, &a), draws(&folder, &b), "{formula} {standardize}");
        }
    }
}

#[test]
fn factors_of_a_formula_are_stored_as_their_levels() {
    let folder = Scratch::new("formulas-factors");
    let data = data(&folder);
    folder.done(&format!("convert {data} --formula y~C(hour)*city --family linear --out s"));
    let opened = store::open(folder.at("s")).unwrap();
    let layout = opened.store.description().layout();
    // Twelve hours and their 22 combinations with cities are factors, three cities two columns.
    assert_eq!((layout.columns, layout.factors, layout.levels), (2, 2, 11 + 22));
    assert_eq!(opened.store.coefficient_names()[..3], ["intercept", "C(hour)[1]", "C(hour)[2]"]);
    assert_eq!(opened.store.coefficient_names()[14], "C(hour)[1]:city[Jena]");
    folder
        .refused_with(&format!("fit s --formula y~x {FIT} --out r"), &["--formula", "y~C(hour)*city", "y~x"]);
    folder.fit(&format!("fit s --formula y~C(hour)*city {FIT} --out r"));
    let said = folder.done("summary r --terms");
    assert!(said.contains("C(hour) (11 coefficients)"), "{said}");
    assert!(said.contains("  C(hour)[1]:city[Jena]"), "{said}");
}

const RICH: &str = r#"k|trials(n)~C(city,reference="Ulm")*poly(x,2)+bs(z,5)+scale(x):z+offset(log(n))"#;

#[test]
fn what_was_learnt_serves_resumed_runs_and_new_rows() {
    let folder = Scratch::new("formulas-kept");
    let data = data(&folder);
    let fit = format!("fit {data} --formula {RICH} --chains 2 --warmup 200 --rule exact --proposal laplace");
    folder.fit(&format!("{fit} --draws 300 --out whole"));
    folder.fit(&format!("{fit} --draws 100 --out half"));
    folder.fit(&format!("fit {data} --resume --draws 300 --out half"));
    assert_eq!(draws(&folder, "whole"), draws(&folder, "half"));
    folder.refused_with(
        &format!("fit {data} --resume --formula k|trials(n)~x --draws 400 --out half"),
        &["--formula was k|trials(n)~C(city"],
    );
    // Some rows alone, without the response: the same predictions, bit for bit.
    folder.done(&format!("predict whole {data} --out all.csv"));
    let text = std::fs::read_to_string(&data).unwrap();
    let mut some = String::from("city,z,x,n\n");
    for line in text.lines().skip(1).take(40) {
        let cells: Vec<&str> = line.split(',').collect();
        writeln!(some, "{},{},{},{}", cells[3], cells[2], cells[1], cells[6]).unwrap();
    }
    folder.file("some.csv", &some);
    folder.done("predict whole some.csv --out some-predicted.csv");
    for name in ["mean", "lower", "upper"] {
        assert_eq!(folder.table("all.csv").get(name)[..40], folder.table("some-predicted.csv").get(name)[..]);
    }
    for (cell, with, words) in [
        ("Bonn,", "Kiel,", &["some.csv", "`city`", "row 1", "`Kiel`", "Bonn, Jena, Ulm"][..]),
        (",0,", ",99,", &["row 1", "99 is outside of 0 to 2.2", "bs(z, 5)", "cr()"]),
        ("n\n", "m\n", &["no column `n`"]),
        (",0,", ",,", &["row 1", "missing", "remove the row"]),
    ] {
        folder.file("some.csv", some.replacen(cell, with, 1));
        folder.refused_with("predict whole some.csv --out none.csv", words);
    }
}

#[test]
fn formulas_that_cannot_be_meant_are_refused_at_their_character() {
    let folder = Scratch::new("formulas-refused");
    let data = data(&folder);
    let refused = |formula: &str, words: &[&str]| {
        folder.refused_with(&format!("fit {data} --formula {formula} --dry-run"), words);
        folder.refused_with(&format!("convert {data} --formula {formula} --out none"), words);
        assert!(!folder.at("none").exists());
    };
    refused("y~x+hours", &["formula, character 5", "no column `hours`", "did you mean `hour`", "    ^"]);
    refused("y~x+log(city)", &["character 9", "`city` holds text such as \"Bonn\"", "C(city)"]);
    refused("y~x*(z", &["character 7", "expected `)`"]);
    refused("y~x+y", &["character 5", "cannot explain itself"]);
    refused("y~x+(1|city/n)", &["group terms"]);
    // Of group terms `convert` knows nothing.
    for (formula, words) in [
        (
            "y~x+(1|city/n)",
            &["city and city:n", "one grouping is fitted at a time", "(1 | city:n) + C(city)"][..],
        ),
        ("y~x+(1|n)+(0+x|n)", &["one grouping is fitted at a time", "(x || n)"]),
        ("y~x+city+(city|n)", &["a slope needs a column of numbers"]),
    ] {
        folder.refused_with(&format!("fit {data} --formula {formula} --family linear --dry-run"), words);
    }
    refused("k|cens(n)~x", &["cens()", "--family exponential, weibull, lognormal"]);
    refused("k|cens(nn)~x --family weibull", &["character 8", "no column `nn`", "did you mean `n`"]);
    refused("n|cens(z)~x --family weibull", &["cens(z)", "row"]);
    refused(r#"y~C(city,reference="Kiel")"#, &["character 5", "no level \"Kiel\""]);
    refused("y~bs(x,knots=[5])", &["character 6", "the knot 5", "-1 to 1"]);
    refused("y~poly(city,2)", &["text such as"]);
    refused("y~log(x)", &["column `log(x)`, row 1", "it is NaN in this row, with x = -1"]);
    refused("y~bs(k,40)", &["bs(k, 40)", "too few different values"]);
    refused("y~0", &["no feature and no intercept"]);
    refused("x", &["response ~ terms"]);
    refused(&format!("y~{}x", "(".repeat(1000)), &["nested at most"]);
    refused(&format!("y~{}x", "x+".repeat(5000)), &["characters"]);
    for option in ["--response y", "--features x", "--trials n", "--no-intercept", "--categorical city"] {
        folder.refused_with(
            &format!("fit {data} --formula y~x {option} --dry-run"),
            &["--formula", option.split(' ').next().unwrap(), "exclude each other"],
        );
    }
    folder.refused_with(
        &format!("fit {data} --formula k|trials(n)~x --family poisson --dry-run"),
        &["trials()"],
    );
}

#[test]
fn many_levels_and_empty_cells_are_refused_by_name() {
    let folder = Scratch::new("formulas-levels");
    let mut text = String::from("y,id,a,b\n");
    for row in 0..100_000 {
        let (a, b) = (row % 3, (row % 3 + row / 7 % 2) % 3);
        writeln!(text, "{},{row},a{a},b{b}", f64::from(row % 17)).unwrap();
    }
    let data = folder.file("many.csv", text);
    folder.refused_with(
        &format!("fit {data} --formula y~C(id) --dry-run"),
        &["C(id) has more than 3000 levels", "group term, as in (1 | id)"],
    );
    folder.refused_with(
        &format!("fit {data} --formula y~a*b --dry-run"),
        &["column `a:b`", "0 in every row", "a[a2]:b[b1]"],
    );
}

/// Times with events by a formula are those of `--event`, bit for bit, and new rows need neither.
#[test]
fn times_with_events_are_a_response() {
    let folder = Scratch::new("formulas-times");
    let mut text = String::from("t,e,x\n");
    for row in 0..400_u32 {
        let (x, u) = (f64::from(row * 37 % 101) / 50.0 - 1.0, f64::from(row * 71 % 97 + 1) / 98.0);
        let t = -u.ln() * (0.4 * x).exp();
        writeln!(text, "{},{},{x}", t.min(1.5), t <= 1.5).unwrap();
    }
    let data = folder.file("times.csv", text);
    folder.fit(&format!("fit {data} --formula t|cens(e)~x --family weibull {FIT} --out a"));
    folder.fit(&format!("fit {data} --response t --event e --features x --family weibull {FIT} --out b"));
    assert_eq!(draws(&folder, "a"), draws(&folder, "b"));
    folder.file("new.csv", "x\n0.5\n-0.5\n");
    folder.done("predict a new.csv --survival 0.5 --out p.csv");
    folder.done("predict b new.csv --survival 0.5 --out q.csv");
    assert_eq!(folder.table("p.csv").get("mean"), folder.table("q.csv").get("mean"));
    folder.refused_with(&format!("fit {data} --formula t|cens(e)~x --dry-run"), &["cens()", "--family"]);
}

/// Rows with missing values are refused with their place, or dropped and counted by column; the rest is fitted as if they had never been there.
#[test]
fn rows_with_missing_values_are_refused_or_counted() {
    let folder = Scratch::new("formulas-missing");
    let whole = std::fs::read_to_string(data(&folder)).unwrap();
    let (mut holes, mut kept) = (String::new(), String::new());
    for (number, line) in whole.lines().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let changed = match number {
            7 => line.replacen(&format!(",{},", cells[1]), ",NA,", 1),
            9 => line.replacen(&format!(",{},", cells[3]), ",,", 1),
            12 => line.replacen(&format!(",{},", cells[3]), ",NA,", 1),
            _ => line.into(),
        };
        if changed == line {
            writeln!(kept, "{line}").unwrap();
        }
        writeln!(holes, "{changed}").unwrap();
    }
    let (holes, kept) = (folder.file("holes.csv", holes), folder.file("kept.csv", kept));
    let formula = "--formula y~x+city";
    folder.refused_with(
        &format!("fit {holes} {formula} {FIT} --out r"),
        &["`city`", "row 9", "--missing drop"],
    );
    let output = folder.fit(&format!("fit {holes} {formula} --missing drop {FIT} --out a"));
    let told = crate::common::text(&output.stdout);
    assert!(
        told.contains("3 of 400 rows were dropped because a value is missing: 2 in `city`, 1 in `x`"),
        "{told}"
    );
    folder.fit(&format!("fit {kept} {formula} {FIT} --out b"));
    assert_eq!(draws(&folder, "a"), draws(&folder, "b"));
    let page = std::fs::read_to_string(folder.at("a/report.html")).unwrap();
    assert!(page.contains("3 of 400 rows were dropped"), "the report counts dropped rows");
    folder.fit(&format!("fit {holes} --response y --features x,city --missing drop {FIT} --out c"));
    folder.done(&format!("convert {holes} {formula} --family linear --missing drop --out s"));
    assert_eq!(store::open(folder.at("s")).unwrap().store.rows(), 397);
    folder.fit(&format!("fit {holes} --resume --draws 400 --out a"));
    folder.refused_with(
        &format!("fit {holes} --resume --missing refuse --draws 500 --out a"),
        &["--missing was drop"],
    );
}

/// Several files, a pattern, and folders are one table.
#[test]
fn several_files_are_one_table() {
    let folder = Scratch::new("formulas-files");
    let whole = std::fs::read_to_string(data(&folder)).unwrap();
    let (head, rows) = whole.split_once('\n').unwrap();
    let lines: Vec<&str> = rows.lines().collect();
    for (number, (key, part)) in ["a", "b"].into_iter().zip(lines.chunks(200)).enumerate() {
        std::fs::create_dir_all(folder.at(&format!("parts/year={number}"))).unwrap();
        folder.file(&format!("{key}.csv"), format!("{head}\n{}\n", part.join("\n")));
        folder.file(&format!("parts/year={number}/{key}.csv"), format!("{head}\n{}\n", part.join("\n")));
    }
    let formula = "--formula y~x+city";
    folder.fit(&format!("fit data.csv {formula} {FIT} --out whole"));
    for (number, names) in ["a.csv b.csv", "[ab].csv", "parts", "parts/*/*.csv"].into_iter().enumerate() {
        folder.fit(&format!("fit {names} {formula} {FIT} --out r{number}"));
        assert_eq!(draws(&folder, "whole"), draws(&folder, &format!("r{number}")), "{names}");
    }
    folder.fit("fit a.csv b.csv --resume --draws 400 --out r0");
    folder.fit(&format!("fit parts --formula y~C(year) {FIT} --out years"));
    assert_eq!(folder.reader("years").coefficient_names(), ["intercept", "C(year)[1]"]);
    folder.done("predict years parts --out p.csv");
    let swapped = lines[..9].iter().map(|line| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[1] = "far";
        cells.join(",")
    });
    folder.file("d.csv", format!("{head}\n{}\n", swapped.collect::<Vec<_>>().join("\n")));
    folder.refused_with(&format!("fit a.csv d.csv {formula} --dry-run"), &["d.csv", "`x`", "text", "a.csv"]);
    folder.refused_with("fit a.csv a.csv --response y --dry-run", &["a.csv", "twice"]);
    folder.refused_with("fit nowhere/*.csv --response y --dry-run", &["nowhere/*.csv", "matches no file"]);
}

/// Terms that say the same are refused with the names of both.
#[test]
fn terms_that_repeat_each_other_are_refused_by_name() {
    let folder = Scratch::new("formulas-rank");
    let data = data(&folder);
    for (formula, words) in [
        (
            "y~x+z+I(x+2*z)",
            &["`x`", "`z`", "`I(x + 2 * z)`", "cannot be told apart", "leave out one of the terms"][..],
        ),
        ("y~x+city+x:city+xulm", &["`xulm`", "`x:city[Ulm]`", "are identical"]),
    ] {
        folder.refused_with(&format!("fit {data} --formula {formula} --dry-run"), words);
    }
}
