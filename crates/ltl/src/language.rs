//! Questions about an automaton's language.
//!
//! Questions about languages for tests and reports. Complementation of nondeterministic automata is
//! avoided: where it would be needed, the negated *formula* is translated instead.

use std::collections::HashMap;

use crate::automaton::{Automaton, Edge, State};
use crate::guard::Guard;
use crate::lasso::Lasso;
use crate::scc::components;

impl Automaton {
    /// Whether the automaton accepts a word.
    ///
    /// The word is `stem cycle^ω`, so a run is a path in the product of states and positions, and
    /// it accepts if a reachable strongly connected component carries every mark: O(edges ×
    /// positions). A component without an edge of its own has no marks at all (`None`), which
    /// differs from a component whose edges carry none.
    pub fn accepts(&self, lasso: &Lasso) -> bool {
        let positions = lasso.positions();
        let letters: Vec<u64> = (0..positions).map(|position| self.valuation(lasso.letter(position))).collect();
        let step = |vertex: usize| {
            let (state, position) = (vertex / positions, vertex % positions);
            let next = lasso.successor(position);
            let edges = self.enabled(state as u32, letters[position]);
            edges.map(move |edge| (edge.to as usize * positions + next, edge.marks))
        };
        let start = self.initial as usize * positions;
        let vertices = self.states.len() * positions;
        let found = components(vertices, &[start], |vertex, visit| step(vertex).for_each(|(next, _)| visit(next)));
        let mut marks: Vec<Option<u64>> = vec![None; found.count];
        for vertex in (0..vertices).filter(|vertex| found.of[*vertex].is_some()) {
            for (next, seen) in step(vertex) {
                if let Some(component) = found.shared(vertex, next) {
                    marks[component] = Some(marks[component].unwrap_or(0) | seen);
                }
            }
        }
        marks.contains(&Some(self.all_marks()))
    }

    /// The automaton's valuation for a letter whose bits are atom indices.
    fn valuation(&self, letter: u64) -> u64 {
        let bits = self.propositions.iter().enumerate();
        bits.filter(|(_, atom)| **atom < 64 && letter >> **atom & 1 == 1).fold(0, |all, (bit, _)| all | 1 << bit)
    }

    /// The automaton of the words that both accept; `None` if it would need more than 64 propositions or acceptance sets.
    ///
    /// Marks of the right side are shifted behind those of the left: with transition-based
    /// generalised acceptance an intersection needs no counter and no copies of states, unlike the
    /// textbook product of Büchi automata.
    pub fn intersection(&self, other: &Automaton) -> Option<Automaton> {
        let mut propositions = [&self.propositions[..], &other.propositions[..]].concat();
        propositions.sort_unstable();
        propositions.dedup();
        let acceptance_sets = self.acceptance_sets + other.acceptance_sets;
        if propositions.len() > 64 || acceptance_sets > 64 {
            return None;
        }
        let pairs = Pairs { left: self, right: other, propositions: &propositions };
        let states = pairs.states();
        Some(Automaton { states, initial: 0, acceptance_sets, state_based: false, propositions })
    }
}

struct Pairs<'a> {
    left: &'a Automaton,
    right: &'a Automaton,
    propositions: &'a [u32],
}

impl Pairs<'_> {
    fn states(&self) -> Vec<State> {
        let start = (self.left.initial, self.right.initial);
        let mut number: HashMap<(u32, u32), u32> = HashMap::from([(start, 0)]);
        let mut found = vec![start];
        let mut states = Vec::new();
        while let Some((left, right)) = found.get(states.len()).copied() {
            let mut edges = Vec::new();
            for (guard, marks, pair) in self.steps(left, right) {
                let fresh = found.len() as u32;
                let to = *number.entry(pair).or_insert(fresh);
                if to == fresh {
                    found.push(pair);
                }
                edges.push(Edge { guard, to, marks });
            }
            states.push(State { edges, ..State::default() });
        }
        states
    }

    fn steps(&self, left: u32, right: u32) -> Vec<(Guard, u64, (u32, u32))> {
        let mut steps = Vec::new();
        for a in &self.left.states[left as usize].edges {
            for b in &self.right.states[right as usize].edges {
                let guard = self.moved(a.guard, self.left).and(self.moved(b.guard, self.right));
                let marks = a.marks | b.marks.checked_shl(self.left.acceptance_sets).unwrap_or(0);
                steps.extend(guard.map(|guard| (guard, marks, (a.to, b.to))));
            }
        }
        steps
    }

    /// A guard in terms of the common propositions.
    fn moved(&self, guard: Guard, from: &Automaton) -> Guard {
        let bit = |bit: u32| {
            let atom = from.propositions[bit as usize];
            self.propositions.partition_point(|known| *known < atom)
        };
        let mask = |mask: u64| (0..64).filter(|b| mask >> b & 1 == 1).fold(0_u64, |all, b| all | 1 << bit(b));
        Guard { positive: mask(guard.positive), negative: mask(guard.negative) }
    }
}
