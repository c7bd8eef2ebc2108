//! Formulas from a file to rows: the columns of formulaic, by every way of loading, and again for new rows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use crate::common::Folder;
use austerity_glm::{ResponseKind, Store};
use austerity_io::coding::{Cell, CodingOptions, NewRows};
use austerity_io::load::{LoadOptions, load};
use austerity_io::store::{ConvertOptions, checksum, create};
use austerity_io::table::{Column, Source, Table, open};
use serde_json::Value;

/// The columns of the golden table, in order.
const NAMES: [&str; 7] = ["y", "x", "z", "n", "a", "b", "c"];

fn golden() -> Value {
    serde_json::from_str(include_str!("../../austerity-formula/tests/golden.json")).unwrap()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn texts(values: &Value) -> Vec<&str> {
    values.as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
}

/// The table of the golden formulas in memory, and as CSV.
fn tables(golden: &Value) -> (Source, String) {
    let columns = golden["table"].as_object().unwrap();
    let column = |name: &&str| {
        let values = &columns[*name];
        let is_text = values[0].is_string();
        let column =
            if is_text { texts(values).into_iter().collect() } else { Column::from(numbers(values)) };
        ((*name).to_owned(), column)
    };
    let made: Vec<(String, Column)> = NAMES.iter().map(column).collect();
    let mut text = NAMES.join(",") + "\n";
    for row in 0..made[0].1.len() {
        let cells = NAMES.iter().map(|name| match &columns[*name][row] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    let table = Table::new("memory", made.iter().map(|(name, column)| (name.as_str(), column.clone())));
    (Source::of_table(table.unwrap()), text)
}

/// The columns of formulaic for an entry, the intercept included.
fn matrix(golden: &Value, entry: &Value) -> Vec<Vec<f64>> {
    let places = entry["matrix"].as_array().unwrap().iter();
    places.map(|place| numbers(&golden["distinct"][place.as_u64().unwrap() as usize])).collect()
}

fn assert_rows(store: &Store, features: &[Vec<f64>], what: &str) {
    for position in 0..store.rows() {
        let row = store.original_row(position);
        for (found, column) in store.row(position).iter().zip(features) {
            let wanted = column[row];
            assert!((found - wanted).abs() < 2e-6 * (1.0 + wanted.abs()), "{what} {row}: {found} {wanted}");
        }
    }
}

#[test]
fn every_way_of_loading_gives_the_matrix_of_formulaic() {
    let folder = Folder::new("formulas");
    let golden = golden();
    let (memory, text) = tables(&golden);
    let file = folder.file("data.csv", text.as_bytes());
    let csv = open(&file).unwrap();
    let formulas = golden["formulas"].as_array().unwrap();
    assert!(formulas.len() >= 60);
    for (number, entry) in formulas.iter().enumerate() {
        let text = entry["formula"].as_str().unwrap();
        let options = CodingOptions::of_formula(text);
        let how = LoadOptions { threads: Some(2) };
        let [one, other] = [&csv, &memory].map(|source| {
            load(source, &options, Some(ResponseKind::Real), 3, &how)
                .unwrap_or_else(|error| panic!("{text}: {error}"))
        });
        assert_eq!(checksum(&one.store, 1), checksum(&other.store, 1), "{text}");
        assert_eq!(one.recipe, other.recipe, "{text}");
        let names = one.store.coefficient_names();
        assert_eq!(names, one.recipe.coefficient_names(), "{text}");
        let plain: Vec<String> = names.iter().map(|name| name.replace(' ', "")).collect();
        assert_eq!(plain, texts(&entry["columns"]), "{text}");
        let all = matrix(&golden, entry);
        let features = &all[usize::from(one.recipe.intercept)..];
        assert_rows(&one.store, features, text);
        // Terms name every coefficient once, in order.
        let grouped: Vec<String> =
            one.recipe.term_names().unwrap().into_iter().flat_map(|term| term.coefficients).collect();
        assert_eq!(grouped, names, "{text}");
        // On disk.
        let out = folder.path(&format!("s{number}"));
        let made = create(
            &csv,
            (&options, Some(ResponseKind::Real)),
            3,
            &out,
            &ConvertOptions::default(),
            &mut |_| {},
        );
        made.unwrap();
        let stored = austerity_io::store::open(&out).unwrap();
        assert_eq!(stored.recipe, one.recipe, "{text}");
        assert_eq!(stored.store.coefficient_names(), names, "{text}");
        assert_rows(&stored.store, features, text);
        // New rows, from a recipe that was stored as text.
        let kept = serde_json::from_str(&serde_json::to_string(&one.recipe).unwrap()).unwrap();
        let rows = NewRows::new(&csv, &kept, ResponseKind::Real, true).unwrap();
        rows.scan(&mut |piece| {
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

/// A row of a reference grid needs no data: its columns are those of the row of the table with the same values, to the bit.
#[test]
fn rows_of_a_grid_have_the_columns_of_the_table() {
    let golden = golden();
    let (memory, _) = tables(&golden);
    for text in [
        "y ~ C(a, reference=\"v\")*bs(x, 5) + poly(z, 2):b + offset(log(x))",
        "y ~ 0 + a:b:c + scale(x)",
        "y ~ 1",
    ] {
        let loaded =
            load(&memory, &CodingOptions::of_formula(text), None, 3, &LoadOptions::default()).unwrap();
        let mut wanted: Vec<Vec<f64>> = Vec::new();
        let mut offsets = Vec::new();
        let rows = NewRows::new(&memory, &loaded.recipe, ResponseKind::Real, false).unwrap();
        rows.scan(&mut |piece| {
            wanted = piece.columns.iter().map(|column| column.to_vec()).collect();
            offsets = piece.offset.as_ref().map_or(vec![0.0; piece.rows], |offset| offset.to_vec());
            Ok(())
        })
        .unwrap();
        for row in 0..36 {
            let mut values = BTreeMap::new();
            for (name, column) in golden["table"].as_object().unwrap() {
                let value = match &column[row] {
                    Value::String(text) => Cell::Text(text.clone()),
                    other => Cell::Number(other.as_f64().unwrap()),
                };
                values.insert(name.clone(), value);
            }
            let found = loaded.recipe.row(&values).unwrap();
            assert_eq!(found.offset, offsets[row], "{text}");
            let mut expected: Vec<(String, f64)> = Vec::new();
            let names = loaded.recipe.coefficient_names();
            let intercept = loaded.recipe.intercept.then_some(1.0);
            let all = intercept.into_iter().chain(wanted.iter().map(|column| column[row]));
            expected.extend(names.into_iter().zip(all).filter(|(_, value)| *value != 0.0));
            assert_eq!(found.columns, expected, "{text}");
        }
        let refused = loaded.recipe.row(&BTreeMap::new());
        assert_eq!(refused.is_err(), text != "y ~ 1", "{refused:?}");
    }
}

/// Columns that others add up to are named; they are found in a sample and confirmed on all rows.
#[test]
fn redundant_columns_are_refused_by_name() {
    let rows = 5000;
    let x: Vec<f64> = (0..rows).map(|row| f64::from(row * 37 % 1013) / 500.0).collect();
    let z: Vec<f64> = (0..rows).map(|row| f64::from(row * 53 % 887) / 400.0).collect();
    // The same as x + z but in one row.
    let mut nearly: Vec<f64> = x.iter().zip(&z).map(|(x, z)| x + z).collect();
    nearly[4321] += 1.0;
    let city: Column = (0..rows).map(|row| ["Bonn", "Ulm", "Linz", "Graz"][row as usize % 4]).collect();
    let country: Column = (0..rows).map(|row| ["D", "D", "A", "A"][row as usize % 4]).collect();
    let y = x.iter().map(|x| x.sin()).collect::<Vec<f64>>();
    let columns = [
        ("y", Column::from(y)),
        ("x", x.into()),
        ("z", z.into()),
        ("nearly", nearly.into()),
        ("city", city),
        ("country", country),
    ];
    let source = Source::of_table(Table::new("data", columns).unwrap());
    let loaded = |text: &str| {
        load(&source, &CodingOptions::of_formula(text), None, 3, &LoadOptions::default())
            .map_err(|error| error.to_string())
    };
    for (text, words) in [
        ("y ~ x + z + I(x + z)", ["`x`, `z`, `I(x + z)`", "x, z, I(x + z)"]),
        ("y ~ city + country", ["`city[Graz]`", "country"]),
        ("y ~ x*country + x:city", ["`x:country[D]`", "x:city"]),
        ("y ~ poly(x, 2) + I(x^2) + x", ["`poly(x, 2)[1]`", "I(x^2)"]),
    ] {
        let said = loaded(text).expect_err(text);
        words.iter().for_each(|word| assert!(said.contains(word), "{text}: {word} is missing in {said}"));
    }
    // Power: what is not redundant is not refused.
    for text in ["y ~ x + z + nearly", "y ~ city*x + poly(z, 5)", "y ~ cr(x, 5)", "y ~ 0 + city + x"] {
        let found = loaded(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let told = found.warnings.iter().any(|warning| warning.contains("cr(x, 5)"));
        assert_eq!(told, text.contains("cr("), "{:?}", found.warnings);
    }
}

/// Interactions of a number with a factor of many levels are stored as the place of the level and the number: no dense columns.
#[test]
fn interactions_of_numbers_and_many_levels_are_stored_as_slopes() {
    let folder = Folder::new("slopes");
    let (rows, levels) = (6000, 2000);
    let mut text = String::from("y,x,z,g\n");
    for row in 0..rows {
        let (x, z) = (f64::from(row * 37 % 1013) / 500.0 + 0.1, f64::from(row * 53 % 887) / 400.0);
        text += &format!("{},{x},{z},{}\n", x * z, row % levels);
    }
    let csv = open(folder.file("slopes.csv", text.as_bytes())).unwrap();
    let memory = Source::of_table(csv.read(None).unwrap());
    let options = CodingOptions::of_formula("y ~ x*C(g)");
    let [one, other] = [&csv, &memory]
        .map(|source| load(source, &options, None, 3, &LoadOptions { threads: Some(2) }).unwrap());
    assert_eq!(checksum(&one.store, 1), checksum(&other.store, 1));
    let layout = one.store.description().layout();
    assert_eq!((layout.columns, layout.factors, layout.slopes), (1, 2, 1));
    assert_eq!(layout.levels, 2 * 1999);
    // x, two places, the number of the slopes, the response.
    assert_eq!(one.store.bytes(), 6016 * 5 * 4);
    let names = one.store.coefficient_names();
    assert_eq!(names[2000..2003], ["C(g)[1999]", "x:C(g)[1]", "x:C(g)[2]"]);
    assert_eq!(one.recipe.coefficient_names(), names);
    let out = folder.path("store");
    create(&csv, (&options, None), 3, &out, &ConvertOptions::default(), &mut |_| {}).unwrap();
    let stored = austerity_io::store::open(&out).unwrap();
    assert_eq!(stored.recipe, one.recipe);
    for store in [&one.store, &stored.store] {
        for position in (0..rows as usize).step_by(7) {
            let row = store.original_row(position);
            let (x, level) = (f64::from(row as i32 * 37 % 1013) / 500.0 + 0.1, row % levels as usize);
            let found = store.row(position);
            assert!((found[0] - x).abs() < 1e-5);
            for (place, value) in found[1..].iter().enumerate() {
                let wanted = match place {
                    place if place < 1999 => f64::from(u8::from(place + 1 == level)),
                    place if place - 1998 == level => x,
                    _ => 0.0,
                };
                assert!((value - wanted).abs() < 1e-6, "{row} {place}: {value} {wanted}");
            }
        }
    }
    // Several numbers: each has slopes of its own, and levels vary fastest.
    let few = CodingOptions::of_formula("y ~ 0 + C(h) + C(h):poly(z, 2)");
    let mut table = csv.read(None).unwrap();
    let hours: Vec<f64> = (0..rows).map(|row| f64::from(row % 12)).collect();
    table.names.push("h".into());
    table.columns.push(hours.into());
    let source = Source::of_table(table.clone());
    let found = load(&source, &few, None, 3, &LoadOptions::default()).unwrap();
    let layout = found.store.description().layout();
    assert_eq!((layout.columns, layout.factors, layout.slopes, layout.levels), (0, 3, 2, 36));
    let names = found.store.coefficient_names();
    assert_eq!(names, found.recipe.coefficient_names());
    assert_eq!(
        names[22..26],
        [
            "C(h)[10]:poly(z, 2)[1]",
            "C(h)[11]:poly(z, 2)[1]",
            "C(h)[0]:poly(z, 2)[2]",
            "C(h)[1]:poly(z, 2)[2]"
        ]
    );
    assert_eq!(found.recipe.term_names().unwrap()[1].coefficients, names[12..]);
    let columns = found.recipe.features(&table).unwrap();
    assert_rows(&found.store, &columns, "several numbers");
    // The same numbers as dense columns: few levels.
    let dense = CodingOptions::of_formula("y ~ 0 + poly(z, 2)");
    let poly =
        load(&source, &dense, None, 3, &LoadOptions::default()).unwrap().recipe.features(&table).unwrap();
    for row in 0..rows as usize {
        for level in 0..12 {
            for number in 0..2 {
                let wanted = if row % 12 == level { poly[number][row] } else { 0.0 };
                assert_eq!(columns[12 + 12 * number + level][row], wanted, "{row} {level} {number}");
            }
        }
    }
}
