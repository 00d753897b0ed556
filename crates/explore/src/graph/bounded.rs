//! All schedules within a bound of preemptions or delays: places in the order of what they cost, each once.

use super::FootprintSystem;
use super::node::Node;
use super::options::{Bound, Limits, Stopped};
use super::search::Search;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Where a schedule stands: state, and who moved last.
type Place = (u32, Option<u32>);

/// Searches all places that cost no more than the bound; nothing if all were seen.
pub fn run<T: FootprintSystem>(search: &mut Search<'_, T>, bound: Bound, limits: &mut Limits<'_>) -> Option<Stopped> {
    let most = match bound {
        Bound::Preemptions(most) | Bound::Delays(most) => most,
    };
    let mut costs: HashMap<Place, u32> = HashMap::from([((0, None), 0)]);
    // By what they cost; a bound may be large, but few costs have places at a time.
    let mut open: BTreeMap<u32, VecDeque<Place>> = BTreeMap::from([(0, VecDeque::from([(0, None)]))]);
    while let Some((cost, place)) = cheapest(&mut open) {
        if costs[&place] < cost {
            continue;
        }
        for (actor, more) in prices(search.graph.node(place.0), place.1, bound) {
            let Some(price) = cost.checked_add(more).filter(|price| *price <= most) else { continue };
            for to in taken(search, place.0, actor) {
                let next = (to, Some(actor));
                if costs.get(&next).is_none_or(|known| price < *known) {
                    costs.insert(next, price);
                    open.entry(price).or_default().push_back(next);
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

/// Takes out the first of the places that cost least.
fn cheapest(open: &mut BTreeMap<u32, VecDeque<Place>>) -> Option<(u32, Place)> {
    let mut first = open.first_entry()?;
    let cost = *first.key();
    let place = first.get_mut().pop_front();
    if first.get().is_empty() {
        first.remove();
    }
    place.map(|place| (cost, place))
}

/// Where an actor's steps lead, taken now or before.
fn taken<T: FootprintSystem>(search: &mut Search<'_, T>, at: u32, actor: u32) -> Vec<u32> {
    if !search.graph.node(at).done.contains(actor) {
        search.take_all(at, actor);
    }
    search.graph.node(at).edges.iter().filter(|edge| edge.actor == actor).map(|edge| edge.to).collect()
}

/// What it costs to let each actor move.
fn prices(node: &Node, last: Option<u32>, bound: Bound) -> Vec<(u32, u32)> {
    let able: Vec<u32> = node.enabled.iter().collect();
    let last_is_able = last.is_some_and(|last| node.enabled.contains(last));
    match bound {
        Bound::Preemptions(_) => {
            let price = |actor: u32| u32::from(last_is_able && last != Some(actor));
            able.into_iter().map(|actor| (actor, price(actor))).collect()
        }
        Bound::Delays(_) => {
            // The turn goes round in the order of numbers, from the one who moved last.
            let first = able.iter().position(|actor| last.is_none_or(|last| *actor >= last)).unwrap_or(0);
            let turns = able.iter().cycle().skip(first).take(able.len());
            turns.zip(0..).map(|(actor, delays)| (*actor, delays)).collect()
        }
    }
}
