//! Gradients of batches against finite differences of the same rows, and their sum against the whole gradient.

use rand::RngExt as _;

use austerity::model::{Access, Gradient, from_fn};
use austerity::population::{Batch, Population as _};
use austerity::rng::{Role, stream};
use austerity_glm::gradients::{At, BatchGradient, MiniBatch};
use austerity_glm::own::with_gradient;
use austerity_glm::{
    Binomial, Data, Glm, Linear, Logistic, Noise, Poisson, Prior, ResponseKind, Store, Student, generate,
};
use austerity_models::Lasso;

/// Rows: no multiple of any block size below.
const ROWS: usize = 519;

/// Weights and offsets on generated data.
fn sided(data: Data) -> Data {
    let rows = data.response().len();
    let data = data.weights((0..rows).map(|i| 1.0 + (i % 3) as f64).collect());
    data.offset((0..rows).map(|i| 0.2 * (i as f64).sin()).collect())
}

/// Central difference of Σ log p over the rows of `batch`, from the model's own differences.
fn slope<M: BatchGradient>(model: &M, state: &[f64], batch: Batch<'_>, parameter: usize, h: f64) -> f64 {
    let moved = |by: f64| {
        let mut state = state.to_vec();
        state[parameter] += by;
        state
    };
    let (below, above) = (moved(-h), moved(h));
    let mut scratch = model.scratch(Access::Blocks);
    let mut ratio = model.compare(&below, &above, &mut scratch);
    let mut sum = 0.0;
    for range in batch.ranges() {
        let mut out = vec![0.0; range.len()];
        ratio.reveal(range, &mut out).unwrap();
        sum += out.iter().sum::<f64>();
    }
    sum / (2.0 * h)
}

/// `tolerance` is relative to √N, the size of a gradient's noise in units of a row.
fn check<M: BatchGradient + Gradient>(name: &str, model: &M, state: &[f64], tolerance: f64) {
    let (d, rows) = (model.dimension(), model.len());
    assert_eq!(state.len(), d, "{name}");
    let mut workspace = M::Workspace::default();
    let mut rng = stream(9, 0, Role::Proposal);
    let bound = tolerance * (rows as f64).sqrt();
    for block_rows in [1, 7, 32, 50, 64, rows] {
        let mut batches = MiniBatch::of_blocks(rows, rows.min(90), block_rows).unwrap();
        let batch = batches.draw(&mut rng);
        let mut gradient = vec![0.0; d];
        model.add_gradient(At { state, batch }, &mut workspace, &mut gradient).unwrap();
        for (j, &g) in gradient.iter().enumerate() {
            let wanted = slope(model, state, batch, j, 1e-4);
            assert!((g - wanted).abs() < bound, "{name}, {block_rows}, {j}: {g} against {wanted}");
        }
        // All blocks, one by one, add up to the whole gradient.
        let mut whole = vec![0.0; d];
        model.log_density_gradient(&state.to_vec(), &mut whole).unwrap();
        let mut sum = vec![0.0; d];
        model.add_prior_gradient(state, &mut M::Workspace::default(), &mut sum).unwrap();
        for block in 0..rows.div_ceil(block_rows) as u32 {
            let one = Batch { blocks: &[block], block_rows, population: rows };
            model.add_gradient(At { state, batch: one }, &mut workspace, &mut sum).unwrap();
        }
        for (a, b) in sum.iter().zip(&whole) {
            assert!((a - b).abs() < bound, "{name}, {block_rows}: {sum:?} against {whole:?}");
        }
        let all: Vec<u32> = (0..rows.div_ceil(block_rows) as u32).collect();
        let all = Batch { blocks: &all, block_rows, population: rows };
        model.stochastic_gradient(At { state, batch: all }, &mut workspace, &mut sum).unwrap();
        for (a, b) in sum.iter().zip(&whole) {
            assert!((a - b).abs() < bound, "{name}, {block_rows}: {sum:?} against {whole:?}");
        }
    }
    // Power: a batch with one row less is another gradient.
    let full = Batch { blocks: &[0], block_rows: 40, population: rows };
    let less = Batch { blocks: &[0], block_rows: 38, population: rows };
    let mut gradients = [vec![0.0; d], vec![0.0; d]];
    for (gradient, batch) in gradients.iter_mut().zip([full, less]) {
        model.add_gradient(At { state, batch }, &mut workspace, gradient).unwrap();
    }
    assert!(gradients[0].iter().zip(&gradients[1]).any(|(a, b)| (a - b).abs() > bound), "{name}");
    // What does not fit is refused.
    let mut gradient = vec![0.0; d];
    assert!(
        model.add_gradient(At { state: &state[1..], batch: full }, &mut workspace, &mut gradient).is_err()
    );
    assert!(model.add_gradient(At { state, batch: full }, &mut workspace, &mut gradient[1..]).is_err());
    let other = Batch { population: rows + 1, ..full };
    assert!(model.add_gradient(At { state, batch: other }, &mut workspace, &mut gradient).is_err());
}

fn priors(count: usize) -> Vec<Prior> {
    let all = [Prior::normal(0.3), Prior::laplace(0.5), Prior::student(3.0, 0.4)];
    (0..count).map(|j| all[j % 3]).collect()
}

