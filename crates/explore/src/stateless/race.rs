//! Who could have come first: events that a step could have overtaken, and whom to let move there so that it does.

use super::clock::Clock;
use super::frame::Frame;
use super::run::{Event, Run, conflict};
use crate::graph::{Access, Actors, Race};
use std::collections::BTreeMap;
use trace::Choice;

/// Races, each with the steps that lead to where both accesses come next: who, and which of its choices.
pub type Races = BTreeMap<Race, Way>;

/// Steps one after the other; actors by their dense numbers.
pub type Way = Vec<(u32, u32)>;

/// Races and ways with the system's own numbers of actors.
pub fn told(races: &Races, actors: &Actors) -> (Vec<Race>, Vec<Vec<Choice>>) {
    let number = |(actor, write): (u32, bool)| (actors.number(actor), write);
    let race = |race: &Race| Race { one: number(race.one), other: number(race.other), ..*race };
    let choice = |(actor, index): &(u32, u32)| Choice { actor: actors.number(*actor), index: *index };
    let way = |way: &Way| way.iter().map(choice).collect();
    (races.keys().map(race).collect(), races.values().map(way).collect())
}

/// A step that could have come before an event of the execution.
pub struct Late<'a> {
    /// The step: executed, or what somebody waits for.
    pub event: &'a Event,
    /// Events that conflict with it.
    pub conflicting: &'a [usize],
    /// What comes before it whatever it does.
    past: Clock,
}

impl<'a> Late<'a> {
    /// A step after everything that happened so far.
    pub fn new(run: &Run, event: &'a Event, conflicting: &'a [usize]) -> Self {
        Self { event, conflicting, past: run.past(event.actor) }
    }

    /// Events that the step could have overtaken next. An event that lies between, which the step could have overtaken
    /// itself, is overtaken first; one that had to come before it (the lock was given back) is not in the way.
    pub fn overtakes<S>(&self, run: &Run, frames: &[Frame<S>]) -> Vec<usize> {
        let free: Vec<usize> =
            self.conflicting.iter().copied().filter(|place| !run.events[*place].is_in(&self.past)).collect();
        let movable: Vec<usize> =
            free.iter().copied().filter(|place| self.could_move(run, &frames[*place], *place)).collect();
        let hidden = |early: usize| {
            let between = movable.iter().filter(|place| **place > early);
            between.into_iter().any(|place| run.events[early].is_in(&run.events[*place].clock))
        };
        free.into_iter().filter(|place| !hidden(*place)).collect()
    }

    /// Whether the step itself could have been taken just before the event at `place`.
    fn could_move<S>(&self, run: &Run, frame: &Frame<S>, place: usize) -> bool {
        run.last_of(self.event.actor).is_none_or(|last| last < place) && frame.choices(self.event.actor) > 0
    }

    /// Whether nothing at all lies between an event and the step: they can happen next to each other.
    pub fn is_next_to(&self, run: &Run, early: usize) -> bool {
        let between = self.conflicting.iter().filter(|place| **place > early);
        self.is_apart(run, early)
            && !between.into_iter().any(|place| run.events[early].is_in(&run.events[*place].clock))
    }

    /// Whether an event does not come before the step whatever happens.
    pub fn is_apart(&self, run: &Run, early: usize) -> bool {
        !run.events[early].is_in(&self.past)
    }

    /// Whether the step could not be taken before the event because its actor waits there, and goes on waiting.
    pub fn stays_put<S>(&self, run: &Run, frame: &Frame<S>, rest: &[usize]) -> bool {
        let actor = self.event.actor;
        let moves = rest.iter().any(|place| run.events[*place].actor == actor);
        let Some(waiting) = frame.find(actor) else { return false };
        let written = |place: &usize| {
            let mut accesses = run.events[*place].accesses.iter();
            accesses.any(|access| access.write && waiting.awaits.contains(&access.object))
        };
        !moves && waiting.choices == 0 && !rest.iter().any(written)
    }
}

/// Events after the one at `early` that it did not happen before.
pub fn apart(run: &Run, early: usize) -> Vec<usize> {
    let first = &run.events[early];
    (early + 1..run.events.len()).filter(|place| !first.is_in(&run.events[*place].clock)).collect()
}

/// Events among the rest that have nothing before them there: whoever could begin.
pub fn firsts<'r>(run: &'r Run, rest: &[usize]) -> Vec<&'r Event> {
    let mut firsts = Vec::new();
    for (index, place) in rest.iter().enumerate() {
        let event = &run.events[*place];
        if !rest[..index].iter().any(|earlier| run.events[*earlier].is_in(&event.clock)) {
            firsts.push(event);
        }
    }
    firsts
}

/// Whether a step that sleeps goes on sleeping when another is taken.
pub fn sleeps_on(asleep: (u32, &[Access]), event: &Event) -> bool {
    asleep.0 != event.actor && !conflict(asleep.1, &event.accesses)
}

/// All steps but the one at `early` and what depends on it: the step is next then, and so is whoever could overtake it.
pub fn way_beside(run: &Run, early: usize) -> Way {
    let steps = run.events[..early].iter().chain(apart(run, early).into_iter().map(|place| &run.events[place]));
    steps.map(|event| (event.actor, event.index)).collect()
}

/// Plain accesses of two steps that can happen next to each other, at the end of a way.
pub fn compare(races: &mut Races, one: (u32, &[Access]), other: (u32, &[Access]), way: impl Fn() -> Way) {
    for a in one.1 {
        let Ok(place) = other.1.binary_search_by_key(&a.object, |access| access.object) else { continue };
        let b = &other.1[place];
        if (a.write || b.write) && (a.plain || b.plain) {
            let (one, other) = ((one.0, a.write), (other.0, b.write));
            let plain = a.plain && b.plain;
            let race = Race { object: a.object, plain, one: one.min(other), other: one.max(other) };
            races.entry(race).or_insert_with(&way);
        }
    }
}

/// Races of a step that is about to be added with what happened so far, behind the steps that led to where that began.
pub fn note_races(run: &Run, (actor, accesses): (u32, &[Access]), led: &[(u32, u32)], races: &mut Races) {
    let conflicting = run.conflicting(actor, accesses);
    if accesses.iter().all(|access| !access.plain) && conflicting.is_empty() {
        return;
    }
    let event = run.event(actor, 0, accesses.to_vec(), &conflicting);
    let late = Late::new(run, &event, &conflicting);
    for place in conflicting.iter().filter(|place| late.is_next_to(run, **place)) {
        let early = &run.events[*place];
        let way = || led.iter().copied().chain(way_beside(run, *place)).collect();
        compare(races, (early.actor, &early.accesses), (actor, accesses), way);
    }
}
