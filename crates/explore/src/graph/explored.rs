//! An explored graph as a system of its own: runs are searched in it, by [`crate::cycle`], without executing anything again.

use super::node::End;
use super::state_graph::StateGraph;
use crate::bits::Bits;
use crate::system::{Explained, Failure, Key, Selection, Step, TransitionSystem};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use trace::{Choice, FailureKind, Schedule};

/// What a step has failed with: told by the search that explored it.
static FAILED: Failure = Failure { kind: FailureKind::Assert, message: String::new(), fatal: true, property: None };

/// An explored graph: its states with the truth of propositions, and its steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExploredGraph {
    states: Vec<ExploredState>,
    /// Steps of one state behind those of another.
    steps: Vec<ExploredStep>,
    /// Actors whose steps are faults.
    faults: Bits,
    /// The system's number of each actor.
    numbers: Vec<u32>,
    /// States that a step led to which failed fatally: a run does not go on there, and is none that formulas judge.
    failed: FxHashSet<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct ExploredState {
    valuation: u64,
    enabled: Bits,
    /// The first step behind its own; they begin where those of the state before end.
    end: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct ExploredStep {
    actor: u32,
    index: u32,
    to: u32,
}

impl ExploredGraph {
    /// A copy of a graph.
    pub(super) fn new(graph: &StateGraph) -> Self {
        let mut stored = Self { faults: graph.faults, ..Self::default() };
        for node in graph.nodes.iter() {
            let step = |edge: &super::node::Edge| ExploredStep { actor: edge.actor, index: edge.index, to: edge.to };
            let mut steps: Vec<ExploredStep> = node.edges.iter().map(step).collect();
            steps.sort_by_key(|step| (step.actor, step.index));
            stored.steps.extend(steps);
            if node.end == End::Failed {
                stored.failed.insert(stored.states.len() as u32);
            }
            let (valuation, enabled) = (node.valuation, node.enabled);
            stored.states.push(ExploredState { valuation, enabled, end: stored.steps.len() });
        }
        let most = stored.steps.iter().map(|step| step.actor + 1).max().unwrap_or(0);
        stored.numbers = (0..most).map(|actor| graph.actors.number(actor)).collect();
        stored
    }

    /// How many states there are.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// The propositions that hold in some state.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.states.iter().fold(0, |seen, state| seen | state.valuation)
    }

    /// A schedule in the numbers of the system that was explored.
    #[must_use]
    pub fn in_system_numbers(&self, schedule: &Schedule) -> Schedule {
        let choice = |choice: &Choice| Choice { actor: self.numbers[choice.actor as usize], index: choice.index };
        Schedule { choices: schedule.choices.iter().map(choice).collect(), cycle_start: schedule.cycle_start }
    }

    fn state(&self, state: [u8; 8]) -> (&ExploredState, &[ExploredStep]) {
        let at = u64::from_le_bytes(state) as usize;
        let first = at.checked_sub(1).map_or(0, |before| self.states[before].end);
        (&self.states[at], &self.steps[first..self.states[at].end])
    }
}

impl TransitionSystem for ExploredGraph {
    /// Its number. The first one is the initial state.
    type State = [u8; 8];
    type Scratch = ();

    fn scratch(&self) -> Self::Scratch {}

    fn initial(&self, (): &mut ()) -> Self::State {
        0_u64.to_le_bytes()
    }

    fn key<'a>(&self, state: &'a Self::State) -> Key<'a> {
        Key::Vector(state)
    }

    fn restore(&self, vector: &[u8], state: &mut Self::State) -> bool {
        state.copy_from_slice(&vector[..8]);
        true
    }

    fn steps(
        &self,
        (): &mut (),
        state: &Self::State,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, Self::State>) -> ControlFlow<()>,
    ) {
        for ExploredStep { actor, index, to } in self.state(*state).1.iter().filter(|step| actors.contains(step.actor))
        {
            let moved = if self.faults.contains(*actor) { Bits::EMPTY } else { Bits::one(*actor) };
            let (choice, state) = (Choice { actor: *actor, index: *index }, u64::from(*to).to_le_bytes());
            let failure = self.failed.contains(to).then_some(&FAILED);
            if visit(Step { choice, moved, state: &state, failure }).is_break() {
                return;
            }
        }
    }

    /// Failures of the system are told by the search that explored it.
    fn stuck(&self, (): &mut (), _: &Self::State) -> Option<Failure> {
        None
    }

    fn observe(&self, (): &mut (), state: &Self::State, _: usize) -> Result<u64, Failure> {
        Ok(self.state(*state).0.valuation)
    }

    /// Fairness demands no fault.
    fn enabled(&self, (): &mut (), state: &Self::State) -> Bits {
        self.state(*state).0.enabled.minus(self.faults)
    }

    /// Nothing is told here: schedules are executed by the system that was explored.
    fn explain(&self, (): &mut (), _: &Self::State, _: Choice) -> Option<Explained<Self::State>> {
        None
    }

    fn actor_name(&self, _: &Self::State, actor: u32) -> String {
        self.numbers.get(actor as usize).map_or_else(String::new, u32::to_string)
    }
}
