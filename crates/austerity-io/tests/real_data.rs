//! Real files, when they are at hand: shapes and counts as their description says.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::real_data;
use austerity_glm::ResponseKind;
use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, load};
use austerity_io::table::{Column, open};

fn numbers(file: &str, column: &str) -> Option<Vec<f64>> {
    let table = open(real_data(file)?).unwrap().read(Some(&[column.into()])).unwrap();
    match table.columns.into_iter().next() {
        Some(Column::Numbers(values)) => Some(values),
        _ => panic!("{file} {column} holds no numbers"),
    }
}

fn count(values: &[f64], wanted: f64) -> usize {
    values.iter().filter(|&&value| value == wanted).count()
}

#[test]
fn mnist() {
    let Some(label) = numbers("mnist79_pca50_train.parquet", "label") else { return };
    assert_eq!((count(&label, 1.0), count(&label, -1.0), label.len()), (6265, 5949, 12_214));
    let source = open(real_data("mnist79_pca50_train.parquet").unwrap()).unwrap();
    let loaded =
        load(&source, &CodingOptions::new("label"), Some(ResponseKind::Binary), 1, &LoadOptions::default())
            .unwrap();
    let (store, description) = (&loaded.store, loaded.store.description());
    assert_eq!((store.coefficients(), store.rows()), (51, 12_214));
    assert_eq!(loaded.notes, ["the response `label` was coded: -1 as 0, 1 as 1"]);
    let n = store.rows() as f64;
    let sd = description.columns[0].sd * (n / (n - 1.0)).sqrt();
    assert!((sd - 2.3008).abs() < 5e-5, "{sd}");
    let ones = (0..store.rows()).filter(|&position| store.blocks().value(position, 50) == 1.0).count();
    assert_eq!(ones, 6265);

    let images = open(real_data("mnist79_train.parquet").unwrap()).unwrap();
    assert_eq!(images.schema().rows, Some(12_214));
    let message = images.read(None).unwrap_err().to_string();
    assert!(message.contains("`pixels` holds lists"), "{message}");
    let digits = images.read(Some(&["label".into()])).unwrap();
    assert!(matches!(&digits.columns[0], Column::Numbers(v) if count(v, 7.0) == 6265));
}

#[test]
fn miniboone() {
    let Some(label) = numbers("miniboone_sample.parquet", "label") else { return };
    assert_eq!((count(&label, 1.0), count(&label, -1.0)), (1814, 4609));
    let table = open(real_data("miniboone_sample.parquet").unwrap()).unwrap().read(None).unwrap();
    assert_eq!((table.rows, table.columns.len()), (6423, 51));
}

#[test]
fn covertype() {
    let Some(cover) = numbers("covtype.parquet", "Cover_Type") else { return };
    let counts: Vec<usize> = (1..=7).map(|class| count(&cover, f64::from(class))).collect();
    assert_eq!(counts, [211_840, 283_301, 35_754, 2747, 9493, 17_367, 20_510]);
    assert_eq!(count(&numbers("covtype.parquet", "Soil_Type15").unwrap(), 1.0), 3);
    let source = open(real_data("covtype.parquet").unwrap()).unwrap();
    assert_eq!((source.schema().rows, source.schema().names.len()), (Some(581_012), 55));
    let options = CodingOptions::new("Cover_Type");
    let error = load(&source, &options, Some(ResponseKind::Binary), 1, &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("third value of the response"), "{error}");
}

#[test]
fn flights() {
    let Some(path) = real_data("flights3m.parquet") else { return };
    let table =
        open(path).unwrap().read(Some(&["label".into(), "origin".into(), "distance".into()])).unwrap();
    assert_eq!(table.rows, 3_000_000);
    let Column::Numbers(label) = &table.columns[0] else { panic!() };
    let late = count(label, 1.0) as f64 / 3e6;
    assert!((late - 0.2).abs() < 0.001, "{late}");
    let Column::Levels { labels, .. } = &table.columns[1] else { panic!() };
    assert_eq!(labels.len(), 229);
    let Column::Numbers(distance) = &table.columns[2] else { panic!() };
    assert_eq!(distance.iter().copied().fold(f64::INFINITY, f64::min), 21.0);
    assert_eq!(distance.iter().copied().fold(0.0, f64::max), 4962.0);
}

#[test]
fn audio() {
    let Some(music) = numbers("audio_sources.parquet", "music") else { return };
    let street = numbers("audio_sources.parquet", "street").unwrap();
    assert_eq!((music.len(), street.len()), (2_000_000, 2_000_000));
    let correlation = {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let (a, b) = (mean(&music), mean(&street));
        let dot = |x: &[f64], y: &[f64], a: f64, b: f64| {
            x.iter().zip(y).map(|(x, y)| (x - a) * (y - b)).sum::<f64>()
        };
        dot(&music, &street, a, b) / (dot(&music, &music, a, a) * dot(&street, &street, b, b)).sqrt()
    };
    assert!((correlation + 0.004).abs() < 0.0006, "{correlation}");
}
