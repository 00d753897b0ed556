//! One syscall in progress, and how it can end.
//!
//! **What a call may assume:** the caller exists, its process is not a zombie, and nobody else
//! runs: the kernel is never entered twice, so there are no locks in it. **What it must leave:** a
//! kernel in which every id that is mentioned exists (descriptions of descriptors, processes of
//! threads, spaces of processes). If it ends in an error, nothing has changed, except where Linux
//! changes something before it fails, too.
//!
//! There are four ways out, as everywhere in this project: the guest's error (`Errno`), not now
//! (`Wait`), something only the world can do (`Control`), and "we do not model this"
//! (`Unsupported`), which ends the check instead of guessing.

use crate::errno::Errno;
use crate::id::{Id, Pid, Tid};
use crate::net::datagram_fault::DatagramFault;
use crate::wait::Wait;
use crate::{Kernel, Process, Thread};
use memory::Memory;

/// What a call does differently than usual: chosen by whoever makes it, and no part of any state.
///
/// A short read is allowed by `read(2)` at any time ("It is not an error if this number is smaller
/// than the number of bytes requested"), and the checker explores it as a choice. It is not kept
/// with a wait: each attempt chooses anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Deviation {
    /// A read returns no more than this, a write takes no more.
    pub most: Option<u64>,
    /// The fault of the UDP datagram that it sends.
    pub datagram: Option<DatagramFault>,
    /// The call is not carried out, and returns this: a fault. Only `close(2)` closes what it was given, as on Linux.
    pub error: Option<Errno>,
}

/// A syscall in progress: what its function may see and change.
///
/// Borrowed for one attempt. Functions of the table get nothing else, so that whatever a call
/// depends on is in here, and its footprint can be stated (`table/footprint.rs`).
pub struct Call<'a> {
    /// The kernel.
    pub kernel: &'a mut Kernel,
    /// All memory of the world.
    pub memory: &'a mut Memory,
    /// Who calls.
    pub tid: Tid,
    /// The caller's process.
    pub pid: Pid,
    /// The syscall's number.
    pub number: u64,
    /// Its arguments, as in `syscall(2)`.
    pub args: [u64; 6],
    /// The wait that has just ended, if this call is being redone.
    ///
    /// The only memory that a call has of its earlier attempt: deadlines are absolute by then,
    /// `progress` is what is done already. A function that ignores it would start its timeout anew
    /// each time it is redone.
    pub resumed: Option<Wait>,
    /// The fault of the UDP datagram that it sends, if one happens.
    pub datagram: Option<DatagramFault>,
}

/// How a syscall ends, other than by returning a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The guest gets an error number.
    Errno(Errno),
    /// Not now.
    Wait(Wait),
    /// It does something to registers, or has no return value.
    Control(Control),
    /// We do not model this: the run ends, and says so by name.
    Unsupported(String),
}

/// What a syscall asks the world to do, because it concerns registers.
///
/// The kernel crate knows neither registers nor executable files. Whatever concerns them is handed
/// to the world as data, which carries it out before anything else runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Control {
    /// A thread was created: copy the caller's registers, 0 as its result, and go on in the caller with `result`.
    Spawned {
        /// The new thread.
        child: Tid,
        /// Its stack pointer; the caller's if absent.
        stack: Option<u64>,
        /// Its thread pointer (`fs` base); the caller's if absent.
        tls: Option<u64>,
        /// What the caller's call returns: the new thread's number.
        result: u64,
        /// The caller already waits for the child first (`vfork(2)`): it gets no result now, its call is redone later.
        wait: Option<Box<Wait>>,
    },
    /// Replace the program (`execve(2)`); the world's loader does it and reports errors as the result.
    Execute(Execute),
    /// The thread has ended; the kernel's books are already in order.
    Ended,
    /// Return from a signal handler (`rt_sigreturn(2)`).
    SignalReturn,
    /// `sigaltstack(2)`, which depends on the stack pointer: [`crate::signal::set_alternate_stack`] gives the result.
    SignalStack {
        /// The address of the new one, or 0.
        new: u64,
        /// Where the old one goes, or 0.
        old: u64,
    },
    /// Set the base of `fs` (`arch_prctl(2)`), result 0.
    SetFsBase(u64),
    /// Set the base of `gs`, result 0.
    SetGsBase(u64),
    /// Write the base of `fs` (or of `gs`) to this address, result 0.
    StoreBase {
        /// `gs` rather than `fs`.
        gs: bool,
        /// Where to.
        address: u64,
    },
}

/// What `execve(2)` was asked to run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Execute {
    /// The file's inode.
    pub inode: Id,
    /// The path as given, for scripts and messages.
    pub path: Vec<u8>,
    /// Arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Environment.
    pub environment: Vec<Vec<u8>>,
}

/// How a syscall went, for the world.
///
/// `Waiting` and `Ended` are no results: the thread's registers stay as they are at the `syscall`
/// instruction's end, `rax` not yet written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It returned this (errors negated, as in `rax`).
    Returned(u64),
    /// The thread waits; its [`Thread::wait`] is set.
    Waiting,
    /// Something for the world to do.
    Control(Control),
    /// We do not model this.
    Unsupported(String),
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<Wait> for Stop {
    fn from(wait: Wait) -> Self {
        Self::Wait(wait)
    }
}

impl From<Control> for Stop {
    fn from(control: Control) -> Self {
        Self::Control(control)
    }
}

impl Call<'_> {
    /// The caller's process.
    #[must_use]
    pub fn process(&self) -> &Process {
        self.kernel.processes.get(&self.pid).expect("a caller has a process")
    }

    /// The caller's process, to change it.
    pub fn process_mut(&mut self) -> &mut Process {
        self.kernel.processes.get_mut(&self.pid).expect("a caller has a process")
    }

    /// The calling thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.kernel.threads.get(&self.tid).expect("a caller is a thread")
    }

    /// The calling thread, to change it.
    pub fn thread_mut(&mut self) -> &mut Thread {
        self.kernel.threads.get_mut(&self.tid).expect("a caller is a thread")
    }

    /// A fresh id for something that the caller creates.
    pub fn fresh_id(&mut self) -> Id {
        self.thread_mut().fresh_id()
    }

    /// An argument as a signed 32-bit number: descriptors, `AT_FDCWD`, `int` parameters.
    #[must_use]
    pub fn int(&self, index: usize) -> i32 {
        self.args[index] as i32
    }

    /// Refuses what is not modelled, by name.
    pub fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::Unsupported(what.into()))
    }

    /// Refuses bits that are set but not modelled: nothing unmodelled passes silently.
    ///
    /// The fail-closed rule at its most frequent place. A flag that Linux itself would refuse must
    /// be checked before, with its errno.
    pub fn only_flags(&self, value: u64, known: u64, what: &str) -> Result<(), Stop> {
        match value & !known {
            0 => Ok(()),
            unknown => self.unsupported(format!("{what} {unknown:#x}")),
        }
    }

    /// Whether the call is being redone for the last time, because a signal handler ends its wait.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.resumed.as_ref().is_some_and(|wait| wait.interrupted)
    }

    /// Whether the call is being redone because its deadline has passed (and nothing else ended the wait).
    #[must_use]
    pub fn timed_out(&self) -> bool {
        let deadline = self.resumed.as_ref().and_then(|wait| wait.deadline);
        deadline.is_some_and(|deadline| self.kernel.clock.now() >= deadline)
    }
}
