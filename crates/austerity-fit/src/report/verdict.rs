//! The top of the page: may this be used, why, and the four numbers that say most.

use std::fmt::Write as _;

use austerity::diagnostics::RHAT_LIMIT;
use austerity_plot::escape;

use super::words::{count, percent, rhat};
use super::{Report, Verdict, table};

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
    let figures = key_figures(report).into_iter().fold(String::new(), |mut out, figure| {
        let class = if figure.fails { " class=\"bad\"" } else { "" };
        let _ = writeln!(
            out,
            "<div><dt>{}</dt><dd{class}>{} <small>{}</small></dd></div>",
            figure.name, figure.value, figure.note
        );
        out
    });
    let about = report.about.iter().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "<p class=\"kind\">{}</p>", escape(line));
        out
    });
    format!(
        "<header>\n<p class=\"kind\">Report of a run</p>\n<h1>{}</h1>\n{about}</header>\n\
         <section id=\"verdict\" class=\"{class}\">\n<h2><span class=\"sign\" aria-hidden=\"true\">{sign}</span> {words}</h2>\n\
         {sentences}</section>\n<dl class=\"key\">\n{figures}</dl>\n",
        escape(&report.title)
    )
}

/// A number that says much.
struct KeyFigure {
    name: &'static str,
    value: String,
    note: String,
    fails: bool,
}

fn key_figures(report: &Report) -> Vec<KeyFigure> {
    let chains = report.chain_numbers.len();
    let summary = &report.summary;
    let worst = summary.iter().map(|s| s.rhat).fold(f64::NAN, f64::max);
    let least = summary.iter().flat_map(|s| [s.ess_bulk, s.ess_tail]).fold(f64::NAN, f64::min);
    let wanted = table::least_size(chains);
    let rhat_note = if chains < 2 { "needs two chains".into() } else { format!("at most {}", RHAT_LIMIT) };
    let figure = |name, value, note, fails| KeyFigure { name, value, note, fails };
    let mut figures = vec![
        figure("Largest R-hat", rhat(worst), rhat_note, worst > RHAT_LIMIT),
        figure("Smallest ESS", count(least), format!("at least {}", count(wanted)), least < wanted),
    ];
    if let Some(share) = mean(report.data_used.iter().flatten().copied()) {
        figures.push(figure("Data read per decision", percent(share), String::new(), false));
    }
    if let Some(rate) = mean(report.accepted.iter().flatten().map(|&yes| f64::from(u8::from(yes)))) {
        figures.push(figure("Proposals accepted", percent(rate), String::new(), false));
    }
    figures
}

/// Mean of the finite values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) =
        values.filter(|v| v.is_finite()).fold((0.0, 0.0), |(count, sum), v| (count + 1.0, sum + v));
    (count > 0.0).then(|| sum / count)
}
