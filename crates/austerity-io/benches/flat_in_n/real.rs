//! Real rows, where they are at hand: Covertype (class 2 against the rest, all columns, rank-deficient) and flights (late or not).
//!
//! Files are looked for in `AUSTERITY_DATA` or in `../shared/data` beside the repository.

use std::path::PathBuf;
use std::time::Duration;

use austerity::rule::RuleSettings;
use austerity_glm::proposal::CrankNicolson;
use austerity_glm::{Data, Glm, Logistic, ResponseKind};
use austerity_io::table::{Column, open};

use crate::hard::report;
use crate::rate::measure;

fn file(name: &str) -> Option<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("AUSTERITY_DATA").map_or(here, PathBuf::from);
    Some(folder.join(name)).filter(|path| path.exists())
}

pub(crate) fn numbers(name: &str, columns: Option<&[String]>) -> Option<Vec<(String, Vec<f64>)>> {
    let path = file(name)?;
    let source = open(&path).expect("a table");
    let names = columns.map_or_else(|| source.schema().names.clone(), <[String]>::to_vec);
    let table = source.read(Some(&names)).expect("columns");
    let values = table.columns.into_iter().map(|column| match column {
        Column::Numbers(values) => values,
        _ => panic!("{name}: a column holds no numbers"),
    });
    Some(names.into_iter().zip(values).collect())
}

pub(crate) fn run() {
    match covertype() {
        Some(data) => one("Covertype, class 2", data),
        None => println!("\nCovertype: covtype.parquet is not at hand, skipped"),
    }
    match flights() {
        Some(data) => one("flights, late or not", data),
        None => println!("\nflights: flights3m.parquet is not at hand, skipped"),
    }
}

fn covertype() -> Option<Data> {
    let mut columns = numbers("covtype.parquet", None)?;
    let place = columns.iter().position(|(name, _)| name == "Cover_Type")?;
    let (_, class) = columns.remove(place);
    let response = class.iter().map(|&class| f64::from(class == 2.0)).collect();
    let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    Some(Data::new(names, values, response))
}

/// Twenty features of calendar, clock and distance; never the delay.
fn flights() -> Option<Data> {
    let wanted = ["label", "day_of_year", "day_of_week", "minute_of_day", "distance"].map(str::to_owned);
    let columns = numbers("flights3m.parquet", Some(&wanted))?;
    let of = |name: &str| &columns.iter().find(|(own, _)| own == name).expect("a column").1;
    let (year, week, minute, distance) =
        (of("day_of_year"), of("day_of_week"), of("minute_of_day"), of("distance"));
    let turn = std::f64::consts::TAU;
    let mut made: Vec<(String, Vec<f64>)> = vec![
        ("distance".into(), distance.iter().map(|d| d / 1000.0).collect()),
        ("log_distance".into(), distance.iter().map(|d| d.max(1.0).ln()).collect()),
        ("year".into(), year.iter().map(|d| d / 182.0).collect()),
        ("year2".into(), year.iter().map(|d| (d / 182.0).powi(2)).collect()),
        ("minute".into(), minute.iter().map(|m| m / 1440.0).collect()),
        ("minute2".into(), minute.iter().map(|m| (m / 1440.0).powi(2)).collect()),
    ];
    for k in 1..=4 {
        let angle = turn * f64::from(k) / 1440.0;
        made.push((format!("sin{k}"), minute.iter().map(|m| (angle * m).sin()).collect()));
        made.push((format!("cos{k}"), minute.iter().map(|m| (angle * m).cos()).collect()));
    }
    for day in 1..=6 {
        made.push((format!("day{day}"), week.iter().map(|&d| f64::from(d == f64::from(day))).collect()));
    }
    let response = of("label").iter().map(|&label| f64::from(label > 0.0)).collect();
    let (names, values): (Vec<_>, Vec<_>) = made.into_iter().unzip();
    Some(Data::new(names, values, response))
}

fn one(label: &str, data: Data) {
    let data = data.check(ResponseKind::Binary).expect("checked data");
    let model = Glm::new(Logistic, &data, data.default_priors()).expect("a model");
    drop(data);
    println!("\n{label}: {} rows, {} parameters", model.blocks().rows(), model.parameters());
    report(&model);
    let mode = austerity::model::find_mode(&model, &vec![0.0; model.parameters()]).expect("a mode");
    let draws = CrankNicolson::new(&mode.state, &mode.covariance, 0.0).expect("draws");
    let (rate, _) = measure(
        &model,
        draws,
        &RuleSettings::default(),
        mode.state.clone(),
        (10_000, Duration::from_secs(5), 0),
    );
    println!(
        "  exact decisions about independent draws: {:.0} us a step, accepted {:.3}, {:.1} effective samples per CPU second",
        1e6 / rate.steps_per_second,
        rate.acceptance,
        rate.effective_per_second
    );
}
