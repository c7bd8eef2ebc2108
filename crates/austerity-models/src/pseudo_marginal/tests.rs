//! Both estimators are unbiased, by enumeration of everything that can happen; a biased one is found out. Chains sample the posterior, by way of signs.

use super::*;
use austerity::model::from_fn;
use austerity::proposal::RandomWalk;
use austerity::rng::{Role, stream};
use austerity::run::{Checkpoint, Control, Run, Sampler, Settings, Silent};
use austerity_glm::glm::Logistic;
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity_glm::{Data, Glm, Prior, ResponseKind, Surrogate};

/// Totals of the batches of a population, all equally likely: their mean is D.
const TOTALS: [f64; 3] = [-1.9, 0.4, 1.2];
const D: f64 = -0.1;

/// P(count batches).
fn probability(estimator: &Estimator, count: usize) -> f64 {
    let r = estimator.rate;
    match estimator.series {
        Series::Poisson => (1..=count).fold((-r).exp(), |p, j| p * r / j as f64),
        Series::KennedyBhanot => {
            let on = |j: usize| (r / j as f64).min(1.0);
            (1..=count).map(on).product::<f64>() * (1.0 - on(count + 1))
        }
        Series::PlugIn => f64::from(u8::from(count == 1)),
    }
}

/// E[estimate] over all sequences of up to `most` batches.
fn expected(estimator: &Estimator, most: usize) -> f64 {
    let mut all = 0.0;
    for count in 0..=most {
        let sequences = TOTALS.len().pow(count as u32);
        let mut sum = 0.0;
        for code in 0..sequences {
            let digit = |j: u32| TOTALS[code / TOTALS.len().pow(j) % TOTALS.len()];
            let totals: Vec<f64> = (0..count as u32).map(digit).collect();
            sum += estimator.of(&totals).value();
        }
        all += probability(estimator, count) * sum / sequences as f64;
    }
    all
}

/// Exact up to the sequences of more than eleven batches, which have less than 1e-7 of the expectation.
#[test]
fn estimators_are_unbiased_by_enumeration() {
    for rate in [0.7, 1.0, 1.5] {
        for centre in [0.0, -0.3] {
            for estimator in [Estimator::poisson(rate).unwrap(), Estimator::kennedy_bhanot(rate).unwrap()] {
                let estimator = estimator.centred(centre).unwrap();
                let found = expected(&estimator, 11);
                assert!((found / D.exp() - 1.0).abs() < 1e-5, "{estimator:?}: {found} for {}", D.exp());
            }
        }
    }
    let biased = expected(&Estimator { series: Series::PlugIn, rate: 1.0, centre: 0.0 }, 1);
    assert!(biased / D.exp() > 1.5, "the plug-in estimate must be found out: {biased}");
}

/// How many batches are drawn, against the law that the enumeration assumes: ten counts within 4.5 sds (false alarms: 1 in 7,000 for all).
#[test]
fn batches_have_their_law() {
    let fits = |drawn: &Estimator, law: &Estimator| {
        let mut rng = stream(5, 0, Role::Decision);
        let mut counts = [0u32; 5];
        let draws = 40_000;
        for _ in 0..draws {
            let count = drawn.draw_batches(&mut rng) as usize;
            if count < counts.len() {
                counts[count] += 1;
            }
        }
        (0..counts.len()).all(|count| {
            let p = probability(law, count);
            let sd = (f64::from(draws) * p * (1.0 - p)).sqrt();
            (f64::from(counts[count]) - f64::from(draws) * p).abs() <= 4.5 * sd
        })
    };
    let (poisson, roulette) = (Estimator::poisson(1.5).unwrap(), Estimator::kennedy_bhanot(1.5).unwrap());
    assert!(fits(&poisson, &poisson) && fits(&roulette, &roulette));
    assert!(!fits(&poisson, &roulette) && !fits(&Estimator::poisson(1.6).unwrap(), &poisson));
}

#[test]
fn large_numbers_are_held_as_logarithms() {
    let poisson = Estimator::poisson(4.0).unwrap().centred(-1e5).unwrap();
    assert_eq!(poisson.of(&[]).log, -1e5);
    let roulette = Estimator::kennedy_bhanot(3.0).unwrap();
    let estimate = roulette.of(&[-1e200, 1e200, 1e200]);
    assert!(
        estimate.negative && (estimate.log - (1e200f64.ln() * 3.0 - 6f64.ln())).abs() < 1e-9,
        "{estimate:?}"
    );
    // 1 − 1: nothing is left, and it stays nothing.
    assert_eq!(roulette.of(&[-1.0]).log, f64::NEG_INFINITY);
}

