//! Cost per effective sample against N, with surrogates: `cargo xtask bench flat-in-n [--plain|--hard|--mnist|--real] [--quick]`.
//!
//! | part | what |
//! |---|---|
//! | plain | logistic regression, d = 20, N = 10⁴ … 10⁷, one core: effective samples per second against exact Metropolis–Hastings (cached, sequential scan) with the same proposal and against drawing from the Laplace approximation; set-up in passes and seconds |
//! | hard | N = 10⁶, d = 40, 15 features present in 10 to 200 rows, some without an event, heavy-tailed priors: speed, and quantiles against a reference by importance correction on all rows |
//! | mnist | the paper's logistic regression: risk against time, the same walk decided exactly and about residuals, and surrogate transitions |
//! | real | Covertype (class 2) and flights (late or not), where their files are at hand |
//!
//! All ratios are of one run. Rates are per second of CPU time of one thread, so that other work on the machine counts little. A plot
//! goes to `target/flat-in-n.svg`.

#![allow(clippy::expect_used, reason = "a bench may panic")]

mod agreement;
mod hard;
mod mnist;
mod plain;
mod rate;
mod real;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let quick = has("--quick");
    let all = !["--plain", "--hard", "--mnist", "--real"].iter().any(|part| has(part));
    if all || has("--plain") {
        let sizes = [10_000, 100_000, 1_000_000, 10_000_000];
        plain::run(&sizes[..if quick { 3 } else { 4 }]);
    }
    if all || has("--hard") {
        hard::run(if quick { 200_000 } else { 1_000_000 }, if quick { 1 } else { 3 });
    }
    if all || has("--mnist") {
        mnist::run(quick);
    }
    if all || has("--real") {
        real::run();
    }
}
