//! Violations, schedules and outcomes as values of a journal.

use super::outcome::{Incomplete, Outcome, Stats, Violation};
use crate::journal::{Broken, Reader, Writer};
use crate::system::Failure;
use std::io;
use trace::{Choice, FailureKind, Schedule};

/// Why a search may be incomplete, by number: a place in this list is part of the format.
const INCOMPLETE: [Incomplete; 10] = [
    Incomplete::Memory,
    Incomplete::Time,
    Incomplete::DepthBound,
    Incomplete::TurnedBack,
    Incomplete::StateBound,
    Incomplete::Interrupted,
    Incomplete::Sampled,
    Incomplete::StoppedAtViolation,
    Incomplete::StoreFull,
    Incomplete::Journal,
];

/// Writes a failure.
pub fn write_failure(to: &mut Writer<'_>, failure: &Failure) -> io::Result<()> {
    to.text(failure.kind.name())?;
    to.text(&failure.message)?;
    to.bool(failure.fatal)?;
    to.bool(failure.property.is_some())?;
    to.text(failure.property.as_deref().unwrap_or_default())
}

/// Reads a failure.
pub fn failure(from: &mut Reader) -> Result<Failure, Broken> {
    let kind = from.text()?.parse::<FailureKind>();
    let kind = kind.map_err(|_| Broken::Contradictory("a kind of failure that does not exist"))?;
    let (message, fatal) = (from.text()?, from.bool()?);
    let (is_named, name) = (from.bool()?, from.text()?);
    Ok(Failure { kind, message, fatal, property: is_named.then_some(name) })
}

/// Writes choices.
pub fn write_schedule(to: &mut Writer<'_>, choices: &[Choice]) -> io::Result<()> {
    to.u64(choices.len() as u64)?;
    choices.iter().try_for_each(|choice| to.u32(choice.actor).and_then(|()| to.u32(choice.index)))
}

/// Reads choices.
pub fn schedule(from: &mut Reader) -> Result<Vec<Choice>, Broken> {
    let count = from.count(8)?;
    (0..count).map(|_| Ok(Choice { actor: from.u32()?, index: from.u32()? })).collect()
}

/// Writes a violation.
pub fn write_violation(to: &mut Writer<'_>, violation: &Violation) -> io::Result<()> {
    write_failure(to, &violation.failure)?;
    to.u128(violation.part)?;
    write_schedule(to, &violation.schedule.choices)?;
    // A lasso may have an empty stem, so no number stands for "none" but one that is too large.
    to.u64(violation.schedule.cycle_start.map_or(u64::MAX, |start| start as u64))
}

/// Reads a violation.
pub fn violation(from: &mut Reader) -> Result<Violation, Broken> {
    let (failure, part, choices) = (failure(from)?, from.u128()?, schedule(from)?);
    let cycle_start = match from.u64()? {
        u64::MAX => None,
        start if start <= choices.len() as u64 => Some(start as usize),
        _ => return Err(Broken::Contradictory("a cycle that begins behind its schedule")),
    };
    Ok(Violation { failure, part, schedule: Schedule { choices, cycle_start } })
}

/// Writes an outcome.
pub fn write_outcome(to: &mut Writer<'_>, outcome: &Outcome) -> io::Result<()> {
    to.u64(outcome.incomplete.len() as u64)?;
    for reason in &outcome.incomplete {
        let number = INCOMPLETE.iter().position(|other| other == reason).expect("all reasons are listed");
        to.u32(number as u32)?;
    }
    to.u64(outcome.violations.len() as u64)?;
    outcome.violations.iter().try_for_each(|violation| write_violation(to, violation))?;
    let Stats { depth_max, fill, workers, seconds, .. } = outcome.stats;
    numbers(&outcome.stats).into_iter().try_for_each(|number| to.u64(number))?;
    to.u32(depth_max)?;
    to.u64(fill.unwrap_or(f64::NAN).to_bits())?;
    to.u64(workers as u64)?;
    [outcome.stats.bytes_per_state, outcome.stats.collision_probability, seconds]
        .into_iter()
        .try_for_each(|number| to.u64(number.to_bits()))
}

fn numbers(stats: &Stats) -> [u64; 7] {
    let Stats { states, steps, matched, reduced, frontier_max, bytes_store, bytes_total, .. } = *stats;
    [states, steps, matched, reduced, frontier_max, bytes_store, bytes_total]
}

/// Reads an outcome.
pub fn read_outcome(from: &mut Reader) -> Result<Outcome, Broken> {
    let unknown = Broken::Contradictory("a reason that does not exist");
    let reasons = from.count(4)?;
    let reasons: Result<Vec<u32>, Broken> = (0..reasons).map(|_| from.u32()).collect();
    let reasons = reasons?.into_iter().map(|number| INCOMPLETE.get(number as usize).copied());
    let incomplete = reasons.collect::<Option<_>>().ok_or(unknown)?;
    let violations = from.count(32)?;
    let violations = (0..violations).map(|_| violation(from)).collect::<Result<_, _>>()?;
    Ok(Outcome { incomplete, violations, stats: stats(from)? })
}

fn stats(from: &mut Reader) -> Result<Stats, Broken> {
    let mut numbers = [0; 7];
    for number in &mut numbers {
        *number = from.small()?;
    }
    let [states, steps, matched, reduced, frontier_max, bytes_store, bytes_total] = numbers;
    let depth_max = from.u32()?;
    let fill = Some(f64::from_bits(from.u64()?)).filter(|fill| !fill.is_nan());
    let workers = from.small()? as usize;
    let mut fraction = || from.u64().map(f64::from_bits);
    let (bytes_per_state, collision_probability, seconds) = (fraction()?, fraction()?, fraction()?);
    Ok(Stats {
        states,
        steps,
        matched,
        reduced,
        depth_max,
        frontier_max,
        bytes_store,
        bytes_total,
        bytes_per_state,
        fill,
        collision_probability,
        workers,
        seconds,
    })
}
