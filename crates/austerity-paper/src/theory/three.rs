//! A test with three looks, worked out (supplement A): π = 1/3, 2/3, 1 and the bound G.
//!
//! Three ways to the same numbers: the recursion of the library; the double integral, since two looks that can be wrong need only
//! P(|z₁| ≤ G, z₂ < −G) = ∫_{−G}^{G} φ(z)Φ((−G − m₂(z))/σ₂)dz; and simulation of Proposition 1's conditional law.

use austerity::rng::{Role, stream};
use austerity::rule::{Bound, Looks, SequentialSettings, Statistic};
use austerity::theory::legendre::rule;
use austerity::theory::{Accuracy, TestPlan, TestWalk};
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale as AxisScale};
use rand::RngExt as _;
use rand_distr::StandardNormal;
use statrs::distribution::{Continuous as _, ContinuousCDF as _, Normal};

use super::{Part, Scale, claims};
use crate::claim::Estimate;
use crate::{Check, Context, Result, Section, Table};

const EPSILON: f64 = 0.05;
/// Any multiple of 3: the walk depends on the shares only.
const ROWS: usize = 12_000;
/// Distances that are compared; the first is the worst case.
const DISTANCES: [f64; 4] = [0.0, 0.5, 1.0, 2.0];
/// The one that is drawn.
const DRAWN: f64 = 0.5;
/// Walks that are drawn.
const SHOWN: usize = 10;

/// Error and data use.
#[derive(Clone, Copy)]
struct Pair {
    error: f64,
    usage: f64,
}

pub(super) fn run(context: &Context, scale: &Scale) -> Result<Part> {
    let settings = SequentialSettings {
        looks: Looks::Custom { rows: vec![ROWS / 3, 2 * ROWS / 3] },
        bound: Bound::pocock(EPSILON),
        statistic: Statistic::Normal,
        ..SequentialSettings::paper(1, EPSILON)
    };
    let walk = TestWalk::new(TestPlan::of_settings(&settings, ROWS)?, Accuracy::Exact);
    let bound = Normal::standard().inverse_cdf(1.0 - EPSILON);
    let mut table = Table::new(
        "three_looks",
        &[
            "mu_std",
            "error",
            "error_integral",
            "error_simulated",
            "usage",
            "usage_integral",
            "usage_simulated",
        ],
    );
    let mut apart = 0.0f64;
    let mut off = Vec::new();
    for (number, distance) in DISTANCES.into_iter().enumerate() {
        let recursion = walk.outcome(distance);
        let direct = integral(distance, bound);
        let (simulated, errors) = simulate(distance, bound, scale.three_looks, context.seed, number as u32);
        apart = apart
            .max((recursion.error - direct.error).abs())
            .max((recursion.data_usage - direct.usage).abs());
        off.push(Estimate::new(
            format!("E at {distance}"),
            simulated.error - recursion.error,
            (errors.error, f64::INFINITY),
        ));
        off.push(Estimate::new(
            format!("π̄ at {distance}"),
            simulated.usage - recursion.data_usage,
            (errors.usage, f64::INFINITY),
        ));
        let row = [
            distance,
            recursion.error,
            direct.error,
            simulated.error,
            recursion.data_usage,
            direct.usage,
            simulated.usage,
        ];
        table.push(row.map(Into::into).to_vec());
    }
    let worst = walk.worst_case();
    let last = walk.stopping(0.0).last().map_or(0.0, |stop| stop.right);
    let checks = judge(apart, off, worst.error - 0.5 * (1.0 - last));
    let section = Section {
        title: "A test with three looks".into(),
        figure: Some(("three_looks".into(), figure(bound, context.seed))),
        caption: format!(
            "Looks at 1/3 and 2/3 of the data with the bound ±G = ±{bound:.3} (ε = {EPSILON}), and at all data. Mean and 95 % band at μ_std = \
             {DRAWN}; a walk ends where it leaves the bound, below it with the wrong decision.",
        ),
        checks,
    };
    Ok((section, vec![table]))
}

/// The claims: how far the recursion is from the integral, from simulations, and from the closed form of the worst case.
pub(super) fn judge(apart: f64, off: Vec<Estimate>, worst: f64) -> Vec<Check> {
    vec![
        Check::of(&claims::THREE_RECURSION, vec![Estimate::exact("", apart)]).remark(
            "The printed G = Φ(1−ε) is a misprint of Φ⁻¹(1−ε), and the sum over looks ends before the last, which is never wrong.",
        ),
        Check::of(&claims::THREE_SIMULATION, off),
        Check::of(&claims::THREE_WORST, vec![Estimate::exact("", worst.abs())]),
    ]
}

