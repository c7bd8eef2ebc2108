//! Can a test stop without having met the rows that matter?
//!
//! A batch of n of N rows typically misses the N/n rows that weigh most (up to n = N/2: beyond, any row is rather met
//! than missed). What it then misses of the total is harmless
//! while it is within the standard error that the batch claims; beyond, the test is *blind*: it stops, sure of itself,
//! on a number that is wrong by more than it knows, and no look at the sample can tell. So the question is put
//! to all rows beforehand, with weights that bound what a row can add.
//!
//! **Residuals of a second-order expansion** at the mode, K rows of a certainty stratum apart (score s of a row: the third-order
//! term; E h⁶ = 15 lev⁶, two states):
//!
//! ```text
//! se_n(K)    = √(30·(N−K)·Σ_rest s²/n · (1 − n/(N−K)))            rest: all but the stratum
//! blind_n(K) = √30 · Σ s over the N/n heaviest rows of the rest
//! blind at K:  blind_n(K) > max(τ, se_n(K) without those rows) at some look n
//! rows read:   n_τ(K) = the n ≥ m with se_n(K) ≤ τ;    K minimises g·K + n_τ(K) among those that are not blind
//! ```
//!
//! 30 is that of two independent draws; short moves change h³ less. With e the mean square of a step per direction, in posterior variances, E(h'³ − h³)² = 30·(.9e + 1.5e² + .5e³)·lev⁶
//! and, of the h⁴ that a third order leaves, E(h'⁴ − h⁴)² = 192·(1.25e + 3.19e² + 2.19e³ + .55e⁴)·lev⁸, 192 for independent draws: the larger of the two ratios is taken ([`ResidualTest::for_walk`]). A walk's log ratios are
//! of the order of 1, so that most of its decisions are clear long before τ: with κ² = V·Σ_rest s², G the critical value and f the density of log ratio less threshold at a
//! tie, m + π·f·G·κ·N rows are read on average, where that is less than n_τ.
//!
//! **Raw differences** under steps ρ·C z of a random walk, ρ = 2.38/√d: the difference of row i is about l'·(x·step), of sd
//! v = ρ·slope·lev. Hence κ ≈ √Σv², se_n = √(N·Σ_rest v²/n·(1 − n/N)), and blind_n = Σ v over the N/n largest. By
//! Cauchy & Schwarz blind_n/se_n is at most √(h/(1−h)) (up to the finite-population factor), h the share of Σv² in those
//! rows, and the batch claims √(1−h) of the true standard error. h above 0.2, 12 % too small a standard error, is called short-sighted:
//! a larger first look is the cure. l''' = 0 in Gaussian linear regression: nothing is left for a surrogate to miss, and
//! its decisions need no sample at all.
//!
//! Bounds, not predictions: each row at its worst within two posterior sds, all with one sign. Predicted standard errors are
//! within a factor of about 3 of measured ones. Cost: a sort of N numbers, then cap·looks operations.

use super::heavy::{Above, heavier_than};
use crate::pass::Driver;
use austerity::error::{Result, setting};
use austerity::rule::{Looks, SequentialSettings};
use serde::{Deserialize, Serialize};

/// E of the squared difference of h³ at two states, in units of lev⁶: 2·15.
const CUBES: f64 = 30.0;
/// Coefficients of e, e², e³, e⁴ in what a walk has of that for h⁴, which is more than for h³: (240, 612, 420, 105)/192.
const WALK: [f64; 4] = [1.25, 3.1875, 2.1875, 0.546_875];
/// The least that any walk is taken to have.
const LEAST: f64 = 1e-9;
/// The density of a walk's ties, and the critical value of the usual ε = 0.01.
const TIES: f64 = 0.3;
const CRITICAL: f64 = 2.33;
/// Measured standard errors are about that much smaller than predicted ones, which are bounds.
const BOUNDED: f64 = 3.0;
/// Share of Σv² that a first look may miss.
const SHARE_LIMIT: f64 = 0.2;
/// Growth of the looks at which a raw test is looked at.
const RAW_GROWTH: f64 = 1.5;

/// The test on residuals that a check has in mind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResidualTest {
    /// Rows of the first look.
    pub first: usize,
    /// Growth of the looks.
    pub growth: f64,
    /// τ: the standard error of the total at which a test stops.
    pub tolerance: f64,
    /// g: passes over the stratum per decision.
    pub evaluations: f64,
    /// Most rows of a stratum.
    pub largest_stratum: usize,
    /// Mean square of what a move changes, in units of that between independent draws.
    pub moves: f64,
    /// The density of log ratio less threshold at a tie, where decisions are mostly ended by the bound of the test; otherwise τ is waited for.
    pub ties: Option<f64>,
}

