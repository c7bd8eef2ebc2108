//! Who decides in this run: what was typed, completed by a pilot and the design module.
//!
//! | typed | what runs |
//! |---|---|
//! | nothing, or `--rule auto` | the cheapest rule within `--tolerance`: a designed test, or exact decisions where they cost less |
//! | `--rule exact` | exact decisions |
//! | `--rule sequential` without ε and bound | the designed test, or the nearest when none is within the tolerance |
//! | `--epsilon`, `--batch`, `--growth`, `--bound` | that test |
//! | `--preset paper` | Algorithm 1 of the paper with the given ε and m (0.05 and 500 unless told) |
//!
//! A test is designed for its tolerance with the plain threshold; the threshold is then compensated where a λ exists (the temperature
//! of the draws is right with it), unless `--law` or the preset says otherwise.

use austerity::design::{Pairs, Prediction, Steps, choice, choose, compensation, predict};
use austerity::rule;
use austerity::rule::{Bound, Guard, Law, Looks, RuleSettings, SequentialSettings, Statistic, audit};

use super::healing::Care;
use super::plan::{Origin, Threshold, Why};
use super::surrogate::SurrogateReport;
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{
    AuditChoice, BoundChoice, Keyword, LawChoice, Preset, ProposalChoice, RuleChoice, ShapeOptions,
};

/// Tolerance unless told otherwise.
pub(crate) const TOLERANCE: f64 = 0.01;
/// First look of the paper, and of tests of which only ε is given.
const BATCH: usize = 500;
/// Level of the paper's middle runs.
const EPSILON: f64 = 0.05;

/// Passes over the stratum per decision.
const STRATUM_PASSES: f64 = 5.0;

/// A rule with what is expected of it.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) rule: RuleSettings,
    pub(crate) audit: f64,
    pub(crate) prediction: Option<Prediction>,
    pub(crate) reason: Why,
}

/// What was typed about the decision, read and checked.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    rule: RuleChoice,
    test: Option<SequentialSettings>,
    law: Option<LawChoice>,
    stop_at: Option<f64>,
    audit: Option<f64>,
    pub(crate) tolerance: f64,
    block_rows: usize,
    paper: bool,
    /// How careful to be, since audits contradicted what was planned.
    care: Care,
}

impl Decided {
    /// Of a posterior that is no regression's on all features: exact decisions unless a test was asked for, which is then the one of the options. `logistic` is the law of
    /// conditionals.
    pub(crate) fn of_part(options: &ShapeOptions, logistic: bool) -> Result<Self, Failure> {
        let wanted = Wanted::read(options)?;
        let law = if logistic { Law::Logistic } else { Law::Metropolis };
        let test = match (wanted.test, wanted.rule) {
            (_, RuleChoice::Certified) => {
                let allowed = "exact or sequential: bounds are known of regressions only";
                return Err(Refusal::range(Keyword::Rule, "certified", allowed).into());
            }
            (Some(test), _) => test,
            (None, RuleChoice::Sequential) => Wanted::test(options, false, wanted.block_rows)?,
            (None, _) => {
                let reason = match options.rule {
                    Some(RuleChoice::Exact) => Why::Asked,
                    Some(RuleChoice::None) => Why::Untested,
                    _ => Why::Usual,
                };
                let rule = RuleSettings::Exact { law };
                return Ok(Self { rule, audit: 0.0, prediction: None, reason });
            }
        };
        let reason = Why::Test { origin: Origin::Asked, threshold: Threshold::AsGiven };
        // Conditionals are not audited.
        let audit = if logistic { 0.0 } else { wanted.audit.unwrap_or_else(|| audit::rate(1.0)) };
        let rule = RuleSettings::Sequential(SequentialSettings { law, ..test });
        Ok(Self { rule, audit, prediction: None, reason })
    }
}

