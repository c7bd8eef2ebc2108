//! Several modes of a run: what share of the draws each has, how well that is known, and whether chains crossed often enough.
//!
//! A draw belongs to the mode whose weighted normal approximation, as draws are stored, is densest there ([`Regions`]), by at most [`TELLING`] parameters that tell modes
//! apart. Whether a draw belongs to a mode is one more quantity of the run: its mean is the share of the mode, and it has an R-hat, an effective sample size and a Monte Carlo
//! error like any other. The check fails where
//!
//! * R-hat or the effective sample size of a mode miss the limits of parameters;
//! * a mode that the evidence gives draws to has none;
//! * the share of the draws and the evidence (importance sampling around the modes, before the run) differ by more than [`APART`] and five Monte Carlo errors.
//!
//! Modes with few draws are judged by the error of their share alone ([`KNOWN`]): ranks of a handful of draws tell nothing.

use austerity::diagnostics::{ESS_PER_CHAIN, RHAT_LIMIT, Summary};
use austerity::model::Mode;
use austerity::run::{ModeFound, Reason, several_modes};
use austerity_glm::{Regions, WeighedMode};
use austerity_io::run::DrawsReader;
use serde_json::{Value, json};

use crate::fit::crossing::{CrossedMode, CrossingRecord};
use crate::output::Failure;
use crate::runs::summaries;

/// Parameters that labels are made of.
const TELLING: usize = 8;
/// Draws of a mode, or beside it, below which its R-hat means nothing.
const FEW: f64 = 50.0;
/// Error of a share that few draws must reach.
const KNOWN: f64 = 0.005;
/// Draws that a mode without any may have been expected to have.
const UNSEEN: f64 = 10.0;
/// Difference of a share from the evidence that is no reason for distrust.
const APART: f64 = 0.2;

/// A mode and the draws that belong to it.
struct Found {
    place: Vec<(String, f64)>,
    evidence: f64,
    /// Of the indicator of the mode.
    summary: Summary,
}

/// What the draws say about the modes.
pub(crate) struct CrossingFinding {
    found: Vec<Found>,
    draws: f64,
    chains: f64,
    /// Draws of a chain per change of its mode; infinite where none changed.
    every: f64,
}

impl CrossingFinding {
    /// Judges the draws of a run whose chains cross between modes; nothing where no parameter that was kept tells them apart, or there is no draw.
    pub(crate) fn of(
        record: &CrossingRecord,
        reader: &DrawsReader,
        names: &[String],
    ) -> Result<Option<Self>, Failure> {
        let kept = reader.names();
        let places = telling(record, names, &kept);
        if places.is_empty() || reader.draws() == 0 {
            return Ok(None);
        }
        let every = summaries::every(reader);
        let mut columns = Vec::new();
        for &place in &places {
            let Some(at) = kept.iter().position(|name| *name == names[place]) else { return Ok(None) };
            columns.push(reader.sampled(at..at + 1, every)?.pop().unwrap_or_default());
        }
        let regions =
            Regions::new(&record.modes.iter().map(|mode| marginal(mode, &places)).collect::<Vec<_>>())?;
        let chains: Vec<Vec<&[f64]>> = columns.iter().map(|column| column.chains()).collect();
        let mut state = vec![0.0; places.len()];
        let mut labels: Vec<Vec<usize>> = Vec::new();
        for chain in 0..chains[0].len() {
            let draws = chains.iter().map(|column| column[chain].len()).min().unwrap_or(0);
            let label = |draw: usize| {
                state.iter_mut().zip(&chains).for_each(|(slot, column)| *slot = column[chain][draw]);
                regions.label(&state)
            };
            labels.push((0..draws).map(label).collect());
        }
        let found = record.modes.iter().enumerate().map(|(k, mode)| Found::of(k, mode, &labels)).collect();
        let draws: usize = labels.iter().map(Vec::len).sum();
        let changes: usize =
            labels.iter().map(|chain| chain.windows(2).filter(|pair| pair[0] != pair[1]).count()).sum();
        let every = (draws * every) as f64 / changes as f64;
        Ok(Some(Self { found, draws: draws as f64, chains: labels.len() as f64, every }))
    }

    /// Whether chains crossed often enough.
    pub(crate) fn passed(&self) -> bool {
        self.found.iter().all(|found| found.is_known(self.draws, self.chains))
    }

    /// The largest Monte Carlo error of a share.
    pub(crate) fn error(&self) -> f64 {
        self.found.iter().map(Found::error).fold(0.0, f64::max)
    }

    /// The largest error that a share may have.
    pub(crate) fn limit(&self) -> f64 {
        let share = self.found.iter().map(|found| found.summary.mean).map(|share| share * (1.0 - share));
        (share.fold(0.0, f64::max) / (ESS_PER_CHAIN * self.chains)).sqrt().max(KNOWN)
    }

