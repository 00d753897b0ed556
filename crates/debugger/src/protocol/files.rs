//! Files as the process sees them, for a gdb that reads them through us (`vFile`, "Host I/O Packets"). Nothing is written.

use super::packet::PACKET_MAX;
use super::session::{EMPTY, Reply, Session};
use super::text::{bytes, number, parts};

/// gdb's own numbers for errors of files.
const NOT_FOUND: &str = "F-1,2";
const BAD_NUMBER: &str = "F-1,9";

/// Files that are open at once, at most.
const OPEN_MAX: usize = 64;

type Operation = (&'static [u8], fn(&mut Session<'_, '_>, &[u8]) -> Reply);

/// Operations that read. What writes is not there, and gdb takes an empty answer for that.
const OPERATIONS: &[Operation] = &[
    // There is one file system.
    (b"setfs:", |_, _| Reply::text("F0")),
    (b"open:", open),
    (b"pread:", read),
    (b"fstat:", status),
    (b"close:", close),
];

/// `vFile:operation:arguments`.
pub fn file(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    match OPERATIONS.iter().find(|(name, _)| rest.starts_with(name)) {
        Some((name, operation)) => operation(session, &rest[name.len()..]),
        None => Reply::Data(EMPTY.to_vec()),
    }
}

/// Opens a file that the process has mapped: gdb asks for programs and libraries alone.
fn open(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let path = parts(rest, b',').first().and_then(|path| bytes(path)).unwrap_or_default();
    let number = (3..).find(|number| !session.open.contains_key(number)).unwrap_or(3);
    match session.target.mapped_file(&path).filter(|_| session.open.len() < OPEN_MAX) {
        Some(content) => {
            session.open.insert(number, content);
            Reply::text(&format!("F{number:x}"))
        }
        None => Reply::text(NOT_FOUND),
    }
}

/// A part of a file. Escaping may double it, and the length needs room, too: a quarter of a packet is safe.
fn read(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let numbers: Vec<Option<u64>> = parts(rest, b',').into_iter().map(number).collect();
    let [Some(file), Some(count), Some(offset)] = numbers[..] else { return Reply::error() };
    let Some(content) = session.open.get(&file) else { return Reply::text(BAD_NUMBER) };
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(PACKET_MAX / 4);
    let found = &content[start..start.saturating_add(count).min(content.len())];
    Reply::Data([format!("F{:x};", found.len()).as_bytes(), found].concat())
}

/// `struct stat` of the protocol: big-endian, 64 bytes.
fn status(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let Some(content) = number(rest).and_then(|file| session.open.get(&file)) else { return Reply::text(BAD_NUMBER) };
    const REGULAR_READABLE: u32 = 0o100_444;
    let mut stat = [0; 64];
    stat[8..12].copy_from_slice(&REGULAR_READABLE.to_be_bytes());
    stat[28..36].copy_from_slice(&(content.len() as u64).to_be_bytes());
    Reply::Data([b"F40;", &stat[..]].concat())
}

/// Forgets a file.
fn close(session: &mut Session<'_, '_>, rest: &[u8]) -> Reply {
    let found = number(rest).and_then(|file| session.open.remove(&file));
    Reply::text(if found.is_some() { "F0" } else { BAD_NUMBER })
}
