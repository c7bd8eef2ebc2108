//! austerity

pub mod diagnostics;
