//! Reports to test with: of real, short runs.

use austerity::diagnostics::Summary;
use austerity::model::find_mode;
use austerity::proposal::{AnyProposal, RandomWalk};
use austerity::rule::{Law, RuleSettings, SequentialSettings};
use austerity::run::{Control, Sampler, Settings, Silent};
use austerity::theory::TestPlan;
use austerity_glm::glm::{Glm, Logistic};
use austerity_glm::{ResponseKind, generate};

use crate::report::{Meaning, ParameterDraws, PlannedTest, Report, Verdict};

/// A run on generated logistic data with a sequential rule: `features` and an intercept, four chains.
pub(super) fn logistic(features: usize, draws: u64) -> Report {
    let rows = 20_000;
    let data = generate::logistic(rows, features).seed(3).build().unwrap().data;
    let data = data.shuffle(3).check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, data.default_priors()).unwrap();
    let mode = find_mode(&model, &vec![0.0; features + 1]).unwrap();
    let walk: AnyProposal = RandomWalk::for_posterior(features + 1, &mode.covariance).unwrap().into();
    let test = SequentialSettings::constant(800, 0.01);
    let settings =
        Settings { draws, warmup: 200, rule: RuleSettings::Sequential(test.clone()), ..Settings::default() };
    let run = Sampler::new(&model, &settings, &walk, std::slice::from_ref(&mode.state))
        .unwrap()
        .run(&Control::new(), &mut Silent);
    let summary = run.summary();
    let warnings = run.warnings(&summary);
    let decisions = || run.trace.chains.iter().map(|chain| &chain.decisions);
    let kappas = decisions().flatten().map(|d| d.sd * (rows as f64).sqrt()).filter(|k| k.is_finite());
    let mut sentences = warnings.clone();
    sentences
        .push(format!("A decision read {:.1} % of the {rows} rows on average.", 100.0 * run.data_share()));
    Report {
        title: "run".into(),
        about: vec![format!("Logistic regression, {rows} rows.")],
        checks: vec![["chains", "1.002", "1.01", "passed", "largest R-hat of 4 chains"].map(String::from)],
        meaning: Meaning {
            effect: Some("change of the log odds"),
            apart: vec!["intercept".into()],
            ..Meaning::default()
        },
        verdict: if warnings.is_empty() { Verdict::Trusted } else { Verdict::Untrusted },
        sentences,
        parameters: (0..run.trace.names.len())
            .map(|index| ParameterDraws {
                name: run.trace.names[index].clone(),
                chains: run.trace.parameter(index),
            })
            .collect(),
        summary,
        chain_numbers: (0..4).collect(),
        draws,
        data_used: decisions().map(|c| c.iter().map(|d| d.used as f64 / rows as f64).collect()).collect(),
        accepted: decisions().map(|c| c.iter().map(|d| d.accepted).collect()).collect(),
        groups: None,
        test: Some(PlannedTest {
            plan: TestPlan::of_settings(&test, rows).unwrap(),
            law: Law::Metropolis,
            kappas: kappas.collect(),
        }),
        after: Vec::new(),
        settings: vec![
            (
                "Data".into(),
                vec![("rows".into(), rows.to_string()), ("features".into(), features.to_string())],
            ),
            (
                "Decision".into(),
                vec![
                    ("rule".into(), "sequential".into()),
                    ("ε".into(), "0.01".into()),
                    ("first look".into(), "800".into()),
                ],
            ),
            (
                "Length".into(),
                vec![("draws per chain".into(), draws.to_string()), ("warm-up".into(), "200".into())],
            ),
        ],
        made: format!("austerity {} · made by a test", env!("CARGO_PKG_VERSION")),
    }
}

/// A report of given draws and nothing else.
pub(super) fn of_draws(parameters: &[(&str, Vec<Vec<f64>>)]) -> Report {
    let chains = parameters.first().map_or(0, |(_, chains)| chains.len());
    let draws = parameters.first().and_then(|(_, chains)| chains.first()).map_or(0, Vec::len);
    let summary = parameters.iter().map(|(name, chains)| {
        let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        Summary::new(*name, &chains)
    });
    Report {
        title: "draws".into(),
        about: Vec::new(),
        checks: Vec::new(),
        meaning: Meaning::default(),
        verdict: Verdict::Untrusted,
        sentences: Vec::new(),
        summary: summary.collect(),
        parameters: parameters
            .iter()
            .map(|(name, chains)| ParameterDraws { name: (*name).into(), chains: chains.clone() })
            .collect(),
        chain_numbers: (0..chains as u32).collect(),
        draws: draws as u64,
        data_used: Vec::new(),
        accepted: Vec::new(),
        groups: None,
        test: None,
        after: Vec::new(),
        settings: Vec::new(),
        made: String::new(),
    }
}

/// Noise of a fixed seed: the least compressible path.
pub(super) fn noise(length: usize, mut state: u64) -> Vec<f64> {
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        })
        .collect()
}
