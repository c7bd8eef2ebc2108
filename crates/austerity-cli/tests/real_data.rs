//! Fits of real data against the mode and curvature of the same posterior: at these sizes the posterior is nearly normal, so means must
//! be within a quarter of an sd of the mode and sds within 15 % of the Laplace approximation.
//!
//! The data are found by `AUSTERITY_DATA` or beside the repository; without them the tests say that they were skipped.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use crate::common::{Scratch, shared_data, text};
use austerity::model::find_mode;
use austerity_glm::{Glm, Logistic, Prior};
use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, load};
use austerity_io::table::{Column, open};
use austerity_io::write::{Field, TableWriter};
use serde_json::Value;

/// Runs the fit and compares it with the mode; `prior` is that of every coefficient but the intercept.
fn near_the_mode(scratch: &Scratch, data: &Path, (response, features): (&str, &[&str]), more: &str) {
    let line = format!(
        "fit {} --response {response} --features {} --prior normal:1 --out run --seed 11 --json {more}",
        data.display(),
        features.join(",")
    );
    let output = scratch.fit(&line);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let trusted = found["trusted"].as_bool().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!trusted)), "{}", text(&output.stderr));
    assert!(trusted || !found["reasons"].as_array().unwrap().is_empty());
    let names: Vec<String> = features.iter().map(ToString::to_string).collect();
    let wanted = CodingOptions { features: Some(names), ..CodingOptions::new(response) };
    let loaded = load(&open(data).unwrap(), &wanted, None, 1, &LoadOptions::default()).unwrap();
    let width = features.len() + 1;
    let mut priors = vec![Prior::normal(1.0); width];
    priors[0] = Prior::normal(10.0);
    let model = Glm::from_store(Logistic, loaded.store, priors).unwrap();
    let mode = find_mode(&model, &vec![0.0; width]).unwrap();
    for (j, parameter) in found["parameters"].as_array().unwrap().iter().enumerate() {
        let laplace = mode.covariance[j * width + j].sqrt();
        let (mean, sd) = (parameter["mean"].as_f64().unwrap(), parameter["sd"].as_f64().unwrap());
        let (off, ratio) = ((mean - mode.state[j]) / laplace, sd / laplace);
        assert!(
            off.abs() < 0.25 && (ratio - 1.0).abs() < 0.15,
            "{}: {off} sds off, sd × {ratio}",
            parameter["name"]
        );
    }
    eprintln!(
        "{}: {} draws, data share {:.3}, {:.1} s and {:.1} s of preparation, trusted: {trusted} {}",
        data.display(),
        found["draws"],
        found["data_share"].as_f64().unwrap(),
        found["seconds"].as_f64().unwrap(),
        found["preparation_seconds"].as_f64().unwrap(),
        found["reasons"]
    );
}

#[test]
fn digits() {
    let Some(folder) = shared_data() else { return eprintln!("skipped: no shared data") };
    let scratch = Scratch::new("digits");
    let names: Vec<String> = (1..=20).map(|j| format!("pc{j}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let file = folder.join("mnist79_pca50_train.parquet");
    near_the_mode(&scratch, &file, ("label", &names), "");
}

#[test]
fn forests() {
    let Some(folder) = shared_data() else { return eprintln!("skipped: no shared data") };
    let scratch = Scratch::new("forests");
    let features =
        ["Elevation", "Slope", "Horizontal_Distance_To_Roadways", "Hillshade_Noon", "Wilderness_Area1"];
    // Class 2 against the rest, elevations in kilometres so that one prior fits all.
    let mut names: Vec<String> = features.iter().map(ToString::to_string).collect();
    names.push("Cover_Type".into());
    let table = open(folder.join("covtype.parquet")).unwrap().read(Some(&names)).unwrap();
    let columns: Vec<Vec<f64>> = names
        .iter()
        .map(|name| match table.column(name).unwrap() {
            Column::Numbers(values) if name == "Cover_Type" => {
                values.iter().map(|&kind| f64::from(u8::from(kind == 2.0))).collect()
            }
            Column::Numbers(values) if name.starts_with("Wilderness") => values.clone(),
            Column::Numbers(values) => values.iter().map(|value| value / 1000.0).collect(),
            Column::Levels { .. } => panic!("{name} is text"),
        })
        .collect();
    let file = scratch.path().join("covtype2.parquet");
    let mut writer = TableWriter::create(&file, names.iter().map(Field::double).collect()).unwrap();
    writer.write(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();
    near_the_mode(&scratch, &file, ("Cover_Type", &features), "--chains 2 --draws 2000");
}

#[test]
fn flights() {
    let Some(folder) = shared_data() else { return eprintln!("skipped: no shared data") };
    let scratch = Scratch::new("flights");
    let file = folder.join("flights3m.parquet");
    let features = ["day_of_week", "minute_of_day", "distance"];
    near_the_mode(&scratch, &file, ("label", &features), "--chains 2 --warmup 300 --draws 1000");
}
