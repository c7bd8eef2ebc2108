//! The posterior of the parameters of a multilevel model, whose rows are groups.
//!
//! A state is: coefficients, logarithms of the extra parameters of the family, parameters of Λ ([`Scales`]). What is recorded of Λ are standard deviations and correlations.
//! [`Multilevel`] is [`Likelihoods`] with [`Derivatives`], so [`FromBatches`](crate::own::FromBatches) makes a model of it, [`find_mode`](austerity::model::find_mode) climbs on it and
//! [`RowExpansion`](crate::RowExpansion) expands it, with groups where others have rows.
//!
//! Passes over all groups run on threads in pieces that the data alone decide, added in order: every number of threads gives the same bits. Searches for the mode of a group begin at
//! its mode at the centre of the expansion once that was prepared, else at 0; both end within rounding of the same place.
//!
//! Memory: gradients and Hessians of all groups at the centre, d + d(d + 1)/2 numbers each, unless that is more than [`MOST_KEPT`] bytes; then they are computed when they are asked for.

use std::sync::{Arc, PoisonError, RwLock};

use super::MOST_EFFECTS;
use super::hermite::Hermite;
use super::kernel::{Kernel, Normal, Scalar, Shifted};
use super::layout::Grouped;
use super::marginal::{Effect, Marginal, Point, Workspace};
use super::scales::Scales;
use crate::glm::families::Visitor;
use crate::glm::family::Family;
use crate::own::Derivatives;
use crate::own::Likelihoods;
use crate::{AnyFamily, Priors};
use austerity::error::{Error, Result, setting};
use austerity::parallel;
use austerity::population::Batch;

/// Bytes of derivatives at the centre that are kept at most.
pub const MOST_KEPT: usize = 1 << 30;
/// Pieces that passes are cut into.
const PIECES: usize = 64;

/// How a multilevel model is made.
#[derive(Clone, Debug)]
pub struct MultilevelSettings {
    /// What varies between groups.
    pub effects: Vec<Effect>,
    /// How, with the priors of the standard deviations.
    pub scales: Scales,
    /// Priors of the coefficients, then of the extra parameters.
    pub priors: Priors,
    /// Nodes per effect.
    pub nodes: usize,
    /// Names of all that is recorded: coefficients, extra parameters, standard deviations, correlations.
    pub names: Vec<String>,
    /// Threads of passes over all groups.
    pub threads: usize,
}

/// Derivatives of all groups at the centre of an expansion.
#[derive(Debug)]
struct Centre {
    state: Vec<f64>,
    modes: Vec<[f64; MOST_EFFECTS]>,
    /// d numbers per group, and the lower half of d × d; empty where that is too much.
    gradients: Vec<f64>,
    hessians: Vec<f64>,
}

/// A multilevel model: see the opening of this file.
#[derive(Debug)]
pub struct Multilevel {
    data: Arc<Grouped>,
    kernel: Box<dyn Kernel>,
    settings: MultilevelSettings,
    rule: Hermite,
    centre: RwLock<Option<Arc<Centre>>>,
}

/// The kernel of a family: the one of its own, or one of its scalar definition.
#[must_use]
pub fn kernel_of(family: AnyFamily) -> Box<dyn Kernel> {
    struct Make;
    impl Visitor for Make {
        type Output = Box<dyn Kernel>;
        fn visit<F: Family>(self, family: F) -> Box<dyn Kernel> {
            Box::new(Scalar(family))
        }
    }
    if matches!(family, AnyFamily::Logistic(_)) { Box::new(Shifted) } else { family.visit(Make) }
}

/// The kernel of normal noise.
#[must_use]
pub fn normal_kernel() -> Box<dyn Kernel> {
    Box::new(Normal)
}

/// Working memory of a chain.
#[derive(Debug, Default)]
pub struct Memory {
    work: Workspace,
    centre: Option<Arc<Centre>>,
}

