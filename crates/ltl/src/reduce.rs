//! Smaller automata for the same language.
//!
//! Steps, repeated until nothing changes: drop states that are unreachable or accept nothing; normalise marks inside each
//! component; join edges; merge equal states; merge and prune by direct simulation (`simulation`).
//!
//! Every step keeps the language; the order matters only for the size. Marks of edges that lie on
//! no cycle are free, which is used both ways (`Transient`), since it decides which states look
//! alike.

use std::collections::HashMap;

use crate::automaton::{Automaton, Edge};
use crate::guard::{Guard, minimised};
use crate::scc::Components;

/// Which marks edges that lie on no cycle get. They do not matter to the language, but they do to what can be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transient {
    Unmarked,
    Marked,
}

impl Automaton {
    /// An automaton for the same language, smaller where the rules find a way.
    pub fn reduced(self) -> Automaton {
        let unmarked = self.clone().reduced_with(Transient::Unmarked);
        let marked = self.reduced_with(Transient::Marked);
        let mut best = if marked.size() < unmarked.size() { marked } else { unmarked };
        best.renumber();
        best.classify_states();
        best
    }

    /// States first, then edges, then acceptance sets.
    pub(crate) fn size(&self) -> (usize, usize, u32) {
        (self.states.len(), self.edge_count(), self.acceptance_sets)
    }

    fn reduced_with(mut self, transient: Transient) -> Automaton {
        loop {
            let before = self.size();
            self.prune();
            self.normalise_marks(transient);
            self.drop_redundant_sets();
            self.join_edges();
            self.merge_equal();
            self.simplify_by_simulation();
            if self.size() >= before {
                self.prune();
                return self;
            }
        }
    }

    /// Drops states that cannot be reached or from which nothing is accepted. The initial state stays.
    ///
    /// Linear. Afterwards every state lies on an accepted run, which the other steps rely on.
    fn prune(&mut self) {
        let useful = self.useful();
        if !useful[self.initial as usize] {
            let sets = u32::from(self.state_based);
            let (state_based, propositions) = (self.state_based, std::mem::take(&mut self.propositions));
            *self = Automaton { acceptance_sets: sets, state_based, ..Automaton::empty(propositions) };
            return;
        }
        for state in &mut self.states {
            state.edges.retain(|edge| useful[edge.to as usize]);
        }
        self.keep(|state| useful[state]);
    }

    /// For each state whether it is reachable and accepts something.
    fn useful(&self) -> Vec<bool> {
        let components = self.components();
        let all = self.all_marks();
        let mut alive: Vec<bool> = self.inner_marks(&components).iter().map(|marks| *marks == Some(all)).collect();
        // Successor components have smaller numbers, so one pass in ascending order spreads life backwards.
        let mut by_component: Vec<Vec<usize>> = vec![Vec::new(); components.count];
        for (state, component) in components.of.iter().enumerate() {
            if let Some(component) = component {
                by_component[*component].push(state);
            }
        }
        for (component, members) in by_component.iter().enumerate() {
            let leads_on = |state: &usize| {
                self.states[*state].edges.iter().any(|edge| components.of[edge.to as usize].is_some_and(|to| alive[to]))
            };
            alive[component] = alive[component] || members.iter().any(leads_on);
        }
        components.of.iter().map(|component| component.is_some_and(|component| alive[component])).collect()
    }

    /// Keeps the chosen states, which no kept edge may leave, and renumbers.
    fn keep(&mut self, wanted: impl Fn(usize) -> bool) {
        let mut number = vec![0; self.states.len()];
        let mut kept = Vec::new();
        for (at, state) in std::mem::take(&mut self.states).into_iter().enumerate() {
            if wanted(at) {
                number[at] = kept.len() as u32;
                kept.push(state);
            }
        }
        self.states = kept;
        self.redirect(&number);
    }

    /// Sends every edge and the initial state to the new number of its target.
    fn redirect(&mut self, number: &[u32]) {
        self.initial = number[self.initial as usize];
        for edge in self.states.iter_mut().flat_map(|state| &mut state.edges) {
            edge.to = number[edge.to as usize];
        }
    }

    /// Gives edges inside a component every mark that no cycle there can avoid, and edges on no cycle a fixed choice.
    ///
    /// Makes automata with the same language more alike, so that merging finds them. In a component
    /// that accepts nothing all marks go.
    fn normalise_marks(&mut self, transient: Transient) {
        let components = self.components();
        let all = self.all_marks();
        let inner = self.inner_marks(&components);
        let unavoidable = self.unavoidable_marks(&components);
        let idle = if transient == Transient::Marked { all } else { 0 };
        let state_based = self.state_based;
        for (from, state) in self.states.iter_mut().enumerate() {
            let cyclic = components.of[from].and_then(|component| inner[component].map(|marks| (component, marks)));
            for edge in &mut state.edges {
                let inside = components.shared(from, edge.to as usize).is_some();
                edge.marks = match cyclic {
                    Some((_, marks)) if (inside || state_based) && marks != all => 0,
                    Some((component, _)) if inside || state_based => edge.marks | unavoidable[component],
                    _ => idle,
                };
            }
        }
    }

