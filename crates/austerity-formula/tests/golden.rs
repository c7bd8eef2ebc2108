//! Columns as formulaic makes them: `golden.py` wrote `golden.json` with it.

use austerity_formula::{Basis, Factor, Formula, Kind, Learner, Step, Trouble};

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

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The basis of the first factor of a formula, learnt from values in so many parts.
fn learnt(text: &str, values: &[f64], parts: usize) -> Basis {
    let formula = Formula::parse(&format!("y ~ {text}")).unwrap().expand(&[]).unwrap();
    let mut step = Learner::begin(&formula.factors[0]);
    loop {
        match step {
            Step::Done(basis) => return basis,
            Step::Again(learner) => {
                let mut all = learner.partial();
                for part in values.chunks(values.len().div_ceil(parts)) {
                    let mut partial = learner.partial();
                    part.iter().for_each(|x| learner.add(&mut partial, *x));
                    all.merge(partial);
                }
                step = learner.advance(all).unwrap();
            }
        }
    }
}

#[test]
fn values_are_those_of_formulaic_in_any_cut() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("golden.json")).unwrap();
    for entry in golden["values"].as_array().unwrap() {
        let text = entry["factor"].as_str().unwrap();
        let values = numbers(&golden["table"][if text.contains("(n") { "n" } else { "x" }]);
        let wanted: Vec<Vec<f64>> = entry["columns"].as_array().unwrap().iter().map(numbers).collect();
        for parts in [1, 5] {
            let basis = learnt(text, &values, parts);
            assert_eq!(basis.width(), wanted.len(), "{text}");
            let mut row = vec![0.0; basis.width()];
            for (place, x) in values.iter().enumerate() {
                basis.write(*x, &mut row);
                for (column, (ours, theirs)) in row.iter().zip(wanted.iter().map(|c| c[place])).enumerate() {
                    assert!(
                        (ours - theirs).abs() < 1e-10,
                        "{text}[{}] at {x}: {ours} against {theirs}",
                        column + 1
                    );
                }
            }
        }
    }
}

#[test]
fn splines_go_on_smoothly_beyond_the_data() {
    let values: Vec<f64> = (0..=100).map(|i| f64::from(i) / 100.0).collect();
    for (text, straight) in [("bs(x, 5)", false), ("cr(x, 5)", true), ("poly(x, 3)", false)] {
        let basis = learnt(text, &values, 1);
        let at = |x: f64| {
            let mut row = vec![0.0; basis.width()];
            basis.write(x, &mut row);
            row
        };
        for end in [0.0, 1.0] {
            let (before, here, after) = (at(end - 1e-5), at(end), at(end + 1e-5));
            for ((before, here), after) in before.iter().zip(&here).zip(&after) {
                // The slope has no jump.
                assert!((after - 2.0 * here + before).abs() < 1e-7, "{text} at {end}");
            }
        }
        let (one, two, three) = (at(1.5), at(2.0), at(2.5));
        let bend =
            one.iter().zip(&two).zip(&three).map(|((a, b), c)| (a - 2.0 * b + c).abs()).fold(0.0, f64::max);
        assert_eq!(bend < 1e-9, straight, "{text}: {bend}");
    }
}

#[test]
fn a_stored_basis_gives_the_same_bits() {
    let values: Vec<f64> = (0..200).map(|i| (f64::from(i) * 0.7).sin() * 3.0 + 4.0).collect();
    for text in ["scale(x)", "poly(x, 4)", "bs(x, 6)", "cr(x, 4)", "poly(x, 2, raw=1)"] {
        let basis = learnt(text, &values, 3);
        let stored: Basis = serde_json::from_str(&serde_json::to_string(&basis).unwrap()).unwrap();
        let (mut ours, mut again) = (vec![0.0; basis.width()], vec![0.0; basis.width()]);
        for x in [-3.0, 0.1, 4.0, 12.0] {
            basis.write(x, &mut ours);
            stored.write(x, &mut again);
            assert_eq!(ours, again, "{text}");
        }
    }
}

#[test]
fn columns_that_cannot_have_a_basis_say_why() {
    let trouble = |text: &str, values: &[f64]| {
        let formula = Formula::parse(&format!("y ~ {text}")).unwrap().expand(&[]).unwrap();
        let mut step = Learner::begin(&formula.factors[0]);
        while let Step::Again(learner) = step {
            let mut partial = learner.partial();
            values.iter().for_each(|x| learner.add(&mut partial, *x));
            match learner.advance(partial) {
                Ok(next) => step = next,
                Err(trouble) => return Some(trouble),
            }
        }
        None
    };
    assert_eq!(trouble("scale(x)", &[]), Some(Trouble::Empty));
    assert_eq!(trouble("scale(x)", &[2.0, 2.0]), Some(Trouble::Constant));
    assert_eq!(trouble("poly(x, 3)", &[1.0, 2.0, 3.0, 1.0]), Some(Trouble::FewDistinct));
    assert_eq!(trouble("poly(x, 2)", &[1.0, 2.0, 3.0, 1.0]), None);
    assert_eq!(trouble("bs(x, 6)", &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), Some(Trouble::FewDistinct));
    assert_eq!(
        trouble("bs(x, knots=[5])", &[1.0, 2.0, 3.0]),
        Some(Trouble::KnotOutside { knot: 5.0, low: 1.0, high: 3.0 })
    );
}
