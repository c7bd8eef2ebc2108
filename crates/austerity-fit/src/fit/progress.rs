//! What people watch while chains run: one line per chain on a terminal, a line of JSON a second for machines, else nothing.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

use austerity::run::{ChainProgress, Observer, Progress};
use serde_json::json;

/// Width of a bar.
const BAR: usize = 24;
/// How often lines are redrawn, and how often JSON is written.
const REDRAW: Duration = Duration::from_millis(200);
const EVERY: Duration = Duration::from_secs(1);

/// Shows how a run goes.
pub struct Display {
    mode: Mode,
    first_chain: u32,
    /// Whether the number of draws is an end that bars can fill towards.
    bounded: bool,
    shown: usize,
    last: Option<Instant>,
}

#[derive(PartialEq)]
enum Mode {
    Lines,
    Json,
    Quiet,
}

impl Display {
    /// A display of chains that are numbered from `first_chain`, whose bars fill towards the last draw or the end of the time.
    pub fn new(json: bool, first_chain: u32, bounded: bool) -> Self {
        let mode = match (json, stderr().is_terminal()) {
            (true, _) => Mode::Json,
            (false, true) => Mode::Lines,
            (false, false) => Mode::Quiet,
        };
        Self { mode, first_chain, bounded, shown: 0, last: None }
    }

    fn due(&mut self, interval: Duration) -> bool {
        let due = self.last.is_none_or(|last| last.elapsed() >= interval);
        if due {
            self.last = Some(Instant::now());
        }
        due
    }

    fn redraw(&mut self, lines: &[String]) {
        let mut text = String::new();
        if self.shown > 0 {
            text += &format!("\x1b[{}A", self.shown);
        }
        for line in lines {
            text += &format!("\r\x1b[2K{line}\n");
        }
        // Lines that cannot be shown are not worth an error.
        let _ = stderr().lock().write_all(text.as_bytes());
        self.shown = lines.len();
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if self.shown > 0 {
            self.redraw(&vec![String::new(); self.shown]);
            let _ = write!(stderr(), "\x1b[{}A", self.shown);
        }
    }
}

impl Observer for Display {
    fn progress(&mut self, progress: &Progress) {
        let interval = if self.mode == Mode::Json { EVERY } else { REDRAW };
        if self.mode == Mode::Quiet || !self.due(interval) {
            return;
        }
        if self.mode == Mode::Json {
            let _ = writeln!(stderr(), "{}", as_json(progress, self.first_chain));
        } else {
            let lines = describe(progress, self.first_chain, self.bounded);
            self.redraw(&lines);
        }
    }
}

fn as_json(progress: &Progress, first_chain: u32) -> serde_json::Value {
    let chains: Vec<_> = (first_chain..)
        .zip(&progress.chains)
        .map(|(number, chain)| {
            json!({
                "chain": number, "draws": chain.draws, "steps": chain.steps, "warming": chain.warming,
                "acceptance": chain.acceptance, "data_share": chain.data_share, "evaluations": chain.evaluations,
            })
        })
        .collect();
    json!({
        "elapsed": progress.elapsed, "remaining": progress.remaining, "rhat": progress.rhat, "ess": progress.ess,
        "chains": chains,
    })
}

fn describe(progress: &Progress, first_chain: u32, bounded: bool) -> Vec<String> {
    let by_clock = progress.remaining.map(|left| progress.elapsed / (progress.elapsed + left));
    let mut lines: Vec<String> = (first_chain..)
        .zip(&progress.chains)
        .map(|(number, chain)| {
            let by_steps = chain.steps as f64 / progress.steps_wanted as f64;
            let share = if bounded { by_steps } else { by_clock.unwrap_or(by_steps) };
            chain_line(number, chain, share)
        })
        .collect();
    let mut last = format!("{} so far", duration(progress.elapsed));
    if let Some(left) = progress.remaining {
        last += &format!(", {} left", duration(left));
    }
    if let Some(rhat) = progress.rhat {
        last += &format!(", R-hat {rhat:.3}");
    }
    if let Some(ess) = progress.ess {
        last += &format!(", smallest ESS {ess:.0}");
    }
    lines.push(last + "   (Ctrl-C keeps what was drawn)");
    lines
}

fn chain_line(number: u32, chain: &ChainProgress, share: f64) -> String {
    let filled = ((share.clamp(0.0, 1.0) * BAR as f64).round() as usize).min(BAR);
    let known = |value: f64, text: String| if value.is_finite() { text } else { "–".into() };
    format!(
        "chain {number:>2} {}{} {:>9} {} accepted {}, data read {}",
        "█".repeat(filled),
        "·".repeat(BAR - filled),
        if chain.warming { chain.steps } else { chain.draws },
        if chain.warming { "warm-up steps," } else { "draws," },
        known(chain.acceptance, format!("{:.0} %", 100.0 * chain.acceptance)),
        known(chain.data_share, format!("{:.1} %", 100.0 * chain.data_share)),
    )
}

/// Seconds as people say them.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "–".into(),
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 99.5 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_json_tell_every_chain() {
        let chain = ChainProgress {
            steps: 1500,
            draws: 500,
            warming: false,
            acceptance: 0.25,
            data_share: 0.1,
            evaluations: 9,
        };
        let warming = ChainProgress { steps: 10, warming: true, acceptance: f64::NAN, ..chain };
        let progress = Progress {
            chains: vec![chain, warming],
            steps_wanted: 3000,
            elapsed: 4.0,
            remaining: Some(600.0),
            rhat: Some(1.0131),
            ess: Some(52.0),
        };
        let lines = describe(&progress, 4, true).join("\n");
        for word in [
            "chain  4",
            "chain  5",
            "500 draws",
            "accepted 25 %",
            "read 10.0 %",
            "10 min left",
            "1.013",
            "ESS 52",
        ] {
            assert!(lines.contains(word), "{word}: {lines}");
        }
        assert!(lines.contains("10 warm-up steps, accepted –"), "{lines}");
        let value = as_json(&progress, 4);
        assert_eq!(value["chains"][1]["chain"], 5);
        assert!(value["chains"][1]["acceptance"].is_null());
    }

    #[test]
    fn durations_are_short() {
        let said = [0.25, 42.0, 600.0, 7_200.0, 864_000.0].map(duration);
        assert_eq!(said, ["0.2 s", "42 s", "10 min", "2.0 h", "10.0 days"]);
    }
}
