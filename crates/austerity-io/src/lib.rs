//! Files in and out: tables become checked regression data, generated data become tables.
//!
//! | room | what it holds |
//! |---|---|
//! | [`table`] | CSV, Parquet and NumPy files as typed columns; only the named columns are read |
//! | [`coding`] | columns as a design: selection, levels one-hot, response coding, standardisation |
//! | [`load`](mod@load) | from a file to rows ready for sampling, streamed |
//! | [`store`] | rows ready for sampling on disk: shuffled with bounded memory, memory-mapped |
//! | [`priors`] | priors of single coefficients from a file |
//! | [`run`] | a run on disk: draws as Zarr for ArviZ, checkpoint, lock, export |
//! | [`write`](mod@write) | numeric columns to CSV and Parquet, streamed |
//! | [`audio`] | sound (WAV) as columns, one per channel |
//! | [`seal`], [`verified`] | checksums that text files carry; what a comparison found |
//! | [`text`] | names without control characters |
//!
//! Everything a user can get wrong is an [`Error`] that names the file, the column, the row, the value and a
//! remedy. **Rows are counted from 1** among the data rows, as a person counts them; CSV errors name the line of
//! the text as well.
//!
//! ```no_run
//! use austerity_io::coding::CodingOptions;
//! use austerity_io::load::{LoadOptions, load};
//!
//! let source = austerity_io::table::open("flights.parquet")?;
//! let options = CodingOptions { features: Some(vec!["distance".into(), "origin".into()]), ..CodingOptions::new("label") };
//! let loaded = load(&source, &options, None, 1, &LoadOptions::default())?;
//! for remark in loaded.notes.iter().chain(&loaded.warnings) {
//!     println!("{remark}");
//! }
//! # Ok::<(), austerity_io::Error>(())
//! ```

pub mod audio;
pub mod coding;
pub mod error;
pub mod load;
pub mod priors;
pub mod run;
pub mod seal;
pub mod store;
pub mod table;
mod temporary;
pub mod text;
pub mod verified;
pub mod write;

pub use error::{Error, Place, Result};
