//! Variables of four values: the race on Gumbel-perturbed sums, checked against the exact conditional probabilities.

use austerity::rng::Streams;
use austerity::rule::{Law, RuleSettings, SequentialSettings};
use austerity::run::Chain;
use austerity_models::field::Field;
use austerity_models::field::generate::complete;
use austerity_models::{Gibbs, GibbsSettings};
use statrs::distribution::{ChiSquared, ContinuousCDF as _};

use super::plan::Plan;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::parallel;

const VALUES: u8 = 4;
/// Gives the factors of a variable a spread κ near that of the binary example.
const SD: f64 = 0.05;

/// Cells that expect fewer than this are pooled.
const FEW: f64 = 10.0;

/// Races under one rule.
pub(super) struct Races {
    /// 0 for the exact rule.
    pub(super) epsilon: f64,
    /// (exact probability, share of the races won) of every value of every conditional.
    pub(super) points: Vec<(f64, f64)>,
    /// Mean total variation distance between the two.
    pub(super) distance: f64,
    /// p-value of Pearson's test of all conditionals together.
    pub(super) p_value: f64,
    /// Pearson's statistic and its degrees of freedom.
    pub(super) statistic: f64,
    pub(super) freedom: f64,
    /// Share of the factors read in a comparison.
    pub(super) share: f64,
    /// Distances and shares, conditional by conditional.
    pub(super) distances: Vec<f64>,
    pub(super) shares: Vec<f64>,
}

/// The rule of an ε, for populations of `factors`: a tenth of them at each look.
fn rule(epsilon: f64, factors: usize) -> RuleSettings {
    if epsilon == 0.0 {
        return RuleSettings::Exact { law: Law::Logistic };
    }
    let test = SequentialSettings::paper((factors / 10).max(30), epsilon);
    RuleSettings::Sequential(SequentialSettings { law: Law::Logistic, ..test })
}

/// Races for conditionals met by an exact chain.
pub(super) fn measure(context: &Context, plan: &Plan) -> Result<Vec<Races>> {
    let field = complete(plan.race_variables, VALUES, 3, SD, context.seed)?;
    let settings = GibbsSettings { seed: context.seed, chain: 2000, ..GibbsSettings::default() };
    let kernel = Gibbs::new(&field, &settings)?;
    let mut chain = Chain::start(kernel, vec![0; field.len()], (context.seed, 2000));
    let mut places = Vec::new();
    for number in 0..plan.race_conditionals {
        chain.advance(10 * field.len() as u64)?;
        places.push((number % field.len(), chain.state().clone()));
    }
    [0.0, 0.05, 0.25].iter().map(|&epsilon| races(context, plan, &field, &places, epsilon)).collect()
}

fn races(
    context: &Context,
    plan: &Plan,
    field: &Field,
    places: &[(usize, Vec<u8>)],
    epsilon: f64,
) -> Result<Races> {
    let n = f64::from(plan.race_repeats);
    let parts = parallel::each(context.threads, places, |index, (variable, state)| {
        let rule = rule(epsilon, field.degree(*variable));
        let chain = 3000 + index as u32;
        let settings = GibbsSettings { rule, seed: context.seed, chain, ..GibbsSettings::default() };
        let mut kernel = Gibbs::new(field, &settings)?;
        let mut streams = Streams::new(context.seed, chain);
        let (mut counts, mut used) = ([0u32; VALUES as usize], 0);
        for repeat in 0..plan.race_repeats {
            if repeat % 256 == 0 && context.stopped() {
                return Err(Error::Interrupted);
            }
            streams.begin(u64::from(repeat) + 1);
            let mut state = state.clone();
            used += kernel.update(*variable, &mut state, &mut streams)?.used;
            counts[usize::from(state[*variable])] += 1;
        }
        Ok((field.probabilities(*variable, state)?, counts, used as f64 / field.degree(*variable) as f64))
    })?;
    let (mut points, mut distance, mut share) = (Vec::new(), 0.0, 0.0);
    let (mut statistic, mut freedom) = (0.0, 0.0);
    let (mut distances, mut shares) = (Vec::new(), Vec::new());
    for (exact, counts, used) in &parts {
        let mut small = [0.0; 2];
        let mut cell = |expected: f64, count: f64| {
            statistic += (count - expected).powi(2) / expected;
            freedom += 1.0;
        };
        for (&p, &count) in exact.iter().zip(counts) {
            let found = f64::from(count) / n;
            points.push((p, found));
            distance += 0.5 * (p - found).abs();
            if n * p < FEW {
                small = [small[0] + n * p, small[1] + f64::from(count)];
            } else {
                cell(n * p, f64::from(count));
            }
        }
        if small[0] > 0.0 {
            cell(small[0], small[1]);
        }
        freedom -= 1.0;
        share += used / n;
        shares.push(used / n);
        distances.push(distance - distances.iter().sum::<f64>());
    }
    let p_value = ChiSquared::new(freedom).map_or(f64::NAN, |law| law.sf(statistic));
    let conditionals = parts.len() as f64;
    Ok(Races {
        epsilon,
        points,
        distance: distance / conditionals,
        p_value,
        statistic,
        freedom,
        share: share / conditionals,
        distances,
        shares,
    })
}
