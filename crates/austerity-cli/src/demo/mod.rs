//! `austerity demo`: exact against sequential decisions on built-in data, the bias beside the saving.
//!
//! A generated logistic regression; every rule gets the same proposals, uniforms and seconds. From stationarity: what a
//! rule costs and how far its posterior is from the exact one. From a cold start: how soon it arrives.

mod experiment;
mod words;

use crate::arguments::DemoOptions;
use austerity_fit::Line;
use austerity_fit::options::Common;
use austerity_fit::output::{Failure, json, say};
use experiment::{Demo, Problem, candidates};

/// Runs the demo.
pub(crate) fn run(common: &Common, options: &DemoOptions) -> Result<(), Failure> {
    if !(options.seconds > 0.0 && options.seconds.is_finite()) {
        return Err(Failure::Usage(format!(
            "--seconds is {}; allowed: a positive finite number",
            options.seconds
        )));
    }
    let control = crate::interrupt::control();
    let mut line = Line::new("demo");
    line.note("generating data and finding the mode");
    let problem = Problem::new(options.rows, options.features, common.seed())?;
    drop(line);
    if !common.json {
        say(words::introduction(&problem, options))?;
    }
    let mut demo = Demo::new(&problem, common.seed());
    for candidate in candidates(options.rows) {
        if control.stopped() {
            break;
        }
        if !common.json && demo.results.is_empty() {
            say(format!("Memory: {}.\n", problem.memory(&candidate, common)?))?;
        }
        let mut line = Line::new(candidate.name.clone());
        demo.measure(&problem, &candidate, common, options.seconds, &control, &mut line)?;
    }
    demo.compare();
    if common.json {
        json(&demo)
    } else {
        say(words::tables(&demo))?;
        say(words::conclusions(&demo, control.stopped()))
    }
}