impl Default for ResidualTest {
    fn default() -> Self {
        Self {
            first: SequentialSettings::RESIDUAL_FIRST_LOOK,
            growth: SequentialSettings::RESIDUAL_GROWTH,
            tolerance: SequentialSettings::RESIDUAL_TOLERANCE,
            evaluations: 5.0,
            largest_stratum: 20_000,
            moves: 1.0,
            ties: None,
        }
    }
}

/// What a batch misses against what it believes, at the worst look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blindness {
    /// The look, in rows.
    pub look: usize,
    /// Total that the rows typically missed can add.
    pub missed: f64,
    /// The standard error that a batch without them claims, or τ if that is larger.
    pub believed: f64,
}

impl Blindness {
    /// What is missed over what is believed; 0 when nothing can be missed, infinite when nothing is believed.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.missed > 0.0 { self.missed / self.believed } else { 0.0 }
    }

    /// Whether a test may stop on a number that is wrong by more than it knows.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        self.ratio() > 1.0
    }
}

/// A certainty stratum: the rows with the largest scores, always read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stratum {
    /// K.
    pub rows: usize,
    /// se_m(K): predicted standard error of the total at the first look.
    pub standard_error: f64,
    /// n_τ(K): rows sampled until the standard error is τ, or until decisions are clear, where that is less.
    pub rows_to_tolerance: f64,
    /// At the worst look.
    pub blindness: Blindness,
}

impl Stratum {
    /// g·K + n_τ: rows read per decision.
    pub(crate) fn cost(&self, settings: &ResidualTest) -> f64 {
        settings.evaluations * self.rows as f64 + self.rows_to_tolerance
    }
}

/// What a test on residuals of a second-order expansion meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurrogateBlindness {
    /// Without a stratum, K = 0.
    pub without: Stratum,
    /// The cheapest stratum that is not blind; `None` if there is none within the limit.
    pub chosen: Option<Stratum>,
}

/// What a test on raw differences meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawBlindness {
    /// The first look, in rows.
    pub first: usize,
    /// κ by the spreads: an upper estimate.
    pub kappa: f64,
    /// At the worst look.
    pub blindness: Blindness,
    /// h at the first look: share of Σv² in the rows typically missed.
    pub missed_share: f64,
    /// The first look at which h ≤ 0.2; `None` when a single row has more.
    pub sound_from: Option<usize>,
}

/// Scores of N rows of which only the largest are kept, in falling order, and the sums of the others.
#[derive(Clone, Debug)]
pub struct Falling {
    rows: usize,
    tails: Tails,
}

impl Falling {
    /// The scores of all rows, for strata of at most `largest` rows and a first look at `first`.
    #[must_use]
    pub fn new(scores: &[f32], largest: usize, first: usize) -> Self {
        Self::on(&Driver::default(), scores, largest, first)
    }

    /// The same on the threads of a driver.
    pub(crate) fn on(driver: &Driver, scores: &[f32], largest: usize, first: usize) -> Self {
        let rows = scores.len();
        let head = largest.saturating_add(rows.div_ceil(first.max(1))).min(rows);
        let Above { mut list, sum, square } = heavier_than(driver, scores, head);
        list.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (top, rest) = list.split_at(head);
        let falling: Vec<f64> = top.iter().map(|&(score, _)| f64::from(score)).collect();
        // From the small end.
        let (mut sum, mut square) = (sum, square);
        for &(score, _) in rest.iter().rev() {
            sum += f64::from(score);
            square += f64::from(score).powi(2);
        }
        Self { rows, tails: Tails::over(&falling, sum, square) }
    }

    /// What a stratum of the `apart` heaviest rows does for a test.
    pub fn stratum(&self, apart: usize, settings: &ResidualTest) -> Result<Stratum> {
        let looks = settings.looks(self.rows)?;
        Ok(self.stratum_at(apart.min(self.rows), settings, &looks))
    }

    /// √(mean square) of the scores outside a stratum of the `apart` heaviest rows.
    #[must_use]
    pub fn root_mean_square(&self, apart: usize) -> f64 {
        let apart = apart.min(self.tails.squares.len() - 1);
        (self.tails.squares[apart] / (self.rows - apart).max(1) as f64).sqrt()
    }

    fn rows_to_tolerance(&self, apart: usize, settings: &ResidualTest) -> f64 {
        settings.rows_read((self.rows - apart) as f64, self.tails.squares[apart])
    }

