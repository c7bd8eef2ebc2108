//! Options, priors, output folders and settings of a run that are refused.

use std::fs;

use super::support::{SHORT, Scratch, austerity, fit_refuses, good, refused, text};

#[test]
fn options_out_of_range() {
    let folder = Scratch::new("options");
    let data = folder.file("good.csv", good());
    let cases: &[(&[&str], &[&str])] = &[
        (&["--prior", "nonsense"], &["--prior", "nonsense", "normal:SD"]),
        (&["--prior", "normal:-1"], &["-1", "positive"]),
        (&["--prior", "normal:nan"], &["NaN", "positive"]),
        (&["--prior-intercept", "x"], &["--prior-intercept", "normal:SD"]),
        (&["--prior-intercept", "flat", "--no-intercept"], &["no intercept"]),
        (&["--epsilon", "0.7"], &["epsilon", "0.7", "0.5"]),
        (&["--epsilon", "nan"], &["epsilon", "NaN"]),
        (&["--batch", "0"], &["0", "at least 1 row"]),
        (&["--batch", "-5"], &["--batch", "-5"]),
        (&["--growth", "0.5"], &["growth", "0.5", "at least 1"]),
        (&["--growth", "inf"], &["growth", "inf"]),
        (&["--chains", "0"], &["chains", "at least 1"]),
        (&["--chains", "4000000000"], &["--chains", "4096"]),
        (&["--draws", "0"], &["draws", "at least 1"]),
        (&["--draws", "-3"], &["--draws", "-3"]),
        (&["--budget", "0s"], &["seconds", "positive"]),
        (&["--budget", "-5s"], &["--budget", "-5s"]),
        (&["--budget", "soon"], &["--budget", "soon"]),
        (&["--target-ess", "-1"], &["target_ess", "-1", "positive"]),
        (&["--tolerance", "2"], &["--tolerance", "2", "below 1"]),
        (&["--tolerance", "0"], &["--tolerance", "above 0"]),
        (&["--audit", "3"], &["--audit", "'3'", "from 0 to 1"]),
        (&["--audit", "-1"], &["--audit", "'-1'", "from 0 to 1"]),
        (&["--audit", "x"], &["--audit", "'x'", "auto, off"]),
        (&["--bound", "x"], &["--bound", "'x'", "pocock"]),
        (&["--bound", "wang-tsiatis:1"], &["wang-tsiatis:2.3,0.75"]),
        (&["--law", "x"], &["--law", "'x'", "metropolis"]),
        (&["--law", "compensated:0"], &["lambda", "0", "positive"]),
        (&["--proposal", "x"], &["--proposal", "'x'", "random-walk:SD"]),
        (&["--proposal", "random-walk:-1"], &["--proposal", "random-walk:0.01"]),
        (&["--proposal", "langevin"], &["--proposal", "'langevin'", "langevin:STEP"]),
        (&["--proposal", "langevin:0"], &["--proposal", "'langevin:0'", "above 0 and below 2"]),
        (&["--proposal", "langevin:-1"], &["--proposal", "'langevin:-1'", "above 0 and below 2"]),
        (&["--proposal", "langevin:2"], &["--proposal", "'langevin:2'", "above 0 and below 2"]),
        (&["--proposal", "langevin:nan"], &["--proposal", "'langevin:nan'", "above 0 and below 2"]),
        (&["--proposal", "langevin:fast"], &["--proposal", "'langevin:fast'", "write it as langevin:1"]),
        (&["--keep", "intercep"], &["--keep intercep", "did you mean intercept?"]),
        (&["--keep", "zzz"], &["--keep zzz", "there are intercept, a, b"]),
        (&["--keep", "a,a"], &["--keep", "twice"]),
        (&["--stop-at", "-1"], &["--stop-at", "-1", "0 or more"]),
        (&["--stop-at", "nan"], &["--stop-at", "NaN"]),
        (&["--block-rows", "0"], &["--block-rows", "at least 1"]),
        (&["--thin", "0"], &["thin", "at least 1"]),
        (&["--evaluations", "-1"], &["--evaluations", "-1"]),
        (&["--first-chain", "4294967295"], &["first_chain", "below 2^32"]),
        (&["--rule", "x"], &["--rule", "exact"]),
        (&["--family", "x"], &["--family", "poisson"]),
        (&["--resume"], &["no run", "run.toml"]),
    ];
    for (options, words) in cases {
        fit_refuses(&folder, &options.join(" "), (&data, options), words);
    }
    let out = folder.name("run");
    refused("no response", &["fit", &data, "--out", &out], &out, &["--response", "missing"]);
    for (options, words) in [
        (["--batch", "0"], "batch"),
        (["--batch", "100000"], "half of the 120"),
        (["--pairs", "0"], "--pairs"),
        (["--repetitions", "0"], "repetitions"),
    ] {
        let arguments = [&["check", &data, "--response", "y", "--block-rows", "4"], &options[..]].concat();
        refused(&options.join(" "), &arguments, &out, &[words]);
    }
    // More rows in the first look than there are: the exact decision.
    let arguments =
        ["fit", &data, "--response", "y", "--out", &out, "--batch", "100000", "--draws", "20", "--json"];
    assert!(matches!(austerity(&arguments).status.code(), Some(0 | 1)));
}

