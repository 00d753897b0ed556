//! Cycles in which somebody moves for ever and nobody gets on.
//!
//! Scheduling is taken to be fair: whoever can move again and again does move again and again. Two kinds of cycles count.
//! In the first nobody changes anything: all only look. In the second they do, but the programs could have ended instead:
//! two threads that take locks and give them back are busy and get nowhere. What goes round in a program that has no end is
//! its work.

use super::node::{Edge, End, Node};
use super::path::{Hop, shortest};
use super::scc;
use crate::bits::Bits;
use crate::chunked_vec::Pieces;
use std::collections::BTreeSet;

/// Steps that could be taken for ever without anybody getting on.
pub fn is_idle(edge: &Edge) -> bool {
    !edge.progress && !edge.failed
}

fn goes_well(edge: &Edge) -> bool {
    !edge.failed
}

/// As many are told; more are hardly read.
const TOLD_MAX: usize = 8;

/// One cycle for each component; the first step starts where the stem ends.
pub fn livelocks(nodes: &Pieces<Node>) -> Vec<Vec<Hop>> {
    let mut found = tours(nodes, |_| true, is_idle);
    let idle: BTreeSet<u32> = found.iter().flatten().map(|(at, _)| *at).collect();
    let can_end = can_end(nodes);
    let busy = tours(nodes, |at| can_end[at as usize], goes_well);
    found.extend(busy.into_iter().filter(|tour| !tour.iter().any(|(at, _)| idle.contains(at))));
    found.truncate(TOLD_MAX);
    found
}

/// For each state whether the programs can still end as they should.
fn can_end(nodes: &Pieces<Node>) -> Vec<bool> {
    let mut can_end: Vec<bool> = nodes.iter().map(|node| node.end == End::Good).collect();
    let mut open: Vec<u32> = (0..nodes.len() as u32).filter(|at| can_end[*at as usize]).collect();
    while let Some(at) = open.pop() {
        for before in nodes[at as usize].before.iter().copied() {
            let mut edges = nodes[before as usize].edges.iter();
            if !can_end[before as usize] && edges.any(|edge| edge.to == at && goes_well(edge)) {
                can_end[before as usize] = true;
                open.push(before);
            }
        }
    }
    can_end
}

/// A fair way around each component that has one.
fn tours(nodes: &Pieces<Node>, is_in: impl Fn(u32) -> bool, counts: fn(&Edge) -> bool) -> Vec<Vec<Hop>> {
    let fair = fair_components(nodes, is_in, counts);
    fair.iter().take(TOLD_MAX).filter_map(|inside| tour(nodes, inside, counts)).collect()
}

/// Components around which one can go so that everybody who can move somewhere in them does.
///
/// Where somebody can move but would leave, it will: such states are left out, until no component has any.
pub fn fair_components(
    nodes: &Pieces<Node>,
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
                let leaving = leaving(nodes, &inside, counts);
                components.push((inside, leaving));
            },
        );
        let out: Vec<u32> =
            components.iter().flat_map(|(inside, leaving)| where_able(nodes, inside, *leaving)).collect();
        if out.is_empty() {
            return components.into_iter().map(|(inside, _)| inside).collect();
        }
        out.into_iter().for_each(|at| left_out[at as usize] = true);
    }
}

/// Who can move somewhere in a component, and leaves it by every step.
fn leaving(nodes: &Pieces<Node>, inside: &BTreeSet<u32>, counts: fn(&Edge) -> bool) -> Bits {
    let (mut able, mut stay) = (Bits::EMPTY, Bits::EMPTY);
    for at in inside {
        let node = &nodes[*at as usize];
        able = able.union(node.enabled);
        let steps = node.edges.iter().filter(|edge| counts(edge) && inside.contains(&edge.to));
        steps.for_each(|edge| stay.insert(edge.actor));
    }
    able.minus(stay)
}

fn where_able(nodes: &Pieces<Node>, inside: &BTreeSet<u32>, actors: Bits) -> Vec<u32> {
    let is_able = |at: &u32| actors.iter().any(|actor| nodes[*at as usize].enabled.contains(actor));
    inside.iter().copied().filter(is_able).collect()
}

/// A way around on which everybody moves who can.
fn tour(nodes: &Pieces<Node>, inside: &BTreeSet<u32>, counts: fn(&Edge) -> bool) -> Option<Vec<Hop>> {
    let stays = |at: u32, index: usize| {
        let edge = &nodes[at as usize].edges[index];
        counts(edge) && inside.contains(&edge.to)
    };
    let mut movers = Bits::EMPTY;
    let mut stops: Vec<Hop> = Vec::new();
    for at in inside {
        for (index, edge) in nodes[*at as usize].edges.iter().enumerate() {
            if stays(*at, index) && !movers.contains(edge.actor) {
                movers.insert(edge.actor);
                stops.push((*at, index));
            }
        }
    }
    let start = stops.first()?.0;
    let (mut way, mut at) = (Vec::new(), start);
    for (from, index) in stops {
        way.extend(shortest(nodes, at, from, stays)?);
        way.push((from, index));
        at = nodes[from as usize].edges[index].to;
    }
    way.extend(shortest(nodes, at, start, stays)?);
    Some(way)
}
