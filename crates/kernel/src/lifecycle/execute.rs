//! `execve(2)` and its book-keeping. Loading is the world's, because it concerns registers.

use super::end::{clear_tid, leave_space, release_thread};
use crate::call::{Call, Control, Execute, Stop};
use crate::descriptor::Fd;
use crate::errno::{EACCES, EINVAL, ELOOP, ENOENT, ETXTBSY};
use crate::files::walk::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW};
use crate::files::{Kind, Node, inode};
use crate::id::{Id, Pid, Tid};
use crate::process::{Action, Image};
use crate::signal::{SIG_IGN, SS_DISABLE};
use crate::{Kernel, Process, descriptor, files, ipc, time};
use memory::{Memory, SpaceId};
use std::sync::Arc;

/// An id for the space of a program that a thread is about to execute.
pub fn fresh_space(kernel: &mut Kernel, tid: Tid) -> SpaceId {
    let Id(id) = kernel.threads.get_mut(&tid).expect("a caller is a thread").fresh_id();
    SpaceId(id)
}

/// A thread has replaced its process's program (`execve(2)`): no other thread is left, and the thread that is left has
/// the process's number, which is given back.
///
/// The new program is in its own space by then. Order as in `end_process`: threads and robust lists
/// while the old memory exists, then files, then the space. What survives is what `execve(2)` lists
/// as preserved: ids, pending signals, mask, limits, descriptors without `FD_CLOEXEC`.
pub fn executed(kernel: &mut Kernel, memory: &mut Memory, tid: Tid, space: SpaceId, heap: u64, image: Image) -> Tid {
    let pid = kernel.threads.get(&tid).expect("a caller is a thread").pid;
    let tid = end_other_threads(kernel, memory, pid, tid);
    super::robust::release(kernel, memory, tid);
    clear_tid(kernel, memory, tid);
    descriptor::close_on_exec(kernel, memory, pid);
    time::forget_posix(kernel, pid);
    let owner = owner(kernel, image.inode);
    let process = kernel.processes.get_mut(&pid).expect("a thread has a process");
    let old = std::mem::replace(&mut process.space, space);
    let name = image.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
    let before = std::mem::replace(&mut process.image, Arc::new(image));
    process.heap = (heap, heap);
    process.read_only.clear();
    process.vforked = false;
    process.had_threads = false;
    process.controls.executed = true;
    process.controls.dumpable = 1;
    process.controls.keep_capabilities = false;
    process.controls.barriers = 0;
    // signal(7): handlers are gone, but what was ignored stays so.
    for action in &mut process.signals.actions {
        let handler = if action.handler == SIG_IGN { SIG_IGN } else { 0 };
        *action = Action { handler, ..Action::default() };
    }
    become_owner(process, owner);
    if old != space {
        leave_space(kernel, memory, old, pid);
    }
    ipc::executed(kernel, memory);
    if let Some(inode) = before.inode {
        files::forget_if_unused(kernel, memory, inode);
    }
    renew_thread(kernel, tid, &name);
    tid
}

/// Whom a set-user-id or set-group-id file makes a process act as.
fn owner(kernel: &Kernel, executable: Option<Id>) -> (Option<u32>, Option<u32>) {
    let Some(inode) = executable.and_then(|id| kernel.inode(id)) else { return (None, None) };
    let user = (inode.mode & inode::S_ISUID != 0).then_some(inode.uid);
    // Without the group's execute bit it would mean mandatory locks.
    let group = (inode.mode & inode::S_ISGID != 0 && inode.mode & 0o010 != 0).then_some(inode.gid);
    (user, group)
}

