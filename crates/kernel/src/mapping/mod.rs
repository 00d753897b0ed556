//! Calls on the address space: mmap, mprotect, brk.
//!
//! Addresses that the caller leaves open come from `zone.rs`. Everything else follows `mmap(2)`;
//! mappings themselves, their splitting and merging are `memory`'s.
//!
//! **Who relies on what is done here:** the checker looks at the row's `Remaps` behind each call to
//! find out which ranges changed, and makes accesses to them depend on it (decision 14,
//! "mappings"). A call that changes mappings without saying so would make a lost `SIGSEGV`.

mod advice;
mod change;
mod transfer;
pub mod zone;

use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{Description, Fd, File};
use crate::errno::{EACCES, EEXIST, EINVAL, ENODEV, ENOMEM, EOPNOTSUPP, EPERM, Errno};
use crate::files;
use crate::id::{Id, Pid, Tid};
use crate::process::limit;
use crate::table::footprint::FootprintRule::{ChangesMappings, Everything, Local, MapsFile};
use crate::table::syscall::Startup;
use crate::table::syscall::{Argument::*, Remaps, Row};
use memory::{Backing, MapError, Mapping, Name, ObjectId, PAGE_SIZE, Protection, Sharing, USER_END};
use zone::{TOP, Zone};

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(9, "mmap", mmap, &[Hex, Size, Hex, Hex, Fd, Hex], MapsFile)
        .partial("no huge pages: ENOMEM, as if none were reserved")
        .maps_code()
        .at_startup(Startup::Loads)
        .remaps(Remaps::Map)
        .silent(),
    Row::full(10, "mprotect", mprotect, &[Hex, Size, Hex], ChangesMappings)
        .maps_code()
        .at_startup(Startup::Loads)
        .remaps(Remaps::Protect)
        .silent(),
    Row::full(11, "munmap", munmap, &[Hex, Size], ChangesMappings)
        .at_startup(Startup::Loads)
        .remaps(Remaps::Unmap)
        .silent(),
    Row::full(12, "brk", change::brk, &[Hex], ChangesMappings)
        .at_startup(Startup::Loads)
        .remaps(Remaps::Break)
        .silent(),
    Row::full(25, "mremap", change::mremap, &[Hex, Size, Size, Hex, Hex], ChangesMappings)
        .partial("not MREMAP_DONTUNMAP")
        .maps_code()
        .remaps(Remaps::Move)
        .silent(),
    Row::full(26, "msync", advice::msync, &[Hex, Size, Hex], Everything),
    Row::full(27, "mincore", advice::mincore, &[Hex, Size, Hex], Everything).partial("whatever is mapped is resident"),
    Row::full(28, "madvise", advice::madvise, &[Hex, Size, Int], ChangesMappings)
        .partial("not MADV_REMOVE, MADV_DONTFORK, MADV_WIPEONFORK and their opposites")
        .remaps(Remaps::Advise)
        .silent(),
    Row::full(149, "mlock", advice::mlock, &[Hex, Size], Everything),
    Row::full(150, "munlock", advice::munlock, &[Hex, Size], Everything),
    Row::full(151, "mlockall", advice::mlockall, &[Hex], Everything),
    Row::full(152, "munlockall", advice::munlockall, &[], Everything),
    Row::absent(216, "remap_file_pages", "ENOSYS: gone from most systems"),
    Row::absent(237, "mbind", "ENOSYS: a kernel without NUMA"),
    Row::absent(238, "set_mempolicy", "ENOSYS: a kernel without NUMA"),
    Row::absent(239, "get_mempolicy", "ENOSYS: a kernel without NUMA"),
    Row::absent(256, "migrate_pages", "ENOSYS: a kernel without NUMA"),
    Row::absent(279, "move_pages", "ENOSYS: a kernel without NUMA"),
    Row::full(310, "process_vm_readv", transfer::process_vm_readv, &[Int, Hex, Size, Hex, Size, Hex], Everything),
    Row::full(311, "process_vm_writev", transfer::process_vm_writev, &[Int, Hex, Size, Hex, Size, Hex], Everything),
    Row::absent(323, "userfaultfd", "ENOSYS: a kernel built without it"),
    Row::full(324, "membarrier", advice::membarrier, &[Int, Hex, Int], Local),
    Row::full(325, "mlock2", advice::mlock2, &[Hex, Size, Hex], Everything),
    Row::absent(329, "pkey_mprotect", "ENOSYS: a kernel built without protection keys"),
    Row::absent(330, "pkey_alloc", "ENOSYS: a kernel built without protection keys"),
    Row::absent(331, "pkey_free", "ENOSYS: a kernel built without protection keys"),
    Row::absent(440, "process_madvise", "ENOSYS: as before Linux 5.10"),
];

