//! Footprints of calls on mappings: the zones of an address space that they read and change.
//!
//! A call writes each zone in which it maps, unmaps or looks for room, and reads the space. Whatever concerns all mappings
//! (`fork(2)`, `execve(2)`, a mapping that finds no room in its zone) writes the space. An access to a page whose mapping
//! changes reads its zone.

use super::PendingCall;
use super::access::{Kind, object, reads, writes};
use explore::graph::Access;
use kernel::mapping;
use kernel::mapping::zone::{self, Zone};
use kernel::process::limit;
use kernel::table::{self, Remaps};
use memory::SpaceId;
use std::collections::BTreeSet;

const MAP_FIXED: u64 = 0x10;
const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;
const MAP_32BIT: u64 = 0x40;
const MREMAP_FIXED: u64 = 2;
/// A range in more zones than that counts as the whole space.
const ZONES_MAX: u64 = 8;
/// A space with more mappings than that may come to the limit of their number, which all threads share.
const MAPPINGS_MAX: usize = 30_000;

impl PendingCall<'_> {
    /// What a call on mappings touches; nothing if nobody shares the caller's memory.
    pub(super) fn remap(&self) -> Vec<Access> {
        if self.is_alone() {
            return Vec::new();
        }
        let space = self.space().0;
        let Some(zones) = self.zones().filter(|_| !self.is_bounded()) else { return vec![writes(Kind::Space, space)] };
        zones.into_iter().map(|zone| access(space, zone, true)).chain([reads(Kind::Space, space)]).collect()
    }

    /// Whether a limit on all mappings together may decide what the call returns.
    fn is_bounded(&self) -> bool {
        let limit = self.kernel.processes.get(&self.pid()).map_or(0, |process| process.limits[limit::SPACE].0);
        limit != u64::MAX || self.memory.mappings(self.space()).nth(MAPPINGS_MAX).is_some()
    }

    /// Zones that the call changes or looks for room in; nothing if these are too many.
    fn zones(&self) -> Option<BTreeSet<Zone>> {
        let [first, second, third, fourth, fifth, _] = self.args;
        let given = zones_of(first, second);
        let own = || Zone::of(self.tid, self.pid());
        let wanted = || mapping::zone_of(self.kernel, self.tid, fourth, fifth as i32);
        match table::row(self.number)?.remaps? {
            Remaps::Map if fourth & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 => given,
            Remaps::Map if fourth & MAP_32BIT != 0 => None,
            Remaps::Map if first == 0 => self.room(second, wanted()),
            Remaps::Map => union([given, self.room(second, wanted())]),
            Remaps::Move if fourth & MREMAP_FIXED != 0 => union([given, zones_of(fifth, third)]),
            Remaps::Move => union([given, zones_of(first, third), self.room(third, own())]),
            Remaps::Unmap | Remaps::Protect | Remaps::Advise => given,
            Remaps::Break => {
                let (start, end) = self.kernel.processes.get(&self.pid())?.heap;
                union([zones_of(start, end - start), zones_of(start, first.saturating_sub(start))])
            }
            Remaps::Detach => None,
        }
    }

    /// The zone in which the call finds room; nothing if that is not the one that it wants.
    fn room(&self, length: u64, wanted: Zone) -> Option<BTreeSet<Zone>> {
        let is_there = |start: u64| Zone::holding(start) == wanted;
        zone::find_gap(self.memory, self.space(), wanted, length).is_some_and(is_there).then(|| [wanted].into())
    }
}

/// What an access to memory reads of the mappings of its pages.
pub(super) fn reads_mapping(space: SpaceId, address: u64, size: u64) -> impl Iterator<Item = Access> {
    let (first, last) = (Zone::holding(address), Zone::holding(address.saturating_add(size.max(1) - 1)));
    let second = (last != first).then_some(last);
    let zones = std::iter::once(first).chain(second).map(move |zone| access(space.0, zone, false));
    zones.chain([reads(Kind::Space, space.0)])
}

fn access(space: u64, zone: Zone, write: bool) -> Access {
    Access { object: object(Kind::Space, space, 1 + zone.0), write, plain: false }
}

/// The zones of a range of addresses; nothing if these are too many.
fn zones_of(start: u64, length: u64) -> Option<BTreeSet<Zone>> {
    let last = start.checked_add(length.max(1) - 1)?;
    if length > ZONES_MAX * zone::SIZE {
        return None;
    }
    let addresses = (start..last).step_by(zone::SIZE as usize).chain([last]);
    Some(addresses.map(Zone::holding).collect())
}

fn union<const N: usize>(parts: [Option<BTreeSet<Zone>>; N]) -> Option<BTreeSet<Zone>> {
    parts.into_iter().try_fold(BTreeSet::new(), |all, part| Some(&all | &part?))
}
