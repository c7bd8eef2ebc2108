//! A surrogate of a generalised linear model: exact prior, exact stratum, Taylor expansion of the rest to the first, second or third order.
//!
//! | file | what it holds |
//! |---|---|
//! | `centre` | where to expand, with two passes over the data |
//! | [`scores`] | what each row can leave of the expansion |
//! | [`certain`] | the certainty stratum: rows that are always read |
//! | [`population`] | the residuals of a move |
//! | [`gradient`] | the gradient of a batch of residuals: control-variate Langevin steps |
//! | `cubic` | the term of the third order |
//! | [`bound`] | how far an expansion can be off for certain, on demand |
//! | `limit` | how large all residuals of a move can be, at once |
//! | `span` | how extra parameters move rows |
//! | `spread` | the posterior sd of a linear predictor |
//! | `tensor` | sums of second and third order, which the bounds are made of |
//! | [`row_sample`] | a weighted sample of the rows, for proposals where no expansion holds |
//! | [`sweep`] | what one reading of some rows answers: of a part of the data, here or elsewhere |
//! | [`width`] | whether there are too many coefficients for all this, before it is done |
//! | `build` | the steps from a model to its expansion |
//!
//! ```text
//! log p(data|θ) − log p(data|θ̂) = Σ_stratum [ℓ_i(θ) − ℓ_i(θ̂)] + g·h + ½ h'Hh + Σ_rest R_i(h),   h = θ − θ̂
//! ```
//!
//! g and H are sums over the rest in f64, so an R_i is all a decision has to sample: of the order of h³, with h of the order of N^{−1/2}, their
//! total moves a decision by N^{−1/2} and its sampling error after n rows is C/√(Nn) (the bench `flat-in-n` measures C). Rows whose R_i may be
//! large whatever N (rare features, leverage) form the stratum, chosen by a score of *every* row ([`scores`], [`crate::check::blindness`]): sampled instead,
//! they would be missed by most batches, which could not know it. Where too many rows are heavy for a stratum, they are stored several times with
//! a share of their weight each ([`crate::check::replication`]).
//!
//! Cost: two to four passes to build, η̂ of every row (4 bytes) beside the data, and where columns are zero outside the stratum a copy of the rest
//! without them. A decision reads its sample; an evaluation of the surrogate K rows and d² numbers, of the third order d³/6 more. Not for posteriors
//! with several modes.

pub mod bound;
mod build;
pub(in crate::glm) mod centre;
pub mod certain;
mod cubic;
pub mod gradient;
mod limit;
pub mod population;
pub mod row_sample;
pub mod scores;
pub(in crate::glm) mod span;
pub mod spread;
pub mod sweep;
mod tensor;
pub mod width;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::blocks::{Blocks, Line};
use super::totals::Totals;
use super::{Coding, Family, Glm, Kernel as _};
use crate::PowerTail;
use crate::check::blindness::Stratum;
use crate::simd::eight::{LANES, add_matrix_product, filled};
use crate::simd::{Level, dispatched};
use crate::surrogate::{CertainSteps, Expansion, posterior_differences};
use austerity::dot::dot;
use austerity::error::Result;
use austerity::model::check_length;
use austerity::model::{Model as _, Parameters as _};
use austerity::population::Moments;
use austerity::rule::SequentialSettings;

pub use bound::{Bounds, CertificateSettings};
pub use build::ExpansionSettings;
pub use centre::{sampled, sampled_mode};
pub use certain::{CertainRows, Displacement, Predictors, Slopes};
use cubic::Cubic;
use limit::Limit;
pub use population::{Residuals, Scratch};
pub use row_sample::RowSample;
pub use width::Width;

/// Columns whose coefficients fit on the stack, and how many it is cleared for where that is enough.
const STACK: usize = 256;
const SMALL: usize = 32;

/// Steps of a single coefficient from this length on (in the units of the storage) are followed by fresh linear predictors: single precision would keep an error of
/// a ten-millionth of it.
const FAR: f32 = 64.0;

/// What building an expansion found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpansionReport {
    /// N.
    pub rows: usize,
    /// Order of the expansion: 1, 2 or 3.
    pub order: u8,
    /// What all residuals of a typical move can add up to, for certain, where decisions are asked to be settled by that.
    #[serde(default)]
    pub limit: Option<f64>,
    /// K: rows of the certainty stratum.
    pub stratum: usize,
    /// Rows outside the stratum that are stored several times, with a share of their weight each,
    #[serde(default)]
    pub replicated: usize,
    /// and how many more rows that makes.
    #[serde(default)]
    pub extra_rows: usize,
    /// Columns that are not zero outside the stratum.
    pub sampled_columns: usize,
    /// Rows that the first look of a test should have; 64 before this was reported.
    #[serde(default = "unreported_look")]
    pub first_look: usize,
    /// Predicted standard error of a total after 64 rows.
    pub standard_error: f64,
    /// Rows sampled until the predicted standard error is the tolerance.
    pub rows_to_tolerance: f64,
    /// What rows that a batch typically misses can add to a total, at the worst look,
    pub missed: f64,
    /// and the standard error that such a batch claims, or the tolerance if that is larger.
    pub believed: f64,
    /// The same without a stratum.
    pub without_stratum: (f64, f64),
    /// Passes over all rows.
    pub passes: u32,
    /// Seconds it took.
    pub seconds: f64,
}

