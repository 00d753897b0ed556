//! Taking signals: which one is next for a thread, and what is to be done about it.
//!
//! **Invariant:** [`is_deliverable`] is true exactly if [`take`] would do something; the checker
//! asks the first to find out who can move, and takes the step with the second.

use super::job;
use super::number::{Default, SIGKILL, SIGSTOP, SYNCHRONOUS, Set, UNCATCHABLE, bit, default};
use super::send::{SIG_DFL, SIG_IGN, force};
use crate::errno::EINTR;
use crate::id::{Pid, Tid};
use crate::process::{Action, SignalInfo, limit};
use crate::wait::{Interruption, Wait};
use crate::{Kernel, Process, Thread, futex, lifecycle, time};
use memory::Memory;

/// `SA_RESTART`.
pub const SA_RESTART: u64 = 0x1000_0000;
/// `SA_NODEFER`.
pub const SA_NODEFER: u64 = 0x4000_0000;
/// `SA_RESETHAND`.
pub const SA_RESETHAND: u64 = 0x8000_0000;

/// A handler to be run, for the world that has the registers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Delivery {
    /// The signal.
    pub info: SignalInfo,
    /// Handler, flags and restorer.
    pub action: Action,
    /// What `uc_sigmask` of the frame holds: the mask to go back to.
    pub mask_saved: Set,
    /// What is blocked while the handler runs.
    pub mask_after: Set,
    /// What becomes of the call that the thread waited in.
    pub interrupted: Interrupted,
    /// `sigaltstack(2)`: base, size and flags, for `SA_ONSTACK` and `uc_stack`.
    pub alternate_stack: (u64, u64, u32),
}

/// What a handler does to the call that the thread waited in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Interrupted {
    /// It was in none.
    Nothing,
    /// The frame's `rax` is this number and its `rip` is at the syscall instruction again.
    Restart(u64),
    /// The frame's `rax` is this result.
    Result(u64),
}

/// Whether [`take`] would find a signal for this thread. A thread whose wait is over redoes its call first.
#[must_use]
pub fn is_deliverable(kernel: &Kernel, tid: Tid) -> bool {
    next(kernel, tid).is_some()
}

/// The next handler that a thread has to run, if any.
///
/// Default actions are carried out on the way: afterwards the thread may have ended or its process may be stopped.
///
/// Loops over signals that are ignored or have default actions; ends with the first handler, since
/// one frame is written at a time. The world asks again until nothing is left, so several handlers
/// stack up, the last one running first, as on Linux.
pub fn take(kernel: &mut Kernel, memory: &mut Memory, tid: Tid) -> Option<Delivery> {
    while let Some(found) = next(kernel, tid) {
        let (pid, info) = remove(kernel, tid, found);
        let action = kernel.processes.get(&pid)?.signals.actions[usize::from(info.number)];
        match action.handler {
            SIG_IGN if info.number != SIGKILL && info.number != SIGSTOP => {}
            SIG_DFL | SIG_IGN => {
                act_by_default(kernel, memory, pid, info);
                if !super::may_run(kernel, tid) {
                    return None;
                }
            }
            _ => return Some(deliver(kernel, memory, tid, info, action)),
        }
    }
    None
}

/// A signal that an instruction of the thread causes, and the handler for it, if the process lives on.
pub fn fault(kernel: &mut Kernel, memory: &mut Memory, tid: Tid, info: SignalInfo) -> Option<Delivery> {
    force(kernel, tid, info);
    take(kernel, memory, tid)
}

/// Where a pending signal was found.
#[derive(Clone, Copy)]
struct Found {
    /// In the thread's own list, not the process's.
    own: bool,
    index: usize,
}

