//! The page in a real browser: no errors, nothing wider than the screen, the script does what it promises.
//!
//! Looks for Chromium in `AUSTERITY_CHROMIUM`, else on the path; without one it says that it skips. The probe is a script
//! put into a copy of the page; what it finds is read back from the dumped document. A headless window cannot be as narrow
//! as a phone, so the page sits in a frame of the wanted width. Pictures of it stay in `target/report-page` to be looked at.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::runs::{logistic, noise, of_draws};
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

/// A browser that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

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
        .find(|program| {
            // Some systems have a stand-in that only tells how to install the browser.
            let works = Command::new(program).arg("--version").stdin(Stdio::null()).output();
            works.is_ok_and(|output| output.status.success())
        })
}

/// A browser, and a folder for pages and pictures.
struct Studio {
    program: PathBuf,
    folder: PathBuf,
}

impl Studio {
    /// `None`, and a word about it, without a browser.
    fn open() -> Option<Self> {
        let Some(program) = chromium() else {
            println!("skipped: no Chromium on the path; set AUSTERITY_CHROMIUM to one");
            return None;
        };
        let folder = build_folder().join("report-page");
        std::fs::create_dir_all(&folder).unwrap();
        Some(Self { program, folder })
    }

    /// A run with a profile of its own; its standard output.
    fn browse(&self, name: &str, options: &[&str], page: &str) -> String {
        let profile = self.folder.join(format!("profile-{name}"));
        let (out, complaints) =
            (self.folder.join(format!("{name}.out")), self.folder.join(format!("{name}.err")));
        let mut browser = Command::new(&self.program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--virtual-time-budget=4000"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(options)
            .arg(self.folder.join(page))
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&complaints).unwrap())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let status = loop {
            match browser.try_wait().unwrap() {
                Some(status) => break status,
                None if start.elapsed() > PATIENCE => {
                    browser.kill().unwrap();
                    panic!("the browser did not end within {PATIENCE:?}");
                }
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        let _ = std::fs::remove_dir_all(profile);
        assert!(status.success(), "{}", String::from_utf8_lossy(&std::fs::read(complaints).unwrap()));
        std::fs::read_to_string(out).unwrap()
    }

    /// Shows a page, probed and plain, in a frame of the given size; keeps the picture.
    fn look(&self, name: &str, page: &str, (width, height): (u32, u32), more: &[&str]) -> Found {
        let framed = |text: String, kind: &str| {
            let (inner, outer) = (format!("{name}-{kind}.html"), format!("{name}-{kind}-frame.html"));
            let style = format!("width:{width}px;height:{height}px;border:0;display:block");
            let frame = format!("<iframe src=\"{inner}\" style=\"{style}\"></iframe>");
            std::fs::write(self.folder.join(&inner), text).unwrap();
            std::fs::write(
                self.folder.join(&outer),
                format!("{FRAME}<body style=\"margin:0\">{frame}</body>"),
            )
            .unwrap();
            outer
        };
        let size = format!("--window-size={},{height}", width.max(500));
        let picture = format!("--screenshot={}", self.folder.join(format!("{name}.png")).display());
        let options = |last| [&[size.as_str()], more, &[last]].concat();
        let probed = framed(page.replacen("<head>", &format!("<head>{PROBE}"), 1), "probed");
        let plain = framed(page.to_owned(), "plain");
        let dump = self.browse(name, &options("--dump-dom"), &probed);
        self.browse(name, &options(&picture), &plain);
        Found::of(&dump)
    }

    /// Prints a page; pages of the document.
    fn print(&self, name: &str, page: &str) -> usize {
        std::fs::write(self.folder.join(format!("{name}.html")), page).unwrap();
        let file = self.folder.join(format!("{name}.pdf"));
        let option = format!("--print-to-pdf={}", file.display());
        self.browse(name, &["--no-pdf-header-footer", &option], &format!("{name}.html"));
        let document = std::fs::read(file).unwrap();
        let text = String::from_utf8_lossy(&document);
        assert!(text.starts_with("%PDF"));
        text.matches("/Type /Page\n").count()
    }
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
        for (name, wanted) in [
            ("wide", 0.0),
            ("empty", 0.0),
            ("hidden", 0.0),
            ("fetched", 0.0),
            ("charts", charts),
            ("named", charts),
        ] {
            assert_eq!(self.number(name), wanted, "{name} in {}", self.0);
        }
        for promise in ["sorted", "tip", "picked", "released"] {
            assert_eq!(self.get(promise), "true", "{promise} in {}", self.0);
        }
    }
}

