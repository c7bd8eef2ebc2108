//! Stores on disk: the same rows as in memory, the same bytes for every memory limit, damage told, nothing left behind.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use crate::common::Folder;
use austerity::model::Model as _;
use austerity_glm::{Data, Glm, Logistic, Prior, ResponseKind, Store};
use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, load};
use austerity_io::store::{ConvertOptions, Created, Progress, create, is_store, open as open_store};
use austerity_io::table::{Column, Source, Table, open};

const SEED: u64 = 4;

/// A table with a number, levels, weights and the response in words.
fn table(rows: usize) -> Table {
    let codes = (0..rows as u32).map(|i| if i == 1 { 2 } else { i * 7 % 3 % 2 }).collect();
    let labels = ["red", "blue", "green"].map(String::from).to_vec();
    let columns = vec![
        Column::Levels {
            codes: (0..rows as u32).map(|i| u32::from(i % 3 == 1)).collect(),
            labels: vec!["no".into(), "yes".into()],
        },
        Column::Numbers((0..rows).map(|i| 1e3 + (i as f64 * 0.37).sin()).collect()),
        Column::Levels { codes, labels },
        Column::Numbers((0..rows).map(|i| 1.0 + (i % 4) as f64).collect()),
    ];
    let names = ["bought", "income", "colour", "w"].map(String::from).to_vec();
    Table { file: "sales.csv".into(), names, columns, rows }
}

fn options() -> CodingOptions {
    CodingOptions { weights: Some("w".into()), ..CodingOptions::new("bought") }
}

fn convert(source: &Source, out: &Path, memory: usize, shards: usize) -> austerity_io::Result<Created> {
    let how = ConvertOptions { memory, shards };
    create(source, (&options(), None), SEED, out, &how, &mut |_| {})
}

fn bytes(folder: &Path) -> Vec<Vec<u8>> {
    ["blocks.npy", "rows.npy", "checksums.npy", "meta.json"]
        .map(|file| std::fs::read(folder.join(file)).unwrap())
        .to_vec()
}

