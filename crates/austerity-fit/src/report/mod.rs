//! `report.html`: one page about a run that works offline, on a phone and on paper.
//!
//! The verdict and its reasons come first, then a forest plot of the coefficients, the table, a card per parameter (trace, ranks, marginal), how much
//! data the decisions read, the error that the theory predicts, and the settings. Everything is inside the file: style,
//! charts and a short script for tool tips, sorting and picking out a chain. The page is complete without the script, and
//! its content policy forbids fetching anything.
//!
//! | file | holds |
//! |---|---|
//! | `verdict` | verdict, sentences, key figures |
//! | `forest` | the coefficients with their intervals on one axis |
//! | `groups` | the effects of groups of a multilevel fit |
//! | `table` | the summary table; what makes a row fail |
//! | `cards` | which parameters get a card, and the card |
//! | `pictures`, `density` | trace, ranks, marginal of one parameter |
//! | `decisions` | data use and acceptance along the run |
//! | `errors` | E, π̄ and Δ of the planned test |
//! | `words` | numbers as people read them |
//! | `page.css`, `page.js` | looks, comfort |
//!
//! Size: a card draws at most 2,400 points of traces (600 of each of four chains, the extremes kept) and 16 chains; at most
//! 100 parameters get a card and 2,000 a row in the table. 50 parameters with 4 chains take less than 1.5 MB, no run more
//! than 5 MB. Cost: milliseconds per card, dominated by sorting its draws.

mod cards;
mod decisions;
mod density;
mod errors;
mod forest;
mod groups;
mod pictures;
mod table;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

use std::fmt::Write as _;

use austerity::diagnostics::Summary;
use austerity::rule::Law;
use austerity::theory::TestPlan;
use austerity_plot::{escape, in_page};

use crate::fit::groups::GroupEffects;
use crate::runs::after::Answer;

pub(crate) use forest::Meaning;
pub(crate) use words::count;

/// Whether the result may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Trusted,
    Untrusted,
}

/// The draws of one parameter.
#[derive(Clone, Debug)]
pub(crate) struct ParameterDraws {
    pub(crate) name: String,
    /// Chain by chain; thinned by whoever reads them, to at most about 2,000 draws each.
    pub(crate) chains: Vec<Vec<f64>>,
}

/// The sequential test of a run, for its error curves.
#[derive(Clone, Debug)]
pub(crate) struct PlannedTest {
    pub(crate) plan: TestPlan,
    pub(crate) law: Law,
    /// κ = √N·sd of the run's decisions (some hundreds will do): Δ is drawn at their quartiles; at 1 without any.
    pub(crate) kappas: Vec<f64>,
}

/// Everything that the page tells.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Name of the run's folder.
    pub(crate) title: String,
    /// Model, response and data, in a line or two below the title.
    pub(crate) about: Vec<String>,
    /// What was checked: name, figure, limit, outcome, words.
    pub(crate) checks: Vec<[String; 5]>,
    /// What the parameters stand for.
    pub(crate) meaning: Meaning,
    pub(crate) verdict: Verdict,
    /// Did the chains agree, data read, predicted error, audit, what to do next; reasons first when untrusted.
    pub(crate) sentences: Vec<String>,
    /// One per parameter, computed from all draws.
    pub(crate) summary: Vec<Summary>,
    /// The same parameters in the same order; those kept out of the draws may be missing (they are found by name).
    pub(crate) parameters: Vec<ParameterDraws>,
    /// Numbers of the chains, in the order of the draws.
    pub(crate) chain_numbers: Vec<u32>,
    /// Draws per chain before thinning: the length of the axis of traces.
    pub(crate) draws: u64,
    /// Share of the data behind each draw's decision, chain by chain, thinned like the draws.
    pub(crate) data_used: Vec<Vec<f64>>,
    /// Whether each draw's candidate was accepted, likewise.
    pub(crate) accepted: Vec<Vec<bool>>,
    /// The effects of groups, where effects vary between groups.
    pub(crate) groups: Option<GroupEffects>,
    /// None for exact decisions.
    pub(crate) test: Option<PlannedTest>,
    /// What was asked after the fit: its quality, its effects.
    pub(crate) after: Vec<Answer>,
    /// Groups of (name, value).
    pub(crate) settings: Vec<(String, Vec<(String, String)>)>,
    /// Version and date.
    pub(crate) made: String,
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// What the page may load: nothing but what is in it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The page as a file's text.
pub(crate) fn page(report: &Report) -> String {
    let title = escape(&report.title);
    let body = [
        verdict::section(report),
        forest::section(report),
        groups::section(report),
        after(report),
        table::section(report),
        checks(report),
        cards::section(report),
        decisions::section(report),
        errors::section(report),
        settings(report),
    ]
    .concat();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title} · austerity</title>\n<link rel=\"icon\" href=\"data:,\"/>\n\
         <style>\n{charts}{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         <footer><p>{made}</p></footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        charts = in_page(),
        made = escape(&report.made)
    )
}

