//! A browser for tests of pages: it opens them in frames of a given size, runs a probe inside, keeps pictures.
//!
//! Looks for Chromium in `AUSTERITY_CHROMIUM`, else on the path; without one [`Studio::open`] says that a test skips. The probe is a
//! script put into a copy of the page; what it posts to its parent, `name=value` joined by `|`, is read back from the dumped document.
//! A headless window cannot be as narrow as a phone, so the page sits in a frame of the wanted width. Pictures stay in a folder of the
//! build folder, to be looked at.
//!
//! For tests only: it panics where something is wrong. The tests of the experiments' pages (`austerity-paper`) use this file too.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
#[derive(Debug)]
pub(crate) struct Studio {
    program: PathBuf,
    folder: PathBuf,
}

impl Studio {
    /// With a folder of that name; `None`, and a word about it, without a browser.
    #[must_use]
    pub(crate) fn open(folder: &str) -> Option<Self> {
        let Some(program) = chromium() else {
            println!("skipped: no Chromium on the path; set AUSTERITY_CHROMIUM to one");
            return None;
        };
        let folder = build_folder().join(folder);
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

    /// Shows a page, with the probe and without, in a frame of the given size; keeps the picture.
    #[must_use]
    pub(crate) fn look(
        &self,
        name: &str,
        (page, probe): (&str, &str),
        (width, height): (u32, u32),
        more: &[&str],
    ) -> Found {
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
        let probed = framed(page.replacen("<head>", &format!("<head>{probe}"), 1), "probed");
        let plain = framed(page.to_owned(), "plain");
        let dump = self.browse(name, &options("--dump-dom"), &probed);
        self.browse(name, &options(&picture), &plain);
        Found::of(&dump)
    }

    /// Prints a page; pages of the document.
    #[must_use]
    pub(crate) fn print(&self, name: &str, page: &str) -> usize {
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
#[derive(Clone, Debug)]
pub(crate) struct Found(pub String);

impl Found {
    fn of(dump: &str) -> Self {
        let probe = dump.split("data-probe=\"").nth(1).unwrap_or_else(|| panic!("the probe did not run"));
        Self(probe.split('"').next().unwrap().replace("&quot;", "\"").replace("&amp;", "&"))
    }

    /// The value of a name.
    #[must_use]
    pub(crate) fn get(&self, name: &str) -> &str {
        let entry = self.0.split('|').find_map(|entry| entry.strip_prefix(&format!("{name}=")));
        entry.unwrap_or_else(|| panic!("{name} is missing in {}", self.0))
    }

    /// The same as a number.
    #[must_use]
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.get(name).parse().unwrap()
    }
}

/// The build folder: where the test itself was built.
fn build_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file())
        .map_or_else(std::env::temp_dir, Path::to_owned)
}
