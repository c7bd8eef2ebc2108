//! The Gibbs theorem where both of its sides can be computed (supplement F, Theorem 2).
//!
//! A field of eight variables and all their triples: 256 states. Each conditional has 21 pairs of potentials; its spread and log odds give
//! P_ε(X_i = 1) by the recursion, so the kernel of a systematic sweep is a product of eight sparse matrices and S_ε a vector. The
//! sweep's Dobrushin coefficient is its contraction; one-step errors of D updates add up to D·Δ_max.

use austerity::population::{Moments, Population as _};
use austerity::rule::{Law, SequentialSettings};
use austerity::theory::{Accuracy, ErrorTable, Scan, TestPlan, TestWalk, gibbs_bound, kappa};
use austerity_models::field::Neighbourhood;
use austerity_models::field::generate::complete;
use austerity_plot::{Axis, Curve, Figure, Panel, Scale};

use super::claims;
use crate::claim::Estimate;
use crate::context::Context;
use crate::enumerated::{Kernel, contraction, stationary, variation};
use crate::error::Result;
use crate::outcome::{Check, Section, Table};

/// D, the sd of the log potentials, and m.
const VARIABLES: usize = 8;
const SD: f64 = 0.1;
const BATCH: usize = 5;
const LEVELS: [f64; 5] = [0.01, 0.05, 0.1, 0.15, 0.25];

/// Both sides at one ε.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) epsilon: f64,
    pub(super) largest_delta: f64,
    pub(super) bound: f64,
    pub(super) distance: f64,
}

/// P(X_i = 1 | rest) of every variable and state: exact, and what the recursion makes of it.
type Conditionals = Vec<Vec<f64>>;

/// One update of variable `i` of a distribution over states.
fn update(distribution: &[f64], variable: usize, conditionals: &Conditionals) -> Vec<f64> {
    let bit = 1 << variable;
    let mut next = vec![0.0; distribution.len()];
    for (state, mass) in distribution.iter().enumerate() {
        let one = conditionals[variable][state & !bit];
        next[state | bit] += mass * one;
        next[state & !bit] += mass * (1.0 - one);
    }
    next
}

fn sweep(distribution: &[f64], conditionals: &Conditionals) -> Vec<f64> {
    (0..VARIABLES).fold(distribution.to_vec(), |here, variable| update(&here, variable, conditionals))
}

fn rows(states: usize, step: impl Fn(&[f64]) -> Vec<f64>) -> Kernel {
    let unit =
        |state: usize| (0..states).map(|other| f64::from(u8::from(other == state))).collect::<Vec<_>>();
    (0..states).map(|state| step(&unit(state))).collect()
}

