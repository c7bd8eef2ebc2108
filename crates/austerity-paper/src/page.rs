//! Pages: figure, claim and verdict side by side; one file that needs no other, no script and no network.

use std::fmt::Write as _;

use austerity_plot::escape;
use serde_json::Value;

use crate::context::Size;
use crate::outcome::{Check, Outcome, Section, Verdict};

#[cfg(test)]
mod tests;

const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;--good:#1a7f37;--bad:#b42318;--open:#8a6100}
@media(prefers-color-scheme:dark){:root{--paper:#15191d;--ink:#e4e7ea;--soft:#9aa4af;--line:#2c3238;--good:#4ac26b;--bad:#ff8a80;--open:#e0b341}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:78rem;padding:1.5rem 1rem 4rem;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:.2rem 0 .6rem}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem;border-top:1px solid var(--line);padding-top:1.4rem}
p{max-width:46rem}
.soft,figcaption{color:var(--soft);font-size:.92rem}
.side{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:1.6rem;align-items:start}
@media(max-width:60rem){.side{grid-template-columns:1fr}}
figure{margin:0;overflow-x:auto}
figure svg{max-width:100%;height:auto;border-radius:4px}
.check{border-left:4px solid var(--line);padding:.1rem 0 .1rem .9rem;margin:0 0 1.1rem}
.check.holds{border-color:var(--good)}.check.differs{border-color:var(--bad)}.check.unclear{border-color:var(--open)}
.check p{margin:.15rem 0}
.verdict{font-weight:600}.holds .verdict{color:var(--good)}.differs .verdict{color:var(--bad)}.unclear .verdict{color:var(--open)}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
details{margin-top:2.5rem}pre{overflow-x:auto;font-size:.85rem}
a{color:inherit}
@media print{body{max-width:none}.side{grid-template-columns:3fr 2fr}section{break-inside:avoid}}
";

/// The page of one experiment.
pub(crate) fn experiment(outcome: &Outcome, size: Size, seconds: f64) -> String {
    let mut body = format!("<h1>{}</h1>\n", escape(&outcome.title));
    let size = size.pick("quick", "usual", "paper");
    let counts = count(outcome.checks().map(|check| check.verdict));
    let _ = writeln!(body, "<p class=\"soft\">{counts}. Size: {size}; {seconds:.0} s.</p>");
    for paragraph in &outcome.about {
        let _ = writeln!(body, "<p>{}</p>", escape(paragraph));
    }
    outcome.sections.iter().for_each(|part| section(&mut body, part));
    let pretty = |value: &Value| escape(&serde_json::to_string_pretty(value).unwrap_or_default());
    let _ = writeln!(
        body,
        "<details><summary>Settings and numbers</summary><pre>{}</pre><pre>{}</pre></details>",
        pretty(&outcome.settings),
        pretty(&outcome.numbers)
    );
    if !outcome.tables.is_empty() {
        body += "<p class=\"soft\">Tables:";
        for table in &outcome.tables {
            let name = escape(&table.name);
            let _ = write!(body, " <a href=\"tables/{name}.csv\">{name}</a>");
        }
        body += "</p>\n";
    }
    whole(&outcome.title, &body)
}

fn section(body: &mut String, section: &Section) {
    let _ = writeln!(body, "<section><h2>{}</h2>", escape(&section.title));
    let class = if section.figure.is_some() && !section.checks.is_empty() { "side" } else { "" };
    let _ = write!(body, "<div class=\"{class}\"><figure>");
    if let Some((_, figure)) = &section.figure {
        *body += &figure.svg();
    }
    let _ = write!(body, "<figcaption>{}</figcaption></figure>", escape(&section.caption));
    if !section.checks.is_empty() {
        *body += "<div>";
        section.checks.iter().for_each(|one| check(body, one));
        *body += "</div>";
    }
    *body += "</div></section>\n";
}

fn check(body: &mut String, check: &Check) {
    let (class, word) = match check.verdict {
        Verdict::Holds => ("holds", "holds"),
        Verdict::Differs => ("differs", "differs"),
        Verdict::Unclear => ("unclear", "cannot be told here"),
    };
    let _ = write!(
        body,
        "<div class=\"check {class}\"><p><b>{}</b>: {}</p><p>Measured: {} <span class=\"soft\">(wanted: {})</span></p>\
         <p class=\"verdict\">{word}</p>",
        escape(&check.name),
        escape(&check.claim),
        escape(&check.measured),
        escape(&check.wanted)
    );
    if !check.remark.is_empty() {
        let _ = write!(body, "<p class=\"soft\">{}</p>", escape(&check.remark));
    }
    *body += "</div>";
}

/// The page over several results, as `result.json` holds them.
pub(crate) fn index(results: &[Value]) -> String {
    let text = |value: &Value| escape(value.as_str().unwrap_or_default());
    let mut body = String::from(
        "<h1>Austerity in MCMC Land, reproduced</h1>\n<p>Korattikara, Chen &amp; Welling (2014), every experiment and figure, \
         each claim with what was measured here.</p>\n",
    );
    for result in results {
        let (name, title) = (text(&result["experiment"]), text(&result["title"]));
        let (size, seconds) = (text(&result["size"]), result["seconds"].as_f64().unwrap_or_default());
        let _ = writeln!(
            body,
            "<section><h2><a href=\"{name}/index.html\">{title}</a></h2><p class=\"soft\">Size: {size}; {seconds:.0} s.</p>\
             <table><tr><th>Claim</th><th>Measured</th><th>Verdict</th></tr>"
        );
        for check in result["checks"].as_array().into_iter().flatten() {
            let verdict = text(&check["verdict"]);
            let _ = writeln!(
                body,
                "<tr><td><b>{}</b>: {}</td><td>{}</td><td class=\"{verdict}\"><span class=\"verdict\">{verdict}</span></td></tr>",
                text(&check["name"]),
                text(&check["claim"]),
                text(&check["measured"]),
            );
        }
        body += "</table></section>\n";
    }
    whole("Austerity in MCMC Land, reproduced", &body)
}

fn count(verdicts: impl Iterator<Item = Verdict>) -> String {
    let (mut holds, mut differs, mut unclear) = (0, 0, 0);
    verdicts.for_each(|verdict| match verdict {
        Verdict::Holds => holds += 1,
        Verdict::Differs => differs += 1,
        Verdict::Unclear => unclear += 1,
    });
    let all = holds + differs + unclear;
    format!("Of {all} claims {holds} hold, {differs} differ, {unclear} cannot be told here")
}

fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{}</title>\n<style>\n{STYLE}</style></head>\n\
         <body>\n{body}</body></html>\n",
        escape(title)
    )
}
