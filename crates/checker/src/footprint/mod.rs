//! What a syscall touches, beyond the memory of its caller: kernel objects, by name.
//!
//! The reduction asks whether two calls can be exchanged. Too much here costs states; too little would be wrong. So whatever
//! is not listed touches the whole world.
//!
//! - `names.rs`: calls on paths; `descriptors.rs`: on descriptors; `net.rs` and `sockets.rs`: on sockets;
//! - `life.rs`: beginnings and ends; `lists.rs`: calls by what they concern.

pub mod access;
mod descriptors;
mod life;
mod lists;
pub mod mappings;
pub mod memory_access;
mod names;
mod net;
mod sockets;

use self::access::{Kind, writes};
use explore::graph::Access;
use kernel::{Kernel, Pid, Tid, table};
use lists::{Changers, LOCAL, LOOKING, MAKING, OF_DESCRIPTOR, OF_IPC, OF_PROCESS, OF_SPACE, POLLING, changers};
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
    pub was_shared: bool,
}

/// Calls, and what each of them touches.
type Row = (&'static [&'static str], fn(&PendingCall<'_>, &str) -> Footprint);

/// Whatever is not here touches the whole world.
const ROWS: &[Row] = &[
    (LOCAL, |_, _| Footprint::Nothing),
    (LOOKING, |asked, name| asked.looks(name)),
    (&["mmap"], |asked, _| asked.map()),
    (OF_SPACE, |asked, _| asked.own(Kind::Space, asked.space().0)),
    (OF_DESCRIPTOR, |asked, _| asked.through(asked.args[0] as i32)),
    (names::CALLS, |asked, name| asked.names(name)),
    (OF_PROCESS, |asked, _| asked.if_alone(|asked| Footprint::Objects(vec![asked.process(true)]))),
    // Time that passes ends it, or a signal; both come to everybody.
    (&["nanosleep", "clock_nanosleep"], |asked, _| Footprint::Objects(vec![asked.process(false)])),
    (&["umask"], |asked, _| asked.if_alone(|_| Footprint::Nothing)),
    (&["execve"], |asked, _| asked.if_alone(|asked| Footprint::Objects(asked.execute()))),
    (&["futex"], |asked, _| Footprint::Objects(asked.futex())),
    (&["exit_group"], |asked, _| Footprint::Objects(asked.end())),
    (&["exit"], |asked, _| asked.end_thread()),
    (&["accept", "accept4"], |asked, _| Footprint::Objects(asked.accept())),
    (POLLING, |asked, _| Footprint::Objects(asked.look())),
    (&["shutdown"], |asked, _| Footprint::Objects(asked.shutdown())),
    (MAKING, |asked, _| asked.own(Kind::Descriptors, u64::from(asked.pid().0))),
    (&["dup", "dup2", "dup3"], |asked, name| some(asked.duplicate(name != "dup"))),
    (&["close"], |asked, _| asked.close()),
    (&["bind", "listen", "connect"], |asked, name| Footprint::Objects(asked.name_socket(name == "connect"))),
    (&["clone", "clone3", "fork", "vfork"], |asked, _| Footprint::Objects(asked.birth())),
    (&["wait4", "waitid"], |asked, _| Footprint::Objects(vec![asked.process(true)])),
    (OF_IPC, |asked, _| Footprint::Objects(vec![writes(Kind::Ipc, asked.args[0])])),
];

/// Calls that do not always touch the whole world.
pub fn listed() -> impl Iterator<Item = &'static str> {
    ROWS.iter().flat_map(|(names, _)| names.iter().copied())
}

fn everything() -> Footprint {
    Footprint::Objects(access::everything())
}

impl PendingCall<'_> {
    pub(crate) fn pid(&self) -> Pid {
        self.kernel.threads.get(&self.tid).expect("the caller").pid
    }

    /// Whether nobody shares the caller's memory and descriptors.
    fn is_alone(&self) -> bool {
        if self.was_shared {
            return false;
        }
        let pid = self.pid();
        let space = self.kernel.processes.get(&pid).map(|process| process.space);
        let sharing = self.kernel.processes.values().filter(|process| Some(process.space) == space);
        sharing.map(|process| process.threads.len()).sum::<usize>() <= 1
    }

    /// What the call touches.
    #[must_use]
    pub fn reach(&self) -> Footprint {
        let name = table::row(self.number).map_or("", |row| row.name);
        let listed = ROWS.iter().find(|(names, _)| names.contains(&name));
        listed.map_or_else(everything, |(_, reach)| reach(self, name))
    }

    /// What a call touches if nobody shares the caller's memory and descriptors.
    fn if_alone(&self, reach: impl Fn(&Self) -> Footprint) -> Footprint {
        if self.is_alone() { reach(self) } else { everything() }
    }

    /// What a call touches that only looks at the caller's own process, if it does not ask about others or change something.
    fn looks(&self, name: &str) -> Footprint {
        let is_own = |id: u32| [0, u64::from(id)].contains(&self.args[0]);
        let only_looks = match name {
            "getpgid" | "getsid" => is_own(self.pid().0),
            "sched_getaffinity" | "get_robust_list" => is_own(self.tid.0),
            "prlimit64" => is_own(self.pid().0) && self.args[2] == 0,
            _ => true,
        };
        match only_looks {
            true if self.is_constant(name) => Footprint::Nothing,
            true => Footprint::Objects(vec![self.process(false)]),
            false => everything(),
        }
    }

    /// Whether nobody can change what a call tells of the caller's process: whoever does writes the process, or everything.
    fn is_constant(&self, name: &str) -> bool {
        let parent = self.kernel.processes.get(&self.pid()).map(|process| process.parent);
        let has_parent = || parent.is_some_and(|parent| self.kernel.processes.contains_key(&parent));
        self.is_alone()
            && match changers(name) {
                Changers::Threads => true,
                Changers::Relatives => !has_parent(),
                Changers::Anybody => self.kernel.processes.len() == 1,
            }
    }

    /// The end of a thread that others do not notice, unless they wait for it.
    fn end_thread(&self) -> Footprint {
        if self.threads() <= 1 || self.is_noticed_end() {
            return everything();
        }
        let cleared = self.kernel.threads.get(&self.tid).map_or(0, |thread| thread.clear_at_end);
        Footprint::Objects(vec![writes(Kind::Space, self.space().0), self.futex_at(cleared)])
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

/// Whether a call concerns nobody but the calling thread.
pub(crate) fn is_local(name: &str) -> bool {
    LOCAL.contains(&name)
}

/// Some objects, or nothing if there are none.
fn some(accesses: Vec<Access>) -> Footprint {
    if accesses.is_empty() { Footprint::Nothing } else { Footprint::Objects(accesses) }
}

/// What may end a thread's wait: whatever its call touches, and signals.
#[must_use]
pub fn awaited(kernel: &Kernel, memory: &Memory, tid: Tid, was_shared: bool) -> Vec<u64> {
    let Some(thread) = kernel.threads.get(&tid) else { return Vec::new() };
    let mut objects = vec![access::object(Kind::Process, u64::from(thread.pid.0), 0)];
    if let Some((number, args)) = thread.call {
        let asked = PendingCall { kernel, memory, tid, number, args, was_shared };
        match asked.reach() {
            Footprint::Nothing => objects.push(access::object(Kind::World, 0, 0)),
            Footprint::Objects(accesses) => objects.extend(accesses.iter().map(|access| access.object)),
        }
    }
    objects
}
