//! A search on its way to a file and back: visited states, frontier, counts and what was found.
//!
//! The format of the file is here, and who keeps it decides where it lies and when it is written ([`Journal`]). A search hands
//! out its own tables as they are, block by block, so that writing needs no second copy of them; and it hands them out only
//! as they were between two levels (breadth first) or two states (depth first), so that a search that goes on from there has
//! the counts of one that was never interrupted.
//!
//! **Invariant:** whatever is in a file, reading it ends with a value or a [`Broken`]: no panic, and no more memory than a small
//! multiple of the file. Checksums guard against mistakes, not against forgers, so every number that is used as an index is
//! looked at, and states of the frontier are shown to the system before it takes a step from them.

mod reader;
mod writer;

pub use reader::Reader;
pub use writer::Writer;

use std::fmt;
use std::io;

/// Bytes of a block: each has a checksum of its own.
const BLOCK: usize = 1 << 16;
/// Bytes of a checksum.
const SUM: usize = 16;

/// Where a search is kept while it goes on.
pub trait Journal: Sync {
    /// Whether it is time to write it down.
    fn is_due(&self) -> bool;

    /// Writes it down: `write` says what. That this fails is told to the user by whoever keeps the journal; the search goes on.
    fn keep(&self, write: &mut dyn FnMut(&mut Writer<'_>) -> io::Result<()>);

    /// What a search has handed out earlier, to go on from there; once.
    fn take_kept(&self) -> Option<Reader>;

    /// What was kept is of no use.
    fn refuse(&self, why: &Broken);
}

/// Why a journal cannot be used.
#[derive(Debug)]
pub enum Broken {
    /// It ends too early.
    Torn,
    /// A checksum does not agree.
    Damaged,
    /// Its parts do not fit together.
    Contradictory(&'static str),
    /// There is no memory for what is in it.
    Memory,
    /// It cannot be read.
    Unreadable(io::Error),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Torn => write!(f, "it ends in the middle"),
            Self::Damaged => write!(f, "it is damaged: a checksum does not agree"),
            Self::Contradictory(what) => write!(f, "it contradicts itself: {what}"),
            Self::Memory => write!(f, "there is not enough memory for what is in it"),
            Self::Unreadable(error) => write!(f, "it cannot be read: {error}"),
        }
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Torn,
            _ => Self::Unreadable(error),
        }
    }
}

/// The checksum of a block; its number counts, so that blocks cannot change places.
fn sum(number: u64, block: &[u8]) -> [u8; SUM] {
    twox_hash::XxHash3_128::oneshot_with_seed(number, block).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Writer<'_>) -> io::Result<()>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        write(&mut writer).and_then(|()| writer.finish()).expect("memory does not refuse");
        bytes
    }

    fn reader(bytes: &[u8]) -> Reader {
        Reader::new(Box::new(io::Cursor::new(bytes.to_vec())), bytes.len() as u64)
    }

    #[test]
    fn values_come_back_across_blocks() {
        let many: Vec<u64> = (0..3 * BLOCK as u64 / 8).collect();
        let bytes = written(|to| {
            to.text("a name")?;
            to.u64(many.len() as u64)?;
            many.iter().try_for_each(|value| to.u64(*value))?;
            to.u128(1 << 100)
        });
        let mut from = reader(&bytes);
        assert_eq!(from.text().unwrap(), "a name");
        let count = from.count(8).unwrap();
        assert_eq!((0..count).map(|_| from.u64().unwrap()).collect::<Vec<_>>(), many);
        assert_eq!(from.u128().unwrap(), 1 << 100);
        from.end().unwrap();
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let bytes = written(|to| (0..40_000_u32).try_for_each(|value| to.u32(value)));
        for length in (0..bytes.len()).step_by(977) {
            assert!(matches!(reader(&bytes[..length]).end(), Err(Broken::Torn)), "{length}");
        }
        for at in (0..bytes.len()).step_by(977).chain(0..30).chain(bytes.len() - 30..bytes.len()) {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            assert!(reader(&changed).end().is_err(), "{at}");
        }
        let more = [&bytes[..], &[0]].concat();
        assert!(reader(&more).end().is_err(), "something follows");
    }

    #[test]
    fn a_count_is_no_larger_than_what_is_left_of_the_file() {
        for count in [7, u64::MAX / 8, u64::MAX] {
            let bytes = written(|to| to.u64(count).and_then(|()| to.u64(7)));
            assert!(reader(&bytes).count(8).is_err(), "{count}");
        }
    }
}