/// Mean of z₂ given z₁, and its standard deviation, at shares 1/3 and 2/3 (Proposition 1).
fn second_look(first: f64, distance: f64) -> (f64, f64) {
    let (before, here): (f64, f64) = (1.0 / 3.0, 2.0 / 3.0);
    let step = here - before;
    let drift = distance * step / (1.0 - before) / (here * (1.0 - here)).sqrt();
    let keep = (before / here * (1.0 - here) / (1.0 - before)).sqrt();
    (drift + keep * first, (step / (here * (1.0 - before))).sqrt())
}

/// Mean of z at a share.
fn mean_at(share: f64, distance: f64) -> f64 {
    distance * (share / (1.0 - share)).sqrt()
}

fn integral(distance: f64, bound: f64) -> Pair {
    let normal = Normal::standard();
    let first = mean_at(1.0 / 3.0, distance);
    let beyond = |mean: f64, sd: f64| (normal.cdf((-bound - mean) / sd), normal.cdf((mean - bound) / sd));
    let (wrong, right) = beyond(first, 1.0);
    let (mut later_wrong, mut later_right) = (0.0, 0.0);
    let quadrature = rule(200);
    for (node, weight) in quadrature.nodes.iter().zip(&quadrature.weights) {
        let z = bound * node;
        let (mean, sd) = second_look(z, distance);
        let (below, above) = beyond(mean, sd);
        let weight = bound * weight * normal.pdf(z - first);
        later_wrong += weight * below;
        later_right += weight * above;
    }
    let (early, middle) = (wrong + right, later_wrong + later_right);
    Pair { error: wrong + later_wrong, usage: early / 3.0 + middle * 2.0 / 3.0 + (1.0 - early - middle) }
}

/// Estimates and their standard errors.
fn simulate(distance: f64, bound: f64, count: usize, seed: u64, number: u32) -> (Pair, Pair) {
    let mut rng = stream(seed, number, Role::Data);
    let (mut wrong, mut usage, mut squares) = (0.0, 0.0, 0.0);
    for _ in 0..count {
        let mut z: f64 = mean_at(1.0 / 3.0, distance) + rng.sample::<f64, _>(StandardNormal);
        let mut share: f64 = 1.0 / 3.0;
        if z.abs() <= bound {
            let (mean, sd) = second_look(z, distance);
            z = mean + sd * rng.sample::<f64, _>(StandardNormal);
            share = if z.abs() <= bound { 1.0 } else { 2.0 / 3.0 };
        }
        wrong += f64::from(u8::from(share < 1.0 && z < -bound));
        usage += share;
        squares += share * share;
    }
    let n = count as f64;
    let (error, usage) = (wrong / n, usage / n);
    let deviation = |variance: f64| (variance.max(1.0 / n) / n).sqrt();
    let errors =
        Pair { error: deviation(error * (1.0 - error)), usage: deviation(squares / n - usage * usage) };
    (Pair { error, usage }, errors)
}

fn figure(bound: f64, seed: u64) -> Figure {
    let shares: Vec<f64> = (1..=90).map(|i| 0.01 * f64::from(i)).collect();
    let shifted = |shift: f64| shares.iter().map(move |&share| (share, mean_at(share, DRAWN) + shift));
    let level = |height: f64| [(1.0 / 3.0, height), (2.0 / 3.0, height)];
    // Two edges of one curve, with a gap between them.
    let gap = [(f64::NAN, f64::NAN)];
    let curve = |label: &str, points: Vec<(f64, f64)>| Curve { label: label.into(), points };
    let curves = vec![
        curve("mean", shifted(0.0).collect()),
        curve("±G", level(bound).into_iter().chain(gap).chain(level(-bound)).collect()),
        curve("95 % band", shifted(1.96).chain(gap).chain(shifted(-1.96)).collect()),
    ];
    let mut panel = Panel::new(
        format!("μ_std = {DRAWN}, ε = {EPSILON}"),
        Axis::new("share of the data π", AxisScale::Linear).with_limits(0.0, 1.0),
        Axis::new("z", AxisScale::Linear),
    )
    .mark(Mark::Upright(1.0 / 3.0))
    .mark(Mark::Upright(2.0 / 3.0));
    let mut rng = stream(seed, 100, Role::Data);
    for series in 0..SHOWN {
        let first = mean_at(1.0 / 3.0, DRAWN) + rng.sample::<f64, _>(StandardNormal);
        let mut points = vec![(0.0, 0.0), (1.0 / 3.0, first)];
        if first.abs() <= bound {
            let (mean, sd) = second_look(first, DRAWN);
            points.push((2.0 / 3.0, mean + sd * rng.sample::<f64, _>(StandardNormal)));
        }
        panel = panel.mark(Mark::Points { series: series + 3, points: points[1..].to_vec() });
        panel = panel.mark(Mark::Line { series: series + 3, points });
    }
    Figure { title: "Three looks".into(), panels: vec![panel.curves(curves)] }
}
