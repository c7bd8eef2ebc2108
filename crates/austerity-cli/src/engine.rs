//! Who reads data in parts: threads, or an engine that the host of this library knows. The Python package sets one, so that `python -m austerity fit` has the program's own options.

use std::sync::OnceLock;

use austerity_fit::output::Failure;
use austerity_fit::parts::Engine;

/// Makes an engine of its name, such as `processes:4`.
pub type Factory = Box<dyn Fn(&str) -> Result<Box<dyn Engine>, String> + Send + Sync>;

static FACTORY: OnceLock<Factory> = OnceLock::new();

/// Says who makes engines; only the first call counts.
pub fn set(factory: Factory) {
    let _ = FACTORY.set(factory);
}

/// The engine of this name; none for threads, the default.
pub(crate) fn named(name: Option<&str>) -> Result<Option<Box<dyn Engine>>, Failure> {
    let Some(name) = name.filter(|name| *name != "threads") else { return Ok(None) };
    match FACTORY.get() {
        Some(factory) => factory(name).map(Some).map_err(Failure::Usage),
        None => Err(Failure::Usage(format!(
            "--engine {name}: this program reads data in parts on threads; run `python -m austerity fit … --engine {name}` for other engines, with the same options"
        ))),
    }
}
