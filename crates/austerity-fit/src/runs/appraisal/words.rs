//! What a check of a run found, as tables and sentences, as JSON and as a picture.

use std::path::Path;

use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};
use serde_json::{Value, json};

use super::measures::{Bin, limit};
use super::{Appraisal, STRIKING};
use crate::output::{Failure, json as print_json, say};
use crate::report::count;
use crate::request::Common;
use crate::table::table;

/// Bars of a PIT histogram.
const BARS: usize = 20;
/// Striking bins that are listed.
const LISTED: usize = 6;

impl Appraisal {
    /// Prints it.
    pub(super) fn tell(&self, common: &Common, plot: Option<&Path>) -> Result<(), Failure> {
        if common.json { print_json(&self.json()) } else { say(self.words(plot)) }
    }

    /// Shares of the PIT values, bar by bar.
    fn histogram(&self) -> Vec<f64> {
        let mut bars = vec![0.0; BARS];
        for pit in &self.pit {
            bars[((pit * BARS as f64) as usize).min(BARS - 1)] += 1.0 / self.pit.len() as f64;
        }
        bars
    }

    /// What `--json` prints.
    #[must_use]
    pub fn json(&self) -> Value {
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let bin = |bin: &Bin| {
            json!({"bin": bin.name, "rows": bin.rows, "at": number(bin.centre), "expected": number(bin.expected),
                   "observed": number(bin.observed), "se": number(bin.error), "striking": bin.striking})
        };
        let scores: Vec<Value> = self
            .scores
            .iter()
            .map(|score| {
                json!({"name": score.name, "estimate": number(score.estimate), "sd": number(score.sd),
                       "lower": number(score.ends.0), "upper": number(score.ends.1), "subsampling_se": number(score.error), "meaning": score.meaning})
            })
            .collect();
        let statistics: Vec<Value> = self
            .statistics
            .iter()
            .map(|one| {
                json!({"name": one.name, "observed": number(one.observed), "expected": number(one.expected),
                       "lower": number(one.ends.0), "upper": number(one.ends.1), "p_value": number(one.chance)})
            })
            .collect();
        let counts: Vec<Value> = self
            .rootogram
            .iter()
            .map(|one| {
                json!({"count": one.value, "observed": one.observed, "expected": number(one.expected),
                       "lower": number(one.ends.0), "upper": number(one.ends.1)})
            })
            .collect();
        let columns: Vec<Value> = self
            .columns
            .iter()
            .map(|(name, bins)| json!({"column": name, "bins": bins.iter().map(bin).collect::<Vec<Value>>()}))
            .collect();
        json!({
            "run": self.run,
            "test": self.test,
            "held_out": self.held_out,
            "rows": self.available,
            "rows_read": self.rows,
            "draws": self.draws,
            "seed": self.seed,
            "pit": {"distance": number(self.uniformity.0), "p_value": number(self.uniformity.1), "histogram": self.histogram()},
            "calibration": self.calibration.as_ref().map(|(bins, chance)| json!({"p_value": number(*chance), "bins": bins.iter().map(bin).collect::<Vec<Value>>()})),
            "rootogram": if counts.is_empty() { Value::Null } else { Value::Array(counts) },
            "statistics": statistics,
            "residuals": columns,
            "metrics": scores,
            "sound": self.is_sound(),
            "sentences": self.sentences(),
        })
    }

