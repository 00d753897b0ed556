//! From where a state was first reached, also while several workers share a level.
//!
//! Which worker is the first to reach a state is chance, but the schedule that leads there must not be. So in a shared
//! level a state belongs to the first state of the level, in its order, that leads to it, and the next level has the order
//! that one worker would have given it. Until the level is done, parents are places in it instead of numbers of states.

use super::shared::Shared;
use super::successor_batch::Frontier;
use crate::store::Visited;
use std::sync::atomic::Ordering::Relaxed;

/// Numbers from here on are places in a level: there are never so many states, nor such a level.
const INDEX: u32 = 1 << 31;
/// How many states ahead of its use a parent is fetched.
const AHEAD: usize = 16;

/// From where a state was reached: the number of a state, or a place in the level. Of two places the larger value is the
/// earlier one, and each is larger than any number, so that the maximum is what counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin(pub u32);

impl Origin {
    /// Whether it is a place in the level.
    #[inline]
    pub fn is_index(self) -> bool {
        self.0 >= INDEX
    }

    #[inline]
    fn index(self) -> usize {
        (u32::MAX - self.0) as usize
    }
}

/// A state of a level.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its number.
    pub id: u32,
    /// Its place.
    pub index: usize,
    /// Whether several workers share the level.
    pub is_shared: bool,
}

impl Member {
    /// A state that one worker expands in order.
    pub fn alone(id: u32, index: usize) -> Self {
        Self { id, index, is_shared: false }
    }

    /// What its successors note.
    #[inline]
    pub fn origin(self) -> Origin {
        if self.is_shared { Origin(u32::MAX - self.index as u32) } else { Origin(self.id) }
    }
}

/// Whether places in a level of this size can be told from numbers below `ids_end`.
pub fn can_share(level: usize, ids_end: u32) -> bool {
    level < INDEX as usize && ids_end < INDEX
}

impl<S, V: Visited> Shared<'_, S, V> {
    /// Notes from which place of the level a state is reached, if it is new in this level and no earlier place is known;
    /// whether that was so. `None` if there is no memory for it.
    pub fn claim(&self, id: u32, origin: Origin) -> Option<bool> {
        let Some(parents) = &self.parents else { return Some(false) };
        if parents.try_word(id, 0).is_none() && !parents.provide(id) {
            return None;
        }
        let word = parents.word(id, 0);
        let known = Origin(word.load(Relaxed));
        // Nothing is noted while the worker that found it is about to.
        let is_new = known.0 == 0 || known.is_index();
        Some(is_new && word.fetch_max(origin.0, Relaxed) < origin.0)
    }

    /// Fetches the parent of a state ahead of its use.
    #[inline]
    pub fn prefetch_parent(&self, id: u32) {
        if let Some(parents) = &self.parents
            && parents.try_word(id, 0).is_some()
        {
            parents.prefetch(id);
        }
    }

    /// Makes the next level of what workers found in a shared one: each state once, in the order of the places that they
    /// belong to. `ids` are the numbers of the states in those places.
    pub fn put_in_order<State>(&self, found: Frontier<State>, ids: &[u32]) -> Frontier<State> {
        let Frontier { ids: found, origins, states, .. } = found;
        let mut order: Vec<(u32, u32)> = (0..).zip(&origins).map(|(at, origin)| (u32::MAX - origin.0, at)).collect();
        // Stable: the successors of one state were found by one worker, in order. Runs of ascending places make it fast.
        order.sort_by_key(|(index, _)| *index);
        let mut states: Vec<Option<State>> = states.into_iter().map(Some).collect();
        let mut level = Frontier::default();
        for (position, (_, at)) in order.iter().enumerate() {
            if let Some((_, soon)) = order.get(position + AHEAD) {
                self.prefetch_parent(found[*soon as usize]);
            }
            let (id, origin) = (found[*at as usize], origins[*at as usize]);
            if self.belongs(id, origin, ids) {
                level.ids.push(id);
                level.states.extend(states.get_mut(*at as usize).and_then(Option::take));
            }
        }
        level
    }

    /// Whether a state belongs to this place; if so, notes the number of the state there as its parent.
    fn belongs(&self, id: u32, origin: Origin, ids: &[u32]) -> bool {
        let Some(word) = self.parents.as_ref().and_then(|parents| parents.try_word(id, 0)) else { return false };
        let belongs = word.load(Relaxed) == origin.0;
        if belongs {
            word.store(ids[origin.index()], Relaxed);
        }
        belongs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_places_win_and_places_win_over_numbers() {
        let at = |index| Member { id: 7, index, is_shared: true }.origin();
        assert!(at(3).0 > at(4).0 && at(4).is_index());
        assert!(at(INDEX as usize - 1).0 > Member::alone(INDEX - 1, 0).origin().0);
        assert!(!can_share(INDEX as usize, 5) && can_share(5, 5));
    }
}
