//! Audits: they change no draw, count the same however they are batched or interrupted, find planted mistakes within a stated number of
//! audits, leave honest runs alone, and tighten a wrong test in warm-up.
//!
//! The data are those on which sampled residuals are blind without a certainty stratum: rare binary features with few events or none.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use austerity::model::{Access, Model};
use austerity::population::Population as _;
use austerity::proposal::RandomWalk;
use austerity::rng::{Role, stream};
use austerity::rule::{Looks, RuleSettings, SequentialSettings, Stopped};
use austerity::run::{
    Audited, Chain, ChainCheckpoint, Checkpoint, Contradiction, Control, Sampler, Settings, Silent,
    seconds_per_audit,
};
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity_glm::{Data, Expansion as _, Glm, Logistic, Prior, ResponseKind, Surrogate};
use rand::RngExt as _;
use rand_distr::StandardNormal;

type Model1 = Surrogate<GlmExpansion<Logistic>>;
type Walk<'m> = Chain<Audited<'m, Model1, RandomWalk>>;

const DENSE: usize = 4;
const RARE: usize = 8;
const PARAMETERS: usize = 1 + DENSE + RARE;

/// Intercept −3, four dense features, eight rare ones in 10 to 60 rows, prior Student t.
fn model(rows: usize) -> Glm<Logistic> {
    let mut rng = stream(17, 0, Role::Data);
    let mut columns = vec![vec![0.0; rows]; DENSE + RARE];
    let mut eta = vec![-3.0; rows];
    for (j, column) in columns.iter_mut().enumerate() {
        let effect = if j < DENSE { 0.3 } else { 1.5 } * rng.sample::<f64, _>(StandardNormal);
        if j < DENSE {
            column.iter_mut().for_each(|x| *x = rng.sample(StandardNormal));
        } else {
            let count = 10 + 50 * (j - DENSE) / (RARE - 1);
            (0..count).for_each(|_| column[rng.random_range(0..rows)] = 1.0);
        }
        eta.iter_mut().zip(column).for_each(|(eta, x)| *eta += effect * *x);
    }
    let response =
        eta.iter().map(|eta| f64::from(rng.random::<f64>() < 1.0 / (1.0 + (-eta).exp()))).collect();
    let names: Vec<String> = (0..DENSE + RARE).map(|j| format!("x{j}")).collect();
    let data = Data::new(names, columns, response).check(ResponseKind::Binary).unwrap();
    let mut priors = vec![Prior::student(3.0, 1.0); PARAMETERS];
    priors[0] = Prior::normal(10.0);
    Glm::new(Logistic, &data, priors).unwrap()
}

fn expansion(model: &Glm<Logistic>, stratum_rows: Option<usize>) -> GlmExpansion<Logistic> {
    let settings = ExpansionSettings { stratum_rows, ..ExpansionSettings::default() };
    GlmExpansion::new(model, &[0.0; PARAMETERS], &settings).unwrap()
}

fn rule() -> RuleSettings {
    RuleSettings::Sequential(SequentialSettings {
        looks: Looks::Growing { first: 64, growth: 1.5 },
        stop_at: Some(0.03),
        guard: None,
        ..SequentialSettings::constant(64, 0.01)
    })
}

fn settings(warmup: u64, seed: u64, audit: f64) -> Settings {
    Settings { chains: 2, warmup, draws: 600, seed, threads: 2, rule: rule(), audit, ..Settings::default() }
}

fn start(model: &Model1) -> ChainCheckpoint<Vec<f64>, RandomWalk> {
    let expansion = model.expansion();
    let walk = RandomWalk::for_posterior(PARAMETERS, expansion.covariance()).unwrap();
    ChainCheckpoint::start(expansion.mode().to_vec(), walk)
}

fn chain<'m>(model: &'m Model1, settings: &Settings) -> Walk<'m> {
    let rule = settings.rule.build(model.len()).unwrap();
    Chain::new(model, settings, rule, (0, start(model))).unwrap()
}

