//! Tests of jumps: detailed balance of every move, the paper's numbers.

use super::*;
use austerity::rng::{Role, stream};

fn selection(features: impl IntoIterator<Item = u32>) -> Selection {
    Selection::new(features.into_iter().map(|j| (j, 0.5 + f64::from(j)))).unwrap()
}

/// Types, features and new coefficients of 40,000 candidates from every size of D = 4: frequencies within 4.5 binomial
/// standard deviations (41 of them), mean squares within 4.5 standard errors (7); fixed seed, false-alarm rate 4e-4.
#[test]
fn moves_are_drawn_as_promised() {
    const DRAWS: u32 = 40_000;
    let mut jump = Jump::new(4, 0.3, 2.0).unwrap();
    let mut rng = stream(8, 0, Role::Proposal);
    let mut to = selection([0]);
    let near = |count: f64, p: f64| {
        let n = f64::from(DRAWS);
        assert!((count - n * p).abs() <= 4.5 * (n * p * (1.0 - p)).sqrt(), "{count} of {n}, expected {p}");
    };
    for active in [vec![2], vec![0, 2], vec![1, 2, 3], vec![0, 1, 2, 3]] {
        let size = active.len();
        let from = selection(active.clone());
        let (mut counts, mut squares) = ([[0.0; 4]; 3], [0.0; 3]);
        for _ in 0..DRAWS {
            jump.propose(&from, &mut to, &mut rng).unwrap();
            let kind = JumpMove::between(&from, &to);
            assert_eq!(jump.last(), Some(kind));
            assert!(to.features().is_sorted_by(|a, b| a < b));
            let moved =
                |j: &u32| (from.includes(*j), from.coefficient(*j)) != (to.includes(*j), to.coefficient(*j));
            let moved: Vec<u32> = (0..4).filter(moved).collect();
            let [feature] = moved[..] else { panic!("{from:?} → {to:?}") };
            counts[kind as usize][feature as usize] += 1.0;
            squares[kind as usize] += (to.coefficient(feature) - from.coefficient(feature)).powi(2);
        }
        let types = 1.0 + f64::from(u8::from(size < 4)) + f64::from(u8::from(size > 1));
        for feature in 0..4u32 {
            let (inside, count) =
                (active.contains(&feature), |kind: JumpMove| counts[kind as usize][feature as usize]);
            let share = |possible: bool, among: usize| {
                if possible && among > 0 { 1.0 / types / among as f64 } else { 0.0 }
            };
            near(count(JumpMove::Update), share(inside, size));
            near(count(JumpMove::Birth), share(!inside, 4 - size));
            near(count(JumpMove::Death), share(inside && size > 1, size));
        }
        for (kind, sd) in [(JumpMove::Update, 0.3f64), (JumpMove::Birth, 2.0)] {
            let n: f64 = counts[kind as usize].iter().sum();
            let mean = squares[kind as usize] / n;
            assert!(n == 0.0 || (mean / (sd * sd) - 1.0).abs() < 4.5 * (2.0 / n).sqrt(), "{kind:?}: {mean}");
        }
    }
}

/// A death undoes a birth, from every size, at both ends too.
#[test]
fn the_way_back_has_the_opposite_ratio() {
    let mut rng = stream(9, 0, Role::Proposal);
    for index in [IndexChoice::Counted, IndexChoice::LeftOut] {
        let mut jump = Jump::new(5, 0.3, 2.0).unwrap().with_index(index);
        for size in 1..5 {
            let from = selection(0..size);
            let mut to = from.clone();
            while jump.last() != Some(JumpMove::Birth) || to.size() == from.size() {
                jump.propose(&from, &mut to, &mut rng).unwrap();
            }
            let forth = jump.log_birth(size as usize, to.coefficients()[to.size() - 1]);
            let (mut back, mut ratio) = (to.clone(), 0.0);
            while back != from {
                ratio = jump.propose(&to, &mut back, &mut rng).unwrap().log_ratio;
            }
            let born = (0..5).find(|j| to.includes(*j) && !from.includes(*j)).unwrap();
            assert_eq!(ratio, -jump.log_birth(size as usize, to.coefficient(born)));
            assert!(forth.is_finite());
        }
    }
}

#[test]
fn a_single_feature_is_only_updated() {
    let mut jump = Jump::new(1, 0.1, 0.1).unwrap();
    let mut rng = stream(10, 0, Role::Proposal);
    let (from, mut to) = (selection([0]), selection([0]));
    for _ in 0..50 {
        assert_eq!(jump.propose(&from, &mut to, &mut rng).unwrap(), 0.0.into());
        assert_eq!(jump.last(), Some(JumpMove::Update));
    }
}

#[test]
fn bad_settings_and_states_are_refused() {
    assert!(Jump::new(0, 0.1, 0.1).is_err());
    assert!(Jump::new(3, 0.0, 0.1).unwrap_err().to_string().contains("update_sd"));
    assert!(Jump::new(3, 0.1, f64::NAN).unwrap_err().to_string().contains("birth_sd"));
    let mut jump = Jump::new(3, 0.1, 0.1).unwrap();
    let mut rng = stream(11, 0, Role::Proposal);
    let error = jump.propose(&selection([1, 3]), &mut selection([0]), &mut rng).unwrap_err();
    assert!(error.to_string().contains("below 3"), "{error}");
}

#[test]
fn the_tally_counts_by_move() {
    let mut tally = JumpTally::default();
    for (kind, accepted) in [
        (JumpMove::Update, true),
        (JumpMove::Update, false),
        (JumpMove::Birth, true),
        (JumpMove::Update, true),
    ] {
        tally.count(kind, accepted);
    }
    let mut both = tally;
    both.add(&tally);
    assert_eq!((both.proposed(JumpMove::Update), both.accepted(JumpMove::Update)), (6, 4));
    assert_eq!(tally.acceptance(JumpMove::Birth), 1.0);
    assert!(tally.acceptance(JumpMove::Death).is_nan());
}
