//! Looking into a step while it is executed, for debuggers: where its thread comes by, and what it touches.
//!
//! **Ticks** number the points within a step at which its thread can be shown. A tick is one instruction, or whatever
//! else moves the thread on: a library function that is summarised, a syscall that returns, a signal that is delivered.
//! What a step rolls back has had no ticks.
//!
//! **Invariant:** a step that is probed does what it would do otherwise. Instructions are executed in smaller pieces, and
//! pieces that touch a watched range once more, one by one; nothing else differs.

use kernel::Tid;
use memory::{Logged, Memory, SpaceId};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use world::World;
use x86::{Code, Cpu, Machine, Stop, Stops, Trap};

/// Instructions of a piece at most while ranges are watched: what is executed once more if it touches one.
const PIECE_MAX: u64 = 4096;

/// Which accesses to a range are hits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WatchKind {
    /// Those that change it.
    Write,
    /// Loads.
    Read,
    /// Loads and stores.
    Access,
}

/// A range of addresses that is watched.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Watch {
    /// Which accesses are hits.
    pub kind: WatchKind,
    /// The first address.
    pub start: u64,
    /// The address behind the last.
    pub end: u64,
}

impl Watch {
    /// What is there now; nothing if it is not mapped.
    #[must_use]
    pub fn content(&self, memory: &Memory, space: SpaceId) -> Vec<u8> {
        let mut bytes = vec![0; (self.end - self.start) as usize];
        let is_there = memory.space_exists(space) && memory.peek(space, self.start, &mut bytes).is_ok();
        if is_there { bytes } else { Vec::new() }
    }
}

/// Which of several hits is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// The first one: execution stops there.
    First,
    /// The last one.
    Last,
}

/// What is looked for within a step.
#[derive(Clone, Debug)]
pub struct Search {
    /// Addresses of instructions: a hit when the thread is about to execute one.
    pub breakpoints: BTreeSet<u64>,
    /// Ranges of addresses: a hit once the instruction has accessed one.
    pub watches: Vec<Watch>,
    /// Ticks at which hits count. What a step rolls back must lie outside.
    pub window: RangeInclusive<u64>,
    /// Which of several hits is wanted.
    pub wanted: Wanted,
    /// Whether a breakpoint at the last tick of the window counts.
    pub breaks_at_end: bool,
}

/// What a hit was caused by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HitCause {
    /// The thread has come to a breakpoint.
    Breakpoint,
    /// A watched range was accessed.
    Watch(Watch),
}

/// Something that was looked for has happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    /// The tick at which a breakpoint is about to be executed, or the first one after an access.
    pub tick: u64,
    /// The cause.
    pub cause: HitCause,
}

/// A watched range, with its content at the last tick.
struct Watched {
    watch: Watch,
    content: Vec<u8>,
    is_touched: bool,
}

/// What looks into one step after the other.
///
/// Its code caches outlive steps; all else begins anew with each.
#[derive(Default)]
pub struct Probe {
    thread: Option<(Tid, SpaceId)>,
    ticks: u64,
    /// Where to stop for good.
    goal: Option<u64>,
    search: Option<Search>,
    hit: Option<Hit>,
    watched: Vec<Watched>,
    /// Registers at the last tick.
    registers: Option<Cpu>,
    /// The next look is a tick whatever the registers are: a syscall has begun.
    is_owed: bool,
    /// How many entries of the log were looked at.
    examined: usize,
    /// Instructions of the next piece, while ranges are watched.
    piece: u64,
    /// Code that stops at breakpoints as well; inside of functions that are executed as a whole, and elsewhere.
    stopping: [Code; 2],
}

impl Probe {
    /// Begins with a step of a thread.
    pub(crate) fn begin(&mut self, (tid, space): (Tid, SpaceId), goal: Option<u64>, search: Option<Search>) {
        let watches = search.iter().flat_map(|search| &search.watches);
        let watched = watches.map(|watch| Watched { watch: watch.clone(), content: Vec::new(), is_touched: false });
        *self = Self {
            thread: Some((tid, space)),
            goal,
            watched: watched.collect(),
            search,
            piece: PIECE_MAX,
            stopping: std::mem::take(&mut self.stopping),
            ..Self::default()
        };
    }

    /// Ticks so far.
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// The hit that was wanted.
    pub(crate) fn take_hit(&mut self) -> Option<Hit> {
        self.hit.take()
    }

