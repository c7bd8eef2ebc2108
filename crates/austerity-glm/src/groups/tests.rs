//! Tests of integrals over the effects of groups: against sums over a grid, and derivatives against differences.

use std::sync::Arc;

use super::marginal::{Effect, Workspace};
use super::model::{Multilevel, MultilevelSettings, kernel_of, normal_kernel};
use super::*;
use crate::own::Derivatives as _;
use crate::{AnyFamily, Data, Prior, ResponseKind, Store};
use austerity::rng::{Role, stream};
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

/// Rows of `sizes` groups with one column; the response is drawn by `respond` from η and a uniform number.
fn made(
    sizes: &[usize],
    kind: ResponseKind,
    seed: u64,
    respond: impl Fn(f64, f64) -> f64,
) -> (Store, Membership) {
    let mut rng = stream(seed, 0, Role::Start);
    let normal = |rng: &mut austerity::rng::Rng| -> f64 { StandardNormal.sample(rng) };
    let (mut x, mut y, mut group) = (Vec::new(), Vec::new(), Vec::new());
    for (j, &n) in sizes.iter().enumerate() {
        let (u, v) = (0.7 * normal(&mut rng), 0.4 * normal(&mut rng));
        for _ in 0..n {
            let value = 3.0 + 2.0 * normal(&mut rng);
            let eta = -0.4 + 0.2 * value + u + 0.2 * v * value;
            x.push(value);
            group.push(j as u32);
            y.push(respond(eta, rng.random::<f64>()));
        }
    }
    let data = Data::new(["x"], vec![x], y).shuffle(7).check(kind).unwrap();
    let store = Store::new(&data, kind).unwrap();
    let levels = (0..sizes.len()).map(|j| format!("g{j}")).collect();
    (store, Membership { group, levels })
}

fn model(
    store: &Store,
    membership: &Membership,
    kernel: Box<dyn Kernel>,
    slopes: bool,
    nodes: usize,
) -> Multilevel {
    let data = Arc::new(Grouped::new(store, membership, 7).unwrap());
    let effects = if slopes { vec![Effect::Intercept, Effect::Column(0)] } else { vec![Effect::Intercept] };
    let half = Prior::HalfStudent { freedom: 3.0, scale: 2.5 };
    let scales = Scales::new(vec![half; effects.len()], true, 1.0).unwrap();
    let mut priors = store.default_priors();
    let mut names = store.coefficient_names();
    for extra in 0..kernel.extra() {
        priors = priors.and(Prior::HalfNormal { scale: 2.0 });
        names.push(format!("extra{extra}"));
    }
    let terms = ["intercept".to_owned(), "x".to_owned()];
    names.extend(scales.names("g", &terms[..effects.len()]));
    Multilevel::new(data, kernel, MultilevelSettings { effects, scales, priors, nodes, names, threads: 2 })
        .unwrap()
}

fn bernoulli(eta: f64, u: f64) -> f64 {
    f64::from(u8::from(u < 1.0 / (1.0 + (-eta).exp())))
}

/// Gradient and Hessian of the whole log density against differences.
fn check_derivatives(model: &Multilevel, state: &[f64]) {
    let d = state.len();
    let at = |state: &[f64]| {
        let mut gradient = vec![0.0; d];
        (model.density(state, &mut gradient, None).unwrap(), gradient)
    };
    let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
    model.density(state, &mut gradient, Some(&mut hessian)).unwrap();
    for i in 0..d {
        let h = 1e-4;
        let (mut up, mut down) = (state.to_vec(), state.to_vec());
        up[i] += h;
        down[i] -= h;
        let ((a, first), (b, second)) = (at(&up), at(&down));
        let slope = (a - b) / (2.0 * h);
        assert!(
            (slope - gradient[i]).abs() < 1e-5 * (1.0 + slope.abs()),
            "gradient {i}: {slope} {}",
            gradient[i]
        );
        for j in 0..d {
            let curve = (first[j] - second[j]) / (2.0 * h);
            let own = hessian[i * d + j];
            assert!((curve - own).abs() < 2e-5 * (1.0 + curve.abs()), "Hessian {i},{j}: {curve} {own}");
        }
    }
}

#[test]
fn derivatives_agree_with_differences_for_logistic_rows() {
    let (store, membership) = made(&[1, 5, 20, 3, 60], ResponseKind::Binary, 1, bernoulli);
    let model = model(&store, &membership, kernel_of(AnyFamily::Logistic(crate::Logistic)), false, 31);
    check_derivatives(&model, &[-0.3, 0.15, -0.4]);
    check_derivatives(&model, &[0.1, 0.3, 0.3]);
}

