//! Variable selection in logistic regression: which features matter is part of the state.
//!
//! A state is the set γ of the k active features (k ≥ 1) and their coefficients β. With D features in all,
//!
//! ```text
//! P(y = 1) = σ(offset + Σ_{j ∈ γ} β_j x_j)      p(γ, β) ∝ λ^k B(k, D−k+1) · 2^−k ‖β‖₁^−k
//! ```
//!
//! Korattikara, Chen & Welling (2014), §6.3 and supplement E, after Chen, Wang & McKeown (2011); the prior is
//! explained in [`prior`], the moves between models are those of [`crate::Jump`] (Green 1995). The intercept, where
//! the data have one, is the first feature and comes and goes like the others, as the paper's constant does.
//!
//! Coefficients are on the scale of the user's columns and one prior holds for all: **standardise the columns**, or
//! ‖β‖₁ adds numbers of different units.
//!
//! Cost follows the active set, not D: of a row's columns those of the current state are read, and those that
//! change. A move of one coefficient costs k + 1 multiply-adds per row revealed; for a rule that scans, η of the current state is
//! kept (4 bytes per row and chain) and it costs one. Exact up to f32, as [`austerity_glm::glm`]. Do not use where
//! nearly all features are in the model anyway: [`austerity_glm::Glm`] reads straight through.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | [`VariableSelection`]: the model |
//! | [`state`] | [`Selection`]: the active features and their coefficients |
//! | [`prior`] | [`SelectionPrior`]: on the size of the model and on its coefficients |
//! | [`ratio`] | the population of a move, and a chain's working memory |
//! | `kernel` | the hot loops over blocks |

mod kernel;
pub mod prior;
pub mod ratio;
pub mod state;

#[cfg(test)]
mod tests;

use austerity::error::{Error, Result, setting};
use austerity::model::{Access, Fingerprint, Model, Parameters};
use austerity_glm::glm::Blocks;
use austerity_glm::simd::{self, Level};
use austerity_glm::{CheckedData, ResponseKind, Store};

pub use prior::SelectionPrior;
pub use ratio::{SelectionRatio, SelectionScratch};
pub use state::Selection;

/// Logistic regression on a part of the features, which part being unknown.
///
/// ```
/// use austerity_glm::{Data, ResponseKind};
/// use austerity_models::{Selection, SelectionPrior, VariableSelection};
/// use austerity_models::Jump;
/// use austerity::run::{Control, Sampler, Settings, Silent};
///
/// let noise = |i: u32, k: u32| f64::from(i.wrapping_mul(2_654_435_761).rotate_left(k) % 1000) / 289.0 - 1.73;
/// let useful: Vec<f64> = (0..800).map(|i| noise(i, 3)).collect();
/// let useless: Vec<f64> = (0..800).map(|i| noise(i, 17)).collect();
/// let response = useful.iter().zip(0..).map(|(x, i)| f64::from(x + 0.5 * noise(i, 9) > 0.0)).collect();
/// let data = Data::new(["useful", "useless"], vec![useful, useless], response).check(ResponseKind::Binary)?;
///
/// let model = VariableSelection::new(&data, SelectionPrior::new(0.1)?)?;
/// let start = Selection::new([(1, 0.5)])?;                          // feature 0 is the intercept
/// let jump = Jump::new(model.features(), 0.2, 0.5)?;
/// let run = Sampler::new(&model, &Settings::default(), &jump, &[start])?.run(&Control::new(), &mut Silent);
/// let included = |name: &str| run.summary().iter().find(|s| s.name == name).map(|s| s.mean);
/// assert!(included("useful_included") > Some(0.99) && included("useless_included") < Some(0.5));
/// # Ok::<(), austerity::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VariableSelection {
    store: Store,
    /// Shift and scale of every column.
    transform: Vec<(f64, f64)>,
    /// What the centred offset leaves to the constant of the linear predictor.
    side_constant: f64,
    /// Features that are no stored column: 1 with an intercept.
    first: usize,
    names: Vec<String>,
    prior: SelectionPrior,
    /// Log prior of every size, without the part of the coefficients.
    sizes: Vec<f64>,
    level: Level,
}

