//! Gibbs sampling of small fields against enumeration: the stationary law, the race of many values, and that ε = 0 is exact.
//!
//! Chi-square tests at level 1e-4 on draws so far apart that they are as good as independent; the seed is fixed. The
//! partners run the same test with a wrong threshold, or a hasty rule, and must be found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use austerity::population::{BlockOrder, BlockReveal};
use austerity::rng::{Role, Streams, stream};
use austerity::rule::{DecideAt as _, Exact, Law, Looks, RuleSettings, SequentialSettings};
use austerity::run::Chain;
use austerity_models::field::generate::complete;
use austerity_models::field::{Field, Neighbourhood};
use austerity_models::{Gibbs, GibbsSettings, Scan};
use rand::RngExt as _;
use rand_distr::Open01;
use statrs::distribution::{ChiSquared, ContinuousCDF as _};

const LEVEL: f64 = 1e-4;
const DRAWS: usize = 25_000;

fn sequential(step: usize, epsilon: f64) -> RuleSettings {
    let law = Law::Logistic;
    RuleSettings::Sequential(SequentialSettings { law, ..SequentialSettings::paper(step, epsilon) })
}

/// All states of a field and their probabilities.
fn enumerate(field: &Field) -> Vec<(Vec<u8>, f64)> {
    let mut states = vec![vec![]];
    for variable in 0..field.len() {
        let longer = |state: &Vec<u8>| {
            let state = state.clone();
            (0..field.values(variable)).map(move |value| [&state[..], &[value]].concat()).collect::<Vec<_>>()
        };
        states = states.iter().flat_map(longer).collect();
    }
    let logs: Vec<f64> = states.iter().map(|state| field.log_density(state).unwrap()).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
    states.into_iter().zip(logs).map(|(state, log)| (state, (log - largest).exp() / sum)).collect()
}

/// p-value of Pearson's test that `draws` come from the law; cells that expect fewer than 10 are pooled.
fn p_value(law: &[(Vec<u8>, f64)], draws: &[Vec<u8>]) -> f64 {
    let n = draws.len() as f64;
    let (mut statistic, mut cells, mut pool) = (0.0, 0, [0.0; 2]);
    for (state, probability) in law {
        let count = draws.iter().filter(|&draw| draw == state).count() as f64;
        let expected = n * probability;
        if expected < 10.0 {
            pool = [pool[0] + count, pool[1] + expected];
        } else {
            statistic += (count - expected).powi(2) / expected;
            cells += 1;
        }
    }
    if pool[1] > 0.0 {
        statistic += (pool[0] - pool[1]).powi(2) / pool[1];
        cells += 1;
    }
    ChiSquared::new(f64::from(cells - 1)).unwrap().sf(statistic)
}

/// One draw every three sweeps.
fn draws(field: &Field, settings: &GibbsSettings) -> Vec<Vec<u8>> {
    let kernel = Gibbs::new(field, settings).unwrap();
    let mut chain = Chain::start(kernel, vec![0; field.len()], (settings.seed, settings.chain));
    chain.advance(300).unwrap();
    let apart = 3 * field.len() as u64 * if settings.scan == Scan::Random { 3 } else { 1 };
    (0..DRAWS)
        .map(|_| {
            chain.advance(apart).unwrap();
            chain.state().clone()
        })
        .collect()
}

/// Weak enough that three sweeps forget: the law of the draws is what is tested, not their number.
fn binary() -> Field {
    complete(5, 2, 3, 0.5, 21).unwrap()
}

#[test]
fn the_stationary_law_is_the_field() {
    let field = binary();
    let law = enumerate(&field);
    for (scan, rule) in [
        (Scan::Systematic, RuleSettings::Exact { law: Law::Logistic }),
        (Scan::Random, RuleSettings::Exact { law: Law::Logistic }),
        (Scan::Systematic, sequential(2, 0.0)),
    ] {
        let p = p_value(&law, &draws(&field, &GibbsSettings { rule, scan, ..GibbsSettings::default() }));
        assert!(p > LEVEL, "{scan:?}: {p}");
    }
    // Two looks at two of six factors, hardly tested: a biased chain must be found out.
    let hasty = GibbsSettings { rule: sequential(2, 0.4), ..GibbsSettings::default() };
    assert!(p_value(&law, &draws(&field, &hasty)) < LEVEL);
}

