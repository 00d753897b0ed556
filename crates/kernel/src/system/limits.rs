//! Resource limits.

use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EINVAL, EPERM, ESRCH};
use crate::id::Pid;
use crate::process::limit;

/// How many descriptors anybody may ever have (`/proc/sys/fs/nr_open`).
const FILES_MAX: u64 = 1_048_576;

fn resource(value: u64) -> Result<usize, Stop> {
    match value as u32 {
        resource @ 0..16 => Ok(resource as usize),
        _ => Err(EINVAL.into()),
    }
}

/// `getrlimit(2)`.
pub fn getrlimit(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [resource, address, ..] = call.args;
    change(call, call.pid, resource, 0, address)
}

/// `setrlimit(2)`.
pub fn setrlimit(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [resource, address, ..] = call.args;
    // Here a null pointer is an error.
    call.load_u64(address)?;
    change(call, call.pid, resource, address, 0)
}

/// `prlimit(2)`.
pub fn prlimit64(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [pid, resource, new, old, ..] = call.args;
    let number = if pid as u32 == 0 { call.pid.0 } else { pid as u32 };
    let pid = call.kernel.process_of(number).ok_or(ESRCH)?;
    let process = call.kernel.processes.get(&pid).ok_or(ESRCH)?;
    let (mine, theirs) = (&call.process().credentials, &process.credentials);
    let is_same = theirs.user[..3].iter().all(|user| *user == mine.user[0])
        && theirs.group[..3].iter().all(|group| *group == mine.group[0]);
    if pid != call.pid && !call.can(Capability::Resource) && !is_same {
        return Err(EPERM.into());
    }
    change(call, pid, resource, new, old)
}

/// Anybody may lower a hard limit, nobody but the superuser raises one; the new values are read
/// before anything is changed, the old ones stored last.
fn change(call: &mut Call<'_>, pid: Pid, resource_value: u64, new: u64, old: u64) -> Result<u64, Stop> {
    let resource = resource(resource_value)?;
    let wanted = match new {
        0 => None,
        address => Some((call.load_u64(address)?, call.load_u64(address.wrapping_add(8))?)),
    };
    let process = call.kernel.processes.get(&pid).ok_or(ESRCH)?;
    let before = process.limits[resource];
    if let Some((soft, hard)) = wanted {
        if soft > hard {
            return Err(EINVAL.into());
        }
        let is_superuser = call.can(Capability::Resource);
        if hard > before.1 && !is_superuser || resource == limit::FILES && hard > FILES_MAX {
            return Err(EPERM.into());
        }
        set(call, pid, resource, (soft, hard));
    }
    if old != 0 {
        call.store_u64(old, before.0)?;
        call.store_u64(old.wrapping_add(8), before.1)?;
    }
    Ok(0)
}

fn set(call: &mut Call<'_>, pid: Pid, resource: usize, limit: (u64, u64)) {
    let process = call.kernel.processes.get_mut(&pid).expect("the caller looked");
    process.limits[resource] = limit;
    let is_alive = !process.is_zombie();
    if resource == limit::STACK && is_alive {
        call.memory.set_stack_limit(process.space, limit.0);
    }
}
