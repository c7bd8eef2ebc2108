//! Tails of a run: whether the draws reached them, and which moments the posterior does not have.
//!
//! A fit records on which sides the posterior has the tail of a Student prior (`run.toml`, `model.tails`). The draws there must have that tail
//! ([`austerity_glm::check::tails`]); means and standard deviations that do not exist are not shown, since their estimates are numbers without a meaning.

use austerity::diagnostics::Summary;
use austerity::run::Reason;
use austerity_glm::check::tails::{TailCheck, compare};
use austerity_io::run::DrawsReader;
use serde_json::{Value, json};

use crate::fit::plan::TailRecord;

/// A tail and what the draws say of it.
pub(crate) struct TailFinding {
    record: TailRecord,
    check: TailCheck,
}

impl TailFinding {
    /// Checks every recorded tail whose parameter was kept.
    pub(crate) fn all(
        records: &[TailRecord],
        reader: &DrawsReader,
    ) -> Result<Vec<Self>, austerity_io::Error> {
        let (names, draws) = (reader.names(), reader.draws());
        let mut found = Vec::new();
        for record in records {
            let Some(place) = names.iter().position(|name| *name == record.parameter) else { continue };
            let columns = reader.parameters(place..place + 1)?;
            let chains: Vec<&[f64]> =
                columns.iter().flat_map(|column| column.chunks_exact(draws.max(1))).collect();
            found.push(Self { record: record.clone(), check: compare(&chains, &record.tail) });
        }
        Ok(found)
    }

    /// What was found.
    pub(crate) fn check(&self) -> TailCheck {
        self.check
    }

    /// Why the draws must not be trusted, if this tail was not reached.
    pub(crate) fn reason(&self) -> Option<Reason> {
        let TailCheck { figure, limit, passed, .. } = self.check;
        (passed == Some(false)).then(|| Reason::Tail {
            parameter: self.record.parameter.clone(),
            from: self.record.tail.from,
            up: self.record.tail.up,
            figure,
            limit,
        })
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "parameter": self.record.parameter,
            "side": if self.record.tail.up { "above" } else { "below" },
            "from": self.record.tail.from,
            "check": self.check,
        })
    }
}

/// Takes out of `summary` what does not exist.
pub(crate) fn without_moments(summary: &mut [Summary], records: &[TailRecord]) {
    for TailRecord { parameter, tail } in records {
        for one in summary.iter_mut().filter(|one| one.name == *parameter) {
            if !tail.has_mean() {
                one.mean = f64::NAN;
            }
            if !tail.has_sd() {
                // The error of a mean is an sd over a root.
                (one.sd, one.mcse_mean) = (f64::NAN, f64::NAN);
            }
            if tail.prior.freedom <= 4.0 {
                one.mcse_sd = f64::NAN;
            }
        }
    }
}

/// A sentence about moments that do not exist.
pub(crate) fn sentence(records: &[TailRecord]) -> Option<String> {
    let names = |holds: &dyn Fn(&TailRecord) -> bool| -> Vec<&str> {
        let mut names: Vec<&str> =
            records.iter().filter(|record| holds(record)).map(|record| record.parameter.as_str()).collect();
        names.dedup();
        names
    };
    let neither = names(&|record| !record.tail.has_mean());
    let spread = names(&|record| !record.tail.has_sd() && !neither.contains(&record.parameter.as_str()));
    let mut said = String::new();
    if !neither.is_empty() {
        said += &format!("Posterior mean and standard deviation do not exist for {}. ", listed(&neither));
    }
    if !spread.is_empty() {
        said += &format!("The posterior standard deviation does not exist for {}. ", listed(&spread));
    }
    let it = if neither.len() + spread.len() > 1 { "these coefficients" } else { "this coefficient" };
    (!said.is_empty()).then(|| {
        format!(
            "{said}The data do not bound {it} on one side, and the Student prior has too few degrees of freedom. The tables show – in their place. Use the quantiles, \
             or a prior with more than 2 degrees of freedom."
        )
    })
}

/// `a`, `a and b`, `a, b and 7 more`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [a, b] => format!("{a} and {b}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} more", rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity_glm::{FreeTail, PowerTail};

    fn record(parameter: &str, freedom: f64) -> TailRecord {
        let prior = PowerTail { freedom, location: 0.0, scale: 1.0 };
        TailRecord {
            parameter: parameter.into(),
            tail: FreeTail { prior, up: true, from: 2.0, share: 0.5, brake: None },
        }
    }

    #[test]
    fn moments_that_do_not_exist_are_not_shown() {
        let draws: Vec<f64> = (0..100).map(f64::from).collect();
        let made = |freedom| {
            let mut summary = [Summary::new("a", &[&draws]), Summary::new("b", &[&draws])];
            without_moments(&mut summary, &[record("a", freedom)]);
            assert!(summary[1].mean.is_finite() && summary[1].mcse_sd.is_finite());
            assert!(summary[0].q50.is_finite() && summary[0].ess_bulk.is_finite());
            [summary[0].mean, summary[0].sd, summary[0].mcse_mean, summary[0].mcse_sd].map(f64::is_finite)
        };
        assert_eq!(made(1.0), [false; 4]);
        assert_eq!(made(2.0), [true, false, false, false]);
        assert_eq!(made(3.0), [true, true, true, false]);
        assert_eq!(made(5.0), [true; 4]);
    }

    #[test]
    fn the_sentence_names_what_is_missing() {
        assert_eq!(sentence(&[record("a", 3.0)]), None);
        let one = sentence(&[record("a", 1.0)]).unwrap();
        assert!(one.starts_with("Posterior mean and standard deviation do not exist for a. "), "{one}");
        let two = sentence(&[record("a", 1.0), record("a", 1.0), record("b", 2.0)]).unwrap();
        assert!(two.contains("standard deviation does not exist for b."), "{two}");
    }
}
