//! Descriptors of processes: `pidfd_open(2)`.

use crate::call::{Call, Stop};
use crate::descriptor::{Description, Fd, File, O_NONBLOCK, O_RDWR, Operations, POLLIN, POLLRDNORM, refuse};
use crate::errno::{EINVAL, ESRCH, Errno};
use crate::id::{Id, Pid};
use crate::{Kernel, Process};
use memory::Memory;

/// What such a descriptor can do: be polled.
pub static OPERATIONS: Operations = Operations { poll, ..refuse::NOTHING };

/// `pidfd_open(2)`.
pub fn pidfd_open(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (pid, flags) = (call.int(0), call.args[1] as u32);
    if flags & !O_NONBLOCK != 0 || pid <= 0 {
        return Err(EINVAL.into());
    }
    let pid = Pid(pid as u32);
    if !call.kernel.processes.contains_key(&pid) {
        let is_thread = call.kernel.threads.contains_key(&crate::Tid(pid.0));
        return Err(if is_thread { EINVAL } else { ESRCH }.into());
    }
    let fd = install(call, pid, flags)?;
    Ok(fd as u64)
}

/// A descriptor for a process that is being created.
pub fn open(call: &mut Call<'_>, pid: Pid) -> Result<Fd, Errno> {
    install(call, pid, 0)
}

fn install(call: &mut Call<'_>, pid: Pid, flags: u32) -> Result<Fd, Errno> {
    let description = Description::new(File::Process(pid), O_RDWR | flags, b"anon_inode:[pidfd]".to_vec());
    call.install(description, true)
}

/// Readable once the process has ended.
fn poll(kernel: &Kernel, _: &Memory, id: Id) -> u16 {
    let Some(File::Process(pid)) = kernel.descriptions.get(&id).map(|open| open.file) else { return 0 };
    let lives = kernel.processes.get(&pid).is_some_and(|process: &Process| !process.is_zombie());
    if lives { 0 } else { POLLIN | POLLRDNORM }
}
