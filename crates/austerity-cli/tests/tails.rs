//! Coefficients that the data leave open on one side under Student priors, and events that are very rare, end to end.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::Scratch;

/// A number in (0, 1) of row `row`, spread evenly.
fn even(row: u32, by: f64) -> f64 {
    (f64::from(row) * by + 0.5).fract()
}

/// `rows` rows of which the first `separated` have x = 1 and y = 1; a share of 0.27 of the others has y = 1.
fn separated(folder: &Scratch, rows: u32, separated: u32) -> String {
    let mut text = String::from("x,z,y\n");
    for row in 0..rows {
        let rare = row < separated;
        let y = rare || even(row, 0.618_033_988_7) < 0.27;
        writeln!(text, "{},{:.5},{}", u8::from(rare), even(row, 0.754_877_666_2) - 0.5, u8::from(y)).unwrap();
    }
    folder.file("data.csv", text)
}

/// 97.5 % quantile of the coefficient of x under a Cauchy prior of scale 2.5, the intercept at log(.27/.73), by quadrature. The default prior of the intercept, normal with
/// sd 10 at the column means, ends the tail: far out it is one of the coefficient times the share of rows that have x.
fn quantile(rows: u32, separated: u32) -> f64 {
    let intercept = (0.27f64 / 0.73).ln();
    let mean = f64::from(separated) / f64::from(rows);
    let successes = mean + 0.27 * (1.0 - mean);
    let centre = (successes / (1.0 - successes)).ln();
    let grid = || (-4000..40_000).map(|i| f64::from(i) * 5e-4).map(|s| (s.sinh(), s.cosh()));
    let density = |x: f64| {
        let likelihood = -f64::from(separated) * (-(intercept + x)).exp().ln_1p();
        let brake = -0.5 * ((intercept + mean * x - centre) / 10.0).powi(2);
        (likelihood + brake).exp() / (1.0 + (x / 2.5).powi(2))
    };
    let total: f64 = grid().map(|(x, width)| density(x) * width).sum();
    let mut sum = 0.0;
    let found = grid().find(|(x, width)| {
        sum += density(*x) * width;
        sum > 0.975 * total
    });
    found.unwrap().0
}

fn coefficient<'a>(summary: &'a Value, name: &str) -> &'a Value {
    summary["parameters"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()
}

/// Fits with `seed` and returns the summary.
fn fitted(folder: &Scratch, data: &str, options: &str, seed: u32) -> Value {
    let out = format!("run{seed}");
    let done = folder.run(&format!("fit {data} --response y {options} --seed {seed} --out {out} --json"));
    assert!(done.status.code() == Some(0) || done.status.code() == Some(1), "{done:?}");
    folder.summary(&out)
}

#[test]
fn a_free_tail_is_reached_and_has_no_mean() {
    let folder = Scratch::new("tails-free");
    let data = separated(&folder, 20_000, 12);
    let summary = fitted(&folder, &data, "--prior student:1,2.5", 1);
    assert_eq!(summary["trusted"], true, "{}", summary["reasons"]);
    let x = coefficient(&summary, "x");
    assert!(x["mean"].is_null() && x["sd"].is_null() && x["mcse_mean"].is_null(), "{x}");
    let z = coefficient(&summary, "z");
    assert!(z["mean"].is_number() && z["sd"].is_number(), "{z}");
    // 8,000 draws, at least 1,500 of them effective: 4.5 standard errors of the share beyond are a factor of 1.9 of the quantile.
    let (found, truth) = (x["q975"].as_f64().unwrap(), quantile(20_000, 12));
    assert!((found / truth).ln().abs() < 1.9f64.ln(), "{found} {truth}");
    let tails = summary["tails"].as_array().unwrap();
    assert_eq!(tails.len(), 1, "{tails:?}");
    assert_eq!((&tails[0]["side"], &tails[0]["check"]["passed"]), (&"above".into(), &true.into()));
    let words = folder.done("summary run1");
    assert!(words.contains("do not exist for x") && words.contains('–'), "{words}");
    folder.done("report run1");
}

/// Ten seeds: every run is trusted and right (a factor of 1.9 of the 97.5 % quantile: false alarm 7e-6 each; the check of tails fails an honest run with 1e-3).
#[test]
#[ignore = "second tier: thirty fits"]
fn tails_are_reached_whatever_the_seed() {
    for (rows, rare) in [(20_000, 12), (20_000, 300), (6_000, 1_500)] {
        let folder = Scratch::new("tails-seeds");
        let data = separated(&folder, rows, rare);
        let truth = quantile(rows, rare);
        let mut trusted = 0;
        for seed in 1..=10 {
            let summary = fitted(&folder, &data, "--prior student:1,2.5", seed);
            let right = summary["trusted"] == true;
            trusted += u32::from(right);
            let found = coefficient(&summary, "x")["q975"].as_f64().unwrap();
            assert!(
                !right || (found / truth).ln().abs() < 1.9f64.ln(),
                "{rare}, seed {seed}: {found} {truth}"
            );
        }
        assert!(trusted >= 9, "{rare}: {trusted} of 10 are trusted");
    }
}

