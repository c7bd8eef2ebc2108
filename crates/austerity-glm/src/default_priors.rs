//! The priors of a user who named none: weak, and in the units of the data.
//!
//! | parameter | identity link (normal, Student noise) | log and logit links |
//! |---|---|---|
//! | slope of a column | normal:0, 2.5·u/sd(x) | normal:0, 2.5/sd(x) |
//! | slope of a column with two values | normal:0, 5·u/distance | normal:0, 5/distance |
//! | intercept, at the column means | normal:c, 2.5·u | normal:c, 10 |
//! | σ | half-student:3, u | – |
//!
//! Positive responses and times are looked at by their logarithm, as with an identity link; shares as successes of one trial each.
//!
//! u and c are the standard deviation and the mean of y − offset; with Student noise the median and 1.4826 times the median absolute
//! deviation, which outliers do not move; without an intercept u is the root mean square. For the other links c is the link of
//! (Σ w·y + ½)/(Σ w·trials + 1), less the offset: for counts Σ w·e^offset takes the place of the trials.
//! For two values the standard deviation is that of equal frequencies: a rare level is no reason to expect a large effect.
//! (Gelman, Jakulin, Pittau & Su 2008; the defaults of rstanarm.)
//!
//! u and c are rounded, so that they can be read and do not depend on the order of the rows. Cost: one pass over the response, of at most
//! [`MOST`] rows ([`MOST_SORTED`] for medians): beyond, rows in storage order, which is random.

use crate::{Prior, Priors, ResponseKind};

/// Rows that moments are taken of.
pub const MOST: usize = 1 << 22;
/// Rows that medians are taken of.
pub const MOST_SORTED: usize = 1 << 20;
/// The median absolute deviation of a normal distribution is 1/1.4826 of its standard deviation.
const CONSISTENT: f64 = 1.482_602_218_505_602;
/// Standard deviations of y per standard deviation of x that a slope may well have.
const SLOPE: f64 = 2.5;
/// The same of the intercept, and its standard deviation where the response has no unit.
const INTERCEPT: f64 = 2.5;
const UNITLESS: f64 = 10.0;

/// Which noise a real response has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseTails {
    /// Normal: mean and standard deviation describe the response.
    Normal,
    /// Heavier: the median and the median absolute deviation do.
    Heavy,
}

/// What default priors need to know of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnFacts {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    /// Half the distance of the values of a column that has two.
    pub(crate) half_range: Option<f64>,
}

/// One row without its columns. Of real responses the offset is taken off already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseRow {
    pub(crate) response: f64,
    pub(crate) offset: f64,
    pub(crate) trials: f64,
    pub(crate) weight: f64,
}

/// Where the response is and how wide, on the scale of the linear predictor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ResponseFacts {
    /// c.
    centre: f64,
    /// u; none where the response has no unit.
    unit: Option<f64>,
}

/// Default priors.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultPriors {
    /// Of the coefficients, the intercept first.
    pub coefficients: Priors,
    /// Of σ.
    pub sigma: Prior,
}

