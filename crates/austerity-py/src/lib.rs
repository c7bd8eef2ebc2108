//! The extension module `austerity._austerity`: conversions between Python and the library, nothing more.
//!
//! | file | what it does |
//! |---|---|
//! | `after` | how well a run predicts, how runs compare, what they say |
//! | `request` | keyword arguments as a request |
//! | `engine` | engines of Python for passes over data in parts, and the program with them |
//! | `error` | errors as Python exceptions |
//! | `table` | arrays and held columns as a table in memory |
//! | `held` | columns of other libraries' tables, through Arrow |
//! | `capsule` | streams of Arrow out of their capsules (unsafe) |
//! | `fingerprint` | whether an array was written to |
//! | `formula` | what a formula needs of a table |
//! | `generate` | data with known coefficients |
//! | `handle` | a run on a thread of its own: watched, paused, ended |
//! | `callback` | a user's model as Python functions, called with the interpreter's lock |
//! | `derivatives` | the same with gradients and Hessians |
//! | `lock` | threads of the sampler as threads of Python (unsafe) |
//! | `own` | both as one model: parameters in blocks, derivatives by differences |
//! | `native` | a user's model as a compiled function, called without the lock (unsafe) |
//! | `reading` | runs on disk |
//! | `theory` | analyze, design, check |
//!
//! Everything that takes long releases the lock.
#![allow(clippy::needless_pass_by_value, reason = "arguments from Python are handed over by value")]

mod after;
mod callback;
mod capsule;
mod derivatives;
mod engine;
mod error;
mod fingerprint;
mod formula;
mod generate;
mod handle;
mod held;
mod lock;
mod native;
mod own;
mod reading;
mod request;
mod table;
mod theory;

use pyo3::prelude::*;

/// The part of the package that is compiled.
#[pymodule(gil_used = true)]
fn _austerity(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<handle::Handle>()?;
    module.add_class::<held::PyHeld>()?;
    module.add_function(wrap_pyfunction!(held::held, module)?)?;
    module.add_function(wrap_pyfunction!(formula::formula_columns, module)?)?;
    module.add_function(wrap_pyfunction!(formula::terms, module)?)?;
    module.add_function(wrap_pyfunction!(engine::run_part, module)?)?;
    module.add_function(wrap_pyfunction!(engine::program, module)?)?;
    module.add_function(wrap_pyfunction!(handle::fit_table, module)?)?;
    module.add_function(wrap_pyfunction!(handle::fit_parts, module)?)?;
    module.add_function(wrap_pyfunction!(handle::update, module)?)?;
    module.add_function(wrap_pyfunction!(handle::fit_functions, module)?)?;
    module.add_function(wrap_pyfunction!(handle::fit_derivatives, module)?)?;
    module.add_function(wrap_pyfunction!(handle::fit_native, module)?)?;
    module.add_function(wrap_pyfunction!(own::check_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(request::fit_options, module)?)?;
    module.add_function(wrap_pyfunction!(request::request_json, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprint::fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(table::schema, module)?)?;
    module.add_function(wrap_pyfunction!(callback::order, module)?)?;
    module.add_function(wrap_pyfunction!(reading::volatile, module)?)?;
    module.add_function(wrap_pyfunction!(reading::overview, module)?)?;
    module.add_function(wrap_pyfunction!(reading::columns, module)?)?;
    module.add_function(wrap_pyfunction!(reading::draws, module)?)?;
    module.add_function(wrap_pyfunction!(reading::statistics, module)?)?;
    module.add_function(wrap_pyfunction!(reading::report, module)?)?;
    module.add_function(wrap_pyfunction!(reading::export, module)?)?;
    module.add_function(wrap_pyfunction!(reading::predict, module)?)?;
    module.add_function(wrap_pyfunction!(reading::verify, module)?)?;
    module.add_function(wrap_pyfunction!(after::loo, module)?)?;
    module.add_function(wrap_pyfunction!(after::log_likelihood, module)?)?;
    module.add_function(wrap_pyfunction!(after::compare, module)?)?;
    module.add_function(wrap_pyfunction!(after::effects, module)?)?;
    module.add_function(wrap_pyfunction!(after::appraise, module)?)?;
    module.add_function(wrap_pyfunction!(after::reactions, module)?)?;
    module.add_function(wrap_pyfunction!(after::contrasts, module)?)?;
    module.add_function(wrap_pyfunction!(after::fitted, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(theory::analyze, module)?)?;
    module.add_function(wrap_pyfunction!(theory::design, module)?)?;
    module.add_function(wrap_pyfunction!(theory::check, module)?)?;
    Ok(())
}