#[test]
fn files_of_priors_that_are_wrong() {
    let folder = Scratch::new("priors");
    let data = folder.file("good.csv", good());
    let cases: &[(&str, &[&str])] = &[
        ("", &["empty"]),
        ("coefficient,prior\n", &["no rows"]),
        ("x,y\na,flat\n", &["no column `coefficient`"]),
        ("coefficient,prior\na,flat\nb,normal:x\n", &["`prior`", "row 2", "normal:x", "normal:SD"]),
        ("coefficient,prior\na\n", &["line 2", "1 cells"]),
        ("coefficient,prior\na,normal:1\na,normal:2\n", &["row 2", "`a`", "already"]),
        ("coefficient,prior\na,\"student:4\n", &["not closed"]),
    ];
    for (content, words) in cases {
        let priors = folder.file("priors.csv", content);
        fit_refuses(&folder, content, (&data, &["--priors", &priors]), &[&["priors.csv"], *words].concat());
    }
    let priors = folder.file("priors.csv", "coefficient,prior\nintercep,flat\n");
    let words = ["--priors", "`intercep`", "did you mean `intercept`", "a, b"];
    fit_refuses(&folder, "no such coefficient", (&data, &["--priors", &priors]), &words);
    fit_refuses(
        &folder,
        "no file",
        (&data, &["--priors", &folder.name("none.csv")]),
        &["none.csv", "check the path"],
    );
    let words = ["priors.csv", "has no column", "leave this file out"];
    fit_refuses(&folder, "a folder of other tables", (&data, &["--priors", &folder.name("")]), &words);
}

#[test]
fn folders_that_cannot_be_a_run() {
    let folder = Scratch::new("folders");
    let data = folder.file("good.csv", good());
    let fit = |out: &str| {
        austerity(&[&["fit", &data, "--response", "y", "--out", out, "--json"], &SHORT[..]].concat())
    };
    let under = format!("{data}/run");
    refused(
        "under a file",
        &["fit", &data, "--response", "y", "--out", &under],
        &under,
        &["good.csv/run", "--out"],
    );
    for (out, words) in [(data.as_str(), ["good.csv", "--out"]), ("/dev/null", ["/dev/null", "--out"])] {
        let output = fit(out);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    assert_eq!(fs::read_to_string(&data).unwrap(), good(), "the data were touched");
    let full = folder.name("full");
    fs::create_dir(&full).unwrap();
    folder.file("full/precious.txt", "mine");
    let said = text(&fit(&full).stderr);
    assert!(said.contains("not empty") && said.contains("--out"), "{said}");
    assert_eq!(fs::read_to_string(folder.name("full/precious.txt")).unwrap(), "mine");
    // A folder that was there and is empty is used; a run that is there is kept.
    let run = folder.name("run");
    fs::create_dir(&run).unwrap();
    assert!(matches!(fit(&run).status.code(), Some(0 | 1)));
    let before = fs::read(folder.name("run/run.toml")).unwrap();
    let again = fit(&run);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--resume"), "{}", text(&again.stderr));
    assert_eq!(fs::read(folder.name("run/run.toml")).unwrap(), before);
    for (what, path, words) in [
        ("no run", folder.name("full"), ["no run", "austerity fit"]),
        ("nothing", folder.name("nothing"), ["no run", "austerity fit"]),
        ("a file", data.clone(), ["good.csv", "run.toml"]),
    ] {
        refused(what, &["summary", &path, "--json"], &folder.name("none"), &words);
    }
}

#[test]
fn settings_of_a_run_that_are_damaged() {
    let folder = Scratch::new("settings");
    let data = folder.file("good.csv", good());
    let run = folder.name("run");
    let fit = [&["fit", &data, "--response", "y", "--out", &run, "--json"], &SHORT[..]].concat();
    assert!(matches!(austerity(&fit).status.code(), Some(0 | 1)));
    let whole = fs::read_to_string(folder.name("run/run.toml")).unwrap();
    let cut = whole[..whole.len() / 2].to_owned();
    let cases = [
        ("empty", String::new()),
        ("no TOML", "[[[".into()),
        ("cut", cut),
        ("no number", whole.replacen("chains = 1", "chains = \"one\"", 1)),
        ("negative", whole.replacen("chains = 1", "chains = -1", 1)),
        ("huge", whole.replacen("chains = 1", "chains = 99999999999999999999", 1)),
        ("unknown family", whole.replacen("family = \"logistic\"", "family = \"cubic\"", 1)),
        ("no column", whole.replacen("column = \"a\"", "column = 3", 1)),
    ];
    for (what, content) in cases {
        assert_ne!(content, whole, "{what}: nothing was changed");
        folder.file("run/run.toml", content);
        refused(what, &["summary", &run, "--json"], &folder.name("none"), &["run.toml", "damaged"]);
    }
    folder.file("run/run.toml", &whole);
    // A bit flipped anywhere in the checkpoint, and no checkpoint before it.
    let _ = fs::remove_file(folder.name("run/checkpoint.previous"));
    let bytes = fs::read(folder.name("run/checkpoint")).unwrap();
    for at in [0, 9, 15, 22, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        folder.file("run/checkpoint", damaged);
        let output = austerity(&["summary", &run]);
        let said = text(&output.stderr);
        assert!(!said.contains("panicked"), "{said}");
        assert!(output.status.success() || said.contains("checkpoint"), "byte {at}: {said}");
    }
}
