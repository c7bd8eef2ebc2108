//! `ica`: the columns of a table as mixtures of independent sources.
//!
//! Columns are centred and whitened; the posterior is that of an orthonormal unmixing of the white columns ([`austerity_models::Ica`]), with a walk by
//! rotations whose sds follow from the data ([`super::separate`]). What is recorded is the unmixing of the columns as they were given, U = W·V with the whitening V:
//! `s2.left` is what source 2 has of column `left`. Sources have variance 1; their order and signs are those of the start, the same in all chains.
//!
//! Where the true mixing is given, its Amari distance from every draw is recorded as `amari`.

use austerity::error::Error;
use austerity::model::{Access, Model, Parameters};
use austerity::proposal::Proposal as _;
use austerity::rng::{Role, stream};
use austerity_glm::proposal::StoredProposal;
use austerity_io::audio::{self, Sound};
use austerity_io::table::{Column, ColumnKind, Source, open};
use austerity_io::write::{Field, TableWriter};
use austerity_models::ica::{Ratio, Scratch, Whitening, amari_distance};
use austerity_models::{Ica, Stiefel};
use serde::{Deserialize, Serialize};

use super::{PartRecord, Prepared, Way, separate};
use crate::fit::decide::Decided;
use crate::fit::engine::OfModel;
use crate::fit::plan::{DataRecord, Proposing, Remark, no_recipe};
use crate::fit::save_draws::Stored;
use crate::fit::{Done, Host};
use crate::model::Family;
use crate::output::Failure;
use crate::request::IcaOptions;
use crate::runs::Overview;

/// Steps of an optimal walk in d dimensions have 2.38/√d posterior sds (Roberts & Rosenthal 2001).
const OPTIMAL: f64 = 2.38;
/// Steps of the walk from the mode to where a chain starts.
const AWAY: usize = 3;
/// Samples per second of sources that are written as sound, where the columns are those of a table.
const RATE: u32 = 44_100;
/// Fewest and most columns.
const FEWEST: usize = 2;
const MOST: usize = 64;

/// What a plan keeps of an unmixing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ComponentsRecord {
    /// The columns, in order.
    columns: Vec<String>,
    /// Standard deviations of the rotations of a step.
    sds: Vec<f64>,
}

impl ComponentsRecord {
    pub(super) fn sentences(&self) -> Vec<String> {
        vec![format!(
            "Unmixing: {} sources of variance 1 with the logistic density; s1.{} is what source 1 has of column {}.",
            self.columns.len(),
            self.columns[0],
            self.columns[0]
        )]
    }
}

