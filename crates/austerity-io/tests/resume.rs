//! Runs that stop anywhere: they go on from what is on disk, or say what is lost; never silently wrong.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use crate::common::Folder;
use crate::common::draws::{decision, files, layout, values};
use austerity::rule::Decision;
use austerity_io::Error;
use austerity_io::run::{DrawsReader, DrawsWriter, Layout, checkpoint};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn append(writer: &mut DrawsWriter, layout: &Layout, chain: usize, draws: Range<usize>) {
    let decisions: Vec<Decision> = draws.clone().map(|draw| decision(chain, draw)).collect();
    writer.append(chain, &values(layout, chain, draws), &decisions).unwrap();
}

/// The bytes of all files by name, for comparison.
fn content(store: &Path) -> Vec<(String, Vec<u8>)> {
    files(store)
        .iter()
        .map(|file| (file.strip_prefix(store).unwrap().display().to_string(), fs::read(file).unwrap()))
        .collect()
}

fn written(path: &Path, layout: &Layout, drawn: &[usize]) {
    let mut writer = DrawsWriter::create(path, layout).unwrap();
    for (chain, &draws) in drawn.iter().enumerate() {
        append(&mut writer, layout, chain, 0..draws);
    }
    writer.finish().unwrap();
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, target).unwrap();
    }
}

#[test]
fn a_run_resumed_at_any_cut_ends_in_the_same_bytes() {
    let folder = Folder::new("resume-cuts");
    let layout = layout(300, 2); // chunks of 32 draws
    let (straight, cut) = (folder.path("straight.zarr"), folder.path("cut.zarr"));
    written(&straight, &layout, &[100, 90]);
    let whole = content(&straight);
    for from in [[0, 0], [1, 0], [31, 32], [32, 33], [33, 64], [64, 65], [96, 90], [100, 90]] {
        copy(&straight, &cut);
        let mut writer = DrawsWriter::resume(&cut, &layout, &from.map(|n| n as u64)).unwrap();
        let seen = DrawsReader::open(&cut).unwrap();
        assert_eq!(seen.draws(), from[0].min(from[1]), "draws beyond the checkpoint are gone");
        if from[0] < 100 {
            assert!(matches!(
                seen.trace_until(&[from[0] as u64 + 1, from[1] as u64]),
                Err(Error::DrawsDamaged { chain: 5, .. })
            ));
        }
        append(&mut writer, &layout, 0, from[0]..100);
        append(&mut writer, &layout, 1, from[1]..90);
        writer.finish().unwrap();
        assert!(content(&cut) == whole, "resumed from {from:?}");
    }
}

