//! What is wrong with a control graph, or looks wrong.
//!
//! Run on the finished graph, because these rules are about what can be reached from where, which
//! no single statement shows.

use super::element::{Flow, Node};
use super::element::{constant, is_skip};
use super::graph::Graph;
use crate::diagnostic::Diagnostic;
use crate::ir::{Action, Channel, ControlState, Edge, Expr, Field, Place, Send, Space};
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
        let blocked = constant(&entry.node).is_some();
        let lost = basic && !blocked && !taken.contains(&element);
        if lost && !before {
            report.push(Diagnostic::warning("unreachable", entry.span, "no path leads to this statement"));
        }
        before = lost || (before && !basic);
    }
}

/// A message with more fields than the process's own channel has. Where the variable may stand for another channel, only
/// the step can tell.
pub(super) fn own_messages(channels: &[Channel], states: &[ControlState], report: &mut Vec<Diagnostic>) {
    let edges = || states.iter().flat_map(|state| &state.edges);
    for channel in channels {
        let Some(own) = channel.variable.as_ref().filter(|place| place.indices.is_empty()) else { continue };
        let is_own = |place: &Place| matches!(place.space, Space::Local) && place.offset == own.offset;
        let changes = |edge: &Edge| match &edge.action {
            Action::Assign(assign) => is_own(&assign.place),
            Action::Receive(receive) => {
                receive.fields.iter().any(|field| matches!(field, Field::Store(place) if is_own(place)))
            }
            _ => false,
        };
        if edges().any(changes) {
            continue;
        }
        for edge in edges() {
            if let Action::Send(Send { channel: Expr::Load(to), values, .. }) = &edge.action
                && is_own(to)
                && values.len() > channel.fields.len()
            {
                let (given, wanted) = (values.len(), channel.fields.len());
                let message = format!("{given} fields are sent, but `{}` has messages of {wanted}", channel.name);
                report.push(Diagnostic::error("message", edge.span, message));
            }
        }
    }
}