fn files(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path(".")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_store_holds_the_rows_of_the_table() {
    let folder = Folder::new("store");
    for rows in [7, 31, 32, 33, 997, 5003] {
        let source = Source::of_table(table(rows));
        let out = folder.path(&format!("s{rows}"));
        assert!(!is_store(&out));
        let created = convert(&source, &out, 1 << 24, 1).unwrap();
        assert_eq!((created.rows, created.buckets), (rows, 1));
        assert!(is_store(&out));
        let found = open_store(&out).unwrap();
        found.verify(2).unwrap();
        let loaded = load(&source, &options(), None, SEED, &LoadOptions::default()).unwrap();
        assert_eq!((&found.recipe, &found.notes), (&loaded.recipe, &loaded.notes));
        assert_eq!(found.warnings, loaded.warnings);
        let (disk, memory) = (&found.store, &loaded.store);
        assert!(disk.is_mapped() && !memory.is_mapped());
        assert_eq!(disk.description().columns, memory.description().columns);
        assert_eq!(disk.description().kind, ResponseKind::Binary);
        assert_eq!(disk.default_priors(), memory.default_priors());
        let mut place = vec![usize::MAX; rows];
        (0..rows).for_each(|position| place[memory.original_row(position)] = position);
        for position in 0..rows {
            let row = disk.original_row(position);
            for column in 0..disk.blocks().layout().width {
                assert_eq!(disk.blocks().value(position, column), memory.blocks().value(place[row], column));
            }
        }
        let model = Glm::from_store(Logistic, disk.clone(), disk.default_priors()).unwrap();
        assert_eq!(model.len(), rows);
        // Deterministic in the seed, and another for another.
        let again = folder.path("again");
        convert(&source, &again, 1 << 24, 1).unwrap();
        assert_eq!(bytes(&out), bytes(&again));
        std::fs::remove_dir_all(&again).unwrap();
    }
}

/// A feature of many levels costs one column of the blocks, in memory and on disk, with the same places; a constant number before it leaves.
#[test]
fn many_levels_are_one_column() {
    let folder = Folder::new("store-factor");
    let (rows, levels) = (5003, 2000);
    let mut given = table(rows);
    let codes = (0..rows as u32).map(|i| i * 7919 % levels).collect();
    let labels = (0..levels).map(|level| format!("city {level}")).collect();
    given.names.splice(1..1, ["nothing", "city"].map(String::from));
    given.columns.splice(1..1, [Column::Numbers(vec![2.5; rows]), Column::Levels { codes, labels }]);
    let source = Source::of_table(given);
    let loaded = load(&source, &options(), None, SEED, &LoadOptions::default()).unwrap();
    let out = folder.path("out");
    convert(&source, &out, 1 << 20, 1).unwrap();
    let found = open_store(&out).unwrap();
    found.verify(1).unwrap();
    let (disk, memory) = (&found.store, &loaded.store);
    assert_eq!(disk.description().columns, memory.description().columns);
    let layout = disk.description().layout();
    // income, colour (3 levels), the city, the response and the weights.
    assert_eq!((layout.columns, layout.factors, layout.width), (3, 1, 6));
    assert_eq!((layout.levels, disk.coefficients()), (1999, 4 + 1999));
    assert_eq!(disk.bytes(), rows.div_ceil(32) * 32 * 6 * 4);
    let mut place = vec![usize::MAX; rows];
    (0..rows).for_each(|position| place[memory.original_row(position)] = position);
    for position in 0..rows {
        assert_eq!(disk.row(position), memory.row(place[disk.original_row(position)]));
    }
    let city = |row: usize| format!("city=city {}", row as u32 * 7919 % levels);
    let names: Vec<&String> = disk.description().columns.iter().map(|column| &column.name).collect();
    for row in [0, 7, 1234, 5000] {
        let values = memory.row(place[row]);
        let own =
            names.iter().zip(&values).filter(|(name, value)| name.starts_with("city") && **value != 0.0);
        let own: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
        assert!(own == [city(row)] || own.is_empty() && !names.contains(&&city(row)), "{row}: {own:?}");
    }
}

/// Numbers of two values, of three, levels; standardised or not: in memory, on disk, from arrays.
#[test]
fn default_priors_do_not_depend_on_the_way() {
    let folder = Folder::new("store-priors");
    let rows = 3001;
    let rare = |i: usize| i % 1000 == 7;
    let numbers = |value: &dyn Fn(usize) -> f64| (0..rows).map(value).collect::<Vec<f64>>();
    let levels = |code: &dyn Fn(usize) -> bool, labels: [&str; 2]| Column::Levels {
        codes: (0..rows).map(|i| u32::from(code(i))).collect(),
        labels: labels.map(String::from).to_vec(),
    };
    let dummy = numbers(&|i| f64::from(u8::from(rare(i))));
    let signs = numbers(&|i| if i % 50 == 0 { 1.0 } else { -1.0 });
    let three = numbers(&|i| (i % 3) as f64);
    let response = numbers(&|i| f64::from(u8::from(i * 7 % 11 < 5)));
    let columns = vec![
        Column::Numbers(response.clone()),
        Column::Numbers(dummy.clone()),
        Column::Numbers(signs.clone()),
        Column::Numbers(three.clone()),
        levels(&|i| i % 2 == 0, ["even", "odd"]),
        levels(&|i| rare(i + 2), ["common", "odd"]),
    ];
    let names = ["y", "dummy", "signs", "three", "parity", "level"].map(String::from).to_vec();
    let source = Source::of_table(Table { file: "two.csv".into(), names, columns, rows });
    let sd = |prior: &Prior| if let Prior::Normal { sd, .. } = prior { *sd } else { panic!("{prior:?}") };
    let of = |store: &Store| store.default_priors().iter().map(sd).collect::<Vec<f64>>();
    let mut found = Vec::new();
    for (name, standardize) in [("plain", false), ("standard", true)] {
        let design = CodingOptions { standardize, ..CodingOptions::new("y") };
        let loaded = load(&source, &design, None, SEED, &LoadOptions::default()).unwrap();
        let out = folder.path(name);
        let how = ConvertOptions { memory: 1 << 24, shards: 1 };
        create(&source, (&design, None), SEED, &out, &how, &mut |_| {}).unwrap();
        let stored = open_store(&out).unwrap();
        assert_eq!(stored.store.description().columns, loaded.store.description().columns);
        assert_eq!(of(&stored.store), of(&loaded.store));
        found.push((of(&stored.store), loaded));
    }
    let [(plain, of_plain), (standard, _)] = found.try_into().unwrap();
    let spread = (2.0f64 / 3.0).sqrt();
    for (found, wanted) in plain.iter().zip([10.0, 5.0, 2.5, 2.5 / spread, 5.0, 5.0]) {
        assert!((found - wanted).abs() < 1e-3, "{plain:?}");
    }
    // The same effect is expected of a standardised column: its coefficient is that of the plain one times its sd. Levels stay as they are.
    for (j, column) in of_plain.store.description().columns.iter().enumerate() {
        let scale = if column.name.contains('=') { 1.0 } else { column.sd };
        let ratio = standard[j + 1] / (plain[j + 1] * scale);
        assert!((ratio - 1.0).abs() < 1e-9, "{}: {ratio}", column.name);
    }
    let arrays = Data::new(["dummy", "signs", "three"], vec![dummy, signs, three], response);
    let arrays = arrays.check(ResponseKind::Binary).unwrap().default_priors();
    assert_eq!(arrays.iter().map(sd).collect::<Vec<f64>>(), plain[..4]);
}

#[test]
fn the_bytes_do_not_depend_on_the_memory() {
    let folder = Folder::new("store-memory");
    let rows = 10_007;
    let source = Source::of_table(table(rows));
    convert(&source, &folder.path("whole"), 1 << 30, 1).unwrap();
    // 5 values, 12 and 16 bytes a row: 480 kB in all.
    for (memory, least) in [(200_000, 3), (50_000, 12)] {
        let out = folder.path(&format!("m{memory}"));
        let mut stages = Vec::new();
        let how = ConvertOptions { memory, shards: 1 };
        let created = create(&source, (&options(), None), SEED, &out, &how, &mut |progress| {
            stages.push(progress);
        });
        assert!(created.unwrap().buckets >= least);
        assert_eq!(stages[0], Progress::Survey);
        assert!(stages.contains(&Progress::Scatter { done: rows, rows }), "{stages:?}");
        assert_eq!(bytes(&out), bytes(&folder.path("whole")));
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 4, "temporary files are gone");
    }
    let message = convert(&source, &folder.path("tiny"), 1000, 1).unwrap_err().to_string();
    assert!(message.contains("1000 bytes of memory") && message.contains("at least"), "{message}");
    assert!(files(&folder).iter().all(|name| !name.contains("tiny")));
}

