//! Surrogate plus residuals is the log-likelihood, for every family, order, stratum and storage; remainders against quadrature in f64.

/// Calls `check(&family, kind)` for every family.
macro_rules! for_every_family {
    ($check:ident) => {{
        struct All;
        impl crate::glm::Visitor for All {
            type Output = ();
            fn visit<F: Family>(self, family: F) {
                $check(&family, family.kind());
            }
        }
        crate::glm::AnyFamily::ALL.iter().for_each(|family| family.visit(All));
    }};
}

mod gradient;
mod replication;
mod row_sample;

use super::*;
use crate::glm::{Binomial, Logistic, Poisson, Student};
use crate::{Data, Prior, ResponseKind, Surrogate};
use austerity::model::{Access, Model};
use austerity::population::{Moments, Population};
use austerity::rng::{Role, stream};
use rand::RngExt as _;
use rand_distr::StandardNormal;

fn normal(rng: &mut austerity::rng::Rng) -> f64 {
    rng.sample(StandardNormal)
}

/// Dense columns, one rare column (20 rows), weights and an offset where asked for.
pub(super) fn data(kind: ResponseKind, rows: usize, sides: bool) -> crate::CheckedData {
    let mut rng = stream(5, 0, Role::Data);
    let mut columns = vec![Vec::new(); 4];
    let (mut response, mut trials, mut weights, mut offset) = (vec![], vec![], vec![], vec![]);
    for row in 0..rows {
        let x: [f64; 3] = std::array::from_fn(|_| normal(&mut rng));
        let rare = f64::from(row % (rows / 20) == 7);
        let shift = 0.3 * normal(&mut rng);
        let eta = 0.4 + 0.5 * x[0] - 0.3 * x[1] + 0.2 * x[2] + rare + if sides { shift } else { 0.0 };
        let u: f64 = rng.random();
        let success = |u: f64| f64::from(u < 1.0 / (1.0 + (-eta).exp()));
        let count = 1.0 + (row % 4) as f64;
        response.push(match kind {
            ResponseKind::Binary => success(u),
            ResponseKind::CountOfTrials => (0..count as usize).map(|_| success(rng.random())).sum(),
            ResponseKind::Count => (eta.exp() * 2.0 * u).floor(),
            ResponseKind::Real => eta + 0.5 * normal(&mut rng) * if u < 0.05 { 10.0 } else { 1.0 },
            ResponseKind::Positive | ResponseKind::Time => (eta + 0.7 * normal(&mut rng)).exp(),
            ResponseKind::Ordered => (eta + 1.5 + 1.8 * normal(&mut rng)).round().clamp(0.0, 4.0),
            ResponseKind::Share => 1.0 / (1.0 + (-eta - 0.7 * normal(&mut rng)).exp()),
        });
        x.iter().chain([&rare]).zip(&mut columns).for_each(|(&x, column)| column.push(x));
        trials.push(count);
        weights.push(1.0 + (row % 3) as f64);
        offset.push(shift);
    }
    let mut data = Data::new(["a", "b", "c", "rare"], columns, response);
    if kind == ResponseKind::CountOfTrials {
        data = data.trials(trials);
    }
    if sides {
        data = data.weights(weights).offset(offset);
    }
    data.check(kind).unwrap()
}

fn total<M: Model<State = Vec<f64>>>(model: &M, from: &Vec<f64>, to: &Vec<f64>) -> f64 {
    let mut scratch = model.scratch(Access::Blocks);
    let sum = model.compare(from, to, &mut scratch).total().unwrap().sum();
    model.log_prior(to) - model.log_prior(from) + sum
}

/// A model of a thousand rows, with or without side columns.
fn modelled<F: Family>(family: &F, kind: ResponseKind, sides: bool) -> Glm<F> {
    let data = data(kind, 1000, sides);
    let mut priors = vec![Prior::student(3.0, 1.0); data.coefficients()];
    priors.extend(family.extra().iter().map(|_| Prior::normal(2.0)));
    Glm::new(*family, &data, priors).unwrap()
}

