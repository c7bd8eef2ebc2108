//! `analyze` and `design` as a user meets them: reference values through the program, and what they refuse.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{austerity, json, text};

fn close(value: &serde_json::Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-6, "{value} against {expected}");
}

/// Reference values of the sequential test and of one step.
#[test]
fn analyze_keeps_its_contract() {
    let test = ["analyze", "--n", "1000", "--batch", "100", "--epsilon", "0.05", "--json", "--mu-std"];
    let at = |places: &str| json(&[&test[..], &[places]].concat());
    let value = at("0,0.5,-1");
    assert_eq!(value["looks"], 10);
    close(&value["worst_case"]["error"], 0.214_577_71);
    close(&value["worst_case"]["data_usage"], 0.749_403_16);
    close(&value["points"][1]["error"], 0.089_404_77);
    close(&value["points"][2]["error"], 0.045_659_11);
    close(&value["points"][2]["data_usage"], 0.572_039_21);
    assert_eq!(value["points"][2]["mu_std"], -1.0);
    let listed = json(&[
        "analyze",
        "--n",
        "1000",
        "--looks",
        "100,200,300,400,500,600,700,800,900",
        "--epsilon",
        "0.05",
        "--json",
    ]);
    close(&listed["worst_case"]["error"], 0.214_577_71);
    let wang = [
        "analyze",
        "--n",
        "1000",
        "--batch",
        "100",
        "--bound",
        "wang-tsiatis:2,0.75",
        "--mu-std",
        "1",
        "--json",
    ];
    close(&json(&wang)["points"][0]["error"], 0.001_433_05);
    // All looks that are made are counted, also one at a single row, which has no sd to decide with.
    for (n, batch, looks) in [("10", "1", 10), ("10", "3", 4), ("7", "7", 1)] {
        let value = json(&["analyze", "--n", n, "--batch", batch, "--epsilon", "0.05", "--json"]);
        assert_eq!(value["looks"], looks, "{n} {batch}");
    }
    let listed = json(&["analyze", "--n", "100", "--looks", "1,50", "--epsilon", "0.05", "--json"]);
    assert_eq!(listed["looks"], 3);
    let signs = at("-1e-3,1");
    assert_eq!(signs["points"][0]["mu_std"], -1e-3);
}

#[test]
fn analyze_predicts_single_steps() {
    let step = [
        "analyze",
        "--n",
        "10000",
        "--batch",
        "500",
        "--epsilon",
        "0.05",
        "--mean",
        "-0.0001",
        "--sd",
        "0.02",
        "--json",
    ];
    let step = json(&step);
    close(&step["acceptance"], 0.367_879_44);
    close(&step["delta"], 0.054_059_9);
    close(&step["mean_error"], 0.170_877_3);
    close(&step["data_usage"], 0.609_965);
    // The other reference steps, numbers as other programs print them.
    for (mean, sd, n, epsilon, delta, error) in [
        ("0.0002", "0.02", "10000", "0.05", -0.051_907_8, 0.051_907_8),
        ("-5e-05", "0.01", "10000", "0.1", -0.003_581_2, 0.240_930_5),
        ("-5.7e-05", "0.01", "12214", "0.01", 0.006_373_8, 0.038_436_5),
    ] {
        let step = [
            "analyze",
            "--n",
            n,
            "--batch",
            "500",
            "--epsilon",
            epsilon,
            "--mean",
            mean,
            "--sd",
            sd,
            "--json",
        ];
        let step = json(&step);
        close(&step["delta"], delta);
        close(&step["mean_error"], error);
        assert!(step["worst_case"]["error"].as_f64().unwrap() > error / 2.0);
    }
}

