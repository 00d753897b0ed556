//! Who moves next.

use super::Strategy;
use super::profile::Profile;
use crate::graph::Access;
use crate::random::Random;
use crate::stateless::conflict;
use std::collections::BTreeMap;

/// Somebody who can move; actors by their dense numbers.
pub struct Able<'a> {
    /// Who.
    pub actor: u32,
    /// What its next step touches, sorted; empty for strategies that do not ask.
    pub accesses: &'a [Access],
}

/// Decides who moves in one run.
pub trait Scheduler {
    /// The place of the one who moves. Somebody can.
    fn pick(&mut self, able: &[Able<'_>], random: &mut Random) -> usize;

    /// The one who was picked has taken its step.
    fn took(&mut self, actor: u32, accesses: &[Access], others: &[Able<'_>]) {
        let _ = (actor, accesses, others);
    }

    /// Whether it wants to know what next steps touch.
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

/// Anybody.
struct Walk;

impl Scheduler for Walk {
    fn pick(&mut self, able: &[Able<'_>], random: &mut Random) -> usize {
        random.below(able.len())
    }
}

/// Probabilistic concurrency testing: the one with the highest priority moves; at some steps, drawn beforehand, it falls
/// behind everybody.
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
    fn pick(&mut self, able: &[Able<'_>], random: &mut Random) -> usize {
        for one in able {
            // Above all that the changes assign.
            self.ranks.entry(one.actor).or_insert_with(|| (1 << 32) | random.bits() >> 32);
        }
        self.step += 1;
        let top = |ranks: &BTreeMap<u32, u64>| {
            (0..able.len()).max_by_key(|place| ranks[&able[*place].actor]).expect("somebody can move")
        };
        if let Some(place) = self.changes.iter().position(|step| *step == self.step) {
            let falls = able[top(&self.ranks)].actor;
            self.ranks.insert(falls, place as u64);
        }
        top(&self.ranks)
    }
}

/// Partial order sampling: every next step has a priority, drawn anew when a step that conflicts with it is taken.
#[derive(Default)]
struct Steps {
    ranks: BTreeMap<u32, u64>,
}

impl Scheduler for Steps {
    fn pick(&mut self, able: &[Able<'_>], random: &mut Random) -> usize {
        for one in able {
            self.ranks.entry(one.actor).or_insert_with(|| random.bits());
        }
        (0..able.len()).max_by_key(|place| self.ranks[&able[*place].actor]).expect("somebody can move")
    }

    fn took(&mut self, actor: u32, accesses: &[Access], others: &[Able<'_>]) {
        self.ranks.remove(&actor);
        for other in others.iter().filter(|other| conflict(other.accesses, accesses)) {
            self.ranks.remove(&other.actor);
        }
    }

    fn asks(&self) -> bool {
        true
    }
}

/// Selectively uniform random walk: orders of the steps on a few objects are equally likely, as far as it is known how many
/// such steps everybody will take.
struct Weights {
    /// The objects; all if empty.
    chosen: Vec<u64>,
    /// Steps that count and are still to come, by what is usual.
    left: BTreeMap<u32, f64>,
    usual: Vec<(u32, f64)>,
    /// Who is next among the steps that count.
    meant: Option<u32>,
}

impl Weights {
    fn new(profile: &Profile, random: &mut Random) -> Self {
        let mut chosen = profile.shared();
        random.shuffle(&mut chosen);
        let some = random.below(4);
        chosen.truncate(some);
        let all = |actor| profile.usual(actor);
        let on = |actor| chosen.iter().map(|object| profile.usual_on(actor, *object)).sum();
        let usual = |actor| if chosen.is_empty() { all(actor) } else { on(actor) };
        let usual =
            (0..crate::bits::CAPACITY).map(|actor| (actor, usual(actor))).filter(|usual| usual.1 > 0.0).collect();
        Self { chosen, left: BTreeMap::new(), usual, meant: None }
    }

    fn counts(&self, accesses: &[Access]) -> bool {
        self.chosen.is_empty() || accesses.iter().any(|access| self.chosen.contains(&access.object))
    }

    /// Draws by what is left to do; nobody has nothing left, because what is usual is only a guess.
    fn draw(&mut self, able: &[Able<'_>], random: &mut Random) -> u32 {
        let usual = |actor| self.usual.iter().find(|usual| usual.0 == actor).map_or(1.0, |usual| usual.1);
        let left = |one: &Able<'_>| self.left.get(&one.actor).copied().unwrap_or_else(|| usual(one.actor)).max(0.1);
        let total: f64 = able.iter().map(left).sum();
        let mut at = total * (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        for one in able {
            at -= left(one);
            if at < 0.0 {
                return one.actor;
            }
        }
        able[able.len() - 1].actor
    }
}

impl Scheduler for Weights {
    fn pick(&mut self, able: &[Able<'_>], random: &mut Random) -> usize {
        if !able.iter().any(|one| Some(one.actor) == self.meant) {
            self.meant = Some(self.draw(able, random));
        }
        let allowed = |place: &usize| Some(able[*place].actor) == self.meant || !self.counts(able[*place].accesses);
        let places: Vec<usize> = (0..able.len()).filter(allowed).collect();
        places[random.below(places.len())]
    }

    fn took(&mut self, actor: u32, accesses: &[Access], _: &[Able<'_>]) {
        if !self.counts(accesses) {
            return;
        }
        let usual = self.usual.iter().find(|usual| usual.0 == actor).map_or(1.0, |usual| usual.1);
        *self.left.entry(actor).or_insert(usual) -= 1.0;
        self.meant = self.meant.filter(|meant| *meant != actor);
    }

    fn asks(&self) -> bool {
        true
    }
}
