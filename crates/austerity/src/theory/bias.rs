//! What the errors of single decisions do to the stationary distribution: a temperature.
//!
//! A test accepts a move of log ratio Λ with P_ε(Λ) = min(1, e^Λ) + Δ(Λ, κ), and thereby too many bad moves. On a Gaussian target its chain spreads until moves up
//! make up for moves down. With δ the step, H the precision and D² = δᵀHδ the step energy, Λ = −δᵀHθ − D²/2 is half of what the energy θᵀHθ loses, and in
//! a chain whose sds are w times those of the target it has the law N(−D²/2, w²D²). So the chain's own w solves
//!
//! ```text
//! E[Λ·P_ε(Λ)] = 0,    Λ ~ N(−D²/2, w²D²)
//! ```
//!
//! the balance of its energy. Exact rules have w = 1; β = w^{−2} is the inverse temperature: the chain samples S^β instead of S. The balance is *not* an expansion for small
//! errors: moves are those of the wide chain, which meets larger |Λ| than the target's. (The slope of log{P(Λ)/P(−Λ)} under the target's own moves, the linear
//! response, predicts 1.34 where simulated chains have 1.37, and 2.09 where they have 2.31.) The detailed-balance defect P_ε(Λ)/{P_ε(Λ) + P_ε(−Λ)} − 1/(1 + e^{−Λ}) is what no
//! temperature explains as well as what it does.
//!
//! Steps of several lengths, as a walk makes them, balance together ([`ErrorTable::bias_of`]). A walk that adapts to an acceptance rate under the test makes
//! longer steps than an exact one, and is wider for it: see [`adapted`](super::adapted).
//!
//! Thresholds (log u)/λ with w(λ) = 1 cancel the heat ([`ErrorTable::compensation`]); λ depends on the looks
//! and on κ, tends to 1 as ε or κ → 0, and does not exist when the noise alone is too large. Under
//! compensation |Δ| is deliberately not small: judge by the defect.
//!
//! Derived for this library; agreement with chains: w within 1 % of simulated Gaussian chains at 1.37;
//! `tests/predicted_bias.rs` asserts 6 % for walks of fixed length and 10 % for walks that adapt. Not exact: Gaussian target and chain, one number for a shape. Cost: some 1,000 steps' integrals, a few milliseconds.

use super::acceptance::StepError;
use super::legendre::composite;
use super::table::ErrorTable;
use crate::error::{Result, setting};
use crate::rule::Law;

/// Moves further out than this many sds of Λ are not made.
const FAR: f64 = 7.0;
/// A chain wider than this has no finite spread for any purpose.
const WIDEST: f64 = 1e3;
/// Relative precision of w and λ, and a balance that is 0.
const PRECISION: f64 = 1e-7;
const NOTHING: f64 = 1e-9;
/// λ is looked for in [1/LARGEST_LAMBDA, LARGEST_LAMBDA].
const LARGEST_LAMBDA: f64 = 64.0;

/// The moves of a chain on a Gaussian target: Λ ~ N(−D²/2, D²), each decided with noise κ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moves {
    /// D in [1e-6, 1e3]: the root of the step energy δᵀHδ. (Acceptance of an exact chain: 2Φ(−D/2).)
    pub energy_root: f64,
    /// κ in [0, 1e6]: √N times the sd of the summands the test samples.
    pub kappa: f64,
}

impl Moves {
    /// Without a control variate κ = D by the information equality.
    #[must_use]
    pub fn plain(energy_root: f64) -> Self {
        Self { energy_root, kappa: energy_root }
    }

    fn check(&self) -> Result<()> {
        if !(1e-6..=1e3).contains(&self.energy_root) {
            return Err(setting("step energy root D", self.energy_root, "a number from 1e-6 to 1000"));
        }
        if !(0.0..=1e6).contains(&self.kappa) {
            return Err(setting("kappa of the moves", self.kappa, "a number from 0 to 1,000,000"));
        }
        Ok(())
    }
}

