//! A run's folder: `run.toml`, `draws.zarr`, `checkpoint`, `pairs.csv`, `summary.json`, `report.html`, `lock`.
//!
//! `run.toml` is everything about a run as it was resolved at its start, for people to read and for `--resume`, `summary`, `report`,
//! `predict` and `merge` to go by. What changes while chains run is in the checkpoint. Every file carries a checksum, or has one in `run.toml`
//! (`pairs.csv`), and is refused where that does not fit.

use std::fs;
use std::path::{Path, PathBuf};

use austerity::run::{Checkpoint, Counters, Ended, Settings};
use austerity_glm::proposal::StoredProposal;
use austerity_io::run::DrawsReader;
use austerity_io::run::checkpoint::{self, Found};
use austerity_io::seal::{self, Seal};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fit::decide;
use crate::fit::healing::Healed;
use crate::fit::plan::Plan;
use crate::output::Failure;
use crate::request::{AuditChoice, ProposalChoice, Request, RuleChoice, ShapeOptions, SurrogateChoice};

/// How the first line of `run.toml` begins.
const COMMENT: &str = "# checksum ";
/// What to do about a `run.toml` that cannot be used.
const AS_THEY_WERE: &str = "The draws beside it are as they were; put a copy of the file back, or begin a new run in another folder, which \
                            makes the same draws again with the same data, options and seed";

/// How `run.toml` is laid out: format 1 (versions up to 0.1) kept the options in the tables `options` and `data_options`, format 2 the request, format 3 has
/// what is done in the table `plan`.
pub(crate) const FORMAT: u32 = 3;
/// What formats 1 and 2 kept beside the request that is part of the plan.
const PLANNED: [&str; 11] = [
    "data",
    "model",
    "decision",
    "surrogate",
    "sample",
    "wide",
    "budget",
    "storage",
    "proposal",
    "settings",
    "recipe",
];

fn first_format() -> u32 {
    1
}

/// Everything about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunFile {
    /// Version of the program that began it.
    pub(crate) version: String,
    /// How this file is laid out: see [`FORMAT`].
    #[serde(default = "first_format")]
    pub(crate) format: u32,
    /// When it began.
    pub(crate) created: String,
    /// The runs it was merged from; such a run cannot go on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) merged: Vec<PathBuf>,
    /// Settings that audits contradicted, and what came instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) healed: Vec<Healed>,
    /// Checksum of `pairs.csv`, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pairs: Option<String>,
    /// What was asked for, as it was.
    pub(crate) request: Request,
    /// What is done, and why.
    pub(crate) plan: Plan,
}

impl RunFile {
    /// What shapes the draws, with what was chosen where nothing was asked for: a resumed run may repeat a default.
    pub(crate) fn shape(&self) -> ShapeOptions {
        let (asked, settings) = (&self.request.shape, &self.plan.settings);
        // Exact decisions tolerate nothing.
        let tolerates = !matches!(asked.rule, Some(RuleChoice::Exact | RuleChoice::Certified));
        ShapeOptions {
            chains: Some(settings.chains),
            first_chain: Some(settings.first_chain),
            warmup: Some(settings.warmup),
            thin: Some(settings.thin),
            tolerance: asked.tolerance.or(tolerates.then_some(decide::TOLERANCE)),
            rule: asked.rule.or(Some(RuleChoice::Auto)),
            proposal: asked.proposal.or(Some(ProposalChoice::Auto)),
            audit: asked.audit.or(Some(AuditChoice::Auto)),
            surrogate: asked.surrogate.or(Some(SurrogateChoice::Auto)),
            block_rows: asked.block_rows.or(Some(settings.rule.block_rows())),
            ..asked.clone()
        }
    }

    /// As `run.toml` holds it: a line with the checksum of the file, then all there is.
    pub(crate) fn text(&self) -> Result<String, Failure> {
        let run: &dyn erased_serde::Serialize = self;
        let text = toml::to_string_pretty(run)
            .map_err(|error| Failure::Usage(format!("cannot write run.toml: {error}")))?;
        Ok(seal::apply(&format!("{COMMENT}{}; `austerity verify` checks the run\n{text}", seal::PLACE)))
    }

