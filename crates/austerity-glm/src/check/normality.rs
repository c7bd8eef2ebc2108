//! Is the mean of a batch normal enough for a t test?
//!
//! For each of a few populations (pairs of states from a short pilot) the batch is drawn many times, and
//! t = (batch mean − population mean)/s, with s as the test computes it, is compared with Student's law at n − 1
//! degrees of freedom: Kolmogorov–Smirnov distance, and how often each tail beyond the 5 % and 1 % points is visited.
//! Beside it the shape of the population itself: skewness, kurtosis, the largest share of one row in the sum of squares, and the
//! rows that carry it. Korattikara, Chen & Welling (2014), section 4: "this can be easily tested empirically".
//!
//! Cost: 2·(N + repetitions·batch) likelihood evaluations per pair. What it cannot see: rows that matter only for
//! pairs not tried.

use statrs::distribution::{ContinuousCDF, StudentsT};

use austerity::error::{Result, setting};
use austerity::population::{BlockOrder, BlockReveal, Moments, Population, Reveal};

/// How hard to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalitySettings {
    /// Rows of a batch: the first look of the test.
    pub batch: usize,
    /// Rows that are drawn together.
    pub block_rows: usize,
    /// Batches drawn from each population.
    pub repetitions: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl NormalitySettings {
    /// The batch in whole blocks.
    #[must_use]
    pub fn rounded_batch(&self) -> usize {
        self.batch.div_ceil(self.block_rows.max(1)).saturating_mul(self.block_rows.max(1))
    }
}

/// Fewest statistics on which a verdict can rest: 1 % tails must have been visited.
pub const FEWEST_STATISTICS: usize = 200;

impl Default for NormalitySettings {
    fn default() -> Self {
        Self { batch: 500, block_rows: austerity::BLOCK_ROWS, repetitions: 400, seed: 1 }
    }
}

/// How often one tail of t was visited, as a multiple of the nominal rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// The nominal rate, .05 or .01.
    pub nominal: f64,
    /// Visits of the lower tail over the nominal rate.
    pub lower: f64,
    /// Visits of the upper tail over the nominal rate.
    pub upper: f64,
}

/// A row that carries much of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offender {
    /// Its position in storage.
    pub position: usize,
    /// Its number.
    pub value: f64,
    /// Its share in Σ(l − mean)².
    pub share: f64,
}

/// What was seen about one population.
#[derive(Clone, Debug, PartialEq)]
pub struct PairNormality {
    /// Moments of all its rows.
    pub moments: Moments,
    /// The t statistics of its batches.
    pub statistics: Vec<f64>,
    /// The rows with the largest shares, largest first.
    pub offenders: Vec<Offender>,
}

/// What was seen about all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Normality {
    /// Rows of a batch as drawn.
    pub batch: usize,
    /// Kolmogorov–Smirnov distance between the statistics of all pairs and Student's law.
    pub distance: f64,
    /// The distance that as many normal draws would exceed in 1 % of the cases.
    pub distance_by_chance: f64,
    /// The tails.
    pub tails: [Tail; 2],
    /// Largest absolute skewness of a population.
    pub skewness: f64,
    /// Largest kurtosis of a population (3 for a Gaussian).
    pub kurtosis: f64,
    /// Largest share of one row in a sum of squares.
    pub largest_share: f64,
    /// The rows that carry most, over all pairs, each once.
    pub offenders: Vec<Offender>,
    /// Whether the t test can be trusted with batches of this size.
    pub sound: bool,
}

/// Rows listed as offenders.
const LISTED: usize = 10;
/// An offender has at least this share.
const OFFENDING_SHARE: f64 = 0.01;
/// Distance from Student's law, beyond chance, that matters: it is the error of a tail probability.
pub const DISTANCE_LIMIT: f64 = 0.03;
/// A tail visited more than this often, beyond chance, breaks the level of the test.
const TAIL_LIMIT: f64 = 1.5;
/// Share of one row in the sum of squares that matters: a batch that misses the row takes its sd 5 % too small.
pub const SHARE_LIMIT: f64 = 0.1;

/// Looks at population number `pair` of several, each of which has batches of its own. Errors name the rows as the
/// population does.
pub fn examine<P: Population>(
    population: &mut P,
    settings: &NormalitySettings,
    pair: usize,
) -> Result<PairNormality> {
    let rows = population.len();
    if settings.batch < 2 || settings.rounded_batch() > rows / 2 {
        let allowed = format!(
            "from 2 rows to half of the {rows} there are, rounded up to whole blocks of {}",
            settings.block_rows
        );
        return Err(setting("batch", settings.batch, &allowed));
    }
    if settings.block_rows == 0 || settings.rounded_batch() / settings.block_rows < 2 {
        return Err(setting("block_rows", settings.block_rows, "at least two blocks in a batch"));
    }
    if settings.repetitions == 0 {
        return Err(setting("repetitions", 0, "at least 1"));
    }
    let moments = population.total()?;
    let offenders = offenders(population, &moments)?;
    let mut order = BlockOrder::new(rows, settings.block_rows, settings.seed, 0)?;
    let mut statistics = Vec::with_capacity(settings.repetitions);
    let first = (pair * settings.repetitions) as u64;
    for step in first..first + settings.repetitions as u64 {
        let mut cursor = BlockReveal::new(population, &mut order, step);
        let batch = cursor.extend_to(settings.batch)?;
        let difference = batch.mean - moments.mean;
        let error = batch.standard_error(rows);
        // A batch without variance that misses the mean is as wrong as can be.
        statistics.push(if difference == 0.0 { 0.0 } else { difference / error });
    }
    Ok(PairNormality { moments, statistics, offenders })
}

