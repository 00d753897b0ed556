//! Native code for basic statements, made with Cranelift.
//!
//! Every edge of a control graph becomes one small function over the vector. What a function cannot do, it hands to the
//! interpreter: statically, where a construct is rare (`run`, `!!`, `enabled`), or while running, where something goes
//! wrong (an index out of bounds, a failed assertion) and the reference knows how to report it. So there is a fast path
//! and a slow path, but one meaning.
//!
//! **Invariant:** a function that answers `ASK` has changed nothing.

#![allow(unsafe_code, reason = "calling code that was made at run time cannot be checked by the compiler")]

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod build;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod channel;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod emit;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod expr;
mod layout;
mod lazy;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod place;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod receive;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod statement;

use crate::ir::Model;
use crate::run::Code;
use crate::run::act::Outcome;
use crate::run::vector::Work;
use layout::Layout;
pub use lazy::Lazy;
use std::fmt;

/// The statement cannot be executed; nothing was changed.
const BLOCKED: i32 = 0;
/// The statement was executed.
const DONE: i32 = 1;
/// The interpreter has to do it; nothing was changed.
const ASK: i32 = 2;
/// This plus a channel id: the message stands in the message buffer.
const OFFER: i32 = 3;

/// A compiled statement: vector, frame, [`who`], frames, message buffer; returns one of the constants above.
type Function = unsafe extern "C" fn(*mut u8, *mut u8, u64, *const u32, *mut i32) -> i32;

/// Why there is no native code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAvailable(pub String);

impl fmt::Display for NotAvailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no native code: {}", self.0)
    }
}

impl std::error::Error for NotAvailable {}

/// One compiled edge.
#[derive(Clone, Copy, Debug)]
struct Compiled {
    function: Function,
    /// How many fields its message has.
    message: u32,
    /// Bytes of the frame that it works on.
    frame_size: u32,
}

/// The statements of one model in native code.
pub struct Native {
    /// One entry for each edge, all edges of the model counted in order; `None` where the interpreter does it.
    edges: Vec<Option<Compiled>>,
    /// What the code assumes; some of it reads tables in there, so it stays where it is.
    layout: Box<Layout>,
    /// Keeps the code in memory.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    _code: build::Memory,
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compiled = self.edges.iter().filter(|edge| edge.is_some()).count();
        write!(f, "Native {{ {compiled} of {} edges }}", self.edges.len())
    }
}

impl Native {
    /// Compiles the statements of a model. An error means that the interpreter has to run all of it.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn compile(model: &Model) -> Result<Self, NotAvailable> {
        let layout = Box::new(Layout::new(model)?);
        let (edges, code) = build::compile(model, &layout)?;
        Ok(Self { edges, layout, _code: code })
    }

    /// There is no code generator for this host.
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    pub fn compile(_: &Model) -> Result<Self, NotAvailable> {
        Err(NotAvailable("this host is neither x86-64 nor AArch64 Linux".to_owned()))
    }

    /// How many edges have native code, and how many there are.
    #[must_use]
    pub fn coverage(&self) -> (usize, usize) {
        (self.edges.iter().flatten().count(), self.edges.len())
    }

    /// Calls the native code of an edge; [`ASK`] if there is none or the work is not what the code was made for.
    #[inline]
    fn call(&self, work: &mut Work, pid: u32, timeout: bool, number: usize, message: &mut Vec<i32>) -> i32 {
        let Some(Some(compiled)) = self.edges.get(number) else { return ASK };
        let frame = work.frame(pid);
        if !self.layout.fits(compiled.frame_size, frame, &work.bytes) {
            return ASK;
        }
        if compiled.message > 0 {
            message.resize(compiled.message as usize, 0);
        }
        let who = who(work, pid, timeout);
        let vector = work.bytes.as_mut_ptr();
        // SAFETY: the code touches `globals_size` bytes of the vector and `frame_size` bytes of the frame, which
        // `fits` has just checked to be there; other frames only after comparing with the length in `who`, and the
        // frames table only below the count in `who`; and `message` elements of the buffer, which was made that long.
        unsafe { (compiled.function)(vector, vector.add(frame), who, work.frames.as_ptr(), message.as_mut_ptr()) }
    }
}

impl Code for Native {
    #[inline]
    fn fast(&self, work: &mut Work, pid: u32, timeout: bool, number: usize, message: &mut Vec<i32>) -> Option<Outcome> {
        match self.call(work, pid, timeout, number, message) {
            BLOCKED => Some(Outcome::Blocked),
            DONE => Some(Outcome::Done),
            ASK => None,
            offer => Some(Outcome::Offer(offer - OFFER)),
        }
    }
}

/// What does not fit elsewhere, in one register: pid (8 bits), timeout (8), number of processes (16), length (32).
fn who(work: &Work, pid: u32, timeout: bool) -> u64 {
    u64::from(pid) | u64::from(timeout) << 8 | u64::from(work.processes()) << 16 | (work.bytes.len() as u64) << 32
}

#[cfg(test)]
mod tests;
