//! Posteriors of chains against known answers, and how far a subsampled test departs from them.
//!
//! | model | answer |
//! |---|---|
//! | the paper's lasso toy | closed form |
//! | linear, normal priors, known noise | conjugate: normal with precision X'X/σ² + 1/s² |
//! | logistic with two coefficients | quadrature on a fine grid |
//!
//! Means, sds and quantiles must lie within 4.5 Monte Carlo standard errors (Vehtari et al. 2021) of the answer: a
//! false-alarm rate of 7e-6 for each of 45 numbers, 3e-4 in all, as good as the normal approximation; the seeds
//! are fixed. The partners run the same chains with hasty decisions and must miss.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{design, normal, predictor};
use austerity::diagnostics::{mcse_mean, mcse_quantile, mcse_sd, quantile};
use austerity::model::{Parameters, find_mode};
use austerity::proposal::{AnyProposal, RandomWalk};
use austerity::rng::{Role, stream};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Control, Ended, Sampler, Settings, Silent};
use austerity_glm::{CheckedData, Data, Glm, Linear, Logistic, Noise, Prior, ResponseKind};
use austerity_models::Lasso;
use nalgebra::{DMatrix, DVector};
use rand::RngExt as _;
use statrs::distribution::{ContinuousCDF as _, Normal};

/// Standard errors within which an exact chain must be.
const WITHIN: f64 = 4.5;
const LEVELS: [f64; 3] = [0.05, 0.5, 0.95];

/// The answer for one parameter.
#[derive(Clone, Debug)]
struct Answer {
    mean: f64,
    sd: f64,
    /// At [`LEVELS`].
    quantiles: [f64; 3],
}

/// Draws of one parameter, chain by chain.
type Draws = Vec<Vec<f64>>;

fn draws<M: Parameters<State = Vec<f64>>>(
    model: &M,
    rule: RuleSettings,
    walk: RandomWalk,
    start: &[f64],
    count: u64,
) -> Vec<Draws> {
    let settings = Settings { chains: 4, warmup: 500, draws: count, seed: 42, rule, ..Settings::default() };
    let proposal: AnyProposal = walk.into();
    let sampler = Sampler::new(model, &settings, &proposal, &[start.to_vec()]).unwrap();
    let run = sampler.run(&Control::new(), &mut Silent);
    assert_eq!(run.ended, Ended::Draws);
    (0..model.names().len()).map(|j| run.trace.parameter(j)).collect()
}

/// Sd of all draws, and its Monte Carlo standard error.
fn sd_and_error(draws: &Draws) -> (f64, f64) {
    let all: Vec<f64> = draws.iter().flatten().copied().collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let squares: f64 = all.iter().map(|v| (v - mean).powi(2)).sum();
    let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
    ((squares / (all.len() - 1) as f64).sqrt(), mcse_sd(&chains))
}

/// Distance of mean, sd and quantiles from the answer, in Monte Carlo standard errors.
fn distances(draws: &Draws, answer: &Answer) -> Vec<f64> {
    let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
    let all = draws.iter().flatten();
    let mean = all.clone().sum::<f64>() / all.count() as f64;
    let (sd, sd_error) = sd_and_error(draws);
    let mut distances = vec![(mean - answer.mean) / mcse_mean(&chains), (sd - answer.sd) / sd_error];
    for (level, expected) in LEVELS.into_iter().zip(answer.quantiles) {
        distances.push((quantile(&chains, level) - expected) / mcse_quantile(&chains, level));
    }
    distances
}

/// The largest distance over all parameters; NaN counts as infinite.
fn farthest(what: &str, draws: &[Draws], answers: &[Answer]) -> f64 {
    assert_eq!(draws.len(), answers.len());
    let all: Vec<f64> = draws.iter().zip(answers).flat_map(|(d, a)| distances(d, a)).collect();
    println!("{what}: {all:.2?}");
    all.iter().fold(0.0, |worst, d| if d.is_nan() { f64::INFINITY } else { d.abs().max(worst) })
}

/// Looks at every 300 rows in blocks at ε, no guard: about forty of them at 10,000 rows.
fn hasty(epsilon: f64) -> RuleSettings {
    RuleSettings::Sequential(SequentialSettings { guard: None, ..SequentialSettings::constant(300, epsilon) })
}

fn lasso(rule: RuleSettings) -> f64 {
    let model = Lasso::toy(1).unwrap();
    let posterior = model.posterior();
    let answer = Answer {
        mean: posterior.mean(),
        sd: posterior.sd(),
        quantiles: LEVELS.map(|level| posterior.quantile(level)),
    };
    let walk = RandomWalk::isotropic(1, 2.4 * posterior.sd()).unwrap();
    let draws = draws(&model, rule, walk, &[posterior.mean()], 10_000);
    farthest("lasso", &draws, &[answer])
}

