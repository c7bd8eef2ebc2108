//! Decisions about residuals are decisions about the posterior: the same as without a surrogate where both are exact, steps on the surrogate
//! leave the posterior as it is, and wrong ones are found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use austerity::Result;
use austerity::kernel::{Kernel as _, Metropolis};
use austerity::model::{Access, Model};
use austerity::population::{BlockOrder, Population as _};
use austerity::proposal::{Hamiltonian, Path, Proposal, Proposed, RandomWalk};
use austerity::rng::{Rng, Role, Streams, stream};
use austerity::rule::{Exact, Law, RuleSettings, SequentialSettings};
use austerity::run::{Control, Sampler, Settings, Silent};
use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
use austerity_glm::glm::{Family, Logistic, Poisson, Student};
use austerity_glm::proposal::{CrankNicolson, SurrogateStep, Sweeps, TransitionKind, TransitionPlan};
use austerity_glm::{
    CertainSteps as _, Data, Glm, Prior, ResponseKind, Surrogate, SurrogateDensity, generate,
};
use rand::RngExt as _;

fn expand<F: Family>(model: &Glm<F>, stratum: Option<usize>) -> Surrogate<GlmExpansion<F>> {
    let settings = ExpansionSettings { stratum_rows: stratum, ..ExpansionSettings::default() };
    Surrogate::new(GlmExpansion::new(model, &vec![0.0; model.parameters()], &settings).unwrap())
}

/// Accepted or not, step by step.
fn decisions<M: Model<State = Vec<f64>>>(
    model: &M,
    proposal: impl Proposal<Vec<f64>> + Clone,
    start: &[f64],
    steps: u64,
) -> Vec<bool> {
    let order = BlockOrder::new(model.len(), 32, 3, 0).unwrap();
    let mut state = start.to_vec();
    let rule = Exact::new(Law::Metropolis).unwrap();
    let mut kernel = Metropolis::new(model, proposal, rule, order, &state).unwrap();
    let mut streams = Streams::new(3, 0);
    (0..steps)
        .map(|step| {
            streams.begin(step);
            kernel.step(&mut state, &mut streams).unwrap().accepted
        })
        .collect()
}

fn same_decisions<F: Family>(family: F, data: Data, kind: ResponseKind) {
    let data = data.check(kind).unwrap();
    let mut priors = vec![Prior::student(3.0, 1.0); data.coefficients()];
    priors.extend(family.extra().iter().map(|_| Prior::normal(2.0)));
    let model = Glm::new(family, &data, priors).unwrap();
    let mut accepted = 0;
    for stratum in [Some(0), Some(30), None] {
        let surrogate = expand(&model, stratum);
        let (mode, covariance) = (surrogate.expansion().mode(), surrogate.expansion().covariance());
        for correlation in [0.0, 0.8] {
            let steps = || CrankNicolson::new(mode, covariance, correlation).unwrap();
            let with = decisions(&surrogate, steps(), mode, 1500);
            let without = decisions(&model, steps(), mode, 1500);
            let different = with.iter().zip(&without).filter(|(a, b)| a != b).count();
            // A tie within the rounding of f32 may fall either way, and the chains then part: none is met here.
            assert_eq!(different, 0, "{} with a stratum of {stratum:?}", family.name());
            accepted += with.iter().filter(|&&accepted| accepted).count();
        }
    }
    assert!(accepted > 1000, "{accepted} of 9000");
}

#[test]
fn exact_decisions_are_the_same_with_and_without_a_surrogate() {
    same_decisions(Logistic, generate::logistic(3000, 3).rare(1).build().unwrap().data, ResponseKind::Binary);
    same_decisions(Poisson, generate::of(Poisson, 3000, 3).build().unwrap().data, ResponseKind::Count);
    same_decisions(
        Student { freedom: 4.0 },
        generate::of(Student { freedom: 4.0 }, 3000, 3).build().unwrap().data,
        ResponseKind::Real,
    );
}

