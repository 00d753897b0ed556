//! The tree of executions, explored depth first on a stack of states.
//!
//! A step is taken in this order, and the order matters: executed; compared with the execution before it, which is when races
//! are found and backtrack points are added to states further up; then pushed. Its sleep set is that of the state it leaves,
//! without what it wakes. When all steps of a state are explored the state is popped, and the step that led to it falls asleep
//! in its predecessor.

use super::frame::{Asleep, Frame};
use super::race::{Prevented, stays_asleep};
use super::{Limits, Report};
use crate::actor_ids::ActorIds;
use crate::footprint::normalise;
use crate::footprint_system::{Actor, FootprintSystem, Reached, Taken};
use crate::found::{Found, Stopped};
use crate::happens_before::{Event, Execution, Races, in_system_numbers};
use crate::outdated::Outdated;
use crate::system::Failure;
use std::collections::BTreeSet;
use trace::Choice;

/// Executes one schedule of each trace class until all are explored, or a limit is reached.
pub fn search<T: FootprintSystem>(system: &mut T, limits: &mut Limits<'_>) -> Report {
    let initial = system.initial();
    let mut search = Search {
        system,
        actors: ActorIds::default(),
        execution: Execution::default(),
        frames: Vec::new(),
        prevented: Vec::new(),
        races: Races::new(),
        outdated: Outdated::default(),
        ends: BTreeSet::new(),
        failed: BTreeSet::new(),
        too_many_actors: false,
        report: Report::default(),
    };
    search.arrive(initial, Vec::new());
    let stopped = search.run(limits);
    search.finish(stopped)
}

/// A search under way.
pub(super) struct Search<'a, T: FootprintSystem> {
    pub(super) system: &'a mut T,
    pub(super) actors: ActorIds,
    pub(super) execution: Execution,
    /// The states of the execution.
    pub(super) frames: Vec<Frame<T::State>>,
    /// Pending steps of actors that events of the execution ended.
    pub(super) prevented: Vec<Prevented>,
    pub(super) races: Races,
    outdated: Outdated,
    ends: BTreeSet<u128>,
    /// Trace classes of fatal failures with their pasts.
    failed: BTreeSet<u128>,
    too_many_actors: bool,
    pub(super) report: Report,
}

