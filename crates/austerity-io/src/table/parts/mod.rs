//! Several files as one table: the rows of the first, then those of the next.
//!
//! | file | what it does |
//! |---|---|
//! | `paths` | which files a name stands for: folders, patterns, lists; what their folders say |
//!
//! All files have the same columns, in any order, and a column holds numbers in all of them or text in all of them. Folders called `key=value` add columns: numbers where
//! every value is one, else text. Rows are counted through, and texts are numbered in the order of the first row that has them, so what is read is to the bit what one file
//! with the same rows would give. Messages name the file and the row in it.
//!
//! Memory: that of the file being read, and the footers of Parquet files. Files are read one after the other; the columns of Parquet files on threads.

mod paths;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use self::paths::Found;
use super::csv::number_of;
use super::levels::{MISSING, Relabel};
use super::names::nearest;
use super::piece::FolderValue;
use super::scan::{Chunk, Nulls, Visit};
use super::source::{OpenOptions, Source, open_file};
use super::{Column, ColumnKind, Schema};
use crate::error::{Error, Place, Result};
use crate::text::printable;

pub(super) use paths::find;

/// How folders spell a value that is not there.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// The files of a table.
#[derive(Debug)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// Where every column of the table comes from.
    columns: Vec<Origin>,
}

/// One file.
#[derive(Debug)]
struct Part {
    source: Source,
    /// Positions of the table's columns in the file.
    places: Vec<usize>,
    /// Texts that the folders say.
    values: Vec<String>,
    /// Rows, as soon as they are known.
    rows: OnceLock<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    /// A column of the files.
    File(usize),
    /// What the folders say, as a number or as text.
    Folder { place: usize, number: bool },
}

impl Parts {
    /// Opens all files and compares their columns.
    pub(super) fn open(found: Vec<Found>, options: &OpenOptions) -> Result<(Self, Schema)> {
        let mut parts: Vec<Part> = Vec::with_capacity(found.len());
        let (mut schema, mut keys): (Option<Schema>, Vec<String>) = (None, Vec::new());
        for one in found {
            let source = open_file(&one.path, options)?;
            if source.schema().rows == Some(0) {
                let what = "it has columns and no rows; leave it out".into();
                return Err(Error::Empty { file: one.path, what });
            }
            let (names, values): (Vec<String>, Vec<String>) = one.partitions.into_iter().unzip();
            let schema = schema.get_or_insert_with(|| {
                keys.clone_from(&names);
                source.schema().clone()
            });
            let first = parts.first().map_or(one.path.as_path(), |part| part.source.path());
            same_folders(first, &keys, (&one.path, &names))?;
            let places = same_columns(first, schema, &source)?;
            same_kinds(parts.first(), (schema, &places), &source)?;
            let rows = source.schema().rows.map_or_else(OnceLock::new, OnceLock::from);
            parts.push(Part { source, places, values, rows });
        }
        let mut schema =
            schema.unwrap_or(Schema { names: Vec::new(), kinds: Vec::new(), rows: None, notes: Vec::new() });
        schema.rows = parts.iter().map(|part| part.rows.get()).sum();
        schema.notes = notes(&parts);
        let mut columns: Vec<Origin> = (0..schema.names.len()).map(Origin::File).collect();
        for (place, key) in keys.into_iter().enumerate() {
            if let (Some(part), true) = (parts.first(), schema.names.contains(&key)) {
                let problem = "is a column of the file and the name of a folder".to_owned();
                return Err(role(part.source.path(), &key, problem, "rename the folders or the column"));
            }
            let mut values = parts.iter().map(|part| part.values[place].as_str());
            let number = values.all(|value| value == NO_VALUE || number_of(value).is_some());
            schema.names.push(key);
            schema.kinds.push(if number { ColumnKind::Number } else { ColumnKind::Text });
            columns.push(Origin::Folder { place, number });
        }
        Ok((Self { parts, columns }, schema))
    }

