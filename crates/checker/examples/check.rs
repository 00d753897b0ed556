//! Searches the schedules of commands: `cargo run --release -p checker --example check -- [--full] [--count] [--first] [--two] [--tso] CMD ARGS... [+ CMD ARGS...]`.
//!
//! A small sibling of `allways check` that builds in seconds, for work on the engine.
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout)]

use checker::{BUFFERED_MAX, Checks, Depth, Engine, MemoryModel, Options, Programs, Timeouts, search_by};
use explore::graph::{Limits, Mode};
use kernel::host::Host;
use memory::Limit;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use std::time::Instant;
use world::Command;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    let mut flag = |name: &[u8]| {
        let is_given = arguments.first().is_some_and(|first| first == name);
        if is_given {
            arguments.remove(0);
        }
        is_given
    };
    let full = flag(b"--full");
    let counts = flag(b"--count");
    let most = if flag(b"--first") { 1 } else { usize::MAX };
    let workers = if flag(b"--two") { 2 } else { 1 };
    let memory = match flag(b"--tso") {
        true => MemoryModel::Tso { buffered_max: BUFFERED_MAX },
        false => MemoryModel::Sequential,
    };
    let depth = if flag(b"--real") { Depth::Real } else { Depth::Summary };
    let hasten = if flag(b"--hasten") { Timeouts::Any(1) } else { Timeouts::Quiet };
    let never = flag(b"--never").then(|| String::from_utf8(arguments.remove(0)).expect("text"));
    let checks = Checks { exit: never.is_none(), ..Checks::default() };
    let here = std::env::current_dir().expect("a working directory");
    let mut roots: Vec<_> = SYSTEM_ROOTS.iter().map(Into::into).collect();
    roots.push(here.clone());
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    let command = |arguments: &[Vec<u8>]| Command {
        arguments: arguments.to_vec(),
        environment: vec![b"PATH=/usr/bin:/bin".to_vec(), b"LD_BIND_NOW=1".to_vec()],
        directory: here.clone().into_os_string().into_vec(),
        user: None,
    };
    let commands: Vec<Command> = arguments.split(|argument| argument == b"+").map(command).collect();
    let started = Instant::now();
    let mut programs = Programs::start(
        host,
        Limit::default(),
        &commands,
        Options { depth, memory, timeouts: hasten, checks, ..Options::default() },
    )
    .expect("it starts");
    if let Some(never) = never {
        programs.forbid(&never).expect("a proposition");
    }
    let mut stop = |_: u64, _: u64| started.elapsed().as_secs() > 300;
    let mut limits = Limits { states: 2_000_000, failures: most, stop: &mut stop };
    if counts {
        let outcome = search_by(&Engine::Classes { depth: 10_000 }, &mut programs, &mut limits);
        let report = outcome.classes.expect("classes were searched");
        println!(
            "{} traces, {} stuck, {} failed, {} redundant, complete {}, {} executed, {} rounds, {:.2} s",
            report.traces,
            report.stuck,
            report.failed,
            report.redundant,
            report.complete,
            report.executed,
            outcome.rounds,
            started.elapsed().as_secs_f64()
        );
        return;
    }
    let mode = if full { Mode::Full } else { Mode::Reduced };
    let outcome = search_by(&Engine::Graph { mode, workers, alone: 0 }, &mut programs, &mut limits);
    let report = &outcome.report;
    println!("{} rounds, {} executed in all", outcome.rounds, outcome.executed);
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} states, {} steps, {} executed, depth {}, complete {}, {} ends, {} races, {seconds:.2} s, {:.0} executed/s",
        report.states,
        report.steps,
        report.executed,
        report.depth_max,
        report.complete,
        report.ends.len(),
        outcome.races.len(),
        report.executed as f64 / seconds
    );
    for found in &report.found {
        println!("{}: {} ({} steps)", found.failure.kind, found.failure.message, found.schedule.len());
    }
    for race in &outcome.races {
        println!(
            "race on {:x?}: {:?} {:?} plain {}",
            programs.words().get(&race.object),
            race.one,
            race.other,
            race.plain
        );
    }
    if let Some(refusal) = &programs.refusal {
        println!("{refusal}");
    }
}
