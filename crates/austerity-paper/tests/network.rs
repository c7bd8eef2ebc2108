//! Downloads against a real server on this machine: whole, resumed, truncated, silent, wrong, absent, moved.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::common::formats::{covertype, gzip};
use crate::common::server::{Manner, Server};
use crate::common::{self, Folder, got, refused, watched};
use austerity_paper::fetch::{Checksums, DataSet, Error, Event};

const SET: DataSet = DataSet::Covertype;
const FILE: &str = "covtype.data.gz";
const TABLE: &str = "covtype.parquet";
const ROWS: usize = 4000;

/// A server with a small Covertype, and a folder that knows its checksum.
fn stage(test: &str, manner: Manner) -> (Server, Folder, Checksums, Vec<u8>) {
    let server = Server::start();
    let folder = Folder::new(test);
    let text = covertype(ROWS);
    let packed = gzip(text.as_bytes());
    server.serve(FILE, &packed, manner);
    let sums = folder.sums(&[("covtype.data", text.as_bytes())]);
    (server, folder, sums, packed)
}

fn file_of(server: &Server) -> String {
    format!("{}/{FILE}", server.address())
}

#[test]
fn a_second_call_asks_for_nothing_and_mends_what_was_damaged() {
    let (server, folder, sums, _) = stage("cache", Manner::Whole);
    // A folder is asked for every name under which the file is served.
    let options = folder.options(&server.address(), sums);
    let (fetched, events) = watched(SET, &options);
    let first = fetched.unwrap();
    assert!(!first.present && first.record.sources[0].checked);
    assert_eq!(first.record.files[0].rows, ROWS);
    assert!(events.iter().any(|event| matches!(event, Event::Receiving { total: Some(_), resumed: 0, .. })));
    let paths: Vec<String> = server.asked().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/covertype.zip", "/covtype.data.gz"]);

    let second = got(SET, &options);
    assert!(second.present && second.record == first.record);
    let table = folder.path("data").join(TABLE);
    let whole = std::fs::read(&table).unwrap();
    std::fs::write(&table, &whole[1..]).unwrap();
    let (third, events) = watched(SET, &options);
    assert!(!third.unwrap().present && events.iter().any(|event| matches!(event, Event::Kept { .. })));
    assert_eq!(std::fs::read(&table).unwrap(), whole);
    assert!(server.asked().is_empty(), "the download was kept");
}

#[test]
fn an_answer_that_breaks_off_is_resumed_where_it_ended() {
    let (server, folder, sums, packed) = stage("cut", Manner::Cut { bytes: 30_000, times: 2 });
    assert!(packed.len() > 60_000, "{}", packed.len());
    let (fetched, events) = watched(SET, &folder.options(&file_of(&server), sums));
    assert_eq!(fetched.unwrap().record.files[0].rows, ROWS);
    let ranges: Vec<Option<String>> = server.asked().into_iter().map(|(_, range)| range).collect();
    assert_eq!(ranges, [None, Some("bytes=30000-".into()), Some("bytes=60000-".into())]);
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Again { .. })).count(), 2);
}

#[test]
fn a_later_call_goes_on_from_the_part() {
    let (server, folder, sums, packed) = stage("later", Manner::Cut { bytes: 30_000, times: 1 });
    let mut options = folder.options(&file_of(&server), sums);
    server.serve(FILE, &packed, Manner::Silent { after: 25_000 });
    options.tries = 1;
    let wait = Instant::now();
    // The first attempt brings 25,000 bytes, so there is a second, which brings 25,000 more, and so on to the end of the file.
    let _ = watched(SET, &options);
    assert!(wait.elapsed() < Duration::from_secs(20), "{:?}", wait.elapsed());

    std::fs::remove_dir_all(folder.path("data")).unwrap();
    folder.file(&format!("data/downloads/{FILE}.part"), &packed[..12_345]);
    server.serve(FILE, &packed, Manner::Whole);
    server.asked();
    let (fetched, events) = watched(SET, &options);
    assert!(!fetched.unwrap().present);
    assert_eq!(server.asked(), [(format!("/{FILE}"), Some("bytes=12345-".into()))]);
    assert!(events.iter().any(|event| matches!(event, Event::Receiving { resumed: 12_345, .. })));

    // A part that is complete already.
    std::fs::remove_dir_all(folder.path("data")).unwrap();
    folder.file(&format!("data/downloads/{FILE}.part"), &packed);
    got(SET, &options);
}