/// Audits until the first contradiction, at most so many.
fn until_contradicted(chain: &mut Walk<'_>, most: u64) -> Option<(u64, Contradiction)> {
    while chain.sampling().audits.audited < most {
        chain.step().unwrap();
        chain.settle().unwrap();
        let audits = &chain.sampling().audits;
        if let Some(found) = audits.contradiction() {
            return Some((audits.audited, found));
        }
    }
    None
}

#[test]
fn totals_together_are_those_of_single_moves() {
    let glm = model(20_001);
    let surrogate = Surrogate::new(expansion(&glm, None));
    let mut rng = stream(3, 0, Role::Proposal);
    let centre = surrogate.expansion().centre().to_vec();
    let mut near =
        || -> Vec<f64> { centre.iter().map(|c| c + 0.05 * rng.sample::<f64, _>(StandardNormal)).collect() };
    let states: Vec<_> = (0..8).map(|_| (near(), near())).collect();
    let moves: Vec<_> = states.iter().map(|(from, to)| (from, to)).collect();
    fn check<M: Model<State = Vec<f64>>>(model: &M, moves: &[(&Vec<f64>, &Vec<f64>)]) {
        let all = model.totals(moves).unwrap();
        for (&(from, to), together) in moves.iter().zip(&all) {
            assert_eq!(model.totals(&[(from, to)]).unwrap(), [*together]);
            let mut scratch = model.scratch(Access::Blocks);
            let alone = model.compare(from, to, &mut scratch).total().unwrap();
            assert_eq!(alone.count, together.count);
            assert!((alone.sum() / together.sum() - 1.0).abs() < 1e-9, "{alone:?} {together:?}");
            assert!((alone.m2 / together.m2 - 1.0).abs() < 1e-9);
        }
    }
    check(&glm, &moves);
    check(&surrogate, &moves);
    // What the surrogate knows and what its residuals add is what the model itself says.
    let exact = surrogate.exact_differences(&moves).unwrap().unwrap();
    for ((&(from, to), total), exact) in moves.iter().zip(surrogate.totals(&moves).unwrap()).zip(exact) {
        let found = surrogate.log_prior(to) - surrogate.log_prior(from) + total.sum();
        assert!((found - exact).abs() < 2e-5 * (1.0 + exact.abs()), "{found} {exact}");
    }
    assert!(glm.exact_differences(&moves).unwrap().is_none());
    assert!(seconds_per_audit(&surrogate, moves[0].0, moves[0].1).unwrap() > 0.0);
}

#[test]
fn audits_change_no_draw_and_count_the_same_however_they_are_batched() {
    let glm = model(20_000);
    let surrogate = Surrogate::new(expansion(&glm, None));
    let mut plain = chain(&surrogate, &settings(100, 5, 0.0));
    let mut batched = chain(&surrogate, &settings(100, 5, 0.1));
    let mut single = chain(&surrogate, &settings(100, 5, 0.1));
    let mut audited = 0;
    for _ in 0..500 {
        // Word by word: what a settled decision does not know is NaN.
        let wanted = plain.step().unwrap();
        assert_eq!(format!("{:?}", batched.step().unwrap()), format!("{wanted:?}"));
        single.step().unwrap();
        single.settle().unwrap();
        audited += single.completed_audits().len();
        assert_eq!(batched.state(), plain.state());
    }
    batched.settle().unwrap();
    assert_eq!(batched.checkpoint(), single.checkpoint());
    assert_eq!(batched.completed_audits().len(), audited);
    assert_eq!(plain.sampling().audits.audited + plain.warmup().audits.audited, 0);
    assert!(batched.warmup().audits.audited > 5 && audited as u64 == batched.sampling().audits.audited);
    // Every audit of a surrogate that had not read everything costs a pass over residuals and one over the model, also of a decision that was settled without a row.
    let (counters, rows) = (batched.sampling(), surrogate.len() as u64);
    assert!(counters.exhausted == 0 && counters.certified[0] > 0, "{counters:?}");
    assert_eq!(counters.audit_evaluations, 2 * rows * 2 * counters.audits.audited);
    assert!(counters.audits.deviating < counters.audits.audited);
}