#[test]
fn derivatives_agree_with_differences_for_slopes() {
    let (store, membership) = made(&[4, 9, 20, 30], ResponseKind::Binary, 2, bernoulli);
    let model = model(&store, &membership, kernel_of(AnyFamily::Logistic(crate::Logistic)), true, 21);
    check_derivatives(&model, &[-0.3, 0.15, -0.4, -0.1, -1.2]);
}

#[test]
fn derivatives_agree_with_differences_for_other_families() {
    let (store, membership) = made(&[4, 9, 20], ResponseKind::Real, 3, |eta, u| eta + 2.0 * (u - 0.5));
    check_derivatives(
        &model(&store, &membership, normal_kernel(), true, 5),
        &[-0.3, 0.15, -0.2, -0.4, -0.1, -1.2],
    );
    let (store, membership) =
        made(&[4, 9, 20], ResponseKind::Count, 4, |eta, u| (eta.exp() * 2.0 * u).round());
    let family: AnyFamily = "negative-binomial".parse().unwrap();
    check_derivatives(&model(&store, &membership, kernel_of(family), false, 21), &[-0.3, 0.15, 0.4, -0.4]);
}

/// log m of the shift path against an independent rule: midpoints over a wide window.
#[test]
fn marginal_likelihoods_are_those_of_a_grid() {
    let (store, membership) = made(&[1, 5, 20, 3, 300], ResponseKind::Binary, 5, bernoulli);
    let model = model(&store, &membership, kernel_of(AnyFamily::Logistic(crate::Logistic)), false, 15);
    let state = [-0.3, 0.15, -0.4];
    let sigma = f64::exp(state[2]);
    let marginal = model.marginal();
    let point = marginal.point(&state);
    for group in 0..5 {
        let own = marginal.evaluate(group, &point, &mut [0.0; MOST_EFFECTS], &mut Workspace::default());
        let rows: Vec<usize> = (0..store.rows())
            .filter(|&row| membership.group[store.original_row(row)] as usize == model.data().level(group))
            .collect();
        let layout = store.description().layout();
        let log_integrand = |u: f64| -> f64 {
            let rows = rows.iter().map(|&row| {
                let eta = state[0] + state[1] * store.row(row)[0] + u;
                -(-f64::from(store.blocks().value(row, layout.response)) * eta).exp().ln_1p()
            });
            rows.sum::<f64>()
                - 0.5 * (u / sigma).powi(2)
                - sigma.ln()
                - 0.5 * (2.0 * std::f64::consts::PI).ln()
        };
        let steps = 20_000;
        let width = 16.0 * sigma / f64::from(steps);
        let values: Vec<f64> =
            (0..steps).map(|k| log_integrand(-8.0 * sigma + (f64::from(k) + 0.5) * width)).collect();
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exact = most + (values.iter().map(|value| (value - most).exp()).sum::<f64>() * width).ln();
        assert!((own - exact).abs() < 1e-7, "group of {}: {own} {exact}", rows.len());
    }
}

/// Normal noise has a closed form: y ~ N(Xβ, s²I + σ²11').
#[test]
fn normal_noise_has_its_closed_form() {
    let (store, membership) = made(&[1, 7, 40], ResponseKind::Real, 6, |eta, u| eta + u);
    let model = model(&store, &membership, normal_kernel(), false, 3);
    let state = [-0.3, 0.15, -0.7, -0.4];
    let (s2, sigma2) = (f64::exp(2.0 * state[2]), f64::exp(2.0 * state[3]));
    let own = model.all(&state, &hermite::Hermite::new(3));
    let constant = store.description().side_constant();
    for group in 0..3 {
        let layout = store.description().layout();
        let rows = (0..store.rows())
            .filter(|&row| membership.group[store.original_row(row)] as usize == model.data().level(group));
        let r: Vec<f64> = rows
            .map(|row| {
                f64::from(store.blocks().value(row, layout.response))
                    - constant
                    - state[0]
                    - state[1] * store.row(row)[0]
            })
            .collect();
        let n = r.len() as f64;
        let (sum, squares): (f64, f64) = (r.iter().sum(), r.iter().map(|r| r * r).sum());
        let quadratic = squares / s2 - sigma2 * sum * sum / (s2 * (s2 + n * sigma2));
        // Log densities are up to a constant: the noise leaves out ½ log 2π a row.
        let exact = -0.5 * (quadratic + (n - 1.0) * s2.ln() + (s2 + n * sigma2).ln());
        assert!((own[group] - exact).abs() < 1e-6 * (1.0 + exact.abs()), "{n}: {} {exact}", own[group]);
    }
}

