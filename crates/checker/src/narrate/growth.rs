//! What grows for ever: why a program's states never repeat.

use crate::system::programs::Programs;
use explore::graph::FootprintSystem;
use std::collections::BTreeMap;
use trace::{Change, Choice};

/// Steps of the walk that is looked at.
const STEPS: usize = 400;
/// A shorter one says nothing.
const STEPS_MIN: usize = 40;
/// A variable that changed so often, always in one direction, grows.
const CHANGES_MIN: u32 = 8;

/// A variable that only grows, or only shrinks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Growth {
    /// Its name.
    pub name: String,
    /// Its value at first.
    pub from: i128,
    /// Its value at last.
    pub to: i128,
    /// Steps between.
    pub steps: usize,
}

/// How a variable went.
struct Way {
    first: i128,
    last: i128,
    changes: u32,
    up: bool,
    steady: bool,
}

impl Programs {
    /// Who executes nothing but instructions on that walk, never asking the kernel for anything, and where it is in the end.
    pub fn spinning(&mut self) -> Option<(String, Option<trace::Location>)> {
        let mut reached = self.initial();
        let (mut quiet, mut steps) = (0, 0);
        let mut last = None;
        for _ in 0..STEPS / 4 {
            let mut able = reached.actors.iter().filter(|actor| actor.choices > 0);
            let (Some(actor), None) = (able.next().map(|actor| actor.number), able.next()) else { return None };
            let Some(taken) = self.step(&reached.state, Choice { actor, index: 0 }) else { break };
            steps += 1;
            let is_quiet = taken.failure.is_none() && taken.accesses.iter().all(|access| !access.write);
            quiet = if is_quiet { quiet + 1 } else { 0 };
            last = Some(kernel::Tid(actor));
            reached = taken.reached;
        }
        // The time may be over before the walk is.
        let tid = last.filter(|_| steps >= STEPS_MIN && quiet >= steps / 2)?;
        self.listen("");
        let place = self.narrator().place(tid).location;
        let name = self.state.world.kernel.threads.get(&tid).map(|thread| thread.pid);
        let name = name.and_then(|pid| self.state.world.kernel.processes.get(&pid)).map(|process| process.name.clone());
        self.stop_listening();
        name.map(|name| (name, place))
    }

    /// Walks along one schedule, everybody in turn, and tells which variables only grow or only shrink on it.
    pub fn growing(&mut self) -> Vec<Growth> {
        self.listen("");
        let (ways, steps) = self.walk();
        self.stop_listening();
        let grows = |way: &Way| way.steady && way.changes >= CHANGES_MIN;
        let told = |(name, way): (String, Way)| Growth { name, from: way.first, to: way.last, steps };
        ways.into_iter().filter(|(_, way)| grows(way)).map(told).collect()
    }

    /// How variables went, and how many steps were taken: fewer if the time was over before.
    fn walk(&mut self) -> (BTreeMap<String, Way>, usize) {
        let (mut ways, mut steps) = (BTreeMap::new(), 0);
        let mut reached = self.initial();
        for number in 0..STEPS {
            let able: Vec<u32> =
                reached.actors.iter().filter(|actor| actor.choices > 0).map(|actor| actor.number).collect();
            let Some(actor) = able.get(number % able.len().max(1)) else { break };
            let Some(taken) = self.step(&reached.state, Choice { actor: *actor, index: 0 }) else { break };
            for change in self.value_changes(&reached.state, &taken) {
                follow(&mut ways, &change);
            }
            reached = taken.reached;
            steps += 1;
        }
        (ways, steps)
    }
}

fn follow(ways: &mut BTreeMap<String, Way>, change: &Change) {
    let (Ok(before), Ok(after)) = (change.before.parse::<i128>(), change.after.parse::<i128>()) else { return };
    let up = after > before;
    let way =
        ways.entry(change.name.clone()).or_insert(Way { first: before, last: before, changes: 0, up, steady: true });
    way.steady &= way.last == before && way.up == up;
    way.last = after;
    way.changes += 1;
}
