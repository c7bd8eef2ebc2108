//! The folder of an experiment, and the index of several.
//!
//! ```text
//! DIR/index.html                 an index of all experiments in DIR; claims.md is the same as a table
//! DIR/NAME/figures/*.svg         whole figures, and each panel of one with several as *_a.svg, *_b.svg, …
//! DIR/NAME/tables/*.csv
//! DIR/NAME/result.json           settings, numbers, every claim with its verdict
//! DIR/NAME/index.html            figure, claim and verdict side by side; needs no other file
//! ```

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::outcome::{Cell, Outcome, Table};
use crate::page;

/// What an experiment has taken since it was last started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    /// Seconds on the wall.
    pub seconds: f64,
    /// Seconds of all processors.
    pub cpu_seconds: f64,
}

/// Writes what `name` found under `context` to `folder/NAME`.
pub fn write(folder: &Path, name: &str, outcome: &Outcome, context: &Context, spent: Spent) -> Result<()> {
    let home = folder.join(name);
    let (figures, tables) = (home.join("figures"), home.join("tables"));
    for part in [&figures, &tables] {
        fs::create_dir_all(part).map_err(Error::file(part))?;
    }
    for (file, figure) in outcome.sections.iter().filter_map(|section| section.figure.as_ref()) {
        put(&figures.join(format!("{file}.svg")), &figure.svg())?;
        if figure.panels.len() > 1 {
            for (panel, letter) in figure.panels().zip('a'..='z') {
                put(&figures.join(format!("{file}_{letter}.svg")), &panel)?;
            }
        }
    }
    for table in &outcome.tables {
        put(&tables.join(format!("{}.csv", table.name)), &csv(table))?;
    }
    put(&home.join("index.html"), &page::experiment(outcome, context.extent(), spent))?;
    let result = json!({
        "experiment": name,
        "title": outcome.title,
        "about": outcome.about,
        "version": env!("CARGO_PKG_VERSION"),
        "size": context.size,
        "share": context.extent().share,
        "seed": context.seed,
        "threads": context.threads,
        "seconds": spent.seconds,
        "cpu_seconds": spent.cpu_seconds,
        "settings": outcome.settings,
        "numbers": outcome.numbers,
        "checks": outcome.checks().collect::<Vec<_>>(),
    });
    let path = home.join("result.json");
    let text = serde_json::to_string_pretty(&result)
        .map_err(|error| Error::File { path: path.clone(), source: error.into() })?;
    put(&path, &text)
}

/// Writes `folder/index.html` about every experiment in `folder` that has a result, and gives these results.
pub fn index(folder: &Path) -> Result<Vec<Value>> {
    let known = crate::EXPERIMENTS.iter().map(|experiment| folder.join(experiment.name).join("result.json"));
    let results: Vec<Value> = known
        .filter_map(|path| fs::read(path).ok())
        .filter_map(|bytes| serde_json::from_slice(&bytes).ok())
        .collect();
    put(&folder.join("index.html"), &page::index(&results))?;
    put(&folder.join("claims.md"), &page::markdown(&results))?;
    Ok(results)
}

fn put(path: &Path, text: &str) -> Result<()> {
    Ok(austerity_io::run::write_file(path, text.as_bytes())?)
}

fn csv(table: &Table) -> String {
    let quoted = |text: &str| {
        if text.contains([',', '"', '\n']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let mut lines = vec![table.columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",")];
    lines.extend(table.rows.iter().map(|row| {
        let cell = |cell: &Cell| match cell {
            Cell::Number(value) if value.is_finite() => value.to_string(),
            Cell::Number(_) => String::new(),
            Cell::Text(text) => quoted(text),
        };
        row.iter().map(cell).collect::<Vec<_>>().join(",")
    }));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::tests::PLAIN;
    use crate::claim::{Claim, Estimate};
    use crate::context::{Size, Stage};
    use crate::outcome::{Check, Section};
    use austerity_plot::{Axis, Curve, Figure, Panel, Scale};

    #[test]
    fn a_folder_holds_all_that_was_found() {
        let folder = std::env::temp_dir().join(format!("austerity-write-{}", std::process::id()));
        let observer = |_: &Stage| {};
        let context = Context::new(Size::Quick, 1, &folder, &observer).threads(1);
        let curve = Curve { label: "a".into(), points: vec![(0.0, 1.0), (1.0, 2.0)] };
        let axes = || Axis::new("x", Scale::Linear);
        let figure =
            Figure { title: "F".into(), panels: vec![Panel::new("p", axes(), axes()).curves(vec![curve])] };
        let mut table = Table::new("t", &["a", "b, c"]);
        table.push(vec![0.1.into(), "x \"y\"".into()]);
        table.push(vec![f64::NAN.into(), "z".into()]);
        let claim = Claim { says: "claim & more", ..PLAIN };
        let outcome = Outcome {
            title: "A <title>".into(),
            about: vec!["About.".into()],
            settings: json!({"steps": 3}),
            numbers: json!({"ratio": 1.5}),
            sections: vec![Section {
                title: "S".into(),
                figure: Some(("f".into(), figure)),
                caption: "C".into(),
                checks: vec![Check::of(&claim, vec![Estimate::exact("", 1.5)]).remark("r")],
            }],
            tables: vec![table],
        };
        write(&folder, "demo", &outcome, &context, Spent { seconds: 1.0, cpu_seconds: 2.0 }).unwrap();
        let read = |file: &str| fs::read_to_string(folder.join("demo").join(file)).unwrap();
        assert!(read("figures/f.svg").starts_with("<svg"));
        assert_eq!(read("tables/t.csv"), "a,\"b, c\"\n0.1,\"x \"\"y\"\"\"\n,z\n");
        let result: Value = serde_json::from_str(&read("result.json")).unwrap();
        assert_eq!(result["checks"][0]["verdict"], "holds");
        let page = read("index.html");
        for part in ["A &lt;title&gt;", "claim &amp; more", "<svg", "above 1", "holds"] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert!(
            !page.contains("http://") || page.matches("http://").count() == page.matches("w3.org").count()
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
