//! Every bit comes back; every damage is noticed.

use austerity::proposal::{AnyProposal, RandomWalk};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Checkpoint, Control, Sampler, Settings, Silent};
use serde::Deserialize;

use super::*;

#[derive(Serialize, Deserialize)]
struct Floats(Vec<f64>);

struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("austerity-io-checkpoint-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_bit_of_a_double_comes_back() {
    let folder = Folder::new("bits");
    let path = folder.0.join("checkpoint");
    let odd = [
        0x7FF8_0000_DEAD_BEEF,
        0xFFF0_0000_0000_0001,
        0x8000_0000_0000_0000,
        1,
        0x3FF0_0000_0000_0000,
        u64::MAX,
    ];
    let values: Vec<f64> = odd.map(f64::from_bits).to_vec();
    write(&path, &Floats(values)).unwrap();
    let found: Found<Floats> = read(&path).unwrap();
    assert_eq!(found.value.0.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), odd);
    assert!(found.fallback.is_none());
}

#[test]
fn a_real_checkpoint_with_tagged_settings_comes_back_and_resumes() {
    let folder = Folder::new("real");
    let path = folder.0.join("checkpoint");
    let model = austerity::model::from_fn(
        1000,
        1,
        |_: &[f64]| 0.0,
        |theta: &[f64], row| -0.5 * (theta[0] - row as f64 / 1000.0).powi(2),
    )
    .unwrap();
    let rule = RuleSettings::Sequential(SequentialSettings::paper(100, 0.05));
    let settings = Settings { chains: 2, warmup: 10, draws: 20, rule, threads: 1, ..Settings::default() };
    let walk: AnyProposal = RandomWalk::isotropic(1, 0.05).unwrap().into();
    let run = |settings: &Settings| {
        Sampler::new(&model, settings, &walk, &[vec![0.3]]).unwrap().run(&Control::new(), &mut Silent)
    };
    let first = run(&settings);
    write(&path, &first.checkpoint).unwrap();
    let found: Found<Checkpoint<Vec<f64>, AnyProposal>> = read(&path).unwrap();
    // (A proposal's working memory is not part of where a chain stands.)
    assert_eq!(found.value.settings, first.checkpoint.settings);
    for (found, true_one) in found.value.chains.iter().zip(&first.checkpoint.chains) {
        assert_eq!((&found.state, found.sampling), (&true_one.state, true_one.sampling));
    }
    let longer = Settings { draws: 40, ..settings };
    let rest = Sampler::resume(&model, &longer, found.value).unwrap().run(&Control::new(), &mut Silent);
    let straight = run(&longer);
    for (chain, whole) in straight.trace.chains.iter().enumerate() {
        let joined = [&first.trace.chains[chain].values[..], &rest.trace.chains[chain].values[..]].concat();
        assert_eq!(joined, whole.values);
    }
}

#[test]
fn truncations_and_flips_fall_back_or_are_named() {
    let folder = Folder::new("damage");
    let path = folder.0.join("checkpoint");
    let message = read::<Floats>(&path).err().unwrap().to_string();
    assert!(message.contains("checkpoint`"), "{message}");
    for generation in 1..=3 {
        write(&path, &Floats(vec![f64::from(generation); 3])).unwrap();
    }
    let sound = fs::read(&path).unwrap();
    let newest = |expected: f64, fallback: bool| {
        let found: Found<Floats> = read(&path).unwrap();
        assert_eq!(
            (found.value.0[0], found.fallback.is_some()),
            (expected, fallback),
            "{:?}",
            found.fallback
        );
    };
    newest(3.0, false);
    for end in 0..sound.len() {
        fs::write(&path, &sound[..end]).unwrap();
        newest(2.0, true);
    }
    for byte in 0..sound.len() {
        let mut flipped = sound.clone();
        flipped[byte] ^= 0x10;
        fs::write(&path, flipped).unwrap();
        newest(2.0, true);
    }
    // A damaged file does not push out the intact one; a missing one is no harm either.
    write(&path, &Floats(vec![4.0])).unwrap();
    newest(4.0, false);
    fs::remove_file(&path).unwrap();
    newest(2.0, false);
    fs::write(&path, "x").unwrap();
    fs::write(previous(&path), &sound[..30]).unwrap();
    let all = candidates::<Floats>(&path);
    let messages: Vec<String> = all.into_iter().map(|one| one.err().unwrap().to_string()).collect();
    assert!(
        messages[0].contains("is not a checkpoint") && messages[1].contains("instead of"),
        "{messages:?}"
    );
    // Another kind of content is no damage, and says so.
    write(&path, &"text").unwrap();
    let message = candidates::<Floats>(&path).remove(0).err().unwrap().to_string();
    assert!(message.contains("another kind"), "{message}");
}
