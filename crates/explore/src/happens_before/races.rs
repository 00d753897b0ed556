//! Races of an execution: a late step and an earlier event that are dependent, and that no other event orders.

use super::clock::Clock;
use super::execution::{DenseSchedule, Event, Execution};
use crate::actor_ids::ActorIds;
use crate::footprint::Access;
use crate::race::{Race, races_between};
use std::collections::BTreeMap;
use trace::Choice;

/// Races, each with a schedule to a state in which both accesses are pending.
pub type Races = BTreeMap<Race, DenseSchedule>;

/// Races and schedules with the system's own numbers of actors.
pub fn in_system_numbers(races: &Races, actors: &ActorIds) -> (Vec<Race>, Vec<Vec<Choice>>) {
    let race = |race: &Race| race.renumbered(|actor| actors.number(actor));
    let choice = |(actor, index): &(u32, u32)| Choice { actor: actors.number(*actor), index: *index };
    let schedule = |schedule: &DenseSchedule| schedule.iter().map(choice).collect();
    (races.keys().map(race).collect(), races.values().map(schedule).collect())
}

/// A step after all events of an execution, to be reordered before one of them.
pub struct LateStep<'a> {
    /// The step: executed, or pending in a blocked or ended actor.
    pub event: &'a Event,
    /// Events that it depends on.
    pub conflicting: &'a [usize],
    /// What happens before it whatever its footprint is: the past of its actor.
    pub past: Clock,
}

impl<'a> LateStep<'a> {
    /// A step after all events.
    pub fn new(execution: &Execution, event: &'a Event, conflicting: &'a [usize]) -> Self {
        Self { event, conflicting, past: execution.past(event.actor) }
    }

    /// Whether no other event orders an event before the step: the two can happen next to each other.
    pub fn is_adjacent(&self, execution: &Execution, early: usize) -> bool {
        let between = self.conflicting.iter().filter(|place| **place > early);
        self.is_unordered(execution, early)
            && !between.into_iter().any(|place| execution.events[early].is_in(&execution.events[*place].clock))
    }

    /// Whether program order and creation do not order an event before the step.
    pub fn is_unordered(&self, execution: &Execution, early: usize) -> bool {
        !execution.events[early].is_in(&self.past)
    }
}

/// Events after the one at `early` that it does not happen before.
pub fn concurrent_with(execution: &Execution, early: usize) -> Vec<usize> {
    let first = &execution.events[early];
    (early + 1..execution.events.len()).filter(|place| !first.is_in(&execution.events[*place].clock)).collect()
}

/// The execution without the event at `early` and everything that it happens before: there both that event and a late step
/// that depends on it are pending.
pub fn prefix_without(execution: &Execution, early: usize) -> DenseSchedule {
    let concurrent = concurrent_with(execution, early).into_iter().map(|place| &execution.events[place]);
    let steps = execution.events[..early].iter().chain(concurrent);
    steps.map(|event| (event.actor, event.index)).collect()
}

/// Adds the races of two steps that can happen next to each other, with the schedule to where both are pending.
pub fn add_races(
    races: &mut Races,
    one: (u32, &[Access]),
    other: (u32, &[Access]),
    schedule: impl Fn() -> DenseSchedule,
) {
    for race in races_between(one, other) {
        races.entry(race).or_insert_with(&schedule);
    }
}

/// Adds the races of a step that is about to be added with the events so far. `prefix` leads to where the execution begins.
pub fn races_of_step(
    execution: &Execution,
    (actor, accesses): (u32, &[Access]),
    prefix: &[(u32, u32)],
    races: &mut Races,
) {
    let conflicting = execution.conflicting(actor, accesses);
    if accesses.iter().all(|access| !access.plain) && conflicting.is_empty() {
        return;
    }
    let event = execution.event(actor, 0, accesses.to_vec(), &conflicting);
    let late = LateStep::new(execution, &event, &conflicting);
    for place in conflicting.iter().filter(|place| late.is_adjacent(execution, **place)) {
        let early = &execution.events[*place];
        let schedule = || prefix.iter().copied().chain(prefix_without(execution, *place)).collect();
        add_races(races, (early.actor, &early.accesses), (actor, accesses), schedule);
    }
}
