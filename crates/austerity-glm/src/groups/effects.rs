//! What is known of the effects of every group, given draws of the parameters.
//!
//! ```text
//! mean  E u = mean over draws of E[u|θ],   variance = mean of Var[u|θ] + variance of E[u|θ],   P(u ≤ t) = mean over draws of F_θ(t)
//! ```
//!
//! Rao–Blackwellised: the moments of u given θ come from the quadrature, not from a draw (Gelfand & Smith 1990). Quantiles invert the mixture of conditional distribution functions,
//! each a normal one with a term for its skewness, F(z) = Φ(z) − φ(z)·γ(z² − 1)/6 (Edgeworth). Draws of effects, one per draw of the parameters, have the conditional mean, covariance
//! and skewness (Cornish & Fisher 1937: z + γ(z² − 1)/6); for predictions they are as good as their number.
//!
//! Groups come one after the other and draws within, so a group's rows stay in the cache and memory does not grow with groups times draws. Cost: draws × rows × (K + 3).

use statrs::function::erf::erfc;

use super::MOST_EFFECTS;
use super::hermite::Hermite;
use super::marginal::{Moments, Workspace};
use super::model::Multilevel;
use super::tables::Tabled;
use austerity::parallel;
use austerity::rng::{Rng, Role, stream};
use rand_distr::{Distribution as _, StandardNormal};

/// Steps of the search for a quantile.
const STEPS: usize = 60;
/// Skewness beyond which the expansion would not be monotone.
const MOST_SKEWED: f64 = 0.9;
/// The quantiles given.
pub const LEVELS: [f64; 3] = [0.025, 0.5, 0.975];

/// An effect of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffectSummary {
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Quantiles at [`LEVELS`].
    pub quantiles: [f64; 3],
}

/// The effects of all groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// The level that every group is.
    pub levels: Vec<u32>,
    /// Rows of every group.
    pub sizes: Vec<u32>,
    /// Effect by effect within a group.
    pub summaries: Vec<EffectSummary>,
    /// One draw per draw of the parameters: of a group all draws, of a draw all effects. Empty where none were asked for.
    pub draws: Vec<f32>,
}

