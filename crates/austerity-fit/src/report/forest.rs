//! The forest plot: every coefficient's posterior median with its 50 % and 95 % intervals, on one axis with a line at zero.
//!
//! Medians and 95 % intervals are those of the table; 50 % intervals come from the thinned draws of the page. The intercept, σ and other
//! parameters that are no effect of a column come below, on an axis of their own.
//!
//! | question | answer |
//! |---|---|
//! | more than 40 coefficients | the 40 whose 95 % interval is furthest from zero in posterior standard deviations, in their order |
//! | columns on different scales | a second view per standard deviation of the column; it comes first where the plain one hides effects |
//! | that view is not known, or hides effects too | coefficients of very different size get axes of their own |
//!
//! An effect is hidden when its interval excludes zero and its median is below 1/60 of the longest: 10 pixels of 600 are a dot's room.

use std::collections::HashMap;
use std::fmt::Write as _;

use austerity::diagnostics::quantiles;
use austerity_plot::{Interval, Strip, escape};

use super::table::complaints;
use super::words::{UNDEFINED, counted, value};
use super::{ParameterDraws, Report, Verdict};

/// Coefficients that are drawn, at the most.
const MOST_ROWS: usize = 40;
/// A median below this share of the longest cannot be told from zero.
const HIDDEN: f64 = 1.0 / 60.0;
/// An interval that takes less of the axis than this hides behind its dot.
const BEHIND: f64 = 0.012;
/// Standard deviations of columns that differ from 1 by less need no second view.
const SAME_SCALE: f64 = 0.15;
/// Characters of the widest name that is not broken into lines.
const LONGEST_NAME: usize = 28;
/// Reference levels that are listed.
const LISTED: usize = 12;

/// What is known of the parameters beside their draws.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meaning {
    /// What a coefficient is, such as "change of the log odds"; nothing for a model of one's own.
    pub(crate) effect: Option<&'static str>,
    /// Names of parameters that are no effect of a column.
    pub(crate) apart: Vec<String>,
    /// Standard deviation of the column behind a coefficient, by the coefficient's name; 1 for the levels of a factor.
    pub(crate) scales: HashMap<String, f64>,
    /// Columns of levels with their reference.
    pub(crate) references: Vec<(String, String)>,
}

/// One parameter, ready to be drawn.
#[derive(Clone)]
struct Row {
    name: String,
    interval: Interval,
    sd: f64,
    fails: bool,
}

impl Row {
    /// How far the 95 % interval is from zero in standard deviations; negative when it crosses zero.
    fn distance(&self) -> f64 {
        let (low, high) = self.interval.outer;
        let distance = low.max(-high) / self.sd;
        if distance.is_finite() { distance } else { f64::NEG_INFINITY }
    }

    /// Largest magnitude that is drawn.
    fn size(&self) -> f64 {
        self.interval.outer.0.abs().max(self.interval.outer.1.abs())
    }

    fn times(&self, factor: f64) -> Self {
        Self { interval: self.interval.times(factor), sd: factor * self.sd, ..self.clone() }
    }
}

pub(super) fn section(report: &Report) -> String {
    let meaning = &report.meaning;
    let rows = rows(report);
    let (mut apart, all): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| meaning.apart.contains(&row.name));
    if all.is_empty() && apart.is_empty() {
        return String::new();
    }
    let total = all.len();
    let mut shown = furthest(all);
    quartiles(report, shown.iter_mut().chain(&mut apart));
    let scaled = scaled(&shown, &meaning.scales);
    let width = widths(shown.iter().chain(&apart).chain(scaled.iter().flatten()));
    let heading = if meaning.effect.is_some() { "Coefficients" } else { "Posterior intervals" };
    let mut out = format!(
        "<section id=\"coefficients\">\n<h2>{heading}</h2>\n<p class=\"reading\">{}</p>\n<div class=\"sheet\" style=\"{width}\">\n",
        reading(report, shown.len(), total)
    );
    match scaled {
        Some(scaled) => {
            let first = hides(&shown);
            out += &switch(first);
            out += &view("per-unit", &unit_words(meaning), &shown);
            out += &view("per-sd", &sd_words(meaning), &scaled);
        }
        None if shown.is_empty() => {}
        None => out += &view("per-unit", &unit_words(meaning), &shown),
    }
    if !apart.is_empty() {
        let names: Vec<&str> = apart.iter().map(|row| row.name.as_str()).collect();
        let whose = if names.len() == 1 { "its" } else { "their" };
        let _ = write!(
            out,
            "<h3>On {whose} own axis: {}</h3>\n{}",
            escape(&names.join(", ")),
            panels(&apart, false)
        );
    }
    out + "</div>\n</section>\n"
}

fn unit_words(meaning: &Meaning) -> String {
    match meaning.effect {
        Some(effect) => format!("{effect} per unit of the column."),
        None => String::new(),
    }
}

fn sd_words(meaning: &Meaning) -> String {
    let factors =
        if meaning.references.is_empty() { "" } else { "; levels of a factor against their reference" };
    let effect = meaning.effect.unwrap_or("Change");
    format!("{effect} per standard deviation of the column (coefficient × sd){factors}.")
}

