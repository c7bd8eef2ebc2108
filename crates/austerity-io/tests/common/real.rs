//! Where the real data are.

use std::path::{Path, PathBuf};

/// The file in the folder of real data: the variable `AUSTERITY_DATA`, or `../shared/data` beside the repository.
#[allow(dead_code, reason = "not every test file uses real data")]
pub(crate) fn real_data(file: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let folder =
        std::env::var_os("AUSTERITY_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    let path = folder.join(file);
    if path.is_file() {
        return Some(path);
    }
    println!("skipped: {file} was found neither by AUSTERITY_DATA nor in ../shared/data");
    None
}
