//! `shmget(2)`, `shmat(2)`, `shmctl(2)`.

use super::access::{Access, IPC_RMID, IPC_SET, IPC_STAT, READ, WRITE};
use super::keys;
use super::segment::Segment;
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::{EIDRM, EINVAL, ENOMEM, Errno};
use crate::mapping::zone::{self, Zone};
use memory::{Backing, MapError, Mapping, Memory, Name, ObjectId, PAGE_SIZE, Protection, Sharing, SpaceId};

/// Attach for reading only.
const SHM_RDONLY: u64 = 0o10_000;
/// Round the address down.
const SHM_RND: u64 = 0o20_000;
/// Replace what is there.
const SHM_REMAP: u64 = 0o40_000;
/// Attach for execution.
const SHM_EXEC: u64 = 0o100_000;
/// Huge pages.
const SHM_HUGETLB: u64 = 0o4000;
/// The segment is removed when nobody has it attached any more.
const SHM_DEST: u32 = 0o1000;
/// A mode bit: the segment is locked in memory.
const SHM_LOCKED: u32 = 0o2000;

/// Lock it in memory, and unlock it: no effect where nothing is swapped.
const SHM_LOCK: u64 = 11;
const SHM_UNLOCK: u64 = 12;

/// `shmget(2)`.
pub fn shmget(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (key, [_, size, flags, ..]) = (call.int(0), call.args);
    if flags & SHM_HUGETLB != 0 {
        return call.unsupported("SHM_HUGETLB");
    }
    if let Some(id) = keys::find(call, &call.kernel.ipc.segments, key, flags)? {
        let segment = keys::get(&call.kernel.ipc.segments, id)?;
        return if size > segment.size { Err(EINVAL.into()) } else { Ok(id as u64) };
    }
    let length =
        size.checked_next_multiple_of(PAGE_SIZE).filter(|length| (1..1 << 46).contains(length)).ok_or(EINVAL)?;
    let id = keys::number(call, |ipc| &ipc.segments)?;
    let object = call.fresh_id().0;
    call.memory.create_object(ObjectId(object), length);
    let times = [0, 0, seconds(call.kernel)];
    let segment = Segment { access: Access::new(call, key, flags), object, size, times, creator: call.pid, last: 0 };
    call.kernel.ipc.segments.insert(id, segment);
    Ok(id as u64)
}

fn seconds(kernel: &Kernel) -> u64 {
    kernel.clock.real() / 1_000_000_000
}

/// `shmat(2)`.
pub fn shmat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (id, [_, address, flags, ..]) = (call.int(0), call.args);
    let segment = keys::get(&call.kernel.ipc.segments, id)?;
    let writes = flags & SHM_RDONLY == 0;
    segment.access.check(call, if writes { READ | WRITE } else { READ })?;
    let length = segment.size.next_multiple_of(PAGE_SIZE);
    let object = ObjectId(segment.object);
    let name = format!("/SYSV{:08x} (deleted)", segment.access.key as u32);
    let start = place(call, address, length, flags)?;
    let mut protection = if writes { Protection::READ.union(Protection::WRITE) } else { Protection::READ };
    if flags & SHM_EXEC != 0 {
        protection = protection.union(Protection::EXECUTE);
    }
    let mapping = Mapping {
        start,
        len: length,
        protection,
        backing: Backing::Object { id: object, offset: 0 },
        sharing: Sharing::Shared,
        grows_down: false,
        name: Name::Path(name.into()),
    };
    let space = call.space();
    call.memory.map(space, mapping).map_err(errno)?;
    touch(call, id, 0);
    Ok(start)
}

fn errno(error: MapError) -> Errno {
    match error {
        MapError::NoMemory => ENOMEM,
        _ => EINVAL,
    }
}

fn place(call: &Call<'_>, address: u64, length: u64, flags: u64) -> Result<u64, Errno> {
    if address == 0 {
        return zone::find_gap(call.memory, call.space(), Zone::of(call.tid, call.pid), length).ok_or(ENOMEM);
    }
    let start = match address % PAGE_SIZE {
        0 => address,
        // Nobody means to replace what is at 0.
        rest if flags & SHM_RND != 0 && (address > rest || flags & SHM_REMAP == 0) => address - rest,
        _ => return Err(EINVAL),
    };
    let end = start.checked_add(length).ok_or(EINVAL)?;
    let is_taken = call.memory.mappings_in(call.space(), start, end).next().is_some();
    if is_taken && flags & SHM_REMAP == 0 { Err(EINVAL) } else { Ok(start) }
}

/// Notes who attached (0) or detached (1) a segment, and when.
fn touch(call: &mut Call<'_>, id: i32, which: usize) {
    let (now, pid) = (seconds(call.kernel), call.pid.0);
    if let Some(segment) = call.kernel.ipc.segments.get_mut(&id) {
        segment.times[which] = now;
        segment.last = pid;
    }
}

