//! Risk curves of several chains: mean squared error of their running means against a truth, split into bias² and variance.

use austerity::rule::{RuleSettings, SequentialSettings};

use crate::claim::Estimate;
use crate::risk::{Risk, risk};
use crate::trajectory::Trajectory;

/// One point of a risk curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// CPU seconds of a chain, averaged over the chains.
    pub seconds: f64,
    /// Likelihood evaluations of a chain, averaged.
    pub evaluations: f64,
    /// Steps of a chain, averaged.
    pub steps: f64,
    /// The risk there.
    pub risk: Risk,
}

/// The risk of the test functions `from .. from + truth.len()` at every checkpoint that all chains have reached, each squared error
/// divided by the square of its `scale` (1 leaves it as it is).
#[must_use]
pub fn risk_curve(chains: &[Trajectory], from: usize, truth: &[f64], scale: &[f64]) -> Vec<Point> {
    let reached = chains.iter().map(|chain| chain.checkpoints.len()).min().unwrap_or(0);
    let scaled = |values: &[f64]| -> Vec<f64> { values.iter().zip(scale).map(|(v, s)| v / s).collect() };
    let truth_scaled = scaled(truth);
    (0..reached)
        .map(|place| {
            let here: Vec<_> = chains.iter().map(|chain| &chain.checkpoints[place]).collect();
            let mean = |value: fn(&crate::trajectory::Checkpoint) -> f64| {
                here.iter().map(|point| value(point)).sum::<f64>() / here.len() as f64
            };
            let estimates: Vec<Vec<f64>> =
                here.iter().map(|point| scaled(&point.means[from..from + truth.len()])).collect();
            let estimates: Vec<&[f64]> = estimates.iter().map(Vec::as_slice).collect();
            Point {
                seconds: mean(|point| point.seconds),
                evaluations: mean(|point| point.evaluations as f64),
                steps: mean(|point| point.steps as f64),
                risk: risk(&estimates, &truth_scaled),
            }
        })
        .collect()
}

/// What a chain has spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// CPU seconds.
    Seconds,
    /// Likelihood evaluations.
    Evaluations,
}

impl Along {
    /// The value at a point.
    #[must_use]
    pub fn of(self, point: &Point) -> f64 {
        match self {
            Self::Seconds => point.seconds,
            Self::Evaluations => point.evaluations,
        }
    }

    /// What a page calls it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Seconds => "CPU time",
            Self::Evaluations => "evaluations",
        }
    }
}

/// What the textbook's exact loop, which evaluates both states on every row, takes over our exact rule. It makes the same decisions, so
/// its curve is ours with other clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Textbook {
    /// CPU time of a step over that of ours.
    pub slower: f64,
    /// Evaluations of a step.
    pub evaluations: f64,
}

impl Textbook {
    /// The curve of the textbook's loop.
    #[must_use]
    pub fn curve(&self, exact: &[Point]) -> Vec<Point> {
        let moved = |point: &Point| Point {
            seconds: point.seconds * self.slower,
            evaluations: point.steps * self.evaluations,
            ..*point
        };
        exact.iter().map(moved).collect()
    }
}

/// The rule of that loop: a test that looks at half of the rows and is never sure before it has read all, so that both states are evaluated on each. (A test at ε = 0 that may not stop for
/// another reason either becomes our exact rule, which keeps what it knows of the current state.)
#[must_use]
pub fn textbook_rule(rows: usize) -> RuleSettings {
    let test = SequentialSettings::constant(rows.div_ceil(2), 0.0);
    RuleSettings::Sequential(SequentialSettings { guard: None, stop_at: Some(f64::MIN_POSITIVE), ..test })
}

/// What tests are held against, and what both may spend.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// "CPU time, textbook exact".
    pub name: String,
    /// What is spent.
    pub along: Along,
    /// The curve of the exact rule.
    pub exact: Vec<Point>,
}

/// Our exact rule and the textbook's loop, along both axes; only ours where they are the same.
#[must_use]
pub fn comparisons(exact: &[Point], textbook: Option<Textbook>) -> Vec<Comparison> {
    let rules = [
        ("our exact rule", Some(exact.to_vec())),
        ("the textbook's loop", textbook.map(|rule| rule.curve(exact))),
    ];
    let rules: Vec<_> = rules.into_iter().filter_map(|(name, curve)| Some((name, curve?))).collect();
    [Along::Seconds, Along::Evaluations]
        .into_iter()
        .flat_map(|along| {
            rules.iter().map(move |(name, exact)| Comparison {
                name: format!("{}, against {name}", along.words()),
                along,
                exact: exact.clone(),
            })
        })
        .collect()
}

