//! Empirical against exact conditional probability: the paper's first Gibbs figure.
//!
//! Conditionals come from an exact chain, chosen so that their probabilities cover (0, 1). Each is decided many times
//! by the paper's test, u running through an even grid and the order of the pairs drawn afresh, so that the only noise left
//! is that of the test. Beside it stands what the theory predicts from the mean and spread of the pairs.

use austerity::population::{BlockOrder, BlockReveal, Moments, Population as _};
use austerity::rule::{DecideAt as _, Law, Sequential};
use austerity::run::Chain;
use austerity::theory::{Accuracy, ErrorTable, TestPlan, TestWalk, kappa};
use austerity_models::field::{Field, Neighbourhood};
use austerity_models::{Gibbs, GibbsSettings};

use super::plan::Plan;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::parallel;

/// One variable and a state of the others.
struct Place {
    variable: usize,
    state: Vec<u8>,
    /// Log odds of value 1, and the spread of the pairs.
    ratio: f64,
    kappa: f64,
}

/// One conditional under one ε.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) epsilon: f64,
    /// P(X_i = 1 | rest).
    pub(super) exact: f64,
    pub(super) kappa: f64,
    /// Share of the tests that assigned 1, less `exact`, and its standard error.
    pub(super) delta: f64,
    pub(super) standard_error: f64,
    /// What the theory predicts for it.
    pub(super) predicted: f64,
    /// Share of the pairs read, measured and predicted.
    pub(super) share: f64,
    pub(super) predicted_share: f64,
}

/// All conditionals under all ε, those of one ε together, by rising probability.
pub(super) fn measure(context: &Context, plan: &Plan, field: &Field) -> Result<Vec<Measured>> {
    let places = places(context, plan, field)?;
    let mut all = Vec::new();
    for (number, &epsilon) in plan.epsilons.iter().enumerate() {
        context.stage("empirical conditional probabilities", 0.02 + 0.02 * number as f64)?;
        let table = table(plan, epsilon)?;
        all.extend(parallel::each(context.threads, &places, |index, place| {
            let chain = (number * places.len() + index) as u32;
            one(context, plan, &Trial { field, place, epsilon, table: &table, chain })
        })?);
    }
    Ok(all)
}

/// E and π̄ of the paper's test on this field.
pub(super) fn table(plan: &Plan, epsilon: f64) -> Result<ErrorTable> {
    let looks = TestPlan::of_settings(&plan.letter(epsilon), plan.factors())?;
    Ok(ErrorTable::new(&TestWalk::new(looks, Accuracy::Exact), Accuracy::Exact))
}

/// Conditionals of an exact chain, one for every cell of an even grid of probabilities as far as the chain meets them.
fn places(context: &Context, plan: &Plan, field: &Field) -> Result<Vec<Place>> {
    let settings = GibbsSettings { seed: context.seed, chain: 1000, ..GibbsSettings::default() };
    let start = vec![0; field.len()];
    let mut chain = Chain::start(Gibbs::new(field, &settings)?, start, (context.seed, 1000));
    chain.advance(50 * field.len() as u64)?;
    let cells = plan.conditionals;
    let mut found: Vec<Option<Place>> = (0..cells).map(|_| None).collect();
    let mut neighbourhood = Neighbourhood::default();
    let mut numbers = vec![0.0; plan.factors()];
    for variable in (0..field.len()).cycle().take(200 * field.len()) {
        chain.advance(field.len() as u64 / 10 + 1)?;
        let state = chain.state();
        let mut conditional = field.conditional(variable, [1, 0], state, &mut neighbourhood)?;
        let ratio = conditional.offset() + conditional.total()?.sum();
        let cell = &mut found[((cells as f64 * Law::Logistic.acceptance(ratio)) as usize).min(cells - 1)];
        if cell.is_none() {
            conditional.reveal(0..plan.factors(), &mut numbers)?;
            let spread = (Moments::of(&numbers).m2 / numbers.len() as f64).sqrt();
            let kappa = kappa(spread, numbers.len())?;
            *cell = Some(Place { variable, state: state.clone(), ratio, kappa });
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// A conditional under a test.
struct Trial<'a> {
    field: &'a Field,
    place: &'a Place,
    epsilon: f64,
    table: &'a ErrorTable,
    chain: u32,
}

fn one(context: &Context, plan: &Plan, trial: &Trial<'_>) -> Result<Measured> {
    let &Trial { field, place, epsilon, table, chain } = trial;
    let mut rule = Sequential::new(&plan.letter(epsilon), plan.factors())?;
    let mut order = BlockOrder::new(plan.factors(), 1, context.seed, chain)?;
    let mut neighbourhood = Neighbourhood::default();
    let mut conditional = field.conditional(place.variable, [1, 0], &place.state, &mut neighbourhood)?;
    let offset = conditional.offset();
    let (mut difference, mut wrong, mut used) = (0i64, 0u64, 0u64);
    for repeat in 0..plan.repeats {
        if repeat % 256 == 0 && context.stopped() {
            return Err(Error::Interrupted);
        }
        let u = (f64::from(repeat) + 0.5) / f64::from(plan.repeats);
        let threshold = Law::Logistic.threshold(u);
        let mut cursor = BlockReveal::new(&mut conditional, &mut order, u64::from(repeat) + 1);
        let decision = rule.decide_at(&mut cursor, offset, threshold)?;
        let exact = place.ratio > threshold;
        difference += i64::from(decision.accepted) - i64::from(exact);
        wrong += u64::from(decision.accepted != exact);
        used += decision.used;
    }
    let n = f64::from(plan.repeats);
    let step = table.step(Law::Logistic, place.ratio, place.kappa)?;
    Ok(Measured {
        epsilon,
        exact: step.acceptance,
        kappa: place.kappa,
        delta: difference as f64 / n,
        // At least one disagreement could always have been.
        standard_error: (wrong.max(1) as f64).sqrt() / n,
        predicted: step.delta,
        share: used as f64 / n / plan.factors() as f64,
        predicted_share: step.data_usage,
    })
}
