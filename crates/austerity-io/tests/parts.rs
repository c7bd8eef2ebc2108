//! Several files as one table: the same bits as one file with the same rows, and one clear message for what does not fit together.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use crate::common::Folder;
use austerity_glm::ResponseKind;
use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, Loaded, load};
use austerity_io::table::{Missing, OpenOptions, Source, Table, open, open_all, open_with};
use austerity_io::write::{Field, TableWriter, write_csv, write_parquet};

const ROWS: usize = 10_000;

/// y, a dense column, a rare one, a few levels as numbers and as text.
fn csv_of(rows: std::ops::Range<usize>, row: impl Fn(usize) -> String) -> String {
    let lines: String = rows.map(|i| row(i) + "\n").collect();
    format!("y,dense,rare,city\n{lines}")
}

fn line(i: usize) -> String {
    let city = ["Bonn", "Köln", "Ulm"][(i * 7919 / 13) % 3];
    let dense = ((i * 2_654_435_761) % 1_000_003) as f64 / 1e3;
    format!("{},{dense},{},{city}", (i * 48_271 / 7) % 2, if i % 41 == 5 { i % 9 + 1 } else { 0 })
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn loaded(source: &Source, options: &CodingOptions) -> austerity_io::Result<Loaded> {
    load(source, options, Some(ResponseKind::Binary), 7, &LoadOptions::default())
}

fn same(found: &Loaded, wanted: &Loaded) {
    assert_eq!(found.store.description(), wanted.store.description());
    assert_eq!(found.store.blocks().lines(), wanted.store.blocks().lines());
    assert_eq!(found.recipe, wanted.recipe);
}

fn message(outcome: austerity_io::Result<impl Sized>) -> String {
    outcome.err().unwrap().to_string()
}

#[test]
fn text_files_in_parts_give_the_bits_of_one_file() {
    let folder = Folder::new("parts-csv");
    let (whole, parts) = (folder.path("whole.csv"), folder.path("parts"));
    write(&whole, &csv_of(0..ROWS, line));
    for (k, rows) in [0..1, 1..4_097, 4_097..4_098, 4_098..ROWS].into_iter().enumerate() {
        write(&parts.join(format!("part-{k}.csv")), &csv_of(rows, line));
    }
    write(&parts.join("_SUCCESS"), "");
    write(&parts.join(".part-0.csv.crc"), "x");
    for standardize in [false, true] {
        let options = CodingOptions { standardize, ..CodingOptions::new("y") };
        let wanted = loaded(&open(&whole).unwrap(), &options).unwrap();
        let pattern = parts.join("part-*.csv");
        for source in [&parts, &pattern] {
            same(&loaded(&open(source).unwrap(), &options).unwrap(), &wanted);
        }
        let files: Vec<PathBuf> = (0..4).map(|k| parts.join(format!("part-{k}.csv"))).collect();
        same(&loaded(&open_all(&files, &OpenOptions::default()).unwrap(), &options).unwrap(), &wanted);
        // Power: another order of the same files is another table.
        let turned: Vec<PathBuf> = files.into_iter().rev().collect();
        let other = loaded(&open_all(&turned, &OpenOptions::default()).unwrap(), &options).unwrap();
        assert_ne!(other.store.blocks().lines(), wanted.store.blocks().lines());
    }
}

/// A table of numbers as Parquet files of the given rows.
fn numbers(rows: std::ops::Range<usize>) -> Vec<Vec<f64>> {
    let cell = |i: usize, j: usize| match j {
        0 => ((i * 48_271 / 7) % 2) as f64,
        _ => ((i * (2 * j + 1) * 2_654_435_761) % 1_000_003) as f64 / 1e3,
    };
    (0..6).map(|j| rows.clone().map(|i| cell(i, j)).collect()).collect()
}

fn parquet(path: &Path, names: &[&str], columns: &[Vec<f64>]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    write_parquet(path, &names, &columns).unwrap();
}

const NAMES: [&str; 6] = ["y", "a", "b", "c", "d", "e"];

#[test]
fn parquet_files_in_parts_give_the_bits_of_one_file_on_any_number_of_threads() {
    let folder = Folder::new("parts-parquet");
    let (whole, parts) = (folder.path("whole.parquet"), folder.path("parts"));
    parquet(&whole, &NAMES, &numbers(0..ROWS));
    for (k, rows) in [0..3, 3..5_000, 5_000..ROWS].into_iter().enumerate() {
        parquet(&parts.join(format!("{k}.parquet")), &NAMES, &numbers(rows));
    }
    let options = CodingOptions { categorical: Vec::new(), ..CodingOptions::new("y") };
    let wanted = loaded(&open(&whole).unwrap(), &options).unwrap();
    for threads in [1, 2, 3, 7] {
        let opening = OpenOptions { threads: Some(threads), ..OpenOptions::default() };
        for path in [&whole, &parts] {
            same(&loaded(&open_with(path, &opening).unwrap(), &options).unwrap(), &wanted);
        }
    }
    let mut found = Vec::new();
    open(&parts)
        .unwrap()
        .scan(&["b".into()], &[], &mut |first, chunks| {
            assert_eq!(first, found.len());
            if let austerity_io::table::Chunk::Numbers(values) = chunks[0] {
                found.extend_from_slice(values);
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(found, numbers(0..ROWS)[2]);
}

#[test]
fn folders_say_the_value_of_a_column() {
    let folder = Folder::new("parts-hive");
    let root = folder.path("sales");
    for (year, city, rows) in [(2020, "Bad%20Ems", 0..10), (2020, "Ulm", 10..25), (2021, "Ulm", 25..60)] {
        write(&root.join(format!("year={year}/city={city}/x.csv")), &csv_without_city(rows));
    }
    let wanted = |table: &Table| {
        let levels: Vec<String> = (0..60)
            .map(|i| match (table.column("year").unwrap(), table.column("city").unwrap()) {
                (
                    austerity_io::table::Column::Numbers(years),
                    austerity_io::table::Column::Levels { codes, labels },
                ) => format!("{} {}", years[i], labels[codes[i] as usize]),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!((levels[0].as_str(), levels[10].as_str()), ("2020 Bad Ems", "2020 Ulm"));
        assert_eq!((levels[24].as_str(), levels[25].as_str()), ("2020 Ulm", "2021 Ulm"));
    };
    wanted(&open(&root).unwrap().read(None).unwrap());
    wanted(&open(root.join("year=*/*/x.csv")).unwrap().read(None).unwrap());
    // Of the folders alone, whatever the files hold.
    let only = open(&root).unwrap().read(Some(&["year".into()])).unwrap();
    assert_eq!((only.rows, only.columns.len()), (60, 1));
    // Below the fixed beginning of the pattern.
    let inside = open(root.join("year=2020/*/x.csv")).unwrap();
    assert!(
        !inside.schema().names.contains(&"year".into()) && inside.schema().names.contains(&"city".into())
    );
    write(&root.join("year=2022/x.csv"), &csv_without_city(0..3));
    let said = message(open(&root));
    assert!(said.contains("year=2022") && said.contains("`city`"), "{said}");
}

fn csv_without_city(rows: std::ops::Range<usize>) -> String {
    format!("y,dense\n{}", rows.map(|i| format!("{},{}\n", i % 2, i * i % 17)).collect::<String>())
}

#[test]
fn files_that_do_not_fit_together_are_refused_by_name() {
    let folder = Folder::new("parts-refused");
    let path = |name: &str| folder.path(name);
    write(&path("a.csv"), "y,x\n0,1\n1,2\n0,4\n");
    write(&path("b.csv"), "y,x\n1,low\n0,high\n");
    write(&path("c.csv"), "y,z\n1,2\n");
    write(&path("d.csv"), "y,x,z\n1,2,3\n");
    write(&path("e.csv"), "y,x\n");
    write(&path("f.csv"), "");
    write(&path("g.csv"), "y,x\n1,5\n0,oops\n");
    parquet(&path("h.parquet"), &["y", "x"], &[vec![0.0, 1.0], vec![1.0, 2.0]]);
    parquet(&path("i.parquet"), &["y", "x"], &[vec![], vec![]]);
    let all = |names: &[&str]| {
        let paths: Vec<PathBuf> = names.iter().map(|name| path(name)).collect();
        open_all(&paths, &OpenOptions::default()).and_then(|source| loaded(&source, &CodingOptions::new("y")))
    };
    for (names, words) in [
        (&["a.csv", "b.csv"][..], &["b.csv", "`x`", "holds text, but numbers in", "a.csv"][..]),
        (&["h.parquet", "b.csv"], &["b.csv", "`x`", "holds text, but numbers in", "h.parquet"]),
        (&["a.csv", "c.csv"], &["c.csv", "no column `x`", "a.csv"]),
        (&["a.csv", "d.csv"], &["d.csv", "a column `z`", "a.csv"]),
        (&["a.csv", "e.csv"], &["e.csv", "no rows"]),
        (&["a.csv", "f.csv"], &["f.csv", "empty"]),
        (&["h.parquet", "i.parquet"], &["i.parquet", "no rows"]),
        (&["a.csv", "a.csv"], &["a.csv", "listed twice"]),
        (&["a.csv", "g.csv"], &["g.csv", "`x`, row 2 (line 3)", "`oops`"]),
        (&["nothing-*.csv"], &["nothing-*.csv", "matches no file"]),
    ] {
        let said = message(all(names));
        words.iter().for_each(|word| assert!(said.contains(word), "{names:?}: {word}: {said}"));
    }
    // Errors found by the checks of the data name file and row, too.
    write(&path("w1.csv"), "y,x,w\n0,1,1\n1,2,1\n");
    write(&path("w2.csv"), "y,x,w\n0,3,1\n1,9,0\n");
    let weighted = CodingOptions { weights: Some("w".into()), ..CodingOptions::new("y") };
    let said = message(loaded(&open(path("w?.csv")).unwrap(), &weighted));
    assert!(said.contains("w2.csv") && said.contains("`w`, row 2"), "{said}");
}

/// The line of a row, in which some cells are missing.
fn with_holes(i: usize) -> String {
    let cells: Vec<String> = line(i).split(',').map(ToString::to_string).collect();
    let hole = |j: usize| match j {
        1 => i % 97 == 3,
        3 => i % 131 == 7 || i == 0,
        _ => false,
    };
    let cells: Vec<String> =
        cells.into_iter().enumerate().map(|(j, cell)| if hole(j) { String::new() } else { cell }).collect();
    cells.join(",")
}

#[test]
fn dropped_rows_leave_the_bits_of_the_table_without_them() {
    let folder = Folder::new("parts-missing");
    let (holes, clean) = (folder.path("holes"), folder.path("clean.csv"));
    write(&holes.join("1.csv"), &csv_of(0..5_000, with_holes));
    write(&holes.join("2.csv"), &csv_of(5_000..ROWS, with_holes));
    let whole = |i: &usize| !with_holes(*i).split(',').any(str::is_empty);
    let rows: Vec<usize> = (0..ROWS).filter(whole).collect();
    write(&clean, &csv_of(0..rows.len(), |at| line(rows[at])));

    let refused = message(loaded(&open(&holes).unwrap(), &CodingOptions::new("y")));
    assert!(refused.contains("1.csv`, column `city`, row 1") && refused.contains("missing"), "{refused}");
    let options = CodingOptions { missing: Missing::Drop, ..CodingOptions::new("y") };
    let found = loaded(&open(&holes).unwrap(), &options).unwrap();
    same(&found, &loaded(&open(&clean).unwrap(), &options).unwrap());
    let dropped = found.dropped.unwrap();
    let count = |of: fn(usize) -> bool| (0..ROWS).filter(|&i| of(i)).count();
    let (dense, city) = (count(|i| i % 97 == 3), count(|i| i % 131 == 7 || i == 0));
    assert_eq!((dropped.rows, dropped.of), (ROWS - rows.len(), ROWS));
    assert_eq!(dropped.columns, [("dense".to_owned(), dense), ("city".to_owned(), city)]);
    let said = found.notes.iter().find(|note| note.contains("were dropped")).unwrap();
    assert!(said.contains(&format!("{dense} in `dense`, {city} in `city`")), "{said}");
    // A formula learns of the rows that stay.
    let formula =
        CodingOptions { missing: Missing::Drop, ..CodingOptions::of_formula("y ~ poly(dense, 2) + C(city)") };
    same(
        &loaded(&open(&holes).unwrap(), &formula).unwrap(),
        &loaded(&open(&clean).unwrap(), &formula).unwrap(),
    );
    // A column that is not used may miss what it likes.
    let narrow = CodingOptions { features: Some(vec!["rare".into()]), ..CodingOptions::new("y") };
    assert_eq!(loaded(&open(&holes).unwrap(), &narrow).unwrap().store.rows(), ROWS);
    // Rows are named as they are numbered in their file.
    write(&folder.path("w.csv"), "y,x,w\n0,,1\n0,1,1\n1,2,1\n1,,3\n0,7,-1\n");
    let weighted =
        CodingOptions { weights: Some("w".into()), missing: Missing::Drop, ..CodingOptions::new("y") };
    let said = message(loaded(&open(folder.path("w.csv")).unwrap(), &weighted));
    assert!(said.contains("`w`, row 5"), "{said}");
    write(&folder.path("none.csv"), "y,x\n0,\n,1\n");
    let said = message(loaded(&open(folder.path("none.csv")).unwrap(), &options_drop()));
    assert!(said.contains("every one of its 2 rows"), "{said}");
}

fn options_drop() -> CodingOptions {
    CodingOptions { missing: Missing::Drop, ..CodingOptions::new("y") }
}

#[test]
fn missing_numbers_of_parquet_and_text_are_dropped_alike() {
    let folder = Folder::new("parts-missing-parquet");
    let (a, b) = (folder.path("a.parquet"), folder.path("b.csv"));
    let mut columns = numbers(0..3_000);
    let names = NAMES.map(String::from);
    let csv = |columns: &[Vec<f64>]| {
        write_csv(&b, &names, &columns.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    };
    csv(&columns);
    let wanted = loaded(&open(&b).unwrap(), &CodingOptions::new("y")).unwrap();
    same(&loaded(&open(&b).unwrap(), &options_drop()).unwrap(), &wanted);
    // Every 50th number of one column is null; the text file goes without these rows.
    columns[3].iter_mut().step_by(50).for_each(|value| *value = f64::NAN);
    let fields = NAMES.map(Field::double_or_missing).to_vec();
    let mut writer = TableWriter::create(&a, fields).unwrap();
    writer.write(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();
    let kept: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| (0..3_000).filter(|i| i % 50 != 0).map(|i| column[i]).collect())
        .collect();
    csv(&kept);
    let wanted = loaded(&open(&b).unwrap(), &CodingOptions::new("y")).unwrap();
    for threads in [1, 3] {
        let opening = OpenOptions { threads: Some(threads), ..OpenOptions::default() };
        let found = loaded(&open_with(&a, &opening).unwrap(), &options_drop()).unwrap();
        same(&found, &wanted);
        assert_eq!(found.dropped.unwrap().columns, [("c".to_owned(), 60)]);
    }
}
