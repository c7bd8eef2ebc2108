//! Which files a name stands for: one file, a folder, a pattern, or a list of these.
//!
//! | given | stands for |
//! |---|---|
//! | a file | itself, whatever letters its name has |
//! | a folder | every file below it whose name begins with neither `.` nor `_` |
//! | a pattern | every file that matches: `*` and `?` within a name, `[a-c]` one letter, `**` any folders |
//! | a list | the files of each, one after the other |
//!
//! Files of a folder or a pattern come in the order of their paths, compared name by name as bytes (`part-10` before `part-2`), which is the
//! order of their rows. Folders called `key=value` below the folder, below the fixed beginning of the pattern, or below the folder that all
//! files of a list share, say the value of a column for all rows below them (*hive partitions*); `%XX` stands for a byte.
//!
//! A file that comes twice is refused: its rows would count twice. Cost: one directory listing per folder.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};

/// Files of one table at most: every one is opened before a row is read.
const MOST_FILES: usize = 100_000;

/// A file, and what the folders it is in say of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::table) struct Found {
    pub(in crate::table) path: PathBuf,
    /// Columns and their values, in the order of the folders.
    pub(in crate::table) partitions: Vec<(String, String)>,
}

/// The files that the names stand for. One plain file has no partitions.
pub(in crate::table) fn find(names: &[PathBuf]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let mut plain: Vec<usize> = Vec::new();
    for name in names {
        if name.is_dir() {
            let mut files = Vec::new();
            walk(name, &mut files)?;
            add(name, name, files, &mut found)?;
        } else if name.exists() || !is_pattern(name) {
            plain.push(found.len());
            found.push(Found { path: name.clone(), partitions: Vec::new() });
        } else {
            let (root, rest) = split(name);
            let mut files = Vec::new();
            expand(&root, &rest, &mut files)?;
            add(name, &root, files, &mut found)?;
        }
    }
    if found.len() > 1 && !plain.is_empty() {
        let root = shared_folder(found.iter().map(|one| one.path.as_path()));
        plain.iter().for_each(|&at| found[at].partitions = partitions(&root, &found[at].path));
    }
    refuse_repeats(&found)?;
    Ok(found)
}

/// Adds the files that a folder or a pattern stands for.
fn add(name: &Path, root: &Path, files: Vec<PathBuf>, found: &mut Vec<Found>) -> Result<()> {
    if files.is_empty() {
        let what =
            if name.is_dir() { "is a folder without a file that can be read" } else { "matches no file" };
        let remedy = "give tables, or a store made by `austerity convert`; names that begin with `.` or `_` do not count";
        return Err(Error::format(name, what, remedy));
    }
    if found.len() + files.len() > MOST_FILES {
        let problem = format!("stands for {} files", found.len() + files.len());
        return Err(Error::format(name, problem, format!("give at most {MOST_FILES} at a time")));
    }
    found.extend(files.into_iter().map(|path| Found { partitions: partitions(root, &path), path }));
    Ok(())
}

/// The same file under two names, or named twice.
fn refuse_repeats(found: &[Found]) -> Result<()> {
    let mut known: HashMap<PathBuf, &Path> = HashMap::new();
    for one in found {
        let Ok(real) = one.path.canonicalize() else { continue };
        if let Some(first) = known.insert(real, &one.path) {
            let problem = if first == one.path {
                "is listed twice".to_owned()
            } else {
                format!("is the same file as `{}`", first.display())
            };
            return Err(Error::format(&one.path, problem, "name it once, or its rows would count twice"));
        }
    }
    Ok(())
}

/// The names in a folder, sorted; those that begin with `.` or `_` are bookkeeping of other programs.
fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let entry = entry.map_err(Error::io("read", folder))?;
        let name = entry.file_name();
        if !matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_')) {
            names.push(name);
        }
    }
    names.sort_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    let joined = |name| if folder == Path::new("") { PathBuf::from(name) } else { folder.join(name) };
    Ok(names.into_iter().map(joined).collect())
}

/// All files below a folder.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in listed(folder)? {
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
        if files.len() > MOST_FILES {
            break;
        }
    }
    Ok(())
}

/// Whether a name has letters that stand for others.
fn is_pattern(name: &Path) -> bool {
    name.to_string_lossy().contains(['*', '?', '['])
}

/// The folder before the first pattern, and the names after it.
fn split(name: &Path) -> (PathBuf, Vec<String>) {
    let (mut root, mut rest) = (PathBuf::new(), Vec::new());
    for component in name.components() {
        let text = component.as_os_str().to_string_lossy();
        let plain = !matches!(component, Component::Normal(_)) || !text.contains(['*', '?', '[']);
        if rest.is_empty() && plain {
            root.push(component);
        } else {
            rest.push(text.into_owned());
        }
    }
    (root, rest)
}

/// The files below a folder whose names match, one pattern for each.
fn expand(folder: &Path, patterns: &[String], files: &mut Vec<PathBuf>) -> Result<()> {
    let Some((pattern, rest)) = patterns.split_first() else { return Ok(()) };
    let here = if folder == Path::new("") { Path::new(".") } else { folder };
    if !here.is_dir() {
        return Ok(());
    }
    if pattern == "**" && rest.is_empty() {
        return walk(here, files);
    }
    if pattern == "**" {
        // No folder at all, then any.
        expand(folder, rest, files)?;
        for path in names_in(folder)?.into_iter().filter(|path| path.is_dir()) {
            expand(&path, patterns, files)?;
        }
        return Ok(());
    }
    for path in names_in(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !matches(pattern.as_bytes(), name.as_bytes()) {
            continue;
        }
        if rest.is_empty() {
            if path.is_dir() { walk(&path, files)? } else { files.push(path) }
        } else {
            expand(&path, rest, files)?;
        }
    }
    Ok(())
}

