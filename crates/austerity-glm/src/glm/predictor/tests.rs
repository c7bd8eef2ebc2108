//! Factor columns, with and without slopes, against the same levels as columns of numbers: everything that is computed of rows agrees to single precision.

use super::levels;
use crate::data::summary::{ColumnSummary, SparseSummarizer};
use crate::data::{SidePlan, Sides};
use crate::glm::blocks::BLOCK;
use crate::glm::expansion::{CertificateSettings, ExpansionSettings, GlmExpansion, sampled};
use crate::glm::{AnyFamily, Family, Glm, Logistic, Visitor};
use crate::gradients::{At, BatchGradient as _};
use crate::store::{Blueprint, Order, StoreBuilder};
use crate::surrogate::{CertainSteps as _, Expansion as _, ResidualGradient as _};
use crate::{Linear, Noise, Prior, ResponseKind, Store};
use austerity::model::{Access, Curvature as _, Gradient as _, Model as _};
use austerity::population::{Batch, Population as _};
use austerity::rng::{Role, stream};
use rand::RngExt as _;
use rand_distr::StandardNormal;

/// Levels with a coefficient of the two factors.
const LEVELS: [usize; 2] = [11, 4];

/// Rows with the columns a, first factor, b, second factor; level 1 of the first factor has three rows, all of one response.
struct Given {
    dense: [Vec<f64>; 2],
    codes: [Vec<u32>; 2],
    response: Vec<f64>,
    trials: Vec<f64>,
    weights: Vec<f64>,
    offset: Vec<f64>,
    factors: Factors,
}

/// Which factors there are, and whether they have slopes: numbers that their levels are multiplied with.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Factors {
    count: usize,
    slopes: [bool; 2],
}

const ONE: Factors = Factors { count: 1, slopes: [false; 2] };
const TWO: Factors = Factors { count: 2, slopes: [false; 2] };
const ONE_SLOPE: Factors = Factors { count: 1, slopes: [true, false] };
/// The one with slopes is stored last.
const MIXED: [Factors; 2] =
    [Factors { count: 2, slopes: [false, true] }, Factors { count: 2, slopes: [true, false] }];

fn given(kind: ResponseKind, rows: usize, factors: Factors) -> Given {
    let mut rng = stream(8, 0, Role::Data);
    let mut all = Given {
        dense: [vec![], vec![]],
        codes: [vec![], vec![]],
        response: vec![],
        trials: vec![],
        weights: vec![],
        offset: vec![],
        factors,
    };
    for row in 0..rows {
        let x: [f64; 2] = std::array::from_fn(|_| rng.sample(StandardNormal));
        let few = row % (rows / 3) == 5;
        let first = if few {
            1
        } else {
            [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11][(rng.random::<f64>().powi(2) * 11.0) as usize]
        };
        let second = (rng.random::<f64>() * 5.0) as u32;
        let eta = 0.3 + 0.5 * x[0] - 0.4 * x[1] + 0.1 * f64::from(first) - 0.2 * f64::from(second);
        let u: f64 = if few { 0.0 } else { rng.random() };
        let success = |u: f64| f64::from(u < 1.0 / (1.0 + (-eta).exp()));
        all.response.push(match kind {
            ResponseKind::Binary => success(u),
            ResponseKind::CountOfTrials => success(u) + success(rng.random()),
            ResponseKind::Count => (eta.exp() * 2.0 * u).floor(),
            ResponseKind::Real => eta + 0.5 * rng.sample::<f64, _>(StandardNormal),
            ResponseKind::Positive | ResponseKind::Time => {
                (eta + 0.7 * rng.sample::<f64, _>(StandardNormal)).exp()
            }
            ResponseKind::Ordered => {
                (eta + 1.5 + 1.8 * rng.sample::<f64, _>(StandardNormal)).round().clamp(0.0, 4.0)
            }
            ResponseKind::Share => 1.0 / (1.0 + (-eta - 0.7 * rng.sample::<f64, _>(StandardNormal)).exp()),
        });
        all.dense[0].push(20.0 + 3.0 * x[0]);
        all.dense[1].push(x[1]);
        all.codes[0].push(first);
        all.codes[1].push(second);
        all.trials.push(2.0);
        all.weights.push(1.0 + (row % 3) as f64);
        all.offset.push(0.1 * x[0] * x[1]);
    }
    all
}

