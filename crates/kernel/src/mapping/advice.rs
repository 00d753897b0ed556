//! Advice, residence and order: `madvise(2)`, `mincore(2)`, `mlock(2)`, `msync(2)`, `membarrier(2)`.

use super::{errno, is_aligned, is_mapped, page_up, range};
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EINVAL, ENOMEM, EPERM};
use crate::process::limit;
use memory::PAGE_SIZE;

/// `msync(2)`: a shared mapping is the file, so there is nothing to write.
///
/// Shared file mappings are the file's own pages (`memory` objects), so `MS_SYNC` has nothing to
/// write and `MS_INVALIDATE` nothing to throw away.
pub fn msync(call: &mut Call<'_>) -> Result<u64, Stop> {
    const BOTH: u64 = 1 | 4;
    let [start, length, flags, ..] = call.args;
    if flags & !7 != 0 || flags & BOTH == BOTH {
        return Err(EINVAL.into());
    }
    let Some((start, length)) = range(start, length).map_err(|_| if is_aligned(start) { ENOMEM } else { EINVAL })?
    else {
        return Ok(0);
    };
    if is_mapped(call, start, length) { Ok(0) } else { Err(ENOMEM.into()) }
}

/// `mincore(2)`.
pub fn mincore(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [start, length, vector, ..] = call.args;
    if !is_aligned(start) {
        return Err(EINVAL.into());
    }
    let Ok(Some((start, length))) = range(start, length) else {
        return if length == 0 { Ok(0) } else { Err(ENOMEM.into()) };
    };
    if !is_mapped(call, start, length) {
        return Err(ENOMEM.into());
    }
    let (mut left, mut place) = (length / PAGE_SIZE, vector);
    while left > 0 {
        let count = left.min(PAGE_SIZE);
        call.store(place, &[1; PAGE_SIZE as usize][..count as usize])?;
        (left, place) = (left - count, place.wrapping_add(count));
    }
    Ok(0)
}

/// `madvise(2)`.
///
/// `MADV_DONTNEED` is the only advice with a meaning that programs rely on: private anonymous pages
/// read as zeros afterwards (`madvise(2)`). Allocators use it in every run, so it is a full member
/// of the family: its footprint is the content of the pages.
pub fn madvise(call: &mut Call<'_>) -> Result<u64, Stop> {
    const DONTNEED: i32 = 4;
    const DONTNEED_LOCKED: i32 = 24;
    let [start, length, ..] = call.args;
    let advice = call.int(2);
    let is_hint = matches!(advice, 0..=3 | 8 | 12..=17 | 20..=23 | 25);
    match advice {
        DONTNEED | DONTNEED_LOCKED => {}
        9..=11 | 18 | 19 => return call.unsupported(format!("advice {advice}")),
        _ if !is_hint => return Err(EINVAL.into()),
        _ => {}
    }
    let Some((start, length)) = range(start, length)? else { return Ok(0) };
    if matches!(advice, DONTNEED | DONTNEED_LOCKED) {
        let space = call.space();
        call.memory.discard(space, start, length).map_err(errno)?;
        return Ok(0);
    }
    // All other advice may be ignored, as the manual says; MADV_FREE then keeps the content.
    if is_mapped(call, start, length) { Ok(0) } else { Err(ENOMEM.into()) }
}

/// All pages that a range touches.
fn whole_pages(call: &Call<'_>) -> Result<(u64, u64), Stop> {
    let [start, length, ..] = call.args;
    let end = start.checked_add(length).and_then(page_up).ok_or(EINVAL)?;
    let start = start - start % PAGE_SIZE;
    Ok((start, end - start))
}

/// `mlock(2)`: nothing is ever swapped out.
///
/// Checks what Linux checks and does nothing else: whether memory is resident cannot be observed
/// here.
pub fn mlock(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (start, length) = whole_pages(call)?;
    let is_free = call.can(Capability::IpcLock);
    let limit = call.process().limits[limit::LOCKED].0;
    if !is_free && limit == 0 {
        return Err(EPERM.into());
    }
    if !is_free && length > limit || !is_mapped(call, start, length) { Err(ENOMEM.into()) } else { Ok(0) }
}

pub fn munlock(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (start, length) = whole_pages(call)?;
    if is_mapped(call, start, length) { Ok(0) } else { Err(ENOMEM.into()) }
}

pub fn mlock2(call: &mut Call<'_>) -> Result<u64, Stop> {
    if call.args[2] & !1 != 0 { Err(EINVAL.into()) } else { mlock(call) }
}

pub fn mlockall(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = call.args[0];
    if flags == 0 || flags & !7 != 0 || flags == 4 { Err(EINVAL.into()) } else { Ok(0) }
}

pub fn munlockall(_: &mut Call<'_>) -> Result<u64, Stop> {
    Ok(0)
}

/// `membarrier(2)`: memory is in one order here, so there is nothing to wait for. Who searches with store buffers empties those of
/// the other threads first.
///
/// Registration is kept because the expedited commands fail without it.
pub fn membarrier(call: &mut Call<'_>) -> Result<u64, Stop> {
    const GLOBAL: i32 = 1;
    const REGISTERS: i32 = 4 | 16 | 64;
    const PRIVATE: i32 = 8 | 32;
    let command = call.int(0);
    if call.args[1] != 0 {
        return Err(EINVAL.into());
    }
    match command {
        0 => Ok((GLOBAL | 2 | REGISTERS | PRIVATE) as u64),
        GLOBAL | 2 => Ok(0),
        4 | 16 | 64 => {
            call.process_mut().controls.barriers |= command as u32;
            Ok(0)
        }
        // A process must have said that it would use these.
        8 | 32 if call.process().controls.barriers & (command as u32) << 1 == 0 => Err(EPERM.into()),
        8 | 32 => Ok(0),
        _ => Err(EINVAL.into()),
    }
}
