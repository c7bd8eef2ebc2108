//! How the response becomes what the family explains.
//!
//! | the family explains | given | becomes |
//! |---|---|---|
//! | 0 or 1 | 0, 1, booleans | itself |
//! | | −1, 1 | 0, 1 |
//! | | two other numbers | the smaller 0, the larger 1; a note says so |
//! | | two texts | the alphabetically first 0, the second 1; a note says so |
//! | | two texts with an order of their own | the first 0, the last 1; a note says so |
//! | | any two values, one named as the success | that 1, the other 0; a note says so |
//! | ordered levels | numbers, 12 different ones at most | their places from 0, in rising order; a note says so |
//! | | texts with an order of their own | their places in it; a note says so |
//! | counts, counts of trials, reals, positive numbers, shares, times | numbers | itself |
//!
//! A response with one value only leaves nothing to explain: a warning where a prior can still answer (0/1 and
//! counts), else an error.

use std::path::Path;

use austerity_glm::ResponseKind;
use austerity_glm::data::{SidePlan, SideSurvey, Sides};
use austerity_glm::glm::MOST_LEVELS;
use serde::{Deserialize, Serialize};

use super::choice::{self, Choice, absent};
use super::{place, role};
use crate::error::{Error, Result};
use crate::table::Chunk;
use crate::table::levels::truths;

/// What 0 and 1 stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseCoding {
    /// The numbers of the file.
    AsGiven,
    /// Two numbers.
    TwoNumbers {
        /// Coded as 0.
        zero: f64,
        /// Coded as 1.
        one: f64,
    },
    /// Two texts.
    TwoTexts {
        /// Coded as 0.
        zero: String,
        /// Coded as 1.
        one: String,
    },
    /// Ordered levels, coded as their places from 0.
    Levels {
        /// In their order.
        levels: Vec<String>,
        /// Whether they are texts in the file.
        text: bool,
    },
}

/// Where the response is.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) file: &'a Path,
    pub(crate) name: &'a str,
}

/// The side columns of a piece as numbers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beside<'a> {
    pub(crate) trials: Option<&'a [f64]>,
    pub(crate) offset: Option<&'a [f64]>,
    pub(crate) weights: Option<&'a [f64]>,
}

impl<'a> Beside<'a> {
    pub(crate) fn sides(self, response: &'a [f64]) -> Sides<'a> {
        Sides { response, trials: self.trials, offset: self.offset, weights: self.weights }
    }
}

/// Takes the response, and what stands beside it, piece by piece, and parts of them that were taken elsewhere.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Survey {
    kind: Option<ResponseKind>,
    /// As numbers, when they can be taken so.
    plain: Option<SideSurvey>,
    /// As 0 and 1; which is which is decided at the end.
    binary: Option<SideSurvey>,
    rows: usize,
    /// The first three different numbers with their rows.
    numbers: Vec<(f64, usize)>,
    range: (f64, f64),
    whole: bool,
    /// The different texts, and the row of the third.
    labels: Vec<String>,
    third: usize,
    truths: bool,
    /// Smallest and largest number of trials.
    trials: Option<(f64, f64)>,
}

/// The response as it is stored.
pub(crate) struct Coded {
    pub(crate) coding: ResponseCoding,
    pub(crate) coder: Coder,
    pub(crate) plan: SidePlan,
    pub(crate) note: Option<String>,
    pub(crate) warning: Option<String>,
}

/// How values of the file become those of the design.
#[derive(Clone, Debug)]
pub(crate) enum Coder {
    AsGiven,
    /// This number is 1, others 0.
    One(f64),
    /// The value of every code.
    Codes(Vec<f64>),
    /// The place of a number among these.
    Places(Vec<f64>),
}

impl Coder {
    /// The coded response; `None` when the column is not what it was in the first pass.
    pub(crate) fn apply(&self, chunk: &Chunk<'_>) -> Option<Vec<f64>> {
        match (self, *chunk) {
            (Self::AsGiven, Chunk::Numbers(values)) => Some(values.to_vec()),
            (Self::One(one), Chunk::Numbers(values)) => {
                Some(values.iter().map(|value| f64::from(u8::from(value == one))).collect())
            }
            (Self::Places(places), Chunk::Numbers(values)) => {
                let place = |value| places.iter().position(|place| place == value).map(|place| place as f64);
                values.iter().map(place).collect()
            }
            (Self::Codes(values), Chunk::Levels { codes, .. }) => {
                codes.iter().map(|&code| values.get(code as usize).copied()).collect()
            }
            _ => None,
        }
    }
}

