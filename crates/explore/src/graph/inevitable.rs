//! From where on a failure cannot be avoided any more.

use super::node::{End, Node};
use super::scc;
use super::state_graph::StateGraph;

/// For each state whether a failure can still be avoided there: by a good end, or by going on for ever. In a search that
/// is not complete a state counts as a way out if not everybody's steps were taken there, because nobody knows.
pub fn avoidable(graph: &StateGraph, complete: bool) -> Vec<bool> {
    let nodes = &graph.nodes;
    let way_out = |node: &Node| node.end == End::Good || !complete && node.is_partial();
    let mut avoidable: Vec<bool> = nodes.iter().map(way_out).collect();
    if graph.has_cycle() {
        let mark = |cycle: &[u32]| cycle.iter().for_each(|at| avoidable[*at as usize] = true);
        scc::components(nodes, |_| true, |edge| !edge.failed, mark);
    }
    let mut open: Vec<u32> = (0..nodes.len() as u32).filter(|at| avoidable[*at as usize]).collect();
    while let Some(at) = open.pop() {
        for before in &nodes[at as usize].before {
            let mut edges = nodes[*before as usize].edges.iter();
            if !avoidable[*before as usize] && edges.any(|edge| edge.to == at && !edge.failed) {
                avoidable[*before as usize] = true;
                open.push(*before);
            }
        }
    }
    avoidable
}
