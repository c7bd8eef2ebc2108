//! How far draws are from a posterior that is known: total variation of histograms, Kolmogorov's distance, and their noise.
//!
//! Errors are by the jackknife over chains. Noise alone makes a histogram differ from the truth, never nearer to it on average: beside the total
//! variation stands what an unbiased sampler with bars as noisy as these would show, ½ Σ √(2/π)·se(bar), the standard errors from the spread
//! between chains. Kolmogorov's distance of independent draws passes 1.95/√n once in a thousand times; n is the effective sample size.

use austerity::diagnostics::ess_bulk;

use super::target::Target;

/// Distances and their noise.
#[derive(Clone, Debug)]
pub(super) struct Distance {
    pub(super) total_variation: f64,
    pub(super) total_variation_error: f64,
    /// What the noise of the bars alone would show.
    pub(super) floor: f64,
    pub(super) kolmogorov: f64,
    pub(super) kolmogorov_error: f64,
    /// What independent draws of the same number pass once in a thousand times.
    pub(super) critical: f64,
    pub(super) ess: f64,
    pub(super) mean: f64,
    pub(super) sd: f64,
    /// Density of the draws between neighbouring edges of the target.
    pub(super) heights: Vec<f64>,
}

pub(super) fn measure<M>(target: &Target<M>, chains: &[Vec<f64>]) -> Distance {
    let (edges, masses) = (target.edges(), target.masses());
    let shares: Vec<Vec<f64>> = chains.iter().map(|chain| shares(&edges, chain)).collect();
    let uneven = |left_out: Option<usize>| {
        let kept: Vec<&Vec<f64>> = kept(&shares, left_out).collect();
        let share = |bar: usize| kept.iter().map(|one| one[bar]).sum::<f64>() / kept.len() as f64;
        0.5 * masses.iter().enumerate().map(|(bar, mass)| (share(bar) - mass).abs()).sum::<f64>()
    };
    // Probability transforms, sorted once; a chain is left out by skipping it.
    let mut places: Vec<(f64, usize)> = (chains.iter().enumerate())
        .flat_map(|(number, chain)| chain.iter().map(move |&draw| (draw, number)))
        .map(|(draw, number)| (target.cumulative(draw), number))
        .collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let largest_gap = |left_out: Option<usize>| {
        let kept = || places.iter().filter(|place| Some(place.1) != left_out);
        let count = kept().count() as f64;
        kept().enumerate().fold(0.0f64, |gap, (i, place)| {
            gap.max((place.0 - i as f64 / count).abs()).max((place.0 - (i + 1) as f64 / count).abs())
        })
    };
    let slices: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
    let ess = ess_bulk(&slices);
    let noise = |bar: usize| {
        let (count, mean) =
            (shares.len() as f64, shares.iter().map(|one| one[bar]).sum::<f64>() / shares.len() as f64);
        let square = shares.iter().map(|one| (one[bar] - mean).powi(2)).sum::<f64>() / (count - 1.0);
        // The mean of a sample sd of few numbers is short by about this factor.
        let short = 4.0 * (count - 1.0) / (4.0 * count - 3.0);
        (2.0 / std::f64::consts::PI * square / count).sqrt() / short
    };
    let count = chains.iter().map(Vec::len).sum::<usize>() as f64;
    let mean = chains.iter().flatten().sum::<f64>() / count;
    let square = chains.iter().flatten().map(|draw| (draw - mean).powi(2)).sum::<f64>() / count;
    let heights = (1..edges.len())
        .map(|bar| {
            let share = shares.iter().map(|one| one[bar]).sum::<f64>() / shares.len() as f64;
            share / (edges[bar] - edges[bar - 1])
        })
        .collect();
    Distance {
        total_variation: uneven(None),
        total_variation_error: jackknife(chains.len(), uneven),
        floor: 0.5 * (0..masses.len()).map(noise).sum::<f64>(),
        kolmogorov: largest_gap(None),
        kolmogorov_error: jackknife(chains.len(), largest_gap),
        critical: 1.95 / ess.sqrt(),
        ess,
        mean,
        sd: square.sqrt(),
        heights,
    }
}

fn kept<T>(all: &[T], left_out: Option<usize>) -> impl Iterator<Item = &T> {
    all.iter().enumerate().filter(move |(number, _)| Some(*number) != left_out).map(|(_, one)| one)
}

/// Shares of `draws` below the first edge, between neighbouring ones, and beyond the last.
fn shares(edges: &[f64], draws: &[f64]) -> Vec<f64> {
    let mut counts = vec![0.0; edges.len() + 1];
    for draw in draws {
        counts[edges.partition_point(|edge| edge < draw)] += 1.0;
    }
    counts.iter().map(|count| count / draws.len() as f64).collect()
}

/// Standard error of a statistic of several chains by leaving out one at a time.
fn jackknife(count: usize, statistic: impl Fn(Option<usize>) -> f64) -> f64 {
    let values: Vec<f64> = (0..count).map(|number| statistic(Some(number))).collect();
    let mean = values.iter().sum::<f64>() / count as f64;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    ((count as f64 - 1.0) / count as f64 * square).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::target::toy;
    use super::*;
    use austerity::rng::{Role, stream};
    use rand::RngExt as _;

    /// Exact draws are at the noise floor, draws moved by half an sd are not. The total variation is a mean over some 40 bars of |noise|, whose
    /// own sd is about an eighth of it, and the floor is as noisy: twice as much is beyond 5 sds; the seed is fixed.
    #[test]
    fn exact_draws_are_at_the_floor_and_moved_ones_are_not() {
        let (_, target) = toy().unwrap();
        let posterior = *target.model.posterior();
        let chain = |number: u32, moved: f64| -> Vec<f64> {
            let mut rng = stream(6, number, Role::Start);
            (0..1500).map(|_| posterior.quantile(rng.random()) + moved).collect()
        };
        let exact: Vec<Vec<f64>> = (0..4).map(|number| chain(number, 0.0)).collect();
        let distance = measure(&target, &exact);
        assert!(distance.total_variation < 2.0 * distance.floor, "{distance:?}");
        assert!(
            distance.kolmogorov < distance.critical && distance.total_variation_error > 0.0,
            "{distance:?}"
        );
        assert!((distance.sd / target.sd - 1.0).abs() < 0.06 && (distance.ess / 6000.0 - 1.0).abs() < 0.2);
        let moved: Vec<Vec<f64>> = (0..4).map(|number| chain(number, 0.5 * target.sd)).collect();
        let distance = measure(&target, &moved);
        assert!(distance.total_variation > 0.2 && distance.kolmogorov > 5.0 * distance.critical);
    }
}