const MAP_SHARED: u64 = 1;
const MAP_PRIVATE: u64 = 2;
const MAP_SHARED_VALIDATE: u64 = 3;
const MAP_TYPE: u64 = 0xf;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const MAP_32BIT: u64 = 0x40;
const MAP_GROWSDOWN: u64 = 0x100;
const MAP_DENYWRITE: u64 = 0x800;
const MAP_HUGETLB: u64 = 0x4_0000;
const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;
/// What `MAP_SHARED_VALIDATE` knows; Linux ignores the rest elsewhere.
const MAP_VALID: u64 = 0x1f_ffff & !0x8_0000;

/// Where mappings with `MAP_32BIT` go: below this, downwards.
const TOP_32: u64 = 0x8000_0000;

fn page_up(address: u64) -> Option<u64> {
    address.checked_next_multiple_of(PAGE_SIZE)
}

fn is_aligned(address: u64) -> bool {
    address.is_multiple_of(PAGE_SIZE)
}

fn errno(error: MapError) -> Errno {
    match error {
        MapError::NoMemory | MapError::NotMapped => ENOMEM,
        MapError::Invalid => EINVAL,
        MapError::Occupied => EEXIST,
        MapError::NoObject => ENODEV,
    }
}

/// `mmap(2)`.
///
/// Order of checks as in Linux's `ksys_mmap_pgoff` and `do_mmap`: offset, descriptor, length, sharing, limits, what the
/// descriptor allows, then the place. Programs see the first error that applies.
fn mmap(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [hint, length, protection, flags, _, offset] = call.args;
    let flags = flags & 0xffff_ffff;
    if !is_aligned(offset) {
        return Err(EINVAL.into());
    }
    if flags & MAP_ANONYMOUS == 0 {
        call.description_of(call.int(4))?;
    }
    if length == 0 {
        return Err(EINVAL.into());
    }
    let length = page_up(length).filter(|length| *length <= USER_END).ok_or(ENOMEM)?;
    let sharing = sharing(flags)?;
    if flags & MAP_HUGETLB != 0 {
        return Err(ENOMEM.into());
    }
    check_space(call, length)?;
    let protection = Protection::from_bits(protection);
    let (backing, name) = backing(call, flags, sharing, protection, offset)?;
    let start = place(call, hint, length, flags)?;
    let backing = match backing {
        Some(backing) => backing,
        None => shared_zeros(call, length, flags)?,
    };
    let grows_down = flags & MAP_GROWSDOWN != 0;
    let mapping = Mapping { start, len: length, protection, backing, sharing, grows_down, name };
    let space = call.space();
    let mapped = call.memory.map(space, mapping).map_err(errno);
    if let Backing::Object { id, .. } = backing
        && flags & MAP_ANONYMOUS != 0
    {
        // Nothing but the mapping holds it.
        call.memory.drop_object(id);
    }
    mapped?;
    Ok(start)
}

fn sharing(flags: u64) -> Result<Sharing, Stop> {
    match flags & MAP_TYPE {
        MAP_SHARED_VALIDATE if flags & MAP_ANONYMOUS != 0 => Err(EINVAL.into()),
        MAP_SHARED_VALIDATE if flags & !MAP_VALID != 0 => Err(EOPNOTSUPP.into()),
        MAP_SHARED | MAP_SHARED_VALIDATE => Ok(Sharing::Shared),
        MAP_PRIVATE => Ok(Sharing::Private),
        _ => Err(EINVAL.into()),
    }
}

/// `RLIMIT_AS`.
///
/// O(mappings), but only if a limit is set, which is rare.
fn check_space(call: &Call<'_>, more: u64) -> Result<(), Stop> {
    let limit = call.process().limits[limit::SPACE].0;
    if limit == u64::MAX {
        return Ok(());
    }
    let used: u64 = call.memory.mappings(call.space()).map(|mapping| mapping.len).sum();
    if used + more > limit { Err(ENOMEM.into()) } else { Ok(()) }
}

