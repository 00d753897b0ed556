//! What is wrong with a control graph, or looks wrong.

use super::element::{Flow, Node};
use super::flow::is_skip;
use super::graph::Graph;
use crate::diagnostic::Diagnostic;
use std::collections::BTreeSet;

/// Checks the graph of a process.
pub(super) fn process(flow: &Flow<'_>, graph: &Graph, report: &mut Vec<Diagnostic>) {
    self_loops(flow, graph, report);
    unreachable(flow, graph, report);
}

/// Nested selections may bring more than one `else` to a state; which one would be meant?
pub(super) fn twice_else(flow: &Flow<'_>, graph: &Graph, report: &mut Vec<Diagnostic>) {
    for state in graph.states.values() {
        let mut others = state.steps.iter().filter(|step| matches!(flow.elements[step.element].node, Node::Else));
        if let (Some(first), Some(second)) = (others.next(), others.next()) {
            let (first, second) = (flow.elements[first.element].span, flow.elements[second.element].span);
            let span = if first.start > second.start { first } else { second };
            let told = Diagnostic::error("else", span, "this `else` and another one belong to the same state");
            report.push(told.note(
                "the selection is the first statement of an option, so its options are options of the outer selection",
            ));
        }
    }
}

/// `do :: skip od`: SPIN refuses it. Inside atomic nothing else could ever move again.
fn self_loops(flow: &Flow<'_>, graph: &Graph, report: &mut Vec<Diagnostic>) {
    for (&number, state) in &graph.states {
        for step in state.steps.iter().filter(|step| step.target == number) {
            let element = &flow.elements[step.element];
            if !is_skip(&element.node) {
                continue;
            }
            report.push(if step.atomic {
                Diagnostic::error(
                    "loop",
                    element.span,
                    "an endless loop inside atomic: nothing else could ever move again",
                )
            } else {
                Diagnostic::warning("loop", element.span, "a loop that does nothing")
                    .note("SPIN refuses the model: \"has unconditional self-loop\"")
            });
        }
    }
}

/// Statements that no path leads to, one message for each stretch of them.
fn unreachable(flow: &Flow<'_>, graph: &Graph, report: &mut Vec<Diagnostic>) {
    let taken: BTreeSet<usize> =
        graph.states.values().flat_map(|state| &state.steps).map(|step| step.element).collect();
    let mut before = false;
    for (element, entry) in flow.elements.iter().enumerate() {
        let basic = entry.node.statement().is_some() || matches!(entry.node, Node::Declare(_));
        // What SPIN dropped as redundant is not the user's mistake; a constant 0 is meant to block.
        let blocked = super::flow::constant(&entry.node).is_some();
        let lost = basic && !blocked && !taken.contains(&element);
        if lost && !before {
            report.push(Diagnostic::warning("unreachable", entry.span, "no path leads to this statement"));
        }
        before = lost || (before && !basic);
    }
}