/// What a test does to a chain on a Gaussian target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bias {
    /// β = w^{−2}: the chain samples S^β.
    pub inverse_temperature: f64,
    /// w: sd of the chain over sd of the posterior; infinite beyond 1,000.
    pub sd_inflation: f64,
    /// Share of moves accepted.
    pub acceptance: f64,
    /// Expected share of the data per decision.
    pub data_usage: f64,
    /// Mean |Δ|.
    pub mean_delta: f64,
    /// Mean |detailed-balance defect|.
    pub mean_defect: f64,
}

impl ErrorTable {
    /// The detailed-balance defect at log ratio `ratio`; 0 for an exact rule.
    pub fn defect(&self, law: Law, ratio: f64, kappa: f64) -> Result<f64> {
        let forth = self.acceptance(law, ratio, kappa)?;
        let back = self.acceptance(law, -ratio, kappa)?;
        Ok(defect(ratio, forth, back))
    }

    /// The predicted bias of a chain that makes `moves`.
    pub fn bias(&self, law: Law, moves: Moves) -> Result<Bias> {
        self.bias_of(law, &[moves])
    }

    /// The predicted bias of a chain that makes one of several kinds of moves, each as often as the others.
    pub fn bias_of(&self, law: Law, moves: &[Moves]) -> Result<Bias> {
        if moves.is_empty() {
            return Err(setting("moves", 0, "at least one"));
        }
        for one in moves {
            one.check()?;
            self.step(law, 0.0, one.kappa)?; // checks law and κ once; below nothing can fail
        }
        let width = self.width(law, moves)?;
        // Where there is no finite spread, what happens at the widest.
        let at = width.min(WIDEST);
        let mut sums = [0.0; 5];
        for &one in moves {
            let mut failed = None;
            each(one, at, |ratio, weight| {
                let (forth, back) =
                    match (self.step(law, ratio, one.kappa), self.step(law, -ratio, one.kappa)) {
                        (Ok(forth), Ok(back)) => (forth, back),
                        (Err(error), _) | (_, Err(error)) => {
                            failed = Some(error);
                            return;
                        }
                    };
                let (there, home) = (accepts(&forth), accepts(&back));
                sums[0] += weight;
                sums[1] += weight * there;
                sums[2] += weight * forth.data_usage;
                sums[3] += weight * forth.delta.abs();
                sums[4] += weight * defect(ratio, there, home).abs();
            });
            failed.map_or(Ok(()), Err)?;
        }
        Ok(Bias {
            inverse_temperature: if width.is_finite() { width.powi(-2) } else { 0.0 },
            sd_inflation: width,
            acceptance: sums[1] / sums[0],
            data_usage: sums[2] / sums[0],
            mean_delta: sums[3] / sums[0],
            mean_defect: sums[4] / sums[0],
        })
    }

    /// What the energy loses a step over what moves of this size could make it lose: E\[ΛP\]/E\[Λ²P\], at sds `width` times the target's.
    fn balance(&self, law: Law, moves: &[Moves], width: f64) -> Result<f64> {
        let mut sums = [0.0; 2];
        let mut failed = None;
        for &one in moves {
            each(one, width, |ratio, weight| match self.step(law, ratio, one.kappa) {
                Ok(step) => {
                    let weight = weight * accepts(&step) * ratio;
                    sums[0] += weight;
                    sums[1] += weight * ratio;
                }
                Err(error) => failed = Some(error),
            });
        }
        failed.map_or(Ok(sums[0] / sums[1]), Err)
    }

