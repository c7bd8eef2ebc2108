//! Codings, levels, roles and refusals on small tables in memory.

use super::*;
use crate::coding::{MOST_LEVELS, ResponseCoding};
use crate::table::{Column, Table};

fn numbers(values: &[f64]) -> Column {
    Column::Numbers(values.to_vec())
}

fn text(cells: &[&str]) -> Column {
    let mut labels: Vec<String> = Vec::new();
    let codes = cells
        .iter()
        .map(|cell| {
            let known = labels.iter().position(|label| label == cell);
            known.unwrap_or_else(|| {
                labels.push((*cell).into());
                labels.len() - 1
            }) as u32
        })
        .collect();
    Column::Levels { codes, labels }
}

fn table(columns: &[(&str, Column)]) -> Table {
    Table {
        file: "data.csv".into(),
        names: columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
        rows: columns[0].1.len(),
        columns: columns.iter().map(|(_, column)| column.clone()).collect(),
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A small table with one column of each sort.
fn small() -> Table {
    table(&[
        ("y", numbers(&[0.0, 1.0, 1.0, 0.0])),
        ("age", numbers(&[20.0, 30.0, 40.0, 50.0])),
        ("colour", text(&["red", "blue", "red", "green"])),
    ])
}

/// What was loaded, with its columns back in the order and on the scale of the design.
struct Design {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    response: Vec<f64>,
    recipe: Recipe,
    notes: Vec<String>,
    warnings: Vec<String>,
    store: Store,
}

fn design(table: Table, options: &CodingOptions, kind: Option<ResponseKind>) -> Result<Design> {
    let loaded = load(&Source::of_table(table), options, kind, 5, &LoadOptions::default())?;
    let (store, description) = (&loaded.store, loaded.store.description());
    let rows = store.rows();
    let restored = |column: usize, shift: f64, scale: f64| {
        let mut values = vec![0.0; rows];
        for position in 0..rows {
            // Single precision keeps the small numbers of these tables to 5 digits and more.
            let value = f64::from(store.blocks().value(position, column)) * scale + shift;
            values[store.original_row(position)] = (value * 1e5).round() / 1e5;
        }
        values
    };
    let columns = description.columns.iter().enumerate();
    let mut response = restored(description.columns.len(), description.response_shift, 1.0);
    if description.kind == ResponseKind::Binary {
        response.iter_mut().for_each(|y| *y = (*y + 1.0) / 2.0);
    }
    Ok(Design {
        names: description.columns.iter().map(|column| column.name.clone()).collect(),
        columns: columns.map(|(j, c)| restored(j, c.transform.shift, c.transform.scale)).collect(),
        response,
        recipe: loaded.recipe.clone(),
        notes: loaded.notes.clone(),
        warnings: loaded.warnings.clone(),
        store: loaded.store.clone(),
    })
}

fn binary(table: Table, options: &CodingOptions) -> Result<Design> {
    design(table, options, Some(ResponseKind::Binary))
}

fn refused(table: Table, options: &CodingOptions, kind: ResponseKind, words: &[&str]) -> Error {
    let error = design(table, options, Some(kind)).err().unwrap();
    let message = error.to_string();
    for word in words.iter().chain(&["data.csv"]) {
        assert!(message.contains(word), "{word:?} is missing from: {message}");
    }
    error
}

#[test]
fn levels_are_one_hot_with_the_most_frequent_as_reference() {
    let design = binary(small(), &CodingOptions::new("y")).unwrap();
    assert_eq!(design.names, ["age", "colour=blue", "colour=green"]);
    assert_eq!(design.columns[1], [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(design.columns[2], [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(design.recipe.coefficient_names()[0], "intercept");
    assert!(design.notes[0].contains("reference is the most frequent, `red` (2 rows)"), "{:?}", design.notes);
    assert!(design.warnings.is_empty());
}

#[test]
fn without_an_intercept_the_first_categorical_keeps_every_level() {
    let mut given = small();
    given.names.push("shape".into());
    given.columns.push(text(&["a", "b", "b", "a"]));
    let options = CodingOptions { intercept: false, ..CodingOptions::new("y") };
    let design = binary(given, &options).unwrap();
    assert_eq!(design.names, ["age", "colour=blue", "colour=green", "colour=red", "shape=b"]);
}

#[test]
fn numbers_become_levels_on_request_in_numeric_order() {
    let given = table(&[("y", numbers(&[0.0, 1.0, 1.0, 0.0])), ("month", numbers(&[10.0, 9.0, 10.0, 2.0]))]);
    let options = CodingOptions { categorical: strings(&["month"]), ..CodingOptions::new("y") };
    let design = binary(given, &options).unwrap();
    assert_eq!(design.names, ["month=2", "month=9"]);
}

#[test]
fn responses_become_zero_and_one() {
    let options = CodingOptions::new("y");
    let coded = |y: Column| {
        binary(table(&[("y", y), ("x", numbers(&[1.0, 2.0, 3.0]))]), &options)
            .map(|design| (design.response, design.recipe.coding, design.notes, design.warnings))
    };
    let (y, coding, notes, _) = coded(numbers(&[0.0, 1.0, 1.0])).unwrap();
    assert_eq!((y, coding, notes.len()), (vec![0.0, 1.0, 1.0], ResponseCoding::AsGiven, 0));
    let (y, _, notes, _) = coded(numbers(&[1.0, -1.0, 1.0])).unwrap();
    assert_eq!((y, notes.len()), (vec![1.0, 0.0, 1.0], 1));
    let (y, _, notes, _) = coded(numbers(&[2.0, 1.0, 1.0])).unwrap();
    assert_eq!(y, [1.0, 0.0, 0.0]);
    assert!(notes[0].contains("1 as 0, 2 as 1"), "{notes:?}");
    for cells in [["yes", "no", "yes"], ["no", "yes", "no"]] {
        let (y, coding, notes, _) = coded(text(&cells)).unwrap();
        assert_eq!(y, cells.map(|cell| f64::from(u8::from(cell == "yes"))));
        assert_eq!(coding, ResponseCoding::TwoTexts { zero: "no".into(), one: "yes".into() });
        assert!(notes[0].contains("`no` as 0, `yes` as 1"), "{notes:?}");
    }
    let (_, _, _, warnings) = coded(numbers(&[1.0, 1.0, 1.0])).unwrap();
    assert!(warnings[0].contains("`y` is 1 in every row"), "{warnings:?}");
}

#[test]
fn responses_that_cannot_be_coded() {
    let options = CodingOptions::new("y");
    let with = |y: Column| table(&[("y", y), ("x", numbers(&[1.0, 2.0, 3.0]))]);
    let binary = ResponseKind::Binary;
    refused(with(numbers(&[1.0, 2.0, 3.0])), &options, binary, &["`y`, row 3", "3 is a third value"]);
    refused(with(text(&["a", "b", "c"])), &options, binary, &["`y`, row 3", "`c` is a third text"]);
    refused(with(numbers(&[7.0, 7.0, 7.0])), &options, binary, &["7 in every row", "nothing to explain"]);
    refused(with(text(&["a", "a", "a"])), &options, binary, &["`a` in every row"]);
    refused(with(numbers(&[2.0; 3])), &options, ResponseKind::Real, &["2 in every row"]);
    refused(with(text(&["a", "b", "a"])), &options, ResponseKind::Real, &["text such as `a`"]);
    refused(with(numbers(&[1.0, 2.5, 3.0])), &options, ResponseKind::Count, &["`y`, row 2", "2.5", "count"]);
}

#[test]
fn weights_trials_and_offsets_are_checked_with_their_row() {
    let given = |w: &[f64]| {
        table(&[
            ("y", numbers(&[1.0, 2.0, 3.0])),
            ("w", numbers(w)),
            ("n", numbers(&[3.0, 3.0, 3.0])),
            ("o", numbers(&[0.5, 0.0, 0.1])),
        ])
    };
    let options = CodingOptions {
        weights: Some("w".into()),
        trials: Some("n".into()),
        offset: Some("o".into()),
        ..CodingOptions::new("y")
    };
    let kind = ResponseKind::CountOfTrials;
    let design = design(given(&[1.0, 2.0, 5.0]), &options, Some(kind)).unwrap();
    assert!(design.names.is_empty());
    let place = |row: usize| (0..3).find(|&position| design.store.original_row(position) == row).unwrap();
    let offset_shift = design.store.description().offset_shift;
    for (row, (weight, offset)) in [(1.0, 0.5), (2.0, 0.0), (5.0, 0.1)].into_iter().enumerate() {
        let stored = |column: usize| f64::from(design.store.blocks().value(place(row), column));
        assert_eq!((stored(1), stored(3)), (3.0, weight));
        assert!((stored(2) + offset_shift - offset).abs() < 1e-7);
    }
    refused(given(&[1.0, 0.0, 5.0]), &options, kind, &["`w`, row 2", "positive"]);
    let mut few = given(&[1.0; 3]);
    few.columns[2] = numbers(&[3.0, 1.0, 3.0]);
    refused(few, &options, kind, &["`y`, row 2", "2", "at most the row's trials"]);
    let mut words = given(&[1.0; 3]);
    words.columns[3] = text(&["a", "b", "a"]);
    refused(words, &options, kind, &["`o`", "text such as `a`"]);
}

#[test]
fn roles_that_contradict_each_other() {
    let new = || CodingOptions::new("y");
    let kind = ResponseKind::Binary;
    let features = |names: &[&str]| CodingOptions { features: Some(strings(names)), ..new() };
    refused(small(), &features(&["age", "y"]), kind, &["`y`", "response and as a feature"]);
    refused(small(), &features(&["age", "age"]), kind, &["`age`", "twice"]);
    refused(small(), &features(&["agee"]), kind, &["no column `agee`", "did you mean `age`?"]);
    refused(small(), &CodingOptions::new("Y"), kind, &["did you mean `y`?"]);
    refused(
        small(),
        &CodingOptions { weights: Some("y".into()), ..new() },
        kind,
        &["response and as weights"],
    );
    let categorical = CodingOptions { categorical: strings(&["colour"]), ..features(&["age"]) };
    refused(small(), &categorical, kind, &["`colour`", "not a feature"]);
    let nothing = CodingOptions { intercept: false, ..features(&[]) };
    refused(small(), &nothing, kind, &["no feature and no intercept"]);
}

#[test]
fn constant_columns_are_left_out_or_refused() {
    let given = || {
        let mut given = small();
        given.columns[1] = numbers(&[0.0; 4]);
        given
    };
    let design = binary(given(), &CodingOptions::new("y")).unwrap();
    assert!(design.warnings[0].contains("`age` was left out: it is 0 in every row"), "{:?}", design.warnings);
    assert_eq!(design.recipe.terms.len(), 1);
    let explicit = CodingOptions { features: Some(strings(&["age"])), ..CodingOptions::new("y") };
    refused(given(), &explicit, ResponseKind::Binary, &["`age`", "0 in every row", "leave it out"]);
    let mut own = small();
    own.columns[1] = numbers(&[1.0; 4]);
    let own_intercept = CodingOptions { intercept: false, ..explicit };
    assert_eq!(binary(own, &own_intercept).unwrap().columns.len(), 1);
}

#[test]
fn too_many_levels() {
    let names: Vec<String> = (0..=MOST_LEVELS).map(|k| format!("id{k}")).collect();
    let cells: Vec<&str> = names.iter().map(String::as_str).collect();
    let y: Vec<f64> = (0..cells.len()).map(|k| (k % 2) as f64).collect();
    let given = table(&[("y", numbers(&y)), ("id", text(&cells))]);
    refused(
        given,
        &CodingOptions::new("y"),
        ResponseKind::Binary,
        &["`id`", "more than 3000 different values"],
    );
}

#[test]
fn standardised_coefficients_go_back() {
    let mut given = small();
    given.names.push("rare".into());
    given.columns.push(numbers(&[0.0, 0.0, 0.0, 8.0]));
    let plain = binary(given.clone(), &CodingOptions::new("y")).unwrap();
    let options = CodingOptions { standardize: true, ..CodingOptions::new("y") };
    let design = binary(given, &options).unwrap();
    let age = &design.columns[0];
    assert!(age.iter().sum::<f64>().abs() < 1e-4);
    assert!((age.iter().map(|v| v * v).sum::<f64>() / 4.0 - 1.0).abs() < 1e-4);
    // The linear predictor is the same with the coefficients on either scale.
    let standard = vec![0.3, -1.2, 0.7, 0.1, 2.0];
    let mut original = standard.clone();
    design.recipe.to_original(&mut original);
    for row in 0..4 {
        let predictor = |design: &Design, coefficients: &[f64]| {
            let columns = design.columns.iter().zip(&coefficients[1..]);
            coefficients[0] + columns.map(|(column, b)| column[row] * b).sum::<f64>()
        };
        let difference = predictor(&design, &standard) - predictor(&plain, &original);
        assert!(difference.abs() < 1e-3, "row {row}: {difference}");
    }
}

#[test]
fn rare_columns_keep_their_zeros() {
    let mut x = vec![0.0; 40];
    x[3] = 5.0;
    let y: Vec<f64> = (0..40).map(|k| f64::from(k % 2)).collect();
    let options = CodingOptions { standardize: true, ..CodingOptions::new("y") };
    let design = binary(table(&[("y", numbers(&y)), ("x", numbers(&x))]), &options).unwrap();
    assert_eq!(design.columns[0].iter().filter(|&&v| v == 0.0).count(), 39);
    assert!(design.notes[0].contains("scaled but not centred"), "{:?}", design.notes);
}

#[test]
fn a_recipe_survives_json_and_codes_new_rows() {
    let options = CodingOptions { standardize: true, ..CodingOptions::new("y") };
    let design = binary(small(), &options).unwrap();
    let text_form = serde_json::to_string(&design.recipe).unwrap();
    let recipe: Recipe = serde_json::from_str(&text_form).unwrap();
    assert_eq!(recipe, design.recipe);
    let features = recipe.features(&small()).unwrap();
    for (a, b) in features.iter().flatten().zip(design.columns.iter().flatten()) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    assert_eq!(recipe.feature_columns(), ["age", "colour"]);
    assert_eq!(recipe.text_columns(), ["colour"]);

    let new = |colour: Column| table(&[("colour", colour), ("age", numbers(&[35.0, 50.0]))]);
    let features = recipe.features(&new(text(&["green", "red"]))).unwrap();
    assert_eq!(features[0][0], 0.0);
    assert_eq!(features[1..], [vec![0.0, 0.0], vec![1.0, 0.0]]);
    let message = recipe.features(&new(text(&["red", "pink"]))).unwrap_err().to_string();
    for word in ["`colour`, row 2", "`pink` was not there", "red, blue, green"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    let swapped = table(&[("age", text(&["a", "b"])), ("colour", text(&["red", "red"]))]);
    assert!(recipe.features(&swapped).unwrap_err().to_string().contains("fitted to numbers"));
}

#[test]
fn the_kind_of_a_response_is_inferred() {
    let found = |y: Column| {
        let given = table(&[("y", y), ("x", numbers(&[1.0, 2.0, 4.0]))]);
        let design = design(given, &CodingOptions::new("y"), None).unwrap();
        (design.store.description().kind, design.notes.first().cloned().unwrap_or_default())
    };
    assert_eq!(found(numbers(&[0.0, 1.0, 1.0])).0, ResponseKind::Binary);
    assert_eq!(found(numbers(&[-1.0, 1.0, 1.0])).0, ResponseKind::Binary);
    assert_eq!(found(text(&["no", "yes", "no"])).0, ResponseKind::Binary);
    assert_eq!(found(numbers(&[0.5, 1.0, -1.0])), (ResponseKind::Real, String::new()));
    let (kind, note) = found(numbers(&[0.0, 57.0, 3.0]));
    assert_eq!(kind, ResponseKind::Real);
    assert_eq!(note, "`y` holds whole numbers from 0 to 57: a family of counts may suit it better");
    let trials = CodingOptions { trials: Some("n".into()), ..CodingOptions::new("y") };
    let given = table(&[("y", numbers(&[0.0, 2.0, 1.0])), ("n", numbers(&[3.0, 3.0, 1.0]))]);
    let design = design(given, &trials, None).unwrap();
    assert_eq!(design.store.description().kind, ResponseKind::CountOfTrials);
}

#[test]
fn a_named_reference_and_the_order_of_labels_come_before_the_most_frequent_level() {
    let options = |words: &[&str]| CodingOptions { references: strings(words), ..CodingOptions::new("y") };
    let named = binary(small(), &options(&["colour=green"])).unwrap();
    assert_eq!(named.names, ["age", "colour=blue", "colour=red"]);
    assert!(named.notes[0].contains("the reference is `green` (1 rows)"), "{:?}", named.notes);

    let ordered = |options: &CodingOptions| {
        let source = Source::of_table(small()).with_order(strings(&["colour"]), strings(&["a remark"]));
        load(&source, options, Some(ResponseKind::Binary), 5, &LoadOptions::default()).unwrap()
    };
    let first = ordered(&options(&[]));
    // In the order of the labels: red, blue, green.
    assert_eq!(first.store.coefficient_names(), ["intercept", "age", "colour=blue", "colour=green"]);
    assert!(first.notes.contains(&"a remark".to_owned()));
    assert!(
        first.notes.iter().any(|note| note.contains("is the first, `red` (2 rows)")),
        "{:?}",
        first.notes
    );
    let both = ordered(&options(&["colour=blue"]));
    assert_eq!(both.store.coefficient_names(), ["intercept", "age", "colour=red", "colour=green"]);
}

#[test]
fn references_that_cannot_be_are_refused() {
    let options = |words: &[&str]| CodingOptions { references: strings(words), ..CodingOptions::new("y") };
    let kind = ResponseKind::Binary;
    refused(small(), &options(&["colour=pink"]), kind, &["`pink` does not occur", "`blue`, `green`, `red`"]);
    refused(small(), &options(&["colours=red"]), kind, &["colours", "did you mean `colour`"]);
    refused(small(), &options(&["red"]), kind, &["COLUMN=LEVEL"]);
    refused(small(), &options(&["y=1"]), kind, &["not a feature"]);
    refused(small(), &options(&["age=20"]), kind, &["holds numbers", "as categorical"]);
    let full = CodingOptions { intercept: false, ..options(&["colour=red"]) };
    refused(small(), &full, kind, &["without an intercept", "`red`"]);
    let levels = CodingOptions {
        features: Some(strings(&["age"])),
        categorical: strings(&["age"]),
        ..options(&["age=30.0"])
    };
    assert_eq!(binary(small(), &levels).unwrap().names[..3], ["age=20", "age=40", "age=50"]);
}

#[test]
fn the_success_is_the_value_that_is_named() {
    let coded = |y: Column, success: &str| {
        let options = CodingOptions { success: Some(success.into()), ..CodingOptions::new("y") };
        binary(table(&[("y", y), ("x", numbers(&[1.0, 2.0, 3.0]))]), &options)
            .map(|design| (design.response, design.recipe.coding))
    };
    let texts = || text(&["yes", "no", "no"]);
    assert_eq!(coded(texts(), "yes").unwrap().0, [1.0, 0.0, 0.0]);
    assert_eq!(coded(texts(), "no").unwrap().0, [0.0, 1.0, 1.0]);
    let (y, coding) = coded(numbers(&[0.0, 1.0, 1.0]), "0").unwrap();
    assert_eq!((y, coding), (vec![1.0, 0.0, 0.0], ResponseCoding::TwoNumbers { zero: 1.0, one: 0.0 }));
    assert_eq!(coded(numbers(&[0.0, 1.0, 1.0]), "true").unwrap().1, ResponseCoding::AsGiven);
    assert_eq!(coded(numbers(&[2.0, 1.0, 1.0]), "1.0").unwrap().0, [0.0, 1.0, 1.0]);
    let message = coded(texts(), "maybe").err().unwrap().to_string();
    assert!(message.contains("`maybe` does not occur; there are `yes`, `no`"), "{message}");
    let message = coded(numbers(&[0.0, 1.0, 1.0]), "yes").err().unwrap().to_string();
    assert!(message.contains("there are `0`, `1`"), "{message}");
    let real = CodingOptions { success: Some("1".into()), ..CodingOptions::new("age") };
    refused(small(), &real, ResponseKind::Real, &["not one of two values"]);
}

#[test]
fn the_last_of_two_ordered_labels_is_the_success() {
    let given = || table(&[("y", text(&["yes", "no", "no"])), ("x", numbers(&[1.0, 2.0, 3.0]))]);
    let plain = binary(given(), &CodingOptions::new("y")).unwrap();
    assert_eq!(plain.recipe.coding.success(), "yes");
    let source = Source::of_table(given()).with_order(strings(&["y"]), Vec::new());
    let loaded = load(&source, &CodingOptions::new("y"), None, 5, &LoadOptions::default()).unwrap();
    assert_eq!(loaded.recipe.coding, ResponseCoding::TwoTexts { zero: "yes".into(), one: "no".into() });
}
