//! Schedules with fewer preemptions that fail in the same way: delta debugging, every candidate executed.

use crate::footprint_system::FootprintSystem;
use crate::system::Failure;
use std::collections::{BTreeSet, HashMap};
use trace::Choice;

/// Candidates that are executed at most.
const TRIES_MAX: u32 = 2_000;

/// A schedule that was made shorter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrunk {
    /// The schedule: executed, and it failed.
    pub schedule: Vec<Choice>,
    /// Fingerprint of the last state; nothing if not even the given schedule fails when it is executed again.
    pub fingerprint: Option<u128>,
    /// Preemptions: switches away from an enabled actor.
    pub preemptions: u32,
    /// Switches.
    pub switches: u32,
    /// Steps executed to find it.
    pub executed: u64,
}

/// A switch: after so many steps of one actor, another moves.
type Switch = (u32, usize, u32);

/// The schedule with the fewest preemptions, then the fewest switches, that could be found to fail like this one.
pub fn shrink<T: FootprintSystem>(system: &mut T, schedule: &[Choice], failure: &Failure) -> Shrunk {
    let mut shrinker = Shrinker::new(system, schedule, failure);
    let all: BTreeSet<Switch> = switches(schedule).into_iter().collect();
    let Some(mut best) = shrinker.run(&all) else {
        // The given schedule does not fail: it is returned as it is.
        let unknown =
            Shrunk { schedule: schedule.to_vec(), fingerprint: None, preemptions: 0, switches: 0, executed: 0 };
        return Shrunk { executed: shrinker.executed, ..unknown };
    };
    loop {
        let cost = best.cost();
        best = shrinker.fewer(best, |run| run.preempting.clone());
        best = shrinker.fewer(best, |run| switches(&run.schedule).into_iter().collect());
        if best.cost() == cost {
            break;
        }
    }
    Shrunk {
        preemptions: best.cost().0,
        switches: best.cost().1,
        executed: shrinker.executed,
        fingerprint: Some(best.fingerprint),
        schedule: best.schedule,
    }
}

fn switches(schedule: &[Choice]) -> Vec<Switch> {
    let mut steps: HashMap<u32, usize> = HashMap::new();
    let mut switches = Vec::new();
    for (place, choice) in schedule.iter().enumerate() {
        let own = steps.entry(choice.actor).or_default();
        *own += 1;
        if let Some(next) = schedule.get(place + 1).filter(|next| next.actor != choice.actor) {
            switches.push((choice.actor, *own, next.actor));
        }
    }
    switches
}

/// A candidate that was executed and failed like the given schedule.
struct Executed {
    schedule: Vec<Choice>,
    fingerprint: u128,
    /// Switches that are preemptions.
    preempting: BTreeSet<Switch>,
}

impl Executed {
    fn cost(&self) -> (u32, u32, usize) {
        (self.preempting.len() as u32, switches(&self.schedule).len() as u32, self.schedule.len())
    }
}

struct Shrinker<'a, T: FootprintSystem> {
    system: &'a mut T,
    failure: &'a Failure,
    /// Actors of the given schedule in order: the next of them moves when one is blocked.
    order: Vec<u32>,
    /// The choices that each actor took.
    indices: HashMap<u32, Vec<u32>>,
    executed: u64,
    tries: u32,
}

impl<'a, T: FootprintSystem> Shrinker<'a, T> {
    fn new(system: &'a mut T, schedule: &[Choice], failure: &'a Failure) -> Self {
        let mut indices: HashMap<u32, Vec<u32>> = HashMap::new();
        for choice in schedule {
            indices.entry(choice.actor).or_default().push(choice.index);
        }
        let order = schedule.iter().map(|choice| choice.actor).collect();
        Self { system, failure, order, indices, executed: 0, tries: 0 }
    }

