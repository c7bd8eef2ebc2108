//! Posteriors narrower than single precision can place: counts of 10⁶ and 10⁸, weights of 10⁶, offsets of ±20 and leverages of 10⁵. Totals, modes and surrogates
//! against formulas in f64; single precision, which such models had before, fails each.

use austerity::model::{Access, Model, find_mode};
use austerity::population::Population as _;
use austerity::rng::{Rng, Role, stream};
use austerity_glm::glm::Family;
use austerity_glm::glm::Kernel as _;
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity_glm::{CheckedData, Data, Glm, Logistic, Poisson, Prior, ResponseKind, Student, Surrogate};
use rand::RngExt as _;
use rand_distr::{Distribution as _, Poisson as Counts, StandardNormal};

const ROWS: usize = 6_000;

/// What a sound log ratio may be off by, in nats: a defect beyond 10⁻³ is a contradiction of an audit.
const SOUND: f64 = 2e-4;

fn normal(rng: &mut Rng) -> f64 {
    rng.sample(StandardNormal)
}

/// Two columns, and a response made of their predictor.
fn rows(
    kind: ResponseKind,
    column: impl Fn(&mut Rng) -> f64,
    response: impl Fn(f64, f64, &mut Rng) -> f64,
    sides: impl Fn(Data, Vec<f64>) -> Data,
) -> CheckedData {
    let mut rng = stream(31, 0, Role::Data);
    let (mut columns, mut y, mut side) = (vec![Vec::new(); 2], Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let x = [column(&mut rng), column(&mut rng)];
        let u: f64 = rng.random();
        columns.iter_mut().zip(x).for_each(|(column, x)| column.push(x));
        y.push(response(0.3 * x[0] - 0.1 * x[1], u, &mut rng));
        side.push(u);
    }
    sides(Data::new(["a", "b"], columns, y), side).check(kind).unwrap()
}

/// log p(y|to) − log p(y|from) of all rows in f64, from the values as they are stored: what is rounded on the way in is no matter here.
fn reference<F: Family>(model: &Glm<F>, from: &[f64], to: &[f64]) -> f64 {
    let extra = |state: &[f64]| state[3..].to_vec();
    let step = <F::Kernel>::step(model.family(), &extra(from), &extra(to));
    let moved: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    let (blocks, description) = (model.blocks(), model.store().description());
    let layout = description.layout();
    (0..ROWS)
        .map(|row| {
            let value = |column: usize| f64::from(blocks.value(row, column));
            let x = |j: usize| {
                let transform = &description.columns[j].transform;
                transform.shift + transform.scale * value(j)
            };
            let dot = |state: &[f64]| state[0] + state[1] * x(0) + state[2] * x(1);
            let eta = dot(from) + description.side_constant() + layout.offset.map_or(0.0, value);
            let weight = layout.weight.map_or(1.0, value);
            weight * <F::Kernel>::difference(&step, eta, dot(&moved), value(layout.response), 1.0)
        })
        .sum()
}

fn total<M: Model<State = Vec<f64>>>(model: &M, from: &Vec<f64>, to: &Vec<f64>) -> f64 {
    let mut scratch = model.scratch(Access::Blocks);
    let sum = model.compare(from, to, &mut scratch).total().unwrap().sum();
    model.log_prior(to) - model.log_prior(from) + sum
}

/// Largest errors of the log ratio of a model and of its surrogate, over moves between posterior draws.
fn errors<F: Family>(model: &Glm<F>, centre: &[f64], covariance: &[f64]) -> [f64; 2] {
    let d = centre.len();
    let settings = ExpansionSettings { fixed: !model.is_precise(), ..ExpansionSettings::default() };
    let surrogate = Surrogate::new(GlmExpansion::new(model, centre, &settings).unwrap());
    let mut rng = stream(32, 0, Role::Proposal);
    let mut draw = || -> Vec<f64> {
        (0..d).map(|i| centre[i] + covariance[i * d + i].sqrt() * normal(&mut rng)).collect()
    };
    let mut largest = [0.0f64; 2];
    for _ in 0..12 {
        let (from, to) = (draw(), draw());
        let prior = model.log_prior(&to) - model.log_prior(&from);
        let exact = prior + reference(model, &from, &to);
        for (largest, found) in
            largest.iter_mut().zip([total(model, &from, &to), total(&surrogate, &from, &to)])
        {
            *largest = largest.max((found - exact).abs() / exact.abs().max(1.0));
        }
    }
    largest
}

