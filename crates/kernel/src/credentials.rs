//! Who a process is: users, groups, sessions.

use crate::call::{Call, Stop};
use crate::capability::{ALL, Capability, Change};
use crate::errno::{EACCES, EINVAL, EPERM, ESRCH};
use crate::id::Pid;
use crate::process::Process;
use crate::table::footprint::Changers::{Relatives, Threads};
use crate::table::footprint::FootprintRule::{Asks, ChangesProcess, Everything};
use crate::table::footprint::Subject::{Caller, GivenProcess};
use crate::table::syscall::{Argument::*, Row};

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(102, "getuid", |call| id(call, Kind::User, REAL), &[], Asks(Threads, Caller)).silent(),
    Row::full(104, "getgid", |call| id(call, Kind::Group, REAL), &[], Asks(Threads, Caller)).silent(),
    Row::full(105, "setuid", setuid, &[Int], ChangesProcess).silent(),
    Row::full(106, "setgid", setgid, &[Int], ChangesProcess).silent(),
    Row::full(107, "geteuid", |call| id(call, Kind::User, EFFECTIVE), &[], Asks(Threads, Caller)).silent(),
    Row::full(108, "getegid", |call| id(call, Kind::Group, EFFECTIVE), &[], Asks(Threads, Caller)).silent(),
    Row::full(109, "setpgid", setpgid, &[Int, Int], Everything),
    Row::full(111, "getpgrp", getpgrp, &[], Asks(Relatives, Caller)),
    Row::full(112, "setsid", setsid, &[], Everything),
    Row::full(113, "setreuid", |call| set_two(call, Kind::User), &[Int, Int], ChangesProcess).silent(),
    Row::full(114, "setregid", |call| set_two(call, Kind::Group), &[Int, Int], ChangesProcess).silent(),
    Row::full(115, "getgroups", getgroups, &[Int, Hex], Asks(Threads, Caller)),
    Row::full(116, "setgroups", setgroups, &[Int, Hex], ChangesProcess).silent(),
    Row::full(117, "setresuid", |call| set_three(call, Kind::User), &[Int, Int, Int], ChangesProcess).silent(),
    Row::full(118, "getresuid", |call| get_three(call, Kind::User), &[Hex, Hex, Hex], Asks(Threads, Caller)).silent(),
    Row::full(119, "setresgid", |call| set_three(call, Kind::Group), &[Int, Int, Int], ChangesProcess).silent(),
    Row::full(120, "getresgid", |call| get_three(call, Kind::Group), &[Hex, Hex, Hex], Asks(Threads, Caller)).silent(),
    Row::full(121, "getpgid", getpgid, &[Int], Asks(Relatives, GivenProcess)),
    Row::full(122, "setfsuid", |call| set_file_system(call, Kind::User), &[Int], Everything),
    Row::full(123, "setfsgid", |call| set_file_system(call, Kind::Group), &[Int], Everything),
    Row::full(124, "getsid", getsid, &[Int], Asks(Relatives, GivenProcess)),
    Row::full(125, "capget", capget, &[Hex, Hex], Everything),
    Row::full(126, "capset", capset, &[Hex, Hex], Everything),
];

/// Places in [`Credentials::user`] and [`Credentials::group`].
const REAL: usize = 0;
const EFFECTIVE: usize = 1;
const SAVED: usize = 2;
const FILES: usize = 3;

/// "Leave it as it is", in `setresuid(2)` and its kin.
const SAME: u32 = u32::MAX;

/// `NGROUPS_MAX`.
const GROUPS_MAX: u64 = 65_536;

fn id(call: &mut Call<'_>, kind: Kind, which: usize) -> Result<u64, Stop> {
    Ok(u64::from(ids(call, kind)[which]))
}

fn ids(call: &Call<'_>, kind: Kind) -> [u32; 4] {
    let credentials = &call.process().credentials;
    if kind == Kind::User { credentials.user } else { credentials.group }
}

/// Users and groups, and the capability that frees from the rules about who may become whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Group,
}

impl Kind {
    fn is_free(self, call: &Call<'_>) -> bool {
        call.can(if self == Self::User { Capability::User } else { Capability::Group })
    }
}

fn set(call: &mut Call<'_>, kind: Kind, new: [u32; 4], change: Change) {
    let keeps = call.process().controls.keep_capabilities;
    let credentials = &mut call.process_mut().credentials;
    match kind {
        Kind::User => credentials.set_users(new, change, keeps),
        Kind::Group => credentials.group = new,
    }
}

/// `setuid(2)`.
fn setuid(call: &mut Call<'_>) -> Result<u64, Stop> {
    set_one(call, Kind::User)
}

