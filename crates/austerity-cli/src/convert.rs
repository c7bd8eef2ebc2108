//! `austerity convert DATA --out STORE`: a table as a block store on disk, shuffled with bounded memory, mapped afterwards.

use austerity_io::store::{ConvertOptions as How, Progress, create};
use serde_json::json;

use austerity_fit::Line;
use austerity_fit::data;
use austerity_fit::output::{Failure, json as print_json, say};
use austerity_fit::request::Common;

use crate::arguments::ConvertArguments;

/// Makes the store.
pub(crate) fn run(common: &Common, options: &ConvertArguments) -> Result<(), Failure> {
    let wanted = options.data.options();
    let design = data::design(&wanted)?;
    let kind = data::kind(&wanted)?;
    let how = How { memory: options.memory as usize, shards: options.shards };
    let mut line = Line::new("convert");
    let mut told = |progress: Progress| {
        let share = |done: usize, rows: usize| 100.0 * done as f64 / rows.max(1) as f64;
        match progress {
            Progress::Survey => line.note("first pass: counting, levels, means"),
            Progress::Scatter { done, rows } => {
                line.note(&format!("second pass: scattering rows {:.0} %", share(done, rows)));
            }
            Progress::Write { done, rows } => {
                line.note(&format!("writing blocks {:.0} %", share(done, rows)));
            }
        }
    };
    let source = data::opened(&wanted)?;
    let made = create(&source, (&design, kind), common.seed(), &options.out, &how, &mut told)?;
    line.clear();
    if common.json {
        return print_json(&json!({
            "store": options.out, "rows": made.rows, "bytes": made.bytes, "notes": made.notes, "warnings": made.warnings,
        }));
    }
    let mut text = format!(
        "{} rows in {} ({:.1} MB), shuffled by seed {}; `austerity fit {} --out RUN` maps it.",
        made.rows,
        options.out.display(),
        made.bytes as f64 / 1e6,
        common.seed(),
        options.out.display()
    );
    for remark in made.notes.iter().chain(&made.warnings) {
        text += &format!("\n• {remark}");
    }
    say(text)
}
