//! One card per parameter: three pictures under its name.
//!
//! Up to 24 parameters come in their order. With more, the 24 whose diagnostics are worst come first and the others wait
//! behind a fold, up to 100 cards; the rest is in the table only.

use std::collections::HashMap;
use std::fmt::Write as _;

use austerity_plot::{SERIES, escape};

use super::pictures::Pictures;
use super::table::{complaints, worst_first};
use super::words::{count, counted, rhat, value};
use super::{ParameterDraws, Report};

/// Cards in plain view.
const IN_VIEW: usize = 24;
/// Cards at the most.
const MOST_CARDS: usize = 100;

pub(super) fn section(report: &Report) -> String {
    let by_name: HashMap<&str, &ParameterDraws> =
        report.parameters.iter().map(|draws| (draws.name.as_str(), draws)).collect();
    let many = report.summary.len() > IN_VIEW;
    let order = if many { worst_first(report) } else { (0..report.summary.len()).collect() };
    let cards: Vec<String> = order
        .into_iter()
        .filter_map(|index| {
            let name = report.summary[index].name.as_str();
            let beside = report.parameters.get(index).filter(|draws| draws.name == name);
            Some((index, beside.or_else(|| by_name.get(name).copied())?))
        })
        .take(MOST_CARDS)
        .map(|(index, draws)| card(report, index, draws))
        .collect();
    if cards.is_empty() {
        return String::new();
    }
    let (seen, folded) = cards.split_at(cards.len().min(IN_VIEW));
    let mut out = format!("<section id=\"parameters\">\n<h2>Parameters</h2>\n<p class=\"reading\">{READING}");
    if many {
        let _ = write!(out, " The {IN_VIEW} with the worst diagnostics come first.");
    }
    let _ = write!(out, "</p>\n{}{}", key(report), seen.concat());
    if !folded.is_empty() {
        let _ = writeln!(
            out,
            "<details>\n<summary>{} more</summary>\n{}</details>",
            counted(folded.len(), "parameter"),
            folded.concat()
        );
    }
    let left = report.summary.len() - cards.len();
    if left > 0 {
        let _ = writeln!(
            out,
            "<p class=\"reading\">{} without pictures: see the table.</p>",
            counted(left, "parameter")
        );
    }
    out + "</section>\n"
}

const READING: &str = "Traces should look like noise about one level, ranks should be even, and the marginals of all chains \
                       should lie on top of each other.";

/// Which colour is which chain.
fn key(report: &Report) -> String {
    let chains = report.chain_numbers.iter().take(SERIES).enumerate().fold(
        String::new(),
        |mut out, (series, number)| {
            let _ = writeln!(
                out,
                "<li data-series=\"{series}\"><svg class=\"chart\" viewBox=\"0 0 18 8\" aria-hidden=\"true\">\
             <path class=\"line s{series}\" d=\"M0 4h18\"/></svg> chain {number}</li>"
            );
            out
        },
    );
    let more = report.chain_numbers.len().saturating_sub(SERIES);
    let more = if more > 0 { format!("<li>colours repeat for {more} more</li>\n") } else { String::new() };
    format!("<ul class=\"chains\" aria-label=\"Colours of the chains\">\n{chains}{more}</ul>\n")
}

fn card(report: &Report, index: usize, draws: &ParameterDraws) -> String {
    let s = &report.summary[index];
    let complaints = complaints(s, report.chain_numbers.len());
    let flags = complaints.iter().fold(String::new(), |mut out, complaint| {
        let _ = write!(out, " <span class=\"flag\">{complaint}</span>");
        out
    });
    let class = if complaints.is_empty() { "card" } else { "card fails" };
    let numbers = format!(
        "{} (95 %: {} to {}) · R-hat {} · ESS {}",
        value(s.mean, s.sd),
        value(s.q025, s.sd),
        value(s.q975, s.sd),
        rhat(s.rhat),
        count(s.ess_bulk.min(s.ess_tail))
    );
    let figures = Pictures::new(report, s, &draws.chains).map_or_else(
        || "<p class=\"reading\">There is no finite draw to show.</p>\n".into(),
        |pictures| format!("<div class=\"charts\">\n{}</div>\n", pictures.figures()),
    );
    format!(
        "<article class=\"{class}\">\n<h3>{}{flags}</h3>\n<p class=\"numbers\">{numbers}</p>\n{figures}</article>\n",
        escape(&s.name)
    )
}
