//! austerity
