//! Certified decisions are those of the exact rule, step by step on the same streams, and most of them read nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use austerity::kernel::{Kernel, Metropolis};
use austerity::model::Model;
use austerity::population::BlockOrder;
use austerity::proposal::{Proposal, RandomWalk};
use austerity::rng::{Role, Streams, stream};
use austerity::rule::{Law, RuleSettings, Stopped};
use austerity::run::Counters;
use austerity_glm::glm::Family;
use austerity_glm::glm::expansion::{CertificateSettings, ExpansionSettings, GlmExpansion};
use austerity_glm::proposal::CrankNicolson;
use austerity_glm::{Data, Expansion as _, Glm, Logistic, Poisson, Prior, Surrogate, generate};
use rand_distr::{Distribution as _, StandardNormal, StudentT};

const CERTIFIED: RuleSettings = RuleSettings::Certified { law: Law::Metropolis };

fn surrogate<F: Family>(
    family: F,
    data: Data,
    stratum: Option<usize>,
    certificate: bool,
) -> Surrogate<GlmExpansion<F>> {
    let data = data.check(family.kind()).unwrap();
    let model = Glm::new(family, &data, vec![Prior::student(3.0, 1.0); data.coefficients()]).unwrap();
    let settings = ExpansionSettings { stratum_rows: stratum, ..ExpansionSettings::default() };
    let expansion = GlmExpansion::new(&model, &vec![0.0; data.coefficients()], &settings).unwrap();
    let settings = CertificateSettings::default();
    Surrogate::new(if certificate { expansion.with_certificate(&settings).unwrap() } else { expansion })
}

/// Whether each step was accepted, where the chain ended, and the counts.
fn chain<F: Family, P: Proposal<Vec<f64>> + Clone>(
    model: &Surrogate<GlmExpansion<F>>,
    rule: &RuleSettings,
    proposal: &P,
    start: &[f64],
    steps: u64,
) -> (Vec<bool>, Vec<f64>, Counters) {
    let mut state = start.to_vec();
    let order = BlockOrder::new(model.len(), 32, 5, 0).unwrap();
    let rule = rule.build(model.len()).unwrap();
    let mut kernel = Metropolis::new(model, proposal.clone(), rule, order, &state).unwrap();
    let mut streams = Streams::new(5, 0);
    let mut counters = Counters::default();
    let accepted = (0..steps).map(|step| {
        streams.begin(step);
        let decision = kernel.step(&mut state, &mut streams).unwrap();
        if decision.stopped == Stopped::Certified {
            assert!(decision.read < model.len() as u64);
        }
        counters.count(&decision);
        decision.accepted
    });
    (accepted.collect(), state, counters)
}

/// Runs both rules with independent draws and with a random walk; the counts of the certified one.
fn compare<F: Family>(model: &Surrogate<GlmExpansion<F>>, steps: u64) -> [Counters; 2] {
    let expansion = model.expansion();
    let (mode, covariance) = (expansion.mode(), expansion.covariance());
    let d = mode.len();
    let sd = covariance.iter().step_by(d + 1).fold(f64::INFINITY, |least, v| least.min(v.sqrt()));
    let draws = CrankNicolson::new(mode, covariance, 0.0).unwrap();
    let walk = RandomWalk::isotropic(d, sd).unwrap();
    [compare_with(model, &draws, steps), compare_with(model, &walk, steps)]
}

fn compare_with<F: Family, P: Proposal<Vec<f64>> + Clone>(
    model: &Surrogate<GlmExpansion<F>>,
    proposal: &P,
    steps: u64,
) -> Counters {
    let start = model.expansion().mode();
    let exact = chain(model, &RuleSettings::default(), proposal, start, steps);
    let certified = chain(model, &CERTIFIED, proposal, start, steps);
    assert_eq!(certified.0, exact.0);
    assert_eq!(certified.1, exact.1);
    let share = exact.2.acceptance();
    assert!((0.05..0.999).contains(&share), "{share}");
    certified.2
}

fn unread(counters: &Counters) -> f64 {
    (counters.certified[0] + counters.certified[1]) as f64 / counters.steps as f64
}

/// Columns with heavy tails: a few rows hold most of what the expansion leaves.
fn heavy(rows: usize) -> Data {
    let mut rng = stream(11, 0, Role::Data);
    let student = StudentT::new(2.5).unwrap();
    let columns: Vec<Vec<f64>> =
        (0..4).map(|_| (0..rows).map(|_| student.sample(&mut rng)).collect()).collect();
    let response = (0..rows).map(|i| {
        let noise: f64 = StandardNormal.sample(&mut rng);
        f64::from(0.3 * columns[0][i] - 0.2 * columns[1][i] + 1.7 * noise > 0.0)
    });
    let response = response.collect();
    Data::new(["a", "b", "c", "d"], columns, response)
}

#[test]
fn logistic_decisions_are_exact() {
    let all: &[Option<usize>] = &[Some(0), None, Some(300)];
    for (rows, steps, strata) in [(2000, 3000, all), (10_000, 800, all), (50_000, 500, &[None])] {
        for &stratum in strata {
            let data = generate::logistic(rows, 4).correlated(true).build().unwrap().data;
            let counts = compare(&surrogate(Logistic, data, stratum, true), steps);
            assert!(counts.iter().all(|counters| unread(counters) > 0.5), "{rows} {stratum:?} {counts:?}");
        }
    }
}

