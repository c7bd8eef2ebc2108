//! The bound that meets a given error: looks and shape are fixed, G₀ is solved for.
//!
//! E(0) falls strictly as G₀ rises, from ½ at G₀ = 0 to 0, so that for every tolerance below ½ there is one
//! G₀ with E(0) = tolerance; likewise for any error that falls with G₀, such as the mean |Δ| over pairs
//! (nearly so). Found by bisection to 1e-9 in G₀. This is how group-sequential constants are computed: E(0)
//! is half the two-sided level. Accurate to that of the theory. Cost: about 40 sweeps.

use crate::error::{Result, setting};
use crate::rule::Looks;
use crate::rule::bound::{Base, Bound, Shape, Statistic, Time};
use crate::rule::{Law, SequentialSettings};
use crate::theory::{Accuracy, TestPlan, TestWalk};

/// The bound of the given shape whose worst-case error on these looks is `tolerance`.
pub fn bound_for_worst_case(
    looks: &Looks,
    rows: usize,
    (shape, time): (Shape, Time),
    tolerance: f64,
) -> Result<Bound> {
    if !(tolerance > 0.0 && tolerance < 0.5) {
        return Err(setting("worst-case error", tolerance, "a number between 0 and 0.5, both excluded"));
    }
    let settings = |critical: f64| SequentialSettings {
        looks: looks.clone(),
        bound: Bound { base: Base::Critical(critical), shape, time },
        statistic: Statistic::Normal,
        law: Law::Metropolis,
        missed: None,
        stop_at: None,
        guard: None,
        block_rows: 1,
    };
    let error = |critical: f64| -> Result<f64> {
        let plan = TestPlan::of_settings(&settings(critical), rows)?;
        Ok(TestWalk::new(plan, Accuracy::Fast).worst_case().error)
    };
    let (mut low, mut high) = (0.0, 1.0);
    while error(high)? > tolerance {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-9 * high + 1e-12 {
        let middle = 0.5 * (low + high);
        *(if error(middle)? > tolerance { &mut low } else { &mut high }) = middle;
    }
    Ok(settings(high).bound)
}