/// `setgid(2)`.
fn setgid(call: &mut Call<'_>) -> Result<u64, Stop> {
    set_one(call, Kind::Group)
}

/// All ids for the superuser; for others the effective one, to the real or saved one.
fn set_one(call: &mut Call<'_>, kind: Kind) -> Result<u64, Stop> {
    let new = call.args[0] as u32;
    if new == SAME {
        return Err(EINVAL.into());
    }
    let [real, _, saved, _] = ids(call, kind);
    if kind.is_free(call) {
        set(call, kind, [new; 4], Change::Ids);
    } else if new == real || new == saved {
        set(call, kind, [real, new, saved, new], Change::Ids);
    } else {
        return Err(EPERM.into());
    }
    Ok(0)
}

/// `setreuid(2)`, `setregid(2)`.
fn set_two(call: &mut Call<'_>, kind: Kind) -> Result<u64, Stop> {
    let (real, effective) = (call.args[0] as u32, call.args[1] as u32);
    let [old_real, old_effective, old_saved, _] = ids(call, kind);
    let may_real = [SAME, old_real, old_effective].contains(&real);
    let may_effective = [SAME, old_real, old_effective, old_saved].contains(&effective);
    let may = may_real && may_effective;
    if !kind.is_free(call) && !may {
        return Err(EPERM.into());
    }
    let or_same = |new: u32, old: u32| if new == SAME { old } else { new };
    let (new_real, new_effective) = (or_same(real, old_real), or_same(effective, old_effective));
    let renews = real != SAME || effective != SAME && effective != old_real;
    let saved = if renews { new_effective } else { old_saved };
    set(call, kind, [new_real, new_effective, saved, new_effective], Change::Ids);
    Ok(0)
}

/// `setresuid(2)`, `setresgid(2)`.
fn set_three(call: &mut Call<'_>, kind: Kind) -> Result<u64, Stop> {
    let old = ids(call, kind);
    let mut new = old;
    for which in [REAL, EFFECTIVE, SAVED] {
        let wanted = call.args[which] as u32;
        if wanted == SAME {
            continue;
        }
        if !kind.is_free(call) && !old[..FILES].contains(&wanted) {
            return Err(EPERM.into());
        }
        new[which] = wanted;
    }
    new[FILES] = new[EFFECTIVE];
    set(call, kind, new, Change::Ids);
    Ok(0)
}

/// `getresuid(2)`, `getresgid(2)`.
fn get_three(call: &mut Call<'_>, kind: Kind) -> Result<u64, Stop> {
    let ids = ids(call, kind);
    for which in [REAL, EFFECTIVE, SAVED] {
        call.store_u32(call.args[which], ids[which])?;
    }
    Ok(0)
}

/// `setfsuid(2)`, `setfsgid(2)`: always the old one, and no word about failure.
fn set_file_system(call: &mut Call<'_>, kind: Kind) -> Result<u64, Stop> {
    let old = ids(call, kind);
    let new = call.args[0] as u32;
    if new != SAME && (kind.is_free(call) || old.contains(&new)) {
        set(call, kind, [old[REAL], old[EFFECTIVE], old[SAVED], new], Change::FileSystem);
    }
    Ok(u64::from(old[FILES]))
}

/// `getgroups(2)`.
fn getgroups(call: &mut Call<'_>) -> Result<u64, Stop> {
    let groups = call.process().credentials.groups.clone();
    let room = call.int(0);
    if room < 0 || room != 0 && (room as usize) < groups.len() {
        return Err(EINVAL.into());
    }
    if room > 0 {
        let bytes: Vec<u8> = groups.iter().flat_map(|group| group.to_le_bytes()).collect();
        call.store(call.args[1], &bytes)?;
    }
    Ok(groups.len() as u64)
}

/// `setgroups(2)`.
fn setgroups(call: &mut Call<'_>) -> Result<u64, Stop> {
    let count = u64::from(call.args[0] as u32);
    if !call.can(Capability::Group) {
        return Err(EPERM.into());
    }
    if count > GROUPS_MAX {
        return Err(EINVAL.into());
    }
    let bytes = call.load_bytes(call.args[1], count as usize * 4)?;
    let mut groups: Vec<u32> =
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    groups.sort_unstable();
    call.process_mut().credentials.groups = groups;
    Ok(0)
}

/// A process by number; 0 for the caller.
fn process_of(call: &Call<'_>, value: u64) -> Result<Pid, Stop> {
    match value as u32 {
        0 => Ok(call.pid),
        number => call.kernel.process_of(number).ok_or(ESRCH.into()),
    }
}

/// `getpgrp(2)`.
fn getpgrp(call: &mut Call<'_>) -> Result<u64, Stop> {
    Ok(u64::from(call.process().group.0))
}

