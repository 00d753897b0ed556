//! The events of an execution, and which of them happens before which.

use super::clock::Clock;
use crate::footprint::{Access, normalise};
use crate::footprint_system::Actor;
use std::collections::HashMap;

/// Steps in order, each by the dense number of its actor and the index of its choice.
pub type DenseSchedule = Vec<(u32, u32)>;

/// A step of an execution; actors by their dense numbers.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its actor.
    pub actor: u32,
    /// The index of its choice.
    pub index: u32,
    /// Its number among the events of its actor, from 1.
    pub number: u32,
    /// Its footprint, normalised.
    pub accesses: Vec<Access>,
    /// What happens before it, itself included.
    pub clock: Clock,
}

impl Event {
    /// Whether this event is in the given past.
    #[must_use]
    pub fn is_in(&self, past: &Clock) -> bool {
        past.of(self.actor) >= self.number
    }

    /// Fingerprint of an event with its past.
    fn fingerprint(&self) -> u128 {
        let past = self.clock.counts();
        let length = past.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        let words = [self.actor, self.index, self.number].into_iter().chain(past[..length].iter().copied());
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        twox_hash::XxHash3_128::oneshot(&bytes)
    }
}

/// An execution; events are added and taken back at its end.
///
/// Happens-before is the smallest order that contains program order, creation before the first step of what is created, a
/// step that unblocks an actor before that actor's next step, and dependent steps in the order in which they are executed.
///
/// **Invariant:** the clock of an event is the join of the clocks of everything that happens before it, so that
/// [`Event::is_in`] decides happens-before.
#[derive(Default)]
pub struct Execution {
    /// The events, first to last.
    pub events: Vec<Event>,
    /// Events by object: writes, reads.
    objects: HashMap<u64, [Vec<usize>; 2]>,
    /// Events by actor.
    own: Vec<Vec<usize>>,
    /// For each actor its past at creation, with the number of events before that.
    created: Vec<Option<(usize, Clock)>>,
    /// For each actor the events that unblocked it.
    unblocked: Vec<Vec<usize>>,
}

impl Execution {
    /// Its steps.
    #[must_use]
    pub fn schedule(&self) -> DenseSchedule {
        self.events.iter().map(|event| (event.actor, event.index)).collect()
    }

    fn make_room(&mut self, actor: u32) {
        let length = self.own.len().max(actor as usize + 1);
        self.own.resize_with(length, Vec::new);
        self.created.resize_with(length, || None);
        self.unblocked.resize_with(length, Vec::new);
    }

    /// Notes the actors of a state: the last event created those that are new, and unblocked those that were blocked in the
    /// state before it.
    pub fn reach(&mut self, before: &[(u32, Actor)], now: &[(u32, Actor)]) {
        for (dense, actor) in now {
            self.make_room(*dense);
            let slot = *dense as usize;
            if self.created[slot].is_none() {
                let past = self.events.last().map_or_else(Clock::default, |event| event.clock.clone());
                self.created[slot] = Some((self.events.len(), past));
            }
            let was_blocked = before.iter().any(|(other, actor)| other == dense && actor.choices == 0);
            if was_blocked && actor.choices > 0 {
                self.unblocked[slot].push(self.events.len() - 1);
            }
        }
    }

    /// What happens before an actor's next step whatever that step is: the past of its last event, or of its creation.
    pub fn past(&self, actor: u32) -> Clock {
        let created = || self.created.get(actor as usize).and_then(Option::as_ref).map(|(_, past)| past);
        let past = self.last_of(actor).map(|last| &self.events[last].clock).or_else(created);
        past.cloned().unwrap_or_default()
    }

    /// The last event of an actor.
    pub fn last_of(&self, actor: u32) -> Option<usize> {
        self.own.get(actor as usize).and_then(|own| own.last()).copied()
    }

    /// Events of other actors that conflict with a footprint, in order.
    pub fn conflicting(&self, actor: u32, accesses: &[Access]) -> Vec<usize> {
        let mut all = Vec::new();
        for access in accesses {
            let Some([writes, reads]) = self.objects.get(&access.object) else { continue };
            let reads: &[usize] = if access.write { reads } else { &[] };
            all.extend(writes.iter().chain(reads).filter(|event| self.events[**event].actor != actor));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The next event of an actor; `conflicting` are the events that its normalised footprint conflicts with.
    pub fn event(&self, actor: u32, index: u32, accesses: Vec<Access>, conflicting: &[usize]) -> Event {
        let mut clock = self.past(actor);
        let last = self.last_of(actor);
        let unblocking = self.unblocked.get(actor as usize).into_iter().flatten().filter(|event| last < Some(**event));
        conflicting.iter().chain(unblocking).for_each(|event| clock.join(&self.events[*event].clock));
        let number = self.own.get(actor as usize).map_or(0, Vec::len) as u32 + 1;
        clock.set(actor, number);
        Event { actor, index, number, accesses, clock }
    }

    /// Adds a step.
    pub fn take(&mut self, actor: u32, index: u32, mut accesses: Vec<Access>) {
        normalise(&mut accesses);
        let conflicting = self.conflicting(actor, &accesses);
        let event = self.event(actor, index, accesses, &conflicting);
        self.push(event);
    }

    /// Fingerprint of the trace class: equal for all schedules that differ only in the order of independent steps.
    pub fn class(&self) -> u128 {
        self.events.iter().fold(0, |sum, event| sum.wrapping_add(event.fingerprint()))
    }

    /// Fingerprint of the trace class of the last event and its past.
    pub fn class_of_last(&self) -> u128 {
        let Some(last) = self.events.last() else { return 0 };
        let past = self.events.iter().filter(|event| event.is_in(&last.clock));
        past.fold(0, |sum, event| sum.wrapping_add(event.fingerprint()))
    }

    /// Adds an event that [`Execution::event`] made for the events so far.
    ///
    /// # Panics
    /// If it is not the next event of its actor.
    pub fn push(&mut self, event: Event) {
        let place = self.events.len();
        self.make_room(event.actor);
        let own = &mut self.own[event.actor as usize];
        own.push(place);
        assert_eq!(own.len(), event.number as usize, "an event is added where it was made");
        for access in &event.accesses {
            self.objects.entry(access.object).or_default()[usize::from(!access.write)].push(place);
        }
        self.events.push(event);
    }

    /// Takes the last event back, with the creations and unblockings that it caused.
    pub fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop()?;
        let left = self.events.len();
        self.own[event.actor as usize].pop();
        for access in &event.accesses {
            self.objects.get_mut(&access.object).expect("a footprint is indexed")[usize::from(!access.write)].pop();
        }
        for created in &mut self.created {
            *created = created.take().filter(|(events, _)| *events <= left);
        }
        for events in &mut self.unblocked {
            while events.last().is_some_and(|event| *event >= left) {
                events.pop();
            }
        }
        Some(event)
    }
}
