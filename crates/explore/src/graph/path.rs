//! The way to a state with the fewest preemptions, then the fewest switches between actors, then the fewest steps.

use super::node::Node;
use crate::chunked_vec::Pieces;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Where a way stands: state and who moved last.
type Place = (u32, u32);

/// Preemptions, switches, steps.
type Cost = (u32, u32, u32);

/// Nobody moved yet.
const NOBODY: u32 = u32::MAX;

/// A step of a way: state, and which of its edges.
pub type Hop = (u32, usize);

/// Steps that lead from the start to each of the goals.
pub fn fewest_switches(nodes: &Pieces<Node>, goals: impl Iterator<Item = u32>) -> FxHashMap<u32, Vec<Hop>> {
    let mut missing: FxHashSet<u32> = goals.collect();
    let mut ways = FxHashMap::default();
    let mut best: FxHashMap<Place, Cost> = FxHashMap::from_iter([((0, NOBODY), (0, 0, 0))]);
    let mut came: FxHashMap<Place, (Place, Hop)> = FxHashMap::default();
    let mut open = BinaryHeap::from([Reverse(((0, 0, 0), (0, NOBODY)))]);
    while let Some(Reverse((cost, place))) = open.pop() {
        if missing.remove(&place.0) {
            ways.insert(place.0, walk_back(&came, place));
        }
        if missing.is_empty() {
            break;
        }
        if best[&place] < cost {
            continue;
        }
        let node = &nodes[place.0 as usize];
        for (index, edge) in node.edges.iter().enumerate() {
            let next = (edge.to, edge.actor);
            let cost = dearer(cost, node, place.1, edge.actor);
            if best.get(&next).is_none_or(|known| cost < *known) {
                best.insert(next, cost);
                came.insert(next, (place, (place.0, index)));
                open.push(Reverse((cost, next)));
            }
        }
    }
    ways
}

/// What a way costs with one more step.
fn dearer(cost: Cost, node: &Node, last: u32, actor: u32) -> Cost {
    let switch = last != NOBODY && last != actor;
    let preempted = switch && node.enabled.contains(last);
    (cost.0 + u32::from(preempted), cost.1 + u32::from(switch), cost.2 + 1)
}

fn walk_back(came: &FxHashMap<Place, (Place, Hop)>, mut place: Place) -> Vec<Hop> {
    let mut hops = Vec::new();
    while let Some((before, hop)) = came.get(&place) {
        hops.push(*hop);
        place = *before;
    }
    hops.reverse();
    hops
}

/// The fewest steps from one state to another over steps that count; nothing if there are none such.
pub fn shortest(nodes: &Pieces<Node>, from: u32, to: u32, counts: impl Fn(u32, usize) -> bool) -> Option<Vec<Hop>> {
    let mut came: FxHashMap<u32, Hop> = FxHashMap::default();
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        if at == to {
            let mut hops = Vec::new();
            let mut at = to;
            while at != from {
                let hop = came[&at];
                hops.push(hop);
                at = hop.0;
            }
            hops.reverse();
            return Some(hops);
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
