//! A thread of the sampler as a thread of Python: known to the interpreter once, not anew at every call.
//!
//! Attaching a thread that Python does not know makes a thread state and throws it away afterwards, which costs 20 µs, more than a small
//! callback itself. So the first call of a thread makes one that stays until the thread ends; attaching is then a matter of taking the
//! lock, and a callback costs 2.5 µs in all.
//!
//! **Safety.** `PyGILState_Ensure` may be called by any thread while the interpreter lives, `PyEval_SaveThread` by one that holds the
//! lock, which it then does, and the two are undone in the opposite order by the same thread, since the value lives in a thread-local.
//! A thread that Python knows already, one of its own above all, is left alone: its state is freed by others, before the thread's
//! locals are. Runs are ended before the interpreter is (an exit handler of the package sees to it); a thread that comes later finds it
//! gone and leaves everything as it is.

use std::cell::RefCell;

use pyo3::ffi;

/// The thread state of this thread.
struct Known {
    ensured: ffi::PyGILState_STATE,
    thread: *mut ffi::PyThreadState,
}

impl Known {
    /// `None` for a thread that has a state already.
    fn new() -> Option<Self> {
        // SAFETY: see above; the lock is held between the last two calls and released by the last.
        unsafe {
            if !ffi::PyGILState_GetThisThreadState().is_null() {
                return None;
            }
            let ensured = ffi::PyGILState_Ensure();
            Some(Self { ensured, thread: ffi::PyEval_SaveThread() })
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        // SAFETY: see above; the state is this thread's own and has not been released before.
        unsafe {
            if ffi::Py_IsInitialized() != 0 {
                ffi::PyEval_RestoreThread(self.thread);
                ffi::PyGILState_Release(self.ensured);
            }
        }
    }
}

thread_local! {
    static KNOWN: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// Makes this thread, which does not hold the lock, known to Python until it ends.
pub(crate) fn introduce() {
    KNOWN.with_borrow_mut(|known| {
        if known.is_none() {
            *known = Known::new();
        }
    });
}
