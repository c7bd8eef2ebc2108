//! Runs: the same draws whatever the threads, resumed or not; every way to end keeps what was drawn.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use austerity::model::{Parameters, from_fn};
use austerity::proposal::{AnyProposal, Mixture, Proposal, Proposed, RandomWalk, RobustAdaptive};
use austerity::rng::Rng;
use austerity::rule::{Law, RuleSettings, SequentialSettings};
use austerity::run::{Checkpoint, Control, Ended, Limits, Progress, Run, Sampler, Settings, Silent};
use austerity::{Error, Result};

type Outcome = Run<Vec<f64>, AnyProposal>;

/// Location and log scale of 400 fixed numbers, with weak normal priors.
fn model() -> impl Parameters<State = Vec<f64>> {
    from_fn(
        400,
        2,
        |theta: &[f64]| -0.005 * (theta[0] * theta[0] + theta[1] * theta[1]),
        |theta: &[f64], row: usize| {
            let x = 1.5 + 2.0 * ((row as f64) * 0.618_034).fract().mul_add(2.0, -1.0);
            let z = (x - theta[0]) * (-theta[1]).exp();
            -0.5 * z * z - theta[1]
        },
    )
    .unwrap()
}

fn proposal() -> AnyProposal {
    let walk = RandomWalk::isotropic(2, 0.1).unwrap();
    let adaptive = RobustAdaptive::new(&walk, 0.3).unwrap();
    Mixture::new(vec![(0.8, adaptive.into()), (0.2, walk.into())]).unwrap().into()
}

fn settings() -> Settings {
    Settings {
        chains: 4,
        warmup: 150,
        draws: 200,
        seed: 9,
        threads: 2,
        rule: RuleSettings::Sequential(SequentialSettings::constant(64, 0.05)),
        ..Settings::default()
    }
}

fn run(settings: &Settings) -> Outcome {
    Sampler::new(&model(), settings, &proposal(), &[vec![0.0, 0.0]])
        .unwrap()
        .run(&Control::new(), &mut Silent)
}

/// Bits of all draws and decisions, for comparisons that also hold for NaN.
fn bits(run: &Outcome) -> Vec<Vec<u64>> {
    let chain = |c: &austerity::run::ChainTrace| {
        let mut all: Vec<u64> = c.values.iter().map(|v| v.to_bits()).collect();
        for d in &c.decisions {
            all.extend([
                u64::from(d.accepted),
                d.used,
                d.evaluations,
                d.mean.to_bits(),
                d.sd.to_bits(),
                d.threshold.to_bits(),
            ]);
        }
        all
    };
    run.trace.chains.iter().map(chain).collect()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let base = bits(&run(&Settings { threads: 1, ..settings() }));
    for threads in [2, 4] {
        assert!(bits(&run(&Settings { threads, ..settings() })) == base, "{threads} threads");
    }
    assert_ne!(bits(&run(&Settings { seed: 10, ..settings() })), base);
}

#[test]
fn a_first_chain_shifts_the_streams() {
    let four = bits(&run(&settings()));
    let last_two = bits(&run(&Settings { chains: 2, first_chain: 2, ..settings() }));
    assert_eq!(four[2..], last_two);
}

#[test]
fn a_resumed_run_is_the_uninterrupted_one() {
    for rule in [RuleSettings::default(), settings().rule] {
        let whole = run(&Settings { rule: rule.clone(), ..settings() });
        // Stop after few evaluations, at different steps of different chains, in warm-up and after it; go on thrice.
        for evaluations in [40_000, 300_000] {
            let mut wanted = Settings { rule: rule.clone(), ..settings() };
            wanted.limits.evaluations = Some(evaluations);
            let first = run(&wanted);
            assert_eq!(first.ended, Ended::Evaluations);
            let mut trace = first.trace;
            // The checkpoint survives text.
            let text = serde_json::to_string(&first.checkpoint).unwrap();
            let mut checkpoint: Checkpoint<Vec<f64>, AnyProposal> = serde_json::from_str(&text).unwrap();
            for limit in [Some(400_000), None] {
                wanted.limits.evaluations = limit;
                wanted.threads = 3;
                let next =
                    Sampler::resume(&model(), &wanted, checkpoint).unwrap().run(&Control::new(), &mut Silent);
                trace.append(next.trace);
                checkpoint = next.checkpoint;
            }
            let joined = Run { trace, checkpoint: checkpoint.clone(), ended: Ended::Draws, seconds: 0.0 };
            assert!(bits(&joined) == bits(&whole));
            assert_eq!(joined.counters(), whole.counters());
            assert_eq!(checkpoint.chains, whole.checkpoint.chains);
        }
    }
}

