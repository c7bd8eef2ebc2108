//! The paper's logistic regression, MNIST 7 against 9 on 50 principal components: risk against time.
//!
//! The risk is the mean square error of the posterior means of the coefficients, in posterior variances, over chains that begin in the posterior. The clock is
//! that of 1,000 exact steps of the paper's random walk, then multiples of it; setting a surrogate up counts, and for transitions their pilot. Required from 1,000 exact steps on: the same walk
//! decided about residuals at least 10 times lower than decided exactly, surrogate transitions 100 times; posterior sds within 1 % of a reference by
//! importance correction on all rows.

use austerity::model::Model;
use austerity::proposal::{Proposal, RandomWalk};
use austerity::rng::{Role, stream};
use austerity::rule::RuleSettings;
use austerity::run::{Audited, Chain, ChainCheckpoint, Settings};
use austerity_glm::check::blindness::ResidualTest;
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity_glm::proposal::TransitionPlan;
use austerity_glm::{Data, Glm, Logistic, Prior, ResponseKind, Surrogate};

use crate::agreement::Reference;
use crate::rate::{cpu_time, expansion_settings, residual_rule, residual_rule_until};
use crate::real::numbers;

/// The walk and the prior of the paper.
const STEP: f64 = 0.01;
const PRECISION: f64 = 10.0;
/// Chains of each kind, and times in units of 1,000 exact steps; the first of them with `--quick`.
const CHAINS: u32 = 16;
const TIMES: [f64; 4] = [1.0, 3.0, 10.0, 30.0];
const QUICK: usize = 2;
/// τ of decisions about the walk, whose log ratios are of the order of 1: beyond, rows are read for ties that do not matter.
const WALK_TOLERANCE: f64 = 0.2;

pub(crate) fn run(quick: bool) {
    let Some(mut columns) = numbers("mnist79_pca50_train.parquet", None) else {
        println!("\nMNIST 7 against 9: mnist79_pca50_train.parquet is not at hand, skipped");
        return;
    };
    let place = columns.iter().position(|(name, _)| name == "label").expect("labels");
    let response = columns.remove(place).1.iter().map(|&label| f64::from(label > 0.0)).collect();
    let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let data = Data::new(names, values, response).intercept(false);
    let data = data.check(ResponseKind::Binary).expect("checked data");
    let prior = Prior::normal(PRECISION.sqrt().recip());
    let model = Glm::new(Logistic, &data, vec![prior; data.coefficients()]).expect("a model");
    let d = model.parameters();
    println!("\nMNIST 7 against 9: {} rows, {d} parameters", model.blocks().rows());

    // A walk needs an expansion and no more; transitions need a pilot.
    let begun = cpu_time();
    let settings = ExpansionSettings { threads: 1, ..expansion_settings() };
    let stratum = ResidualTest { tolerance: WALK_TOLERANCE, ..settings.stratum };
    let for_walk = ExpansionSettings { walk: Some(STEP), raise: false, stratum, ..settings.clone() };
    let for_walk = GlmExpansion::new(&model, &vec![0.0; d], &for_walk).expect("an expansion");
    let for_walk = Surrogate::new(for_walk);
    let walk_set_up = (cpu_time() - begun).as_secs_f64();
    let begun = cpu_time();
    let expansion = GlmExpansion::new(&model, &vec![0.0; d], &settings).expect("an expansion");
    let surrogate = Surrogate::new(expansion);
    let expansion = surrogate.expansion();
    let plan = TransitionPlan::pilot(expansion, (expansion.mode(), expansion.covariance()), None, 1)
        .expect("a plan");
    let set_up = (cpu_time() - begun).as_secs_f64();

    let reference = Reference::new(&surrogate, &plan, if quick { 20_000 } else { 60_000 }, 2, 2);
    let (mean, sd) = reference.moments();
    let problem = Problem { mean: &mean, sd: &sd, reference: &reference };
    let walk = RandomWalk::isotropic(d, STEP).expect("a walk");
    // The unit of time: 1,000 exact steps.
    let exact = RuleSettings::default();
    let unit = {
        let begun = cpu_time();
        problem.chain(&model, walk.clone(), &exact, 0).steps(1000);
        (cpu_time() - begun).as_secs_f64()
    };
    let times = &TIMES[..if quick { QUICK } else { TIMES.len() }];
    let times: Vec<f64> = times.iter().map(|time| time * unit).collect();
    let walked = problem.risks(&model, &walk, &exact, &times, 0.0);
    let rule = residual_rule_until(for_walk.expansion().report(), WALK_TOLERANCE);
    let tested = problem.risks(&for_walk, &walk, &rule, &times, walk_set_up);
    let transition = plan.build(expansion).expect("a transition");
    let moved = problem.risks(&surrogate, &transition, &residual_rule(expansion.report()), &times, set_up);
    println!("  1,000 exact steps {:.1} ms", 1e3 * unit);
    println!("  walk, set-up {:.1} ms: {}", 1e3 * walk_set_up, for_walk.expansion().report().sentence());
    println!(
        "  transitions, set-up {:.1} ms: {}; {:?} candidates",
        1e3 * set_up,
        expansion.report().sentence(),
        plan.kind
    );
    report(&times, [&walked, &tested, &moved]);
}

