//! Passes: every computation that reads all rows before chains start, or for an audit, is a question whose answers about parts of the rows merge.
//!
//! | file | what it holds |
//! |---|---|
//! | [`mod@driver`] | [`Driver`]: cuts the rows into parts, runs a pass on threads, reports progress |
//! | [`mod@tree`] | [`Tree`]: merges partial answers in a fixed order, whatever the order of their arrival |
//!
//! A [`Pass`] is plain data: the state asked about, the numbers that every row needs, the instruction set. It answers for a range of blocks, and it knows
//! how two answers become one (the *merge law*). Sums of floating-point numbers depend on their order, so the parts are fixed by the number of blocks alone and merge along a
//! fixed binary tree: the same bits for every number of threads, and later for every number of machines.
//!
//! | pass, its file | answer | merge law |
//! |---|---|---|
//! | [`Derivatives`](crate::glm::derivative::Derivatives), `glm/derivative.rs` | log-likelihood, gradient and Hessian at a state; keeps η of every row | sum |
//! | `Totals`, `glm/totals.rs` | moments of the differences of several moves: audits | moments |
//! | `Beyond`, `glm/start.rs` | blocks in which a state may give a row no probability | concatenation |
//! | `Farthest`, `glm/dispersed.rs` | the K rows with the largest |x| | the K largest of both |
//! | `RowLeverages`, `check/leverage.rs` | leverage and influence of every row, for `check` | concatenation |
//! | `ScoreCounts`, `ScoresAbove`, `check/heavy.rs` | the rows with the largest scores | sum, concatenation |
//! | `ScoreRows`, `glm/expansion/scores.rs` | the matrix of the limit; keeps what each row can leave of an expansion | sum |
//! | `CubicSums`, `glm/expansion/cubic.rs` | the term of the third order | sum |
//! | `BlockScores`, `TailSums`, `glm/expansion/bound/build.rs` | the heaviest blocks, and the sums behind a certificate | concatenation, sum |
//!
//! Some numbers stay with their rows (η, scores): a pass writes them to the part of a slice that belongs to its blocks.

pub mod driver;
pub mod tree;

use std::ops::Range;

use austerity::error::Result;

pub use driver::{Driver, Progress, Watch};
pub use tree::Tree;

/// A question about all rows of `R` whose answers about parts of the rows merge.
pub trait Pass<R: ?Sized>: Sync {
    /// What a part of the rows answers.
    type Partial: Send;

    /// What the pass does, for whoever watches.
    const NAME: &'static str;

    /// Blocks to visit.
    fn blocks(&self, rows: &R) -> usize;

    /// The answer of no rows.
    fn empty(&self, rows: &R) -> Self::Partial;

    /// Adds the rows of some blocks to an answer. `kept` holds 32 numbers for each of these blocks, or is empty.
    fn visit(
        &self,
        rows: &R,
        blocks: Range<usize>,
        kept: &mut [f32],
        partial: &mut Self::Partial,
    ) -> Result<()>;

    /// Adds the answer of the rows that follow.
    fn merge(&self, earlier: &mut Self::Partial, later: Self::Partial);
}
