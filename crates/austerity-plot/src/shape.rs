//! Open marks that tell series apart without colour: circle, triangle, square, diamond, wedge, cross, plus.
//!
//! Path data around each place; the first three are the marks of the paper's figures. A curve carries a few of them, spread along it.

use std::fmt::Write as _;

use super::axis::Fitted;

/// Half the width of a mark.
const HALF: f64 = 3.2;
/// More points than this are dots: marks would hide one another.
pub(super) const CROWD: usize = 300;
/// Least distance between marks along a curve.
const APART: f64 = 34.0;

/// Appends the mark of a series around a place.
fn push(out: &mut String, series: usize, (x, y): (f64, f64)) {
    let h = HALF;
    let _ = match series % 7 {
        0 => write!(out, "M{:.1} {y:.1}a{h} {h} 0 1 0 {} 0a{h} {h} 0 1 0 -{} 0", x - h, 2.0 * h, 2.0 * h),
        1 => write!(out, "M{x:.1} {:.1}l{h} {}h-{}z", y - h, 1.8 * h, 2.0 * h),
        2 => write!(out, "M{:.1} {:.1}h{}v{}h-{}z", x - 0.9 * h, y - 0.9 * h, 1.8 * h, 1.8 * h, 1.8 * h),
        3 => write!(out, "M{x:.1} {:.1}l{h} {h}l-{h} {h}l-{h} -{h}z", y - h),
        4 => write!(out, "M{x:.1} {:.1}l{h} -{}h-{}z", y + h, 1.8 * h, 2.0 * h),
        5 => write!(out, "M{:.1} {:.1}l{d} {d}m0 -{d}l-{d} {d}", x - 0.8 * h, y - 0.8 * h, d = 1.6 * h),
        _ => write!(out, "M{:.1} {y:.1}h{d}m-{h} -{h}v{d}", x - h, d = 2.0 * h),
    };
}

/// Marks at every point that is shown.
pub(super) fn all(series: usize, points: &[(f64, f64)], x: &Fitted, y: &Fitted) -> String {
    let mut out = String::new();
    for &(px, py) in points.iter().filter(|(px, py)| x.shows(*px) && y.shows(*py)) {
        push(&mut out, series, (x.place(px), y.place(py)));
    }
    out
}

/// Marks at some points, far enough apart; series begin at different places so that marks of near curves do not hide each other.
pub(super) fn some(series: usize, points: &[(f64, f64)], x: &Fitted, y: &Fitted) -> String {
    let mut out = String::new();
    let mut next = f64::NEG_INFINITY;
    let mut first = true;
    for &(px, py) in points.iter().filter(|(px, py)| x.shows(*px) && y.shows(*py)) {
        let place = x.place(px);
        if first {
            next = place + APART * (series % 7) as f64 / 7.0;
            first = false;
        }
        if place >= next {
            push(&mut out, series, (place, y.place(py)));
            next = place + APART;
        }
    }
    out
}

/// The mark in a key.
pub(super) fn one(series: usize, place: (f64, f64)) -> String {
    let mut out = String::new();
    push(&mut out, series, place);
    out
}
