//! `allways run -- CMD`: one deterministic run of real programs.

use crate::args::ProgramArgs;
use crate::exit::Exit;
use crate::interrupt::on_interrupt;
use crate::output::{Output, stderr};
use kernel::Tid;
use kernel::descriptor::Console;
use kernel::host::Host;
use kernel::kernel::Output as Written;
use memory::Limit;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use world::host::{DeclaredRoots, SYSTEM_ROOTS};
use world::load::LoadError;
use world::load::elf::ElfError;
use world::run::{Audience, End, Stuck};
use world::step::Observer;
use world::tracer::Tracer;
use world::{Command, Refusal, StartError, World};

/// Variables that programs are given unless `--env` says otherwise: the same on every machine.
const ENVIRONMENT: &[(&str, &str)] =
    &[("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), ("HOME", "/tmp"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];

/// Runs programs.
pub fn run(args: &ProgramArgs, seed: Option<u64>, output: &Output) -> ExitCode {
    match prepare(args, seed) {
        Ok((mut world, commands)) => {
            let mut terminal = Terminal { trace: args.strace, tracer: Tracer::default(), stop: on_interrupt() };
            let end = world::run::run(&mut world, &commands, &mut terminal);
            terminal.finish();
            tell(&end, output)
        }
        Err(why) => {
            output.error(&why);
            Exit::Usage.into()
        }
    }
}

fn prepare(args: &ProgramArgs, seed: Option<u64>) -> Result<(World, Vec<Command>), String> {
    let here = std::env::current_dir().map_err(|error| format!("cannot find the working directory: {error}"))?;
    let commands = commands(&args.command, &here, &args.env)?;
    let roots = roots(args, &here)?;
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    let limit = args.mem.map_or_else(Limit::default, Limit::bytes);
    let mut world = World::new(host, seed.unwrap_or(1), limit);
    if let Some(path) = &args.stdin {
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
        world.kernel.input.bytes = bytes.into();
    }
    Ok((world, commands))
}

/// Commands, separated by `+`.
fn commands(words: &[OsString], here: &Path, env: &[String]) -> Result<Vec<Command>, String> {
    let command = |words: &[OsString]| {
        if words.is_empty() {
            return Err("a command is missing\n  = help: allways run -- ./server 7000 + ./client".to_owned());
        }
        Ok(Command {
            arguments: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            environment: environment(env)?,
            directory: here.as_os_str().as_bytes().to_vec(),
        })
    };
    words.split(|word| word == "+").map(command).collect()
}

fn environment(env: &[String]) -> Result<Vec<Vec<u8>>, String> {
    let mut variables: Vec<(String, String)> =
        ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    for setting in env {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            format!("`--env {setting}` sets nothing\n  = help: --env NAME=VALUE; nothing of your own environment is passed on")
        })?;
        variables.retain(|(known, _)| known != name);
        variables.push((name.to_owned(), value.to_owned()));
    }
    Ok(variables.into_iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect())
}

/// What of the host the guests may read: the system, the working directory, the programs' own folders, `--root`.
fn roots(args: &ProgramArgs, here: &Path) -> Result<Vec<PathBuf>, String> {
    let mut roots: Vec<PathBuf> = SYSTEM_ROOTS.iter().map(Into::into).collect();
    roots.push(here.to_owned());
    let programs = args.command.split(|word| word == "+").filter_map(|words| words.first());
    let folders = programs.map(Path::new).filter(|path| path.is_absolute()).filter_map(Path::parent);
    roots.extend(folders.filter(|folder| *folder != Path::new("/")).map(Path::to_owned));
    for root in &args.root {
        let real =
            std::fs::canonicalize(root).map_err(|error| format!("cannot use `--root {}`: {error}", root.display()))?;
        roots.push(real);
    }
    Ok(roots)
}

struct Terminal {
    trace: bool,
    tracer: Tracer,
    stop: Arc<AtomicBool>,
}

