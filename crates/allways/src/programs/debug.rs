//! A saved counterexample of programs, or one run of them, for a debugger: executed, and kept so that one can go back.

use super::one_run::one_run;
use super::replay::{changed, setup, start};
use super::setup::{Setup, not_started};
use crate::args::DebugArgs;
use crate::exit::Exit;
use crate::output::Output;
use crate::words;
use crate::world_args::WorldArgs;
use checker::narrate::Told;
use checker::{Options, Programs};
use debugger::script::{ScriptProcess, ScriptStep};
use debugger::{Past, Script, Target};
use kernel::host::Host;
use kernel::{Pid, Tid};
use memory::Limit;
use std::sync::Arc;
use trace::{Choice, Counterexample, Event, ProgramsRef, TraceStep};

/// Why there is nothing to debug.
struct Refused(Exit, String);

impl Refused {
    fn usage(why: String) -> Self {
        Self(Exit::Usage, why)
    }
}

/// What is debugged.
struct Subject {
    programs: Programs,
    folder: String,
    choices: Vec<Choice>,
    /// What goes wrong at the end.
    failure: String,
    /// The command that debugs it.
    command: String,
    /// Who waits at the end.
    waiting: Vec<u32>,
    /// What to do if it cannot be executed.
    help: String,
}

/// Makes a counterexample a target and hands it to whoever serves a debugger.
pub fn debug(
    counterexample: &Counterexample,
    record: &ProgramsRef,
    args: &DebugArgs,
    output: &Output,
    serve: &mut dyn FnMut(&mut Target<'_>) -> Exit,
) -> Exit {
    served(reopen(counterexample, record, args), args, output, serve)
}

/// The same for one run of programs that somebody has named.
pub fn debug_run(
    command: &str,
    args: &DebugArgs,
    output: &Output,
    serve: &mut dyn FnMut(&mut Target<'_>) -> Exit,
) -> Exit {
    served(run_once(command, args), args, output, serve)
}

/// Executes the schedule twice, once to tell it and once to record it, and serves the record.
fn served(
    subject: Result<Subject, Refused>,
    args: &DebugArgs,
    output: &Output,
    serve: &mut dyn FnMut(&mut Target<'_>) -> Exit,
) -> Exit {
    let result = subject.and_then(|mut subject| {
        let told = subject.programs.tell(&subject.choices, &subject.folder);
        let told = told.ok_or_else(|| Refused(Exit::Inconclusive, not_executed(&subject.help)))?;
        let started = subject.programs.started().to_vec();
        let past = recorded(&mut subject.programs, &subject.choices, &told)?;
        let mut script = script(&told, &past, &started);
        (script.failure, script.command) = (subject.failure, subject.command);
        let pid = chosen(args.process.as_deref(), &subject.waiting, (&past, &script))?;
        let mut target = target(past, pid, script)?;
        if let Some(step) = args.goto {
            target.go_to_step(step).map_err(Refused::usage)?;
        }
        Ok(serve(&mut target))
    });
    result.unwrap_or_else(|Refused(exit, why)| {
        output.error(&why);
        exit
    })
}

/// The programs of a counterexample, at their beginning.
fn reopen(counterexample: &Counterexample, record: &ProgramsRef, args: &DebugArgs) -> Result<Subject, Refused> {
    let name = args.counterexample.as_deref().unwrap_or(&counterexample.id);
    let setup = setup(record, &args.root, &format!("debug {name}")).map_err(Refused::usage)?;
    let host = setup.host();
    let help = format!("  = help: check again: allways check -- {}", counterexample.system.file);
    if let Some(why) = changed(record, &host) {
        return Err(Refused(Exit::Inconclusive, format!("{why}\n{help}")));
    }
    // Ctrl-C is the debugger's.
    let programs = start(record, &setup, host, Arc::default()).map_err(Refused::usage)?;
    Ok(Subject {
        programs,
        folder: setup.folder(),
        choices: counterexample.schedule.choices.clone(),
        failure: counterexample.message.clone(),
        command: format!("allways debug {}", counterexample.id),
        waiting: counterexample.wait_for.iter().map(|waiting| waiting.actor).collect(),
        help,
    })
}

/// Programs that have run once.
fn run_once(command: &str, args: &DebugArgs) -> Result<Subject, Refused> {
    let unclosed = || Refused::usage(format!("a quote is not closed in the command `{command}`"));
    let words = words::split(command).ok_or_else(unclosed)?;
    let world = WorldArgs { command: words.into_iter().map(Into::into).collect(), ..args.world() };
    let setup = Setup::new(&world).map_err(Refused::usage)?;
    let options = Options { input: setup.stdin[..].into(), ..Options::default() };
    let started = Programs::start_services(Host(setup.host()), Limit::default(), &setup.services, options);
    let mut programs = started.map_err(|error| Refused::usage(not_started(&error)))?;
    let (choices, failure) = one_run(&mut programs);
    let command = format!("allways debug --run '{command}'");
    let (folder, waiting, help) = (setup.folder(), Vec::new(), String::new());
    Ok(Subject { programs, folder, choices, failure, command, waiting, help })
}

/// The schedule ended early: files or libraries are not those of the check.
fn not_executed(help: &str) -> String {
    format!("the schedule cannot be executed again\n{help}").trim_end().to_owned()
}

/// Executes the schedule as a debugger sees it. It must end in the very state in which it ends without one.
fn recorded<'p>(programs: &'p mut Programs, choices: &[Choice], told: &Told) -> Result<Past<'p>, Refused> {
    let past = Past::record(programs, choices).map_err(|error| Refused(Exit::Inconclusive, error.to_string()))?;
    match past.end() == told.fingerprint {
        true => Ok(past),
        false => Err(Refused(Exit::Bug, "the counterexample ends in another state when it is debugged".to_owned())),
    }
}

/// The steps in the words of reports, for `monitor schedule`.
fn script(told: &Told, past: &Past<'_>, started: &[(Pid, String)]) -> Script {
    let name = |pid: &Pid| {
        let own = started.iter().find(|(started, _)| started == pid).map(|(_, name)| name.clone());
        own.unwrap_or_else(|| told.trace.name(pid.0))
    };
    Script {
        steps: told.trace.steps.iter().map(|step| script_step(step, told)).collect(),
        threads: told.trace.actors.iter().map(|actor| (actor.actor, actor.name.clone())).collect(),
        processes: past.processes().iter().map(|pid| ScriptProcess { pid: pid.0, name: name(pid) }).collect(),
        ..Script::default()
    }
}

/// One step in a line.
fn script_step(step: &TraceStep, told: &Told) -> ScriptStep {
    let texts: Vec<String> = step.events.iter().map(|event| report::event_text(event).into_owned()).collect();
    let place = step.events.iter().find_map(|event: &Event| event.location.as_ref());
    ScriptStep {
        actor: told.trace.name(step.choice.actor),
        text: texts.join("; "),
        place: place.map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default(),
    }
}

/// The process that was asked for, or the one that fails: who waits at the end, or who moved last.
fn chosen(asked: Option<&str>, waiting: &[u32], (past, script): (&Past<'_>, &Script)) -> Result<Pid, Refused> {
    let Some(asked) = asked else {
        let thread = |actor: &u32| past.world().kernel.threads.get(&Tid(*actor)).map(|thread| thread.pid);
        let waits = waiting.iter().find_map(thread);
        return waits.or_else(|| past.last_mover()).ok_or_else(|| Refused::usage("there is no process".to_owned()));
    };
    let is_asked = |process: &&ScriptProcess| process.name == asked || process.pid.to_string() == asked;
    let found = script.processes.iter().find(is_asked).map(|process| Pid(process.pid));
    found.ok_or_else(|| {
        let names = script.processes.iter().map(|process| format!("{} ({})", process.name, process.pid));
        let (names, command) = (names.collect::<Vec<_>>().join(", "), &script.command);
        let first = script.processes.first().map_or("NAME", |process| &process.name);
        let help = format!("  = help: there are {names}: {command} -p '{first}'");
        Refused::usage(format!("no process is called `{asked}`\n{help}"))
    })
}

/// The process that gdb sees. Others are debugged by a gdb of their own.
fn target(past: Past<'_>, pid: Pid, mut script: Script) -> Result<Target<'_>, Refused> {
    let own = script.processes.iter().find(|process| process.pid == pid.0);
    script.process = own.map(|process| process.name.clone()).unwrap_or_default();
    Target::new(past, pid, script).ok_or_else(|| Refused(Exit::Usage, "the process has no thread".to_owned()))
}