impl ResponseCoding {
    /// The value that is coded as 1, where the response has two.
    #[must_use]
    pub fn success(&self) -> String {
        match self {
            Self::AsGiven | Self::Levels { .. } => "1".into(),
            Self::TwoNumbers { one, .. } => one.to_string(),
            Self::TwoTexts { one, .. } => one.clone(),
        }
    }
}

impl Survey {
    /// For a family that explains `kind`, or whichever the values suggest.
    pub(crate) fn new(kind: Option<ResponseKind>) -> Self {
        let binary = matches!(kind, None | Some(ResponseKind::Binary));
        let plain = match kind {
            Some(ResponseKind::Binary) => None,
            kind => Some(SideSurvey::new(kind.unwrap_or(ResponseKind::Real))),
        };
        Self {
            kind,
            plain,
            binary: binary.then(|| SideSurvey::new(ResponseKind::Binary)),
            rows: 0,
            numbers: Vec::new(),
            range: (f64::INFINITY, f64::NEG_INFINITY),
            whole: true,
            labels: Vec::new(),
            third: 0,
            truths: false,
            trials: None,
        }
    }

    /// The next rows.
    pub(crate) fn push(&mut self, at: Named<'_>, chunk: &Chunk<'_>, beside: Beside<'_>) -> Result<()> {
        if let Some(trials) = beside.trials {
            let range = self.trials.get_or_insert((f64::INFINITY, f64::NEG_INFINITY));
            trials.iter().for_each(|&t| *range = (range.0.min(t), range.1.max(t)));
        }
        match *chunk {
            Chunk::Numbers(values) => self.push_numbers(at, values, beside)?,
            Chunk::Levels { codes, labels, truths } => self.push_text(at, codes, labels, truths, beside)?,
            Chunk::Slopes { .. } => return Err(role(at.file, at.name, "it has slopes", "name a column")),
        }
        self.rows += chunk.len();
        Ok(())
    }

    fn push_numbers(&mut self, at: Named<'_>, values: &[f64], beside: Beside<'_>) -> Result<()> {
        let ordered = self.kind == Some(ResponseKind::Ordered);
        let most = if ordered { MOST_LEVELS + 1 } else { 3 };
        for (row, &value) in values.iter().enumerate() {
            if self.numbers.len() < most && !self.numbers.iter().any(|&(known, _)| known == value) {
                self.numbers.push((value, self.rows + row));
            }
            self.range = (self.range.0.min(value), self.range.1.max(value));
            self.whole &= value.fract() == 0.0;
        }
        if ordered && self.numbers.len() > MOST_LEVELS {
            let (value, row) = self.numbers[MOST_LEVELS];
            return Err(Error::Value {
                place: place(at.file, at.name, row),
                problem: format!("{value} is level number {} of an ordered response", MOST_LEVELS + 1),
                remedy: format!(
                    "at most {MOST_LEVELS} are possible: join some, or choose a family for real numbers"
                ),
            });
        }
        if self.numbers.len() > 2 {
            self.binary = None;
            if self.kind == Some(ResponseKind::Binary) {
                let [(first, _), (second, _), (third, row)] =
                    [self.numbers[0], self.numbers[1], self.numbers[2]];
                return Err(Error::Value {
                    place: place(at.file, at.name, row),
                    problem: format!("{third} is a third value of the response, beside {first} and {second}"),
                    remedy:
                        "the logistic family explains two values: choose another family, or keep two classes"
                            .into(),
                });
            }
        }
        check_counts(at, self.rows, values, beside.trials, self.kind)?;
        if let Some(plain) = &mut self.plain {
            match self.numbers.first() {
                // Only whether levels differ matters here: what they are numbered is not known yet.
                Some(&(first, _)) if ordered => {
                    let differs: Vec<f64> = values.iter().map(|&v| f64::from(u8::from(v != first))).collect();
                    push(plain, at, &beside.sides(&differs))?;
                }
                _ => push(plain, at, &beside.sides(values))?,
            }
        }
        if let (Some(binary), Some(&(first, _))) = (&mut self.binary, self.numbers.first()) {
            // Only whether both values occur matters here.
            let known = f64::from(u8::from(first == 1.0));
            let coded: Vec<f64> =
                values.iter().map(|&v| if v == first { known } else { 1.0 - known }).collect();
            push(binary, at, &beside.sides(&coded))?;
        }
        Ok(())
    }