/// A curvature 2 % too large moves no residual, so only the comparison with the model itself can show it: at the first audit.
#[test]
fn a_wrong_curvature_is_caught_at_the_first_audit() {
    let glm = model(20_000);
    for factor in [1.02, 0.98] {
        let surrogate = Surrogate::new(expansion(&glm, None).with_wrong_curvature(factor));
        let mut walk = chain(&surrogate, &settings(0, 5, 0.2));
        let found = until_contradicted(&mut walk, 3).unwrap();
        assert!(found.0 <= 2 && found.1 == Contradiction::Defect, "{factor}: {found:?}");
        assert!(walk.sampling().audits.sentence().unwrap().contains("surrogate"));
    }
    // In warm-up nothing is made stricter for it, since no number of rows would help; the run is not to be trusted.
    let surrogate = Surrogate::new(expansion(&glm, None).with_wrong_curvature(1.02));
    let settings = settings(200, 5, 0.01);
    let ChainCheckpoint { learnt: proposal, state, .. } = start(&surrogate);
    let sampler = Sampler::new(&surrogate, &settings, &proposal, &[state]).unwrap();
    let run = sampler.run(&Control::new(), &mut Silent);
    let verdict = run.verdict(&[]);
    assert!(verdict.reasons.iter().any(|reason| reason.to_string().contains("surrogate")), "{verdict:?}");
    assert!(run.checkpoint.chains.iter().all(|chain| chain.tightened.is_empty()));
}

/// Without its stratum the test is blind; with it, honest. Eight seeds each: every blind run is caught within 16 audits, no honest one is accused in
/// 300 (each with probability at most 1 %, so one false alarm among the eight at most 8 % of the time; the seeds are fixed).
#[test]
fn a_removed_stratum_is_caught_and_an_honest_run_is_not() {
    let glm = model(40_000);
    let honest = Surrogate::new(expansion(&glm, None));
    assert!(honest.expansion().report().stratum > 100, "{:?}", honest.expansion().report());
    let blind = Surrogate::new(expansion(&glm, Some(0)));
    assert!(blind.expansion().report().is_blind());
    for seed in 1..=8 {
        let mut walk = chain(&blind, &settings(0, seed, 0.2));
        let found = until_contradicted(&mut walk, 16);
        println!("seed {seed}: {found:?}, z² {:.0}", walk.sampling().audits.mean_square());
        assert!(found.is_some_and(|(_, what)| what == Contradiction::Deviations), "seed {seed}: {found:?}");
        let mut walk = chain(&honest, &settings(0, seed, 0.2));
        let found = until_contradicted(&mut walk, 300);
        let audits = walk.sampling().audits;
        println!(
            "seed {seed}: z² {:.2}, {} wrong, {:.1} predicted",
            audits.mean_square(),
            audits.disagreed,
            audits.predicted
        );
        assert_eq!(found, None, "seed {seed}: {audits:?}");
        assert!(audits.mean_square() < 2.5 && audits.largest_defect < 0.2, "seed {seed}: {audits:?}");
        assert!(audits.interval().contains(audits.predicted), "seed {seed}: {audits:?}");
    }
}

/// The audits of the set-up alone, at a rate of next to nothing. Without the stratum most chains (107 of 120 when measured; 117 with eight audits from the start) tighten
/// themselves in warm-up, and a run of which only some do is not trusted; honest chains have two audits in warm-up and two afterwards, more only where those cast doubt, and never tighten. Twelve chains each, seeds fixed.
#[test]
fn the_set_up_alone_finds_a_removed_stratum() {
    let glm = model(40_000);
    let honest = Surrogate::new(expansion(&glm, None));
    let blind = Surrogate::new(expansion(&glm, Some(0)));
    let mut extra = 0;
    for seed in 1..=3 {
        let settings = settings(1_000, seed, 1e-9);
        let chain = |surrogate, number| {
            let rule = settings.rule.build(Model1::len(surrogate)).unwrap();
            Chain::new(surrogate, &settings, rule, (number, start(surrogate))).unwrap()
        };
        let mut caught = 0;
        for number in 0..4 {
            let mut walk = chain(&blind, number);
            while walk.warming() && walk.tightened().is_empty() {
                walk.step().unwrap();
            }
            // Two passes over two states each.
            let audits = walk.warmup().audit_evaluations / (4 * blind.len() as u64);
            println!(
                "seed {seed}, chain {number}: {audits} audits, {:?}",
                walk.tightened().first().map(|t| t.step)
            );
            caught += usize::from(!walk.tightened().is_empty());
            let mut walk = chain(&honest, number);
            while walk.steps() < 2_000 {
                walk.step().unwrap();
            }
            walk.settle().unwrap();
            let (before, after) = (walk.warmup().audits, walk.sampling().audits);
            println!("seed {seed}, chain {number}: {} and {} audits", before.audited, after.audited);
            assert!(before.audited.min(after.audited) >= 2 && walk.tightened().is_empty());
            assert!(after.contradiction().is_none(), "{after:?}");
            extra += before.audited + after.audited - 4;
        }
        assert!(caught >= 3, "seed {seed}: {caught}");
    }
    // Two audits of z² up to 2 in the mean cast doubt now and then.
    assert!(extra <= 12, "{extra}");
}

