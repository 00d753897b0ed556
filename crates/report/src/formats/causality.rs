//! What came from what: the happens-before edges that a trace itself tells, and vector clocks made of them.
//!
//! **Invariant:** no edge is guessed. A receive that no send fits has none, and locks and variables count only where all
//! threads share one memory: two processes may call different things by one name.

use super::occurrences::Occurrence;
use crate::fold::is_fault;
use crate::messages::messages;
use std::collections::BTreeMap;
use trace::{Counterexample, Direction, EventKind, Message, Operation, Progress, Returned, Verb};

/// Why one event comes before another of somebody else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// A message was sent and received.
    Message,
    /// Somebody was made.
    Creation,
    /// Somebody has ended, and was waited for.
    End,
    /// A lock, semaphore or condition variable was handed over.
    Handover,
    /// Both access one variable, and one of them writes.
    Access,
}

impl Cause {
    /// As viewers show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Creation => "creation",
            Self::End => "end",
            Self::Handover => "handover",
            Self::Access => "access",
        }
    }
}

/// One event before another, by their places in the list of occurrences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    /// The earlier one.
    pub from: usize,
    /// The later one.
    pub to: usize,
    /// Why it is the later one.
    pub cause: Cause,
}

/// Operations that give something to others, and operations that take it.
const GIVES: [Verb; 5] = [Verb::Unlock, Verb::Signal, Verb::Broadcast, Verb::Give, Verb::Arrive];
const TAKES: [Verb; 9] = [
    Verb::Lock,
    Verb::TryLock,
    Verb::ReadLock,
    Verb::TryReadLock,
    Verb::WriteLock,
    Verb::TryWriteLock,
    Verb::WakeUp,
    Verb::Take,
    Verb::TryTake,
];

/// What was seen so far, by what later events refer to it with.
#[derive(Default)]
struct Seen<'a> {
    /// Who was made where.
    births: BTreeMap<u32, usize>,
    /// Where somebody was seen last.
    last: BTreeMap<u32, usize>,
    /// Messages on their way, oldest first, and where they were touched last: sent, or met by a fault.
    sent: Vec<(&'a Message, usize)>,
    /// Where a fault changed a channel last.
    disturbed: BTreeMap<&'a str, usize>,
    /// Where an object was given last.
    given: BTreeMap<&'a str, usize>,
    /// Where a variable was written last, and read since.
    written: BTreeMap<&'a str, usize>,
    read: BTreeMap<&'a str, Vec<usize>>,
}