/// `events` events, evenly spread over `rows` rows of two normal columns.
fn events(folder: &Scratch, rows: u32, events: u32) -> String {
    let mut text = String::from("a,b,y\n");
    for row in 0..rows {
        let (u, v) = (even(row, 0.618_033_988_7), even(row, 0.754_877_666_2));
        let radius = (-2.0 * (1.0 - u).max(1e-9).ln()).sqrt();
        let angle = std::f64::consts::TAU * v;
        let y = row % (rows / events) == rows / events / 2;
        writeln!(text, "{:.5},{:.5},{}", radius * angle.cos(), radius * angle.sin(), u8::from(y)).unwrap();
    }
    folder.file(&format!("events{events}of{rows}.csv"), text)
}

/// One event is decided about on all rows and ten on residuals, both with candidates from a sample of the rows; a run that is resumed makes the draws of an uninterrupted one. A thousand events need neither.
#[test]
fn few_events_are_proposed_from_a_sample_of_the_rows() {
    let folder = Scratch::new("tails-few");
    for (rows, number, rule) in [(12_000, 1, "exact"), (40_000, 10, "stop_at")] {
        let data = events(&folder, rows, number);
        let line = format!("fit {data} --response y --seed 3");
        folder.fit(&format!("{line} --out whole{number} --draws 1500"));
        let summary = folder.summary(&format!("whole{number}"));
        assert_eq!(summary["trusted"], true, "{number}: {}", summary["reasons"]);
        assert!(summary["proposal"].to_string().contains("weighted sample"), "{}", summary["proposal"]);
        assert!(summary["rule"].to_string().contains(rule), "{number}: {}", summary["rule"]);
        folder.fit(&format!("{line} --out parts{number} --draws 400"));
        folder.fit(&format!("{line} --out parts{number} --resume --draws 1500"));
        folder
            .draws(&format!("parts{number}"))
            .assert_equal(&folder.draws(&format!("whole{number}")), "resumed");
    }
    let data = events(&folder, 20_000, 1000);
    folder.fit(&format!("fit {data} --response y --seed 3 --out many --draws 1500"));
    assert!(!folder.summary("many")["proposal"].to_string().contains("weighted sample"));
}

/// Ten seeds each: all trusted, and means and tails agree with the same decisions made exactly on other candidates (`--rule exact`, draws around the mode and a walk), within 5 combined Monte Carlo errors.
#[test]
#[ignore = "second tier: thirty fits"]
fn very_rare_events_are_right() {
    let folder = Scratch::new("tails-events");
    let number = |summary: &Value, parameter: &str, name: &str| {
        coefficient(summary, parameter)[name].as_f64().unwrap()
    };
    for (rows, few) in [(30_000, 1), (60_000, 6), (60_000, 20)] {
        let data = events(&folder, rows, few);
        let long =
            format!("fit {data} --response y --rule exact --proposal adaptive --draws 20000 --seed 77");
        folder.fit(&format!("{long} --out exact{rows}of{few}"));
        let truth = folder.summary(&format!("exact{rows}of{few}"));
        for seed in 1..=10 {
            let summary = fitted(&folder, &data, "", seed);
            assert_eq!(summary["trusted"], true, "{few} of {rows}, seed {seed}: {}", summary["reasons"]);
            for parameter in ["intercept", "a", "b"] {
                let error =
                    number(&summary, parameter, "mcse_mean").hypot(number(&truth, parameter, "mcse_mean"));
                let off = (number(&summary, parameter, "mean") - number(&truth, parameter, "mean")).abs();
                assert!(off < 5.0 * error, "{few}, seed {seed}, {parameter}: {off} {error}");
                let sd = number(&truth, parameter, "sd");
                let low = (number(&summary, parameter, "q025") - number(&truth, parameter, "q025")).abs();
                // A quantile at 2.5 % has about 3 to 6 times the error of a mean here.
                assert!(low < 30.0 * error + 0.02 * sd, "{few}, seed {seed}, {parameter}: {low} {error}");
            }
            std::fs::remove_dir_all(folder.at(&format!("run{seed}"))).unwrap();
        }
    }
}
