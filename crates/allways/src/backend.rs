//! How statements are executed: by native code where there is some, else by the interpreter.

use promela::ir::Model;
use promela::jit::Native;
use promela::run::act::Outcome;
use promela::run::vector::Work;
use promela::run::{Code, Interpreter};

/// An executor of statements, chosen when a model is loaded.
#[derive(Debug)]
pub enum Backend {
    /// Native code.
    Native(Box<Native>),
    /// The reference.
    Interpreter,
}

impl Backend {
    /// Native code, unless the user wants the interpreter or this host has no code generator.
    pub fn new(model: &Model, interpret: bool) -> Self {
        if interpret {
            return Self::Interpreter;
        }
        Native::compile(model).map_or(Self::Interpreter, |native| Self::Native(Box::new(native)))
    }
}

impl Code for Backend {
    #[inline]
    fn fast(&self, work: &mut Work, pid: u32, timeout: bool, number: usize, message: &mut Vec<i32>) -> Option<Outcome> {
        match self {
            Self::Native(native) => native.fast(work, pid, timeout, number, message),
            Self::Interpreter => Interpreter.fast(work, pid, timeout, number, message),
        }
    }
}
