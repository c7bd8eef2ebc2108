//! One pair of axes and what is drawn between them.
//!
//! A panel is data; [`Panel::draw`] writes it as SVG elements that name classes (see [`super::style`]) and carry no colour.

use std::fmt::Write as _;

use super::axis::{Axis, Fitted, Scale};
use super::style::SERIES;
use super::{escape, path, shape};

/// One line with its name in the key; without a name it has no entry there.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in the key.
    pub label: String,
    /// Its points, from left to right; one that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
}

/// Something drawn.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A thin line in the colour of a series; a point that is not finite is a gap.
    Line {
        /// Number of the colour.
        series: usize,
        /// From left to right.
        points: Vec<(f64, f64)>,
    },
    /// Open marks in the colour and shape of a series, in a crowd or a page small dots.
    Points {
        /// Number of the colour.
        series: usize,
        /// In any order; those that are not finite are left out.
        points: Vec<(f64, f64)>,
    },
    /// Bars between neighbouring edges, from `base` up; in the accent colour without a series.
    Bars {
        /// Number of the colour.
        series: Option<usize>,
        /// One more than there are bars.
        edges: Vec<f64>,
        /// Where the bars stand.
        base: f64,
        /// Above the base.
        heights: Vec<f64>,
    },
    /// A shaded range of x.
    Band {
        /// Its left end.
        from: f64,
        /// Its right end.
        to: f64,
    },
    /// A dotted line at a height.
    Level(f64),
    /// An upright line in the accent colour.
    Upright(f64),
    /// Words beside a point: the ε of it, say.
    Label {
        /// The point.
        at: (f64, f64),
        /// The words.
        text: String,
    },
}

/// Size and margins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Width and height.
    pub(crate) size: (f64, f64),
    /// Left margin; none leaves the room that the labels need.
    left: Option<f64>,
    top: f64,
    right: f64,
    bottom: f64,
    /// About how many labels there are along x and y.
    ticks: (usize, usize),
    /// Whether the title is drawn; a page says it in its own text.
    titled: bool,
}

impl Frame {
    /// A figure that stands alone.
    pub(crate) const FIGURE: Self = Self {
        size: (360.0, 300.0),
        left: Some(62.0),
        top: 44.0,
        right: 16.0,
        bottom: 48.0,
        ticks: (5, 5),
        titled: true,
    };
    /// A small multiple in a page: legible at the width of a phone.
    pub(crate) const SMALL: Self = Self {
        size: (360.0, 190.0),
        left: None,
        top: 8.0,
        right: 16.0,
        bottom: 36.0,
        ticks: (5, 5),
        titled: false,
    };
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    title: String,
    x: Axis,
    y: Axis,
    frame: Frame,
    curves: Vec<Curve>,
    marks: Vec<Mark>,
}

/// Room in a key besides the words of an entry.
const KEY: f64 = 40.0;
/// Height of a row of the key.
const KEY_ROW: f64 = 15.0;
const DASHES: [&str; 7] = ["none", "6 3", "2 3", "8 3 2 3", "12 4", "4 2 1 2 1 2", "1 2"];
/// Width of a character, about, at the font size of a chart.
const CHARACTER: f64 = 6.4;

