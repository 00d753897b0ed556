//! The execution under way: its events, and what happened before what.

use super::clock::Clock;
use crate::graph::{Access, Actor};
use std::collections::HashMap;

/// A step of the execution; actors by their dense numbers.
#[derive(Clone, Debug)]
pub struct Event {
    /// Who.
    pub actor: u32,
    /// Which of its choices.
    pub index: u32,
    /// The how-manieth event of its actor, from 1.
    pub number: u32,
    /// What it touched; sorted, one entry for each object.
    pub accesses: Vec<Access>,
    /// What happened before it, itself included.
    pub clock: Clock,
}

impl Event {
    /// Whether this event happened before, or is, the one with the given past.
    #[must_use]
    pub fn is_in(&self, past: &Clock) -> bool {
        past.of(self.actor) >= self.number
    }

    /// What stands for an event and its past.
    fn identity(&self) -> u128 {
        let past = self.clock.counts();
        let length = past.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        let words = [self.actor, self.index, self.number].into_iter().chain(past[..length].iter().copied());
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        twox_hash::XxHash3_128::oneshot(&bytes)
    }
}

/// The execution under way.
#[derive(Default)]
pub struct Run {
    /// Its events, first to last.
    pub events: Vec<Event>,
    /// Events by object: those that write, those that read.
    objects: HashMap<u64, [Vec<usize>; 2]>,
    /// Events by actor.
    own: Vec<Vec<usize>>,
    /// What is in an actor's past before its first event: its creation. Told with how many events there were then.
    born: Vec<Option<(usize, Clock)>>,
    /// Events that let an actor go on.
    let_go: Vec<Vec<usize>>,
}

/// Sorts, and keeps one entry for each object: the strongest.
pub fn normalise(accesses: &mut Vec<Access>) {
    accesses.sort_unstable();
    accesses.dedup_by(|later, earlier| {
        let same = later.object == earlier.object;
        if same {
            earlier.write |= later.write;
            earlier.plain |= later.plain;
        }
        same
    });
}

/// Whether the order of two steps with these touches matters; both are sorted.
pub fn conflict(one: &[Access], other: &[Access]) -> bool {
    let (mut left, mut right) = (0, 0);
    while let (Some(a), Some(b)) = (one.get(left), other.get(right)) {
        if a.object == b.object && (a.write || b.write) {
            return true;
        }
        left += usize::from(a.object <= b.object);
        right += usize::from(b.object <= a.object);
    }
    false
}

impl Run {
    /// Its steps: who, and which of its choices.
    #[must_use]
    pub fn way(&self) -> Vec<(u32, u32)> {
        self.events.iter().map(|event| (event.actor, event.index)).collect()
    }

    fn room(&mut self, actor: u32) {
        let length = self.own.len().max(actor as usize + 1);
        self.own.resize_with(length, Vec::new);
        self.born.resize_with(length, || None);
        self.let_go.resize_with(length, Vec::new);
    }

    /// Whoever is there now for the first time was created by the last event; whoever can move now and could not before
    /// was let go by it.
    pub fn meet(&mut self, before: &[(u32, Actor)], now: &[(u32, Actor)]) {
        for (dense, actor) in now {
            self.room(*dense);
            let slot = *dense as usize;
            if self.born[slot].is_none() {
                let past = self.events.last().map_or_else(Clock::default, |event| event.clock.clone());
                self.born[slot] = Some((self.events.len(), past));
            }
            let waited = before.iter().any(|(other, actor)| other == dense && actor.choices == 0);
            if waited && actor.choices > 0 {
                self.let_go[slot].push(self.events.len() - 1);
            }
        }
    }

    /// What is in the past of an actor's next step whatever it does: what is in the past of its last one.
    pub fn past(&self, actor: u32) -> Clock {
        match self.own.get(actor as usize).and_then(|own| own.last()) {
            Some(last) => self.events[*last].clock.clone(),
            None => self
                .born
                .get(actor as usize)
                .and_then(Option::as_ref)
                .map_or_else(Clock::default, |born| born.1.clone()),
        }
    }

    /// The last event of an actor.
    pub fn last_of(&self, actor: u32) -> Option<usize> {
        self.own.get(actor as usize).and_then(|own| own.last()).copied()
    }

    /// Events of others that conflict with these touches, in order.
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

    /// An event that may be added: `conflicting` are the events whose order with it matters.
    pub fn event(&self, actor: u32, index: u32, accesses: Vec<Access>, conflicting: &[usize]) -> Event {
        let mut clock = self.past(actor);
        let last = self.last_of(actor);
        let lets_go = self.let_go.get(actor as usize).into_iter().flatten().filter(|event| last < Some(**event));
        conflicting.iter().chain(lets_go).for_each(|event| clock.join(&self.events[*event].clock));
        let number = self.own.get(actor as usize).map_or(0, Vec::len) as u32 + 1;
        clock.set(actor, number);
        Event { actor, index, number, accesses, clock }
    }

    /// Adds a step with what it touched.
    pub fn take(&mut self, actor: u32, index: u32, mut accesses: Vec<Access>) {
        normalise(&mut accesses);
        let conflicting = self.conflicting(actor, &accesses);
        let event = self.event(actor, index, accesses, &conflicting);
        self.push(event);
    }

    /// What stands for the class of schedules that this one belongs to: equal for all that differ only in the order of steps
    /// that do not conflict.
    pub fn class(&self) -> u128 {
        self.events.iter().fold(0, |sum, event| sum.wrapping_add(event.identity()))
    }

    /// What stands for the last event and everything in its past.
    pub fn class_of_last(&self) -> u128 {
        let Some(last) = self.events.last() else { return 0 };
        let past = self.events.iter().filter(|event| event.is_in(&last.clock));
        past.fold(0, |sum, event| sum.wrapping_add(event.identity()))
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        let place = self.events.len();
        self.room(event.actor);
        self.own[event.actor as usize].push(place);
        for access in &event.accesses {
            self.objects.entry(access.object).or_default()[usize::from(!access.write)].push(place);
        }
        self.events.push(event);
    }

    /// Takes the last event back, with everything that it brought about.
    pub fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop()?;
        let left = self.events.len();
        self.own[event.actor as usize].pop();
        for access in &event.accesses {
            self.objects.get_mut(&access.object).expect("it was touched")[usize::from(!access.write)].pop();
        }
        for born in &mut self.born {
            *born = born.take().filter(|(events, _)| *events <= left);
        }
        for events in &mut self.let_go {
            while events.last().is_some_and(|event| *event >= left) {
                events.pop();
            }
        }
        Some(event)
    }
}
