//! Axes: from values to places, and round numbers to label them with.

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Logarithmic,
}

/// An axis as asked for.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    /// Limits, when they should not come from the data.
    pub(crate) limits: Option<(f64, f64)>,
}

/// An axis fitted to its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fitted {
    scale: Scale,
    limits: (f64, f64),
    places: (f64, f64),
}

/// Decades a logarithmic axis shows at the most: smaller values are as good as zero.
const DECADES: f64 = 6.0;

impl Axis {
    pub(crate) fn new(label: &str, scale: Scale) -> Self {
        Self { label: label.into(), scale, limits: None }
    }

    pub(crate) fn with_limits(self, low: f64, high: f64) -> Self {
        Self { limits: Some((low, high)), ..self }
    }

    pub(super) fn fit(&self, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Fitted {
        let usable = |v: &f64| v.is_finite() && (self.scale == Scale::Linear || *v > 0.0);
        let (low, high) = values
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (mut low, mut high) = if low <= high { (low, high) } else { (0.1, 1.0) };
        if self.scale == Scale::Logarithmic {
            low = low.max(high * 10f64.powf(-DECADES));
        }
        if low == high {
            (low, high) =
                if self.scale == Scale::Linear { (low - 0.5, high + 0.5) } else { (low / 2.0, high * 2.0) };
        }
        Fitted { scale: self.scale, limits: self.limits.unwrap_or((low, high)), places: (from, to) }
    }
}

impl Fitted {
    fn share(&self, value: f64) -> f64 {
        let (low, high) = self.limits;
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Logarithmic => (value / low).ln() / (high / low).ln(),
        }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        self.places.0 + self.share(value) * (self.places.1 - self.places.0)
    }

    /// Whether a value can be drawn.
    pub(super) fn shows(&self, value: f64) -> bool {
        let share = self.share(value);
        share.is_finite() && (-1e-9..=1.0 + 1e-9).contains(&share)
    }

    /// Round values within the limits, with their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let (low, high) = self.limits;
        let values: Vec<f64> = match self.scale {
            Scale::Logarithmic => {
                let decades = (high / low).log10();
                let steps: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let first = low.log10().floor() as i32;
                (first..=high.log10().ceil() as i32)
                    .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
                    .collect()
            }
            Scale::Linear => {
                let rough = (high - low) / 5.0;
                let power = 10f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0]
                    .into_iter()
                    .map(|s| s * power)
                    .find(|s| *s >= rough)
                    .unwrap_or(rough);
                let first = (low / step).ceil() as i64;
                (0..12).map(|i| (first + i) as f64 * step).collect()
            }
        };
        values.into_iter().filter(|v| self.shows(*v)).map(|v| (v, label(v))).collect()
    }
}

/// A number as short as it can be said.
fn label(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let linear = Axis::new("", Scale::Linear).fit([0.03, 0.97].into_iter(), 0.0, 100.0);
        let labels: Vec<String> = linear.ticks().into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels, ["0.2", "0.4", "0.6", "0.8"]);
        let log = Axis::new("", Scale::Logarithmic).fit([1e-4, 1.0, 0.0].into_iter(), 0.0, 100.0);
        let labels: Vec<String> = log.ticks().into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels, ["1e-4", "0.001", "0.01", "0.1", "1"]);
        assert!((log.place(1e-2) - 50.0).abs() < 1e-9);
        assert!(!log.shows(0.0) && !linear.shows(f64::NAN));
    }

    #[test]
    fn an_axis_without_values_still_draws() {
        let none = Axis::new("", Scale::Linear).fit(std::iter::empty(), 0.0, 1.0);
        assert!(none.ticks().len() > 1);
        let one = Axis::new("", Scale::Linear).fit([2.0].into_iter(), 0.0, 1.0);
        assert!((one.place(2.0) - 0.5).abs() < 1e-12);
    }
}
