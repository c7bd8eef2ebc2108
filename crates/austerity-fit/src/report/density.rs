//! A marginal density: a Gaussian kernel on a grid.
//!
//! Draws are shared out linearly between the two nearest of 97 grid points, then smoothed with Silverman's bandwidth
//! 0.9·min(sd, IQR/1.34)·n^(−1/5), never below the spacing of the grid. For looking at: a density that ends abruptly is
//! rounded off by a bandwidth, and draws far outside the central 99 % are left out of the picture. Cost: one pass and
//! 97² kernel values.

use austerity::diagnostics::quantiles;

const POINTS: usize = 97;

/// The range to show: all draws, but no further than half the central 99 % beyond it. `None` without finite draws; both
/// ends alike when all draws are.
pub(super) fn range(chains: &[&[f64]]) -> Option<(f64, f64)> {
    let finite: Vec<f64> =
        chains.iter().flat_map(|c| c.iter().copied()).filter(|v| v.abs() < 1e300).collect();
    let ends = quantiles(&[&finite], &[0.0, 0.005, 0.995, 1.0]);
    let room = 0.5 * (ends[2] - ends[1]);
    let (low, high) = (ends[0].max(ends[1] - room), ends[3].min(ends[2] + room));
    let margin = 0.04 * (high - low);
    (low.is_finite() && high.is_finite()).then_some((low - margin, high + margin))
}

/// The density of `draws` over a range that is not empty.
pub(super) fn density(draws: &[f64], (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let spacing = (high - low) / (POINTS - 1) as f64;
    let finite: Vec<f64> = draws.iter().copied().filter(|v| v.is_finite()).collect();
    if finite.is_empty() || spacing <= 0.0 || !spacing.is_finite() {
        return Vec::new();
    }
    let mut mass = [0.0; POINTS];
    for &draw in finite.iter().filter(|v| (low..=high).contains(*v)) {
        let place = (draw - low) / spacing;
        let left = (place.floor() as usize).min(POINTS - 2);
        let part = place - left as f64;
        mass[left] += 1.0 - part;
        mass[left + 1] += part;
    }
    let bandwidth = bandwidth(&finite).max(spacing);
    let kernel: Vec<f64> =
        (0..POINTS).map(|i| (-0.5 * (i as f64 * spacing / bandwidth).powi(2)).exp()).collect();
    let scale = 1.0 / (finite.len() as f64 * bandwidth * std::f64::consts::TAU.sqrt());
    (0..POINTS)
        .map(|i| {
            let sum: f64 = mass.iter().enumerate().map(|(j, weight)| weight * kernel[i.abs_diff(j)]).sum();
            (low + i as f64 * spacing, scale * sum)
        })
        .collect()
}

/// Silverman's; 0 for constant draws.
fn bandwidth(draws: &[f64]) -> f64 {
    let count = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / count;
    let sd = (draws.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
    let quartiles = quantiles(&[draws], &[0.25, 0.75]);
    let robust = (quartiles[1] - quartiles[0]) / 1.34;
    let spread = if robust > 0.0 { sd.min(robust) } else { sd };
    0.9 * spread * count.powf(-0.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evenly spread normal quantiles have a density within a few per cent of the normal one.
    #[test]
    fn the_density_of_normal_draws_is_normal() {
        let uniform = |i: u32| (f64::from(i) + 0.5) / 4000.0;
        // Box–Muller on a lattice: deterministic, close to normal.
        let draws: Vec<f64> = (0..4000)
            .map(|i| {
                let angle = std::f64::consts::TAU * (f64::from(i) * 0.618_033_988_749_895).fract();
                (-2.0 * uniform(i).ln()).sqrt() * angle.cos()
            })
            .collect();
        let range = range(&[&draws]).unwrap();
        let curve = density(&draws, range);
        let area: f64 = curve.windows(2).map(|w| 0.5 * (w[0].1 + w[1].1) * (w[1].0 - w[0].0)).sum();
        assert!((area - 1.0).abs() < 0.01, "{area}");
        let peak = curve.iter().map(|p| p.1).fold(0.0, f64::max);
        assert!((peak - 0.399).abs() < 0.03, "{peak}");
    }

    #[test]
    fn odd_draws_do_no_harm() {
        assert!(range(&[]).is_none() && range(&[&[f64::NAN]]).is_none());
        assert_eq!(range(&[&[2.0, 2.0]]), Some((2.0, 2.0)));
        assert!(density(&[2.0], (2.0, 2.0)).is_empty());
        assert!(density(&[1.0, f64::INFINITY], (0.0, 2.0)).iter().all(|p| p.1.is_finite()));
        let outlier: Vec<f64> = (0..1000).map(f64::from).chain([1e9]).collect();
        assert!(range(&[&outlier]).unwrap().1 < 2000.0);
    }
}
