//! The tree of what was said to a peer: each place with the place before it and what was said there.
//!
//! **Invariant:** append-only. A place is a fingerprint of the conversation up to it, so the tree
//! is a function of what was said, whichever worker said it first; two workers that add the same
//! place add the same entry.

use kernel::net::far::{Place, Said};
use rustc_hash::FxHashMap;

/// All places of a conversation that the search has come to. It only grows.
#[derive(Default)]
pub(crate) struct Conversation {
    places: FxHashMap<Place, (Place, Said)>,
}

impl Conversation {
    /// Notes that something is said at a place; where that leads. A place that is known stays as it was first come to.
    pub fn note(&mut self, place: Place, said: &Said) -> Place {
        let after = place.after(said);
        self.places.entry(after).or_insert_with(|| (place, said.clone()));
        after
    }

    /// What has to be said to come to a place from the nearest one before it that `is_kept`; and that one.
    ///
    /// O(depth). The caller says which places it can start from: checkpoints, running instances,
    /// the beginning.
    pub fn way_to(&self, mut place: Place, is_kept: impl Fn(Place) -> bool) -> Option<(Place, Vec<(Place, Said)>)> {
        let mut way = Vec::new();
        while !is_kept(place) {
            let (before, said) = self.places.get(&place)?;
            way.push((place, said.clone()));
            place = *before;
        }
        way.reverse();
        Some((place, way))
    }

    /// Messages from the nearest place that `is_kept` to this one.
    pub fn distance(&self, place: Place, is_kept: impl Fn(Place) -> bool) -> u64 {
        let before = |place: &Place| self.places.get(place).map(|(before, _)| *before);
        std::iter::successors(Some(place), before).take_while(|place| !is_kept(*place)).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Id;
    use kernel::net::far::Saying;

    #[test]
    fn the_way_to_a_place_begins_at_the_nearest_one_that_is_kept() {
        let said = |text: &str| Said { end: Id(1), what: Saying::Bytes(text.as_bytes().to_vec()) };
        let mut conversation = Conversation::default();
        let start = Place::default();
        let one = conversation.note(start, &said("a"));
        let two = conversation.note(one, &said("b"));
        let whole = conversation.note(start, &said("ab"));
        assert_eq!(two, whole);
        let (from, way) = conversation.way_to(two, |place| place == start).expect("it is known");
        assert_eq!((from, way.len()), (start, 2));
        let (from, way) = conversation.way_to(two, |place| place == one).expect("it is known");
        assert_eq!((from, way), (one, vec![(two, said("b"))]));
        assert_eq!(conversation.distance(two, |place| place == start), 2);
    }
}
