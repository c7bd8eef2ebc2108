//! Rules and kernels of one's own under the sampler: the same draws as by hand, audits that find a careless rule out, checkpoints.

use austerity::kernel::Kernel;
use austerity::model::{Parameters, from_fn};
use austerity::population::{Access, Reveal};
use austerity::proposal::RandomWalk;
use austerity::rng::{Rng, Streams};
use austerity::rule::{Decision, Exact, Law, Own, Rule, RuleSettings, Stopped};
use austerity::run::{
    Chain, ChainCheckpoint, Contradiction, Control, Sampled as _, Sampler, Settings, Silent, Target,
};
use austerity::{Error, Result};
use rand::RngExt as _;

const ROWS: usize = 2_000;

/// log rate of exponential waits, with a flat prior.
fn model() -> impl Parameters<State = Vec<f64>> {
    let wait = |row: usize| -((row as f64 + 0.5) / ROWS as f64).ln() / 3.0;
    from_fn(ROWS, 1, |_: &[f64]| 0.0, move |at: &[f64], row: usize| at[0] - at[0].exp() * wait(row)).unwrap()
}

/// The exact rule, or the mean of the first rows taken for that of all.
#[derive(Clone)]
struct Mine {
    exact: Exact,
    rows: usize,
}

impl<'r> Rule<dyn Reveal + 'r> for Mine {
    fn decide(&mut self, population: &mut (dyn Reveal + 'r), offset: f64, rng: &mut Rng) -> Result<Decision> {
        let all = population.len();
        if self.rows >= all {
            return self.exact.decide(population, offset, rng);
        }
        let threshold = (Law::Metropolis.draw(rng) - offset) / all as f64;
        let moments = *population.extend_to(self.rows)?;
        Ok(Decision { stopped: Stopped::Bound, ..Decision::complete(&moments, threshold) })
    }

    fn access(&self) -> Access {
        Rule::<dyn Reveal + 'r>::access(&self.exact)
    }

    fn first_look(&self) -> usize {
        self.rows
    }
}

fn mine(rows: usize) -> Own {
    Own::new("mine", Mine { exact: Exact::default(), rows })
}

/// An own rule that is the exact one draws what the exact one draws, bit for bit, also when it is cut in two and resumed.
#[test]
fn a_rule_of_ones_own_draws_and_resumes_as_the_librarys() {
    let model = model();
    let walk = RandomWalk::isotropic(1, 0.05).unwrap();
    let run = |rule: RuleSettings, draws: u64| {
        model
            .sampler()
            .proposal(walk.clone())
            .rule(rule)
            .start(vec![1.0])
            .draws(draws)
            .warmup(50)
            .run()
            .unwrap()
    };
    let exact = run(RuleSettings::default(), 300);
    let own = run(mine(ROWS).into(), 300);
    assert_eq!(own.trace.parameter(0), exact.trace.parameter(0));

    let half = run(mine(ROWS).into(), 120);
    // A checkpoint that went through a file has the name alone.
    let text = serde_json::to_string(&half.checkpoint).unwrap();
    let stored: austerity::run::Checkpoint<Vec<f64>, RandomWalk> = serde_json::from_str(&text).unwrap();
    let nameless = Settings { draws: 300, ..stored.settings.clone() };
    let Err(error) = Sampler::resume(&model, &nameless, stored.clone()) else {
        panic!("resumed without the rule")
    };
    assert!(error.to_string().contains("mine"), "{error}");
    let settings = Settings { rule: mine(ROWS).into(), ..nameless };
    let rest = Sampler::resume(&model, &settings, stored).unwrap().run(&Control::new(), &mut Silent);
    let drawn = |trace: &austerity::run::Trace, from: usize| -> Vec<Vec<f64>> {
        trace.parameter(0).iter().map(|chain| chain[from..].to_vec()).collect()
    };
    assert_eq!(drawn(&rest.trace, 0), drawn(&own.trace, 120));
}

/// A rule that claims to be right and reads 40 of 2,000 rows is contradicted by its audits; one that reads them all is not. Fixed seed; the contradiction
/// of an honest rule has a false-alarm rate of 0 here, since it never disagrees.
#[test]
fn audits_find_a_careless_rule_out() {
    let model = model();
    let run = |rule: Own| {
        let settings = Settings {
            audit: 0.3,
            warmup: 0,
            draws: 300,
            chains: 2,
            rule: rule.into(),
            ..Settings::default()
        };
        let walk = RandomWalk::isotropic(1, 0.05).unwrap();
        model.sampler().settings(settings).proposal(walk).start(vec![1.1]).run().unwrap().counters().audits
    };
    let careless = run(mine(40));
    assert_eq!(careless.contradiction(), Some(Contradiction::Disagreements), "{careless:?}");
    let honest = run(mine(ROWS));
    assert!(honest.audited > 20 && honest.contradiction().is_none(), "{honest:?}");
    // One that says how often it errs is believed.
    let candid = run(mine(40).claiming(0.4));
    assert_ne!(candid.contradiction(), Some(Contradiction::Disagreements), "{candid:?}");
    assert!(matches!(RuleSettings::from(mine(40).claiming(2.0)).build(10), Err(Error::Setting { .. })));
}

/// Uniform draws from the cube, one coordinate at a time; counts the steps it learnt from.
#[derive(Clone)]
struct Turns {
    learnt: u64,
}

impl Kernel for Turns {
    type State = [f64; 3];
    type Learnt = u64;