#[test]
fn design_keeps_its_contract() {
    let worst = json(&["design", "--n", "12214", "--tolerance", "0.05", "--worst-case", "--json"]);
    assert!(worst["error"].as_f64().unwrap() <= 0.05 && worst["feasible"] == true);
    for field in ["batch", "epsilon", "growth", "data_usage"] {
        assert!(worst[field].as_f64().unwrap() > 0.0, "{field}");
    }
    assert!(worst["error"].as_f64().unwrap() > 0.0499, "solved, not picked: {worst}");
    let compensated = ["design", "--n", "12214", "--tolerance", "0.01", "--energy", "1.34", "--growth", "1"];
    let compensated = json(&[&compensated[..], &["--law", "compensated", "--json"]].concat());
    assert!(compensated["lambda"].as_f64().unwrap() > 1.0 && compensated["error"].as_f64().unwrap() <= 0.01);
    assert!(worst["lambda"].is_null());
    let impossible = json(&["design", "--n", "1000", "--tolerance", "1e-9", "--worst-case", "--json"]);
    assert_eq!(impossible["feasible"], false);
    let words = austerity(&["design", "--n", "12214", "--tolerance", "0.05", "--bound", "wang-tsiatis"]);
    assert!(text(&words.stdout).contains("--bound wang-tsiatis:"), "{}", text(&words.stdout));
    let folder = std::env::temp_dir().join(format!("austerity-design-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("pairs.csv");
    let lines: String = (0..50).map(|i| format!("{},0.005\n", 1e-5 * f64::from(i - 25))).collect();
    std::fs::write(&file, format!("mean,sd\n{lines}")).unwrap();
    let picture = folder.join("front.svg");
    let (file, picture) = (file.to_str().unwrap(), picture.to_str().unwrap());
    let trial = json(&[
        "design",
        "--n",
        "10000",
        "--tolerance",
        "0.02",
        "--trial",
        file,
        "--plot",
        picture,
        "--json",
    ]);
    assert!(trial["error"].as_f64().unwrap() <= 0.02);
    assert!(std::fs::read_to_string(picture).unwrap().starts_with("<svg"));
    std::fs::write(file, "mean,sd\n1e-5,abc\n").unwrap();
    let bad = austerity(&["design", "--n", "10000", "--tolerance", "0.02", "--trial", file]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(
        text(&bad.stderr).contains("line 2") && text(&bad.stderr).contains("abc"),
        "{}",
        text(&bad.stderr)
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn analyze_and_design_refuse_bad_input_with_the_value() {
    for (arguments, word) in [
        ("analyze --n 1 --batch 1 --epsilon 0.05", "at least 2"),
        ("analyze --n 100 --batch 200 --epsilon 0.05", "200"),
        ("analyze --n 100 --batch 0 --epsilon 0.05", "first look"),
        ("analyze --n 100 --batch 10 --epsilon 0.7", "0.7"),
        ("analyze --n 100 --batch 10 --epsilon -0.1", "-0.1"),
        ("analyze --n 100 --batch 10", "--epsilon"),
        ("analyze --n 100 --looks 5,3 --epsilon 0.1", "[5, 3]"),
        ("analyze --n 100 --batch 10 --epsilon 0.1 --mean 0 --sd -1", "-1"),
        ("analyze --n 100 --batch 10 --epsilon 0.1 --energy -1", "-1"),
        ("analyze --n 2 --batch 1 --epsilon 0.1 --mean 1e300 --sd 1e300", "kappa"),
        ("analyze --n 100 --batch 10 --epsilon 0.1 --energy 1e300", "energy"),
        ("analyze --n 1000000000000 --batch 1 --epsilon 0.1", "first look"),
        ("analyze --n 100 --batch 10 --bound bonferroni", "bonferroni"),
        ("analyze --n 100 --batch 10 --bound wang-tsiatis:2,0.5 --epsilon 0.1", "--epsilon"),
        ("analyze --n 100 --batch 10 --epsilon 0.1 --mu-std 1,inf", "inf"),
        ("analyze --n 100 --batch 10 --epsilon 0.1 --law logistic --energy 1", "--energy"),
        ("design --n 100 --tolerance 0.1 --worst-case --law logistic", "--law"),
        ("design --n 100 --tolerance 0.1 --worst-case --law compensated", "--law"),
        ("analyze --n 100 --batch 10 --epsilon 0.1 --law compensated", "compensated:LAMBDA"),
        ("analyze --n 100 --batch 10 --epsilon 0.1 --plot /nowhere/at/all.svg", "/nowhere/at/all.svg"),
        ("design --n 100 --tolerance 0", "tolerance"),
        ("design --n 100 --tolerance 1", "tolerance"),
        ("design --n 1 --tolerance 0.1", "at least"),
        ("design --n 100 --tolerance 0.1 --trial /nowhere.csv", "/nowhere.csv"),
        ("design --n 100 --tolerance 0.1 --growth 0.5", "0.5"),
    ] {
        let output = austerity(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains(word), "{arguments}: {}", text(&output.stderr));
    }
    // Limits are values, not NaN.
    for arguments in [
        "analyze --n 100 --batch 10 --epsilon 0 --json",
        "analyze --n 100 --batch 100 --epsilon 0.1 --json",
        "analyze --n 100 --batch 10 --epsilon 0.5 --json",
        "analyze --n 100 --batch 10 --epsilon 0.1 --mean 0.1 --sd 0 --json",
    ] {
        let output = austerity(&arguments.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        assert!(!text(&output.stdout).contains("null"), "{arguments}: {}", text(&output.stdout));
    }
}

/// Theorem 1: Δ_max/(1 − η), with the Δ_max of the recursion (a reference of the Gibbs experiment: κ of log potentials with sd 0.02, ε = 0.01) or the worst-case error.
#[test]
fn analyze_bounds_the_distance_from_the_posterior() {
    let say = |words: &str| json(&format!("analyze --json {words}").split_whitespace().collect::<Vec<_>>());
    let test = "--n 4851 --batch 500 --epsilon 0.01";
    let any = say(&format!("{test} --bound-total-variation 0.5"));
    let (found, worst) = (&any["total_variation"], any["worst_case"]["error"].as_f64().unwrap());
    close(&found["largest_delta"], worst);
    close(&found["bound"], (2.0 * worst).min(1.0));
    assert!(found["kappa"].is_null(), "{found}");
    // The differences of two potentials have an sd of 0.02·√2: Δ_max = 0.0058.
    let gibbs = format!("{test} --law logistic --mean 0 --sd 0.0282842712 --bound-total-variation 0.5");
    let one = say(&gibbs)["total_variation"].clone();
    let delta = one["largest_delta"].as_f64().unwrap();
    assert!((delta / 0.0058 - 1.0).abs() < 0.02, "{delta}");
    close(&one["bound"], 2.0 * delta);
    close(&say(&format!("{gibbs} --sites 10"))["total_variation"]["bound"], 20.0 * delta);
    // A larger error or a slower chain is farther off; a chain that does not contract is refused.
    assert!(say(&format!("{test} --bound-total-variation 0.99"))["total_variation"]["bound"] == 1.0);
    for (words, said) in [
        ("--bound-total-variation 1", "below 1"),
        ("--bound-total-variation -0.1", "below 1"),
        ("--bound-total-variation 0.5 --sites 3", "logistic"),
        ("--bound-total-variation 0.5 --law compensated:0.9", "sd"),
        ("--sites 3", "bound-total-variation"),
    ] {
        let line = format!("analyze {test} {words}");
        let output = austerity(&line.split_whitespace().collect::<Vec<_>>());
        assert!(
            output.status.code() == Some(2) && text(&output.stderr).contains(said),
            "{words}: {}",
            text(&output.stderr)
        );
    }
}