    /// Whether the step need not go on.
    pub(crate) fn is_at_goal(&self) -> bool {
        let found = self.search.as_ref().is_some_and(|search| search.wanted == Wanted::First) && self.hit.is_some();
        found || self.goal == Some(self.ticks)
    }

    /// Looks at the thread between two pieces of a step.
    ///
    /// Registers that differ from those at the last tick mean that something other than counted instructions has moved
    /// the thread: whoever did it need not say so, which is why the rest of the checker knows nothing of ticks.
    pub(crate) fn look(&mut self, world: &World) {
        let Some((tid, space)) = self.thread else { return };
        if self.is_at_goal() {
            return;
        }
        let registers = world.cpus.get(&tid);
        let is_first = self.registers.is_none() && self.ticks == 0 && !self.is_owed;
        if !is_first && (self.is_owed || self.registers.as_ref() != registers) {
            self.ticks += 1;
        }
        self.is_owed = false;
        self.registers = registers.cloned();
        let Some(registers) = registers else { return self.thread = None };
        self.look_at_ranges(world, space, is_first);
        let is_break = self.search.as_ref().is_some_and(|search| search.breakpoints.contains(&registers.rip));
        if is_break {
            self.note(HitCause::Breakpoint);
        }
    }

    /// Looks at the thread where the step ends. A step whose thread stays where it is, with an instruction half done, is a
    /// tick all the same.
    pub(crate) fn finish(&mut self, world: &World) {
        let (tid, _) = self.thread.unwrap_or((Tid(0), SpaceId(0)));
        self.is_owed |= self.ticks == 0 && self.registers.as_ref() == world.cpus.get(&tid);
        self.look(world);
    }

    fn look_at_ranges(&mut self, world: &World, space: SpaceId, is_first: bool) {
        let mut causes = Vec::new();
        for watched in &mut self.watched {
            let content = watched.watch.content(&world.memory, space);
            let has_changed = content != watched.content && watched.watch.kind != WatchKind::Read;
            if !is_first && (has_changed || watched.is_touched) {
                causes.push(HitCause::Watch(watched.watch.clone()));
            }
            (watched.content, watched.is_touched) = (content, false);
        }
        causes.into_iter().for_each(|cause| self.note(cause));
    }

    fn note(&mut self, cause: HitCause) {
        let Some(search) = &self.search else { return };
        let is_cut = cause == HitCause::Breakpoint && self.ticks == *search.window.end() && !search.breaks_at_end;
        let is_wanted = !is_cut && (self.hit.is_none() || search.wanted == Wanted::Last);
        if search.window.contains(&self.ticks) && is_wanted {
            self.hit = Some(Hit { tick: self.ticks, cause });
        }
    }

    /// The step was rolled back to a point at which it had this many ticks.
    ///
    /// What was seen since is forgotten. A hit cannot have been among it: windows end where the step ends.
    pub(crate) fn rewind(&mut self, ticks: u64, world: &World) {
        let Some((tid, space)) = self.thread else { return };
        self.ticks = ticks;
        self.is_owed = false;
        self.registers = world.cpus.get(&tid).cloned();
        self.examined = 0;
        for watched in &mut self.watched {
            (watched.content, watched.is_touched) = (watched.watch.content(&world.memory, space), false);
        }
    }

    /// Looks at accesses that no piece has shown: those of instructions that are executed alone.
    pub(crate) fn show_log(&mut self, log: &[Logged]) {
        let fresh = log.get(self.examined..).unwrap_or(log);
        self.touch(fresh.iter().copied());
        self.examined = 0;
    }

    /// Marks the ranges that are hit by these accesses, whatever they change; whether there are any, or any was written.
    fn touch(&mut self, log: impl Iterator<Item = Logged>) -> bool {
        let mut is_any = false;
        for logged in log {
            for watched in &mut self.watched {
                let Watch { kind, start, end } = &watched.watch;
                if logged.addr < *end && *start < logged.addr + u64::from(logged.size) {
                    is_any |= *kind != WatchKind::Read || !logged.write;
                    watched.is_touched |= match kind {
                        WatchKind::Write => false,
                        WatchKind::Read => !logged.write,
                        WatchKind::Access => true,
                    };
                }
            }
        }
        is_any
    }
}

/// Code of a step, and where it stops beside synchronising instructions.
pub(crate) struct OwnCode<'a> {
    pub code: &'a mut Code,
    pub stops: BTreeSet<u64>,
    pub is_quiet: bool,
}

