//! The default fit from Rust: the example that the documents show, and where its draws are.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(unreachable_pub, reason = "the main function of an example")]
#[path = "../examples/in_memory.rs"]
mod in_memory;

#[allow(unreachable_pub, reason = "the main function of an example")]
#[path = "../examples/flights.rs"]
mod flights;

use austerity_fit::output::Failure;
use austerity_fit::refusal::Refusal;
use austerity_fit::request::{Keyword, RuleChoice, SurrogateChoice};
use austerity_fit::{Column, Request, Source, Table};
use austerity_glm::{Prior, generate};

#[test]
fn the_example_runs_and_the_documents_show_it() {
    in_memory::main().unwrap();
    let example = include_str!("../examples/in_memory.rs");
    let page = include_str!("../../../docs/library.md");
    let body = example.split("// Your columns").nth(1).unwrap().split("    println!").next().unwrap();
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(page.contains(line), "docs/library.md does not show `{line}`");
    }
}

/// The example, whose lines README and documents may quote, runs and is trusted.
#[test]
fn the_fit_of_a_file_is_three_lines() {
    flights::main().unwrap();
    let line =
        include_str!("../examples/flights.rs").lines().find(|line| line.contains("Request::")).unwrap();
    for page in [include_str!("../../../docs/library.md"), include_str!("../src/request/mod.rs")] {
        assert!(page.contains(line.trim()), "not shown: `{line}`");
    }
}

fn table() -> Source {
    let made = generate::logistic(400, 2).seed(5).build().unwrap().data;
    let [a, b] = [0, 1].map(|column| Column::from(made.columns()[column].clone()));
    Table::new("rows", [("a", a), ("b", b), ("y", made.response().to_vec().into())]).unwrap().into()
}

#[test]
fn a_fit_in_memory_leaves_no_folder_behind() {
    let request = Request::logistic("rows", "y").draws(50).chains(2).warmup(50);
    let fit = request.clone().data(&table()).run().unwrap();
    let folder = fit.folder().to_owned();
    let draws = fit.draws("a").unwrap();
    assert!(folder.exists() && draws.len() == 2 && draws.iter().all(|chain| chain.len() == 50));
    assert_eq!(fit.summary().len(), 3);
    assert!(fit.draws("z").is_err_and(|failure| failure.to_string().contains("intercept, a, b")));
    assert!(
        !fit.verdict().to_string().is_empty()
            && fit.verdict().reasons().is_empty() == fit.verdict().trusted()
    );
    drop(fit);
    assert!(!folder.exists() && !folder.parent().unwrap().exists(), "{}", folder.display());
    // One that is named stays, and can go on.
    let named = std::env::temp_dir().join(format!("austerity-request-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&named);
    drop(request.clone().out(&named).data(&table()).run().unwrap());
    let longer = request.clone().draws(80).out(&named).resumed().data(&table()).run().unwrap();
    assert_eq!(longer.draws("a").unwrap()[0].len(), 80);
    let other = request.clone().rule(RuleChoice::Exact).out(&named).resumed().data(&table()).run();
    assert!(matches!(other, Err(Failure::Refused(Refusal::Changed { .. }))));
    std::fs::remove_dir_all(named).unwrap();
}

#[test]
fn what_cannot_be_met_is_refused_with_its_fields() {
    let refused = |request: Request| match request.data(&table()).run() {
        Err(Failure::Refused(refusal)) => refusal,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a fit"),
    };
    let request = || Request::logistic("rows", "y").draws(20).chains(1).warmup(10);
    let tolerance = refused(request().tolerance(2.0));
    assert!(matches!(tolerance, Refusal::Range { keyword: Keyword::Tolerance, .. }), "{tolerance}");
    let surrogate = refused(request().surrogate(SurrogateChoice::Order(7)));
    assert!(matches!(surrogate, Refusal::Range { keyword: Keyword::Surrogate, .. }), "{surrogate}");
    let prior = refused(request().prior_of("c", Prior::Flat));
    assert!(matches!(&prior, Refusal::UnknownCoefficient { name, .. } if name == "c"), "{prior}");
    let positive = refused(request().prior(Prior::Exponential { rate: 1.0 }));
    assert!(matches!(positive, Refusal::PositivePrior { keyword: Keyword::Prior, .. }), "{positive}");
    assert_eq!(refused(request().rule(RuleChoice::Exact).tolerance(0.1)), Refusal::ExactMakesNoError);
}
