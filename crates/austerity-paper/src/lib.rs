//! The experiments and figures of Korattikara, Chen & Welling, "Austerity in MCMC Land: Cutting the
//! Metropolis–Hastings Budget" (2014), each with the paper's claims as named checks.
//!
//! | file | holds |
//! |---|---|
//! | [`context`] | [`Context`]: how large, which seed, where the data are, who is told of progress |
//! | [`claim`] | [`Claim`]: whose words, what is measured, the threshold and the test, all fixed before a run |
//! | [`outcome`] | [`Outcome`]: what an experiment found: figures, tables, [`Check`]s |
//! | [`trajectory`] | [`follow`](trajectory::follow): running means of a chain against CPU time and evaluations |
//! | [`curves`] | risk, bias² and variance of several chains, as curves |
//! | [`risk`] | [`Risk`](risk::Risk): mean squared error of estimates, split into bias² and variance |
//! | [`extent`] | [`Extent`]: a size and a share of the paper's steps; what fits into a given CPU time |
//! | [`cache`] | ground truths, computed once and kept with their settings |
//! | [`clock`] | CPU time of the calling thread |
//! | [`compare`](mod@compare) | a new run against a published one |
//! | [`write`](mod@write) | the folder of an experiment: SVG, CSV, JSON and a page |
//! | [`theory`] | section 5.1, supplements A and B: the error of the test, by recursion and by simulation |
//! | [`logistic`] | section 6.1: logistic regression on MNIST 7 against 9 by random walk |
//! | [`ica`] | section 6.2: independent components on the Stiefel manifold |
//! | [`selection`] | section 6.3: variable selection in logistic regression by reversible jump |
//! | [`langevin`] | section 6.4: Langevin dynamics with and without a test |
//! | [`design`] | section 6.5: optimal sequential tests, error and data use against the target |
//! | [`gibbs`] | supplement F: Gibbs sampling in a dense Markov random field |
//! | [`fetch`](mod@fetch) | the public data sets of the experiments: downloaded, checked, prepared |
//!
//! An experiment is a function of a [`Context`] that gives an [`Outcome`]; [`EXPERIMENTS`] lists them. A claim that does not
//! hold is a verdict, not an error.

pub mod cache;
pub mod claim;
pub mod clock;
pub mod compare;
pub mod context;
pub mod curves;
pub mod design;
pub mod error;
pub mod extent;
pub mod fetch;
pub mod gibbs;
pub mod ica;
pub mod langevin;
pub mod logistic;
pub mod outcome;
pub mod risk;
pub mod selection;
pub mod theory;
pub mod trajectory;
pub mod write;

mod enumerated;
mod page;

pub(crate) use austerity::parallel;

pub use claim::{Claim, Estimate, Source, Verdict};
pub use context::{Context, Size, Stage};
pub use error::{Error, Result};
pub use extent::{Cost, Extent};
pub use outcome::{Check, Outcome, Section, Table};

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What it is called on the command line and in file names.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// What it holds the paper to.
    pub claims: &'static [Claim],
    /// What it costs at the paper's size.
    pub cost: Cost,
    /// Runs it.
    pub run: fn(&Context) -> Result<Outcome>,
}

/// Every experiment, in the order of the paper.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "theory",
        about: "section 5.1, supplements A and B: the error of the test, by recursion and by simulation",
        claims: theory::CLAIMS,
        cost: Cost { fixed: 20.0, steps: 400.0, ease: 4.0 },
        run: theory::run,
    },
    Experiment {
        name: "logistic",
        about: "section 6.1: logistic regression on MNIST 7 against 9 by random walk",
        claims: logistic::CLAIMS,
        cost: Cost { fixed: 20.0, steps: 1330.0, ease: 4.0 },
        run: logistic::run,
    },
    Experiment {
        name: "ica",
        about: "section 6.2: independent components on the Stiefel manifold",
        claims: ica::CLAIMS,
        cost: Cost { fixed: 30.0, steps: 5700.0, ease: 1.0 },
        run: ica::run,
    },
    Experiment {
        name: "selection",
        about: "section 6.3: variable selection in logistic regression by reversible jump",
        claims: selection::CLAIMS,
        cost: Cost { fixed: 60.0, steps: 8500.0, ease: 1.0 },
        run: selection::run,
    },
    Experiment {
        name: "langevin",
        about: "section 6.4: Langevin dynamics with and without a test",
        claims: langevin::CLAIMS,
        cost: Cost { fixed: 10.0, steps: 3150.0, ease: 2.0 },
        run: langevin::run,
    },
    Experiment {
        name: "design",
        about: "section 6.5: optimal sequential tests, error and data use against the target",
        claims: design::CLAIMS,
        cost: Cost { fixed: 60.0, steps: 600.0, ease: 1.0 },
        run: design::run,
    },
    Experiment {
        name: "gibbs",
        about: "supplement F: Gibbs sampling in a dense Markov random field",
        claims: gibbs::CLAIMS,
        cost: Cost { fixed: 20.0, steps: 3600.0, ease: 2.0 },
        run: gibbs::run,
    },
];
