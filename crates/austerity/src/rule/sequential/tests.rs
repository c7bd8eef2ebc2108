//! Laws of the sequential rule: its limits, its use of data, its guard, its refusals.

use super::*;
use crate::population::{BlockOrder, BlockReveal, Numbers};
use crate::rng::{Role, seek, stream};
use crate::rule::bound::{Base, Shape, Time};
use crate::rule::{RuleSettings, ThresholdRule};
use proptest::prelude::*;

fn decide(
    rule: &mut ThresholdRule,
    values: &[f64],
    block_rows: usize,
    offset: f64,
    seed: u64,
    step: u64,
) -> Decision {
    let mut population = Numbers(values.to_vec());
    let mut order = BlockOrder::new(values.len(), block_rows, seed, 0).unwrap();
    let mut rng = stream(seed, 0, Role::Decision);
    seek(&mut rng, step);
    let mut cursor = BlockReveal::new(&mut population, &mut order, step);
    rule.decide(&mut cursor, offset, &mut rng).unwrap()
}

fn settings() -> impl Strategy<Value = SequentialSettings> {
    let looks = prop_oneof![
        (1usize..60, prop::sample::select(vec![1.0, 1.5, 2.0, 7.0]))
            .prop_map(|(first, growth)| Looks::Growing { first, growth }),
        prop::collection::btree_set(1usize..150, 1..5)
            .prop_map(|set| Looks::Custom { rows: set.into_iter().collect() }),
    ];
    let shape = prop_oneof![
        Just(Shape::Pocock),
        Just(Shape::ObrienFleming),
        (0.0..1.2).prop_map(|alpha| Shape::WangTsiatis { alpha })
    ];
    let law = prop_oneof![
        Just(Law::Metropolis),
        Just(Law::Logistic),
        (0.5..3.0).prop_map(|lambda| Law::Compensated { lambda })
    ];
    let time = prop_oneof![Just(Time::Share), Just(Time::Information)];
    let statistic = prop_oneof![Just(Statistic::Student), Just(Statistic::Normal)];
    let guard = prop_oneof![Just(None), Just(Some(Guard::default()))];
    let stop_at = prop_oneof![3 => Just(None), 1 => (0.0..5.0f64).prop_map(Some)];
    (looks, shape, law, time, statistic, guard, 0.0..0.5f64, stop_at, 1usize..40).prop_map(
        |(looks, shape, law, time, statistic, guard, epsilon, stop_at, block_rows)| SequentialSettings {
            looks,
            bound: Bound { base: Base::Epsilon(epsilon), shape, time },
            statistic,
            law,
            missed: None,
            stop_at,
            guard,
            block_rows,
        },
    )
}

