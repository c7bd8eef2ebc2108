//! Synthetic regression data with known coefficients, for demonstrations, tests and benchmarks.
//!
//! Dense features x1, x2, … are standard normal, independent or with correlation .5^|j−k| (first-order
//! autoregression); rare features rare1, rare2, … are 1 in 10 to 200 rows, log-spaced, and 0 elsewhere: the data on
//! which a Laplace approximation fails and a test that samples rows must not be blind.
//!
//! | family | intercept | dense coefficients | rare coefficients | response |
//! |---|---|---|---|---|
//! | logistic | 0, or −3 with rare features | N(0, .3²) | N(0, 1.5²) | 0 or 1 |
//! | linear | 1 | N(0, .3²) | N(0, 1.5²) | normal, noise sd 1 |
//! | Poisson | .5 | N(0, .1²) | N(0, .5²) | counts, log link |
//! | Student | 1 | N(0, .3²) | N(0, 1.5²) | Student t with 4 degrees of freedom, scale 1 |
//!
//! Beyond 24 dense features their coefficients shrink by √(24/features), so that the linear predictor keeps its
//! spread. Everything is a function of the settings and the seed: coefficients first, then the places of the rare
//! features, then row by row. Cost: one normal draw per value.

use rand::RngExt as _;
use rand_distr::{Distribution as _, Poisson, StandardNormal, StudentT};

use crate::error::{Error, Result, setting};
use crate::model::Data;
use crate::model::data::{RARE_SHARE, check_rows};
use crate::rng::{Rng, Role, stream};

/// Fewest and most rows in which a rare feature is present.
const RARE_ROWS: (f64, f64) = (10.0, 200.0);

/// Dense features up to which coefficients keep their full size.
const FULL_SIZE_FEATURES: f64 = 24.0;

/// Autocorrelation of neighbouring dense features when they are correlated.
const NEIGHBOURS: f64 = 0.5;

/// Degrees of freedom of the Student family's noise.
const FREEDOM: f64 = 4.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Logistic,
    Linear,
    Poisson,
    Student,
}

/// What to generate; made by [`logistic`], [`linear`], [`poisson`] or [`student`].
///
/// ```
/// use austerity::model::generate;
/// let made = generate::logistic(1000, 5).rare(2).correlated(true).seed(7).build()?;
/// assert_eq!(made.coefficients.len(), 1 + 5 + 2);
/// # Ok::<(), austerity::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generate {
    family: Family,
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

/// Binary responses, logit link.
#[must_use]
pub fn logistic(rows: usize, features: usize) -> Generate {
    Generate::new(Family::Logistic, rows, features)
}

/// Real responses, normal noise.
#[must_use]
pub fn linear(rows: usize, features: usize) -> Generate {
    Generate::new(Family::Linear, rows, features)
}

/// Counts, log link.
#[must_use]
pub fn poisson(rows: usize, features: usize) -> Generate {
    Generate::new(Family::Poisson, rows, features)
}

/// Real responses, heavy-tailed noise.
#[must_use]
pub fn student(rows: usize, features: usize) -> Generate {
    Generate::new(Family::Student, rows, features)
}

