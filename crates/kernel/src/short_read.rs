//! Reads that return less than there is: from pipes and connections, whose readers may not count on more than one byte.
//!
//! POSIX lets a read from a pipe, FIFO or stream socket return fewer bytes than were asked for;
//! programs that assume otherwise work until a packet is split. Only representative amounts are
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

/// Whether a call is one whose third argument says how much to read. A fourth one is the flags of `recv(2)`.
#[must_use]
pub fn is_read(number: u64, args: &[u64; 6]) -> bool {
    let receives = |row: &&Row| matches!(row.footprint, Through(_, SocketUse::Receive(Amount::Given)));
    let flags = |row: &Row| row.arguments.get(3).map_or(0, |_| args[3]);
    table::row(number).filter(receives).is_some_and(|row| flags(row) & WAIT_ALL == 0)
}

/// What a read may return instead of all that there is, in bytes: one, all but one, or what was sent first.
#[must_use]
pub fn amounts(kernel: &Kernel, tid: Tid, number: u64, args: &[u64; 6]) -> Vec<u64> {
    if !is_read(number, args) {
        return Vec::new();
    }
    let (there, first) = waiting(kernel, tid, args[0] as Fd).unwrap_or_default();
    let all = there.min(args[2]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_bytes_may_be_short() {
        let are_read = |flags| table::rows().filter(move |row| is_read(row.number, &[0, 0, 0, flags, 0, 0]));
        assert_eq!(are_read(0).map(|row| row.name).collect::<Vec<_>>(), ["read", "recvfrom"]);
        assert_eq!(are_read(WAIT_ALL).map(|row| row.name).collect::<Vec<_>>(), ["read"]);
    }
}
