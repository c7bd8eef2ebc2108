//! Fewer points for a line, with its spikes kept.
//!
//! Neighbouring values share a bin; of each bin the smallest and the largest stay, in the order in which they came. A
//! single outlier among a million draws is still drawn, which averaging or taking every k-th would lose. One pass.

/// At most `most` (at least 2) of the values, each with its index. A bin without a finite value keeps one NaN: a gap.
#[must_use]
pub fn extremes(values: &[f64], most: usize) -> Vec<(usize, f64)> {
    let indexed = |from: usize, part: &[f64]| -> Vec<(usize, f64)> {
        part.iter().enumerate().map(|(offset, &value)| (from + offset, value)).collect()
    };
    if values.len() <= most.max(2) {
        return indexed(0, values);
    }
    let bins = (most / 2).max(1);
    let mut kept = Vec::with_capacity(2 * bins);
    for bin in 0..bins {
        let (from, to) = (bin * values.len() / bins, (bin + 1) * values.len() / bins);
        let part = indexed(from, &values[from..to]);
        let finite = || part.iter().filter(|(_, value)| value.is_finite());
        let low = finite().min_by(|a, b| a.1.total_cmp(&b.1));
        let high = finite().max_by(|a, b| a.1.total_cmp(&b.1));
        match (low, high) {
            (Some(&low), Some(&high)) if low.0 == high.0 => kept.push(low),
            (Some(&low), Some(&high)) => {
                kept.extend(if low.0 < high.0 { [low, high] } else { [high, low] });
            }
            _ => kept.push((from, f64::NAN)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spikes_survive_and_order_is_kept() {
        let mut values: Vec<f64> = (0..100_000).map(|i| f64::from(i % 7)).collect();
        values[31_415] = 1e6;
        values[27_182] = -1e6;
        let kept = extremes(&values, 600);
        assert!(kept.len() <= 600, "{}", kept.len());
        assert!(kept.contains(&(31_415, 1e6)) && kept.contains(&(27_182, -1e6)));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn short_constant_and_undefined_input_passes() {
        assert_eq!(extremes(&[1.0, 2.0], 600), [(0, 1.0), (1, 2.0)]);
        assert!(extremes(&[], 0).is_empty());
        // Ties: the first smallest and the last largest, whatever their number.
        assert!(extremes(&[3.0; 5000], 10).iter().all(|point| point.1 == 3.0));
        let gap = extremes(&[f64::NAN; 100], 4);
        assert!(gap.len() == 2 && gap.iter().all(|point| point.1.is_nan()));
    }
}
