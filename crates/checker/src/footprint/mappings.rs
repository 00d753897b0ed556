//! Footprints of mappings: whether an access faults depends on the mapping of its page.
//!
//! Every access reads the mapping of its page, and syscalls that change mappings write the zone of the page. Few pages are
//! remapped while several threads use them, so an access reads its zone only in address ranges for which that was seen
//! (`Refinement::remapped`, which grows monotonically). The footprint of the syscall does not depend on them.
//!
//! Example: thread A unmaps a page, thread B reads it. On one order B faults. The call writes the
//! zone of the page; B's access reads the zone only if `remapped` has the range. The first time it
//! does not, so only one order is explored; but the step of A has recorded the range, the
//! refinement has grown, and the search begins anew with accesses to the range visible.

use super::access::{self, Kind};
use super::zones::reads_mapping;
use crate::system::executor::Executor;
use crate::system::state::State;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use explore::graph::Access;
use kernel::table::Remaps;
use kernel::{Id, Tid};
use memory::{Mapping, PAGE_SIZE, Protection, SpaceId};
use std::ops::Range;

const MAP_FIXED: u64 = 0x10;
const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;
/// Advice that discards the content of pages: `MADV_DONTNEED`, `MADV_FREE`, `MADV_REMOVE`, `MADV_DONTNEED_LOCKED`.
const DISCARDING: [u64; 4] = [4, 8, 9, 24];
const MREMAP_FIXED: u64 = 2;

/// The addresses of a mapping.
fn whole(mapping: &Mapping) -> Range<u64> {
    mapping.start..mapping.start + mapping.len
}

/// The page of an address.
fn page(address: u64) -> u64 {
    address & !(PAGE_SIZE - 1)
}

/// The effect of a syscall on mappings, computed before it is made.
///
/// Computed before the call, since behind it the old mappings are gone.
pub(crate) struct Remap {
    space: SpaceId,
    /// Ranges of pages whose mapping or content it changes.
    ranges: Vec<Range<u64>>,
    /// Whether later accesses there read other content, and do not fault.
    discards: bool,
}

impl State {
    /// The effect of a pending syscall on mappings that other threads use.
    pub(crate) fn remap_of(&self, tid: Tid, (number, args): (u64, [u64; 6])) -> Option<Remap> {
        let remaps = kernel::table::row(number)?.remaps?;
        let space = self.world.space(tid);
        if self.shares_nothing(space) || self.is_life(tid) {
            return None;
        }
        let [first, second, third, fourth, fifth, _] = args;
        let given = first..first.saturating_add(second);
        let mut ranges = Vec::new();
        match remaps {
            Remaps::Unmap => ranges.extend(self.mapped(space, given, |_| true)),
            Remaps::Protect => {
                let wanted = Protection::from_bits(third);
                ranges.extend(self.mapped(space, given, |mapping| mapping.protection != wanted));
            }
            Remaps::Advise if DISCARDING.contains(&third) => ranges.extend(self.mapped(space, given, |_| true)),
            Remaps::Map if fourth & MAP_FIXED != 0 && fourth & MAP_FIXED_NOREPLACE == 0 => {
                ranges.extend(self.mapped(space, given, |_| true));
            }
            Remaps::Move => {
                ranges.extend(self.mapped(space, given, |_| true));
                let moved = fifth..fifth.saturating_add(third);
                ranges.extend(self.mapped(space, moved, |_| fourth & MREMAP_FIXED != 0));
            }
            Remaps::Detach => ranges.extend(self.world.memory.mapping_at(space, first).map(whole)),
            Remaps::Break => ranges.extend(self.heap_end(space, first)),
            Remaps::Advise | Remaps::Map => {}
        }
        let discards = matches!(remaps, Remaps::Advise | Remaps::Map | Remaps::Move);
        Some(Remap { space, ranges, discards })
    }

    /// The end of the heap that `brk(2)` unmaps.
    fn heap_end(&self, space: SpaceId, wanted: u64) -> Option<Range<u64>> {
        let mut mappings = self.world.memory.mappings(space);
        let heap = mappings.find(|mapping| mapping.name == memory::Name::Heap).map(whole)?;
        heap.contains(&wanted).then_some(page(wanted)..heap.end)
    }

    /// The intersections of mappings with a range.
    fn mapped(&self, space: SpaceId, range: Range<u64>, is_meant: impl Fn(&Mapping) -> bool) -> Vec<Range<u64>> {
        let (start, end) = (page(range.start), page(range.end.saturating_add(PAGE_SIZE - 1)));
        let mappings = self.world.memory.mappings_in(space, start, end).filter(|mapping| is_meant(mapping));
        mappings.map(whole).map(|mapping| mapping.start.max(start)..mapping.end.min(end)).collect()
    }
}

impl Stepper<'_> {
    /// Records what a syscall changes of mappings.
    ///
    /// `discards` is the harder case: nobody faults, content changes. If somebody has accessed the
    /// range, its accesses become visible operations.
    pub(crate) fn note_remap(&mut self, step: &mut Step, remap: Option<Remap>) {
        let remap = remap.filter(|_| !self.workload.options.holes.mappings);
        let Some(Remap { space, ranges, discards }) = remap else { return };
        for range in ranges {
            let changes = Access { object: range_object(space, &range), write: true, plain: false };
            step.accesses.extend((!self.workload.options.holes.zones).then_some(changes));
            let is_stack = self.state.overlay.stack_of(range.start, Tid(0)).is_some();
            self.executor.refinement.remap(space, range.clone(), is_stack);
            if discards && self.executor.refinement.is_accessed(space, &range) {
                self.executor.refinement.watch(space, range);
            }
        }
    }
}

impl Executor {
    /// Records that an access reads the mapping of its page.
    pub(crate) fn note_mapping(&mut self, step: &mut Step, space: SpaceId, address: u64, size: u32) {
        self.refinement.note_page(space, address);
        let size = u64::from(size.max(1));
        let accessed = address..address.saturating_add(size);
        if self.refinement.is_remapped(space, &accessed) {
            step.accesses.extend(reads_mapping(space, address, size));
            let ranges = self.refinement.remapped_in(space, &accessed);
            let read = |range| Access { object: range_object(space, range), write: false, plain: true };
            step.accesses.extend(ranges.map(read));
        }
    }

    /// Makes accesses visible whose mapping races with a call: `object` is that of the range.
    ///
    /// Whether an access faults does not depend on where its step is split. But a thread that has accessed the page may go
    /// on behind the call, and see what its caller does next.
    pub(crate) fn split_at(&mut self, object: u64) {
        let range = self.remapped_at(object).cloned();
        range.into_iter().for_each(|(space, range)| self.refinement.watch(space, range));
    }

    /// Whether [`Self::split_at`] would change something.
    pub(crate) fn is_coarse_at(&self, object: u64) -> bool {
        self.remapped_at(object).is_some_and(|range| !self.refinement.watched().any(|known| known == range))
    }

    /// The range whose mapping changes, by its object.
    fn remapped_at(&self, object: u64) -> Option<&(SpaceId, Range<u64>)> {
        self.refinement.remapped().find(|(space, range)| range_object(*space, range) == object)
    }
}

/// A range of pages whose mapping a call changes, as an object: the call writes it, and accesses to pages of it read it.
///
/// Beside the zone, which decides what conflicts: it tells which accesses race with which calls.
fn range_object(space: SpaceId, range: &Range<u64>) -> u64 {
    access::object(Kind::Space, Id(space.0).child(range.start).0, range.end)
}