#[test]
fn the_lasso_toy_has_its_closed_form() {
    let distance = lasso(RuleSettings::default());
    assert!(distance < WITHIN, "{distance} standard errors");
}

#[test]
fn hasty_decisions_miss_the_closed_form() {
    let distance = lasso(hasty(0.3));
    assert!(distance > 3.0 * WITHIN, "{distance} standard errors");
}

fn columns_named(columns: Vec<Vec<f64>>, response: Vec<f64>) -> Data {
    let names: Vec<String> = (1..=columns.len()).map(|j| format!("x{j}")).collect();
    Data::new(names, columns, response)
}

const NOISE: f64 = 1.5;
const PRIOR_SD: [f64; 3] = [1.0, 0.1, 0.5];

fn linear_data() -> CheckedData {
    let mut rng = stream(21, 0, Role::Data);
    let columns = design(2000, 2, &mut rng);
    let truth = [0.8, -0.3, 0.1];
    let response = (0..2000).map(|i| predictor(&truth, &columns, i) + NOISE * normal(&mut rng)).collect();
    columns_named(columns, response).check(ResponseKind::Real).unwrap()
}

/// Mean and covariance by the textbook, on the columns as given.
fn conjugate(data: &CheckedData) -> (DVector<f64>, DMatrix<f64>) {
    let x = DMatrix::from_fn(data.rows(), 3, |i, j| if j == 0 { 1.0 } else { data.columns[j - 1][i] });
    let y = DVector::from_column_slice(&data.response);
    let prior = DMatrix::from_diagonal(&DVector::from_iterator(3, PRIOR_SD.map(|sd| 1.0 / (sd * sd))));
    let covariance = (x.transpose() * &x / (NOISE * NOISE) + prior).try_inverse().unwrap();
    let mean = &covariance * x.transpose() * y / (NOISE * NOISE);
    (mean, covariance)
}

fn linear(by_rows: bool, rule: RuleSettings) -> f64 {
    let data = linear_data();
    let (mean, covariance) = conjugate(&data);
    let answers: Vec<Answer> = (0..3)
        .map(|j| {
            let (mean, sd) = (mean[j], covariance[(j, j)].sqrt());
            let normal = Normal::new(mean, sd).unwrap();
            Answer { mean, sd, quantiles: LEVELS.map(|level| normal.inverse_cdf(level)) }
        })
        .collect();
    let priors = PRIOR_SD.map(Prior::normal);
    let model = Linear::new(&data, priors, Noise::Known { sd: NOISE }).unwrap();
    let model = if by_rows { model.by_rows().unwrap() } else { model };
    let walk = RandomWalk::for_posterior(3, covariance.as_slice()).unwrap();
    let count = if by_rows { 5_000 } else { 40_000 };
    farthest("linear", &draws(&model, rule, walk, mean.as_slice(), count), &answers)
}

#[test]
fn the_linear_model_has_its_conjugate_posterior() {
    for by_rows in [false, true] {
        let distance = linear(by_rows, RuleSettings::default());
        assert!(distance < WITHIN, "{distance} standard errors, by rows: {by_rows}");
    }
}

#[test]
fn hasty_decisions_miss_the_conjugate_posterior() {
    let distance = linear(true, RuleSettings::Sequential(SequentialSettings::paper(60, 0.3)));
    assert!(distance > 3.0 * WITHIN, "{distance} standard errors");
}

const LOGISTIC_ROWS: usize = 10_000;

fn logistic_data() -> CheckedData {
    let mut rng = stream(22, 0, Role::Data);
    let columns = design(LOGISTIC_ROWS, 1, &mut rng);
    let truth = [-0.7, 0.9];
    let label =
        |i| f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-predictor(&truth, &columns, i)).exp())));
    let response = (0..LOGISTIC_ROWS).map(label).collect();
    columns_named(columns, response).check(ResponseKind::Binary).unwrap()
}

/// A model, its answers, a walk of the usual size and a start.
struct Known {
    model: Glm<Logistic>,
    answers: Vec<Answer>,
    walk: RandomWalk,
    start: Vec<f64>,
}

