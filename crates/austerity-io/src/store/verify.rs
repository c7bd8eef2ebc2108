//! Are the bytes of a store those that were written? Every piece is read once and compared with its checksum.
//!
//! [`StoreOnDisk::verify`] is for whoever is about to use the rows and wants the first damage as an error; [`verify`] names all damage of a store, or of
//! all shards of one, for people.

use std::path::Path;
use std::time::SystemTime;

use austerity_glm::glm::blocks::BLOCK;

use super::pieces::{self, ROWS_IN_PIECE, block_bytes, blocks_in_piece};
use super::{BLOCKS, CHECKSUMS, META, REMEDY, ROWS, StoreOnDisk, Sums, open};
use crate::error::{Error, Result};
use crate::verified::{Damage, Verified};

/// Ranges that a message names.
const LISTED: usize = 4;

/// Reads all of a store, or of the shards of one.
pub fn verify(path: impl AsRef<Path>, threads: usize) -> Result<Verified> {
    let folder = path.as_ref();
    let mut found = Verified::default();
    let first = folder.join("shard-1");
    if !folder.join(META).is_file() && first.is_dir() {
        let shards = open(&first).ok().and_then(|store| store.shard).map_or(1, |shard| shard.of);
        for number in 1..=shards {
            found.add(one(&folder.join(format!("shard-{number}")), threads)?);
        }
        return Ok(found);
    }
    one(folder, threads)
}

fn one(folder: &Path, threads: usize) -> Result<Verified> {
    let mut found = Verified::default();
    match open(folder) {
        Ok(store) => {
            [META, BLOCKS, ROWS].iter().for_each(|file| found.count(&folder.join(file)));
            match store.sums {
                Sums::Earlier => found.notes.push(format!(
                    "{}: written by an earlier version, with one checksum for all rows; `austerity convert` makes a store that can say where damage is",
                    folder.display()
                )),
                Sums::Pieces { .. } => found.count(&folder.join(CHECKSUMS)),
            }
            found.damage = store.damage(threads);
        }
        // What cannot be opened is lost as a whole, whatever the reason.
        Err(Error::Format { file, problem, .. }) => found.lose(file, problem, "all rows"),
        Err(Error::Io { file, source, .. }) => {
            found.lose(file, format!("cannot be read ({source})"), "all rows");
        }
        Err(Error::Data { file, source }) => found.lose(file, format!("is damaged ({source})"), "all rows"),
        Err(other) => return Err(other),
    }
    Ok(found)
}

impl StoreOnDisk {
    /// The checksum of all numbers, as it was when the store was made; reads none of them.
    #[must_use]
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// Reads every number on so many threads and compares with the checksums; an error names the file and the blocks.
    pub fn verify(&self, threads: usize) -> Result<()> {
        match self.damage(threads).into_iter().next() {
            None => Ok(()),
            Some(Damage { file, problem, .. }) => Err(Error::format(&file, problem, REMEDY)),
        }
    }

    /// Whether a file of the rows was written to since `time`, by the clock of its file system.
    #[must_use]
    pub fn is_newer_than(&self, time: SystemTime) -> bool {
        let modified =
            |file: &str| std::fs::metadata(self.folder.join(file)).and_then(|found| found.modified());
        [BLOCKS, ROWS].into_iter().any(|file| modified(file).is_ok_and(|modified| modified > time))
    }

    /// All that differs from what was written.
    fn damage(&self, threads: usize) -> Vec<Damage> {
        let rows = self.store.rows();
        let (of_blocks, of_rows) = match &self.sums {
            Sums::Pieces { blocks, rows } => (blocks, rows),
            Sums::Earlier if pieces::earlier_checksum(&self.store) == self.checksum => return Vec::new(),
            Sums::Earlier => {
                let problem = "is damaged: its checksum does not fit".to_owned();
                return vec![Damage {
                    file: self.folder.join(BLOCKS),
                    problem,
                    lost: format!("some of {rows} rows"),
                }];
            }
        };
        let width = self.store.blocks().layout().width;
        let in_piece = blocks_in_piece(width);
        let found = pieces::of_bytes(self.lines.bytes(), in_piece * block_bytes(width), threads);
        let bad = differing(of_blocks, &found, in_piece, rows.div_ceil(BLOCK));
        let mut damage = Vec::new();
        if !bad.is_empty() {
            let lost = bad.iter().map(|(first, last)| (last * BLOCK).min(rows) - (first - 1) * BLOCK);
            damage.push(Damage {
                file: self.folder.join(BLOCKS),
                problem: format!(
                    "is damaged: the checksum of {} of {} does not fit",
                    listed("block", &bad),
                    rows.div_ceil(BLOCK)
                ),
                lost: format!("up to {} of {rows} rows", lost.sum::<usize>()),
            });
        }
        let found = pieces::of_bytes(self.rows.bytes(), ROWS_IN_PIECE * size_of::<u32>(), threads);
        let bad = differing(of_rows, &found, ROWS_IN_PIECE, rows);
        if !bad.is_empty() {
            damage.push(Damage {
                file: self.folder.join(ROWS),
                problem: format!(
                    "is damaged: the checksum of the numbers of {} of {rows} does not fit",
                    listed("row", &bad)
                ),
                lost: "which row of the table some stored rows were".into(),
            });
        }
        damage
    }
}

/// First and last element, from 1, of the pieces that differ; neighbours together.
fn differing(written: &[u32], found: &[u32], piece: usize, count: usize) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (place, sum) in written.iter().enumerate() {
        if found.get(place) != Some(sum) {
            let (first, last) = (place * piece + 1, ((place + 1) * piece).min(count));
            match ranges.last_mut().filter(|range| range.1 + 1 == first) {
                Some(range) => range.1 = last,
                None => ranges.push((first, last)),
            }
        }
    }
    ranges
}

fn listed(what: &str, ranges: &[(usize, usize)]) -> String {
    let one = |&(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    let some: Vec<String> = ranges.iter().take(LISTED).map(one).collect();
    let more = ranges.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more ranges") } else { String::new() };
    let plural = if ranges.len() == 1 && ranges[0].0 == ranges[0].1 { "" } else { "s" };
    format!("{what}{plural} {}{more}", some.join(", "))
}