impl ExpansionReport {
    /// Whether decisions could rest on batches that miss what matters without knowing it.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        self.missed > self.believed
    }

    /// The outcome in a sentence or two.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { order, stratum, standard_error, missed, believed, .. } = self;
        let kind = match order {
            1 => "first",
            2 => "second",
            _ => "third",
        };
        let apart = match stratum {
            0 => "no row is read at every decision".into(),
            k => format!("every decision reads the {k} rows of largest influence"),
        };
        let copied = match self.replicated {
            0 => String::new(),
            count => format!(
                ", {count} others are stored several times ({} more rows) so that a sample finds them",
                self.extra_rows
            ),
        };
        let blind = if self.is_blind() {
            format!(
                ". Rows outside the sample could shift the log ratio by {missed:.2} while the test assumes an error of {believed:.2}, and no stratum \
                 or copies of rows within the limits prevent that: do not trust these decisions"
            )
        } else {
            format!(
                ". Rows outside the sample could shift the log ratio by {missed:.3}; the test assumes an error of {believed:.3}"
            )
        };
        format!(
            "{kind}-order surrogate of {} rows: {apart}{copied}; predicted standard error of the log ratio {standard_error:.3}{blind}",
            self.rows
        )
    }

    fn of(stratum: &Stratum, without: &Stratum) -> Self {
        Self {
            rows: 0,
            order: 2,
            limit: None,
            stratum: stratum.rows,
            replicated: 0,
            extra_rows: 0,
            sampled_columns: 0,
            first_look: SequentialSettings::RESIDUAL_FIRST_LOOK,
            standard_error: stratum.standard_error,
            rows_to_tolerance: stratum.rows_to_tolerance,
            missed: stratum.blindness.missed,
            believed: stratum.blindness.believed,
            without_stratum: (without.blindness.missed, without.blindness.believed),
            passes: 0,
            seconds: 0.0,
        }
    }
}

/// The first look of runs that did not report it. It stays what it was when they were made, whatever the default is today.
fn unreported_look() -> usize {
    64
}

/// The expansion of a [`Glm`].
#[derive(Clone, Debug)]
pub struct GlmExpansion<F: Family> {
    model: Glm<F>,
    order: u8,
    centre: Vec<f64>,
    /// The mode and the covariance as the expansion sees them.
    mode: Vec<f64>,
    covariance: Vec<f64>,
    /// Parameters that move the rest.
    active: Vec<u32>,
    /// g and H of the rest, of the active parameters; H in strips of eight rows.
    linear: Vec<f64>,
    quadratic: Vec<[f64; LANES]>,
    /// The term of the third order.
    cubic: Option<Arc<Cubic>>,
    stratum: Option<CertainRows<F>>,
    /// Storage positions of the stratum, ascending.
    apart: Vec<u32>,
    /// The rows that are sampled: all of them, those of the stratum masked, or a copy without those of the stratum.
    blocks: Blocks,
    compact: bool,
    /// Where every row of `blocks` stands in the model's storage, when some are there several times.
    places: Option<Arc<[u32]>>,
    /// The coefficients that move the rows of `blocks`.
    coding: Coding,
    /// η̂ of the rows of `blocks`; NaN masks.
    eta: Arc<Vec<f32>>,
    /// What residuals are multiplied by in f32.
    scale: f32,
    /// What settles decisions without a row, where there is no certificate.
    limit: Option<Arc<Limit>>,
    /// What certified decisions rest on, where asked for.
    bounds: Option<Arc<Bounds>>,
    report: ExpansionReport,
}

impl<F: Family> GlmExpansion<F> {
    /// The model expanded.
    #[must_use]
    pub fn model(&self) -> &Glm<F> {
        &self.model
    }

    /// What building it found.
    #[must_use]
    pub fn report(&self) -> &ExpansionReport {
        &self.report
    }

    /// The mode of the expansion, its stratum expanded too.
    #[must_use]
    pub fn mode(&self) -> &[f64] {
        &self.mode
    }

    /// Covariance at the mode, d × d row by row.
    #[must_use]
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// The certainty stratum.
    #[must_use]
    pub fn stratum(&self) -> Option<&CertainRows<F>> {
        self.stratum.as_ref()
    }