/// The rows, with levels stored as factors or as 0/1 columns.
fn store(given: &Given, kind: ResponseKind, as_factors: bool) -> Store {
    let sides = Sides {
        response: &given.response,
        trials: (kind == ResponseKind::CountOfTrials).then_some(&given.trials),
        weights: Some(&given.weights),
        offset: Some(&given.offset),
    };
    let plan = SidePlan::of(kind, &sides).unwrap();
    let (first, second) =
        (1..1 + LEVELS[0], 2 + LEVELS[0]..2 + LEVELS[0] + LEVELS[1] * (given.factors.count - 1));
    let mut blueprint = Blueprint::new(plan, second.end, true, Order::Shuffled { seed: 3 }).unwrap();
    if as_factors {
        for (levels, slopes) in [first.clone(), second.clone()].into_iter().zip(given.factors.slopes) {
            if slopes { blueprint.make_slopes(levels, 1.7) } else { blueprint.make_factor(levels) }
        }
    }
    for (place, column) in [(0, &given.dense[0]), (first.end, &given.dense[1])] {
        blueprint.plan(place, ["a", "b"][usize::from(place > 0)], &ColumnSummary::of(column)).unwrap();
    }
    let (mut all, mut single) = (Vec::new(), Vec::new());
    for (number, (codes, columns)) in
        given.codes.iter().zip([first.clone(), second]).take(given.factors.count).enumerate()
    {
        let slopes = given.factors.slopes[number];
        for (level, column) in columns.clone().enumerate() {
            let is = |(&code, number): (&u32, &f64)| {
                if code as usize == level + 1 { if slopes { *number } else { 1.0 } } else { 0.0 }
            };
            let values: Vec<f64> = codes.iter().zip(&given.dense[1]).map(is).collect();
            let summary = ColumnSummary::of(&values);
            if slopes {
                let mut sparse = SparseSummarizer::default();
                values.iter().enumerate().for_each(|(row, &value)| sparse.push(row, value));
                let sparse = sparse.finish(values.len());
                assert!((sparse.sd / summary.sd - 1.0).abs() < 1e-12, "{sparse:?} {summary:?}");
                let rounded = |mut of: ColumnSummary| {
                    (of.mean, of.sd, of.of_nonzeros) = (0.0, 0.0, (0.0, 0.0));
                    of
                };
                assert_eq!(rounded(sparse), rounded(summary));
            }
            blueprint.plan(column, &format!("c{column}"), &summary).unwrap();
            if slopes && !as_factors {
                single.push((column, values));
            }
        }
        all.push((std::iter::once(None).chain(columns.map(Some)).collect::<Vec<_>>(), codes, slopes));
    }
    let mut builder = StoreBuilder::new(blueprint);
    builder.fill(0, 0, &given.dense[0]).unwrap();
    builder.fill(first.end, 0, &given.dense[1]).unwrap();
    for (k, (columns, codes, slopes)) in all.iter().enumerate() {
        // Whole and in two pieces.
        let cut = if k == 0 { codes.len() } else { 100 };
        for rows in [0..cut, cut..codes.len()].into_iter().filter(|rows| !rows.is_empty()) {
            match (slopes, as_factors) {
                (false, _) => builder.fill_levels(columns, rows.start, &codes[rows]).unwrap(),
                (true, true) => {
                    let numbers = &given.dense[1][rows.clone()];
                    builder.fill_slopes(columns, rows.start, (&codes[rows], numbers)).unwrap();
                }
                (true, false) => {}
            }
        }
    }
    single.iter().for_each(|(column, values)| builder.fill(*column, 0, values).unwrap());
    builder.fill_sides(0, &sides).unwrap();
    builder.finish().unwrap()
}

fn models<F: Family>(family: F, rows: usize, factors: Factors) -> [Glm<F>; 2] {
    let given = given(family.kind(), rows, factors);
    [false, true].map(|as_factors| {
        let store = store(&given, family.kind(), as_factors);
        let priors = vec![Prior::normal(3.0); store.coefficients() + family.extra().len()];
        Glm::from_store(family, store, priors).unwrap()
    })
}

fn state<F: Family>(model: &Glm<F>, seed: u64, size: f64) -> Vec<f64> {
    let mut rng = stream(seed, 0, Role::Proposal);
    let mut state: Vec<f64> =
        (0..model.parameters()).map(|_| size * rng.sample::<f64, _>(StandardNormal)).collect();
    // The column a is far from 0.
    state[1] *= 0.1;
    state[0] -= 20.0 * state[1];
    // Cut points rise.
    model.begun_at(&state)
}

fn close(found: &[f64], wanted: &[f64], share: f64, what: &str) {
    let size = wanted.iter().fold(0.0f64, |size, value| size.max(value.abs()));
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!((found - wanted).abs() <= share * size, "{what} {i}: {found} against {wanted} of {size}");
    }
}