/// Own signals before those of the process: `signal(7)` does not say, Linux does so.
fn next(kernel: &Kernel, tid: Tid) -> Option<Found> {
    let thread = kernel.threads.get(&tid)?;
    // A stopped process handles nothing until it goes on; what ends it makes it go on first.
    let process = kernel.processes.get(&thread.pid).filter(|process| !process.is_stopped())?;
    let may = |info: &SignalInfo| thread.blocked & bit(info.number) == 0 && ends_wait(thread, process, info.number);
    let own = first(&thread.pending, may).map(|index| Found { own: true, index });
    let shared = || {
        let may = |info: &SignalInfo| may(info) && recipient(kernel, process, info.number) == Some(tid);
        first(&process.signals.pending, may).map(|index| Found { own: false, index })
    };
    own.or_else(shared)
}

/// The most urgent signal: death, then what instructions cause, then the lowest number, then the oldest.
///
/// Among several pending signals POSIX wants real-time ones in ascending order and leaves the rest
/// open; Linux takes the lowest number.
fn first(pending: &[SignalInfo], may: impl Fn(&SignalInfo) -> bool) -> Option<usize> {
    let urgency = |number: u8| match number {
        SIGKILL => 0,
        number if SYNCHRONOUS & bit(number) != 0 => number,
        number => number + super::number::LAST,
    };
    let candidates = pending.iter().enumerate().filter(|(_, info)| may(info));
    candidates.min_by_key(|(index, info)| (urgency(info.number), *index)).map(|(index, _)| index)
}

/// Who takes the signals that wait for processes.
///
/// Whether a signal is taken by thread A or B can depend on a third thread's mask, so the answer
/// before and behind a step tells the search what the step changed for others.
pub struct Recipients {
    /// Processes with several threads.
    shared: Vec<Pid>,
    all: Vec<(Pid, u8, Option<Tid>)>,
}

impl Recipients {
    /// As it is in a state.
    #[must_use]
    pub fn of<'k>(kernel: &'k Kernel) -> Self {
        let shared = kernel.processes.values().filter(|process| process.threads.len() > 1).map(|process| process.pid);
        let pending = |process: &'k Process| process.signals.pending.iter().map(move |info| (process, info.number));
        let waiting = kernel.processes.values().flat_map(pending);
        let all = waiting.map(|(process, number)| (process.pid, number, recipient(kernel, process, number)));
        Self { shared: shared.collect(), all: all.collect() }
    }

    /// Whether no signal waits for a process with several threads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.all.iter().any(|(pid, ..)| self.shared.contains(pid))
    }

    /// Whether they are others behind a step, in a process that has several threads before or behind it.
    ///
    /// A step that creates a second thread, or leaves one, changes nothing for signals that nobody takes or that the one
    /// takes that is there in both.
    #[must_use]
    pub fn differ(&self, behind: &Self) -> bool {
        let is_shared = |pid: &Pid| self.shared.contains(pid) || behind.shared.contains(pid);
        let those = |it: &Self| -> Vec<(Pid, u8, Option<Tid>)> {
            it.all.iter().filter(|(pid, ..)| is_shared(pid)).copied().collect()
        };
        those(self) != those(behind)
    }
}

/// The thread that takes a signal sent to its process: the first one if it does not block it, else the lowest number.
fn recipient(kernel: &Kernel, process: &Process, number: u8) -> Option<Tid> {
    let is_open = |tid: &Tid| kernel.threads.get(tid).is_some_and(|thread| thread.blocked & bit(number) == 0);
    let main = Some(Tid(process.pid.0)).filter(|main| process.threads.contains(main));
    main.into_iter().chain(process.threads.iter().copied()).find(is_open)
}

/// A wait that nothing interrupts ends only with the process.
fn ends_wait(thread: &Thread, process: &Process, number: u8) -> bool {
    let is_never = |wait: &Wait| wait.interruption == Interruption::Never;
    let is_deadly = || {
        process.signals.actions[usize::from(number)].handler == SIG_DFL
            && matches!(default(number), Default::Terminate | Default::Core)
    };
    !thread.wait.as_ref().is_some_and(is_never) || is_deadly()
}

fn remove(kernel: &mut Kernel, tid: Tid, found: Found) -> (Pid, SignalInfo) {
    let thread = kernel.threads.get_mut(&tid).expect("found in it");
    let pid = thread.pid;
    let info = if found.own {
        thread.pending.remove(found.index)
    } else {
        kernel.processes.get_mut(&pid).expect("found in it").signals.pending.remove(found.index)
    };
    (pid, time::taken(kernel, pid, info))
}