    /// Leaves out switches, halves first, as long as the schedule fails and costs less (delta debugging).
    fn fewer(&mut self, mut best: Executed, which: impl Fn(&Executed) -> BTreeSet<Switch>) -> Executed {
        let mut parts = 2;
        loop {
            let candidates: Vec<Switch> = which(&best).into_iter().collect();
            if candidates.is_empty() || parts > 2 * candidates.len() || self.tries >= TRIES_MAX {
                return best;
            }
            let size = candidates.len().div_ceil(parts);
            let kept: BTreeSet<Switch> = switches(&best.schedule).into_iter().collect();
            let better = candidates.chunks(size).find_map(|left_out| {
                let switches = kept.iter().filter(|switch| !left_out.contains(switch)).copied().collect();
                self.run(&switches).filter(|run| run.cost() < best.cost())
            });
            match better {
                Some(better) => (best, parts) = (better, 2.max(parts - 1)),
                None => parts *= 2,
            }
        }
    }

    /// Executes with these switches; otherwise an actor goes on while it is enabled. Something if it fails like the given one.
    fn run(&mut self, switches: &BTreeSet<Switch>) -> Option<Executed> {
        self.tries += 1;
        let mut reached = self.system.initial();
        let mut run = Executed { schedule: Vec::new(), fingerprint: 0, preempting: BTreeSet::new() };
        let mut steps: HashMap<u32, usize> = HashMap::new();
        let mut last: Option<u32> = None;
        for _ in 0..4 * self.order.len() + 16 {
            let choices =
                |actor: u32| reached.actors.iter().find(|one| one.number == actor).map_or(0, |one| one.choices);
            let own = |actor: u32| steps.get(&actor).copied().unwrap_or(0);
            let switched = last.and_then(|last| {
                let mut all = switches.range((last, own(last), 0)..=(last, own(last), u32::MAX));
                all.find(|switch| choices(switch.2) > 0).map(|switch| switch.2)
            });
            let goes_on = last.filter(|last| choices(*last) > 0);
            let Some(actor) = switched.or(goes_on).or_else(|| self.next(&steps, choices)) else { break };
            if let Some(last) = goes_on.filter(|last| *last != actor) {
                run.preempting.insert((last, own(last), actor));
            }
            let index = self.indices.get(&actor).and_then(|all| all.get(own(actor))).copied();
            let choice = Choice { actor, index: index.filter(|index| *index < choices(actor)).unwrap_or(0) };
            self.executed += 1;
            let taken = self.system.step(&reached.state, choice)?;
            run.schedule.push(choice);
            *steps.entry(actor).or_default() += 1;
            last = Some(actor);
            run.fingerprint = taken.reached.fingerprint;
            if let Some(failure) = taken.failure {
                if self.is_wanted(&failure) {
                    return Some(run);
                }
                if failure.fatal {
                    return None;
                }
            }
            reached = taken.reached;
        }
        let is_end = reached.is_end();
        reached.stuck.filter(|failure| is_end && self.is_wanted(failure)).map(|_| run)
    }

    fn is_wanted(&self, failure: &Failure) -> bool {
        (failure.kind, &failure.message) == (self.failure.kind, &self.failure.message)
    }

    /// The actor that moves when the last one is blocked: the one whose next step came first in the given schedule.
    #[allow(clippy::disallowed_methods, reason = "it is sorted then")]
    fn next(&self, steps: &HashMap<u32, usize>, choices: impl Fn(u32) -> u32) -> Option<u32> {
        let mut seen: HashMap<u32, usize> = HashMap::new();
        let is_next = |actor: &&u32| {
            let seen = seen.entry(**actor).or_default();
            *seen += 1;
            *seen > steps.get(*actor).copied().unwrap_or(0) && choices(**actor) > 0
        };
        self.order.iter().find(is_next).copied().or_else(|| {
            let mut all: Vec<u32> = self.indices.keys().copied().filter(|actor| choices(*actor) > 0).collect();
            all.sort_unstable();
            all.first().copied()
        })
    }
}
