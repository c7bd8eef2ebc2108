//! `austerity verify RUN|STORE`: are the bytes those that were written? Every file is read, and what is lost is named.
//!
//! | of a run | compared with |
//! |---|---|
//! | `run.toml`, `summary.json`, `report.html` | the checksum that each carries |
//! | `pairs.csv` | its checksum in `run.toml` |
//! | `parts.bin`, of data in parts | its own checksum |
//! | `checkpoint`, `checkpoint.previous` | their checksums, and the draws on disk |
//! | `draws.zarr` | checksums of all chunks and descriptions |
//! | the data, where they are a store | its own checksums, and the one that the run remembers |
//!
//! The rows of a table are compared when the run is resumed, since that takes reading the table as `fit` does.

use std::path::Path;

use austerity_io::run::{RunLock, checkpoint, verify_draws};
use austerity_io::seal::{self, Seal};
use austerity_io::store;
use austerity_io::verified::Verified;
use serde_json::{Value, json};

use super::{Folder, RunFile, Saved};
use crate::output::{Failure, json as print_json, say};
use crate::parts::{self, STATE};
use crate::request::Common;

/// Files of a run that this module looks at, beside temporary ones.
const KNOWN: [&str; 11] = [
    STATE,
    "run.toml",
    "checkpoint",
    "checkpoint.previous",
    "draws.zarr",
    "pairs.csv",
    "summary.json",
    "report.html",
    "groups.json",
    "groups.f32",
    "lock",
];
/// Files that can be made again at once.
const REMADE: [(&str, &str); 2] = [
    ("summary.json", "nothing: `austerity summary --json` prints the same"),
    ("report.html", "nothing: `austerity report` writes it again"),
];

/// What stands before their checksums: a file that has one of these has a checksum, or had one.
const CARRIED: [&str; 2] = ["\"checksum\": \"", "<!-- checksum "];

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The folder of a run.
    Run,
    /// A store of rows, or shards of one.
    Store,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Verification {
    /// What it is.
    pub kind: Kind,
    /// Files, bytes, damage and notes.
    pub found: Verified,
}

impl Verification {
    /// Whether all is what was written.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.found.damage.is_empty()
    }

    /// The contract of `verify --json`.
    #[must_use]
    pub fn json(&self, path: &Path) -> Value {
        let damage = self.found.damage.iter();
        let damage: Vec<Value> =
            damage.map(|one| json!({"file": one.file, "problem": one.problem, "lost": one.lost})).collect();
        json!({
            "path": path,
            "kind": match self.kind { Kind::Run => "run", Kind::Store => "store" },
            "sound": self.is_sound(),
            "files": self.found.files,
            "bytes": self.found.bytes,
            "damage": damage,
            "notes": self.found.notes,
        })
    }

    fn words(&self, path: &Path) -> String {
        let size = format!("{} files, {:.1} MB", self.found.files, self.found.bytes as f64 / 1e6);
        let mut lines = vec![if self.is_sound() {
            format!("{}: sound. All bytes are those that were written ({size}).", path.display())
        } else {
            format!("{}: DAMAGED ({size} checked):", path.display())
        }];
        let damage = self.found.damage.iter();
        lines.extend(
            damage.map(|one| format!("• {} {}. Lost: {}.", one.file.display(), one.problem, one.lost)),
        );
        lines.extend(self.found.notes.iter().map(|note| format!("• {note}")));
        lines.join("\n")
    }
}

/// Checks and tells; whether all is sound.
pub fn run(common: &Common, path: &Path) -> Result<bool, Failure> {
    let threads = crate::data::all_cores(common.threads);
    let made = check(path, threads)?;
    if common.json {
        print_json(&made.json(path))?;
    } else {
        say(made.words(path))?;
    }
    Ok(made.is_sound())
}

