//! Mappings that grow, shrink and move: `brk(2)`, `mremap(2)`.

use super::zone::{self, Zone};
use super::{check_space, errno, is_aligned, page_up};
use crate::call::{Call, Stop};
use crate::errno::{EFAULT, EINVAL, ENOMEM};
use crate::process::limit;
use memory::{MapError, Mapping, Name, PAGE_SIZE, Protection, USER_END};

/// `brk(2)`: the kernel's answer is always where the heap ends now.
pub fn brk(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (start, end) = call.process().heap;
    let wanted = call.args[0];
    if wanted >= start && move_heap_end(call, end, wanted).is_some() {
        call.process_mut().heap.1 = wanted;
        return Ok(wanted);
    }
    Ok(end)
}

/// The heap ends where `brk(2)` was told, mappings end at pages: the difference is why both are
/// kept. Shrinking unmaps at once, so that a read behind the new end faults as on Linux.
fn move_heap_end(call: &mut Call<'_>, end: u64, wanted: u64) -> Option<()> {
    let (old, new) = (page_up(end)?, page_up(wanted)?);
    let space = call.space();
    if new < old {
        return call.memory.unmap(space, new, old - new).ok();
    }
    if new == old {
        return Some(());
    }
    let process = call.process();
    // One page stays free above it.
    let is_free = new < USER_END && call.memory.mappings_in(space, old, new + PAGE_SIZE).next().is_none();
    let is_allowed = wanted - process.heap.0 <= process.limits[limit::DATA].0;
    if !is_free || !is_allowed || check_space(call, new - old).is_err() {
        return None;
    }
    let heap = Mapping::anonymous(old, new - old, Protection::READ_WRITE);
    call.memory.map(space, Mapping { name: Name::Heap, ..heap }).ok()
}

/// `mremap(2)`.
///
/// First in place, then, with `MREMAP_MAYMOVE`, in a gap of the caller's zone. An old length of 0
/// duplicates a shared mapping (`mremap(2)`, notes).
pub fn mremap(call: &mut Call<'_>) -> Result<u64, Stop> {
    const MAY_MOVE: u64 = 1;
    const FIXED: u64 = 2;
    const DONT_UNMAP: u64 = 4;
    let [from, old, new, flags, to, _] = call.args;
    if flags & !(MAY_MOVE | FIXED | DONT_UNMAP) != 0 || flags & FIXED != 0 && flags & MAY_MOVE == 0 {
        return Err(EINVAL.into());
    }
    if flags & DONT_UNMAP != 0 {
        return call.unsupported("MREMAP_DONTUNMAP");
    }
    let (old, new) = (page_up(old).ok_or(EINVAL)?, page_up(new).ok_or(EINVAL)?);
    if !is_aligned(from) || new == 0 || old == 0 && flags & MAY_MOVE == 0 {
        return Err(EINVAL.into());
    }
    let overlaps = || from < to.saturating_add(new) && to < from.saturating_add(old);
    if flags & FIXED != 0 && (!is_aligned(to) || overlaps()) {
        return Err(EINVAL.into());
    }
    if flags & FIXED != 0 {
        return remap(call, from, old, to, new);
    }
    let space = call.space();
    call.memory.mapping_at(space, from).ok_or(EFAULT)?;
    if new > old {
        check_space(call, new - old)?;
    }
    let in_place = if old == 0 { Err(EINVAL.into()) } else { remap(call, from, old, from, new) };
    if in_place.is_ok() || in_place == Err(EFAULT.into()) {
        return in_place;
    }
    if flags & MAY_MOVE == 0 {
        return Err(ENOMEM.into());
    }
    let to = zone::find_gap(call.memory, space, Zone::of(call.tid, call.pid), new).ok_or(ENOMEM)?;
    remap(call, from, old, to, new)
}

fn remap(call: &mut Call<'_>, from: u64, old: u64, to: u64, new: u64) -> Result<u64, Stop> {
    let space = call.space();
    let moved = call.memory.remap(space, from, old, to, new);
    moved.map_err(|error| if error == MapError::NotMapped { EFAULT } else { errno(error) })?;
    Ok(to)
}