    fn stratum_at(&self, apart: usize, settings: &ResidualTest, looks: &[usize]) -> Stratum {
        let apart = apart.min(self.tails.squares.len() - 1);
        Stratum {
            rows: apart,
            standard_error: standard_error(
                settings.variance() * self.tails.squares[apart],
                self.rows - apart,
                settings.first,
            ),
            rows_to_tolerance: self.rows_to_tolerance(apart, settings),
            blindness: self.tails.worst(looks, self.rows, apart, settings.variance(), settings.tolerance),
        }
    }
}

/// Positions of the `count` rows with the largest scores, ascending. Ties go to the earlier row.
pub(crate) fn heaviest(driver: &Driver, scores: &[f32], count: usize) -> Vec<u32> {
    let count = count.min(scores.len());
    let mut list = heavier_than(driver, scores, count).list;
    list.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut positions: Vec<u32> = list[..count].iter().map(|&(_, position)| position).collect();
    positions.sort_unstable();
    positions
}

/// Sums from the k-th largest number on, for k up to a head.
#[derive(Clone, Debug)]
struct Tails {
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Tails {
    /// Of numbers in falling order. Summed from the small end, so that the heaviest rows cost the rest no digits.
    fn new(falling: &[f64], head: usize) -> Self {
        let head = head.min(falling.len());
        let (mut sum, mut square) = (0.0, 0.0);
        for value in falling[head..].iter().rev() {
            sum += value;
            square += value * value;
        }
        Self::over(&falling[..head], sum, square)
    }

    /// Of the largest numbers in falling order, given the sums of all others.
    fn over(falling: &[f64], sum: f64, square: f64) -> Self {
        let head = falling.len();
        let (mut sums, mut squares) = (vec![sum; head + 1], vec![square; head + 1]);
        for k in (0..head).rev() {
            sums[k] = sums[k + 1] + falling[k];
            squares[k] = squares[k + 1] + falling[k] * falling[k];
        }
        Self { sums, squares }
    }

    /// The worst look when the `apart` heaviest of `rows` rows are read anyway; `factor` is the variance per unit of square.
    fn worst(&self, looks: &[usize], rows: usize, apart: usize, factor: f64, floor: f64) -> Blindness {
        let left = rows - apart;
        let mut worst = Blindness { look: rows, missed: 0.0, believed: floor };
        for &look in looks.iter().filter(|&&look| look <= left / 2) {
            let end = (apart + left.div_ceil(look)).min(self.sums.len() - 1);
            let missed = factor.sqrt() * (self.sums[apart] - self.sums[end]);
            let believed = standard_error(factor * self.squares[end], left, look).max(floor);
            let seen = Blindness { look, missed, believed };
            if seen.ratio() > worst.ratio() {
                worst = seen;
            }
        }
        worst
    }
}

/// s.e. of a total of `rows` rows with sum of squares `squares` after `look` of them.
fn standard_error(squares: f64, rows: usize, look: usize) -> f64 {
    let (rows, look) = (rows as f64, look as f64);
    if look >= rows { 0.0 } else { (rows * squares / look * (1.0 - look / rows)).sqrt() }
}

impl ResidualTest {
    /// The same for a random walk whose steps have the mean square `energy` per direction, in posterior variances: residuals change less, and the stratum is read
    /// once per candidate.
    #[must_use]
    pub fn for_walk(self, energy: f64) -> Self {
        let moves = WALK.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * energy);
        Self { moves: moves.max(LEAST), evaluations: 1.0, ties: Some(TIES), ..self }
    }

    /// Rows of `rows` read on average, when their scores have the sum of squares `squares`: until τ, or until the decision is clear.
    ///
    /// A walk, whose candidates cost little else, is served best by what is to be expected; where candidates cost more, by what is certain.
    pub(super) fn rows_read(&self, rows: f64, squares: f64) -> f64 {
        let expected = if self.ties.is_some() { BOUNDED * BOUNDED } else { 1.0 };
        let squares = self.variance() * squares / expected;
        let wanted = rows * squares / (self.tolerance * self.tolerance + squares);
        let clear = self.ties.map_or(f64::INFINITY, |ties| {
            self.first as f64 + std::f64::consts::PI * ties * CRITICAL * squares.sqrt() * rows
        });
        wanted.min(clear).max(self.first as f64).min(rows)
    }

    /// Variance of what a move changes, per unit of squared score.
    pub(super) fn variance(&self) -> f64 {
        CUBES * self.moves
    }

