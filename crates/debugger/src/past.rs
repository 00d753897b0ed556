//! The past: a schedule that was executed once, and the position at which we look at it.
//!
//! A position is a step and a tick within it ([`checker::system::probe`]). `(step, 0)` is the state before the step, so the
//! end of one step is the beginning of the next. Going to a position means restoring the snapshot before its step and
//! executing the step up to the tick; nothing within a step is ever saved.
//!
//! Steps of other processes are one tick: nothing of the debugged process moves in between.

use checker::system::probe::{Hit, Probe, Search};
use checker::{Programs, Snapshot};
use explore::graph::FootprintSystem;
use kernel::{Pid, Tid};
use std::collections::BTreeMap;
use std::fmt;
use trace::Choice;
use world::World;

/// Snapshots that are kept for the whole session, at most.
const KEPT_MAX: usize = 4096;

/// A point in time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// How many steps were taken.
    pub step: usize,
    /// How many ticks of the next one.
    pub tick: u64,
}

/// The schedule cannot be executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotExecuted {
    /// The step that is not possible, counted from 1.
    pub step: usize,
}

impl fmt::Display for NotExecuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} of the schedule cannot be executed: these are other programs", self.step)
    }
}

/// What is known of a step.
#[derive(Clone, Copy, Debug)]
struct StepRecord {
    choice: Choice,
    /// Who moves: a thread and its process; nothing for time, faults and peers.
    mover: Option<(Tid, Pid)>,
    ticks: u64,
    /// Fingerprint of the state behind it.
    end: u128,
}

/// From the first to the last state in which a process has threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Life {
    first: usize,
    last: usize,
}

/// A schedule that was executed, and where we are on it.
pub struct Past<'p> {
    programs: &'p mut Programs,
    probe: Box<Probe>,
    steps: Vec<StepRecord>,
    /// Every `spacing`-th state.
    kept: Vec<Snapshot>,
    spacing: usize,
    /// States between two kept ones that were needed last.
    recent: BTreeMap<usize, Snapshot>,
    lives: BTreeMap<Pid, Life>,
    here: Position,
    /// Fingerprint of the first state.
    beginning: u128,
}

impl<'p> Past<'p> {
    /// Executes a schedule and keeps what it needs to go back.
    ///
    /// # Errors
    /// If a step is not possible.
    pub fn record(programs: &'p mut Programs, choices: &[Choice]) -> Result<Self, NotExecuted> {
        let spacing = choices.len() / KEPT_MAX + 1;
        let reached = programs.initial();
        let beginning = reached.fingerprint;
        let (probe, recent) = (Box::default(), BTreeMap::new());
        let (steps, lives, here) = (Vec::new(), BTreeMap::new(), Position::default());
        let kept = vec![reached.state];
        let mut past = Self { programs, probe, steps, kept, spacing, recent, lives, here, beginning };
        let mut state = past.kept[0].clone();
        past.note_living();
        for choice in choices {
            state = past.add(&state, *choice).ok_or(NotExecuted { step: past.steps.len() + 1 })?;
        }
        past.go_to(Position { step: past.steps.len(), tick: 0 });
        Ok(past)
    }

    /// Takes one more step from the last state.
    fn add(&mut self, state: &Snapshot, choice: Choice) -> Option<Snapshot> {
        let tid = Tid(choice.actor);
        let mover = self.world().kernel.threads.get(&tid).map(|thread| (tid, thread.pid));
        let taken = self.programs.count_ticks(&mut self.probe, state, choice)?;
        self.steps.push(StepRecord { choice, mover, ticks: taken.ticks, end: taken.fingerprint });
        if self.steps.len().is_multiple_of(self.spacing) {
            self.kept.push(taken.state.clone());
        }
        self.note_living();
        Some(taken.state)
    }

    /// Notes who lives in the last state. A zombie has no threads, and nothing to be looked at.
    fn note_living(&mut self) {
        let at = self.steps.len();
        let living = self.programs.world().kernel.processes.values().filter(|process| !process.threads.is_empty());
        for process in living {
            self.lives.entry(process.pid).or_insert(Life { first: at, last: at }).last = at;
        }
    }

