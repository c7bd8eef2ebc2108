//! Weights of models whose mixture predicts best: stacking of predictive distributions.
//!
//! Maximises Σ_i a_i log Σ_k w_k exp(elpd_ik) over the simplex (Yao, Vehtari, Simpson and Gelman 2018, eq. 6), where elpd_ik is the leave-one-out log density of row i under model k, and a_i how many rows it stands
//! for. The problem is that of the proportions of a mixture with known components, so every step w_k ← mean of the share of model k in row i (expectation
//! maximisation) increases it, and it is concave: there is one maximum.
//!
//! Cost: models × rows exponentials, then a pass over them per step. Weights at the edge of the simplex are approached, not reached: below 10⁻⁴ they are set to 0.

/// Steps at most.
const STEPS: usize = 5_000;
/// Weights below this are 0.
const NOTHING: f64 = 1e-4;

/// One weight per model; `models[k][i]` is the log density of row i, `counts[i]` how many rows it stands for.
pub(crate) fn weights(models: &[Vec<f64>], counts: &[f64]) -> Vec<f64> {
    let (number, rows) = (models.len(), counts.len());
    let mut shares = vec![0.0; number * rows];
    for row in 0..rows {
        let best = models.iter().map(|model| model[row]).fold(f64::NEG_INFINITY, f64::max);
        for (k, model) in models.iter().enumerate() {
            shares[row * number + k] = (model[row] - best).exp();
        }
    }
    let total: f64 = counts.iter().sum();
    let mut weights = vec![1.0 / number.max(1) as f64; number];
    for _ in 0..STEPS {
        let mut next = vec![0.0; number];
        for (share, count) in shares.chunks_exact(number.max(1)).zip(counts) {
            let mixture: f64 = share.iter().zip(&weights).map(|(share, weight)| share * weight).sum();
            for ((next, share), weight) in next.iter_mut().zip(share).zip(&weights) {
                *next += count * share * weight / (mixture * total);
            }
        }
        let moved = next.iter().zip(&weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        weights = next;
        if moved < 1e-9 {
            break;
        }
    }
    weights.iter_mut().filter(|weight| **weight < NOTHING).for_each(|weight| *weight = 0.0);
    let kept: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= kept);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_model_has_the_weight_and_halves_share_it() {
        let good = vec![-1.0; 100];
        let bad = vec![-2.0; 100];
        assert_eq!(weights(&[good.clone(), bad], &[1.0; 100]), [1.0, 0.0]);
        // Each predicts another half of the rows.
        let first: Vec<f64> = (0..100).map(|row| if row < 50 { -1.0 } else { -5.0 }).collect();
        let second: Vec<f64> = (0..100).map(|row| if row < 50 { -5.0 } else { -1.0 }).collect();
        let found = weights(&[first.clone(), second.clone()], &[1.0; 100]);
        assert!((found[0] - 0.5).abs() < 1e-6, "{found:?}");
        // Rows of the first half stand for three rows each: the maximum of 150 log(w + (1 − w)e⁻⁴) + 50 log((1 − w) + w e⁻⁴).
        let counts: Vec<f64> = (0..100).map(|row| if row < 50 { 3.0 } else { 1.0 }).collect();
        let small = (-4f64).exp();
        let value = |w: f64| 150.0 * (w + (1.0 - w) * small).ln() + 50.0 * (1.0 - w + w * small).ln();
        let best =
            (0..=10_000).map(|i| f64::from(i) / 1e4).max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap();
        let found = weights(&[first, second], &counts);
        assert!((found[0] - best).abs() < 2e-4, "{found:?} {best}");
    }
}
