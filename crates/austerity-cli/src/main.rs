//! The command line of austerity.
fn main() {}
