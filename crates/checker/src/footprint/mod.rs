//! What a syscall touches, beyond the memory of its caller: kernel objects.
//!
//! The reduction asks whether two calls can be exchanged. Too much here costs states; too little would be wrong. Each row of
//! the kernel's table has a rule; here the rule is applied to the arguments, which gives accesses to objects.
//!
//! - `names.rs`: calls on paths; `descriptors.rs`: on descriptors; `net.rs` and `sockets.rs`: on sockets;
//! - `executables.rs`: files that are executed; `handlers.rs`: handlers of signals and what they interrupt;
//! - `process.rs`: on attributes of a process; `life.rs`: beginnings and ends;
//! - `awaited.rs`: what a waiting call waits for.
//!
//! **Invariant:** the footprint is computed *before* the call, from its arguments and the state,
//! and covers what the call will do in any state that the same thread can reach without other
//! threads' conflicting steps. `crates/checker/tests/all/footprint` makes each pair of calls in
//! both orders and compares.

pub mod access;
pub mod awaited;
mod descriptors;
mod executables;
mod handlers;
mod life;
pub mod mappings;
pub mod memory_access;
mod names;
mod net;
mod process;
pub(crate) mod recent;
pub(crate) mod sockets;
mod zones;

use self::access::{Kind, writes};
use explore::graph::Access;
use kernel::table::FootprintRule;
use kernel::table::footprint::FileUse;
use kernel::{Kernel, Pid, Tid, lifecycle, table};
use memory::{Memory, SpaceId};

/// What a syscall touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Footprint {
    /// Nothing that anybody else could notice: it goes on with the instructions around it.
    Nothing,
    /// These objects.
    Objects(Vec<Access>),
}

/// A call about to be made, as far as this file looks at it.
///
/// Reads memory by `peek`, which leaves no trace in the access log: looking ahead is no access of
/// the program.
pub struct PendingCall<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// All memory.
    pub memory: &'a Memory,
    /// Who calls.
    pub tid: Tid,
    /// The call's number.
    pub number: u64,
    /// Its arguments.
    pub args: [u64; 6],
    /// Whether other threads have used the caller's memory and descriptors, and may have done so later.
    ///
    /// A thread that ended without being joined has left no happens-before edge: what it did may
    /// still be unordered with what comes now.
    pub was_shared: bool,
}

/// Calls that do not always touch the whole world.
pub fn listed() -> impl Iterator<Item = &'static str> {
    table::rows().filter(|row| row.footprint != FootprintRule::Everything).map(|row| row.name)
}

fn everything() -> Footprint {
    Footprint::Objects(access::everything())
}

