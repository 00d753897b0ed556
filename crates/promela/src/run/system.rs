//! A model that can be run, and what running it needs.

use super::act::Act;
use super::code::Code;
use super::course::{Course, Micro};
use super::coverage::{Coverage, marks};
use super::event;
use super::table::Table;
use super::vector::Work;
use crate::faults::Faults;
use crate::footprint::Footprints;
use crate::ir::{Expr, Model};
use crate::source::SourceMap;
use explore::{Failure, Patience, Pending};
use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A model that can be run.
///
/// Shared by all workers (`Sync`); everything that changes while it runs is a monotone mark or is
/// computed once.
#[derive(Debug)]
pub struct System<C> {
    /// What it means.
    pub model: Model,
    /// Where it was written.
    pub sources: SourceMap,
    /// How statements are executed.
    pub code: C,
    /// Which statements were executed so far.
    pub coverage: Coverage,
    /// Its control graphs, flattened.
    pub(super) table: Table,
    /// Lists of propositions that [`explore::TransitionSystem::observe`] answers.
    pub(super) observers: Vec<Observer>,
    /// What the reduction knows; computed when it first asks.
    pub(super) footprints: OnceLock<Footprints>,
    /// What may happen to it.
    pub faults: Option<Faults>,
}

/// Propositions, and which of them were ever seen to be true.
#[derive(Debug, Default)]
pub(super) struct Observer {
    pub(super) propositions: Vec<Expr>,
    pub(super) seen: AtomicU64,
}

/// What one worker needs while it computes steps.
///
/// One for each worker: all allocations of the inner loop live here and are reused.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The state at hand.
    pub(super) base: Work,
    /// Where statements are executed: a copy of the state at hand, and what came of it.
    pub(super) next: Course,
    pub(super) buffers: Buffers,
}

/// What is needed while single statements are executed.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Spare buffers for `chain`.
    pub(super) spare: Vec<Course>,
    /// States inside atomic sequences that are still to be followed.
    pub(super) chain: Vec<Course>,
    /// States inside a long atomic sequence that were followed already.
    pub(super) seen: HashSet<(u32, Vec<u8>)>,
    /// Edges of a process that take the message at hand.
    pub(super) takers: Vec<usize>,
    /// What went wrong in the statement at hand.
    pub(super) failures: Vec<Failure>,
    /// The message of the statement at hand.
    pub(super) message: Vec<i32>,
    /// Statements of the `d_step` at hand.
    pub(super) inside: Vec<Micro>,
    /// What the reduction was told before partners were joined.
    pub(super) pending: Vec<Pending>,
    /// When a long step is given up.
    pub(super) patience: Patience,
    /// Whether one was: there may be more steps than were handed out.
    pub(super) cut: bool,
}

impl<C: Code> System<C> {
    /// A model that is executed by `code`.
    #[must_use]
    pub fn new(model: Model, sources: SourceMap, code: C) -> Self {
        let marks = code.marks().unwrap_or_else(|| marks(&model));
        let (coverage, table) = (Coverage::new(&model, marks), Table::new(&model));
        Self { table, model, sources, code, coverage, observers: Vec::new(), footprints: OnceLock::new(), faults: None }
    }

    /// Registers propositions; the result is the observer to ask for them.
    pub fn add_observer(&mut self, propositions: Vec<Expr>) -> usize {
        self.observers.push(Observer { propositions, seen: AtomicU64::new(0) });
        self.observers.len() - 1
    }

    /// Which propositions of an observer were true in some state that it was asked about.
    pub fn seen(&self, observer: usize) -> u64 {
        self.observers[observer].seen.load(Ordering::Relaxed)
    }

    /// What the reduction knows about the model.
    pub fn footprints(&self) -> &Footprints {
        self.footprints.get_or_init(|| Footprints::new(&self.model))
    }

    /// The initial vector: globals with their first values, then the active processes.
    #[must_use]
    pub fn initial_work(&self) -> Work {
        let (mut failures, mut message) = (Vec::new(), Vec::new());
        let size = (self.model.globals_size as usize).next_multiple_of(8);
        let mut work = Work { bytes: vec![0; size], frames: Vec::new(), end: self.model.globals_size };
        let mut act =
            Act { model: &self.model, timeout: false, depth: 0, failures: &mut failures, message: &mut message };
        for initialiser in &self.model.initialisers {
            act.assign(&mut work, 0, initialiser, 0);
        }
        for proctype in &self.model.active {
            act.create(&mut work, *proctype, &[]).expect("lowering admits at most 255 active processes");
        }
        if let Some(events) = &self.model.event_trace {
            event::set_state(&mut work, events.entry);
        }
        work
    }
}