#[test]
fn a_target_is_reached_where_the_uninterrupted_run_reaches_it() {
    let wanted = Settings {
        draws: 100_000,
        limits: Limits { target_ess: Some(150.0), ..Limits::default() },
        ..settings()
    };
    let whole = run(&wanted);
    assert_eq!(whole.ended, Ended::TargetEss);
    let first =
        run(&Settings { draws: whole.trace.len() as u64 - 10, limits: Limits::default(), ..wanted.clone() });
    let model = model();
    let resumed =
        Sampler::resume(&model, &wanted, first.checkpoint).unwrap().with_earlier(first.trace.clone());
    let next = resumed.run(&Control::new(), &mut Silent);
    assert_eq!(next.ended, Ended::TargetEss);
    assert_eq!(first.trace.len() + next.trace.len(), whole.trace.len());
}

/// A proposal that cannot be gone back from, and a prior without bound: errors, not a chain that stands still.
#[test]
fn impossible_ratios_are_errors() {
    struct Odd(f64);
    impl Proposal<Vec<f64>> for Odd {
        fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, _: &mut Rng) -> Result<Proposed> {
            to.clone_from(from);
            to[0] += 1e-3;
            Ok(self.0.into())
        }
    }
    impl Clone for Odd {
        fn clone(&self) -> Self {
            Self(self.0)
        }
    }
    let model = model();
    for ratio in [f64::NAN, f64::INFINITY] {
        let run = Sampler::new(&model, &settings(), &Odd(ratio), &[vec![1.5, 0.1]]).unwrap();
        let ended = run.run(&Control::new(), &mut Silent).ended;
        assert!(matches!(ended, Ended::Failed { error: Error::ProposalRatio { .. }, .. }), "{ended:?}");
    }
    let spike =
        from_fn(10, 1, |t: &[f64]| if t[0] > 0.0 { f64::INFINITY } else { 0.0 }, |_: &[f64], _| 0.0).unwrap();
    let run = Sampler::new(&spike, &settings(), &Odd(0.0), &[vec![-1e-2]])
        .unwrap()
        .run(&Control::new(), &mut Silent);
    assert!(matches!(run.ended, Ended::Failed { error: Error::PriorNotANumber, .. }), "{:?}", run.ended);
}