    /// One file, or a piece of it, with what its folders say: see [`PartSpec`](super::PartSpec).
    pub(super) fn one(source: Source, folders: &[FolderValue]) -> (Self, Schema) {
        let mut schema = source.schema().clone();
        let mut columns: Vec<Origin> = (0..schema.names.len()).map(Origin::File).collect();
        for (place, folder) in folders.iter().enumerate() {
            schema.names.push(folder.name.clone());
            schema.kinds.push(if folder.number { ColumnKind::Number } else { ColumnKind::Text });
            columns.push(Origin::Folder { place, number: folder.number });
        }
        let rows = schema.rows.map_or_else(OnceLock::new, OnceLock::from);
        let values = folders.iter().map(|folder| folder.value.clone()).collect();
        let places = (0..source.schema().names.len()).collect();
        (Self { parts: vec![Part { source, places, values, rows }], columns }, schema)
    }

    /// The files, and what the folders say of each.
    pub(super) fn files(&self, names: &[String]) -> Vec<(&Source, Vec<FolderValue>)> {
        let folders = |part: &Part| {
            let of = |(origin, name): (&Origin, &String)| match *origin {
                Origin::Folder { place, number } => {
                    Some(FolderValue { name: name.clone(), value: part.values[place].clone(), number })
                }
                Origin::File(_) => None,
            };
            self.columns.iter().zip(names).filter_map(of).collect()
        };
        self.parts.iter().map(|part| (&part.source, folders(part))).collect()
    }

    /// Whether every file stores whole columns.
    pub(super) fn is_columnar(&self) -> bool {
        self.parts.iter().all(|part| part.source.is_columnar())
    }

    /// The file that a row is in, and the number of that file's first row.
    pub(super) fn part_of(&self, row: usize) -> (&Path, usize) {
        let mut first = 0;
        for part in &self.parts {
            match part.rows.get() {
                Some(rows) if first + rows <= row => first += rows,
                _ => return (part.source.path(), first),
            }
        }
        (self.parts.last().map_or(Path::new(""), |part| part.source.path()), first)
    }

    /// Hands the columns at the `chosen` positions to `visit`, piece by piece; returns the number of rows.
    pub(super) fn scan(
        &self,
        chosen: &[usize],
        (as_text, nulls): (&[String], Nulls),
        visit: &mut Visit<'_>,
    ) -> Result<usize> {
        // `true` and `false` stand for numbers in text files only.
        let truths = self.parts.iter().all(|part| part.source.is_text());
        let mut columns: Vec<Joined> = chosen.iter().map(|&j| Joined::new(self.columns[j], truths)).collect();
        let mut first = 0;
        for part in &self.parts {
            let mut wanted: Vec<usize> = columns.iter().filter_map(|column| part.place(column)).collect();
            let (mut text, mut nulls) = (as_text.to_vec(), nulls);
            if wanted.is_empty() {
                // Folders say all that is asked for, but rows must be counted.
                let schema = part.source.schema();
                wanted
                    .extend(schema.kinds.iter().position(|kind| !matches!(kind, ColumnKind::Unsupported(_))));
                text.extend(wanted.iter().map(|&j| schema.names[j].clone()));
                nulls = Nulls::Keep;
            }
            columns.iter_mut().for_each(|column| column.texts.begin_file());
            let rows = part.source.scan_all(&wanted, (&text, nulls), &mut |at, chunks| {
                let mut own = chunks.iter();
                let rows = chunks.first().map_or(0, Chunk::len);
                for column in &mut columns {
                    let chunk = if let Origin::File(_) = column.origin { own.next() } else { None };
                    column.take(part, (rows, nulls), chunk)?;
                }
                let joined: Vec<Chunk<'_>> = columns.iter().map(Joined::chunk).collect();
                visit(first + at, &joined)
            })?;
            let known = *part.rows.get_or_init(|| rows);
            if known != rows {
                let remedy = "load it again when nobody writes to it";
                return Err(Error::format(part.source.path(), "changed while it was read", remedy));
            }
            first += rows;
        }
        Ok(first)
    }

