//! Strongly connected components (Tarjan), without recursion, because paths are long.
//!
//! Linear in the states and edges. C3, livelocks and quiescence ask about cycles, each on another subgraph, so the caller says
//! which states are in and which edges count.

use super::node::{Edge, Node};
use crate::chunked_vec::ChunkedVec;

/// Hands every component with a cycle to `found`, in the graph of the states that are in and the edges that count.
pub fn components(
    nodes: &ChunkedVec<Node>,
    is_in: impl Fn(u32) -> bool,
    counts: impl Fn(&Edge) -> bool,
    mut found: impl FnMut(&[u32]),
) {
    let mut tarjan = Tarjan {
        nodes,
        is_in,
        counts,
        index: vec![0; nodes.len()],
        low: vec![0; nodes.len()],
        next: 1,
        stack: Vec::new(),
        on_stack: vec![false; nodes.len()],
    };
    for node in 0..nodes.len() as u32 {
        if tarjan.index[node as usize] == 0 && (tarjan.is_in)(node) {
            tarjan.visit(node, &mut found);
        }
    }
}

struct Tarjan<'a, I, C> {
    nodes: &'a ChunkedVec<Node>,
    is_in: I,
    counts: C,
    /// When a state was entered, from 1; 0: not yet.
    index: Vec<u32>,
    /// The earliest entered state on the stack that is known to be reachable from it.
    low: Vec<u32>,
    next: u32,
    /// States whose component is not complete yet, in the order in which they were entered.
    stack: Vec<u32>,
    on_stack: Vec<bool>,
}

impl<I: Fn(u32) -> bool, C: Fn(&Edge) -> bool> Tarjan<'_, I, C> {
    fn enter(&mut self, node: u32) {
        self.index[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node as usize] = true;
    }

    /// Visits all states that are reachable from a root. The path is the call stack of the recursive algorithm: a state, and the
    /// edge of it that comes next.
    fn visit(&mut self, root: u32, found: &mut impl FnMut(&[u32])) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, place)) = path.last_mut() {
            let node = *node;
            let Some(edge) = self.nodes[node as usize].edges.get(*place) else {
                path.pop();
                if let Some((before, _)) = path.last() {
                    let low = self.low[node as usize];
                    self.low[*before as usize] = self.low[*before as usize].min(low);
                }
                self.leave(node, found);
                continue;
            };
            *place += 1;
            if !(self.counts)(edge) || !(self.is_in)(edge.to) {
                continue;
            }
            if self.index[edge.to as usize] == 0 {
                self.enter(edge.to);
                path.push((edge.to, 0));
            } else if self.on_stack[edge.to as usize] {
                self.low[node as usize] = self.low[node as usize].min(self.index[edge.to as usize]);
            }
        }
    }

    /// All edges of a state are visited. If nothing before it is reachable, it and all that is above it on the stack are a
    /// component; of one state only if it has an edge to itself.
    fn leave(&mut self, node: u32, found: &mut impl FnMut(&[u32])) {
        if self.low[node as usize] != self.index[node as usize] {
            return;
        }
        let place = self.stack.iter().rposition(|member| *member == node).expect("a root is on the stack");
        let component = self.stack.split_off(place);
        component.iter().for_each(|member| self.on_stack[*member as usize] = false);
        let mut edges = self.nodes[node as usize].edges.iter();
        if component.len() > 1 || edges.any(|edge| edge.to == node && (self.counts)(edge)) {
            found(&component);
        }
    }
}
