//! One process per run: an advisory lock of the operating system on `RUN/lock`.
//!
//! The system releases it when the process ends, however it ends, so a lock never outlives its holder; the file stays, as
//! removing it would let two processes lock two files of one name. It holds the holder's process id for the message to
//! the second comer. On file systems without locks (some network mounts) acquiring fails with what the system says.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// The right to write to a run's folder; given back when dropped.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Takes the lock of a run's folder, which must exist, or says who holds it.
    pub fn acquire(run: impl AsRef<Path>) -> Result<Self> {
        let path = run.as_ref().join("lock");
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(Error::io("open", &path))?;
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
        Ok(Self { _file: file })
    }
}
