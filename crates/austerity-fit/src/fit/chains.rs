//! Chains of any kernel, as a session runs them: what is recorded of them, and how they go on from a checkpoint.
//!
//! | chains | kernel |
//! |---|---|
//! | [`OfModel`] | Metropolis–Hastings with audits: every fit, `select` and `ica` |
//! | `part::field` | one variable of a field from its conditional: `gibbs` |

use std::marker::PhantomData;

use austerity::kernel::Kernel;
use austerity::run::{Audited, Checkpoint, Sampler, Settings, Target};

use super::save_draws::{Kept, Stored};
use crate::model::Sampled;

/// What the kernel of some chains learns.
pub(super) type Learnt<'m, C> = <<C as Chains<'m>>::Kernel as Kernel>::Learnt;

/// Chains that a session can run.
pub(super) trait Chains<'m> {
    type Target: Target<State = Vec<f64>> + 'm;
    type Kernel: Kernel<State = Vec<f64>, Learnt: Kept> + Send;

    /// What is recorded.
    fn target(&self) -> &'m Self::Target;

    /// Chains that go on from `checkpoint`.
    fn resume(
        &self,
        settings: &Settings,
        checkpoint: Checkpoint<Vec<f64>, Learnt<'m, Self>>,
    ) -> austerity::Result<Sampler<'m, Self::Target, Self::Kernel>>
    where
        Self: Sized;
}

/// Chains of a model by Metropolis–Hastings with the proposal `P`.
pub(super) struct OfModel<'m, M, P> {
    model: &'m M,
    proposal: PhantomData<P>,
}

impl<'m, M, P> OfModel<'m, M, P> {
    pub(super) fn new(model: &'m M) -> Self {
        Self { model, proposal: PhantomData }
    }
}

impl<'m, M: Sampled, P: Stored> Chains<'m> for OfModel<'m, M, P> {
    type Target = M;
    type Kernel = Audited<'m, M, P>;

    fn target(&self) -> &'m M {
        self.model
    }

    fn resume(
        &self,
        settings: &Settings,
        checkpoint: Checkpoint<Vec<f64>, P>,
    ) -> austerity::Result<Sampler<'m, M, Audited<'m, M, P>>> {
        Sampler::resume(self.model, settings, checkpoint)
    }
}
