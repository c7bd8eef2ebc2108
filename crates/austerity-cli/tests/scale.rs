//! Data in parts: a sample of the rows against all of them, resumed and updated runs, bad input.
//!
//! Posterior means of two runs are compared with 4.5 Monte Carlo errors of both, and with the error that a sample may leave (0.03 posterior sds at most): were the errors known
//! exactly, the comparisons here would raise one false alarm in 3,000 runs. Each has a partner that must fail it.

use serde_json::Value;

use crate::common::Scratch;

/// What `summary --json` says of the parameters: mean, sd, Monte Carlo error.
fn parameters(said: &Value) -> Vec<[f64; 3]> {
    let number = |p: &Value, key: &str| p[key].as_f64().unwrap();
    let of = |p: &Value| [number(p, "mean"), number(p, "sd"), number(p, "mcse_mean")];
    said["parameters"].as_array().unwrap().iter().map(of).collect()
}

/// The largest distance of the means, in units of what it may be.
fn apart(a: &Value, b: &Value) -> f64 {
    let (a, b) = (parameters(a), parameters(b));
    assert_eq!(a.len(), b.len());
    let one = |(a, b): (&[f64; 3], &[f64; 3])| (a[0] - b[0]).abs() / (4.5 * a[2].hypot(b[2]) + 0.03 * b[1]);
    a.iter().zip(&b).map(one).fold(0.0, f64::max)
}

/// Writes rows of a generated table as parts.
fn parts(scratch: &Scratch, table: &str, cuts: &[usize]) {
    let all = scratch.table(table);
    for (number, cut) in cuts.windows(2).enumerate() {
        scratch.part(&all, cut[0]..cut[1], &format!("day-{number:02}.csv"));
    }
}

fn check<'a>(said: &'a Value, name: &str) -> Option<&'a Value> {
    said["checks"].as_array().unwrap().iter().find(|check| check["check"] == name)
}

#[test]
fn a_sample_with_sums_has_the_posterior_of_all_rows() {
    let scratch = Scratch::new("scale");
    for (family, options) in [("logistic", "--prior normal:1"), ("poisson", ""), ("linear", "")] {
        scratch.done(&format!(
            "generate {family} --rows 30000 --features 3 --rare 1 --seed 4 --out {family}.parquet"
        ));
        std::fs::create_dir(scratch.at(family)).unwrap();
        let all = scratch.table(&format!("{family}.parquet"));
        for part in 0..4 {
            scratch.part(&all, part * 7500..(part + 1) * 7500, &format!("{family}/{part}.csv"));
        }
        let line =
            format!("fit {family}/*.csv --response y --family {family} --draws 1500 --seed 2 {options}");
        let whole = scratch.json(&format!("{line} --out {family}-whole"));
        let sampled = scratch.json(&format!("{line} --sample-rows 4000 --out {family}-sampled"));
        assert!(apart(&sampled, &whole) < 1.0, "{family}: {}", apart(&sampled, &whole));
        assert_eq!(sampled["trusted"], true, "{family}: {}", sampled["reasons"]);
        let found = check(&sampled, "sample").unwrap();
        assert_eq!((found["passed"].as_bool(), check(&whole, "sample")), (Some(true), None));
        // A sample alone, without the sums, is far off.
        let alone = scratch.json(&format!("fit {family}/0.csv --response y --family {family} --draws 1500 --seed 2 {options} --out {family}-alone"));
        assert!(apart(&alone, &whole) > 1.0, "{family}");
    }
}

#[test]
fn a_forecast_extrapolates() {
    let scratch = Scratch::new("scale-plan");
    scratch.done("generate logistic --rows 6000 --features 3 --seed 5 --out all.parquet");
    let here = scratch.json("plan all.parquet --response y");
    let far = scratch.json("plan all.parquet --response y --rows 1e12 --hosts 1000 --cores 16");
    let number = |said: &Value, key: &str| said[key].as_f64().unwrap();
    assert_eq!((number(&here, "rows"), number(&here, "parts"), number(&here, "passes")), (6000.0, 1.0, 5.0));
    assert_eq!(number(&far, "rows"), 1e12);
    let ratio = number(&far, "reading_seconds") / number(&here, "reading_seconds");
    assert!((ratio / (1e12 / 6000.0 / 1000.0) - 1.0).abs() < 1e-6, "{ratio}");
    scratch.refused_with("plan nothing.parquet --response y", &["nothing.parquet"]);
}

#[test]
fn all_rows_in_the_sample_are_the_run_in_memory_bit_for_bit() {
    let scratch = Scratch::new("scale-all");
    scratch.done("generate logistic --rows 6000 --features 3 --seed 5 --out all.parquet");
    parts(&scratch, "all.parquet", &[0, 2000, 6000]);
    let line = "fit day-*.csv --response y --draws 400";
    scratch.fit(&format!("{line} --out memory"));
    scratch.fit(&format!("{line} --sample-rows 6000 --out all"));
    let draws = |run: &str| scratch.reader(run).parameters(0..4).unwrap();
    assert_eq!(draws("memory"), draws("all"));
}