    /// w; infinite where the balance is never reached.
    fn width(&self, law: Law, moves: &[Moves]) -> Result<f64> {
        let mut inner = (1.0, self.balance(law, moves, 1.0)?);
        if inner.1.abs() < NOTHING {
            return Ok(1.0);
        }
        let factor = if inner.1 < 0.0 { 1.3 } else { 1.0 / 1.3 };
        loop {
            let outer = inner.0 * factor;
            if !(1.0 / WIDEST..=WIDEST).contains(&outer) {
                return Ok(if factor > 1.0 { f64::INFINITY } else { 1.0 / WIDEST });
            }
            let outer = (outer, self.balance(law, moves, outer)?);
            if outer.1.signum() != inner.1.signum() {
                return root(|width| self.balance(law, moves, width), inner, outer);
            }
            inner = outer;
        }
    }

    /// The λ of [`Law::Compensated`] at which the predicted sds are those of the target, or `None` when no λ between
    /// 1/64 and 64 does it: then the noise of the test alone is wider than the threshold's, and a stricter
    /// bound is needed.
    pub fn compensation(&self, moves: Moves) -> Result<Option<f64>> {
        self.compensation_of(&[moves])
    }

    /// The λ that makes the sd right for a chain that makes one of several kinds of moves, each as often as the others.
    pub fn compensation_of(&self, moves: &[Moves]) -> Result<Option<f64>> {
        moves.iter().try_for_each(Moves::check)?;
        let excess = |lambda: f64| self.balance(Law::Compensated { lambda }, moves, 1.0);
        let (mut inner, mut inner_value) = (1.0, excess(1.0)?);
        if inner_value.abs() < NOTHING {
            return Ok(Some(1.0));
        }
        let factor: f64 = if inner_value < 0.0 { 1.5 } else { 1.0 / 1.5 };
        loop {
            let outer = inner * factor;
            if !(1.0 / LARGEST_LAMBDA..=LARGEST_LAMBDA).contains(&outer) {
                return Ok(None);
            }
            let outer_value = excess(outer)?;
            if outer_value.signum() != inner_value.signum() {
                return root(excess, (inner, inner_value), (outer, outer_value)).map(Some);
            }
            (inner, inner_value) = (outer, outer_value);
        }
    }
}

/// Calls `visit(Λ, weight)` at nodes of the law of Λ in a chain whose sds are `width` times the target's.
fn each(moves: Moves, width: f64, mut visit: impl FnMut(f64, f64)) {
    let (energy, spread) = (moves.energy_root, moves.energy_root * width);
    let place = |ratio: f64| ((ratio + 0.5 * energy * energy) / spread).clamp(-FAR, FAR);
    // P has a kink at Λ = 0 and is steep around it, over 1 and κ.
    let steep = 1.0 + moves.kappa;
    let mut breaks =
        [-FAR, place(-6.0 * steep), place(-steep), place(0.0), place(steep), place(6.0 * steep), FAR];
    breaks.sort_by(f64::total_cmp);
    for pair in breaks.windows(2) {
        composite(pair[0]..pair[1], 2.5, 12, |z, weight| {
            visit(spread * z - 0.5 * energy * energy, weight * (-0.5 * z * z).exp());
        });
    }
}

/// P_ε of a step.
fn accepts(step: &StepError) -> f64 {
    (step.acceptance + step.delta).max(f64::MIN_POSITIVE)
}

fn defect(ratio: f64, forth: f64, back: f64) -> f64 {
    let sum = forth + back;
    let share = if sum > 0.0 { forth / sum } else { 0.5 };
    share - 1.0 / (1.0 + (-ratio).exp())
}

/// A root between two points of opposite sign, by regula falsi with the Illinois modification.
fn root(f: impl Fn(f64) -> Result<f64>, mut a: (f64, f64), mut b: (f64, f64)) -> Result<f64> {
    for _ in 0..60 {
        let x = (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
        let value = f(x)?;
        if value.abs() < NOTHING || (b.0 - a.0).abs() < PRECISION * b.0.abs() {
            return Ok(x);
        }
        if value.signum() == b.1.signum() {
            a.1 *= 0.5;
        } else {
            a = b;
        }
        b = (x, value);
    }
    Ok(b.0)
}
