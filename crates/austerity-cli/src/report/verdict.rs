//! The top of the page: may this be used, why, and the four numbers that say most.

use std::fmt::Write as _;

use super::words::{UNDEFINED, count, percent, rhat};
use super::{Report, Verdict, table};
use crate::plot::escape;

pub(super) fn section(report: &Report) -> String {
    let (class, sign, words) = match report.verdict {
        Verdict::Trusted => ("good", "✓", "This result can be trusted"),
        Verdict::Untrusted => ("bad", "!", "Do not rely on this result yet"),
    };
    let sentences = report.sentences.iter().fold(String::new(), |mut out, sentence| {
        let _ = writeln!(out, "<li>{}</li>", escape(sentence));
        out
    });
    let sentences = if sentences.is_empty() {
        sentences
    } else {
        format!("<ul class=\"sentences\">\n{sentences}</ul>\n")
    };
    let figures = key_figures(report).into_iter().fold(String::new(), |mut out, (name, value, note)| {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value} <small>{note}</small></dd></div>");
        out
    });
    format!(
        "<header>\n<p class=\"kind\">Report of a run</p>\n<h1>{}</h1>\n</header>\n\
         <section id=\"verdict\" class=\"{class}\">\n<h2><span class=\"sign\" aria-hidden=\"true\">{sign}</span> {words}</h2>\n\
         {sentences}</section>\n<dl class=\"key\">\n{figures}</dl>\n",
        escape(&report.title)
    )
}

/// Name, value, note.
fn key_figures(report: &Report) -> Vec<(&'static str, String, String)> {
    let chains = report.chain_numbers.len();
    let summary = &report.summary;
    let worst = summary.iter().map(|s| s.rhat).fold(f64::NAN, f64::max);
    let sizes = summary.iter().flat_map(|s| [s.ess_bulk, s.ess_tail]);
    let least = sizes.fold(f64::NAN, f64::min);
    let mut figures = vec![
        ("Largest R-hat", rhat(worst), format!("at most {}", table::RHAT_LIMIT)),
        ("Smallest ESS", count(least), format!("at least {}", count(table::least_size(chains)))),
    ];
    if let Some(share) = mean(report.data_used.iter().flatten().copied()) {
        figures.push(("Data read per decision", percent(share), String::new()));
    }
    if let Some(rate) = mean(report.accepted.iter().flatten().map(|&yes| f64::from(u8::from(yes)))) {
        figures.push(("Candidates accepted", percent(rate), String::new()));
    }
    if chains < 2 {
        figures[0].2 = "needs two chains".into();
        figures[0].1 = UNDEFINED.into();
    }
    figures
}

/// Mean of the finite values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) =
        values.filter(|v| v.is_finite()).fold((0.0, 0.0), |(count, sum), v| (count + 1.0, sum + v));
    (count > 0.0).then(|| sum / count)
}
