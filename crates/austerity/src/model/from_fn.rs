//! A user's own model, made of two closures: the log prior, and the log-likelihood of one row.
//!
//! l_i = log p(x_i|θ') − log p(x_i|θ), by subtraction, since nothing is known about the closure; built-in models
//! use stable forms instead. What the closures may return:
//!
//! | | log-likelihood of a row | log prior |
//! |---|---|---|
//! | finite | fine | fine |
//! | −∞ | at the candidate: it is rejected; at the current state: [`Error::InfiniteRatio`] | outside the support |
//! | NaN | [`Error::NotANumber`] with the row | [`Error::PriorNotANumber`] from the kernel |
//! | +∞ | [`Error::OutOfRange`] with the row | not meaningful |
//! | a panic | [`Error::Panicked`] with the row and the message | [`Error::Panicked`] with the message |
//!
//! The closures must be pure: the same arguments give the same number. Rows are visited through a stored
//! permutation (4 bytes per row), so that the user's own data stay as they are. Cost: two calls per row
//! revealed; under [`Access::Scan`] one, from a cache of 16 bytes per row and chain whose totals are equal to the
//! uncached ones bit for bit. Random access to the user's rows is slower than a scan; put rows in
//! random order yourself and say [`FromFn::keep_order`] when that matters. A panic can only be caught in a
//! program that unwinds (not with `panic = "abort"`), and the usual panic hook still prints it.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crate::error::{Error, Result, panic_message, setting};
use crate::model::known_rows::{KnownRows, check_value};
use crate::model::{Access, Model, Parameters};
use crate::model::{check_rows, check_state, storage_order};
use crate::population::{Population, RowCost};

/// A model made of two closures; see [`from_fn`].
pub struct FromFn<P, L> {
    log_prior: P,
    log_likelihood: L,
    names: Vec<String>,
    order: Vec<u32>,
    prior_panic: OnceLock<Error>,
}

impl<P, L> fmt::Debug for FromFn<P, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn")
            .field("rows", &self.order.len())
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

/// A model of `rows` rows over states of `dimension` numbers.
///
/// ```
/// use austerity::model::from_fn;
/// let waits = [0.7, 1.9, 0.2, 1.1];
/// // An exponential waiting time with a normal prior on its log rate.
/// let model = from_fn(
///     waits.len(),
///     1,
///     |state: &[f64]| -0.5 * state[0] * state[0],
///     |state: &[f64], row| state[0] - state[0].exp() * waits[row],
/// )?
/// .names(["log_rate"])?;
/// # Ok::<(), austerity::Error>(())
/// ```
pub fn from_fn<P, L>(rows: usize, dimension: usize, log_prior: P, log_likelihood: L) -> Result<FromFn<P, L>>
where
    P: Fn(&[f64]) -> f64 + Sync,
    L: Fn(&[f64], usize) -> f64 + Sync,
{
    check_rows(rows)?;
    if dimension == 0 {
        return Err(setting("dimension", dimension, "at least 1"));
    }
    Ok(FromFn {
        log_prior,
        log_likelihood,
        names: (1..=dimension).map(|j| format!("parameter{j}")).collect(),
        order: storage_order(rows, Some(0)),
        prior_panic: OnceLock::new(),
    })
}

impl<P, L> FromFn<P, L> {
    /// Names the parameters (`parameter1`, `parameter2`, … otherwise).
    pub fn names<I>(mut self, names: I) -> Result<Self>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() != self.names.len() {
            return Err(Error::Dimension {
                what: "names of parameters".into(),
                expected: self.names.len(),
                found: names.len(),
            });
        }
        self.names = names;
        Ok(self)
    }

    /// Seed of the order in which rows are visited (there is a fixed one unless told otherwise).
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.order = storage_order(self.order.len(), Some(seed));
        self
    }

    /// Visits the rows in the order given. Only for rows that come in random order already: blocks of
    /// neighbouring rows are drawn together.
    #[must_use]
    pub fn keep_order(mut self) -> Self {
        self.order = storage_order(self.order.len(), None);
        self
    }
}

/// Working memory of one chain: under [`Access::Scan`] the log-likelihoods of the current state and the candidate.
#[derive(Clone, Debug)]
pub struct FromFnScratch {
    cached: bool,
    current: KnownRows,
    candidate: KnownRows,
}

