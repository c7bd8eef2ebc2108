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

use austerity::model::{Mode, Parameters as _, find_mode};
use austerity::rule;
use austerity_glm::check::blindness::ResidualTest;
use austerity_glm::glm::Family;
use austerity_glm::glm::expansion::{CertificateSettings, ExpansionReport, ExpansionSettings, GlmExpansion};
use austerity_glm::own::{Derivatives, FromBatches};
use austerity_glm::row_expansion::{RowExpansionReport, RowExpansionSettings};
use austerity_glm::{CertainSteps, Glm, ResidualGradient, RowExpansion, Surrogate};
use serde::{Deserialize, Serialize};

use super::begin::Planner;
use super::budget::Budget;
use super::decide::{Decided, Wanted};
use super::healing::Care;
use super::plan::{Without, words};
use super::proposal::{Around, Candidates};
use super::reach;
use crate::model::Sampled;
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
    pub(crate) report: SurrogateReport,
}

/// What building a surrogate found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum SurrogateReport {
    /// Of a regression.
    Regression(ExpansionReport),
    /// Of a user's own model.
    Own(RowExpansionReport),
}

impl SurrogateReport {
    /// The order of the expansion.
    pub(crate) fn order(&self) -> u8 {
        match self {
            Self::Regression(report) => report.order,
            Self::Own(report) => report.order,
        }
    }

    /// Rows that every decision reads.
    pub(crate) fn stratum(&self) -> usize {
        match self {
            Self::Regression(report) => report.stratum,
            Self::Own(report) => report.stratum,
        }
    }

    /// Rows of a test's first look.
    pub(crate) fn first_look(&self) -> usize {
        match self {
            Self::Regression(report) => report.first_look,
            Self::Own(_) => ResidualTest::default().first,
        }
    }

    /// What rows that a batch typically misses can add to a total, and the standard error that such a batch claims; nothing where rows were not scored.
    pub(crate) fn missed(&self) -> Option<(f64, f64)> {
        match self {
            Self::Regression(report) => Some((report.missed, report.believed)),
            Self::Own(report) => {
                report.predicted.map(|found| (found.blindness.missed, found.blindness.believed))
            }
        }
    }

    /// Rows that a decision is predicted to sample, and to read in every case; all of them where rows were not scored.
    pub(crate) fn rows_to_tolerance(&self) -> f64 {
        match self {
            Self::Regression(report) => report.rows_to_tolerance,
            Self::Own(report) => report.predicted.map_or(report.rows as f64, |found| found.rows_to_tolerance),
        }
    }

    /// Rows of the data.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Regression(report) => report.rows,
            Self::Own(report) => report.rows,
        }
    }

    /// Whether decisions could rest on batches that miss what matters without knowing it, or nobody can tell.
    pub(crate) fn is_blind(&self) -> bool {
        self.missed().is_none_or(|(missed, believed)| missed > believed)
    }

    /// The outcome in a sentence or two.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Regression(report) => report.sentence(),
            Self::Own(report) => report.sentence(),
        }
    }
}

/// A model that can be expanded at its mode.
pub(super) trait Expandable: Sampled {
    type Expansion<'m>: CertainSteps + ResidualGradient
    where
        Self: 'm;

    /// Whether the residuals of all rows are looked at two standard deviations from the mode ([`reach`]).
    const REACHES: bool;

    /// Fewer rows than this are read whole in less time than a surrogate takes.
    fn fewest(&self) -> usize {
        FEWEST_ROWS
    }

    /// The mode to expand at, near the one that was found.
    fn centre(&self, mode: &Mode) -> austerity::Result<Mode>;

    /// The expansion at `start`.
    fn expand(&self, start: &[f64], how: &Order) -> austerity::Result<Self::Expansion<'_>>;

    /// The same with bounds that certify decisions.
    fn with_bounds<'m>(
        expansion: Self::Expansion<'m>,
        threads: usize,
    ) -> Result<Self::Expansion<'m>, Failure>
    where
        Self: 'm;

    /// What building it found.
    fn report(expansion: &Self::Expansion<'_>) -> SurrogateReport;

    /// Its centre and the covariance there.
    fn at<'e>(expansion: &'e Self::Expansion<'_>, mode: &'e Mode) -> (&'e [f64], &'e [f64]);
}

