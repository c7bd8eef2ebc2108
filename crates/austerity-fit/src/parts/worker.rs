//! The answer of one part: opens it, codes its rows, asks them. The same function on every engine, whose answer depends on the request and the part alone.

use std::time::Instant;

use austerity::model::shuffle_keys;
use austerity_glm::glm::Family as GlmFamily;
use austerity_glm::glm::Visitor;
use austerity_glm::glm::expansion::sweep::{Answer, Question};
use austerity_glm::simd;
use austerity_glm::{Glm, Linear, Prior, Store};
use austerity_io::load::part::{ColumnHashes, learn_part, store_part};

use super::message::{Answered, OfRows, Partial, Request, RowsAnswer, Sampling, Task, Work, decode, encode};
use super::rows::{Carried, Tag};
use crate::model::Family;
use crate::output::Failure;

/// Answers a request about one part. Both are messages, and so is the answer: also where the part cannot be read, which the driver then says.
#[must_use]
pub fn run_part(request: &[u8], task: &[u8]) -> Vec<u8> {
    let begun = Instant::now();
    let partial = answered(request, task, begun);
    partial.and_then(|partial| encode(&partial)).unwrap_or_else(|failure| failure.to_string().into_bytes())
}

fn answered(request: &[u8], task: &[u8], begun: Instant) -> Result<Partial, Failure> {
    let (request, task): (Request, Task) = (decode(request)?, decode(task)?);
    let empty = |answer| Partial {
        pass: request.pass,
        number: task.number,
        rows: 0,
        hashes: ColumnHashes::default(),
        seconds: begun.elapsed().as_secs_f64(),
        answer,
    };
    Ok(match check(&request).and_then(|()| ask(&request, &task)) {
        Ok((rows, hashes, answer)) => Partial { rows, hashes, ..empty(answer) },
        Err(failure) => empty(Answered::Failed(failure.to_string())),
    })
}

/// The instruction set of this machine, by name.
pub(super) fn level() -> String {
    let name = format!("{:?}", simd::detected());
    name.split(['(', ' ']).next().unwrap_or_default().to_owned()
}

/// Refuses what would give other bits.
fn check(request: &Request) -> Result<(), Failure> {
    let differs = |what: &str, wanted: &str, here: &str| {
        Err(Failure::Usage(format!(
            "a worker has {what} {here}, and the driver of the pass {wanted}: their sums would differ in the last bits. Use the same on all machines"
        )))
    };
    let here = env!("CARGO_PKG_VERSION");
    if request.package != here {
        return differs("version", &request.package, here);
    }
    if request.level != level() {
        return differs("the instruction set", &request.level, &level());
    }
    Ok(())
}

fn ask(request: &Request, task: &Task) -> Result<(usize, ColumnHashes, Answered), Failure> {
    match &request.work {
        Work::Learn(wanted) => {
            let learnt = learn_part(&task.part, task.number, wanted)?;
            Ok((learnt.rows(), learnt.hashes.clone(), Answered::Learnt(Box::new(learnt))))
        }
        Work::Rows(wanted) => {
            let (store, hashes) = store_part(&task.part, &wanted.recipe, &wanted.description)?;
            let answer = of_rows(wanted, &store, task.first).map_err(|failure| named(&failure, task))?;
            Ok((store.rows(), hashes, Answered::Rows(Box::new(answer))))
        }
    }
}

/// A failure with the part in which it was met.
fn named(failure: &Failure, task: &Task) -> Failure {
    Failure::Usage(format!("{}: {failure}", task.part.path.display()))
}

fn of_rows(wanted: &OfRows, store: &Store, first: u64) -> Result<RowsAnswer, Failure> {
    let mut answer = RowsAnswer::default();
    if let Some(sampling) = &wanted.sample {
        answer.sample = sampled(store, first, sampling);
    }
    if wanted.linear {
        answer.linear = Some(Linear::sums_of(store));
    }
    if let (Some(question), Family::Glm(family)) = (&wanted.question, wanted.family) {
        answer.sums = family.visit(Ask { question, store: store.clone() })?;
        let rows = std::mem::take(&mut answer.sums.heaviest);
        let mut heaviest = Carried { width: store.blocks().layout().width, ..Carried::default() };
        for (score, position) in rows {
            let row = first + u64::from(position);
            heaviest.tags.push(Tag { key: key(wanted.sample.map_or(0, |s| s.seed), row), row, score });
            store.append_row(position as usize, &mut heaviest.values);
        }
        answer.heaviest = heaviest;
    }
    Ok(answer)
}

fn key(seed: u64, row: u64) -> u64 {
    shuffle_keys(seed, row as usize).next().unwrap_or_default()
}

/// The rows with the smallest keys, in the order of these.
fn sampled(store: &Store, first: u64, sampling: &Sampling) -> Carried {
    let mut found: Vec<(u32, Tag)> = Vec::new();
    for (position, key) in (0..store.rows() as u32).zip(shuffle_keys(sampling.seed, first as usize)) {
        if key <= sampling.below {
            found.push((position, Tag { key, row: first + u64::from(position), score: 0.0 }));
        }
    }
    found.sort_unstable_by(|a, b| a.1.by_key(&b.1));
    found.truncate(sampling.most);
    let mut rows = Carried { width: store.blocks().layout().width, ..Carried::default() };
    for (position, tag) in found {
        rows.tags.push(tag);
        store.append_row(position as usize, &mut rows.values);
    }
    rows
}

/// Asks the rows as the likelihood of a family; the priors play no part.
struct Ask<'a> {
    question: &'a Question,
    store: Store,
}

impl Visitor for Ask<'_> {
    type Output = Result<Answer, Failure>;

    fn visit<F: GlmFamily>(self, family: F) -> Self::Output {
        let parameters = self.store.coefficients() + family.extra().len();
        let model = Glm::from_store(family, self.store, vec![Prior::Flat; parameters])?;
        Ok(self.question.ask(&model)?)
    }
}
