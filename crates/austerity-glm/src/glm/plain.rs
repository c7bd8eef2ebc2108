//! One type for all families without a kernel: their rows are computed behind a table of functions.
//!
//! Everything that is generic over families (the loops over blocks, expansions, proposals, fits) is compiled once per kernel and once for [`Plain`]. A family
//! without a kernel adds what its rows need, and no loop: its derivatives, differences, residuals and bounds. The table costs a call of some nanoseconds per row, where
//! rows take fifty and more.
//!
//! What is a constant of a [`Family`] is asked of a `Plain` by methods. The constants themselves do not exist: code that names one of them for a `Plain` is not
//! compiled.

use std::fmt::Debug;

use super::derived::{Between, Derived, Observed, Ways};
use super::families::Facts;
use super::family::{Around, Curve, Extra, Family, THIRDS, Uses};
use super::number::Number;
use super::{Compiled, derived};
use crate::ResponseKind;
use austerity::rng::Rng;

/// A family without a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    law: &'static dyn Law,
    facts: &'static Facts,
}

/// What a family is, behind a table of functions.
trait Law: Debug + Send + Sync {
    fn words(&self) -> String;
    fn setting(&self) -> Option<f64>;
    fn extra(&self) -> &'static [Extra];
    fn uses(&self, response: f64) -> Uses;
    fn mean(&self, eta: f64, extra: &[f64], trials: f64) -> f64;
    fn survival(&self, time: f64, eta: f64, extra: &[f64]) -> Option<f64>;
    fn constant(&self, response: f64, trials: f64) -> f64;
    fn noise(&self, level: f64, extra: &[f64]) -> f64;
    fn quantile(&self, level_and_noise: (f64, f64), eta: f64, extra: &[f64], trials: f64) -> f64;
    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], trials: f64) -> f64;
    fn refuses(&self, response: f64, trials: f64) -> Option<&'static str>;
    fn largest_extra_third(&self) -> f64;
    fn finite_within(&self, extra: &[f64]) -> f32;
    fn unit(&self, extra: &[f64]) -> f64;
    fn log_likelihood(&self, extra: &[f64], eta: f64, row: Observed) -> f64;
    fn derivatives(&self, extra: &[f64], eta: f64, row: Observed) -> [f64; 3];
    fn curve(&self, extra: &[f64], eta: f64, row: Observed) -> Curve;
    fn third(&self, extra: &[f64], eta: f64, row: Observed) -> [f64; THIRDS];
    fn bounds(&self, around: &Around<'_>, place: (f64, f64), row: Observed, fourth: bool) -> [f64; 2];
    fn largest_third(&self, extra: &[f64], around: (f64, f64), row: Observed) -> f64;
    fn difference(&self, step: &Between, eta: f64, delta: f64, row: Observed) -> f64;
    fn residual(&self, ways: &Ways, moved: (f64, [f64; 2]), row: Observed, third: bool) -> f64;
}

impl<F: Family> Law for F {
    fn words(&self) -> String {
        Family::words(self)
    }

    fn setting(&self) -> Option<f64> {
        Family::setting(self)
    }

    fn extra(&self) -> &'static [Extra] {
        Family::extra(self)
    }

    fn uses(&self, response: f64) -> Uses {
        Family::uses(self, response)
    }

    fn mean(&self, eta: f64, extra: &[f64], trials: f64) -> f64 {
        Family::mean(self, eta, extra, trials)
    }

    fn survival(&self, time: f64, eta: f64, extra: &[f64]) -> Option<f64> {
        Family::survival(self, time, eta, extra)
    }

    fn constant(&self, response: f64, trials: f64) -> f64 {
        Family::constant(self, response, trials)
    }

    fn noise(&self, level: f64, extra: &[f64]) -> f64 {
        Family::noise(self, level, extra)
    }

    fn quantile(&self, level_and_noise: (f64, f64), eta: f64, extra: &[f64], trials: f64) -> f64 {
        Family::quantile(self, level_and_noise, eta, extra, trials)
    }

    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], trials: f64) -> f64 {
        Family::sample(self, rng, eta, extra, trials)
    }

    fn refuses(&self, response: f64, trials: f64) -> Option<&'static str> {
        Family::refuses(self, response, trials)
    }

    fn largest_extra_third(&self) -> f64 {
        Family::largest_extra_third(self)
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        Family::finite_within(self, extra)
    }

    fn unit(&self, extra: &[f64]) -> f64 {
        Family::unit(self, extra)
    }

    fn log_likelihood(&self, extra: &[f64], eta: f64, Observed { response, trials }: Observed) -> f64 {
        Family::log_likelihood(self, extra, eta, response, trials)
    }

    fn derivatives(&self, extra: &[f64], eta: f64, Observed { response, trials }: Observed) -> [f64; 3] {
        self.row_derivatives(extra, eta, response, trials)
    }

    fn curve(&self, extra: &[f64], eta: f64, Observed { response, trials }: Observed) -> Curve {
        self.row_curve(extra, eta, response, trials)
    }

    fn third(&self, extra: &[f64], eta: f64, Observed { response, trials }: Observed) -> [f64; THIRDS] {
        self.row_third(extra, eta, response, trials)
    }

    fn bounds(&self, around: &Around<'_>, place: (f64, f64), row: Observed, fourth: bool) -> [f64; 2] {
        self.row_bounds(around, place, row.response, row.trials, fourth)
    }

    fn largest_third(&self, extra: &[f64], around: (f64, f64), row: Observed) -> f64 {
        self.row_largest_third(extra, around, row.response, row.trials)
    }

    fn difference(&self, step: &Between, eta: f64, delta: f64, row: Observed) -> f64 {
        derived::difference(self, step, eta, delta, row)
    }

    fn residual(&self, ways: &Ways, moved: (f64, [f64; 2]), row: Observed, third: bool) -> f64 {
        derived::residual(self, ways, moved, row, third)
    }
}

