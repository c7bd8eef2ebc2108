//! The error of one acceptance probability.
//!
//! A decision at log ratio R = Nμ + offset against the threshold T (log u, (log u)/λ, log(u/(1−u))) has
//! μ_std = (R − T)/κ, κ = Nσ_l/√(N−1), and goes wrong with probability E(|μ_std|). Over the randomness of T,
//! with density f,
//!
//! Δ = P_ε − P = κ∫₀^∞ {f(R + κx) − f(R − κx)} E(x) dx: errors on the two sides of R cancel in part, and
//! E_u\[error\] = κ∫₀^∞ {f(R + κx) + f(R − κx)} E(x) dx, E_u\[π̄\] likewise. |Δ| ≤ E_u\[error\] ≤ E(0).
//!
//! Korattikara, Chen & Welling (2014), section 5.1 and supplement B, with the standardisation that is missing
//! there. For Gibbs updates f is the logistic density (supplement, Gibbs; the threshold printed there as a
//! ratio of logs is a difference). Composite Gauss–Legendre in asinh x, split where f jumps; error that of
//! the [`ErrorTable`]. Cost: about 100 look-ups, a few microseconds. Depends on the data only through (R, κ).

use super::legendre::composite;
use super::table::ErrorTable;
use crate::error::{Result, setting};
use crate::rule::Law;

/// Panels of the integral, in asinh x, and nodes per panel.
const PANEL: f64 = 1.5;
const PANEL_NODES: usize = 12;
/// Where the density of the threshold has fallen by so many powers of e, panels end; the last is the end of
/// all.
const FOLDS: [f64; 3] = [3.0, 10.0, 40.0];

/// Beyond this κ (no posterior has it) every threshold is at the mean, seen from the walk; refused rather than
/// integrated over x of 1/κ.
const LARGEST_KAPPA: f64 = 1e9;

/// One Metropolis–Hastings (or Gibbs) decision, averaged over its own randomness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepError {
    /// P: what the exact algorithm accepts with, min(1, e^R) or 1/(1 + e^{−R}).
    pub acceptance: f64,
    /// Δ = P_ε − P.
    pub delta: f64,
    /// Probability that the test's decision differs from the exact one at the same threshold.
    pub mean_error: f64,
    /// E_u[π̄]: expected share of the data.
    pub data_usage: f64,
}

/// κ = Nσ_l/√(N−1): the spread of the full-data log ratio per unit of sampling noise (`sd` with divisor N).
pub fn kappa(sd: f64, rows: usize) -> Result<f64> {
    if rows < 2 {
        return Err(setting("rows (N)", rows, "at least 2"));
    }
    if !(sd >= 0.0 && sd.is_finite()) {
        return Err(setting("sd of the log-likelihood differences", sd, "a finite number, 0 or more"));
    }
    Ok(sd * rows as f64 / (rows as f64 - 1.0).sqrt())
}

impl ErrorTable {
    /// The error of a decision at total log ratio `ratio` = Nμ + log prior ratio + log proposal ratio.
    ///
    /// `kappa` 0 is a certain decision. An infinite `ratio` too. Under a compensated law P stays min(1, e^R):
    /// Δ is then what compensation does on purpose, and the detailed-balance defect is the measure to use.
    pub fn step(&self, law: Law, ratio: f64, kappa: f64) -> Result<StepError> {
        law.check()?;
        if ratio.is_nan() {
            return Err(setting("log ratio", ratio, "a number"));
        }
        if !(0.0..=LARGEST_KAPPA).contains(&kappa) {
            return Err(setting(
                "kappa",
                kappa,
                "a number from 0 to 1e9 (shorter moves have a smaller kappa)",
            ));
        }
        let target = match law {
            Law::Compensated { .. } => Law::Metropolis,
            other => other,
        };
        let acceptance = target.acceptance(ratio);
        let certain = law.acceptance(ratio) - acceptance;
        let mut sums = [0.0; 3];
        if kappa > 0.0 && ratio.is_finite() {
            sums = self.integrals(law, ratio, kappa);
        }
        Ok(StepError {
            acceptance,
            delta: (certain + sums[0]).clamp(-acceptance, 1.0 - acceptance),
            mean_error: sums[1],
            data_usage: (self.first_share() + sums[2]).min(1.0),
        })
    }

    /// Error and data use of one decision from the mean and sd (divisor N) of all N log-likelihood differences.
    pub fn step_of_moments(
        &self,
        law: Law,
        rows: usize,
        (mean, sd): (f64, f64),
        offset: f64,
    ) -> Result<StepError> {
        self.step(law, rows as f64 * mean + offset, kappa(sd, rows)?)
    }

    /// P_ε: the probability that the test accepts.
    pub fn acceptance(&self, law: Law, ratio: f64, kappa: f64) -> Result<f64> {
        self.step(law, ratio, kappa).map(|step| step.acceptance + step.delta)
    }

    fn integrals(&self, law: Law, ratio: f64, kappa: f64) -> [f64; 3] {
        let lambda = match law {
            Law::Compensated { lambda } => lambda,
            _ => 1.0,
        };
        let logistic = law == Law::Logistic;
        let density = |threshold: f64| {
            if logistic {
                let power = (-threshold.abs()).exp();
                power / ((1.0 + power) * (1.0 + power))
            } else if threshold < 0.0 {
                lambda * (lambda * threshold).exp()
            } else {
                0.0
            }
        };
        let size = ratio.abs();
        let place = |total: f64| (total.max(0.0) / kappa / self.scale()).asinh().min(self.end());
        // f is steep on both sides of the place x = |R|/κ of its jump or peak, and e^{−λκx} is near 0.
        let mut breaks = [place(size); 3 * FOLDS.len() + 2];
        breaks[0] = 0.0;
        for (k, folds) in FOLDS.iter().map(|folds| folds / lambda).enumerate() {
            breaks[3 * k + 2] = place(size + folds);
            breaks[3 * k + 3] = place(size - folds);
            breaks[3 * k + 4] = place(folds);
        }
        breaks.sort_by(f64::total_cmp);
        if !logistic && ratio >= 0.0 {
            breaks.iter_mut().for_each(|s| *s = s.max(place(size))); // the threshold is below 0 for sure
        }
        let mut sums = [0.0; 3];
        let mut add = |s: f64, weight: f64| {
            let power = s.exp();
            let (drift, stretch) = (self.drift_at(s), 0.5 * self.scale() * (power + 1.0 / power)); // sinh: no cancellation near 0
            let [error, usage] = self.at(s);
            let weight = weight * kappa * stretch;
            let (above, below) = (density(ratio + kappa * drift), density(ratio - kappa * drift));
            sums[0] += weight * (above - below) * error;
            sums[1] += weight * (above + below) * error;
            sums[2] += weight * (above + below) * usage;
        };
        for pair in breaks.windows(2) {
            composite(pair[0]..pair[1], PANEL, PANEL_NODES, &mut add);
        }
        sums
    }
}
