//! New processes and threads: `clone(2)`, `fork(2)`, `vfork(2)`.
//!
//! **Invariant:** what can fail fails before anything has changed: nobody is half made. A new number and a new address space are
//! named after the creation path, so that processes that are made at the same time are the same in either order.

use super::{number, pidfd};
use crate::call::{Call, Control, Stop};
use crate::errno::{E2BIG, EAGAIN, EINVAL, ENOMEM};
use crate::id::{Id, Pid, Tid};
use crate::process::{Action, Process, State, Usage, limit};
use crate::signal::number::SIGCHLD;
use crate::signal::{SIG_IGN, SS_DISABLE};
use crate::thread::Thread;
use crate::wait::{Condition, Interruption, Wait};
use memory::SpaceId;

const CLONE_VM: u64 = 0x100;
const CLONE_FS: u64 = 0x200;
const CLONE_FILES: u64 = 0x400;
const CLONE_SIGHAND: u64 = 0x800;
const CLONE_PIDFD: u64 = 0x1000;
const CLONE_VFORK: u64 = 0x4000;
const CLONE_PARENT: u64 = 0x8000;
const CLONE_THREAD: u64 = 0x1_0000;
const CLONE_SYSVSEM: u64 = 0x4_0000;
const CLONE_SETTLS: u64 = 0x8_0000;
const CLONE_PARENT_SETTID: u64 = 0x10_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
const CLONE_DETACHED: u64 = 0x40_0000;
const CLONE_UNTRACED: u64 = 0x80_0000;
const CLONE_CHILD_SETTID: u64 = 0x100_0000;
const CLONE_IO: u64 = 0x8000_0000;
const CLONE_CLEAR_SIGHAND: u64 = 0x1_0000_0000;

/// What threads of one process share, and we keep in one place: all of it or nothing.
///
/// Linux can share each of them by itself; only `CLONE_THREAD` with all of them (threads) and none
/// of them (processes) occur in practice, and the rest is refused.
const SHARED: u64 = CLONE_FS | CLONE_FILES | CLONE_SIGHAND;

/// The signal at the end, in the flags of `clone(2)`.
const CSIGNAL: u64 = 0xff;

const KNOWN: u64 = SHARED
    | CLONE_VM
    | CLONE_PIDFD
    | CLONE_VFORK
    | CLONE_PARENT
    | CLONE_THREAD
    | CLONE_SYSVSEM
    | CLONE_SETTLS
    | CLONE_PARENT_SETTID
    | CLONE_CHILD_CLEARTID
    | CLONE_DETACHED
    | CLONE_UNTRACED
    | CLONE_CHILD_SETTID
    | CLONE_IO
    | CLONE_CLEAR_SIGHAND;

/// What is to be created (`struct clone_args`).
#[derive(Clone, Copy, Default)]
struct Request {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    tls: u64,
}

impl Request {
    fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }
}

/// `fork(2)`.
pub fn fork(call: &mut Call<'_>) -> Result<u64, Stop> {
    create(call, Request { exit_signal: u64::from(SIGCHLD), ..Request::default() })
}

/// `vfork(2)`.
pub fn vfork(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = CLONE_VM | CLONE_VFORK;
    create(call, Request { flags, exit_signal: u64::from(SIGCHLD), ..Request::default() })
}

/// `clone(2)`.
pub fn clone(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [flags, stack, parent_tid, child_tid, tls, _] = call.args;
    let (exit_signal, flags) = (flags & CSIGNAL, flags & !CSIGNAL & 0xffff_ffff);
    if flags & CLONE_PIDFD != 0 && flags & (CLONE_PARENT_SETTID | CLONE_DETACHED) != 0 {
        return Err(EINVAL.into());
    }
    create(call, Request { flags, pidfd: parent_tid, child_tid, parent_tid, exit_signal, stack, tls })
}

/// `clone3(2)`.
pub fn clone3(call: &mut Call<'_>) -> Result<u64, Stop> {
    let fields = load_arguments(call)?;
    let [flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, _] = fields;
    if set_tid != 0 || set_tid_size != 0 {
        return call.unsupported("choice of thread numbers");
    }
    let is_odd = flags & (CLONE_DETACHED | CSIGNAL) != 0
        || exit_signal > 64
        || flags & (CLONE_THREAD | CLONE_PARENT) != 0 && exit_signal != 0
        || (stack == 0) != (stack_size == 0);
    if is_odd {
        return Err(EINVAL.into());
    }
    let stack = stack.wrapping_add(stack_size);
    create(call, Request { flags, pidfd, child_tid, parent_tid, exit_signal, stack, tls })
}

