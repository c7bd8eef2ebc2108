//! The page in a real browser: no errors, nothing wider than the screen, the script does what it promises.

use super::runs::{logistic, noise, of_draws};
use super::studio::{Found, Studio};
use crate::report::{Report, page};

/// Records errors from the first line on; measures and plays with the page once it is loaded.
const PROBE: &str = r#"<script>
var problems = [];
window.onerror = function (message) { problems.push(String(message)); };
console.error = function (message) { problems.push(String(message)); };
document.addEventListener("securitypolicyviolation", function (e) { problems.push("policy " + e.violatedDirective); });
window.addEventListener("load", function () {
  var root = document.documentElement, found = {};
  found.inner = innerWidth;
  found.scroll = root.scrollWidth;
  found.wide = Array.from(document.querySelectorAll("body *")).filter(function (e) {
    return !e.closest(".scroll") && !e.closest("svg") && e.getBoundingClientRect().right > innerWidth + 0.5;
  }).length;
  found.columns = getComputedStyle(document.querySelector(".charts")).gridTemplateColumns.split(" ").length;
  found.charts = document.querySelectorAll("svg[role=img]").length;
  found.named = document.querySelectorAll("svg[role=img][aria-label]").length;
  found.empty = Array.from(document.querySelectorAll("svg[role=img]")).filter(function (e) {
    return !(e.getBoundingClientRect().height > 50);
  }).length;
  found.hidden = Array.from(document.querySelectorAll("svg[role=img]")).filter(function (e) { return !e.checkVisibility(); }).length;
  found.ground = getComputedStyle(document.body).backgroundColor.replace(/ /g, "");
  found.fetched = performance.getEntriesByType("resource").filter(function (e) { return !/^data:/.test(e.name); }).length;
  var strips = Array.from(document.querySelectorAll(".forest .point")).filter(function (e) { return e.checkVisibility(); });
  found.dots = strips.length;
  found.unseen = strips.filter(function (e) {
    var dot = e.getBoundingClientRect(), strip = e.closest(".strip").getBoundingClientRect();
    return !(dot.width > 4 && strip.width > 100 && dot.left >= strip.left - 5 && dot.right <= strip.right + 5);
  }).length;
  found.covered = Array.from(document.querySelectorAll(".forest li")).filter(function (e) {
    var value = e.querySelector(".value"), name = e.querySelector(".name"), strip = e.querySelector(".strip");
    if (!value || !e.checkVisibility()) { return false; }
    function apart(a, b) { a = a.getBoundingClientRect(); b = b.getBoundingClientRect();
      return a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1; }
    return !(apart(value, name) && apart(value, strip) && apart(name, strip)) || value.scrollWidth > value.clientWidth + 1;
  }).length;
  var other = document.querySelector(".scales input:not(:checked)");
  if (other) {
    found.shown = document.querySelector(".per-sd").checkVisibility() + "," + document.querySelector(".per-unit").checkVisibility();
    other.click();
    found.switched = document.querySelector(".per-sd").checkVisibility() + "," + document.querySelector(".per-unit").checkVisibility();
  }
  var head = document.querySelectorAll("thead th")[1];
  head.click();
  var means = Array.from(document.querySelectorAll("tbody tr")).map(function (row) {
    return Number(row.cells[1].textContent.replace("−", "-"));
  });
  found.sorted = means.every(function (m, i) { return i === 0 || means[i - 1] <= m; }) && head.getAttribute("aria-sort") === "ascending";
  var chart = document.querySelector("svg[data-y]"), box = chart.getBoundingClientRect();
  chart.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
  found.tip = !document.querySelector(".tip").hidden && /^draw \d+ · /.test(document.querySelector(".tip").textContent);
  chart.dispatchEvent(new PointerEvent("pointerleave"));
  var pick = document.querySelector(".chains [role=button]");
  pick.click();
  found.picked = root.dataset.only === "0" && getComputedStyle(document.querySelector(".thin.s1")).opacity < 1;
  pick.click();
  found.released = root.dataset.only === undefined;
  document.querySelectorAll("thead th")[0].click();
  found.problems = problems.join("; ") || "none";
  parent.postMessage(Object.keys(found).map(function (k) { return k + "=" + found[k]; }).join("|"), "*");
});
</script>"#;

