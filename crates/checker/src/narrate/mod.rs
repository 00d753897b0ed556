//! The story of a counterexample: its schedule executed once more, each step told as events, which are data; `report` makes the
//! words.
//!
//! Nothing is told that was not executed here. Whoever compares the failure and the fingerprint at the end with what a search
//! has found knows that the story is that of the failure.

mod calls;
mod changes;
mod conversation;
mod disk;
mod files;
mod fold;
mod growth;
mod guest;
mod hear;
mod heard;
mod inline_locks;
mod inventory;
pub mod listener;
mod names;
pub(crate) mod narrator;
mod operations;
mod origins;
mod passages;
mod peer_waits;
mod place;
pub mod program_replay;
pub mod races;

pub use growth::Growth;
pub use heard::HeardEvent;
pub use listener::Listener;

use crate::store_buffer::drained_thread;
use crate::system::choice::TIME;
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use debuginfo::DebugInfo;
use explore::graph::{FootprintSystem, Reached};
use explore::system::Failure;
use files::{Noted, Use, Uses};
use kernel::descriptor::Console;
use kernel::{Pid, Tid};
use std::collections::BTreeMap;
use trace::{ActorName, Change, Choice, Event, EventKind, Location, MistakenFile, Trace, TraceStep, Waiting};

/// The name of the actor whose steps are what happens to programs, as in models.
const FAULTS: &str = "faults";

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
    /// A file that was not what somebody took it for.
    pub mistaken: Option<MistakenFile>,
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
        self.narrator().name_threads(&mut story.told.trace);
        story.told.failure = reached.stuck.clone();
        let mut states = vec![reached.state.clone()];
        for (index, choice) in schedule.iter().enumerate() {
            reached = self.tell_step(&mut story, &reached, *choice, index + 1)?;
            states.push(reached.state.clone());
        }
        self.tell_inline_locks(&mut story, &states);
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
        let delivered = self.narrator().delivery_event(choice);
        let fault = self.narrator().fault_event(choice);
        let taken = self.step(&before.state, choice)?;
        let watched = self.workload.watched_changes(&self.state, watched);
        let heard = std::mem::take(&mut self.listener.heard);
        let started = self.narrator().name_threads(&mut story.told.trace);
        story.told.stack = heard.last().map(|heard| heard.stack.clone()).unwrap_or_default();
        let mut events = story.note_uses(self.narrator().events(choice, heard), number);
        if choice.actor == TIME {
            events.push(self.narrator().time_event(before, since));
        }
        if let Some(tid) = drained_thread(choice.actor) {
            story.name_actor(choice.actor, format!("store buffer of {}", self.listener.thread(tid)));
        }
        if let Some(event) = fault {
            story.name_actor(choice.actor, FAULTS.to_owned());
            events.push(event);
        }
        if let Some((name, event)) = delivered {
            story.name_actor(choice.actor, name);
            events.push(event);
        }
        let changes = self.narrator().lock_changes(&holders, number);
        let values = self.value_changes(&before.state, &taken);
        self.tell_write(&mut events, &values, (&before.state, &taken.reached.state));
        self.narrator().tell_births(&mut events, choice, &started);
        let last = events.last_mut().expect("there is always one");
        let is_new = |change: &Change| !watched.contains(change);
        // Values say more than locks where there is no room for both.
        last.changes.extend(values.into_iter().filter(is_new));
        last.changes.extend(watched.into_iter().chain(changes));
        let printing = events.iter().rposition(|event| event.kind.prints()).unwrap_or(events.len() - 1);
        events[printing].output = story.hear_output(&self.printed);
        story.told.failure = taken.failure.clone().or_else(|| taken.reached.stuck.clone());
        let is_silent = |event: &Event| event.changes.is_empty() && event.output.is_none() && event.created.is_none();
        let is_local = events.iter().all(|event| event.kind == EventKind::Local && is_silent(event));
        story.told.trace.steps.push(TraceStep { choice, events, is_local: Some(is_local) });
        Some(taken.reached)
    }

    /// Tells an atomic write: it is no operation of a library, and no access that a thread stops at, so nothing was heard.
    fn tell_write(&mut self, events: &mut [Event], values: &[Change], (before, after): (&Snapshot, &Snapshot)) {
        if let ([event], [change, ..]) = (events, values)
            && event.kind == EventKind::Local
        {
            self.load(before);
            event.location = self.narrator().place(Tid(event.actor)).location;
            event.kind = EventKind::Access { name: change.name.clone(), is_write: true, is_buffered: false };
            self.load(after);
        }
    }

    /// Who cannot go on at the end, and where the last one who moved is.
    fn tell_end(&mut self, story: &mut Narration, reached: &Reached<Snapshot>) {
        self.load(&reached.state);
        story.told.complaints = self.narrator().complaints(&story.errors);
        self.narrator().tell_files(story);
        let (waiting, circle) = self.narrator().waiting();
        story.told.circle = circle.into_iter().map(|tid| self.listener.thread(tid)).collect();
        story.told.waiting = waiting;
        let last = story.told.trace.steps.iter().rev().flat_map(|step| step.events.iter().rev());
        story.told.location = last.into_iter().find_map(|event| event.location.clone());
    }
}

impl Narration {
    /// Names an actor that is no thread.
    fn name_actor(&mut self, actor: u32, name: String) {
        let actors = &mut self.told.trace.actors;
        if actors.iter().all(|known| known.actor != actor) {
            actors.push(ActorName { actor, name });
        }
    }

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
