//! Regressions that are resumed: the draws, decisions and counts of an uninterrupted run, and no other data or priors.

use austerity::model::Parameters;
use austerity::proposal::{AnyProposal, RandomWalk};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Control, Ended, Sampler, Settings, Silent, Trace};
use austerity_glm::{Glm, Linear, Logistic, Noise, Prior, ResponseKind, generate};

fn settings() -> Settings {
    let rule = RuleSettings::Sequential(SequentialSettings::constant(64, 0.05));
    Settings { chains: 4, warmup: 150, draws: 200, seed: 9, threads: 2, rule, ..Settings::default() }
}

/// Every bit of all draws and decisions, NaN included.
fn text(trace: &Trace) -> String {
    serde_json::to_string(trace).unwrap()
}

/// The same for regressions, whose exact scans keep a cache that a resumed run must fill anew, counts included.
#[test]
fn a_resumed_regression_is_the_uninterrupted_one() {
    let made = generate::logistic(700, 2).seed(3).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let logistic = Glm::new(Logistic, &data, data.default_priors()).unwrap();
    let made = generate::linear(700, 2).seed(3).build().unwrap();
    let data = made.data.check(ResponseKind::Real).unwrap();
    let linear = Linear::new(&data, data.default_priors(), Noise::default()).unwrap();
    for rule in [
        RuleSettings::default(),
        settings().rule,
        RuleSettings::Sequential(SequentialSettings::paper(50, 0.05)),
    ] {
        resume_everywhere(&logistic, &rule, 3);
        resume_everywhere(&linear, &rule, 4);
    }
}

fn resume_everywhere(model: &impl Parameters<State = Vec<f64>>, rule: &RuleSettings, dimension: usize) {
    let walk: AnyProposal = RandomWalk::isotropic(dimension, 0.05).unwrap().into();
    let all = Settings { chains: 2, warmup: 20, draws: 60, rule: rule.clone(), ..settings() };
    let start = [vec![0.0; dimension]];
    let whole = Sampler::new(model, &all, &walk, &start).unwrap().run(&Control::new(), &mut Silent);
    assert_eq!(whole.ended, Ended::Draws);
    for cut in [1, 7, 33, 59] {
        let part = Settings { draws: cut, ..all.clone() };
        let first = Sampler::new(model, &part, &walk, &start).unwrap().run(&Control::new(), &mut Silent);
        let mut trace = first.trace;
        let next = Sampler::resume(model, &all, first.checkpoint).unwrap().run(&Control::new(), &mut Silent);
        trace.append(next.trace);
        assert_eq!(text(&trace), text(&whole.trace), "cut at {cut} under {rule:?}");
        assert_eq!(next.checkpoint, whole.checkpoint, "cut at {cut} under {rule:?}");
    }
    // A trace survives text, NaN included (a closed form has no sd).
    let read: Trace = serde_json::from_str(&text(&whole.trace)).unwrap();
    assert_eq!(text(&read), text(&whole.trace));
    for (read, written) in read.chains.iter().zip(&whole.trace.chains) {
        assert!(read.values.iter().map(|v| v.to_bits()).eq(written.values.iter().map(|v| v.to_bits())));
    }
}

#[test]
fn other_data_or_priors_are_refused() {
    let model = |seed, sd| {
        let made = generate::logistic(300, 1).seed(seed).build().unwrap();
        let data = made.data.check(ResponseKind::Binary).unwrap();
        Glm::new(Logistic, &data, vec![Prior::normal(sd); 2]).unwrap()
    };
    let walk: AnyProposal = RandomWalk::isotropic(2, 0.1).unwrap().into();
    let first = Sampler::new(&model(1, 1.0), &settings(), &walk, &[vec![0.0; 2]])
        .unwrap()
        .run(&Control::new(), &mut Silent);
    assert!(Sampler::resume(&model(1, 1.0), &settings(), first.checkpoint.clone()).is_ok());
    for other in [model(2, 1.0), model(1, 2.0)] {
        let Err(error) = Sampler::resume(&other, &settings(), first.checkpoint.clone()) else {
            panic!("accepted")
        };
        assert!(error.to_string().contains("fingerprint"), "{error}");
    }
}
