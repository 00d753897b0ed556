//! How statements are executed: by native code where there is some, else by the interpreter.

use promela::ir::{Action, Model};
use promela::jit::Native;
use promela::run::act::{Act, Outcome};
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
    fn execute(&self, act: &mut Act<'_>, work: &mut Work, pid: u32, number: usize, action: &Action) -> Outcome {
        match self {
            Self::Native(native) => native.execute(act, work, pid, number, action),
            Self::Interpreter => Interpreter.execute(act, work, pid, number, action),
        }
    }
}
