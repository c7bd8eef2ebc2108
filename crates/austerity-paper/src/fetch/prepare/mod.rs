//! From sources to tables: what the experiments read.
//!
//! | file | holds |
//! |---|---|
//! | `idx` | MNIST's format of images and labels |
//! | `mnist` | digits 7 and 9, and their scores on principal components |
//! | `components` | principal components of the rows of a matrix of bytes |
//! | `lists` | Parquet with a list in every row, which the general writer has not |
//! | `miniboone` | UCI text: counts, signal, background |
//! | `covertype` | UCI text: 55 whole numbers in a line |

mod components;
mod covertype;
mod idx;
mod lists;
mod miniboone;
mod mnist;

use std::path::Path;

use crate::fetch::catalog::DataSet;
use crate::fetch::error::{Error, Result};

/// A file that was written.
pub(crate) struct Made {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Files that were written, and what was noticed.
pub(crate) struct Prepared {
    pub(crate) tables: Vec<Made>,
    pub(crate) remarks: Vec<String>,
}

/// Turns the sources of a data set, in the order of the catalog, into tables in `out`.
pub(crate) fn prepare(set: DataSet, sources: &[&Path], out: &Path) -> Result<Prepared> {
    match (set, sources) {
        (DataSet::Mnist79, [images, labels, test_images, test_labels]) => {
            mnist::prepare([images, labels], [test_images, test_labels], out)
        }
        (DataSet::Miniboone, [text]) => miniboone::prepare(text, out),
        (DataSet::Covertype, [text]) => covertype::prepare(text, out),
        _ => Err(Error::Setting(format!("{set} is not made of {} sources", sources.len()))),
    }
}

/// Content that is not as published.
fn wrong(name: &str, line: Option<usize>, problem: impl Into<String>) -> Error {
    Error::Content { name: name.into(), line, problem: problem.into() }
}
