//! Small files of the true formats: idx, gzip, zip, the texts of UCI.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateEncoder;
use flate2::write::GzEncoder;

/// The checksum by the program that everybody has.
pub fn sha256(bytes: &[u8]) -> String {
    use std::process::{Command, Stdio};
    let mut child = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zip archive; files are deflated unless their name ends in `.gz`.
pub fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (name, bytes) in files {
        let mut packed = Vec::new();
        let method: u16 = if name.ends_with(".gz") {
            packed.extend_from_slice(bytes);
            0
        } else {
            DeflateEncoder::new(*bytes, Compression::default()).read_to_end(&mut packed).unwrap();
            8
        };
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let place = archive.len() as u32;
        let mut shared = Vec::new();
        shared.extend([20u16, 0, method, 0, 0x21].iter().flat_map(|v| v.to_le_bytes()));
        shared.extend(
            [crc.sum(), packed.len() as u32, bytes.len() as u32].iter().flat_map(|v| v.to_le_bytes()),
        );
        shared.extend((name.len() as u16).to_le_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(&shared);
        archive.extend(3u16.to_le_bytes());
        archive.extend(name.as_bytes());
        archive.extend(b"xyz"); // an extra field that the directory has not
        archive.extend(&packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&shared);
        directory.extend([0u16; 4].iter().flat_map(|v| v.to_le_bytes()));
        directory.extend([0u32, place].iter().flat_map(|v| v.to_le_bytes()));
        directory.extend(name.as_bytes());
    }
    let count = files.len() as u16;
    let place = archive.len() as u32;
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06");
    archive.extend([0u16, 0, count, count].iter().flat_map(|v| v.to_le_bytes()));
    archive.extend([directory.len() as u32, place].iter().flat_map(|v| v.to_le_bytes()));
    archive.extend(7u16.to_le_bytes());
    archive.extend(b"comment");
    archive
}

/// An idx array of bytes.
pub fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, dimensions.len() as u8];
    file.extend(dimensions.iter().flat_map(|size| size.to_be_bytes()));
    file.extend(bytes);
    file
}

/// Numbers that look random and are the same each time.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Images of 8 × 8 and their digits, as the two idx files.
pub fn digits(count: u32, seed: u64) -> (Vec<u8>, Vec<u8>) {
    let mut dice = Dice(seed);
    let labels: Vec<u8> = (0..count).map(|_| [7, 9, 3][dice.below(3) as usize]).collect();
    let pixels: Vec<u8> = labels
        .iter()
        .flat_map(|&digit| {
            let shift = u64::from(digit);
            (0..64).map(|p| (dice.below(40 + 2 * p) + shift * (p % 8)) as u8).collect::<Vec<_>>()
        })
        .collect();
    (idx(&[count, 8, 8], &pixels), idx(&[count], &labels))
}

/// Lines as of `covtype.data`.
pub fn covertype(rows: usize) -> String {
    let mut dice = Dice(3);
    let mut text = String::new();
    for _ in 0..rows {
        let mut cells: Vec<i64> = (0..10).map(|_| dice.below(3000) as i64 - 100).collect();
        let (area, soil) = (dice.below(4), dice.below(40));
        cells.extend((0..4).map(|j| i64::from(j == area)));
        cells.extend((0..40).map(|j| i64::from(j == soil)));
        cells.push(1 + dice.below(7) as i64);
        text += &(cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

/// Text as of `MiniBooNE_PID.txt`; some events were not measured.
pub fn miniboone(signal: usize, background: usize) -> String {
    let mut dice = Dice(4);
    let mut text = format!(" {signal} {background}\n");
    for event in 0..signal + background {
        for feature in 0..50 {
            let value =
                if event % 10 == 7 { -999.0 } else { dice.below(10_000) as f64 / 100.0 + f64::from(feature) };
            let exponent = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 + 1 };
            text += &format!("  {:.6}E{exponent:+03}", value / 10f64.powi(exponent));
        }
        text += "\n";
    }
    text
}