    /// What a `run.toml` says; `path` is named in messages.
    pub(crate) fn parse(bytes: Vec<u8>, path: &Path) -> Result<Self, Failure> {
        let sealed = bytes.starts_with(&COMMENT.as_bytes()[..1]);
        let seal = seal::check(&bytes);
        if seal == Seal::Broken || sealed && seal != Seal::Sound {
            return Err(Failure::Usage(format!(
                "{} is damaged, or was edited: its checksum does not fit. {AS_THEY_WERE}. If you edited it on purpose, remove its first line",
                path.display()
            )));
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::Usage(format!("{} is damaged: it is not UTF-8. {AS_THEY_WERE}", path.display()))
        })?;
        let text = upgraded(text, path)?;
        let damaged = |why: String| {
            Failure::Usage(format!(
                "{} is damaged or of another version: {}. {AS_THEY_WERE}",
                path.display(),
                why.split_whitespace().collect::<Vec<_>>().join(" ")
            ))
        };
        let table = toml::de::DeTable::parse(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            damaged(format!("line {}: {}", before.lines().count().max(1), error.message()))
        })?;
        let mut table = <dyn erased_serde::Deserializer<'_>>::erase(toml::Deserializer::from(table));
        erased_serde::deserialize(&mut table).map_err(|error| damaged(error.to_string().trim_end().into()))
    }
}

/// The text of a `run.toml` of an earlier format as one of today's; newer ones are refused.
fn upgraded(text: String, path: &Path) -> Result<String, Failure> {
    // What cannot be read is explained by whoever reads it.
    let Ok(mut run) = toml::from_str::<toml::Table>(&text) else { return Ok(text) };
    let format = run.get("format").and_then(toml::Value::as_integer).unwrap_or(1);
    if format > i64::from(FORMAT) {
        return Err(Failure::Usage(format!(
            "{} was written by a newer version of austerity (format {format}, this version reads up to {FORMAT}): use that version",
            path.display()
        )));
    }
    if format == i64::from(FORMAT) {
        return Ok(text);
    }
    if let (Some(mut shape), Some(data)) = (run.remove("options"), run.remove("data_options")) {
        if let Some(priors) = shape.get_mut("priors") {
            // It named a file, whose priors are among those of the model.
            *priors = given_priors(&run).into();
        }
        let request = toml::Table::from_iter([("shape".to_owned(), shape), ("data".to_owned(), data)]);
        run.insert("request".into(), request.into());
    }
    let planned = |key: &&str| Some(((*key).to_owned(), run.remove(*key)?));
    let plan: toml::Table = PLANNED.iter().filter_map(planned).collect();
    run.insert("plan".into(), plan.into());
    run.insert("format".into(), i64::from(FORMAT).into());
    Ok(toml::to_string(&run).unwrap_or(text))
}

/// The priors of a run that somebody gave.
fn given_priors(run: &toml::Table) -> toml::Table {
    let records = run.get("model").and_then(|model| model.get("priors")).and_then(toml::Value::as_array);
    let given = |record: &toml::Value| {
        let default = ["default", "at_means"].iter().any(|key| record.get(key).is_some());
        let name = record.get("parameter")?.as_str()?.to_owned();
        record.get("prior").filter(|_| !default).map(|prior| (name, prior.clone()))
    };
    records.into_iter().flatten().filter_map(given).collect()
}

/// What a checkpoint file holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) checkpoint: Checkpoint<Vec<f64>, StoredProposal>,
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
    /// In place of a checkpoint that cannot be read.
    fn lost(run: &RunFile) -> Self {
        let checkpoint = Checkpoint {
            version: run.version.clone(),
            settings: run.plan.settings.clone(),
            rows: run.plan.data.rows,
            fingerprint: 0,
            names: Vec::new(),
            chains: Vec::new(),
        };
        Self { checkpoint, seconds: f64::NAN, preparation: f64::NAN, ended: None, failed: false }
    }

    /// Counts of all chains after warm-up.
    pub(crate) fn counters(&self) -> Counters {
        let mut all = Counters::default();
        self.checkpoint.chains.iter().for_each(|chain| all.add(&chain.sampling));
        all
    }

    /// Chains whose test was made stricter in warm-up.
    pub(crate) fn tightened(&self) -> usize {
        self.checkpoint.chains.iter().filter(|chain| !chain.tightened.is_empty()).count()
    }

    /// Likelihood evaluations of all chains, warm-up and audits included.
    pub(crate) fn evaluations(&self) -> u64 {
        let each = |c: &Counters| c.evaluations + c.audit_evaluations;
        self.checkpoint.chains.iter().map(|chain| each(&chain.warmup) + each(&chain.sampling)).sum()
    }

    /// Draws that each chain has made, stored or not.
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

