//! From a violation to a counterexample: shortened, executed again, and described.
//!
//! **Invariant:** nothing is told as a violation that was not executed again, step by step, from
//! the initial state, without a store, a reduction or a memo. A violation that does not come out
//! again is our bug, and is told as one.

use explore::Violation;
use replay::{Budget, Mismatch, Replayable, Timeline, confirm_finite, fails_with, run, shorten};
use std::time::{SystemTime, UNIX_EPOCH};
use trace::{
    Counterexample, Event, FailureKind, Location, PropertyRef, Schedule, SystemRef, Trace, VERSION, Variable, Waiting,
};

/// Steps that shortening may execute: well under a second.
pub const SHORTENING: Budget = Budget { work: 200_000 };
/// Schedules longer than this are not shortened: each attempt would eat the whole budget.
const SHORTENED_MAX: usize = 20_000;

/// A system whose states can be described to people.
pub trait Describe: Replayable {
    /// Everything that has a name, with its value.
    fn variables(&mut self, state: &Self::State) -> Vec<Variable>;

    /// Who cannot go on, and why.
    fn waiting(&mut self, state: &Self::State) -> Vec<Waiting>;
}

/// What is known about a counterexample before it is executed again.
pub struct Claim<'a> {
    /// What was checked.
    pub system: &'a SystemRef,
    /// What does not hold.
    pub property: PropertyRef,
    /// Why, in one line.
    pub message: String,
    /// Whether only weakly fair runs count.
    pub fairness: bool,
    /// What to point at; the last step, if nothing better is known.
    pub location: Option<Location>,
}

impl Claim<'_> {
    /// The counterexample that a trace is, of a model or of programs: everything that is not about its last state.
    pub fn shown_by(self, schedule: Schedule, trace: Trace) -> Counterexample {
        Counterexample {
            version: VERSION,
            id: String::new(),
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            tool: concat!("allways ", env!("CARGO_PKG_VERSION")).to_owned(),
            system: self.system.clone(),
            property: self.property,
            message: self.message,
            location: self.location,
            fairness: self.fairness,
            schedule,
            trace,
            final_state: Vec::new(),
            wait_for: Vec::new(),
            notes: Vec::new(),
            programs: None,
            is_driven: false,
        }
    }
}

/// A counterexample of a finite violation: a failed step or a stuck state.
///
/// # Errors
/// If it does not show its failure again, which is our bug and never the user's.
pub fn finite<R: Describe>(
    system: &mut R,
    system_ref: &SystemRef,
    violation: &Violation,
    budget: Budget,
) -> Result<Counterexample, Mismatch> {
    let failure = &violation.failure;
    let short = match violation.schedule.choices.len() {
        0..SHORTENED_MAX => shorten(system, &violation.schedule, budget, &mut fails_with(failure)),
        _ => violation.schedule.clone(),
    };
    let trace = confirm_finite(system, &short, failure)?;
    let property = PropertyRef { name: failure.kind.to_string(), kind: failure.kind };
    let message = failure.message.clone();
    let claim = Claim { system: system_ref, property, message, fairness: false, location: None };
    describe(system, claim, short, trace)
}

/// Puts together a counterexample that was confirmed.
///
/// # Errors
/// If its schedule cannot be executed.
pub fn describe<R: Describe>(
    system: &mut R,
    claim: Claim<'_>,
    schedule: Schedule,
    mut trace: Trace,
) -> Result<Counterexample, Mismatch> {
    let run = run(system, &schedule)?;
    let end = &run.states[run.states.len() - 1];
    let mut final_state = system.variables(end);
    undo(&mut final_state, &cut_at_failure(&mut trace, &claim.message));
    let is_deadlock = claim.property.kind == FailureKind::Deadlock;
    let last = trace.steps.last().and_then(|step| step.events.last()).and_then(|event| event.location.clone());
    let wait_for = if is_deadlock { system.waiting(end) } else { Vec::new() };
    let location = claim.location.clone().or(if is_deadlock { None } else { last });
    Ok(Counterexample { final_state, wait_for, ..Claim { location, ..claim }.shown_by(schedule, trace) })
}

/// Ends a trace with the statement that failed, also where an atomic sequence went on after it; gives what was cut off.
///
/// An atomic sequence is one step of the search and goes on after a failed assertion; people want
/// to see the state in which it failed.
pub fn cut_at_failure(trace: &mut Trace, message: &str) -> Vec<Event> {
    if trace.cycle_start.is_some() {
        return Vec::new();
    }
    let Some(events) = trace.steps.last_mut().map(|step| &mut step.events) else { return Vec::new() };
    match events.iter().position(|event| event.failure.as_deref() == Some(message)) {
        Some(failed) => events.split_off(failed + 1),
        None => Vec::new(),
    }
}

/// Takes back what events changed.
fn undo(variables: &mut [Variable], events: &[Event]) {
    for change in events.iter().rev().flat_map(|event| &event.changes) {
        if let Some(variable) = variables.iter_mut().find(|variable| variable.name == change.name) {
            variable.value.clone_from(&change.before);
        }
    }
}

/// Every variable, one a line.
pub fn state_text<R: Describe>(timeline: &mut Timeline<'_, R>) -> String {
    let (system, state) = timeline.at_mark();
    let variables = system.variables(state);
    variables.iter().map(|variable| format!("    {} = {}\n", variable.name, variable.value)).collect()
}