/// What a new mapping shows; nothing for zeros that are shared, which need an object first.
///
/// Private mappings of files are copy-on-write over the file's object: changes of the file that
/// come later show until the page is first written, which `mmap(2)` leaves open and Linux does.
fn backing(
    call: &mut Call<'_>,
    flags: u64,
    sharing: Sharing,
    protection: Protection,
    offset: u64,
) -> Result<(Option<Backing>, Name), Stop> {
    let zeros = (sharing == Sharing::Private).then_some(Backing::Anonymous);
    if flags & MAP_ANONYMOUS != 0 {
        return Ok((zeros, Name::None));
    }
    let fd: Fd = call.int(4);
    let description = call.description(call.description_of(fd)?).clone();
    check_access(&description, sharing, protection)?;
    let name = Name::Path(String::from_utf8_lossy(&description.path).into());
    match description.file {
        File::Device(files::device::ZERO) => Ok((zeros, name)),
        File::Inode(inode) => {
            let is_regular = call.kernel.inode(inode).is_some_and(|inode| inode.kind == files::Kind::Regular);
            if !is_regular {
                return Err(ENODEV.into());
            }
            let (id, _) = files::content(call.kernel, call.memory, inode)?;
            if sharing == Sharing::Shared {
                let is_sealed = files::seal::check_map(call.kernel, inode).is_err();
                if is_sealed && protection.contains(Protection::WRITE) {
                    return Err(EPERM.into());
                }
                if description.is_writable() {
                    files::disk::refuse_mapping(call, &description.path)?;
                }
                note_access(call, id, description.is_writable() && !is_sealed);
            }
            Ok((Some(Backing::Object { id, offset }), name))
        }
        _ => Err(ENODEV.into()),
    }
}

/// A file must be readable, and writable if the mapping would change it (`mmap(2)`, `EACCES`).
fn check_access(description: &Description, sharing: Sharing, protection: Protection) -> Result<(), Errno> {
    let changes = sharing == Sharing::Shared && protection.contains(Protection::WRITE);
    if !description.is_readable() || changes && !description.is_writable() { Err(EACCES) } else { Ok(()) }
}

/// Remembers which files are mapped shared without the right to change them, for [`mprotect`].
fn note_access(call: &mut Call<'_>, object: ObjectId, is_writable: bool) {
    let read_only = &mut call.process_mut().read_only;
    if is_writable {
        read_only.remove(&object);
    } else {
        read_only.insert(object);
    }
}

/// An object of zeros for memory that is shared: anonymous, or of `/dev/zero`.
fn shared_zeros(call: &mut Call<'_>, length: u64, flags: u64) -> Result<Backing, Stop> {
    let Id(id) = call.fresh_id();
    call.memory.create_object(ObjectId(id), length);
    if flags & MAP_ANONYMOUS == 0 {
        let is_writable = call.description(call.description_of(call.int(4))?).is_writable();
        note_access(call, ObjectId(id), is_writable);
    }
    Ok(Backing::Object { id: ObjectId(id), offset: 0 })
}

/// Where a mapping goes.
///
/// A hint is taken if it is free, as Linux does, and dropped otherwise. A hint makes the address
/// depend on what others have mapped there; programs that give one say which addresses they want.
fn place(call: &Call<'_>, hint: u64, length: u64, flags: u64) -> Result<u64, Stop> {
    let space = call.space();
    if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 {
        let end = hint.checked_add(length).filter(|end| *end <= USER_END).ok_or(ENOMEM)?;
        if !is_aligned(hint) {
            return Err(EINVAL.into());
        }
        let is_taken = || call.memory.mappings_in(space, hint, end).next().is_some();
        if flags & MAP_FIXED_NOREPLACE != 0 && is_taken() {
            return Err(EEXIST.into());
        }
        return Ok(hint);
    }
    let top = if flags & MAP_32BIT != 0 { TOP_32 } else { TOP };
    let is_free = |hint: u64| call.memory.find_gap(space, length, hint, top) == Some(hint);
    let wish = page_up(hint).filter(|hint| hint.checked_add(length).is_some_and(|end| end <= top) && is_free(*hint));
    let place = wish.or_else(|| match flags & MAP_32BIT {
        0 => {
            let zone = zone_of(call.kernel, call.tid, flags, call.int(4));
            zone::find_gap(call.memory, space, zone, length)
        }
        _ => call.memory.find_gap(space, length, 0, top),
    });
    place.ok_or(ENOMEM.into())
}

