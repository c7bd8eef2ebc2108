//! The leave-one-out log density of one row by Pareto-smoothed importance sampling (PSIS-LOO).
//!
//! With log densities ℓ_s of the row at S draws of the full posterior, the posterior without the row has importance ratios r_s = exp(−ℓ_s), and
//!
//! elpd = log Σ_s w_s exp(ℓ_s) − log Σ_s w_s.
//!
//! The M largest ratios are replaced by quantiles of a generalised Pareto distribution that is fitted to them, M = min(S/5, 3√(S/r_eff)) (Vehtari, Simpson,
//! Gelman, Yao and Gabry 2024, "Pareto smoothed importance sampling", §3; Vehtari, Gelman and Gabry 2017). The fit is the profile estimate of Zhang and Stephens (2009,
//! "A new and efficient estimation method for the generalized Pareto distribution") with the weak prior of Vehtari et al. that pulls the shape k to ½ by ten observations. k above
//! 0.7 says that the row moves the posterior too far for these draws: its value is then not to be relied on.
//!
//! Cost: two exponentials per draw, one selection, a sort of M numbers, and 30 + √M passes over them.

/// Above this the estimate of a row is unreliable, whatever the number of draws.
pub(crate) const UNRELIABLE: f64 = 0.7;
/// Observations that the prior of k is worth, and its mean.
const PRIOR: (f64, f64) = (10.0, 0.5);
/// How far beyond 1/(largest value) the candidates of the profile reach, in quartiles.
const PRIOR_QUARTILES: f64 = 3.0;
/// Fewer tail values than this have no fit.
const FEWEST: usize = 5;

/// What one row contributes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LeftOut {
    /// Log density of the row given all others.
    pub(crate) elpd: f64,
    /// Log of the average density at the draws, the row itself included.
    pub(crate) lpd: f64,
    /// Shape of the tail of the ratios; ∞ where it could not be fitted, −∞ of ratios that are all the same.
    pub(crate) shape: f64,
}

/// Smooths rows of the same number of draws.
#[derive(Debug)]
pub(crate) struct Smoother {
    tail: usize,
    log_ratios: Vec<f64>,
    selected: Vec<f64>,
    places: Vec<usize>,
    excess: Vec<f64>,
}

impl Smoother {
    /// For so many draws, whose effective number is `efficiency` times as large.
    pub(crate) fn new(draws: usize, efficiency: f64) -> Self {
        Self {
            tail: tail_length(draws, efficiency),
            log_ratios: Vec::with_capacity(draws),
            selected: Vec::with_capacity(draws),
            places: Vec::new(),
            excess: Vec::new(),
        }
    }

    /// The row with these log densities, one per draw.
    pub(crate) fn leave_out(&mut self, log_densities: &[f64]) -> LeftOut {
        let lowest = log_densities.iter().copied().fold(f64::INFINITY, f64::min);
        self.log_ratios.clear();
        self.log_ratios.extend(log_densities.iter().map(|value| lowest - value));
        let shape = self.smooth();
        let (mut total, mut weighted, mut plain) = (0.0, 0.0, 0.0);
        let highest = log_densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (ratio, density) in self.log_ratios.iter().zip(log_densities) {
            let (weight, relative) = (ratio.exp(), (density - highest).exp());
            total += weight;
            weighted += weight * relative;
            plain += relative;
        }
        let lpd = highest + (plain / log_densities.len() as f64).ln();
        LeftOut { elpd: highest + (weighted / total).ln(), lpd, shape }
    }

    /// Replaces the largest log ratios by those of the fitted tail; tells the shape. No ratio becomes larger than the largest was.
    fn smooth(&mut self) -> f64 {
        let count = self.log_ratios.len();
        if self.tail + 1 > count {
            return f64::INFINITY;
        }
        self.selected.clone_from(&self.log_ratios);
        let (_, &mut below, _) = self.selected.select_nth_unstable_by(count - self.tail - 1, f64::total_cmp);
        let cutoff = below.max(f64::MIN_POSITIVE.ln());
        let ratios = &self.log_ratios;
        self.places.clear();
        self.places.extend((0..count).filter(|&draw| ratios[draw] > cutoff));
        if self.places.is_empty() && ratios.iter().all(|ratio| *ratio == 0.0) {
            // No draw differs from another: the row moves nothing.
            return f64::NEG_INFINITY;
        }
        if self.places.len() < FEWEST {
            return f64::INFINITY;
        }
        self.places.sort_unstable_by(|&a, &b| ratios[a].total_cmp(&ratios[b]));
        let start = cutoff.exp();
        self.excess.clear();
        self.excess.extend(self.places.iter().map(|&draw| ratios[draw].exp() - start));
        let Some((shape, scale)) = fit(&self.excess) else { return f64::INFINITY };
        if shape.is_finite() {
            let length = self.places.len() as f64;
            for (rank, &draw) in self.places.iter().enumerate() {
                let level = (rank as f64 + 0.5) / length;
                self.log_ratios[draw] = (start + scale * quantile(level, shape)).ln().min(0.0);
            }
        }
        shape
    }
}

