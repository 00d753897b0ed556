//! What comes before `main`: the loader maps libraries, and constructors run.
//!
//! Loading is no part of any schedule: it reads files that no step changes, and maps them. What a constructor does
//! beyond that is a step like any other.

use crate::system::overlay::Phase;
use crate::system::state::State;
use kernel::Tid;
use kernel::table::{self, Argument, Startup};

/// Bytes of the instruction `syscall`.
pub(crate) const SYSCALL: u64 = 2;

impl State {
    /// Whether a thread has not reached its program's own code.
    pub(crate) fn starts(&self, tid: Tid) -> bool {
        self.overlay.thread(tid).is_some_and(|overlay| overlay.phase == Phase::Starting)
    }

    /// The program's own code begins before `main`.
    pub(crate) fn begin_early(&mut self, tid: Tid) {
        self.overlay.thread_mut(tid).phase = Phase::Running;
    }

    /// Whether the syscall of a starting thread is more than loading. Then the program's own code begins, and the
    /// syscall is not made yet.
    pub(crate) fn is_loaded(&mut self, tid: Tid, call: (u64, [u64; 6])) -> bool {
        if !self.starts(tid) || !self.is_first(tid) || self.loads(tid, call) {
            return false;
        }
        self.begin_early(tid);
        self.go_back_before_syscall(tid);
        true
    }

    /// A thread that has trapped at a syscall goes back before it: the syscall is not made yet.
    pub(crate) fn go_back_before_syscall(&mut self, tid: Tid) {
        self.world.cpus.get_mut(&tid).expect("it runs").rip -= SYSCALL;
    }

    fn loads(&mut self, tid: Tid, (number, args): (u64, [u64; 6])) -> bool {
        let Some(row) = table::row(number) else { return false };
        match row.startup {
            Startup::Step => row.footprint.is_local(),
            Startup::Loads => true,
            // Standard input is not opened by a loader.
            Startup::Reads => args[0] > 2,
            Startup::LooksUp => {
                let path = row.arguments.iter().position(|argument| *argument == Argument::Path).expect("a path");
                let space = self.world.space(tid);
                let path = self.world.memory.read_until_nul(space, args[path], 4096).unwrap_or_default();
                is_of_loader(&path)
            }
        }
    }
}

/// Whether a path is one that loaders access: libraries, and the files that locate them.
fn is_of_loader(path: &[u8]) -> bool {
    const FOLDERS: [&[u8]; 4] = [b"/lib", b"/usr/lib", b"/etc/ld.so", b"/proc/self/exe"];
    let is_library = path.windows(3).any(|part| part == b".so");
    // The loader stats files by descriptor.
    path.is_empty() || is_library || FOLDERS.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_look_at_libraries_only() {
        let paths =
            ["/etc/ld.so.cache", "/lib/x86_64-linux-gnu/libc.so.6", "./libown.so", "/usr/lib/locale/locale-archive"];
        assert!(paths.iter().all(|path| is_of_loader(path.as_bytes())));
        assert!(["settings", "/etc/passwd", "/srv/lib", "/dev/null"].iter().all(|path| !is_of_loader(path.as_bytes())));
    }
}