/// Checks a run or a store.
pub fn check(path: &Path, threads: usize) -> Result<Verification, Failure> {
    let has = |name: &str| path.join(name).symlink_metadata().is_ok();
    if ["meta.json", "blocks.npy", "checksums.npy", "shard-1"].into_iter().any(has) {
        return Ok(Verification { kind: Kind::Store, found: store::verify(path, threads)? });
    }
    if !["run.toml", "checkpoint", "checkpoint.previous", "draws.zarr"].into_iter().any(has) {
        return Err(Failure::Usage(format!(
            "{} is neither a run nor a store: give the folder that `austerity fit` or `austerity convert` made",
            path.display()
        )));
    }
    let folder = Folder::new(path);
    let mut found = of_run(&folder, threads)?;
    if RunLock::is_held(path) {
        if !found.damage.is_empty() {
            // Files change while they are compared: a second look tells what is wrong for good.
            found = of_run(&folder, threads)?;
        }
        found
            .notes
            .push("A process is writing to this run: what it has not stored yet is not checked.".into());
    }
    Ok(Verification { kind: Kind::Run, found })
}

fn of_run(folder: &Folder, threads: usize) -> Result<Verified, Failure> {
    let mut found = Verified::default();
    let run = settings(folder, &mut found);
    let draws = verify_draws(folder.draws())?;
    let intact = draws.damage.is_empty();
    found.add(draws);
    checkpoints(folder, intact, &mut found);
    for (name, lost) in REMADE {
        remade(folder, name, lost, &mut found);
    }
    if let Some(run) = &run {
        pairs(folder, run, &mut found);
        in_parts(folder, run, &mut found);
        data(run, threads, &mut found)?;
    }
    others(folder, &mut found);
    Ok(found)
}

/// `run.toml`.
fn settings(folder: &Folder, found: &mut Verified) -> Option<RunFile> {
    let file = folder.file("run.toml");
    let lost = "the settings of the run: it cannot go on; `austerity export` still reads its draws";
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) => {
            let problem = match error.kind() {
                std::io::ErrorKind::NotFound => "is missing".into(),
                _ => format!("cannot be read ({error})"),
            };
            found.lose(file, problem, lost);
            return None;
        }
    };
    (found.files, found.bytes) = (found.files + 1, found.bytes + bytes.len() as u64);
    let seal = seal::check(&bytes);
    match RunFile::parse(bytes, &file) {
        Ok(run) => {
            if seal == Seal::Absent {
                found.notes.push(unsealed("run.toml"));
            }
            Some(run)
        }
        Err(_) if seal == Seal::Broken => {
            found.lose(file, "is damaged, or was edited: its checksum does not fit", lost);
            None
        }
        Err(_) => {
            found.lose(file, "is damaged, or of another version", lost);
            None
        }
    }
}

fn unsealed(name: &str) -> String {
    format!("{name} carries no checksum: an earlier version wrote it, or its first line was removed.")
}

/// Both generations of the checkpoint; the newest intact one must not count draws that are not there.
fn checkpoints(folder: &Folder, draws_intact: bool, found: &mut Verified) {
    let newest = folder.checkpoint();
    let before = checkpoint::previous(&newest);
    let present = [newest.exists(), before.exists()];
    let read = |file: &Path| checkpoint::decode::<Saved>(file);
    let saved = [read(&newest), read(&before)];
    let any = saved.iter().any(Result::is_ok);
    let lost = if any {
        "a few seconds of the run: it goes on from the other checkpoint, to the same draws"
    } else {
        "where the chains stand, and what they cost: the run cannot go on; its draws can be read"
    };
    for ((file, saved), there) in [&newest, &before].into_iter().zip(&saved).zip(present) {
        match saved {
            Ok(_) => {
                found.files += 1;
                found.bytes += std::fs::metadata(file).map_or(0, |found| found.len());
            }
            Err(austerity_io::Error::Format { problem, .. }) => found.lose(file, problem.clone(), lost),
            Err(error) if there => found.lose(file, format!("cannot be read ({error})"), lost),
            // The first checkpoint has none before it.
            Err(_) if *file == before || present[1] => {}
            Err(_) => found.lose(file, "is missing", lost),
        }
    }
    let Some(saved) = saved.into_iter().find_map(Result::ok).filter(|_| draws_intact) else { return };
    let Ok(reader) = folder.reader() else { return };
    let counted = saved.drawn().into_iter().min().unwrap_or(0) / reader.stored_every();
    if counted > reader.draws() as u64 {
        let problem =
            format!("holds {} draws of every chain where the checkpoint counts {counted}", reader.draws());
        found.lose(
            folder.draws(),
            problem,
            format!("draws {} to {counted} of some chains", reader.draws() + 1),
        );
    }
}

