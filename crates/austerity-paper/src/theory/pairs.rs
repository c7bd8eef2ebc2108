//! Populations to test on: the log-likelihood differences of moves in a logistic regression with N = 12,214.
//!
//! The data are MNIST 7 against 9 on 50 principal components, prior precision 10, no constant (section 6.1); a generated regression
//! of the same shape stands in where they are missing. A state is a draw around the mode, a candidate one step of the random walk away.

use austerity::model::{Access, Mode, Model as _, find_mode};
use austerity::population::{Moments, Population as _};
use austerity::proposal::{Laplace, Proposal as _, RandomWalk};
use austerity::rng::{Role, stream};
use austerity::theory::kappa;
use austerity_glm::{Glm, Logistic, Prior, ResponseKind, generate};
use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, load};
use austerity_io::table::open;

use crate::{Context, Result, parallel};

/// Standard deviation of the random walk.
pub(super) const WALK_SD: f64 = 0.01;
/// Precision of the normal prior.
pub(super) const PRECISION: f64 = 10.0;
const FILE: &str = "mnist79_pca50_train.parquet";
/// The shape of those data.
const SHAPE: (usize, usize) = (12_214, 50);
/// Moves whose numbers are kept; of the others the moments are enough.
const KEPT: usize = 64;

/// One move: all that a test can see of it.
pub(super) struct Pair {
    /// The differences, for the first moves only.
    pub(super) values: Vec<f64>,
    /// Log prior ratio.
    pub(super) offset: f64,
    /// Mean of the differences.
    pub(super) mean: f64,
    /// Their standard deviation, divisor N.
    pub(super) sd: f64,
    pub(super) skewness: f64,
    pub(super) kurtosis: f64,
    /// Total log ratio.
    pub(super) ratio: f64,
    pub(super) kappa: f64,
}

/// Moves of one model.
pub(super) struct Moves {
    pub(super) pairs: Vec<Pair>,
    /// N.
    pub(super) rows: usize,
    /// Whether the paper's data were at hand.
    pub(super) real: bool,
    /// A sentence about the data.
    pub(super) about: String,
}

impl Moves {
    pub(super) fn median_kappa(&self) -> f64 {
        let mut kappas: Vec<f64> = self.pairs.iter().map(|pair| pair.kappa).collect();
        kappas.sort_by(f64::total_cmp);
        kappas[kappas.len() / 2]
    }

    /// Those whose numbers are kept.
    pub(super) fn kept(&self) -> &[Pair] {
        &self.pairs[..self.pairs.len().min(KEPT)]
    }
}

/// Makes `count` moves.
pub(super) fn moves(context: &Context, count: usize) -> Result<Moves> {
    let prior = |columns: usize| vec![Prior::normal(PRECISION.sqrt().recip()); columns];
    let (model, real) = match context.dataset(FILE) {
        Some(path) => {
            let options = CodingOptions { intercept: false, ..CodingOptions::new("label") };
            let how = LoadOptions { threads: Some(context.threads) };
            let loaded = load(&open(path)?, &options, Some(ResponseKind::Binary), context.seed, &how)?;
            let columns = loaded.store.coefficients();
            (Glm::from_store(Logistic, loaded.store, prior(columns))?, true)
        }
        None => {
            let data = generate::logistic(SHAPE.0, SHAPE.1).correlated(true).seed(context.seed).build()?.data;
            (Glm::new(Logistic, &data.check(ResponseKind::Binary)?, prior(SHAPE.1 + 1))?, false)
        }
    };
    let mode = find_mode(&model, &vec![0.0; model.parameters()])?;
    let numbers: Vec<usize> = (0..count.max(1)).collect();
    let pairs =
        parallel::each(context.threads, &numbers, |_, &number| one(&model, &mode, context.seed, number))?;
    let rows = model.len();
    let about = if real {
        format!("Data: MNIST 7 against 9, 50 principal components, N = {rows}, prior precision {PRECISION}.")
    } else {
        format!(
            "Data: {FILE} was not found, so a generated logistic regression of the same shape (N = {rows}, {} features) stands in; \
             `austerity data fetch mnist79` gets the true ones.",
            SHAPE.1
        )
    };
    Ok(Moves { pairs, rows, real, about })
}

fn one(model: &Glm<Logistic>, mode: &Mode, seed: u64, number: usize) -> Result<Pair> {
    let mut start = stream(seed, number as u32, Role::Start);
    let mut noise = stream(seed, number as u32, Role::Proposal);
    let (mut from, mut to) = (mode.state.clone(), mode.state.clone());
    Laplace::new(&mode.state, &mode.covariance)?.propose(&mode.state, &mut from, &mut start)?;
    RandomWalk::isotropic(from.len(), WALK_SD)?.propose(&from, &mut to, &mut noise)?;
    let rows = model.len();
    let mut values = vec![0.0; rows];
    let mut scratch = model.scratch(Access::Blocks);
    model.compare(&from, &to, &mut scratch).reveal(0..rows, &mut values)?;
    let moments = Moments::of(&values);
    let n = rows as f64;
    let sd = moments.sd() * ((n - 1.0) / n).sqrt();
    let offset = model.log_prior(&to) - model.log_prior(&from);
    Ok(Pair {
        offset,
        mean: moments.mean,
        sd,
        skewness: moments.skewness(),
        kurtosis: moments.kurtosis(),
        ratio: n * moments.mean + offset,
        kappa: kappa(sd, rows)?,
        values: if number < KEPT { values } else { Vec::new() },
    })
}
