//! Sound as columns: RIFF/WAVE files with PCM samples of 8, 16, 24 or 32 bits or floats of 32 or 64, one column per channel.
//!
//! Samples are numbers from −1 to 1. Files are read and written whole; chunks other than `fmt ` and `data` are skipped. Written are 16-bit samples, scaled so that the loudest is 0.9. Not for
//! compressed sound: convert it first, for example by `ffmpeg -i song.mp3 song.wav`.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// Loudest sample that is written.
const LOUDEST: f64 = 0.9;
/// Codes of the formats.
const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xfffe;

/// Sound as one column of samples per channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Sound {
    /// Samples per second.
    pub rate: u32,
    /// One list of samples per channel.
    pub channels: Vec<Vec<f64>>,
}

/// Whether a file is called like one.
#[must_use]
pub fn is_sound(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("wav"))
}

/// What `fmt ` says.
struct Layout {
    format: u16,
    channels: usize,
    rate: u32,
    bytes: usize,
}

/// Bytes of a file that are taken from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}

/// Reads a file.
pub fn read(file: &Path) -> Result<Sound> {
    let bytes = fs::read(file).map_err(|source| Error::Io { action: "read", file: file.into(), source })?;
    let wrong = |problem: &str, remedy: &str| Error::Format {
        file: file.into(),
        problem: problem.into(),
        remedy: remedy.into(),
    };
    let convert = "convert it to PCM, for example by `ffmpeg -i FILE out.wav`";
    let mut bytes = Bytes(&bytes);
    let riff = bytes.take(12).is_some_and(|head| &head[..4] == b"RIFF" && &head[8..] == b"WAVE");
    if !riff {
        return Err(wrong("is no RIFF/WAVE file", convert));
    }
    let mut layout = None;
    while let (Some(name), Some(length)) = (bytes.take(4), bytes.long()) {
        let length = length as usize;
        // The last chunk of a recording that was cut off says more than there is.
        let body = bytes.take(length.min(bytes.0.len())).unwrap_or_default();
        bytes.take(length % 2);
        match name {
            b"fmt " => layout = format(body),
            b"data" => {
                let layout = layout.ok_or_else(|| wrong("has samples of an unknown format", convert))?;
                return samples(&layout, body).ok_or_else(|| {
                    wrong("has samples that are neither PCM of 8 to 32 bits nor floats", convert)
                });
            }
            _ => {}
        }
    }
    Err(wrong("has no samples", "was it cut off while it was written?"))
}

fn format(body: &[u8]) -> Option<Layout> {
    let mut body = Bytes(body);
    let (mut format, channels, rate) = (body.short()?, body.short()?, body.long()?);
    body.take(6)?;
    let bits = body.short()?;
    if format == EXTENSIBLE {
        body.take(8)?;
        format = body.short()?;
    }
    (channels > 0).then_some(Layout {
        format,
        channels: channels.into(),
        rate,
        bytes: usize::from(bits).div_ceil(8),
    })
}

fn samples(layout: &Layout, body: &[u8]) -> Option<Sound> {
    let number: fn(&[u8]) -> f64 = match (layout.format, layout.bytes) {
        (PCM, 1) => |b| (f64::from(b[0]) - 128.0) / 128.0,
        (PCM, 2) => |b| f64::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0,
        (PCM, 3) => |b| f64::from(i32::from_le_bytes([0, b[0], b[1], b[2]])) / 2_147_483_648.0,
        (PCM, 4) => |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])) / 2_147_483_648.0,
        (FLOAT, 4) => |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        (FLOAT, 8) => |b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
        _ => return None,
    };
    let frames = body.chunks_exact(layout.bytes * layout.channels);
    let mut channels = vec![Vec::with_capacity(frames.len()); layout.channels];
    for frame in frames {
        for (channel, sample) in channels.iter_mut().zip(frame.chunks_exact(layout.bytes)) {
            channel.push(number(sample));
        }
    }
    Some(Sound { rate: layout.rate, channels })
}