#[test]
fn resuming_refuses_what_would_change_a_draw() {
    let first = run(&settings());
    let refused = |change: &dyn Fn(&mut Settings), word: &str| {
        let mut other = settings();
        change(&mut other);
        let model = model();
        let Err(error) = Sampler::resume(&model, &other, first.checkpoint.clone()) else {
            panic!("{word}: accepted")
        };
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(&|s| s.seed = 1, "seed");
    refused(&|s| s.chains = 3, "chains");
    refused(&|s| s.warmup = 1, "warm-up");
    refused(&|s| s.thin = 2, "thinning");
    refused(&|s| s.rule = RuleSettings::default(), "rule");
    let more = Settings { draws: 260, ..settings() };
    let longer =
        Sampler::resume(&model(), &more, first.checkpoint.clone()).unwrap().run(&Control::new(), &mut Silent);
    assert_eq!(longer.trace.len(), 60);
}

#[test]
fn changing_the_rule_keeps_proposals_and_uniforms() {
    // With fixed proposals the first candidate and the first threshold are the same under every rule.
    let walk: AnyProposal = RandomWalk::isotropic(2, 0.05).unwrap().into();
    let first = |rule: RuleSettings| {
        let s = Settings { warmup: 0, draws: 1, chains: 1, rule, ..settings() };
        let run =
            Sampler::new(&model(), &s, &walk, &[vec![1.5, 0.1]]).unwrap().run(&Control::new(), &mut Silent);
        run.trace.chains[0].decisions[0].threshold
    };
    let exact = first(RuleSettings::default());
    for epsilon in [0.01, 0.2, 0.5] {
        assert_eq!(first(RuleSettings::Sequential(SequentialSettings::constant(64, epsilon))), exact);
    }
    // And ε = 0 is the exact chain throughout.
    let whole = |rule| bits(&run(&Settings { rule, ..settings() }));
    assert_eq!(
        whole(RuleSettings::Sequential(SequentialSettings::constant(64, 0.0))),
        whole(RuleSettings::Exact { law: Law::Metropolis })
    );
}

#[test]
fn limits_end_a_run_and_keep_the_draws() {
    let long = Settings { draws: 100_000_000, ..settings() };
    let timed = run(&Settings { limits: Limits { seconds: Some(0.3), ..Limits::default() }, ..long.clone() });
    assert_eq!(timed.ended, Ended::Seconds);
    assert!(timed.trace.len() > 10);
    let parameter = timed.trace.parameter(1);
    assert!(
        parameter.iter().all(|chain| chain.len() == timed.trace.len()),
        "chains are read at equal length"
    );

    let wanted = Settings { limits: Limits { target_ess: Some(150.0), ..Limits::default() }, ..long };
    let (one, two) =
        (run(&Settings { threads: 1, ..wanted.clone() }), run(&Settings { threads: 4, ..wanted }));
    assert_eq!(one.ended, Ended::TargetEss);
    assert_eq!(bits(&one), bits(&two), "a stop by ESS is a function of the draws");
    assert!(one.summary().iter().all(|s| s.ess_bulk >= 150.0));

    let spent =
        run(&Settings { limits: Limits { evaluations: Some(400_000), ..Limits::default() }, ..settings() });
    assert_eq!(spent.ended, Ended::Evaluations);
    let all = spent.counters().evaluations + spent.warmup_counters().evaluations;
    assert!((400_000..400_000 + 4 * 1600).contains(&all), "{all}");
}

#[test]
fn a_stop_from_outside_keeps_the_draws_and_progress_is_told() {
    let control = Control::new();
    let stopper = control.clone();
    let mut told: Vec<Progress> = Vec::new();
    let model = model();
    let long = Settings { draws: 100_000_000, ..settings() };
    let run = Sampler::new(&model, &long, &proposal(), &[vec![0.0, 0.0]]).unwrap().run(
        &control,
        &mut |p: &Progress| {
            told.push(p.clone());
            if told.len() == 3 {
                stopper.stop();
            }
        },
    );
    assert_eq!(run.ended, Ended::Interrupted);
    assert!(!run.trace.is_empty());
    let last = told.last().unwrap();
    assert_eq!(last.chains.len(), 4);
    assert!(last.rhat.is_some() && last.ess.is_some() && last.remaining.is_some());
    assert!(last.chains.iter().all(|c| c.steps > 0 && (0.0..=1.0).contains(&c.acceptance)));
}

#[test]
fn a_paused_run_waits() {
    let control = Control::new();
    control.pause();
    let switch = control.clone();
    let mut held = 0;
    let model = model();
    let run = Sampler::new(&model, &settings(), &proposal(), &[vec![0.0, 0.0]]).unwrap().run(
        &control,
        &mut |p: &Progress| {
            if switch.paused() {
                assert_eq!(p.chains.iter().map(|c| c.steps).sum::<u64>(), 0);
                held += 1;
                switch.resume();
            }
        },
    );
    assert!(held >= 1 && run.ended == Ended::Draws && run.trace.len() == 200);
}

/// A model that misbehaves once the chain has gone beyond 0.2.
fn broken(kind: &'static str) -> impl Fn(&[f64], usize) -> f64 + Sync {
    move |theta: &[f64], row: usize| {
        let bad = theta[0].abs() > 0.2 && row == 77;
        match (bad, kind) {
            (true, "nan") => f64::NAN,
            (true, "panic") => panic!("row {row} is haunted"),
            (true, "minus infinity") => f64::NEG_INFINITY,
            _ => -0.5 * theta[0] * theta[0],
        }
    }
}

fn run_broken(kind: &'static str, rule: RuleSettings) -> Result<Outcome> {
    let model = from_fn(100, 1, |_: &[f64]| 0.0, broken(kind)).unwrap();
    let walk: AnyProposal = RandomWalk::isotropic(1, 0.03).unwrap().into();
    let s = Settings { chains: 2, warmup: 0, draws: 50_000, rule, ..settings() };
    Ok(Sampler::new(&model, &s, &walk, &[vec![0.0]])?.run(&Control::new(), &mut Silent))
}

#[test]
fn errors_name_the_row_and_keep_the_draws() {
    let sequential = || RuleSettings::Sequential(SequentialSettings::constant(32, 0.0));
    for rule in [RuleSettings::default(), sequential()] {
        let nan = run_broken("nan", rule.clone()).unwrap();
        assert!(
            matches!(nan.ended, Ended::Failed { error: Error::NotANumber { row: 77 }, .. }),
            "{:?}",
            nan.ended
        );
        assert!(nan.trace.chains.iter().any(|chain| !chain.is_empty()));
        let panic = run_broken("panic", rule.clone()).unwrap();
        let Ended::Failed { error: Error::Panicked { row, message, .. }, .. } = &panic.ended else {
            panic!("{:?}", panic.ended)
        };
        assert_eq!((*row, message.as_str()), (Some(77), "row 77 is haunted"));
        assert!(!panic.warnings(&panic.summary()).is_empty());
        let impossible = run_broken("minus infinity", rule).unwrap();
        assert_eq!(impossible.ended, Ended::Draws, "minus infinity is a rejection");
        assert!(impossible.trace.parameter(0).iter().flatten().all(|x| x.abs() <= 0.2));
        assert!(impossible.counters().impossible > 0);
    }
}

#[test]
fn impossible_starts_are_refused() {
    let walk: AnyProposal = RandomWalk::isotropic(1, 0.03).unwrap().into();
    for kind in ["nan", "minus infinity"] {
        let model = from_fn(100, 1, |_: &[f64]| 0.0, broken(kind)).unwrap();
        let Err(error) = Sampler::new(&model, &settings(), &walk, &[vec![1.0]]) else { panic!("accepted") };
        assert!(matches!(error, Error::ImpossibleStart { .. }), "{error}");
        assert!(error.to_string().contains("77"), "{error}");
    }
    let walled =
        from_fn(10, 1, |t: &[f64]| if t[0] > 0.0 { 0.0 } else { f64::NEG_INFINITY }, |_: &[f64], _| 0.0)
            .unwrap();
    assert!(matches!(
        Sampler::new(&walled, &settings(), &walk, &[vec![-1.0]]),
        Err(Error::ImpossibleStart { .. })
    ));
    let run =
        Sampler::new(&walled, &settings(), &walk, &[vec![0.1]]).unwrap().run(&Control::new(), &mut Silent);
    assert!(run.trace.parameter(0).iter().flatten().all(|&x| x > 0.0));
    assert!(
        Sampler::new(&walled, &settings(), &walk, &[vec![0.1], vec![0.2]]).is_err(),
        "two starts for four chains"
    );
}

#[test]
fn warnings_say_what_matters() {
    // Exact decisions are never told to be exact.
    let exact = run(&Settings { rule: RuleSettings::default(), ..settings() });
    assert!(!exact.warnings(&exact.summary()).join(" ").contains("cheaper"));
    let short = run(&Settings { draws: 3, chains: 1, ..settings() });
    assert!(short.warnings(&short.summary()).join(" ").contains("too few draws"));
    // One row, every decision exact; a walk too wide to be accepted.
    let stuck: AnyProposal = RandomWalk::isotropic(2, 1e6).unwrap().into();
    let run = Sampler::new(&model(), &settings(), &stuck, &[vec![1.5, 0.1]])
        .unwrap()
        .run(&Control::new(), &mut Silent);
    let text = run.warnings(&run.summary()).join(" ");
    assert!(text.contains("No chain has moved") && !text.contains("longer"), "{text}");
    let careful = SequentialSettings { guard: None, ..SequentialSettings::constant(320, 1e-6) };
    let s = Settings { rule: RuleSettings::Sequential(careful), ..settings() };
    let run =
        Sampler::new(&model(), &s, &proposal(), &[vec![1.5, 0.1]]).unwrap().run(&Control::new(), &mut Silent);
    let text = run.warnings(&run.summary()).join(" ");
    assert!(text.contains("exact decisions would be cheaper"), "{text}");
}

#[test]
fn one_row_is_enough() {
    let model =
        from_fn(1, 1, |t: &[f64]| -0.5 * t[0] * t[0], |t: &[f64], _| -0.5 * (t[0] - 1.0).powi(2)).unwrap();
    let walk: AnyProposal = RandomWalk::isotropic(1, 1.5).unwrap().into();
    let s = Settings { draws: 4000, ..settings() };
    let run = Sampler::new(&model, &s, &walk, &[vec![0.0]]).unwrap().run(&Control::new(), &mut Silent);
    let summary = &run.summary()[0];
    // Posterior N(½, ½); 5 standard errors.
    assert!((summary.mean - 0.5).abs() < 5.0 * summary.mcse_mean, "{summary:?}");
}
