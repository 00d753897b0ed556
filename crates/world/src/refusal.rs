//! "We do not model this": an answer with a name, a process and a call stack.
//!
//! The third kind of ending beside "your program is wrong" and "it ended" (as miri keeps them
//! apart): no verdict, but a name, a process, a call stack and the call with its arguments, so that
//! somebody can add what is missing.

use crate::strace;
use crate::world::World;
use kernel::{Tid, table};
use std::fmt;
use x86::cpu::{R8, R9, R10, RAX, RDI, RDX, RSI};

/// Why a step was not taken to its end.
///
/// Only `Unmodelled` asks for work on the model; the others are limits, bugs of ours, or the host's
/// doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Something is not modelled.
    Unmodelled,
    /// The guests want more memory than they may have.
    Memory,
    /// A file of the host has become another one.
    Changed,
    /// A memoized or inherited result is not what comes out: a bug of ours.
    Differs,
    /// A program outside of the world does not answer, or not the same each time.
    Peer,
    /// The budget of a search is spent. Nobody is told: whoever asked for the step knows.
    Spent,
}

/// One call on a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The address: of the instruction, or of the one that a call returns to.
    pub address: u64,
    /// The file that is mapped there, and the place in it.
    pub place: Option<(String, u64)>,
    /// The function and how far into it.
    pub function: Option<(String, u64)>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)?;
        if let Some((name, offset)) = &self.function {
            write!(f, "  {name}+{offset:#x}")?;
        }
        match &self.place {
            Some((file, _)) if self.function.is_some() => write!(f, "  ({file})"),
            Some((file, offset)) => write!(f, "  {file}+{offset:#x}"),
            None => Ok(()),
        }
    }
}

/// Something that a guest asked for and that is not modelled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Why.
    pub cause: Cause,
    /// What: a syscall with the flag or request that was met, an instruction, a limit.
    pub what: String,
    /// The call that it was met in, with its arguments.
    pub call: Option<String>,
    /// The process, by name.
    pub process: String,
    /// The thread that met it.
    pub tid: Tid,
    /// Where: innermost function first. Whoever knows the guest's symbols fills it in.
    pub frames: Vec<Frame>,
}

impl Refusal {
    /// Something that is not modelled.
    #[must_use]
    pub fn new(world: &World, tid: Tid, what: String) -> Self {
        let pid = world.kernel.threads.get(&tid).map(|thread| thread.pid);
        let process = pid.and_then(|pid| world.kernel.processes.get(&pid));
        let process = process.map_or_else(String::new, |process| process.name.clone());
        Self { cause: Cause::Unmodelled, what, call: None, process, tid, frames: Vec::new() }
    }

    /// Something met while a thread is in a call, whose number and arguments are still in its registers.
    #[must_use]
    pub fn in_call(world: &mut World, tid: Tid, what: String) -> Self {
        Self { call: call_text(world, tid), ..Self::new(world, tid, what) }
    }
}

fn call_text(world: &mut World, tid: Tid) -> Option<String> {
    let gpr = &world.cpus.get(&tid)?.gpr;
    let (number, args) = (gpr[RAX], [RDI, RSI, RDX, R10, R8, R9].map(|register| gpr[register]));
    let space = world.space(tid);
    Some(match table::row(number) {
        Some(row) => strace::begin(row, &args, &mut world.memory, space).call(),
        None => format!("{}({})", call_name(number), args.map(|arg| format!("{arg:#x}")).join(", ")),
    })
}

/// The name of a call, whether or not it is modelled.
#[must_use]
pub fn call_name(number: u64) -> String {
    let of_row = table::row(number).map(|row| row.name);
    let known = of_row.or_else(|| NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name));
    known.map_or_else(|| format!("syscall_{number}"), str::to_owned)
}

/// Calls of Linux without a row, from `arch/x86/entry/syscalls/syscall_64.tbl`.
const NAMES: &[(u64, &str)] = &[
    (101, "ptrace"),
    (153, "vhangup"),
    (156, "_sysctl"),
    (174, "create_module"),
    (175, "init_module"),
    (176, "delete_module"),
    (177, "get_kernel_syms"),
    (178, "query_module"),
    (180, "nfsservctl"),
    (205, "set_thread_area"),
    (211, "get_thread_area"),
    (246, "kexec_load"),
    (248, "add_key"),
    (249, "request_key"),
    (250, "keyctl"),
    (312, "kcmp"),
    (313, "finit_module"),
    (314, "sched_setattr"),
    (315, "sched_getattr"),
    (320, "kexec_file_load"),
    (438, "pidfd_getfd"),
    (448, "process_mrelease"),
    (450, "set_mempolicy_home_node"),
    (453, "map_shadow_stack"),
    (454, "futex_wake"),
    (455, "futex_wait"),
    (456, "futex_requeue"),
    (459, "lsm_get_self_attr"),
    (460, "lsm_set_self_attr"),
    (461, "lsm_list_modules"),
    (462, "mseal"),
];

impl Refusal {
    /// A step for which there is not enough memory.
    #[must_use]
    pub fn memory(world: &World, tid: Tid) -> Self {
        Self { cause: Cause::Memory, ..Self::new(world, tid, "the memory limit of this run".to_owned()) }
    }

    /// A step that looks at a file of the host that has become another one.
    #[must_use]
    pub fn changed(world: &World, tid: Tid, path: &[u8]) -> Self {
        let path = String::from_utf8_lossy(path).into_owned();
        Self { cause: Cause::Changed, ..Self::new(world, tid, path) }
    }

    /// A step that is given up because a budget is spent.
    #[must_use]
    pub fn spent(tid: Tid) -> Self {
        let (what, process) = (String::new(), String::new());
        Self { cause: Cause::Spent, what, call: None, process, tid, frames: Vec::new() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            Cause::Unmodelled => write!(f, "not modelled: {}", self.what)?,
            Cause::Memory => write!(f, "out of memory: {}", self.what)?,
            Cause::Changed => write!(f, "a file of the host changes while it is used: {}", self.what)?,
            Cause::Differs => write!(f, "the audit found a difference: {}", self.what)?,
            Cause::Peer => f.write_str(&self.what)?,
            Cause::Spent => f.write_str("the budget is spent")?,
        }
        write!(f, "\n  in {} (thread {})", self.process, self.tid.0)?;
        if let Some(call) = &self.call {
            write!(f, ", at {call}")?;
        }
        for frame in &self.frames {
            write!(f, "\n    {frame}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_row_is_named_if_linux_has_it() {
        assert_eq!([0, 250, 999].map(call_name), ["read", "keyctl", "syscall_999"]);
    }
}
