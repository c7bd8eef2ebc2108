//! A run's folder: `run.toml`, `draws.zarr`, `checkpoint`, `pairs.csv`, `summary.json`, `report.html`, `lock`.
//!
//! `run.toml` is everything about a run as it was resolved at its start, for people to read and for `--resume`, `summary`, `report`,
//! `predict` and `merge` to go by. What changes while chains run is in the checkpoint.

use std::fs;
use std::path::{Path, PathBuf};

use austerity::design::Prediction;
use austerity::model::Prior;
use austerity::proposal::AnyProposal;
use austerity::run::{Checkpoint, Counters, Ended, Settings};
use austerity_io::design::Recipe;
use austerity_io::run::{DrawsReader, checkpoint};
use serde::{Deserialize, Serialize};

use crate::arguments::{DataOptions, ShapeOptions};
use crate::model::Family;
use crate::output::Failure;

/// Everything about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunFile {
    /// Version of the program that began it.
    pub(crate) version: String,
    /// When it began.
    pub(crate) created: String,
    pub(crate) data: DataRecord,
    pub(crate) model: ModelRecord,
    pub(crate) decision: DecisionRecord,
    /// How candidates are proposed, in words.
    pub(crate) proposal: String,
    pub(crate) settings: Settings,
    /// What was typed, with what was resolved in its place.
    pub(crate) options: ShapeOptions,
    /// What was typed about the data.
    pub(crate) data_options: DataOptions,
    pub(crate) recipe: Recipe,
}

/// Where the data are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DataRecord {
    pub(crate) file: PathBuf,
    pub(crate) rows: usize,
    /// Fingerprint of data and prior, in hexadecimal.
    pub(crate) fingerprint: String,
    /// Bytes in memory or mapped.
    pub(crate) bytes: usize,
    /// What was noticed while reading.
    pub(crate) remarks: Vec<String>,
}

/// The posterior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModelRecord {
    pub(crate) family: Family,
    /// Whether numeric features are standardised: the priors are then those of standardised columns.
    pub(crate) standardize: bool,
    pub(crate) priors: Vec<PriorRecord>,
}

/// The prior of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PriorRecord {
    pub(crate) parameter: String,
    /// As it would be typed.
    pub(crate) prior: String,
}

impl PriorRecord {
    pub(crate) fn list(names: &[String], priors: &[Prior]) -> Vec<Self> {
        let one =
            |(name, prior): (&String, &Prior)| Self { parameter: name.clone(), prior: prior.to_string() };
        names.iter().zip(priors).map(one).collect()
    }
}

/// Who decides and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DecisionRecord {
    pub(crate) reason: String,
    pub(crate) tolerance: f64,
    /// What the theory expects, where a test decides.
    pub(crate) prediction: Option<Prediction>,
}

/// What a checkpoint file holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) checkpoint: Checkpoint<Vec<f64>, AnyProposal>,
    /// Wall-clock seconds of the chains, over all sessions.
    pub(crate) seconds: f64,
    /// Seconds of loading, the mode and the pilot, over all sessions.
    pub(crate) preparation: f64,
    /// Why the last session ended, when it did.
    pub(crate) ended: Option<String>,
    /// Whether the last session met an error.
    pub(crate) failed: bool,
}

impl Saved {
    /// Counts of all chains after warm-up.
    pub(crate) fn counters(&self) -> Counters {
        let mut all = Counters::default();
        self.checkpoint.chains.iter().for_each(|chain| all.add(&chain.sampling));
        all
    }

    /// Likelihood evaluations of all chains, warm-up and audits included.
    pub(crate) fn evaluations(&self) -> u64 {
        let each = |c: &Counters| c.evaluations + c.audit_evaluations;
        self.checkpoint.chains.iter().map(|chain| each(&chain.warmup) + each(&chain.sampling)).sum()
    }

    /// Draws of each chain.
    pub(crate) fn drawn(&self) -> Vec<u64> {
        let Settings { warmup, thin, .. } = self.checkpoint.settings;
        self.checkpoint.chains.iter().map(|chain| chain.step.saturating_sub(warmup) / thin.max(1)).collect()
    }

    /// Notes how a session ended.
    pub(crate) fn end(&mut self, ended: &Ended) {
        self.failed = matches!(ended, Ended::Failed { .. } | Ended::Unstored { .. });
        self.ended = serde_json::to_value(ended).ok().and_then(|text| text.as_str().map(Into::into));
    }
}

/// A run's folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn draws(&self) -> PathBuf {
        self.file("draws.zarr")
    }

    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.file("checkpoint")
    }

    /// Makes the folder; one that holds anything is refused.
    pub(crate) fn create(&self) -> Result<(), Failure> {
        let shown = self.path.display();
        match fs::read_dir(&self.path) {
            Ok(mut entries) => {
                if self.file("run.toml").exists() {
                    return Err(Failure::Usage(format!(
                        "{shown} holds a run already: add --resume to go on with it, or name another folder"
                    )));
                }
                if entries.next().is_some() {
                    return Err(Failure::Usage(format!(
                        "{shown} exists and is not empty: name a new folder with --out"
                    )));
                }
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => fs::create_dir_all(&self.path)
                .map_err(|error| {
                    Failure::Usage(format!(
                        "cannot make the folder {shown}: {error}; name another with --out"
                    ))
                }),
            Err(error) => Err(Failure::Usage(format!(
                "{shown} cannot be the folder of a run: {error}; name another with --out"
            ))),
        }
    }

    pub(crate) fn write_run(&self, run: &RunFile) -> Result<(), Failure> {
        let text = toml::to_string_pretty(run)
            .map_err(|error| Failure::Usage(format!("cannot write run.toml: {error}")))?;
        austerity_io::run::write_file(self.file("run.toml"), text.as_bytes())?;
        Ok(())
    }

    pub(crate) fn read_run(&self) -> Result<RunFile, Failure> {
        let path = self.file("run.toml");
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::Usage(format!(
                "{} holds no run (there is no run.toml); make one with `austerity fit … --out {}`",
                self.path.display(),
                self.path.display()
            )),
            _ => Failure::Usage(format!("cannot read {}: {error}", path.display())),
        })?;
        toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let (line, why) = (before.lines().count().max(1), error.message().replace('\n', " "));
            Failure::Usage(format!(
                "{} is damaged or of another version: line {line}: {why}; make the run again, or use the version that made it",
                path.display()
            ))
        })
    }

    /// The newest intact checkpoint.
    pub(crate) fn saved(&self) -> Result<Saved, Failure> {
        Ok(checkpoint::read(self.checkpoint())?.value)
    }

    pub(crate) fn reader(&self) -> Result<DrawsReader, Failure> {
        Ok(DrawsReader::open(self.draws())?)
    }
}