/// Risks of the exact walk, the walk by residuals and the transitions at the times.
fn report(times: &[f64], [walked, tested, moved]: [&Risks; 3]) {
    println!(
        "  {:>10} {:>12} {:>16} {:>8} {:>16} {:>8}",
        "time", "exact walk", "walk, residuals", "ratio", "transitions", "ratio"
    );
    for (k, time) in times.iter().enumerate() {
        println!(
            "  {:>7.0} ms {:>12.3e} {:>16.3e} {:>8.1} {:>16.3e} {:>8.1}",
            1e3 * time,
            walked.risk[k],
            tested.risk[k],
            walked.risk[k] / tested.risk[k],
            moved.risk[k],
            walked.risk[k] / moved.risk[k]
        );
    }
    println!(
        "  required: 10 and 100 at every time; microseconds per step: {:.1}, {:.1} and {:.1}",
        walked.step, tested.step, moved.step
    );
    let spread = |ratios: &[f64]| {
        let (low, high) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &r| (l.min(r), h.max(r)));
        format!("{low:.4} to {high:.4}")
    };
    println!(
        "  posterior sds over the reference's, transitions: {} (required .99 to 1.01); walk, as far as it got: {}",
        spread(&moved.sds),
        spread(&tested.sds)
    );
}

struct Problem<'a> {
    mean: &'a [f64],
    sd: &'a [f64],
    reference: &'a Reference,
}

/// Risks at the times, sds of all draws of all chains over those of the reference, and microseconds per step.
struct Risks {
    risk: Vec<f64>,
    sds: Vec<f64>,
    step: f64,
}

/// A chain and its steps.
struct Walker<'m, M: Model<State = Vec<f64>>, P: Proposal<Vec<f64>> + Clone>(Chain<Audited<'m, M, P>>);

impl<M: Model<State = Vec<f64>>, P: Proposal<Vec<f64>> + Clone> Walker<'_, M, P> {
    fn steps(&mut self, count: u32) {
        for _ in 0..count {
            self.0.step().expect("a step");
        }
    }
}

impl Problem<'_> {
    fn chain<'m, M: Model<State = Vec<f64>>, P: Proposal<Vec<f64>> + Clone>(
        &self,
        model: &'m M,
        proposal: P,
        rule: &RuleSettings,
        number: u32,
    ) -> Walker<'m, M, P> {
        let settings = Settings { rule: rule.clone(), warmup: 0, draws: 1, chains: 1, ..Settings::default() };
        let start = self.reference.draw(&mut stream(5, number, Role::Start));
        let rule = rule.build(model.len()).expect("a rule");
        Walker(
            Chain::new(model, &settings, rule, (number, ChainCheckpoint::start(start, proposal)))
                .expect("a chain"),
        )
    }

    /// Runs the chains until the last time; the first `set_up` seconds are gone already.
    fn risks<M: Model<State = Vec<f64>>, P: Proposal<Vec<f64>> + Clone>(
        &self,
        model: &M,
        proposal: &P,
        rule: &RuleSettings,
        times: &[f64],
        set_up: f64,
    ) -> Risks {
        let d = self.mean.len();
        let mut risk = vec![0.0; times.len()];
        let (mut count, mut sums, mut squares) = (0.0, vec![0.0; d], vec![0.0; d]);
        for number in 0..CHAINS {
            let mut chain = self.chain(model, proposal.clone(), rule, number);
            let (mut own, mut total) = (0.0, vec![0.0; d]);
            let mut seconds = set_up;
            for (slot, &time) in risk.iter_mut().zip(times) {
                while seconds < time {
                    let begun = cpu_time();
                    for _ in 0..8 {
                        chain.steps(1);
                        own += 1.0;
                        for (i, &value) in chain.0.state().iter().enumerate() {
                            let z = (value - self.mean[i]) / self.sd[i];
                            total[i] += z;
                            squares[i] += z * z;
                        }
                    }
                    seconds += (cpu_time() - begun).as_secs_f64();
                }
                // Nothing is known before the first draw: the risk of a draw from the posterior is 1.
                let mean_square = total.iter().map(|t| (t / own) * (t / own)).sum::<f64>() / d as f64;
                *slot += if own > 0.0 { mean_square } else { 1.0 } / f64::from(CHAINS);
            }
            count += own;
            sums.iter_mut().zip(&total).for_each(|(sum, own)| *sum += own);
        }
        let sds =
            sums.iter().zip(&squares).map(|(s, q)| (q / count - (s / count) * (s / count)).sqrt()).collect();
        let last = times.last().map_or(0.0, |time| time - set_up);
        Risks { risk, sds, step: 1e6 * f64::from(CHAINS) * last / count }
    }
}
