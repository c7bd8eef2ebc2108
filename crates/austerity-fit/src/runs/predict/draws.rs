//! The draws of a run as panels, and one noise per draw.
//!
//! A panel holds [`PANEL`] draws side by side, coefficient after coefficient: what the product reads in one stream.

use austerity::rng::{Role, stream};
use austerity_glm::glm::Visitor;
use rand::seq::SliceRandom as _;
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::model::Family;
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::runs::{Folder, RunFile};

/// Draws in a panel.
pub(in crate::runs) const PANEL: usize = 8;

/// Draws on the original scale of the columns.
#[derive(Debug)]
pub(in crate::runs) struct Draws {
    count: usize,
    coefficients: usize,
    intercept: bool,
    /// Panel after panel; draws beyond the last are 0.
    panels: Vec<f64>,
    /// Logarithms of the extra parameters, draw after draw.
    extra: Vec<f64>,
    /// The level u of every draw's new observation.
    pub(in crate::runs) level: Vec<f64>,
    /// The quantile u of the family's standard noise.
    pub(in crate::runs) noise: Vec<f64>,
    /// Chains, one after the other, of the same length.
    chains: usize,
}

impl Draws {
    /// At most `most` draws, evenly spread over all chains.
    pub(in crate::runs) fn read(
        folder: &Folder,
        run: &RunFile,
        most: usize,
        seed: u64,
    ) -> Result<Self, Failure> {
        let shown = folder.path().display();
        let reader = folder.reader()?;
        let names = reader.names();
        let family = run.plan.model.family;
        let wanted = run.plan.recipe.coefficient_names();
        let mut needed = wanted.clone();
        needed.extend(family.extra().iter().map(|extra| extra.name.to_owned()));
        let place = |name: &String| names.iter().position(|known| known == name);
        let missing: Vec<String> = needed.iter().filter(|name| place(name).is_none()).cloned().collect();
        if !missing.is_empty() {
            return Err(Refusal::NotKept { run: folder.path().into(), names: missing }.into());
        }
        if reader.draws() == 0 {
            return Err(Failure::Usage(format!(
                "{shown} holds no draws yet: go on with `austerity fit … --out {shown} --resume`"
            )));
        }
        let each = most / reader.chains();
        if each == 0 {
            return Err(Refusal::FewerThanChains { draws: most, chains: reader.chains() }.into());
        }
        let places: Vec<usize> = needed.iter().filter_map(place).collect();
        let thinned = reader.thinned(each)?;
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for chain in &thinned.values {
            for draw in chain.chunks_exact(names.len().max(1)) {
                let mut row: Vec<f64> = places.iter().map(|&place| draw[place]).collect();
                if !run.plan.model.standardize {
                    // The draws of such a run are on the scale of the design, which differs where its store was standardised.
                    run.plan.recipe.to_original(&mut row[..wanted.len()]);
                }
                rows.push(row);
            }
        }
        let made = Self::new(&rows, (wanted.len(), run.plan.recipe.intercept), family, seed)?;
        Ok(Self { chains: thinned.values.len(), ..made })
    }

    /// From whole draws: so many coefficients, the intercept first where there is one, then the extra parameters.
    pub(in crate::runs) fn new(
        rows: &[Vec<f64>],
        (coefficients, intercept): (usize, bool),
        family: Family,
        seed: u64,
    ) -> Result<Self, Failure> {
        let count = rows.len();
        let mut panels = vec![0.0; count.div_ceil(PANEL) * PANEL * coefficients];
        for (d, row) in rows.iter().enumerate() {
            let panel = d / PANEL * PANEL * coefficients;
            for (j, &value) in row[..coefficients].iter().enumerate() {
                panels[panel + j * PANEL + d % PANEL] = value;
            }
        }
        let mut level: Vec<f64> = (0..count).map(|k| (k as f64 + 0.5) / count as f64).collect();
        level.shuffle(&mut stream(seed, u32::MAX, Role::Data));
        let extras = family.extra().len();
        let extra: Vec<f64> = rows
            .iter()
            .flat_map(|row| row[coefficients..].iter().take(extras).map(|value| value.ln()))
            .collect();
        let noise = match family {
            Family::Glm(family) => family.visit(Noise { level: &level, extra: &extra }),
            Family::Linear | Family::Own | Family::Components | Family::Field => {
                let law = Normal::standard();
                level.iter().map(|&u| law.inverse_cdf(u)).collect()
            }
        };
        Ok(Self { count, coefficients, intercept, panels, extra, level, noise, chains: 1 })
    }

    /// Logarithms of the extra parameters of a draw.
    #[inline]
    pub(in crate::runs) fn extra(&self, draw: usize) -> &[f64] {
        let each = self.extra.len() / self.count;
        &self.extra[draw * each..(draw + 1) * each]
    }

    /// Whole draws: the coefficients, then the logarithms of the extra parameters.
    pub(in crate::runs) fn states(&self) -> Vec<Vec<f64>> {
        let state = |draw: usize| {
            let panel = draw / PANEL * PANEL * self.coefficients;
            let coefficient = |j: usize| self.panels[panel + j * PANEL + draw % PANEL];
            (0..self.coefficients).map(coefficient).chain(self.extra(draw).iter().copied()).collect()
        };
        (0..self.count).map(state).collect()
    }

    /// Effective draws of the mean per draw, averaged over the parameters that move.
    pub(in crate::runs) fn efficiency(&self, states: &[Vec<f64>]) -> f64 {
        let parameters = states.first().map_or(0, Vec::len);
        let each = (self.count / self.chains.max(1)).max(1);
        let shares: Vec<f64> = (0..parameters)
            .map(|j| {
                let values: Vec<f64> = states.iter().map(|state| state[j]).collect();
                let chains: Vec<&[f64]> = values.chunks_exact(each).collect();
                austerity::diagnostics::ess_mean(&chains) / self.count as f64
            })
            .filter(|share| share.is_finite() && *share > 0.0)
            .collect();
        if shares.is_empty() { 1.0 } else { shares.iter().sum::<f64>() / shares.len() as f64 }
    }

    /// Chains, one after the other, of the same length.
    pub(in crate::runs) fn chains(&self) -> usize {
        self.chains
    }

    /// Number of draws.
    pub(in crate::runs) fn count(&self) -> usize {
        self.count
    }

    /// Whether the first coefficient is an intercept.
    pub(in crate::runs) fn intercept(&self) -> bool {
        self.intercept
    }

    /// Number of coefficients.
    pub(in crate::runs) fn coefficients(&self) -> usize {
        self.coefficients
    }

    /// Coefficient after coefficient, of [`PANEL`] draws each.
    pub(in crate::runs) fn panels(&self) -> impl Iterator<Item = &[[f64; PANEL]]> {
        let (panels, _) = self.panels.as_chunks::<PANEL>();
        panels.chunks_exact(self.coefficients.max(1))
    }
}

/// The standard noise of every draw.
struct Noise<'a> {
    level: &'a [f64],
    extra: &'a [f64],
}

impl Visitor for Noise<'_> {
    type Output = Vec<f64>;

    fn visit<F: austerity_glm::glm::Family>(self, family: F) -> Vec<f64> {
        let each = family.extra().len();
        let of = |(d, &level): (usize, &f64)| family.noise(level, &self.extra[d * each..(d + 1) * each]);
        self.level.iter().enumerate().map(of).collect()
    }
}