impl ResponseFacts {
    /// Of some rows; those beyond the limits are not looked at.
    pub(crate) fn of(
        kind: ResponseKind,
        tails: NoiseTails,
        intercept: bool,
        rows: impl Iterator<Item = ResponseRow>,
    ) -> Self {
        match kind {
            ResponseKind::Real | ResponseKind::Positive | ResponseKind::Time => {
                let (centre, spread) = match tails {
                    NoiseTails::Normal => moments(rows.take(MOST)),
                    NoiseTails::Heavy => medians(rows.take(MOST_SORTED)),
                };
                let unit = if intercept { spread } else { spread.hypot(centre) };
                let unit = if unit > 0.0 && unit.is_finite() { digits(unit) } else { 1.0 };
                Self { centre: rounded(centre, unit), unit: Some(unit) }
            }
            // The first cut point is 0: the odds of more than the first level.
            ResponseKind::Binary
            | ResponseKind::CountOfTrials
            | ResponseKind::Share
            | ResponseKind::Ordered => {
                let (mut successes, mut trials, mut weights, mut offset) = (0.5, 1.0, 0.0, 0.0);
                for row in rows.take(MOST) {
                    let success =
                        if kind == ResponseKind::Ordered { row.response.min(1.0) } else { row.response };
                    successes += row.weight * success;
                    trials += row.weight * row.trials;
                    weights += row.weight;
                    offset += row.weight * row.offset;
                }
                let odds: f64 = successes / (trials - successes);
                Self { centre: rounded(odds.ln() - offset / weights, 1.0), unit: None }
            }
            ResponseKind::Count => {
                // The exposures e^offset may span hundreds of powers of ten: relative to the largest.
                let (mut counts, mut exposure, mut weights, mut largest) = (0.5, 0.0, 0.0, f64::NEG_INFINITY);
                for row in rows.take(MOST) {
                    if row.offset > largest {
                        exposure *= (largest - row.offset).exp();
                        largest = row.offset;
                    }
                    counts += row.weight * row.response;
                    exposure += row.weight * (row.offset - largest).exp();
                    weights += row.weight;
                }
                let exposure = exposure * (weights + 1.0) / weights;
                Self { centre: rounded((counts / exposure).ln() - largest, 1.0), unit: None }
            }
        }
    }
}

/// The priors of these columns and this response.
pub(crate) fn default_priors(
    columns: impl Iterator<Item = ColumnFacts> + Clone,
    intercept: bool,
    response: ResponseFacts,
) -> DefaultPriors {
    let unit = response.unit.unwrap_or(1.0);
    let first = intercept.then(|| Prior::Normal {
        mean: if response.centre.is_finite() { response.centre } else { 0.0 },
        sd: response.unit.map_or(UNITLESS, |unit| INTERCEPT * unit),
    });
    let slope = |column: ColumnFacts| {
        let width = column.half_range.unwrap_or(column.sd);
        // A constant column is as good as one of unit width.
        let width = if width > 0.0 { width.max(f64::MIN_POSITIVE) } else { 1.0 };
        Prior::normal((SLOPE * unit / width).min(f64::MAX))
    };
    let each: Vec<Prior> = first.into_iter().chain(columns.clone().map(slope)).collect();
    let priors = Priors::from(each);
    let means: Vec<f64> = columns.map(|column| column.mean).collect();
    let coefficients = if intercept { priors.at_means(&means) } else { priors };
    DefaultPriors { coefficients, sigma: Prior::HalfStudent { freedom: 3.0, scale: unit } }
}

/// Mean and standard deviation, by the first row's distance so that a response far from 0 keeps its digits.
fn moments(mut rows: impl Iterator<Item = ResponseRow>) -> (f64, f64) {
    let Some(first) = rows.next() else { return (0.0, 0.0) };
    let (mut weights, mut sum, mut squares) = (first.weight, 0.0, 0.0);
    for row in rows {
        let away = row.response - first.response;
        weights += row.weight;
        sum += row.weight * away;
        squares += row.weight * away * away;
    }
    let mean = sum / weights;
    (first.response + mean, (squares / weights - mean * mean).max(0.0).sqrt())
}

/// Median and consistent median absolute deviation; the standard deviation where more than half of the values are the same.
fn medians(rows: impl Iterator<Item = ResponseRow>) -> (f64, f64) {
    let rows: Vec<ResponseRow> = rows.collect();
    let mut values: Vec<(f64, f64)> = rows.iter().map(|row| (row.response, row.weight)).collect();
    let centre = median(&mut values);
    values.iter_mut().for_each(|(value, _)| *value = (*value - centre).abs());
    match CONSISTENT * median(&mut values) {
        0.0 => (centre, moments(rows.into_iter()).1),
        spread => (centre, spread),
    }
}

/// The weighted median.
fn median(values: &mut [(f64, f64)]) -> f64 {
    let order = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
    if values.is_empty() {
        return 0.0;
    }
    if values.iter().all(|&(_, weight)| weight == 1.0) {
        let middle = values.len() / 2;
        let (below, &mut (upper, _), _) = values.select_nth_unstable_by(middle, order);
        let lower = below.iter().map(|&(value, _)| value).fold(f64::NEG_INFINITY, f64::max);
        return if values.len() % 2 == 1 { upper } else { 0.5 * (lower + upper) };
    }
    values.sort_unstable_by(order);
    let half = 0.5 * values.iter().map(|&(_, weight)| weight).sum::<f64>();
    let mut sum = 0.0;
    let found = values.iter().find(|&&(_, weight)| {
        sum += weight;
        sum >= half
    });
    found.map_or(0.0, |&(value, _)| value)
}