impl Multilevel {
    /// The model of rows sorted by group.
    pub fn new(data: Arc<Grouped>, kernel: Box<dyn Kernel>, settings: MultilevelSettings) -> Result<Self> {
        let rule = Hermite::new(settings.nodes);
        let made = Self { data, kernel, settings, rule, centre: RwLock::new(None) };
        let MultilevelSettings { effects, scales, priors, names, .. } = &made.settings;
        if effects.len() != scales.effects() {
            return Err(setting("effects per group", effects.len(), "as many as there are scales"));
        }
        for effect in effects {
            if let Effect::Column(column) = effect
                && made.data.slots.get(*column).is_none_or(|slot| *slot >= made.data.columns)
            {
                return Err(setting("column of a group's slope", column, "a column of numbers"));
            }
        }
        priors.check(made.data.coefficients() + made.kernel.extra())?;
        if names.len() != made.marginal().dimension() {
            let (expected, found) = (made.marginal().dimension(), names.len());
            return Err(Error::Dimension { what: "names of parameters".into(), expected, found });
        }
        Ok(made)
    }

    /// The same with another number of nodes per effect.
    #[must_use]
    pub fn with_nodes(self, nodes: usize) -> Self {
        let settings = MultilevelSettings { nodes, ..self.settings };
        Self { rule: Hermite::new(nodes), settings, centre: RwLock::new(None), ..self }
    }

    /// Nodes per effect.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.rule.nodes.len()
    }

    /// The rows.
    #[must_use]
    pub fn data(&self) -> &Grouped {
        &self.data
    }

    /// How effects vary.
    #[must_use]
    pub fn scales(&self) -> &Scales {
        &self.settings.scales
    }

    /// Priors of coefficients and extra parameters.
    #[must_use]
    pub fn priors(&self) -> &Priors {
        &self.settings.priors
    }

    /// Coefficients and extra parameters of a state.
    fn plain(&self) -> usize {
        self.data.coefficients() + self.kernel.extra()
    }

    /// The integrals that the model is made of.
    #[must_use]
    pub fn marginal(&self) -> Marginal<'_> {
        self.marginal_with(&self.rule)
    }

    /// The same by another rule.
    #[must_use]
    pub fn marginal_with<'a>(&'a self, rule: &'a Hermite) -> Marginal<'a> {
        Marginal {
            data: &self.data,
            kernel: &*self.kernel,
            effects: &self.settings.effects,
            scales: &self.settings.scales,
            rule,
        }
    }

    /// A state from numbers as they are recorded.
    #[must_use]
    pub fn state(&self, recorded: &[f64]) -> Vec<f64> {
        let (p, plain) = (self.data.coefficients(), self.plain());
        let mut state = recorded[..p].to_vec();
        state.extend(recorded[p..plain].iter().map(|value| value.ln()));
        state.extend(self.settings.scales.read(&recorded[plain..]));
        state
    }

    /// Threads of passes.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.settings.threads.max(1)
    }

    /// Sets the threads of passes, which never change a bit.
    pub fn set_threads(&mut self, threads: usize) {
        self.settings.threads = threads;
    }

    fn centre(&self) -> Option<Arc<Centre>> {
        self.centre.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn begin(centre: Option<&Centre>, group: usize) -> [f64; MOST_EFFECTS] {
        centre.map_or([0.0; MOST_EFFECTS], |centre| centre.modes[group])
    }

    /// log m of all groups.
    pub fn all(&self, state: &[f64], rule: &Hermite) -> Vec<f64> {
        let (marginal, point, centre) =
            (self.marginal_with(rule), self.marginal().point(state), self.centre());
        let pieces = self.data.pieces(PIECES);
        let found = parallel::map(self.threads(), &pieces, |piece| {
            let mut work = Workspace::default();
            let one = |group| {
                marginal.evaluate(group, &point, &mut Self::begin(centre.as_deref(), group), &mut work)
            };
            piece.clone().map(one).collect::<Vec<f64>>()
        });
        found.concat()
    }

    fn at_centre<'c>(&self, centre: Option<&'c Centre>, state: &[f64]) -> Option<&'c Centre> {
        centre.filter(|centre| centre.state == state && !centre.gradients.is_empty())
    }

    /// Adds the derivatives of one group to `gradient` and `hessian`.
    fn add_group(
        &self,
        (state, group): (&[f64], usize),
        work: &mut Workspace,
        (gradient, hessian): (&mut [f64], Option<&mut [f64]>),
    ) {
        let d = state.len();
        let held = self.centre();
        if let Some(centre) = self.at_centre(held.as_deref(), state) {
            let own = &centre.gradients[group * d..(group + 1) * d];
            gradient.iter_mut().zip(own).for_each(|(slot, value)| *slot += value);
            if let Some(hessian) = hessian {
                let half = d * (d + 1) / 2;
                let mut entries = centre.hessians[group * half..(group + 1) * half].iter();
                for i in 0..d {
                    for (j, entry) in (0..=i).zip(entries.by_ref()) {
                        hessian[i * d + j] += entry;
                        if i != j {
                            hessian[j * d + i] += entry;
                        }
                    }
                }
            }
            return;
        }
        let (marginal, point): (_, Point) = (self.marginal(), self.marginal().point(state));
        marginal.evaluate(group, &point, &mut Self::begin(held.as_deref(), group), work);
        marginal.differentiate(group, &point, work, (gradient, hessian));
    }
}

