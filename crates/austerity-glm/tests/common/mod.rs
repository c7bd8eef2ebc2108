//! What the statistical tests share: parameters drawn from their prior, data drawn given the parameters, and
//! p-values.

#![allow(dead_code, reason = "each test file uses its part")]

use austerity::kernel::Kernel;
use austerity::model::{Access, Model, from_fn};
use austerity::population::Population as _;
use austerity::rng::{Rng, Streams};
use austerity_glm::glm::Family;
use austerity_glm::{Data, Glm, Linear, Logistic, Noise, Poisson, Prior, ResponseKind, Student};
use austerity_models::Lasso;
use rand::RngExt as _;
use rand_distr::{Distribution as _, Open01, StandardNormal, StudentT};
use statrs::distribution::{ChiSquared, ContinuousCDF as _};

/// How far kernels move draws of the joint distribution: nowhere on average, if they leave the posterior as it is.
#[derive(Default)]
pub(crate) struct Drift {
    /// Of every function: changes, and their squares.
    sums: Vec<[f64; 2]>,
    accepted: f64,
    steps: f64,
    repeats: f64,
}

impl Drift {
    /// Makes so many steps of repetition `number` from `state`.
    pub(crate) fn follow<M: Model<State = Vec<f64>>>(
        &mut self,
        model: &M,
        state: &Vec<f64>,
        kernel: &mut impl Kernel<State = Vec<f64>>,
        (number, steps): (u32, u64),
    ) {
        let mut streams = Streams::new(5, number);
        let mut moved = state.clone();
        for step in 0..steps {
            streams.begin(step);
            self.accepted += f64::from(u8::from(kernel.step(&mut moved, &mut streams).unwrap().accepted));
        }
        let functions = |state: &Vec<f64>| {
            let mut values = state.clone();
            values.extend(state.iter().map(|v| v * v));
            values.push(log_likelihood(model, state));
            values
        };
        let change = functions(&moved).into_iter().zip(functions(state)).map(|(a, b)| a - b);
        for (i, change) in change.enumerate() {
            self.sums.resize(self.sums.len().max(i + 1), [0.0; 2]);
            self.sums[i] = [self.sums[i][0] + change, self.sums[i][1] + change * change];
        }
        self.steps += steps as f64;
        self.repeats += 1.0;
    }

    /// The largest |z| over the coordinates, their squares and the log-likelihood; and the acceptance rate.
    pub(crate) fn found(self) -> (f64, f64) {
        let n = self.repeats;
        let z = |[sum, squares]: [f64; 2]| sum / (squares - sum * sum / n).max(f64::MIN_POSITIVE).sqrt();
        let worst = self.sums.into_iter().map(|s| z(s).abs()).fold(0.0, f64::max);
        (worst, self.accepted / self.steps)
    }
}

/// Parameters from the prior and a model of data made with them: one draw from the joint distribution.
pub(crate) struct Joint<M> {
    pub(crate) state: Vec<f64>,
    pub(crate) model: M,
}

pub(crate) fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// A draw from a proper prior.
pub(crate) fn draw_prior(prior: &Prior, rng: &mut Rng) -> f64 {
    prior.draw(rng).unwrap_or_else(|| panic!("{prior} cannot be drawn from"))
}

/// Normal columns with a mean and an sd of their own, so that the shift and scale of the storage matter.
pub(crate) fn design(rows: usize, columns: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let column = |j: usize, rng: &mut Rng| {
        let (mean, sd) = (0.5 - 0.8 * j as f64, 1.0 + 0.3 * j as f64);
        (0..rows).map(|_| mean + sd * normal(rng)).collect()
    };
    (0..columns).map(|j| column(j, rng)).collect()
}

/// Linear predictor: the intercept comes first.
pub(crate) fn predictor(state: &[f64], columns: &[Vec<f64>], row: usize) -> f64 {
    state[0] + columns.iter().zip(&state[1..]).map(|(x, b)| x[row] * b).sum::<f64>()
}

fn named(columns: Vec<Vec<f64>>, response: Vec<f64>) -> Data {
    let names: Vec<String> = (1..=columns.len()).map(|j| format!("x{j}")).collect();
    Data::new(names, columns, response)
}

/// Times that are censored at exponential times with mean 1, which say nothing of the parameters.
fn censored(data: &Data, rng: &mut Rng) -> Data {
    let times = data.response();
    let ends: Vec<f64> = times.iter().map(|_| -(1.0 - rng.random::<f64>()).ln()).collect();
    let seen = times.iter().zip(&ends).map(|(time, end)| time.min(*end).max(f64::MIN_POSITIVE)).collect();
    let events = times.iter().zip(&ends).map(|(time, end)| f64::from(u8::from(time <= end))).collect();
    named(data.columns().to_vec(), seen).trials(events)
}