#[test]
fn a_level_is_stored_as_its_place() {
    let given = given(ResponseKind::Binary, 300, TWO);
    let [columns, factors] = [false, true].map(|as_factors| store(&given, ResponseKind::Binary, as_factors));
    assert_eq!(columns.coefficient_names(), factors.coefficient_names());
    assert_eq!(columns.default_priors(), factors.default_priors());
    let layout = *factors.blocks().layout();
    assert_eq!((layout.columns, layout.factors, layout.levels, layout.table()), (2, 2, 15, 16));
    assert_eq!(factors.bytes(), 10 * layout.width * BLOCK * 4);
    let description = factors.description();
    assert_eq!(description.slots()[..3], [0, 3, 4]);
    assert_eq!(description.slots()[12..14], [1, 14]);
    let text = serde_json::to_string(description).unwrap();
    assert_eq!(&serde_json::from_str::<crate::store::Description>(&text).unwrap(), description);
    for position in 0..300 {
        let [mut one, mut other] = [(); 2].map(|()| vec![0.0; columns.coefficients() - 1]);
        columns.read(position, &mut one);
        factors.read(position, &mut other);
        for (j, column) in columns.description().columns.iter().enumerate() {
            let value = column.transform.shift + column.transform.scale * one[j];
            let own = &factors.description().columns[j].transform;
            assert!((value - own.shift - own.scale * other[j]).abs() < 1e-5, "{position} {j}");
        }
    }
}

struct Rows;

impl Visitor for Rows {
    type Output = ();
    fn visit<F: Family>(self, family: F) {
        for (factors, double) in
            [(ONE, false), (TWO, false), (TWO, true), (ONE_SLOPE, false), (MIXED[0], false), (MIXED[1], true)]
        {
            let [columns, levels] = models(family, 700, factors).map(|model| model.with_precision(double));
            let d = columns.parameters();
            let (from, to) = (state(&columns, 1, 0.3), state(&columns, 2, 0.3));
            let what = |part: &str| format!("{} {factors:?} {double} {part}", family.name());
            let derivatives = |model: &Glm<F>| {
                let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
                let value = model.hessian(&from, &mut gradient, &mut hessian).unwrap();
                let mut batch = vec![0.0; d];
                let blocks = Batch { blocks: &[1, 3, 9], block_rows: 64, population: 700 };
                let at = At { state: &from, batch: blocks };
                model.add_gradient(at, &mut Default::default(), &mut batch).unwrap();
                (value, gradient, hessian, batch)
            };
            let (one, other) = (derivatives(&columns), derivatives(&levels));
            assert!((one.0 - other.0).abs() < 1e-6 * one.0.abs(), "{}", what("value"));
            close(&other.1, &one.1, 2e-6, &what("gradient"));
            close(&other.2, &one.2, 2e-6, &what("hessian"));
            close(&other.3, &one.3, 5e-6, &what("batch gradient"));
            let differences = |model: &Glm<F>| {
                let mut values = vec![0.0; 700];
                let mut scratch = model.scratch(Access::Blocks);
                let mut ratio = model.compare(&from, &to, &mut scratch);
                ratio.reveal(0..700, &mut values).unwrap();
                let sum = ratio.total().unwrap().sum();
                let mut cached = model.scratch(Access::Scan);
                for _ in 0..2 {
                    let again = model.compare(&from, &to, &mut cached).total().unwrap().sum();
                    assert_eq!(again, sum, "{}", what("cache"));
                }
                values.push(sum);
                values
            };
            close(&differences(&levels), &differences(&columns), 3e-6, &what("difference"));
            let covariance: Vec<f64> =
                (0..d * d)
                    .map(|at| {
                        if at / d == at % d { 0.01 } else { 0.002 / (1.0 + (at / d).abs_diff(at % d) as f64) }
                    })
                    .collect();
            let influences = |model: &Glm<F>| {
                let mut all = Vec::new();
                model.influences(&from, &covariance, |row| all.push(row.leverage)).unwrap();
                all
            };
            close(&influences(&levels), &influences(&columns), 1e-5, &what("leverage"));
        }
    }
}

/// Log density, gradient, Hessian, batches, differences of moves and leverages, of every family, in single and double precision.
#[test]
fn rows_are_those_of_columns() {
    for &family in AnyFamily::ALL {
        family.visit(Rows);
    }
}

fn expanded<F: Family>(model: &Glm<F>, order: u8, stratum_rows: Option<usize>) -> GlmExpansion<F> {
    let settings = ExpansionSettings { order, stratum_rows, threads: 1, ..ExpansionSettings::default() };
    GlmExpansion::new(model, &vec![0.0; model.parameters()], &settings).unwrap()
}

