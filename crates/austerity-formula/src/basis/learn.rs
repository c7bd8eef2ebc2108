//! Passes over the data that find what a basis needs: means, ranges, moments, knots. Partial answers of parts of the data merge.
//!
//! | factor | passes |
//! |---|---|
//! | `scale`, `center` | one: number, mean, spread |
//! | `poly` | two: range, then sums of Chebyshev polynomials |
//! | `bs` with given knots | one: range |
//! | `bs` by quantiles | three, at most five: range, then order statistics |
//! | `cr` | the same; of columns with at most [`MOST_DISTINCT`] distinct values, quantiles of the distinct ones, in one pass |
//!
//! The driver of passes calls [`Learner::partial`], adds the values of a part, merges the partials in a fixed order, and asks
//! [`Learner::advance`] what is next.

use std::collections::BTreeSet;
use std::fmt;

use super::polynomial::{Orthogonal, add_moments};
use super::quantile::{Counts, Search, between, key, value};
use super::{BSplines, Basis, NaturalCubic};
use crate::factor::{Factor, Spline};

/// Distinct values up to which natural splines take their quantiles.
pub const MOST_DISTINCT: usize = 65_536;

/// Why a basis cannot be made of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trouble {
    /// There is no value.
    Empty,
    /// All values are the same.
    Constant,
    /// Too few distinct values for the degree or the number of columns.
    FewDistinct,
    /// A given knot outside the range of the data.
    KnotOutside {
        /// The knot.
        knot: f64,
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
    },
}

impl Trouble {
    /// Says what is wrong with the values of a factor.
    pub(crate) fn write(&self, factor: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "{factor} has no values"),
            Self::Constant => write!(f, "{factor} has the same value in every row; leave it out"),
            Self::FewDistinct => {
                write!(f, "{factor} has too few different values for so many columns; ask for fewer columns")
            }
            Self::KnotOutside { knot, low, high } => write!(
                f,
                "the knot {knot} of {factor} is outside of the data, which range from {low} to {high}; give knots within"
            ),
        }
    }
}

/// Number, mean, spread and range.
#[derive(Clone, Debug, PartialEq)]
struct Spread {
    count: u64,
    mean: f64,
    squares: f64,
    low: f64,
    high: f64,
    /// The distinct values, in order of their bits, unless there are too many.
    distinct: Option<BTreeSet<u64>>,
}

/// The answer of some of the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial(Answer);

#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Spread(Spread),
    Moments(Vec<f64>),
    Ranks(Counts),
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Spread,
    Moments(Spread),
    Ranks(Spread, Search),
}

/// Learns the basis of a factor, pass by pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    factor: Factor,
    stage: Stage,
}

/// What follows a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Another pass.
    Again(Learner),
    /// The basis.
    Done(Basis),
}

impl Learner {
    /// What must be learnt about a factor; or its basis, where that is nothing.
    #[must_use]
    pub fn begin(factor: &Factor) -> Step {
        match factor {
            Factor::Column(_) | Factor::Levels { .. } | Factor::Number(_) => Step::Done(Basis::Plain),
            Factor::Polynomial { degree, raw: true, .. } => Step::Done(Basis::Powers(*degree)),
            Factor::Scaled { .. } | Factor::Polynomial { .. } | Factor::Spline { .. } => {
                Step::Again(Self { factor: factor.clone(), stage: Stage::Spread })
            }
        }
    }

    /// An empty answer.
    #[must_use]
    pub fn partial(&self) -> Partial {
        Partial(match &self.stage {
            Stage::Spread => Answer::Spread(Spread {
                count: 0,
                mean: 0.0,
                squares: 0.0,
                low: f64::INFINITY,
                high: f64::NEG_INFINITY,
                distinct: self.counts_distinct().then(BTreeSet::new),
            }),
            Stage::Moments(_) => Answer::Moments(vec![0.0; 2 * self.factor.width() + 1]),
            Stage::Ranks(_, search) => Answer::Ranks(search.counts()),
        })
    }

    /// Adds a finite value to an answer.
    pub fn add(&self, partial: &mut Partial, x: f64) {
        match (&self.stage, &mut partial.0) {
            (Stage::Spread, Answer::Spread(spread)) => spread.add(x),
            (Stage::Moments(spread), Answer::Moments(sums)) => {
                let (middle, half) = (0.5 * (spread.low + spread.high), 0.5 * (spread.high - spread.low));
                add_moments((x - middle) / half, sums);
            }
            (Stage::Ranks(_, search), Answer::Ranks(counts)) => search.add(counts, x),
            _ => {}
        }
    }

    /// What follows from the answer of all values.
    pub fn advance(&self, all: Partial) -> Result<Step, Trouble> {
        match (&self.stage, all.0) {
            (Stage::Spread, Answer::Spread(spread)) => self.after_spread(spread),
            (Stage::Moments(spread), Answer::Moments(sums)) => {
                let learnt = Orthogonal::from_moments(spread.low, spread.high, &sums);
                learnt.map(|basis| Step::Done(Basis::Orthogonal(basis))).ok_or(Trouble::FewDistinct)
            }
            (Stage::Ranks(spread, search), Answer::Ranks(counts)) => {
                let search = search.advance(counts);
                match search.found() {
                    None => Ok(self.again(Stage::Ranks(spread.clone(), search))),
                    Some(found) => {
                        let at = |share: f64| {
                            let (low, high, after) = between(share, spread.count);
                            let (low, high) = (found[&low], found[&high]);
                            low + (high - low) * after
                        };
                        self.splines(spread, &self.shares().map(at).collect::<Vec<f64>>())
                    }
                }
            }
            // An answer to another question: ask again.
            _ => Ok(Step::Again(self.clone())),
        }
    }