    /// A whole column of files that store them.
    pub(super) fn column(&self, (j, nulls): (usize, Nulls), spare: Column) -> Result<Column> {
        let rows: usize = self.parts.iter().filter_map(|part| part.rows.get()).sum();
        let mut joined = Joined::new(self.columns[j], false);
        if let Column::Numbers(mut spare) = spare {
            spare.clear();
            spare.reserve_exact(rows);
            joined.numbers = spare;
        }
        let mut own = Column::default();
        for part in &self.parts {
            joined.texts.begin_file();
            let rows = part.rows.get().copied().unwrap_or(0);
            if let Some(place) = part.place(&joined) {
                own = part.source.column((place, nulls), std::mem::take(&mut own))?;
                joined.append(part, (rows, nulls), Some(&own.chunk()))?;
            } else {
                joined.append(part, (rows, nulls), None)?;
            }
        }
        Ok(match joined.is_text {
            Some(true) => Column::Levels { codes: joined.codes, labels: joined.texts.labels().to_vec() },
            _ => Column::Numbers(joined.numbers),
        })
    }
}

impl Part {
    /// The position of a column in this file.
    fn place(&self, column: &Joined) -> Option<usize> {
        match column.origin {
            Origin::File(j) => Some(self.places[j]),
            Origin::Folder { .. } => None,
        }
    }
}

/// A column that is put together from the files.
struct Joined {
    origin: Origin,
    is_text: Option<bool>,
    /// The file that decided that.
    decided: PathBuf,
    numbers: Vec<f64>,
    codes: Vec<u32>,
    texts: Relabel,
    truths: bool,
}

impl Joined {
    fn new(origin: Origin, truths: bool) -> Self {
        let truths = truths && matches!(origin, Origin::File(_));
        let (numbers, codes, texts) = (Vec::new(), Vec::new(), Relabel::default());
        Self { origin, is_text: None, decided: PathBuf::new(), numbers, codes, texts, truths }
    }

    /// Holds the next piece alone.
    fn take(&mut self, part: &Part, rows: (usize, Nulls), chunk: Option<&Chunk<'_>>) -> Result<()> {
        self.numbers.clear();
        self.codes.clear();
        self.append(part, rows, chunk)
    }

    /// Appends a piece of a file; of a column that the folders say, rows of their value.
    fn append(
        &mut self,
        part: &Part,
        (rows, nulls): (usize, Nulls),
        chunk: Option<&Chunk<'_>>,
    ) -> Result<()> {
        match (self.origin, chunk) {
            (Origin::Folder { place, number }, _) => {
                let text = part.values[place].as_str();
                if text == NO_VALUE && nulls == Nulls::Refuse {
                    let place = Place::new(part.source.path(), "a folder's name", 0);
                    let remedy = "leave these files out, or the column".into();
                    return Err(Error::MissingValue { place, value: text.into(), remedy });
                }
                self.is_text = Some(!number);
                if number {
                    let value = number_of(text).unwrap_or(f64::NAN);
                    self.numbers.resize(self.numbers.len() + rows, value);
                } else {
                    let code = if text == NO_VALUE { MISSING } else { self.texts.code(text) };
                    self.codes.resize(self.codes.len() + rows, code);
                }
            }
            (Origin::File(_), Some(Chunk::Numbers(values))) => {
                // A column of a text file has no kind before its first value.
                if values.iter().any(|value| !value.is_nan()) {
                    self.decide(part, false)?;
                }
                if self.is_text == Some(true) {
                    self.codes.resize(self.codes.len() + values.len(), MISSING);
                } else {
                    self.numbers.extend_from_slice(values);
                }
            }
            (Origin::File(_), Some(Chunk::Levels { codes, labels, .. })) => {
                if self.is_text.is_none() {
                    self.codes.resize(self.codes.len() + self.numbers.len(), MISSING);
                    self.numbers.clear();
                }
                self.decide(part, true)?;
                self.texts.apply(codes, labels, &mut self.codes);
            }
            // A file has no slopes: only computed columns have.
            (Origin::File(_), Some(Chunk::Slopes { .. }) | None) => {}
        }
        Ok(())
    }

    /// A column is text in all files or numbers in all.
    fn decide(&mut self, part: &Part, is_text: bool) -> Result<()> {
        let Origin::File(j) = self.origin else { return Ok(()) };
        match self.is_text {
            Some(before) if before != is_text => {
                let column = &part.source.schema().names[part.places[j]];
                Err(mixed(part.source.path(), column, is_text, &self.decided))
            }
            Some(_) => Ok(()),
            None => {
                self.is_text = Some(is_text);
                self.decided = part.source.path().into();
                Ok(())
            }
        }
    }

