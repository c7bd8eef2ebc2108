//! A list of steps run one after the other: each announced and timed, none stopping the next.

use std::process::ExitCode;
use std::time::Instant;

/// How a step ended, with the lines a person should read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well; the lines, if any, are remarks or warnings.
    Passed(Vec<String>),
    /// Something must be mended; one line for each thing.
    Failed(Vec<String>),
    /// Not run, and why.
    Skipped(String),
}

impl Outcome {
    /// Failed when there are complaints, else passed with the remarks.
    pub(crate) fn of(complaints: Vec<String>, remarks: Vec<String>) -> Self {
        if complaints.is_empty() { Self::Passed(remarks) } else { Self::Failed(complaints) }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Passed(_) => "passed",
            Self::Failed(_) => "FAILED",
            Self::Skipped(_) => "skipped",
        }
    }
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        match result {
            Ok(()) => Self::Passed(Vec::new()),
            Err(why) => Self::Failed(vec![why]),
        }
    }
}

struct Finished {
    name: String,
    outcome: Outcome,
    seconds: f64,
}

/// Runs steps and remembers how they ended.
#[derive(Default)]
pub(crate) struct Steps {
    finished: Vec<Finished>,
}

impl Steps {
    /// Announces a step, runs it, and says how it ended and how long it took.
    pub(crate) fn run(&mut self, name: &str, detail: &str, step: impl FnOnce() -> Outcome) {
        println!("\n==> {name}: {detail}");
        let start = Instant::now();
        let outcome = step();
        let seconds = start.elapsed().as_secs_f64();
        match &outcome {
            Outcome::Passed(lines) | Outcome::Failed(lines) => {
                for line in lines {
                    println!("    {line}");
                }
                println!("    {name} {} in {seconds:.1} s", outcome.word());
            }
            Outcome::Skipped(why) => println!("    skipped: {why}"),
        }
        self.finished.push(Finished { name: name.to_owned(), outcome, seconds });
    }

    /// Prints the table of all steps; the exit code is a failure if any of them failed.
    pub(crate) fn finish(&self) -> ExitCode {
        print!("\n{}", self.summary());
        if self.failures() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn failures(&self) -> usize {
        self.finished.iter().filter(|step| matches!(step.outcome, Outcome::Failed(_))).count()
    }

    fn summary(&self) -> String {
        let width = self.finished.iter().map(|step| step.name.len()).max().unwrap_or(0).max("step".len());
        let mut text = format!("{:<width$}  outcome  seconds\n", "step");
        for Finished { name, outcome, seconds } in &self.finished {
            text.push_str(&format!("{name:<width$}  {:<7}  {seconds:>7.1}\n", outcome.word()));
        }
        let total: f64 = self.finished.iter().map(|step| step.seconds).sum();
        text.push_str(&match self.failures() {
            0 => format!("all checks passed in {total:.1} s\n"),
            failed => format!("{failed} of {} checks FAILED in {total:.1} s\n", self.finished.len()),
        });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_does_not_stop_the_next_step_and_is_counted() {
        let mut steps = Steps::default();
        steps.run("one", "fails", || Outcome::Failed(vec!["broken".into()]));
        steps.run("another", "runs", || Outcome::Passed(Vec::new()));
        steps.run("third", "absent", || Outcome::Skipped("a part".into()));
        let summary = steps.summary();
        assert_eq!(steps.failures(), 1);
        assert_eq!(steps.finish(), ExitCode::FAILURE);
        for row in ["one      FAILED", "another  passed", "third    skipped", "1 of 3 checks FAILED"] {
            assert!(summary.contains(row), "`{row}` is missing from:\n{summary}");
        }
    }

    #[test]
    fn remarks_and_skips_are_no_failures() {
        let mut steps = Steps::default();
        steps.run("one", "remarks", || Outcome::of(Vec::new(), vec!["warning: long".into()]));
        steps.run("two", "absent", || Outcome::Skipped("a part".into()));
        assert_eq!(steps.finish(), ExitCode::SUCCESS);
        assert!(steps.summary().contains("all checks passed"));
    }
}