#[test]
fn a_truncated_file_is_told_and_its_part_kept() {
    let (server, folder, sums, packed) = stage("truncated", Manner::Cut { bytes: 0, times: usize::MAX });
    folder.file(&format!("data/downloads/{FILE}.part"), &packed[..5000]);
    let options = folder.options(&file_of(&server), sums);
    let sizes = format!("5000 of {} bytes", packed.len());
    let error = refused(SET, &options, &[&file_of(&server), "ended early", &sizes, "try again", "--from"]);
    assert!(matches!(error, Error::Truncated { received: 5000, .. }), "{error:?}");
    assert_eq!(server.asked().len(), options.tries as usize);
    assert_eq!(
        std::fs::read(folder.path("data/downloads").join(format!("{FILE}.part"))).unwrap(),
        packed[..5000]
    );
    assert!(!folder.path("data").join(TABLE).exists());
}

#[test]
fn a_server_without_ranges_gives_the_whole_again() {
    let (server, folder, sums, packed) = stage("no-ranges", Manner::NoRanges);
    folder.file(&format!("data/downloads/{FILE}.part"), &packed[..5000]);
    got(SET, &folder.options(&file_of(&server), sums));
    assert_eq!(server.asked(), [(format!("/{FILE}"), Some("bytes=5000-".into()))]);
}

#[test]
fn a_part_of_another_file_is_found_out_and_the_whole_downloaded() {
    let (server, folder, sums, packed) = stage("other-part", Manner::Whole);
    let options = folder.options(&file_of(&server), sums);
    for (part, requests) in [(vec![b'x'; 5000], 2), (vec![b'x'; packed.len() + 5], 2)] {
        let _ = std::fs::remove_dir_all(folder.path("data"));
        folder.file(&format!("data/downloads/{FILE}.part"), part);
        got(SET, &options);
        assert_eq!(server.asked().len(), requests);
    }
}

#[test]
fn a_wrong_file_is_refused_with_both_sums_and_leaves_nothing() {
    let (server, folder, sums, _) = stage("wrong", Manner::Whole);
    let Checksums::Listed(list) = &sums else { panic!() };
    let expected = std::fs::read_to_string(list).unwrap()[..64].to_owned();
    let other = covertype(3);
    let found = common::formats::sha256(other.as_bytes());
    server.serve(FILE, &gzip(other.as_bytes()), Manner::Whole);
    let options = folder.options(&file_of(&server), sums.clone());
    let line = format!("`{found}  covtype.data`");
    refused(SET, &options, &[&file_of(&server), &expected, &found, &line, "--checksums"]);
    assert_eq!(std::fs::read_dir(folder.path("data/downloads")).unwrap().count(), 0);
    assert!(!folder.path("data").join(TABLE).exists() && !folder.path("data/covertype.json").exists());
    // The same against the known sums: small files never pass for the published ones.
    let mut known = options.clone();
    known.checksums = Checksums::Known;
    refused(SET, &known, &[SET.sources()[0].sha256, &found]);
    // A gzip file that was cut and served whole.
    let packed = gzip(covertype(ROWS).as_bytes());
    server.serve(FILE, &packed[..packed.len() / 2], Manner::Whole);
    refused(SET, &options, &[FILE, "cannot be unpacked"]);
}