fn identity<F: Family>(family: &F, kind: ResponseKind) {
    for sides in [false, true] {
        let model = modelled(family, kind, sides);
        let d = model.parameters();
        let mut rng = stream(6, 0, Role::Proposal);
        let mut settings =
            vec![(2, Some(0)), (2, None), (2, Some(20)), (2, Some(300)), (1, Some(0)), (1, Some(20))];
        settings.extend([(3, Some(0)), (3, None), (3, Some(300))]);
        for (order, rows) in settings {
            let settings = ExpansionSettings { order, stratum_rows: rows, ..ExpansionSettings::default() };
            let expansion = GlmExpansion::new(&model, &vec![0.0; d], &settings).unwrap();
            let surrogate = Surrogate::new(expansion);
            let expansion = surrogate.expansion();
            let mut near = |size: f64| -> Vec<f64> {
                let sds = expansion.covariance().iter().step_by(d + 1).map(|v| v.sqrt());
                expansion.centre().iter().zip(sds).map(|(c, sd)| c + size * sd * normal(&mut rng)).collect()
            };
            for size in [0.1, 1.0, 4.0] {
                let (from, to) = (near(size), near(size));
                if !(model.log_prior(&from) + model.log_prior(&to)).is_finite() {
                    // Cut points that do not rise.
                    assert!(family.is_rising() && size > 1.0, "{}", family.name());
                    continue;
                }
                let (found, wanted) = (total(&surrogate, &from, &to), total(&model, &from, &to));
                assert!(
                    (found - wanted).abs() < 2e-5 * (1.0 + wanted.abs()),
                    "{} order {order} stratum {rows:?} sides {sides} size {size}: {found} against {wanted}",
                    family.name()
                );
                // Single rows, odd blocks and whole ones say the same.
                let mut scratch = surrogate.scratch(Access::Blocks);
                let mut residuals = surrogate.compare(&from, &to, &mut scratch);
                let len = residuals.len();
                let whole = residuals.total().unwrap();
                let mut single = vec![0.0; len];
                residuals.reveal(0..len, &mut single).unwrap();
                let mut odd = Moments::EMPTY;
                let blocks: Vec<u32> = (0..len.div_ceil(7) as u32).collect();
                residuals.summarize(&blocks, 7, &mut odd).unwrap();
                let scale = whole.m2.sqrt().max(1e-12);
                for part in [Moments::of(&single), odd] {
                    assert!((part.sum() - whole.sum()).abs() < 1e-4 * scale, "{part:?} {whole:?}");
                    assert!((part.m2 / whole.m2 - 1.0).abs() < 1e-3 || whole.m2 < 1e-24);
                }
            }
        }
    }
}

#[test]
fn surrogate_and_residuals_are_the_likelihood() {
    for_every_family!(identity);
}

