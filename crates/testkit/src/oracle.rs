//! Slow and obvious answers to hold the engine's against.
//!
//! **Invariant:** nothing here is shared with the engine but the [`TransitionSystem`]: no store, no
//! reduction, no search order, no cycle detection of its own. States are compared by their whole
//! key. Cycles are found by reachability from every node, in time quadratic in the product; a
//! mistake in a clever algorithm does not repeat itself here.

use explore::cycle::{Fairness, Monitor};
use explore::{Bits, Failure, Key, Selection, TransitionSystem};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use trace::Choice;

/// A state space, spelt out.
pub struct Space<S> {
    /// The states, the initial one first.
    pub states: Vec<S>,
    /// The steps of each state.
    pub steps: Vec<Vec<Move>>,
    /// Every failure, of steps and of stuck states.
    pub failures: BTreeSet<(trace::FailureKind, String)>,
}

/// One step.
///
/// An empty `moved` means that nobody moved: a failure of somebody who waits.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// How.
    pub choice: Choice,
    /// Who.
    pub moved: Bits,
    /// Where to; `None` after a fatal failure.
    pub to: Option<usize>,
}

impl<S: Clone> Space<S> {
    /// Every state of a system; `None` if there are more than `most`.
    pub fn build<T: TransitionSystem<State = S>>(system: &T, most: usize) -> Option<Self> {
        let mut scratch = system.scratch();
        let initial = system.initial(&mut scratch);
        let mut numbers = HashMap::from([(name(system, &initial), 0)]);
        let mut space = Self { states: vec![initial], steps: Vec::new(), failures: BTreeSet::new() };
        while space.steps.len() < space.states.len() {
            let state = space.states[space.steps.len()].clone();
            let mut moves = Vec::new();
            system.steps(&mut scratch, &state, Selection::All, &mut |step| {
                let mut fatal = false;
                if let Some(failure) = step.failure {
                    space.note(failure);
                    fatal = failure.fatal;
                }
                let to = (!fatal).then(|| {
                    *numbers.entry(name(system, step.state)).or_insert_with(|| {
                        space.states.push(step.state.clone());
                        space.states.len() - 1
                    })
                });
                moves.push(Move { choice: step.choice, moved: step.moved, to });
                ControlFlow::Continue(())
            });
            // Whoever fails while it waits is stuck all the same.
            if moves.iter().all(|step| step.moved.is_empty())
                && let Some(failure) = system.stuck(&mut scratch, &state)
            {
                space.note(&failure);
            }
            space.steps.push(moves);
            if space.states.len() > most {
                return None;
            }
        }
        Some(space)
    }

    fn note(&mut self, failure: &Failure) {
        self.failures.insert((failure.kind, failure.message.clone()));
    }

    /// Number of steps.
    #[must_use]
    pub fn step_count(&self) -> u64 {
        self.steps.iter().map(|moves| moves.len() as u64).sum()
    }

    /// Whether the monitor accepts some run: by reachability from every node of the product, without any cleverness.
    pub fn accepts<T: TransitionSystem<State = S>>(
        &self,
        system: &T,
        monitor: &Monitor,
        observer: usize,
        fairness: Fairness,
    ) -> bool {
        let Some(edges) = self.product(system, monitor, observer, fairness) else { return true };
        let reachable = reach(&edges, 0);
        let required = (monitor.all_marks(), if fairness == Fairness::Weak { Bits::ALL } else { Bits::EMPTY });
        let from: Vec<BTreeSet<usize>> = (0..edges.len()).map(|node| reach(&edges, node)).collect();
        reachable.iter().any(|node| {
            let together = |other: usize| from[*node].contains(&other) && from[other].contains(node);
            let (mut marks, mut fair, mut cyclic) = (0, Bits::EMPTY, false);
            for inner in from[*node].iter().copied().filter(|other| together(*other)) {
                for edge in edges[inner].iter().filter(|edge| together(edge.to)) {
                    cyclic = true;
                    marks |= edge.marks;
                    fair = fair.union(edge.fair);
                }
            }
            cyclic && required.0 & !marks == 0 && required.1.minus(fair).is_empty()
        })
    }

    /// The product, spelt out; `None` if a violating monitor state is entered on the way.
    fn product<T: TransitionSystem<State = S>>(
        &self,
        system: &T,
        monitor: &Monitor,
        observer: usize,
        fairness: Fairness,
    ) -> Option<Vec<Vec<ProductEdge>>> {
        let mut nodes = vec![(0, monitor.initial)];
        let mut numbers = HashMap::from([(nodes[0], 0)]);
        let mut edges: Vec<Vec<ProductEdge>> = Vec::new();
        let mut scratch = system.scratch();
        while edges.len() < nodes.len() {
            let (state, place) = nodes[edges.len()];
            let valuation = system.observe(&mut scratch, &self.states[state], observer).ok()?;
            let enabled: Bits =
                self.steps[state].iter().filter(|step| !step.moved.is_empty()).map(|step| step.choice.actor).collect();
            let mut out = Vec::new();
            for edge in monitor.states[place as usize].edges.iter().filter(|edge| edge.admits(valuation)) {
                if monitor.states[edge.to as usize].violates {
                    return None;
                }
                let mut targets: Vec<(usize, Bits)> = self.steps[state]
                    .iter()
                    .filter_map(|step| step.to.map(|to| (to, step.moved.union(Bits::ALL.minus(enabled)))))
                    .collect();
                let stuck = self.steps[state].iter().all(|step| step.moved.is_empty());
                if stuck && !monitor.infinite_only {
                    targets.push((state, Bits::ALL));
                }
                for (to, fair) in targets {
                    let node = (to, edge.to);
                    let to = *numbers.entry(node).or_insert_with(|| {
                        nodes.push(node);
                        nodes.len() - 1
                    });
                    let fair = if fairness == Fairness::Weak { fair } else { Bits::EMPTY };
                    out.push(ProductEdge { to, marks: edge.marks, fair });
                }
            }
            edges.push(out);
        }
        Some(edges)
    }
}

struct ProductEdge {
    to: usize,
    marks: u64,
    fair: Bits,
}

/// Nodes reachable from one, itself included.
fn reach(edges: &[Vec<ProductEdge>], from: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([from]);
    let mut agenda = vec![from];
    while let Some(node) = agenda.pop() {
        agenda.extend(edges[node].iter().map(|edge| edge.to).filter(|to| seen.insert(*to)));
    }
    seen
}

fn name<T: TransitionSystem>(system: &T, state: &T::State) -> Vec<u8> {
    match system.key(state) {
        Key::Vector(vector) => vector.to_vec(),
        Key::Fingerprint(bits) => bits.to_le_bytes().to_vec(),
    }
}
