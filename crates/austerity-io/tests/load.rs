//! What is loaded from every format is, to the bit, what the library makes of the same columns in memory.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use crate::common::Folder;
use austerity_glm::{Data, ResponseKind, Store};
use austerity_io::coding::{CodingOptions, Recipe, ResponseCoding};
use austerity_io::load::{LoadOptions, Loaded, load};
use austerity_io::table::OpenOptions;
use austerity_io::table::{Column, Table, open, open_with};
use austerity_io::write::{write_csv, write_parquet};

const SEED: u64 = 12;

/// A reproducible uniform number.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// Columns with every role: y (0/1), count, real, n, w, o, dense, rare, month (levels), flat (constant).
fn columns(rows: usize) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut state = 3;
    let names = ["y", "count", "real", "n", "w", "o", "dense", "rare", "month", "flat"];
    let mut columns = vec![Vec::with_capacity(rows); names.len()];
    for _ in 0..rows {
        let mut u = || uniform(&mut state);
        let values = [
            f64::from(u8::from(u() < 0.4)),
            (u() * 4.0).floor(),
            1e3 + u(),
            4.0 + (u() * 5.0).floor(),
            1.0 + (u() * 3.0).floor(),
            5.0 + u(),
            50_000.0 + 1e4 * (u() + u()),
            if u() < 0.03 { 1.0 + u() } else { 0.0 },
            1.0 + (u() * 12.0).floor(),
            7.0,
        ];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    (names.map(String::from).to_vec(), columns)
}

/// What the library makes of the columns of a table, coded by the recipe.
fn reference(table: &Table, recipe: &Recipe, kind: ResponseKind) -> Store {
    let numbers = |name: &String| match table.column(name).unwrap() {
        Column::Numbers(values) => values.clone(),
        Column::Levels { .. } => panic!("{name} is text"),
    };
    let response = match (&recipe.coding, table.column(&recipe.response).unwrap()) {
        (ResponseCoding::AsGiven, Column::Numbers(values)) => values.clone(),
        (ResponseCoding::TwoNumbers { one, .. }, Column::Numbers(values)) => {
            values.iter().map(|v| f64::from(u8::from(v == one))).collect()
        }
        (ResponseCoding::TwoTexts { one, .. }, Column::Levels { codes, labels }) => {
            codes.iter().map(|&code| f64::from(u8::from(labels[code as usize] == *one))).collect()
        }
        _ => panic!("{:?}", recipe.coding),
    };
    let names: Vec<String> =
        recipe.coefficient_names().into_iter().skip(usize::from(recipe.intercept)).collect();
    let mut data =
        Data::new(names, recipe.features(table).unwrap(), response).intercept(recipe.intercept).shuffle(SEED);
    if let Some(name) = &recipe.weights {
        data = data.weights(numbers(name));
    }
    if let Some(name) = &recipe.trials {
        data = data.trials(numbers(name));
    }
    if let Some(name) = &recipe.offset {
        data = data.offset(numbers(name));
    }
    Store::new(&data.check(kind).unwrap(), kind).unwrap()
}

fn assert_same(found: &Loaded, expected: &Store) {
    let (description, wanted) = (found.store.description(), expected.description());
    if description.layout().factors == 0 {
        assert_eq!(description, wanted);
        assert_eq!(found.store.blocks().lines(), expected.blocks().lines());
        return;
    }
    // Levels of a factor are stored by their place; all else is the same to the bit.
    assert_eq!(found.store.coefficient_names(), expected.coefficient_names());
    assert_eq!(found.store.default_priors(), expected.default_priors());
    assert_eq!((description.rows, &description.warnings), (wanted.rows, &wanted.warnings));
    for position in 0..description.rows {
        let (row, other) = (found.store.row(position), expected.row(position));
        for ((value, other), column) in row.iter().zip(&other).zip(&description.columns) {
            match column.factor {
                None => assert_eq!(value, other, "{}", column.name),
                Some(_) => assert!((value - other).abs() < 1e-5, "{}: {value} {other}", column.name),
            }
        }
        let sides = |store: &Store| {
            let layout = *store.blocks().layout();
            let side = |place: usize| store.blocks().value(position, place);
            (layout.response..layout.width).map(side).collect::<Vec<f32>>()
        };
        assert_eq!(sides(&found.store), sides(expected));
    }
}

