//! Bits that flip and files that are cut short, in stores and in runs: `verify` finds every one of them, `fit` refuses the store, and whatever
//! `summary` still says of a run is what it said before.
//!
//! The partner that shows the power is `flips_matter`: without the comparison, flips give another posterior.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use austerity_io::seal;
use serde_json::Value;

use super::{Dice, rounds};
use crate::common::{Scratch, files, restore, text};

const FIT: &str = "--chains 2 --warmup 30 --draws 60 --seed 2 --rule exact --proposal adaptive";
/// Bits that flip at once.
const FLIPS: usize = 20;

/// Damages some file: a bit, twenty bits anywhere, or its end. Gives the files that are not what they were.
fn damage(content: &BTreeMap<PathBuf, Vec<u8>>, dice: &mut Dice) -> Vec<PathBuf> {
    let all: Vec<&PathBuf> = content.keys().filter(|file| !file.ends_with("lock")).collect();
    let bytes: usize = all.iter().map(|file| content[*file].len()).sum();
    let mut changed: BTreeMap<&PathBuf, Vec<u8>> = BTreeMap::new();
    // By size, so that large files are met, and by name, so that small ones are.
    let pick = |dice: &mut Dice| {
        if dice.below(2) == 0 {
            return all[dice.below(all.len())];
        }
        let mut at = dice.below(bytes);
        all.iter()
            .copied()
            .find(|file| {
                content[*file].len() > at || {
                    at -= content[*file].len();
                    false
                }
            })
            .unwrap_or(all[0])
    };
    match dice.below(3) {
        0 => {
            let file = pick(dice);
            let length = dice.below(content[file].len());
            changed.insert(file, content[file][..length].to_vec());
        }
        kind => {
            for _ in 0..if kind == 1 { 1 } else { FLIPS } {
                let file = pick(dice);
                let bytes = changed.entry(file).or_insert_with(|| content[file].clone());
                if !bytes.is_empty() {
                    let at = dice.below(bytes.len());
                    bytes[at] ^= 1 << dice.below(8);
                }
            }
        }
    }
    changed.retain(|file, bytes| content[*file] != *bytes);
    changed.iter().for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
    changed.into_keys().cloned().collect()
}

/// One of the files is named.
fn names_one(said: &str, files: &[PathBuf]) -> bool {
    files.iter().any(|file| said.contains(&*file.file_name().unwrap().to_string_lossy()))
}

#[test]
fn a_damaged_store_is_refused_and_named() {
    let scratch = Scratch::new("mutated-store");
    scratch.done("generate logistic --rows 20000 --features 3 --out data.csv");
    scratch.done("convert data.csv --response y --out store");
    let store = scratch.at("store");
    let intact = files(&store);
    for round in rounds() {
        let mut dice = Dice::new(round);
        for case in 0..60 {
            let changed = damage(&intact, &mut dice);
            if changed.is_empty() {
                continue;
            }
            let what = format!("round {round}, case {case}: {changed:?}");
            let said = scratch.refused(&format!("fit store {FIT} --out run"));
            assert!(names_one(&said, &changed), "{what}: {said}");
            assert!(!scratch.at("run").exists(), "{what}");
            let verified = scratch.run("verify store --json");
            assert_eq!(verified.status.code(), Some(1), "{what}: {}", text(&verified.stdout));
            let found: Value = serde_json::from_slice(&verified.stdout).unwrap();
            assert_eq!(found["sound"], false, "{what}");
            assert!(names_one(&found["damage"].to_string(), &changed), "{what}: {found}");
            restore(&store, &intact);
        }
    }
    assert_eq!(scratch.run("verify store").status.code(), Some(0));
}

