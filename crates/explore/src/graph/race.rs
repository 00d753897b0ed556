//! Data races: two accesses to a word, one of them a write and one of them plain, that can happen next to each other.

use super::footprint_table::{FootprintId, FootprintTable};
use super::present::Present;
use super::{Access, Race};
use crate::bits::Bits;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Races that were met.
#[derive(Default)]
pub struct Races {
    /// All of them, each with a state in which it can happen.
    pub found: BTreeMap<Race, u32>,
    looked_at: FxHashSet<(FootprintId, FootprintId)>,
}

impl Races {
    /// Looks at everybody in a state: next steps of those who can move can happen in either order, and whoever waits for a
    /// word looks at it all the time. Two who are as in the state before were looked at there.
    pub fn look(&mut self, at: u32, present: &[Present], stay: Bits, accesses: &FootprintTable) {
        for (index, one) in present.iter().enumerate() {
            let stays = stay.contains(one.actor);
            for other in &present[index + 1..] {
                let somebody_moves = one.choices > 0 || other.choices > 0;
                let is_new = !(stays && stay.contains(other.actor));
                if is_new && somebody_moves && self.looked_at.insert((one.pending, other.pending)) {
                    self.compare(at, one, other, accesses);
                }
            }
        }
    }

    fn compare(&mut self, at: u32, one: &Present, other: &Present, accesses: &FootprintTable) {
        if accesses.have_common(accesses.locks_of(one.pending), accesses.locks_of(other.pending)) {
            return;
        }
        for (a, b) in common(accesses.all(one.pending), accesses.all(other.pending)) {
            if (a.write || b.write) && (a.plain || b.plain) {
                let (one, other) = ((one.actor, a.write), (other.actor, b.write));
                let plain = a.plain && b.plain;
                let race = Race { object: a.object, plain, one: one.min(other), other: one.max(other) };
                self.found.entry(race).or_insert(at);
            }
        }
    }
}

/// Touches of the same objects; both lists are sorted.
fn common<'a>(one: &'a [Access], other: &'a [Access]) -> impl Iterator<Item = (Access, Access)> + 'a {
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    std::iter::from_fn(move || {
        loop {
            let (a, b) = (**left.peek()?, **right.peek()?);
            let order = a.object.cmp(&b.object);
            if order != Ordering::Greater {
                left.next();
            }
            if order != Ordering::Less {
                right.next();
            }
            if order == Ordering::Equal {
                return Some((a, b));
            }
        }
    })
}
