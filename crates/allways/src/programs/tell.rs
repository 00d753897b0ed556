//! A told schedule as a counterexample: what it says in one line, and where it points to.

use super::last_words::LastWords;
use super::record::command_line;
use crate::evidence::{Claim, Describe};
use checker::named;
use checker::narrate::Told;
use checker::narrate::program_replay::{Moment, ProgramReplay};
use checker::narrate::races::Shown;
use explore::graph::Race;
use explore::system::Failure;
use report::Sources;
use std::ops::Range;
use trace::{
    Call, Choice, Counterexample, EventKind, FailureKind, Location, ProgramsRef, PropertyRef, Schedule, SystemRef,
    Variable, WaitReason, Waiting,
};

/// Lines of a program's complaints that are shown.
const COMPLAINTS_MAX: usize = 4;

/// The name of the property that a failure is about.
pub fn property_name(failure: &Failure) -> String {
    failure.property.clone().unwrap_or_else(|| failure.kind.name().to_owned())
}

/// Puts a counterexample together.
pub fn counterexample(failure: &Failure, schedule: &[Choice], told: Told, record: ProgramsRef) -> Counterexample {
    let kind = failure.kind;
    let last_words = LastWords::of(kind, &told.complaints);
    let message = last_words.as_ref().map_or_else(|| message(failure, &told), |said| said.message.clone());
    let is_about_places = matches!(kind, FailureKind::Deadlock | FailureKind::Race);
    let mut notes: Vec<String> = record.never.iter().filter_map(|text| meaning(failure, text)).collect();
    notes.extend(told.mistaken.iter().flat_map(report::mistaken_notes));
    notes.extend(report::disk_notes(&told.trace));
    if matches!(kind, FailureKind::Assert | FailureKind::Crash | FailureKind::Exit | FailureKind::Misuse) {
        notes.extend(told.stack.iter().map(|frame| format!("in {frame}")));
    }
    if last_words.is_some() && kind == FailureKind::Exit {
        notes.push(failure.message.clone());
    }
    if kind != FailureKind::Deadlock {
        let said = last_words.as_ref().map_or(0..0, |said| said.lines.clone());
        notes.extend(complaints(&told.complaints, &said, &message));
    }
    notes.extend(outside(&told, kind));
    let location = last_words.and_then(|said| said.location).or(told.location);
    let (location, wait_for) = if is_about_places { (None, told.waiting) } else { (location, Vec::new()) };
    let property = PropertyRef { name: property_name(failure), kind };
    let claim = Claim { system: &system(&record), property, message, fairness: false, location };
    let schedule = Schedule { choices: schedule.to_vec(), cycle_start: None };
    Counterexample { wait_for, notes, programs: Some(record), ..claim.shown_by(schedule, told.trace) }
}

/// The last lines that programs wrote to standard error, without those that are told already.
fn complaints(all: &[String], said: &Range<usize>, message: &str) -> Vec<String> {
    let is_new =
        |(index, line): &(usize, &String)| !said.contains(index) && *line != message && !line.trim().is_empty();
    let new: Vec<&String> = all.iter().enumerate().filter(is_new).map(|(_, line)| line).collect();
    let first = new.len().saturating_sub(COMPLAINTS_MAX);
    new[first..].iter().map(|line| format!("standard error: {line}")).collect()
}

/// What was checked.
pub fn system(record: &ProgramsRef) -> SystemRef {
    SystemRef {
        kind: "programs".to_owned(),
        file: record.services.iter().map(command_line).collect::<Vec<_>>().join(" + "),
        fingerprint: record.files.iter().map(|file| file.fingerprint.as_str()).collect::<Vec<_>>().join(" "),
        ..SystemRef::default()
    }
}

/// What a name stands for that has become true.
fn meaning(failure: &Failure, text: &str) -> Option<String> {
    let (name, meaning) = named(text);
    let is_meant = failure.kind == FailureKind::Never && name != meaning && property_name(failure) == name;
    is_meant.then(|| format!("{name} means {meaning}"))
}

