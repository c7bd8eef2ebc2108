//! Draws handed over while chains run, and audits: nothing of either changes a draw.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use austerity::model::find_mode;
use austerity::proposal::{AnyProposal, RandomWalk};
use austerity::rule::{RuleSettings, SequentialSettings, Stopped};
use austerity::run::{
    ChainTrace, Checkpoint, Control, Ended, MetropolisSampler, Part, Run, Sampler, Settings, Silent, Sink,
    Trace,
};
use austerity::theory::{Accuracy, ErrorTable, TestPlan, TestWalk};
use austerity_glm::{Glm, Logistic, ResponseKind, generate};

type State = Vec<f64>;

fn model(rows: usize) -> Glm<Logistic> {
    let data = generate::logistic(rows, 3).seed(5).build().unwrap().data.check(ResponseKind::Binary).unwrap();
    let priors = data.default_priors();
    Glm::new(Logistic, &data, priors).unwrap()
}

fn settings(draws: u64) -> Settings {
    Settings {
        chains: 3,
        warmup: 40,
        draws,
        seed: 4,
        threads: 2,
        rule: RuleSettings::Sequential(SequentialSettings::paper(64, 0.05)),
        ..Settings::default()
    }
}

fn sampler<'m>(
    model: &'m Glm<Logistic>,
    settings: &Settings,
) -> MetropolisSampler<'m, Glm<Logistic>, AnyProposal> {
    let mode = find_mode(model, &[0.0; 4]).unwrap();
    let walk: AnyProposal = RandomWalk::for_posterior(4, &mode.covariance).unwrap().into();
    Sampler::new(model, settings, &walk, &[mode.state]).unwrap()
}

/// Keeps all parts, and slows the run so that there are many.
#[derive(Default)]
struct Shelf {
    parts: Vec<Part<State, AnyProposal>>,
}

impl Sink<State, AnyProposal> for Shelf {
    fn take(&mut self, part: Part<State, AnyProposal>) -> Result<(), String> {
        self.parts.push(part);
        Ok(())
    }
}

impl Shelf {
    /// The draws of the first `parts` parts, chain by chain.
    fn trace(&self, parts: usize, names: &[String]) -> Trace {
        let mut trace = Trace { names: names.to_vec(), chains: vec![ChainTrace::default(); 3] };
        for part in &self.parts[..parts] {
            trace.chains[part.chain].values.extend(&part.draws.values);
            trace.chains[part.chain].decisions.extend(&part.draws.decisions);
        }
        trace
    }
}

#[test]
#[ignore = "second tier: long"]
fn the_draws_of_a_sink_are_those_of_the_run_and_every_part_can_be_resumed() {
    let model = model(20_000);
    let settings = settings(6_000);
    let whole = sampler(&model, &settings).run(&Control::new(), &mut Silent);
    let mut shelf = Shelf::default();
    let run = sampler(&model, &settings).run_into(&mut shelf, &Control::new(), &mut Silent);
    assert_eq!(run.ended, Ended::Draws);
    assert!(run.trace.is_empty());
    assert_eq!(run.checkpoint, whole.checkpoint);
    let names = whole.trace.names.clone();
    assert!(shelf.trace(shelf.parts.len(), &names) == whole.trace);
    // Killed after any part: the last checkpoint of each chain continues after exactly its stored draws.
    let mut resumed = 0;
    for cut in (0..shelf.parts.len()).step_by(shelf.parts.len().div_ceil(4)) {
        let mut chains = Vec::new();
        for chain in 0..3 {
            let stored = shelf.parts[..cut].iter().rev().find(|part| part.chain == chain);
            chains.extend(stored.map(|part| part.checkpoint.clone()));
        }
        if chains.len() < 3 {
            continue;
        }
        resumed += 1;
        let checkpoint = Checkpoint { chains, ..whole.checkpoint.clone() };
        let next = Sampler::resume(&model, &settings, checkpoint).unwrap().run(&Control::new(), &mut Silent);
        let mut joined = shelf.trace(cut, &names);
        joined.append(next.trace);
        assert!(joined == whole.trace, "after {cut} parts");
    }
    assert!(resumed > 0, "{} parts are too few to test anything", shelf.parts.len());
}

#[test]
fn a_target_ess_sees_the_draws_that_went_to_the_sink() {
    let model = model(2_000);
    let mut wanted = settings(50_000);
    wanted.limits.target_ess = Some(150.0);
    let whole = sampler(&model, &wanted).run(&Control::new(), &mut Silent);
    let mut shelf = Shelf::default();
    let run = sampler(&model, &wanted).run_into(&mut shelf, &Control::new(), &mut Silent);
    assert_eq!(run.ended, Ended::TargetEss);
    assert!(shelf.trace(shelf.parts.len(), &whole.trace.names) == whole.trace);
}

struct Full {
    left: usize,
    panics: bool,
}

impl Sink<State, AnyProposal> for Full {
    fn take(&mut self, _part: Part<State, AnyProposal>) -> Result<(), String> {
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None if self.panics => panic!("the writer broke"),
            None => return Err("disk full".into()),
        };
        Ok(())
    }
}

