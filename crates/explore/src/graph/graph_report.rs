//! The report of an explored graph.

use super::actor_table::ActorRecord;
use super::explored::ExploredGraph;
use super::node::{End, Node};
use super::options::Mode;
use super::path::{EdgeAt, fewest_switches};
use super::report::{Counts, Livelock, Report};
use super::search::{FoundAt, Search};
use super::state_graph::StateGraph;
use super::{inevitable, livelock};
use crate::footprint_system::FootprintSystem;
use crate::found::{Found, Stopped};
use crate::race::Race;
use std::collections::BTreeSet;
use trace::Choice;

/// The report of a search.
///
/// Reports are functions of the graph alone: actors by the system's numbers, sets sorted, paths by
/// cost and then by number, so that two runs of one check print the same.
pub fn report<T: FootprintSystem>(search: &Search<'_, T>, stopped: Option<Stopped>) -> Report {
    let nodes = &search.graph.nodes;
    let race = |race: &Race| race.renumbered(|actor| search.graph.actors.number(actor));
    let is_end = |node: &&Node| matches!(node.end, End::Good | End::Stuck);
    let mut ends: Vec<u128> = nodes.iter().filter(is_end).map(|node| node.fingerprint).collect();
    ends.sort_unstable();
    Report {
        found: found(search, stopped.is_none()),
        races: search.races.found.keys().map(race).collect(),
        race_schedules: race_schedules(search),
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
        graph: (search.options.keeps_graph && stopped.is_none()).then(|| ExploredGraph::new(&search.graph)),
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
        let enabled = graph.records.of(node.actors).filter(|record: &&ActorRecord| record.choices > 0);
        counts.choices.count_state(enabled.map(|record| record.choice_kind));
        let movers = node.edges.iter().filter_map(|edge| graph.find(node, edge.actor));
        movers.for_each(|record| counts.choices.count_step(record.choice_kind));
    }
    counts
}

/// One Dijkstra for all failures together. A schedule with the fewest preemptions is the one that
/// people understand first.
fn found<T: FootprintSystem>(search: &Search<'_, T>, complete: bool) -> Vec<Found> {
    if search.found.is_empty() {
        return Vec::new();
    }
    let nodes = &search.graph.nodes;
    let avoidable = match search.options.mode {
        Mode::Bounded(_) => None,
        _ => Some(inevitable::avoidable(&search.graph, complete)),
    };
    let paths = fewest_switches(nodes, search.found.iter().map(|found| found.at));
    let found = |FoundAt { failure, at, choice, fingerprint }: &FoundAt| {
        let path = &paths[at];
        let mut schedule = choices(search, path);
        let states = path.iter().map(|edge| edge.0).chain([*at]);
        let lost = |avoidable: &Vec<bool>| states.clone().position(|at| !avoidable[at as usize]);
        let inevitable_from = avoidable.as_ref().map(|avoidable| lost(avoidable).unwrap_or(schedule.len() + 1));
        schedule.extend(choice);
        let successors = states.skip(1).map(|at| nodes[at as usize].fingerprint);
        let states = successors.chain(choice.map(|_| *fingerprint)).collect();
        Found { failure: failure.clone(), schedule, inevitable_from, fingerprint: *fingerprint, states }
    };
    search.found.iter().map(found).collect()
}

/// Bound on the races that are reported with a schedule.
const RACES_MAX: usize = 64;

fn race_schedules<T: FootprintSystem>(search: &Search<'_, T>) -> Vec<Vec<Choice>> {
    let states: Vec<u32> = search.races.found.values().take(RACES_MAX).copied().collect();
    if states.is_empty() {
        return Vec::new();
    }
    let paths = fewest_switches(&search.graph.nodes, states.iter().copied());
    states.iter().map(|at| choices(search, &paths[at])).collect()
}

fn choices<T: FootprintSystem>(search: &Search<'_, T>, path: &[EdgeAt]) -> Vec<Choice> {
    let choice = |edge: &EdgeAt| {
        let edge = &search.graph.nodes[edge.0 as usize].edges[edge.1];
        Choice { actor: search.graph.actors.number(edge.actor), index: edge.index }
    };
    path.iter().map(choice).collect()
}

fn livelocks<T: FootprintSystem>(search: &Search<'_, T>) -> Vec<Livelock> {
    if !search.graph.has_cycle() {
        return Vec::new();
    }
    let nodes = &search.graph.nodes;
    let cycles = livelock::livelocks(nodes, search.graph.faults);
    let stems = fewest_switches(nodes, cycles.iter().map(|cycle| cycle[0].0));
    let livelock = |cycle: &Vec<EdgeAt>| {
        let (stem, cycle) = (choices(search, &stems[&cycle[0].0]), choices(search, cycle));
        let actors: BTreeSet<u32> = cycle.iter().map(|choice| choice.actor).collect();
        Livelock { stem, cycle, actors: actors.into_iter().collect() }
    };
    cycles.iter().map(livelock).collect()
}
