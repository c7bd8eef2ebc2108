//! Copies of heavy rows: the same totals, row by row; less blind and less noisy by what was predicted.

use std::collections::HashMap;

use super::*;
use crate::check::ResidualTest;
use crate::gradients::{At, BatchGradient};
use austerity::model::Gradient as _;
use austerity::population::Batch;

/// A column with heavy tails beside a normal one; weights and an offset where asked for.
fn heavy(kind: ResponseKind, rows: usize, sides: bool, tail: impl Fn(f64, f64) -> f64) -> crate::CheckedData {
    let mut rng = stream(15, 0, Role::Data);
    let (mut a, mut b, mut response) = (vec![], vec![], vec![]);
    for _ in 0..rows {
        let (x, z, other) = (normal(&mut rng), normal(&mut rng), normal(&mut rng));
        let x = [x, tail(z, other)];
        let eta: f64 = 0.4 + 0.3 * x[0] + 0.02 * x[1];
        let u: f64 = rng.random();
        response.push(match kind {
            ResponseKind::Binary => f64::from(u < 1.0 / (1.0 + (-eta).exp())),
            ResponseKind::CountOfTrials => (5.0 * u / (1.0 + (-eta).exp())).round().min(3.0),
            ResponseKind::Count => (eta.exp() * 2.0 * u).floor(),
            ResponseKind::Real => eta + 0.5 * normal(&mut rng),
            ResponseKind::Positive | ResponseKind::Time => (eta + 0.7 * normal(&mut rng)).exp(),
            ResponseKind::Ordered => (eta + 1.5 + 1.8 * normal(&mut rng)).round().clamp(0.0, 4.0),
            ResponseKind::Share => 1.0 / (1.0 + (-eta - 0.7 * normal(&mut rng)).exp()),
        });
        a.push(x[0]);
        b.push(x[1]);
    }
    let mut data = Data::new(["a", "heavy"], vec![a, b], response);
    if kind == ResponseKind::CountOfTrials {
        data = data.trials(vec![3.0; rows]);
    }
    if sides {
        data = data.weights((0..rows).map(|i| 1.0 + (i % 3) as f64).collect());
        data = data.offset((0..rows).map(|i| 0.2 * (i as f64).sin()).collect());
    }
    data.check(kind).unwrap()
}

fn log_normal(z: f64, _: f64) -> f64 {
    z.exp()
}

/// A ratio of normals is Cauchy; pulled in, its tail is about that of Student's t with 3 degrees of freedom.
fn student(z: f64, other: f64) -> f64 {
    let ratio: f64 = z / other;
    ratio.signum() * ratio.abs().powf(1.0 / 3.0) * (1.0 + ratio.abs()).ln()
}

fn model<F: Family>(family: F, data: &crate::CheckedData) -> Glm<F> {
    let mut priors = vec![Prior::student(3.0, 1.0); data.coefficients()];
    priors.extend(family.extra().iter().map(|_| Prior::normal(2.0)));
    Glm::new(family, data, priors).unwrap()
}

/// A test so strict, with a stratum so small, that copies are needed.
fn strict(largest_stratum: usize, tolerance: f64) -> ExpansionSettings {
    let stratum = ResidualTest { tolerance, largest_stratum, ..ResidualTest::default() };
    ExpansionSettings { stratum, ..ExpansionSettings::default() }
}

fn near<F: Family>(expansion: &GlmExpansion<F>, rng: &mut austerity::rng::Rng) -> Vec<f64> {
    let d = expansion.dimension();
    let sds = expansion.covariance().iter().step_by(d + 1).map(|v| v.sqrt());
    expansion.centre().iter().zip(sds).map(|(c, sd)| c + sd * normal(rng)).collect()
}

/// Where a row of the sampled storage stands in the model's; nothing but rows of the stratum is missing there.
fn place<F: Family>(expansion: &GlmExpansion<F>, position: usize) -> usize {
    expansion.places.as_ref().map_or(position, |places| places[position] as usize)
}

