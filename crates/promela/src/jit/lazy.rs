//! Native code only for searches that are long enough to gain from it.
//!
//! A small model is searched before a compiler has started: code is made only when a search goes
//! on, and workers pick it up at the next step. Verdicts and counts are the same with and without.

use super::Native;
use crate::ir::Model;
use crate::run::act::Outcome;
use crate::run::code::Code;
use crate::run::vector::Work;
use crate::run::{Marks, marks};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Statements that are tried before compiling: interpreting them takes about as long as compiling a small model.
const TRIES: u32 = 20_000;

/// Starts with the interpreter and compiles the model when the search turns out to be long; stays with the interpreter
/// where there is no native code.
#[derive(Debug)]
pub struct Lazy {
    model: Model,
    tries: AtomicU32,
    native: OnceLock<Option<Native>>,
    /// Where the code marks executed edges once it is there.
    marks: Marks,
}

impl Lazy {
    /// Nothing compiled yet.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        Self { model: model.clone(), tries: AtomicU32::new(0), native: OnceLock::new(), marks: marks(model) }
    }

    /// Whether statements run as native code by now.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.native.get().is_some_and(Option::is_some)
    }

    /// Counts a try. The one worker that comes last compiles while the others go on interpreting.
    #[cold]
    fn count(&self) {
        if self.tries.fetch_add(1, Ordering::Relaxed) == TRIES {
            let compiled = Native::compile_marking(&self.model, self.marks.clone()).ok();
            self.native.get_or_init(|| compiled);
        }
    }
}

impl Code for Lazy {
    type Points = Native;

    #[inline]
    fn fast(&self, work: &mut Work, pid: u32, timeout: bool, number: usize, message: &mut Vec<i32>) -> Option<Outcome> {
        match self.native.get() {
            Some(native) => native.as_ref()?.fast(work, pid, timeout, number, message),
            None => {
                self.count();
                None
            }
        }
    }

    #[inline]
    fn points(&self) -> Option<&Native> {
        self.native.get()?.as_ref()
    }

    fn marks(&self) -> Option<Marks> {
        Some(self.marks.clone())
    }
}
