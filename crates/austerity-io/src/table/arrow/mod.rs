//! Columns that another library holds in Arrow's memory layout, decoded piece by piece when they are read.
//!
//! | file | what it does |
//! |---|---|
//! | `interface` | the C data interface: whose memory it is, and where values lie in it (unsafe); a producer for tests |
//! | `kind` | which types are numbers or levels, and by which rule |
//!
//! A column keeps the batches in which it came and copies none of them. The labels of dictionaries are brought together as batches arrive; those
//! that no row has are dropped. Memory beyond the producer's: labels, and 4 bytes per entry of a dictionary.

mod interface;
mod kind;

use std::collections::HashMap;
use std::ops::Range;

use super::held::{Held, Sink, Trouble};
use super::levels::MISSING;
use super::scan::Nulls;
use interface::{Array, View};
use kind::{Kind, Width};

pub use interface::{Batch, Batches, Field, Stream};

/// One column of a stream.
#[derive(Debug)]
pub struct ArrowColumn {
    kind: Kind,
    coded: Option<Coded>,
    pieces: Vec<Piece>,
    rows: usize,
}

/// A column of codes.
#[derive(Debug)]
struct Coded {
    /// How codes are stored; `kind` is what they stand for.
    codes: Kind,
    labels: Vec<String>,
    known: HashMap<String, u32>,
    used: Vec<bool>,
    ordered: bool,
}

/// Some rows.
#[derive(Debug)]
struct Piece {
    first: usize,
    array: Array,
    /// What every code of the batch's own dictionary stands for: a label.
    labels: Vec<u32>,
    /// The same of dictionaries of numbers; NaN where it is missing.
    numbers: Vec<f64>,
}

