//! From an accepting component to a lasso: a short stem, then a cycle with all marks.
//!
//! Breadth-first searches over the explored states: a shortest stem into the component, then from
//! mark to mark, then back. Not the shortest lasso, which would be NP-hard for several marks, but
//! short ones in practice.

use super::emptiness::Emptiness;
use super::graph::{Edge, Marks, Stop};
use super::product::ProductState;
use crate::store::Visited;
use crate::system::TransitionSystem;
use std::collections::{HashMap, VecDeque};
use trace::{Choice, Schedule};

/// States that the search for a shortest path may visit before the search path is used instead.
///
/// Beyond it the search path itself is taken: longer, and right.
const STATES_MAX: usize = 2_000_000;

/// A path of the graph.
struct Path<T> {
    choices: Vec<Choice>,
    marks: Marks,
    /// Where it ends.
    id: u32,
    state: T,
}

/// The edge by which a state was reached.
struct Link {
    parent: u32,
    choice: Choice,
    marks: Marks,
}

impl<S: TransitionSystem, V: Visited> Emptiness<'_, '_, S, V> {
    /// A lasso through the component that starts at `root`; `None` if the store is exhausted.
    pub fn lasso(&mut self, root: u32, required: Marks) -> Option<Schedule> {
        let stem = self.stem(|search, id| search.order.is_in(id, root))?;
        let start = stem.id;
        let mut choices = stem.choices;
        let cycle_start = choices.len();
        let (mut id, mut state, mut missing) = (stem.id, stem.state, required);
        while !missing.is_empty() {
            let path = self.shortest(id, &state, Some(root), |_, edge| edge.marks.meets(&missing))?;
            missing = missing.minus(path.marks);
            (id, state) = (path.id, path.state);
            choices.extend(path.choices);
        }
        if id != start || choices.len() == cycle_start {
            choices.extend(self.shortest(id, &state, Some(root), |_, edge| edge.to == start)?.choices);
        }
        Some(Schedule { choices, cycle_start: Some(cycle_start) })
    }

    /// A path to the state with this number.
    pub fn schedule_to(&mut self, id: u32) -> Option<Schedule> {
        let choices = self.stem(|_, other| other == id)?.choices;
        Some(Schedule { choices, cycle_start: None })
    }

    /// A path from the initial state to one that `arrived` accepts: a shortest one over expanded states, or a prefix of the
    /// search path if those are too many.
    fn stem(&mut self, arrived: impl Fn(&Self, u32) -> bool) -> Option<Path<ProductState<S::State>>> {
        let state = self.graph.initial_state();
        let id = self.graph.initial().ok()?;
        if arrived(self, id) {
            return Some(Path { choices: Vec::new(), marks: Marks::NONE, id, state });
        }
        self.shortest(id, &state, None, |search, edge| arrived(search, edge.to)).or_else(|| self.stem_of_path(arrived))
    }

    /// The search path up to the first state that `arrived` accepts.
    fn stem_of_path(&mut self, arrived: impl Fn(&Self, u32) -> bool) -> Option<Path<ProductState<S::State>>> {
        let state = self.graph.initial_state();
        let mut path = Path { choices: Vec::new(), marks: Marks::NONE, id: 0, state };
        for id in self.path().into_iter().skip(1) {
            let mut edges = Vec::new();
            self.edges_of(&path.state, &mut edges)?;
            let edge = edges.iter().find(|edge| edge.to == id)?;
            path.state = self.graph.follow(edge);
            path.choices.push(edge.choice);
            path.id = id;
            if arrived(self, id) {
                return Some(path);
            }
        }
        None
    }

    /// A shortest path over expanded states (of one component, if `root` is given) that ends with an edge that `last`
    /// accepts.
    fn shortest(
        &mut self,
        from: u32,
        state: &ProductState<S::State>,
        root: Option<u32>,
        last: impl Fn(&Self, &Edge<ProductState<S::State>>) -> bool,
    ) -> Option<Path<ProductState<S::State>>> {
        let mut links: HashMap<u32, Link> = HashMap::new();
        let mut queue = VecDeque::from([(from, state.clone())]);
        let mut edges = Vec::new();
        while let Some((id, state)) = queue.pop_front() {
            self.edges_of(&state, &mut edges)?;
            for edge in &edges {
                let inside = root.is_none_or(|root| self.order.is_in(edge.to, root));
                if !inside || self.order.of(edge.to) == 0 {
                    continue;
                }
                if last(self, edge) {
                    let (mut choices, marks) = unwind(&links, from, id);
                    choices.push(edge.choice);
                    let state = self.graph.follow(edge);
                    return Some(Path { choices, marks: marks.union(edge.marks), id: edge.to, state });
                }
                if edge.to != from && !links.contains_key(&edge.to) {
                    links.insert(edge.to, Link { parent: id, choice: edge.choice, marks: edge.marks });
                    queue.push_back((edge.to, self.graph.follow(edge)));
                }
            }
            if links.len() > STATES_MAX {
                return None;
            }
        }
        None
    }

    /// The edges of a state; those of one that ends a violating prefix lead nowhere.
    fn edges_of(
        &mut self,
        state: &ProductState<S::State>,
        edges: &mut Vec<Edge<ProductState<S::State>>>,
    ) -> Option<()> {
        match self.graph.edges_of(state, edges) {
            Ok(()) | Err(Stop::Failure(_)) => Some(()),
            Err(Stop::Exhausted(_) | Stop::Cut) => None,
        }
    }
}

/// The choices and marks from `from` to `id`.
fn unwind(links: &HashMap<u32, Link>, from: u32, mut id: u32) -> (Vec<Choice>, Marks) {
    let (mut choices, mut marks) = (Vec::new(), Marks::NONE);
    while id != from {
        let link = &links[&id];
        choices.push(link.choice);
        marks = marks.union(link.marks);
        id = link.parent;
    }
    choices.reverse();
    (choices, marks)
}
