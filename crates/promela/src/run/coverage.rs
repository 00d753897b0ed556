//! Which statements were ever executed.
//!
//! Relaxed atomics: marks only go from false to true, and are read when the workers have ended.

use crate::ir::{Model, Pc};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One mark for each edge of a model, in order.
pub type Marks = Arc<[AtomicBool]>;

/// Marks for a model, none set.
#[must_use]
pub fn marks(model: &Model) -> Marks {
    let edges = model.proctypes.iter().flat_map(|proctype| &proctype.states).flat_map(|state| &state.edges);
    edges.map(|_| AtomicBool::new(false)).collect()
}

/// One mark for each edge of each proctype; shared by all workers.
#[derive(Debug)]
pub struct Coverage {
    marks: Marks,
    /// Index of the first mark of each control state of each proctype.
    first: Vec<Vec<u32>>,
}

impl Coverage {
    /// Coverage of a model, in these marks.
    #[must_use]
    pub fn new(model: &Model, marks: Marks) -> Self {
        let mut count = 0u32;
        let mut first = Vec::new();
        for proctype in &model.proctypes {
            let mut starts = Vec::new();
            for state in &proctype.states {
                starts.push(count);
                count += state.edges.len() as u32;
            }
            first.push(starts);
        }
        Self { marks, first }
    }

    /// Marks an edge; edges are numbered in order.
    #[inline]
    pub fn reach(&self, number: usize) {
        let mark = &self.marks[number];
        // Reading first keeps the cache line shared between workers.
        if !mark.load(Ordering::Relaxed) {
            mark.store(true, Ordering::Relaxed);
        }
    }

    /// Whether each edge was executed, in order.
    pub fn all(&self) -> impl ExactSizeIterator<Item = bool> {
        self.marks.iter().map(|mark| mark.load(Ordering::Relaxed))
    }

    /// Whether an edge was executed.
    #[must_use]
    pub fn reached(&self, proctype: usize, pc: Pc, edge: usize) -> bool {
        self.marks[self.first[proctype][pc] as usize + edge].load(Ordering::Relaxed)
    }
}
