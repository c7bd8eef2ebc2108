//! How many draws a run stores, so that its folder stays below a size and its summary within the budget.
//!
//! A fast chain makes 10⁵ to 10⁶ draws per second. Storing them all fills the disk, and summarising them takes longer than drawing them, while some ten
//! thousand draws per chain already say all that a table shows. So a run stores at most [`Storage::most`] draws per chain, the least of three numbers:
//!
//! | limit | when |
//! |---|---|
//! | what `--max-disk` holds (1 GB unless given) | always |
//! | 65,536 | in runs that only a budget ends, unless `--max-disk` is given |
//! | what can be summarised in 15 % of `--budget` | with `--budget` |
//!
//! When a chain would store more, the store keeps every second draw and the run goes on with every second, fourth, … draw
//! ([`DrawsWriter::thin`](austerity_io::run::DrawsWriter::thin)). So the stored draws are evenly spaced over the whole run, and, where no clock ends it, depend on the
//! number of draws made alone: a resumed run stores what the uninterrupted one does. Under a clock the store is thinned once, as the speed of the chains suggests. Thinning changes the correlation of
//! stored draws: antithetic draws become nearly independent ones.
//!
//! The price of a summary is measured on made-up numbers before the run, in a few milliseconds.

use std::time::Instant;

use austerity::diagnostics::Summary;
use austerity::run::{Settings, UNBOUNDED};
use austerity_io::run::Layout;
use serde::{Deserialize, Serialize};

use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::grammar::size_words;
use crate::request::{Dialect, Keyword, LengthOptions, MAX_DISK};
use crate::table::grouped;

/// Draws per chain that are stored where only a budget ends the run: a multiple of what quantiles with three digits take.
const USUAL: u64 = 1 << 16;
/// Fewest draws per chain that a limit must leave.
const FEWEST: u64 = 100;
/// Share of a budget that the end of a run may take, most of it where that leaves few draws, and what are few.
const SHARE: f64 = 0.15;
const MOST_SHARE: f64 = 0.5;
const FEW: f64 = 1_000.0;
/// Seconds for the page and the last files, beside the summary.
const FILES: f64 = 0.04;
/// Draws of each of four chains that a summary is priced on.
const PRICED: usize = 1_024;
const TIMES: usize = 5;
/// Of the stored draws that a thinning is planned for, at most this share is expected by the end.
const FULL: f64 = 0.9;
/// What the last files take, in units of the first ones; and the most that this may be of a budget.
const LAST: f64 = 1.5;
const MOST_FILES: f64 = 0.25;
/// How many times the price of a number grows to the largest summaries, which leave the cache.
const GROWTH: f64 = 1.6;
/// Bytes of a folder besides draws: `run.toml`, `summary.json`, `lock`; per parameter, with its picture on the page.
const BESIDES: u64 = 256 << 10;
const PER_PARAMETER: u64 = 48 << 10;
/// Bytes of the coordinate `draw` for so many draws, in two groups.
const COORDINATE: u64 = 1 << 16;

/// Where the draws of a run end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Storage {
    /// Bytes that the folder may take.
    pub(crate) max_disk: u64,
    /// Draws per chain that are stored at most.
    pub(crate) most: u64,
    /// What sets that number.
    pub(crate) limit: Limit,
}

/// What limits the stored draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Limit {
    /// The size of the folder.
    Disk,
    /// The number that suffices where no number of draws was asked for.
    Usual,
    /// The time that the summary takes of the budget.
    Summary,
}

/// What the end of a run with a budget takes: summary, page, last files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    /// Draws per chain that can be summarised in time.
    most: u64,
    /// Seconds for the summary of so many.
    pub(super) seconds: f64,
}

impl Closing {
    /// Sets time aside for the summary of draws of `numbers` numbers each, all chains together.
    pub(super) fn of(length: &LengthOptions, numbers: usize) -> Option<Self> {
        let all = length.budget?.as_secs_f64();
        let wanted = match (length.draws, length.max_disk) {
            (Some(draws), _) => draws as f64,
            (None, Some(_)) => f64::INFINITY,
            (None, None) => USUAL as f64,
        };
        Some(Self::priced(all, numbers.max(1) as f64 * price(), wanted))
    }

    /// Of a budget of `all` seconds, where a draw costs `draw` seconds and no more than `wanted` are stored.
    fn priced(all: f64, draw: f64, wanted: f64) -> Self {
        let share = |share: f64| (share * all - FILES).max(0.5 * share * all) / draw;
        let most = share(SHARE).max(share(MOST_SHARE).min(FEW)).max(FEWEST as f64);
        // Fewer may come of it; then the run ends a little early.
        let seconds = (most.min(wanted) * draw + FILES).min(MOST_SHARE * all);
        Self { most: most as u64, seconds }
    }

    /// The same where the first files of the run took so many seconds.
    pub(super) fn with_files(self, files: f64, all: f64) -> Self {
        Self { seconds: self.seconds + (LAST * files).min(MOST_FILES * all).max(FILES) - FILES, ..self }
    }
}

