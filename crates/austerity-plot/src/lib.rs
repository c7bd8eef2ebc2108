//! Charts as SVG: crisp in print, on a phone and offline, with no script.
//!
//! | file | holds |
//! |---|---|
//! | `axis` | from values to places; round numbers for labels |
//! | `panel` | one pair of axes and its marks: lines, points, bars, bands |
//! | `path` | short path data |
//! | `strip` | intervals on a shared axis, row by row |
//! | `style` | colours, in light and dark |
//! | `thin` | fewer points, spikes kept |
//!
//! A [`Figure`] is a file of its own: a row of panels under a title. [`Panel::inline`] is a chart within a page.

mod axis;
mod panel;
mod path;
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
        let (width, height) = (panel * self.panels.len() as f64, tall + 30.0);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{title}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n\
             <style>\n{style}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"12\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{title}</text>\n",
            title = escape(&self.title),
            style = style::standalone()
        );
        for (index, panel_data) in self.panels.iter().enumerate() {
            let _ = writeln!(out, "<g transform=\"translate({} 30)\">", panel * index as f64);
            panel_data.draw(&mut out);
            out += "</g>\n";
        }
        out + "</svg>\n"
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
