//! Columns as formulaic makes them: `golden.py` wrote `golden.json` with it.

use austerity_formula::{Factor, Formula, Kind};

/// The columns of the table of `golden.py`, in order.
const COLUMNS: [&str; 7] = ["y", "x", "z", "n", "a", "b", "c"];

fn kind(factor: &Factor) -> Kind {
    let (Factor::Column(column) | Factor::Levels { column, .. }) = factor else { return Kind::Number };
    match (column.as_str(), factor) {
        ("a", _) => Kind::levels(["u", "v", "w"]),
        ("b", _) => Kind::levels(["p", "q", "r"]),
        ("c", _) => Kind::levels(["no", "yes"]),
        ("n", Factor::Levels { .. }) => Kind::levels(["0", "1", "2", "3"]),
        _ => Kind::Number,
    }
}

#[test]
fn columns_are_those_of_formulaic() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("golden.json")).unwrap();
    let formulas = golden["formulas"].as_array().unwrap();
    let mut wrong = Vec::new();
    for entry in formulas {
        let text = entry["formula"].as_str().unwrap();
        let expanded = Formula::parse(text).and_then(|formula| formula.expand(&COLUMNS));
        let expanded = expanded.unwrap_or_else(|error| panic!("{error}"));
        let ours = expanded.coding(kind).unwrap();
        let ours: Vec<String> = ours.names().iter().map(|name| name.replace(' ', "")).collect();
        let theirs: Vec<&str> =
            entry["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
        if ours != theirs {
            wrong.push(format!("{text}\n  ours   {ours:?}\n  theirs {theirs:?}"));
        }
    }
    assert!(formulas.len() >= 60, "{}", formulas.len());
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), formulas.len(), wrong.join("\n"));
}

#[test]
fn no_column_is_redundant_where_formulaic_finds_full_rank() {
    // cr() without an intercept's constraint, and poly() beside its own powers, are rank deficient in both.
    let golden: serde_json::Value = serde_json::from_str(include_str!("golden.json")).unwrap();
    let deficient: Vec<&str> = golden["formulas"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["rank"].as_u64().unwrap() < entry["columns"].as_array().unwrap().len() as u64)
        .map(|entry| entry["formula"].as_str().unwrap())
        .collect();
    assert_eq!(deficient, ["y ~ cr(x, df=4)"]);
}