#[test]
fn regressions() {
    let state = [0.3, -0.2, 0.4, 0.1];
    let data = |made: generate::Generate| sided(made.seed(5).build().unwrap().data);
    let binary = data(generate::logistic(ROWS, 3)).check(ResponseKind::Binary).unwrap();
    check("logistic", &Glm::new(Logistic, &binary, priors(4)).unwrap(), &state, 1e-4);
    let plain = generate::logistic(ROWS, 3).build().unwrap().data.intercept(false);
    let plain = plain.check(ResponseKind::Binary).unwrap();
    check("no intercept", &Glm::new(Logistic, &plain, priors(3)).unwrap(), &state[1..], 1e-4);
    let baseline =
        Glm::new(Logistic, &binary, priors(4)).unwrap().with_level(austerity_glm::simd::baseline());
    check("baseline", &baseline, &state, 1e-4);
    let counts = data(generate::of(Poisson, ROWS, 3)).check(ResponseKind::Count).unwrap();
    check("poisson", &Glm::new(Poisson, &counts, priors(4)).unwrap(), &state, 3e-4);
    let real = data(generate::of(Student { freedom: 4.0 }, ROWS, 3)).check(ResponseKind::Real).unwrap();
    let student = Glm::new(Student { freedom: 4.0 }, &real, priors(5)).unwrap();
    check("student", &student, &[0.7, -0.2, 0.4, 0.1, 0.2], 3e-4);
    let trials = data(generate::logistic(ROWS, 3)).trials(vec![6.0; ROWS]);
    let trials = trials.check(ResponseKind::CountOfTrials).unwrap();
    check("binomial", &Glm::new(Binomial, &trials, priors(4)).unwrap(), &state, 3e-4);
}

#[test]
fn linear_models() {
    let data =
        sided(generate::linear(ROWS, 3).seed(5).build().unwrap().data).check(ResponseKind::Real).unwrap();
    let unknown = Noise::Unknown { prior: Prior::normal(1.0) };
    let state = [0.8, -0.1, 0.2, 0.3, 0.1];
    check("linear", &Linear::new(&data, priors(4), unknown).unwrap(), &state, 1e-4);
    let known = Linear::new(&data, priors(4), Noise::Known { sd: 0.8 }).unwrap();
    check("known noise", &known, &state[..4], 1e-4);
    let store = Store::new(&data, ResponseKind::Real).unwrap();
    check("stored", &Linear::from_store(&store, priors(4), unknown).unwrap(), &state, 1e-4);
    let summarized = Linear::summarized(&data, priors(4), unknown).unwrap();
    let batch = Batch { blocks: &[0], block_rows: 32, population: ROWS };
    let mut gradient = [0.0; 5];
    assert!(
        summarized.add_gradient(At { state: &state, batch }, &mut Default::default(), &mut gradient).is_err()
    );
}

#[test]
fn the_toy_and_a_users_model() {
    check("lasso", &Lasso::toy(1).unwrap(), &[0.02], 1e-4);
    let mut rng = stream(3, 0, Role::Data);
    let logs: Vec<f64> = (0..ROWS).map(|_| rng.random_range(-1.0..1.0)).collect();
    let log_prior = |state: &[f64]| -0.5 * (state[0] * state[0] + 4.0 * state[1] * state[1]);
    let model = from_fn(ROWS, 2, log_prior, |state: &[f64], row| {
        let z = (logs[row] - state[0]) * state[1].exp();
        state[1] + z - z.exp()
    });
    let prior = |state: &[f64], gradient: &mut [f64]| {
        gradient[0] -= state[0];
        gradient[1] -= 4.0 * state[1];
    };
    let model = with_gradient(model.unwrap(), 2, prior, |state: &[f64], row, gradient: &mut [f64]| {
        let z = (logs[row] - state[0]) * state[1].exp();
        let pull = 1.0 - z.exp();
        gradient[0] -= pull * state[1].exp();
        gradient[1] += 1.0 + pull * z;
    });
    check("from_fn", &model.unwrap(), &[0.2, -0.1], 1e-4);
}

#[test]
fn a_panic_in_a_users_gradient_is_an_error_with_its_row() {
    let model = from_fn(10, 1, |_: &[f64]| 0.0, |_: &[f64], _| 0.0).unwrap();
    let row = |_: &[f64], row: usize, _: &mut [f64]| assert!(row != 7, "seven");
    let model = with_gradient(model, 1, |_: &[f64], _: &mut [f64]| panic!("prior"), row).unwrap();
    let all = Batch { blocks: &[0], block_rows: 10, population: 10 };
    let message =
        model.add_gradient(At { state: &[0.0], batch: all }, &mut (), &mut [0.0]).unwrap_err().to_string();
    assert!(message.contains("row 7") && message.contains("seven"), "{message}");
    assert!(model.add_prior_gradient(&[0.0], &mut (), &mut [0.0]).is_err());
    let empty = |_: &[f64], _: &mut [f64]| {};
    let model = from_fn(10, 1, |_: &[f64]| 0.0, |_: &[f64], _| 0.0).unwrap();
    assert!(with_gradient(model, 0, empty, |_: &[f64], _, _: &mut [f64]| {}).is_err());
}
