//! What can be typed after `reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use austerity_fit::request::grammar;
use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  austerity reproduce theory --quick --out paper
  AUSTERITY_DATA=data austerity reproduce all --out paper
  austerity reproduce ica --paper --out paper
  austerity reproduce all --time 40m --out paper
  austerity reproduce all --quick --out again --compare paper

Every experiment writes OUT/NAME/{figures/*.svg, tables/*.csv, result.json, index.html}; OUT/index.html lists them all.
A claim that does not hold is a verdict on the page, not an error.";

/// Options of `reproduce`.
#[derive(Args, Debug)]
pub(crate) struct ReproduceOptions {
    /// The experiment, or all of them.
    #[arg(value_name = "NAME", value_parser = names())]
    pub(crate) name: String,
    /// At most two minutes each: shows that everything works.
    #[arg(long, conflicts_with = "paper")]
    pub(crate) quick: bool,
    /// The paper's data and numbers of steps: some three hours in all on two cores. Goes on where it was interrupted.
    #[arg(long)]
    pub(crate) paper: bool,
    /// The paper's data with as large a share of its numbers of steps as takes about this much CPU time in all, such as 40m. Experiments that need
    /// less than their part run in full.
    #[arg(long, value_name = "TIME", value_parser = grammar::duration, conflicts_with_all = ["quick", "paper"])]
    pub(crate) time: Option<Duration>,
    /// Keep the chains in the cache after an experiment has ended, so that the same command draws its pages again in seconds.
    #[arg(long)]
    pub(crate) keep: bool,
    /// The folder to write to.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Where the data sets are; without them generated data of the same shape stand in.
    #[arg(long, value_name = "DIR", env = "AUSTERITY_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Where ground truths, which take long, are kept. [default: OUT/cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Compare with the run in this folder, claim by claim; a claim that held and now differs, or the other way round, is a failure.
    #[arg(long, value_name = "DIR")]
    pub(crate) compare: Option<PathBuf>,
}

fn names() -> clap::builder::PossibleValuesParser {
    let experiments = austerity_paper::EXPERIMENTS
        .iter()
        .map(|experiment| clap::builder::PossibleValue::new(experiment.name).help(experiment.about));
    let all = clap::builder::PossibleValue::new("all").help("every one of them, and an index");
    experiments.chain([all]).collect::<Vec<_>>().into()
}
