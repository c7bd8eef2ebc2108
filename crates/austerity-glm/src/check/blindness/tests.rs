//! Formulas on numbers small enough for paper, limits, and what is never lost: monotonicity and scale.

use super::*;

fn falling(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

fn of(falling: &[f64], settings: &ResidualTest) -> Result<SurrogateBlindness> {
    let scores: Vec<f32> = falling.iter().map(|&score| score.min(1e18) as f32).collect();
    surrogate(&Falling::new(&scores, settings.largest_stratum, settings.first), settings)
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-7 * (1.0 + expected.abs()), "{found} against {expected}");
}

/// One heavy row of 100: at n = 50 two rows are missed, at n = 10 ten.
#[test]
fn formulas_by_hand() {
    let mut values = vec![0.01; 100];
    values[37] = 2.0;
    let scores = falling(values);
    let settings = ResidualTest { first: 50, tolerance: 0.03, ..ResidualTest::default() };
    let found = of(&scores, &settings).unwrap();
    let root = 30f64.sqrt();
    let all: f64 = 4.0 + 99.0 * 1e-4;
    close(found.without.standard_error, root * (100.0 * all / 50.0 * 0.5).sqrt());
    // At 50 rows 2 are missed: 2.01, and √30·√(100·98e-4/50·½) = √30·0.09899 is believed.
    close(found.without.blindness.missed, root * 2.01);
    close(found.without.blindness.believed, root * (98e-4f64).sqrt());
    assert!(found.without.blindness.is_blind() && found.without.blindness.look == 50);
    // The one row apart is enough.
    let chosen = found.chosen.unwrap();
    assert!(chosen.rows >= 1 && !chosen.blindness.is_blind(), "{chosen:?}");
    assert!(found.verdict().contains("is blind"), "{}", found.verdict());
    // Raw: d = 1, so that v = 2.38·spread.
    let found = raw(&scores, 1, 10).unwrap();
    close(found.kappa, 2.38 * all.sqrt());
    close(found.missed_share, 1.0 - 90.0 * 1e-4 / all);
    assert_eq!(found.sound_from, None);
    assert!(!found.sound() && found.blindness.is_blind() && found.verdict().contains("blind"));
}

#[test]
fn equal_rows_are_never_missed() {
    let scores = vec![1e-3; 10_000];
    let found = of(&scores, &ResidualTest::default()).unwrap();
    // blind/se = 1/√64 at the first look, and less than 1 at every other.
    assert!(found.without.blindness.ratio() < 0.3, "{found:?}");
    assert_eq!(found.chosen.map(|s| s.rows), Some(0));
    let found = raw(&scores, 10, 500).unwrap();
    assert!(found.sound() && found.blindness.ratio() < 0.1 && found.missed_share < 0.003);
    assert!(found.verdict().contains("see enough"));
}

/// The sampled rows never exceed those there are, whatever the scores; sums of the rest lose no digits to the heaviest.
#[test]
fn limits() {
    let settings = ResidualTest::default();
    let mut huge = vec![1e-5; 5000];
    huge[..3].fill(1e120);
    let found = of(&huge, &settings).unwrap();
    close(found.without.rows_to_tolerance, 5000.0);
    assert!(found.without.standard_error.is_finite() && found.without.blindness.is_blind());
    let chosen = found.chosen.unwrap();
    assert_eq!(chosen.rows, 3);
    close(chosen.standard_error, (30.0f64 * 4997.0 * 4997e-10 / 64.0 * (1.0 - 64.0 / 4997.0)).sqrt());
    // A limit too low to hold them: no stratum.
    let few = ResidualTest { largest_stratum: 2, ..settings };
    let found = of(&huge, &few).unwrap();
    assert!(found.chosen.is_none() && found.verdict().contains("exact rule"));
    // No third order at all, one row, fewer rows than the first look.
    for scores in [vec![0.0; 300], vec![3.0], vec![1.0; 50]] {
        let found = of(&scores, &settings).unwrap();
        assert!(!found.without.blindness.is_blind() && found.chosen.is_some(), "{found:?}");
        let found = raw(&scores, 3, 500).unwrap();
        assert!(found.sound() && found.kappa.is_finite(), "{found:?}");
    }
    for tolerance in [0.0, -1.0, f64::NAN] {
        assert!(of(&[1.0], &ResidualTest { tolerance, ..settings }).is_err());
    }
    assert!(of(&[1.0], &ResidualTest { evaluations: f64::NAN, ..settings }).is_err());
    assert!(of(&[1.0], &ResidualTest { first: 0, ..settings }).is_err());
    assert!(of(&[1.0], &ResidualTest { moves: 0.0, ..settings }).is_err());
    assert!(raw(&[1.0], 1, 0).is_err());
}

/// The bound of Cauchy & Schwarz on what raw batches miss, and larger first looks are never worse.
#[test]
fn missed_share_bounds_the_ratio() {
    let spreads: Vec<f64> = (1..=20_000).map(|i| f64::from(i).powf(-0.3)).collect();
    let mut before = 1.0;
    for first in [64, 200, 1000, 5000] {
        let found = raw(&spreads, 5, first).unwrap();
        assert!(found.missed_share <= before);
        before = found.missed_share;
        let h = found.missed_share;
        let worst = (h / (1.0 - h) / (1.0 - first as f64 / 20_000.0)).sqrt();
        let at_first = tails_ratio(&spreads, first);
        assert!(at_first <= worst * (1.0 + 1e-9), "{first}: {at_first} against {worst}");
        let sound = found.sound_from.unwrap();
        assert!(raw(&spreads, 5, sound).unwrap().missed_share <= SHARE_LIMIT);
    }
}

fn tails_ratio(spreads: &[f64], first: usize) -> f64 {
    Tails::new(spreads, spreads.len()).worst(&[first], spreads.len(), 0, 1.0, 0.0).ratio()
}

/// Short steps leave less to sample and to keep apart.
#[test]
fn walks_need_smaller_strata() {
    let scores: Vec<f32> = (0..20_000u32).map(|i| 2e-3 / (1.0 + i as f32 / 50.0)).collect();
    let found = |settings: &ResidualTest| {
        let falling = Falling::new(&scores, settings.largest_stratum, settings.first);
        surrogate(&falling, settings).unwrap().chosen.unwrap()
    };
    let usual = ResidualTest::default();
    let (draws, short) = (found(&usual), found(&usual.for_walk(0.01)));
    assert!(short.rows < draws.rows, "{short:?} {draws:?}");
    let at =
        |settings: &ResidualTest| Falling::new(&scores, 100, settings.first).stratum(10, settings).unwrap();
    let ratio = at(&usual.for_walk(0.01)).standard_error / at(&usual).standard_error;
    let moves = 0.0125 + 3.1875e-4 + 2.1875e-6 + 5.46875e-9;
    assert!((ratio - f64::sqrt(moves)).abs() < 1e-12, "{ratio}");
    assert!(at(&usual.for_walk(1.0)).standard_error > at(&usual).standard_error);
    assert!(at(&usual.for_walk(0.3)).rows_to_tolerance < at(&usual).rows_to_tolerance);
    assert!(usual.for_walk(0.0).moves > 0.0);
}
