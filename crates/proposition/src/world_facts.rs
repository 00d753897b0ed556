//! A world as something that propositions speak about.

use super::facts::{Datum, Facts, Stream};
use debuginfo::DebugInfo;
use debuginfo::similar;
use kernel::process::State;
use kernel::{Pid, Process, files};
use world::World;

/// A world, with what it does not remember itself.
///
/// Output and the last call are no part of a world, which keeps only what its future depends on;
/// the path that led here knows them.
pub struct WorldFacts<'a> {
    /// The state.
    pub world: &'a World,
    /// Where variables are.
    pub info: &'a mut DebugInfo,
    /// The processes that were started, by the names that users know.
    pub processes: &'a [(String, Pid)],
    /// What each process, and those that it started, has written so far.
    pub output: &'a dyn Fn(Pid, Stream) -> Vec<u8>,
    /// The last step was this call of this process.
    pub called: Option<(Pid, &'a str)>,
    /// Where paths begin that are not absolute.
    pub directory: &'a [u8],
}

impl WorldFacts<'_> {
    fn pid(&self, process: &str) -> Option<Pid> {
        self.processes.iter().find(|(name, _)| name == process).map(|(_, pid)| *pid)
    }

    fn process(&self, process: &str) -> Option<&Process> {
        self.world.kernel.processes.get(&self.pid(process)?)
    }

    /// The status of a process that has ended, as `wait4(2)` gives it.
    ///
    /// Bits 0 to 6 the signal, bits 8 to 15 the exit code, as the macros of wait(2) take it apart.
    fn status(&self, process: &str) -> Option<i32> {
        match self.process(process)?.state {
            State::Zombie(status) => Some(status),
            State::Running | State::Stopped { .. } => None,
        }
    }

    fn inode(&self, path: &str, follow: bool) -> Option<kernel::Id> {
        let whole = match path.as_bytes() {
            absolute @ [b'/', ..] => absolute.to_vec(),
            relative => [self.directory, b"/", relative].concat(),
        };
        files::resolve(&self.world.kernel, files::base::root(), &whole, follow).ok()
    }
}

impl Facts for WorldFacts<'_> {
    fn processes(&self) -> Vec<String> {
        self.processes.iter().map(|(name, _)| name.clone()).collect()
    }

    fn exited(&self, process: &str) -> Option<i32> {
        self.status(process).filter(|status| status & 0x7f == 0).map(|status| status >> 8 & 0xff)
    }

    fn crashed(&self, process: &str) -> Option<u8> {
        self.status(process).map(|status| (status & 0x7f) as u8).filter(|signal| *signal != 0)
    }

    /// Of this state: a thread that sleeps waits too, until the clock has reached its deadline.
    fn is_blocked(&self, process: &str) -> bool {
        let lives = self.process(process).filter(|process| !process.is_zombie() && !process.threads.is_empty());
        lives.is_some_and(|process| process.threads.iter().all(|tid| !self.world.can_move(*tid)))
    }

    fn is_running(&self, process: &str) -> bool {
        self.process(process).is_some_and(|process| !process.is_zombie())
    }

    fn output(&self, process: &str, stream: Stream) -> Vec<u8> {
        self.pid(process).map(|pid| (self.output)(pid, stream)).unwrap_or_default()
    }

    fn exists(&self, path: &str) -> bool {
        // A symbolic link that leads nowhere is still there, and keeps others from creating a file.
        self.inode(path, false).is_some()
    }

    fn size(&self, path: &str) -> Option<u64> {
        let (kernel, memory) = (&self.world.kernel, &self.world.memory);
        let inode = self.inode(path, true)?;
        kernel.inode(inode).filter(|inode| inode.kind == files::Kind::Regular)?;
        Some(files::length(kernel, memory, inode))
    }

    fn content(&self, path: &str) -> Option<Vec<u8>> {
        let (kernel, memory) = (&self.world.kernel, &self.world.memory);
        let (length, inode) = (self.size(path)?, self.inode(path, true)?);
        Some(files::read_at(kernel, memory, inode, 0, usize::try_from(length).ok()?))
    }

    fn variable(&mut self, process: &str, path: &str) -> Result<Option<Datum>, String> {
        let Some(space) = self.process(process).filter(|process| !process.is_zombie()).map(|process| process.space)
        else {
            return Ok(None);
        };
        let memory = &self.world.memory;
        let place = self.info.global(memory, space, path).map_err(|error| error.0)?;
        Ok(place.and_then(|place| Some(Datum { value: place.read(memory, space)?, kind: place.kind })))
    }

    fn called(&self, process: &str, call: &str) -> Result<bool, String> {
        if !kernel::table::rows().any(|row| row.name == call) {
            let names = kernel::table::rows().map(|row| row.name);
            return Err(format!("there is no syscall `{call}`{}", similar::hint(call, names)));
        }
        let pid = self.pid(process);
        Ok(self.called.is_some_and(|(who, name)| pid == Some(who) && name == call))
    }
}
