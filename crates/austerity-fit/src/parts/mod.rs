//! Data in parts: passes whose parts are answered by threads, by other processes or by other machines, and fits that hold a sample of the rows.
//!
//! | file | what it holds |
//! |---|---|
//! | `message` | what travels: requests, tasks, partial answers, each with a version and a checksum |
//! | `worker` | [`run_part`]: the answer of one part, the same function on every engine |
//! | `rows` | rows that travel by value: the heaviest, and a uniform sample |
//! | `engine` | [`Engine`]: whoever maps a function over tasks; [`Threads`] |
//! | `passes` | a pass over all parts: what is missing is asked for again, what changed is refused, answers merge along a fixed tree |
//! | `prepare` | the passes before a fit |
//! | `reduce` | the rows that are kept and what the others add: the posterior that chains run on |
//! | `state` | what a run keeps of it, for `--resume` and `update` |
//! | `update` | new rows on an old fit, and rows that are forgotten |
//! | `forecast` | what a fit would read and take, from a probe of one part: `austerity plan` |
//! | `limits` | whether the rows fit in memory |
//!
//! ```text
//! run_part(request, task) → partial                pure, in Rust
//! engine(request, tasks) → partials                any order, repetitions allowed
//! ```
//!
//! | pass | answer | merge law |
//! |---|---|---|
//! | learn | levels, summaries, checks of every column | in the order of the parts |
//! | sample | the m rows with the smallest keys; sums of a linear model | the m smallest of both; sum |
//! | derivatives | gradient, Hessian, squared scores; the K rows with the largest scores | sum along the tree; the K largest of both |
//! | totals | log-likelihood at draws of the normal approximation, less that at the centre | sum along the tree |
//!
//! The key of a row is a function of the seed and its number, so the sample is uniform without replacement whatever engine, order or cut made it. Sums run along the same tree of part numbers as
//! those of threads in memory ([`austerity_glm::pass::Tree`]): the same bits on every engine. Five passes make a fit; no row travels but those of the stratum and the sample.
//! The error of the sample is computed from the scores of all rows and measured in the last pass: see `reduce`.

mod engine;
mod forecast;
mod limits;
mod message;
mod passes;
mod prepare;
mod reduce;
mod rows;
mod state;
#[cfg(test)]
mod tests;
mod update;
mod worker;

pub use engine::{Engine, Take, Threads};
pub use forecast::{Machines, forecast};
pub use limits::Wanted;
pub use update::{Arrivals, run as update};
pub use worker::run_part;

pub(crate) use prepare::{Prepared, prepare, restored};
pub(crate) use state::{ERROR_LIMIT, PartsRecord, STATE, State, read as read_state};
