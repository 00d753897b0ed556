//! From tables to control graphs: options are lifted into the state of their selection, escapes are put in front.
//!
//! Order of the passes: flags of labels by state number; nested selections are flattened; a
//! selection gets its options' steps; escapes go in front; ways out of a `d_step` are made one;
//! what cannot be reached is dropped. Each works on the whole table, so that jumps into the middle
//! of a selection need no special case.

use super::element::{BlockKind, ElementId, Flow, Node, SequenceId};
use super::table::{Row, Step};
use crate::ir::Pc;
use std::collections::BTreeMap;

/// What a label does to its state.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Flags {
    pub end: bool,
    pub accept: bool,
    pub progress: bool,
}

impl Flags {
    fn join(&mut self, other: Flags) {
        self.end |= other.end;
        self.accept |= other.accept;
        self.progress |= other.progress;
    }
}

/// The control graph of one body; states are still named by SPIN's numbers.
pub(super) struct Graph {
    pub states: BTreeMap<u32, State>,
    pub entry: u32,
}

/// A state that can be reached.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub steps: Vec<Step>,
    pub flags: Flags,
}

/// Turns a filled table into a graph of the states that can be reached.
pub(super) fn graph(flow: &Flow<'_>, mut rows: Vec<Row>, entry: u32, closing: Option<u32>) -> Graph {
    let mut flags = label_flags(flow, rows.len());
    lift_choices(&mut rows, &mut flags);
    let mut steps = pull(rows, &mut flags);
    prepend_escapes(flow, &mut steps);
    leave_d_steps(flow, &mut steps);
    let states = reachable(flow, steps, &flags, entry, closing);
    Graph { states, entry }
}

fn label_flags(flow: &Flow<'_>, states: usize) -> Vec<Flags> {
    let mut flags = vec![Flags::default(); states];
    for label in &flow.labels {
        let flag = &mut flags[flow.elements[label.element].number as usize];
        flag.end |= label.name.starts_with("end");
        flag.accept |= label.name.starts_with("accept");
        flag.progress |= label.name.starts_with("progress");
    }
    for element in &flow.elements {
        flags[element.number as usize].end |= matches!(element.node, Node::End);
    }
    flags
}

/// Replaces a selection that is an option of another one by its own options, until there is none left.
fn lift_choices(rows: &mut [Row], flags: &mut [Flags]) {
    loop {
        let mut changed = false;
        for state in 0..rows.len() {
            let Row::Choice(options) = &rows[state] else { continue };
            let nested = |option: &u32| matches!(&rows[*option as usize], Row::Choice(inner) if !inner.is_empty());
            if !options.iter().any(nested) {
                continue;
            }
            let mut lifted = Vec::new();
            for &option in options {
                match &rows[option as usize] {
                    Row::Choice(inner) if !inner.is_empty() => {
                        let outer = flags[option as usize];
                        inner.iter().for_each(|&first| flags[first as usize].join(outer));
                        lifted.extend(inner);
                    }
                    _ => lifted.push(option),
                }
            }
            rows[state] = Row::Choice(lifted);
            changed = true;
        }
        if !changed {
            return;
        }
    }
}

/// Gives every selection the steps of its options. A special label on an option's first statement marks the state after
/// that statement, which is what SPIN does with it.
///
/// A process stands at the `do` or `if`, never at the first statement of an option: that is why
/// options are pulled into their selection's state.
fn pull(rows: Vec<Row>, flags: &mut [Flags]) -> Vec<Option<Vec<Step>>> {
    let mut pulled = Vec::with_capacity(rows.len());
    for row in &rows {
        pulled.push(match row {
            Row::None => None,
            Row::Steps(steps) => Some(steps.clone()),
            Row::Choice(options) => {
                let mut found = Vec::new();
                for &option in options {
                    let Row::Steps(steps) = &rows[option as usize] else { continue };
                    for step in steps {
                        let flag = flags[option as usize];
                        flags[step.target as usize].join(flag);
                        found.push(step.clone());
                    }
                }
                Some(found)
            }
        });
    }
    pulled
}