impl Panel {
    /// What stands above it.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// An empty panel.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, frame: Frame::FIGURE, curves: Vec::new(), marks: Vec::new() }
    }

    /// The same panel as a small multiple.
    #[must_use]
    pub fn small(mut self) -> Self {
        self.frame = Frame::SMALL;
        self
    }

    /// Adds lines that differ in dash as well as in colour, with a key above them.
    #[must_use]
    pub fn curves(mut self, curves: Vec<Curve>) -> Self {
        self.curves.extend(curves);
        self
    }

    /// Adds something.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// Adds a dotted level.
    #[must_use]
    pub fn reference(self, level: f64) -> Self {
        self.mark(Mark::Level(level))
    }

    /// The panel as an element of a page: scales with its box, says what it is, and tells a script its axes.
    #[must_use]
    pub fn inline(&self, description: &str) -> String {
        let (width, height) = self.frame.size;
        let mut body = String::new();
        let (x, y) = self.draw(&mut body);
        let axis = |name: &str, label: &str, fitted: &Fitted| {
            let kind = if fitted.scale == Scale::Logarithmic { "log" } else { "lin" };
            let ((low, high), (from, to)) = (fitted.limits, fitted.places);
            format!(" data-{name}=\"{low} {high} {from:.1} {to} {kind}\" data-{name}n=\"{}\"", escape(label))
        };
        // An axis with labels of its own (chains, say) has no numbers to read off.
        let x = axis("x", &self.x.label, &x);
        let y = if self.y.marks.is_some() { String::new() } else { axis("y", &self.y.label, &y) };
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\"{x}{y}><title>{}</title>\n{body}</svg>\n",
            escape(description)
        )
    }

    /// Writes the elements and returns the axes.
    pub(super) fn draw(&self, out: &mut String) -> (Fitted, Fitted) {
        let frame = &self.frame;
        let left = frame.left.unwrap_or(12.0);
        let keys = self.keys((left, frame.size.0 - frame.right));
        let rows = keys.iter().flatten().map(|key| key.1 + 1).max().unwrap_or(0) as f64;
        let first = if frame.titled { 1.0 } else { 0.0 };
        let top = frame.top + KEY_ROW * (rows - first).max(0.0);
        let (y0, y1) = (frame.size.1 - frame.bottom, top);
        let y = self.y.fit(self.values(|p| p.1, false), y0, y1);
        let y_ticks = self.y.marks.clone().unwrap_or_else(|| y.ticks(frame.ticks.1));
        let widest = y_ticks.iter().map(|tick| tick.1.chars().count()).max().unwrap_or(0);
        let label_room = if self.y.label.is_empty() { 0.0 } else { 16.0 };
        let x0 = frame.left.unwrap_or(12.0 + label_room + CHARACTER * widest as f64);
        let x1 = frame.size.0 - frame.right;
        let x = self.x.fit(self.values(|p| p.0, true), x0, x1);
        let x_ticks = self.x.marks.clone().unwrap_or_else(|| spaced_ticks(&x, frame.ticks.0));

        if frame.titled {
            let title = escape(&self.title);
            let _ = writeln!(
                out,
                "<text x=\"{x0}\" y=\"{}\" font-weight=\"bold\">{title}</text>",
                frame.top - 26.0
            );
        }
        let grid = x_ticks.iter().map(|tick| x.place(tick.0)).map(|at| format!("M{at:.1} {y0}V{y1}"));
        let levels = self.y.marks.is_none().then_some(&y_ticks).into_iter().flatten();
        let across = levels.map(|tick| y.place(tick.0)).map(|at| format!("M{x0:.1} {at:.1}H{x1}"));
        let grid: String = grid.chain(across).collect();
        let _ = writeln!(out, "<path class=\"grid\" d=\"{grid}\"/>");
        for (value, label) in &x_ticks {
            let (at, below) = (x.place(*value), y0 + 15.0);
            let _ = writeln!(
                out,
                "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
                escape(label)
            );
        }
        for (value, label) in &y_ticks {
            let (left, at) = (x0 - 6.0, y.place(*value) + 4.0);
            let _ = writeln!(
                out,
                "<text x=\"{left:.1}\" y=\"{at:.1}\" text-anchor=\"end\">{}</text>",
                escape(label)
            );
        }
        self.marks.iter().for_each(|mark| mark.draw(out, (&x, &y), frame.titled));
        self.draw_curves(out, (&x, &y), &keys, top - KEY_ROW * rows);
        let _ = writeln!(out, "<path class=\"axis\" d=\"M{x0:.1} {y1}V{y0}H{x1}\"/>");
        if !self.x.label.is_empty() {
            let (at, below) = (0.5 * (x0 + x1), frame.size.1 - if frame.titled { 14.0 } else { 5.0 });
            let label = escape(&self.x.label);
            let _ = writeln!(out, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{label}</text>");
        }
        if !self.y.label.is_empty() {
            let (at, label) = (0.5 * (y0 + y1), escape(&self.y.label));
            let _ = writeln!(
                out,
                "<text transform=\"translate(14 {at:.1}) rotate(-90)\" text-anchor=\"middle\">{label}</text>"
            );
        }
        (x, y)
    }

    /// Where the entries of the key stand: their left end and their row. As many to a row as have room beside each other.
    fn keys(&self, (from, to): (f64, f64)) -> Vec<Option<(f64, usize)>> {
        let (mut at, mut row) = (from, 0);
        let place = |curve: &Curve| {
            let width = KEY + CHARACTER * curve.label.chars().count() as f64;
            if curve.label.is_empty() {
                return None;
            }
            if at > from && at + width > to + 12.0 {
                (at, row) = (from, row + 1);
            }
            let here = (at, row);
            at += width;
            Some(here)
        };
        self.curves.iter().map(place).collect()
    }

    /// Curves, and the key: rows above the frame, in their order.
    fn draw_curves(
        &self,
        out: &mut String,
        (x, y): (&Fitted, &Fitted),
        keys: &[Option<(f64, usize)>],
        top: f64,
    ) {
        let marked = self.frame.titled && self.curves.len() > 1;
        for (index, (curve, key)) in self.curves.iter().zip(keys).enumerate() {
            let (series, dash) = (index % SERIES, DASHES[index % DASHES.len()]);
            let style = format!("class=\"line s{series}\" stroke-dasharray=\"{dash}\"");
            let _ = writeln!(out, "<path {style} d=\"{}\"/>", line(&curve.points, x, y));
            let marks = if marked { shape::some(index, &curve.points, x, y) } else { String::new() };
            if !marks.is_empty() {
                let _ = writeln!(out, "<path class=\"shape s{series}\" d=\"{marks}\"/>");
            }
            let Some((at, row)) = *key else { continue };
            let height = top + KEY_ROW * row as f64 + 4.0;
            // Without a line of its own an entry is that of points.
            if !curve.points.is_empty() {
                let _ = write!(out, "<path {style} d=\"M{at:.1} {height:.1}h20\"/>");
            }
            if marked && (curve.points.is_empty() || !marks.is_empty()) {
                let mark = shape::one(index, (at + 10.0, height));
                let _ = write!(out, "<path class=\"shape s{series}\" d=\"{mark}\"/>");
            }
            let _ = writeln!(
                out,
                "<text class=\"key\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                at + 25.0,
                height + 4.0,
                escape(&curve.label)
            );
        }
    }

    /// All values along one axis.
    fn values(&self, of: fn(&(f64, f64)) -> f64, along_x: bool) -> impl Iterator<Item = f64> {
        let curves = self.curves.iter().flat_map(|curve| &curve.points).map(of);
        let marks = self.marks.iter().flat_map(move |mark| -> Vec<f64> {
            match mark {
                Mark::Line { points, .. } | Mark::Points { points, .. } => points.iter().map(of).collect(),
                Mark::Bars { edges, .. } if along_x => edges.clone(),
                Mark::Bars { heights, base, .. } => {
                    heights.iter().map(|height| base + height).chain([*base]).collect()
                }
                Mark::Level(level) if !along_x => vec![*level],
                Mark::Label { at, .. } => vec![of(at)],
                _ => Vec::new(), // bands and uprights do not stretch the axis
            }
        });
        curves.chain(marks)
    }
}