/// Rounded to a thousandth of the power of ten below `unit`.
fn rounded(value: f64, unit: f64) -> f64 {
    let step = unit.log10().floor();
    // By whole powers of ten, so that no new digits appear.
    let (up, down) = (10f64.powf(3.0 - step), 10f64.powf(step - 3.0));
    let whole = if up > 1.0 { (value * up).round() / up } else { (value / down).round() * down };
    // No negative zero.
    if whole.is_finite() { whole + 0.0 } else { value }
}

/// Rounded to four significant digits.
fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[[f64; 3]]) -> impl Iterator<Item = ResponseRow> {
        values.iter().map(|&[response, offset, weight]| ResponseRow { response, offset, trials: 1.0, weight })
    }

    fn facts(
        kind: ResponseKind,
        tails: NoiseTails,
        intercept: bool,
        values: &[[f64; 3]],
    ) -> (f64, Option<f64>) {
        let facts = ResponseFacts::of(kind, tails, intercept, rows(values));
        (facts.centre, facts.unit)
    }

    #[test]
    fn real_responses_have_a_centre_and_a_unit() {
        let values: Vec<[f64; 3]> = [1.0, 2.0, 3.0, 4.0, 1000.0].map(|y| [y, 0.0, 1.0]).into();
        let (kind, heavy, normal) = (ResponseKind::Real, NoiseTails::Heavy, NoiseTails::Normal);
        // Median 3, median distance 1: one outlier moves neither, and both moments.
        assert_eq!(facts(kind, heavy, true, &values), (3.0, Some(1.483)));
        assert_eq!(facts(kind, normal, true, &values), (202.0, Some(399.0)));
        // Without an intercept the distance from 0 counts: √(3² + 1.4826²).
        assert_eq!(facts(kind, heavy, false, &values).1, Some(3.346));
        // A row of weight 3 is three rows.
        let weighed = [[1.0, 0.0, 3.0], [5.0, 0.0, 1.0], [9.0, 0.0, 1.0]];
        let repeated = [1.0, 1.0, 1.0, 5.0, 9.0].map(|y| [y, 0.0, 1.0]);
        for tails in [heavy, normal] {
            assert_eq!(facts(kind, tails, true, &weighed), facts(kind, tails, true, &repeated));
        }
        // More than half of the values are the same: the standard deviation takes over. No spread at all: 1.
        assert_eq!(facts(kind, heavy, true, &repeated).1, Some(3.2));
        assert_eq!(facts(kind, normal, true, &[[7.0, 0.0, 1.0]; 3]), (7.0, Some(1.0)));
    }

    #[test]
    fn other_responses_have_a_centre_on_the_scale_of_the_link() {
        let (binary, count, normal) = (ResponseKind::Binary, ResponseKind::Count, NoiseTails::Normal);
        // One success of three: odds 1.5/2.5; an offset of 2 in every row takes 2 off.
        let one = [[1.0, 2.0, 1.0], [0.0, 2.0, 1.0], [0.0, 2.0, 1.0]];
        assert_eq!(facts(binary, normal, true, &one), (-2.511, None));
        // No event at all still has a logarithm: 0.5/3.
        assert_eq!(facts(count, normal, true, &[[0.0, 0.0, 1.0]; 2]).0, -1.792);
        // Counts that follow their exposures e^300, e^301: the rate is 1 per unit of e^300.
        let counts = [[1e6, 300.0, 1.0], [1e6 * 1f64.exp(), 301.0, 1.0]];
        let centre = facts(count, normal, true, &counts).0;
        assert!((centre - (1e6f64.ln() - 300.0 - 1.5f64.ln())).abs() < 1e-3, "{centre}");
    }
}