impl Generate {
    fn new(family: Family, rows: usize, features: usize) -> Self {
        Self { family, rows, features, rare: 0, correlated: false, seed: 0 }
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
        let student = StudentT::new(FREEDOM).map_err(|e| impossible(&e))?;
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
            response.push(match self.family {
                Family::Logistic => {
                    f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-predictor).exp())))
                }
                Family::Linear => {
                    let noise: f64 = StandardNormal.sample(&mut rng);
                    predictor + noise
                }
                Family::Poisson => {
                    Poisson::new(predictor.exp()).map_err(|e| impossible(&e))?.sample(&mut rng)
                }
                Family::Student => predictor + student.sample(&mut rng),
            });
        }
        columns.extend(rare_columns);
        let names = (1..=self.features).map(|j| format!("x{j}"));
        let names = names.chain((1..=self.rare).map(|j| format!("rare{j}")));
        Ok(Generated { data: Data::new(names, columns, response), coefficients })
    }

    fn coefficients(&self, rng: &mut Rng) -> Vec<f64> {
        let (intercept, dense, rare) = match self.family {
            Family::Logistic if self.rare > 0 => (-3.0, 0.3, 1.5),
            Family::Logistic => (0.0, 0.3, 1.5),
            Family::Linear | Family::Student => (1.0, 0.3, 1.5),
            Family::Poisson => (0.5, 0.1, 0.5),
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

/// An overflow of the linear predictor, which the sizes above leave to numbers of features beyond reach.
fn impossible(why: &impl std::fmt::Display) -> Error {
    setting("features", why, "few enough for a finite response")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::data::mean_and_sd;
    use crate::model::{Linear, Noise, Prior, ResponseKind, find_mode};

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        let ((ma, sa), (mb, sb)) = (mean_and_sd(a), mean_and_sd(b));
        let products = a.iter().zip(b).map(|(x, y)| (x - ma) * (y - mb));
        products.sum::<f64>() / (a.len() as f64 * sa * sb)
    }

    /// N = 40,000: means, sds and correlations within 4.5 standard errors; about 40 comparisons, false-alarm
    /// rate ≤ 40 · 7e-6 = 3e-4; the seeds are fixed.
    #[test]
    fn features_have_the_moments_they_should() {
        let n = 40_000;
        let error = 4.5 / (n as f64).sqrt();
        for correlated in [false, true] {
            let made = linear(n, 4).correlated(correlated).seed(5).build().unwrap();
            let columns = made.data.columns();
            for (j, column) in columns.iter().enumerate() {
                let (mean, sd) = mean_and_sd(column);
                assert!(mean.abs() < error && (sd - 1.0).abs() < error);
                for (k, other) in columns.iter().enumerate().skip(j + 1) {
                    let expected = if correlated { 0.5f64.powi((k - j) as i32) } else { 0.0 };
                    assert!((correlation(column, other) - expected).abs() < error);
                }
            }
        }
    }

    #[test]
    fn rare_features_have_log_spaced_counts() {
        let made = logistic(20_000, 3).rare(15).seed(1).build().unwrap();
        let columns = &made.data.columns()[3..];
        let counts: Vec<f64> = columns.iter().map(|c| c.iter().sum()).collect();
        assert_eq!((counts[0], counts[7], counts[14]), (10.0, 45.0, 200.0));
        assert!(counts.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(counts.iter().sum::<f64>(), 995.0); // as in the data of the hard case
        assert_eq!(made.data.column_names()[3], "rare1");
        let checked = made.data.check(ResponseKind::Binary).unwrap();
        assert!(checked.shift[3..].iter().all(|&s| s == 0.0));
        let small = poisson(100, 1).rare(3).build().unwrap();
        assert_eq!(small.data.columns()[3].iter().sum::<f64>(), 10.0);
    }

    /// Each family's mean response against the mean of its rows' expectations, within 4.5 standard errors of
    /// the difference (known per row): false-alarm rate ≤ 4 · 7e-6.
    #[test]
    fn responses_follow_the_true_coefficients() {
        let n = 20_000;
        for (settings, kind) in [
            (logistic(n, 6), ResponseKind::Binary),
            (linear(n, 6), ResponseKind::Real),
            (poisson(n, 6), ResponseKind::Count),
            (student(n, 6), ResponseKind::Real),
        ] {
            let made = settings.correlated(true).seed(3).build().unwrap();
            let checked = made.data.check(kind).unwrap();
            assert!(checked.warnings.is_empty());
            let (mut off, mut variance) = (0.0, 0.0);
            for i in 0..n {
                let columns = checked.columns.iter().zip(&made.coefficients[1..]);
                let predictor = made.coefficients[0] + columns.map(|(c, b)| c[i] * b).sum::<f64>();
                let (mean, spread) = match settings.family {
                    Family::Logistic => {
                        let p = 1.0 / (1.0 + (-predictor).exp());
                        (p, p * (1.0 - p))
                    }
                    Family::Linear => (predictor, 1.0),
                    Family::Poisson => (predictor.exp(), predictor.exp()),
                    Family::Student => (predictor, FREEDOM / (FREEDOM - 2.0)),
                };
                off += checked.response[i] - mean;
                variance += spread;
            }
            assert!(off.abs() < 4.5 * variance.sqrt(), "{settings:?}: {off} ± {}", variance.sqrt());
        }
    }

    /// Least squares finds the true coefficients again: 6 z-values below 4.5, false-alarm rate 4e-5.
    #[test]
    fn least_squares_recovers_the_coefficients() {
        let made = linear(5000, 5).seed(8).build().unwrap();
        let checked = made.data.check(ResponseKind::Real).unwrap();
        let model = Linear::summarized(&checked, &[Prior::Flat; 6], Noise::Known { sd: 1.0 }).unwrap();
        let mode = find_mode(&model, &[0.0; 6]).unwrap();
        for (j, truth) in made.coefficients.iter().enumerate() {
            let z = (mode.state[j] - truth) / mode.covariance[j * 7].sqrt();
            assert!(z.abs() < 4.5, "{j}: {z}");
        }
    }

    #[test]
    fn settings_and_seed_fix_everything() {
        let settings = student(200, 3).rare(2).seed(4);
        assert_eq!(settings.build().unwrap(), settings.build().unwrap());
        assert_ne!(settings.build().unwrap(), settings.seed(5).build().unwrap());
        assert_eq!(linear(0, 3).build().unwrap_err(), Error::EmptyData);
        let message = linear(50, 1).rare(1).build().unwrap_err().to_string();
        assert!(message.contains("50") && message.contains("100"), "{message}");
        assert!(linear(5, 0).build().unwrap().data.check(ResponseKind::Real).is_ok());
    }
}
