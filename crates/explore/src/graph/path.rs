//! Paths in the graph: to a state with the fewest preemptions, then switches, then steps; and shortest ones.

use super::node::Node;
use crate::chunked_vec::ChunkedVec;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A state, and the actor that moved last: they decide what the next step costs.
type Position = (u32, u32);

/// Preemptions, switches, steps.
type Cost = (u32, u32, u32);

/// No actor has moved yet.
const NONE: u32 = u32::MAX;

/// An edge of the graph: state, and index among its edges.
pub type EdgeAt = (u32, usize);

/// Paths from the initial state to each of the goals.
///
/// Dijkstra over (state, last actor), with lexicographic costs; O(positions log positions). The
/// last actor is part of the position because it decides what the next step costs.
pub fn fewest_switches(nodes: &ChunkedVec<Node>, goals: impl Iterator<Item = u32>) -> FxHashMap<u32, Vec<EdgeAt>> {
    let mut missing: FxHashSet<u32> = goals.collect();
    let mut paths = FxHashMap::default();
    let mut best: FxHashMap<Position, Cost> = FxHashMap::from_iter([((0, NONE), (0, 0, 0))]);
    let mut came: FxHashMap<Position, (Position, EdgeAt)> = FxHashMap::default();
    let mut open = BinaryHeap::from([Reverse(((0, 0, 0), (0, NONE)))]);
    while let Some(Reverse((cost, position))) = open.pop() {
        if missing.remove(&position.0) {
            paths.insert(position.0, path_to(&came, position));
        }
        if missing.is_empty() {
            break;
        }
        if best[&position] < cost {
            continue;
        }
        let node = &nodes[position.0 as usize];
        for (index, edge) in node.edges.iter().enumerate() {
            let next = (edge.to, edge.actor);
            let cost = extended(cost, node, position.1, edge.actor);
            if best.get(&next).is_none_or(|known| cost < *known) {
                best.insert(next, cost);
                came.insert(next, (position, (position.0, index)));
                open.push(Reverse((cost, next)));
            }
        }
    }
    paths
}

/// The cost of a path with one more step.
fn extended(cost: Cost, node: &Node, last: u32, actor: u32) -> Cost {
    let switch = last != NONE && last != actor;
    let preempted = switch && node.enabled.contains(last);
    (cost.0 + u32::from(preempted), cost.1 + u32::from(switch), cost.2 + 1)
}

fn path_to(came: &FxHashMap<Position, (Position, EdgeAt)>, mut position: Position) -> Vec<EdgeAt> {
    let mut path = Vec::new();
    while let Some((before, edge)) = came.get(&position) {
        path.push(*edge);
        position = *before;
    }
    path.reverse();
    path
}

/// A shortest path from one state to another over edges that count; nothing if there is none.
pub fn shortest(
    nodes: &ChunkedVec<Node>,
    from: u32,
    to: u32,
    counts: impl Fn(u32, usize) -> bool,
) -> Option<Vec<EdgeAt>> {
    let mut came: FxHashMap<u32, EdgeAt> = FxHashMap::default();
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        if at == to {
            let mut path = Vec::new();
            let mut at = to;
            while at != from {
                let edge = came[&at];
                path.push(edge);
                at = edge.0;
            }
            path.reverse();
            return Some(path);
        }
        for (index, edge) in nodes[at as usize].edges.iter().enumerate() {
            if counts(at, index) && edge.to != from && !came.contains_key(&edge.to) {
                came.insert(edge.to, (at, index));
                open.push_back(edge.to);
            }
        }
    }
    None
}
