//! Schedulers: which enabled actor moves next.

use super::Strategy;
use super::profile::Profile;
use crate::footprint::{Access, conflict};
use crate::random::Random;
use std::collections::BTreeMap;

/// An enabled actor.
pub struct EnabledActor<'a> {
    /// Its dense number.
    pub actor: u32,
    /// Its pending footprint, normalised; empty for schedulers that do not ask.
    pub accesses: &'a [Access],
}

/// Picks the actor that moves, for one run.
pub trait Scheduler {
    /// The place of the actor that moves in `enabled`, which is not empty.
    fn pick(&mut self, enabled: &[EnabledActor<'_>], random: &mut Random) -> usize;

    /// The picked actor has taken its step.
    fn took(&mut self, actor: u32, accesses: &[Access], others: &[EnabledActor<'_>]) {
        let _ = (actor, accesses, others);
    }

    /// Whether it needs pending footprints.
    fn asks(&self) -> bool {
        false
    }
}

/// The scheduler of a run.
pub fn scheduler(strategy: Strategy, profile: &Profile, random: &mut Random) -> Box<dyn Scheduler> {
    match strategy {
        Strategy::Walk | Strategy::Novelty => Box::new(Walk),
        Strategy::Priorities(depth) => Box::new(Priorities::new(depth, profile.length_max.max(16), random)),
        Strategy::Steps => Box::new(Steps::default()),
        Strategy::Weights => Box::new(Weights::new(profile, random)),
    }
}

/// Random walk: each enabled actor is as likely as the others.
struct Walk;

impl Scheduler for Walk {
    fn pick(&mut self, enabled: &[EnabledActor<'_>], random: &mut Random) -> usize {
        random.below(enabled.len())
    }
}

/// Probabilistic concurrency testing (PCT): the actor with the highest priority moves; at some steps, drawn beforehand, its
/// priority becomes the lowest.
struct Priorities {
    ranks: BTreeMap<u32, u64>,
    changes: Vec<usize>,
    step: usize,
}

impl Priorities {
    fn new(depth: u32, length: usize, random: &mut Random) -> Self {
        let changes = (1..depth).map(|_| 1 + random.below(length)).collect();
        Self { ranks: BTreeMap::new(), changes, step: 0 }
    }
}

impl Scheduler for Priorities {
    fn pick(&mut self, enabled: &[EnabledActor<'_>], random: &mut Random) -> usize {
        for one in enabled {
            // Above all priorities that the change points assign.
            self.ranks.entry(one.actor).or_insert_with(|| (1 << 32) | random.bits() >> 32);
        }
        self.step += 1;
        let top = |ranks: &BTreeMap<u32, u64>| {
            (0..enabled.len()).max_by_key(|place| ranks[&enabled[*place].actor]).expect("an actor is enabled")
        };
        if let Some(place) = self.changes.iter().position(|step| *step == self.step) {
            let falls = enabled[top(&self.ranks)].actor;
            self.ranks.insert(falls, place as u64);
        }
        top(&self.ranks)
    }
}

/// Partial order sampling (POS): every pending step has a priority, drawn anew when a step that it depends on is taken.
#[derive(Default)]
struct Steps {
    ranks: BTreeMap<u32, u64>,
}

impl Scheduler for Steps {
    fn pick(&mut self, enabled: &[EnabledActor<'_>], random: &mut Random) -> usize {
        for one in enabled {
            self.ranks.entry(one.actor).or_insert_with(|| random.bits());
        }
        (0..enabled.len()).max_by_key(|place| self.ranks[&enabled[*place].actor]).expect("an actor is enabled")
    }

    fn took(&mut self, actor: u32, accesses: &[Access], others: &[EnabledActor<'_>]) {
        self.ranks.remove(&actor);
        for other in others.iter().filter(|other| conflict(other.accesses, accesses)) {
            self.ranks.remove(&other.actor);
        }
    }

    fn asks(&self) -> bool {
        true
    }
}

/// Selectively uniform random walk (SURW): orders of the steps on a few objects are equally likely, as far as earlier runs
/// predict the number of such steps of each actor.
struct Weights {
    /// The objects; all if empty.
    chosen: Vec<u64>,
    /// Predicted number of counted steps that are left, by actor.
    left: BTreeMap<u32, f64>,
    /// Predicted number of counted steps in a run, by actor.
    predicted: Vec<(u32, f64)>,
    /// The actor of the next counted step.
    intended: Option<u32>,
}

impl Weights {
    fn new(profile: &Profile, random: &mut Random) -> Self {
        let mut chosen = profile.shared();
        random.shuffle(&mut chosen);
        let some = random.below(4);
        chosen.truncate(some);
        let all = |actor| profile.mean_steps(actor);
        let on = |actor| chosen.iter().map(|object| profile.mean_on(actor, *object)).sum();
        let predicted = |actor| if chosen.is_empty() { all(actor) } else { on(actor) };
        let predicted = (0..crate::bits::CAPACITY)
            .map(|actor| (actor, predicted(actor)))
            .filter(|predicted| predicted.1 > 0.0)
            .collect();
        Self { chosen, left: BTreeMap::new(), predicted, intended: None }
    }

    fn counts(&self, accesses: &[Access]) -> bool {
        self.chosen.is_empty() || accesses.iter().any(|access| self.chosen.contains(&access.object))
    }

    /// Draws an actor by the steps it has left; none has weight zero, because predictions err.
    fn draw(&mut self, enabled: &[EnabledActor<'_>], random: &mut Random) -> u32 {
        let predicted =
            |actor| self.predicted.iter().find(|predicted| predicted.0 == actor).map_or(1.0, |predicted| predicted.1);
        let left = |one: &EnabledActor<'_>| {
            self.left.get(&one.actor).copied().unwrap_or_else(|| predicted(one.actor)).max(0.1)
        };
        let total: f64 = enabled.iter().map(left).sum();
        let mut at = total * (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        for one in enabled {
            at -= left(one);
            if at < 0.0 {
                return one.actor;
            }
        }
        enabled[enabled.len() - 1].actor
    }
}

impl Scheduler for Weights {
    fn pick(&mut self, enabled: &[EnabledActor<'_>], random: &mut Random) -> usize {
        if !enabled.iter().any(|one| Some(one.actor) == self.intended) {
            self.intended = Some(self.draw(enabled, random));
        }
        let allowed =
            |place: &usize| Some(enabled[*place].actor) == self.intended || !self.counts(enabled[*place].accesses);
        let places: Vec<usize> = (0..enabled.len()).filter(allowed).collect();
        places[random.below(places.len())]
    }

    fn took(&mut self, actor: u32, accesses: &[Access], _: &[EnabledActor<'_>]) {
        if !self.counts(accesses) {
            return;
        }
        let predicted =
            self.predicted.iter().find(|predicted| predicted.0 == actor).map_or(1.0, |predicted| predicted.1);
        *self.left.entry(actor).or_insert(predicted) -= 1.0;
        self.intended = self.intended.filter(|intended| *intended != actor);
    }

    fn asks(&self) -> bool {
        true
    }
}
