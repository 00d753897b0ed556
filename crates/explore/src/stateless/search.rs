//! The tree of executions, on a stack of states.

use super::ended::Prevented;
use super::frame::{Asleep, Frame};
use super::race::{Late, Races, apart, compare, firsts, sleeps_on, told, way_beside};
use super::run::{Event, Run, conflict, normalise};
use super::{Limits, Report};
use crate::graph::{Access, Actors, FootprintSystem, Found, Race, Reached, Stopped, Taken};
use crate::system::Failure;
use std::collections::BTreeSet;
use std::rc::Rc;
use trace::Choice;

/// Executions after a race that makes the search begin anew, at least.
const NEWS_MORE: u64 = 20;

/// Races that make the search begin anew.
#[derive(Default)]
struct News {
    /// After how many executions there was the first.
    since: Option<u64>,
    /// How many races were looked at.
    races: usize,
}

/// Executes one schedule of each class until all are seen, or a limit is reached.
pub fn search<T: FootprintSystem>(system: &mut T, limits: &mut Limits<'_>) -> Report {
    let initial = system.initial();
    let mut search = Search {
        system,
        actors: Actors::default(),
        run: Run::default(),
        frames: Vec::new(),
        prevented: Vec::new(),
        races: Races::new(),
        news: News::default(),
        ends: BTreeSet::new(),
        failed: BTreeSet::new(),
        too_many_actors: false,
        report: Report::default(),
    };
    search.arrive(initial, Vec::new());
    let stopped = search.walk(limits);
    search.finish(stopped)
}

pub(super) struct Search<'a, T: FootprintSystem> {
    system: &'a mut T,
    actors: Actors,
    pub(super) run: Run,
    pub(super) frames: Vec<Frame<T::State>>,
    /// Steps that events of the execution keep others from taking.
    pub(super) prevented: Vec<Prevented>,
    races: Races,
    news: News,
    ends: BTreeSet<u128>,
    /// Classes of failures.
    failed: BTreeSet<u128>,
    too_many_actors: bool,
    report: Report,
}

