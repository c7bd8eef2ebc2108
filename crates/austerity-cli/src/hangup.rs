//! SIGHUP that was ignored stays ignored: `nohup austerity fit …` outlives its terminal.
//!
//! A handler for SIGHUP would undo what `nohup` did. So whether the signal is ignored is asked before handlers are set, and
//! it is ignored again afterwards.
//!
//! **Safety.** `sigaction` without a new action only writes to the structure it is given, which is plain data; `signal` with SIG_IGN sets no
//! code to run. Both are called on the main thread before chains start.

/// Runs `set`, which sets handlers, and ignores SIGHUP afterwards if it was ignored before.
#[cfg(unix)]
pub(crate) fn respected(set: impl FnOnce()) {
    // SAFETY: see above; zeros are a valid structure.
    let ignored = unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut now) == 0
            && now.sa_sigaction == libc::SIG_IGN
    };
    set();
    if ignored {
        // SAFETY: see above.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    }
}

/// There is no such signal.
#[cfg(not(unix))]
pub(crate) fn respected(set: impl FnOnce()) {
    set();
}
