//! Actors that conflict with each other, directly or through others: the components of the conflict relation.
//!
//! Steps of different components are independent, so a search that stays in one component until nobody of it can move
//! visits the sum of their states, and one that alternates visits many of their products.

use rustc_hash::FxHashMap;

/// A union-find structure over actors; the lowest actor stands for its component.
#[derive(Default)]
pub struct Components {
    /// Actors that do not stand for their component, with a lower one of it.
    lower: FxHashMap<u32, u32>,
}

impl Components {
    /// The lowest actor of an actor's component.
    pub fn of(&self, mut actor: u32) -> u32 {
        while let Some(lower) = self.lower.get(&actor) {
            actor = *lower;
        }
        actor
    }

    /// Two actors conflict.
    pub fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.of(one), self.of(other));
        if one != other {
            self.lower.insert(one.max(other), one.min(other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_actor_stands_for_all_that_conflict_through_others() {
        let mut components = Components::default();
        [(7, 3), (9, 8), (3, 9), (7, 8)].into_iter().for_each(|(one, other)| components.join(one, other));
        assert_eq!([3, 7, 8, 9, 4].map(|actor| components.of(actor)), [3, 3, 3, 3, 4]);
    }
}
