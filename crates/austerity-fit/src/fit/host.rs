//! Who asked for a fit: is told what happens, watches the chains, and may pause or end them.
//!
//! The program's host is a terminal, the Python package's a handle; a test or a service needs no more than a [`Control`].

use austerity::run::{Control, Observer, Progress, Settings};

use crate::output::Failure;
use crate::request::Dialect;
use crate::runs::Overview;

/// Who asked for a fit. As an [`Observer`] it is told how the chains go, a few times a second.
pub trait Host: Observer {
    /// The handle that pauses and ends the pilot and the chains.
    fn control(&self) -> Control;

    /// The language of its messages.
    fn dialect(&self) -> Dialect {
        Dialect::Shell
    }

    /// What is being done before the chains run.
    fn note(&mut self, _doing: &str) {}

    /// The plan of a run, or from where it goes on.
    fn plan(&mut self, _text: &str) -> Result<(), Failure> {
        Ok(())
    }

    /// Something that a person should know although the run goes on.
    fn warn(&mut self, _text: &str) {}

    /// Chains are about to run.
    fn begin(&mut self, _settings: &Settings) {}

    /// The chains have ended and everything is stored.
    fn end(&mut self) {}

    /// What can be said of the run.
    fn told(&mut self, _overview: &Overview) -> Result<(), Failure> {
        Ok(())
    }
}

/// A host that says nothing and only holds the handle.
#[derive(Clone, Debug, Default)]
pub struct Unattended(pub Control);

impl Observer for Unattended {
    fn progress(&mut self, _progress: &Progress) {}
}

impl Host for Unattended {
    fn control(&self) -> Control {
        self.0.clone()
    }
}
