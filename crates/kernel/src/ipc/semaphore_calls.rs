//! `semget(2)`, `semop(2)`, `semctl(2)`.

use super::access::{Access, IPC_RMID, IPC_SET, IPC_STAT, READ, WRITE};
use super::keys;
use super::semaphore::{Operation, Semaphore, SemaphoreRequest, Set, VALUE_MAX};
use super::semaphore_trial::{Trial, attempt, carry_out, forget_undo};
use super::waiting::waiting;
use crate::call::{Call, Stop};
use crate::errno::{E2BIG, EAGAIN, EFBIG, EIDRM, EINVAL, ERANGE, Errno};
use crate::event::Timeout;
use crate::wait::{Condition, Interruption, Wait};

/// `SEMMSL`.
const SET_MAX: i32 = 32_000;
/// `SEMOPM`.
const OPERATIONS_MAX: u64 = 500;
/// Bytes of a `struct sembuf`.
const OPERATION: u64 = 6;

const GETPID: u64 = 11;
const GETVAL: u64 = 12;
const GETALL: u64 = 13;
const GETNCNT: u64 = 14;
const GETZCNT: u64 = 15;
const SETVAL: u64 = 16;
const SETALL: u64 = 17;

/// `semget(2)`.
pub fn semget(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (key, count, flags) = (call.int(0), call.int(1), call.args[2]);
    if !(0..=SET_MAX).contains(&count) {
        return Err(EINVAL.into());
    }
    if let Some(id) = keys::find(call, &call.kernel.ipc.sets, key, flags)? {
        let set = keys::get(&call.kernel.ipc.sets, id)?;
        return if count as usize > set.semaphores.len() { Err(EINVAL.into()) } else { Ok(id as u64) };
    }
    if count == 0 {
        return Err(EINVAL.into());
    }
    let id = keys::number(call, |ipc| &ipc.sets)?;
    let semaphores = vec![Semaphore::default(); count as usize];
    let set = Set { access: Access::new(call, key, flags), semaphores, times: (0, seconds(call)) };
    call.kernel.ipc.sets.insert(id, set);
    Ok(id as u64)
}

fn seconds(call: &Call<'_>) -> u64 {
    call.kernel.clock.real() / 1_000_000_000
}

/// `semop(2)`.
pub fn semop(call: &mut Call<'_>) -> Result<u64, Stop> {
    operate(call, Timeout::Never)
}

/// `semtimedop(2)`.
pub fn semtimedop(call: &mut Call<'_>) -> Result<u64, Stop> {
    let timeout = call.timeout_once(|call| call.load_timeout(call.args[3]))?;
    operate(call, timeout)
}

/// semop(2): the operations are carried out together, in order, or not at all. So a trial computes
/// all values first, and the wait is for the whole list.
fn operate(call: &mut Call<'_>, timeout: Timeout) -> Result<u64, Stop> {
    let [_, address, count, ..] = call.args;
    let id = call.int(0);
    if count == 0 || id < 0 {
        return Err(EINVAL.into());
    }
    if count > OPERATIONS_MAX {
        return Err(E2BIG.into());
    }
    // Read when the call begins; the wait has them from then on.
    let operations = match call.resumed.as_ref().and_then(|wait| wait.until.first()) {
        Some(Condition::Semaphores(request)) => request.operations.clone(),
        _ => load_operations(call, address, count)?,
    };
    let Some(set) = call.kernel.ipc.sets.get(&id) else {
        // A set that was removed while we waited is gone, not unknown.
        return Err(if call.resumed.is_some() { EIDRM } else { EINVAL }.into());
    };
    if operations.iter().any(|operation| usize::from(operation.semaphore) >= set.semaphores.len()) {
        return Err(EFBIG.into());
    }
    let changes = operations.iter().any(|operation| operation.add != 0);
    set.access.check(call, if changes { WRITE } else { READ })?;
    let request = SemaphoreRequest { set: id, operations, pid: call.pid };
    match attempt(call.kernel, set, &request) {
        Trial::Possible(values) => {
            carry_out(call.kernel, &request, &values);
            Ok(0)
        }
        Trial::Wrong(errno) => Err(errno.into()),
        Trial::Blocked(_) if timeout == Timeout::Zero || call.timed_out() => Err(EAGAIN.into()),
        Trial::Blocked(_) => {
            let wait = Wait::until(Condition::Semaphores(request)).deadline(call.deadline(timeout));
            Err(wait.interruption(Interruption::Fail).into())
        }
    }
}

fn load_operations(call: &mut Call<'_>, address: u64, count: u64) -> Result<Vec<Operation>, Stop> {
    let load = |index: u64| {
        let bytes: [u8; 6] = call.load(address.wrapping_add(OPERATION * index))?;
        let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Ok(Operation { semaphore: number(0), add: number(2) as i16, flags: number(4) })
    };
    (0..count).map(load).collect()
}