#[test]
fn shards_hold_every_row_once() {
    let folder = Folder::new("store-shards");
    let rows = 1000;
    let source = Source::of_table(table(rows));
    let created = convert(&source, &folder.path("out"), 20_000, 3).unwrap();
    assert_eq!(created.folders.len(), 3);
    let mut seen = vec![0; rows];
    for (number, shard) in created.folders.iter().enumerate() {
        let found = open_store(shard).unwrap();
        found.verify(2).unwrap();
        assert_eq!((found.shard.unwrap().number, found.shard.unwrap().rows), (number + 1, rows));
        (0..found.store.rows()).for_each(|position| seen[found.store.original_row(position)] += 1);
    }
    assert!(seen.iter().all(|&count| count == 1));
    let message = open_store(folder.path("out")).unwrap_err().to_string();
    assert!(message.contains("shards") && message.contains("shard-1"), "{message}");
    for shards in [0, 33] {
        assert!(convert(&source, &folder.path("bad"), 1 << 20, shards).is_err());
    }
}

/// Where each of 12 rows ends up in 1,500 stores, by buckets: a chi-square of the 144 cells with 11² = 121 degrees of
/// freedom. The critical value 184.6 is the 99.98 % quantile: false-alarm rate 2e-4; the seeds are fixed. The partner: in
/// the order of the table the statistic is 12·11·1500 = 198,000.
#[test]
fn every_row_is_equally_likely_everywhere() {
    let folder = Folder::new("store-uniform");
    // Waiting for the disk 1,500 times would be all that this test does.
    austerity_io::run::volatile(folder.path("out").parent().unwrap());
    let (rows, repeats) = (12, 1500);
    let source = Source::of_table(table(rows));
    let mut counts = vec![vec![0.0; rows]; rows];
    for seed in 0..repeats {
        let out = folder.path("out");
        let how = ConvertOptions { memory: 250, shards: 1 };
        let created = create(&source, (&options(), None), seed, &out, &how, &mut |_| {}).unwrap();
        assert!(created.buckets > 1);
        let store = open_store(&out).unwrap().store;
        (0..rows).for_each(|position| counts[position][store.original_row(position)] += 1.0);
        drop(store);
        std::fs::remove_dir_all(&out).unwrap();
    }
    let expected = repeats as f64 / rows as f64;
    let statistic: f64 = counts.iter().flatten().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(statistic < 184.6, "{statistic}");
}

