//! Native code for basic statements, made with Cranelift.
//!
//! Every edge of a control graph becomes one small function over the vector, and every control state becomes a function
//! that tries all its edges, runs the `d_step` in them and moves the process. What a function cannot do, it hands to the
//! interpreter: statically, where a construct is rare (`run`, `!!`, `enabled`), or while running, where something goes
//! wrong (an index out of bounds, a failed assertion) and the reference knows how to report it. So there is a fast path
//! and a slow path, but one meaning.
//!
//! **Invariant:** the function of an edge that answers `ASK` has changed nothing; the function of a control state may have,
//! so the caller starts again from a copy.
//!
//! Code sees the vector as a pointer and answers in one register ([`crate::run::code::Answer`]).
//! Failures are never made here: there is one place that makes error messages, and compiled code
//! needs no unwinding.

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
mod point;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod receive;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod statement;

use crate::ir::Model;
use crate::run::act::Outcome;
use crate::run::code::{Answer, At, Code, Points, Resume, Status, who};
use crate::run::vector::Work;
use crate::run::{Marks, marks};
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

/// A compiled control state: the parameters of [`Function`] and where to resume; returns an [`Answer`].
type PointFunction = unsafe extern "C" fn(*mut u8, *mut u8, u64, *const u32, *mut i32, u64) -> u64;

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

/// One compiled control state.
#[derive(Clone, Copy, Debug)]
struct CompiledPoint {
    /// Tries its edges.
    point: PointFunction,
    /// Lets its edges take a message.
    taker: Taker,
    /// Number of its first edge.
    first: usize,
    /// How many fields the longest message has that it offers.
    message: u32,
    /// Bytes of the frame that it works on.
    frame_size: u32,
}

/// How a control state takes messages.
#[derive(Clone, Copy, Debug)]
enum Taker {
    /// It does not.
    Never,
    /// By this function.
    Function(PointFunction),
    /// The interpreter does it.
    Interpreter,
}

/// The statements of one model in native code.
pub struct Native {
    /// One entry for each control state, all counted in order; `None` where edges are tried one by one.
    points: Vec<Option<CompiledPoint>>,
    /// Where executed edges are marked; the code writes there.
    marks: Marks,
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
        Self::compile_marking(model, marks(model))
    }

    /// Compiles code that marks executed edges here.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn compile_marking(model: &Model, marks: Marks) -> Result<Self, NotAvailable> {
        let layout = Box::new(Layout::new(model)?);
        let (edges, points, code) = build::compile(model, &layout, &marks)?;
        Ok(Self { points, marks, edges, layout, _code: code })
    }

    /// There is no code generator for this host.
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    pub fn compile(_: &Model) -> Result<Self, NotAvailable> {
        Err(NotAvailable("this host is neither x86-64 nor AArch64 Linux".to_owned()))
    }

    /// There is no code generator for this host.
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    fn compile_marking(model: &Model, _: Marks) -> Result<Self, NotAvailable> {
        Self::compile(model)
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

impl Native {
    /// The code of a control state, if there is some and the work is what it was made for.
    #[inline]
    fn code_of(&self, at: &At<'_>) -> Option<&CompiledPoint> {
        let compiled = self.points.get(at.state)?.as_ref()?;
        self.layout.fits(compiled.frame_size, at.frame, &at.work.bytes).then_some(compiled)
    }
}

/// Calls the function of a control state that [`Native::code_of`] gave; `message` is as long as it needs.
#[inline]
fn call_point(function: PointFunction, at: At<'_>, message: *mut i32, resume: u64) -> Answer {
    let vector = at.work.bytes.as_mut_ptr();
    // SAFETY: as in `Native::call`; `code_of` has checked that the frame fits, and who `who` is follows from the work.
    Answer(unsafe { function(vector, vector.add(at.frame), at.who, at.work.frames.as_ptr(), message, resume) })
}

impl Points for Native {
    #[inline]
    fn try_edges(&self, at: At<'_>, resume: Resume, message: &mut Vec<i32>) -> Answer {
        let Some(compiled) = self.code_of(&at) else { return Answer::NO_CODE };
        if compiled.message > 0 {
            message.resize(compiled.message as usize, 0);
        }
        let resume = u64::from(resume.edge) | u64::from(resume.executable) << 16;
        let answer = call_point(compiled.point, at, message.as_mut_ptr(), resume);
        if answer.status() == Status::Offer {
            let offered = self.edges[compiled.first + answer.edge() as usize].map_or(0, |edge| edge.message);
            message.truncate(offered as usize);
        }
        answer
    }

    #[inline]
    fn take(&self, at: At<'_>, edge: u32, id: i32, message: &[i32]) -> Answer {
        let Some(compiled) = self.code_of(&at) else { return Answer::NO_CODE };
        match compiled.taker {
            Taker::Never => Answer::NOTHING,
            Taker::Interpreter => Answer::NO_CODE,
            Taker::Function(function) => {
                let resume = u64::from(edge) | (message.len() as u64) << 16 | u64::from(id as u32) << 32;
                // The code reads the message only, and only if it is as long as the receive.
                call_point(function, at, message.as_ptr().cast_mut(), resume)
            }
        }
    }
}

impl Code for Native {
    type Points = Self;

    #[inline]
    fn points(&self) -> Option<&Self> {
        Some(self)
    }

    fn marks(&self) -> Option<Marks> {
        Some(self.marks.clone())
    }

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

#[cfg(test)]
mod tests;
