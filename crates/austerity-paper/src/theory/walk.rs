//! The random walk of z (supplement A, Proposition 1): mean μ_std√t, variance 1, correlation √(t_i/t_j), t = π/(1−π).
//!
//! Every row of a real population is revealed in random order, and z = (l̄ − μ0)√(N−1)/σ_l·√t is noted at shares of the data from 2 % to
//! 98 %. Mean, variance and correlation of z are identities of sampling without replacement; that the band holds 95 % is the normal
//! approximation.

use austerity::rng::{Role, stream};
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale as AxisScale};
use rand::RngExt as _;

use super::pairs::{Moves, Pair};
use super::{Part, Scale, claims, statistic::stand_in};
use crate::claim::Estimate;
use crate::{Check, Context, Error, Result, Section, Table, parallel};

/// The distance of the example.
pub(super) const DISTANCE: f64 = 1.0;
/// Looks, at equal steps, the last one before all data.
const LOOKS: usize = 49;
/// Half the width of the band.
const BAND: f64 = 1.959_964;
/// Walks that are drawn.
const SHOWN: usize = 6;

pub(super) fn run(context: &Context, scale: &Scale, moves: &Moves) -> Result<Part> {
    let pair = &moves.pairs[0];
    let looks: Vec<usize> = (1..=LOOKS).map(|j| moves.rows * j / (LOOKS + 1)).collect();
    let shares: Vec<f64> = looks.iter().map(|&n| n as f64 / moves.rows as f64).collect();
    let roots: Vec<f64> = shares.iter().map(|share| (share / (1.0 - share)).sqrt()).collect();
    let pieces: Vec<u32> = (0..context.threads as u32).collect();
    let each = scale.walks.div_ceil(pieces.len());
    let walks: Vec<Vec<f64>> = parallel::each(context.threads, &pieces, |_, &piece| {
        Ok::<_, Error>(simulate(pair, (&looks, &roots), each, (context.seed, piece)))
    })?
    .concat();

    let (table, checks) = judge(&walks, &shares, &roots);
    let remark = stand_in(moves.real);
    let section = Section {
        title: "z follows a Gaussian random walk".into(),
        figure: Some(("walk".into(), figure(&shares, &roots, &walks))),
        caption: format!(
            "Mean and 95 % band by Proposition 1 at μ_std = {DISTANCE}, with {} of {} walks of a real population, whose rows are revealed in \
             random order.",
            SHOWN.min(walks.len()),
            walks.len()
        ),
        checks: checks.into_iter().map(|check| check.remark(remark)).collect(),
    };
    Ok((section, vec![table]))
}

/// The table, and the claims for walks seen at these shares.
pub(super) fn judge(walks: &[Vec<f64>], shares: &[f64], roots: &[f64]) -> (Table, Vec<Check>) {
    let count = walks.len() as f64;
    let mut table =
        Table::new("walk", &["share", "mean", "mean_simulated", "variance_simulated", "inside_band"]);
    let mut estimates = [Vec::new(), Vec::new(), Vec::new()];
    for (j, (&share, &root)) in shares.iter().zip(roots).enumerate() {
        let expected = DISTANCE * root;
        let mean = walks.iter().map(|walk| walk[j]).sum::<f64>() / count;
        let variance = walks.iter().map(|walk| (walk[j] - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let covered = walks.iter().filter(|walk| (walk[j] - expected).abs() <= BAND).count() as f64;
        table.push([share, expected, mean, variance, covered / count].map(Into::into).to_vec());
        if j % 5 == 4 || j + 1 == shares.len() {
            let label = || format!("{:.0} %", 100.0 * share);
            let normal = |error: f64| (error, f64::INFINITY);
            estimates[0].push(Estimate::new(label(), mean - expected, normal((variance / count).sqrt())));
            estimates[1].push(Estimate::new(label(), variance, normal(variance * (2.0 / count).sqrt())));
            estimates[2].push(Estimate::share(label(), covered, count));
        }
    }
    let [means, variances, inside] = estimates;
    let checks = vec![
        Check::of(&claims::WALK_MEAN, means),
        Check::of(&claims::WALK_VARIANCE, variances),
        Check::of(&claims::WALK_CORRELATION, correlations(walks, roots)),
        Check::of(&claims::WALK_BAND, inside),
    ];
    (table, checks)
}

/// Walks of z at the looks.
fn simulate(
    pair: &Pair,
    (looks, roots): (&[usize], &[f64]),
    count: usize,
    (seed, piece): (u64, u32),
) -> Vec<Vec<f64>> {
    let mut values: Vec<f64> = pair.values.iter().map(|value| (value - pair.mean) / pair.sd).collect();
    let rows = values.len();
    let scale = (rows as f64 - 1.0).sqrt();
    let mut rng = stream(seed, 1000 + piece, Role::Reveal);
    let mut walk = || {
        let (mut sum, mut drawn) = (0.0, 0);
        let look = |(&n, root): (&usize, &f64)| {
            while drawn < n {
                values.swap(drawn, rng.random_range(drawn..rows));
                sum += values[drawn];
                drawn += 1;
            }
            (sum / n as f64 * scale + DISTANCE) * root
        };
        looks.iter().zip(roots).map(look).collect()
    };
    (0..count).map(|_| walk()).collect()
}

/// Simulated less theoretical correlations of pairs of looks.
fn correlations(walks: &[Vec<f64>], roots: &[f64]) -> Vec<Estimate> {
    let count = walks.len() as f64;
    let mean = |j: usize| walks.iter().map(|walk| walk[j]).sum::<f64>() / count;
    let chosen: Vec<usize> = (0..roots.len()).step_by(16).collect();
    let mut found = Vec::new();
    for &i in &chosen {
        for &j in chosen.iter().filter(|&&j| j > i) {
            let (a, b) = (mean(i), mean(j));
            let sums = walks.iter().fold([0.0; 3], |[xy, xx, yy], walk| {
                let (x, y) = (walk[i] - a, walk[j] - b);
                [xy + x * y, xx + x * x, yy + y * y]
            });
            let correlation = sums[0] / (sums[1] * sums[2]).sqrt();
            let error = (1.0 - correlation * correlation) / count.sqrt();
            let label = format!("looks {} and {}", i + 1, j + 1);
            found.push(Estimate::new(label, correlation - roots[i] / roots[j], (error, f64::INFINITY)));
        }
    }
    found
}

fn figure(shares: &[f64], roots: &[f64], walks: &[Vec<f64>]) -> Figure {
    let shifted =
        |shift: f64| shares.iter().zip(roots).map(move |(&share, root)| (share, DISTANCE * root + shift));
    let mean = Curve { label: "mean".into(), points: shifted(0.0).collect() };
    // One curve: a gap between its upper and its lower edge.
    let gap = [(f64::NAN, f64::NAN)];
    let band =
        Curve { label: "95 % band".into(), points: shifted(BAND).chain(gap).chain(shifted(-BAND)).collect() };
    let mut panel = Panel::new(
        format!("μ_std = {DISTANCE}"),
        Axis::new("share of the data π", AxisScale::Linear).with_limits(0.0, 1.0),
        Axis::new("z", AxisScale::Linear),
    )
    .reference(0.0);
    for (series, walk) in walks.iter().take(SHOWN).enumerate() {
        let points = shares.iter().copied().zip(walk.iter().copied()).collect();
        panel = panel.mark(Mark::Line { series: series + 2, points });
    }
    let panel = panel.curves(vec![mean, band]);
    Figure { title: "The random walk of z".into(), panels: vec![panel] }
}
