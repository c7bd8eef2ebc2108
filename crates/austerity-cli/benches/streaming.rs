//! What it costs to store draws while chains run: `fit` with its folder against the same chains in memory.
//!
//! The model is the fastest there is, a linear regression from sums of squares and products, so that draws come at 100,000 a second or more.
//! Both sides sample with the same settings and threads, several times in turn; compared are the smallest wall times of the chains
//! (`seconds` of the summary; loading, mode and pilot are not in them). Required: less than 3 % at 100,000 draws a second; the
//! cost per draw is the same at any speed, so what is measured at a higher speed is scaled to that one.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use austerity::model::find_mode;
use austerity::proposal::{AnyProposal, RandomWalk};
use austerity::run::{Control, Sampler, Settings, Silent};
use austerity_glm::{Linear, Noise, Prior};
use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, load};
use austerity_io::table::open;

const DRAWS: u64 = 150_000;
const CHAINS: u32 = 4;
const ROUNDS: usize = 5;
const FEATURES: usize = 5;
/// Draws per second for which the requirement is stated, and the share of the wall time.
const RATE: f64 = 100_000.0;
const MOST: f64 = 0.03;
/// Step of the walk: small, accepted or not makes no difference to the cost.
const STEP: f64 = 0.01;

fn program(folder: &Path, words: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_austerity"));
    command.current_dir(folder).args(words.split_whitespace()).stdin(Stdio::null());
    let output = command.output()?;
    match output.status.code() {
        Some(0 | 1) => Ok(output.stdout),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn in_memory(data: &Path) -> Result<f64, Box<dyn Error>> {
    let loaded = load(&open(data)?, &CodingOptions::new("y"), None, 1, &LoadOptions::default())?;
    let noise = Noise::Unknown { prior: Prior::normal(10.0) };
    let model = Linear::from_store(&loaded.store, loaded.store.default_priors(), noise)?;
    let mode = find_mode(&model, &[0.0; FEATURES + 2])?;
    let settings = Settings { chains: CHAINS, warmup: 100, draws: DRAWS, ..Settings::default() };
    let walk: AnyProposal = RandomWalk::isotropic(FEATURES + 2, STEP)?.into();
    let run = Sampler::new(&model, &settings, &walk, &[mode.state])?.run(&Control::new(), &mut Silent);
    Ok(run.seconds)
}

fn stored(folder: &Path) -> Result<f64, Box<dyn Error>> {
    let line = format!(
        "fit data.csv --response y --family linear --chains {CHAINS} --warmup 100 --draws {DRAWS} --proposal random-walk:{STEP} \
         --out run --json"
    );
    let summary: serde_json::Value = serde_json::from_slice(&program(folder, &line)?)?;
    std::fs::remove_dir_all(folder.join("run"))?;
    summary["seconds"].as_f64().ok_or_else(|| "the summary has no seconds".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("austerity-bench-streaming-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    program(&folder, &format!("generate linear --rows 20000 --features {FEATURES} --out data.csv"))?;
    let (mut memory, mut disk) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        memory = memory.min(in_memory(&folder.join("data.csv"))?);
        disk = disk.min(stored(&folder)?);
    }
    std::fs::remove_dir_all(&folder)?;
    let all = (DRAWS * u64::from(CHAINS)) as f64;
    let cost = (disk - memory) / all;
    let share = cost * RATE;
    println!("in memory   {:>9.0} draws/s  {memory:.3} s", all / memory);
    println!("with folder {:>9.0} draws/s  {disk:.3} s, × {:.3}", all / disk, disk / memory);
    let verdict = if share < MOST { "PASS" } else { "FAIL" };
    println!(
        "{verdict}  storing costs {:.2} % of the wall time at {RATE:.0} draws/s (required: below {:.0} %)",
        100.0 * share,
        100.0 * MOST
    );
    Ok(())
}