/// The same chain by hand, with a threshold of the caller's: as printed in the paper (a ratio of logs) it must fail.
#[test]
fn the_printed_threshold_is_wrong() {
    let field = binary();
    let law = enumerate(&field);
    let chain = |threshold: fn(f64) -> f64| -> Vec<Vec<u8>> {
        let (mut state, mut memory) = (vec![0u8; 5], Neighbourhood::default());
        let mut order = BlockOrder::new(6, 1, 1, 0).unwrap();
        let mut rng = stream(2, 0, Role::Decision);
        let mut rule = Exact::new(Law::Logistic).unwrap();
        (0..DRAWS)
            .map(|_| {
                for variable in (0..5).cycle().take(15) {
                    let mut population = field.conditional(variable, [1, 0], &state, &mut memory).unwrap();
                    let offset = population.offset();
                    let mut cursor = BlockReveal::new(&mut population, &mut order, 0);
                    let u: f64 = rng.sample(Open01);
                    let decision = rule.decide_at(&mut cursor, offset, threshold(u)).unwrap();
                    state[variable] = u8::from(decision.accepted);
                }
                state.clone()
            })
            .collect()
    };
    assert!(p_value(&law, &chain(|u| (u / (1.0 - u)).ln())) > LEVEL);
    assert!(p_value(&law, &chain(|u| u.ln() / (1.0 - u).ln())) < LEVEL);
}

/// Three and four values beside two, own factors included.
fn mixed() -> Field {
    let mut builder = Field::builder(&[2, 3, 4, 2]).unwrap();
    let mut wave = 0.0f64;
    let mut add = |variables: &[usize], length: usize| {
        let logs: Vec<f64> = (0..length)
            .map(|_| {
                wave += 2.399_963;
                0.6 * wave.sin()
            })
            .collect();
        builder.factor(variables, &logs).unwrap();
    };
    for _ in 0..3 {
        add(&[0, 1], 6);
        add(&[2, 1], 12);
        add(&[3, 2, 0], 16);
        add(&[1, 2, 3], 24);
    }
    add(&[2], 4);
    add(&[1], 3);
    builder.build(4).unwrap()
}

#[test]
fn the_race_gives_every_value_its_probability() {
    let field = mixed();
    let settings = GibbsSettings::default();
    let mut kernel = Gibbs::new(&field, &settings).unwrap();
    let mut streams = Streams::new(5, 0);
    let start = [1u8, 2, 0, 1];
    // One conditional, from the same neighbours every time. Fresh noise in every comparison, the obvious mistake,
    // gives the last value its probability against the champion alone: the partner below.
    let exact = field.probabilities(2, &start).unwrap();
    let law: Vec<(Vec<u8>, f64)> = exact.iter().enumerate().map(|(v, &p)| (vec![v as u8], p)).collect();
    let mut step = 0;
    let found: Vec<Vec<u8>> = (0..DRAWS)
        .map(|_| {
            step += 1;
            streams.begin(step);
            let mut state = start.to_vec();
            let decision = kernel.update(2, &mut state, &mut streams).unwrap();
            assert_eq!(decision.accepted, state[2] != start[2]);
            assert_eq!((decision.looks, decision.used), (3, field.degree(2) as u64));
            vec![state[2]]
        })
        .collect();
    assert!(p_value(&law, &found) > LEVEL);
    let mut rng = stream(6, 0, Role::Decision);
    let fresh: Vec<Vec<u8>> = (0..DRAWS)
        .map(|_| {
            let duel = |champion: u8, value: u8, u: f64| {
                let ratio = (exact[usize::from(value)] / exact[usize::from(champion)]).ln();
                if ratio > Law::Logistic.threshold(u) { value } else { champion }
            };
            vec![(1..4).fold(0, |champion, value| duel(champion, value, rng.sample(Open01)))]
        })
        .collect();
    assert!(p_value(&law, &fresh) < LEVEL);
}

