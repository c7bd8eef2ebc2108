//! Copies of heavy rows: the second tier, for certainty strata that would be too large.
//!
//! A row with a large score s is stored c = ⌈s/s*⌉ times, each copy with 1/c of its weight: totals stay as they are, and a row that matters
//! c times as much is met c times as often with 1/c of the size. That is sampling with probabilities proportional to size (Neyman 1934; Hansen &
//! Hurwitz 1943) by simple random sampling without replacement, so that every rule and all its theory hold unchanged. With N' = Σ c rows the variance of
//! an estimated total is that of N'·Σ s²/c, between N·Σ s² (no copies) and (Σ s)² (as many as one likes).
//!
//! s* falls from the largest score by factors of two while the copies fit; from the first that is not blind ([`super::blindness`]) on, the largest within a
//! quarter of the cheapest wins, since every copy takes memory. The same is tried with fewer and fewer rows always read, down to none.
//!
//! Cost: a pass over the scores per s* and stratum, about a hundred at most, and a copy of the scores. Not for few heavy rows: those are cheaper in the stratum.

use super::blindness::{Falling, ResidualTest, Stratum};
use austerity::error::Result;

/// Costs within this factor of the least are as good.
const GOOD: f64 = 1.25;
/// Smallest s*, as a share of the largest score: 2⁻¹⁰⁰.
const HALVINGS: i32 = 100;

/// Which rows are stored how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replication {
    /// s*: no copy scores more.
    pub threshold: f32,
    /// Rows with more than one copy.
    pub replicated: usize,
    /// N' − N: copies beyond the first.
    pub extra: usize,
    /// The rows always read, and what the test meets in the others.
    pub stratum: Stratum,
    /// √(mean square) of the scores of copies.
    pub root_mean_square: f64,
}

impl Replication {
    /// c: copies of a row with this score.
    #[must_use]
    pub fn copies(&self, score: f32) -> u32 {
        copies(score, self.threshold)
    }
}

fn copies(score: f32, threshold: f32) -> u32 {
    // Saturates where a row would need more copies than there can be rows.
    (score / threshold).ceil().max(1.0) as u32
}

/// What copies down to some s* come to.
#[derive(Clone, Copy)]
struct Plan {
    threshold: f32,
    rows: usize,
    replicated: usize,
    /// Σ s²/c.
    squares: f64,
}

impl Plan {
    /// Nothing if the copies take more than `limit` rows.
    fn new(scores: &[f32], threshold: f32, limit: usize) -> Option<Self> {
        let (mut rows, mut replicated, mut squares) = (0u64, 0, 0.0);
        for part in scores.chunks(4096) {
            for &score in part {
                let count = copies(score, threshold);
                rows += u64::from(count);
                replicated += usize::from(count > 1);
                squares += f64::from(score) * f64::from(score) / f64::from(count);
            }
            if rows > limit as u64 {
                return None;
            }
        }
        Some(Self { threshold, rows: rows as usize, replicated, squares })
    }

    /// Rows read per decision beside the stratum.
    fn rows_to_tolerance(&self, settings: &ResidualTest) -> f64 {
        settings.rows_read(self.rows as f64, self.squares)
    }

    /// What the test meets in the copies.
    fn outcome(&self, scores: &[f32], settings: &ResidualTest) -> Result<Replication> {
        let mut all = Vec::with_capacity(self.rows);
        for &score in scores {
            let count = copies(score, self.threshold);
            all.extend(std::iter::repeat_n(score / count as f32, count as usize));
        }
        Ok(Replication {
            threshold: self.threshold,
            replicated: self.replicated,
            extra: self.rows - scores.len(),
            stratum: Falling::new(&all, 0, settings.first).stratum(0, settings)?,
            root_mean_square: (self.squares / self.rows.max(1) as f64).sqrt(),
        })
    }
}

/// The cheapest stratum and copies of other rows, at most `extra` of them, with which a test on residuals is not blind; nothing if
/// there is none, or no row to copy.
pub fn replicate(scores: &[f32], settings: &ResidualTest, extra: usize) -> Result<Option<Replication>> {
    let mut best: Option<(f64, Replication)> = None;
    let mut list = scores.to_vec();
    let mut apart = settings.largest_stratum.min(scores.len() / 2);
    loop {
        if apart > 0 {
            list.select_nth_unstable_by(apart - 1, |a, b| b.total_cmp(a));
        }
        if let Some(found) = beside(&list[apart..], settings, extra)? {
            let found = Replication { stratum: Stratum { rows: apart, ..found.stratum }, ..found };
            let cost = found.stratum.cost(settings);
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, found));
            }
        }
        if apart == 0 {
            return Ok(best.map(|(_, found)| found));
        }
        // 20,000, 2,500, 312, 39, 4, 0.
        apart /= 8;
    }
}

