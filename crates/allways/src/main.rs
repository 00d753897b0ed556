//! The binary: arguments in, verdict and exit code out.
//!
//! **Invariant:** the one crate that prints, and the one that knows how a verdict becomes an exit code. Only `model`,
//! `load_error`, `run_property`, `runs`, `safety`, `trails`, `unreached`, `fault_plan`, `fault_args` and `campaign` know
//! that models are written in Promela.
//!
//! A run of programs, and of tests that are only listed, has the exit code of the programs; every other verb has one of `exit`.
#![allow(clippy::disallowed_methods, reason = "the binary reads and writes what its user names, and keeps the time")]

mod allocator;
mod args;
mod campaign;
mod careful;
mod check_model;
mod checked;
mod evidence;
mod examples;
mod exit;
mod explored;
mod fault_args;
mod fault_plan;
mod harness;
mod input;
mod interrupt;
mod jobs;
mod journal;
mod load_error;
mod migration_hints;
mod misfit;
mod model;
mod model_args;
mod options;
mod output;
mod programs;
mod progress;
mod report_files;
mod request;
mod run_property;
mod runs;
mod safety;
mod saved;
mod simulate;
mod trails;
mod turns;
mod units;
mod unreached;
mod usage;
mod verbs;
mod words;
mod world_args;

use args::{Cli, Verb};
use clap::Parser;
use exit::Exit;
use output::Output;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::OrExit = allocator::OrExit;

fn main() -> ExitCode {
    // Between us and a native peer is a process of this very executable.
    native::supervise_if_asked();
    std::panic::set_hook(Box::new(exit::our_bug));
    let cli = Cli::try_parse().unwrap_or_else(|error| {
        let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let help = migration_hints::help(&error, words);
        let _ = error.print();
        output::stderr(&help);
        std::process::exit(error.exit_code());
    });
    let output = Output::new(&cli.shared);
    if let Verb::Run(args) = &cli.verb
        && !args.program.world.command.is_empty()
    {
        return verbs::program::run(&args.program, args.seed, &output);
    }
    if let Verb::Test(args) = &cli.verb {
        return verbs::test::test(args, &output);
    }
    let exit = dispatch(cli.verb, &output);
    // A verdict stays; that all is well must not be said by a report that nobody has read.
    if output.has_failed() && exit == Exit::Fine { Exit::Unwritten } else { exit }.into()
}

fn dispatch(verb: Verb, output: &Output) -> Exit {
    match verb {
        Verb::Check(args) => verbs::check::check(args, output),
        Verb::Faults(args) => verbs::faults::faults(*args, output),
        Verb::Run(args) => verbs::run::run(*args, output),
        Verb::Test(_) => unreachable!("a runner ends with the exit code of what it runs"),
        Verb::Doctor(args) => verbs::doctor::doctor(&args, output),
        Verb::Replay(args) => verbs::replay::replay(&args, output),
        Verb::Explore(args) => verbs::explore::explore(args, output),
        Verb::Debug(args) => verbs::debug::debug(&args, output),
        Verb::Report(args) => verbs::report::report(&args, output),
        Verb::Init => verbs::init::init(output),
        Verb::Ls(args) => verbs::ls::ls(&args, output),
        Verb::Rm(args) => verbs::rm::rm(&args, output),
        Verb::Completions { shell } => verbs::shell::completions(shell, output),
        Verb::Man { all: Some(folder), .. } => verbs::shell::all_pages(&folder, output),
        Verb::Man { verb, .. } => verbs::shell::man(verb.as_deref(), output),
    }
}