/// Takes a pending signal of a set, blocked or not (`sigwaitinfo(2)`, `signalfd(2)`).
pub fn take_of(kernel: &mut Kernel, tid: Tid, set: Set) -> Option<SignalInfo> {
    let thread = kernel.threads.get(&tid)?;
    let process = kernel.processes.get(&thread.pid)?;
    let may = |info: &SignalInfo| set & bit(info.number) != 0;
    let own = first(&thread.pending, may).map(|index| Found { own: true, index });
    let shared = || first(&process.signals.pending, may).map(|index| Found { own: false, index });
    let found = own.or_else(shared)?;
    Some(remove(kernel, tid, found).1)
}

fn act_by_default(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, info: SignalInfo) {
    let process = kernel.processes.get(&pid).expect("a thread has a process");
    let number = i32::from(info.number);
    match default(info.number) {
        Default::Ignore | Default::Continue => {}
        Default::Terminate => lifecycle::end_process(kernel, memory, pid, number),
        Default::Core => {
            // `core(5)`: none is left where `RLIMIT_CORE` is 0.
            let dumped = process.limits[limit::CORE].0 > 0 && process.controls.dumpable == 1;
            lifecycle::end_process(kernel, memory, pid, number | if dumped { 0x80 } else { 0 });
        }
        Default::Stop => {
            // Nobody could continue an orphaned group, so the terminal's signals do not stop it (`signal(7)`).
            if info.number == SIGSTOP || !job::is_orphaned(kernel, process.group, None) {
                job::stop(kernel, pid, info.number);
            }
        }
    }
}

fn deliver(kernel: &mut Kernel, memory: &mut Memory, tid: Tid, info: SignalInfo, action: Action) -> Delivery {
    let interrupted = interrupt(kernel, memory, tid, action.flags);
    let thread = kernel.threads.get(&tid).expect("the caller looked");
    let own = if action.flags & SA_NODEFER == 0 { bit(info.number) } else { 0 };
    let delivery = Delivery {
        info,
        action,
        mask_saved: thread.saved_mask.unwrap_or(thread.blocked),
        mask_after: (thread.blocked | action.mask | own) & !UNCATCHABLE,
        interrupted,
        alternate_stack: thread.alternate_stack,
    };
    if action.flags & SA_RESETHAND != 0 {
        let process = kernel.processes.get_mut(&thread.pid).expect("a thread has a process");
        process.signals.actions[usize::from(info.number)].handler = SIG_DFL;
    }
    delivery
}

/// Ends the wait of a thread for a handler with these flags (`signal(7)`, interruption of system calls).
///
/// A handler that interrupts a call which has already transferred something makes it return that
/// (`signal(7)`: "the call ... returns the number of bytes transferred so far").
fn interrupt(kernel: &mut Kernel, memory: &mut Memory, tid: Tid, flags: u64) -> Interrupted {
    let now = kernel.clock.now();
    let thread = kernel.threads.get_mut(&tid).expect("the caller looked");
    let number = thread.call.map_or(0, |call| call.0);
    if thread.wait.as_ref().is_some_and(|wait| wait.interruption == Interruption::Finish) {
        return Interrupted::Result(kernel.finish(memory, tid));
    }
    let Some(wait) = thread.stop_waiting(now) else { return Interrupted::Nothing };
    futex::leave(kernel, tid);
    kernel.let_go(memory, &wait);
    match wait.interruption {
        _ if wait.progress != 0 => Interrupted::Result(wait.progress),
        Interruption::Again => Interrupted::Restart(number),
        Interruption::Restart if flags & SA_RESTART != 0 => Interrupted::Restart(number),
        Interruption::Remaining { address } => {
            let left = wait.deadline.unwrap_or(now).saturating_sub(now);
            Interrupted::Result(time::store_remaining(kernel, memory, tid, address, left).result())
        }
        _ => Interrupted::Result(EINTR.result()),
    }
}
