//! Model formulas: from text such as `y ~ x1*x2 + C(city) + bs(age, df=4)` to terms, and from terms to named columns.
//!
//! | file | what it holds |
//! |---|---|
//! | [`token`] | text → tokens, with the position of each |
//! | [`syntax`] | tokens → tree, by operator precedence |
//! | [`formula`] | tree → [`Formula`]: response, terms, offset, weights, group terms |
//! | [`factor`] | what stands between operators: columns, `C()`, polynomials, splines |
//! | [`arithmetic`] | arithmetic of columns: `log(x)`, `I(x^2 + 1)` |
//! | [`terms`] | the operators `+ - : * / ^`: sets of terms (Wilkinson & Rogers 1973) |
//! | [`coding`] | terms → columns: which factors lose their reference level so that no column is redundant |
//! | [`basis`] | what numbers become in a term: polynomials, splines; learnt in passes that merge |
//! | [`error`] | what can be wrong with a formula, and the character where it is |
//!
//! The meaning is that of R's formulas, as the Python package formulaic implements them; `tests/golden.json` holds what formulaic answers.
//! Nothing here reads data: a table's columns and levels are handed in as [`Kind`]s, so the same terms can be coded part by part, and a
//! row of a reference grid has its columns without the data.
//!
//! ```
//! use austerity_formula::{Formula, Kind};
//!
//! let formula = Formula::parse("delayed ~ distance * C(carrier) + offset(log(n))")?.expand(&[])?;
//! let columns = formula.coding(|factor| match factor.name().as_str() {
//!     "C(carrier)" => Kind::levels(["AA", "DL", "UA"]),
//!     _ => Kind::Number,
//! })?;
//! assert_eq!(columns.names(), [
//!     "intercept", "distance", "C(carrier)[DL]", "C(carrier)[UA]", "distance:C(carrier)[DL]", "distance:C(carrier)[UA]",
//! ]);
//! # Ok::<(), austerity_formula::Error>(())
//! ```

pub mod arithmetic;
pub mod basis;
pub mod coding;
pub mod error;
pub mod factor;
pub mod formula;
pub mod syntax;
pub mod terms;
pub mod token;

pub use arithmetic::{Arithmetic, Function, Operation};
pub use basis::{Basis, Learner, Partial, Step, Trouble};
pub use coding::{Block, Coding, Columns, Kind, Part};
pub use error::{Error, Problem, Result};
pub use factor::{Factor, Spline};
pub use formula::{Expanded, Formula, Group, Response, ResponseRole};
pub use terms::{Term, Terms};