/// How good the fit is and what it says, as far as it was asked.
fn after(report: &Report) -> String {
    if report.after.is_empty() {
        return String::new();
    }
    let one = |answer: &Answer| {
        let picture = answer.picture.as_ref().map_or(String::new(), |svg| {
            format!(
                "<p><img alt=\"{}\" src=\"data:image/svg+xml,{}\" style=\"max-width:100%\"/></p>\n",
                escape(&answer.title),
                percent(svg)
            )
        });
        format!(
            "<h3>{}</h3>\n{picture}<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><pre>{}</pre></div>\n",
            escape(&answer.title),
            escape(&answer.words)
        )
    };
    let all: String = report.after.iter().map(one).collect();
    format!("<section id=\"after\">\n<h2>Fit quality and effects</h2>\n{all}</section>\n")
}

/// A text as part of an address.
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~ /:=,;()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// What was checked, and what was not.
fn checks(report: &Report) -> String {
    if report.checks.is_empty() {
        return String::new();
    }
    let rows: String = report
        .checks
        .iter()
        .map(|[name, figure, limit, outcome, words]| {
            let class = if outcome == "failed" { " class=\"bad\"" } else { "" };
            format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td{class}>{}</td><td class=\"words\">{}</td></tr>\n",
                escape(name),
                escape(figure),
                escape(limit),
                escape(outcome),
                escape(words)
            )
        })
        .collect();
    format!(
        "<section id=\"checks\">\n<h2>Checks</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Checks\">\n<table>\n<thead><tr><th scope=\"col\">check</th><th scope=\"col\">figure</th>\
         <th scope=\"col\">limit</th><th scope=\"col\">outcome</th><th scope=\"col\" class=\"words\"></th></tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table></div>\n</section>\n"
    )
}

/// How the run was made.
fn settings(report: &Report) -> String {
    if report.settings.is_empty() {
        return String::new();
    }
    let groups: String = report
        .settings
        .iter()
        .map(|(group, entries)| {
            let rows: String = entries
                .iter()
                .map(|(name, value)| {
                    format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value))
                })
                .collect();
            format!("<div class=\"group\"><h3>{}</h3>\n<dl>\n{rows}</dl></div>\n", escape(group))
        })
        .collect();
    format!(
        "<section id=\"settings\">\n<h2>Settings</h2>\n<div class=\"groups\">\n{groups}</div>\n</section>\n"
    )
}

/// A chart with its heading and a line on how to read it.
fn figure(heading: &str, chart: &str, reading: &str) -> String {
    let reading =
        if reading.is_empty() { String::new() } else { format!(" <span>{}</span>", escape(reading)) };
    format!("<figure><figcaption><b>{}</b>{reading}</figcaption>\n{chart}</figure>\n", escape(heading))
}
