//! The story of a counterexample: its schedule executed once more, each step told in words.
//!
//! Nothing is told that was not executed here. Whoever compares the failure and the fingerprint at the end with what a search
//! has found knows that the story is that of the failure.

mod calls;
mod changes;
mod files;
mod fold;
mod growth;
mod hear;
mod heard;
pub mod listener;
mod names;
mod place;
pub mod program_replay;
pub mod races;
mod words;

pub use growth::Growth;
pub use heard::HeardEvent;
pub use listener::Listener;

use crate::system::choice::TIME;
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use debuginfo::DebugInfo;
use explore::graph::{FootprintSystem, Reached};
use explore::system::Failure;
use files::{Noted, Use, Uses};
use kernel::descriptor::Console;
use kernel::{Pid, Tid};
use std::collections::{BTreeMap, HashMap};
use trace::{Change, Choice, Event, EventKind, Location, Trace, TraceStep, Waiting};

/// A schedule, told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// What happened.
    pub trace: Trace,
    /// What went wrong in the last step, or in the state that it led to.
    pub failure: Option<Failure>,
    /// What stands for the last state.
    pub fingerprint: u128,
    /// Who cannot go on at the end, and why.
    pub waiting: Vec<Waiting>,
    /// Where whoever moved last was in its source.
    pub location: Option<Location>,
    /// Its call stack.
    pub stack: Vec<String>,
    /// What programs wrote to standard error, a line each.
    pub complaints: Vec<String>,
    /// Who waits for whom, if they wait in a circle.
    pub circle: Vec<String>,
    /// What a reader should know who does not see it in the steps.
    pub notes: Vec<String>,
    /// Paths at which nothing was found.
    pub missing: Vec<String>,
}

/// A story in progress.
#[derive(Default)]
struct Narration {
    told: Told,
    errors: BTreeMap<Pid, Vec<u8>>,
    uses: Uses,
}

impl Programs {
    /// Tells a schedule; nothing if it cannot be executed. Paths below `folder` are told without it.
    pub fn tell(&mut self, schedule: &[Choice], folder: &str) -> Option<Told> {
        self.listen(folder);
        let told = self.tell_all(schedule);
        self.stop_listening();
        told
    }

    /// Hears what happens from now on. What binaries say about themselves is read once for all stories.
    fn listen(&mut self, folder: &str) {
        let info = self.debug_info();
        self.listener = Listener { info: Some(info), folder: folder.to_owned(), ..Listener::default() };
    }

    fn stop_listening(&mut self) {
        self.info = std::mem::take(&mut self.listener).info;
    }

    /// What binaries say about themselves; to be given back for the next one who asks.
    pub(crate) fn debug_info(&mut self) -> Box<DebugInfo> {
        let budget = self.workload.options.budget.clone();
        self.info
            .take()
            .unwrap_or_else(|| Box::new(DebugInfo::new(self.state.world.kernel.host.clone()).within(budget)))
    }

    /// Executes a schedule without telling it: what goes wrong at its end, and the fingerprint there; nothing if it cannot be
    /// executed.
    pub fn replayed(&mut self, schedule: &[Choice]) -> Option<(Option<Failure>, u128)> {
        let mut reached = self.initial();
        let mut failure = reached.stuck.clone();
        for choice in schedule {
            let taken = self.step(&reached.state, *choice)?;
            failure = taken.failure.or_else(|| taken.reached.stuck.clone());
            reached = taken.reached;
        }
        Some((failure, reached.fingerprint))
    }

    fn tell_all(&mut self, schedule: &[Choice]) -> Option<Told> {
        let mut story = Narration::default();
        let mut reached = self.initial();
        self.name_threads(&mut story.told.trace);
        story.told.failure = reached.stuck.clone();
        for (index, choice) in schedule.iter().enumerate() {
            reached = self.tell_step(&mut story, &reached, *choice, index + 1)?;
        }
        story.told.fingerprint = reached.fingerprint;
        self.tell_end(&mut story, &reached);
        Some(story.told)
    }

