//! Gauss–Legendre rules: ∫₋₁¹ f(x)dx ≈ Σ w_i f(x_i), exact for polynomials of degree 2L − 1.
//!
//! Nodes are the roots of the Legendre polynomial P_L by Newton's method from the guess cos(π(i − ¼)/(L +
//! ½)); weights 2/((1−x²)P'_L(x)²). Accurate to rounding. Cost O(L²), once per size: rules are kept for the
//! life of the process. Sizes are rounded up to a multiple of [`STEP`], so that few are made. Do not use for
//! integrands with kinks inside the interval: split there.

use std::ops::Range;
use std::sync::OnceLock;

/// Sizes of rules are multiples of this.
pub const STEP: usize = 4;

/// The largest rule; more nodes are never needed before the work itself becomes absurd.
pub const MOST_NODES: usize = 4096;

/// Nodes and weights on [−1, 1], ascending and symmetric.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Points at which the function is evaluated.
    pub nodes: Vec<f64>,
    /// Weights of the points.
    pub weights: Vec<f64>,
}

static RULES: [OnceLock<Rule>; MOST_NODES / STEP] = [const { OnceLock::new() }; MOST_NODES / STEP];

/// The rule with at least `size` nodes (a multiple of [`STEP`], at most [`MOST_NODES`]).
#[must_use]
pub fn rule(size: usize) -> &'static Rule {
    let slot = size.clamp(1, MOST_NODES).div_ceil(STEP);
    RULES[slot - 1].get_or_init(|| compute(slot * STEP))
}

/// The rule with exactly `size` nodes.
fn compute(size: usize) -> Rule {
    let mut nodes = vec![0.0; size];
    let mut weights = vec![0.0; size];
    for i in 0..size.div_ceil(2) {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (size as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (value, derivative) = legendre(size, x);
            slope = derivative;
            let step = value / derivative;
            x -= step;
            if step.abs() < 1e-15 {
                slope = legendre(size, x).1;
                break;
            }
        }
        let weight = 2.0 / ((1.0 - x * x) * slope * slope);
        (nodes[i], nodes[size - 1 - i]) = (-x, x);
        (weights[i], weights[size - 1 - i]) = (weight, weight);
    }
    Rule { nodes, weights }
}

/// P_L and its derivative at `x` by the three-term recurrence.
fn legendre(size: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for k in 2..=size {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
    }
    (value, size as f64 * (x * value - before) / (x * x - 1.0))
}

/// Calls `visit(x, weight)` at the nodes of a composite rule on `range`: panels no longer than
/// `panel`, `size` nodes each.
pub(crate) fn composite(range: Range<f64>, panel: f64, size: usize, mut visit: impl FnMut(f64, f64)) {
    let Range { start: low, end: high } = range;
    if high <= low {
        return;
    }
    let panels = ((high - low) / panel).ceil().max(1.0);
    let half = 0.5 * (high - low) / panels;
    let rule = rule(size);
    for k in 0..panels as usize {
        let middle = low + half * (2 * k + 1) as f64;
        for (x, weight) in rule.nodes.iter().zip(&rule.weights) {
            visit(middle + half * x, half * weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_nodes_of_the_tables() {
        // Abramowitz & Stegun, table 25.4.
        let rule = compute(5);
        let nodes = [-0.906_179_845_938_664, -0.538_469_310_105_683, 0.0, 0.538_469_310_105_683];
        let weights = [0.236_926_885_056_189, 0.478_628_670_499_366, 0.568_888_888_888_889];
        for (a, b) in rule.nodes.iter().zip(nodes).chain(rule.weights.iter().zip(weights)) {
            assert!((a - b).abs() < 1e-14, "{a} against {b}");
        }
    }

    #[test]
    fn polynomials_are_exact_and_sizes_bounded() {
        for size in [1, 4, 16, 63, 500, MOST_NODES, usize::MAX] {
            let rule = rule(size);
            assert!(rule.nodes.len() >= size.min(MOST_NODES) && rule.nodes.len().is_multiple_of(STEP));
            assert!(rule.nodes.windows(2).all(|pair| pair[0] < pair[1]));
            for power in [0, 2, 6] {
                let sum: f64 = rule.nodes.iter().zip(&rule.weights).map(|(x, w)| w * x.powi(power)).sum();
                assert!((sum - 2.0 / f64::from(power + 1)).abs() < 1e-12, "{size} {power}: {sum}");
            }
        }
    }

    #[test]
    fn panels_add_up() {
        let mut sum = 0.0;
        composite(0.0..3.0, 0.7, 8, |x, w| sum += w * x.exp());
        assert!((sum - (3.0f64.exp() - 1.0)).abs() < 1e-12);
        composite(1.0..1.0, 0.7, 8, |_, _| panic!("nothing to visit"));
    }
}