/// What must hold on every screen.
fn check(found: &Found, charts: f64) {
    assert_eq!(found.get("problems"), "none", "{}", found.0);
    assert!(found.number("scroll") <= found.number("inner"), "wider than the screen: {}", found.0);
    for (name, wanted) in [
        ("wide", 0.0),
        ("empty", 0.0),
        ("hidden", 0.0),
        ("unseen", 0.0),
        ("covered", 0.0),
        ("fetched", 0.0),
        ("charts", charts),
        ("named", charts),
    ] {
        assert_eq!(found.number(name), wanted, "{name} in {}", found.0);
    }
    for promise in ["sorted", "tip", "picked", "released"] {
        assert_eq!(found.get(promise), "true", "{promise} in {}", found.0);
    }
}

/// A real run whose first parameter has a name that could not be longer, or odder.
fn report() -> Report {
    let mut report = logistic(4, 1500);
    let odd = format!("<b>{}</b> & \"β\" 🦀", "a_name_without_a_place_to_break_it_".repeat(4));
    report.summary[1].name.clone_from(&odd);
    report.parameters[1].name.clone_from(&odd);
    report.meaning.scales =
        report.summary.iter().map(|s| s.name.clone()).zip([1.0, 1.0, 250.0, 0.01, 1.0]).collect();
    report.settings[0].1.push(("file".into(), odd));
    report
}

#[test]
fn a_browser_shows_the_page_on_a_desk_on_a_phone_and_on_paper() {
    let Some(studio) = Studio::open("report-page") else { return };
    let text = page(&report());
    let charts = text.matches("role=\"img\"").count() as f64;
    let desk = studio.look("desk", (&text, PROBE), (1280, 3400), &[]);
    check(&desk, charts);
    assert_eq!((desk.number("inner"), desk.number("columns")), (1280.0, 3.0));
    assert_eq!(desk.number("dots"), 5.0, "four coefficients and the intercept: {}", desk.0);
    let views = [desk.get("shown"), desk.get("switched")];
    assert!(views == ["false,true", "true,false"] || views == ["true,false", "false,true"], "{views:?}");
    let phone = studio.look("phone", (&text, PROBE), (390, 7400), &[]);
    check(&phone, charts);
    assert_eq!((phone.number("inner"), phone.number("columns")), (390.0, 1.0));
    let dark =
        studio.look("dark", (&text, PROBE), (1280, 3400), &["--blink-settings=preferredColorScheme=0"]);
    check(&dark, charts);
    assert_ne!(dark.get("ground"), desk.get("ground"), "dark mode has a ground of its own");
    assert!((2..6).contains(&studio.print("paper", &text)));
}

#[test]
fn a_browser_folds_many_parameters_and_prints_them_all() {
    let Some(studio) = Studio::open("report-page") else { return };
    let names: Vec<String> = (0..40).map(|index| format!("coefficient[{index}]")).collect();
    // Six chains of which one is apart, in one parameter of four.
    let draws = |index: u64| -> Vec<Vec<f64>> {
        let shift = |chain| if chain == 5 && index.is_multiple_of(4) { 0.4 } else { 0.0 };
        (0..6).map(|c| noise(300, 10 * index + c).iter().map(|v| v + shift(c)).collect()).collect()
    };
    let draws: Vec<_> = names.iter().zip(0..).map(|(name, index)| (name.as_str(), draws(index))).collect();
    let report = of_draws(&draws);
    let text = page(&report);
    let found = studio.look("many-phone", (&text, PROBE), (390, 3000), &[]);
    assert_eq!((found.number("charts"), found.number("hidden")), (40.0 * 3.0, 16.0 * 3.0), "{}", found.0);
    assert_eq!((found.get("problems"), found.number("wide")), ("none", 0.0));
    assert!(found.number("scroll") <= found.number("inner"));
    let _ = studio.look("many-desk", (&text, PROBE), (1280, 3000), &[]);
    // Four cards a page at the most: all forty need ten pages, the 24 in view do not.
    let pages = studio.print("many-paper", &text);
    assert!((10..20).contains(&pages), "{pages} pages");
}

#[test]
fn the_probe_sees_what_is_broken() {
    let Some(studio) = Studio::open("report-page") else { return };
    let wave: Vec<f64> = (0..50).map(f64::from).collect();
    let faults = "<div style=\"width:2000px\">wide</div><script>not_a_function();</script>\
                  <img alt=\"\" src=\"missing.png\"/></body>";
    let text = page(&of_draws(&[("θ", vec![wave; 2])])).replacen("</body>", faults, 1);
    let found = studio.look("broken", (&text, PROBE), (390, 800), &[]);
    let problems = found.get("problems");
    assert!(problems.contains("not_a_function") && problems.contains("policy img-src"), "{problems}");
    assert!(found.number("wide") >= 1.0 && found.number("scroll") > found.number("inner"), "{}", found.0);
}