struct Expansions;

impl Visitor for Expansions {
    type Output = ();
    fn visit<F: Family>(self, family: F) {
        for (factors, order, apart) in
            [(ONE, 2, Some(0)), (TWO, 2, Some(40)), (ONE, 2, None), (TWO, 3, Some(10)), (ONE, 1, Some(20))]
                .into_iter()
                .chain([(ONE_SLOPE, 2, Some(0)), (MIXED[0], 2, Some(40)), (MIXED[1], 3, Some(10))])
        {
            let [columns, levels] = models(family, 3000, factors);
            let what = |part: &str| format!("{} {factors:?} {order} {apart:?} {part}", family.name());
            let (one, other) = (expanded(&columns, order, apart), expanded(&levels, order, apart));
            let d = columns.parameters();
            let sds: Vec<f64> = one.covariance().iter().step_by(d + 1).map(|v| v.sqrt()).collect();
            close(other.covariance(), one.covariance(), 1e-4, &what("covariance"));
            assert_eq!(one.certain_parameters(), other.certain_parameters(), "{}", what("certain"));
            let near = |seed: u64| -> Vec<f64> {
                let mut rng = stream(seed, 0, Role::Proposal);
                let away = sds.iter().map(|sd| 0.3 * sd * rng.sample::<f64, _>(StandardNormal));
                one.centre().iter().zip(away).map(|(c, a)| c + a).collect()
            };
            let (from, to) = (near(1), near(2));
            // Centres differ by roundings, and what is expanded with them: surrogate and residuals together do not.
            let all = |expansion: &GlmExpansion<F>| {
                let mut scratch = expansion.scratch();
                let mut residuals = expansion.residuals(&from, &to, &mut scratch);
                let total = residuals.total().unwrap().sum();
                let mut single = vec![0.0; residuals.len()];
                residuals.reveal(0..single.len(), &mut single).unwrap();
                assert!((single.iter().sum::<f64>() - total).abs() < 1e-4 * (1.0 + total.abs()));
                let certificate = residuals.certify(0, 1.0).unwrap().map(|found| found.bound);
                let (mut slopes, mut gradient) = (Default::default(), vec![0.0; d]);
                let value = expansion.log_density_gradient(&from, &mut slopes, &mut gradient);
                assert!((value - expansion.log_density(&from)).abs() < 1e-4 * (1.0 + value.abs()));
                let rows = expansion.rows();
                let blocks: Vec<u32> = (0..rows.div_ceil(BLOCK) as u32).collect();
                let batch = Batch { blocks: &blocks, block_rows: BLOCK, population: rows };
                let at = At { state: &from, batch };
                expansion.residual_gradient(at, &mut Default::default(), &mut gradient).unwrap();
                let rise = expansion.log_density(&to) - value;
                (rise + total, gradient, certificate)
            };
            let (found, wanted) = (all(&other), all(&one));
            assert!(
                (found.0 - wanted.0).abs() < 3e-5 * (1.0 + wanted.0.abs()),
                "{}: {} {}",
                what("move"),
                found.0,
                wanted.0
            );
            let scaled =
                |gradient: &[f64]| -> Vec<f64> { gradient.iter().zip(&sds).map(|(g, sd)| g * sd).collect() };
            close(&scaled(&found.1), &scaled(&wanted.1), 2e-3, &what("gradient"));
            match (found.2, wanted.2) {
                (Some(found), Some(wanted)) => {
                    // Both bound the same sums; rows that tie enter the stratum in another order.
                    assert!((found / wanted - 1.0).abs() < 0.05, "{}: {found} {wanted}", what("limit"));
                }
                (found, wanted) => assert_eq!(found, wanted, "{}", what("limit")),
            }
            let mut memory = Default::default();
            for parameter in other.certain_parameters() {
                other.begin_certain(&from, &mut memory);
                let mut moved = from.clone();
                moved[parameter] += 0.7;
                let change = other.certain_change(&memory, &from, parameter, 0.7);
                let direct = other.log_density(&moved) - other.log_density(&from);
                assert!((change - direct).abs() < 1e-4, "{} {parameter}: {change} {direct}", what("step"));
                other.take_certain(&mut memory, &moved, parameter, 0.7);
                let back = other.certain_change(&memory, &moved, parameter, -0.7);
                assert!((change + back).abs() < 1e-4, "{} {parameter}: {change} {back}", what("step back"));
            }
        }
    }
}

/// Surrogate, residuals, their gradients, limits, the stratum and single steps of levels that it holds, of every family.
#[test]
fn expansions_are_those_of_columns() {
    for &family in AnyFamily::ALL {
        family.visit(Expansions);
    }
}

