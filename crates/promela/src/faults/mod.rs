//! Faults: what may happen to a model, without touching the model.
//!
//! A [`Plan`] says which faults of the [`catalogue`] may happen, and how many in one run. [`prepare`](prepare::prepare)
//! makes room for them in the model; while it runs, [`fault_effect`] finds what may happen to the state at hand and does it.
//! What has happened is part of the state, so that one search answers for every set of faults.
//!
//! Injected faults are steps of an actor of their own that moves nobody else (decision 11). The
//! budget is part of the state: a search with budget k covers every set of up to k faults, and
//! minimal sets are found by searching k = 0, 1, 2, ... in turn.

pub mod catalogue;
pub mod class;
pub mod fault;
pub mod fault_effect;
mod messages;
mod notes;
mod plan;
mod prepare;
mod record;
mod tell;
mod values;
mod walk;

pub use class::Class;
pub use fault::{Fault, Owner, Target, Who};
pub use plan::{BUDGET_MAX, Plan, Unfit};
pub use prepare::prepare;
pub use record::faults_of;

use crate::ir::{Expr, Model, Pc, ProctypeId};
use crate::run::vector::Work;
use record::Record;
use std::sync::atomic::{AtomicBool, Ordering};

/// The faults of a plan, ready to happen to a model that was prepared for them.
///
/// Shared by all workers; `met` is the only thing that changes, and only from false to true.
#[derive(Debug)]
pub struct Faults {
    /// Them.
    pub faults: Vec<Fault>,
    /// How many may happen in one run: as many as the plan says, or fewer.
    pub budget: u32,
    plan: Plan,
    record: Record,
    limbo: Vec<Limbo>,
    /// For each fault that makes a variable stick: its number, and where its flag is.
    stuck: Vec<(usize, u32)>,
    /// How many control states each proctype had before twins were added.
    states: Vec<usize>,
    alternatives: Vec<Alternatives>,
    /// For each control state of each proctype: whether it asks for `timeout`.
    timeouts: Vec<Vec<bool>>,
    /// Where the globals are that a restart resets.
    reset: Vec<(usize, usize)>,
    after: Option<Expr>,
    /// Which of them ever happened in some run.
    met: Vec<AtomicBool>,
}

/// Where a message of a channel waits to arrive late.
#[derive(Clone, Copy, Debug)]
struct Limbo {
    /// The channel.
    channel: usize,
    /// How many wait (0 or 1), then the message.
    at: usize,
}

/// What a fault may put in place of what is right.
#[derive(Clone, Debug)]
enum Alternatives {
    /// Nothing: it does not.
    None,
    /// Values for each field; `None` for fields that are left alone.
    Fields(Vec<Option<Vec<i32>>>),
    /// Constants of messages.
    Messages(Vec<Vec<Option<i32>>>),
    /// Values of a variable.
    Values(Vec<i32>),
}

/// How a process stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stance {
    /// It goes about its business.
    Up,
    /// It has stopped for good.
    Stopped,
    /// It stands still for a while.
    Paused,
}

impl Faults {
    /// Whether a fault of a kind may happen in a state.
    #[must_use]
    pub fn may_happen(&self, bytes: &[u8], class: Class) -> bool {
        self.record.is_armed(bytes)
            && self.record.happened(bytes).count() < self.budget as usize
            && self.plan.class_budgets.iter().filter(|(of, _)| *of == class).all(|(_, budget)| {
                let same = |number: &u16| self.class_of(*number) == Some(class);
                self.record.happened(bytes).filter(same).count() < *budget as usize
            })
    }

    /// Whether no fault can happen any more, now or later, and nothing is left to be repaired.
    #[must_use]
    pub fn are_over(&self, model: &Model, work: &Work) -> bool {
        self.record.happened(&work.bytes).count() >= self.budget as usize && !self.is_healing(model, work)
    }

    /// Notes in a state that a fault has happened.
    ///
    /// What is noted decides how many states there are: with `remembers`, which faults happened
    /// (for cut sets), else only how many.
    pub fn note(&self, bytes: &mut [u8], number: usize) {
        let met = &self.met[number];
        if !met.load(Ordering::Relaxed) {
            met.store(true, Ordering::Relaxed);
        }
        let what = match (self.plan.remembers, self.plan.class_budgets.is_empty()) {
            (true, _) => number,
            (false, true) => 0,
            (false, false) => self.faults[number].class as usize,
        };
        self.record.add(bytes, what as u16);
    }

    /// Forgets which of them ever happened.
    pub fn forget(&self) {
        self.met.iter().for_each(|met| met.store(false, Ordering::Relaxed));
    }

    /// Whether a fault ever happened in some run.
    #[must_use]
    pub fn was_met(&self, number: usize) -> bool {
        self.met[number].load(Ordering::Relaxed)
    }

    fn class_of(&self, happened: u16) -> Option<Class> {
        match self.plan.remembers {
            true => self.faults.get(usize::from(happened)).map(|fault| fault.class),
            false => Class::ALL.get(usize::from(happened)).copied(),
        }
    }

    /// Which faults a state has seen, as one number; see [`faults_of`]. 0 if it does not remember.
    ///
    /// A part of the state space is all that happens behind one set of faults. Parts are searched
    /// apart, so that each set gets a verdict of its own.
    #[must_use]
    pub fn part(&self, bytes: &[u8]) -> u128 {
        if self.plan.remembers { self.record.part(bytes) } else { 0 }
    }

    /// The condition that must have been true before the first fault, if it was not.
    #[must_use]
    pub fn awaited(&self, bytes: &[u8]) -> Option<&Expr> {
        self.after.as_ref().filter(|_| !self.record.is_armed(bytes))
    }

    /// Lets faults happen from now on.
    pub fn arm(&self, bytes: &mut [u8]) {
        if let Some(at) = self.record.armed_at {
            bytes[at] = 1;
        }
    }

    /// How a process stands, and where.
    ///
    /// The program counter tells: control states come three times, see `prepare.rs`.
    #[must_use]
    pub fn stance(&self, model: &Model, work: &Work, pid: u32) -> (Stance, Pc) {
        let (pc, count) = (work.pc(model, pid), self.states[work.proctype(pid)]);
        match pc / count.max(1) {
            0 => (Stance::Up, pc),
            1 => (Stance::Stopped, pc - count),
            _ => (Stance::Paused, pc - 2 * count),
        }
    }

    /// The control state of a process that stands at `pc` in a certain way.
    fn standing(&self, proctype: ProctypeId, pc: Pc, stance: Stance) -> Pc {
        pc + self.states[proctype] * stance as usize
    }

    /// The messages that may arrive in place of one that is handed over.
    #[must_use]
    pub fn other_messages(&self, model: &Model, number: usize, message: &[i32]) -> Vec<Vec<i32>> {
        match &self.faults[number].target {
            Target::Channel(owner, index) => {
                let channel = prepare::channel(model, *owner, *index);
                messages::others(&self.alternatives[number], channel, message)
            }
            _ => Vec::new(),
        }
    }

    /// Whether a control state of a proctype asks for `timeout`.
    #[must_use]
    pub fn asks_for_timeout(&self, proctype: ProctypeId, pc: Pc) -> bool {
        self.timeouts[proctype].get(pc).copied().unwrap_or(false)
    }
}
