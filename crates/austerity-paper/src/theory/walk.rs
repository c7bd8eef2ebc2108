//! The random walk of z (supplement A, Proposition 1): mean μ_std√t, variance 1, correlation √(t_i/t_j), t = π/(1−π).
//!
//! Every row of a real population is revealed in random order, and z = (l̄ − μ0)√(N−1)/σ_l·√t is noted at shares of the data from 2 % to
//! 98 %. Mean, variance and correlation of z are identities of sampling without replacement; that the band holds 95 % is the normal
//! approximation.

use austerity::rng::{Role, stream};
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale as AxisScale};
use rand::RngExt as _;

use super::pairs::{Moves, Pair};
use super::{Part, Scale, statistic::stand_in};
use crate::{Check, Context, Error, Result, Section, Table, parallel};

/// The distance of the example.
const DISTANCE: f64 = 1.0;
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

    let count = walks.len() as f64;
    let mut table =
        Table::new("walk", &["share", "mean", "mean_simulated", "variance_simulated", "inside_band"]);
    let (mut off, mut variances, mut inside) = (0.0f64, (f64::MAX, 0.0f64), (1.0f64, 0.0f64));
    for (j, (&share, &root)) in shares.iter().zip(&roots).enumerate() {
        let expected = DISTANCE * root;
        let mean = walks.iter().map(|walk| walk[j]).sum::<f64>() / count;
        let variance = walks.iter().map(|walk| (walk[j] - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let covered = walks.iter().filter(|walk| (walk[j] - expected).abs() <= BAND).count() as f64 / count;
        off = off.max((mean - expected).abs());
        variances = (variances.0.min(variance), variances.1.max(variance));
        inside = (inside.0.min(covered), inside.1.max(covered));
        table.push([share, expected, mean, variance, covered].map(Into::into).to_vec());
    }
    let correlation = worst_correlation(&walks, &roots);
    let noise = 1.0 / count.sqrt();
    let remark = stand_in(moves.real);
    let band_error = 4.0 * (0.95f64 * 0.05).sqrt() * noise;
    let claim = "The mean of z approaches infinity as π approaches 1, with a constant variance of 1.";
    let last = DISTANCE * roots[LOOKS - 1];
    let checks = vec![
        Check::new(
            "walk-mean",
            claim,
            format!(
                "mean of z = μ_std√(π/(1−π)) at {LOOKS} shares, up to {last:.1} at 98 %, within 4 standard errors ({:.3})",
                4.0 * noise
            ),
            format!("largest difference {off:.4}"),
            off <= 4.0 * noise,
        ),
        Check::new(
            "walk-variance",
            claim,
            format!("variance 1 at every share, within 4 standard errors ({:.3})", 4.0 * 2f64.sqrt() * noise),
            format!("{:.3} to {:.3}", variances.0, variances.1),
            (variances.0 - 1.0).abs().max((variances.1 - 1.0).abs()) <= 4.0 * 2f64.sqrt() * noise,
        ),
        Check::new(
            "walk-correlation",
            "The sequence z is a Gaussian random walk (Proposition 1), so corr(z_i, z_j) = √(t_i/t_j) with t = π/(1−π).",
            format!("correlations as said, within 4 standard errors ({:.3})", 4.0 * noise),
            format!("largest difference {correlation:.4}"),
            correlation <= 4.0 * noise,
        ),
        Check::new(
            "walk-band",
            "Mean and 95 % interval of the random walk as a function of π.",
            format!(
                "95 % of simulated z inside the band at every share, within 4 standard errors ({band_error:.4}) and half a per cent"
            ),
            format!("{:.2} % to {:.2} %", 100.0 * inside.0, 100.0 * inside.1),
            inside.0 >= 0.95 - band_error - 0.005 && inside.1 <= 0.95 + band_error + 0.005,
        ),
    ];
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

/// The largest difference between simulated and theoretical correlations, over pairs of looks.
fn worst_correlation(walks: &[Vec<f64>], roots: &[f64]) -> f64 {
    let count = walks.len() as f64;
    let mean = |j: usize| walks.iter().map(|walk| walk[j]).sum::<f64>() / count;
    let chosen: Vec<usize> = (0..LOOKS).step_by(8).collect();
    let mut worst = 0.0f64;
    for &i in &chosen {
        for &j in chosen.iter().filter(|&&j| j > i) {
            let (a, b) = (mean(i), mean(j));
            let sums = walks.iter().fold([0.0; 3], |[xy, xx, yy], walk| {
                let (x, y) = (walk[i] - a, walk[j] - b);
                [xy + x * y, xx + x * x, yy + y * y]
            });
            let found = sums[0] / (sums[1] * sums[2]).sqrt();
            worst = worst.max((found - roots[i] / roots[j]).abs());
        }
    }
    worst
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
