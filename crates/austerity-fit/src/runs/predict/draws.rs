//! The draws of a run as panels, and one noise per draw.
//!
//! A panel holds [`PANEL`] draws side by side, coefficient after coefficient: what the product reads in one stream.

use austerity::rng::{Role, stream};
use rand::seq::SliceRandom as _;
use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

use crate::model::{FREEDOM, Family};
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::runs::{Folder, RunFile};

/// Draws in a panel.
pub(super) const PANEL: usize = 8;

/// Draws on the original scale of the columns.
#[derive(Debug)]
pub(super) struct Draws {
    count: usize,
    coefficients: usize,
    intercept: bool,
    /// Panel after panel; draws beyond the last are 0.
    panels: Vec<f64>,
    /// σ of every draw, where the family has one.
    pub(super) sigma: Vec<f64>,
    /// The level u of every draw's new observation.
    pub(super) level: Vec<f64>,
    /// The quantile u of the family's noise with scale 1: Student t for its family, else normal.
    pub(super) noise: Vec<f64>,
}

impl Draws {
    /// At most `most` draws, evenly spread over all chains.
    pub(super) fn read(folder: &Folder, run: &RunFile, most: usize, seed: u64) -> Result<Self, Failure> {
        let shown = folder.path().display();
        let reader = folder.reader()?;
        let names = reader.names();
        let family = run.model.family;
        let wanted = run.recipe.coefficient_names();
        let mut needed = wanted.clone();
        needed.extend(family.has_sigma().then(|| "sigma".to_owned()));
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
                if !run.model.standardize {
                    // The draws of such a run are on the scale of the design, which differs where its store was standardised.
                    run.recipe.to_original(&mut row[..wanted.len()]);
                }
                rows.push(row);
            }
        }
        Self::new(&rows, wanted.len(), run.recipe.intercept, family, seed)
    }

    /// From whole draws: the coefficients, then σ if there is one.
    pub(super) fn new(
        rows: &[Vec<f64>],
        coefficients: usize,
        intercept: bool,
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
        let broken =
            |error: &dyn std::fmt::Display| Failure::Usage(format!("the noise has no quantiles: {error}"));
        let noise = if family == Family::Student {
            let law = StudentsT::new(0.0, 1.0, FREEDOM).map_err(|error| broken(&error))?;
            level.iter().map(|&u| law.inverse_cdf(u)).collect()
        } else {
            let law = Normal::new(0.0, 1.0).map_err(|error| broken(&error))?;
            level.iter().map(|&u| law.inverse_cdf(u)).collect()
        };
        let sigma = rows.iter().filter_map(|row| row.get(coefficients).copied()).collect();
        Ok(Self { count, coefficients, intercept, panels, sigma, level, noise })
    }

    /// Number of draws.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether the first coefficient is an intercept.
    pub(super) fn intercept(&self) -> bool {
        self.intercept
    }

    /// Number of coefficients.
    pub(super) fn coefficients(&self) -> usize {
        self.coefficients
    }

    /// Coefficient after coefficient, of [`PANEL`] draws each.
    pub(super) fn panels(&self) -> impl Iterator<Item = &[[f64; PANEL]]> {
        let (panels, _) = self.panels.as_chunks::<PANEL>();
        panels.chunks_exact(self.coefficients.max(1))
    }
}