    /// The world where we are.
    #[must_use]
    pub fn world(&self) -> &World {
        self.programs.world()
    }

    /// Stores that have not reached memory where we are: the thread, the address, how many bytes, the value.
    pub fn buffered_stores(&self) -> impl Iterator<Item = (Tid, u64, u32, u64)> {
        self.programs.buffered_stores().map(|(tid, part)| (tid, part.addr, part.size, part.value))
    }

    /// Where we are.
    #[must_use]
    pub fn here(&self) -> Position {
        self.here
    }

    /// How many steps the schedule has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether the schedule has no step at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Fingerprint of the last state.
    #[must_use]
    pub fn end(&self) -> u128 {
        self.steps.last().map_or(self.beginning, |record| record.end)
    }

    /// All processes that have ever had a thread.
    #[must_use]
    pub fn processes(&self) -> Vec<Pid> {
        self.lives.keys().copied().collect()
    }

    /// The thread that moves in a step, and its process.
    #[must_use]
    pub fn mover(&self, step: usize) -> Option<(Tid, Pid)> {
        self.steps.get(step)?.mover
    }

    /// How many ticks a step has.
    #[must_use]
    pub fn ticks(&self, step: usize) -> u64 {
        self.steps.get(step).map_or(0, |record| record.ticks)
    }

    /// The first and the last position at which a process can be looked at.
    #[must_use]
    pub fn span(&self, pid: Pid) -> Option<(Position, Position)> {
        let life = self.lives.get(&pid)?;
        let dies = self.steps.get(life.last);
        // In a step of its own its last tick is its end.
        let tick =
            dies.filter(|record| record.mover.is_some_and(|(_, own)| own == pid)).map_or(0, |last| last.ticks - 1);
        Some((Position { step: life.first, tick: 0 }, Position { step: life.last, tick }))
    }

    /// The process that moved last.
    #[must_use]
    pub fn last_mover(&self) -> Option<Pid> {
        let moved = self.steps.iter().rev().find_map(|record| record.mover);
        moved.map(|(_, pid)| pid).or_else(|| self.lives.keys().next().copied())
    }

    /// Goes to a position; the end of a step is the beginning of the next.
    pub fn go_to(&mut self, position: Position) {
        let Position { step, tick } = position;
        let state = self.state_at(step);
        let is_within = tick > 0 && tick < self.ticks(step);
        if is_within && self.programs.go_within(&mut self.probe, &state, self.steps[step].choice, tick) {
            self.here = position;
            return;
        }
        let step = if tick > 0 { (step + 1).min(self.len()) } else { step };
        let state = self.state_at(step);
        self.programs.show(&state);
        self.here = Position { step, tick: 0 };
    }

    /// The state before a step.
    ///
    /// Kept, or executed from the last one before it that is: at most `spacing` steps, and going backwards they are
    /// executed once for all of them.
    pub fn state_at(&mut self, step: usize) -> Snapshot {
        if step.is_multiple_of(self.spacing) {
            return self.kept[step / self.spacing].clone();
        }
        if let Some(state) = self.recent.get(&step) {
            return state.clone();
        }
        if self.recent.len() > 4 * self.spacing {
            self.recent.clear();
        }
        let before = self.state_at(step - 1);
        let choice = self.steps[step - 1].choice;
        let taken = self.programs.count_ticks(&mut self.probe, &before, choice);
        let state = taken.expect("a step that was taken once can be taken again").state;
        self.recent.insert(step, state.clone());
        state
    }

    /// Looks for something in a step.
    ///
    /// # Panics
    /// If looking has changed what the step does.
    pub(crate) fn search(&mut self, step: usize, search: Search) -> Option<Hit> {
        let (state, StepRecord { choice, end, .. }) = (self.state_at(step), self.steps[step]);
        let searched = self.programs.search_step(&mut self.probe, &state, choice, search);
        assert!(searched.end.is_none_or(|found| found == end), "step {step} ends elsewhere when it is looked into");
        searched.hit
    }

    /// A search within a step has stopped at a tick, which is where we are now.
    pub(crate) fn arrived(&mut self, position: Position) {
        self.here = position;
    }
}
