//! Going forwards and backwards until something that was asked for happens.
//!
//! Backwards is forwards, step by step from the latest: each step is executed with an eye on the last hit in it. A
//! breakpoint hits before its instruction is executed, a watchpoint once it was; backwards, a watchpoint stops before the
//! access, as if that were undone.
//!
//! A thread that stands at a breakpoint between two of its steps hits it when its next step begins: the thread that is
//! reported is the one that is about to move, and gdb can let it go on.

use crate::past::{Past, Position};
use checker::system::probe::{Hit, HitCause, Search, Wanted, Watch, WatchKind};
use kernel::{Pid, Tid};
use memory::SpaceId;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// What to stop at.
#[derive(Clone, Default, Debug)]
pub struct Points {
    /// Addresses of instructions.
    pub breakpoints: BTreeSet<u64>,
    /// Ranges of memory.
    pub watches: BTreeSet<Watch>,
}

/// Why time stands still again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// A breakpoint.
    Breakpoint,
    /// A watched range.
    Watch(Watch),
    /// One tick is over.
    Stepped,
    /// There is no earlier state of this process.
    Beginning,
    /// There is no later state of this process.
    End,
    /// The user has lost patience.
    Interrupted,
}

/// Where time stands still, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stopped {
    /// The thread that it happened to, if it was one of the process.
    pub tid: Option<Tid>,
    /// Why.
    pub why: Why,
}

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To later states.
    Forwards,
    /// To earlier states.
    Backwards,
}

/// A journey of one process through its past.
pub struct Journey<'a, 'p> {
    /// The past.
    pub past: &'a mut Past<'p>,
    /// The process.
    pub pid: Pid,
    /// What to stop at.
    pub points: &'a Points,
    /// Stop after one tick of this thread.
    pub single: Option<Tid>,
    /// Asked between steps: where we begin is no place to stop.
    pub is_interrupted: &'a mut dyn FnMut() -> bool,
}

impl Journey<'_, '_> {
    /// Goes until something happens.
    pub fn go(&mut self, direction: Direction) -> Stopped {
        match direction {
            Direction::Forwards => self.forwards(),
            Direction::Backwards => self.backwards(),
        }
    }

    /// The first and the last position of the process: gdb is not shown what was before it, or after its end.
    fn span(&self) -> (Position, Position) {
        self.past.span(self.pid).unwrap_or_default()
    }

    /// The thread that takes a step, if it is one of the process.
    fn own_mover(&self, step: usize) -> Option<Tid> {
        self.past.mover(step).filter(|(_, pid)| *pid == self.pid).map(|(tid, _)| tid)
    }

    /// Step by step to the first stop, or to the end.
    ///
    /// Ctrl-C counts between steps: there the state is a snapshot, and nothing is left half-done.
    fn forwards(&mut self) -> Stopped {
        let (_, last) = self.span();
        let mut from = Some(self.past.here().tick);
        let mut step = self.past.here().step;
        while (Position { step, tick: from.unwrap_or(0) }) < last {
            if from.is_none() && (self.is_interrupted)() {
                self.past.go_to(Position { step, tick: 0 });
                return Stopped { tid: None, why: Why::Interrupted };
            }
            let end = if step == last.step { last.tick } else { self.past.ticks(step) };
            if let Some(stopped) = self.forwards_in(step, from, end) {
                return stopped;
            }
            (step, from) = (step + 1, None);
        }
        self.past.go_to(last);
        Stopped { tid: None, why: Why::End }
    }

    /// Looks for a stop in a step, behind tick `from` if that is where we are.
    ///
    /// The search leaves the state at the hit, so nothing is executed twice; only the end of a step is shown as the
    /// beginning of the next, which is a snapshot.
    fn forwards_in(&mut self, step: usize, from: Option<u64>, end: u64) -> Option<Stopped> {
        let Some(tid) = self.own_mover(step) else { return self.at_others(step, Direction::Forwards) };
        let mut window = from.map_or(0, |tick| tick + 1)..=end;
        let single = (self.single == Some(tid)).then_some(from.unwrap_or(0) + 1);
        if let Some(tick) = single {
            // Where it stands is no news to a thread that is to go on.
            window = tick..=tick.min(end);
        }
        // Where the step ends, a breakpoint is a matter of the thread's next step, if the process lives to see it.
        let breaks_at_end = end < self.past.ticks(step);
        let hit = self.search(step, window, (breaks_at_end, Wanted::First));
        match (hit, single) {
            (Some(hit), _) => {
                let position = Position { step, tick: hit.tick };
                match hit.tick < self.past.ticks(step) {
                    true => self.past.arrived(position),
                    false => self.past.go_to(position),
                }
                Some(Stopped { tid: Some(tid), why: why(hit) })
            }
            (None, Some(tick)) if tick <= end => {
                self.past.go_to(Position { step, tick });
                Some(Stopped { tid: Some(tid), why: Why::Stepped })
            }
            (None, _) => None,
        }
    }