impl PendingCall<'_> {
    pub(crate) fn pid(&self) -> Pid {
        self.kernel.threads.get(&self.tid).expect("the caller").pid
    }

    /// Whether nobody shares the caller's memory and descriptors. Who waits until the caller has left its memory
    /// (`vfork(2)`) cannot use it.
    fn is_alone(&self) -> bool {
        if self.was_shared {
            return false;
        }
        let pid = self.pid();
        let space = self.kernel.processes.get(&pid).map(|process| process.space);
        let sharing = self.kernel.processes.values().filter(|process| Some(process.space) == space);
        let threads = sharing.flat_map(|process| &process.threads);
        threads.filter(|tid| !lifecycle::is_suspended(self.kernel, **tid)).count() <= 1
    }

    /// The rule of the call's row.
    fn rule(&self) -> FootprintRule {
        table::footprint(self.number)
    }

    /// What the call touches.
    #[must_use]
    pub fn reach(&self) -> Footprint {
        let mut reach = self.reach_but_disk();
        if self.kernel.files.disk.is_some()
            && let Footprint::Objects(accesses) = &mut reach
            && (makes_durable(self.rule()) || accesses.iter().any(changes_files))
        {
            accesses.push(Access { object: access::disk(), write: true, plain: false });
        }
        reach
    }

    /// What the call touches, but for what is not durable.
    fn reach_but_disk(&self) -> Footprint {
        use FootprintRule as Rule;
        match self.rule() {
            // It goes on with what the descriptor referred to, and may be the last that does.
            _ if self.kernel.is_stale(self.tid) => everything(),
            Rule::Everything => everything(),
            Rule::Local | Rule::BlocksSignals | Rule::ReadsClock => Footprint::Nothing,
            Rule::SharedByThreads => self.if_alone(|_| Footprint::Nothing),
            Rule::Asks(changers, subject) => self.asks(changers, subject),
            Rule::ChangesProcess => self.if_alone(|call| objects([call.process(true)])),
            // Time that passes ends it, or a signal; both come to everybody.
            Rule::Sleeps => objects([self.process(false)]),
            Rule::ChangesMappings => some(self.remap()),
            Rule::MapsFile => self.map(),
            Rule::Through(file, socket) => some(self.through(file, socket)),
            Rule::Names(usage) => self.names(usage),
            Rule::MakesDescriptors => self.own(Kind::Descriptors, u64::from(self.pid().0)),
            Rule::Duplicates => some(self.duplicate(false)),
            Rule::Replaces => some(self.duplicate(true)),
            Rule::Closes => self.close(),
            Rule::Polls => objects(self.look()),
            Rule::Accepts => objects(self.accept()),
            Rule::ShutsDown => objects(self.shutdown()),
            Rule::NamesSocket => objects(self.name_socket(false)),
            Rule::Connects => objects(self.name_socket(true)),
            Rule::Futex => objects(self.futex()),
            Rule::Forks(flags) => objects(self.birth(flags)),
            Rule::Executes => self.if_alone(|call| objects(call.execute())),
            Rule::EndsThread => self.end_thread(),
            Rule::EndsProcess => objects(self.end()),
            Rule::Reaps => objects([self.process(true)]),
            Rule::SystemV => objects([writes(Kind::Ipc, self.args[0])]),
        }
    }

    /// What a call touches if nobody shares the caller's memory and descriptors.
    fn if_alone(&self, reach: impl Fn(&Self) -> Footprint) -> Footprint {
        if self.is_alone() { reach(self) } else { everything() }
    }

    /// The caller's process: its signals, children and rights.
    fn process(&self, write: bool) -> Access {
        Access { write, ..writes(Kind::Process, u64::from(self.pid().0)) }
    }

    fn threads(&self) -> usize {
        self.kernel.processes.get(&self.pid()).map_or(0, |process| process.threads.len())
    }

    fn space(&self) -> SpaceId {
        self.kernel.processes.get(&self.pid()).map_or(SpaceId(0), |process| process.space)
    }

    /// Something that only threads of one process share.
    fn own(&self, kind: Kind, number: u64) -> Footprint {
        if self.is_alone() { Footprint::Nothing } else { Footprint::Objects(vec![writes(kind, number)]) }
    }

    fn futex(&self) -> Vec<Access> {
        const REQUEUE: [u64; 3] = [3, 4, 5];
        // `FUTEX_LOCK_PI` and its kin: whether the owner still lives matters.
        const INHERITING: [u64; 6] = [6, 7, 8, 11, 12, 13];
        let operation = self.args[1] & 0x7f;
        if INHERITING.contains(&operation) {
            return access::everything();
        }
        let mut accesses = vec![self.futex_at(self.args[0])];
        if REQUEUE.contains(&operation) {
            accesses.push(self.futex_at(self.args[4]));
        }
        accesses
    }

    fn futex_at(&self, address: u64) -> Access {
        Access { write: true, ..access::word(self.memory, self.space(), address, false, Kind::Futex) }
    }
}

/// Whether a call makes a file durable, without changing it.
fn makes_durable(rule: FootprintRule) -> bool {
    matches!(rule, FootprintRule::Through(FileUse::Sync, _))
}

/// Whether an access may change a file, or a name.
fn changes_files(access: &Access) -> bool {
    access::changes(access) && matches!(access::kind(access.object), Kind::Names | Kind::Inode)
}

/// These objects.
fn objects(accesses: impl Into<Vec<Access>>) -> Footprint {
    Footprint::Objects(accesses.into())
}

/// Some objects, or nothing if there are none.
fn some(accesses: Vec<Access>) -> Footprint {
    if accesses.is_empty() { Footprint::Nothing } else { Footprint::Objects(accesses) }
}
