//! What the groups of new rows add to their linear predictors, draw by draw.
//!
//! A group that the fit knew adds the draws of its own effects, which the run keeps beside its draws (`groups.f32`). A group that it did not know adds a new draw of N(0, ΛΛ') for every
//! draw of the parameters: means are then averaged over groups, and intervals hold how groups differ. All rows of groups that are new share these draws: intervals are those of one
//! row of one new group.

use std::collections::HashMap;

use austerity::rng::{Role, stream};
use austerity_glm::groups::Scales;
use austerity_glm::{Prior, groups::MOST_EFFECTS};
use austerity_io::coding::Piece;
use austerity_io::coding::formula::groups_of_rows;
use austerity_io::table::Source;
use rand_distr::{Distribution as _, StandardNormal};

use crate::fit::groups::GroupEffects;
use crate::output::Failure;
use crate::runs::{Folder, RunFile};

/// A group that the fit did not know.
const NEW: u32 = u32::MAX;

/// The effects of the groups of some rows.
#[derive(Debug)]
pub(super) struct GroupShifts {
    /// The group of every row.
    rows: Vec<u32>,
    /// Effects of a group.
    effects: usize,
    draws: usize,
    /// Level by level, draw by draw.
    known: Vec<f32>,
    /// Of a new group, draw by draw.
    new: Vec<f64>,
    /// The column that each effect is multiplied with; none for the intercept.
    columns: Vec<Option<usize>>,
    unknown: usize,
}

/// Draws of the parameters that predictions use: those that the effects were drawn with; all that were asked for where there are no groups.
pub(super) fn most_draws(folder: &Folder, run: &RunFile, most: usize) -> usize {
    let own = run.plan.groups.as_ref().and_then(|_| GroupEffects::read(folder));
    own.map_or(most, |effects| effects.draws)
}

impl GroupShifts {
    /// The groups of the rows of `source`; nothing where the run has none.
    pub(super) fn read(folder: &Folder, run: &RunFile, source: &Source) -> Result<Option<Self>, Failure> {
        let Some(record) = &run.plan.groups else { return Ok(None) };
        let Some(effects) = GroupEffects::read(folder) else {
            return Err(Failure::Usage(format!(
                "{} does not say what the effects of its groups are: go on with the run, which writes them at its end",
                folder.path().display()
            )));
        };
        let known = effects.read_draws(folder)?;
        let q = record.terms.len();
        let names: HashMap<&str, u32> = (0..)
            .zip(effects.effects.iter().step_by(q))
            .map(|(place, own)| (own.level.as_str(), place))
            .collect();
        let by: Vec<String> = record.columns().map(str::to_owned).collect();
        let (codes, levels) = groups_of_rows(source, &by).map_err(austerity_io::Error::of_new_rows)?;
        let places: Vec<u32> =
            levels.iter().map(|level| names.get(level.as_str()).copied().unwrap_or(NEW)).collect();
        let unknown = places.iter().filter(|place| **place == NEW).count();
        let rows = codes.into_iter().map(|code| places[code as usize]).collect();
        let coefficients = run.plan.recipe.coefficient_names();
        let skip = usize::from(run.plan.recipe.intercept);
        let column =
            |term: &String| coefficients.iter().position(|name| name == term).filter(|place| *place >= skip);
        let columns = record.terms.iter().map(|term| column(term).map(|place| place - skip)).collect();
        let new = new_effects(folder, run, (q, record.correlated), effects.draws)?;
        Ok(Some(Self { rows, effects: q, draws: effects.draws, known, new, columns, unknown }))
    }

    /// Adds the effects of the group of a row of a piece to its predictors.
    pub(super) fn add(&self, piece: &Piece<'_>, row: usize, eta: &mut [f64]) {
        let group = self.rows.get(piece.first + row).copied().unwrap_or(NEW);
        let q = self.effects;
        let value = |column: &Option<usize>| column.map_or(1.0, |column| piece.columns[column][row]);
        for (a, z) in self.columns.iter().map(value).enumerate() {
            for (d, eta) in eta.iter_mut().enumerate() {
                *eta += z * if group == NEW {
                    self.new[d * q + a]
                } else {
                    f64::from(self.known[(group as usize * self.draws + d) * q + a])
                };
            }
        }
    }

    /// What to say of groups that the fit did not know.
    pub(super) fn remark(&self) -> Option<String> {
        (self.unknown > 0).then(|| {
            format!(
                "{} groups were not there when the model was fitted: their rows are predicted for a group drawn anew, and intervals hold how groups differ",
                self.unknown
            )
        })
    }
}

/// Effects of a new group: one draw per draw of the parameters.
fn new_effects(
    folder: &Folder,
    run: &RunFile,
    (effects, correlated): (usize, bool),
    draws: usize,
) -> Result<Vec<f64>, Failure> {
    let reader = folder.reader()?;
    let scales = Scales::new(vec![Prior::Flat; effects], correlated, 1.0)?;
    let names = reader.names();
    let width = names.len();
    let recorded = effects + if scales.is_correlated() { effects * (effects - 1) / 2 } else { 0 };
    let thinned = reader.thinned(draws / reader.chains().max(1))?;
    let mut rng = stream(run.plan.settings.seed, u32::MAX, Role::Start);
    let mut made = Vec::with_capacity(draws * effects);
    for draw in thinned.values.iter().flat_map(|chain| chain.chunks_exact(width)) {
        let factor = scales.factor(&scales.read(&draw[width - recorded..]));
        let z: [f64; MOST_EFFECTS] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        made.extend((0..effects).map(|a| (0..=a).map(|b| factor.lambda[a][b] * z[b]).sum::<f64>()));
    }
    Ok(made)
}
