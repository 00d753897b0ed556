//! A level that several workers expand: which state of the level is the parent of a new state.

use super::frontier::Frontier;
use super::origin::Origin;
use super::shared::Shared;
use crate::store::Visited;
use std::sync::atomic::Ordering::Relaxed;

/// How many states ahead of its use a parent is prefetched.
const AHEAD: usize = 16;

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
        // Zero: the worker that inserted it has not claimed it yet.
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