/// As [`listed`]; the working directory has no name.
fn names_in(folder: &Path) -> Result<Vec<PathBuf>> {
    if folder != Path::new("") {
        return listed(folder);
    }
    let stripped = |path: PathBuf| path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
    Ok(listed(Path::new("."))?.into_iter().map(stripped).collect())
}

/// Whether a name matches a pattern: `*` any letters, `?` one, `[ab]` or `[a-z]` one of these, `[!ab]` any other.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let Some((&letter, rest)) = pattern.split_first() else { return name.is_empty() };
    match letter {
        b'*' => (0..=name.len()).any(|taken| matches(rest, &name[taken..])),
        b'?' => {
            // One letter, however many bytes it has.
            let bytes = 1 + name.iter().skip(1).take_while(|&&byte| byte & 0xc0 == 0x80).count();
            !name.is_empty() && matches(rest, &name[bytes..])
        }
        b'[' => match one_of(rest) {
            Some((holds, rest)) => name.first().is_some_and(|&byte| holds(byte)) && matches(rest, &name[1..]),
            None => name.first() == Some(&letter) && matches(rest, &name[1..]),
        },
        _ => name.first() == Some(&letter) && matches(rest, &name[1..]),
    }
}

/// What stands between brackets, and the pattern after them.
fn one_of(pattern: &[u8]) -> Option<(impl Fn(u8) -> bool, &[u8])> {
    let other = pattern.first() == Some(&b'!');
    let start = usize::from(other);
    // The first letter may be a bracket itself.
    let end = start + 1 + pattern.get(start + 1..)?.iter().position(|&byte| byte == b']')?;
    let set = pattern[start..end].to_vec();
    let holds = move |byte: u8| {
        let mut at = 0;
        let mut found = false;
        while at < set.len() {
            if at + 2 < set.len() && set[at + 1] == b'-' {
                found |= (set[at]..=set[at + 2]).contains(&byte);
                at += 3;
            } else {
                found |= set[at] == byte;
                at += 1;
            }
        }
        found != other
    };
    Some((holds, &pattern[end + 1..]))
}

/// The folder that all files are in.
fn shared_folder<'a>(mut paths: impl Iterator<Item = &'a Path>) -> PathBuf {
    let folder = |path: &'a Path| path.parent().unwrap_or(path);
    let Some(first) = paths.next() else { return PathBuf::new() };
    let mut shared: Vec<Component<'_>> = folder(first).components().collect();
    for path in paths {
        let same = shared.iter().zip(folder(path).components()).take_while(|(a, b)| **a == *b).count();
        shared.truncate(same);
    }
    shared.into_iter().collect()
}

/// What the folders between `root` and a file say.
fn partitions(root: &Path, path: &Path) -> Vec<(String, String)> {
    let below = path.strip_prefix(root).unwrap_or(path).parent().unwrap_or_else(|| Path::new(""));
    let pair = |component: Component<'_>| {
        let text = component.as_os_str().to_str()?;
        let (key, value) = text.split_once('=')?;
        (!key.is_empty()).then(|| (decoded(key), decoded(value)))
    };
    below.components().filter_map(pair).collect()
}

/// A text in which `%XX` stands for a byte, where that gives UTF-8.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((16 * high + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns() {
        for (pattern, name, fits) in [
            ("*.parquet", "a.parquet", true),
            ("*.parquet", "a.parquet.crc", false),
            ("part-?.csv", "part-1.csv", true),
            ("part-?.csv", "part-10.csv", false),
            ("?.csv", "é.csv", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[a", "[a", true),
            ("*a*b*", "xaybz", true),
            ("*a*b*", "xbya", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn folders_name_columns_below_the_root() {
        let pairs = |root: &str, path: &str| partitions(Path::new(root), Path::new(path));
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(pairs("d", "d/year=2020/m=1/x.csv"), [pair("year", "2020"), pair("m", "1")]);
        assert_eq!(pairs("d/year=2020", "d/year=2020/m=1/a=b.csv"), [pair("m", "1")]);
        assert_eq!(pairs("d", "d/city=New%20York/x.csv"), [pair("city", "New York")]);
        assert_eq!(pairs("d", "d/=1/b=/x.csv"), [pair("b", "")]);
        assert_eq!((decoded("100%"), decoded("%zz")), ("100%".into(), "%zz".into()));
    }

    #[test]
    fn the_fixed_beginning_of_a_pattern_is_its_root() {
        let parts = |name: &str| split(Path::new(name));
        assert_eq!(parts("a/b/*.csv"), (PathBuf::from("a/b"), vec!["*.csv".to_owned()]));
        assert_eq!(parts("*/x.csv"), (PathBuf::new(), vec!["*".to_owned(), "x.csv".to_owned()]));
        assert_eq!(parts("/d/**/x?.csv"), (PathBuf::from("/d"), vec!["**".to_owned(), "x?.csv".to_owned()]));
        let shared = |paths: &[&str]| shared_folder(paths.iter().map(Path::new));
        assert_eq!(shared(&["d/a=1/x", "d/a=2/x"]), Path::new("d"));
        assert_eq!(shared(&["x", "d/y"]), Path::new(""));
    }
}
