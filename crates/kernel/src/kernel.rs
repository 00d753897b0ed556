//! The kernel's whole state, and how a call goes through it.

use crate::call::{Call, Control, Deviation, Outcome, Stop};
use crate::clock::Clock;
use crate::descriptor::{self, Console, Description};
use crate::host::Host;
use crate::id::{Id, Pid, Tid};
use crate::map::Map;
use crate::wait::{Condition, Wait};
use crate::{
    Process, Thread, event, files, futex, ipc, lifecycle, net, pipe, short_read, signal, system, table, terminal, time,
};
use memory::Memory;

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
    pub files: files::Files,
    /// Pipes and FIFOs.
    pub pipes: pipe::Pipes,
    /// Sockets.
    pub net: net::Net,
    /// Event counters, epoll sets and their kin.
    pub events: event::Events,
    /// System V and POSIX communication.
    pub ipc: ipc::Ipc,
    /// Terminals.
    pub terminals: terminal::Terminals,
    /// Threads that wait in `futex(2)`, in order.
    pub futexes: futex::Futexes,
    /// Armed timers.
    pub timers: time::Timers,
    /// What the machine is called.
    pub system: system::System,
    /// What the user gave as standard input, and how much of it was read.
    pub input: Input,
    /// What was written to the standard streams and not yet taken by the world.
    pub output: Vec<Output>,
    /// Processes that have ended, and of which the world has not been told yet.
    pub ended: Vec<Ended>,
    /// Seed of everything random.
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
            files: files::Files::default(),
            pipes: pipe::Pipes::default(),
            net: net::Net::default(),
            events: event::Events::default(),
            ipc: ipc::Ipc::default(),
            terminals: terminal::Terminals::default(),
            futexes: futex::Futexes::default(),
            timers: time::Timers::default(),
            system: system::System::default(),
            input: Input::default(),
            output: Vec::new(),
            ended: Vec::new(),
            seed,
            host,
        }
    }

    /// Carries out a syscall of a thread.
    pub fn call(&mut self, memory: &mut Memory, tid: Tid, number: u64, args: [u64; 6]) -> Outcome {
        self.call_as(memory, tid, (number, args), Deviation::default())
    }

    /// Carries out a syscall of a thread, differently than usual.
    pub fn call_as(&mut self, memory: &mut Memory, tid: Tid, call: (u64, [u64; 6]), deviation: Deviation) -> Outcome {
        self.attempt(memory, tid, call, deviation, None)
    }

    /// Carries out again the call that a thread waits in.
    pub fn redo(&mut self, memory: &mut Memory, tid: Tid) -> Outcome {
        self.redo_as(memory, tid, Deviation::default())
    }

    /// Carries out again the call that a thread waits in, differently than usual.
    pub fn redo_as(&mut self, memory: &mut Memory, tid: Tid, deviation: Deviation) -> Outcome {
        let now = self.clock.now();
        let thread = self.threads.get_mut(&tid).expect("a waiting thread exists");
        let call = thread.call.expect("a waiting thread is in a call");
        let resumed = thread.stop_waiting(now);
        self.attempt(memory, tid, call, deviation, resumed)
    }

    fn attempt(
        &mut self,
        memory: &mut Memory,
        tid: Tid,
        (number, args): (u64, [u64; 6]),
        deviation: Deviation,
        resumed: Option<Wait>,
    ) -> Outcome {
        let Some(row) = table::row(number) else {
            return Outcome::Unsupported(format!("syscall {number}"));
        };
        let pid = self.threads.get(&tid).expect("a caller is a thread").pid;
        let mut asked = args;
        if let Some(most) = deviation.most.filter(|_| short_read::is_read(number, &args)) {
            asked[2] = asked[2].min(most);
        }
        let mut call = Call { kernel: self, memory, tid, pid, number, args: asked, resumed };
        let outcome = match (row.function)(&mut call) {
            Ok(value) => Outcome::Returned(value),
            Err(Stop::Errno(errno)) => Outcome::Returned(errno.result()),
            Err(Stop::Control(control)) => return self.control(tid, number, args, control),
            Err(Stop::Unsupported(what)) => Outcome::Unsupported(format!("{}: {what}", row.name)),
            Err(Stop::Wait(wait)) => {
                self.wait(tid, wait, number, args);
                return Outcome::Waiting;
            }
        };
        signal::restore_mask(self, tid);
        outcome
    }

    /// A caller of `vfork(2)` waits from the very moment that its child exists.
    fn control(&mut self, tid: Tid, number: u64, args: [u64; 6], control: Control) -> Outcome {
        if let Control::Spawned { wait: Some(wait), .. } = &control {
            self.wait(tid, wait.clone(), number, args);
        }
        Outcome::Control(control)
    }

    /// Makes a thread wait in a call.
    pub fn wait(&mut self, tid: Tid, wait: Wait, number: u64, args: [u64; 6]) {
        let thread = self.threads.get_mut(&tid).expect("a caller is a thread");
        thread.wait = Some(wait);
        thread.call = Some((number, args));
        thread.processor.waits_since = self.clock.now();
    }

    /// Whether a condition holds for a waiting thread.
    #[must_use]
    pub fn holds(&self, condition: &Condition, tid: Tid, memory: &Memory) -> bool {
        match condition {
            Condition::Poll(description, events) => event::ready(self, memory, tid, *description) & events != 0,
            Condition::Woken(_) => false,
            Condition::Child(request) => lifecycle::has_answer(self, tid, request),
            Condition::Vforked(pid) => lifecycle::has_left_shared_space(self, *pid),
            Condition::Lock(request) => files::may_lock(self, request),
            Condition::Semaphores(request) => ipc::may_operate(self, request),
            Condition::Queue(request) => ipc::may_pass(self, request),
            Condition::Socket(request) => net::holds(self, *request),
            Condition::Terminal(request) => terminal::holds(self, *request),
            Condition::CounterRoom(id, added) => event::counter::has_room(self, *id, *added),
            Condition::Signal(set) => signal::has_pending(self, tid, *set),
        }
    }

    /// The `poll(2)` events of a description; `POLLNVAL` if it is gone.
    #[must_use]
    pub fn poll(&self, memory: &Memory, description: Id) -> u16 {
        let Some(open) = self.descriptions.get(&description) else {
            return descriptor::POLLNVAL;
        };
        (descriptor::operations(open.file).poll)(self, memory, description)
    }
}