/// `struct clone_args`, of which older programs know less and newer ones may know more, as long as that is zero.
fn load_arguments(call: &mut Call<'_>) -> Result<[u64; 11], Stop> {
    let [address, size, ..] = call.args;
    match size {
        ..64 => return Err(EINVAL.into()),
        4097.. => return Err(E2BIG.into()),
        _ => {}
    }
    let bytes = call.load_bytes(address, size as usize)?;
    let mut fields = [0; 11];
    for (index, field) in bytes.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..field.len()].copy_from_slice(field);
        match fields.get_mut(index) {
            Some(place) => *place = u64::from_le_bytes(word),
            None if word != [0; 8] => return Err(E2BIG.into()),
            None => {}
        }
    }
    Ok(fields)
}

/// A redone call is `vfork(2)` whose child has left: everything was done in the first attempt.
fn create(call: &mut Call<'_>, request: Request) -> Result<u64, Stop> {
    if let Some(wait) = &call.resumed {
        // The child of vfork(2) is gone from our memory: its number is what is left to return.
        return Ok(wait.progress);
    }
    check(call, &request)?;
    check_limit(call)?;
    let path = call.fresh_id();
    let number = number::free(call.kernel, path);
    if request.has(CLONE_PIDFD) {
        // The child does not inherit it, so it comes last; but it must not fail then.
        call.process().descriptors.free(0, call.descriptor_limit())?;
        let there = call.load_u32(request.pidfd)?;
        call.store_u32(request.pidfd, there)?;
    }
    let child = Tid(number);
    if request.has(CLONE_THREAD) {
        let process = call.process_mut();
        process.threads.insert(child);
        process.had_threads = true;
    } else {
        create_process(call, &request, Pid(number), path)?;
    }
    let thread = new_thread(call, &request, child, path);
    let other = call.kernel.threads.insert(child, thread);
    assert!(other.is_none(), "a new thread has a number of its own");
    if request.has(CLONE_PIDFD) {
        let fd = pidfd::open(call, Pid(number))?;
        call.store_u32(request.pidfd, fd as u32)?;
    }
    announce(call, &request, child);
    Err(spawned(&request, child).into())
}

/// What Linux refuses, and what we do.
fn check(call: &Call<'_>, request: &Request) -> Result<(), Stop> {
    let is_odd = request.has(CLONE_THREAD) && !request.has(CLONE_SIGHAND)
        || request.has(CLONE_SIGHAND) && !request.has(CLONE_VM)
        || request.has(CLONE_SIGHAND) && request.has(CLONE_CLEAR_SIGHAND);
    if is_odd {
        return Err(EINVAL.into());
    }
    call.only_flags(request.flags, KNOWN, "flags")?;
    let shared = request.flags & SHARED;
    if request.has(CLONE_THREAD) && shared != SHARED {
        return call.unsupported("a thread that does not share files, directories and handlers");
    }
    if !request.has(CLONE_THREAD) && shared | request.flags & CLONE_SYSVSEM != 0 {
        return call.unsupported("a process that shares files, directories, handlers or semaphore adjustments");
    }
    if request.has(CLONE_THREAD) && request.has(CLONE_PIDFD) {
        return Err(EINVAL.into());
    }
    Ok(())
}

/// `RLIMIT_NPROC`: threads of a user.
///
/// Linux counts threads of a real user id over the whole system; the superuser is exempt.
fn check_limit(call: &Call<'_>) -> Result<(), Stop> {
    let process = call.process();
    let user = process.credentials.user[0];
    let mine = call.kernel.processes.values().filter(|process| process.credentials.user[0] == user);
    let count: usize = mine.map(|process| process.threads.len()).sum();
    if user != 0 && count as u64 >= process.limits[limit::THREADS].0 { Err(EAGAIN.into()) } else { Ok(()) }
}

