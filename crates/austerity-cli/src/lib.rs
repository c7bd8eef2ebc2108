//! The program `austerity COMMAND` as a library: the Python package runs it with engines of its own. It parses the arguments, runs the command and turns an error into one clear message.
//!
//! Exit codes: 0 done, 1 a fit that is not to be trusted or damage found by `verify`, 2 bad usage or input. Errors go to standard error; a closed pipe is no error.

mod arguments;
mod convert;
mod demo;
pub mod engine;
mod export;
#[cfg(feature = "paper")]
mod fetch;
mod fit;
mod generate;
mod hangup;
mod interrupt;
mod manual;
#[cfg(feature = "paper")]
mod reproduce;
#[cfg(not(feature = "paper"))]
mod without_paper;

use std::ffi::OsString;

use arguments::{Arguments, Command, EffectArguments, PartArguments, with_minus};
use austerity_fit::output::Failure;
use austerity_fit::request::Common;
use austerity_fit::runs::effects::Verb;
use austerity_fit::{analyze, check, design, runs};
use austerity_io::text::printable_lines;
use clap::Parser as _;

/// Runs the command of these arguments, the name of the program first, and returns the exit code.
pub fn run(typed: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let arguments = match Arguments::try_parse_from(with_minus(typed.into_iter().map(Into::into).collect())) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let common = &arguments.common();
    let outcome = match judged(common, &arguments.command) {
        Some(Ok(true)) => Ok(()),
        Some(Ok(false)) => return 1,
        Some(Err(failure)) => Err(failure),
        None => told(common, &arguments.command),
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) if failure.is_closed_pipe() => 0,
        Err(failure) => {
            eprintln!("austerity: {}", printable_lines(&failure.to_string()));
            2
        }
    }
}

/// Runs a command whose result may be bad news; tells whether it is good.
fn judged(common: &Common, command: &Command) -> Option<Result<bool, Failure>> {
    let part = |name, request, options: &PartArguments| {
        let PartArguments { json_progress, dry_run, .. } = *options;
        fit::asked_for(common, &request, &fit::Asked { name, json_progress, dry_run })
    };
    Some(match command {
        Command::Fit(options) => fit::run(common, options),
        Command::Update(options) => fit::update(common, options),
        Command::Select(options) => part("select", options.request(common), &options.common),
        Command::Ica(options) => part("ica", options.request(common), &options.common),
        Command::Gibbs(options) => part("gibbs", options.request(common), &options.common),
        Command::Verify(options) => runs::verify::run(common, &options.path),
        _ => return None,
    })
}

fn effects(common: &Common, options: &EffectArguments, verb: Verb) -> Result<(), Failure> {
    runs::effects::run(common, &options.options(verb, common.seed(), common.threads))
}

/// Runs any other command.
fn told(common: &Common, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Fit(_)
        | Command::Update(_)
        | Command::Select(_)
        | Command::Ica(_)
        | Command::Gibbs(_)
        | Command::Verify(_) => Ok(()),
        Command::Plan(options) => {
            let (data, machines) = options.asked();
            austerity_fit::parts::forecast(common, &data, machines)
        }
        Command::Predict(options) => runs::predict::run(common, &options.options(), &interrupt::control()),
        Command::Loo(options) => {
            runs::loo::run(common, &options.options(common.seed(), common.threads), &interrupt::control())
        }
        Command::Compare(options) => {
            let options = options.options(common.seed(), common.threads);
            runs::loo::compare::run(common, &options, &interrupt::control())
        }
        Command::Predictions(options) => effects(common, options, Verb::Predictions),
        Command::Comparisons(options) => effects(common, options, Verb::Comparisons),
        Command::Slopes(options) => effects(common, options, Verb::Slopes),
        Command::Sensitivity(options) => runs::sensitivity::run(common, &options.options()),
        Command::Hypothesis(options) => runs::hypothesis::run(common, &options.options()),
        Command::Merge(options) => runs::merge::run(common, &options.runs, &options.out),
        Command::Summary(options) => runs::summary::run(common, &options.run, options.terms),
        Command::Report(options) => runs::page::run(common, &options.run, options.out.as_deref()),
        Command::Export(options) => export::run(common, options),
        Command::Convert(options) => convert::run(common, options),
        Command::Completions(options) => manual::completions(options),
        Command::Man(options) => manual::man(options),
        Command::Demo(options) => demo::run(common, options),
        Command::Analyze(options) => analyze::run(common, &options.options()),
        Command::Design(options) => design::run(common, &options.options()),
        Command::Priors(options) => match options.request(common) {
            Ok(request) => austerity_fit::fit::prior_table::run(common, &request, options.drawn()),
            Err(failure) => Err(failure),
        },
        Command::Check(options) => match options.of_run(common.seed(), common.threads) {
            Some(options) => runs::appraisal::run(common, &options),
            None => check::run(common, &options.options()),
        },
        #[cfg(feature = "paper")]
        Command::Reproduce(options) => reproduce::run(common, options),
        #[cfg(feature = "paper")]
        Command::Data(arguments::DataCommand::Fetch(options)) => fetch::run(common, options),
        #[cfg(not(feature = "paper"))]
        Command::Reproduce(words) => without_paper::run("reproduce", words),
        #[cfg(not(feature = "paper"))]
        Command::Data(words) => without_paper::run("data", words),
        Command::Generate(options) => generate::run(common, options),
    }
}