/// The densities of standard deviations and a correlation come back from Λ: differences of log priors against the densities and a numerical Jacobian.
#[test]
fn the_prior_of_lambda_is_that_of_standard_deviations_and_correlations() {
    let half = Prior::HalfStudent { freedom: 3.0, scale: 2.5 };
    let scales = Scales::new(vec![half; 2], true, 2.0).unwrap();
    let jacobian = |recorded: &[f64; 3]| {
        let step = 1e-6;
        let columns: Vec<Vec<f64>> = (0..3)
            .map(|i| {
                let (mut up, mut down) = (*recorded, *recorded);
                up[i] += step;
                down[i] -= step;
                scales.read(&up).iter().zip(scales.read(&down)).map(|(a, b)| (a - b) / (2.0 * step)).collect()
            })
            .collect();
        nalgebra::DMatrix::from_fn(3, 3, |i, j| columns[j][i]).determinant().abs().ln()
    };
    let direct = |&[a, b, r]: &[f64; 3]| {
        half.log_density(a.ln()) - a.ln() + half.log_density(b.ln()) - b.ln() + (1.0 - r * r).ln()
    };
    let difference = |recorded: &[f64; 3]| {
        scales.log_prior(&scales.read(recorded)) + jacobian(recorded) - direct(recorded)
    };
    let (first, second) = (difference(&[0.5, 1.5, 0.3]), difference(&[2.0, 0.2, -0.8]));
    assert!((first - second).abs() < 1e-6, "{first} {second}");
    let mut back = [0.0; 3];
    scales.write(&scales.read(&[2.0, 0.2, -0.8]), &mut back);
    assert!(back.iter().zip([2.0, 0.2, -0.8]).all(|(a, b)| (a - b).abs() < 1e-12), "{back:?}");
}

/// Totals and derivatives have the same bits on every number of threads, and prepared ones agree with those that are not.
#[test]
fn threads_and_preparation_change_nothing() {
    let (store, membership) = made(&[5; 90], ResponseKind::Binary, 8, bernoulli);
    let make = |threads: usize| {
        let mut model = model(&store, &membership, kernel_of(AnyFamily::Logistic(crate::Logistic)), false, 7);
        model = model.with_nodes(7);
        model.set_threads(threads);
        model
    };
    let state = [-0.3, 0.15, -0.4];
    let run = |model: &Multilevel| {
        let (mut gradient, mut hessian) = (vec![0.0; 3], vec![0.0; 9]);
        let value = model.density(&state, &mut gradient, Some(&mut hessian)).unwrap();
        (value, gradient, hessian)
    };
    let (one, seven) = (make(1), make(7));
    assert_eq!(run(&one), run(&seven));
    let plain = run(&one);
    one.prepare(&state).unwrap();
    let prepared = run(&one);
    assert!((plain.0 - prepared.0).abs() < 1e-9 * plain.0.abs());
    let mut hessian = vec![0.0; 9];
    let mut total = vec![0.0; 9];
    for group in 0..90 {
        one.add_hessian(&state, group, &mut total).unwrap();
    }
    hessian.copy_from_slice(&plain.2);
    let mut prior = [0.0; 9];
    one.priors().add_hessian(&state[..2], &mut prior[..4], |value| value);
    assert!((hessian[1] - prior[1] - total[1]).abs() < 1e-8 * hessian[1].abs(), "{hessian:?} {total:?}");
}

/// Quantiles of effects against draws: the mixture of two normals.
#[test]
fn few_nodes_are_found_to_be_too_few_where_groups_are_small() {
    let (store, membership) = made(&[4; 300], ResponseKind::Binary, 9, bernoulli);
    let model = model(&store, &membership, kernel_of(AnyFamily::Logistic(crate::Logistic)), false, 7);
    let covariance = [0.01, 0.0, 0.0, 0.0, 0.001, 0.0, 0.0, 0.0, 0.04];
    let found = check::nodes(&model, &[-0.3, 0.15, -0.4], &covariance, &[0, 2]);
    assert!(found.error < check::ALLOWED && found.nodes <= 9, "{found:?}");
    // One node, Laplace's approximation, is off by more.
    let coarse = |state: &[f64]| -> f64 { model.all(state, &hermite::Hermite::new(1)).iter().sum() };
    let fine = |state: &[f64]| -> f64 { model.all(state, &hermite::Hermite::new(31)).iter().sum() };
    let (a, b) = ([-0.3, 0.15, -0.4], [-0.3, 0.15, 0.0]);
    assert!((coarse(&b) - coarse(&a) - fine(&b) + fine(&a)).abs() > 10.0 * check::ALLOWED);
}

