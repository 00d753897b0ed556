//! Who is in a state, and what their next steps touch.
//!
//! A step leaves most of them as they are: whoever waits for nothing that it writes, and whoever is about to touch nothing
//! that it conflicts with. Those are taken over from the state before; the others are looked at, and the next steps of
//! those who can move are tried.

use super::footprint_table::{Actors, FootprintId, FootprintTable, LockId};
use super::options::Mode;
use super::present::Present;
use super::search::{By, FoundAt, Search};
use super::{Access, Actor, FootprintSystem, Reached, Step, StepContext};
use crate::bits::Bits;
use rustc_hash::FxHashMap;
use trace::Choice;

/// Everybody in a state as far as known: who moves, who is there, and of whom it is not known what they touch.
type Scene<'a> = (u32, &'a [Present], Bits);

/// What is known around a step that is taken for the graph.
struct GraphContext<'a> {
    ids: &'a FxHashMap<(u128, bool), u32>,
    accesses: &'a mut FootprintTable,
    actors: &'a Actors,
    scene: Scene<'a>,
    is_trial: bool,
}

impl StepContext for GraphContext<'_> {
    fn is_known(&self, fingerprint: u128, fatal: bool) -> bool {
        self.ids.contains_key(&(fingerprint, fatal))
    }

    fn is_trial(&self) -> bool {
        self.is_trial
    }

    fn untouched(&mut self, accesses: &[Access]) -> Vec<(u32, u32)> {
        let (mover, present, unknown) = self.scene;
        let Some(own) = present.iter().find(|present| present.actor == mover) else { return Vec::new() };
        let set = self.accesses.intern(mover, self.accesses.locks_of(own.pending), accesses);
        let touched = &*self.accesses;
        // Nobody else gives a lock back, unless by mistake.
        let is_touched = |other: &Present| touched.conflict(set, other.pending) || touched.writes(set, other.holds);
        let stays = |other: &&Present| other.actor != mover && !unknown.contains(other.actor) && !is_touched(other);
        present.iter().filter(stays).map(|other| (self.actors.number(other.actor), other.choices)).collect()
    }
}