    fn push_text(
        &mut self,
        at: Named<'_>,
        codes: &[u32],
        labels: &[String],
        allowed: bool,
        beside: Beside<'_>,
    ) -> Result<()> {
        if self.labels.len() < 3 && labels.len() > 2 {
            self.third = self.rows + codes.iter().position(|&code| code == 2).unwrap_or(0);
        }
        // No more than what messages and codings need.
        let known = self.labels.len();
        self.labels.extend_from_slice(&labels[known..]);
        self.truths = allowed;
        let values = allowed.then(|| truths(labels)).flatten();
        match values {
            Some(values) => {
                let values: Vec<f64> = codes.iter().map(|&code| values[code as usize]).collect();
                check_counts(at, self.rows, &values, beside.trials, self.kind)?;
                if let Some(plain) = &mut self.plain {
                    push(plain, at, &beside.sides(&values))?;
                }
                if let Some(binary) = &mut self.binary {
                    push(binary, at, &beside.sides(&values))?;
                }
            }
            None if self.kind == Some(ResponseKind::Ordered) => {
                let codes: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
                if let Some(plain) = &mut self.plain {
                    push(plain, at, &beside.sides(&codes))?;
                }
            }
            None => {
                self.plain = None;
                if !matches!(self.kind, None | Some(ResponseKind::Binary)) {
                    return Err(role(
                        at.file,
                        at.name,
                        format!(
                            "the response holds text such as `{}`",
                            labels.first().map_or("", String::as_str)
                        ),
                        "this family needs numbers; two texts are coded for the logistic family",
                    ));
                }
                if let [first, second, third, ..] = labels {
                    return Err(Error::Value {
                        place: place(at.file, at.name, self.third),
                        problem: format!(
                            "`{third}` is a third text of the response, beside `{first}` and `{second}`"
                        ),
                        remedy: "the logistic family explains two values: keep two classes".into(),
                    });
                }
                if let Some(binary) = &mut self.binary {
                    // As the truths before it, if there were any.
                    let known = f64::from(u8::from(labels[0].eq_ignore_ascii_case("true")));
                    let coded: Vec<f64> =
                        codes.iter().map(|&code| if code == 0 { known } else { 1.0 - known }).collect();
                    push(binary, at, &beside.sides(&coded))?;
                }
            }
        }
        Ok(())
    }

    /// Ends the part of this number, as [`SideSurvey::into_part`] does.
    pub(crate) fn into_part(mut self, number: usize) -> Self {
        self.plain = self.plain.map(|plain| plain.into_part(number));
        self.binary = self.binary.map(|binary| binary.into_part(number));
        self
    }