/// Reads batches to their end: the `wanted` columns, all without names. Of single columns `alone` is the name. `pause` is called between batches and may
/// end it all.
///
/// The error is a sentence about a column, or about the stream.
pub fn read<E: From<String>>(
    stream: &mut dyn Batches,
    wanted: Option<&[String]>,
    alone: &str,
    pause: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Vec<(String, ArrowColumn)>, E> {
    let field = stream.field().map_err(|what| lost(&what))?;
    let single = [Field { name: alone.into(), ..field.clone() }];
    let fields = if field.format == "+s" { &field.children[..] } else { &single[..] };
    let is_wanted = |name: &String| wanted.is_none_or(|wanted| wanted.contains(name));
    let mut columns = Vec::new();
    for field in fields {
        columns.push(is_wanted(&field.name).then(|| ArrowColumn::new(field)).transpose()?);
    }
    while let Some(batch) = stream.next(&field).map_err(|what| lost(&what))? {
        // Columns that are not wanted are released here.
        for ((column, array), field) in columns.iter_mut().zip(batch.0).zip(fields) {
            if let Some(column) = column {
                column.push(field, array)?;
            }
        }
        pause()?;
    }
    let named = fields.iter().zip(columns).filter_map(|(field, column)| Some((field.name.clone(), column?)));
    Ok(named.collect())
}

/// The stream's own error.
fn lost(what: &str) -> String {
    format!("the table could not be read: {what}")
}

impl ArrowColumn {
    fn new(field: &Field) -> Result<Self, String> {
        let of = field.dictionary.as_deref().unwrap_or(field);
        let refuse = |what: String| {
            format!("column `{}` holds {what}; leave it out, or convert it to numbers or text", field.name)
        };
        let kind = Kind::of(of).map_err(refuse)?;
        let coded = match &field.dictionary {
            None => None,
            Some(_) => Some(Coded {
                codes: Kind::of(field).map_err(refuse)?,
                labels: Vec::new(),
                known: HashMap::new(),
                used: Vec::new(),
                ordered: field.ordered,
            }),
        };
        Ok(Self { kind, coded, pieces: Vec::new(), rows: 0 })
    }

    fn push(&mut self, field: &Field, array: Array) -> Result<(), String> {
        let about = |what: String| format!("column `{}` has {what}; make the table anew", field.name);
        let mut piece = Piece { first: self.rows, array, labels: Vec::new(), numbers: Vec::new() };
        let layout = self.coded.as_ref().map_or(self.kind, |coded| coded.codes).layout();
        let view = piece.array.view(layout).map_err(about)?;
        let length = view.len();
        if length == 0 {
            return Ok(());
        }
        if let Some(coded) = &mut self.coded {
            let entries = piece.array.dictionary(self.kind.layout()).map_err(about)?;
            if self.kind.is_text() {
                let own = coded.learn(&view, &entries).map_err(about)?;
                piece.labels = own;
            } else {
                let mut sink = Sink::Numbers(Vec::new());
                append(self.kind, &entries, (0..entries.len(), Nulls::Keep), &mut sink)
                    .map_err(|_| about("an infinite number among its categories".into()))?;
                if let Sink::Numbers(numbers) = sink {
                    piece.numbers = numbers;
                }
            }
        }
        self.rows += length;
        self.pieces.push(piece);
        Ok(())
    }

    /// Rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether its values are levels.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.kind.is_text()
    }

    /// Whether its values are true and false.
    #[must_use]
    pub fn is_truth(&self) -> bool {
        self.kind == Kind::Truth && self.coded.is_none()
    }

    /// Whether the order of its labels means something.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.is_text() && self.coded.as_ref().is_some_and(|coded| coded.ordered)
    }

    /// Whether a value may be missing or infinite, as far as is known without looking at values.
    #[must_use]
    pub fn may_be_bad(&self) -> bool {
        let floating = matches!(self.kind, Kind::Number(Width::F16 | Width::F32 | Width::F64, _));
        let layout = self.coded.as_ref().map_or(self.kind, |coded| coded.codes).layout();
        let misses = |piece: &Piece| piece.array.view(layout).map_or(true, |view| view.may_miss());
        floating || self.coded.is_some() || self.pieces.iter().any(misses)
    }

    /// The labels of a dictionary, in order, and those that no row has. A column of plain text has none before it is read.
    #[must_use]
    pub fn labels(&self) -> (Vec<String>, Vec<String>) {
        let Some(coded) = self.coded.as_ref().filter(|_| self.is_text()) else { return Default::default() };
        let (kept, unused): (Vec<_>, Vec<_>) =
            coded.labels.iter().zip(&coded.used).partition(|&(_, &used)| used);
        let plain = |list: Vec<(&String, &bool)>| list.into_iter().map(|(label, _)| label.clone()).collect();
        (plain(kept), plain(unused))
    }

    /// Puts the labels of a dictionary into an order that means something; labels that are not in it come last.
    pub fn put_in_order(&mut self, order: &[String]) {
        let Some(coded) = &mut self.coded else { return };
        let place = |label: &String| order.iter().position(|one| one == label).unwrap_or(order.len());
        let mut sorted: Vec<usize> = (0..coded.labels.len()).collect();
        sorted.sort_by_key(|&code| place(&coded.labels[code]));
        let mut places = vec![0; sorted.len()];
        sorted.iter().enumerate().for_each(|(to, &from)| places[from] = to as u32);
        coded.labels = sorted.iter().map(|&code| coded.labels[code].clone()).collect();
        coded.used = sorted.iter().map(|&code| coded.used[code]).collect();
        coded.known = coded.labels.iter().cloned().zip(0..).collect();
        coded.ordered = true;
        let all = self.pieces.iter_mut().flat_map(|piece| &mut piece.labels);
        all.filter(|label| **label != MISSING).for_each(|label| *label = places[*label as usize]);
    }

    /// The codes of all labels, as they are without those that no row has.
    fn kept(&self) -> Vec<u32> {
        let used = self.coded.as_ref().map_or(&[][..], |coded| &coded.used);
        let mut next = 0;
        let code = |&used: &bool| {
            let code = if used { next } else { MISSING };
            next += u32::from(used);
            code
        };
        used.iter().map(code).collect()
    }

    /// What its values go to.
    pub(super) fn sink(&self) -> Sink {
        match (&self.coded, self.is_text()) {
            (Some(_), true) => {
                Sink::Codes { codes: Vec::new(), labels: self.labels().0, places: self.kept() }
            }
            (None, true) => Sink::Text(super::levels::LevelBuilder::default()),
            (_, false) => Sink::Numbers(Vec::new()),
        }
    }

    /// Appends the values of some rows.
    pub(super) fn read(&self, (rows, nulls): (Range<usize>, Nulls), sink: &mut Sink) -> Result<(), Trouble> {
        let mut at = self.pieces.partition_point(|piece| piece.first <= rows.start).saturating_sub(1);
        let mut row = rows.start;
        while row < rows.end {
            let piece =
                self.pieces.get(at).ok_or_else(|| Trouble::Broken("fewer rows than it said".into()))?;
            let layout = self.coded.as_ref().map_or(self.kind, |coded| coded.codes).layout();
            let view = piece.array.view(layout).map_err(Trouble::Broken)?;
            let end = rows.end.min(piece.first + view.len());
            let part = row - piece.first..end - piece.first;
            match &self.coded {
                None => append(self.kind, &view, (part, nulls), sink),
                Some(coded) => piece.decode(coded.codes, &view, (part, nulls), sink),
            }
            .map_err(|trouble| trouble.moved(piece.first))?;
            (row, at) = (end, at + 1);
        }
        Ok(())
    }
}

impl Coded {
    /// Learns the labels of a batch's dictionary; gives what its codes stand for, and marks those that rows have.
    fn learn(&mut self, rows: &View<'_>, entries: &View<'_>) -> Result<Vec<u32>, String> {
        let mut own = Vec::with_capacity(entries.len());
        for entry in 0..entries.len() {
            if entries.misses(entry) {
                own.push(MISSING);
                continue;
            }
            let bytes = entries.text(entry).ok_or("text outside of its memory")?;
            let label = std::str::from_utf8(bytes).map_err(|_| "labels that are not UTF-8")?;
            let code = match self.known.get(label) {
                Some(&code) => code,
                None => {
                    let code = self.labels.len() as u32;
                    self.known.insert(label.into(), code);
                    self.labels.push(label.into());
                    self.used.push(false);
                    code
                }
            };
            own.push(code);
        }
        each_code(self.codes, rows, 0..rows.len(), &mut |_, code| {
            if let Some(&label) = code.and_then(|code| own.get(code))
                && label != MISSING
            {
                self.used[label as usize] = true;
            }
            Ok(())
        })
        .map_err(|_| "codes that are no whole numbers")?;
        Ok(own)
    }
}

