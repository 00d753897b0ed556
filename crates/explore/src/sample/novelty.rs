//! States from which to go on: those that look like few others.

use crate::graph::Reached;
use crate::random::Random;
use std::collections::HashMap;
use trace::Choice;

/// Snapshots that are kept.
const KEPT_MAX: usize = 256;

/// What a state looks like from afar: who waits for what.
type Look = Vec<(u32, Vec<u64>)>;

/// A state to go on from, with how to get there.
struct Snapshot<S> {
    reached: Reached<S>,
    schedule: Vec<Choice>,
    look: Look,
}

/// States that looked new when they were reached.
pub struct Novelties<S> {
    snapshots: Vec<Snapshot<S>>,
    visits: HashMap<Look, u64>,
    next: usize,
}

impl<S: Clone> Novelties<S> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { snapshots: Vec::new(), visits: HashMap::new(), next: 0 }
    }

    /// A state was reached; keeps it if nothing looked like it before.
    pub fn visit(&mut self, reached: &Reached<S>, schedule: &[Choice]) {
        let waiting = reached.actors.iter().filter(|actor| actor.choices == 0);
        let look: Look = waiting.map(|actor| (actor.number, actor.awaits.clone())).collect();
        let visits = self.visits.entry(look.clone()).or_default();
        *visits += 1;
        if *visits > 1 || !reached.actors.iter().any(|actor| actor.choices > 0) {
            return;
        }
        let snapshot = Snapshot { reached: reached.clone(), schedule: schedule.to_vec(), look };
        if self.snapshots.len() < KEPT_MAX {
            self.snapshots.push(snapshot);
        } else {
            self.snapshots[self.next % KEPT_MAX] = snapshot;
            self.next += 1;
        }
    }

    /// A state to go on from: the rarer its look, the likelier.
    pub fn pick(&self, random: &mut Random) -> Option<(Reached<S>, Vec<Choice>)> {
        let weight = |snapshot: &Snapshot<S>| 1.0 / self.visits[&snapshot.look] as f64;
        let total: f64 = self.snapshots.iter().map(weight).sum();
        let mut at = total * (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let chosen = self.snapshots.iter().find(|snapshot| {
            at -= weight(snapshot);
            at < 0.0
        });
        chosen.or(self.snapshots.last()).map(|snapshot| (snapshot.reached.clone(), snapshot.schedule.clone()))
    }
}
