//! What an experiment is told: how large, which seed, where data and ground truths are, whom to tell of progress.

use std::path::{Path, PathBuf};
use std::time::Instant;

use austerity::run::Control;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::extent::Extent;

/// How long an experiment may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// At most two minutes: shows that everything works.
    Quick,
    /// At most a quarter of an hour: the figures can be judged.
    Usual,
    /// The paper's data and numbers of steps: hours. A second of the paper's machine is a 64th of one
    /// ([`Context::of_the_papers`]).
    Paper,
}

impl Size {
    /// The value that belongs to this size.
    pub fn pick<T>(self, quick: T, usual: T, paper: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Usual => usual,
            Self::Paper => paper,
        }
    }
}

/// How far an experiment has come.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// What it is doing.
    pub doing: &'a str,
    /// Share of the work behind it.
    pub done: f64,
    /// Seconds since it began.
    pub elapsed: f64,
    /// Seconds left, by proportion; nothing before there is something to go by.
    pub remaining: Option<f64>,
}

/// What an experiment is told.
pub struct Context<'a> {
    /// How long it may take.
    pub size: Size,
    /// Share of the paper's steps at [`Size::Paper`].
    share: f64,
    /// The seed of everything random.
    pub seed: u64,
    /// Threads that run chains; at least 1.
    pub threads: usize,
    /// Where the data sets are.
    data: Vec<PathBuf>,
    /// Where ground truths are kept.
    pub(crate) cache: PathBuf,
    control: Control,
    observer: &'a (dyn Fn(&Stage) + Sync),
    start: Instant,
}

impl<'a> Context<'a> {
    /// A context that keeps ground truths in `cache` and tells `observer` how far it is. It has no data sets, and as many threads as the
    /// machine.
    pub fn new(size: Size, seed: u64, cache: &Path, observer: &'a (dyn Fn(&Stage) + Sync)) -> Self {
        let (data, cache, control) = (Vec::new(), cache.into(), Control::new());
        Self { size, share: 1.0, seed, threads: 0, data, cache, control, observer, start: Instant::now() }
            .threads(0)
    }

    /// This context with such a share of the paper's steps; of effect at [`Size::Paper`] only.
    #[must_use]
    pub fn share(self, share: f64) -> Self {
        Self { share: if self.size == Size::Paper { share.clamp(0.0, 1.0) } else { 1.0 }, ..self }
    }

    /// How much is run.
    #[must_use]
    pub fn extent(&self) -> Extent {
        Extent { size: self.size, share: self.share }
    }

    /// This context with so many threads; 0 for as many as the machine has.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            given => given,
        };
        Self { threads, ..self }
    }

    /// This context with data sets that are looked for in the directories `data`, in that order.
    #[must_use]
    pub fn data(self, data: Vec<PathBuf>) -> Self {
        Self { data, ..self }
    }

    /// This context, which ends when `control` is stopped.
    #[must_use]
    pub fn stopped_by(self, control: Control) -> Self {
        Self { control, ..self }
    }

    /// A data set, where it can be had.
    #[must_use]
    pub fn dataset(&self, file: &str) -> Option<PathBuf> {
        self.data.iter().map(|folder| folder.join(file)).find(|path| path.is_file())
    }

    /// Seconds that stand for so many of the paper's. Its exact chain made 9,500 steps in 50 seconds on MNIST; the textbook's loop makes some
    /// 12,000 in one second on a core of today, as the page of section 6.1 measures: a 64th of the time is as many steps.
    #[must_use]
    pub fn of_the_papers(&self, seconds: f64) -> f64 {
        seconds / 64.0
    }

    /// Tells what is being done and which share of the whole is behind; fails when the user has asked to stop.
    pub fn stage(&self, doing: &str, done: f64) -> Result<()> {
        if self.stopped() {
            return Err(Error::Interrupted);
        }
        let elapsed = self.start.elapsed().as_secs_f64();
        let remaining = (done > 0.02).then(|| elapsed * (1.0 - done) / done);
        (self.observer)(&Stage { doing, done, elapsed, remaining });
        Ok(())
    }

    /// Whether the user has asked to stop: long loops look now and then.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.control.stopped()
    }

    /// What stops a [`Sampler`](austerity::run::Sampler) of this experiment.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn stages_are_told_until_the_user_stops() {
        let told = Mutex::new(Vec::new());
        let observer =
            |stage: &Stage| told.lock().unwrap().push((stage.doing.to_owned(), stage.remaining.is_some()));
        let control = Control::new();
        let folder = std::env::temp_dir();
        let context = Context::new(Size::Quick, 1, &folder, &observer)
            .data(vec![folder.clone()])
            .stopped_by(control.clone());
        assert!(context.threads > 0 && context.dataset("no such file").is_none());
        context.stage("first", 0.0).unwrap();
        context.stage("second", 0.5).unwrap();
        control.stop();
        assert!(matches!(context.stage("third", 0.9), Err(Error::Interrupted)));
        assert_eq!(*told.lock().unwrap(), [("first".to_owned(), false), ("second".to_owned(), true)]);
    }
}
