//! From which state on a failure is inevitable.

use super::node::{End, Node};
use super::scc;
use super::state_graph::StateGraph;

/// For each state whether some continuation avoids failure: by a good end, or by an infinite execution. In an incomplete
/// search a partly expanded state counts as avoidable, because its other steps are unknown.
///
/// A backward reachability from good ends and from cycles, O(states + edges). The first state of a
/// counterexample that is not avoidable is the point of no return that reports name.
pub fn avoidable(graph: &StateGraph, complete: bool) -> Vec<bool> {
    let nodes = &graph.nodes;
    let ends_well = |node: &Node| node.end == End::Good || !complete && node.is_partial();
    let mut avoidable: Vec<bool> = nodes.iter().map(ends_well).collect();
    if graph.has_cycle() {
        let mark = |cycle: &[u32]| cycle.iter().for_each(|at| avoidable[*at as usize] = true);
        scc::components(nodes, |_| true, |edge| !edge.failed, mark);
    }
    let mut open: Vec<u32> = (0..nodes.len() as u32).filter(|at| avoidable[*at as usize]).collect();
    while let Some(at) = open.pop() {
        for before in &nodes[at as usize].predecessors {
            let mut edges = nodes[*before as usize].edges.iter();
            if !avoidable[*before as usize] && edges.any(|edge| edge.to == at && !edge.failed) {
                avoidable[*before as usize] = true;
                open.push(*before);
            }
        }
    }
    avoidable
}
