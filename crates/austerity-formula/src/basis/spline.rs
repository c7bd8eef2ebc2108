//! B-splines (de Boor 1978, chapter X): piecewise polynomials that are smooth at the knots; each is positive on `degree` + 1 intervals.
//!
//! The splines add up to 1, so the first one is left out: the intercept has it. Beyond the outer knots the outermost polynomials go on.
//! Cost: O(degree²) a value.

use serde::{Deserialize, Serialize};

/// B-splines on given knots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BSplines {
    degree: usize,
    /// The outer knots `degree` + 1 times each, the inner ones between them.
    knots: Vec<f64>,
}

impl BSplines {
    /// Splines with these inner knots, in increasing order, between the ends of the range.
    pub(crate) fn new(degree: usize, inner: &[f64], low: f64, high: f64) -> Self {
        let ends = |end| std::iter::repeat_n(end, degree + 1);
        Self { degree, knots: ends(low).chain(inner.iter().copied()).chain(ends(high)).collect() }
    }

    pub(crate) fn width(&self) -> usize {
        self.knots.len() - self.degree - 2
    }

    /// The outer knots.
    pub(crate) fn limits(&self) -> Option<(f64, f64)> {
        Some((*self.knots.first()?, *self.knots.last()?))
    }

    pub(crate) fn write(&self, x: f64, out: &mut [f64]) {
        let Self { degree, knots } = self;
        // The interval of x; the outermost where x is outside.
        let inner = &knots[*degree + 1..knots.len() - degree - 1];
        let interval = degree + inner.partition_point(|knot| *knot <= x);
        // The splines that are not 0 there, by rising degree.
        let mut values = vec![0.0; degree + 1];
        values[0] = 1.0;
        for rise in 1..=*degree {
            let mut carried = 0.0;
            for place in 0..rise {
                let (right, left) = (knots[interval + place + 1], knots[interval + place + 1 - rise]);
                let share = values[place] / (right - left);
                values[place] = carried + (right - x) * share;
                carried = (x - left) * share;
            }
            values[rise] = carried;
        }
        out.fill(0.0);
        for (place, value) in values.into_iter().enumerate() {
            // Spline number interval − degree + place, less the one left out.
            if let Some(column) = (interval + place).checked_sub(degree + 1) {
                out[column] = value;
            }
        }
    }
}
