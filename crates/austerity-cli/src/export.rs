//! `austerity export RUN --format parquet|csv`: the draws as one table.

use austerity_io::run::{DrawsReader, ExportOptions, export};
use austerity_io::write::FileFormat;

use austerity_fit::output::{Failure, json, say};
use austerity_fit::request::Common;

use crate::arguments::{ExportArguments, ExportFormat};

/// Writes the table.
pub(crate) fn run(common: &Common, options: &ExportArguments) -> Result<(), Failure> {
    let reader = DrawsReader::open(options.run.join("draws.zarr"))?;
    let (format, extension) = match options.format {
        Some(ExportFormat::Csv) => (Some(FileFormat::Csv), "csv"),
        Some(ExportFormat::Parquet) => (Some(FileFormat::Parquet), "parquet"),
        None => (None, "parquet"),
    };
    let gzip = options.out.as_ref().is_some_and(|out| out.extension().is_some_and(|e| e == "gz"));
    let format = if gzip && format == Some(FileFormat::Csv) { Some(FileFormat::CsvGzip) } else { format };
    let target = options.out.clone().unwrap_or_else(|| options.run.join(format!("draws.{extension}")));
    export(&reader, &target, ExportOptions { format, statistics: options.statistics })?;
    let rows = reader.chains() * reader.draws();
    if common.json {
        return json(&serde_json::json!({"file": target, "rows": rows, "parameters": reader.names()}));
    }
    say(format!("{rows} draws of {} parameters in {}", reader.names().len(), target.display()))
}
