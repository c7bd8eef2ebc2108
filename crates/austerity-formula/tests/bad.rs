//! Formulas that cannot be used: one sentence each, and the character where it is.

use austerity_formula::{Formula, Kind};
use proptest::prelude::*;

#[track_caller]
fn refused(text: &str, character: usize, words: &str) {
    let Err(error) = Formula::parse(text) else { panic!("{text} was not refused") };
    let sentence = error.problem.to_string();
    assert!(sentence.contains(words), "{text}: {sentence}");
    assert_eq!(error.position + 1, character, "{text}: {error}");
}

#[test]
fn errors_point_at_the_character() {
    refused("", 1, "expected a column");
    refused("x + z", 1, "a formula is `response ~ terms`");
    refused("y ~ ", 5, "but the formula ends");
    refused("y ~ x +", 8, "but the formula ends");
    refused("y ~ x z", 7, "expected an operator such as + or :, found `z`");
    refused("y ~ (x + z", 11, "expected `)`, but the formula ends");
    refused("y ~ x)", 6, "expected an operator");
    refused("y ~ x $ z", 7, "`$` has no meaning");
    refused("y ~ C(a, reference=\"v)", 20, "is never closed");
    refused("y ~ `my column", 5, "is never closed");
    refused("y ~ x + 2", 9, "is no term");
    refused("y ~ x^z", 7, "the power of terms");
    refused("y ~ x^0", 7, "the power of terms");
    refused("y ~ lgo(x)", 5, "did you mean `log`?");
    refused("y ~ smooth(x)", 5, "there is no function `smooth`");
    refused("y ~ x + log(x:z)", 15, "joins terms");
    refused("y ~ log(x, z)", 5, "`log` takes one number");
    refused("y ~ poly(x)", 5, "`poly` takes a column and a degree");
    refused("y ~ poly(x, 0)", 5, "`poly` takes");
    refused("y ~ bs(x, 2)", 5, "at least `degree` columns");
    refused("y ~ bs(x, knots=[2, 1])", 5, "knots in increasing order");
    refused("y ~ bs(x, width=2)", 5, "`bs` takes");
    refused("y ~ C(x + z)", 5, "`C` takes a column");
    refused("y ~ x | g", 9, "a group term stands in brackets");
    refused("y ~ x:(1 | g)", 7, "can only be added");
    refused("y ~ x:offset(n)", 7, "is added once");
    refused("y ~ weights(n) + weights(m)", 18, "is added once");
    refused("y | trials(n) + cens(e) ~ x", 17, "the response is");
    refused("y ~ x ~ z", 5, "the response is");
    refused("y ~ \"x\"", 5, "expected");
}

#[test]
fn long_and_deep_formulas_are_refused_in_one_sentence() {
    let long = format!("y ~ {}", vec!["x"; 5_000].join(" + "));
    assert!(Formula::parse(&long).unwrap_err().to_string().contains("at most 8192 characters"));
    let deep = format!("y ~ {}x{}", "(".repeat(1_000), ")".repeat(1_000));
    assert!(Formula::parse(&deep).unwrap_err().to_string().contains("nested at most 64 deep"));
    for text in [format!("y ~ {}x", "-".repeat(2_000)), format!("y ~ x{}", "^2".repeat(2_000))] {
        assert!(Formula::parse(&text).unwrap_err().to_string().contains("nested at most 64 deep"));
    }
    let many: Vec<String> = (0..40).map(|number| format!("x{number}")).collect();
    let many = format!("y ~ ({})^6", many.join(" + "));
    assert!(Formula::parse(&many).unwrap_err().to_string().contains("more than 10000 terms"));
}

#[test]
fn the_message_shows_the_place() {
    let error = Formula::parse("delayed ~ distance + lgo(n)").unwrap_err();
    assert_eq!(
        error.to_string(),
        "formula, character 22: there is no function `lgo`; did you mean `log`?\n  delayed ~ distance + lgo(n)\n                       ^"
    );
}

#[test]
fn levels_that_do_not_fit_are_named() {
    let coded = |text: &str, levels: &[&str]| {
        let levels: Vec<&str> = levels.to_vec();
        Formula::parse(text)
            .unwrap()
            .expand(&[])
            .unwrap()
            .coding(|_| Kind::levels(levels.clone()))
            .unwrap_err()
            .problem
            .to_string()
    };
    assert_eq!(coded("y ~ city", &["Bonn"]), "city has 1 level; a factor needs two or more");
    assert_eq!(
        coded("y ~ C(city, reference=\"Bon\")", &["Bonn", "Rome"]),
        "C(city) has no level \"Bon\"; did you mean \"Bonn\"?"
    );
    assert_eq!(
        coded("y ~ C(city) + C(city, reference=\"Rome\") + x", &["Bonn", "Rome", "York"]),
        "two terms both make the column C(city)[York]; leave one out"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(text in "[yxzab~+*:/^()|.,0-9=\"` \\-]{0,60}") {
        let _ = Formula::parse(&text).map(|formula| formula.expand(&["y", "x", "z"]));
    }

    #[test]
    fn nothing_panics_on_any_text(text in "\\PC{0,60}") {
        let _ = Formula::parse(&text);
    }
}
