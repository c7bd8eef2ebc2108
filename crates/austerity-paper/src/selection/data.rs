//! The data sets: 80 % of the rows to train on, columns standardised by their training rows, the others to predict.

use austerity::model::find_mode;
use austerity::model::storage_order;
use austerity::rng::{Role, stream};
use austerity_glm::{Data, Glm, Logistic, Prior, ResponseKind};
use austerity_io::table::{Column, open};
use austerity_models::{Selection, SelectionPrior, VariableSelection};
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::RATE;
use crate::context::Context;
use crate::error::Result;

/// Most rows that are predicted of data that are not the paper's; of MiniBooNE, and of what stands in for it, all are.
const PREDICTED: usize = 2000;
/// Prior standard deviation under which the mode with all features is looked for: weak, so that it exists for collinear columns.
const MODE_SD: f64 = 10.0;

/// A data set ready to be explored.
pub(super) struct Problem {
    /// What it is called in tables and file names.
    pub(super) name: &'static str,
    /// What it is called in headings.
    pub(super) title: &'static str,
    /// The training rows.
    pub(super) model: VariableSelection,
    /// Columns of the rows that are predicted, standardised as the training rows are.
    held_out: Vec<Vec<f64>>,
    /// Their responses.
    responses: Vec<f64>,
    /// All features at the mode.
    pub(super) mode: Selection,
    /// The intercept alone, at the log odds of the training rows.
    pub(super) single: Selection,
    note: String,
}