/// Seconds that a number costs in a summary, with all cores at work.
fn price() -> f64 {
    // Any irregular numbers will do.
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64
    };
    let chains: Vec<Vec<f64>> = (0..4).map(|_| (0..PRICED).map(|_| next()).collect()).collect();
    let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
    // The least of some: the first time tables are made and memory is cold, and other work may come between.
    let once = |_| {
        let begun = Instant::now();
        std::hint::black_box(Summary::new("", &chains));
        begun.elapsed().as_secs_f64()
    };
    let seconds = (0..TIMES).map(once).fold(f64::INFINITY, f64::min);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    GROWTH * seconds / (4 * PRICED) as f64 / threads as f64
}

impl Storage {
    /// How many draws to store, or why the limit cannot be kept.
    pub(super) fn plan(
        layout: &Layout,
        length: &LengthOptions,
        closing: Option<Closing>,
    ) -> Result<Self, Failure> {
        let max_disk = length.max_disk.unwrap_or(MAX_DISK);
        let held = held(layout, max_disk);
        let chains = u64::from(layout.chains);
        if held < FEWEST {
            let least = bytes(layout, FEWEST);
            let parameters = layout.kept().len();
            return Err(Refusal::DiskTooSmall { max_disk, draws: FEWEST, chains, parameters, least }.into());
        }
        let mut storage = Self { max_disk, most: held, limit: Limit::Disk };
        let open = length.draws.is_none() && length.target_ess.is_none();
        let limited = length.budget.is_some() || length.evaluations.is_some();
        if open && limited && length.max_disk.is_none() {
            storage.lower(USUAL, Limit::Usual);
        }
        if let Some(closing) = closing.filter(|_| length.target_ess.is_none()) {
            storage.lower(closing.most, Limit::Summary);
        }
        let reachable = storage.most / 2 * chains;
        if let Some(target) = length.target_ess.filter(|&target| target > reachable as f64) {
            return Err(Refusal::TargetTooLarge { target, max_disk, reachable }.into());
        }
        Ok(storage)
    }

    fn lower(&mut self, most: u64, limit: Limit) {
        if most < self.most {
            (self.most, self.limit) = (most, limit);
        }
    }

    /// The plan of a run that goes on: no fewer draws than it stored so far, unless the disk asks for it.
    pub(super) fn go_on(self, before: Option<Self>, layout: &Layout) -> Self {
        match before {
            Some(before) if before.most > self.most => {
                let most = before.most.min(held(layout, self.max_disk));
                Self { most: most.max(self.most), limit: before.limit, ..self }
            }
            _ => self,
        }
    }

    /// Draws per stored draw of a run whose number of draws is known; 1 where it is not.
    pub(super) fn every(&self, settings: &Settings) -> u64 {
        let mut every = 1;
        while settings.draws < UNBOUNDED && settings.draws.div_ceil(every) > self.most {
            every *= 2;
        }
        every
    }

    /// How many times fewer draws to store, from when `most` are stored to the end, where `expected` draws are expected in all and every `every`-th is
    /// stored until now. Without an expectation half of them stay.
    pub(super) fn factor(most: u64, every: u64, expected: Option<f64>) -> u64 {
        let expected = expected.unwrap_or(0.0);
        let mut factor = 2;
        while expected / (every.saturating_mul(factor) as f64) > FULL * most as f64 && factor < 1 << 32 {
            factor *= 2;
        }
        factor
    }

    /// What was thinned and why, when a chain made so many draws and every so many were stored.
    pub(crate) fn sentence(&self, every: u64, made: Option<u64>, dialect: Dialect) -> String {
        let draws = made.map_or_else(
            || "draw".to_owned(),
            |made| format!("of {} draws per chain", grouped(&made.to_string())),
        );
        let which = format!("Stored every {} {draws}", ordinal(every));
        match self.limit {
            Limit::Disk => {
                let option = Keyword::MaxDisk.spelled(dialect);
                format!("{which} to keep the folder below {} ({option}).", size_words(self.max_disk))
            }
            Limit::Usual => format!(
                "{which}: without a number of draws at most {} per chain are stored ({} stores as many as fit).",
                grouped(&self.most.to_string()),
                Keyword::MaxDisk.with("2GB", dialect)
            ),
            Limit::Summary => {
                format!("{which}: the summary of more would not fit the budget; a longer one stores more.")
            }
        }
    }
}

/// Most draws per chain that a folder of so many bytes holds.
fn held(layout: &Layout, max_disk: u64) -> u64 {
    let (mut low, mut high) = (0, UNBOUNDED);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if bytes(layout, middle) <= max_disk { low = middle } else { high = middle }
    }
    low
}

