//! Gibbs sampling of a discrete field, with the conditional decided by any rule.
//!
//! One step draws one variable from its conditional given the others.
//!
//! * Two values: x_i = 1 when Σ_n {log f_n(1) − log f_n(0)} > log(u/(1−u)), one decision under [`Law::Logistic`].
//! * More values: a race. Each value v has a Gumbel noise g_v, and the value with the largest Σ_n log f_n(v) + g_v wins,
//!   which is v with its conditional probability. The champion so far meets the next value in one decision with the
//!   threshold g_champion − g_v; V − 1 decisions in all. The noise belongs to the value, not to the decision: with fresh noise
//!   every time, later values would win too often.
//!
//! Korattikara, Chen & Welling (2014), supplement F, for two values, where the threshold is printed as a ratio of logs
//! (it is the log of a ratio); for the race see Gumbel (1954) and Maddison, Tarlow & Minka (2014). As exact as the rule: with
//! ε = 0 it equals the exact rule bit for bit. Each approximate conditional errs by at most Δ_max;
//! [`austerity::theory::gibbs_bound`] turns that into a bound on the stationary distribution.
//!
//! **Scans.** Systematic: step s updates variable s mod D, so that a chain's place in its sweep is its step number. Random:
//! the variable is drawn. Exact kernels leave the field invariant either way; the random scan is reversible.
//!
//! **When not to use it.** Strongly coupled variables hardly move one at a time, and a variable with few factors has no
//! sample to take.

use rand::RngExt as _;
use rand_distr::Open01;

use crate::field::{Conditional, Field, Neighbourhood};
use austerity::error::{Result, setting};
use austerity::kernel::Kernel;
use austerity::population::{BlockOrder, BlockReveal, Reveal};
use austerity::rng::{Rng, Streams};
use austerity::rule::{DecideAt as _, Decision, Law, Rule, RuleSettings, Stopped, ThresholdRule};

/// Blocks of the next variable that are fetched ahead; its own loop fetches the others.
const FETCH_AHEAD: usize = 4;

/// Which variable a step updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
    /// All in turn.
    #[default]
    Systematic,
    /// One at random.
    Random,
}

/// What a Gibbs chain is, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct GibbsSettings {
    /// Who decides; its law must be [`Law::Logistic`].
    pub rule: RuleSettings,
    /// Which variable a step updates.
    pub scan: Scan,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the chain.
    pub chain: u32,
}

impl Default for GibbsSettings {
    fn default() -> Self {
        let rule = RuleSettings::Exact { law: Law::Logistic };
        Self { rule, scan: Scan::default(), seed: 1, chain: 0 }
    }
}

/// One variable from its conditional.
///
/// A step's [`Decision`] tells in `accepted` whether the variable has changed its value. With more than two values its
/// counts are sums over the race (`used` is the mean), its mean, spread and threshold those of the last comparison.
#[derive(Clone, Debug)]
pub struct Gibbs<'f> {
    field: &'f Field,
    scan: Scan,
    /// A rule and an order for every number of factors that a variable has.
    sizes: Vec<Size>,
    /// Which of them each variable uses.
    size_of: Vec<u32>,
    neighbourhood: Neighbourhood,
}

#[derive(Clone, Debug)]
struct Size {
    factors: usize,
    rule: ThresholdRule,
    order: BlockOrder,
}

impl<'f> Gibbs<'f> {
    /// The kernel of one chain, every value of `settings` checked.
    pub fn new(field: &'f Field, settings: &GibbsSettings) -> Result<Self> {
        let GibbsSettings { rule, scan, seed, chain } = settings;
        if rule.law() != Law::Logistic {
            let found = format!("{:?}", rule.law());
            return Err(setting("law of the threshold", found, "logistic, for Gibbs updates"));
        }
        let degrees: Vec<usize> = (0..field.len()).map(|variable| field.degree(variable)).collect();
        let mut distinct = degrees.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let size = |&factors: &usize| {
            // A variable without factors has nothing to reveal; its order is never begun.
            let order = BlockOrder::new(factors.max(1), rule.block_rows(), *seed, *chain)?;
            Ok(Size { factors, rule: rule.build_threshold(factors.max(1))?, order })
        };
        let sizes = distinct.iter().map(size).collect::<Result<_>>()?;
        let size_of = degrees.iter().map(|n| distinct.partition_point(|d| d < n) as u32).collect();
        Ok(Self { field, scan: *scan, sizes, size_of, neighbourhood: Neighbourhood::default() })
    }

