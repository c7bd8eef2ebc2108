//! `austerity predict`: against computations by hand from the stored draws, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;

use crate::common::{Columns, Scratch, names};
use austerity::diagnostics::quantile;
use statrs::distribution::{
    Binomial, Continuous as _, ContinuousCDF as _, Discrete as _, DiscreteCDF as _, Normal, Poisson,
    StudentsT,
};

const FIT: &str = "--chains 2 --draws 300 --warmup 300 --rule exact --proposal laplace";
/// Enough draws to tell predictive intervals from wrong ones.
const LONG: &str = "--chains 2 --draws 5000 --warmup 300 --rule exact --proposal laplace";

/// All draws, chain after chain.
fn draws(folder: &Scratch, run: &str) -> Vec<Vec<f64>> {
    let reader = folder.reader(run);
    let parameters: Vec<Vec<f64>> =
        (0..reader.names().len()).map(|j| reader.parameter(j).unwrap().concat()).collect();
    (0..parameters[0].len()).map(|d| parameters.iter().map(|values| values[d]).collect()).collect()
}

/// Linear predictors of a row under every draw: intercept first, then the features.
fn predictors(draws: &[Vec<f64>], row: &[f64]) -> Vec<f64> {
    let dot = |draw: &Vec<f64>| draw[0] + draw[1..].iter().zip(row).map(|(b, x)| b * x).sum::<f64>();
    draws.iter().map(dot).collect()
}

fn near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{what}: {found}, by hand {expected}");
}

/// Compares mean, lower and upper of a row with means by hand.
fn compare_means(made: &Columns, row: usize, means: &[f64], tail: f64) {
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    assert_eq!(made.get("row")[row], (row + 1) as f64);
    near(made.get("mean")[row], mean, "mean");
    near(made.get("lower")[row], quantile(&[means], tail), "lower");
    near(made.get("upper")[row], quantile(&[means], 1.0 - tail), "upper");
}

/// Whether the distribution that averages `below` over the 10,000 draws passes `tail` at the ends of the interval. With independent noise the
/// level reached would have standard deviation √(tail(1 − tail)/10,000), evenly spread noise has less: five of them are a false alarm in
/// two million.
fn compare_predictive(made: &Columns, row: usize, tail: f64, below: impl Fn(f64) -> f64, whole: bool) {
    let allowed = 5.0 * (tail * (1.0 - tail) / 1e4).sqrt();
    let (lower, upper) = (made.get("predictive_lower")[row], made.get("predictive_upper")[row]);
    for (end, level) in [(lower, tail), (upper, 1.0 - tail)] {
        let reached = below(end);
        let before = if whole { below(end - 1.0) } else { reached };
        assert!(
            before <= level + allowed && reached >= level - allowed,
            "row {row}: {end} has {before} below, {reached} up to it"
        );
        assert!(!whole || end.fract() == 0.0);
    }
}

