//! Checksums and names: what `verify` says, what a resumed run compares, what is printed and exported of hostile names, exports at once.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::process::Stdio;

use crate::common::{Scratch, files, text};

const FIT: &str = "--chains 2 --warmup 50 --draws 80 --seed 2 --rule exact --proposal adaptive";

#[test]
fn verify_names_what_is_lost() {
    let scratch = Scratch::new("verify");
    scratch.done("generate logistic --rows 3000 --features 2 --out data.csv");
    scratch.done("convert data.csv --response y --out store");
    scratch.done("convert data.csv --response y --out shards --shards 2");
    scratch.fit(&format!("fit store {FIT} --out run"));
    for (path, kind) in [("run", "run"), ("store", "store"), ("shards", "store"), ("shards/shard-2", "store")]
    {
        let found = scratch.json(&format!("verify {path}"));
        assert_eq!((&found["sound"], &found["kind"]), (&true.into(), &kind.into()), "{found}");
        assert!(
            found["damage"].as_array().unwrap().is_empty() && found["files"].as_u64().unwrap() >= 4,
            "{found}"
        );
    }
    // The data of the run are a store, so they are checked with it.
    let blocks = scratch.at("store/blocks.npy");
    let intact = fs::read(&blocks).unwrap();
    let mut flipped = intact.clone();
    flipped[5000] ^= 0x40;
    fs::write(&blocks, flipped).unwrap();
    for path in ["run", "store"] {
        let output = scratch.run(&format!("verify {path}"));
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("DAMAGED") && said.contains("blocks.npy") && said.contains("Lost: up to"),
            "{said}"
        );
    }
    let said = scratch.refused(&format!("fit store {FIT} --out other"));
    assert!(said.contains("blocks.npy") && said.contains("the checksum of block"), "{said}");
    fs::write(&blocks, intact).unwrap();
    // A chunk, with its draws.
    let chunk = scratch.at("run/draws.zarr/posterior/coefficients/c.1.0.0");
    let intact = fs::read(&chunk).unwrap();
    let mut flipped = intact.clone();
    flipped[100] ^= 1;
    fs::write(&chunk, flipped).unwrap();
    let output = scratch.run("verify run");
    let said = text(&output.stdout);
    assert!(said.contains("c.1.0.0") && said.contains("draws 1 to 80 of chain 1 (coefficients)"), "{said}");
    fs::write(&chunk, intact).unwrap();
    // No run and no store.
    scratch.refused_with("verify data.csv", &["neither a run nor a store"]);
    scratch.refused_with("verify nothing", &["neither a run nor a store"]);
    fs::create_dir(scratch.at("empty")).unwrap();
    scratch.refused_with("verify empty", &["neither a run nor a store"]);
}

#[test]
fn an_edited_run_file_is_refused_and_an_earlier_one_is_read() {
    let scratch = Scratch::new("edited");
    scratch.done("generate logistic --rows 500 --features 2 --out data.csv");
    scratch.fit(&format!("fit data.csv --response y {FIT} --out run"));
    let file = scratch.at("run/run.toml");
    let intact = fs::read_to_string(&file).unwrap();
    assert!(intact.starts_with("# checksum crc32c:"), "{intact}");
    fs::write(&file, intact.replacen("warmup = 50", "warmup = 51", 1)).unwrap();
    scratch.refused_with("summary run", &["run.toml", "edited", "checksum", "first line"]);
    // As an earlier version wrote it.
    let (_, bare) = intact.split_once('\n').unwrap();
    fs::write(&file, bare).unwrap();
    scratch.summary("run");
    let found = scratch.json("verify run");
    assert!(
        found["sound"] == true && found["notes"].to_string().contains("run.toml carries no checksum"),
        "{found}"
    );
    // Its checksum of the data is the one of then.
    let sum = |text: &str| text.lines().find(|line| line.starts_with("checksum = ")).unwrap().to_owned();
    assert!(sum(bare).contains("crc:"), "{bare}");
    fs::write(&file, bare.replace(&sum(bare), "checksum = \"0123456789abcdef\"")).unwrap();
    let resume =
        format!("fit data.csv --response y {} --out run --resume", FIT.replace("--draws 80", "--draws 90"));
    scratch.refused_with(&resume, &["the data differ", "checksum", "0123456789abcdef"]);
}

#[test]
fn summary_says_when_it_used_an_older_checkpoint() {
    let scratch = Scratch::new("older");
    scratch.done("generate logistic --rows 500 --features 2 --out data.csv");
    scratch.fit(&format!("fit data.csv --response y {FIT} --out run"));
    assert!(!scratch.done("summary run").contains("checkpoint"));
    let file = scratch.at("run/checkpoint");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    let said = scratch.done("summary run");
    assert!(
        said.contains("newest checkpoint cannot be read") && said.contains("the checkpoint before it"),
        "{said}"
    );
    assert!(scratch.summary("run")["remarks"].to_string().contains("checkpoint before it"));
}

