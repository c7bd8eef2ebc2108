//! What must hold for every test, and what must be refused.

use proptest::prelude::*;

use super::*;
use crate::rule::bound::{Base, Shape, Time};
use crate::rule::{Law, Look};
use crate::theory::{kappa, paper_grid};

/// Any table of looks: sizes, growth, shapes and clocks.
fn plans() -> impl Strategy<Value = (usize, usize, f64, TestPlan)> {
    let looks = prop_oneof![
        (1usize..200, prop::sample::select(vec![1.0, 1.3, 2.0, 5.0]))
            .prop_map(|(first, growth)| Looks::Growing { first, growth }),
        prop::collection::btree_set(2usize..900, 1..7)
            .prop_map(|set| Looks::Custom { rows: set.into_iter().collect() }),
    ];
    let shape = prop_oneof![
        Just(Shape::Pocock),
        Just(Shape::ObrienFleming),
        (0.3..1.1).prop_map(|alpha| Shape::WangTsiatis { alpha })
    ];
    let time = prop_oneof![Just(Time::Share), Just(Time::Information)];
    (looks, shape, time, 1e-4..0.49f64, 2usize..1500).prop_map(|(looks, shape, time, epsilon, rows)| {
        let bound = Bound { base: Base::Epsilon(epsilon), shape, time };
        let schedule = looks.schedule(rows, 1).unwrap();
        (rows, schedule[0], epsilon, general(rows, looks, bound))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn of_the_walk((rows, first, _, plan) in plans(), drifts in prop::collection::vec(0.0..30.0f64, 6)) {
        let walk = TestWalk::new(plan.clone(), Accuracy::Exact);
        let worst = walk.worst_case();
        let level: f64 = plan.stages().iter().map(|stage| crate::rule::bound::normal_tail(stage.critical)).sum();
        prop_assert!(worst.error <= level + 1e-9, "union bound: {} above {level}", worst.error);
        let mut drifts = drifts;
        drifts.sort_by(f64::total_cmp);
        let mut before = worst;
        for drift in drifts {
            let now = walk.outcome(drift);
            prop_assert_eq!(now, walk.outcome(-drift));
            prop_assert!(now.error <= before.error + 1e-9 && now.error >= 0.0, "{now:?} after {before:?}");
            prop_assert!(now.data_usage <= before.data_usage + 1e-8);
            prop_assert!(now.data_usage >= first as f64 / rows as f64 - 1e-12 && now.data_usage <= 1.0);
            let stops = walk.stopping(drift);
            let total: f64 = stops.iter().map(|stop| stop.wrong + stop.right).sum();
            let wrong: f64 = stops.iter().map(|stop| stop.wrong).sum();
            prop_assert!((total - 1.0).abs() < 1e-8 && (wrong - now.error).abs() < 1e-12, "{total}");
            before = now;
        }
        prop_assert!(walk.error_estimate() < 1e-6, "{}", walk.error_estimate());
    }

    #[test]
    fn of_a_step((_, _, _, plan) in plans(), ratio in -8.0..8.0f64, spread in 0.001..20.0f64) {
        let walk = TestWalk::new(plan, Accuracy::Exact);
        let table = ErrorTable::new(&walk, Accuracy::Fast);
        for law in [Law::Metropolis, Law::Logistic] {
            let step = table.step(law, ratio, spread).unwrap();
            prop_assert!(step.delta.abs() <= step.mean_error + 1e-9);
            prop_assert!(step.mean_error <= table.worst_error() + 1e-5);
            prop_assert!((0.0..=1.0).contains(&(step.acceptance + step.delta)));
            prop_assert!(step.data_usage >= table.first_share() - 1e-12 && step.data_usage <= 1.0);
            if law == Law::Metropolis && ratio >= 0.0 {
                prop_assert!(step.delta <= 0.0, "certain acceptance can only be lost");
            }
            if law == Law::Logistic {
                let mirrored = table.step(law, -ratio, spread).unwrap();
                prop_assert!((mirrored.delta + step.delta).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn union_bound_of_the_paper() {
    for (rows, step, epsilon) in [(1000, 100, 0.05), (1000, 10, 0.01), (12_214, 500, 0.001)] {
        let walk = walk(rows, step, epsilon);
        assert!(walk.worst_case().error <= (walk.plan().looks() - 1) as f64 * epsilon);
    }
}

/// The walk with all looks, that with merged looks, and the largest difference of their outcomes over drifts.
fn merged(plan: TestPlan) -> (TestWalk, TestWalk, f64) {
    let exact = TestWalk::new(plan.clone(), Accuracy::Exact);
    let fast = TestWalk::new(plan, Accuracy::Fast);
    let difference = |i: i32| {
        let drift = 0.01 * (f64::from(i) * 0.6).sinh();
        let (a, b) = (exact.outcome(drift), fast.outcome(drift));
        (a.error - b.error).abs().max((a.data_usage - b.data_usage).abs())
    };
    let worst = (0..16).map(difference).fold(0.0, f64::max);
    (exact, fast, worst)
}

/// 3,250 looks merged to some 480: error against all looks, over drifts, levels and shapes.
#[test]
fn merged_looks() {
    for (epsilon, shape) in [
        (0.01, Shape::Pocock),
        (0.1, Shape::Pocock),
        (0.05, Shape::WangTsiatis { alpha: 0.75 }),
        (0.05, Shape::ObrienFleming),
    ] {
        let bound = Bound { base: Base::Epsilon(epsilon), shape, time: Time::Share };
        let plan = general(1_950_000, Looks::constant(600), bound);
        assert_eq!(plan.looks(), 3250);
        let (exact, fast, worst) = merged(plan);
        println!("ε {epsilon} {shape:?}: {worst:.1e}, estimated {:.1e}", fast.error_estimate());
        assert!(worst < 1e-4, "{worst}");
        assert!(worst < fast.error_estimate());
        assert!(exact.error_estimate() < 1e-6, "{}", exact.error_estimate());
    }
    // Few looks are not merged at all.
    let (exact, fast) = (walk(12_214, 500, 0.05), TestWalk::new(plan(12_214, 500, 0.05), Accuracy::Fast));
    close(exact.worst_case().error, fast.worst_case().error, 1e-7);
}

#[test]
fn the_absolute_stop_is_a_bound_of_zero() {
    let plan = plan(10_000, 100, 0.01);
    let stopped = plan.with_absolute_stop(0.3, 1.0).unwrap(); // from t = 0.09 on: 826 rows
    assert_eq!(stopped.stages().len(), 9);
    assert_eq!(stopped.stages()[8].critical, 0.0);
    assert!(TestWalk::new(stopped, Accuracy::Exact).worst_case().data_usage < 0.09 + 1e-12);
    assert_eq!(plan.with_absolute_stop(0.3, 0.0).unwrap(), plan);
    assert!(plan.with_absolute_stop(-1.0, 0.1).is_err());
    assert!(plan.with_absolute_stop(1.0, f64::NAN).is_err());
}

#[test]
fn limits_are_values_not_nan() {
    let test = table(1000, 100, 0.05);
    for drift in [f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        assert_eq!(test.outcome(drift).error, 0.0);
        close(test.outcome(drift).data_usage, 0.1, 1e-12);
        close(walk(1000, 100, 0.05).outcome(drift).data_usage, 0.1, 1e-12);
    }
    assert_eq!(test.outcome(f64::NAN), test.outcome(0.0));
    // σ_l = 0: the decision is certain.
    let certain = test.step(Law::Metropolis, -1.0, 0.0).unwrap();
    assert_eq!((certain.delta, certain.mean_error), (0.0, 0.0));
    close(certain.data_usage, 0.1, 1e-12);
    for ratio in [f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(test.step(Law::Metropolis, ratio, 1.0).unwrap().delta, 0.0);
    }
    for spread in [1e-300, 1e-6, 1e6, 1e9] {
        let step = test.step(Law::Metropolis, -1.0, spread).unwrap();
        assert!(step.delta.is_finite() && step.data_usage.is_finite() && step.mean_error.is_finite());
        if spread > 1.0 {
            close(step.mean_error, test.worst_error(), 1e-4); // every threshold is at the mean
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let look = |rows, critical| Look { rows, critical };
    assert!(TestPlan::new(&[look(1, 1.0)], 1).is_err());
    assert!(TestPlan::new(&[look(5, 1.0), look(5, 1.0)], 10).is_err());
    assert!(TestPlan::new(&[look(0, 1.0)], 10).is_err());
    assert!(TestPlan::new(&[look(5, f64::NAN)], 10).is_err());
    assert!(TestPlan::new(&[look(5, -1.0)], 10).is_err());
    assert_eq!(TestPlan::new(&[look(5, 1.0), look(20, 1.0)], 10).unwrap().looks(), 2);
    assert!(TestPlan::from_information(&[1.0, 1.0], &[1.0, 1.0]).is_err());
    assert!(TestPlan::from_information(&[1.0, f64::INFINITY], &[1.0, 1.0]).is_err());
    assert!(TestPlan::from_information(&[1.0], &[]).is_err());
    assert!(TestPlan::of_settings(&settings(10, 0.6), 100).is_err());
    assert!(kappa(-1.0, 10).is_err() && kappa(1.0, 1).is_err() && kappa(f64::NAN, 10).is_err());
    let test = table(100, 10, 0.1);
    assert!(test.step(Law::Metropolis, f64::NAN, 1.0).is_err());
    assert!(test.step(Law::Metropolis, 0.0, -1.0).is_err());
    for kappa in [1e10, 1e300, f64::INFINITY, f64::NAN] {
        assert!(test.step(Law::Metropolis, 0.0, kappa).is_err());
    }
    assert!(paper_grid(&plan(100, 10, 0.1), 0.0, 0).is_err());
    assert!(paper_grid(&plan(100, 10, 0.1), f64::NAN, 10).is_err());
}
/// A thousand looks, all shapes and both clocks.
#[test]
fn merged_looks_of_all_shapes() {
    let mut largest = 0.0f64;
    for shape in [Shape::Pocock, Shape::ObrienFleming, Shape::WangTsiatis { alpha: 0.4 }] {
        for time in [Time::Share, Time::Information] {
            for epsilon in [0.001, 0.05, 0.2] {
                let bound = Bound { base: Base::Epsilon(epsilon), shape, time };
                let plan = general(100_000, Looks::constant(100), bound);
                let (_, fast, worst) = merged(plan);
                assert!(worst < fast.error_estimate(), "{shape:?} {time:?} {epsilon}: {worst}");
                largest = largest.max(worst);
            }
        }
    }
    println!("largest error of merged looks: {largest:.1e}");
    assert!(largest < 8e-5, "{largest}");
}
