//! Buchi automata over valuations of propositions.
//!
//! Generalised and transition-based (TGBA): several acceptance sets, on edges. Both are smaller
//! than plain Büchi automata on states, and the engine's emptiness check (Couvreur) takes them as
//! they are; state-based ones are made only for printing never claims (`degeneralise.rs`).

use crate::guard::Guard;
use crate::scc::{Components, components};

/// An automaton that reads one valuation per step.
///
/// A run is accepted if it takes, for every acceptance set, infinitely often an edge with that mark. With no acceptance
/// sets every infinite run is accepted. The engine moves the automaton first: an edge out of the initial state reads
/// the valuation of the system's initial state.
///
/// Guards are cubes (`guard.rs`), a disjunction is several edges. Nondeterministic: a word is
/// accepted if *some* run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// The states; never empty.
    pub states: Vec<State>,
    /// Where every run begins.
    pub initial: u32,
    /// Number of acceptance sets, at most 64. Bit k of an edge's marks belongs to set k.
    pub acceptance_sets: u32,
    /// Whether acceptance can be read off states: one set, and all edges out of a state carry the same mark.
    pub state_based: bool,
    /// Atom index of each proposition: bit k of a valuation is the truth of `Formula::Atom(propositions[k])`.
    pub propositions: Vec<u32>,
}

/// A state of an [`Automaton`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// The ways out. A word that no edge admits is rejected.
    pub edges: Vec<Edge>,
    /// Whether all edges carry all marks. In a state-based automaton: whether the state is accepting.
    pub accepting: bool,
    /// Whether every word is accepted from here on, as far as can be seen.
    ///
    /// If the automaton is that of a negated property, entering such a state is a violation whatever comes next.
    pub universal: bool,
}

/// One way out of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Which valuations may take the edge.
    pub guard: Guard,
    /// The state it leads to.
    pub to: u32,
    /// The acceptance sets it belongs to.
    pub marks: u64,
}

impl Automaton {
    /// The automaton that accepts nothing.
    pub(crate) fn empty(propositions: Vec<u32>) -> Automaton {
        let states = vec![State::default()];
        Automaton { states, initial: 0, acceptance_sets: 0, state_based: false, propositions }
    }

    /// The mask with every acceptance set.
    pub fn all_marks(&self) -> u64 {
        if self.acceptance_sets >= 64 { u64::MAX } else { (1 << self.acceptance_sets) - 1 }
    }

    /// The edges of a state that this valuation may take.
    pub fn enabled(&self, state: u32, valuation: u64) -> impl Iterator<Item = &Edge> {
        self.states[state as usize].edges.iter().filter(move |edge| edge.guard.admits(valuation))
    }

    /// Number of edges of all states.
    pub fn edge_count(&self) -> usize {
        self.states.iter().map(|state| state.edges.len()).sum()
    }

    /// Whether at most one edge can be taken for each state and valuation.
    pub fn is_deterministic(&self) -> bool {
        let clash = |edges: &[Edge]| {
            edges.iter().enumerate().any(|(i, a)| edges[i + 1..].iter().any(|b| a.guard.and(b.guard).is_some()))
        };
        !self.states.iter().any(|state| clash(&state.edges))
    }

    /// Strongly connected components of the states reachable from the initial one.
    pub(crate) fn components(&self) -> Components {
        components(self.states.len(), &[self.initial as usize], |state, visit| {
            self.states[state].edges.iter().for_each(|edge| visit(edge.to as usize));
        })
    }

    /// For each component: the marks seen on edges inside it, or `None` if there is no such edge.
    ///
    /// The emptiness question in one pass: a component is accepting if the marks on its inner edges
    /// are all of them.
    pub(crate) fn inner_marks(&self, components: &Components) -> Vec<Option<u64>> {
        let mut seen: Vec<Option<u64>> = vec![None; components.count];
        for (from, edge) in self.edges() {
            if let Some(component) = components.shared(from, edge.to as usize) {
                seen[component] = Some(seen[component].unwrap_or(0) | edge.marks);
            }
        }
        seen
    }

    /// Every edge with the state it leaves.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (usize, &Edge)> {
        self.states.iter().enumerate().flat_map(|(from, state)| state.edges.iter().map(move |edge| (from, edge)))
    }

    /// Whether no word is accepted.
    ///
    /// O(states + edges). Guards are satisfiable by construction (contradicting cubes are never
    /// built), so a path is a word.
    pub fn is_empty(&self) -> bool {
        let all = self.all_marks();
        !self.inner_marks(&self.components()).into_iter().flatten().any(|marks| marks == all)
    }
}