/// `shmdt(2)`.
pub fn shmdt(call: &mut Call<'_>) -> Result<u64, Stop> {
    let address = call.args[0];
    let space = call.space();
    let mapping = call.memory.mapping_at(space, address).filter(|mapping| mapping.start == address).ok_or(EINVAL)?;
    let Backing::Object { id: object, offset: 0 } = mapping.backing else {
        return Err(EINVAL.into());
    };
    let found = call.kernel.ipc.segments.iter().find(|(_, segment)| segment.object == object.0);
    let (id, length) = found.map(|(id, segment)| (*id, segment.size.next_multiple_of(PAGE_SIZE))).ok_or(EINVAL)?;
    for (start, length) in pieces(call.memory, space, object, address, length) {
        call.memory.unmap(space, start, length).map_err(errno)?;
    }
    touch(call, id, 1);
    sweep(call.kernel, call.memory);
    Ok(0)
}

/// What is left of an attachment that `mprotect(2)` or `munmap(2)` may have torn.
fn pieces(memory: &Memory, space: SpaceId, object: ObjectId, address: u64, length: u64) -> Vec<(u64, u64)> {
    let belongs = |mapping: &&Mapping| match mapping.backing {
        Backing::Object { id, offset } => id == object && mapping.start - address == offset,
        Backing::Anonymous => false,
    };
    let mappings = memory.mappings_in(space, address, address + length).filter(belongs);
    mappings.map(|mapping| (mapping.start, mapping.len)).collect()
}

/// How many times a segment is attached, in all processes.
fn attachments(memory: &Memory, segment: &Segment) -> u64 {
    let shows = |mapping: &Mapping| match mapping.backing {
        Backing::Object { id, .. } => id.0 == segment.object,
        Backing::Anonymous => false,
    };
    let in_space = |space: SpaceId| memory.mappings(space).filter(|mapping| shows(mapping)).count() as u64;
    memory.spaces().map(in_space).sum()
}

/// Ends segments that were removed and that nobody has attached any more.
pub fn sweep(kernel: &mut Kernel, memory: &mut Memory) {
    let is_over = |segment: &Segment| segment.access.mode & SHM_DEST != 0 && attachments(memory, segment) == 0;
    let over: Vec<i32> =
        kernel.ipc.segments.iter().filter(|(_, segment)| is_over(segment)).map(|(id, _)| *id).collect();
    for id in over {
        if let Some(segment) = kernel.ipc.segments.remove(&id) {
            memory.drop_object(ObjectId(segment.object));
        }
    }
}

/// `shmctl(2)`.
pub fn shmctl(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (id, argument) = (call.int(0), call.args[2]);
    match u64::from(call.args[1] as u32) {
        IPC_RMID => remove(call, id),
        IPC_SET => change(call, id, argument),
        IPC_STAT => tell(call, id, argument),
        command @ (SHM_LOCK | SHM_UNLOCK) => {
            keys::get(&call.kernel.ipc.segments, id)?.access.check_owner(call)?;
            let segment = call.kernel.ipc.segments.get_mut(&id).ok_or(EINVAL)?;
            segment.access.mode &= !SHM_LOCKED;
            if command == SHM_LOCK {
                segment.access.mode |= SHM_LOCKED;
            }
            Ok(0)
        }
        command @ (3 | 13..=15) => call.unsupported(format!("command {command}")),
        _ => Err(EINVAL.into()),
    }
}

/// A removed segment has no key any more; it ends with the last that has it attached.
fn remove(call: &mut Call<'_>, id: i32) -> Result<u64, Stop> {
    keys::get(&call.kernel.ipc.segments, id)?.access.check_owner(call)?;
    let segment = call.kernel.ipc.segments.get_mut(&id).ok_or(EINVAL)?;
    segment.access.mode |= SHM_DEST;
    segment.access.key = 0;
    sweep(call.kernel, call.memory);
    Ok(0)
}

fn change(call: &mut Call<'_>, id: i32, argument: u64) -> Result<u64, Stop> {
    let mut access = keys::get(&call.kernel.ipc.segments, id)?.access.clone();
    access.check_owner(call)?;
    access.load(call, argument)?;
    let now = seconds(call.kernel);
    let segment = call.kernel.ipc.segments.get_mut(&id).ok_or(EIDRM)?;
    (segment.access, segment.times[2]) = (access, now);
    Ok(0)
}

/// `struct shmid64_ds`.
fn tell(call: &mut Call<'_>, id: i32, argument: u64) -> Result<u64, Stop> {
    let segment = keys::get(&call.kernel.ipc.segments, id)?;
    segment.access.check(call, READ)?;
    let mut bytes = segment.access.encode();
    bytes.extend(segment.size.to_le_bytes());
    bytes.extend(segment.times.map(u64::to_le_bytes).concat());
    bytes.extend(segment.creator.0.to_le_bytes());
    bytes.extend(segment.last.to_le_bytes());
    bytes.extend(attachments(call.memory, segment).to_le_bytes());
    bytes.extend([0; 16]);
    call.store(argument, &bytes)?;
    Ok(0)
}