#[test]
fn the_stationary_law_of_many_values_is_the_field() {
    let field = mixed();
    let law = enumerate(&field);
    let p = p_value(&law, &draws(&field, &GibbsSettings::default()));
    assert!(p > LEVEL, "{p}");
    let hasty = GibbsSettings { rule: sequential(2, 0.4), ..GibbsSettings::default() };
    assert!(p_value(&law, &draws(&field, &hasty)) < LEVEL);
}

/// A first look at N, ε = 0 and the exact rule make the same chain, value by value, two values or more.
#[test]
fn without_error_the_test_is_the_exact_rule() {
    for field in [complete(30, 2, 3, 0.1, 3).unwrap(), complete(12, 3, 3, 0.2, 3).unwrap()] {
        let chain = |rule: RuleSettings, seed: u64| {
            let settings = GibbsSettings { rule, seed, ..GibbsSettings::default() };
            let kernel = Gibbs::new(&field, &settings).unwrap();
            let mut chain = Chain::start(kernel, vec![0; field.len()], (seed, 0));
            (0..3000)
                .map(|_| {
                    chain.step().unwrap();
                    chain.state().clone()
                })
                .collect::<Vec<_>>()
        };
        let exact = chain(RuleSettings::Exact { law: Law::Logistic }, 9);
        assert_eq!(chain(sequential(10, 0.0), 9), exact);
        assert_eq!(chain(sequential(10_000, 0.1), 9), exact);
        // Read in blocks to the end, every look refused by a bound that no statistic passes.
        let strict = SequentialSettings {
            law: Law::Logistic,
            looks: Looks::constant(32),
            ..SequentialSettings::constant(32, 1e-300)
        };
        assert_eq!(chain(RuleSettings::Sequential(strict), 9), exact);
        assert_ne!(chain(sequential(10, 0.3), 9), exact);
        assert_ne!(chain(RuleSettings::Exact { law: Law::Logistic }, 10), exact);
    }
}

#[test]
fn a_step_is_a_function_of_seed_chain_step_and_state() {
    let field = complete(40, 2, 3, 0.1, 3).unwrap();
    let settings = GibbsSettings { rule: sequential(100, 0.05), chain: 3, ..GibbsSettings::default() };
    let mut chain = Chain::start(Gibbs::new(&field, &settings).unwrap(), vec![1; 40], (1, 3));
    chain.advance(500).unwrap();
    let (mut kernel, mut streams) = (Gibbs::new(&field, &settings).unwrap(), Streams::new(1, 3));
    let mut state = chain.state().clone();
    for step in 500..600 {
        use austerity::kernel::Kernel as _;
        chain.step().unwrap();
        streams.begin(step);
        kernel.step(&mut state, &mut streams).unwrap();
        assert_eq!(&state, chain.state());
    }
    assert_eq!(chain.sampling().steps, 600);
    assert!(chain.sampling().data_share(field.degree(0)) < 1.0);
}

#[test]
fn variables_without_factors_and_wrong_laws() {
    let mut builder = Field::builder(&[2, 3, 2]).unwrap();
    builder.factor(&[0], &[0.0, 1.5]).unwrap().factor(&[1], &[0.0, 1.0, -1.0]).unwrap();
    let field = builder.build(1).unwrap();
    let p = p_value(&enumerate(&field), &draws(&field, &GibbsSettings::default()));
    assert!(p > LEVEL, "{p}");
    for law in [Law::Metropolis, Law::Compensated { lambda: 1.2 }] {
        let settings = GibbsSettings { rule: RuleSettings::Exact { law }, ..GibbsSettings::default() };
        assert!(Gibbs::new(&field, &settings).unwrap_err().to_string().contains("logistic"));
    }
    let mut chain = Chain::start(Gibbs::new(&field, &GibbsSettings::default()).unwrap(), vec![0; 2], (1, 0));
    assert!(chain.step().is_err());
}
