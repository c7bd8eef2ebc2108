//! A user's functions, interpreted or compiled, as one model: parameters in blocks, derivatives by differences.
//!
//! One type for all, so that a fit is compiled once for them: [`Functions`] and [`Native`] differ by a branch per call.

use austerity::Result;
use austerity::population::Batch;
use austerity_glm::own::{Block, Differences, FromBatches, Kind, Likelihoods, Structured, from_batches};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::callback::{Arrays, Functions, Trouble};
use crate::native::Native;
use crate::request::prior;

/// A user's functions as a model whose derivatives are finite differences.
pub(crate) type OfCalls = FromBatches<Differences<Structured<Calls>>>;

/// Functions of Python, or a compiled one.
pub(crate) enum Calls {
    Python(Functions),
    Compiled(Native),
}

impl Calls {
    pub(crate) fn trouble(&self) -> Trouble {
        match self {
            Self::Python(functions) => functions.trouble.clone(),
            Self::Compiled(native) => native.trouble(),
        }
    }
}

impl Likelihoods for Calls {
    type Memory = Arrays;

    fn rows(&self) -> usize {
        match self {
            Self::Python(functions) => functions.rows(),
            Self::Compiled(native) => native.rows(),
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            Self::Python(functions) => functions.names(),
            Self::Compiled(native) => native.names(),
        }
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        match self {
            Self::Python(functions) => functions.log_prior(state),
            Self::Compiled(native) => native.log_prior(state),
        }
    }

    fn log_likelihoods(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        memory: &mut Arrays,
        out: &mut [f64],
    ) -> Result<()> {
        match self {
            Self::Python(functions) => functions.log_likelihoods(state, batch, memory, out),
            Self::Compiled(native) => native.log_likelihoods(state, batch, &mut (), out),
        }
    }

    fn original_row(&self, position: usize) -> usize {
        match self {
            Self::Python(functions) => functions.original_row(position),
            Self::Compiled(native) => native.original_row(position),
        }
    }

    fn data_bytes(&self) -> usize {
        match self {
            Self::Python(functions) => functions.data_bytes(),
            Self::Compiled(native) => native.data_bytes(),
        }
    }
}

/// A block as Python hands it over: name, kind, number of values, the ends of an interval, the prior, the values to begin at.
pub(crate) type Given<'py> = (String, String, usize, (f64, f64), Option<Bound<'py, PyAny>>, Option<Vec<f64>>);

/// All of them; none where the state is the user's own.
pub(crate) type Blocks<'py> = Vec<Given<'py>>;

/// The blocks of a model with structure, and where it begins.
pub(crate) struct Structure {
    blocks: Vec<Block>,
    starts: Vec<Option<Vec<f64>>>,
}

impl Structure {
    pub(crate) fn read(given: Vec<Given<'_>>) -> PyResult<Self> {
        let (mut blocks, mut starts) = (Vec::new(), Vec::new());
        for (name, kind, size, (low, high), own, start) in given {
            let kind = match kind.as_str() {
                "real" => Kind::Real,
                "positive" => Kind::Positive,
                "ordered" => Kind::Ordered,
                "simplex" => Kind::Simplex,
                "interval" => Kind::Interval { low, high },
                other => return Err(PyValueError::new_err(format!("{other} is no kind of parameters"))),
            };
            let block =
                Block { prior: own.map(|own| prior(&own)).transpose()?, ..Block::new(name, kind, size) };
            block.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
            blocks.push(block);
            starts.push(start);
        }
        Ok(Self { blocks, starts })
    }

    /// The model, and the state to begin at; `start` is that of a model without blocks.
    pub(crate) fn model(self, calls: Calls, start: &[f64]) -> Result<(OfCalls, Vec<f64>)> {
        if self.blocks.is_empty() {
            return Ok((from_batches(Differences::of(Structured::plain(calls)))?, start.to_vec()));
        }
        let structured = Structured::new(calls, self.blocks)?;
        let start = structured.start(&self.starts)?;
        Ok((from_batches(Differences::of(structured))?, start))
    }
}

/// Checks blocks and their starts before anything else is done.
#[pyfunction]
pub(crate) fn check_blocks(given: Vec<Given<'_>>) -> PyResult<()> {
    let Structure { blocks, starts } = Structure::read(given)?;
    let mut state = Vec::new();
    for (block, start) in blocks.iter().zip(starts) {
        if let Some(start) = start {
            block
                .coordinates_of(&start, &mut state)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
    }
    Ok(())
}
