//! A saved counterexample of programs, executed again.
//!
//! A counterexample file may come from somebody else. **Invariant:** replaying one reads nothing of
//! the host that the user would not have declared: roots beyond the usual have to be named again,
//! and the executables must be those that were recorded, byte by byte.

use super::machines::Machines;
use super::record::{expected, gate, user};
use super::services::SERVICES_MAX;
use super::setup::{Setup, base_roots, named_roots, not_started, program_files};
use super::tell;
use super::view_ref::view_of;
use crate::args::ReplayArgs;
use crate::evidence::state_text;
use crate::exit::Exit;
use crate::interrupt::on_interrupt;
use crate::output::Output;
use checker::narrate::Told;
use checker::narrate::program_replay::ProgramReplay;
use checker::{Options, Programs, Service};
use explore::graph::Race;
use explore::{Allowance, Budget};
use kernel::host::{Host, HostFiles};
use memory::Limit;
use replay::Timeline;
use report::{Sources, counterexample_text, trace_text};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trace::{Choice, Counterexample, FailureKind, FileRef, Fingerprint, ProgramsRef, ServiceRef};
use world::Command;
use world::host::DeclaredRoots;

/// Executes a counterexample again and says whether it ends as it did.
pub fn replay(mut counterexample: Counterexample, record: &ProgramsRef, args: &ReplayArgs, output: &Output) -> Exit {
    let name = args.counterexample.as_deref().unwrap_or(&counterexample.id);
    let setup = match setup(record, &args.root, &format!("replay {name}")) {
        Ok(setup) => setup,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    let host = setup.host();
    if let Some(why) = changed(record, &host) {
        output.error(&format!("{why}\n  = help: check again: allways check -- {}", counterexample.system.file));
        return Exit::Inconclusive;
    }
    let mut programs = match start(record, &setup, host, on_interrupt()) {
        Ok(programs) => programs,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    let choices = counterexample.schedule.choices.clone();
    if let Some(step) = args.to {
        return up_to(&mut programs, &choices, step, &setup, output);
    }
    let told = programs.tell(&choices, &setup.folder());
    if programs.is_spent() {
        output.note("interrupted");
        return Exit::Interrupted;
    }
    let is_shown = |told: &Told| counterexample.is_driven || fails_again(&mut programs, &counterexample, record, told);
    let Some(told) = told.filter(is_shown) else {
        output.error("the counterexample does not show its failure again");
        output.note(&format!("  = help: check again: allways check -- {}", counterexample.system.file));
        return Exit::Inconclusive;
    };
    let is_same = format!("{:032x}", told.fingerprint) == record.end;
    counterexample.trace = trace::Trace { cycle_start: counterexample.schedule.cycle_start, ..told.trace };
    let mut sources = Sources::default();
    tell::add_sources(&mut counterexample, &mut sources);
    output.data(&counterexample_text(&counterexample, &sources, &output.layout));
    match counterexample.is_driven {
        true => Exit::Fine,
        false => say_whether_same(is_same, record, output),
    }
}

fn say_whether_same(is_same: bool, record: &ProgramsRef, output: &Output) -> Exit {
    if is_same {
        output.note(&format!("replayed: the same failure in the same state (fingerprint {})", record.end));
        return Exit::Violated;
    }
    output
        .warn("the failure is the same, but not the state at the end: something else than the executables has changed");
    Exit::Violated
}

/// Starts what was started, until `stop` is set.
pub(super) fn start(
    record: &ProgramsRef,
    setup: &Setup,
    host: Arc<DeclaredRoots>,
    stop: Arc<AtomicBool>,
) -> Result<Programs, String> {
    let kinds: Vec<FailureKind> = record.checks.iter().filter_map(|name| name.parse().ok()).collect();
    let (view, awaits) = view_of(record)?;
    let budget = Budget::new(stop, Allowance::default());
    let options = Options { budget, input: setup.stdin[..].into(), ..view.checker_options(&kinds, awaits) };
    let started = Programs::start_services(Host(host), Limit::default(), &setup.services, options);
    let mut programs = started.map_err(|error| not_started(&error))?;
    for text in &view.never {
        programs.forbid(text).map_err(|problem| format!("cannot read the proposition `{text}`: {problem}"))?;
    }
    for text in &view.finally {
        programs.demand(text).map_err(|problem| format!("cannot read the proposition `{text}`: {problem}"))?;
    }
    for text in &view.formulas {
        programs.add_formula(text).map_err(|problem| format!("cannot read the formula `{text}`: {problem}"))?;
    }
    programs.add_recorded(&record.peers)?;
    view.place(&mut programs)?;
    programs.know(&record.knowledge);
    Ok(programs)
}

/// Whether the same thing goes wrong again.
///
/// By kind: a race by its two accesses, a livelock by the same state at both ends of the cycle, all
/// else by kind and name of the failed property.
fn fails_again(programs: &mut Programs, saved: &Counterexample, record: &ProgramsRef, told: &Told) -> bool {
    if let Some(race) = &record.race {
        let choices = &saved.schedule.choices;
        let way = &choices[..choices.len().saturating_sub(2)];
        let side = |side: &(Choice, bool)| (side.0.actor, side.1);
        let race = Race { object: race.object, plain: true, one: side(&race.one), other: side(&race.other) };
        return programs.show_race(&race, way).is_some();
    }
    if saved.property.kind == FailureKind::Ltl {
        let formula = programs.formulas().iter().find(|formula| formula.name == saved.property.name).cloned();
        return formula.is_some_and(|formula| programs.refutes(&formula, &saved.schedule));
    }
    if let Some(start) = saved.schedule.cycle_start {
        let stem = programs.tell(&saved.schedule.choices[..start.min(saved.schedule.choices.len())], "");
        return stem.is_some_and(|stem| stem.fingerprint == told.fingerprint);
    }
    let is_from_the_start = saved.schedule.choices.is_empty() && saved.property.kind == FailureKind::Never;
    if is_from_the_start {
        return programs.forbidden_from_the_start().is_some();
    }
    told.failure.as_ref().is_some_and(|failure| {
        failure.kind == saved.property.kind && tell::property_name(failure) == saved.property.name
    })
}

/// The first steps, and who waits after them.
fn up_to(programs: &mut Programs, choices: &[Choice], step: usize, setup: &Setup, output: &Output) -> Exit {
    let Some(first) = choices.get(..step) else {
        output.error(&format!("step {step} does not exist: the counterexample has {}", choices.len()));
        return Exit::Usage;
    };
    let Some(told) = programs.tell(first, &setup.folder()) else {
        output.error("the schedule cannot be executed: these are other programs");
        return Exit::Inconclusive;
    };
    output.data(&trace_text(&told.trace, &output.layout));
    output.data(&format!("\nafter step {step} of {}:\n", choices.len()));
    for waiting in &told.waiting {
        let place = waiting.location.as_ref().map(|place| format!(" at {}:{}", place.file, place.line));
        output.data(&format!("  {}{}\n", told.trace.name(waiting.actor), place.unwrap_or_default()));
    }
    let mut replayed = ProgramReplay::new(programs, &setup.folder());
    let mut timeline = Timeline::new(&mut replayed, choices.to_vec());
    if timeline.go_to(step).is_ok() {
        output.data(&state_text(&mut timeline));
    }
    Exit::Fine
}

/// What was started, as the file says. Anybody may have written it: what it wants to read beyond the usual, the user names.
/// `verb` is the command to repeat with what is missing.
pub(super) fn setup(record: &ProgramsRef, given: &[PathBuf], verb: &str) -> Result<Setup, String> {
    if record.services.len() > SERVICES_MAX {
        return Err(format!(
            "the counterexample starts {} programs: at most {SERVICES_MAX} can be",
            record.services.len()
        ));
    }
    let here = std::env::current_dir().map_err(|error| format!("cannot find the working directory: {error}"))?;
    let named = named_roots(given)?;
    let allowed: Vec<PathBuf> = base_roots(&here).into_iter().chain(named.iter().cloned()).collect();
    let wanted = record.roots.iter().map(PathBuf::from);
    let beyond: Vec<PathBuf> = wanted.filter(|root| !allowed.iter().any(|allowed| root.starts_with(allowed))).collect();
    if !beyond.is_empty() {
        let flags: Vec<String> = beyond.iter().map(|root| format!("--root {}", root.display())).collect();
        let names: Vec<String> = beyond.iter().map(|root| format!("`{}`", root.display())).collect();
        return Err(format!(
            "the counterexample lets its programs read {}\n  = help: if that is what you want: allways {verb} {}",
            names.join(", "),
            flags.join(" ")
        ));
    }
    let bytes = |texts: &[String]| texts.iter().map(|text| text.clone().into_bytes()).collect();
    let command = |service: &ServiceRef| Command {
        arguments: bytes(&service.arguments),
        environment: bytes(&service.environment),
        directory: service.directory.clone().into_bytes(),
        user: service.user.as_ref().map(user),
    };
    let services = record.services.iter().map(|service| Service {
        name: service.name.clone(),
        command: command(service),
        after: service.after.iter().filter_map(|text| gate(text)).collect(),
        expected: expected(&service.expected),
    });
    let services: Vec<Service> = services.collect();
    // Files of a home that were seen because they were named must be named again.
    let own = program_files(&services).into_iter().filter(|file| allowed.iter().any(|root| file.starts_with(root)));
    let named = named.iter().cloned().chain(own).collect();
    let roots = record.roots.iter().map(PathBuf::from).collect();
    let machines = Machines::recorded(&record.hosts)?;
    Ok(Setup { services, roots, named, stdin: record.stdin.clone(), machines, ..Setup::default() })
}

/// Why the schedule means nothing any more: an executable is another one.
///
/// By content, not by time or size: a rebuild that gives the same bytes is the same program.
pub(super) fn changed(record: &ProgramsRef, host: &DeclaredRoots) -> Option<String> {
    record.files.iter().find_map(|FileRef { path, fingerprint }| match host.content(path.as_bytes()) {
        None => Some(format!("`{path}`, which this counterexample needs, is no file that its programs can read")),
        Some(content) if Fingerprint::new().with(&content).to_string() != *fingerprint => Some(format!(
            "`{path}` has changed since this counterexample was found: its schedule means nothing to another program"
        )),
        Some(_) => None,
    })
}
