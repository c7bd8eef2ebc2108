//! The default fit of a file, three lines: `cargo run --release -p austerity-fit --example flights`.

use austerity_glm::generate;
use austerity_io::write::write_parquet;

/// Writes 20,000 generated flights to a file in a folder of their own, fits it and prints the verdict.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("austerity-flights-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::env::set_current_dir(&folder)?;
    let made = generate::logistic(20_000, 2).seed(11).build()?.data;
    let names = ["delayed", "departure", "distance"].map(String::from);
    write_parquet("flights.parquet", &names, &[made.response(), &made.columns()[0], &made.columns()[1]])?;

    let fit = austerity_fit::Request::logistic("flights.parquet", "delayed").draws(2_000).out("run").run()?;
    println!("{}", fit.verdict());

    // The run stays in its folder: `austerity summary run` and Python open it. Here it goes with the example.
    assert!(fit.verdict().trusted() && folder.join("run").join("run.toml").exists());
    std::env::set_current_dir(std::env::temp_dir())?;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
