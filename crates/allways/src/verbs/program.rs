//! `allways run -- CMD`: one deterministic run of real programs.
//!
//! The one verb that behaves like the program it starts: its exit code is the program's, its output
//! goes through as it comes, and `128 + signal` is what a shell would tell.

use crate::args::ProgramArgs;
use crate::exit::Exit;
use crate::interrupt::on_interrupt;
use crate::output::{Output, stderr};
use crate::programs::setup::{Setup, not_started, tell_hidden};
use crate::programs::{PeerSetup, peer_not_started, with_peers};
use crate::usage;
use debuginfo::stack::{frames, with_frames};
use explore::{Allowance, Budget, Spent};
use kernel::Tid;
use kernel::descriptor::Console;
use kernel::host::Host;
use kernel::kernel::Output as Written;
use memory::Limit;
use peer::{Native, PassThrough, Shape, Trouble};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::Write;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use world::host::DeclaredRoots;
use world::run::{Audience, End, Exchange, Stuck};
use world::step::Observer;
use world::tracer::Tracer;
use world::{Cause, Command, Refusal, StartError, World};

/// Runs programs.
pub fn run(args: &ProgramArgs, seed: Option<u64>, output: &Output) -> ExitCode {
    let budget = budget(args);
    match prepare(args, seed, &budget) {
        Ok(Prepared { mut world, commands, host, peers }) => {
            let tracer = Tracer::default();
            let mut terminal = Terminal { trace: args.strace, tracer, budget, failed: None, peers };
            let end = world::run::run(&mut world, &commands, &mut terminal);
            terminal.finish();
            tell_hidden(&host, output);
            match end {
                End::Stopped => terminal.tell_stop(output),
                end => tell(&world, end, output),
            }
        }
        Err(why) if budget.is_spent() => {
            output.note(&why);
            tell_spent(&budget, output)
        }
        Err(why) => {
            output.error(&why);
            Exit::Usage.into()
        }
    }
}

/// What is about to run.
struct Prepared {
    world: World,
    commands: Vec<Command>,
    host: Arc<DeclaredRoots>,
    /// Peers that are no part of the world.
    peers: Option<PassThrough>,
}

fn prepare(args: &ProgramArgs, seed: Option<u64>, budget: &Budget) -> Result<Prepared, String> {
    let setup = with_peers(Setup::new(&args.world)?, &args.peer, args.outside)?;
    let limit = args.mem.map_or_else(Limit::default, Limit::within);
    let host = setup.host();
    let mut world = World::new(Host(host.clone()), seed.unwrap_or(1), limit);
    let peers = start_peers(&setup.peers, &mut world, budget)?;
    world.kernel.input.bytes = setup.stdin.into();
    let commands = setup.services.into_iter().map(|service| service.command).collect();
    Ok(Prepared { world, commands, host, peers })
}

/// Starts native peers, if there are any.
fn start_peers(peers: &[PeerSetup], world: &mut World, budget: &Budget) -> Result<Option<PassThrough>, String> {
    let stops = budget.clone();
    let mut passing = PassThrough::new(Arc::new(move || stops.is_spent()));
    for PeerSetup { spec, shape, command, written } in peers {
        let Shape::Listens(address) = shape else { continue };
        let terms = spec.terms().expect("what is refused is not started");
        if !Native::finds(command) {
            let name = command.arguments.first().cloned().unwrap_or_default();
            return Err(format!("{written}: {}", peer_not_started(&StartError::NotFound(name))));
        }
        let started = passing.start(&spec.name, address, command, &terms, &mut world.kernel);
        started.map_err(|trouble| match trouble {
            Trouble::Stopped => format!("stopped before peer `{}` was ready", spec.name),
            trouble => format!("{written}: {trouble}"),
        })?;
    }
    Ok((!peers.is_empty()).then_some(passing))
}

/// What a run may use.
fn budget(args: &ProgramArgs) -> Budget {
    let meter: fn() -> Option<u64> = usage::memory_now;
    let memory = args.mem.or_else(usage::memory_to_use);
    Budget::new(on_interrupt(), Allowance { time: args.time, memory, meter: Some(meter) })
}

/// Bytes that a pipe takes at once if it takes any (`PIPE_BUF`).
const PIECE: usize = 4096;

/// Whether a stream takes bytes, or is broken; waits a moment for that.
///
/// Polled with a short limit, so that Ctrl-C and `--time` end a run whose reader sleeps.
fn is_writable(stream: &impl AsFd) -> std::io::Result<bool> {
    const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let mut polled = [PollFd::new(stream, PollFlags::OUT)];
    match poll(&mut polled, Some(&MOMENT)) {
        Err(Errno::INTR) => Ok(false),
        ready => Ok(ready? > 0),
    }
}