const ROWS: usize = 24;

fn value(row: usize) -> f64 {
    1.0 + 1.3 * ((row * 7 % ROWS) as f64 / ROWS as f64 - 0.5)
}

fn centre() -> f64 {
    (0..ROWS).map(value).sum::<f64>() / ROWS as f64
}

/// The mean of normal values under a prior that is flat within three posterior standard deviations: beyond, estimates are all sign.
fn means() -> impl Parameters<State = Vec<f64>> {
    let prior = |mean: &[f64]| {
        if (mean[0] - centre()).powi(2) * (ROWS as f64) < 9.0 { 0.0 } else { f64::NEG_INFINITY }
    };
    from_fn(ROWS, 1, prior, |mean: &[f64], row| -0.5 * (value(row) - mean[0]).powi(2)).unwrap()
}

/// Variance of a standard normal within three standard deviations.
const VARIANCE: f64 = 0.973_33;

type Walked = Run<Estimated<Vec<f64>>, (RandomWalk, Rejections)>;
type Stopped = Checkpoint<Estimated<Vec<f64>>, (RandomWalk, Rejections)>;

fn walked(estimator: Estimator, draws: u64, from: Option<Stopped>) -> Walked {
    let model = means();
    let settings = PseudoMarginalSettings { estimator, blocks: 5, block_rows: 1 };
    let run = Settings { chains: 2, draws, warmup: 0, seed: 4, ..Settings::default() };
    let centre = vec![centre()];
    let target = WithSign(&model);
    let sampler = match from {
        None => {
            let walk = RandomWalk::isotropic(1, 0.5).unwrap();
            let starts = [Estimated::start(centre.clone())];
            Sampler::with_kernels(&target, &run, &starts, |_, _| {
                PseudoMarginal::new(&model, walk.clone(), (settings, centre.clone()))
            })
        }
        Some(checkpoint) => Sampler::resume_kernels(&target, &run, checkpoint, |_, _, learnt| {
            PseudoMarginal::resumed(&model, learnt, (settings, centre.clone()))
        }),
    };
    sampler.unwrap().run(&Control::new(), &mut Silent)
}

/// Standard deviation of the posterior relative to the truth, with its Monte Carlo error by batch means.
fn relative_sd(run: &Walked, signed: bool) -> (f64, f64) {
    let centre = centre();
    let mut parts = Vec::new();
    for chain in &run.trace.chains {
        let rows: Vec<&[f64]> = chain.values.chunks_exact(3).collect();
        for part in rows.chunks(rows.len() / 20) {
            let squares: Vec<f64> = part.iter().map(|draw| (draw[0] - centre).powi(2)).collect();
            let signs: Vec<f64> = part.iter().map(|draw| if signed { draw[2] } else { 1.0 }).collect();
            parts.push(signed_mean(&squares, &signs) * ROWS as f64);
        }
    }
    let mean = parts.iter().sum::<f64>() / parts.len() as f64;
    let spread = parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() / (parts.len() - 1) as f64;
    (mean, (spread / parts.len() as f64).sqrt())
}

/// The posterior variance, within 4.5 Monte Carlo errors (false alarms: 1 in 70,000 for two estimators, were the errors known); the plug-in estimate must miss it.
#[test]
fn chains_sample_the_posterior() {
    let below = Estimator::kennedy_bhanot(8.0).and_then(|estimator| estimator.centred(-5.0)).unwrap();
    for estimator in [Estimator::poisson(8.0).unwrap(), below] {
        let run = walked(estimator, 60_000, None);
        let (variance, error) = relative_sd(&run, true);
        assert!(
            (variance - VARIANCE).abs() < 4.5 * error && error < 0.03,
            "{estimator:?}: {variance} ± {error}"
        );
    }
    let run = walked(Estimator { series: Series::PlugIn, rate: 1.0, centre: 0.0 }, 60_000, None);
    let (variance, error) = relative_sd(&run, false);
    assert!(
        (variance - VARIANCE).abs() > 6.0 * error,
        "a biased estimate must be found out: {variance} ± {error}"
    );
}