/// Φ(z).
fn normal_below(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// One effect of a group given every draw: conditional mean, standard deviation and skewness.
type Conditionals = Vec<[f64; 3]>;

fn below(conditionals: &[[f64; 3]], t: f64) -> f64 {
    let one = |&[mean, sd, skew]: &[f64; 3]| {
        let z = (t - mean) / sd;
        if z.abs() > 9.0 {
            return f64::from(u8::from(z > 0.0));
        }
        let density =
            (-0.5 * z * z).exp() * (0.5 * std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2);
        (normal_below(z) - density * skew * (z * z - 1.0) / 6.0).clamp(0.0, 1.0)
    };
    conditionals.iter().map(one).sum::<f64>() / conditionals.len() as f64
}

fn quantile(conditionals: &[[f64; 3]], level: f64, around: (f64, f64)) -> f64 {
    let (mean, sd) = around;
    let (mut low, mut high) = (mean - 8.0 * sd, mean + 8.0 * sd);
    while below(conditionals, low) > level {
        low -= 4.0 * sd;
    }
    while below(conditionals, high) < level {
        high += 4.0 * sd;
    }
    // Regula falsi with halving (Illinois): a few steps where the mixture is nearly normal.
    let (mut f_low, mut f_high) = (below(conditionals, low) - level, below(conditionals, high) - level);
    let mut last = 0;
    for step in 0..STEPS {
        let bisect = step % 4 == 0 || f_high - f_low < 1e-300;
        let t = if bisect { 0.5 * (low + high) } else { (low * f_high - high * f_low) / (f_high - f_low) };
        let f = below(conditionals, t) - level;
        if f.abs() < 1e-9 || high - low < 1e-10 * sd.max(f64::MIN_POSITIVE) {
            return t;
        }
        if f < 0.0 {
            (low, f_low) = (t, f);
            if last == -1 {
                f_high *= 0.5;
            }
            last = -1;
        } else {
            (high, f_high) = (t, f);
            if last == 1 {
                f_low *= 0.5;
            }
            last = 1;
        }
    }
    0.5 * (low + high)
}

fn summary(conditionals: &[[f64; 3]]) -> EffectSummary {
    let draws = conditionals.len() as f64;
    let mean = conditionals.iter().map(|[mean, ..]| mean).sum::<f64>() / draws;
    let variance =
        conditionals.iter().map(|[own, sd, _]| sd * sd + (own - mean).powi(2)).sum::<f64>() / draws;
    let sd = variance.sqrt();
    let quantiles = LEVELS.map(|level| quantile(conditionals, level, (mean, sd)));
    EffectSummary { mean, sd, quantiles }
}

/// A draw of all effects of a group from their conditional moments.
fn drawn(
    moments: &Moments,
    covariance: &[[f64; MOST_EFFECTS]; MOST_EFFECTS],
    q: usize,
    rng: &mut Rng,
) -> [f64; MOST_EFFECTS] {
    let root = super::marginal::cholesky(q, covariance);
    let z: [f64; MOST_EFFECTS] = std::array::from_fn(|_| StandardNormal.sample(rng));
    std::array::from_fn(|a| {
        if a >= q {
            return 0.0;
        }
        let sd = covariance[a][a].max(f64::MIN_POSITIVE).sqrt();
        // Standard normal, correlated with those of the other effects.
        let own = (0..=a).map(|b| root[a][b] * z[b]).sum::<f64>() / sd;
        let skew = (moments.third[a] / sd.powi(3)).clamp(-MOST_SKEWED, MOST_SKEWED);
        moments.mean[a] + sd * (own + skew * (own * own - 1.0) / 6.0)
    })
}

/// The effects of all groups, given draws as they were recorded, from node tables where there are some; with draws of them where a `seed` is given.
#[must_use]
pub fn effects(
    model: &Multilevel,
    tables: Option<&Tabled<'_>>,
    draws: &[Vec<f64>],
    seed: Option<u64>,
) -> Effects {
    let q = model.scales().effects();
    let rule = Hermite::new(model.nodes());
    let marginal = model.marginal_with(&rule);
    let points: Vec<_> = draws.iter().map(|recorded| marginal.point(&model.state(recorded))).collect();
    let tabled: Vec<_> = match tables {
        Some(tables) => draws.iter().map(|recorded| tables.prepared(&model.state(recorded))).collect(),
        None => Vec::new(),
    };
    let data = model.data();
    let pieces = data.pieces(4 * model.threads().max(4));
    let found = parallel::map(model.threads(), &pieces, |piece| {
        let mut work = Workspace::default();
        let mut summaries = Vec::with_capacity(piece.len() * q);
        let mut kept: Vec<f32> = Vec::new();
        let mut scratch = Vec::new();
        for group in piece.clone() {
            let mut conditionals: Vec<Conditionals> = vec![Vec::with_capacity(points.len()); q];
            let mut mode = [0.0; MOST_EFFECTS];
            let mut rng = seed.map(|seed| stream(seed, group as u32, Role::Data));
            for (place, point) in points.iter().enumerate() {
                let (moments, covariance) = match tables {
                    Some(tables) => {
                        let moments = tables.moments(group, &tabled[place], &mut scratch);
                        (moments, [[moments.variance[0], 0.0, 0.0], [0.0; MOST_EFFECTS], [0.0; MOST_EFFECTS]])
                    }
                    None => {
                        marginal.evaluate(group, point, &mut mode, &mut work);
                        (marginal.moments(&work), marginal.covariance(&work))
                    }
                };
                if let Some(rng) = &mut rng {
                    let own = drawn(&moments, &covariance, q, rng);
                    kept.extend(own[..q].iter().map(|&value| value as f32));
                }
                let Moments { mean, variance, third } = moments;
                for (a, conditionals) in conditionals.iter_mut().enumerate() {
                    let sd = variance[a].max(f64::MIN_POSITIVE).sqrt();
                    let skew = (third[a] / sd.powi(3)).clamp(-MOST_SKEWED, MOST_SKEWED);
                    conditionals.push([mean[a], sd, skew]);
                }
            }
            summaries.extend(conditionals.iter().map(|conditionals| summary(conditionals)));
        }
        (summaries, kept)
    });
    let (mut summaries, mut all) = (Vec::new(), Vec::new());
    for (own, kept) in found {
        summaries.extend(own);
        all.extend(kept);
    }
    Effects {
        levels: (0..data.len()).map(|group| data.level(group) as u32).collect(),
        sizes: (0..data.len()).map(|group| data.size(group) as u32).collect(),
        summaries,
        draws: all,
    }
}
