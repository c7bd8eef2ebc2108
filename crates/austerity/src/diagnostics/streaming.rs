//! Running diagnostics in constant memory, for a progress display.
//!
//! Every chain keeps, per parameter, at most [`BATCHES`] consecutive batches of L draws (their
//! means and sums of squared deviations). When all are full, neighbours merge and L doubles, so
//! between half and all of them are in use whatever the length of the run. From these,
//!
//! ```text
//! σ² = Σ_chains L Σ_batches (batch mean − grand mean)² / (K − 1),      ESS = S · V/σ²
//! ```
//!
//! over K batches with S draws, V being the overall variance, and R̂ between the halves of the chains
//! as in [`super::rhat`](mod@super::rhat) without ranks.
//!
//! Batch means: Geyer (1992); Flegal & Jones (2010). Approximate: with K batches σ² has
//! relative sd √(2/K), and while L is not much longer than the autocorrelation time ESS is too high.
//! Disagreeing chains lower ESS less than in [`super::ess`]: read R-hat beside it. Cost: O(1)
//! per parameter and draw, no allocation after construction. Use [`super::Summary`] for results.

use super::rhat::from_moments;

/// Most batches kept per chain and parameter.
pub const BATCHES: usize = 64;

/// Number, mean and sum of squared deviations of a set of draws; sets combine without the draws.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds one value (Welford, 1962).
    fn push(&mut self, value: f64) {
        self.count += 1.0;
        let difference = value - self.mean;
        self.mean += difference / self.count;
        self.squares += difference * (value - self.mean);
    }

    /// Union of two disjoint sets (Chan, Golub & LeVeque, 1983).
    fn merge(self, other: Self) -> Self {
        if self.count == 0.0 {
            return other;
        }
        if other.count == 0.0 {
            return self;
        }
        let count = self.count + other.count;
        let difference = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + difference * (other.count / count),
            squares: self.squares
                + other.squares
                + difference * difference * (self.count * other.count / count),
        }
    }

    fn merge_all(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self::default(), Self::merge)
    }

    /// NaN with fewer than two values.
    fn variance(&self) -> f64 {
        if self.count < 2.0 { f64::NAN } else { self.squares / (self.count - 1.0) }
    }
}

/// Running record of one chain, for all its parameters.
///
/// ```
/// use austerity::diagnostics::{Streaming, combine};
/// let (mut first, mut second) = (Streaming::new(1), Streaming::new(1));
/// for i in 0..1000_u32 {
///     first.push(&[f64::from(i * 37 % 101)]);
///     second.push(&[f64::from(i * 61 % 101)]);
/// }
/// let running = combine(&[&first, &second]);
/// assert!((running[0].mean - 50.0).abs() < 1.0 && running[0].rhat < 1.05);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Streaming {
    parameters: usize,
    draws: u64,
    batch_length: u64,
    /// Full batches; the same for all parameters, because draws arrive for all at once.
    full: usize,
    /// Means and sums of squared deviations, batch after batch all parameters; the batch at `full` is being filled.
    means: Vec<f64>,
    squares: Vec<f64>,
}

impl Streaming {
    /// An empty record for draws of the given number of parameters.
    #[must_use]
    pub fn new(parameters: usize) -> Self {
        Self {
            parameters,
            draws: 0,
            batch_length: 1,
            full: 0,
            means: vec![0.0; parameters * BATCHES],
            squares: vec![0.0; parameters * BATCHES],
        }
    }

    /// Adds one draw, a value per parameter.
    ///
    /// A missing value counts as NaN, a surplus one is ignored. NaN and infinity make everything about
    /// that parameter undefined from then on.
    pub fn push(&mut self, draw: &[f64]) {
        if self.full == BATCHES {
            self.merge_neighbours();
        }
        self.draws += 1;
        let share = 1.0 / self.count(self.full);
        let place = self.full * self.parameters..(self.full + 1) * self.parameters;
        let (means, squares) = (&mut self.means[place.clone()], &mut self.squares[place]);
        for ((mean, squares), value) in means.iter_mut().zip(&mut *squares).zip(draw) {
            let difference = value - *mean;
            *mean += difference * share;
            *squares += difference * (value - *mean);
        }
        let missing = draw.len().min(means.len());
        means[missing..].fill(f64::NAN);
        squares[missing..].fill(f64::NAN);
        if self.draws == self.batch_length * (self.full as u64 + 1) {
            self.full += 1;
        }
    }

    /// Number of parameters.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Number of draws so far.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Draws per batch at present.
    #[must_use]
    pub fn batch_length(&self) -> u64 {
        self.batch_length
    }

    /// Mean of one parameter; NaN without draws or for a parameter that does not exist.
    #[must_use]
    pub fn mean(&self, parameter: usize) -> f64 {
        let all = self.all(parameter);
        if all.count > 0.0 { all.mean } else { f64::NAN }
    }

