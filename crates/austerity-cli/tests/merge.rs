//! `austerity merge`: runs with other chains of one posterior are one run, and nothing else is.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::Scratch;

const FIT: &str =
    "fit all.csv --response y --rule sequential --epsilon 0.05 --batch 100 --proposal adaptive --warmup 200";

fn bits(chains: &[Vec<f64>]) -> Vec<Vec<u64>> {
    chains.iter().map(|chain| chain.iter().map(|value| value.to_bits()).collect()).collect()
}

/// Every number of both stores is the same.
fn same_draws(folder: &Scratch, one: &str, other: &str) {
    let (a, b) = (folder.reader(one), folder.reader(other));
    assert_eq!((a.names(), a.draws(), a.chain_numbers()), (b.names(), b.draws(), b.chain_numbers()));
    for j in 0..a.names().len() {
        assert_eq!(bits(&a.parameter(j).unwrap()), bits(&b.parameter(j).unwrap()), "{}", a.names()[j]);
    }
    assert_eq!(a.statistic_names(), b.statistic_names());
    for name in a.statistic_names() {
        assert_eq!(bits(&a.statistic(&name).unwrap()), bits(&b.statistic(&name).unwrap()), "{name}");
    }
}

/// Streams belong to chains, so two half runs are the whole run.
#[test]
fn two_half_runs_are_the_whole_run() {
    let folder = Scratch::new("merge-halves");
    folder.done("generate logistic --rows 3000 --features 3 --seed 6 --out all.csv");
    folder.done(&format!("{FIT} --draws 500 --chains 4 --out whole"));
    folder.done(&format!("{FIT} --draws 500 --chains 2 --out first"));
    folder.done(&format!("{FIT} --draws 500 --chains 2 --first-chain 2 --out second"));
    let said = folder.done("merge second first --out merged");
    assert!(said.contains("4 chains from 2 runs, 500 draws each.") && said.contains("intercept"), "{said}");
    same_draws(&folder, "whole", "merged");
    let (whole, merged) = (folder.json("summary whole"), folder.json("summary merged"));
    for field in [
        "parameters",
        "data_share",
        "acceptance",
        "evaluations",
        "chains",
        "draws",
        "rule",
        "audit",
        "prediction",
    ] {
        assert_eq!(whole[field], merged[field], "{field}");
    }
    assert_eq!(merged["chains"], 4);
    folder.done("predict whole all.csv --out whole.csv");
    folder.done("predict merged all.csv --out merged.csv");
    let read = |name: &str| std::fs::read(folder.at(name)).unwrap();
    assert!(read("whole.csv") == read("merged.csv"));
    folder.refused_with(
        "fit all.csv --response y --out merged --resume",
        &["merged", "cannot go on", "first", "second"],
    );
    folder.refused_with("merge first second --out merged", &["merged", "holds a run already"]);
}

#[test]
fn chains_need_not_follow_each_other_and_lengths_are_cut() {
    let folder = Scratch::new("merge-gaps");
    folder.done("generate linear --rows 1000 --features 2 --seed 6 --out all.csv");
    let fit = "fit all.csv --response y --warmup 200";
    folder.done(&format!("{fit} --draws 300 --chains 1 --first-chain 7 --out late"));
    folder.done(&format!("{fit} --draws 500 --chains 2 --out early"));
    folder.done(&format!("{fit} --draws 400 --chains 1 --first-chain 3 --out middle"));
    let said = folder.json("merge late early --out two");
    assert_eq!((&said["cut"], &said["draws"], &said["chains"]), (&true.into(), &300.into(), &3.into()));
    assert!(folder.done("merge two middle --out three").contains("cut to the shortest of 300, 400"));
    let merged = folder.reader("three");
    assert_eq!(merged.chain_numbers(), [0, 1, 3, 7]);
    for (run, chain, place) in [("early", 0, 0), ("early", 1, 1), ("middle", 0, 2), ("late", 0, 3)] {
        let from = folder.reader(run).parameter(1).unwrap();
        assert_eq!(merged.parameter(1).unwrap()[place], from[chain][..300], "{run}");
    }
    folder.done("predict three all.csv --out made.csv");
    folder.done("summary three");
    folder.refused_with(
        "fit all.csv --response y --out three --resume",
        &["cannot go on", "late", "early", "middle"],
    );
}

#[test]
fn runs_that_do_not_fit_together_are_refused_with_the_difference() {
    let folder = Scratch::new("merge-refused");
    folder.done("generate linear --rows 500 --features 2 --seed 6 --out all.csv");
    folder.done("generate linear --rows 500 --features 2 --seed 7 --out other.csv");
    folder.done("generate linear --rows 500 --features 3 --seed 6 --out wide.csv");
    let run = |file: &str, out: &str, more: &str| {
        folder
            .done(&format!("fit {file} --response y --warmup 100 --draws 100 --chains 2 --out {out} {more}"));
    };
    run("all.csv", "base", "");
    for (file, more, words) in [
        ("all.csv", "--first-chain 1", &["chain 1:", "--first-chain 2"][..]),
        ("other.csv", "--first-chain 2", &["fingerprint"]),
        ("wide.csv", "--first-chain 2", &["list of coefficients", "x3"]),
        ("all.csv", "--first-chain 2 --seed 5", &["the seed is 1 there and 5 here"]),
        ("all.csv", "--first-chain 2 --prior normal:7", &["prior of x1", "7"]),
        ("all.csv", "--first-chain 2 --family student", &["family", "linear", "student"]),
        ("all.csv", "--first-chain 2 --warmup 50", &["`warmup`", "100", "50"]),
        ("all.csv", "--first-chain 2 --thin 2", &["`thin`", "1", "2"]),
        ("all.csv", "--first-chain 2 --rule sequential --epsilon 0.1 --batch 50", &["the rule", "0.1"]),
        ("all.csv", "--first-chain 2 --proposal random-walk:0.01", &["proposal", "0.01"]),
        ("all.csv", "--first-chain 2 --keep x1", &["kept parameters", "x1"]),
        ("all.csv", "--first-chain 2 --prior normal:5 --standardize", &["prior of x1"]),
    ] {
        let more = more.replace("--warmup 50", "");
        let warmup = if words[0] == "`warmup`" { "50" } else { "100" };
        folder.done(&format!(
            "fit {file} --response y --warmup {warmup} --draws 100 --chains 2 --out another {more}"
        ));
        folder.refused_with("merge base another --out merged", words);
        folder.refused_with("merge base another --out merged", &["base", "another"]);
        assert!(!folder.at("merged").exists(), "nothing is left behind");
        std::fs::remove_dir_all(folder.at("another")).unwrap();
    }
    folder.refused_with("merge base --out merged", &["RUN"]);
    folder.refused_with("merge base nothing --out merged", &["nothing", "run.toml"]);
    folder.refused_with("merge base base --out merged", &["both hold chain 0, 1"]);
}
