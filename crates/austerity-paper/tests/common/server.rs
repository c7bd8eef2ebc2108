//! A web server on this machine that behaves well or badly on request.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a file is served.
#[derive(Clone, Debug)]
pub enum Manner {
    /// As it should be, with ranges.
    Whole,
    /// Always the whole file.
    NoRanges,
    /// So many answers break off after so many bytes of the body; later ones are whole.
    Cut { bytes: usize, times: usize },
    /// So many answers have this status; later ones are whole.
    Status { code: u16, times: usize },
    /// So many bytes of the body, then silence.
    Silent { after: usize },
    /// Elsewhere.
    Moved { to: String },
}

struct Page {
    bytes: Vec<u8>,
    manner: Manner,
    served: usize,
}

#[derive(Default)]
struct Site {
    pages: BTreeMap<String, Page>,
    /// Path and range of every request.
    log: Vec<(String, Option<String>)>,
}

/// The server; it ends when dropped.
pub struct Server {
    port: u16,
    site: Arc<Mutex<Site>>,
    over: Arc<AtomicBool>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let site = Arc::new(Mutex::new(Site::default()));
        let over = Arc::new(AtomicBool::new(false));
        let (shared, ended) = (Arc::clone(&site), Arc::clone(&over));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let (shared, ended) = (Arc::clone(&shared), Arc::clone(&ended));
                // A client that goes away is no trouble here.
                std::thread::spawn(move || drop(answer(stream.unwrap(), &shared, &ended)));
            }
        });
        Self { port, site, over }
    }

    pub fn serve(&self, path: &str, bytes: &[u8], manner: Manner) {
        let page = Page { bytes: bytes.to_vec(), manner, served: 0 };
        self.site.lock().unwrap().pages.insert(format!("/{path}"), page);
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Paths and ranges asked for since the last call.
    pub fn asked(&self) -> Vec<(String, Option<String>)> {
        std::mem::take(&mut self.site.lock().unwrap().log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn answer(mut stream: TcpStream, site: &Mutex<Site>, over: &AtomicBool) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or("").to_owned();
    let range = request.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("range").then(|| value.trim().to_owned())
    });
    let (bytes, manner, served) = {
        let mut site = site.lock().unwrap();
        site.log.push((path.clone(), range.clone()));
        let Some(page) = site.pages.get_mut(&path) else {
            return stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        };
        page.served += 1;
        (page.bytes.clone(), page.manner.clone(), page.served)
    };
    match &manner {
        Manner::Moved { to } => {
            return write!(
                stream,
                "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        Manner::Status { code, times } if served <= *times => {
            return write!(stream, "HTTP/1.1 {code} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        _ => {}
    }
    let total = bytes.len();
    let begin = range
        .filter(|_| !matches!(manner, Manner::NoRanges))
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    if begin.is_some_and(|begin| begin >= total) {
        return write!(
            stream,
            "HTTP/1.1 416 No\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    let body = &bytes[begin.unwrap_or(0)..];
    match begin {
        Some(begin) => write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {begin}-{}/{total}\r\n",
            total - 1
        )?,
        None => stream.write_all(b"HTTP/1.1 200 OK\r\n")?,
    }
    write!(stream, "Content-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    match manner {
        Manner::Cut { bytes, times } if served <= times => stream.write_all(&body[..bytes.min(body.len())]),
        Manner::Silent { after } => {
            stream.write_all(&body[..after.min(body.len())])?;
            stream.flush()?;
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(())
        }
        _ => stream.write_all(body),
    }
}
