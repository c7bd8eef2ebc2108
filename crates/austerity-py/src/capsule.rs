//! Streams of Arrow out of the capsules in which Python libraries hand them over.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>
//!
//! **Safety.** A capsule of the name `arrow_array_stream` points to an `ArrowArrayStream` of the specification, one of the name `arrow_schema` to an
//! `ArrowSchema`, and one of the name `arrow_array` that comes with it to an `ArrowArray` of that type, by that interface. Nobody else uses them
//! meanwhile: the lock is held, and they are marked as taken before it is given back.

use austerity_io::table::arrow::{Batch, Batches, Stream};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// What is in a capsule, or in two; `None` where it was read before.
pub(crate) fn batches(capsules: &[Bound<'_, PyCapsule>]) -> PyResult<Option<Box<dyn Batches + Send>>> {
    let of = |capsule: &Bound<'_, PyCapsule>, name| capsule.pointer_checked(Some(name));
    match capsules {
        [stream] => {
            let pointer = of(stream, c"arrow_array_stream")?;
            // SAFETY: the name was compared; see the head of the file.
            Ok(unsafe { Stream::take(pointer) }.map(|stream| Box::new(stream) as Box<_>))
        }
        [schema, array] => {
            let (schema, array) = (of(schema, c"arrow_schema")?, of(array, c"arrow_array")?);
            // SAFETY: as above.
            Ok(unsafe { Batch::take(schema, array) }.map(|batch| Box::new(batch) as Box<_>))
        }
        _ => Err(PyTypeError::new_err("a stream, or a schema and an array, are needed")),
    }
}
