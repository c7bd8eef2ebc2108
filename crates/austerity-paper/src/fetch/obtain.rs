//! One source: from the folder of downloads if it is right, else from the first place that has it.
//!
//! A file that was resumed and came out wrong may be two halves of different files: it is downloaded once more, whole. A file that was
//! downloaded whole and is wrong is removed, and the next place is asked.

use std::path::{Path, PathBuf};

use crate::fetch::catalog::{DataSet, Source};
use crate::fetch::checksums::sum;
use crate::fetch::download::download;
use crate::fetch::error::{Error, Result};
use crate::fetch::record::SourceEntry;
use crate::fetch::{Event, Options, Origin, content};

/// A source on this machine.
pub(crate) struct Obtained {
    pub(crate) path: PathBuf,
    pub(crate) entry: SourceEntry,
}

/// A source, and its checksum where it is known.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) source: &'a Source,
    pub(crate) expected: Option<&'a str>,
}

/// Where downloads are kept.
fn downloads(options: &Options) -> PathBuf {
    options.out.join("downloads")
}

/// Finds or downloads a source and checks it.
pub(crate) fn obtain(
    set: DataSet,
    wanted: Wanted<'_>,
    options: &Options,
    watch: &mut dyn FnMut(&Event),
) -> Result<Obtained> {
    let Wanted { source, expected } = wanted;
    if let Some(Origin::Folder(folder)) = &options.from {
        let path = source
            .served
            .iter()
            .chain([&source.name])
            .map(|name| folder.join(name))
            .find(|path| path.is_file());
        let Some(path) = path else {
            return Err(Error::Absent {
                folder: folder.clone(),
                names: source.served.iter().map(|&name| name.into()).collect(),
            });
        };
        let entry = judge(&path, wanted, &path.display().to_string(), watch)?;
        return Ok(Obtained { path, entry });
    }
    let folder = downloads(options);
    std::fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
    // Without a checksum nothing says that a file left here is the one that is asked for now.
    if expected.is_some() {
        let kept = source.served.iter().map(|name| folder.join(name)).filter(|path| path.is_file());
        for path in kept {
            if let Ok(entry) = judge(&path, wanted, &path.display().to_string(), watch) {
                watch(&Event::Kept { file: name_of(&path) });
                return Ok(Obtained { path, entry });
            }
        }
    }
    let mut failures = Vec::new();
    for url in addresses(set, source, options) {
        match from_address(&url, wanted, options, watch) {
            Ok(obtained) => return Ok(obtained),
            // What the network cannot mend.
            Err(error @ (Error::Io { .. } | Error::Setting(_))) => return Err(error),
            Err(error) => failures.push(error),
        }
    }
    // A plain name that is not there says nothing where another name was.
    if failures.iter().any(|error| !matches!(error, Error::Missing { .. })) {
        failures.retain(|error| !matches!(error, Error::Missing { .. }));
    }
    match failures.len() {
        1 => Err(failures.remove(0)),
        _ => Err(Error::Nowhere { name: source.name.into(), failures }),
    }
}

/// Every address to be asked, in order.
fn addresses(set: DataSet, source: &Source, options: &Options) -> Vec<String> {
    let packed = [".zip", ".gz", ".txt", ".data"];
    match &options.from {
        Some(Origin::Address(file))
            if set.sources().len() == 1 && packed.iter().any(|end| file.ends_with(end)) =>
        {
            vec![file.clone()]
        }
        Some(Origin::Address(base)) => {
            let base = base.trim_end_matches('/');
            source.served.iter().map(|name| format!("{base}/{name}")).collect()
        }
        // At its home a file has its first name.
        _ => set.homes().iter().map(|home| format!("{home}{}", source.served[0])).collect(),
    }
}

fn from_address(
    url: &str,
    wanted: Wanted<'_>,
    options: &Options,
    watch: &mut dyn FnMut(&Event),
) -> Result<Obtained> {
    let path = downloads(options).join(url.rsplit('/').next().unwrap_or(wanted.source.name));
    let resumed = download(url, &path, wanted.expected.is_some(), options, watch)?;
    let mut judged = judge(&path, wanted, url, watch);
    if let (Err(error), true) = (&judged, resumed) {
        watch(&Event::Again {
            problem: format!("the resumed file is wrong ({error}): downloading all of it"),
        });
        remove(&path)?;
        download(url, &path, false, options, watch)?;
        judged = judge(&path, wanted, url, watch);
    }
    match judged {
        Ok(entry) => Ok(Obtained { path, entry }),
        Err(error) => {
            remove(&path)?;
            Err(error)
        }
    }
}

fn remove(path: &Path) -> Result<()> {
    std::fs::remove_file(path).map_err(Error::io("remove", path))
}

/// Unpacks a file and compares its checksum.
fn judge(path: &Path, wanted: Wanted<'_>, from: &str, watch: &mut dyn FnMut(&Event)) -> Result<SourceEntry> {
    let Wanted { source, expected } = wanted;
    watch(&Event::Checking { file: name_of(path) });
    let damaged =
        |error: std::io::Error| Error::damaged(path, format!("from {from} cannot be unpacked: {error}"));
    let (found, bytes) = sum(content::open(path, source.name)?).map_err(damaged)?;
    match expected {
        Some(expected) if expected != found => {
            return Err(Error::Checksum {
                name: source.name.into(),
                from: from.into(),
                expected: expected.into(),
                found,
            });
        }
        Some(_) => {}
        None => watch(&Event::Unchecked { file: source.name.into(), sha256: found.clone() }),
    }
    Ok(SourceEntry {
        name: source.name.into(),
        from: from.into(),
        sha256: found,
        bytes,
        checked: expected.is_some(),
    })
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