/// How to read the plot, and what is not in it.
fn reading(report: &Report, shown: usize, total: usize) -> String {
    let mut said = String::new();
    if report.verdict == Verdict::Untrusted {
        said += "Do not rely on these intervals yet: the verdict above says why. ";
    }
    said += "Posterior median (dot), 50 % interval (thick line) and 95 % interval (thin line). A hollow dot: the 95 % interval includes zero.";
    if report.summary.iter().any(|s| !complaints(s, report.chain_numbers.len()).is_empty()) {
        said += " Parameters in red fail a diagnostic: see the table.";
    }
    if shown < total {
        let _ = write!(
            said,
            " Of {} the {shown} whose 95 % intervals are furthest from zero, in posterior standard deviations, are shown; the table \
             below has all of them.",
            counted(total, "coefficient")
        );
    }
    let references = &report.meaning.references;
    if !references.is_empty() {
        let listed: Vec<String> =
            references.iter().take(LISTED).map(|(column, level)| format!("{column} = {level}")).collect();
        let more = references.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = write!(said, " Reference levels: {}{more}.", listed.join(", "));
    }
    escape(&said)
}

/// The parameters with finite intervals, in their order.
fn rows(report: &Report) -> Vec<Row> {
    let chains = report.chain_numbers.len();
    let drawn = report.summary.iter().filter(|s| [s.q025, s.q50, s.q975].iter().all(|q| q.is_finite()));
    drawn
        .map(|s| Row {
            name: s.name.clone(),
            interval: Interval { centre: s.q50, inner: None, outer: (s.q025, s.q975) },
            sd: s.sd,
            fails: !complaints(s, chains).is_empty(),
        })
        .collect()
}

/// Adds the 50 % intervals, from the thinned draws.
fn quartiles<'a>(report: &Report, rows: impl Iterator<Item = &'a mut Row>) {
    let by_name: HashMap<&str, &ParameterDraws> =
        report.parameters.iter().map(|draws| (draws.name.as_str(), draws)).collect();
    for row in rows {
        let Some(draws) = by_name.get(row.name.as_str()) else { continue };
        let chains: Vec<&[f64]> = draws.chains.iter().map(Vec::as_slice).collect();
        if let [low, high] = quantiles(&chains, &[0.25, 0.75])[..]
            && low.is_finite()
            && high.is_finite()
        {
            row.interval.inner = Some((low, high));
        }
    }
}

/// The rows that are drawn, in their order.
fn furthest(mut rows: Vec<Row>) -> Vec<Row> {
    if rows.len() > MOST_ROWS {
        let mut distances: Vec<(f64, usize)> =
            rows.iter().enumerate().map(|(index, row)| (row.distance(), index)).collect();
        distances.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut kept = vec![false; rows.len()];
        distances.iter().take(MOST_ROWS).for_each(|&(_, index)| kept[index] = true);
        let mut kept = kept.into_iter();
        rows.retain(|_| kept.next().unwrap_or(false));
    }
    rows
}

/// The rows per standard deviation of their columns, where these are known and differ from one.
fn scaled(rows: &[Row], scales: &HashMap<String, f64>) -> Option<Vec<Row>> {
    let factors: Vec<f64> = rows.iter().map(|row| scales.get(&row.name).copied()).collect::<Option<_>>()?;
    let usable = factors.iter().all(|factor| *factor > 0.0 && factor.is_finite());
    let differ = factors.iter().any(|factor| factor.ln().abs() > SAME_SCALE);
    (usable && differ).then(|| rows.iter().zip(&factors).map(|(row, factor)| row.times(*factor)).collect())
}

/// Whether a common axis would hide an effect.
fn hides(rows: &[Row]) -> bool {
    let longest = rows.iter().map(Row::size).fold(0.0, f64::max);
    let hidden = |row: &Row| !row.interval.crosses_zero() && row.interval.centre.abs() < HIDDEN * longest;
    rows.iter().any(hidden)
}

/// The rows by size, the largest first, such that no group hides an effect; one group where that is so already.
fn groups(rows: &[Row]) -> Vec<Vec<Row>> {
    if !hides(rows) {
        return vec![rows.to_vec()];
    }
    let mut sizes: Vec<f64> = rows.iter().map(Row::size).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let mut tops: Vec<f64> = Vec::new();
    for size in sizes {
        if tops.last().is_none_or(|top| size < HIDDEN * top) {
            tops.push(size);
        }
    }
    let group = |row: &Row| tops.iter().rposition(|top| row.size() <= *top).unwrap_or(0);
    (0..tops.len())
        .map(|index| rows.iter().filter(|row| group(row) == index).cloned().collect())
        .filter(|group: &Vec<Row>| !group.is_empty())
        .collect()
}

/// One of the scales.
fn view(class: &str, words: &str, rows: &[Row]) -> String {
    let words = if words.is_empty() { String::new() } else { format!("<p class=\"reading\">{words}</p>\n") };
    format!("<div class=\"{class}\">\n{words}{}</div>\n", panels(rows, true))
}