/// What programs meet that is different outside: how a call shows it, and what to do about it.
type Outside = (fn(&Call) -> bool, &'static str);
/// The commonest reasons why a program that works outside fails in a check, each with the flag that
/// changes it.
const OUTSIDE: [Outside; 3] = [
    (
        |call| matches!(call.error(), Some("ENETUNREACH" | "EHOSTUNREACH")),
        "programs reach each other only: start the other side in the same check (./server + ./client)",
    ),
    (Call::is_end_of_input, "standard input is empty: --stdin FILE gives programs something to read"),
    (|call| call.path() == Some("/dev/tty") && call.error() == Some("ENXIO"), "there is no terminal"),
];

/// Why a program met something else than it does outside.
fn outside(told: &Told, kind: FailureKind) -> Vec<String> {
    if !matches!(kind, FailureKind::Exit | FailureKind::Assert | FailureKind::Crash) {
        return Vec::new();
    }
    let events: Vec<&trace::Event> = told.trace.steps.iter().flat_map(|step| &step.events).collect();
    let hints = OUTSIDE.iter().filter_map(|(is_met, help)| {
        let event = events.iter().find(|event| event.kind.call().is_some_and(is_met))?;
        Some(format!("{}: {help}", report::event_text(event)))
    });
    hints.chain(told.missing.iter().find_map(|path| undeclared(path))).collect()
}

/// A file that is there, but not for programs that are checked.
fn undeclared(path: &str) -> Option<String> {
    let is_there = path.starts_with('/') && !path.starts_with("/proc") && std::path::Path::new(path).exists();
    is_there.then(|| format!("{path} is there, but programs do not see it: --root {path} lets them read it"))
}

/// One line for people.
///
/// A cycle of waiting threads is told as one; without a cycle (somebody waits for what nobody does)
/// only who waits.
fn message(failure: &Failure, told: &Told) -> String {
    match failure.kind {
        FailureKind::Deadlock if told.circle.len() > 1 => {
            let next = told.circle.iter().cycle().skip(1);
            let waits = told.circle.iter().zip(next).map(|(who, whom)| format!("{who} for {whom}"));
            waits.collect::<Vec<_>>().join(", ").replacen(" for ", " waits for ", 1)
        }
        // There was no time to tell who waits.
        FailureKind::Deadlock if told.waiting.is_empty() => failure.message.clone(),
        FailureKind::Deadlock => {
            let names = told.waiting.iter().map(|waiting| told.trace.name(waiting.actor));
            let names: Vec<String> = names.collect();
            format!("{} {} for ever", names.join(", "), if names.len() == 1 { "waits" } else { "wait" })
        }
        FailureKind::Assert if !has_assertion(told) => {
            // Not our words, but the program's: what it says of itself before it aborts.
            let said = told.complaints.iter().rev().find(|line| line.contains("ssert"));
            said.or(told.complaints.last()).unwrap_or(&failure.message).clone()
        }
        _ => failure.message.clone(),
    }
}

/// Whether an assertion of the C library has failed in the last step; otherwise the program has aborted.
fn has_assertion(told: &Told) -> bool {
    let last = told.trace.steps.last();
    last.is_some_and(|step| step.events.iter().any(|event| event.kind == EventKind::Assertion))
}

/// Both sides of a race, in one line.
pub fn race_message(race: &Race, shown: &Shown) -> String {
    let name = match &shown.variable {
        Some(variable) => variable.to_string(),
        None => format!("{:#x}", shown.place.1),
    };
    match (race.one.1, race.other.1) {
        (true, true) => format!("{name} is written by two threads without synchronisation"),
        _ => format!("{name} is read and written without synchronisation"),
    }
}

/// What a reader should know who does not find an error.
pub fn race_notes(shown: &Shown) -> Vec<String> {
    match &shown.variable {
        Some(variable) if !variable.type_name.is_empty() => Vec::new(),
        _ => vec!["no debug information tells its type: if it is an atomic variable, this is no error".to_owned()],
    }
}

/// Points at the two accesses instead of at who waits.
///
/// The schedule of a race ends with the two accesses, one step each: `way` is the number of steps
/// before them.
pub fn race_sides(told: &mut Told, race: &Race, way: usize) {
    let sides = told.trace.steps.iter().skip(way).zip([race.one.1, race.other.1]);
    let side = |(step, write): (&trace::TraceStep, bool)| {
        let last = step.events.iter().find(|event| event.location.is_some()).or(step.events.last())?;
        Some((step.choice.actor, write, last.location.clone()))
    };
    let sides: Vec<(u32, bool, Option<Location>)> = sides.filter_map(side).collect();
    let others = sides.iter().rev().map(|(actor, ..)| told.trace.name(*actor));
    let waiting = sides.iter().zip(others).map(|((actor, is_write, location), other)| {
        let reason = WaitReason::Races { is_write: *is_write, other };
        Waiting { actor: *actor, reason, text: String::new(), location: location.clone() }
    });
    told.waiting = waiting.collect();
}

/// Reads the source files that a counterexample points into, and fits its marks to the lines.
pub fn add_sources(counterexample: &mut Counterexample, sources: &mut Sources) {
    let waiting = counterexample.wait_for.iter_mut().filter_map(|waiting| waiting.location.as_mut());
    for location in waiting.chain(&mut counterexample.location) {
        if sources.line(&location.file, 1).is_none()
            && let Ok(text) = crate::careful::source(std::path::Path::new(&location.file))
        {
            sources.add(location.file.as_str(), text);
        }
        fit(location, sources);
    }
}

/// Where an expression begins whose operator compilers point at: at its first operand.
///
/// DWARF lines of gcc point at the operator of an assignment; a reader looks for the statement.
fn operand(column: usize, line: &str) -> usize {
    let letters: Vec<char> = line.chars().collect();
    if letters.get(column).is_none_or(|letter| letter.is_alphanumeric() || "_(".contains(*letter)) {
        return column;
    }
    let is_part = |letter: &&char| letter.is_alphanumeric() || "_.[]->".contains(**letter);
    let blanks = letters[..column].iter().rev().take_while(|letter| letter.is_whitespace()).count();
    let before = &letters[..column - blanks];
    before.len() - before.iter().rev().take_while(is_part).count()
}

/// Marks the statement, from where the compiler says it is, or the whole line.
fn fit(location: &mut Location, sources: &Sources) {
    let Some(line) = sources.line(&location.file, location.line) else {
        location.width = location.width.max(1);
        return;
    };
    if location.width > 0 {
        return;
    }
    let blank = line.chars().take_while(|letter| letter.is_whitespace()).count();
    let first = operand((location.column as usize).saturating_sub(1), line).max(blank);
    let rest = line.chars().skip(first).collect::<String>();
    let end = rest.find(';').unwrap_or(rest.trim_end().len());
    location.column = first as u32 + 1;
    location.width = rest[..end].chars().count().max(1) as u32;
}

impl Describe for ProgramReplay<'_> {
    fn variables(&mut self, moment: &Moment) -> Vec<Variable> {
        ProgramReplay::variables(self, moment)
    }

    fn waiting(&mut self, moment: &Moment) -> Vec<Waiting> {
        ProgramReplay::waiting(self, moment)
    }
}
