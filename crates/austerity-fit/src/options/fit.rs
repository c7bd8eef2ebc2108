//! The options of `fit`. Everything that shapes a run is optional, and kept in `run.toml` as it was resolved.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::DataOptions;

/// Shown below the help of `fit`.
pub const FIT_EXAMPLES: &str = "\
Examples:
  austerity generate logistic --rows 1000000 --features 10 --out data.parquet
  austerity fit data.parquet --response y
  austerity fit data.parquet --response y --out run
  austerity fit data.parquet --response y --out run --resume --draws 20000
  austerity fit counts.csv --response n --family poisson --offset log_exposure --out run
  austerity fit data.parquet --response y --out run --preset paper --epsilon 0.05 --batch 500 --proposal random-walk:0.01
  austerity fit data.parquet --response y --out run --rule sequential --tolerance 0.05 --budget 60s

Exit codes: 0 done, 1 finished but not to be trusted (the reasons are printed), 2 bad usage or input.";

/// The accept/reject rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleChoice {
    /// The cheapest rule within --tolerance, as a pilot run and the theory find it.
    Auto,
    /// Exact Metropolis–Hastings: every decision reads all rows.
    Exact,
    /// Sequential test on a growing sample of rows; settings left open are designed for --tolerance.
    Sequential,
    /// Exact decisions from bounds on the surrogate's error; most read no row.
    Certified,
}

/// A named set of choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Algorithm 1 of the paper exactly: single rows, constant steps and bounds, no guard, plain threshold.
    Paper,
}

/// Options of `fit`.
#[derive(Args, Clone, Debug)]
pub struct FitOptions {
    /// The table.
    #[command(flatten)]
    pub data: DataOptions,
    /// Folder of the run. [default: a new folder named after DATA, such as flights-run for flights.parquet]
    #[arg(long, value_name = "RUN")]
    pub out: Option<PathBuf>,
    /// Continue the run in --out, interrupted or finished; --draws is then the total per chain.
    #[arg(long)]
    pub resume: bool,
    /// What shapes the draws.
    #[command(flatten)]
    pub shape: ShapeOptions,
    /// How long.
    #[command(flatten)]
    pub length: LengthOptions,
    /// Print progress as one JSON line per second on standard error.
    #[arg(long)]
    pub json_progress: bool,
}

/// What shapes the draws: a resumed run refuses other values.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShapeOptions {
    /// Prior of every coefficient but the intercept: normal:SD, laplace:SCALE, student:DF,SCALE or flat; with another mean normal:MEAN,SD,
    /// laplace:MEAN,SCALE, student:DF,MEAN,SCALE. [default: normal:2.5 divided by each column's sd (of a column of two values, such as 0 and 1, normal:5
    /// divided by their distance), times the sd of a real response]
    #[arg(long, value_name = "PRIOR", help_heading = "Model")]
    pub prior: Option<String>,
    /// Prior of the intercept, where every column is 0. [default: at the column means, normal around the link of the mean response with sd 10;
    /// of real responses around their mean with 2.5 times their sd]
    #[arg(long, value_name = "PRIOR", help_heading = "Model")]
    pub prior_intercept: Option<String>,
    /// Priors of single coefficients: a CSV file with the columns coefficient,prior. That of sigma is half-normal:SCALE, half-student:DF,SCALE,
    /// exponential:RATE or log-normal:MEAN,SD. [default of sigma: half-student:3, scale the sd of the response]
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub priors: Option<PathBuf>,
    /// Accept/reject rule. [default: auto]
    #[arg(long, value_enum, value_name = "RULE", help_heading = "Decision")]
    pub rule: Option<RuleChoice>,
    /// Named set of options.
    #[arg(long, value_enum, help_heading = "Decision")]
    pub preset: Option<Preset>,
    /// Error probability ε of the sequential test, one-sided, at each look at the data.
    #[arg(long, value_name = "E", allow_hyphen_values = true, help_heading = "Decision")]
    pub epsilon: Option<f64>,
    /// Rows in the first look of the sequential test.
    #[arg(long, value_name = "M", allow_hyphen_values = true, help_heading = "Decision")]
    pub batch: Option<usize>,
    /// Factor by which the sample grows between looks; 1 adds --batch rows each time, as in the paper.
    #[arg(long, value_name = "F", allow_hyphen_values = true, help_heading = "Decision")]
    pub growth: Option<f64>,
    /// Stopping boundary of the sequential test: pocock, obrien-fleming or wang-tsiatis:G0,ALPHA. [default: pocock]
    #[arg(long, value_name = "BOUND", help_heading = "Decision")]
    pub bound: Option<String>,
    /// Acceptance threshold: metropolis, logistic (Barker), compensated or compensated:LAMBDA. [default: compensated for a test if a
    /// λ exists, otherwise metropolis]
    #[arg(long, value_name = "LAW", help_heading = "Decision")]
    pub law: Option<String>,
    /// Stop a test once the standard error of the log acceptance ratio is below this.
    #[arg(long, value_name = "TAU", allow_hyphen_values = true, help_heading = "Decision")]
    pub stop_at: Option<f64>,
    /// Largest mean error of the acceptance probability. [default: 0.01]
    #[arg(long, value_name = "D", allow_hyphen_values = true, help_heading = "Decision")]
    pub tolerance: Option<f64>,
    /// Surrogate of the log-likelihood, a control variate for the decisions: a Taylor expansion at the mode (taylor1, taylor2, taylor3),
    /// none, or the cheaper of both (auto). [default: auto]
    #[arg(long, value_name = "SURROGATE", help_heading = "Decision")]
    pub surrogate: Option<String>,
    /// Share of the decisions that are checked against all rows: auto, off or a number from 0 to 1. [default: auto]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, help_heading = "Decision")]
    pub audit: Option<String>,
    /// Rows that are sampled as one block. [default: 32; 1 with --preset paper]
    #[arg(long, value_name = "ROWS", help_heading = "Decision")]
    pub block_rows: Option<usize>,
    /// Proposal distribution: auto (chosen by a pilot run), laplace (independent draws from the normal approximation at the mode),
    /// surrogate-hmc (Hamiltonian Monte Carlo on the surrogate), langevin:STEP (Langevin steps on the surrogate and mini-batch residual gradients;
    /// STEP between 0 and 2 posterior sds, usually 1), adaptive (random walk that adapts in warm-up) or random-walk:SD. [default: auto]
    #[arg(long, value_name = "PROPOSAL", help_heading = "Proposal")]
    pub proposal: Option<String>,
    /// Number of chains. [default: 4]
    #[arg(long, value_name = "C", allow_hyphen_values = true, help_heading = "Length")]
    pub chains: Option<u32>,
    /// Number of the first chain, for runs on several machines. [default: 0]
    #[arg(long, value_name = "K", help_heading = "Length")]
    pub first_chain: Option<u32>,
    /// Warm-up steps per chain. [default: 1000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Length")]
    pub warmup: Option<u64>,
    /// Thinning: steps per stored draw. [default: 1]
    #[arg(long, value_name = "K", help_heading = "Length")]
    pub thin: Option<u64>,
    /// Parameters to store. [default: all]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', help_heading = "Length")]
    pub keep: Option<Vec<String>>,
}