impl Probe {
    /// Executes up to `budget` instructions of the thread, as its own code would.
    ///
    /// Other code with more stops runs up to a breakpoint; the instruction at a breakpoint is executed by the step's own
    /// code, which stops where the step would stop. So a breakpoint on a hook changes nothing.
    pub(crate) fn run(&mut self, world: &mut World, mut own: OwnCode<'_>, budget: u64) -> Stop {
        let Some((tid, _)) = self.thread.filter(|_| budget > 0) else {
            return Stop { executed: 0, trap: None };
        };
        let has_breakpoints = self.stop_at_breakpoints(&mut own);
        let mut executed = 0;
        let trap = loop {
            self.look(world);
            if self.is_at_goal() || executed == budget {
                break None;
            }
            let is_break = has_breakpoints && self.is_at_breakpoint(world, tid);
            let limit = self.goal.map_or(u64::MAX, |goal| goal - self.ticks).min(budget - executed);
            let mut stopping = std::mem::take(&mut self.stopping[usize::from(own.is_quiet)]);
            let stop = match has_breakpoints && !is_break {
                true => self.run_piece(world, &mut stopping, limit),
                false => self.run_piece(world, own.code, if is_break { 1 } else { limit }),
            };
            self.stopping[usize::from(own.is_quiet)] = stopping;
            executed += stop.executed;
            let is_ours = stop.trap == Some(Trap::Stop) && !is_break && self.is_at_breakpoint(world, tid);
            if stop.trap.is_some() && !is_ours {
                break stop.trap;
            }
        };
        // Which flags are dead depends on where code stops: the step's own code decides.
        if let Some(cpu) = world.cpus.get_mut(&tid) {
            let clock = world.kernel.clock.now();
            x86::settle(&mut Machine { cpu, memory: &mut world.memory, clock }, own.code);
            self.registers = Some(cpu.clone());
        }
        Stop { executed, trap }
    }

    /// Whether there are breakpoints. Code is made anew only where they, or the hooks, have changed.
    fn stop_at_breakpoints(&mut self, own: &mut OwnCode<'_>) -> bool {
        let Some(search) = self.search.as_ref().filter(|search| !search.breakpoints.is_empty()) else { return false };
        let mut addresses = std::mem::take(&mut own.stops);
        addresses.extend(&search.breakpoints);
        let stops = Stops { synchronising: !own.is_quiet, addresses };
        self.stopping[usize::from(own.is_quiet)].stop_before(stops);
        true
    }

    fn is_at_breakpoint(&self, world: &World, tid: Tid) -> bool {
        let search = self.search.as_ref();
        search.is_some_and(|search| search.breakpoints.contains(&world.cpus[&tid].rip))
    }

    /// Executes some instructions and counts their ticks.
    fn run_piece(&mut self, world: &mut World, code: &mut Code, limit: u64) -> Stop {
        let (tid, _) = self.thread.expect("a thread moves");
        let stop = match self.watched.is_empty() {
            true => world.execute_instructions(tid, code, limit),
            false => self.run_watched(world, code, limit),
        };
        // A syscall is a tick once it has returned.
        self.is_owed = matches!(stop.trap, Some(Trap::Syscall | Trap::Breakpoint)) && stop.executed > 0;
        self.ticks += stop.executed - u64::from(self.is_owed);
        self.registers = world.cpus.get(&tid).cloned();
        stop
    }

    /// The same while ranges are watched: at most one instruction that accesses one, and that one alone.
    ///
    /// Marks nest within those of the step's savepoints, and are gone with the next snapshot that is restored.
    fn run_watched(&mut self, world: &mut World, code: &mut Code, limit: u64) -> Stop {
        let (tid, _) = self.thread.expect("a thread moves");
        loop {
            let (mark, registers, logged) =
                (world.memory.mark(), world.cpus.get(&tid).cloned(), world.memory.log_len());
            let stop = world.execute_instructions(tid, code, limit.min(self.piece));
            if !self.touch(world.memory.logged_since(logged)) || stop.executed <= 1 {
                self.piece = (self.piece * 2).min(PIECE_MAX);
                self.examined = world.memory.log_len();
                return stop;
            }
            self.piece = (stop.executed / 8).max(1);
            self.watched.iter_mut().for_each(|watched| watched.is_touched = false);
            world.memory.undo_to(mark);
            world.memory.cut_log(logged);
            registers.into_iter().for_each(|registers| drop(world.cpus.insert(tid, registers)));
        }
    }
}