impl Problem {
    /// Splits, standardises and stores rows; responses are 0 and 1. Columns that are constant in training are left out.
    pub(super) fn new(
        name: &'static str,
        title: &'static str,
        columns: Vec<(String, Vec<f64>)>,
        response: &[f64],
        seed: u64,
    ) -> Result<Self> {
        let order = storage_order(response.len(), Some(seed));
        let (train, test) = order.split_at(response.len() * 4 / 5);
        let most = if name == "covertype" { PREDICTED } else { test.len() };
        let test = &test[..test.len().min(most)];
        let pick =
            |values: &[f64], rows: &[u32]| -> Vec<f64> { rows.iter().map(|&i| values[i as usize]).collect() };
        let (mut names, mut training, mut held_out, mut dropped) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (column, values) in columns {
            let mut inside = pick(&values, train);
            let n = inside.len() as f64;
            let mean = inside.iter().sum::<f64>() / n;
            let sd = (inside.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
            if sd == 0.0 {
                dropped.push(column);
                continue;
            }
            let standard = |v: &mut f64| *v = (*v - mean) / sd;
            inside.iter_mut().for_each(standard);
            let mut outside = pick(&values, test);
            outside.iter_mut().for_each(standard);
            names.push(column);
            training.push(inside);
            held_out.push(outside);
        }
        let labels = pick(response, train);
        let share = labels.iter().sum::<f64>() / labels.len() as f64;
        let single = Selection::new([(0, (share / (1.0 - share)).ln())])?;
        let data = Data::new(names, training, labels).shuffle(seed).check(ResponseKind::Binary)?;
        let model = VariableSelection::new(&data, SelectionPrior::paper(RATE)?)?;
        drop(data);
        let priors = vec![Prior::normal(MODE_SD); model.features()];
        let all = Glm::from_store(Logistic, model.store().clone(), priors)?;
        let mode = find_mode(&all, &vec![0.0; model.features()])?.state;
        let mode = Selection::new((0..).zip(mode).collect::<Vec<_>>())?;
        let note = if dropped.is_empty() {
            String::new()
        } else {
            format!(" Left out as constant in training: {}.", dropped.join(", "))
        };
        let responses = pick(response, test);
        Ok(Self { name, title, model, held_out, responses, mode, single, note })
    }

    /// Training rows.
    pub(super) fn rows(&self) -> usize {
        self.model.store().rows()
    }

    /// D, the constant included.
    pub(super) fn features(&self) -> usize {
        self.model.features()
    }

    /// Rows that are predicted.
    pub(super) fn predicted(&self) -> usize {
        self.responses.len()
    }

    /// P(y = 1) of every row that is predicted.
    pub(super) fn predict(&self, state: &Selection, out: &mut [f64]) {
        out.fill(0.0);
        for (feature, coefficient) in state.iter() {
            match feature.checked_sub(1) {
                None => out.iter_mut().for_each(|eta| *eta += coefficient),
                Some(column) => {
                    out.iter_mut().zip(&self.held_out[column]).for_each(|(eta, x)| *eta += coefficient * x);
                }
            }
        }
        out.iter_mut().for_each(|eta| *eta = 1.0 / (1.0 + (-*eta).exp()));
    }

    /// Share of the rows that `probabilities` put into the wrong class.
    pub(super) fn error(&self, probabilities: &[f64]) -> f64 {
        let wrong = probabilities.iter().zip(&self.responses).filter(|(p, y)| (**p > 0.5) != (**y > 0.5));
        wrong.count() as f64 / self.responses.len() as f64
    }

    /// The data in a sentence.
    pub(super) fn about(&self) -> String {
        let Self { title, note, .. } = self;
        format!(
            "{title}: {} training rows, {} features with the constant, predictions of {} held-out rows.{note}",
            self.rows(),
            self.features(),
            self.predicted()
        )
    }
}

/// Numeric columns of a data file and the response made of one of them; nothing when the file is not there.
type Columns = (Vec<(String, Vec<f64>)>, Vec<f64>);

fn read(context: &Context, file: &str, label: &str, of: impl Fn(f64) -> f64) -> Result<Option<Columns>> {
    let Some(path) = context.dataset(file) else { return Ok(None) };
    let table = open(path)?.read(None)?;
    let (mut columns, mut response) = (Vec::new(), Vec::new());
    for (name, column) in table.names.into_iter().zip(table.columns) {
        match column {
            Column::Numbers(values) if name == label => response = values.into_iter().map(&of).collect(),
            Column::Numbers(values) => columns.push((name, values)),
            Column::Levels { .. } => {}
        }
    }
    Ok(Some((columns, response)))
}

/// MiniBooNE as `austerity data fetch miniboone` prepares it, or the sample of it.
pub(super) fn miniboone(context: &Context, complete: bool) -> Result<Option<Problem>> {
    let (file, name, title) = if complete {
        ("miniboone.parquet", "miniboone", "MiniBooNE")
    } else {
        ("miniboone_sample.parquet", "miniboone_sample", "MiniBooNE, a sample")
    };
    let Some((columns, response)) = read(context, file, "label", |y| f64::from(y > 0.0))? else {
        return Ok(None);
    };
    Problem::new(name, title, columns, &response, context.seed).map(Some)
}

/// Covertype, class 2 against the rest.
pub(super) fn covertype(context: &Context) -> Result<Option<Problem>> {
    let two = |y: f64| f64::from(u8::from(y == 2.0));
    let Some((columns, response)) = read(context, "covtype.parquet", "Cover_Type", two)? else {
        return Ok(None);
    };
    Problem::new("covertype", "Covertype, class 2 against the rest", columns, &response, context.seed)
        .map(Some)
}

/// Data of MiniBooNE's shape: 50 features, neighbours correlated by .6, of which 12 are strong (±.4 to ±1.2), 20 weak
/// (N(0, .03²)) and 18 useless; 28 % positive.
pub(super) fn stand_in(rows: usize, seed: u64) -> Result<Problem> {
    const FEATURES: usize = 50;
    const CORRELATION: f64 = 0.6;
    let mut rng = stream(seed, 77, Role::Data);
    let mut coefficients = [0.0; FEATURES];
    for (place, feature) in rand::seq::index::sample(&mut rng, FEATURES, 32).into_iter().enumerate() {
        let z: f64 = StandardNormal.sample(&mut rng);
        let strong = rng.random_range(0.4..1.2) * if rng.random() { 1.0 } else { -1.0 };
        coefficients[feature] = if place < 12 { strong } else { 0.03 * z };
    }
    let fresh = (1.0 - CORRELATION * CORRELATION).sqrt();
    let mut columns = vec![Vec::new(); FEATURES];
    let mut predictors = Vec::with_capacity(rows);
    for _ in 0..rows {
        let (mut previous, mut predictor): (f64, f64) = (StandardNormal.sample(&mut rng), 0.0);
        for (column, coefficient) in columns.iter_mut().zip(coefficients) {
            let z: f64 = StandardNormal.sample(&mut rng);
            previous = CORRELATION * previous + fresh * z;
            predictor += coefficient * previous;
            column.push(previous);
        }
        predictors.push(predictor);
    }
    let sigmoid = |eta: f64| 1.0 / (1.0 + (-eta).exp());
    // The constant for 28 % positive responses, by halving.
    let (mut low, mut high) = (-20.0, 20.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let share = predictors.iter().map(|eta| sigmoid(eta + middle)).sum::<f64>() / rows as f64;
        if share < 0.28 { low = middle } else { high = middle }
    }
    let response: Vec<f64> =
        predictors.iter().map(|eta| f64::from(u8::from(rng.random::<f64>() < sigmoid(eta + low)))).collect();
    let columns = columns.into_iter().enumerate().map(|(j, column)| (format!("f{j}"), column)).collect();
    Problem::new("stand_in", "A stand-in of MiniBooNE's shape (generated)", columns, &response, seed)
}
