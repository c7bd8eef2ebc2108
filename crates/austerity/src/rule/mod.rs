//! Who decides: rules that answer "is the total above a random threshold?" about a finite population.
//!
//! | file | what it holds |
//! |---|---|
//! | [`exact`] | [`Exact`]: reads everything; Metropolis–Hastings as it always was |
//! | [`certified`] | [`Certified`]: decides by what is certain about the total, and reads what that leaves open |
//! | [`sequential`] | [`Sequential`]: the sequential test of Korattikara, Chen & Welling (2014), generalised |
//! | [`looks`] | [`Looks`]: when the test looks at the data |
//! | [`bound`] | [`Bound`], [`Statistic`]: how extreme the statistic must be at each look |
//! | [`law`] | [`Law`]: the random threshold (Metropolis, compensated, logistic) |
//! | [`audit`] | [`Audit`]: a decision completed on all rows, to see how wrong it was |
//! | [`own`] | [`Own`]: a rule of one's own |
//! | [`guard`] | [`Guard`]: when a sample is too odd for a normal approximation |
//!
//! A rule draws its own randomness and never sees a model, a parameter or a data set.

pub mod audit;
pub mod bound;
pub mod certified;
pub mod exact;
pub mod guard;
pub mod law;
pub mod looks;
pub mod own;
pub mod sequential;

use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::population::{Access, Moments, Reveal};
use crate::rng::Rng;

pub use audit::Audit;
pub use bound::{Bound, Shape, Statistic, Time};
pub use certified::Certified;
pub use exact::Exact;
pub use guard::Guard;
pub use law::Law;
pub use looks::Looks;
pub use own::{ChainRule, Own, OwnRule};
pub use sequential::{Look, Sequential, SequentialSettings};

/// By what a tightened test multiplies its first look.
pub const TIGHTER_LOOK: usize = 4;
/// By what it divides its tolerance.
pub const TIGHTER_STOP: f64 = 3.0;

/// Why a decision ended when it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stopped {
    /// Every row was read: the decision is exact.
    Exhausted,
    /// The statistic passed the bound of its look.
    Bound,
    /// What is certain about the total settled it: the decision is exact.
    Certified,
    /// The standard error of the total log ratio fell below the absolute tolerance τ.
    Tolerance,
    /// A row is impossible under the candidate (log-likelihood −∞): rejected.
    Impossible,
    /// No test was made: the candidate was taken as it came.
    Untested,
    /// The proposal stayed where it was: nothing was asked.
    Unmoved,
    /// The prior or the proposal rules the candidate out (offset −∞): rejected without reading a row.
    Offset,
}

/// The outcome of one decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Whether the candidate becomes the state.
    pub accepted: bool,
    /// Rows the decision rests on, at most N.
    pub used: u64,
    /// Rows read, a row read again for a tie counted again.
    pub read: u64,
    /// Likelihood evaluations spent, passes for ties included.
    pub evaluations: u64,
    /// How often the test looked.
    pub looks: u32,
    /// Mean of the rows used.
    #[serde(with = "crate::diagnostics::summary::nullable")]
    pub mean: f64,
    /// Standard deviation of the rows used (NaN when a closed form did not need it).
    #[serde(with = "crate::diagnostics::summary::nullable")]
    pub sd: f64,
    /// μ0: the threshold on the mean; NaN when the offset alone decided.
    #[serde(with = "crate::diagnostics::summary::nullable")]
    pub threshold: f64,
    /// Why it ended.
    pub stopped: Stopped,
    /// How often the guard asked for more data.
    pub guarded: u32,
    /// What all rows say, when the decision was audited.
    pub audit: Option<Audit>,
}

impl Decision {
    /// The rejection of a candidate that the offset rules out.
    #[must_use]
    pub fn ruled_out() -> Self {
        Self::unread(false, Stopped::Offset)
    }

    /// The rejection of a candidate that is the state itself.
    #[must_use]
    pub fn unmoved() -> Self {
        Self::unread(false, Stopped::Unmoved)
    }

    /// The acceptance of a candidate that nothing was asked about.
    #[must_use]
    pub fn untested() -> Self {
        Self::unread(true, Stopped::Untested)
    }

    /// A decision on all rows, whose moments are known: accepted where their mean exceeds `threshold`.
    #[must_use]
    pub fn complete(all: &Moments, threshold: f64) -> Self {
        Self {
            accepted: !all.impossible() && all.mean > threshold,
            used: all.count,
            read: all.count,
            evaluations: 2 * all.count,
            looks: 1,
            mean: all.mean,
            sd: all.sd(),
            threshold,
            stopped: if all.impossible() { Stopped::Impossible } else { Stopped::Exhausted },
            guarded: 0,
            audit: None,
        }
    }