impl Likelihoods for Multilevel {
    type Memory = Memory;

    fn rows(&self) -> usize {
        self.data.len()
    }

    fn names(&self) -> Vec<String> {
        self.settings.names.clone()
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        let plain = self.plain();
        Ok(self.settings.priors.log_density(&state[..plain])
            + self.settings.scales.log_prior(&state[plain..]))
    }

    fn log_likelihoods(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        memory: &mut Memory,
        out: &mut [f64],
    ) -> Result<()> {
        if memory.centre.is_none() {
            memory.centre = self.centre();
        }
        let (marginal, point) = (self.marginal(), self.marginal().point(state));
        let Memory { work, centre } = memory;
        for (out, group) in out.iter_mut().zip(batch.ranges().flatten()) {
            *out = marginal.evaluate(group, &point, &mut Self::begin(centre.as_deref(), group), work);
        }
        Ok(())
    }

    fn write(&self, state: &[f64], out: &mut [f64]) {
        let (p, plain) = (self.data.coefficients(), self.plain());
        out[..p].copy_from_slice(&state[..p]);
        out[p..plain].iter_mut().zip(&state[p..plain]).for_each(|(slot, value)| *slot = value.exp());
        self.settings.scales.write(&state[plain..], &mut out[plain..]);
    }

    /// A decision about a sample of some 64 groups should be worth it.
    fn fewest_expanded(&self) -> usize {
        200
    }

    fn original_row(&self, position: usize) -> usize {
        self.data.level(position)
    }

    fn fingerprint(&self) -> u64 {
        let about = format!(
            "{:?} {:?} {:?} {}",
            self.settings.priors,
            self.settings.scales,
            self.settings.effects,
            self.nodes()
        );
        let data = self.data.fingerprint();
        austerity::model::fingerprint(
            [data as u32, (data >> 32) as u32].into_iter().chain(about.bytes().map(u32::from)),
        )
    }

    fn data_bytes(&self) -> usize {
        self.data.bytes()
    }
}