impl Piece {
    /// Appends rows of codes.
    fn decode(
        &self,
        codes: Kind,
        view: &View<'_>,
        (rows, nulls): (Range<usize>, Nulls),
        sink: &mut Sink,
    ) -> Result<(), Trouble> {
        let absent = |row: usize| match nulls {
            Nulls::Keep => Ok(()),
            Nulls::Refuse => Err(Trouble::Missing { row, value: "null" }),
        };
        let unknown = |code: usize| Trouble::Broken(format!("the code {code}, which stands for nothing"));
        each_code(codes, view, rows, &mut |row, code| match sink {
            Sink::Codes { codes: out, places, .. } => {
                let label = code.map(|code| self.labels.get(code).copied().ok_or_else(|| unknown(code)));
                let label = label.transpose()?.filter(|&label| label != MISSING);
                if label.is_none() {
                    absent(row)?;
                }
                out.push(label.map_or(MISSING, |label| places[label as usize]));
                Ok(())
            }
            Sink::Numbers(out) => {
                let value = code.map(|code| self.numbers.get(code).copied().ok_or_else(|| unknown(code)));
                let value = value.transpose()?.unwrap_or(f64::NAN);
                if value.is_nan() {
                    absent(row)?;
                }
                out.push(value);
                Ok(())
            }
            Sink::Text(_) => Err(Trouble::Broken("text where codes are expected".into())),
        })
    }
}

/// Hands over the codes of some rows; `None` is missing.
fn each_code(
    kind: Kind,
    view: &View<'_>,
    rows: Range<usize>,
    take: &mut dyn FnMut(usize, Option<usize>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let Kind::Number(width, 1.0) = kind else {
        return Err(Trouble::Broken("codes that are no whole numbers".into()));
    };
    let mut numbers = Vec::with_capacity(super::CHUNK_ROWS);
    let step = super::CHUNK_ROWS;
    for start in rows.clone().step_by(step) {
        numbers.clear();
        let part = start..rows.end.min(start + step);
        width.append(view.bytes(part, width.bytes()), 1.0, &mut numbers);
        for (at, &code) in numbers.iter().enumerate() {
            let row = start + at;
            let there = !view.misses(row) && code >= 0.0 && code.fract() == 0.0;
            take(row, there.then_some(code as usize))?;
        }
    }
    Ok(())
}

/// Appends plain values.
fn append(
    kind: Kind,
    view: &View<'_>,
    (rows, nulls): (Range<usize>, Nulls),
    sink: &mut Sink,
) -> Result<(), Trouble> {
    let (start, missing) = (rows.start, |row: usize| view.may_miss() && view.misses(row));
    let absent = rows.clone().find(|&row| missing(row));
    if let (Some(row), Nulls::Refuse) = (absent, nulls) {
        return Err(Trouble::Missing { row, value: "null" });
    }
    match (kind, sink) {
        (Kind::Number(width, scale), Sink::Numbers(out)) => {
            let first = out.len();
            width.append(view.bytes(rows.clone(), width.bytes()), scale, out);
            if absent.is_some() {
                rows.filter(|&row| missing(row)).for_each(|row| out[first + row - start] = f64::NAN);
            }
            Trouble::unless_all_finite(start, &out[first..], nulls)
        }
        (Kind::Truth, Sink::Numbers(out)) => {
            let value = |row| if missing(row) { f64::NAN } else { f64::from(u8::from(view.bit(row))) };
            out.extend(rows.map(value));
            Ok(())
        }
        (Kind::Nothing, Sink::Numbers(out)) => {
            out.extend(rows.map(|_| f64::NAN));
            Ok(())
        }
        (Kind::Text(_) | Kind::Views, Sink::Text(levels)) => rows.into_iter().try_for_each(|row| {
            if missing(row) {
                levels.push_missing(1);
                return Ok(());
            }
            let bytes = view.text(row).ok_or_else(|| Trouble::Broken("text outside of its memory".into()))?;
            let text = std::str::from_utf8(bytes)
                .map_err(|_| Trouble::NotUtf8 { row, value: String::from_utf8_lossy(bytes).into_owned() })?;
            levels.push(text).map_err(|_| Trouble::Broken("more than 2³² different texts".into()))
        }),
        _ => Err(Trouble::Broken("values of another type".into())),
    }
}

impl From<ArrowColumn> for Held {
    fn from(column: ArrowColumn) -> Self {
        Self::Arrow(std::sync::Arc::new(column))
    }
}

#[cfg(test)]
mod tests;
