//! The default fit of columns in memory: `cargo run --release -p austerity-fit --example in_memory`.

use austerity_fit::{Column, Request, Source, Table};
use austerity_glm::generate;

/// Fits 20,000 generated patients and prints what came of it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Your columns: numbers, and texts as levels. Here the response depends on the dose and the age.
    let made = generate::logistic(20_000, 2).seed(7).build()?.data;
    let [dose, age] = [0, 1].map(|column| Column::from(made.columns()[column].clone()));
    let clinic: Column = (0..20_000).map(|row| ["north", "south", "west"][row % 3]).collect();
    let cured = Column::from(made.response().to_vec());
    let columns = [("dose", dose), ("age", age), ("clinic", clinic), ("cured", cured)];
    let patients = Source::from(Table::new("patients", columns)?);

    let request = Request::logistic("patients", "cured").reference("clinic", "north").draws(1_000).seed(3);
    let fit = request.data(&patients).run()?;

    println!("{}", fit.verdict());
    for s in fit.summary() {
        println!("{:12} {:7.3} ± {:.3}", s.name, s.mean, s.sd);
    }
    println!("first draw of dose: {:?}", fit.draws("dose")?[0].first());
    Ok(())
}
