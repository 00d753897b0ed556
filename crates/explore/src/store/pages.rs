//! Zeroed memory in large pages, prefetching, and eight comparisons at once: the only unsafe lines of the engine.
//!
//! A table of a gigabyte that is probed at random spends half its time in the page walker unless its pages are large;
//! Linux gives large pages on `madvise(2)`.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Size and alignment of a large page.
const LARGE: usize = 2 << 20;

/// Atomic integers for which all bits zero is the value zero.
///
/// # Safety
/// Only types without padding or invalid bit patterns may implement it.
pub unsafe trait Word: Send + Sync {}
// SAFETY: a plain integer inside.
unsafe impl Word for AtomicU32 {}
// SAFETY: a plain integer inside.
unsafe impl Word for AtomicU64 {}

/// A fixed slice of atomics, zero at first; pages that were never touched cost nothing.
///
/// `MAP_NORESERVE` and never touched pages: a table can be reserved for its largest size and costs
/// what is used. Zero is "empty" everywhere, so fresh memory needs no initialisation.
pub struct Pages<T: Word> {
    /// What `munmap(2)` takes.
    mapping: NonNull<libc::c_void>,
    mapped: usize,
    /// The aligned start inside the mapping.
    start: NonNull<T>,
    len: usize,
    owns: PhantomData<T>,
}

// SAFETY: the memory is owned by the value, and its words are atomics that threads may share.
unsafe impl<T: Word> Send for Pages<T> {}
// SAFETY: as above; a shared `Pages` only hands out shared atomics.
unsafe impl<T: Word> Sync for Pages<T> {}

impl<T: Word> Pages<T> {
    /// `len` zeros, or `None` if the system has no room. Most of them will be used.
    #[must_use]
    pub fn zeroed(len: usize) -> Option<Self> {
        let pages = Self::mapped(len)?;
        pages.advise_large(0);
        Some(pages)
    }

    /// The same if few of them may ever be used: the first part stays in small pages, since most searches need no more
    /// and clearing a large page takes a while.
    #[must_use]
    pub fn reserved(len: usize) -> Option<Self> {
        let pages = Self::mapped(len)?;
        pages.advise_large(LARGE);
        Some(pages)
    }

    /// Asks the processor to fetch the line of a word soon. Whether there is such a word is not checked: that would cost
    /// more than the request.
    #[inline]
    pub fn prefetch(&self, word: usize) {
        prefetch_at(self.start.as_ptr().wrapping_add(word));
    }

    /// Moves the first part to a large page, if the kernel can do that.
    pub fn make_first_large(&self) {
        /// From Linux 6.1 on; older ones refuse it.
        const MADV_COLLAPSE: libc::c_int = 25;
        if self.len * size_of::<T>() >= LARGE {
            // SAFETY: the range is part of the mapping, and its contents stay what they are.
            unsafe { libc::madvise(self.start.as_ptr().cast(), LARGE, MADV_COLLAPSE) };
        }
    }

    /// Asks for large pages from `skip` bytes on.
    fn advise_large(&self, skip: usize) {
        let bytes = self.len * size_of::<T>();
        if bytes >= LARGE && bytes > skip {
            // SAFETY: the range is part of the mapping; advice that is refused changes nothing.
            unsafe {
                let start = self.start.as_ptr().cast::<libc::c_void>().byte_add(skip);
                libc::madvise(start, bytes - skip, libc::MADV_HUGEPAGE)
            };
        }
    }

    /// `len` zeros in a mapping that starts where a large page could.
    fn mapped(len: usize) -> Option<Self> {
        let bytes = len.checked_mul(size_of::<T>())?.max(1);
        let slack = if bytes >= LARGE { LARGE } else { 0 };
        let mapped = bytes.checked_add(slack)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: an anonymous mapping at an address of the kernel's choosing touches no memory of ours.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), mapped, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return None;
        }
        let mapping = NonNull::new(address)?;
        let skip = if slack == 0 { 0 } else { address.align_offset(LARGE) };
        // SAFETY: `skip` is less than the slack, so the result is inside the mapping.
        let start = unsafe { mapping.byte_add(skip) };
        Some(Self { mapping, mapped, start: start.cast(), len, owns: PhantomData })
    }
}