/// κ = √N·sd(r) of a random-walk step falls like N^{−k/2} for order k: slopes of log κ within 0.15 over a factor 64.
#[test]
fn the_spread_of_residuals_falls_with_n() {
    for (order, wanted) in [(1, -0.5), (2, -1.0)] {
        let kappa = |rows: usize| {
            let data = generate::logistic(rows, 5)
                .seed(2)
                .build()
                .unwrap()
                .data
                .check(ResponseKind::Binary)
                .unwrap();
            let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); 6]).unwrap();
            let settings = ExpansionSettings { order, stratum_rows: Some(0), ..ExpansionSettings::default() };
            let surrogate = Surrogate::new(GlmExpansion::new(&model, &[0.0; 6], &settings).unwrap());
            let expansion = surrogate.expansion();
            let mut draws = CrankNicolson::new(expansion.mode(), expansion.covariance(), 0.0).unwrap();
            let mut rng = stream(5, 0, Role::Proposal);
            let mut scratch = surrogate.scratch(Access::Blocks);
            let (mut from, mut to) = (expansion.mode().to_vec(), expansion.mode().to_vec());
            let mut sum = 0.0;
            for _ in 0..40 {
                draws.propose(&from, &mut to, &mut rng).unwrap();
                let moments = surrogate.compare(&from, &to, &mut scratch).total().unwrap();
                sum += moments.m2;
                from.clone_from(&to);
            }
            sum.sqrt()
        };
        let slope = (kappa(128_000) / kappa(2_000)).ln() / 64f64.ln();
        assert!((slope - wanted).abs() < 0.15, "order {order}: slope {slope:.3}");
    }
}

/// One coefficient, 60 rows, the expansion at a place that is no mode: the surrogate is far from the posterior.
struct Skewed {
    model: Glm<Logistic>,
    surrogate: Surrogate<GlmExpansion<Logistic>>,
    /// A grid and the distribution function of the posterior on it.
    grid: Vec<f64>,
    law: Vec<f64>,
}

