//! The project's text files as the checks see them: path from the root, and contents.

use crate::command;
use std::path::Path;
use std::process::Command;

/// One text file; the path is relative to the root and written with `/`.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The files that the checks read: Rust sources, manifests and Markdown.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

impl Tree {
    /// Reads what git tracks or would track; without git, everything but build output.
    pub(crate) fn load(root: &Path) -> Result<Self, String> {
        let mut listing = Command::new("git");
        listing.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
        let mut paths = match command::output(&mut listing) {
            Ok(list) => list.split('\0').map(str::to_owned).collect(),
            Err(_) => {
                let mut found = Vec::new();
                walk(root, "", &mut found)?;
                found
            }
        };
        paths.retain(|path| is_checked(path) && root.join(path).is_file());
        paths.sort();
        paths.dedup();
        if paths.is_empty() {
            return Err(format!("no sources found under {}", root.display()));
        }
        let read = |path: String| match std::fs::read_to_string(root.join(&path)) {
            Ok(text) => Ok(File { path, text }),
            Err(error) => Err(format!("{path}: cannot be read: {error}")),
        };
        Ok(Self { files: paths.into_iter().map(read).collect::<Result<_, _>>()? })
    }

    /// The file at exactly this path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Rust files under `crates/<any>/src`, or under one crate's.
    pub(crate) fn sources<'a>(&'a self, package: Option<&'a str>) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| {
            let mut parts = file.path.split('/');
            parts.next() == Some("crates")
                && parts.next().is_some_and(|found| package.is_none_or(|wanted| wanted == found))
                && parts.next() == Some("src")
                && file.path.ends_with(".rs")
        })
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| File { path: path.to_owned(), text: text.to_owned() };
        Self { files: files.iter().map(file).collect() }
    }
}

fn is_checked(path: &str) -> bool {
    [".rs", ".toml", ".md"].iter().any(|ending| path.ends_with(ending))
}

fn walk(root: &Path, folder: &str, found: &mut Vec<String>) -> Result<(), String> {
    let complain = |error: std::io::Error| format!("{folder}: cannot be listed: {error}");
    for entry in std::fs::read_dir(root.join(folder)).map_err(complain)? {
        let entry = entry.map_err(complain)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().map_err(complain)?;
        if kind.is_dir() && name != "target" && name != ".git" {
            walk(root, &path, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_those_of_the_crates() {
        let tree = Tree::of(&[
            ("crates/austerity/src/rule/exact.rs", ""),
            ("crates/austerity/tests/laws.rs", ""),
            ("crates/austerity-cli/src/main.rs", ""),
            ("crates/austerity/src/notes.md", ""),
        ]);
        let paths = |package| tree.sources(package).map(|file| file.path.as_str()).collect::<Vec<_>>();
        assert_eq!(paths(Some("austerity")), ["crates/austerity/src/rule/exact.rs"]);
        assert_eq!(paths(None).len(), 2);
    }

    #[test]
    fn git_and_a_plain_walk_both_find_this_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(Tree::load(root).unwrap().file("src/tree.rs").is_some());
        let mut found = Vec::new();
        walk(root, "", &mut found).unwrap();
        assert!(found.iter().any(|path| path == "src/tree.rs"), "{found:?}");
    }
}
