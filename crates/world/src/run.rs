//! One run from beginning to end: every thread gets a turn, in a fixed order, so that the same command gives the same run.
//!
//! One schedule of many, the same each time: for `allways run`, for tests against the native run,
//! and for peers in a world of their own. Time passes only when nobody can move, plus a pace for
//! each instruction and call, so that programs which measure time see it move.

use crate::refusal::Refusal;
use crate::step::Observer;
use crate::world::{Command, StartError, World};
use kernel::kernel::Output;
use kernel::process::{SignalInfo, State};
use kernel::signal::{self, Target};
use kernel::{Pid, Tid, event, time};
use x86::Code;

/// Instructions of one turn: long enough that switching costs nothing, short enough that spinning threads let others on.
///
/// Instructions, not time: the host's speed decides nothing.
const TURN: u64 = 20_000;
/// How long services may take to end once the last command has, in virtual time.
const GRACE_NS: u64 = 10_000_000_000;

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The last command ended, with this `wait4(2)` status.
    Ended(i32),
    /// Nobody can go on, and nothing will change that.
    Deadlock(Vec<Stuck>),
    /// Something is not modelled.
    Refused(Refusal),
    /// A command could not be started.
    NotStarted(StartError),
    /// The user asked to stop, or a bound was reached.
    Stopped,
}

/// A thread that waits for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// Its process, by name.
    pub process: String,
    /// The thread.
    pub tid: Tid,
    /// What it waits for: the call, as strace writes it.
    pub call: String,
}

/// What a run tells while it goes on.
pub trait Audience: Observer {
    /// A guest wrote to a standard stream.
    fn output(&mut self, output: &Output);
    /// Asked after every turn; true ends the run.
    fn wants_to_stop(&mut self) -> bool;
    /// Passes bytes between programs and peers outside of the world; whether there were any.
    fn pass(&mut self, _: &mut World, _: Exchange) -> bool {
        false
    }
}

/// Until when bytes are passed between programs and peers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exchange {
    /// As far as can be without waiting.
    AtOnce,
    /// Nobody can move: until some come, for so many nanoseconds at most; if nothing is said, for as long as there are connections.
    Awaits(Option<u64>),
    /// The programs have ended: until peers have taken all.
    ToTheEnd,
}

/// Runs commands to their end.
///
/// Each command is started when those before it can go no further: a client finds its server listening. The run ends when
/// the last command has ended; those before it are services, which are then asked to end (`SIGTERM`) and, after ten
/// seconds of virtual time, made to.
///
/// "Can go no further" is exact here, where scripts would sleep for a second: all threads wait, and
/// no timer is due.
pub fn run(world: &mut World, commands: &[Command], audience: &mut impl Audience) -> End {
    let mut code = Code::default();
    match Run::new(world, &mut code, audience).all(commands) {
        Ok(status) => End::Ended(status),
        Err(end) => end,
    }
}

/// A run on one fixed schedule, which goes on round by round.
pub struct Run<'a, A> {
    world: &'a mut World,
    code: &'a mut Code,
    audience: &'a mut A,
    executed: u64,
}

/// What one round over all threads came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// Somebody moved.
    Moved,
    /// Nobody could.
    Quiet,
}

impl<'a, A: Audience> Run<'a, A> {
    /// A run of what is in a world.
    pub fn new(world: &'a mut World, code: &'a mut Code, audience: &'a mut A) -> Self {
        Self { world, code, audience, executed: 0 }
    }

    fn all(&mut self, commands: &[Command]) -> Result<i32, End> {
        let mut pids = Vec::new();
        for command in commands {
            while let Round::Moved = self.round()? {}
            let tid = self.world.start(command).map_err(End::NotStarted)?;
            pids.push(self.world.kernel.threads.get(&tid).expect("just started").pid);
        }
        let last = *pids.last().expect("at least one command");
        let status = self.until_ended(last)?;
        self.audience.pass(self.world, Exchange::ToTheEnd);
        // What peers have not taken is lost.
        if self.audience.wants_to_stop() {
            return Err(End::Stopped);
        }
        self.dismiss(&pids)?;
        self.drain()?;
        Ok(status)
    }

    /// Lets every thread that can move take a turn.
    ///
    /// # Errors
    /// If something is not modelled, or the audience wants to stop.
    pub fn round(&mut self) -> Result<Round, End> {
        let tids: Vec<Tid> = self.world.kernel.threads.keys().copied().collect();
        let mut moved = false;
        for tid in tids {
            if !self.world.can_move(tid) {
                continue;
            }
            moved = true;
            let turn = self.world.advance(tid, self.code, TURN, self.audience).map_err(End::Refused);
            self.tell();
            self.executed += turn?.executed;
            time::expire(&mut self.world.kernel, &mut self.world.memory);
            if self.audience.wants_to_stop() {
                return Err(End::Stopped);
            }
        }
        Ok(if moved { Round::Moved } else { Round::Quiet })
    }