struct Terminal {
    trace: bool,
    tracer: Tracer,
    budget: Budget,
    /// Why nothing more can be written.
    failed: Option<std::io::Error>,
    /// Peers that are no part of the world.
    peers: Option<PassThrough>,
}

/// How the host's shell tells of a program that wrote to a pipe without a reader: 128 and `SIGPIPE`.
const BROKEN_PIPE: u8 = 141;

impl Terminal {
    fn print(&mut self) {
        for (tid, line) in self.tracer.lines.drain(..) {
            stderr(&format!("[{}] {line}\n", tid.0));
        }
    }

    /// Writes, unless nobody reads until the budget is spent.
    fn write(&self, mut stream: impl Write + AsFd, bytes: &[u8]) -> std::io::Result<()> {
        for piece in bytes.chunks(PIECE) {
            while !self.budget.is_spent() && !is_writable(&stream)? {}
            if self.budget.is_spent() {
                return Ok(());
            }
            stream.write_all(piece)?;
            stream.flush()?;
        }
        Ok(())
    }

    /// Why the run was ended from outside.
    fn tell_stop(&self, output: &Output) -> ExitCode {
        if let Some(error) = &self.failed {
            if error.kind() == std::io::ErrorKind::BrokenPipe {
                return ExitCode::from(BROKEN_PIPE);
            }
            output.error(&format!("cannot write what the program writes: {error}"));
            return Exit::Unwritten.into();
        }
        tell_spent(&self.budget, output)
    }

    fn finish(&mut self) {
        if self.trace {
            self.tracer.unfinished();
            self.print();
        }
    }
}

/// What a run has used up, and its exit code.
fn tell_spent(budget: &Budget, output: &Output) -> ExitCode {
    match budget.spent() {
        Some(Spent::Time) => output.note("the time is over (--time)"),
        Some(Spent::Memory) => {
            let limit = budget.memory().map(report::bytes).unwrap_or_default();
            output.error(&format!("out of memory: this run takes more than {limit}\n  = help: --mem SIZE allows more"));
        }
        Some(Spent::Interrupted) | None => {
            output.note("interrupted");
            return Exit::Interrupted.into();
        }
    }
    Exit::Inconclusive.into()
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
        let result = match written.stream {
            Console::Error => self.write(std::io::stderr().lock(), &written.bytes),
            Console::Input | Console::Output => self.write(std::io::stdout().lock(), &written.bytes),
        };
        self.failed = self.failed.take().or(result.err());
    }

    fn wants_to_stop(&mut self) -> bool {
        self.failed.is_some() || self.budget.is_spent()
    }

    fn pass(&mut self, world: &mut World, how: Exchange) -> bool {
        self.peers.as_mut().is_some_and(|peers| peers.pass(&mut world.kernel, how))
    }
}

/// A status as wait(2) packs it.
fn tell(world: &World, end: End, output: &Output) -> ExitCode {
    match end {
        End::Ended(status) if status & 0x7f == 0 => return ExitCode::from((status >> 8 & 0xff) as u8),
        End::Ended(status) => {
            let signal = (status & 0x7f) as u64;
            output.note(&format!("ended by {}", world::strace::signal_name(signal)));
            return ExitCode::from(128 + signal as u8);
        }
        End::Deadlock(stuck) => output.error(&deadlock(world, &stuck)),
        End::Refused(refusal) => {
            let refusal = with_frames(refusal, world);
            output.error(&format!("{refusal}\n  = {}", way_out(&refusal)));
            return Exit::Inconclusive.into();
        }
        End::NotStarted(error) => {
            output.error(&not_started(&error));
            return Exit::Usage.into();
        }
        End::Stopped => return Exit::Interrupted.into(),
    }
    Exit::Violated.into()
}

fn deadlock(world: &World, stuck: &[Stuck]) -> String {
    let mut text = String::from("deadlock: every thread waits, and no timer is running");
    for thread in stuck {
        text += &format!("\n  {} (thread {}) waits in {}", thread.process, thread.tid.0, thread.call);
        for frame in frames(world, thread.tid) {
            text += &format!("\n      {frame}");
        }
    }
    text
}

/// What to do about a run that was refused.
fn way_out(refusal: &Refusal) -> &'static str {
    match refusal.cause {
        Cause::Memory => "help: --mem SIZE allows more",
        Cause::Changed => "help: run it again while nobody writes to it",
        Cause::Unmodelled | Cause::Spent | Cause::Differs | Cause::Peer => {
            "the run ends here: what is not modelled is never guessed"
        }
    }
}