    /// For each component the marks that every cycle in it contains.
    fn unavoidable_marks(&self, components: &Components) -> Vec<u64> {
        let mut unavoidable = vec![self.all_marks(); components.count];
        for set in 0..self.acceptance_sets {
            let avoids = |state: usize, visit: &mut dyn FnMut(usize)| {
                let edges = self.states[state].edges.iter();
                edges.filter(|edge| edge.marks >> set & 1 == 0).for_each(|edge| visit(edge.to as usize));
            };
            let every: Vec<usize> = (0..self.states.len()).collect();
            let without = crate::scc::components(self.states.len(), &every, avoids);
            for (from, edge) in self.edges().filter(|(_, edge)| edge.marks >> set & 1 == 0) {
                if without.shared(from, edge.to as usize).is_some()
                    && let Some(component) = components.of[from]
                {
                    unavoidable[component] &= !(1 << set);
                }
            }
        }
        unavoidable
    }

    /// Drops an acceptance set if another one is a part of it wherever it matters, or if it holds every such edge.
    fn drop_redundant_sets(&mut self) {
        if self.state_based {
            return;
        }
        let mut set = 0;
        while set < self.acceptance_sets {
            if self.is_redundant(set) {
                self.drop_set(set);
            } else {
                set += 1;
            }
        }
    }

    fn is_redundant(&self, set: u32) -> bool {
        let components = self.components();
        let inner = self.inner_marks(&components);
        let all = self.all_marks();
        let matters = |from: usize, edge: &Edge| {
            components.shared(from, edge.to as usize).is_some_and(|component| inner[component] == Some(all))
        };
        let relevant: Vec<u64> =
            self.edges().filter(|(from, edge)| matters(*from, edge)).map(|(_, edge)| edge.marks).collect();
        // The set is full, or some other set lies within it: visiting the smaller one visits it.
        let others = (0..self.acceptance_sets).filter(|other| *other != set).map(Some);
        std::iter::once(None).chain(others).any(|other| {
            relevant.iter().all(|marks| marks >> set & 1 == 1 || other.is_some_and(|other| marks >> other & 1 == 0))
                && self.rejecting_stay_rejecting(&components, &inner, set)
        })
    }

    /// Whether no component would become accepting by ignoring the set. Holds once such components are unmarked.
    fn rejecting_stay_rejecting(&self, components: &Components, inner: &[Option<u64>], set: u32) -> bool {
        let all = self.all_marks();
        (0..components.count).all(|component| match inner[component] {
            Some(marks) if marks != all => marks | 1 << set != all,
            _ => true,
        })
    }

    fn drop_set(&mut self, set: u32) {
        let low = (1_u64 << set) - 1;
        for edge in self.states.iter_mut().flat_map(|state| &mut state.edges) {
            edge.marks = (edge.marks & low) | (edge.marks >> 1 & !low);
        }
        self.acceptance_sets -= 1;
    }

    /// Joins edges that differ in their guards only, as far as cubes allow.
    pub(crate) fn join_edges(&mut self) {
        for state in &mut self.states {
            let mut guards: HashMap<(u32, u64), Vec<Guard>> = HashMap::new();
            for edge in &state.edges {
                guards.entry((edge.to, edge.marks)).or_default().push(edge.guard);
            }
            let mut groups: Vec<_> = guards.into_iter().collect();
            groups.sort_unstable();
            state.edges.clear();
            for ((to, marks), guards) in groups {
                state.edges.extend(minimised(guards).into_iter().map(|guard| Edge { guard, to, marks }));
            }
        }
    }

    /// Merges states whose edges agree up to merging (bisimulation, by refining a partition).
    ///
    /// Partition refinement, O(rounds * edges); Hopcroft's would be faster and automata are small.
    fn merge_equal(&mut self) {
        let mut class: Vec<u32> = vec![0; self.states.len()];
        let mut count = 1;
        loop {
            let mut known: HashMap<Vec<Edge>, u32> = HashMap::new();
            let mut next = Vec::with_capacity(class.len());
            for state in &self.states {
                let mut edges: Vec<Edge> =
                    state.edges.iter().map(|edge| Edge { to: class[edge.to as usize], ..*edge }).collect();
                edges.sort_unstable();
                edges.dedup();
                let fresh = known.len() as u32;
                next.push(*known.entry(edges).or_insert(fresh));
            }
            let refined = known.len();
            class = next;
            if refined == count {
                break;
            }
            count = refined;
        }
        self.merge(&class);
    }

    /// Replaces each class of states by its first member. Classes are numbered in order of first members.
    pub(crate) fn merge(&mut self, class: &[u32]) {
        let mut first = vec![true; self.states.len()];
        let keeps: Vec<bool> =
            class.iter().map(|class| std::mem::replace(&mut first[*class as usize], false)).collect();
        self.redirect(class);
        let mut keeps = keeps.into_iter();
        self.states.retain(|_| keeps.next().unwrap_or(false));
    }

    /// Numbers states in the order a breadth-first walk meets them and sorts edges, so that equal automata print alike.
    ///
    /// Deterministic output: two translations of one formula are the same text.
    fn renumber(&mut self) {
        let mut number: Vec<Option<u32>> = vec![None; self.states.len()];
        let mut order = vec![self.initial as usize];
        number[self.initial as usize] = Some(0);
        let mut at = 0;
        while at < order.len() {
            for edge in &self.states[order[at]].edges {
                if number[edge.to as usize].is_none() {
                    number[edge.to as usize] = Some(order.len() as u32);
                    order.push(edge.to as usize);
                }
            }
            at += 1;
        }
        self.states = order.iter().map(|state| self.states[*state].clone()).collect();
        let number: Vec<u32> = number.into_iter().map(Option::unwrap_or_default).collect();
        self.redirect(&number);
        self.states.iter_mut().for_each(|state| state.edges.sort_unstable());
    }
}
