//! Numbers of objects in footprints.
//!
//! Objects with commuting changes (positions, the number of processes, locals that other processes read) have two numbers. In
//! the first a change counts as a *read* and a read as a *write*: so changes are independent of each other but conflict
//! with reads. The second is written by a change in the footprint of the next step only, where it makes the step visible to
//! properties that read the object.

use super::access::{Access, Use, What};
use super::stable::extent;
use crate::ir::{Model, ProctypeId};
use explore::{Bits, Footprint};

const OTHER: u32 = 0;
const COUNT: u32 = 1;
const CREATION: u32 = 3;
const DEATH: u32 = 4;
const LABELS: u32 = 5;
const PER_PROCTYPE: u32 = 7;
/// Elements of arrays are objects of their own while there are at most so many objects in front of the channels.
const GLOBALS_MAX: u32 = 150;

/// Numbers of objects.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    by_offset: Vec<u32>,
    channels: u32,
}

impl Objects {
    /// Numbers everything that a model has.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let mut next = PER_PROCTYPE + 4 * model.proctypes.len() as u32;
        let elements: u32 = model.globals.iter().map(|variable| variable.length.unwrap_or(1)).sum();
        let fine = next + elements <= GLOBALS_MAX;
        let mut by_offset = vec![OTHER; model.globals_size as usize];
        for variable in &model.globals {
            for index in 0..variable.length.unwrap_or(1) {
                let start = (variable.offset + index * variable.stride) as usize;
                by_offset[start..start + variable.scalar.size() as usize].fill(next);
                next += u32::from(fine);
            }
            next += u32::from(!fine);
        }
        Self { by_offset, channels: next }
    }

    /// The scalar at a byte of the vector's global part.
    #[must_use]
    pub fn at(&self, offset: usize) -> Bits {
        Bits::folded(self.by_offset.get(offset).copied().unwrap_or(OTHER))
    }

    /// Everything that a place's indices can reach.
    #[must_use]
    pub fn reach(&self, place: &crate::ir::Place) -> Bits {
        (place.offset..place.offset + extent(place)).fold(Bits::EMPTY, |bits, at| bits.union(self.at(at as usize)))
    }

    fn head(&self, id: i32) -> Bits {
        Bits::folded(self.channels.wrapping_add((id.max(0) as u32) * 2))
    }

    fn tail(&self, id: i32) -> Bits {
        Bits::folded(self.channels.wrapping_add((id.max(0) as u32) * 2 + 1))
    }

    /// The footprint of an operation on a known channel. `length` is known for the next step only.
    #[must_use]
    pub fn channel(&self, id: i32, capacity: u32, how: Use, length: Option<u32>) -> Footprint {
        let (head, tail) = (self.head(id), self.tail(id));
        let both = head.union(tail);
        // A blocked step also reads what could enable it.
        let waits = match how {
            Use::Send if length == Some(capacity) => head,
            Use::Receive if length == Some(0) => tail,
            Use::ReceiveAnywhere if length.is_some() => tail,
            _ => Bits::EMPTY,
        };
        match how {
            Use::Look => Footprint { reads: both, writes: Bits::EMPTY },
            _ if capacity == 0 => Footprint { reads: Bits::EMPTY, writes: both },
            Use::SendSorted => Footprint { reads: Bits::EMPTY, writes: both },
            Use::Send => Footprint { reads: waits, writes: tail },
            Use::Receive | Use::ReceiveAnywhere => Footprint { reads: waits, writes: head },
        }
    }

    /// The footprint of an operation on an unknown channel.
    #[must_use]
    pub fn any_channel(&self, how: Use) -> Footprint {
        // Channels come last, so all numbers from the first channel on; folded ones could be anything.
        let bits: Bits = (self.channels.min(explore::bits::CAPACITY - 1)..explore::bits::CAPACITY).collect();
        match how {
            Use::Look => Footprint { reads: bits, writes: Bits::EMPTY },
            _ => Footprint { reads: bits, writes: bits },
        }
    }

    /// Whether channel numbers had to be folded onto others for ids up to `id`.
    #[must_use]
    pub fn folds(&self, id: u32) -> bool {
        self.channels + id * 2 + 1 >= explore::bits::CAPACITY
    }

    /// The footprint of an access that needs no evaluation; `None` if it does.
    #[must_use]
    pub fn fixed(&self, access: &Access) -> Option<Footprint> {
        let per = |proctype: ProctypeId, which: u32| PER_PROCTYPE + 4 * proctype as u32 + which;
        Some(match &access.what {
            What::Everything => Footprint::EVERYTHING,
            // In the future: as long as the members of the persistent set have not moved they are enabled, so `timeout` stays
            // false.
            What::Stillness => Footprint::NOTHING,
            What::ProcessCount => commuting(COUNT, access.write),
            What::Labels => commuting(LABELS, access.write),
            What::Position(proctype) => commuting(per(*proctype, 0), access.write),
            What::Locals(proctype) => commuting(per(*proctype, 2), access.write),
            What::Creation => Footprint { reads: Bits::folded(CREATION), writes: Bits::folded(CREATION) },
            What::Death => Footprint { reads: Bits::folded(CREATION), writes: Bits::folded(DEATH) },
            What::Global(place) if place.indices.is_empty() => side(self.at(place.offset as usize), access.write),
            What::Global(_) | What::Channel(..) => return None,
        })
    }

    /// The footprint of the end of a process as the next step: younger ones must end first, and new ones disable it.
    #[must_use]
    pub fn death_now(youngest: bool) -> Footprint {
        let waits = if youngest { Bits::EMPTY } else { Bits::folded(DEATH) };
        Footprint { reads: Bits::folded(CREATION).union(waits), writes: Bits::EMPTY }
    }

    /// The second numbers of a change, which only properties read.
    #[must_use]
    pub fn visible(&self, access: &Access) -> Bits {
        let per = |proctype: ProctypeId, which: u32| PER_PROCTYPE + 4 * proctype as u32 + which;
        match &access.what {
            What::ProcessCount => Bits::folded(COUNT + 1),
            What::Labels => Bits::folded(LABELS + 1),
            What::Position(proctype) => Bits::folded(per(*proctype, 1)),
            What::Locals(proctype) => Bits::folded(per(*proctype, 3)),
            _ => Bits::EMPTY,
        }
    }
}

/// An object with commuting changes: changes read it, reads write it.
fn commuting(number: u32, change: bool) -> Footprint {
    let bits = Bits::folded(number);
    if change { Footprint { reads: bits, writes: Bits::EMPTY } } else { Footprint { reads: Bits::EMPTY, writes: bits } }
}

/// An ordinary object.
#[must_use]
pub fn side(bits: Bits, write: bool) -> Footprint {
    if write { Footprint { reads: Bits::EMPTY, writes: bits } } else { Footprint { reads: bits, writes: Bits::EMPTY } }
}
