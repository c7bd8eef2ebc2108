//! How much is run: a size and, at the paper's size, a share of its numbers of steps.
//!
//! `--time` asks for what fits into so much CPU time. A share s of the paper's steps costs Σ (fixed + steps·min(1, ease·s)) over the chosen
//! experiments ([`Cost`]); [`share_for`] solves this for s by bisection. An experiment whose steps are cheap (`ease` above 1) gets
//! a larger share, up to all of them. The costs are estimates from one machine, so the time is met within a factor of two or so; what was run
//! is written on every page. Not for stopping at a time: an experiment ends when its steps are made.

use serde::{Deserialize, Serialize};

use crate::Experiment;
use crate::context::Size;

/// Smallest share that is tried; below it every amount is half that of [`Size::Quick`] anyway.
const LEAST: f64 = 1e-4;

/// A size with a share of the paper's steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// Which data, how many chains, which figures.
    pub size: Size,
    /// Share of the paper's numbers of steps and seconds; 1 at other sizes.
    pub share: f64,
}

impl From<Size> for Extent {
    fn from(size: Size) -> Self {
        Self { size, share: 1.0 }
    }
}

impl Extent {
    /// An amount that a share applies to, from those of the three sizes; never less than half the quick one, since there are more chains than there.
    #[must_use]
    pub fn amount(self, quick: f64, usual: f64, paper: f64) -> f64 {
        self.size.pick(quick, usual, (paper * self.share).max(paper.min(0.5 * quick)))
    }

    /// The same for counts.
    #[must_use]
    pub fn count(self, quick: u64, usual: u64, paper: u64) -> u64 {
        self.amount(quick as f64, usual as f64, paper as f64).round() as u64
    }

    /// The same for counts in memory.
    #[must_use]
    pub fn number(self, quick: usize, usual: usize, paper: usize) -> usize {
        self.amount(quick as f64, usual as f64, paper as f64).round() as usize
    }

    /// In words: "the paper's", "8.0 % of the paper's steps".
    #[must_use]
    pub fn words(self) -> String {
        match self.size {
            Size::Quick => "quick".into(),
            Size::Usual => "usual".into(),
            Size::Paper if self.share < 1.0 => {
                format!("the paper's, {:.1} % of its steps", 100.0 * self.share)
            }
            Size::Paper => "the paper's".into(),
        }
    }
}

/// What an experiment costs at the paper's size, in CPU seconds.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Whatever the share.
    pub fixed: f64,
    /// All of the paper's steps.
    pub steps: f64,
    /// How much larger its share is than that of the others.
    pub ease: f64,
}

impl Cost {
    /// The share of its own.
    #[must_use]
    pub fn share(&self, share: f64) -> f64 {
        (self.ease * share).min(1.0)
    }

    fn of(&self, share: f64) -> f64 {
        self.fixed + self.steps * self.share(share)
    }
}

/// CPU seconds that experiments take with such a share of the paper's steps.
#[must_use]
pub fn seconds_for<'a>(experiments: impl IntoIterator<Item = &'a Experiment>, share: f64) -> f64 {
    experiments.into_iter().map(|experiment| experiment.cost.of(share)).sum()
}

/// The share of the paper's steps with which experiments take so many CPU seconds; 1 where all of them fit.
#[must_use]
pub fn share_for<'a>(experiments: &(impl IntoIterator<Item = &'a Experiment> + Clone), seconds: f64) -> f64 {
    if seconds_for(experiments.clone(), 1.0) <= seconds {
        return 1.0;
    }
    let (mut low, mut high) = (LEAST, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if seconds_for(experiments.clone(), middle) > seconds { &mut high } else { &mut low }) = middle;
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EXPERIMENTS;

    #[test]
    fn a_share_fills_the_time_and_never_exceeds_the_paper() {
        let all = seconds_for(EXPERIMENTS, 1.0);
        assert_eq!(share_for(&EXPERIMENTS, all), 1.0);
        for seconds in [0.1 * all, 0.5 * all, 0.9 * all] {
            let share = share_for(&EXPERIMENTS, seconds);
            assert!((seconds_for(EXPERIMENTS, share) / seconds - 1.0).abs() < 1e-6, "{share}");
            assert!(
                EXPERIMENTS.iter().all(|one| one.cost.share(share) <= 1.0 && one.cost.share(share) >= share)
            );
        }
        // Too little time for anything: the least there is.
        assert!(share_for(&EXPERIMENTS, 0.0) < 2.0 * LEAST);
    }

    #[test]
    fn amounts_lie_between_the_quick_and_the_papers() {
        let extent = |size, share| Extent { size, share };
        assert_eq!(extent(Size::Paper, 0.5).count(10, 20, 1_000), 500);
        assert_eq!(extent(Size::Paper, 0.001).count(10, 20, 1_000), 5);
        assert_eq!(extent(Size::Paper, 0.001).count(20, 20, 5), 5);
        assert_eq!(Extent::from(Size::Usual).number(10, 20, 1_000), 20);
        assert_eq!(Extent::from(Size::Quick).amount(0.5, 1.0, 2.0), 0.5);
        assert_eq!(extent(Size::Paper, 0.08).words(), "the paper's, 8.0 % of its steps");
    }
}
