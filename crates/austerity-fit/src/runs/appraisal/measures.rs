//! How predictions and responses fit together: pure functions of numbers.
//!
//! | measure | what it says | reference |
//! |---|---|---|
//! | [`uniformity`] | largest distance of PIT values from uniform ones, and its chance | Kolmogorov; Marsaglia, Tsang and Wang 2003 for the series |
//! | [`calibration`] | predicted and observed frequencies in bins of the prediction | Dawid 1982; bins of equal counts |
//! | [`area`] | AUC: the chance that a success is predicted higher than a failure | Mann–Whitney, ties count half |
//! | [`by_column`] | mean of normal residual quantiles in bins of a column | Dunn and Smyth 1996 |
//!
//! Bands hold a single bin with 95 %; a bin is called striking beyond a band that holds all bins of a table together with 99 % (Bonferroni).

use statrs::distribution::{ChiSquared, ContinuousCDF as _, Normal};

/// Bins of predictions and columns.
pub(super) const BINS: usize = 10;
/// Chance that a sound table has a striking bin.
const STRIKING: f64 = 0.01;

/// Largest distance of sorted-to-be numbers from uniform ones, times √n, and the chance of a larger one.
pub(super) fn uniformity(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let distance = sorted
        .iter()
        .enumerate()
        .map(|(rank, value)| (value - rank as f64 / n).max((rank as f64 + 1.0) / n - value))
        .fold(0.0, f64::max);
    let scaled = distance * (n.sqrt() + 0.12 + 0.11 / n.sqrt());
    let series = |k: i32| {
        let k = f64::from(k);
        (-1f64).powf(k - 1.0) * (-2.0 * k * k * scaled * scaled).exp()
    };
    let chance = if scaled < 0.2 { 1.0 } else { (2.0 * (1..=100).map(series).sum::<f64>()).clamp(0.0, 1.0) };
    (scaled, chance)
}

/// One bin of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bin {
    /// What is in it.
    pub(super) name: String,
    pub(super) rows: usize,
    /// Where it is: the mean prediction, or the mean of the column.
    pub(super) centre: f64,
    pub(super) expected: f64,
    pub(super) observed: f64,
    /// Standard error of what is observed if the model holds.
    pub(super) error: f64,
    pub(super) striking: bool,
}

/// Predicted and observed shares of success in bins of the prediction, and the chance that a calibrated model is as far off. `rows`: prediction, successes, trials.
pub(super) fn calibration(rows: &[[f64; 3]]) -> (Vec<Bin>, f64) {
    let mut order: Vec<&[f64; 3]> = rows.iter().collect();
    order.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let size = order.len().div_ceil(BINS).max(1);
    let mut bins: Vec<Bin> = order
        .chunks(size)
        .map(|own| {
            let trials: f64 = own.iter().map(|row| row[2]).sum();
            let expected = own.iter().map(|row| row[0] * row[2]).sum::<f64>() / trials;
            let variance: f64 = own.iter().map(|row| row[0] * (1.0 - row[0]) * row[2]).sum();
            let observed = own.iter().map(|row| row[1]).sum::<f64>() / trials;
            Bin {
                name: format!("{:.3} to {:.3}", own[0][0], own[own.len() - 1][0]),
                rows: own.len(),
                centre: expected,
                expected,
                observed,
                error: variance.sqrt() / trials,
                striking: false,
            }
        })
        .collect();
    let distance: f64 = bins
        .iter()
        .filter(|bin| bin.error > 0.0)
        .map(|bin| ((bin.observed - bin.expected) / bin.error).powi(2))
        .sum();
    let chance = ChiSquared::new(bins.len().max(1) as f64).map_or(f64::NAN, |law| law.sf(distance));
    mark(&mut bins);
    (bins, chance)
}

/// Marks bins beyond the band that holds all of them together.
fn mark(bins: &mut [Bin]) {
    let limit = limit(bins.len());
    for bin in bins {
        bin.striking = bin.error > 0.0 && (bin.observed - bin.expected).abs() > limit * bin.error;
    }
}

/// Standard errors that none of so many bins exceeds, with 99 %.
pub(super) fn limit(bins: usize) -> f64 {
    Normal::standard().inverse_cdf(1.0 - STRIKING / (2.0 * bins.max(1) as f64))
}

/// AUC of scores, with ties counted half; nothing where one class is missing.
pub(super) fn area(scores: &[f64], successes: &[bool]) -> Option<f64> {
    let ranks = austerity::diagnostics::average_ranks(scores);
    let count = successes.iter().filter(|success| **success).count() as f64;
    let others = scores.len() as f64 - count;
    let sum: f64 = ranks.iter().zip(successes).filter(|(_, success)| **success).map(|(rank, _)| rank).sum();
    (count > 0.0 && others > 0.0).then(|| (sum - count * (count + 1.0) / 2.0) / (count * others))
}

