//! A thread: what the scheduler sees.

use crate::id::{Id, Pid, Tid};
use crate::process::SignalInfo;
use crate::wait::Wait;

/// A thread: what the scheduler sees. Its registers belong to the world.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// Its number.
    pub tid: Tid,
    /// Its process.
    pub pid: Pid,
    /// `PR_SET_NAME`, at most 15 bytes.
    pub name: Vec<u8>,
    /// Why it cannot go on, if it cannot; the call in `call` is redone when the wait is over.
    pub wait: Option<Wait>,
    /// The call that it waits in: number and arguments.
    pub call: Option<(u64, [u64; 6])>,
    /// Blocked signals: bit `n - 1` for signal `n`.
    pub blocked: u64,
    /// The mask to go back to after a handler that interrupted `sigsuspend(2)`, `ppoll(2)` or their kin.
    pub saved_mask: Option<u64>,
    /// Signals sent to this thread and not yet taken, oldest first.
    pub pending: Vec<SignalInfo>,
    /// `sigaltstack(2)`: base, size, flags.
    pub alternate_stack: (u64, u64, u32),
    /// `set_tid_address(2)` or `CLONE_CHILD_CLEARTID`: zeroed and woken at the end.
    pub clear_at_end: u64,
    /// `set_robust_list(2)`: head and length.
    pub robust_list: (u64, u64),
    /// How many things it has created, for their ids.
    pub born: u64,
    /// What its ids are made from.
    pub path: Id,
    /// Calls to a random generator so far, for reproducible randomness of its own.
    pub randoms: u64,
}

impl Thread {
    /// A fresh id for something that this thread creates.
    pub fn fresh_id(&mut self) -> Id {
        self.born += 1;
        self.path.child(self.born)
    }
}
