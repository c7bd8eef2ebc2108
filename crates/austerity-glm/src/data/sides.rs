//! Response, trials, offset and weights: checked in one pass, and how they are stored.
//!
//! | kind of response | stored as the response | stored as the offset | left to the constant of the linear predictor |
//! |---|---|---|---|
//! | real | y − offset − shift, shift the mean of y − offset | nothing | −shift |
//! | positive, times | log y − offset − shift, shift the mean of log y − offset | nothing | −shift |
//! | shares | log y − log(1 − y) | offset − shift | shift |
//! | binary | 2y − 1 | offset − shift, shift the mean of the offset | shift |
//! | counts | y | offset − shift | shift |
//!
//! Trials, or the events of times, and weights are stored as they are. The means leave f32 nothing large to round. Rows are taken whole or in
//! pieces, with the same result to the last bit.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ResponseKind;
use super::checks::{LARGEST_VALUE, check_each, check_finite_from, check_response, check_trials};
use super::scale::{Counts, Rounding};
use super::summary::{ColumnSummary, Summarizer};
use crate::store::Description;
use austerity::error::Result;
use austerity::model::check_length;

/// The side columns of some rows, in the user's order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sides<'a> {
    /// The response.
    pub response: &'a [f64],
    /// Binomial trials; of times, whether there was an event, 0 or 1.
    pub trials: Option<&'a [f64]>,
    /// Known part of the linear predictor.
    pub offset: Option<&'a [f64]>,
    /// Frequency weights.
    pub weights: Option<&'a [f64]>,
}

impl<'a> Sides<'a> {
    /// Some of the rows.
    #[must_use]
    pub fn rows(&self, rows: Range<usize>) -> Self {
        let part = |values: Option<&'a [f64]>| values.map(|values| &values[rows.clone()]);
        Self {
            response: &self.response[rows.clone()],
            trials: part(self.trials),
            offset: part(self.offset),
            weights: part(self.weights),
        }
    }

    /// y − offset of every row, where that is what is stored; else the offset.
    fn centred(&self, kind: ResponseKind, out: &mut Vec<f64>) {
        out.clear();
        let stored = self.response.iter().map(|&y| kind.stored(y));
        match (kind.is_centred(), self.offset) {
            (true, None) => out.extend(stored),
            (true, Some(offset)) => out.extend(stored.zip(offset).map(|(y, o)| y - o)),
            (false, Some(offset)) => out.extend(offset),
            (false, None) => {}
        }
    }
}

/// Takes side columns piece by piece, and parts of them that were taken elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SideSurvey {
    kind: ResponseKind,
    rows: usize,
    first: Option<f64>,
    constant: bool,
    centred: Summarizer,
    buffer: Vec<f64>,
    counts: [Counts; 3],
    present: [bool; 3],
}

impl SideSurvey {
    /// For a family that explains `kind`.
    #[must_use]
    pub fn new(kind: ResponseKind) -> Self {
        Self {
            kind,
            rows: 0,
            first: None,
            constant: true,
            centred: Summarizer::default(),
            buffer: Vec::new(),
            counts: Default::default(),
            present: [false; 3],
        }
    }

    /// The next rows, checked.
    pub fn push(&mut self, sides: &Sides<'_>) -> Result<()> {
        let (first, kind, rows) = (self.rows, self.kind, sides.response.len());
        let given = [sides.trials, sides.offset, sides.weights];
        for (what, values) in ["trials", "offset", "weights"].iter().zip(given) {
            values.map_or(Ok(()), |values| check_length(what, rows, values.len()))?;
        }
        check_finite_from(first, "response", sides.response)?;
        if let Some(offset) = sides.offset {
            check_finite_from(first, "offset", offset)?;
        }
        if let Some(weights) = sides.weights {
            check_each(first, "weight", weights, |_, w| {
                (!(w > 0.0 && w <= LARGEST_VALUE)).then(|| "positive and finite".into())
            })?;
        }
        check_trials(kind, rows, sides.trials.is_some())?;
        check_response(first, kind, sides.response, sides.trials)?;
        self.take(sides);
        Ok(())
    }

    /// The next rows, taken as they are.
    fn take(&mut self, sides: &Sides<'_>) {
        let (kind, rows) = (self.kind, sides.response.len());
        self.present = [sides.trials, sides.offset, sides.weights].map(|values| values.is_some());
        if let Some(&y) = sides.response.first() {
            let y = *self.first.get_or_insert(y);
            self.constant = self.constant && sides.response.iter().all(|&other| other == y);
        }
        sides.centred(kind, &mut self.buffer);
        self.centred.push(&self.buffer);
        if matches!(kind, ResponseKind::Count | ResponseKind::CountOfTrials) {
            self.counts[0].push(sides.response);
        }
        sides.trials.into_iter().for_each(|trials| self.counts[1].push(trials));
        sides.weights.into_iter().for_each(|weights| self.counts[2].push(weights));
        self.rows += rows;
    }

    /// Ends the part of this number, as [`Summarizer::into_part`] does.
    #[must_use]
    pub fn into_part(mut self, number: usize) -> Self {
        self.centred = self.centred.into_part(number);
        self.buffer = Vec::new();
        self
    }

    /// The same where another part has another value.
    #[must_use]
    pub fn varying(self) -> Self {
        Self { constant: false, ..self }
    }

