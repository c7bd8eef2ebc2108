//! Independent component analysis with an orthonormal unmixing matrix: p(x|W) = |det W|·Π_j \[4·cosh²(½·w_jᵀx)\]⁻¹.
//!
//! The rows w_j of W, a D × D matrix, turn a whitened sample x into sources w_jᵀx, each with the logistic density
//! log p(s) = −2·log(2·cosh(s/2)) = −(|s| + 2·log1p(e^{−|s|})). On orthonormal matrices |det W| = 1, and the prior is uniform on
//! them and 0 elsewhere. A state is W, row by row; walk on it with [`Stiefel`](crate::Stiefel).
//!
//! | file | what it holds |
//! |---|---|
//! | [`kernel`] | the hot loops over blocks of 32 samples, and the difference that does not cancel |
//! | [`ratio`] | the population of a move, and a chain's working memory |
//! | [`whitening`] | [`Whitening`]: mean 0 and covariance I, symmetrically |
//! | [`amari`] | [`amari_distance`]: how far an unmixing matrix is from undoing a mixing |
//!
//! Hyvärinen & Oja (2000); Korattikara, Chen & Welling (2014), section 6.2. Permutations and changes of sign of the rows leave
//! the posterior as it is, so it has D!·2ᴰ equal modes (half of them on the component of a start): summarise
//! with functions that do not see these, such as [`amari_distance`]. Sources that are Gaussian can be rotated among
//! themselves at no cost but that of the sample's own chance: along that ridge the posterior is wide.
//!
//! Storage: f32, 4·D bytes per sample. Cost: see [`kernel`]. Do not use for sources with lighter
//! tails than the Gaussian (D! of them look alike to the logistic density), nor for data that are not whitened.

pub mod amari;
pub mod kernel;
pub mod ratio;
pub mod whitening;

#[cfg(test)]
mod tests;

use crate::stiefel::departure;
use austerity::error::{Error, Result, setting};
use austerity::model::{Access, Model, Parameters, fingerprint};
use austerity::model::{check_length, check_rows, check_state, storage_order};
use austerity_glm::data::check_finite;
use austerity_glm::glm::blocks::{BLOCK, Line, ZERO, sample_stride};
use austerity_glm::memory::filled;
use austerity_glm::simd::{self, Level};

pub use amari::amari_distance;
pub use ratio::{Ratio, Scratch};
pub use whitening::Whitening;

/// Largest entry of |W·Wᵀ − I| of a state that counts as orthonormal.
pub const ORTHONORMAL: f64 = 1e-6;
/// Largest entry of |covariance − I| of samples that count as whitened.
const WHITE: f64 = 0.05;

/// Independent component analysis of whitened samples.
#[derive(Clone, Debug)]
pub struct Ica {
    lines: Vec<Line>,
    longest: Vec<f32>,
    order: Vec<u32>,
    dimension: usize,
    level: Level,
}

impl Ica {
    /// The posterior given whitened columns (see [`Whitening`]), one per mixture, whose samples are stored in the random order
    /// of the seed `shuffle`, or as they are without one: only for samples that come in random order already.
    pub fn new(columns: &[Vec<f64>], shuffle: Option<u64>) -> Result<Self> {
        let model = Self::unchecked(columns, shuffle)?;
        let worst = whitening::departure_from_white(columns);
        if worst > WHITE {
            return Err(setting(
                "columns",
                format!("not white (their covariance is off the identity by {worst:.3})"),
                "whitened columns: see `Whitening`",
            ));
        }
        Ok(model)
    }

