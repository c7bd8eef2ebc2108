//! The experiments and figures of Korattikara, Chen & Welling, "Austerity in MCMC Land: Cutting the
//! Metropolis–Hastings Budget" (2014), each with the paper's claims as named checks.
//!
//! | file | holds |
//! |---|---|
//! | [`logistic`] | section 6.1: logistic regression by random walk |
//! | [`context`] | [`Context`]: how large, which seed, where the data are, who is told of progress |
//! | [`outcome`] | [`Outcome`]: what an experiment found: figures, tables, [`Check`]s |
//! | [`trajectory`] | [`follow`](trajectory::follow): running means of a chain against CPU time and evaluations |
//! | [`curves`] | risk, bias² and variance of several chains, as curves |
//! | [`gibbs`] | supplement F: Gibbs sampling in a dense Markov random field |
//! | [`cache`] | ground truths, computed once and kept with their settings |
//! | [`selection`] | variable selection by reversible jump (section 6.3, supplement E) |
//! | [`parallel`] | chains on threads |
//! | [`clock`] | CPU time of the calling thread |
//! | [`langevin`] | section 6.4: Langevin dynamics with and without a test |
//! | [`ica`] | section 6.2: independent components |
//! | [`design`] | section 6.5: optimal sequential tests |
//! | [`theory`] | the experiment of section 5.1 and supplements A and B |
//! | [`write`](mod@write) | the folder of an experiment: SVG, CSV, JSON and a page |
//!
//! An experiment is a function of a [`Context`] that gives an [`Outcome`]; [`EXPERIMENTS`] lists them. A claim that does not
//! hold is a verdict, not an error.

pub mod cache;
pub mod clock;
pub mod context;
pub mod curves;
pub mod design;
pub mod error;
pub mod logistic;
pub mod langevin;
pub mod ica;
pub mod gibbs;
pub mod outcome;
pub mod parallel;
pub mod selection;
pub mod theory;
pub mod trajectory;
pub mod write;

mod page;

pub use context::{Context, Size, Stage};
pub use error::{Error, Result};
pub use outcome::{Check, Outcome, Section, Table, Verdict};

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What it is called on the command line and in file names.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&Context) -> Result<Outcome>,
}

/// Every experiment, in the order of the paper.
pub const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "logistic",
    about: "6.1: logistic regression on MNIST 7 against 9 by random walk",
    run: logistic::run,
    name: "langevin",
    about: "Langevin dynamics with and without a test (section 6.4)",
    run: langevin::run,
}];
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "ica",
        about: "independent components: risk of the mean Amari distance against time",
        run: ica::run,
    },
    Experiment {
        name: "design",
        about: "optimal sequential tests: error and data use against the target",
        run: design::run,
    },
];
    name: "selection",
    about: "variable selection in logistic regression by reversible jump",
    run: selection::run,
    name: "gibbs",
    about: "Gibbs sampling in a dense Markov random field (supplement F)",
    run: gibbs::run,
    name: "theory",
    about: "the error of the test by recursion and by simulation (section 5.1, supplements A and B)",
    run: theory::run,
}];
