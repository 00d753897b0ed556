//! A world: all processes with their memory, registers and kernel, as one value.

use crate::load::{self, LoadError, Request};
use crate::refusal::Refusal;
use kernel::errno::ENOTDIR;
use kernel::host::Host;
use kernel::lifecycle::{self, Start};
use kernel::map::Map;
use kernel::process::Credentials;
use kernel::shared::Shared;
use kernel::{Errno, Kernel, Pid, Tid, files, signal, wait};
use memory::{Limit, Memory};
use x86::Cpu;

/// All processes with their memory, registers and kernel.
pub struct World {
    /// Linux.
    pub kernel: Shared<Kernel>,
    /// All memory.
    pub memory: Memory,
    /// The registers of every thread.
    pub cpus: Map<Tid, Cpu>,
    /// How long things take in virtual time.
    pub pace: Pace,
}

/// How long things take in virtual time, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// One instruction.
    pub instruction: u64,
    /// Entering the kernel.
    pub call: u64,
}

impl Pace {
    /// A processor of one gigahertz.
    pub const USUAL: Self = Self { instruction: 1, call: 100 };
    /// Everything is done at once; only waiting takes time. Then the same state can be met again.
    pub const NONE: Self = Self { instruction: 0, call: 0 };
}

/// What to start in a world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// Program and arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Environment, as `NAME=value`.
    pub environment: Vec<Vec<u8>>,
    /// Working directory.
    pub directory: Vec<u8>,
    /// As whom; the superuser if nothing is said.
    pub user: Option<User>,
}

/// Somebody as whom a program runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Supplementary groups, in order.
    pub groups: Vec<u32>,
}

impl User {
    /// What a process has that logged in as this user.
    fn credentials(&self) -> Credentials {
        Credentials { user: [self.uid; 4], group: [self.gid; 4], groups: self.groups.clone(), capabilities: None }
    }
}

/// Why a program could not be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartError {
    /// No such program in any folder of `PATH`.
    NotFound(Vec<u8>),
    /// It is there, but cannot be run.
    Load(Vec<u8>, LoadError),
    /// The working directory is not there.
    Directory(Vec<u8>, Errno),
}

impl World {
    /// A world without processes.
    #[must_use]
    pub fn new(host: Host, seed: u64, limit: Limit) -> Self {
        Self {
            kernel: Shared::new(Kernel::new(host, seed)),
            memory: Memory::new(limit),
            cpus: Map::default(),
            pace: Pace::USUAL,
        }
    }

    /// Starts a program, as a shell would.
    pub fn start(&mut self, command: &Command) -> Result<Tid, StartError> {
        let name = command.arguments.first().cloned().unwrap_or_default();
        let start = Start { name: String::from_utf8_lossy(base_name(&name)).into_owned() };
        let (pid, tid) = lifecycle::start(&mut self.kernel, &mut self.memory, start);
        self.launch(pid, tid, command).map(|()| tid)
    }

    /// Ends a process with a status, as `wait4(2)` gives it, and starts a command in its place.
    ///
    /// # Errors
    /// If the command cannot be started any more. Then the process has ended.
    pub fn restart(&mut self, pid: Pid, command: &Command, status: i32) -> Result<(), StartError> {
        let restarted = lifecycle::restart(&mut self.kernel, &mut self.memory, pid, status);
        self.forget_ended();
        let Some((pid, tid)) = restarted else { return Ok(()) };
        self.launch(pid, tid, command)
    }

    /// Loads a command into a process without a program.
    fn launch(&mut self, pid: Pid, tid: Tid, command: &Command) -> Result<(), StartError> {
        if let Some(user) = &command.user {
            let process = self.kernel.processes.get_mut(&pid).expect("it is being started");
            process.credentials = Shared::new(user.credentials());
        }
        let name = command.arguments.first().cloned().unwrap_or_default();
        let started = self.prepare(pid, tid, command, &name);
        if started.is_err() {
            lifecycle::forget(&mut self.kernel, &mut self.memory, pid);
        }
        started
    }

