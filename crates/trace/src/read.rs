//! Reading a counterexample that anyone may have written, cut off or edited.

use crate::{Counterexample, VERSION};
use serde::Deserialize;
use std::fmt;
use std::io::{self, Read};

/// The largest file that is read, in bytes.
pub const SIZE_MAX: u64 = 256 << 20;

/// Why a file is not a counterexample.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be read.
    Io(io::Error),
    /// It is larger than [`SIZE_MAX`].
    TooLarge,
    /// It is empty.
    Empty,
    /// It ends in the middle: a disk was full or a copy was cut off.
    CutOff,
    /// It is not JSON, or a field is missing or of the wrong type.
    Malformed(String),
    /// It was written by a release with another format.
    Version(u32),
    /// Its parts contradict each other.
    Inconsistent(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::TooLarge => write!(f, "the file is larger than {} MB", SIZE_MAX >> 20),
            Self::Empty => write!(f, "the file is empty"),
            Self::CutOff => write!(f, "the file ends in the middle"),
            Self::Malformed(why) => write!(f, "not a counterexample: {why}"),
            Self::Version(found) => write!(f, "format version {found}; this program reads version {VERSION}"),
            Self::Inconsistent(why) => write!(f, "the file contradicts itself: {why}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        if error.is_eof() { Self::CutOff } else { Self::Malformed(error.to_string()) }
    }
}

/// The one field that every version has.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

impl Counterexample {
    /// Reads a counterexample.
    ///
    /// # Errors
    /// If the source cannot be read or is not a counterexample of this version. Depth is bounded by the JSON reader,
    /// size by [`SIZE_MAX`].
    pub fn read(source: impl Read) -> Result<Self, ReadError> {
        let mut bytes = Vec::new();
        source.take(SIZE_MAX + 1).read_to_end(&mut bytes).map_err(ReadError::Io)?;
        if bytes.len() as u64 > SIZE_MAX {
            return Err(ReadError::TooLarge);
        }
        Self::from_json(&bytes)
    }

    /// Reads a counterexample from the text of its file.
    ///
    /// # Errors
    /// As [`Counterexample::read`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, ReadError> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(ReadError::Empty);
        }
        let header: Header = serde_json::from_slice(bytes)?;
        if header.version != VERSION {
            return Err(ReadError::Version(header.version));
        }
        let counterexample: Self = serde_json::from_slice(bytes)?;
        counterexample.consistent().map_err(ReadError::Inconsistent)?;
        Ok(counterexample)
    }

    fn consistent(&self) -> Result<(), String> {
        // The id becomes part of a path.
        if self.id.is_empty() || !self.id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("the id `{}` is not a hexadecimal number", self.id.escape_debug()));
        }
        let (choices, told) = (&self.schedule.choices, &self.trace.steps);
        if self.schedule.cycle_start.is_some_and(|start| start > choices.len()) {
            return Err("the cycle starts after the last step".to_owned());
        }
        if self.trace.cycle_start != self.schedule.cycle_start {
            return Err("schedule and trace disagree about the cycle".to_owned());
        }
        if !told.is_empty() && !told.iter().map(|step| step.choice).eq(choices.iter().copied()) {
            return Err("schedule and trace disagree about the choices".to_owned());
        }
        Ok(())
    }
}