    /// Whether nothing is striking.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems().is_empty()
    }

    /// What is striking, in words.
    fn problems(&self) -> Vec<String> {
        let mut said = Vec::new();
        let whole = !self.calibration.as_ref().is_some_and(|_| self.rootogram.is_empty());
        if whole && self.uniformity.1 < STRIKING {
            let bars = self.histogram();
            let (ends, middle) = (bars[0] + bars[BARS - 1], bars[BARS / 2 - 1] + bars[BARS / 2]);
            let expected = 2.0 / BARS as f64;
            let how = if ends > 1.25 * expected && middle < ends {
                "more responses are extreme than the model expects: its predictive distribution is too narrow or its tails too light"
            } else if ends < 0.75 * expected {
                "fewer responses are extreme than the model expects: its predictive distribution is too wide"
            } else {
                "its shape or its place is off"
            };
            said.push(format!(
                "The predictive distribution does not fit (PIT values, p = {:.2}): {how}.",
                self.uniformity.1
            ));
        }
        if let Some((bins, chance)) = &self.calibration
            && (*chance < STRIKING || bins.iter().any(|bin| bin.striking))
        {
            let worst = bins.iter().max_by(|a, b| {
                let off = |bin: &Bin| (bin.observed - bin.expected).abs() / bin.error;
                off(a).total_cmp(&off(b))
            });
            let place = worst.map_or(String::new(), |bin| {
                format!(
                    ": where it predicts {:.3}, {:.3} are observed (± {:.3})",
                    bin.expected, bin.observed, bin.error
                )
            });
            said.push(format!("Probabilities are not calibrated (p = {chance:.1e}){place}."));
        }
        for one in self.statistics.iter().filter(|one| one.chance < STRIKING) {
            said.push(format!(
                "The {} of the data is {:.4}, and replicated data have {:.4} to {:.4}.",
                one.name, one.observed, one.ends.0, one.ends.1
            ));
        }
        let off: Vec<String> = self
            .columns
            .iter()
            .flat_map(|(name, bins)| {
                bins.iter()
                    .filter(|bin| bin.striking)
                    .map(move |bin| format!("{name} {} ({:+.2})", bin.name, bin.observed))
            })
            .collect();
        if !off.is_empty() {
            let more =
                if off.len() > LISTED { format!(" and {} more", off.len() - LISTED) } else { String::new() };
            said.push(format!(
                "Responses are higher (+) or lower (−) than predicted, in standard deviations, at: {}{more}.",
                off.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ")
            ));
        }
        said
    }

    /// What was found, in words.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let whose = if self.held_out { "rows that the run has not seen" } else { "rows of the fit" };
        let mut said = self.problems();
        if said.is_empty() {
            said.push("Nothing is striking: replicated data look like these.".into());
        }
        let shift = limit(1) / (self.rows as f64).sqrt();
        said.push(format!(
            "Looked at {} of {} {whose} under {} draws; a shift of all residuals by {shift:.2} standard deviations would have been seen.",
            count(self.rows as f64),
            count(self.available as f64),
            count(self.draws as f64)
        ));
        said
    }

    /// As tables with sentences.
    #[must_use]
    pub fn words(&self, plot: Option<&Path>) -> String {
        let mut scores = table(&["score", "estimate", "posterior interval", "se of the sample"]);
        for score in &self.scores {
            scores.add_row([
                score.name.to_owned(),
                format!("{:.4}", score.estimate),
                format!("{:.4} to {:.4}", score.ends.0, score.ends.1),
                format!("{:.4}", score.error),
            ]);
        }
        let mut lines = vec![scores.to_string()];
        if let Some((bins, _)) = &self.calibration {
            let mut made = table(&["predicted", "rows", "expected", "observed", "se"]);
            for bin in bins {
                let shown = |value: f64| format!("{value:.4}");
                made.add_row([
                    bin.name.clone(),
                    bin.rows.to_string(),
                    shown(bin.expected),
                    shown(bin.observed),
                    shown(bin.error),
                ]);
            }
            lines.push(made.to_string());
        }
        if !self.rootogram.is_empty() {
            let mut made = table(&["count", "observed", "expected", "95 % of replicated data"]);
            for one in self.rootogram.iter().take(12) {
                made.add_row([
                    one.value.to_string(),
                    one.observed.to_string(),
                    format!("{:.1}", one.expected),
                    format!("{:.0} to {:.0}", one.ends.0, one.ends.1),
                ]);
            }
            lines.push(made.to_string());
        }
        lines.extend(self.sentences());
        lines.extend(plot.map(|plot| format!("Wrote {}.", plot.display())));
        lines.join("\n")
    }

    /// Calibration or rootogram, PIT values, and the residuals of the column where they are farthest off.
    #[must_use]
    pub fn picture(&self) -> Figure {
        let axis = |label: &str| Axis::new(label, Scale::Linear);
        let mut panels = Vec::new();
        if let Some((bins, _)) = &self.calibration {
            let highest = bins.iter().map(|bin| bin.expected.max(bin.observed)).fold(0.0, f64::max);
            let mut panel = Panel::new(
                "calibration",
                axis("predicted"),
                axis("observed, with 95 % of a calibrated model"),
            )
            .mark(Mark::Line { series: 1, points: vec![(0.0, 0.0), (highest, highest)] });
            for bin in bins {
                let ends = vec![
                    (bin.expected, bin.expected - 1.96 * bin.error),
                    (bin.expected, bin.expected + 1.96 * bin.error),
                ];
                panel = panel.mark(Mark::Line { series: 1, points: ends });
            }
            let points = bins.iter().map(|bin| (bin.expected, bin.observed)).collect();
            panels.push(panel.mark(Mark::Points { series: 0, points }));
        }
        if !self.rootogram.is_empty() {
            let line = |of: fn(&super::Counted) -> f64| -> Vec<(f64, f64)> {
                self.rootogram.iter().map(|one| (one.value as f64, of(one).sqrt())).collect()
            };
            let curve = |label: &str, points| Curve { label: label.into(), points };
            panels.push(
                Panel::new("rootogram", axis("count"), axis("√ rows"))
                    .curves(vec![
                        curve("observed", line(|one| one.observed)),
                        curve("expected", line(|one| one.expected)),
                    ])
                    .mark(Mark::Line { series: 1, points: line(|one| one.ends.0) })
                    .mark(Mark::Line { series: 1, points: line(|one| one.ends.1) }),
            );
        }
        let edges: Vec<f64> = (0..=BARS).map(|edge| edge as f64 / BARS as f64).collect();
        let heights: Vec<f64> = self.histogram().iter().map(|share| share * BARS as f64).collect();
        panels.push(
            Panel::new("PIT values", axis("rank of the response among replicates"), axis("density"))
                .mark(Mark::Bars { series: None, edges, base: 0.0, heights })
                .reference(1.0),
        );
        let worst = |bins: &[Bin]| bins.iter().map(|bin| bin.observed.abs() / bin.error).fold(0.0, f64::max);
        if let Some((name, bins)) = self.columns.iter().max_by(|a, b| worst(&a.1).total_cmp(&worst(&b.1))) {
            let mut panel =
                Panel::new(format!("residuals by {name}"), axis(name), axis("mean residual (sd)"))
                    .reference(0.0);
            for bin in bins {
                let ends = vec![
                    (bin.centre, bin.observed - 1.96 * bin.error),
                    (bin.centre, bin.observed + 1.96 * bin.error),
                ];
                panel = panel.mark(Mark::Line { series: 0, points: ends });
            }
            let points = bins.iter().map(|bin| (bin.centre, bin.observed)).collect();
            panels.push(panel.mark(Mark::Points { series: 0, points }));
        }
        Figure { title: "Does the model look like the data?".into(), panels }
    }
}