/// Bytes of a folder with so many draws per chain, at its largest: while the draws are thinned, and with a chunk of each array on its way.
pub(super) fn bytes(layout: &Layout, draws: u64) -> u64 {
    let layout = Layout { draws, ..layout.clone() };
    let coordinate = |draws: u64| draws.div_ceil(COORDINATE).saturating_mul(2 * 8 * COORDINATE);
    let parameters = layout.names.len() as u64;
    // Three generations of a checkpoint: a state, a covariance or more of steps, counts.
    let checkpoint = u64::from(layout.chains) * (9 * parameters * (2 * parameters + 16) + 2_048);
    [
        layout.bytes(draws),
        layout.bytes(draws / 2),
        layout.bytes(1),
        coordinate(draws),
        coordinate(draws / 2),
        3 * checkpoint,
        BESIDES + PER_PARAMETER * parameters,
    ]
    .into_iter()
    .fold(0, u64::saturating_add)
}

/// 2nd, 4th, 512th.
fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn layout(parameters: usize) -> Layout {
        let names = (0..parameters).map(|place| format!("x{place}")).collect();
        Layout::new(names, parameters, &Settings { draws: UNBOUNDED, ..Settings::default() })
    }

    #[test]
    fn the_least_of_the_limits_counts() {
        let budget = Some(Duration::from_secs(60));
        let open = LengthOptions { budget, ..LengthOptions::default() };
        let usual = Storage::plan(&layout(6), &open, None).unwrap();
        assert_eq!(usual, Storage { max_disk: MAX_DISK, most: USUAL, limit: Limit::Usual });
        let typed = LengthOptions { max_disk: Some(MAX_DISK), ..open.clone() };
        let disk = Storage::plan(&layout(6), &typed, None).unwrap();
        assert!(disk.limit == Limit::Disk && disk.most > 10 * USUAL, "{disk:?}");
        assert!(bytes(&layout(6), disk.most) <= MAX_DISK && bytes(&layout(6), disk.most + 1) > MAX_DISK);
        let closing = Closing { most: 5_000, seconds: 0.1 };
        let short = Storage::plan(&layout(6), &open, Some(closing)).unwrap();
        assert_eq!((short.most, short.limit), (5_000, Limit::Summary));
        let small = LengthOptions { max_disk: Some(100_000), ..open };
        let refused = Storage::plan(&layout(6), &small, None).unwrap_err().to_string();
        assert!(refused.contains("--max-disk") && refused.contains("the least is about"), "{refused}");
        let target = LengthOptions { target_ess: Some(1e9), ..LengthOptions::default() };
        let refused = Storage::plan(&layout(6), &target, None).unwrap_err().to_string();
        assert!(refused.contains("--target-ess 1000000000"), "{refused}");
    }

    #[test]
    fn a_known_number_of_draws_is_thinned_from_the_beginning() {
        let storage = Storage { max_disk: MAX_DISK, most: 1000, limit: Limit::Disk };
        let every = |draws| storage.every(&Settings { draws, ..Settings::default() });
        assert_eq!([1000, 1001, 2002, 4004, UNBOUNDED].map(every), [1, 2, 4, 8, 1]);
        assert_eq!(
            storage.sentence(32, Some(1_234_567), Dialect::Shell),
            "Stored every 32nd of 1,234,567 draws per chain to keep the folder below 1 GB (--max-disk)."
        );
    }

    #[test]
    fn a_store_is_thinned_as_the_speed_suggests() {
        assert_eq!(Storage::factor(1000, 1, None), 2);
        assert_eq!(Storage::factor(1000, 1, Some(1100.0)), 2);
        // 100,000 draws, of which 900 may be stored: every 128th.
        assert_eq!(Storage::factor(1000, 1, Some(1e5)), 128);
        assert_eq!(Storage::factor(1000, 4, Some(1e5)), 32);
        assert!(Storage::factor(1000, 1, Some(f64::INFINITY)) <= 1 << 32);
    }

    #[test]
    fn slow_files_take_a_share_of_the_budget() {
        let closing = Closing { most: 1, seconds: 0.5 };
        assert!((closing.with_files(0.001, 4.0).seconds - 0.5).abs() < 1e-9);
        assert!((closing.with_files(0.1, 4.0).seconds - 0.61).abs() < 1e-9);
        assert!((closing.with_files(9.0, 4.0).seconds - 1.46).abs() < 1e-9);
    }

    #[test]
    fn a_summary_gets_its_share_and_no_more() {
        // A microsecond per draw: a second affords 110,000, of which 65,536 are stored.
        let cheap = Closing::priced(1.0, 1e-6, USUAL as f64);
        assert!((109_999..=110_000).contains(&cheap.most), "{cheap:?}");
        assert!((cheap.seconds - 0.105_536).abs() < 1e-9, "{cheap:?}");
        // A millisecond per draw: a few draws take half of the time.
        let dear = Closing::priced(1.0, 1e-3, USUAL as f64);
        assert_eq!(dear.most, 460);
        assert!((dear.seconds - 0.5).abs() < 1e-9, "{dear:?}");
    }
}