impl Skewed {
    fn new() -> Self {
        let x: Vec<f64> = (0..60).map(|i| 0.2 + f64::from(i % 5)).collect();
        let y: Vec<f64> = (0..60).map(|i| f64::from(i % 12 != 0)).collect();
        let data = Data::new(["x"], vec![x], y).intercept(false).check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(3.0)]).unwrap();
        let settings =
            ExpansionSettings { fixed: true, stratum_rows: Some(0), ..ExpansionSettings::default() };
        let surrogate = Surrogate::new(GlmExpansion::new(&model, &[0.70], &settings).unwrap());
        let grid: Vec<f64> = (0..4000).map(|i| -0.2 + 3.2 * f64::from(i) / 3999.0).collect();
        let mut scratch = model.scratch(Access::Blocks);
        let origin = vec![1.0];
        let mut law: Vec<f64> = Vec::new();
        let mut sum = 0.0;
        for &at in &grid {
            let state = vec![at];
            let total = model.compare(&origin, &state, &mut scratch).total().unwrap().sum();
            sum += (total + model.log_prior(&state)).exp();
            law.push(sum);
        }
        law.iter_mut().for_each(|value| *value /= sum);
        Self { model, surrogate, grid, law }
    }

    /// The share of the posterior below a state.
    fn below(&self, state: f64) -> f64 {
        let place = self.grid.partition_point(|&at| at < state);
        self.law[place.min(self.law.len() - 1)]
    }

    /// Draws exactly from the posterior, makes one step, and returns the mean of the distribution function and of its square, less what they
    /// should be, in standard errors.
    fn invariance<P: Proposal<Vec<f64>> + Clone>(&self, mut make: impl FnMut() -> P) -> f64 {
        let count = 30_000;
        let (mut first, mut second) = (0.0, 0.0);
        let mut streams = Streams::new(11, 0);
        for i in 0..count {
            let u = (f64::from(i) + 0.5) / f64::from(count);
            let place = self.law.partition_point(|&share| share < u);
            let mut state = vec![self.grid[place.min(self.grid.len() - 1)]];
            let order = BlockOrder::new(self.surrogate.len(), 32, 11, 0).unwrap();
            let rule = Exact::new(Law::Metropolis).unwrap();
            let mut kernel = Metropolis::new(&self.surrogate, make(), rule, order, &state).unwrap();
            streams.begin(i as u64);
            kernel.step(&mut state, &mut streams).unwrap();
            let share = self.below(state[0]);
            first += share;
            second += share * share;
        }
        let n = f64::from(count);
        let mean = (first / n - 0.5) / (1.0 / 12.0 / n).sqrt();
        let square = (second / n - 1.0 / 3.0) / (4.0 / 45.0 / n).sqrt();
        mean.abs().max(square.abs())
    }

    fn paths(
        &self,
    ) -> SurrogateStep<'_, GlmExpansion<Logistic>, Hamiltonian<SurrogateDensity<'_, GlmExpansion<Logistic>>>>
    {
        let expansion = self.surrogate.expansion();
        let shape = RandomWalk::dense(1, expansion.covariance()).unwrap();
        let path = Path { length: 0.9, steps: 1..=4, jitter: 0.2, target: None };
        SurrogateStep::new(
            expansion,
            Hamiltonian::new(SurrogateDensity::new(expansion), &shape, path).unwrap(),
            1,
        )
    }

    fn draws(&self, steps: u32) -> SurrogateStep<'_, GlmExpansion<Logistic>, CrankNicolson> {
        self.draws_from(0.8, steps)
    }

    /// Draws that are deliberately narrow and off by so many sds: inner decisions matter.
    fn draws_from(&self, off: f64, steps: u32) -> SurrogateStep<'_, GlmExpansion<Logistic>, CrankNicolson> {
        let expansion = self.surrogate.expansion();
        let covariance = [0.3 * expansion.covariance()[0]];
        let mean = [expansion.mode()[0] + off * expansion.covariance()[0].sqrt()];
        SurrogateStep::new(expansion, CrankNicolson::new(&mean, &covariance, 0.0).unwrap(), steps)
    }
}

/// 30,000 exact draws, one step each, two statistics: |z| beyond 4.5 once in 70,000 runs of a right kernel.
#[test]
fn steps_on_a_surrogate_leave_the_posterior_as_it_is() {
    let skewed = Skewed::new();
    assert!(skewed.invariance(|| skewed.paths()) < 4.5);
    assert!(skewed.invariance(|| skewed.draws(1)) < 4.5);
    // Powers of one kernel are reversible.
    assert!(skewed.invariance(|| skewed.draws(3)) < 4.5);
    // The surrogate's ratio in the offset.
    let expansion = skewed.surrogate.expansion();
    let steps = || CrankNicolson::new(expansion.mode(), expansion.covariance(), 0.5).unwrap();
    assert!(skewed.invariance(steps) < 4.5);
    assert_eq!(skewed.model.parameters(), 1);
}

/// The power of that test: a ratio that is forgotten.
#[test]
fn wrong_steps_are_found_out() {
    let skewed = Skewed::new();
    #[derive(Clone)]
    struct Forgetful<P>(P);
    impl<P: Proposal<Vec<f64>>> Proposal<Vec<f64>> for Forgetful<P> {
        fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
            self.0.propose(from, to, rng).map(|_| 0.0.into())
        }
    }
    let forgetful = skewed.invariance(|| Forgetful(skewed.draws(1)));
    assert!(forgetful > 6.0, "{forgetful:.1} standard errors");
}

/// The other side of the line through a point.
#[derive(Clone)]
struct Mirror(f64);