/// The point of a curve where it has spent `value`: logarithms between neighbours; none outside the curve.
#[must_use]
pub fn point_at(curve: &[Point], along: Along, value: f64) -> Option<Point> {
    let after = curve.iter().position(|point| along.of(point) >= value)?;
    let b = &curve[after];
    let Some(a) = after.checked_sub(1).map(|before| &curve[before]) else {
        return (along.of(b) <= value * (1.0 + 1e-9)).then_some(*b);
    };
    let (low, high) = (along.of(a).ln(), along.of(b).ln());
    let share = if high > low { (value.ln() - low) / (high - low) } else { 1.0 };
    let linear = |from: f64, to: f64| from + share * (to - from);
    let power = |from: f64, to: f64| linear(from.ln(), to.ln()).exp();
    Some(Point {
        seconds: power(a.seconds, b.seconds),
        evaluations: power(a.evaluations, b.evaluations),
        steps: power(a.steps, b.steps),
        risk: Risk {
            total: power(a.risk.total, b.risk.total),
            bias_squared: linear(a.risk.bias_squared, b.risk.bias_squared),
            variance: power(a.risk.variance, b.risk.variance),
            standard_error: power(a.risk.standard_error, b.risk.standard_error),
            ..b.risk
        },
    })
}

/// The largest value that all curves have reached.
#[must_use]
pub fn reached<'a>(curves: impl IntoIterator<Item = &'a [Point]>, along: Along) -> Option<f64> {
    let ends = curves.into_iter().map(|curve| curve.last().map(|point| along.of(point)));
    ends.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
}

/// Risk of `above` over risk of `below` where both have spent `value`.
#[must_use]
pub fn risk_ratio(
    label: &str,
    (above, below): (&[Point], &[Point]),
    (along, value): (Along, f64),
) -> Option<Estimate> {
    let (a, b) = (point_at(above, along, value)?.risk, point_at(below, along, value)?.risk);
    let relative = |risk: &Risk| risk.standard_error / risk.total;
    let freedom = a.freedom().min(b.freedom());
    Some(Estimate::ratio(label, a.total / b.total, (relative(&a).hypot(relative(&b)), freedom)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A curve whose risk is `level` over the time, of ten chains with an error of 2 %.
    pub(crate) fn falling(level: f64, bias: f64) -> Vec<Point> {
        (0..8).map(|i| 2f64.powi(i)).map(|time| planted(time, level / time, bias)).collect()
    }

    /// A point with bias² `bias`.
    pub(crate) fn planted(time: f64, variance: f64, bias: f64) -> Point {
        let total = variance + bias;
        let risk = Risk {
            total,
            bias_squared: bias,
            variance,
            standard_error: 0.02 * total,
            share_error: 0.05,
            chains: 10,
        };
        Point { seconds: time, evaluations: 1e6 * time, steps: 1e3 * time, risk }
    }

    /// Every decision of the textbook's loop evaluates two states on each row; our exact rule evaluates one.
    #[test]
    fn the_textbooks_loop_reads_all_rows_of_both_states() {
        use austerity::kernel::{Kernel as _, Metropolis};
        use austerity::population::BlockOrder;
        use austerity::proposal::RandomWalk;
        use austerity::rng::Streams;
        use austerity_glm::{Glm, Logistic, Prior, ResponseKind, generate};
        let data =
            generate::logistic(300, 2).seed(3).build().unwrap().data.check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); 3]).unwrap();
        let evaluations = |rule: RuleSettings| {
            let order = BlockOrder::new(300, austerity::BLOCK_ROWS, 1, 0).unwrap();
            let walk = RandomWalk::isotropic(3, 0.05).unwrap();
            let mut state = vec![0.0; 3];
            let mut kernel = Metropolis::new(&model, walk, rule.build(300).unwrap(), order, &state).unwrap();
            let mut streams = Streams::new(1, 0);
            let mut step = |step| {
                streams.begin(step);
                kernel.step(&mut state, &mut streams).unwrap().evaluations
            };
            (0..20).map(&mut step).sum::<u64>()
        };
        let (textbook, ours) = (evaluations(textbook_rule(300)), evaluations(RuleSettings::default()));
        assert_eq!(textbook, 20 * 600);
        assert!(ours < textbook, "{ours}");
    }

    #[test]
    fn curves_are_compared_where_both_have_spent_the_same() {
        let (slow, fast) = (falling(8.0, 0.0), falling(2.0, 0.0));
        let ratio = risk_ratio("", (&slow, &fast), (Along::Seconds, 48.0)).unwrap();
        assert!((ratio.value - 4.0).abs() < 1e-9 && (ratio.error - 0.02 * 2f64.sqrt()).abs() < 1e-9);
        assert!(risk_ratio("", (&slow, &fast), (Along::Seconds, 0.5)).is_none());
        assert!(risk_ratio("", (&slow, &fast), (Along::Seconds, 129.0)).is_none());
        let textbook = Textbook { slower: 2.0, evaluations: 4e3 }.curve(&fast);
        assert_eq!(reached([&slow[..], &textbook], Along::Seconds), Some(128.0));
        // Twice as slow: twice the risk at the same time; four times the evaluations of a step.
        let behind = risk_ratio("", (&textbook, &fast), (Along::Seconds, 64.0)).unwrap();
        let dear = risk_ratio("", (&textbook, &fast), (Along::Evaluations, 64e6)).unwrap();
        assert!((behind.value - 2.0).abs() < 1e-9 && (dear.value - 4.0).abs() < 1e-9);
        assert_eq!(comparisons(&fast, None).len(), 2);
        assert_eq!(comparisons(&fast, Some(Textbook { slower: 1.0, evaluations: 1.0 })).len(), 4);
    }
}