/// Writes a file of 16-bit samples, each channel scaled so that its loudest sample is 0.9.
pub fn write(file: &Path, sound: &Sound) -> Result<()> {
    let channels = sound.channels.len();
    let frames = sound.channels.iter().map(Vec::len).min().unwrap_or(0);
    let size = u32::try_from(2 * channels * frames).ok().filter(|size| *size < u32::MAX - 36);
    let too_long = || Error::Format {
        file: file.into(),
        problem: format!("cannot hold {frames} samples of {channels} channels, more than 4 GB"),
        remedy: "write a table instead (.parquet)".into(),
    };
    let size = size.ok_or_else(too_long)?;
    let width = u16::try_from(2 * channels).map_err(|_| too_long())?;
    let mut bytes = Vec::with_capacity(44 + size as usize);
    bytes.extend_from_slice(b"RIFF");
    bytes.extend_from_slice(&(36 + size).to_le_bytes());
    bytes.extend_from_slice(b"WAVEfmt ");
    bytes.extend_from_slice(&16u32.to_le_bytes());
    bytes.extend_from_slice(&PCM.to_le_bytes());
    bytes.extend_from_slice(&(width / 2).to_le_bytes());
    bytes.extend_from_slice(&sound.rate.to_le_bytes());
    bytes.extend_from_slice(&(sound.rate.saturating_mul(width.into())).to_le_bytes());
    bytes.extend_from_slice(&width.to_le_bytes());
    bytes.extend_from_slice(&16u16.to_le_bytes());
    bytes.extend_from_slice(b"data");
    bytes.extend_from_slice(&size.to_le_bytes());
    let loudest =
        |samples: &Vec<f64>| samples.iter().fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let scales: Vec<f64> =
        sound.channels.iter().map(|samples| LOUDEST * 32_767.0 / loudest(samples)).collect();
    for frame in 0..frames {
        for (samples, scale) in sound.channels.iter().zip(&scales) {
            bytes.extend_from_slice(&((samples[frame] * scale).round() as i16).to_le_bytes());
        }
    }
    crate::run::write_file(file, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of its own for each test.
    fn place(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("austerity-audio-{}-{name}.wav", std::process::id()))
    }

    /// A header of one format with these samples, after a chunk that nobody needs.
    fn file(format: u16, bits: u16, channels: u16, samples: &[u8]) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt \x10\0\0\0".to_vec();
        bytes.extend_from_slice(&format.to_le_bytes());
        bytes.extend_from_slice(&channels.to_le_bytes());
        bytes.extend_from_slice(&8_000u32.to_le_bytes());
        bytes.extend_from_slice(&[0; 6]);
        bytes.extend_from_slice(&bits.to_le_bytes());
        bytes.extend_from_slice(b"data");
        bytes.extend_from_slice(&(samples.len() as u32).to_le_bytes());
        bytes.extend_from_slice(samples);
        bytes
    }

    #[test]
    fn what_is_written_is_read_again() {
        let wave = |step: f64| (0..100).map(|i| (step * f64::from(i)).sin()).collect::<Vec<_>>();
        let sound = Sound { rate: 44_100, channels: vec![wave(0.1), wave(0.37)] };
        let path = place("again");
        write(&path, &sound).unwrap();
        let again = read(&path).unwrap();
        assert!(again.rate == 44_100 && again.channels.len() == 2 && is_sound(&path));
        for (before, after) in sound.channels.iter().zip(&again.channels) {
            let ratio = after[20] / before[20];
            assert!(before.iter().zip(after).all(|(x, y)| (x * ratio - y).abs() < 1e-4), "{ratio}");
            let loudest = after.iter().fold(0.0f64, |most, value| most.max(value.abs()));
            assert!((loudest - LOUDEST).abs() < 1e-4);
        }
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn samples_of_every_width_are_numbers_from_minus_one_to_one() {
        let half = |format, bits, samples: &[u8]| {
            let path = place(&format!("{format}-{bits}"));
            fs::write(&path, file(format, bits, 1, samples)).unwrap();
            let found = read(&path).map(|sound| sound.channels[0][0]);
            fs::remove_file(&path).unwrap();
            found
        };
        for (format, bits, samples) in [
            (PCM, 8, &[192][..]),
            (PCM, 16, &[0, 64][..]),
            (PCM, 24, &[0, 0, 64][..]),
            (PCM, 32, &[0, 0, 0, 64][..]),
            (FLOAT, 32, &0.5f32.to_le_bytes()[..]),
            (FLOAT, 64, &0.5f64.to_le_bytes()[..]),
        ] {
            assert_eq!(half(format, bits, samples).unwrap(), 0.5, "{format} {bits}");
        }
        let told = half(7, 8, &[0]).unwrap_err().to_string();
        assert!(told.contains("neither PCM") && told.contains("ffmpeg"), "{told}");
    }

    /// Every beginning of a file is sound or an error, never a panic.
    #[test]
    fn cut_files_are_told() {
        let whole = file(PCM, 16, 2, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let path = place("cut");
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            match read(&path) {
                Ok(sound) => assert!(sound.channels[0].len() < 2),
                Err(error) => assert!(error.to_string().contains("cut")),
            }
        }
        fs::remove_file(&path).unwrap();
    }
}