/// `semctl(2)`.
pub fn semctl(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, _, command, argument, ..] = call.args;
    let (id, index) = (call.int(0), call.int(1));
    let command = u64::from(command as u32);
    if id < 0 {
        return Err(EINVAL.into());
    }
    match command {
        IPC_RMID => remove(call, id),
        IPC_SET => change(call, id, argument),
        IPC_STAT => tell(call, id, argument),
        GETALL => get_all(call, id, argument),
        SETALL => set_all(call, id, argument),
        SETVAL => set_value(call, id, index, argument as i32),
        GETPID | GETVAL | GETNCNT | GETZCNT => get_one(call, id, index, command),
        3 | 18..=20 => call.unsupported(format!("command {command}")),
        _ => Err(EINVAL.into()),
    }
}

fn set_of<'a>(call: &'a Call<'_>, id: i32, wanted: u32) -> Result<&'a Set, Errno> {
    let set = keys::get(&call.kernel.ipc.sets, id)?;
    set.access.check(call, wanted)?;
    Ok(set)
}

fn remove(call: &mut Call<'_>, id: i32) -> Result<u64, Stop> {
    keys::get(&call.kernel.ipc.sets, id)?.access.check_owner(call)?;
    call.kernel.ipc.sets.remove(&id);
    forget_undo(call.kernel, id, None);
    Ok(0)
}

fn change(call: &mut Call<'_>, id: i32, argument: u64) -> Result<u64, Stop> {
    let mut access = keys::get(&call.kernel.ipc.sets, id)?.access.clone();
    access.check_owner(call)?;
    access.load(call, argument)?;
    let now = seconds(call);
    let set = call.kernel.ipc.sets.get_mut(&id).ok_or(EINVAL)?;
    (set.access, set.times.1) = (access, now);
    Ok(0)
}

/// `struct semid64_ds`.
fn tell(call: &mut Call<'_>, id: i32, argument: u64) -> Result<u64, Stop> {
    let set = set_of(call, id, READ)?;
    let numbers = [set.times.0, 0, set.times.1, 0, set.semaphores.len() as u64, 0, 0];
    let bytes = [set.access.encode(), numbers.map(u64::to_le_bytes).concat()].concat();
    call.store(argument, &bytes)?;
    Ok(0)
}

fn get_all(call: &mut Call<'_>, id: i32, argument: u64) -> Result<u64, Stop> {
    let set = set_of(call, id, READ)?;
    let bytes: Vec<u8> = set.semaphores.iter().flat_map(|semaphore| (semaphore.value as u16).to_le_bytes()).collect();
    call.store(argument, &bytes)?;
    Ok(0)
}

fn set_all(call: &mut Call<'_>, id: i32, argument: u64) -> Result<u64, Stop> {
    let count = set_of(call, id, WRITE)?.semaphores.len();
    let bytes = call.load_bytes(argument, 2 * count)?;
    let values: Vec<i32> =
        bytes.chunks_exact(2).map(|pair| i32::from(u16::from_le_bytes([pair[0], pair[1]]))).collect();
    if values.iter().any(|value| *value > VALUE_MAX) {
        return Err(ERANGE.into());
    }
    forget_undo(call.kernel, id, None);
    let (now, pid) = (seconds(call), call.pid.0);
    let set = call.kernel.ipc.sets.get_mut(&id).ok_or(EINVAL)?;
    set.semaphores = values.into_iter().map(|value| Semaphore { value, pid }).collect();
    set.times.1 = now;
    Ok(0)
}

fn set_value(call: &mut Call<'_>, id: i32, index: i32, value: i32) -> Result<u64, Stop> {
    if !(0..=VALUE_MAX).contains(&value) {
        return Err(ERANGE.into());
    }
    let count = set_of(call, id, WRITE)?.semaphores.len();
    let index = usize::try_from(index).ok().filter(|index| *index < count).ok_or(EINVAL)?;
    forget_undo(call.kernel, id, Some(index as u16));
    let (now, pid) = (seconds(call), call.pid.0);
    let set = call.kernel.ipc.sets.get_mut(&id).ok_or(EINVAL)?;
    set.semaphores[index] = Semaphore { value, pid };
    set.times.1 = now;
    Ok(0)
}

fn get_one(call: &Call<'_>, id: i32, index: i32, command: u64) -> Result<u64, Stop> {
    let set = set_of(call, id, READ)?;
    let index = usize::try_from(index).ok().filter(|index| *index < set.semaphores.len()).ok_or(EINVAL)?;
    let semaphore = set.semaphores[index];
    Ok(match command {
        GETPID => u64::from(semaphore.pid),
        GETVAL => semaphore.value as u64,
        GETNCNT => count_waiting(call, id, index, |operation| operation.add < 0),
        _ => count_waiting(call, id, index, |operation| operation.add == 0),
    })
}

/// How many threads wait at an operation of that kind on a semaphore.
fn count_waiting(call: &Call<'_>, id: i32, index: usize, which: fn(&Operation) -> bool) -> u64 {
    let Some(set) = call.kernel.ipc.sets.get(&id) else { return 0 };
    let waits_here = |request: &SemaphoreRequest| match attempt(call.kernel, set, request) {
        Trial::Blocked(at) => {
            let operation = &request.operations[at];
            usize::from(operation.semaphore) == index && which(operation)
        }
        _ => false,
    };
    let requests = waiting(call.kernel).filter_map(|(_, condition)| match condition {
        Condition::Semaphores(request) if request.set == id => Some(request),
        _ => None,
    });
    requests.filter(|request| waits_here(request)).count() as u64
}
