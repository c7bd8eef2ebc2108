//! The minimum Rust version: stated once, inherited by every crate, met by the compiler at hand.
//!
//! Whether the code keeps to it is the business of clippy's `incompatible_msrv`, part of the lints step.

use crate::steps::Outcome;
use crate::tree::Tree;

/// Major, minor and patch number; what is not given counts as 0.
type Version = [u32; 3];

/// Checks the manifests, and `rustc` (the output of `rustc --version`) against what they ask for.
pub(crate) fn minimum_rust(tree: &Tree, rustc: &str) -> Outcome {
    let mut complaints = Vec::new();
    let mut packages = 0;
    for file in tree.files.iter().filter(|file| file.path.rsplit('/').next() == Some("Cargo.toml")) {
        if !file.text.lines().any(|line| line.trim() == "[package]") {
            continue;
        }
        packages += 1;
        let inherits = value(&file.text, "package", "rust-version.workspace") == Some("true")
            || value(&file.text, "package", "rust-version")
                .is_some_and(|given| given.replace(' ', "") == "{workspace=true}");
        if !inherits {
            complaints.push(format!("{}: [package] lacks `rust-version.workspace = true`", file.path));
        }
    }
    let root = tree.file("Cargo.toml").map_or("", |file| file.text.as_str());
    let wanted = value(root, "workspace.package", "rust-version").map(|text| text.trim_matches('"'));
    let given = rustc.split_whitespace().nth(1).unwrap_or("");
    match (wanted.and_then(version), version(given)) {
        (None, _) => complaints.push("Cargo.toml: [workspace.package] states no `rust-version`".into()),
        (_, None) => complaints.push(format!("`rustc --version` was not understood: {}", rustc.trim())),
        (Some(minimum), Some(found)) if found < minimum => {
            complaints.push(format!("rustc {given} is older than the minimum {}", wanted.unwrap_or("")));
        }
        _ => {}
    }
    let met =
        format!("rustc {given} meets the minimum {}, inherited by {packages} crates", wanted.unwrap_or(""));
    Outcome::of(complaints, vec![met])
}

/// The value of `key` in `[table]`, as written, without a trailing comment.
fn value<'a>(manifest: &'a str, table: &str, key: &str) -> Option<&'a str> {
    let mut current = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            current = header.split(']').next().unwrap_or("");
        } else if let Some((name, given)) = line.split_once('=')
            && current == table
            && name.trim() == key
        {
            return given.split('#').next().map(str::trim);
        }
    }
    None
}

/// Reads `1.89`, `1.89.0` or `1.95.0-nightly`.
fn version(text: &str) -> Option<Version> {
    let mut numbers = text.split(['-', '+']).next()?.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    let patch = numbers.next().map_or(Ok(0), str::parse).ok()?;
    numbers.next().is_none().then_some([major, minor, patch])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace]\n[workspace.package]\nrust-version = \"1.89\" # edition 2024\n";
    const MEMBER: &str = "[package]\nname = \"a\"\nrust-version.workspace = true\n";

    fn judge(root: &str, member: &str, rustc: &str) -> Outcome {
        minimum_rust(&Tree::of(&[("Cargo.toml", root), ("crates/a/Cargo.toml", member)]), rustc)
    }

    #[test]
    fn a_compiler_new_enough_passes_with_a_clear_line() {
        for rustc in ["rustc 1.89.0 (29483883e 2025-08-04)\n", "rustc 1.100.0-nightly (abc)", "rustc 2.0.0"] {
            match judge(ROOT, MEMBER, rustc) {
                Outcome::Passed(lines) => assert!(lines[0].contains("meets the minimum 1.89"), "{lines:?}"),
                other => panic!("{rustc}: {other:?}"),
            }
        }
    }

    #[test]
    fn old_or_unreadable_compilers_fail() {
        for rustc in ["rustc 1.88.0 (x)", "rustc 1.9.0", "", "rustc unknown"] {
            assert!(matches!(judge(ROOT, MEMBER, rustc), Outcome::Failed(_)), "{rustc}");
        }
    }

    #[test]
    fn every_crate_inherits() {
        let other_form = "[package]\nrust-version = { workspace = true }\n";
        assert!(matches!(judge(ROOT, other_form, "rustc 1.90.0"), Outcome::Passed(_)));
        let wrong = [
            "[package]\nname = \"a\"\n",
            "[package]\nrust-version = \"1.89\"\n",
            "[package]\n[features]\nrust-version.workspace = true\n",
        ];
        for member in wrong {
            assert!(matches!(judge(ROOT, member, "rustc 1.90.0"), Outcome::Failed(_)), "{member}");
        }
        assert!(matches!(judge("[workspace]\n", MEMBER, "rustc 1.90.0"), Outcome::Failed(_)));
    }
}
