//! Limits are limits, of both orders and every family that has them, with rows apart and without; nearly attained where rows move together.

use super::*;
use crate::glm::expansion::spread::factor;
use crate::glm::expansion::tests::data;
use crate::glm::expansion::{ExpansionSettings, GlmExpansion};
use crate::glm::{AnyFamily, Logistic, Poisson, Student, Visitor};
use crate::surrogate::Expansion as _;
use crate::{CheckedData, Data, Prior, ResponseKind, generate};
use austerity::population::Population as _;
use austerity::rng::{Role, Streams, stream};
use austerity::rule::{DecideAt as _, Exact, Law, Rule as _, Sequential, SequentialSettings, Stopped};
use rand::RngExt as _;
use rand_distr::StandardNormal;

fn expanded<F: Family>(
    family: F,
    data: &CheckedData,
    order: u8,
    stratum_rows: Option<usize>,
) -> GlmExpansion<F> {
    let priors = vec![Prior::normal(3.0); data.coefficients() + family.extra().len()];
    let model = Glm::new(family, data, priors).unwrap();
    let settings = ExpansionSettings { order, stratum_rows, ..ExpansionSettings::default() };
    GlmExpansion::new(&model, &vec![0.0; model.parameters()], &settings).unwrap()
}

/// States at random distances from the centre, up to `most`.
fn states<F: Family>(expansion: &GlmExpansion<F>, most: f64, count: usize) -> Vec<Vec<f64>> {
    let d = expansion.dimension();
    let lower = factor(&DMatrix::from_row_slice(d, d, expansion.covariance())).unwrap();
    let mut rng = stream(5, 0, Role::Proposal);
    let one = |k: usize| {
        let u = nalgebra::DVector::from_fn(d, |_, _| rng.sample::<f64, _>(StandardNormal));
        let rho = most * if k.is_multiple_of(3) { 0.9999 } else { rng.random::<f64>() };
        let moved = &lower * (&u * (rho / u.norm()));
        expansion.centre().iter().zip(moved.iter()).map(|(centre, moved)| centre + moved).collect()
    };
    (0..count).map(one).collect()
}

fn certificate<F: Family>(expansion: &GlmExpansion<F>, from: &[f64], to: &[f64]) -> (f64, f64) {
    let mut scratch = expansion.scratch();
    let mut residuals = expansion.residuals(from, to, &mut scratch);
    let found = residuals.certify(0, f64::INFINITY).unwrap().unwrap();
    assert!(residuals.certify(1, f64::INFINITY).unwrap().is_none());
    assert_eq!((found.estimate, found.rows), (0.0, 0));
    (residuals.total().unwrap().sum(), found.bound)
}

/// Largest share of its limit that a total has, of moves from the centre and between states.
fn tightness<F: Family>(expansion: &GlmExpansion<F>) -> f64 {
    let reach = expansion.limit.as_ref().unwrap().reach;
    let states = states(expansion, reach, 40);
    let alone = states.iter().map(|state| certificate(expansion, expansion.centre(), state));
    let pairs = states.windows(2).map(|pair| certificate(expansion, &pair[0], &pair[1]));
    alone.chain(pairs).map(|(total, bound)| total.abs() / bound).fold(0.0, f64::max)
}

fn holds<F: Family>(family: &F, kind: ResponseKind, part: usize) {
    for (rows, sides, stratum) in [(30_000, true, Some(0)), (20_000, false, Some(200)), (40_000, false, None)]
    {
        let rows = rows / part;
        let data = data(kind, rows, sides);
        for order in [2, 3] {
            let expansion = expanded(*family, &data, order, stratum);
            let limit = expansion.limit.as_ref();
            assert_eq!(expansion.report().limit, limit.map(|limit| limit.typical));
            if limit.is_none() {
                // Heavy rows that are not apart, or an extra parameter that the data hardly tell: nothing could be settled, and nothing is asked.
                assert!(
                    stratum == Some(0) || !family.extra().is_empty(),
                    "{} {rows} order {order}",
                    family.name()
                );
                continue;
            }
            let share = tightness(&expansion);
            assert!(share < 1.0, "{} {rows} {stratum:?} order {order}: {share}", family.name());
        }
    }
}

/// Checks the limits of every family whose number of extra parameters is wanted, on a part of the rows.
fn limits_hold(wanted: impl Fn(usize) -> bool, part: usize) {
    struct All(usize);
    impl Visitor for All {
        type Output = ();
        fn visit<F: Family>(self, family: F) {
            holds(&family, family.kind(), self.0);
        }
    }
    let checked = AnyFamily::ALL.iter().filter(|family| wanted(family.facts().extra.len()));
    checked.for_each(|family| family.visit(All(part)));
}