impl<T: FootprintSystem> Search<'_, T> {
    /// Takes a step, or tries it; where it leads is not worked out if that is known, nor who is left as before.
    pub(super) fn step_with(
        &mut self,
        state: &T::State,
        choice: Choice,
        scene: Scene<'_>,
        is_trial: bool,
    ) -> Option<Step<T::State>> {
        self.executed += 1;
        let (ids, graph) = (&self.ids, &mut self.graph);
        let mut around = GraphContext { ids, accesses: &mut graph.accesses, actors: &graph.actors, scene, is_trial };
        self.system.step_with(state, choice, &mut around)
    }

    /// Everybody in a state, with what their next steps touch, who of them is as in the state before, and whose steps fail.
    pub(super) fn present(
        &mut self,
        id: u32,
        reached: &Reached<Option<T::State>>,
        by: Option<By>,
    ) -> (Vec<Present>, Bits, Bits) {
        let mut present = Vec::with_capacity(reached.actors.len());
        let (mut untried, mut unknown, mut stay) = (Vec::new(), Bits::EMPTY, Bits::EMPTY);
        let mut inherited = Vec::new();
        for actor in &reached.actors {
            let Some(dense) = self.graph.actors.dense(actor.number) else {
                self.too_many_actors = true;
                continue;
            };
            let before = by.and_then(|by| self.graph.find(self.graph.node(by.at), dense)).copied();
            if let Some(before) = before.filter(|_| actor.unchanged) {
                if actor.told && !self.is_as_before(actor, before) {
                    self.system.differs(actor.number, "a step has changed an actor that it does not conflict with");
                }
                inherited.extend((actor.choices > 0).then_some((present.len(), actor)));
                present.push(before);
                stay.insert(dense);
                continue;
            }
            let (one, is_known) = self.look_at(actor, dense, before, by);
            match is_known {
                true => inherited.extend((actor.choices > 0).then_some((present.len(), actor))),
                false => {
                    untried.push((present.len(), actor));
                    unknown.insert(dense);
                }
            }
            present.push(one);
        }
        // Most often the one who moved goes on: then the system is where it is wanted next.
        untried.sort_by_key(|(place, _)| by.is_some_and(|by| present[*place].actor == by.actor));
        let mut failing = Bits::EMPTY;
        for (place, actor) in untried {
            let dense = present[place].actor;
            let (pending, fails) = self.try_all(id, reached, actor, (dense, &present, unknown));
            present[place].pending = pending;
            unknown = unknown.minus(Bits::one(dense));
            failing = if fails { failing.union(Bits::one(dense)) } else { failing };
        }
        // Who is alone may take longer steps than in company: nobody can conflict with them.
        let is_alone = reached.actors.iter().filter(|actor| !actor.low_priority).count() <= 1;
        for (place, actor) in inherited {
            if !is_alone && self.system.is_audited() {
                self.audit(id, reached, actor, (present[place].actor, &present, Bits::EMPTY));
            }
        }
        (present, stay, failing)
    }

    /// Tries the next steps of somebody whose footprint is inherited from the state before, and compares.
    fn audit(&mut self, id: u32, reached: &Reached<Option<T::State>>, actor: &Actor, scene: Scene<'_>) {
        let (dense, present, _) = scene;
        let Some(inherited) = present.iter().find(|present| present.actor == dense).map(|present| present.pending)
        else {
            return;
        };
        let mut all = Vec::new();
        for index in 0..actor.choices {
            let choice = Choice { actor: actor.number, index };
            let Some(taken) = self.try_out(reached, choice, scene) else { return };
            all.extend_from_slice(&taken.accesses);
            self.trials.put(id, dense, index, taken);
        }
        let locks = self.graph.accesses.locks_of(inherited);
        let again = self.graph.accesses.intern(dense, locks, &all);
        let told = [inherited, again].map(|set| self.graph.accesses.of(set));
        if !self.system.covers(told[0], told[1]) {
            let what = format!("the inherited footprint of a step is {:x?}, its own is {:x?}", told[0], told[1]);
            self.system.differs(actor.number, &what);
        }
    }

    /// Somebody in a state, and whether it is known what its next step touches.
    fn look_at(&mut self, actor: &Actor, dense: u32, before: Option<Present>, by: Option<By>) -> (Present, bool) {
        if actor.low_priority {
            self.graph.low_priority.insert(dense);
        }
        let creator = self.graph.actors.dense(actor.creator).unwrap_or(dense);
        self.graph.creators.insert(dense, creator);
        let behind = actor.blocked_by.and_then(|behind| self.graph.actors.dense(behind));
        let accesses = &mut self.graph.accesses;
        let holds = accesses.locks(actor.holds.iter().copied());
        let locks = accesses.locks(actor.holds.iter().chain(&actor.takes).copied());
        let alarms = accesses.intern(dense, locks, &read(&actor.interrupts));
        let known = match actor.choices {
            0 => Some(accesses.intern(dense, locks, &read(&actor.awaits))),
            _ => self.as_before(actor.choices, (dense, locks), before, by),
        };
        let (choices, last, sort) = (actor.choices, actor.on_quiescence, actor.choice_kind);
        let pending = known.unwrap_or(alarms);
        (Present { actor: dense, choices, pending, behind, alarms, holds, last, sort }, known.is_some())
    }

    /// What somebody is about to touch, if the step to this state has not changed that: it does not conflict with it.
    fn as_before(
        &self,
        choices: u32,
        (dense, locks): (u32, LockId),
        before: Option<Present>,
        by: Option<By>,
    ) -> Option<FootprintId> {
        let (before, by) = (before?, by?);
        let accesses = &self.graph.accesses;
        let is_same = before.choices == choices && accesses.locks_of(before.pending) == locks;
        (by.actor != dense && is_same && !accesses.conflict(by.set, before.pending)).then_some(before.pending)
    }

    /// Tries the next steps of somebody to see what they touch, and whether one fails; they are kept in case that they are
    /// taken. A failure counts at once: the state is reached.
    fn try_all(
        &mut self,
        id: u32,
        reached: &Reached<Option<T::State>>,
        actor: &Actor,
        scene: Scene<'_>,
    ) -> (FootprintId, bool) {
        let dense = scene.0;
        let (mut all, mut fails) = (Vec::new(), false);
        // Beyond a bound nothing counts.
        let is_bounded = matches!(self.options.mode, Mode::Bounded(_));
        let counts = !is_bounded && self.options.mode.parts().is_none_or(|parts| parts.fatal);
        for index in 0..actor.choices {
            let choice = Choice { actor: actor.number, index };
            if let Some(taken) = self.try_out(reached, choice, scene) {
                if let Some(failure) = taken.failure.clone().filter(|_| counts) {
                    fails = true;
                    let fingerprint = taken.reached.fingerprint;
                    self.fail(FoundAt { failure, at: id, choice: Some(choice), fingerprint });
                }
                all.extend_from_slice(&taken.accesses);
                self.trials.put(id, dense, index, taken);
            }
        }
        let locks = self.graph.accesses.locks(actor.holds.iter().chain(&actor.takes).copied());
        (self.graph.accesses.intern(dense, locks, &all), fails)
    }

    /// Takes a step to see what it touches, unless somebody else has done so.
    fn try_out(
        &mut self,
        reached: &Reached<Option<T::State>>,
        choice: Choice,
        scene: Scene<'_>,
    ) -> Option<Step<T::State>> {
        let ahead = self.ahead.get_mut(&reached.fingerprint);
        let tried = ahead.and_then(|ahead| {
            let place = ahead.iter().position(|(tried, _)| *tried == choice)?;
            Some(ahead.swap_remove(place).1)
        });
        tried.or_else(|| self.step_with(reached.new_state(), choice, scene, true))
    }

    /// Whether somebody of whom that is said is as before: where debug assertions are on, all of it is told.
    fn is_as_before(&mut self, actor: &Actor, before: Present) -> bool {
        let (now, is_known) = self.look_at(actor, before.actor, Some(before), None);
        let pending =
            is_known || self.graph.accesses.locks_of(now.pending) == self.graph.accesses.locks_of(before.pending);
        let same = |one: Present| (one.choices, one.behind, one.alarms, one.holds, one.last, one.sort);
        same(now) == same(before) && pending && (!is_known || now.pending == before.pending)
    }
}

/// Objects that somebody looks at.
fn read(objects: &[u64]) -> Vec<Access> {
    objects.iter().map(|object| Access { object: *object, write: false, plain: false }).collect()
}