fn check<F: Family>(family: F, data: &CheckedData, what: &str) {
    let mut priors = vec![Prior::normal(30.0); 3];
    priors.extend(family.extra().iter().map(|_| Prior::normal(10.0)));
    let model = Glm::new(family, data, priors).unwrap();
    assert!(model.is_precise(), "{what}");
    let mode = find_mode(&model, &vec![0.0; model.parameters()]).unwrap();
    let sound = errors(&model, &mode.state, &mode.covariance);
    assert!(sound[0] < 1e-6 && sound[1] < SOUND, "{what}: {sound:?}");
    let coarse = errors(&model.clone().with_precision(false), &mode.state, &mode.covariance);
    assert!(coarse[0].max(coarse[1]) > 1e-3, "{what}: single precision errs by {coarse:?} only");
    // Blocks, single rows and totals say the same, with and without the cache of exact scans.
    let (from, mut to) = (mode.state.clone(), mode.state.clone());
    to[0] += mode.covariance[0].sqrt();
    let mut scratch = model.scratch(Access::Scan);
    let first = model.compare(&from, &to, &mut scratch).total().unwrap();
    let second = model.compare(&from, &to, &mut scratch).total().unwrap();
    assert_eq!(first, second);
    let mut values = vec![0.0; ROWS];
    model.compare(&from, &to, &mut scratch).reveal(0..ROWS, &mut values).unwrap();
    assert!((values.iter().sum::<f64>() - first.sum()).abs() < 1e-9 * ROWS as f64);
}

fn as_it_is(data: Data, _: Vec<f64>) -> Data {
    data
}

fn count(mean: f64, rng: &mut Rng) -> f64 {
    Counts::new(mean).unwrap().sample(rng)
}

#[test]
fn counts_of_a_million_and_of_a_hundred_million() {
    for level in [13.8, 16.0] {
        let data = rows(ResponseKind::Count, normal, |eta, _, rng| count((level + eta).exp(), rng), as_it_is);
        check(Poisson, &data, &format!("counts of e^{level}"));
    }
}

#[test]
fn offsets_of_twenty() {
    let offset = |u: f64| f64::from((40.0 * u - 20.0) as f32);
    let data = rows(
        ResponseKind::Count,
        normal,
        |eta, u, rng| f64::from(count((offset(u) + eta - 2.0).min(16.0).exp(), rng) as f32),
        |data, u| data.offset(u.into_iter().map(offset).collect()),
    );
    check(Poisson, &data, "offsets");
}

#[test]
fn weights_of_one_to_a_million() {
    let weight = |u: f64| 10f64.powf(6.0 * u).round();
    let weighted = |data: Data, u: Vec<f64>| data.weights(u.into_iter().map(weight).collect());
    let noise =
        |rng: &mut Rng| normal(rng) / (0.5 * (normal(rng).powi(2) + normal(rng).powi(2))).sqrt().max(0.2);
    let real = rows(
        ResponseKind::Real,
        normal,
        |eta, _, rng| f64::from((100.0 + eta + noise(rng)) as f32),
        weighted,
    );
    check(Student { freedom: 4.0 }, &real, "weights, Student");
    let counts = rows(ResponseKind::Count, normal, |eta, _, rng| count((3.0 + eta).exp(), rng), weighted);
    check(Poisson, &counts, "weights, Poisson");
}

/// Ordinary rows stay in single precision: the speed of everything else rests on it.
#[test]
fn ordinary_rows_stay_in_single_precision() {
    let priors = |count: usize| vec![Prior::normal(1.0); count];
    let binary =
        rows(ResponseKind::Binary, normal, |eta, u, _| f64::from(u < 1.0 / (1.0 + (-eta).exp())), as_it_is);
    assert!(!Glm::new(Logistic, &binary, priors(3)).unwrap().is_precise());
    let counts = rows(ResponseKind::Count, normal, |eta, _, rng| count((1.0 + eta).exp(), rng), as_it_is);
    assert!(!Glm::new(Poisson, &counts, priors(3)).unwrap().is_precise());
    let real = rows(ResponseKind::Real, normal, |eta, _, rng| 40.0 + eta + normal(rng), as_it_is);
    assert!(!Glm::new(Student { freedom: 4.0 }, &real, priors(4)).unwrap().is_precise());
}

/// Incomes under Student noise: the first Newton step from σ = 1 leaves the range of f64, which is no fault of a row. (Before, the search ended with "not a number".)
#[test]
fn the_mode_of_incomes_is_found_from_zero() {
    let data = rows(
        ResponseKind::Real,
        |rng| (9.0 + normal(rng)).exp(),
        |eta, u, rng| {
            if u < 0.15 { 0.0 } else { (15_000.0 + eta + 6_000.0 * normal(rng)).clamp(0.0, 25_564.67) }
        },
        as_it_is,
    );
    let mut priors = vec![Prior::normal(1e5); 3];
    priors.push(Prior::normal(10.0));
    let model = Glm::new(Student { freedom: 4.0 }, &data, priors).unwrap();
    let mode = find_mode(&model, &[0.0; 4]).unwrap();
    let sigma = mode.state[3].exp();
    assert!((1_000.0..20_000.0).contains(&sigma), "{mode:?}");
}