/// A file that carries its own checksum and can be made again.
fn remade(folder: &Folder, name: &str, lost: &str, found: &mut Verified) {
    let file = folder.file(name);
    // It is written at the end of a session.
    let Ok(bytes) = std::fs::read(&file) else { return };
    (found.files, found.bytes) = (found.files + 1, found.bytes + bytes.len() as u64);
    let carried =
        CARRIED.iter().any(|mark| bytes.windows(mark.len()).any(|window| window == mark.as_bytes()));
    match seal::check(&bytes) {
        Seal::Sound => {}
        Seal::Absent if !carried && is_whole(name, &bytes) => found.notes.push(unsealed(name)),
        Seal::Absent | Seal::Broken => {
            found.lose(file, "is damaged, or was edited: its checksum does not fit", lost);
        }
    }
}

/// Whether a file without a checksum has an end, at least.
fn is_whole(name: &str, bytes: &[u8]) -> bool {
    match name.ends_with(".json") {
        true => serde_json::from_slice::<Value>(bytes).is_ok(),
        false => bytes.trim_ascii_end().ends_with(b"</html>"),
    }
}

/// `pairs.csv`.
fn pairs(folder: &Folder, run: &RunFile, found: &mut Verified) {
    let Some(sum) = &run.pairs else { return };
    let file = folder.file("pairs.csv");
    let lost = "the pilot's decisions, which `austerity design --trial` reads";
    match std::fs::read(&file) {
        Ok(bytes) => {
            (found.files, found.bytes) = (found.files + 1, found.bytes + bytes.len() as u64);
            if seal::of(&bytes) != *sum {
                found.lose(file, "is damaged, or was edited: its checksum is not that in run.toml", lost);
            }
        }
        Err(error) => found.lose(file, format!("cannot be read ({error})"), lost),
    }
}

/// `parts.bin`.
fn in_parts(folder: &Folder, run: &RunFile, found: &mut Verified) {
    if run.plan.data.parts.is_none() {
        return;
    }
    let file = folder.file(STATE);
    found.files += 1;
    found.bytes += file.metadata().map_or(0, |known| known.len());
    if let Err(failure) = parts::read_state(&file) {
        found.lose(
            file,
            failure.to_string(),
            "the rows and sums that `--resume` and `austerity update` go on from",
        );
    }
}

/// The data, where they are a store.
fn data(run: &RunFile, threads: usize, found: &mut Verified) -> Result<(), Failure> {
    let (file, sum) = (&run.plan.data.file, &run.plan.data.checksum);
    if sum.is_empty() {
        return Ok(());
    }
    if !store::is_store(file) {
        let why = if file.exists() { "are compared when the run is resumed" } else { "are not there" };
        found.notes.push(format!("The data, {}, were not checked: they {why}.", file.display()));
        return Ok(());
    }
    found.add(store::verify(file, threads)?);
    match store::open(file) {
        Ok(opened) if opened.checksum() != sum && sum.contains(':') => found.lose(
            file,
            format!(
                "is not the store that the run used: its checksum is {}, and was {sum}",
                opened.checksum()
            ),
            "the data of the run, unless a copy of the store is elsewhere",
        ),
        _ => {}
    }
    Ok(())
}

/// What is not checked: tables that were exported here, and files of others.
fn others(folder: &Folder, found: &mut Verified) {
    let Ok(entries) = std::fs::read_dir(folder.path()) else { return };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.retain(|name| !KNOWN.contains(&name.as_str()) && !name.ends_with(".part"));
    names.sort();
    if !names.is_empty() {
        found.notes.push(format!(
            "Not checked, since no run writes them or they carry no checksum: {}.",
            names.join(", ")
        ));
    }
}
