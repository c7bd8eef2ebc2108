//! A mapped file that is cut short under a running program ends it with a message and exit code 2, not by a signal.
//!
//! Whoever touches a page beyond the end of a mapped file, or one that the disk cannot deliver, gets SIGBUS, whose default is death without a
//! word. The handler here looks whether the address belongs to a map of ours; if so it writes a sentence that was made
//! beforehand and leaves with `_exit(2)`. What a run had made durable stays, as after a power cut. A fault at any other address
//! is handed to whoever was asked before: the former handler is put back and the fault happens again.
//!
//! **Safety.** A handler may interrupt any instruction of any thread, so it does only what POSIX calls async-signal-safe: it reads
//! atomics, calls `write`, `_exit` and `sigaction`. It takes no lock and allocates nothing. The list of maps only grows: its nodes and
//! sentences live until the process ends, a node of a map that is gone is empty (`end` is 0) and used again. A sentence
//! is published before `end` and read after it, so a handler that sees an address inside sees a whole sentence.

use std::path::Path;

/// A map that is watched; not any more once dropped.
pub(super) struct Watch {
    #[cfg(unix)]
    node: &'static unix::Node,
}

impl Watch {
    /// Watches the bytes of a map of `file`.
    #[cfg_attr(not(unix), allow(unused_variables))]
    pub(super) fn new(bytes: &[u8], file: &Path) -> Self {
        Self {
            #[cfg(unix)]
            node: unix::watch(bytes, file),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        #[cfg(unix)]
        unix::forget(self.node);
    }
}

#[cfg(unix)]
mod unix {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
    use std::sync::{Mutex, OnceLock, PoisonError};

    /// A map: its addresses and what to say.
    pub(super) struct Node {
        start: AtomicUsize,
        /// 0 where there is no map.
        end: AtomicUsize,
        sentence: AtomicPtr<String>,
        next: Option<&'static Node>,
    }

    /// The newest node; each leads to the one before.
    static NEWEST: AtomicPtr<Node> = AtomicPtr::new(null_mut());
    /// What is said of each file, made once.
    static SENTENCES: Mutex<BTreeMap<PathBuf, &'static String>> = Mutex::new(BTreeMap::new());
    /// Who was asked before us.
    static FORMER: OnceLock<libc::sigaction> = OnceLock::new();

    fn newest() -> Option<&'static Node> {
        // SAFETY: the pointer is null or that of a node made by `Box::leak`, which lives until the process ends.
        unsafe { NEWEST.load(Ordering::Acquire).as_ref() }
    }

    fn nodes() -> impl Iterator<Item = &'static Node> {
        std::iter::successors(newest(), |node| node.next)
    }

    pub(super) fn watch(bytes: &[u8], file: &Path) -> &'static Node {
        // One at a time: the lock is never taken by the handler.
        let mut sentences = SENTENCES.lock().unwrap_or_else(PoisonError::into_inner);
        let sentence: &'static String = sentences.entry(file.into()).or_insert_with(|| {
            Box::leak(Box::new(format!(
                "austerity: `{}` was cut short while it was read, or its disk failed; restore the file or convert the table again. Draws that \
                 were stored are intact: `austerity fit … --resume` continues the run\n",
                file.display()
            )))
        });
        install();
        let start = bytes.as_ptr() as usize;
        let node = nodes().find(|node| node.end.load(Ordering::Acquire) == 0).unwrap_or_else(|| {
            let node = Box::leak(Box::new(Node {
                start: AtomicUsize::new(0),
                end: AtomicUsize::new(0),
                sentence: AtomicPtr::new(null_mut()),
                next: newest(),
            }));
            NEWEST.store(node, Ordering::Release);
            node
        });
        node.start.store(start, Ordering::Release);
        node.sentence.store(std::ptr::from_ref(sentence).cast_mut(), Ordering::Release);
        // The last page of a map is whole, whatever the length of the file.
        node.end.store(start + bytes.len(), Ordering::Release);
        node
    }

    pub(super) fn forget(node: &Node) {
        node.end.store(0, Ordering::Release);
    }

    fn install() {
        FORMER.get_or_init(|| {
            // SAFETY: both structures are plain data for which zeros are valid (an empty mask, no flags), and outlive the call. The handler
            // does only what a handler may (see above); it runs on the thread's alternate stack where there is one.
            unsafe {
                let mut ours: libc::sigaction = std::mem::zeroed();
                let mut former: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
                ours.sa_sigaction = handler as libc::sighandler_t;
                ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(libc::SIGBUS, &raw const ours, &raw mut former);
                former
            }
        });
    }

    extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system hands a valid structure to a handler that asked for it by SA_SIGINFO.
        let address = unsafe { (*info).si_addr() } as usize;
        for node in nodes() {
            let end = node.end.load(Ordering::Acquire);
            if address < end && address >= node.start.load(Ordering::Acquire) {
                // SAFETY: published before `end`, and never freed.
                if let Some(sentence) = unsafe { node.sentence.load(Ordering::Acquire).as_ref() } {
                    // SAFETY: both calls are allowed in handlers; the bytes are valid for their length.
                    unsafe { libc::write(2, sentence.as_ptr().cast(), sentence.len()) };
                }
                // SAFETY: allowed in handlers; ends the process without running anything else.
                unsafe { libc::_exit(2) };
            }
        }
        if let Some(former) = FORMER.get() {
            // SAFETY: puts back what the system gave us at installation; allowed in handlers.
            unsafe { libc::sigaction(signal, &raw const *former, null_mut()) };
        }
    }
}