/// Draws in the tail.
fn tail_length(draws: usize, efficiency: f64) -> usize {
    let draws = draws as f64;
    (0.2 * draws).min(3.0 * (draws / efficiency).sqrt()).ceil() as usize
}

/// The quantile of a generalised Pareto distribution of scale 1.
fn quantile(level: f64, shape: f64) -> f64 {
    let rest = (-level).ln_1p();
    if shape.abs() < f64::EPSILON { -rest } else { (-shape * rest).exp_m1() / shape }
}

/// Shape and scale of a generalised Pareto distribution from sorted values above 0; nothing where they do not tell.
fn fit(sorted: &[f64]) -> Option<(f64, f64)> {
    let count = sorted.len();
    let (n, largest) = (count as f64, *sorted.last()?);
    let quartile = sorted[((n / 4.0 + 0.5).floor() as usize).max(1) - 1];
    if !(quartile > 0.0 && largest.is_finite()) {
        return None;
    }
    let candidates = 30 + n.sqrt() as usize;
    let shape_of = |b: f64| sorted.iter().map(|value| (-b * value).ln_1p()).sum::<f64>() / n;
    let profile: Vec<(f64, f64)> = (1..=candidates)
        .map(|j| {
            let spread = 1.0 - (candidates as f64 / (j as f64 - 0.5)).sqrt();
            let b = spread / (PRIOR_QUARTILES * quartile) + 1.0 / largest;
            let shape = shape_of(b);
            (b, n * ((-b / shape).ln() - shape - 1.0))
        })
        .collect();
    let best = profile.iter().map(|(_, likelihood)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
    if !best.is_finite() {
        return None;
    }
    let (mut total, mut mean) = (0.0, 0.0);
    for (b, likelihood) in profile {
        let weight = (likelihood - best).exp();
        if weight.is_finite() {
            total += weight;
            mean += weight * b;
        }
    }
    let b = mean / total;
    let shape = shape_of(b);
    let (worth, centre) = PRIOR;
    Some(((n * shape + worth * centre) / (n + worth), -shape / b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random and are the same everywhere.
    fn uniforms(count: usize) -> Vec<f64> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        (0..count).map(|_| next()).collect()
    }

    /// The shape of 3,000 Pareto values: the estimate's standard deviation is about (1 + k)/√n = 0.03, so 0.12 is four of them.
    #[test]
    fn the_shape_of_a_pareto_sample_is_found() {
        for shape in [-0.2, 0.1, 0.4, 0.8] {
            let mut values: Vec<f64> = uniforms(3_000).iter().map(|&u| 2.0 * quantile(u, shape)).collect();
            values.sort_unstable_by(f64::total_cmp);
            let (found, scale) = fit(&values).unwrap();
            assert!((found - shape).abs() < 0.12 && (scale - 2.0).abs() < 0.3, "{shape}: {found} {scale}");
        }
    }

    /// A normal mean with known variance: p(y_i | y_-i) is normal, in closed form.
    #[test]
    fn a_normal_mean_has_its_known_value() {
        let draws: Vec<f64> = {
            use statrs::distribution::{ContinuousCDF as _, Normal};
            uniforms(4_000).iter().map(|&u| Normal::standard().inverse_cdf(u) / 20f64.sqrt()).collect()
        };
        // Twenty rows, posterior of the mean N(0, 1/20); leaving out y gives N(−y/19, 1/19).
        for y in [0.0f64, 0.5, 1.5] {
            let densities: Vec<f64> = draws
                .iter()
                .map(|mean| -0.5 * (y - mean).powi(2) - 0.5 * (2.0 * std::f64::consts::PI).ln())
                .collect();
            let found = Smoother::new(4_000, 1.0).leave_out(&densities);
            let variance = 1.0 + 1.0 / 19.0;
            let distance = y + y / 19.0;
            let exact =
                -0.5 * distance * distance / variance - 0.5 * (2.0 * std::f64::consts::PI * variance).ln();
            assert!((found.elpd - exact).abs() < 0.01, "{y}: {} {exact}", found.elpd);
            assert!(found.shape < 0.4 && found.lpd > found.elpd, "{found:?}");
        }
    }

    #[test]
    fn odd_rows_give_answers_without_noise() {
        let same = Smoother::new(100, 1.0).leave_out(&[-1.25; 100]);
        assert_eq!((same.elpd, same.lpd), (-1.25, -1.25));
        let few = Smoother::new(3, 1.0).leave_out(&[-1.0, -2.0, -3.0]);
        assert!(few.elpd.is_finite() && few.shape == f64::INFINITY);
    }
}
