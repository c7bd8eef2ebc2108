//! A rule of one's own under the library's sampler: `cargo run --release -p austerity --example own_rule`.
//!
//! The rule reads a fixed number of rows and believes their mean, without asking how noisy it is. Audits repeat some of its decisions on all rows. The
//! rule claims to be right always, so the audits contradict it, and the verdict says so; with every row read it is exact Metropolis–Hastings.

use austerity::model::from_fn;
use austerity::population::{Access, Reveal};
use austerity::rng::Rng;
use austerity::rule::{Decision, Law, Own, Rule, Stopped};
use austerity::run::Sampled as _;

/// Believes the mean of so many rows.
#[derive(Clone)]
struct Hasty {
    rows: usize,
}

impl<'r> Rule<dyn Reveal + 'r> for Hasty {
    fn decide(
        &mut self,
        population: &mut (dyn Reveal + 'r),
        offset: f64,
        rng: &mut Rng,
    ) -> austerity::Result<Decision> {
        let all = population.len();
        let threshold = (Law::Metropolis.draw(rng) - offset) / all as f64;
        let moments = *population.extend_to(self.rows.min(all))?;
        let stopped = if self.rows < all { Stopped::Bound } else { Stopped::Exhausted };
        Ok(Decision { stopped, ..Decision::complete(&moments, threshold) })
    }

    fn access(&self) -> Access {
        Access::Blocks
    }

    fn first_look(&self) -> usize {
        self.rows
    }
}

fn main() -> austerity::Result<()> {
    let waits: Vec<f64> = (0..20_000).map(|i| -((f64::from(i) + 0.5) / 20_000.0).ln() / 3.0).collect();
    let model =
        from_fn(waits.len(), 1, |_: &[f64]| 0.0, |at: &[f64], row: usize| at[0] - at[0].exp() * waits[row])?
            .names(["log_rate"])?;
    for rows in [1_000, waits.len()] {
        let rule = Own::new("hasty", Hasty { rows });
        let run = model.sampler().rule(rule).start(vec![1.0]).draws(2_000).audit(0.05).run()?;
        let summary = run.summary();
        let audits = run.counters().audits;
        println!(
            "{rows} rows per decision: log rate {:.4} (sd {:.4}); {} of {} audited decisions were wrong; {}",
            summary[0].mean,
            summary[0].sd,
            audits.disagreed,
            audits.audited,
            if run.verdict(&summary).trusted() { "trusted" } else { "not trusted" }
        );
    }
    Ok(())
}