    /// Standard deviation of one parameter; NaN with fewer than two draws.
    #[must_use]
    pub fn sd(&self, parameter: usize) -> f64 {
        self.all(parameter).variance().sqrt()
    }

    /// Effective sample size of one parameter in this chain alone, see [`RunningSummary::ess`].
    #[must_use]
    pub fn ess(&self, parameter: usize) -> f64 {
        effective_size(&[self], parameter)
    }

    fn merge_neighbours(&mut self) {
        for index in 0..BATCHES / 2 {
            for parameter in 0..self.parameters {
                let batch = self.batch(2 * index, parameter).merge(self.batch(2 * index + 1, parameter));
                self.means[index * self.parameters + parameter] = batch.mean;
                self.squares[index * self.parameters + parameter] = batch.squares;
            }
        }
        let rest = BATCHES / 2 * self.parameters;
        self.means[rest..].fill(0.0);
        self.squares[rest..].fill(0.0);
        self.full = BATCHES / 2;
        self.batch_length *= 2;
    }

    /// Draws of a batch.
    fn count(&self, index: usize) -> f64 {
        (self.draws - (index as u64 * self.batch_length).min(self.draws)).min(self.batch_length) as f64
    }

    fn batch(&self, index: usize, parameter: usize) -> Moments {
        let place = index * self.parameters + parameter;
        Moments { count: self.count(index), mean: self.means[place], squares: self.squares[place] }
    }

    /// The first batches of a parameter; none if it does not exist.
    fn first(&self, batches: usize, parameter: usize) -> Vec<Moments> {
        let batches = if parameter < self.parameters { batches } else { 0 };
        (0..batches).map(|index| self.batch(index, parameter)).collect()
    }

    /// All draws of a parameter.
    fn all(&self, parameter: usize) -> Moments {
        Moments::merge_all(self.first(BATCHES, parameter).into_iter())
    }

    fn full_batches(&self, parameter: usize) -> Vec<Moments> {
        self.first(self.full, parameter)
    }
}

/// State of one parameter over all chains during a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunningSummary {
    /// Mean of all draws.
    pub mean: f64,
    /// Standard deviation of all draws.
    pub sd: f64,
    /// Effective sample size by batch means, at most S·log₁₀ S; NaN with fewer than four batches.
    pub ess: f64,
    /// Classic split R-hat; NaN with a single chain or fewer than four batches in one of them.
    pub rhat: f64,
}

/// Combines the records of several chains, one entry per parameter (those that all chains have).
///
/// Chains may be at different lengths, as they are during a run.
#[must_use]
pub fn combine(chains: &[&Streaming]) -> Vec<RunningSummary> {
    let parameters = chains.iter().map(|chain| chain.parameters).min().unwrap_or(0);
    (0..parameters)
        .map(|parameter| {
            let all = overall(chains, parameter);
            RunningSummary {
                mean: if all.count > 0.0 { all.mean } else { f64::NAN },
                sd: all.variance().sqrt(),
                ess: effective_size(chains, parameter),
                rhat: split_rhat(chains, parameter),
            }
        })
        .collect()
}

fn overall(chains: &[&Streaming], parameter: usize) -> Moments {
    Moments::merge_all(chains.iter().map(|chain| chain.all(parameter)))
}

fn effective_size(chains: &[&Streaming], parameter: usize) -> f64 {
    let all = overall(chains, parameter);
    let mut batches = 0;
    let mut sum = 0.0;
    for chain in chains {
        for batch in chain.full_batches(parameter) {
            sum += batch.count * (batch.mean - all.mean).powi(2);
            batches += 1;
        }
    }
    if batches < 4 || all.squares.is_nan() {
        return f64::NAN;
    }
    // All draws equal: they count fully, as in the batch version.
    if all.squares == 0.0 {
        return all.count;
    }
    let asymptotic = sum / f64::from(batches - 1);
    let limit = all.count * all.count.log10().max(1.0);
    (all.count * all.variance() / asymptotic).min(limit)
}

fn split_rhat(chains: &[&Streaming], parameter: usize) -> f64 {
    if chains.len() < 2 || chains.iter().any(|chain| chain.full_batches(parameter).len() < 4) {
        return f64::NAN;
    }
    let mut between = Moments::default();
    let mut within = Moments::default();
    let mut length = Moments::default();
    for chain in chains {
        let batches = chain.full_batches(parameter);
        let half = batches.len() / 2;
        for part in [&batches[..half], &batches[batches.len() - half..]] {
            let sequence = Moments::merge_all(part.iter().copied());
            between.push(sequence.mean);
            within.push(sequence.variance());
            length.push(sequence.count);
        }
    }
    from_moments(length.mean, between.variance(), within.mean)
}

#[cfg(test)]
mod tests;
