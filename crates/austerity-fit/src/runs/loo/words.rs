//! The answer of `loo` as a table, as JSON and as a file.

use std::path::Path;

use austerity_io::write::{Field, TableWriter};
use serde_json::{Value, json};

use super::Loo;
use crate::estimate::pareto::UNRELIABLE;
use crate::output::{Failure, json as print_json, say};
use crate::report::count;
use crate::request::Common;
use crate::table::table;

/// An error with two digits.
pub(super) fn small(value: f64) -> String {
    if value > 0.0 && value < 0.1 {
        let decimals = (1.0 - value.log10().floor()).min(12.0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2}")
    }
}

/// Rows that are listed.
const LISTED: usize = 10;

impl Loo {
    /// Prints it.
    pub(super) fn tell(&self, common: &Common, out: Option<&Path>) -> Result<(), Failure> {
        if common.json { print_json(&self.json()) } else { say(self.words(out)) }
    }

    /// What `--json` prints.
    #[must_use]
    pub fn json(&self) -> Value {
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let leading: Vec<Value> = self
            .leading()
            .map(|point| json!({"row": point.row + 1, "influence": number(point.influence), "elpd": number(point.elpd), "pareto_k": number(point.shape)}))
            .collect();
        json!({
            "run": self.run,
            "elpd_loo": number(self.elpd.total),
            "se": number(self.elpd.data),
            "subsampling_se": number(self.elpd.sampling),
            "p_loo": number(self.effective.total),
            "p_loo_se": number(self.effective.data),
            "p_loo_subsampling_se": number(self.effective.sampling),
            "looic": number(-2.0 * self.elpd.total),
            "rows": self.rows,
            "rows_read": if self.is_exact() { self.rows } else { self.points.len() },
            "draws": self.draws,
            "exact": self.is_exact(),
            "pareto_k_over_0_7": self.unreliable(),
            "pareto_k_over_0_7_in_all_rows": number(self.unreliable_in_all()),
            "largest_pareto_k": number(self.points.iter().map(|point| point.shape).fold(f64::NEG_INFINITY, f64::max)),
            "influential_rows": leading,
            "remarks": self.remarks(),
            "seconds": self.seconds,
        })
    }

    /// Whether every row was computed.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.elpd.sampling == 0.0
    }

    /// The rows that move the posterior most, from the first on.
    fn leading(&self) -> impl Iterator<Item = &super::Point> {
        self.points.iter().filter(|point| point.certain).take(LISTED)
    }

    /// What else to know.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut said = Vec::new();
        let unreliable = self.unreliable();
        if unreliable > 0 {
            let mut rows: Vec<usize> = self
                .points
                .iter()
                .filter(|point| point.shape > UNRELIABLE)
                .map(|point| point.row + 1)
                .collect();
            rows.sort_unstable();
            let listed: Vec<String> = rows.iter().take(LISTED).map(ToString::to_string).collect();
            let more = if rows.len() > LISTED { ", …" } else { "" };
            said.push(format!(
                "Pareto k is above {UNRELIABLE} in {unreliable} of {} rows computed (rows {}{more}): their elpd is unreliable and too optimistic. Refit without these rows, or use a \
                 model with heavier tails; about {:.0} rows of all are affected.",
                count(self.points.len() as f64),
                listed.join(", "),
                self.unreliable_in_all()
            ));
        }
        if self.effective.total > 0.2 * self.rows as f64 {
            said.push(format!(
                "p_loo is {:.0} for {} rows: the model is too flexible for leave-one-out estimates to be reliable.",
                self.effective.total,
                count(self.rows as f64)
            ));
        }
        if self.grouped.0 {
            said.push(
                "Rows have frequency weights: a row is left out with all its copies, and counts as often."
                    .into(),
            );
        }
        if self.grouped.1 {
            said.push("A row counts successes of several trials: all trials of a row are left out together, not single ones.".into());
        }
        if self.short {
            said.push(format!(
                "The sampling error is {:.2} of the data's, more than asked for: --rows N takes a larger sample, --exact all rows.",
                self.elpd.sampling / self.elpd.data
            ));
        }
        said
    }

    /// As a table with sentences.
    #[must_use]
    pub fn words(&self, out: Option<&Path>) -> String {
        let digits =
            |value: f64| if value.abs() < 1e4 { format!("{value:.2}") } else { format!("{value:.1}") };
        let mut made = table(&["", "estimate", "se", "se of the sample"]);
        for (name, sum, factor) in
            [("elpd_loo", &self.elpd, 1.0), ("p_loo", &self.effective, 1.0), ("looic", &self.elpd, -2.0)]
        {
            let sampling = factor * sum.sampling;
            made.add_row([
                name.to_owned(),
                digits(factor * sum.total),
                digits((factor * sum.data).abs()),
                small(sampling.abs()),
            ]);
        }
        let how = if self.is_exact() {
            format!("every one of {} rows", count(self.rows as f64))
        } else {
            let certain = self.points.iter().filter(|point| point.certain).count();
            format!(
                "{} of {} rows: a random sample of {} and the {certain} most influential",
                count(self.points.len() as f64),
                count(self.rows as f64),
                count((self.points.len() - certain) as f64)
            )
        };
        let mut lines = vec![made.to_string()];
        lines.push(format!(
            "Exact PSIS-LOO of {how}; {} draws, {:.1} s.",
            count(self.draws as f64),
            self.seconds
        ));
        if !self.is_exact() {
            lines.push("se is the error of the data (other rows from the same source), se of the sample what a full computation would remove.".into());
        }
        let leading: Vec<String> =
            self.leading().map(|point| format!("{} (k {:.2})", point.row + 1, point.shape)).collect();
        lines.push(format!("Most influential rows: {}.", leading.join(", ")));
        lines.extend(self.remarks());
        lines.extend(out.map(|out| format!("Wrote the rows computed to {}.", out.display())));
        lines.join("\n")
    }

    /// Writes the rows that were computed.
    pub(super) fn write(&self, out: &Path) -> Result<(), Failure> {
        let names = ["row", "elpd_loo", "lpd", "pareto_k", "influence", "stands_for"];
        let mut fields = vec![Field::integer(names[0])];
        fields.extend(names[1..].iter().map(|name| Field::double_or_missing(*name)));
        let mut writer = TableWriter::create(out, fields)?;
        let column = |of: fn(&super::Point) -> f64| -> Vec<f64> { self.points.iter().map(of).collect() };
        let columns = [
            column(|point| (point.row + 1) as f64),
            column(|point| point.elpd),
            column(|point| point.lpd),
            column(|point| if point.shape.is_finite() { point.shape } else { f64::NAN }),
            column(|point| point.influence),
            column(|point| point.stands_for),
        ];
        writer.write(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        Ok(writer.finish()?)
    }
}
