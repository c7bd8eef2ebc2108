//! Cost per effective sample against N, with surrogates: logistic regression, d = 20, N = 10⁴ … 10⁷, one core; then the hard case.
//!
//! Ratios of one run: effective samples per second against exact Metropolis–Hastings (cached, sequential scan) with the same proposal at the
//! largest N, and against drawing from the Laplace approximation itself; set-up in passes and seconds on all cores. `--quick` stops at 10⁶.
//! Required: flat within a factor 1.6, at least 4·10⁴ times exact, at least a sixth of Laplace draws, set-up at most 4 passes and 1.2 s at 10⁷ rows.

mod hard;
mod plain;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let quick = has("--quick");
    if !has("--hard") {
        plain::run(if quick {
            &[10_000, 100_000, 1_000_000]
        } else {
            &[10_000, 100_000, 1_000_000, 10_000_000]
        });
    }
    if !has("--plain") {
        hard::run(if quick { 200_000 } else { 1_000_000 }, if quick { 1 } else { 3 });
    }
}
