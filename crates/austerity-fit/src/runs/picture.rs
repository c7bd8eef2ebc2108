//! Pictures of estimates: intervals below each other, and curves with their intervals.

use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};

/// Estimates that a picture shows.
const MOST: usize = 24;

/// One estimate with its name.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) centre: f64,
    pub(super) ends: (f64, f64),
}

/// Intervals below each other, the first on top, with an upright line at `reference`.
pub(super) fn forest(title: &str, label: &str, bars: &[Bar], reference: Option<f64>) -> Figure {
    let shown = &bars[..bars.len().min(MOST)];
    let x = Axis::new(label, Scale::Linear);
    let y = Axis::new("", Scale::Linear).with_limits(-(shown.len() as f64), 0.4).with_marks(Vec::new());
    let mut panel = Panel::new("", x, y);
    if let Some(reference) = reference {
        panel = panel.mark(Mark::Upright(reference));
    }
    for (place, bar) in shown.iter().enumerate() {
        let height = -(place as f64) - 0.5;
        let ends = vec![(bar.ends.0, height), (bar.ends.1, height)];
        panel = panel
            .mark(Mark::Line { series: 0, points: ends })
            .mark(Mark::Points { series: 0, points: vec![(bar.centre, height)] })
            .mark(Mark::Label { at: (bar.ends.0, height + 0.2), text: bar.name.clone() });
    }
    Figure { title: title.into(), panels: vec![panel] }
}

/// A curve with the ends of its intervals.
#[derive(Clone, Debug)]
pub(super) struct Banded {
    pub(super) name: String,
    /// x, centre, lower and upper end.
    pub(super) points: Vec<[f64; 4]>,
}

/// Curves over x; the ends of their intervals are thin lines.
pub(super) fn curves(title: &str, (x, y): (&str, &str), all: &[Banded]) -> Figure {
    let mut panel = Panel::new("", Axis::new(x, Scale::Linear), Axis::new(y, Scale::Linear));
    let line = |banded: &Banded, which: usize| -> Vec<(f64, f64)> {
        banded.points.iter().map(|point| (point[0], point[which])).collect()
    };
    panel = panel.curves(
        all.iter().map(|banded| Curve { label: banded.name.clone(), points: line(banded, 1) }).collect(),
    );
    for (series, banded) in all.iter().enumerate() {
        for which in [2, 3] {
            panel = panel.mark(Mark::Line { series, points: line(banded, which) });
        }
    }
    Figure { title: title.into(), panels: vec![panel] }
}
