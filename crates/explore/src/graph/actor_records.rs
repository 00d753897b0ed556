//! The actors of a new state, and their pending footprints.
//!
//! Actors whose pending footprint is independent of the step inherit their record from the predecessor. The others are
//! computed, and the next steps of the enabled ones are executed for their footprints (trials).
//!
//! Why trials at all: C1' needs the accesses of *pending* steps, also of actors that are not
//! explored in a state. A trial is an execution that is thrown away, or kept in the trial cache in
//! case that the search takes the step after all (decision 9).

use super::actor_table::{ActorRecord, NewActors, Surroundings};
use super::footprint_table::{FootprintId, LockId};
use super::options::Mode;
use super::search::{FoundAt, Incoming, Search};
use crate::bits::Bits;
use crate::footprint::awaited;
use crate::footprint_system::{Actor, FootprintSystem, Reached, Step};
use trace::Choice;

/// Actors of a new state, while their pending footprints are found.
///
/// Two passes, because a trial may ask which other actors are independent of it ([`Surroundings`]):
/// records come first, footprints of the untried ones are filled in one after the other.
#[derive(Default)]
struct Draft<'r> {
    records: Vec<ActorRecord>,
    unchanged: Bits,
    /// Enabled actors with inherited footprints, by place.
    inherited: Vec<(usize, &'r Actor)>,
    /// Enabled actors whose next steps are to be tried, by place.
    untried: Vec<(usize, &'r Actor)>,
    /// The same as a set.
    unknown: Bits,
}

impl<T: FootprintSystem> Search<'_, T> {
    /// The actors of a state that `incoming` leads to.
    ///
    /// Audits run in tests (`is_audited`): an inherited footprint is compared with a real trial. If
    /// a step changed what it did not report, this is where it shows.
    pub(super) fn actors_of(
        &mut self,
        id: u32,
        reached: &Reached<Option<T::State>>,
        incoming: Option<Incoming>,
    ) -> NewActors {
        let mut draft = Draft::default();
        for actor in &reached.actors {
            match self.graph.actors.dense(actor.number) {
                Some(dense) => self.draft(&mut draft, actor, dense, incoming),
                None => self.too_many_actors = true,
            }
        }
        let Draft { mut records, unchanged, inherited, mut untried, mut unknown } = draft;
        // Most often the actor that moved goes on: tried last, it leaves the system where it is needed next.
        untried.sort_by_key(|(place, _)| incoming.is_some_and(|incoming| records[*place].actor == incoming.actor));
        let mut failing = Bits::EMPTY;
        for (place, actor) in untried {
            let mover = records[place].actor;
            let surroundings = Surroundings { mover, records: &records, unknown };
            let (pending, fails) = self.try_all(id, reached, actor, surroundings);
            records[place].pending = pending;
            unknown.remove(mover);
            failing = if fails { failing.union(Bits::one(mover)) } else { failing };
        }
        // An actor that is alone may take longer steps than otherwise: no other can conflict with them, but for those that do so
        // in any case.
        let is_scheduled = |actor: &&Actor| !actor.low_priority && !actor.is_fault && !actor.conflicts_with_all;
        let is_other = |actor: &&Actor| is_scheduled(actor) && !actor.is_environment;
        let is_alone = reached.actors.iter().filter(is_other).count() <= 1;
        for (place, actor) in inherited {
            if !is_alone && self.system.is_audited() {
                let (mover, records) = (records[place].actor, &records[..]);
                self.audit(id, reached, actor, Surroundings { mover, records, unknown: Bits::EMPTY });
            }
        }
        NewActors { records, unchanged, failing }
    }

    /// Adds an actor: inherited, or computed as far as that needs no trial.
    fn draft<'r>(&mut self, draft: &mut Draft<'r>, actor: &'r Actor, dense: u32, incoming: Option<Incoming>) {
        let place = draft.records.len();
        let before = incoming.and_then(|incoming| self.graph.find(self.graph.node(incoming.at), dense)).copied();
        if let Some(before) = before.filter(|_| actor.unchanged) {
            if actor.audited && !self.is_as_before(actor, before) {
                self.system.differs(actor.number, "a step has changed an actor that it does not conflict with");
            }
            draft.inherited.extend((actor.choices > 0).then_some((place, actor)));
            draft.records.push(before);
            draft.unchanged.insert(dense);
            return;
        }
        let (record, is_known) = self.record_of(actor, dense, before, incoming);
        match is_known {
            true => draft.inherited.extend((actor.choices > 0).then_some((place, actor))),
            false => {
                draft.untried.push((place, actor));
                draft.unknown.insert(dense);
            }
        }
        draft.records.push(record);
    }

    /// Tries the next steps of an actor whose footprint is inherited, and compares.
    fn audit(&mut self, id: u32, reached: &Reached<Option<T::State>>, actor: &Actor, surroundings: Surroundings<'_>) {
        let Surroundings { mover, records, .. } = surroundings;
        let Some(inherited) = records.iter().find(|record| record.actor == mover).map(|record| record.pending) else {
            return;
        };
        let mut all = Vec::new();
        for index in 0..actor.choices {
            let choice = Choice { actor: actor.number, index };
            let Some(taken) = self.try_one(reached, choice, surroundings) else { return };
            all.extend_from_slice(&taken.accesses);
            self.trials.insert(id, mover, index, taken);
        }
        let locks = self.graph.footprints.locks_of(inherited);
        let own = self.graph.footprints.intern(mover, locks, &all);
        let [inherited, own] = [inherited, own].map(|set| self.graph.footprints.of(set));
        if !self.system.covers(inherited, own) {
            let what = format!("the inherited footprint of a step is {inherited:x?}, its own is {own:x?}");
            self.system.differs(actor.number, &what);
        }
    }

    /// The record of an actor, and whether its pending footprint is known.
    fn record_of(
        &mut self,
        actor: &Actor,
        dense: u32,
        before: Option<ActorRecord>,
        incoming: Option<Incoming>,
    ) -> (ActorRecord, bool) {
        if actor.low_priority {
            self.graph.low_priority.insert(dense);
        }
        if actor.is_fault {
            self.graph.faults.insert(dense);
        }
        if actor.is_fault || actor.is_environment || actor.conflicts_with_all {
            self.graph.environment.insert(dense);
        }
        let creator = self.graph.actors.dense(actor.creator).unwrap_or(dense);
        if creator != dense {
            self.graph.creators.entry(dense).or_insert(Bits::EMPTY).insert(creator);
            self.graph.footprints.relate(dense, creator);
        }
        let blocked_by = actor.blocked_by.and_then(|holder| self.graph.actors.dense(holder));
        let footprints = &mut self.graph.footprints;
        let holds = footprints.locks(actor.holds.iter().copied());
        let locks = footprints.locks(actor.holds.iter().chain(&actor.takes).copied());
        let interrupts = footprints.intern(dense, locks, &awaited(&actor.interrupts));
        let known = match actor.choices {
            0 => Some(footprints.intern(dense, locks, &awaited(&actor.awaits))),
            _ => self.inherited_footprint(actor.choices, (dense, locks), before, incoming),
        };
        let (choices, on_quiescence, choice_kind) = (actor.choices, actor.on_quiescence, actor.choice_kind);
        let pending = known.unwrap_or(interrupts);
        let record =
            ActorRecord { actor: dense, choices, pending, blocked_by, interrupts, holds, on_quiescence, choice_kind };
        (record, known.is_some())
    }

    /// The pending footprint of an enabled actor in the predecessor, if the incoming step is independent of it.
    ///
    /// Sound because independent steps commute: if the incoming step does not touch what the actor
    /// is about to touch, the actor's step does there what it did before, and touches the same.
    fn inherited_footprint(
        &self,
        choices: u32,
        (dense, locks): (u32, LockId),
        before: Option<ActorRecord>,
        incoming: Option<Incoming>,
    ) -> Option<FootprintId> {
        let (before, incoming) = (before?, incoming?);
        let footprints = &self.graph.footprints;
        let is_same = before.choices == choices && footprints.locks_of(before.pending) == locks;
        let is_independent = incoming.actor != dense && !footprints.conflict(incoming.set, before.pending);
        (is_same && is_independent).then_some(before.pending)
    }

    /// Tries the next steps of an actor: their footprint, and whether one fails. A failure counts at once, since the state
    /// is reached.
    ///
    /// A failing trial counts as found: the state is reached, the step is enabled, so the schedule
    /// to it plus this step is a counterexample already.
    fn try_all(
        &mut self,
        id: u32,
        reached: &Reached<Option<T::State>>,
        actor: &Actor,
        surroundings: Surroundings<'_>,
    ) -> (FootprintId, bool) {
        let mover = surroundings.mover;
        let (mut all, mut fails) = (Vec::new(), false);
        // A trial may be beyond the bound of a bounded search.
        let is_bounded = matches!(self.options.mode, Mode::Bounded(_));
        let counts = !is_bounded && self.options.mode.parts().is_none_or(|parts| parts.fatal);
        for index in 0..actor.choices {
            let choice = Choice { actor: actor.number, index };
            if let Some(taken) = self.try_one(reached, choice, surroundings) {
                if let Some(failure) = taken.failure.clone().filter(|_| counts) {
                    fails = true;
                    let fingerprint = taken.reached.fingerprint;
                    self.fail(FoundAt { failure, at: id, choice: Some(choice), fingerprint });
                }
                all.extend_from_slice(&taken.accesses);
                self.trials.insert(id, mover, index, taken);
            }
        }
        let locks = self.graph.footprints.locks(actor.holds.iter().chain(&actor.takes).copied());
        (self.graph.footprints.intern(mover, locks, &all), fails)
    }

    /// Executes a step for its footprint, unless a worker has done so.
    fn try_one(
        &mut self,
        reached: &Reached<Option<T::State>>,
        choice: Choice,
        surroundings: Surroundings<'_>,
    ) -> Option<Step<T::State>> {
        let lookahead = self.lookahead.get_mut(&reached.fingerprint);
        let tried = lookahead.and_then(|tried| {
            let place = tried.iter().position(|(tried, _)| *tried == choice)?;
            Some(tried.swap_remove(place).1)
        });
        tried.or_else(|| self.step_with(reached.new_state(), choice, surroundings, true))
    }

    /// Whether an audited actor is as it inherits.
    fn is_as_before(&mut self, actor: &Actor, before: ActorRecord) -> bool {
        let (now, is_known) = self.record_of(actor, before.actor, Some(before), None);
        let locks = [now, before].map(|record| self.graph.footprints.locks_of(record.pending));
        let pending = if is_known { now.pending == before.pending } else { locks[0] == locks[1] };
        ActorRecord { pending: before.pending, ..now } == before && pending
    }
}