    pub(in crate::glm) fn level(&self) -> Level {
        self.model.level
    }

    /// The same with its quadratic part multiplied: a deliberate mistake, to see it caught.
    #[doc(hidden)]
    #[must_use]
    pub fn with_wrong_curvature(mut self, factor: f64) -> Self {
        self.quadratic.as_flattened_mut().iter_mut().for_each(|entry| *entry *= factor);
        self
    }

    /// Calls `work` with the displacement of `state`; allocates nothing up to 256 columns.
    fn displaced<T>(&self, state: &[f64], work: impl FnOnce(&Displacement<'_, F>) -> T) -> T {
        let model = &self.model;
        let size = model.coding.slots();
        let moved = |i: usize| state[i] - self.centre[i];
        with_buffer(size, 0.0f32, |coefficients| {
            let put = |slot: usize, value: f64| coefficients[slot] = value.clamp(-1e30, 1e30) as f32;
            let constant = model.coding.place(0.0, moved, put);
            let (base, extra) = (model.extra(&self.centre), model.extra(state));
            let displacement = Displacement {
                coefficients,
                constant: constant.clamp(-1e30, 1e30) as f32,
                step: <F::Kernel>::step(&model.family, base, extra),
                extra,
                exact: &[],
                exact_constant: constant,
            };
            if !model.precise {
                return work(&displacement);
            }
            with_buffer(size, 0.0f64, |exact| {
                model.coding.place(0.0, moved, |slot, value| exact[slot] = value);
                work(&Displacement { exact, ..displacement })
            })
        })
    }

    /// g·h + ½h'Hh and the term of the third order, and their slopes added to `gradient`.
    fn taylor(&self, state: &[f64], mut gradient: Option<&mut [f64]>) -> f64 {
        with_buffer(self.active.len(), 0.0f64, |moved| {
            for (slot, &i) in moved.iter_mut().zip(&self.active) {
                *slot = state[i as usize] - self.centre[i as usize];
            }
            let moved = &*moved;
            let third = self.cubic.as_deref().map_or(0.0, |cubic| match &mut gradient {
                None => cubic.evaluate(self.level(), moved, None),
                Some(gradient) => with_buffer(moved.len(), 0.0f64, |slope| {
                    let value = cubic.evaluate(self.level(), moved, Some(slope));
                    self.active.iter().zip(&*slope).for_each(|(&i, slope)| gradient[i as usize] += slope);
                    value
                }),
            });
            // The buffer is made out here: closures inside would not be compiled for the instruction set at hand.
            let rest = with_buffer(
                filled(moved.len()),
                0.0f64,
                |curve| dispatched!(self.level(), _simd => self.polynomial(moved, curve, gradient)),
            );
            third + rest
        })
    }

    /// The part of the first two orders, at a displacement of the active parameters; `curve` is zeros.
    #[inline(always)]
    fn polynomial(&self, moved: &[f64], curve: &mut [f64], gradient: Option<&mut [f64]>) -> f64 {
        add_matrix_product(curve.as_chunks_mut().0, &self.quadratic, moved);
        if let Some(gradient) = gradient {
            for ((&i, linear), curve) in self.active.iter().zip(&self.linear).zip(&*curve) {
                gradient[i as usize] += linear + curve;
            }
        }
        dot(moved, &self.linear) + 0.5 * dot(moved, curve)
    }

    /// The place of a coefficient that is certain, and a step of it in the units of the storage: such columns are not centred.
    fn stored_step(&self, parameter: usize, by: f64) -> (usize, f32) {
        let entry = &self.model.coding.entries[parameter - usize::from(self.model.intercept)];
        (entry.slot, (by * entry.scale).clamp(-1e30, 1e30) as f32)
    }

    fn prior(&self, state: &[f64]) -> f64 {
        self.model.log_outside(state)
    }
}

/// Calls `work` with `len` numbers, on the stack up to 256 of them: densities are evaluated at every step, which must not allocate.
#[inline(always)]
fn with_buffer<T: Copy, R>(len: usize, value: T, work: impl FnOnce(&mut [T]) -> R) -> R {
    // Most models are small, and clearing what is not used takes time.
    if len <= SMALL {
        work(&mut [value; SMALL][..len])
    } else if len <= STACK {
        work(&mut [value; STACK][..len])
    } else {
        work(&mut vec![value; len])
    }
}

impl<F: Family> Expansion for GlmExpansion<F> {
    type Scratch = Scratch;
    type Workspace = Slopes;
    type Residuals<'a> = Residuals<'a, F>;

    fn rows(&self) -> usize {
        self.blocks.rows()
    }

    fn dimension(&self) -> usize {
        self.model.parameters()
    }

    fn centre(&self) -> &[f64] {
        &self.centre
    }