impl Proposal<Vec<f64>> for Mirror {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, _rng: &mut Rng) -> Result<Proposed> {
        *to = vec![2.0 * self.0 - from[0]];
        Ok(0.0.into())
    }
}

/// Steps one after the other, each reversible for the surrogate, as if the whole were.
#[derive(Clone)]
struct Composition<'e>(Vec<SurrogateStep<'e, GlmExpansion<Logistic>, Mirror>>);

impl Proposal<Vec<f64>> for Composition<'_> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let (mut state, mut ratio) = (from.clone(), 0.0);
        for step in &mut self.0 {
            ratio += step.propose(&state, to, rng)?.log_ratio;
            state.clone_from(to);
        }
        Ok(ratio.into())
    }
}

/// Two mirrors make a shift, which goes one way only: each is reversible for the surrogate, one after the other they are not, there and back
/// again (a palindrome) they are.
#[test]
fn a_composition_that_is_not_reversible_is_found_out() {
    let skewed = Skewed::new();
    let expansion = skewed.surrogate.expansion();
    let sd = expansion.covariance()[0].sqrt();
    let mirrors = |places: &[f64]| {
        let mirror = |place: &f64| SurrogateStep::new(expansion, Mirror(expansion.mode()[0] + place * sd), 1);
        Composition(places.iter().map(mirror).collect())
    };
    assert!(skewed.invariance(|| mirrors(&[0.0])) < 4.5);
    assert!(skewed.invariance(|| mirrors(&[0.0, 0.3, 0.0])) < 4.5);
    let shift = skewed.invariance(|| mirrors(&[0.0, 0.3]));
    assert!(shift > 6.0, "{shift:.1} standard errors");
}

/// A rare feature that is present in 12 rows, none of them an event, prior Student t: its posterior by quadrature given the others at
/// their mode, against chains of single steps. Tolerance 4.5 MCSE of the mean of 40,000 correlated steps.
#[test]
fn single_steps_of_certain_coefficients_are_exact() {
    let rows = 4000;
    let mut rng = stream(8, 0, Role::Data);
    let x: Vec<f64> = (0..rows).map(|_| rng.random_range(-1.0..1.0)).collect();
    let rare: Vec<f64> = (0..rows).map(|i| f64::from(i % 333 == 5)).collect();
    let y: Vec<f64> =
        (0..rows)
            .map(|i| {
                if rare[i] > 0.0 { 0.0 } else { f64::from(rng.random::<f64>() < 1.0 / (1.0 + (-x[i]).exp())) }
            })
            .collect();
    let data = Data::new(["x", "rare"], vec![x, rare], y).check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, vec![Prior::student(3.0, 1.0); 3]).unwrap();
    let surrogate = expand(&model, None);
    let expansion = surrogate.expansion();
    assert_eq!(expansion.certain_parameters(), [2], "{}", expansion.report().sentence());
    let sds: Vec<f64> = expansion.covariance().iter().step_by(4).map(|v| v.sqrt()).collect();
    let still = RandomWalk::isotropic(3, 1e-9).unwrap();
    let mut sweeps = Sweeps::new(expansion, still, &sds, 1);
    let mut state = expansion.mode().to_vec();
    let mut draws = Vec::new();
    let mut rng = stream(9, 0, Role::Proposal);
    for _ in 0..40_000 {
        sweeps.refresh(&mut state, &mut rng).unwrap();
        draws.push(state[2].clamp(-12.0, 12.0));
    }
    let mut scratch = model.scratch(Access::Blocks);
    let origin = expansion.mode().to_vec();
    let (mut mass, mut moment) = (0.0, 0.0);
    for i in 0..6000 {
        let value = -60.0 + 0.0125 * f64::from(i);
        let mut at = origin.clone();
        at[2] = value;
        let total = model.compare(&origin, &at, &mut scratch).total().unwrap().sum();
        let density = (total + model.log_prior(&at) - model.log_prior(&origin)).exp();
        mass += density;
        moment += density * value.clamp(-12.0, 12.0);
    }
    let mean = draws.iter().sum::<f64>() / draws.len() as f64;
    let error = austerity::diagnostics::mcse_mean(&[&draws]);
    assert!((mean - moment / mass).abs() < 4.5 * error, "{mean} ± {error} against {}", moment / mass);
    assert!(sweeps.acceptance() > 0.2);
}