    /// Step by step back to the last stop, or to the beginning. A step is searched forwards as a whole; its last hit counts.
    fn backwards(&mut self) -> Stopped {
        let (first, _) = self.span();
        let start = self.past.here();
        let (mut step, mut limit) = (start.step, Some(start.tick).filter(|tick| *tick > 0));
        while limit.is_some() || step > first.step {
            if limit.is_none() && (self.is_interrupted)() {
                self.past.go_to(Position { step, tick: 0 });
                return Stopped { tid: None, why: Why::Interrupted };
            }
            let end = limit.take().unwrap_or_else(|| {
                step -= 1;
                self.past.ticks(step)
            });
            if let Some(stopped) = self.backwards_in(step, end) {
                return stopped;
            }
        }
        self.past.go_to(first);
        Stopped { tid: None, why: Why::Beginning }
    }

    /// Looks for the last stop in a step, before tick `end`.
    ///
    /// A watchpoint that an access at `end` has hit is passed again: the access is what is undone.
    fn backwards_in(&mut self, step: usize, end: u64) -> Option<Stopped> {
        let Some(tid) = self.own_mover(step) else { return self.at_others(step, Direction::Backwards) };
        if self.single == Some(tid) {
            self.past.go_to(Position { step, tick: end - 1 });
            return Some(Stopped { tid: Some(tid), why: Why::Stepped });
        }
        // A breakpoint where we come from is not passed.
        let hit = self.search(step, 0..=end, (false, Wanted::Last))?;
        let tick = if hit.cause == HitCause::Breakpoint { hit.tick } else { hit.tick - 1 };
        self.past.go_to(Position { step, tick });
        Some(Stopped { tid: Some(tid), why: why(hit) })
    }

    /// Looks for a hit in a step of one of our threads.
    fn search(&mut self, step: usize, window: RangeInclusive<u64>, (at_end, wanted): (bool, Wanted)) -> Option<Hit> {
        let Points { breakpoints, watches } = self.points;
        if breakpoints.is_empty() && watches.is_empty() || window.is_empty() {
            return None;
        }
        let (breakpoints, watches) = (breakpoints.clone(), watches.iter().cloned().collect());
        let search = Search { breakpoints, watches, window, wanted, breaks_at_end: at_end };
        self.past.search(step, search)
    }

    /// Looks at a step of somebody else: what it writes to memory that is shared with us.
    ///
    /// By content: which of its instructions it was is the business of that process's debugger.
    fn at_others(&mut self, step: usize, direction: Direction) -> Option<Stopped> {
        if self.points.watches.iter().all(|watch| watch.kind == WatchKind::Read) {
            return None;
        }
        let (before, after) = (self.contents(step), self.contents(step + 1));
        let mut watches = self.points.watches.iter().zip(before.iter().zip(&after));
        let (watch, _) = watches.find(|(watch, (before, after))| watch.kind != WatchKind::Read && before != after)?;
        let (watch, step) = (watch.clone(), if direction == Direction::Forwards { step + 1 } else { step });
        self.past.go_to(Position { step, tick: 0 });
        Some(Stopped { tid: None, why: Why::Watch(watch) })
    }

    /// What the watched places hold before a step.
    fn contents(&mut self, step: usize) -> Vec<Vec<u8>> {
        self.past.go_to(Position { step, tick: 0 });
        let Some(space) = space_of(self.past, self.pid) else { return Vec::new() };
        let memory = &self.past.world().memory;
        self.points.watches.iter().map(|watch| watch.content(memory, space)).collect()
    }
}

/// The address space of a process where we are.
#[must_use]
pub fn space_of(past: &Past<'_>, pid: Pid) -> Option<SpaceId> {
    let process = past.world().kernel.processes.get(&pid)?;
    (!process.threads.is_empty()).then_some(process.space)
}

/// Why a hit stops us.
fn why(hit: Hit) -> Why {
    match hit.cause {
        HitCause::Breakpoint => Why::Breakpoint,
        HitCause::Watch(watch) => Why::Watch(watch),
    }
}
