//! The documents say what the program does: every command line that they show is run, in order, in a folder of its own, and every output that they
//! show is compared with what was printed.
//!
//! | on a page | means |
//! |---|---|
//! | `sh` block | its lines that begin with `austerity` or `mkdir -p` are run; `# exits 1` after one says how it ends |
//! | `text` block | the commands above printed this; `…` stands for anything between |
//! | `<!-- file: NAME -->` before a `text` block | the block is written to that file |
//! | `<!-- not run: WHY -->` before a block | neither run nor compared |
//!
//! Numbers, units of time and runs of spaces do not count; names, words and their order do.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fenced block of a page.
#[derive(Debug, PartialEq)]
struct Block<'a> {
    language: &'a str,
    /// The comment above, without its marks.
    note: &'a str,
    lines: Vec<&'a str>,
}

/// The fenced blocks of a page.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut found, mut open, mut note) = (Vec::new(), None, "");
    for line in page.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some(Block { language, note, lines: Vec::new() }),
            (Some(_), Some(block)) => {
                found.push(block);
                note = "";
            }
            (None, Some(mut block)) => {
                block.lines.push(line);
                open = Some(block);
            }
            (None, None) => {
                let comment = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
                note = comment.unwrap_or(if line.is_empty() { note } else { "" });
            }
        }
    }
    found
}

/// The call of the program in a line, and the exit code that it announces.
fn call(line: &str) -> Option<(Vec<&str>, i32)> {
    let (call, comment) = line.strip_prefix("austerity ")?.split_once(" #").unwrap_or((&line[10..], ""));
    let exits = comment.split_once("exits ").and_then(|(_, rest)| rest.chars().next()?.to_digit(10));
    Some((words(call), exits.unwrap_or(0) as i32))
}

/// The words of a line; what stands in double quotes is one of them.
fn words(line: &str) -> Vec<&str> {
    let mut parts = line.split('"');
    let mut found: Vec<&str> = parts.next().into_iter().flat_map(str::split_whitespace).collect();
    while let Some(quoted) = parts.next() {
        found.push(quoted);
        found.extend(parts.next().into_iter().flat_map(str::split_whitespace));
    }
    found
}

/// A text without numbers, units of time and runs of spaces; rules of any length are one. Digits that belong to a name stay.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    let mut named = false;
    while let Some(letter) = letters.next() {
        let after_minus = matches!(letter, '-' | '−') && !named;
        if letter.is_ascii_digit() && !named
            || after_minus && letters.peek().is_some_and(char::is_ascii_digit)
        {
            let number = |next: &char| next.is_ascii_digit() || matches!(next, '.' | ',' | 'e' | '-');
            let mut last = letter;
            while let Some(next) = letters.next_if(number) {
                last = next;
            }
            out.push('#');
            out.extend(matches!(last, '.' | ',').then_some(last));
            continue;
        }
        named = letter.is_alphanumeric() || letter == '_';
        if letter != '─' || !out.ends_with('─') {
            out.push(letter);
        }
    }
    let spaced = out.split_whitespace().collect::<Vec<_>>().join(" ");
    ["# ms", "# min", "# h "]
        .iter()
        .fold(spaced, |text, unit| text.replace(unit, if unit.ends_with(' ') { "# s " } else { "# s" }))
}

/// Whether a page shows what was printed; else the first piece that was not.
fn compare(shown: &str, printed: &str) -> Result<(), String> {
    let printed = bare(printed);
    let mut rest = printed.as_str();
    for piece in bare(shown).split('…').map(str::trim).filter(|piece| !piece.is_empty()) {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return Err(piece.into()),
        }
    }
    Ok(())
}

/// The folder of a page, and what its commands have printed.
struct Page<'a> {
    name: String,
    folder: &'a Path,
    printed: String,
    run: usize,
    compared: usize,
}

impl Page<'_> {
    fn command(&mut self, line: &str) {
        if let Some(folders) = line.strip_prefix("mkdir -p ") {
            words(folders).iter().for_each(|name| std::fs::create_dir_all(self.folder.join(name)).unwrap());
        }
        let Some((arguments, exits)) = call(line) else { return };
        let output = Command::new(env!("CARGO_BIN_EXE_austerity"))
            .args(&arguments)
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exits), "{}: {line}: {complaint}", self.name);
        self.printed += &complaint;
        self.printed += &String::from_utf8_lossy(&output.stdout);
        self.run += 1;
    }

    fn block(&mut self, block: &Block<'_>) {
        let text = block.lines.join("\n");
        match (block.language, block.note) {
            (_, note) if note.starts_with("not run: ") => {}
            ("text", note) if note.starts_with("file: ") => {
                std::fs::write(self.folder.join(&note[6..]), text + "\n").unwrap();
            }
            ("sh", _) => block.lines.iter().for_each(|line| self.command(line)),
            // Python and Rust have tests of their own, which compare what they print.
            ("text", _) if self.run > 0 => {
                if let Err(piece) = compare(&text, &self.printed) {
                    panic!("{} shows what is not printed:\n{piece}\n\nprinted:\n{}", self.name, self.printed);
                }
                self.compared += 1;
            }
            ("text" | "python" | "rust" | "rust,ignore" | "toml" | "json", _) => {}
            // What only the site shows.
            (directive, _) if directive.starts_with('{') => {}
            (other, _) => panic!("{}: a block of the unknown kind `{other}`", self.name),
        }
    }
}