/// Numbers with ties, zeros, equal runs and heavy tails, so that zero variance and exact ties occur.
fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![Just(0.0), Just(-0.25), Just(0.5), -1.0..1.0f64, -50.0..50.0f64];
    prop_oneof![
        prop::collection::vec(value, 1..130),
        (1usize..130, -1.0..1.0f64).prop_map(|(n, v)| vec![v; n]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn limits_are_the_exact_rule(given in settings(), values in numbers(), offset in -3.0..3.0f64, seed in any::<u64>()) {
        let n = values.len();
        let mut exact = RuleSettings::Exact { law: given.law }.build_threshold(n).unwrap();
        let truth = decide(&mut exact, &values, given.block_rows, offset, seed, 3);
        // ε = 0, and a first look at N: the same decision to the last bit.
        let none = SequentialSettings { bound: Bound { base: Base::Epsilon(0.0), ..given.bound }, stop_at: None, ..given.clone() };
        let whole = SequentialSettings { looks: Looks::constant(n), ..given.clone() };
        for limit in [none, whole] {
            let mut rule = RuleSettings::Sequential(limit).build_threshold(n).unwrap();
            prop_assert_eq!(decide(&mut rule, &values, given.block_rows, offset, seed, 3), truth);
        }
        // ε = 0 reached by looking at everything in random order (τ keeps the looks in the table).
        let stubborn = SequentialSettings {
            bound: Bound { base: Base::Epsilon(0.0), ..given.bound }, stop_at: Some(1e-300), guard: Some(Guard::default()), ..given.clone()
        };
        let mut rule = RuleSettings::Sequential(stubborn).build_threshold(n).unwrap();
        let late = decide(&mut rule, &values, given.block_rows, offset, seed, 3);
        if late.stopped == Stopped::Exhausted {
            prop_assert_eq!(late.accepted, truth.accepted);
        }
    }

    #[test]
    fn uses_at_most_everything_and_is_exact_when_it_does(given in settings(), values in numbers(), offset in -3.0..3.0f64, seed in any::<u64>()) {
        let n = values.len();
        let mut rule = RuleSettings::Sequential(given.clone()).build_threshold(n).unwrap();
        let decision = decide(&mut rule, &values, given.block_rows, offset, seed, 0);
        prop_assert!(decision.used >= 1 && decision.used <= n as u64);
        prop_assert!(decision.evaluations >= 2 * decision.used || decision.stopped == Stopped::Exhausted);
        prop_assert!(decision.looks >= 1 && decision.threshold.is_finite() && decision.mean.is_finite());
        if decision.used == n as u64 {
            let mut exact = RuleSettings::Exact { law: given.law }.build_threshold(n).unwrap();
            let truth = decide(&mut exact, &values, given.block_rows, offset, seed, 0);
            prop_assert_eq!(decision.accepted, truth.accepted);
            // Storage order is irrelevant at exhaustion.
            let mut reversed = values.clone();
            reversed.reverse();
            let again = decide(&mut exact, &reversed, given.block_rows, offset, seed, 0);
            let near = (truth.mean - truth.threshold).abs() < 1e-9;
            prop_assert!(near || again.accepted == truth.accepted);
        }
    }

    #[test]
    fn acceptance_is_monotone_in_the_offset(given in settings(), values in numbers(), offset in -3.0..3.0f64, more in 0.0..5.0f64, seed in any::<u64>()) {
        let n = values.len();
        // At every look a larger offset moves the mean further above its threshold: it can only help.
        let mut rule = RuleSettings::Sequential(given.clone()).build_threshold(n).unwrap();
        let low = decide(&mut rule, &values, given.block_rows, offset, seed, 1);
        let high = decide(&mut rule, &values, given.block_rows, offset + more, seed, 1);
        prop_assert!(!low.accepted || high.accepted);
        let mut exact = RuleSettings::Exact { law: given.law }.build_threshold(n).unwrap();
        let low = decide(&mut exact, &values, given.block_rows, offset, seed, 1);
        let high = decide(&mut exact, &values, given.block_rows, offset + more, seed, 1);
        prop_assert!(!low.accepted || high.accepted);
    }

    #[test]
    fn a_half_decides_at_the_first_look(values in numbers(), first in 1usize..140, seed in any::<u64>()) {
        let n = values.len();
        let mut rule = RuleSettings::Sequential(SequentialSettings::paper(first, 0.5)).build_threshold(n).unwrap();
        let decision = decide(&mut rule, &values, 1, 0.0, seed, 0);
        prop_assert_eq!(decision.looks, 1);
        prop_assert_eq!(decision.used as usize, first.min(n));
    }
}

#[test]
fn zero_variance_decides_only_without_the_guard() {
    let values = vec![0.01; 5000];
    let paper = SequentialSettings::paper(500, 0.05);
    let mut rule = RuleSettings::Sequential(paper.clone()).build_threshold(5000).unwrap();
    assert_eq!(decide(&mut rule, &values, 1, 0.0, 1, 0).used, 500);
    let guarded = SequentialSettings { guard: Some(Guard::default()), ..paper };
    let mut rule = RuleSettings::Sequential(guarded).build_threshold(5000).unwrap();
    let decision = decide(&mut rule, &values, 1, 0.0, 1, 0);
    assert_eq!((decision.used, decision.stopped), (5000, Stopped::Exhausted));
    // 500 → held to 1000 → 2000 → 4000 → 5000: the guard doubles instead of asking at every look.
    assert_eq!(decision.guarded, 4);
}

#[test]
fn the_absolute_stop_ends_near_ties() {
    let values: Vec<f64> = (0..4000).map(|i| if i % 2 == 0 { 1e-6 } else { -1e-6 }).collect();
    let mut given = SequentialSettings::constant(512, 0.01);
    given.law = Law::Compensated { lambda: 1e12 }; // threshold ≈ 0: a tie
    let mut rule = RuleSettings::Sequential(given.clone()).build_threshold(4000).unwrap();
    assert_eq!(decide(&mut rule, &values, 32, 0.0, 2, 0).stopped, Stopped::Exhausted);
    given.stop_at = Some(0.03);
    let mut rule = RuleSettings::Sequential(given).build_threshold(4000).unwrap();
    let decision = decide(&mut rule, &values, 32, 0.0, 2, 0);
    assert_eq!((decision.stopped, decision.used), (Stopped::Tolerance, 512));
}

/// τ never decides on a single row or on equal rows: no spread seen is no evidence of none.
#[test]
fn the_absolute_stop_needs_a_spread() {
    let mut values = vec![0.25; 200];
    values[150..].fill(-10.0);
    for first in [1, 10] {
        let given = SequentialSettings { stop_at: Some(0.03), ..SequentialSettings::paper(first, 0.0) };
        let mut rule = RuleSettings::Sequential(given).build_threshold(200).unwrap();
        for step in 0..20 {
            assert_ne!(decide(&mut rule, &values, 1, 0.0, 4, step).stopped, Stopped::Tolerance);
        }
    }
}

#[test]
fn an_impossible_row_is_a_rejection_and_a_nan_an_error_with_its_row() {
    let mut values = vec![1.0; 300];
    values[77] = f64::NEG_INFINITY;
    for rule in [RuleSettings::default(), RuleSettings::Sequential(SequentialSettings::constant(64, 0.0))] {
        let mut rule = rule.build_threshold(300).unwrap();
        let decision = decide(&mut rule, &values, 32, 1e9, 1, 0);
        assert_eq!((decision.accepted, decision.stopped), (false, Stopped::Impossible));
    }
    for (bad, word) in [(f64::NAN, "row 77"), (f64::INFINITY, "row 77")] {
        values[77] = bad;
        let mut population = Numbers(values.clone());
        let mut order = BlockOrder::new(300, 32, 1, 0).unwrap();
        let mut rng = stream(1, 0, Role::Decision);
        let mut cursor = BlockReveal::new(&mut population, &mut order, 0);
        let error = RuleSettings::default()
            .build_threshold(300)
            .unwrap()
            .decide(&mut cursor, 0.0, &mut rng)
            .unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn bad_settings_are_refused_with_their_value() {
    let good = SequentialSettings::constant(500, 0.05);
    let refused = |change: &dyn Fn(&mut SequentialSettings), word: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let message = Sequential::new(&bad, 1000).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    refused(&|s| s.bound = Bound::pocock(0.6), "0.6");
    refused(&|s| s.looks = Looks::constant(0), "first look");
    refused(&|s| s.stop_at = Some(-1.0), "tau");
    refused(&|s| s.block_rows = 0, "block_rows");
    refused(&|s| s.law = Law::Compensated { lambda: 0.0 }, "lambda");
    refused(
        &|s| {
            s.guard = Some(Guard { largest_share: 0.0, ..Guard::default() });
        },
        "largest_share",
    );
}

/// The settings of a rule survive a round trip through text.
#[test]
fn settings_are_plain_data() {
    let given = RuleSettings::Sequential(SequentialSettings::constant(500, 0.05));
    let text = serde_json::to_string(&given).unwrap();
    assert_eq!(serde_json::from_str::<RuleSettings>(&text).unwrap(), given);
}

/// A sample that has not met the heavy rows must not claim to know the total: with what it may miss in its claimed error, no audited total is off by more than it claims; without, most are off
/// by many times that, and nothing in the sample tells.
#[test]
fn a_test_claims_what_it_may_miss() {
    // One number in a thousand is a thousand times as large as the others: 0.02 of the total log ratio.
    let (rows, heavy) = (20_000usize, 20.0);
    let value = |i: usize| if i % 1000 == 7 { 1e-3 } else { 2e-7 * (i as f64).sin() };
    let numbers: Vec<f64> = (0..rows).map(value).collect();
    let all = Moments::of(&numbers);
    let worst = |missed: Option<f64>| {
        let settings = SequentialSettings { missed, ..SequentialSettings::residuals() };
        let mut test = Sequential::new(&settings, rows).unwrap();
        let mut order = BlockOrder::new(rows, settings.block_rows, 5, 0).unwrap();
        (0..40u64)
            .map(|step| {
                let mut population = Numbers(numbers.clone());
                let mut reveal = BlockReveal::new(&mut population, &mut order, step);
                let decision = test.decide_at(&mut reveal, 0.0, -0.5).unwrap();
                crate::rule::Audit::of(&decision, &all, 0.0).deviation.abs()
            })
            .fold(0.0, f64::max)
    };
    let (honest, blind) = (worst(Some(heavy * 1e-3)), worst(None));
    assert!(honest < 2.5 && blind > 10.0, "{honest} {blind}");
    assert!(
        Sequential::new(
            &SequentialSettings { missed: Some(f64::NAN), ..SequentialSettings::residuals() },
            rows
        )
        .is_err()
    );
}
