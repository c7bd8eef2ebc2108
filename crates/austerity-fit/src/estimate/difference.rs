//! The sum of a number over all rows, from an approximation of every row and the exact number of a few.
//!
//! K rows that can matter most are computed exactly. Of the other N' = N − K rows, m are drawn without replacement; with approximations π̃ and exact numbers π,
//!
//! T = Σ_certain π + Σ_rest π̃ + (N'/m) Σ_sample (π − π̃),   var T = N'² (1 − m/N') s²/m,
//!
//! where s² is the sample variance of π − π̃ (the difference estimator: Särndal, Swensson and Wretman 1992, §6.3; Magnusson et al. 2020, §2.2). The same for π² gives the variance between
//! rows, from which the standard error of T as a sum over a random data set follows: √(Σπ² − T²/N), with the sampling variance of T taken off T² so that it is unbiased. These
//! are two different errors: the first falls with m, the second does not.
//!
//! Exact when m = N'. Cost: nothing beside the numbers. Biased when the sample depends on the numbers; stopping as soon as the sampling error is small does so slightly, which is why looks
//! are few and double.

/// Sums of the approximations over the rows that are not certain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rest {
    /// N'.
    pub(crate) rows: usize,
    pub(crate) sum: f64,
    pub(crate) squares: f64,
}

impl Rest {
    pub(crate) fn add(&mut self, value: f64) {
        self.rows += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Takes off a row that turned out to be certain.
    pub(crate) fn remove(&mut self, value: f64) {
        self.rows -= 1;
        self.sum -= value;
        self.squares -= value * value;
    }
}

/// A row of the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) approximate: f64,
    pub(crate) exact: f64,
}

/// A sum over all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sum {
    pub(crate) total: f64,
    /// Standard error for want of rows.
    pub(crate) sampling: f64,
    /// Standard error of the sum over a data set of this size.
    pub(crate) data: f64,
}

/// The sum of `certain` numbers and those of the rest.
pub(crate) fn sum(certain: &[f64], rest: &Rest, sample: &[Pair]) -> Sum {
    let (known, known_squares) =
        certain.iter().fold((0.0, 0.0), |(sum, squares), &value| (sum + value, squares + value * value));
    let (linear, variance) =
        corrected(rest.rows, rest.sum, sample.iter().map(|pair| pair.exact - pair.approximate));
    let (squares, _) = corrected(
        rest.rows,
        rest.squares,
        sample.iter().map(|pair| pair.exact * pair.exact - pair.approximate * pair.approximate),
    );
    let total = known + linear;
    let count = (rest.rows + certain.len()) as f64;
    let spread = known_squares + squares - (total * total - variance) / count;
    Sum { total, sampling: variance.sqrt(), data: spread.max(0.0).sqrt() }
}

/// The sum of differences of two models over all rows: `sum` is that of the approximations of the `rows` rows that are not certain. What differs between rows is known of the
/// sample alone, so the data's error is that of the sample's variance.
pub(crate) fn paired(certain: &[f64], (rows, approximations): (usize, f64), sample: &[Pair]) -> Sum {
    let (linear, variance) =
        corrected(rows, approximations, sample.iter().map(|pair| pair.exact - pair.approximate));
    let total = certain.iter().sum::<f64>() + linear;
    let count = (rows + certain.len()) as f64;
    let mean = total / count;
    let square = |value: f64| (value - mean) * (value - mean);
    let sampled: f64 = sample.iter().map(|pair| square(pair.exact)).sum();
    let spread =
        certain.iter().copied().map(square).sum::<f64>() + rows as f64 * sampled / sample.len().max(1) as f64;
    Sum { total, sampling: variance.sqrt(), data: spread.sqrt() }
}

/// A sum of approximations, corrected by the differences of a sample, and the variance of that.
fn corrected(rows: usize, sum: f64, differences: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let (all, sampled) = (rows as f64, differences.len() as f64);
    if rows == 0 {
        return (0.0, 0.0);
    }
    if sampled == 0.0 {
        return (sum, f64::INFINITY);
    }
    let mean = differences.clone().sum::<f64>() / sampled;
    if sampled >= all {
        return (sum + all * mean, 0.0);
    }
    let squares: f64 = differences.map(|difference| (difference - mean).powi(2)).sum();
    let variance = if sampled > 1.0 { squares / (sampled - 1.0) } else { f64::INFINITY };
    (sum + all * mean, all * all * (1.0 - sampled / all) * variance / sampled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::rng::{Role, stream};
    use rand::RngExt as _;
    use rand::seq::index::sample;

    /// N rows whose approximations are off by something that depends on the row.
    fn population(rows: usize) -> (Vec<f64>, Vec<f64>) {
        let mut rng = stream(5, 0, Role::Data);
        let exact: Vec<f64> = (0..rows).map(|_| rng.random::<f64>().ln()).collect();
        let approximate =
            exact.iter().map(|value| value + 0.05 * rng.random::<f64>() + 0.01 * value * value).collect();
        (exact, approximate)
    }

    fn estimate(seed: u64, count: usize, (exact, approximate): &(Vec<f64>, Vec<f64>)) -> Sum {
        let mut rest = Rest::default();
        approximate.iter().for_each(|&value| rest.add(value));
        let rows = sample(&mut stream(seed, 1, Role::Data), exact.len(), count);
        let sample: Vec<Pair> =
            rows.iter().map(|row| Pair { approximate: approximate[row], exact: exact[row] }).collect();
        sum(&[], &rest, &sample)
    }

    /// 400 samples of 100 rows: the 95 % interval holds the sum in at least 91 % of them. With coverage 95 % fewer are a false alarm in 4,000. An interval
    /// half as wide, the partner, holds 67 %.
    #[test]
    fn intervals_hold_the_sum_and_narrower_ones_do_not() {
        let population = population(3_000);
        let truth: f64 = population.0.iter().sum();
        let held = |width: f64| {
            (0..400)
                .filter(|&seed| {
                    let found = estimate(seed, 100, &population);
                    (found.total - truth).abs() <= width * found.sampling
                })
                .count()
        };
        assert!(held(1.96) >= 364, "{}", held(1.96));
        assert!(held(0.98) < 364, "{}", held(0.98));
    }

    #[test]
    fn all_rows_give_the_sum_itself() {
        let population = population(500);
        let found = estimate(1, 500, &population);
        let truth: f64 = population.0.iter().sum();
        let mean = truth / 500.0;
        let spread: f64 = population.0.iter().map(|value| (value - mean).powi(2)).sum();
        assert!((found.total - truth).abs() < 1e-9 && found.sampling == 0.0);
        assert!((found.data - spread.sqrt()).abs() < 1e-9);
    }

    /// The error of the data does not depend on the sample's size: mean of 200 samples within 1 % of that of all rows.
    #[test]
    fn the_error_of_the_data_is_that_of_all_rows() {
        let population = population(3_000);
        let truth = estimate(1, 3_000, &population).data;
        let mean: f64 = (0..200).map(|seed| estimate(seed, 60, &population).data).sum::<f64>() / 200.0;
        assert!((mean / truth - 1.0).abs() < 0.01, "{mean} {truth}");
    }
}
