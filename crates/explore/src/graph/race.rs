//! Data races: two plain accesses to a word, one of them a write, that can happen next to each other.

use super::Race;
use super::node::Present;
use super::touch::{SetId, Touches};
use std::collections::{BTreeSet, HashSet};

/// Races that were met.
#[derive(Default)]
pub struct Races {
    /// All of them.
    pub found: BTreeSet<Race>,
    looked_at: HashSet<(SetId, SetId)>,
}

impl Races {
    /// Looks at everybody who can move in a state: their next steps can happen in either order.
    pub fn look(&mut self, present: &[Present], touches: &Touches) {
        let movers: Vec<&Present> = present.iter().filter(|present| present.choices > 0).collect();
        for (index, one) in movers.iter().enumerate() {
            for other in &movers[index + 1..] {
                if self.looked_at.insert((one.pending, other.pending)) {
                    self.compare(one, other, touches);
                }
            }
        }
    }

    fn compare(&mut self, one: &Present, other: &Present, touches: &Touches) {
        let (mut left, mut right) =
            (touches.all(one.pending).iter().peekable(), touches.all(other.pending).iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match a.object.cmp(&b.object) {
                std::cmp::Ordering::Less => drop(left.next()),
                std::cmp::Ordering::Greater => drop(right.next()),
                std::cmp::Ordering::Equal => {
                    if (a.write || b.write) && (a.plain || b.plain) {
                        let (one, other) = ((one.actor, a.write), (other.actor, b.write));
                        let plain = a.plain && b.plain;
                        self.found.insert(Race { object: a.object, plain, one: one.min(other), other: one.max(other) });
                    }
                    left.next();
                    right.next();
                }
            }
        }
    }
}
