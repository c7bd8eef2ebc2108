//! `cargo xtask torture [--minutes M]`: failing file calls, kills and flipped bits at random places, for as long as one likes.
//!
//! The tests of `crates/austerity-cli/tests/torture` do some of that with fixed seeds in the first tier, and every file call in the second. Here
//! each goes on with seeds of its own until the time is up (ten minutes unless said), on all cores.

use crate::command::{self, cargo};
use std::path::Path;

/// Minutes unless said.
const MINUTES: f64 = 10.0;
/// The tests that go on: each of them takes its share of the time.
const TESTS: [&str; 4] = [
    "torture::faults::fits_survive_failing_calls_and_kills",
    "torture::faults::makers_survive_failing_calls_and_kills",
    "torture::mutation::a_damaged_store_is_refused_and_named",
    "torture::mutation::a_damaged_run_is_found_out_and_never_misread",
];

/// Minutes that were asked for; `None` when the words cannot be understood.
pub(crate) fn minutes(words: &[String]) -> Option<f64> {
    match words {
        [] => Some(MINUTES),
        [option, value] if option == "--minutes" => value.parse().ok().filter(|m| *m > 0.0 && *m < 1e5),
        _ => None,
    }
}

/// Runs the tests.
pub(crate) fn run(root: &Path, minutes: f64) -> Result<(), String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(TESTS.len());
    let seconds = 60.0 * minutes * cores as f64 / TESTS.len() as f64;
    let threads = cores.to_string();
    let mut words = vec!["test", "-p", "austerity-cli", "--all-features", "--test", "integration", "--"];
    words.extend(TESTS);
    words.extend(["--exact", "--nocapture", "--test-threads", &threads]);
    let mut call = cargo(root, &words);
    call.env("AUSTERITY_TORTURE", seconds.to_string());
    println!("torture: {minutes} minutes, {seconds:.0} seconds per test on {cores} cores");
    command::run(&mut call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_an_option() {
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(minutes(&[]), Some(MINUTES));
        assert_eq!(minutes(&words("--minutes 0.5")), Some(0.5));
        for bad in ["--minutes", "--minutes x", "--minutes 0", "--hours 2", "--minutes 1 2"] {
            assert_eq!(minutes(&words(bad)), None, "{bad}");
        }
    }
}