#[test]
fn rare_features_are_left_to_the_stratum() {
    let data = generate::logistic(20_000, 4).rare(3).build().unwrap().data;
    for stratum in [None, Some(0)] {
        let model = surrogate(Logistic, data.clone(), stratum, true);
        compare(&model, 1000);
    }
}

#[test]
fn poisson_decisions_are_exact() {
    for (rows, steps) in [(2000, 3000), (30_000, 500)] {
        for stratum in [Some(0), None] {
            let data = generate::of(Poisson, rows, 4).build().unwrap().data;
            let counts = compare(&surrogate(Poisson, data, stratum, true), steps);
            assert!(counts.iter().all(|counters| unread(counters) > 0.5), "{rows} {stratum:?} {counts:?}");
        }
    }
}

/// Where few blocks hold most of the bound, reading them settles what the bounds of all leave open.
#[test]
fn heavy_blocks_are_read_first() {
    let model = surrogate(Logistic, heavy(30_000), Some(0), true);
    let counts = compare(&model, 1000);
    assert!(counts.iter().all(|counters| counters.certified[2] > 20), "{counts:?}");
}

/// Nine of ten decisions at least read no row; the bound of the second order alone settles most.
#[test]
fn large_data_are_hardly_read() {
    let data = generate::logistic(200_000, 4).build().unwrap().data;
    let model = surrogate(Logistic, data, None, true);
    let expansion = model.expansion();
    let draws = CrankNicolson::new(expansion.mode(), expansion.covariance(), 0.0).unwrap();
    let (_, _, counters) = chain(&model, &CERTIFIED, &draws, expansion.centre(), 5000);
    assert!(unread(&counters) > 0.99, "{counters:?}");
    assert!(counters.certified[0] > counters.steps / 2);
    assert!(counters.data_share(model.len()) < 0.01);
}

/// Far from the centre and without a certificate every row is read, and the decisions are still those of the exact rule.
#[test]
fn without_a_bound_every_row_is_read() {
    let data = generate::logistic(5000, 4).build().unwrap().data;
    let model = surrogate(Logistic, data.clone(), None, true);
    let expansion = model.expansion();
    let d = expansion.dimension();
    let far: Vec<f64> = expansion.centre().iter().map(|c| c + 1.5).collect();
    let walk = RandomWalk::isotropic(d, 0.01).unwrap();
    let exact = chain(&model, &RuleSettings::default(), &walk, &far, 40);
    let certified = chain(&model, &CERTIFIED, &walk, &far, 40);
    assert_eq!((&certified.0, &certified.1), (&exact.0, &exact.1));
    assert_eq!(certified.2.exhausted, 40);
    // An expansion without bounds has a limit, which settles most decisions as all rows would; the others read them.
    let plain = surrogate(Logistic, data, None, false);
    let draws = CrankNicolson::new(expansion.mode(), expansion.covariance(), 0.0).unwrap();
    let exact = chain(&plain, &RuleSettings::default(), &draws, expansion.centre(), 500);
    let limited = chain(&plain, &CERTIFIED, &draws, expansion.centre(), 500);
    assert_eq!((&limited.0, &limited.1), (&exact.0, &exact.1));
    assert_eq!(exact.2.exhausted, 500);
    assert_eq!(limited.2.exhausted + limited.2.certified[0], 500);
    assert!(limited.2.certified[0] > 400, "{:?}", limited.2);
}

/// Shares settled by each stage, for the record: `cargo nextest run --test certified --run-ignored all -E 'test(shares)' --no-capture`.
#[test]
#[ignore = "minutes: a table for the record"]
fn on_demand_shares_settled_by_each_stage() {
    for rows in [100_000, 1_000_000] {
        let data = generate::logistic(rows, 19).correlated(true).build().unwrap().data;
        let model = surrogate(Logistic, data, None, false);
        let begun = std::time::Instant::now();
        let settings = CertificateSettings { threads: 1, ..CertificateSettings::default() };
        let expansion = model.expansion().clone().with_certificate(&settings).unwrap();
        let build = begun.elapsed().as_secs_f64();
        let model = Surrogate::new(expansion);
        let expansion = model.expansion();
        for correlation in [0.0, 0.9] {
            let (mode, covariance) = (expansion.mode(), expansion.covariance());
            let draws = CrankNicolson::new(mode, covariance, correlation).unwrap();
            let steps = 20_000;
            let begun = std::time::Instant::now();
            let (_, _, c) = chain(&model, &CERTIFIED, &draws, expansion.centre(), steps);
            let each = begun.elapsed().as_secs_f64() / steps as f64;
            let share = |count: u64| 100.0 * count as f64 / steps as f64;
            println!(
                "N {rows} d {} ρ {correlation}: second {:.2} % third {:.2} % heads {:.2} % all {:.2} %; accepted {:.3}, rows a decision {:.0}, {:.2} µs each; built in {build:.2} s",
                expansion.dimension(),
                share(c.certified[0]),
                share(c.certified[1]),
                share(c.certified[2]),
                share(c.exhausted),
                c.acceptance(),
                c.read as f64 / steps as f64,
                1e6 * each,
            );
        }
    }
}
