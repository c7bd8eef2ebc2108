//! What the errors of single decisions do to the stationary distribution: a temperature.
//!
//! A test accepts a move of log ratio Λ with P_ε(Λ) = min(1, e^Λ) + Δ(Λ, κ). Exact algorithms have
//! log{P(Λ)/P(−Λ)} = Λ; for a test that curve is nearly straight with slope β < 1, and the chain samples S^β
//! instead of S: a Gaussian posterior is wider by β^{−½}. β is the least-squares slope through the origin,
//! weighted by the moves made: Λ ~ N(−D²/2, D²) times P_ε(Λ), D the step energy D² = δᵀHδ, up to 3.25
//! standard deviations. The detailed-balance defect P_ε(Λ)/{P_ε(Λ) + P_ε(−Λ)} − 1/(1 + e^{−Λ}) is what no
//! temperature explains as well as what it does.
//!
//! Thresholds (log u)/λ with β(λ) = 1 cancel the heat ([`ErrorTable::compensation`]); λ depends on the looks
//! and on κ, tends to 1 as ε or κ → 0, and does not exist when the noise alone is too large. Under
//! compensation |Δ| is deliberately not small: judge by the defect.
//!
//! Derived for this library; agreement with chains: the sd of a posterior is predicted within 1–2 %. Not
//! exact: Gaussian target, Λ normal, one number for a curve. Cost: about 100 steps' integrals, below a
//! millisecond.

use super::acceptance::StepError;
use super::legendre::composite;
use super::table::ErrorTable;
use crate::error::{Result, setting};
use crate::rule::Law;

/// Moves further out than this many sds of Λ have no say in the temperature: they are hardly ever made.
const TYPICAL: f64 = 3.25;
/// … and further out than this in nothing.
const FAR: f64 = 7.0;
/// λ is looked for in [1/LARGEST, LARGEST].
const LARGEST: f64 = 64.0;

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
    /// β: the chain samples S^β.
    pub inverse_temperature: f64,
    /// β^{−½}: sd of the chain over sd of the posterior; infinite when β ≤ 0.
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
        moves.check()?;
        let Moves { energy_root: energy, kappa } = moves;
        self.step(law, 0.0, kappa)?; // checks law and κ once; below nothing can fail
        let mut slope = [0.0; 2];
        let mut sums = [0.0; 5];
        let mut failed = None;
        let mut add = |z: f64, weight: f64, typical: bool| {
            let ratio = energy * z - 0.5 * energy * energy;
            let weight = weight * (-0.5 * z * z).exp();
            let (forth, back) = match (self.step(law, ratio, kappa), self.step(law, -ratio, kappa)) {
                (Ok(forth), Ok(back)) => (forth, back),
                (Err(error), _) | (_, Err(error)) => {
                    failed = Some(error);
                    return;
                }
            };
            let accepts = |step: &StepError| (step.acceptance + step.delta).max(f64::MIN_POSITIVE);
            let (there, home) = (accepts(&forth), accepts(&back));
            if typical {
                slope[0] += weight * there * ratio * (there / home).ln();
                slope[1] += weight * there * ratio * ratio;
            }
            sums[0] += weight;
            sums[1] += weight * there;
            sums[2] += weight * forth.data_usage;
            sums[3] += weight * forth.delta.abs();
            sums[4] += weight * defect(ratio, there, home).abs();
        };
        // P has a kink at Λ = 0, that is at z = D/2.
        let mut breaks = [-FAR, -TYPICAL, TYPICAL, FAR, (0.5 * energy).min(FAR)];
        breaks.sort_by(f64::total_cmp);
        for pair in breaks.windows(2) {
            let typical = pair[0] >= -TYPICAL && pair[1] <= TYPICAL;
            composite(pair[0], pair[1], 2.0, 12, |z, weight| add(z, weight, typical));
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let beta = slope[0] / slope[1];
        Ok(Bias {
            inverse_temperature: beta,
            sd_inflation: if beta > 0.0 { beta.powf(-0.5) } else { f64::INFINITY },
            acceptance: sums[1] / sums[0],
            data_usage: sums[2] / sums[0],
            mean_delta: sums[3] / sums[0],
            mean_defect: sums[4] / sums[0],
        })
    }

    /// The λ of [`Law::Compensated`] at which the predicted temperature is 1, or `None` when no λ between
    /// 1/64 and 64 does it: then the noise of the test alone is wider than the threshold's, and a stricter
    /// bound is needed.
    pub fn compensation(&self, moves: Moves) -> Result<Option<f64>> {
        let excess = |lambda: f64| -> Result<f64> {
            Ok(self.bias(Law::Compensated { lambda }, moves)?.inverse_temperature - 1.0)
        };
        let (mut inner, mut inner_value) = (1.0, excess(1.0)?);
        if inner_value.abs() < 1e-9 {
            return Ok(Some(1.0));
        }
        let factor: f64 = if inner_value < 0.0 { 1.5 } else { 1.0 / 1.5 };
        loop {
            let outer = inner * factor;
            if !(1.0 / LARGEST..=LARGEST).contains(&outer) {
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
        if value.abs() < 1e-10 || (b.0 - a.0).abs() < 1e-10 * b.0.abs() {
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
