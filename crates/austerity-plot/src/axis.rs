//! Axes: from values to places, and round numbers to label them with.

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart; values of 0 and below cannot be drawn.
    Logarithmic,
}

/// An axis as asked for.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// How values are spread.
    pub scale: Scale,
    /// Limits, when they should not come from the data.
    pub limits: Option<(f64, f64)>,
    /// Values to label and their labels, when they should not be round numbers.
    pub marks: Option<Vec<(f64, String)>>,
}

/// An axis fitted to its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fitted {
    pub(super) scale: Scale,
    pub(super) limits: (f64, f64),
    pub(super) places: (f64, f64),
}

/// Decades a logarithmic axis shows at the most: smaller values are as good as zero.
const DECADES: f64 = 6.0;
/// Larger values are not drawn: the span of an axis must stay finite.
const LARGEST_DRAWN: f64 = 1e300;

impl Axis {
    /// An axis whose limits come from the data.
    #[must_use]
    pub fn new(label: &str, scale: Scale) -> Self {
        Self { label: label.into(), scale, limits: None, marks: None }
    }

    /// The same axis between two values.
    #[must_use]
    pub fn with_limits(self, low: f64, high: f64) -> Self {
        Self { limits: Some((low, high)), ..self }
    }

    /// Labels these values and no others; none at all leaves the axis bare.
    #[must_use]
    pub fn with_marks(self, marks: Vec<(f64, String)>) -> Self {
        Self { marks: Some(marks), ..self }
    }

    pub(super) fn fit(&self, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Fitted {
        let usable = |v: &f64| v.abs() <= LARGEST_DRAWN && (self.scale == Scale::Linear || *v > 0.0);
        let (low, high) = values
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (mut low, mut high) = if low <= high { (low, high) } else { (0.1, 1.0) };
        if self.scale == Scale::Logarithmic {
            low = low.max(high * 10f64.powf(-DECADES));
        }
        // A span that rounding would eat shows one value in the middle.
        if high - low <= 1e-12 * low.abs().max(high.abs()) {
            let room = (0.01 * high.abs()).max(if high == 0.0 { 0.5 } else { 0.0 });
            (low, high) =
                if self.scale == Scale::Linear { (low - room, high + room) } else { (low / 2.0, high * 2.0) };
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

    /// Round values within the limits, about `wanted` of them, with their labels.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let ticks = match self.scale {
            Scale::Logarithmic => self.powers(wanted),
            Scale::Linear => Vec::new(),
        };
        // Less than a decade or two holds too few powers of ten: then multiples do on either scale.
        if ticks.len() < 2 { self.multiples(wanted) } else { ticks }
    }

    /// Powers of ten, with 2 and 5 between them where there is room.
    fn powers(&self, wanted: usize) -> Vec<(f64, String)> {
        let (low, high) = self.limits;
        let roomy = 3.0 * (high / low).log10() <= 1.6 * wanted as f64;
        let steps: &[f64] = if roomy { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let values = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        values.filter(|v| self.shows(*v)).map(|v| (v, short(v))).collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn multiples(&self, wanted: usize) -> Vec<(f64, String)> {
        let (low, high) = self.limits;
        let rough = (high - low) / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let round = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power);
        let off = |step: &f64| (step / rough).ln().abs();
        let step = round.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(rough);
        let first = (low / step - 1e-9).ceil();
        let values = (0..=2 * wanted).map(|i| (first + i as f64) * step);
        values.filter(|v| self.shows(*v)).map(|v| (v, stepped(v, step))).collect()
    }
}

/// A number as short as it can be said.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&value.abs()) {
        return minus(&format!("{value:.0e}"));
    }
    let text = format!("{value:.4}");
    minus(text.trim_end_matches('0').trim_end_matches('.'))
}

/// A multiple of `step` with the decimals that tell it from its neighbours.
fn stepped(value: f64, step: f64) -> String {
    if value.abs() < 0.5 * step {
        return "0".into();
    }
    // Digits between the first of the value and the last of the step.
    let digits = (value.abs().log10().floor() - step.log10().floor()).max(0.0) as usize;
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    if decimals > 4 || value.abs() >= 1e6 {
        return minus(&format!("{value:.digits$e}"));
    }
    minus(&format!("{value:.decimals$}"))
}

/// The minus sign of print.
fn minus(text: &str) -> String {
    text.replacen('-', "−", usize::from(text.starts_with('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let linear = Axis::new("", Scale::Linear).fit([0.03, 0.97].into_iter(), 0.0, 100.0);
        let labels: Vec<String> = linear.ticks(5).into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels, ["0.2", "0.4", "0.6", "0.8"]);
        let log = Axis::new("", Scale::Logarithmic).fit([1e-4, 1.0, 0.0].into_iter(), 0.0, 100.0);
        let labels: Vec<String> = log.ticks(5).into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels, ["1e-4", "0.001", "0.01", "0.1", "1"]);
        assert!((log.place(1e-2) - 50.0).abs() < 1e-9);
        assert!(!log.shows(0.0) && !linear.shows(f64::NAN));
    }

    #[test]
    fn an_axis_without_values_still_draws() {
        let none = Axis::new("", Scale::Linear).fit(std::iter::empty(), 0.0, 1.0);
        assert!(none.ticks(5).len() > 1);
        let one = Axis::new("", Scale::Linear).fit([2.0].into_iter(), 0.0, 1.0);
        assert!((one.place(2.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_logarithmic_axis_has_labels_at_any_width() {
        for (low, high) in [(0.001, 0.3), (0.11, 0.14), (1e-6, 1.0), (0.5, 2.0)] {
            let axis = Axis::new("", Scale::Logarithmic).fit([low, high].into_iter(), 0.0, 100.0);
            for wanted in 2..6 {
                let ticks = axis.ticks(wanted);
                assert!((2..=9).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            }
        }
    }

    #[test]
    fn extreme_spans_keep_their_labels_apart() {
        for (low, high) in [(1e8, 1e8 + 1.0), (-2e-9, 3e-9), (-1e300, 1e300), (1e17, 1e17), (-0.0, 0.0)] {
            let axis = Axis::new("", Scale::Linear).fit([low, high].into_iter(), 0.0, 100.0);
            let ticks = axis.ticks(4);
            assert!(!ticks.is_empty(), "{low} {high}");
            assert!(axis.place(low).is_finite());
            assert!(ticks.windows(2).all(|pair| pair[0].1 != pair[1].1), "{ticks:?}");
        }
        let narrow = Axis::new("", Scale::Linear).fit([-1.2347, -1.2341].into_iter(), 0.0, 100.0);
        assert_eq!(narrow.ticks(3)[0].1, "−1.2346");
    }
}
