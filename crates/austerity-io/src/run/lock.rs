//! One process per run: an advisory lock of the operating system on `RUN/lock`.
//!
//! The system releases it when the process ends, however it ends, so a lock never outlives its holder; the file stays, as
//! removing it would let two processes lock two files of one name. It holds the holder's process id for the message to
//! the second comer. A link of that name is refused, lest the id overwrite what it leads to. Whoever has the lock removes the temporary files
//! of holders that were killed. On file systems without locks (some network mounts) acquiring fails with what the system says.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::temporary;

/// The right to write to a run's folder; given back when dropped.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Takes the lock of a run's folder, which must exist, or says who holds it.
    pub fn acquire(run: impl AsRef<Path>) -> Result<Self> {
        let path = run.as_ref().join("lock");
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(Error::format(&path, "is not a plain file", "remove it, or name another folder"));
        }
        let mut file = options().open(&path).map_err(Error::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let process = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
                return Err(Error::Locked { file: path, process });
            }
            Err(TryLockError::Error(source)) => return Err(Error::Io { action: "lock", file: path, source }),
        }
        // The id is for people: a full disk must not keep a run from being looked at.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        temporary::clean_in(run.as_ref());
        Ok(Self { _file: file })
    }

    /// Whether a process holds the lock of a run's folder just now.
    pub fn is_held(run: impl AsRef<Path>) -> bool {
        let file = File::open(run.as_ref().join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }
}

/// How the file is opened: made if it is not there, never through a link.
fn options() -> fs::OpenOptions {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options
}
