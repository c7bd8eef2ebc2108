//! Columns that are computed from those of a table, as a source like any other: nothing is stored, every scan computes them anew.
//!
//! A [`Compute`] says which columns of the table a computed column needs and makes its values of some rows. Rows come in pieces of
//! [`CHUNK_ROWS`], whole columns of files stored by columns in groups that share what they need. Columns that are handed on as
//! they are cost nothing. Memory: a piece, or of whole columns one group per thread.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use austerity::parallel;

use super::scan::{CHUNK_ROWS, Chunk, Visit};
use super::{Column, Source};
use crate::error::{Error, Result};

/// Some rows of the columns that computed ones need.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// The file, for messages.
    pub(crate) file: &'a Path,
    /// Number of the first row, from 0.
    pub(crate) first: usize,
    /// Rows.
    pub(crate) count: usize,
    names: &'a [String],
    chunks: &'a [Chunk<'a>],
}

impl<'a> Rows<'a> {
    /// A column; one without rows where the table does not have it.
    pub(crate) fn chunk(&self, name: &str) -> Chunk<'a> {
        let place = self.names.iter().position(|own| own == name);
        place.and_then(|place| self.chunks.get(place)).copied().unwrap_or(Chunk::Numbers(&[]))
    }
}

/// The values of a computed column.
pub(crate) enum Values<'a> {
    /// Those of a column of the table.
    Given(Chunk<'a>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Codes with all labels that there are.
    Levels { codes: Vec<u32>, labels: &'a [String] },
    /// The same with a number for each row.
    Slopes { codes: Vec<u32>, labels: &'a [String], numbers: Vec<f64> },
}

impl Values<'_> {
    fn chunk(&self) -> Chunk<'_> {
        match self {
            Self::Given(chunk) => *chunk,
            Self::Numbers(values) => Chunk::Numbers(values),
            Self::Levels { codes, labels } => Chunk::Levels { codes, labels, truths: false },
            Self::Slopes { codes, labels, numbers } => Chunk::Slopes { codes, labels, numbers },
        }
    }

    /// As a whole column; slopes are none.
    fn column(self) -> Option<Column> {
        Some(match self {
            Self::Given(Chunk::Numbers(values)) => Column::Numbers(values.to_vec()),
            Self::Given(Chunk::Levels { codes, labels, .. }) => {
                Column::Levels { codes: codes.to_vec(), labels: labels.to_vec() }
            }
            Self::Numbers(values) => Column::Numbers(values),
            Self::Levels { codes, labels } => Column::Levels { codes, labels: labels.to_vec() },
            Self::Given(Chunk::Slopes { .. }) | Self::Slopes { .. } => return None,
        })
    }
}

/// What the levels of a computed column stand for: each label is the name of a column, and the last one is empty where some rows have none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells<'a> {
    /// The level of the rows without a column, where the column is that of one factor.
    pub(crate) reference: Option<&'a str>,
    /// Whether each is multiplied with a number of the row; such columns are had in pieces only.
    pub(crate) slopes: bool,
}

/// How columns are computed; each is known by its number.
pub(crate) trait Compute: fmt::Debug + Send + Sync {
    /// The columns of the table that are needed, each once, and those of them that must be read as text; the computed columns named in
    /// `as_text` are wanted as text.
    fn needs(&self, chosen: &[usize], as_text: &[String]) -> (Vec<String>, Vec<String>);
    /// The column of the table that a column is, where it is one of numbers.
    fn plain(&self, column: usize) -> Option<&str>;
    /// Columns with the same number are computed together.
    fn group(&self, column: usize) -> usize;
    /// What the levels of a column stand for, where it is one of cells.
    fn cells(&self, column: usize) -> Option<Cells<'_>>;
    /// The column of the table whose order of labels a column has.
    fn ordered_like(&self, column: usize) -> Option<&str>;
    /// The values of some rows.
    fn compute<'a>(&'a self, rows: &Rows<'a>, chosen: &[usize]) -> Result<Vec<Values<'a>>>;
}

/// A table and the columns computed from it.
#[derive(Clone, Debug)]
pub(super) struct Derived {
    pub(super) source: Source,
    pub(super) compute: Arc<dyn Compute>,
}