/// Certificates of residuals: the same bounds, which hold.
#[test]
fn certificates_are_those_of_columns() {
    for factors in [TWO, MIXED[0]] {
        same_certificates(factors);
    }
}

fn same_certificates(factors: Factors) {
    let bounds = models(Logistic, 4000, factors).map(|model| {
        let settings = CertificateSettings { threads: 1, ..CertificateSettings::default() };
        let expansion = expanded(&model, 2, Some(0)).with_certificate(&settings).unwrap();
        let d = model.parameters();
        let mut rng = stream(4, 0, Role::Proposal);
        let sds = expansion.covariance().iter().step_by(d + 1).map(|v| v.sqrt());
        let to: Vec<f64> = expansion
            .centre()
            .iter()
            .zip(sds)
            .map(|(c, sd)| c + 0.3 * sd * rng.sample::<f64, _>(StandardNormal))
            .collect();
        let mut scratch = expansion.scratch();
        let mut residuals = expansion.residuals(expansion.centre(), &to, &mut scratch);
        let total = residuals.total().unwrap().sum();
        [0, 1].map(|stage| {
            let found = residuals.certify(stage, 1.0).unwrap().unwrap();
            assert!((total - found.estimate).abs() <= found.bound, "{total} {found:?}");
            found.bound
        })
    });
    for (found, wanted) in bounds[1].iter().zip(bounds[0]) {
        assert!((found / wanted - 1.0).abs() < 0.05, "{bounds:?}");
    }
}

/// A sample knows every level: all rows of one with three, and rows with their weights stand for all rows of each.
#[test]
fn samples_know_every_level() {
    let [_, levels] = models(Logistic, 6000, TWO);
    let counted = |model: &Glm<Logistic>| {
        let (blocks, layout) = (model.blocks(), model.blocks().layout());
        let (mut rows, mut weights) = (vec![0; layout.table()], vec![0.0; layout.table()]);
        for position in 0..blocks.rows() {
            let weight = f64::from(blocks.value(position, layout.weight.unwrap()));
            for place in levels::of_row(layout, blocks.block(position / BLOCK), position % BLOCK) {
                rows[place] += 1;
                weights[place] += weight;
            }
        }
        (rows, weights)
    };
    let (rows, weights) = counted(&levels);
    for size in [256, 1500] {
        let few = sampled(&levels, size).unwrap();
        assert!(few.len() < 6000 / 2, "{}", few.len());
        let (found, total) = counted(&few);
        assert_eq!(found[1], 3);
        for place in 1..rows.len() {
            assert!(found[place] >= 3, "{place}: {} of {}", found[place], rows[place]);
            // Ten standard errors of a sample with weights 1 to 3.
            let off = (total[place] / weights[place] - 1.0).abs();
            assert!(off < 10.0 / f64::from(found[place]).sqrt(), "{place}: {off} of {}", found[place]);
        }
    }
}

/// The statistics of a linear model, by level, give the posterior of columns; rows read one by one agree with them.
#[test]
fn a_linear_model_is_that_of_columns() {
    for factors in [TWO, MIXED[0]] {
        same_linear(factors);
    }
}

fn same_linear(factors: Factors) {
    let given = given(ResponseKind::Real, 900, factors);
    let [columns, levels] = [false, true].map(|as_factors| {
        let store = store(&given, ResponseKind::Real, as_factors);
        let priors = vec![Prior::normal(3.0); store.coefficients()];
        Linear::from_store(&store, priors, Noise::default()).unwrap()
    });
    let d = columns.dimension();
    let mut rng = stream(2, 0, Role::Proposal);
    let [from, to] = [(); 2]
        .map(|()| -> Vec<f64> { (0..d).map(|_| 0.2 * rng.sample::<f64, _>(StandardNormal)).collect() });
    let total = |model: &Linear| {
        let mut scratch = model.scratch(Access::Scan);
        model.compare(&from, &to, &mut scratch).total().unwrap().sum()
    };
    let (found, wanted) = (total(&levels), total(&columns));
    assert!((found - wanted).abs() < 1e-6 * wanted.abs(), "{found} {wanted}");
    let by_rows = total(&levels.clone().by_rows().unwrap());
    assert!((found - by_rows).abs() < 1e-9 * found.abs(), "{found} {by_rows}");
    let gradient = |model: &Linear| {
        let mut gradient = vec![0.0; d];
        model.log_density_gradient(&from, &mut gradient).unwrap();
        gradient
    };
    close(&gradient(&levels), &gradient(&columns), 1e-6, "gradient");
}
