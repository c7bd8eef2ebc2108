//! What a likelihood is: one file and one row of the list in [`families`](super::families).
//!
//! A [`Family`] says its log density once, in any [`Number`], and what words, responses and parameters belong to it. Everything else is derived ([`super::derived`]):
//!
//! | derived | from |
//! |---|---|
//! | derivatives, Hessian, third-order tensor | jets |
//! | differences and residuals | jets integrated along the way, plain f64 where moves are large |
//! | bounds of third and fourth derivatives over a box | jets of intervals |
//! | sampler | the quantiles |
//!
//! A [`Kernel`] computes the same for 32 rows at once in f32. It is an accelerator: families without one name [`Derived`](super::derived::Derived), which goes row by row
//! in f64. A property test holds every kernel to the scalar definition (`tests/definition.rs`).

use std::fmt::Debug;

use fearless_simd::{Simd, prelude::*};
use rand::RngExt as _;
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::number::Number;
use super::{Compiled, Derivatives, Displaced, Pair, Rows, derived};
use crate::simd::Lanes;
use crate::{NoiseTails, Prior, ResponseKind};
use austerity::error::Result;
use austerity::rng::Rng;

/// Most parameters that follow the coefficients.
pub const MOST_EXTRA: usize = 10;
/// η and the extra parameters.
pub const VARIABLES: usize = 1 + MOST_EXTRA;
/// Most of the extra parameters that one row depends on.
pub const MOST_USED: usize = 3;
/// Different entries of a third-order tensor in η and those.
pub const THIRDS: usize = 20;

/// The extra parameters that a row depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// Their places; beyond the last parameter where there is none, and all derivatives are 0.
    pub places: [usize; MOST_USED],
    /// How many the family's rows depend on.
    pub count: usize,
}

impl Uses {
    /// The first of them, in their order.
    #[must_use]
    #[inline(always)]
    pub const fn first(count: usize) -> Self {
        Self { places: [0, 1, 2], count }
    }
}

/// A parameter that follows the coefficients. It is positive, and a state holds its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extra {
    /// Name, as in draws.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Its value in generated data.
    pub typical: f64,
    /// Its prior unless another is named; `None`: half-student:3,u with u the unit of the response, as of a scale.
    pub prior: Option<Prior>,
}

impl Extra {
    /// The scale of the noise.
    pub const SIGMA: Self = Self { name: "sigma", about: "scale of the noise", typical: 1.0, prior: None };
}

/// A number that comes with the name of a family and is not sampled, as in `student:7`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// What it is, in a few words.
    pub about: &'static str,
    /// Its symbol, as in the help of options.
    pub symbol: &'static str,
}

/// First and second derivatives of a row in η (place 0) and the logarithms of the extra parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Curve {
    /// First derivatives.
    pub slope: [f64; VARIABLES],
    /// Second derivatives.
    pub second: [[f64; VARIABLES]; VARIABLES],
}

/// Where derivatives of rows are bounded: the extra parameters at the centre, how far each may be from there (in its logarithm), and the units that they are measured in, so
/// that the bound is one of the tensor in (η, units·log of the extra parameters).
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// Logarithms at the centre.
    pub extra: &'a [f64],
    /// How far each may be away.
    pub reach: &'a [f64],
    /// Units.
    pub units: &'a [f64],
}

impl Around<'_> {
    /// Of a family without extra parameters.
    pub const NOTHING: Self = Self { extra: &[], reach: &[], units: &[] };
}

