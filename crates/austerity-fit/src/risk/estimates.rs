//! What a setting costs and brings, as far as known.
//!
//! A step costs overhead + rows revealed in blocks × their price + rows scanned × theirs: a scan with cached states reads memory in order and costs less
//! a row. `workers` chains run at a time. What a segment has shown mends the price of that part of a step that costs most, and
//! the mixing of all settings by one factor; the latter with a weight n/(n + 20) on the logarithmic scale, n the effective draws
//! seen, since an effective sample size estimated from few is hardly known.
//!
//! Chains that begin a distance b from the posterior (in its sds) have, after s steps with decay e^{−2·worth} each, an average that is off by about
//! b/(2·worth·s).

use serde::{Deserialize, Serialize};

use super::pooled::Segment;

/// Effective draws at which the mixing that was seen weighs as much as that which was expected.
const KNOWN: f64 = 20.0;
/// One segment changes an estimate by no more than this factor, whatever the clock or an effective sample size of few draws says.
const LARGEST_CHANGE: f64 = 8.0;
/// An effective draw per step is as good as it gets; antithetic chains are not counted on.
const LARGEST_WORTH: f64 = 1.0;

/// One way to go on: a rule with a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// What it costs before the first draw.
    pub set_up: f64,
    /// What a step costs besides rows.
    pub overhead: f64,
    /// Likelihood evaluations per step of rows revealed in blocks.
    pub block_evaluations: f64,
    /// Likelihood evaluations per step of rows scanned.
    pub scan_evaluations: f64,
    /// Independent draws that a step is worth.
    pub worth: f64,
    /// Predicted sd of its draws over sd of the posterior.
    pub inflation: f64,
    /// Standard error of that prediction.
    pub doubt: f64,
}

impl Default for Offer {
    /// Exact, free, and as good as independent draws.
    fn default() -> Self {
        Self {
            set_up: 0.0,
            overhead: 0.0,
            block_evaluations: 0.0,
            scan_evaluations: 0.0,
            worth: 1.0,
            inflation: 1.0,
            doubt: 0.0,
        }
    }
}

impl Offer {
    fn makes_sense(&self) -> bool {
        let costs = [self.set_up, self.overhead, self.block_evaluations, self.scan_evaluations, self.doubt];
        costs.iter().all(|cost| *cost >= 0.0 && cost.is_finite())
            && self.worth > 0.0
            && self.inflation > 0.0
            && self.inflation.is_finite()
    }
}

/// What the parts of a step cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// Of a unit of the settings' overhead: 1 until the clock says otherwise.
    pub overhead: f64,
    /// Of the evaluation of a row revealed in a block.
    pub block: f64,
    /// Of the evaluation of a row scanned.
    pub scan: f64,
}

/// How chains are run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Number of chains.
    pub chains: u32,
    /// Chains that run at a time.
    pub workers: usize,
    /// Distance of the chains' starts from the posterior mean, in posterior sds.
    pub start: f64,
    /// Whether draws of earlier segments may be dropped.
    pub discard: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self { chains: 4, workers: 1, start: 0.0, discard: false }
    }
}

/// What a segment has shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Steps of all chains.
    pub steps: f64,
    /// What they cost, in units of the budget.
    pub cost: f64,
    /// Effective sample size of their draws.
    pub effective: f64,
}

/// What is known of costs and mixing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimates {
    /// How chains are run.
    pub terms: Terms,
    /// What rows cost.
    pub prices: Prices,
    /// Effective draws seen over those expected.
    pub mixing: f64,
}

impl Estimates {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(terms: Terms, prices: Prices) -> Self {
        Self { terms, prices, mixing: 1.0 }
    }

    /// What a step of one chain costs.
    #[must_use]
    pub fn step(&self, setting: &Offer) -> f64 {
        self.prices.overhead * setting.overhead
            + self.prices.block * setting.block_evaluations
            + self.prices.scan * setting.scan_evaluations
    }

    /// Independent draws that a step is worth.
    #[must_use]
    pub fn worth(&self, setting: &Offer) -> f64 {
        (setting.worth * self.mixing).min(LARGEST_WORTH)
    }

    /// Steps of all chains that `left` affords after the set-up; 0 where a number makes no sense.
    #[must_use]
    pub fn steps(&self, setting: &Offer, left: f64) -> f64 {
        let cost = self.step(setting);
        let time = left - setting.set_up;
        if !(setting.makes_sense() && cost > 0.0 && cost.is_finite() && time > 0.0 && time.is_finite()) {
            return 0.0;
        }
        time / cost * self.parallel()
    }

    /// The segment that `left` affords and the squared error of its start; `None` below one step per chain.
    #[must_use]
    pub fn expect(&self, setting: &Offer, left: f64) -> Option<(Segment, f64)> {
        let steps = self.steps(setting, left);
        let each = steps / f64::from(self.terms.chains.max(1));
        if each.is_nan() || each < 1.0 {
            return None;
        }
        let worth = self.worth(setting);
        let forgotten = self.terms.start / (2.0 * worth * each).max(1.0);
        let segment =
            Segment { steps, effective: steps * worth, inflation: setting.inflation, doubt: setting.doubt };
        Some((segment, forgotten * forgotten))
    }

    /// Learns from a segment and says what it is worth among the others. What makes no sense teaches nothing.
    pub fn update(&mut self, setting: &Offer, seen: &Observed) -> Segment {
        let sound = |x: f64| x > 0.0 && x.is_finite();
        if sound(seen.steps) && sound(seen.cost) {
            self.learn_price(setting, seen);
        }
        let expected = seen.steps * setting.worth;
        if sound(expected) && sound(seen.effective) {
            let weight = seen.effective / (seen.effective + KNOWN);
            let change = (seen.effective / (expected * self.mixing)).powf(weight);
            self.mixing *= change.clamp(1.0 / LARGEST_CHANGE, LARGEST_CHANGE);
        }
        let steps = if sound(seen.steps) { seen.steps } else { 0.0 };
        Segment {
            steps,
            effective: steps * self.worth(setting),
            inflation: setting.inflation,
            doubt: setting.doubt,
        }
    }

    /// The price that explains what was paid, of the part of a step that costs most.
    fn learn_price(&mut self, setting: &Offer, seen: &Observed) {
        let paid = seen.cost * self.parallel() / seen.steps;
        let Prices { overhead, block, scan } = &mut self.prices;
        let mut parts = [
            (*overhead * setting.overhead, overhead),
            (*block * setting.block_evaluations, block),
            (*scan * setting.scan_evaluations, scan),
        ];
        parts.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let [(largest, price), (second, _), (third, _)] = parts;
        let change = (paid - second - third) / largest;
        if change.is_finite() {
            *price *= change.clamp(1.0 / LARGEST_CHANGE, LARGEST_CHANGE);
        }
    }

    /// Chains that run at a time.
    fn parallel(&self) -> f64 {
        let chains = f64::from(self.terms.chains.max(1));
        let workers = self.terms.workers.max(1) as f64;
        if workers >= chains { chains } else { workers }
    }
}