/// Puts the steps of escapes before the steps that they interrupt, outermost escape first.
///
/// An escape may interrupt every statement of its main sequence, each of which is a state: its
/// first steps are copied into all of them, outermost first, since an outer `unless` has
/// precedence.
fn prepend_escapes(flow: &Flow<'_>, states: &mut [Option<Vec<Step>>]) {
    for state in 0..states.len() {
        let Some(mut steps) = states[state].clone() else { continue };
        let interrupted: Vec<Vec<u32>> = steps.iter().map(|step| step.escapes.clone()).collect();
        for &escape in interrupted.iter().flat_map(|escapes| escapes.iter().rev()) {
            let Some(first) = states[escape as usize].clone() else { continue };
            for step in first {
                let there = steps.iter().any(|known| flow.elements[known.element].id == flow.elements[step.element].id);
                if !there {
                    steps.insert(0, Step { escape, ..step });
                }
            }
        }
        states[state] = Some(steps);
    }
}

/// Every way out of a `d_step` leads where the `d_step` as a whole does.
fn leave_d_steps(flow: &Flow<'_>, states: &mut [Option<Vec<Step>>]) {
    let mut inside: Vec<Option<usize>> = vec![None; states.len()];
    for element in &flow.elements {
        inside[element.number as usize] = element.d_step;
    }
    let mut exits: BTreeMap<usize, u32> = BTreeMap::new();
    for steps in states.iter().flatten() {
        for step in steps {
            if let Some(inner) = d_step_sequence(flow, step.element) {
                let first = flow.sequences[inner].first;
                if let Some(number) = first.and_then(|first| flow.elements[first].d_step) {
                    exits.insert(number, step.target);
                }
            }
        }
    }
    for (state, steps) in states.iter_mut().enumerate() {
        let (Some(steps), Some(number)) = (steps, inside[state]) else { continue };
        let Some(&exit) = exits.get(&number) else { continue };
        for step in steps.iter_mut().filter(|step| inside.get(step.target as usize).copied().flatten() != Some(number))
        {
            step.target = exit;
        }
    }
}

/// The sequence of a `d_step` element.
pub(super) fn d_step_sequence(flow: &Flow<'_>, element: ElementId) -> Option<SequenceId> {
    match flow.elements[element].node {
        Node::Block(BlockKind::DStep, inner) => Some(inner),
        _ => None,
    }
}

/// The state in which a `d_step` starts inside.
pub(super) fn d_step_entry(flow: &Flow<'_>, inner: SequenceId) -> Option<u32> {
    let mut at = flow.sequences[inner].first?;
    while let (Node::Join, Some(next)) = (&flow.elements[at].node, flow.elements[at].next) {
        at = next;
    }
    Some(flow.elements[at].number)
}

/// The closing state of a claim is kept even if nothing leads to it: reaching it is the violation,
/// and reports name it.
fn reachable(
    flow: &Flow<'_>,
    mut steps: Vec<Option<Vec<Step>>>,
    flags: &[Flags],
    entry: u32,
    closing: Option<u32>,
) -> BTreeMap<u32, State> {
    let mut states = BTreeMap::new();
    let mut frontier: Vec<u32> = closing.into_iter().chain([entry]).collect();
    while let Some(number) = frontier.pop() {
        let Some(found) = steps.get_mut(number as usize).and_then(Option::take) else { continue };
        for step in &found {
            frontier.extend(Some(step.target).filter(|&target| target != 0));
            frontier.extend(d_step_sequence(flow, step.element).and_then(|inner| d_step_entry(flow, inner)));
        }
        states.insert(number, State { steps: found, flags: flags[number as usize] });
    }
    states
}

/// Control states in the order of SPIN's numbers.
pub(super) fn pcs(graph: &Graph) -> BTreeMap<u32, Pc> {
    graph.states.keys().enumerate().map(|(pc, &number)| (number, pc)).collect()
}
