//! The pictures of the pages: each page names the commands that draw its pictures, and this runs them.

use std::path::Path;
use std::process::Command;

use crate::command;
use crate::suite::target;

/// Draws every picture that a page of `docs/` asks for: all commands of the page run in a folder of its own, since a picture may be of a run that the
/// page makes.
pub(crate) fn draw(root: &Path) -> Result<(), String> {
    let folder = root.join("docs");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut pages: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    pages.sort();
    command::run(&mut command::cargo(root, &["build", "--release", "-p", "austerity-cli"]))?;
    let program = target(root).join("release").join(format!("austerity{}", std::env::consts::EXE_SUFFIX));
    let mut count = 0;
    for page in pages.iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let wrong = |error: std::io::Error| format!("{}: {error}", page.display());
        let text = std::fs::read_to_string(page).map_err(wrong)?;
        if !text.contains("--plot docs/figures/") {
            continue;
        }
        let place = root.join("target/figures").join(page.file_stem().unwrap_or_default());
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(place.join("docs/figures")).map_err(wrong)?;
        for arguments in commands(&text) {
            println!("austerity {}", arguments.join(" "));
            // 1 means: done, and not to be trusted yet; 2 may be what the page shows.
            let status = Command::new(&program).args(&arguments).current_dir(&place).status();
            status.map_err(wrong)?;
        }
        for drawn in std::fs::read_dir(place.join("docs/figures")).map_err(wrong)?.flatten() {
            std::fs::copy(drawn.path(), folder.join("figures").join(drawn.file_name())).map_err(wrong)?;
            count += 1;
        }
    }
    println!("{count} pictures drawn");
    Ok(())
}

/// The arguments of the lines of a page's `sh` blocks that call the program; what stands in double quotes is one word.
pub(crate) fn commands(page: &str) -> Vec<Vec<String>> {
    let (mut found, mut shell) = (Vec::new(), false);
    for line in page.lines() {
        if line.starts_with("```") {
            shell = line == "```sh";
        } else if let (true, Some(rest)) = (shell, line.strip_prefix("austerity ")) {
            let call = rest.split(" #").next().unwrap_or(rest);
            let words = call.split('"').enumerate().flat_map(|(number, part)| match number % 2 {
                0 => part.split_whitespace().map(Into::into).collect::<Vec<String>>(),
                _ => vec![part.into()],
            });
            found.push(words.collect());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_calls_of_shell_blocks_with_their_quotes() {
        let page = "text\n```sh\nausterity hypothesis run \"x1 > 0\"   # why\nmkdir a\n```\n```text\nausterity no\n```";
        assert_eq!(super::commands(page), [["hypothesis", "run", "x1 > 0"]]);
    }
}