impl Wanted {
    /// Reads the options.
    pub(crate) fn read(options: &ShapeOptions) -> Result<Self, Failure> {
        let paper = options.preset == Some(Preset::Paper);
        let tolerance = options.tolerance.unwrap_or(TOLERANCE);
        if !(tolerance > 0.0 && tolerance < 1.0) {
            let allowed = "a number above 0 and below 1";
            return Err(Refusal::range(Keyword::Tolerance, tolerance, allowed).into());
        }
        let law = options.law;
        if let Some(LawChoice::Given(law)) = law {
            law.check()?;
        }
        if let Some(tau) = options.stop_at
            && !(tau >= 0.0 && tau.is_finite())
        {
            return Err(Refusal::range(Keyword::StopAt, tau, "a finite number, 0 or more").into());
        }
        let audit = match options.audit {
            None | Some(AuditChoice::Auto) => None,
            Some(AuditChoice::Rate(rate)) if (0.0..=1.0).contains(&rate) => Some(rate),
            Some(AuditChoice::Rate(rate)) => {
                return Err(Refusal::range(Keyword::Audit, rate, "a share from 0 to 1").into());
            }
        };
        let by_mini_batches = options.proposal.is_some_and(ProposalChoice::follows_mini_batches);
        if options.rule == Some(RuleChoice::None) && !by_mini_batches {
            let allowed =
                "auto, exact, sequential or certified; none is for --proposal sgld:SD and sgfs:STEP";
            return Err(Refusal::range(Keyword::Rule, "none", allowed).into());
        }
        // Without a test the rows of a batch are those of a gradient.
        let of_gradient =
            by_mini_batches && matches!(options.rule, Some(RuleChoice::Exact | RuleChoice::None));
        let test_given = options.epsilon.is_some()
            || (options.batch.is_some() && !of_gradient)
            || options.growth.is_some()
            || options.bound.is_some();
        let rule = match options.rule {
            None if paper || test_given => RuleChoice::Sequential,
            None => RuleChoice::Auto,
            Some(RuleChoice::Exact | RuleChoice::Certified | RuleChoice::None)
                if paper || test_given || options.stop_at.is_some() =>
            {
                return Err(Refusal::ExactMakesNoTest.into());
            }
            Some(RuleChoice::Auto) if paper || test_given => RuleChoice::Sequential,
            Some(rule) => rule,
        };
        let block_rows = options.block_rows.unwrap_or(if paper { 1 } else { austerity::BLOCK_ROWS });
        if block_rows == 0 {
            return Err(Refusal::range(Keyword::BlockRows, block_rows, "at least 1").into());
        }
        let test = (paper || test_given).then(|| Self::test(options, paper, block_rows)).transpose()?;
        let wanted = Self {
            rule,
            test,
            law,
            stop_at: options.stop_at,
            audit,
            tolerance,
            block_rows,
            paper,
            care: Care::Planned,
        };
        let compensated =
            matches!(law, Some(LawChoice::Compensated | LawChoice::Given(Law::Compensated { .. })));
        let exact = matches!(rule, RuleChoice::Exact | RuleChoice::Certified | RuleChoice::None);
        if exact && compensated {
            return Err(Refusal::CompensatedExact.into());
        }
        if exact && (options.tolerance.is_some() || audit.is_some_and(|rate| rate > 0.0)) {
            return Err(Refusal::ExactMakesNoError.into());
        }
        Ok(wanted)
    }

    fn test(options: &ShapeOptions, paper: bool, block_rows: usize) -> Result<SequentialSettings, Failure> {
        let named = options.bound.unwrap_or_default();
        let bound: Bound = named.with_epsilon(Some(options.epsilon.unwrap_or(EPSILON)))?;
        if matches!(named, BoundChoice::WangTsiatis { .. }) && options.epsilon.is_some() {
            return Err(Refusal::EpsilonTwice.into());
        }
        Ok(SequentialSettings {
            looks: Looks::Growing {
                first: options.batch.unwrap_or(BATCH),
                growth: options.growth.unwrap_or(1.0),
            },
            bound,
            statistic: Statistic::Student,
            law: Law::Metropolis,
            stop_at: options.stop_at,
            missed: None,
            guard: (!paper).then(Guard::default),
            block_rows,
        })
    }

