//! Batches against single calls: the same posterior, the same totals with and without cache, the same errors.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use austerity::model::from_fn;
use austerity::proposal::{AnyProposal, RandomWalk};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Control, Sampler, Settings, Silent};

/// Exponential waits; counts its calls.
struct Waits {
    waits: Vec<f64>,
    calls: AtomicUsize,
    strange: Option<(usize, f64)>,
}

impl Waits {
    fn new(rows: usize) -> Self {
        let wait = |i: usize| 0.1 + (i * 7919 % rows) as f64 / rows as f64;
        Self { waits: (0..rows).map(wait).collect(), calls: AtomicUsize::new(0), strange: None }
    }
}

impl Likelihoods for Waits {
    type Memory = ();

    fn rows(&self) -> usize {
        self.waits.len()
    }

    fn names(&self) -> Vec<String> {
        vec!["log_rate".into()]
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        Ok(-0.5 * state[0] * state[0])
    }

    fn log_likelihoods(&self, state: &[f64], batch: Batch<'_>, (): &mut (), out: &mut [f64]) -> Result<()> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        for (out, row) in out.iter_mut().zip(batch.ranges().flatten()) {
            *out = match self.strange {
                Some((strange, value)) if strange == row => value,
                _ => state[0] - state[0].exp() * self.waits[row],
            };
        }
        Ok(())
    }
}

fn draws<M: Model<State = Vec<f64>> + Parameters>(model: &M, rule: RuleSettings) -> Vec<f64> {
    let walk: AnyProposal = RandomWalk::isotropic(1, 0.03).unwrap().into();
    let settings = Settings { draws: 300, warmup: 50, chains: 2, rule, ..Settings::default() };
    let run = Sampler::new(model, &settings, &walk, &[vec![0.5]]).unwrap().run(&Control::new(), &mut Silent);
    run.trace.chains.iter().flat_map(|chain| chain.values.iter().copied()).collect()
}

#[test]
fn batches_draw_what_single_calls_draw() {
    let rows = 3000;
    let waits = Waits::new(rows).waits;
    let single =
        from_fn(rows, 1, |s: &[f64]| -0.5 * s[0] * s[0], |s: &[f64], row| s[0] - s[0].exp() * waits[row])
            .unwrap()
            .keep_order();
    let batched = from_batches(Waits::new(rows)).unwrap();
    for rule in [RuleSettings::default(), RuleSettings::Sequential(SequentialSettings::paper(500, 0.05))] {
        assert_eq!(draws(&single, rule.clone()), draws(&batched, rule));
    }
}

#[test]
fn a_look_is_two_calls_and_a_cached_pass_half_as_many() {
    let model = from_batches(Waits::new(40_000)).unwrap();
    let calls = || model.likelihoods().calls.swap(0, Ordering::Relaxed);
    let (from, to) = (vec![0.4], vec![0.5]);
    let mut scratch = model.scratch(Access::Blocks);
    let mut moments = Moments::EMPTY;
    model.compare(&from, &to, &mut scratch).summarize(&[3, 900, 17], 32, &mut moments).unwrap();
    assert_eq!((calls(), moments.count), (2, 96));
    let plain = model.compare(&from, &to, &mut scratch).total().unwrap();
    assert_eq!(calls(), 6);
    let mut cached = model.scratch(Access::Scan);
    let first = model.compare(&from, &to, &mut cached).total().unwrap();
    calls();
    let again = model.compare(&from, &to, &mut cached).total().unwrap();
    assert_eq!((calls(), first, again), (3, plain, plain));
    model.accepted(&mut cached);
    let back = model.compare(&to, &from, &mut cached).total().unwrap();
    assert_eq!(calls(), 3);
    assert!((back.mean + plain.mean).abs() < 1e-15);
}

#[test]
fn strange_numbers_name_their_row() {
    let outcome = |value: f64| {
        let mut waits = Waits::new(500);
        waits.strange = Some((333, value));
        let model = from_batches(waits).unwrap();
        model.compare(&vec![0.4], &vec![0.5], &mut model.scratch(Access::Blocks)).total()
    };
    assert_eq!(outcome(f64::NAN), Err(Error::NotANumber { row: 333 }));
    assert_eq!(outcome(f64::NEG_INFINITY), Err(Error::InfiniteRatio { row: 333 }));
    assert!(matches!(outcome(f64::INFINITY), Err(Error::OutOfRange { row: 333, .. })));
}
