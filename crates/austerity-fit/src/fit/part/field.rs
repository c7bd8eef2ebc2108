//! `gibbs`: the variables of a discrete factor graph, from a UAI file, one at a time.
//!
//! A draw is a sweep over all variables in turn. What is recorded is an indicator per value: `x3` is 1 where the binary variable 3 has the value 1, `x4=2`
//! where variable 4 has the value 2 (value 0 is what is left). So means are marginal probabilities and their MCSE is the Monte Carlo error. Chains begin at random states.
//!
//! Under the exact rule binary variables read their sum in closed form, where there is one.

use austerity::kernel::Kernel;
use austerity::model::Fingerprint;
use austerity::rng::{Role, Streams, stream};
use austerity::rule::{Decision, RuleSettings};
use austerity::run::{Checkpoint, Settings, Target};
use austerity_glm::proposal::StoredProposal;
use austerity_models::field::uai;
use austerity_models::{Field, Gibbs, GibbsSettings, Scan};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::{PartRecord, Prepared, Way};
use crate::fit::decide::Decided;
use crate::fit::engine::{AnyKernel, AnySampler, AnyTarget, Chains};
use crate::fit::plan::{DataRecord, Proposing, no_recipe};
use crate::fit::save_draws::Planned;
use crate::fit::{Done, Host};
use crate::model::Family;
use crate::output::Failure;

/// Most numbers of a draw: variables and values of larger fields are for a program of one's own.
const MOST: usize = 100_000;

/// What a plan keeps of a field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FieldRecord {
    variables: usize,
    factors: usize,
}

impl FieldRecord {
    pub(super) fn sentences(self) -> Vec<String> {
        vec![format!(
            "Factor graph: {} variables, {} factors; means of x1, x2, … are the marginal probabilities of value 1, of x1=2 that of value 2.",
            self.variables, self.factors
        )]
    }
}

/// Begins a run of a field or goes on with one.
pub(super) fn go(way: Way<'_>, host: &mut dyn Host) -> Result<Done, Failure> {
    host.note("reading the factor graph");
    let request = way.asked.request;
    let file = &request.data.file;
    let named = |what: String| Failure::Usage(format!("{}: {what}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| named(format!("cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        named(format!("line {}: not UTF-8 text; give a UAI file as text", line + 1))
    })?;
    let decided = Decided::of_part(&request.shape, true)?;
    let rule = match &way.step {
        super::Step::Begin(_) => decided.rule.clone(),
        super::Step::GoOn { run, .. } => run.plan.settings.rule.clone(),
    };
    let mut builder = uai::parse(&text).map_err(|error| named(error.to_string()))?;
    let field = builder.closed_form(matches!(rule, RuleSettings::Exact { .. })).build(way.seed())?;
    let numbers: usize = (0..field.len()).map(|variable| usize::from(field.values(variable)) - 1).sum();
    if numbers > MOST {
        return Err(named(format!(
            "{numbers} marginals are more than the {MOST} that a run records; split the graph"
        )));
    }
    let mut fingerprint = Fingerprint::default();
    fingerprint.push_text(&text);
    let target = Marginals { field, fingerprint: fingerprint.finish() };
    way.sample(&OfField(&target), host, |way| {
        let field = &target.field;
        let start = |chain| {
            let mut rng = stream(way.seed(), chain, Role::Start);
            (0..field.len()).map(|variable| f64::from(rng.random_range(0..field.values(variable)))).collect()
        };
        Ok(Prepared {
            data: DataRecord {
                parts: None,
                file: file.clone(),
                rows: target.rows(),
                fingerprint: String::new(),
                checksum: String::new(),
                bytes: field.data_bytes(),
                mapped: false,
                remarks: Vec::new(),
                successes: None,
                sds: Vec::new(),
            },
            family: Family::Field,
            recipe: no_recipe(),
            record: PartRecord::Field(FieldRecord { variables: field.len(), factors: field.factors() }),
            proposal: Proposing::Conditionals,
            decided,
            sweep: field.len(),
            hazards: Vec::new(),
            starts: way.chains().map(start).collect(),
        })
    })
}

/// What is recorded of a field: which variable has which value.
struct Marginals {
    field: Field,
    fingerprint: u64,
}

impl Target for Marginals {
    type State = Vec<f64>;

    fn names(&self) -> Vec<String> {
        let each = |variable: usize| {
            let name = move |value: u8| match value {
                1 => format!("x{variable}"),
                value => format!("x{variable}={value}"),
            };
            (1..self.field.values(variable)).map(name)
        };
        (0..self.field.len()).flat_map(each).collect()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        let mut out = out.iter_mut();
        for (variable, &value) in state.iter().enumerate() {
            for (one, out) in (1..self.field.values(variable)).zip(&mut out) {
                *out = f64::from(u8::from(value == f64::from(one)));
            }
        }
    }

    /// Factors of a variable, on average.
    fn rows(&self) -> usize {
        let all: usize = (0..self.field.len()).map(|variable| self.field.degree(variable)).sum();
        all.div_ceil(self.field.len()).max(1)
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// Gibbs sampling whose states are numbers.
struct OnNumbers<'f> {
    gibbs: Gibbs<'f>,
    values: Vec<u8>,
}

impl<'f> OnNumbers<'f> {
    fn new(field: &'f Field, settings: &Settings, (chain, state): (u32, &[f64])) -> austerity::Result<Self> {
        let Settings { rule, seed, .. } = settings;
        let settings = GibbsSettings { rule: rule.clone(), scan: Scan::Systematic, seed: *seed, chain };
        let values: Vec<u8> = state.iter().map(|value| *value as u8).collect();
        field.check_state(&values)?;
        Ok(Self { gibbs: Gibbs::new(field, &settings)?, values })
    }
}

impl Kernel for OnNumbers<'_> {
    type State = Vec<f64>;
    type Learnt = Planned;

    fn learnt(&self) -> Planned {
        Planned
    }

    fn step(&mut self, state: &mut Vec<f64>, streams: &mut Streams) -> austerity::Result<Decision> {
        let variable = (streams.step() % state.len() as u64) as usize;
        let decision = self.gibbs.step(&mut self.values, streams)?;
        state[variable] = f64::from(self.values[variable]);
        Ok(decision)
    }
}

/// Chains of a field.
struct OfField<'f>(&'f Marginals);

impl<'f> Chains<'f> for OfField<'f> {
    fn target(&self) -> &'f AnyTarget<'f> {
        self.0
    }

    fn resume(
        &self,
        settings: &Settings,
        checkpoint: Checkpoint<Vec<f64>, StoredProposal>,
    ) -> austerity::Result<AnySampler<'f>> {
        let field = &self.0.field;
        AnyKernel::resume(self.0, settings, checkpoint, &mut |chain, at, _| {
            OnNumbers::new(field, settings, (chain, at.state.as_slice())).map(AnyKernel::new)
        })
    }
}