impl VariableSelection {
    /// Stores `data` in blocks.
    pub fn new(data: &CheckedData, prior: SelectionPrior) -> Result<Self> {
        for (row, &value) in data.response.iter().enumerate() {
            if value != 0.0 && value != 1.0 {
                return Err(Error::OutOfRange {
                    what: "response of variable selection".into(),
                    row,
                    value,
                    allowed: "0 or 1".into(),
                });
            }
        }
        Self::from_store(Store::new(data, ResponseKind::Binary)?, prior)
    }

    /// The model of rows that are stored already, as responses 0 and 1.
    pub fn from_store(store: Store, prior: SelectionPrior) -> Result<Self> {
        store.check_kind("variable selection", ResponseKind::Binary)?;
        let description = store.description();
        if description.layout().factors > 0 {
            return Err(setting(
                "columns of variable selection",
                "levels of a factor",
                "numbers, one column each",
            ));
        }
        Ok(Self {
            transform: description.columns.iter().map(|c| (c.transform.shift, c.transform.scale)).collect(),
            side_constant: description.side_constant(),
            first: usize::from(description.intercept),
            names: store.coefficient_names(),
            sizes: prior.sizes(store.coefficients()),
            prior,
            level: simd::detected(),
            store,
        })
    }

    /// D, the intercept included.
    #[must_use]
    pub fn features(&self) -> usize {
        self.names.len()
    }

    /// Names of the features: `intercept` first where there is one, then the columns.
    #[must_use]
    pub fn feature_names(&self) -> &[String] {
        &self.names
    }

    /// The prior.
    #[must_use]
    pub fn prior(&self) -> &SelectionPrior {
        &self.prior
    }

    /// The rows, prepared.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    fn blocks(&self) -> &Blocks {
        self.store.blocks()
    }

    /// Refuses a state with a feature that is not there.
    fn check_features(&self, state: &Selection) -> Result<()> {
        match state.features().last() {
            Some(&feature) if feature as usize >= self.features() => Err(Error::Setting {
                name: "feature".into(),
                value: feature.to_string(),
                allowed: format!("numbers below {}, counted from 0", self.features()),
            }),
            _ => Ok(()),
        }
    }
}

impl Model for VariableSelection {
    type State = Selection;
    type Scratch = SelectionScratch;
    type Ratio<'a> = SelectionRatio<'a>;

    fn len(&self) -> usize {
        self.blocks().rows()
    }

    fn scratch(&self, access: Access) -> SelectionScratch {
        SelectionScratch::new(self, access == Access::Scan)
    }

    fn check_state(&self, state: &Selection) -> Result<()> {
        self.check_features(state)
    }

    fn log_prior(&self, state: &Selection) -> f64 {
        self.prior.log_density(&self.sizes, state)
    }

    /// The cache in `scratch` is keyed by `from`, so it needs no word of acceptance.
    fn compare<'a>(
        &'a self,
        from: &'a Selection,
        to: &'a Selection,
        scratch: &'a mut SelectionScratch,
    ) -> SelectionRatio<'a> {
        SelectionRatio::new(self, from, to, scratch)
    }

    fn original_row(&self, position: usize) -> usize {
        self.store.original_row(position)
    }

    fn data_bytes(&self) -> usize {
        self.blocks().bytes()
    }

    /// Of at most 4,096 blocks spread over the storage, the names and the prior.
    fn fingerprint(&self) -> u64 {
        let mut fingerprint = Fingerprint::default();
        fingerprint.push(self.blocks().sample());
        fingerprint.push_text(&format!("selection {:?} {:?} {}", self.names, self.prior, self.len()));
        fingerprint.finish()
    }

    fn scratch_bytes(&self, access: Access) -> usize {
        SelectionScratch::bytes(self, access == Access::Scan)
    }
}

/// The size of the model; whether each feature is in it; the coefficient of each, 0 when it is not.
impl Parameters for VariableSelection {
    fn names(&self) -> Vec<String> {
        let included = self.names.iter().map(|name| format!("{name}_included"));
        ["size".to_owned()].into_iter().chain(included).chain(self.names.iter().cloned()).collect()
    }

    fn write(&self, state: &Selection, out: &mut [f64]) {
        out.fill(0.0);
        out[0] = state.size() as f64;
        let (included, coefficients) = out[1..].split_at_mut(self.features());
        for (feature, coefficient) in state.iter() {
            included[feature] = 1.0;
            coefficients[feature] = coefficient;
        }
    }
}
