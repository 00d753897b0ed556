//! What is kept although it could be executed again: whole states, and steps that were tried.

use super::Step;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// A bounded map that forgets what was put first.
struct Recent<K, V> {
    values: FxHashMap<K, V>,
    order: VecDeque<K>,
    max: usize,
}

impl<K: Copy + Eq + Hash, V> Recent<K, V> {
    fn new(max: usize) -> Self {
        Self { values: FxHashMap::default(), order: VecDeque::new(), max }
    }

    fn put(&mut self, key: K, value: V) {
        self.values.insert(key, value);
        self.order.push_back(key);
        while self.values.len() > self.max {
            let Some(old) = self.order.pop_front() else { break };
            self.values.remove(&old);
        }
        // What was taken out has left its key behind.
        if self.order.len() > 2 * self.max.max(1024) {
            let values = &self.values;
            self.order.retain(|key| values.contains_key(key));
        }
    }
}

/// States at this distance are kept in any case.
const KEPT_EVERY: u32 = 64;

/// States that are kept whole; others are reached again from one of them.
pub struct States<S> {
    recent: Recent<u32, S>,
    pinned: FxHashMap<u32, S>,
}

impl<S: Clone> States<S> {
    /// Room for `max` states beside those that are kept in any case.
    pub fn new(max: usize) -> Self {
        Self { recent: Recent::new(max), pinned: FxHashMap::default() }
    }

    /// Keeps a state.
    pub fn put(&mut self, id: u32, depth: u32, state: S) {
        if depth.is_multiple_of(KEPT_EVERY) {
            self.pinned.insert(id, state);
        } else {
            self.recent.put(id, state);
        }
    }

    /// A state that is kept.
    pub fn get(&self, id: u32) -> Option<&S> {
        self.recent.values.get(&id).or_else(|| self.pinned.get(&id))
    }

    /// Nothing starts there any more, unless something behind it has to be reached again.
    pub fn drop(&mut self, id: u32) {
        self.recent.values.remove(&id);
    }
}

/// A step: state, actor, choice.
type Tried = (u32, u32, u32);

/// Steps that were tried to see what they touch, or taken by somebody else.
pub struct TrialCache<S> {
    recent: Recent<Tried, Step<S>>,
}

impl<S> TrialCache<S> {
    /// Room for `max` steps.
    pub fn new(max: usize) -> Self {
        Self { recent: Recent::new(max) }
    }

    /// Keeps a step.
    pub fn put(&mut self, at: u32, actor: u32, index: u32, taken: Step<S>) {
        self.recent.put((at, actor, index), taken);
    }

    /// A step that is kept.
    pub fn get(&self, at: u32, actor: u32, index: u32) -> Option<&Step<S>> {
        self.recent.values.get(&(at, actor, index))
    }

    /// Takes a step out.
    pub fn take(&mut self, at: u32, actor: u32, index: u32) -> Option<Step<S>> {
        self.recent.values.remove(&(at, actor, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first_and_what_was_taken_out_does_not_count() {
        let mut recent = Recent::new(2);
        recent.put(1, 'a');
        recent.put(2, 'b');
        recent.values.remove(&1);
        recent.put(3, 'c');
        assert_eq!(recent.values.get(&2), Some(&'b'));
        recent.put(4, 'd');
        assert_eq!(recent.values.get(&2), None);
        assert_eq!((recent.values.get(&3), recent.values.get(&4)), (Some(&'c'), Some(&'d')));
    }

    #[test]
    fn states_far_apart_are_kept_in_any_case() {
        let mut states = States::new(1);
        states.put(0, 0, 'a');
        states.put(1, 1, 'b');
        states.put(2, 2, 'c');
        assert_eq!((states.get(0), states.get(1), states.get(2)), (Some(&'a'), None, Some(&'c')));
    }
}
