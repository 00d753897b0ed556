//! What kind of search an automaton needs.
//!
//! Why it matters: safety needs a search for one state, which runs in parallel and gives shortest
//! counterexamples; cycles need an ordered depth-first search.

use crate::automaton::Automaton;
use crate::guard::Guard;

/// How hard it is to find an accepted word, easiest first.
///
/// Weak automata and their cheap emptiness: Bloem, Ravi and Somenzi (CAV 1999).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Nothing is accepted: the property holds of every system.
    Empty,
    /// Every accepting run enters a universal state: plain reachability of a state with `universal` set is enough.
    /// For the automaton of a negated property this means that the property is a safety property.
    Reachability,
    /// In each component all edges carry all marks or none does: any cycle in an accepting component is accepted, so one
    /// depth-first search is enough.
    Weak,
    /// Nothing of this: the search must find a cycle through every acceptance set.
    General,
}

impl Automaton {
    /// The easiest kind that applies.
    pub fn kind(&self) -> Kind {
        if self.is_empty() {
            Kind::Empty
        } else if self.accepting_components_are_universal() {
            Kind::Reachability
        } else if self.is_weak() {
            Kind::Weak
        } else {
            Kind::General
        }
    }

    /// Whether each violation of the property shows on a finite prefix, given the automaton of the negated property.
    pub fn is_safety_violation_only(&self) -> bool {
        matches!(self.kind(), Kind::Empty | Kind::Reachability)
    }

    /// Whether in each component all edges carry all marks, or the component accepts nothing and carries none.
    pub fn is_weak(&self) -> bool {
        let components = self.components();
        let all = self.all_marks();
        let inner = self.inner_marks(&components);
        self.edges().all(|(from, edge)| match components.shared(from, edge.to as usize) {
            None => true,
            Some(component) if inner[component] == Some(all) => edge.marks == all,
            Some(_) => edge.marks == 0,
        })
    }

    /// For each state whether it lies on a cycle that could be part of an accepted run.
    pub fn states_in_accepting_components(&self) -> Vec<bool> {
        let components = self.components();
        let all = self.all_marks();
        let inner = self.inner_marks(&components);
        let accepts = |component: &Option<usize>| component.is_some_and(|component| inner[component] == Some(all));
        components.of.iter().map(accepts).collect()
    }

    fn accepting_components_are_universal(&self) -> bool {
        self.states
            .iter()
            .zip(self.states_in_accepting_components())
            .all(|(state, accepts)| !accepts || state.universal)
    }

    /// Fills in what can be read off the edges.
    pub(crate) fn classify_states(&mut self) {
        let universal = self.universal();
        let all = self.all_marks();
        let nothing = self.is_empty();
        for (state, universal) in self.states.iter_mut().zip(universal) {
            state.universal = universal;
            state.accepting = !nothing && state.edges.iter().all(|edge| edge.marks == all);
        }
    }

    /// States that accept every word: those that can go on for ever over fully marked edges whatever is read, and those
    /// that whatever is read can get there.
    ///
    /// A greatest and then a least fixpoint; an under-approximation, since deciding universality is
    /// PSPACE-complete. A state that is universal and not recognised costs search, not soundness.
    fn universal(&self) -> Vec<bool> {
        let all = self.all_marks();
        let mut universal = vec![true; self.states.len()];
        while let Some(state) = self.find(|state| universal[state] && !self.can_enter(&universal, state, all)) {
            universal[state] = false;
        }
        while let Some(state) = self.find(|state| !universal[state] && self.can_enter(&universal, state, 0)) {
            universal[state] = true;
        }
        universal
    }

    fn find(&self, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.states.len()).find(|state| wanted(*state))
    }

    /// Whether, whatever is read, some edge with at least these marks leads into the set.
    fn can_enter(&self, set: &[bool], state: usize, marks: u64) -> bool {
        let into = self.states[state].edges.iter().filter(|edge| set[edge.to as usize] && marks & !edge.marks == 0);
        Guard::TRUE.is_covered_by(&into.map(|edge| edge.guard).collect::<Vec<_>>())
    }
}
