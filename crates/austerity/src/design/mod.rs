//! How to choose.
