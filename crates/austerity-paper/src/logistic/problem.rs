//! The data of section 6.1, or generated data of the same shape, and predictions at the test points.
//!
//! Files `mnist79_pca50_train.parquet` and `mnist79_pca50_test.parquet`: a column `label` of ±1 and 50 scores. The stand-in has
//! independent normal columns whose variances fall like 2/j, as those of principal components do, and coefficients drawn from
//! the prior; the walk of the paper then accepts about as often as on the digits.

use austerity::model::Model as _;
use austerity::rng::{Role, stream};
use austerity_glm::{Data, Glm, Logistic, Prior, ResponseKind};
use austerity_io::table::{Column, open};
use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::PRECISION;
use crate::context::Context;
use crate::error::Result;

/// The posterior, and where it is asked to predict.
pub(super) struct Problem {
    /// The posterior.
    pub(super) model: Glm<Logistic>,
    /// Test points.
    pub(super) points: Points,
    /// Whether the data are generated.
    pub(super) stand_in: bool,
}

/// Features of test points, column by column.
pub(super) struct Points {
    columns: Vec<Vec<f64>>,
}

impl Points {
    pub(super) fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// p(y = 1) at every point, given the coefficients.
    pub(super) fn predict(&self, state: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (column, coefficient) in self.columns.iter().zip(state) {
            for (eta, x) in out.iter_mut().zip(column) {
                *eta += coefficient * x;
            }
        }
        for value in out.iter_mut() {
            *value = 1.0 / (1.0 + (-*value).exp());
        }
    }
}

impl Problem {
    /// The digits where they are at hand, else the stand-in.
    pub(super) fn load(context: &Context) -> Result<Self> {
        let files = ["train", "test"].map(|part| context.dataset(&format!("mnist79_pca50_{part}.parquet")));
        if let [Some(train), Some(test)] = files {
            let [train, test] = [read(&train)?, read(&test)?];
            return Self::new(train, test.0, false);
        }
        Self::generate(12_214, 2_037, 50, context.seed)
    }

    /// Generated rows and test points.
    pub(super) fn generate(rows: usize, points: usize, features: usize, seed: u64) -> Result<Self> {
        let mut rng = stream(seed, 0, Role::Data);
        let mut normal = || -> f64 { rng.sample(StandardNormal) };
        let truth: Vec<f64> = (0..features).map(|_| normal() / PRECISION.sqrt()).collect();
        let sd = |j: usize| (2.0 / (j + 1) as f64).sqrt();
        let columns: Vec<Vec<f64>> =
            (0..features).map(|j| (0..rows + points).map(|_| sd(j) * normal()).collect()).collect();
        let label = |row: usize| {
            let eta: f64 = columns.iter().zip(&truth).map(|(column, beta)| beta * column[row]).sum();
            f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-eta).exp())))
        };
        let response = (0..rows).map(label).collect();
        let train = columns.iter().map(|column| column[..rows].to_vec()).collect();
        let test = columns.iter().map(|column| column[rows..].to_vec()).collect();
        Self::new((train, response), test, true)
    }

    fn new(train: (Vec<Vec<f64>>, Vec<f64>), test: Vec<Vec<f64>>, stand_in: bool) -> Result<Self> {
        let (columns, response) = train;
        let names: Vec<String> = (1..=columns.len()).map(|j| format!("pc{j}")).collect();
        let priors = vec![Prior::normal(PRECISION.powf(-0.5)); columns.len()];
        let data = Data::new(names, columns, response).intercept(false).check(ResponseKind::Binary)?;
        Ok(Self { model: Glm::new(Logistic, &data, priors)?, points: Points { columns: test }, stand_in })
    }

    pub(super) fn rows(&self) -> usize {
        self.model.len()
    }

    pub(super) fn dimension(&self) -> usize {
        self.model.parameters()
    }
}

/// Features, column by column, and labels as 0 and 1.
fn read(path: &std::path::Path) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
    let table = open(path)?.read(None)?;
    let (mut columns, mut response) = (Vec::new(), Vec::new());
    for (name, column) in table.names.into_iter().zip(table.columns) {
        match column {
            Column::Numbers(values) if name == "label" => {
                response = values.into_iter().map(|label| f64::from(u8::from(label > 0.0))).collect();
            }
            Column::Numbers(values) => columns.push(values),
            Column::Levels { .. } => {}
        }
    }
    Ok((columns, response))
}
