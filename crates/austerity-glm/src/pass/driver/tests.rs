//! The driver gives the same bits on any number of threads, names what fails first, and reaches every row once.

use super::*;
use crate::glm::Logistic;
use crate::glm::expansion::{CertificateSettings, ExpansionSettings, GlmExpansion, sampled_mode};
use crate::{Glm, Prior, ResponseKind, generate};
use austerity::model::{Curvature as _, covariance_at, find_mode, find_mode_near};

/// Numbers of rows, one a block, summed; `bad` parts fail with their first block.
struct Sum {
    bad: Vec<usize>,
}

impl Pass<[f64]> for Sum {
    type Partial = (f64, Vec<usize>);
    const NAME: &'static str = "sum";

    fn blocks(&self, rows: &[f64]) -> usize {
        rows.len()
    }

    fn empty(&self, _rows: &[f64]) -> Self::Partial {
        (0.0, Vec::new())
    }

    fn visit(
        &self,
        rows: &[f64],
        blocks: Range<usize>,
        kept: &mut [f32],
        (sum, seen): &mut Self::Partial,
    ) -> Result<()> {
        for (place, slot) in kept.iter_mut().enumerate() {
            *slot += (blocks.start * BLOCK + place) as f32;
        }
        if let Some(&row) = self.bad.iter().find(|&&bad| blocks.contains(&bad)) {
            // A late part fails first.
            thread::sleep(std::time::Duration::from_micros(3 * (rows.len() - row) as u64));
            return Err(Error::NotANumber { row });
        }
        *sum += rows[blocks.clone()].iter().sum::<f64>();
        seen.extend(blocks);
        Ok(())
    }

    fn merge(&self, earlier: &mut Self::Partial, later: Self::Partial) {
        earlier.0 += later.0;
        earlier.1.extend(later.1);
    }
}

const THREADS: [usize; 4] = [1, 2, 3, 7];

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| (1.0 + i as f64).sin() * 10f64.powi((i % 17) as i32 - 8)).collect()
}

#[test]
fn every_block_once_in_order_and_the_same_bits_for_any_number_of_threads() {
    for count in [0, 1, 31, 32, 33, 511, 512, 5000, 20_011] {
        let rows = numbers(count);
        let mut bits = None;
        for threads in THREADS {
            let mut kept = vec![0.0; count * BLOCK];
            let (sum, seen) =
                Driver::new(threads).run_keeping(&Sum { bad: vec![] }, &rows[..], &mut kept).unwrap();
            assert!(seen.into_iter().eq(0..count));
            assert!(kept.iter().enumerate().all(|(i, &value)| value == i as f32));
            assert_eq!(
                *bits.get_or_insert(sum.to_bits()),
                sum.to_bits(),
                "{count} blocks, {threads} threads"
            );
        }
    }
}

/// A merge in the order of arrival has other bits: the sums above can tell.
#[test]
fn another_order_of_merging_has_other_bits() {
    let rows = numbers(20_011);
    let partial: Vec<f64> = parts(rows.len()).map(|part| rows[part].iter().sum()).collect();
    let forwards: f64 = partial.iter().sum();
    let backwards: f64 = partial.iter().rev().sum();
    assert_ne!(forwards.to_bits(), backwards.to_bits());
}

#[test]
fn parts_depend_on_the_blocks_alone_and_are_not_too_many() {
    for count in [1, 32, 100, 8192, 8193, 312_500] {
        let all: Vec<Range<usize>> = parts(count).collect();
        assert!(all.len() <= PARTS && all[0].start == 0 && all[all.len() - 1].end == count);
        assert!(all.windows(2).all(|two| two[0].end == two[1].start && two[0].len() % FEWEST == 0));
    }
}

#[test]
fn the_earliest_failure_wins_for_any_number_of_threads() {
    let rows = numbers(6000);
    for threads in THREADS {
        for _ in 0..5 {
            let failed = Driver::new(threads).run(&Sum { bad: vec![5900, 700, 3000, 2999] }, &rows[..]);
            assert!(matches!(failed, Err(Error::NotANumber { row: 700 })), "{threads}: {failed:?}");
        }
    }
}

