//! All schedules within a bound on preemptions or delays, cheapest first (Dijkstra over pairs of state and last actor).
//!
//! Preemption bounding is Musuvathi and Qadeer's (CHESS, PLDI 2007), delay bounding Emmi, Qadeer
//! and Rakamaric's (POPL 2011). Not combined with the reduction: a persistent set may leave out
//! exactly the schedule that has few preemptions. What the environment does (faults, time, messages and stores that arrive) costs
//! nothing, and who moved last is the scheduler's last choice: its own budgets bound it.

use super::node::Node;
use super::options::{Bound, Limits};
use super::search::Search;
use crate::bits::Bits;
use crate::footprint_system::FootprintSystem;
use crate::found::Stopped;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A state, and the actor that the scheduler let move last: they decide what the next step costs.
type Position = (u32, Option<u32>);

/// Searches all positions that cost no more than the bound; otherwise says why it stopped.
///
/// A position is explored again if it is reached more cheaply, so the result is exact: all
/// positions within the bound, each with its least cost.
pub fn run<T: FootprintSystem>(search: &mut Search<'_, T>, bound: Bound, limits: &mut Limits<'_>) -> Option<Stopped> {
    let most = match bound {
        Bound::Preemptions(most) | Bound::Delays(most) => most,
    };
    let mut costs: HashMap<Position, u32> = HashMap::from([((0, None), 0)]);
    // By cost; a bound may be large, but few costs have open positions at a time.
    let mut open: BTreeMap<u32, VecDeque<Position>> = BTreeMap::from([(0, VecDeque::from([(0, None)]))]);
    while let Some((cost, position)) = cheapest(&mut open) {
        if costs[&position] < cost {
            continue;
        }
        let environment = search.graph.environment;
        for (actor, more) in step_costs(search.graph.node(position.0), position.1, environment, bound) {
            let Some(cost) = cost.checked_add(more).filter(|cost| *cost <= most) else { continue };
            let last = if environment.contains(actor) { position.1 } else { Some(actor) };
            for to in successors(search, position.0, actor) {
                let next = (to, last);
                if costs.get(&next).is_none_or(|known| cost < *known) {
                    costs.insert(next, cost);
                    open.entry(cost).or_default().push_back(next);
                }
            }
            let stopped = search.stopped(limits);
            if stopped.is_some() {
                return stopped;
            }
        }
    }
    None
}

/// Takes out the first of the positions that cost least.
fn cheapest(open: &mut BTreeMap<u32, VecDeque<Position>>) -> Option<(u32, Position)> {
    let mut first = open.first_entry()?;
    let cost = *first.key();
    let position = first.get_mut().pop_front();
    if first.get().is_empty() {
        first.remove();
    }
    position.map(|position| (cost, position))
}

/// Successors by an actor's steps, which are explored unless they are already.
fn successors<T: FootprintSystem>(search: &mut Search<'_, T>, at: u32, actor: u32) -> Vec<u32> {
    if !search.graph.node(at).done.contains(actor) {
        search.take_all(at, actor);
    }
    search.graph.node(at).edges.iter().filter(|edge| edge.actor == actor).map(|edge| edge.to).collect()
}

/// The cost of a step of each enabled actor. Steps of the environment are free.
///
/// Under a delay bound the scheduler is deterministic and every deviation from it costs one; under
/// a preemption bound switching away from a blocked actor is free.
fn step_costs(node: &Node, last: Option<u32>, environment: Bits, bound: Bound) -> Vec<(u32, u32)> {
    let free = node.enabled.iter().filter(|actor| environment.contains(*actor)).map(|actor| (actor, 0));
    let enabled: Vec<u32> = node.enabled.minus(environment).iter().collect();
    let last_is_enabled = last.is_some_and(|last| enabled.contains(&last));
    match bound {
        Bound::Preemptions(_) => {
            let cost = |actor: u32| u32::from(last_is_enabled && last != Some(actor));
            free.chain(enabled.into_iter().map(|actor| (actor, cost(actor)))).collect()
        }
        Bound::Delays(_) => {
            // Round robin in the order of numbers, from the actor that moved last.
            let first = enabled.iter().position(|actor| last.is_none_or(|last| *actor >= last)).unwrap_or(0);
            let turns = enabled.iter().cycle().skip(first).take(enabled.len());
            free.chain(turns.zip(0..).map(|(actor, delays)| (*actor, delays))).collect()
        }
    }
}