#[test]
fn a_resumed_chain_equals_the_uninterrupted_one() {
    let estimator = Estimator::poisson(8.0).unwrap();
    let whole = walked(estimator, 400, None);
    let half = walked(estimator, 150, None);
    let text = serde_json::to_string(&half.checkpoint).unwrap();
    let rest = walked(estimator, 400, Some(serde_json::from_str(&text).unwrap()));
    for (chain, (whole, rest)) in whole.trace.chains.iter().zip(&rest.trace.chains).enumerate() {
        assert_eq!(whole.values[150 * 3..], rest.values, "chain {chain}");
    }
    assert_eq!(whole.checkpoint.chains, rest.checkpoint.chains);
    let moved = &whole.checkpoint.chains[0].learnt.1;
    assert_eq!(moved.steps, 400);
    assert!(moved.longest >= 1 && moved.accepted > 20 && moved.acceptance() < 1.0);
}

/// Section 4 of the paper: on some thousand rows chains get stuck; over the residuals of a surrogate they move as exact ones do.
#[test]
fn chains_get_stuck_and_a_surrogate_frees_them() {
    let rows = 4000;
    let noise =
        |i: u32, k: u32| f64::from(i.wrapping_mul(2_654_435_761).rotate_left(k) % 1000) / 289.0 - 1.73;
    let x: Vec<f64> = (0..rows).map(|i| noise(i, 3)).collect();
    let response = x.iter().zip(0..).map(|(x, i)| f64::from(u8::from(x + 1.5 * noise(i, 9) > 0.0))).collect();
    let data = Data::new(["x"], vec![x], response).check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, vec![Prior::normal(5.0); 2]).unwrap();
    let surrogate =
        Surrogate::new(GlmExpansion::new(&model, &[0.0; 2], &ExpansionSettings::default()).unwrap());
    let (mode, covariance) =
        (surrogate.expansion().mode().to_vec(), surrogate.expansion().covariance().to_vec());
    let walk = RandomWalk::isotropic(2, 1.2 * covariance[3].sqrt()).unwrap();
    let settings =
        PseudoMarginalSettings { estimator: Estimator::poisson(2.0).unwrap(), blocks: 2, block_rows: 32 };
    fn moved<M: Model<State = Vec<f64>>>(
        model: &M,
        walk: &RandomWalk,
        (settings, mode): (PseudoMarginalSettings, &Vec<f64>),
    ) -> Rejections {
        let mut kernel = PseudoMarginal::new(model, walk.clone(), (settings, mode.clone())).unwrap();
        let mut state = Estimated::start(mode.clone());
        let mut streams = Streams::new(3, 0);
        for step in 0..3000 {
            streams.begin(step);
            kernel.step(&mut state, &mut streams).unwrap();
        }
        *kernel.rejections()
    }
    let plain = moved(&model, &walk, (settings, &mode));
    let free = moved(&surrogate, &walk, (settings, &mode));
    assert!(plain.acceptance() < 0.1 && plain.longest > 100, "{plain:?}");
    assert!(free.acceptance() > 0.3 && free.longest < 40 && free.mean_sign() > 0.999, "{free:?}");
}

#[test]
fn bad_settings_are_named() {
    let model = means();
    let walk = || RandomWalk::isotropic(1, 0.5).unwrap();
    let with = |estimator, blocks, block_rows| {
        let settings = PseudoMarginalSettings { estimator, blocks, block_rows };
        PseudoMarginal::new(&model, walk(), (settings, vec![centre()])).err().map(|error| error.to_string())
    };
    let good = Estimator::poisson(1.0).unwrap();
    assert!(with(good, 5, 1).is_none());
    for (found, word) in [
        (with(good, 0, 1), "blocks"),
        (with(good, 25, 1), "from 1 to 24"),
        (with(good, 1, 0), "block_rows"),
        (with(Estimator { rate: f64::NAN, ..good }, 1, 1), "rate"),
        (with(Estimator { centre: f64::INFINITY, ..good }, 1, 1), "centre"),
    ] {
        assert!(found.as_deref().is_some_and(|text| text.contains(word)), "{word}: {found:?}");
    }
    let bounded = from_fn(
        10,
        1,
        |_: &[f64]| 0.0,
        |state: &[f64], _| if state[0] < 2.0 { 0.0 } else { f64::NEG_INFINITY },
    );
    let bounded = bounded.unwrap();
    let settings =
        PseudoMarginalSettings { estimator: Estimator::poisson(40.0).unwrap(), blocks: 5, block_rows: 1 };
    let mut kernel = PseudoMarginal::new(&bounded, walk(), (settings, vec![1.0])).unwrap();
    let mut state = Estimated::start(vec![1.0]);
    let mut streams = Streams::new(1, 0);
    let failed = (0..500).find_map(|step| {
        streams.begin(step);
        kernel.step(&mut state, &mut streams).err()
    });
    assert!(failed.is_some_and(|error| error.to_string().contains("all rows")));
}
