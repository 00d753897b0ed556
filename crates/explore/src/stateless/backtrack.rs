//! Backtrack points: for every race of a late step with an event, an actor that begins the reversed execution.
//!
//! Let `e` be an event, `l` a later step that races with it, and `v` the events behind `e` that do not depend on it, then `l`.
//! An execution in which `l` comes before `e` has the form `v`, then `e`, from the state before `e`. It is explored if one of
//! its *initials* (actors whose first step in `v` depends on nothing before it in `v`) is explored there. So one initial is
//! added, unless one is in the backtrack set already, or asleep: then an equivalent execution was, or will be, explored.
//!
//! Example: `T1: x = 1`, `T2: y = 1; x = 2`. The first execution is T1, T2, T2. The last event
//! races with the first one (`x`), `v` is T2's `y = 1` followed by `x = 2`: its initial is T2,
//! which is added to the initial state. The second execution begins with T2 and ends the other way
//! round; there is no third, because the two writes of different variables commute.

use super::frame::Frame;
use super::race::initials;
use super::search::Search;
use crate::bits::Bits;
use crate::footprint::{Access, awaited, conflict, normalise};
use crate::footprint_system::{Actor, FootprintSystem};
use crate::happens_before::{Event, Execution, LateStep, add_races, concurrent_with, prefix_without};
use crate::race::Race;
use std::rc::Rc;
use trace::Choice;

