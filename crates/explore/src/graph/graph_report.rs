//! From the explored graph to what is reported.

use super::node::{End, Node};
use super::options::{Mode, Stopped};
use super::path::{Hop, fewest_switches};
use super::present::Present;
use super::report::{Counts, Found, Livelock, Report};
use super::search::{FoundAt, Search};
use super::state_graph::StateGraph;
use super::{FootprintSystem, Race, inevitable, livelock};
use std::collections::BTreeSet;
use trace::Choice;

/// What a search has seen.
pub fn report<T: FootprintSystem>(search: &Search<'_, T>, stopped: Option<Stopped>) -> Report {
    let nodes = &search.graph.nodes;
    let number = |dense| search.graph.actors.number(dense);
    let race = |race: &Race| Race {
        one: (number(race.one.0), race.one.1),
        other: (number(race.other.0), race.other.1),
        ..*race
    };
    let is_end = |node: &&Node| matches!(node.end, End::Good | End::Stuck);
    let mut ends: Vec<u128> = nodes.iter().filter(is_end).map(|node| node.fingerprint).collect();
    ends.sort_unstable();
    Report {
        found: found(search, stopped.is_none()),
        races: search.races.found.keys().map(race).collect(),
        race_ways: race_ways(search),
        states: nodes.len() as u64,
        steps: search.steps,
        executed: search.executed,
        depth_max: nodes.iter().map(|node| node.depth).max().unwrap_or(0),
        complete: stopped.is_none(),
        stopped,
        ends,
        counts: Counts {
            tried: search.executed - search.counts.again - search.steps,
            ..counts(&search.graph, search.counts)
        },
        livelocks: livelocks(search),
    }
}

fn counts(graph: &StateGraph, so_far: Counts) -> Counts {
    let mut counts = so_far;
    for node in graph.nodes.iter().filter(|node| !node.enabled.is_empty()) {
        let left_out = u64::from(node.enabled.minus(node.done).minus(node.todo).len());
        *(if left_out > 0 { &mut counts.partial } else { &mut counts.full }) += 1;
        counts.pruned += left_out;
        counts.left += u64::from(!node.todo.minus(node.done).is_empty());
        counts.scheduling += u64::from(node.enabled.len() > 1);
        let chooses = |present: &&Present| present.choices > 0;
        counts.sorts.meet(graph.presents.of(node.present).filter(chooses).map(|present| present.sort));
        let movers = node.edges.iter().filter_map(|edge| graph.find(node, edge.actor));
        movers.for_each(|present| counts.sorts.take(present.sort));
    }
    counts
}

fn found<T: FootprintSystem>(search: &Search<'_, T>, complete: bool) -> Vec<Found> {
    if search.found.is_empty() {
        return Vec::new();
    }
    let nodes = &search.graph.nodes;
    let avoidable = match search.options.mode {
        Mode::Bounded(_) => None,
        _ => Some(inevitable::avoidable(&search.graph, complete)),
    };
    let ways = fewest_switches(nodes, search.found.iter().map(|found| found.at));
    let tell = |FoundAt { failure, at, choice, fingerprint }: &FoundAt| {
        let hops = &ways[at];
        let mut schedule = choices(search, hops);
        let places = hops.iter().map(|hop| hop.0).chain([*at]);
        let lost = |avoidable: &Vec<bool>| places.clone().position(|at| !avoidable[at as usize]);
        let inevitable_from = avoidable.as_ref().map(|avoidable| lost(avoidable).unwrap_or(schedule.len() + 1));
        schedule.extend(choice);
        let behind = places.skip(1).map(|at| nodes[at as usize].fingerprint);
        let states = behind.chain(choice.map(|_| *fingerprint)).collect();
        Found { failure: failure.clone(), schedule, inevitable_from, fingerprint: *fingerprint, states }
    };
    search.found.iter().map(tell).collect()
}

/// Races that are told with a way to them; more are hardly read.
const RACES_MAX: usize = 64;

fn race_ways<T: FootprintSystem>(search: &Search<'_, T>) -> Vec<Vec<Choice>> {
    let places: Vec<u32> = search.races.found.values().take(RACES_MAX).copied().collect();
    if places.is_empty() {
        return Vec::new();
    }
    let ways = fewest_switches(&search.graph.nodes, places.iter().copied());
    places.iter().map(|at| choices(search, &ways[at])).collect()
}

fn choices<T: FootprintSystem>(search: &Search<'_, T>, hops: &[Hop]) -> Vec<Choice> {
    let choice = |hop: &Hop| {
        let edge = &search.graph.nodes[hop.0 as usize].edges[hop.1];
        Choice { actor: search.graph.actors.number(edge.actor), index: edge.index }
    };
    hops.iter().map(choice).collect()
}

fn livelocks<T: FootprintSystem>(search: &Search<'_, T>) -> Vec<Livelock> {
    if !search.graph.has_cycle() {
        return Vec::new();
    }
    let nodes = &search.graph.nodes;
    let cycles = livelock::livelocks(nodes);
    let ways = fewest_switches(nodes, cycles.iter().map(|cycle| cycle[0].0));
    let tell = |cycle: &Vec<Hop>| {
        let (stem, cycle) = (choices(search, &ways[&cycle[0].0]), choices(search, cycle));
        let actors: BTreeSet<u32> = cycle.iter().map(|choice| choice.actor).collect();
        Livelock { stem, cycle, actors: actors.into_iter().collect() }
    };
    cycles.iter().map(tell).collect()
}