/// The build folder: where the test itself was built.
fn build_folder() -> PathBuf {
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
fn a_browser_shows_the_page_on_a_desk_on_a_phone_and_on_paper() {
    let Some(studio) = Studio::open() else { return };
    let text = page(&report());
    let charts = text.matches("role=\"img\"").count() as f64;
    let desk = studio.look("desk", &text, (1280, 3400), &[]);
    desk.check(charts);
    assert_eq!((desk.number("inner"), desk.number("columns")), (1280.0, 3.0));
    let phone = studio.look("phone", &text, (390, 7400), &[]);
    phone.check(charts);
    assert_eq!((phone.number("inner"), phone.number("columns")), (390.0, 1.0));
    let dark = studio.look("dark", &text, (1280, 3400), &["--blink-settings=preferredColorScheme=0"]);
    dark.check(charts);
    assert_ne!(dark.get("ground"), desk.get("ground"), "dark mode has a ground of its own");
    assert!((2..6).contains(&studio.print("paper", &text)));
}

#[test]
fn a_browser_folds_many_parameters_and_prints_them_all() {
    let Some(studio) = Studio::open() else { return };
    let names: Vec<String> = (0..40).map(|index| format!("coefficient[{index}]")).collect();
    // Six chains of which one is apart, in one parameter of four.
    let draws = |index: u64| -> Vec<Vec<f64>> {
        let shift = |chain| if chain == 5 && index.is_multiple_of(4) { 0.4 } else { 0.0 };
        (0..6).map(|c| noise(300, 10 * index + c).iter().map(|v| v + shift(c)).collect()).collect()
    };
    let draws: Vec<_> = names.iter().zip(0..).map(|(name, index)| (name.as_str(), draws(index))).collect();
    let report = of_draws(&draws);
    let text = page(&report);
    let found = studio.look("many-phone", &text, (390, 3000), &[]);
    assert_eq!((found.number("charts"), found.number("hidden")), (40.0 * 3.0, 16.0 * 3.0), "{}", found.0);
    assert_eq!((found.get("problems"), found.number("wide")), ("none", 0.0));
    assert!(found.number("scroll") <= found.number("inner"));
    studio.look("many-desk", &text, (1280, 3000), &[]);
    // Four cards a page at the most: all forty need ten pages, the 24 in view do not.
    let pages = studio.print("many-paper", &text);
    assert!((10..20).contains(&pages), "{pages} pages");
}

#[test]
fn the_probe_sees_what_is_broken() {
    let Some(studio) = Studio::open() else { return };
    let wave: Vec<f64> = (0..50).map(f64::from).collect();
    let faults = "<div style=\"width:2000px\">wide</div><script>not_a_function();</script>\
                  <img alt=\"\" src=\"missing.png\"/></body>";
    let text = page(&of_draws(&[("θ", vec![wave; 2])])).replacen("</body>", faults, 1);
    let found = studio.look("broken", &text, (390, 800), &[]);
    let problems = found.get("problems");
    assert!(problems.contains("not_a_function") && problems.contains("policy img-src"), "{problems}");
    assert!(found.number("wide") >= 1.0 && found.number("scroll") > found.number("inner"), "{}", found.0);
}
