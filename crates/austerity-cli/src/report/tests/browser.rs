//! The page in a real browser: no errors, nothing wider than the screen, the script does what it promises.
//!
//! Looks for Chromium in `AUSTERITY_CHROMIUM`, else on the path; without one it says that it skips. The probe is a script
//! put into a copy of the page; what it finds is read back from the dumped document. A headless window cannot be as narrow
//! as a phone, so the page sits in a frame of the wanted width. Pictures of it stay in `target/report-page` to be looked at.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::runs::logistic;
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
  found.ground = getComputedStyle(document.body).backgroundColor.replace(/ /g, "");
  found.fetched = performance.getEntriesByType("resource").filter(function (e) { return !/^data:/.test(e.name); }).length;
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

/// The page around the frame keeps what the probe says.
const FRAME: &str = r#"<!DOCTYPE html><script>
window.addEventListener("message", function (event) { document.documentElement.setAttribute("data-probe", event.data); });
</script>"#;

fn chromium() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("AUSTERITY_CHROMIUM") {
        return Some(given.into());
    }
    let path = std::env::var_os("PATH")?;
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|program| program.is_file())
}

/// A run of the browser with a profile of its own; its standard output.
fn browse(program: &Path, folder: &Path, name: &str, options: &[&str], page: &Path) -> String {
    let profile = folder.join(format!("profile-{name}"));
    let output = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--virtual-time-budget=4000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(options)
        .arg(page)
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(profile);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What the probe found, by name.
struct Found(String);

impl Found {
    fn of(dump: &str) -> Self {
        let probe = dump.split("data-probe=\"").nth(1).unwrap_or_else(|| panic!("the probe did not run"));
        Self(probe.split('"').next().unwrap().replace("&quot;", "\"").replace("&amp;", "&"))
    }

    fn get(&self, name: &str) -> &str {
        let entry = self.0.split('|').find_map(|entry| entry.strip_prefix(&format!("{name}=")));
        entry.unwrap_or_else(|| panic!("{name} is missing in {}", self.0))
    }

    fn number(&self, name: &str) -> f64 {
        self.get(name).parse().unwrap()
    }

    /// What must hold on every screen.
    fn check(&self, charts: f64) {
        assert_eq!(self.get("problems"), "none", "{}", self.0);
        assert!(self.number("scroll") <= self.number("inner"), "wider than the screen: {}", self.0);
        for (name, wanted) in
            [("wide", 0.0), ("empty", 0.0), ("fetched", 0.0), ("charts", charts), ("named", charts)]
        {
            assert_eq!(self.number(name), wanted, "{name} in {}", self.0);
        }
        for promise in ["sorted", "tip", "picked", "released"] {
            assert_eq!(self.get(promise), "true", "{promise} in {}", self.0);
        }
    }
}

/// The build folder: where the test itself was built.
fn workspace_target() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file())
        .map_or_else(std::env::temp_dir, Path::to_owned)
}

/// A real run whose first parameter has a name that could not be longer, or odder.
fn report() -> Report {
    let mut report = logistic(4, 1500);
    let odd = format!("<b>{}</b> & \"β\" 🦀", "a_name_without_a_place_to_break_it_".repeat(4));
    report.summary[1].name.clone_from(&odd);
    report.parameters[1].name.clone_from(&odd);
    report.settings[0].1.push(("file".into(), odd));
    report
}

#[test]
fn a_browser_shows_the_page_on_a_desk_and_on_a_phone() {
    let Some(program) = chromium() else {
        println!("skipped: no Chromium on the path; set AUSTERITY_CHROMIUM to one");
        return;
    };
    let folder = workspace_target().join("report-page");
    std::fs::create_dir_all(&folder).unwrap();
    let text = page(&report());
    let (plain, probed) = (folder.join("report.html"), folder.join("probed.html"));
    std::fs::write(&plain, &text).unwrap();
    std::fs::write(&probed, text.replacen("<head>", &format!("<head>{PROBE}"), 1)).unwrap();
    let charts = text.matches("role=\"img\"").count() as f64;

    let look = |name: &str, (width, height): (u32, u32), more: &[&str]| {
        let framed = |inner: &str| {
            let frame = folder.join(format!("{name}-{inner}"));
            let style = format!("width:{width}px;height:{height}px;border:0;display:block");
            let text = format!(
                "{FRAME}<body style=\"margin:0\"><iframe src=\"{inner}\" style=\"{style}\"></iframe></body>"
            );
            std::fs::write(&frame, text).unwrap();
            frame
        };
        let size = format!("--window-size={},{height}", width.max(500));
        let picture = format!("--screenshot={}", folder.join(format!("{name}.png")).display());
        let options = |last| [&[size.as_str()], more, &[last]].concat();
        let dump = browse(&program, &folder, name, &options("--dump-dom"), &framed("probed.html"));
        browse(&program, &folder, name, &options(&picture), &framed("report.html"));
        Found::of(&dump)
    };
    let desk = look("desk", (1280, 3400), &[]);
    desk.check(charts);
    assert_eq!((desk.number("inner"), desk.number("columns")), (1280.0, 3.0));
    let phone = look("phone", (390, 7400), &[]);
    phone.check(charts);
    assert_eq!((phone.number("inner"), phone.number("columns")), (390.0, 1.0));
    let dark = look("dark", (1280, 3400), &["--blink-settings=preferredColorScheme=0"]);
    dark.check(charts);
    assert_ne!(dark.get("ground"), desk.get("ground"), "dark mode has a ground of its own");
    let paper = format!("--print-to-pdf={}", folder.join("paper.pdf").display());
    browse(&program, &folder, "paper", &["--no-pdf-header-footer", &paper], &plain);
    assert!(std::fs::read(folder.join("paper.pdf")).unwrap().starts_with(b"%PDF"));
}
