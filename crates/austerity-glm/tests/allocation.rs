//! No allocation per step after warm-up, counted by the allocator itself.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use austerity::model::from_fn;
use austerity::proposal::{AnyProposal, RandomWalk, RobustAdaptive};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Chain, ChainCheckpoint, Settings};
use austerity_glm::{Glm, Logistic, ResponseKind, generate};

/// Counts allocations per thread: the test harness allocates on others.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system allocator; the counter is a const-initialised
// thread-local without destructor, so touching it neither allocates nor runs during thread teardown.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above with this `layout`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_in(mut body: impl FnMut()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    body();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn the_counter_counts() {
    assert!(allocations_in(|| drop(std::hint::black_box(vec![1_u8; 100]))) >= 1);
}

#[test]
fn steps_of_a_user_model_do_not_allocate() {
    let model = from_fn(
        2000,
        20,
        |theta: &[f64]| -0.5 * theta.iter().map(|t| t * t).sum::<f64>(),
        |theta: &[f64], row: usize| -0.5 * (theta[row % 20] - (row as f64).sin()).powi(2),
    )
    .unwrap();
    let walk = RandomWalk::isotropic(20, 0.05).unwrap();
    let adaptive: AnyProposal = RobustAdaptive::new(&walk, 0.234).unwrap().into();
    for rule in [RuleSettings::default(), RuleSettings::Sequential(SequentialSettings::constant(200, 0.05))] {
        check(&model, adaptive.clone(), rule, 20);
    }
}

fn check<M: austerity::model::Model<State = Vec<f64>>>(
    model: &M,
    proposal: AnyProposal,
    rule: RuleSettings,
    dimension: usize,
) {
    let built = rule.build(model.len()).unwrap();
    let settings = Settings { warmup: 100, rule, ..Settings::default() };
    let start = ChainCheckpoint::start(vec![0.0; dimension], proposal);
    let mut chain = Chain::new(model, &settings, built, (0, start)).unwrap();
    for _ in 0..110 {
        chain.step().unwrap();
    }
    let count = allocations_in(|| {
        for _ in 0..200 {
            chain.step().unwrap();
        }
    });
    assert!(chain.sampling().accepted > 0, "both outcomes must occur");
    assert_eq!(count, 0, "allocations in 200 steps under {:?}", settings.rule);
}

#[test]
fn steps_of_a_regression_do_not_allocate() {
    let made = generate::logistic(5000, 5).seed(2).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, data.default_priors()).unwrap();
    let walk = RandomWalk::isotropic(6, 0.02).unwrap();
    let paper = SequentialSettings::paper(200, 0.05); // single rows: the gathering path
    for rule in [
        RuleSettings::default(),
        RuleSettings::Sequential(SequentialSettings::constant(200, 0.05)),
        RuleSettings::Sequential(paper),
    ] {
        check(&model, walk.clone().into(), rule, 6);
    }
}
