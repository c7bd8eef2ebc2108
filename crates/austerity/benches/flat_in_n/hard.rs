//! The hard case: rare features, some without an event, heavy-tailed priors; the Laplace approximation is off by more than a sd.

use austerity::model::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity::model::{Glm, Logistic, Prior, ResponseKind, Surrogate, generate};
use austerity::proposal::TransitionPlan;

use crate::plain::{measure, residual_rule};

pub(crate) fn run(rows: usize, seeds: u64) {
    println!("hard case: {rows} rows, 24 dense features, 15 rare ones, prior student:3,1, one core");
    for seed in 1..=seeds {
        let made = generate::logistic(rows, 24).rare(15).correlated(true).seed(seed).build().expect("data");
        let data = made.data.check(ResponseKind::Binary).expect("checked data");
        let mut priors = vec![Prior::Student { freedom: 3.0, scale: 1.0 }; 40];
        priors[0] = Prior::Normal { sd: 10.0 };
        let model = Glm::new(Logistic, &data, priors).expect("a model");
        drop(data);
        let expansion =
            GlmExpansion::new(&model, &vec![0.0; 40], &ExpansionSettings::default()).expect("an expansion");
        println!(
            "seed {seed}: {} ({:.2} s, {} passes)",
            expansion.report().sentence(),
            expansion.report().seconds,
            expansion.report().passes
        );
        let surrogate = Surrogate::new(expansion);
        let expansion = surrogate.expansion();
        let begun = std::time::Instant::now();
        let plan = TransitionPlan::pilot(expansion, expansion.mode(), expansion.covariance(), None, 1)
            .expect("a plan");
        println!(
            "  {} (pilot {:.2} s, inner acceptance {:.2})",
            plan.sentence(),
            begun.elapsed().as_secs_f64(),
            plan.acceptance
        );
        let transition = plan.build(expansion).expect("a transition");
        let (rate, _) = measure(&surrogate, transition, residual_rule(), plan.mean.clone(), u64::MAX);
        println!(
            "  {:.1} us/step, {:.1} rows, accept {:.3}, smallest ESS/s {:.0}",
            1e6 / rate.steps_per_second,
            rate.rows,
            rate.acceptance,
            rate.effective_per_second
        );
    }
}
