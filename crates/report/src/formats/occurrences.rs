//! The events of a trace one by one, with the steps that they belong to.

use crate::Detail;
use crate::events::event_text;
use trace::{Event, EventKind, Location, Trace};

/// An event of a trace.
pub(super) struct Occurrence<'a> {
    /// Its step, counted from 1 as everywhere.
    pub step: usize,
    /// Its number among all events of the trace.
    pub number: usize,
    /// What happened.
    pub event: &'a Event,
}

impl Occurrence<'_> {
    /// Who did it.
    pub fn actor(&self) -> u32 {
        self.event.actor
    }

    /// What happened, on one line.
    pub fn text(&self) -> String {
        crate::escape::line(&event_text(self.event))
    }

    /// `bank.c:40`.
    pub fn place(&self) -> Option<String> {
        self.event.location.as_ref().map(place_text)
    }

    /// `x: 0 -> 1`, one for each variable that changed.
    pub fn changes(&self) -> Vec<String> {
        let changes = self.event.changes.iter();
        changes.map(|change| format!("{}: {} -> {}", change.name, change.before, change.after)).collect()
    }
}

/// A place as people write it.
pub(super) fn place_text(location: &Location) -> String {
    format!("{}:{}", location.file, location.line)
}

/// The events of a trace; unless everything is wanted, those that nobody else can notice are left out.
pub(super) fn occurrences(trace: &Trace, detail: Detail) -> Vec<Occurrence<'_>> {
    let mut all = Vec::new();
    let mut first = 0;
    for (index, step) in trace.steps.iter().enumerate() {
        let is_local = step.is_local == Some(true);
        let events = (first..).zip(&step.events);
        let shown = events.filter(|(_, event)| detail == Detail::Full || !(is_local || is_quiet(event)));
        all.extend(shown.map(|(number, event)| Occurrence { step: index + 1, number, event }));
        first += step.events.len();
    }
    all
}

/// Whether only its own actor can notice an event.
fn is_quiet(event: &Event) -> bool {
    event.is_local || event.kind == EventKind::Local
}

/// Who occurs, in the order of the trace's own list; those that it does not name come last.
pub(super) fn actors(trace: &Trace, all: &[Occurrence<'_>]) -> Vec<u32> {
    let mut actors: Vec<u32> = Vec::new();
    let occurs = |actor: &u32| all.iter().any(|one| one.actor() == *actor);
    let named = trace.actors.iter().map(|known| known.actor).filter(occurs);
    for actor in named.chain(all.iter().map(Occurrence::actor)) {
        if !actors.contains(&actor) {
            actors.push(actor);
        }
    }
    actors
}
