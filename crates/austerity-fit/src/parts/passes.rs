//! A pass over all parts: asks an engine, takes what comes in any order, asks again for what is missing, and merges along a fixed tree of part numbers.
//!
//! | fault | what happens |
//! |---|---|
//! | an answer comes twice, or to an earlier pass | it is not taken |
//! | an answer is damaged or does not come | the part is asked again, [`ROUNDS`] times in all |
//! | a part cannot be read, or has another schema | one message with its file |
//! | a part has other rows or other values than before | one message with its file and the first column that differs |
//! | two parts hold the same rows | one message with both files |
//!
//! Bits depend on the cut into parts alone.

use std::collections::HashMap;
use std::time::Instant;

use austerity_glm::pass::Tree;
use austerity_io::load::part::{ColumnHashes, Learning, Learnt};
use austerity_io::table::PartSpec;

use super::engine::Engine;
use super::message::{Answered, OfRows, Partial, Request, RowsAnswer, Sampling, Task, Work, decode, encode};
use super::rows::{Carried, Tag};
use super::worker::level;
use crate::fit::Host;
use crate::output::Failure;

/// How often a part is asked.
const ROUNDS: usize = 3;
/// Parts of fewer rows may repeat each other by chance.
const TELLING: usize = 64;

/// A part, and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) part: PartSpec,
    /// Number of its first row.
    pub(super) first: u64,
    pub(super) rows: usize,
    pub(super) hashes: ColumnHashes,
}

/// Runs passes over the parts of a table.
pub(super) struct Passes<'a> {
    engine: &'a dyn Engine,
    /// Passes made.
    pub(super) made: u32,
    /// Rows read by them.
    pub(super) read: u64,
    /// Number of the first part in all data.
    base: usize,
}

impl<'a> Passes<'a> {
    /// Parts are numbered from `base` on: those of rows that came later follow the others.
    pub(super) fn new(engine: &'a dyn Engine, base: usize) -> Self {
        Self { engine, made: 0, read: 0, base }
    }

    /// Learns how columns are coded; gives the parts with their rows. `first` is the number of the first row.
    pub(super) fn learn(
        &mut self,
        parts: &[PartSpec],
        learning: &mut Learning,
        first: u64,
        host: &mut dyn Host,
    ) -> Result<Vec<Known>, Failure> {
        let work = Work::Learn(Box::new(learning.wanted().clone()));
        let tasks: Vec<Task> = (self.base..)
            .zip(parts)
            .map(|(number, part)| Task { number, first: 0, part: part.clone() })
            .collect();
        let mut learnt: Vec<Option<Box<Learnt>>> = vec![None; parts.len()];
        self.ask((&work, &tasks), ("learning the columns", host), &mut |at, partial| {
            if let Answered::Learnt(answer) = partial.answer {
                learnt[at] = Some(answer);
            }
            Ok(())
        })?;
        let (mut known, mut next) = (Vec::with_capacity(parts.len()), first);
        for (part, learnt) in parts.iter().zip(learnt) {
            let Some(learnt) = learnt else { return Err(Failure::Interrupted) };
            let (rows, hashes) = (learnt.rows(), learnt.hashes.clone());
            known.push(Known { part: part.clone(), first: next, rows, hashes });
            next += rows as u64;
            learning.add(&part.path, *learnt)?;
        }
        refuse_repeats(&known)?;
        Ok(known)
    }

    /// Asks the rows of all parts; `each` sees the sums of every part, by its place among `parts`. Parts without hashes get those of this pass.
    pub(super) fn rows(
        &mut self,
        parts: &mut [Known],
        work: &OfRows,
        (doing, host): (&str, &mut dyn Host),
        each: &mut dyn FnMut(usize, &RowsAnswer),
    ) -> Result<RowsAnswer, Failure> {
        let tasks: Vec<Task> = (self.base..)
            .zip(parts.iter())
            .map(|(number, known)| Task { number, first: known.first, part: known.part.clone() })
            .collect();
        let tree: Tree<RowsAnswer> = Tree::new(parts.len());
        let law = Law { sampling: work.sample, heaviest: work.question.as_ref().map_or(0, |q| q.heaviest) };
        let request = Work::Rows(Box::new(work.clone()));
        self.ask((&request, &tasks), (doing, host), &mut |at, partial| {
            let known = &mut parts[at];
            if known.hashes == ColumnHashes::default() {
                known.hashes = partial.hashes;
                known.rows = partial.rows;
            } else {
                known.unchanged(partial.rows, &partial.hashes)?;
                // From now on those of the columns that the recipe has, as for rows that come later.
                known.hashes = partial.hashes;
            }
            if let Answered::Rows(answer) = partial.answer {
                each(at, &answer);
                tree.push(at, *answer, |earlier, later| law.merge(earlier, later));
            }
            Ok(())
        })?;
        tree.finish().ok_or(Failure::Interrupted)
    }