    fn prepare(&mut self, pid: Pid, tid: Tid, command: &Command, name: &[u8]) -> Result<(), StartError> {
        let directory = command.directory.clone();
        self.enter_directory(pid, &directory).map_err(|errno| StartError::Directory(directory, errno))?;
        let path = self.find(pid, name, command).ok_or_else(|| StartError::NotFound(name.to_vec()))?;
        let inode = files::resolve(&self.kernel, pid, &path, true)
            .map_err(|errno| StartError::Load(path.clone(), errno.into()))?;
        let execute = kernel::call::Execute {
            inode,
            path: path.clone(),
            arguments: command.arguments.clone(),
            environment: command.environment.clone(),
        };
        self.execute(tid, &execute).map_err(|error| StartError::Load(path, error))
    }

    /// Where a program is: its name if it has a slash, else the first folder of `PATH` that has it.
    fn find(&self, pid: Pid, name: &[u8], command: &Command) -> Option<Vec<u8>> {
        if name.contains(&b'/') {
            return Some(name.to_vec());
        }
        let path = command.environment.iter().find_map(|variable| variable.strip_prefix(b"PATH="));
        let folders = path.unwrap_or(b"/usr/local/bin:/usr/bin:/bin").split(|byte| *byte == b':');
        let candidates = folders.map(|folder| [folder, b"/", name].concat());
        candidates.into_iter().find(|path| self.is_executable(pid, path))
    }

    fn enter_directory(&mut self, pid: Pid, path: &[u8]) -> Result<(), Errno> {
        let inode = files::resolve(&self.kernel, pid, path, true)?;
        if !self.kernel.inode(inode).is_some_and(|inode| inode.is_directory()) {
            return Err(ENOTDIR);
        }
        let process = self.kernel.processes.get_mut(&pid).expect("it is being started");
        process.directories.working = inode;
        process.directories.working_path = path.to_vec();
        Ok(())
    }

    fn is_executable(&self, pid: Pid, path: &[u8]) -> bool {
        let inode = files::resolve(&self.kernel, pid, path, true).ok().and_then(|id| self.kernel.inode(id));
        inode.is_some_and(|inode| inode.kind == files::Kind::Regular && inode.mode & 0o111 != 0)
    }

    /// Replaces the program of a thread's process (`execve(2)`); on an error nothing has changed.
    pub(crate) fn execute(&mut self, tid: Tid, execute: &kernel::call::Execute) -> Result<(), LoadError> {
        let pid = self.kernel.threads.get(&tid).expect("a thread that executes exists").pid;
        let space = lifecycle::fresh_space(&mut self.kernel, tid);
        self.memory.create_space(space);
        let request = Request {
            inode: execute.inode,
            path: &execute.path,
            arguments: execute.arguments.clone(),
            environment: execute.environment.clone(),
            pid,
            random: kernel::system::random_bytes(&mut self.kernel, tid),
        };
        match load::load(&mut self.kernel, &mut self.memory, space, request) {
            Ok(loaded) => {
                self.replace(tid, space, loaded);
                Ok(())
            }
            Err(error) => {
                self.memory.drop_space(space);
                Err(error)
            }
        }
    }

    fn replace(&mut self, tid: Tid, space: memory::SpaceId, loaded: load::Loaded) {
        let tid = lifecycle::executed(&mut self.kernel, &mut self.memory, tid, space, loaded.heap, loaded.image);
        let mut cpu = Cpu { rip: loaded.entry, ..Cpu::default() };
        cpu.gpr[x86::cpu::RSP] = loaded.stack_pointer;
        self.cpus.insert(tid, cpu);
        self.forget_ended();
    }

    /// Drops the registers of threads that have ended.
    pub fn forget_ended(&mut self) {
        let threads = &self.kernel.threads;
        self.cpus.retain(|tid| threads.contains_key(tid));
    }

    /// Whether a thread can go on now.
    #[must_use]
    pub fn can_move(&self, tid: Tid) -> bool {
        let Some(thread) = self.kernel.threads.get(&tid) else { return false };
        let waits = |wait| !wait::is_over(wait, tid, &self.kernel, &self.memory);
        let is_free = signal::may_run(&self.kernel, tid) && !thread.wait.as_ref().is_some_and(waits);
        is_free || signal::is_deliverable(&self.kernel, tid)
    }

    /// What ends the run because we do not model it, told with the thread that met it.
    pub fn refuse(&mut self, tid: Tid, what: String) -> Refusal {
        Refusal::new(self, tid, what)
    }
}

fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
