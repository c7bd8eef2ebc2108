//! A surrogate of a posterior with several modes: one expansion per mode, and at every state that of the mode whose region holds it.
//!
//! ```text
//! S(θ) = S_k(θ) + c_k,   r_i(θ) = r_i^k(θ),   k = label(θ)        c_k = log p(data|centre of k) − log p(data|centre of 0)
//! move θ → θ':   Σ_i r_i^{k'}(θ') − r_i^k(θ)
//! ```
//!
//! A Taylor expansion describes the likelihood near its centre only. The label ([`Regions`]) is a function of the state, so log p(data|θ) = S(θ) + Σ r_i(θ) holds
//! everywhere, and every rule decides about sums over rows as before ([`Surrogate`](crate::Surrogate)). A move within a region has the population of that region's expansion,
//! to the bit. A move across has two parts: what the old expansion leaves from θ to its centre, and what the new one leaves from its centre to θ'; the
//! centres themselves leave nothing. The c_k come from one pass over all rows in double precision, so the modes have their exact weights.
//!
//! Expansions may sample different numbers of rows, since each has its own certainty stratum. The population has as many numbers as the longest; a shorter one is
//! filled with zeros. Which rows of two expansions are added to one number does not matter: only the total does, and each is in random order. Limits and certificates of a
//! move across add up.
//!
//! Cost: that of each expansion to build and to hold, one pass for the c_k; d²/2 more multiplications per mode and density; a row of a move across costs two
//! residuals. Not for modes between which the posterior has a bridge of much mass: residuals are large there, and decisions read many rows.

pub mod residuals;

#[cfg(test)]
mod tests;

use crate::gradients::At;
use crate::surrogate::{CertainSteps, Expansion, ResidualGradient};
use crate::{PowerTail, Regions};
use austerity::error::{Error, Result, setting};
use austerity::population::{Batch, positions};

pub use residuals::SeveralResiduals;

/// An expansion per mode.
#[derive(Clone, Debug)]
pub struct SeveralExpansions<E> {
    parts: Vec<E>,
    /// c_k.
    offsets: Vec<f64>,
    regions: Regions,
    rows: usize,
}

impl<E: Expansion> SeveralExpansions<E> {
    /// Joins the expansions of one model, one per region and in their order. Reads all rows once.
    pub fn new(parts: Vec<E>, regions: Regions) -> Result<Self> {
        if parts.len() != regions.len() || parts.is_empty() {
            return Err(setting("expansions", parts.len(), "one per region"));
        }
        let centres: Vec<Vec<f64>> = parts.iter().map(|part| part.centre().to_vec()).collect();
        if let Some(k) = (0..parts.len()).find(|&k| regions.label(&centres[k]) != k) {
            let what = format!("centre of expansion {}", k + 1);
            return Err(setting(
                &what,
                regions.label(&centres[k]) + 1,
                "a state in the region of its own number",
            ));
        }
        let moves: Vec<_> = centres.iter().map(|centre| (&centres[0], centre)).collect();
        // With the prior, which an expansion knows at its centre.
        let differences = parts[0].exact_differences(&moves)?;
        let prior = |k: usize| parts[k].log_density(&centres[k]);
        let offsets: Vec<f64> =
            differences.iter().enumerate().map(|(k, change)| change - (prior(k) - prior(0))).collect();
        if let Some(&value) = offsets.iter().find(|value| !value.is_finite()) {
            return Err(setting("log-likelihood between two modes", value, "a finite number"));
        }
        let rows = parts.iter().map(Expansion::rows).max().unwrap_or(0);
        Ok(Self { parts, offsets, regions, rows })
    }

    /// The expansions.
    #[must_use]
    pub fn parts(&self) -> &[E] {
        &self.parts
    }

    /// The regions.
    #[must_use]
    pub fn regions(&self) -> &Regions {
        &self.regions
    }

    /// The number of the mode whose region holds `state`.
    #[must_use]
    pub fn label(&self, state: &[f64]) -> usize {
        self.regions.label(state)
    }

    /// The same with another weight of a mode: a deliberate mistake, to see it caught.
    #[doc(hidden)]
    #[must_use]
    pub fn with_wrong_offset(mut self, mode: usize, by: f64) -> Self {
        self.offsets[mode] += by;
        self
    }
}

impl<E: Expansion> Expansion for SeveralExpansions<E> {
    type Scratch = Vec<E::Scratch>;
    type Workspace = E::Workspace;
    type Residuals<'a>
        = SeveralResiduals<'a, E>
    where
        Self: 'a;