#[test]
fn limits_hold_for_every_family_with_at_most_one_extra_parameter() {
    limits_hold(|extra| extra < 2, 4);
}

#[test]
#[ignore = "second tier: intervals of many rows are slow"]
fn limits_hold_on_more_rows() {
    limits_hold(|extra| extra < 2, 1);
}

#[test]
#[ignore = "second tier: intervals in three variables are slow"]
fn limits_hold_for_families_with_more_extra_parameters() {
    limits_hold(|extra| extra >= 2, 1);
}

/// On data of its own, every family with at most one extra parameter has a limit at 60,000 rows, and it holds.
#[test]
fn every_family_has_a_limit_on_its_own_data() {
    struct All(AnyFamily);
    impl Visitor for All {
        type Output = ();
        fn visit<F: Family>(self, family: F) {
            let made = generate::of(self.0, 60_000, 4).build().unwrap();
            let expansion = expanded(family, &made.data.check(family.kind()).unwrap(), 2, None);
            assert!(expansion.limit.is_some(), "{}", family.name());
            let share = tightness(&expansion);
            assert!(share < 1.0, "{}: {share}", family.name());
        }
    }
    let fits = |family: &&AnyFamily| {
        let facts = family.facts();
        facts.kind != ResponseKind::CountOfTrials && facts.extra.len() < 2
    };
    AnyFamily::ALL.iter().filter(fits).for_each(|family| family.visit(All(*family)));
}

/// Student rows that only their scale moves, all alike: the intercept is held by its prior, and every residual is ±σ̂. Power: the constants cannot be halved.
#[test]
fn limits_of_an_extra_parameter_are_attained_and_half_of_them_are_none() {
    let y = (0..400_000).map(|i| if i % 2 == 0 { 0.8 } else { -0.8 }).collect();
    let data = Data::new(Vec::<String>::new(), vec![], y).check(ResponseKind::Real).unwrap();
    let priors = vec![Prior::normal(1e-7), Prior::normal(3.0)];
    let model = Glm::new(Student { freedom: 4.0 }, &data, priors).unwrap();
    for order in [2, 3] {
        let settings = ExpansionSettings { order, stratum_rows: Some(0), ..ExpansionSettings::default() };
        let mut expansion = GlmExpansion::new(&model, &[0.0; 2], &settings).unwrap();
        let share = tightness(&expansion);
        assert!((0.6..1.0).contains(&share), "order {order}: {share}");
        let mut half = Limit::clone(expansion.limit.as_ref().unwrap());
        half.values.iter_mut().for_each(|value| *value *= 0.5);
        half.rounding *= 0.5;
        expansion.limit = Some(half.into());
        assert!(tightness(&expansion) > 1.0, "order {order}");
    }
}

/// Poisson rows with one coefficient and no intercept: all rows move as far as their leverage allows.
fn tight(order: u8) -> GlmExpansion<Poisson> {
    let mut rng = stream(3, 0, Role::Data);
    let x: Vec<f64> = (0..50_000).map(|_| 0.9 + 0.2 * rng.random::<f64>()).collect();
    let y = (0..50_000).map(|i| f64::from(i % 4)).collect();
    let data = Data::new(["x"], vec![x], y).intercept(false).check(ResponseKind::Count).unwrap();
    expanded(Poisson, &data, order, Some(0))
}

/// Power: the constants cannot be halved, nor lowered by a tenth.
#[test]
fn limits_are_attained_and_half_of_them_are_none() {
    for order in [2, 3] {
        let mut expansion = tight(order);
        let share = tightness(&expansion);
        assert!((0.9..1.0).contains(&share), "order {order}: {share}");
        let mut half = Limit::clone(expansion.limit.as_ref().unwrap());
        half.values.iter_mut().for_each(|value| *value *= 0.5);
        expansion.limit = Some(half.into());
        assert!(tightness(&expansion) > 1.0);
    }
}

#[test]
fn there_is_none_far_away_nor_where_it_would_settle_nothing() {
    let expansion = tight(2);
    let reach = expansion.limit.as_ref().unwrap().reach;
    for state in states(&expansion, 1.5 * reach, 6).iter().step_by(3) {
        assert_eq!(certificate(&expansion, expansion.centre(), state).1, f64::INFINITY);
    }
    let nowhere = vec![f64::NAN];
    let limit = expansion.limit.as_ref().unwrap();
    assert_eq!(limit.of(expansion.level(), &nowhere, &mut Vec::new()), f64::INFINITY);
    // Few rows, the first order.
    let mut rng = stream(2, 0, Role::Data);
    let columns = (0..12).map(|_| (0..400).map(|_| rng.sample(StandardNormal)).collect()).collect();
    let names: Vec<String> = (0..12).map(|j| format!("x{j}")).collect();
    let few = Data::new(names, columns, (0..400).map(|i| f64::from(i % 2)).collect());
    assert!(expanded(Logistic, &few.check(ResponseKind::Binary).unwrap(), 2, Some(0)).limit.is_none());
    assert!(expanded(Logistic, &data(ResponseKind::Binary, 40_000, false), 1, None).limit.is_none());
}