    /// The same as careful as audits ask for: see [`super::healing`].
    pub(crate) fn with_care(mut self, care: Care) -> Self {
        match care {
            Care::Planned | Care::Stricter => {}
            Care::Certified => self.rule = RuleChoice::Certified,
            Care::Exact => self.rule = RuleChoice::Exact,
        }
        self.care = care;
        self
    }

    /// How careful to be.
    pub(crate) fn care(&self) -> Care {
        self.care
    }

    /// Whether pairs of a pilot are needed: a test is to be chosen or predicted.
    pub(crate) fn needs_pilot(&self) -> bool {
        !matches!(self.rule, RuleChoice::Exact | RuleChoice::Certified | RuleChoice::None)
    }

    /// Whether a test was asked for.
    pub(crate) fn wants_test(&self) -> bool {
        self.rule == RuleChoice::Sequential
    }

    /// Whether nothing was typed that a surrogate would overrule.
    pub(crate) fn open_to_surrogate(&self) -> bool {
        let open = matches!(self.rule, RuleChoice::Auto | RuleChoice::Certified);
        open && self.law.is_none() && !self.paper
    }

    /// Whether the paper's own test was asked for.
    pub(crate) fn is_paper(&self) -> bool {
        self.paper
    }

    /// Whether nothing at all was typed about the decision: a budget may choose.
    pub(crate) fn is_open(&self) -> bool {
        let untyped = self.test.is_none() && self.law.is_none() && self.stop_at.is_none();
        untyped && self.rule == RuleChoice::Auto && self.tolerance == TOLERANCE && !self.paper
    }

    /// Whether audits were asked for.
    pub(crate) fn asks_for_audits(&self) -> bool {
        self.audit.is_some_and(|share| share > 0.0)
    }

    /// Share of the decisions to be audited when each reads so much of the data.
    pub(crate) fn audited(&self, share: f64) -> f64 {
        self.audit.unwrap_or_else(|| audit::rate(share))
    }

    /// Rows that are drawn together.
    pub(crate) fn block_rows(&self) -> usize {
        self.block_rows
    }

    /// Whether decisions are to be certified by bounds.
    pub(crate) fn certified(&self) -> bool {
        self.rule == RuleChoice::Certified
    }

    /// The test on residuals: that of the defaults, with what was typed in its place.
    pub(crate) fn residuals(&self, report: &SurrogateReport) -> Result<Decided, Failure> {
        if self.rule == RuleChoice::Exact {
            return Ok(self.exact(Why::AskedOnResiduals));
        }
        if self.certified() {
            let law = self.plain_law().uncompensated();
            let reason = Why::Bounds { asked: self.care.is_planned() };
            return Ok(Decided {
                rule: RuleSettings::Certified { law },
                audit: 0.0,
                prediction: None,
                reason,
            });
        }
        let standard = SequentialSettings::residuals_from(report.first_look());
        let mut settings = match &self.test {
            Some(test) => SequentialSettings { guard: None, ..test.clone() },
            None => SequentialSettings { block_rows: self.block_rows, ..standard.clone() },
        };
        settings.stop_at = self.stop_at.or(settings.stop_at).or(standard.stop_at);
        // Options you set yourself are never overridden.
        let missed = report.missed().map(|(missed, _)| missed);
        settings.missed = missed.filter(|missed| self.test.is_none() && *missed > 0.0 && missed.is_finite());
        if self.care == Care::Stricter {
            settings.stop_at = settings.stop_at.map(|tau| tau / rule::TIGHTER_STOP);
        }
        match self.law {
            Some(LawChoice::Given(law)) => settings.law = law,
            Some(LawChoice::Compensated) => {
                return Err(Refusal::CompensatedResiduals.into());
            }
            None => {}
        }
        let share =
            (report.rows_to_tolerance() + STRATUM_PASSES * report.stratum() as f64) / report.rows() as f64;
        Ok(Decided {
            rule: RuleSettings::Sequential(settings),
            audit: self.audit.unwrap_or_else(|| audit::rate(share)),
            prediction: None,
            reason: Why::Residuals,
        })
    }

