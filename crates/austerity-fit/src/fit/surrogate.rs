//! Whether a run uses a surrogate, and what comes of it: expansion, transition, rule.
//!
//! | typed | what runs |
//! |---|---|
//! | nothing, or `--surrogate auto` | second order, or third where that saves reading, if the rule and the proposal are left open, or the proposal needs one, and decisions would not be blind |
//! | `--surrogate none` | decisions about all rows themselves |
//! | `--surrogate taylor1`, `taylor2`, `taylor3` | that order, with any proposal; a run whose decisions may be blind is marked |
//!
//! With a surrogate a decision samples residuals, and candidates come from the surrogate itself, reading no data: independent draws where the posterior is
//! nearly normal, Hamiltonian steps elsewhere, as a pilot finds; or Langevin steps, which look at some residuals besides ([`Candidates`]).

use austerity::model::{Mode, Model as _, Parameters as _};
use austerity::rule;
use austerity_glm::check::blindness::SurrogateSettings;
use austerity_glm::glm::Family;
use austerity_glm::glm::expansion::{CertificateSettings, ExpansionReport, ExpansionSettings, GlmExpansion};
use austerity_glm::proposal::Transition;
use austerity_glm::{Glm, Surrogate};
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::decide::{Decided, Wanted};
use super::healing::Care;
use super::proposal::Candidates;
use super::reach;
use crate::output::Failure;
use crate::refusal::{NoSurrogate, Refusal};
use crate::request::{Keyword, ProposalChoice, SurrogateChoice};

/// Fewer rows than this are read whole in less time than a surrogate takes.
pub(super) const FEWEST_ROWS: usize = 2_000;

/// The surrogate of a run, as its folder keeps it: enough to build the same again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SurrogateRecord {
    /// Where the search for the centre begins.
    pub(crate) start: Vec<f64>,
    /// The sd of the random walk it was made for, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) walk: Option<f64>,
    /// How careful its stratum is.
    #[serde(default, skip_serializing_if = "Care::is_planned")]
    pub(crate) care: Care,
    pub(crate) report: ExpansionReport,
}

/// What decides whether there is a surrogate.
pub(super) struct Question<'a> {
    pub(super) choice: SurrogateChoice,
    pub(super) wanted: &'a Wanted,
    pub(super) proposal: ProposalChoice,
    pub(super) mode: &'a Mode,
    pub(super) threads: usize,
    pub(super) seed: u64,
    pub(super) budget: Option<&'a Budget>,
}

/// A surrogate with all that a run needs.
pub(super) struct Prepared<F: Family> {
    pub(super) model: Surrogate<GlmExpansion<F>>,
    pub(super) candidates: Candidates,
    pub(super) decided: Decided,
    pub(super) record: SurrogateRecord,
}

/// A surrogate, or why there is none.
pub(super) type Answer<F> = Result<Box<Prepared<F>>, Without>;

/// Why there is no surrogate.
pub(super) enum Without {
    /// None was asked for, or none is made with the other options.
    Unasked,
    /// It would not serve, for a reason in words.
    Because(String),
    /// Its residuals are so large that decisions about the rows themselves cost less.
    Dear,
    /// The posterior is too far from a polynomial, at this coefficient and by so much ([`reach`]).
    Skewed(String, f64),
}

impl Without {
    /// A remark, where there is something to say.
    pub(super) fn remark(&self) -> Option<String> {
        self.reason().map(|reason| format!("no surrogate: {reason}"))
    }

    /// The reason in words, where there is one beyond the options.
    fn reason(&self) -> Option<String> {
        match self {
            Self::Unasked => None,
            Self::Because(why) => Some(why.clone()),
            Self::Dear => Some(
                "its residuals are so large here that decisions about the rows themselves cost less".into(),
            ),
            Self::Skewed(name, off) => Some(format!(
                "two standard deviations from the mode of {name} its log density would be off by {off:.1}; the data are too few, or events too rare"
            )),
        }
    }
}

/// Whether `--surrogate auto` may mean one. A proposal that needs one goes with every rule but the paper's own, which is about rows.
pub(super) fn is_open(wanted: &Wanted, proposal: ProposalChoice) -> bool {
    if proposal.needs_surrogate() {
        !wanted.is_paper()
    } else {
        wanted.open_to_surrogate() && proposal.open_to_surrogate()
    }
}

/// Why there is none, and what to do for one.
pub(super) struct Absence<'a> {
    pub(super) choice: SurrogateChoice,
    pub(super) family: crate::model::Family,
    pub(super) rows: usize,
    pub(super) paper: bool,
    /// Whether a budget left no time for it.
    pub(super) hurried: bool,
    /// What was found out about one.
    pub(super) found: Option<&'a Without>,
}

