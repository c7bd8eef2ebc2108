//! `austerity generate`: data with known coefficients.

use austerity_io::write::{Field, TableWriter};
use serde_json::json;

use crate::arguments::GenerateOptions;
use austerity_fit::output::{Failure, json as print_json, say};
use austerity_fit::request::Common;

/// Writes the file and tells the coefficients.
pub(crate) fn run(common: &Common, options: &GenerateOptions) -> Result<(), Failure> {
    let asked = options.family.generate(options.rows, options.features);
    let made = asked.rare(options.rare).correlated(options.correlated).seed(common.seed()).build()?;
    let counts = !asked.kind().is_continuous();
    let mut fields: Vec<Field> = made.data.column_names().iter().map(Field::single).collect();
    fields.push(if counts { Field::integer("y") } else { Field::double("y") });
    let mut columns: Vec<&[f64]> = made.data.columns().iter().map(Vec::as_slice).collect();
    columns.push(made.data.response());
    let mut writer = TableWriter::create(&options.out, fields)?;
    writer.write(&columns)?;
    writer.finish()?;
    let names: Vec<&str> =
        std::iter::once("intercept").chain(made.data.column_names().iter().map(String::as_str)).collect();
    if common.json {
        let truth: serde_json::Map<String, serde_json::Value> = names
            .iter()
            .zip(&made.coefficients)
            .map(|(name, value)| ((*name).into(), json!(value)))
            .collect();
        return print_json(&json!({"file": options.out, "rows": options.rows, "coefficients": truth}));
    }
    let truth: Vec<String> =
        names.iter().zip(&made.coefficients).map(|(name, value)| format!("{name} {value:.3}")).collect();
    say(format!(
        "{} rows, {} features and the response y in {}\ntrue coefficients: {}",
        options.rows,
        names.len() - 1,
        options.out.display(),
        truth.join(", ")
    ))
}