#[test]
fn a_sink_that_fails_ends_the_run_in_words() {
    let model = model(20_000);
    for panics in [false, true] {
        let mut full = Full { left: 1, panics };
        let run: Run<State, AnyProposal> =
            sampler(&model, &settings(100_000_000)).run_into(&mut full, &Control::new(), &mut Silent);
        let Ended::Unstored { error } = &run.ended else { panic!("{:?}", run.ended) };
        let message = error.to_string();
        assert!(message.contains(if panics { "the writer broke" } else { "disk full" }), "{message}");
        assert!(run.warnings(&[])[0].contains("could not be stored"));
    }
}

#[test]
fn audits_change_no_draw_and_exact_decisions_agree_with_theirs() {
    let model = model(5_000);
    let plain = sampler(&model, &settings(400)).run(&Control::new(), &mut Silent);
    let audited = Settings { audit: 0.3, ..settings(400) };
    let run = sampler(&model, &audited).run(&Control::new(), &mut Silent);
    for (a, b) in plain.trace.chains.iter().zip(&run.trace.chains) {
        assert_eq!(a.values, b.values);
    }
    let (counters, audits) = (run.counters(), run.counters().audits);
    assert!(run.warmup_counters().audits.audited > 20);
    assert_eq!(plain.counters().audits.audited, 0);
    // 1,200 decisions at 30 %: within 5 standard deviations of 360 (false alarm 6e-7).
    assert!(audits.audited.abs_diff(360) < 80, "{}", audits.audited);
    let recorded = run.trace.chains.iter().flat_map(|c| &c.decisions).filter(|d| d.audit.is_some()).count();
    assert_eq!(recorded as u64, audits.audited);
    assert_eq!(counters.audit_evaluations, audits.deviating * 2 * 5_000);

    let exact = Settings { rule: RuleSettings::default(), audit: 1.0, ..settings(100) };
    let run = sampler(&model, &exact).run(&Control::new(), &mut Silent);
    let counters = run.counters();
    assert_eq!((counters.audits.audited, counters.audits.disagreed, counters.audit_evaluations), (300, 0, 0));
}

/// Every audited decision knows μ, σ and its threshold, so the theory predicts its chance to be wrong: the sum over the
/// audits must be the number of disagreements. Seed fixed; bounds of 4.5 standard deviations: false alarm 7e-6.
#[test]
fn audits_disagree_as_often_as_the_theory_says() {
    let rows = 5_000;
    let model = model(rows);
    let settings = Settings { audit: 1.0, ..settings(3_000) };
    let run = sampler(&model, &settings).run(&Control::new(), &mut Silent);
    let RuleSettings::Sequential(test) = &settings.rule else { unreachable!() };
    let plan = TestPlan::of_settings(test, rows).unwrap();
    let table = ErrorTable::new(&TestWalk::new(plan, Accuracy::Fast), Accuracy::Fast);
    let (mut predicted, mut variance, mut seen, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for decision in run.trace.chains.iter().flat_map(|chain| &chain.decisions) {
        let audit = decision.audit.unwrap();
        let drift = (audit.mean - decision.threshold) * (rows as f64 - 1.0).sqrt() / audit.sd;
        let error = table.outcome(drift).error;
        predicted += error;
        variance += error * (1.0 - error);
        seen += f64::from(u8::from(audit.accepted != decision.accepted));
        if decision.stopped != Stopped::Exhausted {
            squares += audit.deviation * audit.deviation;
        }
    }
    assert!(
        (seen - predicted).abs() < 4.5 * f64::sqrt(variance),
        "{seen} disagreements, {predicted:.1} predicted"
    );
    assert!(seen > 100.0, "too few to tell: {seen}");
    // Stopped decisions are selected: their deviations are larger than 1 but of its order.
    let audits = run.counters().audits;
    let spread = (squares / audits.deviating as f64).sqrt();
    assert!((0.8..2.0).contains(&spread), "{spread}");
    // The chains have counted the same, their prediction averaged over the threshold: so has the run's verdict.
    assert_eq!(audits.disagreed as f64, seen);
    assert!((audits.mean_square().sqrt() - spread).abs() < 1e-9);
    assert!((audits.predicted / predicted - 1.0).abs() < 0.15, "{} {predicted}", audits.predicted);
    assert!(
        audits.contradiction().is_none()
            && audits.mean_delta().abs() < audits.predicted / audits.audited as f64
    );
}

#[test]
fn recording_some_draws_changes_none() {
    let model = model(5_000);
    let all = Settings { audit: 0.2, ..settings(1_200) };
    let whole = sampler(&model, &all).run(&Control::new(), &mut Silent);
    let some = Settings { record_every: 5, ..all.clone() };
    let thinned = sampler(&model, &some).run(&Control::new(), &mut Silent);
    assert_eq!(thinned.checkpoint.chains, whole.checkpoint.chains);
    let every = |chain: &ChainTrace| ChainTrace {
        values: chain.values.chunks_exact(4).skip(4).step_by(5).flatten().copied().collect(),
        decisions: chain.decisions.iter().skip(4).step_by(5).copied().collect(),
    };
    for (whole, thinned) in whole.trace.chains.iter().zip(&thinned.trace.chains) {
        assert_eq!(thinned.len(), 240);
        assert!(*thinned == every(whole), "draws or their audits differ");
    }
}
