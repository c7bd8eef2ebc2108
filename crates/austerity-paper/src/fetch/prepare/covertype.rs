//! Covertype as UCI serves it: a row in a line, 55 whole numbers between commas. Values and order stay as they are; columns get
//! their published names. Read in batches: memory does not depend on the rows.

use std::io::{BufRead, BufReader};
use std::path::Path;

use austerity_io::write::{Field, TableWriter};

use super::{Made, Prepared, wrong};
use crate::fetch::content;
use crate::fetch::error::{Error, Result};

const NAME: &str = "covtype.data";
const FILE: &str = "covtype.parquet";
/// Measurements, before the indicators.
const MEASURES: [&str; 10] = [
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
];
const AREAS: usize = 4;
const SOILS: usize = 40;
const COLUMNS: usize = MEASURES.len() + AREAS + SOILS + 1;
/// Rows that are written at a time.
const BATCH: usize = 1 << 15;

fn names() -> Vec<String> {
    let mut names: Vec<String> = MEASURES.iter().map(|&name| name.into()).collect();
    names.extend((1..=AREAS).map(|j| format!("Wilderness_Area{j}")));
    names.extend((1..=SOILS).map(|j| format!("Soil_Type{j}")));
    names.push("Cover_Type".into());
    names
}

pub(super) fn prepare(path: &Path, out: &Path) -> Result<Prepared> {
    let damaged = |error: std::io::Error| Error::damaged(path, format!("cannot be read: {error}"));
    let mut reader = BufReader::with_capacity(1 << 16, content::open(path, NAME)?);
    let mut writer = TableWriter::create(out.join(FILE), names().into_iter().map(Field::integer).collect())?;
    let mut batch: Vec<Vec<f64>> = vec![Vec::new(); COLUMNS];
    let mut row = Vec::with_capacity(COLUMNS);
    let mut text = String::new();
    let (mut number, mut rows) = (0, 0);
    let mut classes = [0usize; 7];
    loop {
        text.clear();
        let last = reader.read_line(&mut text).map_err(damaged)? == 0;
        number += 1;
        if !text.trim().is_empty() {
            parse(text.trim(), number, &mut row)?;
            classes[row[COLUMNS - 1] as usize - 1] += 1;
            batch.iter_mut().zip(&row).for_each(|(column, &value)| column.push(f64::from(value)));
            rows += 1;
        }
        if last || batch[0].len() == BATCH {
            writer.write(&batch.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
            batch.iter_mut().for_each(Vec::clear);
        }
        if last {
            break;
        }
    }
    if rows == 0 {
        return Err(wrong(NAME, None, "no row is there"));
    }
    writer.finish()?;
    let counts: Vec<String> = classes.iter().map(ToString::to_string).collect();
    let remark = format!("rows of the seven classes: {}; the order is not random", counts.join(", "));
    Ok(Prepared { tables: vec![Made { name: FILE.into(), rows, columns: COLUMNS }], remarks: vec![remark] })
}

/// One line: measurements, one area, one soil, a class.
fn parse(line: &str, number: usize, row: &mut Vec<i32>) -> Result<()> {
    let wrong = |problem: String| wrong(NAME, Some(number), problem);
    row.clear();
    for cell in line.split(',') {
        row.push(cell.trim().parse().map_err(|_| wrong(format!("`{cell}` is no whole number")))?);
    }
    if row.len() != COLUMNS {
        return Err(wrong(format!("{} numbers where {COLUMNS} are", row.len())));
    }
    let (areas, soils) = row[MEASURES.len()..COLUMNS - 1].split_at(AREAS);
    for (what, group) in [("wilderness areas", areas), ("soil types", soils)] {
        let ones = group.iter().filter(|&&value| value == 1).count();
        if ones != 1 || group.iter().any(|&value| !matches!(value, 0 | 1)) {
            return Err(wrong(format!("the {what} are not indicators of exactly one: {group:?}")));
        }
    }
    let class = row[COLUMNS - 1];
    if !(1..=7).contains(&class) {
        return Err(wrong(format!("cover type {class} is not in 1–7")));
    }
    Ok(())
}