impl<T: FootprintSystem> Search<'_, T> {
    fn run(&mut self, limits: &mut Limits<'_>) -> Option<Stopped> {
        while let Some(frame) = self.frames.last_mut() {
            match frame.next() {
                Some((actor, index)) => self.take(actor, index, limits.depth),
                None => self.backtrack(),
            }
            let executions = self.report.traces + self.report.redundant + self.report.cut;
            match () {
                () if self.too_many_actors => return Some(Stopped::Actors),
                () if self.report.found.len() >= limits.failures => return Some(Stopped::Failures),
                () if executions >= limits.executions => return Some(Stopped::States),
                () if self.is_outdated(executions) => return Some(Stopped::Asked),
                () if (limits.stop)(executions, self.report.executed) => return Some(Stopped::Asked),
                () => {}
            }
        }
        (self.report.cut > 0).then_some(Stopped::Depth)
    }

    /// Whether races have shown for long enough that the abstraction is too coarse.
    fn is_outdated(&mut self, executions: u64) -> bool {
        let (races, system) = (&self.races, &*self.system);
        let needs_refinement = || races.keys().any(|race| system.needs_refinement(race));
        self.outdated.is_over(races.len(), executions, needs_refinement)
    }

    /// Pops the last state.
    fn backtrack(&mut self) {
        if let Some(frame) = self.frames.pop().filter(|frame| frame.failed) {
            self.report_races_in(&frame);
        }
        if let Some(event) = self.execution.pop() {
            self.put_to_sleep(event);
        }
    }

    /// All executions that begin with a step are explored: it sleeps in the state that it leaves.
    fn put_to_sleep(&mut self, event: Event) {
        assert_eq!(self.frames.len(), self.execution.events.len() + 1, "an event leaves the last state");
        self.forget_prevented();
        let frame = self.frames.last_mut().expect("a step leaves a state");
        frame.sleep.push(Asleep { actor: event.actor, index: event.index, accesses: event.accesses.into() });
    }

    fn take(&mut self, actor: u32, index: u32, depth: usize) {
        let frame = self.frames.last().expect("a step leaves a state");
        let choice = Choice { actor: self.actors.number(actor), index };
        self.report.executed += 1;
        let Some(taken) = self.system.step(&frame.state, choice) else { return };
        self.report.choices.count_step(frame.find(actor).map_or(0, |actor| actor.choice_kind));
        let Taken { reached, mut accesses, failure, .. } = taken;
        normalise(&mut accesses);
        let conflicting = self.execution.conflicting(actor, &accesses);
        let event = self.execution.event(actor, index, accesses, &conflicting);
        self.reverse(&event, &conflicting);
        self.reverse_interrupted(&event);
        self.note_ended(actor, &reached);
        self.note_disabled(actor, &reached);
        let frame = self.frames.last().expect("a step leaves a state");
        // Asleep behind the step as well, if both orders are the same.
        let stays = |asleep: &&Asleep| stays_asleep((asleep.actor, &asleep.accesses), &event);
        let sleep: Vec<Asleep> = frame.sleep.iter().filter(stays).cloned().collect();
        self.execution.push(event);
        self.report.depth_max = self.report.depth_max.max(self.execution.events.len());
        let fatal = failure.as_ref().is_some_and(|failure| failure.fatal);
        if let Some(failure) = failure {
            self.fail(failure, reached.fingerprint);
        }
        if fatal {
            return self.end_failed();
        }
        self.arrive(reached, sleep);
        let frame = self.frames.last().expect("just reached");
        // What is pending there still races with what was executed: those states are above the bound.
        if self.execution.events.len() >= depth && !frame.backtrack.is_empty() {
            self.report.cut += 1;
            self.give_up();
        }
    }

    /// The last step failed fatally. It depends on all steps that it prevents: every enabled actor is a backtrack point.
    fn end_failed(&mut self) {
        // Concurrent events do not matter: failures with the same past are one trace class.
        match self.failed.insert(self.execution.class_of_last()) {
            true => {
                self.report.traces += 1;
                self.report.failed += 1;
            }
            false => self.report.redundant += 1,
        }
        let frame = self.frames.last_mut().expect("a step leaves a state");
        frame.backtrack = frame.backtrack.union(frame.enabled());
        frame.failed = true;
        self.reverse_pending();
        let event = self.execution.pop().expect("just executed");
        self.put_to_sleep(event);
    }

    /// Explores nothing more in the last state.
    fn give_up(&mut self) {
        self.reverse_pending();
        self.frames.last_mut().expect("just reached").give_up();
    }

    fn arrive(&mut self, reached: Reached<T::State>, sleep: Vec<Asleep>) {
        let is_redundant = reached.actors.iter().any(|actor| actor.redundant);
        let is_end = reached.is_end();
        let actors = self.with_dense_numbers(reached.actors);
        self.execution.reach(self.frames.last().map_or(&[], |frame| &frame.actors), &actors);
        let enabled = actors.iter().filter(|(_, actor)| actor.choices > 0);
        self.report.choices.count_state(enabled.map(|(_, actor)| actor.choice_kind));
        let frame = Frame::new(reached.state, actors, sleep);
        let (enabled, first) = (frame.enabled(), self.first(&frame));
        self.frames.push(frame);
        assert_eq!(self.frames.len(), self.execution.events.len() + 1, "an execution has one state more than events");
        // One actor is enough to begin with: races that are found below add the others that matter.
        if let Some(failure) = reached.stuck.clone().filter(|_| is_end && first.is_some()) {
            self.fail(failure, reached.fingerprint);
        }
        match first {
            Some(first) => self.frames.last_mut().expect("just pushed").backtrack.insert(first),
            None => self.end(enabled.is_empty() && !is_redundant, reached.stuck, reached.fingerprint),
        }
    }

    /// Actors with dense numbers. One whose next step is redundant counts as blocked: it stays where it is, because the steps
    /// of others may still race with earlier ones.
    fn with_dense_numbers(&mut self, actors: Vec<Actor>) -> Vec<(u32, Actor)> {
        let mut numbered = Vec::new();
        for mut actor in actors {
            actor.choices = if actor.redundant { 0 } else { actor.choices };
            match self.actors.dense(actor.number) {
                Some(dense) => numbered.push((dense, actor)),
                None => self.too_many_actors = true,
            }
        }
        numbered
    }

    /// The actor that is explored first: the one that moved last, if it is enabled and awake, else any such.
    fn first(&self, frame: &Frame<T::State>) -> Option<u32> {
        let enabled = frame.enabled();
        let last = self.execution.events.last().map(|event| event.actor);
        let is_awake = |actor: &u32| enabled.contains(*actor) && frame.is_awake(*actor);
        // Steps of the system come before faults: what it does without them is explored, too.
        let is_fault = |actor: &u32| frame.find(*actor).is_some_and(|actor| actor.is_fault);
        let own = enabled.iter().filter(|actor| !is_fault(actor)).find(is_awake);
        last.filter(is_awake).filter(|last| !is_fault(last)).or(own).or_else(|| enabled.iter().find(is_awake))
    }

    /// No step is taken from the last state: no actor is enabled, or all enabled ones are asleep (`is_end` is false).
    fn end(&mut self, is_end: bool, stuck: Option<Failure>, fingerprint: u128) {
        self.reverse_pending();
        if !is_end {
            self.report.redundant += 1;
            return;
        }
        self.report.traces += 1;
        self.ends.insert(fingerprint);
        if let Some(failure) = stuck {
            self.report.stuck += 1;
            self.fail(failure, fingerprint);
        }
    }

    fn fail(&mut self, failure: Failure, fingerprint: u128) {
        if self.report.found.iter().any(|found| found.is(&failure)) {
            return;
        }
        let choice = |event: &Event| Choice { actor: self.actors.number(event.actor), index: event.index };
        let schedule = self.execution.events.iter().map(choice).collect();
        self.report.found.push(Found { failure, schedule, inevitable_from: None, fingerprint, states: Vec::new() });
    }

    fn finish(self, stopped: Option<Stopped>) -> Report {
        let (races, race_schedules) = in_system_numbers(&self.races, &self.actors);
        Report {
            races,
            race_schedules,
            complete: stopped.is_none(),
            stopped,
            ends: self.ends.iter().copied().collect(),
            ..self.report
        }
    }
}
