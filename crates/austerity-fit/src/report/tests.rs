//! Tests of the page: what it says and holds, and what a browser makes of it.

mod browser;
mod markup;
mod runs;
mod studio;