/// In warm-up the blind test tightens itself, to exact decisions in the end, and what is sampled then is beyond reproach.
#[test]
fn a_blind_test_tightens_itself_in_warm_up() {
    let glm = model(40_000);
    let blind = Surrogate::new(expansion(&glm, Some(0)));
    let settings = Settings { draws: 200, ..settings(600, 3, 0.2) };
    let mut walk = chain(&blind, &settings);
    while walk.warming() {
        walk.step().unwrap();
    }
    let tightened = walk.tightened().to_vec();
    assert_eq!(tightened.len(), 2, "{tightened:?}");
    assert!(tightened[0].step < tightened[1].step && tightened[0].why.contains("standard error"));
    for _ in 0..200 {
        let decision = walk.step().unwrap();
        assert!(matches!(decision.stopped, Stopped::Exhausted), "{decision:?}");
    }
    walk.settle().unwrap();
    let audits = walk.sampling().audits;
    assert!(audits.audited > 16 && audits.disagreed == 0 && audits.contradiction().is_none(), "{audits:?}");
    // The honest test has no reason to.
    let honest = Surrogate::new(expansion(&glm, None));
    let mut walk = chain(&honest, &settings);
    while walk.warming() {
        walk.step().unwrap();
    }
    assert!(walk.tightened().is_empty() && walk.warmup().audits.audited > 60);
}

/// Interrupted anywhere, in warm-up before and after a tightening and in sampling: the same draws, counts and changes.
#[test]
fn a_resumed_run_neither_loses_nor_doubles_audits() {
    let glm = model(20_000);
    let blind = Surrogate::new(expansion(&glm, Some(0)));
    let settings = Settings { draws: 100, ..settings(300, 3, 0.1) };
    let ChainCheckpoint { learnt: proposal, state, .. } = start(&blind);
    let sampler = Sampler::new(&blind, &settings, &proposal, &[state]).unwrap();
    let whole = sampler.run(&Control::new(), &mut Silent);
    assert!(whole.checkpoint.chains.iter().any(|chain| !chain.tightened.is_empty()));
    for cut in [33, 150, 290, 340] {
        let rule = settings.rule.build(blind.len()).unwrap();
        let chains = (0..2)
            .map(|number| {
                let mut walk = Chain::new(&blind, &settings, rule.clone(), (number, start(&blind))).unwrap();
                for _ in 0..cut {
                    walk.step().unwrap();
                }
                walk.settle().unwrap();
                walk.checkpoint()
            })
            .collect();
        let checkpoint = Checkpoint { chains, ..whole.checkpoint.clone() };
        let text = serde_json::to_string(&checkpoint).unwrap();
        let stored: Checkpoint<Vec<f64>, RandomWalk> = serde_json::from_str(&text).unwrap();
        let rest = Sampler::resume(&blind, &settings, stored).unwrap().run(&Control::new(), &mut Silent);
        assert_eq!(rest.checkpoint, whole.checkpoint, "after {cut} steps");
        for (all, rest) in whole.trace.chains.iter().zip(&rest.trace.chains) {
            let recorded = all.decisions.len() - rest.decisions.len();
            let (left, right) = (&all.decisions[recorded..], &rest.decisions[..]);
            assert_eq!(format!("{left:?}"), format!("{right:?}"), "after {cut} steps");
        }
    }
}
