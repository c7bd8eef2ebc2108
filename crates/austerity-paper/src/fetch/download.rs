//! One file over HTTP or HTTPS, resumed where an earlier attempt ended.
//!
//! Bytes go to `FILE.part`, which becomes `FILE` when all are there. An attempt asks for the bytes after those of the part
//! (`Range: bytes=N-`); a server that cannot do so answers with the whole file, and the part begins anew. An answer that
//! breaks off, a silence longer than the time-out or a server in trouble (408, 429, 5xx) leads to another attempt, which waits a
//! little; after [`tries`](Options::tries) attempts in a row that brought nothing new the error is told and the part stays for the
//! next call. Proxies are taken from the environment (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`), never for this machine itself.
//!
//! Whether the bytes are the right ones is not decided here: see [`checksums`](crate::fetch::checksums).

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, header};

use crate::fetch::error::{Error, Result};
use crate::fetch::{Event, Options};

/// Bytes between two reports of progress.
const REPORT: u64 = 1 << 18;
/// The first pause before another attempt; doubled each time.
const PAUSE: Duration = Duration::from_millis(250);

/// Downloads `url` to `target`; says whether bytes of an earlier call were used.
///
/// `resume` allows such bytes; without it a part that is there is begun anew.
pub fn download(
    url: &str,
    target: &Path,
    resume: bool,
    options: &Options,
    watch: &mut dyn FnMut(&Event),
) -> Result<bool> {
    let part = part_of(target);
    if !resume && part.exists() {
        std::fs::remove_file(&part).map_err(Error::io("remove", &part))?;
    }
    let resumed = length(&part);
    let mut transfer = Transfer { agent: agent(url, options.timeout), url, part: &part, options, resumed };
    let mut most = resumed;
    let mut fruitless = 0;
    loop {
        match transfer.attempt(watch) {
            Ok(()) => break,
            Err(error) => {
                let have = length(&part);
                fruitless = if have > most { 0 } else { fruitless + 1 };
                most = most.max(have);
                if !error.may_pass() || fruitless >= options.tries {
                    return Err(error);
                }
                watch(&Event::Again { problem: error.to_string() });
                std::thread::sleep(PAUSE * 2u32.pow(fruitless.min(5)));
            }
        }
    }
    std::fs::rename(&part, target).map_err(Error::io("write", target))?;
    Ok(transfer.resumed > 0)
}

fn part_of(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |data| data.len())
}

fn agent(url: &str, timeout: Duration) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("austerity/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(timeout))
        .timeout_connect(Some(timeout))
        .timeout_recv_response(Some(timeout))
        .timeout_per_read(Some(timeout));
    if is_local(url) {
        config = config.proxy(None);
    }
    config.build().into()
}

/// Whether an address is of this machine.
fn is_local(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url).split('/').next().unwrap_or("");
    ["localhost", "127.", "[::1]"].iter().any(|own| host.starts_with(own))
}

struct Transfer<'a> {
    agent: Agent,
    url: &'a str,
    part: &'a Path,
    options: &'a Options,
    /// Bytes of an earlier call that are still in the part.
    resumed: u64,
}

impl Transfer<'_> {
    /// Asks for what is missing and appends what comes.
    fn attempt(&mut self, watch: &mut dyn FnMut(&Event)) -> Result<()> {
        let have = length(self.part);
        let mut request = self.agent.get(self.url).header(header::ACCEPT_ENCODING, "identity");
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| self.translate(error, None))?;
        let status = response.status().as_u16();
        let headers = response.headers();
        let range = content_range(headers);
        let (begin, total) = match status {
            200 => (0, content_length(headers)),
            // The part is longer than the file, or it is the file.
            416 if range.total == Some(have) => return Ok(()),
            206 if range.begin == Some(have) => (have, range.total),
            206 | 416 if have > 0 => return self.begin_anew(watch),
            404 | 410 => return Err(Error::Missing { url: self.url.into(), status }),
            _ => return Err(Error::Refused { url: self.url.into(), status }),
        };
        let mut file = OpenOptions::new().create(true).append(true).open(self.part);
        if begin == 0 {
            self.resumed = 0;
            file = File::create(self.part);
        }
        let mut file = file.map_err(Error::io("write", self.part))?;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        let mut received = begin;
        let mut told = None;
        loop {
            if told.is_none_or(|told| received - told >= REPORT) {
                watch(&self.receiving(received, total));
                told = Some(received);
            }
            match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    file.write_all(&buffer[..read]).map_err(Error::io("write", self.part))?;
                    received += read as u64;
                }
                Err(error) => return Err(self.translate(ureq::Error::from(error), total)),
            }
        }
        watch(&self.receiving(received, total));
        match total {
            Some(expected) if received < expected => {
                Err(Error::Truncated { url: self.url.into(), expected, received })
            }
            _ => file.sync_all().map_err(Error::io("write", self.part)),
        }
    }

    /// What is there does not belong to this file: away with it.
    fn begin_anew(&mut self, watch: &mut dyn FnMut(&Event)) -> Result<()> {
        std::fs::remove_file(self.part).map_err(Error::io("remove", self.part))?;
        self.resumed = 0;
        self.attempt(watch)
    }

    fn receiving(&self, received: u64, total: Option<u64>) -> Event {
        let file = self.url.rsplit('/').next().unwrap_or(self.url).into();
        Event::Receiving { file, received, total, resumed: self.resumed }
    }

    fn translate(&self, error: ureq::Error, total: Option<u64>) -> Error {
        let url = self.url.to_owned();
        let received = length(self.part);
        let broken = |error: &std::io::Error| {
            use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            matches!(error.kind(), UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe)
        };
        match (error, total) {
            (ureq::Error::Timeout(_), expected) => {
                Error::Stalled { url, seconds: self.options.timeout.as_secs_f64(), received, expected }
            }
            (ureq::Error::BadUri(problem), _) => Error::Setting(format!(
                "`{url}` is no address: {problem}; it begins with http:// or https://"
            )),
            (ureq::Error::Io(error), Some(expected)) if broken(&error) => {
                Error::Truncated { url, expected, received }
            }
            (error, _) => Error::Unreachable { url, problem: error.to_string() },
        }
    }
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// `bytes BEGIN-END/TOTAL`, or `bytes */TOTAL`.
#[derive(Debug, Default, PartialEq, Eq)]
struct ContentRange {
    begin: Option<u64>,
    total: Option<u64>,
}

fn content_range(headers: &HeaderMap) -> ContentRange {
    let text = headers.get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let Some((span, total)) = text.and_then(|text| text.strip_prefix("bytes ")?.split_once('/')) else {
        return ContentRange::default();
    };
    let begin = span.split_once('-').and_then(|(begin, _)| begin.parse().ok());
    ContentRange { begin, total: total.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_understood() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_RANGE, text.parse().unwrap());
            content_range(&headers)
        };
        assert_eq!(of("bytes 5-9/10"), ContentRange { begin: Some(5), total: Some(10) });
        assert_eq!(of("bytes */10"), ContentRange { begin: None, total: Some(10) });
        assert_eq!(of("bytes 5-9/*"), ContentRange { begin: Some(5), total: None });
        assert_eq!(of("lines 1-2/3"), ContentRange::default());
    }

    #[test]
    fn this_machine_needs_no_proxy() {
        for (url, local) in [
            ("http://127.0.0.1:80/a", true),
            ("http://localhost/a", true),
            ("http://[::1]:8/", true),
            ("https://archive.ics.uci.edu/127.0.0.1", false),
        ] {
            assert_eq!(is_local(url), local, "{url}");
        }
    }
}