#[test]
fn without_checksums_all_is_said_and_nothing_is_reused() {
    let (server, folder, sums, packed) = stage("unchecked", Manner::Whole);
    folder.file(&format!("data/downloads/{FILE}.part"), &packed[..5000]);
    let options = folder.options(&file_of(&server), Checksums::Unchecked);
    let (fetched, events) = watched(SET, &options);
    let record = fetched.unwrap().record;
    assert!(!record.sources[0].checked);
    let told = |event: &Event| matches!(event, Event::Unchecked { sha256, .. } if *sha256 == record.sources[0].sha256);
    assert!(events.iter().any(told), "{events:?}");
    assert_eq!(server.asked(), [(format!("/{FILE}"), None)], "the part might be of another file");
    let again = got(SET, &options);
    assert!(!again.present && server.asked().len() == 1, "nothing says that the file is still the same");
    // Who knows what the file must be is satisfied only by that file.
    let mut checked = options.clone();
    checked.checksums = sums;
    assert!(got(SET, &checked).present);
    checked.checksums = Checksums::Known;
    refused(SET, &checked, &["expected", SET.sources()[0].sha256]);
}

#[test]
fn absent_files_and_failing_servers_are_told() {
    let (server, folder, sums, packed) = stage("absent", Manner::Status { code: 503, times: 2 });
    let options = folder.options(&file_of(&server), sums);
    got(SET, &options);
    assert_eq!(server.asked().len(), 3, "a server in trouble is asked again");
    std::fs::remove_dir_all(folder.path("data")).unwrap();
    server.serve(FILE, &packed, Manner::Status { code: 403, times: usize::MAX });
    refused(SET, &options, &[&file_of(&server), "403", "200", "--from"]);
    assert_eq!(server.asked().len(), 1, "a refusal is final");

    let mut absent = options.clone();
    let address = format!("{}/absent/covtype.data", server.address());
    absent.from = Some(austerity_paper::fetch::Origin::parse(&address).unwrap());
    let error = refused(SET, &absent, &[&address, "404", "not there", "--from"]);
    assert!(matches!(error, Error::Missing { .. }), "{error:?}");
    // Several names, none of them there.
    absent.from =
        Some(austerity_paper::fetch::Origin::parse(&format!("{}/absent/", server.address())).unwrap());
    absent.checksums = Checksums::Known;
    refused(DataSet::Mnist79, &absent, &["train-images-idx3-ubyte", "2 places", "404"]);
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    let (server, folder, sums, packed) = stage("silent", Manner::Silent { after: 0 });
    let mut options = folder.options(&file_of(&server), sums);
    options.timeout = Duration::from_millis(200);
    options.tries = 2;
    let begin = Instant::now();
    let sizes = format!("0 of {} bytes", packed.len());
    let error =
        refused(SET, &options, &[&file_of(&server), "silent for 0.2 s", &sizes, "--timeout", "--from"]);
    assert!(matches!(error, Error::Stalled { .. }), "{error:?}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn no_server_is_told() {
    let folder = Folder::new("nobody");
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("http://127.0.0.1:{port}/covtype.data.gz");
    let options = folder.options(&address, Checksums::Known);
    let error = refused(SET, &options, &["cannot reach", &address, "network", "proxy", "--from"]);
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

#[test]
fn a_moved_file_is_followed() {
    let (server, folder, sums, _) = stage("moved", Manner::Whole);
    server.serve("old.gz", &[], Manner::Moved { to: file_of(&server) });
    got(SET, &folder.options(&format!("{}/old.gz", server.address()), sums));
}

#[test]
fn files_of_others_are_never_replaced() {
    let (server, folder, sums, _) = stage("foreign", Manner::Whole);
    let own = folder.file(&format!("data/{TABLE}"), "mine");
    let options = folder.options(&file_of(&server), sums);
    refused(SET, &options, &[TABLE, "never replaced", "--out"]);
    assert_eq!(std::fs::read(own).unwrap(), b"mine");
    assert!(server.asked().is_empty());
}
