//! Numbers of processes and threads, and whom they descend from.

use crate::id::{Id, Pid, Tid};
use crate::{Kernel, Process};

/// All numbers have five digits, so that nothing that a program prints in columns depends on them.
const FIRST: u64 = 10_000;
const COUNT: u64 = 90_000;

/// A free number for what was created as `path`.
///
/// Made from the creation path and not from a counter: two processes that fork at the same time get the same numbers in
/// either order, unless their paths collide.
///
/// On Linux numbers count up and wrap; nothing may rely on them but on their being unique. A
/// collision of two paths makes numbers depend on the order of creation, which is one more state to
/// explore, not a wrong one.
pub fn free(kernel: &Kernel, path: Id) -> u32 {
    let start = path.0 % COUNT;
    let numbers = (0..COUNT).map(|step| (FIRST + (start + step) % COUNT) as u32);
    numbers.into_iter().find(|number| !is_taken(kernel, *number)).expect("fewer than ninety thousand processes")
}

impl Kernel {
    /// The process that a number names: the one of that number, or the one that has this thread. `kill(2)` and its kin take
    /// either.
    #[must_use]
    pub fn process_of(&self, number: u32) -> Option<Pid> {
        let own = self.processes.contains_key(&Pid(number)).then_some(Pid(number));
        own.or_else(|| self.threads.get(&Tid(number)).map(|thread| thread.pid))
    }

    /// A process, its parent, and so on.
    pub fn ancestors(&self, pid: Pid) -> impl Iterator<Item = Pid> {
        std::iter::successors(Some(pid), |pid| self.processes.get(pid).map(|process| process.parent))
    }
}

/// A number stays taken while a group or a session is called by it.
fn is_taken(kernel: &Kernel, number: u32) -> bool {
    let named = |process: &Process| process.group == Pid(number) || process.session == Pid(number);
    kernel.processes.contains_key(&Pid(number))
        || kernel.threads.contains_key(&Tid(number))
        || kernel.processes.values().any(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Host, NoHost};
    use std::sync::Arc;

    #[test]
    fn a_number_follows_from_the_creation_path_alone() {
        let kernel = Kernel::new(Host(Arc::new(NoHost)), 1);
        let (one, two) = (free(&kernel, Id(7)), free(&kernel, Id(8)));
        assert_eq!((one, two), (10_007, 10_008));
    }
}
