//! Intervals on a shared axis, one small picture per row: the middle column of a forest plot.
//!
//! Names and numbers stand beside the pictures as text of the page, so they stay legible at any width. Inside a picture, places along
//! the axis are percentages of its width while widths of lines are fixed: a strip may be 150 or 900 pixels wide.

use std::fmt::Write as _;

use super::axis::{Axis, Fitted, Scale};
use super::escape;

/// Room on either side of the outermost intervals, as a share of their span.
const ROOM: f64 = 0.04;
/// About how many labels the axis has.
const TICKS: usize = 5;

/// One estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Where the dot is.
    pub centre: f64,
    /// Ends of the thick line.
    pub inner: Option<(f64, f64)>,
    /// Ends of the thin line.
    pub outer: (f64, f64),
}

impl Interval {
    /// Whether the thin line crosses zero.
    #[must_use]
    pub fn crosses_zero(&self) -> bool {
        self.outer.0 <= 0.0 && self.outer.1 >= 0.0
    }

    /// The same estimate in other units: every number times a positive factor.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        let both = |(low, high): (f64, f64)| (factor * low, factor * high);
        Self { centre: factor * self.centre, inner: self.inner.map(both), outer: both(self.outer) }
    }
}

/// The axis that the rows share. It always shows zero.
#[derive(Clone, Debug)]
pub struct Strip {
    axis: Fitted,
    ticks: Vec<(f64, String)>,
}

impl Strip {
    /// An axis that holds all `intervals` and zero.
    #[must_use]
    pub fn new(intervals: &[Interval]) -> Self {
        let ends =
            intervals.iter().flat_map(|interval| [interval.outer.0, interval.outer.1, interval.centre]);
        let mut axis = Axis::new("", Scale::Linear).fit(ends.chain([0.0]), 0.0, 100.0);
        let (low, high) = axis.limits;
        let room = ROOM * (high - low);
        axis.limits = (low - room, high + room);
        let ticks = axis.ticks(TICKS);
        Self { axis, ticks }
    }

    /// Share of the axis that the thin line of an interval takes.
    #[must_use]
    pub fn share(&self, interval: &Interval) -> f64 {
        (self.axis.place(interval.outer.1) - self.axis.place(interval.outer.0)) / 100.0
    }

    /// The picture of one row. Its numbers are in the page's text, so screen readers skip it.
    #[must_use]
    pub fn row(&self, interval: &Interval) -> String {
        let class = if interval.crosses_zero() { "chart open" } else { "chart" };
        let mut out = format!("<svg class=\"{class}\" aria-hidden=\"true\">");
        self.grid(&mut out);
        self.line(&mut out, "outer", interval.outer);
        if let Some(inner) = interval.inner {
            self.line(&mut out, "inner", inner);
        }
        if self.axis.shows(interval.centre) {
            let at = self.axis.place(interval.centre);
            let _ = write!(out, "<circle class=\"point\" cx=\"{at:.2}%\" cy=\"50%\" r=\"3.6\"/>");
        }
        out + "</svg>"
    }

    /// The labels below the rows.
    #[must_use]
    pub fn labels(&self) -> String {
        let mut out = String::from("<svg class=\"chart\" aria-hidden=\"true\">");
        for (value, label) in &self.ticks {
            let (at, label) = (self.axis.place(*value), escape(label));
            let _ = write!(
                out,
                "<line class=\"grid\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"0\" y2=\"4\"/>\
                 <text x=\"{at:.2}%\" y=\"17\" text-anchor=\"middle\">{label}</text>"
            );
        }
        out + "</svg>"
    }

    fn grid(&self, out: &mut String) {
        let ticks = self.ticks.iter().map(|tick| tick.0).filter(|value| *value != 0.0);
        for (class, value) in ticks.map(|value| ("grid", value)).chain([("zero", 0.0)]) {
            let at = self.axis.place(value);
            let _ =
                write!(out, "<line class=\"{class}\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"0\" y2=\"100%\"/>");
        }
    }

    fn line(&self, out: &mut String, class: &str, (from, to): (f64, f64)) {
        if self.axis.shows(from) && self.axis.shows(to) {
            let (from, to) = (self.axis.place(from), self.axis.place(to));
            let _ = write!(
                out,
                "<line class=\"{class}\" x1=\"{from:.2}%\" x2=\"{to:.2}%\" y1=\"50%\" y2=\"50%\"/>"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(centre: f64, half: f64) -> Interval {
        let around = |half: f64| (centre - half, centre + half);
        Interval { centre, inner: Some(around(half / 3.0)), outer: around(half) }
    }

    #[test]
    fn rows_share_an_axis_that_shows_zero() {
        let rows = [interval(2.0, 0.5), interval(1.0, 0.25)];
        let strip = Strip::new(&rows);
        // From 0 to 2.5 with room on both sides: zero is at 3.70 %, one at 40.74 %.
        let drawn = strip.row(&rows[1]);
        assert!(drawn.contains("class=\"zero\" x1=\"3.70%\""), "{drawn}");
        assert!(drawn.contains("cx=\"40.74%\"") && drawn.contains("class=\"inner\""), "{drawn}");
        assert!((strip.share(&rows[0]) - 1.0 / 2.7).abs() < 1e-12);
        assert_eq!(strip.labels().matches("<text").count(), 6, "{}", strip.labels());
    }

    #[test]
    fn estimates_that_may_be_zero_are_open() {
        let (sure, unsure) = (interval(1.0, 0.5), interval(0.1, 0.5));
        let strip = Strip::new(&[sure, unsure]);
        assert!(!strip.row(&sure).contains("open") && strip.row(&unsure).contains("chart open"));
        assert!(unsure.times(3.0).crosses_zero() && !sure.times(1e-9).crosses_zero());
    }

    #[test]
    fn odd_numbers_leave_no_trace() {
        for odd in
            [interval(f64::NAN, 1.0), interval(1e308, 1e308), interval(0.0, 0.0), interval(5e-324, 0.0)]
        {
            let strip = Strip::new(&[odd]);
            let drawn = strip.row(&odd) + &strip.labels();
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
        assert!(Strip::new(&[]).labels().contains("<text"));
    }
}
