//! The answer of an effect command as a table, as JSON, as a file and as a picture.

use std::path::Path;

use austerity_io::write::{Field, TableWriter};
use austerity_plot::Figure;
use serde_json::{Value, json};

use super::{Effects, Estimate, Verb};
use crate::output::{Failure, json as print_json, say};
use crate::report::count;
use crate::request::Common;
use crate::runs::picture::{Banded, Bar, curves, forest};
use crate::table::table;

/// Numbers shown in a terminal.
const LISTED: usize = 60;
/// Curves in a picture.
const MOST_CURVES: usize = 8;

impl Estimate {
    /// What it is of, in a few words.
    fn name(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend((!self.term.is_empty()).then(|| format!("{} ({})", self.term, self.contrast)));
        parts.extend((!self.group.is_empty()).then(|| self.group.clone()));
        parts.extend(self.at.iter().map(|(name, value)| format!("{name} = {}", short(value))));
        if parts.is_empty() { "all rows".into() } else { parts.join(", ") }
    }
}

/// A number with at most six digits.
fn short(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > 8 => {
            let digits = format!("{number:.4e}").parse::<f64>().unwrap_or(number);
            digits.to_string()
        }
        _ => value.to_owned(),
    }
}

impl Effects {
    /// Prints them.
    pub(super) fn tell(&self, common: &Common, files: &[Option<&Path>]) -> Result<(), Failure> {
        if common.json { print_json(&self.json()) } else { say(self.words(files)) }
    }

    /// What `--json` prints.
    #[must_use]
    pub fn json(&self) -> Value {
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let one = |estimate: &Estimate| {
            let mut value = json!({
                "estimate": number(estimate.estimate),
                "sd": number(estimate.sd),
                "lower": number(estimate.lower),
                "upper": number(estimate.upper),
                "above_zero": number(estimate.above),
                "rows": estimate.rows,
                "rows_read": estimate.read,
                "subsampling_se": number(estimate.sampling),
            });
            if !estimate.term.is_empty() {
                value["term"] = json!(estimate.term);
                value["contrast"] = json!(estimate.contrast);
            }
            if let Some(by) = &self.by {
                value["by"] = json!(by);
                value["group"] = json!(estimate.group);
            }
            if !estimate.at.is_empty() {
                value["at"] = estimate.at.iter().map(|(name, value)| (name.clone(), typed(value))).collect();
            }
            value
        };
        json!({
            "verb": self.verb.name(),
            "response": self.response,
            "interval": self.interval,
            "draws": self.draws,
            "estimates": self.estimates.iter().map(one).collect::<Vec<Value>>(),
            "sentences": self.sentences(),
        })
    }

