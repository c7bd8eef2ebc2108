//! What we write opens in xarray and ArviZ, in the middle of a run too, with every number and no warning.
//!
//! Needs a Python with arviz, xarray and zarr: the variable AUSTERITY_PYTHON (several separated by `:`), or `python3`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use crate::common::Folder;
use crate::common::draws::{decision, layout, value, values};
use austerity_io::run::{DrawsWriter, Layout, Source, StatisticField};
use serde_json::{Value, json};

/// The Pythons that have what is needed.
fn pythons() -> Vec<String> {
    let named = std::env::var("AUSTERITY_PYTHON").unwrap_or_else(|_| "python3".into());
    let usable = |python: &&str| {
        let imported = Command::new(python).args(["-c", "import arviz, xarray, zarr"]).output();
        let works = imported.is_ok_and(|output| output.status.success());
        if !works {
            println!(
                "skipped: `{python}` has no arviz, xarray and zarr (AUSTERITY_PYTHON names one that has)"
            );
        }
        works
    };
    named.split(':').filter(usable).map(String::from).collect()
}

/// What a reader must find after so many draws of every chain.
fn expected(layout: &Layout, draws: usize) -> Value {
    let chains = 0..layout.chains as usize;
    let features = layout.coefficients;
    let column = |one: &dyn Fn(usize, usize) -> f64| -> Value {
        let finite = |number: f64| if number.is_nan() { Value::Null } else { json!(number) };
        chains
            .clone()
            .map(|chain| (0..draws).map(|draw| finite(one(chain, draw))).collect::<Value>())
            .collect()
    };
    let coefficients: Value = chains
        .clone()
        .map(|chain| {
            (0..draws)
                .map(|draw| (0..features).map(|j| json!(value(chain, draw, j))).collect::<Value>())
                .collect::<Value>()
        })
        .collect();
    let statistics: serde_json::Map<String, Value> = StatisticField::standard()
        .into_iter()
        .map(|field| {
            let Source::Decision(of) = field.source else { panic!("{field:?}") };
            (field.name, column(&|chain, draw| of(&decision(chain, draw))))
        })
        .collect();
    json!({
        "draws": draws,
        "chains": chains.clone().map(|chain| chain + layout.first_chain as usize).collect::<Vec<_>>(),
        "features": &layout.names[..features],
        "coefficients": coefficients,
        "sigma": column(&|chain, draw| value(chain, draw, features)),
        "statistics": statistics,
    })
}

fn opens(python: &str, store: &Path, expected: &Value) {
    let file = store.with_extension("json");
    std::fs::write(&file, expected.to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/open_draws.py");
    let output = Command::new(python).arg(script).args([store, &file]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{python}:\n{}\n{}", text(&output.stdout), text(&output.stderr));
    print!("{}", text(&output.stdout));
}

fn append(writer: &mut DrawsWriter, layout: &Layout, chain: usize, draws: Range<usize>) {
    let decisions: Vec<_> = draws.clone().map(|draw| decision(chain, draw)).collect();
    writer.append(chain, &values(layout, chain, draws), &decisions).unwrap();
}

#[test]
fn xarray_and_arviz_open_a_run_at_every_stage() {
    for (version, python) in pythons().iter().enumerate() {
        let folder = Folder::new(&format!("arviz-{version}"));
        // One block of coefficients, and several with padding; chunks of 1024 and of 32 draws.
        for features in [3, 301] {
            let mut layout = layout(features, 2);
            layout.names[0] = "intercept".into();
            layout.names[1] = "größe [cm], \"roh\"".into();
            let store = folder.path(&format!("{features}.zarr"));
            let mut writer = DrawsWriter::create(&store, &layout).unwrap();
            if features == 3 {
                opens(python, &store, &expected(&layout, 0));
            }
            append(&mut writer, &layout, 0, 0..50);
            append(&mut writer, &layout, 1, 0..33);
            writer.flush().unwrap();
            opens(python, &store, &expected(&layout, 33));
            append(&mut writer, &layout, 1, 33..64);
            append(&mut writer, &layout, 0, 50..64);
            writer.finish().unwrap();
            opens(python, &store, &expected(&layout, 64));
        }
    }
}