/// How a model is expanded.
pub(super) struct Order {
    pub(super) order: u8,
    /// Whether a third order may be taken where it saves reading.
    pub(super) raise: bool,
    /// The sd of the random walk it is made for, where it is.
    pub(super) walk: Option<f64>,
    pub(super) care: Care,
    /// Whether the start is the centre as it is: with several modes a search could lead to another.
    pub(super) fixed: bool,
    pub(super) threads: usize,
}

impl<F: Family> Expandable for Glm<F> {
    type Expansion<'m> = GlmExpansion<F>;
    const REACHES: bool = true;

    fn centre(&self, mode: &Mode) -> austerity::Result<Mode> {
        Ok(mode.clone())
    }

    fn expand(&self, start: &[f64], how: &Order) -> austerity::Result<GlmExpansion<F>> {
        let Order { order, raise, walk, care, fixed, threads } = *how;
        let mut stratum = ResidualTest::default();
        if care == Care::Stricter {
            stratum.first *= rule::TIGHTER_LOOK;
            stratum.tolerance /= rule::TIGHTER_STOP;
        }
        let how =
            ExpansionSettings { order, stratum, threads, raise, walk, fixed, ..ExpansionSettings::default() };
        GlmExpansion::new(self, start, &how)
    }

    fn with_bounds<'m>(expansion: GlmExpansion<F>, threads: usize) -> Result<GlmExpansion<F>, Failure>
    where
        Self: 'm,
    {
        let certificate = CertificateSettings { threads, ..CertificateSettings::default() };
        Ok(expansion.with_certificate(&certificate)?)
    }

    fn report(expansion: &GlmExpansion<F>) -> SurrogateReport {
        SurrogateReport::Regression(expansion.report().clone())
    }

    fn at<'e>(expansion: &'e GlmExpansion<F>, _mode: &'e Mode) -> (&'e [f64], &'e [f64]) {
        (expansion.mode(), expansion.covariance())
    }
}

impl<L: Derivatives> Expandable for FromBatches<L> {
    type Expansion<'m>
        = RowExpansion<'m, Self>
    where
        Self: 'm;
    const REACHES: bool = false;

    fn fewest(&self) -> usize {
        self.likelihoods().fewest_expanded()
    }

    fn centre(&self, mode: &Mode) -> austerity::Result<Mode> {
        find_mode(self, &mode.state)
    }

    fn expand(&self, start: &[f64], how: &Order) -> austerity::Result<RowExpansion<'_, Self>> {
        let how = RowExpansionSettings { order: how.order, fixed: true, ..Default::default() };
        self.likelihoods().prepare(start)?;
        RowExpansion::new(self, start, &how)
    }

    fn with_bounds<'m>(_: RowExpansion<'m, Self>, _: usize) -> Result<RowExpansion<'m, Self>, Failure>
    where
        Self: 'm,
    {
        Err(Refusal::OwnCertified.into())
    }

    fn report(expansion: &RowExpansion<'_, Self>) -> SurrogateReport {
        SurrogateReport::Own(expansion.report().clone())
    }

    fn at<'e>(expansion: &'e RowExpansion<'_, Self>, mode: &'e Mode) -> (&'e [f64], &'e [f64]) {
        (&mode.state, expansion.covariance())
    }
}

/// A surrogate with all that a run needs.
pub(super) struct Prepared<E> {
    pub(super) model: Surrogate<E>,
    pub(super) candidates: Candidates,
    pub(super) decided: Decided,
    pub(super) record: SurrogateRecord,
}

