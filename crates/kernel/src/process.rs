//! A process: what its threads share.

use crate::descriptor::Descriptors;
use crate::id::{Id, Pid, Tid};
use crate::shared::Shared;
use memory::{ObjectId, SpaceId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A process: what its threads share.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Process {
    /// Its number.
    pub pid: Pid,
    /// Who gets its `SIGCHLD`; 0 for those that Allways started.
    pub parent: Pid,
    /// Process group.
    pub group: Pid,
    /// Session.
    pub session: Pid,
    /// Its address space; shared with the parent between `vfork(2)` and `execve(2)`.
    ///
    /// **Invariant:** a space exists as long as some living process refers to it;
    /// `lifecycle::leave_space` drops it with the last.
    pub space: SpaceId,
    /// Threads that have not ended.
    ///
    /// Empty exactly for zombies.
    pub threads: BTreeSet<Tid>,
    /// Whether it has created a thread since it executes its program: from then on libraries have zones (`mapping/zone.rs`).
    ///
    /// Not whether it has several now: that depends on which of them has ended.
    pub had_threads: bool,
    /// Open files.
    pub descriptors: Descriptors,
    /// Working directory and the rest of what `CLONE_FS` shares.
    pub directories: Directories,
    /// Who it acts as.
    pub credentials: Shared<Credentials>,
    /// Signal actions and signals sent to the process as a whole.
    pub signals: Shared<SignalState>,
    /// Resource limits, by `RLIMIT_*` number: soft and hard.
    pub limits: Shared<[(u64, u64); 16]>,
    /// Whether and how it has ended.
    pub state: State,
    /// What runs in it; shared with its children until they execute.
    pub image: Arc<Image>,
    /// Where the heap begins and ends (`brk(2)`).
    pub heap: (u64, u64),
    /// Files that it maps shared through descriptors that may not write: `mprotect(2)` does not make them writable.
    ///
    /// Linux keeps this as `VM_MAYWRITE` in each mapping; here it is one bit per file and process,
    /// the last `mmap(2)` deciding.
    pub read_only: BTreeSet<ObjectId>,
    /// Its children, zombies included, in the order in which it got them: `wait4(2)` reports the oldest first.
    ///
    /// **Invariant:** a process is in exactly one such list, that of `parent`, from its creation
    /// until it is reaped (none, if the parent is Allways or `init`).
    pub children: Vec<Pid>,
    /// What the parent gets when it ends: `SIGCHLD`, or what `clone(2)` was told; 0 for nothing.
    pub exit_signal: u8,
    /// It borrows its parent's memory and the parent waits (`vfork(2)`).
    pub vforked: bool,
    /// It was continued and `wait4(WCONTINUED)` has not told yet.
    pub continued: bool,
    /// Processor time of threads that have ended, and of children that were reaped.
    pub usage: Usage,
    /// What its ids are made from.
    pub path: Id,
    /// `PR_SET_CHILD_SUBREAPER`, `PR_SET_DUMPABLE`, `PR_SET_PDEATHSIG`, `PR_SET_KEEPCAPS`, `PR_SET_NO_NEW_PRIVS`.
    pub controls: Controls,
    /// The name by which the user knows it: a service's name or the program's.
    pub name: String,
}

/// Working directory, root and mask.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Directories {
    /// Working directory, an inode.
    pub working: Id,
    /// Its path, for `getcwd(2)`, when it was last known.
    pub working_path: Vec<u8>,
    /// `umask(2)`.
    pub mask: u32,
}

/// User and group ids, as in `credentials(7)`.
///
/// All threads of a process share them. On Linux credentials are per thread, and the C library
/// makes `setuid(2)` process-wide by signalling all threads; the kernel here does what the library
/// means.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Credentials {
    /// Real, effective, saved, file-system user.
    pub user: [u32; 4],
    /// Real, effective, saved, file-system group.
    pub group: [u32; 4],
    /// Supplementary groups.
    pub groups: Vec<u32>,
    /// Effective, permitted and inheritable `capabilities(7)`, if other than the user ids imply.
    pub capabilities: Option<[u64; 3]>,
}

/// Processor time that no living thread accounts for, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Usage {
    /// Of its threads that have ended.
    pub ended: u64,
    /// Of its children that were reaped, and theirs.
    pub children: u64,
}

/// Signal actions and pending signals of a process; see [`crate::thread::Thread`] for those of one thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SignalState {
    /// Actions by signal number, 1 to 64 (entry 0 unused).
    pub actions: Vec<Action>,
    /// Signals sent to the whole process and not yet taken by a thread, oldest first.
    pub pending: Vec<SignalInfo>,
}

