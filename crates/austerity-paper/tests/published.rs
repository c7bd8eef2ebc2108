//! The run in `docs/reproduction` is one of this program: every experiment, every claim with the words and the threshold that it has now, every figure; and what is compared with it is
//! found out when it differs.

use std::fs;
use std::path::{Path, PathBuf};

use austerity_paper::EXPERIMENTS;
use austerity_paper::compare::compare;
use serde_json::Value;

/// Bytes of the whole run in the repository.
const MOST_BYTES: u64 = 6_000_000;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn published() -> PathBuf {
    docs().join("reproduction")
}

fn result(experiment: &str) -> Value {
    let path = published().join(experiment).join("result.json");
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn every_claim_is_published_as_it_is_now() {
    for experiment in EXPERIMENTS {
        let result = result(experiment.name);
        assert_eq!(result["size"], "paper", "{}", experiment.name);
        assert!(result["seed"].is_u64() && result["cpu_seconds"].as_f64().unwrap() > 0.0);
        let checks = result["checks"].as_array().unwrap();
        for claim in experiment.claims {
            let found: Vec<&Value> = checks.iter().filter(|check| check["name"] == claim.name).collect();
            assert!(!found.is_empty(), "{}: {} is not published", experiment.name, claim.name);
            for check in found {
                assert_eq!(check["wanted"], claim.wanted(), "{}: {}", experiment.name, claim.name);
                assert_eq!(check["quote"].as_str().unwrap_or_default(), claim.quote, "{}", claim.name);
                assert_eq!(check["source"], serde_json::to_value(claim.source).unwrap(), "{}", claim.name);
                assert_eq!(check["partner"], claim.partner, "{}", claim.name);
            }
        }
        for check in checks {
            let known = experiment.claims.iter().any(|claim| check["name"] == claim.name);
            assert!(known, "{}: {} is no claim any more", experiment.name, check["name"]);
        }
    }
}

/// Sums up the sizes of all files below `folder`, and looks at each.
fn walk(folder: &Path, look: &mut dyn FnMut(&Path)) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let size = |path: PathBuf| {
        if path.is_dir() {
            return walk(&path, look);
        }
        look(&path);
        fs::metadata(&path).unwrap().len()
    };
    entries.map(size).sum()
}

#[test]
fn pages_and_figures_are_there_and_small() {
    let index = fs::read_to_string(published().join("index.html")).unwrap();
    for experiment in EXPERIMENTS {
        let home = published().join(experiment.name);
        assert!(index.contains(&format!("{}/index.html", experiment.name)));
        let page = fs::read_to_string(home.join("index.html")).unwrap();
        assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("NaN"));
        assert!(fs::read_dir(home.join("figures")).unwrap().count() > 0);
    }
    let mut look = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        for place in ["work", "home", "root", "tmp"] {
            assert!(!text.contains(&format!("/{place}/")), "{} names the folder {place}", path.display());
        }
    };
    let bytes = walk(&published(), &mut look);
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

/// `docs/reproduction.md` has the table of the run, row by row.
#[test]
fn the_table_is_that_of_the_run() {
    let table = fs::read_to_string(published().join("claims.md")).unwrap();
    let page = fs::read_to_string(docs().join("reproduction.md")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows.len() > EXPERIMENTS.len() && rows.iter().all(|row| page.contains(row)));
}

/// What `cargo xtask reproduce --check` does with a new run: one that says the same is borne out, one whose verdict is turned round is not.
#[test]
fn a_new_run_is_compared_with_it() {
    let same = compare(&published(), &published()).unwrap();
    assert!(same.same > 0 && same.contradictions.is_empty() && same.apart.is_empty(), "{same:?}");
    let new = std::env::temp_dir().join(format!("austerity-published-{}", std::process::id()));
    let home = new.join("theory");
    fs::create_dir_all(&home).unwrap();
    let mut turned = result("theory");
    let checks = turned["checks"].as_array_mut().unwrap();
    let held = checks.iter_mut().find(|check| check["verdict"] == "holds").unwrap();
    held["verdict"] = "differs".into();
    fs::write(home.join("result.json"), turned.to_string()).unwrap();
    let other = compare(&published(), &new).unwrap();
    assert_eq!(other.contradictions.len(), 1, "{other:?}");
    fs::remove_dir_all(&new).unwrap();
}