/// Begins an unmixing or goes on with one.
pub(super) fn go(way: Way<'_>, options: &IcaOptions, host: &mut dyn Host) -> Result<Done, Failure> {
    host.note("reading the data");
    let data = &way.asked.request.data;
    let stored = match way.record() {
        Some(PartRecord::Components(record)) => Some(record.clone()),
        _ => None,
    };
    let names = match (&stored, &data.features) {
        (Some(record), None) => Some(record.columns.clone()),
        (_, features) => features.clone(),
    };
    let sound = way.asked.table.is_none() && audio::is_sound(&data.file);
    let sound = sound.then(|| audio::read(&data.file)).transpose()?;
    let rate = sound.as_ref().map_or(RATE, |sound| sound.rate);
    let (names, columns) = match sound {
        Some(sound) => channels(&data.file, &sound, names)?,
        None => columns(way.asked.table, &data.file, names)?,
    };
    if stored.as_ref().is_some_and(|record| record.columns != names) {
        return Err(Failure::Usage(format!(
            "--features: the run in this folder unmixes {}; name the same columns, or begin a new run in another folder",
            stored.map_or(String::new(), |record| record.columns.join(","))
        )));
    }
    let whitening = Whitening::of(&columns)?;
    let white = whitening.apply(&columns)?;
    let mixing = options.mixing.as_ref().map(|file| mixing(file, names.len())).transpose()?;
    let ica = Ica::new(&white, Some(way.seed()))?;
    host.note("looking for the sources");
    let found = separate::search(&ica, &white, way.seed())?;
    let pairs = found.sds.len() as f64;
    let record = stored.unwrap_or_else(|| {
        let sds = found.sds.iter().map(|sd| sd * OPTIMAL / pairs.sqrt()).collect();
        ComponentsRecord { columns: names.clone(), sds }
    });
    let walk = Stiefel::rotations(names.len(), record.sds.clone())?;
    let model = Unmixing { ica, names, whitening: whitening.matrix(), mixing };
    let (rows, file) = (columns[0].len(), data.file.clone());
    let restored = |_: StoredProposal| Ok(walk.clone());
    let done = way.sample(&OfModel::new(&model, restored), host, |way| {
        let starts = way.chains().map(|chain| {
            let (mut state, mut to) = (found.frame.clone(), Vec::new());
            let mut rng = stream(way.seed(), chain, Role::Start);
            let mut walk = walk.clone();
            for _ in 0..AWAY {
                walk.propose(&state, &mut to, &mut rng)?;
                std::mem::swap(&mut state, &mut to);
            }
            Ok(state)
        });
        let starts = starts.collect::<austerity::Result<Vec<_>>>()?;
        let alike = |(i, j): &(usize, usize)| Remark::Alike { first: i + 1, second: j + 1 };
        Ok(Prepared {
            data: DataRecord {
                parts: None,
                file,
                rows,
                fingerprint: String::new(),
                checksum: String::new(),
                bytes: model.data_bytes(),
                mapped: false,
                remarks: found.blind.iter().map(alike).collect(),
                successes: None,
                sds: Vec::new(),
            },
            family: Family::Components,
            recipe: no_recipe(),
            record: PartRecord::Components(record),
            proposal: Proposing::Rotations,
            decided: Decided::of_part(&way.asked.request.shape, false)?,
            sweep: model.names.len(),
            hazards: Vec::new(),
            starts,
        })
    })?;
    if let (Done::Ran(overview), Some(file)) = (&done, &options.sources) {
        write_sources((file, rate), (&columns, whitening.mean()), overview)?;
    }
    Ok(done)
}

/// The channels to unmix, with their names: `channel1`, `channel2`, ….
fn channels(
    file: &std::path::Path,
    sound: &Sound,
    names: Option<Vec<String>>,
) -> Result<(Vec<String>, Vec<Vec<f64>>), Failure> {
    let known: Vec<String> = (1..=sound.channels.len()).map(|number| format!("channel{number}")).collect();
    let names = names.unwrap_or_else(|| known.clone());
    let mut channels = Vec::new();
    for name in &names {
        let place = known.iter().position(|known| known == name).ok_or_else(|| {
            Failure::Usage(format!(
                "{}: there is no `{name}`; its channels are {}",
                file.display(),
                known.join(", ")
            ))
        })?;
        channels.push(sound.channels[place].clone());
    }
    if !(FEWEST..=MOST).contains(&channels.len()) {
        return Err(Failure::Usage(format!(
            "{}: {} channels cannot be unmixed; allowed: {FEWEST} to {MOST}, one per microphone",
            file.display(),
            channels.len()
        )));
    }
    Ok((names, channels))
}

/// The columns to unmix, with their names.
fn columns(
    table: Option<&Source>,
    file: &std::path::Path,
    names: Option<Vec<String>>,
) -> Result<(Vec<String>, Vec<Vec<f64>>), Failure> {
    let opened;
    let source = match table {
        Some(table) => table,
        None => {
            opened = open(file)?;
            &opened
        }
    };
    let schema = source.schema();
    let names = names.unwrap_or_else(|| schema.names.clone());
    let refused = |name: &str| {
        Failure::Usage(format!(
            "{}: column `{name}` holds no numbers, so it cannot be unmixed; name the columns to unmix by --features",
            file.display()
        ))
    };
    for (name, kind) in schema.names.iter().zip(&schema.kinds) {
        if names.contains(name) && matches!(kind, ColumnKind::Text | ColumnKind::Unsupported(_)) {
            return Err(refused(name));
        }
    }
    if !(FEWEST..=MOST).contains(&names.len()) {
        return Err(Failure::Usage(format!(
            "{}: {} columns cannot be unmixed; allowed: {FEWEST} to {MOST}; name them by --features",
            file.display(),
            names.len()
        )));
    }
    let table = source.read(Some(&names))?;
    let column = |name: &String| match table.column(name) {
        Some(Column::Numbers(values)) => Ok(values.clone()),
        _ => Err(refused(name)),
    };
    let columns = names.iter().map(column).collect::<Result<_, _>>()?;
    Ok((names, columns))
}

