//! `signalfd(2)`: signals that can be read.
//!
//! signalfd(2): what is ready depends on who asks, since a thread sees its own pending signals and
//! those of its process. So `poll` without a thread knows nothing, and waits for signals go through
//! `Condition::Signal`.

use super::wake::wake;
use crate::call::{Call, Stop};
use crate::descriptor::{At, Description, File, O_CLOEXEC, O_NONBLOCK, O_RDWR, Operations, POLLIN, noop_seek, refuse};
use crate::errno::{EAGAIN, EINVAL};
use crate::id::{Id, Tid};
use crate::process::SignalInfo;
use crate::wait::{Condition, Wait};
use crate::{Kernel, signal};
use memory::Memory;

/// Bytes of a `struct signalfd_siginfo`.
const INFO: usize = 128;

/// `SIGKILL` and `SIGSTOP`, which cannot be read.
const UNREADABLE: u64 = 1 << 8 | 1 << 18;

/// What signal descriptors can do.
pub static OPERATIONS: Operations =
    Operations { read, write: refuse::write, poll, ioctl: refuse::ioctl, close, seek: noop_seek };

/// `signalfd(2)` of old: no flags.
pub fn signalfd(call: &mut Call<'_>) -> Result<u64, Stop> {
    open(call, 0)
}

/// `signalfd4(2)`.
pub fn signalfd4(call: &mut Call<'_>) -> Result<u64, Stop> {
    open(call, call.args[3] as u32)
}

fn open(call: &mut Call<'_>, flags: u32) -> Result<u64, Stop> {
    let [_, mask, size, ..] = call.args;
    if size != 8 || flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(EINVAL.into());
    }
    let set = call.load_u64(mask)? & !UNREADABLE;
    if call.int(0) == -1 {
        return create(call, set, flags);
    }
    let description = call.description_of(call.int(0))?;
    let File::Signal(id) = call.description(description).file else {
        return Err(EINVAL.into());
    };
    call.kernel.events.signals.insert(id, set);
    wake(call.kernel, File::Signal(id), 0);
    Ok(call.int(0) as u64)
}

fn create(call: &mut Call<'_>, set: u64, flags: u32) -> Result<u64, Stop> {
    let id = call.fresh_id();
    let description =
        Description::new(File::Signal(id), O_RDWR | flags & O_NONBLOCK, b"anon_inode:[signalfd]".to_vec());
    let fd = call.install(description, flags & O_CLOEXEC != 0)?;
    call.kernel.events.signals.insert(id, set);
    Ok(fd as u64)
}

/// Whether a thread could read a signal.
#[must_use]
pub fn ready(kernel: &Kernel, tid: Tid, id: Id) -> u16 {
    let set = kernel.events.signals.get(&id).copied().unwrap_or(0);
    if signal::has_pending(kernel, tid, set) { POLLIN } else { 0 }
}

fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    let File::Signal(id) = call.description(description).file else {
        return Err(EINVAL.into());
    };
    if len < INFO {
        return Err(EINVAL.into());
    }
    let set = call.kernel.events.signals.get(&id).copied().unwrap_or(0);
    let mut bytes = Vec::new();
    while bytes.len() + INFO <= len {
        let Some(info) = signal::take_of(call.kernel, call.tid, set) else { break };
        bytes.extend(encode(&info));
    }
    if !bytes.is_empty() {
        return Ok(bytes);
    }
    if call.description(description).is_nonblocking() {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Signal(set)).into())
}

/// `struct signalfd_siginfo`.
fn encode(info: &SignalInfo) -> [u8; INFO] {
    let mut bytes = [0; INFO];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &u32::from(info.number).to_le_bytes());
    put(8, &info.code.to_le_bytes());
    put(12, &info.pid.to_le_bytes());
    put(16, &info.uid.to_le_bytes());
    put(40, &info.status.to_le_bytes());
    put(44, &(info.value as u32).to_le_bytes());
    put(48, &info.value.to_le_bytes());
    put(72, &info.address.to_le_bytes());
    bytes
}

/// Asked without a thread, there are no signals to see: [`ready`] is the question that counts.
fn poll(_: &Kernel, _: &Memory, _: Id) -> u16 {
    0
}

fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    if let Some(File::Signal(id)) = kernel.descriptions.get(&description).map(|open| open.file) {
        kernel.events.signals.remove(&id);
    }
}
