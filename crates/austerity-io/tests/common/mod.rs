//! What the tests share: a folder of their own, and where the real data are.

pub(crate) mod draws;
mod real;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use real::real_data;

/// Numbers the folders of one process: tests of different files may use the same name.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// A folder that is removed with its content at the end of the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    #[allow(dead_code, reason = "not every test file writes")]
    pub(crate) fn new(test: &str) -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("austerity-io-{}-{number}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    #[allow(dead_code, reason = "not every test file writes bytes")]
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
