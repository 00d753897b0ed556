//! Whether what threads wait for is there.
//!
//! **Invariant:** a condition holds exactly if the redone call would make progress. If it held too early, a state in which everybody
//! redoes calls in vain would not be seen to be a deadlock; if too late, a deadlock would be reported that is none. So each family
//! decides by the rules of the call itself.

use super::Kernel;
use crate::descriptor::POLLNVAL;
use crate::id::{Id, Tid};
use crate::wait::{Condition, Wait};
use crate::{event, files, ipc, lifecycle, net, signal, terminal};
use memory::Memory;

impl Kernel {
    /// Whether a condition holds for a waiting thread.
    ///
    /// Pure: it changes nothing and may be asked any number of times, by the search as well (who
    /// can move, who is deadlocked).
    #[must_use]
    pub fn holds(&self, condition: &Condition, tid: Tid, memory: &Memory) -> bool {
        match condition {
            Condition::Poll(description, events) => event::ready(self, memory, tid, *description) & events != 0,
            // Nothing in the state says so but `Wait::woken`, which whoever wakes sets.
            Condition::Woken(_) => false,
            Condition::Child(request) => lifecycle::has_answer(self, tid, request),
            Condition::Vforked(pid) => lifecycle::has_left_shared_space(self, *pid),
            Condition::Lock(request) => files::may_lock(self, request),
            Condition::Semaphores(request) => ipc::may_operate(self, request),
            Condition::Queue(request) => ipc::may_pass(self, request),
            Condition::Socket(request) => net::holds(self, *request),
            Condition::Terminal(request) => terminal::holds(self, *request),
            Condition::CounterRoom(id, added) => event::has_room(self, *id, *added),
            Condition::Signal(set) => signal::has_pending(self, tid, *set),
        }
    }

    /// The `poll(2)` events of a description; `POLLNVAL` if it is gone.
    #[must_use]
    pub fn poll(&self, memory: &Memory, description: Id) -> u16 {
        let Some(open) = self.descriptions.get(&description) else {
            return POLLNVAL;
        };
        (open.file.operations().poll)(self, memory, description)
    }
}

/// Whether a wait is over: the call should be redone.
#[must_use]
pub fn is_over(wait: &Wait, thread: Tid, kernel: &Kernel, memory: &Memory) -> bool {
    wait.woken
        || wait.deadline.is_some_and(|deadline| kernel.clock.now() >= deadline)
        || wait.until.iter().any(|condition| kernel.holds(condition, thread, memory))
}
