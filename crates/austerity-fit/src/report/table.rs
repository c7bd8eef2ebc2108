//! The summary table, and what makes a parameter fail.
//!
//! A row fails when R-hat exceeds 1.01 or an effective size is below 100 per chain (Vehtari, Gelman, Simpson, Carpenter
//! & Bürkner, 2021), or when a diagnostic is undefined. Beyond 2,000 parameters the worst are shown.

use std::cmp::Ordering;
use std::fmt::Write as _;

use austerity::diagnostics::{ESS_PER_CHAIN, RHAT_LIMIT, Summary};
use austerity_plot::escape;

use super::Report;
use super::words::{count, counted, rhat, rough, value};

/// Rows at the most.
const MOST_ROWS: usize = 2000;

/// The columns after the name, each with what it means.
const COLUMNS: [(&str, &str); 9] = [
    ("mean", "posterior mean"),
    ("sd", "posterior standard deviation"),
    ("2.5 %", "lower end of the 95 % interval"),
    ("50 %", "median"),
    ("97.5 %", "upper end of the 95 % interval"),
    ("MCSE", "Monte Carlo standard error of the mean"),
    ("ESS bulk", "effective sample size for the centre"),
    ("ESS tail", "effective sample size for the 5 % and 95 % quantiles"),
    ("R-hat", "disagreement of the chains; 1 is none"),
];

/// Effective size that every parameter should reach.
pub(super) fn least_size(chains: usize) -> f64 {
    ESS_PER_CHAIN * chains.max(1) as f64
}

/// Why a parameter fails, in words.
pub(super) fn complaints(summary: &Summary, chains: usize) -> Vec<&'static str> {
    let mut found = Vec::new();
    if !summary.q50.is_finite() {
        return vec!["not all draws are finite"];
    }
    if summary.sd == 0.0 {
        return vec!["never moved"];
    }
    if chains > 1 && summary.rhat > RHAT_LIMIT {
        found.push("chains disagree");
    }
    if summary.ess_bulk.is_nan() || summary.ess_tail.is_nan() || (chains > 1 && summary.rhat.is_nan()) {
        found.push("too few draws to tell");
    } else if summary.ess_bulk.min(summary.ess_tail) < least_size(chains) {
        found.push("few effective draws");
    }
    found
}

/// How bad: R-hat and effective size against their limits; undefined is worst.
fn badness(summary: &Summary, chains: usize) -> f64 {
    let apart = if chains > 1 { (summary.rhat - 1.0) / (RHAT_LIMIT - 1.0) } else { 0.0 };
    let few = least_size(chains) / summary.ess_bulk.min(summary.ess_tail);
    let undefined = summary.ess_bulk.is_nan() || summary.ess_tail.is_nan() || apart.is_nan();
    if undefined { f64::INFINITY } else { apart.max(few) }
}

/// Positions of the parameters, worst first.
pub(super) fn worst_first(report: &Report) -> Vec<usize> {
    let chains = report.chain_numbers.len();
    let mut order: Vec<(f64, usize)> =
        report.summary.iter().enumerate().map(|(index, s)| (badness(s, chains), index)).collect();
    order.sort_by(|a, b| match b.0.total_cmp(&a.0) {
        Ordering::Equal => a.1.cmp(&b.1),
        different => different,
    });
    order.into_iter().map(|(_, index)| index).collect()
}

pub(super) fn section(report: &Report) -> String {
    let total = report.summary.len();
    let mut shown: Vec<usize> = (0..total).collect();
    let mut note = String::new();
    if total > MOST_ROWS {
        shown = worst_first(report);
        shown.truncate(MOST_ROWS);
        shown.sort_unstable();
        note = format!(
            " The {} with the worst diagnostics of {} are shown; <code>summary</code> and <code>export</code> give all.",
            count(MOST_ROWS as f64),
            counted(total, "parameter")
        );
    }
    let head = COLUMNS.iter().fold(String::new(), |mut out, (name, meaning)| {
        let _ = write!(out, "<th scope=\"col\" title=\"{meaning}\">{name}</th>");
        out
    });
    let rows: String = shown.iter().map(|&index| row(report, index)).collect();
    format!(
        "<section id=\"summary\">\n<h2>Summary</h2>\n<p class=\"reading\">{}, {}, {} each.{note}</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Summary table\">\n<table>\n\
         <thead><tr><th scope=\"col\">parameter</th>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</section>\n",
        counted(total, "parameter"),
        counted(report.chain_numbers.len(), "chain"),
        counted(usize::try_from(report.draws).unwrap_or(usize::MAX), "draw"),
    )
}

fn row(report: &Report, index: usize) -> String {
    let s = &report.summary[index];
    let chains = report.chain_numbers.len();
    let complaints = complaints(s, chains);
    let class = if complaints.is_empty() { "" } else { " class=\"fails\"" };
    let mut out = format!("<tr{class}><th scope=\"row\">{}", escape(&s.name));
    for complaint in &complaints {
        let _ = write!(out, " <span class=\"flag\">{complaint}</span>");
    }
    out += "</th>";
    let low_size = |size: f64| size < least_size(chains);
    for (text, bad) in [
        (value(s.mean, s.sd), false),
        (value(s.sd, s.sd), false),
        (value(s.q025, s.sd), false),
        (value(s.q50, s.sd), false),
        (value(s.q975, s.sd), false),
        (rough(s.mcse_mean), false),
        (count(s.ess_bulk), low_size(s.ess_bulk)),
        (count(s.ess_tail), low_size(s.ess_tail)),
        (rhat(s.rhat), s.rhat > RHAT_LIMIT),
    ] {
        let _ = write!(out, "<td{}>{text}</td>", if bad { " class=\"bad\"" } else { "" });
    }
    out + "</tr>\n"
}
