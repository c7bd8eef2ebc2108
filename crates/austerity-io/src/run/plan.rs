//! Which number goes into which chunk of which array.
//!
//! A [`Block`] is a range of columns that share chunks: all scalars and statistics are blocks of one column, the coefficients
//! one block of up to [`FEATURES`] columns or several equally wide. A chunk holds one chain, one block and a power of two of
//! draws, 512 kB to 1 MB of them, or as few as the expected length of the run asks for but at least 64 kB.

use super::layout::Layout;
use super::zarr::{CHECKSUM, NumberType};

/// Most features that share a chunk: one parameter of thousands is read without the others.
const FEATURES: usize = 256;
/// Most and fewest bytes of a chunk, and most draws.
const MOST_CHUNK_BYTES: usize = 1 << 20;
const SMALLEST: usize = 1 << 16;
pub(super) const MOST_DRAWS: usize = 1 << 16;

/// The array of the coefficients.
pub(super) const COEFFICIENTS: &str = "posterior/coefficients";

/// Columns that share chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Path of the array in the store.
    pub(super) array: String,
    pub(super) number: NumberType,
    /// The first column, counted among the kept parameters, or among the statistics.
    pub(super) first: usize,
    /// Columns with values.
    pub(super) columns: usize,
    /// Columns stored; those above `columns` are padding.
    pub(super) width: usize,
    /// Position among the blocks of the coefficients; `None` for an array of one column.
    pub(super) place: Option<usize>,
    /// Draws in a chunk.
    pub(super) chunk_draws: usize,
}

impl Block {
    /// Bytes of one draw.
    pub(super) fn record(&self) -> usize {
        self.width * self.number.bytes()
    }

    /// Bytes of a chunk without its checksum.
    pub(super) fn chunk_bytes(&self) -> usize {
        self.record() * self.chunk_draws
    }

    /// File of a chunk, in the folder of the array.
    pub(super) fn key(&self, chain: usize, chunk: u64) -> String {
        match self.place {
            Some(place) => format!("c.{chain}.{chunk}.{place}"),
            None => format!("c.{chain}.{chunk}"),
        }
    }
}

/// The arrays of a store and their blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) chains: usize,
    pub(super) first_chain: u32,
    /// Numbers of the chains that do not follow the first.
    pub(super) numbers: Option<Vec<u32>>,
    pub(super) coefficients: Vec<String>,
    pub(super) scalars: Vec<String>,
    pub(super) statistics: Vec<(String, NumberType)>,
    /// Blocks of parameters, then of statistics.
    pub(super) blocks: Vec<Block>,
}

impl Plan {
    /// The plan of a new store.
    pub(super) fn new(layout: &Layout) -> Self {
        let name = |&index: &usize| layout.names.get(index).cloned().unwrap_or_default();
        let (coefficients, scalars): (Vec<usize>, Vec<usize>) =
            layout.kept().into_iter().partition(|&index| index < layout.coefficients);
        let mut plan = Self {
            chains: layout.chains as usize,
            first_chain: layout.first_chain,
            numbers: layout.chain_numbers.clone(),
            coefficients: coefficients.iter().map(name).collect(),
            scalars: scalars.iter().map(name).collect(),
            statistics: layout.statistics.iter().map(|field| (field.name.clone(), field.number)).collect(),
            blocks: Vec::new(),
        };
        plan.lay_out(|record| chunk_draws(record, layout.draws));
        plan
    }

    /// Makes the blocks, given the draws in a chunk for a record of so many bytes.
    pub(super) fn lay_out(&mut self, chunk_draws: impl Fn(usize) -> usize) {
        let count = self.coefficients.len();
        let places = count.div_ceil(FEATURES);
        let width = count.div_ceil(places.max(1));
        let mut blocks: Vec<Block> = (0..places)
            .map(|place| Block {
                array: COEFFICIENTS.into(),
                number: NumberType::Float64,
                first: place * width,
                columns: width.min(count - place * width),
                width,
                place: Some(place),
                chunk_draws: chunk_draws(width * NumberType::Float64.bytes()),
            })
            .collect();
        let single = |array: String, number: NumberType, first| Block {
            array,
            number,
            first,
            columns: 1,
            width: 1,
            place: None,
            chunk_draws: chunk_draws(number.bytes()),
        };
        blocks.extend((count..).zip(&self.scalars).map(|(first, name)| {
            single(format!("posterior/{}", array_name(name)), NumberType::Float64, first)
        }));
        blocks.extend(
            (0..)
                .zip(&self.statistics)
                .map(|(first, (name, number))| single(format!("sample_stats/{name}"), *number, first)),
        );
        self.blocks = blocks;
    }