/// The rows with the largest shares.
fn offenders<P: Population>(population: &mut P, moments: &Moments) -> Result<Vec<Offender>> {
    let rows = population.len();
    let mut buffer = [0.0; 256];
    let mut largest: Vec<Offender> = Vec::new();
    for start in (0..rows).step_by(buffer.len()) {
        let end = (start + buffer.len()).min(rows);
        let values = &mut buffer[..end - start];
        population.reveal(start..end, values)?;
        for (position, &value) in (start..).zip(values.iter()) {
            let share = (value - moments.mean).powi(2) / moments.m2;
            if share > largest.get(LISTED - 1).map_or(OFFENDING_SHARE, |last| last.share) {
                let place = largest.partition_point(|other| other.share >= share);
                largest.insert(place, Offender { position, value, share });
                largest.truncate(LISTED);
            }
        }
    }
    Ok(largest)
}

/// Joins what was seen about several populations of `rows` rows into one verdict.
pub fn check_normality(
    pairs: &[PairNormality],
    settings: &NormalitySettings,
    rows: usize,
) -> Result<Normality> {
    if pairs.is_empty() {
        return Err(setting("pairs", 0, "at least one"));
    }
    let batch = settings.rounded_batch().min(rows);
    let freedom = (batch - 1).max(1) as f64;
    let law = StudentsT::new(0.0, 1.0, freedom).map_err(|_| setting("batch", batch, "at least 2 rows"))?;
    let mut statistics: Vec<f64> = pairs.iter().flat_map(|pair| pair.statistics.iter().copied()).collect();
    if statistics.len() < FEWEST_STATISTICS {
        return Err(setting("pairs × repetitions", statistics.len(), "at least 200"));
    }
    statistics.sort_by(f64::total_cmp);
    let count = statistics.len() as f64;
    let distance = statistics
        .iter()
        .enumerate()
        .map(|(i, &t)| {
            let p = if t.is_finite() { law.cdf(t) } else { f64::from(u8::from(t > 0.0)) };
            (p - i as f64 / count).max((i + 1) as f64 / count - p)
        })
        .fold(0.0, f64::max);
    let tails = [0.05, 0.01].map(|nominal| {
        let beyond = |t: &&f64| law.sf(t.abs()) < nominal;
        let rate =
            |sign: f64| statistics.iter().filter(|t| **t * sign > 0.0).filter(beyond).count() as f64 / count;
        Tail { nominal, lower: rate(-1.0) / nominal, upper: rate(1.0) / nominal }
    });
    let largest =
        |value: fn(&Moments) -> f64| pairs.iter().map(|pair| value(&pair.moments)).fold(0.0, f64::max);
    let largest_share = largest(Moments::largest_share);
    // 1 % point of the Kolmogorov distribution.
    let distance_by_chance = 1.628 / count.sqrt();
    let tails_sound = tails.iter().all(|tail| {
        let chance = 3.0 / (count * tail.nominal).sqrt();
        tail.lower.max(tail.upper) <= TAIL_LIMIT + chance
    });
    let sound =
        distance <= DISTANCE_LIMIT + distance_by_chance && tails_sound && largest_share <= SHARE_LIMIT;
    Ok(Normality {
        batch,
        distance,
        distance_by_chance,
        tails,
        skewness: largest(|moments| moments.skewness().abs()),
        kurtosis: largest(Moments::kurtosis),
        largest_share,
        offenders: joined(pairs),
        sound,
    })
}

/// Offenders of all pairs, each row once with its largest share.
fn joined(pairs: &[PairNormality]) -> Vec<Offender> {
    let mut all: Vec<Offender> = pairs.iter().flat_map(|pair| pair.offenders.iter().copied()).collect();
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut seen = std::collections::HashSet::new();
    all.retain(|offender| seen.insert(offender.position));
    all.truncate(LISTED);
    all
}

impl Normality {
    /// The verdict in a sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let worst = self.tails[0].lower.max(self.tails[0].upper);
        if self.sound {
            return format!(
                "Means of {} rows are normal enough for the test: distance {:.3} from Student's law, the 5 % tails are visited \
                 at most {worst:.2} times as often as they should be.",
                self.batch, self.distance
            );
        }
        let reason = if self.largest_share > SHARE_LIMIT {
            format!("one row alone carries {:.0} % of the sum of squares", 100.0 * self.largest_share)
        } else if self.distance > DISTANCE_LIMIT + self.distance_by_chance {
            format!("their distance from Student's law is {:.3}", self.distance)
        } else {
            let [five, one] = self.tails.map(|tail| tail.lower.max(tail.upper));
            format!(
                "the 5 % tails are visited {five:.2} times, the 1 % tails {one:.2} times as often as they should be"
            )
        };
        format!(
            "Means of {} rows are not normal enough: {reason}. Take larger batches, treat the listed rows apart, or use the exact rule.",
            self.batch
        )
    }
}

#[cfg(test)]
mod tests;