/// The normal quantile of a PIT value.
pub(super) fn residual(pit: f64) -> f64 {
    Normal::standard().inverse_cdf(pit.clamp(1e-9, 1.0 - 1e-9))
}

/// Mean residuals in bins of a column of numbers, or by its texts; `all` is how many bins are looked at in all columns.
pub(super) fn by_column(values: &[f64], labels: Option<&[String]>, residuals: &[f64]) -> Vec<Bin> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let distinct = 1 + order.windows(2).filter(|pair| values[pair[0]] != values[pair[1]]).count();
    let each = labels.is_some() || distinct <= BINS;
    let size = order.len().div_ceil(BINS).max(1);
    let mut groups: Vec<&[usize]> = Vec::new();
    let mut start = 0;
    for end in 1..=order.len() {
        let new_value = end == order.len() || values[order[end]] != values[order[end - 1]];
        // Equal numbers stay together.
        if new_value && (each || end - start >= size || end == order.len()) {
            groups.push(&order[start..end]);
            start = end;
        }
    }
    let mut bins: Vec<Bin> = groups
        .into_iter()
        .map(|own| {
            let n = own.len() as f64;
            let centre = own.iter().map(|&row| values[row]).sum::<f64>() / n;
            let observed = own.iter().map(|&row| residuals[row]).sum::<f64>() / n;
            let name = match labels {
                Some(labels) => labels.get(centre as usize).cloned().unwrap_or_default(),
                None if each => centre.to_string(),
                None => format!("{:.4} to {:.4}", values[own[0]], values[own[own.len() - 1]]),
            };
            Bin {
                name,
                rows: own.len(),
                centre,
                expected: 0.0,
                observed,
                error: 1.0 / n.sqrt(),
                striking: false,
            }
        })
        .collect();
    mark(&mut bins);
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniforms(count: usize) -> Vec<f64> {
        let mut state = 5u64;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
            })
            .collect()
    }

    /// The 5 % point of Kolmogorov's distribution is 1.358.
    #[test]
    fn uniform_numbers_pass_and_others_do_not() {
        let values = uniforms(2_000);
        assert!(uniformity(&values).1 > 0.01);
        let bent: Vec<f64> = values.iter().map(|u| u * u).collect();
        assert!(uniformity(&bent).1 < 1e-6);
        let grid: Vec<f64> = (0..1_000_000).map(|k| (f64::from(k) + 0.5) / 1e6).collect();
        assert!((uniformity(&grid).1 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn calibrated_predictions_pass_and_overconfident_ones_are_striking() {
        let (chances, luck) = (uniforms(5_000), uniforms(10_000)[5_000..].to_vec());
        let rows: Vec<[f64; 3]> =
            chances.iter().zip(&luck).map(|(&p, &u)| [p, f64::from(u8::from(u < p)), 1.0]).collect();
        let (bins, chance) = calibration(&rows);
        assert!(chance > 0.001 && bins.len() == BINS, "{chance}");
        let far: Vec<[f64; 3]> = rows
            .iter()
            .map(|row| {
                [0.5 + 0.999 * (row[0] - 0.5).signum() * (row[0] - 0.5).abs().sqrt() / 1.42, row[1], 1.0]
            })
            .collect();
        let (bins, chance) = calibration(&far);
        assert!(chance < 1e-6 && bins.iter().any(|bin| bin.striking), "{chance} {bins:?}");
    }

    #[test]
    fn the_area_counts_pairs() {
        let scores = [0.1, 0.4, 0.4, 0.8];
        let successes = [false, false, true, true];
        // Of four pairs three are right and one is tied.
        assert_eq!(area(&scores, &successes), Some(3.5 / 4.0));
        assert_eq!(area(&scores, &[true; 4]), None);
    }

    #[test]
    fn residuals_that_follow_a_column_are_striking() {
        let values = uniforms(3_000);
        let noise: Vec<f64> = uniforms(6_000)[3_000..].iter().map(|&u| residual(u)).collect();
        assert!(by_column(&values, None, &noise).iter().all(|bin| !bin.striking));
        let bent: Vec<f64> = noise.iter().zip(&values).map(|(z, x)| z + 2.0 * (x - 0.5).powi(2)).collect();
        assert!(by_column(&values, None, &bent).iter().any(|bin| bin.striking));
        let labels = ["a".to_owned(), "b".to_owned()];
        let codes: Vec<f64> = values.iter().map(|x| x.round()).collect();
        assert_eq!(by_column(&codes, Some(&labels), &noise).len(), 2);
    }
}