    /// A decision without reading a row.
    fn unread(accepted: bool, stopped: Stopped) -> Self {
        Self {
            accepted,
            used: 0,
            read: 0,
            evaluations: 0,
            looks: 0,
            mean: f64::NAN,
            sd: f64::NAN,
            threshold: f64::NAN,
            stopped,
            guarded: 0,
            audit: None,
        }
    }
}

/// Decides about a population it may reveal.
///
/// The candidate is accepted when Σ l_i + `offset` exceeds a random threshold; `offset` holds what is known
/// exactly: log prior ratio and log proposal ratio.
pub trait Rule<P: ?Sized> {
    /// Decides whether Σ l_i + `offset` exceeds a threshold that the rule draws.
    fn decide(&mut self, population: &mut P, offset: f64, rng: &mut Rng) -> Result<Decision>;

    /// How the rule reads, so that a model can prepare. By default it reads all rows at once.
    fn access(&self) -> Access {
        Access::Scan
    }

    /// Rows of the first look: what the next decision is sure to read. By default all of them.
    fn first_look(&self) -> usize {
        usize::MAX
    }
}

/// What Σ l_i is compared with.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    /// Known, added to the sum.
    offset: f64,
    /// Random, on the total.
    threshold: f64,
}

impl Comparison {
    /// μ0: the threshold on the mean of `rows` numbers.
    fn of_mean(self, rows: f64) -> f64 {
        (self.threshold - self.offset) / rows
    }
}

/// A rule that can also decide at a threshold from outside, for callers whose decisions share their randomness: the race of
/// `austerity_models::Gibbs` compares several values of a variable, each with one noise of its own.
pub trait DecideAt<P: ?Sized>: Rule<P> {
    /// Whether Σ l_i + `offset` exceeds `threshold`.
    fn decide_at(&mut self, population: &mut P, offset: f64, threshold: f64) -> Result<Decision>;
}

/// A rule as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum RuleSettings {
    /// Reads everything.
    Exact {
        /// The random threshold.
        law: Law,
    },
    /// Decides by what is certain about the total; reads everything where nothing is.
    Certified {
        /// The random threshold.
        law: Law,
    },
    /// The sequential test.
    Sequential(SequentialSettings),
    /// A rule of one's own.
    Own(Own),
}

impl From<SequentialSettings> for RuleSettings {
    fn from(settings: SequentialSettings) -> Self {
        Self::Sequential(settings)
    }
}

impl From<Own> for RuleSettings {
    fn from(rule: Own) -> Self {
        Self::Own(rule)
    }
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self::Exact { law: Law::Metropolis }
    }
}

impl RuleSettings {
    /// Builds the rule for a population of `rows` rows, checking every value.
    pub fn build(&self, rows: usize) -> Result<AnyRule> {
        match self {
            Self::Own(own) => own.build().map(AnyRule::Own),
            library => library.build_threshold(rows).map(AnyRule::Threshold),
        }
    }

    /// Builds a rule that can decide at a threshold from outside: any but one's own.
    pub fn build_threshold(&self, rows: usize) -> Result<ThresholdRule> {
        Ok(match self {
            Self::Exact { law } => ThresholdRule::Exact(Exact::new(*law)?),
            Self::Certified { law } => ThresholdRule::Certified(Certified::new(*law)?),
            Self::Sequential(settings) => ThresholdRule::Sequential(Sequential::new(settings, rows)?),
            Self::Own(own) => {
                let allowed =
                    "exact, certified or sequential: this kernel compares with thresholds of its own";
                return Err(setting("rule", own.name(), allowed));
            }
        })
    }

    /// The same test made stricter, because audits contradicted it: once, it looks at four times as many rows first and stops at a third of
    /// its tolerance τ; twice, it is exact. So is a test at once whose threshold is compensated: λ belongs to its looks.
    #[must_use]
    pub fn tightened(&self, times: usize) -> Self {
        let Self::Sequential(settings) = self else { return self.clone() };
        let exact = Self::Exact { law: settings.law.uncompensated() };
        match times {
            0 => self.clone(),
            1 if settings.law.uncompensated() == settings.law => {
                let looks = match &settings.looks {
                    Looks::Growing { first, growth } => {
                        Looks::Growing { first: first.saturating_mul(TIGHTER_LOOK), growth: *growth }
                    }
                    Looks::Custom { rows } => {
                        let first = rows.first().map_or(0, |first| first.saturating_mul(TIGHTER_LOOK));
                        Looks::Custom { rows: rows.iter().copied().filter(|&n| n >= first).collect() }
                    }
                };
                if looks == (Looks::Custom { rows: Vec::new() }) {
                    return exact;
                }
                let stop_at = settings.stop_at.map(|tau| tau / TIGHTER_STOP);
                let missed = settings.missed.map(|missed| missed / TIGHTER_LOOK as f64);
                Self::Sequential(SequentialSettings { looks, stop_at, missed, ..settings.clone() })
            }
            _ => exact,
        }
    }