#[test]
fn another_layout_or_too_few_draws_are_refused_and_nothing_is_touched() {
    let folder = Folder::new("resume-refused");
    let (right, path) = (layout(3, 2), folder.path("draws.zarr"));
    written(&path, &right, &[10, 12]);
    let before = content(&path);
    let refused = |change: &dyn Fn(&mut Layout), what: &str, values: [&str; 2]| {
        let mut other = right.clone();
        change(&mut other);
        let drawn = vec![10; other.chains as usize];
        let error = DrawsWriter::resume(&path, &other, &drawn).err().unwrap();
        assert!(matches!(error, Error::DrawsDiffer { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains(what) && values.iter().all(|value| message.contains(value)), "{message}");
    };
    refused(&|l| l.seed = 12, "seed", ["11", "12"]);
    refused(&|l| l.chains = 3, "number of chains", ["2", "3"]);
    refused(&|l| l.first_chain = 0, "first chain", ["5", "0"]);
    refused(&|l| l.names[1] = "height".into(), "coefficients", ["x0, x1, x2", "x0, height, x2"]);
    refused(&|l| l.names[3] = "scale".into(), "other parameters", ["sigma", "scale"]);
    refused(&|l| l.keep = Some(vec![0, 1, 3]), "coefficients", ["x0, x1, x2", "x0, x1 here"]);
    refused(&|l| drop(l.statistics.pop()), "statistics", ["flags (uint8)", "mu_threshold (float64) here"]);
    refused(&|l| l.statistics.swap(0, 1), "statistics", ["there, data_used (int64)", "accepted (bool)"]);
    match DrawsWriter::resume(&path, &right, &[10, 13]).err().unwrap() {
        Error::DrawsMissing { chain: 6, have: 12, want: 13, .. } => {}
        other => panic!("{other}"),
    }
    assert!(DrawsWriter::resume(&path, &right, &[10]).is_err());
    assert!(content(&path) == before);
    // More draws expected or another date: no difference; the first date stays.
    let later = Layout { draws: 1_000_000, created_at: "later".into(), ..right };
    DrawsWriter::resume(&path, &later, &[10, 12]).unwrap().finish().unwrap();
    assert!(content(&path) == before);
}

#[test]
fn a_creation_cut_short_begins_anew() {
    let folder = Folder::new("resume-creation");
    let (layout, path) = (layout(3, 2), folder.path("draws.zarr"));
    fs::create_dir_all(path.join("posterior/coefficients")).unwrap();
    fs::write(path.join("posterior/coefficients/zarr.json.part"), "{").unwrap();
    let mut writer = DrawsWriter::resume(&path, &layout, &[0, 0]).unwrap();
    (0..2).for_each(|chain| append(&mut writer, &layout, chain, 0..10));
    writer.finish().unwrap();
    let straight = folder.path("straight.zarr");
    written(&straight, &layout, &[10, 10]);
    assert!(content(&path) == content(&straight));
}

/// What a crash or a bad disk does to a file.
#[derive(Clone, Debug)]
enum Harm {
    Truncate(f64),
    Delete,
    Flip(f64),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        3 => (0.0..1.0).prop_map(Harm::Truncate),
        1 => Just(Harm::Truncate(0.0)),
        1 => Just(Harm::Delete),
        2 => (0.0..1.0).prop_map(Harm::Flip),
    ]
}

fn apply(file: &Path, harm: &Harm) {
    let mut bytes = fs::read(file).unwrap();
    let at = |share: f64| ((bytes.len() as f64 * share) as usize).min(bytes.len().saturating_sub(1));
    match harm {
        Harm::Delete => return fs::remove_file(file).unwrap(),
        Harm::Truncate(share) => bytes.truncate(at(*share)),
        Harm::Flip(share) if !bytes.is_empty() => {
            let at = at(*share);
            bytes[at] ^= 1 << (at % 8);
        }
        Harm::Flip(_) => {}
    }
    fs::write(file, bytes).unwrap();
}

#[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq)]
struct Stand {
    drawn: Vec<u64>,
}

/// A run folder with two checkpoints, the older before the last chunk was begun.
fn run(folder: &Path, layout: &Layout) {
    fs::create_dir_all(folder).unwrap();
    let mut writer = DrawsWriter::create(folder.join("draws.zarr"), layout).unwrap();
    let mut from = [0, 0];
    for to in [[20, 40], [70, 66]] {
        (0..2).for_each(|chain| append(&mut writer, layout, chain, from[chain]..to[chain]));
        writer.flush().unwrap();
        checkpoint::write(folder.join("checkpoint"), &Stand { drawn: to.map(|n| n as u64).to_vec() })
            .unwrap();
        from = to;
    }
    writer.finish().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..ProptestConfig::default() })]

    /// Whatever happens to some files, reading gives the right numbers or an error, and so does resuming.
    #[test]
    fn harm_is_healed_or_named(harms in prop::collection::vec((0.0..1.0_f64, harm()), 1..4), case in 0_u64..1 << 60) {
        let folder = Folder::new(&format!("resume-harm-{case}"));
        let (layout, run_folder) = (layout(300, 2), folder.path("run"));
        static SOUND: OnceLock<Folder> = OnceLock::new();
        let sound = SOUND.get_or_init(|| {
            let folder = Folder::new("resume-harm");
            run(&folder.path("run"), &layout);
            folder
        });
        copy(&sound.path("run"), &run_folder);
        let all = files(&run_folder);
        for (share, harm) in &harms {
            let file = &all[((all.len() as f64 * share) as usize).min(all.len() - 1)];
            if file.exists() {
                apply(file, harm);
            }
        }
        let store = run_folder.join("draws.zarr");
        let right = |chain: usize, found: &[f64]| {
            found == values(&layout, chain, 0..found.len() / layout.names.len())
        };
        if let Ok(reader) = DrawsReader::open(&store) {
            prop_assert_eq!(reader.draws(), 66);
            match reader.trace() {
                Ok(trace) => for (chain, found) in trace.chains.iter().enumerate() {
                    prop_assert!(found.len() == 66 && right(chain, &found.values));
                },
                Err(Error::DrawsDamaged { file, chain, first, last, .. }) => {
                    prop_assert!(all.contains(&file) && (5..7).contains(&chain) && first <= last && last <= 66);
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
        // Resuming: the newest checkpoint whose draws are on disk.
        for candidate in checkpoint::candidates::<Stand>(run_folder.join("checkpoint")) {
            let Ok(Stand { drawn }) = candidate else { continue };
            match DrawsWriter::resume(&store, &layout, &drawn) {
                Err(Error::DrawsMissing { have, want, chain, .. }) => {
                    prop_assert!(have < want && drawn[chain as usize - 5] == want);
                }
                Err(Error::Format { .. } | Error::Io { .. } | Error::DrawsDiffer { .. }) => {}
                Err(other) => prop_assert!(false, "{}", other),
                Ok(mut writer) => {
                    for (chain, &draws) in drawn.iter().enumerate() {
                        append(&mut writer, &layout, chain, draws as usize..80);
                    }
                    writer.finish().unwrap();
                    // A bit flipped in a full chunk before the cut is found by the reader.
                    match DrawsReader::open(&store).unwrap().trace() {
                        Ok(trace) => for (chain, found) in trace.chains.iter().enumerate() {
                            prop_assert!(found.len() == 80 && right(chain, &found.values));
                        },
                        Err(Error::DrawsDamaged { .. }) => {
                            prop_assert!(harms.iter().any(|(_, harm)| matches!(harm, Harm::Flip(_))));
                        }
                        Err(other) => prop_assert!(false, "{}", other),
                    }
                    break;
                }
            }
        }
    }
}

#[test]
fn every_file_truncated_alone_is_healed_or_named() {
    let folder = Folder::new("resume-each");
    let layout = layout(300, 2);
    let (sound, broken) = (folder.path("sound"), folder.path("broken"));
    run(&sound, &layout);
    let mut healed = 0;
    for file in files(&sound) {
        let name = file.strip_prefix(&sound).unwrap();
        for share in [0.0, 0.9] {
            copy(&sound, &broken);
            apply(&broken.join(name), &Harm::Truncate(share));
            let mut outcomes = checkpoint::candidates::<Stand>(broken.join("checkpoint"))
                .into_iter()
                .map(|stand| DrawsWriter::resume(broken.join("draws.zarr"), &layout, &stand?.drawn));
            let resumed = outcomes.find_map(Result::ok);
            // One damaged file never costs more than the last chunk unless it holds earlier draws.
            let chunk = name.display().to_string();
            let early = ["c.0.0", "c.1.0", "c.1.1"].iter().any(|key| chunk.contains(&format!("/{key}")));
            assert!(resumed.is_some() || early, "{chunk} cut to {share} ends the run");
            healed += usize::from(resumed.is_some());
        }
    }
    assert!(healed > 40, "{healed}");
}

#[test]
fn a_thinned_store_holds_every_fourth_draw_and_goes_on() {
    let folder = Folder::new("thin");
    let layout = layout(300, 2); // chunks of 32 draws
    let path = folder.path("draws.zarr");
    let mut writer = DrawsWriter::create(&path, &layout).unwrap();
    append(&mut writer, &layout, 0, 0..140);
    append(&mut writer, &layout, 1, 0..133);
    writer.thin(2).unwrap();
    assert_eq!((writer.drawn(0), writer.drawn(1), writer.stored_every()), (70, 66, 2));
    writer.thin(2).unwrap();
    // Draws 144, 148, … of chain 0 and 136, 140, … of chain 1.
    (144..=200).step_by(4).for_each(|draw| append(&mut writer, &layout, 0, draw - 1..draw));
    (136..=200).step_by(4).for_each(|draw| append(&mut writer, &layout, 1, draw - 1..draw));
    writer.finish().unwrap();
    // As if it had been so from the beginning.
    let straight = folder.path("straight.zarr");
    let thin = Layout { stored_every: 4, ..layout.clone() };
    let mut writer = DrawsWriter::create(&straight, &thin).unwrap();
    for chain in 0..2 {
        (4..=200).step_by(4).for_each(|draw| append(&mut writer, &layout, chain, draw - 1..draw));
    }
    writer.finish().unwrap();
    assert!(content(&path) == content(&straight));
    let reader = DrawsReader::open(&path).unwrap();
    assert_eq!((reader.draws(), reader.stored_every()), (50, 4));
    // A resumption counts the draws that were made.
    let mut writer = DrawsWriter::resume(&path, &layout, &[102, 200]).unwrap();
    assert_eq!((writer.drawn(0), writer.drawn(1), writer.stored_every()), (25, 50, 4));
    (104..=200).step_by(4).for_each(|draw| append(&mut writer, &layout, 0, draw - 1..draw));
    writer.finish().unwrap();
    assert!(content(&path) == content(&straight));
}

#[test]
fn a_thinning_that_was_cut_short_is_completed_or_undone() {
    let folder = Folder::new("thin-cut");
    let layout = layout(3, 2);
    let (path, whole) = (folder.path("draws.zarr"), folder.path("whole.zarr"));
    written(&path, &layout, &[40, 40]);
    copy(&path, &whole);
    let beside = |ending: &str| folder.path(&format!("draws.zarr{ending}"));
    // Before the moves: what there is of the new store goes.
    fs::create_dir_all(beside(".thin").join("posterior")).unwrap();
    let mut writer = DrawsWriter::resume(&path, &layout, &[40, 40]).unwrap();
    assert!(!beside(".thin").exists() && content(&path) == content(&whole));
    writer.thin(2).unwrap();
    let thinned = content(&path);
    // Between the moves: the new store is found and gets its name.
    fs::rename(&path, beside(".thin")).unwrap();
    copy(&whole, &beside(".old"));
    assert_eq!(DrawsReader::open(&path).unwrap().draws(), 20);
    let writer = DrawsWriter::resume(&path, &layout, &[40, 40]).unwrap();
    assert_eq!(writer.stored_every(), 2);
    assert!(content(&path) == thinned && !beside(".thin").exists() && !beside(".old").exists());
    // A damaged root: its groups remember.
    fs::write(path.join("zarr.json"), "{").unwrap();
    assert_eq!(DrawsWriter::resume(&path, &layout, &[40, 40]).unwrap().drawn(0), 20);
}
