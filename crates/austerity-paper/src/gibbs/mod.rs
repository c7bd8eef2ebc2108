//! Gibbs sampling in a dense Markov random field: Korattikara, Chen & Welling (2014), supplement F.
//!
//! 100 binary variables, a factor for each of the 161,700 triples, log-normal potentials; a conditional is a sum over 4,851
//! pairs of potentials. Sequential tests of 500 pairs at a time decide it at ε = .01 to .25.
//!
//! | file | holds |
//! |---|---|
//! | `plan` | how large |
//! | `conditionals` | empirical against exact conditional probability |
//! | `chains` | average L1 error over random subsets against time |
//! | `race` | variables of four values |
//! | `theorem` | Theorem 2: the bound against the distance, where both can be computed |
//! | `claims` | the checks |
//! | `figures` | figures and tables |

mod chains;
mod claims;
mod conditionals;
mod figures;
mod plan;
mod race;
mod theorem;

use austerity::rule::{Law, RuleSettings};
use austerity_models::field::generate::complete_builder;
use serde_json::json;

use crate::context::Context;
use crate::error::Result;
use crate::outcome::{Outcome, Section};
use chains::{Kind, Subsets, Truth};
pub(crate) use claims::CLAIMS;
use conditionals::Measured;
use plan::Plan;
use race::Races;

/// What was measured.
struct Found {
    plan: Plan,
    conditionals: Vec<Measured>,
    truth: Truth,
    /// Exact factor by factor, exact in closed form, then one for each ε.
    kinds: Vec<Kind>,
    races: Vec<Races>,
}

impl Found {
    fn exact(&self) -> &Kind {
        &self.kinds[0]
    }

    fn closed(&self) -> &Kind {
        &self.kinds[1]
    }

    /// The tests, with their ε.
    fn tests(&self) -> impl Iterator<Item = (f64, &Kind)> {
        self.plan.epsilons.iter().copied().zip(&self.kinds[2..])
    }
}

/// The experiment.
pub fn run(context: &Context) -> Result<Outcome> {
    carry_out(context, Plan::of(context.extent()))
}

fn carry_out(context: &Context, plan: Plan) -> Result<Outcome> {
    context.stage("building the field", 0.0)?;
    let mut builder = complete_builder(plan.variables, 2, 3, plan.sd, context.seed)?;
    let field = builder.build(context.seed)?;
    let closed = builder.closed_form(true).build(context.seed)?;
    drop(builder);
    context.stage("empirical conditional probabilities", 0.02)?;
    let conditionals = conditionals::measure(context, &plan, &closed)?;
    context.stage("races of four values", 0.15)?;
    let races = race::measure(context, &plan)?;
    context.stage("the truth, a long exact run", 0.2)?;
    let subsets = Subsets::new(&plan, context.seed);
    let truth = chains::truth(context, &plan, &closed, &subsets)?;

    let exact = RuleSettings::Exact { law: Law::Logistic };
    let mut todo =
        vec![("exact".to_owned(), &field, exact.clone()), ("closed form".to_owned(), &closed, exact)];
    for &epsilon in &plan.epsilons {
        todo.push((format!("ε = {epsilon}"), &field, plan.blocks(epsilon)));
    }
    let kinds = chains::follow(context, &plan, &todo, &subsets, &truth)?;
    let theorem = theorem::run(context)?;
    let found = Found { plan, conditionals, truth, kinds, races };
    let mut outcome = outcome(&found, closed.factors())?;
    outcome.sections.push(theorem.0);
    outcome.tables.push(theorem.1);
    Ok(outcome)
}

fn outcome(found: &Found, factors: usize) -> Result<Outcome> {
    let Plan { variables, sd, batch, subsets, subset_size, chains, seconds, .. } = &found.plan;
    let about = vec![
        format!(
            "A synthetic Markov random field of {variables} binary variables with a potential for each of the {factors} triples, \
             log ψ normal with standard deviation {sd}; a conditional is a sum over {} pairs of potentials.",
            found.plan.factors()
        ),
        format!(
            "Conditional probabilities: the paper's test to the letter ({batch} pairs at a time, drawn one by one, Student's t). \
             Chains: the same test on pairs stored in random order and drawn in blocks of 32, so that {batch} becomes {}; systematic \
             sweeps from random starts, burn-in included; {chains} chains of {seconds} CPU seconds each, T counts sweeps.",
            batch.next_multiple_of(32)
        ),
        format!(
            "Error: mean L1 distance between the empirical and the true law over {subsets} random subsets of {subset_size} variables. The \
             truth is {} sweeps of exact chains; its own error is about {:.4}.",
            found.plan.truth_sweeps, found.truth.noise
        ),
        "The threshold is log(u/(1−u)); the paper prints log u/log(1−u), which samples another distribution.".into(),
        "\"Exact\" sums all pairs, as in the paper, with SIMD over tables laid out for it. \"Closed form\" is exact too: a binary field \
         of triples is a polynomial of its bits, and its coefficients can be summed beforehand. No sampling is needed where that is \
         possible; it is shown because a method should be compared with the best exact one."
            .into(),
    ];
    Ok(Outcome {
        title: "Gibbs sampling in a dense Markov random field".into(),
        about,
        settings: json!(found.plan),
        numbers: figures::numbers(found),
        sections: vec![
            Section {
                title: "Conditional probabilities".into(),
                figure: Some(("conditional_probability".into(), figures::conditionals(found)?)),
                caption: "Left: share of tests that assign 1 against the exact probability, one line for each ε; the thin line is exact \
                          Gibbs. Right: the difference; dots are measured, lines are what the theory predicts for the average spread."
                    .into(),
                checks: claims::conditionals(found)?,
            },
            Section {
                title: "Error against time".into(),
                figure: Some(("error_over_time".into(), figures::errors(found))),
                caption: "Average L1 error over subsets of 5 variables against CPU seconds of a chain, and against the pairs of potentials it has read; in the key each ε and T, the sweeps \
                          made in that time."
                    .into(),
                checks: claims::chains(found.exact(), &found.tests().collect::<Vec<_>>()),
            },
            Section {
                title: "Bias and variance".into(),
                figure: Some(("bias_and_variance".into(), figures::risks(found))),
                caption: "Mean squared error of the cells' probabilities, split: the variance falls with time, the bias of the tests \
                          stays. Gaps are bias² estimates below 0, that is none to be seen."
                    .into(),
                checks: claims::risks(found.exact(), &found.tests().collect::<Vec<_>>()),
            },
            Section {
                title: "The same chain without sampling".into(),
                figure: Some(("closed_form".into(), figures::closed(found))),
                caption: "Exact Gibbs with the pairs summed one by one, and with their sum in closed form, against two of the tests."
                    .into(),
                checks: claims::closed(
                    (found.exact(), found.closed()),
                    &found.tests().collect::<Vec<_>>(),
                    found.plan.factors(),
                ),
            },
            Section {
                title: "More than two values".into(),
                figure: Some(("four_values".into(), figures::races(found))),
                caption: "Share of races that a value wins against its exact conditional probability; variables of four values, all triples."
                    .into(),
                checks: claims::races(&found.races),
            },
        ],
        tables: figures::tables(found),
    })
}

#[cfg(test)]
mod tests;
