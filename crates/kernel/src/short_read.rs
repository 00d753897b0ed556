//! Reads that return less than there is: from pipes and connections, whose readers may not count on more than one byte.

use crate::Kernel;
use crate::descriptor::{Fd, File};
use crate::id::{Pid, Tid};

/// `read(2)`.
const READ: u64 = 0;
/// `recvfrom(2)`.
const RECVFROM: u64 = 45;
/// `MSG_WAITALL`: all that was asked for.
const WAIT_ALL: u64 = 0x100;

/// Whether a call is one whose third argument says how much to read.
#[must_use]
pub fn is_read(number: u64, args: &[u64; 6]) -> bool {
    number == READ || number == RECVFROM && args[3] & WAIT_ALL == 0
}

/// What a read may return instead of all that there is, in bytes: one, all but one, or what was sent first.
#[must_use]
pub fn amounts(kernel: &Kernel, tid: Tid, number: u64, args: &[u64; 6]) -> Vec<u64> {
    let Some(thread) = kernel.threads.get(&tid).filter(|_| is_read(number, args)) else { return Vec::new() };
    let (there, first) = waiting(kernel, thread.pid, args[0] as Fd).unwrap_or_default();
    let all = there.min(args[2]);
    let mut amounts: Vec<u64> =
        [1, first, all.saturating_sub(1)].into_iter().filter(|one| (1..all).contains(one)).collect();
    amounts.sort_unstable();
    amounts.dedup();
    amounts
}

/// Bytes that wait to be read, and how many of them were sent first, as far as that is known.
fn waiting(kernel: &Kernel, pid: Pid, fd: Fd) -> Option<(u64, u64)> {
    let description = kernel.processes.get(&pid)?.descriptors.get(fd).ok()?.description;
    match kernel.descriptions.get(&description)?.file {
        File::PipeReader(id) | File::PipeBoth(id) => kernel.pipes.get(&id).map(|pipe| (pipe.len() as u64, 1)),
        File::Socket(id) if !kernel.net.sockets.get(&id)?.has_messages() => {
            Some((kernel.net.received(id) as u64, kernel.net.sent_first(id) as u64))
        }
        _ => None,
    }
}
