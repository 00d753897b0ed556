//! Packets in, answers out, until gdb leaves: one row for each kind of packet.

use super::packet::{Incoming, Wire};
use super::session::{EMPTY, Reply, Session};
use super::{execution, files, monitor, queries, state};
use crate::target::Target;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A connection on which Ctrl-C can be noticed while something else is under way.
pub trait Connection: Read + Write {
    /// Whether a byte is Ctrl-C that has not been read yet. Does not wait.
    fn has_interrupt(&self) -> bool;
}

impl Connection for TcpStream {
    fn has_interrupt(&self) -> bool {
        let mut byte = [0];
        let _ = self.set_nonblocking(true);
        let seen = self.peek(&mut byte);
        let _ = self.set_nonblocking(false);
        // At the end of the connection nobody waits for the answer.
        matches!(seen, Ok(0)) || seen.is_ok() && byte[0] == 0x03
    }
}

/// A kind of packet: how it begins, and what answers it. What follows the beginning is given; `interrupted` is asked while
/// time passes.
struct Row {
    begins: &'static [u8],
    answer: fn(&mut Session<'_, '_>, &[u8], &mut dyn FnMut() -> bool) -> Reply,
}

macro_rules! rows {
    ($($begins:literal => $answer:expr,)*) => {
        &[$(Row { begins: $begins, answer: |session, rest, _| $answer(session, rest) },)*]
    };
}

/// Packets during which time passes.
///
/// gdb's manual, "Packets" and "vCont packet". Backwards there is no `vCont`: `Hc` says which thread `bs` is about.
const TRAVELS: &[Row] = &[
    Row { begins: b"vCont;", answer: execution::vcont },
    Row { begins: b"bc", answer: execution::reverse_continue },
    Row { begins: b"bs", answer: execution::reverse_step },
    Row { begins: b"c", answer: execution::forward_continue },
    Row { begins: b"s", answer: execution::forward_step },
];

/// All others; the first that fits, so that `qC` stands behind what begins like it.
///
/// gdb's manual, "Packets", "General Query Packets", "Host I/O Packets".
const ROWS: &[Row] = rows! {
    b"?" => execution::why,
    b"vCont?" => execution::kinds,
    b"vFile:" => files::file,
    b"vMustReplyEmpty" => unknown,
    b"vKill;" => leave,
    b"qSupported" => queries::supported,
    b"qXfer:" => queries::transfer,
    b"qRcmd," => monitor::command,
    b"qfThreadInfo" => queries::first_threads,
    b"qsThreadInfo" => queries::more_threads,
    b"qThreadExtraInfo," => queries::thread_name,
    b"qAttached" => queries::attached,
    b"qCRC:" => unknown,
    b"qC" => queries::current,
    b"qGetTLSAddr:" => queries::local_storage,
    b"QStartNoAckMode" => no_acknowledgements,
    b"H" => state::select,
    b"T" => state::is_alive,
    b"g" => state::registers,
    b"p" => state::register,
    b"m" => state::memory,
    b"G" => state::refused,
    b"P" => state::refused,
    b"M" => state::refused,
    b"X" => state::refused,
    b"Z" => execution::set_break,
    b"z" => execution::remove_break,
    b"D" => leave,
    b"k" => killed,
};

fn unknown(_: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    Reply::Data(EMPTY.to_vec())
}

fn leave(_: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    Reply::Last(b"OK".to_vec())
}

/// `k` has no answer; an empty one does no harm.
fn killed(_: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    Reply::Last(EMPTY.to_vec())
}

fn no_acknowledgements(session: &mut Session<'_, '_>, _: &[u8]) -> Reply {
    session.ends_acknowledging = true;
    Reply::ok()
}

/// The answer to a packet.
fn answer(session: &mut Session<'_, '_>, packet: &[u8], is_interrupted: &mut dyn FnMut() -> bool) -> Reply {
    let row = TRAVELS.iter().chain(ROWS).find(|row| packet.starts_with(row.begins));
    match row {
        Some(row) => (row.answer)(session, &packet[row.begins.len()..], is_interrupted),
        None => Reply::Data(EMPTY.to_vec()),
    }
}

/// Answers one client until it leaves.
///
/// # Errors
/// If the connection breaks.
pub fn serve<S: Connection>(stream: S, target: &mut Target<'_>) -> io::Result<()> {
    let mut wire = Wire::new(stream);
    let mut session = Session::new(target);
    while let Some(incoming) = wire.read()? {
        // Between two packets nothing is under way.
        let Incoming::Packet(packet) = incoming else { continue };
        let mut is_interrupted = || wire.buffered().contains(&0x03) || wire.stream().has_interrupt();
        match answer(&mut session, &packet, &mut is_interrupted) {
            Reply::Data(data) => wire.send(&data)?,
            Reply::Last(data) => return wire.send(&data),
        }
        if std::mem::take(&mut session.ends_acknowledging) {
            wire.stop_acknowledging();
        }
    }
    Ok(())
}
