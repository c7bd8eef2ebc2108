//! Pages: figure, claim and verdict side by side; one file that needs no other, no script and no network.

use std::fmt::Write as _;

use austerity_plot::escape;
use serde_json::Value;

use crate::claim::{Source, Verdict};
use crate::context::Size;
use crate::extent::Extent;
use crate::outcome::{Check, Outcome, Section};
use crate::write::Spent;

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
.panels{display:flex;flex-wrap:wrap;gap:.6rem}
.panels svg{flex:1 1 17rem;min-width:0;max-width:100%;height:auto;border-radius:4px}
.wide{overflow-x:auto}.counts{width:auto}q{font-style:italic}
@media(max-width:40rem){.wide td,.wide th{display:block;border:0;padding:.1rem 0}.wide tr{display:block;border-bottom:1px solid var(--line);padding:.5rem 0}.wide th{display:none}}
.check{border-left:4px solid var(--line);padding:.1rem 0 .1rem .9rem;margin:0 0 1.1rem}
.check.holds{border-color:var(--good)}.check.differs{border-color:var(--bad)}.check.undecided{border-color:var(--open)}
.check p{margin:.15rem 0}
.verdict{font-weight:600}.holds .verdict{color:var(--good)}.differs .verdict{color:var(--bad)}.undecided .verdict{color:var(--open)}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
details{margin-top:2.5rem}pre{overflow-x:auto;font-size:.85rem}
a{color:inherit}
@media print{body{max-width:none}.side{grid-template-columns:3fr 2fr}section{break-inside:avoid}}
";

/// The page of one experiment.
pub(crate) fn experiment(outcome: &Outcome, extent: Extent, spent: Spent) -> String {
    let mut body = format!("<h1>{}</h1>\n", escape(&outcome.title));
    let _ = writeln!(
        body,
        "<p class=\"soft\">Size: {}; {:.0} s of CPU time, {:.0} s on the wall.</p>",
        extent.words(),
        spent.cpu_seconds,
        spent.seconds
    );
    body += &counts(outcome.checks().map(|check| (check.source, check.verdict)));
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
    if let Some((name, figure)) = &section.figure {
        // Panels of their own stand in rows as far as there is room: one below the other on a phone.
        let _ = write!(body, "<div class=\"panels\">");
        figure.panels().for_each(|panel| *body += &panel);
        let _ = write!(body, "</div><figcaption><a href=\"figures/{0}.svg\">{0}.svg</a> ", escape(name));
    } else {
        *body += "<figcaption>";
    }
    let _ = write!(body, "{}</figcaption></figure>", escape(&section.caption));
    if !section.checks.is_empty() {
        *body += "<div>";
        section.checks.iter().for_each(|one| check(body, one));
        *body += "</div>";
    }
    *body += "</div></section>\n";
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Differs => "differs",
        Verdict::Undecided => "undecided",
    }
}

fn check(body: &mut String, check: &Check) {
    let word = class(check.verdict);
    let _ = write!(body, "<div class=\"check {word}\"><p><b>{}</b>", escape(&check.id()));
    if !check.quote.is_empty() {
        let _ = write!(body, " <q>{}</q>", escape(&check.quote));
    }
    if !check.claim.is_empty() {
        let _ = write!(body, " {}", escape(&check.claim));
    }
    let _ = write!(
        body,
        " <span class=\"soft\">({}; {})</span></p><p>Wanted: {}</p><p>Measured: {}</p>\
         <p class=\"soft\">Test: {}. Comes out the other way for: {}.</p><p class=\"verdict\">{word}</p>",
        check.source.words(),
        escape(&check.place),
        escape(&check.wanted),
        escape(&check.measured),
        escape(&check.test),
        escape(&check.partner),
    );
    if !check.remark.is_empty() {
        let _ = write!(body, "<p class=\"soft\">{}</p>", escape(&check.remark));
    }
    *body += "</div>";
}

/// How large a run was and what it took, from its `result.json`.
fn sized(result: &Value) -> String {
    let size: Size = serde_json::from_value(result["size"].clone()).unwrap_or(Size::Usual);
    let extent = Extent { size, share: result["share"].as_f64().unwrap_or(1.0) };
    let seconds = |key: &str| result[key].as_f64();
    match seconds("cpu_seconds") {
        Some(cpu) => format!("{}; {cpu:.0} s of CPU time", extent.words()),
        None => format!("{}; {:.0} s", extent.words(), seconds("seconds").unwrap_or_default()),
    }
}