/// Set-user-id and set-group-id (`execve(2)`).
fn become_owner(process: &mut Process, (user, group): (Option<u32>, Option<u32>)) {
    let credentials = &mut *process.credentials;
    let changed = user.is_some() || group.is_some();
    if changed && !process.controls.no_new_privileges {
        credentials.user[1] = user.unwrap_or(credentials.user[1]);
        credentials.group[1] = group.unwrap_or(credentials.group[1]);
        process.controls.dumpable = 0;
        process.controls.parent_death_signal = 0;
    }
    for ids in [&mut credentials.user, &mut credentials.group] {
        // credentials(7): the saved id is the effective one, and so is the file system's.
        ids[2] = ids[1];
        ids[3] = ids[1];
    }
    // execve(2) gives what the ids imply; what is inheritable stays.
    let [.., inheritable] = credentials.capability_sets();
    credentials.capabilities = None;
    let [effective, permitted, _] = credentials.capability_sets();
    credentials.set_capabilities([effective, permitted, inheritable]);
}

fn renew_thread(kernel: &mut Kernel, tid: Tid, name: &[u8]) {
    let thread = kernel.threads.get_mut(&tid).expect("the thread that executes is left");
    thread.name = name[..name.len().min(15)].to_vec();
    thread.alternate_stack = (0, 0, SS_DISABLE);
    thread.clear_at_end = 0;
    thread.robust_list = (0, 0);
}

/// The thread that executes takes over the number of the first one.
///
/// "All threads other than the calling thread are destroyed", and the survivor has the process's
/// number, whichever thread called (`execve(2)`).
fn end_other_threads(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, tid: Tid) -> Tid {
    let leader = Tid(pid.0);
    let others: Vec<Tid> =
        kernel.processes.get(&pid).expect("a thread has a process").threads.iter().copied().collect();
    for other in others.into_iter().filter(|other| *other != tid) {
        release_thread(kernel, memory, other);
    }
    if tid != leader {
        let mut thread = kernel.threads.remove(&tid).expect("a caller is a thread");
        thread.tid = leader;
        kernel.threads.put(leader, thread);
        kernel.processes.get_mut(&pid).expect("a thread has a process").threads = [leader].into();
    }
    leader
}

/// `execve(2)`.
pub fn execve(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [path, arguments, environment, ..] = call.args;
    execute(call, AT_FDCWD, path, [arguments, environment], 0)
}

/// `execveat(2)`.
pub fn execveat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, path, arguments, environment, flags, _] = call.args;
    let flags = flags as u32;
    if flags & !(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0 {
        return Err(EINVAL.into());
    }
    execute(call, call.int(0), path, [arguments, environment], flags)
}

fn execute(call: &mut Call<'_>, dir: Fd, path: u64, lists: [u64; 2], flags: u32) -> Result<u64, Stop> {
    let Node::Inode(inode) = call.node_at(dir, path, flags)? else { return Err(EACCES.into()) };
    let file = call.kernel.inode(inode).ok_or(ENOENT)?;
    if file.is_link() {
        return Err(ELOOP.into());
    }
    if file.kind != Kind::Regular {
        return Err(EACCES.into());
    }
    call.asker().may(&file, 1)?;
    if files::is_being_written(call.kernel, inode) {
        return Err(ETXTBSY.into());
    }
    let path = shown_path(call, dir, path)?;
    let mut arguments = call.load_strings(lists[0])?;
    let environment = call.load_strings(lists[1])?;
    if arguments.is_empty() {
        // Since Linux 5.18 there is always a name.
        arguments.push(Vec::new());
    }
    Err(Control::Execute(Execute { inode, path, arguments, environment }).into())
}

/// The path as scripts get to see it (`execveat(2)`, notes).
fn shown_path(call: &mut Call<'_>, dir: Fd, path: u64) -> Result<Vec<u8>, Stop> {
    let path = call.load_path(path)?;
    Ok(match path.first() {
        Some(b'/') => path,
        _ if dir == AT_FDCWD => path,
        None => format!("/dev/fd/{dir}").into_bytes(),
        Some(_) => [format!("/dev/fd/{dir}/").as_bytes(), &path].concat(),
    })
}
