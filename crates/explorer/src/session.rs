//! The states that were reached, and how: a part of the state graph that grows as it is asked for.
//!
//! Not one of the stores of `explore`: those keep states as compactly as they can and forget how they look, while here each
//! state is kept as it is, because the next click may ask for it. A hundred thousand states are enough for eyes.
//!
//! No reduction: whoever looks at a state wants to see every step that it has. So there are more states here than a check
//! visits.

use explore::Failure;
use replay::Replayable;
use std::collections::HashMap;
use trace::{Choice, Fingerprint, Inventory, Variable, Waiting};

/// How the states of a system are described to people.
pub struct Describe<R: Replayable> {
    /// Everything that has a name, with its value.
    pub variables: fn(&mut R, &R::State) -> Vec<Variable>,
    /// Who cannot go on, and why.
    pub waiting: fn(&mut R, &R::State) -> Vec<Waiting>,
    /// What a state holds beside variables.
    pub inventory: fn(&mut R, &R::State) -> Inventory,
}

/// The states that were reached.
///
/// **Invariant:** node 0 is the initial state; a node's parent has a smaller number, and its depth is one less.
pub struct Session<'s, R: Replayable> {
    pub(crate) system: &'s mut R,
    pub(crate) describe: Describe<R>,
    pub(crate) nodes: Vec<Node<R::State>>,
    known: HashMap<Fingerprint, usize>,
    /// Nodes before this one are expanded.
    expanded: usize,
}

/// A state.
pub(crate) struct Node<S> {
    pub state: S,
    /// The step by which it was reached first.
    pub parent: Option<(usize, Choice)>,
    pub depth: usize,
    /// Where its steps lead to, if that was asked for.
    pub steps: Option<Vec<usize>>,
    /// What is wrong in it.
    pub failure: Option<Failure>,
}

impl<'s, R: Replayable> Session<'s, R> {
    /// A system of which the initial state is known.
    pub fn new(system: &'s mut R, describe: Describe<R>) -> Self {
        let state = system.initial();
        let known = HashMap::from([(system.fingerprint(&state), 0)]);
        let node = Node { state, parent: None, depth: 0, steps: None, failure: None };
        Self { system, describe, nodes: vec![node], known, expanded: 0 }
    }

    /// How many states are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no state is known: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether the steps of every known state are known.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.nodes.iter().all(|node| node.steps.is_some())
    }

    /// The node of a state, if it was reached.
    pub(crate) fn known(&self, state: &R::State) -> Option<usize> {
        self.known.get(&self.system.fingerprint(state)).copied()
    }

    /// The node of a state that a step of another one leads to.
    ///
    /// A state that was reached before keeps its parent, so the way to it stays the shortest that was known then; what is wrong
    /// in it is noted whoever finds it out.
    pub(crate) fn reach(&mut self, from: usize, choice: Choice, state: R::State, failure: Option<Failure>) -> usize {
        let fingerprint = self.system.fingerprint(&state);
        if let Some(&known) = self.known.get(&fingerprint) {
            let node = &mut self.nodes[known];
            node.failure = node.failure.take().or(failure);
            return known;
        }
        let depth = self.nodes[from].depth + 1;
        self.known.insert(fingerprint, self.nodes.len());
        self.nodes.push(Node { state, parent: Some((from, choice)), depth, steps: None, failure });
        self.nodes.len() - 1
    }

    /// Finds out which steps a state has, unless that is known. What has failed for good has none.
    pub fn expand(&mut self, node: usize) {
        if self.nodes[node].steps.is_some() {
            return;
        }
        let state = self.nodes[node].state.clone();
        let is_over = self.nodes[node].failure.as_ref().is_some_and(|failure| failure.fatal);
        let mut steps = Vec::new();
        for choice in if is_over { Vec::new() } else { self.choices(&state) } {
            if let Some(stepped) = self.system.step(&state, choice) {
                steps.push(self.reach(node, choice, stepped.state, stepped.failure));
            }
        }
        if steps.is_empty() && !is_over {
            let stuck = self.system.stuck(&state);
            let failure = self.nodes[node].failure.take();
            self.nodes[node].failure = failure.or(stuck);
        }
        self.nodes[node].steps = Some(steps);
    }

    /// Every choice of a state.
    pub(crate) fn choices(&mut self, state: &R::State) -> Vec<Choice> {
        let enabled = self.system.enabled(state);
        enabled.into_iter().flat_map(|actor| self.system.choices(state, actor)).collect()
    }

    /// Expands states, those that were reached first before others, until so many more are known.
    ///
    /// Breadth first, since nodes are numbered in the order in which they were reached: layers come out whole.
    pub fn expand_more(&mut self, more: usize, stops: &dyn Fn() -> bool) {
        let wanted = self.len() + more;
        while self.expanded < self.nodes.len() && self.len() < wanted && !stops() {
            self.expand(self.expanded);
            self.expanded += 1;
        }
    }

    /// The first of so many states from `from` on that has a variable, or a failure, with this text: `x = 3`.
    pub fn find(&mut self, text: &str, from: usize, count: usize) -> Option<usize> {
        let nodes = from..self.len().min(from.saturating_add(count));
        nodes.into_iter().find(|node| self.says(*node, text))
    }

    /// Whether a state has a text in what is said of it.
    fn says(&mut self, node: usize, text: &str) -> bool {
        let Node { state, failure, .. } = &self.nodes[node];
        let fails = failure.as_ref().is_some_and(|failure| failure.message.contains(text));
        let mut variables = || (self.describe.variables)(self.system, state);
        fails || variables().iter().any(|known| format!("{} = {}", known.name, known.value).contains(text))
    }

    /// The choices by which a state was reached first.
    ///
    /// Choices, and not the states on the way: those know nothing of what a narrator has heard there, so they are
    /// executed again to be told.
    #[must_use]
    pub fn way_to(&self, node: usize) -> Vec<Choice> {
        let mut way = Vec::with_capacity(self.nodes[node].depth);
        let mut at = node;
        while let Some((parent, choice)) = self.nodes[at].parent {
            way.push(choice);
            at = parent;
        }
        way.reverse();
        way
    }
}