/// The defaults end to end on rare features: Hamiltonian steps, sweeps and sampled residuals against exact decisions about the same candidates. Means within
/// 5 combined MCSE for each of 8 coefficients (false alarm below 1e-5), and an exact resume.
#[test]
fn sampled_residuals_agree_with_exact_decisions() {
    let made = generate::logistic(20_000, 4).rare(3).correlated(true).seed(4).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, vec![Prior::student(3.0, 1.0); 8]).unwrap();
    let surrogate = expand(&model, None);
    let expansion = surrogate.expansion();
    let kind = Some(TransitionKind::Hamiltonian);
    let plan = TransitionPlan::pilot(expansion, (expansion.mode(), expansion.covariance()), kind, 1).unwrap();
    let run = |rule: RuleSettings, seed: u64, draws: u64| {
        let settings = Settings { rule, warmup: 200, draws, chains: 2, seed, ..Settings::default() };
        let transition = plan.build(expansion).unwrap();
        let sampler =
            Sampler::new(&surrogate, &settings, &transition, std::slice::from_ref(&plan.mean)).unwrap();
        sampler.run(&Control::new(), &mut Silent)
    };
    let test = RuleSettings::Sequential(SequentialSettings::residuals());
    let sampled = run(test, 5, 6000);
    let exact = run(RuleSettings::default(), 6, 3000);
    assert!(sampled.counters().data_share(20_000) < 0.2);
    for (own, other) in sampled.summary().iter().zip(&exact.summary()) {
        let error = own.mcse_mean.hypot(other.mcse_mean);
        assert!(
            (own.mean - other.mean).abs() < 5.0 * error,
            "{}: {} against {} ± {error}",
            own.name,
            own.mean,
            other.mean
        );
    }
}

/// Laplace priors as narrow as the likelihood, on coefficients that do nothing and on such that do: steps are short on the kinks, paths
/// are not, and decisions about residuals take most of what they end at.
#[test]
fn kinks_shorten_steps_but_not_paths() {
    let made = generate::logistic(20_000, 10).seed(8).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let mut priors = vec![Prior::laplace(1.0 / 20_000f64.sqrt()); 11];
    priors[0] = Prior::normal(10.0);
    let model = Glm::new(Logistic, &data, priors).unwrap();
    let surrogate = expand(&model, None);
    let expansion = surrogate.expansion();
    let kind = Some(TransitionKind::Hamiltonian);
    let plan = TransitionPlan::pilot(expansion, (expansion.mode(), expansion.covariance()), kind, 1).unwrap();
    let path = &plan.path;
    assert!((0.7..0.95).contains(&plan.acceptance), "{plan:?}");
    let mean_steps = 0.5 * f64::from(path.steps.start() + path.steps.end());
    assert!(path.length * mean_steps > 1.2, "{path:?}");
    let rule = RuleSettings::Sequential(SequentialSettings::residuals());
    let settings = Settings { rule, warmup: 200, draws: 1500, chains: 2, seed: 3, ..Settings::default() };
    let transition = plan.build(expansion).unwrap();
    let starts = std::slice::from_ref(&plan.mean);
    let run =
        Sampler::new(&surrogate, &settings, &transition, starts).unwrap().run(&Control::new(), &mut Silent);
    assert!(run.counters().acceptance() > 0.6, "{}", run.counters().acceptance());
    let smallest = run.summary().iter().map(|one| one.ess_bulk).fold(f64::INFINITY, f64::min);
    assert!(smallest > 300.0, "{smallest}");
}
