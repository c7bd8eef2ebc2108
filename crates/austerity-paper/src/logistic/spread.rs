//! The variance of a chain's mean against σ²τ/T (sections 2 and 3): V ≈ σ²τ/T, where τ = 1 + 2Σρ_k.
//!
//! Chains from the posterior, whose true mean is known: σ² and ρ_k are means over all chains of products about it, so that neither takes
//! part of the variance between chains for its own. The sum over lags ends where a pair of neighbouring terms is below zero (Geyer 1992).
//! V is the mean square of the chains' means. Cost O(T·lags) a coefficient. Not for chains shorter than τ.

use austerity_plot::{Axis, Figure, Mark, Panel, Scale};

use super::EPSILONS;
use super::chains::{Draw, Start, Trace, label};

/// For exact chains and those of one ε: V over σ²τ/T of every coefficient.
pub(super) type Ratios = Vec<(f64, Vec<f64>)>;

/// The picture and the numbers.
pub(super) fn measure(traces: &[Trace]) -> (Figure, Ratios) {
    let mut ratios = Ratios::new();
    let mut panels = Vec::new();
    for rule in [0, 3] {
        let chains: Vec<&[Draw]> = traces
            .iter()
            .filter(|trace| trace.start == Start::Stationary && trace.rule == rule)
            .map(|trace| trace.draws.as_slice())
            .collect();
        let width = chains.first().and_then(|chain| chain.first()).map_or(0, Vec::len);
        let found: Vec<(f64, f64)> = (0..width).filter_map(|i| both(&chains, i)).collect();
        let values = found.iter().map(|(measured, predicted)| measured / predicted).collect();
        let epsilon = EPSILONS[rule];
        let axis = |name: &str| Axis::new(name, Scale::Logarithmic);
        let ends = found.iter().flat_map(|pair| [pair.0, pair.1]);
        let (low, high) = ends.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        panels.push(
            Panel::new(label(epsilon), axis("σ²τ/T"), axis("V"))
                .mark(Mark::Line { series: 6, points: vec![(low, low), (high, high)] })
                .mark(Mark::Points { series: 0, points: found.iter().map(|&(v, p)| (p, v)).collect() }),
        );
        ratios.push((epsilon, values));
    }
    (Figure { title: "V against σ²τ/T, coefficient by coefficient".into(), panels }, ratios)
}

/// V and σ²τ/T of one coefficient; none where nothing moves.
pub(super) fn both(chains: &[&[Draw]], coefficient: usize) -> Option<(f64, f64)> {
    let length = chains.iter().map(|chain| chain.len()).min().filter(|length| *length > 10)?;
    let series: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| chain[..length].iter().map(|draw| f64::from(draw[coefficient])).collect())
        .collect();
    let lagged = |lag: usize| {
        let products =
            series.iter().flat_map(|x| x[..length - lag].iter().zip(&x[lag..]).map(|(a, b)| a * b));
        products.sum::<f64>() / ((length - lag) * series.len()) as f64
    };
    let square = lagged(0);
    let mut sum = 0.5 * square;
    for lag in (1..length / 2).step_by(2) {
        let pair = lagged(lag) + lagged(lag + 1);
        if pair <= 0.0 {
            break;
        }
        sum += pair;
    }
    let means = series.iter().map(|x| x.iter().sum::<f64>() / length as f64);
    let measured = means.map(|mean| mean * mean).sum::<f64>() / series.len() as f64;
    (square > 0.0 && sum > 0.0).then_some((measured, 2.0 * sum / length as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt as _;

    /// AR(1) with coefficient 0.8, where τ = 9: 60 chains of 4,000 give τ to 3 % and V to 19 % (chi-squared with 60 degrees of freedom), held to
    /// four of these. White noise in place of it has τ = 1.
    #[test]
    fn the_prediction_is_that_of_an_autoregression() {
        let mut rng = austerity::rng::stream(9, 0, austerity::rng::Role::Data);
        let mut chain = |keep: f64| -> Vec<Draw> {
            let mut x: f64 = rng.sample(rand_distr::StandardNormal);
            let noise = (1.0 - keep * keep).sqrt();
            let mut step = || {
                x = keep * x + noise * rng.sample::<f64, _>(rand_distr::StandardNormal);
                vec![x as f32; 2]
            };
            (0..4_000).map(|_| step()).collect()
        };
        for (keep, tau) in [(0.8, 9.0), (0.0, 1.0)] {
            let chains: Vec<_> = (0..60).map(|_| chain(keep)).collect();
            let slices: Vec<&[Draw]> = chains.iter().map(Vec::as_slice).collect();
            let (measured, predicted) = both(&slices, 0).unwrap();
            assert!((predicted * 4_000.0 / tau - 1.0).abs() < 0.15, "{predicted}");
            assert!((measured / predicted - 1.0).abs() < 0.8, "{measured} {predicted}");
        }
    }
}