    fn rows(&self) -> usize {
        self.rows
    }

    fn dimension(&self) -> usize {
        self.parts[0].dimension()
    }

    /// That of the first mode.
    fn centre(&self) -> &[f64] {
        self.parts[0].centre()
    }

    fn log_density(&self, state: &[f64]) -> f64 {
        let k = self.label(state);
        self.parts[k].log_density(state) + self.offsets[k]
    }

    fn density_error(&self) -> Error {
        let told = self.parts.iter().map(Expansion::density_error);
        let mut usual = Error::PriorNotANumber;
        for error in told {
            if !matches!(error, Error::PriorNotANumber) {
                return error;
            }
            usual = error;
        }
        usual
    }

    fn log_density_gradient(
        &self,
        state: &[f64],
        workspace: &mut Self::Workspace,
        gradient: &mut [f64],
    ) -> f64 {
        let k = self.label(state);
        self.parts[k].log_density_gradient(state, workspace, gradient) + self.offsets[k]
    }

    fn scratch(&self) -> Self::Scratch {
        self.parts.iter().map(Expansion::scratch).collect()
    }

    fn residuals<'a>(
        &'a self,
        from: &[f64],
        to: &[f64],
        scratch: &'a mut Self::Scratch,
    ) -> SeveralResiduals<'a, E> {
        SeveralResiduals::new(self, from, to, scratch)
    }

    fn exact_differences(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Vec<f64>> {
        self.parts[0].exact_differences(moves)
    }

    fn check_state(&self, state: &[f64]) -> Result<()> {
        self.parts[0].check_state(state)
    }

    fn names(&self) -> Vec<String> {
        self.parts[0].names()
    }

    fn write(&self, state: &[f64], out: &mut [f64]) {
        self.parts[0].write(state, out);
    }

    /// As the first expansion has it; errors in rows of others name their own row.
    fn original_row(&self, position: usize) -> usize {
        self.parts[0].original_row(position.min(self.parts[0].rows().saturating_sub(1)))
    }

    fn fingerprint(&self) -> u64 {
        let words =
            self.parts.iter().map(Expansion::fingerprint).flat_map(|own| [own as u32, (own >> 32) as u32]);
        austerity::model::fingerprint(words)
    }

    /// Of the largest: they share the data.
    fn bytes(&self) -> usize {
        self.parts.iter().map(Expansion::bytes).max().unwrap_or(0)
    }
}

/// Coefficients that no expansion needs a sampled row for. A step that would leave its region is refused: there the expansion is another.
impl<E: CertainSteps> CertainSteps for SeveralExpansions<E> {
    type Memory = (usize, E::Memory);

    fn certain_parameters(&self) -> Vec<usize> {
        let mut all = self.parts[0].certain_parameters();
        for part in &self.parts[1..] {
            let own = part.certain_parameters();
            all.retain(|parameter| own.contains(parameter));
        }
        all
    }

    fn begin_certain(&self, state: &[f64], memory: &mut Self::Memory) {
        memory.0 = self.label(state);
        self.parts[memory.0].begin_certain(state, &mut memory.1);
    }

    fn certain_change(&self, memory: &Self::Memory, state: &[f64], parameter: usize, by: f64) -> f64 {
        let mut moved = state.to_vec();
        moved[parameter] += by;
        if self.label(&moved) != memory.0 {
            return f64::NEG_INFINITY;
        }
        self.parts[memory.0].certain_change(&memory.1, state, parameter, by)
    }

    fn take_certain(&self, memory: &mut Self::Memory, state: &[f64], parameter: usize, by: f64) {
        self.parts[memory.0].take_certain(&mut memory.1, state, parameter, by);
    }

    fn certain_tail(&self, parameter: usize) -> Option<PowerTail> {
        self.parts[0].certain_tail(parameter)
    }
}

impl<E: ResidualGradient> ResidualGradient for SeveralExpansions<E> {
    type Memory = E::Memory;

    fn residual_gradient(&self, at: At<'_>, memory: &mut Self::Memory, gradient: &mut [f64]) -> Result<()> {
        let At { state, batch } = at;
        let part = &self.parts[self.label(state)];
        let population = part.rows();
        if population == self.rows {
            return part.residual_gradient(at, memory, gradient);
        }
        // Beyond its rows an expansion leaves nothing.
        let rows: Vec<u32> =
            positions(batch.blocks, batch.block_rows, population).map(|position| position as u32).collect();
        let batch = Batch { blocks: &rows, block_rows: 1, population };
        part.residual_gradient(At { state, batch }, memory, gradient)
    }
}