/// The zone of a mapping for which no address is wished, by the flags and the descriptor that `mmap(2)` was given: that of a
/// library in a program with threads, else the caller's.
#[must_use]
pub fn zone_of(kernel: &Kernel, tid: Tid, flags: u64, fd: Fd) -> Zone {
    let pid = kernel.threads.get(&tid).expect("a caller is a thread").pid;
    library(kernel, pid, flags, fd).map_or_else(|| Zone::of(tid, pid), Zone::of_library)
}

/// The path of the library that is mapped: the loader says so, by a flag that Linux ignores.
///
/// Before a program has threads, its libraries go where those of all programs go on Linux.
fn library(kernel: &Kernel, pid: Pid, flags: u64, fd: Fd) -> Option<&[u8]> {
    let process = kernel.processes.get(&pid).filter(|process| process.had_threads)?;
    let is_library = flags & (MAP_ANONYMOUS | MAP_DENYWRITE) == MAP_DENYWRITE;
    let descriptor = process.descriptors.get(fd).ok().filter(|_| is_library)?;
    kernel.descriptions.get(&descriptor.description).map(|open| &open.path[..])
}

/// A range of whole pages from two arguments; `EINVAL` if it does not begin on a page, nothing if it is empty.
fn range(start: u64, length: u64) -> Result<Option<(u64, u64)>, Errno> {
    if !is_aligned(start) {
        return Err(EINVAL);
    }
    let length = page_up(length).ok_or(EINVAL)?;
    start.checked_add(length).ok_or(EINVAL)?;
    Ok((length > 0).then_some((start, length)))
}

/// Whether every page of a range is mapped.
fn is_mapped(call: &Call<'_>, start: u64, length: u64) -> bool {
    let mut next = start;
    for mapping in call.memory.mappings_in(call.space(), start, start + length) {
        if mapping.start > next {
            return false;
        }
        next = mapping.end();
    }
    next >= start + length
}

/// `munmap(2)`.
fn munmap(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (start, length) = range(call.args[0], call.args[1])?.ok_or(EINVAL)?;
    if start + length > USER_END {
        return Err(EINVAL.into());
    }
    let space = call.space();
    call.memory.unmap(space, start, length).map_err(errno)?;
    Ok(0)
}

/// `mprotect(2)`.
///
/// Linux stops at the first page that fails, with earlier ones changed; here either all pages
/// change or none.
fn mprotect(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [start, length, protection, ..] = call.args;
    const SEMAPHORES: u64 = 8;
    const GROWS: u64 = 0x300_0000;
    if protection & GROWS == GROWS || protection & !(7 | SEMAPHORES | GROWS) != 0 {
        return Err(EINVAL.into());
    }
    if protection & GROWS != 0 {
        return call.unsupported("protection up to the end of a mapping that grows");
    }
    let Some((start, length)) = range(start, length).map_err(|_| if is_aligned(start) { ENOMEM } else { EINVAL })?
    else {
        return Ok(0);
    };
    if protection & 2 != 0 && would_change_files(call, start, length) {
        return Err(EACCES.into());
    }
    let space = call.space();
    call.memory.protect(space, start, length, Protection::from_bits(protection)).map_err(|error| match error {
        MapError::Invalid => ENOMEM,
        error => errno(error),
    })?;
    Ok(0)
}

/// Whether a range shows a file that was opened for reading only, and shares it (`mprotect(2)`, `EACCES`).
fn would_change_files(call: &Call<'_>, start: u64, length: u64) -> bool {
    let read_only = &call.process().read_only;
    let is_closed = |mapping: &Mapping| {
        let object = mapping.object_at(mapping.start).filter(|_| mapping.sharing == Sharing::Shared);
        object.is_some_and(|(object, _)| read_only.contains(&object))
    };
    !read_only.is_empty() && call.memory.mappings_in(call.space(), start, start + length).any(is_closed)
}