/// Runs a page; says how many commands and how many outputs it has.
fn run_page(page: &Path) -> (usize, usize) {
    let text = std::fs::read_to_string(page).unwrap();
    let name = page.file_stem().unwrap().to_string_lossy().into_owned();
    let folder = std::env::temp_dir().join(format!("austerity-page-{name}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("docs/figures")).unwrap();
    let mut running = Page { name, folder: &folder, printed: String::new(), run: 0, compared: 0 };
    blocks(&text).iter().for_each(|block| running.block(block));
    let (run, compared) = (running.run, running.compared);
    // Pictures that a page shows are drawn by its commands.
    for shown in text.split("](figures/").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(
            folder.join("docs/figures").join(shown).exists(),
            "{}: no command draws {shown}",
            page.display()
        );
    }
    std::fs::remove_dir_all(folder).unwrap();
    (run, compared)
}

/// All pages: README, CONTRIBUTING and those below docs/.
fn pages() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut found, mut folders) =
        (vec![root.join("README.md"), root.join("CONTRIBUTING.md")], vec![root.join("docs")]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                // The published reproduction is what a run has written.
                if !path.ends_with("docs/reproduction") {
                    folders.push(path);
                }
            // The reference is made from the parser when the site is built.
            } else if path.extension().is_some_and(|extension| extension == "md")
                && !path.ends_with("reference/command-line.md")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    // For whoever works on one page: AUSTERITY_PAGES=tables,trust.
    if let Ok(only) = std::env::var("AUSTERITY_PAGES") {
        found.retain(|page| only.split(',').any(|name| page.file_stem().is_some_and(|stem| stem == name)));
    }
    found
}

#[test]
fn documented_commands_work_and_print_what_is_shown() {
    let (mut run, mut compared) = (0, 0);
    for page in pages() {
        let begun = std::time::Instant::now();
        let (own_run, own_compared) = run_page(&page);
        println!(
            "{}: {own_run} commands, {own_compared} outputs, {:.1} s",
            page.display(),
            begun.elapsed().as_secs_f64()
        );
        run += own_run;
        compared += own_compared;
    }
    assert!(
        std::env::var_os("AUSTERITY_PAGES").is_some() || run >= 40 && compared >= 4,
        "only {run} commands and {compared} outputs found: is the reader of the pages broken?"
    );
}

#[test]
fn every_page_is_in_the_contents_of_the_site() {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages: Vec<PathBuf> = pages().into_iter().filter(|page| page.starts_with(&docs)).collect();
    let mut listed = vec![docs.join("index.md")];
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap();
        let contents = blocks(&text).into_iter().filter(|block| block.language == "{toctree}");
        let entries = contents.flat_map(|block| block.lines).filter(|line| !line.starts_with(':'));
        listed.extend(entries.map(|entry| page.with_file_name(format!("{entry}.md"))));
    }
    for page in pages {
        assert!(
            listed.contains(&page),
            "{}: name it in the toctree of a page such as docs/guides.md, or no reader of the site finds it",
            page.display()
        );
    }
}

#[test]
fn only_calls_inside_shell_blocks_count() {
    let page = "austerity no\n```sh\nausterity analyze --n 5   # why\ncargo x\n```\n\n<!-- not run: no -->\n```text\nausterity no\n```";
    let found = blocks(page);
    assert_eq!(found.len(), 2);
    let calls: Vec<_> = found[0].lines.iter().filter_map(|line| call(line)).collect();
    assert_eq!(calls, [(vec!["analyze", "--n", "5"], 0)]);
    assert_eq!((found[1].language, found[1].note), ("text", "not run: no"));
    assert_eq!(call("austerity fit d   # exits 1: few draws").unwrap().1, 1);
    assert_eq!(words("fit d --formula \"y ~ x\" --out r"), ["fit", "d", "--formula", "y ~ x", "--out", "r"]);
}

#[test]
fn outputs_are_compared_without_digits() {
    let printed = "Run: run\n intercept  -0.0004   1.3e-5\n x1   0.01\n────────\n• Trusted: it took 0.3 s, 12,345 rows.\n";
    for shown in [
        "Run: run\n intercept 7 2\n",
        "intercept -0.1 4e-7\n…\n• Trusted: it took 20 ms, 7 rows.",
        "x1 #\n──\n•",
        "… it took …",
    ] {
        assert_eq!(compare(shown, printed), Ok(()), "{shown}");
    }
    for wrong in ["Run: walk", "x2 0.01", "rows.\n…\nintercept", "Trusted: it takes"] {
        assert!(compare(wrong, printed).is_err(), "{wrong}");
    }
}
