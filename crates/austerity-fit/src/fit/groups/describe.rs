//! The effects of every group, once there are draws: Rao–Blackwellised means, standard deviations and quantiles in `groups.json`.
//!
//! Of all draws at most [`MOST_DRAWS`], evenly spread over the chains, are used, fewer where rows are many: means of conditional means converge with the draws of a few parameters, not
//! with those of the effects. Made again whenever a session ends. Cost: draws × rows × (nodes + 3).

use austerity_glm::groups::Tabled;
use austerity_glm::groups::effects::{EffectSummary, effects};
use austerity_io::coding::formula::Grouping;
use austerity_io::seal;
use serde::{Deserialize, Serialize};

use super::Model;
use crate::output::Failure;
use crate::runs::{Folder, Overview, page};

/// Draws of the parameters that effects are averaged over, at most and at least.
const MOST_DRAWS: usize = 400;
const FEWEST_DRAWS: usize = 100;
/// Rows times draws that are visited at most.
const MOST_VISITS: usize = 500_000_000;
/// The file, and that of the draws of effects.
const FILE: &str = "groups.json";
const DRAWS: &str = "groups.f32";
/// Bytes of draws of effects that are kept unless more are asked for.
const MOST_BYTES: usize = 64 << 20;

/// One effect of one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelEffect {
    pub(crate) level: String,
    pub(crate) term: String,
    /// Rows of the group.
    pub(crate) rows: u32,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    pub(crate) q025: f64,
    pub(crate) q50: f64,
    pub(crate) q975: f64,
}

/// The effects of all groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupEffects {
    /// Of the file: before any other checksum.
    #[serde(default)]
    pub(crate) checksum: String,
    pub(crate) group: String,
    /// Draws that they are averaged over.
    pub(crate) draws: usize,
    /// Level by level, in order.
    pub(crate) effects: Vec<LevelEffect>,
    /// Checksum of the draws of effects, where they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
}

impl GroupEffects {
    /// Those of a run, where they were described.
    pub(crate) fn read(folder: &Folder) -> Option<Self> {
        let bytes = std::fs::read(folder.file(FILE)).ok()?;
        if seal::check(&bytes) == seal::Seal::Broken {
            return None;
        }
        serde_json::from_slice(&bytes).ok()
    }

    /// The draws of the effects: level by level, draw by draw, effect by effect.
    pub(crate) fn read_draws(&self, folder: &Folder) -> Result<Vec<f32>, Failure> {
        let file = folder.file(DRAWS);
        let bytes = std::fs::read(&file).unwrap_or_default();
        if self.kept.as_ref() != Some(&seal::of(&bytes)) {
            return Err(Failure::Usage(format!(
                "{} does not hold the draws of the group effects that predictions need: go on with the run, which writes it again, with --keep-groups where there are very many groups",
                file.display()
            )));
        }
        Ok(bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
    }

    /// The contract of `summary --json`.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::json!({ self.group.clone(): self.effects })
    }
}

/// Describes the effects and writes them beside the draws.
pub(super) fn write(mut overview: Overview, model: &Model, grouping: &Grouping) -> Result<Overview, Failure> {
    let folder = Folder::new(&overview.path);
    let reader = folder.reader()?;
    let names = overview.run.plan.groups.as_ref().map(|record| record.terms.clone()).unwrap_or_default();
    let all = reader.chains() * reader.draws();
    // What was not kept cannot be conditioned on.
    let is_whole = reader.names().len() == overview.run.plan.model.parameters;
    if all == 0 || !is_whole || overview.healed.is_some() {
        return Ok(overview);
    }
    let multilevel = model.likelihoods();
    let tables = match overview.run.plan.groups.as_ref().and_then(|record| record.tables.as_ref()) {
        Some(record) => Some(Tabled::new(multilevel, &record.centre)?),
        None => None,
    };
    // Tables have no rows to visit.
    let wanted = if tables.is_some() {
        MOST_DRAWS
    } else {
        (MOST_VISITS / multilevel.data().rows().max(1)).clamp(FEWEST_DRAWS, MOST_DRAWS)
    };
    let thinned = reader.thinned(wanted.div_ceil(reader.chains()))?;
    let parameters = reader.names().len();
    let draws: Vec<Vec<f64>> =
        thinned.values.iter().flat_map(|chain| chain.chunks_exact(parameters).map(<[f64]>::to_vec)).collect();
    let bytes = 4 * draws.len() * multilevel.data().len() * names.len();
    let keeps = bytes <= MOST_BYTES || overview.run.request.shape.keep_groups;
    let found =
        effects(multilevel, tables.as_ref(), &draws, keeps.then_some(overview.run.plan.settings.seed));
    let one = |place: usize, term: usize| {
        let EffectSummary { mean, sd, quantiles: [q025, q50, q975] } =
            found.summaries[place * names.len() + term];
        let (level, term) = (grouping.levels[found.levels[place] as usize].clone(), names[term].clone());
        LevelEffect { level, term, rows: found.sizes[place], mean, sd, q025, q50, q975 }
    };
    let mut order: Vec<usize> = (0..found.levels.len()).collect();
    order.sort_by_key(|&place| found.levels[place]);
    let kept = keeps.then(|| {
        let each = draws.len() * names.len();
        let values = order.iter().flat_map(|&place| &found.draws[place * each..(place + 1) * each]);
        values.flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()
    });
    if let Some(kept) = &kept {
        austerity_io::run::write_file(folder.file(DRAWS), kept)?;
    }
    let listed = order.into_iter().flat_map(|place| (0..names.len()).map(move |term| (place, term)));
    let made = GroupEffects {
        group: grouping.name.clone(),
        draws: draws.len(),
        effects: listed.map(|(place, term)| one(place, term)).collect(),
        kept: kept.map(|kept| seal::of(&kept)),
        checksum: seal::PLACE.into(),
    };
    let text = serde_json::to_string(&made).map_err(std::io::Error::from)?;
    austerity_io::run::write_file(folder.file(FILE), seal::apply(&text).as_bytes())?;
    overview.groups = Some(made);
    folder.write_summary(overview.json())?;
    page::write(&folder, &overview, &folder.file("report.html"))?;
    Ok(overview)
}
