//! What it costs to write draws while they are drawn.
//!
//! A producer makes 100,000 draws a second of 20 parameters in 4 chains for 5 s, in slices as a sampler does, and hands them to a
//! writing thread that flushes every second. Required: the producer loses under 3 % of the wall time (hand-over included),
//! and the writing thread takes well under one core. Also told: how fast the writer is when it never waits.

use std::hint::black_box;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use austerity::rule::Decision;
use austerity::run::Settings;
use austerity_io::run::{DrawsReader, DrawsWriter, Layout};

const PARAMETERS: usize = 20;
const CHAINS: usize = 4;
const RATE: usize = 100_000;
const SLICE: usize = 500;
const SECONDS: f64 = 5.0;
/// Of the producing thread's wall time.
const MOST_LOST: f64 = 0.03;
/// Of one core.
const MOST_WRITING: f64 = 0.25;

type Slice = (usize, Vec<f64>, Vec<Decision>);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("austerity-bench-draws-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let outcome = paced(&folder.join("paced.zarr")).and_then(|()| flat_out(&folder.join("fast.zarr")));
    std::fs::remove_dir_all(&folder)?;
    outcome
}

fn layout() -> Layout {
    let mut names: Vec<String> = (0..PARAMETERS - 1).map(|j| format!("x{j}")).collect();
    names.push("sigma".into());
    let draws = (RATE as f64 * SECONDS) as u64 / CHAINS as u64;
    let settings = Settings { chains: CHAINS as u32, draws, ..Settings::default() };
    Layout::new(names, PARAMETERS - 1, &settings)
}

fn slice(chain: usize) -> Slice {
    (chain, vec![black_box(0.1234); SLICE * PARAMETERS], vec![Decision::ruled_out(); SLICE])
}

fn paced(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut writer = DrawsWriter::create(path, &layout())?;
    let (sender, receiver) = sync_channel::<Slice>(256);
    let thread = std::thread::spawn(move || -> austerity_io::Result<Option<f64>> {
        let before = cpu_seconds();
        let mut flushed = Instant::now();
        for (chain, values, decisions) in receiver {
            writer.append(chain, &values, &decisions)?;
            if flushed.elapsed() >= Duration::from_secs(1) {
                writer.flush()?;
                flushed = Instant::now();
            }
        }
        writer.finish()?;
        Ok(before.zip(cpu_seconds()).map(|(before, after)| after - before))
    });
    let (start, mut lost, mut made) = (Instant::now(), Duration::ZERO, 0);
    let pace = |made: usize| Duration::from_secs_f64(made as f64 / RATE as f64);
    while start.elapsed().as_secs_f64() < SECONDS {
        let draws = slice(made / SLICE % CHAINS);
        made += SLICE;
        if let Some(early) = pace(made).checked_sub(start.elapsed()) {
            std::thread::sleep(early);
        }
        let handing = Instant::now();
        if sender.send(draws).is_err() {
            break;
        }
        lost += handing.elapsed();
    }
    let wall = start.elapsed().as_secs_f64();
    drop(sender);
    let writing = thread.join().map_err(|_| "the writing thread panicked")??;
    let rate = made as f64 / wall;
    println!("{rate:>10.0} draws/s x {PARAMETERS} parameters for {wall:.1} s");
    let verdict = |name: &str, share: f64, most: f64| {
        let word = if share < most { "PASS" } else { "FAIL" };
        println!("{word}  {name}: {:.2} % (required: under {:.0} %)", 100.0 * share, 100.0 * most);
    };
    verdict("rate missed by the producer", (1.0 - rate / RATE as f64).max(0.0), MOST_LOST);
    verdict("wall time the producer loses to the hand-over", lost.as_secs_f64() / wall, MOST_LOST);
    match writing {
        Some(seconds) => verdict("writing thread, of one core", seconds / wall, MOST_WRITING),
        None => println!("      writing thread, of one core: not known on this system"),
    }
    let read = Instant::now();
    let reader = DrawsReader::open(path)?;
    assert_eq!(reader.draws() * CHAINS / SLICE, made / SLICE / CHAINS * CHAINS);
    black_box(reader.parameter(7)?);
    println!("      one parameter read back in {:.0} ms", read.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

fn flat_out(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut writer = DrawsWriter::create(path, &layout())?;
    let all: Vec<Slice> = (0..CHAINS).map(slice).collect();
    let slices = 1000;
    let start = Instant::now();
    for (chain, values, decisions) in all.iter().cycle().take(slices) {
        writer.append(*chain, values, decisions)?;
    }
    writer.finish()?;
    let seconds = start.elapsed().as_secs_f64();
    println!("      never waiting: {:.2} million draws/s", (slices * SLICE) as f64 / seconds / 1e6);
    Ok(())
}

/// Processor time of this thread, where the system tells (Linux), in steps of 10 ms.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
