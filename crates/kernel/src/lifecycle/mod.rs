//! How processes and threads begin and end: clone, execve, exit, wait.

pub(crate) mod child_request;
mod clone;
mod end;
mod execute;
mod number;
pub mod pidfd;
mod robust;
mod start;
mod wait;

pub use child_request::ChildRequest;
pub use end::{end_process, end_thread};
pub use execute::{executed, fresh_space};
pub use start::{INFINITE, Start, restart, start};
pub use wait::has_answer;

use crate::call::{Call, Stop};
use crate::table::footprint::Changers::{Anybody, Relatives};
use crate::table::footprint::CloneFlags;
use crate::table::footprint::FootprintRule::{
    Asks, EndsProcess, EndsThread, Everything, Executes, Forks, Local, Reaps,
};
use crate::table::footprint::Subject::{Caller, GivenThread};
use crate::table::narration::{ResultWords, Shown, Verb, Words};
use crate::table::syscall::{Argument::*, Row};
use crate::{Condition, Kernel, Pid, Tid};
use memory::Memory;

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(39, "getpid", getpid, &[], Local).silent(),
    Row::full(56, "clone", clone::clone, &[Hex, Hex, Hex, Hex, Hex], Forks(CloneFlags::Argument))
        .partial("threads share everything of their process; other processes share memory or nothing; no namespaces")
        .silent(),
    Row::full(57, "fork", clone::fork, &[], Forks(CloneFlags::None)).returns(ResultWords::Number),
    Row::full(58, "vfork", clone::vfork, &[], Forks(CloneFlags::None)).silent(),
    Row::full(59, "execve", execute::execve, &[Path, Strings, Hex], Executes).maps_code(),
    Row::full(60, "exit", end::exit, &[Int], EndsThread).says(Words::Numbers),
    Row::full(61, "wait4", wait::wait4, &[Int, Hex, Hex, Hex], Reaps).shown(Shown::IfChild).returns(ResultWords::Child),
    Row::full(110, "getppid", getppid, &[], Asks(Relatives, Caller)).silent(),
    Row::full(186, "gettid", gettid, &[], Local).silent(),
    Row::full(218, "set_tid_address", set_tid_address, &[Hex], Local).silent(),
    Row::full(231, "exit_group", end::exit_group, &[Int], EndsProcess).says(Words::Numbers),
    Row::full(247, "waitid", wait::waitid, &[Int, Int, Hex, Hex, Hex], Reaps)
        .shown(Shown::IfChild)
        .returns(ResultWords::Number),
    Row::full(273, "set_robust_list", robust::set_robust_list, &[Hex, Size], Local).silent(),
    Row::full(274, "get_robust_list", robust::get_robust_list, &[Int, Hex, Hex], Asks(Anybody, GivenThread)),
    Row::full(322, "execveat", execute::execveat, &[Dir, Path, Strings, Hex, Hex], Everything)
        .maps_code()
        .does(Verb::Looked),
    Row::full(434, "pidfd_open", pidfd::pidfd_open, &[Int, Hex], Everything),
    Row::full(435, "clone3", clone::clone3, &[Hex, Size], Forks(CloneFlags::Structure))
        .partial("as clone; no choice of thread numbers, no control groups")
        .silent(),
];

fn getpid(call: &mut Call<'_>) -> Result<u64, Stop> {
    Ok(u64::from(call.pid.0))
}

fn getppid(call: &mut Call<'_>) -> Result<u64, Stop> {
    Ok(u64::from(call.process().parent.0))
}

fn gettid(call: &mut Call<'_>) -> Result<u64, Stop> {
    Ok(u64::from(call.tid.0))
}

fn set_tid_address(call: &mut Call<'_>) -> Result<u64, Stop> {
    call.thread_mut().clear_at_end = call.args[0];
    Ok(u64::from(call.tid.0))
}

/// Whether the child of `vfork(2)` has executed or ended, so that its parent may go on.
#[must_use]
pub fn has_left_shared_space(kernel: &Kernel, child: Pid) -> bool {
    kernel.processes.get(&child).is_none_or(|process| !process.vforked)
}

/// Whether a thread is suspended because the child of its `vfork(2)` still uses their memory.
#[must_use]
pub fn is_suspended(kernel: &Kernel, tid: Tid) -> bool {
    suspender(kernel, tid).is_some_and(|child| !has_left_shared_space(kernel, child))
}

/// The child of `vfork(2)` that a thread waits for, even if that has left their memory.
#[must_use]
pub fn suspender(kernel: &Kernel, tid: Tid) -> Option<Pid> {
    let wait = kernel.threads.get(&tid)?.wait.as_ref()?;
    wait.until.iter().find_map(|condition| match condition {
        Condition::Vforked(child) => Some(*child),
        _ => None,
    })
}

/// Takes away a process that could not be started, as if it had never been.
pub fn forget(kernel: &mut Kernel, memory: &mut Memory, pid: Pid) {
    end_process(kernel, memory, pid, 0);
    kernel.processes.remove(&pid);
}
