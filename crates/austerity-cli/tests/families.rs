//! The number after the name of a family, in every command that knows families.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Scratch, text};

#[test]
fn degrees_of_freedom_can_be_set_and_stay_with_a_run() {
    let scratch = Scratch::new("families-number");
    scratch.done("generate student:7 --rows 5000 --features 2 --seed 3 --out data.csv");
    let fit = "fit data.csv --response y --family student:7 --chains 2 --warmup 100 --seed 2";
    let said = text(&scratch.fit(&format!("{fit} --draws 600 --out whole")).stdout);
    assert!(said.contains("7 degrees of freedom"), "{said}");
    scratch.fit(&format!("{fit} --draws 300 --out run"));
    scratch.fit(&format!("{fit} --draws 600 --out run --resume"));
    scratch.draws("run").assert_equal(&scratch.draws("whole"), fit);
    let kept = std::fs::read_to_string(scratch.at("run/run.toml")).unwrap();
    assert_eq!(kept.matches("family = \"student:7\"").count(), 2, "the request and the model: {kept}");
    assert_eq!(scratch.summary("run")["family"], "student:7");
    // Another number is another posterior: the partner, and a run that refuses to go on with it.
    scratch.fit(&format!("{} --draws 600 --out four", fit.replace("student:7", "student")));
    let sigma = |run: &str| {
        let summary = scratch.summary(run);
        let found =
            summary["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "sigma").unwrap();
        found["mean"].as_f64().unwrap()
    };
    let (seven, four) = (sigma("whole"), sigma("four"));
    assert!((seven - 1.0).abs() < 0.06, "{seven}");
    assert!(four < seven - 0.04, "{four} {seven}");
    let said =
        scratch.refused(&format!("{} --draws 700 --out run --resume", fit.replace("student:7", "student:4")));
    assert!(said.contains("--family") && said.contains("student:7") && said.contains("student"), "{said}");
    // The usual number is the name alone.
    scratch.fit(&format!("{} --draws 700 --out four --resume", fit.replace("student:7", "student:4")));
    scratch.done("predict run data.csv --out predicted.csv");
    assert!(matches!(
        scratch.run("check data.csv --response y --family student:7").status.code(),
        Some(0 | 1)
    ));
}

/// One row of each file is not what its family explains: column, row and value are named.
#[test]
fn responses_that_a_family_cannot_explain_are_refused() {
    let scratch = Scratch::new("families-responses");
    let table = |header: &str, bad: &str| {
        let rows: String = (0..50).map(|i| format!("{},0.{},1\n", i % 7, 11 + i)).collect();
        format!("{header}\n{rows}{bad}\n")
    };
    for (name, bad, options, words) in [
        ("gamma", "3,0,1", "--family gamma", ["`y`, row 51", "positive"]),
        ("negative", "3,-2,1", "--family gamma", ["-2", "positive"]),
        ("share", "3,1,1", "--family beta", ["`y`, row 51", "between 0 and 1"]),
        ("percent", "3,45,1", "--family beta", ["45", "between 0 and 1"]),
        ("time", "3,-1,1", "--family weibull --event d", ["`y`, row 51", "a time must be positive"]),
        ("nothing", "3,0,1", "--family exponential", ["`y`, row 51", "a time must be positive"]),
        ("event", "3,0.5,2", "--family lognormal --event d", ["`d`, row 51", "an event must be 0"]),
        ("cloglog", "3,0.5,2", "--family cloglog", ["third value", "`y`"]),
        ("inflated", "3,0.5,1", "--family zero-inflated-poisson", ["0.11", "a count must be"]),
        ("levels", "3,0.5,1", "--family ordered-logit", ["level number 13", "`y`, row 13"]),
        ("fine", "3,0.5,1", "--family gamma --event d", ["--event", "exponential, weibull, lognormal"]),
        ("fine", "3,0.5,1", "--event d", ["--event", "exponential, weibull, lognormal"]),
        ("fine", "3,0.5,1", "--family weibull --trials d", ["--trials", "belongs to"]),
    ] {
        scratch.file(&format!("{name}.csv"), table("x,y,d", bad));
        let features = if options.contains(" d") { "" } else { "--features x" };
        let said = scratch.refused(&format!("fit {name}.csv --response y {options} {features} --out run"));
        assert!(words.iter().all(|word| said.contains(word)), "{name} {options}: {said}");
    }
    assert!(!scratch.at("run").exists());
}

/// A table whose response has four levels, named as wanted.
fn ratings(levels: [&str; 4]) -> String {
    let mut table = "x,y\n".to_owned();
    for i in 0..2000 {
        let (x, u) = (f64::from(i % 9) / 4.0 - 1.0, (f64::from(i * 7919 % 2003) + 0.5) / 2003.0);
        let latent = 0.8 * x + (u / (1.0 - u)).ln();
        let level = [-1.0, 0.5, 2.0].iter().filter(|cut| latent > **cut).count();
        table.push_str(&format!("{x},{}\n", levels[level]));
    }
    table
}

/// Probabilities of levels sum to 1, follow from the draws, and are those of the levels that the file names; a run goes on with its levels.
#[test]
fn levels_are_coded_predicted_and_kept() {
    let scratch = Scratch::new("families-levels");
    scratch.file("data.csv", ratings(["1", "2", "3", "4.5"]));
    let fit = "fit data.csv --response y --family ordered-logit --chains 2 --seed 4";
    let said = scratch.fit(&format!("{fit} --draws 600 --out whole"));
    let said = text(&said.stdout);
    assert!(said.contains("1, 2, 3, 4.5") && said.contains("4 levels"), "{said}");
    scratch.fit(&format!("{fit} --draws 300 --out run"));
    scratch.fit(&format!("{fit} --draws 600 --out run --resume"));
    scratch.draws("run").assert_equal(&scratch.draws("whole"), fit);
    let kept = std::fs::read_to_string(scratch.at("run/run.toml")).unwrap();
    assert!(kept.contains("family = \"ordered-logit:4\""), "{kept}");
    let names = scratch.reader("run").names();
    assert_eq!(names, ["intercept", "x", "cut2", "cut3"]);
    // The first cut point is −1 in the usual way of counting them.
    for (name, truth) in [("intercept", 1.0), ("x", 0.8), ("cut2", 1.5), ("cut3", 3.0)] {
        let summary = scratch.summary("run");
        let found = summary["parameters"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
        let (mean, sd) = (found["mean"].as_f64().unwrap(), found["sd"].as_f64().unwrap());
        assert!((mean - truth).abs() < 3.0 * sd, "{name}: {mean} ({sd})");
    }
    scratch.file("new.csv", "x,y\n0,2\n1,4.5\n");
    let scored = scratch.json("predict run new.csv --out predicted.csv");
    assert!(scored["scores"]["log_score"].as_f64().unwrap() < 0.0, "{scored}");
    let made = scratch.table("predicted.csv");
    let reader = scratch.reader("run");
    let of = |place: usize| reader.parameter(place).unwrap().concat();
    let (intercept, slope, cut) = (of(0), of(1), of(2));
    let share = |eta: &dyn Fn(usize) -> f64| {
        let one = |d: usize| 1.0 / (1.0 + (eta(d) - cut[d]).exp()) - 1.0 / (1.0 + eta(d).exp());
        (0..cut.len()).map(one).sum::<f64>() / cut.len() as f64
    };
    for row in 0..2 {
        let all: f64 =
            ["1", "2", "3", "4.5"].iter().map(|level| made.get(&format!("probability_{level}"))[row]).sum();
        assert!((all - 1.0).abs() < 1e-9, "{all}");
        let wanted = share(&|d| intercept[d] + slope[d] * row as f64);
        let found = made.get("probability_2")[row];
        assert!((found - wanted).abs() < 4e-3, "{found} {wanted}");
        // The partner takes cut points as if the intercept were not there.
        assert!((found - share(&|d| slope[d] * row as f64)).abs() > 0.01);
    }
    scratch.file("other.csv", "x,y\n0,2.5\n");
    let said = text(&scratch.run("predict run other.csv --out other_predicted.csv").stdout);
    assert!(said.contains("not scored") && said.contains("2.5"), "{said}");
    for (line, words) in [
        ("fit data.csv --response y --family ordered-probit:3 --out bad", ["--family", "4"]),
        ("fit data.csv --response y --family ordered-logit --success 2 --out bad", ["success", "ordered"]),
        (
            "fit data.csv --response y --family ordered-logit --prior cut2=normal:1,1 --out bad",
            ["cut2", "normal:1,1"],
        ),
        ("fit data.csv --response y --family ordered-logit:1 --out bad", ["levels", "2 to 12"]),
        ("fit texts.csv --response y --family ordered-logit --out bad", ["no order", "`y`"]),
        ("fit same.csv --response y --family ordered-probit --out bad", ["nothing to explain", "`y`"]),
    ] {
        scratch.file("texts.csv", ratings(["bad", "fair", "good", "best"]));
        scratch.file("same.csv", ratings(["7", "7", "7", "7"]));
        scratch.refused_with(line, &words);
    }
    assert!(!scratch.at("bad").exists());
}

/// Survival at given times is that of the stored draws; the partner ignores the shape.
#[test]
fn survival_is_predicted_at_given_times() {
    let scratch = Scratch::new("families-survival");
    let mut table = "x,y,d\n".to_owned();
    for i in 0..400 {
        let (x, u) = (f64::from(i % 9) / 4.0 - 1.0, (f64::from(i * 7919 % 401) + 0.5) / 401.0);
        // Weibull with shape 1.5, censored at 2.
        let time = (0.4 * x + (-u.ln()).ln() / 1.5).exp();
        table.push_str(&format!("{x},{},{}\n", time.min(2.0), u8::from(time < 2.0)));
    }
    scratch.file("data.csv", table);
    scratch.fit("fit data.csv --response y --family weibull --event d --draws 500 --seed 4 --out run");
    scratch.file("new.csv", "x\n0\n1\n");
    scratch.done("predict run new.csv --survival 0.5,2 --out predicted.csv");
    let made = scratch.table("predicted.csv");
    let reader = scratch.reader("run");
    let of = |place: usize| reader.parameter(place).unwrap().concat();
    let (intercept, slope, shape) = (of(0), of(1), of(2));
    for (row, x) in [0.0, 1.0].into_iter().enumerate() {
        for (name, time) in [("survival_0.5", 0.5f64), ("survival_2", 2.0)] {
            let average = |power: &dyn Fn(usize) -> f64| {
                let one = |d: usize| (-((time.ln() - intercept[d] - x * slope[d]) * power(d)).exp()).exp();
                (0..shape.len()).map(one).sum::<f64>() / shape.len() as f64
            };
            let (found, wanted) = (made.get(name)[row], average(&|d| shape[d]));
            // Predictions use 1,000 of the draws, evenly spread.
            assert!((found - wanted).abs() < 4e-3, "{name} {x}: {found} {wanted}");
            assert!((found - average(&|_| 1.0)).abs() > 0.01, "{name} {x}: {found}");
        }
    }
    let summary = scratch.summary("run");
    let shape = &summary["parameters"][2];
    assert!((shape["mean"].as_f64().unwrap() - 1.5).abs() < 0.25, "{shape}");
    for (times, word) in [("0", "positive"), ("-1", "positive"), ("nan", "positive")] {
        let said = scratch.refused(&format!("predict run new.csv --survival={times} --out other.csv"));
        assert!(said.contains("--survival") && said.contains(word), "{said}");
    }
}

#[test]
fn numbers_that_no_family_has_are_refused_by_name() {
    let scratch = Scratch::new("families-refused");
    scratch.done("generate student --rows 500 --features 1 --out data.csv");
    for (family, words) in [
        ("student:0", ["degrees of freedom", "positive"]),
        ("student:-2", ["degrees of freedom", "positive"]),
        ("student:many", ["degrees of freedom", "student:4"]),
        ("poisson:2", ["poisson", "no number"]),
        ("linear:2", ["linear", "no number"]),
        ("gamma:2", ["gamma", "no number"]),
        ("gama:2", ["known are", "student"]),
        ("studen", ["possible values", "student"]),
    ] {
        for line in [
            format!("fit data.csv --response y --family {family} --out run"),
            format!("generate {family} --rows 10 --features 1 --out other.csv"),
        ] {
            let said = scratch.refused(&line);
            assert!(words.iter().all(|word| said.contains(word)), "{family}: {said}");
        }
    }
    assert!(!scratch.at("run").exists());
}
