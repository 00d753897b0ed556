//! Monitors: Büchi automata of negated properties, from LTL formulas and never claims.

/// An automaton that reads the propositions of each state of a run and accepts the runs that violate a property.
///
/// It moves first: an edge out of the initial state reads the system's initial state, then the system steps. It rejects a run
/// on which it cannot move. It accepts an infinite run if it takes edges of each acceptance set infinitely often, and a finite
/// one as soon as it enters a state that [`MonitorState::violates`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Monitor {
    /// The states.
    pub states: Vec<MonitorState>,
    /// The initial state.
    pub initial: u32,
    /// Number of acceptance sets, at most 64; with none, every infinite run is accepted.
    pub acceptance_sets: u32,
    /// Whether a run that ends is left out, instead of repeating its last state for ever: cycles of labels are about
    /// processes that move.
    pub infinite_only: bool,
}

/// A state of a [`Monitor`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MonitorState {
    /// Its edges.
    pub edges: Vec<MonitorEdge>,
    /// Whether entering it is a violation, whatever comes next: the end of a never claim, the end of a bad prefix.
    pub violates: bool,
}

/// An edge of a [`MonitorState`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MonitorEdge {
    /// Propositions that must hold.
    pub must_hold: u64,
    /// Propositions that must not hold.
    pub must_fail: u64,
    /// Its target.
    pub to: u32,
    /// Its acceptance sets.
    pub marks: u64,
}

impl MonitorEdge {
    /// Whether a valuation may take the edge.
    #[inline]
    #[must_use]
    pub fn admits(&self, valuation: u64) -> bool {
        valuation & self.must_hold == self.must_hold && valuation & self.must_fail == 0
    }
}

impl Monitor {
    /// Accepts the runs on which a proposition holds infinitely often (`GF p`): cycles through `accept` labels.
    #[must_use]
    pub fn again_and_again(proposition: u32) -> Self {
        let bit = 1 << proposition;
        let edges = vec![
            MonitorEdge { must_hold: bit, must_fail: 0, to: 0, marks: 1 },
            MonitorEdge { must_hold: 0, must_fail: bit, to: 0, marks: 0 },
        ];
        let states = vec![MonitorState { edges, violates: false }];
        Self { states, initial: 0, acceptance_sets: 1, infinite_only: false }
    }

    /// Accepts the runs on which a proposition is false from some point on (`FG !p`): cycles without progress.
    #[must_use]
    pub fn never_again(proposition: u32) -> Self {
        let bit = 1 << proposition;
        let wait = MonitorEdge { must_hold: 0, must_fail: 0, to: 0, marks: 0 };
        let commit = MonitorEdge { must_hold: 0, must_fail: bit, to: 1, marks: 0 };
        let stay = MonitorEdge { marks: 1, ..commit };
        let states = [vec![wait, commit], vec![stay]].map(|edges| MonitorState { edges, violates: false });
        Self { states: states.into(), initial: 0, acceptance_sets: 1, infinite_only: false }
    }

    /// Accepts a run as soon as a proposition is false (`F !p`): the violations of an invariant.
    #[must_use]
    pub fn fails_once(proposition: u32) -> Self {
        let bit = 1 << proposition;
        let fine = MonitorEdge { must_hold: bit, must_fail: 0, to: 0, marks: 0 };
        let wrong = MonitorEdge { must_hold: 0, must_fail: bit, to: 1, marks: 0 };
        let end = MonitorState { edges: Vec::new(), violates: true };
        Self {
            states: vec![MonitorState { edges: vec![fine, wrong], violates: false }, end],
            initial: 0,
            acceptance_sets: 0,
            infinite_only: false,
        }
    }

    /// The automaton of a negated property, where the truth of each atom is a bit of a valuation.
    #[must_use]
    pub fn observing(automaton: &ltl::Automaton, bit: impl Fn(u32) -> u32) -> Self {
        let place = |position: usize| 1 << bit(automaton.propositions[position]);
        let moved = |mask: u64| (0..64).filter(|at| mask >> at & 1 == 1).fold(0_u64, |all, at| all | place(at));
        let mut monitor = Self::from(automaton);
        for edge in monitor.states.iter_mut().flat_map(|state| &mut state.edges) {
            (edge.must_hold, edge.must_fail) = (moved(edge.must_hold), moved(edge.must_fail));
        }
        monitor
    }

    /// Leaves out runs that end.
    #[must_use]
    pub fn on_infinite_runs(self) -> Self {
        Self { infinite_only: true, ..self }
    }

    /// Accepts a run that visits an accepting state infinitely often: Büchi acceptance on states, as never claims have it.
    #[must_use]
    pub fn with_accepting_states(mut self, accepting: &[u32]) -> Self {
        self.acceptance_sets = 1;
        for (number, state) in self.states.iter_mut().enumerate() {
            let marks = u64::from(accepting.contains(&(number as u32)));
            state.edges.iter_mut().for_each(|edge| edge.marks = marks);
        }
        self
    }

    /// Whether only runs that enter a violating state are accepted, so that a search for a shortest path decides it.
    ///
    /// Least fixpoint: states from which every path ends. If it contains the initial state, no
    /// cycle exists without entering a violating state.
    #[must_use]
    pub fn is_safety(&self) -> bool {
        let mut reaches = vec![false; self.states.len()];
        // States from which a cycle can be reached by edges between states that do not violate: none left after pruning.
        loop {
            let mut changed = false;
            for (number, state) in self.states.iter().enumerate() {
                let ends = state.violates || state.edges.iter().all(|edge| reaches[edge.to as usize]);
                if ends && !reaches[number] {
                    reaches[number] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let unmet = (0..self.acceptance_sets)
            .any(|set| self.states.iter().flat_map(|state| &state.edges).all(|edge| edge.marks >> set & 1 == 0));
        unmet || reaches[self.initial as usize]
    }

    /// The largest number of edges out of one state, at least 1.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.states.iter().map(|state| state.edges.len() as u32).max().unwrap_or(0).max(1)
    }

    /// The mask with every acceptance set.
    #[must_use]
    pub fn all_marks(&self) -> u64 {
        if self.acceptance_sets >= 64 { u64::MAX } else { (1 << self.acceptance_sets) - 1 }
    }
}

impl From<&ltl::Automaton> for Monitor {
    /// The automaton of the negated property; its universal states are violations on arrival.
    fn from(automaton: &ltl::Automaton) -> Self {
        let edge = |edge: &ltl::Edge| MonitorEdge {
            must_hold: edge.guard.positive,
            must_fail: edge.guard.negative,
            to: edge.to,
            marks: edge.marks,
        };
        let states = automaton
            .states
            .iter()
            .map(|state| MonitorState { edges: state.edges.iter().map(edge).collect(), violates: state.universal });
        let (initial, acceptance_sets) = (automaton.initial, automaton.acceptance_sets);
        Self { states: states.collect(), initial, acceptance_sets, infinite_only: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invariant_is_safety_and_recurrence_is_not() {
        assert!(!Monitor::again_and_again(0).is_safety());
        assert!(!Monitor::never_again(0).is_safety());
        let mut invariant = Monitor::fails_once(0);
        assert!(!invariant.is_safety(), "with no acceptance sets every infinite run is accepted");
        invariant.acceptance_sets = 1;
        assert!(invariant.is_safety());
    }
}
