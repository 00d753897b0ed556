//! Several acceptance sets on edges to one set of accepting states.
//!
//! A state is paired with a level: how many acceptance sets, in a fixed order, were met since the last accepting state.
//! Levels matter inside accepting components only. The order, and the level at which a component is entered, change the
//! size but not the language, so small automata are tried in several ways.
//!
//! Example: `G F a && G F b` has two sets on the edges of one state. The degeneralised automaton
//! has three levels of it: waiting for `a`, waiting for `b`, and accepting, from which it starts
//! again.
//!
//! Entering only accepting components with levels, and choosing the entry level, follows Babiak,
//! Badie, Duret-Lutz, Kretinsky and Strejcek (SPIN 2013).

use std::collections::HashMap;

use crate::automaton::{Automaton, Edge, State};
use crate::scc::Components;

/// Beyond this product of edges and acceptance sets only one way is tried.
///
/// Each try costs a reduction; beyond this the first is good enough.
const TRIES_SIZE_MAX: usize = 400;

/// The level at which an accepting component is entered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Lowest,
    Accepting,
}

impl Automaton {
    /// The reduced state-based Buchi automaton for the same language.
    pub fn degeneralised(&self) -> Automaton {
        let forwards: Vec<u32> = (0..self.acceptance_sets).collect();
        let mut best = self.degeneralised_with(&forwards, Entry::Lowest);
        if self.edge_count() * forwards.len() > TRIES_SIZE_MAX {
            return best;
        }
        for order in orders(&forwards) {
            for entry in [Entry::Lowest, Entry::Accepting] {
                let other = self.degeneralised_with(&order, entry);
                if other.size() < best.size() {
                    best = other;
                }
            }
        }
        best
    }

    fn degeneralised_with(&self, order: &[u32], entry: Entry) -> Automaton {
        let components = self.components();
        let inner = self.inner_marks(&components);
        let mut product =
            Levels { automaton: self, components, inner, order, entry, number: HashMap::new(), found: Vec::new() };
        product.build().reduced()
    }
}

/// Every rotation, forwards and backwards.
fn orders(forwards: &[u32]) -> Vec<Vec<u32>> {
    let backwards: Vec<u32> = forwards.iter().rev().copied().collect();
    let rotations = |order: &[u32]| -> Vec<Vec<u32>> {
        (0..order.len().max(1)).map(|by| [&order[by.min(order.len())..], &order[..by]].concat()).collect()
    };
    let both = [rotations(forwards), rotations(&backwards)].concat();
    if forwards.len() > 2 { both } else { rotations(forwards) }
}

struct Levels<'a> {
    automaton: &'a Automaton,
    components: Components,
    inner: Vec<Option<u64>>,
    order: &'a [u32],
    entry: Entry,
    number: HashMap<(u32, usize), u32>,
    found: Vec<(u32, usize)>,
}

impl Levels<'_> {
    fn build(&mut self) -> Automaton {
        let level = self.entry_level(self.automaton.initial);
        let initial = self.state(self.automaton.initial, level);
        let mut states = Vec::new();
        while let Some((state, level)) = self.found.get(states.len()).copied() {
            states.push(self.expand(state, level));
        }
        let propositions = self.automaton.propositions.clone();
        Automaton { states, initial, acceptance_sets: 1, state_based: true, propositions }
    }

    fn expand(&mut self, state: u32, level: usize) -> State {
        let accepting = level == self.order.len() && self.is_accepting_component(state);
        let automaton = self.automaton;
        let mut edges = Vec::new();
        for edge in &automaton.states[state as usize].edges {
            let level = self.next_level(state, level, edge);
            edges.push(Edge { to: self.state(edge.to, level), marks: u64::from(accepting), ..*edge });
        }
        State { edges, accepting, ..State::default() }
    }

    fn state(&mut self, state: u32, level: usize) -> u32 {
        let fresh = self.found.len() as u32;
        let number = *self.number.entry((state, level)).or_insert(fresh);
        if number == fresh {
            self.found.push((state, level));
        }
        number
    }

    /// An edge with several marks in a row passes several levels at once.
    fn next_level(&self, from: u32, level: usize, edge: &Edge) -> usize {
        if self.components.shared(from as usize, edge.to as usize).is_none() || !self.is_accepting_component(from) {
            return self.entry_level(edge.to);
        }
        let start = if level == self.order.len() { 0 } else { level };
        start + self.order[start..].iter().take_while(|set| edge.marks >> **set & 1 == 1).count()
    }

    /// A component whose edges all carry all marks needs no level but the accepting one.
    fn entry_level(&self, state: u32) -> usize {
        let accepting = self.is_accepting_component(state);
        if accepting && (self.entry == Entry::Accepting || self.is_full_component(state)) {
            self.order.len()
        } else {
            0
        }
    }

    fn is_accepting_component(&self, state: u32) -> bool {
        let component = self.components.of[state as usize];
        component.is_some_and(|component| self.inner[component] == Some(self.automaton.all_marks()))
    }

    fn is_full_component(&self, state: u32) -> bool {
        let component = self.components.of[state as usize];
        let all = self.automaton.all_marks();
        self.automaton.edges().all(|(from, edge)| {
            let inside = self.components.shared(from, edge.to as usize).is_some();
            !inside || self.components.of[from] != component || edge.marks == all
        })
    }
}