/// A surrogate, or why there is none.
pub(super) type Answer<E> = Result<Box<Prepared<E>>, Without>;

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
        let why = match self.found.and_then(words::without) {
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

impl Planner<'_> {
    /// Builds the surrogate of a new run, or tells why there is none. The mode is that of the surrogate from then on.
    pub(super) fn surrogate<'m, M: Expandable>(
        &mut self,
        model: &'m M,
    ) -> Result<Answer<M::Expansion<'m>>, Failure>
    where
        Surrogate<M::Expansion<'m>>: Sampled,
    {
        let (choice, proposal) = (self.request.shape.surrogate.unwrap_or_default(), self.proposal());
        let order = match choice {
            SurrogateChoice::None => return Ok(Err(Without::Unasked)),
            SurrogateChoice::Order(order) => order,
            SurrogateChoice::Auto if !is_open(&self.wanted, proposal) || model.len() < model.fewest() => {
                return Ok(Err(Without::Unasked));
            }
            SurrogateChoice::Auto => 2,
        };
        self.host.note("expanding the likelihood at the mode");
        self.expanded(model, order)
    }

    /// The surrogate of this order, unless nobody asked for it and it would not serve.
    fn expanded<'m, M: Expandable>(
        &mut self,
        model: &'m M,
        order: u8,
    ) -> Result<Answer<M::Expansion<'m>>, Failure>
    where
        Surrogate<M::Expansion<'m>>: Sampled,
    {
        let proposal = self.proposal();
        let asked = self.request.shape.surrogate.unwrap_or_default() != SurrogateChoice::Auto;
        // Where nobody asked for a surrogate, one that fails is left out.
        let left_out = |error: Failure| {
            if asked { Err(error) } else { Ok(Err(Without::Failed(error.to_string()))) }
        };
        let (care, walk, bounds) = (self.wanted.care(), proposal.width(), self.wanted.certified());
        let how =
            Order { order, raise: !asked && !bounds, walk, care, fixed: false, threads: self.threads() };
        let made =
            model.centre(&self.start.mode).and_then(|mode| Ok((model.expand(&mode.state, &how)?, mode)));
        let (expansion, mode) = match made {
            Ok(made) => made,
            Err(error) => return left_out(error.into()),
        };
        let expansion = if bounds { M::with_bounds(expansion, how.threads)? } else { expansion };
        let report = M::report(&expansion);
        if report.is_blind() && !asked {
            return Ok(Err(Without::Blind(report)));
        }
        let model = Surrogate::new(expansion);
        if let Some((parameter, off)) = if asked || !M::REACHES { None } else { reach::lost(&model, &mode) } {
            let parameter = model.names().swap_remove(parameter);
            return Ok(Err(Without::Skewed { parameter, off }));
        }
        self.start.mode.clone_from(&mode);
        // Half of what is left may go into a pilot; what was asked for by name gets the time it takes.
        let hurried = self.budget.as_ref().filter(|_| !asked && proposal == ProposalChoice::Auto);
        let seconds = hurried.and_then(Budget::seconds_left).map(|left| 0.5 * left);
        let (centre, covariance) = M::at(model.expansion(), &mode);
        let around =
            Around { centre, covariance, mode: &mode, seed: self.request.seed_or_default(), seconds };
        let candidates = match Candidates::find(proposal, &model, &around) {
            Ok(candidates) => candidates,
            Err(error) => return left_out(error),
        };
        let decided = self.wanted.residuals(&report)?;
        let record = SurrogateRecord { start: mode.state.clone(), walk, care, report };
        Ok(Ok(Box::new(Prepared { model, candidates, decided, record })))
    }
}

/// The surrogate of a run that goes on, with bounds where decisions are certified.
pub(super) fn restored<'m, M: Expandable>(
    model: &'m M,
    record: &SurrogateRecord,
    bounds: bool,
    threads: usize,
) -> Result<Surrogate<M::Expansion<'m>>, Failure> {
    again(model, record, (bounds, false), threads).map(Surrogate::new)
}

/// The expansion of a run that goes on, with bounds where decisions are certified, at a centre that is looked for or fixed.
pub(super) fn again<'m, M: Expandable>(
    model: &'m M,
    record: &SurrogateRecord,
    (bounds, fixed): (bool, bool),
    threads: usize,
) -> Result<M::Expansion<'m>, Failure> {
    let (order, walk, care) = (record.report.order(), record.walk, record.care);
    let expansion =
        model.expand(&record.start, &Order { order, raise: false, walk, care, fixed, threads })?;
    if bounds { M::with_bounds(expansion, threads) } else { Ok(expansion) }
}