/// Everything that is not named is copied from the creator (`..creator.clone()`): so a new field of
/// [`Process`] is inherited unless it is listed here. Ask `fork(2)`'s list of differences when
/// adding one.
fn create_process(call: &mut Call<'_>, request: &Request, pid: Pid, path: Id) -> Result<(), Stop> {
    let space = space_for(call, request, path)?;
    let creator = call.process();
    let (parent, exit_signal) = if request.has(CLONE_PARENT) {
        (creator.parent, creator.exit_signal)
    } else {
        (call.pid, request.exit_signal as u8)
    };
    let mut child = Process {
        pid,
        parent,
        space,
        threads: [Tid(pid.0)].into(),
        state: State::Running,
        children: Vec::new(),
        exit_signal,
        vforked: request.has(CLONE_VFORK),
        continued: false,
        usage: Usage::default(),
        path,
        ..creator.clone()
    };
    child.signals.pending.clear();
    child.controls.executed = false;
    child.controls.parent_death_signal = 0;
    child.controls.subreaper = false;
    child.controls.timer_slack.1 = child.controls.timer_slack.0;
    if request.has(CLONE_CLEAR_SIGHAND) {
        clear_handlers(&mut child);
    }
    // The copy of the table refers to the same open files (`fork(2)`).
    for (_, descriptor) in child.descriptors.iter() {
        call.description_mut(descriptor.description).retain();
    }
    call.kernel.processes.insert(pid, child);
    if let Some(parent) = call.kernel.processes.get_mut(&parent) {
        parent.children.push(pid);
    }
    Ok(())
}

/// O(mappings), not O(pages): pages are shared copy-on-write.
fn space_for(call: &mut Call<'_>, request: &Request, path: Id) -> Result<SpaceId, Stop> {
    let own = call.space();
    if request.has(CLONE_VM) {
        return Ok(own);
    }
    let space = SpaceId(path.0);
    call.memory.fork_space(own, space).map_err(|_| ENOMEM)?;
    Ok(space)
}

fn clear_handlers(child: &mut Process) {
    for action in child.signals.actions.iter_mut().filter(|action| action.handler != SIG_IGN) {
        *action = Action::default();
    }
}

/// `born` and `randoms` count what the thread itself creates and draws: they begin at 0, and its
/// creation path makes them its own.
fn new_thread(call: &Call<'_>, request: &Request, tid: Tid, path: Id) -> Thread {
    let creator = call.thread();
    // sigaltstack(2): not inherited by what shares memory, unless the parent waits meanwhile.
    let is_beside = request.flags & (CLONE_VM | CLONE_VFORK) == CLONE_VM;
    Thread {
        tid,
        pid: if request.has(CLONE_THREAD) { call.pid } else { Pid(tid.0) },
        name: creator.name.clone(),
        wait: None,
        call: None,
        blocked: creator.blocked,
        saved_mask: None,
        pending: Vec::new(),
        alternate_stack: if is_beside { (0, 0, SS_DISABLE) } else { creator.alternate_stack },
        clear_at_end: if request.has(CLONE_CHILD_CLEARTID) { request.child_tid } else { 0 },
        robust_list: (0, 0),
        born: 0,
        path,
        randoms: 0,
        processor: creator.processor.inherited(call.kernel.clock.now()),
    }
}

/// Writes the new number where the flags ask for it; bad addresses are the caller's problem (`clone(2)`).
fn announce(call: &mut Call<'_>, request: &Request, child: Tid) {
    if request.has(CLONE_PARENT_SETTID) {
        let _ = call.store_u32(request.parent_tid, child.0);
    }
    if request.has(CLONE_CHILD_SETTID) {
        let pid = call.kernel.threads.get(&child).expect("just created").pid;
        let space = call.kernel.processes.get(&pid).expect("just created").space;
        let _ = call.memory.write_u32(space, request.child_tid, child.0);
    }
}

fn spawned(request: &Request, child: Tid) -> Control {
    let vforked = || {
        let wait = Wait::until(Condition::Vforked(Pid(child.0))).interruption(Interruption::Never);
        Box::new(wait.progress(u64::from(child.0)))
    };
    Control::Spawned {
        child,
        stack: (request.stack != 0).then_some(request.stack),
        tls: request.has(CLONE_SETTLS).then_some(request.tls),
        result: u64::from(child.0),
        wait: request.has(CLONE_VFORK).then(vforked),
    }
}
