//! What a sampler records of a kernel's states.
//!
//! Every model with [`Parameters`] is a target. A kernel of one's own that is not about a [`Model`](crate::model::Model) brings its own: names, and the
//! numbers of a state.

use crate::model::Parameters;

/// What is recorded of a state.
pub trait Target: Sync {
    /// A point of the space that a kernel moves in.
    type State: Clone + Send;

    /// Names of the recorded numbers, in the order of [`Target::write`].
    fn names(&self) -> Vec<String>;

    /// Writes the numbers of `state`.
    fn write(&self, state: &Self::State, out: &mut [f64]);

    /// What an exact decision reads, in rows: shares of the data are shares of this.
    fn rows(&self) -> usize;

    /// A number that other data or another prior would almost surely change: a checkpoint refuses to go on with another. 0 where nothing is known.
    fn fingerprint(&self) -> u64 {
        0
    }
}

impl<M: Parameters> Target for M {
    type State = M::State;

    fn names(&self) -> Vec<String> {
        Parameters::names(self)
    }

    fn write(&self, state: &M::State, out: &mut [f64]) {
        Parameters::write(self, state, out);
    }

    fn rows(&self) -> usize {
        self.len()
    }

    fn fingerprint(&self) -> u64 {
        crate::model::Model::fingerprint(self)
    }
}