fn regression<F: Family>(
    family: F,
    kind: ResponseKind,
    rows: usize,
    priors: &[Prior],
    rng: &mut Rng,
    respond: impl Fn(f64, &[f64], &mut Rng) -> f64,
) -> Joint<Glm<F>> {
    let first = priors.len() - family.extra().len();
    let mut state: Vec<f64> = priors.iter().map(|p| draw_prior(p, rng)).collect();
    // Cut points rise: the prior is what it is of those that do.
    while family.is_rising() && !state[first..].is_sorted_by(|a, b| a < b) {
        state = priors.iter().map(|p| draw_prior(p, rng)).collect();
    }
    let columns = design(rows, first - 1, rng);
    let response = (0..rows).map(|i| respond(predictor(&state, &columns, i), &state, rng)).collect();
    let mut data = named(columns, response);
    if kind == ResponseKind::Time {
        data = censored(&data, rng);
    }
    let data = data.check(kind).unwrap();
    Joint { state, model: Glm::new(family, &data, priors.to_vec()).unwrap() }
}

pub(crate) fn logistic(rows: usize, priors: &[Prior], rng: &mut Rng) -> Joint<Glm<Logistic>> {
    regression(Logistic, ResponseKind::Binary, rows, priors, rng, |eta, _, rng| {
        f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-eta).exp())))
    })
}

pub(crate) fn poisson(rows: usize, priors: &[Prior], rng: &mut Rng) -> Joint<Glm<Poisson>> {
    regression(Poisson, ResponseKind::Count, rows, priors, rng, |eta, _, rng| {
        rand_distr::Poisson::new(eta.exp()).unwrap().sample(rng)
    })
}

/// The last prior is that of log σ.
pub(crate) fn student(rows: usize, freedom: f64, priors: &[Prior], rng: &mut Rng) -> Joint<Glm<Student>> {
    let noise = StudentT::new(freedom).unwrap();
    regression(Student { freedom }, ResponseKind::Real, rows, priors, rng, |eta, state, rng| {
        eta + state[state.len() - 1].exp() * noise.sample(rng)
    })
}

/// A regression of any family, its responses by the family's own sampler; priors of extra parameters last.
pub(crate) fn family<F: Family>(family: F, rows: usize, priors: &[Prior], rng: &mut Rng) -> Joint<Glm<F>> {
    regression(family, family.kind(), rows, priors, rng, |eta, state, rng| {
        family.sample(rng, eta, &state[state.len() - family.extra().len()..], 1.0)
    })
}

/// The noise sd is unknown; the last prior is that of log σ.
pub(crate) fn linear(rows: usize, priors: &[Prior], rng: &mut Rng) -> Joint<Linear> {
    let state: Vec<f64> = priors.iter().map(|p| draw_prior(p, rng)).collect();
    let (log_sigma, coefficients) = priors.split_last().unwrap();
    let columns = design(rows, coefficients.len() - 1, rng);
    let sigma = state[coefficients.len()].exp();
    let response = (0..rows).map(|i| predictor(&state, &columns, i) + sigma * normal(rng)).collect();
    let data = named(columns, response).check(ResponseKind::Real).unwrap();
    Joint { state, model: Linear::new(&data, coefficients, Noise::Unknown { prior: *log_sigma }).unwrap() }
}

/// The paper's toy, with noise precision 3.
pub(crate) fn lasso(rows: usize, rate: f64, rng: &mut Rng) -> Joint<Lasso> {
    let slope = draw_prior(&Prior::laplace(1.0 / rate), rng);
    let x: Vec<f64> = (0..rows).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<f64> = x.iter().map(|x| slope * x + normal(rng) / 3f64.sqrt()).collect();
    Joint { state: vec![slope], model: Lasso::new(&x, &y, 3.0, rate).unwrap() }
}

/// A user's own model: Weibull waiting times, standard normal log scale and log shape of sd ½.
pub(crate) fn weibull(rows: usize, rng: &mut Rng) -> Joint<impl Model<State = Vec<f64>> + use<>> {
    let state = vec![normal(rng), 0.5 * normal(rng)];
    let wait = |rng: &mut Rng| {
        let u: f64 = rng.sample(Open01);
        state[0] + (-u.ln()).ln() * (-state[1]).exp()
    };
    let logs: Vec<f64> = (0..rows).map(|_| wait(rng)).collect();
    let model = from_fn(
        rows,
        2,
        |state: &[f64]| -0.5 * (state[0] * state[0] + 4.0 * state[1] * state[1]),
        move |state: &[f64], row| {
            let z = (logs[row] - state[0]) * state[1].exp();
            state[1] + z - z.exp()
        },
    );
    Joint { state, model: model.unwrap() }
}

/// Log-likelihood of a state relative to the state of zeros.
pub(crate) fn log_likelihood<M: Model<State = Vec<f64>>>(model: &M, state: &Vec<f64>) -> f64 {
    let zeros = vec![0.0; state.len()];
    model.compare(&zeros, state, &mut model.scratch(Access::Blocks)).total().unwrap().sum()
}

/// p-value of Pearson's test that all cells have the same probability.
pub(crate) fn uniformity(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
    ChiSquared::new(counts.len() as f64 - 1.0).unwrap().sf(statistic)
}
