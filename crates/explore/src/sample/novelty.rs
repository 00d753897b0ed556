//! Snapshots to continue from: states whose abstraction is rare.

use crate::footprint_system::Reached;
use crate::random::Random;
use std::collections::HashMap;
use trace::Choice;

/// Snapshots that are kept.
const KEPT_MAX: usize = 256;

/// Abstraction of a state: which actors are blocked, and on what.
type Abstraction = Vec<(u32, Vec<u64>)>;

/// A state to continue from, with its schedule.
struct Snapshot<S> {
    reached: Reached<S>,
    schedule: Vec<Choice>,
    abstraction: Abstraction,
}

/// The first state of each abstraction.
pub struct Novelties<S> {
    snapshots: Vec<Snapshot<S>>,
    visits: HashMap<Abstraction, u64>,
    next: usize,
}

impl<S: Clone> Novelties<S> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { snapshots: Vec::new(), visits: HashMap::new(), next: 0 }
    }

    /// Counts a state; keeps it if its abstraction is new and an actor is enabled.
    pub fn visit(&mut self, reached: &Reached<S>, schedule: &[Choice]) {
        let blocked = reached.actors.iter().filter(|actor| actor.choices == 0);
        let abstraction: Abstraction = blocked.map(|actor| (actor.number, actor.awaits.clone())).collect();
        let visits = self.visits.entry(abstraction.clone()).or_default();
        *visits += 1;
        if *visits > 1 || !reached.actors.iter().any(|actor| actor.choices > 0) {
            return;
        }
        let snapshot = Snapshot { reached: reached.clone(), schedule: schedule.to_vec(), abstraction };
        if self.snapshots.len() < KEPT_MAX {
            self.snapshots.push(snapshot);
        } else {
            self.snapshots[self.next % KEPT_MAX] = snapshot;
            self.next += 1;
        }
    }

    /// A state to continue from: the rarer its abstraction, the likelier.
    pub fn pick(&self, random: &mut Random) -> Option<(Reached<S>, Vec<Choice>)> {
        let weight = |snapshot: &Snapshot<S>| 1.0 / self.visits[&snapshot.abstraction] as f64;
        let total: f64 = self.snapshots.iter().map(weight).sum();
        let mut at = total * (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let chosen = self.snapshots.iter().find(|snapshot| {
            at -= weight(snapshot);
            at < 0.0
        });
        chosen.or(self.snapshots.last()).map(|snapshot| (snapshot.reached.clone(), snapshot.schedule.clone()))
    }
}
