//! Which mode a state belongs to: the one whose weighted normal approximation is densest there.
//!
//! ```text
//! label(θ) = argmax_k  log s_k − ½ log det Σ_k − ½ (θ − m_k)'Σ_k⁻¹(θ − m_k)
//! ```
//!
//! s_k is the share of mode k, m_k and Σ_k its mean and covariance. The first of equals wins, so the label is a function of the state alone: whatever is chosen by it
//! (an expansion, a local step) stays a function of the state, and a chain that is resumed sees the same labels.
//!
//! Cost: d²/2 multiplications per mode. Any label keeps a sampler exact; one that puts states to the wrong mode makes decisions dear.

use serde::{Deserialize, Serialize};

use crate::WeighedMode;
use austerity::dot::dot;
use austerity::error::{Error, Result, setting};
use austerity::proposal::random_walk::factor_of;

/// Parameters whose working memory is on the stack.
const STACK: usize = 64;

/// A location and a scale: of a normal distribution or a Student t.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Component {
    pub(crate) mean: Vec<f64>,
    /// L of Σ = L Lᵀ, packed row by row.
    pub(crate) factor: Vec<f64>,
}

impl Component {
    pub(crate) fn new(mean: &[f64], covariance: &[f64]) -> Result<Self> {
        if let Some(&value) = mean.iter().find(|value| !value.is_finite()) {
            return Err(setting("centre of a mode", value, "finite numbers"));
        }
        Ok(Self { mean: mean.to_vec(), factor: factor_of(mean.len(), covariance)? })
    }

    /// |L⁻¹(θ − m)|².
    pub(crate) fn square(&self, state: &[f64]) -> f64 {
        let d = self.mean.len();
        let mut stack = [0.0; STACK];
        let mut heap = Vec::new();
        let room = if d <= STACK {
            &mut stack[..d]
        } else {
            heap.resize(d, 0.0);
            &mut heap[..]
        };
        let mut row = 0;
        for i in 0..d {
            let solved = dot(&self.factor[row..row + i], &room[..i]);
            room[i] = (state[i] - self.mean[i] - solved) / self.factor[row + i];
            row += i + 1;
        }
        dot(room, room)
    }

    /// ½ log det Σ.
    pub(crate) fn half_log_determinant(&self) -> f64 {
        (0..self.mean.len()).map(|i| self.factor[i * (i + 3) / 2].ln()).sum()
    }
}

/// The regions of several modes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regions {
    components: Vec<Component>,
    /// log s_k − ½ log det Σ_k.
    heights: Vec<f64>,
}

impl Regions {
    /// The regions of these modes, at least one, by their shares.
    pub fn new(modes: &[WeighedMode]) -> Result<Self> {
        let Some(first) = modes.first() else {
            return Err(setting("modes", "none", "at least one"));
        };
        let expected = first.mode.state.len();
        let mut regions = Self { components: Vec::new(), heights: Vec::new() };
        for WeighedMode { mode, share } in modes {
            if mode.state.len() != expected {
                let what = "state of a mode".into();
                return Err(Error::Dimension { what, expected, found: mode.state.len() });
            }
            if !(*share > 0.0 && share.is_finite()) {
                return Err(setting("share of a mode", share, "a positive finite number"));
            }
            let component = Component::new(&mode.state, &mode.covariance)?;
            regions.heights.push(share.ln() - component.half_log_determinant());
            regions.components.push(component);
        }
        Ok(regions)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.components.len()
    }

    /// Whether there is none: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// The number of the mode whose region holds `state`.
    #[must_use]
    pub fn label(&self, state: &[f64]) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, (component, height)) in self.components.iter().zip(&self.heights).enumerate() {
            let density = height - 0.5 * component.square(state);
            if density > best.1 {
                best = (k, density);
            }
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::model::Mode;

    fn mode(state: &[f64], covariance: &[f64], share: f64) -> WeighedMode {
        let (state, covariance) = (state.to_vec(), covariance.to_vec());
        WeighedMode { mode: Mode { state, log_density: 0.0, covariance, iterations: 1 }, share }
    }

    /// The weighted normal densities of two modes in two dimensions, by their formula.
    #[test]
    fn the_densest_mode_owns_a_state() {
        let modes =
            [mode(&[1.0, -1.0], &[4.0, 1.2, 1.2, 1.0], 0.7), mode(&[-1.0, 0.5], &[0.2, 0.0, 0.0, 3.0], 0.3)];
        let regions = Regions::new(&modes).unwrap();
        let first = |x: f64, y: f64| {
            let (a, b) = (x - 1.0, y + 1.0);
            0.7 / 2.56f64.sqrt() * (-0.5 * (a * a - 2.4 * a * b + 4.0 * b * b) / 2.56).exp()
        };
        let second = |x: f64, y: f64| {
            let (a, b) = (x + 1.0, y - 0.5);
            0.3 / 0.6f64.sqrt() * (-0.5 * (a * a / 0.2 + b * b / 3.0)).exp()
        };
        let mut seen = [0; 2];
        for i in -20..20 {
            for j in -20..20 {
                let (x, y) = (0.3 * f64::from(i), 0.31 * f64::from(j));
                let label = regions.label(&[x, y]);
                assert_eq!(label, usize::from(second(x, y) > first(x, y)), "{x} {y}");
                seen[label] += 1;
            }
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }

    #[test]
    fn modes_that_make_no_region_are_refused() {
        assert!(Regions::new(&[]).is_err());
        assert!(Regions::new(&[mode(&[0.0], &[1.0], 0.0)]).is_err());
        assert!(Regions::new(&[mode(&[0.0], &[-1.0], 1.0)]).is_err());
        assert!(Regions::new(&[mode(&[f64::NAN], &[1.0], 1.0)]).is_err());
        assert!(
            Regions::new(&[mode(&[0.0], &[1.0], 0.5), mode(&[0.0; 2], &[1.0, 0.0, 0.0, 1.0], 0.5)]).is_err()
        );
    }
}