/// What a process does about a signal (`sigaction(2)`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Action {
    /// `SIG_DFL` (0), `SIG_IGN` (1) or an address.
    pub handler: u64,
    /// `SA_*`.
    pub flags: u64,
    /// `sa_restorer`.
    pub restorer: u64,
    /// Blocked while the handler runs.
    pub mask: u64,
}

/// One signal on its way: the parts of `siginfo_t` that its kind fills.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SignalInfo {
    /// Signal number.
    pub number: u8,
    /// `si_code`.
    pub code: i32,
    /// `si_pid` or, for timers, `si_tid`.
    pub pid: u32,
    /// `si_uid` or `si_overrun`.
    pub uid: u32,
    /// `si_status`.
    pub status: i32,
    /// `si_addr` of a fault.
    pub address: u64,
    /// `si_value`.
    pub value: u64,
}

/// Whether a process lives.
///
/// `Stopped` holds for all threads: there is no stopping of single ones without `ptrace(2)`, which
/// is not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// It has threads.
    Running,
    /// Stopped by a signal, and whether the parent has been told.
    Stopped {
        /// Which signal.
        signal: u8,
        /// Whether `wait4(WUNTRACED)` has reported it.
        reported: bool,
    },
    /// It has ended and waits to be reaped; the status as `wait4(2)` gives it.
    Zombie(i32),
}

/// What runs in a process.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Image {
    /// The executable, which is kept as long as it runs.
    pub inode: Option<Id>,
    /// Its path, for `/proc/self/exe`.
    pub path: Vec<u8>,
    /// Arguments, for `/proc/self/cmdline`.
    pub arguments: Vec<Vec<u8>>,
    /// Environment, for `/proc/self/environ`.
    pub environment: Vec<Vec<u8>>,
    /// The auxiliary vector, for `/proc/self/auxv`.
    pub auxiliary: Vec<u8>,
}

/// Switches of `prctl(2)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Controls {
    /// `PR_SET_PDEATHSIG`.
    pub parent_death_signal: u8,
    /// `PR_SET_DUMPABLE`; programs start with 1.
    pub dumpable: u8,
    /// `PR_SET_CHILD_SUBREAPER`.
    pub subreaper: bool,
    /// `PR_SET_NO_NEW_PRIVS`.
    pub no_new_privileges: bool,
    /// `PR_SET_KEEPCAPS`.
    pub keep_capabilities: bool,
    /// Whether it has executed since `fork(2)`, for `setpgid(2)`.
    pub executed: bool,
    /// `PR_SET_THP_DISABLE`.
    pub small_pages: bool,
    /// `PR_SET_TIMERSLACK`, and what it goes back to: per process here.
    pub timer_slack: (u64, u64),
    /// `personality(2)`.
    pub personality: u32,
    /// Commands of `membarrier(2)` that it has registered for.
    pub barriers: u32,
    /// `/proc/PID/oom_score_adj`, and how low anybody may set it (`proc_pid_oom_score_adj(5)`).
    pub out_of_memory: (i16, i16),
}

impl Process {
    /// Whether it has ended.
    #[must_use]
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, State::Zombie(_))
    }

    /// Whether it was stopped by a signal.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, State::Stopped { .. })
    }
}

impl Default for SignalState {
    /// Every action is the default one and nothing is pending.
    fn default() -> Self {
        Self { actions: vec![Action::default(); 65], pending: Vec::new() }
    }
}

impl Default for Controls {
    fn default() -> Self {
        Self {
            parent_death_signal: 0,
            dumpable: 1,
            subreaper: false,
            no_new_privileges: false,
            keep_capabilities: false,
            executed: false,
            small_pages: false,
            timer_slack: (50_000, 50_000),
            personality: 0,
            barriers: 0,
            out_of_memory: (0, 0),
        }
    }
}

/// Numbers of resource limits (`getrlimit(2)`), as places in [`Process::limits`].
pub mod limit {
    /// Seconds of processor time.
    pub const PROCESSOR: usize = 0;
    /// Length of a file.
    pub const FILE_SIZE: usize = 1;
    /// The heap.
    pub const DATA: usize = 2;
    /// The stack.
    pub const STACK: usize = 3;
    /// Length of a core file.
    pub const CORE: usize = 4;
    /// Threads of a user.
    pub const THREADS: usize = 6;
    /// Descriptors.
    pub const FILES: usize = 7;
    /// Locked memory.
    pub const LOCKED: usize = 8;
    /// Address space.
    pub const SPACE: usize = 9;
    /// Queued signals.
    pub const SIGNALS: usize = 11;
}
