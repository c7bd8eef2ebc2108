//! The project's own rules: what each reads is a [`Tree`](crate::tree::Tree), what it says an
//! [`Outcome`](crate::steps::Outcome).
//!
//! | module | rules |
//! |---|---|
//! | [`sources`] | length of files, opening of modules, places of unsafe code |
//! | [`functions`] | length of functions, number of their arguments |
//! | [`manifests`] | minimum Rust version |
//! | [`documents`] | documented commands |
//! | [`words`] | the words of Rust code without comments and strings |

pub(crate) mod documents;
pub(crate) mod functions;
pub(crate) mod manifests;
pub(crate) mod sources;
mod words;