    /// Refuses a test that cannot be built for `rows` rows, before anything else is done.
    pub(crate) fn check(&self, rows: usize) -> Result<(), Failure> {
        if let Some(test) = &self.test {
            RuleSettings::Sequential(test.clone()).build(rows)?;
        }
        Ok(())
    }

    /// Exact decisions.
    pub(crate) fn exact(&self, reason: Why) -> Decided {
        let law = self.plain_law().uncompensated();
        Decided { rule: RuleSettings::Exact { law }, audit: 0.0, prediction: None, reason }
    }

    /// The law to design for: that which was typed, unless its λ is to be found.
    fn plain_law(&self) -> Law {
        match self.law {
            Some(LawChoice::Given(law)) => law,
            _ => Law::Metropolis,
        }
    }

    /// Completes the choice with the pairs of a pilot, whose steps are made like `steps`.
    pub(crate) fn decide(&self, pairs: &Pairs, steps: Steps) -> Result<Decided, Failure> {
        if pairs.as_slice().is_empty() {
            if self.wants_test() {
                return Err(Refusal::NoMoves.into());
            }
            return Ok(self.exact(Why::NoMoves));
        }
        let (mut settings, origin) = match (&self.test, self.rule) {
            (Some(test), _) => (test.clone(), Origin::Asked),
            (None, RuleChoice::Sequential) => self.designed(pairs)?,
            (None, _) => {
                let choice = choose((pairs, steps), self.plain_law(), self.tolerance, self.block_rows)?;
                match choice.rule {
                    RuleSettings::Sequential(settings) => (settings, Origin::Cheapest(choice.reason)),
                    _ => return Ok(self.exact(Why::ExactByDesign { finding: choice.reason })),
                }
            }
        };
        settings.stop_at = self.stop_at.or(settings.stop_at);
        let mut threshold = Threshold::AsGiven;
        match self.law {
            Some(LawChoice::Given(law)) => settings.law = law,
            Some(LawChoice::Compensated) if steps == Steps::Other => {
                return Err(Refusal::CompensatedSteps.into());
            }
            Some(LawChoice::Compensated) => match compensation(&settings, pairs, steps)? {
                Some(lambda) => settings.law = Law::Compensated { lambda },
                None => {
                    return Err(Refusal::NoCompensation.into());
                }
            },
            None if steps != Steps::Other && !self.paper => {
                if let Some(lambda) = compensation(&settings, pairs, steps)? {
                    settings.law = Law::Compensated { lambda };
                    threshold = Threshold::Compensated(lambda);
                } else {
                    threshold = Threshold::NoLambda;
                }
            }
            None => {}
        }
        let prediction = predict(&settings, pairs, steps)?;
        Ok(Decided {
            rule: RuleSettings::Sequential(settings),
            audit: self.audit.unwrap_or_else(|| audit::rate(prediction.data_share)),
            prediction: Some(prediction),
            reason: Why::Test { origin, threshold },
        })
    }

    /// The cheapest test within the tolerance, or the nearest.
    fn designed(&self, pairs: &Pairs) -> Result<(SequentialSettings, Origin), Failure> {
        let search = choice::search(pairs, self.plain_law(), self.tolerance, self.block_rows)?;
        let design = search.best.as_ref().unwrap_or(&search.nearest);
        let settings = design.candidate.settings(Statistic::Student, self.plain_law(), self.block_rows);
        Ok((settings, Origin::Designed(search.verdict())))
    }
}
