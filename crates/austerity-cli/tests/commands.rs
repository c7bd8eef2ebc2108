//! The program as a user meets it: what it prints, where, and with which exit code.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::{Command, Output, Stdio};

fn austerity(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_austerity")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn help_names_every_command_with_examples() {
    let help = austerity(&["--help"]);
    assert!(help.status.success());
    assert!(text(&help.stdout).contains("demo"));
    let demo = austerity(&["demo", "--help"]);
    for word in
        ["--rows", "--features", "--seconds", "--json", "--seed", "--threads", "Examples:", "austerity demo"]
    {
        assert!(text(&demo.stdout).contains(word), "{word}");
    }
    assert!(text(&austerity(&["--version"]).stdout).starts_with("austerity 0."));
}

#[test]
fn bad_usage_and_bad_input_exit_with_2_and_speak_on_standard_error() {
    for (arguments, word) in [
        (&["demoo"][..], "demo"),
        (&[][..], "Usage"),
        (&["demo", "--rows", "many"][..], "many"),
        (&["demo", "--rows", "0"][..], "row"),
        (&["demo", "--seconds", "-1", "--rows", "1000"][..], "-1"),
        (&["demo", "--seconds", "0", "--rows", "1000"][..], "seconds"),
    ] {
        let output = austerity(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(word), "{arguments:?}: {}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("panicked"), "{arguments:?}");
    }
}

#[test]
fn the_demo_prints_its_tables_and_words() {
    let output = austerity(&["demo", "--rows", "20000", "--features", "4", "--seconds", "0.4"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for word in [
        "exact",
        "ε = 0.05",
        "ε = 0.01",
        "m = 800",
        "data read",
        "ESS/s",
        "sd ratio",
        "cold start",
        "In words",
        "Memory",
    ] {
        assert!(said.contains(word), "{word} is missing in\n{said}");
    }
    assert!(output.stderr.is_empty(), "quiet when not a terminal");
}

#[test]
fn the_demo_speaks_json() {
    let output = austerity(&[
        "demo",
        "--rows",
        "20000",
        "--features",
        "4",
        "--seconds",
        "0.4",
        "--json",
        "--seed",
        "3",
    ]);
    assert!(output.status.success());
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["rows"], 20_000);
    assert_eq!(value["parameters"], 5);
    assert_eq!(value["seed"], 3);
    let results = value["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert_eq!(results[0]["data_share"], 1.0);
    for result in &results[1..] {
        let share = result["data_share"].as_f64().unwrap();
        assert!(share > 0.0 && share < 1.0, "{share}");
        assert!(result["ess_per_second"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_austerity"))
        .args(["demo", "--rows", "5000", "--features", "2", "--seconds", "0.2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}: {}", output.status, text(&output.stderr));
}

/// Ctrl-C ends the sampling and still prints what was measured.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_measured() {
    let child = Command::new(env!("CARGO_BIN_EXE_austerity"))
        .args(["demo", "--rows", "20000", "--features", "3", "--seconds", "30"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(7000));
    let stop = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(stop.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = text(&output.stdout);
    assert!(said.contains("exact") && said.contains("Stopped early"), "{said}");
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = austerity(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn close(value: &serde_json::Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-6, "{value} against {expected}");
}

/// Reference values of the sequential test and of one step.
#[test]
fn analyze_keeps_its_contract() {
    let value = json(&[
        "analyze",
        "--n",
        "1000",
        "--batch",
        "100",
        "--epsilon",
        "0.05",
        "--mu-std",
        "0,0.5,-1",
        "--json",
    ]);
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
    // All looks that are made are counted, also one at a single row, which has no sd to decide with.
    for (n, batch, looks) in [("10", "1", 10), ("10", "3", 4), ("7", "7", 1)] {
        let value = json(&["analyze", "--n", n, "--batch", batch, "--epsilon", "0.05", "--json"]);
        assert_eq!(value["looks"], looks, "{n} {batch}");
    }
    let listed = json(&["analyze", "--n", "100", "--looks", "1,50", "--epsilon", "0.05", "--json"]);
    assert_eq!(listed["looks"], 3);
    let signs = json(&[
        "analyze",
        "--n",
        "1000",
        "--batch",
        "100",
        "--epsilon",
        "0.05",
        "--mu-std",
        "-1e-3,1",
        "--json",
    ]);
    assert_eq!(signs["points"][0]["mu_std"], -1e-3);
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

/// A folder of its own for the files of one test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("austerity-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn generate_writes_what_check_reads() {
    let folder = folder("generate");
    for (family, extension, sound) in [
        ("logistic", "parquet", true),
        ("linear", "csv", true),
        ("poisson", "csv.gz", true),
        ("student", "csv", true),
    ] {
        let file = folder.join(format!("{family}.{extension}"));
        let file = file.to_str().unwrap();
        let made = json(&[
            "generate",
            family,
            "--rows",
            "20000",
            "--features",
            "3",
            "--seed",
            "5",
            "--out",
            file,
            "--json",
        ]);
        assert_eq!(made["coefficients"].as_object().unwrap().len(), 4);
        let seen = json(&["check", file, "--response", "y", "--family", family, "--json"]);
        assert_eq!(seen["rows"], 20_000);
        assert_eq!(seen["sound"], sound, "{family}: {seen}");
        let effect = seen["design_effect"].as_f64().unwrap();
        assert!((0.8..1.2).contains(&effect), "{family}: {effect}");
        assert!((1.0..4.0).contains(&seen["kappa"].as_f64().unwrap()), "{family}");
    }
    // Same seed, same bytes.
    let again = folder.join("again.parquet");
    json(&[
        "generate",
        "logistic",
        "--rows",
        "20000",
        "--features",
        "3",
        "--seed",
        "5",
        "--out",
        again.to_str().unwrap(),
        "--json",
    ]);
    assert_eq!(std::fs::read(folder.join("logistic.parquet")).unwrap(), std::fs::read(again).unwrap());
    std::fs::remove_dir_all(folder).unwrap();
}

/// Rare columns: a surrogate without a stratum would be blind, the rows are named; Gaussian columns: nothing to tell.
#[test]
fn check_tells_leverage_and_blindness() {
    let folder = folder("blind");
    let file = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let (rare, plain, linear) = (file("rare.parquet"), file("plain.csv"), file("linear.csv"));
    let make = |arguments: &str, out: &str| {
        let mut words: Vec<&str> = arguments.split(' ').collect();
        words.extend(["--out", out]);
        assert!(austerity(&words).status.success());
    };
    make("generate logistic --rows 60000 --features 5 --rare 6 --correlated --seed 2", &rare);
    let seen = json(&["check", &rare, "--response", "y", "--json"]);
    let blindness = &seen["blindness"];
    assert_eq!(blindness["surrogate"]["without_stratum"]["blind"], true, "{seen}");
    assert!(blindness["surrogate"]["without_stratum"]["ratio"].as_f64().unwrap() > 10.0);
    let stratum = blindness["surrogate"]["stratum"]["rows"].as_u64().unwrap();
    assert!((50..2000).contains(&stratum), "{stratum}");
    assert_eq!(blindness["raw"]["sound"], false);
    assert_eq!(seen["sound"], false);
    assert_eq!(seen["leverage"]["largest_scores"].as_array().unwrap().len(), 10);
    let words = text_of(&austerity(&["check", &rare, "--response", "y"]));
    for word in [
        "without a stratum is blind",
        "Leverage is concentrated",
        "missed over believed",
        "Rows that weigh most",
    ] {
        assert!(words.contains(word), "{word} is missing in\n{words}");
    }
    make("generate poisson --rows 20000 --features 3 --seed 2", &plain);
    let seen = json(&["check", &plain, "--response", "y", "--family", "poisson", "--json"]);
    assert_eq!(seen["blindness"]["surrogate"]["without_stratum"]["blind"], false, "{seen}");
    assert_eq!(seen["blindness"]["raw"]["sound"], true);
    assert!(seen["blindness"]["raw"]["ratio"].as_f64().unwrap() < 0.3);
    assert!(seen["leverage"]["top_share"].as_f64().unwrap() < 0.1);
    make("generate linear --rows 5000 --features 2 --seed 2", &linear);
    let seen = json(&["check", &linear, "--response", "y", "--family", "linear", "--json"]);
    assert!(seen["leverage"].is_null() && seen["blindness"]["surrogate"].is_null());
    assert!(seen["blindness"]["verdict"].as_str().unwrap().contains("sufficient statistics"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A feature present in a handful of rows carries a difference alone: the check names the rows as they stand in the file.
#[test]
fn check_names_the_rows_that_carry_a_difference() {
    let folder = folder("check");
    let file = folder.join("data.csv");
    let mut text = String::from("x,rare,y\n");
    for i in 0..5000 {
        let x = (f64::from(i) * 0.618_034).fract() - 0.5;
        let rare = u8::from(i == 1233);
        text += &format!("{x},{rare},{}\n", u8::from((i * 7919 % 100) < 40));
    }
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let seen = json(&["check", file, "--response", "y", "--json"]);
    assert_eq!(seen["sound"], false, "{seen}");
    assert_eq!(seen["offending_rows"][0]["row"], 1234, "{seen}");
    let words = austerity(&["check", file, "--response", "y"]);
    assert!(text_of(&words).contains("row 1234") && text_of(&words).contains("not normal enough"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A store is checked like the file it was made of; options that contradict it are refused by name.
#[test]
fn check_takes_a_store() {
    use austerity_io::design::DesignOptions;
    use austerity_io::store::{ConvertOptions, create};
    let folder = folder("store");
    let file = folder.join("data.parquet");
    let path = file.to_str().unwrap();
    json(&["generate", "logistic", "--rows", "3000", "--features", "2", "--out", path, "--json"]);
    let source = austerity_io::table::open(&file).unwrap();
    let out = folder.join("rows");
    create(&source, (&DesignOptions::new("y"), None), 3, &out, &ConvertOptions::default(), &mut |_| {})
        .unwrap();
    let out = out.to_str().unwrap();
    for arguments in
        [vec!["check", out, "--json"], vec!["check", out, "--response", "y", "--features", "x1,x2", "--json"]]
    {
        let seen = json(&arguments);
        assert_eq!(seen["rows"], 3000);
        assert!((1.0..4.0).contains(&seen["kappa"].as_f64().unwrap()));
    }
    for (arguments, word) in [
        (vec!["check", out, "--response", "x1"], "--response"),
        (vec!["check", out, "--features", "x1"], "--features"),
        (vec!["check", out, "--weights", "x1"], "--weights"),
        (vec!["check", out, "--no-intercept"], "--no-intercept"),
        (vec!["check", out, "--standardize"], "--standardize"),
        (vec!["check", out, "--family", "poisson"], "--family"),
        (vec!["check", path], "--response is missing"),
    ] {
        let output = austerity(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(word), "{arguments:?}: {}", text(&output.stderr));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn text_of(output: &Output) -> String {
    text(&output.stdout)
}

#[test]
fn check_and_generate_refuse_bad_input_with_file_column_row_and_remedy() {
    let folder = folder("refuse");
    let file = |name: &str, content: &str| {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_string()
    };
    let bad_cell = file("cell.csv", "x,y\n1,0\n2,1\nabc,0\n");
    let ragged = file("ragged.csv", "x,y\n1,0\n2,1,7\n");
    let constant = file("constant.csv", "x,z,y\n1,5,0\n2,5,1\n3,5,0\n");
    let empty = file("empty.csv", "");
    let good = file("good.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n");
    let nowhere = folder.join("nowhere.csv").to_str().unwrap().to_string();
    for (arguments, words) in [
        (vec!["check", &bad_cell, "--response", "y"], vec!["cell.csv", "`x`", "abc"]),
        (vec!["check", &ragged, "--response", "y"], vec!["ragged.csv", "3"]),
        (vec!["check", &constant, "--response", "y", "--features", "x,z"], vec!["constant.csv", "`z`", "5"]),
        (vec!["check", &empty, "--response", "y"], vec!["empty.csv"]),
        (vec!["check", &nowhere, "--response", "y"], vec!["nowhere.csv"]),
        (vec!["check", &good, "--response", "yy"], vec!["good.csv", "`yy`", "did you mean `y`"]),
        (vec!["check", &good, "--response", "y", "--batch", "4"], vec!["batch", "4"]),
        (vec!["check", &good, "--response", "y", "--batch", "2", "--block-rows", "2"], vec!["block"]),
        (vec!["check", &good, "--response", "y", "--pairs", "0"], vec!["--pairs"]),
        (vec!["check", &good, "--response", "y", "--family", "poisson", "--trials", "x"], vec!["--trials"]),
        (vec!["generate", "logistic", "--rows", "0", "--features", "2", "--out", &nowhere], vec!["row"]),
        (
            vec!["generate", "logistic", "--rows", "9", "--features", "2", "--out", "data.xlsx"],
            vec!["data.xlsx", ".parquet"],
        ),
    ] {
        let output = austerity(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        for word in words {
            assert!(text(&output.stderr).contains(word), "{arguments:?}: {}", text(&output.stderr));
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