#[test]
fn hostile_names_reach_neither_terminal_nor_spreadsheet() {
    let scratch = Scratch::new("names");
    let red = "x\u{1b}[31m\u{7}";
    let mut csv = format!("y,{red},=1+1,\"two\nlines\",level\n");
    for row in 0..400_i32 {
        let level = ["plain", "\u{1b}]0;owned\u{7}", "@SUM(A1)"][(row % 3) as usize];
        csv += &format!("{},{},{},{},{level}\n", row * 7 % 5 % 2, row % 11, row * 3 % 17, row * 5 % 13);
    }
    scratch.file("data.csv", &csv);
    let quiet = |output: &std::process::Output, what: &str| {
        for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let said = text(bytes);
            let bad = said.chars().find(|letter| letter.is_control() && *letter != '\n' && *letter != '\t');
            assert_eq!(bad, None, "{what}, {stream}: {said:?}");
        }
    };
    let fit = scratch.fit(&format!("fit data.csv --response y {FIT} --out run"));
    quiet(&fit, "fit");
    let summary = scratch.run("summary run");
    quiet(&summary, "summary");
    let said = text(&summary.stdout);
    assert!(said.contains("x\\u{1b}[31m") && said.contains("two\\nlines"), "{said}");
    quiet(&scratch.run("fit data.csv --response nobody --out none"), "an error that lists columns");
    scratch.file("bad.csv", csv.replacen("\n0,0,", "\n0,oops,", 1));
    quiet(&scratch.run("fit bad.csv --response y --out none"), "an error with a place");
    scratch.done("export run --out draws.csv");
    let header = fs::read_to_string(scratch.at("draws.csv")).unwrap();
    let header = header.split("\n0,").next().unwrap();
    assert!(header.contains("'=1+1") && !header.contains(",=1+1"), "{header}");
    let page = fs::read_to_string(scratch.at("run/report.html")).unwrap();
    assert!(!page.contains('\u{1b}') && !page.contains('\u{7}'));
}

/// Each of two commands writes its own file; the last name wins, whole.
#[test]
fn exports_to_one_file_at_once_never_mix() {
    let scratch = Scratch::new("at-once");
    scratch.done("generate logistic --rows 500 --features 2 --out data.csv");
    scratch
        .fit(&format!("fit data.csv --response y {} --out run", FIT.replace("--draws 80", "--draws 20000")));
    let lines = ["export run --out draws.csv", "export run --out draws.csv --statistics"];
    let whole = lines.map(|line| {
        scratch.done(line);
        fs::read(scratch.at("draws.csv")).unwrap()
    });
    fs::remove_file(scratch.at("draws.csv")).unwrap();
    for _ in 0..3 {
        let mut children: Vec<_> = (0..6)
            .map(|i| {
                let mut command = scratch.command(lines[i % 2].split_whitespace());
                command.stdout(Stdio::null()).spawn().unwrap()
            })
            .collect();
        children.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
        let made = fs::read(scratch.at("draws.csv")).unwrap();
        assert!(whole.contains(&made), "{} bytes, of {:?}", made.len(), whole.each_ref().map(Vec::len));
    }
    assert!(!files(scratch.path()).keys().any(|file| file.extension().is_some_and(|e| e == "part")));
}

/// A target that is a link is replaced; what it leads to is left alone. So is what a link named `lock` leads to.
#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new("links");
    scratch.done("generate logistic --rows 500 --features 2 --out data.csv");
    scratch.fit(&format!("fit data.csv --response y {FIT} --out run"));
    let precious = scratch.file("precious", "precious");
    symlink(&precious, scratch.at("draws.csv")).unwrap();
    symlink(&precious, scratch.at("draws.csv.part")).unwrap();
    scratch.done("export run --out draws.csv");
    fs::remove_file(scratch.at("run/lock")).unwrap();
    symlink(&precious, scratch.at("run/lock")).unwrap();
    let resume = FIT.replace("--draws 80", "--draws 90");
    scratch.refused_with(&format!("fit data.csv --response y {resume} --out run --resume"), &["lock"]);
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
}

/// Output that cannot be written is exit code 2.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_for_the_output_is_exit_2() {
    let scratch = Scratch::new("dev-full");
    scratch.done("generate logistic --rows 500 --features 2 --out data.csv");
    scratch.fit(&format!("fit data.csv --response y {FIT} --out run"));
    for line in ["summary run", "verify run", "summary run --json"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = scratch.command(line.split_whitespace()).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("cannot write the output"), "{line}");
    }
}