    /// The modes with their shares of the draws.
    fn modes(&self) -> Vec<ModeFound> {
        self.found
            .iter()
            .map(|found| ModeFound { share: found.summary.mean, place: found.place.clone() })
            .collect()
    }

    /// A sentence about draws that may be trusted.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "{}. The chains cross between them every {} draws; Monte Carlo error of the shares: {:.1} %.",
            several_modes(&self.modes()),
            rounded(self.every),
            100.0 * self.error()
        )
    }

    /// Why the draws must not be trusted, if chains crossed too rarely.
    pub(crate) fn reason(&self) -> Option<Reason> {
        (!self.passed()).then(|| Reason::RareCrossing {
            modes: self.modes(),
            every: self.every,
            error: self.error(),
        })
    }

    /// In words, for the list of checks.
    pub(crate) fn words(&self) -> String {
        let number = self.found.len();
        if self.every.is_finite() {
            format!(
                "{number} modes, the chains cross every {} draws; Monte Carlo error of their shares",
                rounded(self.every)
            )
        } else {
            format!("{number} modes, and no chain crossed; Monte Carlo error of their shares")
        }
    }

    pub(crate) fn json(&self) -> Value {
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let mode = |found: &Found| {
            json!({
                "place": found.place.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                "share": number(found.summary.mean),
                "error": number(found.error()),
                "evidence": number(found.evidence),
                "rhat": number(found.summary.rhat),
                "ess": number(found.summary.ess_bulk),
            })
        };
        json!({
            "draws_per_crossing": number(self.every),
            "passed": self.passed(),
            "modes": self.found.iter().map(mode).collect::<Vec<_>>(),
        })
    }
}

impl Found {
    fn of(k: usize, mode: &CrossedMode, labels: &[Vec<usize>]) -> Self {
        let belongs = |chain: &Vec<usize>| -> Vec<f64> {
            chain.iter().map(|&label| f64::from(u8::from(label == k))).collect()
        };
        let columns: Vec<Vec<f64>> = labels.iter().map(belongs).collect();
        let chains: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let summary = Summary::new(format!("mode {}", k + 1), &chains);
        Self { place: mode.place.clone(), evidence: mode.share, summary }
    }

    /// Monte Carlo error of the share; 0 where all draws are alike.
    fn error(&self) -> f64 {
        if self.summary.mcse_mean.is_nan() { 0.0 } else { self.summary.mcse_mean }
    }

    fn is_known(&self, draws: f64, chains: f64) -> bool {
        let Summary { mean: share, rhat, ess_bulk, .. } = self.summary;
        let rare = draws * share.min(1.0 - share);
        if rare == 0.0 {
            return draws * self.evidence.min(1.0 - self.evidence) < UNSEEN;
        }
        if (share - self.evidence).abs() > APART + 5.0 * self.error() {
            return false;
        }
        if rare < FEW {
            return self.error() < KNOWN;
        }
        // One chain alone has no R-hat.
        (chains < 2.0 || rhat <= RHAT_LIMIT) && ess_bulk >= ESS_PER_CHAIN * chains
    }
}

/// Positions of the kept parameters that tell modes apart, the best first.
fn telling(record: &CrossingRecord, names: &[String], kept: &[String]) -> Vec<usize> {
    let d = names.len();
    let Some(first) = record.modes.first().filter(|mode| mode.shown.len() == d) else { return Vec::new() };
    let gap = |i: usize| {
        let far = |mode: &CrossedMode| {
            let sd = mode.spread[i * d + i].min(first.spread[i * d + i]).sqrt();
            (mode.shown[i] - first.shown[i]).abs() / sd
        };
        record.modes.iter().map(far).fold(0.0, f64::max)
    };
    let mut order: Vec<usize> = (0..d).filter(|&i| kept.contains(&names[i]) && gap(i).is_finite()).collect();
    order.sort_by(|&a, &b| gap(b).total_cmp(&gap(a)));
    order.truncate(TELLING);
    order.retain(|&i| gap(i) > 0.0);
    order
}

/// The approximation of a mode in these parameters alone.
fn marginal(mode: &CrossedMode, places: &[usize]) -> WeighedMode {
    let d = mode.shown.len();
    let state = places.iter().map(|&i| mode.shown[i]).collect();
    let covariance = places
        .iter()
        .flat_map(|&i| places.iter().map(move |&j| (i, j)))
        .map(|(i, j)| mode.spread[i * d + j])
        .collect();
    let mode_there = Mode { state, log_density: 0.0, covariance, iterations: 0 };
    WeighedMode { mode: mode_there, share: mode.share.max(1e-6) }
}

/// Two significant digits below 10, whole numbers above.
fn rounded(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}
