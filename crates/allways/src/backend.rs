//! How statements are executed: by native code where there is some, else by the interpreter.

use promela::ir::Model;
use promela::jit::{Lazy, Native};
use promela::run::act::Outcome;
use promela::run::vector::Work;
use promela::run::{Code, Interpreter, Marks};

/// A model as a transition system.
pub type System = promela::run::System<Backend>;

/// An executor of statements, chosen when a model is loaded.
#[derive(Debug)]
pub enum Backend {
    /// Native code, as soon as the search turns out to be long enough.
    Native(Box<Lazy>),
    /// The reference.
    Interpreter,
}

impl Backend {
    /// Native code, unless the user wants the interpreter.
    pub fn new(model: &Model, interpret: bool) -> Self {
        if interpret { Self::Interpreter } else { Self::Native(Box::new(Lazy::new(model))) }
    }
}

impl Code for Backend {
    type Points = Native;

    #[inline]
    fn fast(&self, work: &mut Work, pid: u32, timeout: bool, number: usize, message: &mut Vec<i32>) -> Option<Outcome> {
        match self {
            Self::Native(native) => native.fast(work, pid, timeout, number, message),
            Self::Interpreter => Interpreter.fast(work, pid, timeout, number, message),
        }
    }

    #[inline]
    fn points(&self) -> Option<&Native> {
        match self {
            Self::Native(native) => native.points(),
            Self::Interpreter => None,
        }
    }

    fn marks(&self) -> Option<Marks> {
        match self {
            Self::Native(native) => native.marks(),
            Self::Interpreter => None,
        }
    }
}
