//! Natural cubic regression splines (Wood 2006, section 4.1.2): column j is the cubic spline that is 1 at knot j and 0 at the others.
//!
//! Between knots k_j and k_{j+1} the spline with values β and second derivatives Fβ at the knots is
//! a⁻β_j + a⁺β_{j+1} + c⁻(Fβ)_j + c⁺(Fβ)_{j+1}; F solves the tridiagonal system of continuous first derivatives, with 0 at both ends. Outside the
//! knots it goes on as a straight line. The columns add up to 1: beside an intercept one of them is redundant, and the priors decide.
//! Cost: O(knots) a value.

use serde::{Deserialize, Serialize};

/// Natural cubic splines on given knots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaturalCubic {
    knots: Vec<f64>,
    /// F, row by row.
    second: Vec<f64>,
}

impl NaturalCubic {
    /// Splines on these knots, at least three in increasing order.
    pub(crate) fn new(knots: Vec<f64>) -> Self {
        let width = knots.len();
        let gap = |j: usize| knots[j + 1] - knots[j];
        let mut second = vec![0.0; width * width];
        // One elimination of the tridiagonal matrix for all right-hand sides.
        let mut diagonal = vec![0.0; width];
        for row in 1..width - 1 {
            for (place, slope) in [
                (row - 1, 1.0 / gap(row - 1)),
                (row, -1.0 / gap(row - 1) - 1.0 / gap(row)),
                (row + 1, 1.0 / gap(row)),
            ] {
                second[row * width + place] = slope;
            }
            diagonal[row] = (gap(row - 1) + gap(row)) / 3.0;
            if row > 1 {
                let share = gap(row - 1) / 6.0 / diagonal[row - 1];
                diagonal[row] -= share * gap(row - 1) / 6.0;
                for column in 0..width {
                    second[row * width + column] -= share * second[(row - 1) * width + column];
                }
            }
        }
        for row in (1..width - 1).rev() {
            for column in 0..width {
                let after =
                    if row + 2 < width { gap(row) / 6.0 * second[(row + 1) * width + column] } else { 0.0 };
                second[row * width + column] = (second[row * width + column] - after) / diagonal[row];
            }
        }
        Self { knots, second }
    }

    pub(crate) fn width(&self) -> usize {
        self.knots.len()
    }

    pub(crate) fn write(&self, x: f64, out: &mut [f64]) {
        let knots = &self.knots;
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        let place = knots[1..knots.len() - 1].partition_point(|knot| *knot <= x);
        let within = x.clamp(first, last);
        let gap = knots[place + 1] - knots[place];
        let (right, left) = (knots[place + 1] - within, within - knots[place]);
        // Weights of the values and second derivatives at both knots; outside, with the slope at the end.
        let beyond = x - within;
        let values = [right / gap - beyond / gap, left / gap + beyond / gap];
        let curved = |side: f64| (side * side * side / gap - gap * side) / 6.0;
        let slope = |side: f64| (3.0 * side * side / gap - gap) / 6.0;
        let seconds = [curved(right) - beyond * slope(right), curved(left) + beyond * slope(left)];
        out.fill(0.0);
        for (knot, (value, second)) in values.into_iter().zip(seconds).enumerate() {
            let row = place + knot;
            out[row] += value;
            let derivatives = &self.second[row * knots.len()..(row + 1) * knots.len()];
            out.iter_mut().zip(derivatives).for_each(|(slot, derivative)| *slot += second * derivative);
        }
    }
}