/// Hands rows on in pieces of [`CHUNK_ROWS`].
pub(crate) fn in_pieces<'a>(
    source: &'a Source,
    (names, as_text): (&[String], &[String]),
    visit: &mut dyn FnMut(&Rows<'_>) -> Result<()>,
) -> Result<usize> {
    source.scan(names, as_text, &mut |first, chunks| {
        let count = chunks.first().map_or(0, Chunk::len);
        for from in (0..count).step_by(CHUNK_ROWS) {
            let range = from..count.min(from + CHUNK_ROWS);
            let part: Vec<Chunk<'_>> = chunks.iter().map(|chunk| rows_of(chunk, range.clone())).collect();
            visit(&Rows {
                file: source.path(),
                first: first + from,
                count: range.len(),
                names,
                chunks: &part,
            })?;
        }
        Ok(())
    })
}

fn rows_of<'a>(chunk: &Chunk<'a>, range: Range<usize>) -> Chunk<'a> {
    match *chunk {
        Chunk::Numbers(values) => Chunk::Numbers(&values[range]),
        Chunk::Levels { codes, labels, truths } => Chunk::Levels { codes: &codes[range], labels, truths },
        Chunk::Slopes { codes, labels, numbers } => {
            Chunk::Slopes { codes: &codes[range.clone()], labels, numbers: &numbers[range] }
        }
    }
}

impl Derived {
    pub(super) fn scan(&self, chosen: &[usize], as_text: &[String], visit: &mut Visit<'_>) -> Result<usize> {
        let (names, text) = self.compute.needs(chosen, as_text);
        in_pieces(&self.source, (&names, &text), &mut |rows| {
            let values = self.compute.compute(rows, chosen)?;
            let chunks: Vec<Chunk<'_>> = values.iter().map(Values::chunk).collect();
            visit(rows.first, &chunks)
        })
    }

    /// Whole columns: those of the table as the table has them, the others group by group.
    pub(super) fn each<T: Send>(
        &self,
        chosen: &[usize],
        threads: usize,
        work: &(dyn Fn(usize, &mut Column) -> Result<T> + Sync),
        take: &mut dyn FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let plain: Vec<(usize, String)> = chosen
            .iter()
            .enumerate()
            .filter_map(|(position, &column)| Some((position, self.compute.plain(column)?.to_owned())))
            .collect();
        let names: Vec<String> = plain.iter().map(|(_, name)| name.clone()).collect();
        if !names.is_empty() {
            let work = |at: usize, column: &mut Column| work(plain[at].0, column);
            self.source.each_column(&names, threads, &work, &mut |at, made| take(plain[at].0, made))?;
        }
        let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
        for (position, &column) in chosen.iter().enumerate() {
            if self.compute.plain(column).is_some() {
                continue;
            }
            let group = self.compute.group(column);
            match groups.iter_mut().find(|(own, _)| *own == group) {
                Some((_, members)) => members.push(position),
                None => groups.push((group, vec![position])),
            }
        }
        for together in groups.chunks(threads.max(1)) {
            let made = parallel::map(threads, together, |(_, members)| self.group(members, chosen, work));
            for made in made {
                made?.into_iter().try_for_each(|(position, made)| take(position, made))?;
            }
        }
        Ok(())
    }

    /// The columns at some positions, from one reading of what they need.
    fn group<T>(
        &self,
        members: &[usize],
        chosen: &[usize],
        work: &(dyn Fn(usize, &mut Column) -> Result<T> + Sync),
    ) -> Result<Vec<(usize, T)>> {
        let columns: Vec<usize> = members.iter().map(|&position| chosen[position]).collect();
        let (names, text) = self.compute.needs(&columns, &[]);
        let table = self.source.read_with(Some(&names), &text)?;
        let chunks: Vec<Chunk<'_>> = table.columns.iter().map(Column::chunk).collect();
        let rows =
            Rows { file: self.source.path(), first: 0, count: table.rows, names: &names, chunks: &chunks };
        let values = self.compute.compute(&rows, &columns)?;
        let made = members.iter().zip(values).map(|(&position, values)| {
            let mut column = values.column().ok_or_else(|| {
                Error::format(self.source.path(), "has slopes, which are no columns", "read it in pieces")
            })?;
            Ok((position, work(position, &mut column)?))
        });
        made.collect()
    }
}