    fn tell_step(
        &mut self,
        story: &mut Narration,
        before: &Reached<Snapshot>,
        choice: Choice,
        number: usize,
    ) -> Option<Reached<Snapshot>> {
        self.listener.heard.clear();
        self.load(&before.state);
        let (holders, since) = (self.state.holders(), self.state.world.kernel.clock.now());
        let watched = self.workload.watched(&self.state);
        let taken = self.step(&before.state, choice)?;
        let watched = self.workload.watched_changes(&self.state, watched);
        let heard = std::mem::take(&mut self.listener.heard);
        let started = self.name_threads(&mut story.told.trace);
        story.told.stack = heard.last().map(|heard| heard.stack.clone()).unwrap_or_default();
        let mut events = story.note_uses(self.events(choice, heard), number);
        if choice.actor == TIME {
            events.push(self.time_event(before, since));
        }
        let changes = self.lock_changes(&holders, number);
        let values = self.value_changes(&before.state, &taken);
        self.tell_births(&mut events, choice, &started);
        let last = events.last_mut().expect("there is always one");
        let is_new = |change: &Change| !watched.contains(change);
        // Values say more than locks where there is no room for both.
        last.changes.extend(values.into_iter().filter(is_new));
        last.changes.extend(watched.into_iter().chain(changes));
        let printing = events.iter().rposition(|event| event.kind == EventKind::Print).unwrap_or(events.len() - 1);
        events[printing].output = story.hear_output(&self.printed);
        story.told.failure = taken.failure.clone().or_else(|| taken.reached.stuck.clone());
        let is_silent = |event: &Event| event.changes.is_empty() && event.output.is_none() && event.created.is_none();
        let is_local = events.iter().all(|event| event.kind == EventKind::Local && is_silent(event));
        story.told.trace.steps.push(TraceStep { choice, events, is_local: Some(is_local) });
        Some(taken.reached)
    }

    /// What was heard in a step as events, with the files that they used; something is always told.
    fn events(&self, choice: Choice, heard: Vec<HeardEvent>) -> Vec<(Event, Vec<Use>)> {
        let mut events: Vec<(Event, Vec<Use>)> = Vec::new();
        for heard in heard {
            // What is printed piece by piece is told once.
            let is_more = heard.kind == EventKind::Print
                && events.last().is_some_and(|(last, _)| last.text == heard.text && last.actor == heard.tid.0);
            if !is_more {
                events.push((event(heard.tid, heard.kind, heard.text, heard.location), heard.uses));
            }
        }
        let tid = Tid(choice.actor);
        if let Some(waits) = self.listener.waits_in(tid).filter(|_| self.state.is_waiting(tid)) {
            let is_plain = matches!(waits.kind, EventKind::Sleep | EventKind::Fork);
            let suffix = if is_plain { "" } else { ": waits" };
            events.push((
                event(tid, waits.kind.clone(), format!("{}{suffix}", waits.text), waits.location.clone()),
                Vec::new(),
            ));
        }
        if choice.actor != TIME && !self.state.world.kernel.threads.contains_key(&tid) {
            events.retain(|(event, _)| event.kind != EventKind::Exit);
            events.push((event(tid, EventKind::End, self.end_words(tid), None), Vec::new()));
        }
        if events.is_empty() && choice.actor != TIME {
            events.push((event(tid, EventKind::Local, "goes on".to_owned(), None), Vec::new()));
        }
        events
    }

    /// Who was started in a step: a thread by what was told already, a process by a line of its own.
    fn tell_births(&self, events: &mut Vec<Event>, choice: Choice, started: &[Tid]) {
        for tid in started {
            let is_process = self.state.world.kernel.threads.get(tid).is_some_and(|thread| thread.pid.0 == tid.0);
            let is_told = events.last().is_some_and(|last| last.kind == EventKind::Fork && last.created.is_none());
            if is_process && !is_told {
                events.retain(|event| event.kind != EventKind::Local);
                events.push(event(Tid(choice.actor), EventKind::Fork, "fork".to_owned(), None));
            }
            let birth = if is_process { None } else { events.iter().position(is_birth_of_thread) };
            let birth = birth.unwrap_or(events.len() - 1);
            events[birth].created = Some(tid.0);
        }
    }

    /// Time passes; whoever could have moved is slow.
    fn time_event(&self, before: &Reached<Snapshot>, since: u64) -> Event {
        let passed = calls::span(self.state.world.kernel.clock.now() - since);
        let able = before.actors.iter().filter(|actor| actor.choices > 0 && actor.number != TIME);
        let slow: Vec<String> = able.map(|actor| self.listener.thread(Tid(actor.number))).collect();
        let verb = if slow.len() == 1 { "is" } else { "are" };
        let but = if slow.is_empty() { String::new() } else { format!(", {} {verb} slow", slow.join(" and ")) };
        event(self.first_woken(), EventKind::Time, format!("... {passed} later{but}"), None)
    }