/// Which scale is seen; the page needs no script for it.
fn switch(standardized: bool) -> String {
    let choice = |value: &str, words: &str, chosen: bool| {
        let chosen = if chosen { " checked=\"checked\"" } else { "" };
        format!(
            "<label><input type=\"radio\" name=\"scale\" value=\"{value}\" autocomplete=\"off\"{chosen}/> {words}</label>\n"
        )
    };
    format!(
        "<fieldset class=\"scales\"><legend>Scale</legend>\n{}{}</fieldset>\n",
        choice("unit", "per unit of the column", !standardized),
        choice("sd", "per standard deviation of the column", standardized)
    )
}

/// The rows with their axis, or with one axis per group; the numbers have a heading where it is wanted.
fn panels(rows: &[Row], headed: bool) -> String {
    let groups = groups(rows);
    let mut out = String::new();
    if groups.len() > 1 {
        out += "<p class=\"reading\">Their sizes differ widely: each group has an axis of its own, the largest first.</p>\n";
    }
    let strips: Vec<(Strip, &Vec<Row>)> = groups
        .iter()
        .map(|rows| (Strip::new(&rows.iter().map(|row| row.interval).collect::<Vec<_>>()), rows))
        .collect();
    for (index, (strip, rows)) in strips.iter().enumerate() {
        out += "<ul class=\"forest\">\n";
        if headed && index == 0 {
            out += "<li class=\"head\"><span></span><span></span><span>median [95 % interval]</span></li>\n";
        }
        for row in *rows {
            let class = if row.fails { " class=\"fails\"" } else { "" };
            let _ = writeln!(
                out,
                "<li{class}><span class=\"name\">{}</span><span class=\"strip\">{}</span><span class=\"value\">{}</span></li>",
                escape(&row.name),
                strip.row(&row.interval),
                numbers(row)
            );
        }
        let _ = write!(
            out,
            "<li class=\"axis\" aria-hidden=\"true\"><span></span><span class=\"strip\">{}</span><span></span></li>\n</ul>\n",
            strip.labels()
        );
    }
    let behind =
        strips.iter().any(|(strip, rows)| rows.iter().any(|row| strip.share(&row.interval) < BEHIND));
    if behind {
        out += "<p class=\"reading\">Where no line is seen, the interval is narrower than its dot.</p>\n";
    }
    out
}

fn numbers(row: &Row) -> String {
    let Interval { centre, outer: (low, high), .. } = row.interval;
    if !centre.is_finite() {
        return UNDEFINED.into();
    }
    // Two digits of the standard deviation; the table has three.
    let number = |v: f64| value(v, 10.0 * row.sd);
    format!("{} [{}, {}]", number(centre), number(low), number(high))
}

/// The columns of text, as wide as their widest entry, the same in every group.
fn widths<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let (names, values) = rows.fold((4, 22), |(names, values), row| {
        (names.max(row.name.chars().count()), values.max(numbers(row).chars().count()))
    });
    format!("--names:{}ch;--values:{values}ch", names.min(LONGEST_NAME) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, centre: f64, sd: f64) -> Row {
        let interval = Interval { centre, inner: None, outer: (centre - 2.0 * sd, centre + 2.0 * sd) };
        Row { name: name.into(), interval, sd, fails: false }
    }

    #[test]
    fn effects_that_would_be_hidden_get_an_axis_of_their_own() {
        let near = [row("a", 1.0, 0.1), row("b", 0.05, 0.01), row("c", -0.001, 0.01)];
        assert!(!hides(&near), "what may be zero hides nothing");
        let mixed =
            [row("a", 1.0, 0.1), row("income", 1e-5, 1e-6), row("b", -0.7, 0.1), row("age", 2e-5, 1e-6)];
        let names: Vec<Vec<String>> =
            groups(&mixed).iter().map(|rows| rows.iter().map(|row| row.name.clone()).collect()).collect();
        assert_eq!(names, [["a", "b"], ["income", "age"]]);
        let known: HashMap<String, f64> =
            [("a", 1.0), ("income", 3e4), ("b", 1.1), ("age", 2e4)].map(|(n, s)| (n.to_owned(), s)).into();
        let scaled = scaled(&mixed, &known).unwrap();
        assert!(!hides(&scaled) && (scaled[1].interval.centre - 0.3).abs() < 1e-12);
        assert!(super::scaled(&mixed, &HashMap::new()).is_none(), "no scale is made up");
        let ones = near.iter().map(|row| (row.name.clone(), 1.02)).collect();
        assert!(super::scaled(&near, &ones).is_none(), "a view that would look the same");
    }

    #[test]
    fn of_many_the_furthest_from_zero_stay_in_their_order() {
        let rows: Vec<Row> = (0..300).map(|i| row(&format!("x{i}"), f64::from(i % 7), 1.0)).collect();
        let kept = furthest(rows);
        assert_eq!(kept.len(), MOST_ROWS);
        assert!(kept.iter().all(|row| row.interval.centre == 6.0), "the furthest");
        let numbers: Vec<u32> = kept.iter().map(|row| row.name[1..].parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}
