//! Draws and checkpoints to the run's folder, on the sampler's own thread.
//!
//! Draws are appended as they come and made durable every two seconds; a checkpoint that counts exactly those draws follows. A
//! run killed at any moment so loses what it drew since: at most a few seconds.

use std::time::{Duration, Instant};

use austerity::model::Gradient;
use austerity::run::{Checkpoint, Ended, Part, Sink};
use austerity_glm::glm::Family;
use austerity_glm::proposal::{
    ModeJumps, RegressionProposal, SampledPaths, StoredProposal, Transition, WholePaths,
};
use austerity_glm::{CertainSteps, ResidualGradient};
use austerity_io::coding::Recipe;
use austerity_io::run::{DrawsWriter, checkpoint};

use crate::output::Failure;
use crate::runs::{Folder, RunFile, Saved};

/// How often draws are made durable and a checkpoint is written.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(2);

/// What a kernel has learnt, as a checkpoint file can keep it.
pub(super) trait Kept: Clone + Send {
    fn kept(self) -> StoredProposal;
}

impl<P: Stored> Kept for P {
    fn kept(self) -> StoredProposal {
        self.stored()
    }
}

/// Of a kernel that learns nothing: its plan says all there is to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned;

impl Kept for Planned {
    fn kept(self) -> StoredProposal {
        StoredProposal::Planned
    }
}

/// A proposal that a checkpoint file can keep.
pub(super) trait Stored: austerity::proposal::Proposal<Vec<f64>> + Clone + Send {
    fn stored(self) -> StoredProposal;
}

impl Stored for RegressionProposal {
    fn stored(self) -> StoredProposal {
        self.into()
    }
}

impl<F: Family> Stored for SampledPaths<'_, F> {
    fn stored(self) -> StoredProposal {
        SampledPaths::stored(self)
    }
}

impl<E: CertainSteps + ResidualGradient> Stored for ModeJumps<'_, E> {
    fn stored(self) -> StoredProposal {
        ModeJumps::stored(self)
    }
}

impl<E: CertainSteps + ResidualGradient> Stored for Transition<'_, E> {
    fn stored(self) -> StoredProposal {
        Transition::stored(self)
    }
}

impl<M: Gradient<State = Vec<f64>>> Stored for WholePaths<'_, M> {
    fn stored(self) -> StoredProposal {
        WholePaths::stored(self)
    }
}

/// Where a run's draws go.
pub(super) struct FolderSink<'a> {
    folder: &'a Folder,
    writer: DrawsWriter,
    /// Brings draws to the original scale, where columns were standardised.
    recipe: Option<&'a Recipe>,
    coefficients: usize,
    width: usize,
    saved: Saved,
    /// The text of `run.toml` with a plan that the file does not have yet.
    planned: Option<String>,
    /// What the newest checkpoint file holds.
    durable: Saved,
    /// Seconds of the chains before this session.
    earlier: f64,
    start: Instant,
    last: Instant,
}

impl<'a> FolderSink<'a> {
    pub(super) fn new(
        folder: &'a Folder,
        writer: DrawsWriter,
        (recipe, coefficients): (Option<&'a Recipe>, usize),
        saved: Saved,
    ) -> Self {
        let now = Instant::now();
        let width = saved.checkpoint.names.len();
        let earlier = saved.seconds;
        let durable = saved.clone();
        Self {
            folder,
            writer,
            recipe,
            coefficients,
            width,
            saved,
            planned: None,
            durable,
            earlier,
            start: now,
            last: now,
        }
    }

    /// Makes everything durable, with a checkpoint that counts it.
    pub(super) fn save(&mut self) -> austerity_io::Result<()> {
        if let Some(text) = self.planned.take() {
            self.folder.write_run_text(&text)?;
        }
        self.writer.flush()?;
        self.saved.seconds = self.earlier + self.start.elapsed().as_secs_f64();
        checkpoint::write(self.folder.checkpoint(), &self.saved)?;
        self.durable.clone_from(&self.saved);
        self.last = Instant::now();
        Ok(())
    }

    /// Keeps every `factor`-th of the stored draws, durably with the settings and the checkpoint that go with them; gives the draws per stored draw.
    pub(super) fn thin(&mut self, run: &RunFile, factor: u64) -> Result<u64, Failure> {
        self.writer.thin(factor)?;
        let mut run = run.clone();
        run.plan.settings.record_every = self.writer.stored_every();
        self.saved.checkpoint.settings.record_every = run.plan.settings.record_every;
        self.planned = Some(run.text()?);
        self.save()?;
        Ok(run.plan.settings.record_every)
    }

    /// Stored draws of each chain.
    pub(super) fn stored(&self) -> Vec<u64> {
        (0..self.saved.checkpoint.chains.len()).map(|chain| self.writer.drawn(chain)).collect()
    }

    /// Where the chains stand, as far as they have handed over.
    pub(super) fn checkpoint(&self) -> &Checkpoint<Vec<f64>, StoredProposal> {
        &self.saved.checkpoint
    }

    /// Goes on under other settings. The plan is made durable before any draw under it is.
    pub(super) fn replan(&mut self, run: &RunFile) -> Result<(), Failure> {
        self.saved.checkpoint.settings = run.plan.settings.clone();
        self.planned = Some(run.text()?);
        Ok(())
    }

    /// The last checkpoint, with why the session ended.
    pub(super) fn finish(
        mut self,
        checkpoint: Checkpoint<Vec<f64>, StoredProposal>,
        ended: &Ended,
        seconds: f64,
    ) -> austerity_io::Result<()> {
        if matches!(ended, Ended::Unstored { .. }) {
            // The checkpoint on disk counts what is stored; that the run failed is added to it where there is room.
            self.durable.end(ended);
            let _ = checkpoint::write(self.folder.checkpoint(), &self.durable);
            return Ok(());
        }
        self.saved.end(ended);
        self.saved.checkpoint = checkpoint;
        self.writer.flush()?;
        self.saved.seconds = self.earlier + seconds;
        checkpoint::write(self.folder.checkpoint(), &self.saved)
    }

    fn store(&mut self, mut part: Part<Vec<f64>, StoredProposal>) -> austerity_io::Result<()> {
        if let Some(recipe) = self.recipe {
            for draw in part.draws.values.chunks_exact_mut(self.width.max(1)) {
                recipe.to_original(&mut draw[..self.coefficients]);
            }
        }
        self.writer.append(part.chain, &part.draws.values, &part.draws.decisions)?;
        self.saved.checkpoint.chains[part.chain] = part.checkpoint;
        if self.last.elapsed() >= CHECKPOINT_INTERVAL { self.save() } else { Ok(()) }
    }
}

impl Sink<Vec<f64>, StoredProposal> for FolderSink<'_> {
    fn take(&mut self, part: Part<Vec<f64>, StoredProposal>) -> Result<(), String> {
        self.store(part).map_err(|error| error.to_string())
    }
}
