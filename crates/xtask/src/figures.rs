//! The pictures of the pages: each page names the commands that draw its pictures, and this runs them.

use std::path::Path;

use crate::command;

/// Draws every picture that a page of `docs/` asks for.
pub(crate) fn draw(root: &Path) -> Result<(), String> {
    let folder = root.join("docs");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut pages: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    pages.sort();
    let mut count = 0;
    for page in pages.iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let text = std::fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
        for arguments in commands(&text) {
            println!("austerity {}", arguments.join(" "));
            let mut whole = vec!["run", "--release", "--quiet", "--"];
            whole.extend(&arguments);
            command::run(&mut command::cargo(root, &whole))?;
            count += 1;
        }
    }
    println!("{count} pictures drawn");
    Ok(())
}

/// The arguments of the lines of a page that call the program to draw into `docs/figures`.
pub(crate) fn commands(page: &str) -> Vec<Vec<&str>> {
    page.lines()
        .filter(|line| line.contains("--plot docs/figures/"))
        .filter_map(|line| line.trim().strip_prefix("austerity "))
        .map(|rest| rest.split_whitespace().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_commands_that_draw_into_the_folder() {
        let page = "text\n```sh\nausterity analyze --n 5 --plot docs/figures/a.svg\nausterity demo\n```\n![x](figures/a.svg)";
        assert_eq!(super::commands(page), [["analyze", "--n", "5", "--plot", "docs/figures/a.svg"]]);
    }
}
