//! One live line on standard error while chains run; silent when that is no terminal.

use std::io::{IsTerminal as _, Write as _, stderr};

use austerity::run::{Observer, Progress};
use austerity_io::text::printable;

/// A line that is rewritten as the run goes on.
#[derive(Debug)]
pub struct Line {
    title: String,
    live: bool,
    shown: bool,
}

/// Width of the bar.
const BAR: usize = 20;

impl Line {
    /// A line that begins with `title`.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), live: stderr().is_terminal(), shown: false }
    }

    /// A word without numbers, for work that is not sampling.
    pub fn note(&mut self, text: &str) {
        self.show(&format!("{}  {text}", self.title));
    }

    fn show(&mut self, text: &str) {
        if self.live {
            let mut out = stderr().lock();
            // A line that cannot be shown is not worth an error.
            let _ = write!(out, "\r\x1b[2K{}", printable(text));
            let _ = out.flush();
            self.shown = true;
        }
    }
}

/// The text of the line.
fn describe(title: &str, progress: &Progress, share: f64) -> String {
    let filled = ((share * BAR as f64).round() as usize).min(BAR);
    let chains = &progress.chains;
    let mean = |value: fn(&austerity::run::ChainProgress) -> f64| {
        let known: Vec<f64> = chains.iter().map(value).filter(|v| v.is_finite()).collect();
        known.iter().sum::<f64>() / known.len() as f64
    };
    let draws: u64 = chains.iter().map(|chain| chain.draws).sum();
    let mut text = format!(
        "{title}  [{}{}] {draws} draws  accepted {:.0} %  data read {:.1} %",
        "█".repeat(filled),
        "·".repeat(BAR - filled),
        100.0 * mean(|chain| chain.acceptance),
        100.0 * mean(|chain| chain.data_share),
    );
    if let Some(rhat) = progress.rhat {
        text += &format!("  R-hat {rhat:.2}");
    }
    if let Some(left) = progress.remaining {
        text += &format!("  {left:.0} s left");
    }
    text
}

impl Observer for Line {
    fn progress(&mut self, progress: &Progress) {
        let by_clock = progress.remaining.map_or(0.0, |left| progress.elapsed / (progress.elapsed + left));
        let share = progress.share().max(by_clock);
        let text = describe(&self.title, progress, share);
        self.show(&text);
    }
}

impl Line {
    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[2K");
            self.shown = false;
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::run::ChainProgress;

    #[test]
    fn the_line_says_what_people_ask() {
        let chain = ChainProgress {
            steps: 50,
            draws: 40,
            warming: false,
            acceptance: 0.25,
            data_share: 0.1,
            evaluations: 9,
        };
        let progress = Progress {
            chains: vec![chain; 2],
            steps_wanted: 100,
            elapsed: 1.0,
            remaining: Some(1.0),
            rhat: Some(1.013),
            ess: None,
        };
        let text = describe("exact", &progress, 0.5);
        for word in ["exact", "80 draws", "accepted 25 %", "data read 10.0 %", "R-hat 1.01", "1 s left"] {
            assert!(text.contains(word), "{text}");
        }
    }
}
