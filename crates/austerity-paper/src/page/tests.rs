//! The pages in a real browser: nothing is wider than the screen, every figure and claim is seen, nothing is fetched.

use serde_json::json;

use self::studio::{Found, Studio};
use super::{experiment, index};
use crate::claim::Verdict;
use crate::context::Size;
use crate::design::tests::tiny;
use crate::write::Spent;

#[path = "../../../austerity-fit/src/report/tests/studio.rs"]
#[allow(dead_code, reason = "these pages are not printed")]
mod studio;

/// Measures the page once it is loaded.
const PROBE: &str = r#"<script>
var problems = [];
window.onerror = function (message) { problems.push(String(message)); };
window.addEventListener("load", function () {
  var root = document.documentElement, found = {};
  found.inner = innerWidth;
  found.scroll = root.scrollWidth;
  found.wide = Array.from(document.querySelectorAll("body *")).filter(function (e) {
    return !e.closest("svg") && !e.closest("pre") && e.getBoundingClientRect().right > innerWidth + 0.5;
  }).length;
  var seen = function (selector) {
    return Array.from(document.querySelectorAll(selector)).filter(function (e) {
      return e.checkVisibility() && e.getBoundingClientRect().height > 5;
    }).length;
  };
  found.figures = seen("figure svg");
  found.verdicts = seen(".verdict");
  var pair = document.querySelector(".side");
  found.columns = pair ? getComputedStyle(pair).gridTemplateColumns.split(" ").length : 0;
  found.ground = getComputedStyle(document.body).backgroundColor.replace(/ /g, "");
  found.fetched = performance.getEntriesByType("resource").filter(function (e) { return !/^data:/.test(e.name); }).length;
  found.problems = problems.join("; ") || "none";
  parent.postMessage(Object.keys(found).map(function (k) { return k + "=" + found[k]; }).join("|"), "*");
});
</script>"#;

fn check(found: &Found, figures: f64, verdicts: f64) {
    assert_eq!(found.get("problems"), "none", "{}", found.0);
    assert!(found.number("scroll") <= found.number("inner"), "wider than the screen: {}", found.0);
    for (name, wanted) in [("wide", 0.0), ("fetched", 0.0), ("figures", figures), ("verdicts", verdicts)] {
        assert_eq!(found.number(name), wanted, "{name} in {}", found.0);
    }
}

#[test]
fn a_browser_shows_an_experiment_and_the_index_on_a_desk_and_on_a_phone() {
    let Some(studio) = Studio::open("reproduce-pages") else { return };
    let mut outcome = tiny();
    // A claim that could not be longer, with what must be escaped.
    let last = &mut outcome.sections[0].checks[0];
    (last.verdict, last.measured) =
        (Verdict::Undecided, format!("<b> & {}", "0.123456789 at ε = 0.05, ".repeat(20)));
    let panels = outcome
        .sections
        .iter()
        .filter_map(|section| section.figure.as_ref())
        .map(|(_, figure)| figure.panels.len());
    let (figures, checks) = (panels.sum::<usize>() as f64, outcome.checks().count() as f64);
    let page = experiment(&outcome, Size::Quick.into(), Spent { seconds: 12.3, cpu_seconds: 20.0 });
    let desk = studio.look("desk", (&page, PROBE), (1280, 1600), &[]);
    check(&desk, figures, checks);
    assert_eq!(desk.number("columns"), 2.0, "figure and claims stand side by side: {}", desk.0);
    let phone = studio.look("phone", (&page, PROBE), (390, 3600), &[]);
    check(&phone, figures, checks);
    assert_eq!(phone.number("columns"), 1.0, "{}", phone.0);
    let dark =
        studio.look("dark", (&page, PROBE), (1280, 1600), &["--blink-settings=preferredColorScheme=0"]);
    check(&dark, figures, checks);
    assert_ne!(dark.get("ground"), desk.get("ground"), "dark mode has a ground of its own");

    let checks: Vec<_> = outcome.checks().collect();
    let result = json!({
        "experiment": "design", "title": outcome.title, "size": "quick", "seconds": 12.3, "checks": checks
    });
    let list = index(&[result.clone(), result]);
    for (name, size) in [("index-desk", (1280, 1600)), ("index-phone", (390, 3600))] {
        check(&studio.look(name, (&list, PROBE), size, &[]), 0.0, 2.0 * checks.len() as f64);
    }
}

#[test]
fn the_probe_sees_what_is_broken() {
    let Some(studio) = Studio::open("reproduce-pages") else { return };
    let faults = "<div style=\"width:2000px\">wide</div><script>not_a_function();</script></body>";
    let page = index(&[]).replacen("</body>", faults, 1);
    let found = studio.look("broken", (&page, PROBE), (390, 800), &[]);
    assert!(found.get("problems").contains("not_a_function"), "{}", found.0);
    assert!(found.number("wide") >= 1.0 && found.number("scroll") > found.number("inner"), "{}", found.0);
}
