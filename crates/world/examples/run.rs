//! Runs commands inside: `cargo run -p world --example run -- [--strace] CMD ARGS... [+ CMD ARGS...]`.
//!
//! A small sibling of `allways run` that builds in seconds, for work on the kernel.
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout, clippy::print_stderr)]

use kernel::Tid;
use kernel::descriptor::Console;
use kernel::host::Host;
use kernel::kernel::Output;
use memory::Limit;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};
use world::run::{Audience, End, run};
use world::step::Observer;
use world::tracer::Tracer;
use world::{Command, World};

struct Terminal {
    trace: bool,
    tracer: Tracer,
}

impl Observer for Terminal {
    fn begin(&mut self, world: &mut World, tid: Tid, number: u64, args: &[u64; 6]) {
        if self.trace {
            self.tracer.begin(world, tid, number, args);
        }
    }

    fn end(&mut self, world: &mut World, tid: Tid, result: u64) {
        self.tracer.end(world, tid, result);
        self.print();
    }

    fn signal(&mut self, world: &World, tid: Tid, number: u8) {
        if self.trace {
            self.tracer.signal(world, tid, number);
        }
        self.print();
    }
}

impl Terminal {
    fn print(&mut self) {
        for (tid, line) in self.tracer.lines.drain(..) {
            eprintln!("[{}] {line}", tid.0);
        }
    }
}

impl Audience for Terminal {
    fn output(&mut self, output: &Output) {
        let _ = match output.stream {
            Console::Error => std::io::stderr().write_all(&output.bytes),
            Console::Input | Console::Output => std::io::stdout().write_all(&output.bytes),
        };
    }

    fn wants_to_stop(&mut self) -> bool {
        false
    }
}

fn main() {
    let mut arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    let trace = arguments.first().is_some_and(|first| first == b"--strace");
    if trace {
        arguments.remove(0);
    }
    let here = std::env::current_dir().expect("a working directory");
    let mut roots: Vec<_> = SYSTEM_ROOTS.iter().map(Into::into).collect();
    roots.push(here.clone());
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    let environment: Vec<Vec<u8>> = vec![b"PATH=/usr/bin:/bin".to_vec(), b"HOME=/tmp".to_vec(), b"LC_ALL=C".to_vec()];
    let command = |arguments: &[Vec<u8>]| Command {
        arguments: arguments.to_vec(),
        environment: environment.clone(),
        directory: here.clone().into_os_string().into_vec(),
        user: None,
    };
    let commands: Vec<Command> = arguments.split(|argument| argument == b"+").map(command).collect();
    let mut world = World::new(host, 1, Limit::default());
    let mut terminal = Terminal { trace, tracer: Tracer::default() };
    let end = run(&mut world, &commands, &mut terminal);
    terminal.tracer.unfinished();
    if trace {
        terminal.print();
    }
    std::process::exit(report(&end));
}

fn report(end: &End) -> i32 {
    match end {
        End::Ended(status) if status & 0x7f == 0 => status >> 8 & 0xff,
        End::Ended(status) => 128 + (status & 0x7f),
        End::Refused(refusal) => {
            eprintln!("{refusal}");
            3
        }
        other => {
            eprintln!("{other:#?}");
            3
        }
    }
}
