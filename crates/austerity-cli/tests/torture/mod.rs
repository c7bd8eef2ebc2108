//! Failing calls, kills and flipped bits, wherever they fall: what comes out is the truth, or a message.
//!
//! | file | what it does to the program |
//! |---|---|
//! | `faults` | every file call fails once, as by a bad disk or a full one; every file call is the last before a kill |
//! | `mutation` | bits of stores and runs flip, files are cut short |
//! | `signals` | SIGTERM, SIGHUP, and a store that is cut short under a running fit |
//!
//! Three things hold always. An exit code of 0 or 1 comes with the draws of an undisturbed run, to the bit. Exit code 2 comes with a message. What is left
//! goes on, or begins anew, to the same draws.
//!
//! Tests of the first tier take some calls and some bits, chosen by a fixed seed; those of the second take all calls.
//! `cargo xtask torture` sets `AUSTERITY_TORTURE` to a number of seconds: each test then goes on with other seeds until they are over.

mod faults;
mod mutation;
#[cfg(unix)]
mod signals;

use std::time::{Duration, Instant};

/// Rounds of a test: one, or as many as `cargo xtask torture` gives time for, with their seeds.
fn rounds() -> impl Iterator<Item = u64> {
    let seconds = std::env::var("AUSTERITY_TORTURE").ok().and_then(|text| text.parse::<f64>().ok());
    let first = seconds.map_or(0, |_| u64::from(std::process::id()) << 20);
    let end = Instant::now() + Duration::from_secs_f64(seconds.unwrap_or(0.0));
    (0..).take_while(move |&round| round == 0 || Instant::now() < end).map(move |round| first + round)
}

/// Random numbers for choosing places.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit.max(1)
    }
}