#[test]
fn the_gradient_is_that_of_the_density() {
    let data = data(ResponseKind::Real, 1000, true);
    let mut priors = vec![Prior::student(3.0, 1.0); data.coefficients()];
    priors.push(Prior::normal(2.0));
    let model = Glm::new(Student { freedom: 4.0 }, &data, priors).unwrap();
    let d = model.parameters();
    for rows in [0, 20, 400] {
        let settings = ExpansionSettings { stratum_rows: Some(rows), ..ExpansionSettings::default() };
        let expansion = GlmExpansion::new(&model, &vec![0.0; d], &settings).unwrap();
        let state: Vec<f64> =
            expansion.centre().iter().enumerate().map(|(i, c)| c + 0.05 * (i as f64 - 2.0)).collect();
        let mut gradient = vec![0.0; d];
        let mut slopes = Slopes::default();
        let value = expansion.log_density_gradient(&state, &mut slopes, &mut gradient);
        assert!((value - expansion.log_density(&state)).abs() < 1e-9);
        for i in 0..d {
            let h = 1e-3;
            let moved = |by: f64| {
                let mut state = state.clone();
                state[i] += by;
                expansion.log_density(&state)
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            assert!(
                (slope - gradient[i]).abs() < 2e-2 * (1.0 + slope.abs()),
                "{rows} {i}: {slope} {}",
                gradient[i]
            );
        }
        // A column that is zero outside the stratum moves no residual.
        let certain = expansion.certain_parameters();
        assert_eq!(certain, if rows == 400 { vec![4] } else { certain.clone() });
    }
}

/// R = ½∫(1−τ)²·ℓ'''(η̂ + τh)·h³ dτ by 400 midpoints of the exact third derivative, against the forms of f64 (1e-7) and f32 (5e-6).
#[test]
fn remainders_against_quadrature() {
    let reference = |third: &dyn Fn(f64) -> f64, h: f64| -> f64 {
        let n = 4000;
        let sum: f64 = (0..n)
            .map(|k| {
                let t = (f64::from(k) + 0.5) / f64::from(n);
                0.5 * (1.0 - t).powi(2) * third(t * h)
            })
            .sum();
        sum / f64::from(n) * h.powi(3)
    };
    for eta in [-8.0, -1.3, -0.2, 0.0, 0.4, 2.0, 12.0] {
        for h in [-15.0, -0.9, -0.6, -0.3, -1e-3, 1e-5, 0.05, 0.15, 0.65, 0.8, 3.0] {
            let logistic = |s: f64| Logistic.row_derivatives(&[], eta + s, 1.0, 1.0)[2];
            let poisson = |s: f64| Poisson.row_derivatives(&[], eta + s, 1.0, 1.0)[2];
            let student = |s: f64| Student { freedom: 4.0 }.row_derivatives(&[0.3], eta + s, 0.7, 1.0)[2];
            let lines = Student::expanded(&Student { freedom: 4.0 }, &[0.3], &[0.3], &[0.3]);
            let found = [
                (Logistic::residual(&(), eta, [0.0, h], 1.0, 1.0, false), reference(&logistic, h)),
                (Poisson::residual(&(), eta, [0.0, h], 1.0, 1.0, false), reference(&poisson, h)),
                (Student::residual(&lines, eta, [0.0, h], 0.7, 1.0, false), reference(&student, h)),
            ];
            for (k, (found, wanted)) in found.into_iter().enumerate() {
                let size = h.abs().powi(3) * if k == 1 { (eta + h.max(0.0)).exp() } else { 0.1 };
                assert!(
                    (found - wanted).abs() < 1e-5 * wanted.abs() + 1e-9 * size,
                    "family {k} eta {eta} h {h}: {found:e} against {wanted:e}"
                );
            }
        }
    }
}

/// What the third order leaves is ∫½(1−τ)²·[ℓ'''(η̂ + τh) − ℓ'''(η̂)]·h³ dτ, here by 4,000 midpoints.
#[test]
fn remainders_of_the_third_order_against_quadrature() {
    let reference = |third: &dyn Fn(f64) -> f64, h: f64| -> f64 {
        let n = 4000;
        let at = |k: i32| (f64::from(k) + 0.5) / f64::from(n);
        let sum: f64 = (0..n).map(|k| 0.5 * (1.0 - at(k)).powi(2) * (third(at(k) * h) - third(0.0))).sum();
        sum / f64::from(n) * h.powi(3)
    };
    for eta in [-8.0, -1.3, -0.2, 0.0, 0.4, 2.0, 12.0] {
        for h in [-15.0, -0.9, -0.6, -0.3, -1e-2, 0.05, 0.15, 0.65, 0.8, 3.0] {
            let logistic = |s: f64| Logistic.row_derivatives(&[], eta + s, 1.0, 1.0)[2];
            let poisson = |s: f64| Poisson.row_derivatives(&[], eta + s, 1.0, 1.0)[2];
            let found = [
                (Logistic::residual(&(), eta, [0.0, h], 1.0, 1.0, true), reference(&logistic, h)),
                (Poisson::residual(&(), eta, [0.0, h], 1.0, 1.0, true), reference(&poisson, h)),
            ];
            for (k, (found, wanted)) in found.into_iter().enumerate() {
                let size = h.abs().powi(4) * if k == 1 { (eta + h.max(0.0)).exp() } else { 0.1 };
                assert!(
                    (found - wanted).abs() < 2e-5 * wanted.abs() + 1e-8 * size,
                    "family {k} eta {eta} h {h}: {found:e} against {wanted:e}"
                );
            }
        }
    }
}

/// A Laplace prior as narrow as the likelihood pulls at large coefficients with 1/scale, not in proportion to their size: at the mode the
/// likelihood pulls back as hard. (A normal prior of the same variance, in the search, left the centre 40 sds away.)
#[test]
fn a_narrow_laplace_prior_has_its_mode_at_the_centre() {
    let data = data(ResponseKind::Binary, 20_000, false);
    let scale = 1.0 / 20_000f64.sqrt();
    let mut priors = vec![Prior::laplace(scale); 5];
    priors[0] = Prior::normal(10.0);
    let model = Glm::new(Logistic, &data, priors).unwrap();
    let expansion = GlmExpansion::new(&model, &[0.0; 5], &ExpansionSettings::default()).unwrap();
    let mode = expansion.mode();
    let (mut gradient, mut hessian) = (vec![0.0; 5], vec![0.0; 25]);
    crate::glm::derivative::of_likelihood(&model, mode, &mut gradient, &mut hessian).unwrap();
    for j in 1..3 {
        let pull = gradient[j] * scale * mode[j].signum();
        assert!(mode[j].abs() > 0.2 && (pull - 1.0).abs() < 0.02, "{mode:?}: {pull}");
    }
}

/// A quarter of the rows, which searches begin with, may hold none of the few events of a rare feature: the centre is at the mode of all rows nevertheless.
#[test]
fn the_centre_of_rare_events_is_at_the_mode() {
    for (rows, rate) in [(4_000, 0.1), (20_000, 0.02), (50_000, 0.01)] {
        for seed in 0..6 {
            let mut rng = stream(seed, 0, Role::Data);
            let feature: Vec<f64> = (0..rows).map(|row| f64::from(row % 100 == 3)).collect();
            let response: Vec<f64> = (0..rows).map(|_| f64::from(rng.random::<f64>() < rate)).collect();
            let data = Data::new(["rare"], vec![feature], response).check(ResponseKind::Binary).unwrap();
            let priors = vec![Prior::normal(10.0), Prior::normal(5.0)];
            let model = Glm::new(Logistic, &data, priors).unwrap();
            let mode = austerity::model::find_mode(&model, &[0.0; 2]).unwrap();
            let expansion = GlmExpansion::new(&model, &[0.0; 2], &ExpansionSettings::default()).unwrap();
            for j in 0..2 {
                let off = (expansion.centre()[j] - mode.state[j]) / mode.covariance[3 * j].sqrt();
                assert!(off.abs() < 0.4, "{rows} rows, seed {seed}: {:?}, {mode:?}", expansion.centre());
            }
        }
    }
}

/// Residuals of a walk's steps have the spread that is predicted for them, at most (a bound, within a factor of 20; rows of the rare feature, along which steps are
/// short, are apart), and the stratum made for them is smaller.
#[test]
fn expansions_for_walks_predict_their_residuals() {
    let data = data(ResponseKind::Binary, 6_000, false);
    let model = Glm::new(Logistic, &data, vec![Prior::normal(2.0); 5]).unwrap();
    let walk = 0.004;
    let usual = ExpansionSettings::default();
    let made = |settings: &ExpansionSettings| GlmExpansion::new(&model, &[0.0; 5], settings).unwrap();
    let expansion = made(&ExpansionSettings { walk: Some(walk), stratum_rows: Some(20), ..usual.clone() });
    let draws = made(&ExpansionSettings { stratum_rows: Some(20), ..usual.clone() });
    let (mode, covariance) = (expansion.mode().to_vec(), expansion.covariance().to_vec());
    let (mut rng, mut squares, turns) = (stream(8, 0, Role::Proposal), 0.0, 200);
    let mut cloud = austerity::proposal::RandomWalk::dense(5, &covariance).unwrap();
    for _ in 0..turns {
        let mut from = mode.clone();
        austerity::proposal::Proposal::propose(&mut cloud, &mode, &mut from, &mut rng).unwrap();
        let to: Vec<f64> = from.iter().map(|value| value + walk * normal(&mut rng)).collect();
        let mut scratch = Expansion::scratch(&expansion);
        let total = expansion.residuals(&from, &to, &mut scratch).total().unwrap();
        squares += total.variance() / f64::from(turns);
    }
    // The standard error of a total after 64 of 6,000 rows.
    let found = 6_000.0 * (squares / 64.0 * (1.0 - 64.0 / 6_000.0)).sqrt();
    let predicted = expansion.report().standard_error;
    assert!(found < predicted && 20.0 * found > predicted, "{found} where {predicted} was predicted");
    assert!(predicted < draws.report().standard_error);
    let (walking, drawing) = (made(&ExpansionSettings { walk: Some(walk), ..usual.clone() }), made(&usual));
    assert!(walking.report().stratum <= drawing.report().stratum);
}