    /// Number of kept parameters.
    pub(super) fn parameters(&self) -> usize {
        self.coefficients.len() + self.scalars.len()
    }

    /// Names of the kept parameters.
    pub(super) fn names(&self) -> Vec<String> {
        self.coefficients.iter().chain(&self.scalars).cloned().collect()
    }

    /// The blocks of parameters.
    pub(super) fn posterior(&self) -> &[Block] {
        &self.blocks[..self.blocks.len() - self.statistics.len()]
    }

    /// The blocks of statistics, one each.
    pub(super) fn sample_stats(&self) -> &[Block] {
        &self.blocks[self.blocks.len() - self.statistics.len()..]
    }

    /// Number of a chain as the run counts it.
    pub(super) fn chain_number(&self, chain: usize) -> u64 {
        let listed = self.numbers.as_ref().and_then(|numbers| numbers.get(chain));
        listed.map_or(u64::from(self.first_chain) + chain as u64, |&number| u64::from(number))
    }

    /// Bytes of all chunks after so many draws.
    pub(super) fn bytes(&self, draws: u64) -> u64 {
        let one = |block: &Block| {
            draws.div_ceil(block.chunk_draws as u64).saturating_mul((block.chunk_bytes() + CHECKSUM) as u64)
        };
        self.blocks.iter().map(one).fold(0, u64::saturating_add).saturating_mul(self.chains as u64)
    }
}

/// The array of a parameter that is no coefficient. Standard deviations and correlations of group effects have names that no file can have: `sd(group:intercept)` is stored
/// as `sd_group`, `sd(group:x)` as `sd_group_x`, `cor(group:intercept,x)` as `cor_group_intercept_x`.
pub(super) fn array_name(parameter: &str) -> String {
    let inside = |kind: &str| parameter.strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')');
    match (inside("sd"), inside("cor")) {
        (Some(of), _) => match of.rsplit_once(':') {
            Some((group, "intercept")) => format!("sd_{}", group.replace(':', "_")),
            _ => format!("sd_{}", of.replace([':', ' '], "_")),
        },
        (None, Some(of)) => format!("cor_{}", of.replace([':', ',', ' '], "_")),
        (None, None) => parameter.into(),
    }
}

/// Draws in a chunk of records of `record` bytes in a run of about `expected` draws.
fn chunk_draws(record: usize, expected: u64) -> usize {
    let power_below = |n: usize| 1 << n.max(1).ilog2();
    let most = power_below(MOST_CHUNK_BYTES / record.max(1)).min(MOST_DRAWS);
    let fewest = power_below(SMALLEST / record.max(1)).min(most);
    let expected = usize::try_from(expected).unwrap_or(MOST_DRAWS).clamp(1, MOST_DRAWS);
    expected.next_power_of_two().clamp(fewest, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::run::Settings;

    #[test]
    fn chunks_have_sane_sizes() {
        assert_eq!(chunk_draws(160, u64::MAX), 4096); // 20 parameters: 655 kB
        assert_eq!(chunk_draws(8, u64::MAX), MOST_DRAWS); // 512 kB
        assert_eq!(chunk_draws(160, 1000), 1024);
        assert_eq!(chunk_draws(160, 1), 256); // 41 kB: the power of two below 64 kB
        assert_eq!(chunk_draws(1 << 22, 1000), 1); // a draw larger than any chunk
    }

    #[test]
    fn many_features_are_split_evenly_and_every_column_has_one_place() {
        for features in [1, 2, 255, 256, 257, 513, 3000] {
            let mut names: Vec<String> = (0..features).map(|j| format!("x{j}")).collect();
            names.push("sigma".into());
            let plan = Plan::new(&Layout::new(names, features, &Settings::default()));
            let mut next = 0;
            for block in plan.posterior() {
                assert_eq!(block.first, next);
                assert!(block.columns >= 1 && block.columns <= block.width && block.width <= FEATURES);
                next += block.columns;
            }
            assert_eq!((next, plan.sample_stats().len()), (features + 1, 7));
        }
    }
}
