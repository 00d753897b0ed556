//! Reading and writing the memory of another process: `process_vm_readv(2)`.

use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EFAULT, EINVAL, EPERM, ESRCH};
use crate::guest::Piece;
use crate::id::Pid;
use memory::{PAGE_SIZE, SpaceId};

/// `process_vm_readv(2)`.
pub fn process_vm_readv(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (local, remote, space) = load(call)?;
    let own = call.space();
    copy(call, Side { space, pieces: remote }, Side { space: own, pieces: local })
}

/// `process_vm_writev(2)`.
pub fn process_vm_writev(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (local, remote, space) = load(call)?;
    let own = call.space();
    copy(call, Side { space: own, pieces: local }, Side { space, pieces: remote })
}

/// The pieces here and there, and the other's memory.
fn load(call: &mut Call<'_>) -> Result<(Vec<Piece>, Vec<Piece>, SpaceId), Stop> {
    let [pid, local, local_count, remote, remote_count, flags] = call.args;
    if flags != 0 {
        return Err(EINVAL.into());
    }
    let local = call.load_pieces(local, local_count)?;
    let remote = call.load_pieces(remote, remote_count)?;
    let process = call.kernel.processes.get(&Pid(pid as u32)).filter(|process| !process.is_zombie()).ok_or(ESRCH)?;
    let mine = call.process().credentials.user;
    let is_same = process.credentials.user[..3].iter().all(|user| *user == mine[0]);
    // ptrace(2), access mode checking.
    if process.pid != call.pid && !call.can(Capability::Trace) && (!is_same || process.controls.dumpable != 1) {
        return Err(EPERM.into());
    }
    Ok((local, remote, process.space))
}

/// One side of a copy: what is left of it, first piece last.
struct Side {
    space: SpaceId,
    pieces: Vec<Piece>,
}

impl Side {
    fn reversed(mut self) -> Self {
        self.pieces.retain(|piece| piece.length > 0);
        self.pieces.reverse();
        self
    }

    /// Where it goes on, and how far the page and the piece reach.
    fn next(&self) -> Option<Piece> {
        let Piece { address, length } = *self.pieces.last()?;
        Some(Piece { address, length: length.min(PAGE_SIZE - address % PAGE_SIZE) })
    }

    fn advance(&mut self, count: u64) {
        let piece = self.pieces.last_mut().expect("there was a next one");
        piece.address = piece.address.wrapping_add(count);
        piece.length -= count;
        if piece.length == 0 {
            self.pieces.pop();
        }
    }
}

/// Copies page by page as far as both sides reach; an error only if nothing could be copied.
///
/// "Partial transfers apply at the granularity of iovec elements" (`process_vm_readv(2)`), and
/// Linux stops in the middle of one at a page that is not mapped; page by page is what it does.
fn copy(call: &mut Call<'_>, from: Side, to: Side) -> Result<u64, Stop> {
    let (mut from, mut to) = (from.reversed(), to.reversed());
    let mut done = 0;
    let mut page = [0; PAGE_SIZE as usize];
    while let (Some(source), Some(target)) = (from.next(), to.next()) {
        let length = source.length.min(target.length);
        let bytes = &mut page[..length as usize];
        let copied = call.memory.read(from.space, source.address, bytes).is_ok()
            && call.memory.write(to.space, target.address, bytes).is_ok();
        if !copied {
            return if done == 0 { Err(EFAULT.into()) } else { Ok(done) };
        }
        done += length;
        from.advance(length);
        to.advance(length);
    }
    Ok(done)
}
