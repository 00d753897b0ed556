//! Closing descriptors, and descriptions with their last reference.
//!
//! Linux closes in two steps, too: `filp_close` for each descriptor (record locks go), `fput` for
//! the last reference (the file goes).

use super::{Descriptor, Fd};
use crate::errno::Errno;
use crate::id::{Id, Pid};
use crate::wait::Wait;
use crate::{Kernel, event, files};
use memory::Memory;

impl Kernel {
    /// Closes a descriptor of a process.
    ///
    /// POSIX record locks are the odd ones: "if a process closes any file descriptor referring to a
    /// file, then all of the process's locks on that file are released, regardless of the file
    /// descriptor(s) on which the locks were obtained" (`fcntl(2)`).
    pub fn close(&mut self, memory: &mut Memory, pid: Pid, fd: Fd) -> Result<(), Errno> {
        let process = self.processes.get_mut(&pid).expect("a process closes its own descriptors");
        let descriptor = process.descriptors.remove(fd)?;
        // Any close by a process releases all its record locks on the file (`fcntl(2)`).
        files::closed_by(self, pid, descriptor.description);
        self.queue_closed_by(pid, descriptor.description);
        self.release(memory, descriptor.description);
        Ok(())
    }

    /// One reference to a description less; it is closed with the last, or with the last call that waits on it.
    pub fn release(&mut self, memory: &mut Memory, description: Id) {
        let open = self.descriptions.get_mut(&description).expect("a reference keeps its description");
        assert!(open.references > 0, "a description that nobody refers to is closed already");
        open.references -= 1;
        self.close_if_unused(memory, description);
    }

    /// A call that has waited is over.
    pub fn let_go(&mut self, memory: &mut Memory, wait: &Wait) {
        for (_, description) in &wait.held {
            self.close_if_unused(memory, *description);
        }
    }

    /// Whether a thread waits in a call that was given this.
    fn is_held(&self, description: Id) -> bool {
        let waits = self.threads.values().filter_map(|thread| thread.wait.as_ref());
        waits.flat_map(|wait| &wait.held).any(|(_, held)| *held == description)
    }

    /// Closes a description that neither a descriptor nor a call refers to.
    ///
    /// The order matters: watchers (epoll sets, open file description locks) are told while the
    /// description still exists; its kind's `close` may look at it; then it goes; a deleted file's
    /// content goes last.
    fn close_if_unused(&mut self, memory: &mut Memory, description: Id) {
        let is_free = self.descriptions.get(&description).is_some_and(|open| open.references == 0);
        if !is_free || self.is_held(description) {
            return;
        }
        files::description_closed(self, description);
        event::description_closed(self, description);
        let file = self.descriptions.get(&description).expect("it is still there").file;
        (file.operations().close)(self, memory, description);
        self.descriptions.remove(&description);
        files::file_closed(self, memory, file);
    }
}

/// Closes all descriptors of a process that ends.
pub fn close_all(kernel: &mut Kernel, memory: &mut Memory, pid: Pid) {
    close_those(kernel, memory, pid, |_| true);
}

/// Closes what `execve(2)` closes.
pub fn close_on_exec(kernel: &mut Kernel, memory: &mut Memory, pid: Pid) {
    close_those(kernel, memory, pid, |descriptor| descriptor.close_on_exec);
}

fn close_those(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, which: fn(Descriptor) -> bool) {
    let Some(process) = kernel.processes.get(&pid) else { return };
    let chosen: Vec<Fd> = process.descriptors.iter().filter(|(_, entry)| which(*entry)).map(|(fd, _)| fd).collect();
    for fd in chosen {
        kernel.close(memory, pid, fd).expect("it was just listed");
    }
}
