//! What formulas mean beside their columns: responses, offsets, weights, group terms, arithmetic.

use austerity_formula::{Arithmetic, Expanded, Formula, Kind, ResponseRole};

fn expanded(text: &str, columns: &[&str]) -> Expanded {
    Formula::parse(text).and_then(|formula| formula.expand(columns)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn responses_offsets_and_weights_have_their_roles() {
    let formula = expanded("successes | trials(n) ~ x + offset(log(t)) + weights(w)", &[]);
    assert_eq!(formula.response.value, Arithmetic::Column("successes".into()));
    assert_eq!(formula.response.role, ResponseRole::Trials(Arithmetic::Column("n".into())));
    assert_eq!(formula.offsets[0].to_string(), "log(t)");
    assert_eq!(formula.weights.as_ref().unwrap().to_string(), "w");
    assert_eq!(formula.columns(), ["n", "successes", "t", "w", "x"]);
    let formula = expanded("time | cens(event) + weights(w) ~ x", &[]);
    assert_eq!(formula.response.role, ResponseRole::Event(Arithmetic::Column("event".into())));
    assert!(formula.weights.is_some());
}

#[test]
fn a_dot_is_every_column_without_another_role() {
    let columns = ["y", "x", "n", "w", "g", "my column"];
    let formula = expanded("y ~ . + offset(n) + weights(w) + (1 | g)", &columns);
    let coded = formula.coding(|_| Kind::Number).unwrap();
    assert_eq!(coded.names(), ["intercept", "x", "my column"]);
    assert_eq!(
        expanded("y ~ `my column`:x", &columns).coding(|_| Kind::Number).unwrap().names(),
        ["intercept", "my column:x"]
    );
}

#[test]
fn group_terms_are_read() {
    let formula = expanded("y ~ x + (1 + x | g) + (z || h) + (1 | a/b) + (0 + x | a:b)", &[]);
    let groups: Vec<(Vec<&str>, bool, bool, usize)> = formula
        .groups
        .iter()
        .map(|group| {
            let by = group.by.iter().map(String::as_str).collect();
            (by, group.correlated, group.effects.intercept(), group.effects.0.len())
        })
        .collect();
    assert_eq!(
        groups,
        [
            (vec!["g"], true, true, 2),
            (vec!["h"], false, true, 2),
            (vec!["a"], true, true, 1),
            (vec!["a", "b"], true, true, 1),
            (vec!["a", "b"], true, false, 1),
        ]
    );
    assert_eq!(formula.terms.0.len(), 2);
}

#[test]
fn arithmetic_is_that_of_mathematics() {
    for (text, value) in [
        ("I(x^2 + 1)", 10.0),
        ("I(-x^2)", -9.0),
        ("I(2^x^2)", 512.0),
        ("I((x + z)*2 - x/z)", 8.5),
        ("I(x - z - 1)", 0.0),
        ("I(x / z / 3)", 0.5),
        ("I(2 * -x + 1)", -5.0),
        ("sqrt(abs(-x - 6))", 3.0),
        ("log(exp(x))", 3.0),
        ("I(1.5e1 + .5)", 15.5),
    ] {
        let formula = expanded(&format!("{} ~ 1", text.trim_start_matches("I")), &[]);
        let value_of = |name: &str| if name == "x" { 3.0 } else { 2.0 };
        let found = formula.response.value.evaluate(&value_of);
        assert!((found - value).abs() < 1e-12, "{text}: {found}");
        // What is printed means the same.
        let printed = expanded(&format!("{} ~ 1", formula.response.value), &[]);
        assert_eq!(printed.response.value, formula.response.value, "{text}");
    }
}

#[test]
fn an_expanded_formula_survives_storage() {
    let formula = expanded("y ~ C(a, reference=\"v\")*bs(x, 5) + poly(log(z), 2) + (x | g)", &[]);
    let stored = serde_json::to_string(&formula).unwrap();
    assert_eq!(serde_json::from_str::<Expanded>(&stored).unwrap(), formula);
}

#[test]
fn levels_have_columns_without_data() {
    let formula = expanded("y ~ x*a", &[]);
    let coded = formula
        .coding(|factor| if factor.name() == "a" { Kind::levels(["u", "v", "w"]) } else { Kind::Number })
        .unwrap();
    let last = coded.blocks.last().unwrap();
    let coding = &last.parts[1].coding;
    assert_eq!((0..3).map(|level| coding.column_of(level)).collect::<Vec<_>>(), [None, Some(0), Some(1)]);
    assert_eq!(last.width(), 2);
}