impl Mark {
    fn draw(&self, out: &mut String, (x, y): (&Fitted, &Fitted), figure: bool) {
        if let Self::Label { at, text } = self {
            if x.shows(at.0) && y.shows(at.1) {
                let (px, py) = (x.place(at.0), y.place(at.1));
                // Left of the point where there is no room to its right.
                let right = px + 8.0 + CHARACTER * text.chars().count() as f64 <= x.places.1 + 12.0;
                let (px, anchor) = if right { (px + 7.0, "start") } else { (px - 7.0, "end") };
                let _ = writeln!(
                    out,
                    "<text x=\"{px:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                    py + 4.0,
                    escape(text)
                );
            }
            return;
        }
        let (class, path) = match self {
            Self::Label { .. } => (String::new(), String::new()),
            Self::Points { series, points } if figure && points.len() <= shape::CROWD => {
                (format!("shape s{}", series % SERIES), shape::all(*series, points, x, y))
            }
            Self::Line { series, points } => (format!("thin s{}", series % SERIES), line(points, x, y)),
            Self::Points { series, points } => (format!("dot s{}", series % SERIES), dots(points, x, y)),
            Self::Bars { series, edges, base, heights } => {
                let bars = edges.windows(2).zip(heights).filter(|(edge, height)| {
                    edge.iter().all(|value| x.shows(*value)) && y.shows(base + **height) && **height != 0.0
                });
                // A hair between bars tells them apart.
                let corners = bars.map(|(edge, height)| {
                    (
                        (x.place(edge[0]) + 0.5, y.place(*base)),
                        (x.place(edge[1]) - 0.5, y.place(base + height)),
                    )
                });
                let class =
                    series.map_or_else(|| "bar".into(), |series| format!("chain b{}", series % SERIES));
                (class, path::boxes(corners))
            }
            Self::Band { from, to } => {
                let (low, high) = x.limits;
                let inside = (x.place(from.max(low)), x.place(to.min(high)));
                let visible = from <= to && inside.0.is_finite() && inside.1 > inside.0;
                let corners = ((inside.0, y.places.0), (inside.1, y.places.1));
                ("band".into(), path::boxes(visible.then_some(corners).into_iter()))
            }
            Self::Level(level) => {
                let at = y.shows(*level).then(|| y.place(*level));
                let ends = [x.places.0, x.places.1].map(|end| at.map(|at| (end, at)));
                ("rule".into(), path::line(ends.into_iter()))
            }
            Self::Upright(value) => {
                let at = x.shows(*value).then(|| x.place(*value));
                let ends = [y.places.0, y.places.1].map(|end| at.map(|at| (at, end)));
                ("mark".into(), path::line(ends.into_iter()))
            }
        };
        if !path.is_empty() {
            let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }
}

/// About `wanted` labels along x, fewer when they would touch.
fn spaced_ticks(x: &Fitted, wanted: usize) -> Vec<(f64, String)> {
    let room = x.places.1 - x.places.0;
    let fits = |ticks: &Vec<(f64, String)>| {
        let widest = ticks.iter().map(|tick| tick.1.chars().count()).max().unwrap_or(0);
        (CHARACTER * widest as f64 + 8.0) * ticks.len() as f64 <= room
    };
    (1..=wanted).rev().map(|count| x.ticks(count)).find(fits).unwrap_or_else(|| x.ticks(1))
}

/// Path data of dots: strokes of no length, which round caps make round.
fn dots(points: &[(f64, f64)], x: &Fitted, y: &Fitted) -> String {
    let shown = points.iter().filter(|(px, py)| x.shows(*px) && y.shows(*py));
    shown.fold(String::new(), |mut out, &(px, py)| {
        let _ = write!(out, "M{:.1} {:.1}h0", x.place(px), y.place(py));
        out
    })
}

/// Path data of a line.
fn line(points: &[(f64, f64)], x: &Fitted, y: &Fitted) -> String {
    path::line(
        points.iter().map(|&(px, py)| (x.shows(px) && y.shows(py)).then(|| (x.place(px), y.place(py)))),
    )
}