impl<T: Word> Deref for Pages<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` words from `start` are mapped, aligned, zeroed at creation and live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Word> Drop for Pages<T> {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `zeroed` made, and no borrow of it is left.
        unsafe { libc::munmap(self.mapping.as_ptr(), self.mapped) };
    }
}

/// Asks the processor to fetch the line of `word` soon.
#[inline]
pub fn prefetch<T>(word: &T) {
    prefetch_at(word);
}

/// The same for an address where there may be nothing.
#[inline]
fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Which of eight entries have this tag in their upper half, or zero there: a bit for each.
///
/// The entries may be written meanwhile; each is read as it was or as it will be.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn ends(entries: &[AtomicU64; 8], tag: u32) -> u32 {
    let mask: u32;
    // SAFETY: reads the 64 bytes of `entries` and touches nothing but registers. Whole words are read at once by every
    // processor there is, which only assembly may rely upon.
    unsafe {
        std::arch::asm!(
            "movd {t}, {tag:e}",
            "pshufd {t}, {t}, 0",
            "movups {a}, [{p}]",
            "movups {b}, [{p} + 16]",
            "shufps {a}, {b}, 0xdd",
            "movups {c}, [{p} + 32]",
            "movups {b}, [{p} + 48]",
            "shufps {c}, {b}, 0xdd",
            "pxor {b}, {b}",
            "movaps {d}, {a}",
            "pcmpeqd {d}, {t}",
            "pcmpeqd {a}, {b}",
            "por {a}, {d}",
            "pcmpeqd {t}, {c}",
            "pcmpeqd {c}, {b}",
            "por {c}, {t}",
            "packssdw {a}, {c}",
            "packsswb {a}, {b}",
            "pmovmskb {mask:e}, {a}",
            p = in(reg) entries.as_ptr(),
            tag = in(reg) tag,
            t = out(xmm_reg) _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            mask = lateout(reg) mask,
            options(nostack, readonly, preserves_flags),
        );
    }
    mask
}

/// Which of eight entries have this tag in their upper half, or zero there: a bit for each.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn ends(entries: &[AtomicU64; 8], tag: u32) -> u32 {
    ends_one_by_one(entries, tag)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn ends_one_by_one(entries: &[AtomicU64; 8], tag: u32) -> u32 {
    let is_end = |entry: &AtomicU64| {
        let upper = (entry.load(std::sync::atomic::Ordering::Relaxed) >> 32) as u32;
        upper == tag || upper == 0
    };
    entries.iter().rev().fold(0, |mask, entry| mask << 1 | u32::from(is_end(entry)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn pages_start_at_zero_and_keep_what_is_written() {
        for len in [1, 511, 1 << 20] {
            let pages = Pages::<AtomicU64>::zeroed(len).unwrap();
            assert!(pages.iter().all(|word| word.load(Relaxed) == 0));
            pages[len - 1].store(7, Relaxed);
            assert_eq!(pages[len - 1].load(Relaxed), 7);
        }
    }

    #[test]
    fn all_entries_of_a_line_are_compared_at_once_as_one_by_one() {
        let pages = Pages::<AtomicU64>::zeroed(8).unwrap();
        let line: &[AtomicU64; 8] = pages[..].try_into().unwrap();
        let mut seed = 1_u64;
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let upper = [0, 1, 7, 0x8000_0000, 0xffff_ffff][(seed >> 40) as usize % 5];
            line[(seed >> 50) as usize % 8].store(upper << 32 | seed & 0xffff_ffff, Relaxed);
            for tag in [1, 7, 0x8000_0000, 0xffff_ffff, 5] {
                assert_eq!(ends(line, tag), ends_one_by_one(line, tag));
            }
        }
    }

    #[test]
    fn a_request_beyond_the_address_space_is_refused() {
        assert!(Pages::<AtomicU64>::zeroed(usize::MAX / 4).is_none());
        assert!(Pages::<AtomicU64>::zeroed(1 << 57).is_none());
    }
}