#[test]
fn damage_is_named() {
    let folder = Folder::new("store-damage");
    let source = Source::of_table(table(500));
    let out = folder.path("out");
    convert(&source, &out, 1 << 20, 1).unwrap();
    let refused = |file: &str, content: &[u8], words: &[&str]| {
        let path = out.join(file);
        let good = std::fs::read(&path).unwrap();
        std::fs::write(&path, content).unwrap();
        let message = open_store(&out).unwrap_err().to_string();
        for word in words.iter().chain(&[file]) {
            assert!(message.contains(word), "{word:?} is missing from: {message}");
        }
        std::fs::write(&path, good).unwrap();
    };
    for file in ["blocks.npy", "rows.npy", "checksums.npy"] {
        let good = std::fs::read(out.join(file)).unwrap();
        for length in [0, 1, 127, 128, good.len() - 1] {
            refused(file, &good[..length], &["truncated", "convert the table again"]);
        }
        let mut header = good.clone();
        header[40] = b'9';
        refused(file, &header, if file == "checksums.npy" { &["damaged"] } else { &["does not begin"] });
    }
    let meta = std::fs::read_to_string(out.join("meta.json")).unwrap();
    refused("meta.json", &meta.as_bytes()[..meta.len() / 2], &["truncated"]);
    refused("meta.json", b"{}", &["does not describe"]);
    refused(
        "meta.json",
        meta.replace("\"version\": 2", "\"version\": 7").as_bytes(),
        &["version 7", "versions 1 and 2"],
    );
    refused(
        "meta.json",
        meta.replace("\"rows\": 500", "\"rows\": 501").as_bytes(),
        &["checksum does not fit"],
    );
    // A changed number passes the quick checks and fails the slow one, which names its place.
    for (file, place) in [("blocks.npy", "block"), ("rows.npy", "row")] {
        let good = std::fs::read(out.join(file)).unwrap();
        let mut changed = good.clone();
        changed[1000] ^= 1;
        std::fs::write(out.join(file), changed).unwrap();
        let message = open_store(&out).unwrap().verify(2).unwrap_err().to_string();
        for word in ["checksum", file, place, "convert the table again"] {
            assert!(message.contains(word), "{word:?} is missing from: {message}");
        }
        std::fs::write(out.join(file), good).unwrap();
    }
    let mut sums = std::fs::read(out.join("checksums.npy")).unwrap();
    sums[130] ^= 4;
    refused("checksums.npy", &sums, &["checksum does not fit"]);
    std::fs::remove_file(out.join("rows.npy")).unwrap();
    assert!(open_store(&out).unwrap_err().to_string().contains("rows.npy"));
    assert!(open_store(folder.path("nothing")).is_err());
}

#[test]
fn nothing_is_left_behind_or_overwritten() {
    let folder = Folder::new("store-left");
    let source = Source::of_table(table(100));
    let out = folder.path("out");
    std::fs::create_dir(&out).unwrap();
    let message = convert(&source, &out, 1 << 20, 1).unwrap_err().to_string();
    assert!(message.contains("exists already"), "{message}");
    std::fs::remove_dir(&out).unwrap();
    // What a killed conversion left is removed, and only that.
    let left = folder.path("out.0123456789abcdef.part");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("blocks.npy"), "half").unwrap();
    convert(&source, &out, 1 << 20, 1).unwrap();
    assert_eq!(files(&folder), ["out"]);
    std::fs::remove_dir_all(&out).unwrap();
    let message = convert(&source, &folder.path("no/such"), 1 << 20, 1).unwrap_err().to_string();
    assert!(message.contains("no/such") && message.contains("check the path"), "{message}");
    // An error of the table after the folder was made.
    let bad = folder.file("bad.csv", "bought,income,w\n0,1,1\n1,2,oops\n");
    assert!(convert(&open(bad).unwrap(), &out, 1 << 20, 1).is_err());
    assert_eq!(files(&folder), ["bad.csv"]);
}