    /// Adds the part that follows.
    pub(crate) fn merge(&mut self, at: Named<'_>, later: Self) -> Result<()> {
        let texts = |survey: &Self| !survey.labels.is_empty() && !survey.truths;
        if texts(self) && !later.numbers.is_empty() || texts(&later) && !self.numbers.is_empty() {
            return Err(role(
                at.file,
                at.name,
                "the response holds text in some files and numbers in others",
                "write it the same way in all files",
            ));
        }
        for &(value, row) in &later.numbers {
            let room = self.numbers.len() < 3 || self.kind == Some(ResponseKind::Ordered);
            if room && !self.numbers.iter().any(|&(known, _)| known == value) {
                self.numbers.push((value, self.rows + row));
            }
        }
        let known = self.labels.len();
        self.labels.extend(
            later
                .labels
                .into_iter()
                .filter(|label| self.labels[..known].iter().all(|mine| mine != label))
                .collect::<Vec<_>>(),
        );
        self.truths &= later.truths;
        self.range = (self.range.0.min(later.range.0), self.range.1.max(later.range.1));
        self.whole &= later.whole;
        if let Some((low, high)) = later.trials {
            let (from, to) = self.trials.unwrap_or((low, high));
            self.trials = Some((from.min(low), to.max(high)));
        }
        for (mine, theirs) in [(&mut self.plain, later.plain), (&mut self.binary, later.binary)] {
            match (mine.as_mut(), theirs) {
                (Some(mine), Some(theirs)) => mine.merge(&theirs),
                _ => *mine = None,
            }
        }
        if self.numbers.len() > 1 || self.labels.len() > 1 {
            // Every part counts its first value as the same.
            self.binary = self.binary.take().map(SideSurvey::varying);
        }
        self.rows += later.rows;
        if self.numbers.len() > 2 {
            self.binary = None;
        }
        let third = match (&self.numbers[..], &self.labels[..]) {
            ([(first, _), (second, _), (third, _)], _) => {
                Some([first, second, third].map(ToString::to_string))
            }
            (_, [first, second, third, ..]) => Some([first, second, third].map(Clone::clone)),
            _ => None,
        };
        match third {
            Some([first, second, third])
                if self.kind == Some(ResponseKind::Binary) || !self.labels.is_empty() =>
            {
                Err(role(
                    at.file,
                    at.name,
                    format!("`{third}` is a third value of the response, beside `{first}` and `{second}`"),
                    "the logistic family explains two values: choose another family, or keep two classes",
                ))
            }
            _ => Ok(()),
        }
    }

    /// The coding, for the kind that was asked for or that the values suggest.
    pub(crate) fn finish(mut self, at: Named<'_>, choice: Choice<'_>) -> Result<Coded> {
        let values = self.take_truths();
        let is_text = !self.labels.is_empty() && values.is_none();
        if self.kind == Some(ResponseKind::Ordered) {
            return self.ordered(at, choice, is_text, values);
        }
        let two_valued = is_text || matches!(self.numbers[..], [_, _]);
        let inferred = if two_valued { ResponseKind::Binary } else { ResponseKind::Real };
        let kind = self.kind.unwrap_or(inferred);
        if let (Some(named), false) = (choice.named, kind == ResponseKind::Binary) {
            return Err(role(
                at.file,
                at.name,
                format!("the success `{named}` is named, but the response is not one of two values"),
                "leave the success out, or choose the logistic family",
            ));
        }
        let suggestion = self.suggestion(at.name, kind);
        let survey = if kind == ResponseKind::Binary { self.binary.take() } else { self.plain.take() };
        let plan = survey.unwrap_or_else(|| SideSurvey::new(kind)).finish();
        let as_given = match values {
            Some(values) => Coder::Codes(values),
            None => Coder::AsGiven,
        };
        let coded = |coding, coder, note, warning| Ok(Coded { coding, coder, plan, note, warning });
        if is_text {
            return self.two_texts(at, choice, coded);
        }
        let mut found: Vec<f64> = self.numbers.iter().map(|&(value, _)| value).collect();
        found.sort_by(f64::total_cmp);
        if let Some(named) = choice.named {
            let one = choice::value(named).and_then(|one| found.iter().copied().find(|&value| value == one));
            let Some(one) = one else {
                let there: Vec<String> = found.iter().map(ToString::to_string).collect();
                return Err(absent(at.file, at.name, "the success", named, &there));
            };
            // The larger one is the success anyway.
            if found.last() != Some(&one) || found == [0.0] {
                let zero = found.last().copied().filter(|&value| value != one).unwrap_or(1.0);
                let note = format!("the response `{}` was coded: {zero} as 0, {one} as 1", at.name);
                let coder = match as_given {
                    Coder::Codes(values) => Coder::Codes(values.iter().map(|value| 1.0 - value).collect()),
                    _ => Coder::One(one),
                };
                let warning = (found.len() == 1).then(|| warn_all_equal(at.name, one));
                return coded(ResponseCoding::TwoNumbers { zero, one }, coder, Some(note), warning);
            }
        }
        if kind == ResponseKind::Binary {
            return match found[..] {
                [zero, one] if zero == 0.0 && one == 1.0 => {
                    coded(ResponseCoding::AsGiven, as_given, None, None)
                }
                [value] if value == 0.0 || value == 1.0 => {
                    coded(ResponseCoding::AsGiven, as_given, None, Some(warn_all_equal(at.name, value)))
                }
                [zero, one] => {
                    let note = format!("the response `{}` was coded: {zero} as 0, {one} as 1", at.name);
                    coded(ResponseCoding::TwoNumbers { zero, one }, Coder::One(one), Some(note), None)
                }
                [value] => Err(nothing_to_explain(at, &value.to_string())),
                _ => coded(ResponseCoding::AsGiven, as_given, None, None),
            };
        }
        let mut warning = None;
        if let [value] = found[..] {
            if kind.is_continuous() {
                return Err(nothing_to_explain(at, &value.to_string()));
            }
            // Different trials make equal counts informative.
            let informative =
                self.trials.is_some_and(|(low, high)| low != high || (value > 0.0 && value < low));
            warning = (!informative).then(|| warn_all_equal(at.name, value));
        }
        coded(ResponseCoding::AsGiven, as_given, suggestion, warning)
    }

