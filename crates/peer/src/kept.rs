//! Checkpoints of a peer: its state at places of the conversation, within bounds.

use kernel::net::far::Place;
use rustc_hash::FxHashMap;

/// States of a peer by place. The first one that was kept stays.
pub(crate) struct Checkpoints<T> {
    all: FxHashMap<Place, (T, u64)>,
    /// Places in the order in which they were kept.
    order: Vec<Place>,
    /// Bytes that the states take, about.
    taken: u64,
    /// Bytes that they may take.
    room: u64,
}

impl<T> Checkpoints<T> {
    /// No checkpoint yet; those to come may take so many bytes.
    pub fn new(room: u64) -> Self {
        Self { all: FxHashMap::default(), order: Vec::new(), taken: 0, room }
    }

    /// Whether the state at a place is kept.
    pub fn has(&self, place: Place) -> bool {
        self.all.contains_key(&place)
    }

    /// The state at a place.
    pub fn get(&self, place: Place) -> Option<&T> {
        self.all.get(&place).map(|(state, _)| state)
    }

    /// Keeps a state that takes so many bytes; every second earlier one goes if there is no room.
    pub fn keep(&mut self, place: Place, state: T, bytes: u64) {
        if self.all.insert(place, (state, bytes)).is_none() {
            self.order.push(place);
            self.taken += bytes;
        }
        if self.taken > self.room {
            self.thin();
        }
    }

    /// Drops every second checkpoint but the first one.
    ///
    /// Halving, instead of dropping the oldest: what is left is spread evenly over the
    /// conversation, and no place is far from a checkpoint.
    fn thin(&mut self) {
        let places = std::mem::take(&mut self.order);
        for (index, place) in places.into_iter().enumerate() {
            if index % 2 == 0 {
                self.order.push(place);
            } else if let Some((_, bytes)) = self.all.remove(&place) {
                self.taken -= bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Id;
    use kernel::net::far::{Said, Saying};

    #[test]
    fn checkpoints_keep_within_their_room_and_the_first_one_stays() {
        let places: Vec<Place> =
            (0..100).map(|end| Place::default().after(&Said { end: Id(end), what: Saying::Open })).collect();
        let mut checkpoints = Checkpoints::new(10);
        for (number, place) in places.iter().enumerate() {
            checkpoints.keep(*place, number, 1);
            assert!(checkpoints.taken <= 10 && checkpoints.all.len() == checkpoints.order.len());
        }
        assert_eq!(checkpoints.get(places[0]), Some(&0));
        assert!(checkpoints.all.len() >= 5 && !checkpoints.has(places[1]));
    }
}
