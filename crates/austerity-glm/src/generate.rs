//! Synthetic regression data with known coefficients, for demonstrations, tests and benchmarks.
//!
//! Dense features x1, x2, … are standard normal, independent or with correlation .5^|j−k| (first-order
//! autoregression); rare features rare1, rare2, … are 1 in 10 to 200 rows, log-spaced, and 0 elsewhere: the data on
//! which a Laplace approximation fails and a test that samples rows must not be blind.
//!
//! | responses | intercept | dense coefficients | rare coefficients |
//! |---|---|---|---|
//! | 0 or 1 | 0, or −3 with rare features | N(0, .3²) | N(0, 1.5²) |
//! | real, ordered levels | 1 | N(0, .3²) | N(0, 1.5²) |
//! | shares | 0 | N(0, .3²) | N(0, 1.5²) |
//! | counts, positive, times | .5 | N(0, .1²) | N(0, .5²) |
//!
//! The law of a response is that of its family ([`AnyFamily`]), extra parameters at their typical values: σ = 1, φ = 2.
//!
//! Beyond 24 dense features their coefficients shrink by √(24/features), so that the linear predictor keeps its
//! spread. Everything is a function of the settings and the seed: coefficients first, then the places of the rare
//! features, then row by row. Cost: one normal draw per value.

use rand_distr::{Distribution as _, StandardNormal};

use crate::data::RARE_SHARE;
use crate::glm::{AnyFamily, Family, Logistic, MOST_EXTRA, Visitor};
use crate::{Data, ResponseKind};
use austerity::error::{Error, Result, setting};
use austerity::model::check_rows;
use austerity::rng::{Rng, Role, stream};

/// Fewest and most rows in which a rare feature is present.
const RARE_ROWS: (f64, f64) = (10.0, 200.0);

/// Dense features up to which coefficients keep their full size.
const FULL_SIZE_FEATURES: f64 = 24.0;

/// Autocorrelation of neighbouring dense features when they are correlated.
const NEIGHBOURS: f64 = 0.5;

/// The law of the responses.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// A family, its extra parameters at their typical values.
    Family(AnyFamily),
    /// Normal with standard deviation 1.
    Normal,
}

/// What to generate; made by [`logistic`], [`linear`] or [`of`].
///
/// ```
/// use austerity_glm::generate;
/// let made = generate::logistic(1000, 5).rare(2).correlated(true).seed(7).build()?;
/// assert_eq!(made.coefficients.len(), 1 + 5 + 2);
/// # Ok::<(), austerity::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generate {
    law: Law,
    rows: usize,
    features: usize,
    rare: usize,
    correlated: bool,
    seed: u64,
}

/// Data and the coefficients they were made with.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The data, not yet checked.
    pub data: Data,
    /// The true coefficients: intercept, dense features, rare features.
    pub coefficients: Vec<f64>,
}

/// Responses of any family.
#[must_use]
pub fn of(family: impl Into<AnyFamily>, rows: usize, features: usize) -> Generate {
    Generate::new(Law::Family(family.into()), rows, features)
}

/// Binary responses, logit link.
#[must_use]
pub fn logistic(rows: usize, features: usize) -> Generate {
    of(Logistic, rows, features)
}

/// Real responses, normal noise.
#[must_use]
pub fn linear(rows: usize, features: usize) -> Generate {
    Generate::new(Law::Normal, rows, features)
}

impl Generate {
    fn new(law: Law, rows: usize, features: usize) -> Self {
        Self { law, rows, features, rare: 0, correlated: false, seed: 0 }
    }

    /// Rare binary features, in addition to the dense ones (none unless told otherwise).
    #[must_use]
    pub fn rare(mut self, rare: usize) -> Self {
        self.rare = rare;
        self
    }

    /// Whether neighbouring dense features have correlation .5 (they have none unless told otherwise).
    #[must_use]
    pub fn correlated(mut self, correlated: bool) -> Self {
        self.correlated = correlated;
        self
    }

