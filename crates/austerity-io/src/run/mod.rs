//! A run on disk: its draws, its checkpoint, its lock.
//!
//! | file | what it holds |
//! |---|---|
//! | [`layout`] | [`Layout`]: which parameters and statistics are kept |
//! | [`writer`], `resume` | [`DrawsWriter`]: draws to Zarr while they are drawn; going on after a stop or crash |
//! | `thin` | every k-th draw of a store in its place: thinning while a run goes on |
//! | [`reader`], `trace` | [`DrawsReader`]: one parameter, one statistic, whole draws; as a trace |
//! | [`checkpoint`] | where a run stands, two generations, every bit |
//! | [`lock`] | [`RunLock`]: one process per run |
//! | [`export`](mod@export) | draws as a long table, CSV or Parquet |
//! | [`merge`](mod@merge) | the chains of several stores in one |
//! | `verify` | are draws and checkpoints what was written? |
//! | `zarr`, `plan`, `metadata`, `chunk`, `atomic` | the format, and files that are there whole or not at all |
//!
//! `draws.zarr` opens in xarray and ArviZ: group `posterior` with `coefficients` (chain, draw, feature) and scalars (chain, draw), group
//! `sample_stats` with what is known of each decision.

mod atomic;
pub mod checkpoint;
mod chunk;
pub mod export;
pub mod layout;
pub mod lock;
pub mod merge;
mod metadata;
mod plan;
pub mod reader;
mod resume;
mod thin;
mod trace;
mod verify;
pub mod writer;
mod zarr;

pub(crate) use atomic::{is_volatile, sync_folder};
pub use atomic::{volatile, write_file};
pub use export::{ExportOptions, export};
pub use layout::{Layout, Source, StatisticField};
pub use lock::RunLock;
pub use merge::merge;
pub use reader::{Column, DrawsReader, Thinned};
pub use verify::verify_draws;
pub use writer::DrawsWriter;
pub use zarr::NumberType;
