//! How long chains will take: a few steps of one of them are timed.
//!
//! ```text
//! seconds = (seconds of a step) · (warm-up steps + draws · thinning) · chains / threads
//! ```
//!
//! For runs whose decisions read all rows, and for runs that begin again since audits contradicted their test: those may take minutes where the plan had seconds. Steps get no cheaper later on, but a machine that
//! is busy now may be idle then: an estimate, within a factor of two. Cost: [`TIMED`] steps. Not for runs that a clock ends.

use std::time::Instant;

use austerity::run::{Control, Limits, Progress, Settings, Silent, UNBOUNDED};
use austerity_glm::proposal::StoredProposal;

use super::engine::Chains;

/// Steps that are timed, after one that fills caches.
const TIMED: u64 = 12;

/// Seconds that chains from `start` will take on so many threads; none where they have no number of draws, or a step fails.
pub(super) fn expected<'m>(
    chains: &dyn Chains<'m>,
    settings: &Settings,
    stored: &StoredProposal,
    (start, threads): (&[f64], usize),
) -> Option<f64> {
    if settings.draws >= UNBOUNDED || settings.limits != Limits::default() {
        return None;
    }
    let few = Settings {
        chains: 1,
        warmup: 1,
        draws: TIMED,
        thin: 1,
        record_every: 1,
        audit: 0.0,
        ..settings.clone()
    };
    let sampler = chains.resume(&few, chains.beginning(&few, &[start.to_vec()], stored)).ok()?;
    let begun = Instant::now();
    sampler.run(&Control::new(), &mut Silent);
    let step = begun.elapsed().as_secs_f64() / (TIMED + 1) as f64;
    let chains = f64::from(settings.chains);
    Some(step * Progress::steps_wanted(settings) as f64 * chains / chains.min(threads.max(1) as f64))
}

#[cfg(test)]
mod tests {
    use super::super::engine::OfModel;
    use super::*;
    use austerity::model::from_fn;
    use austerity::proposal::RandomWalk;
    use austerity_glm::proposal::RegressionProposal;
    use std::time::Duration;

    /// Steps of a known length are counted in full: 2 ms a step cannot take less, and a busy machine may make it more.
    #[test]
    fn the_estimate_is_that_of_all_steps() {
        let slow = |theta: &[f64], row: usize| {
            if row == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            -theta[0] * theta[0]
        };
        let model = from_fn(4, 1, |_: &[f64]| 0.0, slow).unwrap();
        let walk: RegressionProposal = RandomWalk::isotropic(1, 0.1).unwrap().into();
        let chains = OfModel::new(&model, StoredProposal::plain);
        let settings = Settings { warmup: 100, draws: 900, chains: 4, ..Settings::default() };
        let seconds = |settings: &Settings, threads| {
            expected(&chains, settings, &walk.clone().into(), (&[0.0], threads))
        };
        // At least one of the two sides of a decision is computed anew: 1 ms a step, 4,000 steps.
        let one = seconds(&settings, 1).unwrap();
        assert!(one > 3.0, "{one}");
        let eight = seconds(&settings, 8).unwrap();
        assert!(eight < 0.6 * one, "{eight} {one}");
        assert_eq!(seconds(&Settings { draws: UNBOUNDED, ..settings.clone() }, 1), None);
        let limits = Limits { seconds: Some(5.0), ..Limits::default() };
        assert_eq!(seconds(&Settings { limits, ..settings }, 1), None);
    }
}
