//! The first processes: what Allways starts by itself.

use super::end::end_process;
use super::number;
use crate::descriptor::{Console, Description, Descriptor, Descriptors, File};
use crate::id::{Id, Pid, Tid};
use crate::process::{Controls, Directories, Image, Process, State, Usage, limit};
use crate::shared::Shared;
use crate::signal::number::SIGCHLD;
use crate::thread::{Processor, Thread};
use crate::{Kernel, files};
use memory::{Memory, SpaceId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// No limit (`RLIM_INFINITY`).
pub const INFINITE: u64 = u64::MAX;

/// `O_RDWR`.
const READ_WRITE: u32 = 2;

/// The last part of the creation path of a process that was started again.
const RESTARTED: u64 = u64::MAX;

/// What a first process is like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// The name by which the user knows it.
    pub name: String,
}

/// Creates a process without a program: an empty address space, one thread, the standard streams as descriptors 0, 1, 2.
///
/// It is the superuser's and works in `/`. The loader fills a space and then reports to [`super::executed`].
///
/// Session 0 and parent 0 do not exist in the guest's world: they stand for the user's shell, which
/// waits and never moves.
pub fn start(kernel: &mut Kernel, memory: &mut Memory, start: Start) -> (Pid, Tid) {
    let path = Id::named("process").child(kernel.processes.len() as u64);
    let number = number::free(kernel, path);
    start_at(kernel, memory, start, (path, number))
}

/// Ends a process with a status, as `wait4(2)` gives it, and creates another one in its place: with its number, as nobody else's
/// child, without a program.
pub fn restart(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, status: i32) -> Option<(Pid, Tid)> {
    let process = kernel.processes.get(&pid)?;
    let (path, start) = (process.path.child(RESTARTED), Start { name: process.name.clone() });
    end_process(kernel, memory, pid, status);
    kernel.processes.remove(&pid);
    Some(start_at(kernel, memory, start, (path, pid.0)))
}

fn start_at(kernel: &mut Kernel, memory: &mut Memory, start: Start, (path, number): (Id, u32)) -> (Pid, Tid) {
    let (pid, tid) = (Pid(number), Tid(number));
    let space = SpaceId(path.0);
    memory.create_space(space);
    let descriptors = standard_streams(kernel, path);
    let directories = Directories { working: files::base::root(), working_path: b"/".to_vec(), mask: 0o022 };
    let process = Process {
        pid,
        parent: Pid(0),
        group: pid,
        session: Pid(0),
        space,
        threads: [tid].into(),
        had_threads: false,
        descriptors,
        directories,
        credentials: Shared::default(),
        signals: Shared::default(),
        limits: Shared::new(limits()),
        state: State::Running,
        image: Arc::new(Image::default()),
        heap: (0, 0),
        read_only: BTreeSet::new(),
        children: Vec::new(),
        exit_signal: SIGCHLD,
        vforked: false,
        continued: false,
        usage: Usage::default(),
        path,
        controls: Controls::default(),
        name: start.name,
    };
    kernel.processes.insert(pid, process);
    kernel.threads.insert(tid, first_thread(kernel, pid, tid, path));
    (pid, tid)
}

fn first_thread(kernel: &Kernel, pid: Pid, tid: Tid, path: Id) -> Thread {
    Thread {
        tid,
        pid,
        name: Vec::new(),
        wait: None,
        call: None,
        blocked: 0,
        saved_mask: None,
        pending: Vec::new(),
        alternate_stack: (0, 0, crate::signal::SS_DISABLE),
        clear_at_end: 0,
        robust_list: (0, 0),
        // Ids 1 to 3 are the standard streams.
        born: 3,
        path,
        randoms: 0,
        processor: Processor { began: kernel.clock.now(), ..Processor::default() },
    }
}

/// Descriptors 0, 1 and 2; each is a description of its own, as if each were redirected.
fn standard_streams(kernel: &mut Kernel, path: Id) -> Descriptors {
    let mut descriptors = Descriptors::default();
    for (fd, stream) in [Console::Input, Console::Output, Console::Error].into_iter().enumerate() {
        let id = path.child(1 + fd as u64);
        let description = Description {
            file: File::Console(stream),
            offset: 0,
            flags: READ_WRITE,
            references: 1,
            was_shared: false,
            path: b"/dev/console".to_vec(),
            owner: 0,
        };
        kernel.descriptions.insert(id, description);
        descriptors.set(fd as i32, Descriptor { description: id, close_on_exec: false });
    }
    descriptors
}

/// Limits of a fresh login, by `RLIMIT_*` number (`getrlimit(2)`).
fn limits() -> [(u64, u64); 16] {
    let mut limits = [(INFINITE, INFINITE); 16];
    limits[limit::STACK].0 = 8 << 20;
    limits[limit::CORE].0 = 0;
    limits[limit::THREADS] = (31_000, 31_000);
    limits[limit::FILES] = (1024, 1_048_576);
    limits[limit::LOCKED] = (8 << 20, 8 << 20);
    limits[limit::SIGNALS] = (31_000, 31_000);
    limits[12] = (819_200, 819_200); // RLIMIT_MSGQUEUE
    limits[13] = (0, 0); // RLIMIT_NICE
    limits[14] = (0, 0); // RLIMIT_RTPRIO
    limits
}