/// Linear and Student: real observations with a scale.
#[test]
fn real_responses_agree_with_a_computation_by_hand() {
    for family in ["linear", "student"] {
        let folder = Scratch::new(&format!("predict-{family}"));
        folder.done(&format!("generate {family} --rows 2000 --features 3 --seed 4 --out all.csv"));
        folder.done(&format!("fit all.csv --response y --family {family} --out run {LONG}"));
        folder.part(&folder.table("all.csv"), 0..50, "new.csv");
        let said = folder.json("predict run new.csv --out made.csv --interval 0.9 --draws 100000");
        assert_eq!((&said["rows"], &said["draws"]), (&50.into(), &10_000.into()));
        let (new, made, draws) = (folder.table("new.csv"), folder.table("made.csv"), draws(&folder, "run"));
        let (mut score, mut inside) = (0.0, 0.0);
        for row in 0..50 {
            let x: Vec<f64> = ["x1", "x2", "x3"].map(|name| new.get(name)[row]).to_vec();
            let coefficients: Vec<Vec<f64>> = draws.iter().map(|draw| draw[..4].to_vec()).collect();
            let eta = predictors(&coefficients, &x);
            compare_means(&made, row, &eta, 0.05);
            let average = |of: &dyn Fn(f64, f64) -> f64| {
                let sum: f64 = eta.iter().zip(&draws).map(|(&eta, draw)| of(eta, draw[4])).sum();
                sum / eta.len() as f64
            };
            let y = new.get("y")[row];
            let normal = |eta, sigma| Normal::new(eta, sigma).unwrap();
            let student = |eta, sigma| StudentsT::new(eta, sigma, 4.0).unwrap();
            let (cdf, density): (Box<dyn Fn(f64) -> f64>, f64) = if family == "linear" {
                (Box::new(|y| average(&|e, s| normal(e, s).cdf(y))), average(&|e, s| normal(e, s).pdf(y)))
            } else {
                (Box::new(|y| average(&|e, s| student(e, s).cdf(y))), average(&|e, s| student(e, s).pdf(y)))
            };
            compare_predictive(&made, row, 0.05, cdf, false);
            score += density.ln() / 50.0;
            let hit = (made.get("predictive_lower")[row]..=made.get("predictive_upper")[row]).contains(&y);
            inside += f64::from(u8::from(hit)) / 50.0;
        }
        near(said["scores"]["log_score"].as_f64().unwrap(), score, "log score");
        near(said["scores"]["coverage"].as_f64().unwrap(), inside, "coverage");
        assert!(said["scores"]["brier"].is_null());
    }
}

#[test]
fn logistic_predictions_agree_with_a_computation_by_hand() {
    let folder = Scratch::new("predict-logistic");
    folder.done("generate logistic --rows 2000 --features 3 --seed 4 --out all.parquet");
    folder.done(&format!("fit all.parquet --response y --out run {FIT}"));
    folder.part(&folder.table("all.parquet"), 0..50, "new.csv");
    let said = folder.json("predict run new.csv --out made.parquet --draws 100000");
    let (new, made, draws) = (folder.table("new.csv"), folder.table("made.parquet"), draws(&folder, "run"));
    assert_eq!(made.names, ["row", "mean", "lower", "upper"]);
    let [mut score, mut wrong, mut brier] = [0.0; 3];
    for row in 0..50 {
        let x: Vec<f64> = ["x1", "x2", "x3"].map(|name| new.get(name)[row]).to_vec();
        let means: Vec<f64> = predictors(&draws, &x).iter().map(|eta| 1.0 / (1.0 + (-eta).exp())).collect();
        compare_means(&made, row, &means, 0.025);
        let (mean, y) = (made.get("mean")[row], new.get("y")[row]);
        score += (y * mean + (1.0 - y) * (1.0 - mean)).ln() / 50.0;
        wrong += f64::from(u8::from((mean >= 0.5) != (y == 1.0))) / 50.0;
        brier += (mean - y).powi(2) / 50.0;
    }
    near(said["scores"]["log_score"].as_f64().unwrap(), score, "log score");
    near(said["scores"]["error_rate"].as_f64().unwrap(), wrong, "error rate");
    near(said["scores"]["brier"].as_f64().unwrap(), brier, "Brier score");
    // Thinned evenly: 100 of all draws are every third of each chain.
    let said = folder.json("predict run new.csv --out thinned.csv --draws 200");
    assert_eq!(said["draws"], 200);
    let every: Vec<Vec<f64>> = draws.iter().step_by(3).cloned().collect();
    let x: Vec<f64> = ["x1", "x2", "x3"].map(|name| new.get(name)[7]).to_vec();
    let means: Vec<f64> = predictors(&every, &x).iter().map(|eta| 1.0 / (1.0 + (-eta).exp())).collect();
    compare_means(&folder.table("thinned.csv"), 7, &means, 0.025);
}