#[test]
fn a_run_in_parts_goes_on_without_its_data() {
    let scratch = Scratch::new("scale-resume");
    scratch.done("generate logistic --rows 12000 --features 3 --seed 5 --out all.parquet");
    parts(&scratch, "all.parquet", &[0, 4000, 8000, 12000]);
    let line = "fit day-*.csv --response y --sample-rows 2000";
    scratch.fit(&format!("{line} --draws 600 --out whole"));
    scratch.fit(&format!("{line} --draws 300 --out half"));
    for part in 0..3 {
        std::fs::write(scratch.at(&format!("day-{part:02}.csv")), "gone").unwrap();
    }
    scratch.fit("fit day-*.csv --response y --draws 600 --out half --resume");
    let draws = |run: &str| scratch.reader(run).parameters(0..4).unwrap();
    assert_eq!(draws("half"), draws("whole"));
    let damaged = std::fs::read(scratch.at("half/parts.bin")).unwrap();
    std::fs::write(scratch.at("half/parts.bin"), &damaged[..damaged.len() / 2]).unwrap();
    scratch.refused_with(
        "fit day-*.csv --response y --draws 700 --out half --resume",
        &["parts.bin", "damaged"],
    );
}

#[test]
fn daily_updates_are_a_fresh_fit_and_read_little() {
    let scratch = Scratch::new("scale-update");
    let (first, day, days) = (16_000, 1_600, 10);
    let cuts: Vec<usize> = [0].into_iter().chain((0..=days).map(|d| first + d * day)).collect();
    scratch.done(&format!(
        "generate logistic --rows {} --features 3 --seed 6 --out all.parquet",
        cuts[days + 1]
    ));
    parts(&scratch, "all.parquet", &cuts);
    let options = "--response y --sample-rows 3000 --prior normal:1 --prior-intercept normal:3 --draws 1500";
    scratch.done(&format!("fit day-00.csv {options} --out run0"));
    for number in 1..=days {
        let draws = if number == days { 1500 } else { 300 };
        scratch
            .fit(&format!("update run{} day-{number:02}.csv --draws {draws} --out run{number}", number - 1));
    }
    let updated = scratch.summary(&format!("run{days}"));
    let fresh = scratch.json(&format!("fit day-*.csv {options} --out fresh"));
    assert!(apart(&updated, &fresh) < 1.0, "{}", apart(&updated, &fresh));
    // The first fit is another.
    assert!(apart(&scratch.summary("run0"), &fresh) > 1.0);
    let record = |run: &str| -> toml::Table {
        let text = std::fs::read_to_string(scratch.at(run).join("run.toml")).unwrap();
        let run: toml::Table = text.parse().unwrap();
        run["plan"]["data"]["parts"].as_table().unwrap().clone()
    };
    let log = record(&format!("run{days}"))["arrivals"].as_array().unwrap().clone();
    assert_eq!(log.len(), days + 1);
    let read: i64 = log[1..].iter().map(|arrival| arrival["read"].as_integer().unwrap()).sum();
    // Ten fresh fits of one pass each, though they make five.
    let fresh_passes: usize = cuts[2..].iter().sum();
    assert!((read as f64) < 0.3 * fresh_passes as f64, "{read} of {fresh_passes}");

    // Forgetting the days again leaves the first fit, up to the rows of its sample.
    let forget: String = (1..=days).map(|day| format!("--forget day-{day:02}.csv ")).collect();
    scratch.fit(&format!("update run{days} {forget} --draws 1500 --out back"));
    let before = scratch.json(&format!("fit day-00.csv {options} --seed 9 --out again"));
    assert!(apart(&scratch.summary("back"), &before) < 1.0);

    for (line, words) in [
        ("update run10 day-03.csv --out no", &["day-03.csv", "same rows"][..]),
        ("update run10 --out no", &["nothing to do"]),
        ("update run10 --forget all.parquet --out no", &["all.parquet", "no part"]),
        ("update nowhere day-03.csv --out no", &["nowhere"]),
    ] {
        scratch.refused_with(line, words);
    }
    scratch.file("other.csv", "y,x1,x2\n1,0.5,0.5\n");
    scratch.refused_with("update run10 other.csv --out no", &["other.csv", "x3"]);
    scratch.fit("fit day-01.csv --response y --draws 100 --out memory");
    scratch.refused_with("update memory day-02.csv --out no", &["--sample-rows"]);
    scratch.refused_with("fit day-*.csv --response y --engine processes:2", &["python -m austerity fit"]);
}