/// Residuals by the rows of the model's storage.
fn by_place<F: Family>(
    surrogate: &Surrogate<GlmExpansion<F>>,
    from: &Vec<f64>,
    to: &Vec<f64>,
) -> HashMap<usize, f64> {
    let mut scratch = surrogate.scratch(Access::Blocks);
    let mut residuals = surrogate.compare(from, to, &mut scratch);
    let mut out = vec![0.0; residuals.len()];
    residuals.reveal(0..out.len(), &mut out).unwrap();
    let mut rows = HashMap::new();
    for (position, value) in out.into_iter().enumerate() {
        *rows.entry(place(surrogate.expansion(), position)).or_insert(0.0) += value;
    }
    rows
}

fn identity<F: Family>(family: &F, kind: ResponseKind) {
    for sides in [false, true] {
        for order in [1, 2] {
            let model = model(*family, &heavy(kind, 4000, sides, log_normal));
            let d = model.parameters();
            let settings = ExpansionSettings { order, ..strict(4, 1e-6) };
            let expansion = GlmExpansion::new(&model, &vec![0.0; d], &settings).unwrap();
            let report = expansion.report().clone();
            let name = format!("{} order {order} sides {sides}: {report:?}", family.name());
            assert!(report.replicated > 0 && report.extra_rows > 0 && report.extra_rows <= 2000, "{name}");
            assert!(!report.is_blind() && report.sentence().contains("several times"), "{name}");
            let surrogate = Surrogate::new(expansion);
            assert_eq!(surrogate.len(), 4000 - report.stratum + report.extra_rows);
            let plain = ExpansionSettings { stratum_rows: Some(report.stratum), ..settings };
            let plain = Surrogate::new(GlmExpansion::new(&model, &vec![0.0; d], &plain).unwrap());
            let mut rng = stream(6, 0, Role::Proposal);
            let (from, to) = (near(surrogate.expansion(), &mut rng), near(surrogate.expansion(), &mut rng));
            let (found, wanted) = (total(&surrogate, &from, &to), total(&model, &from, &to));
            assert!((found - wanted).abs() < 2e-5 * (1.0 + wanted.abs()), "{name}: {found} against {wanted}");
            // Copies of a row add up to the row, and are named after it.
            for position in (0..surrogate.len()).step_by(1500) {
                let wanted = model.original(place(surrogate.expansion(), position));
                assert_eq!(surrogate.original_row(position), wanted, "{name}");
            }
            let (copied, once) = (by_place(&surrogate, &from, &to), by_place(&plain, &from, &to));
            let most = once.values().fold(0.0f64, |most, r| most.max(r.abs()));
            for (row, residual) in once {
                let sum = copied.get(&row).copied().unwrap_or(0.0);
                assert!((sum - residual).abs() < 1e-5 * most, "{name} row {row}: {sum} against {residual}");
            }
            // So do their gradients.
            let population = surrogate.len();
            let all = Batch { blocks: &[0], block_rows: population, population };
            let (mut gradient, mut whole) = (vec![0.0; d], vec![0.0; d]);
            surrogate
                .stochastic_gradient(At { state: &to, batch: all }, &mut Default::default(), &mut gradient)
                .unwrap();
            model.gradient(&to, &mut whole).unwrap();
            for (a, b) in gradient.iter().zip(&whole) {
                assert!((a - b).abs() < 0.02 * (1.0 + 1e-2 * b.abs()), "{name}: {gradient:?} {whole:?}");
            }
        }
    }
}

#[test]
fn copies_leave_every_total_as_it_is() {
    identity(&Logistic, ResponseKind::Binary);
    identity(&Binomial, ResponseKind::CountOfTrials);
    identity(&Poisson, ResponseKind::Count);
    identity(&Student { freedom: 4.0 }, ResponseKind::Real);
}

/// n·variance of an estimated total over eight moves, without the finite-population factor.
fn noise<F: Family>(surrogate: &Surrogate<GlmExpansion<F>>) -> f64 {
    let mut rng = stream(16, 0, Role::Proposal);
    let square = |_| {
        let (from, to) = (near(surrogate.expansion(), &mut rng), near(surrogate.expansion(), &mut rng));
        let mut scratch = surrogate.scratch(Access::Blocks);
        let moments = surrogate.compare(&from, &to, &mut scratch).total().unwrap();
        moments.m2 * surrogate.len() as f64
    };
    (0..8).map(square).sum()
}