/// How long: a resumed run may change it.
#[derive(Args, Clone, Debug, Default)]
pub struct LengthOptions {
    /// Draws per chain, in total over all resumptions. [default: from 2000 to 200000, planned by the pilot run for about 600 effective
    /// draws per chain; unlimited if another limit is given]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Length")]
    pub draws: Option<u64>,
    /// Wall-clock time of this session, such as 60s, 5m or 1h: from the start of the command to its summary, reading and preparation included. Where
    /// rule and tolerance are left open they are chosen, and chosen again as the time passes, for the least bias² + variance at its end.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = humantime::parse_duration, help_heading = "Length")]
    pub budget: Option<std::time::Duration>,
    /// Budget in likelihood evaluations of the chains, such as 1e9. Like --budget, but the draws do not depend on timing.
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = "Length")]
    pub evaluations: Option<f64>,
    /// Stop once every parameter has this bulk effective sample size.
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = "Length")]
    pub target_ess: Option<f64>,
    /// Largest size of the run's folder, such as 500MB or 2GB. A run that would need more stores every 2nd, 4th, 8th, … draw and says so. Runs that only
    /// --budget or --evaluations end store at most 65536 draws per chain unless this is given. [default: 1GB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_size, help_heading = "Length")]
    pub max_disk: Option<u64>,
}

/// Largest size of a run's folder unless told otherwise, in bytes.
pub const MAX_DISK: u64 = 1_000_000_000;

/// Units of sizes, the larger first.
const SIZES: [(&str, u64); 9] = [
    ("tib", 1 << 40),
    ("gib", 1 << 30),
    ("mib", 1 << 20),
    ("kib", 1 << 10),
    ("tb", 1_000_000_000_000),
    ("gb", 1_000_000_000),
    ("mb", 1_000_000),
    ("kb", 1_000),
    ("b", 1),
];

/// Reads a size such as 500MB, 1.5 GiB or a number of bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let found = SIZES.iter().find_map(|(unit, bytes)| Some((lower.strip_suffix(unit)?.trim_end(), *bytes)));
    let (number, unit) = found.unwrap_or((&lower, 1));
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number * unit as f64 <= 1e18 => Ok((number * unit as f64) as u64),
        _ => Err("a size is a positive number and a unit, such as 500MB or 2GB".into()),
    }
}

/// A size in words: 1 GB, 500 MB.
pub(crate) fn size_words(bytes: u64) -> String {
    let decimal = SIZES[4..8].iter().find(|(_, unit)| bytes >= *unit);
    match decimal {
        Some((name, unit)) => {
            let number = format!("{:.2}", bytes as f64 / *unit as f64);
            format!(
                "{} {}",
                number.trim_end_matches('0').trim_end_matches('.'),
                name.to_uppercase().replace("KB", "kB")
            )
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_said() {
        let read = |text| parse_size(text).ok();
        assert_eq!(read("500MB"), Some(500_000_000));
        assert_eq!(read("1.5 GiB"), Some(3 << 29));
        assert_eq!(read("4096"), Some(4096));
        assert_eq!(read("2kb"), Some(2000));
        assert!(["", "MB", "-1GB", "0", "many", "1 XB", "1e30"].into_iter().all(|text| read(text).is_none()));
        assert_eq!(
            [1_000_000_000, 2_500_000, 4_000, 17].map(size_words),
            ["1 GB", "2.5 MB", "4 kB", "17 bytes"]
        );
    }
}
