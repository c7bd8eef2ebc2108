//! Charts as SVG: crisp in print, on a phone and offline, with no script.
//!
//! | file | holds |
//! |---|---|
//! | `axis` | from values to places; round numbers for labels |
//! | `panel` | one pair of axes and its marks: lines, points, bars, bands |
//! | `path` | short path data |
//! | `shape` | open marks that tell series apart without colour |
//! | `strip` | intervals on a shared axis, row by row |
//! | `style` | colours, in light and dark |
//! | `thin` | fewer points, spikes kept |
//!
//! A [`Figure`] is a file of its own: a row of panels under a title. [`Panel::inline`] is a chart within a page.

mod axis;
mod panel;
mod path;
mod shape;
mod strip;
mod style;
mod thin;

use std::fmt::Write as _;

pub use axis::{Axis, Scale};
use panel::Frame;
pub use panel::{Curve, Mark, Panel};
pub use strip::{Interval, Strip};
pub use style::{SERIES, in_page};
pub use thin::extremes;

/// A row of panels under a title.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What stands above the panels.
    pub title: String,
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// The picture as a file's text.
    #[must_use]
    pub fn svg(&self) -> String {
        let (panel, tall) = Frame::FIGURE.size;
        let size = (panel * self.panels.len() as f64, tall + 30.0);
        let mut out = self.open(size, &self.title);
        let _ = writeln!(
            out,
            "<text x=\"12\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{}</text>",
            escape(&self.title)
        );
        for (index, panel_data) in self.panels.iter().enumerate() {
            let _ = writeln!(out, "<g transform=\"translate({} 30)\">", panel * index as f64);
            panel_data.draw(&mut out);
            out += "</g>\n";
        }
        out + "</svg>\n"
    }

    /// Each panel as a picture of its own: legible at half a column, and free to stand below the one before.
    pub fn panels(&self) -> impl Iterator<Item = String> {
        self.panels.iter().map(|panel| {
            let mut out = self.open(Frame::FIGURE.size, &format!("{}: {}", self.title, panel.title()));
            panel.draw(&mut out);
            out + "</svg>\n"
        })
    }

    fn open(&self, (width, height): (f64, f64), description: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n\
             <style>\n{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            escape(description),
            style::standalone()
        )
    }
}

/// Text that is safe inside markup, attributes included. Characters that XML forbids become U+FFFD.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\t' | '\n' => safe.push(letter),
            _ if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_well_formed_and_shows_its_words() {
        let curve =
            Curve { label: "a < b & c".into(), points: vec![(0.0, 0.1), (1.0, 0.4), (2.0, f64::NAN)] };
        let panel = Panel::new("error", Axis::new("x", Scale::Linear), Axis::new("y", Scale::Logarithmic))
            .curves(vec![curve])
            .reference(0.2);
        let svg = Figure { title: "T".into(), panels: vec![panel.clone(), panel] }.svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("NaN"));
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    }

    /// Eight curves: no two share dash and shape, keys stand beside each other or in further rows, never on top of each other.
    #[test]
    fn curves_are_told_apart_without_colour_and_keys_do_not_collide() {
        let curve = |index: usize| Curve {
            label: format!("ε = {:.2}, exact", 0.01 * index as f64),
            points: (0..20).map(|i| (f64::from(i), f64::from(i) + index as f64)).collect(),
        };
        let axis = || Axis::new("x", Scale::Linear);
        let figure = |count: usize| Figure {
            title: "T".into(),
            panels: vec![Panel::new("p", axis(), axis()).curves((0..count).map(curve).collect())],
        };
        let svg = figure(8).svg();
        let looks: std::collections::HashSet<&str> =
            svg.split("stroke-dasharray=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(looks.len() >= 7, "{looks:?}");
        let keys: Vec<(f64, f64)> = svg
            .split("<text class=\"key\" x=\"")
            .skip(1)
            .filter_map(|rest| {
                let mut parts = rest.split('"');
                Some((parts.next()?.parse().ok()?, parts.nth(1)?.parse().ok()?))
            })
            .collect();
        assert_eq!(keys.len(), 8, "{svg}");
        for (place, one) in keys.iter().enumerate() {
            for other in &keys[..place] {
                assert!((one.1 - other.1).abs() >= 12.0 || (one.0 - other.0).abs() >= 90.0, "{keys:?}");
            }
            assert!(one.0 + 90.0 <= 360.0, "{keys:?}");
        }
        // A single curve needs no second row, and every panel is a picture of its own.
        assert_eq!(figure(1).panels().count(), 1);
        assert!(figure(1).panels().all(|panel| panel.starts_with("<svg") && panel.ends_with("</svg>\n")));
    }

    #[test]
    fn a_figure_alone_needs_no_variables() {
        let panel = Panel::new("p", Axis::new("x", Scale::Linear), Axis::new("y", Scale::Linear));
        let svg = Figure { title: "T".into(), panels: vec![panel] }.svg();
        assert!(svg.contains("#0072b2") && !svg.contains("var("));
    }

    #[test]
    fn marks_outside_the_axes_or_undefined_leave_no_trace() {
        let bare =
            Panel::new("p", Axis::new("", Scale::Linear).with_limits(0.0, 1.0), Axis::new("", Scale::Linear));
        let none = bare.clone().small().inline("d");
        let undefined = bare
            .small()
            .mark(Mark::Upright(f64::NAN))
            .mark(Mark::Upright(7.0))
            .mark(Mark::Band { from: f64::NAN, to: 1.0 })
            .mark(Mark::Band { from: 2.0, to: 3.0 })
            .mark(Mark::Line { series: 0, points: vec![(0.5, f64::NAN), (f64::INFINITY, 1.0)] });
        let drawn = undefined.inline("d");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert!(!drawn.contains("class=\"mark") && !drawn.contains("class=\"band"), "{none}");
    }
}