/// The true mixing matrix: a table with one row per column of the data, one column per source.
fn mixing(file: &std::path::Path, dimension: usize) -> Result<Vec<f64>, Failure> {
    let (names, columns) = columns(None, file, None)?;
    if names.len() != dimension || columns[0].len() != dimension {
        return Err(Failure::Usage(format!(
            "--mixing {}: {} rows and {} columns; of {dimension} mixed columns the mixing matrix has {dimension} rows (one per column of the data) and \
             {dimension} columns (one per source)",
            file.display(),
            columns[0].len(),
            names.len()
        )));
    }
    Ok((0..dimension * dimension).map(|k| columns[k % dimension][k / dimension]).collect())
}

/// Writes the sources that the mean unmixing makes of the columns, as a table or as sound of so many samples per second.
fn write_sources(
    (file, rate): (&std::path::Path, u32),
    (columns, mean): (&[Vec<f64>], &[f64]),
    overview: &Overview,
) -> Result<(), Failure> {
    let d = columns.len();
    let unmixing: Vec<f64> = overview.summary.iter().take(d * d).map(|summary| summary.mean).collect();
    if unmixing.len() < d * d || unmixing.iter().any(|value| !value.is_finite()) {
        return Err(Failure::Usage(format!("{}: there is no draw yet to make sources of", file.display())));
    }
    let source = |j: usize| -> Vec<f64> {
        let value =
            |row: usize| -> f64 { (0..d).map(|k| unmixing[j * d + k] * (columns[k][row] - mean[k])).sum() };
        (0..columns[0].len()).map(value).collect()
    };
    let sources: Vec<Vec<f64>> = (0..d).map(source).collect();
    if audio::is_sound(file) {
        return Ok(audio::write(file, &Sound { rate, channels: sources })?);
    }
    let fields = (1..=d).map(|j| Field::double(format!("source{j}"))).collect();
    let mut writer = TableWriter::create(file, fields)?;
    writer.write(&sources.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    Ok(writer.finish()?)
}

/// An unmixing, recorded as that of the columns as they were given.
struct Unmixing {
    ica: Ica,
    names: Vec<String>,
    /// V, row by row.
    whitening: Vec<f64>,
    /// The truth, where it is known.
    mixing: Option<Vec<f64>>,
}

impl Model for Unmixing {
    type State = Vec<f64>;
    type Scratch = Scratch;
    type Ratio<'a> = Ratio<'a>;

    fn len(&self) -> usize {
        Model::len(&self.ica)
    }

    fn scratch(&self, access: Access) -> Scratch {
        self.ica.scratch(access)
    }

    fn check_state(&self, state: &Vec<f64>) -> austerity::Result<()> {
        self.ica.check_state(state)
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        self.ica.log_prior(state)
    }

    fn prior_error(&self) -> Error {
        self.ica.prior_error()
    }

    fn compare<'a>(&'a self, from: &'a Vec<f64>, to: &'a Vec<f64>, scratch: &'a mut Scratch) -> Ratio<'a> {
        self.ica.compare(from, to, scratch)
    }

    fn accepted(&self, scratch: &mut Scratch) {
        self.ica.accepted(scratch);
    }

    fn original_row(&self, position: usize) -> usize {
        self.ica.original_row(position)
    }

    fn fingerprint(&self) -> u64 {
        Model::fingerprint(&self.ica)
    }

    fn data_bytes(&self) -> usize {
        self.ica.data_bytes()
    }

    fn scratch_bytes(&self, access: Access) -> usize {
        self.ica.scratch_bytes(access)
    }
}

impl Parameters for Unmixing {
    fn names(&self) -> Vec<String> {
        let d = self.names.len();
        let entries = (0..d * d).map(|k| format!("s{}.{}", k / d + 1, self.names[k % d]));
        entries.chain(self.mixing.iter().map(|_| "amari".to_owned())).collect()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        let d = self.names.len();
        for (k, out) in out.iter_mut().take(d * d).enumerate() {
            *out = (0..d).map(|m| state[k / d * d + m] * self.whitening[m * d + k % d]).sum();
        }
        if let Some(mixing) = &self.mixing {
            out[d * d] = amari_distance(d, &out[..d * d], mixing).unwrap_or(f64::NAN);
        }
    }
}

impl Stored for Stiefel {
    fn stored(self) -> StoredProposal {
        StoredProposal::Planned
    }
}
