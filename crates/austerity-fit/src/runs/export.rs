//! `austerity export RUN --format parquet|csv`: the draws as one table.

use austerity_io::run::{ExportOptions as Options, export};
use austerity_io::write::FileFormat;

use super::Folder;
use crate::options::{Common, ExportFormat, ExportOptions};
use crate::output::{Failure, json, say};

/// Writes the table.
pub fn run(common: &Common, options: &ExportOptions) -> Result<(), Failure> {
    let folder = Folder::new(&options.run);
    let reader = folder.reader()?;
    let (format, extension) = match options.format {
        Some(ExportFormat::Csv) => (Some(FileFormat::Csv), "csv"),
        Some(ExportFormat::Parquet) => (Some(FileFormat::Parquet), "parquet"),
        None => (None, "parquet"),
    };
    let gzip = options.out.as_ref().is_some_and(|out| out.extension().is_some_and(|e| e == "gz"));
    let format = if gzip && format == Some(FileFormat::Csv) { Some(FileFormat::CsvGzip) } else { format };
    let target = options.out.clone().unwrap_or_else(|| folder.file(&format!("draws.{extension}")));
    export(&reader, &target, Options { format, statistics: options.statistics })?;
    let rows = reader.chains() * reader.draws();
    if common.json {
        return json(&serde_json::json!({"file": target, "rows": rows, "parameters": reader.names()}));
    }
    say(format!("{rows} draws of {} parameters in {}", reader.names().len(), target.display()))
}