/// Loads and compares; returns what was loaded.
fn loaded(path: &Path, options: &CodingOptions, kind: ResponseKind, threads: usize) -> Loaded {
    let source = open_with(path, &OpenOptions { threads: Some(threads), ..OpenOptions::default() }).unwrap();
    let found = load(&source, options, Some(kind), SEED, &LoadOptions::default()).unwrap();
    let table = source.read_with(None, &found.recipe.text_columns()).unwrap();
    assert_same(&found, &reference(&table, &found.recipe, kind));
    found
}

/// A NumPy array of doubles in either order.
fn npy(path: &Path, columns: &[Vec<f64>], fortran: bool) {
    let (rows, width) = (columns[0].len(), columns.len());
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({rows}, {width}), }}");
    let padded = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(padded.len() as u16).to_le_bytes());
    bytes.extend_from_slice(padded.as_bytes());
    if fortran {
        columns.iter().flatten().for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()));
    } else {
        (0..rows).for_each(|i| columns.iter().for_each(|c| bytes.extend_from_slice(&c[i].to_le_bytes())));
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn every_format_gives_the_bits_of_the_library() {
    let folder = Folder::new("load");
    for rows in [37, 9001] {
        let (names, columns) = columns(rows);
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let files = ["a.csv", "a.csv.gz", "a.parquet", "c.npy", "f.npy"].map(|name| folder.path(name));
        write_csv(&files[0], &names, &slices).unwrap();
        write_csv(&files[1], &names, &slices).unwrap();
        write_parquet(&files[2], &names, &slices).unwrap();
        npy(&files[3], &columns, false);
        npy(&files[4], &columns, true);
        for (response, kind) in [
            ("y", ResponseKind::Binary),
            ("count", ResponseKind::Count),
            ("count", ResponseKind::CountOfTrials),
            ("real", ResponseKind::Real),
        ] {
            let mut recipes: Vec<Recipe> = Vec::new();
            for file in &files {
                // NumPy columns have no names of their own.
                let at = |name: &str| names.iter().position(|n| n == name).unwrap();
                let is_npy = file.extension().unwrap() == "npy";
                let name = |name: &str| if is_npy { format!("x{}", at(name) + 1) } else { name.to_owned() };
                let features = ["dense", "rare", "month"].map(name).to_vec();
                for (standardize, intercept) in [(false, true), (true, true), (true, false)] {
                    let options = CodingOptions {
                        features: Some(features.clone()),
                        categorical: vec![name("month")],
                        weights: Some(name("w")),
                        offset: Some(name("o")),
                        trials: (kind == ResponseKind::CountOfTrials).then(|| name("n")),
                        intercept,
                        standardize,
                        ..CodingOptions::new(name(response))
                    };
                    let found = loaded(file, &options, kind, 3);
                    if !is_npy && !standardize {
                        recipes.push(found.recipe);
                    }
                }
            }
            assert!(recipes.windows(2).all(|pair| pair[0] == pair[1]), "{recipes:?}");
        }
        // Every other column is a feature, the constant one left out.
        for (file, y) in files.iter().zip(["y", "y", "y", "x1", "x1"]) {
            let found = loaded(file, &CodingOptions::new(y), ResponseKind::Binary, 2);
            assert_eq!(found.store.coefficients(), 9);
            assert!(found.warnings.iter().any(|w| w.contains("left out: it is 7")), "{:?}", found.warnings);
        }
    }
}

#[test]
fn text_levels_truths_and_words_are_coded_alike() {
    let folder = Folder::new("load-text");
    let mut state = 5;
    let mut text = String::from("bought;colour;member;grade;income\n");
    for row in 0..9000 {
        let mut u = || uniform(&mut state);
        let colour = if row == 6000 { "mauve" } else { ["red", "blue", "green"][(u() * 3.0) as usize] };
        let member = ["true", "FALSE", "True"][(u() * 3.0) as usize];
        let bought = if u() < 0.5 { "yes" } else { "no" };
        text.push_str(&format!("{bought};{colour};{member};{};{}\n", (u() * 4.0).floor(), u()));
    }
    let file = folder.file("sales.csv", &text);
    for standardize in [false, true] {
        for intercept in [true, false] {
            let options = CodingOptions {
                categorical: vec!["grade".into()],
                standardize,
                intercept,
                ..CodingOptions::new("bought")
            };
            let found = loaded(&file, &options, ResponseKind::Binary, 1);
            assert!(found.store.coefficient_names().contains(&"colour=mauve".to_owned()));
            let inferred =
                load(&open(&file).unwrap(), &options, None, SEED, &LoadOptions::default()).unwrap();
            assert_eq!(inferred.store.description(), found.store.description());
        }
    }
    // Truths as a response are 1 and 0.
    let options = CodingOptions { features: Some(vec!["income".into()]), ..CodingOptions::new("member") };
    for kind in [ResponseKind::Binary, ResponseKind::Count] {
        let found = loaded(&file, &options, kind, 1);
        assert_eq!(found.recipe.coding, ResponseCoding::AsGiven);
    }
}

#[test]
fn refusals_name_file_column_row_and_value() {
    let folder = Folder::new("load-bad");
    let refused = |file: PathBuf, options: &CodingOptions, kind: Option<ResponseKind>, words: &[&str]| {
        let message = open(&file)
            .and_then(|source| load(&source, options, kind, 1, &LoadOptions::default()))
            .unwrap_err()
            .to_string();
        for word in words {
            assert!(message.contains(word), "{word:?} is missing from: {message}");
        }
    };
    let y = CodingOptions::new("y");
    let many: String = (0..5000)
        .map(|i| format!("{},{}\n", i % 2, if i == 4500 { "oops".into() } else { i.to_string() }))
        .collect();
    refused(
        folder.file("a.csv", format!("y,x\n{many}")),
        &y,
        None,
        &["a.csv", "`x`, row 4501", "line 4502", "oops"],
    );
    refused(folder.file("b.csv", "y,x\n0,1\n1,2\n0,1e150\n"), &y, None, &["b.csv", "`x`", "row 3", "1e145"]);
    refused(
        folder.file("c.csv", "y,a,b\n0,1,1\n1,2,2\n0,3,3\n"),
        &y,
        None,
        &["c.csv", "`a` and `b` are identical"],
    );
    refused(
        folder.file("d.csv", "y,a,b\n0,u,k\n1,v,l\n0,u,k\n"),
        &y,
        None,
        &["d.csv", "`a=v` and `b=l` are identical"],
    );
    refused(folder.file("e.csv", "y,intercept\n0,1\n1,2\n"), &y, None, &["`intercept`", "rename"]);
    let third: String = (0..5000).map(|i| format!("{},{i}\n", if i == 4999 { 7 } else { i % 2 })).collect();
    let binary = Some(ResponseKind::Binary);
    refused(
        folder.file("f.csv", format!("y,x\n{third}")),
        &y,
        binary,
        &["`y`, row 5000", "7 is a third value"],
    );
    refused(folder.file("g.csv", "y,x\n1,1\n1,2\n"), &y, Some(ResponseKind::Real), &["1 in every row"]);
    let weights = CodingOptions { weights: Some("w".into()), ..CodingOptions::new("y") };
    refused(folder.file("h.csv", "y,x,w\n1,1,1\n0,2,0\n"), &weights, None, &["`w`, row 2", "positive"]);
}
