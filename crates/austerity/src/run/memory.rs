//! The memory a run will take, known before it starts.

use std::fmt;

use crate::model::Model;
use crate::population::Access;
use crate::rule::{AnyRule, Decision, Rule};
use crate::run::Settings;

/// Bytes by purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The data, held once for all chains.
    pub data: usize,
    /// The order of the blocks, for all chains.
    pub order: usize,
    /// Working memory and caches, for all chains.
    pub scratch: usize,
    /// The draws, for all chains.
    pub draws: usize,
}

impl Memory {
    /// The estimate for `settings` on `model` with `parameters` recorded numbers.
    #[must_use]
    pub fn estimate<M: Model>(model: &M, settings: &Settings, rule: &AnyRule, parameters: usize) -> Self {
        let chains = settings.chains as usize;
        let access: Access = Rule::<dyn crate::population::Reveal>::access(rule);
        Self {
            data: model.data_bytes(),
            order: chains * model.len().div_ceil(settings.rule.block_rows().max(1)) * 2 * size_of::<u32>(),
            scratch: chains * model.scratch_bytes(access),
            ..Self::of_draws(settings, parameters)
        }
    }

    /// The draws alone, of `parameters` recorded numbers each.
    #[must_use]
    pub fn of_draws(settings: &Settings, parameters: usize) -> Self {
        let per_draw = parameters * size_of::<f64>() + size_of::<Decision>();
        let draws = usize::try_from(settings.draws / settings.record_every.max(1)).unwrap_or(usize::MAX);
        let draws = (settings.chains as usize).saturating_mul(draws.saturating_mul(per_draw));
        Self { data: 0, order: 0, scratch: 0, draws }
    }

    /// All together.
    #[must_use]
    pub fn total(&self) -> usize {
        self.data.saturating_add(self.order).saturating_add(self.scratch).saturating_add(self.draws)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mega = |bytes: usize| bytes as f64 / 1e6;
        write!(
            f,
            "about {:.0} MB: data {:.1}, order of blocks {:.1}, working memory {:.1}, draws {:.1}",
            mega(self.total()),
            mega(self.data),
            mega(self.order),
            mega(self.scratch),
            mega(self.draws)
        )
    }
}
