//! Lanes: one for each actor, those of a process beside each other.

use crate::fold::is_fault;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use trace::{EventKind, Trace};

/// The column of an actor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Lane {
    /// What people call the actor.
    pub name: String,
    /// The process of a thread, by the number of its first lane; a lane of its own otherwise.
    pub process: usize,
}

/// All lanes, and which one an actor has.
pub(super) struct Lanes {
    pub lanes: Vec<Lane>,
    by_actor: BTreeMap<u32, usize>,
}

impl Lanes {
    /// Everybody who does something, in the order of appearance, threads behind those who made them.
    pub fn of(trace: &Trace) -> Self {
        let leaders = leaders(trace);
        let leader = |actor: u32| leaders.get(&actor).copied().unwrap_or(actor);
        let mut actors = appearing(trace);
        let first: BTreeMap<u32, usize> =
            actors.iter().enumerate().rev().map(|(at, &actor)| (leader(actor), at)).collect();
        actors.sort_by_key(|&actor| first[&leader(actor)]);
        let by_actor: BTreeMap<u32, usize> = actors.iter().enumerate().map(|(lane, &actor)| (actor, lane)).collect();
        let process = |actor: u32| actors.iter().position(|&other| leader(other) == leader(actor)).unwrap_or(0);
        let lanes = actors.iter().map(|&actor| Lane { name: trace.name(actor), process: process(actor) }).collect();
        Self { lanes, by_actor }
    }

    /// The lane of an actor; nothing for those who only happen to others.
    pub fn lane(&self, actor: u32) -> Option<usize> {
        self.by_actor.get(&actor).copied()
    }
}

/// The first thread of everyone's process, where that is another one: threads are made by threads.
fn leaders(trace: &Trace) -> BTreeMap<u32, u32> {
    let mut leaders = BTreeMap::new();
    for event in trace.steps.iter().flat_map(|step| &step.events) {
        if let (Some(created), EventKind::CreateThread { .. }) = (event.created, &event.kind) {
            let leader = leaders.get(&event.actor).copied().unwrap_or(event.actor);
            leaders.insert(created, leader);
        }
    }
    leaders
}

/// Actors in the order in which they do something, or something is done with them.
fn appearing(trace: &Trace) -> Vec<u32> {
    let events = trace.steps.iter().flat_map(|step| &step.events);
    let named = events.flat_map(|event| {
        let partner = event.message.as_ref().and_then(|message| message.partner);
        [Some(event.actor), partner, event.created].into_iter().flatten()
    });
    let mut seen = BTreeSet::new();
    named.filter(|actor| !is_fault(trace, *actor)).filter(|actor| seen.insert(*actor)).collect()
}