    /// Levels in their order: that of numbers, or that of texts which have one.
    fn ordered(
        self,
        at: Named<'_>,
        choice: Choice<'_>,
        text: bool,
        truths: Option<Vec<f64>>,
    ) -> Result<Coded> {
        if let Some(named) = choice.named {
            let problem =
                format!("the success `{named}` is named, but the levels of the response are ordered");
            return Err(role(at.file, at.name, problem, "leave the success out"));
        }
        let mut found: Vec<f64> = self.numbers.iter().map(|&(value, _)| value + 0.0).collect();
        found.sort_by(f64::total_cmp);
        let levels = if text { self.labels.clone() } else { found.iter().map(ToString::to_string).collect() };
        if text && !choice.ordered {
            return Err(role(
                at.file,
                at.name,
                format!("the response holds texts such as `{}`, which have no order", self.labels[0]),
                "give the levels as numbers, or as a category whose order is known (pandas, polars, Arrow)",
            ));
        }
        if let [value] = &levels[..] {
            return Err(nothing_to_explain(at, value));
        }
        if levels.len() > MOST_LEVELS {
            let problem = format!("the response has {} levels, and {MOST_LEVELS} are possible", levels.len());
            return Err(role(at.file, at.name, problem, "join some"));
        }
        let coder = match truths {
            Some(values) => Coder::Codes(values),
            None if text => Coder::Codes((0..levels.len()).map(|place| place as f64).collect()),
            None => Coder::Places(found),
        };
        let plan = self.plain.unwrap_or_else(|| SideSurvey::new(ResponseKind::Ordered)).finish();
        let note =
            Some(format!("the levels of the response `{}` are, in order: {}", at.name, levels.join(", ")));
        Ok(Coded { coding: ResponseCoding::Levels { levels, text }, coder, plan, note, warning: None })
    }

    /// The values of the texts `true` and `false`, if there were no others; they count as numbers from now on.
    fn take_truths(&mut self) -> Option<Vec<f64>> {
        let values = self.truths.then(|| truths(&self.labels)).flatten()?;
        for &value in &values {
            if !self.numbers.iter().any(|&(known, _)| known == value) {
                self.numbers.push((value, 0));
            }
            self.range = (self.range.0.min(value), self.range.1.max(value));
        }
        Some(values)
    }

    /// Another family for whole numbers that nobody named a family for.
    fn suggestion(&self, name: &str, kind: ResponseKind) -> Option<String> {
        let (low, high) = self.range;
        let counts = self.kind.is_none() && kind == ResponseKind::Real && self.whole && low >= 0.0;
        counts.then(|| {
            format!(
                "`{name}` holds whole numbers from {low} to {high}: a family of counts may suit it better"
            )
        })
    }