/// Which checkpoint is shown.
pub(crate) enum Standing {
    Newest,
    /// The one before the newest, and what is wrong with that.
    Before(String),
    /// None can be read, and why.
    Lost(String),
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

    pub(crate) fn write_run(&self, run: &RunFile) -> Result<(), Failure> {
        Ok(self.write_run_text(&run.text()?)?)
    }

    /// Writes `run.toml` as [`RunFile::text`] has it.
    pub(crate) fn write_run_text(&self, text: &str) -> austerity_io::Result<()> {
        austerity_io::run::write_file(self.file("run.toml"), text.as_bytes())
    }

    pub(crate) fn read_run(&self) -> Result<RunFile, Failure> {
        let path = self.file("run.toml");
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound if self.has_draws() => self.without_settings(),
            std::io::ErrorKind::NotFound => Failure::Usage(format!(
                "{} holds no run (there is no run.toml); make one with `austerity fit … --out {}`",
                self.path.display(),
                self.path.display()
            )),
            _ => Failure::Usage(format!("cannot read {}: {error}", path.display())),
        })?;
        RunFile::parse(bytes, &path)
    }

    /// Writes `summary.json`, with its checksum.
    pub(crate) fn write_summary(&self, mut summary: Value) -> Result<(), Failure> {
        summary[seal::KEY] = seal::PLACE.into();
        let text = serde_json::to_string_pretty(&summary).map_err(std::io::Error::from)?;
        Ok(austerity_io::run::write_file(self.file("summary.json"), seal::apply(&text).as_bytes())?)
    }

    /// Whether a chain of a run here has made a step; what cannot be told counts as one.
    pub(crate) fn has_draws(&self) -> bool {
        let made = |saved: austerity_io::Result<Saved>| {
            saved.map_or(true, |saved| saved.checkpoint.chains.iter().any(|chain| chain.step > 0))
        };
        let checkpoint = self.checkpoint();
        let there = checkpoint.exists() || checkpoint::previous(&checkpoint).exists();
        let stored = || self.reader().is_ok_and(|reader| reader.draws() > 0);
        there && checkpoint::candidates(checkpoint).into_iter().any(made) || stored()
    }

    /// The run is here, its settings are not.
    pub(crate) fn without_settings(&self) -> Failure {
        Failure::Usage(format!(
            "{} holds the draws of a run whose run.toml is lost, so it cannot go on: put a copy of the file back, or begin a new run in \
             another folder, which makes the same draws again with the same data, options and seed",
            self.path.display()
        ))
    }

    /// The newest checkpoint; the one before it has other counts than the draws, and will not do.
    pub(crate) fn saved(&self) -> Result<Saved, Failure> {
        match checkpoint::read(self.checkpoint())? {
            Found { value, fallback: None } => Ok(value),
            Found { fallback: Some(why), .. } => {
                Err(Failure::Usage(format!("{why}; resume the run first, which makes a new one")))
            }
        }
    }

    /// What to show of a run's checkpoint: the newest; the one before, and why; or one that knows nothing, and why.
    pub(crate) fn standing(&self, run: &RunFile) -> (Saved, Standing) {
        match checkpoint::read(self.checkpoint()) {
            Ok(Found { value, fallback: None }) => (value, Standing::Newest),
            Ok(Found { value, fallback: Some(why) }) => (value, Standing::Before(why)),
            Err(error) => (Saved::lost(run), Standing::Lost(error.to_string())),
        }
    }

    pub(crate) fn reader(&self) -> Result<DrawsReader, Failure> {
        Ok(DrawsReader::open(self.draws())?)
    }
}
