//! What a syscall touches, beyond the memory of its caller: kernel objects, by name.
//!
//! The reduction asks whether two calls can be exchanged. Too much here costs states; too little would be wrong. So whatever
//! is not listed touches the whole world.
//!
//! - `names.rs`: calls on paths; `descriptors.rs`: on descriptors; `net.rs` and `sockets.rs`: on sockets;
//! - `life.rs`: beginnings and ends; `lists.rs`: calls by what they concern.

mod descriptors;
mod life;
mod lists;
mod names;
mod net;
mod sockets;

use super::touch::{self, Kind, writes};
use explore::graph::Touch;
use kernel::{Kernel, Pid, Tid, table};
use lists::{Changers, LOCAL, LOOKING, OF_DESCRIPTOR, OF_PROCESS, OF_SPACE};
use memory::{Memory, SpaceId};

/// What a syscall touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Nothing that anybody else could notice: it goes on with the instructions around it.
    Nothing,
    /// These objects.
    Objects(Vec<Touch>),
}

/// A call about to be made, as far as this file looks at it.
pub struct Asked<'a> {
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

impl Asked<'_> {
    fn pid(&self) -> Pid {
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
    pub fn reach(&self) -> Reach {
        let Some(row) = table::row(self.number) else { return Reach::Objects(touch::everything()) };
        match row.name {
            name if LOCAL.contains(&name) => Reach::Nothing,
            name if self.only_looks(name) => self.looks_at_itself(name),
            "mmap" => self.map(),
            name if OF_SPACE.contains(&name) => self.own(Kind::Space, self.space().0),
            name if OF_DESCRIPTOR.contains(&name) => self.through(self.args[0] as i32),
            name if names::is_of_names(name) => self.names(name),
            name if OF_PROCESS.contains(&name) && self.is_alone() => Reach::Objects(vec![self.process(true)]),
            // Time that passes ends it, or a signal; both come to everybody.
            "nanosleep" | "clock_nanosleep" => Reach::Objects(vec![self.process(false)]),
            "umask" if self.is_alone() => Reach::Nothing,
            "execve" if self.is_alone() => Reach::Objects(self.execute()),
            "futex" => Reach::Objects(self.futex()),
            "exit_group" => Reach::Objects(self.end()),
            "accept" | "accept4" => Reach::Objects(self.accept()),
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" => Reach::Objects(self.look()),
            "shutdown" => Reach::Objects(self.shutdown()),
            "pipe" | "pipe2" | "eventfd2" | "eventfd" | "socket" | "socketpair" | "epoll_create1" | "epoll_create"
            | "timerfd_create" => self.own(Kind::Descriptors, u64::from(self.pid().0)),
            "dup" | "dup2" | "dup3" => some(self.duplicate(row.name != "dup")),
            "close" => self.close(),
            "bind" | "listen" | "connect" => Reach::Objects(self.name_socket(row.name == "connect")),
            "clone" | "clone3" | "fork" | "vfork" => Reach::Objects(self.birth()),
            "wait4" | "waitid" => Reach::Objects(vec![writes(Kind::Process, u64::from(self.pid().0))]),
            "semop" | "semtimedop" | "semctl" | "msgsnd" | "msgrcv" | "msgctl" => {
                Reach::Objects(vec![writes(Kind::Ipc, self.args[0])])
            }
            "exit" if self.threads() > 1 && !self.is_noticed_end() => {
                let cleared = self.kernel.threads.get(&self.tid).map_or(0, |thread| thread.clear_at_end);
                Reach::Objects(vec![writes(Kind::Space, self.space().0), self.futex_at(cleared)])
            }
            _ => Reach::Objects(touch::everything()),
        }
    }

    /// Whether a call only looks at the caller's own process, where it may also ask about others, or change something.
    fn only_looks(&self, name: &str) -> bool {
        let is_own = |id: u32| [0, u64::from(id)].contains(&self.args[0]);
        let is_known = LOOKING.iter().any(|(known, _)| *known == name);
        is_known
            && match name {
                "getpgid" | "getsid" => is_own(self.pid().0),
                "sched_getaffinity" | "get_robust_list" => is_own(self.tid.0),
                "prlimit64" => is_own(self.pid().0) && self.args[2] == 0,
                _ => true,
            }
    }

    /// What a call looks at that others may change: whoever does writes the process, or everything.
    fn looks_at_itself(&self, name: &str) -> Reach {
        let changers = LOOKING.iter().find(|(known, _)| *known == name).map(|(_, changers)| *changers);
        let parent = self.kernel.processes.get(&self.pid()).map(|process| process.parent);
        let is_constant = self.is_alone()
            && match changers {
                Some(Changers::Threads) => true,
                Some(Changers::Relatives) => parent.is_none_or(|parent| !self.kernel.processes.contains_key(&parent)),
                Some(Changers::Anybody) | None => self.kernel.processes.len() == 1,
            };
        if is_constant { Reach::Nothing } else { Reach::Objects(vec![self.process(false)]) }
    }

    /// The caller's process: its signals, children and rights.
    fn process(&self, write: bool) -> Touch {
        Touch { write, ..writes(Kind::Process, u64::from(self.pid().0)) }
    }

    fn threads(&self) -> usize {
        self.kernel.processes.get(&self.pid()).map_or(0, |process| process.threads.len())
    }

    fn space(&self) -> SpaceId {
        self.kernel.processes.get(&self.pid()).map_or(SpaceId(0), |process| process.space)
    }

    /// Something that only threads of one process share.
    fn own(&self, kind: Kind, number: u64) -> Reach {
        if self.is_alone() { Reach::Nothing } else { Reach::Objects(vec![writes(kind, number)]) }
    }

    fn futex(&self) -> Vec<Touch> {
        let mut touches = vec![self.futex_at(self.args[0])];
        const REQUEUE: [u64; 3] = [3, 4, 5];
        if REQUEUE.contains(&(self.args[1] & 0x7f)) {
            touches.push(self.futex_at(self.args[4]));
        }
        touches
    }

    fn futex_at(&self, address: u64) -> Touch {
        Touch { write: true, ..touch::word(self.memory, self.space(), address, false, Kind::Futex) }
    }
}

/// Whether a call concerns nobody but the calling thread.
pub(super) fn is_local(name: &str) -> bool {
    LOCAL.contains(&name)
}

/// Some objects, or nothing if there are none.
fn some(touches: Vec<Touch>) -> Reach {
    if touches.is_empty() { Reach::Nothing } else { Reach::Objects(touches) }
}

/// What may end a thread's wait: whatever its call touches, and signals.
#[must_use]
pub fn awaited(kernel: &Kernel, memory: &Memory, tid: Tid, was_shared: bool) -> Vec<u64> {
    let Some(thread) = kernel.threads.get(&tid) else { return Vec::new() };
    let mut objects = vec![touch::object(Kind::Process, u64::from(thread.pid.0), 0)];
    if let Some((number, args)) = thread.call {
        let asked = Asked { kernel, memory, tid, number, args, was_shared };
        match asked.reach() {
            Reach::Nothing => objects.push(touch::object(Kind::World, 0, 0)),
            Reach::Objects(touches) => objects.extend(touches.iter().map(|touch| touch.object)),
        }
    }
    objects
}