/// Counts with an offset; large means take another way than small ones.
#[test]
fn counts_agree_with_a_computation_by_hand() {
    let folder = Scratch::new("predict-counts");
    folder.done("generate poisson --rows 2000 --features 2 --seed 4 --out all.csv");
    let all = folder.table("all.csv");
    let mut rows = String::from("x1,x2,y,exposure\n");
    for row in 0..2000 {
        let [x1, x2, y] = ["x1", "x2", "y"].map(|name| all.get(name)[row]);
        writeln!(rows, "{x1},{x2},{y},{}", if row % 2 == 0 { 0.0 } else { 0.1 }).unwrap();
    }
    folder.file("fitted.csv", &rows);
    folder.done(&format!("fit fitted.csv --response y --family poisson --offset exposure --out run {LONG}"));
    let mut rows = String::from("exposure,x2,x1,y\n");
    for row in 0..40 {
        let [x1, x2] = ["x1", "x2"].map(|name| all.get(name)[row]);
        writeln!(rows, "{},{x2},{x1},{}", row % 8, row * 3).unwrap();
    }
    folder.file("new.csv", &rows);
    let said = folder.json("predict run new.csv --out made.csv --draws 100000");
    let (new, made, draws) = (folder.table("new.csv"), folder.table("made.csv"), draws(&folder, "run"));
    let (mut score, mut largest) = (0.0, 0.0f64);
    for row in 0..40 {
        let [x1, x2, exposure, y] = ["x1", "x2", "exposure", "y"].map(|name| new.get(name)[row]);
        let means: Vec<f64> =
            predictors(&draws, &[x1, x2]).iter().map(|eta| (eta + exposure).exp()).collect();
        compare_means(&made, row, &means, 0.025);
        let average = |of: &dyn Fn(Poisson) -> f64| {
            means.iter().map(|&mean| of(Poisson::new(mean).unwrap())).sum::<f64>() / means.len() as f64
        };
        let below = |y: f64| if y < 0.0 { 0.0 } else { average(&|law| law.cdf(y as u64)) };
        compare_predictive(&made, row, 0.025, below, true);
        // Some responses are so unlikely that their density underflows: in logarithms.
        let logs: Vec<f64> = means.iter().map(|&mean| Poisson::new(mean).unwrap().ln_pmf(y as u64)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rest = logs.iter().map(|log| (log - most).exp()).sum::<f64>() / logs.len() as f64;
        score += (most + rest.ln()) / 40.0;
        largest = largest.max(means[0]);
    }
    assert!(largest > 100.0, "large means are predicted too: {largest}");
    let found = said["scores"]["log_score"].as_f64().unwrap();
    assert!((found - score).abs() < 1e-6 * score.abs(), "{found} {score}");
}

#[test]
fn binomial_predictions_are_successes_with_trials_and_probabilities_without() {
    let folder = Scratch::new("predict-binomial");
    let mut rows = String::from("dose,dead,n\n");
    for row in 0..600u32 {
        let (dose, trials) = (f64::from(row % 20) / 10.0, 5 + row % 60);
        let p = 1.0 / (1.0 + (-(dose * 2.0 - 1.5)).exp());
        let dead = (f64::from(trials) * p + f64::from(row * 37 % 11) / 10.0 - 0.5)
            .round()
            .clamp(0.0, f64::from(trials));
        writeln!(rows, "{dose},{dead},{trials}").unwrap();
    }
    folder.file("all.csv", &rows);
    folder.done(&format!("fit all.csv --response dead --trials n --out run {LONG}"));
    let said = folder.json("predict run all.csv --out made.csv --draws 100000");
    let (new, made, draws) = (folder.table("all.csv"), folder.table("made.csv"), draws(&folder, "run"));
    let mut score = 0.0;
    for row in 0..600 {
        let [dose, dead, trials] = ["dose", "dead", "n"].map(|name| new.get(name)[row]);
        let p: Vec<f64> = predictors(&draws, &[dose]).iter().map(|eta| 1.0 / (1.0 + (-eta).exp())).collect();
        let average = |of: &dyn Fn(Binomial) -> f64| {
            p.iter().map(|&p| of(Binomial::new(p, trials as u64).unwrap())).sum::<f64>() / p.len() as f64
        };
        score += average(&|law| law.pmf(dead as u64)).ln() / 600.0;
        if row < 60 {
            compare_means(&made, row, &p.iter().map(|p| p * trials).collect::<Vec<_>>(), 0.025);
            let below = |y: f64| if y < 0.0 { 0.0 } else { average(&|law| law.cdf(y as u64)) };
            compare_predictive(&made, row, 0.025, below, true);
        }
    }
    let found = said["scores"]["log_score"].as_f64().unwrap();
    assert!((found - score).abs() < 1e-6 * score.abs(), "{found} {score}");
    folder.file("new.csv", "dose\n0.3\n1.7\n");
    let said = folder.json("predict run new.csv --out probabilities.csv --draws 100000");
    let made = folder.table("probabilities.csv");
    assert_eq!(made.names, ["row", "mean", "lower", "upper"]);
    assert!(said["remarks"][0].as_str().unwrap().contains("`n`"), "{said}");
    let p: Vec<f64> = predictors(&draws, &[1.7]).iter().map(|eta| 1.0 / (1.0 + (-eta).exp())).collect();
    compare_means(&made, 1, &p, 0.025);
}

/// Draws are stored on the original scale, so columns far from 0 must not be standardised a second time.
#[test]
fn a_standardised_run_predicts_the_same() {
    let folder = Scratch::new("predict-standardised");
    let mut rows = String::from("year,height,colour,y\n");
    for row in 0..1500u32 {
        let (year, height) = (2000.0 + f64::from(row * 31 % 20), 0.001 * f64::from(row * 7 % 100));
        let colour = ["red", "green", "blue"][row as usize % 3];
        let noise = f64::from(row * 7919 % 1000) / 500.0 - 1.0;
        let y = 0.3 * (year - 2010.0) + 20.0 * height + if colour == "red" { 1.0 } else { 0.0 } + noise;
        writeln!(rows, "{year},{height},{colour},{y}").unwrap();
    }
    folder.file("all.csv", &rows);
    let long = "--chains 2 --draws 2000 --warmup 500 --prior normal:1000 --prior-intercept normal:10000";
    folder.done(&format!("fit all.csv --response y --out plain {long}"));
    folder.done(&format!("fit all.csv --response y --out scaled --standardize {long}"));
    folder.file("new.csv", "height,colour,year\n0.05,red,2010\n0.01,green,2003\n0.09,blue,2030\n");
    folder.done("predict plain new.csv --out plain.csv");
    folder.done("predict scaled new.csv --out scaled.csv");
    let (plain, scaled) = (folder.table("plain.csv"), folder.table("scaled.csv"));
    for (row, truth) in [2.0, -1.9, 7.8].into_iter().enumerate() {
        let width = plain.get("upper")[row] - plain.get("lower")[row];
        assert!((scaled.get("mean")[row] - truth).abs() < 0.3, "{} {truth}", scaled.get("mean")[row]);
        // Monte Carlo only: a seventh of the width is 0.6 posterior sds, and either mean is known to 0.05.
        for name in ["mean", "lower", "upper"] {
            let apart = (plain.get(name)[row] - scaled.get(name)[row]).abs();
            assert!(apart < width / 7.0, "{name} of row {row}: {apart} apart, width {width}");
        }
    }
    // And by hand: intercept, year, height, colour=… in the order of the run.
    let names = folder.reader("scaled").coefficient_names().to_vec();
    assert_eq!(names, ["intercept", "year", "height", "colour=green", "colour=red"]);
    let draws = draws(&folder, "scaled");
    let eta: Vec<f64> = draws.iter().map(|b| b[0] + b[1] * 2003.0 + b[2] * 0.01 + b[3]).collect();
    folder.done("predict scaled new.csv --out all-draws.csv --draws 4000");
    compare_means(&folder.table("all-draws.csv"), 1, &eta, 0.025);
}

/// 3,000 held-out rows: the share inside a 90 % interval has standard deviation 0.0055; 4.5 of them are a false alarm in 1 of 150,000.
/// Counts may be covered more often, since their ends are counts.
#[test]
fn predictive_intervals_cover() {
    for (family, most) in [("linear", 0.925), ("student", 0.925), ("poisson", 1.0)] {
        let folder = Scratch::new(&format!("predict-cover-{family}"));
        folder.done(&format!("generate {family} --rows 6000 --features 4 --seed 9 --out all.csv"));
        let all = folder.table("all.csv");
        folder.part(&all, 0..3000, "old.csv");
        folder.part(&all, 3000..6000, "new.csv");
        folder.done(&format!("fit old.csv --response y --family {family} --out run {FIT}"));
        let said = folder.json("predict run new.csv --out made.parquet --interval 0.9");
        let coverage = said["scores"]["coverage"].as_f64().unwrap();
        assert!((0.875..=most).contains(&coverage), "{family}: {coverage}");
    }
}

#[test]
fn texts_truths_and_levels_are_coded_as_they_were() {
    let folder = Scratch::new("predict-coding");
    let mut rows = String::from("size,kind,dark,answer\n");
    for row in 0..900u32 {
        let (size, kind, dark) = (row % 3 + 1, ["a", "b"][row as usize / 3 % 2], row / 6 % 2 == 0);
        let yes = row * 7919 % 100 < 20 + 20 * size + if dark { 10 } else { 0 };
        writeln!(rows, "{size},{kind},{dark},{}", if yes { "yes" } else { "no" }).unwrap();
    }
    folder.file("all.csv", &rows);
    folder.done(&format!("fit all.csv --response answer --categorical size --out run {FIT}"));
    let names = folder.reader("run").coefficient_names().to_vec();
    assert_eq!(names, ["intercept", "size=2", "size=3", "kind=b", "dark"]);
    let draws = draws(&folder, "run");
    let chance = |x: &[f64]| -> Vec<f64> {
        predictors(&draws, x).iter().map(|eta| 1.0 / (1.0 + (-eta).exp())).collect()
    };
    // Other order, only some of the levels, one of them spelled otherwise, a text column that is all numbers here.
    folder.file("new.csv", "dark,answer,size,kind\ntrue,yes,3.0,b\nfalse,no,1,a\ntrue,no,2,a\n");
    let said = folder.json("predict run new.csv --out made.csv --draws 100000 --threads 2");
    let made = folder.table("made.csv");
    for (row, x) in [[0.0, 1.0, 1.0, 1.0], [0.0; 4], [1.0, 0.0, 0.0, 1.0]].iter().enumerate() {
        compare_means(&made, row, &chance(x), 0.025);
    }
    assert!(said["scores"]["error_rate"].as_f64().is_some());
    // A response that cannot be scored costs the scores only.
    for answer in ["maybe", "", "NA"] {
        folder.file("unknown.csv", format!("dark,answer,size,kind\ntrue,yes,3,b\nfalse,{answer},1,a\n"));
        let said = folder.json("predict run unknown.csv --out unscored.csv");
        assert!(said["scores"].is_null());
        assert!(said["remarks"][0].as_str().unwrap().starts_with("not scored"), "{said}");
        assert_eq!(said["rows"], 2);
    }
    folder.file("bare.csv", "dark,size,kind\nfalse,1,a\n");
    let said = folder.done("predict run bare.csv --out bare-made.csv");
    assert!(said.contains("1 rows") && !said.contains("Scored"), "{said}");
}

#[test]
fn neither_threads_nor_the_format_change_a_number() {
    let folder = Scratch::new("predict-threads");
    folder.done("generate linear --rows 9000 --features 3 --seed 2 --out all.parquet");
    folder.done(&format!("fit all.parquet --response y --out run {FIT}"));
    folder.part(&folder.table("all.parquet"), 0..9000, "all.csv");
    folder.done("predict run all.parquet --out one.csv --threads 1");
    folder.done("predict run all.parquet --out three.csv --threads 3");
    folder.done("predict run all.csv --out text.csv");
    let read = |name: &str| std::fs::read(folder.at(name)).unwrap();
    assert!(read("one.csv") == read("three.csv") && read("one.csv") == read("text.csv"));
    folder.done("predict run all.parquet --out other.csv --seed 2");
    let (one, other) = (folder.table("one.csv"), folder.table("other.csv"));
    assert_eq!(one.get("upper"), other.get("upper"));
    assert_ne!(one.get("predictive_upper"), other.get("predictive_upper"), "the seed shuffles the noise");
}

#[test]
fn bad_input_is_refused_with_its_place_and_a_remedy() {
    let folder = Scratch::new("predict-refused");
    let mut rows = String::from("colour,width,y\n");
    for row in 0..300u32 {
        writeln!(rows, "{},{},{}", ["red", "green"][row as usize % 2], row % 17, f64::from(row % 29))
            .unwrap();
    }
    folder.file("all.csv", &rows);
    folder.done(&format!("fit all.csv --response y --family linear --out run {FIT}"));
    folder.done(&format!("fit all.csv --response y --family linear --out some --keep width,sigma {FIT}"));
    folder.file("good.csv", "width,colour\n1,red\n");
    folder.done("predict run good.csv --out made.csv");
    let before = std::fs::read(folder.at("made.csv")).unwrap();
    let refused = |new: &str, words: &[&str]| {
        folder.file("bad.csv", new);
        folder.refused_with("predict run bad.csv --out made.csv", words);
        assert_eq!(std::fs::read(folder.at("made.csv")).unwrap(), before, "an existing file stays");
    };
    refused(
        "width,colour\n1,red\n2,pink\n",
        &["bad.csv", "`colour`", "row 2", "`pink`", "green", "known level"],
    );
    refused("widht,colour\n1,red\n", &["bad.csv", "`width`", "did you mean `widht`"]);
    refused("width,colour\n1,red\n2,red\nNaN,red\n", &["bad.csv", "`width`", "row 3", "NaN"]);
    refused("width,colour\n1,red\n,red\n", &["bad.csv", "`width`", "row 2", "missing"]);
    refused("width,colour\nwide,red\n", &["bad.csv", "`width`", "`wide`", "numbers"]);
    refused("width,colour\n", &["bad.csv", "no rows"]);
    folder.refused_with("predict some good.csv --out made.csv", &["some", "intercept, colour=", "--keep"]);
    folder.refused_with("predict nothing good.csv --out made.csv", &["nothing", "run.toml"]);
    folder.refused_with("predict run none.csv --out made.csv", &["none.csv"]);
    folder.refused_with("predict run good.csv --out made.txt", &["made.txt", ".parquet"]);
    folder.refused_with("predict run good.csv --out made.csv --interval 1", &["--interval", "1", "0.95"]);
    folder.refused_with("predict run good.csv --out made.csv --draws 1", &["--draws 1", "2 chains"]);
    folder.refused_with("predict run good.csv --out no/where.csv", &["where.csv"]);
    assert!(!names(folder.path()).iter().any(|name| name.contains("part")), "{:?}", names(folder.path()));
    // The draws are gone.
    std::fs::remove_dir_all(folder.at("run/draws.zarr")).unwrap();
    folder.refused_with("predict run good.csv --out made.csv", &["draws.zarr"]);
}