/// The edges between different actors, in the order of the events that they lead to.
pub(super) fn edges(found: &Counterexample, all: &[Occurrence<'_>]) -> Vec<Edge> {
    let shares_memory = shares_memory(found, all);
    let transfers = transfers(found, all);
    let mut seen = Seen::default();
    let mut edges = Vec::new();
    for (to, one) in all.iter().enumerate() {
        let mut causes: Vec<(Option<usize>, Cause)> = Vec::new();
        if !seen.last.contains_key(&one.actor()) {
            causes.push((seen.births.get(&one.actor()).copied(), Cause::Creation));
        }
        causes.push((seen.message(one, to, all), Cause::Message));
        causes.extend(transfers.get(&to).into_iter().flatten().map(|from| (Some(*from), Cause::Message)));
        if is_fault(&found.trace, one.actor()) {
            causes.extend(seen.disturb(one, to).into_iter().map(|from| (Some(from), Cause::Message)));
        }
        causes.push((seen.ended(found, one), Cause::End));
        if shares_memory {
            causes.push((seen.handover(one, to), Cause::Handover));
            causes.extend(seen.access(one, to).into_iter().map(|from| (Some(from), Cause::Access)));
        }
        let foreign = |from: &usize| all[*from].actor() != one.actor();
        let told = causes.into_iter().filter_map(|(from, cause)| Some((from.filter(foreign)?, cause)));
        edges.extend(told.map(|(from, cause)| Edge { from, to, cause }));
        seen.births.extend(one.event.created.map(|made| (made, to)));
        seen.last.insert(one.actor(), to);
    }
    edges
}

/// The calls from which each call of a program has received bytes.
fn transfers(found: &Counterexample, all: &[Occurrence<'_>]) -> BTreeMap<usize, Vec<usize>> {
    let calls = all.iter().enumerate().filter(|(_, one)| one.event.kind.call().is_some());
    let places: BTreeMap<usize, usize> = calls.map(|(at, one)| (one.number, at)).collect();
    let mut transfers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for sent in messages(&found.trace) {
        let ends = places.get(&sent.from.event).zip(sent.to.and_then(|to| places.get(&to.event)));
        ends.into_iter().for_each(|(from, to)| transfers.entry(*to).or_default().push(*from));
    }
    transfers
}

/// Whether a name means the same to all threads: there is one program, and it makes no process.
fn shares_memory(found: &Counterexample, all: &[Occurrence<'_>]) -> bool {
    let is_one = found.programs.as_ref().is_some_and(|programs| programs.services.len() == 1);
    is_one && !all.iter().any(|one| one.event.kind.forks())
}

impl<'a> Seen<'a> {
    /// The send of a received message: the oldest one of the same channel and content, or the other side of a rendezvous.
    fn message(&mut self, one: &Occurrence<'a>, at: usize, all: &[Occurrence<'_>]) -> Option<usize> {
        let message = one.event.message.as_ref()?;
        if message.direction == Direction::Send {
            self.sent.push((message, at));
            return None;
        }
        let fits = |(sent, from): &(&Message, usize)| match message.partner {
            Some(partner) => all[*from].actor() == partner && all[*from].step == one.step,
            None => sent.partner.is_none() && sent.channel == message.channel && sent.fields == message.fields,
        };
        match self.sent.iter().position(fits) {
            Some(found) => Some(self.sent.remove(found).1),
            // Nobody sent it so: a fault changed or doubled it.
            None => self.disturbed.get(message.channel.as_str()).copied(),
        }
    }

    /// The sends that a fault comes after: all whose messages are in a channel that it changes. Which of them it met is not told,
    /// so all of them come to their receivers through it; it does come before whatever is received there later.
    fn disturb(&mut self, one: &Occurrence<'a>, at: usize) -> Vec<usize> {
        let mut before = Vec::new();
        for change in &one.event.changes {
            for (_, from) in self.sent.iter_mut().filter(|(message, _)| message.channel == change.name) {
                before.push(std::mem::replace(from, at));
                self.disturbed.insert(&change.name, at);
            }
        }
        before
    }

    /// The last event of somebody whose end this one waited for.
    fn ended(&self, found: &Counterexample, one: &Occurrence<'_>) -> Option<usize> {
        let actor = match &one.event.kind {
            EventKind::Operation(Operation { verb: Verb::Join | Verb::TryJoin, object: Some(name), .. }) => {
                let is_meant = |actor: &&u32| found.trace.name(**actor).split(' ').next() == Some(name);
                *self.last.keys().find(is_meant)?
            }
            EventKind::Call(call) => match &call.progress {
                Progress::Returned(Returned::Child(child)) => child.actor,
                _ => return None,
            },
            _ => return None,
        };
        self.last.get(&actor).copied()
    }

    /// Where something was given that this event takes.
    fn handover(&mut self, one: &Occurrence<'a>, at: usize) -> Option<usize> {
        let EventKind::Operation(Operation { verb, object: Some(object), .. }) = &one.event.kind else { return None };
        let from = TAKES.contains(verb).then(|| self.given.get(object.as_str()).copied()).flatten();
        if GIVES.contains(verb) {
            self.given.insert(object, at);
        }
        from
    }

    /// Accesses that this one conflicts with: the last write, and for a write the reads since.
    fn access(&mut self, one: &Occurrence<'a>, at: usize) -> Vec<usize> {
        let EventKind::Access { name, is_write, .. } = &one.event.kind else { return Vec::new() };
        let mut before: Vec<usize> = self.written.get(name.as_str()).copied().into_iter().collect();
        if *is_write {
            before.extend(self.read.remove(name.as_str()).unwrap_or_default());
            self.written.insert(name, at);
        } else {
            self.read.entry(name).or_default().push(at);
        }
        before
    }
}

/// A vector clock for each occurrence: how many events of each actor it comes after, itself included.
pub(super) fn clocks(all: &[Occurrence<'_>], edges: &[Edge]) -> Vec<BTreeMap<u32, u64>> {
    let mut clocks: Vec<BTreeMap<u32, u64>> = Vec::with_capacity(all.len());
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    // Edges come in the order of their ends, so one pass over both lists is enough.
    let mut edges = edges.iter().peekable();
    for (at, one) in all.iter().enumerate() {
        let mut clock = last.get(&one.actor()).map(|&before| clocks[before].clone()).unwrap_or_default();
        while let Some(edge) = edges.next_if(|edge| edge.to == at) {
            for (&actor, &count) in &clocks[edge.from] {
                let own = clock.entry(actor).or_default();
                *own = (*own).max(count);
            }
        }
        *clock.entry(one.actor()).or_default() += 1;
        last.insert(one.actor(), at);
        clocks.push(clock);
    }
    clocks
}
