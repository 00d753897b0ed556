//! How statements are executed is chosen when a model is loaded: by native code where there is some, else by the interpreter.

use super::act::Outcome;
use super::code::{Code, Interpreter};
use super::coverage::Marks;
use super::system::System;
use super::vector::Work;
use crate::ir::Model;
#[cfg(feature = "native")]
use crate::jit::{Lazy, Native, NotAvailable};

/// A model with whatever executes it: the one kind of system that [`crate::engines`] are compiled for.
pub type ModelSystem = System<Backend>;

/// An executor of statements.
#[derive(Debug)]
pub enum Backend {
    /// The reference.
    Interpreter,
    /// Native code, as soon as the search turns out to be long enough.
    #[cfg(feature = "native")]
    Lazy(Box<Lazy>),
    /// Native code from the first step on.
    #[cfg(feature = "native")]
    Native(Box<Native>),
}

impl Backend {
    /// Native code as soon as it pays, unless the user wants the interpreter.
    #[must_use]
    pub fn new(model: &Model, interpret: bool) -> Self {
        match interpret {
            true => Self::Interpreter,
            false => Self::fastest(model),
        }
    }

    #[cfg(feature = "native")]
    fn fastest(model: &Model) -> Self {
        Self::Lazy(Box::new(Lazy::new(model)))
    }

    #[cfg(not(feature = "native"))]
    fn fastest(_: &Model) -> Self {
        Self::Interpreter
    }

    /// Native code at once.
    ///
    /// # Errors
    /// If there is none for this host or this model.
    #[cfg(feature = "native")]
    pub fn compiled(model: &Model) -> Result<Self, NotAvailable> {
        Native::compile(model).map(|native| Self::Native(Box::new(native)))
    }
}

impl Code for Backend {
    #[cfg(feature = "native")]
    type Points = Native;
    #[cfg(not(feature = "native"))]
    type Points = super::code::NoPoints;

    #[inline]
    fn fast(&self, work: &mut Work, pid: u32, timeout: bool, number: usize, message: &mut Vec<i32>) -> Option<Outcome> {
        match self {
            Self::Interpreter => Interpreter.fast(work, pid, timeout, number, message),
            #[cfg(feature = "native")]
            Self::Lazy(lazy) => lazy.fast(work, pid, timeout, number, message),
            #[cfg(feature = "native")]
            Self::Native(native) => native.fast(work, pid, timeout, number, message),
        }
    }

    #[inline]
    fn points(&self) -> Option<&Self::Points> {
        match self {
            Self::Interpreter => None,
            #[cfg(feature = "native")]
            Self::Lazy(lazy) => lazy.points(),
            #[cfg(feature = "native")]
            Self::Native(native) => native.points(),
        }
    }

    fn marks(&self) -> Option<Marks> {
        match self {
            Self::Interpreter => None,
            #[cfg(feature = "native")]
            Self::Lazy(lazy) => lazy.marks(),
            #[cfg(feature = "native")]
            Self::Native(native) => native.marks(),
        }
    }
}