    /// Hands the first sound answer of every task to `take`, by its place.
    fn ask(
        &mut self,
        (work, tasks): (&Work, &[Task]),
        (doing, host): (&str, &mut dyn Host),
        take: &mut dyn FnMut(usize, Partial) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.made += 1;
        let begun = Instant::now();
        let pass = (u64::from(self.made) << 32) ^ u64::from(std::process::id());
        let package = env!("CARGO_PKG_VERSION").into();
        let request = encode(&Request { package, pass, level: level(), work: work.clone() })?;
        let mut done = vec![false; tasks.len()];
        let mut damage = None;
        for _ in 0..ROUNDS {
            let left: Vec<usize> = (0..tasks.len()).filter(|&at| !done[at]).collect();
            if left.is_empty() {
                break;
            }
            let messages: Vec<Vec<u8>> =
                left.iter().map(|&at| encode(&tasks[at])).collect::<Result<_, _>>()?;
            let (done, read) = (&mut done, &mut self.read);
            self.engine.map(&request, &messages, &mut |bytes| {
                if host.control().stopped() {
                    return Err(Failure::Interrupted);
                }
                let partial: Partial = match decode(&bytes) {
                    Ok(partial) => partial,
                    Err(failure) => {
                        damage = Some(failure.to_string());
                        return Ok(());
                    }
                };
                let Some(at) = partial.number.checked_sub(tasks[0].number).filter(|&at| at < tasks.len())
                else {
                    return Ok(());
                };
                if partial.pass != pass || done[at] {
                    return Ok(());
                }
                if let Answered::Failed(why) = &partial.answer {
                    return Err(Failure::Usage(why.clone()));
                }
                done[at] = true;
                *read += partial.rows as u64;
                let count = done.iter().filter(|done| **done).count();
                host.note(&format!(
                    "{doing}: part {count} of {} ({:.0} s)",
                    tasks.len(),
                    begun.elapsed().as_secs_f64()
                ));
                take(at, partial)
            })?;
        }
        match done.iter().position(|done| !done) {
            None => Ok(()),
            Some(at) => Err(Failure::Usage(format!(
                "{}: no answer came back from this part in {ROUNDS} attempts{}. Look at the workers of {}, or use another engine",
                tasks[at].part.path.display(),
                damage.map(|why| format!(" ({why})")).unwrap_or_default(),
                self.engine.name()
            ))),
        }
    }
}

/// How the answers of parts merge.
struct Law {
    sampling: Option<Sampling>,
    heaviest: usize,
}

impl Law {
    fn merge(&self, earlier: &mut RowsAnswer, later: RowsAnswer) {
        let add = |mine: &mut Vec<f64>, theirs: &[f64]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        };
        add(&mut earlier.sums.gradient, &later.sums.gradient);
        add(&mut earlier.sums.hessian, &later.sums.hessian);
        add(&mut earlier.sums.totals, &later.sums.totals);
        earlier.sums.squares += later.sums.squares;
        if let (Some(mine), Some(theirs)) = (&mut earlier.linear, &later.linear) {
            mine.add(theirs);
        }
        let mine = std::mem::take(&mut earlier.heaviest);
        earlier.heaviest = mine.merged(later.heaviest, self.heaviest, Tag::by_score);
        let most = self.sampling.map_or(0, |sampling| sampling.most);
        let mine: Carried = std::mem::take(&mut earlier.sample);
        earlier.sample = mine.merged(later.sample, most, Tag::by_key);
    }
}

impl Known {
    /// Refuses a part that is not what it was.
    fn unchanged(&self, rows: usize, hashes: &ColumnHashes) -> Result<(), Failure> {
        let what = if rows == self.rows {
            match self.hashes.differs(hashes) {
                None => return Ok(()),
                Some(column) => format!("column `{column}` holds other values"),
            }
        } else {
            format!("it had {} rows and has {rows} now", self.rows)
        };
        Err(Failure::Usage(format!(
            "{}: this part changed between two passes: {what}. Begin again when nobody writes to it",
            self.part.path.display()
        )))
    }
}

/// Refuses parts that hold the same rows.
pub(super) fn refuse_repeats(parts: &[Known]) -> Result<(), Failure> {
    let mut seen: HashMap<u64, &Known> = HashMap::new();
    for known in parts.iter().filter(|known| known.rows >= TELLING) {
        if let Some(other) = seen.insert(known.hashes.number(), known) {
            return Err(Failure::Usage(format!(
                "{}: this part holds the same rows as {}, which would count twice. Leave one of them out",
                known.part.path.display(),
                other.part.path.display()
            )));
        }
    }
    Ok(())
}