impl Absence<'_> {
    /// Refuses a value that needs one, naming what can be used `instead`.
    pub(super) fn refuse(&self, keyword: Keyword, value: String, instead: &'static str) -> Failure {
        let why = match self.found.and_then(Without::reason) {
            Some(reason) => NoSurrogate::Unfit(reason),
            None if self.family == crate::model::Family::Linear => NoSurrogate::Linear,
            None if self.choice == SurrogateChoice::None => NoSurrogate::AskedForNone,
            None if self.paper => NoSurrogate::Paper,
            None if self.hurried => NoSurrogate::Hurried,
            None if self.rows < FEWEST_ROWS => NoSurrogate::Few(self.rows),
            None => NoSurrogate::Unasked,
        };
        Refusal::NeedsSurrogate { keyword, value, why, instead }.into()
    }
}

fn settings(order: u8, care: Care, threads: usize) -> ExpansionSettings {
    let mut stratum = SurrogateSettings::default();
    if care == Care::Stricter {
        stratum.first *= rule::TIGHTER_LOOK;
        stratum.tolerance /= rule::TIGHTER_STOP;
    }
    ExpansionSettings { order, stratum, threads, ..ExpansionSettings::default() }
}

/// Builds the surrogate of a new run.
pub(super) fn prepare<F: Family>(model: &Glm<F>, question: &Question<'_>) -> Result<Answer<F>, Failure> {
    let Question { choice, wanted, proposal, mode, threads, seed, budget } = *question;
    let order = match choice {
        SurrogateChoice::None => return Ok(Err(Without::Unasked)),
        SurrogateChoice::Order(order) => order,
        SurrogateChoice::Auto => {
            if !is_open(wanted, proposal) || model.len() < FEWEST_ROWS {
                return Ok(Err(Without::Unasked));
            }
            2
        }
    };
    let asked = choice != SurrogateChoice::Auto;
    let raise = choice == SurrogateChoice::Auto && !wanted.certified();
    let walk = proposal.width();
    let care = wanted.care();
    let how = ExpansionSettings { raise, walk, ..settings(order, care, threads) };
    let expansion = match GlmExpansion::new(model, &mode.state, &how) {
        Ok(expansion) => expansion,
        Err(error) if asked => return Err(error.into()),
        Err(error) => return Ok(Err(Without::Because(error.to_string()))),
    };
    let expansion = if wanted.certified() { certified(expansion, threads)? } else { expansion };
    let report = expansion.report().clone();
    if report.is_blind() && !asked {
        return Ok(Err(Without::Because(report.sentence())));
    }
    let model = Surrogate::new(expansion);
    if let Some((parameter, off)) = if asked { None } else { reach::lost(&model, mode) } {
        return Ok(Err(Without::Skewed(model.names().swap_remove(parameter), off)));
    }
    let at = (model.expansion().mode(), model.expansion().covariance());
    // Half of what is left may go into a pilot; what was asked for by name gets the time it takes.
    let seconds =
        budget.filter(|_| !asked && proposal == ProposalChoice::Auto).and_then(Budget::seconds_left);
    let candidates = match Candidates::find(proposal, &model, at, mode, seed, seconds.map(|left| 0.5 * left))
    {
        Ok(candidates) => candidates,
        Err(error) if asked => return Err(error),
        Err(error) => return Ok(Err(Without::Because(error.to_string()))),
    };
    let decided = wanted.residuals(&report)?;
    let record = SurrogateRecord { start: mode.state.clone(), walk, care, report };
    Ok(Ok(Box::new(Prepared { model, candidates, decided, record })))
}

fn certified<F: Family>(expansion: GlmExpansion<F>, threads: usize) -> Result<GlmExpansion<F>, Failure> {
    Ok(expansion.with_certificate(&CertificateSettings { threads, ..CertificateSettings::default() })?)
}

/// The surrogate of a run that goes on, with bounds where decisions are certified.
pub(super) fn restore<F: Family>(
    model: &Glm<F>,
    record: &SurrogateRecord,
    bounds: bool,
    threads: usize,
) -> Result<Surrogate<GlmExpansion<F>>, Failure> {
    let settings =
        ExpansionSettings { walk: record.walk, ..settings(record.report.order, record.care, threads) };
    let expansion = GlmExpansion::new(model, &record.start, &settings)?;
    Ok(Surrogate::new(if bounds { certified(expansion, threads)? } else { expansion }))
}

/// A transition of a chain on this surrogate.
pub(super) type Steps<'e, F> = Transition<'e, GlmExpansion<F>>;