/// Makes the checksums of a store fit whatever its blocks hold now.
fn reseal(store: &std::path::Path) {
    let read = |name: &str| fs::read(store.join(name)).unwrap();
    let mut meta: Value = serde_json::from_slice(&read("meta.json")).unwrap();
    let (blocks, mut sums) = (read("blocks.npy"), read("checksums.npy"));
    let rows = meta["description"]["rows"].as_u64().unwrap() as usize;
    let block = (blocks.len() - 128) / rows.div_ceil(32);
    let piece = block * meta["pieces"]["blocks"].as_u64().unwrap() as usize;
    let mut data = 0xcbf2_9ce4_8422_2325_u64;
    for (place, bytes) in blocks[128..].chunks(piece).enumerate() {
        let sum = u32::from_str_radix(&seal::of(bytes)["crc32c:".len()..], 16).unwrap();
        sums[128 + 4 * place..][..4].copy_from_slice(&sum.to_le_bytes());
        data = (data ^ u64::from(sum)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    meta["pieces"]["file"] = seal::of(&sums).into();
    meta["data_checksum"] = format!("crc:{data:016x}").into();
    meta["checksum"] = seal::PLACE.into();
    fs::write(store.join("checksums.npy"), sums).unwrap();
    fs::write(store.join("meta.json"), seal::apply(&serde_json::to_string_pretty(&meta).unwrap())).unwrap();
}

/// What the checksums are for: where they are made to fit, the same flips give exit code 0 or 1 and another posterior.
#[test]
fn flips_matter() {
    let scratch = Scratch::new("flips-matter");
    scratch.done("generate logistic --rows 200 --features 3 --out data.csv");
    scratch.done("convert data.csv --response y --out store");
    scratch.fit(&format!("fit store {FIT} --out whole"));
    let mut blocks = fs::read(scratch.at("store/blocks.npy")).unwrap();
    // The sign of twenty responses, the fourth column of each block, which are stored as 1 and −1.
    let successes = (0..blocks.len()).filter(|at| {
        let (column, byte) = ((at.saturating_sub(128)) / 128 % 4, at % 4);
        *at >= 128 && column == 3 && byte == 3 && blocks[*at] == 0x3F
    });
    let flipped: Vec<usize> = successes.take(FLIPS).collect();
    assert_eq!(flipped.len(), FLIPS);
    flipped.into_iter().for_each(|at| blocks[at] ^= 0x80);
    fs::write(scratch.at("store/blocks.npy"), blocks).unwrap();
    scratch.refused(&format!("fit store {FIT} --out flipped"));
    reseal(&scratch.at("store"));
    scratch.fit(&format!("fit store {FIT} --out flipped"));
    let [whole, flipped] = ["whole", "flipped"].map(|run| scratch.summary(run)["parameters"][0].clone());
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap();
    let moved = (number(&whole, "mean") - number(&flipped, "mean")) / number(&whole, "sd");
    assert!(moved > 1.5, "{whole} and {flipped}");
}

#[test]
fn a_damaged_run_is_found_out_and_never_misread() {
    let scratch = Scratch::new("mutated-run");
    scratch.done("generate logistic --rows 300 --features 2 --out data.csv");
    let fit = format!("fit data.csv --response y {FIT}");
    scratch.fit(&format!("{fit} --out run"));
    scratch.fit(&format!("{} --out run --resume", fit.replace("--draws 60", "--draws 90")));
    let run = scratch.at("run");
    let intact = files(&run);
    let before = scratch.summary("run");
    let whole = scratch.draws("run");
    let (mut answered, mut refused) = (0, 0);
    for round in rounds() {
        let mut dice = Dice::new(round ^ 0xB17E5);
        for case in 0..60 {
            let changed = damage(&intact, &mut dice);
            if changed.is_empty() {
                continue;
            }
            let what = format!("round {round}, case {case}: {changed:?}");
            let verified = scratch.run("verify run --json");
            assert_eq!(verified.status.code(), Some(1), "{what}: {}", text(&verified.stdout));
            let found: Value = serde_json::from_slice(&verified.stdout).unwrap();
            assert!(names_one(&found["damage"].to_string(), &changed), "{what}: {found}");
            let summary = scratch.run("summary run --json");
            match summary.status.code() {
                Some(0) => {
                    answered += 1;
                    let now: Value = serde_json::from_slice(&summary.stdout).unwrap();
                    assert_eq!(now["parameters"], before["parameters"], "{what}");
                    assert_eq!(now["draws"], before["draws"], "{what}");
                    // An older checkpoint is said to be one.
                    let older = now["evaluations"] != before["evaluations"];
                    let said = format!("{}{}", now["remarks"], now["reasons"]);
                    assert!(!older || said.contains("checkpoint"), "{what}: {said}");
                }
                Some(2) => {
                    refused += 1;
                    assert!(names_one(&text(&summary.stderr), &changed), "{what}: {}", text(&summary.stderr));
                }
                code => panic!("{what}: {code:?}"),
            }
            if case % 4 == 0 {
                let resumed =
                    scratch.run(&format!("{} --out run --resume", fit.replace("--draws 60", "--draws 90")));
                match resumed.status.code() {
                    // Damage in a chunk that is full is found by whoever reads it.
                    Some(0 | 1) => scratch.draws("run").assert_equal(&whole, &what),
                    code => assert_eq!(code, Some(2), "{what}: {}", text(&resumed.stderr)),
                }
            }
            restore(&run, &intact);
        }
    }
    eprintln!("{answered} answered as before, {refused} refused");
    assert_eq!(scratch.run("verify run").status.code(), Some(0));
}