/// Copies against none beside the same stratum: blind before and not after, and a noise that falls by what the scores predict, within a
/// factor of 5 (scores are bounds).
fn gain<F: Family>(name: &str, model: &Glm<F>, settings: &ExpansionSettings) {
    let start = vec![0.0; model.parameters()];
    let with = Surrogate::new(GlmExpansion::new(model, &start, settings).unwrap());
    let report = with.expansion().report().clone();
    let none = ExpansionSettings { stratum_rows: Some(report.stratum), ..settings.clone() };
    let without = Surrogate::new(GlmExpansion::new(model, &start, &none).unwrap());
    let before = without.expansion().report().clone();
    assert!(before.is_blind() && !report.is_blind(), "{name}: {before:?} {report:?}");
    let ratio = |report: &ExpansionReport| report.missed / report.believed;
    assert!(ratio(&report) < ratio(&before));
    let predicted = (before.standard_error / report.standard_error).powi(2);
    let found = noise(&without) / noise(&with);
    println!(
        "{name}: {} certain, {} rows copied, {} extra; variance falls by {found:.1}, predicted {predicted:.1}; blind {:.2} to {:.2}",
        report.stratum,
        report.replicated,
        report.extra_rows,
        ratio(&before),
        ratio(&report)
    );
    assert!(found > 2.0 && found > predicted / 5.0 && found < predicted * 5.0, "{found} {predicted}");
    // Too little room for copies: blind, and said to be.
    let cramped = ExpansionSettings { extra_rows: 1e-4, ..settings.clone() };
    let blind = GlmExpansion::new(model, &start, &cramped).unwrap();
    assert!(blind.report().is_blind() && blind.report().sentence().contains("copies"), "{name}");
    assert_eq!(blind.report().extra_rows, 0);
}

#[test]
fn heavy_tails() {
    let data = |tail: fn(f64, f64) -> f64| heavy(ResponseKind::Binary, 20_000, false, tail);
    gain("log-normal", &model(Logistic, &data(log_normal)), &strict(4, 1e-3));
    gain("Student", &model(Logistic, &data(student)), &strict(4, 1e-3));
    let counts = heavy(ResponseKind::Count, 20_000, false, log_normal);
    gain("Poisson, log-normal", &model(Poisson, &counts), &strict(4, 1e-3));
}

/// 400 rows of 40,000 with one of twenty rare features each, of which a stratum may hold 100.
#[test]
fn rare_features_past_the_limit_of_the_stratum() {
    let mut rng = stream(17, 0, Role::Data);
    let rows = 40_000;
    let mut columns = vec![Vec::new(); 21];
    let mut response = Vec::new();
    for row in 0..rows {
        let x = normal(&mut rng);
        columns[0].push(x);
        let feature = if row % 100 == 0 { row / 100 % 20 } else { 20 };
        (0..20).for_each(|j| columns[1 + j].push(f64::from(u8::from(j == feature))));
        response.push(f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (0.5 - 0.4 * x).exp()))));
    }
    let names: Vec<String> = (0..21).map(|j| format!("x{j}")).collect();
    let data = Data::new(names, columns, response).check(ResponseKind::Binary).unwrap();
    let model = model(Logistic, &data);
    let stratum = ResidualTest { largest_stratum: 100, ..ResidualTest::default() };
    gain("rare", &model, &ExpansionSettings { stratum, ..ExpansionSettings::default() });
}

#[test]
fn a_share_that_is_no_number_is_refused() {
    let model = model(Logistic, &heavy(ResponseKind::Binary, 500, false, log_normal));
    for extra_rows in [-0.1, f64::NAN, f64::INFINITY] {
        let settings = ExpansionSettings { extra_rows, ..ExpansionSettings::default() };
        assert!(GlmExpansion::new(&model, &[0.0; 3], &settings).is_err());
    }
}