    /// The field.
    #[must_use]
    pub fn field(&self) -> &'f Field {
        self.field
    }

    /// Draws `variable` from its conditional. The streams stand at the beginning of a step.
    pub fn update(&mut self, variable: usize, state: &mut [u8], streams: &mut Streams) -> Result<Decision> {
        let conditional = self.field.conditional(variable, [1, 0], state, &mut self.neighbourhood)?;
        let size = &mut self.sizes[self.size_of[variable] as usize];
        let (value, mut decision) = if self.field.values(variable) == 2 {
            let decision = size.binary(conditional, streams)?;
            (u8::from(decision.accepted), decision)
        } else {
            size.race(&conditional, self.field.values(variable), streams)?
        };
        decision.accepted = value != state[variable];
        state[variable] = value;
        Ok(decision)
    }
}

impl Gibbs<'_> {
    /// Asks for the first blocks that `variable` will read at `step`.
    fn fetch(&mut self, variable: usize, step: u64) {
        let size = &mut self.sizes[self.size_of[variable] as usize];
        let first = Rule::<dyn Reveal>::first_look(&size.rule);
        if first < size.factors && size.order.block_rows() == austerity::BLOCK_ROWS {
            size.order.begin(step);
            let blocks = FETCH_AHEAD.min(first.div_ceil(austerity::BLOCK_ROWS));
            self.field.prefetch(variable, size.order.first(blocks));
        }
    }
}

impl Kernel for Gibbs<'_> {
    type State = Vec<u8>;
    type Learnt = ();

    fn learnt(&self) {}

    fn step(&mut self, state: &mut Vec<u8>, streams: &mut Streams) -> Result<Decision> {
        let variables = self.field.len();
        let variable = match self.scan {
            Scan::Systematic => (streams.step() % variables as u64) as usize,
            Scan::Random => streams.proposal.random_range(0..variables),
        };
        let decision = self.update(variable, state, streams)?;
        if self.scan == Scan::Systematic {
            self.fetch((variable + 1) % variables, streams.step() + 1);
        }
        Ok(decision)
    }
}

impl Size {
    /// Whether the variable takes value 1.
    fn binary(&mut self, mut conditional: Conditional<'_>, streams: &mut Streams) -> Result<Decision> {
        let offset = conditional.offset();
        if self.factors == 0 {
            return Ok(certain(offset > Law::Logistic.draw(&mut streams.decision)));
        }
        let mut cursor = BlockReveal::new(&mut conditional, &mut self.order, streams.step());
        self.rule.decide(&mut cursor as &mut dyn Reveal, offset, &mut streams.decision)
    }

    /// The value with the largest perturbed sum, and what finding it took.
    fn race(
        &mut self,
        conditional: &Conditional<'_>,
        values: u8,
        streams: &mut Streams,
    ) -> Result<(u8, Decision)> {
        let mut champion = (0, gumbel(&mut streams.decision));
        let mut all: Option<Decision> = None;
        for value in 1..values {
            let noise = gumbel(&mut streams.decision);
            let mut pair = conditional.between([value, champion.0]);
            let (offset, threshold) = (pair.offset(), champion.1 - noise);
            let decision = if self.factors == 0 {
                certain(offset > threshold)
            } else {
                let mut cursor = BlockReveal::new(&mut pair, &mut self.order, streams.step());
                self.rule.decide_at(&mut cursor as &mut dyn Reveal, offset, threshold)?
            };
            if decision.accepted {
                champion = (value, noise);
            }
            all = Some(all.map_or(decision, |before| joined(&before, &decision)));
        }
        let mut decision = all.unwrap_or_else(|| certain(false));
        decision.used = decision.used.div_ceil(u64::from(values) - 1);
        Ok((champion.0, decision))
    }
}

/// Standard Gumbel noise, −log(−log u).
fn gumbel(rng: &mut Rng) -> f64 {
    let u: f64 = rng.sample(Open01);
    -(-u.ln()).ln()
}

/// A decision that needed no factor.
fn certain(accepted: bool) -> Decision {
    Decision { accepted, stopped: Stopped::Exhausted, ..Decision::ruled_out() }
}

/// The later of two decisions with the counts of both; exhausted only if both are.
fn joined(before: &Decision, after: &Decision) -> Decision {
    Decision {
        used: before.used + after.used,
        read: before.read + after.read,
        evaluations: before.evaluations + after.evaluations,
        looks: before.looks + after.looks,
        guarded: before.guarded + after.guarded,
        stopped: if before.stopped == Stopped::Exhausted { after.stopped } else { before.stopped },
        ..*after
    }
}
