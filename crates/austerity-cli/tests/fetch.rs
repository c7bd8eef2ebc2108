//! `austerity data fetch` as a user meets it, against a server on this machine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../austerity-paper/tests/common/formats.rs"]
mod formats;
#[path = "../../austerity-paper/tests/common/server.rs"]
mod server;

use crate::common::Scratch;
use formats::{covertype, gzip, sha256};
use server::{Manner, Server};

#[test]
fn from_a_server_to_a_fit() {
    let (scratch, server) = (Scratch::new("fetch"), Server::start());
    let text = covertype(3000);
    let sum = sha256(text.as_bytes());
    server.serve("covtype.data.gz", &gzip(text.as_bytes()), Manner::Cut { bytes: 20_000, times: 1 });
    scratch.file("sums", format!("{sum}  covtype.data\n"));
    let line = format!(
        "data fetch covertype --out data --from {}/covtype.data.gz --checksums sums --timeout 5",
        server.address()
    );
    let said = scratch.done(&line);
    for word in ["covtype.parquet  3000 × 55", "AUSTERITY_DATA=data", "seven classes"] {
        assert!(said.contains(word), "`{word}` is missing in: {said}");
    }
    assert!(scratch.done(&line).contains("nothing to do"));
    let told = scratch.json(&line);
    assert_eq!((&told["present"], &told["record"]["sources"][0]["checked"]), (&true.into(), &true.into()));
    assert_eq!(scratch.table("data/covtype.parquet").names.len(), 55);
    scratch
        .done("fit data/covtype.parquet --response Slope --features Elevation,Aspect --draws 200 --out run");
}

#[test]
fn refusals_name_the_address_what_was_expected_and_a_remedy() {
    let (scratch, server) = (Scratch::new("fetch-refused"), Server::start());
    let text = covertype(30);
    let (sum, address) = (sha256(text.as_bytes()), server.address());
    server.serve("covtype.data.gz", &gzip(text.as_bytes()), Manner::Whole);
    let from = format!("data fetch covertype --out data --from {address}/covtype.data.gz");
    scratch.refused_with(&from, &[&address, "sha256 expected", &sum, "--checksums"]);
    scratch.refused_with(
        &format!("data fetch covertype --out data --from {address}/no.gz"),
        &["404", "no.gz", "--from"],
    );
    scratch.refused_with("data fetch covertype --out data --from nowhere", &["nowhere", "no folder"]);
    scratch.refused_with("data fetch covertype --out data --timeout 0", &["--timeout", "above 0"]);
    scratch.refused_with("data fetch iris", &["iris", "mnist79", "covertype"]);
    scratch.refused_with(&format!("{from} --unchecked --checksums sums"), &["--unchecked"]);
    scratch.refused_with(&format!("{from} --checksums sums"), &["sums", "read"]);
    assert!(!scratch.at("data/covtype.parquet").exists());
    let said = scratch.done(&format!("{from} --unchecked"));
    assert!(said.contains("warning: covtype.data was not checked") && said.contains(&sum), "{said}");
}
