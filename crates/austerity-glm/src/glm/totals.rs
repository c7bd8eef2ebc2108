//! The pass for the totals of several moves: what audits ask, and whatever compares two states on all rows.
//!
//! A total is a [`Moments`] of the differences l_i of all rows, whose merge law is that of moments (Pébay 2008). All moves are answered in one reading of the rows
//! ([`together`]), and a move has the same total, to the bit, whatever its company.

use std::ops::Range;

use super::expansion::GlmExpansion;
use super::{Family, Glm};
use crate::pass::Pass;
use crate::surrogate::Expansion as _;
use austerity::BLOCK_ROWS;
use austerity::error::Result;
use austerity::model::{Access, Model as _};
use austerity::population::{Moments, together};

/// The moments of all differences, or of all residuals, of several moves `(from, to)`.
#[derive(Debug)]
pub(super) struct Totals<'a> {
    pub(super) moves: &'a [(&'a Vec<f64>, &'a Vec<f64>)],
}

impl<F: Family> Pass<Glm<F>> for Totals<'_> {
    type Partial = Vec<Moments>;
    const NAME: &'static str = "totals";

    fn blocks(&self, model: &Glm<F>) -> usize {
        if self.moves.is_empty() { 0 } else { model.blocks().count() }
    }

    fn empty(&self, _model: &Glm<F>) -> Vec<Moments> {
        vec![Moments::EMPTY; self.moves.len()]
    }

    fn visit(
        &self,
        model: &Glm<F>,
        blocks: Range<usize>,
        _kept: &mut [f32],
        totals: &mut Vec<Moments>,
    ) -> Result<()> {
        let mut scratches: Vec<_> = self.moves.iter().map(|_| model.scratch(Access::Blocks)).collect();
        let moves = self.moves.iter().zip(&mut scratches);
        let mut populations: Vec<_> =
            moves.map(|(&(from, to), scratch)| model.compare(from, to, scratch)).collect();
        together::add_blocks(&mut populations, model.data_bytes() / model.len().max(1), blocks, totals)
    }

    fn merge(&self, earlier: &mut Vec<Moments>, later: Vec<Moments>) {
        earlier.iter_mut().zip(later).for_each(|(earlier, later)| earlier.merge(&later));
    }
}

impl<F: Family> Pass<GlmExpansion<F>> for Totals<'_> {
    type Partial = Vec<Moments>;
    const NAME: &'static str = "totals of residuals";

    fn blocks(&self, expansion: &GlmExpansion<F>) -> usize {
        if self.moves.is_empty() { 0 } else { expansion.rows().div_ceil(BLOCK_ROWS) }
    }

    fn empty(&self, _expansion: &GlmExpansion<F>) -> Vec<Moments> {
        vec![Moments::EMPTY; self.moves.len()]
    }

    fn visit(
        &self,
        expansion: &GlmExpansion<F>,
        blocks: Range<usize>,
        _kept: &mut [f32],
        totals: &mut Vec<Moments>,
    ) -> Result<()> {
        let mut scratches: Vec<_> = self.moves.iter().map(|_| expansion.scratch()).collect();
        let moves = self.moves.iter().zip(&mut scratches);
        let mut populations: Vec<_> =
            moves.map(|(&(from, to), scratch)| expansion.residuals(from, to, scratch)).collect();
        let bytes = expansion.bytes() / expansion.rows().max(1);
        together::add_blocks(&mut populations, bytes, blocks, totals)
    }

    fn merge(&self, earlier: &mut Vec<Moments>, later: Vec<Moments>) {
        earlier.iter_mut().zip(later).for_each(|(earlier, later)| earlier.merge(&later));
    }
}
