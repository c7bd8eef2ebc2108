//! MiniBooNE as UCI serves it: a line with the numbers of signal and background events, then one event in a line, 50 numbers each,
//! signal first.
//!
//! An event in which every feature is −999 was not measured and is dropped (468 of 130,064 in the published file). The features of the
//! others become z-scores (population sd). The label is +1 for signal (electron neutrinos), −1 for background.

use std::io::{BufRead, BufReader};
use std::path::Path;

use austerity_io::write::{Field, TableWriter};

use super::{Made, Prepared, wrong};
use crate::fetch::content;
use crate::fetch::error::{Error, Result};

const NAME: &str = "MiniBooNE_PID.txt";
const FILE: &str = "miniboone.parquet";
const FEATURES: usize = 50;
/// The mark of an event that was not measured.
const ABSENT: f64 = -999.0;

pub(super) fn prepare(path: &Path, out: &Path) -> Result<Prepared> {
    let mut lines = BufReader::new(content::open(path, NAME)?).lines().enumerate();
    let damaged = |error: std::io::Error| Error::damaged(path, format!("cannot be read: {error}"));
    let first = lines.next().map_or(Ok(String::new()), |(_, line)| line).map_err(damaged)?;
    let counts: Vec<usize> = first.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
    let &[signal, background] = counts.as_slice() else {
        return Err(wrong(
            NAME,
            Some(1),
            format!("`{first}` is not the numbers of signal and background events"),
        ));
    };
    let mut label = Vec::new();
    let mut features: Vec<Vec<f64>> = vec![Vec::new(); FEATURES];
    let mut events = 0;
    let mut dropped = [0, 0];
    let mut row = Vec::with_capacity(FEATURES);
    for (number, line) in lines {
        let line = line.map_err(damaged)?;
        row.clear();
        for word in line.split_ascii_whitespace() {
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() => row.push(value),
                _ => return Err(wrong(NAME, Some(number + 1), format!("`{word}` is no number"))),
            }
        }
        if row.is_empty() {
            continue;
        }
        if row.len() != FEATURES {
            return Err(wrong(NAME, Some(number + 1), format!("{} numbers where {FEATURES} are", row.len())));
        }
        let is_signal = events < signal;
        events += 1;
        if row.iter().all(|&value| value == ABSENT) {
            dropped[usize::from(!is_signal)] += 1;
            continue;
        }
        label.push(if is_signal { 1.0 } else { -1.0 });
        features.iter_mut().zip(&row).for_each(|(column, &value)| column.push(value));
    }
    if events != signal + background {
        let told = format!("{signal} + {background} events are told, {events} are there");
        return Err(wrong(NAME, None, told));
    }
    if label.is_empty() {
        return Err(wrong(NAME, None, "no event was measured"));
    }
    features.iter_mut().for_each(|column| standardise(column));
    let mut fields = vec![Field::integer("label")];
    fields.extend((0..FEATURES).map(|j| Field::single(format!("f{j}"))));
    let mut columns: Vec<&[f64]> = vec![&label];
    columns.extend(features.iter().map(Vec::as_slice));
    let mut writer = TableWriter::create(out.join(FILE), fields)?;
    writer.write(&columns)?;
    writer.finish()?;
    let remark = format!(
        "{} signal and {} background events; {} and {} that were not measured (−999 throughout) are left out; z-scored",
        signal - dropped[0],
        background - dropped[1],
        dropped[0],
        dropped[1]
    );
    let made = Made { name: FILE.into(), rows: label.len(), columns: columns.len() };
    Ok(Prepared { tables: vec![made], remarks: vec![remark] })
}

/// Mean 0 and variance 1 (divisor n); a constant column becomes 0.
fn standardise(column: &mut [f64]) {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    let sd = (column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    let scale = if sd > 0.0 { 1.0 / sd } else { 0.0 };
    column.iter_mut().for_each(|value| *value = (*value - mean) * scale);
}
