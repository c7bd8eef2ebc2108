//! Line charts as SVG: crisp in print, on a phone and offline, with no script.
//!
//! A figure is a row of panels; a panel has two axes, lines with their labels at the right end, and a note. Colours are the
//! eight of Okabe & Ito (2008), which colour-blind readers can tell apart; lines also differ in dash.

mod axis;

use std::fmt::Write as _;

pub(crate) use axis::{Axis, Scale};

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) curves: Vec<Curve>,
    /// Height of a dotted horizontal line, if any.
    pub(crate) reference: Option<f64>,
}

/// A row of panels under a title.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
}

const PANEL: (f64, f64) = (360.0, 300.0);
const MARGIN: (f64, f64, f64, f64) = (62.0, 44.0, 16.0, 48.0); // left, top, right, bottom
/// Room for one entry of the key, at the most.
const KEY: f64 = 96.0;
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DASHES: [&str; 4] = ["none", "6 3", "2 3", "8 3 2 3"];

impl Figure {
    /// The picture as a file's text.
    pub(crate) fn svg(&self) -> String {
        let width = PANEL.0 * self.panels.len() as f64;
        let height = PANEL.1 + 30.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" aria-label=\"{title}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"12\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{title}</text>\n",
            title = escape(&self.title)
        );
        for (index, panel) in self.panels.iter().enumerate() {
            let _ = writeln!(out, "<g transform=\"translate({} 30)\">", PANEL.0 * index as f64);
            panel.draw(&mut out);
            out += "</g>\n";
        }
        out + "</svg>\n"
    }
}

impl Panel {
    fn draw(&self, out: &mut String) {
        let (left, top, right, bottom) = MARGIN;
        let (x0, x1, y0, y1) = (left, PANEL.0 - right, PANEL.1 - bottom, top);
        let points = || self.curves.iter().flat_map(|curve| curve.points.iter());
        let x = self.x.fit(points().map(|p| p.0), x0, x1);
        let y = self.y.fit(points().map(|p| p.1).chain(self.reference), y0, y1);
        let _ = writeln!(
            out,
            "<text x=\"{x0}\" y=\"{}\" font-weight=\"bold\">{}</text>",
            top - 26.0,
            escape(&self.title)
        );
        for (value, label) in x.ticks() {
            let at = x.place(value);
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {y0}V{y1}\" stroke=\"#e5e5e5\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                y0 + 15.0
            );
        }
        for (value, label) in y.ticks() {
            let at = y.place(value);
            let _ = writeln!(
                out,
                "<path d=\"M{x0} {at:.1}H{x1}\" stroke=\"#e5e5e5\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                x0 - 6.0,
                at + 4.0
            );
        }
        if let Some(reference) = self.reference {
            let at = y.place(reference);
            let _ =
                writeln!(out, "<path d=\"M{x0} {at:.1}H{x1}\" stroke=\"#777\" stroke-dasharray=\"1 3\"/>");
        }
        for (index, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let dash = DASHES[index % DASHES.len()];
            let mut path = String::new();
            for &(px, py) in curve.points.iter().filter(|(px, py)| x.shows(*px) && y.shows(*py)) {
                let verb = if path.is_empty() { 'M' } else { 'L' };
                let _ = write!(path, "{verb}{:.1} {:.1}", x.place(px), y.place(py));
            }
            let _ = writeln!(
                out,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\"/>"
            );
            // The key: one row above the frame, in the order of the curves.
            let at = x0 + KEY.min((x1 - x0) / self.curves.len() as f64) * index as f64;
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {:.1}h16\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                top - 11.0,
                at + 20.0,
                top - 7.0,
                escape(&curve.label)
            );
        }
        let _ = writeln!(
            out,
            "<path d=\"M{x0} {y1}V{y0}H{x1}\" fill=\"none\" stroke=\"#333\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            0.5 * (x0 + x1),
            y0 + 34.0,
            escape(&self.x.label),
            0.5 * (y0 + y1),
            escape(&self.y.label)
        );
    }
}

/// Text that is safe inside markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_well_formed_and_shows_its_words() {
        let curve =
            Curve { label: "a < b & c".into(), points: vec![(0.0, 0.1), (1.0, 0.4), (2.0, f64::NAN)] };
        let panel = Panel {
            title: "error".into(),
            x: Axis::new("x", Scale::Linear),
            y: Axis::new("y", Scale::Logarithmic),
            curves: vec![curve],
            reference: Some(0.2),
        };
        let svg = Figure { title: "T".into(), panels: vec![panel.clone(), panel] }.svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("NaN"));
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    }
}