#[test]
fn a_panic_reaches_the_caller() {
    struct Panics;
    impl Pass<()> for Panics {
        type Partial = ();
        const NAME: &'static str = "panics";
        fn blocks(&self, (): &()) -> usize {
            6000
        }
        fn empty(&self, (): &()) {}
        fn visit(&self, (): &(), blocks: Range<usize>, _: &mut [f32], (): &mut ()) -> Result<()> {
            assert!(!blocks.contains(&5000), "a part that panics");
            Ok(())
        }
        fn merge(&self, (): &mut (), (): ()) {}
    }
    for threads in [1, 3] {
        assert!(std::panic::catch_unwind(|| Driver::new(threads).run(&Panics, &())).is_err());
    }
}

#[test]
fn whoever_watches_sees_every_part() {
    let rows = numbers(6000);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    let watch: Watch = Arc::new(move |progress| into.lock().unwrap().push(progress));
    Driver::new(3).watched(watch).run(&Sum { bad: vec![] }, &rows[..]).unwrap();
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_by_key(|progress| progress.done);
    let all = seen[0].parts;
    assert!(seen.iter().all(|progress| progress.pass == "sum" && progress.parts == all));
    assert!(seen.iter().map(|progress| progress.done).eq(1..=all));
}

fn model(rows: usize) -> Glm<Logistic> {
    let data = generate::logistic(rows, 3).seed(5).build().unwrap().data;
    Glm::new(Logistic, &data.check(ResponseKind::Binary).unwrap(), vec![Prior::normal(2.0); 4]).unwrap()
}

#[test]
fn mode_and_expansion_have_the_same_bits_for_any_number_of_threads() {
    let mut found = None;
    for threads in THREADS {
        let model = model(150_000).with_threads(threads);
        let mode = find_mode(&model, &[0.0; 4]).unwrap();
        let settings = ExpansionSettings { threads, raise: true, ..ExpansionSettings::default() };
        let expansion = GlmExpansion::new(&model, &[0.0; 4], &settings).unwrap();
        let certificate = CertificateSettings { threads, ..CertificateSettings::default() };
        let seconds = expansion.report().seconds;
        let mut report = expansion.report().clone();
        report.seconds = 0.0;
        let centre = (expansion.mode().to_vec(), expansion.covariance().to_vec());
        let bounds = if report.order == 2 {
            Some(format!("{:?}", expansion.with_certificate(&certificate).unwrap().bounds()))
        } else {
            None
        };
        assert!(seconds > 0.0);
        let all = (mode, centre, format!("{report:?}"), bounds);
        assert_eq!(*found.get_or_insert(all.clone()), all, "{threads} threads");
    }
}

/// The log density overflows in every row: the row of the first storage position is named, as the user counts.
#[test]
fn a_row_that_is_not_a_number_is_named() {
    let rows: Vec<usize> = THREADS
        .iter()
        .map(|&threads| {
            let model = model(30_000).with_threads(threads);
            let state = vec![f64::INFINITY, 0.0, 0.0, f64::NEG_INFINITY];
            let (mut gradient, mut hessian) = (vec![0.0; 4], vec![0.0; 16]);
            match model.hessian(&state, &mut gradient, &mut hessian) {
                Err(Error::NotANumber { row }) => row,
                other => panic!("{other:?}"),
            }
        })
        .collect();
    let first = austerity::model::Model::original_row(&model(30_000), 0);
    assert_eq!(rows, [first; 4]);
}

/// Whole steps from the mode of a sample, and a search from far away that they give up.
#[test]
fn whole_steps_lead_to_the_same_mode() {
    let model = model(150_000).with_threads(2);
    let mode = find_mode(&model, &[0.0; 4]).unwrap();
    let sampled = sampled_mode(&model, &[0.0; 4], 1 << 13).unwrap().state;
    for start in [sampled, vec![0.0; 4], vec![30.0, -40.0, 20.0, 9.0]] {
        let near = find_mode_near(&model, &start).unwrap();
        for i in 0..4 {
            let off = (near.state[i] - mode.state[i]) / mode.covariance[5 * i].sqrt();
            assert!(off.abs() < 1e-4, "{start:?}: coefficient {i} is off by {off} standard deviations");
        }
        assert!((near.log_density - mode.log_density).abs() < 1e-5);
        assert_eq!(near.covariance, covariance_at(&model, &near.state).unwrap());
    }
}