    /// Whose wait has ended because time has passed.
    fn first_woken(&self) -> Tid {
        let kernel = &self.state.world.kernel;
        let is_over = |thread: &kernel::Thread| {
            thread
                .wait
                .as_ref()
                .is_some_and(|wait| wait.deadline.is_some_and(|deadline| deadline <= kernel.clock.now()))
        };
        let woken = kernel.threads.iter().find(|(_, thread)| is_over(thread));
        woken.map_or(Tid(TIME), |(tid, _)| *tid)
    }

    /// Who cannot go on at the end, and where the last one who moved is.
    fn tell_end(&mut self, story: &mut Narration, reached: &Reached<Snapshot>) {
        self.load(&reached.state);
        story.told.complaints = self.complaints(&story.errors);
        self.tell_files(story);
        let (waiting, circle) = self.waiting();
        story.told.circle = circle.into_iter().map(|tid| self.listener.thread(tid)).collect();
        story.told.waiting = waiting;
        let last = story.told.trace.steps.iter().rev().flat_map(|step| step.events.iter().rev());
        story.told.location = last.into_iter().find_map(|event| event.location.clone());
    }

    /// Where every thread is and what it waits for; and who waits for whom, if they wait in a circle.
    pub(super) fn waiting(&mut self) -> (Vec<Waiting>, Vec<Tid>) {
        let tids: Vec<Tid> = self.state.world.kernel.threads.keys().copied().collect();
        let (mut behind, mut waiting) = (HashMap::new(), Vec::new());
        let held = self.listener.context.held.clone();
        for tid in &tids {
            let (text, holder) = self.waiting_words(*tid, &|object| held.get(&object).copied());
            behind.extend(holder.map(|holder| (*tid, holder)));
            let (location, _) = self.place(*tid);
            waiting.push(Waiting { actor: tid.0, text, location });
        }
        let circle = circle(&tids, &behind);
        // Whoever waits in the circle is what a reader wants to see first.
        waiting.sort_by_key(|waiting| !circle.contains(&Tid(waiting.actor)));
        (waiting, circle)
    }

    fn place(&mut self, tid: Tid) -> (Option<Location>, Vec<String>) {
        let (world, folder) = (&self.state.world, self.listener.folder.clone());
        match &mut self.listener.info {
            Some(info) => place::place_of(info, world, tid, &folder),
            None => (None, Vec::new()),
        }
    }
}

impl Programs {
    /// What programs wrote to standard error; of several, with who did.
    fn complaints(&self, errors: &BTreeMap<Pid, Vec<u8>>) -> Vec<String> {
        let lines = errors.iter().flat_map(|(pid, bytes)| {
            let who = if self.workload.started.len() > 1 {
                format!("{}: ", self.listener.thread(Tid(pid.0)))
            } else {
                String::new()
            };
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().map(|line| format!("{who}{line}")).collect::<Vec<_>>()
        });
        lines.collect()
    }
}

impl Narration {
    /// Keeps what events did with files.
    fn note_uses(&mut self, told: Vec<(Event, Vec<Use>)>, step: usize) -> Vec<Event> {
        let mut events = Vec::new();
        for (event, uses) in told {
            for used in uses {
                self.uses.note(Noted { step, event: events.len(), actor: event.actor, used });
            }
            events.push(event);
        }
        events
    }

    /// What a step wrote, as text.
    fn hear_output(&mut self, printed: &[kernel::kernel::Output]) -> Option<String> {
        let mut text = Vec::new();
        for output in printed {
            if output.stream == Console::Error {
                self.errors.entry(output.pid).or_default().extend_from_slice(&output.bytes);
            }
            text.extend_from_slice(&output.bytes);
        }
        (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned())
    }
}

/// Whether an event made a thread that nobody has been told to be yet.
fn is_birth_of_thread(event: &Event) -> bool {
    event.created.is_none() && event.kind == EventKind::CreateThread
}

/// Those who wait for each other in a circle, each for the next.
fn circle(tids: &[Tid], behind: &HashMap<Tid, Tid>) -> Vec<Tid> {
    for start in tids {
        let mut way = vec![*start];
        while let Some(next) = way.last().and_then(|last| behind.get(last)) {
            if let Some(at) = way.iter().position(|tid| tid == next) {
                return way.split_off(at);
            }
            way.push(*next);
        }
    }
    Vec::new()
}

fn event(tid: Tid, kind: EventKind, text: String, location: Option<Location>) -> Event {
    Event {
        actor: tid.0,
        kind,
        text,
        location,
        changes: Vec::new(),
        message: None,
        output: None,
        failure: None,
        uninterrupted: false,
        created: None,
        is_local: false,
    }
}
