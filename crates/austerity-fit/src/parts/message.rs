//! What travels between a driver and its workers: a header, a checksum, and a value that keeps every bit of its numbers.
//!
//! ```text
//! "AUSTPASS"  version u32  CRC-32C u32  length u64  MessagePack
//! ```
//!
//! A message that was cut short or damaged is no message; one of another version says so. Workers need the package's version of the driver: sums would differ otherwise.

use austerity_glm::glm::expansion::sweep::{Answer, Question};
use austerity_glm::store::{Description, LinearSums};
use austerity_io::coding::Recipe;
use austerity_io::load::part::{ColumnHashes, Learnt, ToLearn};
use austerity_io::table::PartSpec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::rows::Carried;
use crate::model::Family;
use crate::output::Failure;

const MAGIC: &[u8; 8] = b"AUSTPASS";
const VERSION: u32 = 1;
const HEADER: usize = 24;

/// What a pass asks of every part.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Request {
    /// Version of the package.
    pub(super) package: String,
    /// Which pass: answers to another are not taken.
    pub(super) pass: u64,
    /// The instruction set, which sums in single precision depend on.
    pub(super) level: String,
    pub(super) work: Work,
}

/// The kinds of passes.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Work {
    /// How columns are to be coded.
    Learn(Box<ToLearn>),
    /// Something about coded rows.
    Rows(Box<OfRows>),
}

/// What is asked about coded rows.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct OfRows {
    pub(super) recipe: Recipe,
    pub(super) description: Description,
    pub(super) family: Family,
    /// Derivatives, scores or totals.
    pub(super) question: Option<Question>,
    /// The rows with the smallest keys.
    pub(super) sample: Option<Sampling>,
    /// The sums of a linear model.
    pub(super) linear: bool,
}

/// Which rows are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sampling {
    pub(super) seed: u64,
    pub(super) most: usize,
    /// Larger keys are not worth sending: almost surely so many are smaller.
    pub(super) below: u64,
}

impl Sampling {
    /// Of `most` of `rows` rows. Keys are uniform, so the number below (m + 8√m)/N is less than m once in 10¹⁵ times.
    pub(super) fn new(seed: u64, most: usize, rows: u64) -> Self {
        let m = most as f64;
        let share = (m + 8.0 * m.sqrt() + 64.0) / rows.max(1) as f64;
        let below = if share >= 1.0 { u64::MAX } else { (share * u64::MAX as f64) as u64 };
        Self { seed, most, below }
    }
}

/// One part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) number: usize,
    /// Number of its first row in all data.
    pub(super) first: u64,
    pub(super) part: PartSpec,
}

/// The answer of one part.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Partial {
    pub(super) pass: u64,
    pub(super) number: usize,
    pub(super) rows: usize,
    pub(super) hashes: ColumnHashes,
    pub(super) seconds: f64,
    pub(super) answer: Answered,
}

/// What a part answered.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Answered {
    Learnt(Box<Learnt>),
    Rows(Box<RowsAnswer>),
    /// It could not, in words.
    Failed(String),
}

/// The answer about coded rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct RowsAnswer {
    pub(super) sums: Answer,
    pub(super) heaviest: Carried,
    pub(super) sample: Carried,
    pub(super) linear: Option<LinearSums>,
}

/// A value as a message.
pub(super) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, Failure> {
    let body = rmp_serde::to_vec_named(value).map_err(Failure::other)?;
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend_from_slice(MAGIC);
    message.extend_from_slice(&VERSION.to_le_bytes());
    message.extend_from_slice(&crc32c::crc32c(&body).to_le_bytes());
    message.extend_from_slice(&(body.len() as u64).to_le_bytes());
    message.extend_from_slice(&body);
    Ok(message)
}

/// The value of a message; refuses what is damaged or of another version.
pub(super) fn decode<T: DeserializeOwned>(message: &[u8]) -> Result<T, Failure> {
    let damaged = |how: &str| Failure::Usage(format!("a message of a pass is damaged: {how}"));
    let (Some(header), true) = (message.get(..HEADER), message.starts_with(MAGIC)) else {
        return Err(damaged("it does not begin as one"));
    };
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if number(8) != VERSION {
        return Err(Failure::Usage(format!(
            "a message of a pass has version {}, this package understands {VERSION}: install the same version of austerity everywhere",
            number(8)
        )));
    }
    let length = u64::from(number(16)) | u64::from(number(20)) << 32;
    let body = &message[HEADER..];
    if body.len() as u64 != length {
        return Err(damaged(&format!("it has {} of {length} bytes", body.len())));
    }
    if crc32c::crc32c(body) != number(12) {
        return Err(damaged("its checksum does not fit"));
    }
    rmp_serde::from_slice(body).map_err(|error| damaged(&error.to_string()))
}
