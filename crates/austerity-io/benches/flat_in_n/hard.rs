//! The hard case: rare features, some without an event, heavy-tailed priors; the Laplace approximation is off by more than a sd.
//!
//! Required: agreement ([`crate::agreement`]) for every seed of the data, and at least 5,000 effective samples per CPU second (bulk, the
//! smallest of the coefficients).

use austerity_glm::glm::Family;
use austerity_glm::glm::expansion::GlmExpansion;
use austerity_glm::proposal::TransitionPlan;
use austerity_glm::{Glm, Logistic, Prior, ResponseKind, Surrogate, generate};
use std::time::{Duration, Instant};

use crate::agreement::Reference;
use crate::rate::{expansion_settings, measure, residual_rule};

/// CPU seconds of a chain.
const SECONDS: Duration = Duration::from_secs(10);
/// Chains, one per thread.
const CHAINS: u32 = 2;
/// Rows read for the reference, and most of its draws.
const REFERENCE_ROWS: usize = 4_000_000_000;
const REFERENCE_DRAWS: usize = 8_000;

pub(crate) fn run(rows: usize, seeds: u64) {
    println!(
        "\nhard case: {rows} rows, 24 dense features, 15 rare ones, prior student:3,1 and normal:10 for the intercept"
    );
    for seed in 1..=seeds {
        let made = generate::logistic(rows, 24).rare(15).correlated(true).seed(seed).build().expect("data");
        let data = made.data.check(ResponseKind::Binary).expect("checked data");
        let mut priors = vec![Prior::student(3.0, 1.0); 40];
        priors[0] = Prior::normal(10.0);
        let model = Glm::new(Logistic, &data, priors).expect("a model");
        drop(data);
        println!("seed {seed}");
        report(&model);
    }
}

/// Speed and agreement of the defaults on a model.
pub(crate) fn report<F: Family>(model: &Glm<F>) {
    let start = vec![0.0; model.parameters()];
    let expansion = GlmExpansion::new(model, &start, &expansion_settings()).expect("an expansion");
    let (found, passes) = (expansion.report().sentence(), expansion.report().passes);
    println!("  {found} ({:.2} s, {passes} passes)", expansion.report().seconds);
    let surrogate = Surrogate::new(expansion);
    let expansion = surrogate.expansion();
    let begun = Instant::now();
    let plan = TransitionPlan::pilot(expansion, (expansion.mode(), expansion.covariance()), None, 1)
        .expect("a plan");
    println!("  {:?} candidates (pilot {:.2} s)", plan.kind, begun.elapsed().as_secs_f64());
    let chains: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..CHAINS)
            .map(|number| {
                let (surrogate, plan) = (&surrogate, &plan);
                scope.spawn(move || {
                    let transition = plan.build(surrogate.expansion()).expect("a transition");
                    measure(
                        surrogate,
                        transition,
                        &residual_rule(surrogate.expansion().report()),
                        plan.mean.clone(),
                        (u64::MAX, SECONDS, number),
                    )
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("a chain")).collect()
    });
    for (rate, _) in &chains {
        println!(
            "  {:.1} us a step, {:.1} sampled rows, accepted {:.3}, {:.0} effective samples per CPU second ({:.0} by tails)",
            1e6 / rate.steps_per_second,
            rate.rows,
            rate.acceptance,
            rate.effective_per_second,
            rate.tails_per_second
        );
    }
    let count = (REFERENCE_ROWS / expansion.model().blocks().rows()).clamp(500, REFERENCE_DRAWS);
    let reference = Reference::new(&surrogate, &plan, count, 10, CHAINS as usize);
    let draws: Vec<Vec<Vec<f64>>> = chains.into_iter().map(|(_, draws)| draws).collect();
    reference.compare("agreement", &draws);
    let sds: Vec<f64> =
        expansion.covariance().iter().step_by(plan.mean.len() + 1).map(|v| v.sqrt()).collect();
    println!(
        "  the Laplace approximation is off by up to {:.2} sd",
        reference.normal(expansion.mode(), &sds)
    );
}