/// Quadrature by the trapezoid rule on 61 × 61 points over ±6 sds of the Laplace approximation, in axes along which
/// that is uncorrelated: spectrally accurate for a density that vanishes at the border. Quantiles are those of a
/// normal corrected for skewness (Cornish & Fisher 1938); at this size that is a few hundredths and its square,
/// which is dropped, below a hundredth of a Monte Carlo standard error.
fn logistic() -> Known {
    let data = logistic_data();
    let priors = vec![Prior::normal(2.0); 2];
    let model = Glm::new(Logistic, &data, priors).unwrap();
    let mode = find_mode(&model, &[0.0, 0.0]).unwrap();
    let c = &mode.covariance;
    let density = |a: f64, b: f64| {
        let row = |i: usize| {
            let eta = a + b * data.columns[0][i];
            data.response[i] * eta - eta.max(0.0) - (-eta.abs()).exp().ln_1p()
        };
        (0..data.rows()).map(row).sum::<f64>() - (a * a + b * b) / 8.0
    };
    let highest = density(mode.state[0], mode.state[1]);
    let answer = |j: usize| {
        // θ_j = mode_j + s·u; the other one = its mode + regression on u + residual sd·v.
        let (s, slope) = (c[3 * j].sqrt(), c[1] / c[3 * j].sqrt());
        let residual = (c[3 * (1 - j)] - slope * slope).sqrt();
        let grid: Vec<f64> = (-30..=30).map(|i| f64::from(i) / 5.0).collect();
        let margin: Vec<f64> = grid
            .iter()
            .map(|u| {
                let weight = |v: &f64| {
                    let mut theta = [0.0; 2];
                    theta[j] = mode.state[j] + s * u;
                    theta[1 - j] = mode.state[1 - j] + slope * u + residual * v;
                    (density(theta[0], theta[1]) - highest).exp()
                };
                grid.iter().map(weight).sum()
            })
            .collect();
        let total: f64 = margin.iter().sum();
        let moment =
            |power: i32| grid.iter().zip(&margin).map(|(u, p)| u.powi(power) * p).sum::<f64>() / total;
        let (mean, variance) = (moment(1), moment(2) - moment(1).powi(2));
        let skewness = (moment(3) - 3.0 * mean * moment(2) + 2.0 * mean.powi(3)) / variance.powf(1.5);
        let quantile = |level: f64| {
            let z = Normal::standard().inverse_cdf(level);
            mode.state[j] + s * (mean + variance.sqrt() * (z + skewness * (z * z - 1.0) / 6.0))
        };
        Answer { mean: mode.state[j] + s * mean, sd: s * variance.sqrt(), quantiles: LEVELS.map(quantile) }
    };
    let answers = (0..2).map(answer).collect();
    let walk = RandomWalk::for_posterior(2, &mode.covariance).unwrap();
    Known { model, answers, walk, start: mode.state }
}

#[test]
fn the_logistic_model_has_the_posterior_of_quadrature() {
    let Known { model, answers, walk, start } = logistic();
    let exact = draws(&model, RuleSettings::default(), walk.clone(), &start, 10_000);
    let distance = farthest("logistic", &exact, &answers);
    assert!(distance < WITHIN, "{distance} standard errors");
    let wrong = draws(&model, hasty(0.3), walk, &start, 10_000);
    let distance = farthest("logistic, epsilon .3", &wrong, &answers);
    assert!(distance > 3.0 * WITHIN, "{distance} standard errors");
}

/// The bias is a temperature: the posterior widens as ε grows, and hardly at a small ε.
///
/// The sd over the true one, geometric mean of two coefficients whose errors are no more than fully dependent. ε ≤ .002
/// must stay within 3 % (plus 4.5 standard errors: false-alarm rate 7e-6 each); each further ε must widen by more than
/// 3 standard errors of the difference.
#[test]
fn the_bias_grows_with_epsilon() {
    let Known { model, answers, walk, start } = logistic();
    let ratio = |rule: RuleSettings| {
        let draws = draws(&model, rule, walk.clone(), &start, 15_000);
        let each: Vec<(f64, f64)> = draws
            .iter()
            .zip(&answers)
            .map(|(d, answer)| {
                let (sd, error) = sd_and_error(d);
                (sd / answer.sd, error / answer.sd)
            })
            .collect();
        ((each[0].0 * each[1].0).sqrt(), each[0].1.max(each[1].1))
    };
    let exact = ratio(RuleSettings::default());
    println!("exact: sd ratio {:.3} ± {:.3}", exact.0, exact.1);
    assert!((exact.0 - 1.0).abs() < WITHIN * exact.1);
    let mut previous = (0.0, 0.0);
    for epsilon in [0.002, 0.05, 0.1, 0.2, 0.3] {
        let (value, error) = ratio(hasty(epsilon));
        println!("epsilon {epsilon}: sd ratio {value:.3} ± {error:.3}");
        if epsilon <= 0.002 {
            assert!((value - 1.0).abs() < 0.03 + WITHIN * error, "sd ratio {value} ± {error}");
        } else {
            assert!(
                value - previous.0 > 3.0 * f64::hypot(error, previous.1),
                "{previous:?}, then {value} ± {error}"
            );
        }
        previous = (value, error);
    }
    assert!(previous.0 > 1.2, "the largest epsilon must widen visibly: {previous:?}");
}