/// The same for the rows outside a stratum.
fn beside(scores: &[f32], settings: &ResidualTest, extra: usize) -> Result<Option<Replication>> {
    let largest = scores.iter().fold(0.0f32, |most, &score| most.max(score));
    let limit = scores.len() + extra;
    let plans: Vec<Plan> = (1..HALVINGS)
        .map(|k| largest * (-k as f32).exp2())
        .take_while(|&threshold| threshold > 0.0)
        .map_while(|threshold| Plan::new(scores, threshold, limit))
        .collect();
    let mut first = None;
    for (k, plan) in plans.iter().enumerate() {
        let found = plan.outcome(scores, settings)?;
        if !found.stratum.blindness.is_blind() {
            first = Some((k, found));
            break;
        }
    }
    let Some((k, enough)) = first else { return Ok(None) };
    // More copies than that are worth their memory where they save rows.
    let cost = |plan: &&Plan| plan.rows_to_tolerance(settings);
    let least = plans[k..].iter().map(|plan| cost(&plan)).fold(f64::INFINITY, f64::min);
    let better = plans[k..].iter().find(|plan| cost(plan) <= GOOD * least);
    let better = better.map(|plan| plan.outcome(scores, settings)).transpose()?;
    Ok(better.filter(|found| !found.stratum.blindness.is_blind()).or(Some(enough)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 rows of 100,000 that are a thousand times as heavy: more than the cap of 8, so they are copied.
    fn heavy() -> Vec<f32> {
        (0..100_000).map(|row| if row % 2500 == 3 { 0.1 } else { 1e-4 }).collect()
    }

    #[test]
    fn copies_cure_what_a_small_stratum_cannot() {
        let scores = heavy();
        let settings = ResidualTest { largest_stratum: 8, ..ResidualTest::default() };
        let falling = Falling::new(&scores, 8, settings.first);
        assert!(falling.stratum(8, &settings).unwrap().blindness.is_blind());
        let found = replicate(&scores, &settings, 50_000).unwrap().unwrap();
        assert!(!found.stratum.blindness.is_blind(), "{found:?}");
        assert_eq!(found.replicated + found.stratum.rows, 40);
        assert_eq!(found.extra, found.replicated * (found.copies(0.1) as usize - 1));
        // By hand: N'·Σ s²/c.
        let (count, rest) = (f64::from(found.copies(0.1)), 40.0 - found.stratum.rows as f64);
        let squares = rest * 0.01 / count + 99_960.0 * 1e-8;
        let rows = (100_000 - found.stratum.rows + found.extra) as f64;
        let wanted = (30.0 * rows * squares / 64.0 * (1.0 - 64.0 / rows)).sqrt();
        assert!((found.stratum.standard_error / wanted - 1.0).abs() < 1e-3, "{found:?} {wanted}");
        assert!((found.root_mean_square / (squares / rows).sqrt() - 1.0).abs() < 1e-3);
        // Neyman: no less than (Σ s)².
        let least = 30.0 * (rest * 0.1 + 9.996f64).powi(2);
        assert!(30.0 * rows * squares > 0.999 * least);
    }

    /// 30,000 heavy rows of a million, a stratum of 1,000 at most.
    #[test]
    fn a_stratum_far_past_its_limit() {
        let scores: Vec<f32> = (0..1_000_000).map(|row| if row % 33 == 0 { 1e-3 } else { 1e-8 }).collect();
        let settings = ResidualTest { largest_stratum: 1000, ..ResidualTest::default() };
        let falling = Falling::new(&scores, 1000, settings.first);
        assert!(falling.stratum(1000, &settings).unwrap().blindness.is_blind());
        let found = replicate(&scores, &settings, 500_000).unwrap().unwrap();
        assert!(!found.stratum.blindness.is_blind() && found.extra <= 500_000, "{found:?}");
        assert!(found.replicated >= 29_000, "{found:?}");
    }

    #[test]
    fn limits() {
        let settings = ResidualTest { largest_stratum: 0, ..ResidualTest::default() };
        // No room for copies, no row with a score, no row.
        assert_eq!(replicate(&heavy(), &settings, 10).unwrap(), None);
        assert_eq!(replicate(&[0.0; 500], &settings, 250).unwrap(), None);
        assert_eq!(replicate(&[], &settings, 0).unwrap(), None);
        let mut scores = heavy();
        scores[17] = 1e18;
        // A score beyond number: one row always read takes care of it.
        let one = ResidualTest { largest_stratum: 1, tolerance: 3.0, ..settings };
        let found = replicate(&scores, &one, 50_000).unwrap().unwrap();
        assert_eq!(found.stratum.rows, 1);
    }
}
