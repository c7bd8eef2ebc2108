//! The conditional of the paper's Markov random field: 100 binary variables, all triples, 4,851 factor pairs each.
//!
//! Required: at least 100 million factor pairs per second and core on the exact path, that is at most 10 ns a pair. The
//! variables are visited in turn, as a sweep does, so that the tables come from wherever a sweep finds them. The last line is
//! for `bench/steps`; the same conditional in NumPy and numba is `bench/steps/gibbs.py`.

use std::hint::black_box;
use std::time::Instant;

use austerity::Result;
use austerity::population::Population as _;
use austerity::rule::{Law, RuleSettings, SequentialSettings};
use austerity::run::Chain;
use austerity_models::field::generate::complete_builder;
use austerity_models::field::{Field, Neighbourhood};
use austerity_models::{Gibbs, GibbsSettings};

const VARIABLES: usize = 100;
const PAIRS: usize = 4851;
const ROUNDS: usize = 200;

/// Median nanoseconds of one of the `VARIABLES` calls in `sweep`.
fn nanoseconds(mut sweep: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        sweep()?;
        times.push(start.elapsed().as_secs_f64() * 1e9 / VARIABLES as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn conditionals(field: &Field) -> Result<f64> {
    let state: Vec<u8> = (0..VARIABLES).map(|v| u8::from(v * v % 7 < 3)).collect();
    let mut neighbourhood = Neighbourhood::default();
    nanoseconds(|| {
        for variable in 0..VARIABLES {
            let mut conditional = field.conditional(variable, [1, 0], &state, &mut neighbourhood)?;
            black_box(conditional.total()?);
        }
        Ok(())
    })
}

fn steps(field: &Field, rule: RuleSettings) -> Result<(f64, f64)> {
    let kernel = Gibbs::new(field, &GibbsSettings { rule, ..GibbsSettings::default() })?;
    let mut chain = Chain::start(kernel, vec![0; VARIABLES], (1, 0));
    let time = nanoseconds(|| chain.advance(VARIABLES as u64))?;
    Ok((time, chain.sampling().data_share(PAIRS)))
}

fn main() -> Result<()> {
    let mut builder = complete_builder(VARIABLES, 2, 3, 0.02, 1)?;
    let field = builder.build(1)?;
    let closed = builder.closed_form(true).build(1)?;
    println!("field of {} factors, {:.1} MB", field.factors(), field.data_bytes() as f64 / 1e6);
    let conditional = conditionals(&field)?;
    let pair = conditional / PAIRS as f64;
    let verdict = if pair <= 10.0 { "PASS" } else { "FAIL" };
    println!(
        "conditional, exact             {conditional:8.0} ns   {:6.0} million pairs/s   required ≥ 100   {verdict}",
        1e3 / pair
    );
    let form = conditionals(&closed)?;
    println!("conditional, closed form       {form:8.0} ns   {:.1} × faster", conditional / form);
    let exact = steps(&field, RuleSettings::Exact { law: Law::Logistic })?;
    let (form, _) = steps(&closed, RuleSettings::Exact { law: Law::Logistic })?;
    println!("Gibbs step, closed form        {form:8.0} ns   {:5.2} × exact", exact.0 / form);
    println!("Gibbs step, exact              {:8.0} ns", exact.0);
    for epsilon in [0.01, 0.05, 0.1, 0.25] {
        let test = SequentialSettings {
            law: Law::Logistic,
            guard: None,
            ..SequentialSettings::constant(500, epsilon)
        };
        let (time, share) = steps(&field, RuleSettings::Sequential(test))?;
        println!(
            "Gibbs step, ε = {epsilon:<4}           {time:8.0} ns   {:5.2} × exact, {:.0} % of the pairs",
            exact.0 / time,
            100.0 * share
        );
    }
    println!(r#"{{"step":"gibbs","peer":"austerity","ns_per_item":{pair:.4}}}"#);
    Ok(())
}
