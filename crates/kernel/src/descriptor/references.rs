//! The descriptors of a caller, and what refers to a description.

use super::{Description, Descriptor, Descriptors, Fd, O_PATH};
use crate::Kernel;
use crate::call::Call;
use crate::errno::{EBADF, Errno};
use crate::id::{Id, Tid};

/// `RLIMIT_NOFILE`.
const LIMIT_FILES: usize = 7;

impl Call<'_> {
    /// What a descriptor refers to; `EBADF` also for one opened with `O_PATH`, which most calls refuse.
    pub fn description_of(&self, fd: Fd) -> Result<Id, Errno> {
        let id = self.description_or_path(fd)?;
        if self.description(id).flags & O_PATH == 0 { Ok(id) } else { Err(EBADF) }
    }

    /// What a descriptor refers to, `O_PATH` or not; in a call that is redone, what it referred to at first.
    pub fn description_or_path(&self, fd: Fd) -> Result<Id, Errno> {
        let held = self.resumed.as_ref().and_then(|wait| wait.held(fd));
        held.map_or_else(|| self.description_now(fd), Ok)
    }

    /// What a descriptor refers to at this moment, `O_PATH` or not, whatever it was when the call began.
    pub fn description_now(&self, fd: Fd) -> Result<Id, Errno> {
        self.process().descriptors.get(fd).map(|descriptor| descriptor.description)
    }

    /// An open description.
    #[must_use]
    pub fn description(&self, id: Id) -> &Description {
        self.kernel.descriptions.get(&id).expect("descriptors refer to descriptions that exist")
    }

    /// An open description, to change it.
    pub fn description_mut(&mut self, id: Id) -> &mut Description {
        self.kernel.descriptions.get_mut(&id).expect("descriptors refer to descriptions that exist")
    }

    /// How many descriptors the caller may have (`RLIMIT_NOFILE`).
    #[must_use]
    pub fn descriptor_limit(&self) -> u64 {
        self.process().limits[LIMIT_FILES].0
    }

    /// Makes a description and gives the caller the lowest free descriptor for it.
    ///
    /// Either everything happens or nothing: the number is found first, the only thing that can
    /// fail.
    pub fn install(&mut self, description: Description, close_on_exec: bool) -> Result<Fd, Errno> {
        let fd = self.process().descriptors.free(0, self.descriptor_limit())?;
        let id = self.fresh_id();
        self.kernel.descriptions.insert(id, description);
        self.refer(fd, id, close_on_exec);
        Ok(fd)
    }

    /// Lets a free descriptor of the caller refer to a description.
    ///
    /// # Panics If the descriptor is taken: `dup2(2)` closes it before.
    pub fn refer(&mut self, fd: Fd, description: Id, close_on_exec: bool) {
        self.description_mut(description).retain();
        let replaced = self.process_mut().descriptors.set(fd, Descriptor { description, close_on_exec });
        assert!(replaced.is_none(), "descriptor {fd} was free");
    }
}

impl Kernel {
    /// What a descriptor means to a thread: in a call that it waits in, what it referred to when the call began.
    #[must_use]
    pub fn description_for(&self, tid: Tid, fd: Fd) -> Option<Id> {
        let thread = self.threads.get(&tid)?;
        let held = thread.wait.as_ref().and_then(|wait| wait.held(fd));
        held.or_else(|| Some(self.processes.get(&thread.pid)?.descriptors.get(fd).ok()?.description))
    }

    /// Whether a thread waits in a call that was given a descriptor which refers to something else by now, or to nothing.
    #[must_use]
    pub fn is_stale(&self, tid: Tid) -> bool {
        let Some(thread) = self.threads.get(&tid) else { return false };
        let Some(wait) = thread.wait.as_ref().filter(|wait| !wait.held.is_empty()) else { return false };
        let descriptors = self.processes.get(&thread.pid).map(|process| &process.descriptors);
        let now = |fd: Fd| Some(descriptors?.get(fd).ok()?.description);
        wait.held.iter().any(|(fd, held)| now(*fd) != Some(*held))
    }
}

/// The same descriptors for a child of `fork(2)`: every description has one more reference for each.
pub fn inherit(kernel: &mut Kernel, descriptors: &Descriptors) -> Descriptors {
    for (_, descriptor) in descriptors.iter() {
        retain(kernel, descriptor.description);
    }
    descriptors.clone()
}

/// One more reference to a description, such as from a message in flight (`SCM_RIGHTS`).
pub fn retain(kernel: &mut Kernel, description: Id) {
    kernel.descriptions.get_mut(&description).expect("only open descriptions are shared").retain();
}