/// The page over several results, as `result.json` holds them.
pub(crate) fn index(results: &[Value]) -> String {
    let text = |value: &Value| escape(value.as_str().unwrap_or_default());
    let mut body = String::from(
        "<h1>Austerity in MCMC Land, reproduced</h1>\n<p>Korattikara, Chen &amp; Welling (2014), every experiment and figure, \
         each claim with what was measured here.</p>\n",
    );
    let judged = |check: &Value| {
        let source = serde_json::from_value(check["source"].clone()).ok()?;
        Some((source, serde_json::from_value(check["verdict"].clone()).ok()?))
    };
    let all = results.iter().flat_map(|result| result["checks"].as_array().into_iter().flatten());
    body += &counts(all.filter_map(judged));
    for result in results {
        let (name, title) = (text(&result["experiment"]), text(&result["title"]));
        let size = sized(result);
        let _ = writeln!(
            body,
            "<section><h2><a href=\"{name}/index.html\">{title}</a></h2><p class=\"soft\">Size: {size}.</p>\
             <div class=\"wide\"><table><tr><th>Claim</th><th>Wanted</th><th>Measured</th><th>Verdict</th></tr>"
        );
        for check in result["checks"].as_array().into_iter().flatten() {
            let (verdict, subject) = (text(&check["verdict"]), text(&check["subject"]));
            let subject = if subject.is_empty() { subject } else { format!(" ({subject})") };
            let quote = text(&check["quote"]);
            let quote = if quote.is_empty() { quote } else { format!("<q>{quote}</q> ") };
            let _ = writeln!(
                body,
                "<tr><td><b>{}{subject}</b> {quote}{} <span class=\"soft\">({}; {})</span></td><td>{}</td><td>{}</td>\
                 <td class=\"{verdict}\"><span class=\"verdict\">{verdict}</span></td></tr>",
                text(&check["name"]),
                text(&check["claim"]),
                text(&check["source"]),
                text(&check["place"]),
                text(&check["wanted"]),
                text(&check["measured"]),
            );
        }
        body += "</table></div></section>\n";
    }
    whole("Austerity in MCMC Land, reproduced", &body)
}

/// The same as Markdown, for a repository: what is printed or commented out claim by claim, the others counted.
pub(crate) fn markdown(results: &[Value]) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().replace('|', "\\|").replace('\n', " ");
    let short = |words: String| {
        let mut end = words.len().min(150);
        while !words.is_char_boundary(end) {
            end -= 1;
        }
        if end < words.len() { format!("{}…", &words[..end]) } else { words }
    };
    let mut out = String::new();
    for result in results {
        let (name, size) = (text(&result["experiment"]), sized(result));
        let _ = writeln!(out, "### [{name}]({name}/index.html)\n\nSize: {size}, seed {}.\n", result["seed"]);
        out += "| claim | where | wanted | measured | verdict |\n|---|---|---|---|---|\n";
        let mut others = [0; 3];
        for check in result["checks"].as_array().into_iter().flatten() {
            let verdict = text(&check["verdict"]);
            if !matches!(check["source"].as_str(), Some("paper" | "commented")) {
                others[["holds", "differs", "undecided"]
                    .iter()
                    .position(|word| *word == verdict)
                    .unwrap_or(2)] += 1;
                continue;
            }
            let subject = text(&check["subject"]);
            let subject = if subject.is_empty() { subject } else { format!(" ({subject})") };
            let printed = if check["source"] == "commented" { " (commented out)" } else { "" };
            let _ = writeln!(
                out,
                "| {}{subject} | {}{printed} | {} | {} | {} |",
                text(&check["name"]),
                text(&check["place"]),
                text(&check["wanted"]),
                short(text(&check["measured"])),
                if verdict == "differs" { "**differs**".into() } else { verdict }
            );
        }
        let _ = writeln!(
            out,
            "\nDerived and our own: {} hold, {} differ, {} undecided.\n",
            others[0], others[1], others[2]
        );
    }
    out
}

/// How many claims of each source hold, differ and are undecided.
fn counts(judged: impl Iterator<Item = (Source, Verdict)>) -> String {
    let mut table = [[0; 3]; 4];
    judged.for_each(|(source, verdict)| table[source as usize][verdict as usize] += 1);
    let mut out = String::from(
        "<table class=\"counts\"><tr><th>Claims</th><th>hold</th><th>differ</th><th>undecided</th></tr>",
    );
    for (source, row) in Source::ALL.into_iter().zip(table).filter(|(_, row)| row.iter().sum::<usize>() > 0) {
        let [holds, differs, undecided] = row;
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{holds}</td><td>{differs}</td><td>{undecided}</td></tr>",
            source.words()
        );
    }
    out + "</table>\n"
}

fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{}</title>\n<style>\n{STYLE}</style></head>\n\
         <body>\n{body}</body></html>\n",
        escape(title)
    )
}