    fn step(&mut self, state: &mut [f64; 3], streams: &mut Streams) -> Result<Decision> {
        state[(streams.step() % 3) as usize] = streams.proposal.random();
        Ok(Decision::untested())
    }

    fn learnt(&self) -> u64 {
        self.learnt
    }

    fn learn(&mut self, _decision: &Decision, _step: u64) {
        self.learnt += 1;
    }
}

struct Cube;

impl Target for Cube {
    type State = [f64; 3];
    fn names(&self) -> Vec<String> {
        ["a", "b", "c"].map(String::from).to_vec()
    }
    fn write(&self, state: &[f64; 3], out: &mut [f64]) {
        out.copy_from_slice(state);
    }
    fn rows(&self) -> usize {
        1
    }
}

/// A kernel of one's own: as stepped by hand, the same on any number of threads, and resumed bit for bit with what it learnt.
#[test]
fn a_kernel_of_ones_own_runs_under_the_sampler() {
    let settings = |draws, threads| Settings { draws, threads, warmup: 10, chains: 3, ..Settings::default() };
    let run = |draws, threads| {
        let made = |_: u32, _: &[f64; 3]| Ok(Turns { learnt: 0 });
        let sampler = Sampler::with_kernels(&Cube, &settings(draws, threads), &[[0.0; 3]], made).unwrap();
        sampler.run(&Control::new(), &mut Silent)
    };
    let whole = run(90, 1);
    let threaded = run(90, 2);
    (0..3).for_each(|place| assert_eq!(whole.trace.parameter(place), threaded.trace.parameter(place)));
    assert!(whole.checkpoint.chains.iter().all(|chain| chain.learnt == 10));

    let mut chain = Chain::start(Turns { learnt: 0 }, [0.0; 3], (1, 1));
    chain.advance(100).unwrap();
    let last = |place: usize| *whole.trace.parameter(place)[1].last().unwrap();
    assert_eq!(chain.state(), &[last(0), last(1), last(2)]);

    let half = run(40, 2);
    let again = |_: u32, _: &ChainCheckpoint<[f64; 3], ()>, learnt: u64| Ok(Turns { learnt });
    let rest = Sampler::resume_kernels(&Cube, &settings(90, 2), half.checkpoint, again).unwrap();
    let rest = rest.run(&Control::new(), &mut Silent);
    assert_eq!(rest.checkpoint.chains, whole.checkpoint.chains);
    let tail = |place: usize| -> Vec<Vec<f64>> {
        whole.trace.parameter(place).iter().map(|chain| chain[40..].to_vec()).collect()
    };
    assert_eq!(rest.trace.parameter(2), tail(2));
    let wrong = [[0.0; 3], [1.0; 3]];
    assert!(Sampler::with_kernels(&Cube, &settings(9, 1), &wrong, |_, _| Ok(Turns { learnt: 0 })).is_err());
}