    fn chunk(&self) -> Chunk<'_> {
        match self.is_text {
            Some(true) => {
                Chunk::Levels { codes: &self.codes, labels: self.texts.labels(), truths: self.truths }
            }
            _ => Chunk::Numbers(&self.numbers),
        }
    }
}

/// The error for a column that holds text in one file and numbers in another.
fn mixed(file: &Path, column: &str, is_text: bool, other: &Path) -> Error {
    let (here, there) = if is_text { ("text", "numbers") } else { ("numbers", "text") };
    let problem = format!("it holds {here}, but {there} in `{}`", other.display());
    role(file, column, problem, "write it the same way in all files, or leave the column out")
}

fn role(file: &Path, column: &str, problem: String, remedy: &str) -> Error {
    Error::Role { file: file.into(), column: column.into(), problem, remedy: remedy.into() }
}

/// Refuses files that are in folders of other columns.
fn same_folders(first: &Path, keys: &[String], (file, names): (&Path, &[String])) -> Result<()> {
    if let Some(twice) =
        names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name))
    {
        let problem = format!("is in two folders that name `{}`", printable(twice));
        return Err(Error::format(file, problem, "rename one of them"));
    }
    if keys == names {
        return Ok(());
    }
    let list = |names: &[String]| match names {
        [] => "no column".to_owned(),
        names => names.iter().map(|name| format!("`{}`", printable(name))).collect::<Vec<_>>().join(", "),
    };
    let problem = format!(
        "is in folders that name {}, but those of `{}` name {}",
        list(names),
        first.display(),
        list(keys)
    );
    Err(Error::format(file, problem, "put all files below folders of the same columns, such as year=2024"))
}

/// The positions of the first file's columns in another; refuses files that have others.
fn same_columns(first: &Path, schema: &Schema, other: &Source) -> Result<Vec<usize>> {
    let (wanted, names) = (&schema.names, &other.schema().names);
    let file = other.path();
    let differs = |problem: String| {
        let remedy =
            "all files of a table have the same columns: leave this file out, or write it like the others";
        Err(Error::format(file, problem, remedy))
    };
    let similar = |names: &[String], name: &str| {
        nearest(names, name).map(|near| format!(" (it has `{}`)", printable(near))).unwrap_or_default()
    };
    if let Some(name) = wanted.iter().find(|name| !names.contains(name)) {
        let problem = format!("has no column `{}`, which `{}` has", printable(name), first.display());
        return differs(problem + &similar(names, name));
    }
    if let Some(name) = names.iter().find(|name| !wanted.contains(name)) {
        return differs(format!("has a column `{}`, which `{}` has not", printable(name), first.display()));
    }
    if names == wanted {
        return Ok((0..names.len()).collect());
    }
    if names.len() != wanted.len() {
        return differs(format!(
            "has {} columns, but `{}` has {}",
            names.len(),
            first.display(),
            wanted.len()
        ));
    }
    Ok(wanted.iter().filter_map(|name| names.iter().position(|other| other == name)).collect())
}

/// Refuses a column that is text in one file and numbers in another, where the files say so without being read.
fn same_kinds(first: Option<&Part>, (schema, places): (&Schema, &[usize]), other: &Source) -> Result<()> {
    let Some(first) = first else { return Ok(()) };
    if first.source.is_text() || other.is_text() {
        return Ok(());
    }
    for ((name, kind), &place) in schema.names.iter().zip(&schema.kinds).zip(places) {
        let (before, here) = (*kind == ColumnKind::Text, other.schema().kinds[place] == ColumnKind::Text);
        if before != here {
            return Err(mixed(other.path(), name, here, first.source.path()));
        }
    }
    Ok(())
}

/// What was assumed of the files: that of the first, and how many there are.
fn notes(parts: &[Part]) -> Vec<String> {
    let mut notes: Vec<String> =
        parts.first().map_or_else(Vec::new, |part| part.source.schema().notes.clone());
    if let [first, .., last] = parts {
        let (first, last) = (first.source.path().display(), last.source.path().display());
        notes.push(format!("{} files were read as one table, `{first}` to `{last}`", parts.len()));
    }
    notes
}