    fn tell(&mut self) {
        if !self.world.kernel.ended.is_empty() {
            self.world.kernel.ended.clear();
        }
        for output in std::mem::take(&mut self.world.kernel.output) {
            self.audience.output(&output);
        }
    }

    /// The next moment at which something happens by itself.
    fn next_deadline(&self) -> Option<u64> {
        let kernel = &self.world.kernel;
        [time::next_deadline(kernel), event::next_deadline(kernel)].into_iter().flatten().min()
    }

    /// Waits for peers outside of the world, as long as nothing happens by itself; whether one has spoken or taken something.
    fn await_peers(&mut self) -> bool {
        let now = self.world.kernel.clock.now();
        let time = self.next_deadline().map(|deadline| deadline.saturating_sub(now));
        self.audience.pass(self.world, Exchange::Awaits(time))
    }

    /// Lets time pass to the next moment at which something happens; false if there is none.
    ///
    /// Discrete events: the clock jumps to the next deadline of any wait, timer or connection.
    pub fn pass_time(&mut self) -> bool {
        let Some(next) = self.next_deadline() else { return false };
        let kernel = &mut self.world.kernel;
        kernel.clock.advance_to(next);
        time::expire(kernel, &mut self.world.memory);
        true
    }

    fn until_ended(&mut self, pid: Pid) -> Result<i32, End> {
        loop {
            // Also where nobody moves and only time passes.
            if self.audience.wants_to_stop() {
                return Err(End::Stopped);
            }
            if let Some(status) = self.status(pid) {
                return Ok(status);
            }
            match self.round()? {
                Round::Moved => drop(self.audience.pass(self.world, Exchange::AtOnce)),
                Round::Quiet if self.await_peers() => {}
                Round::Quiet if self.pass_time() => {}
                // Peers were not waited for to the end.
                Round::Quiet if self.audience.wants_to_stop() => {}
                Round::Quiet => return Err(End::Deadlock(self.stuck())),
            }
        }
    }

    /// The status of a process that has ended.
    fn status(&self, pid: Pid) -> Option<i32> {
        match self.world.kernel.processes.get(&pid)?.state {
            State::Zombie(status) => Some(status),
            State::Running | State::Stopped { .. } => None,
        }
    }

    /// Asks services to end, then makes them.
    fn dismiss(&mut self, pids: &[Pid]) -> Result<(), End> {
        const SIGTERM: u8 = 15;
        const SIGKILL: u8 = 9;
        let until = self.world.kernel.clock.now() + GRACE_NS;
        self.signal_all(pids, SIGTERM);
        while self.lives(pids) && self.world.kernel.clock.now() < until {
            if let Round::Quiet = self.round()?
                && !self.pass_time()
            {
                break;
            }
        }
        self.signal_all(pids, SIGKILL);
        while self.lives(pids) {
            if let Round::Quiet = self.round()? {
                break;
            }
        }
        Ok(())
    }

    fn lives(&self, pids: &[Pid]) -> bool {
        pids.iter().any(|pid| self.status(*pid).is_none())
    }

    fn signal_all(&mut self, pids: &[Pid], number: u8) {
        for pid in pids.iter().filter(|pid| self.status(**pid).is_none()).copied().collect::<Vec<_>>() {
            let info = SignalInfo { number, ..SignalInfo::default() };
            signal::send(&mut self.world.kernel, Target::Process(pid), info);
        }
    }

    /// What the commands left behind goes on until it has nothing more to do, or for ten seconds of virtual time: a
    /// background job's last line would also come natively, a daemon would stay.
    fn drain(&mut self) -> Result<(), End> {
        let until = self.world.kernel.clock.now() + GRACE_NS;
        while !self.world.kernel.threads.is_empty() && self.world.kernel.clock.now() < until {
            if let Round::Quiet = self.round()?
                && !self.pass_time()
            {
                break;
            }
        }
        Ok(())
    }

    fn stuck(&mut self) -> Vec<Stuck> {
        let tids: Vec<Tid> = self.world.kernel.threads.keys().copied().collect();
        tids.into_iter().map(|tid| stuck(self.world, tid)).collect()
    }
}

fn stuck(world: &mut World, tid: Tid) -> Stuck {
    let thread = world.kernel.threads.get(&tid).expect("it waits").clone();
    let process = world.kernel.processes.get(&thread.pid).expect("a thread has a process");
    let (name, space) = (process.name.clone(), process.space);
    let call = thread.call.map_or_else(
        || "stopped".to_owned(),
        |(number, args)| match kernel::table::row(number) {
            Some(row) => crate::strace::begin(row, &args, &mut world.memory, space).unfinished(),
            None => format!("syscall {number}"),
        },
    );
    Stuck { process: name, tid, call }
}