impl Terminal {
    fn print(&mut self) {
        for (tid, line) in self.tracer.lines.drain(..) {
            stderr(&format!("[{}] {line}\n", tid.0));
        }
    }

    fn finish(&mut self) {
        if self.trace {
            self.tracer.unfinished();
            self.print();
        }
    }
}

impl Observer for Terminal {
    fn begin(&mut self, world: &mut World, tid: Tid, number: u64, args: &[u64; 6]) {
        if self.trace {
            self.tracer.begin(world, tid, number, args);
        }
    }

    fn end(&mut self, world: &mut World, tid: Tid, result: u64) {
        if self.trace {
            self.tracer.end(world, tid, result);
            self.print();
        }
    }

    fn signal(&mut self, world: &World, tid: Tid, number: u8) {
        if self.trace {
            self.tracer.signal(world, tid, number);
            self.print();
        }
    }
}

impl Audience for Terminal {
    fn output(&mut self, written: &Written) {
        // A reader that went away (`| head`) is no error of ours.
        let _ = match written.stream {
            Console::Error => std::io::stderr().lock().write_all(&written.bytes),
            Console::Input | Console::Output => {
                let mut stdout = std::io::stdout().lock();
                stdout.write_all(&written.bytes).and_then(|()| stdout.flush())
            }
        };
    }

    fn wants_to_stop(&mut self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn tell(end: &End, output: &Output) -> ExitCode {
    match end {
        End::Ended(status) if status & 0x7f == 0 => return ExitCode::from((status >> 8 & 0xff) as u8),
        End::Ended(status) => {
            let signal = (status & 0x7f) as u64;
            output.note(&format!("ended by {}", world::strace::signal_name(signal)));
            return ExitCode::from(128 + signal as u8);
        }
        End::Deadlock(stuck) => output.error(&deadlock(stuck)),
        End::Refused(refusal) => {
            output.error(&format!("{refusal}\n  = {}", way_out(refusal)));
            return Exit::Inconclusive.into();
        }
        End::NotStarted(error) => {
            output.error(&not_started(error));
            return Exit::Usage.into();
        }
        End::Stopped => {
            output.note("interrupted");
            return Exit::Interrupted.into();
        }
    }
    Exit::Violated.into()
}

fn deadlock(stuck: &[Stuck]) -> String {
    let mut text = String::from("deadlock: nobody can go on, and no timer is running");
    for thread in stuck {
        text += &format!("\n  {} (thread {}) waits in {}", thread.process, thread.tid.0, thread.call);
        for frame in &thread.frames {
            text += &format!("\n      {frame}");
        }
    }
    text
}

fn not_started(error: &StartError) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match error {
        StartError::NotFound(name) => {
            let name = text(name);
            format!("no program `{name}` in PATH\n  = help: give its path (./{name}), or --env PATH=...")
        }
        StartError::Directory(path, errno) => format!("cannot enter `{}`: {errno}", text(path)),
        StartError::Load(path, error) => {
            let path = text(path);
            format!("cannot run `{path}`: {error}\n  = help: {}", start_help(error))
        }
    }
}

/// What to do about a program that cannot be started.
fn start_help(error: &LoadError) -> &'static str {
    match error {
        LoadError::Elf(ElfError::NotElf) => {
            "a script names its interpreter in its first line (#!/bin/sh), or is given to it: allways run -- sh FILE"
        }
        LoadError::Elf(_) | LoadError::Isa(_) => "programs for x86-64 Linux, up to x86-64-v2, can be run",
        LoadError::Errno(kernel::errno::EACCES) => "it must be a file that may be executed: chmod +x",
        LoadError::Interpreter(..) | LoadError::Errno(_) => {
            "guests see /usr, /lib, /bin, /etc, the working directory and what --root names"
        }
    }
}

/// What to do about a run that was refused.
fn way_out(refusal: &Refusal) -> &'static str {
    if refusal.is_limit() {
        "help: --mem SIZE allows more"
    } else {
        "the run ends here: what is not modelled is never guessed"
    }
}