/// On a disk of 64 kB, when this process may mount one.
#[test]
fn a_full_disk_is_told_and_left_clean() {
    let folder = Folder::new("store-full");
    let disk = folder.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&disk)
        .output();
    if !mount.is_ok_and(|output| output.status.success()) {
        println!("skipped: no small disk can be mounted here");
        return;
    }
    let source = Source::of_table(table(20_000));
    let results: Vec<_> =
        [1 << 30, 200_000].map(|memory| convert(&source, &disk.join("out"), memory, 1)).into();
    let left = std::fs::read_dir(&disk).unwrap().count();
    let _ = std::process::Command::new("umount").arg(&disk).status();
    for result in results {
        let message = result.unwrap_err().to_string();
        assert!(message.contains("cannot write") && message.contains("free some space"), "{message}");
    }
    assert_eq!(left, 0);
}

#[test]
fn tables_on_disk_become_the_same_stores() {
    let folder = Folder::new("store-files");
    let given = table(9000);
    let mut text = String::from("bought,income,colour,w\n");
    let column = |j: usize, row: usize| match &given.columns[j] {
        Column::Numbers(values) => values[row].to_string(),
        Column::Levels { codes, labels } => labels[codes[row] as usize].clone(),
    };
    for row in 0..given.rows {
        let cells: Vec<String> = (0..4).map(|j| column(j, row)).collect();
        text.push_str(&format!("{}\n", cells.join(",")));
    }
    let csv = open(folder.file("sales.csv", text)).unwrap();
    convert(&csv, &folder.path("a"), 100_000, 1).unwrap();
    convert(&Source::of_table(given), &folder.path("b"), 1 << 30, 1).unwrap();
    assert_eq!(bytes(&folder.path("a")), bytes(&folder.path("b")));
}

#[test]
fn priors_are_read_by_name() {
    let folder = Folder::new("priors");
    let good = "coefficient,prior\n\"colour=red\",\"student:3,1\"\nintercept,flat\n";
    let found = austerity_io::priors::read(folder.file("good.csv", good)).unwrap();
    let words: Vec<(&str, String)> = found.iter().map(|(name, prior)| (&**name, prior.to_string())).collect();
    assert_eq!(words, [("colour=red", "student:3,1".to_owned()), ("intercept", "flat".to_owned())]);
    for (text, words) in [
        ("coefficient,prior\nincome,flat\nincome,normal:1\n", ["row 2", "already"]),
        ("coefficient,prior\nincome,gauss:1\n", ["`prior`, row 1", "normal:SD"]),
        ("coefficient,prior\nincome,normal:-1\n", ["row 1", "positive"]),
        ("name,prior\nincome,flat\n", ["no column `coefficient`", "bad.csv"]),
    ] {
        let message = austerity_io::priors::read(folder.file("bad.csv", text)).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{words:?}: {message}");
    }
}

/// Stores of version 1 have one checksum for all numbers; they are opened and verified.
#[test]
fn stores_of_the_earlier_version_are_read() {
    let folder = Folder::new("store-earlier");
    let source = Source::of_table(table(500));
    let out = folder.path("out");
    convert(&source, &out, 1 << 20, 1).unwrap();
    let sum = austerity_io::store::earlier_checksum(&open_store(&out).unwrap().store);
    let mut meta: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("meta.json")).unwrap()).unwrap();
    let fields = meta.as_object_mut().unwrap();
    fields.insert("version".into(), 1.into());
    fields.insert("checksum".into(), sum.into());
    fields.remove("pieces");
    fields.remove("data_checksum");
    std::fs::write(out.join("meta.json"), meta.to_string()).unwrap();
    std::fs::remove_file(out.join("checksums.npy")).unwrap();
    open_store(&out).unwrap().verify(1).unwrap();
    let mut blocks = std::fs::read(out.join("blocks.npy")).unwrap();
    blocks[2000] ^= 1;
    std::fs::write(out.join("blocks.npy"), blocks).unwrap();
    let message = open_store(&out).unwrap().verify(1).unwrap_err().to_string();
    assert!(message.contains("blocks.npy") && message.contains("checksum"), "{message}");
}

/// The checksum that a run remembers is that of the numbers, whether they are mapped or in memory.
#[test]
fn memory_and_disk_have_one_checksum() {
    let folder = Folder::new("store-sums");
    for rows in [33, 5003] {
        let source = Source::of_table(table(rows));
        let out = folder.path(&format!("out{rows}"));
        convert(&source, &out, 1 << 20, 1).unwrap();
        let found = open_store(&out).unwrap();
        for threads in [1, 3] {
            assert_eq!(austerity_io::store::checksum(&found.store, threads), found.checksum());
        }
    }
}
