//! Where mappings go for which their creator names no address: each thread has a zone of its own, and each library that a
//! program with threads loads.
//!
//! Linux puts them into the highest gap of the whole address space, so that an address depends on what all other threads
//! have mapped before, their stacks included. Nothing may rely on that. With zones, an address follows from the creator's
//! creation path and from what it has mapped itself: mappings of different threads are independent, and states meet again.
//!
//! **Invariant:** the place that a thread gets in its zone depends on no mapping outside of it. The first thread of a process
//! has what is in no other zone, as a process without threads has on Linux.
//!
//! Example: threads A and B each call `mmap(NULL, 4096, ...)`. On Linux whoever comes first gets
//! the higher address, so both orders lead to different states and each must be explored. Here A's
//! page is in A's zone and B's in B's: the two calls are independent, one order is enough, and the
//! addresses that a counterexample shows are the same in every schedule.
//!
//! A library is loaded by whichever thread needs it first (glibc loads `libgcc_s.so.1` at the first `pthread_exit(3)`), so its
//! address must follow from the library alone.

use crate::id::{Id, Pid, Tid};
use memory::{Memory, SpaceId};
use std::ops::Range;

/// Where mappings of first threads go: below this, downwards, as without randomisation.
pub(super) const TOP: u64 = 0x7fff_f7ff_f000;
/// The first zone; those of other threads follow by their numbers.
const FIRST: u64 = 0x6000_0000_0000;
/// Bytes of a zone. Who needs more gets it where first threads do.
///
/// Larger than the 64 MiB that glibc reserves for an arena of `malloc(3)` with its alignment (128
/// MiB are asked for), and than the default stack of 8 MiB many times over.
pub const SIZE: u64 = 256 << 20;
/// Numbers of threads have five digits.
const THREADS: u64 = 100_000;
/// Zones of libraries, behind those of threads. Libraries that share one are placed in the order in which they are loaded.
const LIBRARIES: u64 = 1024;

/// A zone, as a number: 0 is that of first threads.
///
/// Also an object of footprints: calls of a thread on mappings write its zone, accesses read the
/// zone of their address (`checker/src/footprint/mappings.rs`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Zone(pub u64);

impl Zone {
    /// The zone of first threads: all that is in no other.
    pub const COMMON: Self = Self(0);

    /// The zone of a thread.
    ///
    /// Two living threads never have one zone: numbers have five digits (`lifecycle/number.rs`) and
    /// are unique while they live.
    #[must_use]
    pub fn of(tid: Tid, pid: Pid) -> Self {
        if tid.0 == pid.0 { Self::COMMON } else { Self(1 + u64::from(tid.0) % THREADS) }
    }

    /// The zone of a library, by its path.
    #[must_use]
    pub fn of_library(path: &[u8]) -> Self {
        let id = path.iter().fold(Id::named("library"), |id, byte| id.child(u64::from(*byte)));
        Self(1 + THREADS + id.0 % LIBRARIES)
    }

    /// The zone of an address.
    #[must_use]
    pub fn holding(address: u64) -> Self {
        let number =
            address.checked_sub(FIRST).map(|offset| offset / SIZE).filter(|number| *number < THREADS + LIBRARIES);
        number.map_or(Self::COMMON, |number| Self(number + 1))
    }

    /// Its addresses, unless it is the common one.
    fn range(self) -> Option<Range<u64>> {
        let start = FIRST + self.0.checked_sub(1)? * SIZE;
        Some(start..start + SIZE)
    }
}

/// Where a mapping without a wish goes: into the zone, or with first threads if there is no room.
///
/// The fall-back makes the address depend on what first threads have mapped, which is a dependence
/// that the footprint has to name; it happens with mappings beyond 256 MiB only.
#[must_use]
pub fn find_gap(memory: &Memory, space: SpaceId, zone: Zone, length: u64) -> Option<u64> {
    let own = zone.range().and_then(|range| {
        let start = memory.find_gap(space, length, 0, range.end)?;
        range.contains(&start).then_some(start)
    });
    own.or_else(|| memory.find_gap(space, length, 0, TOP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory::{Limit, Mapping, PAGE_SIZE, Protection};

    #[test]
    fn a_place_in_a_zone_depends_on_that_zone_alone() {
        let (mut memory, space) = (Memory::new(Limit { pages: 100, mappings: 100, is_pressed: None }), SpaceId(1));
        memory.create_space(space);
        let [one, two] = [Zone::of(Tid(10_001), Pid(10_000)), Zone::of(Tid(10_002), Pid(10_000))];
        let at = |memory: &Memory, zone| find_gap(memory, space, zone, PAGE_SIZE).expect("there is room");
        let (first, second) = (at(&memory, one), at(&memory, two));
        let map = |memory: &mut Memory, start| {
            memory.map(space, Mapping::anonymous(start, PAGE_SIZE, Protection::READ_WRITE)).expect("it is free");
        };
        map(&mut memory, first);
        assert_eq!(at(&memory, two), second);
        assert_eq!(at(&memory, one), first - PAGE_SIZE);
        assert_eq!((Zone::holding(first), Zone::holding(second)), (one, two));
        let common = at(&memory, Zone::COMMON);
        map(&mut memory, common);
        assert_eq!(at(&memory, one), first - PAGE_SIZE);
    }

    #[test]
    fn what_is_too_large_for_a_zone_goes_where_first_threads_map() {
        let (mut memory, space) = (Memory::new(Limit { pages: 100, mappings: 100, is_pressed: None }), SpaceId(1));
        memory.create_space(space);
        let zone = Zone::of(Tid(99_999), Pid(10_000));
        let start = find_gap(&memory, space, zone, SIZE + PAGE_SIZE).expect("there is room");
        assert_eq!(Zone::holding(start), Zone::COMMON);
        assert_eq!(find_gap(&memory, space, Zone::COMMON, SIZE + PAGE_SIZE), Some(start));
        assert_eq!(Zone::holding(TOP), Zone::COMMON);
    }

    #[test]
    fn a_library_has_a_zone_behind_those_of_threads() {
        let (mut memory, space) = (Memory::new(Limit { pages: 100, mappings: 100, is_pressed: None }), SpaceId(1));
        memory.create_space(space);
        let zone = Zone::of_library(b"/lib/libgcc_s.so.1");
        let start = find_gap(&memory, space, zone, PAGE_SIZE).expect("there is room");
        assert_eq!(Zone::holding(start), zone);
        assert!(zone > Zone::of(Tid(99_999), Pid(10_000)) && zone != Zone::of_library(b"/lib/libm.so.6"));
    }
}
