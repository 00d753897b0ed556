//! Reads and writes that transfer less than they could.
//!
//! POSIX lets a read from a pipe, FIFO or stream socket return fewer bytes than were asked for, and a write take fewer;
//! programs that assume otherwise work until a packet is split or a disk is nearly full. Only representative amounts are
//! tried, since all of them would multiply the states: one byte (the shortest), all but one (the
//! last byte is late), and what was sent first (the border between two messages, where parsers
//! break).

use crate::Kernel;
use crate::descriptor::{Fd, File};
use crate::id::Tid;
use crate::table::FootprintRule::Through;
use crate::table::footprint::{Amount, SocketUse};
use crate::table::{self, Row};

/// `MSG_WAITALL`: all that was asked for.
const WAIT_ALL: u64 = 0x100;

/// Whether the third argument of a call says how much to read. A fourth one is the flags of `recv(2)`.
#[must_use]
pub fn is_read(number: u64, args: &[u64; 6]) -> bool {
    let receives = |row: &&Row| matches!(row.footprint, Through(_, SocketUse::Receive(Amount::Given)));
    let flags = |row: &Row| row.arguments.get(3).map_or(0, |_| args[3]);
    table::row(number).filter(receives).is_some_and(|row| flags(row) & WAIT_ALL == 0)
}

/// Whether the third argument of a call says how much to write.
fn is_write(number: u64) -> bool {
    let sends = |row: &&Row| {
        matches!(row.footprint, Through(_, SocketUse::Send(Amount::Given) | SocketUse::SendTo(Amount::Given)))
    };
    table::row(number).is_some_and(|row| sends(&row))
}

/// Whether a call may transfer less than its third argument says.
pub(crate) fn is_transfer(number: u64, args: &[u64; 6]) -> bool {
    is_write(number) || is_read(number, args)
}

/// The syscalls that may transfer less than they could.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    table::rows().filter(|row| is_transfer(row.number, &[0; 6]))
}

/// What a read may return instead of all that there is, in bytes: one, all but one, or what was sent first.
#[must_use]
pub fn amounts_read(kernel: &Kernel, tid: Tid, number: u64, args: &[u64; 6]) -> Vec<u64> {
    if !is_read(number, args) {
        return Vec::new();
    }
    let (there, first) = waiting(kernel, tid, args[0] as Fd).unwrap_or_default();
    less_than(there.min(args[2]), first)
}

/// How much a write may take instead of all: one byte, or all but one.
#[must_use]
pub fn amounts_written(kernel: &Kernel, tid: Tid, number: u64, args: &[u64; 6]) -> Vec<u64> {
    let takes = is_write(number) && takes_bytes(kernel, tid, args[0] as Fd).unwrap_or_default();
    if takes { less_than(args[2], 1) } else { Vec::new() }
}

/// Amounts below all: one byte, the first ones, all but one.
fn less_than(all: u64, first: u64) -> Vec<u64> {
    let mut amounts: Vec<u64> =
        [1, first, all.saturating_sub(1)].into_iter().filter(|one| (1..all).contains(one)).collect();
    amounts.sort_unstable();
    amounts.dedup();
    amounts
}

/// Bytes that wait to be read, and how many of them were sent first, as far as that is known.
fn waiting(kernel: &Kernel, tid: Tid, fd: Fd) -> Option<(u64, u64)> {
    let description = kernel.description_for(tid, fd)?;
    match kernel.descriptions.get(&description)?.file {
        File::PipeReader(id) | File::PipeBoth(id) => kernel.pipes.get(&id).map(|pipe| (pipe.len() as u64, 1)),
        File::Socket(id) if !kernel.net.sockets.get(&id)?.has_messages() => {
            Some((kernel.net.received(id) as u64, kernel.net.sent_first(id) as u64))
        }
        _ => None,
    }
}

/// Whether a descriptor is written byte by byte, not in messages or numbers.
fn takes_bytes(kernel: &Kernel, tid: Tid, fd: Fd) -> Option<bool> {
    let description = kernel.description_for(tid, fd)?;
    Some(match kernel.descriptions.get(&description)?.file {
        File::PipeWriter(_) | File::PipeBoth(_) | File::Inode(_) | File::Console(_) => true,
        File::Socket(id) => !kernel.net.sockets.get(&id)?.has_messages(),
        _ => false,
    })
}