/// Means, standard deviations and quantiles of effects at one draw are those of a grid; a group of one row is skewed.
#[test]
fn effects_at_a_draw_are_those_of_a_grid() {
    let (store, membership) = made(&[1, 6, 80], ResponseKind::Binary, 10, bernoulli);
    let model = model(&store, &membership, kernel_of(AnyFamily::Logistic(crate::Logistic)), false, 15);
    let recorded = [-0.3, 0.15, 0.8];
    let found = effects::effects(&model, None, &[recorded.to_vec()], None);
    let layout = store.description().layout();
    for (group, summary) in found.summaries.iter().enumerate() {
        let rows: Vec<usize> = (0..store.rows())
            .filter(|&row| membership.group[store.original_row(row)] == found.levels[group])
            .collect();
        assert_eq!(rows.len() as u32, found.sizes[group]);
        let grid: Vec<(f64, f64)> = (0..8000)
            .map(|k| {
                let u = -6.4 + 0.0016 * (f64::from(k) + 0.5);
                let rows = rows.iter().map(|&row| {
                    let eta = recorded[0] + recorded[1] * store.row(row)[0] + u;
                    -(-f64::from(store.blocks().value(row, layout.response)) * eta).exp().ln_1p()
                });
                (u, (rows.sum::<f64>() - 0.5 * (u / recorded[2]).powi(2)).exp())
            })
            .collect();
        let total: f64 = grid.iter().map(|(_, w)| w).sum();
        let mean = grid.iter().map(|(u, w)| u * w).sum::<f64>() / total;
        let sd = (grid.iter().map(|(u, w)| (u - mean).powi(2) * w).sum::<f64>() / total).sqrt();
        assert!(
            (summary.mean - mean).abs() < 1e-4 * sd && (summary.sd / sd - 1.0).abs() < 1e-4,
            "{summary:?} {mean} {sd}"
        );
        let mut below = 0.0;
        let mut next = 0;
        for (u, w) in &grid {
            below += w / total;
            if next < 3 && below >= effects::LEVELS[next] {
                assert!((summary.quantiles[next] - u).abs() < 0.02 * sd, "{summary:?} {u}");
                next += 1;
            }
        }
        assert_eq!(next, 3);
    }
}

/// Tables follow the integrals as all parameters move by two posterior standard deviations, and by far more in intercept and σ, which they hold exactly.
#[test]
fn node_tables_follow_the_integrals() {
    let (store, membership) = made(&[900, 400, 1500, 700], ResponseKind::Binary, 11, bernoulli);
    let model = model(&store, &membership, kernel_of(AnyFamily::Logistic(crate::Logistic)), false, 9);
    let centre = [-0.3, 0.15, -0.4];
    let tabled = Tabled::new(&model, &centre).unwrap();
    let covariance = [0.02, -0.0005, 0.0, -0.0005, 0.0002, 0.0, 0.0, 0.0, 0.12];
    let error = tabled.error(&centre, &covariance, 3);
    assert!(error < 0.01, "{error}");
    // At another centre they are wrong.
    let elsewhere = Tabled::new(&model, &[-0.3, 0.65, -0.4]).unwrap();
    assert!(elsewhere.error(&[-0.3, 0.65, -0.4], &covariance, 3) < 0.05);
    let at = |tabled: &Tabled<'_>| {
        let batch = austerity::population::Batch { blocks: &[0], block_rows: 4, population: 4 };
        let mut out = [0.0; 4];
        crate::own::Likelihoods::log_likelihoods(tabled, &centre, batch, &mut Default::default(), &mut out)
            .unwrap();
        out.iter().sum::<f64>()
    };
    assert!((at(&tabled) - at(&elsewhere)).abs() > 1.0);
    let recorded = [centre.to_vec(), vec![-0.2, 0.16, 0.6]].map(|mut draw| {
        draw[2] = f64::exp(-0.4);
        draw
    });
    let by_tables = effects::effects(&model, Some(&tabled), &recorded, Some(1));
    let by_rows = effects::effects(&model, None, &recorded, Some(1));
    for (a, b) in by_tables.summaries.iter().zip(&by_rows.summaries) {
        assert!((a.mean - b.mean).abs() < 0.01 * b.sd && (a.sd / b.sd - 1.0).abs() < 0.01, "{a:?} {b:?}");
    }
    assert_eq!(by_tables.draws.len(), 8);
}
