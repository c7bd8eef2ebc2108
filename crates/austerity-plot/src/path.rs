//! Path data of SVG, short: relative steps in tenths of a unit.
//!
//! A trace of 600 points takes about 4 kB. Steps are differences of rounded places, so that rounding does not add up.

use std::fmt::Write as _;

/// Tenths of a unit.
fn tenths(place: f64) -> i64 {
    (10.0 * place).round() as i64
}

/// A number of tenths as short as SVG allows: `12`, `-.3`, `4.5`.
fn number(out: &mut String, tenths: i64) {
    let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
    if tenths < 0 {
        out.push('-');
    }
    if whole > 0 || rest == 0 {
        let _ = write!(out, "{whole}");
    }
    if rest > 0 {
        let _ = write!(out, ".{rest}");
    }
}

/// A pair of numbers.
fn pair(out: &mut String, (x, y): (i64, i64), separate: bool) {
    if separate && x >= 0 {
        out.push(' ');
    }
    number(out, x);
    if y >= 0 {
        out.push(' ');
    }
    number(out, y);
}

/// A line through places; `None` lifts the pen.
pub(super) fn line(places: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut out = String::new();
    let mut last: Option<(i64, i64)> = None;
    let mut drawing = false;
    for place in places {
        let Some((x, y)) = place else {
            last = None;
            drawing = false;
            continue;
        };
        let here = (tenths(x), tenths(y));
        match last {
            None => {
                out.push('M');
                pair(&mut out, here, false);
            }
            Some(before) => {
                if !drawing {
                    out.push('l');
                }
                pair(&mut out, (here.0 - before.0, here.1 - before.1), drawing);
                drawing = true;
            }
        }
        last = Some(here);
    }
    out
}

/// Boxes given by two opposite corners.
pub(super) fn boxes(corners: impl Iterator<Item = ((f64, f64), (f64, f64))>) -> String {
    let mut out = String::new();
    for ((x0, y0), (x1, y1)) in corners {
        let (from, to) = ((tenths(x0), tenths(y0)), (tenths(x1), tenths(y1)));
        out.push('M');
        pair(&mut out, from, false);
        out.push('h');
        number(&mut out, to.0 - from.0);
        out.push('v');
        number(&mut out, to.1 - from.1);
        out.push('h');
        number(&mut out, from.0 - to.0);
        out.push('z');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_relative_and_gaps_lift_the_pen() {
        let places = [Some((1.0, 2.0)), Some((1.5, 1.0)), Some((1.25, 3.04)), None, Some((9.0, -9.5))];
        assert_eq!(line(places.into_iter()), "M1 2l.5-1-.2 2M9-9.5");
        assert_eq!(line(std::iter::empty()), "");
    }

    #[test]
    fn rounding_does_not_add_up() {
        let path = line((0..1000).map(|i| Some((0.04 * f64::from(i), 0.0))));
        let steps = path.split_once('l').unwrap().1;
        let total: f64 = steps.split(' ').step_by(2).filter_map(|step| step.parse::<f64>().ok()).sum();
        assert!((total - 40.0).abs() < 0.051, "{total}");
    }

    #[test]
    fn boxes_close() {
        assert_eq!(boxes([((0.0, 10.0), (2.0, 4.0))].into_iter()), "M0 10h2v-6h-2z");
    }
}