impl<T: FootprintSystem> Search<'_, T> {
    fn walk(&mut self, limits: &mut Limits<'_>) -> Option<Stopped> {
        while let Some(frame) = self.frames.last_mut() {
            match frame.next() {
                Some((actor, index)) => self.take(actor, index, limits.depth),
                None => self.back(),
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

    /// Whether steps turned out to be too coarse some time ago. Further races are looked for as long again as that took, so
    /// that several are known when the search begins anew.
    fn is_outdated(&mut self, executions: u64) -> bool {
        if self.races.len() > self.news.races && self.news.since.is_none() {
            self.news.races = self.races.len();
            let is_news = self.races.keys().any(|race| self.system.is_news(race));
            self.news.since = is_news.then_some(executions);
        }
        self.news.since.is_some_and(|since| executions > 2 * since + NEWS_MORE)
    }

    /// Goes back to the state before; the step that led here sleeps there from now on.
    fn back(&mut self) {
        if let Some(frame) = self.frames.pop().filter(|frame| frame.failed) {
            self.look_side_by_side(&frame);
        }
        let Some(event) = self.run.pop() else { return };
        self.forget_prevented();
        let frame = self.frames.last_mut().expect("an event starts somewhere");
        frame.sleep.push(Asleep { actor: event.actor, index: event.index, accesses: event.accesses.into() });
    }

    fn take(&mut self, actor: u32, index: u32, depth: usize) {
        let frame = self.frames.last().expect("it is taken somewhere");
        let choice = Choice { actor: self.actors.number(actor), index };
        self.report.executed += 1;
        let Some(taken) = self.system.step(&frame.state, choice) else { return };
        self.report.sorts.take(frame.find(actor).map_or(0, |actor| actor.choice_kind));
        let Taken { reached, mut accesses, failure, .. } = taken;
        normalise(&mut accesses);
        let conflicting = self.run.conflicting(actor, &accesses);
        let event = self.run.event(actor, index, accesses, &conflicting);
        self.look(&event, &conflicting);
        self.note_ended(actor, &reached);
        let frame = self.frames.last().expect("it is taken somewhere");
        let stays = |asleep: &&Asleep| sleeps_on((asleep.actor, &asleep.accesses), &event);
        let sleep: Vec<Asleep> = frame.sleep.iter().filter(stays).cloned().collect();
        self.run.push(event);
        self.report.depth_max = self.report.depth_max.max(self.run.events.len());
        let fatal = failure.as_ref().is_some_and(|failure| failure.fatal);
        if let Some(failure) = failure {
            self.fail(failure, reached.fingerprint);
        }
        if fatal {
            return self.end_failed();
        }
        self.arrive(reached, sleep);
        if self.run.events.len() >= depth && !self.frames.last().expect("just reached").backtrack.is_empty() {
            self.report.cut += 1;
            self.give_up();
        }
    }

    /// A fatal failure hides what everybody else would have done: all of them may go first.
    fn end_failed(&mut self) {
        // What happened besides has nothing to do with it: failures with the same past are one.
        match self.failed.insert(self.run.class_of_last()) {
            true => {
                self.report.traces += 1;
                self.report.failed += 1;
            }
            false => self.report.redundant += 1,
        }
        let frame = self.frames.last_mut().expect("a step starts somewhere");
        frame.backtrack = frame.backtrack.union(frame.able());
        frame.failed = true;
        self.look_at_late();
        self.take_back();
    }

    /// Takes the last step back; it sleeps from now on.
    fn take_back(&mut self) {
        let event = self.run.pop().expect("just executed");
        self.forget_prevented();
        let frame = self.frames.last_mut().expect("a step starts somewhere");
        frame.sleep.push(Asleep { actor: event.actor, index: event.index, accesses: event.accesses.into() });
    }

    /// Nothing more is taken in the last state.
    fn give_up(&mut self) {
        self.look_at_late();
        self.frames.last_mut().expect("there is one").give_up();
    }

    /// Looks at what an executed step could have overtaken.
    fn look(&mut self, event: &Event, conflicting: &[usize]) {
        let late = Late::new(&self.run, event, conflicting);
        let frame = self.frames.last().expect("it is taken somewhere");
        if frame.find(event.actor).is_some_and(|actor| actor.low_priority) {
            return;
        }
        self.note_races(&late, Late::is_next_to);
        let frame = self.frames.last().expect("it is taken somewhere");
        for (dense, actor) in frame.actors.iter().filter(|(_, actor)| actor.choices == 0) {
            for access in event.accesses.iter().filter(|access| access.plain && access.write) {
                if actor.awaits.contains(&access.object) {
                    let (one, other) = ((event.actor, true), (*dense, false));
                    let (one, other) = (one.min(other), one.max(other));
                    let race = Race { object: access.object, plain: false, one, other };
                    self.races.entry(race).or_insert_with(|| self.run.way());
                }
            }
        }
        for place in late.overtakes(&self.run, &self.frames) {
            self.ask(&late, place);
        }
    }

    /// Races of a late step with events that it can happen next to.
    fn note_races<'l>(&mut self, late: &Late<'l>, can_meet: fn(&Late<'l>, &Run, usize) -> bool) {
        for place in late.conflicting.iter().filter(|place| can_meet(late, &self.run, **place)) {
            let (early, event) = (&self.run.events[*place], late.event);
            let way = || way_beside(&self.run, *place);
            compare(&mut self.races, (early.actor, &early.accesses), (event.actor, &event.accesses), way);
        }
    }

    /// Lets somebody move before the event at `early` so that a late step comes first, unless that is explored anyway.
    pub(super) fn ask(&mut self, late: &Late<'_>, early: usize) {
        let rest = apart(&self.run, early);
        let frame = &self.frames[early];
        if late.stays_put(&self.run, frame, &rest) {
            return;
        }
        let known = |actor, index| frame.backtrack.contains(actor) || frame.is_asleep(actor, index);
        let firsts = firsts(&self.run, &rest);
        if firsts.iter().any(|event| known(event.actor, event.index)) {
            return;
        }
        let mut begins = firsts.first().map(|event| event.actor);
        if self.can_begin(late.event.actor, early, &rest) {
            let frame = &self.frames[early];
            if frame.backtrack.contains(late.event.actor) || frame.is_asleep(late.event.actor, late.event.index) {
                return;
            }
            begins = Some(late.event.actor);
        }
        begins.into_iter().for_each(|actor| self.frames[early].backtrack.insert(actor));
    }

    /// Whether the next step of an actor in an earlier state is the late one, and could come before all of the rest.
    ///
    /// What it touches there is tried: later it may touch something else, and of what somebody waits to do little is known.
    fn can_begin(&mut self, actor: u32, early: usize, rest: &[usize]) -> bool {
        let moves = rest.iter().any(|place| self.run.events[*place].actor == actor);
        if moves || self.frames[early].choices(actor) == 0 {
            return false;
        }
        if rest.is_empty() {
            return true;
        }
        let accesses = self.accesses_at(early, actor);
        !rest.iter().any(|place| conflict(&accesses, &self.run.events[*place].accesses))
    }

    /// What the next step of an actor touches in an earlier state.
    pub(super) fn accesses_at(&mut self, early: usize, actor: u32) -> Rc<[Access]> {
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

    /// Nothing happens after a failure that could race with it: looks at all steps that were possible there instead.
    fn look_side_by_side(&mut self, frame: &Frame<T::State>) {
        let locks = |actor: u32| {
            let actor = frame.find(actor);
            actor.into_iter().flat_map(|actor| actor.holds.iter().chain(&actor.takes).copied())
        };
        for (place, one) in frame.sleep.iter().enumerate() {
            for other in &frame.sleep[place + 1..] {
                let is_locked = locks(one.actor).any(|lock| locks(other.actor).any(|held| held == lock));
                if one.actor != other.actor && !is_locked {
                    let way = || self.run.way();
                    compare(&mut self.races, (one.actor, &one.accesses), (other.actor, &other.accesses), way);
                }
            }
        }
    }

    /// Looks at what those who wait, and those who were ended, could have overtaken: they came too late.
    fn look_at_late(&mut self) {
        self.look_at_waiting(|_| true);
        self.look_at_ended();
    }

    /// Looks at what those who wait could have overtaken.
    pub(super) fn look_at_waiting(&mut self, is_meant: impl Fn(u32) -> bool) {
        let frame = self.frames.last().expect("somebody waits there");
        let waiting: Vec<(u32, Vec<u64>)> = frame
            .actors
            .iter()
            .filter(|(dense, actor)| actor.choices == 0 && is_meant(*dense))
            .map(|(dense, actor)| (*dense, actor.awaits.clone()))
            .collect();
        for (actor, awaits) in waiting {
            let mut accesses: Vec<Access> =
                awaits.iter().map(|object| Access { object: *object, write: false, plain: false }).collect();
            normalise(&mut accesses);
            let conflicting = self.run.conflicting(actor, &accesses);
            let event = self.run.event(actor, 0, accesses, &conflicting);
            let late = Late::new(&self.run, &event, &conflicting);
            // It has looked at what it waits for since it came there.
            self.note_races(&late, Late::is_apart);
            for place in late.overtakes(&self.run, &self.frames) {
                self.ask(&late, place);
            }
        }
    }

    fn arrive(&mut self, reached: Reached<T::State>, sleep: Vec<Asleep>) {
        let mut actors = Vec::new();
        let is_vain = reached.actors.iter().any(|actor| actor.redundant);
        for mut actor in reached.actors {
            // Whoever looked too early stays where it is: what others do may still show what came too early besides.
            actor.choices = if actor.redundant { 0 } else { actor.choices };
            match self.actors.dense(actor.number) {
                Some(dense) => actors.push((dense, actor)),
                None => self.too_many_actors = true,
            }
        }
        self.run.meet(self.frames.last().map_or(&[], |frame| &frame.actors), &actors);
        let choosing = actors.iter().filter(|(_, actor)| actor.choices > 0).map(|(_, actor)| actor.choice_kind);
        self.report.sorts.meet(choosing);
        let frame = Frame::new(reached.state, actors, sleep);
        let (able, first) = (frame.able(), self.first(&frame));
        self.frames.push(frame);
        match first {
            Some(first) => self.frames.last_mut().expect("just put").backtrack.insert(first),
            None => self.end(able.is_empty() && !is_vain, reached.stuck, reached.fingerprint),
        }
    }

    /// Who begins in a state: the one who moved last, if it can go on.
    fn first(&self, frame: &Frame<T::State>) -> Option<u32> {
        let able = frame.able();
        let last = self.run.events.last().map(|event| event.actor);
        let awake = |actor: &u32| able.contains(*actor) && frame.is_awake(*actor);
        last.filter(awake).or_else(|| able.iter().find(awake))
    }

    /// Nobody is to move any more: because nobody can, or because all that could be done was done elsewhere.
    fn end(&mut self, nobody_can: bool, stuck: Option<Failure>, fingerprint: u128) {
        self.look_at_late();
        if !nobody_can {
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
        let known = |found: &Found| (found.failure.kind, &found.failure.message) == (failure.kind, &failure.message);
        if self.report.found.iter().any(known) {
            return;
        }
        let choice = |event: &Event| Choice { actor: self.actors.number(event.actor), index: event.index };
        let schedule = self.run.events.iter().map(choice).collect();
        self.report.found.push(Found { failure, schedule, inevitable_from: None, fingerprint, states: Vec::new() });
    }

    fn finish(self, stopped: Option<Stopped>) -> Report {
        let (races, race_ways) = told(&self.races, &self.actors);
        Report {
            races,
            race_ways,
            complete: stopped.is_none(),
            stopped,
            ends: self.ends.iter().copied().collect(),
            ..self.report
        }
    }
}
