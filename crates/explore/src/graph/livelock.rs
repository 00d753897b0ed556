//! Cycles in which somebody moves for ever and nobody gets on.
//!
//! Scheduling is taken to be fair: whoever could always move moves again and again. So a cycle counts if everybody moves in
//! it or cannot move somewhere in it. A component of the graph has such a cycle if and only if going all around it is one.

use super::node::{Edge, Node};
use super::path::{Hop, shortest};
use super::scc;
use crate::bits::Bits;
use std::collections::BTreeSet;

/// Steps that could be taken for ever without anybody getting on.
fn is_idle(edge: &Edge) -> bool {
    !edge.progress && !edge.failed
}

/// As many are told; more are hardly read.
const TOLD_MAX: usize = 8;

/// One cycle for each component; the first step starts where the stem ends.
pub fn livelocks(nodes: &[Node]) -> Vec<Vec<Hop>> {
    let mut found = Vec::new();
    scc::components(
        nodes,
        |_| true,
        is_idle,
        |component| {
            if found.len() < TOLD_MAX {
                let inside = component.iter().copied().collect();
                found.extend(stops(nodes, &inside).and_then(|stops| tour(nodes, &inside, &stops)));
            }
        },
    );
    found
}

/// Steps to take and states to visit so that the cycle is fair; nothing if none is.
fn stops(nodes: &[Node], component: &BTreeSet<u32>) -> Option<Vec<Stop>> {
    let present = component.iter().fold(Bits::EMPTY, |all, at| all.union(nodes[*at as usize].enabled));
    let stop = |actor: u32| {
        let moves = |at: &u32| {
            let mut edges = nodes[*at as usize].edges.iter();
            edges.position(|edge| edge.actor == actor && is_idle(edge) && component.contains(&edge.to))
        };
        let step = component.iter().find_map(|at| moves(at).map(|index| Stop::Step((*at, index))));
        let waits = || component.iter().find(|at| !nodes[**at as usize].enabled.contains(actor));
        step.or_else(|| waits().map(|at| Stop::State(*at)))
    };
    present.iter().map(stop).collect()
}

enum Stop {
    Step(Hop),
    State(u32),
}

/// A way around that makes every stop.
fn tour(nodes: &[Node], component: &BTreeSet<u32>, stops: &[Stop]) -> Option<Vec<Hop>> {
    let counts = |at: u32, index: usize| {
        let edge = &nodes[at as usize].edges[index];
        is_idle(edge) && component.contains(&edge.to)
    };
    let start = stops.iter().find_map(|stop| if let Stop::Step((from, _)) = stop { Some(*from) } else { None })?;
    let (mut way, mut at) = (Vec::new(), start);
    for stop in stops {
        let to = match stop {
            Stop::Step((from, _)) => *from,
            Stop::State(state) => *state,
        };
        way.extend(shortest(nodes, at, to, counts)?);
        at = to;
        if let Stop::Step((from, index)) = stop {
            way.push((*from, *index));
            at = nodes[*from as usize].edges[*index].to;
        }
    }
    way.extend(shortest(nodes, at, start, counts)?);
    Some(way)
}
