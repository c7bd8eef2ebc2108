//! A kernel of one's own under the library's sampler: `cargo run --release -p austerity --example own_kernel`.
//!
//! Slice sampling (Neal 2003) of a gamma density, without a model of the library: the kernel brings its steps, the target the name of what is
//! recorded. Threads, checkpoints and diagnostics come with the sampler; a run that is cut in two and resumed draws the same numbers.

use austerity::kernel::Kernel;
use austerity::rng::Streams;
use austerity::rule::Decision;
use austerity::run::{Control, Sampler, Settings, Silent, Target};
use rand::RngExt as _;

/// Shape of the density x^(shape − 1)·e^(−x).
const SHAPE: f64 = 4.0;

/// What is recorded: the state itself.
struct Gamma;

impl Target for Gamma {
    type State = f64;

    fn names(&self) -> Vec<String> {
        vec!["x".into()]
    }

    fn write(&self, state: &f64, out: &mut [f64]) {
        out[0] = *state;
    }

    fn rows(&self) -> usize {
        1
    }
}

/// Slice sampling with stepping out; the width is learnt in warm-up.
#[derive(Clone)]
struct Slice {
    width: f64,
    last: f64,
}

fn log_density(x: f64) -> f64 {
    if x > 0.0 { (SHAPE - 1.0) * x.ln() - x } else { f64::NEG_INFINITY }
}

impl Kernel for Slice {
    type State = f64;
    type Learnt = f64;

    fn step(&mut self, state: &mut f64, streams: &mut Streams) -> austerity::Result<Decision> {
        let mut uniform = || streams.proposal.random::<f64>();
        let level = log_density(*state) + (1.0 - uniform()).ln();
        let mut left = *state - self.width * uniform();
        let mut right = left + self.width;
        while log_density(left) > level {
            left -= self.width;
        }
        while log_density(right) > level {
            right += self.width;
        }
        let candidate = loop {
            let candidate = left + (right - left) * uniform();
            if log_density(candidate) > level {
                break candidate;
            }
            if candidate < *state { left = candidate } else { right = candidate }
        };
        self.last = (candidate - *state).abs();
        *state = candidate;
        Ok(Decision::untested())
    }

    fn learnt(&self) -> f64 {
        self.width
    }

    /// The width goes to about three times the mean step.
    fn learn(&mut self, _decision: &Decision, step: u64) {
        self.width += (3.0 * self.last - self.width) / (step as f64 + 1.0);
    }
}

fn main() -> austerity::Result<()> {
    let kernel = |width: f64| Ok(Slice { width, last: 0.0 });
    let sample = |draws: u64| {
        let settings = Settings { draws, warmup: 200, ..Settings::default() };
        let sampler = Sampler::with_kernels(&Gamma, &settings, &[1.0], |_, _| kernel(1.0))?;
        Ok(sampler.run(&Control::new(), &mut Silent))
    };
    let whole = sample(4_000)?;
    let half = sample(2_000)?;
    let settings = Settings { draws: 4_000, ..half.checkpoint.settings.clone() };
    let rest = Sampler::resume_kernels(&Gamma, &settings, half.checkpoint, |_, _, width| kernel(width))?
        .run(&Control::new(), &mut Silent);
    let summary = &whole.summary()[0];
    println!(
        "mean {:.2} (4 is right), sd {:.2} (2 is right), R-hat {:.3}",
        summary.mean, summary.sd, summary.rhat
    );
    let last = |trace: &austerity::run::Trace| {
        trace.parameter(0).iter().map(|chain| chain.last().copied()).collect::<Vec<_>>()
    };
    println!("resumed as uninterrupted: {}", last(&rest.trace) == last(&whole.trace));
    Ok(())
}
