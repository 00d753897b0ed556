//! Direct simulation: a state that can copy every step of another, with at least its marks, accepts all that one does.

use crate::automaton::{Automaton, Edge};
use crate::guard::Guard;

/// Beyond this many states the relation, quadratic in them, is not computed.
const STATES_MAX: usize = 300;
/// Beyond this many edges covering checks get too slow.
const EDGES_MAX: usize = 3000;
/// A dominated part is cut from a guard only if at most so many guards remain.
const PIECES_MAX: usize = 2;

/// `above[s][t]`: t simulates s.
struct Relation {
    above: Vec<Vec<bool>>,
}

impl Automaton {
    /// Merges states that simulate each other, then drops edges that a better edge makes needless.
    pub(crate) fn simplify_by_simulation(&mut self) {
        if self.states.len() > STATES_MAX || self.edge_count() > EDGES_MAX {
            return;
        }
        let relation = Relation::of(self);
        let (class, representatives) = relation.classes();
        self.merge(&class);
        let relation = relation.restricted(&representatives);
        self.drop_dominated(&relation);
        self.join_edges();
    }

    fn drop_dominated(&mut self, relation: &Relation) {
        for state in &mut self.states {
            let all = state.edges.clone();
            let cut = |edge: &Edge| {
                let better = all.iter().filter(|other| relation.is_better(other, edge)).map(|other| other.guard);
                remaining(edge.guard, better).into_iter().map(|guard| Edge { guard, ..*edge }).collect::<Vec<_>>()
            };
            state.edges = all.iter().flat_map(cut).collect();
        }
    }
}

/// The guard without what the better edges admit; wider if cutting would splinter it.
fn remaining(guard: Guard, better: impl Iterator<Item = Guard>) -> Vec<Guard> {
    let better: Vec<Guard> = better.collect();
    if guard.is_covered_by(&better) {
        return Vec::new();
    }
    better.into_iter().fold(vec![guard], |pieces, other| {
        let cut: Vec<Guard> = pieces.iter().flat_map(|piece| piece.minus(other)).collect();
        if cut.len() <= PIECES_MAX.max(pieces.len()) { cut } else { pieces }
    })
}

impl Relation {
    /// The greatest simulation, by removing pairs until the rest is consistent.
    fn of(automaton: &Automaton) -> Relation {
        let count = automaton.states.len();
        let mut relation = Relation { above: vec![vec![true; count]; count] };
        let mut changed = true;
        while changed {
            changed = false;
            for low in 0..count {
                for high in 0..count {
                    if low != high && relation.above[low][high] && !relation.can_copy(automaton, low, high) {
                        relation.above[low][high] = false;
                        changed = true;
                    }
                }
            }
        }
        relation
    }

    /// Whether `high` has, for each edge of `low` and each valuation, an edge at least as good.
    fn can_copy(&self, automaton: &Automaton, low: usize, high: usize) -> bool {
        automaton.states[low].edges.iter().all(|edge| {
            let copies = automaton.states[high].edges.iter().filter(|copy| self.is_as_good(copy, edge));
            edge.guard.is_covered_by(&copies.map(|copy| copy.guard).collect::<Vec<_>>())
        })
    }

    fn is_as_good(&self, copy: &Edge, edge: &Edge) -> bool {
        edge.marks & !copy.marks == 0 && self.above[edge.to as usize][copy.to as usize]
    }

    fn is_better(&self, other: &Edge, edge: &Edge) -> bool {
        (other.to, other.marks) != (edge.to, edge.marks) && self.is_as_good(other, edge)
    }

    /// The class of each state and the first member of each class; members simulate each other.
    fn classes(&self) -> (Vec<u32>, Vec<usize>) {
        let mut representatives: Vec<usize> = Vec::new();
        let mut class = Vec::new();
        for state in 0..self.above.len() {
            let alike = |other: &usize| self.above[state][*other] && self.above[*other][state];
            let found = representatives.iter().position(alike);
            class.push(found.unwrap_or(representatives.len()) as u32);
            if found.is_none() {
                representatives.push(state);
            }
        }
        (class, representatives)
    }

    fn restricted(&self, states: &[usize]) -> Relation {
        let row = |low: &usize| states.iter().map(|high| self.above[*low][*high]).collect();
        Relation { above: states.iter().map(row).collect() }
    }
}
