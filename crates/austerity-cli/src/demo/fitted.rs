//! The default fit of the demo: what `austerity fit FILE --response y --out RUN` does, with a live line instead of its words.

use std::path::Path;
use std::time::Instant;

use austerity::diagnostics::Summary;
use austerity::run::{Control, Observer, Progress};
use austerity_fit::Line;
use austerity_fit::Request;
use austerity_fit::fit::{self, Host};
use austerity_fit::output::Failure;
use austerity_fit::request::Common;
use serde::Serialize;

/// What the fit found.
#[derive(Serialize)]
pub(super) struct Fitted {
    pub(super) trusted: bool,
    pub(super) reasons: Vec<String>,
    /// Wall-clock seconds from the file to the checked posterior: reading, preparation, chains, audits, summary and report.
    pub(super) seconds: f64,
    /// The part of `seconds` in which the chains ran.
    pub(super) chain_seconds: f64,
    pub(super) chains: u32,
    pub(super) draws: usize,
    pub(super) rows_per_decision: f64,
    /// The smaller of bulk and tail effective sample size of the worst parameter.
    pub(super) effective: f64,
    pub(super) largest_rhat: f64,
    pub(super) parameters: Vec<Summary>,
}

/// Fits `data` into the folder `run`.
pub(super) fn run(common: &Common, data: &Path, run: &Path, control: &Control) -> Result<Fitted, Failure> {
    let mut request = Request::logistic(data, "y").out(run);
    (request.seed, request.threads) = (common.seed, common.threads);
    let begun = Instant::now();
    let mut host = Watcher { line: Line::new("fit"), control: control.clone() };
    let overview = fit::run(&request, &mut host)?;
    let seconds = begun.elapsed().as_secs_f64();
    host.line.clear();
    let parameters = overview.summary.clone();
    Ok(Fitted {
        trusted: overview.verdict.trusted(),
        reasons: overview.verdict.reasons.iter().map(ToString::to_string).collect(),
        seconds,
        chain_seconds: overview.chain_seconds(),
        chains: overview.chains(),
        draws: overview.draws,
        rows_per_decision: overview.data_share() * overview.rows() as f64,
        effective: parameters.iter().map(|s| s.ess_bulk.min(s.ess_tail)).fold(f64::NAN, f64::min),
        largest_rhat: parameters.iter().map(|s| s.rhat).fold(f64::NAN, f64::max),
        parameters,
    })
}

/// Shows one line while the fit works.
struct Watcher {
    line: Line,
    control: Control,
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        self.line.progress(progress);
    }
}

impl Host for Watcher {
    fn control(&self) -> Control {
        self.control.clone()
    }

    fn note(&mut self, doing: &str) {
        self.line.note(doing);
    }

    fn warn(&mut self, text: &str) {
        self.line.clear();
        eprintln!("austerity: {text}");
    }
}