impl Plain {
    /// This family. One with a number after its name is kept somewhere for every number.
    pub(super) const fn of<F: Family>(family: &'static F) -> Self {
        Self { law: family, facts: const { &Facts::of::<F>() } }
    }
}

impl Family for Plain {
    const USUAL: Self = panic!("there is no usual one");
    const NAME: &'static str = panic!("ask by name()");
    const WORDS: &'static str = panic!("ask by words()");
    const EFFECT: &'static str = panic!("ask the facts");
    const ABOUT: &'static str = panic!("ask the facts");
    const KIND: ResponseKind = panic!("ask by kind()");
    const EXTRA: &'static [Extra] = panic!("ask by extra()");
    const TRIALS: bool = true;
    const MEAN_BY_EXTRA: bool = panic!("ask the facts");
    const LOCATION: bool = panic!("ask by is_location()");
    type Kernel = Derived;

    fn compiled() -> &'static Compiled<Self> {
        static COMPILED: Compiled<Plain> = Compiled::of();
        &COMPILED
    }

    fn name(&self) -> &'static str {
        self.facts.name
    }

    fn kind(&self) -> ResponseKind {
        self.facts.kind
    }

    fn extra(&self) -> &'static [Extra] {
        self.law.extra()
    }

    fn is_location(&self) -> bool {
        self.facts.location
    }

    fn is_rising(&self) -> bool {
        self.facts.rising
    }

    fn uses(&self, response: f64) -> Uses {
        self.law.uses(response)
    }

    fn words(&self) -> String {
        self.law.words()
    }

    fn setting(&self) -> Option<f64> {
        self.law.setting()
    }

    fn log_density<T: Number>(&self, _eta: T, _extra: &[T], _response: f64, _trials: f64) -> T {
        const { panic!("ask by log_likelihood()") }
    }

    fn mean(&self, eta: f64, extra: &[f64], trials: f64) -> f64 {
        self.law.mean(eta, extra, trials)
    }

    fn survival(&self, time: f64, eta: f64, extra: &[f64]) -> Option<f64> {
        self.law.survival(time, eta, extra)
    }

    fn constant(&self, response: f64, trials: f64) -> f64 {
        self.law.constant(response, trials)
    }

    fn noise(&self, level: f64, extra: &[f64]) -> f64 {
        self.law.noise(level, extra)
    }

    fn quantile(&self, level_and_noise: (f64, f64), eta: f64, extra: &[f64], trials: f64) -> f64 {
        self.law.quantile(level_and_noise, eta, extra, trials)
    }

    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], trials: f64) -> f64 {
        self.law.sample(rng, eta, extra, trials)
    }

    fn refuses(&self, response: f64, trials: f64) -> Option<&'static str> {
        self.law.refuses(response, trials)
    }

    fn largest_extra_third(&self) -> f64 {
        self.law.largest_extra_third()
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        self.law.finite_within(extra)
    }

    fn unit(&self, extra: &[f64]) -> f64 {
        self.law.unit(extra)
    }

    fn log_likelihood(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> f64 {
        self.law.log_likelihood(extra, eta, Observed { response, trials })
    }

    fn row_derivatives(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> [f64; 3] {
        self.law.derivatives(extra, eta, Observed { response, trials })
    }

    fn row_curve(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> Curve {
        self.law.curve(extra, eta, Observed { response, trials })
    }

    fn row_third(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> [f64; THIRDS] {
        self.law.third(extra, eta, Observed { response, trials })
    }

    fn row_bounds(
        &self,
        around: &Around<'_>,
        place: (f64, f64),
        response: f64,
        trials: f64,
        fourth: bool,
    ) -> [f64; 2] {
        self.law.bounds(around, place, Observed { response, trials }, fourth)
    }

    fn row_difference(&self, step: &Between, eta: f64, delta: f64, response: f64, trials: f64) -> f64 {
        self.law.difference(step, eta, delta, Observed { response, trials })
    }

    fn row_residual(
        &self,
        ways: &Ways,
        moved: (f64, [f64; 2]),
        (response, trials): (f64, f64),
        third: bool,
    ) -> f64 {
        self.law.residual(ways, moved, Observed { response, trials }, third)
    }

    fn row_largest_third(&self, extra: &[f64], around: (f64, f64), response: f64, trials: f64) -> f64 {
        self.law.largest_third(extra, around, Observed { response, trials })
    }
}