    /// The first numbers in words.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let say = |one: &Estimate| {
            let digits = decimals(one.sd);
            let number = |value: f64| format!("{value:.digits$}");
            let interval = format!("[{}, {}]", number(one.lower), number(one.upper));
            let whom = if one.group.is_empty() {
                String::new()
            } else {
                format!(" where {} is {}", self.by.as_deref().unwrap_or_default(), one.group)
            };
            let response = &self.response;
            match self.verb {
                Verb::Predictions => {
                    format!("Average expected {response}{whom}: {} {interval}.", number(one.estimate))
                }
                Verb::Slopes => {
                    format!(
                        "Average slope of {response} in {}{whom}: {} {interval}.",
                        one.term,
                        number(one.estimate)
                    )
                }
                Verb::Comparisons => format!(
                    "Average effect of {} ({}) on {response}{whom}: {} {interval}.",
                    one.term,
                    one.contrast,
                    number(one.estimate)
                ),
            }
        };
        self.estimates.iter().filter(|one| one.at.is_empty()).take(5).map(say).collect()
    }

    /// As a table with sentences.
    #[must_use]
    pub fn words(&self, files: &[Option<&Path>]) -> String {
        let percent = format!("{} % interval", 100.0 * self.interval);
        let mut made = table(&["", "estimate", "sd", &percent, "rows computed"]);
        for one in self.estimates.iter().take(LISTED) {
            let digits = decimals(one.sd);
            let number = |value: f64| format!("{value:.digits$}");
            made.add_row([
                one.name(),
                number(one.estimate),
                number(one.sd),
                format!("{} to {}", number(one.lower), number(one.upper)),
                count(one.read as f64),
            ]);
        }
        let mut lines = vec![made.to_string()];
        let more = self.estimates.len().saturating_sub(LISTED);
        lines.extend((more > 0).then(|| format!("… and {more} more: --json or --out FILE has all.")));
        lines.extend(self.sentences().into_iter().take(1));
        let rows: usize = self.estimates.iter().map(|one| one.rows).max().unwrap_or(0);
        let worst = self.estimates.iter().map(|one| one.sampling / one.sd).fold(0.0, f64::max);
        if worst.is_finite() && rows > 1 {
            lines.push(format!(
                "Averaged over the rows of the data; {} draws; the sample adds at most {worst:.2} posterior standard deviations.",
                count(self.draws as f64)
            ));
        }
        lines.extend(files.iter().flatten().map(|file| format!("Wrote {}.", file.display())));
        lines.join("\n")
    }

    /// Writes the numbers.
    pub(super) fn write(&self, out: &Path) -> Result<(), Failure> {
        let mut lines = String::new();
        if out.extension().is_some_and(|end| end == "csv") {
            let axes: Vec<&str> = self
                .estimates
                .first()
                .map_or(Vec::new(), |one| one.at.iter().map(|(name, _)| name.as_str()).collect());
            let mut head: Vec<String> = ["term", "contrast", "group"].map(String::from).into();
            head.extend(axes.iter().map(|name| quoted(name)));
            head.extend(
                ["estimate", "sd", "lower", "upper", "subsampling_se", "rows", "rows_read"].map(String::from),
            );
            lines += &head.join(",");
            lines.push('\n');
            for one in &self.estimates {
                let mut cells: Vec<String> =
                    [&one.term, &one.contrast, &one.group].map(|text| quoted(text)).into();
                cells.extend(one.at.iter().map(|(_, value)| quoted(value)));
                cells.extend(
                    [one.estimate, one.sd, one.lower, one.upper, one.sampling].map(|value| value.to_string()),
                );
                cells.extend([one.rows, one.read].map(|count| count.to_string()));
                lines += &cells.join(",");
                lines.push('\n');
            }
            return Ok(austerity_io::run::write_file(out, lines.as_bytes())?);
        }
        let names = ["number", "estimate", "sd", "lower", "upper", "subsampling_se"];
        let mut fields = vec![Field::integer(names[0])];
        fields.extend(names[1..].iter().map(|name| Field::double_or_missing(*name)));
        let mut writer = TableWriter::create(out, fields)?;
        let column = |of: fn(&Estimate) -> f64| -> Vec<f64> { self.estimates.iter().map(of).collect() };
        let columns = [
            (1..=self.estimates.len()).map(|number| number as f64).collect(),
            column(|one| one.estimate),
            column(|one| one.sd),
            column(|one| one.lower),
            column(|one| one.upper),
            column(|one| one.sampling),
        ];
        writer.write(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        Ok(writer.finish()?)
    }

    /// Curves over the first column of a grid of numbers; else intervals below each other.
    #[must_use]
    pub fn picture(&self) -> Figure {
        let y = match self.verb {
            Verb::Predictions => format!("expected {}", self.response),
            Verb::Comparisons => format!("change of {}", self.response),
            Verb::Slopes => format!("slope of {}", self.response),
        };
        let number = |one: &Estimate| one.at.first().and_then(|(_, value)| value.parse::<f64>().ok());
        if !self.estimates.is_empty() && self.estimates.iter().all(|one| number(one).is_some()) {
            let mut all: Vec<Banded> = Vec::new();
            for one in &self.estimates {
                let others = Estimate { at: one.at[1..].to_vec(), ..one.clone() };
                let name =
                    if others.at.is_empty() && one.term.is_empty() { y.clone() } else { others.name() };
                let point = [number(one).unwrap_or(f64::NAN), one.estimate, one.lower, one.upper];
                match all.iter().position(|banded| banded.name == name) {
                    Some(place) => all[place].points.push(point),
                    None if all.len() < MOST_CURVES => all.push(Banded { name, points: vec![point] }),
                    None => {}
                }
            }
            all.iter_mut().for_each(|banded| banded.points.sort_by(|a, b| a[0].total_cmp(&b[0])));
            return curves(&format!("{y}, with intervals"), (&self.estimates[0].at[0].0, &y), &all);
        }
        let bars: Vec<Bar> = self
            .estimates
            .iter()
            .map(|one| Bar { name: one.name(), centre: one.estimate, ends: (one.lower, one.upper) })
            .collect();
        let zero = (self.verb != Verb::Predictions).then_some(0.0);
        forest(&format!("Average {}", self.verb.name()), &y, &bars, zero)
    }
}

/// A number, or a text.
fn typed(value: &str) -> Value {
    value.parse::<f64>().map_or_else(|_| json!(value), |number| json!(number))
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

/// Decimals that show two digits of a standard deviation.
fn decimals(sd: f64) -> usize {
    if sd > 0.0 && sd.is_finite() { (1.0 - sd.log10().floor()).clamp(0.0, 8.0) as usize } else { 4 }
}
