//! The processes of an instance, each known by how it came to be: as which child of which process. Numbers and times may differ from
//! instance to instance; creation paths do not.

use super::random::{Sequence, mixed};
use super::time::read_word;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The creation path of the first process.
const FIRST: u64 = 1;

/// A process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Process {
    /// When it was started, which tells it from a later one with the same number.
    started: u64,
    /// What stands for its creation path.
    path: u64,
    /// Children that it has had.
    children: u64,
    /// Children whose number is not known yet: the latest ones.
    unidentified: u64,
    /// Its random bytes.
    random: Sequence,
}

/// The processes of an instance.
pub(super) struct Processes {
    /// By number.
    known: BTreeMap<libc::pid_t, Process>,
    /// Whether `/proc` shows them. If not, all share one sequence of random bytes.
    has_proc: bool,
}

impl Processes {
    /// No process yet.
    pub fn new() -> Self {
        let own = std::process::id().to_string();
        let has_proc = fs::read_link("/proc/self").is_ok_and(|seen| seen.as_os_str() == own.as_str());
        Self { known: BTreeMap::new(), has_proc }
    }

    /// The process of a thread, if that can be seen.
    fn process_of(&self, thread: libc::pid_t) -> Option<libc::pid_t> {
        self.has_proc.then(|| process_of(thread)).flatten()
    }

    /// Notes that a thread is about to make a process, if it is no thread.
    pub fn note_fork(&mut self, question: &libc::seccomp_notif) {
        let thread = question.pid as libc::pid_t;
        let Some(pid) = self.process_of(thread).filter(|_| makes_process(question)) else { return };
        self.identify(pid);
        self.identify_children(pid);
        if let Some(process) = self.known.get_mut(&pid) {
            (process.children, process.unidentified) = (process.children + 1, process.unidentified + 1);
        }
    }

    /// Notes that the process of a thread ends: its children lose their parent.
    pub fn note_exit(&mut self, thread: libc::pid_t) {
        let pid = self.process_of(thread).unwrap_or_default();
        if self.known.get(&pid).is_some_and(|process| process.unidentified > 0) {
            self.identify_children(pid);
        }
    }

    /// The random bytes of the process of a thread.
    pub fn random(&mut self, thread: libc::pid_t) -> &mut Sequence {
        let pid = self.process_of(thread).unwrap_or_default();
        self.identify(pid);
        let process = self.known.entry(pid).or_insert_with(|| Process::new(FIRST, 0));
        &mut process.random
    }

    /// Finds the creation path of a process, unless it is known.
    fn identify(&mut self, pid: libc::pid_t) {
        let Some((parent, started)) = parent_and_start(pid) else { return };
        if self.known.get(&pid).is_none_or(|process| process.started != started) {
            let path = self.path_of_child(parent);
            self.known.insert(pid, Process::new(path, started));
        }
    }

    /// The creation path of a child that was not known: the latest one of its parent. Whose parent has ended is a child of one
    /// that has.
    fn path_of_child(&mut self, parent: libc::pid_t) -> u64 {
        if self.known.is_empty() {
            return FIRST;
        }
        let is_parent = |(pid, process): &(&libc::pid_t, &mut Process)| **pid == parent || !process.is_alive(**pid);
        let mut parents = self.known.iter_mut().filter(|(_, process)| process.unidentified > 0).filter(is_parent);
        parents.next().map_or(0, |(_, process)| process.next_child_path())
    }

    /// Identifies the latest children of a process, before it has another one.
    fn identify_children(&mut self, pid: libc::pid_t) {
        let unknown: Vec<libc::pid_t> =
            children(pid).into_iter().filter(|child| !self.known.contains_key(child)).collect();
        for child in unknown {
            self.identify(child);
        }
        // Those that are gone ask nothing any more.
        if let Some(process) = self.known.get_mut(&pid) {
            process.unidentified = 0;
        }
    }
}

impl Process {
    fn new(path: u64, started: u64) -> Self {
        Self { started, path, children: 0, unidentified: 0, random: Sequence(path) }
    }

    /// Whether it has not ended.
    fn is_alive(&self, pid: libc::pid_t) -> bool {
        parent_and_start(pid).is_some_and(|(_, started)| started == self.started)
    }

    /// The creation path of the first child that is not identified.
    fn next_child_path(&mut self) -> u64 {
        let index = self.children - self.unidentified;
        self.unidentified -= 1;
        mixed(self.path.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index + 1)) | 1 << 63
    }
}

/// Whether a call makes a process, and not a thread.
fn makes_process(question: &libc::seccomp_notif) -> bool {
    let (thread, first) = (question.pid as libc::pid_t, question.data.args[0]);
    let flags = match i64::from(question.data.nr) {
        libc::SYS_clone => Some(first),
        // `struct clone_args` begins with the flags.
        libc::SYS_clone3 => read_word(thread, first).map(|flags| flags as u64),
        _ => Some(0),
    };
    flags.is_some_and(|flags| flags & libc::CLONE_THREAD as u64 == 0)
}

/// The process that a thread belongs to.
fn process_of(thread: libc::pid_t) -> Option<libc::pid_t> {
    let text = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// The parent of a process, and when it was started.
fn parent_and_start(process: libc::pid_t) -> Option<(libc::pid_t, u64)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut words = stat.rsplit_once(") ")?.1.split_whitespace().skip(1);
    Some((words.next()?.parse().ok()?, words.nth(17)?.parse().ok()?))
}

/// The children of a process, in order.
fn children(process: libc::pid_t) -> BTreeSet<libc::pid_t> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}
