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
    /// How it uses the processor.
    pub processor: Processor,
}

/// How a thread uses the processor. A thread uses it whenever it does not wait: there are always enough processors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Processor {
    /// When it began, on the monotonic clock.
    pub began: u64,
    /// When its present wait began.
    pub waits_since: u64,
    /// How long it waited before that.
    pub idle: u64,
    /// `setpriority(2)`.
    pub nice: i32,
    /// `sched_setscheduler(2)`: policy and priority.
    pub policy: (u32, u32),
    /// `ioprio_set(2)`; 0 for what `nice` implies.
    pub io: u16,
}

/// `SCHED_RESET_ON_FORK`: children are nothing special.
pub const RESET_ON_FORK: u32 = 0x4000_0000;

/// `SCHED_FIFO`, `SCHED_RR`: the policies with priorities.
pub const REAL_TIME: [u32; 2] = [1, 2];

impl Processor {
    /// How a new thread uses it that one with this creates now.
    #[must_use]
    pub fn inherited(self, now: u64) -> Self {
        let fresh = Self { began: now, waits_since: 0, idle: 0, ..self };
        let kind = self.policy.0 & !RESET_ON_FORK;
        match self.policy.0 & RESET_ON_FORK {
            0 => fresh,
            _ if REAL_TIME.contains(&kind) => Self { policy: (0, 0), nice: 0, ..fresh },
            _ => Self { policy: (kind, 0), nice: self.nice.max(0), ..fresh },
        }
    }
}

impl Thread {
    /// A fresh id for something that this thread creates.
    pub fn fresh_id(&mut self) -> Id {
        self.born += 1;
        self.path.child(self.born)
    }

    /// Ends the thread's wait and gives it back; the call that it was in is no longer waited in.
    pub fn stop_waiting(&mut self, now: u64) -> Option<Wait> {
        self.call = None;
        let wait = self.wait.take()?;
        self.processor.idle += now - self.processor.waits_since;
        self.processor.waits_since = 0;
        Some(wait)
    }

    /// Processor time used so far, in nanoseconds.
    #[must_use]
    pub fn processor_time(&self, now: u64) -> u64 {
        let waiting = if self.wait.is_some() { now - self.processor.waits_since } else { 0 };
        now - self.processor.began - self.processor.idle - waiting
    }
}