/// The differences of a move.
#[derive(Debug)]
pub struct FromFnRatio<'a, P, L> {
    model: &'a FromFn<P, L>,
    from: &'a [f64],
    to: &'a [f64],
    scratch: &'a mut FromFnScratch,
}

impl<P, L> Population for FromFnRatio<'_, P, L>
where
    L: Fn(&[f64], usize) -> f64 + Sync,
{
    fn len(&self) -> usize {
        self.model.order.len()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let Self { model, from, to, scratch, .. } = self;
        check_state(from, model.names.len())?;
        check_state(to, model.names.len())?;
        let visiting = Cell::new(0);
        // Unwind safety: the caches grow by one checked number at a time, so a panic leaves them shorter but
        // right; `out` is not read after an error; the closure is called by shared reference, and what it may
        // have left half done inside is its author's, as it would be after any other panic that is caught.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            for (out, position) in out.iter_mut().zip(rows) {
                let row = model.order[position] as usize;
                visiting.set(row);
                let value = |known: &mut KnownRows, state: &[f64], current: bool| {
                    if let Some(&value) = known.values.get(position) {
                        return Ok(value);
                    }
                    let value = (model.log_likelihood)(state, row);
                    check_value(value, current, || row)?;
                    if scratch.cached && known.values.len() == position {
                        known.values.push(value);
                    }
                    Ok(value)
                };
                let old = value(&mut scratch.current, from, true)?;
                let new = value(&mut scratch.candidate, to, false)?;
                *out = new - old;
            }
            Ok(())
        }));
        outcome.unwrap_or_else(|payload| {
            Err(Error::Panicked {
                what: "log-likelihood".into(),
                row: Some(visiting.get()),
                message: panic_message(&*payload),
            })
        })
    }

    /// Filling the cache of the first state is set-up, not counted: a resumed run must count as the uninterrupted one.
    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 2, scanned: if self.scratch.cached { 1 } else { 2 } }
    }
}

impl<P, L> Model for FromFn<P, L>
where
    P: Fn(&[f64]) -> f64 + Sync,
    L: Fn(&[f64], usize) -> f64 + Sync,
{
    type State = Vec<f64>;
    type Scratch = FromFnScratch;
    type Ratio<'a>
        = FromFnRatio<'a, P, L>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.order.len()
    }

    fn scratch(&self, access: Access) -> FromFnScratch {
        let cached = access == Access::Scan;
        let rows = if cached { self.order.len() } else { 0 };
        let known = || KnownRows::with_capacity(self.names.len(), rows);
        FromFnScratch { cached, current: known(), candidate: known() }
    }

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        check_state(state, self.names.len())
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        // Unwind safety: nothing of ours is touched inside.
        catch_unwind(AssertUnwindSafe(|| (self.log_prior)(state))).unwrap_or_else(|payload| {
            self.prior_panic.get_or_init(|| Error::Panicked {
                what: "log prior".into(),
                row: None,
                message: panic_message(&*payload),
            });
            f64::NAN
        })
    }

    fn data_bytes(&self) -> usize {
        size_of_val(self.order.as_slice())
    }

    fn prior_error(&self) -> Error {
        self.prior_panic.get().cloned().unwrap_or(Error::PriorNotANumber)
    }

    fn compare<'a>(
        &'a self,
        from: &'a Vec<f64>,
        to: &'a Vec<f64>,
        scratch: &'a mut FromFnScratch,
    ) -> FromFnRatio<'a, P, L> {
        if scratch.cached {
            if !scratch.current.belongs_to(from) {
                scratch.current.begin(from);
            }
            scratch.candidate.begin(to);
        }
        FromFnRatio { model: self, from, to, scratch }
    }

    fn accepted(&self, scratch: &mut FromFnScratch) {
        std::mem::swap(&mut scratch.current, &mut scratch.candidate);
    }

    fn original_row(&self, position: usize) -> usize {
        self.order[position] as usize
    }

    fn scratch_bytes(&self, access: Access) -> usize {
        match access {
            Access::Scan => 2 * size_of::<f64>() * self.order.len(),
            Access::Blocks => 0,
        }
    }
}

impl<P, L> Parameters for FromFn<P, L>
where
    P: Fn(&[f64]) -> f64 + Sync,
    L: Fn(&[f64], usize) -> f64 + Sync,
{
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        out.copy_from_slice(state);
    }
}

#[cfg(test)]
mod tests;