/// The likelihood of a response given its linear predictor.
///
/// `response` is always the stored one (see [`ResponseKind::stored`]): −1 and 1 where it is binary. `extra` holds logarithms. Log densities are up to a constant that does
/// not depend on the parameters.
pub trait Family: Copy + Debug + Send + Sync + 'static {
    /// The family with its usual setting.
    const USUAL: Self;
    /// Name, as in messages and options.
    const NAME: &'static str;
    /// The option that chooses it; families of binary responses and of trials share one.
    const CHOICE: &'static str = Self::NAME;
    /// In words, as in reports.
    const WORDS: &'static str;
    /// What a coefficient changes, as on the axis of a plot.
    const EFFECT: &'static str;
    /// One line of documentation.
    const ABOUT: &'static str;
    /// Which responses it explains.
    const KIND: ResponseKind;
    /// The parameters that follow the coefficients.
    const EXTRA: &'static [Extra] = &[];
    /// How many of them one row depends on.
    const USED: usize = Self::EXTRA.len();
    /// Whether each of them is larger than the one before.
    const RISING: bool = false;
    /// The number that may follow its name, where there is one; then [`Family::setting`] and [`Family::with_setting`] are given too.
    const SETTING: Option<Setting> = None;
    /// Whether loops look for trials, or events, beside the response.
    const TRIALS: bool = matches!(Self::KIND, ResponseKind::CountOfTrials | ResponseKind::Time);
    /// Whether only response − η matters, so that y − offset is stored centred in place of both.
    const LOCATION: bool = Self::KIND.is_centred();
    /// What default priors assume of the noise of real responses.
    const TAILS: NoiseTails = NoiseTails::Normal;
    /// Whether the mean depends on the extra parameters, too.
    const MEAN_BY_EXTRA: bool = false;
    /// Whether the log density is concave in all parameters for every data set: one mode under log-concave priors.
    const LOG_CONCAVE: bool = false;

    /// The accelerator, or [`Derived`](super::derived::Derived).
    type Kernel: Kernel<Self>;

    /// The hot loops. Families with a kernel keep theirs in a `static` beside them (`compiled!(Name);`), so that they exist once; those without share
    /// the loops of [`Plain`](super::plain::Plain).
    fn compiled() -> &'static Compiled<Self> {
        const { &Compiled::of() }
    }

    /// Name, as in messages and options. What follows is asked for by methods wherever work is generic, so that one
    /// [`Plain`](super::plain::Plain) type can stand for all families without a kernel.
    #[inline(always)]
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// Which responses it explains.
    #[inline(always)]
    fn kind(&self) -> ResponseKind {
        Self::KIND
    }

    /// The parameters that follow the coefficients.
    #[inline(always)]
    fn extra(&self) -> &'static [Extra] {
        Self::EXTRA
    }

    /// Whether only response − η matters.
    #[inline(always)]
    fn is_location(&self) -> bool {
        Self::LOCATION
    }

    /// Whether each extra parameter is larger than the one before.
    #[inline(always)]
    fn is_rising(&self) -> bool {
        Self::RISING
    }

    /// Which extra parameters a row of this response depends on, in the order that [`Family::log_density`] takes them.
    #[inline(always)]
    fn uses(&self, _response: f64) -> Uses {
        Uses::first(Self::USED)
    }

    /// In words, with its setting.
    fn words(&self) -> String {
        Self::WORDS.into()
    }

    /// The number that may follow its name.
    fn setting(&self) -> Option<f64> {
        None
    }

    /// The same family with another number, which [`Family::check`] may refuse.
    #[must_use]
    fn with_setting(self, _number: f64) -> Self {
        self
    }

    /// The log density of one row, which depends on these [extra parameters](Family::uses).
    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, trials: f64) -> T;

    /// The expected response, given a linear predictor.
    fn mean(&self, eta: f64, extra: &[f64], trials: f64) -> f64;

    /// The chance that a response lies beyond `time`; `None` of families that do not explain times.
    fn survival(&self, _time: f64, _eta: f64, _extra: &[f64]) -> Option<f64> {
        None
    }

    /// What log densities of y leave out: the part that no parameter moves. `response` is as the user has it.
    fn constant(&self, response: f64, trials: f64) -> f64;

    /// The standard noise at a probability level, computed once per draw: what [`Family::quantile`] needs. Normal unless told otherwise.
    fn noise(&self, level: f64, _extra: &[f64]) -> f64 {
        Normal::standard().inverse_cdf(level)
    }

    /// The quantile of a new response, as the user has it, at a probability level whose [`Family::noise`] is given.
    fn quantile(&self, level_and_noise: (f64, f64), eta: f64, extra: &[f64], trials: f64) -> f64;

    /// A new response, as the user has it.
    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], trials: f64) -> f64 {
        // Neither 0 nor 1.
        let level = (rng.random::<f64>() + f64::EPSILON / 2.0).min(1.0 - f64::EPSILON / 2.0);
        self.quantile((level, self.noise(level, extra)), eta, extra, trials)
    }

    /// Refuses parameters of the family outside their range.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// A bound of the absolute third derivative of a row in the extra parameter, whatever η and response are.
    fn largest_extra_third(&self) -> f64 {
        0.0
    }

    /// What responses are allowed, in words, when this one is not.
    fn refuses(&self, response: f64, trials: f64) -> Option<&'static str> {
        let whole = response >= 0.0 && response.is_finite() && response.fract() == 0.0;
        let (fine, allowed) = match self.kind() {
            ResponseKind::Binary => (response == 0.0 || response == 1.0, "0 or 1"),
            ResponseKind::Ordered => {
                (whole && response <= self.extra().len() as f64 + 1.0, "a level: 0, 1, … below their number")
            }
            ResponseKind::Count => (whole, "whole numbers from 0"),
            ResponseKind::Real => (response.is_finite(), "finite numbers"),
            ResponseKind::Positive | ResponseKind::Time => {
                (response > 0.0 && response.is_finite(), "positive and finite")
            }
            ResponseKind::Share => (response > 0.0 && response < 1.0, "between 0 and 1, neither included"),
            ResponseKind::CountOfTrials => (
                response >= 0.0 && response <= trials && trials.is_finite(),
                "between 0 and the number of trials",
            ),
        };
        (!fine).then_some(allowed)
    }

    /// Every |η| up to this gives every allowed response a finite log-likelihood.
    fn finite_within(&self, _extra: &[f64]) -> f32 {
        super::families::logistic::ETA
    }

    /// The distance in η over which the log density changes its shape: 1, or the scale of the noise.
    fn unit(&self, _extra: &[f64]) -> f64 {
        1.0
    }

    /// Log-likelihood of one row.
    fn log_likelihood(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> f64 {
        derived::density(self, extra, eta, derived::Observed { response, trials })
    }

    /// First, second and third derivative in η of the log-likelihood of one row.
    fn row_derivatives(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> [f64; 3] {
        derived::row_derivatives(self, extra, eta, response, trials)
    }

    /// First and second derivatives of one row in η and the extra parameters.
    fn row_curve(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> Curve {
        if self.extra().is_empty() {
            let [first, second, _] = self.row_derivatives(extra, eta, response, trials);
            let mut curve = Curve::default();
            (curve.slope[0], curve.second[0][0]) = (first, second);
            return curve;
        }
        derived::row_curve(self, extra, eta, response, trials)
    }

    /// Third derivatives of one row in η and the extra parameters that it [uses](Family::uses), in the order of [`Jet::POWERS`](super::number::Jet::POWERS).
    fn row_third(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> [f64; THIRDS] {
        derived::row_third(self, extra, eta, response, trials)
    }

    /// log p(y|η + δ) − log p(y|η) of one row between two states.
    fn row_difference(
        &self,
        step: &derived::Between,
        eta: f64,
        delta: f64,
        response: f64,
        trials: f64,
    ) -> f64 {
        derived::difference(self, step, eta, delta, derived::Observed { response, trials })
    }

    /// What an expansion leaves of one row's move from η̂ + h to η̂ + h'.
    fn row_residual(
        &self,
        ways: &derived::Ways,
        moved: (f64, [f64; 2]),
        (response, trials): (f64, f64),
        third: bool,
    ) -> f64 {
        derived::residual(self, ways, moved, derived::Observed { response, trials }, third)
    }

    /// A bound of the absolute third derivative of one row in η, the extra parameters fixed, within a reach of η.
    fn row_largest_third(&self, extra: &[f64], around: (f64, f64), response: f64, trials: f64) -> f64 {
        derived::third_in_eta(self, extra, around, response, trials)
    }

    /// Bounds of the norms of the third and the fourth derivative of one row, as tensors in η and the extra parameters, within `reach` of η and as far as `around` says:
    /// |D³ℓ[v, v, v]| ≤ bound·|v|³ for v in those units. The fourth may be ∞ unless it is asked for.
    fn row_bounds(
        &self,
        around: &Around<'_>,
        (eta, reach): (f64, f64),
        response: f64,
        trials: f64,
        fourth: bool,
    ) -> [f64; 2] {
        derived::row_bounds(self, around, (eta, reach), response, trials, fourth)
    }
}

/// Derivatives, differences and residuals of 32 rows, or of one where f32 does not hold them.
pub trait Kernel<F: Family>: 'static {
    /// Whether 32 rows at once take about as long as one, so that rows of one block share an evaluation.
    const WHOLE_BLOCKS: bool = true;

    /// What a pair of extra parameters comes to, computed once per move.
    type Step: Copy + Debug + Send + Sync;

    /// What residuals need of the extra parameters at the centre and at two states, computed once per move.
    type Expanded: Copy + Debug + Send + Sync;

    /// The step between extra parameters.
    fn step(family: &F, from: &[f64], to: &[f64]) -> Self::Step;

    /// log p(y|η + δ) − log p(y|η) of 32 rows; `None` where f32 does not hold it.
    fn differences<S: Simd>(simd: S, step: &Self::Step, rows: &Rows<S>, delta: Pair<S>) -> Option<Pair<S>>;

    /// [`Kernel::differences`] of two blocks, to the same bits.
    #[inline(always)]
    fn differences_of_two<S: Simd>(
        simd: S,
        step: &Self::Step,
        rows: [&Rows<S>; 2],
        delta: [Pair<S>; 2],
    ) -> [Option<Pair<S>>; 2] {
        [Self::differences(simd, step, rows[0], delta[0]), Self::differences(simd, step, rows[1], delta[1])]
    }

    /// The same of one row in f64, accurate for every η and δ.
    fn difference(step: &Self::Step, eta: f64, delta: f64, response: f64, trials: f64) -> f64;

    /// Derivatives of the log-likelihood of 32 rows.
    fn derivatives<S: Simd>(family: &F, simd: S, extra: &[f64], rows: &Rows<S>) -> Derivatives<S>;

    /// The largest |third derivative in η| of 32 rows within `reach` of their η.
    fn largest_third<S: Simd>(family: &F, simd: S, extra: &[f64], rows: &Rows<S>, reach: Pair<S>) -> Pair<S>;

    /// The third derivative in η of 32 rows.
    #[inline(always)]
    fn third<S: Simd>(family: &F, simd: S, extra: &[f64], rows: &Rows<S>) -> Pair<S> {
        let third = |eta, response, trials| family.row_derivatives(extra, eta, response, trials)[2];
        derived::each_row(simd, rows, third)
    }

    /// What residuals need of the extra parameters at the centre, the current state and the candidate.
    fn expanded(family: &F, centre: &[f64], from: &[f64], to: &[f64]) -> Self::Expanded;

    /// What an expansion of the second (or the `third`) order at η̂ = `rows.eta` leaves of the move from η̂ + `from` to η̂ + `to`, of 32 rows; `None` where
    /// f32 does not hold it. See [`remainder`](super::remainder).
    fn residuals<S: Simd>(
        simd: S,
        expanded: &Self::Expanded,
        rows: &Rows<S>,
        moved: Displaced<S>,
        third: bool,
    ) -> Option<Pair<S>>;

    /// The same of one row in f64, accurate for every move: `moved` is `[from, to]`.
    fn residual(
        expanded: &Self::Expanded,
        eta: f64,
        moved: [f64; 2],
        response: f64,
        trials: f64,
        third: bool,
    ) -> f64;
}

/// The step of a family's kernel.
pub type Step<F> = <<F as Family>::Kernel as Kernel<F>>::Step;
/// What a family's kernel keeps for residuals.
pub type Expanded<F> = <<F as Family>::Kernel as Kernel<F>>::Expanded;

/// Derivatives of 32 rows in the extra parameters; places beyond their number mean nothing.
#[derive(Clone, Copy, Debug)]
pub struct ExtraDerivatives<S: Simd> {
    /// First.
    pub slope: [Pair<S>; MOST_EXTRA],
    /// In η and each of them.
    pub cross: [Pair<S>; MOST_EXTRA],
    /// In two of them.
    pub curve: [[Pair<S>; MOST_EXTRA]; MOST_EXTRA],
}

impl<S: Simd> ExtraDerivatives<S> {
    /// Of a family with one extra parameter.
    #[must_use]
    #[inline(always)]
    pub fn one(slope: Pair<S>, cross: Pair<S>, curve: Pair<S>) -> Self {
        Self {
            slope: [slope; MOST_EXTRA],
            cross: [cross; MOST_EXTRA],
            curve: [[curve; MOST_EXTRA]; MOST_EXTRA],
        }
    }

    /// All 0.
    #[must_use]
    #[inline(always)]
    pub fn zero(simd: S) -> Self {
        let zero = [Lanes::splat(simd, 0.0); 2];
        Self::one(zero, zero, zero)
    }
}

/// The method [`Family::compiled`] of the family that is named.
macro_rules! compiled {
    ($family:ty) => {
        fn compiled() -> &'static $crate::glm::Compiled<Self> {
            static COMPILED: $crate::glm::Compiled<$family> = $crate::glm::Compiled::of();
            &COMPILED
        }

        // As the defaults of the trait are, but of this type: compiled here alone, and not in every crate that is generic over families.
        fn row_third(
            &self,
            extra: &[f64],
            eta: f64,
            response: f64,
            trials: f64,
        ) -> [f64; $crate::glm::family::THIRDS] {
            $crate::glm::derived::row_third(self, extra, eta, response, trials)
        }

        fn row_difference(
            &self,
            step: &$crate::glm::derived::Between,
            eta: f64,
            delta: f64,
            response: f64,
            trials: f64,
        ) -> f64 {
            let row = $crate::glm::derived::Observed { response, trials };
            $crate::glm::derived::difference(self, step, eta, delta, row)
        }

        fn row_residual(
            &self,
            ways: &$crate::glm::derived::Ways,
            moved: (f64, [f64; 2]),
            (response, trials): (f64, f64),
            third: bool,
        ) -> f64 {
            let row = $crate::glm::derived::Observed { response, trials };
            $crate::glm::derived::residual(self, ways, moved, row, third)
        }

        fn row_largest_third(&self, extra: &[f64], around: (f64, f64), response: f64, trials: f64) -> f64 {
            $crate::glm::derived::third_in_eta(self, extra, around, response, trials)
        }
    };
}
pub(super) use compiled;
