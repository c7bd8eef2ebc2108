//! Files and folders on their way to a name: nobody else can guess, share or redirect them, and what a killed process left is removed.
//!
//! `NAME` is made as `NAME.RANDOM.part` beside it, with 64 random bits, exclusively (what exists already, a link for example, is never opened), and
//! locked as long as its maker lives. So two processes that write one file at once write two, and the last rename wins: contents never
//! mix. [`clean`] removes what is left beside a target and not locked: its maker is dead.
//!
//! Where a file system has no locks, nothing is removed.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What temporary names end in.
pub(crate) const PART: &str = ".part";
/// Hexadecimal digits before it.
const DIGITS: usize = 16;
/// Names that are tried; a second one is hardly ever needed.
const ATTEMPTS: usize = 16;

/// Makes an empty file beside `target`, locked by its handle; gives its path.
pub(crate) fn file(target: &Path) -> io::Result<(File, PathBuf)> {
    attempt(target, |path| {
        let file = File::options().write(true).create_new(true).open(path)?;
        hold(&file, path)?;
        Ok(file)
    })
}

/// Makes an empty folder beside `target`, locked by its handle where the system lets folders be opened; gives its path.
pub(crate) fn folder(target: &Path) -> io::Result<(Option<File>, PathBuf)> {
    attempt(target, |path| {
        fs::create_dir(path)?;
        let lock = File::open(path).ok();
        lock.as_ref().map_or(Ok(()), |lock| hold(lock, path))?;
        Ok(lock)
    })
}

/// Locks what was made at `path`. Whoever cleans between the two steps takes it for a dead one's: holds its lock, or has removed it already.
fn hold(made: &File, path: &Path) -> io::Result<()> {
    match made.try_lock() {
        Err(TryLockError::WouldBlock) => Err(ErrorKind::NotFound.into()),
        // Where there are no locks, nobody can clean either.
        Ok(()) | Err(TryLockError::Error(_)) => fs::symlink_metadata(path).map(drop),
    }
}

fn attempt<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut last = io::Error::from(ErrorKind::AlreadyExists);
    for _ in 0..ATTEMPTS {
        let path = name(target);
        match make(&path) {
            Ok(made) => return Ok((made, path)),
            // Not ours to wait for: the folder that the target is in does not exist.
            Err(error) if error.kind() == ErrorKind::NotFound && parent.is_some_and(|p| !p.is_dir()) => {
                return Err(error);
            }
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                last = error;
            }
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// A new name. The standard library's hash keys are as random as the operating system makes them.
fn name(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".{:0DIGITS$x}{PART}", RandomState::new().build_hasher().finish()));
    name.into()
}

/// The name of the target, if this is a temporary name.
pub(crate) fn target_of(name: &OsStr) -> Option<&str> {
    let (target, digits) = name.to_str()?.strip_suffix(PART)?.rsplit_once('.')?;
    let random =
        digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    random.then_some(target)
}

/// Removes what dead processes left beside `target`. What cannot be removed stays: it is in nobody's way.
pub(crate) fn clean(target: &Path) {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wanted = target.file_name().and_then(OsStr::to_str);
    clean_where(parent, |name| Some(name) == wanted);
}

/// Removes what dead processes left in a folder, whatever it was to become.
pub(crate) fn clean_in(folder: &Path) {
    clean_where(folder, |_| true);
}

fn clean_where(folder: &Path, wanted: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        if target_of(&entry.file_name()).is_some_and(&wanted) {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_symlink() {
                continue;
            }
            // The lock is held until it is gone, so that a maker who comes in between notices.
            let Some(_lock) = abandoned(&path) else { continue };
            let _ = if kind.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// The lock of a file or folder that nobody else holds; what cannot be told counts as held.
fn abandoned(path: &Path) -> Option<File> {
    let opened = File::open(path).ok()?;
    opened.try_lock().is_ok().then_some(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn what_lives_stays_and_what_is_dead_goes() {
        let folder = std::env::temp_dir().join(format!("austerity-io-temporary-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let target = folder.join("draws.csv");
        let (alive, first) = file(&target).unwrap();
        let (dead, second) = file(&target).unwrap();
        assert_ne!(first, second);
        assert_eq!(target_of(first.file_name().unwrap()), Some("draws.csv"));
        drop(dead);
        let (living, third) = self::folder(&target).unwrap();
        let (ended, fourth) = self::folder(&target).unwrap();
        fs::write(fourth.join("blocks"), "half").unwrap();
        drop(ended);
        // Not ours: other targets, and names that only look alike.
        for other in ["draws.csv.part", "draws.csv.0123.part", "other.csv.0123456789abcdef.part"] {
            fs::write(folder.join(other), "x").unwrap();
        }
        clean(&target);
        assert!(first.exists() && third.exists() && !second.exists() && !fourth.exists());
        assert_eq!(names(&folder), 5);
        clean_in(&folder);
        assert_eq!(names(&folder), 4);
        drop((alive, living));
        assert_eq!(file(&folder.join("no/such")).unwrap_err().kind(), ErrorKind::NotFound);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_waits_for_us_is_not_followed() {
        let folder = std::env::temp_dir().join(format!("austerity-io-link-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("precious"), "precious").unwrap();
        std::os::unix::fs::symlink(folder.join("precious"), folder.join("draws.csv.part")).unwrap();
        std::os::unix::fs::symlink(folder.join("precious"), folder.join("draws.csv.0123456789abcdef.part"))
            .unwrap();
        let (_file, _) = file(&folder.join("draws.csv")).unwrap();
        clean(&folder.join("draws.csv"));
        assert_eq!(fs::read(folder.join("precious")).unwrap(), b"precious");
        fs::remove_dir_all(&folder).unwrap();
    }
}
