//! Gradients of batches of residuals: unbiased, of small variance, and worth a Langevin step.

use super::*;
use crate::generate;
use crate::gradients::MiniBatch;
use crate::gradients::{At, BatchGradient};
use crate::proposal::Langevin;
use austerity::kernel::{Kernel as _, Metropolis};
use austerity::model::Gradient as _;
use austerity::population::{Batch, BlockOrder};
use austerity::proposal::Proposal;
use austerity::rng::Streams;
use austerity::rule::Exact;

/// The mean over all batches is the whole gradient: within f32 of the sums, 2e-4·√N as for the gradients of rows.
fn unbiased<F: Family>(family: &F, kind: ResponseKind) {
    for sides in [false, true] {
        let model = modelled(family, kind, sides);
        let d = model.parameters();
        for (order, rows) in [(2, 0), (2, 20), (2, 300), (1, 20), (3, 0), (3, 300)] {
            let settings =
                ExpansionSettings { order, stratum_rows: Some(rows), ..ExpansionSettings::default() };
            let surrogate = Surrogate::new(GlmExpansion::new(&model, &vec![0.0; d], &settings).unwrap());
            let centre = surrogate.expansion().centre();
            let state: Vec<f64> = (0..d).map(|i| centre[i] + 0.04 * (i as f64 - 1.7)).collect();
            let mut whole = vec![0.0; d];
            model.gradient(&state, &mut whole).unwrap();
            let population = surrogate.len();
            let mut workspace = Default::default();
            for block_rows in [1, 7, 64, population] {
                let blocks = population.div_ceil(block_rows) as u32;
                let mut mean = vec![0.0; d];
                for block in 0..blocks {
                    let one = Batch { blocks: &[block], block_rows, population };
                    let mut gradient = vec![0.0; d];
                    surrogate
                        .stochastic_gradient(At { state: &state, batch: one }, &mut workspace, &mut gradient)
                        .unwrap();
                    mean.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g / f64::from(blocks));
                }
                for (i, (found, wanted)) in mean.iter().zip(&whole).enumerate() {
                    assert!(
                        (found - wanted).abs() < 6e-3 * (1.0 + 1e-3 * wanted.abs()),
                        "{} order {order} stratum {rows} sides {sides} blocks of {block_rows}, {i}: {found} against {wanted}",
                        family.name()
                    );
                }
            }
        }
    }
}

#[test]
fn batches_of_residuals_are_unbiased() {
    for_every_family!(unbiased);
}

fn logistic(rows: usize, columns: usize) -> Glm<Logistic> {
    let data = generate::logistic(rows, columns).seed(2).build().unwrap().data;
    let priors = vec![Prior::normal(2.0); columns + 1];
    Glm::new(Logistic, &data.check(ResponseKind::Binary).unwrap(), priors).unwrap()
}

fn surrogate(model: &Glm<Logistic>, order: u8) -> Surrogate<GlmExpansion<Logistic>> {
    let settings = ExpansionSettings { order, ..ExpansionSettings::default() };
    Surrogate::new(GlmExpansion::new(model, &vec![0.0; model.parameters()], &settings).unwrap())
}

/// Σ_j of variance·(posterior variance) over 400 batches of 64 rows, at a posterior sd from the centre.
fn spread<M: BatchGradient>(model: &M, expansion: &GlmExpansion<Logistic>) -> f64 {
    let d = model.dimension();
    let sds: Vec<f64> = expansion.covariance().iter().step_by(d + 1).map(|v| v.sqrt()).collect();
    let mut rng = stream(3, 0, Role::Proposal);
    let state: Vec<f64> =
        expansion.centre().iter().zip(&sds).map(|(c, sd)| c + sd * normal(&mut rng)).collect();
    let mut batches = MiniBatch::new(model.len(), 64).unwrap();
    let mut parts = vec![Vec::new(); d];
    let mut workspace = Default::default();
    for _ in 0..400 {
        let mut gradient = vec![0.0; d];
        let batch = batches.draw(&mut rng);
        model.stochastic_gradient(At { state: &state, batch }, &mut workspace, &mut gradient).unwrap();
        parts.iter_mut().zip(&gradient).for_each(|(part, &g)| part.push(g));
    }
    let variance = |part: &Vec<f64>| Moments::of(part).m2 / part.len() as f64;
    parts.iter().zip(&sds).map(|(part, sd)| variance(part) * sd * sd).sum()
}

#[test]
fn control_variates_take_the_noise_out_of_the_gradient() {
    let model = logistic(20_000, 5);
    let plain = spread(&model, surrogate(&model, 2).expansion());
    let [first, second] = [1, 2].map(|order| {
        let surrogate = surrogate(&model, order);
        spread(&surrogate, surrogate.expansion())
    });
    // A factor of h² ~ d/N an order.
    println!("plain {plain:.2}, first order {first:.2e}, second order {second:.2e}");
    assert!(plain > 50.0 && first < 0.01 * plain && second < 0.01 * first);
}

fn acceptance(
    model: &impl Model<State = Vec<f64>>,
    proposal: impl Proposal<Vec<f64>> + Clone,
    start: &[f64],
    steps: u32,
) -> f64 {
    let mut state = start.to_vec();
    let order = BlockOrder::new(model.len(), 32, 5, 0).unwrap();
    let mut kernel = Metropolis::new(model, proposal, Exact::default(), order, &state).unwrap();
    let mut streams = Streams::new(5, 0);
    let mut accepted = 0;
    for step in 0..u64::from(steps) {
        streams.begin(step);
        accepted += u32::from(kernel.step(&mut state, &mut streams).unwrap().accepted);
    }
    f64::from(accepted) / f64::from(steps)
}

/// With the whole gradient a step of one posterior sd is accepted 2Φ(−√d/8) = .58 of the time in 20 dimensions; 64 rows do as well,
/// within 4 standard errors (.045, and .1 for the 400 steps of the whole gradient) and what 21 dimensions and a posterior that is not normal take. Plain mini-batches hardly move.
#[test]
fn a_control_variate_step_of_one_posterior_sd_is_accepted_as_with_the_whole_gradient() {
    let model = logistic(10_000, 20);
    let surrogate = surrogate(&model, 2);
    let (covariance, centre) = (surrogate.expansion().covariance(), surrogate.expansion().centre());
    let few = Langevin::preconditioned(&surrogate, covariance, 64).unwrap();
    let found = acceptance(&surrogate, few, centre, 2000);
    let all = Langevin::preconditioned(&surrogate, covariance, surrogate.len()).unwrap();
    let whole = acceptance(&surrogate, all, centre, 400);
    let plain = acceptance(&model, Langevin::preconditioned(&model, covariance, 64).unwrap(), centre, 400);
    println!("accepted: 64 residuals {found:.3}, all {whole:.3}, 64 plain rows {plain:.3}");
    assert!((found - 0.57).abs() < 0.06 && (whole - 0.57).abs() < 0.11, "{found} {whole}");
    assert!(plain < 0.05, "{plain}");
}