    /// Seed (0 unless told otherwise).
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the data.
    pub fn build(&self) -> Result<Generated> {
        check_rows(self.rows)?;
        let least = (RARE_ROWS.0 / RARE_SHARE) as usize;
        if self.rare > 0 && self.rows < least {
            let allowed = format!("at least {least}, for rare features in {} rows to be rare", RARE_ROWS.0);
            return Err(setting("rows", self.rows, &allowed));
        }
        let mut rng = stream(self.seed, 0, Role::Data);
        let coefficients = self.coefficients(&mut rng);
        let mut columns = vec![Vec::with_capacity(self.rows); self.features];
        let rare_columns = self.rare_columns(&mut rng);
        let (dense, rare) = coefficients[1..].split_at(self.features);
        let keep = (1.0 - NEIGHBOURS * NEIGHBOURS).sqrt();
        let mut response = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            let (mut predictor, mut previous) = (coefficients[0], None);
            for (column, coefficient) in columns.iter_mut().zip(dense) {
                let fresh: f64 = StandardNormal.sample(&mut rng);
                let value = match previous {
                    Some(neighbour) if self.correlated => NEIGHBOURS * neighbour + keep * fresh,
                    _ => fresh,
                };
                predictor += coefficient * value;
                previous = Some(value);
                column.push(value);
            }
            for (column, coefficient) in rare_columns.iter().zip(rare) {
                predictor += coefficient * column[row];
            }
            let drawn = self.draw(predictor, &mut rng);
            if drawn.is_nan() {
                return Err(impossible(&predictor));
            }
            response.push(drawn);
        }
        columns.extend(rare_columns);
        let names = (1..=self.features).map(|j| format!("x{j}"));
        let names = names.chain((1..=self.rare).map(|j| format!("rare{j}")));
        Ok(Generated { data: Data::new(names, columns, response), coefficients })
    }

    /// Which responses it makes.
    #[must_use]
    pub fn kind(&self) -> ResponseKind {
        match self.law {
            Law::Family(family) => family.facts().kind,
            Law::Normal => ResponseKind::Real,
        }
    }

    /// A response; NaN where it is beyond the range of the sampler.
    fn draw(&self, predictor: f64, rng: &mut Rng) -> f64 {
        match self.law {
            Law::Family(family) => family.visit(Draw { predictor, rng }),
            Law::Normal => {
                let noise: f64 = StandardNormal.sample(rng);
                predictor + noise
            }
        }
    }

    fn coefficients(&self, rng: &mut Rng) -> Vec<f64> {
        let (intercept, dense, rare) = match self.kind() {
            ResponseKind::Binary | ResponseKind::CountOfTrials if self.rare > 0 => (-3.0, 0.3, 1.5),
            ResponseKind::Binary | ResponseKind::CountOfTrials => (0.0, 0.3, 1.5),
            ResponseKind::Share => (0.0, 0.3, 1.5),
            ResponseKind::Real | ResponseKind::Ordered => (1.0, 0.3, 1.5),
            ResponseKind::Count | ResponseKind::Positive | ResponseKind::Time => (0.5, 0.1, 0.5),
        };
        let shrink = (FULL_SIZE_FEATURES / self.features.max(1) as f64).sqrt().min(1.0);
        let mut coefficients = vec![intercept];
        for j in 0..self.features + self.rare {
            let size = if j < self.features { dense * shrink } else { rare };
            let draw: f64 = StandardNormal.sample(rng);
            coefficients.push(size * draw);
        }
        coefficients
    }

    /// Each present in its number of rows, chosen without replacement; never in more than a tenth of them.
    fn rare_columns(&self, rng: &mut Rng) -> Vec<Vec<f64>> {
        let most = (RARE_SHARE * self.rows as f64) as usize;
        let ratio = RARE_ROWS.1 / RARE_ROWS.0;
        (0..self.rare)
            .map(|k| {
                let place = if self.rare > 1 { k as f64 / (self.rare - 1) as f64 } else { 0.5 };
                let count = (RARE_ROWS.0 * ratio.powf(place)).round() as usize;
                let mut column = vec![0.0; self.rows];
                for row in rand::seq::index::sample(rng, self.rows, count.min(most)) {
                    column[row] = 1.0;
                }
                column
            })
            .collect()
    }
}

struct Draw<'a> {
    predictor: f64,
    rng: &'a mut Rng,
}

impl Visitor for Draw<'_> {
    type Output = f64;

    fn visit<F: Family>(self, family: F) -> f64 {
        let mut extra = [0.0; MOST_EXTRA];
        extra.iter_mut().zip(family.extra()).for_each(|(slot, extra)| *slot = extra.typical.ln());
        family.sample(self.rng, self.predictor, &extra[..family.extra().len()], 1.0)
    }
}

/// An overflow of the linear predictor, which the sizes above leave to numbers of features beyond reach.
fn impossible(why: &impl std::fmt::Display) -> Error {
    setting("features", why, "few enough for a finite response")
}

#[cfg(test)]
mod tests;