    /// [`Ica::new`] of columns that need not be white.
    fn unchecked(columns: &[Vec<f64>], shuffle: Option<u64>) -> Result<Self> {
        let dimension = columns.len();
        if dimension == 0 {
            return Err(setting("columns", 0, "at least 1"));
        }
        let rows = columns[0].len();
        check_rows(rows)?;
        for (j, column) in columns.iter().enumerate() {
            let name = format!("mixture {}", j + 1);
            check_length(&name, rows, column.len())?;
            check_finite(&name, column)?;
        }
        let order = storage_order(rows, shuffle);
        let mut lines = filled(rows.div_ceil(BLOCK) * 2 * dimension, ZERO);
        for (position, &row) in order.iter().enumerate() {
            let (block, i) = (position / BLOCK, position % BLOCK);
            for (j, column) in columns.iter().enumerate() {
                let value = column[row as usize] as f32;
                if value.is_infinite() {
                    let (what, row) = (format!("mixture {}", j + 1), row as usize);
                    let allowed = "at most 3e38 in absolute value".into();
                    return Err(Error::OutOfRange { what, row, value: column[row], allowed });
                }
                lines[(block * dimension + j) * 2 + i / 16].0[i % 16] = value;
            }
        }
        let longest = lines.chunks_exact(2 * dimension).map(longest_sample).collect();
        Ok(Self { lines, longest, order, dimension, level: simd::detected() })
    }

    /// D.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    fn samples(&self) -> kernel::Samples<'_> {
        let Self { lines, longest, order, dimension, .. } = self;
        kernel::Samples { lines, longest, dimension: *dimension, rows: order.len() }
    }
}

/// The length of the longest sample of a block, rounded up: infinite where f32 does not hold it.
fn longest_sample(block: &[Line]) -> f32 {
    let square = |i: usize| -> f64 {
        block.iter().skip(i / 16).step_by(2).map(|line| f64::from(line.0[i % 16]).powi(2)).sum()
    };
    ((0..BLOCK).map(square).fold(0.0, f64::max).sqrt() as f32).next_up()
}

impl Model for Ica {
    type State = Vec<f64>;
    type Scratch = Scratch;
    type Ratio<'a> = Ratio<'a>;

    fn len(&self) -> usize {
        self.order.len()
    }

    fn scratch(&self, access: Access) -> Scratch {
        Scratch::new(self, access)
    }

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        check_state(state, self.dimension * self.dimension)?;
        let off = departure(self.dimension, state);
        if off <= ORTHONORMAL {
            return Ok(());
        }
        Err(setting(
            "state",
            format!("a matrix whose W·Wᵀ is off the identity by {off:.1e}"),
            "orthonormal rows: take `nearest_frame` of the matrix",
        ))
    }

    /// 0 on orthonormal matrices, −∞ elsewhere.
    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        let fits = state.len() == self.dimension * self.dimension;
        if fits && departure(self.dimension, state) <= ORTHONORMAL { 0.0 } else { f64::NEG_INFINITY }
    }

    fn compare<'a>(&'a self, from: &'a Vec<f64>, to: &'a Vec<f64>, scratch: &'a mut Scratch) -> Ratio<'a> {
        Ratio::new(self, from, to, scratch)
    }

    fn original_row(&self, position: usize) -> usize {
        self.order.get(position).map_or(position, |&row| row as usize)
    }

    fn fingerprint(&self) -> u64 {
        let per = 2 * self.dimension;
        let blocks = self.lines.chunks_exact(per).step_by(sample_stride(self.lines.len() / per));
        let words = blocks.flatten().flat_map(|line| line.0.iter().map(|value| value.to_bits()));
        fingerprint([self.order.len() as u32, self.dimension as u32].into_iter().chain(words))
    }

    fn data_bytes(&self) -> usize {
        let own = size_of_val(self.lines.as_slice()) + size_of_val(self.longest.as_slice());
        own + size_of_val(self.order.as_slice())
    }

    fn scratch_bytes(&self, _access: Access) -> usize {
        32 * self.dimension * self.dimension
    }
}

impl Parameters for Ica {
    fn names(&self) -> Vec<String> {
        let d = self.dimension;
        (0..d * d).map(|k| format!("w[{},{}]", k / d + 1, k % d + 1)).collect()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        out.copy_from_slice(state);
    }
}