impl<T: FootprintSystem> Search<'_, T> {
    /// Reports the races of an executed step with the events before it, and reverses them.
    ///
    /// All races of the step, not only the last one: with source sets, reversing the last race only
    /// loses trace classes (found by comparing with enumeration on random programs).
    pub(super) fn reverse(&mut self, event: &Event, conflicting: &[usize]) {
        let late = LateStep::new(&self.execution, event, conflicting);
        let frame = self.frames.last().expect("a step leaves a state");
        if frame.find(event.actor).is_some_and(|actor| actor.low_priority) {
            return;
        }
        self.report_races(&late, LateStep::is_adjacent);
        self.report_races_with_blocked(event);
        for place in late.reversible(&self.execution, &self.frames) {
            self.add_backtrack_point(&late, place);
        }
    }

    /// A blocked actor reads what it waits for all the time: a plain write to it is a race.
    fn report_races_with_blocked(&mut self, event: &Event) {
        let frame = self.frames.last().expect("a step leaves a state");
        for (dense, actor) in frame.actors.iter().filter(|(_, actor)| actor.choices == 0) {
            for access in event.accesses.iter().filter(|access| access.plain && access.write) {
                if actor.awaits.contains(&access.object) {
                    let race = Race::new(access.object, false, (event.actor, true), (*dense, false));
                    self.races.entry(race).or_insert_with(|| self.execution.schedule());
                }
            }
        }
    }

    fn report_races<'l>(&mut self, late: &LateStep<'l>, can_meet: fn(&LateStep<'l>, &Execution, usize) -> bool) {
        for place in late.conflicting.iter().filter(|place| can_meet(late, &self.execution, **place)) {
            let (early, event) = (&self.execution.events[*place], late.event);
            let schedule = || prefix_without(&self.execution, *place);
            add_races(&mut self.races, (early.actor, &early.accesses), (event.actor, &event.accesses), schedule);
        }
    }

    /// Adds a backtrack point to the state before the event at `early` so that a late step comes first, unless an initial
    /// of that execution is in the backtrack set or the sleep set already.
    pub(super) fn add_backtrack_point(&mut self, late: &LateStep<'_>, early: usize) {
        let concurrent = concurrent_with(&self.execution, early);
        let frame = &self.frames[early];
        if late.stays_blocked(&self.execution, frame, &concurrent) {
            return;
        }
        let is_covered = |frame: &Frame<T::State>, event: &Event| {
            frame.backtrack.contains(event.actor) || frame.is_asleep(event.actor, event.index)
        };
        let initials = initials(&self.execution, &concurrent);
        if initials.iter().any(|event| is_covered(frame, event)) {
            return;
        }
        let mut first = initials.first().map(|event| event.actor);
        if self.is_initial(late.event.actor, early, &concurrent) {
            if is_covered(&self.frames[early], late.event) {
                return;
            }
            first = Some(late.event.actor);
        }
        first.into_iter().for_each(|actor| self.frames[early].backtrack.insert(actor));
    }

    /// Whether the late step of an actor is its next one in an earlier state, and is independent of all concurrent events.
    ///
    /// Its footprint there is found by trial: later it may differ, and that of a blocked step is known only in part.
    ///
    /// A step of which it is not known whether it is independent of `v` in the earlier state is
    /// tried there, so that no execution is started that turns out redundant.
    fn is_initial(&mut self, actor: u32, early: usize, concurrent: &[usize]) -> bool {
        let moves = concurrent.iter().any(|place| self.execution.events[*place].actor == actor);
        if moves || self.frames[early].choices(actor) == 0 {
            return false;
        }
        if concurrent.is_empty() {
            return true;
        }
        let accesses = self.footprint_at(early, actor);
        !concurrent.iter().any(|place| conflict(&accesses, &self.execution.events[*place].accesses))
    }

    /// The footprint of an actor's next step in an earlier state.
    pub(super) fn footprint_at(&mut self, early: usize, actor: u32) -> Rc<[Access]> {
        let frame = &self.frames[early];
        if let Some((_, accesses)) = frame.tried.iter().find(|(other, _)| *other == actor) {
            return Rc::clone(accesses);
        }
        let mut accesses = Vec::new();
        for index in 0..frame.choices(actor) {
            self.report.executed += 1;
            let choice = Choice { actor: self.actors.number(actor), index };
            accesses.extend(self.system.step(&frame.state, choice).into_iter().flat_map(|taken| taken.accesses));
        }
        normalise(&mut accesses);
        let accesses: Rc<[Access]> = accesses.into();
        self.frames[early].tried.push((actor, Rc::clone(&accesses)));
        accesses
    }

    /// Reports races of the steps that were explored in a state where one failed fatally: no event follows that could race
    /// with it.
    pub(super) fn report_races_in(&mut self, frame: &Frame<T::State>) {
        let locks = |actor: u32| {
            let actor = frame.find(actor);
            actor.into_iter().flat_map(|actor| actor.holds.iter().chain(&actor.takes).copied())
        };
        for (place, one) in frame.sleep.iter().enumerate() {
            for other in &frame.sleep[place + 1..] {
                let share_lock = locks(one.actor).any(|lock| locks(other.actor).any(|held| held == lock));
                if one.actor != other.actor && !share_lock {
                    let (one, other) = ((one.actor, &*one.accesses), (other.actor, &*other.accesses));
                    add_races(&mut self.races, one, other, || self.execution.schedule());
                }
            }
        }
    }

    /// Reverses the races of steps that are pending at the end of an execution: of blocked, ended and interrupted actors.
    pub(super) fn reverse_pending(&mut self) {
        self.reverse_blocked(|_| true);
        self.reverse_prevented();
    }

    /// Reverses the races of blocked actors that a step is about to interrupt.
    ///
    /// What they do next happens after that step, and so after whatever disabled them: no later event would race with it.
    /// Example: `T1: lock; signal T2; unlock` while T2 waits for the lock. The handler comes first, and only then T2's lock.
    ///
    /// Other actors may also unblock them before that step, by what they do behind it in this execution: to be examined at
    /// its end, like the pending steps of ended actors. Example: `T1: signal T2`, `T2: receive`, `T3: send`.
    pub(super) fn reverse_interrupted(&mut self, event: &Event) {
        let frame = self.frames.last().expect("a step leaves a state");
        let is_written = |object: &u64| event.accesses.iter().any(|access| access.write && access.object == *object);
        let is_interrupted = |actor: &Actor| actor.interrupts.iter().any(is_written);
        let woken: Bits =
            frame.actors.iter().filter(|(_, actor)| is_interrupted(actor)).map(|(dense, _)| *dense).collect();
        if !woken.is_empty() {
            self.reverse_blocked(|dense| woken.contains(dense));
            self.note_prevented(woken);
        }
    }

    /// Reverses the races of blocked actors in the last state.
    ///
    /// A blocked actor at the end of an execution has a race with whatever disabled it, though it
    /// never moved.
    pub(super) fn reverse_blocked(&mut self, is_meant: impl Fn(u32) -> bool) {
        let frame = self.frames.last().expect("an execution has a last state");
        let is_blocked = |dense: u32, choices: u32| choices == 0 && is_meant(dense);
        let blocked = frame.actors.iter().filter(|(dense, actor)| is_blocked(*dense, actor.choices));
        let blocked: Vec<(u32, Vec<Access>)> = blocked.map(|(dense, actor)| (*dense, awaited(&actor.awaits))).collect();
        for (actor, accesses) in blocked {
            let conflicting = self.execution.conflicting(actor, &accesses);
            let event = self.execution.event(actor, 0, accesses, &conflicting);
            let late = LateStep::new(&self.execution, &event, &conflicting);
            // It has read what it waits for since it became blocked.
            self.report_races(&late, LateStep::is_unordered);
            for place in late.reversible(&self.execution, &self.frames) {
                self.add_backtrack_point(&late, place);
            }
        }
    }
}
