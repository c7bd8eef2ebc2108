//! From a file to a mode: generated data written, read, coded and fitted.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::Folder;
use austerity::model::find_mode;
use austerity_glm::{Glm, Logistic, Prior, ResponseKind};
use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, Loaded, load};
use austerity_io::table::open;

const ROWS: usize = 4000;

/// Text with a categorical column, a column far from 0 and a response in words.
fn text() -> String {
    let mut state = 7_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut text = String::from("bought;colour;income\n");
    for _ in 0..ROWS {
        let income = 50_000.0 + 10_000.0 * (uniform() + uniform() + uniform() - 1.5);
        let (colour, effect) = match uniform() {
            u if u < 0.5 => ("red", 0.0),
            u if u < 0.8 => ("blue", 1.0),
            _ => ("green", -1.0),
        };
        let predictor = effect + (income - 50_000.0) / 5000.0;
        let bought = uniform() < 1.0 / (1.0 + f64::exp(-predictor));
        text.push_str(&format!("{};{colour};{income:.2}\n", if bought { "yes" } else { "no" }));
    }
    text
}

fn mode(loaded: &Loaded) -> Vec<f64> {
    let coefficients = loaded.store.coefficients();
    let model = Glm::from_store(Logistic, loaded.store.clone(), vec![Prior::Flat; coefficients]).unwrap();
    find_mode(&model, &vec![0.0; coefficients]).unwrap().state
}

#[test]
fn the_mode_is_the_same_on_either_scale_and_near_the_truth() {
    let folder = Folder::new("to-model");
    let source = open(folder.file("sales.csv", text())).unwrap();
    let plain = CodingOptions::new("bought");
    let standard = CodingOptions { standardize: true, ..plain.clone() };
    let plain = load(&source, &plain, Some(ResponseKind::Binary), 1, &LoadOptions::default()).unwrap();
    let standard = load(&source, &standard, None, 1, &LoadOptions::default()).unwrap();
    assert_eq!(plain.recipe.coefficient_names(), ["intercept", "colour=blue", "colour=green", "income"]);

    let direct = mode(&plain);
    let mut taken_back = mode(&standard);
    standard.recipe.to_original(&mut taken_back);
    for ((name, a), b) in plain.recipe.coefficient_names().iter().zip(&direct).zip(&taken_back) {
        assert!((a - b).abs() < 1e-3 * a.abs(), "{name}: {a} and {b}");
    }
    // Within five standard errors (0.08 for a level, 0.035 for income per 5000) of the truth.
    for (found, truth, tolerance) in
        [(direct[1], 1.0, 0.45), (direct[2], -1.0, 0.5), (direct[3] * 5000.0, 1.0, 0.2)]
    {
        assert!((found - truth).abs() < tolerance, "{found} is far from {truth}");
    }
}
