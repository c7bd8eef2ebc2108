//! How a column is stored in single precision: its shift and scale, and what rounding loses.
//!
//! See the table of [`crate::model::data`]. Means take two passes, so that a column far from 0 keeps its digits.

/// A column with at most this share of non-zeros is rare: centring it would destroy its zeros.
pub const RARE_SHARE: f64 = 0.1;

/// Rounding to f32 may move a column by this share of its standard deviation (root mean square) unmentioned.
const ROUNDING_SHARE: f64 = 1e-5;

/// Mean and standard deviation (divisor N) in two passes each: the mean is corrected by the mean deviation.
pub(crate) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let rough = values.iter().sum::<f64>() / n;
    let mean = rough + values.iter().map(|v| v - rough).sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// How a column is going to be stored.
pub(super) struct Shape {
    pub(super) minimum: f64,
    pub(super) maximum: f64,
    pub(super) shift: f64,
    pub(super) scale: f64,
    /// Spread against which rounding is measured: of all values, or of the non-zeros of a rare column.
    pub(super) spread: f64,
}

impl Shape {
    pub(super) fn of(column: &[f64]) -> Self {
        let minimum = column.iter().copied().fold(f64::INFINITY, f64::min);
        let maximum = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let positive = |scale: f64| scale.max(f64::MIN_POSITIVE);
        let (shift, scale, spread) = if minimum == maximum {
            (0.0, positive(minimum.abs()), 0.0)
        } else {
            let nonzeros = column.iter().filter(|&&v| v != 0.0).count();
            if nonzeros as f64 <= RARE_SHARE * column.len() as f64 {
                let kept: Vec<f64> = column.iter().copied().filter(|&v| v != 0.0).collect();
                let (mean, sd) = mean_and_sd(&kept);
                (0.0, positive(mean.hypot(sd)), sd)
            } else {
                let (mean, sd) = mean_and_sd(column);
                (mean, positive(sd), sd)
            }
        };
        Self { minimum, maximum, shift, scale, spread }
    }
}

/// A sentence when storing the column as f32 loses something a user would miss.
pub(super) fn rounding_warning(name: &str, column: &[f64], shape: &Shape) -> Option<String> {
    let stored = |v: f64| ((v - shape.shift) / shape.scale) as f32;
    let (mut whole, mut worst, mut squares, mut moved) = (true, 0f64, 0.0, 0u64);
    for &value in column {
        let error = (f64::from(stored(value)) * shape.scale + shape.shift - value).abs();
        whole &= value.fract() == 0.0;
        worst = worst.max(error);
        squares += error * error;
        moved += u64::from(error != 0.0);
    }
    if whole && worst >= 0.5 {
        let distinct = |mut keys: Vec<f64>| {
            keys.sort_unstable_by(f64::total_cmp);
            keys.dedup();
            keys.len()
        };
        let before = distinct(column.to_vec());
        let after = distinct(column.iter().map(|&v| f64::from(stored(v))).collect());
        let loss = if after < before {
            format!("distinct values merge ({before} become {after})")
        } else {
            format!("values move by up to {worst:.3}")
        };
        return Some(format!(
            "column `{name}` holds whole numbers that single precision cannot tell apart: {loss}; is it an \
             identifier or a time stamp? drop it or use differences"
        ));
    }
    let rms = (squares / moved.max(1) as f64).sqrt();
    if shape.spread > 0.0 && rms > ROUNDING_SHARE * shape.spread {
        return Some(format!(
            "column `{name}`: rounding to single precision moves its values by {:.1e} of their standard deviation; \
             subtract a typical value from the column",
            rms / shape.spread
        ));
    }
    None
}

/// A sentence when a side column, stored less its mean, loses more to rounding than a share of its standard deviation
/// or of `unit`, whichever is smaller, or when whole numbers do not come back.
pub(super) fn side_warning(what: &str, values: &[f64], unit: f64) -> Option<String> {
    let (mean, sd) = mean_and_sd(values);
    let (mut whole, mut worst, mut squares) = (true, 0f64, 0.0);
    for &value in values {
        let error = (f64::from((value - mean) as f32) + mean - value).abs();
        whole &= value.fract() == 0.0;
        worst = worst.max(error);
        squares += error * error;
    }
    if whole && worst >= 0.5 {
        return Some(format!(
            "{what} holds whole numbers that single precision does not give back: they move by up to {worst:.3}; \
             rescale them or subtract what is known"
        ));
    }
    let rms = (squares / values.len().max(1) as f64).sqrt();
    let allowed = ROUNDING_SHARE * if sd > 0.0 { sd.min(unit) } else { unit };
    (rms > allowed).then(|| {
        format!(
            "{what}: rounding to single precision moves its values by {rms:.1e}, their standard deviation is {sd:.1e}; \
             rescale them or subtract what is known"
        )
    })
}

/// A sentence when counts or weights, stored as they are, do not survive single precision.
pub(super) fn count_warning(what: &str, values: &[f64], remedy: &str) -> Option<String> {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let lost = values.iter().filter(|&&v| {
        let back = f64::from(v as f32);
        // Fractions lose a share of 6e-8 like everything stored; whole numbers should not, and nothing may vanish.
        back != v && (v.fract() == 0.0 || (back - v).abs() > 1e-7 * v)
    });
    match lost.count() {
        0 => None,
        lost => Some(format!(
            "the largest {what} is {largest}, and single precision holds whole numbers exactly only up to 16777216: \
             {lost} of {} values are rounded; {remedy}",
            values.len()
        )),
    }
}
