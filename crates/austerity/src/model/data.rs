//! What a user brings: named columns and a response, checked, scaled and shuffled once.
//!
//! [`Data`] is what was given, [`CheckedData`] what survived the checks. Columns are shifted and scaled in f64
//! (dense ones; a rare column is only scaled, so that its zeros stay zeros) before they are stored as f32.
//! The shift and scale never change the posterior: states stay on the scale of the user's columns.

/// Data that passed every check, with the transformation under which columns are stored.
#[derive(Clone, Debug)]
pub struct CheckedData {
    /// Names of the columns.
    pub names: Vec<String>,
    /// The columns, in the user's row order and on the user's scale.
    pub columns: Vec<Vec<f64>>,
    /// Stored value = (value − shift)/scale.
    pub shift: Vec<f64>,
    /// See `shift`; positive.
    pub scale: Vec<f64>,
    /// The response.
    pub response: Vec<f64>,
    /// Frequency weights, when given: row i stands for that many equal rows.
    pub weights: Option<Vec<f64>>,
    /// Binomial trials, when given.
    pub trials: Option<Vec<f64>>,
    /// Known part of the linear predictor, when given.
    pub offset: Option<Vec<f64>>,
    /// Whether the first coefficient is an intercept.
    pub intercept: bool,
    /// Seed of the one shuffle of the storage; `None` keeps the user's order.
    pub shuffle: Option<u64>,
    /// Sentences about what looked odd but is no error.
    pub warnings: Vec<String>,
}

impl CheckedData {
    /// N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.response.len()
    }

    /// Number of coefficients, the intercept included.
    #[must_use]
    pub fn coefficients(&self) -> usize {
        self.columns.len() + usize::from(self.intercept)
    }

    /// Storage order: position p holds the user's row `storage_order()[p]`. Recomputed from the seed, not kept.
    #[must_use]
    pub fn storage_order(&self) -> Vec<u32> {
        storage_order(self.rows(), self.shuffle)
    }
}

/// The permutation that `shuffle` gives for `rows` rows; the identity without one.
#[must_use]
pub fn storage_order(rows: usize, shuffle: Option<u64>) -> Vec<u32> {
    use rand::seq::SliceRandom as _;
    let mut order: Vec<u32> = (0..rows as u32).collect();
    if let Some(seed) = shuffle {
        order.shuffle(&mut crate::rng::stream(seed, 0, crate::rng::Role::Shuffle));
    }
    order
}