impl Derivatives for Multilevel {
    fn prepare(&self, centre: &[f64]) -> Result<()> {
        let (marginal, point) = (self.marginal(), self.marginal().point(centre));
        let d = centre.len();
        let half = d * (d + 1) / 2;
        let keeps = self.data.len().saturating_mul(8 * (d + half)) <= MOST_KEPT;
        let pieces = self.data.pieces(PIECES);
        let made = parallel::map(self.threads(), &pieces, |piece| {
            let mut work = Workspace::default();
            let (mut modes, mut gradients, mut hessians) = (Vec::new(), Vec::new(), Vec::new());
            let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
            for group in piece.clone() {
                let mut mode = [0.0; MOST_EFFECTS];
                marginal.evaluate(group, &point, &mut mode, &mut work);
                modes.push(mode);
                if keeps {
                    gradient.fill(0.0);
                    hessian.fill(0.0);
                    marginal.differentiate(group, &point, &mut work, (&mut gradient, Some(&mut hessian)));
                    gradients.extend_from_slice(&gradient);
                    (0..d).for_each(|i| hessians.extend_from_slice(&hessian[i * d..=i * d + i]));
                }
            }
            (modes, gradients, hessians)
        });
        let mut all =
            Centre { state: centre.to_vec(), modes: Vec::new(), gradients: Vec::new(), hessians: Vec::new() };
        for (modes, gradients, hessians) in made {
            all.modes.extend(modes);
            all.gradients.extend(gradients);
            all.hessians.extend(hessians);
        }
        *self.centre.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(all));
        Ok(())
    }

    fn density(&self, state: &[f64], gradient: &mut [f64], hessian: Option<&mut [f64]>) -> Result<f64> {
        let (marginal, point, centre) = (self.marginal(), self.marginal().point(state), self.centre());
        let d = state.len();
        let wanted = hessian.is_some();
        let pieces = self.data.pieces(PIECES);
        let parts = parallel::map(self.threads(), &pieces, |piece| {
            let mut work = Workspace::default();
            let (mut value, mut first, mut second) =
                (0.0, vec![0.0; d], vec![0.0; if wanted { d * d } else { 0 }]);
            for group in piece.clone() {
                value +=
                    marginal.evaluate(group, &point, &mut Self::begin(centre.as_deref(), group), &mut work);
                let second = wanted.then_some(&mut second[..]);
                marginal.differentiate(group, &point, &mut work, (&mut first, second));
            }
            (value, first, second)
        });
        gradient.fill(0.0);
        self.add_prior_gradient(state, gradient)?;
        let mut value = self.log_prior(state)?;
        let mut total = vec![0.0; if wanted { d * d } else { 0 }];
        for (part, first, second) in parts {
            value += part;
            gradient.iter_mut().zip(&first).for_each(|(slot, own)| *slot += own);
            total.iter_mut().zip(&second).for_each(|(slot, own)| *slot += own);
        }
        if let Some(hessian) = hessian {
            let plain = self.plain();
            let mut own = vec![0.0; plain * plain];
            self.settings.priors.add_hessian(&state[..plain], &mut own, |value| value);
            for i in 0..plain {
                (0..plain).for_each(|j| total[i * d + j] += own[i * plain + j]);
            }
            let m = d - plain;
            let (mut unused, mut scales) = (vec![0.0; m], vec![0.0; m * m]);
            self.settings.scales.add_prior_derivatives(&state[plain..], &mut unused, Some(&mut scales));
            for i in 0..m {
                (0..m).for_each(|j| total[(plain + i) * d + plain + j] += scales[i * m + j]);
            }
            hessian.copy_from_slice(&total);
        }
        Ok(value)
    }

    fn add_prior_gradient(&self, state: &[f64], gradient: &mut [f64]) -> Result<()> {
        let plain = self.plain();
        self.settings.priors.add_gradient(&state[..plain], &mut gradient[..plain]);
        self.settings.scales.add_prior_derivatives(&state[plain..], &mut gradient[plain..], None);
        Ok(())
    }

    fn add_gradient(&self, state: &[f64], batch: Batch<'_>, gradient: &mut [f64]) -> Result<()> {
        let mut work = Workspace::default();
        for group in batch.ranges().flatten() {
            self.add_group((state, group), &mut work, (gradient, None));
        }
        Ok(())
    }

    fn add_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()> {
        let mut gradient = vec![0.0; state.len()];
        self.add_group((state, position), &mut Workspace::default(), (&mut gradient, Some(hessian)));
        Ok(())
    }
}