    /// The random threshold.
    #[must_use]
    pub fn law(&self) -> Law {
        match self {
            Self::Exact { law } | Self::Certified { law } => *law,
            Self::Sequential(settings) => settings.law,
            Self::Own(own) => own.law(),
        }
    }

    /// Rows that are drawn together.
    #[must_use]
    pub fn block_rows(&self) -> usize {
        match self {
            Self::Exact { .. } | Self::Certified { .. } | Self::Own(_) => crate::BLOCK_ROWS,
            Self::Sequential(settings) => settings.block_rows,
        }
    }
}

/// A rule of the library, chosen at run time: each compares a total with a threshold, its own or one from outside.
#[derive(Clone, Debug)]
pub enum ThresholdRule {
    /// Reads everything.
    Exact(Exact),
    /// Decides by what is certain.
    Certified(Certified),
    /// The sequential test.
    Sequential(Sequential),
}

impl<P: Reveal + ?Sized> Rule<P> for ThresholdRule {
    fn decide(&mut self, population: &mut P, offset: f64, rng: &mut Rng) -> Result<Decision> {
        match self {
            Self::Exact(rule) => rule.decide(population, offset, rng),
            Self::Certified(rule) => rule.decide(population, offset, rng),
            Self::Sequential(rule) => rule.decide(population, offset, rng),
        }
    }

    fn access(&self) -> Access {
        match self {
            Self::Exact(rule) => Rule::<P>::access(rule),
            Self::Certified(rule) => Rule::<P>::access(rule),
            Self::Sequential(rule) => Rule::<P>::access(rule),
        }
    }

    fn first_look(&self) -> usize {
        match self {
            Self::Exact(rule) => Rule::<P>::first_look(rule),
            Self::Certified(rule) => Rule::<P>::first_look(rule),
            Self::Sequential(rule) => Rule::<P>::first_look(rule),
        }
    }
}

impl<P: Reveal + ?Sized> DecideAt<P> for ThresholdRule {
    fn decide_at(&mut self, population: &mut P, offset: f64, threshold: f64) -> Result<Decision> {
        match self {
            Self::Exact(rule) => rule.decide_at(population, offset, threshold),
            Self::Certified(rule) => rule.decide_at(population, offset, threshold),
            Self::Sequential(rule) => rule.decide_at(population, offset, threshold),
        }
    }
}

/// Any rule, chosen at run time.
#[derive(Clone, Debug)]
pub enum AnyRule {
    /// A rule of the library.
    Threshold(ThresholdRule),
    /// One's own.
    Own(OwnRule),
}

impl<'r> Rule<dyn Reveal + 'r> for AnyRule {
    fn decide(&mut self, population: &mut (dyn Reveal + 'r), offset: f64, rng: &mut Rng) -> Result<Decision> {
        match self {
            Self::Threshold(rule) => rule.decide(population, offset, rng),
            Self::Own(rule) => rule.0.decide(population, offset, rng),
        }
    }

    fn access(&self) -> Access {
        match self {
            Self::Threshold(rule) => Rule::<dyn Reveal + 'r>::access(rule),
            Self::Own(rule) => Rule::<dyn Reveal + 'r>::access(&*rule.0),
        }
    }

    fn first_look(&self) -> usize {
        match self {
            Self::Threshold(rule) => Rule::<dyn Reveal + 'r>::first_look(rule),
            Self::Own(rule) => Rule::<dyn Reveal + 'r>::first_look(&*rule.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_tightened_once_then_exact() {
        let test = SequentialSettings { stop_at: Some(0.03), ..SequentialSettings::constant(64, 0.01) };
        let rule = RuleSettings::Sequential(test.clone());
        assert_eq!(rule.tightened(0), rule);
        let RuleSettings::Sequential(once) = rule.tightened(1) else { panic!("still a test") };
        assert_eq!((once.looks.clone(), once.stop_at), (Looks::constant(256), Some(0.01)));
        assert_eq!(rule.tightened(2), RuleSettings::default());
        assert_eq!(RuleSettings::default().tightened(1), RuleSettings::default());
        let with = |looks: &[usize], law| {
            let looks = Looks::Custom { rows: looks.to_vec() };
            RuleSettings::Sequential(SequentialSettings { looks, law, ..test.clone() }).tightened(1)
        };
        let RuleSettings::Sequential(custom) = with(&[10, 30, 40, 90], Law::Logistic) else {
            panic!("a test")
        };
        assert_eq!(custom.looks, Looks::Custom { rows: vec![40, 90] });
        assert_eq!(with(&[10, 30], Law::Logistic), RuleSettings::Exact { law: Law::Logistic });
        assert_eq!(with(&[10, 90], Law::Compensated { lambda: 1.2 }), RuleSettings::default());
    }
}