    fn log_density(&self, state: &[f64]) -> f64 {
        let known = self.prior(state) + self.taylor(state, None);
        match &self.stratum {
            Some(stratum) => known + self.displaced(state, |at| stratum.evaluate(at, None)),
            None => known,
        }
    }

    fn log_density_gradient(&self, state: &[f64], slopes: &mut Slopes, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        self.model.add_outside_gradient(state, gradient);
        let known = self.prior(state) + self.taylor(state, Some(gradient));
        let Some(stratum) = &self.stratum else { return known };
        slopes.reset(self.model.blocks().layout());
        let value = self.displaced(state, |at| stratum.evaluate(at, Some(slopes)));
        if self.model.intercept {
            gradient[0] += slopes.constant;
        }
        for entry in &self.model.coding.entries {
            gradient[entry.parameter] += entry.shift * slopes.constant + entry.scale * slopes.of(entry.slot);
        }
        let extra = gradient[self.model.coefficients()..].iter_mut();
        extra.zip(slopes.extra).for_each(|(slot, slope)| *slot += slope);
        known + value
    }

    fn residual_totals(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Vec<Moments>> {
        self.model.driver.run(&Totals { moves }, self)
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(self.coding.slots())
    }

    fn residuals<'a>(&'a self, from: &[f64], to: &[f64], scratch: &'a mut Scratch) -> Residuals<'a, F> {
        Residuals::new(self, from, to, scratch)
    }

    fn exact_differences(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Vec<f64>> {
        posterior_differences(&self.model, moves)
    }

    fn check_state(&self, state: &[f64]) -> Result<()> {
        check_length("state", self.dimension(), state.len())?;
        self.model.check_state(&state.to_vec())
    }

    fn names(&self) -> Vec<String> {
        self.model.names()
    }

    fn write(&self, state: &[f64], out: &mut [f64]) {
        out.copy_from_slice(state);
        for extra in out.iter_mut().rev().take(self.model.family.extra().len()) {
            *extra = extra.exp();
        }
    }

    fn original_row(&self, position: usize) -> usize {
        let mut place = position;
        if let Some(places) = &self.places {
            place = places[position] as usize;
        } else if self.compact {
            // The stratum's rows were taken out: count those before.
            for &gone in &self.apart {
                if gone as usize <= place {
                    place += 1;
                } else {
                    break;
                }
            }
        }
        self.model.original(place)
    }

    /// Of the data, the priors, and what was made of them.
    fn fingerprint(&self) -> u64 {
        let words = format!("{:?} {} {} {}", self.centre, self.apart.len(), self.order, self.blocks.rows());
        let model = self.model.fingerprint();
        let own = [model as u32, (model >> 32) as u32];
        austerity::model::fingerprint(own.into_iter().chain(words.bytes().map(u32::from)))
    }

    fn bytes(&self) -> usize {
        let copy = if self.compact { self.blocks.bytes() } else { 0 };
        let places = self.places.as_deref().map_or(0, size_of_val);
        let bounds = self.bounds.as_deref().map_or(0, Bounds::bytes);
        let cubic = self.cubic.as_deref().map_or(0, Cubic::bytes);
        let limit = self.limit.as_deref().map_or(0, Limit::bytes);
        self.model.blocks().bytes()
            + copy
            + places
            + size_of_val(self.eta.as_slice())
            + bounds
            + cubic
            + limit
    }
}

impl<F: Family> CertainSteps for GlmExpansion<F> {
    type Memory = Predictors;

    fn certain_parameters(&self) -> Vec<usize> {
        (0..self.dimension()).filter(|&i| self.active.binary_search(&(i as u32)).is_err()).collect()
    }

    fn begin_certain(&self, state: &[f64], memory: &mut Predictors) {
        if let Some(stratum) = &self.stratum {
            self.displaced(state, |at| stratum.predict(at, memory));
        }
    }

    fn certain_change(&self, memory: &Predictors, state: &[f64], parameter: usize, by: f64) -> f64 {
        let prior = self.model.outside_change(state, parameter, by);
        let Some(stratum) = &self.stratum else { return prior };
        let (slot, moved) = self.stored_step(parameter, by);
        prior + stratum.change(memory, slot, moved)
    }

    fn take_certain(&self, memory: &mut Predictors, state: &[f64], parameter: usize, by: f64) {
        if let Some(stratum) = &self.stratum {
            let (slot, moved) = self.stored_step(parameter, by);
            if moved.abs() < FAR {
                stratum.take(memory, slot, moved);
            } else {
                // The way back from far out would leave its rounding behind.
                self.begin_certain(state, memory);
            }
        }
    }

    fn certain_tail(&self, parameter: usize) -> Option<PowerTail> {
        self.model.priors.tail(parameter)
    }
}
