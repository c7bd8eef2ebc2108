//! Decoders that panic on damaged bytes: the panic becomes an error, and nothing is printed about it.
//!
//! The `parquet` crate checks most of what a file claims, and asserts some of it. [`guarded`] catches such a panic;
//! a hook that is put before the present one, once, keeps quiet on threads that are inside of it, so that a damaged
//! file gives one message. Panics elsewhere are reported as before. No help where the program was built to abort.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `read`; `None` when it panicked.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let present = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !DECODING.try_with(Cell::get).unwrap_or(false) {
                present(about);
            }
        }));
    });
    let before = DECODING.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    DECODING.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_the_guard_is_lifted() {
        assert_eq!(guarded(|| 3), Some(3));
        assert_eq!(guarded(|| -> u32 { panic!("damaged bytes") }), None);
        assert!(!DECODING.get());
        assert_eq!(
            guarded(|| guarded(|| -> u32 { panic!("inside") }).is_none() && DECODING.get()),
            Some(true)
        );
    }
}
