//! The state of a variable selection: the active features, ascending, and their coefficients.
//!
//! Features are numbered from 0, the intercept first where there is one. There is always at least one: without any the prior
//! of the coefficients does not exist (Γ(0) diverges). Memory and copies cost O(k). Stored in checkpoints as a list of pairs.

use serde::{Deserialize, Serialize};

use austerity::error::{Error, Result, setting};

/// Active features and their coefficients.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u32, f64)>", into = "Vec<(u32, f64)>")]
pub struct Selection {
    features: Vec<u32>,
    coefficients: Vec<f64>,
}

impl Selection {
    /// The features of these numbers with these coefficients, in any order.
    pub fn new(pairs: impl IntoIterator<Item = (u32, f64)>) -> Result<Self> {
        let mut pairs: Vec<(u32, f64)> = pairs.into_iter().collect();
        pairs.sort_by_key(|&(feature, _)| feature);
        if pairs.is_empty() {
            return Err(setting("selection", "empty", "at least one feature"));
        }
        if let Some(&(feature, _)) = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| &pair[0])
        {
            return Err(Error::Setting {
                name: "selection".into(),
                value: format!("twice feature {feature}"),
                allowed: "every feature once".into(),
            });
        }
        if let Some((feature, value)) = pairs.iter().find(|(_, value)| !value.is_finite()) {
            return Err(setting(&format!("coefficient of feature {feature}"), value, "a finite number"));
        }
        let (features, coefficients) = pairs.into_iter().unzip();
        Ok(Self { features, coefficients })
    }

    /// One feature with its coefficient.
    #[must_use]
    pub fn single(feature: u32, coefficient: f64) -> Self {
        Self { features: vec![feature], coefficients: vec![coefficient] }
    }

    /// k.
    #[must_use]
    pub fn size(&self) -> usize {
        self.features.len()
    }

    /// The active features, ascending.
    #[must_use]
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// Their coefficients, in that order.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The active features with their coefficients.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.features.iter().map(|&feature| feature as usize).zip(self.coefficients.iter().copied())
    }

    /// Whether a feature is active.
    #[must_use]
    pub fn includes(&self, feature: u32) -> bool {
        self.features.binary_search(&feature).is_ok()
    }

    /// The coefficient of a feature; 0 when it is not active.
    #[must_use]
    pub fn coefficient(&self, feature: u32) -> f64 {
        self.features.binary_search(&feature).map_or(0.0, |place| self.coefficients[place])
    }

    /// ‖β‖₁.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.coefficients.iter().map(|c| c.abs()).sum()
    }

    /// Adds `step` to the coefficient at `place` among the active ones.
    pub(crate) fn shift(&mut self, place: usize, step: f64) {
        self.coefficients[place] += step;
    }

    /// Makes the inactive feature number `rank` (from 0, in ascending order) active. Returns which it was.
    pub(crate) fn insert_inactive(&mut self, rank: usize, coefficient: f64) -> u32 {
        // The active features up to the one wanted push its number up by one each.
        let (mut feature, mut place) = (rank as u32, 0);
        while self.features.get(place).is_some_and(|&active| active <= feature) {
            feature += 1;
            place += 1;
        }
        self.features.insert(place, feature);
        self.coefficients.insert(place, coefficient);
        feature
    }

    /// Takes the feature at `place` among the active ones out. Returns its coefficient.
    pub(crate) fn remove(&mut self, place: usize) -> f64 {
        self.features.remove(place);
        self.coefficients.remove(place)
    }
}

impl Clone for Selection {
    fn clone(&self) -> Self {
        Self { features: self.features.clone(), coefficients: self.coefficients.clone() }
    }

    /// Without allocation where there is room.
    fn clone_from(&mut self, source: &Self) {
        self.features.clone_from(&source.features);
        self.coefficients.clone_from(&source.coefficients);
    }
}

impl TryFrom<Vec<(u32, f64)>> for Selection {
    type Error = Error;

    fn try_from(pairs: Vec<(u32, f64)>) -> Result<Self> {
        Self::new(pairs)
    }
}

impl From<Selection> for Vec<(u32, f64)> {
    fn from(selection: Selection) -> Self {
        selection.features.into_iter().zip(selection.coefficients).collect()
    }
}
