//! One request, several ways: the program, a file from Rust, columns in memory; and folders of the first format of `run.toml`.

use austerity_fit::{Fit, Request, Source};
use austerity_io::run::DrawsReader;
use austerity_io::table::open;

use crate::common::Scratch;

const DATA: &str = "generate logistic --rows 5000 --features 3 --out data.parquet";

/// All draws of a run, as bits.
fn bits(fit: &Fit) -> Vec<u64> {
    let names: Vec<String> = fit.summary().iter().map(|summary| summary.name.clone()).collect();
    let draws = names.iter().flat_map(|name| fit.draws(name).unwrap().concat());
    draws.map(f64::to_bits).collect()
}

#[test]
fn a_fit_from_rust_draws_what_the_program_draws() {
    let scratch = Scratch::new("request");
    scratch.done(DATA);
    scratch.fit("fit data.parquet --response y --draws 300 --chains 2 --seed 3 --out run");
    let reader = DrawsReader::open(scratch.at("run/draws.zarr")).unwrap();
    let program: Vec<u64> =
        reader.parameters(0..reader.names().len()).unwrap().concat().into_iter().map(f64::to_bits).collect();
    let request = || Request::logistic(scratch.at("data.parquet"), "y").draws(300).chains(2);
    let table: Source = open(scratch.at("data.parquet")).unwrap().read(None).unwrap().into();
    let memory = request().seed(3).data(&table).run().unwrap();
    assert_eq!(bits(&memory), program, "columns in memory");
    let file = request().seed(3).out(scratch.at("again")).run().unwrap();
    assert_eq!(bits(&file), program, "the file");
    // Other seeds draw otherwise.
    let other = request().seed(4).data(&table).run().unwrap();
    assert_ne!(bits(&other), program);
}

/// A `run.toml` of format 2: the parts of the plan are beside the request.
fn second_format(text: &str) -> String {
    let mut run: toml::Table = toml::from_str(text).unwrap();
    let Some(toml::Value::Table(mut plan)) = run.remove("plan") else { panic!("no plan") };
    plan.remove("expected").unwrap();
    run.extend(plan);
    run.insert("format".into(), 2.into());
    toml::to_string(&run).unwrap()
}

/// A `run.toml` as version 0.1 wrote it: the options are in two tables of their own.
fn first_format(text: &str) -> String {
    let mut run: toml::Table = toml::from_str(&second_format(text)).unwrap();
    run.remove("format").unwrap();
    let toml::Value::Table(mut request) = run.remove("request").unwrap() else { panic!("no table") };
    let (mut shape, mut data) = (request.remove("shape").unwrap(), request.remove("data").unwrap());
    let (shape_table, data_table) = (shape.as_table_mut().unwrap(), data.as_table_mut().unwrap());
    shape_table.insert("priors".into(), "priors.csv".into());
    shape_table.insert("proposal".into(), "auto".into());
    let file = data_table.remove("file").unwrap();
    data_table.insert("data".into(), file);
    run.insert("options".into(), shape);
    run.insert("data_options".into(), data);
    toml::to_string(&run).unwrap()
}

#[test]
fn runs_of_earlier_formats_go_on_and_newer_ones_are_refused() {
    let scratch = Scratch::new("formats");
    scratch.done(DATA);
    scratch.file("priors.csv", "coefficient,prior\nx1,normal:1\n");
    let fit = "fit data.parquet --response y --priors priors.csv --chains 2 --warmup 100 --seed 3";
    scratch.fit(&format!("{fit} --draws 200 --out whole"));
    scratch.fit(&format!("{fit} --draws 100 --out run"));
    let path = scratch.at("run/run.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("[request.shape.priors]") && text.contains("x1 = \"normal:1\""), "{text}");
    std::fs::write(&path, first_format(&text)).unwrap();
    assert_eq!(scratch.summary("run")["draws"], 100);
    // What was asked for then is known now: other priors are refused, the same go on.
    scratch.file("other.csv", "coefficient,prior\nx1,normal:2\n");
    let other = fit.replace("priors.csv", "other.csv");
    scratch.refused_with(
        &format!("{other} --draws 200 --out run --resume"),
        &["the prior of x1", "normal:1", "normal:2"],
    );
    scratch.fit(&format!("{fit} --draws 200 --out run --resume"));
    let draws = |run: &str| {
        let reader = DrawsReader::open(scratch.at(run).join("draws.zarr")).unwrap();
        reader.parameters(0..reader.names().len()).unwrap()
    };
    assert_eq!(draws("run"), draws("whole"));
    assert!(std::fs::read_to_string(&path).unwrap().contains("\nformat = 3\n"));
    scratch.fit(&format!("{fit} --draws 100 --out second"));
    let text = std::fs::read_to_string(scratch.at("second/run.toml")).unwrap();
    std::fs::write(scratch.at("second/run.toml"), second_format(&text)).unwrap();
    scratch.fit(&format!("{fit} --draws 200 --out second --resume"));
    assert_eq!(draws("second"), draws("whole"));
    let newer = text.split_once('\n').unwrap().1.replacen("format = 3", "format = 99", 1);
    std::fs::write(&path, newer).unwrap();
    scratch.refused_with("summary run", &["run.toml", "newer version", "99"]);
}
