//! The kernel's whole state.
//!
//! **Invariant:** everything that a future depends on is in this struct, in [`memory::Memory`] or
//! in registers; it is `Clone + Eq + Hash` without interior mutability (memoized hashes aside,
//! which follow from the values). A clone is a snapshot: maps share their entries until one side
//! changes them, so cloning costs a few reference counts, and hashing what changed since.
//!
//! **Iteration order** is by id everywhere. Ids are made from creation paths ([`crate::Id`]), not
//! from counters, so that two threads which create things at the same time create the same things
//! in either order: independent steps commute bit for bit, which the reduction relies upon.

mod attempt;
mod conditions;

use crate::clock::Clock;
use crate::descriptor::{Console, Description};
use crate::event::state::Events;
use crate::files::state::Files;
use crate::futex::queue::Futexes;
use crate::host::Host;
use crate::id::{Id, Pid, Tid};
use crate::ipc::state::Ipc;
use crate::map::Map;
use crate::net::state::Net;
use crate::pipe::ring::Pipes;
use crate::process::Process;
use crate::system::machine::System;
use crate::terminal::state::Terminals;
use crate::thread::Thread;
use crate::time::state::Timers;

pub use conditions::is_over;

/// Linux as a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    /// Processes, zombies included.
    pub processes: Map<Pid, Process>,
    /// Threads that have not ended.
    pub threads: Map<Tid, Thread>,
    /// Open file descriptions.
    pub descriptions: Map<Id, Description>,
    /// Virtual time.
    pub clock: Clock,
    /// The file system.
    pub files: Files,
    /// Pipes and FIFOs.
    pub pipes: Pipes,
    /// Sockets.
    pub net: Net,
    /// Event counters, epoll sets and their kin.
    pub events: Events,
    /// System V and POSIX communication.
    pub ipc: Ipc,
    /// Terminals.
    pub terminals: Terminals,
    /// Threads that wait in `futex(2)`, in order.
    pub futexes: Futexes,
    /// Armed timers.
    pub timers: Timers,
    /// What the machine is called.
    pub system: System,
    /// What the user gave as standard input, and how much of it was read.
    pub input: Input,
    /// What was written to the standard streams and not yet taken by the world.
    ///
    /// Emptied by the world after every call, so it never tells states apart.
    pub output: Vec<Output>,
    /// Processes that have ended, and of which the world has not been told yet.
    ///
    /// Emptied likewise. Each end of a process is told here, zombie or not (decision 14,
    /// "beginnings and ends").
    pub ended: Vec<Ended>,
    /// Seed of everything random.
    ///
    /// `getrandom(2)` and its kin give a function of this, of the thread's creation path and of how
    /// often it asked; so what one thread draws does not depend on when others do.
    pub seed: u64,
    /// Files of the host.
    pub host: Host,
}

/// Standard input of the world.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Input {
    /// All of it.
    pub bytes: std::sync::Arc<[u8]>,
    /// How much was read.
    pub position: usize,
}

/// Bytes that a guest wrote to a standard stream.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Output {
    /// Who wrote.
    pub pid: Pid,
    /// Where to.
    pub stream: Console,
    /// What.
    pub bytes: Vec<u8>,
}

/// A process that has ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ended {
    /// Which one.
    pub pid: Pid,
    /// Its name.
    pub name: String,
    /// How, as `wait4(2)` tells it.
    pub status: i32,
}

impl Kernel {
    /// A kernel without processes.
    #[must_use]
    pub fn new(host: Host, seed: u64) -> Self {
        Self {
            processes: Map::default(),
            threads: Map::default(),
            descriptions: Map::default(),
            clock: Clock::default(),
            files: Files::default(),
            pipes: Pipes::default(),
            net: Net::default(),
            events: Events::default(),
            ipc: Ipc::default(),
            terminals: Terminals::default(),
            futexes: Futexes::default(),
            timers: Timers::default(),
            system: System::default(),
            input: Input::default(),
            output: Vec::new(),
            ended: Vec::new(),
            seed,
            host,
        }
    }
}