/// Rows apart do not count, whatever they would leave; and sums do not depend on the threads.
#[test]
fn rows_apart_are_taken_out_again() {
    let mut rng = stream(8, 0, Role::Data);
    let mut column = || -> Vec<f64> { (0..30_000).map(|_| rng.sample(StandardNormal)).collect() };
    let (a, mut b, noise) = (column(), column(), column());
    let y: Vec<f64> = noise.iter().zip(&a).map(|(n, a)| f64::from(u8::from(*n + 0.5 * a > 0.0))).collect();
    let of = |b: &[f64], stratum, threads| {
        let data = Data::new(["a", "b"], vec![a.clone(), b.to_vec()], y.clone());
        let data = data.check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(3.0); 3]).unwrap();
        let settings =
            ExpansionSettings { threads, stratum_rows: Some(stratum), ..ExpansionSettings::default() };
        GlmExpansion::new(&model, &[0.0; 3], &settings).unwrap()
    };
    let plain = of(&b, 0, 1);
    let values = |expansion: &GlmExpansion<Logistic>| expansion.limit.as_ref().unwrap().values.clone();
    assert_eq!(values(&plain), values(&of(&b, 0, 3)));
    // Ten rows of enormous leverage.
    b.iter_mut().take(10).for_each(|b| *b *= 60.0);
    let (typical, heavy) = (plain.report().limit.unwrap(), of(&b, 0, 1));
    let worse = heavy.report().limit.unwrap_or(f64::INFINITY);
    let apart = of(&b, 10, 1).report().limit.unwrap();
    assert!(worse > 1.5 * typical && apart < 1.2 * typical, "{typical} {worse} {apart}");
    assert!(tightness(&of(&b, 10, 1)) < 1.0);
}

/// What is settled is what all rows say, and the others are decided as they were.
#[test]
fn settled_decisions_are_exact() {
    let expansion = expanded(Logistic, &data(ResponseKind::Binary, 40_000, false), 2, None);
    let mut without = expansion.clone();
    without.limit = None;
    let states = states(&expansion, 4.0, 60);
    let rows = expansion.rows();
    let mut test = Sequential::new(&SequentialSettings::residuals(), rows).unwrap();
    let mut exact = Exact::new(Law::Metropolis).unwrap();
    let mut streams = Streams::new(4, 0);
    let mut settled = 0;
    for (step, pair) in states.windows(2).enumerate() {
        streams.begin(step as u64);
        let threshold = Law::Metropolis.draw(&mut streams.decision);
        let mut decide = |expansion: &GlmExpansion<Logistic>, all: bool| {
            let mut order = austerity::population::BlockOrder::new(rows, 32, 4, 0).unwrap();
            let mut scratch = expansion.scratch();
            let mut residuals = expansion.residuals(&pair[0], &pair[1], &mut scratch);
            let mut cursor = austerity::population::BlockReveal::new(&mut residuals, &mut order, step as u64);
            let offset = 0.3 * (step % 7) as f64 - 1.0;
            let decided = if all {
                exact.decide_at(&mut cursor, offset, threshold)
            } else {
                test.decide_at(&mut cursor, offset, threshold)
            };
            decided.unwrap()
        };
        let (with, before, all) =
            (decide(&expansion, false), decide(&without, false), decide(&expansion, true));
        if with.stopped == Stopped::Certified {
            settled += 1;
            assert_eq!((with.accepted, with.read), (all.accepted, 0));
        } else {
            assert_eq!(with, before);
        }
    }
    assert!(settled > 20, "{settled}");
    // A compensated threshold counts on the noise of the test: nothing is settled for it.
    let law = Law::Compensated { lambda: 1.1 };
    let settings = SequentialSettings { law, ..SequentialSettings::residuals() };
    let mut compensated = Sequential::new(&settings, rows).unwrap();
    let mut scratch = expansion.scratch();
    let mut residuals = expansion.residuals(&states[0], &states[1], &mut scratch);
    let mut order = austerity::population::BlockOrder::new(rows, 32, 4, 0).unwrap();
    let mut cursor = austerity::population::BlockReveal::new(&mut residuals, &mut order, 0);
    let decision = compensated.decide(&mut cursor, 50.0, &mut streams.decision).unwrap();
    assert_ne!(decision.stopped, Stopped::Certified);
}