    fn again(&self, stage: Stage) -> Step {
        Step::Again(Self { factor: self.factor.clone(), stage })
    }

    fn counts_distinct(&self) -> bool {
        matches!(&self.factor, Factor::Spline { kind: Spline::NaturalCubic, knots, .. } if knots.is_empty())
    }

    fn after_spread(&self, spread: Spread) -> Result<Step, Trouble> {
        if spread.count == 0 {
            return Err(Trouble::Empty);
        }
        if spread.low == spread.high {
            return Err(Trouble::Constant);
        }
        match &self.factor {
            Factor::Scaled { scale, .. } => {
                // Divisor n − 1, as R and formulaic have it.
                let sd = (spread.squares / (spread.count - 1) as f64).sqrt();
                Ok(Step::Done(Basis::Scaled { shift: spread.mean, scale: if *scale { sd } else { 1.0 } }))
            }
            Factor::Polynomial { .. } => Ok(self.again(Stage::Moments(spread))),
            Factor::Spline { knots, .. } if !knots.is_empty() => {
                let outside = knots.iter().find(|knot| **knot <= spread.low || **knot >= spread.high);
                match outside {
                    Some(&knot) => Err(Trouble::KnotOutside { knot, low: spread.low, high: spread.high }),
                    None => self.splines(&spread, knots),
                }
            }
            _ => match &spread.distinct {
                Some(distinct) => {
                    let values: Vec<f64> = distinct.iter().map(|bits| value(*bits)).collect();
                    let at = |share: f64| {
                        let (low, high, after) = between(share, values.len() as u64);
                        values[low as usize] + (values[high as usize] - values[low as usize]) * after
                    };
                    self.splines(&spread, &self.shares().map(at).collect::<Vec<f64>>())
                }
                None => {
                    let ranks: BTreeSet<u64> = self
                        .shares()
                        .flat_map(|share| {
                            let (low, high, _) = between(share, spread.count);
                            [low, high]
                        })
                        .collect();
                    let ranks: Vec<u64> = ranks.into_iter().collect();
                    if ranks.is_empty() {
                        return self.splines(&spread, &[]);
                    }
                    let search = Search::new(&ranks, spread.count);
                    Ok(self.again(Stage::Ranks(spread, search)))
                }
            },
        }
    }

    /// The shares of the values below the inner knots.
    fn shares(&self) -> impl Iterator<Item = f64> + use<> {
        let inner = match &self.factor {
            Factor::Spline { kind: Spline::B, columns, degree, .. } => columns - degree,
            Factor::Spline { columns, .. } => columns - 2,
            _ => 0,
        };
        (1..=inner).map(move |number| number as f64 / (inner + 1) as f64)
    }

    fn splines(&self, spread: &Spread, inner: &[f64]) -> Result<Step, Trouble> {
        let all: Vec<f64> =
            std::iter::once(spread.low).chain(inner.iter().copied()).chain([spread.high]).collect();
        if all.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Trouble::FewDistinct);
        }
        Ok(Step::Done(match &self.factor {
            Factor::Spline { kind: Spline::NaturalCubic, .. } => Basis::NaturalCubic(NaturalCubic::new(all)),
            Factor::Spline { degree, .. } => Basis::B(BSplines::new(*degree, inner, spread.low, spread.high)),
            _ => Basis::Plain,
        }))
    }
}

impl Partial {
    /// Adds another part's answer to the same question.
    pub fn merge(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (Answer::Spread(mine), Answer::Spread(theirs)) => mine.merge(theirs),
            (Answer::Moments(mine), Answer::Moments(theirs)) => {
                mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
            }
            (Answer::Ranks(mine), Answer::Ranks(theirs)) => mine.merge(theirs),
            _ => {}
        }
    }
}

impl Spread {
    fn add(&mut self, x: f64) {
        self.count += 1;
        let step = x - self.mean;
        self.mean += step / self.count as f64;
        self.squares += step * (x - self.mean);
        self.low = self.low.min(x);
        self.high = self.high.max(x);
        if let Some(distinct) = &mut self.distinct {
            distinct.insert(key(x));
        }
        self.limit();
    }

    /// Chan, Golub & LeVeque (1983).
    fn merge(&mut self, other: Self) {
        let count = self.count + other.count;
        if count == 0 {
            return;
        }
        let step = other.mean - self.mean;
        let share = other.count as f64 / count as f64;
        self.mean += step * share;
        self.squares += other.squares + step * step * self.count as f64 * share;
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.distinct = match (self.distinct.take(), other.distinct) {
            (Some(mut mine), Some(theirs)) => {
                mine.extend(theirs);
                Some(mine)
            }
            _ => None,
        };
        self.count = count;
        self.limit();
    }

    fn limit(&mut self) {
        if self.distinct.as_ref().is_some_and(|distinct| distinct.len() > MOST_DISTINCT) {
            self.distinct = None;
        }
    }
}