    /// Adds the part that follows.
    pub fn merge(&mut self, later: &Self) {
        self.constant &=
            later.constant && (self.first.is_none() || later.first.is_none() || self.first == later.first);
        self.first = self.first.or(later.first);
        self.centred.merge(&later.centred);
        self.counts.iter_mut().zip(&later.counts).for_each(|(mine, theirs)| mine.merge(theirs));
        self.present.iter_mut().zip(&later.present).for_each(|(mine, theirs)| *mine |= theirs);
        self.rows += later.rows;
    }

    /// How the side columns are stored.
    #[must_use]
    pub fn finish(self) -> SidePlan {
        let [trials, offset, weights] = self.present;
        let centred = self.centred.finish();
        let is_real = self.kind.is_centred();
        let mean = if is_real || offset { centred.mean } else { 0.0 };
        // A link function turns an absolute error of the offset into a relative one of the mean.
        let unit = if is_real { f64::INFINITY } else { 1.0 };
        let rounding = (is_real || offset).then(|| Rounding::of_side(&centred, unit));
        SidePlan {
            kind: self.kind,
            rows: self.rows,
            trials: trials && matches!(self.kind, ResponseKind::CountOfTrials | ResponseKind::Time),
            offset: offset && !is_real,
            weights,
            response_shift: if is_real { mean } else { 0.0 },
            offset_shift: if is_real { 0.0 } else { mean },
            constant: self.first.filter(|_| self.constant && !is_real && self.rows > 1),
            subtracted: offset && is_real,
            rounding,
            counts: self.counts,
            buffer: self.buffer,
            range: centred,
        }
    }
}

/// How the side columns are stored.
#[derive(Clone, Debug)]
pub struct SidePlan {
    pub(crate) kind: ResponseKind,
    pub(crate) rows: usize,
    /// Whether trials, an offset, weights are stored.
    pub(crate) trials: bool,
    pub(crate) offset: bool,
    pub(crate) weights: bool,
    pub(crate) response_shift: f64,
    pub(crate) offset_shift: f64,
    /// The only value of the response.
    constant: Option<f64>,
    /// Whether an offset was taken off the response.
    subtracted: bool,
    rounding: Option<Rounding>,
    counts: [Counts; 3],
    buffer: Vec<f64>,
    range: ColumnSummary,
}

impl SidePlan {
    /// Of side columns in memory.
    pub fn of(kind: ResponseKind, sides: &Sides<'_>) -> Result<Self> {
        let mut survey = SideSurvey::new(kind);
        survey.push(sides)?;
        Ok(survey.finish())
    }

    /// Of some rows of a store that is described: they are stored as its own were.
    #[must_use]
    pub fn described(description: &Description, rows: usize) -> Self {
        let Description { kind, trials, offset, weights, response_shift, offset_shift, .. } = *description;
        Self {
            rows,
            trials,
            offset,
            weights,
            response_shift,
            offset_shift,
            constant: None,
            subtracted: false,
            rounding: None,
            ..SideSurvey::new(kind).finish()
        }
    }

    /// Of side columns in memory that were checked before.
    pub(crate) fn trusted(kind: ResponseKind, sides: &Sides<'_>) -> Self {
        let mut survey = SideSurvey::new(kind);
        survey.take(sides);
        survey.finish()
    }

    /// Which responses they are.
    #[must_use]
    pub fn kind(&self) -> ResponseKind {
        self.kind
    }

    /// N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What is stored of the response of row `at` of `sides`.
    #[inline(always)]
    pub(crate) fn stored_response(&self, sides: &Sides<'_>, at: usize) -> f32 {
        let y = self.kind.stored(sides.response[at]);
        if self.kind.is_centred() {
            (y - sides.offset.map_or(0.0, |o| o[at]) - self.response_shift) as f32
        } else {
            y as f32
        }
    }

    /// Looks at the next rows a second time, if rounding asks for it.
    pub(crate) fn observe(&mut self, sides: &Sides<'_>) {
        if let Some(rounding) = &mut self.rounding {
            sides.centred(self.kind, &mut self.buffer);
            rounding.push(&self.buffer);
        }
    }

    /// A sentence about a response with one value only.
    pub(crate) fn constant_warning(&self) -> Option<String> {
        self.constant.map(|y| {
            format!(
                "the response is {y} in every row: the data hardly bound the intercept, the prior decides"
            )
        })
    }

    /// Sentences about a response, trials, weights or an offset that single precision cannot hold.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        let what = match (self.kind, self.subtracted) {
            (ResponseKind::Real, true) => "the response less its offset",
            (ResponseKind::Real, false) => "the response",
            (kind, true) if kind.is_centred() => "the logarithm of the response less its offset",
            (kind, false) if kind.is_centred() => "the logarithm of the response",
            _ => "the offset",
        };
        let centred = self.rounding.as_ref().and_then(|rounding| rounding.of_side_in_words(what));
        let split = "split such a row into several with the same columns";
        let remedy = if self.kind == ResponseKind::Count {
            "split such a row into k rows with the same columns, a k-th of the count each and an offset lower by log k"
        } else {
            split
        };
        let counts = [
            self.counts[0].in_words("count", remedy),
            self.counts[1].in_words("number of trials", split),
            self.counts[2].in_words("weight", "split such a row into several that share its weight"),
        ];
        centred.into_iter().chain(counts.into_iter().flatten())
    }

    /// The summary of what is centred: y − offset of real responses, log y − offset of positive ones, the offset of others.
    #[must_use]
    pub fn centred(&self) -> &ColumnSummary {
        &self.range
    }
}
