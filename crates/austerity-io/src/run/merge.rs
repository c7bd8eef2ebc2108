//! The chains of several stores in one: what runs on several machines drew becomes one run.
//!
//! Chains are ordered by their numbers, which need not follow each other, and cut to the shortest. Every number is kept to the bit, of
//! parameters and of statistics. Streamed: memory does not grow with the runs. The stores must hold the same parameters and
//! statistics, and no two chains may have one number: the first difference is an error.

use std::collections::BTreeMap;
use std::path::Path;

use austerity::rule::Decision;

use super::layout::{Layout, Source, StatisticField};
use super::reader::{Cursor, DrawsReader};
use super::writer::DrawsWriter;
use crate::error::{Error, Result};

/// Draws copied at a time.
const BATCH: usize = 4096;

/// Writes the chains of all `parts` to a new store, with the seed and the attributes of the first; returns the draws of every
/// chain. `created_at` is when the merged run was made.
pub fn merge(parts: &[DrawsReader], path: impl AsRef<Path>, created_at: &str) -> Result<usize> {
    let path = path.as_ref();
    let Some(first) = parts.first() else {
        return Err(Error::format(path, "would hold no run", "name the runs to merge"));
    };
    for part in parts {
        same(first, part, "list of parameters", |part| part.names().join(", "))?;
        same(first, part, "list of coefficients", |part| part.coefficient_names().join(", "))?;
        same(first, part, "list of statistics", |part| part.statistic_names().join(", "))?;
    }
    let chains = order(parts)?;
    let draws = parts.iter().map(DrawsReader::draws).min().unwrap_or(0);
    let layout = layout(first, chains.keys().copied().collect(), draws, created_at);
    let mut writer = DrawsWriter::create(path, &layout)?;
    for (position, &(part, chain)) in chains.values().enumerate() {
        copy(&mut writer, position, part, chain, draws)?;
    }
    writer.finish()?;
    Ok(draws)
}

/// The chains by their numbers.
fn order(parts: &[DrawsReader]) -> Result<BTreeMap<u32, (&DrawsReader, usize)>> {
    let mut chains: BTreeMap<u32, (&DrawsReader, usize)> = BTreeMap::new();
    for part in parts {
        for (chain, number) in part.chain_numbers().into_iter().enumerate() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            if let Some((other, _)) = chains.insert(number, (part, chain)) {
                let problem = format!("and `{}` both hold chain {number}", other.path.display());
                let remedy = "give runs that are to be merged chains of their own with --first-chain";
                return Err(Error::format(&part.path, problem, remedy));
            }
        }
    }
    Ok(chains)
}

/// The layout of the merged store: every statistic is copied as a number.
fn layout(first: &DrawsReader, numbers: Vec<u32>, draws: usize, created_at: &str) -> Layout {
    let known: Vec<StatisticField> =
        StatisticField::standard().into_iter().chain(StatisticField::audits()).collect();
    let field = |(name, number): &(String, super::NumberType)| {
        let same = known.iter().find(|field| field.name == *name).cloned();
        let field = same.unwrap_or_else(|| StatisticField::extra(name, *number, ""));
        StatisticField { number: *number, source: Source::Extra, ..field }
    };
    let follow = numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    let attributes = first.attributes().iter();
    // Those that the layout knows by itself are written over.
    let attributes = attributes.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    Layout {
        names: first.names(),
        coefficients: first.coefficient_names().len(),
        keep: None,
        chains: numbers.len() as u32,
        first_chain: numbers.first().copied().unwrap_or(0),
        chain_numbers: (!follow).then_some(numbers),
        draws: draws as u64,
        statistics: first.plan.statistics.iter().map(field).collect(),
        stored_every: first.stored_every(),
        seed: first.attributes().get("seed").and_then(serde_json::Value::as_u64).unwrap_or(0),
        created_at: created_at.into(),
        attributes: attributes.collect(),
    }
}

fn copy(
    writer: &mut DrawsWriter,
    position: usize,
    part: &DrawsReader,
    chain: usize,
    draws: usize,
) -> Result<()> {
    let names = part.statistic_names();
    let mut cursor = Cursor::new(part, chain, part.draws() as u64);
    let mut statistics =
        names.iter().map(|name| part.statistic_cursor(name, chain)).collect::<Result<Vec<_>>>()?;
    let width = part.names().len();
    for first in (0..draws).step_by(BATCH) {
        let range = first..draws.min(first + BATCH);
        let count = range.len();
        let mut values = vec![0.0; count * width];
        cursor.read(range.clone(), &mut values)?;
        let mut extras = vec![0.0; count * names.len()];
        for (column, cursor) in statistics.iter_mut().enumerate() {
            for (draw, value) in cursor.read(range.clone())?.into_iter().enumerate() {
                extras[draw * names.len() + column] = value;
            }
        }
        writer.append_with(position, &values, &vec![Decision::ruled_out(); count], &extras)?;
    }
    Ok(())
}

fn same(a: &DrawsReader, b: &DrawsReader, what: &str, of: impl Fn(&DrawsReader) -> String) -> Result<()> {
    let (stored, found) = (of(a), of(b));
    if stored == found {
        return Ok(());
    }
    let problem =
        format!("cannot be merged with `{}`: its {what} is {found}, there {stored}", a.path.display());
    Err(Error::format(&b.path, problem, "merge runs with the same data, model and --keep"))
}
