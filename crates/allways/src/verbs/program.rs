//! `allways run -- CMD`: one deterministic run of real programs.

use crate::args::ProgramArgs;
use crate::exit::Exit;
use crate::interrupt::on_interrupt;
use crate::output::{Output, stderr};
use crate::programs::setup::{Setup, not_started};
use kernel::Tid;
use kernel::descriptor::Console;
use kernel::kernel::Output as Written;
use memory::Limit;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use world::run::{Audience, End, Stuck};
use world::step::Observer;
use world::tracer::Tracer;
use world::{Command, Refusal, World};

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
    let setup = Setup::new(&args.world)?;
    let limit = args.mem.map_or_else(Limit::default, Limit::bytes);
    let mut world = World::new(setup.host(), seed.unwrap_or(1), limit);
    world.kernel.input.bytes = setup.stdin.into();
    Ok((world, setup.services.into_iter().map(|service| service.command).collect()))
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

/// What to do about a run that was refused.
fn way_out(refusal: &Refusal) -> &'static str {
    if refusal.is_limit() {
        "help: --mem SIZE allows more"
    } else {
        "the run ends here: what is not modelled is never guessed"
    }
}
