//! Livelocks: fair cycles without progress.
//!
//! Scheduling is strongly fair: an actor that is enabled infinitely often moves infinitely often. Two kinds of cycles count.
//! In *idle* ones no step is progress: all actors only re-read. In *busy* ones steps are, but the programs could have ended
//! instead: two threads take locks and release them for ever. A cycle of a program without end is its work.

use super::node::{Edge, End, Node};
use super::path::{EdgeAt, shortest};
use super::scc;
use crate::bits::Bits;
use crate::chunked_vec::ChunkedVec;
use std::collections::BTreeSet;

/// Whether a step is no progress, and does not fail.
pub fn is_idle(edge: &Edge) -> bool {
    !edge.progress && !edge.failed
}

fn succeeds(edge: &Edge) -> bool {
    !edge.failed
}

/// Bound on the livelocks that are reported.
const REPORTED_MAX: usize = 8;

/// One cycle for each fair component; its first edge begins where the stem ends.
pub fn livelocks(nodes: &ChunkedVec<Node>, faults: Bits) -> Vec<Vec<EdgeAt>> {
    let mut found = cycles((nodes, faults), |_| true, is_idle);
    let idle: BTreeSet<u32> = found.iter().flatten().map(|(at, _)| *at).collect();
    let can_end = can_end(nodes);
    let busy = cycles((nodes, faults), |at| can_end[at as usize], succeeds);
    found.extend(busy.into_iter().filter(|cycle_through| !cycle_through.iter().any(|(at, _)| idle.contains(at))));
    found.truncate(REPORTED_MAX);
    found
}

/// For each state whether a good end is reachable.
fn can_end(nodes: &ChunkedVec<Node>) -> Vec<bool> {
    let mut can_end: Vec<bool> = nodes.iter().map(|node| node.end == End::Good).collect();
    let mut open: Vec<u32> = (0..nodes.len() as u32).filter(|at| can_end[*at as usize]).collect();
    while let Some(at) = open.pop() {
        for before in nodes[at as usize].predecessors.iter().copied() {
            let mut edges = nodes[before as usize].edges.iter();
            if !can_end[before as usize] && edges.any(|edge| edge.to == at && succeeds(edge)) {
                can_end[before as usize] = true;
                open.push(before);
            }
        }
    }
    can_end
}

/// A cycle through each fair component on which every actor of the component moves.
fn cycles(
    (nodes, faults): (&ChunkedVec<Node>, Bits),
    is_in: impl Fn(u32) -> bool,
    counts: fn(&Edge) -> bool,
) -> Vec<Vec<EdgeAt>> {
    let fair = fair_components((nodes, faults), is_in, counts);
    fair.iter().take(REPORTED_MAX).filter_map(|inside| cycle_through(nodes, inside, counts)).collect()
}

/// Components with a strongly fair cycle: every actor that is enabled in one of its states moves within it, but for faults.
///
/// States with an enabled actor that can only leave the component are removed, until no component has any (Streett).
///
/// Emptiness of Streett automata by repeated decomposition (Emerson and Lei): remove states where
/// an actor is enabled that never moves inside, decompose again. At most as many rounds as states,
/// in practice two or three.
pub fn fair_components(
    (nodes, faults): (&ChunkedVec<Node>, Bits),
    is_in: impl Fn(u32) -> bool,
    counts: fn(&Edge) -> bool,
) -> Vec<BTreeSet<u32>> {
    let mut left_out = vec![false; nodes.len()];
    loop {
        let mut components = Vec::new();
        scc::components(
            nodes,
            |at| is_in(at) && !left_out[at as usize],
            counts,
            |component| {
                let inside: BTreeSet<u32> = component.iter().copied().collect();
                let leaving = leaving(nodes, &inside, counts).minus(faults);
                components.push((inside, leaving));
            },
        );
        let out: Vec<u32> =
            components.iter().flat_map(|(inside, leaving)| where_enabled(nodes, inside, *leaving)).collect();
        if out.is_empty() {
            return components.into_iter().map(|(inside, _)| inside).collect();
        }
        out.into_iter().for_each(|at| left_out[at as usize] = true);
    }
}

/// Actors that are enabled in a component, and leave it by every step.
fn leaving(nodes: &ChunkedVec<Node>, inside: &BTreeSet<u32>, counts: fn(&Edge) -> bool) -> Bits {
    let (mut enabled, mut stay) = (Bits::EMPTY, Bits::EMPTY);
    for at in inside {
        let node = &nodes[*at as usize];
        enabled = enabled.union(node.enabled);
        let steps = node.edges.iter().filter(|edge| counts(edge) && inside.contains(&edge.to));
        steps.for_each(|edge| stay.insert(edge.actor));
    }
    enabled.minus(stay)
}

fn where_enabled(nodes: &ChunkedVec<Node>, inside: &BTreeSet<u32>, actors: Bits) -> Vec<u32> {
    let is_enabled = |at: &u32| actors.iter().any(|actor| nodes[*at as usize].enabled.contains(actor));
    inside.iter().copied().filter(is_enabled).collect()
}

/// A cycle through a component on which every actor that has an edge in it moves.
///
/// Not a simple cycle: it visits an edge of every actor of the component, so that it shows that
/// everybody moves.
fn cycle_through(nodes: &ChunkedVec<Node>, inside: &BTreeSet<u32>, counts: fn(&Edge) -> bool) -> Option<Vec<EdgeAt>> {
    let stays = |at: u32, index: usize| {
        let edge = &nodes[at as usize].edges[index];
        counts(edge) && inside.contains(&edge.to)
    };
    let mut movers = Bits::EMPTY;
    let mut stops: Vec<EdgeAt> = Vec::new();
    for at in inside {
        for (index, edge) in nodes[*at as usize].edges.iter().enumerate() {
            if stays(*at, index) && !movers.contains(edge.actor) {
                movers.insert(edge.actor);
                stops.push((*at, index));
            }
        }
    }
    let start = stops.first()?.0;
    let (mut cycle, mut at) = (Vec::new(), start);
    for (from, index) in stops {
        cycle.extend(shortest(nodes, at, from, stays)?);
        cycle.push((from, index));
        at = nodes[from as usize].edges[index].to;
    }
    cycle.extend(shortest(nodes, at, start, stays)?);
    Some(cycle)
}