    fn two_texts(
        &self,
        at: Named<'_>,
        choice: Choice<'_>,
        coded: impl FnOnce(ResponseCoding, Coder, Option<String>, Option<String>) -> Result<Coded>,
    ) -> Result<Coded> {
        let named = match choice.named {
            None => None,
            Some(named) => Some(
                choice::position(&self.labels, named)
                    .ok_or_else(|| absent(at.file, at.name, "the success", named, &self.labels))?,
            ),
        };
        let [first, second] = &self.labels[..] else {
            let value = self.labels.first().map_or("", String::as_str);
            return Err(nothing_to_explain(at, &format!("`{value}`")));
        };
        let second_is_success = match named {
            Some(code) => code == 1,
            None => choice.ordered || first < second,
        };
        let (zero, one, values) =
            if second_is_success { (first, second, vec![0.0, 1.0]) } else { (second, first, vec![1.0, 0.0]) };
        let note = format!("the response `{}` was coded: `{zero}` as 0, `{one}` as 1", at.name);
        let coding = ResponseCoding::TwoTexts { zero: zero.clone(), one: one.clone() };
        coded(coding, Coder::Codes(values), Some(note), None)
    }
}

fn push(survey: &mut SideSurvey, at: Named<'_>, sides: &Sides<'_>) -> Result<()> {
    survey.push(sides).map_err(Error::data(at.file))
}

/// Refuses what is no count, no positive number or no share, with the name of the column and its row.
pub(super) fn check_counts(
    at: Named<'_>,
    first: usize,
    values: &[f64],
    trials: Option<&[f64]>,
    kind: Option<ResponseKind>,
) -> Result<()> {
    let whole = |y: f64| y >= 0.0 && y.fract() == 0.0;
    match (kind, trials) {
        (Some(ResponseKind::Count), _) => {
            let remedy = "choose a family for real numbers, or mend the value";
            super::check(at, first, values, |_, y| whole(y), "a count must be 0, 1, 2, …", remedy)
        }
        (Some(ResponseKind::CountOfTrials), Some(trials)) => {
            let problem = "a count of trials must be 0, 1, … and at most the row's trials";
            let allowed = |row: usize, y| whole(y) && y <= trials[row];
            super::check(at, first, values, allowed, problem, "mend the response or the trials")
        }
        (Some(ResponseKind::Positive), _) => {
            let remedy = "choose a family for real numbers, or mend the value";
            super::check(at, first, values, |_, y| y > 0.0, "this family needs positive numbers", remedy)
        }
        (Some(ResponseKind::Time), _) => super::check(
            at,
            first,
            values,
            |_, y| y > 0.0,
            "a time must be positive",
            "mend the value, or drop the row",
        ),
        (Some(ResponseKind::Share), _) => {
            let remedy = "give shares, not counts or percentages; shares of 0 and 1 need another family";
            let inside = |_, y: f64| y > 0.0 && y < 1.0;
            super::check(
                at,
                first,
                values,
                inside,
                "a share must be between 0 and 1, neither included",
                remedy,
            )
        }
        _ => Ok(()),
    }
}

/// Refuses trials that are no whole numbers, and events that are neither 0 nor 1.
pub(crate) fn check_beside(
    at: Named<'_>,
    first: usize,
    values: &[f64],
    kind: Option<ResponseKind>,
) -> Result<()> {
    if kind == Some(ResponseKind::Time) {
        let problem = "an event must be 0 (the time is censored) or 1";
        return super::check(
            at,
            first,
            values,
            |_, e| e == 0.0 || e == 1.0,
            problem,
            "mend the value, or drop the row",
        );
    }
    let whole = |_, t: f64| t >= 1.0 && t.fract() == 0.0;
    super::check(at, first, values, whole, "trials must be 1, 2, 3, …", "drop the row or mend the value")
}

fn warn_all_equal(name: &str, value: f64) -> String {
    format!("the response `{name}` is {value} in every row: the prior decides, not the data")
}

fn nothing_to_explain(at: Named<'_>, value: &str) -> Error {
    role(
        at.file,
        at.name,
        format!("the response is {value} in every row: there is nothing to explain"),
        "check the column and how the rows were selected",
    )
}
