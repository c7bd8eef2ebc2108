//! Error and data use of a whole sequential test, at every drift.
//!
//! For the standardised distance μ_std = (μ − μ0)√(N−1)/σ_l between the mean and the threshold:
//! E(μ_std) = P(the test decides wrongly) = Σ_{j<J} P(stop at j on the wrong side), and
//! π̄(μ_std) = E\[n\]/N = π_1 + Σ_{j<J} (π_{j+1} − π_j)·P(on after j). The last look is never wrong. At
//! μ_std = 0 "wrong" means one side: E(0) = (1 − P(last look))/2, the largest value there is.
//!
//! Korattikara, Chen & Welling (2014), section 5.1 and supplement A; the paper's recursion on a grid is
//! [`paper_grid`](crate::theory::paper_grid()). Exact for the Gaussian random walk up to quadrature (about
//! 1e-9), or with merged looks ([`Accuracy::Fast`]) to 1e-4. Cost: see the module `sweep`; a millisecond for
//! 25 looks and 64 drifts. Do not use for heavy-tailed l, where the walk is not Gaussian.

use super::merge::visits;
use super::plan::TestPlan;
use super::sweep::{Passage, Precision, Sweep};

/// How thorough to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// Every look: error about 1e-9.
    Exact,
    /// Looks closer than 3 % in information time are merged: error below 1e-4 (7e-5 measured over shapes,
    /// levels and 1,000 to 3,250 looks). Plans of up to about 40 looks have none such: error about 1e-6.
    #[default]
    Fast,
}

/// E and π̄ at one drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// E: probability that the whole test decides wrongly.
    pub error: f64,
    /// π̄: expected share of the data.
    pub data_usage: f64,
}

/// Probabilities that a test stops at one of its looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// Share of the data at this look.
    pub share: f64,
    /// Probability of stopping here with the wrong decision.
    pub wrong: f64,
    /// Probability of stopping here with the right decision.
    pub right: f64,
}

/// Steps in ln t below which looks are merged; the second halves the first for the extrapolation.
const SPACING: [f64; 2] = [0.06, 0.03];
/// The corrected error falls like ds^1.65 (measured over ε = .01–.2, Pocock to O'Brien–Fleming), hence
/// 1/(2^1.65 − 1).
const EXTRAPOLATION: f64 = 0.47;

/// The random walk of a sequential test, swept once.
#[derive(Clone, Debug)]
pub struct TestWalk {
    plan: TestPlan,
    sweep: Sweep,
    /// With twice the spacing, when looks were merged.
    coarse: Option<Sweep>,
    /// Least error to own up to.
    floor: f64,
}

impl TestWalk {
    /// Sweeps over the looks of `plan`.
    #[must_use]
    pub fn new(plan: TestPlan, accuracy: Accuracy) -> Self {
        let (precision, spacing, floor) = match accuracy {
            Accuracy::Exact => (Precision::EXACT, [0.0, 0.0], 0.0),
            Accuracy::Fast => (Precision::FAST, SPACING, 1e-7),
        };
        let fine = visits(plan.stages(), spacing[1]);
        let coarse = visits(plan.stages(), spacing[0]);
        let first_share = fine.first().map_or(1.0, |visit| plan.stages()[visit.index].share);
        let sweep = |visits| Sweep::new(visits, first_share, precision);
        let coarse = (coarse.len() < fine.len()).then(|| sweep(&coarse));
        Self { sweep: sweep(&fine), coarse, plan, floor }
    }

    /// The looks.
    #[must_use]
    pub fn plan(&self) -> &TestPlan {
        &self.plan
    }

    /// E and π̄ at `mu_std`; only its size matters. Infinite: a certain decision. NaN counts as the worst, 0.
    #[must_use]
    pub fn outcome(&self, mu_std: f64) -> Outcome {
        let drift = usable(mu_std);
        let (mut error, mut data_usage) = self.sweep.outcome(drift);
        if let Some(coarse) = &self.coarse {
            let (coarse_error, coarse_usage) = coarse.outcome(drift);
            error = (error + EXTRAPOLATION * (error - coarse_error)).clamp(0.0, 0.5);
            data_usage += EXTRAPOLATION * (data_usage - coarse_usage);
            data_usage = data_usage.clamp(self.sweep.first_share(), 1.0);
        }
        Outcome { error, data_usage }
    }

    /// The largest error and data use: a mean at the threshold.
    #[must_use]
    pub fn worst_case(&self) -> Outcome {
        self.outcome(0.0)
    }

    /// Where the test stops at `mu_std`, look by look (the looks kept, when some were merged), the last look
    /// at the end.
    #[must_use]
    pub fn stopping(&self, mu_std: f64) -> Vec<Stopping> {
        let mut stops = Vec::new();
        let mut going = 1.0;
        self.sweep.passages(usable(mu_std), |visit, Passage { wrong, on }| {
            let share = self.plan.stages()[visit.index].share;
            stops.push(Stopping { share, wrong, right: (going - on - wrong).max(0.0) });
            going = on;
            true
        });
        stops.push(Stopping { share: 1.0, wrong: 0.0, right: going });
        stops
    }

    /// An estimate of the largest absolute error of E and π̄, over a few drifts.
    ///
    /// With merged looks the size of the extrapolation (an overestimate), otherwise the change when the
    /// number of nodes is doubled, which costs four sweeps; for [`Accuracy::Fast`] never below 1e-7. 1, that
    /// is nothing is known, when bounds and looks wanted more nodes than there is room for.
    #[must_use]
    pub fn error_estimate(&self) -> f64 {
        if !self.sweep.resolved() || self.coarse.as_ref().is_some_and(|coarse| !coarse.resolved()) {
            return 1.0;
        }
        let other = match &self.coarse {
            Some(coarse) => coarse,
            None => &Sweep::new(&visits(self.plan.stages(), 0.0), self.sweep.first_share(), Precision::FINER),
        };
        let factor = if self.coarse.is_some() { EXTRAPOLATION } else { 1.0 };
        [0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0]
            .iter()
            .map(|&drift| {
                let (a, b) = (self.sweep.outcome(drift), other.outcome(drift));
                factor * (a.0 - b.0).abs().max((a.1 - b.1).abs())
            })
            .fold(self.floor, f64::max)
    }

    /// The drift from which on the first look decides rightly but for one case in 10¹².
    pub(crate) fn certain_drift(&self) -> f64 {
        self.sweep.certain_drift()
    }

    /// Share of the data at the first look that can decide.
    #[must_use]
    pub fn first_share(&self) -> f64 {
        self.sweep.first_share()
    }
}

fn usable(mu_std: f64) -> f64 {
    if mu_std.is_nan() { 0.0 } else { mu_std.abs().min(1e150) }
}
