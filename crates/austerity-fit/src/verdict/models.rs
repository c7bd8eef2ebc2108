//! The models of a selection: sets of features, by the share of the draws that had them, with its Monte Carlo error.
//!
//! Shares come from all stored draws up to [`LOOKED_AT`] of them, then from every k-th. A run that did not keep the indicators has no shares.

use std::collections::HashMap;

use austerity::diagnostics::mcse_mean;
use austerity_io::run::DrawsReader;
use serde_json::{Value, json};

use crate::fit::part::{INCLUDED, PartRecord};
use crate::output::Failure;
use crate::table::table;

/// Models that are told.
const LISTED: usize = 10;
/// Numbers of draws that are looked at.
const LOOKED_AT: usize = 1 << 23;

/// A model and its share.
struct Share {
    features: Vec<String>,
    share: f64,
    error: f64,
}

/// The models that a selection found, the most frequent first.
pub(crate) struct ModelsFinding {
    shares: Vec<Share>,
    /// Different models among the draws.
    found: usize,
}

impl ModelsFinding {
    /// Those of a run, where it is a selection.
    pub(super) fn of(part: Option<&PartRecord>, reader: &DrawsReader) -> Result<Option<Self>, Failure> {
        if !matches!(part, Some(PartRecord::Selection(_))) || reader.draws() == 0 {
            return Ok(None);
        }
        let names = reader.names();
        let places: Vec<usize> = (0..names.len()).filter(|&place| names[place].ends_with(INCLUDED)).collect();
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else { return Ok(None) };
        if last + 1 - first != places.len() {
            return Ok(None);
        }
        let every = (reader.draws() * reader.chains() * places.len()).div_ceil(LOOKED_AT).max(1);
        let columns = reader.sampled(first..last + 1, every)?;
        let columns: Vec<Vec<&[f64]>> = columns.iter().map(|column| column.chains()).collect();
        let draws = columns[0].iter().map(|chain| chain.len()).min().unwrap_or(0);
        let mut numbers: HashMap<Vec<bool>, usize> = HashMap::new();
        let mut models: Vec<Vec<usize>> = Vec::new();
        for chain in 0..columns[0].len() {
            let of = |draw: usize| -> Vec<bool> {
                columns.iter().map(|column| column[chain][draw] != 0.0).collect()
            };
            let mut model = |draw: usize| {
                let next = numbers.len();
                *numbers.entry(of(draw)).or_insert(next)
            };
            models.push((0..draws).map(&mut model).collect());
        }
        let mut counts = vec![0usize; numbers.len()];
        models.iter().flatten().for_each(|&model| counts[model] += 1);
        let mut patterns: Vec<(Vec<bool>, usize)> = numbers.into_iter().collect();
        // The most frequent first; of equals the one that was met first.
        patterns.sort_by_key(|(_, number)| (std::cmp::Reverse(counts[*number]), *number));
        let found = patterns.len();
        let share = |(pattern, number): (Vec<bool>, usize)| {
            let chains: Vec<Vec<f64>> = models
                .iter()
                .map(|chain| chain.iter().map(|&model| f64::from(u8::from(model == number))).collect())
                .collect();
            let features = pattern.iter().zip(&places).filter(|(included, _)| **included);
            Share {
                features: features
                    .map(|(_, &place)| names[place][..names[place].len() - INCLUDED.len()].to_owned())
                    .collect(),
                share: counts[number] as f64 / (models.len() * draws).max(1) as f64,
                error: mcse_mean(&chains.iter().map(Vec::as_slice).collect::<Vec<_>>()),
            }
        };
        let shares = patterns.into_iter().take(LISTED).map(share).collect();
        Ok(Some(Self { shares, found }))
    }

    /// As a table.
    pub(super) fn text(&self) -> String {
        let mut shown = table(&["features", "probability", "MCSE"]);
        for Share { features, share, error } in &self.shares {
            let error = if error.is_finite() { format!("{error:.1e}") } else { "–".into() };
            let names = features.join(", ");
            shown.add_row([austerity_io::text::printable(&names).into_owned(), format!("{share:.4}"), error]);
        }
        let more = self.found.saturating_sub(self.shares.len());
        if more == 0 { shown.to_string() } else { format!("{shown}\n(and {more} more)") }
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let one = |Share { features, share, error }: &Share| json!({"features": features, "probability": share, "mcse": error.is_finite().then_some(*error)});
        json!({"models": self.shares.iter().map(one).collect::<Vec<_>>(), "found": self.found})
    }
}
