//! How a column is stored in single precision: its shift and scale, and what rounding loses.
//!
//! See the table of [`crate::data`]. What rounding can lose at most follows from the range of a column; only where
//! that is too much the values are looked at a second time (`Rounding`, whole or in pieces).

use serde::{Deserialize, Serialize};

use super::summary::{ColumnSummary, is_whole};

/// Rounding to f32 may move a column by this share of its standard deviation (root mean square) unmentioned.
const ROUNDING_SHARE: f64 = 1e-5;

/// How a column is stored: stored value = (value − shift)/scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transform {
    /// Subtracted first.
    pub shift: f64,
    /// Then divided by; positive.
    pub scale: f64,
}

impl Transform {
    /// The transformation of a column, see the table of [`crate::data`].
    #[must_use]
    pub fn of(summary: &ColumnSummary) -> Self {
        let positive = |scale: f64| scale.max(f64::MIN_POSITIVE);
        if summary.is_constant() {
            Self { shift: 0.0, scale: positive(summary.minimum.abs()) }
        } else if summary.is_rare() {
            Self { shift: 0.0, scale: positive(summary.of_nonzeros.0.hypot(summary.of_nonzeros.1)) }
        } else {
            Self { shift: summary.mean, scale: positive(summary.sd) }
        }
    }

    /// The stored value.
    #[must_use]
    #[inline(always)]
    pub fn stored(self, value: f64) -> f32 {
        // A loop divides once; what that rounds differently is gone in single precision.
        ((value - self.shift) * (1.0 / self.scale)) as f32
    }
}

/// What storing a column as f32 loses, measured piece by piece where it may be too much.
#[derive(Clone, Debug)]
pub(crate) struct Rounding {
    transform: Transform,
    summary: ColumnSummary,
    suspect: bool,
    /// Spread against which rounding is measured.
    allowed: f64,
    worst: f64,
    squares: f64,
    /// Values that the mean square is taken over: all, or (of a column with shift) those that moved.
    counted: u64,
    side: bool,
}

impl Rounding {
    /// Of a column.
    pub(crate) fn of_column(summary: &ColumnSummary, transform: Transform) -> Self {
        let spread = match summary {
            constant if constant.is_constant() => 0.0,
            rare if rare.is_rare() => rare.of_nonzeros.1,
            dense => dense.sd,
        };
        let allowed = if spread > 0.0 { ROUNDING_SHARE * spread } else { f64::INFINITY };
        Self::new(summary, transform, allowed, false)
    }

    /// Of a side column that is stored less its mean and may lose a share of its standard deviation or of `unit`,
    /// whichever is smaller.
    pub(crate) fn of_side(summary: &ColumnSummary, unit: f64) -> Self {
        let transform = Transform { shift: summary.mean, scale: 1.0 };
        let allowed = ROUNDING_SHARE * if summary.sd > 0.0 { summary.sd.min(unit) } else { unit };
        Self::new(summary, transform, allowed, true)
    }

    fn new(summary: &ColumnSummary, transform: Transform, allowed: f64, side: bool) -> Self {
        let Transform { shift, .. } = transform;
        let reach = (summary.minimum - shift).abs().max((summary.maximum - shift).abs());
        // Half an ulp of f32 and some of f64; beyond f32 everything is lost.
        let bound = reach * 2f64.powi(-23) + (reach + shift.abs()) * 2f64.powi(-50);
        let held = reach / transform.scale < 1e38 && reach / transform.scale > 1e-30;
        let suspect = !(held && bound <= allowed && (!summary.whole || bound < 0.5));
        let constant = summary.is_constant() && !side;
        Self {
            transform,
            summary: *summary,
            suspect: suspect && !(constant && bound < 0.5),
            allowed,
            worst: 0.0,
            squares: 0.0,
            counted: 0,
            side,
        }
    }

    /// Looks at the next values, if that is needed.
    pub(crate) fn push(&mut self, values: &[f64]) {
        if !self.suspect {
            return;
        }
        let Transform { shift, scale } = self.transform;
        for &value in values {
            let error = (f64::from(self.transform.stored(value)) * scale + shift - value).abs();
            self.worst = self.worst.max(error);
            self.squares += error * error;
            self.counted += u64::from(self.side || error != 0.0);
        }
    }

    fn lost(&self) -> Option<Loss> {
        let rms = (self.squares / self.counted.max(1) as f64).sqrt();
        if self.summary.whole && self.worst >= 0.5 {
            Some(Loss::Whole)
        } else {
            (rms > self.allowed).then_some(Loss::Share(rms))
        }
    }

    /// A sentence when storing the column loses something a user would miss.
    pub(crate) fn of_column_in_words(&self, name: &str) -> Option<String> {
        match self.lost()? {
            Loss::Whole => Some(format!(
                "column `{name}` holds whole numbers that single precision cannot tell apart: values move by up to \
                 {:.3}; is it an identifier or a time stamp? drop it or use differences",
                self.worst
            )),
            Loss::Share(rms) => Some(format!(
                "column `{name}`: rounding to single precision moves its values by {:.1e} of their standard deviation; \
                 subtract a typical value from the column",
                rms / (self.allowed / ROUNDING_SHARE)
            )),
        }
    }

    /// A sentence when storing a side column loses something a user would miss.
    pub(crate) fn of_side_in_words(&self, what: &str) -> Option<String> {
        match self.lost()? {
            Loss::Whole => Some(format!(
                "{what} holds whole numbers that single precision does not give back: they move by up to {:.3}; \
                 rescale them or subtract what is known",
                self.worst
            )),
            Loss::Share(rms) => Some(format!(
                "{what}: rounding to single precision moves its values by {rms:.1e}, their standard deviation is {:.1e}; \
                 rescale them or subtract what is known",
                self.summary.sd
            )),
        }
    }
}

enum Loss {
    Whole,
    Share(f64),
}

/// What storing counts or weights as they are loses, piece by piece.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    largest: f64,
    lost: usize,
    rows: usize,
}

impl Counts {
    /// Looks at the next values.
    pub(crate) fn push(&mut self, values: &[f64]) {
        for &v in values {
            self.largest = self.largest.max(v);
            let back = f64::from(v as f32);
            // Fractions lose a share of 6e-8 like everything stored; whole numbers should not, and nothing may vanish.
            self.lost += usize::from(back != v && (is_whole(v) || (back - v).abs() > 1e-7 * v));
        }
        self.rows += values.len();
    }

    /// Adds what other values lose.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.largest = self.largest.max(other.largest);
        self.lost += other.lost;
        self.rows += other.rows;
    }

    /// A sentence when they do not survive single precision.
    pub(crate) fn in_words(&self, what: &str, remedy: &str) -> Option<String> {
        (self.lost > 0).then(|| {
            format!(
                "the largest {what} is {}, and single precision holds whole numbers exactly only up to 16777216: \
                 {} of {} values are rounded; {remedy}",
                self.largest, self.lost, self.rows
            )
        })
    }
}