pub(super) fn run(context: &Context) -> Result<(Section, Table)> {
    context.stage("the Gibbs theorem", 0.01)?;
    let field = complete(VARIABLES, 2, 3, SD, context.seed)?;
    let states = 1usize << VARIABLES;
    // Log odds and κ of every conditional, by variable and state with the variable's own bit cleared.
    let mut odds = vec![vec![(0.0, 0.0); states]; VARIABLES];
    let mut neighbourhood = Neighbourhood::default();
    for (variable, odds) in odds.iter_mut().enumerate() {
        let factors = field.degree(variable);
        let mut numbers = vec![0.0; factors];
        for state in (0..states).filter(|state| state >> variable & 1 == 0) {
            let bits: Vec<u8> = (0..VARIABLES).map(|i| (state >> i & 1) as u8).collect();
            let mut conditional = field.conditional(variable, [1, 0], &bits, &mut neighbourhood)?;
            let ratio = conditional.offset() + conditional.total()?.sum();
            conditional.reveal(0..factors, &mut numbers)?;
            odds[state] = (ratio, kappa((Moments::of(&numbers).m2 / factors as f64).sqrt(), factors)?);
        }
    }
    let all = |of: &dyn Fn((f64, f64)) -> Result<f64>| -> Result<Conditionals> {
        odds.iter().map(|list| list.iter().map(|&one| of(one)).collect()).collect()
    };
    let exact = all(&|(ratio, _)| Ok(Law::Logistic.acceptance(ratio)))?;
    let eta = contraction(&rows(states, |p| sweep(p, &exact)));
    let single = contraction(&rows(states, |p| update(p, 0, &exact)));
    let truth = stationary(states, |p| sweep(p, &exact));
    let mut sides = Vec::new();
    for epsilon in LEVELS {
        let settings = SequentialSettings { law: Law::Logistic, ..SequentialSettings::paper(BATCH, epsilon) };
        let walk = TestWalk::new(TestPlan::of_settings(&settings, field.degree(0))?, Accuracy::Exact);
        let table = ErrorTable::new(&walk, Accuracy::Exact);
        let step = |(ratio, kappa): (f64, f64)| table.step(Law::Logistic, ratio, kappa);
        let approximate =
            all(&|one| step(one).map(|found| found.acceptance + found.delta).map_err(Into::into))?;
        let deltas = approximate.iter().flatten().zip(exact.iter().flatten()).map(|(a, b)| (a - b).abs());
        let largest_delta = deltas.fold(0.0, f64::max);
        let found = stationary(states, |p| sweep(p, &approximate));
        let bound = gibbs_bound(largest_delta, eta, Scan::Systematic { sites: VARIABLES })?;
        sides.push(Side { epsilon, largest_delta, bound, distance: variation(&found, &truth) });
    }
    let mut table =
        Table::new("gibbs_theorem", &["epsilon", "largest_delta", "contraction", "bound", "distance"]);
    for side in &sides {
        table.push(
            [side.epsilon, side.largest_delta, eta, side.bound, side.distance].map(Into::into).to_vec(),
        );
    }
    let section = Section {
        title: "The Gibbs theorem, both sides".into(),
        figure: Some(("gibbs_theorem".into(), figure(&sides))),
        caption: format!(
            "A field of {VARIABLES} binary variables with all triples, log potentials of standard deviation {SD}, {BATCH} pairs at a time: all {states} \
             states are enumerated. η = {eta:.3} is Dobrushin's coefficient of a sweep, {single:.3} that of a single update."
        ),
        checks: judge(&sides, single),
    };
    Ok((section, table))
}

pub(super) fn judge(sides: &[Side], single: f64) -> Vec<Check> {
    let ratio = |side: &Side| Estimate::exact(format!("ε = {}", side.epsilon), side.distance / side.bound);
    let words = sides.iter().map(|side| {
        format!(
            "ε = {}: Δ_max {:.4}, bound {:.3}, distance {:.4}",
            side.epsilon, side.largest_delta, side.bound, side.distance
        )
    });
    vec![
        Check::of(&claims::THEOREM, sides.iter().map(ratio).collect())
            .also(words.collect::<Vec<_>>().join("; ")),
        Check::of(&claims::SINGLE, vec![Estimate::exact("", single)]),
    ]
}

fn figure(sides: &[Side]) -> Figure {
    let curve = |label: &str, of: fn(&Side) -> f64| Curve {
        label: label.into(),
        points: sides.iter().map(|side| (side.epsilon, of(side))).collect(),
    };
    let marks = sides.iter().map(|side| (side.epsilon, side.epsilon.to_string())).collect();
    let panel = Panel::new(
        "total variation",
        Axis::new("ε", Scale::Logarithmic).with_marks(marks),
        Axis::new("", Scale::Logarithmic),
    );
    let curves = vec![
        curve("D·Δ_max/(1−η)", |side| side.bound),
        curve("distance", |side| side.distance),
        curve("Δ_max", |side| side.largest_delta),
    ];
    Figure { title: "The Gibbs theorem on 256 states".into(), panels: vec![panel.curves(curves)] }
}