/// `getpgid(2)`.
fn getpgid(call: &mut Call<'_>) -> Result<u64, Stop> {
    let pid = process_of(call, call.args[0])?;
    Ok(u64::from(call.kernel.processes.get(&pid).expect("just looked up").group.0))
}

/// `getsid(2)`.
fn getsid(call: &mut Call<'_>) -> Result<u64, Stop> {
    let pid = process_of(call, call.args[0])?;
    Ok(u64::from(call.kernel.processes.get(&pid).expect("just looked up").session.0))
}

/// `setsid(2)`.
fn setsid(call: &mut Call<'_>) -> Result<u64, Stop> {
    let pid = call.pid;
    if call.kernel.processes.values().any(|process| process.group == pid) {
        return Err(EPERM.into());
    }
    let process = call.process_mut();
    process.group = pid;
    process.session = pid;
    Ok(u64::from(pid.0))
}

/// `setpgid(2)`.
fn setpgid(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (who, group) = (call.int(0), call.int(1));
    if group < 0 {
        return Err(EINVAL.into());
    }
    let pid = if who == 0 { call.pid } else { Pid(who as u32) };
    let group = if group == 0 { pid } else { Pid(group as u32) };
    // Only the number of the process itself will do.
    let Some(process) = call.kernel.processes.get(&pid) else {
        return Err(call.kernel.process_of(pid.0).map_or(ESRCH, |_| EINVAL).into());
    };
    let session = call.process().session;
    if pid != call.pid {
        match process {
            process if process.parent != call.pid => return Err(ESRCH.into()),
            process if process.session != session => return Err(EPERM.into()),
            process if process.controls.executed => return Err(EACCES.into()),
            _ => {}
        }
    }
    let is_leader = process.session == pid;
    let is_member = |process: &Process| process.group == group && process.session == session;
    if is_leader || group != pid && !call.kernel.processes.values().any(is_member) {
        return Err(EPERM.into());
    }
    call.kernel.processes.get_mut(&pid).expect("just looked up").group = group;
    Ok(0)
}

/// Versions of the capability structures, and how many records of 12 bytes each has.
fn records(version: u32) -> Option<usize> {
    match version {
        0x1998_0330 => Some(1),
        0x2007_1026 | 0x2008_0522 => Some(2),
        _ => None,
    }
}

/// The header: how many records, and whose. An unknown version is answered with the one that is known.
fn load_header(call: &mut Call<'_>) -> Result<(usize, Pid), Stop> {
    let header = call.args[0];
    let (version, pid) = (call.load_u32(header)?, call.load_u32(header.wrapping_add(4))?);
    let Some(count) = records(version) else {
        call.store_u32(header, 0x2008_0522)?;
        return Err(EINVAL.into());
    };
    if (pid as i32) < 0 {
        return Err(EINVAL.into());
    }
    Ok((count, process_of(call, u64::from(pid))?))
}

/// `capget(2)`.
fn capget(call: &mut Call<'_>) -> Result<u64, Stop> {
    let data = call.args[1];
    let (count, pid) = match load_header(call) {
        // Asking for the version only is no error.
        Ok(_) | Err(Stop::Errno(EINVAL)) if data == 0 => return Ok(0),
        header => header?,
    };
    let sets = call.kernel.processes.get(&pid).expect("just looked up").credentials.capability_sets();
    for record in 0..count {
        for (place, set) in sets.into_iter().enumerate() {
            call.store_u32(data.wrapping_add((12 * record + 4 * place) as u64), (set >> (32 * record)) as u32)?;
        }
    }
    Ok(0)
}

/// `capset(2)`: nobody gains what is not permitted.
fn capset(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (count, pid) = load_header(call)?;
    if pid != call.pid {
        return Err(EPERM.into());
    }
    let mut new = [0u64; 3];
    for record in 0..count {
        for (place, set) in new.iter_mut().enumerate() {
            let word = call.load_u32(call.args[1].wrapping_add((12 * record + 4 * place) as u64))?;
            *set |= u64::from(word) << (32 * record);
        }
    }
    let [_, permitted, inheritable] = call.process().credentials.capability_sets();
    let new = new.map(|set| set & ALL);
    // Who may not change sets inherits to others only what it has; the bounding set has everything.
    let may_inherit = if call.can(Capability::Capabilities) { ALL } else { permitted | inheritable };
    if new[1] & !permitted != 0 || new[0] & !new[1] != 0 || new[2] & !may_inherit != 0 {
        return Err(EPERM.into());
    }
    call.process_mut().credentials.set_capabilities(new);
    Ok(0)
}