    fn looks(&self, rows: usize) -> Result<Vec<usize>> {
        let Self { first, growth, tolerance, evaluations, moves, .. } = *self;
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(setting("tolerance (tau)", tolerance, "a positive finite number"));
        }
        if !(evaluations >= 0.0 && evaluations.is_finite()) {
            return Err(setting("evaluations of the stratum", evaluations, "a finite number, 0 or more"));
        }
        if !(moves > 0.0 && moves.is_finite()) {
            return Err(setting("mean square of a move", moves, "a positive finite number"));
        }
        Looks::Growing { first, growth }.schedule(rows, 1)
    }
}

/// Whether a test on residuals can be blind, and the cheapest stratum that cures it.
pub fn surrogate(scores: &Falling, settings: &ResidualTest) -> Result<SurrogateBlindness> {
    let looks = settings.looks(scores.rows)?;
    let without = scores.stratum_at(0, settings, &looks);
    let mut chosen: Option<(f64, Stratum)> = None;
    for apart in 0..=settings.largest_stratum.min(scores.tails.squares.len() - 1) {
        let cost = settings.evaluations * apart as f64 + scores.rows_to_tolerance(apart, settings);
        if chosen.as_ref().is_some_and(|(least, _)| cost >= *least) {
            continue;
        }
        let candidate = scores.stratum_at(apart, settings, &looks);
        if !candidate.blindness.is_blind() {
            chosen = Some((cost, candidate));
        }
    }
    Ok(SurrogateBlindness { without, chosen: chosen.map(|(_, stratum)| stratum) })
}

/// For slope·lev in falling order and a random walk in `parameters` dimensions.
pub(super) fn raw(spreads: &[f64], parameters: usize, first: usize) -> Result<RawBlindness> {
    let rows = spreads.len();
    let looks = Looks::Growing { first, growth: RAW_GROWTH }.schedule(rows, 1)?;
    let missing = rows.div_ceil(first);
    let tails = Tails::new(spreads, missing);
    let factor = 2.38 * 2.38 / parameters.max(1) as f64;
    let total = tails.squares[0];
    let share =
        |count: usize| if total > 0.0 { 1.0 - tails.squares[count.min(missing)] / total } else { 0.0 };
    // The share of the rows missed falls with the look.
    let allowed = (1..=missing).take_while(|&count| share(count) <= SHARE_LIMIT).last();
    Ok(RawBlindness {
        first,
        kappa: (factor * total).sqrt(),
        blindness: tails.worst(&looks, rows, 0, factor, 0.0),
        missed_share: if first > rows / 2 { 0.0 } else { share(missing) },
        sound_from: allowed.map(|count| rows.div_ceil(count).max(first)),
    })
}

impl SurrogateBlindness {
    /// The outcome in a sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let blind = &self.without.blindness;
        let first = if blind.is_blind() {
            format!(
                "A second-order surrogate without a stratum is blind: rows outside a sample of {} could shift the log ratio by {:.3} while the test \
                 assumes an error of {:.3}. ",
                blind.look, blind.missed, blind.believed
            )
        } else {
            "A second-order surrogate is not blind, even without a stratum. ".into()
        };
        first
            + &match &self.chosen {
                None => "No stratum within the limit cures that: use the exact rule.".into(),
                Some(stratum) if stratum.rows == 0 => {
                    format!("It reaches its tolerance after about {:.0} rows.", stratum.rows_to_tolerance)
                }
                Some(stratum) => format!(
                    "With the {} heaviest rows read at every decision it reaches its tolerance after about {:.0} rows more.",
                    stratum.rows, stratum.rows_to_tolerance
                ),
            }
    }
}

impl RawBlindness {
    /// Whether the standard error of the first look is right within 12 %.
    #[must_use]
    pub fn sound(&self) -> bool {
        self.missed_share <= SHARE_LIMIT && !self.blindness.is_blind()
    }

    /// The outcome in a sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        if self.sound() {
            return format!(
                "Without a surrogate, batches of {} rows see enough: the rows they typically miss carry at most {:.1} % of the variance.",
                self.first,
                100.0 * self.missed_share
            );
        }
        let cure = match self.sound_from {
            Some(look) if !self.blindness.is_blind() => format!("take first looks of {look} rows or more"),
            _ => "use the exact rule".into(),
        };
        let what = if self.blindness.is_blind() { "blind" } else { "short-sighted" };
        format!(
            "Without a surrogate, batches of {} rows are {what}: the rows they typically miss can carry {:.0} % of the variance and add {:.1} \
             standard errors (at {} rows) to the log ratio; {cure}.",
            self.first,
            100.0 * self.missed_share,
            self.blindness.ratio(),
            self.blindness.look
        )
    }
}

#[cfg(test)]
mod tests;
